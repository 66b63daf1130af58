"""Few questions beside methods that take all features: python3 lab/few/compare.py COMMAND OUT [MNIST_DIRECTORY]

Writes OUT.md and, where matplotlib is there, OUT.svg: accuracy against mean questions. Needs scikit-learn (a virtual
environment will do: python3 -m venv v && v/bin/pip install scikit-learn matplotlib). The tables are those that scikit-learn
ships; all methods get the same five folds, shuffled five times (curves: once), and settings are their defaults. With a directory of MNIST's four files, accuracy
at budgets of pixels is put beside what the authors of GDFS (Covert et al., ICML 2023) published."""
import csv, json, pathlib, subprocess, sys, tempfile

from sklearn import datasets, ensemble, linear_model, model_selection, neighbors, pipeline, preprocessing, tree

command, out, *mnist = sys.argv[1:]
TABLES = {"wine": datasets.load_wine, "breast cancer": datasets.load_breast_cancer, "digits, 8 × 8": datasets.load_digits, "iris": datasets.load_iris}
OTHERS = {
    "5 nearest neighbours": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), neighbors.KNeighborsClassifier(5)),
    "forest": lambda: ensemble.RandomForestClassifier(random_state=1),
    "logistic regression": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression(max_iter=5000)),
    "tree": lambda: tree.DecisionTreeClassifier(random_state=1),
}
GDFS = {5: 69.0, 10: 87.1, 15: 92.4, 20: 94.4, 30: 96.4}
MEANS = (1, 2, 3, 5, 8, 12, 20)
SHUFFLES = 5  # of the folds: one error of 178 rows is 0.6 %
MNIST_GOALS = [f"--error {e}%" for e in (10, 5, 4, 3, 2)] + [f"--mean-questions {m}" for m in (13.3, 15.3, 22.5)]


def run(*arguments):
    return subprocess.run([command, "classify", *map(str, arguments)], stdout=subprocess.PIPE, check=True, text=True).stdout


def write(path, x, y):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"f{j}" for j in range(x.shape[1])] + ["label"])
        writer.writerows([*row, f"c{label}"] for row, label in zip(x.tolist(), y.tolist()))


def sums(runs):
    """Errors, stated errors and questions of an object, over runs of several folds."""
    count = sum(r["objects"] for r in runs)
    return [sum(r[key] * r["objects"] for r in runs) / count for key in ("error", "stated_error", "mean_queries")]


def row(label, error, stated, queries):
    return f"| {label} | {100 * error:.2f} % | {100 * stated:.2f} % | {queries:.2f} |"


def compare(name, data, folder):
    """Lines of the page; and of the picture: its title, points of ours, the default's, and the others by name."""
    x, y = data.data, data.target
    wrong, ours, curve = {k: 0 for k in OTHERS}, [], {m: [] for m in MEANS if m < x.shape[1]}
    folds = [(s, *fold) for s in range(SHUFFLES) for fold in model_selection.StratifiedKFold(5, shuffle=True, random_state=s + 1).split(x, y)]
    for shuffle, train, test in folds:
        write(folder / "train.csv", x[train], y[train])
        write(folder / "test.csv", x[test], y[test])
        files = ("--json", "--train", folder / "train.csv", "--test", folder / "test.csv")
        ours.append(json.loads(run(*files)))
        for mean in curve if shuffle == 0 else ():
            curve[mean].append(json.loads(run(*files, "--mean-questions", mean)))
        for other, make in OTHERS.items():
            wrong[other] += int((make().fit(x[train], y[train]).predict(x[test]) != y[test]).sum())
    default, points = sums(ours), {mean: sums(runs) for mean, runs in curve.items()}
    lines = [f"\n## {name}\n\n{x.shape[0]} rows, {x.shape[1]} features, {len(set(y.tolist()))} classes, five folds, shuffled {SHUFFLES} times (rows with `--mean-questions`: once)\n", "| | errors | stated | questions |\n|---|---|---|---|"]
    lines += [row("**few questions, default**", *default)] + [row(f"… `--mean-questions {mean}`", *p) for mean, p in points.items()]
    lines += [f"| {other} | {100 * n / (SHUFFLES * len(y)):.2f} % | | {x.shape[1]} |" for other, n in wrong.items()]
    return lines, (name, list(points.values()), default, {other: n / (SHUFFLES * len(y)) for other, n in wrong.items()})


def digits(directory, folder):
    """MNIST's: a model is fitted once."""
    model = folder / "m.rfc"
    run("fit", "--data", directory, "--task", "digits", "--out", model)
    def predict(*options):
        return json.loads(run("predict", model, f"{directory}/t10k-images-idx3-ubyte.gz", "--labels", f"{directory}/t10k-labels-idx1-ubyte.gz", "--json", *options))
    default, points = sums([predict()]), {goal: sums([predict(*goal.split())]) for goal in MNIST_GOALS}
    lines = ["\n## MNIST, ten digits\n\n60,000 rows, 784 features; 10,000 objects\n", "| | errors | stated | questions |\n|---|---|---|---|", row("**few questions, default**", *default)]
    lines += [row(f"… `{goal}`", *p) for goal, p in points.items()]
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


with tempfile.TemporaryDirectory() as folder:
    parts = []
    for name, load in TABLES.items():
        parts.append(compare(name, load(), pathlib.Path(folder)))
        print("\n".join(parts[-1][0]), flush=True)
    for directory in mnist:
        parts.append(digits(directory, pathlib.Path(folder)))
        print("\n".join(parts[-1][0]), flush=True)
try:
    draw([panel for _, panel in parts])
except ImportError:
    print("matplotlib is not there: no picture", file=sys.stderr)
picture = f"\n![accuracy against mean questions]({pathlib.Path(out).name}.svg)\n" if pathlib.Path(out + ".svg").exists() else ""
head = """# Few questions, compared

Made by `python3 lab/few/compare.py build/rejfilt docs/few DIRECTORY_OF_MNIST`. Errors are counted, *stated* are those that the
probabilities expect. All methods are at their defaults; the others take all features. Budgets of GDFS (Covert et al.,
ICML 2023) are as published: its code, and DIME's, are public and need PyTorch; they were not run here.
"""
pathlib.Path(out + ".md").write_text(head + picture + "\n".join(line for lines, _ in parts for line in lines) + "\n")
