"""Trackers: the command's bits, checkpoints, copies, refusals, exceptions."""

import copy
import importlib.util
import inspect
import json
import os
import pathlib
import pickle
import subprocess
import tempfile
import threading
import types
import unittest

import numpy as np
from support import COMMAND, LONG, ROOT, as_csv, command, command_rows, environment, in_numpy, needs_command, records, same_rows

import rejfilt
from rejfilt import Jump, Normal, Outage, Refused, Reverting, Telegraph, Tracker

BELIEFS = ("gaussian", "mixture", "particles:200", "grid")


def state(tracker):
    return tracker._save()


def feed(tracker, count, seed=1):
    """Questions, and answers of a truth in the middle of the prior."""
    truth = [(p.low + p.high) / 2 for p in tracker.model.parameters]
    for k in range(count):
        tracker.tell(tracker.model.draw(truth, tracker.ask(), seed=seed * 1000 + k))
    return tracker


@needs_command
class CommandsBits(unittest.TestCase):
    def test_records_of_every_model(self):
        for number, model in enumerate(rejfilt.models()):
            table = records(model, 40, seed=3)
            kinds = (
                ({}, []),
                ({"batch": 3, "sampler": "reject", "attempts": 200, "seed": 2**63 + 5}, ["--batch=3", "--sampler=reject", "--attempts=200", f"--seed={2**63 + 5}"]),
                ({"belief": "gaussian", "on_lost": "restart", "kappa": "auto"}, ["--belief=gaussian", "--on-lost=restart", "--kappa=auto"]),
                ({"precision": "float", "belief": "gaussian", "sampler": "lattice", "engine": "serial"}, ["--precision=float", "--belief=gaussian", "--sampler=lattice"]),
            )
            for options, arguments in kinds if LONG else kinds[number % 4 :][:1]:
                with self.subTest(model=model, options=options):
                    run = rejfilt.replay(model, table, **({"seed": 1} | options))
                    same_rows(self, run, command_rows("track", f"--model={model}", *arguments, given=as_csv(table)))

    def test_missing_outcomes_times_priors(self):
        table = records("ramsey", 30, seed=4)
        table["outcome"][7] = table["outcome"][20] = np.nan
        table["time"] = np.cumsum(np.linspace(0.5, 2, 30))
        options = {"prior": {"w": Normal(0.4, 0.2)}, "drift": {"w": 0.01}, "seed": 9}
        run = rejfilt.replay("ramsey", table, **options)
        given = ["--prior=w=0.4+-0.2", "--drift=w=0.01", "--seed=9", "--model=ramsey"]
        same_rows(self, run, command_rows("track", *given, given=as_csv(table)))

    def test_too_coarse(self):
        t = np.arange(1.0, 101)
        table = {"t": t, "x_": np.zeros(100), "outcome": np.random.default_rng(1).random(100) < np.cos(0.7 * t / 2) ** 2}
        run = rejfilt.replay("precession", table, drift=0, belief="gaussian", seed=1)
        self.assertIn("coarse", run["health"])
        self.assertEqual(run.tracker.health, run["health"][-1])
        same_rows(self, run, command_rows("track", "--drift=0", "--belief=gaussian", given=as_csv(table)))

    def test_simulation(self):
        for model, options, arguments in (
            ("precession", {}, []),
            ("phase", {"jump": (1.0, 30)}, ["--jump=1@30"]),
            ("precession", {"jump": [((0.2, 2.0), 20), Jump(0.5, every=15, parameter="x")]}, ["--jump=.2:2@20", "--jump=x=.5@~15"]),
            ("precession", {"outage": Outage(0, 10, 30)}, ["--outage=0@10+30"]),
            ("precession", {"outage": [(1, 5, 30, 0.1), ("coin", 36, 5), ("missing", 42, 3)]}, ["--outage=1~0.1@5+30", "--outage=coin@36+5", "--outage=missing@42+3"]),
            ("ramsey", {"truth": {"w": 0.4, "g": Normal(0.02, 0.001)}}, ["--truth=w=.4", "--truth=g=.02+-.001"]),
            ("precession", {"truth": (1.0, 1.2), "true_drift": 0.08}, ["--truth=1:1.2", "--true-drift=.08"]),
            ("ramsey", {"true_drift": {"w": 0.02}, "flips": 0.05}, ["--true-drift=w=.02", "--flips=.05"]),
            ("precession", {"contrast": 0.8, "true_t2": 300.0, "drift": "learn"}, ["--contrast=.8", "--true-t2=300", "--drift=learn"]),
            ("linear", {"outage": (2.5, 20, 10), "jump": (1.0, 40)}, ["--outage=2.5@20+10", "--jump=1@40"]),
            ("rabi", {"belief": "mixture", "design": "risk", "batch": 4}, ["--belief=mixture", "--design=risk", "--batch=4"]),
            ("precession", {"strict": True}, ["--strict"]),
            ("precession", {"drift": Reverting(0.8, 0.3, 100)}, ["--drift=.8+-.3~100"]),
            ("ramsey", {"drift": {"g": Telegraph(0.02, 0.1, (20, 10))}}, ["--drift=g=.02:.1~20:10"]),
            ("precession", {"true_drift": Telegraph(0.4, 1.0, 30)}, ["--true-drift=.4:1~30"]),
            ("ramsey", {"true_drift": {"w": Reverting(0.5, 0.1, 20)}}, ["--true-drift=w=.5+-.1~20"]),
        ):
            with self.subTest(model=model, options=options):
                run = rejfilt.simulate(model, steps=60, seed=5, **options)
                same_rows(self, run, command_rows("track", "--simulate", "--steps=60", "--seed=5", f"--model={model}", *arguments))

    def test_c_source(self):
        source = ROOT / "examples/template.c"
        with tempfile.TemporaryDirectory() as folder, environment(REJFILT_CACHE=folder):
            model = rejfilt.model(source)
            table = records(model, 20, seed=6)
            same_rows(self, rejfilt.replay(model, table, seed=1), command_rows("track", f"--model={source}", given=as_csv(table)))
            same_rows(self, rejfilt.replay(rejfilt.model(source.read_text()), table, seed=1), command_rows("track", f"--model={source}", given=as_csv(table)))
            with self.assertRaisesRegex(Refused, "does not compile"):
                rejfilt.model("#include <rejfilt/model.h>\nnonsense\n")

    def test_there_and_back(self):
        """Command to Python to command: the checkpoint is that of the command alone."""
        table = records("precession", 60, seed=7)
        with tempfile.TemporaryDirectory() as folder:
            for belief in BELIEFS:
                parts = [{k: v[a:b] for k, v in table.items()} for a, b in ((0, 20), (20, 40), (40, 60))]
                there, alone = pathlib.Path(folder, f"{belief}.state"), pathlib.Path(folder, f"{belief}-alone.state")
                given = ["--seed=3", f"--belief={belief}"]
                command("track", *given, f"--state={there}", given=as_csv(parts[0]))
                tracker = Tracker("precession", seed=3, belief=belief, design=None).load(there)
                rejfilt.replay(tracker, parts[1])
                tracker.save(there)
                command("track", *given, f"--state={there}", given=as_csv(parts[2]))
                command("track", *given, f"--state={alone}", given=as_csv(table))
                self.assertEqual(there.read_bytes(), alone.read_bytes(), belief)
                python = Tracker("precession", seed=3, belief=belief, design=None)
                rejfilt.replay(python, table)
                python.save(there)
                self.assertEqual(there.read_bytes(), alone.read_bytes(), belief)
            source = ROOT / "examples/template.c"
            table = records(rejfilt.model(source), 10, seed=1)
            command("track", f"--model={source}", f"--state={there}", f"--seed=1", code=2)  # of another run
            there.unlink()
            command("track", f"--model={source}", f"--state={there}", given=as_csv(table))
            tracker = Tracker(source, seed=1, design=None).load(there)
            self.assertEqual(tracker.records, 10)

    def test_headers_of_a_model_belong_to_it(self):
        with tempfile.TemporaryDirectory() as folder:
            there, header, source = (pathlib.Path(folder, name) for name in ("run.state", "rate.h", "mine.c"))
            header.write_text('#pragma once\n#include "more.h"\n#define RATE RF_C(1.0)\n')
            pathlib.Path(folder, "more.h").write_text('#pragma once\n#include "rate.h"\n')
            text = (ROOT / "examples/template.c").read_text().replace('#include "rejfilt/model.h"', '#include "rejfilt/model.h"\n#include "rate.h"\n#include "rate.h"')
            source.write_text(text)
            table = records(rejfilt.model(source), 10, seed=1)
            command("track", f"--model={source}", f"--state={there}", given=as_csv(table))
            self.assertEqual(Tracker(source, seed=1, design=None).load(there).records, 10)
            header.write_text("#pragma once\n#define RATE RF_C(2.0)\n")
            with self.assertRaisesRegex(rejfilt.Refused, "another source"):
                Tracker(source, seed=1, design=None).load(there)
            command("track", f"--model={source}", f"--state={there}", code=2)

    def test_asked(self):
        """Questions, and the state after answers, are the command's."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run.state")
            process = subprocess.Popen([COMMAND, "track", "--ask", f"--state={path}", "--seed=4"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            tracker = Tracker("precession", seed=4)
            for k in range(30):
                question = json.loads(process.stdout.readline())
                mine = tracker.ask()
                self.assertEqual([question["t"], question["x_"]], list(mine))
                self.assertEqual(question["anchor"], tracker.anchors[0])
                process.stdin.write(f'{{"outcome": {k % 2}}}\n')
                process.stdin.flush()
                tracker.tell(k % 2)
                process.stdout.readline()
            process.stdin.close()
            process.stdout.read()
            process.wait()
            process.stdout.close()
            tracker.save(pathlib.Path(folder, "mine.state"))
            self.assertEqual(path.read_bytes(), pathlib.Path(folder, "mine.state").read_bytes())


class Copies(unittest.TestCase):
    def test_answers(self):
        """What a tracker says can go to other processes."""
        tracker = feed(Tracker("ramsey", seed=2), 3)
        for answer in (tracker.ask(), tracker.mean, tracker.interval(), tracker.evidence, tracker.health, tracker.tell(1), tracker.ask(2)):
            again = pickle.loads(pickle.dumps(answer))
            self.assertEqual((type(again), repr(again)), (type(answer), repr(answer)))

    def test_settings_in_any_form(self):
        model = rejfilt.model(parameters={"x": (0, 1)}, settings={"t": rejfilt.Range(0, 9), "v": 0.9})(lambda x, setting, outcome: np.abs(outcome - np.cos(setting.v * setting.t * x[0]) ** 2))
        means = set()
        for setting in ({"t": 2.0}, (2.0,), [2], np.array([2.0]), np.array(2), 2, np.float32(2), (2.0, 0.9), {"t": 2, "v": 0.9}):
            tracker = Tracker(model, seed=1, design=None)
            tracker.tell(1, setting)
            means.add(tracker.mean.x)
        self.assertEqual(len(means), 1)

    def test_pickle_and_copy_go_on(self):
        for belief in BELIEFS:
            for model in ("precession", in_numpy):
                tracker = feed(Tracker(model, seed=2, belief=belief), 12)
                question = tracker.ask()
                for other in (pickle.loads(pickle.dumps(tracker)), copy.copy(tracker), copy.deepcopy(tracker), tracker.copy()):
                    self.assertEqual(state(other), state(tracker))
                    other.tell(1)
                    twin = tracker.copy()
                    twin.tell(1, question)
                    self.assertEqual(state(other), state(twin))
                self.assertEqual(tracker.records, 12)

    def test_engines_and_chunks(self):
        table = records("ramsey", 30, seed=2)
        states = {state(rejfilt.replay("ramsey", table, seed=1, attempts=4000, sampler="reject", engine=e).tracker) for e in ("serial", "simd", "threads:2", "paranoid")}
        self.assertEqual(len(states), 1)
        one = Tracker("ramsey", seed=1, attempts=4000, sampler="reject", design=None)
        for i in range(30):
            one.tell(table["outcome"][i], {k: table[k][i] for k in ("t", "w_")})
        self.assertEqual({state(one)}, states)

    def test_seeds(self):
        def start(seed):
            return Tracker("precession", seed=seed, design="pgh").ask()

        self.assertEqual(start(3), start(np.int64(3)))
        self.assertEqual(start(np.random.SeedSequence(3)), start(np.random.SeedSequence(3)))
        self.assertEqual(start(np.random.default_rng(3)), start(np.random.default_rng(3)))
        self.assertEqual(start(np.random.PCG64(3)), start(np.random.PCG64(3)))
        generator = np.random.default_rng(3)
        self.assertNotEqual(start(generator), start(generator))
        self.assertNotEqual(start(None), start(None))
        for bad in (-1, 2**64):
            with self.assertRaises(Refused):
                start(bad)
        with self.assertRaises((TypeError, AttributeError)):
            start("seven")

    def test_pickles_of_version_8(self):
        """They are the parts alone, with a checkpoint's contents."""
        contents = (ROOT / "tests/known/old/8.state").read_bytes()[16:-4]
        options = Tracker("precession", seed=1, belief="gaussian", design=None)._options
        old = rejfilt._tracker._reopen(Tracker, rejfilt.model("precession"), options, contents, 0)
        self.assertEqual(old.records, 3)
        with self.assertRaises(Refused):
            rejfilt._tracker._reopen(Tracker, rejfilt.model("precession"), options, contents[:-1], 0)
        with self.assertRaisesRegex(Refused, "older version"):
            rejfilt._runs._refleet(rejfilt.Fleet, rejfilt.model("precession"), (), "pgh", (1, b""))

    def test_flipped_bits_of_pickles(self):
        """Each is refused, or changes nothing: a bit of the pickle's own, such as its version, may not matter."""
        fleet = rejfilt.Fleet("precession", 20, seed=1)
        fleet.tell(np.ones(20), fleet.ask())
        chance = np.random.default_rng(1)
        for made in (feed(Tracker("ramsey", seed=2), 30), feed(Tracker("precession", seed=2, belief="gaussian"), 5), fleet):
            whole, refused = pickle.dumps(made), 0
            shown = [repr(f(made)) for f in (lambda o: o.mean, lambda o: o.sd, lambda o: pickle.loads(whole).ask())]
            for bit in chance.integers(8 * len(whole), size=1000 if LONG else 300):
                bad = bytearray(whole)
                bad[bit // 8] ^= 1 << bit % 8
                try:
                    again = pickle.loads(bytes(bad))
                except Exception:  # also those of pickle
                    refused += 1
                else:
                    self.assertEqual([repr(again.mean), repr(again.sd), repr(again.ask())], shown, bit)
            self.assertGreater(refused, 0.98 * (1000 if LONG else 300))

    def test_pickles_of_another_model(self):
        """The checksum covers what the model says of itself, and its source."""
        source = (ROOT / "examples/template.c").read_text()
        with tempfile.TemporaryDirectory() as folder, environment(REJFILT_CACHE=folder):
            whole = pickle.dumps(Tracker(rejfilt.model(source), seed=1))
            with self.assertRaisesRegex(Refused, "another (source of )?model"):
                pickle.loads(whole.replace(b"exp(", b"log(", 1) if b"exp(" in whole else whole.replace(b"1.0", b"2.0", 1))

    def test_state_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.state")
            tracker = feed(Tracker("precession", seed=2), 5)
            tracker.save(path)
            again = Tracker("precession", seed=2).load(bytes(path))
            self.assertEqual(state(again), state(tracker))
            again.save(bytes(path))
            self.assertEqual([p.name for p in pathlib.Path(folder).iterdir()], ["a.state"])
            whole = path.read_bytes()
            for bytes_, says in (
                (b"", "is empty"), (whole[:10], "truncated"), (whole[:-1], "truncated"), (b"x" + whole[1:], "is not a checkpoint of rejfilt"),
                (whole[:40] + b"\xff" + whole[41:], "checksum"), (whole[:8] + b"\x01" + whole[9:], "checksum"),
            ):  # fmt: skip
                path.write_bytes(bytes_)
                with self.assertRaisesRegex(Refused, says):
                    Tracker("precession", seed=2).load(path)
            path.write_bytes(whole)
            before = state(again)
            for other, says in (
                ({"seed": 3}, "seed = 2, not 3"), ({"drift": 0.1}, "drift of parameter x = 0.0261.*, not 0.1"), ({"attempts": 7}, "attempts = 128, not 7"),
                ({"prior": (0, 1)}, "prior of parameter x = 0:1.57.*, not 0:1"), ({"belief": "grid"}, "belief = mixture, not grid"),
                ({"design": "pgh"}, "design = quadrature, not pgh"), ({"batch": 2}, "batch = 1, not 2"),
            ):  # fmt: skip
                with self.assertRaisesRegex(Refused, "is of a run with " + says):
                    Tracker("precession", **({"seed": 2} | other)).load(path)
            self.assertEqual(state(again), before)
            with self.assertRaises(FileNotFoundError):
                again.load(path.with_name("none"))

    def test_what_is_there_already(self):
        """Only a checkpoint is replaced, with its permissions; nothing else is lost, and threads take turns."""
        tracker = feed(Tracker("precession", seed=2), 5)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            foreign, pipe, device, link, mine = (folder / n for n in ("foreign", "pipe", "device", "link", "mine"))
            foreign.write_text("somebody's")
            os.mkfifo(pipe)
            device.symlink_to("/dev/null")
            tracker.save(mine)
            link.symlink_to(mine)
            (folder / "b.lock").write_text("somebody's")
            for path, says in ((foreign, "not a checkpoint"), (pipe, "not an ordinary file"), (device, "not an ordinary file"), (folder, "a directory"), (folder / "b", "not a lock")):
                with self.assertRaisesRegex(Refused, says):
                    tracker.save(path)
            self.assertEqual((foreign.read_text(), (folder / "b.lock").read_text(), pipe.is_fifo(), device.is_symlink()), ("somebody's", "somebody's", True, True))
            mine.chmod(0o600)
            tracker.tell(1, (1, 0.3))
            failed = []

            def save():
                try:
                    tracker.copy().save(link)
                except Exception as error:
                    failed.append(error)

            threads = [threading.Thread(target=save) for _ in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual((failed, link.is_symlink(), mine.stat().st_mode & 0o777), ([], True, 0o600))
            self.assertEqual(state(Tracker("precession", seed=2).load(mine)), state(tracker))
            self.assertEqual({p.name for p in folder.iterdir()}, {"foreign", "pipe", "device", "link", "mine", "b.lock"})


class Refusals(unittest.TestCase):
    def test_an_infinite_setting_is_named(self):
        for setting, name in (((1.0, np.inf), "x_"), ({"t": -np.inf, "x_": 0}, "t")):
            with self.assertRaisesRegex(rejfilt.Refused, f"setting {name}: -?inf is not finite"):
                Tracker("precession", seed=1).tell(1, setting)

    def test_nothing_changes(self):
        tracker = feed(Tracker("precession", seed=1), 5)
        before, question = state(tracker), tracker.ask()
        self.assertEqual(len(tracker.ask(100)), 100)
        tracker.unask()
        question = tracker.ask()
        for bad in (
            lambda: tracker.tell(np.inf), lambda: tracker.tell(1, (1.0,)), lambda: tracker.tell(1, (1.0, np.inf)), lambda: tracker.tell("a"),
            lambda: tracker.tell(1, {"t": 1, "no": 2}), lambda: tracker.tell([]), lambda: tracker.tell([1, 2, 3], [(1, 2)] * 2),
            lambda: tracker.tell(1, question, 3), lambda: tracker.tell(1, when=3), lambda: tracker.tell(), lambda: tracker.tell([1] * 2000, question),
            lambda: tracker.tell(1, question, time=np.inf), lambda: tracker.tell(1j), lambda: tracker.ask(0), lambda: tracker.ask(1025), lambda: tracker.pass_time(-1),
            lambda: tracker.tell(2), lambda: tracker.tell(-1), lambda: tracker.tell(0.5), lambda: tracker.tell([1, 7], [(1, 2)] * 2), lambda: tracker.tell(np.ones((2, 2)), (1, 2)),
            lambda: tracker.tell(1, "ab"), lambda: tracker.tell(1, {1.0, 2.0}), lambda: tracker.tell(1, (v for v in question)), lambda: tracker.ask(-1), lambda: tracker.ask(1.5),
            lambda: rejfilt.replay(tracker, {"t": [1.0, 1.0], "x_": [0.3, 0.3], "outcome": [1, 2]}), lambda: tracker.interval("a"), lambda: tracker.sample(-1),
        ):  # fmt: skip
            with self.assertRaises((Refused, TypeError, ValueError)):
                bad()
            self.assertEqual(state(tracker), before)
        tracker.ask()
        tracker.tell(1)
        self.assertEqual(tracker.records, 6)

    def test_words(self):
        """What is no number is named, in one line, with what it should have been."""
        tracker, text = Tracker("precession", seed=1), rejfilt.model(parameters={"a": (0, 1)}, name="text")(lambda x, s, o: "abc")
        for wrong, says in (
            (lambda: tracker.tell(object(), (1, 0.3)), "outcome: a number is needed"), (lambda: tracker.tell("1", (1, 0.3)), "outcome: a number is needed, not '1'"),
            (lambda: tracker.tell(1, (1, "a")), "setting: a number is needed, not 'a'"), (lambda: tracker.tell(1, {"t": "a", "x_": 0}), "t: a number is needed, not 'a'"),
            (lambda: tracker.tell(1, (1, 0.3), time="now"), "time: a number is needed, not 'now'"), (lambda: tracker.tell(1, (1, 0.3), time=10**400), "time: the number is too large"),
            (lambda: tracker.tell([1, 0], (1, 0.3), time=["a", "b"]), "time: numbers are needed"), (lambda: tracker.tell(np.array([1j, 0]), (1, 0.3)), "outcome: numbers are needed"),
            (lambda: Tracker(text, seed=1).tell(1), "model text returned 'abc': probabilities are numbers"),
        ):  # fmt: skip
            with self.assertRaisesRegex((Refused, TypeError), f"^{says}") as told:
                wrong()
            self.assertNotIn("\n", str(told.exception))
        self.assertEqual(tracker.records, 0)

    def test_options(self):
        for options, says in (
            ({"belief": "no"}, "belief"), ({"design": "no"}, "design"), ({"engine": "no"}, "engine"), ({"sampler": "no"}, "sampler"), ({"prior": (1, 0)}, "empty range"),
            ({"prior": {"y": (0, 1)}}, "no parameter 'y'"), ({"prior": Normal(0, -1)}, "not positive"), ({"drift": -1}, "drift"), ({"range": {"s": (0, 1)}}, "no setting"),
            ({"batch": 0}, "batch"), ({"precision": "half"}, "precision"), ({"kappa": "no"}, "kappa"), ({"on_lost": "no"}, "on_lost"), ({"attempts": -1}, "attempts"),
            ({"kappa": 0}, "kappa"), ({"kappa": np.nan}, "kappa"), ({"recovery": np.nan}, "recovery"), ({"shrink": -1}, "shrink"), ({"anchors": -1}, "anchors"),
            ({"trial": -1}, "trial"), ({"cost": {"t": -1}}, "cost"), ({"range": {"t": (np.nan, 1)}}, "range"), ({"seed": -1}, "seed"),
        ):  # fmt: skip
            with self.assertRaisesRegex(Refused, says):
                Tracker("precession", **({"seed": 1} | options))
        for options, says in (
            ({"prior": "a"}, "prior: a range"), ({"prior": {"x": None}}, "prior"), ({"drift": "x"}, "drift"), ({"chart": {"x": (0, 1)}}, "chart"), ({"range": (0, 1)}, "by name"),
            ({"cost": 1.0}, "by name"), ({"belief": 3}, "belief"), ({"engine": 1}, "engine"), ({"attempts": "100"}, "attempts"), ({"batch": 1.5}, "batch"), ({"seed": 1.5}, "seed"),
            ({"seed": "a"}, "seed"),
        ):  # fmt: skip
            with self.assertRaisesRegex(TypeError, says):
                Tracker("precession", **options)
        self.assertEqual(Tracker("coin", seed=[1, 2]).seed, Tracker("coin", seed=np.random.SeedSequence([1, 2])).seed)
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(Refused, "cannot write .*: No such file"):
            Tracker("coin").save(f"{folder}/no/where")
        with self.assertRaisesRegex(Refused, "there is no model"):
            Tracker("no")
        with self.assertRaisesRegex(Refused, "dynamics"):
            Tracker("range", drift=0.1)
        with self.assertRaisesRegex(Refused, "design=None"):
            Tracker("precession", design=None).ask()


class Exceptions(unittest.TestCase):
    """A function that fails at any call: the exception comes through, and nothing has changed."""

    def check(self, model, failing, options, asks):
        tracker = Tracker(model, seed=1, **options)
        for k in range(3):
            tracker.tell(k % 2, tracker.ask() if asks else (2.0, 0.3))
        for at in [*range(1, 40), *range(40, 4000, 97)] if LONG else [1, 2, 3, 7, 31, 61, 150, 4000]:
            before = state(tracker)
            failing[0], failing[1] = at, 0
            try:
                if asks:
                    tracker.ask()
                tracker.tell(1, None if asks else (2.0, 0.3))
                if failing[1] < at:
                    return at  # all calls went well
            except ZeroDivisionError:
                self.assertEqual(state(tracker), before, at)
            finally:
                failing[0] = 0
        return None

    def test_everywhere(self):
        failing = [0, 0]

        def may_fail():
            failing[1] += 1
            if failing[0] and failing[1] == failing[0]:
                1 / 0

        @rejfilt.model(parameters={"x": (0, 1.57)}, settings={"t": rejfilt.Time(of="x"), "x_": rejfilt.Guess("x")}, fringe=6.28)
        def fringe(x, setting, outcome):
            may_fail()
            p = np.cos((x[0] - setting.x_) * (setting.t / 2)) ** 2
            return p if outcome else 1 - p

        def bound(setting, outcome):
            may_fail()
            return 1.0

        @rejfilt.model(parameters={"x": (0, 1.57)}, settings={"t": rejfilt.Time(of="x"), "x_": rejfilt.Guess("x")}, bound=bound)
        def bounded(x, setting, outcome):
            p = np.cos((x[0] - setting.x_) * (setting.t / 2)) ** 2
            return p if outcome else 1 - p

        def draw(x, setting, normal):
            may_fail()
            return x[0] + 0.1 * normal

        @rejfilt.model(parameters={"x": (0, 1)}, outcomes=0, bound=4.0, simulate=draw, settings={"t": 1.0, "u": 1.0})
        def real(x, setting, outcome):
            return 4 * np.exp(-50 * (x[0] - outcome) ** 2)

        for model in (fringe, bounded, real):
            for belief in BELIEFS:
                for asks, design in ((False, None), (True, "auto"), (True, "risk")):
                    with self.subTest(model=model.name, belief=belief, design=design):
                        self.assertIsNotNone(self.check(model, failing, {"belief": belief, "design": design}, asks))
        fleet = rejfilt.Fleet(fringe, 20, seed=1)
        before = fleet._save()
        failing[:] = [7, 0]
        with self.assertRaises(ZeroDivisionError):
            fleet.tell(np.ones(20), (2.0, 0.3))
        self.assertEqual(fleet._save(), before)
        for run in (lambda: rejfilt.simulate(fringe, steps=20, seed=1), lambda: rejfilt.passes(fringe, records("precession", 20, 1)),
                    lambda: rejfilt.replay(fringe, records("precession", 20, 1)), lambda: rejfilt.compare([fringe, fringe], records("precession", 20, 1), passes=False)):  # fmt: skip
            failing[:] = [12, 0]
            with self.assertRaises(ZeroDivisionError):
                run()

    def test_answers_later(self):
        """What is wrong only after the first record: an exception changes nothing; what is masked or NaN is told, and counts as zero."""
        right = lambda x, outcome: x[0] if outcome else 1 - x[0]  # noqa: E731
        answers = [right]

        @rejfilt.model(parameters={"x": (0, 1)})
        def later(x, setting, outcome):
            return answers[-1](x, outcome)

        def tell(answer):
            answers.append(right)
            tracker = Tracker(later, seed=1)
            tracker.tell(0)
            before = state(tracker)
            answers.append(answer)
            try:
                return tracker.tell(1) & rejfilt.Note.BAD, tracker.mean.x
            except BaseException:
                self.assertEqual(state(tracker), before)
                raise

        for fine in (lambda x, o: x, lambda x, o: x[0].astype(np.float32), lambda x, o: list(x[0]), lambda x, o: x[0, ::-1]):
            self.assertFalse(tell(fine)[0])
        for bad in (lambda x, o: None, lambda x, o: "a", lambda x, o: x[0, :-1], lambda x, o: np.stack([x[0]] * 2), lambda x, o: 0.5):
            with self.assertRaises((ValueError, TypeError)):
                tell(bad)
        masked, zero = tell(lambda x, o: np.ma.array(np.ones(x.shape[1]), mask=x[0] > 0.5)), tell(lambda x, o: np.where(x[0] > 0.5, 0.0, 1.0))
        self.assertEqual((masked, zero[0]), ((rejfilt.Note.BAD, zero[1]), 0))
        self.assertTrue(tell(lambda x, o: np.full(x.shape[1], np.nan))[0])

    def test_what_functions_keep(self):
        kept = []

        @rejfilt.model(parameters={"x": (0, 1)})
        def keeps(x, setting, outcome):
            kept.append(x)
            return x[0] if outcome else 1 - x[0]

        tracker = Tracker(keeps, seed=1)
        for _ in range(10):
            tracker.tell(1)
        self.assertGreater(len({x.tobytes() for x in kept}), 9)  # none was written to afterwards

    def test_in_use(self):
        holder = []

        @rejfilt.model(parameters={"x": (0, 1)})
        def meddles(x, setting, outcome):
            if holder:
                holder[0].tell(1)
            return x[0] if outcome else 1 - x[0]

        holder.append(Tracker(meddles, seed=1))
        with self.assertRaisesRegex(Refused, "in use"):
            holder[0].tell(1)


class Subclass(Tracker):
    """With arguments of its own, and something to remember."""

    def __init__(self, name, place=None):
        super().__init__(name, seed=3)
        self.place = place


class Classes(unittest.TestCase):
    def test_subclasses(self):
        tracker = feed(Subclass("precession", place=["lab"]), 5)
        for other, is_same in ((copy.copy(tracker), True), (tracker.copy(), True), (copy.deepcopy(tracker), False), (pickle.loads(pickle.dumps(tracker)), False)):
            self.assertEqual((type(other), other.place, state(other)), (Subclass, ["lab"], state(tracker)))
            self.assertEqual(other.place is tracker.place, is_same)

    def test_not_open(self):
        """What was never opened, or is opened again, says so."""
        table = np.ones((1, 1)), np.ones(1)
        for method, arguments in (("tell", (1,)), ("_ask", (1,)), ("_show", ()), ("_replay", (*table, None, 0, np.ones(40), 1.0, False)), ("_passes", table), ("_score", (*table, None, 1)),
                                  ("_simulate", (1, 1, np.zeros(7), False, 0, 1, np.ones(40))), ("_save", ()), ("_draw", (np.ones(1), 0)), ("_quantiles", (0.5,)), ("_tell_batch", (table[1], None, None))):  # fmt: skip
            with self.assertRaisesRegex(Refused, "not open"):
                getattr(Tracker.__new__(Tracker), method)(*arguments)
        with self.assertRaisesRegex(Refused, "not made"):
            rejfilt.Model()._outcome((), (), 1, 0)
        tracker = feed(Tracker("precession", seed=1), 3)
        before = state(tracker), tracker.mean
        with self.assertRaisesRegex(Refused, "open already"):
            tracker.__init__("coin")
        self.assertEqual((state(tracker), tracker.mean), before)


class Signatures(unittest.TestCase):
    def test_tell(self):
        """An IDE shows all its arguments, and all can be named."""
        tracker, other = Tracker("precession", seed=1), Tracker("precession", seed=1)
        self.assertEqual(list(inspect.signature(tracker.tell).parameters), ["outcome", "setting", "time"])
        tracker.tell(outcome=1, setting=(1.0, 0.3), time=2.0)
        other.tell(1, (1.0, 0.3), time=2.0)
        self.assertEqual(tracker.mean, other.mean)
        for wrong in (lambda: tracker.tell(), lambda: tracker.tell(setting=(1.0, 0.3)), lambda: tracker.tell(1, outcome=1), lambda: tracker.tell(1, (1.0, 0.3), 2.0)):
            with self.assertRaises(TypeError):
                wrong()


class Completion(unittest.TestCase):
    """`tracker.mean.` and TAB: completers of notebooks look into attributes of C, and into no property."""

    def test_names_of_parameters(self):
        tracker = Tracker("ramsey", seed=1)
        for name in ("mean", "sd", "median"):
            self.assertIsInstance(inspect.getattr_static(Tracker, name), types.GetSetDescriptorType)
            self.assertTrue(getattr(Tracker, name).__doc__)
            if importlib.util.find_spec("jedi"):
                import jedi

                found = {c.name for c in jedi.Interpreter(f"tracker.{name}.", [{"tracker": tracker}]).complete()}
                self.assertLessEqual({"w", "g"}, found)


class Shown(unittest.TestCase):
    def test_natural_units(self):
        tracker = feed(Tracker("ramsey", seed=1, drift=0), 200)
        draws = tracker.sample(20000)
        self.assertEqual(draws.shape, (20000, 2))
        for i, name in enumerate(("w", "g")):
            low, high = getattr(tracker.interval(0.9), name)
            self.assertAlmostEqual(np.mean((draws[:, i] > low) & (draws[:, i] < high)), 0.9, delta=0.015)  # 7 standard errors
            chart = draws[:, i] if name == "w" else np.log(draws[:, i])  # real, and positive
            self.assertAlmostEqual(tracker.chart_sd[i] / chart.std(), 1, delta=0.05)
            self.assertAlmostEqual(tracker.chart_sd[i], np.sqrt(tracker.chart_cov[i, i]))
            self.assertAlmostEqual(getattr(tracker.sd, name) / draws[:, i].std(), 1, delta=0.05)
            self.assertAlmostEqual((getattr(tracker.mean, name) - draws[:, i].mean()) / draws[:, i].std(), 0, delta=0.05)
            self.assertAlmostEqual(np.mean(draws[:, i] < getattr(tracker.median, name)), 0.5, delta=0.025)
        self.assertGreater(tracker.mean.g, 1.002 * np.exp(tracker.chart_mean[1]))  # which is near the median
        self.assertAlmostEqual(tracker.cov[0, 0], tracker.sd.w**2)
        self.assertTrue(np.allclose(tracker.cov, tracker.cov.T))
        self.assertEqual(tracker.interval().w, (tracker.report()["w.low"], tracker.report()["w.high"]))
        self.assertEqual(tracker.health, tracker.report()["health"])
        self.assertGreater(tracker.loss, 0)
        self.assertLess(tracker.evidence.log, 0)
        self.assertIsInstance(tracker.tell(1, tracker.ask()), rejfilt.Note)

    def test_health_is_told_when_it_changes(self):
        outcomes = [0, 1] * 10 + [1] * 30 + [0, 1] * 10
        expected, told, replayed = [], [], []
        quiet = Tracker("coin", seed=1, design=None)
        for outcome in outcomes:
            before = quiet.health
            quiet.tell(outcome)
            expected += [(before, quiet.health, quiet.records)] if quiet.health != before else []
        self.assertGreater(len(expected), 2)
        tracker = Tracker("coin", seed=1, design=None, on_health=lambda before, t: told.append((before, t.health, t.records)))
        for outcome in outcomes:
            tracker.tell(outcome)
        self.assertEqual(told, expected)
        tracker = Tracker("coin", seed=1, design=None)
        tracker.on_health = lambda before, t: replayed.append((before, t.health, t.records))
        self.assertEqual(rejfilt.replay(tracker, {"outcome": outcomes})["p.mean"][-1], quiet.mean.p)
        self.assertEqual(replayed, expected)

        def stop(before, t):
            raise KeyError(t.copy().on_health is stop and t.records)

        tracker = Tracker("coin", seed=1, design=None, on_health=stop)
        with self.assertRaisesRegex(KeyError, str(expected[0][2])):
            for outcome in outcomes:
                tracker.tell(outcome)
        self.assertEqual(tracker.records, expected[0][2])  # the record is learnt
        self.assertIsNone(pickle.loads(pickle.dumps(tracker)).on_health)
        with self.assertRaisesRegex(TypeError, "on_health"):
            Tracker("coin", on_health=1)

    def test_what_the_belief_is(self):
        """A mixture, unless a wish needs one Gaussian; intervals and draws are of what it is."""
        for options, name in (
            ({}, "mixture"), ({"belief": "gaussian"}, "gaussian"), ({"attempts": 50}, "gaussian"), ({"sampler": "reject"}, "gaussian"),
            ({"strict": True}, "gaussian"), ({"precision": "float"}, "gaussian"), ({"belief": "particles:300"}, "particles"), ({"belief": "grid"}, "grid"),
        ):  # fmt: skip
            self.assertEqual(Tracker("precession", seed=1, **options).belief, name, options)
        tracker = Tracker("precession", seed=1, design=None, drift=0)
        for outcome in (1, 1, 1, 1):
            tracker.tell(outcome, (20.0, 0.5))  # five fringes within the prior
        draws = tracker.sample(20000)[:, 0]
        near, between = (np.mean(abs(draws - 0.5 - shift * np.pi / 10) < 0.04) for shift in (0, 0.5))
        self.assertGreater(near, 4 * between)
        low, high = tracker.interval(0.5).x
        self.assertAlmostEqual(np.mean((draws > low) & (draws < high)), 0.5, delta=0.025)  # 7 standard errors

    def test_drift_is_learnt(self):
        run = rejfilt.simulate("precession", steps=200, seed=1, drift="learn", true_drift=0.08)
        self.assertFalse(np.array_equal(run["x.sd"], rejfilt.simulate("precession", steps=200, seed=1, true_drift=0.08)["x.sd"]))
        self.assertEqual(state(feed(Tracker("precession", seed=1, drift="learn"), 5)), state(feed(Tracker("precession", seed=1, drift="learn"), 5)))
        begin = feed(Tracker("precession", seed=1, drift=("learn", 0.01)), 5)
        self.assertLess(begin.sd.x, feed(Tracker("precession", seed=1, drift=("learn", {"x": 1.0})), 5).sd.x)
        for drift in ("learn", ("learn", 0), ("learn", Reverting(0.5, 0.1, 50))):
            with self.assertRaisesRegex(Refused, "nothing to learn, since no parameter of coin walks"):
                Tracker("coin", drift=drift)
        self.assertEqual(Tracker("coin", drift=("learn", 0.1)).model.name, "coin")

    def test_time_and_restart(self):
        tracker = Tracker("precession", seed=1, drift=0.1)
        feed(tracker, 5)
        sd = tracker.sd.x
        tracker.pass_time(10)
        self.assertAlmostEqual(tracker.sd.x, np.hypot(sd, 0.1 * 10**0.5))
        tracker.restart()
        self.assertAlmostEqual(tracker.sd.x, Tracker("precession").sd.x)
        tracker.tell(None)
        self.assertEqual(tracker.records, 6)
        self.assertEqual(tracker.tell(np.float32(1), np.array([1.0, 0.2]), time=np.float64(3)), 0)


if __name__ == "__main__":
    unittest.main()
