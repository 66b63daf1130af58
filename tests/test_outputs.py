"""Nothing is lost where files are written: python3 tests/test_outputs.py path/to/rejfilt [-v]. The options that name files come from
the command's tables, so a new one is tried with all others."""
import itertools, os, pathlib, re, resource, subprocess, sys, tempfile, unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = os.path.abspath(sys.argv.pop(1))
LONGEST = 60  # seconds for any one command, with room for sanitizers
CLI = ROOT / "apps/cli"
INPUTS, OUTPUTS = ("INPUT", "INPUTS"), ("OUTPUT", "REPLACED", "STATE", "FOLDER")
TABLE = "first,second,label\n" + "".join(f"{i % 7},{i % 5},{'xy'[i % 7 + i % 5 > 4]}\n" for i in range(90))
RECORDS = "t,x_,outcome\n3,0.1,1\n2,0.2,0\n"
SOURCE_ENDINGS = {"plot": ".svg", "model": ".c"}
WORDS = {"state": ["state", "show"]}  # that start a command, if they are not its name
# how each command runs, with which of its options written in turn; `test_every_output_is_tried` holds it against the tables
RUNS = {"track": ("track", "records.csv"), "classify": ("classify", "--train=table.csv"), "classify rank": ("classify", "rank", "--train=table.csv"),
        "classify fit": ("classify", "fit", "table.csv"), "classify predict": ("classify", "predict", "m.rfc", "table.csv"), "classify ask": ("classify", "ask", "m.rfc")}


def tables():
    """{command: [(option, kind)]} of the options that name files."""
    found = {}
    for path in sorted(CLI.glob("*.c")):
        text = re.sub(r'#include "(\w+_options\.def)"', lambda m: (CLI / m[1]).read_text(), path.read_text())
        rows = {name: re.findall(r'\{"([^"]*)", "([^"]*)",(?:(?!\{").)*?\bCLI_([A-Z]\w+)', body, re.S)
                for name, body in re.findall(r"static (?:const )?cli_option (\w+)\[\] = \{(.*?)\n\};", text, re.S)}
        for command, body in re.findall(r'static const cli_usage \w+ = \{\s*"([^"]+)",(.*?)\n\};', text, re.S):
            table = next(name for name in rows if re.search(rf"\b{name},", body))
            found[command] = [(name, kind) for name, argument, kind in rows[table] if kind in INPUTS + OUTPUTS]
    return found


OPTIONS = tables()


def run(*arguments, **more):
    given = {} if "input" in more else {"stdin": subprocess.DEVNULL}
    return subprocess.run([COMMAND, *map(str, arguments)], stderr=subprocess.PIPE, timeout=LONGEST, text=True, **{**given, "stdout": subprocess.PIPE, **more})


def given(option, path):
    return [f"--{option}={path}"] if option else [path]


class Outputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.folder = pathlib.Path(folder.name)
        os.chdir(self.folder)

    def contents(self):
        return {p.name: (p.lstat().st_mode, p.lstat().st_ino, p.read_bytes() if p.is_file() else b"") for p in self.folder.iterdir()}

    def refused(self, *arguments, **more):
        before = self.contents()
        with self.subTest(arguments=arguments):
            done = run(*arguments, **more)
            self.assertEqual(self.contents(), before)
            self.assertIn(done.returncode, (1, 2), done)
            self.assertRegex(done.stderr, r"\Arejfilt: [^\n]*the same file[^\n]*\n\Z")
            self.assertFalse(done.stdout)

    def test_every_option_is_in_a_table(self):
        for command, options in OPTIONS.items():
            text = run(*command.split(), "--help").stdout
            named = set(re.findall(r"^  --([a-z-]+) (?:\S*FILE\S*|DIR)\b", text, re.M))
            self.assertEqual(named - {"model"} if command == "compare" else named, {name for name, _ in options if name}, command)  # compare writes nothing
        self.assertGreaterEqual(sum(kind in OUTPUTS for options in OPTIONS.values() for _, kind in options), 10)

    def names(self, a, b, there):
        """Pairs of names of one file, which is there or not."""
        first, second = (f"precious{SOURCE_ENDINGS.get(option, '')}" for option in (a, b))
        if there:
            pathlib.Path(first).write_text("[run]\n" if a == "config" else TABLE)  # which is read at once
        if first == second:
            yield from ((first, first), (f"./{first}", first), (self.folder / first, first), (f"folder/../{first}", first), (f"here/{first}", first))
        elif there:
            os.link(first, second)
            yield first, second
        if there:
            for link in (os.link, os.symlink):
                other = f"other{SOURCE_ENDINGS.get(b, '')}"
                link(first, other)
                yield first, other
                os.unlink(other)
        for name in {first, second} if there else ():
            os.unlink(name)

    def test_every_pair(self):
        """An input and an output, or two outputs, that are one file under any two names: refused before any work."""
        (self.folder / "folder").mkdir()
        (self.folder / "here").symlink_to(".")
        tried = 0
        for command, options in OPTIONS.items():
            for (a, _), (b, kind) in itertools.permutations(options, 2):
                if kind not in OUTPUTS:
                    continue
                for there in (True, False):
                    if "config" in (a, b) and not there:
                        continue
                    for one, other in self.names(a, b, there):
                        self.refused(*command.split(), *given(a, one), *given(b, other))
                        tried += 1
        self.assertGreater(tried, 200)

    def test_standard_streams(self):
        for command, options in OPTIONS.items():
            words = WORDS.get(command, command.split())
            for option, kind in options:
                name = f"precious{SOURCE_ENDINGS.get(option, '')}"
                pathlib.Path(name).write_text("[run]\n" if option == "config" else TABLE)
                with open(name) as file, open(name, "a") as end:
                    if kind in OUTPUTS:
                        self.refused(*words, *given(option, name), stdin=file)
                    if kind == "OUTPUT" and option != "plot":
                        self.refused(*words, *given(option, "/dev/stdin"), stdin=file)
                        self.refused(*words, *given(option, "/dev/stdout"), "--labels=precious" if command == "classify predict" else "--train=precious", stdout=end)
                    self.refused(*words, *given(option, name), stdout=end)
                os.unlink(name)

    def test_files_that_no_option_names(self):
        """Those of a folder, a model's headers, what lies beside a checkpoint, the JSON of an import."""
        (self.folder / "mnist").mkdir()
        image = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4])
        for part in ("train", "t10k"):
            (self.folder / "mnist" / f"{part}-images-idx3-ubyte").write_bytes(image)
            (self.folder / "mnist" / f"{part}-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 1]))
        for path in sorted((self.folder / "mnist").iterdir()):
            before = path.read_bytes()
            self.refused("classify", "--data=mnist", f"--out={path}")
            self.assertEqual(path.read_bytes(), before)
        pathlib.Path("m.c").write_text('#include "table.html"\n' + (ROOT / "examples/template.c").read_text())
        pathlib.Path("table.html").write_text("/* a header of the model */\n")
        self.refused("track", "--simulate", "--model=m.c", "--plot=table.html")
        for beside in ("s.lock", "s.history"):
            pathlib.Path(beside).write_text(RECORDS)
            self.refused("track", beside, "--state=s")
        pathlib.Path("p.json").write_text("{}")
        self.refused("state", "import", "p.json", "--state=p.json")

    def written(self):
        """(arguments, output, its name) of runs that succeed, for each option that is written."""
        pathlib.Path("table.csv").write_text(TABLE)
        pathlib.Path("records.csv").write_text(RECORDS)
        self.assertEqual(run("classify", "fit", "table.csv", "--out=m.rfc").returncode, 0)
        for command, arguments in RUNS.items():
            for option, kind in OPTIONS[command]:
                if kind in OUTPUTS:
                    name = f"{command.replace(' ', '-')}-{option}{SOURCE_ENDINGS.get(option, '')}"
                    more = ["--explain=0"] if (command, option) == ("classify", "plot") else []
                    yield [*arguments, *more, *given(option, name)], kind, name

    def test_every_output_is_tried(self):
        self.assertEqual(set(RUNS), {command for command, options in OPTIONS.items() if any(kind in OUTPUTS for _, kind in options)})

    def test_a_limit_on_the_size_of_files(self):
        """A line and the old file, not a signal and half of a new one; also for standard output."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4))

        for arguments, kind, name in self.written():
            if kind != "STATE":
                pathlib.Path(name).write_text("old")
            before = self.contents()
            with self.subTest(arguments=arguments):
                done = run(*arguments, preexec_fn=limit, input='{"id": "a"}\n')
                self.assertIn(done.returncode, (1, 2), done)
                self.assertRegex(done.stderr, r"\Arejfilt: [^\n]+\n\Z")
                after = self.contents()
                if kind == "STATE" and arguments[1] == "ask":
                    after.pop(name)  # it grows
                self.assertEqual(after, before)
        for arguments in (("track", "--help"), ("models",), ("track", "records.csv"), ("classify", "--train=table.csv")):
            with open("out", "w") as out:
                done = run(*arguments, preexec_fn=limit, stdout=out)
            self.assertEqual((done.returncode, done.stderr), (1, "rejfilt: could not write all output: File too large\n"), arguments)

    def test_what_stays(self):
        """A link, and the permissions of its target; the file itself when the run fails; nothing beside it."""
        for arguments, kind, name in self.written():
            target = pathlib.Path(f"target-{name}")
            again = run(*arguments, input='{"id": "a"}\n')
            self.assertEqual(again.returncode, 0, again)
            os.rename(name, target)
            whole, names = target.read_bytes(), set(os.listdir())
            target.chmod(0o640)
            os.symlink(target, name)
            if kind != "STATE":
                target.write_text("old")
            with self.subTest(arguments=arguments):
                self.assertEqual(run(*arguments, input="").returncode, 0)
                self.assertEqual((os.path.islink(name), target.stat().st_mode & 0o777, set(os.listdir())), (True, 0o640, names | {name}))
                if kind != "STATE":
                    self.assertEqual(len(target.read_bytes()), len(whole))
        pathlib.Path("keep").write_text("old")
        self.assertEqual(run("classify", "--train=table.csv", "--knn=100", "--out=keep").returncode, 2)
        self.assertEqual(pathlib.Path("keep").read_text(), "old")

    def test_no_other_code_writes_files(self):
        wrong = []
        for top in ("apps", "src", "include", "lab", "ports", "python/module", "python/rejfilt", "examples"):
            for path in sorted((ROOT / top).rglob("*")):
                name = str(path.relative_to(ROOT))
                if path.suffix not in (".c", ".h", ".py") or name in ("src/base/outputs.c", "src/base/lock.c", "ports/count.c") or (path.suffix == ".py" and top != "python/rejfilt"):
                    continue  # ports/count.c: a plugin of qemu
                pattern = r'\bfopen\([^;]*?"[^"]*[wa+][^"]*"\)|O_CREAT|O_TRUNC|\bcreat\(|\bmkstemp' if path.suffix != ".py" else r"(?<!\w)open\([^)]*[\"'][^\"')]*[wxa+][^\"')]*[\"']\)|write_text|write_bytes|os\.replace|savefig"
                wrong += [f"{name}: {found[0]}" for found in re.finditer(pattern, path.read_text())]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
