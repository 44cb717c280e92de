#!/usr/bin/env bash
# ranks.sh N PROGRAM ARGUMENTS...: starts N ranks on this machine; status 77 with the reason where that cannot be.
set -u
ranks=$1
shift
[ "${WEIR_TEST_HAS_MPI:-TRUE}" = TRUE ] || { echo "skipped: this build has no MPI"; exit 77; }
command -v mpiexec >/dev/null || { echo "skipped: there is no mpiexec"; exit 77; }
flags=()
if mpiexec --version 2>&1 | grep -q -e OpenRTE -e "Open MPI"; then
  flags+=(--oversubscribe --bind-to none)
  [ "$(id -u)" != 0 ] || flags+=(--allow-run-as-root)
  export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
  export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader # the search for other networks takes longer than many of the tests
fi
exec mpiexec "${flags[@]}" -n "$ranks" "$@"
