# slurm.sh - sourced by flow.sh: submits steps as jobs, fan-outs as arrays, each after those that it needs.
# shellcheck shell=bash disable=SC2154 # variables of flow.sh

declare -A job_of=() # of a step

# sbatch_words STEP DEPENDENCIES INDICES IDS...: sets submit.
sbatch_words() {
  local step=$1 after=$2 indices=$3 class=${class_of[$1]} output
  shift 3
  output=$out/flow/$step.slurm-%j
  submit=(sbatch --parsable --job-name="$app-$step" --nodes="${nodes_of[$class]}" --ntasks="${ranks_of[$class]}"
    --cpus-per-task="${threads_of[$class]}" --requeue --open-mode=append --output="$output")
  [ "${partition_of[$class]}" = - ] || submit+=(--partition="${partition_of[$class]}")
  [ "${walltime_of[$class]}" = - ] || submit+=(--time="${walltime_of[$class]}" --signal=TERM@"$margin")
  [ "${gpus_of[$class]}" = 0 ] || submit+=(--gpus-per-task="${gpus_of[$class]}")
  [ "$indices" = - ] || submit+=(--array="$indices%$at_once")
  [ -z "$after" ] || submit+=(--dependency=afterok"$after" --kill-on-invalid-dep=yes)
  submit+=("${options[@]}" "$home/flow/step.sh" "$home" "$out" "$site" "$@")
}

# submit_step STEP: those of its instances that are to be done.
submit_step() {
  local step=$1 ids id index=0 indices='' after='' other answer
  read -ra ids <<<"${ids_of[$step]}"
  for id in "${ids[@]}"; do
    index=$((index + 1))
    [[ " ${todo[*]} " != *" $id "* ]] || indices+=${indices:+,}$index
  done
  [ -n "$indices" ] || return 0
  for other in ${after_of[$step]}; do
    [ -z "${job_of[$other]:-}" ] || after+=:${job_of[$other]}
  done
  [ ${#ids[@]} -gt 1 ] || indices=-
  sbatch_words "$step" "$after" "$indices" "${ids[@]}"
  if [ $dry_run = yes ]; then
    printf '%q ' "${submit[@]}"
    echo
    job_of[$step]="JOB_OF_$step"
    return 0
  fi
  for id in "${ids[@]}"; do
    [[ " ${todo[*]} " != *" $id "* ]] || rm -f "$(file_of "$id" state)"
  done
  answer=$("${submit[@]}" 2>&1) || { echo "flow: sbatch does not take step '$step': $answer" >&2; return 1; }
  job_of[$step]=${answer%%;*}
  index=0
  for id in "${ids[@]}"; do
    index=$((index + 1))
    [[ " ${todo[*]} " != *" $id "* ]] || { [ "$indices" = - ] && echo "${job_of[$step]}" || echo "${job_of[$step]}_$index"; } | put "$(file_of "$id" job)"
  done
  echo "flow: $step: job ${job_of[$step]}" >&2
}

# No job of this flow may wait or run: two would do the same.
refuse_jobs() {
  local files jobs queue
  files=("$out"/flow/*.job)
  [ -e "${files[0]}" ] || return 0
  queue=$(squeue -h -o '%F %i') || fail "squeue does not answer: whether jobs of this flow are in the queue is not known" # -j fails for a job that Slurm has forgotten
  jobs=$(sed 's/_.*//' "${files[@]}" | sort -u | while read -r job; do sed -n "s/^$job //p" <<<"$queue"; done | paste -sd' ')
  [ -z "$jobs" ] || fail "jobs of this flow are in the queue: $jobs; wait for them, or end them: scancel $(sed 's/_.*//' <<<"${jobs// /$'\n'}" | sort -u | paste -sd' ')"
}

run_slurm() {
  local step
  if [ $dry_run = no ]; then
    command -v sbatch >/dev/null || fail "there is no sbatch here: start flow.sh where Slurm is, or with --site local"
    refuse_jobs
  fi
  for step in "${steps[@]}"; do
    submit_step "$step" || {
      [ ${#job_of[@]} = 0 ] || scancel "${job_of[@]}"
      fail "nothing is left in the queue; correct $site and start again with --resume"
    }
  done
  [ $dry_run = no ] || return 0
  put_page "$program"
  echo "flow: $home/flow.sh $app --out $out --status says how far it is, $out/index.html too" >&2
}
