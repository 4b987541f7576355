# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Recipe for Conan 2: `conan create packaging/conan` in the checkout.

The package is what `cmake --install` makes, and a project finds it by `find_package(warpheap)`.
"""

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy, load

CHECKOUT = Path(__file__).resolve().parents[2]


class Warpheap(ConanFile):
    name = "warpheap"
    description = "Dynamic memory for GPUs: malloc and free inside kernels"
    license = "Apache-2.0"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    # host: with the host executor, so that kernels also run without a GPU. Without it nothing is compiled.
    options = {"host": [True, False]}  # noqa: RUF012 (Conan reads it from the class)
    default_options = {"host": True}  # noqa: RUF012

    def set_version(self):
        text = load(self, CHECKOUT / "CMakeLists.txt")
        found = re.search(r"project\(warpheap VERSION ([0-9.]+)", text)
        if found is None:
            raise ConanException("CMakeLists.txt of the checkout names no version")
        self.version = found.group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, str(CHECKOUT), self.export_sources_folder)

    def configure(self):
        if not self.options.host:
            self.package_type = "header-library"

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        if not self.info.options.host:
            self.info.settings.clear()

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["WARPHEAP_HOST"] = bool(self.options.host)
        libraries = ("GRAPH_LIBRARY", "HEAP_LIBRARY", "POOL_LIBRARY", "RUN_LIBRARY")
        for part in ("BUILD_TESTS", "BUILD_BENCHMARKS", "BUILD_EXAMPLES", *libraries):
            toolchain.cache_variables[f"WARPHEAP_{part}"] = False
        toolchain.cache_variables["CMAKE_INSTALL_LIBDIR"] = "lib"
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, str(Path(self.package_folder) / "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/warpheap"]
        self.cpp_info.libs = []
