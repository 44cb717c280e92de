#!/usr/bin/env bash
# cluster.sh SECONDS COMMAND...: runs a command beside a Slurm cluster of its own: two virtual nodes of four processors on this
# machine, in a temporary folder, on free ports, with a key of its own. An installed and configured Slurm is neither read nor changed.
# The command finds it by SLURM_CONF and its folder in WEIR_TEST_CLUSTER. Status: that of the command, 124 where it takes longer,
# 1 where the cluster does not start: then the daemon's own reason is printed. No process of the cluster is left.
set -u
limit=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
for name in $(compgen -e | grep -E '^(SLURM|SBATCH|SALLOC|SRUN|PMI|OMPI_COMM)'); do # where this itself runs in a job
  unset "$name"
done
PATH=$PATH:/usr/sbin:/sbin
run=$(mktemp -d /tmp/weir-slurm.XXXXXX) || exit 1 # short: sockets lie in it
export SLURM_CONF=$run/slurm.conf WEIR_TEST_CLUSTER=$run
daemons=()

# Processes of this cluster, those of jobs too, which outlive the daemons that started them: all have the path of its configuration.
left() { grep -lzsxF "SLURM_CONF=$run/slurm.conf" /proc/[0-9]*/environ | cut -d/ -f3; }
stop() {
  trap '' INT TERM HUP
  export -n SLURM_CONF
  kill "${daemons[@]}" $(left) 2>/dev/null
  for try in {1..60}; do
    [ -n "$(left)" ] || break
    [ "$try" -lt 40 ] || kill -KILL $(left) 2>/dev/null
    sleep 0.1
  done
  rm -rf "$run"
}
trap stop EXIT
trap 'exit 143' INT TERM HUP

# daemon LOG COMMAND...: it ends with this script, even where that is killed.
daemon() {
  local log=$1
  shift
  setpriv --pdeathsig KILL "$@" >>"$run/log/$log" 2>&1 &
  daemons+=($!)
}
# within SECONDS COMMAND...: waits until it succeeds.
within() {
  local end=$((SECONDS + $1))
  shift
  until timeout 5 "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.1
  done
}
all_idle() { [ "$(sinfo -h -t idle -o %D)" = 2 ]; }

port=$((20000 + RANDOM % 10000))
free_port() {
  while grep -qsi ":$(printf %04X "$port") " /proc/net/tcp /proc/net/tcp6; do port=$((port + 1)); done
  echo "$port"
}
ports=()
for _ in 1 2 3; do
  ports+=("$(free_port)")
  port=$((ports[-1] + 1))
done

mkdir -p "$run"/{munge,state,log} "$run"/{spool,tmp}/n{1,2}
chmod 755 "$run" "$run/munge"
head -c 1024 /dev/urandom >"$run/munge/key"
chmod 600 "$run/munge/key"
sed -e "s,@RUN@,$run,g; s,@USER@,$(id -un),g" -e "s,@CONTROL@,${ports[0]},; s,@N1@,${ports[1]},; s,@N2@,${ports[2]}," \
  "$here/slurm.conf.in" >"$SLURM_CONF"

# Control groups are asked for even where nothing uses them; where none are mounted, only a version that is named will do.
echo CgroupPlugin=cgroup/v1 >"$run/cgroup.conf"
# absent: says why, from what the daemons said.
absent() {
  echo "the cluster of this test does not start:"
  for log in munged slurmctld slurmd; do
    grep -hiE 'error|fatal|denied|not found' "$run/log/$log" 2>/dev/null | grep -v 'state file\|state save' | sort -u | tail -n 6
  done
  exit 1
}
daemon munged munged --foreground --key-file "$run/munge/key" --socket "$run/munge/sock" --pid-file "$run/munge/pid" \
  --log-file "$run/log/munged.log" --seed-file "$run/munge/seed"
within 10 test -S "$run/munge/sock" || absent
daemon slurmctld slurmctld -D
daemon slurmd slurmd -D -N n1
daemon slurmd slurmd -D -N n2
export -f all_idle
within 30 bash -c all_idle || absent
timeout --kill-after=2 "$limit" "$@" & # beside it: a signal is heard at once
daemons+=($!)
status=0
wait $! || status=$?
[ $status = 0 ] || for log in "$run"/log/*; do echo "-- ${log##*/}" && tail -n 15 "$log"; done
exit $status
