#!/bin/sh
# The mpi engine gives the same bits on 2 to 4 ranks, in float or in double, in a third of the cases; and the command on two ranks:
# test_mpi.sh BUILD_DIR.
# test_engines runs all cases on one rank.
# Exits 77 (skipped) without MPI. RANKS="1 2 3 4" runs both precisions on all of them.
set -u
build=${1:?usage: test_mpi.sh BUILD_DIR}
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
    if ! said "$folder/serial" "$build/rejfilt" track --json --attempts 20000 $arguments --engine serial ||
        ! said "$folder/mpi" $mpi -np 2 "$build/rejfilt" track --json --attempts 20000 $arguments --engine mpi:serial ||
        ! cmp -s "$folder/serial" "$folder/mpi"; then
        cat "$log"
        diff "$folder/serial" "$folder/mpi"
        echo "failed: track $arguments on two ranks"
        exit 1
    fi
done <<END
--simulate --steps 20
--simulate --trials 6 --steps 120
--data $folder/records.csv
--data $folder/records.csv --state $folder/state
--data $folder/records.csv --drift 0 --passes
END
echo "the command on two ranks: same lines"

# refused NAME PATTERN COMMAND...: the command must fail with a message that matches
refused() {
    name=$1 pattern=$2
    shift 2
    if "$@" >"$log" 2>&1 </dev/null || ! grep -q "$pattern" "$log"; then
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
