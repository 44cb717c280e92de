#!/usr/bin/env bash
# titles.sh ROOT: the titles of all commits after the one that titles_since names: "module: imperative sentence", at most 72
# characters, without a full stop. A tree without its history (an archive of the sources) has none to check.
set -euo pipefail
cd "$1"
since=$(cat tests/style/titles_since)
if ! git rev-parse -q --verify "$since^{commit}" >/dev/null 2>&1; then
  echo "no history that reaches back to $since: no titles to check"
  exit 0
fi
git log --no-merges --format=%s "$since..HEAD" | awk '
  function refuse(why) { printf "%s: %s\n", why, $0; bad++ }
  # Verbs whose base form ends like another form.
  BEGIN { split("pass process express address cross access compress press miss guess bias focus toss dress discuss need " \
                "embed feed shed speed seed exceed proceed bring string", list, " "); for (i in list) base[list[i]] = 1
          split("a an the what no not nothing there where when one two each every all some more new is are its of in on for to", list, " ")
          for (i in list) other[list[i]] = 1 }
  length($0) > 72 { refuse("longer than 72 characters") }
  /\.$/ { refuse("ends with a full stop") }
  !/^[a-z0-9_.\/, -]+: [a-z]/ { refuse("is not \"module: imperative sentence\""); next }
  { word = $0; sub(/^[^:]*: /, "", word); sub(/[ ,].*/, "", word)
    if (word in other || (!(word in base) && word ~ /(ing|ed|s)$/)) refuse("does not begin with a verb in the imperative") }
  END { printf "%d titles\n", NR; exit bad > 0 }'
