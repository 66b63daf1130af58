"""Verdicts, and a report as Markdown, as HTML in one file, and as JSON. Everything in it is computed from rows.

A module of an experiment has TITLE, ABOUT, CLAIMS and `report(rows, s)`, which yields texts, tables and figures in their order."""

import base64
import hashlib
import html
import io
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib
from matplotlib.figure import Figure as Canvas

from .runner import Number

HOLDS, CHANGED, FAILS, UNMEASURED = "holds", "holds with a change", "does not hold", "not measured"
COLOURS = ["#2471a3", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#34495e", "#16a085", "#7f8c8d"]
matplotlib.rcParams.update({
    "svg.fonttype": "path", "svg.hashsalt": "rejfilt", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#dddddd",
    "grid.linewidth": 0.6, "axes.axisbelow": True, "axes.prop_cycle": matplotlib.cycler(color=COLOURS), "legend.frameon": False, "legend.fontsize": 9, "lines.linewidth": 1.4,
})  # fmt: skip


@dataclass
class Claim:
    """What the paper says (None: only a number that we know), and our number for it: `value(rows, s)`, a Number or a float.

    holds: the bounds within which the claim holds. expect: where our number was in earlier computations; outside by 3 standard errors the
    run fails. changed: the number with the change that makes the claim hold."""

    name: str
    paper: str | None
    measure: str
    value: Callable
    holds: tuple = (-math.inf, math.inf)
    expect: tuple | None = None
    where: str = ""
    number: str = "–"
    change: str = ""
    changed: Callable | None = None
    timing: bool = False
    mnist: bool = False


@dataclass
class Table:
    title: str
    heads: list
    lines: list
    timing: bool = False


@dataclass
class Figure:
    """A picture: `draw(axes)` draws it. `alt` says in words what is seen."""

    name: str
    title: str
    alt: str
    draw: Callable
    size: tuple = (7, 4.2)

    def svg(self):
        canvas = Canvas(figsize=self.size, layout="constrained")
        self.draw(canvas.add_subplot())
        out = io.StringIO()
        canvas.savefig(out, format="svg", metadata={"Date": None})
        return re.sub(r"<metadata>.*?</metadata>\s*", "", out.getvalue(), flags=re.S)


@dataclass
class Found:
    """A claim with its numbers."""

    claim: Claim
    own: Number
    changed: Number

    @property
    def verdict(self):
        within = lambda n: self.claim.holds[0] <= n.value <= self.claim.holds[1]  # noqa: E731
        if math.isnan(self.own.value):
            return UNMEASURED
        return HOLDS if within(self.own) else CHANGED if within(self.changed) else FAILS

    @property
    def departs(self):
        slack = 3 * self.own.error if self.own.error > 0 else 0
        e = self.claim.expect
        return e is not None and not math.isnan(self.own.value) and not e[0] - slack <= self.own.value <= e[1] + slack


def find(module, rows, s):
    """The claims of an experiment with their numbers."""
    number = lambda f: Number(math.nan) if f is None else (lambda n: n if isinstance(n, Number) else Number(float(n)))(f(rows, s))  # noqa: E731
    return [Found(c, *(number(None) if c.mnist and not s.data else number(f) for f in (c.value, c.changed))) for c in module.CLAIMS]


def text_of(n, digits=4):
    """1.57 ± 0.01, with digits by the error."""
    value, error = n
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if not (error > 0 and math.isfinite(error)):
        return f"{value:.{digits}g}"
    if max(abs(value), error) < 1e-3 or abs(value) >= 1e6:
        return f"{value:.{max(0, min(9, math.floor(math.log10(abs(value) or error)) - math.floor(math.log10(error)) + 1))}e} ± {error:.1e}"
    places = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{places}f} ± {error:.{places}f}"


def bounds_text(b):
    return "" if b is None or b == (-math.inf, math.inf) else f"at most {b[1]:g}" if b[0] == -math.inf else f"at least {b[0]:g}" if b[1] == math.inf else f"{b[0]:g} to {b[1]:g}"


def curve(ax, rows, label, style="o-", bars=True, **more):
    """Rows as a curve, with error bars of one standard error."""
    if rows:
        xs, ys, es = zip(*((r.x, r.value, 0 if math.isnan(r.error) else r.error) for r in rows))
        ax.errorbar(xs, ys, es if bars and any(es) else None, fmt=style, label=label, markersize=3.5, capsize=2, **more)


# ---- The document, in two languages ----


def _claims(parts, timing):
    lines = []
    for name, _, found, _ in parts:
        for f in found:
            c = f.claim
            if not c.paper or c.timing != timing:
                continue
            more = "" if f.verdict in (HOLDS, UNMEASURED) or math.isnan(f.changed.value) else f"{',' if f.verdict == CHANGED else '; nor'} {c.change}: {text_of(f.changed)}"
            lines.append([f"[{name}](#{name})", c.paper + (f" ({c.where})" if c.where else ""), c.number, f"{c.measure}: {text_of(f.own)}", f"**{f.verdict}**{more}" + (
                f"; departs from what is expected, {bounds_text(c.expect)}" if f.departs else "")])  # fmt: skip
    return Table("Claims", ["experiment", "the paper says", "its number", "ours", "verdict"], lines)


def _known(found, timing):
    lines = [[f.claim.measure, text_of(f.own), bounds_text(f.claim.expect), "**no**" if f.departs else "yes"] for f in found if f.claim.expect and f.claim.timing == timing]
    return Table("Our numbers, and where they are expected, from earlier computations of ours", ["number", "this run", "expected", "there, within 3 standard errors"], lines)


def document(experiments, about):
    """Blocks: (level, id, text) are headings. Parts that depend on time, and so change from run to run, come last."""
    parts = [(module.__name__.rsplit(".", 1)[-1], module, find(module, rows, s), list(module.report(rows, s))) for module, s, rows in experiments]
    verdicts = [f.verdict for *_, found, _ in parts for f in found if f.claim.paper]
    yield 1, "top", "The paper on rejection filtering, reproduced"
    yield about
    yield f"{len(verdicts)} claims: " + ", ".join(f"{verdicts.count(v)} {v}" for v in (HOLDS, CHANGED, FAILS, UNMEASURED) if v in verdicts) + "."
    yield _claims(parts, False)
    for (name, module, found, blocks), (_, s, _) in zip(parts, experiments):
        yield 2, name, f"{name}: {module.TITLE}"
        yield " ".join(module.ABOUT.split())
        yield from (b for b in blocks if not getattr(b, "timing", False))
        yield _known(found, False)
        yield "Settings: " + "; ".join(f"{k} = {' '.join(map(str, v)) if isinstance(v, list) else v}" for k, v in s.items() if k not in ("command", "seed", "data")) + f". Data: [{name}.csv]({name}.csv)."
    timed = [b for *_, blocks in parts for b in blocks if getattr(b, "timing", False)]
    if timed:
        yield 2, "timing", "Timing on this machine"
        yield "What follows is about time and differs from machine to machine and from run to run; all above does not."
        yield _claims(parts, True)
        yield from timed


def markdown(blocks, pictures):
    for b in blocks:
        if isinstance(b, tuple):
            yield (f'<a id="{b[1]}"></a>\n\n' if b[0] > 1 else "") + f"{'#' * b[0]} {b[2]}\n"
        elif isinstance(b, str):
            yield b + "\n"
        elif isinstance(b, Figure):
            yield f"![{b.alt}]({pictures[id(b)][0]})\n\n*{b.title}*\n"
        elif b.lines:
            yield f"*{b.title}*\n\n| {' | '.join(b.heads)} |\n|{'---|' * len(b.heads)}\n" + "".join(f"| {' | '.join(line)} |\n" for line in b.lines)


STYLE = """
:root { color-scheme: light dark; --line: #d0d0d0; --soft: #f5f6f7; --good: #1a7f37; --part: #8a5a00; --bad: #b42318; --link: #2471a3 }
@media (prefers-color-scheme: dark) { :root { --line: #555; --soft: #2a2a2a; --good: #5bd07f; --part: #f0b64f; --bad: #ff8a7a; --link: #7fb8dd } }
body { margin: 1.5em auto; padding: 0 1em; max-width: 62em; font: 16px/1.5 system-ui, sans-serif } a { color: var(--link) }
h1 { line-height: 1.2 } h2 { margin-top: 2.5em; padding-bottom: .2em; border-bottom: 1px solid var(--line) }
figure { margin: 1.5em 0; break-inside: avoid } figure img { width: 100%; max-width: 44em; height: auto; background: #fff; border-radius: 4px }
figcaption, caption { font-size: .9em; font-weight: 600; text-align: left; padding: .3em 0 }
.table { overflow-x: auto } table { border-collapse: collapse; font-size: .9em; margin: .5em 0 1em; width: 100% }
th, td { border-bottom: 1px solid var(--line); padding: .35em .6em; text-align: left; vertical-align: top; font-variant-numeric: tabular-nums }
th { background: var(--soft) } tbody tr:hover { background: var(--soft) } code { background: var(--soft); overflow-wrap: anywhere } p { overflow-wrap: anywhere }
.holds { color: var(--good) } .part { color: var(--part) } .fails { color: var(--bad) } .claims td:last-child { min-width: 9em }
@media (max-width: 40em) { .claims thead { display: none } .claims tr { display: block; border: 1px solid var(--line); margin: 0 0 1em } .claims td { display: block; border: 0 } }
@media print { body { max-width: none; font-size: 11px } h2 { break-after: avoid } tr { break-inside: avoid } }
"""


def _inline(text):
    """`code`, *emphasis*, **verdict** and [text](address)."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
    text = re.sub(r"\*\*(.+?)\*\*", lambda m: f'<strong class="{ {HOLDS: "holds", FAILS: "fails", "no": "fails"}.get(m[1], "part") }">{m[1]}</strong>', text)
    return re.sub(r"\[([^]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', re.sub(r"(?<!\w)\*(.+?)\*", r"<em>\1</em>", text))


def page(blocks, pictures):
    policy = f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'; img-src data:; base-uri 'none'; form-action 'none'"
    yield f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{html.escape(policy, False)}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>Rejection filtering, reproduced</title>'
    yield f"<style>{STYLE}</style>\n</head>\n<body>"
    for b in blocks:
        if isinstance(b, tuple):
            yield f'<h{b[0]} id="{b[1]}">{_inline(b[2])}</h{b[0]}>'
        elif isinstance(b, str):
            yield f"<p>{_inline(b)}</p>"
        elif isinstance(b, Figure):
            data = base64.b64encode(pictures[id(b)][1].encode()).decode()
            yield f'<figure><figcaption>{_inline(b.title)}</figcaption><img alt="{html.escape(b.alt)}" src="data:image/svg+xml;base64,{data}"></figure>'
        elif b.lines:
            rows = "".join(f"<tr>{''.join(f'<td>{_inline(c)}</td>' for c in line)}</tr>\n" for line in b.lines)
            heads = "".join(f"<th>{_inline(h)}</th>" for h in b.heads)
            yield f'<div class="table{" claims" if b.title == "Claims" else ""}"><table><caption>{_inline(b.title)}</caption><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>'
    yield "</body>\n</html>\n"


def write(experiments, out, about, run):
    """Writes report.md, .html and .json, and the pictures. `experiments`: (module, settings, rows). Returns all that was found."""
    blocks, pictures, at = [], {}, ""
    for b in document(experiments, about):
        at = b[1] if isinstance(b, tuple) else at
        blocks.append(b)
        if isinstance(b, Figure):
            pictures[id(b)] = f"{at}-{b.name}.svg", b.svg()
    for name, svg in pictures.values():
        (out / name).write_text(svg, encoding="utf-8")
    (out / "report.md").write_text("\n".join(markdown(blocks, pictures)), encoding="utf-8")
    (out / "report.html").write_text("\n".join(page(blocks, pictures)), encoding="utf-8")
    found = [(module.__name__.rsplit(".", 1)[-1], f) for module, s, rows in experiments for f in find(module, rows, s)]
    finite = lambda x: x if math.isfinite(x) else None  # noqa: E731
    claims = [
        {"experiment": name, "claim": f.claim.name, "paper": f.claim.paper or "", "number": f.claim.number, "measure": f.claim.measure, "value": finite(f.own.value),
         "error": finite(f.own.error), "value_with_change": finite(f.changed.value), "holds": bounds_text(f.claim.holds), "expect": bounds_text(f.claim.expect),
         "verdict": f.verdict if f.claim.paper else "", "as_expected": not f.departs, "timing": f.claim.timing}
        for name, f in found
    ]  # fmt: skip
    (out / "report.json").write_text(json.dumps(run | {"claims": claims}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return found
