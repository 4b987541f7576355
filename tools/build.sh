# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Builds for ./run. Sourced; needs `root`, `jobs` and tools/setup.sh.

seconds_of_building=0

has_gpu() { have nvidia-smi && [[ $(nvidia-smi --list-gpus 2>/dev/null) == *GPU* ]]; }

# A GPU without nvcc is measured by nobody: tells the user, who may only lack a folder on the PATH.
note_missing_nvcc() {
  if has_gpu && ! have nvcc; then
    say "a GPU answers, but no nvcc is on the PATH, so this is the host backend;" \
      "with a toolkit: export PATH=/usr/local/cuda/bin:\$PATH" >&2
  fi
}

# The compute capability of the first GPU, as CMake names it: 90 for 9.0.
gpu_architecture() {
  local capability
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | sed -n 1p)
  echo "${capability/./}"
}

# configure PRESET CMAKE_ARGUMENT...: runs CMake unless that was done with the same arguments.
configure() {
  local preset=$1 folder="$root/build/$1"
  shift
  if [[ -e $folder/build.ninja && $folder/build.ninja -nt $root/CMakePresets.json &&
    -e $folder/configured_with && $(<"$folder/configured_with") == "$*" ]]; then
    return 0
  fi
  (cd "$root" && cmake --preset "$preset" "$@") && printf '%s' "$*" >"$folder/configured_with"
}

# build_preset PRESET [TARGET...]: all of it with the tests, or these targets of it. CI builds everything once, so there
# each host test is one translation unit.
build_preset() {
  local once=()
  [[ -z ${CI:-} ]] || once=(-DWARPHEAP_WHOLE_PROGRAMS=ON)
  configure "$1" "${once[@]}" && build_tree "$@"
}

# build_tree PRESET [TARGET...]: what was configured. Adds the seconds that it takes to `seconds_of_building`.
build_tree() {
  local start=$SECONDS status=0
  cmake --build "$root/build/$1" --parallel "$jobs" ${2:+--target "${@:2}"} || status=$?
  seconds_of_building=$((seconds_of_building + SECONDS - start))
  return "$status"
}

# Where no GPU can run them, tests are compiled to PTX, and those that instantiate every design for three that stand for
# all. The driver holds every design anyway, and their footprints are compiled to the end.
build_cuda_tests() {
  local fewer=()
  has_gpu || fewer=(-DWARPHEAP_CUDA_PROGRAMS=OFF "-DWARPHEAP_CUDA_SUITES=bump;cuda_malloc;ouroboros_va_c"
    -DWARPHEAP_CUDA_ARCHITECTURES=80-virtual)
  configure cuda "${fewer[@]}" && build_tree cuda
}

# check_bench_words BACKEND WORD...: ends with the help of the driver, or with status 2 for words that the driver would
# refuse. Where it is not built both are read from the sources: nobody should wait for a build to be told of a slip.
# Without a Python of 3.11 or newer the driver itself refuses them, once it is built.
check_bench_words() {
  local source="$root/benchmarks/options.cpp" backend=$1 word name summary program python
  shift
  for word in "$@"; do
    if [[ $word == --help ]]; then
      for program in "$root"/build/{cuda-bench/bin/warpheap_bench_cuda,host/bin/warpheap_bench_host}; do
        if [[ -x $program ]]; then exec "$program" --help; fi
      done
      sed -n '/^std::string help_text/,/^}/s/^ *\(return \)\?"\(.*\)\\n";\?$/\2/p' "$source"
      sed -n 's/^ *static constexpr const char\* \(name\|summary\) = "\(.*\)";$/\2/p' "$root"/benchmarks/cases/*.hpp |
        while read -r name && read -r summary; do printf '  %-18s  %s\n' "$name" "$summary"; done
      exit 0
    fi
  done
  python=$(find_python) || return 0
  PYTHONPATH="$root/python${PYTHONPATH:+:$PYTHONPATH}" "$python" -m warpheap.bench_words "$backend" "$@" || exit $?
}

# ctest_preset PRESET CTEST_ARGUMENT...
ctest_preset() {
  local preset=$1 without_aslr=()
  shift
  # ThreadSanitizer maps its shadow at fixed addresses, which random placement of the program can hit.
  if [[ $preset == host-tsan ]] && setarch "$(uname -m)" -R true 2>/dev/null; then
    without_aslr=(setarch "$(uname -m)" -R)
  fi
  (cd "$root" && "${without_aslr[@]}" ctest --preset "$preset" --parallel "$jobs" "$@")
}

test_preset() { build_preset "$1" && ctest_preset "$1"; }

# Four lanes a warp: many warps, which meet and part more often. The tests of the default design stand for all.
test_narrow_warps() {
  build_preset host-narrow conformance_warp_slab_host warp_slab_host && ctest_preset host-narrow
}

# build_driver PRESET [TARGET]: the benchmark driver and nothing else, or what TARGET makes instead. A tree that was
# configured for the tests serves as it is; otherwise a compiler that warns of more than ours does not stop the user.
build_driver() {
  local preset=$1 target=${2:-} backend=host arguments log="$root/build/logs/driver-$1.log"
  arguments=(-DWARPHEAP_BUILD_TESTS=OFF -DWARPHEAP_BUILD_EXAMPLES=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF)
  if [[ $preset == cuda-bench ]]; then
    backend=cuda
    if has_gpu; then arguments+=("-DWARPHEAP_CUDA_ARCHITECTURES=$(gpu_architecture)"); fi
  elif [[ -e $root/build/$preset/configured_with ]]; then
    read -ra arguments <"$root/build/$preset/configured_with" || true
  fi

  mkdir -p "$root/build/logs"
  if [[ -n $target ]]; then
    [[ -e $root/build/$preset/bin/$target || -d $root/build/$preset/${target#warpheap_} ]] || say "building $target" >&2
  else
    target=warpheap_bench_$backend
    [[ -x $root/build/$preset/bin/$target ]] || say "building the benchmark driver ($backend)" >&2
  fi
  : >"$log"
  # What the caller prints on stdout may be read by a program.
  show_progress "$log" >&2 &
  local watcher=$! status=0
  { configure "$preset" "${arguments[@]}" &&
    cmake --build "$root/build/$preset" --parallel "$jobs" --target "$target"; } >"$log" 2>&1 || status=$?
  end_progress "$watcher"
  ((status == 0)) || {
    tail -n 40 "$log" >&2
    printf 'warpheap: %s could not be built; the log is %s\n' "$target" "$log" >&2
    exit 1
  }
}
