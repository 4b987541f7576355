# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Filters signals of changing lengths by FFT in CuPy. Exit code 4: there is no CuPy or no GPU.

CuPy's pool is off, so each array is a call of the driver.
"""

import argparse
import importlib
import random
import sys


def main() -> int:
    """Filters some signals, and prints what is left of their energy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    steps = parser.parse_args().steps
    try:
        cupy = importlib.import_module("cupy")
        if cupy.cuda.runtime.getDeviceCount() == 0:
            raise ImportError("this cupy sees no GPU")
    except ImportError as problem:
        print(f"the FFT loop needs CuPy and a GPU: {problem}", file=sys.stderr)
        return 4
    cupy.cuda.set_allocator(None)
    chance = random.Random(1)
    cupy.random.seed(1)
    kept = []  # spectra of the last signals, for a mean over them
    left = 0.0
    for _ in range(steps):
        length = chance.choice((1, 3, 5)) << chance.randrange(12, 21)
        signal = cupy.random.standard_normal(length, dtype=cupy.float32)
        spectrum = cupy.fft.rfft(signal)
        spectrum[len(spectrum) // 4 :] = 0
        filtered = cupy.fft.irfft(spectrum, length)
        left += float((filtered**2).sum() / (signal**2).sum())
        kept.append(cupy.abs(spectrum))
        del kept[:-8]
    print(f"{steps} signals, {left / steps:.3f} of their energy is left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
