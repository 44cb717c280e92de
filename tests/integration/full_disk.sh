#!/usr/bin/env bash
# full_disk.sh SOURCE APP PROGRAM - every command of an application that writes, on a device that is filled at 20 sizes from
# almost nothing to almost all that the command needs (measured by a first run in full), of which a run draws every third;
# WEIR_FULL_DISK=all takes all. Each must end with exit status 10 and
# a message that names cause and folder, by no signal, and leave nothing half-written:
#   a folder that was empty holds run.jsonl and resolved.yaml, at most (run of the networks and the simulation of universes,
#     which are resumed: files that are whole);
#   with --overwrite the folder is as it was before, to the byte;
#   once there is room the same command succeeds, and a training that is resumed ends with the weights of one that was not.
# The device is a tmpfs in a private mount namespace (root, or a user namespace); where neither is allowed, a limit on the
# size of files stands in. Exit status 77, with the reason, where nothing of these works.
set -uo pipefail
source=$(cd "$1" && pwd) app=$2 program=$3
sizes=20
[ "${WEIR_FULL_DISK:-}" = all ] && step=1 first=1 || { step=3 first=$((1 + RANDOM % 3)); }

. "$source/tests/support/device.sh"
enter_device "$0" "$@"
[ -x /usr/bin/python3 ] && python=/usr/bin/python3 || python=python3
"$python" -c 'import netCDF4' 2>/dev/null || { echo "skipped: no python3 with netCDF4 to read what is left"; exit 77; }
cd "$work" || exit 77
mkdir -p base left
faults=0 runs=0

fault() {
  echo "FAULT: $*"
  tail -n 4 "$work/log"
  faults=$((faults + 1))
}

# start KIB ARGS...: the program with its output in log; in limit mode no file may be larger.
start() {
  local room=$1
  shift
  runs=$((runs + 1))
  if [ "$mode" = tmpfs ]; then
    "$program" "$@" --threads 1 --out "$device/o" >log 2>&1
  else
    (ulimit -f "$room" && "$program" "$@" --threads 1 --out "$device/o" 2>&1) | cat >log
  fi
}

# room: what the folder takes, KiB; in limit mode its largest file.
room() {
  if [ "$mode" = tmpfs ]; then
    used_of_device
  else
    find "$device/o" -type f -printf '%k\n' | sort -n | tail -n 1
  fi
}

state() {
  (cd "$device/o" 2>/dev/null && find . -type f ! -name .weir.lock -print0 | sort -z | xargs -0 sha256sum)
}

# judge WHAT STATUS: the exit status, the words, and no unfinished file.
judge() {
  [ "$2" = 10 ] || fault "$1: exit status $2 instead of 10"
  if [ "$mode" = tmpfs ]; then
    grep -q "error: .*$device/o.*: no space left on device: free space in $device/o" log || fault "$1: the cause is not named"
  else # temporary files are limited as well
    grep -qi 'error: .*: file too large' log || fault "$1: the cause is not named"
  fi
  local rest
  rest=$(find "$device" -name '*.tmp-*' -o -name '*.earlier-*' -o -name '*.before-*')
  [ -z "$rest" ] || fault "$1: left $rest"
}

# on_full NAME KIND ARGS...: KIND all: all or nothing; kept: whole files may stay, the same command resumes; parts: the same,
# and the same command with --overwrite replaces them.
on_full() {
  local name=$1 kind=$2
  shift 2
  empty_device $((1 << 20))
  start $((1 << 20)) "$@" || { fault "$name: does not work on an empty device"; return; }
  local need used=0 k size status rest again=()
  [ "$kind" = parts ] && again=(--overwrite)
  need=$(room)
  rm -rf "base/$name"
  cp -a "$device/o" "base/$name"
  for k in $(seq $first $step $sizes); do
    size=$(((need - 4) * k / sizes))
    [ "$size" -ge 4 ] || size=4
    empty_device "$size"
    start "$size" "$@"
    status=$?
    judge "$name, $size of $need KiB" "$status"
    mkdir -p "left/$name-$k" && [ ! -d "$device/o" ] || cp -a "$device/o/." "left/$name-$k"
    if [ "$kind" = all ]; then
      rest=$(cd "left/$name-$k" && find . -type f ! -name run.jsonl ! -name resolved.yaml ! -name .weir.lock)
      [ -z "$rest" ] || fault "$name, $size of $need KiB: left $rest"
    fi
    if [ $((k / step)) = $((5 / step)) ] || [ $((k / step)) = $((15 / step)) ]; then
      resize_device $((1 << 20))
      start $((1 << 20)) "$@" ${again[@]+"${again[@]}"} || fault "$name, after $size KiB: the same command fails where there is room"
      rm -rf "base/$name-again-$k"
      cp -a "$device/o" "base/$name-again-$k"
    fi
  done
  # With an earlier run in the folder, which takes as much again.
  for k in 1 10 19; do
    size=$(((need - 4) * k / sizes))
    [ "$kind" = all ] || size=4 # later the first checkpoint stands, and is kept
    empty_device $((1 << 20))
    cp -a "base/$name" "$device/o"
    state >before
    if [ "$mode" = tmpfs ]; then
      used=$(room)
      resize_device $((used + size))
    fi
    start "$size" "$@" --overwrite --seed 7
    judge "$name --overwrite, $size of $need KiB" $?
    state >after
    cmp -s before after || { diff before after; fault "$name --overwrite, $size of $need KiB: the earlier results are changed"; }
  done
}

# make NAME ARGS...: an input of other commands.
make() {
  local name=$1
  shift
  "$program" "$@" --threads 1 --out "base/$name" >log 2>&1 || { fault "$name: cannot be made"; exit 1; }
}

. "$source/tests/integration/full_disk_$app.sh"

[ "$mode" = tmpfs ] && mountpoint -q "$device" && umount "$device"
"$python" "$source/tests/integration/full_disk.py" "$work" >log 2>&1 || fault "files that stayed"
echo "$app: $runs runs ($mode), $faults faults"
[ "$faults" = 0 ]
