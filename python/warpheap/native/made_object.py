# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the classes share that each stand for an object of a compiled library: how it is held, and how it ends."""

import threading
from collections.abc import Callable
from ctypes import c_void_p
from types import TracebackType
from typing import Any, ClassVar, NoReturn, Self

from warpheap.native.ends import end_with
from warpheap.native.library import CLibrary


class MadeObject:
    """An object that a compiled library made.

    It ends by `close`, at the end of a `with`, or when nothing refers to it any more. It can be neither copied nor
    pickled, since two of these would then end one object.
    """

    _kind: ClassVar[str]  # what it is, for messages

    _library: CLibrary
    _address: int | None = None  # None: closed, or never made
    _end: Callable[[], Any] | None = None  # ends the object the first time that it is called; None: another has it

    def _hold(self, library: CLibrary, made: c_void_p, end: Callable[[int], Any] | None) -> int:
        """Stand for the object at the address `made`, which is returned.

        `end` is called with that address once, by any thread; None leaves the object to another owner.
        """
        assert made.value is not None
        self._lock = threading.RLock()
        self._library = library
        self._address = made.value
        self._end = None if end is None else end_with(self, end, made.value)
        return made.value

    def _open(self) -> int:
        """The address of the object. Raises `ValueError` after `close`."""
        if self._address is None:
            raise ValueError(f"the {self._kind} is closed: make another one")
        return self._address

    @property
    def backend(self) -> str:
        """Where the memory is and where kernels run: "cuda" or "host"."""
        return self._library.backend

    @property
    def closed(self) -> bool:
        """True after `close`."""
        return self._address is None

    def close(self) -> None:
        """End the object and all that lies in it; once more does nothing."""
        if self._address is None:
            return
        with self._lock:
            self._address = None
            if self._end is not None:
                self._end()

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} is neither copied nor pickled, since it owns memory that ends once: hand on the "
            "object itself, and make one of its own in each process"
        )
