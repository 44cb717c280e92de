# row.awk - a line of the table of columns, from the values of a claim, one a line: mean, standard deviation (divisor n - 1), their number,
# ratio to what is published, and whether that holds.
function short(x) { return sprintf("%.4g", x) }
$1 != "" {
  if ($1 !~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/) { print "row: '" $1 "' is no number" > "/dev/stderr"; failed = 1; exit 1 }
  x[++n] = $1; sum += $1
}
END {
  if (failed) exit 1
  mean = spread = ratio = "-"; outcome = "not run here"
  if (n > 0) {
    m = sum / n
    for (i = 1; i <= n; i++) square += (x[i] - m) ^ 2
    sd = n > 1 ? sqrt(square / (n - 1)) : 0
    if (sd < 1e-12 * (m < 0 ? -m : m)) sd = 0 # rounding of the mean
    mean = short(m); outcome = "-"
    if (n > 1) spread = short(sd)
    if (published != "-") {
      ratio = short(m / published)
      if (is == "least") outcome = m >= published ? "reached" : m + sd >= published ? "within the spread" : "not reached"
      if (is == "most") outcome = m <= published ? "reached" : m - sd <= published ? "within the spread" : "not reached"
      if (is == "near") outcome = (m / published - 1) ^ 2 <= within ^ 2 ? "within " 100 * within " %" : "differs"
    }
  }
  printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", claim, source, published, unit, setting, mean, spread, n, ratio, outcome, why, runs == "" ? "-" : runs
}
