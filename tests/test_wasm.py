#!/usr/bin/env python3
"""The playground's code: the same bits in wasm and on this machine, and the same world as the command's. Budgets of the
module.
usage: test_wasm.py BUILD SOURCE"""
import configparser
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import unittest

BUILD, SOURCE = sys.argv[1:3]
WASM = f"{BUILD}/ports/wasm/rejfilt.wasm"
NODE = shutil.which("node")
DRIFT = 0.026179938779914944
VIEW_WORDS = 18

# every call, every design, κ fixed and controlled, m below, at and above a block of attempts, without and with large drift, kicks,
# a fault
EVERYTHING = f"""
open 7
set 100 0 1 {DRIFT}
step 250
kick 1
step 150
draws 0 100
curve -1 3
set 1000 1 0.7 0.05
step 40
draws 3 1000
set 128 3 0 0.01
step 20
set 5000 2 0.4 0
step 40
draws 0 4096
set 100 4 1 0.01
step 60
fail 60
step 80
open 4294967295
set 10 0 1 1
step 30
learn
example 3 4
classify
example 8 2
classify
point 0 10 10 0
point 1 40 10 1
point 2 20 70 1
draw 3
classify
"""


def native(script):
    done = subprocess.run([f"{BUILD}/ports/wasm/playground_native"], input=script, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"playground_native: {done.returncode} {done.stderr}")
    return done.stdout


def as_floats(words):
    return struct.unpack(f"<{len(words)}f", struct.pack(f"<{len(words)}I", *(int(word, 16) for word in words)))


def views(text):
    """(truth, mean, sd) after each step."""
    lines = [line.split() for line in text.splitlines()]
    return [as_floats(line[1:4]) for line in lines if len(line) == VIEW_WORDS]


def run(script):
    """For each step: the view as numbers, health, number of widenings, and weight, mean and sd of each Gaussian."""
    lines = [line.split() for line in native(script).splitlines()]
    steps = []
    for view, memory, parts in zip(*[iter(lines)] * 3):
        numbers, count = as_floats(parts), int(parts[24], 16)
        steps.append((as_floats(view), int(view[14], 16), int(view[15], 16), [numbers[3 * i:3 * i + 3] for i in range(count)]))
    return steps


def density(parts, x):
    return sum(weight * math.exp(-0.5 * ((x - mean) / sd)**2) / sd for weight, mean, sd in parts) / math.sqrt(2 * math.pi)


def spread(parts):
    mean = sum(weight * at for weight, at, _ in parts)
    return math.sqrt(sum(weight * (sd**2 + (at - mean)**2) for weight, at, sd in parts))


class Native(unittest.TestCase):
    def test_follows_the_world_of_the_command(self):
        """The same truth. Settings are chosen in float here and in double there: they differ by rounding and so, after a while, do outcomes."""
        command = [f"{BUILD}/rejfilt", "track", "--simulate", "--sampler", "reject", "--attempts", "100", "--seed", "11", "--steps", "120", "--jump", "1@60", "--json"]
        wanted = [json.loads(line)["parameters"][0] for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()]
        got = views(native(f"open 11\nset 100 0 1 {DRIFT}\nstep 60\nkick 1\nstep 60\n"))
        self.assertEqual(len(got), 120)
        for step, ((truth, mean, sd), line) in enumerate(zip(got, wanted)):
            self.assertLess(abs(truth - line["truth"]), 1e-5 * (1 + abs(truth)), f"step {step}")
        mean, sd = got[0][1:]
        self.assertLess(abs(mean - wanted[0]["mean"]), 1e-5)
        self.assertLess(abs(sd - wanted[0]["sd"]), 1e-5)

    def test_draws_are_those_of_the_update(self):
        for attempts in (1, 7, 128, 1000, 4000):
            view, memory, _, draws = (line.split() for line in native(f"open 3\nset {attempts} 0 0.5 {DRIFT}\nstep 30\ndraws 0 4000\n").splitlines()[-4:])
            made, accepted = (int(word, 16) for word in view[10:12])
            self.assertLessEqual(made, 4000)
            mean, sd = as_floats(view[4:6])
            sum_zz = struct.unpack("<q", struct.pack("<2I", *(int(word, 16) for word in memory[12:14])))[0]
            grid = [(x - mean) / sd * 8192 for x in as_floats(draws[0:3 * made:3])]
            for place in grid:  # whole numbers, except for the rounding of x
                self.assertLess(abs(place - round(place)), 0.1)
            kept = [round(place) for place, flag in zip(grid, draws[2::3]) if int(flag, 16)]
            self.assertEqual((len(kept), sum(place**2 for place in kept)), (accepted, sum_zz), f"m = {attempts}")

    def test_refuses_what_it_cannot_play(self):
        for script in ("open 1\nset 0 0 1 0", "open 1\nset 100 5 1 0", "open 1\nset 100 0 2 0", "open 1\nset 100 0 1 nan", "classify", "dance"):
            done = subprocess.run([f"{BUILD}/ports/wasm/playground_native"], input=script, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, script)
            self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_few_gaussians_hold_several_modes(self):
        """Random times, compared with the exact posterior on a grid: at most half of the distance of one Gaussian."""
        width, few, one, modes = 0.01, [], [], []
        grid = [-1.5 + width * i for i in range(460)]
        for seed in range(101, 109):
            steps = run(f"open {seed}\nset 1000 4 1 0\nstep 12\n")
            exact = [density([(1, *steps[0][0][4:6])], x) for x in grid]
            for view, _, widened, parts in steps:
                if widened:
                    break
                time, reference, outcome = view[6:9]
                exact = [p * (0.5 + (outcome - 0.5) * math.cos((x - reference) * time)) for p, x in zip(exact, grid)]
                total = width * sum(exact)
                for distances, believed in ((few, parts), (one, [(1, *view[2:4])])):
                    distances.append(0.5 * width * sum(abs(p / total - density(believed, x)) for p, x in zip(exact, grid)))
                curve = [density(parts, x) for x in grid]
                modes.append(sum(a < b >= c and b > 0.1 * max(curve) for a, b, c in zip(curve, curve[1:], curve[2:])))
        self.assertGreater(len(few), 60)
        self.assertLess(sum(few), 0.5 * sum(one))
        self.assertGreaterEqual(max(modes), 3)

    def test_few_gaussians_are_treated_like_the_filter(self):
        """Widened and reset together with the filter, and restored when a fault is found; then only time passes."""
        widened, fresh = 0, 0
        steps = run(f"open 7\nset 100 0 1 {DRIFT}\nstep 40\nkick 3\nstep 40\n")
        for (_, _, before, old), (_, health, after, new) in zip(steps, steps[1:]):
            if after > before:
                self.assertGreater(spread(new), 1.5 * spread(old))
                widened += 1
            fresh += health == 3 and len(new) == 1
        self.assertGreaterEqual(widened, 2)
        self.assertEqual(fresh, 1)

        steps = run(f"open 7\nset 100 0 1 {DRIFT}\nstep 60\nfail 60\nstep 55\n")
        first = next(i for i, (_, health, _, _) in enumerate(steps) if health == 4)
        where = lambda parts: [(weight, mean) for weight, mean, _ in parts]
        kept = max(i for i in range(first) if where(steps[i][3]) == where(steps[first][3]))
        self.assertLess(kept, 65)  # as before the outcomes became all equal
        for i in range(first, len(steps)):
            self.assertEqual(where(steps[i][3]), where(steps[kept][3]))
            for (_, _, sd), (_, _, then) in zip(steps[i][3], steps[kept][3]):
                self.assertAlmostEqual(sd**2, then**2 + (i - kept) * DRIFT**2, delta=1e-5)

    def test_classifies_digits_it_has_not_seen(self):
        script = "learn\n" + "".join(f"example {i} {i % 10}\nclassify\n" for i in range(200))
        lines = [line.split() for line in native(script).splitlines()]
        answers = [int(line[0], 16) for line in lines if len(line) == 2]
        self.assertEqual(len(answers), 200)
        right = sum(answer == i % 10 for i, answer in enumerate(answers))
        self.assertGreaterEqual(right, 187)  # 98.4 % of 2,000 are; the bound is five standard errors below


@unittest.skipUnless(os.path.exists(WASM), "no wasm: clang, wasm-ld or wasm-opt is missing; tools/need wasm installs them")
class Module(unittest.TestCase):
    def test_fits_its_budget(self):
        budget = configparser.ConfigParser()
        budget.read(f"{SOURCE}/ports/wasm/budget.ini")
        size = os.path.getsize(WASM)
        print(f"rejfilt.wasm: {size} bytes")
        self.assertLessEqual(size, budget.getint("module", "most_bytes"))
        page = pathlib.Path(SOURCE, "apps/site/index.html").read_text()
        self.assertLess(size, 1000 * int(re.search(r"in less than (\d+) KB of WebAssembly", page)[1]))

    @unittest.skipUnless(NODE, "no node; tools/need browser installs it")
    def test_same_bits_in_node(self):
        got = subprocess.run([NODE, f"{SOURCE}/ports/wasm/script.mjs", WASM], input=EVERYTHING, capture_output=True, text=True, check=True).stdout
        wanted = native(EVERYTHING)
        self.assertGreater(len(wanted.splitlines()), 1000)
        for number, (a, b) in enumerate(zip(wanted.splitlines(), got.splitlines())):
            self.assertEqual(a, b, f"line {number}")
        self.assertEqual(wanted, got)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
