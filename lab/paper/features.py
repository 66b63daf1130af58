"""How few pixels are enough to tell zero from one?"""

import math

from ..report import Claim, Figure, Table, curve, text_of
from ..runner import Row
from .digits import PAPER, RANK, command, error_of, note

TITLE = "how few pixels are enough?"
ABOUT = """Zeros and ones are shuffled and split 10:1, again and again, and classified by the paper's method with 3 restarts and P = 0.001. Pixels are ranked by how often
they are asked in all shuffles together; then those below a percentile are taken away, and all is classified again, with the same shuffles. Of the objects of each
shuffle as many as the settings say are classified, evenly spread."""
SETTINGS = {"particles": 1000, "percentiles": [0, 50, 75, 80, 90, 95, 97.5]}
QUICK = {"shuffles": 3, "objects": 40, "minutes": 0.1}
FULL = {"shuffles": 100, "objects": 400, "minutes": 20}
COUNTS = [784, 392, 196, 157, 78, 39, 20]  # the paper's table, without the two rows around the pixels ever asked


def jobs(s):
    return [()]


def run(s):
    cuts = ",".join(f"{p}%" for p in s.percentiles)
    found, _ = command(s, RANK, task="zero-one", split="10:1", shuffles=s.shuffles, limit=s.objects, particles=s.particles, cuts=cuts, **PAPER)
    for cut in found["cuts"]:
        n = error_of(cut["error"], found["objects"])
        for quantity, x in (("accuracy", cut["percentile"]), ("by features", cut["features"])):
            yield Row(quantity, "kept", x, 100 - 100 * n.value, 100 * n.error)
        yield Row("features", "kept", cut["percentile"], cut["features"])
    yield Row("ever asked", "all", 0, found["ever_asked"])
    yield Row("queries", "all", 0, found["mean_queries"])


def kept(percentile):
    return lambda rows, s: rows.at("accuracy", "kept", percentile)


def off(rows, s):
    return max(abs(rows.value("features", "kept", p) - n) for p, n in zip(s.percentiles, COUNTS))


def strongly(rows, s):
    fifth, few, fewest = (rows.value("accuracy", "kept", p) for p in (80, 95, 97.5))
    return (few - fewest) / (fifth - few) if fifth != few else math.nan


IN = "appendix on feature selection"
CLAIMS = [
    Claim("table", "the percentiles 0, 50, 75, 80, 90, 95 and 97.5 leave 784, 392, 196, 157, 78, 39 and 20 features", "largest difference from those", off, (0, 0), (0, 0), IN + ", table", "0"),
    Claim("ever", "503 features are ever asked", "pixels asked at least once", lambda rows, s: rows.at("ever asked", "all"), (450, 550), where=IN + ", table", number="503", mnist=True),
    Claim("fifth", "the most significant fifth of the pixels is as good as all", "per cent of accuracy lost with 157 pixels", lambda rows, s: kept(0)(rows, s).less(kept(80)(rows, s)),
          (-math.inf, 0.2), (0, 0.3), IN, "not significant", mnist=True),
    Claim("strong", "below 39 pixels the accuracy begins to fall strongly", "accuracy lost from 39 to 20 pixels, over that from 157 to 39", strongly, (0.5, math.inf), where=IN, mnist=True),
    Claim("high", "for all numbers of pixels tried the accuracy is above 99 %", "least accuracy in per cent", lambda rows, s: min((kept(p)(rows, s) for p in s.percentiles), key=lambda n: n.value),
          (99, math.inf), (98.8, 99.5), IN, "99", mnist=True),
    Claim("all", None, "accuracy in per cent with all pixels", kept(0), expect=(99.7, 99.95), mnist=True),
]  # fmt: skip


def report(rows, s):
    def draw(ax):
        curve(ax, rows.of("by features", "kept"), "average over the shuffles")
        ax.set(xscale="log", xlabel="pixels kept", ylabel="accuracy, %")
        ax.set_xticks(COUNTS, map(str, COUNTS))
        ax.minorticks_off()

    yield note(s)
    at = ", ".join(f"{rows.value('accuracy', 'kept', p):.2f} % with {n}" for p, n in zip(s.percentiles, COUNTS))
    yield Figure("accuracy", "Accuracy with the pixels asked most, zero or one", f"Accuracy by the number of pixels kept: {at}.", draw)
    yield Table("By percentile", ["percentile", "pixels kept", "accuracy, %"],
                [[f"{r.x:g}", f"{rows.value('features', 'kept', r.x):.0f}", text_of((r.value, r.error))] for r in rows.of("accuracy", "kept")])  # fmt: skip
    yield (f"{rows.value('ever asked', 'all'):.0f} of the 784 pixels were asked at least once. The paper's table drops from 784 to 503 features between the percentiles 35 and 36, so there 281 pixels "
           "were never asked; that number is the smaller the more objects are classified.")  # fmt: skip
