"""The lab: oracles against sums by hand, random numbers against the library's, runs that stop and go on, verdicts. tools/python lab BUILD DIST test"""

import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

import numpy as np
import rejfilt as rf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import policy
from lab import draws, oracles, report, runner, trust
from lab.paper import ALL, following
from lab.trust.judging import Tracks, judge
from lab.trust.worlds import WORLDS

ROOT = pathlib.Path(__file__).resolve().parent.parent


def lab(*words, code=0, **more):
    done = subprocess.run([sys.executable, "-m", "lab", *map(str, words)], capture_output=True, text=True, cwd=ROOT, **more)
    if done.returncode != code:
        raise AssertionError(f"{words}: exit {done.returncode}: {done.stderr[-2000:]}")
    return done


class Oracles(unittest.TestCase):
    def test_three_ways_agree(self):
        """The closed form, a rule of many points and a grid, after one record of a precession."""
        model = rf.model("precession")
        rng = np.random.default_rng(1)
        for _ in range(20):
            mean, sd, t, outcome = rng.normal(), rng.uniform(0.1, 2), rng.uniform(0.1, 2), int(rng.integers(2))
            x_ = mean + rng.normal()
            exact = oracles.closed_form(mean, sd**2, t, x_, outcome)
            axis = oracles.Axis(oracles.Chart("real", 0, 1), mean - 9 * sd, mean + 9 * sd, 4096)
            grid = oracles.Grid(model, [axis], [oracles.gaussian(axis, mean, sd)])
            np.testing.assert_allclose(math.exp(grid.learn((t, x_), outcome)), exact[2], rtol=1e-6)
            np.testing.assert_allclose(grid.moments(), (exact[0], math.sqrt(exact[1])), rtol=1e-6)
            ruled = oracles.by_rule(oracles.rule(64), lambda x: model.likelihood(x[None], (t, x_), outcome), mean, sd**2)
            np.testing.assert_allclose(ruled, exact[:2], rtol=1e-6)

    def test_grid_and_kalman_agree(self):
        """Two parameters that walk, weighed sums of them with noise."""
        axes = [oracles.Axis(oracles.Chart("real", 0, 1), -7, 7, 240) for _ in range(2)]
        model = rf.model(parameters={"a": (-3, 3), "b": (-3, 3)}, settings={"h": rf.Range(-1, 1), "k": rf.Range(-1, 1)}, outcomes=rf.Gaussian(sd=0.7))(
            lambda x, setting: setting.h * x[0] + setting.k * x[1]
        )
        grid = oracles.Grid(model, axes, [oracles.gaussian(axis, 0, 1) for axis in axes])
        kalman = oracles.Kalman(np.zeros(2), np.eye(2))
        rng = np.random.default_rng(2)
        for k in range(12):
            if k:
                grid.walk(0.3, 0.2), kalman.predict(np.diag([0.09, 0.04]))
            h, outcome = rng.uniform(-1, 1, 2), rng.normal()
            grid.learn(tuple(h), outcome), kalman.learn(h, 0.49, outcome)
        for i in range(2):
            np.testing.assert_allclose(grid.moments(i), (kalman.mean[i], math.sqrt(kalman.covariance[i, i])), atol=1e-4)

    def test_charts_are_the_librarys(self):
        for name in rf.models():
            model = rf.model(name)
            tracker = rf.Tracker(model, design=None, belief="gaussian")
            for chart, parameter, y in zip(oracles.charts_of(model), model.parameters, tracker.sample(1)[0]):
                np.testing.assert_allclose(chart.natural(chart.coordinate(y)), y, rtol=1e-9, err_msg=f"{name}, {parameter.name}")


class Luck(unittest.TestCase):
    def test_worlds_are_the_librarys(self):
        s = runner.Settings(seed=5, steps=40)
        run = rf.simulate("precession", steps=40, trials=6, seed=5)
        world = following.World(s, 6)
        np.testing.assert_allclose(world.truth.ravel(), run["truth.x"], atol=1e-12)
        t, x_ = (run[name].reshape(6, 40) for name in ("t", "x_"))
        outcomes = np.column_stack([world.outcome(k, t[:, k], x_[:, k]) for k in range(40)])
        self.assertEqual(outcomes.ravel().astype(int).tolist(), run["outcome"].astype(int).tolist())

    def test_a_session_driven_by_hand_is_the_simulated_one(self):
        s = runner.Settings(seed=3, steps=60)
        ours, _ = following.simulated(s, 3, **following.PAPER)
        driven = following.tracked(following.World(s, 3), s, 3, **following.PAPER)
        np.testing.assert_allclose(driven.error, ours.error, atol=1e-12)

    def test_medians(self):
        rng = np.random.default_rng(7)
        medians, errors = zip(*(draws.median(rng.normal(size=400)) for _ in range(400)))
        self.assertLess(abs(np.mean(errors) / np.std(medians) - 1), 0.15)


class Trust(unittest.TestCase):
    def test_judges_as_the_command(self):
        for options in "--steps 400 --jump 0.2:3@150", "--steps 380 --outage coin@150+60", "--steps 300 --model ramsey --jump w=0.5@150":
            given = trust.arguments_of(options)
            theirs, model = trust.simulated(options, 12, 7), rf.model(given.get("model", "precession"))
            run = rf.simulate(given.pop("model", "precession"), trials=12, seed=7, **given)
            shaped = lambda name: run[name].reshape(12, -1)  # noqa: E731
            charts, names = oracles.charts_of(model), [p.name for p in model.parameters]
            error = np.stack([shaped(f"{n}.chart_mean") - c.coordinate(shaped(f"truth.{n}")) for n, c in zip(names, charts)], axis=-1)
            sd = np.stack([shaped(f"{n}.chart_sd") for n in names], axis=-1)
            alarm = np.isin(shaped("health").astype(str), ["recovering", "lost", "fault"])
            prior_sd = rf.Tracker(model, design=None, belief="gaussian").chart_sd
            ours = judge(Tracks(error, sd, alarm), [p.drift for p in model.parameters], prior_sd, [j.at for j in given["jump"]], [(o.at, o.length) for o in given["outage"]])
            for key in ("median", "mean", "lost", "coverage95", "back50", "back100", "alarm30", "widest"):
                np.testing.assert_allclose(ours[key], math.nan if theirs[key] is None else theirs[key], rtol=1e-6, err_msg=f"{options}: {key}")

    def test_every_world_is_one(self):
        self.assertEqual(len({(family, name) for family, name, *_ in WORLDS}), len(WORLDS))
        for _, _, options, some, _ in WORLDS:
            if some:
                trust.arguments_of(options)


class Reproduce(unittest.TestCase):
    """One short experiment stands for the runner."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.reference = pathlib.Path(folder.name)
        lab("reproduce", "kappa", "--out", cls.reference)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "out"
        shutil.copytree(self.reference, self.out)

    def run_it(self, *words, **more):
        return lab("reproduce", "kappa", "--out", self.out, *words, **more)

    def files(self):
        return {p.name: p.read_bytes() for p in self.out.iterdir()}

    def test_interrupted_torn_and_other_settings(self):
        first = self.files()
        (self.out / "kappa.csv").unlink()
        words = [sys.executable, "-m", "lab", "reproduce", "kappa", "--out", self.out, "--threads", "1"]
        process = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)
        while not (self.out / "kappa.csv").exists() and process.poll() is None:
            time.sleep(0.01)
        self.assertIn("in use by another run", self.run_it(code=2).stderr)
        os.killpg(process.pid, signal.SIGINT)
        self.assertIn("interrupted", process.communicate()[1])
        part = (self.out / "kappa.csv").read_bytes()
        self.assertTrue(2 < part.count(b"\n") < first["kappa.csv"].count(b"\n"))
        self.run_it()  # on the other jobs, by two processes
        self.assertEqual(self.files(), first)
        for damage in (first["kappa.csv"][:500], first["kappa.csv"].replace(b"rows 51", b"rows 50"), b""):
            (self.out / "kappa.csv").write_bytes(damage)
            table = runner.Table(self.out / "kappa.csv", runner.Settings(seed=1))
            self.assertEqual((table.rows, table.done), ({}, set()))
        self.assertIn("starts afresh", self.run_it("--seed", 2).stderr)
        self.assertNotEqual(self.files()["kappa.csv"], first["kappa.csv"])

    def test_verdicts_come_from_rows(self):
        self.assertIn("**does not hold**", (self.out / "report.md").read_text())
        path = self.out / "kappa.csv"
        path.write_text(re.sub(r"(,loss,given,0\.(?:0[46]|1|15|2|25|3|4)),[^,]*", r"\1,1e-05", path.read_text()))
        done = self.run_it(code=1)
        self.assertIn("plateau: 0 is outside its known range", done.stderr)
        claims = {c["claim"]: c for c in json.loads((self.out / "report.json").read_text())["claims"]}
        self.assertEqual((claims["plateau"]["verdict"], claims["plateau"]["as_expected"]), ("holds", False))

    def test_page(self):
        text = (self.out / "report.html").read_text()
        self.assertEqual(set(policy.check(text)), {"default-src", "style-src", "img-src", "base-uri", "form-action"})
        for alt in re.findall(r'<img alt="([^"]*)" src="data:image/svg', text):
            self.assertGreater(len(alt), 40)
        self.assertLessEqual(set(re.findall(r'href="#([^"]*)"', text)), set(re.findall(r'id="([^"]*)"', text)))
        for picture in self.out.glob("*.svg"):
            xml.etree.ElementTree.parse(picture)
            self.assertIn(picture.name, (self.out / "report.md").read_text())

    def test_bad_words(self):
        for words, says in ((["kapa"], "no experiment 'kapa'"), (["--quick", "--full"], "not both"), (["--threads", "0"], "--threads"), (["--data", "/no/such"], "/no/such"),
                            (["--out", "/proc/nowhere"], "/proc/nowhere"), (["--out", __file__], "test_lab.py")):  # fmt: skip
            self.assertIn(says, lab("reproduce", *words, code=2).stderr)

    def test_list_and_claims(self):
        self.assertEqual([line.split()[0] for line in lab("reproduce", "--list").stdout.splitlines()[1:]], ALL)
        modules = [__import__(f"lab.paper.{name}", fromlist=["CLAIMS"]) for name in ALL]
        self.assertEqual(sum(c.paper is not None for m in modules for c in m.CLAIMS), 45)
        for m in modules:
            self.assertEqual(len({c.name for c in m.CLAIMS}), len(m.CLAIMS))
        found = report.Found(report.Claim("a", "says", "is", None, (0, 1)), runner.Number(2), runner.Number(0.5))
        self.assertEqual((found.verdict, report.Found(found.claim, runner.Number(math.nan), found.changed).verdict), ("holds with a change", "not measured"))


if __name__ == "__main__":
    unittest.main()
