# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Which driver measures, on which GPU."""

import os
import re
import shutil
from pathlib import Path

from warpheap import builds, process, project
from warpheap.driver import Driver, NoMachineError
from warpheap.errors import UsageError

_SECONDS_TO_ANSWER = 30.0
_MOST_DEVICES = 64  # of one machine, so that a driver that always answers is not asked for ever


def find_driver(path: Path | None, backend: str, device: str | None = None, option: str = "--device") -> Driver:
    """The driver at `path`, or the one built in the checkout: with `auto`, a GPU's if one answers, else the host's.

    `device` is the GPU to use, as nvidia-smi numbers or names it; only a driver of CUDA has one. `option` is what the
    user chose it with.
    """
    environment = {} if device is None else environment_of(device, option)
    try:
        driver = _find(path, "cuda" if device is not None and backend == "auto" else backend, environment)
    except NoMachineError as problem:
        if device is None:
            raise
        raise UsageError(f"{option}: there is no GPU '{device}' here{_listed()}") from problem
    if device is not None and driver.backend != "cuda":
        raise UsageError(f"{option}: only the cuda backend has devices to choose from; leave it away")
    return driver


def find_drivers(path: Path | None, backend: str, devices: str) -> dict[str, Driver]:
    """The driver on each of some GPUs, by the number or name of the GPU: a list with commas, or `all`.

    `all` are those that `CUDA_VISIBLE_DEVICES` names; if it is not set, all of the machine. Raises `UsageError` if one
    of them is not there, and if they are of several kinds.
    """
    names = device_names(devices)
    first = find_driver(path, backend, "0" if names is None else names[0], "--devices")
    found = {"0" if names is None else names[0]: first}
    # Without a list, as many as there are: the numbers have no gaps.
    for name in map(str, range(1, _MOST_DEVICES)) if names is None else names[1:]:
        try:
            found[name] = first.on(environment_of(name, "--devices"))
        except NoMachineError as problem:
            if names is None:
                break
            raise UsageError(f"--devices: there is no GPU '{name}' here{_listed()}") from problem
    kinds = {driver.device for driver in found.values()}
    if len(kinds) > 1:
        each = ", ".join(f"{name} is {driver.device}" for name, driver in found.items())
        raise UsageError(f"--devices: {each}; a survey compares on one kind of GPU, so name those of one kind")
    return found


def device_names(devices: str) -> list[str] | None:
    """The GPUs of a list with commas; None for all of the machine. Raises `UsageError` for words that are no list."""
    if devices.strip() == "all":
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if visible is None:
            return None
        if not visible.strip():
            raise UsageError("--devices: CUDA_VISIBLE_DEVICES names no GPU; unset it, or list the GPUs")
        devices = visible
    names = [name.strip() for name in devices.split(",")]
    for place, name in enumerate(names):
        environment_of(name, "--devices")
        if name in names[:place]:
            raise UsageError(f"--devices: {name} is there twice; one GPU measures one case at a time")
    return names


def _find(path: Path | None, backend: str, environment: dict[str, str]) -> Driver:
    if path is not None:
        if not path.is_file():
            raise UsageError(f"--driver: there is no program at {path}")
        driver = Driver.start(path.resolve(), environment)
        if backend not in ("auto", driver.backend) and not environment:
            raise UsageError(f"--driver: {path} runs on the {driver.backend} backend, --backend asks for {backend}")
        return driver
    if project.find_installed() is not None:
        on_gpu = backend == "cuda" or (backend == "auto" and builds.prefers_gpu())
        return _first_use("cuda", environment, "warpheap_footprints") if on_gpu else _first_use("host", {})
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


def _first_use(backend: str, environment: dict[str, str], *beside: str) -> Driver:
    """The driver of the wheel's sources, which is built if nobody has used it on this machine."""
    program = builds.find_program(f"warpheap_bench_{backend}", backend, *beside)
    if program is None:
        raise project.no_driver(backend)
    return Driver.start(program, environment)


def environment_of(device: str, option: str) -> dict[str, str]:
    """The environment in which a driver has that GPU alone."""
    if not re.fullmatch(r"\d+|(GPU|MIG)-[0-9A-Za-z/-]+", device):
        raise UsageError(f"{option}: use a number such as 0, or a name such as GPU-8a3c; not '{device}'{_listed()}")
    # The order of nvidia-smi, which is where people look the number up.
    return {"CUDA_VISIBLE_DEVICES": device, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def _listed() -> str:
    if shutil.which("nvidia-smi") is None:
        return ""
    outcome = process.run(["nvidia-smi", "--query-gpu=index,name", "--format=csv,noheader"], _SECONDS_TO_ANSWER)
    found = [line.replace(", ", ": ") for line in outcome.stdout.splitlines() if line.strip()]
    return f"; there is {', '.join(found)}" if outcome.exit_code == 0 and found else ""
