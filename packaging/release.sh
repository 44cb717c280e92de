#!/usr/bin/env bash
# release.sh VERSION - makes this source tree that of a release: packaging/README.md says what changes. Commits nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:-}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "release: give a version such as 0.2.0, not '$version'" >&2; exit 2; }
old=$(sed -n 's/^project(weir VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
[ -n "$old" ] || { echo "release: CMakeLists.txt has no line 'project(weir VERSION ..'" >&2; exit 1; }
[ "$(printf '%s\n%s\n' "$old" "$version" | sort -V | tail -n 1)" = "$version" ] || { echo "release: $version is before $old" >&2; exit 2; }
[ ! -e "docs/changes/$version" ] || { echo "release: docs/changes/$version is there: $version was released" >&2; exit 2; }
compgen -G 'docs/changes/*.md' >/dev/null || { echo "release: docs/changes has no fragment: nothing changed" >&2; exit 2; }

mkdir "docs/changes/$version"
sed -i 's,](\.\./,](../../,g' docs/changes/*.md # one folder deeper
mv docs/changes/*.md "docs/changes/$version/"
sed -i "s/^project(weir VERSION $old /project(weir VERSION $version /" CMakeLists.txt
if [ "${old%.*}" != "${version%.*}" ]; then
  mv "debian/libweir${old%.*}.install" "debian/libweir${version%.*}.install"
  sed -E -i "s/(libweir|libweir\.so\.|Weir |weir >= )${old%.*}([^0-9]|\$)/\\1${version%.*}\\2/g" debian/control .gitignore \
    docs/how-to/install.md packaging/README.md
fi
if [ "$version" != "$old" ]; then
  {
    printf 'weir (%s) unstable; urgency=medium\n\n  * Version %s: docs/changes/%s says what is new.\n\n' "$version" "$version" "$version"
    printf ' -- %s  %s\n\n' "$(sed -n 's/^Maintainer: //p' debian/control)" "$(date -R)"
    cat debian/changelog
  } >debian/changelog.new
  mv debian/changelog.new debian/changelog
fi
echo "release: look at git diff, commit it, and tag the commit v$version"
