"""Few questions beside methods that take all features: python3 lab/few/compare.py COMMAND OUT [MNIST_DIRECTORY]

Writes OUT.md and, where matplotlib is there, OUT.svg: accuracy against mean questions. Needs scikit-learn (a virtual
environment will do: python3 -m venv v && v/bin/pip install scikit-learn matplotlib). The tables are those that scikit-learn
ships; all methods get the same five folds, shuffled five times, and settings are their defaults. Then come tables that are
made, and one rare class. With a directory of MNIST's four files, accuracy
at budgets of pixels is put beside what the authors of GDFS (Covert et al., ICML 2023) published."""
import json, math, pathlib, statistics, subprocess, sys, tempfile

import numpy
from sklearn import datasets, ensemble, linear_model

import tables
from tables import OTHERS, answers, folds_of, sums, write

command, out, *mnist = sys.argv[1:]
TABLES = {"wine": datasets.load_wine, "breast cancer": datasets.load_breast_cancer, "digits, 8 × 8": datasets.load_digits, "iris": datasets.load_iris}
GDFS = {5: 69.0, 10: 87.1, 15: 92.4, 20: 94.4, 30: 96.4}
MEANS = (1, 2, 3, 5, 8, 12, 20)
SHUFFLES = 5  # one error in 178 rows is 0.6 %
SEPARATIONS = (2, 3, 4, 5)  # between a rare class and the other, in standard deviations along the line between the means
MNIST_GOALS = [f"--error {e}%" for e in (10, 5, 4, 3, 2)] + [f"--mean-questions {m}" for m in (13.3, 15.3, 22.5)]


def run(*arguments):
    return tables.run(command, *arguments)


def calibration_error(decisions, bins=15):
    """Expected calibration error: mean of | fraction correct - mean probability | over bins of equal width."""
    parts = [[] for _ in range(bins)]
    for label, decided, p in decisions:
        parts[min(int(p * bins), bins - 1)].append((label == decided) - p)
    return sum(abs(sum(part)) for part in parts) / len(decisions)


def row(label, error, stated, queries):
    return f"| {label} | {100 * error:.2f} % | {100 * stated:.2f} % | {queries:.2f} |"


def compare(name, data, folder):
    """Lines of the page; and for the picture: the title, our points, the default's, and the others by name."""
    x, y = data.data, data.target
    wrong, ours, decisions, curve = {k: 0 for k in OTHERS}, [], [], {m: [] for m in MEANS if m < x.shape[1]}
    for train, test, predict in folds_of(command, x, y, SHUFFLES, folder):
        ours.append(predict("--out", folder / "out.csv"))
        decisions += answers(folder / "out.csv")
        for mean in curve:
            curve[mean].append(predict("--mean-questions", mean))
        for other, make in OTHERS.items():
            wrong[other] += int((make().fit(x[train], y[train]).predict(x[test]) != y[test]).sum())
    default, points = sums(ours), {mean: sums(runs) for mean, runs in curve.items()}
    lines = [f"\n## {name}\n\n{x.shape[0]} rows, {x.shape[1]} features, {len(set(y.tolist()))} classes, five folds, shuffled {SHUFFLES} times. Expected calibration error at the default: {calibration_error(decisions):.4f}\n", "| | errors | stated | questions |\n|---|---|---|---|"]
    lines += [row("**few questions, default**", *default)] + [row(f"… `--mean-questions {mean}`", *p) for mean, p in points.items()]
    lines += [f"| {other} | {100 * n / (SHUFFLES * len(y)):.2f} % | | {x.shape[1]} |" for other, n in wrong.items()]
    return lines, (name, list(points.values()), default, {other: n / (SHUFFLES * len(y)) for other, n in wrong.items()})


def made_tables():
    """Tables of many kinds by name: features and classes."""
    draw = numpy.random.default_rng(5)
    make = lambda **how: datasets.make_classification(random_state=7, **how)
    x, y = make(n_samples=1500, n_features=12, n_informative=5, class_sep=1.3)
    gaps = numpy.where(draw.random(x.shape) < 0.15, math.nan, x)
    some, of = make(n_samples=300, n_features=8, n_informative=4), draw.integers(0, 300, 1500)
    normal, two, whole = draw.normal(size=(1500, 10)), draw.normal(size=(1500, 2)), draw.integers(0, 9, (900, 7)).astype(float)
    wide, ill = draw.normal(size=(2000, 8)), datasets.load_diabetes()
    swiss, along = datasets.make_swiss_roll(1500, noise=0.3, random_state=1)
    return {
        "5 of 20 features tell": make(n_samples=500, n_features=20, n_informative=5),
        "8 of 50, three classes": make(n_samples=1000, n_features=50, n_informative=8, n_classes=3),
        "10 of 1,000": make(n_samples=200, n_features=1000, n_informative=10, class_sep=1.5),
        "6 of 10, four classes": make(n_samples=2000, n_features=10, n_informative=6, n_classes=4, class_sep=1.5),
        "two small classes": make(n_samples=2000, n_features=12, n_informative=5, weights=[0.9, 0.08, 0.02], n_classes=3, class_sep=1.5),
        "a seventh missing": (gaps, y),
        "copies of 300 rows": (some[0][of], some[1][of]),
        "moons": datasets.make_moons(600, noise=0.25, random_state=1),
        "rings": datasets.make_circles(600, noise=0.1, factor=0.6, random_state=1),
        "swiss roll, six classes": (swiss, numpy.digitize(along, numpy.linspace(5, 14, 5))),
        "four clouds": datasets.make_blobs(600, n_features=6, centers=4, cluster_std=4, random_state=2),
        "20 clouds": datasets.make_blobs(2000, n_features=8, centers=20, cluster_std=2.5, random_state=2),
        "shells": datasets.make_gaussian_quantiles(n_samples=1000, n_features=5, n_classes=3, random_state=1),
        "a sum of ten squares": datasets.make_hastie_10_2(4000, random_state=1),
        "a product's sign": (two, two[:, 0] * two[:, 1] > 0),
        "… beside eight others": (normal, normal[:, 0] * normal[:, 1] > 0),
        "units from 1e-12 to 1e9": (wide * 10.0 ** numpy.arange(-12, 12, 3), wide[:, 0] + wide[:, 3] + wide[:, 7] + 0.3 * draw.normal(size=2000) > 0),
        "whole numbers": (whole, numpy.where(whole[:, 0] + whole[:, 1] > 9, 1000, numpy.where(whole[:, 2] > 5, -7, 3))),
        "diabetes above 140": (ill.data, ill.target > 140),
        "noise": (draw.normal(size=(400, 8)), draw.integers(0, 2, 400)),
    }


def compare_made(folder):
    """The same for generated tables, with the default only and one shuffle."""
    lines = ["\n## Tables that are made\n\nFive folds; all that `made_tables()` in the script makes.\n", "| | rows × features | errors | stated | questions | 5 nearest neighbours |\n|---|---|---|---|---|---|"]
    for name, (x, y) in made_tables().items():
        ours, wrong = [], 0
        for train, test, predict in folds_of(command, x, y, 1, folder):
            ours.append(predict())
            known = numpy.nan_to_num(x)  # the means are 0
            wrong += int((OTHERS["5 nearest neighbours"]().fit(known[train], y[train]).predict(known[test]) != y[test]).sum())
        error, stated, queries = sums(ours)
        lines.append(f"| {name} | {x.shape[0]} × {x.shape[1]} | {100 * error:.1f} % | {100 * stated:.1f} % | {queries:.1f} | {100 * wrong / len(y):.1f} % |")
    return lines


def rare(folder):
    """Two normal classes; one has 3 % of the rows and costs 30 times as much to miss. Compared with the optimal rule, which decides
    by the ratio of densities; its logarithm is normal in both classes."""
    lines = ["\n## A rare class\n\nTwo normal classes in four dimensions, 3 % in one of them, `--class-cost c1=30`; 4,000 rows to learn from, 20,000 objects. At this cost the best rule weighs both classes alike, so it has 2 % false positives only where it finds 98 %. The last two columns are what the best rule and a forest find if they are set to 2 % false positives, whatever that costs.\n", "| means apart, in sd | ours: found | false positives | questions | best rule: found | false positives | logistic regression: found | false positives | best rule at 2 % | forest at 2 % |\n|---|---|---|---|---|---|---|---|---|---|"]
    normal = statistics.NormalDist()
    for apart in SEPARATIONS:
        draw = numpy.random.default_rng(apart)
        y = (draw.random(24000) < 0.03).astype(int)
        x = draw.normal(size=(24000, 4)) + y[:, None] * apart / 2
        write(folder / "train.csv", x[:4000], y[:4000])
        write(folder / "test.csv", x[4000:], y[4000:])
        got = json.loads(run("--json", "--train", folder / "train.csv", "--test", folder / "test.csv", "--class-cost", "c1=30", "--out", folder / "out.csv"))
        shares = lambda ill: [100 * float(ill[y[4000:] == c].mean()) for c in (1, 0)]
        found, false = shares(numpy.array([decided == "c1" for _, decided, _ in answers(folder / "out.csv")]))
        limit = math.log(0.97 / 0.03 / 30) / apart
        best = [100 * normal.cdf(apart / 2 - limit), 100 * normal.cdf(-apart / 2 - limit)]
        other = shares(linear_model.LogisticRegression(class_weight={0: 1, 1: 30}).fit(x[:4000], y[:4000]).predict(x[4000:]) == 1)
        score = ensemble.RandomForestClassifier(random_state=1).fit(x[:4000], y[:4000]).predict_proba(x[4000:])[:, 1]
        at_two = [100 * normal.cdf(apart + normal.inv_cdf(0.02)), shares(score > numpy.quantile(score[y[4000:] == 0], 0.98))[0]]
        lines.append(f"| {apart} | {found:.1f} % | {false:.1f} % | {got['mean_queries']:.1f} | {best[0]:.1f} % | {best[1]:.1f} % | {other[0]:.1f} % | {other[1]:.1f} % | {at_two[0]:.1f} % | {at_two[1]:.1f} % |")
    return lines


def digits(directory, folder):
    """MNIST; a model is fitted once per task."""
    for task in "digits", "even-odd":
        run("fit", "--data", directory, "--task", task, "--out", folder / task)
    def predict(*options, task="digits"):
        return json.loads(run("predict", folder / task, f"{directory}/t10k-images-idx3-ubyte", "--labels", f"{directory}/t10k-labels-idx1-ubyte", "--json", *options))
    default = sums([predict("--out", folder / "out.csv")])
    error_of = calibration_error(answers(folder / "out.csv"))
    points = {goal: sums([predict(*goal.split())]) for goal in MNIST_GOALS}
    lines = ["\n## MNIST, ten digits\n\n60,000 rows, 784 features; 10,000 objects. Expected calibration error at the default: " + f"{error_of:.4f}\n", "| | errors | stated | questions |\n|---|---|---|---|", row("**few questions, default**", *default)]
    lines += [row(f"… `{goal}`", *p) for goal, p in points.items()]
    lines += [row("even or odd, default", *sums([predict(task="even-odd")]))]
    lines += [row("… ten shuffles, `--split 10:1`", *sums([json.loads(run("--data", directory, "--task", "even-odd", "--split", "10:1", "--shuffles", 10, "--json"))]))]
    lines += ["\n| budget of pixels | accuracy | GDFS, as published |\n|---|---|---|"]
    for budget, published in GDFS.items():
        got = predict("--stop", 0.0001, "--budget", budget)
        lines.append(f"| {budget} | {100 - 100 * got['error']:.2f} % | {published} % |")
    return lines, ("MNIST, ten digits", list(points.values()), default, {})


def draw(panels):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    matplotlib.rcParams.update({"svg.hashsalt": "few", "font.size": 9})
    figure, axes = pyplot.subplots(1, len(panels), figsize=(3.6 * len(panels), 3.4))
    for axis, (name, points, default, others) in zip(axes, panels):
        points = sorted([*points, default], key=lambda p: p[2])
        axis.plot([p[2] for p in points], [100 - 100 * p[0] for p in points], "o-", color="#0072b2", label="few questions")
        axis.plot(default[2], 100 - 100 * default[0], "*", markersize=14, color="#d55e00", label="… default")
        for (other, error), style in zip(others.items(), ("--", ":", "-.", (0, (5, 1, 1, 1)))):
            axis.axhline(100 - 100 * error, linestyle=style, color="#666666", linewidth=1, label=other + ", all features")
        low = min([100 - 100 * e for e in others.values()] + [100 - 100 * default[0]]) - 6
        axis.set(title=name, xlabel="questions an object, on average", ylim=(max(low, 0), 100.5), ylabel="accuracy, %")
        axis.grid(color="#dddddd")
    axes[0].legend(fontsize=7, loc="lower right")
    figure.tight_layout()
    figure.savefig(out + ".svg", metadata={"Date": None})
    subprocess.run([pathlib.Path(__file__).parents[2] / "tools/scour", out + ".svg"], check=True)


with tempfile.TemporaryDirectory() as folder:
    parts = []
    for name, load in TABLES.items():
        parts.append(compare(name, load(), pathlib.Path(folder)))
        print("\n".join(parts[-1][0]), flush=True)
    for extra in compare_made, rare:
        parts.append((extra(pathlib.Path(folder)), None))
        print("\n".join(parts[-1][0]), flush=True)
    for directory in mnist:
        parts.append(digits(directory, pathlib.Path(folder)))
        print("\n".join(parts[-1][0]), flush=True)
try:
    draw([panel for _, panel in parts if panel])
except ImportError:
    print("matplotlib is not there: no picture", file=sys.stderr)
picture = f"\n![accuracy against mean questions]({pathlib.Path(out).name}.svg)\n" if pathlib.Path(out + ".svg").exists() else ""
head = """# Few questions, compared

Made by `python3 lab/few/compare.py build/rejfilt docs/few DIRECTORY_OF_MNIST`. Errors are counted, *stated* are those that the
probabilities expect. All methods are at their defaults; the others take all features. Budgets of GDFS (Covert et al.,
ICML 2023) on MNIST are as published. Its code and that of DIME are trained [below](#gdfs-trained-here) on tables. The AFA benchmark
was not run: it needs CUDA and Python 3.12.10. These two are among its methods.
"""
page = pathlib.Path(out + ".md")
_, below, gdfs = page.read_text().partition("\n## GDFS, trained here\n") if page.exists() else ("", "", "")  # gdfs.py writes it
page.write_text(head + picture + "\n".join(line for lines, _ in parts for line in lines) + "\n" + below + gdfs)
