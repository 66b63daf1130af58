"""DIME (Gadgil et al., ICLR 2024) trained here: python3 lab/few/dime.py COMMAND CHECKOUT PAGE [TABLE...]

CHECKOUT is a directory with the authors' repository suinleelab/DIME, of which the package dime is used. Needs PyTorch,
pytorch-lightning 1.9, torchmetrics and scikit-learn. A section of PAGE is written."""
import sys, tempfile, warnings

import numpy, torch

import peers

command, checkout, page, *wanted = sys.argv[1:]
sys.path.insert(0, checkout)
import pytorch_lightning, torchmetrics
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.loggers.logger import DummyLogger

import dime


def train(x, y, of_training, of_test, seed, how):
    """All settings are those of the authors' experiments/ROSMAP_dementia/greedy_cmi_estimation_pl.py, or of experiments/MNIST for an image."""
    warnings.simplefilter("ignore")
    x, y, check, given = peers.prepare(x, y, of_training, seed, how["scale"])
    features, classes, hidden, is_image = x.shape[1], int(y.max()) + 1, how["hidden"], how is not peers.TABLE
    predictor, value = peers.network(2 * features, classes, hidden), peers.network(2 * features, features, hidden)
    if is_image:  # its networks share two layers
        value[0], value[3] = predictor[0], predictor[3]
    mask, right = dime.MaskLayer(mask_size=features, append=True), torchmetrics.Accuracy(task="multiclass", num_classes=classes)
    with tempfile.TemporaryDirectory() as folder:
        common = dict(accelerator="cpu", devices=1, num_sanity_val_steps=0, logger=DummyLogger(), enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder)
        first = dime.MaskingPretrainer(predictor, mask, lr=1e-3, loss_fn=torch.nn.CrossEntropyLoss(), val_loss_fn=right)
        pytorch_lightning.Trainer(max_epochs=200, enable_checkpointing=False, **common).fit(first, *given)
        both = dime.CMIEstimator(value, predictor, mask, lr=1e-3, min_lr=1e-6, max_features=min(50 if is_image else 15, features), eps=0.05, loss_fn=torch.nn.CrossEntropyLoss(reduction="none"),
                                 val_loss_fn=right, eps_decay=0.2, eps_steps=10, patience=5, cmi_scaling="bounded" if is_image else "positive")
        best = ModelCheckpoint(dirpath=folder, save_top_k=1, monitor="Loss Val/Mean", mode="min")
        pytorch_lightning.Trainer(max_epochs=200 if is_image else 250, callbacks=[best], **common).fit(both, *given)
        both.load_state_dict(torch.load(best.best_model_path)["state_dict"])
    both.eval()
    return [(*asked(both, x[rows], min(features, how["most"])), y[rows].numpy()) for rows in (check, of_test)]


def asked(both, x, most):
    """Probabilities by number of questions, object and class, and minus the information that the next question is expected to give."""
    seen, p, sure = torch.zeros_like(x), [], []
    with torch.no_grad():
        for _ in range(most + 1):
            shown = both.mask_layer(x, seen)
            logits, gain = both.predictor(shown), both.value_network(shown)
            gain = gain.sigmoid() * dime.cmi_estimator.get_entropy(logits)[:, None] if both.cmi_scaling == "bounded" else torch.nn.functional.softplus(gain)
            gain = gain - 1e6 * seen
            p.append(logits.softmax(1).numpy())
            sure.append(-gain.max(1).values.numpy())
            seen[torch.arange(len(x)), gain.argmax(1)] = 1
    return numpy.stack(p), numpy.stack(sure)


if __name__ == "__main__":
    peers.main("DIME", train, lambda sure: [-numpy.inf, *numpy.quantile(sure, numpy.linspace(0, 1, 400)), numpy.inf], f"""
Made by `python3 lab/few/dime.py build/rejfilt CHECKOUT docs/few.md {" ".join(repr(name) for name in wanted)}` with the authors' code, PyTorch
{torch.__version__.split("+")[0]} and pytorch-lightning {pytorch_lightning.__version__}, on the same folds as GDFS, with the same rows to learn from and to validate.
DIME is Gadgil et al., ICLR 2024. Its networks and its training are those of the authors' `experiments/ROSMAP_dementia`:
128 hidden units, at most 15 features while it learns, at most 250 epochs, the epoch with the least validation loss. Three things differ: features are
standardised, a batch has at most a quarter of the training rows, and there are no groups of features. DIME stops where no
question is expected to tell enough; that limit is chosen on the objects that validate.
""", command, page, wanted)
