# heads_table.awk - a table in Markdown of the scores of heads.steps, a row for each quantity and family of distributions:
#   awk -F, -f workflows/weather_ensemble/heads_table.awk OUT/{height,wind,rain,cloud}/{scores,skill}.csv
# CRPS of EMOS of this family in every form (models FAMILY and 'FAMILY FORM'), of the network (model 'network FAMILY'), and by how many
# percent that is below (+) or above (-) the CRPS of the best EMOS of the quantity, of any family and form, with the interval of skill.csv.
# The best EMOS is printed bold: the one with the lowest CRPS on the dates that are scored.
function quantity() { return $2 > 0 ? $1 $2 : $1 }
function crps(model, place,    text) {
  if (!((place, model) in score)) return ""
  text = sprintf("%#.4g", score[place, model])
  return model == best[place] ? "**" text "**" : text
}
BEGIN { n_forms = split("| windows| points| season| EOFs| EOFs windows", form, "|") }
FNR == 1 { is_skill = $7 == "reference"; next }
!is_skill {
  place = quantity()
  score[place, $4] = $6
  if ($4 ~ /^(raw|network) /) next
  if (best[place] == "" || $6 < score[place, best[place]]) best[place] = $4
  if ($4 !~ / (windows|points|season|EOFs)$/) { at[++n] = place; family[n] = $4 }
}
is_skill && $6 == "all" && $8 == "crps" && $4 ~ /^network / && $7 == best[quantity()] {
  skill[quantity(), $4] = sprintf("%.1f (%.1f to %.1f)", 100 * $12, 100 * $13, 100 * $14)
}
END {
  if (n == 0) { print "heads_table: no EMOS in the files" > "/dev/stderr"; exit 1 }
  print "| | EMOS | windows | points | season | EOFs | EOFs windows | network | below the best EMOS (%) |"
  print "|---|---|---|---|---|---|---|---|---|"
  for (k = 1; k <= n; k++) {
    row = "| " at[k] ", " family[k] " |"
    for (f = 1; f <= n_forms; f++) row = row " " crps(family[k] form[f], at[k]) " |"
    print row " " crps("network " family[k], at[k]) " | " skill[at[k], "network " family[k]] " |"
  }
}
