# page.awk TABLE RUNS ... - the tables of claims and of run directories as a page, from pairs of files that the scripts of papers store.
function in_unit(number) { return number == "-" ? "-" : number ($5 == "1" ? "" : " " $5) }
BEGIN { FS = "\t" }
FNR == 1 { kind = (NR == 1 || kind == "runs") ? "table" : "runs" }
FNR == 1 && kind == "table" { printf "\n## %s\n", substr($0, 3); next }
FNR == 2 && kind == "table" {
  print "\n| claim (source) | published | setting here | here | ratio | outcome | why it may differ | run |"
  print "|---|---|---|---|---|---|---|---|"
  next
}
kind == "table" {
  published = $4 == "-" ? in_unit($3) : "none; own bound: " in_unit($4)
  here = in_unit($7 ($7 == "-" || $8 == "-" ? "" : " ± " $8 " (" $9 ")"))
  # Folders are named relative to that of the paper, whose name ends with the first of them.
  gsub(/out\/reproduce\/[^\/ ]*\//, "", $13)
  printf "| %s (%s) | %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, published, $6 == "" ? "-" : $6, here, $10, $11, $12, $13 == "-" ? "-" : "`" $13 "`"
}
FNR == 1 && kind == "runs" { print "\n| run | program | configuration | commit | date | machine |\n|---|---|---|---|---|---|"; next }
kind == "runs" { printf "| `%s` | `%s` | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6 }
