#!/usr/bin/env python3
"""The library on other platforms: builds without a warning by Debian's compiler for 64-bit ARM and with musl, and gives this machine's bits.

usage: tests/test_platforms.py BUILD PROGRAM32 PROGRAM64        platforms.c as this machine has it, in both precisions
Exit 0: the same lines everywhere. 1: not so. 77: a compiler or qemu is missing."""
import concurrent.futures
import difflib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLATFORMS = {  # compiler; processor, of which the last has no other targets than the baseline; what runs its programs
    "aarch64": ("aarch64-linux-gnu-gcc", "aarch64", ["qemu-aarch64"]),
    "musl": ("musl-gcc", "baseline", []),
}


def call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout[-6000:]}")
    return done.stdout


def lines_of(platform, build):
    """What platforms.c prints there, by precision."""
    compiler, processor, runner = PLATFORMS[platform]
    folder = os.path.join(build, "platforms", platform)
    call("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DRF_COMMAND=OFF", "-DRF_WERROR=ON", "-DCMAKE_SYSTEM_NAME=Linux",
         f"-DCMAKE_SYSTEM_PROCESSOR={processor}", f"-DCMAKE_C_COMPILER={compiler}")
    call("cmake", "--build", folder)
    printed = {}
    for bits in ("32", "64"):
        program = os.path.join(folder, "program" + bits)
        call(compiler, "-std=c11", "-O1", "-static", "-DRF_PRECISION=" + bits, "-I" + os.path.join(ROOT, "include"), "-I" + os.path.join(ROOT, "src", "classify"),
             os.path.join(ROOT, "tests", "platforms.c"), os.path.join(folder, "librejfilt.a"), "-lm", "-o", program)
        printed[bits] = call(*runner, program)
    return printed


def main():
    build, here = sys.argv[1], dict(zip(("32", "64"), sys.argv[2:]))
    missing = [tool for compiler, _, runner in PLATFORMS.values() for tool in ["cmake", "ninja", compiler, *runner] if not shutil.which(tool)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed; tools/need platforms installs them")
        return 77
    expected = {bits: call(program) for bits, program in here.items()}
    differences = 0
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for platform, printed in zip(PLATFORMS, pool.map(lambda name: lines_of(name, build), PLATFORMS)):
            for bits, lines in printed.items():
                difference = list(difflib.unified_diff(expected[bits].splitlines(), lines.splitlines(), "here", platform, n=0, lineterm=""))
                print(f"{platform}, {bits} bits: {len(lines.splitlines())} lines, {'the same' if not difference else 'different'}")
                print("\n".join(difference[:20]))
                differences += bool(difference)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
