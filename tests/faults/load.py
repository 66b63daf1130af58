"""Long runs at full speed: python3 tests/faults/load.py BUILD [LINES] [UPDATES]

A stream of LINES (10⁷) records through `rejfilt track`, beside a program that reads the same stream and does nothing with it; and
UPDATES (86,400,000: a day, a thousand a second) of one simulated run, in float and in double. Prints a table, writes
BUILD/load.json, and fails if memory grows, a line is missing, the register drifts or updates become slower."""
import json, os, pathlib, statistics, subprocess, sys, tempfile

sys.argv, ARGUMENTS = sys.argv[:1], sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tracking import memory as memory_of, as_json, records_of

BUILD = pathlib.Path(ARGUMENTS[0] if ARGUMENTS else "build").resolve()
LINES = int(ARGUMENTS[1]) if len(ARGUMENTS) > 1 else 10**7
UPDATES = int(ARGUMENTS[2]) if len(ARGUMENTS) > 2 else 86_400_000
BLOCK = 100_000  # lines that are sent again and again
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


def stream(command, lines, block):
    """Sends that many lines through the command, whose output is counted. Its CPU seconds, the memory that is its own after
    the first block and before the end, and lines out."""
    counter = subprocess.Popen(["wc", "-l"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=counter.stdin, bufsize=0)
    counter.stdin.close()
    view, first = memoryview(block), None
    for sent in range(0, lines, BLOCK):
        rest = view
        while rest:
            rest = rest[process.stdin.write(rest):]
        memory = memory_of(process.pid)
        first = first or memory
        progress(f"{pathlib.Path(command[0]).name} {' '.join(command[1:])}: {sent + BLOCK} of {lines} lines")
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    check(status == 0, f"{command} ends with {status}")
    progress("")
    with counter:
        return {"cpu_seconds": used.ru_utime + used.ru_stime, "bytes_first": first, "bytes_last": memory, "lines_out": int(counter.stdout.read())}


def measure_streams():
    simulated = subprocess.run([BUILD / "rejfilt", "track", "--simulate", "--json", f"--steps={BLOCK}", "--on-lost=ignore"], check=True, capture_output=True, text=True).stdout
    block = as_json(records_of([json.loads(line) for line in simulated.splitlines()])).encode()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, command, header in (
            ("parse only", [BUILD / "tests/load_parse"], 1 - LINES),  # one line for all
            ("track", [BUILD / "rejfilt", "track"], 0),
            ("track --format csv", [BUILD / "rejfilt", "track", "--format=csv"], 1),
            ("track --state, every 1000", [BUILD / "rejfilt", "track", f"--state={folder}/run.state", "--state-every=1000"], 0),
        ):
            used = stream([str(word) for word in command], LINES, block)
            check(used["lines_out"] == LINES + header, f"{name}: {used['lines_out']} lines for {LINES}")
            check(used["bytes_last"] - used["bytes_first"] <= NOISE, f"{name}: {used['bytes_first']} bytes after {BLOCK} lines, {used['bytes_last']} after {LINES}")
            results[name] = {**used, "lines_per_second": LINES / used["cpu_seconds"]}
    return results


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


def print_table(streams, days):
    print(f"{LINES} lines, against CPU time{'':19} lines/s   of parsing   KB at {BLOCK}, {LINES} lines")
    for name, r in streams.items():
        share = r["lines_per_second"] / streams["parse only"]["lines_per_second"]
        print(f"  {name:38} {r['lines_per_second']:>9.0f} {share:>12.2f} {r['bytes_first'] // 1024:>12} {r['bytes_last'] // 1024:>6}")
    print(f"\n{UPDATES} updates{'':9} attempts   ln evidence       error     bound    variance      error     bound  ns/update, first, last   KB, first, last")
    for name, d in days.items():
        print(f"  {name:12} {d['attempts']:>16} {d['log_evidence']:>13.6g} {d['log_evidence_error']:>11.2g} {d['log_evidence_bound']:>9.2g} {d['variance']:>11.6g} {d['variance_error']:>10.2g}"
              f" {d['variance_bound']:>9.2g} {d['ns_first']:>16.0f} {d['ns_last']:>6.0f} {d['memory_first'] // 1024:>10} {d['memory'] // 1024:>6}")


streams = measure_streams()
days = {precision: measure_day(precision) for precision in ("float", "double")}
print_table(streams, days)
(BUILD / "load.json").write_text(json.dumps({"streams": streams, "days": days, "failures": FAILURES}, indent=1) + "\n")
sys.exit(bool(FAILURES))
