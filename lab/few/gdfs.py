"""GDFS (Covert et al., ICML 2023) trained here: python3 lab/few/gdfs.py COMMAND CHECKOUT PAGE [TABLE...]

CHECKOUT is a directory with the authors' repository iancovert/dynamic-selection, of which the package dynamic_selection is used. Needs PyTorch, pytorch-lightning, torchmetrics, pandas and scikit-learn. Both methods learn from the same
rows. A section is put at the end of PAGE. Folds are trained side by side, each on one core."""
import concurrent.futures, os, pathlib, sys, tempfile

import numpy, torch
from sklearn import datasets, model_selection

import tables

command, checkout, page, *wanted = sys.argv[1:]
sys.path.insert(0, checkout)
BUDGETS = (1, 2, 3, 5, 8, 12, 20)
HEAD = "\n## GDFS, trained here\n"


class Plateau(torch.optim.lr_scheduler.ReduceLROnPlateau):
    """With the argument `verbose`, which newer versions of PyTorch refuse."""

    def __init__(self, *arguments, verbose=False, **named):
        super().__init__(*arguments, **named)


torch.optim.lr_scheduler.ReduceLROnPlateau = Plateau
import dynamic_selection


def network(inputs, outputs, hidden):
    layers = [torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Dropout(0.3)]
    return torch.nn.Sequential(*layers, torch.nn.Linear(hidden, outputs))


def train(x, y, of_training, of_test, seed, how):
    """Probabilities of classes after 0, 1, 2, ... features: of the objects that validate, and of the test's. All settings are those
    of the authors' experiments/tabular/run.py, or of experiments/mnist/run.py for an image. A quarter of the training rows validates."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    numpy.random.seed(seed)
    learn, check = model_selection.train_test_split(of_training, test_size=0.25, random_state=seed, stratify=y[of_training])
    x = torch.tensor(how["scale"](x, of_training), dtype=torch.float32)
    y = torch.tensor(y, dtype=torch.int64)
    load = lambda rows, **named: torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[rows], y[rows]), **named)
    given = load(learn, batch_size=min(128, len(learn) // 4), shuffle=True, drop_last=True), load(check, batch_size=1024)
    features, classes, hidden = x.shape[1], int(y.max()) + 1, how["hidden"]
    predictor, selector = network(2 * features, classes, hidden), network(2 * features, features, hidden)
    mask, most = dynamic_selection.MaskLayer(append=True), min(how["most"], features)
    common = dict(lr=1e-3, loss_fn=torch.nn.CrossEntropyLoss(), patience=5, verbose=False)
    dynamic_selection.MaskingPretrainer(predictor, mask).fit(*given, nepochs=100, **common)
    gdfs = dynamic_selection.GreedyDynamicSelection(selector, predictor, mask)
    gdfs.fit(*given, nepochs=250, max_features=most, **common)
    gdfs.eval()
    with torch.no_grad():
        return [(numpy.stack([gdfs(x[rows], k)[0].softmax(1).numpy() for k in range(most + 1)]), y[rows].numpy()) for rows in (check, of_test)]


def stopped(p, limit, y):
    """Wrong objects, and questions, if an object's questions end when a class has the probability `limit`."""
    sure = p.max(2) >= limit
    steps = numpy.where(sure.any(0), sure.argmax(0), len(p) - 1)
    return int((p[steps, numpy.arange(len(y))].argmax(1) != y).sum()), int(steps.sum())


def stop_at(mean, p, y):
    """The limit with the most questions up to `mean` of an object that validates."""
    limits = [0, *(1 - numpy.geomspace(0.5, 1e-7, 300)), 2]
    return max(limit for limit in limits if stopped(p, limit, y)[1] <= mean * len(y))


def standard(x, rows):
    return (x - x[rows].mean(0)) / numpy.maximum(x[rows].std(0), 1e-3)


TABLE = {"hidden": 128, "most": 35, "scale": standard}
FOLDS = {
    "wine": (datasets.load_wine, TABLE),
    "breast cancer": (datasets.load_breast_cancer, TABLE),
    "digits, 8 × 8": (datasets.load_digits, {"hidden": 512, "most": 50, "scale": lambda x, rows: x / 16}),
}


def jobs():
    """By table: numbers, classes, pairs of training and test rows, and how GDFS is trained on them."""
    for name, (load, how) in FOLDS.items():
        x, y = load(return_X_y=True)
        yield name, x, y, list(model_selection.StratifiedKFold(5, shuffle=True, random_state=1).split(x, y)), how


def compare(name, x, y, folds, how, pool, folder):
    runs = [pool.submit(train, x, y, *fold, seed, how) for seed, fold in enumerate(folds)]
    budgets = [b for b in BUDGETS if b < x.shape[1]]
    ours = {(key, b): [] for key in ("--budget", "--mean-questions") for b in budgets}
    for _, _, predict in tables.fitted(command, x, y, folds, folder):
        for (key, b), got in ours.items():
            got.append(predict(key, b, *(["--stop", 0.0001] if key == "--budget" else [])))
    results = [run.result() for run in runs]
    count = sum(len(y) for _, (_, y) in results)
    lines = [f"\n### {name}\n\n{x.shape[0]} rows, {x.shape[1]} features\n", "| | budget: ours | GDFS | mean questions: ours | GDFS |\n|---|---|---|---|---|"]
    for b in budgets:
        wrong = sum(int((p[min(b, len(p) - 1)].argmax(1) != y).sum()) for _, (p, y) in results)
        stops = [stopped(p, stop_at(b, *check), y) for check, (p, y) in results]
        (fixed, _, _), (error, _, asked) = [tables.sums(ours[key, b]) for key in ("--budget", "--mean-questions")]
        lines.append(f"| {b} | {100 * fixed:.2f} % | {100 * wrong / count:.2f} % | {100 * error:.2f} % with {asked:.2f} | {100 * sum(w for w, _ in stops) / count:.2f} % with {sum(q for _, q in stops) / count:.2f} |")
    return lines


if __name__ == "__main__":
    parts = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for job in jobs():
            if not wanted or job[0] in wanted:
                parts += compare(*job, pool, pathlib.Path(folder))
                print("\n".join(parts), flush=True)
    old = pathlib.Path(page).read_text() if pathlib.Path(page).exists() else ""
    text = f"""{HEAD}
Made by `python3 lab/few/gdfs.py build/rejfilt CHECKOUT docs/few.md {" ".join(repr(name) for name in wanted)}` with the authors' code and PyTorch
{torch.__version__.split("+")[0]}, on the same five folds, shuffled once. Both learn from the same rows; a quarter of them validates for GDFS. Its networks and
its training are those of the authors' `experiments/tabular/run.py`: 128 hidden units, at most 250 epochs at each of five
temperatures, at most 35 features. Two things differ. Features are standardised, since these are in their own units, and a batch has at
most a quarter of the training rows, since the authors' 128 would leave no batch of wine.
A budget is the same for all objects, as in the authors' evaluation. Mean questions are `--mean-questions` for us. GDFS
stops where a class is probable enough; that limit is chosen on the objects that validate.
"""
    pathlib.Path(page).write_text(old.partition(HEAD)[0] + text + "\n".join(parts) + "\n")
