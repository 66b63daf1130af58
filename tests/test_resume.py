"""What is kept is whole and known again: edited logs, flipped bits, files of older versions. python3 tests/test_resume.py [path/to/rejfilt]"""
import gzip, itertools, json, os, pathlib, random, re, shutil, stat, subprocess, sys, tempfile, unittest, zlib

from tracking import COMMAND, LONGEST, ROOT, Test, resealed

OLD = ROOT / "tests/known/old"  # of the last versions without a seal: checkpoint 8, model 7, journals without numbers
EDITS = FLIPS = 1000


def run(*arguments, given=None, folder=None):
    more = {"stdin": subprocess.DEVNULL} if given is None else {"input": given}
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=LONGEST, cwd=folder, **more)


class Log:
    """A kind of log: its options, and how a record is drawn. Records are tuples of fields."""

    def __init__(self, model, columns, draw, *options):
        self.options, self.columns, self.draw = (f"--model={model}", "--belief=gaussian", "--drift=0", *options), columns, draw

    def make(self, chance, count):
        return [self.draw(chance, k) for k in range(count)]

    def text(self, records, form):
        if form == "csv":
            return "".join(",".join(r) + "\n" for r in [self.columns, *records])
        return "".join(json.dumps({c: json.loads(f or "null") for c, f in zip(self.columns, r)}) + "\n" for r in records)


LOGS = [
    Log("precession", ("t", "x_", "outcome"), lambda chance, k: (f"{chance.uniform(1, 9):.3f}", f"{chance.uniform(0, 1.5):.2f}", chance.choice("01"))),
    Log("precession", ("t", "x_", "time", "outcome"), lambda chance, k: (f"{chance.uniform(1, 9):.3f}", "0.3", str(k // 2), chance.choice(["0", "1", ""]))),
    Log("precession", ("t", "x_", "batch", "outcome"), lambda chance, k: (f"{chance.uniform(1, 9):.3f}", "0.3", str(k // 3), chance.choice("01"))),
    Log("coin", ("outcome",), lambda chance, k: (chance.choice("01"),)),
    Log("coin", ("outcome",), lambda chance, k: (chance.choice("01"),), "--batch=4"),
]


def edit(chance, log, records, known):
    """The log after a random edit of its known part."""
    records, at = list(records), chance.randrange(known)
    what = chance.choice(["change", "delete", "insert", "repeat", "cut", "swap", "none"])
    if what == "change":
        field = chance.randrange(len(log.columns))
        records[at] = tuple(new if i == field else old for i, (old, new) in enumerate(zip(records[at], log.draw(chance, at + 7))))
    elif what == "delete":
        del records[at : at + chance.choice([1, 1, 3])]
    elif what == "insert":
        records.insert(at, log.draw(chance, at))
    elif what == "repeat":
        records.insert(at, records[at])
    elif what == "cut":
        del records[at:]
    elif what == "swap":
        other = chance.randrange(known)
        records[at], records[other] = records[other], records[at]
    return records


class Edits(Test):
    """A log that grew is continued; one that was edited is refused, with the first line that differs."""

    def state_of(self, path):
        shown = json.loads(run("state", "export", path).stdout)
        return shown["records"], shown["gaussians"]

    def test_random_edits(self):
        chance = random.Random(1)
        counts = {"grown": 0, "new": 0, "refused": 0}
        for round in range(EDITS // 20):
            log, form = LOGS[round % len(LOGS)], chance.choice(["csv", "json"])
            known = 4 * chance.randint(1, 6)
            records = log.make(chance, known + chance.randint(0, 5))
            path, begun, state = self.folder / "log", self.folder / "begun.state", self.folder / "run.state"
            path.write_text(log.text(records[:known], form))
            begun.unlink(missing_ok=True)
            self.assertEqual(run("track", *log.options, "--state", begun, path).returncode, 0)
            whole = begun.read_bytes()
            for _ in range(20):
                edited = edit(chance, log, records, known)
                path.write_text(log.text(edited, form))
                state.write_bytes(whole)
                done = run("track", *log.options, "--state", state, path)
                same = next((k for k, (a, b) in enumerate(zip(records[:known], edited)) if a != b), min(known, len(edited)))
                said = re.search(r"log: (\d+) known, (\d+) new\n$", done.stderr)
                about = (log.options, form, records[:known], edited, done.stderr)
                if done.returncode == 0:
                    first, new = map(int, said.groups())
                    self.assertEqual(first + new, len(edited), about)
                    if same == known:
                        self.assertEqual(first, known, about)
                        counts["grown"] += 1
                    else:  # nothing of it was known
                        self.assertEqual((first, set(edited) & set(records[:known])), (0, set()), about)
                        counts["new"] += 1
                    self.assertEqual(self.state_of(state)[0], known + new, about)
                else:
                    self.assertEqual((done.returncode, done.stderr.count("\n"), state.read_bytes()), (2, 1, whole), about)
                    self.assertLess(same, known, about)
                    if same == len(edited):
                        self.assertIn(f"has only the first {same} of the {known} records", done.stderr)
                    elif "has only" not in done.stderr and " time: " not in done.stderr:
                        self.assertIn(f": line {same + 1 + (form == 'csv')}: differs from what the run learnt as record {same + 1} of {known}", done.stderr, about)
                    counts["refused"] += 1
        self.assertGreater(min(counts["grown"], counts["refused"]), EDITS // 5, counts)

    def log(self, name, records, kind=LOGS[0]):
        path = self.folder / name
        path.write_text(kind.text(records, "csv"))
        return path

    def track(self, *arguments, says="", code=0, kind=LOGS[0], given=None):
        done = run("track", *kind.options, f"--state={self.folder}/run.state", *arguments, given=given)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(says, done.stderr)
        self.assertLessEqual(done.stderr.count("\n"), 1)
        return done.stdout

    def test_rotated_logs(self):
        for kind in LOGS[:3]:
            records = kind.make(random.Random(2), 60)
            whole = run("track", *kind.options, "--state", self.folder / "whole.state", self.log("all", records, kind)).stdout
            out = self.track(self.log("a", records[:21], kind), kind=kind)
            out += self.track(self.log("a", records[:30], kind), kind=kind, says="21 known, 9 new")
            out += self.track(self.log("b", records[30:42], kind), kind=kind, says="0 known, 12 new")
            out += self.track(self.log("b", records[30:51], kind), kind=kind, says="12 known, 9 new")
            self.track(self.log("a", records[:30], kind), kind=kind, code=2, says="has only the first 30 of the 51 records")
            out += self.track(self.log("a", records[:60], kind), kind=kind, says="51 known, 9 new")
            self.assertEqual(out, whole)
            self.track(self.log("b", records[30:40], kind), kind=kind, code=2)
            for name in ("run.state", "whole.state"):
                os.remove(self.folder / name)

    def test_how_it_continues_may_be_said(self):
        records = LOGS[0].make(random.Random(3), 30)
        text = LOGS[0].text(records, "csv")
        self.track("--continue=grown", self.log("a", records[:20]))
        self.track("--continue=grown", self.log("b", records[20:]), code=2, says="line 2: differs")
        self.track("--continue=grown", given=text.replace(records[5][0], "7.7777"), code=2, says="standard input: line 7: differs")
        self.track("--continue=grown", given=text, says="standard input: 20 known, 10 new")
        self.track(given=text, code=1, says="repeats the records that the run has learnt")
        self.track(given=text, says="0 known, 30 new", *["--continue=new"])
        self.track("--continue=new", self.log("a", records[:10]), says="0 known, 10 new")
        self.track(self.log("a", records[:12]), says="10 known, 2 new")
        self.track("--ask", "--continue=new", code=2, says="leave out --ask")
        done = run("track", "--continue=new", self.log("a", records))
        self.assertIn("needs --state", done.stderr)

    def test_empty_and_bad_lines(self):
        records = LOGS[0].make(random.Random(4), 12)
        self.track(self.log("a", []))
        self.track(self.log("a", records[:8]))
        self.track(self.log("a", []), says="0 known, 0 new")
        broken = [("x", "0", "1"), *records[:4], ("1", "", "1"), *records[4:]]
        self.track(self.log("a", broken), code=2, says="line 2: ")
        self.track("--skip-bad", self.log("a", broken))
        self.assertEqual(self.state_of(self.folder / "run.state")[0], 12)
        self.track("--skip-bad", self.log("a", broken[:6] + broken[7:]), code=2, says="record 5 of 12")

    def test_times_missing_values_and_batches_are_in_the_hash(self):
        for kind, first, second in ((LOGS[1], ("1", "0.3", "5", "1"), ("1", "0.3", "6", "1")), (LOGS[1], ("1", "0.3", "", "1"), ("1", "0.3", "0", "1")),
                                    (LOGS[2], ("1", "0.3", "5", "1"), ("1", "0.3", "6", "1")), (LOGS[0], ("1", "", ""), ("1", "0.25", ""))):
            self.track(self.log("a", [first, first], kind), kind=kind)
            self.track(self.log("a", [first, second], kind), kind=kind, code=2, says="line 3: differs")
            os.remove(self.folder / "run.state")

    def test_long_logs(self):
        """Beyond 16,384 records the message names as many lines as there are records between two rungs."""
        kind = LOGS[3]
        records = kind.make(random.Random(5), 40000)
        self.track("--attempts=1", "--state-every=100000", self.log("a", records, kind), kind=kind)
        self.assertLess((self.folder / "run.state").stat().st_size, 131072 + 2048)
        records[30000] = ("1",) if records[30000] == ("0",) else ("0",)
        self.track("--attempts=1", self.log("a", records, kind), kind=kind, code=2, says="lines 30002 to 30005: differs")


class Flips(Test):
    """A flipped bit is refused with one line, and the file is left as it is."""

    def check(self, path, *command):
        good, chance = path.read_bytes(), random.Random(6)
        bits = range(8 * len(good)) if len(good) < FLIPS // 8 else [*range(8 * 32), *(chance.randrange(8 * len(good)) for _ in range(FLIPS - 8 * 32))]
        for bit in bits:
            bad = bytearray(good)
            bad[bit // 8] ^= 1 << bit % 8
            path.write_bytes(bad)
            done = run(*command)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n"), path.read_bytes()), (2, "", 1, bytes(bad)), (path.name, bit, done.stderr))
        path.write_bytes(good)
        self.assertEqual(run(*command).returncode, 0)

    def test_checkpoints(self):
        log = self.folder / "log"
        log.write_text(LOGS[1].text(LOGS[1].make(random.Random(7), 9), "csv"))
        state = self.folder / "run.state"
        for belief in ("mixture", "gaussian"):
            options = (*LOGS[1].options, f"--belief={belief}", f"--state={state}", log)
            run("track", *options)
            self.check(state, "track", *options)
            state.unlink()

    def test_models_and_journals(self):
        table, model, journal = self.folder / "t.csv", self.folder / "m.rfc", self.folder / "j"
        table.write_bytes(gzip.decompress((OLD / "table.csv.gz").read_bytes()))
        run("classify", "fit", table, "--out", model)
        self.check(model, "classify", "predict", model, table)
        run("classify", "ask", model, "--state", journal, given='{"id":"a"}\n{"id":"a","feature":"y","value":0.5}\n{"id":"b"}\n')
        self.check(journal, "classify", "ask", model, "--state", journal)


class Old(Test):
    """Files of the versions before the seal are read, checked, and written anew."""

    def test_checkpoint(self):
        state, log = self.folder / "run.state", self.folder / "log.csv"
        old = (OLD / "8.state").read_bytes()
        text = "t,x_,time,outcome\n1,0.3,1,1\n2,0.3,2,0\n4,0.5,9,1\n3,0.7,10,1\n"
        log.write_text(text)
        fresh = run("track", "--belief=gaussian", log).stdout
        for more in ([log], ["--continue=grown"]):
            state.write_bytes(old)
            done = run("track", "--belief=gaussian", "--state", state, *more, given=None if more == [log] else text)
            self.assertIn("3 known, 1 new", done.stderr)
            self.assertEqual(done.stdout, fresh.splitlines(keepends=True)[-1])
            log.write_text(text.replace("2,0.3,2,0", "2,0.3,2,1"))
            done = run("track", "--belief=gaussian", "--state", state, log)
            self.assertIn("line 3: differs from what the run learnt as record 2 of 4", done.stderr)  # the chain is complete now
            state.write_bytes(old)
            done = run("track", "--belief=gaussian", "--state", state, log)
            self.assertEqual((done.returncode, state.read_bytes()), (2, old))  # it cannot say where
            log.write_text(text)

    def test_model_and_journal(self):
        table, model, journal = self.folder / "t.csv", self.folder / "m.rfc", self.folder / "j"
        model.write_bytes(gzip.decompress((OLD / "7.rfc.gz").read_bytes()))
        table.write_bytes(gzip.decompress((OLD / "table.csv.gz").read_bytes()))
        self.assertEqual(len(run("classify", "predict", model, table).stdout.splitlines()), 13)
        old = (OLD / "journal").read_text()
        asked = run("classify", "ask", model, given="".join(old.splitlines(keepends=True)[1:])).stdout.splitlines()
        journal.write_text(old + '{"id":"c"')  # and a line that was not finished
        done = run("classify", "ask", model, "--state", journal)
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(asked[1:]), done.stderr)
        lines = journal.read_text().splitlines()
        self.assertEqual([line.split(" ", 2)[2] for line in lines[1:]], old.splitlines()[1:])
        for k, line in enumerate(lines):
            number, digits, text = line.split(" ", 2)
            self.assertEqual((number, digits), (str(k), f"{zlib.crc32(f'{k} {text}'.encode()):08x}"))
        self.assertEqual(run("classify", "ask", model, "--state", journal).stdout, done.stdout)


class Imports(Test):
    """What `state import` takes, `track` loads, and its estimates are numbers in their order; else it is refused."""

    parameters = {"precession": ["x"], "decay": ["p", "A", "B"], "coin": ["p"], "ramsey": ["w", "g"], "relaxation": ["T1"]}

    def test_gaussians_of_every_size(self):
        chance, taken = random.Random(8), 0
        state, posterior = self.folder / "run.state", self.folder / "posterior.json"
        for _ in range(150):
            model, belief = chance.choice(list(self.parameters)), chance.choice(["mixture", "gaussian", "particles:50", "grid:64"])
            options, high = ("--ask", f"--model={model}", f"--belief={belief}", "--drift=0"), chance.choice([1, 3, 20, 300])
            parts = []
            for _ in range(chance.choice([1, 1, 3])):
                parts.append({"weight": chance.choice([1, 10.0 ** chance.uniform(-300, 300)])})
                for p in self.parameters[model]:
                    parts[-1] |= {f"{p}.chart_mean": chance.choice([0, 1, -1]) * 10.0 ** chance.uniform(-3, high), f"chart_covariance.{p}.{p}": 10.0 ** chance.uniform(-9, high)}
            posterior.write_text(json.dumps({"gaussians": parts}))
            done = run("state", "import", posterior, "--state", state, *options)
            if done.returncode != 0:
                self.assertEqual((done.returncode, done.stderr.count("\n"), state.exists()), (2, 1, False), done.stderr)
                continue
            taken += 1
            exported = run("state", "export", state)
            for p in json.loads(exported.stdout)["parameters"]:
                self.assertNotIn(None, p.values(), (options, parts))
                self.assertTrue(p["low"] <= p["median"] <= p["high"] and abs(p["mean"]) < 3.2e150, (options, parts, p))
                self.assertTrue(p["chart"] == "real" or p["mean"] >= 0, (options, parts, p))
            told = run("track", *options, "--state", state, given="1\n")
            self.assertEqual(told.returncode, 0, (told.stderr, options, parts))
            state.unlink()
        self.assertGreater(taken, 30)


class Journals(Test):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "m.rfc"
        self.model.write_bytes(gzip.decompress((OLD / "7.rfc.gz").read_bytes()))

    def test_other_files_are_left_alone(self):
        """What is no journal is refused at once: nothing is emptied, nothing waits, nothing is read into memory."""
        path = self.folder / "other"
        contents = ["calibration 3.5", "1\n", "0 \n", "0 bottles", '{"a": 1}\n', '{"model": "0123"}\n{"a": 1}\n', '{"model": "0123', "{", "\0" * 9, "\n", "0 12345678 {}\n"]
        for content in map(str.encode, contents):
            path.write_bytes(content)
            done = run("classify", "ask", self.model, "--state", path)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n"), path.read_bytes()), (2, "", 1, content))
        os.truncate(path, 1 << 31)  # zeros, no blocks
        limit = "" if "sanitize" in str(COMMAND) else "ulimit -v 500000; "  # sanitizers want all addresses for themselves
        done = subprocess.run(["sh", "-c", f"{limit}exec {COMMAND} classify ask {self.model} --state {path}"], capture_output=True, stdin=subprocess.DEVNULL, timeout=LONGEST)
        self.assertEqual((done.returncode, path.stat().st_size), (2, 1 << 31))
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for there in (fifo, self.folder, "/dev/zero", "/dev/full", "/dev/null"):
            done = run("classify", "ask", self.model, "--state", there)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), there)
        self.assertTrue(stat.S_ISFIFO(fifo.stat().st_mode))

    def test_cut_at_every_byte(self):
        """A program that was killed leaves the first bytes: whole lines are answered, what follows them is cut off."""
        path = self.folder / "j"
        run("classify", "ask", self.model, "--state", path, given='{"id":"a"}\n{"id":"b"}\n')
        whole = path.read_bytes()
        for length in range(len(whole) + 1):
            path.write_bytes(whole[:length])
            done = run("classify", "ask", self.model, "--state", path)
            lines = whole[:length].count(b"\n")
            if 0 < length <= 10:  # perhaps somebody's own file
                self.assertEqual((done.returncode, path.read_bytes()), (2, whole[:length]))
                continue
            self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, max(lines - 1, 0)), (length, done.stderr))
            self.assertEqual(path.read_bytes(), b"".join(whole.splitlines(keepends=True)[: max(lines, 1)]))

    def test_lines_are_counted(self):
        path = self.folder / "j"
        run("classify", "ask", self.model, "--state", path, given='{"id":"a"}\n{"id":"b"}\n')
        mark, first, second = path.read_bytes().splitlines(keepends=True)
        for lines in ([mark, second], [mark, first, first, second], [mark, second, first], [first, second]):
            path.write_bytes(b"".join(lines))
            done = run("classify", "ask", self.model, "--state", path)
            self.assertEqual((done.returncode, done.stderr.count("\n"), path.read_bytes()), (2, 1, b"".join(lines)))


if __name__ == "__main__":
    unittest.main()
