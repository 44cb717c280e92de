# shared.sh: sourced by scripts of commands whose items ranks share, after script.sh; `program`, `ranks`, `root` are set.

/usr/bin/python3 "$root/tests/support/results.py" "$work" >"$work/log" || { cat "$work/log"; exit 77; }

# on N WORDS...: on one process, or on N ranks. Messages are in log, and what it prints in printed.
on() {
  local n=$1 start=()
  shift
  [ "$n" = 1 ] || start=(bash "$ranks" "$n")
  "${start[@]}" "$program" "$@" --threads 1 >"$work/printed" 2>"$work/log" && return 0
  [ $? != 77 ] || { cat "$work/printed"; exit 77; }
  return 1
}
results() { /usr/bin/python3 "$root/tests/support/results.py" "$1"; }
# What is said, without times, the folder, and the progress within an item, which only rank 0 shows.
said() { sed -E "/ initialisation times \([0-9]+ %\)/d; s,$work/[a-z_]+-[0-9],OUT,g; s/[0-9.e+-]+( s|  *MiB| MB)/N\1/g" "$1" | LC_ALL=C sort; }

# same_on_ranks NAME WORDS...: on one process, and on 2 and 3 ranks: the same results, table and messages, these once.
same_on_ranks() {
  local name=$1 n
  shift
  for n in 1 2 3; do
    on $n "$@" --out "$work/$name-$n" || fail "$name: $n ranks fail"
    [ -e "$work/$name-$n/provenance.json" ] || fail "$name: $n ranks: no provenance"
    results "$work/$name-$n" >"$work/results-$n"
    said "$work/printed" >"$work/printed-$n"
    said "$work/log" >"$work/said-$n"
  done
  [ -s "$work/results-1" ] || fail "$name: there are no results"
  for n in 2 3; do
    for what in results printed said; do
      diff "$work/$what-1" "$work/$what-$n" >"$work/log" || fail "$name: $n ranks: other $what"
    done
  done
}

# fails_on_ranks NAME STATUS TEXT WORDS...: on one process, and on 2 and 3 ranks: that status and text, and no result.
fails_on_ranks() {
  local name=$1 expected=$2 text=$3 n status
  shift 3
  for n in 1 2 3; do
    status=0
    on $n "$@" --out "$work/$name-$n" || status=$?
    [ $status = 1 ] || fail "$name: $n ranks do not fail"
    grep -q -- "$text" "$work/log" || fail "$name: $n ranks: not the reason '$text'"
    grep -qs '"event": "failed".*"status": '"$expected" "$work/$name-$n/run.jsonl" || [ ! -e "$work/$name-$n/run.jsonl" ] ||
      fail "$name: $n ranks: another status than $expected"
    [ -z "$(results "$work/$name-$n")" ] || { results "$work/$name-$n" >"$work/log"; fail "$name: $n ranks leave results"; }
  done
}
