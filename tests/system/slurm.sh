#!/usr/bin/env bash
# A real Slurm with one node, for tests: slurm.sh start FOLDER, slurm.sh stop FOLDER. Keys, logs and state stay in FOLDER.
# Needs root and Debian's packages slurm-wlm and munge; does without systemd, cgroups and an accounting database.
set -euo pipefail

# Slurm looks here. A variable SLURM_CONF would not do: Snakemake's jobs drop it from their environment.
readonly LINK=/etc/slurm/slurm.conf

main() {
    if [[ $# -ne 2 || ! $1 =~ ^(start|stop)$ ]]; then
        echo "usage: $0 start|stop FOLDER" >&2
        exit 2
    fi
    mkdir -p "$2"
    FOLDER=$(realpath "$2")
    "$1"
}

start() {
    if [[ -e $LINK ]]; then
        echo "$(realpath "$LINK") is in use: stop that Slurm first" >&2
        exit 1
    fi
    trap give_up EXIT
    mkdir -p "$FOLDER"/{state,spool}
    config > "$FOLDER/slurm.conf"
    ln -sfn "$FOLDER/slurm.conf" "$LINK"
    (umask 077 && head -c 1024 /dev/urandom > "$FOLDER/munge.key")
    # --force: munged wants a folder that everyone can enter.
    munged --force --key-file="$FOLDER/munge.key" --seed-file="$FOLDER/munge.seed" --socket="$FOLDER/munge.socket" \
        --pid-file="$FOLDER/munged.pid" --log-file="$FOLDER/munged.log"
    slurmctld
    slurmd
    wait_until node_is_idle
    trap - EXIT
}

stop() {
    if is_ours && is_running slurmctld; then
        scancel --user=root # first of all, since jobs outlive slurmd
        wait_until queue_is_empty || true
    fi
    local daemon
    for daemon in slurmd slurmctld munged; do
        if is_running $daemon; then
            kill "$(pid_of $daemon)" || true # it may have gone by itself
            wait_until is_gone $daemon
        fi
    done
    if is_ours; then rm "$LINK"; fi
}

give_up() {
    trap - EXIT
    echo "Slurm does not start. Its logs:" >&2
    tail -n 20 "$FOLDER"/*.log >&2 || true
    stop
    exit 1
}

config() {
    local host
    host=$(hostname -s)
    cat << CONFIG
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthInfo=socket=$FOLDER/munge.socket
SlurmctldPidFile=$FOLDER/slurmctld.pid
SlurmctldLogFile=$FOLDER/slurmctld.log
StateSaveLocation=$FOLDER/state
SlurmdPidFile=$FOLDER/slurmd.pid
SlurmdLogFile=$FOLDER/slurmd.log
SlurmdSpoolDir=$FOLDER/spool

# Jobs share the node, a CPU each, and start at once; by default each would have the node to itself, after some seconds.
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0

# Processes are tracked without cgroups, and do not get 30 seconds to say goodbye.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
KillWait=2

# The queue must remember finished jobs until the test has looked: there is no accounting to ask.
MinJobAge=900

# The node is as written here, whatever slurmd finds.
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=4000
PartitionName=test Nodes=$host Default=YES
CONFIG
}

# Try a condition for 20 seconds.
wait_until() {
    local _
    for _ in {1..100}; do
        if "$@"; then return 0; fi
        sleep 0.2
    done
    echo "waited in vain: $*" >&2
    return 1
}

node_is_idle() { [[ $(sinfo --noheader --format=%T 2> /dev/null) == idle ]]; }
queue_is_empty() { [[ -z $(squeue --noheader --states=pending,running,completing) ]]; }
is_ours() { [[ $(readlink "$LINK") == "$FOLDER/slurm.conf" ]]; }
is_gone() { ! is_running "$1"; }
is_running() { kill -0 "$(pid_of "$1")" 2> /dev/null; }
pid_of() { cat "$FOLDER/$1.pid" 2> /dev/null || true; } # a daemon that stops removes its file, perhaps just now

main "$@"
