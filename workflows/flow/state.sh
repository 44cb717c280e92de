# state.sh - sourced by flow.sh and step.sh: the files in OUT/flow. Of instance ID, with . for /:
#   ID.plan   what is to be done                     ID.log, ID.out   messages and standard output of its program
#   ID.state  what was last known of it              ID.begun         the digests with which what is in its folder was begun
#   ID.done   the marker of completion: digests of program, command, configurations, inputs and results; written last
# A state is a line WORD STATUS HOST PROCESS JOB BEGUN CHANGED, with - for what is not known: running, queued (a job, again), done, failed
# or stopped; the exit status; times in UTC. The command `report` of the programs makes OUT/index.html from these files.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the scripts that source it

# file_of ID SUFFIX; plans that are only shown lie elsewhere.
file_of() {
  local folder=$out/flow
  [ "$2" != plan ] || folder=${plans:-$folder}
  echo "$folder/${1//\//.}.$2"
}

# put FILE: standard input becomes the file, whole or not at all.
put() {
  cat >"$1.tmp-$$" && mv -f "$1.tmp-$$" "$1" && return 0
  rm -f "$1.tmp-$$"
  echo "flow: $1 cannot be written: is there space?" >&2
  return 1
}
# sweep: removes what `put` of processes that were killed has left.
sweep() {
  local file
  for file in "$out"/flow/*.tmp-*; do
    [ ! -e "$file" ] || kill -0 "${file##*-}" 2>/dev/null || rm -f "$file"
  done
}
# read_state ID: sets the variables state_*.
read_state() {
  state_word='' state_status='' state_host='' state_process='' state_job='' state_begun='' state_changed=''
  [ ! -r "$(file_of "$1" state)" ] ||
    read -r state_word state_status state_host state_process state_job state_begun state_changed <"$(file_of "$1" state)" || true
}
# put_page PROGRAM: the page says what is known now. One process at a time, so that the last one knows all. No step fails for it.
put_page() {
  local text
  (
    flock 7
    text=$("$1" report "$out" --log error 2>&1) || echo "flow: $out/index.html is not written: ${text//$'\n'/ }" >&2
  ) 7>"$out/flow/page.lock" || true
}

# cause_of STATUS: what an exit status says, also of a program that was killed and of one whose log found no space.
cause_of() {
  if [ "$1" = 9 ]; then
    echo ": stopped by a signal"
  elif [ "$1" = 10 ]; then
    echo ": no space left"
  elif [ "$1" -gt 128 ]; then
    local name
    ! name=$(kill -l "$1" 2>/dev/null) || echo ": SIG$name"
  fi
}

# read_plan ID: sets the variables plan_*.
read_plan() {
  local file line key rest
  file=$(file_of "$1" plan)
  plan_step='' plan_value='' plan_class='' plan_program='' plan_resumes='' plan_configs=() plan_needs=() plan_words=()
  [ -r "$file" ] || { echo "flow: there is no plan $file: start workflows/flow.sh" >&2; return 2; }
  while IFS= read -r line; do
    key=${line%% *} rest=${line#* }
    case $key in
    step) plan_step=$rest ;;
    value) plan_value=$rest ;;
    class) plan_class=$rest ;;
    program) plan_program=$rest ;;
    resumes) plan_resumes=$rest ;;
    config) plan_configs+=("$rest") ;;
    needs) plan_needs+=("$rest") ;;
    word) plan_words+=("$rest") ;;
    *) echo "flow: $file: '$key' is unknown: the plan is damaged; start workflows/flow.sh --resume" >&2; return 2 ;;
    esac
  done <"$file"
  [ ${#plan_words[@]} -gt 0 ] || { echo "flow: $file is damaged: it has no command; start workflows/flow.sh --resume" >&2; return 2; }
}

sha() { sha256sum | cut -d' ' -f1; }

# The program and the libraries that are built with it: sets program_digest, once.
digest_program() {
  [ "${digested:-}" != "$1" ] || return 0
  digested=$1
  program_digest=$({
    cat "$1"
    ldd "$1" 2>/dev/null | sed -n 's/.*=> \(.*libweir[^ ]*\) .*/\1/p' | while read -r file; do cat "$file"; done
  } | sha)
}
# Of a file, or of the names and contents of all in a folder.
digest_path() {
  if [ -d "$1" ]; then
    (cd "$1" && find . -type f ! -name .weir.lock -print0 | sort -z | xargs -0r sha256sum) | sha
  else
    sha256sum "$1" | cut -d' ' -f1
  fi
}
outside() { [[ $(realpath -m -- "$1")/ != "$(realpath -m -- "$out")"/* ]]; }

# Paths outside of OUT that the command or its configurations name.
list_inputs() {
  local path
  { printf '%s\n' "${plan_words[@]:1}"; sed 's/#.*//' "${plan_configs[@]}" /dev/null; } | tr -s "][{},:=\"' \t" '\n' | { grep / || true; } |
    sort -u | while IFS= read -r path; do
    [[ $path == @OUT@* || " ${plan_configs[*]} " == *" $path "* || ! -e $path ]] || ! outside "$path" || echo "$path"
  done
}
# Digest and path of what the results say was read, outside of OUT.
list_read() {
  local digest path
  [ -r "$out/$1/provenance.json" ] || return 0
  sed -n 's/^ *{"path": "\(.*\)", "bytes": .*"sha256": "\([0-9a-f]*\)".*/\2 \1/p' "$out/$1/provenance.json" |
    while read -r digest path; do ! outside "$path" || echo "read $digest  $path"; done
}

# key_of: what the results depend on and is known before, a line each, after read_plan.
key_of() {
  local path other
  digest_program "$plan_program"
  echo "program $program_digest"
  echo "command $(printf '%s\n' "${plan_words[@]}" | sha)"
  for path in "${plan_configs[@]}"; do echo "config $(digest_path "$path") $path"; done
  for other in "${plan_needs[@]}"; do echo "needs $(grep '^output ' "$(file_of "$other" 'done')" 2>/dev/null | sha) $other"; done
  list_inputs | while IFS= read -r path; do echo "input $(digest_path "$path") $path"; done
}

# put_done ID: the marker, with the key of when it was begun.
put_done() {
  {
    cat "$(file_of "$1" begun)"
    list_read "$1"
    (cd "$out/$1" && find . -type f ! -name .weir.lock ! -name '*.tmp-*' -print0 | sort -z | xargs -0r sha256sum) | sed 's/^/output /'
  } | put "$(file_of "$1" 'done')"
}

# check_lines WORD FOLDER MARKER: whether files are as the marker's lines of this word say.
check_lines() {
  ! grep -q "^$1 " "$3" || sed -n "s/^$1 //p" "$3" | (cd "$2" && sha256sum --check --status --strict) 2>/dev/null
}

# is_done ID: whether it is, with the inputs, configurations and program of now; sets why otherwise. Reads the plan.
is_done() {
  local marker changed
  marker=$(file_of "$1" 'done')
  why='it is not finished'
  read_plan "$1" || return 1
  [ -r "$marker" ] || return 1
  changed=$(diff <(grep -v '^\(output\|read\) ' "$marker") <(key_of) | sed -n 's/^[<>] \([a-z]*\) [0-9a-f]* *\(.*\)/\1 \2/p' | sort -u | head -n 1)
  if [ -n "$changed" ]; then
    case $changed in
    program*) why='the program is another one now' ;;
    command*) why='the command is another one now' ;;
    config*) why="the configuration ${changed#config } is another one now" ;;
    needs*) why="${changed#needs } has other results now" ;;
    *) why="the input ${changed#input } is another one now" ;;
    esac
    return 1
  fi
  why='files that it has read were changed or removed'
  check_lines 'read' . "$marker" || return 1
  why='its results were changed or removed'
  grep -q '^output ' "$marker" && [ -d "$out/$1" ] && check_lines output "$out/$1" "$marker"
}
