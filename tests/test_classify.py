"""classify and features as a user runs them: python3 tests/test_classify.py [path/to/rejfilt] [-v]"""
import csv, io, json, math, os, pathlib, random, re, resource, statistics, struct, subprocess, sys, tempfile, unittest
import xml.etree.ElementTree as xml

import terminal

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = os.environ.get("REJFILT", str(ROOT / "build" / "rejfilt"))
LONGEST = 120  # seconds for any one command, with room for sanitizers; a hang is a failure
KEYS = "task method classes train objects error errors mean_queries mean_cost seconds load_seconds threads seed".split()
DIGITS = ("--data", "synthetic", "--limit", "150", "--pilot", "150")


def run(*arguments, **more):
    return subprocess.run([COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LONGEST, **more)


def good(*arguments, **more):
    done = run(*arguments, **more)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: exit {done.returncode}, {done.stderr!r}")
    return done.stdout


def classify(*arguments):
    return json.loads(good("classify", "--json", *arguments))


def idx(values, *shape, code=8, form="B"):
    return struct.pack(">HBB", 0, code, len(shape)) + struct.pack(f">{len(shape)}I", *shape) + struct.pack(f">{len(values)}{form}", *values)


def table(count, seed, informative=8, noise=22, apart=0.6):
    """Rows of Gaussian features with different scales; some depend on the class."""
    draw, fixed = random.Random(seed), random.Random(7)
    scale = [10 ** fixed.uniform(-3, 3) for _ in range(informative + noise)]
    rows = []
    for _ in range(count):
        c = draw.randrange(2)
        rows.append([scale[j] * (draw.gauss(0, 1) + (apart * (-1) ** (j + c) if j < informative else 5)) for j in range(informative + noise)] + ["ab"[c]])
    return rows


def write_csv(path, rows, header=None):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(([header] if header else []) + rows)
    return path


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def refused(self, *arguments, says=""):
        """Exit 2, one line on standard error, nothing on standard output, within a gigabyte of memory."""
        with self.subTest(arguments=arguments):
            limit = None if "sanitize" in COMMAND else lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
            done = run(*arguments, preexec_fn=limit)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"\Arejfilt: [^\n]+\n\Z")
            self.assertIn(says, done.stderr)


class Synthetic(Test):
    def test_summary(self):
        for method in ("--limit", 150, "--pilot", 150), ("--method", "paper", "--particles", 500, "--limit", 60):
            got = classify("--data", "synthetic", "--task", "even-odd", *method)
            self.assertEqual(list(got)[: len(KEYS)], KEYS)
            self.assertEqual((got["task"], got["classes"], got["train"], got["synthetic"]), ("even-odd", 2, 6000, True))
            self.assertEqual(got["error"], got["errors"] / got["objects"])
            self.assertEqual(got["mean_cost"], got["mean_queries"])
            self.assertLess(got["error"], 0.12)
            self.assertTrue(1 < got["mean_queries"] < 784)

    def test_says_that_it_is_not_mnist(self):
        self.assertIn("not MNIST", good("classify", *DIGITS))
        self.assertIn("not MNIST", good("classify", "rank", *DIGITS, "--cuts", "none"))

    def test_tasks(self):
        self.assertEqual(classify(*DIGITS)["classes"], 10)
        self.assertEqual(classify(*DIGITS, "--task", "digits")["classes"], 10)
        two = classify(*DIGITS, "--task", "zero-one")
        self.assertEqual((two["classes"], two["train"], two["left_out"]), (2, 1200, 5600))
        self.assertEqual(classify(*DIGITS, "--classes", "0:zero 1:one")["errors"], two["errors"])
        path = self.file("t.csv", "".join(f"{i % 7},{i % 3},{(9, 10, 2)[i % 3]}\n" for i in range(90)))
        self.assertIn("p_2,p_9,p_10,", good("classify", "--train", path, "--out", "/dev/stdout"))  # numbers in their order
        self.assertEqual(classify(*DIGITS, "--classes", "0,2,4:even 1,3,5:odd 9:nine")["classes"], 3)

    def test_same_seed_same_result_whatever_the_threads(self):
        for method in ("--pilot", 60), ("--method", "paper", "--particles", 100):
            outputs = []
            for threads in 1, 2, 5:
                path = self.folder / f"out{threads}.csv"
                good("classify", "--data", "synthetic", "--limit", 60, "--task", "even-odd", *method, "--threads", threads, "--out", path)
                outputs.append(path.read_text())
            self.assertEqual(outputs[0], outputs[1])
            self.assertEqual(outputs[0], outputs[2])

    def test_seed_matters_for_the_paper_method(self):
        outputs = set()
        for seed in 1, 2:
            path = self.folder / f"{seed}.csv"
            good("classify", "--data", "synthetic", "--limit", 20, "--task", "even-odd", "--method", "paper", "--particles", 100, "--seed", seed, "--out", path)
            outputs.add(path.read_text())
        self.assertEqual(len(outputs), 2)

    def test_stop_rules(self):
        self.assertEqual(classify(*DIGITS, "--budget", 3, "--stop", 0)["mean_queries"], 3)
        self.assertLess(classify(*DIGITS, "--stop", 0.2)["mean_queries"], classify(*DIGITS, "--stop", 0.001)["mean_queries"])
        self.assertLessEqual(classify(*DIGITS, "--max-cost", 2.5)["mean_cost"], 2.5)

    def test_split(self):
        got = classify("--data", "synthetic", "--task", "zero-one", "--split", "6:1", "--shuffles", 3, "--pilot", 50)
        self.assertEqual((got["train"], got["objects"], got["shuffles"]), (1200, 600, 3))

    def test_gain_by_name(self):
        for gain in "variance", "mutual", "ratio":
            self.assertLess(classify(*DIGITS, "--limit", 60, "--pilot", 0, "--task", "even-odd", "--gain", gain)["error"], 0.15)

    def test_neighbours(self):
        got = classify(*DIGITS, "--knn", "1,5")["knn"]
        self.assertEqual([(n["k"], n["features"]) for n in got], [(1, 784), (5, 784)])
        self.assertTrue(all(n["error"] < 0.05 for n in got))
        (few,) = classify(*DIGITS, "--knn", 1, "--knn-features", 3)["knn"]
        self.assertEqual(few["features"], 3)
        self.assertGreater(few["error"], got[0]["error"] + 0.1)


class Output(Test):
    def test_a_row_per_object(self):
        path = self.folder / "out.csv"
        got = classify(*DIGITS, "--task", "even-odd", "--out", path)
        rows = (read_csv(path))
        self.assertEqual(len(rows), got["objects"])
        self.assertEqual(list(rows[0]), ["object", "label", "decided", "p_even", "p_odd", "queries", "asked"])
        self.assertEqual(sum(r["label"] != r["decided"] for r in rows), got["errors"])
        self.assertAlmostEqual(sum(int(r["queries"]) for r in rows) / len(rows), got["mean_queries"])
        for r in rows:
            asked = r["asked"].split()
            self.assertEqual(len(asked), int(r["queries"]))
            self.assertEqual(len(set(asked)), len(asked), "a feature was asked twice")
            self.assertAlmostEqual(float(r["p_even"]) + float(r["p_odd"]), 1, places=5)
            self.assertEqual(float(r["p_even"]) > 0.5, r["decided"] == "even")

    def test_the_story_of_an_object(self):
        path, answers = self.folder / "story.svg", self.folder / "out.csv"
        some = ("--data", "synthetic", "--task", "even-odd", "--pilot", 100)
        good("classify", *some, "--explain", 7, "--plot", path)
        good("classify", *some, "--limit", 1000, "--out", answers)
        row = (read_csv(answers))[7]
        text = [t.text for t in xml.parse(path).iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn(f"decided: {row['decided']} (truth: {row['label']}) after {row['queries']} queries", text)
        self.assertIn(row["queries"], text)
        lines = [p.get("points").split() for p in xml.parse(path).iter("{http://www.w3.org/2000/svg}polyline")]
        self.assertEqual({len(points) for points in lines}, {int(row["queries"]) + 1})  # from before the first question on

    def test_the_story_of_a_row_has_its_numbers_and_texts(self):
        rows = [[1000.0 * (i % 2) + i, "red" if i % 2 else "blue", "ab"[i % 2]] for i in range(60)]
        train = self.folder / "train.csv"
        write_csv(train, rows, ["weight", "colour", "label"])
        mask = self.folder / "mask"
        for feature, says in (("weight", "1033"), ("colour", "red")):
            mask.write_text(feature + "\n")
            page = self.folder / f"{feature}.html"
            good("classify", "--train", train, "--test", train, "--mask", mask, "--explain", 33, "--plot", page)
            self.assertIn(f"<td>{feature}</td><td>{says}</td>", page.read_text())
            self.assertEqual(page.read_text().count("<svg"), 1)

    def test_long_names_in_pictures(self):
        """They are cut between characters, and categories have no variance to draw."""
        names, draw = ["体" * 40, "größer " * 20, "colour"], random.Random(3)
        rows = [[draw.gauss(i % 2, 1), draw.gauss(i % 2, 1), "rb"[i % 2] if draw.random() < 0.7 else "g", ("<gesünd & munter> " * 9, "krank")[i % 2]] for i in range(200)]
        train = write_csv(self.folder / "long.csv", rows, [*names, "label"])
        story, maps = self.folder / "story.svg", self.folder / "maps.svg"
        good("classify", "--train", train, "--stop", 0, "--explain", 1, "--plot", story)
        good("classify", "rank", "--train", train, "--plot", maps)
        for path in story, maps:
            text = [t.text for t in xml.parse(path).iter("{http://www.w3.org/2000/svg}text")]  # it is valid
            self.assertTrue(any("体…" in t for t in text), text)
            self.assertNotIn("nan", path.read_text())
        self.assertIn("category", text)

    def test_whole_numbers_are_shown_as_such(self):
        """Numbers from 0 to 16 become bytes; the picture has the numbers of the file."""
        draw = random.Random(12)
        rows = [[min(16, max(0, round(draw.gauss(8 + 5 * (i % 2), 3)))) for _ in range(6)] + ["ab"[i % 2]] for i in range(200)]
        train = write_csv(self.folder / "whole.csv", [[0] * 6 + ["a"], [16] * 6 + ["b"]] + rows, [*"uvwxyz", "label"])
        for i in range(10):
            good("classify", "--train", train, "--test", train, "--explain", i + 2, "--plot", self.folder / "w.html")
            for name, value in re.findall(r"<td>([u-z])</td><td>([^<]*)</td>", (self.folder / "w.html").read_text()):
                self.assertEqual(value, str(rows[i]["uvwxyz".index(name)]))

    def test_progress_is_for_terminals_only(self):
        self.assertEqual(run("classify", *DIGITS).stderr, "")


class Tables(Test):
    def setUp(self):
        super().setUp()
        names = [f"i{j}" if j < 8 else f"n{j}" for j in range(30)] + ["label"]
        self.train = write_csv(self.folder / "train.csv", table(2000, 1), names)
        self.test = write_csv(self.folder / "test.csv", table(500, 2), names)
        self.both = ("--train", self.train, "--test", self.test)

    def test_asks_the_informative_features(self):
        out = self.folder / "out.csv"
        got = classify(*self.both, "--knn", "5,15", "--out", out)
        self.assertEqual(got["scale"], "each")
        self.assertLess(got["mean_queries"], 10)
        self.assertLessEqual(got["error"], 1.1 * min(n["error"] for n in got["knn"]))
        asked = [name for row in read_csv(out) for name in row["asked"].split()]
        self.assertGreater(sum(name[0] == "i" for name in asked), 0.9 * len(asked))

    def test_an_outlier_changes_little(self):
        rows = table(2000, 1)
        for j in range(30):
            rows[j][j] = 1e12
        wild = write_csv(self.folder / "wild.csv", rows)
        plain, got = classify(*self.both), classify("--train", wild, "--test", write_csv(self.folder / "t.csv", table(500, 2)))
        self.assertLess(abs(got["error"] - plain["error"]), 0.02)

    def test_costs(self):
        cheap = classify(*self.both)
        prices = self.file("prices.csv", "".join(f"i{j},10\n" for j in range(4)))
        got = classify(*self.both, "--cost", prices, "--budget", 3)
        self.assertLess(got["mean_cost"], 10)  # cheap informative features come first
        dear = classify(*self.both, "--cost", prices)
        self.assertGreater(dear["mean_cost"], cheap["mean_cost"])

    def test_a_mask(self):
        mask, out = self.file("mask", "i0\nn9\n3\n"), self.folder / "out.csv"
        good("classify", *self.both, "--mask", mask, "--out", out)
        asked = {name for row in read_csv(out) for name in row["asked"].split()}
        self.assertTrue(asked and asked <= {"i0", "n9", "i3"}, asked)

    def test_what_is_missing_is_not_asked(self):
        rows = table(500, 2)
        for row in rows:
            row[0] = row[1] = ""
        out = self.folder / "out.csv"
        good("classify", "--train", self.train, "--test", write_csv(self.folder / "gaps.csv", rows), "--out", out)
        asked = {name for row in read_csv(out) for name in row["asked"].split()}
        self.assertTrue("i2" in asked and not asked & {"i0", "i1"}, asked)

    def test_every_form_is_the_same_table(self):
        rows, tested = table(300, 3), table(100, 4)
        first = [row[-1:] + row[:-1] for row in rows]
        want = classify("--train", write_csv(self.folder / "a.csv", rows), "--test", write_csv(self.folder / "b.csv", tested))

        def array(name, rows, columns):
            return self.file(name, idx([v for row in rows for v in columns(row)], len(rows), len(columns(rows[0])), code=14, form="d"))

        def whole(row):
            return row[:-1] + ["ab".index(row[-1])]

        labels = [self.file(f"{n}.idx", idx([whole(r)[-1] for r in part], len(part), code=12, form="i")) for n, part in enumerate((rows, tested))]
        forms = {
            "a header and semicolons": ("--train", self.file("s.csv", "\n".join([";".join(f"f{j}" for j in range(30)) + ";class"] + [";".join(map(str, r)) for r in rows])),
                                        "--test", self.folder / "b.csv"),
            "the label first": ("--train", write_csv(self.folder / "f.csv", first), "--test", write_csv(self.folder / "g.csv", [r[-1:] + r[:-1] for r in tested])),
            "the label by number": ("--train", self.folder / "a.csv", "--test", self.folder / "b.csv", "--label", 30),
            "IDX with a label column": ("--train", array("w.idx", rows, whole), "--test", array("v.idx", tested, whole)),
            "IDX of doubles": ("--train", array("d.idx", rows, lambda r: r[:-1]), "--train-labels", labels[0],
                               "--test", array("t.idx", tested, lambda r: r[:-1]), "--test-labels", labels[1]),
        }
        for form, arguments in forms.items():
            with self.subTest(form):
                got = classify(*arguments)
                for key in "train", "objects", "errors", "mean_queries":
                    self.assertEqual(got[key], want[key])

    def test_images_share_a_scale(self):
        draw = random.Random(1)
        pixels, labels = [], []
        for i in range(400):
            labels.append(i % 2)
            pixels += [min(255, int(abs(draw.gauss(40, 30)) + (120 if (j < 8) == (i % 2) else 0))) for j in range(16)]
        self.file("train-images-idx3-ubyte", idx(pixels, 400, 4, 4))
        self.file("train-labels-idx1-ubyte", idx(labels, 400))
        self.file("t10k-images.idx3-ubyte", idx(pixels[:1600], 100, 4, 4))
        self.file("t10k-labels.idx1-ubyte", idx(labels[:100], 100))
        got = classify("--data", self.folder)
        self.assertEqual((got["scale"], got["objects"], got["features"]), ("shared", 100, 16))
        self.assertLess(got["error"], 0.05)


def wine(count, seed):
    """Rows with a name column, an informative category, informative numbers, and missing values."""
    draw, rows = random.Random(seed), []
    for i in range(count):
        kind = draw.choice("xyz")
        colour = {"x": "red", "y": "white", "z": "rose"}[kind] if draw.random() < 0.8 else draw.choice(["red", "white", "rose"])
        acid = draw.gauss({"x": 1, "y": 2, "z": 3}[kind], 0.4)
        rows.append([f"bottle {i}", colour, "NA" if draw.random() < 0.1 else f"{acid:.3f}", f"{draw.random():.3f}", kind])
    return rows


WINE = ["name", "colour", "acid", "noise", "kind"]


class AsPeopleHaveThem(Test):
    def setUp(self):
        super().setUp()
        self.rows, self.tested = wine(400, 1), wine(200, 2)
        self.train = write_csv(self.folder / "train.csv", self.rows, WINE)
        self.test = write_csv(self.folder / "test.csv", self.tested, WINE)
        self.how = ("--label", "kind", "--drop", "name")

    def reordered(self, name, columns, rows=None):
        return write_csv(self.folder / name, [[r[WINE.index(c)] if c in WINE else "?" for c in columns] for r in rows or self.tested], columns)

    def test_columns_are_found_by_name(self):
        want = classify("--train", self.train, "--test", self.test, *self.how)
        self.assertLess(want["error"], 0.15)
        for columns in (["noise", "kind", "acid", "colour", "name"], ["extra", "acid", "colour", "kind", "noise"]):
            got = classify("--train", self.train, "--test", self.reordered("other.csv", columns), *self.how)
            self.assertEqual((got["errors"], got["mean_queries"]), (want["errors"], want["mean_queries"]))
        lacking = self.reordered("lacking.csv", ["colour", "noise", "kind"])
        self.refused("classify", "--train", self.train, "--test", lacking, *self.how, says="has no column 'acid'")

    def test_categories_have_no_order(self):
        draw = random.Random(3)
        rows = [[f"v{(v := draw.randrange(28)):02}", draw.gauss(0, 1), "ab"[v % 2]] for _ in range(600)]
        got = classify("--train", write_csv(self.folder / "codes.csv", rows, ["code", "noise", "label"]), "--split", "2:1")
        self.assertLess(got["error"], 0.02)
        self.assertLess(got["mean_queries"], 1.5)

    def test_a_weak_feature_is_asked(self):
        draw = random.Random(4)
        rows = [[draw.gauss(i % 2, 1), "ab"[i % 2]] for i in range(300)]
        got = classify("--train", write_csv(self.folder / "weak.csv", rows, ["x", "label"]), "--split", "1:1")
        self.assertEqual(got["mean_queries"], 1)
        self.assertLess(got["error"], 0.42)

    def test_classes_with_equal_means(self):
        """Two rings, and the sign of a product: no single feature is informative, and wide neighbourhoods see nothing."""
        draw, rings, signs = random.Random(6), [], []
        for i in range(600):
            angle, radius, x, y = draw.random() * math.tau, draw.gauss(0.6 + 0.4 * (i % 2), 0.08), draw.gauss(0, 1), draw.gauss(0, 1)
            rings.append([radius * math.cos(angle), radius * math.sin(angle), "ab"[i % 2]])
            signs.append([x, y, "ab"[x * y > 0]])
        for name, rows in ("rings", rings), ("signs", signs):
            got = classify("--train", write_csv(self.folder / f"{name}.csv", rows, ["x", "y", "label"]), "--split", "2:1")
            self.assertLess(got["error"], 0.1, name)

    def test_noise_in_many_columns_is_not_believed(self):
        """Of 1,000 columns, some separate all of the about 40 rows by chance."""
        draw = random.Random(8)
        rows = [[f"{draw.gauss(0, 1):.4f}" for _ in range(1000)] + ["ab"[i % 2]] for i in range(60)]
        wide = write_csv(self.folder / "wide.csv", rows, [f"f{j}" for j in range(1000)] + ["label"])
        self.assertGreater(classify("--train", wide, "--split", "2:1")["stated_error"], 0.3)

    def test_a_small_class_is_not_drowned(self):
        draw = random.Random(5)
        rows = [[draw.gauss(2.2 * (i % 33 == 0), 1) for _ in range(4)] + ["well" if i % 33 else "ill"] for i in range(6000)]
        train, test = (write_csv(self.folder / f"{n}.csv", part, [*"wxyz", "label"]) for n, part in (("most", rows[:4000]), ("rest", rows[4000:])))
        out = self.folder / "out.csv"
        for more, recall in ((), 0.5), (("--class-cost", "ill=30"), 0.9):
            good("classify", "--train", train, "--test", test, *more, "--out", out)
            ill = [r["label"] == "ill" for r in read_csv(out)]
            decided = [r["decided"] == "ill" for r in read_csv(out)]
            self.assertGreater(sum(a and b for a, b in zip(ill, decided)) / sum(ill), recall)
            self.assertLess(sum(b and not a for a, b in zip(ill, decided)) / ill.count(False), 0.03)

    def test_labels_need_not_be_known(self):
        out = self.folder / "out.csv"
        got = classify("--train", self.train, "--test", self.reordered("none.csv", ["noise", "acid", "colour"]), *self.how, "--out", out)
        self.assertEqual((got["labelled"], got["error"], got["objects"]), (0, None, 200))
        self.assertTrue(0 < got["stated_error"] < 0.2)
        decided = [r["decided"] for r in read_csv(out)]
        self.assertGreater(sum(d == r[-1] for d, r in zip(decided, self.tested)), 170)

    def test_an_id_is_refused_by_name_and_dropped(self):
        self.refused("classify", "--train", self.train, "--label", "kind", says="--drop leaves it out")
        self.refused("classify", "--train", self.train, "--label", "kind", says="column 'name': more than 256")
        self.refused("classify", "--train", self.train, *self.how, "--drop", "nobody", says="has no column 'nobody'")

    def test_warnings(self):
        numbered = write_csv(self.folder / "n.csv", [[i, *r[1:], {"x": 7, "y": 8, "z": 9}[r[-1]]] for i, r in enumerate(self.rows)],
                             ["number", "colour", "acid", "noise", "kind", "code"])
        done = run("classify", "--train", numbered, "--label", "kind", "--json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("column 'number' counts the rows", done.stderr)
        self.assertIn("column 'code' tells the label", done.stderr)
        self.assertEqual(run("classify", "--train", numbered, "--label", "kind", "--drop", "number", "--drop", "code").stderr, "")

    def written(self, name, separator=",", decimal=".", mark="", header=WINE, rows=None):
        """The training table as other programs write it."""
        rows = [[re.sub(r"^(\d+)[.](\d+)$", rf"\1{decimal}\2", str(v)) for v in r] for r in rows or self.rows]
        path = self.folder / name
        path.write_text(mark + "\n".join(separator.join(map(str, r)) for r in ([header] if header else []) + rows) + "\n")
        return path

    def test_what_spreadsheets_write(self):
        """A byte order mark, semicolons, and commas in numbers."""
        want = classify("--train", self.train, "--test", self.test, *self.how)
        for n, form in enumerate(({"mark": "\ufeff"}, {"separator": ";"}, {"separator": ";", "decimal": ","}, {"mark": "\ufeff", "separator": "\t"})):
            got = classify("--train", self.written(f"{n}.csv", **form), "--test", self.test, *self.how)
            self.assertEqual((got["errors"], got["mean_queries"]), (want["errors"], want["mean_queries"]), form)
        self.assertEqual(*(classify("--train", self.train, *self.how, "--cost", self.file("p.csv", text))["mean_cost"] for text in ("feature;cost\ncolour;3\n", "colour,3\n")))

    def test_headers(self):
        """A header is known by what it says: several texts that no row repeats, or the columns counted from 0."""
        rows = [r[1:] for r in self.rows]
        for header, last in ((None, None), (["0", "1", "2", "label"], None), (["", "0", "1", "label"], None), (WINE[1:], None), (["0", "1", "2", "3"], "0")):
            codes = [[*r[:-1], "xyz".index(r[-1])] for r in rows] if last else rows
            got = classify("--train", self.written("h.csv", header=header, rows=codes))
            self.assertEqual((got["train"] + got["objects"], got["classes"]), (len(rows), 3), header)

    def test_columns_of_one_name_are_told_apart(self):
        twins = self.written("twins.csv", header=["name", "x", "x", "x", "kind"])
        good("classify", "fit", twins, "--drop", "name", "-o", self.folder / "twins.rfc")
        out = good("classify", "predict", self.folder / "twins.rfc", twins)
        self.assertTrue({n for r in csv.DictReader(io.StringIO(out)) for n in r["asked"].split()} <= {"x", "x.1", "x.2"})

    def test_quantities_as_spreadsheets_show_them(self):
        """A currency, a percent sign, digits in groups; between semicolons also with a point between groups."""
        rows = [[f"{(number := 1234.5 * (i % 4) - 800 * (i % 3)):.2f}", f"{i % 7}.{i:03}", "ab"[i % 4 > 1]] for i in range(300)]
        want = classify("--train", self.written("plain.csv", header=["price", "share", "label"], rows=rows), "--split", "2:1")
        shown = lambda x: f'"{x:,.2f} €"' if x < 0 else f'"$ {x:,.2f}"'
        german = lambda x: f"{x:,.2f}".translate(str.maketrans(",.", ".,"))
        for separator, how in (",", shown), (";", german):
            written = [[how(float(r[0])), r[1] + "%", r[2]] for r in rows]
            got = classify("--train", self.written("shown.csv", separator, header=["price", "share", "label"], rows=written), "--split", "2:1")
            self.assertEqual((got["errors"], got["mean_queries"]), (want["errors"], want["mean_queries"]))
        for text in "1,23", "1234,567", "$", "%", "12%%", "1,234,5", "1.2.3", "$abc":  # no numbers: columns of texts
            self.assertIn("is not a number", run("classify", "--train", "-", input="".join(f'"{x}",{"ab"[i % 2]}\n' for i, x in enumerate(["1"] * 30 + [text]))).stderr, text)

    def test_latin_1(self):
        """Text that is not UTF-8 is Latin-1: what is asked is valid JSON and can be answered."""
        text = "Größe,Süß,label\n" + "".join(f"{i % 7},{i % 2},{('gesünd', 'krank')[i % 2]}\n" for i in range(80))
        good("classify", "fit", self.file("l.csv", text.encode("latin-1")), "--out", self.folder / "m.rfc")
        good("classify", "predict", self.folder / "m.rfc", self.file("u.csv", text))
        done = run("classify", "ask", self.folder / "m.rfc", input='{"id": 1}\n{"id": 1, "feature": "Süß", "value": 0}\n')
        asked, told = map(json.loads, done.stdout.splitlines())
        self.assertEqual((asked["ask"], told["decided"]), ("Süß", "gesünd"))

    def test_columns_named_by_numbers(self):
        """A spectrum has wavelengths as names. Objects need no label, and still have a header."""
        draw = random.Random(2)
        rows = [[f"{draw.gauss(i % 2, 0.3):.3f}" for _ in range(4)] + [["a", "b"][i % 2]] for i in range(90)]
        for header, codes in (["400", "410", "420.5", "430", "label"], "ab"), (["400", "410", "420.5", "430", "species"], "12"):
            train = self.written("spectra.csv", header=header, rows=[[*r[:4], codes["ab".index(r[4])]] for r in rows])
            good("classify", "fit", train, "--out", self.folder / "m.rfc")
            objects = self.written("objects.csv", header=["430", "420.5", "410", "400"], rows=[r[3::-1] for r in rows])
            got = list(csv.DictReader(io.StringIO(good("classify", "predict", self.folder / "m.rfc", objects))))
            self.assertEqual(len(got), 90)
            self.assertGreater(sum(g["decided"] == codes["ab".index(r[4])] for g, r in zip(got, rows)), 80)

    def test_a_long_name_of_labels(self):
        long = "how satisfied are you with " + 200 * "x"
        train = self.written("long.csv", header=["name", *WINE[1:4], long])
        good("classify", "fit", train, "--label", long, "--drop", "name", "--out", self.folder / "m.rfc")
        self.assertEqual(json.loads(good("classify", "predict", self.folder / "m.rfc", train, "--json"))["labelled"], 400)

    def test_the_content_says_what_a_file_is(self):
        """A table with a name that says nothing; and files that only Python reads."""
        want = classify("--train", self.train, *self.how)
        self.assertEqual(classify("--train", self.file("wine.dat", self.train.read_bytes()), *self.how)["errors"], want["errors"])
        good("classify", "fit", self.train, *self.how, "--out", self.folder / "m.rfc")
        for begins, says in (b"\x1f\x8b\x08\0", "is compressed: unpack it first"), (b"PK\3\4", "is a zip archive: unpack"), (b"\x93NUMPY", "is a NumPy array: use it in Python"):
            for name in "wine.csv", "wine.npz", "wine":
                path = self.file(name, begins + b"rest\n")
                self.refused("classify", "--train", path, *self.how, says=f"{name}: {says}")
                self.refused("classify", "--train", self.train, "--test", path, *self.how, says=says)
                self.refused("classify", "--train", self.train, *self.how, "--cost", path, says=says)
                self.refused("classify", "predict", self.folder / "m.rfc", path, says=says)

    def test_texts_that_were_not_learnt_are_missing(self):
        """They are not taken for the rarest text."""
        train = self.written("rare.csv", header=["colour", "noise", "label"], rows=[["red" if i % 2 else "blue", i % 5, "ab"[i % 2]] for i in range(200)] + [["rare", 1, "a"]] * 3)
        good("classify", "fit", train, "--out", self.folder / "m.rfc")
        done = run("classify", "predict", self.folder / "m.rfc", "-", input="colour,noise\nrare,1\nnever,1\n,1\n")
        rare, never, nothing = csv.DictReader(io.StringIO(done.stdout))
        self.assertEqual([never[k] for k in ("p_a", "p_b", "asked")], [nothing[k] for k in ("p_a", "p_b", "asked")])
        self.assertNotEqual(rare["p_a"], never["p_a"])

    def test_words_for_no_number(self):
        words = ["", "?", "NA", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "null", "None", "none", "-", "--", ".", "NaT"]
        rows = [[r[1], words[i % 16] if i % 2 else r[2], *r[3:]] for i, r in enumerate(self.rows)]
        empty = [[r[0], "" if i % 2 else r[1], *r[2:]] for i, r in enumerate(rows)]
        got = [classify("--train", self.written(f"w{n}.csv", header=WINE[1:], rows=part)) for n, part in enumerate((rows, empty))]
        self.assertEqual(*((g["errors"], g["stated_error"], g["mean_queries"]) for g in got))
        named = [["none" if i % 2 else "some", float(i % 2), "None" if i % 3 else "few"] for i in range(60)]  # a category, and a label
        self.assertEqual(classify("--train", self.written("none.csv", header=["a", "b", "label"], rows=named))["classes"], 2)

    def test_standard_input(self):
        want = classify("--train", self.train, "--test", self.test, *self.how)
        done = run("classify", "--train", self.train, "--test", "-", *self.how, "--json", input=self.test.read_text())
        self.assertEqual(json.loads(done.stdout)["errors"], want["errors"])

    def test_messages_say_standard_input(self):
        done = run("classify", "--train", "-", input="1,2,a\n3,x,b\n4,4,a\n")
        self.assertEqual((done.returncode, done.stderr), (2, "rejfilt: classify: standard input: line 2: column 1: 'x' is not a number\n"))

    def test_warns_of_ids_and_labels_that_are_numbers(self):
        rows = [[f"p{i // 2 if i < 4 else i}", *r[1:-1], i // 2] for i, r in enumerate(self.rows[:60])]
        done = run("classify", "fit", self.written("few.csv", header=["who", "colour", "acid", "noise", "label"], rows=rows), "-o", self.folder / "m.rfc")
        self.assertIn("column 'who' has 58 texts in 60 rows; is it an id?", done.stderr)
        self.assertRegex(done.stderr, r"\d+ classes for 60 rows; is --label the right column\?")

    def test_warns_of_copies(self):
        """Of numbers that are not alike by chance; a table of a few whole numbers has copies anyway."""
        draw = random.Random(1)
        for number, says in (lambda: draw.gauss(0, 1), True), (lambda: draw.randrange(4), False):
            rows = [[number(), number(), "ab"[i % 2]] for i in range(60)]
            done = run("classify", "fit", self.written("copies.csv", header=["a", "b", "label"], rows=[r for r in rows for _ in range(3)]), "-o", self.folder / "m.rfc")
            self.assertEqual("120 of 180 rows are copies of others" in done.stderr, says, done.stderr)

    def test_warns_of_shuffled_ids_and_of_texts_like_numbers(self):
        order = list(range(60, 120))
        random.Random(1).shuffle(order)
        rows = [[order[i], i % 50, f"2024-01-{i % 20 + 1:02}", r[2], r[4]] for i, r in enumerate(self.rows[:60])]
        done = run("classify", "fit", self.written("ids.csv", header=["id", "age", "day", "acid", "label"], rows=rows), "-o", self.folder / "m.rfc")
        self.assertEqual(done.stderr.count("\n"), 2, done.stderr)
        self.assertIn("column 'id' counts the rows", done.stderr)
        self.assertIn("column 'day' has texts like '2024-01-01'", done.stderr)

    def test_probabilities_of_objects_that_lack_features(self):
        """Stated errors are near real ones where questions end because features are missing, all of them at last; and live."""
        header, draw = [f"f{j}" for j in range(6)] + ["kind"], random.Random(5)
        rows = [[draw.gauss(0, 1) + (1.2 if c else 0) for _ in range(6)] + ["no" if c else "yes"] for c in (draw.random() < 0.7 for _ in range(2000))]
        good("classify", "fit", write_csv(self.folder / "whole.csv", rows[:1000], header), "--out", self.folder / "m.rfc")
        for missing in 0, 0.6, 0.9, 1:
            lacks = [["" if draw.random() < missing else x for x in row[:6]] + row[6:] for row in rows[1000:]]
            got = json.loads(good("classify", "predict", self.folder / "m.rfc", write_csv(self.folder / "lacks.csv", lacks, header), "--json"))
            self.assertLess(abs(got["stated_error"] - got["error"]), 4 * (got["error"] / 1000) ** 0.5, (missing, got["error"], got["stated_error"]))
        live = good("classify", "ask", self.folder / "m.rfc", input=json.dumps({"id": "a", "values": dict.fromkeys(header[:6])}) + "\n")
        self.assertEqual(json.loads(live)["decided"], "no")
        self.assertAlmostEqual(json.loads(live)["probability"], 0.7, delta=0.06)

    def test_priors_and_what_errors_cost(self):
        def recall(*more):
            out = self.folder / "out.csv"
            good("classify", "--train", self.train, "--test", self.test, *self.how, "--stop", 0.2, "--budget", 1, "--out", out, *more)
            rows = [r for r in read_csv(out) if r["label"] == "x"]
            return sum(r["decided"] == "x" for r in rows) / len(rows)
        plain = recall()
        self.assertGreater(recall("--class-cost", "x=30"), plain + 0.05)
        self.assertGreater(recall("--priors", "x=0.95"), plain + 0.05)
        quoted = self.file("quoted.csv", "a,label\n" + "".join(f'{i % 4},"{("very ill, yet", "well")[i % 2]}"\n' for i in range(90)))
        self.assertEqual(classify("--train", quoted, "--class-cost", "well=2, very ill, yet=30")["classes"], 2)
        for says, text in {"there is no class 'q'": "q=1", "is not CLASS=NUMBER": "x", "class 'x'": "x=-1"}.items():
            self.refused("classify", "--train", self.train, *self.how, "--class-cost", text, says=says)
        self.refused("classify", "--train", self.train, *self.how, "--priors", "x=0.7 y=0.7", says="must add up to 1")
        draw = random.Random(2)  # shares as in the training data change nothing
        rows = [[draw.gauss(i % 4 == 0, 1), draw.gauss(i % 4 == 0, 1), "yn"[i % 4 > 0]] for i in range(256)]
        path = self.file("rare.csv", "\n".join(f"{a},{b},{c}" for a, b, c in rows))
        without, shares = (classify("--train", path, "--test", path, *more) for more in ((), ("--priors", "y=0.25 n=0.75")))
        self.assertEqual((without["errors"], without["mean_queries"]), (shares["errors"], shares["mean_queries"]))

    def test_costs_with_a_header_groups_and_zero(self):
        prices = self.file("prices.csv", '"feature",cost,group\ncolour,4,look\nacid,4,look\nnoise,0\n')
        got = classify("--train", self.train, "--test", self.test, *self.how, "--cost", prices)
        self.assertLessEqual(got["mean_cost"], 4)
        self.assertLess(got["error"], 0.15)

    def test_goals(self):
        for goal, key, most in ("--error", "error", 0.25), ("--mean-questions", "mean_queries", 1.3):
            got = classify("--train", self.train, "--test", self.test, *self.how, goal, "25%" if goal == "--error" else most)
            self.assertTrue(got["reached"])
            self.assertLess(got[key], most + 0.12)
        self.assertFalse(classify("--train", self.train, "--test", self.test, *self.how, "--error", 0)["reached"])



class Models(Test):
    def setUp(self):
        super().setUp()
        self.train = write_csv(self.folder / "train.csv", wine(400, 1), WINE)
        self.model = self.folder / "m.rfc"
        good("classify", "fit", self.train, "-o", self.model, "--label", "kind", "--drop", "name")

    def test_predict_is_classify(self):
        test, out = write_csv(self.folder / "test.csv", wine(200, 2), WINE), self.folder / "out.csv"
        want = classify("--train", self.train, "--test", test, "--label", "kind", "--drop", "name", "--out", out)
        got = good("classify", "predict", self.model, test, "--label", "kind")
        self.assertEqual(got, out.read_text())
        summary = json.loads(good("classify", "predict", self.model, test, "--label", "kind", "--json"))
        for key in "errors", "mean_queries", "stated_error", "objects":
            self.assertEqual(summary[key], want[key])
        self.assertEqual(good("classify", "predict", self.model, test), got, "the model knows what its label was called")
        few = json.loads(good("classify", "predict", self.model, test, "--label", "kind", "--json", "--mean-questions", 1))
        self.assertLess(few["mean_queries"], want["mean_queries"])
        self.assertEqual(run("classify", "predict", self.model, "-", input="noise,acid,colour\n0.5,1.1,red\n").stdout.split("\n")[1].split(",")[:3], ["0", "", "x"])

    def test_a_dash_is_standard_output(self):
        rows = good("classify", "predict", self.model, self.train)
        self.assertEqual(run("classify", "predict", self.model, self.train, "--out", "-", cwd=self.folder).stdout, rows)
        self.refused("classify", "predict", self.model, self.train, "--out", "-", "--json", says="standard output")
        self.assertFalse((self.folder / "-").exists())

    def test_a_model_knows_its_task(self):
        rows = [[i % 4 + 0.1 * (i % 7), i % 4] for i in range(200)]
        path = write_csv(self.folder / "four.csv", rows, ["a", "label"])
        good("classify", "fit", path, "-o", self.model, "--classes", "0,1:low 2,3:high")
        got = json.loads(good("classify", "predict", self.model, path, "--json"))
        self.assertEqual((got["labelled"], got["objects"]), (200, 200))
        self.assertLess(got["error"], 0.1)

    def test_damaged_models_are_refused(self):
        whole = self.model.read_bytes()
        for says, content in {"is not a model": b"x" * 100, "truncated": whole[:-64], "checksum": whole[:200] + b"!" + whole[201:]}.items():
            self.refused("classify", "ask", self.file("bad.rfc", content), says=says)
        self.refused("classify", "ask", self.file("empty.rfc", b""), says="is not a model")
        self.refused("classify", "fit", self.train, says="--out")

    def test_the_same_bytes(self):
        """A model has nothing that was in memory before."""
        models = []
        texts = self.file("texts.csv", "\n".join(f"{i % 7 + i / 1000},{('red', 'blue', 'green')[i % 3]},{'xy'[i % 3 > 0]}" for i in range(90)))
        for fill in "7", "200":
            for data in "synthetic", texts:
                good("classify", "fit", data, "--pilot", 30, "--out", self.folder / fill, env={**os.environ, "MALLOC_PERTURB_": fill})
                models.append((self.folder / fill).read_bytes())
        self.assertTrue(models[:2] == models[2:])

    def test_only_files_are_replaced(self):
        pipe, link = self.folder / "pipe.rfc", self.folder / "link.rfc"
        os.mkfifo(pipe)
        self.refused("classify", "fit", self.train, "--out", pipe, says="not an ordinary file")
        self.assertTrue(pipe.is_fifo())
        link.symlink_to(self.model)
        self.model.write_bytes(b"")
        good("classify", "fit", self.train, "--out", link, "--label", "kind", "--drop", "name")
        self.assertTrue(link.is_symlink() and self.model.stat().st_size > 0)
        done = run("classify", "fit", self.train, "--out", self.folder / "none" / "m.rfc", "--label", "kind", "--drop", "name")
        self.assertEqual(done.returncode, 2)  # before any work
        self.assertIn("No such file or directory", done.stderr)

    def talk(self, *lines, more=()):
        done = run("classify", "ask", self.model, *more, input="".join((json.dumps(l) if not isinstance(l, str) else l) + "\n" for l in lines))
        return done, [json.loads(l) for l in done.stdout.splitlines()]

    def test_questions_of_several_objects(self):
        process = subprocess.Popen([COMMAND, "classify", "ask", str(self.model)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        value = {"colour": {"a": "red", "b": "rose"}, "acid": {"a": 1.0, "b": None}, "noise": {"a": 0.5, "b": 0.5}}
        waiting, done, asked = ["a", "b"], {}, {"a": [], "b": []}
        for id in waiting:
            process.stdin.write(json.dumps({"id": id}) + "\n")
        process.stdin.flush()
        while len(done) < 2:
            told = json.loads(process.stdout.readline())
            if "done" in told:
                done[told["id"]] = told
                continue
            self.assertTrue(told["cost"] == 1 and told["gain"] >= 0 and abs(sum(told["probabilities"].values()) - 1) < 1e-5)
            asked[told["id"]].append(told["ask"])
            process.stdin.write(json.dumps({"id": told["id"], "feature": told["ask"], "value": value[told["ask"]][told["id"]]}) + "\n")
            process.stdin.flush()
        process.stdin.close()
        self.assertEqual(process.wait(), 0)
        process.stdout.close()
        self.assertEqual((done["a"]["decided"], done["b"]["decided"]), ("x", "z"))
        self.assertTrue(all(len(set(names)) == len(names) for names in asked.values()))

    def test_bad_lines_change_nothing(self):
        done, lines = self.talk({"id": 1, "feature": "colour", "value": "red"}, "nonsense", {"feature": "acid"}, {"id": 1, "feature": "acid"}, {"id": 1, "feature": "acids", "value": 1},
                                {"id": 1, "feature": "colour", "value": "red"}, {"id": 1, "feature": "acid", "value": "sour"}, {"id": 1, "stop": True})
        self.assertEqual(done.returncode, 2)
        self.assertEqual(["error" in l for l in lines], [False, True, True, True, True, True, True, False])
        self.assertEqual((lines[-1]["questions"], lines[-1]["id"]), (1, "1"))

    def test_true_and_false(self):
        rows = [["True" if i % 2 else "False", i % 5, "ab"[i % 2]] for i in range(100)]
        good("classify", "fit", write_csv(self.folder / "t.csv", rows, ["wet", "noise", "label"]), "-o", self.model)
        _, lines = self.talk({"id": 1, "feature": "wet", "value": True}, {"id": 2, "feature": "wet", "value": False}, {"id": 3, "feature": "noise", "value": True})
        self.assertEqual([l.get("decided") for l in lines], ["b", "a", None])

    def test_corrections(self):
        """They take the place of the answers that they correct, also after a kill."""
        state = self.folder / "corrected.jsonl"
        done, lines = self.talk({"id": "a", "values": {"colour": "red", "noise": 0.1}}, {"id": "a", "correct": {"colour": "rose"}}, {"id": "a", "correct": {"acid": 1}},
                                {"id": "a", "correct": {"noise": None}, "feature": "acid", "value": 3.2}, {"id": "b", "correct": {"acid": 1}}, more=("--state", state))
        _, fresh = self.talk({"id": "a", "values": {"colour": "rose", "noise": 0.1}}, {"id": "b", "values": {"colour": "rose", "noise": None, "acid": 3.2}})
        self.assertEqual([l.get("error") for l in lines], [None, None, "this feature was not answered before", None, "this feature was not answered before"])
        self.assertEqual((lines[1], {**lines[3], "id": "b"}), (fresh[0], fresh[1]))
        again = self.talk(more=("--state", state))[1]
        self.assertEqual(again, [] if "done" in lines[3] else [lines[3]])

    def test_by_hand(self):
        """In a terminal: plain words. Errors ask again; the second object begins at once."""
        typed = "sour\nnoise=0.5\nunknown\nnoise=0.6\nshape=3\ncolour=white\nstop\n\n\n\n\n\4"
        output, code = terminal.in_terminal([COMMAND, "classify", "ask", str(self.model)], longest=LONGEST, typed=typed.encode())
        self.assertEqual(code, 0)
        text = output.decode().replace("\r", "")
        self.assertRegex(text, r"so far [xyz], \d+ %; cost 1, tells \d\.\d\d bit\n(acid|colour \(.*red.*\)|noise)\? ")
        self.assertEqual(len(re.findall(r"(?:no object that was learnt from has this text|this feature has numbers, not texts)", text)), 2)
        self.assertRegex(text, r"[xyz], \d+\.\d % \(told to stop, 1 question, cost 1\)\n\n")
        self.assertRegex(text, r"\(nothing left to ask, 0 questions, cost 0\)")

    def test_words_for_what_is_missing(self):
        _, lines = self.talk({"id": 1, "feature": "acid", "value": "NA"}, {"id": 1, "feature": "colour", "value": ""}, {"id": 2, "values": {"acid": "unknown"}})
        self.assertEqual([l.get("questions") for l in lines], [0, 0, 0])
        self.assertNotIn("acid", [l.get("ask") for l in lines])

    def test_a_model_that_changes_in_use(self):
        """Replaced, the old one goes on; overwritten, its answers would be of neither model."""
        other = good("classify", "fit", write_csv(self.folder / "other.csv", wine(300, 2), WINE), "-o", self.folder / "other.rfc", "--label", "kind", "--drop", "name") and (self.folder / "other.rfc").read_bytes()
        before = self.model.read_bytes()
        for change, says in ((lambda: os.replace(self.folder / "other.rfc", self.model), ""), (lambda: self.model.write_bytes(other), "was overwritten"), (lambda: self.model.write_bytes(b""), "was overwritten")):
            self.model.write_bytes(before)
            process = subprocess.Popen([COMMAND, "classify", "ask", str(self.model)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            process.stdin.write('{"id": 1}\n')
            process.stdin.flush()
            first = process.stdout.readline()
            change()
            out, error = process.communicate('{"id": 1}\n', timeout=LONGEST)
            self.assertEqual((process.returncode, out), (1, "") if says else (0, first))
            self.assertIn(says, error)
            self.assertLessEqual(error.count("\n"), 1)

    def test_why_it_ends(self):
        question = {"id": "a", "feature": "colour", "value": "white"}
        for more, why in ((("--budget", 1), "out of budget"), (("--max-cost", 1.5), "out of budget"), ((), None)):
            _, lines = self.talk(question, more=more)
            self.assertEqual(lines[0].get("done"), why, more)
        _, lines = self.talk({"id": "a", "values": {"colour": None, "acid": None, "noise": None}})
        self.assertEqual(lines[0]["done"], "nothing left to ask")

    def test_long_ids_are_refused_and_not_joined(self):
        done, lines = self.talk({"id": 300 * "x" + "1"}, {"id": 255 * "y"})
        self.assertEqual((done.returncode, lines[0]), (2, {"error": "an id has at most 255 bytes"}))
        self.assertEqual(lines[1]["id"], 255 * "y")

    def test_an_id_begins_again(self):
        """After its decision the same id is another object, also for who starts again."""
        state = self.folder / "again.jsonl"
        _, lines = self.talk({"id": "a", "values": {"colour": "red", "acid": 1.0, "noise": 0.5}}, {"id": "b", "stop": True}, {"id": "a"}, {"id": "a", "feature": "noise", "value": 0.1}, more=("--state", state))
        self.assertEqual(["done" in l for l in lines], [True, True, False, False])
        _, again = self.talk(more=("--state", state))
        self.assertEqual(again, lines[3:])
        kept = state.read_text().splitlines()
        ends = [i for i, l in enumerate(kept) if "done" in l]
        self.assertEqual(len(ends), 2)
        state.write_text("\n".join(kept[:ends[1]]) + "\n")  # killed before the decision of b was on its way
        self.assertEqual(self.talk(more=("--state", state))[1], lines[1:2])

    def test_killed_and_started_again(self):
        state = self.folder / "open.jsonl"
        first = [{"id": "a", "values": {"noise": 0.2}}, {"id": "b"}, {"id": "b", "feature": "noise", "value": None}]
        _, before = self.talk(*first, more=("--state", state))
        with open(state, "a") as file:
            file.write('{"id": "b", "feature": "col')  # cut off by the kill
        done, after = self.talk({"id": "a", "feature": "acid", "value": 3.1}, {"id": "a", "stop": True}, more=("--state", state))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({l["id"]: l for l in after[:2]}, {l["id"]: l for l in (before[0], before[2])})
        done, third = self.talk(more=("--state", state))
        self.assertEqual([l["id"] for l in third], ["b"])
        other = self.folder / "other.rfc"
        good("classify", "fit", self.train, "-o", other, "--label", "kind", "--drop", "name", "--pilot", 10)
        self.refused("classify", "ask", other, "--state", state, says="another model")


class Features(Test):
    def test_counts_at_the_papers_percentiles(self):
        got = json.loads(good("classify", "rank", *DIGITS, "--limit", 60, "--pilot", 40, "--task", "zero-one", "--json"))
        self.assertEqual([c["features"] for c in got["cuts"]], [784, 392, 196, 157, 78, 39, 20])
        self.assertTrue(all(c["error"] < 0.1 for c in got["cuts"]))  # of 30 objects
        asked = [r["asked"] for r in got["ranking"]]
        self.assertEqual(asked, sorted(asked, reverse=True))
        self.assertAlmostEqual(sum(asked) / got["objects"], got["mean_queries"])
        self.assertEqual(sum(a > 0 for a in asked), got["ever_asked"])

    def test_cuts_are_sorted_and_distinct(self):
        path = write_csv(self.folder / "t.csv", table(300, 1, 3, 5))
        got = json.loads(good("classify", "rank", "--train", path, "--cuts", "2,100%,50%,4,8,2", "--json"))
        self.assertEqual([c["features"] for c in got["cuts"]], [8, 4, 2, 1])

    def test_files(self):
        mask, ranking, picture = self.folder / "mask", self.folder / "ranking.csv", self.folder / "p.svg"
        good("classify", "rank", *DIGITS, "--task", "zero-one", "--pilot", 40, "--cuts", "10,50%", "--keep", 12, "--out", mask, "--csv", ranking, "--plot", picture)
        rows = (read_csv(ranking))
        self.assertEqual(len(rows), 784)
        self.assertEqual(mask.read_text().split(), [r["feature"] for r in rows[:12]])
        self.assertEqual((int(rows[0]["row"]) * 28 + int(rows[0]["column"])), int(rows[0]["feature"]))
        got = classify(*DIGITS, "--task", "zero-one", "--mask", mask)
        self.assertLess(got["error"], 0.05)
        self.assertLessEqual(got["mean_queries"], 12)
        cells = xml.parse(picture).findall("{http://www.w3.org/2000/svg}rect")
        self.assertGreater(len(cells), 2 * 784)

    def test_variances_are_in_the_datas_units(self):
        rows = [[i % 10 + 0.5, 100.0 * (i % 7), "ab"[i % 2]] for i in range(210)]
        train, ranking, page = (self.folder / name for name in ("train.csv", "ranking.csv", "page.html"))
        write_csv(train, rows, ["small", "large", "label"])
        good("classify", "rank", "--train", train, "--scale", "each", "--csv", ranking, "--plot", page, "--cuts", "1")
        variance = {r["feature"]: float(r["variance"]) for r in read_csv(ranking)}
        for j, name in enumerate(("small", "large")):
            self.assertAlmostEqual(variance[name] / statistics.pvariance(r[j] for r in rows), 1, delta=0.05)
        self.assertIn("<table>", page.read_text())

    def test_the_informative_ones_lead(self):
        path = write_csv(self.folder / "t.csv", table(1500, 5), [f"i{j}" if j < 8 else f"n{j}" for j in range(30)] + ["label"])
        got = json.loads(good("classify", "rank", "--train", path, "--cuts", "8", "--json"))
        self.assertEqual({r["feature"][0] for r in got["ranking"][:8]}, {"i"})

    def test_it_stops_as_classify_does(self):
        draw = random.Random(1)
        rows = [[draw.gauss(3 * (i % 2), 1), *(draw.gauss(i % 2, 1) for _ in range(5)), "ab"[i % 2]] for i in range(400)]
        got = json.loads(good("classify", "rank", "--train", write_csv(self.folder / "t.csv", rows), "--split", "1:1", "--cuts", "2", "--json"))
        self.assertLess(got["mean_queries"], 3)


class BadInput(Test):
    def images(self, images, labels):
        return "--train", self.file("images", images), "--train-labels", self.file("labels", labels)

    def test_idx(self):
        pixels, labels = idx(list(range(64)) * 4, 16, 4, 4), idx([0, 1] * 8, 16)
        cases = {
            "declares 256 bytes of numbers, but it has 249": (pixels[:-7], labels),
            "not an IDX file": (b"\x12\x34" + pixels[2:], labels),
            "ends within its header": (pixels[:9], labels),
            "declares 256 bytes of numbers, but it has 257": (pixels + b"x", labels),
            "15 labels": (pixels, idx([0, 1] * 7 + [0], 15)),
            "bytes of numbers, but it has 16": (idx([0] * 16, 4294967295, 65535, 65535), labels),
            "row 2, feature 1": (idx([1, 2, math.inf, 4] * 8, 16, 2, code=14, form="d"), labels),
            "one class only": (pixels, idx([3] * 16, 16)),
            "dimension 2 is 0": (idx([], 16, 0, 4), labels),
            "has 1 dimensions": (labels, labels),
        }
        for says, (a, b) in cases.items():
            self.refused("classify", *self.images(a, b), says=says)
        self.refused("classify", "fit", self.file("lone.idx", idx(list(range(64)) * 4, 16, 4, 4)), "-o", "m.rfc", says="has images and no labels")

    def test_csv(self):
        cases = {
            "line 2: column 0: 'inf'": "1,2,a\ninf,4,b\n5,6,a\n",
            "line 2: has 2 fields": "1,2,a\n3,b\n",
            "'x' is not a number": "1,2,a\n3,x,b\n",
            "one class only": "1,2,a\n3,4,a\n",
            "line 2: has no label": "1,2,a\n3,4,\n5,6,b\n",
            "is empty": "",
            "has no rows": "p,q,label\n",
            "has 1 columns between commas, semicolons or tabs": "1\n2\n",
            "more than 256 different texts": "".join(f"n{i},{i},{'ab'[i % 2]}\n" for i in range(300)),
            "too few for a split": "1,2,a\n3,4,b\n",
            "a zero byte": "1,2,a\n3,4\0,b\n",
            "a quote is not closed": "1,2,a\n3,\"4,b\n",
            "more than 256 distinct labels": "".join(f"{i},{i}.5,x{i}\n" for i in range(300)),
        }
        for says, text in cases.items():
            self.refused("classify", "--train", self.file("t.csv", text), says=says)

    def test_labels_and_tasks(self):
        train = self.file("train.csv", "1,2,0\n3,4,1\n" * 20)
        self.refused("classify", "--train", train, "--test", self.file("new.csv", "1,2,0\n3,4,7\n"), says="row 2: label '7' is not in the task")
        self.refused("classify", "--train", train, "--classes", "0:x 9:y", says="no row has the label '9'")
        self.refused("classify", "--train", self.file("w.csv", "1,2,0\n3,4,12\n" * 9), "--task", "even-odd", says="row 2: label '12' is not in the task")
        self.refused("classify", "--train", self.file("e.csv", "1,2,0\n3,4,2\n" * 9), "--task", "even-odd", says="class 'odd' is empty")
        self.refused("classify", "--train", train, "--classes", "0:x", says="1 class")
        self.refused("classify", "--train", train, "--classes", "0:x 0:y", says="in two classes")
        self.refused("classify", "--train", train, "--classes", "nonsense", says="LABEL")
        self.refused("classify", "--train", train, "--task", "cats", says="no task")
        self.refused("classify", "--train", train, "--test", self.file("wide.csv", "1,2,3,0\n"), says="has 4 features")
        self.refused("classify", "--train", train, "--label", "nobody", says="no column")

    def test_options(self):
        train = self.file("train.csv", "1,2,0\n3,4,1\n" * 20)
        for says, arguments in {
            "give --data or --train": (),
            "No such file": ("--train", self.folder / "nothing.csv"),
            "not an ordinary file": ("--train", self.folder),
            "has no file train-images": ("--data", self.folder),
            "not TRAIN:TEST": ("--train", train, "--split", "ten"),
            "cannot both be given": ("--train", train, "--task", "digits", "--classes", "0:a 1:b"),
            "there is no feature 'x'": ("--train", train, "--mask", self.file("mask", "x\n")),
            "names no feature": ("--train", train, "--mask", self.file("none", "# nothing\n")),
            "line 2": ("--train", train, "--cost", self.file("cost", "0,1\n1,free\n")),
            "there is no object": ("--train", train, "--explain", 1000),
            "does not end in .svg or .html": ("--train", train, "--explain", 0, "--plot", "a.png"),
            "cannot write": ("--train", train, "--out", self.folder / "no" / "where"),
            "there are only": ("--train", train, "--knn", 200),
            "is none of": ("--train", train, "--method", "magic"),
        }.items():
            self.refused("classify", *arguments, says=says)
        self.refused("classify", "rank", "--train", train, "--keep", 3, says="goes with --out")
        self.refused("classify", "rank", "--train", train, "--cuts", "x", says="cuts")


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        COMMAND = sys.argv.pop(1)
    unittest.main()
