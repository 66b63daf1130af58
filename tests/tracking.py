"""Shared by tests of `rejfilt track`. The command is the first argument, or named by the environment variable REJFILT."""
import csv, io, json, os, pathlib, re, select, struct, subprocess, sys, tempfile, time, unittest, zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = os.environ.get("REJFILT", str(ROOT / "build" / "rejfilt"))
if len(sys.argv) > 1 and os.path.isfile(sys.argv[1]):
    COMMAND = sys.argv.pop(1)
COMMAND = os.path.abspath(COMMAND)
NO_LEAK_CHECK = {"ASAN_OPTIONS": "detect_leaks=0"}  # a kill may hit the leak checker, which would then report an error
LONGEST = 60  # seconds for any one command, with room for sanitizers; a hang is a failure


def unsaid(complaint):
    """Messages but for the line that says how many records a resumed run knew."""
    return re.sub(r"^rejfilt: track: .*: \d+ known, \d+ new\n", "", complaint, flags=re.M)


def track(*arguments, given=None, code=0, says=""):
    """Standard output of `rejfilt track`, which must end with that exit code and that message."""
    given = given.encode() if isinstance(given, str) else given
    more = {"input": given} if given is not None else {"stdin": subprocess.DEVNULL}
    done = subprocess.run([COMMAND, "track", *arguments], capture_output=True, timeout=LONGEST, **more)
    complaint = unsaid(done.stderr.decode(errors="replace"))
    lines_wanted = 1 if says else 0
    if done.returncode != code or says not in complaint or complaint.count("\n") != lines_wanted:
        raise AssertionError(f"track {' '.join(arguments)}: exit {done.returncode}, not {code}; said {complaint!r}, not {says!r}")
    return done.stdout.decode()


def simulate(*arguments):
    return track("--simulate", "--json", *arguments)


def parse(text):
    return [json.loads(line) for line in text.splitlines()]


def records_of(lines):
    """The records from which lines of output were made."""
    return [{s["name"]: s["value"] for s in line["settings"]} | {"outcome": line["outcome"]} for line in lines]


def as_json(records):
    return "".join(json.dumps(r) + "\n" for r in records)


def as_csv(records, separator=","):
    text = io.StringIO()
    table = csv.DictWriter(text, records[0], delimiter=separator, lineterminator="\n")
    table.writeheader()
    table.writerows(records)
    return text.getvalue()


def x_of(line):
    return line["parameters"][0]


class Live:
    """A run connected by two pipes. Every line must come within LONGEST seconds."""

    def __init__(self, *arguments, command=None, environment=None):
        self.process = subprocess.Popen(command or [COMMAND, "track", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment)
        self.bytes = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def line(self, longest=LONGEST):
        until = time.monotonic() + longest
        while b"\n" not in self.bytes:
            if not select.select([self.process.stdout], [], [], max(until - time.monotonic(), 0))[0]:
                raise AssertionError("no line came: it waits for more input, or keeps its output to itself")
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                raise AssertionError(f"it ended: {self.process.stderr.read()!r}")
            self.bytes += part
        line, _, self.bytes = self.bytes.partition(b"\n")
        return json.loads(line)

    def say(self, answer):
        text = answer if isinstance(answer, str) else json.dumps(answer)
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, line):
        self.say(line.rstrip("\n"))
        return self.line()

    def wait_until(self, condition):
        until = time.monotonic() + LONGEST
        while not condition():
            if time.monotonic() > until:
                raise AssertionError("it never came to that")
            time.sleep(0.001)

    def end(self):
        """Exit code and messages after the end of the input."""
        output, complaint = self.process.communicate(timeout=LONGEST)
        self.rest = (self.bytes + output).decode()
        return self.process.returncode, complaint.decode()


def position(state):
    """The number of records learnt, from a checkpoint: behind the seal's 32 bytes, a mark and a fingerprint of 8 bytes each, the options
    with their length, and the number of lines."""
    contents = pathlib.Path(state).read_bytes()
    return struct.unpack_from("<Q", contents, 64 + struct.unpack_from("<Q", contents, 48)[0])[0]


def resealed(contents, version=None):
    """The bytes of a sealed file after a change, with the checksum that it needs."""
    head = bytearray(contents[:32])
    head[24:28] = bytes(4)
    if version is not None:
        head[8:12] = struct.pack("<I", version)
    head[24:28] = struct.pack("<I", zlib.crc32(bytes(head) + contents[32:]))
    return bytes(head) + contents[32:]


def memory(pid):
    """Private bytes of a living process, without pages of files."""
    (line,) = (line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("RssAnon:"))
    return int(line.split()[1]) * 1024


def is_sanitized():
    return b"__asan_init" in pathlib.Path(COMMAND).read_bytes()


def preloading(name, folder):
    """The environment in which tests/faults/NAME.c, compiled into the folder, replaces functions of libc."""
    if is_sanitized():
        raise unittest.SkipTest("sanitizers want to be preloaded first")
    shim = folder / f"{name}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, ROOT / f"tests/faults/{name}.c"], check=True)
    return {**os.environ, "LD_PRELOAD": str(shim)}


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)


class Run(Test):
    """A run of 60 records; each takes long enough to be interrupted."""
    options = ("--belief=gaussian", "--attempts=50000", "--seed=11")

    @classmethod
    def setUpClass(cls):
        cls.count = 60
        cls.data = simulate("--steps=60", *cls.options)
        cls.whole = track(*cls.options, given=cls.data)
