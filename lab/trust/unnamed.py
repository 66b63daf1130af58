#!/usr/bin/env python3
"""Worlds that the simulator does not make, through `rejfilt track --ask`: lab/trust/unnamed.py build/rejfilt [TRIALS [SEED [NAME]]]
Back, alarm and told are those of docs/trust.md; the truth walks as is believed unless the world says otherwise."""
import json
import math
import random
import subprocess
import sys

STEP, EVENT, BURN_IN = math.pi / 120, 150, 100


def sine(n, x, rng):
    return 0.8 + 0.6 * math.sin(2 * math.pi * n / 150)


def bursts(n, x, rng):
    return x + rng.gauss(0, STEP * (10 if EVENT <= n < EVENT + 20 else 1))


def walk(n, x, rng):
    return x + rng.gauss(0, STEP)


def two_jumps(n, x, rng):
    return walk(n, x, rng) + (1 if n == EVENT else -0.7 if n == EVENT + 15 else 0)


def jump_meanwhile(n, x, rng):
    return walk(n, x, rng) + (1 if n == EVENT + 30 else 0)


def chance(setting, x):
    return math.cos(setting["t"] * (x - setting["x_"]) / 2) ** 2


class Detector:
    """Outcomes with a kind of fault from EVENT on."""

    def __init__(self, kind, length):
        self.kind, self.length, self.past = kind, length, []

    def is_out(self, n):
        return EVENT <= n < EVENT + self.length

    def read(self, n, setting, x, rng):
        right = int(rng.random() < chance(setting, x))
        read = right
        if self.kind == "contrast":  # falls to a half within 150 records from EVENT on
            if rng.random() < 0.5 * min(max(n - EVENT, 0) / 150, 1):
                read = rng.randrange(2)
        elif self.is_out(n):
            if self.kind == "alternating":
                read = n % 2
            elif self.kind == "block":  # the outcomes of the 20 records before, again and again
                read = self.past[EVENT - 20 + (n - EVENT) % 20]
            elif self.kind == "late":
                read = self.past[-1]
            elif self.kind == "coin":
                read = rng.randrange(2)
            elif self.kind == "stuck":
                read = 0
        self.past.append(right if self.kind == "late" else read)
        return read


WORLDS = {  # motion of the truth, fault of the detector, records that it lasts, is the recovery measured, steps
    "sine of 0.6, period 150": (sine, None, 0, False, 320),
    "10 times the drift for 20 records": (bursts, None, 20, True, 320),
    "two jumps, 1 and -0.7, 15 records apart": (two_jumps, None, 15, True, 320),
    "0, 1, 0, 1 for 100": (walk, "alternating", 100, True, 400),
    "the 20 outcomes before, for 100": (walk, "block", 100, True, 400),
    "each outcome one record late, for 100": (walk, "late", 100, True, 400),
    "a coin for 60, a jump of 1 meanwhile": (jump_meanwhile, "coin", 60, True, 400),
    "contrast falls to a half": (walk, "contrast", 0, False, 450),
    "as believed": (walk, None, 0, False, 320),
}


def trial(command, world, seed):
    """For each step: is it counted, squared error, lost, alarm, out; then the records until back and until the alarm,
    or None without an event."""
    move, kind, length, has_event, steps = world
    rng, detector, x, found = random.Random(seed), Detector(kind, length), 0, []
    x = rng.uniform(0, math.pi / 2)
    ends, close, back, alarm = EVENT + length, 0, None, None
    with subprocess.Popen([command, "track", "--ask", "--json", "--seed", str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for n in range(steps):
            setting = json.loads(process.stdout.readline())
            x = move(n, x, rng) if n else x
            process.stdin.write(f"{detector.read(n, setting, x, rng)}\n")
            process.stdin.flush()
            line = json.loads(process.stdout.readline())
            (parameter,), health = line["parameters"], line["health"]
            error = parameter["chart_mean"] - x
            is_out = kind not in (None, "contrast") and detector.is_out(n)
            found.append((n >= BURN_IN and not is_out, (error / STEP) ** 2, abs(error) > 5 * parameter["chart_sd"], health != "tracking", is_out))
            close = close + 1 if abs(error) < 5 * STEP else 0
            if n >= ends + 4 and close >= 5 and back is None:
                back = n - 4 - ends
            if n >= EVENT and alarm is None and health in ("recovering", "lost", "fault"):
                alarm = n - EVENT
        process.stdin.close()
        process.stdout.read()
    return found, (back, alarm) if has_event else None


def main():
    command, trials = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 90001
    print("| world | trials | median | mean | back 50 | back 100 | alarm | lost steps | told | not tracking | … while out |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for name, world in WORLDS.items():
        if len(sys.argv) > 4 and not name.startswith(sys.argv[4]):
            continue
        results = [trial(command, world, first + k) for k in range(trials)]
        steps = [s for found, _ in results for s in found]
        errors = sorted(e for is_counted, e, *_ in steps if is_counted)
        lost = [told for is_counted, _, is_lost, told, _ in steps if is_counted and is_lost]
        counted = [told for is_counted, *_, told, _ in steps if is_counted]
        out = [told for *_, told, is_out in steps if is_out]
        events = [e for _, e in results if e]

        def share(which, within):
            return f"{100 * sum(e[which] is not None and e[which] <= within for e in events) / len(events):.0f}" if events else "–"

        def percent(flags):
            return f"{100 * sum(flags) / len(flags):.0f}" if flags else "–"

        print(f"| {name} | {trials} | {errors[len(errors) // 2]:.3g} | {sum(errors) / len(errors):.3g} | {share(0, 50)} | {share(0, 100)} | {share(1, 30)} "
              f"| {100 * len(lost) / len(counted):.1f} | {percent(lost)} | {percent(counted)} | {percent(out)} |", flush=True)


main()
