"""Digits classified by the command: MNIST where its files are given, synthetic ones otherwise."""

import csv
import json
import math
import pathlib
import subprocess
import tempfile

from ..runner import Number

NOTE = """**These are synthetic digits, not MNIST:** they show the shapes, and say nothing about the paper's numbers. With `DATA=directory`, that of MNIST's four files,
all is about those."""
RANK = ("classify", "rank")
PAPER = {"method": "paper", "restarts": 3, "stop": 0.001}
SIDE = 28


def note(s):
    return "The digits are those given with DATA." if s.data else " ".join(NOTE.split())


def command(s, verb, **options):
    """The JSON of a command, and the rows of the file that it wrote."""
    with tempfile.TemporaryDirectory() as work:
        out = pathlib.Path(work) / "rows.csv"
        words = [s.command, *verb, "--data", s.data or "synthetic", "--seed", s.seed, "--threads", 1, "--json", "--csv" if verb == RANK else "--out", out]
        for name, value in options.items():
            words += [f"--{name.replace('_', '-')}", value]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or f"{verb} failed")
        with open(out, newline="") as file:
            return json.loads(done.stdout), list(csv.DictReader(file))


def error_of(share, count):
    """A share of errors and its standard error; without any, as if it were one."""
    return Number(share, math.sqrt(max(share * (1 - share), 0 if share > 0 else 1 / count) / count))
