"""QInfer's verbs: three of its documented examples, against exact answers; and against QInfer itself where QINFER names a Python that has it."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
from support import ROOT

import rejfilt
from rejfilt.compat import qinfer as rq

HERE = pathlib.Path(__file__).resolve().parent


def precession_data(seed=1, shots=400):
    """Counts of ones after times up to 1,000, of a frequency near 2 π · 0.01."""
    rng = np.random.default_rng(seed)
    t = np.arange(1, 41, dtype=float)
    omega = rng.uniform(0.1, 0.9)
    return omega, np.column_stack([rng.binomial(shots, np.sin(omega * t / 2) ** 2), t, np.full(40, shots)])


def benchmarking_data(seed=2):
    """Survivals of sequences of m gates."""
    rng = np.random.default_rng(seed)
    m = np.tile([1, 5, 10, 20, 50, 100, 200], 60)
    return (0.98, 0.4, 0.5), m, (rng.random(len(m)) < 0.4 * 0.98**m + 0.5).astype(int)  # outcome 1 is survival


def walk_data(seed=3, count=300):
    """A frequency that walks by 0.005 a record, seen after times from 1 to 10."""
    rng = np.random.default_rng(seed)
    omega = 0.5 + np.cumsum(0.005 * rng.standard_normal(count))
    t = rng.uniform(1, 10, count)
    return omega, t, (rng.random(count) > np.cos(omega * t / 2) ** 2).astype(int)


BENCHMARKING = [[0.9, 1.0], [0.3, 0.5], [0.45, 0.55]]


def grid_mean(log_likelihood, axes):
    """Posterior mean and sd on a grid."""
    mesh = np.stack([g.reshape(-1) for g in np.meshgrid(*axes, indexing="ij")])
    log = log_likelihood(mesh)
    w = np.exp(log - log.max())
    w /= w.sum()
    mean = mesh @ w
    return mean, np.sqrt(((mesh - mean[:, None]) ** 2) @ w)


class Examples(unittest.TestCase):
    def test_simple_est_prec(self):
        for seed in range(1, 6):
            omega, data = precession_data(seed)
            mean, cov = rq.simple_est_prec(data, freq_min=0, freq_max=1, seed=1)

            def log(x, data=data):
                p = np.clip(np.sin(x[0][:, None] * data[:, 1] / 2) ** 2, 1e-12, 1 - 1e-12)
                return (data[:, 0] * np.log(p) + (data[:, 2] - data[:, 0]) * np.log(1 - p)).sum(axis=1)

            exact, sd = grid_mean(log, [np.linspace(omega - 0.01, omega + 0.01, 20001)])
            self.assertLess(abs(mean[0] - exact[0]), sd[0], seed)
            self.assertLess(abs(np.log(cov[0, 0] ** 0.5 / sd[0])), 0.4, seed)

    def test_randomized_benchmarking(self):
        truth, m, outcomes = benchmarking_data()
        model = rq.RandomizedBenchmarkingModel()
        updater = rq.SMCUpdater(model, 4000, rq.UniformDistribution(BENCHMARKING), seed=1, belief="particles")
        updater.batch_update(outcomes, m.astype(model.expparams_dtype))

        def log(x):
            p, a, b = x
            total = np.zeros(x.shape[1])
            for k in np.unique(m):
                survive = a * p**k + b
                lived = outcomes[m == k].sum()
                total += lived * np.log(survive) + (np.sum(m == k) - lived) * np.log(np.maximum(1 - survive, 1e-300))
            return np.where(a + b <= 1, total, -np.inf)

        exact, sd = grid_mean(log, [np.linspace(*r, 60) for r in BENCHMARKING])
        self.assertLess(np.abs((updater.est_mean() - exact) / sd).max(), 0.5)
        self.assertLess(np.abs(np.log(np.sqrt(np.diag(updater.est_covariance_mtx())) / sd)).max(), 0.5)

    def test_random_walk(self):
        omega, t, outcomes = walk_data()
        model = rq.RandomWalkModel(rq.SimplePrecessionModel(), rq.NormalDistribution(0, 0.005**2))
        updater = rq.SMCUpdater(model, 1000, rq.UniformDistribution([0, 1]), seed=1, belief="mixture")
        errors = []
        for k in range(len(t)):
            updater.update(outcomes[k], t[k : k + 1])
            errors.append(abs(updater.est_mean()[0] - omega[k]))
        self.assertLess(np.median(errors[100:]), 0.05)


class Verbs(unittest.TestCase):
    def test_all(self):
        model = rq.SimpleInversionModel()
        prior = rq.UniformDistribution([0, 1])
        updater = rq.SMCUpdater(model, 500, prior, seed=1)
        heuristic = rq.PGH(updater)
        rng = np.random.default_rng(1)
        for _ in range(40):
            experiment = heuristic()
            updater.update(int(rng.random() > np.cos((0.4 - experiment["w_"][0]) * experiment["t"][0] / 2) ** 2), experiment)
        self.assertLess(abs(updater.est_mean()[0] - 0.4), 0.01)
        self.assertEqual(updater.est_covariance_mtx().shape, (1, 1))
        self.assertAlmostEqual(updater.est_covariance_mtx(corr=True)[0, 0], 1)
        self.assertAlmostEqual(float(updater.est_meanfn(lambda x: x[:, 0])), updater.est_mean()[0], delta=0.001)
        region = updater.est_credible_region(0.9)
        self.assertAlmostEqual(len(region) / 2000, 0.9, delta=0.02)
        self.assertLess(updater.log_total_likelihood, 0)
        experiments = np.zeros(3, dtype=model.expparams_dtype)
        experiments["t"] = [0, 10, 1 / updater.est_covariance_mtx()[0, 0] ** 0.5]
        experiments["w_"] = updater.est_mean()[0] + 0.1
        risk, gain = updater.bayes_risk(experiments), updater.expected_information_gain(experiments)
        self.assertAlmostEqual(risk[0], updater.sample(2000).var(), places=9)
        self.assertLess(risk[2], risk[0])
        self.assertAlmostEqual(gain[0], 0, places=9)
        self.assertGreater(gain[2], 0.01)
        updater.reset()
        self.assertAlmostEqual(updater.est_mean()[0], 0.5)
        found = rq.perf_test(model, 500, prior, 30, rq.PGH, true_mps=[0.3], seed=2)
        self.assertLess(found["loss"][-1], found["loss"][0])

    def test_refused(self):
        model, prior = rq.SimplePrecessionModel(), rq.UniformDistribution([0, 1])
        for wrong in (
            lambda: rq.UniformDistribution([1, 0]), lambda: rq.NormalDistribution(0, -1), lambda: rq.SMCUpdater(model, -1, prior), lambda: rq.SMCUpdater(model, 100, None),
            lambda: rq.SMCUpdater(object(), 100, prior), lambda: rq.simple_est_prec([1, 2, 3]), lambda: rq.simple_est_prec([[500, 1, 400]]),
            lambda: rq.SMCUpdater(model, 100, prior).update(5, np.array([1.0])), lambda: rq.SMCUpdater(rq.SimplePrecessionModel, 100, prior),
            lambda: rq.SMCUpdater(model, 100, rq.UniformDistribution([[0, 1], [0, 1]])), lambda: rq.NormalDistribution([0, 0], np.eye(2)),
            lambda: rq.SMCUpdater(model, 100, prior).update(1.5, np.array([1.0])), lambda: rq.SMCUpdater(model, 100, prior).update(1, np.ones(3)),
            lambda: rq.SMCUpdater(model, 100, prior).batch_update([1, 0], np.ones(3)), lambda: rq.SMCUpdater(rq.SimpleInversionModel(), 100, prior).update(1, 3.0),
        ):  # fmt: skip
            with self.assertRaises((rejfilt.Refused, TypeError)):
                wrong()

    def test_counts_of_an_experiment(self):
        """How many shots there were decides what a count can be; nothing is learnt from one that cannot be."""
        model = rq.BinomialModel(rq.SimpleInversionModel())
        experiment = np.array([(2.0, 0.3, 50)], dtype=model.expparams_dtype)
        updater = rq.SMCUpdater(model, 100, rq.UniformDistribution([0, 1]), seed=1)
        updater.update(20, experiment)
        mean = updater.est_mean()
        for wrong in (51, -1, 2.5):
            with self.assertRaisesRegex(rejfilt.Refused, "whole number from 0 to 50"):
                updater.update(wrong, experiment)
        self.assertTrue(np.array_equal(mean, updater.est_mean()))

    def test_shape_of_likelihoods(self):
        class Wrong(rq.SimplePrecessionModel):
            def likelihood(self, outcomes, modelparams, expparams):
                return np.ones(3)

        with self.assertRaisesRegex(ValueError, r"likelihood returned shape \(3,\)"):
            rq.SMCUpdater(Wrong(), 100, rq.UniformDistribution([0, 1]), seed=1).update(1, np.array([1.0]))

    def test_many_shots(self):
        """More than powers of probabilities can hold."""
        model = rq.BinomialModel(rq.SimplePrecessionModel())
        experiment = np.array([(1.0, 5000)], dtype=model.expparams_dtype)
        found = model.likelihood(np.arange(5001), np.array([[0.7], [0.0]]), experiment)[:, :, 0]
        np.testing.assert_allclose(found.sum(axis=0), 1, rtol=1e-8)
        self.assertEqual(found[0, 1], 1)

    def test_own_class(self):
        """A model as people wrote them for QInfer, with two parameters, and a prior that is only a `sample`."""

        class Line:
            n_modelparams = 2
            modelparam_names = ["a", "b"]
            expparams_dtype = [("x", "float")]
            is_n_outcomes_constant = True

            def n_outcomes(self, expparams):
                return 2

            def are_models_valid(self, modelparams):
                return np.ones(len(modelparams), dtype=bool)

            def likelihood(self, outcomes, modelparams, expparams):
                p = 1 / (1 + np.exp(-(modelparams[:, :1] + modelparams[:, 1:] * expparams["x"])))
                return np.stack([1 - p if o == 0 else p for o in outcomes])

        class Prior:
            def sample(self, n=1):
                return np.random.default_rng(1).normal([0, 0], [2, 2], (n, 2))

        rng = np.random.default_rng(3)
        x = rng.uniform(-2, 2, 800)
        y = (rng.random(800) < 1 / (1 + np.exp(-(0.5 - 1.5 * x)))).astype(int)
        updater = rq.SMCUpdater(Line(), 1000, Prior(), seed=1, belief="mixture")
        updater.batch_update(y, x.astype([("x", "float")]))
        sd = np.sqrt(np.diag(updater.est_covariance_mtx()))
        self.assertLess(np.abs((updater.est_mean() - [0.5, -1.5]) / sd).max(), 3.5)
        self.assertEqual(updater.tracker.mean._fields, ("a", "b"))

    def test_inherited(self):
        """A model that inherits, calls the base and has an experiment of two numbers; questions and pictures."""

        class TwoTimes(rq.FiniteOutcomeModel):
            def __init__(self):
                super().__init__()

            @property
            def n_modelparams(self):
                return 2

            @property
            def is_n_outcomes_constant(self):
                return True

            @property
            def expparams_dtype(self):
                return [("ts", "2float"), ("sign", "int")]

            def likelihood(self, outcomes, modelparams, expparams):
                super().likelihood(outcomes, modelparams, expparams)
                self.last = expparams
                phase = modelparams[:, None, :] * expparams["ts"][None, :, :]
                return rq.FiniteOutcomeModel.pr0_to_likelihood_array(outcomes, np.prod(np.cos(phase / 2) ** 2, axis=2))

        np.random.seed(1)
        model, rng = TwoTimes(), np.random.default_rng(2)
        updater = rq.SMCUpdater(model, 2000, rq.UniformDistribution([[0, 1], [0, 1]]), seed=1)
        for _ in range(200):
            experiment = np.zeros(1, dtype=model.expparams_dtype)
            experiment["ts"], experiment["sign"] = rng.uniform(0, 12, 2), -1
            outcome = model.simulate_experiment(np.array([[0.3, 0.8]]), experiment)
            self.assertIsInstance(outcome, int)
            updater.update(outcome, experiment)
            self.assertEqual(model.last, experiment)
        sd = np.sqrt(np.diag(updater.est_covariance_mtx()))
        self.assertLess(np.abs((updater.est_mean() - [0.3, 0.8]) / sd).max(), 4)
        self.assertEqual(updater.tracker.mean._fields, ("x_0", "x_1"))
        self.assertEqual(model.simulate_experiment(np.ones((2, 2)), np.zeros(3, dtype=model.expparams_dtype), repeat=4).tolist(), [[[0] * 3] * 2] * 4)
        places, density = updater.posterior_marginal(1)
        self.assertAlmostEqual((places * density).sum() / density.sum(), updater.est_mean()[1], delta=0.1 * sd[1])
        self.assertAlmostEqual(np.average(updater.particle_locations, axis=0, weights=updater.particle_weights)[1], updater.est_mean()[1], delta=0.2 * sd[1])
        counts = rq.BinomialModel(model)
        self.assertEqual(np.dtype(counts.expparams_dtype).names, ("ts", "sign", "n_meas"))

    def test_growing_times(self):
        updater = rq.SMCUpdater(rq.SimplePrecessionModel(), 100, rq.UniformDistribution([0, 1]), seed=1)
        ask = rq.ExpSparseHeuristic(updater, scale=2, base=1.5)
        self.assertEqual(ask().tolist(), [2])
        updater.update(0, ask())
        self.assertEqual(ask().tolist(), [3])
        counts = rq.SMCUpdater(rq.BinomialModel(rq.SimplePrecessionModel()), 100, rq.UniformDistribution([0, 1]), seed=1)
        self.assertEqual(rq.ExpSparseHeuristic(counts, t_field="x", other_fields={"n_meas": 20})().tolist(), [(1, 20)])


THEIRS = """
import json, sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from old_qinfer import qinfer
q = qinfer()
import numpy as np
given = json.load(sys.stdin)
np.random.seed(1)
found = {}
mean, cov = q.simple_est_prec(np.array(given["precession"]), freq_min=0, freq_max=1, n_particles=20000)
found["precession"] = [float(np.ravel(mean)[0]), float(np.sqrt(np.ravel(cov)[0]))]
model = q.RandomizedBenchmarkingModel()
updater = q.SMCUpdater(model, 20000, q.UniformDistribution(given["ranges"]))
for m, outcome in given["benchmarking"]:
    updater.update(outcome, np.array([(m,)], dtype=model.expparams_dtype))
found["benchmarking"] = [updater.est_mean().tolist(), np.sqrt(np.diag(updater.est_covariance_mtx())).tolist()]
model = q.RandomWalkModel(q.SimplePrecessionModel(), q.NormalDistribution(0, 0.005 ** 2))
updater = q.SMCUpdater(model, 5000, q.UniformDistribution([0, 1]))
means = []
for t, outcome in given["walk"]:
    updater.update(outcome, np.array([t]))
    means.append(float(updater.est_mean()[0]))
found["walk"] = means
print(json.dumps(found))
"""


@unittest.skipUnless(os.environ.get("QINFER"), "QINFER names no Python that has QInfer")
class SameAnswers(unittest.TestCase):
    def test_three_examples(self):
        _, data = precession_data()
        _, m, survived = benchmarking_data()
        omega, t, seen = walk_data()
        given = {"precession": data.tolist(), "benchmarking": list(zip(m.tolist(), survived.tolist())), "ranges": BENCHMARKING, "walk": list(zip(t.tolist(), seen.tolist()))}
        done = subprocess.run([os.environ["QINFER"], "-W", "ignore", "-c", THEIRS, str(ROOT / "python/bench"), str(HERE)], input=json.dumps(given), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        theirs = json.loads(done.stdout.splitlines()[-1])
        mean, cov = rq.simple_est_prec(data, 0, 1, seed=1)
        self.assertLess(abs(mean[0] - theirs["precession"][0]), theirs["precession"][1])
        model = rq.RandomizedBenchmarkingModel()
        updater = rq.SMCUpdater(model, 4000, rq.UniformDistribution(BENCHMARKING), seed=1, belief="particles")
        updater.batch_update(survived, m.astype(model.expparams_dtype))
        self.assertLess(np.abs((updater.est_mean() - theirs["benchmarking"][0]) / np.array(theirs["benchmarking"][1])).max(), 0.7)
        walk = rq.RandomWalkModel(rq.SimplePrecessionModel(), rq.NormalDistribution(0, 0.005**2))
        updater = rq.SMCUpdater(walk, 1000, rq.UniformDistribution([0, 1]), seed=1, belief="mixture")
        means = []
        for k in range(len(t)):
            updater.update(seen[k], t[k : k + 1])
            means.append(updater.est_mean()[0])
        ours, other = np.abs(np.array(means) - omega)[100:], np.abs(np.array(theirs["walk"]) - omega)[100:]
        print(f"walk, median error: {np.median(ours):.4f}, QInfer {np.median(other):.4f}; precession {mean[0]:.6f}, QInfer {theirs['precession'][0]:.6f} ± {theirs['precession'][1]:.1g}", file=sys.stderr)
        self.assertLess(np.median(ours), 1.2 * np.median(other))


if __name__ == "__main__":
    unittest.main()
