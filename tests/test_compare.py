"""rejfilt compare as a user runs it: python3 tests/test_compare.py [path/to/rejfilt] [-v]

The command may also be named by the environment variable REJFILT."""
import fcntl, json, math, os, pathlib, random, re, signal, struct, subprocess, sys, tempfile, termios, time, unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = os.environ.get("REJFILT", str(ROOT / "build" / "rejfilt"))
LONGEST = 60  # seconds for any one command, with room for sanitizers; a hang is a failure
DRIFT = math.pi / 120
TWO = ("--model", "precession", "--model", "coin")
STATIC_OR_NOT = ("--model", "precession", "--drift", "0", "--model", "precession", "--drift", "0.026")


def run(*arguments, data="", **more):
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": LONGEST, "input": data, **more}
    return subprocess.run([COMMAND, "compare", *arguments], **more)


def good(*arguments, data=""):
    """Standard output of a command that must succeed without messages."""
    done = run(*arguments, data=data)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{arguments}: exit {done.returncode}, {done.stderr!r}")
    return done.stdout


def result(*arguments, data=""):
    return json.loads(good("--json", *arguments, data=data))


def evidence(*arguments, data=""):
    """ln evidence of each candidate."""
    return [c["log_evidence"] for c in result(*arguments, data=data)["candidates"]]


def lines(records):
    return "".join(json.dumps(r) + "\n" for r in records)


def csv(names, rows):
    return "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n"


def fringes(drift, count=100, seed=1):
    """Measurements of a walking frequency at all phases of a fringe, for times up to 25."""
    draw = random.Random(seed)
    x, records = draw.uniform(0.3, 1.2), []
    for k in range(count):
        x += drift * draw.gauss(0, 1) if k else 0
        t = min(2 * 1.1**k, 25)
        guess = x + draw.uniform(-math.pi, math.pi) / t
        one = draw.random() < math.cos((x - guess) * t / 2) ** 2
        records.append({"t": t, "x_": guess, "outcome": int(one)})
    return records


def coins(ones, zeros, seed=1):
    outcomes = [1] * ones + [0] * zeros
    random.Random(seed).shuffle(outcomes)
    return [{"outcome": o} for o in outcomes]


def kalman(batches, sd, drift):
    """ln evidence of the linear model with two parameters. Batches of (time elapsed before, records [(h1, h2, s, y)])."""
    mean, cov, total = [0.0, 0.0], [[sd**2, 0.0], [0.0, sd**2]], 0.0
    for elapsed, records in batches:
        for i in (0, 1):
            cov[i][i] += drift**2 * elapsed
        for h1, h2, s, y in records:
            ch = [cov[i][0] * h1 + cov[i][1] * h2 for i in (0, 1)]
            variance = h1 * ch[0] + h2 * ch[1] + s * s
            miss = y - h1 * mean[0] - h2 * mean[1]
            total -= 0.5 * (miss * miss / variance + math.log(2 * math.pi * variance))
            mean = [mean[i] + ch[i] * miss / variance for i in (0, 1)]
            cov = [[cov[i][j] - ch[i] * ch[j] / variance for j in (0, 1)] for i in (0, 1)]
    return total


WALK, STILL = lines(fringes(DRIFT)), lines(fringes(0))


class Test(unittest.TestCase):
    def refused(self, *arguments, data=WALK, says=""):
        """Checks a bad input: exit 2, one line on standard error, nothing on standard output."""
        with self.subTest(arguments=arguments, says=says):
            done = run(*arguments, data=data)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"\Arejfilt: compare: [^\n]+\n\Z")
            self.assertIn(says, done.stderr)


class Answers(Test):
    def test_drift_or_static(self):
        for data, best in ((WALK, "precession drift 0.026"), (STILL, "precession drift 0")):
            found = result(*STATIC_OR_NOT, data=data)
            self.assertEqual(found["verdict"]["best"], best)
            self.assertEqual(found["verdict"]["conclusion"], "favoured")

    def test_cosine_or_coin(self):
        draw = random.Random(2)
        tossed = lines([{**r, "outcome": int(draw.random() < 0.8)} for r in fringes(DRIFT)])
        for data, best in ((WALK, "precession"), (tossed, "coin")):
            self.assertEqual(result(*TWO, data=data)["verdict"]["best"], best)

    def test_coin_has_the_evidence_of_a_beta(self):
        for ones, zeros in ((30, 70), (3, 0), (0, 1), (50, 50)):
            exact = math.lgamma(ones + 1) + math.lgamma(zeros + 1) - math.lgamma(ones + zeros + 2)
            for sampler in ("reject", "lattice", "weight"):
                found = result("--model=coin", "--model=coin", "--attempts=20000", "--sampler", sampler,
                               data=lines(coins(ones, zeros)))
                for c in found["candidates"]:  # over seeds 1 to 10: -0.09 for not being Gaussian, deviation 0.05
                    self.assertAlmostEqual(c["log_evidence"], exact, delta=0.35)

    def linear(self, batches, data):
        """The estimates agree with the Kalman filter's. Over seeds 1 to 10 its deviation is 0.02 at most."""
        found = result("--attempts=20000", "--sampler=lattice", "--prior=0+-0.7", "--model=linear", "--model=linear", "--drift=0.3", data=data)
        still, drifting = (kalman(batches, 0.7, drift) for drift in (0.1, 0.3))
        for c, exact in zip(found["candidates"], (still, drifting), strict=True):
            self.assertAlmostEqual(c["log_evidence"], exact, delta=0.1)
        self.assertGreater(abs(still - drifting), 0.4)  # so the two can be distinguished
        return found

    def measurements(self, count, seed):
        draw = random.Random(seed)
        return [(draw.uniform(-1, 1), draw.uniform(-1, 1), 0.5, draw.gauss(0, 0.6)) for _ in range(count)]

    def test_records_are_one_unit_of_time_apart(self):
        m = self.measurements(25, 1)
        self.linear([(k > 0, [r]) for k, r in enumerate(m)], csv(["h1", "h2", "s", "outcome"], m))

    def test_time_scales_the_drift(self):
        m, times = self.measurements(10, 2), [100, 100, 101.5, 109, 109, 110, 120, 130.5, 131, 140]
        steps = [0, *(b - a for a, b in zip(times, times[1:]))]
        self.linear([(d, [r]) for d, r in zip(steps, m)], csv(["time", "h1", "h2", "s", "outcome"], [(t, *r) for t, r in zip(times, m)]))

    def test_missing_outcomes_let_time_pass(self):
        m = self.measurements(6, 3)
        rows, batches = [], []
        for k, r in enumerate(m):
            rows += [r, (*r[:3], ""), ("", "", "", "")]
            batches.append((3 if k else 0, [r]))
        found = self.linear(batches, csv(["h1", "h2", "s", "outcome"], rows))
        self.assertEqual((found["records"], found["missing"]), (18, 12))

    def test_batches_are_learnt_from_together(self):
        m = self.measurements(9, 4)
        ids, batches = ["a", "a", "a", "", "b", "b", 3, 3, ""], [(2, m[:3]), (1, m[3:4]), (2, m[4:6]), (2, m[6:8]), (1, m[8:])]
        records = [{"settings": {"h1": r[0], "h2": r[1]}, "outcome": r[3], "batch": i or None} for i, r in zip(ids, m)]
        self.linear(batches, lines(records))  # s is left out: it is fixed at 0.5

    def test_each_model_has_its_own_settings(self):
        both = [{**r, "k": 1 + i % 7} for i, r in enumerate(fringes(DRIFT))]
        three = evidence("--model=coin", "--model=decay", "--model=precession", data=lines(both))
        self.assertEqual(three[0::2], evidence("--model=coin", "--model=precession", data=lines(both)))
        self.assertEqual(evidence("--model=decay", "--model=coin", data=lines([{"k": r["k"], "outcome": r["outcome"]} for r in both]))[0], three[1])

    def test_a_fixed_setting_has_each_models_value(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, value in (("one", "0.9"), ("two", "0.6")):
                pathlib.Path(folder, f"{name}.c").write_text(f"""#include "rejfilt/model.h"
                    static const rf_description description = {{.name = "{name}", .summary = "s", .formula = "f", .dim = 1, .settings = 1,
                    .outcomes = 2, .parameter = {{{{"p", RF_BOUNDED, 0, 1, 0}}}}, .setting = {{{{"v", RF_SETTING_FIXED, 0, 0, {value}, {value}}}}}}};
                    RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
                    {{ rf_real one = setting[0] * x[0]; return outcome != 0 ? one : 1 - one; }}""")
            models = ("--model", f"{folder}/one.c", "--model", f"{folder}/two.c")
            apart = evidence(*models, data=lines(coins(40, 10)))
            self.assertGreater(apart[0] - apart[1], 5)  # 80 % are ones; the second model allows at most 60 %
            same = evidence(*models, data=lines([{**r, "v": 0.9} for r in coins(40, 10)]))
            self.assertEqual(same[0], same[1])
            self.assertEqual(same[0], apart[0])

    def test_verdicts(self):
        even = lines(coins(3, 3))
        found = result("--model=coin", "--model=coin", data=even)
        self.assertEqual(found["verdict"]["conclusion"], "within noise")
        self.assertEqual(found["verdict"]["log_bayes_factor"], 0)  # the same random numbers
        self.assertEqual([c["label"] for c in found["candidates"]], ["coin", "coin (2)"])
        # K of a fair coin over any coin: 2^-n divided by a beta function. ln 2.19 = 0.78; ln 8 for 100 even tosses with
        # sd 3.0; and for 60 odd ones
        fair = ("--model=coin", "--prior=0.5+-0.001", "--label=fair", "--model=coin", "--label=any", "--sampler=lattice", "--attempts=200000")
        for ones, zeros, conclusion, best in ((3, 3, "undecided", "fair"), (50, 50, "slightly favoured", "fair"), (60, 5, "favoured", "any")):
            n = ones + zeros
            exact = -n * math.log(2) - (math.lgamma(ones + 1) + math.lgamma(zeros + 1) - math.lgamma(n + 2))
            found = result(*fair, data=lines(coins(ones, zeros)))["verdict"]
            self.assertEqual((found["conclusion"], found["best"]), (conclusion, best), found)
            self.assertAlmostEqual(found["log_bayes_factor"], abs(exact), delta=0.3)
            self.assertIn(f"ln K = {found['log_bayes_factor']:.2f} +- {found['log_bayes_factor_sd']:.2f}", found["text"])

    def test_probabilities(self):
        found = result(*STATIC_OR_NOT, "--model=coin", data=lines(fringes(0.01, 30)))
        logs = [c["log_evidence"] for c in found["candidates"]]
        best = max(logs)
        total = sum(math.exp(v - best) for v in logs)
        for c, v in zip(found["candidates"], logs):
            self.assertAlmostEqual(c["log_bayes_factor"], v - best, places=9)
            self.assertAlmostEqual(c["probability"], math.exp(v - best) / total, places=9)
        ranked = sorted(found["candidates"], key=lambda c: -c["log_evidence"])
        self.assertEqual([found["verdict"][k] for k in ("best", "second")], [c["label"] for c in ranked[:2]])


class Option(Test):
    """One test for each option."""

    def test_every_option_has_a_test(self):
        listed = re.findall(r"^  --([\w-]+)", good("--help"), re.M)
        self.assertEqual({f"test_{o.replace('-', '_')}" for o in listed if o != "help"} - set(dir(self)), set())
        self.assertIn("compare", subprocess.run([COMMAND, "--help"], capture_output=True, text=True).stdout)
        self.assertTrue(good("-h").startswith("usage: rejfilt compare "))

    def test_model(self):
        names = "precession coin phase".split()
        data = lines([{**r, "k": 3, "phi_": 1.0} for r in fringes(DRIFT, 10)])
        found = result(*(f"--model={n}" for n in names), data=data)
        self.assertEqual([c["model"] for c in found["candidates"]], names)
        self.assertEqual(len(set(c["log_evidence"] for c in found["candidates"])), 3)
        self.assertEqual(len(result(*["--model=coin"] * 16, data=data)["candidates"]), 16)
        self.refused(*["--model=coin"] * 17, says="more than 16")
        self.refused("--model=coin", says="nothing to be compared with")
        self.refused(says="no models")
        self.refused("--model=con", "--model=coin", says="did you mean coin?")
        self.refused("--model=coin", "--model=linear", says="different outcomes")
        self.refused("--model=/nowhere/x.c", "--model=coin", says="--model")

    def test_drift(self):
        low, high = evidence("--model=precession", "--drift=0", "--model=precession", "--drift=x=0.1", data=WALK)
        self.assertNotEqual(low, high)
        default, same = evidence("--model=precession", "--model=precession", f"--drift={DRIFT!r}", data=WALK)
        self.assertEqual(default, same)
        self.assertEqual(evidence("--drift=0.1", "--model=precession", "--model=precession", "--drift=0", data=WALK), [high, low])
        self.assertEqual(evidence("--drift=x=0.1", "--model=precession", "--model=coin", data=WALK)[0], high)
        self.refused("--drift=y=1", *TWO, says="no candidate has a parameter 'y'")
        self.refused(*TWO, "--drift=x=1", says="no parameter 'x' in model coin; it has p")
        for value in ("", "-1", "nan", "1e10", "abc", "p="):
            self.refused(*TWO, f"--drift={value}", says="--drift")

    def test_prior(self):
        data = lines(coins(9, 1))
        wide, narrow, gauss = evidence("--model=coin", "--model=coin", "--prior=0.8:0.99", "--model=coin", "--prior=p=0.2+-0.05", data=data)
        self.assertGreater(narrow, wide + 0.5)
        self.assertGreater(wide, gauss + 2)
        self.assertEqual(evidence("--prior=0.8:0.99", "--model=coin", "--model=coin", "--prior=0:1", data=data), [narrow, wide])
        self.refused("--prior=y=0:1", *TWO, says="no candidate")
        self.refused(*TWO, "--prior=-1:2", says="parameter p")
        for value in ("", "1", "1:0", "x=0:1", "0:nan", "0+-0"):
            self.refused(*TWO, f"--prior={value}", says="--prior")

    def test_label(self):
        found = result(*TWO, "--label=toss", data=WALK)
        self.assertEqual([c["label"] for c in found["candidates"]], ["precession", "toss"])
        self.assertIn("over toss:", good(*TWO, "--label=toss", data=WALK))
        names = [c["label"] for c in result(*STATIC_OR_NOT, "--prior=0:1", data=WALK)["candidates"]]
        self.assertEqual(names, ["precession drift 0", "precession drift 0.026 prior 0:1"])
        self.refused("--label=early", *TWO, says="before the --model")
        self.refused(*TWO, "--label=", says="--label")
        self.refused(*TWO, "--label", "x" * 100, says="--label")

    def test_column(self):
        rows, two = [[r["outcome"]] for r in coins(9, 1)], ("--model=coin", "--model=coin", "--prior=0.8:0.99")
        self.assertEqual(good(*two, "--column=outcome=State, read", data=csv(['"State, read"'], rows)), good(*two, data=csv(["outcome"], rows)))
        self.refused(*TWO, "--column=y=Wait", says="'y=Wait' is not NAME=COLUMN with a setting of all candidates")

    def test_passes(self):
        """test_passes.py has more."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "walk"
            path.write_text(WALK)
            methods = [[c["method"] for c in result(*TWO, f"--data={path}", *more)["candidates"]] for more in ([], ["--passes", "no"])]
        self.assertEqual(methods, [["streaming", "passes"], ["streaming", "streaming"]])  # the frequency drifts, the coin does not

    def test_data(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "walk.jsonl")
            path.write_text(WALK)
            self.assertEqual(good(*TWO, "--passes=no", "--data", str(path)), good(*TWO, data=WALK))
            self.assertEqual(good(*TWO, "--data=-", data=WALK), good(*TWO, data=WALK))
            self.refused(*TWO, "--data", f"{folder}/none", says="none: No such file")
            path.write_text("{}\n")
            self.refused(*TWO, "--data", str(path), says="walk.jsonl: line 1")
            self.refused(*TWO, "--data", folder, says="--data" if os.name == "nt" else "neither a file")

    def test_attempts(self):
        few, many = (result(*TWO, "--repeat=1", f"--attempts={m}", data=WALK) for m in (200, 20000))
        self.assertEqual((few["attempts"], many["attempts"]), (200, 20000))
        for a, b in zip(few["candidates"], many["candidates"]):  # the error falls with the square root of the number of attempts
            self.assertAlmostEqual(a["log_evidence_sd"] / b["log_evidence_sd"], 10, delta=2)
        for value in ("0", "-1", "x", "1.5", "2147483648"):
            self.refused(*TWO, f"--attempts={value}", says="--attempts")

    def test_repeat(self):
        one, two = (result(*TWO, f"--repeat={r}", "--attempts=100", data=WALK) for r in (1, 2))
        self.assertEqual((one["repeats"], two["repeats"]), (1, 2))
        # repeat 1 is the same in both, so the ln of the mean gives repeat 2, and with it the spread
        for a, b in zip(one["candidates"], two["candidates"]):
            first = a["log_evidence"]
            second = first + math.log(2 * math.exp(b["log_evidence"] - first) - 1)
            self.assertNotEqual(first, second)
            self.assertGreaterEqual(b["log_evidence_sd"] * 1.0000001, abs(first - second) / math.sqrt(2))
        for value in ("0", "257", "x"):
            self.refused(*TWO, f"--repeat={value}", says="--repeat")

    def test_seed(self):
        one, again, other = (evidence(*TWO, "--seed", s, data=WALK) for s in ("1", "1", "2"))
        self.assertEqual(one, again)
        self.assertEqual(one, evidence(*TWO, data=WALK))
        self.assertTrue(all(a != b and abs(a - b) < 5 for a, b in zip(one, other)), (one, other))
        self.refused(*TWO, "--seed=x", says="--seed")

    def test_sampler(self):
        found = [result(*TWO, "--sampler", s, data=WALK) for s in ("reject", "lattice", "weight")]
        self.assertEqual([f["sampler"] for f in found], ["reject", "lattice", "weight"])
        self.assertEqual(len({f["candidates"][0]["log_evidence"] for f in found}), 3)
        self.assertEqual(found[0], result(*TWO, data=WALK))
        self.refused(*TWO, "--sampler=foo", says="none of reject, lattice, weight")

    def test_engine(self):
        expected = evidence(*TWO, "--attempts=5000", "--engine=serial", data=WALK)
        for engine in ("simd", "simd:baseline", "threads:2", "paranoid"):
            self.assertEqual(evidence(*TWO, "--attempts=5000", "--engine", engine, data=WALK), expected)
        self.assertEqual(result(*TWO, "--engine=threads:2", data=WALK)["engine"], "threads:2")
        self.refused(*TWO, "--engine=foo", says="no engine 'foo'")
        self.refused(*TWO, "--engine=mpi", says="MPI")

    def test_precision(self):
        single, double = (result(*TWO, "--precision", p, data=WALK) for p in ("float", "double"))
        self.assertEqual((single["precision"], double["precision"]), ("float", "double"))
        for a, b in zip(single["candidates"], double["candidates"]):
            self.assertNotEqual(a["log_evidence"], b["log_evidence"])
            self.assertAlmostEqual(a["log_evidence"], b["log_evidence"], delta=1)
        self.refused(*TWO, "--precision=half", says="none of double, float")

    def test_skip_bad(self):
        records = WALK.splitlines()
        spoilt = "\n".join([*records[:40], "{", '{"t": 1, "x_": 0, "outcome": 2}', *records[40:]]) + "\n"
        self.refused(*TWO, data=spoilt, says="line 41: malformed JSON")
        clean, skipped = result(*TWO, data=WALK), result(*TWO, "--skip-bad", data=spoilt)
        self.assertEqual(skipped.pop("bad"), 2)
        self.assertEqual(clean.pop("bad"), 0)
        self.assertEqual(clean, skipped)
        text = good(*TWO, "--skip-bad", data=spoilt)
        self.assertIn("2 bad records left out; the first: standard input: line 41: malformed JSON", text)
        self.refused(*TWO, "--skip-bad", data="{\n{\n", says="no outcomes")

    def test_json(self):
        text, found = good(*STATIC_OR_NOT, data=WALK), result(*STATIC_OR_NOT, data=WALK)
        self.assertTrue(text.startswith("100 records, 4 repeats of 1000 attempts per candidate, seed 1\n"))
        for c in found["candidates"]:
            row = re.search(rf"^{re.escape(c['label'])}  +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)$", text, re.M)
            told = [c[k] for k in ("log_evidence", "log_evidence_sd", "log_bayes_factor", "log_bayes_factor_sd", "probability")]
            for shown, value in zip(row.groups(), told, strict=True):
                self.assertAlmostEqual(float(shown), value, delta=max(0.00501, 1e-3 * abs(value)))
        self.assertEqual(text.splitlines()[-1], found["verdict"]["text"])
        self.assertEqual((found["records"], found["missing"], found["bad"], found["interrupted"]), (100, 0, 0, False))


class BadInput(Test):
    def test_records(self):
        header = "t,x_,outcome\n1,0.5,1\n"
        for data, says in (
            ("", "no outcomes"), ("t,x_,outcome\n", "no outcomes"), ("t,x_,outcome\n1,0.5,\n", "no outcomes"),
            ("t,x,outcome\n1,0.5,1\n", "line 1: no column 'x_'"), ("t,x_\n1,1\n", "no column 'outcome'"),
            (header + "1,0.5,2\n", "line 3: column outcome: 2 is not 0 or 1"), (header + "1,0.5,0.5\n", "line 3"),
            (header + "nan,0.5,1\n", "line 3: column t"), (header + "1e20,0.5,1\n", "line 3: column t"), (header + "x,0.5,1\n", "line 3"),
            (header + "1,0.5\n", "line 3: has 2 fields"), (header + ",0.5,1\n", "line 3: column t: is empty"),
            ("t,x_,time,outcome\n1,0,5,1\n1,0,4,1\n", "line 3: column time"), ('{"t": 1, "outcome": 1}\n', "line 1: no key 'x_'"),
        ):
            self.refused(*TWO, data=data, says=says)

    def test_what_a_model_does_not_take(self):
        data = "h1,h2,s,outcome\n1,1,0.5,0.1\n1,1,0,0.2\n1,1,-1,0.2\n1,1,0.5,0.3\n"
        both = ("--model=linear", "--model=linear", "--drift=0.2")
        self.refused(*both, data=data, says="standard input: line 3: linear: the model does not allow")
        skipped = result(*both, "--skip-bad", data=data)
        self.assertEqual((skipped["records"], skipped["bad"]), (2, 2))
        fine = result(*both, data="h1,h2,s,outcome\n1,1,0.5,0.1\n1,1,0.5,0.3\n")
        self.assertEqual(skipped["candidates"], fine["candidates"])
        self.refused(*both, "--precision=float", data="h1,h2,s,outcome\n1,1,0.5,1e300\n", says="line 2")

    def test_absurd_times(self):
        data = "time,h1,h2,s,outcome\n0,1,1,0.5,0.1\n1e19,1,1,0.5,0.1\n"
        self.refused("--model=linear", "--model=linear", "--precision=float", data=data, says="line 3: linear: an elapsed time")

    def test_long_batches(self):
        row = {"outcome": 1, "batch": "b"}
        self.refused("--model=coin", "--model=coin", data=lines([row] * 1025), says="line 1025: batch b has more than 1024 records")
        found = result("--model=coin", "--model=coin", "--skip-bad", "--attempts=10", data=lines([row] * 1030))
        self.assertEqual((found["records"], found["bad"]), (1024, 6))

    def test_an_impossible_record_is_noted(self):
        rows = [(1, 0, 0.5, 0.1), (1, 0, 0.5, 60), (1, 0, 0.5, 0.1)]
        data = csv(["h1", "h2", "s", "outcome"], rows)
        found = result("--model=linear", "--model=linear", "--drift=0", data=data)
        self.assertEqual([c["starved_updates"] for c in found["candidates"]], [1, 1])
        self.assertIn("note: linear found almost none", good("--model=linear", "--model=linear", "--drift=0", data=data))

    def test_an_impossible_model(self):
        """At t = 0 a precession gives 1: it has no evidence, and any other model is favoured, in whatever order they come."""
        impossible, coin = ("--model=precession", "--drift=0"), ("--model=coin", "--drift=0")
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write(lines([{"t": 0, "x_": 0.3, "outcome": k % 2} for k in range(6)]))
            file.flush()
            for models in ((*impossible, *coin), (*coin, *impossible)):
                found = json.loads(run("--json", *models, "--data", file.name).stdout)
                self.assertEqual([found["verdict"][k] for k in ("best", "second", "conclusion")], ["coin drift 0", "precession drift 0", "favoured"])
                self.assertEqual({c["model"]: c["probability"] for c in found["candidates"]}, {"coin": 1, "precession": 0})
                table = run(*models, "--data", file.name)
                self.assertEqual(table.returncode, 1)
                self.assertIn("is favoured over precession drift 0: ln K = inf", table.stdout)
                self.assertNotIn("nan", table.stdout)
            both = json.loads(run("--json", *impossible, *impossible, "--data", file.name).stdout)
        self.assertEqual((both["verdict"]["conclusion"], [c["probability"] for c in both["candidates"]]), ("within noise", [0.5, 0.5]))

    def test_words(self):
        for arguments in (["extra"], ["--"], ["-x"], ["--json=1"], ["--skip-bad=1"], ["--data"], ["--attemps", "3"]):
            self.refused(*TWO, *arguments)


class Surroundings(Test):
    def test_what_track_writes_can_be_compared(self):
        track = subprocess.run([COMMAND, "track", "--simulate", "--json", "--steps=60"], capture_output=True, text=True, timeout=LONGEST)
        self.assertEqual(result(*STATIC_OR_NOT, data=track.stdout)["records"], 60)

    def wait_until_it_waits(self, process):
        """Waits until the process sleeps twice in a row, with nothing left to read."""
        until, asleep = time.monotonic() + LONGEST, 0
        while asleep < 2:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
            state = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
            left = struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, b"    "))[0]
            asleep = asleep + 1 if state == "S" and left == 0 else 0

    def interrupt(self, data):
        with subprocess.Popen([COMMAND, "compare", "--json", *TWO], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            try:
                process.stdin.write(data)
                process.stdin.flush()
                self.wait_until_it_waits(process)
                process.send_signal(signal.SIGINT)
                output = process.stdout.read()
                self.assertEqual((process.wait(LONGEST), process.stderr.read()), (130, ""))
                return output
            finally:
                process.kill()

    def test_interrupt_while_it_waits(self):
        found = json.loads(self.interrupt(WALK))
        self.assertEqual((found["records"], found["interrupted"]), (100, True))
        self.assertEqual(found["candidates"], result(*TWO, data=WALK)["candidates"])
        self.assertEqual(self.interrupt(""), "")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            self.assertEqual(run(*TWO, data=WALK, stdout=full).returncode, 1)

    def peak(self, records):
        """Peak memory, in kB, while reading that many records."""
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(csv(["outcome"], [[int(k % 3 == 0)] for k in range(records)]))
            file.flush()
            child = subprocess.Popen([COMMAND, "compare", "--model=coin", "--model=coin", "--drift=0.1", "--attempts=20", "--repeat=1",
                                      "--data", file.name], stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(child.returncode, 0)
            return used.ru_maxrss

    def test_memory_does_not_grow_with_the_data(self):
        self.assertLess(self.peak(60000) - self.peak(100), 4000)  # keeping them would take 8000


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.path.isfile(sys.argv[1]):
        COMMAND = sys.argv.pop(1)
    COMMAND = os.path.abspath(COMMAND)
    unittest.main()
