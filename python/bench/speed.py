#!/usr/bin/env python3
"""The package's speed: what a call from Python costs above the library, and QInfer on the same job.

usage: speed.py [--qinfer PYTHON]      PYTHON has QInfer 1.0, numpy and scipy: `make python-bench` makes one

The job: 100 records of a precession that stands still, with settings by the particle guess heuristic (seed 1), so that every record tells
something and QInfer has to resample now and then, as it does in earnest. Everybody learns from the same records, one after the other, with
m candidates; tests of health are off, since QInfer has none. Times are the processor's, the best of several runs, per record, so that other
work on the machine counts little; those of fleets on several threads are the clock's. Ratios of one run on one machine are what counts."""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def best(work, repeats=5, clock=time.process_time):
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def measure_qinfer(path):
    """Runs in the Python that has it: seconds per update by the number of particles."""
    from old_qinfer import qinfer

    q = qinfer()
    records = json.loads(pathlib.Path(path).read_text())
    model = q.SimpleInversionModel()

    def run(n, records):
        updater = q.SMCUpdater(model, n, q.UniformDistribution([0, math.pi / 2]))
        for t, x_, outcome in records:
            settings = np.zeros(1, dtype=model.expparams_dtype)
            settings["t"], settings["w_"] = t, x_
            updater.update(1 - int(outcome), settings)

    found = {}
    for n in (100, 1000, 100_000):
        some = records if n < 100_000 else records[:40]
        found[n] = best(lambda: run(n, some), 3 if n < 100_000 else 2) / len(some)
    print(json.dumps(found))


def job():
    import rejfilt

    run = rejfilt.simulate("precession", steps=100, seed=1, drift=0, design="pgh", on_lost="ignore")
    return np.column_stack([run["t"], run["x_"], run["outcome"]])


def per_update(model, records, attempts, drift=0.0):
    """One call of tell for every record; and the same in one call of the library's own loop."""
    import rejfilt

    rows = [(bool(o), (t, x_)) for t, x_, o in records]
    options = {"design": None, "on_lost": "ignore", "belief": "gaussian", "sampler": "reject", "attempts": attempts, "seed": 1, "drift": drift}

    def by_calls():
        tell = rejfilt.Tracker(model, **options).tell
        for outcome, setting in rows:
            tell(outcome, setting)

    settings, outcomes = np.ascontiguousarray(records[:, :2]), np.ascontiguousarray(records[:, 2])
    out = np.empty((len(records), 64))

    def by_library():
        tracker = rejfilt.Tracker(model, **options)
        tracker._replay(settings, outcomes, None, 0, out.reshape(-1)[: len(records) * len(tracker._columns)].reshape(len(records), -1), 60.0, False)

    opening = best(lambda: rejfilt.Tracker(model, **options), 20)
    return (best(by_calls, 15) - opening) / len(rows), (best(by_library, 15) - opening) / len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qinfer", metavar="PYTHON")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    import rejfilt

    sys.path.insert(0, str(HERE.parent / "tests"))
    from support import in_numba, in_numpy

    records = job()
    found = {"engine": "simd"}
    theirs = {}
    if arguments.qinfer:
        path = HERE / "records.json"
        path.write_text(json.dumps(records.tolist()))
        done = subprocess.run([arguments.qinfer, "-W", "ignore", __file__, "--inside", str(path)], capture_output=True, text=True)
        path.unlink()
        if done.returncode != 0:
            sys.exit(done.stderr)
        theirs = {int(k): v for k, v in json.loads(done.stdout.splitlines()[-1]).items()}
        print("QInfer 1.0:", ", ".join(f"{1e6 * v:.0f} µs at m = {k}" for k, v in theirs.items()))
    for name, model in (("built-in", "precession"), ("numba", in_numba()), ("numpy", in_numpy)):
        if model is None:
            continue
        for m in (100, 1000, 100_000):
            some = records if m < 100_000 else records[:40]
            calls, library = per_update(model, some, m)
            found[f"{name} {m}"] = {"calls": calls, "library": library, "qinfer": theirs.get(m)}
            ratio = f", {theirs[m] / calls:.0f} × QInfer" if m in theirs else ""
            print(f"{name:9} m = {m:6}: {1e6 * calls:8.2f} µs an update, {1e6 * (calls - library):+.2f} µs above the library's own loop{ratio}")
    for design in ("quadrature", "pgh", "risk"):
        tracker = rejfilt.Tracker(in_numpy, seed=1, design=design)
        took = best(lambda: [tracker.ask() for _ in range(20)]) / 20
        found[f"ask {design}"] = took
        print(f"numpy, ask() with {design}: {1e6 * took:.1f} µs")
    for sampler in ("reject", "lattice", "weight"):
        for engine in ("simd", "threads"):
            fleet = rejfilt.Fleet("precession", 10_000, seed=1, attempts=100, sampler=sampler, engine=engine)
            settings, outcomes = fleet.ask(), np.ones(10_000)

            def work():
                fleet.tell(outcomes, settings)
                return fleet.mean

            took = best(work, 30, time.perf_counter if engine == "threads" else time.process_time) / 10_000
            found[f"fleet {sampler} {engine}"] = took
            print(f"fleet of 10,000, m = 100, {sampler}, {engine}: {1e6 * took:.2f} µs a filter, arrays in and out")
    code = "import time, numpy; a = time.process_time(); import rejfilt; print(time.process_time() - a)"
    took = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(5))
    found["import"] = took
    print(f"import beyond numpy: {1e3 * took:.1f} ms")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        measure_qinfer(sys.argv[2])
    else:
        main()
