# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for PyTorch as `warpheap.torch` uses it: it keeps what it is given, and compiles without Ninja."""

import subprocess
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any


class FakeTorch(ModuleType):
    """PyTorch of a version, whose CUDA was used or not."""

    def __init__(self, version: str = "2.11.0+cu130") -> None:
        super().__init__("torch")
        self.__version__ = version
        self.version = SimpleNamespace(cuda="13.0")
        self.used = False
        self.current: Any = None
        self.memory_pools: list[Any] = []
        memory = SimpleNamespace(CUDAPluggableAllocator=FakeAllocator, change_current_allocator=self._change)
        self.cuda = SimpleNamespace(is_initialized=lambda: self.used, memory=memory, MemPool=self._pool)

    def _change(self, allocator: Any) -> None:
        self.current = allocator

    def _pool(self, allocator: Any, **options: Any) -> Any:
        self.memory_pools.append((allocator, options))
        return self.memory_pools[-1]


class FakeAllocator:
    """What PyTorch makes of two functions in a file."""

    def __init__(self, file: str, take: str, give: str) -> None:
        self.words = (file, take, give)
        self.setters: dict[str, int] = {}
        setters = ("set_record_stream_fn", "set_reset_fn")
        self._own = SimpleNamespace(**{name: lambda f, n=name: self.setters.__setitem__(n, f) for name in setters})

    def allocator(self) -> Any:
        """The object that has the setters."""
        return self._own


class FakeExtension(ModuleType):
    """`torch.utils.cpp_extension`: `load` compiles `source` in place of the sources that it is given."""

    def __init__(self, source: Path, home: str | None) -> None:
        super().__init__("torch.utils.cpp_extension")
        self.CUDA_HOME = home
        self.source = source
        self.ninja = True
        self.loads: list[dict[str, Any]] = []

    def is_ninja_available(self) -> bool:
        """Return what the test says."""
        return self.ninja

    def load(self, name: str, sources: list[str], build_directory: str, **options: Any) -> None:
        """Compile as PyTorch does, and raise its exception if that fails."""
        self.loads.append({"name": name, "sources": sources, "folder": build_directory, **options})
        file = Path(build_directory) / f"{name}.so"
        command = ["cc", "-shared", "-fPIC", str(self.source), "-o", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"Error building extension '{name}': {done.stderr}")
