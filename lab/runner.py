"""Runs the jobs of an experiment on all processors. Rows go to a CSV file as jobs end, so an interrupted run goes on where it stopped.

An experiment is a module with SETTINGS, QUICK and FULL (dicts), `jobs(s)`, a list of tuples; `run(s, *job)`, which yields rows of one job;
and what the report needs (report.py). Jobs are independent, unless `needs(s, job)` is true: such jobs run after the others and get their rows
as `s.rows`."""

import concurrent.futures
import csv
import hashlib
import importlib
import json
import math
import os
import signal
import sys
from typing import NamedTuple


class Row(NamedTuple):
    """A number: the `quantity`, of whom, at `x`. `timing`: it depends on the machine."""

    quantity: str
    of: str
    x: float
    value: float
    error: float = math.nan
    timing: bool = False
    job: int = 0


class Number(NamedTuple):
    """A value and its standard error."""

    value: float
    error: float = math.nan

    def over(self, other):
        ratio = self.value / other.value if other.value else math.nan
        return Number(ratio, math.hypot(self.error / other.value, ratio * other.error / other.value) if other.value else math.nan)

    def less(self, other):
        return Number(self.value - other.value, math.hypot(self.error, other.error))

    def percent(self):
        return Number(100 * self.value, 100 * self.error)


class Rows(list):
    """The rows of an experiment."""

    def of(self, quantity, of=None):
        return [r for r in self if r.quantity == quantity and of in (None, r.of)]

    def at(self, quantity, of, x=None):
        return next((Number(r.value, r.error) for r in self.of(quantity, of) if x is None or r.x == x), Number(math.nan))

    def value(self, quantity, of, x=None):
        return self.at(quantity, of, x).value


class Settings(dict):
    """Settings by name, as attributes; `seed`, `data` (MNIST, or None) and `command` are those of the run."""

    __getattr__ = dict.__getitem__
    rows = Rows()


def settings_of(module, full, **run):
    return Settings(module.SETTINGS | (module.FULL if full else module.QUICK) | run)


def _job(name, settings, rows, job):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = Settings(settings)
    settings.rows = rows
    return list(importlib.import_module(name).run(settings, *job))


class Table:
    """The rows of a run in a file: a line that says of which settings they are and which jobs are done, then CSV."""

    def __init__(self, path, settings):
        self.path, self.rows, self.done = path, {}, set()
        about = {k: v for k, v in settings.items() if k not in ("command", "minutes")}
        self.key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
        if path.exists() and not self._load():
            print(f"{path} is of other settings, or damaged: it starts afresh", file=sys.stderr)

    def _load(self):
        try:
            first, *lines = self.path.read_text(encoding="utf-8").splitlines()
            words = first.split()
            done, count = {int(j) for j in words[5:]}, int(words[3])
            found = [Row(q, of, float(x), float(v), float(e or "nan"), t == "1", int(j)) for j, q, of, x, v, e, t in csv.reader(lines[1:])]
            if words[:2] != ["#", self.key] or len(found) != count:
                return False
        except (ValueError, IndexError, UnicodeDecodeError):
            return False
        self.done, self.rows = done, {j: [r for r in found if r.job == j] for j in done}
        return True

    def add(self, job, rows):
        self.rows[job] = [r._replace(job=job) for r in rows]
        self.done.add(job)
        rows = self.all()
        new = self.path.with_name(self.path.name + ".tmp")
        with open(new, "w", encoding="utf-8", newline="") as out:
            out.write(f"# {self.key} rows {len(rows)} jobs {' '.join(map(str, sorted(self.done)))}\n")
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(["job", "quantity", "of", "x", "value", "error", "timing"])
            for r in rows:
                writer.writerow([r.job, r.quantity, r.of, repr(float(r.x)), repr(float(r.value)), "" if math.isnan(r.error) else repr(float(r.error)), int(r.timing)])
        os.replace(new, self.path)

    def all(self):
        return Rows(r for j in sorted(self.rows) for r in self.rows[j])


def run_all(experiments, out, threads, tell=lambda text: None):
    """Runs [(module, settings)]; returns the rows of each. Jobs that are done are not run again."""
    tables = [Table(out / f"{module.__name__.rsplit('.', 1)[-1]}.csv", settings) for module, settings in experiments]
    waiting = [(k, j, job) for k, (module, settings) in enumerate(experiments) for j, job in enumerate(module.jobs(settings)) if j not in tables[k].done]
    late = lambda k, job: getattr(experiments[k][0], "needs", lambda s, *job: False)(experiments[k][1], *job)  # noqa: E731
    done, total = 0, len(waiting)
    with concurrent.futures.ProcessPoolExecutor(max_workers=threads) as pool:
        for is_late in (False, True):
            running = {}
            for k, j, job in waiting:
                if late(k, job) == is_late:
                    module, settings = experiments[k]
                    rows = tables[k].all() if is_late else Rows()
                    running[pool.submit(_job, module.__name__, dict(settings), rows, job)] = k, j
            try:
                for future in concurrent.futures.as_completed(running):
                    k, j = running[future]
                    tables[k].add(j, future.result())
                    done += 1
                    tell(f"{experiments[k][0].__name__.rsplit('.', 1)[-1]}: {done} of {total} jobs")
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    tell("")
    return [table.all() for table in tables]


def each(function, items, threads=None):
    """Results of a function of each item, on all processors, in the order of the items."""
    with concurrent.futures.ProcessPoolExecutor(max_workers=threads) as pool:
        yield from pool.map(function, items)
