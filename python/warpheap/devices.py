# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Which driver measures, on which GPU."""

import re
import shutil
from pathlib import Path

from warpheap import process, project
from warpheap.driver import Driver, NoMachineError
from warpheap.errors import UsageError

_SECONDS_TO_ANSWER = 30.0


def find_driver(path: Path | None, backend: str, device: str | None = None) -> Driver:
    """The driver at `path`, or the one built in the checkout: with `auto`, a GPU's if one answers, else the host's.

    `device` is the GPU to use, as nvidia-smi numbers or names it; only a driver of CUDA has one.
    """
    environment = {} if device is None else _environment(device)
    try:
        driver = _find(path, "cuda" if device is not None and backend == "auto" else backend, environment)
    except NoMachineError as problem:
        if device is None:
            raise
        raise UsageError(f"--device: there is no GPU '{device}' here{_listed()}") from problem
    if device is not None and driver.backend != "cuda":
        raise UsageError("--device: only the cuda backend has devices to choose from; leave it away")
    return driver


def _find(path: Path | None, backend: str, environment: dict[str, str]) -> Driver:
    if path is not None:
        if not path.is_file():
            raise UsageError(f"--driver: there is no program at {path}")
        driver = Driver.start(path.resolve(), environment)
        if backend not in ("auto", driver.backend) and not environment:
            raise UsageError(f"--driver: {path} runs on the {driver.backend} backend, --backend asks for {backend}")
        return driver
    if backend in ("cuda", "auto"):
        built = project.find_built_driver("cuda")
        if built is not None:
            try:
                return Driver.start(built, environment)
            except NoMachineError:
                if backend == "cuda":
                    raise
        elif backend == "cuda":
            raise project.no_driver("cuda")
    built = project.find_built_driver("host")
    if built is None:
        raise project.no_driver("host")
    return Driver.start(built)


def _environment(device: str) -> dict[str, str]:
    if not re.fullmatch(r"\d+|(GPU|MIG)-[0-9A-Za-z/-]+", device):
        raise UsageError(f"--device: use a number such as 0, or a name such as GPU-8a3c; not '{device}'{_listed()}")
    # The order of nvidia-smi, which is where people look the number up.
    return {"CUDA_VISIBLE_DEVICES": device, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def _listed() -> str:
    if shutil.which("nvidia-smi") is None:
        return ""
    outcome = process.run(["nvidia-smi", "--query-gpu=index,name", "--format=csv,noheader"], _SECONDS_TO_ANSWER)
    found = [line.replace(", ", ": ") for line in outcome.stdout.splitlines() if line.strip()]
    return f"; there is {', '.join(found)}" if outcome.exit_code == 0 and found else ""
