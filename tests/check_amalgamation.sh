#!/bin/sh
# The pairs written by `make amalgamation` stand alone: they compile freestanding without warnings, give the bits of the
# sources they come from and leave out what a firmware disables; and docs/porting.md shows the firmwares unchanged.
# usage: check_amalgamation.sh SOURCE_DIR CC CXX
set -eu
source=$1 cc=$2 cxx=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/dist" "$work/tree"
python3 "$source/tools/amalgamate.py" "$work/dist" >/dev/null

strict="-Wall -Wextra -Wpedantic -Wconversion -Werror -ffp-contract=off -fno-math-errno"
for compiler in "$cc" $([ "$(realpath "$(command -v "$cc")")" = "$(realpath "$(command -v gcc)")" ] || echo gcc) clang "arm-none-eabi-gcc -mthumb -mcpu=cortex-m4" "arm-none-eabi-gcc -mthumb -mcpu=cortex-m0"; do
    command -v "${compiler%% *}" >/dev/null || continue
    for pair in rejfilt rejfilt_gaussians rejfilt_fixed; do
        for less in "" "-DRF_DIM_MAX=1 -DRF_NO_LATTICE -DRF_GAUSSIANS_MAX=1"; do
            $compiler -std=c11 -Os -ffreestanding $strict $less -c "$work/dist/$pair.c" -o "$work/$pair.o"
        done
    done
done
for pair in rejfilt rejfilt_gaussians rejfilt_fixed; do
    echo "#include \"$pair.h\"" >"$work/header.cpp"
    "$cxx" -std=c++17 $strict -I"$work/dist" -fsyntax-only "$work/header.cpp"
done

# same bits: a header with the pair's name that includes the sources instead
echo '#include "rejfilt/rejfilt.h"' >"$work/tree/rejfilt.h"
echo '#include "rejfilt/gaussians.h"' >"$work/tree/rejfilt_gaussians.h"
echo '#include "fixed.h"' >"$work/tree/rejfilt_fixed.h"
run() { # NAME HEADERS SOURCE...: prints the settings that the firmware asks for
    name=$1 headers=$2
    shift 2
    "$cc" -std=c11 -O2 $strict $headers -I"$source/ports" "$source/ports/$name/main.c" "$source/ports/$name/world.c" "$source/ports/run.c" \
        "$@" -o "$work/$name"
    "$work/$name"
}
run float "-I$work/dist" "$work/dist/rejfilt.c" >"$work/float.dist"
run float "-I$work/tree -I$source/include" "$source/src/core/rejfilt32.c" "$source/src/core/status.c" >"$work/float.tree"
run fixed "-I$work/dist" "$work/dist/rejfilt_fixed.c" >"$work/fixed.dist"
run fixed "-I$work/tree -I$source/src/fixed" "$source/src/fixed/fixed.c" >"$work/fixed.tree"
for name in t1 gaussians; do
    less=
    [ $name = gaussians ] || less=-DRF_GAUSSIANS_MAX=1
    run $name "-I$work/dist $less" "$work/dist/rejfilt_gaussians.c" >"$work/$name.dist"
    run $name "-I$work/tree -I$source/include $less" "$source/src/chip/gaussians.c" >"$work/$name.tree"
done
for name in float fixed t1 gaussians; do
    [ "$(wc -l <"$work/$name.dist")" -eq 301 ] || { echo "$name stopped early" >&2; exit 1; }
    cmp "$work/$name.dist" "$work/$name.tree"
done

# a core for one parameter without the lattice refuses both, and the table is gone
cat >"$work/less.c" <<'END'
#include "rejfilt.h"
static float even(const float x[], const float setting[], float outcome)
{
    (void)x, (void)setting, (void)outcome;
    return 0.5f;
}
int main(void)
{
    static RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(2)];
    const rf32_model model = {.likelihood = even, .dim = 1};
    rf32_options options = RF32_OPTIONS_DEFAULT;
    rf32_filter *filter;
    float outcome = 1;
    if (rf32_filter_init(&filter, memory, sizeof memory, 2, 1) != RF_REFUSED_DIMENSION || rf32_filter_init(&filter, memory, sizeof memory, 1, 1) != RF_OK)
        return 1;
    if ((rf32_update(filter, &model, &outcome, 1, &options, 0, 0) & ~RF_NOTE_FEW) != RF_OK)
        return 2;
    options.sampler = RF_LATTICE;
    return rf32_update(filter, &model, &outcome, 1, &options, 0, 0) == RF_REFUSED_OPTIONS ? 0 : 3;
}
END
"$cc" -std=c11 -O2 $strict -DRF_DIM_MAX=1 -DRF_NO_LATTICE -I"$work/dist" "$work/less.c" "$work/dist/rejfilt.c" -o "$work/less"
"$work/less"
if nm "$work/less" | grep rf_lattice; then
    echo "the lattice is there although it was left out" >&2
    exit 1
fi

# the C programs of docs/porting.md, in their order
cat "$source/ports/float/main.c" "$source/ports/beacon/main.c" "$source/ports/gaussians/main.c" "$source/ports/t1/main.c" "$source/ports/fixed/main.c" >"$work/mains"
sed -n '/^```c$/,/^```$/p' "$source/docs/porting.md" | grep -v '^```' | diff - "$work/mains" || { echo "docs/porting.md shows other programs than ports/*/main.c" >&2; exit 1; }
echo "amalgamation: compiles alone, same bits"
