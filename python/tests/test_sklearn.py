"""The classifier: scikit-learn's own checks, and what they do not look at."""

import copy
import csv
import os
import pickle
import signal
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np
import support

try:
    import sklearn
except ImportError:
    sklearn = None


@unittest.skipUnless(sklearn, "scikit-learn")
class FewQuestions(unittest.TestCase):
    def setUp(self):
        from sklearn.datasets import load_breast_cancer

        from rejfilt.sklearn import FewQuestionsClassifier

        self.Classifier = FewQuestionsClassifier
        self.X, self.y = load_breast_cancer(return_X_y=True)

    def test_check_estimator(self):
        from sklearn.utils.estimator_checks import check_estimator

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = check_estimator(self.Classifier(), on_fail=None)
        self.assertEqual([(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"], [])
        self.assertGreater(sum(r["status"] == "passed" for r in results), 45)

    def test_budget_error_cost(self):
        train, test = slice(0, None, 2), slice(1, None, 2)
        fitted = self.Classifier(random_state=1).fit(self.X[train], self.y[train])
        self.assertGreater(fitted.score(self.X[test], self.y[test]), 0.93)
        few = self.Classifier(budget=4, random_state=1).fit(self.X[train], self.y[train])
        self.assertEqual(max(map(len, few.questions(self.X[test]))), 4)
        sloppy = self.Classifier(error=0.2, random_state=1).fit(self.X[train], self.y[train])
        self.assertLess(np.mean([len(q) for q in sloppy.questions(self.X[test])]), np.mean([len(q) for q in fitted.questions(self.X[test])]))
        first = int(np.argmax(fitted.asked_))
        cost = np.ones(30)
        cost[first] = 1000
        dear = self.Classifier(cost=cost, budget=5, random_state=1).fit(self.X[train], self.y[train])
        self.assertLess(dear.asked_[first], 0.1)
        np.testing.assert_allclose(fitted.predict_proba(self.X[test]).sum(axis=1), 1)
        for bad in ({"budget": 0}, {"error": 1.7}, {"cost": -np.ones(30)}, {"mean_questions": -1}, {"error": 0.1, "mean_questions": 3}, {"cost": np.ones(3)}):
            with self.assertRaises(ValueError):
                self.Classifier(**bad).fit(self.X, self.y)
        for bad in ({"budget": 2.5}, {"error": "a"}, {"mean_questions": [3]}):
            with self.assertRaisesRegex(TypeError, next(iter(bad))):
                self.Classifier(**bad).fit(self.X, self.y)

    def test_live(self):
        """Asked one by one, an object gets the class it gets as a whole, by the same questions."""
        fitted = self.Classifier(random_state=1).fit(self.X[::2], self.y[::2])
        for row in self.X[1:60:6]:
            answers, order = {}, []
            while (feature := fitted.next_feature(answers)) is not None:
                answers[feature] = row[feature]
                order.append(feature)
            self.assertEqual(order, fitted.questions(row[None])[0].tolist())
            partial = np.full(30, np.nan)
            partial[order] = row[order]
            self.assertEqual(fitted.predict(partial[None])[0], fitted.predict(row[None])[0])

    def test_missing(self):
        X = self.X.copy()
        X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
        fitted = self.Classifier(random_state=1).fit(X[::2], self.y[::2])
        self.assertGreater(fitted.score(X[1::2], self.y[1::2]), 0.9)
        for row, asked in zip(X[1:40:2], fitted.questions(X[1:40:2])):
            self.assertFalse(np.isnan(row[asked]).any())
        shares = np.bincount(self.y[::2]) / len(self.y[::2])
        nothing = fitted.predict_proba(np.full((1, 30), np.nan))[0]
        self.assertLess(abs(nothing.min() - shares.min()), 0.3 * shares.min())  # as near as stated errors are to be

    def test_probabilities(self):
        """Stated errors are near real ones, also of objects that lack features. 200 of 569 objects err; the standard error is 7 %."""
        draw = np.random.default_rng(3)
        noisy = self.X + 1.5 * self.X.std(axis=0) * draw.normal(size=self.X.shape)
        fitted = self.Classifier(random_state=1).fit(noisy[::2], self.y[::2])
        for missing in 0, 0.7, 0.9:
            X = np.where(draw.random(noisy[1::2].shape) < missing, np.nan, noisy[1::2])
            wrong = fitted.predict(X) != self.y[1::2]
            stated = 1 - fitted.predict_proba(X).max(axis=1)
            self.assertLess(abs(stated.mean() - wrong.mean()), 3 * (wrong.std() + stated.std()) / len(wrong) ** 0.5, missing)

    @support.needs_command
    def test_like_the_command(self):
        """The same model as `rejfilt classify fit`: answers, probabilities and questions."""
        X = np.round(self.X, 3)
        fitted = self.Classifier(random_state=np.random.RandomState(5)).fit(X[::2], self.y[::2])
        seed = int(np.random.RandomState(5).randint(0, 2**31 - 1))
        with tempfile.TemporaryDirectory() as folder:
            model, train, test, out = (os.path.join(folder, name) for name in ("m.rfc", "train.csv", "test.csv", "out.csv"))
            for path, rows in ((train, slice(0, None, 2)), (test, slice(1, None, 2))):
                with open(path, "w", newline="") as file:
                    csv.writer(file).writerows([[f"f{j}" for j in range(30)] + ["label"], *([*map(repr, map(float, x)), c] for x, c in zip(X[rows], self.y[rows]))])
            support.command("classify", "fit", train, "--seed", str(seed), "--out", model)
            support.command("classify", "predict", model, test, "--out", out)
            with open(out, newline="") as file:
                answers = list(csv.DictReader(file))
        self.assertEqual([len(q) for q in fitted.questions(X[1::2])], [int(a["queries"]) for a in answers])
        np.testing.assert_allclose(fitted.predict_proba(X[1::2])[:, 1], [float(a["p_1"]) for a in answers], atol=2e-6)

    def test_interruption(self):
        """Ctrl-C ends a fit, which then has learnt nothing."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        draw = np.random.default_rng(1)
        y = draw.integers(0, 5, 20000)
        X = draw.normal(size=(20000, 64)) + y[:, None]
        pressed = []

        def press():
            pressed.append(time.process_time())
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        classifier, timer = self.Classifier(random_state=1, n_jobs=2), threading.Timer(1.0, press)
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            classifier.fit(X, y)
        self.assertLess(time.process_time() - pressed[0], 0.2)  # of two threads; the whole takes half a minute
        self.assertFalse(hasattr(classifier, "expected_error_"))

    def test_goals(self):
        train, test = slice(0, None, 2), slice(1, None, 2)
        fitted = self.Classifier(mean_questions=2, random_state=1, n_jobs=2).fit(self.X[train], self.y[train])
        self.assertLess(np.mean([len(q) for q in fitted.questions(self.X[test])]), 2.5)
        self.assertLessEqual(fitted.expected_questions_, 2)
        with self.assertWarnsRegex(UserWarning, "leave-one-out does not reach that; it expects"):
            self.Classifier(error=0, random_state=1).fit(self.X[train], self.y[train])

    def test_copies(self):
        fitted = self.Classifier(random_state=1).fit(self.X[::2], self.y[::2].astype(str))
        for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
            np.testing.assert_array_equal(other.predict_proba(self.X), fitted.predict_proba(self.X))
        self.assertEqual(set(fitted.predict(self.X)), {"0", "1"})


if __name__ == "__main__":
    unittest.main()
