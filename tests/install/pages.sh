#!/usr/bin/env bash
# pages.sh FOLDER APP... - manual pages and completion scripts that the programs print: readable without warnings, complete (every
# option of the table), and what is completed is what the program takes.
set -euo pipefail
bin=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "pages: $*" >&2; exit 1; }
cd "$work"

# complete_line LINE: what bash offers for the last word of the line. COMP_WORDS is not read by the scripts.
complete_line() {
  COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
  "_$app" "$app" "${1##*[ =]}" '' 2>/dev/null || true # compgen ends with 1 where nothing fits
}
offers() { # LINE WORD...: among the answers
  local word
  complete_line "$1"
  for word in "${@:2}"; do
    printf '%s\n' "${COMPREPLY[@]}" | grep -xF -e "$word" >found || fail "$app: '$1' offers '${COMPREPLY[*]}', without '$word'"
  done
}

for app in "$@"; do
  "$bin/$app" options --markdown >page.md
  awk -F'`' '/^\| `/ { print $2 }' page.md | sort >keys
  "$bin/$app" options --man >page.1
  if command -v man >/dev/null && command -v groff >/dev/null; then
    LC_ALL=C.UTF-8 MANWIDTH=100 man -l --warnings page.1 >page.txt 2>warnings || fail "man refuses the page of $app"
    [ ! -s warnings ] || { cat warnings; fail "the page of $app"; }
    sed -n 's/^       \([^ ]*\).*/\1/p' page.txt | sort >shown
    [ -z "$(comm -23 keys shown)" ] || fail "$app: the manual page leaves out $(comm -23 keys shown)"
  else
    echo "left out: there is no man with groff"
  fi
  if command -v mandoc >/dev/null; then
    mandoc -Tlint -W error page.1 || fail "mandoc of $app"
  else
    echo "left out: there is no mandoc"
  fi
  "$bin/$app" options --completion bash >complete.bash
  bash -n complete.bash
  . ./complete.bash
  [ "$(complete -p "$app")" = "complete -F _$app $app" ] || fail "$app: $(complete -p "$app")"
  offers "$app " run options
  offers "$app de" describe
  offers "$app run --o" --out --overwrite
  offers "$app run --log " info debug
  offers "$app run --log=d" debug
  mkdir -p "folder of $app" && touch "file of $app.yaml"
  offers "$app run --config f" "file of $app.yaml"
  complete_line "$app run --set nosuch"
  [ ${#COMPREPLY[@]} = 0 ] || fail "$app: nosuch offers ${COMPREPLY[*]}"
  # Every key that is offered is one, and is taken with the values that are offered: what is refused is what follows.
  complete_line "$app run --set "
  printf '%s\n' "${COMPREPLY[@]%=}" | sort >offered
  [ "$(wc -l <offered)" -gt 50 ] || fail "$app: only $(wc -l <offered) keys"
  [ -z "$(comm -23 offered keys)" ] || fail "$app: these are no keys: $(comm -23 offered keys)"
  checked=0
  while IFS= read -r key; do
    [[ $key != *.*.*.* ]] && [ $checked -lt 40 ] || continue # of the entry of a registry, which has to be chosen
    complete_line "$app describe --set $key="
    for value in "${COMPREPLY[@]}"; do
      [ ! -e "$value" ] || continue
      checked=$((checked + 1))
      ! "$bin/$app" describe --set "$key=$value" --set nosuchkey=1 >out 2>&1 || fail "$app: nosuchkey is taken"
      grep -q -e nosuchkey -e 'choose an entry before its options' out || { cat out; fail "$app: --set $key=$value is offered"; }
    done
  done <offered
  [ $checked -gt 10 ] || fail "$app: only $checked values"
  COMP_WORDBREAKS=${COMP_WORDBREAKS//=/}
  offers "$app run --log=i" --log=info
  COMP_WORDBREAKS+='='
  if command -v zsh >/dev/null; then
    "$bin/$app" options --completion zsh >complete.zsh
    zsh -n complete.zsh || fail "zsh: the script of $app"
  else
    echo "left out: there is no zsh"
  fi
done
echo "$# programs"
