# plan.sh - sourced by flow.sh: from a table to the instances of its steps and the words of their commands. A plan is a text with a line
# for each property; @OUT@ stands for the folder of the flow, so that results do not depend on where it is.
# shellcheck shell=bash disable=SC2034,SC2154 # arrays of table.sh, and of flow.sh

declare -A ids_of=() plan_of=() # of a step, of an instance
declare -A value_of=() # of an instance
help_text=                    # what the program says of its commands

# ask_program PROGRAM: what it can do.
ask_program() {
  [ -x "$1" ] || fail "there is no program '$1': build it (workflows/build.sh release), or name its folder with --bin"
  help_text=$("$1" --help 2>&1) || fail "$1 --help fails: $help_text"
}
# listed TITLE COMMAND: whether the line of the help with this title names the command.
listed() { grep -qE "^  $1: (.*, )?$2(,|\$)" <<<"$help_text"; }

# name_instance STEP VALUE: sets id: STEP, or STEP/OPTION_VALUE, or STEP/NAME of a value that is a path.
name_instance() {
  local name=$1 value=$2 key=${instances_of[${root_of[$1]:-$1}]}
  id=$name
  [ "$value" != - ] || return 0
  key=${key%%=*}
  key=${key##*.}
  case $value in */*) value=${value%/} value=${value##*/} key= ;; esac
  id=$name/${key:+${key//[^a-z0-9_]/}_}${value//[^A-Za-z0-9._+-]/_}
}

# substitute ROOT INDEX TEXT: sets substituted, with $STEP replaced by the folder of that step's instance and $value by its value; adds
# the instances to needed.
substitute() {
  local root=$1 index=$2 rest=$3 result='' ids ref
  while [[ $rest =~ ^([^$]*)\$([a-z][a-z0-9_]*)(.*)$ ]]; do
    result+=${BASH_REMATCH[1]} ref=${BASH_REMATCH[2]} rest=${BASH_REMATCH[3]}
    if [ "$ref" = value ]; then
      [ -n "$root" ] || fail "$place: \$value in a step that runs once: it stands for the value of an instance"
      read -ra ids <<<"${ids_of[$root]}"
      result+=${value_of[${ids[$index]}]}
      continue
    fi
    read -ra ids <<<"${ids_of[$ref]}"
    if [ -z "${root_of[$ref]}" ]; then
      ref=${ids[0]}
    elif [ "${root_of[$ref]}" = "$root" ]; then
      ref=${ids[$index]}
    else
      fail "$place: \$$ref has ${#ids[@]} instances: take all of them by each($ref: TEXT), or write each:$ref as the instances of this step"
    fi
    result+=@OUT@/$ref
    [[ " $needed " == *" $ref "* ]] || needed+="${needed:+ }$ref"
  done
  substituted=$result$rest
}

# expand ROOT INDEX TEXT: likewise sets expanded; each(STEP: TEXT) becomes TEXT for every instance of that step, with commas between.
expand() {
  local root=$1 index=$2 rest=$3 result='' step text tail ids i
  while [[ $rest =~ ^(.*[^a-z_])?each\(([a-z][a-z0-9_]*):\ *([^()]*)\)(.*)$ ]]; do
    rest=${BASH_REMATCH[1]} step=${BASH_REMATCH[2]} text=${BASH_REMATCH[3]} tail=${BASH_REMATCH[4]}
    [ -n "${row_of[$step]:-}" ] || fail "$place: each($step: there is no such step"
    [[ $text == *"\$$step"* ]] || fail "$place: each($step: ...) does not use \$$step"
    read -ra ids <<<"${ids_of[$step]}"
    substitute "$root" "$index" "$tail"
    result=$substituted$result
    for ((i = ${#ids[@]} - 1; i >= 0; i--)); do
      substitute "${root_of[$step]}" "$i" "$text"
      result=$substituted$result
      [ "$i" = 0 ] || result=", $result"
    done
  done
  [[ $rest != *each\(* ]] || fail "$place: '$rest': each(STEP: TEXT) has no bracket ( or ) in TEXT"
  substitute "$root" "$index" "$rest"
  expanded=$substituted$result
}

# config_path NAME: sets config: of this folder, else of where flow.sh is installed.
config_path() {
  config=$1
  case $1 in
  */* | \$*) ;;
  *)
    config=configs/$app/$1
    [ -r "$config" ] || [ ! -r "$home/../$config" ] || config=$(cd "$home/.." && pwd)/$config
    ;;
  esac
  [[ $config == \$* || -r $config ]] || fail "$place: there is no configuration '$config'"
}

# plan_instance STEP INDEX VALUE ID: the words of its command.
plan_instance() {
  local name=$1 index=$2 value=$3 place=${row_of[$1]} needed='' text='' arguments='' settings='' line config configs
  [ "${configs_of[$name]}" = - ] || {
    read -ra configs <<<"${configs_of[$name]//,/ }"
    for config in "${configs[@]}"; do
      config_path "$config"
      expand "${root_of[$name]}" "$index" "$config"
      settings+="word --config"$'\n'"word $expanded"$'\n'
      [[ $expanded == @OUT@* ]] || text+="config $expanded"$'\n'
    done
  }
  [ "${root_of[$name]}" != "$name" ] || settings+="word --set"$'\n'"word ${instances_of[$name]%%=*}=$value"$'\n'
  while IFS= read -r line; do
    [ -n "$line" ] || continue
    expand "${root_of[$name]}" "$index" "$line"
    if [[ $line =~ ^[a-z][]a-z0-9_.[]*= ]]; then
      settings+="word --set"$'\n'"word $expanded"$'\n'
    else
      arguments+="word $expanded"$'\n'
    fi
  done <<<"${inputs_of[$name]}"
  # A step that refers to nothing of the step whose instances it has needs it nevertheless.
  for line in $needed; do text+="needs $line"$'\n'; done
  put_plan "$4" "$name" "$value" "${text}word ${command_of[$name]}"$'\n'"$arguments$settings"
}

# put_plan ID STEP VALUE LINES
put_plan() {
  local resumes=no command=${command_of[$2]}
  ! listed resumes "$command" || resumes=yes
  plan_of[$1]="step $2"$'\n'"value $3"$'\n'"class ${class_of[$2]}"$'\n'"program $program"$'\n'"resumes $resumes"$'\n'"${4%$'\n'}"
}

# check_step STEP: its command and its class against the program and the site.
check_step() {
  local name=$1 place=${row_of[$1]} command=${command_of[$1]} class=${class_of[$1]}
  listed resumes "$command" || listed 'starts again' "$command" ||
    fail "$place: $app has no command '$command'; known: $(sed -n 's/^  \(resumes\|starts again\): //p' <<<"$help_text" | paste -sd, | sed 's/,\([^ ]\)/, \1/g')"
  [ -n "${ranks_of[$class]:-}" ] || fail "$place: $site has no class '$class'; known: ${!ranks_of[*]}"
  [ "${ranks_of[$class]}" = 1 ] || listed 'share the work of' "$command" ||
    fail "$place: '$command' does not share its work, so each of the ${ranks_of[$class]} ranks of class '$class' would do all of it: name a class of one rank"
}

# make_plans: fills the arrays.
make_plans() {
  local name text values value id index seen=' '
  for name in "${steps[@]}"; do
    check_step "$name"
    find_root "$name"
    text=$(values_of "$name") || exit 2
    mapfile -t values <<<"$text"
    ids_of[$name]='' index=0
    for value in "${values[@]}"; do
      name_instance "$name" "$value"
      [[ $seen != *" $id "* ]] || fail "${row_of[$name]}: two values give the folder $id: name them differently"
      seen+="$id "
      ids_of[$name]+="${ids_of[$name]:+ }$id"
      value_of[$id]=$value
      plan_instance "$name" "$index" "$value" "$id"
      index=$((index + 1))
    done
  done
}
