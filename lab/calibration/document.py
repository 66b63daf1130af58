"""The tables and the picture of docs/calibration.md: python3 lab/calibration/document.py ROWS.json OUT

ROWS.json is what rejfilt-calibration leaves; writes OUT.md and OUT.svg."""
import json, math, pathlib, subprocess, sys

source, out = sys.argv[1:]
rows = {(r["model"], r["method"], r["length"], r["what"]): r for r in json.load(open(source))}
files = {path.stem for path in (pathlib.Path(__file__).parents[2] / "examples").glob("*.c")}
models, labs = ([name for name in dict.fromkeys(key[0] for key in rows) if (name in files) == is_lab] for is_lab in (False, True))
lengths = sorted({key[2] for key in rows})
DEFAULT = "default"
FILTERS = [DEFAULT, "risk", "reject", "float", "lattice", "weight", "1000 attempts", "10 records", "projection"]
EXACT = ["exact, grid", "exact, draws"]


def share(row, level, error=True):
    if row is None:
        return ""
    p, n = row["covered"][level] / row["sets"], row["sets"]
    return f"{100 * p:.1f}" + (f" ± {100 * math.sqrt(p * (1 - p) / n):.1f}" if error else "")


def parameters(model, method="reject"):
    return list(dict.fromkeys(key[3] for key in rows if key[:2] == (model, method)))


def joint(model):
    return parameters(model)[-1]  # the joint rank; with one parameter, that parameter


def table(heads, lines):
    return [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *(f"| {' | '.join(line)} |" for line in lines), ""]


LEVELS = ("50 %", "80 %", "95 %")


def folded(model, method, what):
    """Cells of one row for all lengths: n, the fraction of truths in each level's intervals, and the uniformity of
    ranks."""
    found = [(n, rows[model, method, n, what]) for n in lengths if (model, method, n, what) in rows]
    cells = [[str(n) for n, _ in found], *([share(row, level, False) for _, row in found] for level in range(3)), [f"{row['uniform']:.2f}" for _, row in found]]
    return [", ".join(cell) for cell in cells]


def overview(models, filters):
    return table(["model", "n", *filters, "exact"], [
        [model, str(n), *(share(rows.get((model, method, n, joint(model))), 2, False) for method in filters),
         share(rows.get((model, "exact, grid", n, joint(model))) or rows.get((model, "exact, draws", n, "likelihood")), 2, False)]
        for model in models for n in lengths])


def by_parameter(models):
    return table(["model", "of", "n", *LEVELS], [[model, what, *folded(model, DEFAULT, what)[:4]] for model in models for what in parameters(model)])


def exact(models):
    return table(["model", "posterior", "of", "n", *LEVELS, "uniform"], [
        [model, method[7:], what, *folded(model, method, what)] for model in models for method in EXACT for what in parameters(model, method)
        if any((model, method, n, what) in rows for n in lengths)])


def document():
    yield from overview(models, FILTERS)
    if labs:
        yield from overview(labs, [DEFAULT, "reject"])
    for part in (by_parameter, exact):
        yield from part(models)
        if labs:
            yield from part(labs)


def panel(model):
    """Rank histograms of the first parameter after the most measurements: of the filter and, where known, exact."""
    n, what = lengths[-1], parameters(model)[0]
    curves = [("reject", "#c0392b", 2), (DEFAULT, "#2471a3", 2), ("exact, grid", "#444444", 1)]
    shown = [(method, colour, width, rows[model, method, n, what]) for method, colour, width in curves if (model, method, n, what) in rows]
    bins = len(shown[0][3]["ranks"])
    spread = 2.58 / math.sqrt(shown[0][3]["sets"] / bins)
    yield f"set title '{model}, {what}' offset 0,-0.7"
    yield f"set object 1 rectangle from graph 0, first {1 - spread} to graph 1, first {1 + spread} fillcolor rgb '#dddddd' fillstyle solid noborder behind"
    yield "plot " + ", ".join(f"'-' using 1:2 with histeps linewidth {width} linecolor rgb '{colour}' title '{method}'" for method, colour, width, _ in shown)
    for *_, row in shown:
        yield from (f"{(k + 0.5) / bins} {count * bins / row['sets']}" for k, count in enumerate(row["ranks"]))
        yield "e"


def picture():
    yield "set terminal svg size 900,760 font 'sans,12' background 'white'"
    yield f"set output '{out}.svg'"
    yield "set multiplot layout 3,3 margins 0.06,0.99,0.06,0.93 spacing 0.05,0.09"
    yield f"set label 1 'Rank of the truth in the posterior after {lengths[-1]} measurements (flat is right, a U is too sure); grey: 99 % of flat ones' at screen 0.5,0.975 center"
    yield "set xrange [0:1]; set yrange [0:3]; set xtics 0.25; set ytics 1; set key top center horizontal samplen 1.5 font ',10'"
    for k, model in enumerate(models):
        yield from panel(model)
        yield "unset label 1; unset object 1" + ("; unset key" if k == 0 else "")
    yield "unset multiplot"


with open(f"{out}.md", "w") as file:
    file.write("\n".join(document()))
subprocess.run(["gnuplot"], input="\n".join(picture()), text=True, check=True)
