# site.sh - sourced by flow.sh and step.sh: reads a file of workflows/sites, which says what a machine has for each resource class.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the scripts that source it

declare -A partition_of=() walltime_of=() nodes_of=() ranks_of=() threads_of=() gpus_of=()

# read_site FILE
read_site() {
  local class partition walltime nodes ranks threads gpus more number
  scheduler='' classes='' at_once=1 margin=120 requeues=100 mpi=pmix mpiexec=(mpiexec) modules=() options=()
  [ -r "$1" ] || fail "there is no site '$1'; known: $(cd "$home/sites" && echo *.env | sed 's/\.env//g'), or the path of a file"
  # shellcheck source=/dev/null
  . "$(realpath "$1")" || fail "$1 does not end well: bash says why"
  case $scheduler in none | slurm) ;; *) fail "$1: scheduler is '$scheduler': none or slurm" ;; esac
  for number in at_once margin requeues; do
    [[ ${!number} =~ ^[0-9]+$ ]] || fail "$1: $number is '${!number}': a whole number"
  done
  [ "$at_once" -gt 0 ] || fail "$1: at_once is 0: then nothing starts"
  while read -r class partition walltime nodes ranks threads gpus more; do
    [[ -n $class && $class != \#* ]] || continue
    [[ -n $gpus && -z $more ]] || fail "$1: class '$class': 7 words: class, partition, walltime, nodes, ranks, threads, gpus"
    for number in nodes ranks threads gpus; do
      [[ ${!number} =~ ^[0-9]+$ ]] || fail "$1: class '$class': $number is '${!number}': a whole number"
    done
    [ "$ranks" -gt 0 ] && [ "$nodes" -gt 0 ] || fail "$1: class '$class': at least one node and one rank"
    [ $scheduler = none ] || [ "$threads" -gt 0 ] || fail "$1: class '$class': threads is 0: say how many processors a rank has"
    partition_of[$class]=$partition walltime_of[$class]=$walltime nodes_of[$class]=$nodes ranks_of[$class]=$ranks
    threads_of[$class]=$threads gpus_of[$class]=$gpus
  done <<<"$classes"
  [ ${#ranks_of[@]} -gt 0 ] || fail "$1: 'classes' has no row: class, partition, walltime, nodes, ranks, threads, gpus"
}

# launch_words ID: sets launch: what starts the program on this site, and its words.
launch_words() {
  local ranks=${ranks_of[$plan_class]:-} threads=${threads_of[$plan_class]:-}
  [ -n "$ranks" ] || fail "$site has no class '$plan_class', which step '$plan_step' needs"
  launch=()
  if [ "$scheduler" = slurm ]; then # ranks end together: where one has ended, the others do not wait for it for ever
    launch=(srun --mpi="$mpi" --ntasks="$ranks" --cpus-per-task="$threads" --wait=60)
  elif [ "$ranks" -gt 1 ]; then
    launch=("${mpiexec[@]}" -n "$ranks")
  fi
  launch+=("$plan_program" "${plan_words[@]//@OUT@/"$out"}" --out "$out/$1")
  [ "$threads" = 0 ] || launch+=(--threads "$threads")
  [ "${gpus_of[$plan_class]}" = 0 ] || launch+=(--device cuda)
}
