"""Long runs at full speed: python3 tests/faults/load.py BUILD [LINES] [UPDATES]

A stream of LINES (10⁷) records, simulated, through `rejfilt track`, beside a program that reads the same stream and does nothing
with it; and UPDATES (86,400,000: a day, a thousand a second) of one simulated run, in float and in double. Prints a table,
writes BUILD/load.json, and fails if memory grows, a line is missing or another one than it should be, the register drifts or
updates become slower. 0 leaves one of the two out."""
import json, os, pathlib, statistics, subprocess, sys, tempfile, threading, zlib

sys.argv, ARGUMENTS = sys.argv[:1], sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tracking import memory

BUILD = pathlib.Path(ARGUMENTS[0] if ARGUMENTS else "build").resolve()
LINES = int(ARGUMENTS[1]) if len(ARGUMENTS) > 1 else 10**7
UPDATES = int(ARGUMENTS[2]) if len(ARGUMENTS) > 2 else 86_400_000
FIRST = 100_000  # lines after which memory is looked at first
NOISE = 64 * 1024  # bytes that the kernel's counts of pages may be late by
SLOWER = 1.25  # CPUs that others use, too, are as uneven as this
FAILURES = []


def check(is_fine, what):
    if not is_fine:
        FAILURES.append(what)
        print(f"FAILED: {what}", flush=True)


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


class Sum:
    """Lines and checksum of bytes."""

    def __init__(self):
        self.lines = self.crc = 0

    def add(self, part):
        self.lines += part.count(b"\n")
        self.crc = zlib.crc32(part, self.crc)


class Consumer:
    """A command that the stream goes through, and what comes out of it."""

    def __init__(self, *command):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.out, self.first = Sum(), None
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        while part := self.process.stdout.read(1 << 20):
            self.out.add(part)

    def take(self, part, so_far):
        view = memoryview(part)
        while view:
            view = view[self.process.stdin.write(view):]
        self.last = memory(self.process.pid)
        if so_far <= FIRST or self.first is None:
            self.first = self.last

    def end(self):
        self.process.stdin.close()
        _, self.status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = self.status
        self.reader.join()
        self.seconds = used.ru_utime + used.ru_stime


def send(source, consumers):
    """Everything that comes from the source goes to all of them."""
    sent = Sum()
    while part := source.read(1 << 18):
        sent.add(part)
        for c in consumers:
            c.take(part, sent.lines)
        progress(f"{sent.lines} of {LINES} lines")
    progress("")
    for c in consumers:
        c.end()
    return sent


def measure_stream(form, programs):
    """Particle guesses are replayed to the bit (docs/tracking.md): what was simulated is also what track should print."""
    simulation = subprocess.Popen([BUILD / "rejfilt", "track", "--simulate", "--design=pgh", f"--steps={LINES}", f"--format={form}"], stdout=subprocess.PIPE)
    source = simulation.stdout
    if form == "csv":  # short lines: settings and outcome
        source = subprocess.Popen(["cut", "-d,", "-f8-10"], stdin=simulation.stdout, stdout=subprocess.PIPE).stdout
    consumers = {name: Consumer(*command) for name, command in programs.items()}
    sent = send(source, consumers.values())
    check(simulation.wait() == 0, f"the simulation ends with {simulation.returncode}")
    for name, c in consumers.items():
        check(c.status == 0, f"{name}: ends with {c.status}")
        check(c.out.lines == (1 if "parse" in name else sent.lines), f"{name}: {c.out.lines} lines for {sent.lines}")
        check(c.last - c.first <= NOISE, f"{name}: {c.first} bytes after {FIRST} lines, {c.last} after {LINES}")
        if name == "track":
            check(c.out.crc == sent.crc, "track: other lines than were simulated")
    return {name: {"lines_per_second": sent.lines / c.seconds, "bytes_first": c.first, "bytes_last": c.last} for name, c in consumers.items()}


def measure_streams():
    parse, track = BUILD / "tests/load_parse", [BUILD / "rejfilt", "track"]
    with tempfile.TemporaryDirectory() as folder:
        return measure_stream("json", {"parse JSON": [parse], "track": track}) | measure_stream(
            "csv", {"parse CSV": [parse], "track --format csv": [*track, "--format=csv"], "track --state, every 1000": [*track, "--format=csv", f"--state={folder}/run.state", "--state-every=1000"]})


def measure_day(precision):
    process = subprocess.Popen([BUILD / "tests/load_day", precision, str(UPDATES)], stdout=subprocess.PIPE, text=True)
    parts = []
    for line in process.stdout:
        parts.append(json.loads(line))
        progress(f"a day in {precision}: {parts[-1]['updates']} of {UPDATES} updates")
    progress("")
    check(process.wait() == 0 and len(parts) == 100, f"{precision}: ends with {process.returncode} after {len(parts)} parts")
    for of in ("log_evidence", "variance"):
        worst = max(parts, key=lambda p: abs(p[f"{of}_error"]) / p[f"{of}_bound"])
        check(abs(worst[f"{of}_error"]) <= worst[f"{of}_bound"], f"{precision}: after {worst['updates']} updates {of} is wrong by {worst[f'{of}_error']:.3g}, over {worst[f'{of}_bound']:.3g}")
    first, last = (statistics.median(p["ns_per_update"] for p in some) for some in (parts[:10], parts[-10:]))
    check(last <= SLOWER * first, f"{precision}: an update took {first:.0f} ns at first, {last:.0f} at last")
    check(parts[-1]["memory"] - parts[0]["memory"] <= NOISE and parts[-1]["heap"] == parts[0]["heap"], f"{precision}: memory grew from {parts[0]} to {parts[-1]}")
    return {**parts[-1], "ns_first": first, "ns_last": last, "memory_first": parts[0]["memory"], "heap_first": parts[0]["heap"]}


def print_streams(streams):
    print(f"{LINES} lines{'':28} lines/s of CPU   of parsing   KB after {FIRST} lines, at the end")
    for name, r in streams.items():
        parsing = r["lines_per_second"] if "parse" in name else parsing
        print(f"  {name:40} {r['lines_per_second']:>9.0f} {r['lines_per_second'] / parsing:>12.2f} {r['bytes_first'] // 1024:>15} {r['bytes_last'] // 1024:>20}")


def print_days(days):
    print(f"{UPDATES} updates{'':9} attempts   ln evidence       error     bound    variance      error     bound  ns/update, first, last   KB, first, last")
    for name, d in days.items():
        print(f"  {name:12} {d['attempts']:>16} {d['log_evidence']:>13.6g} {d['log_evidence_error']:>11.2g} {d['log_evidence_bound']:>9.2g} {d['variance']:>11.6g} {d['variance_error']:>10.2g}"
              f" {d['variance_bound']:>9.2g} {d['ns_first']:>16.0f} {d['ns_last']:>6.0f} {d['memory_first'] // 1024:>10} {d['memory'] // 1024:>6}")


streams = measure_streams() if LINES else {}
days = {precision: measure_day(precision) for precision in ("float", "double")} if UPDATES else {}
if streams:
    print_streams(streams)
if days:
    print_days(days)
(BUILD / "load.json").write_text(json.dumps({"lines": LINES, "streams": streams, "updates": UPDATES, "days": days, "failures": FAILURES}, indent=1) + "\n")
sys.exit(bool(FAILURES))
