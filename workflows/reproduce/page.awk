# page.awk TABLE RUNS ... - the tables of claims and of run directories as a page, from pairs of files that the scripts of papers store.
BEGIN { FS = "\t" }
FNR == 1 { kind = (NR == 1 || kind == "runs") ? "table" : "runs" }
FNR == 1 && kind == "table" { printf "\n## %s\n", substr($0, 3); next }
FNR == 2 && kind == "table" {
  print "\n| claim (source) | published | setting here | here | ratio | outcome | why it may differ | run |"
  print "|---|---|---|---|---|---|---|---|"
  next
}
kind == "table" {
  published = $3 == "-" ? "-" : $3 ($4 == "1" ? "" : " " $4)
  here = $6 == "-" ? "-" : $6 ($7 == "-" ? "" : " ± " $7 " (" $8 ")") ($4 == "1" ? "" : " " $4)
  # Folders are named relative to that of the paper, whose name ends with the first of them.
  gsub(/out\/reproduce\/[^\/ ]*\//, "", $12)
  printf "| %s (%s) | %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, published, $5 == "" ? "-" : $5, here, $9, $10, $11, $12 == "-" ? "-" : "`" $12 "`"
}
FNR == 1 && kind == "runs" { print "\n| run | program | configuration | commit | date | machine |\n|---|---|---|---|---|---|"; next }
kind == "runs" { printf "| `%s` | `%s` | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6 }
