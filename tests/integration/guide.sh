#!/usr/bin/env bash
# guide.sh PROGRAM GUIDE - runs a guide, with WEIR naming the checkout: its ```yaml and ```python blocks, whose first line is "# NAME", become files, and its
# ```sh blocks are run in order, each of their commands having to succeed, in a fresh folder. Other blocks are for reading. Blocks from the
# first one with `site run` on need user namespaces: where the kernel refuses them, the blocks before are run and the exit status is 77.
set -euo pipefail
program=$1 guide=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=${program%/*}:/usr/bin:$PATH
WEIR=$(cd "${guide%/*}/../.." && pwd)
export WEIR
# mpiexec of Open MPI starts more ranks than there are cores, and starts them as root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
mkdir "$work/tour" && cd "$work/tour"
awk -v work="$work" '
  /^```/ && kind != "" { if (file != "") close(file); kind = file = ""; next }
  /^```(sh|yaml|python)$/ { kind = substr($0, 4); number++; named = 0
    file = kind == "sh" ? sprintf("%s/block%03d.sh", work, number) : ""
    if (kind == "sh") printf "# line %d\n", NR > file
    next }
  /^```/ { kind = "other"; file = ""; next }
  kind != "sh" && kind != "other" && kind != "" && !named { if ($0 !~ /^# [a-z_]+\.(yaml|py)$/) { printf "line %d: a block without the name of its file\n", NR > "/dev/stderr"; exit 1 }
    file = sprintf("%s/tour/%s", work, substr($0, 3)); named = 1 }
  file != "" { print > file }
' "$guide"
blocks=0
for block in "$work"/block*.sh; do
  if grep -q 'site run' "$block" && ! unshare --user --net true 2>"$work/out"; then
    echo "skipped: this kernel has no user namespaces here (after $blocks blocks; $(cat "$work/out"))"
    exit 77
  fi
  bash -euo pipefail "$block" >"$work/out" 2>&1 || {
    echo "guide: the block of $(head -1 "$block" | cut -c3-) of ${guide##*/} fails:" >&2
    cat "$block" "$work/out" >&2
    exit 1
  }
  blocks=$((blocks + 1))
done
[ $blocks -gt 5 ] || { echo "guide: only $blocks blocks were found" >&2; exit 1; }
echo "$blocks blocks run"
