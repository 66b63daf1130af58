"""Names that are not ordinary files: python3 tests/test_files.py path/to/rejfilt [-v]. Every option of every command that names
a file gets a pipe, a directory, a socket and a device. None makes the command wait; a refused one is unchanged."""
import os, pathlib, re, shlex, signal, socket, subprocess, sys, tempfile, time, unittest

COMMAND = os.path.abspath(sys.argv.pop(1))
LONGEST = 60  # seconds for any one command, with room for sanitizers; a hang is a failure
KINDS = ("pipe", "directory", "socket", "device")
TABLE = "a,b,label\n" + "".join(f"{i % 7},{i % 5},{'xy'[i % 2]}\n" for i in range(60))
CLASSIFY = {"data": "ordinary", "train": "ordinary", "train-labels": "ordinary", "test": "ordinary", "test-labels": "ordinary", "cost": "ordinary",
         "mask": "ordinary", "out": "output", "plot": "picture"}
# kind of file of each such option; `every_option_is_here` checks that none is missing
OPTIONS = {"track": {"config": "ordinary", "data": "stream", "model": "model", "state": "state", "plot": "replaced"},
           "compare": {"data": "stream", "model": "model"},
           "models": {},
           "classify": CLASSIFY,
           "classify rank": {**CLASSIFY, "csv": "output"}}
RECORDS = "t,x_,outcome\n3,0.1,1\n2,0.2,0\n"


def run(*arguments, **more):
    return subprocess.run([COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LONGEST,
                          **{"stdin": subprocess.DEVNULL, **more})


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.table = self.folder / "table.csv"
        self.table.write_text(TABLE)

    def make(self, kind, name):
        path = self.folder / name
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "directory":
            path.mkdir()
        elif kind == "socket":
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(str(path))
        else:
            path.symlink_to("/dev/null")
        return path

    def call(self, command, option, path):
        """Arguments with which the command opens the option's file."""
        if command == "track":
            return ["track", *(["--simulate", "--steps=3"] if option == "plot" else []), f"--{option}={path}"]
        if command == "compare":
            return ["compare", *([] if option == "model" else ["--model=coin"]), "--model=precession", f"--{option}={path}"]
        first = {"data": [], "train": [], "train-labels": [f"--train={self.folder}/images"], "plot": [f"--train={self.table}", "--explain=0"] if
                 command == "classify" else [f"--train={self.table}"], "test-labels": [f"--train={self.table}", f"--test={self.folder}/images"]}
        return [*command.split(), *first.get(option, [f"--train={self.table}"]), f"--{option}={path}"]

    def refused(self, command, option, kind, says):
        ending = {"picture": ".svg", "replaced": ".html", "model": ".c"}.get(OPTIONS[command][option], "")
        path = self.make(kind, f"{command}-{option}-{kind}{ending}")
        before = path.lstat()
        with self.subTest(command=command, option=option, kind=kind):
            done = run(*self.call(command, option, path))
            self.assertIn(done.returncode, (1, 2), done)
            self.assertRegex(done.stderr, r"\Arejfilt: [^\n]+\n\Z")
            self.assertRegex(done.stderr, says)
            self.assertIn(str(path), done.stderr)
            self.assertEqual((path.lstat().st_mode, path.lstat().st_ino), (before.st_mode, before.st_ino))

    def options(self, *wanted):
        return [(command, option) for command, options in OPTIONS.items() for option, what in options.items() if what in wanted]

    def test_every_option_is_here(self):
        for command, options in OPTIONS.items():
            named = re.findall(r"^  --([a-z-]+) (?:\S*FILE\S*|DIR)$|^  --([a-z-]+) (?:\S*FILE\S*|DIR) ", run(*command.split(), "--help").stdout, re.M)
            self.assertEqual({a or b for a, b in named}, set(options), command)

    def test_ordinary_files(self):
        images = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4])
        (self.folder / "images").write_bytes(images)
        for command, option in self.options("ordinary"):
            for kind in KINDS:
                directory = kind == "directory" and option == "data"  # allowed: then its files are searched for
                self.refused(command, option, kind, "has no file train-images" if directory else "not an ordinary file")

    def test_files_of_a_directory(self):
        for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"):
            self.make("pipe", name)
        done = run("classify", f"--data={self.folder}")
        self.assertEqual((done.returncode, done.stderr), (2, f"rejfilt: classify: {self.folder}/train-images-idx3-ubyte: not an ordinary file\n"))

    def test_models_and_checkpoints(self):
        for command, option in self.options("model"):
            for kind in KINDS:
                self.refused(command, option, kind, "is a (special file|directory), not a C source file")
        for kind in KINDS:
            self.refused("track", "state", kind, "(not a|cannot read|is a directory)")

    # ---- Output ----

    def test_outputs(self):
        """A pipe with a reader and a device are fine; the command waits for nobody."""
        for command, option in self.options("output", "picture"):
            for kind in ("pipe", "directory", "socket"):
                self.refused(command, option, kind, {"directory": "is a directory; choose another name"}.get(kind, "cannot write .*: nobody reads"))
            path = self.make("device", f"{command}-{option}.svg")
            with self.subTest(command=command, option=option):
                self.assertEqual(run(*self.call(command, option, path)).returncode, 0)
                self.assertTrue(path.is_symlink())
        plain, piped = self.folder / "plain", self.folder / "piped"
        self.assertEqual(run("classify", f"--train={self.table}", f"--out={plain}").returncode, 0)
        done = subprocess.run(["bash", "-c", f"set -o pipefail; {COMMAND} classify --train {self.table} --out >(cat > {piped}; echo read) | tail -1"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LONGEST)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "read\n", ""))
        self.assertEqual(piped.read_text(), plain.read_text())
        self.assertIn("object,label,decided", run("classify", f"--train={self.table}", "--out=/dev/stdout").stdout)

    def test_pictures_replace_pictures_only(self):
        for kind in KINDS:
            self.refused("track", "plot", kind, "is (a directory|not an ordinary file); choose another name")

    # ---- Streams ----

    def test_streams(self):
        for command, option in self.options("stream"):
            for kind in ("directory", "socket"):
                self.refused(command, option, kind, "neither a file nor a pipe")
        self.assertIn("no outcomes", run("compare", "--model=coin", "--model=precession", "--data=/dev/null").stderr)
        self.assertEqual(run("track", "--data=/dev/null").returncode, 0)

    def test_records_from_pipes(self):
        (self.folder / "records").write_text(RECORDS)
        for command in ("track", "compare --model=coin --model=precession --passes=no"):
            wanted = run(*command.split(), f"--data={self.folder}/records")
            self.assertEqual(wanted.returncode, 0)
            substituted = subprocess.run(["bash", "-c", f"{COMMAND} {command} --data <(printf {shlex.quote(RECORDS)})"], stdout=subprocess.PIPE, text=True, timeout=LONGEST)
            self.assertEqual((substituted.returncode, substituted.stdout), (0, wanted.stdout))
            pipe = self.make("pipe", f"pipe-{command[:5]}")
            with subprocess.Popen(["sh", "-c", f"printf {shlex.quote(RECORDS)} > {pipe}"]) as writer:  # each end of a pipe waits for the other
                try:
                    named = run(*command.split(), f"--data={pipe}")
                finally:
                    writer.kill()
            self.assertEqual((named.returncode, named.stdout), (0, wanted.stdout))

    def test_interrupted_while_nobody_writes(self):
        for command in ("track", "compare --model=coin --model=precession"):
            pipe = self.make("pipe", f"pipe-{command[:5]}")
            with subprocess.Popen([COMMAND, *command.split(), f"--data={pipe}"], stdout=subprocess.PIPE) as reader:
                try:
                    self.wait_until_it_catches(signal.SIGINT, reader.pid)
                    reader.send_signal(signal.SIGINT)
                    reader.communicate(timeout=LONGEST)
                finally:
                    reader.kill()
            self.assertEqual(reader.returncode, 130)

    def wait_until_it_catches(self, number, pid):
        end = time.monotonic() + LONGEST
        caught = 0
        while not caught >> (number - 1) & 1:
            self.assertLess(time.monotonic(), end)
            caught = int(re.search(r"SigCgt:\s*(\S+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1], 16)


if __name__ == "__main__":
    unittest.main()
