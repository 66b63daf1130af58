"""Every option of `rejfilt track`, with every belief, in every kind of run: it is refused by name, or it changes what comes out.
A new option needs a line in VALUES."""
import concurrent.futures, itertools, json, math, os, pathlib, random, re, subprocess, sys, tempfile, unittest

from tracking import COMMAND

KNOWN = pathlib.Path(__file__).parent / "known" / "states"
BELIEFS = "gaussian", "mixture", "particles:300", "grid:1024"
DESIGNS = "quadrature", "pgh", "risk"
# Options with a value that is not the default's; in which other options it is seen, if not in all.
VALUES = {
    "simulate": [], "ask": [], "data": ["@records"], "column": ["outcome=other"], "config": ["@ini"], "print-config": [], "model": ["phase"], "prior": ["0.1:1.4"],
    "chart": ["positive"], "drift": ["0.1"], "range": ["t=0:3"], "cost": ["t=2"], "unit": ["x=rad"], "belief": ["mixture:3", "particles:400"], "design": ["pgh", "risk", "quadrature"],
    "anchors": ["3"], "on-lost": ["widen", "ignore"], "batch": ["3"], "attempts": ["77"], "accepted": ["70"], "kappa": ["0.4"], "recovery": ["0.7"],
    "shrink": ["4"], "strict": [], "sampler": ["reject", "lattice"], "engine": ["threads:2"], "precision": ["float"], "seed": ["7"], "steps": ["80"], "trials": ["3"],
    "truth": ["0.4"], "true-drift": ["0.1"], "jump": ["1@30"], "outage": ["0@70+20"], "flips": ["0.3"], "contrast": ["0.5"], "true-t2": ["20"], "summary": [],
    "passes": ["yes", "no"], "state": ["@state2"], "state-every": ["7"], "state-durable": [], "skip-bad": [], "continue": ["new"], "format": ["csv", "text"], "json": [],
    "plot": ["@picture.svg"], "title": ["hello"], "panels": ["loss"], "theme": ["dark"], "pace": ["3"],
}  # fmt: skip
# By contract these change no result of a fresh run; checkpoints, resuming and engines are tested elsewhere.
SPEED = {"engine", "state-every", "state-durable", "continue"}
# These are seen only in some runs: an option that is read there is given, together with what makes it seen.
SEEN_WITH = {
    "recovery": {"gaussian": ["--attempts=1", "--sampler=reject", "--accepted=1"], None: ["--model=@never.c", "--design=risk", "--flips=0.5"]},
    "title": {None: ["--plot=@picture.svg"]}, "panels": {None: ["--plot=@picture.svg"]}, "theme": {None: ["--plot=@picture.svg"]},
    "unit": {None: ["--summary"]}, "skip-bad": {None: []},
}  # fmt: skip
NEVER = """/* The outcome 1 is impossible. */
#include "rejfilt/model.h"
static const rf_description description = {.name = "never", .summary = "never", .formula = "P(1) = 0", .dim = 1, .settings = 1, .outcomes = 2,
    .parameter = {{"x", RF_REAL, 0, 1, 0.1}}, .setting = {{"t", RF_SETTING_RANGE, 0, 0, 1, 2}}};
RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome) { return (void)x, (void)setting, outcome != 0 ? RF_C(0.0) : RF_C(1.0); }
"""


def records():
    """A frequency that jumps; then the detector is stuck, then there is a record that is none."""
    draw, x, lines = random.Random(3), 0.5, []
    for k in range(120):
        x += 1.5 * (k == 50)
        t, x_ = draw.uniform(0.1, 60), draw.uniform(0, 2)
        one = int(draw.random() < math.cos((x - x_) * t / 2) ** 2) if k < 80 else 0
        lines.append(f"{t},{x_},{one},{1 - one}")
    return "t,x_,outcome,other\n" + "\n".join(lines) + "\n"


class Run:
    """A command line in a folder of its own, and everything that came out of it."""

    def __init__(self, arguments, given="", bad=""):
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            (here / "records").write_text(records() + bad)
            (here / "never.c").write_text(NEVER)
            (here / "ini").write_text("[run]\nseed = 9\n")
            command = [COMMAND, "track"] + [a.replace("@", f"{here}/") if "=@" in a or a[0] == "@" else a for a in arguments]
            done = subprocess.run(command, input=given + bad, capture_output=True, text=True, timeout=60)
            self.code, self.said = done.returncode, done.stderr
            files = [(p.name, p.read_bytes()) for p in sorted(here.iterdir())]
            self.out = re.sub(r'"(ns_per_attempt|seconds)": *[\d.e+-]+|[\d.]+ ns per attempt', "", done.stdout).replace(folder, ""), self.said.replace(folder, ""), files


def runs():
    """(what, arguments, standard input)"""
    for belief in BELIEFS:
        for design in DESIGNS:
            yield f"{belief}, {design}", ["--simulate", "--steps=90", "--jump=1.5@30", "--outage=0@70+15", f"--design={design}", f"--belief={belief}"], ""
        yield f"{belief}, ask", ["--ask", "--state=@state", "--format=csv", f"--belief={belief}"], "outcome\n" + "0\n1\n1\n0\n1\n" * 6
        yield f"{belief}, records", ["--state=@state", "--format=csv", f"--belief={belief}", "@records"], ""
    yield "strict", ["--simulate", "--strict", "--steps=90", "--jump=1.5@30"], ""
    yield "trials", ["--simulate", "--trials=3", "--steps=40"], ""
    yield "passes", ["--passes", "--drift=0", "@records"], ""


def names():
    text = subprocess.run([COMMAND, "track", "--help"], capture_output=True, text=True).stdout
    return [name for name in re.findall(r"^  --([a-z0-9-]+)", text, re.MULTILINE) if name != "help"]


class Pairs(unittest.TestCase):
    def test_every_option_in_every_run(self):
        self.assertEqual(set(names()), set(VALUES), "VALUES is not the help's list")
        cases = list(itertools.product(runs(), names()))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            plain = dict(zip((what for what, _, _ in runs()), pool.map(lambda r: Run(*r[1:]), runs())))
            for what, run in plain.items():
                self.assertEqual(run.code, 0, f"{what}: {run.said}")
            wrong = [w for w in pool.map(lambda case: self.wrong(plain[case[0][0]].out, *case[0], case[1]), cases) if w]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def wrong(self, plain, what, arguments, given, name):
        """None if a value of the option is refused by name or changes something, else what happened."""
        if name in SPEED or f"--{name}" in arguments or (name, what) == ("trials", "trials"):
            return None
        for value in VALUES[name] or [None]:
            option = f"--{name}" + (f"={value}" if value else "")
            tried = Run([*arguments, option], given)
            if tried.code == 2:
                says = re.search(rf"\b{name}\b|'{(value or '-').split('=')[-1]}'", tried.said) or (name == "data" and "one FILE" in tried.said)
                # another model lacks the parameters and columns that the others name
                return None if tried.said.count("\n") == 1 and (says or name == "model") else f"{what}: {option}: {tried.said!r}"
            if tried.out != plain:
                return None
            more = SEEN_WITH.get(name, {})
            more = more.get(what.split(",")[0].split(":")[0], more.get(None))
            bad = "oops\n" if name == "skip-bad" else ""
            if more is not None and Run([*arguments, *more, option], given, bad).out != Run([*arguments, *more], given, bad).out:
                return None
        return f"{what}: {name} changes nothing"


class OtherCommands(unittest.TestCase):
    def test_what_the_method_or_the_task_does_not_read(self):
        weighted = "error=0.2", "mean-questions=1", "priors=0=0.9 1=0.1", "class-cost=0=1 1=30", "pilot=20", "sample=30"
        paper = "particles=50", "restarts=2"
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "t.csv"
            table.write_text("a,b,label\n" + "".join(f"{k % 7},{k % 5},{k % 2}\n" for k in range(70)))
            for command, options in (("classify --method=paper", weighted), ("classify", (*paper, "plot=x.svg", "knn-features=1")), ("classify rank", paper),
                                     (f"classify --test={table}", ("shuffles=2",)), (f"classify fit --out={folder}/m", (*paper, "limit=3", "shuffles=2"))):  # fmt: skip
                for option in options:
                    with self.subTest(command=command, option=option):
                        done = subprocess.run([COMMAND, *command.split(), f"--train={table}", f"--{option}"], capture_output=True, text=True, cwd=folder)
                        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
                        self.assertIn(f"--{option.split('=')[0]} ", done.stderr)


class Checkpoints(unittest.TestCase):
    def test_of_before(self):
        """Written after 40 records by a version in which options could be without effect: they go on to that version's posterior after 120, to the bit."""
        for name, options in (("silent", ["--belief=mixture"]), ("reject", ["--sampler=reject", "--kappa=auto", "--shrink=3", "--batch=2"])):
            with tempfile.TemporaryDirectory() as folder:
                state, data = pathlib.Path(folder) / "state", pathlib.Path(folder) / "records"
                state.write_bytes((KNOWN / f"{name}.before").read_bytes())
                data.write_text(records())
                subprocess.run([COMMAND, "track", *options, f"--state={state}", data], check=True, capture_output=True)
                for checkpoint in (state, KNOWN / f"{name}.before"):
                    subprocess.run([COMMAND, "state", "show", checkpoint], check=True, capture_output=True)
                after = pathlib.Path(folder) / "after"
                after.write_bytes((KNOWN / f"{name}.after").read_bytes())
                now, then = (json.loads(subprocess.run([COMMAND, "state", "export", s], check=True, capture_output=True).stdout) for s in (state, after))
                self.assertEqual({k: v for k, v in now.items() if k != "options"}, {k: v for k, v in then.items() if k != "options"})


if __name__ == "__main__":
    unittest.main()
