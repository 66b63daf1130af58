#!/bin/sh
# Builds the firmwares, runs them in simavr next to the same code on this machine, and checks them against budget.txt.
#  Exit status 77 when the tools are missing.   usage: run.sh BUILD_DIR [CC [TRIALS]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$1/ports-avr cc=${2:-cc} trials=${3:-10}
root=$here/../..
for tool in avr-gcc pkg-config; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool; make ports WHICH=avr installs it"; exit 77; }
done
pkg-config --exists simavr || { echo "skipped: no libsimavr; make ports WHICH=avr installs it"; exit 77; }
mkdir -p "$work"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Werror"

# Options for the smallest code: loops are not inverted, values that are cheap to recompute are not kept, and r16 and
# r17, which the main loop does not need, are free for the functions it calls.
small="-Os -fwhole-program -nostartfiles -fno-tree-loop-optimize -fno-move-loop-invariants -fno-ivopts -fno-gcse
       -fno-reorder-blocks -fcall-used-16 -fcall-used-17"

firmware() { # MCU FEATURES...
    mcu=$1
    shift
    avr-gcc -mmcu="$mcu" -std=gnu11 $small $warnings "$@" -I"$root/src/fixed" "$here/firmware.c" -o "$work/$mcu.elf"
    "$cc" -std=c11 -O2 $warnings -ffp-contract=off "$@" -I"$root/src/fixed" -I"$root/include" -isystem /usr/include/simavr \
        "$here/runner.c" -o "$work/runner-$mcu" -lsimavr -lelf -lm
    "$work/runner-$mcu" "$mcu" "$work/$mcu.elf" "$here/budget.txt" "$trials"
}

firmware attiny13 -DRFI_WITH_PGH=0 -DRFI_WITH_EVIDENCE=0 -DRFI_WITH_HOME=0
firmware attiny25 -DRFI_WITH_PGH=0 -DRFI_WITH_EVIDENCE=0
firmware attiny85 -DRFI_SMALL=0

# The Arduino sketch, compiled as C++ like in its IDE, and the filter in C.
avr-gcc -mmcu=atmega328p -std=gnu11 -Os $warnings -c "$root/src/fixed/fixed.c" -o "$work/fixed.o"
avr-g++ -mmcu=atmega328p -std=gnu++11 -Os $warnings -I"$root/src/fixed" -x c++ "$here/arduino/tracker/tracker.ino" "$here/arduino/main.c" \
    -x none "$work/fixed.o" -o "$work/arduino.elf"
avr-size "$work/arduino.elf" | awk 'NR == 2 {print "arduino: " $1 + $2 " bytes of flash, " $2 + $3 " of static memory"}'
