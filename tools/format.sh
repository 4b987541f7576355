# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Formatting for ./run. Sourced; needs `root` and tools/setup.sh.

# format_files write|check [FILE...]: formats the files, or those of the repository; check: tells which would change.
format_files() {
  local mode=$1 tools="$root/build/venv-format/bin" file cpp=() cmake=() python=() status=0
  shift
  if (($# == 0)); then
    local all
    git -C "$root" rev-parse 2>/dev/null || give_up "git does not know $root: name the files to format"
    mapfile -t all < <(git -C "$root" ls-files --cached --others --exclude-standard)
    set -- "${all[@]/#/$root/}"
  fi
  for file in "$@"; do
    [[ -e $file ]] || continue
    case $file in
      *.h | *.hpp | *.c | *.cpp | *.cu) cpp+=("$file") ;;
      */CMakeLists.txt | *.cmake) cmake+=("$file") ;;
      *.py | */tools/check_*) python+=("$file") ;;
    esac
  done

  local cpp_options=(-i) cmake_options=(--in-place) fix=(--fix) check=()
  if [[ $mode == check ]]; then
    cpp_options=(--dry-run --Werror)
    cmake_options=(--check)
    fix=()
    check=(--check)
  fi
  local ruff_config=(--quiet --config "$root/python/pyproject.toml")
  if ((${#cpp[@]})); then "$tools/clang-format" "${cpp_options[@]}" "${cpp[@]}" || status=1; fi
  if ((${#cmake[@]})); then "$tools/gersemi" "${cmake_options[@]}" "${cmake[@]}" || status=1; fi
  if ((${#python[@]})); then
    "$tools/ruff" check --output-format concise "${ruff_config[@]}" "${fix[@]}" "${python[@]}" || status=1
    "$tools/ruff" format "${ruff_config[@]}" "${check[@]}" "${python[@]}" || status=1
  fi
  ((status == 0)) || [[ $mode == write ]] || say "./run format mends the layout; the rest is yours to mend" >&2
  return $status
}
