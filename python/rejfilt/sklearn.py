"""A classifier for scikit-learn that asks for few features, one after the other, those that tell most.

>>> from sklearn.datasets import load_iris
>>> from rejfilt.sklearn import FewQuestionsClassifier
>>> X, y = load_iris(return_X_y=True)
>>> classifier = FewQuestionsClassifier(random_state=1).fit(X[::2], y[::2])
>>> bool(classifier.score(X[1::2], y[1::2]) > 0.9)
True
>>> classifier.next_feature({}) in (2, 3)  # of a new flower the petals should be measured first
True
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped, import-not-found, unused-ignore]
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped, import-not-found, unused-ignore]
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data  # type: ignore[import-untyped, import-not-found, unused-ignore]

from . import _rejfilt
from ._model import number

LABELS_MAX = 256
COUNTED = 500  # training objects whose questions `asked_` counts
BEST, ERROR, QUESTIONS, STOP = range(4)  # as rfc_goal
SURE_STOP = 0.0001  # with a budget and no other goal, as in the command


class _Model(_rejfilt.Few):
    """What was learnt; it is pickled as the bytes of a model file."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (self._save(),)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Model:
        return self  # it never changes


def _loaded(model: bytes) -> _Model:
    made = _Model()
    made._load(model)
    return made


class FewQuestionsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Finds an object's class by asking for one feature after the other, chosen by the training objects that still agree with the answers.
    It is `rejfilt classify` with the same defaults, and gives the same answers.

    When to stop is learnt by leave-one-out on training objects: by default where more questions hardly help.
    error: instead, the largest share of wrong answers. mean_questions: instead, the most questions of an object on average. A warning
    says if that cannot be reached.
    budget: the most features asked of an object (default 60). cost: of each feature, at least 0; one of twice the cost must tell
    twice as much. n_jobs: threads (-1: all), which change no answer. NaN is a feature that is not known, and is not asked.

    After `fit`: classes_, n_features_in_; expected_error_ and expected_questions_, by leave-one-out; asked_, how often each feature was
    asked of a training object, on average. `questions(X)` are the features asked of each object, in order. `next_feature(answers)` is
    the feature to ask next of an object that is there.
    """

    def __init__(
        self,
        budget: int | None = None,
        error: float | None = None,
        cost: Any = None,
        random_state: Any = None,
        mean_questions: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.budget = budget
        self.error = error
        self.cost = cost
        self.random_state = random_state
        self.mean_questions = mean_questions
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any) -> FewQuestionsClassifier:  # noqa: N803
        """Learns from the objects X, of classes y. NaN in X becomes the feature's mean."""
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", ensure_all_finite="allow-nan", ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, classes = np.unique(y, return_inverse=True)
        if not 2 <= len(self.classes_) <= LABELS_MAX:
            raise ValueError(f"{len(self.classes_)} class(es) were given; it takes 2 to {LABELS_MAX}")
        for name, given in (("error", self.error), ("mean_questions", self.mean_questions)):
            if given is not None:
                number(name, given)
        if self.budget is not None and not isinstance(self.budget, (int, np.integer)):
            raise TypeError(f"budget is a whole number, not {self.budget!r}")
        if self.error is not None and not 0 <= self.error <= 1:
            raise ValueError(f"error is {self.error}, not from 0 to 1")
        if self.mean_questions is not None and not self.mean_questions >= 0:
            raise ValueError(f"mean_questions is {self.mean_questions}, not 0 or more")
        if self.error is not None and self.mean_questions is not None:
            raise ValueError("error and mean_questions are two goals; give one")
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"budget is {self.budget}; one question is the least")
        if np.isinf(X).any():
            raise ValueError("X contains infinity")
        goal, value = BEST, 0.0
        if self.error is not None:
            goal, value = ERROR, float(self.error)
        elif self.mean_questions is not None:
            goal, value = QUESTIONS, float(self.mean_questions)
        elif self.budget is not None:
            goal, value = STOP, SURE_STOP
        seed = int(check_random_state(self.random_state).randint(0, 2**31 - 1))
        self._model = _Model()
        classes = np.ascontiguousarray(classes, dtype=np.uint32)
        _, error, questions, reached = self._model._fit(
            X, classes, X.shape[1], seed, min(self.budget or 0, X.shape[1]), self._costs(), goal, value, self._threads()
        )
        self.expected_error_, self.expected_questions_ = error, questions
        if not reached:
            warnings.warn(
                f"leave-one-out does not reach that; it expects {100 * error:.3f} % errors with {questions:.2f} questions", stacklevel=2
            )
        some = X[:: max(1, len(X) // COUNTED)]
        asked = self._ask(some)[1]
        self.asked_ = np.bincount(asked[asked >= 0], minlength=X.shape[1]) / len(some)
        return self

    def _costs(self) -> NDArray[np.float32]:
        costs = np.ones(self.n_features_in_) if self.cost is None else np.asarray(self.cost, dtype=np.float64)
        if costs.shape != (self.n_features_in_,) or not (costs >= 0).all() or not np.isfinite(costs).all():
            raise ValueError(f"cost is not {self.n_features_in_} numbers of at least 0")
        return costs.astype(np.float32)

    def _threads(self) -> int:
        return max(1, self.n_jobs or 1) if (self.n_jobs or 1) > 0 else os.cpu_count() or 1

    def _ask(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:  # noqa: N803
        """Probabilities of classes by object, and features asked in order."""
        posterior = np.empty((len(X), len(self.classes_)), dtype=np.float32)
        asked = np.empty(X.shape, dtype=np.int32)
        self._model._classify(np.ascontiguousarray(X), self._threads(), posterior, asked)
        total = posterior.astype(np.float64)
        return total / total.sum(axis=1, keepdims=True), asked

    def _checked(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", reset=False)
        if np.isinf(X).any():
            raise ValueError("X contains infinity")
        return X  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Probabilities of the classes, by object. That of the most probable class is calibrated by leave-one-out."""
        return self._ask(self._checked(X))[0]

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The most probable class of each object."""
        most = np.argmax(self.predict_proba(X), axis=1)
        decided: NDArray[Any] = self.classes_[most]
        return decided

    def questions(self, X: Any) -> list[NDArray[np.int32]]:  # noqa: N803
        """The features that are asked of each object, in order."""
        return [row[row >= 0] for row in self._ask(self._checked(X))[1]]

    def next_feature(self, answers: Mapping[int, float] | Any) -> int | None:
        """The feature to ask next of an object, or None: the class is known well enough, the budget is spent, or nothing is left.

        answers: a mapping from feature to value, in the order in which they came, or a row with NaN where nothing is known yet.
        In a mapping NaN means that there is no answer, and the feature is not asked again."""
        check_is_fitted(self)
        width = self.n_features_in_
        if isinstance(answers, Mapping):
            for feature in answers:
                if not isinstance(feature, (int, np.integer)) or not 0 <= feature < width:
                    raise ValueError(f"there is no feature {feature!r}: they are 0 to {width - 1}")
            order, values = np.array(list(answers), dtype=np.uint32), np.array(list(answers.values()), dtype=np.float64)
        elif np.shape(answers) not in ((), (width,)):
            raise ValueError(f"a row of {width} answers is needed, not an array of shape {np.shape(answers)}")
        else:
            row = np.broadcast_to(np.asarray(answers, dtype=np.float64), (width,))
            order = np.flatnonzero(~np.isnan(row)).astype(np.uint32)
            values = row[order]
        if np.isinf(values).any():
            raise ValueError("an answer is infinite")
        feature = self._model._next(order, values)
        return None if feature < 0 else feature
