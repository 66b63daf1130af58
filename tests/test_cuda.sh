#!/bin/bash
# The tests that need a CUDA device: tests/test_cuda.sh BUILD [PART...], of the parts bits, wrong, sanitizers and trials. Runs all of them, and
# fails if one did.
build=$1
shift
export REJFILT_MODULES=$build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# same bits for all models, samplers and sizes: six programs at once
bits() {
    local tests=()
    for bits in 32 64; do
        for test in engines fleet residents; do
            "$build/tests/test_$test$bits" cuda > "$work/$test$bits" 2>&1 &
            tests+=("$test$bits $!")
        done
    done
    for test in "${tests[@]}"; do
        set -- $test
        echo "== $1"
        wait "$2" || { cat "$work/$1"; exit 1; }
    done
}

# failures on the device: each prints one line, and the checkpoint stays unchanged
model() { # a coin model, with code that runs on a GPU before it answers
    cat << END > "$work/$1.c"
#include "rejfilt/model.h"
static const rf_description description = {.name = "$1", .summary = "a coin", .formula = "P(1) = p", .dim = 1, .outcomes = 2, .parameter = {{"p", RF_BOUNDED, 0, 1, 0}}};
RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    (void)setting;
#ifdef __CUDACC__
    $2
#endif
    return outcome != 0 ? x[0] : 1 - x[0];
}
END
}
goes_wrong() { # name of the model, the expected message
    echo "== $1"
    printf 'outcome\n1\n0\n1\n' > "$work/records.csv"
    set -- "$1" "$2" "$build/rejfilt" track --model "$work/$1.c" --attempts 100000 --state "$work/$1.state" "$work/records.csv"
    "${@:3}" --engine simd > /dev/null
    cp "$work/$1.state" "$work/before"
    printf '0\n1\n' >> "$work/records.csv"
    if "${@:3}" --engine cuda > "$work/said" 2>&1; then
        echo "$1: the command says that all is well" && exit 1
    fi
    tail -1 "$work/said"
    grep -q "$2" "$work/said"
    cmp "$work/before" "$work/$1.state"
    "${@:3}" --engine simd > /dev/null
}
wrong() {
    # an endless loop that the compiler cannot recognise; it would remove one that it recognises
    model endless 'rf_real y = x[0]; while (y >= 0) y *= RF_C(0.5); if (y == -1) return y;'
    REJFILT_CUDA_SECONDS=3 goes_wrong endless "has not answered for 3 s"
    model astray '*(volatile int *)8 = 1;'
    goes_wrong astray "illegal memory access"
    echo "== memory"
    ONLY=memory "$build/rejfilt-cuda" > "$work/said"
    sed -n 2,3p "$work/said"
    grep -q "out of memory" "$work/said"
    grep -q "residents 1000, .* 0 $" "$work/said"
    echo "== two processes"
    local run="$build/rejfilt track --simulate --steps 50 --attempts 200000 --json"
    $run --engine cuda > "$work/one" &
    local one=$!
    $run --engine cuda > "$work/two"
    wait $one
    $run --engine simd > "$work/host"
    cmp "$work/one" "$work/host"
    cmp "$work/two" "$work/host"
}

# attempts, fleets and trials under the three tools of compute-sanitizer, all at once
sanitizers() {
    if ! command -v compute-sanitizer > /dev/null; then
        echo "compute-sanitizer is not installed: left out"
        return
    fi
    local programs=()
    for tool in memcheck racecheck initcheck; do
        ONLY=few compute-sanitizer --tool $tool --error-exitcode 1 "$build/rejfilt-cuda" > "$work/$tool-attempts" 2>&1 &
        programs+=("$tool-attempts $!")
        compute-sanitizer --tool $tool --error-exitcode 1 "$build/rejfilt" track --simulate --trials 1000 --steps 6 --engine cuda > "$work/$tool-trials" 2>&1 &
        programs+=("$tool-trials $!")
    done
    for program in "${programs[@]}"; do
        set -- $program
        wait "$2" || { tail -20 "$work/$1"; exit 1; }
        echo "== compute-sanitizer $1: $(tail -1 "$work/$1")"
    done
}

# summaries of simulated trials: equal to the host's except for engine and time; also for an angle, two parameters, counts and readings
same() {
    echo "== trials $*"
    for engine in cuda simd; do
        "$build/rejfilt" track --simulate --json --engine $engine "$@" | sed 's/"engine": "[^"]*"//; s/"ns_per_attempt": [^,]*//' > "$work/$engine"
    done
    cmp "$work/cuda" "$work/simd"
}
trials() {
    local examples
    examples=$(dirname "$0")/../examples
    same --trials 10000 --steps 300
    same --trials 2000 --steps 400 --jump 1@150 --outage 0@250+30 --flips 0.01 --contrast 0.9 --true-drift 0.05
    same --trials 1000 --steps 200 --design pgh --on-lost ignore
    same --trials 1000 --steps 30 --design risk --batch 3
    same --trials 1000 --steps 100 --drift 0
    same --model phase --trials 1000 --steps 150
    same --model ramsey --trials 1000 --steps 120
    same --model "$examples/t1_counts.c" --trials 1000 --steps 10
    same --model "$examples/peak.c" --trials 1000 --steps 20
}

failed=()
for part in ${*:-bits wrong sanitizers trials}; do
    (
        set -e
        $part
    )
    [ $? = 0 ] || failed+=($part)
done
[ ${#failed[@]} = 0 ] || echo "failed: ${failed[*]}"
exit ${#failed[@]}
