# What the tests of ./run and ./test stand on: a clone without sources in a folder with spaces, and stand-ins for
# dpkg, apt, sudo, CMake, Ninja and CTest that write down how they were called. Sourced, never run by itself.
# shellcheck shell=bash
set -u -o pipefail

source_root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
sandbox=$(mktemp -d)
trap 'rm -rf -- "$sandbox"' EXIT
clone="$sandbox/a folder with spaces"
fakes=$sandbox/fakes
fake_state=$sandbox/state  # what the stand-ins know: missing, no_lists, old_lists, uid, sudo_asks, dirty
fake_log=$sandbox/log      # how they were called, a line a call
export fake_state fake_log
mkdir -p "$clone" "$fakes" "$fake_state"
cp -R "$source_root/run" "$source_root/test" "$source_root/scripts" "$source_root/CMakePresets.json" "$clone"
: > "$fake_log"

fake() {
  printf '#!/usr/bin/env bash\n%s\n' "$(cat)" > "$fakes/$1"
  chmod +x "$fakes/$1"
}

fake dpkg-query << 'FAKE'
for name in "$@"; do
  [[ $name == -* ]] && continue
  if [[ -f $fake_state/missing ]] && grep -qx -- "$name" "$fake_state/missing"; then
    echo "$name not-installed"
  else
    echo "$name installed"
  fi
done
FAKE

# Speaks German unless told not to, as apt does under a German locale.
fake apt-get << 'FAKE'
echo "apt-get $*" >> "$fake_log"
case "$*" in
  update*) rm -f "$fake_state/no_lists" "$fake_state/old_lists" ;;
  *--print-uris*)
    if [[ -f $fake_state/no_lists ]]; then echo "E: Unable to locate package"; exit 100; fi
    if [[ ${LC_ALL:-} == C ]]; then
      echo "0 upgraded, 12 newly installed, 0 to remove and 0 not upgraded."
      echo "Need to get 34.5 MB of archives."
      echo "After this operation, 120 MB of additional disk space will be used."
    else
      echo "Es müssen 34,5 MB an Archiven heruntergeladen werden."
    fi ;;
  install*)
    if [[ -f $fake_state/old_lists ]]; then echo "E: Failed to fetch x.deb  404  Not Found" >&2; exit 100; fi
    if [[ -f $fake_state/apt_breaks ]]; then echo "E: the disk is full, says apt" >&2; exit 100; fi
    rm -f "$fake_state/missing" ;;
esac
FAKE

fake id << 'FAKE'
cat "$fake_state/uid" 2> /dev/null || echo 1000
FAKE

fake sudo << 'FAKE'
echo "sudo $*" >> "$fake_log"
if [[ $1 == -n ]]; then
  [[ -f $fake_state/sudo_asks ]] && exit 1
  shift
fi
exec "$@"
FAKE

fake cmake << 'FAKE'
echo "cmake $*" >> "$fake_log"
if [[ -f $fake_state/cmake_breaks ]]; then echo "CMake says why"; exit 1; fi
directory=$2/build/$4
mkdir -p "$directory"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$2" > "$directory/CMakeCache.txt"
: > "$directory/build.ninja"
FAKE

fake ninja << 'FAKE'
directory=$2
if [[ $3 == -n ]]; then
  [[ -x $directory/bin/headscope && ! -f $fake_state/dirty ]] && echo "ninja: no work to do." || echo "[1/1] CXX"
  exit
fi
echo "ninja ${*:3}" >> "$fake_log"
if [[ -f $fake_state/ninja_stopped ]]; then kill -INT "$PPID"; exit 130; fi
if [[ -f $fake_state/ninja_breaks ]]; then echo "compiler says why"; exit 1; fi
mkdir -p "$directory/bin"
printf '#!/bin/sh\nprintf "program"\nfor word in "$@"; do printf " <%%s>" "$word"; done\necho\n' > "$directory/bin/headscope"
chmod +x "$directory/bin/headscope"
rm -f "$fake_state/dirty"
FAKE

fake ctest << 'FAKE'
echo "ctest $*" >> "$fake_log"
echo "100% tests passed"
FAKE

export PATH=$fakes:$PATH
unset CI

# call COMMAND…: runs it without a terminal; leaves output, errors, status.
# shellcheck disable=SC2034  # the tests read them
call() {
  output=$("$@" 2> "$sandbox/errors" < /dev/null)
  status=$?
  errors=$(< "$sandbox/errors")
}

# at_terminal ANSWER COMMAND…: the same at a terminal, where somebody types the answer.
# shellcheck disable=SC2034  # the tests read them
at_terminal() {
  local answer=$1
  shift
  output=$(printf '%s\n' "$answer" | script -qec "$(printf '%q ' "$@")" /dev/null)
  status=$?
  errors=
}

failures=0
expect() {  # expect WHAT ACTUAL EXPECTED
  if [[ $2 == "$3" ]]; then return; fi
  printf 'FAILED: %s\n  expected: %s\n  actual:   %s\n' "$1" "$3" "$2"
  failures=$((failures + 1))
}

expect_in() {  # expect_in WHAT TEXT PART
  if [[ $2 == *"$3"* ]]; then return; fi
  printf 'FAILED: %s\n  expected in it: %s\n  actual: %s\n' "$1" "$3" "$2"
  failures=$((failures + 1))
}

expect_not_in() {  # expect_not_in WHAT TEXT PART
  if [[ $2 != *"$3"* ]]; then return; fi
  printf 'FAILED: %s\n  unwanted in it: %s\n  actual: %s\n' "$1" "$3" "$2"
  failures=$((failures + 1))
}

calls() { grep -E "^($1)" "$fake_log" || true; }

finish() { exit $((failures > 0)); }
