# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The steps of `./run test` and their summary. Sourced; needs `root`, tools/setup.sh and tools/build.sh.

step_rows=()
test_rows=()
tests_passed=0
tests_failed=0

# in_background COMMAND...: starts set-up that the next steps do not need; join_background waits for it.
in_background() {
  "$@" &
  background=$!
  trap 'kill "$background" 2>/dev/null || true' EXIT
}

join_background() {
  local status=0
  wait "$background" || status=$?
  trap - EXIT
  ((status == 0)) || exit "$status"
}

# step NAME COMMAND...: runs a step into a log of its own, and notes how it went. Meanwhile it shows how far that is.
#
# Commands are chained with && where each must succeed: `set -e` does not hold in a function that a condition calls.
step() {
  local name=$1 log result=ok start=$SECONDS
  shift
  log="$root/build/logs/${name// /-}.log"
  mkdir -p "$root/build/logs"
  say "$name ..."
  seconds_of_building=0
  : >"$log"
  show_progress "$log" &
  local watcher=$!
  if "$@" >"$log" 2>&1; then
    count_tests "$log" 0
  else
    result=FAILED
  fi
  end_progress "$watcher"
  if [[ $result == FAILED ]]; then
    tail -n 40 "$log"
    count_tests "$log" 1
  fi
  note_test_times "$name" "$log"
  step_rows+=("$(printf '%-16s %6d s %6d s   %-8s %s' \
    "$name" $((SECONDS - start)) "$seconds_of_building" "$result" "${log#"$root"/}")")
}

# show_progress LOG: tells what ninja or ctest does last, in place on a terminal, else twice a minute.
show_progress() {
  local log=$1 pause=30 line shown='' columns sleeper=''
  # A reader of a pipe waits until the last process that holds it has ended, so what sleeps here must not hold it.
  trap '[[ -z $sleeper ]] || kill "$sleeper" 2>/dev/null; [[ ! -t 1 ]] || printf "\r\033[K"; exit 0' TERM
  if [[ -t 1 ]]; then pause=1; fi
  while kill -0 $$ 2>/dev/null; do
    sleep "$pause" >/dev/null 2>&1 &
    sleeper=$!
    wait "$sleeper" || true
    line=$(tail -c 4096 "$log" | grep -aE '^ *(\[[0-9]+/[0-9]+\]|[0-9]+/[0-9]+ Test)' | tail -n 1) || true
    line=${line#"${line%%[! ]*}"}
    if [[ -z $line || $line == "$shown" ]]; then continue; fi
    shown=$line
    if [[ -t 1 ]]; then
      columns=$(tput cols 2>/dev/null || echo 80)
      printf '\r\033[K%s' "${line:0:columns-1}"
    else
      printf '  %s\n' "${line:0:110}"
    fi
  done
}

end_progress() {
  kill "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}

# note_test_times STEP LOG: keeps how long each program took that ctest ran.
note_test_times() {
  local step=$1 log=$2 line
  while IFS= read -r line; do
    if [[ $line =~ Test\ +\#[0-9]+:\ ([^ ]+)\ .*\ ([0-9]+\.[0-9]+)\ sec ]]; then
      test_rows+=("$(printf '%8.1f s   %-12s %s' "${BASH_REMATCH[2]}" "$step" "${BASH_REMATCH[1]}")")
    fi
  done < <(grep -aE 'Test +#[0-9]+:.* sec' "$log")
}

# Adds up the closing lines of ctest and pytest in a log; a step that has none counts as one test.
count_tests() {
  local log=$1 step_failed=$2 passed=0 failed=0 text
  text=$(<"$log")
  if [[ $text =~ ,\ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]; then
    failed=${BASH_REMATCH[1]}
    passed=$((BASH_REMATCH[2] - failed))
  else
    if [[ $text =~ ([0-9]+)\ passed ]]; then passed=${BASH_REMATCH[1]}; fi
    if [[ $text =~ ([0-9]+)\ failed ]]; then failed=${BASH_REMATCH[1]}; fi
  fi
  if ((step_failed && failed == 0)); then
    failed=1
  elif ((passed + failed == 0)); then
    passed=1
  fi
  tests_passed=$((tests_passed + passed))
  tests_failed=$((tests_failed + failed))
}

check_layers() { "$(find_python)" "$root/tools/check_layers" "$root"; }
check_device_face() { "$(find_python)" "$root/tools/check_device_face" "$root"; }
check_language() { "$(find_python)" "$root/tools/check_language" "$root"; }

# Where a GPU is not at hand for each change, as in CI, the record in results/ stands for the run.
check_evidence() { "$(find_python)" "$root/tools/check_evidence" "$root"; }

test_python() {
  local python side_by_side=()
  python=$(prepared_python pytest)
  # Many of these tests wait until a limit has passed, so more of them run than there are cores.
  if has_modules "$python" xdist; then side_by_side=(--numprocesses $((2 * jobs))); fi
  PYTHONPATH="$root/python" "$python" -m pytest -c "$root/python/pyproject.toml" --rootdir "$root" \
    "${side_by_side[@]}" "$root/python/tests" "$root/tests/layout"
}

# Prints the tables, and ends with status 1 if a step failed.
#
# The last command of a pipeline reads to the end: `head` leaves early, and under `pipefail` its writer's SIGPIPE then
# ends the script with status 141.
summary() {
  if ((${#test_rows[@]} > 0)); then
    printf '\nthe slowest test programs\n'
    printf '%s\n' "${test_rows[@]}" | sort -rn | sed -n 1,10p
  fi
  printf '\n%-16s %8s %8s   %-8s %s\n' step time building result log
  printf '%s\n' "${step_rows[@]}"
  printf '\ntests: %d passed, %d failed\n' "$tests_passed" "$tests_failed"
  ((tests_failed == 0))
}
