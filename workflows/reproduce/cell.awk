# cell.awk COLUMN [KEY=VALUE...] -- FILE... - the column of the rows of CSV files whose other columns have these values. Text may be
# quoted. Ends with status 1 where a file lacks a column, or has no such row.
function split_row(text, field,    n, quoted, i, c, value) {
  n = 0; quoted = 0; value = ""
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (c == "\"") quoted = !quoted
    else if (c == "," && !quoted) { field[++n] = value; value = "" }
    else value = value c
  }
  field[++n] = value
  return n
}
function stop(text) { print "cell: " text > "/dev/stderr"; failed = 1; exit 1 }
BEGIN {
  column = ARGV[1]; ARGV[1] = ""
  for (i = 2; i < ARGC && ARGV[i] != "--"; i++) {
    at = index(ARGV[i], "=")
    want[substr(ARGV[i], 1, at - 1)] = substr(ARGV[i], at + 1)
    ARGV[i] = ""
  }
  ARGV[i] = ""
}
FNR == 1 {
  if (NR > 1 && !found) stop(last " has no such row")
  n = split_row($0, head); delete place; found = 0; last = FILENAME
  for (i = 1; i <= n; i++) place[head[i]] = i
  if (!(column in place)) stop(FILENAME " has no column " column)
  for (key in want) if (!(key in place)) stop(FILENAME " has no column " key)
  next
}
{
  split_row($0, field)
  for (key in want) if (field[place[key]] != want[key]) next
  print field[place[column]]
  found = 1
}
END { if (!failed && !found) { print "cell: " FILENAME " has no such row" > "/dev/stderr"; exit 1 } }
