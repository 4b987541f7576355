# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of GPU runs share: folders of programs, and what a run wrote of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conftest import Finished

from warpheap.gpu import expected, gtest

Command = Callable[..., Finished]
MakeTests = Callable[..., Path]
MakeDriver = Callable[..., Path]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def results(path: Path) -> list[dict[str, Any]]:
    return [line for line in lines(path) if line["kind"] not in ("run", "end")]


def statuses(path: Path) -> dict[str, str]:
    return {each["name"]: each["status"] for each in results(path)}


def ends(program: Path, limit: float = 60) -> dict[str, str]:
    return {result.name: result.status for result in gtest.run_tests(program, "*", lambda: limit)}


def prebuilt(tmp_path: Path, fake_driver: MakeDriver, **settings: str) -> Path:
    driver = fake_driver(**settings)
    target = tmp_path / "bin" / "warpheap_bench_cuda"
    target.parent.mkdir(exist_ok=True)
    driver.rename(target)
    return tmp_path


def expect(folder: Path, *names: str) -> None:
    (folder / expected.LIST_NAME).write_text("".join(f"{name}\n" for name in names))
