#!/usr/bin/env python3
"""The package's speed: what a call from Python costs above the library, and QInfer on the same job.

usage: speed.py [--qinfer PYTHON]      PYTHON has QInfer 1.0, numpy and scipy: `make bench WHICH=python` makes one

The job: 100 records of a precession that stands still, with settings by the particle guess heuristic (seed 1), so that every record tells
something and QInfer has to resample now and then, as it does in earnest; its time without resampling is printed beside. Everybody learns
from the same records, one call after the other, with m candidates in double precision; tests of health are off, since QInfer has none.
Settings are made, and the prior is drawn, before the clock starts, for both. Our candidates are new ones in every update, drawn from a
Gaussian (sampler "reject"; "lattice" and "weight" take points of a lattice); QInfer's are kept, and weighed.

The bare function is that of the numpy model alone, called again with the candidates that our tracker asked it about: no package that
calls a function of numpy can be faster.

Times are the processor's, the best of several runs, per record, so that other work on the machine counts little; those of fleets on
several threads are the clock's. Ratios of one run on one machine are what counts; the load of the machine is printed."""

import argparse
import importlib.metadata
import json
import math
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def best(work, repeats=5, clock=time.process_time, seconds=1.0):
    """Of so many runs, and of as many as fit into that time."""
    times, end = [], time.monotonic() + seconds
    while len(times) < repeats or time.monotonic() < end:
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

    rows = []
    for t, x_, outcome in records:
        settings = np.zeros(1, dtype=model.expparams_dtype)
        settings["t"], settings["w_"] = t, x_
        rows.append((1 - int(outcome), settings))

    def run(n, rows, resamples):
        np.random.seed(1)
        updater = q.SMCUpdater(model, n, q.UniformDistribution([0, math.pi / 2]))
        for outcome, settings in rows:
            updater.update(outcome, settings, check_for_resample=resamples)
        return updater

    found = {"resamplings": run(100, rows, True).resample_count, "numpy": np.__version__, "scipy": importlib.metadata.version("scipy")}
    for n in (100, 1000, 100_000):
        some, repeats = (rows, 5) if n < 100_000 else (rows[:40], 2)
        opening = best(lambda: run(n, [], True), repeats)
        found[n] = (best(lambda: run(n, some, True), repeats) - opening) / len(some)
        found[f"{n} without"] = (best(lambda: run(n, some, False), repeats) - opening) / len(some)
    print(json.dumps(found))


def job():
    import rejfilt

    run = rejfilt.simulate("precession", steps=100, seed=1, drift=0, design="pgh", on_lost="ignore")
    return np.column_stack([run["t"], run["x_"], run["outcome"]])


def options_of(attempts, sampler="reject", drift=0.0):
    return {"design": None, "on_lost": "ignore", "belief": "gaussian", "sampler": sampler, "attempts": attempts, "seed": 1, "drift": drift}


def bare(model, records, m):
    """Its function alone, on the candidates that a tracker asks it about."""
    import rejfilt

    asked = []

    @rejfilt.model(parameters={"x": (0, math.pi / 2)}, settings={"t": rejfilt.Time(of="x"), "x_": rejfilt.Guess("x")}, fringe=2 * math.pi)
    def listening(x, setting, outcome):
        asked.append((x.copy(), setting, outcome))
        return model.function(x, setting, outcome)

    tracker = rejfilt.Tracker(listening, **options_of(m))
    for t, x_, outcome in records:
        tracker.tell(bool(outcome), (t, x_))

    def work():
        for x, setting, outcome in asked:
            model.function(x, setting, outcome)

    return best(work, 15) / len(records)


def per_update(model, records, attempts, sampler="reject", drift=0.0):
    """One call of tell for every record; and the same in one call of the library's own loop."""
    import rejfilt

    rows = [(bool(o), (t, x_)) for t, x_, o in records]
    options = options_of(attempts, sampler, drift)

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
        told = json.loads(done.stdout.splitlines()[-1])
        found["qinfer"] = told
        theirs = {int(k): v for k, v in told.items() if k.isdigit()}
        print(f"QInfer 1.0, numpy {told['numpy']}, scipy {told['scipy']}, {told['resamplings']} resamplings in 100 records at m = 100:")
        for k, v in theirs.items():
            print(f"          m = {k:6}: {1e6 * v:8.2f} µs an update, {1e6 * told[f'{k} without']:.2f} µs without resampling")
    print(f"load {os.getloadavg()[0]:.1f}")
    for name, model, sampler in (("built-in", "precession", "reject"), ("lattice", "precession", "lattice"), ("weight", "precession", "weight"),
                                 ("numba", in_numba(), "reject"), ("numpy", in_numpy, "reject")):  # fmt: skip
        if model is None:
            continue
        for m in (100, 1000, 100_000):
            some = records if m < 100_000 else records[:40]
            calls, library = per_update(model, some, m, sampler)
            found[f"{name} {m}"] = {"calls": calls, "library": library, "qinfer": theirs.get(m)}
            ratio = f", {theirs[m] / calls:.0f} × QInfer" if m in theirs else ""
            print(f"{name:9} m = {m:6}: {1e6 * calls:8.2f} µs an update, {1e6 * library:.2f} by replay, all records in one call{ratio}")
            if model is in_numpy:
                floor = bare(model, some, m)
                found[f"bare {m}"] = floor
                ratio = f"; {theirs[m] / floor:.0f} × QInfer is the most that can be had" if m in theirs else ""
                print(f"{'':9}             {1e6 * floor:8.2f} µs the bare function, {calls / floor:.1f} times that{ratio}")
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
