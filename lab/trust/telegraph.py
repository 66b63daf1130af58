#!/usr/bin/env python3
"""A lifetime that switches between two levels: records until the estimate is within 20 % of the new one, beside an exact filter that
knows the levels and the rate and learns from the same records: lab/trust/telegraph.py build/rejfilt [FIRST_SEED [OPTION...]]"""
import json
import math
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LONG, RUNS, NEVER = 30, 8, 10**6


def run(factor, dwell, seed, options):
    """Records after each switch until our filter, and the exact filter, are within 20 %."""
    short, took = LONG / factor, ([], [])
    command = [sys.argv[1], "track", "--simulate", "--json", "--model", str(ROOT / "examples/relaxation.c"), "--steps", str(min(30 * dwell, 10000)),
               "--seed", str(seed), "--drift", f"T1={LONG}:{short:g}~{dwell}", *options]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=dict(os.environ, REJFILT_INCLUDE=str(ROOT / "include"))).stdout
    chance, before, since, p = -math.expm1(-2 / dwell) / 2, None, [None, None], 0.5
    for line in map(json.loads, lines.splitlines()):
        wait, (parameter,) = line["settings"][0]["value"], line["parameters"]
        there = [math.exp(-wait / t1) for t1 in (LONG, short)]
        like = there if line["outcome"] else [1 - x for x in there]
        p = p * (1 - chance) + (1 - p) * chance
        p = p * like[0] / (p * like[0] + (1 - p) * like[1])
        exact = math.exp(p * math.log(LONG) + (1 - p) * math.log(short))
        if before is not None and parameter["truth"] != before:
            for k in range(2):
                took[k].extend([NEVER] if since[k] is not None else [])
            since = [line["step"]] * 2
        before = parameter["truth"]
        for k, mean in enumerate((parameter["mean"], exact)):
            if since[k] is not None and abs(mean / before - 1) < 0.2:
                took[k].append(line["step"] - since[k])
                since[k] = None
    return took


def quantile(values, share):
    return sorted(values)[int(share * (len(values) - 1))] if values else math.nan


first, options = int(sys.argv[2]) if len(sys.argv) > 2 else 1, sys.argv[3:]
print("| factor, dwell | switches | records, median | exact | records, 90 % | exact |\n|---|---|---|---|---|---|")
for factor, dwell in (3, 100), (3, 1000), (10, 100), (10, 1000):
    both = [run(factor, dwell, seed, options) for seed in range(first, first + RUNS)]
    ours, exact = (sum((took[k] for took in both), []) for k in range(2))
    print(f"| {factor}, {dwell} | {len(ours)} | {quantile(ours, .5)} | {quantile(exact, .5)} | {quantile(ours, .9)} | {quantile(exact, .9)} |", flush=True)
