#!/bin/sh
# Every public header compiles on its own as C11 and as C++17, with every warning an error, and leaves no helper macro
# defined. The double half of rejfilt.h matches the float half.
# usage: check_headers.sh SOURCE_DIR CC CXX
set -eu
source=$1 cc=$2 cxx=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$source/tools/make_double.py" --check
for header in philox functions rejfilt gaussians description host belief health session passes classify; do
    printf '#include "rejfilt/%s.h"\n#if defined(RF) || defined(rf_real) || defined(RF_BITS)\n#error "a helper macro leaks"\n#endif\nint main(void) { return 0; }\n' "$header" >"$work/$header.c"
    cp "$work/$header.c" "$work/$header.cpp"
    flags="-Wall -Wextra -Wpedantic -Wconversion -Werror -fno-math-errno -I$source/include"
    "$cc" -std=c11 $flags "$work/$header.c" -o "$work/out"
    "$cxx" -std=c++17 $flags "$work/$header.cpp" -o "$work/out"
done
for bits in 32 64; do
    printf '#define RF_PRECISION %s\n#include "rejfilt/model.h"\nint main(void) { return (int)rf_floor(RF_C(0.5)); }\n' $bits >"$work/model.c"
    "$cc" -std=c11 -Wall -Wextra -Werror -I"$source/include" "$work/model.c" -o "$work/out"
done
echo "headers: C11 and C++17"
