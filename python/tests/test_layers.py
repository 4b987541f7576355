# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of the package: a module imports only what is below it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "warpheap"

# From the bottom to the top. Packages and modules of one line do not import each other.
LAYERS = (
    ("__init__", "errors", "fingerprints", "guard", "words"),
    ("files", "folders", "process"),
    ("project", "units"),
    ("builds", "graphs", "native", "record"),
    ("dynamic", "heaps", "machines", "runner", "stream_pools"),
    ("device_code", "driver", "interposer"),
    ("cuda_core", "memory_map", "watch"),
    ("cases", "cupy", "devices", "emm", "numba", "torch"),
    ("bench_words", "compare", "export", "plan", "report"),
    ("again", "experiments", "forecast", "shared_process", "survey"),
    ("dynamic_graphs", "merge", "pool", "sync", "terminal", "workers"),
    ("summary",),
    ("commands", "gpu"),
    ("gpu_measures",),
    ("cli",),
    ("__main__",),
)
LEVELS = {name: level for level, names in enumerate(LAYERS) for name in names}


def imported(source: str) -> Iterator[str]:
    """Return the packages and modules of warpheap that a source imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            first, *rest = name.split(".")
            if first == "warpheap":
                yield rest[0] if rest and rest[0] in LEVELS else "__init__"


def findings(own: str, source: str) -> list[str]:
    """Return what a source of the package or module `own` imports and must not."""
    return [name for name in imported(source) if name != own and LEVELS[name] >= LEVELS[own]]


def test_every_module_has_its_layer() -> None:
    there = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir() if path.suffix in ("", ".py")}
    assert there - {"__pycache__"} == set(LEVELS)


@pytest.mark.parametrize("own", LEVELS)
def test_imports_point_down(own: str) -> None:
    folder = PACKAGE / own
    files = folder.rglob("*.py") if folder.is_dir() else [PACKAGE / f"{own}.py"]
    found = {str(path.relative_to(PACKAGE)): findings(own, path.read_text(encoding="utf-8")) for path in files}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from warpheap.report import data", ["report"]),
        ("def late():\n    from warpheap.gpu.device import Device", ["gpu"]),
        ("from warpheap import survey", ["survey"]),
        ("import warpheap.sync.run", ["sync"]),
        ("from warpheap import __version__, driver", []),
        ("from warpheap.cases.base import Case", []),
    ],
)
def test_an_import_that_points_up_is_found(source: str, found: list[str]) -> None:
    assert findings("cases", source) == found
