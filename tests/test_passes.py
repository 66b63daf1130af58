"""Passes over a file as a user runs them, by track and compare: python3 tests/test_passes.py [path/to/rejfilt] [-v]"""
import json, math, os, pathlib, random, signal, subprocess, tempfile, time, unittest

from tracking import COMMAND, LONGEST, track

FINE = """#include "rejfilt/model.h"
static const rf_description description = {.name = "fine", .summary = "s", .formula = "f", .dim = 1, .settings = 1, .outcomes = 2,
    .parameter = {{"x", RF_REAL, 0, 1, 0}}, .setting = {{"t", RF_SETTING_RANGE, 0, 0, 0, 1e9, 0}}};
RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real one = rf_sin_squared(x[0] * setting[0]);
    return outcome != 0 ? one : 1 - one;
}
"""


def compare(*arguments, code=0):
    done = subprocess.run([COMMAND, "compare", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST)
    if done.returncode != code:
        raise AssertionError(f"compare {' '.join(arguments)}: exit {done.returncode}, not {code}; said {done.stderr!r}")
    return done


def log_beta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


class Passes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def coins(self, ones=30, zeros=70):
        outcomes = [1] * ones + [0] * zeros
        random.Random(1).shuffle(outcomes)
        return self.write("coins.csv", "outcome\n" + "".join(f"{o}\n" for o in outcomes[:50]) + '""\n' + "".join(f"{o}\n" for o in outcomes[50:]))

    def fringes(self, count=100):
        """Times 1, 2, 3, ... and a frequency of 0.8, from 0 to pi/2."""
        draw = random.Random(2)
        rows = [(t, int(draw.random() < math.cos(0.4 * t) ** 2)) for t in range(1, count + 1)]
        return self.write("fringes.csv", "t,x_,outcome\n" + "".join(f"{t},0,{o}\n" for t, o in rows))

    def test_exact(self):
        """A coin's posterior and evidence are known."""
        result = json.loads(track("--model=coin", "--passes", "--json", "--data", self.coins()))
        (p,) = result["parameters"]
        self.assertEqual(result["records"], 100)  # the missing one is not counted
        self.assertTrue(result["trustworthy"])
        self.assertAlmostEqual(p["mean"], 31 / 102, delta=0.001)
        self.assertAlmostEqual(p["sd"], math.sqrt(31 * 71 / 102**2 / 103), delta=0.001)
        self.assertAlmostEqual(result["log_evidence"], log_beta(31, 71), delta=0.02)
        self.assertLess(result["log_evidence_sd"], 0.02)
        self.assertGreater(result["effective"], 1000)
        self.assertLessEqual(3, result["passes"])
        self.assertEqual(json.loads(track(self.coins(), "--model=coin", "--passes", "--json")), result)
        with open(self.coins()) as data:  # standard input may be a file
            done = subprocess.run([COMMAND, "track", "--model=coin", "--passes=yes", "--json"], stdin=data, capture_output=True, text=True)
        self.assertEqual(json.loads(done.stdout), result)

    def test_text(self):
        text = track("--drift=0", "--passes", "--data", self.fringes())
        self.assertRegex(text, r"^precession: 100 records, \d passes, \d+ of 4096 points effective, seed 1\nx = (0\.79|0\.8)\d* \+- 0\.00\d+, 95 % from .* to .*\n"
                               r"ln evidence -\d+\.\d{4} \+- 0\.\d{4}\n$")

    def test_engines_and_seeds(self):
        arguments = ("--model=coin", "--passes", "--data", self.coins())
        texts = {track(*arguments, f"--engine={e}") for e in ("serial", "simd", "threads:2", "threads:3", "paranoid")}
        self.assertEqual(len(texts), 1)
        self.assertNotEqual(track(*arguments, "--seed=2"), texts.pop())

    def test_summary(self):
        """Streaming is unchanged, and the passes report its error."""
        arguments = ("track", "--drift=0", "--summary", "--data", self.fringes())
        both = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=LONGEST)
        alone = subprocess.run([COMMAND, *arguments, "--passes", "no"], capture_output=True, text=True, timeout=LONGEST)
        self.assertEqual(both.stdout, alone.stdout)
        self.assertRegex(both.stderr, r"\npasses: x = (0\.79|0\.8)\d*, 95 % from .* to .*; ln evidence .* \+- .*; the mean above is \S+ standard deviations off\n")
        self.assertEqual([line for line in both.stderr.split("\n") if not line.startswith("passes:")], alone.stderr.split("\n"))
        for more in (["--drift=0.1"], ["--drift=0", "--strict"]):  # not available for these
            done = subprocess.run([COMMAND, "track", "--summary", "--data", self.fringes(), *more], capture_output=True, text=True, timeout=LONGEST)
            self.assertEqual(done.returncode, 0)
            self.assertNotIn("passes:", done.stderr)
        with open(self.fringes()) as data:  # nor for a pipe
            piped = subprocess.run([COMMAND, "track", "--drift=0", "--summary"], input=data.read(), capture_output=True, text=True, timeout=LONGEST)
        self.assertEqual((piped.stdout, piped.stderr), (alone.stdout, alone.stderr))

    def test_refusals(self):
        data = self.coins()
        for more, says in ((["--simulate"], "--passes needs all records at once; leave out --simulate"),
                           (["--ask"], "--passes needs all records at once; leave out --ask"),
                           (["--data", data, "--state", str(self.folder / "s")], "--passes cannot resume a run; leave out --state"),
                           (["--data", data, "--strict"], "--strict learns record by record; leave out --passes"),
                           (["--data", data, "--format=csv"], "--passes has one result, as text or JSON; leave out --format csv"),
                           (["--data", data, "--plot", str(self.folder / "p.svg")], "--passes has one result, as text or JSON; leave out --plot"),
                           (["--data", data, "--drift=0.1"], "--passes: parameter p drifts: passes are for static parameters"),
                           (["--data", self.write("none.csv", 'outcome\n""\n')], "--passes: there are no records with an outcome"),
                           (["--data", self.write("bad.csv", "outcome\n1\n7\n")], "bad.csv: line 3: column outcome: 7 is not 0 or 1"),
                           (["--data", str(self.folder / "nowhere")], "--data: "),
                           (["--passes=perhaps"], "--passes: 'perhaps' is none of yes, no, auto")):
            with self.subTest(more=more):
                self.assertEqual(track("--model=coin", "--passes", *more, code=2, says=says), "")
        track("--model=coin", "--passes", given="outcome\n1\n", code=2, says="--passes needs an ordinary file with all records; standard input is not one")
        moving = self.write("moving.c", FINE.replace("RF_FN rf_real likelihood", """#define RF_HAS_DYNAMICS
RF_FN void dynamics(rf_real elapsed, rf_real F[], rf_real Q[]) { F[0] = 1, Q[0] = elapsed; }
RF_FN rf_real likelihood"""))
        track("--model", moving, "--passes", "--data", data, code=2, says="--passes: model fine has dynamics: passes are for static parameters")
        self.assertEqual(json.loads(track("--model=coin", "--passes", "--json", "--skip-bad", "--data", str(self.folder / "bad.csv"),
                                          says="1 bad records passed over"))["records"], 1)

    def test_alarm(self):
        """Records far finer than any points: the result is marked, one line reports it, and the exit code is 1."""
        draw = random.Random(3)
        times = [draw.uniform(1e8, 1e9) for _ in range(30)]
        data = self.write("fine.csv", "t,outcome\n" + "".join(f"{t},{int(draw.random() < math.sin(0.37 * t) ** 2)}\n" for t in times))
        model = self.write("fine.c", FINE)
        for more in ([], ["--json"]):
            text = track("--model", model, "--passes", "--data", data, *more, code=1, says=" points are effective: do not trust this result")
            self.assertIn('"trustworthy": false' if more else "; NOT TRUSTWORTHY", text)
        done = compare("--model", model, "--model", "coin", "--data", data, code=1)
        self.assertRegex(done.stdout, r"note: fine: only \d+ of 4096 points are effective; do not trust its evidence")
        self.assertIn("rejfilt: compare: --passes: only ", done.stderr)

    def test_interrupted(self):
        outcomes = "".join(f"{k % 2}\n" for k in range(400000))
        data = self.write("long.csv", "outcome\n" + outcomes)
        running = subprocess.Popen([COMMAND, "track", "--model=coin", "--passes", "--data", data], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        fds = pathlib.Path(f"/proc/{running.pid}/fd")
        while running.poll() is None and not any(os.path.realpath(fd) == os.path.realpath(data) for fd in fds.iterdir()):
            time.sleep(0.001)  # after it has opened the file it catches signals; the passes take seconds
        running.send_signal(signal.SIGINT)
        out, complaint = running.communicate(timeout=LONGEST)
        self.assertEqual((running.returncode, out, complaint), (130, "", ""))

    def test_compare(self):
        """Both candidates exact: the coin's evidence is known, the fringe's does not depend on the seed."""
        data = self.fringes()
        arguments = ("--model", "precession", "--drift", "0", "--model", "coin", "--data", data)
        results = [json.loads(compare(*arguments, "--json", f"--seed={s}").stdout) for s in (1, 2)]
        with open(data) as text:
            ones = sum(line.rstrip().endswith(",1") for line in text)
        for r in results:
            fringe, coin = r["candidates"]
            self.assertEqual({c["method"] for c in r["candidates"]}, {"passes"})
            self.assertAlmostEqual(coin["log_evidence"], log_beta(ones + 1, 101 - ones), delta=0.02)
            self.assertAlmostEqual(fringe["log_evidence"], results[0]["candidates"][0]["log_evidence"], delta=0.04)
            self.assertLess(fringe["log_evidence_sd"], 0.02)
            self.assertTrue(fringe["trustworthy"] and fringe["effective"] > 1000)
            self.assertAlmostEqual(r["verdict"]["log_bayes_factor"], fringe["log_evidence"] - coin["log_evidence"], delta=1e-9)
        self.assertIn("100 records, passes over all of them, seed 1\n", compare(*arguments).stdout)
        for more in (["--passes=no"], ["--attempts=500"], ["--repeat=2"], ["--sampler=weight"], ["--precision=double"]):
            candidates = json.loads(compare(*arguments, "--json", *more).stdout)["candidates"]
            self.assertEqual({c["method"] for c in candidates}, {"streaming"})
        mixed = compare("--model", "precession", "--drift", "0", "--model", "precession", "--drift", "0.1", "--data", data).stdout
        self.assertIn("attempts per candidate that drifts, passes for the others, seed 1\n", mixed)
        for more, says in ((["--passes", "--attempts=9"], "--passes makes no attempts; leave out --attempts"), (["--passes", "--repeat=9"], "leave out --repeat"),
                           (["--passes", "--data=-"], "--passes needs an ordinary file with all records; standard input is not one")):
            self.assertIn(says, compare(*arguments, *more, code=2).stderr)


if __name__ == "__main__":
    unittest.main()
