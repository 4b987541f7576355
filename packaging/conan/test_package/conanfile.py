# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Builds tests/consumer against the package, and runs it: part of `conan create packaging/conan`.

A package without the host executor has nothing for a C++ compiler alone, so nvcc compiles the project there.
"""

from pathlib import Path

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout

CONSUMER = Path(__file__).resolve().parents[3] / "tests" / "consumer"


class WarpheapTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def has_host(self):
        return bool(self.dependencies[self.tested_reference_str].options.host)

    def generate(self):
        toolchain = CMakeToolchain(self)
        # Another package, installed on this machine, proves nothing of this one.
        toolchain.cache_variables["CMAKE_FIND_USE_CMAKE_SYSTEM_PATH"] = False
        toolchain.cache_variables["CONSUMER_LANGUAGE"] = "CXX" if self.has_host() else "CUDA"
        if not self.has_host():
            toolchain.cache_variables["CMAKE_CUDA_ARCHITECTURES"] = "90"
            # CMake 3.25 knows no C++20 of nvcc; the target brings the flag.
            toolchain.blocks.remove("cppstd")
        toolchain.user_presets_path = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder=str(CONSUMER))
        cmake.build()

    def test(self):
        if can_run(self) and self.has_host():
            self.run(str(Path(self.cpp.build.bindir).resolve() / "consumer"), env="conanrun")
