#!/bin/sh
# The C example of docs/embedding.md, as written there, compiles without warnings and tracks.
# usage: check_example.sh SOURCE_DIR CC
set -eu
source=$1 cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/^```c$/,/^```$/p' "$source/docs/embedding.md" | grep -v '^```' >"$work/example.c"
[ "$(wc -l <"$work/example.c")" -ge 15 ] || { echo "no C example in docs/embedding.md" >&2; exit 1; }
"$cc" -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -fno-math-errno -ffp-contract=off -I"$source/include" \
    "$work/example.c" "$source/src/core/rejfilt32.c" "$source/src/core/status.c" -o "$work/example"
"$work/example" | tee "$work/out"
# the last line is: estimate +- sd, truth
awk 'END { if (NF < 3 || ($1 - $NF) ^ 2 > (5 * $3) ^ 2) { print "the example lost the truth"; exit 1 } }' "$work/out"
