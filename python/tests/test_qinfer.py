"""QInfer's verbs: three of its documented examples, against exact answers; and against QInfer itself where QINFER names a Python that has it."""

import functools
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
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
            self.assertLess(abs(mean - exact[0]), sd[0], seed)
            self.assertLess(abs(np.log(cov**0.5 / sd[0])), 0.4, seed)

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
        self.assertAlmostEqual(risk[0], updater.tracker.sample(2000).var(), places=9)
        self.assertLess(risk[2], risk[0])
        self.assertAlmostEqual(gain[0], 0, places=9)
        self.assertGreater(gain[2], 0.01)
        updater.reset()
        self.assertAlmostEqual(updater.est_mean()[0], 0.5)
        np.random.seed(1)
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


class Documented(unittest.TestCase):
    """What QInfer's guide and its example notebooks do, in their words."""

    def test_shapes(self):
        model, binomial = rq.SimplePrecessionModel(), rq.BinomialModel(rq.SimplePrecessionModel())
        self.assertEqual((list(model.modelparam_names), model.is_n_outcomes_constant, model.n_outcomes(expparams=0)), (["\\omega"], True, 2))
        self.assertEqual(binomial.expparams_dtype[1], ("n_meas", "uint"))
        domain = binomial.domain(np.array([(5.0, 10)], dtype=binomial.expparams_dtype))[0]
        self.assertEqual((domain.n_members, domain.values.tolist(), domain.dtype), (11, list(range(11)), int))
        modelparams, expparams = np.linspace(0, 1, 100), np.arange(1, 10) * np.pi / 2
        self.assertEqual(model.simulate_experiment(modelparams, expparams, repeat=3).shape, (3, 100, 9))
        self.assertEqual(np.shape(model.simulate_experiment(np.array([0.5]), np.array([3.5 * np.pi]), repeat=1)), ())
        self.assertEqual(model.likelihood(np.array([0], dtype=int), modelparams, expparams).shape, (1, 100, 9))
        self.assertEqual(binomial.simulate_experiment([[0.3]], np.array([(5.0, 10)], dtype=binomial.expparams_dtype), repeat=7).shape, (7, 1, 1))
        product = rq.ProductDistribution(rq.NormalDistribution(0, 1), rq.UniformDistribution([0, 1]))
        self.assertEqual(product.sample(n=5).shape, (5, 2))

    def test_flips(self):
        """A class whose number of outcomes is the experiment, of a plain type."""
        from math import comb

        class CoinFlipsModel(rq.FiniteOutcomeModel):
            def __init__(self):
                super(CoinFlipsModel, self).__init__()

            n_modelparams = 1
            expparams_dtype = int
            is_n_outcomes_constant = False

            def n_outcomes(self, expparams):
                return expparams + 1

            def are_models_valid(self, modelparams):
                return np.logical_and(0 <= modelparams, modelparams <= 1).all(axis=1)

            def likelihood(self, outcomes, modelparams, expparams):
                super(CoinFlipsModel, self).likelihood(outcomes, modelparams, expparams)
                assert self.are_models_valid(modelparams).all()
                p = modelparams[None, :, :]
                return np.array([[[comb(int(n), int(k)) for n in expparams]] for k in outcomes]) * p ** outcomes[:, None, None] * (1 - p) ** (expparams - outcomes[:, None, None])

        model = CoinFlipsModel()
        updater = rq.SMCUpdater(model, 1000, rq.UniformDistribution([0, 1]), seed=1)
        updater.update(np.array([5]), np.array([10], dtype=int))
        self.assertAlmostEqual(updater.est_mean()[0], 0.5, delta=0.01)
        self.assertAlmostEqual(updater.est_covariance_mtx()[0, 0] ** 0.5, (36 / 144 / 13) ** 0.5, delta=0.01)  # Beta(6, 6)
        self.assertGreater(model.call_count, 10)
        wide = rq.SMCUpdater(model, 1000, rq.UniformDistribution([-0.5, 1]), seed=1)  # the likelihood is not asked about what is not valid
        x = wide.particle_locations.ravel()
        weights = wide.hypothetical_update(np.array([0, 3]), np.array([10], dtype=int))
        self.assertTrue((x < 0).any() and (weights[:, 0, x < 0] == 0).all())
        np.testing.assert_allclose(weights.sum(axis=2), 1)
        self.assertLess(wide.bayes_risk(np.array([10], dtype=int))[0], 1 / 12)
        with self.assertRaisesRegex(rejfilt.Refused, "from 0 to 10"):
            updater.update(11, np.array([10], dtype=int))

    def test_priors(self):
        np.random.seed(1)
        moments = {
            rq.BetaDistribution(2, 6): (0.25, (12 / 64 / 9) ** 0.5), rq.BetaDistribution(mean=0.25, var=0.01): (0.25, 0.1),
            rq.GammaDistribution(4, 2): (2, 1), rq.GammaDistribution(mean=2, var=1): (2, 1), rq.LogNormalDistribution(1, 0.1): (1 + 0.1 * np.exp(0.5), 0.1 * ((np.e - 1) * np.e) ** 0.5),
            rq.InterpolatedUnivariateDistribution(lambda x: np.exp(-((x - 1) ** 2) / 0.02)): (1, 0.1), rq.ConstantDistribution(3.0): (3, 0),
            rq.NormalDistribution(0, 1, trunc=(0, 10)): ((2 / np.pi) ** 0.5, (1 - 2 / np.pi) ** 0.5), rq.UniformDistribution([0, 1]): (0.5, 12**-0.5),
        }  # fmt: skip
        for prior, (mean, sd) in moments.items():
            drawn = prior.sample(20_000)
            self.assertEqual((drawn.shape, prior.n_rvs), ((20_000, 1), 1))
            self.assertAlmostEqual(drawn.mean(), mean, delta=5 * sd / 20_000**0.5 + 1e-12, msg=type(prior).__name__)
            rare = 0.2 if isinstance(prior, rq.LogNormalDistribution) else 0.05  # five standard errors: its fourth moment is large
            self.assertAlmostEqual(drawn.std(), sd, delta=rare * sd, msg=type(prior).__name__)

        class Two(rq.FiniteOutcomeModel):
            n_modelparams = 2
            expparams_dtype = [("x", "float")]

            def are_models_valid(self, modelparams):
                return modelparams.sum(axis=1) <= 1

            def likelihood(self, outcomes, modelparams, expparams):
                return self.pr0_to_likelihood_array(outcomes, np.full((len(modelparams), len(expparams)), 0.5))

        model = Two()
        exact = rq.ProductDistribution(rq.UniformDistribution([0, 1]), rq.NormalDistribution(3, 0.25))
        for prior in (exact, rq.PostselectedDistribution(exact, model)):
            updater = rq.SMCUpdater(model, 100, prior, seed=1) if prior is exact else None
            made = updater.tracker if updater else rejfilt.Tracker(rq.to_model(model, rq.PostselectedDistribution(rq.UniformDistribution([[0, 1], [0, 1]]), model), {}))
            self.assertAlmostEqual(made.mean[0], 0.5)
        self.assertEqual(updater.tracker.mean[1] if updater else 3, 3)
        valid = rq.PostselectedDistribution(rq.UniformDistribution([[0, 1], [0, 1]]), model).sample(1000)
        self.assertLessEqual(valid.sum(axis=1).max(), 1)
        with self.assertRaisesRegex(rejfilt.Refused, "still outside"):
            rq.PostselectedDistribution(rq.UniformDistribution([[2, 3], [2, 3]]), model).sample(10)
        with self.assertWarnsRegex(UserWarning, "prior: parameters are correlated"):
            rq.SMCUpdater(model, 100, rq.MultivariateNormalDistribution([0, 0], [[1, 0.9], [0.9, 1]]))

        class Simplex(rq.Distribution):
            n_rvs = 2

            def sample(self, n=1):
                return np.random.dirichlet([1, 1], n)

        with self.assertRaisesRegex(rejfilt.Refused, "declare one less"):
            rq.SMCUpdater(model, 100, Simplex())
        with self.assertRaisesRegex(rejfilt.Refused, "not finite"):
            rq.SMCUpdater(model, 100, rq.ProductDistribution(rq.ConstantDistribution(np.inf), rq.ConstantDistribution(1)))

    def test_constant(self):
        """A parameter that is known, beside one that is not."""
        for prior in (rq.ProductDistribution(rq.UniformDistribution([0, 1]), rq.ConstantDistribution(0.01)), rq.UniformDistribution([[0, 1], [0.01, 0.01]])):
            updater = rq.SMCUpdater(rq.UnknownT2Model(), 1000, prior, seed=1)
            rng = np.random.default_rng(1)
            for t in rng.uniform(1, 30, 100):
                p = 0.5 + np.exp(-0.01 * t) * (np.cos(0.6 * t / 2) ** 2 - 0.5)
                updater.update(int(rng.random() > p), np.array([(t,)], dtype=updater.model.expparams_dtype))
            self.assertLess(abs(updater.est_mean()[0] - 0.6), 4 * updater.est_covariance_mtx()[0, 0] ** 0.5)
            self.assertAlmostEqual(updater.est_mean()[1], 0.01, places=6)

    def test_steps(self):
        """Parameters that walk do so under other models, too; what moves in its own way is refused."""
        walk = rq.RandomWalkModel(rq.SimplePrecessionModel(min_freq=-np.inf), rq.NormalDistribution(0, 0.1**2))
        experiment = np.array([(1.0, 3)], dtype=rq.BinomialModel(walk).expparams_dtype)
        truth = walk.update_timestep(np.full((1000, 1), 0.5), np.ones(2))
        self.assertEqual(truth.shape, (1000, 1, 2))
        self.assertAlmostEqual(truth.std(), 0.1, delta=0.01)
        for model in (walk, rq.BinomialModel(walk), rq.RandomWalkModel(rq.BinomialModel(rq.SimplePrecessionModel()), rq.NormalDistribution(0, 0.1**2))):
            updater = rq.SMCUpdater(model, 100, rq.UniformDistribution([0, 1]), seed=1, belief="gaussian")
            updater.tracker.pass_time(300)
            self.assertGreater(updater.est_covariance_mtx()[0, 0], 1)
        self.assertEqual(rq.BinomialModel(walk).update_timestep(np.ones((4, 1)), experiment).shape, (4, 1, 1))

        class Diffusive(rq.SimplePrecessionModel):
            def update_timestep(self, modelparams, expparams):
                return modelparams[:, :, np.newaxis] + 0.0005 * np.sqrt(expparams) * np.random.randn(modelparams.shape[0], 1, expparams.shape[0])

        for model in (Diffusive(), rq.BinomialModel(Diffusive())):
            with self.assertRaisesRegex(rejfilt.Refused, "Diffusive.update_timestep moves"):
                rq.SMCUpdater(model, 100, rq.UniformDistribution([0, 1]))
        with self.assertRaisesRegex(rejfilt.Refused, "walk in no direction"):
            rq.RandomWalkModel(rq.SimplePrecessionModel(), rq.NormalDistribution(0.1, 0.1**2))

    def test_interleaved(self):
        """Their likelihood, in two modes; and the estimate from counts, beside a grid's."""
        model = rq.RandomizedBenchmarkingModel(interleaved=True)
        self.assertEqual((model.n_modelparams, len(model.modelparam_names)), (4, 4))
        experiments = np.array([(5, True), (5, False)], dtype=model.expparams_dtype)
        found = model.likelihood(np.array([1]), np.array([[0.9, 0.99, 0.4, 0.5]]), experiments)[0, 0]
        np.testing.assert_allclose(found, [0.4 * 0.99**5 + 0.5, 0.4 * (0.9 * 0.99) ** 5 + 0.5])
        with self.assertRaisesRegex(rejfilt.Refused, "order 1"):
            rq.RandomizedBenchmarkingModel(order=1)
        rng = np.random.default_rng(4)
        m = np.linspace(1, 400, 40).astype(int)
        counts = rng.binomial(25, 0.5 * 0.995**m + 0.5)
        mean, cov, extra = rq.simple_est_rb(np.column_stack([counts, m, np.full(40, 25)]), p_min=0.8, return_all=True, seed=1)

        axes = [np.linspace(0.98, 1, 61)[1:], np.linspace(0, 1, 81), np.linspace(0, 1, 81)]
        p, a, b = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
        live = np.where(a + b <= 1 + 1e-12, a, 0) * np.power.outer(p, m).T + b
        log = np.where(a + b <= 1 + 1e-12, (counts[:, None] * np.log(live + 1e-300) + (25 - counts[:, None]) * np.log(np.maximum(1 - live, 1e-300))).sum(axis=0), -np.inf)
        w = np.exp(log - log.max())
        exact, sd = (w / w.sum()) @ p, ((w / w.sum()) @ p**2 - ((w / w.sum()) @ p) ** 2) ** 0.5
        self.assertEqual((mean.shape, cov.shape, extra["updater"].n_rvs), ((3,), (3, 3), 3))
        self.assertLess(abs(mean[0] - exact), 0.1 * sd)
        self.assertAlmostEqual(cov[0, 0] ** 0.5 / sd, 1, delta=0.1)
        self.assertLess(abs(extra["updater"].est_mean()[0] - exact), sd)
        self.assertAlmostEqual(rq.rb.p(rq.rb.F(0.98)), 0.98)

    def test_data(self):
        """An array, a frame by name, a file, an open file: the same; one parameter gives numbers."""
        omega, data = precession_data()
        want = rq.simple_est_prec(data, 0, 1, seed=1)
        self.assertTrue(all(np.ndim(number) == 0 for number in want))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "data.csv")
            np.savetxt(path, data, delimiter=",")
            kinds = [path, str(path), io.BytesIO(path.read_bytes()), np.rec.fromarrays(data.T[[1, 2, 0]], names="t,n_shots,counts")]
            try:
                import pandas

                kinds.append(pandas.DataFrame(data[:, ::-1], columns=["n_shots", "t", "counts"]))
            except ImportError:
                pass
            for kind in kinds:
                self.assertEqual(rq.simple_est_prec(kind, 0, 1, seed=1), want)
        for wrong in (data[:, :2], data + 0.5, data * [-1, 1, 1]):
            with self.assertRaises(rejfilt.Refused):
                rq.simple_est_prec(wrong)

    def test_seeds(self):
        """Scripts that begin with np.random.seed repeat themselves."""
        found = []
        for seed in (1, 1, 2):
            np.random.seed(seed)
            perf = rq.perf_test_multiple(2, rq.SimpleInversionModel(), 200, rq.UniformDistribution([0, 1]), 15, rq.PGH)
            found.append(perf["est"].tobytes())
        self.assertEqual(perf.shape, (2, 15))
        self.assertEqual(found[0], found[1])
        self.assertNotEqual(found[0], found[2])
        self.assertEqual(set(perf.dtype.names), {"loss", "resample_count", "elapsed_time", "outcome", "true", "est", "t", "w_"})
        self.assertGreater(perf["elapsed_time"].min(), 0)

    def test_performance(self):
        """Another truth, a truth that walks, squared errors as the model weighs them."""

        class Weighed(rq.UnknownT2Model):
            Q = np.array([1.0, 0.0])

        prior = rq.UniformDistribution([[0, 1], [0.01, 0.1]])
        ask = functools.partial(rq.ExpSparseHeuristic, t_field="t")
        np.random.seed(2)
        found = rq.perf_test(Weighed(), 200, prior, 20, ask, rq.RandomWalkModel(rq.UnknownT2Model(), rq.NormalDistribution([0, 0], [0.01**2, 0])), true_mps=[0.4, 0.05], seed=1)
        self.assertEqual(found["true"][0].tolist(), [0.4, 0.05])
        self.assertGreater(np.diff(found["true"][:, 0]).std(), 0.003)
        np.testing.assert_allclose(found["loss"][:-1], (found["est"][:-1, 0] - found["true"][1:, 0]) ** 2)  # after the truth's step, as in QInfer
        scalar = rq.perf_test(rq.SimplePrecessionModel(), 200, rq.UniformDistribution([0, 1]), 3, rq.ExpSparseHeuristic)
        np.testing.assert_allclose(scalar["experiment"], [1, 9 / 8, 81 / 64])

    def test_arguments_in_their_order(self):
        """Also those that are given by place."""
        model = rq.SimpleInversionModel()
        updater = rq.SMCUpdater(model, 500, rq.UniformDistribution([0, 1]), seed=1)
        inside, outside = updater.est_credible_region(0.9, True)
        self.assertEqual(len(inside) + len(outside), 2000)
        self.assertAlmostEqual(len(inside) / 2000, 0.9, delta=0.01)
        places, density = updater.posterior_marginal(0, 50, 0.1, 0, 1)
        self.assertTrue(0 <= places[0] < 0.02 and 0.98 < places[-1] <= 1)
        self.assertLess(np.abs(np.diff(density)).max(), 0.1)  # it is smooth
        shape, centre = updater.region_est_ellipsoid(0.9)
        points = np.array([[0.5], [5.0]])
        self.assertEqual(updater.in_credible_region(points, 0.9).tolist(), [True, False])
        self.assertAlmostEqual(centre[0], 0.5, delta=0.02)
        self.assertEqual(updater.in_credible_region(updater.tracker.sample(2000), 0.9).mean(), len(inside) / 2000)
        experiment = np.array([(3.0, 0.2)], dtype=model.expparams_dtype)
        weights, total = updater.hypothetical_update(np.array([0, 1]), experiment, return_normalization=True)
        np.testing.assert_allclose(weights.sum(axis=2), 1)
        self.assertAlmostEqual(total.sum(), 1)
        updater.update(0, experiment)
        self.assertAlmostEqual(weights[0, 0] @ rq.SMCUpdater(model, 500, rq.UniformDistribution([0, 1]), seed=1).particle_locations[:, 0], updater.est_mean()[0], delta=0.05)
        updater.reset(700)
        self.assertEqual((len(updater.particle_locations), updater.n_particles, updater.data_record), (700, 700, []))
        with self.assertRaisesRegex(rejfilt.Refused, "only_params"):
            updater.reset(only_params=np.s_[:1])
        precession = rq.SMCUpdater(rq.SimplePrecessionModel(min_freq=0.5), 500, rq.UniformDistribution([0, 1]), seed=1, belief="particles")
        precession.update(0, np.array([1e-9]))
        self.assertGreater(precession.particle_locations.min(), 0.4)

    def test_draws(self):
        """Own heuristics ask for one draw after the other, and need others each time; particles stay until there is an update."""
        updater = rq.SMCUpdater(rq.CoinModel(), 100, rq.UniformDistribution([0, 1]), seed=1)
        drawn = [float(updater.sample()[0, 0]) for _ in range(100)]
        self.assertEqual(len(set(drawn)), 100)
        self.assertEqual(drawn[:2], updater.tracker.sample(2)[:, 0].tolist())
        updater._drawn = 2**32 - 3
        self.assertEqual(updater.sample(5)[:, 0].tolist(), updater.tracker.sample(5)[:, 0].tolist())
        before = updater.particle_locations
        self.assertTrue(np.array_equal(before, updater.particle_locations))
        updater.update(1, np.zeros(1, dtype=[]))
        self.assertFalse(np.array_equal(before, updater.particle_locations))

    def test_heuristics(self):
        class Field(rq.SimpleInversionModel):
            expparams_dtype = [("t", "float"), ("x_", "float"), ("gain", "int")]

        updater = rq.SMCUpdater(Field(), 500, rq.UniformDistribution([0.2, 1]), seed=1)
        experiment = rq.PGH(updater, inv_func=lambda x: 10 * x, t_func=lambda t: min(t, 0.5), other_fields={"gain": 3})()
        self.assertTrue(2 < experiment["x_"][0] < 10 and experiment["t"][0] == 0.5 and experiment["gain"][0] == 3)
        with self.assertRaisesRegex(rejfilt.Refused, "no field 'w_'; they have t, x_, gain"):
            rq.PGH(updater, inv_field="w_")
        np.random.seed(1)
        both = rq.EnsembleHeuristic([(lambda: 1, 0.5), (lambda: 2, 0.5)])
        self.assertEqual({both() for _ in range(20)}, {1, 2})

    def test_what_changes_nothing(self):
        with self.assertWarnsRegex(UserWarning, "resampler, zero_weight_policy: beliefs here have no particles"):
            rq.SMCUpdater(rq.CoinModel(), 100, rq.UniformDistribution([0, 1]), resampler=rq.LiuWestResampler(0.9), zero_weight_policy="skip")
        with self.assertWarnsRegex(UserWarning, "resample_a"):
            rq.SMCUpdater(rq.CoinModel(), 100, rq.UniformDistribution([0, 1]), 0.9)

        class Ordered(rq.CoinModel):
            def canonicalize(self, modelparams):
                return abs(modelparams)

        with self.assertWarnsRegex(UserWarning, "Ordered.canonicalize"):
            rq.SMCUpdater(rq.BinomialModel(Ordered()).underlying_model, 100, rq.UniformDistribution([0, 1]))
        with self.assertRaisesRegex(rejfilt.Refused, "not always two outcomes"):
            rq.BinomialModel(rq.BinomialModel(rq.CoinModel()))


# Everything that `import qinfer` gives, from its modules' __all__
THEIR_NAMES = """ResamplerWarning ResamplerError ApproximationWarning AcceleratedPrecessionModel timing perf_test perf_test_multiple ExperimentDesigner Heuristic EnsembleHeuristic
ExpSparseHeuristic PGH OptimizationAlgorithms SimpleInversionModel SimplePrecessionModel UnknownT2Model CoinModel NoisyCoinModel NDieModel Distribution SingleSampleMixin
MixtureDistribution ParticleDistribution ProductDistribution UniformDistribution DiscreteUniformDistribution MVUniformDistribution ConstantDistribution NormalDistribution
MultivariateNormalDistribution SlantedNormalDistribution LogNormalDistribution BetaDistribution DirichletDistribution BetaBinomialDistribution GammaDistribution GinibreUniform
HaarUniform HilbertSchmidtUniform PostselectedDistribution ConstrainedSumDistribution InterpolatedUnivariateDistribution Simulatable Model FiniteOutcomeModel DifferentiableModel
DirectViewParallelizedModel ScoreMixin RandomizedBenchmarkingModel SMCUpdater SMCUpdaterBCRB MixedApproximateSMCUpdater UnstructuredFrequencyModel DerivedModel PoisonedModel
BinomialModel DifferentiableBinomialModel GaussianHyperparameterizedModel MultinomialModel MLEModel RandomWalkModel GaussianRandomWalkModel IPythonProgressBar simple_est_prec
simple_est_rb Resampler LiuWestResampler Domain ProductDomain RealDomain IntegerDomain MultinomialDomain tomography""".split()
THEIR_VERBS = """sample n_particles n_ess n_rvs est_mean est_meanfn est_covariance_mtx est_entropy est_kl_divergence est_cluster_moments est_cluster_covs est_cluster_metric
est_credible_region region_est_hull region_est_ellipsoid in_credible_region particle_mean particle_covariance_mtx resample_count just_resampled normalization_record
log_total_likelihood min_n_ess data_record resampling_divergences reset hypothetical_update update batch_update resample bayes_risk expected_information_gain risk
posterior_marginal plot_posterior_marginal plot_covariance posterior_mesh plot_posterior_contour particle_locations particle_weights""".split()


class Names(unittest.TestCase):
    def test_all_are_here_or_say_so(self):
        for name in THEIR_NAMES:
            found = getattr(rq, name)
            if name not in rq.__all__:
                with self.assertRaisesRegex(rejfilt.Refused, f"^QInfer's {name} is not here: .+$"):
                    found(1, x=2)
                with self.assertRaisesRegex(rejfilt.Refused, name):
                    type("Own", (found,), {})
        updater = rq.SMCUpdater(rq.CoinModel(), 100, rq.UniformDistribution([0, 1]), seed=1)
        for name in THEIR_VERBS:
            if not hasattr(updater, name):
                with self.assertRaisesRegex(AttributeError, f"^QInfer's SMCUpdater.{name} is not here: .+$"):
                    getattr(updater, name)
        self.assertIs(rq.test_models.NoisyCoinModel, rq.NoisyCoinModel)
        with self.assertRaisesRegex(AttributeError, "has no attribute 'Nothing'"):
            rq.Nothing
        with self.assertRaisesRegex(AttributeError, "no attribute 'nothing'"):
            updater.nothing


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
found["likelihoods"] = {}
for name, (x, experiments) in given["models"].items():
    model = eval("q." + name, {"q": q})
    experiments = np.array([tuple(e) if len(e) > 1 or not isinstance(model.expparams_dtype, str) else e[0] for e in experiments], dtype=model.expparams_dtype)
    found["likelihoods"][name] = model.likelihood(np.arange(2), np.array(x), experiments).tolist()
print(json.dumps(found))
"""


@unittest.skipUnless(os.environ.get("QINFER"), "QINFER names no Python that has QInfer")
class SameAnswers(unittest.TestCase):
    def test_three_examples(self):
        _, data = precession_data()
        _, m, survived = benchmarking_data()
        omega, t, seen = walk_data()
        given = {"precession": data.tolist(), "benchmarking": list(zip(m.tolist(), survived.tolist())), "ranges": BENCHMARKING, "walk": list(zip(t.tolist(), seen.tolist()))}
        given["models"] = models = {
            "SimplePrecessionModel()": ([[0.3], [0.9]], [[2.0], [5.0]]), "SimpleInversionModel()": ([[0.3], [0.9]], [[2.0, 0.1], [5.0, 0.4]]),
            "NoisyCoinModel()": ([[0.3], [0.9]], [[0.1, 0.8]]),
            "RandomizedBenchmarkingModel()": ([[0.99, 0.4, 0.5]], [[3], [50]]), "RandomizedBenchmarkingModel(interleaved=True)": ([[0.95, 0.99, 0.4, 0.5]], [[30, True], [30, False]]),
            "BinomialModel(q.SimplePrecessionModel())": ([[0.3], [0.9]], [[2.0, 7], [5.0, 9]]), "MLEModel(q.SimplePrecessionModel(), 3.0)": ([[0.3], [0.9]], [[2.0], [5.0]]),
        }  # fmt: skip
        done = subprocess.run([os.environ["QINFER"], "-W", "ignore", "-c", THEIRS, str(ROOT / "python/bench"), str(HERE)], input=json.dumps(given), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        theirs = json.loads(done.stdout.splitlines()[-1])
        for name, (x, rows) in models.items():
            model = eval("q." + name, {"q": rq})
            scalar = np.dtype(model.expparams_dtype).names is None
            experiments = np.array([row[0] if scalar else tuple(row) for row in rows], dtype=model.expparams_dtype)
            np.testing.assert_allclose(model.likelihood(np.arange(2), np.array(x), experiments), theirs["likelihoods"][name], rtol=1e-9, err_msg=name)
        mean, cov = rq.simple_est_prec(data, 0, 1, seed=1)
        self.assertLess(abs(mean - theirs["precession"][0]), theirs["precession"][1])
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
        print(f"walk, median error: {np.median(ours):.4f}, QInfer {np.median(other):.4f}; precession {mean:.6f}, QInfer {theirs['precession'][0]:.6f} ± {theirs['precession'][1]:.1g}", file=sys.stderr)
        self.assertLess(np.median(ours), 1.2 * np.median(other))


if __name__ == "__main__":
    unittest.main()
