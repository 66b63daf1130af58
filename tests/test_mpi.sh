#!/bin/sh
# The mpi engine gives the same bits on 2 to 4 ranks, in float or in double, in a third of the cases; and the command on two ranks:
# test_mpi.sh BUILD_DIR SOURCE_DIR.
# test_engines runs all cases on one rank.
# Exits 77 (skipped) without MPI. RANKS="1 2 3 4" runs both precisions on all of them.
set -u
build=${1:?usage: test_mpi.sh BUILD_DIR SOURCE_DIR} source=${2:?}
command -v mpirun >/dev/null || { echo "skipped: no mpirun; tools/need test installs it"; exit 77; }
[ -f "$build/rejfilt_mpi.so" ] || { echo "skipped: no $build/rejfilt_mpi.so; install libopenmpi-dev and build again"; exit 77; }
export REJFILT_MODULES="$build"
log=$(mktemp)
folder=$(mktemp -d)
trap 'rm -rf "$log" "$folder"' EXIT
for bits in 32 64; do
    for ranks in ${RANKS:-$([ $bits = 32 ] && echo 3 || echo 2 4)}; do
        if ! timeout 300 mpirun --allow-run-as-root --oversubscribe -np "$ranks" "$build/tests/test_engines$bits" mpi 3 >"$log" 2>&1; then
            cat "$log"
            echo "failed: test_engines$bits on $ranks ranks"
            exit 1
        fi
        passed=$(grep -c 'PASSED.*7 test' "$log")
        if [ "$passed" != "$ranks" ]; then
            cat "$log"
            echo "failed: test_engines$bits: $passed of $ranks ranks ran all tests"
            exit 1
        fi
        echo "test_engines$bits on $ranks ranks: same bits"
    done
done

# The command on two ranks prints the same as without MPI; it finds the module in its own folder.
mpi="timeout 300 mpirun --allow-run-as-root --oversubscribe"
unset REJFILT_MODULES
printf 't,x_,outcome\n1,0.5,1\n2,0.6,0\n3,0.7,1\n' >"$folder/records.csv"
said() { # FILE COMMAND...: writes the output, without the parts that are not results, to FILE
    to=$1
    shift
    rm -f "$folder/state"
    "$@" >"$folder/raw" 2>>"$log" </dev/null && sed -E 's/"(engine|ns_per_attempt)": [^,}]*//g' "$folder/raw" >"$to" && [ -s "$to" ]
}
while read -r arguments; do
    # shellcheck disable=SC2086 # they are words
    if ! said "$folder/serial" "$build/rejfilt" track --json $arguments --engine serial ||
        ! said "$folder/mpi" $mpi -np 2 "$build/rejfilt" track --json $arguments --engine mpi:serial ||
        ! cmp -s "$folder/serial" "$folder/mpi"; then
        cat "$log"
        diff "$folder/serial" "$folder/mpi"
        echo "failed: track $arguments on two ranks"
        exit 1
    fi
done <<END
--attempts 20000 --simulate --steps 20
--attempts 20000 --simulate --trials 6 --steps 120
--attempts 20000 --data $folder/records.csv
--attempts 20000 --data $folder/records.csv --state $folder/state
--data $folder/records.csv --drift 0 --passes
END
echo "the command on two ranks: same lines"

# refused NAME PATTERN COMMAND...: the command must fail with a message that matches
refused() {
    name=$1 pattern=$2
    shift 2
    if "$@" >"$log" 2>&1 </dev/null || ! grep -q -- "$pattern" "$log"; then
        cat "$log"
        echo "failed: $name was not refused"
        exit 1
    fi
    echo "refused: $name"
}
: >"$folder/rejfilt_mpi.so"
track="$build/rejfilt track --simulate --steps 2 --attempts 20000 --json --engine mpi"
# shellcheck disable=SC2086
refused "no module" "not built in" "$build/tests/test_engines32" mpi
refused "a broken module" "cannot be loaded" env REJFILT_MODULES="$folder" $track
echo 'const unsigned rejfilt_mpi = 1;' | ${CC:-cc} -x c -shared -fPIC - -o "$folder/rejfilt_mpi.so"
refused "a module of another version" "has ABI 1, but" env REJFILT_MODULES="$folder" $track
refused "ranks with other tasks" "disagree" $mpi -np 1 $track --seed 1 : -np 1 $track --seed 2

# Ranks that were started differently; the message says in what.
model() { # NAME FACTOR: a coin of FACTOR * x
    cat >"$folder/$1.c" <<END
#include "rejfilt/model.h"
static const rf_description description = {.name = "mine", .dim = 1, .settings = 0, .outcomes = 2, .parameter = {{"w", RF_BOUNDED, 0, 1, 0}}};
static rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    (void)setting;
    return outcome > 0 ? RF_C($2) * x[0] : 1 - RF_C($2) * x[0];
}
END
}
model one 1.0
model two 0.5
printf 'outcome\n1\n0\n1\n' >"$folder/flips.csv"
flips="$build/rejfilt track --data $folder/flips.csv --engine mpi:serial --drift 0 --model $folder"
while IFS='|' read -r what first second; do
    # shellcheck disable=SC2086 # they are words
    refused "ranks of other $what" "$what" $mpi -np 1 $flips/$first : -np 1 $flips/$second
done <<END
sources of the model|one.c --belief gaussian --attempts 20000|two.c --belief gaussian --attempts 20000
options|one.c --belief gaussian --attempts 20000|one.c --belief gaussian --attempts 20000 --sampler reject
options|one.c --belief gaussian --attempts 20000|one.c --belief gaussian --attempts 1000
seeds|one.c --belief gaussian --attempts 20000|one.c --belief gaussian --attempts 20000 --seed 5
precisions|one.c --belief gaussian --attempts 20000|one.c --belief gaussian --attempts 20000 --precision float
beliefs|one.c --belief gaussian --attempts 20000|one.c --belief gaussian --attempts 20000 --prior w=.1:.5
what it is to do|one.c --belief gaussian --attempts 20000|one.c --passes
--belief|one.c --belief gaussian --attempts 20000|one.c --belief mixture
models, options|one.c --passes|two.c --passes
models, options|one.c --passes|one.c --passes --seed 5
END

# One source that computes something else where the surroundings differ: the bits of its likelihoods say so.
{ echo '#include <stdlib.h>'; sed 's|x\[0\]|(getenv("HALF") ? x[0] / 2 : x[0])|g' "$folder/one.c"; } >"$folder/surroundings.c"
same="$flips/surroundings.c --belief gaussian --attempts 20000"
# shellcheck disable=SC2086
refused "ranks of other likelihoods" "different on them: likelihoods" $mpi -np 1 env HALF=1 $same : -np 1 $same

# More bytes than MPI counts, with a module that sends at most 1000 at once and an MPI that refuses more.
if command -v mpicc >/dev/null; then
    mkdir "$folder/few"
    printf '#include <mpi.h>\nint MPI_Bcast(void *b, int n, MPI_Datatype t, int r, MPI_Comm c) { return n > 1000 || n <= 0 ? MPI_ERR_COUNT : PMPI_Bcast(b, n, t, r, c); }\n' >"$folder/shim.c"
    mpicc -shared -fPIC "$folder/shim.c" -o "$folder/shim.so" && mpicc -shared -fPIC -DRF_MPI_MOST=1000 "$source/src/engines/mpi/module.c" -o "$folder/few/rejfilt_mpi.so" || exit 1
    for bytes in 0 1 999 1000 1001 100001 ${HUGE:-}; do
        if ! REJFILT_MODULES="$folder/few" $mpi -x LD_PRELOAD="$folder/shim.so" -np 3 "$build/tests/mpi_share" "$bytes" >"$log" 2>&1; then
            cat "$log"
            echo "failed: $bytes bytes are not shared"
            exit 1
        fi
    done
    echo "bytes in messages: shared"
fi
