#!/usr/bin/env python3
"""Drives an experiment through two pipes: rejfilt chooses each measurement, this program makes it.

    python3 examples/ask.py [path/to/rejfilt [OPTION...]]

Options go to `rejfilt track`. The qubit here is simulated: replace measure() by your instrument.
The protocol is in docs/tracking.md: one line of JSON with the question, one line with the answer, one line of
JSON with what is known then."""
import json, math, random, subprocess, sys

command = sys.argv[1:] or ["build/rejfilt"]
random.seed(3)
truth = random.uniform(0, math.pi / 2)  # the frequency to be found


def measure(t, reference):
    """One shot of the qubit: 1 with probability cos²((truth − reference) t / 2)."""
    return int(random.random() < math.cos((truth - reference) * t / 2) ** 2)


rejfilt = subprocess.Popen([command[0], "track", "--ask", "--drift", "0", *command[1:]],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
for number in range(60):
    question = json.loads(rejfilt.stdout.readline())  # {"ask": 0, "t": 2.1, "x_": 1.5, "anchor": false}
    t = round(question["t"], 2)  # this clock has steps of 0.01: the answer says what was used
    outcome = measure(t, question["x_"])
    print(json.dumps({"ask": question["ask"], "t": t, "outcome": outcome}), file=rejfilt.stdin)  # null instead of 0 or 1: no outcome
    known = json.loads(rejfilt.stdout.readline())
rejfilt.stdin.close()  # end of input ends the run
rejfilt.stdout.read()
x = known["parameters"][0]
print(f"{x['name']} = {x['mean']:.9f} +- {x['sd']:.1e}, truth {truth:.9f}, {known['health']}")
sys.exit(rejfilt.wait())
