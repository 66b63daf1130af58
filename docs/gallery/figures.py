#!/usr/bin/env python3
"""Draws the gallery's figures that take many runs, and prints their numbers: docs/gallery/figures.py NAME...
Draws all pictures of the gallery again: docs/gallery/figures.py --pages BUILD_DIR

It needs the Python package and gnuplot. Every number is of simulated runs with seed 1, trials 0 to RUNS - 1. A picture is left
in the current folder. With --pages the commands of every page are run, in a folder of their own, and their pictures are kept."""
import os, pathlib, re, shutil, subprocess, sys, tempfile

import numpy as np
import rejfilt as rf

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "pictures"))
import draw  # noqa: E402

RUNS = 200
EXAMPLES = HERE.parent.parent / "examples"


def runs(model, steps, trials=RUNS, **options):
    """A function from a column's name to an array: a row for each run, a column for each measurement."""
    run = rf.simulate(model, steps=steps, trials=trials, seed=1, **options)
    return lambda name: np.asarray(run[name], float).reshape(trials, -1)


def width(run, name):
    """The 95 % interval in units of 3.92: the standard deviation, if the posterior were Gaussian."""
    return (run(f"{name}.high") - run(f"{name}.low")) / 3.92


def picture(name, script, size="760,380"):
    draw.HERE = pathlib.Path.cwd()
    draw.gnuplot(f"{name}.svg", script, size)


def curves(name, lines, settings):
    """A picture of (title, colour, x, y) each."""
    blocks = "".join(draw.block(f"d{k}", [(f"{a:.4g}", f"{b:.4g}") for a, b in zip(x, y)]) for k, (_, _, x, y) in enumerate(lines))
    plots = ", ".join(f'$d{k} with lines lw 2.5 lc "{colour}" title "{title}"' for k, (title, colour, _, _) in enumerate(lines))
    picture(name, f"{blocks}{settings}\nplot {plots}\n")


def ramsey():
    """Median error against the number of measurements, for several coherence times."""
    lines = []
    for t2, colour in ((1e9, draw.BLUE), (1000, draw.GREEN), (100, draw.RED)):
        run = runs(EXAMPLES / "dephasing.c", 60, drift=0, range={"T2": (t2, t2)})
        median = np.median(abs(run("x.mean") - run("truth.x")), axis=0)
        print(f"T2 = {t2:g}: median error", ", ".join(f"{median[n - 1]:.1e}" for n in (10, 20, 40, 60)), "after 10, 20, 40, 60 measurements")
        lines.append(("no decoherence" if t2 > 1e6 else f"T2 = {t2} µs", colour, range(1, 61), median))
    curves("ramsey", lines, 'set logscale y; set format y "10^{%L}"; set xlabel "measurements"; set ylabel "median error (rad/µs)"; set key bottom left')


OVERHEAD = 50  # µs for preparation and readout of each measurement: our assumption
COST = {"t": 1 / OVERHEAD}
T1 = {"prior": {"T1": (20, 600)}, "range": {"t": (5, 2000)}, "truth": 170}


def t1():
    """How long it takes to know a lifetime of 170 µs, and to find it again when it switches."""
    grid, lines = np.arange(2, 20.1, 0.5), []
    for title, colour, options in (("with anchors, without --cost", draw.GREEN, {"anchors": 5}), ("without --cost", draw.RED, {}), ("with --cost t=0.02", draw.BLUE, {"cost": COST})):
        run = runs(EXAMPLES / "relaxation.c", 250, drift=0, **options, **T1)
        time, known = np.cumsum(run("t") + OVERHEAD, axis=1) / 1000, width(run, "T1") / 170
        median = [np.median([row[max(np.searchsorted(times, at) - 1, 0)] for times, row in zip(time, known)]) for at in grid]
        print(f"{title}: relative standard deviation", ", ".join(f"{median[list(grid).index(at)]:.0%}" for at in (2, 5, 10, 20)), "after 2, 5, 10, 20 ms")
        lines.append((title, colour, grid, median))
    x = np.linspace(0.05, 3, 300)  # waits in units of T1, and the information of one outcome about ln T1
    best = np.max(x**2 / np.expm1(x) / (170 * x + OVERHEAD)) * 1000
    print("Fisher limit, T1 known beforehand:", ", ".join(f"{(best * at) ** -0.5:.0%}" for at in (2, 5, 10, 20)))
    lines.append(("Fisher limit", draw.GREY, grid, (best * grid) ** -0.5))
    curves("t1_precision", lines, f"""set xlabel "time (ms)"; set ylabel "relative standard deviation"; set yrange [0:0.8]
set object 1 rectangle from 2, graph 0 to 5, graph 1 fc "{draw.GOLD}" fs solid 0.15 noborder behind; set label "a few ms" at 3.5, graph 0.05 center tc "{draw.GOLD}\"""")
    run = runs(EXAMPLES / "relaxation.c", 1200, drift={"T1": rf.Telegraph(170, 34, 400)}, trials=100, cost=COST, **T1)
    truth, mean, time = run("truth.T1"), run("T1.mean"), np.cumsum(run("t") + OVERHEAD, axis=1) / 1000
    found = {"fall": [], "rise": []}
    for k, n in zip(*np.nonzero(abs(truth[:, 1:] / truth[:, :-1] - 1) > 0.5)):
        right = np.nonzero(abs(mean[k, n + 1:] / truth[k, n + 1] - 1) < 0.2)[0]
        if len(right):
            found["fall" if truth[k, n + 1] < 100 else "rise"].append((right[0] + 1, time[k, n + 1 + right[0]] - time[k, n]))
    for name, entries in found.items():
        count, spent = np.median(entries, axis=0)
        print(f"a {name} is followed to within 20 % after {count:.0f} measurements, {spent:.1f} ms (medians of {len(entries)})")


def overhauser():
    """A gradient that reverts to its mean, followed by filters that know different things about its motion."""
    world = {"true_drift": {"x": rf.Reverting(0.25, 0.08, 100)}, "truth": rf.Normal(0.25, 0.08), "prior": {"x": rf.Normal(0.25, 0.08)}, "range": {"T2": (50, 50)}}
    lines = []
    for title, colour, drift in (("knows that it reverts", draw.BLUE, rf.Reverting(0.25, 0.08, 100)), ("takes it for a random walk", draw.GREEN, 0.08 * (2 / 100) ** 0.5),
                                 ("takes it for static", draw.RED, 0)):
        run = runs(EXAMPLES / "dephasing.c", 300, drift={"x": drift}, **world)
        error = abs(run("x.mean") - run("truth.x"))
        rms = np.sqrt(np.mean(error[:, 100:] ** 2))
        print(f"{title}: root mean square error {1000 * rms:.1f}, median {1000 * np.median(error[:, 100:]):.1f} rad/ms; without measurements 80")
        lines.append((title, colour, range(1, 301), np.sqrt(np.mean(error**2, axis=0))))
    curves("overhauser_error", lines, 'set xlabel "measurements"; set ylabel "root mean square error (rad/µs)"; set yrange [0:0.07]; set key bottom right')


STRETCHED = """#include <rejfilt/model.h>
static const rf_description description = {
    .name = "stretched", .dim = 2, .settings = 1, .outcomes = 2,
    .parameter = {{"T", RF_POSITIVE, 1, 100, 0}, {"beta", RF_BOUNDED, 0.5, 3, 0}},
    .setting = {{"t", RF_SETTING_LOGRANGE, 0, 0, 0.3, 300, 0}},
};
RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real coherent = rf_exp(-rf_pow_positive(setting[0] / x[0], x[1]));
    return outcome != 0 ? RF_C(0.5) * (1 + coherent) : RF_C(0.5) * (1 - coherent);
}
"""


def decoherence():
    """A decay time and its exponent: waits chosen by the filter, and a sweep over all waits."""
    lines = []
    for title, colour, options in (("waits chosen (risk)", draw.BLUE, {"design": "risk", "anchors": 0}), ("waits swept at random", draw.RED, {"design": "pgh"})):
        run = runs(rf.model(STRETCHED), 1000, trials=50, drift=0, truth={"T": 10, "beta": 2}, **options)
        time, known = np.cumsum(run("t"), axis=1) / 1000, width(run, "T") / 10
        grid = np.arange(1, min(20, np.min(time[:, -1])) + 0.1, 0.5)  # as long as every run goes on
        median = [np.median([row[max(np.searchsorted(times, at) - 1, 0)] for times, row in zip(time, known)]) for at in grid]
        shots = np.median(known, axis=0)
        print(f"{title}: 10 % of T after {next((n + 1 for n, sd in enumerate(shots) if sd <= 0.1), None)} shots,",
              f"{next((at for at, sd in zip(grid, median) if sd <= 0.1), None)} ms of waiting; {median[-1]:.0%} after {grid[-1]:.1f} ms; beta to {np.median(width(run, 'beta')[:, -1]):.2f} after 1,000 shots")
        lines.append((title, colour, grid, median))
    curves("decoherence", lines, 'set xlabel "time spent waiting (ms)"; set ylabel "relative standard deviation of T"; set yrange [0:*]')


def which():
    """How ln K grows, for a frequency that drifts: the evidence of two filters on the same records."""
    world = rf.simulate("precession", steps=200, seed=1, design="pgh")
    records = {name: np.asarray(world[name]) for name in ("t", "x_", "outcome")}
    known = {name: np.asarray(rf.replay("precession", records, drift=drift, seed=1)["log_evidence"]) for name, drift in (("static", 0), ("drifting", 0.026))}
    difference = known["drifting"] - known["static"]
    print(f"ln K = {difference[49]:.1f}, {difference[99]:.1f}, {difference[199]:.1f} after 50, 100, 200 records")
    curves("which", [("drift against static", draw.BLUE, range(1, 201), difference), ("K = 20", draw.GREY, (1, 200), (3, 3))],
           'set xlabel "records"; set ylabel "ln K"; set key top left')


def pages(build):
    """Runs what the pages say, as a reader would, and keeps the pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in HERE.parent.parent.iterdir():
            if not part.name.startswith((".", "build", "dist", "reproduce")):
                (folder / part.name).symlink_to(part)
        os.environ["PATH"] = f"{build.resolve()}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        os.environ["MPLBACKEND"] = "agg"
        for page in sorted(HERE.glob("*.md")):
            text = page.read_text()
            for kind, block in re.findall(r"^```(sh|python)\n(.*?)^```", text, re.M | re.S):
                if ".svg" in block or ".png" in block or "figures.py" in block:
                    print(page.name, flush=True)
                    subprocess.run(["bash", "-e"] if kind == "sh" else [sys.executable, "-"], input=block, text=True, cwd=folder, check=True)
        for drawn in [*folder.glob("*.svg"), *folder.glob("*.png")]:
            shutil.copy(drawn, HERE)
        subprocess.run([HERE.parent.parent / "tools/scour", *HERE.glob("*.svg")], check=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--pages":
        pages(pathlib.Path(sys.argv[2]))
    else:
        for name in sys.argv[1:]:
            globals()[name]()
