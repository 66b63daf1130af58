#!/bin/sh
# Drives an experiment from the shell: rejfilt chooses each measurement, this script makes it.
#
#     sh examples/ask.sh [path/to/rejfilt [OPTION...]]
#
# Options go to `rejfilt track`. The qubit here is simulated: replace measure() by your instrument. Questions come
# through a pipe, answers go back through a named one. The protocol is in docs/tracking.md.
set -eu
rejfilt=${1:-build/rejfilt}
[ $# -eq 0 ] || shift
truth=0.7123
last=39 # number of the last measurement, from 0

# measure NUMBER T REFERENCE: 1 with probability cos^2((truth - reference) t / 2)
measure() {
    awk -v n="$1" -v t="$2" -v r="$3" -v x="$truth" 'BEGIN {
        srand(7919 * (n + 1)); for (i = 0; i < 20; i++) u = rand()
        print (u < cos((x - r) * t / 2) ^ 2) ? 1 : 0 }'
}

# value KEY LINE: the number after "KEY": in a line of JSON
value() { printf '%s\n' "$2" | sed 's/.*"'"$1"'": \([^,}]*\).*/\1/'; }

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
mkfifo "$folder/answers"

"$rejfilt" track --ask --drift 0 "$@" <"$folder/answers" | while read -r line; do
    case $line in
    '{"ask"'*) measure "$(value ask "$line")" "$(value t "$line")" "$(value x_ "$line")" ;;
    '{"step": '$last,*)
        echo "x = $(value mean "$line") +- $(value sd "$line"), truth $truth" >&2
        exec >&-       # no more answers: the run ends ...
        cat >/dev/null # ... after one more question
        ;;
    esac
done >"$folder/answers"
