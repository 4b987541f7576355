# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Set-up for ./run: system packages and Python environments. Sourced; needs `root`, the root of the repository.
#
# Nothing is installed that is there already, wherever it came from: tools are looked for by name, not by package.

say() { printf 'warpheap: %s\n' "$*"; }

# Ends with status 2: something is asked for or missing that only the caller can put right.
give_up() {
  printf 'warpheap: %s\n' "$@" >&2
  exit 2
}

have() { command -v "$1" >/dev/null 2>&1; }

# --- System packages --------------------------------------------------------------------------------------------------

have_cmake() {
  have cmake && [[ $(cmake --version) =~ ([0-9]+)\.([0-9]+) ]] &&
    ((BASH_REMATCH[1] > 3 || (BASH_REMATCH[1] == 3 && BASH_REMATCH[2] >= 25)))
}

have_googletest() { [[ -e /usr/src/googletest/CMakeLists.txt || -e /usr/include/gtest/gtest.h ]]; }

# Prints the packages that are missing of the needs named: compiler, googletest, python, git, doxygen.
missing_packages() {
  local need
  for need in "$@"; do
    case $need in
      compiler)
        have g++ || echo g++
        have_cmake || echo cmake
        have ninja || echo ninja-build
        ;;
      googletest) have_googletest || echo googletest ;;
      python)
        find_python "${python_modules[@]}" >/dev/null || find_python venv ensurepip >/dev/null ||
          echo python3 python3-venv
        ;;
      git) have git || echo git ;;
      doxygen)
        have doxygen || echo doxygen
        ;;
    esac
  done
}

# require_packages WHY NEED...: sees to it that the needs are met, or gives up with the exact list of packages.
require_packages() {
  local why=$1 packages as_root=()
  shift
  mapfile -t packages < <(missing_packages "$@" | tr ' ' '\n')
  ((${#packages[@]})) || return 0

  have apt-get || give_up "missing to $why: ${packages[*]}" "install them with your system's package manager"
  if ((EUID != 0)); then
    { have sudo && sudo -n true 2>/dev/null; } ||
      give_up "missing to $why: ${packages[*]}" \
        "install them: sudo apt-get install --no-install-recommends ${packages[*]}"
    as_root=(sudo)
  fi

  say "installing to $why: ${packages[*]}"
  local log="$root/build/logs/packages.log"
  mkdir -p "$root/build/logs"
  # A source that cannot be reached need not matter: what counts is whether the packages can be installed.
  "${as_root[@]}" apt-get update -q >"$log" 2>&1 || say "apt-get update failed, going on with the lists at hand"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=120 "${packages[@]}" >>"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    give_up "apt-get could not install: ${packages[*]}" \
      "the log is $log (on Ubuntu, is the component 'universe' enabled?)"
  }
}

# --- Python -----------------------------------------------------------------------------------------------------------

# What the package in python/ imports.
python_modules=(jinja2 matplotlib numpy rich typer)

# has_modules PYTHON MODULE...: true if PYTHON is 3.11 or newer and finds the modules.
has_modules() {
  "$1" - "${@:2}" 2>/dev/null <<'PYTHON'
import importlib.util, sys
sys.exit(sys.version_info < (3, 11) or not all(map(importlib.util.find_spec, sys.argv[1:])))
PYTHON
}

# find_python MODULE...: prints the first Python that is new enough and has the modules.
find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 /usr/bin/python3; do
    if [[ -n $candidate ]] && have "$candidate" && has_modules "$candidate" "$@"; then
      command -v "$candidate"
      return 0
    fi
  done
  return 1
}

# make_environment FOLDER WHY ORIGIN PIP_ARGUMENT...: a virtual environment with packages in it. ORIGIN says what it is
# made from; one made from the same is kept.
make_environment() {
  local folder=$1 why=$2 origin=$3 log="$root/build/logs/python-environment.log" base
  shift 3
  if [[ -x $folder/bin/python && -e $folder/origin && $(<"$folder/origin") == "$origin" ]]; then return 0; fi

  base=$(find_python venv ensurepip) || give_up "a Python of 3.11 or newer that can make environments is missing"
  say "making a Python environment to $why: ${folder#"$root"/} (${*: -1})"
  mkdir -p "$root/build/logs"
  if ! { "$base" -m venv --clear "$folder" && "$folder/bin/python" -m pip install --quiet "$@"; } >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    give_up "the environment could not be made; the log is $log"
  fi
  printf '%s' "$origin" >"$folder/origin"
}

# prepare_python MODULE...: sees to it that a Python with what the package needs, and the modules, can be had.
prepare_python() {
  find_python "${python_modules[@]}" "$@" >/dev/null ||
    make_environment "$root/build/venv" "run the package in python/" "$(cksum <"$root/python/pyproject.toml")" \
      pytest pytest-xdist --editable "$root/python"
}

# prepared_python MODULE...: prints the Python that prepare_python saw to.
prepared_python() {
  local made="$root/build/venv"
  find_python "${python_modules[@]}" "$@" || { [[ -e $made/origin ]] && echo "$made/bin/python"; }
}
