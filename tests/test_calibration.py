"""A small calibration passes; it fails if coverage differs from known.json; bad input is refused."""
import json, os, pathlib, subprocess, sys, tempfile

program = sys.argv[1]
os.environ["REJFILT_MODEL_FLAGS"] = "-O0"  # lab models compile faster
experiment = pathlib.Path(__file__).parent.parent / "lab" / "calibration"


def run(*arguments):
    done = subprocess.run([program, "--sets", "400", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


with tempfile.TemporaryDirectory() as work:
    rows = f"{work}/rows.json"
    code, text = run("--sets", "200", "--model", "coin", "--model", "ramsey", "--model", "range", "--method", "reject", "--method", "default", "--json", rows)
    assert code == 0, text
    measured = {(r["model"], r["method"], r["length"], r["what"]): r for r in json.load(open(rows))}
    assert ("range", "exact, draws", 10, "likelihood") in measured and ("coin", "exact, grid", 200, "p") in measured, text
    assert all(sum(r["ranks"]) == r["sets"] == 200 for r in measured.values())

    subprocess.run([sys.executable, experiment / "document.py", rows, f"{work}/document"], check=True)
    assert "\n| ramsey | 200 | " in open(f"{work}/document.md").read()
    assert "<svg" in open(f"{work}/document.svg").read()

    # a lab model gets a quarter of the sets
    code, text = run("--sets", "80", "--model", "t1_counts", "--method", "default")
    assert code == 0 and "(80 data sets)" in text and text.count("t1_counts    default") == 3, text

    # a filter that covers less, or more, than known
    one = ("--model", "coin", "--method", "lattice", "--known", f"{work}/known.json")
    for wrong in (-0.15, 0.04, None):
        known = json.load(open(experiment / "known.json"))
        for r in known:
            if wrong is not None and (r["model"], r["method"], r["length"]) == ("coin", "lattice", 10):
                r["covered"][2] += int(wrong * r["sets"])
        json.dump(known, open(f"{work}/known.json", "w"))
        code, text = run(*one)
        assert (code, text.count("MISSED")) == ((0, 0) if wrong is None else (1, 1)), text

    json.dump([], open(f"{work}/known.json", "w"))  # without known values nothing is compared
    code, text = run(*one)
    assert code == 1 and text.count("NOT KNOWN") == 3, text
    for arguments in (["--model", "dice"], ["--known", f"{work}/nowhere.json", *one[:4]], ["--sets", "none"], ["--known", __file__, *one[:4]]):
        code, text = run(*arguments)
        assert code == 2 and text.count("\n") == 1 and not text.startswith("model"), (code, text)
