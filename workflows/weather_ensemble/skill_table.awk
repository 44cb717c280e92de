# skill_table.awk - two tables in Markdown of the scores of an eval with lead_windows:
#   awk -F, -f workflows/weather_ensemble/skill_table.awk EVAL/strata.csv EVAL/strata_skill.csv
# CRPS of every model by lead time and window of them, with its 95 % interval, and its skill relative to a reference in percent; then this skill
# by season, of one of them. -v window=NAME: this one (the last of the file), as '48 h'; -v reference=NAME: the reference (the first one of
# the file); -v score=NAME: the score (crps_gauss); -v digits=N: of scores (1).
function add(list, value) { if (!((list, value) in seen)) { seen[list, value] = 1; name[list, ++count[list]] = value } }
function interval(value, lo, hi, digits,    f) {
  f = "%." digits "f"
  return value == "" ? "" : sprintf(f " (" f " to " f ")", value, lo, hi)
}
BEGIN { score = score == "" ? "crps_gauss" : score; digits = digits == "" ? 1 : digits }
FNR == 1 { file++; next }
file == 1 && $7 == score {
  add("window", $3); add("model", $5)
  if ($4 != "all") add("season", $4)
  if ($4 == "all") crps[$3, $5] = interval($8, $9, $10, digits)
}
file == 2 && $8 == score {
  reference = reference == "" ? $7 : reference
  if ($7 == reference) skill[$3, $4, $5] = interval(100 * $12, 100 * $13, 100 * $14, 1)
}
END {
  if (count["model"] == 0) { print "skill_table: no " score " in the files" > "/dev/stderr"; exit 1 }
  head = "| |"; line = "|---|"
  for (w = 1; w <= count["window"]; w++) {
    head = head " CRPS, " name["window", w] " | skill (%) |"; line = line "---|---|"
  }
  print head; print line
  for (m = 1; m <= count["model"]; m++) {
    row = "| " name["model", m] " |"
    for (w = 1; w <= count["window"]; w++) {
      row = row " " crps[name["window", w], name["model", m]] " | " skill[name["window", w], "all", name["model", m]] " |"
    }
    print row
  }
  window = window == "" ? name["window", count["window"]] : window
  if (!(("window", window) in seen)) { print "skill_table: no " window " in the files" > "/dev/stderr"; exit 1 }
  head = "\n| skill relative to " reference " (%), " window " |"; line = "|---|"
  for (s = 1; s <= count["season"]; s++) { head = head " " name["season", s] " |"; line = line "---|" }
  print head; print line
  for (m = 1; m <= count["model"]; m++) {
    if (name["model", m] == reference) continue
    row = "| " name["model", m] " |"
    for (s = 1; s <= count["season"]; s++) row = row " " skill[window, name["season", s], name["model", m]] " |"
    print row
  }
}
