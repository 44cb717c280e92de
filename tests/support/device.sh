# device.sh - sourced by tests of full devices: a device of any size, a tmpfs in a private mount namespace (root, or a user namespace).
# Where neither is allowed, `mode` is limit, and a limit on the size of files has to stand in.
# shellcheck shell=bash

# enter_device SCRIPT ARGUMENTS...: starts the script again where a tmpfs may be mounted, with a scratch folder that goes with it, and
# ends with its status; there, sets work, mode and device.
enter_device() {
  local space
  if [ -z "${DEVICE_WORK:-}" ]; then
    DEVICE_WORK=$(mktemp -d "${TMPDIR:-/tmp}/device-XXXXXX") || exit 77
    export DEVICE_WORK DEVICE_MODE=tmpfs
    trap 'rm -rf "$DEVICE_WORK"' EXIT
    mkdir "$DEVICE_WORK/device"
    for space in "unshare -m" "unshare -rm"; do
      if $space mount -t tmpfs -o size=64k device "$DEVICE_WORK/device" 2>/dev/null; then
        $space bash "$@"
        exit
      fi
    done
    DEVICE_MODE=limit bash "$@"
    exit
  fi
  work=$DEVICE_WORK mode=$DEVICE_MODE device=$DEVICE_WORK/device
}

# empty_device KIB: nothing but as much room.
empty_device() {
  if [ "$mode" = tmpfs ]; then
    ! mountpoint -q "$device" || umount "$device"
    mount -t tmpfs -o size="$1"k device "$device"
  else
    rm -rf "$device" && mkdir "$device"
  fi
}

# resize_device KIB: the same files, and as much room altogether.
resize_device() {
  [ "$mode" != tmpfs ] || mount -o remount,size="$1"k "$device"
}

used_of_device() { df --output=used -k "$device" | tail -n 1; }
