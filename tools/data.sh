# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Real graphs for `./run graph`. Sourced; needs `root` and tools/setup.sh.
#
# The graphs lie in packages of Debian, which are unpacked and not installed: build/data/PACKAGE/usr/... . The package
# python/warpheap/graphs/data.py knows the same paths.

# Each package, and which of its files are graphs.
graph_packages=(python3-graph-tool libmetis-doc)
graph_files=('*/graph_tool/collection/*.gt.gz' '*/examples/graphs/*.graph*')

fetch_graph_data() {
  local folder="$root/build/data" index package
  { have apt-get && have dpkg-deb; } ||
    give_up "the real graphs lie in Debian's packages ${graph_packages[*]}, and apt-get and dpkg-deb are missing here" \
      "copy build/data of a machine that has them, and name the copy in WARPHEAP_GRAPH_DATA"
  mkdir -p "$folder" "$root/build/logs"
  for index in "${!graph_packages[@]}"; do
    package=${graph_packages[index]}
    if [[ -d $folder/$package ]]; then
      say "build/data/$package is there already"
    else
      fetch_graph_package "$folder" "$package" "${graph_files[index]}"
    fi
  done
}

# fetch_graph_package FOLDER PACKAGE PATTERN: unpacks the files of a package that match the pattern, all or none.
fetch_graph_package() {
  local folder=$1 package=$2 pattern=$3 log="$root/build/logs/data.log" draft
  draft=$(mktemp -d "$root/build/data.XXXXXX")
  # apt-get downloads into the working directory, and as root lets a user without rights do it.
  chmod 755 "$draft"
  say "fetching $package into build/data"
  if ! (cd "$draft" && apt-get download "$package") >"$log" 2>&1; then
    rm -r "$draft"
    tail -n 5 "$log" >&2
    give_up "apt-get could not download $package" \
      "is there a network, and is Debian's archive among its sources? Perhaps 'apt-get update' is due; the log is $log"
  fi
  mkdir "$draft/unpacked"
  if ! dpkg-deb --fsys-tarfile "$draft/$package"_*.deb |
    tar -x -C "$draft/unpacked" --wildcards --no-anchored "$pattern" 2>>"$log"; then
    rm -r "$draft"
    tail -n 5 "$log" >&2
    give_up "the graphs of $package could not be unpacked; the log is $log"
  fi
  # Complete under its name or not there: a folder of that name is taken for whole.
  mv "$draft/unpacked" "$folder/$package"
  rm -r "$draft"
}
