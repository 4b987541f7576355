# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a small transformer in PyTorch on sequences of changing lengths. Exit code 4: there is no PyTorch or no GPU.

Each tensor is a call of the driver if PYTORCH_NO_CUDA_MEMORY_CACHING=1 is set.
"""

import argparse
import importlib
import random
import sys

_WORDS = 8192
_WIDTH = 512
_LAYERS = 6
_BATCH = 8


def main() -> int:
    """Trains for some steps, and prints the first and the last loss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=30)
    steps = parser.parse_args().steps
    try:
        torch = importlib.import_module("torch")
        if not torch.cuda.is_available():
            raise ImportError("this torch sees no GPU")
    except ImportError as problem:
        print(f"the training needs PyTorch and a GPU: {problem}", file=sys.stderr)
        return 4
    torch.manual_seed(1)
    chance = random.Random(1)
    layer = torch.nn.TransformerEncoderLayer(_WIDTH, 8, 4 * _WIDTH, batch_first=True)
    model = torch.nn.Sequential(
        torch.nn.Embedding(_WORDS, _WIDTH),
        torch.nn.TransformerEncoder(layer, _LAYERS),
        torch.nn.Linear(_WIDTH, _WORDS),
    ).cuda()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4)
    losses = []
    for _ in range(steps):
        length = chance.randrange(64, 513)
        words = torch.randint(_WORDS, (_BATCH, length + 1), device="cuda")
        said = model(words[:, :-1])
        loss = torch.nn.functional.cross_entropy(said.reshape(-1, _WORDS), words[:, 1:].reshape(-1))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    print(f"{steps} steps, loss {losses[0]:.3f} to {losses[-1]:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
