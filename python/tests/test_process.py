"""Forks, threads, asyncio, SIGCHLD, memory: a package that lives in other people's processes."""

import asyncio
import concurrent.futures
import contextlib
import gc
import importlib.util
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
import unittest

import numpy as np
from support import LONG, ROOT, environment, in_numpy, records

import rejfilt
from rejfilt import Tracker

TABLE = records("precession", 200, seed=1)


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def final(model, **options):
    return rejfilt.replay(model, TABLE, seed=1, **options)["x.mean"][-1]


def in_child(tracker):
    return rejfilt.replay(tracker, TABLE)["x.mean"][-1]


def source(number):
    number = number if LONG else 0  # then one model, which is compiled once
    return (ROOT / "src/models/precession.h").read_text().replace('"precession"', f'"source{number}"')


class Processes(unittest.TestCase):
    def test_fork(self):
        """Trackers, also of engines with threads, go on in a fork; multiprocessing sends them elsewhere."""
        for options in ({"engine": "threads:3", "attempts": 30000, "sampler": "reject"}, {"belief": "mixture"}):
            tracker = Tracker("precession", seed=1, design=None, **options)
            rejfilt.replay(tracker, TABLE)
            want = rejfilt.replay(tracker.copy(), TABLE)["x.mean"][-1]
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                os.write(write, np.float64(in_child(tracker)).tobytes())
                del tracker
                os._exit(0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(np.frombuffer(os.read(read, 8))[0], want)
            os.close(read), os.close(write)
            for method in ("fork", "spawn"):
                if method == "spawn" and not LONG:
                    continue
                with multiprocessing.get_context(method).Pool(2) as pool:
                    self.assertEqual(pool.map(in_child, [tracker.copy()] * 2), [want] * 2)

    def test_threads(self):
        """Different trackers in different threads; they get the bits that they would have had alone."""
        jobs = [("precession", {}), ("precession", {"belief": "particles:500"}), (in_numpy, {}), (in_numpy, {"belief": "mixture"})] * 2
        want = [final(m, **o) for m, o in jobs]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual([f.result() for f in [pool.submit(final, m, **o) for m, o in jobs]], want)

    def test_one_tracker_in_two_threads(self):
        tracker = Tracker("precession", seed=1, attempts=2_000_000, sampler="reject", design=None)
        refused, told = [], []

        def work():
            for _ in range(20):
                try:
                    tracker.tell(1, (1.0, 0.3))
                    told.append(1)
                except rejfilt.Refused as error:
                    refused.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(tracker.records, len(told))
        self.assertEqual(len(told) + len(refused), 60)
        self.assertTrue(all("in use" in r for r in refused))

    def test_others_run_meanwhile(self):
        tracker = Tracker("precession", seed=1, attempts=50_000_000, sampler="reject", design=None)
        worker = threading.Thread(target=lambda: tracker.tell(1, (1.0, 0.3)))
        worker.start()
        ticks = 0
        while worker.is_alive():
            time.sleep(0.001)
            ticks += 1
        self.assertGreater(ticks, 3)


@contextlib.contextmanager
def cache():
    """Of compiled models; in a short run the one that the tests share."""
    with tempfile.TemporaryDirectory() as folder:
        with environment(REJFILT_CACHE=folder if LONG else os.environ.get("REJFILT_CACHE", folder)):
            yield folder


class Loader(unittest.TestCase):
    """The loader of C models forks: nobody may notice."""

    def test_handlers_and_children(self):
        caught = []
        with cache() as folder:
            for handler in (signal.SIG_DFL, signal.SIG_IGN, lambda *_: caught.append(1)) if LONG else (lambda *_: caught.append(1),):
                before = signal.signal(signal.SIGCHLD, handler)
                sleeper = subprocess.Popen(["sleep", "1"]) if handler != signal.SIG_IGN else None
                mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
                model = rejfilt.model(source(id(handler) % 97))
                self.assertEqual(signal.getsignal(signal.SIGCHLD), handler)
                self.assertEqual(signal.pthread_sigmask(signal.SIG_BLOCK, []), mask)
                self.assertEqual(Tracker(model, seed=1).records, 0)
                if sleeper:
                    self.assertEqual(sleeper.wait(), 0)
                signal.signal(signal.SIGCHLD, before)

    def test_reaper(self):
        """Somebody waits for all children, ours included."""
        with cache() as folder:

            def reap(*_):
                try:
                    while os.waitpid(-1, os.WNOHANG)[0]:
                        pass
                except ChildProcessError:
                    pass

            before = signal.signal(signal.SIGCHLD, reap)
            try:
                self.assertEqual(rejfilt.model(source(98)).name, "source98" if LONG else "source0")
            finally:
                signal.signal(signal.SIGCHLD, before)

    def test_asyncio_and_threads(self):
        async def run(folder):
            process = await asyncio.create_subprocess_exec("sleep", "0.2")
            loop = asyncio.get_running_loop()
            models = await asyncio.gather(*(loop.run_in_executor(None, rejfilt.model, source(k)) for k in range(3)))
            self.assertEqual([m.name for m in models], ["source0", "source1", "source2"] if LONG else ["source0"] * 3)
            again = await asyncio.create_subprocess_exec("true")
            return await process.wait(), await again.wait()

        with cache() as folder:
            busy = threading.Event()
            noise = threading.Thread(target=lambda: [np.ones(1000).sum() for _ in iter(lambda: busy.is_set(), True)])
            noise.start()
            try:
                self.assertEqual(asyncio.run(run(folder)), (0, 0))
            finally:
                busy.set()
                noise.join()

    def test_nothing_is_left(self):
        with cache() as folder:
            rejfilt.model(source(99))
            files = len(os.listdir("/proc/self/fd"))
            for _ in range(3):
                rejfilt.model(source(99))
            self.assertEqual(len(os.listdir("/proc/self/fd")), files)
            self.assertEqual(subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "stat="], capture_output=True, text=True).stdout.count("Z"), 0)


class Memory(unittest.TestCase):
    def steady(self, work, slack):
        """After a warm-up, neither Python's memory nor the process's grows by more than so many bytes."""
        work()
        gc.collect()
        tracemalloc.start()
        work()
        gc.collect()
        kept, before = tracemalloc.get_traced_memory()[0], resident()
        work()
        gc.collect()
        more, after = tracemalloc.get_traced_memory()[0], resident()
        tracemalloc.stop()
        self.assertLess(more - kept, slack // 8)
        self.assertLess(after - before, slack)

    def test_updates(self):
        trackers = [Tracker("precession", seed=1, attempts=20, sampler="reject"), Tracker(in_numpy, seed=1, belief="mixture")]
        counts = (1_000_000, 20_000) if LONG else (10_000, 700)

        def work():
            for tracker, count in zip(trackers, counts):
                for k in range(count):
                    tracker.ask()
                    tracker.tell(k & 1)

        self.steady(work, 1 << 20)

    def test_models_and_trackers(self):
        def work():
            for k in range(10_000 if LONG else 100):

                @rejfilt.model(parameters={"x": (0, 1)}, settings={"t": 1.0}, bound=lambda s, o: 1.0, name=f"m{k}")
                def made(x, setting, outcome):
                    return x[0] if outcome else 1 - x[0]

                tracker = Tracker(made, seed=1, attempts=50)
                tracker.tell(1, (1.0,))
                tracker.ask()
                made.own = tracker  # a circle

        self.steady(work, 4 << 20 if LONG else 1 << 20)

    def test_exceptions(self):
        @rejfilt.model(parameters={"x": (0, 1)})
        def fails(x, setting, outcome):
            if tracker is not None:  # it opened
                raise RuntimeError(str(x.shape))
            return x[0] if outcome else 1 - x[0]

        tracker = None
        tracker = Tracker(fails, seed=1, attempts=50)

        def work():
            for _ in range(100_000 if LONG else 2_000):
                try:
                    tracker.tell(1)
                except RuntimeError:
                    pass

        self.steady(work, 1 << 20)


class Import(unittest.TestCase):
    def test_again(self):
        """What is imported again has notes and an exception of its own."""
        code = """
import sys, rejfilt as old
old.Tracker("coin", seed=1).tell(1)
for name in [name for name in sys.modules if name.startswith("rejfilt")]:
    del sys.modules[name]
import rejfilt
assert isinstance(rejfilt.Tracker("coin", seed=1).tell(1), rejfilt.Note)
try:
    rejfilt.Tracker("coin", seed=-1)
except rejfilt.Refused:
    print("fine")
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), "fine", done.stderr)

    def test_other_interpreters(self):
        """Of one process: a message. (numpy says so before, where it is new.)"""
        for module in ("_interpreters", "_xxsubinterpreters"):
            try:
                interpreters = __import__(module)
            except ImportError:
                continue
            break
        else:
            self.skipTest("no interpreters")
        path = importlib.util.find_spec("rejfilt._rejfilt").origin
        code = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("_rejfilt", {path!r})
try:
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    print("loaded", flush=True)
except ImportError as error:
    print(error, flush=True)
"""
        create = "interpreters.create(isolated=False)" if module == "_xxsubinterpreters" else "interpreters.create('legacy')"
        script = (f"import os, sys, rejfilt, {module} as interpreters; other = {create}; interpreters.run_string(other, {code!r}); "
                  f"print(rejfilt.Tracker('coin', seed=1).tell(1)); sys.stdout.flush(); os._exit(0)")  # Python 3.11.2 may wait for ever at its end
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "one interpreter of a process")

    def test_light(self):
        """Beside numpy, nothing that is optional is imported."""
        code = "import sys, rejfilt; print([m for m in ('pandas', 'matplotlib', 'numba', 'sklearn', 'tqdm', 'xarray', 'scipy', 'arviz') if m in sys.modules])"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip(), "[]")


if __name__ == "__main__":
    unittest.main()
