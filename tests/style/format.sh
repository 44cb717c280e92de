#!/usr/bin/env bash
# format.sh ROOT - every C file is as clang-format leaves it. Status 77 (skipped) without clang-format.
set -euo pipefail
cd "$1"
command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 77; }
version=$(clang-format --version)
[[ $version =~ version\ 14 ]] || { echo "clang-format 14 sets the style; this is: $version"; exit 77; }
find libcore apps tests \( -name '*.[ch]' -o -name '*.cc' \) -print0 2>/dev/null | xargs -0 clang-format -n -Werror
