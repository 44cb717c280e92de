# script.sh: what scripts of several ranks begin with, sourced: a folder `work` that goes when they end, and a way to fail that shows
# the log of the command before.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  cat "$work/log"
  echo "failed: $*"
  exit 1
}
