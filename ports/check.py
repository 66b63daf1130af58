#!/usr/bin/env python3
"""Builds the firmwares for simulated boards, runs them, and holds what they need against the budget of each port.

usage: ports/check.py PORT...        PORT is a folder here with a budget.txt: cortex-m, riscv
Exit 0: all within budget, and the same bits as on the host. 1: not so. 2: no such port. 77: a toolchain is missing."""
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from machine_code import MachineCode

EXPERIMENTS = 300  # per run, as in run.h
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
COLUMNS = ["flash", "ram", "stack", "update", "bound", "instructions"]  # columns of a budget and of the table
HARNESS = ["world", "run", "start", "board"]  # objects that are not part of a user's firmware
FLAGS = "-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror -ffp-contract=off -fno-math-errno"

ARM = "qemu-system-arm -nographic -monitor none -serial none -chardev stdio,id=c -semihosting-config enable=on,target=native,chardev=c -M "
RISCV = "qemu-system-riscv32 -nographic -monitor none -serial stdio -bios none -M virt"
CHIPS = {  # port, compiler, its flags, simulator
    "cortex-m0": ("cortex-m", "arm-none-eabi-", "-mthumb -mcpu=cortex-m0", ARM + "microbit"),
    "cortex-m3": ("cortex-m", "arm-none-eabi-", "-mthumb -mcpu=cortex-m3", ARM + "mps2-an385"),
    "cortex-m4f": ("cortex-m", "arm-none-eabi-", "-mthumb -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16", ARM + "mps2-an386"),
    "rv32imac": ("riscv", "riscv64-unknown-elf-", "-march=rv32imac -mabi=ilp32", RISCV),
    "rv32imafc": ("riscv", "riscv64-unknown-elf-", "-march=rv32imafc -mabi=ilp32f", RISCV),
}


def as_float(word):
    return struct.unpack("<f", struct.pack("<I", word))[0]


def as_int32(word):
    return (word + 2**31) % 2**32 - 2**31


def is_near_fringe(radians):
    """Is an angle between reference and truth plausible? At most a quarter turn from the top, plus 4 standard deviations of 0.95
    radians."""
    return abs(radians) < math.pi / 2 + 4 * 0.95


FIRMWARES = {
    # flags; source; functions at which counting of instructions begins and ends; targets of calls through pointers, by the caller's
    # name; check that an experiment's three numbers (run_asked) are near the truth; functions that are never called, by case
    "float": {
        "flags": "-DRF_DIM_MAX=1 -DRF_NO_LATTICE",
        "source": "rejfilt.c",
        "update": ("rf32_update", "rf32_diffuse"),
        "indirect": {"rf32_serial_run_judge": ["likelihood"], "rf32_serial_run_look_closer": ["likelihood"], "rf32_records_check": [],
                     "rf32_report_fill": [], "rf32_update": ["rf32_serial_run"], "rf32_lower_kappa": ["rf32_serial_run"],
                     "rf32_prior_independent": ["rf32_chart_box"]},
        "near": lambda time, reference, truth: is_near_fringe(as_float(time) * (as_float(truth) - as_float(reference))),
        "never": {"a report": ["rf32_report_fill"], "likelihoods above the bound": ["rf32_serial_run_look_closer"],
                  "several records": ["rf32_lower_kappa"], "a wide periodic parameter": ["rf32_update_wrapped", "rf32_serial_run_wrap"]},
    },
    "beacon": {
        "flags": "-DRF_DIM_MAX=2",
        "source": "rejfilt.c",
        "update": ("rf32_update", "measure"),
        "indirect": {"rf32_serial_run_judge": ["likelihood"], "rf32_serial_run_look_closer": ["likelihood"], "rf32_records_check": [],
                     "rf32_report_fill": [], "rf32_update": ["rf32_serial_checked"], "rf32_lower_kappa": ["rf32_serial_checked"],
                     "rf32_prior_independent": [], "rf32_gather_white": ["rf32_serial_checked"]},
        "near": lambda east, north, sd: math.hypot(as_float(east) - 4, as_float(north) + 7) < 5 * as_float(sd) < 5,
        "never": {},
    },
    "fixed": {
        "flags": "-DRFI_WITH_PGH=0 -DRFI_WITH_EVIDENCE=0",
        "source": "rejfilt_fixed.c",
        "update": ("rfi_learn", "rfi_diffuse"),
        "indirect": {},
        "near": lambda time, reference, truth: is_near_fringe(time * as_int32(truth - reference) * 2 * math.pi / 2**26),
        "never": {},
    },
    "t1": {
        "flags": "-DRF_GAUSSIANS_MAX=1",
        "source": "rejfilt_gaussians.c",
        "update": ("rf32_gaussians_update", "measure"),  # includes the choice of the next wait
        "indirect": {"evaluate": ["likelihood"]},
        # within four standard deviations of 0.16, where steps of 0.02 balance the information of an outcome, 0.63
        "near": lambda wait, _, truth: abs(math.log(as_float(wait) / 1.25) - as_float(truth)) < 4 * 0.16,
        "never": {},
    },
    "gaussians": {
        "flags": "",
        "source": "rejfilt_gaussians.c",
        "update": ("rf32_gaussians_update", "rf32_gaussians_quantile"),
        "indirect": {"evaluate": ["likelihood"]},
        # within three times its 95 % interval, which must be narrow at the end
        "near": lambda low, high, loss: abs(as_float(low) + as_float(high) - 2 * 2.1) < 3 * (as_float(high) - as_float(low)) < 0.1,
        "never": {},
    },
}


def run(command):
    try:
        done = subprocess.run(command.split(), cwd=ROOT, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        raise SystemExit(f"ports: did not end within two minutes: {command}") from None
    if done.returncode != 0:
        raise SystemExit(f"ports: failed with {done.returncode}: {command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def read_map(path):
    """The contents of a linker map, as (section, bytes, object or archive member)."""
    text = open(path).read().split("Linker script and memory map", 1)[1]
    kept = re.findall(r"^ (\.\S+|COMMON)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S+)$", text, re.M)
    return [(section, int(size, 16), os.path.basename(file)) for section, size, file in kept if int(size, 16) > 0]


def measure(name, chip, work, settings):
    """Builds and runs one firmware on one chip. Returns a row of the table, without its name."""
    port, prefix, target, board = CHIPS[chip]
    firmware = FIRMWARES[name]
    at = os.path.join(work, f"{name}-{chip}")
    objects = []
    for source in [f"{work}/{firmware['source']}", f"ports/{name}/main.c", f"ports/{name}/world.c", "ports/run.c", "ports/start.c", f"ports/{port}/board.c"]:
        objects.append(f"{at}-{os.path.basename(source)[:-2]}.o")
        run(f"{prefix}gcc {FLAGS} {target} {firmware['flags']} -Os -ffreestanding -ffunction-sections -fdata-sections -I{work} -Iports -c {source} -o {objects[-1]}")
    run(f"{prefix}gcc {target} -nostdlib -Wl,--gc-sections -Wl,-Map={at}.map -Lports -T ports/{port}/link.ld {' '.join(objects)} -lgcc -o {at}.elf")

    code = MachineCode(run(f"{prefix}objdump -d {at}.elf"), firmware["indirect"])
    never = {"the world": ["measure", "show"], **firmware["never"]}
    update, after = map(code.symbol, firmware["update"])
    begin, end = code.address[update], code.address[after]
    output = run(f"{board} -kernel {at}.elf -plugin {work}/count.so,begin={begin:x},end={end:x},out={at}.count").splitlines()
    times, mean, most = map(int, open(f"{at}.count").read().split())
    if times != EXPERIMENTS or not output[-1].endswith("stack"):
        raise SystemExit(f"ports: {name} on {chip} stopped after {times} updates of {EXPERIMENTS}")

    kept = read_map(f"{at}.map")
    users = [(section, size) for section, size, file in kept if not re.search(rf"-({'|'.join(HARNESS)})\.o$", file)]
    stack = int(output[-1].split()[0], 16)
    mains = sum(code.frame[function] for function in ["reset", "start", "main"])  # stack of the callers of main's functions
    return {
        "flash": sum(size for section, size in users if re.match(r"\.text|\.s?rodata|\.s?data", section)),
        "ram": sum(size for section, size in users if re.match(r"\.s?bss|\.s?data|COMMON", section)),
        "stack": stack,
        "update": stack - mains,
        "bound": code.depth("main", sum(never.values(), [])) - code.frame["main"],
        "cases": {case: code.depth(update, sum((names for other, names in never.items() if other != case), [])) for case in firmware["never"]},
        "instructions": mean,
        "most": most,
        "same": output[:-1] == settings,
        "library": {re.sub(r".*\((.*)\.o\)", r"\1", file) for _, _, file in kept if file.startswith("libgcc.a(")},
    }


def read_budget(port):
    """Rows of (firmware, chip, limits), and the library members that a firmware may link: {(firmware, chip): names}."""
    rows, libraries = [], {}
    for line in open(os.path.join(HERE, port, "budget.txt")):
        words = line.split("#")[0].split()
        if words[:1] == ["library"]:
            libraries[words[1], words[2]] = set(words[3:])
        elif words:
            rows.append((words[0], words[1], dict(zip(COLUMNS, map(int, words[2:]), strict=True))))
    return rows, libraries


def complaints(row, limits, library):
    found = [f"{column} {row[column]} is above its budget of {limits[column]}" for column in COLUMNS if row[column] > limits[column]]
    if row["update"] > row["bound"]:
        found.append(f"the update's stack of {row['update']} is above its bound of {row['bound']}: the call graph lacks something")
    if not row["same"]:
        found.append("its experiments are not the host's")
    if library is not None and row["library"] - library:
        found.append(f"links {' '.join(sorted(row['library'] - library))} of the compiler's library")
    return found


def host_settings(name, work):
    firmware, program = FIRMWARES[name], os.path.join(work, name)
    sources = f"{work}/{firmware['source']} ports/{name}/main.c ports/{name}/world.c ports/run.c"
    run(f"{os.environ.get('CC', 'cc')} {FLAGS} {firmware['flags']} -O2 -I{work} -Iports {sources} -o {program}")
    settings = run(program).splitlines()[:-1]
    late = [firmware["near"](*(int(word, 16) for word in line.split())) for line in settings[100:]]
    if sum(late) < 0.95 * len(late):
        raise SystemExit(f"ports: {name} does not track")
    return settings


def main():
    ports = sys.argv[1:]
    unknown = [port for port in ports if port not in {chip[0] for chip in CHIPS.values()}]
    if unknown or not ports:
        print(f"ports: no port is called {unknown[0]}" if unknown else __doc__, file=sys.stderr)
        return 2
    wanted = {tool for chip in CHIPS.values() if chip[0] in ports for tool in (chip[1] + "gcc", chip[3].split()[0])}
    missing = sorted(tool for tool in wanted if not shutil.which(tool))
    if missing:
        print(f"skipped: no {', no '.join(missing)}; make ports installs them")
        return 77
    failed, settings, cases = [], {}, []
    print(f"{'firmware':10}{'chip':12}{'flash':>7}{'ram':>5}{'stack':>7}{'update':>8}{'bound':>7}{'instructions':>14}{'at most':>9}  bits as on the host")
    with tempfile.TemporaryDirectory() as work:
        run(f"{sys.executable} tools/amalgamate.py {work}")
        run(f"cc -O2 {FLAGS} -shared -fPIC ports/count.c -o {work}/count.so")
        for port in ports:
            rows, libraries = read_budget(port)
            for name, chip, limits in rows:
                settings[name] = settings.get(name) or host_settings(name, work)
                row = measure(name, chip, work, settings[name])
                print(f"{name:10}{chip:12}{row['flash']:7}{row['ram']:5}{row['stack']:7}{row['update']:8}{row['bound']:7}{row['instructions']:14}"
                      f"{row['most']:9}  {'yes' if row['same'] else 'NO'}", flush=True)
                if row["cases"]:
                    cases.append(f"  {chip}: " + ", ".join(f"{case} {depth}" for case, depth in row["cases"].items()))
                failed += [f"ports/{port}: {name} on {chip}: {text}" for text in complaints(row, limits, libraries.get((name, chip)))]
    if cases:
        print("\nbounds of a float update with", *cases, sep="\n")
    for text in failed:
        print(text, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
