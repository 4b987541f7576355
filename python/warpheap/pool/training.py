# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A log to replay: the allocations of a made-up training run, as the pool's logging adaptor would write it.

No program was recorded. Each step has sequences of another length, so its sizes differ from those of the step before;
it allocates activations layer by layer on the way forward, with workspaces that live for one layer, and takes them back
in reverse on the way back, where gradients come and go. Weights are allocated first and stay.
"""

import random
from collections.abc import Iterator

_LAYERS = 24
_WIDTH = 2048
_ALIGNMENT = 256
_HALF = 2  # bytes of a number


class _Log:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self._next = 0

    def allocate(self, size: int) -> int:
        self._next += 1
        self.lines.append(f"+ {self._next} {size} {_ALIGNMENT}")
        return self._next

    def take_back(self, block: int) -> None:
        self.lines.append(f"- {block}")


def training_log(steps: int = 60, seed: int = 1, tokens: tuple[int, int] = (1024, 4096)) -> str:
    """The log of that many steps of so many tokens, least and most; by default never more than 7 GiB are live."""
    chance = random.Random(seed)
    log = _Log()
    for _ in range(_LAYERS):
        for size in (4 * _WIDTH * _WIDTH, 8 * _WIDTH * _WIDTH, _WIDTH, _WIDTH):
            log.allocate(size * _HALF)
    for _ in range(steps):
        _step(log, chance, tokens=chance.randrange(tokens[0], tokens[1] + 1))
    return "\n".join(log.lines) + "\n"


def _step(log: _Log, chance: random.Random, tokens: int) -> None:
    layers: list[list[int]] = []
    for _ in range(_LAYERS):
        workspace = log.allocate(chance.randrange(1 << 16, 1 << 23))
        layers.append([log.allocate(size) for size in _activations(tokens)])
        log.take_back(workspace)
    while layers:
        gradients = []
        for block in reversed(layers.pop()):
            gradients.append(log.allocate(tokens * _WIDTH * _HALF))
            log.take_back(block)
        for block in gradients:
            log.take_back(block)


def _activations(tokens: int) -> Iterator[int]:
    for width in (3 * _WIDTH, _WIDTH, _WIDTH, 4 * _WIDTH, _WIDTH):
        yield tokens * width * _HALF
    yield tokens * 4  # statistics of a normalisation
    yield 4
