#!/usr/bin/env bash
# new_dtype.sh SOURCE COMPILER - adds a dtype, u16, to a scratch copy of the core, by the edits that a person would make,
# counts the files they touch (at most 10), builds, and sees the tests of the table, the engines and conformance pass
# with the new dtype among the cases.
set -euo pipefail
source=$1 compiler=$2 most=10
scratch=$(mktemp -d "${TMPDIR:-/tmp}/weir-new-dtype-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree

# The core without the modules that have no dtype of their own, and of the tests those that run below.
mkdir "$tree" "$scratch/old"
tar -C "$source" -cf - CMakeLists.txt cmake libcore packaging tests/conform tests/support tests/environment.cmake | tar -C "$tree" -xf -
for module in report load optim nn stream train place app; do
  rm -r "$tree/libcore/$module"
done
cat >"$tree/tests/CMakeLists.txt" <<'TESTS'
weir_test_program(conform_ops conform/ops.c conform/oracle.c conform/oracle_value.c conform/batch.c conform/direct.c conform/plant.c)
TESTS
cp -r "$tree/." "$scratch/old"

edit() { # FILE PERL
  perl -0pi -e "$2" "$tree/libcore/$1"
  ! cmp -s "$tree/libcore/$1" "$scratch/old/libcore/$1" || { echo "$1: the edit changes nothing" >&2; exit 1; }
}
# The row, and what its elements saturate to.
edit base/weir_dtype.h 's/(\n  X\(WEIR_I64, [^\n]*\))\n/$1 \\\n  X(WEIR_U16, "u16", uint16_t, INTEGER, WEIR_U16)\n/'
edit base/weir_dtype.c 's/  case WEIR_I32:\n    \(\(int32_t/  case WEIR_U16:
    ((uint16_t *)data)[index] = (uint16_t)int_from_real(value, 0, UINT16_MAX);\n    break;\n$&/'
# Its operations and casts, for engines and what they emit; and the definitions that a test reads word for word.
edit graph/weir_scalar.h 's/WEIR_SCALAR_INTEGER\(i16, int16_t, uint32_t\)\n/$&WEIR_SCALAR_INTEGER(u16, uint16_t, uint32_t)\n/;
  s/  WEIR_SCALAR_SATURATE\(i16, [^\n]*\n/$&  WEIR_SCALAR_SATURATE(u16, uint16_t, from, F, 0.0, 65536.0) \\\n/;
  s/  WEIR_SCALAR_CAST\(i16, [^\n]*\n/$&  WEIR_SCALAR_CAST(u16, uint16_t, from, F) \\\n/;
  s/WEIR_SCALAR_CASTS_INTEGER\(i16, int16_t\)\n/$&WEIR_SCALAR_CASTS_INTEGER(u16, uint16_t)\n/;
  s/WEIR_(BF16|F16)_CASTS\(i16, int16_t\)/$& WEIR_$1_CASTS(u16, uint16_t)/g;
  s/WEIR_SCALAR_MONOIDS\(i16, [^\n]*\n/$&WEIR_SCALAR_MONOIDS(u16, uint16_t, 0, 65535)\n/'
edit ../tests/support/exec/exec_literal.h 's/  int16_t i16;\n/$&  uint16_t u16;\n/; s/X\(I16, i16\)/$& X(U16, u16)/; s/HALF\(i16, int16_t\)\n/$&HALF(u16, uint16_t)\n/;
  s/    case WEIR_I16: +\\\n/    case WEIR_U16: \\\n      y.u16 = weir_u16_from_##f(x.f); \\\n      break; \\\n$&/'
# The kernels of the vector engine.
edit exec/backend/vector/vector_kernels.h 's/KERNELS_INTEGER\(i16, int16_t\)\n/$&KERNELS_INTEGER(u16, uint16_t)\n/;
  s/  KERNEL\(k_i16_from_##from, [^\n]*\n/$&  KERNEL(k_u16_from_##from, uint16_t, F, F, F, weir_u16_from_##from(a[i])) \\\n/;
  s/\nCASTS\(i16, int16_t\)\n/$&CASTS(u16, uint16_t)\n/; s/CASTS_FROM_HALVES\(i16, int16_t\)\n/$&CASTS_FROM_HALVES(u16, uint16_t)\n/;
  s/\[WEIR_I16\] = k##_i16,/$& [WEIR_U16] = k##_u16,/; s/\[WEIR_I16\] = MONOID\(m, i16\),/$& [WEIR_U16] = MONOID(m, u16),/;
  s/ROW_CAST\(I16, k_i16\)/$&, ROW_CAST(U16, k_u16)/'
edit exec/backend/vector/vector_monoids.h 's/MONOIDS_NUMBER\(i16, int16_t\)\n/$&MONOIDS_NUMBER(u16, uint16_t)\n/'
# What ranks merge; the formats of files.
edit comm/merge.c 's/SHORTS\(int16_t, i16\)\n/$&SHORTS(uint16_t, u16)\n/;
  s/    \[WEIR_I16\] = [^\n]*\n/$&    [WEIR_U16] = ROW(uint16_t, SUM_u16, PROD_u16, MAX_u16, MIN_u16),\n/'
edit io/netcdf/write_netcdf.c 's/  case WEIR_I32:\n/  case WEIR_U16:\n    return NC_USHORT;\n$&/'
edit io/netcdf/reader/library.c 's/\{NC_SHORT, WEIR_I16\},/$& {NC_USHORT, WEIR_U16},/'
edit io/npy/array.c "s/\\{'i', 2, WEIR_I16\\},/\$& {'u', 2, WEIR_U16},/"

cmake -S "$tree" -B "$scratch/build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 \
  -DWEIR_WITH_CBLAS=OFF -DWEIR_WITH_DNNL=OFF -DWEIR_WITH_MPI=OFF -DWEIR_WITH_CMOCKA=OFF >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
tests=(base_weir_dtype_test exec_backend_vector_vector_test)
cmake --build "$scratch/build" -j2 --target conform_ops "${tests[@]}" >"$scratch/log" 2>&1 ||
  { tail -n 60 "$scratch/log"; exit 1; }
for test in "${tests[@]}"; do
  "$scratch/build/test/$test" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
done
for operator in elementwise reduce gather; do # without a compiler on PATH: the engines that compile nothing
  env PATH=/nowhere "$scratch/build/test/conform_ops" "$operator" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
  grep "^$operator *u16 " "$scratch/log" || { echo "no case of $operator has u16" >&2; exit 1; }
done
edited=$(diff -rq "$scratch/old" "$tree" | tee "$scratch/edited" | wc -l) || true
sed "s|^Files $scratch/old/||; s| and .*||" "$scratch/edited"
echo "a dtype edits $edited files, at most $most"
[ "$edited" -le $most ]
