"""Which pixels are asked for, and which vary?"""

import math

import numpy as np

from ..report import Claim, Figure, Table
from ..runner import Row
from .digits import PAPER, RANK, SIDE, command, note

TITLE = "pixels asked for, and pixels that vary"
ABOUT = """The test images of the given split are classified by the paper's method, with 3 restarts and P = 0.001, and every query is counted. Beside it, the variance of
each pixel over the training images."""
SETTINGS = {"particles": 1000}
QUICK = {"objects": 60, "minutes": 0.1}
FULL = {"objects": 2000, "minutes": 1}
TASKS = {"zero-one": "zero or one", "even-odd": "even or odd"}
MOST = 200  # pixels of largest variance that are ranked; those near the edge carry no information


def jobs(s):
    return [(task,) for task in TASKS]


def run(s, task):
    found, rows = command(s, RANK, task=task, limit=s.objects, particles=s.particles, cuts="none", **PAPER)
    for r in sorted(rows, key=lambda r: int(r["feature"])):
        yield Row("asked", task, int(r["feature"]), int(r["asked"]) / found["objects"])
        yield Row("variance", task, int(r["feature"]), float(r["variance"]))


def maps(rows, task):
    """How often pixels are asked, and their variance; both orders, most first."""
    asked, variance = (np.array([r.value for r in rows.of(quantity, task)]) for quantity in ("asked", "variance"))
    return asked, variance, np.lexsort((-variance, -asked)), np.argsort(-variance, kind="stable")


def place(rows, s):
    _, _, asked, varies = maps(rows, "zero-one")
    return list(varies).index(asked[0]) + 1


def second(rows, s):
    _, variance, order, _ = maps(rows, "zero-one")
    return variance[order[1]] / variance.max()


def spared(share):
    def count(rows, s):
        asked, _, _, varies = maps(rows, "zero-one")
        some = asked[varies[:50]]
        return int(((some == 0) | (some < share * asked.max())).sum())

    return count


def correlation(task):
    """Spearman's, of how often pixels are asked and their variance."""

    def rank(rows, s):
        _, _, order, varies = maps(rows, task)
        among = {pixel: k for k, pixel in enumerate(varies[:MOST])}
        others = np.array([among[p] for p in order if p in among])
        return 1 - 6 * ((np.arange(MOST) - others) ** 2).sum() / (MOST * (MOST**2 - 1))

    return rank


IN = "appendix, on handwriting"
CLAIMS = [
    Claim("middle", "zero or one: asked most is the pixel in the middle, which varies most", "place of the pixel asked most, by variance", place, (1, 1), where=IN, number="1", mnist=True),
    Claim("second", "zero or one: asked second most is a pixel that varies relatively little", "variance of the pixel asked second most, over the largest", second, (-math.inf, 0.75), where=IN,
          mnist=True),
    Claim("never", "zero or one: many pixels that vary much, near the one that varies most, are never asked", "how many of the 50 pixels that vary most are never asked", spared(0), (10, math.inf),
          where=IN, number="many", change="counting those asked less than a twentieth as often as the pixel asked most", changed=spared(0.05), mnist=True),
    Claim("even-odd", "even or odd: variance and importance are not the same thing there, either",
          "rank correlation of how often pixels are asked and their variance, of the 200 that vary most", correlation("even-odd"), (-math.inf, 0.8), (0.2, 0.6), IN, mnist=True),
    Claim("zero-one", None, "the same rank correlation, zero or one", correlation("zero-one"), expect=(0.1, 0.5), mnist=True),
]  # fmt: skip


def report(rows, s):
    def picture(values, label):
        def draw(ax):
            shown = ax.imshow(values.reshape(SIDE, SIDE), cmap="Greys")
            ax.grid(False)
            ax.set_xticks([0, 9, 18, 27]), ax.set_yticks([0, 9, 18, 27])
            ax.figure.colorbar(shown, label=label, shrink=0.8)

        return draw

    yield note(s)
    for task, title in TASKS.items():
        asked, variance, order, varies = maps(rows, task)
        at = [f"row {p // SIDE}, column {p % SIDE}" for p in order[:2]]
        yield Figure(f"asked-{task}", f"How often a pixel is asked for, {title}", f"A map of 28 by 28 pixels. Darkest is {at[0]}, asked {asked[order[0]]:.2f} times per object; next comes {at[1]}, with "
                     f"{asked[order[1]]:.2f}. At the edge no pixel is asked.", picture(asked, "per object"), (4.6, 3.8))  # fmt: skip
        yield Figure(f"variance-{task}", f"Variance of a pixel over the training images, {title}",
                     "A map of 28 by 28 pixels: the variance is large over the whole middle of the image and falls smoothly to its edge.", picture(variance, "variance"), (4.6, 3.8))  # fmt: skip
        yield Table(f"The pixels asked most, {title}", ["row", "column", "asked per object", "variance / largest", "place by variance"], [
            [str(p // SIDE), str(p % SIDE), f"{asked[p]:.3f}", f"{variance[p] / variance.max():.2f}", str(list(varies).index(p) + 1)] for p in order[:5]])  # fmt: skip
