# table.sh - sourced by flow.sh: reads a table of steps. A row names a step, its command, configurations, instances and resource
# class; the indented lines below it are the step's inputs. What follows what is derived from the inputs.
# shellcheck shell=bash disable=SC2034 # arrays of plan.sh

steps=()                                                                       # in the order of the table
about=''                                                                       # the first paragraph of its comments: what it does
declare -A command_of=() configs_of=() instances_of=() class_of=() inputs_of=() row_of=() after_of=() root_of=()

# fail MESSAGE: what was given is wrong.
fail() {
  printf 'flow: %s\n' "$*" >&2
  exit 2
}

# refs TEXT: the names after every $ of it, one a line.
refs() {
  local rest=$1
  while [[ $rest =~ \$([a-z][a-z0-9_]*)(.*) ]]; do
    echo "${BASH_REMATCH[1]}"
    rest=${BASH_REMATCH[2]}
  done
}

# Appends a row of the table.
add_row() {
  local place=$1 name=$2
  [[ $name =~ ^[a-z][a-z0-9_]*$ ]] || fail "$place: '$name' is no name of a step: lower-case letters, digits and _, a letter first"
  case $name in value | flow | old) fail "$place: a step may not be called '$name', which has a meaning of its own" ;; esac
  [ -z "${row_of[$name]:-}" ] || fail "$place: step '$name' is at ${row_of[$name]} already: rename one"
  [ $# = 6 ] || fail "$place: $(($# - 1)) words: a row has 5: step, command, configurations, instances, class"
  steps+=("$name")
  row_of[$name]=$place command_of[$name]=$3 configs_of[$name]=$4 instances_of[$name]=$5 class_of[$name]=$6 inputs_of[$name]=''
}

# read_table FILE: fills the arrays; checks what can be seen without a program or a site.
read_table() {
  local file=$1 number=0 text words last=''
  about=$(sed -n '1s/^# //p; 1!{/^# /!q; s/^# //p}' "$file" | tr '\n' ' ')
  while IFS= read -r text || [ -n "$text" ]; do
    number=$((number + 1))
    [[ ! $text =~ ^[[:space:]]*(#|$) ]] || continue
    [[ $text != *[[:cntrl:]]* ]] || fail "$file:$number: a control character, such as a tab: use blanks"
    read -ra words <<<"$text"
    if [[ $text == ' '* ]]; then
      [ -n "$last" ] || fail "$file:$number: an input before the first step: begin rows of steps in the first column"
      read -r text <<<"$text"
      [[ $text != --overwrite* ]] || fail "$file:$number: --overwrite would replace results: --resume decides what is repeated"
      [[ $text != -* ]] || fail "$file:$number: '$text': inputs are KEY=VALUE of an option, or arguments of the command, not flags"
      inputs_of[$last]+=$text$'\n'
    else
      add_row "$file:$number" "${words[@]}"
      last=${words[0]}
    fi
  done <"$file"
  [ ${#steps[@]} -gt 0 ] || fail "$file: no step in it: a row is STEP COMMAND CONFIGURATIONS INSTANCES CLASS"
  derive_order
}

# What a step needs is what its configurations and inputs refer to, and the step whose instances it has.
derive_order() {
  local name ref text
  for name in "${steps[@]}"; do
    text=${configs_of[$name]}$'\n'${inputs_of[$name]}
    [[ ${instances_of[$name]} != each:* ]] || text+='$'${instances_of[$name]#each:}
    after_of[$name]=
    while read -r ref; do
      [ -n "$ref" ] && [ "$ref" != value ] || continue
      [ -n "${row_of[$ref]:-}" ] || fail "${row_of[$name]}: step '$name' refers to \$$ref: there is no such step; known: ${steps[*]}"
      [[ " ${after_of[$name]} " == *" $ref "* ]] || after_of[$name]+="${after_of[$name]:+ }$ref"
    done < <(refs "$text")
  done
  sort_steps
}

# Puts every step behind those that it needs.
sort_steps() {
  local sorted=() left=("${steps[@]}") rest name ref ready
  while [ ${#left[@]} -gt 0 ]; do
    rest=()
    for name in "${left[@]}"; do
      ready=yes
      for ref in ${after_of[$name]}; do
        [[ " ${sorted[*]} " == *" $ref "* ]] || ready=no
      done
      if [ $ready = yes ]; then sorted+=("$name"); else rest+=("$name"); fi
    done
    [ ${#rest[@]} -lt ${#left[@]} ] || fail "${row_of[${left[0]}]}: a cycle: each of these needs another one of them: ${left[*]}"
    left=("${rest[@]}")
  done
  steps=("${sorted[@]}")
}

# values_of STEP: the values of its instances, one a line: a name for once.
values_of() {
  local name=$1 place=${row_of[$1]} list=${instances_of[$1]}
  case $list in
  once) echo - ;;
  each:*) values_of "${list#each:}" ;;
  [a-z]*=@?*)
    local file=${list#*=@}
    [ -r "$file" ] || fail "$place: there is no file '$file' with the values of ${list%%=*}, one a line"
    grep -v '^[[:space:]]*\(#\|$\)' "$file" || fail "$place: no value in '$file'"
    ;;
  [a-z]*=?*) tr ',' '\n' <<<"${list#*=}" ;;
  *) fail "$place: '$list': instances are 'once', KEY=VALUE,VALUE, KEY=@FILE (a value a line) or each:STEP" ;;
  esac
}

# The step whose row lists the values: instances of steps with one root belong together.
find_root() {
  local name=$1
  case ${instances_of[$name]} in
  once) root_of[$name]= ;;
  each:*)
    local other=${instances_of[$name]#each:}
    root_of[$name]=${root_of[$other]}
    [ -n "${root_of[$other]}" ] || fail "${row_of[$name]}: each:$other, but '$other' runs once: write 'once'"
    ;;
  *) root_of[$name]=$name ;;
  esac
}
