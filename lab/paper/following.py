"""Tracks of the walking frequency: by the library's filters, and by others that see the same truths with the same luck; their errors."""

import math

import numpy as np
import rejfilt as rf

from .. import oracles
from ..draws import DESIGN, OUTCOME, TRUTH, USER, median, pair, seed_of, unit, words
from ..runner import Row

STEP = math.pi / 120
ORDINARY = {"sampler": "reject", "attempts": 100}
PAPER = ORDINARY | {"design": "pgh", "strict": True}  # Algorithm 1, unchanged, and its heuristic, without tests
BURN_IN, LOST_STEPS, LOST_SIGMAS, GROUPS = 100, 20, 5.0, 16


class Tracks:
    """Errors and standard deviations by trial and step; attempts per update."""

    def __init__(self, error, sd, attempts=1.0):
        self.error, self.sd, self.attempts = np.asarray(error), np.asarray(sd), attempts
        self.square = self.error**2 / STEP**2
        self.far = np.abs(self.error) > LOST_SIGMAS * self.sd

    def summary(self, trials=slice(None)):
        some = self.square[trials, BURN_IN:].ravel()
        return [np.median(some), np.mean(some), np.quantile(some, 0.99), np.mean(self.far[trials].sum(1) > LOST_STEPS)]

    def rows(self, of, x):
        """Pooled median, mean, 99 % (of steps from 100 on) and share lost; standard errors from groups of trials."""
        count = min(len(self.square), GROUPS)
        spread = np.std([self.summary(slice(g, None, count)) for g in range(count)], axis=0) / math.sqrt(max(count - 1, 1))
        for name, value, error in zip(("pooled", "mean", "p99", "lost"), self.summary(), spread):
            yield Row(name, of, x, value, error)
        yield Row("attempts", of, x, self.attempts)

    def by_step(self, of, every):
        for k in range(every - 1, self.square.shape[1], every):
            yield Row("by step", of, k + 1, *median(self.square[:, k]))

    def recovered(self, at, within=50, lasting=5):
        """Of the tracks on the truth before a jump, those that have five small errors in a row soon; and how many were."""
        good = np.abs(self.error) < 5 * STEP
        runs = sum(good[:, at + k : good.shape[1] - lasting + 1 + k] for k in range(lasting)) == lasting
        was = good[:, at - 1]
        return float(np.mean(runs[was, :within].any(1))), int(was.sum())


def simulated(s, trials, **options):
    """Tracks of the library's filter, and its rows."""
    run = rf.simulate("precession", steps=s.steps, trials=trials, seed=s.seed, **options)
    shaped = lambda name: run[name].reshape(trials, s.steps)  # noqa: E731
    return Tracks(shaped("x.chart_mean") - shaped("truth.x"), shaped("x.chart_sd"), float(np.mean(run["attempts"]))), shaped


class World:
    """The truths of trials and the luck of their measurements, as the library simulates them."""

    def __init__(self, s, trials, jump=0.0, at=0):
        self.seed = seed_of(s.seed, np.arange(trials))[:, None]
        step = np.arange(s.steps)
        first = unit(words(self.seed, 0, 0, 1, TRUTH)[..., 2]) * (math.pi / 2)
        w = words(self.seed, step, 0, 0, TRUTH)
        moves = STEP * pair(w[..., 0], w[..., 1])[0]
        moves[:, :1] = first
        self.truth = np.cumsum(moves, axis=1) + np.where(step >= at, jump, 0)
        self.luck = unit(words(self.seed, step, 0, 0, OUTCOME)[..., 0])
        self.side = np.where(unit(words(self.seed, step, 32, 0xFFFFFFFF, DESIGN)[..., 0]) > 0.5, 0.25, -0.25)
        w = words(self.seed, step, step * 128, 0, DESIGN)
        self.normal, self.uniform = pair(w[..., 0], w[..., 1])[0], unit(w[..., 2])

    def outcome(self, k, t, x_, trials=slice(None)):
        return self.luck[trials, k] > np.sin((self.truth[trials, k] - x_) * t / 2) ** 2

    def fringe(self, k, mean, sd):
        """Our design for one frequency: on the slope of a fringe, and every fifth an anchor, whose outcome is nearly certain."""
        number = (k + 1) // 5 if k % 5 == 4 else 0
        top = np.where(self.side[:, k] > 0, 0.5, 0.0)
        radians, side = 0.95, self.side[:, k]
        if number:
            radians, side = 0.46 * (0.52 + 0.6 * float(unit(number * 2654435769 % 2**32))), top
        t = radians / sd
        return t, mean + side * 2 * math.pi / t, bool(number), top > 0


class Moments:
    """Gaussians by trial with computed moments: exact, or by a rule of fixed points."""

    def __init__(self, trials, points=None):
        self.mean, self.variance = np.full(trials, math.pi / 4), np.full(trials, (math.pi / 2) ** 2 / 12)
        self.widest, self.rule = self.variance[0], oracles.rule(points) if points else None

    def walk(self):
        self.variance = self.variance + STEP**2

    def draw(self, world, k):
        return self.mean + np.sqrt(self.variance) * world.normal[:, k]

    def learn(self, t, x_, outcome):
        if self.rule is None:
            self.mean, self.variance, p = oracles.closed_form(self.mean, self.variance, t, x_, outcome)
            return p
        like = lambda x: np.abs(np.where(outcome, 0, 1)[:, None] - np.cos((x - x_[:, None]) * t[:, None] / 2) ** 2)  # noqa: E731
        self.mean, self.variance = oracles.by_rule(self.rule, like, self.mean, self.variance)

    def widen(self, which):
        self.variance = np.where(which, np.minimum(self.variance * 4.84, self.widest), self.variance)

    def show(self):
        return self.mean, np.sqrt(self.variance)


class Cells:
    """Exact posteriors by trial, on a grid."""

    def __init__(self, trials, cells, low=-1.6, high=3.2):
        self.x = np.linspace(low, high, cells)
        self.p = np.tile((self.x >= 0) & (self.x <= math.pi / 2), (trials, 1)).astype(float)
        self.p /= self.p.sum(1, keepdims=True)
        frequency = np.fft.rfftfreq(cells, self.x[1] - self.x[0])
        self.kernel = np.exp(-0.5 * (2 * math.pi * frequency * STEP) ** 2)

    def walk(self):
        self.p = np.maximum(np.fft.irfft(np.fft.rfft(self.p) * self.kernel, len(self.x)), 0)

    def draw(self, world, k):
        return self.x[np.argmax(np.cumsum(self.p, axis=1) >= world.uniform[:, k, None] * self.p.sum(1, keepdims=True) * (1 - 1e-12), axis=1)]

    def learn(self, t, x_, outcome):
        self.p *= np.abs(np.where(outcome, 0, 1)[:, None] - np.cos((self.x - x_[:, None]) * (t[:, None] / 2)) ** 2)
        self.p /= self.p.sum(1, keepdims=True)

    def widen(self, which):
        """It needs none."""

    def show(self):
        mean = self.p @ self.x / self.p.sum(1)
        return mean, np.sqrt(np.maximum((self.p * (self.x - mean[:, None]) ** 2).sum(1) / self.p.sum(1), 1e-12))


def followed(world, belief, pgh):
    """Tracks of a belief (Moments, Cells) that chooses its own measurements. A failed anchor widens it, as in the library's filter."""
    error, sds = np.empty_like(world.truth), np.empty_like(world.truth)
    for k in range(world.truth.shape[1]):
        if k:
            belief.walk()
        mean, sd = belief.show()
        is_anchor, expected = False, None
        if pgh:
            t, x_ = 1 / sd, belief.draw(world, k)
        else:
            t, x_, is_anchor, is_zero = world.fringe(k, mean, sd)
            expected = ~is_zero
        outcome = world.outcome(k, t, x_)
        belief.learn(t, x_, outcome)
        if is_anchor:
            belief.widen(outcome != expected)
        mean, sd = belief.show()
        error[:, k], sds[:, k] = mean - world.truth[:, k], sd
    return Tracks(error, sds)


def tracked(world, s, trials, restart=None, **options):
    """Tracks of the library's session, driven record by record. restart(tracker, trial, k, before): called before each question, and after
    each record (before=False)."""
    error, sds, attempts = np.empty((trials, s.steps)), np.empty((trials, s.steps)), 0.0
    model = rf.model("precession")
    for i in range(trials):
        tracker = rf.Tracker(model, seed=s.seed, trial=i, **options)
        truth, luck = world.truth[i], world.luck[i]
        for k in range(s.steps):
            if restart:
                restart(tracker, i, k, True)
            t, x_ = tracker.ask()
            tracker.tell(int(luck[k] > math.sin((truth[k] - x_) * t / 2) ** 2))
            if restart:
                restart(tracker, i, k, False)
            error[i, k], sds[i, k] = tracker.chart_mean[0] - truth[k], tracker.chart_sd[0]
    return Tracks(error, sds)


def restarts_at_random(world, every):
    due = unit(words(world.seed, np.arange(world.truth.shape[1]), 0, 0, USER + 32)[..., 0]) * every <= 1

    def restart(tracker, i, k, before):
        if before and due[i, k]:
            tracker.restart()

    return restart


def restarts_when_widened():
    seen = {}

    def restart(tracker, i, k, before):
        if not before:
            widened = tracker._column("widened")
            if widened > seen.get(i, 0):
                tracker.restart()
            seen[i] = widened

    return restart
