# check_targets.awk - holds the rows of one program against their goals: check_targets.awk -v name=PROGRAM known_shortfalls.csv ROWS.
# A line of known_shortfalls.csv is `work,reference,ratio,reason`: the row misses its goal, reaches this ratio, and why.
# Exit status 1: a row is under its goal and not listed, or lower than an eighth under what is listed.
FNR == NR {
  if (FNR > 1) {
    if (NF < 4 || $3 + 0 <= 0) { print "bench: known_shortfalls.csv:" FNR ": not work,reference,ratio,reason" > "/dev/stderr"; bad = 1 }
    listed[$1 "," $2] = $3 + 0
    reason[$1 "," $2] = substr($0, length($1 $2 $3) + 4)
  }
  next
}
NF != 7 { print "bench: " name ": not seven columns: " $0 > "/dev/stderr"; bad = 1; next }
$6 !~ /^[0-9.]+$/ { print "bench: " name ": " $1 ": the ratio is " $6 > "/dev/stderr"; bad = 1; next }
$7 == "" { next }
{
  row = $1 "," $2
  text = "bench: " name ": " $1 " against " $2 ": ratio " $6
  if ($6 + 0 >= $7 + 0) {
    if (row in listed) print text " meets its goal " $7 ", though known_shortfalls.csv lists it" > "/dev/stderr"
  } else if (row in listed && $6 + 0 >= listed[row] * 7 / 8) {
    print text " is under its goal " $7 ", as listed: " reason[row] > "/dev/stderr"
  } else {
    print text " is under its goal " $7 (row in listed ? " and what is listed, " listed[row] : "") > "/dev/stderr"
    bad = 1
  }
}
END { exit bad }
