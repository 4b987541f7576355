# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled libraries with an interface for C: where they are, and their functions as ctypes knows them."""

import ctypes
import os
import re
from collections.abc import Callable, Mapping
from ctypes import c_char_p, c_int32, c_uint32
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from warpheap.errors import UsageError
from warpheap.project import library_folders

# Build folders that can hold the library of a backend, the best for measuring first.
FOLDERS = {"cuda": ("cuda-bench", "cuda"), "host": ("host",)}


@dataclass(frozen=True)
class Interface:
    """An interface for C, of which there is a library for each backend."""

    name: str  # as files and functions have it: libwarpheap_NAME_host.so, wh_NAME_error
    what: str  # what the library is of, for messages
    variable: str  # of the environment, which names another file than the one that the checkout's build made
    calls: Mapping[str, tuple[Any, ...]]  # types of arguments of what returns a status, by name without the prefix
    answers: Mapping[str, tuple[Any, tuple[Any, ...]]]  # what returns something else: the type, and those of arguments
    errors: Mapping[int, type[Exception]]  # what a status is raised as
    failure: type[Exception]  # what any other status is raised as
    has_designs: bool = True  # the library lists designs


class CLibrary:
    """A loaded library. Its functions are attributes without their prefix; a call that fails raises."""

    def __init__(self, path: Path, interface: Interface, abi: int) -> None:
        self.path = path
        self._interface = interface
        self._prefix = f"wh_{interface.name}_"
        try:
            self._loaded = ctypes.CDLL(str(path))
        except OSError as error:
            text = f"the library of {interface.what} {path} cannot be loaded: {error}; {self._remedy()}"
            raise UsageError(text) from error
        self._declare("abi", c_uint32, ())
        found = self.abi()
        if found != abi:
            raise UsageError(f"{path} has interface {found} and this package needs {abi}; {self._remedy()}")
        own: dict[str, Any] = {"backend": (c_char_p, ()), "error": (c_char_p, ())}
        if interface.has_designs:
            own["designs"] = (c_char_p, ())
        for name, (result, arguments) in {**own, **interface.answers}.items():
            self._declare(name, result, arguments)
        for name, arguments in interface.calls.items():
            self._declare(name, c_int32, arguments)
        self.backend: str = self._function("backend")().decode()
        # Arrays of the caller are in memory of a GPU, and results too.
        self.uses_device_arrays = self.backend == "cuda"
        self.designs: list[str] = self._function("designs")().decode().split(",") if interface.has_designs else []

    def _function(self, name: str) -> Any:
        return getattr(self._loaded, self._prefix + name)

    def _declare(self, name: str, result: Any, arguments: tuple[Any, ...]) -> None:
        try:
            function = self._function(name)
        except AttributeError as error:
            what = f"{self.path} has no {self._prefix}{name} and is no library of {self._interface.what}"
            raise UsageError(f"{what}; {self._remedy()}") from error
        function.restype = result
        function.argtypes = arguments

    def _remedy(self) -> str:
        return f"build it anew: {build_command(self._interface, 'cuda' if 'cuda' in self.path.name else 'host')}"

    def error_text(self) -> str:
        """The sentence of this thread's last call that failed."""
        return str(self._function("error")().decode(errors="replace"))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        function = self._function(name)
        if name not in self._interface.calls:
            return function

        # ctypes lets other threads of Python run meanwhile, so a caller guards what it calls with a lock of its own.
        def call(*arguments: Any) -> None:
            status = function(*arguments)
            if status != 0:
                kind = self._interface.errors.get(status, self._interface.failure)
                raise kind(_in_python(self.error_text()) or "no memory for the text of an error")

        return call


# Options as the libraries' sentences name them, and as the classes do.
_OPTION_OF_CPP = re.compile(r"\b(?:heap|graph)_options::(\w+)")
_FLAGS_OF_C = {
    "WH_HEAP_CHECKED": "checked=True",
    "WH_GRAPH_UNDIRECTED": "undirected=True",
    "WH_GRAPH_WEIGHTS": "weighted=True",
    "WH_POOL_SHARED": "shared=True",
}


def _in_python(text: str) -> str:
    """A library's sentence with the names that options have in Python."""
    for flag, option in _FLAGS_OF_C.items():
        text = text.replace(flag, option)
    return _OPTION_OF_CPP.sub(r"\1", text)


def build_command(interface: Interface, backend: str) -> str:
    """The command that builds the library of a backend in the checkout."""
    preset = FOLDERS[backend][0]
    return f"cmake --preset {preset} && cmake --build --preset {preset} --target warpheap_{interface.name}_{backend}"


_L = TypeVar("_L", bound=CLibrary)


class Libraries(Generic[_L]):
    """The libraries of one interface, one for each backend: where they are, and each opened once."""

    def __init__(self, interface: Interface, kind: Callable[[Path], _L]) -> None:
        """Libraries that `kind` opens."""
        self._interface = interface
        self._opened = lru_cache(kind)

    def find(self, backend: str) -> Path | None:
        """The library of a backend that the wheel brought along, or that was built in the checkout."""
        name = f"libwarpheap_{self._interface.name}_{backend}.so"
        paths = (folder / name for folder in library_folders(FOLDERS[backend]))
        return next((path for path in paths if path.is_file()), None)

    def load_for_gpu(self, what: str) -> _L:
        """The library for a GPU. Raises `UsageError` if it is not built, or if no GPU answers, which `what` need."""
        library = self.load("cuda")
        if not library.device_available():
            raise UsageError(f"{what} need a GPU, and no GPU answers: {library.error_text()}")
        return library

    def load(self, backend: str | None = None) -> _L:
        """The library of a backend, "cuda" or "host"; without a name that for a GPU if it is there and a GPU answers.

        The environment variable of the interface names another file than the one that `find` would. Raises `UsageError`
        that says what to build.
        """
        interface = self._interface
        if backend not in (None, "cuda", "host"):
            raise UsageError(f"backend is '{backend}'; use 'cuda', 'host' or None")
        named = os.environ.get(interface.variable)
        if named:
            library = self._opened(Path(named))
            if backend not in (None, library.backend):
                text = f"{interface.variable} names a library of the backend '{library.backend}', not of '{backend}'"
                raise UsageError(text)
            return library
        without_gpu = ""
        if backend is None and (path := self.find("cuda")) is not None:
            library = self._opened(path)
            if library.device_available():
                return library
            without_gpu = f"{path} finds no GPU ({library.error_text()}), and "
        path = self.find(backend or "host")
        if path is None:
            raise UsageError(
                f"{without_gpu}no library of {interface.what} was found for the backend '{backend or 'host'}'. In the "
                f"checkout: {build_command(interface, backend or 'host')}. Or name one with the environment variable "
                f"{interface.variable}."
            )
        return self._opened(path)
