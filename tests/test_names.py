"""Names with commas, quotes, blanks and line ends, written and read again: python3 tests/test_names.py path/to/rejfilt [-v]"""
import csv, importlib.util, io, json, os, pathlib, random, subprocess, sys, tempfile, unittest

COMMAND = os.path.abspath(sys.argv.pop(1))
LONGEST = 120  # seconds for any one command, with room for sanitizers
NAMES = ["plain", "a,b", 'say "x"', '"', '""', "two\nlines", "cr\rhere", "both\r\nends", " before", "after ", "semi;colon", "tab\there", "# no comment", "=1+1",
         "\u00fcml\u00e4ut", "x" * 300]
PANDAS = importlib.util.find_spec("pandas")


def run(*arguments):
    done = subprocess.run([COMMAND, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LONGEST)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: exit {done.returncode}, {done.stderr!r}")
    return done.stdout.decode("utf-8")


def read(text):
    """Rows, which must have equal length."""
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert len({len(row) for row in rows}) == 1, [len(row) for row in rows]
    return rows


def words(text):
    """A list within a field: words separated by blanks, quoted like fields."""
    return next(csv.reader(io.StringIO(text, newline=""), delimiter=" ", strict=True), [])


def c_string(text):
    return '"' + "".join(f"\\{byte:03o}" for byte in text.encode()) + '"'


def model(parameters, settings):
    """The first parameter is the probability of 1; the others only test names."""
    own = c_string('a,"model')
    lines = ["#include \"rejfilt/model.h\"", "static const rf_description description = {", f".name = {own}, .summary = \"s\", .formula = \"f\",",
             f".dim = {len(parameters)}, .settings = {len(settings)}, .outcomes = 2,",
             ".parameter = {" + ", ".join(f"{{{c_string(name)}, RF_BOUNDED, 0, 1, 0}}" for name in parameters) + "},",
             ".setting = {" + ", ".join(f"{{{c_string(name)}, RF_SETTING_RANGE, 0, 0, 1, 2}}" for name in settings) + "}};",
             "RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)",
             "{ (void)setting; return outcome != 0 ? x[0] : 1 - x[0]; }"]
    return "\n".join(lines)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def same_in_pandas(self, path, rows):
        import pandas
        frame = pandas.read_csv(path, dtype=str, keep_default_na=False)
        self.assertEqual([list(frame.columns), *frame.values.tolist()], rows)


class Track(Case):
    parameters, settings = NAMES[:8], NAMES[8:]

    @classmethod
    def setUpClass(cls):
        """One model for all tests, compiled once without optimisation."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        os.environ.update(REJFILT_CACHE=f"{folder.name}/cache", REJFILT_MODEL_FLAGS="-O0")
        cls.model, cls.records = pathlib.Path(folder.name, "model.c"), pathlib.Path(folder.name, "records.csv")
        cls.model.write_text(model(cls.parameters, cls.settings))
        cls.simulated = ("track", f"--model={cls.model}", "--simulate", "--steps=4", "--attempts=50")
        cls.records.write_text(run(*cls.simulated, "--format=csv"), newline="")

    def test_csv_says_what_json_says(self):
        header, *rows = read(self.records.read_bytes().decode())
        lines = [json.loads(line) for line in run(*self.simulated, "--json").splitlines()]
        for row, line in zip(rows, lines, strict=True):
            told = dict(zip(header, row, strict=True))
            for p, name in zip(line["parameters"], self.parameters, strict=True):
                self.assertEqual(p["name"], name)
                self.assertEqual([float(told[f"{name}.{of}"]) for of in ("mean", "sd", "low", "high", "chart_mean")], [p[of] for of in ("mean", "sd", "low", "high", "chart_mean")])
                self.assertEqual(float(told[f"truth.{name}"]), p["truth"])
            for pair in line["chart_covariances"]:
                self.assertEqual(float(told[f"chart_covariance.{pair['of']}.{pair['and']}"]), pair["value"])
            self.assertEqual([(s["name"], s["value"]) for s in line["settings"]], [(name, float(told[name])) for name in self.settings])
            self.assertEqual(told["health"], line["health"])

    def test_it_reads_what_it_writes(self):
        """The same records as CSV, as CSV with the line ends of other systems, and as JSON."""
        options = ("track", f"--model={self.model}", "--attempts=50", "--seed=1")
        as_json, with_returns = self.folder / "records.jsonl", self.folder / "returns.csv"
        as_json.write_text(run(*self.simulated, "--json"))
        with open(with_returns, "w", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows(read(self.records.read_bytes().decode()))
        wanted = run(*options, f"--data={as_json}")
        self.assertEqual(len(wanted.splitlines()), 4)
        for path in (self.records, with_returns):
            self.assertEqual(run(*options, f"--data={path}"), wanted)
        compared = json.loads(run("compare", f"--model={self.model}", "--label=a,\"b", "--model=coin", f"--data={self.records}", "--json"))
        self.assertEqual(compared["records"], 4)
        self.assertEqual(compared["candidates"][0]["label"], 'a,"b')
        self.assertEqual(compared["candidates"][0]["model"], 'a,"model')

    def test_questions(self):
        done = subprocess.run([COMMAND, "track", f"--model={self.model}", "--ask"], input="1\n", stdout=subprocess.PIPE, text=True, timeout=LONGEST, check=True)
        self.assertEqual(list(json.loads(done.stdout.splitlines()[0])), ["ask", *self.settings, "anchor"])

    def test_pictures(self):
        shown = ["two\nlines", '"', "both\r\nends", "</script>"]  # the first four parameters are shown
        other = self.folder / "model.c"
        other.write_text(model(shown, ["plain"]))
        for ending in ("svg", "html"):
            run("track", f"--model={other}", "--simulate", "--steps=4", "--json", f"--plot={self.folder}/run.{ending}")
        page = (self.folder / "run.html").read_bytes().decode()
        data = json.loads(page.split('id="data">')[1].split("</script>")[0])
        self.assertEqual([p["name"] for p in data["panels"] if p["kind"] == "estimate"], ["two lines", '"', "both  ends", "</script>"])

    @unittest.skipUnless(PANDAS, "pandas is not installed")
    def test_pandas(self):
        self.same_in_pandas(self.records, read(self.records.read_bytes().decode()))


class Tables(Case):
    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        self.classes = sorted(NAMES[:12])
        rows = [[draw.gauss(0, 1) + (3 if j == c else 0) for j in range(len(NAMES))] + [name] for c, name in enumerate(self.classes) for _ in range(12)]
        self.table = self.folder / "table.csv"
        with open(self.table, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, quoting=csv.QUOTE_NONNUMERIC).writerows([[*NAMES, "label"], *rows])  # blanks inside quotes belong to the name
        self.both = (f"--train={self.table}", f"--test={self.table}")

    def asked(self, *options):
        """All features asked of any object."""
        out = self.folder / "out.csv"
        run("classify", *self.both, *options, f"--out={out}")
        return {word for row in read(out.read_bytes().decode())[1:] for word in words(row[-1])}

    def test_answers(self):
        out = self.folder / "out.csv"
        run("classify", *self.both, f"--out={out}")
        header, *rows = read(out.read_bytes().decode())
        self.assertEqual(header, ["object", "label", "decided", *(f"p_{name}" for name in self.classes), "queries", "asked"])
        self.assertEqual([row[1] for row in rows], [name for name in self.classes for _ in range(12)])
        for row in rows:
            self.assertIn(row[2], self.classes)
            asked = words(row[-1])
            self.assertEqual(len(asked), int(row[-2]))
            self.assertLessEqual(set(asked), set(NAMES))

    def test_classes_of_an_option(self):
        out = self.folder / "out.csv"
        run("classify", "--data=synthetic", "--limit=20", '--classes=0,2:a,b 1,3:say"x"', f"--out={out}")
        self.assertEqual(read(out.read_bytes().decode())[0], ["object", "label", "decided", "p_a,b", 'p_say"x"', "queries", "asked"])

    def test_ranking(self):
        ranking, again = self.folder / "ranking.csv", self.folder / "again.csv"
        told = json.loads(run("classify", "rank", *self.both, "--cuts=none", "--json", f"--csv={ranking}"))
        header, *rows = read(ranking.read_bytes().decode())
        self.assertEqual(header, ["rank", "feature", "asked", "variance"])
        self.assertEqual([row[1] for row in rows], [f["feature"] for f in told["ranking"]])
        self.assertEqual({row[1] for row in rows}, set(NAMES))
        run("classify", f"--train={ranking}", f"--test={ranking}", "--label=feature", f"--out={again}")  # its own output is valid input
        self.assertEqual([row[1] for row in read(again.read_bytes().decode())[1:]], [row[1] for row in rows])

    def test_masks_and_costs(self):
        mask, costs = self.folder / "mask", self.folder / "costs"
        run("classify", "rank", *self.both, "--cuts=none", "--keep=16", f"--out={mask}")
        self.assertEqual({row[0] for row in read(mask.read_bytes().decode())}, set(NAMES))
        for kept in NAMES:
            with open(mask, "w", newline="", encoding="utf-8") as file:
                csv.writer(file, quoting=csv.QUOTE_ALL).writerow([kept])
            self.assertEqual(self.asked(f"--mask={mask}"), {kept})
        with open(costs, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, quoting=csv.QUOTE_NONNUMERIC).writerows([name, 2.5] for name in NAMES)
        summary = json.loads(run("classify", *self.both, f"--cost={costs}", "--json"))
        self.assertAlmostEqual(summary["mean_cost"], 2.5 * summary["mean_queries"])

    def test_plain_lines(self):
        """Comments, empty lines and long lines are allowed; unquoted commas are not."""
        mask, costs = self.folder / "mask", self.folder / "costs"
        mask.write_text(f"# a comment\n\nplain\nsemi;colon\n{'x' * 300}")
        self.assertLessEqual(self.asked(f"--mask={mask}"), {"plain", "semi;colon", "x" * 300})
        costs.write_text("plain," + "0" * 600 + "2\n")
        run("classify", *self.both, f"--cost={costs}")
        costs.write_text("plain,2,,\n")
        done = subprocess.run([COMMAND, "classify", *self.both, f"--cost={costs}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LONGEST)
        self.assertEqual((done.returncode, done.stderr), (2, f"rejfilt: classify: {costs}: line 1: has 4 fields; a name with a comma is in quotes\n"))

    def test_bytes_that_are_no_text(self):
        """Text that is not UTF-8 is Latin-1."""
        latin, ranking = self.folder / "latin.csv", self.folder / "ranking.csv"
        latin.write_bytes("größe,b,label\n".encode("latin-1") + b"".join(b"%d,%d,%d\n" % (i % 5, i % 3, i % 2) for i in range(40)))
        told = json.loads(run("classify", "rank", f"--train={latin}", "--cuts=none", "--json", f"--csv={ranking}"))
        self.assertEqual({f["feature"] for f in told["ranking"]}, {"größe", "b"})
        self.assertIn("größe", {row[1] for row in read(ranking.read_bytes().decode())})

    @unittest.skipUnless(PANDAS, "pandas is not installed")
    def test_pandas(self):
        out, ranking = self.folder / "out.csv", self.folder / "ranking.csv"
        run("classify", *self.both, f"--out={out}")
        run("classify", "rank", *self.both, "--cuts=none", f"--csv={ranking}")
        for path in (out, ranking):
            self.same_in_pandas(path, read(path.read_bytes().decode()))


class Refused(Case):
    def test_quotes_that_are_none(self):
        for text, says in (('a,b,label\n1,2,"x\n3,4,y\n', "line 2: field 3: a quote is not closed"),
                           ('a,b,label\n1,2,"x" y\n3,4,y\n', "line 2: field 3: there is more after the closing quote")):
            path = self.folder / "table.csv"
            path.write_text(text)
            done = subprocess.run([COMMAND, "classify", f"--train={path}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LONGEST)
            self.assertEqual((done.returncode, done.stderr), (2, f"rejfilt: classify: {path}: {says}\n"))


    def test_headers_that_do_not_end(self):
        for text, says in (('t,"x_\n' + "\n" * 1100000, "the header is longer than 1048576 bytes"), ('t,"x_,outcome\n3,1,1\n', "field 2: a quote is not closed")):
            done = subprocess.run([COMMAND, "track"], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LONGEST)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, rf"\Arejfilt: track: standard input: line \d+: {says}\n\Z")


if __name__ == "__main__":
    unittest.main()
