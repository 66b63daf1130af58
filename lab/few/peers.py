"""Shared by gdfs.py and dime.py: neural networks that choose features, trained on the same folds as few questions.

Both learn from the same rows, of which a quarter validates for the networks. Folds are trained side by side, each on one core."""
import concurrent.futures, os, pathlib, tempfile

import numpy, torch
from sklearn import datasets, model_selection

import tables

BUDGETS = (1, 2, 3, 5, 8, 12, 20)
NEXT = "\n## "


class Plateau(torch.optim.lr_scheduler.ReduceLROnPlateau):
    """With the argument `verbose`, which newer versions of PyTorch refuse."""

    def __init__(self, *arguments, verbose=False, **named):
        super().__init__(*arguments, **named)


torch.optim.lr_scheduler.ReduceLROnPlateau = Plateau


def network(inputs, outputs, hidden):
    layers = [torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Dropout(0.3)]
    return torch.nn.Sequential(*layers, torch.nn.Linear(hidden, outputs))


def standard(x, rows):
    return (x - x[rows].mean(0)) / numpy.maximum(x[rows].std(0), 1e-3)


TABLE = {"hidden": 128, "most": 35, "scale": standard}
FOLDS = {
    "wine": (datasets.load_wine, TABLE),
    "breast cancer": (datasets.load_breast_cancer, TABLE),
    "digits, 8 × 8": (datasets.load_digits, {"hidden": 512, "most": 50, "scale": lambda x, rows: x / 16}),
}


def prepare(x, y, of_training, seed, scale):
    """Numbers and classes as tensors; the rows to learn from, and those that validate; loaders of both."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    numpy.random.seed(seed)
    learn, check = model_selection.train_test_split(of_training, test_size=0.25, random_state=seed, stratify=y[of_training])
    x = torch.tensor(scale(x, of_training), dtype=torch.float32)
    y = torch.tensor(y, dtype=torch.int64)
    load = lambda rows, **named: torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[rows], y[rows]), **named)
    return x, y, check, (load(learn, batch_size=min(128, len(learn) // 4), shuffle=True, drop_last=True), load(check, batch_size=1024))


def stopped(steps, limit):
    """Wrong objects, and questions, if an object's questions end when it is as sure as `limit`. steps: probabilities by number
    of questions, object and class; how sure it is, by number and object; classes."""
    p, sure, y = steps
    enough = sure >= limit
    end = numpy.where(enough.any(0), enough.argmax(0), len(p) - 1)
    return int((p[end, numpy.arange(len(y))].argmax(1) != y).sum()), int(end.sum())


def stop_at(mean, steps, limits):
    """The limit with the most questions up to `mean` of an object that validates."""
    return max(limit for limit in limits if stopped(steps, limit)[1] <= mean * len(steps[2]))


def compare(command, method, train, limits, name, pool, folder):
    """Lines of the page. train(x, y, of_training, of_test, seed, how) returns steps (see stopped()) of validating and of test objects."""
    load, how = FOLDS[name]
    x, y = load(return_X_y=True)
    folds = list(model_selection.StratifiedKFold(5, shuffle=True, random_state=1).split(x, y))
    runs = [pool.submit(train, x, y, *fold, seed, how) for seed, fold in enumerate(folds)]
    budgets = [b for b in BUDGETS if b < x.shape[1]]
    ours = {(key, b): [] for key in ("--budget", "--mean-questions") for b in budgets}
    for _, _, predict in tables.fitted(command, x, y, folds, folder):
        for (key, b), got in ours.items():
            got.append(predict(key, b, *(["--stop", 0.0001] if key == "--budget" else [])))
    results = [run.result() for run in runs]
    count = sum(len(of_test[2]) for _, of_test in results)
    lines = [f"\n### {name}\n\n{x.shape[0]} rows, {x.shape[1]} features\n", f"| | budget: ours | {method} | mean questions: ours | {method} |\n|---|---|---|---|---|"]
    for b in budgets:
        wrong = sum(int((p[min(b, len(p) - 1)].argmax(1) != y).sum()) for _, (p, _, y) in results)
        stops = [stopped(of_test, stop_at(b, check, limits(check[1]))) for check, of_test in results]
        (fixed, _, _), (error, _, asked) = [tables.sums(ours[key, b]) for key in ("--budget", "--mean-questions")]
        lines.append(f"| {b} | {100 * fixed:.2f} % | {100 * wrong / count:.2f} % | {100 * error:.2f} % with {asked:.2f} | {100 * sum(w for w, _ in stops) / count:.2f} % with {sum(q for _, q in stops) / count:.2f} |")
    return lines


def put_section(page, head, text):
    """Replaces the section of a page that begins with the line `head`, or adds it."""
    old = page.read_text() if page.exists() else ""
    before, found, rest = old.partition(f"\n{head}\n")
    after = rest.partition(NEXT)
    page.write_text(before + (found or f"\n{head}\n") + text + (after[1] + after[2]))


def main(method, train, limits, text, command, page, wanted):
    """Writes a section of the page: `text`, and a table for each data set that is wanted (none: all)."""
    lines = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name in FOLDS:
            if not wanted or name in wanted:
                lines += compare(command, method, train, limits, name, pool, pathlib.Path(folder))
                print("\n".join(lines), flush=True)
    put_section(pathlib.Path(page), f"## {method}, trained here", text + "\n".join(lines) + "\n")
