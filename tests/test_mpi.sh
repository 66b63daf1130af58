#!/bin/sh
# The mpi engine's bits on 1 to 4 ranks: test_mpi.sh BUILD_DIR. Exits 77 (skipped) without MPI.
set -u
build=${1:?usage: test_mpi.sh BUILD_DIR}
command -v mpirun >/dev/null || { echo "no mpirun: skipped"; exit 77; }
[ -f "$build/rejfilt_mpi.so" ] || { echo "no $build/rejfilt_mpi.so: skipped"; exit 77; }
export REJFILT_MODULES="$build"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for bits in 32 64; do
    for ranks in 1 2 3 4; do
        if ! timeout 300 mpirun --allow-run-as-root --oversubscribe -np "$ranks" "$build/tests/test_engines$bits" mpi >"$log" 2>&1; then
            cat "$log"
            echo "failed: test_engines$bits on $ranks ranks"
            exit 1
        fi
        passed=$(grep -c 'PASSED.*5 test' "$log")
        if [ "$passed" != "$ranks" ]; then
            cat "$log"
            echo "failed: test_engines$bits: $passed of $ranks ranks ran all tests"
            exit 1
        fi
        echo "test_engines$bits on $ranks ranks: same bits"
    done
done
