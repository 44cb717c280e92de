#!/usr/bin/env bash
# count.sh ROOT - the counting of single tests in CTest's results, on a stored file with every outcome.
set -euo pipefail
cd "$1"
got=$(awk -f workflows/count_tests.awk tests/style/count.xml 2>/dev/null)
diff <(printf '%s\n' "$got") tests/style/count.expected
