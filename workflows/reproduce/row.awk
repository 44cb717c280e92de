# row.awk - a line of the table of columns, from the values of a claim, one a line: mean, standard deviation (divisor n - 1), their number,
# ratio to what is published, and what follows for the claim. What is judged by a bound of the project's own is named so in each outcome.
function short(x) { return sprintf("%.4g", x) }
function judge(target,    apart, word) {
  if (is == "fitted") return "fitted"
  if (is == "-" || idle == "no") return "-"
  apart = m - target
  if (is == "near") word = (m / target - 1) ^ 2 <= within ^ 2 ? "within " 100 * within " %" : "differs"
  else if (sd > 0 && apart ^ 2 <= sd ^ 2) word = "within the spread"
  else word = (is == "least" ? apart >= 0 : apart <= 0) ? "reached" : "not reached"
  if (bound == "-") return word
  if (word == "within the spread") return "own bound: " word
  if (word ~ /^within/) return "own bound kept (" word ")"
  return word == "reached" ? "own bound kept" : "own bound missed"
}
$1 != "" {
  if ($1 !~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/) { print "row: '" $1 "' is no number" > "/dev/stderr"; failed = 1; exit 1 }
  x[++n] = $1; sum += $1
}
END {
  if (failed) exit 1
  mean = spread = ratio = "-"; outcome = "not run here" (skipped == "" ? "" : ": " skipped)
  if (n > 0) {
    m = sum / n
    for (i = 1; i <= n; i++) square += (x[i] - m) ^ 2
    sd = n > 1 ? sqrt(square / (n - 1)) : 0
    if (sd < 1e-12 * (m < 0 ? -m : m)) sd = 0 # rounding of the mean
    mean = short(m); outcome = judge(bound == "-" ? published : bound)
    if (n > 1) spread = short(sd)
    if (published != "-" && is != "-") ratio = short(m / published)
    if (idle != "-") setting = setting "; " (idle == "yes" ? "nothing else ran" : "other programs ran")
  }
  printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", claim, source, published, limit, unit, setting, mean, spread, n, ratio, outcome, why, \
    runs == "" ? "-" : runs
}
