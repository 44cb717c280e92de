#!/usr/bin/env bash
# prefix.sh ROOT BUILD - installs the build into a fresh folder, moves that, and from another folder: builds the program of
# docs/how-to/install.md by pkg-config and by find_package and compares the number that it prints; compiles every public header; runs a
# program and a flow on installed configurations; and looks for names of the source and build trees in what is installed.
set -euo pipefail
root=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "install: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/prefix"
prefix=$work/prefix
mkdir "$work/elsewhere" && cd "$work/elsewhere"
unset LD_LIBRARY_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH
libdir=$(dirname "$(find "$prefix" -name libweir.so)")
version=$("$prefix/bin/physio_stream" --version | awk 'NR == 1 { print $2 }')
soname=libweir.so.${version%.*}

# The page's blocks are files: their first line has the name.
awk '/^```/ { file = "" } /^(#|\/\*) [A-Za-z]+\.(c|txt)( \*\/)?$/ { file = $2 } file != "" { print > file }' "$root/docs/how-to/install.md"
[ -s squares.c ] && [ -s CMakeLists.txt ] || fail "the blocks of docs/how-to/install.md are not found"
expect_30() { # COMMAND...
  local number
  number=$("$@") || fail "$* ends with status $?"
  [ "$number" = 30 ] || fail "$* prints '$number', not 30"
}
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$libdir/pkgconfig
  pkg-config --exists "weir >= ${version%.*}" || fail "pkg-config does not find weir"
  read -ra flags <<<"$(pkg-config --cflags --libs weir)"
  gcc -std=gnu11 -Wall -Wextra -Werror squares.c "${flags[@]}" -Wl,-rpath,"$libdir" -o squares || fail "squares.c by pkg-config"
  expect_30 ./squares
  [ "$(pkg-config --modversion weir)" = "$version" ] || fail "two versions"
else
  echo "left out: there is no pkg-config"
fi
cmake -S . -B cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >cmake.log 2>&1 && cmake --build cmake >>cmake.log 2>&1 ||
  { cat cmake.log; fail "squares.c by find_package"; }
expect_30 cmake/squares
sed -i "s/Weir ${version%.*} /Weir 99.1 /" CMakeLists.txt
! cmake -S . -B later -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 || fail "find_package takes another version"
! ldd squares | grep libweir | grep -v "$soname => $libdir/" || fail "squares does not need $soname of the prefix"

# Public headers, all in one source: each includes what it needs, and no two contradict each other.
(cd "$prefix/include/weir" && find . -name '*.h' | sort | sed 's|^\./\(.*\)|#include "\1"|') >headers.c
[ "$(wc -l <headers.c)" -gt 100 ] || fail "only $(wc -l <headers.c) headers"
gcc -std=gnu11 -fsyntax-only -Wall -Wextra -Werror -I"$prefix/include/weir" headers.c || fail "the headers"

# Programs and configurations, away from both trees.
export XDG_CACHE_HOME=$work/cache
"$prefix/bin/physio_stream" run --config "$prefix/share/weir/configs/physio_stream/tiny.yaml" --out run >run.log 2>&1 || { cat run.log; fail "run"; }
[ -s run/ecgsyn.qrs ] && [ -s run/report.html ] || fail "run wrote $(ls run)"
# libweir starts a program of its own to read NetCDF files.
"$prefix/bin/physio_stream" prepare --config "$prefix/share/weir/configs/physio_stream/tiny.yaml" --out record >run.log 2>&1 || { cat run.log; fail "prepare"; }
if "$prefix/bin/physio_stream" --version | grep 'netcdf: NetCDF' >/dev/null; then
  "$prefix/bin/physio_stream" convert --input record/ecgsyn --set convert.format=netcdf --out nc >run.log 2>&1 || { cat run.log; fail "convert"; }
  "$prefix/bin/physio_stream" run --input record/ecgsyn --out from_record >run.log 2>&1 || { cat run.log; fail "run of a record"; }
  "$prefix/bin/physio_stream" run --input nc/ecgsyn.nc --out from_nc >run.log 2>&1 || { cat run.log; fail "a NetCDF file is not read"; }
  cmp from_record/beats.csv from_nc/beats.csv || fail "other beats from NetCDF"
fi
ldd "$prefix/bin/physio_stream" | grep "libweir.so.* => $prefix/" >/dev/null || fail "physio_stream loads $(ldd "$prefix/bin/physio_stream" | grep weir)"
"$prefix/share/weir/workflows/flow.sh" physio_stream --steps tiny --out flow >flow.log 2>&1 || { cat flow.log; fail "flow.sh"; }
[ -s flow/eval/scores.csv ] || fail "the flow wrote $(ls flow/eval)"
device=$("$prefix/bin/physio_stream" run --device cuda --config "$prefix/share/weir/configs/physio_stream/tiny.yaml" --out gpu 2>&1 || true)
if [ -e "$build/lib/libweir_cuda.so" ]; then
  ! grep -q 'libweir_cuda.so: cannot open' <<<"$device" || fail "libweir_cuda.so is not found: $device"
fi

# The Python package finds its libraries without help.
if /usr/bin/python3 -c 'import numpy, pandas' 2>/dev/null; then
  python=$(dirname "$(dirname "$(find "$prefix" -path '*weir/__init__.py')")")
  env -u WEIR_LIBRARIES PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$python" /usr/bin/python3 -c '
import numpy as np, weir
assert len(weir.detect_beats(np.zeros(300), 100)) == 0 and weir.crps([1.0, 2.0], 4.0) == 2.25' || fail "the Python package"
else
  echo "left out: this Python has no numpy or pandas"
fi
modulecmd=$(compgen -G '/usr/lib/*/modulecmd.tcl' || compgen -G '/usr/lib/modulecmd*/modulecmd.tcl' || command -v modulecmd || true)
if [ -n "$modulecmd" ]; then
  MODULEPATH=$prefix/share/weir/modulefiles $modulecmd bash load weir >module.sh 2>module.err || { cat module.err; fail "the module file"; }
  [ "$(env -i PATH=/usr/bin:/bin bash -c ". ./module.sh; command -v physio_stream")" = "$prefix/bin/physio_stream" ] || { cat module.sh module.err; fail "module load"; }
else
  echo "left out: there are no environment modules"
fi

# Shells and readers of manual pages look here.
for page in share/man/man1/physio_stream.1 share/bash-completion/completions/physio_stream share/zsh/site-functions/_physio_stream \
  share/doc/weir/docs/how-to/install.md; do
  [ -s "$prefix/$page" ] || fail "$page is missing"
done
# Links of the pages that are installed.
find "$prefix/share/doc/weir" -name '*.md' | sort >pages
[ "$(wc -l <pages)" -gt 50 ] || fail "only $(wc -l <pages) pages"
while IFS= read -r page; do
  grep -oE '\]\([^)#: ]+[)#]' "$page" | sed 's/^](//; s/.$//' | while IFS= read -r link; do
    [ -e "${page%/*}/$link" ] || echo "${page#"$prefix/"}: $link"
  done || true
done <pages >broken
[ ! -s broken ] || { cat broken; fail "these links lead nowhere"; }
! grep -rlF -e "$root/" -e "$build/" "$prefix" --include='*.cmake' --include='*.pc' --include='*.1' --include='*.h' --include='*.sh' --include='*.yaml' ||
  fail "these name the source tree"
! readelf -d "$prefix"/bin/* "$libdir"/libweir.so | grep -F "$build" || fail "these look for libraries in the build tree"
echo "$(find "$prefix" -type f | wc -l) files installed"
