#!/usr/bin/env bash
# refused.sh PROGRAM SOURCE: settings that cannot be right, as the configuration alone shows, are refused by every command that they
# concern with exit status 2 and the same text, and none leaves a folder behind: not even the log of a run that failed.
set -u
program=$1
source=$2
app=${program##*/}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 cases=0 arguments=()
fail() {
  echo "failed: $*"
  failed=1
}

# COMMAND SETTINGS...: its first line of errors is $text, its status $status.
start() {
  local command=$1 out=(--out "$work/out")
  shift
  case $command in
    describe | check | inspect | replay) out=() ;; # these write no folder
  esac
  # Several words are one command: "site stats".
  # shellcheck disable=SC2086
  timeout 60 "$program" $command --config "$source/configs/$app/tiny.yaml" "$@" "${out[@]}" --threads 1 >"$work/stdout" 2>"$work/stderr"
  status=$?
  text=$(grep -m 1 '^error: ' "$work/stderr" || head -n 1 "$work/stderr")
}

# COMMANDS TEXT SETTINGS...: commands are separated by commas, settings are those of --set or begin with --.
refused() {
  local commands=$1 expected=$2 command setting first=
  shift 2
  arguments=()
  for setting; do
    case $setting in
      --*) arguments+=("$setting") ;;
      *=*) arguments+=(--set "$setting") ;;
      *) arguments+=("$setting") ;; # what follows the command, or a flag
    esac
  done
  while IFS= read -r command; do
    cases=$((cases + 1))
    start "$command" "${arguments[@]}"
    [ "$status" = 2 ] || fail "$command $*: exit status $status, not 2: $text"
    case $text in
      *"$expected"*) ;;
      *) fail "$command $*: says '$text', not '$expected'" ;;
    esac
    first=${first:-$text}
    [ "$text" = "$first" ] || fail "$command $*: says '$text', another command '$first'"
    [ ! -e "$work/out" ] || fail "$command $*: left $(cd "$work/out" && echo *)"
    rm -rf "$work/out"
  done < <(tr ',' '\n' <<<"$commands")
}

# COMMAND SETTINGS...: is not refused.
accepted() {
  local command=$1 setting
  shift
  arguments=()
  for setting; do
    arguments+=(--set "$setting")
  done
  cases=$((cases + 1))
  start "$command" "${arguments[@]}"
  [ "$status" = 0 ] || fail "$command $*: exit status $status: $text"
  rm -rf "$work/out"
}

# shellcheck source=/dev/null
. "$source/tests/integration/$app/refused.sh"
[ "$cases" -gt 20 ] || fail "only $cases cases"
echo "$app: $cases cases"
exit "$failed"
