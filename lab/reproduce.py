"""The paper's claims, checked: python -m lab reproduce [NAME...]"""

import argparse
import fcntl
import importlib
import json
import os
import pathlib
import sys

import rejfilt

from . import native, report, runner
from .paper import ALL


def parse(words):
    p = argparse.ArgumentParser(prog="lab reproduce", allow_abbrev=False, description="""Runs the experiments of the paper on rejection filtering, all of them or those named, and writes
    report.html, report.md and report.json: each claim, our number, and whether it holds. A run that was interrupted goes on where it stopped; data of other settings in
    the folder are replaced. Exit status 1: a number is outside its known range.""")  # fmt: skip
    p.add_argument("names", nargs="*", metavar="NAME")
    p.add_argument("--quick", action="store_true", help="few trials: minutes, and every shape is seen (the default)")
    p.add_argument("--full", action="store_true", help="as many trials as the paper has")
    p.add_argument("--out", default="reproduce", help="where data, pictures and reports go (default %(default)s)")
    p.add_argument("--data", help="the directory of MNIST's four files; without it, synthetic digits")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="jobs side by side: the report is the same")
    p.add_argument("--list", action="store_true", help="list the experiments and the minutes they take on two cores")
    p.add_argument("--json", action="store_true", help="print report.json instead of a table")
    o = p.parse_args(words)
    unknown = [name for name in o.names if name not in ALL]
    if unknown:
        p.error(f"there is no experiment '{unknown[0]}'; there are {', '.join(ALL)}")
    if o.quick and o.full:
        p.error("--quick or --full, not both")
    if o.threads < 1 or o.seed < 0:
        p.error("--threads is at least 1, and --seed at least 0")
    if o.data and not os.path.isdir(o.data):
        p.error(f"--data: there is no directory {o.data}")
    return p, o


def main(words):
    p, o = parse(words)
    modules = {name: importlib.import_module(f"lab.paper.{name}") for name in ALL if name in o.names or not o.names}
    if o.list:
        print(f"{'name':11} {'quick':>6} {'full':>6}  minutes on two cores, and what it is about")
        for name, module in modules.items():
            print(f"{name:11} {module.QUICK['minutes']:6.1f} {module.FULL['minutes']:6.1f}  {module.TITLE}")
        return 0
    out = pathlib.Path(o.out)
    try:
        out.mkdir(exist_ok=True)
        lock = open(out / "lock", "w")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        p.error(f"--out: {out} is in use by another run; wait for its end, or choose another name")
    except OSError as error:
        p.error(f"--out: {out}: {error.strerror}")
    mode = "full" if o.full else "quick"
    experiments = [(m, runner.settings_of(m, o.full, seed=o.seed, data=o.data and os.path.abspath(o.data), command=native.COMMAND)) for m in modules.values()]
    show = (lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)) if sys.stderr.isatty() else lambda text: None
    try:
        rows = runner.run_all(experiments, out, o.threads, show)
    except KeyboardInterrupt:
        print("lab: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    about = (f"rejfilt {rejfilt.__version__}, `make reproduce MODE=--{mode}`, seed {o.seed}. Every number here is computed from the CSV files beside this report. ± is one standard error. "
             "*Verdict*: by our number and the bounds of the claim.")  # fmt: skip
    found = report.write([(m, s, r) for (m, s), r in zip(experiments, rows)], out, about, {"version": rejfilt.__version__, "mode": mode, "seed": o.seed})
    if o.json:
        print((out / "report.json").read_text(encoding="utf-8"), end="")
    else:
        for name, f in found:
            if f.claim.paper:
                print(f"{name:11} {f.claim.name:20} {f.verdict:20} {report.text_of(f.own)}")
        print(out / "report.html")
    for name, f in found:
        if f.departs:
            print(f"lab: {name}, {f.claim.name}: {report.text_of(f.own)} is outside its known range, {report.bounds_text(f.claim.expect)}", file=sys.stderr)
    return int(any(f.departs for _, f in found))
