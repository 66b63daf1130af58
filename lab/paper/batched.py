"""Algorithm 2: nodes send sums to a server."""

import json
import math
import os
import shutil
import subprocess
import time

import numpy as np
import rejfilt as rf

from .. import native
from ..draws import direction, seed_of
from ..report import Claim, Table
from ..runner import Row

TITLE = "many nodes and a server"
ABOUT = """The attempts of an update are shared among nodes, which send what they found to a server. Here nodes send sums of whitened draws, in whole numbers, so that the
order of their arrival cannot matter; the result is compared with Algorithm 1 on one node, in all its bits. In the paper's listing nodes return a mean and a covariance,
from which the server makes sums again: as printed from the prior's μ and Σ, where the node's own must be meant. Speed is that of one large update."""
SETTINGS = {"dims": [1, 4, 16], "nodes": [1, 2, 3, 5, 8, 16], "attempts": 8000}
QUICK = {"trials": 4, "timed_attempts": 1000000, "ranks": [2], "minutes": 0.1}
FULL = {"trials": 100, "timed_attempts": 10000000, "ranks": [1, 2, 4], "minutes": 1}
FRINGE, OWN = 1, "from a node's own"


def jobs(s):
    return [("bits", dim) for dim in s.dims] + [("rebuilt", 0), ("time", 0)]


def needs(s, part, _):
    """Time is measured when nothing else runs."""
    return part == "time"


def run(s, part, dim):
    return {"bits": bits, "rebuilt": rebuilt, "time": timed}[part](s, dim)


def fixture(s, dim, trial):
    seed = int(seed_of(s.seed, dim, trial))
    return seed, [dim, 0.5, *direction(seed, 0, dim), 1]


def bits(s, dim):
    accepted = []
    for nodes in s.nodes:
        same = 0
        for trial in range(s.trials):
            seed, record = fixture(s, dim, trial)
            one, many = (native.update(FRINGE, dim, seed, s.attempts, record, nodes=n) for n in (0, nodes))
            same += all((a.view(np.uint64) == b.view(np.uint64)).all() for a, b in zip(one[:2], many))
            accepted.append(one[2])
        yield Row("same bits", str(dim), nodes, same / s.trials)
    sums = 8 * (dim + dim * (dim + 1) // 2)
    yield Row("bytes", "sums", dim, 4 + sums)
    yield Row("bytes", "tally", dim, native.tally_bytes(dim))
    yield Row("bytes", "accepted draws", dim, 8 * dim * np.mean(accepted))


def rebuilt(s, _):
    """Nodes return a mean and a variance; the server makes sums from the node's own, or from the prior's, as printed."""
    for nodes in s.nodes:
        worst = [0.0, 0.0]
        for trial in range(s.trials):
            seed, record = fixture(s, 1, trial)
            each = s.attempts // nodes
            parts = [native.update(FRINGE, 1, seed, each, record, nodes=1, begin=i * each) for i in range(nodes)]
            count, first = sum(n for *_, n in parts), sum(m[0] * n for m, _, n in parts)
            second = sum((n - 1) * f[0] ** 2 + n * m[0] ** 2 for m, f, n in parts), sum(n - 1 for *_, n in parts)  # the prior's variance is 1 and its mean 0
            exact = native.update(FRINGE, 1, seed, each * nodes, record)[1][0] ** 2
            worst = [max(w, abs((x - first**2 / count) / (count - 1) / exact - 1)) for w, x in zip(worst, second)]
        yield Row("rebuilt", OWN, nodes, worst[0])
        yield Row("rebuilt", "as printed", nodes, worst[1])


def timed(s, _):
    """Attempts a second in the fastest of many updates, because other processes may use the machine."""
    threads = 1
    while threads <= len(os.sched_getaffinity(0)):
        best = math.inf
        for _ in range(50):
            tracker = rf.Tracker("precession", design=None, attempts=s.timed_attempts, sampler="reject", engine=f"threads:{threads}", seed=s.seed)
            start = time.perf_counter()
            tracker.tell(1, (1, 0.5))
            best = min(best, time.perf_counter() - start)
        yield Row("speed", "threads", threads, s.timed_attempts / best, timing=True)
        threads *= 2
    yield from ranks(s)


def ranks(s):
    """The command on several MPI ranks: is the result that of one process, and how fast is it?"""
    track = [s.command, "track", "--simulate", "--json", "--trials", "1", "--steps", "20", "--seed", str(s.seed), "--attempts", str(s.timed_attempts), "--engine"]

    def ask(command):
        done = subprocess.run(command, capture_output=True, text=True)
        try:
            found = json.loads(done.stdout)
            return found["mean"], found["ns_per_attempt"]
        except (ValueError, KeyError):
            return math.nan, math.nan

    if not shutil.which("mpirun"):
        return
    alone, _ = ask([*track, "simd"])
    for n in s.ranks:
        mean, nanoseconds = ask(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(n), *track, "mpi:simd"])
        if math.isnan(mean):
            return
        yield Row("ranks agree", "MPI ranks", n, mean == alone, timing=True)
        yield Row("speed", "MPI ranks", n, 1e9 / nanoseconds, timing=True)


def speed_for_each(rows, s):
    most = max(rows.of("speed", "threads"), key=lambda r: r.x)
    return most.value / rows.value("speed", "threads", 1) / most.x


CLAIMS = [
    Claim("same", "nodes can share the attempts and send sums, which a server combines to the model of the next step",
          "share of updates with the bits of Algorithm 1, the least of all numbers of nodes and parameters", lambda rows, s: min(r.value for r in rows.of("same bits")), (1, 1), (1, 1),
          "section 2 and the appendix on batched updating"),
    Claim("printed", "the server makes sums again from N, Σ and μ", "largest relative error of the variance, 16 nodes, as printed", lambda rows, s: rows.at("rebuilt", "as printed", s.nodes[-1]),
          (-math.inf, 1e-12), (0.001, 10), "Algorithm 2", change="with the node's own Σ and μ", changed=lambda rows, s: rows.at("rebuilt", OWN, s.nodes[-1])),
    Claim("bytes", "what is sent are sums, whose size does not depend on the number of draws", "bytes of a tally over those of the draws accepted, 16 parameters and 8,000 attempts",
          lambda rows, s: rows.at("bytes", "tally", s.dims[-1]).over(rows.at("bytes", "accepted draws", s.dims[-1])), (-math.inf, 0.1), (0.0005, 0.01), "section 2"),
    Claim("parallel", "the procedure is inherently parallel", "speed with all CPUs over that of one thread, for each CPU", speed_for_each, (0.7, math.inf),
          where="appendix on batched updating", timing=True),
]  # fmt: skip


def report(rows, s):
    yield Table("Bytes that a node sends for an update", ["parameters", "the paper's sums", "our tally, with diagnostics", "the accepted draws would be"],
                [[str(dim), *(f"{rows.value('bytes', of, dim):.0f}" for of in ("sums", "tally", "accepted draws"))] for dim in s.dims])  # fmt: skip
    yield Table("Relative error of the variance when the server makes sums from what nodes return", ["nodes", "from a node's own mean and variance", "as printed, from the prior's"],
                [[str(n), f"{rows.value('rebuilt', OWN, n):.1e}", f"{rows.value('rebuilt', 'as printed', n):.2g}"] for n in s.nodes])  # fmt: skip
    one = rows.value("speed", "threads", 1)
    agree = [r.value for r in rows.of("ranks agree")]
    said = "MPI was not measured: there is no mpirun here, or no module rejfilt_mpi.so." if not agree else "the result on MPI ranks " + (
        "is that of one process, in all its digits" if all(agree) else "differs from that of one process")  # fmt: skip
    yield Table(f"Attempts per second of one update (batched); {said}", ["on", "number", "10⁶ attempts a second", "times as fast as one thread"],
                [[r.of, f"{r.x:.0f}", f"{1e-6 * r.value:.0f}", f"{r.value / one:.2f}"] for r in rows.of("speed")], timing=True)  # fmt: skip
