# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the registers case: reads what the build's target `warpheap_footprints` compiled."""

import time
from dataclasses import dataclass
from pathlib import Path

from warpheap import project
from warpheap.cases.registers.cubin import CubinError, Kernel, read_cubin
from warpheap.driver import Driver
from warpheap.record import Measure, Record
from warpheap.runner import CannotRunError, Effort, Point

_MALLOC = "warpheap_footprint_malloc"
_FREE = "warpheap_footprint_free"
_UNITS = {"registers": "count", "stack": "bytes", "code": "bytes"}


@dataclass(frozen=True)
class Footprints:
    """A folder of cubins, one for each allocator."""

    folder: Path
    driver: Driver  # whose backend, device and sources the records name

    def measure(self, point: Point, effort: Effort) -> Record:
        """Reads the allocator's cubin. One that is missing or unreadable makes a failed record."""
        start = time.monotonic()
        record = self._read(point)
        return record | {"seconds": round(time.monotonic() - start, 3), "time_limit_s": effort.time_limit}

    def _read(self, point: Point) -> Record:
        path = self.folder / f"{point.allocator}.cubin"
        try:
            kernels = read_cubin(path)
            if _MALLOC not in kernels:
                raise CubinError(f"{path.name} has no kernel {_MALLOC}")
        except FileNotFoundError:
            return self.driver.record_without_result(point, "failed", f"{path.name} was not built: no GPU program")
        except OSError as problem:
            return self.driver.record_without_result(point, "failed", f"{path.name}: {problem.strerror}")
        except CubinError as problem:
            return self.driver.record_without_result(point, "failed", str(problem))
        known = self.driver.record_without_result(point, "ok", "")
        return known | {"verified": True, "measures": _measures("malloc", kernels) | _measures("free", kernels)}


def _measures(operation: str, kernels: dict[str, Kernel]) -> dict[str, Measure | None]:
    kernel = kernels.get(_MALLOC if operation == "malloc" else _FREE)
    return {
        f"{operation}_{name}": None if kernel is None else _single(getattr(kernel, name), unit)
        for name, unit in _UNITS.items()
    }


def _single(value: int, unit: str) -> Measure:
    known = dict.fromkeys(("median", "p95", "p99", "min", "max", "mean"), value)
    fixed = {"unit": unit, "better": "lower", "timing": False, "median_low": None, "median_high": None}
    return fixed | known | {"count": 1}


def find_footprints(driver: Driver) -> Footprints:
    """The footprints beside the driver, or those built in the checkout; `CannotRunError` if no folder has any."""
    places = [driver.path.parent.parent / "footprints", driver.path.parent / "footprints", *project.footprint_folders()]
    for folder in places:
        if any(folder.glob("*.cubin")):
            return Footprints(folder, driver)
    raise CannotRunError(
        "it needs nvcc, and programs that were compiled for it: "
        "cmake --preset cuda-bench && cmake --build --preset cuda-bench --target warpheap_footprints"
    )
