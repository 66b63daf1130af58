"""Every full-size MNIST figure of docs/classify.md: python3 tools/mnist.py COMMAND DATA OUT [ROW...]

Runs the rows (all by default), each with its command, and writes OUT.json and OUT.md as it goes."""
import json, os, pathlib, subprocess, sys, tempfile, time

command, data, out, *wanted = sys.argv[1:]
given = ["classify", "--data", data, "--json"]
shuffled = [*given, "--split", "10:1", "--shuffles", "10"]
ks = ["--knn", "1,3,5,7,9,11"]
paper = [*given, "--task", "even-odd", "--method", "paper", "--restarts", "3", "--particles"]
ROWS = {
    "even-odd": ([*given, "--task", "even-odd", "--threads", "1", *ks], "<= 1.05 %, <= 25 queries; <= 10 s and less than kNN, one core; memory <= 2.5x"),
    "zero-one": ([*given, "--task", "zero-one", *ks], "<= 4 errors of 2,115"),
    "digits": ([*given, "--task", "digits", *ks], "below kNN, <= 60 queries"),
    "zero-one shuffled": ([*shuffled, "--task", "zero-one", *ks], "<= 0.12 %, <= 6 queries"),
    "even-odd shuffled": ([*shuffled, "--task", "even-odd", *ks], "<= 1.15 %, <= 22 queries, 25 % below kNN"),
    **{f"digits, {n} pixels": ([*given, "--task", "digits", "--budget", str(n)], f">= {least} % right") for n, least in ((5, 69), (10, 87.2), (15, 92.5), (20, 95), (30, 97))},
    **{f"digits, {n} % right": ([*given, "--task", "digits", "--error", f"{100 - n}%"], f"<= {most} pixels on average") for n, most in ((96, 13.5), (97, 15.5), (98, 23))},
    "features": (["classify", "rank", "--data", data, "--json", "--task", "zero-one", "--split", "10:1", "--method", "paper", "--restarts", "3"],
                 "784, 392, 196, 157, 78, 39, 20 features; accuracy > 99 % down to 39; the centre asked most"),
    "paper 1000": ([*paper, "1000"], "3.5 +- 0.5 %, about 236 queries"),
    "paper 3000": ([*paper, "3000"], "2.3 +- 0.4 %"),
    "paper 10000": ([*paper, "10000"], "about 1.6 %"),
}


def measure(arguments):
    """Runs the command. Returns its JSON object, with its peak memory in megabytes."""
    with tempfile.TemporaryFile("w+") as file:
        child = subprocess.Popen([command, *arguments], stdout=file)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{' '.join(arguments)}: exit {child.returncode}")
        file.seek(0)
        return {**json.load(file), "megabytes": usage.ru_maxrss / 1024}


def text(name, r):
    if name == "features":
        cuts = ", ".join(f"{c['features']}: {100 * c['error']:.2f} %" for c in r["cuts"])
        return f"error by features kept: {cuts}; asked most: {r['ranking'][0]['feature']}; {r['ever_asked']} ever asked"
    words = [f"{100 * r['error']:.3f} % ({r['errors']} of {r['objects']})", f"{r['mean_queries']:.2f} queries", f"{r['cpu_seconds']:.1f} s of processor time"]
    if r["knn"]:
        best = min(r["knn"], key=lambda n: n["error"])
        words.append(f"kNN {100 * best['error']:.3f} % (k = {best['k']}), {best['cpu_seconds']:.1f} s")
    if name == "even-odd":
        words.append(f"{r['megabytes']:.0f} MB, {r['megabytes'] * 2**20 / (r['train'] * r['features']):.2f} times the training bytes")
    return "; ".join(words)


results_file = pathlib.Path(out + ".json")
results = json.loads(results_file.read_text()) if wanted and results_file.exists() else {}
for name, (arguments, target) in ROWS.items():
    if wanted and name not in wanted:
        continue
    started = time.monotonic()
    results[name] = measure(arguments)
    results_file.write_text(json.dumps(results))
    print(f"{name}: {text(name, results[name])} [{time.monotonic() - started:.0f} s]", flush=True)
lines = ["| | target | measured | command |", "|---|---|---|---|"]
for name, (arguments, target) in ROWS.items():
    if name in results:
        shown = " ".join("DIR" if a == data else a for a in arguments)
        lines.append(f"| {name} | {target} | {text(name, results[name])} | `rejfilt {shown}` |")
pathlib.Path(out + ".md").write_text("\n".join(lines) + "\n")
