"""Shared by the scripts here: tables as files, folds, and the methods that use all features."""
import csv, json, subprocess

from sklearn import ensemble, linear_model, model_selection, neighbors, pipeline, preprocessing, tree

OTHERS = {
    "5 nearest neighbours": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), neighbors.KNeighborsClassifier(5)),
    "forest": lambda: ensemble.RandomForestClassifier(random_state=1),
    "logistic regression": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression(max_iter=5000)),
    "tree": lambda: tree.DecisionTreeClassifier(random_state=1),
}


def run(command, *arguments):
    return subprocess.run([command, "classify", *map(str, arguments)], stdout=subprocess.PIPE, check=True, text=True).stdout


def write(path, x, y):
    """Each row is a list of numbers or texts; NaN is a missing value."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"f{j}" for j in range(x.shape[1])] + ["label"])
        writer.writerows([*("" if v != v else v for v in row), f"c{label}"] for row, label in zip(x.tolist(), y.tolist()))


def answers(path):
    """By object: the label, the decision, and the decision's probability."""
    with open(path, newline="") as file:
        return [(r["label"], r["decided"], float(r["p_" + r["decided"]])) for r in csv.DictReader(file)]


def sums(runs):
    """Errors, stated errors and questions per object, over several folds."""
    count = sum(r["objects"] for r in runs)
    return [sum(r[key] * r["objects"] for r in runs) / count for key in ("error", "stated_error", "mean_queries")]


def fitted(command, x, y, pairs, folder):
    """By pair of training and test rows: the two, and what predicts the test rows with a model of the others."""
    for train, test in pairs:
        write(folder / "train.csv", x[train], y[train])
        write(folder / "test.csv", x[test], y[test])
        run(command, "fit", folder / "train.csv", "--label", "label", "--out", folder / "m.rfc")
        yield train, test, lambda *options: json.loads(run(command, "predict", folder / "m.rfc", folder / "test.csv", "--json", *options))


def folds_of(command, x, y, shuffles, folder):
    """The same for five folds, shuffled so many times."""
    for s in range(shuffles):
        yield from fitted(command, x, y, model_selection.StratifiedKFold(5, shuffle=True, random_state=s + 1).split(x, y), folder)
