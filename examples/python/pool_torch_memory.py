# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Fills a GPU, which nothing else may use, with tensors of PyTorch over a pool: pool_torch_memory.py [DEPTH...]

The depths are those of pool_torch.py; without a word `mem_pool` and `full` run.
"""

import sys
from typing import Any

import torch_depths
from checks import Checks


def fills_the_gpu(torch: Any) -> str:
    """Where the GPU has no more memory PyTorch's own error is raised; what is released then serves tensors again."""
    piece = torch.cuda.mem_get_info()[1] // 16
    held = []
    try:
        for _ in range(20):
            held.append(torch.empty(piece, device="cuda", dtype=torch.uint8))
        raise AssertionError("more memory than the GPU has")
    except torch.OutOfMemoryError:
        count = len(held)
    held.clear()
    assert count >= 8, count
    assert int(torch.ones(1000, device="cuda").sum()) == 1000
    again = [torch.empty(piece, device="cuda", dtype=torch.uint8) for _ in range(count - 1)]
    del again
    torch.cuda.empty_cache()
    return f"{count} sixteenths of the GPU"


def other_sizes(torch: Any) -> str:
    """Memory that was cut into small tensors on two streams is put together for a large one."""
    side = torch.cuda.Stream()
    piece = torch.cuda.mem_get_info()[1] // 64
    held: list[Any] = []
    try:
        for number in range(80):
            with torch.cuda.stream(side if number % 2 else torch.cuda.current_stream()):
                held.append(torch.empty(piece, device="cuda", dtype=torch.uint8))
    except torch.OutOfMemoryError:
        pass
    count = len(held)
    held.clear()
    large = torch.full((piece // 4 * (count // 2),), 7, device="cuda", dtype=torch.int32)
    assert int(large[-1]) == 7
    return f"{count} pieces of {piece >> 20} MiB, then one of {large.numel() * 4 >> 20} MiB"


def all_checks(checks: Checks, _depth: str, torch: Any, _pool: Any) -> None:
    """The checks of one depth."""
    checks.served("fills_the_gpu", lambda: fills_the_gpu(torch))
    checks.served("other_sizes", lambda: other_sizes(torch))


if __name__ == "__main__":
    torch_depths.run(sys.argv[1:], __doc__, all_checks, ("mem_pool", "full"))
