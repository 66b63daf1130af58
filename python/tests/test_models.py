"""Models four ways, and what is refused about them."""

import copy
import importlib.util
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np
from support import ROOT, environment, in_numba, in_numpy, records

import rejfilt
from rejfilt import Refused, Tracker

SOURCE = (ROOT / "src/models/precession.h").read_text().replace('"precession"', '"in_c"')


class FourWays(unittest.TestCase):
    def test_agree(self):
        """cos of numpy and of the library differ in the last digit, so that attempts at the edge may be accepted by one alone: weights."""
        table = records("precession", 40, seed=1)
        with tempfile.TemporaryDirectory() as folder, environment(REJFILT_CACHE=folder):
            models = [m for m in (rejfilt.model("precession"), rejfilt.model(SOURCE), in_numpy, in_numba()) if m]
        for options in ({"belief": "gaussian"}, {"belief": "mixture"}, {"belief": "particles:500"}, {"belief": "grid"},
                        {"belief": "gaussian", "precision": "float"}, {"belief": "gaussian", "engine": "threads:2", "attempts": 20000}):  # fmt: skip
            runs = [rejfilt.replay(m, table, seed=1, drift=0.01, **options) for m in models]
            for model, run in zip(models[1:], runs[1:]):
                tolerance = 1e-3 if options.get("precision") == "float" else 1e-6
                np.testing.assert_allclose(run["x.mean"], runs[0]["x.mean"], atol=tolerance, err_msg=f"{model.name} {options}")
                np.testing.assert_allclose(run["log_evidence"], runs[0]["log_evidence"], atol=10 * tolerance)
                self.assertEqual(list(run["health"]), list(runs[0]["health"]))
        for design in ("auto", "risk", "pgh", "pgh-distance"):
            runs = [rejfilt.simulate(m, steps=30, seed=2, design=design, drift=0.01) for m in models]
            for run in runs[1:]:
                np.testing.assert_allclose(run["t"], runs[0]["t"], rtol=1e-3)

    def test_real_outcomes(self):
        """A thermometer: the Kalman filter knows the answer."""

        @rejfilt.model(
            parameters={"x": (-10, 10)}, settings={"s": 0.5}, outcomes=0, bound=lambda setting, outcome: 0.3989422804 / setting.s,
            simulate=lambda x, setting, normal: x[0] + setting.s * normal,
        )  # fmt: skip
        def thermometer(x, setting, outcome):
            return np.exp(-0.5 * ((outcome - x[0]) / setting.s) ** 2) * 0.3989422804014327 / setting.s

        rng = np.random.default_rng(1)
        outcomes = 3 + 0.5 * rng.standard_normal(50)
        tracker = Tracker(thermometer, seed=1, prior=rejfilt.Normal(0, 5))
        for y in outcomes:
            tracker.ask()
            tracker.tell(y)
        variance = 1 / (1 / 25 + 50 / 0.25)
        self.assertAlmostEqual(tracker.sd.x / variance**0.5, 1, delta=0.1)
        self.assertAlmostEqual(tracker.mean.x, variance * outcomes.sum() / 0.25, delta=0.5 * variance**0.5)
        self.assertEqual(tracker.health, "tracking")
        self.assertIsInstance(thermometer.draw([2.0], seed=1), float)

    def test_counts(self):
        """Poisson, binomial and Gaussian outcomes: probabilities, draws, and posteriors as closed forms have them."""
        @rejfilt.model(parameters={"r": rejfilt.Positive(1, 100)}, settings={"t": 2.0}, outcomes=rejfilt.Poisson())
        def photons(x, setting):
            return x[0] * setting.t

        @rejfilt.model(parameters={"p": rejfilt.Bounded(0, 1)}, settings={"n": rejfilt.Range(5, 9, integer=True)}, outcomes=rejfilt.Binomial("n"))
        def survivals(x, setting):
            return x[0]

        @rejfilt.model(parameters={"x": (-10, 10)}, settings={"s": 0.5}, outcomes=rejfilt.Gaussian(sd="s"))
        def reading(x, setting):
            return x[0]

        self.assertEqual([repr(m).split("; ")[-1] for m in (photons, survivals, reading)], ["counts>", "counts>", "real outcomes>"])
        self.assertEqual([m.outcomes for m in (photons, survivals, reading)], [rejfilt.Poisson(), rejfilt.Binomial("n"), rejfilt.Gaussian("s")])
        self.assertAlmostEqual(sum(np.exp(photons.likelihood([[20.0]], 2.0, k))[0] for k in range(200)), 1, places=12)
        self.assertAlmostEqual(sum(np.exp(survivals.likelihood([[0.3]], 7, k))[0] for k in range(8)), 1, places=12)
        counts = [photons.draw([20.0], seed=k) for k in range(1000)]
        self.assertIsInstance(counts[0], int)
        self.assertLess(abs(np.mean(counts) - 40), 5 * (40 / 1000) ** 0.5)
        self.assertLess(abs(np.var(counts) - 40), 5 * 40 * (2 / 1000) ** 0.5)
        self.assertLessEqual(max(survivals.draw([0.9], 5, seed=k) for k in range(100)), 5)
        for engine in ("serial", "simd"):
            tracker = rejfilt.Tracker(photons, seed=1, engine=engine)
            for k in counts[:50]:
                tracker.tell(k)
            self.assertAlmostEqual(tracker.mean.r, np.sum(counts[:50]) / 100, delta=0.5)  # the prior is wide: Gamma(sum, 100) nearly
            self.assertAlmostEqual(tracker.sd.r, np.sum(counts[:50]) ** 0.5 / 100, delta=0.05)
        tracker = rejfilt.Tracker(survivals, seed=1)
        for k in range(20):  # the design chooses n
            setting = tracker.ask()
            self.assertIn(setting.n, range(5, 10))
            tracker.tell(survivals.draw([0.6], setting, seed=k))
        self.assertLess(abs(tracker.mean.p - 0.6), 4 * tracker.sd.p)
        self.assertLess(tracker.sd.p, (0.25 / 100) ** 0.5)
        for wrong in (2.5, -1, 10):
            with self.assertRaisesRegex(Refused, "is not a whole number"):
                tracker.tell(wrong, 9)
        run = rejfilt.simulate(reading, steps=20, seed=3)
        self.assertEqual(len(run["outcome"]), 20)
        run = rejfilt.simulate(photons, steps=20, seed=3)
        self.assertTrue(all(run["outcome"] == np.floor(run["outcome"])))
        self.assertEqual(reading.draw({"x": 1.5}, seed=3), reading.draw([1.5], seed=3))
        with self.assertRaisesRegex(Refused, "parameters y were given; model reading has x"):
            reading.draw({"y": 1.5})
        with self.assertRaisesRegex(TypeError, "numbers are needed"):
            reading.draw("1.5, 2")

    def test_all_gaussians_are_asked_about_at_once(self):
        """A call of a function costs more than its points: of a mixture there are few."""
        sizes = []

        @rejfilt.model(parameters={"f": (0, 1), "rate": rejfilt.Positive(0.005, 0.05)}, settings={"t": rejfilt.Range(0, 60)})
        def fringe(x, setting, outcome):
            sizes.append(x.shape[1])
            p = 0.5 + 0.5 * np.exp(-x[1] * setting.t) * np.cos(2 * np.pi * x[0] * setting.t)
            return p if outcome else 1 - p

        tracker = rejfilt.Tracker(fringe, design=None, on_lost="ignore", seed=1)
        for k, t in enumerate(np.random.default_rng(1).uniform(0, 60, 100)):
            outcome = fringe.draw([0.3, 0.02], t, seed=k)
            sizes.clear()
            tracker.tell(outcome, t)
        self.assertGreater(sum(sizes), 19 * 20)  # many Gaussians of 19 points
        self.assertLess(len(sizes), sum(sizes) / 19 / 3)

    def test_outliers(self):
        """Probabilities sum to 1, draws are as often far off as said, and a Poisson mean is still tested."""
        of = {rejfilt.Poisson(0.1, 0, 60): np.arange(200.0), rejfilt.Binomial(30, 0.1): np.arange(31.0), rejfilt.Gaussian(0.1, 0.1, -5, 8): np.linspace(-8, 8, 32001)}
        for outcomes, values in of.items():
            made = rejfilt.model(parameters={"x": (0.1, 0.9)}, outcomes=outcomes, name="far")(lambda x, s: x[0])
            made.check()
            self.assertEqual(copy.deepcopy(made).outcomes.outliers, 0.1)
            sum_of = sum(np.exp(made.likelihood([[0.5]], outcome=y)[0]) for y in values) * (values[1] - values[0])
            self.assertAlmostEqual(sum_of, 1, delta=1e-3)
            draws = np.array([made.draw([0.0 if values[-1] != 8 else 0.5], seed=k) for k in range(1000)])
            low, high = (-5, 8) if values[-1] == 8 else (0, 30 if isinstance(outcomes, rejfilt.Binomial) else 60)
            self.assertAlmostEqual(np.mean(np.abs(draws - 0.5) > 1), 0.1 * (1 - 2 / (high - low + 1)), delta=4 * 0.3 / 1000**0.5)
        for wrong in (rejfilt.Poisson(0.1), rejfilt.Gaussian(0.1, 0.7, -5, 8), rejfilt.Gaussian(0.1, 0.1, 8, -5), rejfilt.Poisson(0.1, 0.5, 8)):
            with self.assertRaisesRegex(Refused, "outliers"):
                rejfilt.model(parameters={"x": (0, 1)}, outcomes=wrong)(lambda x, s: x[0])
        with self.assertRaisesRegex(Refused, "mean of a count is from 0 on"):
            rejfilt.model(parameters={"x": (-2, -1)}, outcomes=rejfilt.Poisson(0.1, 0, 60))(lambda x, s: x[0]).check()

    def test_numbers_that_outcomes_are_about(self):
        """A number is a setting that is fixed."""
        declared = {"parameters": {"x": (-10, 10)}, "name": "reading"}

        def mean(x, setting):
            return x[0]

        named = rejfilt.model(**declared, settings={"sd": 0.5}, outcomes=rejfilt.Gaussian("sd"))(mean)
        given = rejfilt.model(**declared, outcomes=rejfilt.Gaussian(0.5))(mean)
        self.assertEqual((given.settings, given.outcomes), (named.settings, named.outcomes))
        trackers = [rejfilt.Tracker(m, seed=1) for m in (named, given)]
        for tracker in trackers:
            for reading in (1.0, 1.5, 1.2):
                tracker.tell(reading)
        self.assertEqual(*(repr(tracker.report()) for tracker in trackers))
        self.assertEqual(rejfilt.Tracker(rejfilt.model(**declared, outcomes=rejfilt.Binomial(7))(lambda x, s: x[0] / 20 + 0.5), seed=1).ask().n, 7)
        self.assertEqual(rejfilt.model(**declared, outcomes=rejfilt.Counts(4))(lambda x, s, k: x[0]).settings[0].low, 4)
        for outcomes, kind, says in (
            (rejfilt.Gaussian(0), Refused, "not positive"),
            (rejfilt.Gaussian(None), TypeError, "sd is a number"),
            (rejfilt.Binomial(2.5), TypeError, "n is a whole number"),
            (rejfilt.Binomial(0), Refused, "not from 1"),
        ):
            with self.assertRaisesRegex(kind, says):
                rejfilt.model(**declared, outcomes=outcomes)(mean)
        with self.assertRaisesRegex(Refused, "there is a setting sd"):
            rejfilt.model(**declared, settings={"sd": 0.5}, outcomes=rejfilt.Gaussian(0.5))(mean)
        with self.assertRaisesRegex(Refused, "setting 'm'"):
            rejfilt.model(parameters={"p": (0, 1)}, outcomes=rejfilt.Binomial("m"))(lambda x, setting: x[0])
        with self.assertRaisesRegex(Refused, "whole number from 1 on"):
            rejfilt.model(parameters={"p": (0, 1)}, settings={"m": 1.5}, outcomes=rejfilt.Binomial("m"))(lambda x, setting: x[0])
        with self.assertRaisesRegex(Refused, "of their own"):
            rejfilt.model(parameters={"p": (0, 1)}, outcomes=rejfilt.Poisson(), log=True)(lambda x, setting: x[0])

    def test_logarithms_and_outcomes(self):
        @rejfilt.model(parameters={"a": rejfilt.Bounded(0, 1)}, outcomes=3)
        def three(x, setting, outcome):
            self.assertIsInstance(outcome, int)
            return [x[0] / 2, x[0] / 2, 1 - x[0]][outcome]

        @rejfilt.model(parameters={"a": rejfilt.Bounded(0, 1)}, outcomes=3, log=True)
        def in_logs(x, setting, outcome):
            with np.errstate(divide="ignore"):
                return np.log([x[0] / 2, x[0] / 2, 1 - x[0]][outcome])

        outcomes = np.random.default_rng(1).choice(3, 200, p=[0.15, 0.15, 0.7])
        runs = [rejfilt.replay(m, {"outcome": outcomes}, seed=1, batch=10) for m in (three, in_logs)]
        self.assertAlmostEqual(runs[0]["a.mean"][-1], runs[1]["a.mean"][-1], delta=1e-6)
        self.assertAlmostEqual(runs[0]["a.mean"][-1], 0.3, delta=0.1)

    def test_many_parameters(self):
        weights = np.linspace(0.1, 1, 6)

        @rejfilt.model(parameters={f"p{i}": (-1, 1) for i in range(6)}, settings={f"h{i}": rejfilt.Range(-1, 1) for i in range(6)})
        def logistic(x, setting, outcome):
            p = 1 / (1 + np.exp(-4 * np.asarray(setting) @ x))
            return p if outcome else 1 - p

        tracker = Tracker(logistic, seed=1, belief="gaussian", design=None)
        rng = np.random.default_rng(2)
        for _ in range(300):
            h = rng.uniform(-1, 1, 6)
            tracker.tell(rng.uniform() < 1 / (1 + np.exp(-4 * h @ weights)), h)
        self.assertLess(np.abs((np.array(tracker.mean) - weights) / np.array(tracker.sd)).max(), 4)


class Descriptions(unittest.TestCase):
    def test_units(self):
        @rejfilt.model(parameters={"T1": rejfilt.Positive(10, 100, unit="µs"), "A": (0, 1)}, settings={"t": rejfilt.LogRange(1, 500, unit="µs")})
        def decay(x, setting, outcome):
            p = x[1] * np.exp(-setting.t / x[0])
            return p if outcome else 1 - p

        self.assertEqual([p.label for p in decay.parameters], ["T1 (µs)", "A"])
        self.assertEqual([s.label for s in decay.settings], ["t (µs)"])
        self.assertEqual(rejfilt.model("phase").parameters[0].unit, "rad")
        with self.assertRaisesRegex(Refused, "unit of x is longer"):
            rejfilt.model(parameters={"x": rejfilt.Real(0, 1, unit=40 * "m")})(decay.function)

    def test_refused(self):
        for wrong, says in (
            ({"parameters": {}}, "number of parameters is 0"), ({"parameters": {"x": (1, 1)}}, "parameter x: 1 to 1 is no range"), ({"parameters": {"x": rejfilt.Positive(-1, 1)}}, "positive chart"),
            ({"parameters": {"x": (0, 1)}, "settings": {"t": rejfilt.Time(of="y")}}, "about parameter 'y'"), ({"parameters": {"x": (0, 1)}, "outcomes": 1}, "outcomes is 1"),
            ({"parameters": {"x": (0, 1)}, "outcomes": 0}, "simulate"), ({"parameters": {f"x{i}": (0, 1) for i in range(17)}}, "17 parameters"),
            ({"parameters": {"x": (0, 1)}, "settings": {"t": rejfilt.LogRange(0, 1)}}, "logarithmic"), ({"parameters": {"x": rejfilt.Real(0, 1, drift=-1)}}, "drift"),
            ({"parameters": {"x": (0, 1)}, "bound": -1}, "bound"), ({"parameters": {"x": (0, 1)}, "outcomes": -1}, "number of outcomes, -1"),
            ({"parameters": {"x": (0, 1)}, "fringe": -1}, "fringe is -1"), ({"parameters": {"x": (0, 1)}, "fringe": np.nan}, "fringe is nan"),
            ({"parameters": {"x": (0, 1)}, "settings": {"t": rejfilt.Range(0, 1, cost=np.nan)}}, "setting t: cost is nan"),
            ({"parameters": {"x": (0, 1)}, "settings": {"t": rejfilt.Time(of="x", cost=-1)}}, "setting t: cost is -1"),
            ({"parameters": {"x": (0, 1)}, "outcomes": rejfilt.Gaussian("")}, "outcomes are about setting ''"),
        ):  # fmt: skip
            with self.assertRaisesRegex(Refused, says):
                rejfilt.model(**wrong)(lambda x, setting, outcome: x[0])
        for wrong, says in (
            ({"parameters": [("x", (0, 1))]}, "by name"), ({"parameters": {"x": None}}, "range of parameter x"), ({"parameters": {"x": (0, 1, 2)}}, "pair"),
            ({"parameters": {1: (0, 1)}}, "no name"), ({"parameters": {"x": (0, 1)}, "settings": ["t"]}, "by name"), ({"parameters": {"x": (0, 1)}, "outcomes": 2.5}, "whole"),
            ({"parameters": {"x": (0, 1)}, "settings": {"t": "a"}}, "setting t"), ({"parameters": {"x": (0, 1)}, "name": "a\nb"}, "no name"),
            ({"parameters": {"x": (0, 1)}, "simulate": 3}, "simulate is a function"), ({"parameters": {"x": (0, 1)}, "fringe": "a"}, "fringe is a number"),
            ({"parameters": {"x": rejfilt.Real(0, 1, unit=3)}}, "unit of parameter x"), ({"parameters": {"x": (0, 1)}, "settings": {"t": rejfilt.Range(0, "a")}}, "range of setting t"),
            ({"parameters": {"x": (0, 1)}, "settings": {"t": rejfilt.Range(0, 1, cost="a")}}, "cost of setting t"),
            ({"parameters": {"x": rejfilt.Real(0, 1, drift=rejfilt.Telegraph(0, 1, "a"))}}, "what Telegraph holds"),
        ):  # fmt: skip
            with self.assertRaisesRegex(TypeError, says):
                rejfilt.model(**wrong)(lambda x, setting, outcome: x[0])
        for wrong in (3, None, lambda x, setting, outcome: x[0]):
            with self.assertRaisesRegex(TypeError, "a model is"):
                Tracker(wrong)
        with self.assertRaisesRegex(TypeError, "a function"):
            rejfilt.model(parameters={"x": (0, 1)})(3)
        with self.assertRaises(TypeError):
            rejfilt.model()
        with self.assertRaises(TypeError):
            rejfilt.model("coin", parameters={"x": (0, 1)})

    def test_check(self):
        """Models as they should be, and mistakes that no exception shows."""
        declared = {"parameters": {"p": (0, 1)}, "settings": {"t": rejfilt.LogRange(1, 9, integer=True), "u": rejfilt.Time(of="p"), "g": rejfilt.Guess("p")}, "name": "mine"}
        for model in map(rejfilt.model, [*rejfilt.models(), in_numpy]):
            model.check()
        for function, more in (
            (lambda x, s, o: np.log(x[0] if o else 1 - x[0]), {"log": True}), (lambda x, s, o: np.full(x.shape[1], 1 / 300), {"outcomes": 300}), (lambda x, s: 9 * x[0], {"outcomes": rejfilt.Poisson()}),
            (lambda x, s: x[0], {"outcomes": rejfilt.Binomial("t")}), (lambda x, s: x[0], {"outcomes": rejfilt.Gaussian(0.1)}),
        ):  # fmt: skip
            rejfilt.model(**declared, **more)(function).check()
        with self.assertRaises(ZeroDivisionError):
            rejfilt.model(**declared)(lambda x, s, o: 1 / 0).check()
        with self.assertRaisesRegex(Refused, "sum to 2"):
            rejfilt.model(**declared)(lambda x, s, o: x[0] * 0 + (s.t == 1) + 0.5 * (s.t > 1)).check((1, 0.5, 0.5))

    def test_wrong_models(self):
        """Mistakes that no exception shows are told when a tracker or a fleet opens, or with the first record; then nothing has changed.
        One line has the model, the place and what to do; an exception of the function's own comes as it is."""

        def changes(x, s, o):
            x -= 0.5
            return x[0] + 0.5 if o else 0.5 - x[0]

        coin = {"parameters": {"p": (0, 1)}}
        rate = coin | {"outcomes": rejfilt.Poisson(), "parameters": {"p": (-1, 1)}}
        real = coin | {"outcomes": 0, "simulate": lambda x, s, z: x[0] + z, "log": True}
        right = lambda x, o: x[0] if o else 1 - x[0]  # noqa: E731
        at = "model mine: .* at p = [0-9.e-]+(, t = [0-9.]+)?; "
        for what, function, says in (
            (coin, lambda x, s, o: x[0], at + "it is the same for every outcome: return 1 - p"), (coin, lambda x, s, o: (x[0] + 0.1 * o) / 2, at + "was 1 - p forgotten"),
            (coin, lambda x, s, o: 2 * right(x, o), "likelihood is .*outcome = 0, at .*at most 1"), (coin, lambda x, s, o: right(x, o) - 0.1, "likelihood is -.* a probability is from 0 to 1"),
            (coin, lambda x, s, o: np.where(x[0] > 0.9, np.nan, 0.5), "likelihood is NaN"), (coin, lambda x, s, o: right(x, o).astype(int), "sum to 0"),
            (coin, lambda x, s, o: (1000 * right(x, o)).astype(np.int32), "whole numbers \\(int32\\)"), (coin, lambda x, s, o: right(x, o)[:, None], "shape \\(24, 1\\) for 24 candidates"),
            (coin, lambda x, s, o: 0.5, "one number for 24"), (coin, lambda x, s, o: np.stack([right(x, o)] * 2), "shape \\(2, 24\\)"), (coin, lambda x, s, o: x[0, :-1], "shape \\(23,\\)"),
            (coin, lambda x, s, o: right(x, o) + 0j, "complex"), (coin, lambda x, s, o: right(x, o).astype(object), "objects"), (coin, lambda x, s, o: None, "returned None"),
            (coin, lambda x, s, o: "a", "probabilities are numbers"), (coin, lambda x, s, o: np.datetime64("2026"), "probabilities are numbers"),
            (coin, changes, "changes x in place"), (coin, lambda x, s, o: x[1], "index 1 is out of bounds"), (coin, lambda x, s, o: s.t * x[0], "has no attribute 't'"),
            (coin | {"log": True}, lambda x, s, o: right(x, o), "logarithms of probabilities are at most 0"), (coin | {"outcomes": 3}, lambda x, s, o: right(x, o), "its 3 outcomes sum to"),
            (coin | {"outcomes": 300}, lambda x, s, o: np.full(x.shape[1], 0.1), "the first 64 outcomes sum to 6.4"), (coin | {"outcomes": rejfilt.Counts()}, lambda x, s, o: x[0], "the first 64"),
            (coin | {"bound": 0.5}, lambda x, s, o: right(x, o), "above bound"), (rate, lambda x, s: x[0], "expected is -.* the mean of a count is from 0 on"),
            (rate, lambda x, s: np.log(-1 - x[0] ** 2), "expected is NaN"), (rate | {"outcomes": rejfilt.Binomial(9)}, lambda x, s: x[0] + 1.5, "expected is .* from 0 to 1"),
            (real, lambda x, s, o: o - x[0], "above bound"), (real | {"simulate": lambda x, s, z: np.nan}, lambda x, s, o: -abs(o - x[0]), "simulate is not finite"),
        ):  # fmt: skip
            with np.errstate(invalid="ignore"):
                for run in (lambda m: m.check(), Tracker, lambda m: Tracker(m, design=None, belief="gaussian", precision="float"), lambda m: rejfilt.Fleet(m, 3)):
                    with self.subTest(says), self.assertRaisesRegex((Refused, TypeError, ValueError, IndexError, AttributeError), says):
                        run(rejfilt.model(**({"name": "mine"} | what))(function))
            # the same mistake where only the first record's setting shows it
            settings = {"settings": {"t": rejfilt.Range(0, 1)}, "name": "mine"}
            if says == "simulate is not finite":
                continue
            honest = Tracker(rejfilt.model(**(what | settings))(lambda *a: self.honest(what)(*a) if a[1].t <= 1 else function(*a)), design=None, seed=1)
            before = honest.mean
            if says != "has no attribute 't'":
                with self.subTest(says), self.assertRaisesRegex((Refused, TypeError, ValueError, IndexError, AttributeError), says), np.errstate(invalid="ignore"):
                    honest.tell(0.0, 2.0)
                self.assertEqual((honest.records, honest.mean), (0, before))
                honest.tell(0, 0.5)
                self.assertEqual(honest.records, 1)

    @staticmethod
    def honest(what):
        """A right likelihood for these declarations."""
        if isinstance(what.get("outcomes"), rejfilt.Poisson | rejfilt.Binomial):
            return lambda x, s: abs(x[0])
        count = what.get("outcomes", 2)
        spread = 1 / count if isinstance(count, int) and count else 0.01
        return lambda x, s, o: np.full(x.shape[1], np.log(spread) if what.get("log") else spread if o < 100 or spread > 0.01 else 1e-9)

    def test_opening_is_quick(self):
        """Few calls with many candidates: also of a slow function. Right models of all kinds pass, and copies are not checked again."""
        calls = []

        def slow(x, setting, outcome):
            calls.append(x.shape[1])
            time.sleep(0.02)
            p = np.cos(setting.t * x[0]) ** 2
            return p if outcome else 1 - p

        made = rejfilt.model(parameters={"f": (0, 1)}, settings={"t": rejfilt.Time(of="f"), "n": rejfilt.Range(1, 9, integer=True)})(slow)
        trackers = [Tracker(made, design=None) for _ in range(5)]
        trackers.append(copy.copy(trackers[0]))
        self.assertLessEqual(len(calls), 4)
        self.assertGreater(min(calls), 9)

    def test_names(self):
        self.assertEqual(dir(Tracker("rabi").mean)[-4:-2], ["_replace", "count"])
        self.assertIn("W", dir(Tracker("rabi").mean))
        self.assertEqual(in_numpy.__doc__, "The model `precession`, in numpy.")
        self.assertEqual(Tracker(rejfilt.model(parameters={"a b": (0, 1)})(lambda x, s, o: x[0] if o else 1 - x[0])).mean[0], 0.5)

    def test_pickle(self):
        for model in ("coin", in_numpy):
            self.assertEqual(repr(pickle.loads(pickle.dumps(rejfilt.model(model)))), repr(rejfilt.model(model)))
        with tempfile.TemporaryDirectory() as folder, environment(REJFILT_CACHE=folder):
            self.assertEqual(pickle.loads(pickle.dumps(rejfilt.model(SOURCE))).name, "in_c")
        local = rejfilt.model(parameters={"x": (0, 1)})(lambda x, setting, outcome: x[0])
        with self.assertRaises(Exception):
            pickle.dumps(local)

    def test_likelihood(self):
        for model in map(rejfilt.model, [*rejfilt.models(), in_numpy]):
            if model.outcomes_end == 0:
                continue
            x = np.array([np.linspace(p.low, p.high, 300)[1:-1] for p in model.parameters])
            setting = {s.name: max(s.low, min(1.0, s.high)) if s.role != "guess" else 0.3 for s in model.settings}
            total = sum(model.likelihood(x, setting, k) for k in range(model.outcomes))
            np.testing.assert_allclose(total, 1, atol=1e-12)
        with self.assertRaises(Refused):
            rejfilt.model("ramsey").likelihood(np.ones((3, 4)), (1, 1), 0)
        with self.assertRaises(Refused):
            rejfilt.model("ramsey").likelihood(np.ones((2, 4)), (1,), 0)


USER = """
from typing import Any, assert_type

import rejfilt as rf

@rf.model(parameters={"x": (0, 1), "y": rf.Positive(1, 2)}, settings={"t": rf.Range(0, 10), "u": 3})
def mine(x: Any, setting: Any, outcome: float) -> Any:
    return x[0]

assert_type(mine, rf.Model)
assert_type(rf.model("coin"), rf.Model)
assert_type(rf.Tracker(mine).tell(1, (1.0, 3.0)), rf.Note)
"""


class Types(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy")
    def test_users_code(self):
        """What a decorator makes is a Model, also to mypy --strict and to IDEs."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "mine.py").write_text(USER)
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", f"--cache-dir={os.getcwd()}/.mypy_cache", "mine.py"], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
