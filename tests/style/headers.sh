#!/usr/bin/env bash
# headers.sh ROOT GENERATED - every public header compiles on its own, as C++ (nvcc reads them) and as C.
# Status 77 (skipped) without a C++ compiler.
set -euo pipefail
cd "$1"
command -v g++ >/dev/null || { echo "g++ is not installed"; exit 77; }
failed=0 n=0
while IFS= read -r header; do
  n=$((n + 1))
  flags=(-fsyntax-only -Wall -Wextra -Werror -D_GNU_SOURCE -Ilibcore -I"$2")
  echo "#include \"${header#libcore/}\"" >"$2/one_header.h"
  g++ -std=c++17 "${flags[@]}" -x c++ -include "$2/one_header.h" /dev/null || { echo "as C++: $header"; failed=1; }
  gcc -std=gnu11 "${flags[@]}" -x c -include "$2/one_header.h" /dev/null || { echo "as C: $header"; failed=1; }
done < <(find libcore -name 'weir_*.h' ! -name 'weir_check*' | sort)
echo "$n headers"
[ $failed = 0 ] && [ $n -gt 0 ]
