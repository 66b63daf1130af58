"""Digits told even from odd by asking for few pixels."""

import math

from ..report import Claim, Figure, Table, curve, text_of
from ..runner import Number, Row
from .digits import command, error_of, note

TITLE = "even or odd, asking for few pixels"
ABOUT = """The test images of the given split are classified as even or odd. The paper's method: a cloud of m training images, accepted or rejected by the answers,
replicated to 95 % and refreshed by 5 %; each of R restarts ends when one class has at most P, with at most 784 queries together; the majority decides. The weighted
method keeps a weight for every training image. Nearest neighbours see as many pixels of largest variance, with the number of neighbours that turns out best. The paper
does not say how many particles it has. Where fewer objects than all are classified, they are evenly spread."""
SETTINGS = {"restarts": [1, 3, 5], "stops": [0.1, 0.01, 0.001], "neighbours": [1, 3, 5, 7, 9, 11], "pixels": [12, 25, 50, 100, 150, 200, 300, 400, 784]}
QUICK = {"particles": [100, 1000], "paper_objects": 60, "objects": 300, "minutes": 1}
FULL = {"particles": [1000, 3000], "paper_objects": 2000, "objects": 10000, "minutes": 15}
NEIGHBOURS = "neighbours"


def name(m, r):
    return f"paper m = {m} R = {r}"


def jobs(s):
    papers = [("paper", m, r, stop) for m in reversed(s.particles) for r in reversed(s.restarts) for stop in reversed(s.stops)]
    return papers + [("weighted", 0, 0, stop) for stop in s.stops] + [(NEIGHBOURS, n, 0, 0) for n in reversed(s.pixels)]


def run(s, way, m, r, stop):
    if way == NEIGHBOURS:
        found, _ = command(s, ("classify",), task="even-odd", limit=s.objects, knn=",".join(map(str, s.neighbours)), knn_features=m, stop=0.001, pilot=0)
        best = min(found["knn"], key=lambda k: k["errors"])
        n = error_of(best["error"], found["objects"])
        yield Row("error", way, m, *n)
        yield Row("by queries", way, m, *n.percent())
        yield Row("k", way, m, best["k"])
        return
    of, more = (name(m, r), {"particles": m, "restarts": r, "limit": s.paper_objects}) if way == "paper" else (way, {"limit": s.objects, "pilot": 0, "budget": 784})
    found, _ = command(s, ("classify",), task="even-odd", method=way, stop=stop, **more)
    n = error_of(found["error"], found["objects"])
    yield Row("error", of, stop, *n)
    yield Row("queries", of, stop, found["mean_queries"])
    yield Row("by queries", of, found["mean_queries"], *n.percent())
    yield Row("objects", of, stop, found["objects"])


def papers(rows):
    return [r for r in rows.of("error") if r.of.startswith("paper")]


def neighbours_at(rows, pixels):
    """The neighbours' error with this number of pixels, interpolated."""
    points = sorted(rows.of("error", NEIGHBOURS), key=lambda r: r.x)
    for a, b in zip(points, points[1:]):
        if a.x <= pixels <= b.x:
            return a.value + math.log(pixels / a.x) / math.log(b.x / a.x) * (b.value - a.value)
    return math.nan


def all_pixels(rows, s):
    return rows.at("error", NEIGHBOURS, s.pixels[-1])


def best(rows, s):
    r = min(papers(rows), key=lambda r: r.value)
    return Number(r.value, r.error).over(all_pixels(rows, s))


def weighted(rows, s):
    return rows.at("error", "weighted", 0.001).over(all_pixels(rows, s))


def fewer(rows, s):
    return min((r.value / neighbours_at(rows, q) for r in papers(rows) if not math.isnan(neighbours_at(rows, q := rows.value("queries", r.of, r.x)))), default=math.nan)


IN = "appendix, figure on even and odd"
CLAIMS = [
    Claim("quarter", "25 % less error than the nearest neighbours, even on all pixels", "error of the paper's method, the best of all settings, over that of the neighbours on all pixels", best,
          (-math.inf, 0.75), (1, 4), IN, "at most 0.75", "with the weighted method", weighted, mnist=True),
    Claim("fewer", "higher accuracy than the nearest neighbours with fewer queries", "error of the paper's method over that of the neighbours on as many pixels, the best of all settings", fewer,
          (-math.inf, 1), where=IN, number="below 1", mnist=True),
    Claim("weighted", None, "error of the weighted method over that of the neighbours on all pixels", weighted, expect=(0.5, 0.75), mnist=True),
    Claim("weighted-queries", None, "pixels that the weighted method asks for", lambda rows, s: rows.at("queries", "weighted", 0.001), expect=(20, 27), mnist=True),
    Claim("thousand", None, "error in per cent of the paper's method, m = 1,000, 3 restarts, P = 0.001", lambda rows, s: rows.at("error", name(1000, 3), 0.001).percent(), expect=(3, 4), mnist=True),
    Claim("thousand-queries", None, "pixels that it asks for", lambda rows, s: rows.at("queries", name(1000, 3), 0.001), expect=(215, 260), mnist=True),
]  # fmt: skip


def report(rows, s):
    def draw(ax):
        for m in s.particles:
            for r in s.restarts:
                curve(ax, sorted(rows.of("by queries", name(m, r)), key=lambda r: r.x), f"m {m} R {r}")
        curve(ax, sorted(rows.of("by queries", "weighted"), key=lambda r: r.x), "weighted", "D-", color="black")
        curve(ax, sorted(rows.of("by queries", NEIGHBOURS), key=lambda r: r.x), "nearest neighbours", "s--", color="#999999")
        ax.set(xscale="log", yscale="log", ylim=(0.1, None), xlabel="pixels asked of an object, on average", ylabel="error, %")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda x, _: f"{x:g}")
        ax.legend(bbox_to_anchor=(1, 1), loc="upper left")

    yield note(s)
    worst = f"the weighted method errs in {100 * rows.value('error', 'weighted', 0.001):.2g} % with {rows.value('queries', 'weighted', 0.001):.0f} pixels, the paper's method in " \
            f"{100 * min(r.value for r in papers(rows)):.2g} % at best, nearest neighbours in {100 * all_pixels(rows, s).value:.2g} % on all pixels and in ever more as they see fewer"  # fmt: skip
    yield Figure("error", "Errors by pixels asked, even against odd", f"Errors by the number of pixels asked: {worst}.", draw)
    yield Table("Even against odd", ["method", "P, or pixels", "error, %", "pixels asked", "objects"], [
        [r.of, f"{r.x:g}", text_of((100 * r.value, 100 * r.error)), *(f"{v:.4g}" if not math.isnan(v := rows.value(q, r.of, r.x)) else "–" for q in ("queries", "objects"))] for r in rows.of("error")])  # fmt: skip
