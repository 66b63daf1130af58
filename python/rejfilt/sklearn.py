"""A classifier for scikit-learn that asks for few features, one after the other, those that tell most.

>>> from sklearn.datasets import load_iris
>>> from rejfilt.sklearn import FewQuestionsClassifier
>>> X, y = load_iris(return_X_y=True)
>>> classifier = FewQuestionsClassifier(error=0.02, random_state=1).fit(X[::2], y[::2])
>>> bool(classifier.score(X[1::2], y[1::2]) > 0.9)
True
>>> classifier.next_feature({}) in (2, 3)  # of a new flower the petals should be measured first
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped, import-not-found, unused-ignore]
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped, import-not-found, unused-ignore]
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data  # type: ignore[import-untyped, import-not-found, unused-ignore]

from . import _rejfilt

Bytes = NDArray[np.uint8]

LABELS_MAX = 256
COUNTED = 500  # training objects whose questions `asked_` counts


class _Vectors(_rejfilt.Few):
    """Training vectors; they are pickled as what they were made from."""

    def __init__(self, bytes_: Bytes, classes: NDArray[np.uint32], count: int, seed: int) -> None:
        self.arguments = (bytes_, classes, count, seed)
        self._fit(bytes_, classes, bytes_.shape[1], count, seed)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Vectors, self.arguments

    def __deepcopy__(self, memo: dict[int, Any]) -> _Vectors:
        return _Vectors(*self.arguments)


class FewQuestionsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Finds an object's class by asking for one feature after the other, chosen by the training objects that still agree with the answers.

    budget: features that may be asked of an object, at most. error: it stops when all classes but one have at most this probability
    together. cost: by feature, above 0; a feature that costs twice has to tell twice as much. NaN is a feature that is not known, and is not
    asked.

    After `fit`: classes_, n_features_in_, and asked_, how often each feature was asked of training objects, on average. `questions(X)` says
    which features were asked of objects, in order; `next_feature(answers)` what to ask next of an object that is there.
    """

    def __init__(self, budget: int | None = None, error: float = 0.001, cost: Any = None, random_state: Any = None) -> None:
        self.budget = budget
        self.error = error
        self.cost = cost
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any) -> FewQuestionsClassifier:  # noqa: N803
        """Keeps the objects X, of classes y. NaN in X becomes the feature's mean."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, classes = np.unique(y, return_inverse=True)
        if not 2 <= len(self.classes_) <= LABELS_MAX:
            raise ValueError(f"{len(self.classes_)} class(es) were given; it takes 2 to {LABELS_MAX}")
        if not 0 <= self.error <= 0.5:
            raise ValueError(f"error is {self.error}, not from 0 to 0.5")
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"budget is {self.budget}; one question is the least")
        self._costs()
        if np.isinf(X).any():
            raise ValueError("X contains infinity")
        self._sorted = [np.sort(column[~np.isnan(column)]) for column in X.T]
        seed = int(check_random_state(self.random_state).randint(0, 2**31 - 1))
        self._vectors = _Vectors(self._bytes(X), np.ascontiguousarray(classes, dtype=np.uint32), len(self.classes_), seed)
        self._shares = np.bincount(classes) / len(classes)
        some = X[:: max(1, len(X) // COUNTED)]
        asked = self._ask(some)[1]
        self.asked_ = np.bincount(asked[asked >= 0], minlength=X.shape[1]) / len(some)
        return self

    def _costs(self) -> NDArray[np.float32]:
        costs = np.ones(self.n_features_in_) if self.cost is None else np.asarray(self.cost, dtype=np.float64)
        if costs.shape != (self.n_features_in_,) or not (costs > 0).all() or not np.isfinite(costs).all():
            raise ValueError(f"cost is not {self.n_features_in_} numbers above 0")
        return costs.astype(np.float32)

    def _bytes(self, X: NDArray[np.float64]) -> Bytes:  # noqa: N803
        """A feature's values as ranks among those of the training set, 0 to 255: wild values and units change nothing."""
        out = np.empty(X.shape, dtype=np.uint8)
        for j, known in enumerate(self._sorted):
            if len(known) == 0:
                out[:, j] = 128
                continue
            column = np.where(np.isnan(X[:, j]), known.mean(), X[:, j])
            rank = (np.searchsorted(known, column, "left") + np.searchsorted(known, column, "right")) / (2 * len(known))
            out[:, j] = np.round(255 * rank)
        return out

    def _ask(self, X: NDArray[np.float64], cost: NDArray[np.float32] | None = None) -> tuple[NDArray[np.float64], NDArray[np.int32]]:  # noqa: N803
        """Probabilities of classes by object, and features asked in order."""
        posterior = np.empty((len(X), len(self.classes_)), dtype=np.float32)
        asked = np.full(X.shape, -1, dtype=np.int32)
        coded, costs = self._bytes(X), self._costs() if cost is None else cost
        masks, of = np.unique(~np.isnan(X), axis=0, return_inverse=True)
        for i, mask in enumerate(masks):
            rows = np.flatnonzero(of.reshape(-1) == i)
            if not mask.any():
                posterior[rows] = self._shares
                continue
            found, order = np.empty((len(rows), len(self.classes_)), dtype=np.float32), np.empty((len(rows), X.shape[1]), dtype=np.int32)
            self._vectors._classify(coded[rows], mask.astype(np.uint8), float(self.error), self.budget or 0, costs, found, order)
            posterior[rows], asked[rows] = found, order
        total = posterior.astype(np.float64)
        return total / total.sum(axis=1, keepdims=True), asked

    def _checked(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        if np.isinf(X).any():
            raise ValueError("X contains infinity")
        return X  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Probabilities of the classes, by object."""
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
        """The feature to ask next of an object of which some are known: a mapping from feature to value, in the order in which they
        came, or a row with NaN where nothing is known. None: the class is known well enough, the budget is spent, or nothing is left to ask."""
        check_is_fitted(self)
        row = np.full(self.n_features_in_, np.nan)
        if isinstance(answers, Mapping):
            for feature, value in answers.items():
                if not isinstance(feature, (int, np.integer)) or not 0 <= feature < len(row):
                    raise ValueError(f"there is no feature {feature!r}: they are 0 to {len(row) - 1}")
                row[feature] = value
        elif np.shape(answers) not in ((), row.shape):
            raise ValueError(f"a row of {len(row)} answers is needed, not an array of shape {np.shape(answers)}")
        else:
            row[:] = answers
        order = [int(f) for f in answers if not np.isnan(row[f])] if isinstance(answers, Mapping) else np.flatnonzero(~np.isnan(row)).tolist()
        coded = self._bytes(row[None, :])[0, order]
        feature = self._vectors._next(np.array(order, dtype=np.uint32), coded, float(self.error), self.budget or 0, self._costs())
        return None if feature < 0 else feature
