#!/bin/sh
# Collectives of one MPI library (Debian's Open MPI, unless MPICC and MPIRUN name another one), with libweft-coll on Weft and by the library alone on its
# own shared memory, in turns A B A B. For each the median of its turns, and the ratio to the best of the library's own settings.
#
# With WHICH, all, started (those that do not block) or one of MPI's names, also that collective: Weft by itself beside the library on Weft says which are served.
#
#   bench/peers/collectives.sh [RANKS [TURNS [SAMPLES [WHICH]]]]      after a build of weft and of the provider: make bench-collectives does all; leave the machine alone meanwhile
set -eu
ranks=${1:-8} turns=${2:-5} samples=${3:-101} which=${4:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
mpicc=${MPICC:-$(command -v mpicc.openmpi || echo mpicc)}
mpirun=${MPIRUN:-$(command -v mpirun.openmpi || echo mpirun)}
weft=$root/target/measured/weft
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$mpicc" -O2 -o "$folder/program" "$root/bench/peers/collectives.c"
"$weft" mpirun --dry-run -n 1 "$folder/program" >/dev/null 2>&1 || { echo "build weft and weft-libfabric first: make bench-collectives" >&2; exit 1; }

# The library's own settings: which of its collectives. Without mpi_yield_when_idle a barrier of 8 ranks on 2 cores takes milliseconds.
own() {
    timeout 100 "$mpirun" --allow-run-as-root --oversubscribe --bind-to none --mca pml ob1 --mca btl vader,self \
        "$@" -n "$ranks" "$folder/program" "$samples" $which
}
run() {
    case $1 in
    weft) timeout 100 "$weft" mpirun --collectives all --allow-run-as-root -n "$ranks" "$folder/program" "$samples" $which ;;
    weft-without) timeout 100 "$weft" mpirun --allow-run-as-root -n "$ranks" "$folder/program" "$samples" $which ;;
    tuned) own --mca mpi_yield_when_idle 1 ;;
    sm) own --mca mpi_yield_when_idle 1 --mca coll_sm_priority 100 ;;
    adapt) own --mca mpi_yield_when_idle 1 --mca coll_adapt_priority 100 ;;
    esac
}
all="weft weft-without tuned sm adapt"
for turn in $(seq "$turns"); do
    for setting in $all; do
        run "$setting" 2>"$folder/errors" | sed "s/^/$setting /" >>"$folder/figures" || { echo "$setting fails:" >&2; cat "$folder/errors" >&2; }
    done
done
echo "$ranks ranks, $(nproc) cores, microseconds: median of $turns turns, each the median of $samples samples"
awk -v names="$all" '
    { key = $2 " " $3; if (!(key in seen)) { seen[key] = 1; order[++keys] = key }; at = $1 " " key; values[at, ++counts[at]] = $4 }
    function median(at,    n, i, j, t) {
        n = counts[at]
        for (i = 2; i <= n; i++) for (j = i; j > 1 && values[at, j] < values[at, j - 1]; j--) {
            t = values[at, j]; values[at, j] = values[at, j - 1]; values[at, j - 1] = t
        }
        return n ? values[at, int((n + 1) / 2)] : 0
    }
    END {
        count = split(names, name, " ")
        printf "%-18s", ""; for (i = 1; i <= count; i++) printf "%16s", name[i]; print "   best own / weft   weft / without"
        for (k = 1; k <= keys; k++) {
            printf "%-18s", order[k]; best = 0
            for (i = 1; i <= count; i++) {
                value = median(name[i] " " order[k]); printf "%16.1f", value / 1000
                if (i > 2 && value && (!best || value < best)) best = value
                if (i == 1) weft = value
                if (i == 2) without = value
            }
            printf "   %15.2f%17.2f\n", weft ? best / weft : 0, without ? weft / without : 0
        }
    }' "$folder/figures"
