"""Keeps a run as the known one: python3 lab/calibration/keep.py ROWS.json (of rejfilt-calibration --seed 2 --json ROWS.json)"""

import itertools
import json
import pathlib
import sys

rows = [{k: r[k] for k in ("method", "model", "what", "length", "sets", "covered")} for r in json.load(open(sys.argv[1]))]
lines = [", ".join(map(json.dumps, some)) for _, some in itertools.groupby(rows, lambda r: (r["method"], r["model"]))]
pathlib.Path(__file__).with_name("known.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
