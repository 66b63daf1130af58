"""Few questions beside methods that take all features: python3 lab/few/compare.py COMMAND OUT.md [MNIST_DIRECTORY]

Needs scikit-learn (a virtual environment will do: python3 -m venv v && v/bin/pip install scikit-learn). The tables are those
that scikit-learn ships; all methods get the same five folds, and settings are their defaults. With a directory of MNIST's four
files, accuracy at budgets of pixels is put beside what the authors of GDFS (Covert et al., ICML 2023) published."""
import csv, json, pathlib, subprocess, sys, tempfile

from sklearn import datasets, ensemble, linear_model, model_selection, neighbors, pipeline, preprocessing, tree

command, out, *mnist = sys.argv[1:]
TABLES = {"wine": datasets.load_wine, "breast cancer": datasets.load_breast_cancer, "digits": datasets.load_digits, "iris": datasets.load_iris}
OTHERS = {
    "5 nearest neighbours": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), neighbors.KNeighborsClassifier(5)),
    "forest": lambda: ensemble.RandomForestClassifier(random_state=1),
    "logistic regression": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression(max_iter=5000)),
    "tree": lambda: tree.DecisionTreeClassifier(random_state=1),
}
GDFS = {5: 69.0, 10: 87.1, 15: 92.4, 20: 94.4, 30: 96.4}
MEANS = (1, 2, 3, 5, 8, 12, 20)


def classify(*arguments):
    return json.loads(subprocess.run([command, "classify", "--json", *map(str, arguments)], stdout=subprocess.PIPE, check=True, text=True).stdout)


def write(path, x, y):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"f{j}" for j in range(x.shape[1])] + ["label"])
        writer.writerows([*row, f"c{label}"] for row, label in zip(x.tolist(), y.tolist()))


def compare(name, data, folder):
    """Rows of the page: ours by default, ours by mean questions, and the others."""
    x, y = data.data, data.target
    errors, ours, curve = {k: 0 for k in OTHERS}, [], {m: [] for m in MEANS if m < x.shape[1]}
    for train, test in model_selection.StratifiedKFold(5, shuffle=True, random_state=1).split(x, y):
        write(folder / "train.csv", x[train], y[train])
        write(folder / "test.csv", x[test], y[test])
        files = ("--train", folder / "train.csv", "--test", folder / "test.csv")
        ours.append(classify(*files))
        for mean in curve:
            curve[mean].append(classify(*files, "--mean-questions", mean))
        for other, make in OTHERS.items():
            errors[other] += int((make().fit(x[train], y[train]).predict(x[test]) != y[test]).sum())
    def row(label, runs):
        count = sum(r["objects"] for r in runs)
        error, stated = sum(r["errors"] for r in runs) / count, sum(r["stated_error"] * r["objects"] for r in runs) / count
        return f"| {label} | {100 * error:.2f} % | {100 * stated:.2f} % | {sum(r['mean_queries'] * r['objects'] for r in runs) / count:.2f} |"
    yield f"\n{name}: {x.shape[0]} rows, {x.shape[1]} features, {len(set(y.tolist()))} classes\n\n| | errors | stated | questions |\n|---|---|---|---|"
    yield row("few questions, default", ours)
    for mean, runs in curve.items():
        yield row(f"… `--mean-questions {mean}`", runs)
    for other, wrong in errors.items():
        yield f"| {other} | {100 * wrong / len(y):.2f} % | | {x.shape[1]} |"


def budgets(directory):
    yield "\nMNIST, accuracy at a budget of pixels\n\n| pixels | ours | GDFS, as published |\n|---|---|---|"
    for budget, published in GDFS.items():
        got = classify("--data", directory, "--task", "digits", "--budget", budget)
        yield f"| {budget} | {100 - 100 * got['error']:.2f} % | {published} % |"


with tempfile.TemporaryDirectory() as folder, open(out, "w") as page:
    parts = [compare(name, load(), pathlib.Path(folder)) for name, load in TABLES.items()] + [budgets(d) for d in mnist]
    for part in parts:
        for line in part:
            print(line, flush=True)
            print(line, file=page)
