"""GDFS (Covert et al., ICML 2023) trained here: python3 lab/few/gdfs.py COMMAND CHECKOUT PAGE [TABLE...]

CHECKOUT is a directory with the authors' repository iancovert/dynamic-selection, of which the package dynamic_selection is used.
Needs PyTorch, pytorch-lightning, torchmetrics, pandas and scikit-learn. A section of PAGE is written."""
import sys

import numpy, torch

import peers

command, checkout, page, *wanted = sys.argv[1:]
sys.path.insert(0, checkout)
import dynamic_selection


def train(x, y, of_training, of_test, seed, how):
    """All settings are those of the authors' experiments/tabular/run.py, or of experiments/mnist/run.py for an image."""
    x, y, check, given = peers.prepare(x, y, of_training, seed, how["scale"])
    features, classes, hidden = x.shape[1], int(y.max()) + 1, how["hidden"]
    predictor, selector = peers.network(2 * features, classes, hidden), peers.network(2 * features, features, hidden)
    mask, most = dynamic_selection.MaskLayer(append=True), min(how["most"], features)
    common = dict(lr=1e-3, loss_fn=torch.nn.CrossEntropyLoss(), patience=5, verbose=False)
    dynamic_selection.MaskingPretrainer(predictor, mask).fit(*given, nepochs=100, **common)
    gdfs = dynamic_selection.GreedyDynamicSelection(selector, predictor, mask)
    gdfs.fit(*given, nepochs=250, max_features=most, **common)
    gdfs.eval()
    steps = []
    for rows in (check, of_test):
        with torch.no_grad():
            p = numpy.stack([gdfs(x[rows], k)[0].softmax(1).numpy() for k in range(most + 1)])
        steps.append((p, p.max(2), y[rows].numpy()))
    return steps


if __name__ == "__main__":
    peers.main("GDFS", train, lambda sure: [0, *(1 - numpy.geomspace(0.5, 1e-7, 300)), 2], f"""
Made by `python3 lab/few/gdfs.py build/rejfilt CHECKOUT docs/few.md {" ".join(repr(name) for name in wanted)}` with the authors' code and PyTorch
{torch.__version__.split("+")[0]}, on the same five folds, shuffled once. Both learn from the same rows; a quarter of them validates for GDFS. Its networks and
its training are those of the authors' `experiments/tabular/run.py`: 128 hidden units, at most 250 epochs at each of five
temperatures, at most 35 features. Two things differ. Features are standardised, since these are in their own units, and a batch has at
most a quarter of the training rows, since the authors' 128 would leave no batch of wine.
A budget is the same for all objects, as in the authors' evaluation. Mean questions are `--mean-questions` for us. GDFS
stops where a class is probable enough; that limit is chosen on the objects that validate.
""", command, page, wanted)
