#!/usr/bin/env bash
# release.sh ROOT - the versions that the tree states agree, and packaging/release.sh makes the next one of a copy of it.
set -euo pipefail
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "release: $*" >&2; exit 1; }
mkdir -p "$work/docs/how-to"
cp -r "$root/CMakeLists.txt" "$root/.gitignore" "$root/debian" "$root/packaging" "$work"
cp -r "$root/docs/changes" "$work/docs"
cp "$root/docs/how-to/install.md" "$work/docs/how-to"
cd "$work"
agree() {
  local version
  version=$(sed -n 's/^project(weir VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
  [ "$version" = "$1" ] || [ -z "$1" ] || fail "CMakeLists.txt says $version"
  grep -q "^weir ($version) " <(head -n 1 debian/changelog) || fail "debian/changelog begins with $(head -n 1 debian/changelog), not $version"
  grep -q "^Package: libweir${version%.*}\$" debian/control && [ -e "debian/libweir${version%.*}.install" ] || fail "debian/control: not libweir${version%.*}"
  ! grep -o 'libweir[0-9][0-9.]*[0-9]' debian/control | grep -vx "libweir${version%.*}" || fail "two names of the library"
  grep -q "find_package(Weir ${version%.*} " docs/how-to/install.md || fail "docs/how-to/install.md: not find_package(Weir ${version%.*} ..)"
  ! grep -oE '(libweir|libweir\.so\.|weir >= )[0-9]+\.[0-9]+' docs/how-to/install.md packaging/README.md | grep -v "[a-z. ]${version%.*}\$" ||
    fail "pages name another version than $version"
}
agree ''
fragments=$(find docs/changes -maxdepth 1 -name '*.md' | wc -l)
for wrong in '' 1.2 0.0.1 v1.0.0; do
  ! packaging/release.sh "$wrong" >log 2>&1 || fail "'$wrong' is taken as a version"
done
packaging/release.sh 7.3.1 >log
agree 7.3.1
[ "$(find docs/changes/7.3.1 -name '*.md' | wc -l)" = "$fragments" ] && ! compgen -G 'docs/changes/*.md' >/dev/null || fail "fragments are not moved"
! packaging/release.sh 7.3.1 >log 2>&1 || fail "the same version twice"
