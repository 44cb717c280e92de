# check_goals.awk - judges rows of workflows/bench.sh: awk -F, [-v judge=counts] -f check_goals.awk floors.csv TABLE...
#
# A row is work,reference,version,reference_value,weir_value,unit,ratio,goal,kind,machine. Where it is under its goal, a line
# work,reference,machine,version,floor,date,reason of floors.csv may say which ratio it had on that machine against that version
# (its first word; empty for what has none), on which day, and why not more: under that it fails, and so does a row under its
# goal without a floor. judge=counts: rows of kind "measured" are part of the summary, but do not fail.
# Messages go to stderr, then per machine how many goals hold. Exit status 1: a row fails; 2: a line is malformed.

function say(text) { print "bench: " text > "/dev/stderr" }
function malformed(why) { say(FILENAME ":" FNR ": " why ": " $0); wrong = 1 }

FNR == 1 { if ($1 != "work") malformed("no heading"); next }

FNR == NR {
  key = $1 "," $2 "," $3 "," $4
  if (NF < 7 || $3 == "" || $5 !~ /^[0-9]+(\.[0-9]+)?$/ || $5 + 0 <= 0 || $6 !~ /^20[0-9][0-9]-[01][0-9]-[0-3][0-9]$/ || $7 == "")
    malformed("not work,reference,machine,version,floor,date,reason")
  else if (key in floor)
    malformed("the row has a floor already")
  floor[key] = $5 + 0
  date[key] = $6
  reason[key] = substr($0, length($1 $2 $3 $4 $5 $6) + 7)
  next
}

NF != 10 || ($9 != "measured" && $9 != "counted") || $10 == "" { malformed("not the ten columns of a row"); next }
$7 !~ /^[0-9]+(\.[0-9]+)?$/ { malformed("the ratio is no number"); next }
$8 == "" { next }
{
  split($3, words, " ")
  key = $1 "," $2 "," $10 "," words[1]
  text = $1 " against " $2 ($3 == "" ? "" : " " $3) ": ratio " $7
  machines[$10] = 1
  goals[$10]++
  if ($7 + 0 >= $8 + 0) {
    hold[$10]++
    if (key in floor)
      say(text " meets its goal " $8 ": its floor of " date[key] " can go")
    next
  }
  if (key in floor && floor[key] >= $8 + 0) {
    say(text ": its floor " floor[key] " is not under its goal " $8)
    wrong = 1
  } else if (key in floor && $7 + 0 >= floor[key]) {
    above[$10]++
    say(text " is under its goal " $8 ", not under its floor " floor[key] " of " date[key] ": " reason[key])
  } else {
    under[$10]++
    say(text " is under its goal " $8 (key in floor ? " and its floor " floor[key] " of " date[key] : ", and has no floor on " $10))
    bad = bad || $9 == "counted" || judge != "counts"
  }
}
END {
  for (machine in machines)
    say(machine ": " hold[machine] + 0 " of " goals[machine] " goals hold; " above[machine] + 0 " rows are between floor and goal, " under[machine] + 0 " under both")
  exit wrong ? 2 : bad ? 1 : 0
}
