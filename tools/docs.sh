# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The documentation for ./run. Sourced; needs `root` and tools/setup.sh.

# What need not be told again: the members of an allocator, which the concept explains; the macros of registry.def,
# which its head explains; that a move moves; and the call of a function object, which its class explains.
documented_elsewhere='(/(designs/[a-z0-9_]+|allocator/checked)/.* Member .*|Member .*of file registry\.hpp'
documented_elsewhere+='|Member .*(&& ?other\)|operator\(\)).*) is not documented'

# Builds the site; ends with status 1 if doxygen found fault with it.
build_docs() {
  local folder="$root/build/docs" faults
  mkdir -p "$folder"
  (cd "$root" && doxygen docs/Doxyfile)
  if faults=$(grep -E 'warning|error' "$folder/warnings.txt" | grep -vE "$documented_elsewhere"); then
    printf '%s\n' "$faults" >&2
    say "the manual has faults: document what is named above" >&2
    return 1
  fi
  say "the manual is $folder/html/index.html"
}
