#!/bin/sh
# The C examples of docs/embedding.md, as written there, compile without warnings and track: the first with the core's
# sources; the second, examples/session.c, with the library. The same for examples/classify.c, which classifies.
# usage: check_example.sh SOURCE_DIR CC BUILD_DIR
set -eu
source=$1 cc=$2 build=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -v work="$work" '/^```/ { inside = $0 == "```c"; n += inside; next } inside { print > (work "/example" n ".c") }' "$source/docs/embedding.md"
[ "$(wc -l <"$work/example1.c")" -ge 15 ] || { echo "no C example in docs/embedding.md" >&2; exit 1; }
cmp "$work/example2.c" "$source/examples/session.c"
flags="-std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -fno-math-errno -ffp-contract=off -I$source/include"
"$cc" $flags "$work/example1.c" "$source/src/core/rejfilt32.c" "$source/src/core/status.c" -o "$work/example"
"$work/example" | tee "$work/out"
# the last line is: estimate +- sd, truth
awk 'END { if (NF < 3 || ($1 - $NF) ^ 2 > (5 * $3) ^ 2) { print "the example lost the truth"; exit 1 } }' "$work/out"

"$cc" $flags ${CFLAGS-} "$source/examples/session.c" "$build/librejfilt.a" -pthread -ldl -lm -o "$work/session"
"$work/session" | tee "$work/out"
# name: estimate in low .. high, truth
awk '/truth/ { n++; width = $6 - $4; if ($8 < $4 - width || $8 > $6 + width) lost = 1 }
     END { if (n != 2 || lost) { print "the session lost the truth"; exit 1 } }' "$work/out"

"$cc" $flags ${CFLAGS-} "$source/examples/classify.c" "$build/librejfilt.a" -pthread -ldl -lm -o "$work/classify"
"$work/classify" | tee "$work/out"
# class, truth class: queries of features features asked
awk '{ sub(",", "", $1); sub(":", "", $3); if (NF != 8 || $1 != $3 || $4 < 1 || 2 * $4 > $6) { print "not classified by few questions"; exit 1 } n++ }
     END { exit n != 1 }' "$work/out"
