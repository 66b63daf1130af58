"""rejfilt reproduce as a user runs it: python3 tests/test_reproduce.py [path/to/rejfilt] [-v]

The command may also be named by the environment variable REJFILT."""
import html.parser, json, os, pathlib, random, re, shutil, signal, subprocess, sys, tempfile, time, unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
import policy

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = os.environ.get("REJFILT", str(ROOT / "build" / "rejfilt"))
LONGEST = 600  # seconds for any one command; a hang is a failure
SMALL = "kappa"  # the experiment used where one is enough
REPORTS = ("report.md", "report.html", "report.json")
TIMING = "Timing on this machine"  # the rest differs from run to run


def run(*arguments, **more):
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": LONGEST, **more}
    return subprocess.run([COMMAND, "reproduce", *map(str, arguments)], **more)


def good(*arguments):
    done = run(*arguments)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{arguments}: exit {done.returncode}, {done.stderr!r}")
    return done.stdout


def untimed(path):
    return path.read_text(encoding="utf-8").split(TIMING)[0]


def claims(directory):
    report = json.loads((directory / "report.json").read_text(encoding="utf-8"))
    return {(c["experiment"], c["claim"]): c for c in report["claims"]}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.images, self.addresses, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        if tag == "img":
            self.images.append(attributes)
        self.addresses += [attributes[a] for a in ("src", "href") if a in attributes]


class Reproduce(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.reference = pathlib.Path(cls.kept.name) / "reference"
        good(SMALL, "--out", cls.reference)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def setUp(self):
        self.out = pathlib.Path(self.kept.name) / self.id().split(".")[-1]

    def assertSame(self, out):
        for name in (f"{SMALL}.csv", f"{SMALL}-loss.svg", *REPORTS):
            self.assertEqual((out / name).read_bytes(), (self.reference / name).read_bytes(), name)
        self.assertEqual(sorted(p.name for p in out.iterdir()), sorted(p.name for p in self.reference.iterdir()))

    def copy(self):
        shutil.copytree(self.reference, self.out)
        return self.out

    # ---- The pipeline ----

    def test_everything(self):
        good("--out", self.out)  # exit 0: every number is in its known range
        found = claims(self.out)
        for experiment, claim, verdict in (
            ("tracking", "median", "holds with a change"),
            ("tracking", "kilobit", "holds"),
            ("tracking", "hundred", "does not hold"),
            ("kappa", "plateau", "does not hold"),
            ("kappa", "two-thirds", "holds"),
            ("evidence", "sign", "holds"),
            ("evidence", "kappa", "holds with a change"),
            ("restarts", "random", "holds with a change"),
            ("beyond", "unscented", "holds"),
            ("mnist", "quarter", "not measured"),  # synthetic digits do not count
            ("features", "table", "holds"),
            ("features", "high", "not measured"),
            ("theory", "covariance-attempts", "holds"),
            ("theory", "overlap", "holds"),
            ("theory", "stability", "holds"),
            ("batched", "same", "holds"),
            ("batched", "printed", "holds with a change"),
            ("precision", "twice-near", "holds"),
            ("precision", "twice-far", "holds with a change"),
        ):
            self.assertEqual(found[experiment, claim]["verdict"], verdict, claim)
        self.assertTrue(1.4 < found["tracking", "median"]["value"] < 1.8)
        text = untimed(self.out / "report.md")
        for (experiment, _), claim in found.items():
            self.assertIn(f"## {experiment}: ", text)
            if claim["paper"] and not claim["timing"]:
                self.assertIn(claim["paper"], text)
        self.assertEqual(text.count("synthetic digits, not MNIST"), 3)
        self.check_page((self.out / "report.html").read_text(encoding="utf-8"))
        for figure in self.out.glob("*.svg"):
            xml.etree.ElementTree.parse(figure)
            self.assertIn(figure.name, (self.out / "report.md").read_text(encoding="utf-8"))

    def check_page(self, text):
        """The page needs no network, its pictures have descriptions, and its links have targets."""
        page = Page(text)
        self.assertGreater(len(page.images), 5)
        for image in page.images:
            self.assertGreater(len(image["alt"]), 40)
            self.assertTrue(image["src"].startswith("data:image/svg+xml;base64,"))
        for address in page.addresses:
            self.assertFalse(re.match(r"(https?:)?//", address), address)
            if address.startswith("#"):
                self.assertIn(address[1:], page.ids)
        self.assertIn('name="viewport"', text)
        self.assertEqual({**policy.check(text), "style-src": ""}, dict.fromkeys(("default-src", "base-uri", "form-action"), "'none'") | {"style-src": "", "img-src": "data:"})

    def test_list(self):
        names = [line.split()[0] for line in good("--list").splitlines()[1:]]
        listed = re.findall(r"^EXPERIMENT\((\w+)\)", (ROOT / "lab/experiments" / "list.def").read_text(), re.M)
        self.assertEqual(names, listed)

    def test_json_is_the_report(self):
        self.copy()
        self.assertEqual(good(SMALL, "--json", "--out", self.out), (self.out / "report.json").read_text(encoding="utf-8"))

    # ---- Same seed, same bytes ----

    def test_other_engine_and_threads(self):
        """Deleted data are computed again, with the same bytes."""
        self.copy()
        (self.out / f"{SMALL}.csv").unlink()
        good(SMALL, "--out", self.out, "--engine", "serial", "--threads", "3")
        self.assertSame(self.out)

    def test_other_engine_and_threads_of_digits_and_sums(self):
        names = ("heatmaps", "batched", "precision")
        there = self.out.with_name("one thread")
        good(*names, "--out", self.out, "--threads", "3")
        good(*names, "--out", there, "--threads", "1", "--engine", "serial")
        for file in (*(f"{name}.csv" for name in names), "heatmaps-asked-even-odd.svg"):
            self.assertEqual((self.out / file).read_bytes(), (there / file).read_bytes(), file)
        self.assertEqual(untimed(self.out / "report.md"), untimed(there / "report.md"))
        path = self.out / "batched.csv"  # the sums of one node are lost
        path.write_text(re.sub(r"(,same bits,4,8),1,", r"\1,0.75,", path.read_text()))
        done = run("batched", "--out", self.out)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(claims(self.out)["batched", "same"]["verdict"], "does not hold")

    def test_killed_and_continued(self):
        luck = random.Random(7)
        kills = 0
        while kills < 6:
            process = subprocess.Popen([COMMAND, "reproduce", SMALL, "--out", self.out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(luck.uniform(0.05, 0.4))
            process.send_signal(signal.SIGKILL)
            if process.wait() == 0:
                break
            kills += 1
        self.assertGreater(kills, 0)
        good(SMALL, "--out", self.out)
        for stray in self.out.glob("*.tmp"):
            stray.unlink()  # left by a kill during a write
        self.assertSame(self.out)

    def test_continues_instead_of_starting_again(self):
        self.copy()
        lines = (self.out / f"{SMALL}.csv").read_text().splitlines(keepends=True)
        first = re.match(r"(.*rows )\d+(, jobs)", lines[0])
        rows = [line for line in lines[2:] if line.startswith("3,")]
        planted = rows[0].replace(",loss,", ",planted,")  # shows whether the job is kept
        (self.out / f"{SMALL}.csv").write_text(f"{first[1]}{len(rows)}{first[2]} 3\n{lines[1]}{planted}{''.join(rows[1:])}")
        run(SMALL, "--out", self.out)
        self.assertIn(planted, (self.out / f"{SMALL}.csv").read_text())

    def test_two_at_once_and_interrupted(self):
        """The second run is refused and does not touch the first run's files. The first is interrupted, and resumed later."""
        process = subprocess.Popen([COMMAND, "reproduce", SMALL, "--out", self.out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not (self.out / f"{SMALL}.csv").exists() and process.poll() is None:
            time.sleep(0.01)
        done = run(SMALL, "--out", self.out)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LONGEST)
        self.assertEqual((process.returncode, done.returncode, done.stdout), (130, 1, ""))
        self.assertRegex(errors, r"\Arejfilt: reproduce: interrupted[^\n]*\n\Z")
        self.assertEqual(done.stderr, f"rejfilt: reproduce: --out: {self.out}/report is in use by process {process.pid}; wait for its end, or choose another name\n")
        good(SMALL, "--out", self.out)
        self.assertSame(self.out)

    def test_torn_data(self):
        self.copy()
        data = (self.out / f"{SMALL}.csv").read_bytes()
        (self.out / f"{SMALL}.csv").write_bytes(data[: len(data) * 2 // 3])
        done = run(SMALL, "--out", self.out)
        self.assertRegex(done.stderr, r"\A[^\n]*afresh\n\Z")
        self.assertSame(self.out)

    def test_other_settings(self):
        self.copy()
        done = run(SMALL, "--out", self.out, "--seed", 2)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\A[^\n]*afresh\n\Z")
        self.assertNotEqual((self.out / f"{SMALL}.csv").read_bytes(), (self.reference / f"{SMALL}.csv").read_bytes())

    # ---- Verdicts come from the data ----

    def test_planted_result(self):
        self.copy()
        path = self.out / f"{SMALL}.csv"
        text = re.sub(r"(,loss,given,0\.(?:0[46]|1|15|2|25|3|4)),[^,]*", r"\1,1e-5", path.read_text())
        path.write_text(text)
        self.assertEqual(claims(self.out)[SMALL, "plateau"]["verdict"], "does not hold")
        done = run(SMALL, "--out", self.out)
        self.assertEqual(done.returncode, 1)
        self.assertIn("outside its known range", done.stderr)
        self.assertEqual(claims(self.out)[SMALL, "plateau"]["verdict"], "holds")
        self.assertIn("departs from what is expected", (self.out / "report.md").read_text(encoding="utf-8"))

    # ---- Errors ----

    def test_bad_arguments(self):
        there = pathlib.Path(self.kept.name) / "a file"
        there.write_text("")
        for arguments, words in (
            (["kapa"], "did you mean kappa?"),
            (["--ful"], "did you mean --full?"),
            (["--quick", "--full"], "not both"),
            (["--seed", "x"], "--seed"),
            (["--threads", "0"], "--threads"),
            (["--engine", "steam"], "steam"),
            (["--engine", "mpi"], "--engine"),
            (["--out", there], "a file"),
            (["--data", "/no/such/digits"], "/no/such/digits"),
            (["--out", "/proc/nowhere"], "/proc/nowhere"),
            (["--out", "/no/such/directory"], "/no/such/directory"),
        ):
            done = run(SMALL, *arguments) if "--out" in arguments else run(SMALL, "--out", self.out, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertRegex(done.stderr, r"\Arejfilt: reproduce: [^\n]*\n\Z")
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_without_gnuplot(self):
        done = run(SMALL, "--out", self.out, env={**os.environ, "PATH": "/nonexistent"})
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Arejfilt: reproduce: [^\n]*gnuplot[^\n]*\n\Z")


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        COMMAND = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
