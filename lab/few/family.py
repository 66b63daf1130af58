"""Few questions on tables drawn at random: python3 lab/few/family.py COMMAND OUT [TABLES [SEED]]

Writes OUT.md. Tables have 30 to 3,000 rows, 3 to 120 features and 2 to 12 classes, made by scikit-learn; each has one trouble of
TROUBLES. All methods are at their defaults and get the same five folds. z compares errors with those of five nearest
neighbours on the same objects (McNemar): above 2, ours are more than chance gives. Needs scikit-learn, as compare.py does."""
import math, pathlib, sys, tempfile, warnings

import numpy
from sklearn import datasets, exceptions

from tables import OTHERS, answers, folds_of, sums

TROUBLES = ("none", "constant columns", "huge whole numbers", "heavy tails", "categories", "a tenth missing", "a rare class", "copied columns", "labels that are wrong", "few rows",
            "many classes", "many columns", "clouds")


def table(draw, trouble):
    """Features (numbers or texts), the same as numbers only, and classes."""
    rows = int(draw.integers(30, 100)) if trouble == "few rows" else int(round(10 ** draw.uniform(2.1, 3.48)))
    columns = int(draw.integers(60, 121)) if trouble == "many columns" else int(round(10 ** draw.uniform(0.5, 1.6)))
    classes = int(draw.integers(8, 13)) if trouble == "many classes" else int(draw.choice([2, 2, 3, 4, 5]))
    classes = min(classes, rows // 12)
    telling = max(int(math.ceil(math.log2(2 * classes))), int(draw.integers(2, min(columns, 10) + 1)))
    columns = max(columns, telling)
    state, apart = int(draw.integers(1 << 30)), float(draw.uniform(0.8, 2.5))
    if trouble == "clouds":
        x, y = datasets.make_blobs(rows, n_features=columns, centers=classes, cluster_std=float(draw.uniform(1.5, 6)), random_state=state)
    else:
        weights = [0.95 if classes == 2 else 0.8] + [0.05 / (classes - 1) if classes == 2 else 0.2 / (classes - 1)] * (classes - 1) if trouble == "a rare class" else None
        x, y = datasets.make_classification(rows, columns, n_informative=telling, n_redundant=int(draw.integers(0, columns - telling + 1)) // 2, n_classes=classes, weights=weights,
                                            n_clusters_per_class=1 if 2 ** telling < 4 * classes else 2, class_sep=apart, flip_y=0.15 if trouble == "labels that are wrong" else 0.01, random_state=state)
    if trouble == "constant columns":
        x[:, draw.random(columns) < 0.3] = 7
    elif trouble == "huge whole numbers":
        x = numpy.round(x * 1e6) * 1e5 + 1e13
    elif trouble == "heavy tails":
        x = numpy.sinh(2 * x) * numpy.exp(draw.normal(size=columns) * 3)
    elif trouble == "a tenth missing":
        x = numpy.where(draw.random(x.shape) < 0.1, math.nan, x)
    elif trouble == "copied columns":
        x = x[:, draw.integers(0, columns, 2 * columns)]
    keep = numpy.isin(y, [c for c in range(classes) if (y == c).sum() >= 6])
    x, y = x[keep], y[keep]
    numbers = numpy.nan_to_num(x - numpy.nanmean(x, axis=0))
    if trouble == "categories":
        texts = x.astype(object)
        for j in range(0, columns, 2):
            codes = numpy.digitize(x[:, j], numpy.quantile(x[:, j], [0.2, 0.4, 0.6, 0.8]))
            texts[:, j] = numpy.array(list("qwxyz"))[draw.permutation(5)][codes]
            numbers = numpy.concatenate([numbers, numpy.eye(5)[codes]], axis=1)
        numbers, x = numpy.delete(numbers, range(0, columns, 2), axis=1), texts
    return x, numbers, y


def try_table(command, trouble, draw, folder):
    """A line of the page; our errors, the neighbours' errors, and z."""
    x, numbers, y = table(draw, trouble)
    wrong, ours, is_wrong = {name: numpy.zeros(len(y), bool) for name in OTHERS}, [], numpy.zeros(len(y), bool)
    for train, test, predict in folds_of(command, x, y, 1, folder):
        ours.append(predict("--out", folder / "out.csv"))
        is_wrong[test] = [label != decided for label, decided, _ in answers(folder / "out.csv")]
        for name, make in OTHERS.items():
            wrong[name][test] = make().fit(numbers[train], y[train]).predict(numbers[test]) != y[test]
    neighbours = wrong["5 nearest neighbours"]
    more, less = int((is_wrong & ~neighbours).sum()), int((neighbours & ~is_wrong).sum())
    z = (more - less) / math.sqrt(max(more + less, 1))
    error, stated, queries = sums(ours)
    others = " | ".join(f"{100 * w.mean():.1f} %" for w in wrong.values())
    return f"| {trouble} | {len(y)} × {x.shape[1]}, {len(set(y.tolist()))} | {100 * error:.1f} % | {100 * stated:.1f} % | {queries:.1f} | {others} | {z:+.1f} |", int(is_wrong.sum()), int(neighbours.sum()), z


def main(command, out, tables=26, seed=1):
    warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
    lines = [f"# Few questions on tables drawn at random\n\nMade by `python3 lab/few/family.py build/rejfilt {out} {tables} {seed}`. z > 2: more errors than five nearest neighbours, beyond chance.\n",
             "| trouble | rows × features, classes | errors | stated | questions | " + " | ".join(OTHERS) + " | z |", "|---|---|---|---|---|" + "---|" * (len(OTHERS) + 1)]
    all_wrong = [0, 0, 0]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(int(tables)):
            line, mine, theirs, z = try_table(command, TROUBLES[number % len(TROUBLES)], numpy.random.default_rng([int(seed), number]), pathlib.Path(folder))
            all_wrong = [all_wrong[0] + mine, all_wrong[1] + theirs, all_wrong[2] + (z > 2)]
            lines.append(line)
            print(line, flush=True)
    lines.append(f"\nIn all {all_wrong[0]} errors, the neighbours {all_wrong[1]}; worse beyond chance on {all_wrong[2]} of {tables} tables.")
    print(lines[-1])
    pathlib.Path(out + ".md").write_text("\n".join(lines) + "\n")


main(*sys.argv[1:])
