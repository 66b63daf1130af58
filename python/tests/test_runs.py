"""Replays, passes, simulations, comparisons, fleets."""

import copy
import pathlib
import pickle
import signal
import tempfile
import threading
import time
import unittest
from typing import Any

import numpy as np
from support import as_csv, command_json, in_numpy, needs_command, records

import rejfilt
from rejfilt import Fleet, Health, Jump, Outage, Refused, Reverting, Telegraph, Tracker


class Replays(unittest.TestCase):
    def test_what_records_may_be(self):
        table = records("precession", 50, seed=1)
        want = rejfilt.replay("precession", table, seed=1)["x.mean"]
        structured = np.empty(50, dtype=[(k, float) for k in table])
        for k, v in table.items():
            structured[k] = v
        kinds = [structured, (np.column_stack([table["t"], table["x_"]]), table["outcome"]), (table, table["outcome"]), {k: list(v) for k, v in table.items()}]
        kinds.append([dict(zip(table, row)) for row in zip(*table.values())])
        for module in ("pandas", "polars"):
            try:
                kinds.append(__import__(module).DataFrame(table))
            except ImportError:
                pass
        for data in kinds:
            self.assertTrue(np.array_equal(rejfilt.replay("precession", data, seed=1)["x.mean"], want), type(data))
        renamed = {"t": table["t"], "x_": table["x_"], "click": table["outcome"]}
        self.assertTrue(np.array_equal(rejfilt.replay("precession", renamed, outcome="click", seed=1)["x.mean"], want))
        for bad, says in ((renamed, "no column 'outcome'"), ({"t": [1.0], "outcome": [1]}, "x_ is missing"), ((np.ones((2, 3)), [1, 1]), "shape")):
            with self.assertRaisesRegex(Refused, says):
                rejfilt.replay("precession", bad)
        with self.assertRaises(TypeError):
            rejfilt.replay("precession", 3)
        self.assertEqual(len(rejfilt.replay("coin", {"outcome": []}, seed=1)), 0)

    def test_refused_half_way(self):
        """A time that goes back shows when it is there; a setting that is none, before the first record."""
        table = records("precession", 50, seed=1)
        table["time"] = np.arange(50.0)
        table["time"][30] = 3
        tracker = Tracker("precession", seed=1, design=None)
        with self.assertRaisesRegex(Refused, "row 30"):
            rejfilt.replay(tracker, table)
        self.assertEqual(tracker.records, 30)
        with self.assertRaisesRegex(Refused, "row 20: setting t is inf"):
            rejfilt.replay(tracker, table | {"t": np.where(np.arange(50) == 20, np.inf, 1.0)})
        self.assertEqual(tracker.records, 30)

    def test_results(self):
        run = rejfilt.replay("ramsey", records("ramsey", 20, seed=1), seed=1)
        self.assertEqual(run.array.dtype.names[0], "step")
        self.assertEqual(len(run.array), 20)
        self.assertEqual(run["health"][-1], run.tracker.health.value)
        try:
            frame = run.to_pandas()
        except ImportError:
            return
        self.assertEqual(list(frame.columns)[:3], ["step", "w.mean", "w.sd"])
        data = run.to_xarray()
        self.assertEqual(data["mean"].shape, (20, 2))
        self.assertEqual(float(data["mean"].sel(parameter="g")[3]), run["g.mean"][3])
        self.assertEqual(run.to_polars().shape, (20, len(run.columns)))

    def interrupted(self, run):
        """Ctrl-C while it runs: how much processor time it takes from there until it is over. (The clock's would be that of others, too.)"""
        pressed = []

        def press():
            pressed.append(time.process_time())
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        timer = threading.Timer(0.3, press)
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                run()
                time.sleep(5)
        finally:
            timer.join()
        return time.process_time() - pressed[0]

    def test_interruption(self):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background ignores it
        self.addCleanup(signal.signal, signal.SIGINT, before)
        table = records("precession", 1000, seed=1)
        many = {k: np.tile(v, 400) for k, v in table.items()}
        some = {k: np.tile(v, 20) for k, v in table.items()}
        tracker = Tracker("precession", seed=1, design=None, attempts=10000, sampler="reject")
        fleet, risky = Fleet("precession", 2000, seed=1, attempts=10**7, engine="simd"), Fleet("precession", 200000, seed=1, design="risk")
        runs = {
            "replay": lambda: rejfilt.replay(tracker, many),
            "replay, numpy": lambda: rejfilt.replay(in_numpy, many, belief="mixture"),
            "simulate": lambda: rejfilt.simulate("precession", steps=100, trials=100000),
            "simulate, numpy": lambda: rejfilt.simulate(in_numpy, steps=100000),
            "passes": lambda: rejfilt.passes("precession", many),
            "passes, numpy": lambda: rejfilt.passes(in_numpy, some),
            "compare": lambda: rejfilt.compare(["precession", "precession"], many, passes=False, attempts=10000),
            "fleet": lambda: fleet.tell(np.ones(2000), np.ones((2000, 2))),
            "fleet, questions": lambda: risky.ask(),
            "draws": lambda: Tracker("precession", seed=1).sample(10**8),
        }
        for name, run in runs.items():
            with self.subTest(name):
                self.assertLess(self.interrupted(run), 0.1)
        self.assertGreater(tracker.records, 0)
        self.assertEqual((fleet._told, np.unique(fleet.sd).size), (0, 1))  # nothing has changed
        self.assertIn(tracker.tell(1, (1.0, 0.3)), (0, rejfilt.Note.FEW))


class Worlds(unittest.TestCase):
    def test_health_says_fault(self):
        run = rejfilt.simulate("precession", steps=300, seed=2, outage=Outage(0, at=100, length=80))
        self.assertEqual(set(run["outcome"][100:180]), {0})
        self.assertIn("fault", run["health"][100:180])
        self.assertNotIn("fault", run["health"][:100])
        self.assertNotIn("fault", run["health"][200:])
        self.assertEqual(Health("fault"), Health.FAULT)

    def test_missing(self):
        run = rejfilt.simulate("precession", steps=50, seed=2, outage=Outage("missing", at=10, length=20))
        self.assertEqual(np.flatnonzero(np.isnan(run["outcome"])).tolist(), list(range(10, 30)))
        self.assertEqual(run["records"][10:30].sum(), 0)

    def test_truths(self):
        run = rejfilt.simulate("ramsey", steps=5, trials=50, seed=2, truth={"w": 0.3, "g": (0.01, 0.02)}, true_drift=0)
        self.assertTrue(np.allclose(run["truth.w"], 0.3))
        g = run["truth.g"][run["step"] == 4]
        self.assertTrue(0.01 < g.min() < 0.012 and 0.018 < g.max() < 0.02)
        walks = rejfilt.simulate("precession", steps=400, seed=2, true_drift=0.1)
        self.assertAlmostEqual(np.diff(walks["truth.x"]).std() / 0.1, 1, delta=0.2)  # 5 standard errors

    def test_drifts(self):
        """Of a model's own description, and there and back through it."""
        for drift in (0.25, Reverting(2.0, 0.5, 50.0), Telegraph(1.0, 3.0, 40.0), Telegraph(1.0, 3.0, (40.0, 20.0))):

            @rejfilt.model(parameters={"T": rejfilt.Positive(0.5, 9.0, drift=drift)}, settings={"t": rejfilt.LogRange(0.1, 10.0)}, outcomes=2)
            def lifetime(x, setting, outcome):
                p = np.exp(-setting.t / x[0])
                return p if outcome else 1 - p

            (own,) = lifetime.parameters
            self.assertEqual(type(own.drift), type(drift))
            self.assertTrue(np.allclose(np.hstack(own.drift if isinstance(drift, tuple) else [own.drift]), np.hstack(drift if isinstance(drift, tuple) else [drift])))
            truth = rejfilt.simulate(lifetime, steps=600, seed=3)["truth.T"]
            if isinstance(drift, Telegraph):
                self.assertTrue(np.allclose(np.unique(truth.round(6)), [1, 3]))
            elif isinstance(drift, Reverting):
                self.assertTrue(0.2 < np.log(truth).std() < 0.8 and abs(np.log(truth / 2).mean()) < 0.6)
        with self.assertRaisesRegex(Refused, "a fleet's parameters walk"):
            Fleet("precession", 3, drift=Reverting(0.8, 0.3, 9))

    def test_refused(self):
        for bad, says in (
            ({"jump": 3}, "no Jump"), ({"jump": (1.0, 0)}, "one of at and every"), ({"jump": Jump(1.0, at=3, every=4)}, "one of at and every"),
            ({"jump": Jump((2.0, 1.0), at=3)}, "empty range"), ({"jump": Jump(1.0, at=3, parameter="y")}, "no parameter 'y'"), ({"jump": [(1.0, 3)] * 9}, "at most 8"),
            ({"outage": ("stuck", 3, 5)}, "'stuck' is none of"), ({"outage": (2, 3, 5)}, "2 is no outcome"), ({"outage": (0, 3, 0)}, "length"),
            ({"outage": (0, 3, 5, 1.5)}, "1.5 is not from 0 to 1"), ({"outage": ("coin", 3, 5, 0.5)}, "flips are of"), ({"outage": (0, 3)}, "no Outage"),
            ({"flips": -0.1}, "flips"), ({"contrast": 1.1}, "contrast"), ({"true_t2": 0.0}, "true_t2"), ({"truth": {"y": 1.0}}, "truth: no parameter"),
            ({"truth": (2, 1)}, "truth: 2 to 1 is an empty range"), ({"true_drift": -1}, "true_drift"), ({"drift": -1}, "drift: a standard deviation"),
            ({"drift": Reverting(0.8, 0.3, 0)}, "drift: .*with times > 0"), ({"drift": Telegraph(0.4, 0.4, 9)}, "drift: the levels .* are the same"),
            ({"true_drift": Telegraph(0.4, 1, (9, -1))}, "drift of x: its times"), ({"drift": Telegraph(0.4, 1, np.inf)}, "drift: .*with times > 0"), ({"drift": Telegraph(0.4, 1.0, 9), "belief": "gaussian"}, "cannot follow parameters that move like this"),
        ):  # fmt: skip
            with self.subTest(bad), self.assertRaisesRegex(Refused, says):
                rejfilt.simulate("precession", steps=10, seed=1, **bad)
        with self.assertRaisesRegex(Refused, "no time among"):
            rejfilt.simulate("coin", steps=10, seed=1, true_t2=5)


class Passes(unittest.TestCase):
    @needs_command
    def test_commands_bits(self):
        for model in ("precession", "ramsey"):
            table = records(model, 80, seed=2)
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "r.csv")
                path.write_text(as_csv(table))
                want = command_json("track", f"--model={model}", "--drift=0", "--passes", "--seed=5", str(path))
            result = rejfilt.passes(model, table, seed=5)
            for i, p in enumerate(want["parameters"]):
                self.assertEqual([result.mean[i], result.sd[i], *result.interval95[i], result.chart_mean[i]], [p[k] for k in ("mean", "sd", "low", "high", "chart_mean")])
            self.assertEqual([*result.evidence, result.effective, result.points, result.passes], [want[k] for k in ("log_evidence", "log_evidence_sd", "effective", "points", "passes")])
            self.assertEqual(result.quantiles[0.025], tuple(i.low for i in result.interval95))

    def test_numpy(self):
        table = records("precession", 80, seed=2)
        a, b = rejfilt.passes("precession", table, seed=5), rejfilt.passes(in_numpy, table, seed=5)
        self.assertAlmostEqual(a.mean.x, b.mean.x, delta=1e-9)
        self.assertAlmostEqual(a.evidence.log, b.evidence.log, delta=1e-9)
        with self.assertRaisesRegex(Refused, "drift"):
            rejfilt.passes("precession", table, drift=0.1)
        with self.assertRaises(Refused):
            rejfilt.passes("precession", {"t": [], "x_": [], "outcome": []})


class Comparisons(unittest.TestCase):
    @needs_command
    def test_commands_bits(self):
        table = records("precession", 60, seed=3)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "r.csv")
            path.write_text(as_csv(table))
            for more, options in (([], {}), (["--passes=no", "--repeat=3", "--attempts=300"], {"passes": False, "repeats": 3, "attempts": 300})):
                want = command_json("compare", "--model=precession", "--drift=0", "--label=still", "--model=precession", "--drift=0.05", "--label=walks", *more, str(path))
                result = rejfilt.compare({"still": ("precession", {"drift": 0}), "walks": ("precession", {"drift": 0.05})}, table, **options)
                for c, w in zip(result.candidates, want["candidates"], strict=True):
                    self.assertEqual([c.name, *c.evidence, c.log_factor, c.log_factor_sd, c.by_passes],
                                     [w["label"], w["log_evidence"], w["log_evidence_sd"], w["log_bayes_factor"], w["log_bayes_factor_sd"], w["method"] == "passes"])  # fmt: skip
                    self.assertAlmostEqual(c.probability, w["probability"], places=12)
                self.assertEqual([result.best, result.second, result.conclusion, result.log_factor], [want["verdict"][k] for k in ("best", "second", "conclusion", "log_bayes_factor")])

    def test_refused(self):
        with self.assertRaisesRegex(Refused, "nothing to be compared"):
            rejfilt.compare(["coin"], {"outcome": [1]})
        with self.assertRaisesRegex(Refused, "different outcomes"):
            rejfilt.compare(["coin", "linear"], {"outcome": [1.0], "h1": [1.0], "h2": [1.0], "s": [0.5]})

    def test_impossible(self):
        """At t = 0 a precession gives 1: it has no evidence, and any other model is favoured."""
        table = {"t": [0.0] * 4, "x_": [0.3] * 4, "outcome": [1, 0, 1, 0]}
        for models in ({"no": ("precession", {"drift": 0}), "coin": "coin"}, {"coin": "coin", "no": ("precession", {"drift": 0})}):
            result = rejfilt.compare(models, table)
            self.assertEqual((result.best, result.second, result.conclusion, result.log_factor), ("coin", "no", "favoured", np.inf))
            self.assertEqual({c.name: (c.probability, c.trustworthy) for c in result.candidates}, {"coin": (1, True), "no": (0, False)})
            self.assertIn("not trustworthy", str(result))
        self.assertEqual([c.trustworthy for c in rejfilt.compare(models, table, passes=False).candidates], [True, False])

    def test_numpy(self):
        table = records("precession", 60, seed=3)
        result = rejfilt.compare({"c": ("precession", {"drift": 0}), "numpy": in_numpy}, table)
        self.assertAlmostEqual(result.log_factor, 0, delta=1e-6)


class Strange(unittest.TestCase):
    def test_refused(self):
        """Records, worlds and models that make no sense: one line that says what is wrong."""
        good = {"t": [1.0, 2.0], "x_": [0.3, 0.3], "outcome": [1, 0]}
        for wrong, says in (
            (lambda: rejfilt.replay("precession", good | {"outcome": [1, 2]}), "row 1: outcome 2"), (lambda: rejfilt.replay("precession", good | {"x_": [0.3]}), "setting x_"),
            (lambda: rejfilt.replay("precession", good | {"t": ["a", "b"]}), "setting t"), (lambda: rejfilt.replay("precession", good | {"t": [1, np.nan]}), "row 1: setting t is nan"),
            (lambda: rejfilt.replay("precession", good | {"outcome": ["up", "down"]}), "outcomes"), (lambda: rejfilt.replay("precession", "a.csv"), "records are"),
            (lambda: rejfilt.replay("precession", good, outcome="no"), "no column 'no'"), (lambda: rejfilt.replay("precession", good | {"time": ["a", "b"]}), "time"),
            (lambda: rejfilt.replay("precession", good | {"time": np.array(["2026-01-01", "2026-01-02"], dtype="M8[s]")}), "time: numbers are needed, not dates"),
            (lambda: rejfilt.replay("precession", good | {"t": np.array([1.0, 2.0j])}), "setting t: numbers"),
            (lambda: rejfilt.simulate("precession", steps=0), "steps"), (lambda: rejfilt.simulate("precession", trials=1.5), "trials"),
            (lambda: rejfilt.simulate("precession", steps=5, truth=np.nan), "truth"), (lambda: rejfilt.simulate("precession", steps=5, jump="a"), "jump"),
            (lambda: rejfilt.passes("precession", good, quantiles=[2]), "quantiles"), (lambda: rejfilt.compare("precession", good), "models are"),
            (lambda: rejfilt.compare(["precession", ("precession", 3)], good), "options"), (lambda: rejfilt.model("precession").likelihood([[0.3]], (1, 0.3), 7), "outcome 7"),
            (lambda: rejfilt.model("precession").draw([np.nan], (1, 0.3)), "finite"), (lambda: rejfilt.replay("precession", good, time="when"), "no column 'when'"),
            (lambda: rejfilt.model("precession").likelihood("a", (1, 0.3), 1), "x: numbers"), (lambda: rejfilt.model("precession").setting(["a", 1]), "setting: numbers"),
            (lambda: Tracker("precession").tell([1, 0], [(1, 0.3)] * 2, time=[1, 2, 3]), "time has shape"), (lambda: Tracker("precession", on_lost=3), "on_lost is a name"),
            (lambda: Fleet("precession", 3).tell([1, 0, 1], (1, 0.3), elapsed="a"), "elapsed is a number"), (lambda: Tracker("coin").pass_time("a"), "elapsed is a number"),
            (lambda: rejfilt.model("ramsey").likelihood(np.ones(5), (1, 1, 1), 0), "x has shape \\(5,\\)"),
        ):  # fmt: skip
            with self.assertRaisesRegex((Refused, TypeError), says):
                wrong()

    def test_records_have_one_meaning(self):
        """Every form of the same records gives the same run; a form that may be read in two ways is refused, and says what to write."""

        @rejfilt.model(parameters={"x": (0, 1)}, settings={"t": rejfilt.Range(0, 9)}, outcomes=rejfilt.Gaussian(sd=0.5))
        def line(x: Any, setting: Any) -> Any:
            return x[0] * setting.t

        for n in (1, 2, 3, 5):
            t, y, times = np.linspace(0.5, 0.9, n), np.linspace(0.1, 0.2, n), np.arange(n) * 2.0
            columns = {"t": t, "outcome": y, "time": times}
            listed = [dict(zip(columns, row)) for row in zip(t, y, times)]
            forms = [columns, listed, tuple(listed), ({"t": t}, y, times), (t[:, None], y, times), ([[v, 0.5] for v in t], y, times), ([(v,) for v in t], y, times),
                     np.array(list(zip(t, y, times)), dtype=[(name, float) for name in columns])]  # fmt: skip
            wrong = [([*t], [*y]), (t, y), (tuple(t), tuple(y)), ((t, np.full(n, 0.5)), y)] if n == 2 else []
            forms += [(t, y, times)] if n != 2 else []
            means = {rejfilt.replay(line, form, seed=1)["x.mean"][-1] for form in forms}
            self.assertEqual(len(means), 1)
            for form in wrong:
                for run in (lambda: rejfilt.replay(line, form), lambda: rejfilt.passes(line, form), lambda: rejfilt.compare([line, line], form), lambda: Fleet(line, 2).tell(form[1], form[0])):
                    with self.assertRaisesRegex(Refused, "2 settings for 2 outcomes may be .* by name, {'t': ...}"):
                        run()
        question = rejfilt.model("precession").Settings(1.0, 0.3)  # it has names
        self.assertEqual(*(Tracker("precession", seed=1).tell([1, 0], settings) for settings in (question, [(1.0, 0.3)] * 2)))
        with self.assertRaisesRegex(Refused, "record 1 has no 'outcome'; None says"):
            rejfilt.replay(line, [{"t": 1.0, "outcome": 1.0}, {"t": 1.0, "outcom": 1.0}])
        for none in ([(1.0, 0.5), (1.0, 0.5)], [[1.0, 2.0], [0.5, 0.5]], np.ones((2, 2)), (1.0,), 3):
            with self.assertRaisesRegex(TypeError, "records are a DataFrame"):
                rejfilt.replay(line, none)

    def test_masked(self):
        """What is masked was not measured."""
        good = {"t": [1.0, 2.0, 4.0], "x_": [0.3] * 3}
        runs = [rejfilt.replay("precession", good | {"outcome": o}, seed=1)["x.mean"][-1] for o in (np.ma.array([1, 1, 0], mask=[0, 1, 0]), [1, None, 0])]
        self.assertEqual(*runs)


class Fleets(unittest.TestCase):
    def test_arrays(self):
        """Settings by name, by row, or one row for all; what is turned around or no number is refused, and nothing changes."""
        outcomes, t, x_ = np.arange(10) % 2, np.linspace(1, 2, 10), np.linspace(0.2, 0.4, 10)
        by_row, by_name = Fleet("precession", 10, seed=1), Fleet("precession", 10, seed=1)
        by_row.tell(outcomes, np.column_stack([t, x_]))
        by_name.tell(outcomes, {"x_": x_, "t": t})
        self.assertTrue(np.array_equal(by_row.mean, by_name.mean))
        by_row.tell(outcomes, (2.0, 0.3))
        by_name.tell(outcomes, np.array([[2.0, 0.3]] * 10))
        before = by_row.mean
        self.assertTrue(np.array_equal(before, by_name.mean))
        for settings in (np.ones((2, 10)), np.ones(20), np.ones((10, 3)), np.ones((10, 2)) + 0j, np.full((10, 2), np.nan), {"t": t}, {"t": t[1:], "x_": x_}):
            with self.assertRaises((Refused, TypeError)):
                by_row.tell(outcomes, settings)
            self.assertTrue(np.array_equal(before, by_row.mean))

    def test_one_number_for_all(self):
        """Of a model with one setting."""
        model = rejfilt.model(parameters={"x": (0, 1)}, settings={"t": rejfilt.Range(0, 9), "u": 3.0})(lambda x, setting, outcome: x[0] if outcome else 1 - x[0])
        fleets = [Fleet(model, 3, seed=1, attempts=50) for _ in range(3)]
        for fleet, settings in zip(fleets, (2.0, [[2.0]] * 3, [(2.0, 3.0)] * 3)):
            fleet.tell([1, 0, 1], settings)
            self.assertTrue(np.array_equal(fleet.mean, fleets[0].mean))
        with self.assertRaisesRegex(Refused, "settings of shape"):
            Fleet("precession", 3).tell([1, 0, 1], 2.0)

    def test_bits_of_trackers(self):
        for model in ("precession", "ramsey", in_numpy):
            options = {"seed": 3, "attempts": 100, "sampler": "reject", "drift": 0.01}  # a tracker's parameters at rest stay within their prior
            fleet = Fleet(model, 5, **options)
            trackers = [Tracker(model, trial=i, belief="gaussian", on_lost="ignore", design=None, **options) for i in range(5)]
            truth = [(p.low + p.high) / 2 for p in fleet.model.parameters]
            for k in range(8):
                settings = fleet.ask()
                outcomes = np.array([fleet.model.draw(truth, s, seed=100 * k + i) for i, s in enumerate(settings)], dtype=float)
                if k == 4:
                    outcomes[2] = np.nan
                fleet.tell(outcomes, settings)
                for tracker, outcome, setting in zip(trackers, outcomes, settings):
                    tracker.tell(outcome, setting)
            self.assertTrue(np.array_equal(fleet.mean, [list(t.mean) for t in trackers]))
            self.assertTrue(np.array_equal(fleet.sd, [list(t.sd) for t in trackers]))
            self.assertTrue(np.array_equal(fleet.chart_mean, [list(t.chart_mean) for t in trackers]))
            self.assertTrue(np.array_equal(fleet.chart_sd, [np.sqrt(np.diag(t.chart_cov)) for t in trackers]))
            for other in (pickle.loads(pickle.dumps(fleet)), copy.copy(fleet)):
                other.tell(np.ones(5), settings)
                twin = copy.deepcopy(fleet)
                twin.tell(np.ones(5), settings)
                self.assertTrue(np.array_equal(other.mean, twin.mean))

    def test_refused(self):
        fleet = Fleet("precession", 4, seed=1)
        before = fleet._save()
        for bad in (lambda: fleet.tell(np.ones(3), (1.0, 0.3)), lambda: fleet.tell(np.ones(4), np.ones(3)), lambda: fleet.tell([1, 1, 1, np.inf], (1.0, 0.3)),
                    lambda: fleet.tell(np.ones(4), (1.0, 0.3), elapsed=-1), lambda: Fleet("precession", 0), lambda: Fleet("range", 3),
                    lambda: fleet.tell([1, 0, 2, 1], (1.0, 0.3)), lambda: fleet.tell(np.ones((2, 2)), (1.0, 0.3)), lambda: Fleet("coin", 2.5)):  # fmt: skip
            with self.assertRaises((Refused, ValueError, TypeError)):
                bad()
        for bad, says in ((lambda: fleet.tell(np.ones(4), [(1, 0.3), (1, 0.3), (1, np.nan), (1, 0.3)]), "filter 2: setting x_ is nan"), (lambda: Fleet("precession", 4, design=None).ask(), "has no design")):
            with self.assertRaisesRegex(Refused, says):
                bad()
        self.assertEqual(fleet._save(), before)
        self.assertEqual(fleet.tell([1, 1, np.nan, 1], [(1, 0.3), (1, 0.3), (np.nan, np.nan), (1, 0.3)]), 0)

    def test_threads_engine(self):
        fleets = [Fleet("precession", 2000, seed=1, engine=e) for e in ("serial", "simd", "threads:2")]
        for fleet in fleets:
            fleet.tell(np.ones(2000), fleet.ask())
        self.assertEqual(len({f.mean.tobytes() for f in fleets}), 1)


if __name__ == "__main__":
    unittest.main()
