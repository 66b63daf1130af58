"""The worlds of docs/trust.md: (family, name, options of `rejfilt track`, percentage of the trials that exact filters see, too, percentage of the trials)."""

DRIFT = 0.026179938779914944  # π/120
THREE, THIRD, TENTH = 3 * DRIFT, DRIFT / 3, DRIFT / 10


def _worlds():
    yield "matched", "as believed", "--steps 300", 4, 2000
    oracles = {"0.5": 20, "0.65": 20, "1": 20, "2": 20, "3": 20}
    for size in "0.2 0.3 0.4 0.5 0.6 0.65 0.7 0.8 1 1.3 1.6 2 2.5 3 -0.65 -2.5".split():
        yield "jumps", f"jump of {size}", f"--steps 320 --jump {size}@150", oracles.get(size, 0), 100
    yield "jumps", "0.2 to 3, up or down", "--steps 320 --jump 0.2:3@150", 20, 100
    yield "jumps", "0.2 to 3, one record in 500", "--steps 2000 --jump 0.2:3@~500", 0, 100
    stuck = [(at, length, 300 + length) for at in "01" for length in (20, 50, 100, 300)]
    for at, length, steps in stuck:
        yield "dead detectors", f"stuck at {at} for {length}", f"--steps {steps} --outage {at}@150+{length}", 0, 100
    for name, outage, steps in (
        ("stuck at 0, 2 % flips, for 100", "0~0.02@150+100", 400), ("stuck at 1, 2 % flips, for 300", "1~0.02@150+300", 600), ("coin for 100", "coin@150+100", 400),
        ("coin for 300", "coin@150+300", 600), ("outcomes exchanged for 60", "swapped@150+60", 360), ("outcomes exchanged for 300", "swapped@150+300", 600),
        ("stuck at 0 for 60, a jump of 1 meanwhile", "0@150+60 --jump 1@180", 420), ("a coin for 60, then stuck at 0 for 60", "coin@150+60 --outage 0@215+60", 480),
        ("missing for 100", "missing@150+100", 400), ("missing for 300", "missing@150+300", 600),
    ):  # fmt: skip
        yield "dead detectors", name, f"--steps {steps} --outage {outage}", 0, 100
    for name, options in (
        ("2 % of outcomes flipped", "--flips 0.02"), ("contrast 0.9", "--contrast 0.9"), ("T2 of 100 that is not known", "--true-t2 100"),
        ("the truth outside the prior", "--truth 2.5:3.5"), ("a prior 50 standard deviations off", "--prior 0.8+-0.01 --truth 1.3"),
        ("the same, of twice the width", "--prior 0.8+-0.02 --truth 1.8"), ("50 off, 500 steps of the drift", "--prior 0.8+-0.01 --truth 1.3 --drift 0.001"),
        ("a ramp of 0.02 a record", "--jump 0.02@~1"), ("drift 3 times the believed", f"--true-drift {THREE}"),
    ):  # fmt: skip
        yield "wrong models", name, options, 0, 100
    for name, true in (("3 times the believed", THREE), ("as believed", None), ("a third", THIRD), ("a tenth", TENTH)):
        yield "drift learnt", name, "--drift learn" + (f" --true-drift {true}" if true else ""), 0, 100
    for time in (100, 1000):
        yield "other drifts", f"reverting, {time:,} records", f"--drift 0.8+-0.3~{time}", 20, 100
    integers = [("as believed", "--steps 300")]
    integers += [(f"jump of {size}", f"--steps 320 --jump {size}@150") for size in "0.2 0.3 0.5 0.65 0.8 1 1.3 1.6 2 2.5 3".split()]
    integers += [("0.2 to 3, up or down", "--steps 320 --jump 0.2:3@150")]
    integers += [(f"stuck at {at} for {length}", f"--steps {steps} --outage {at}@150+{length}") for at, length, steps in stuck]
    integers += [("stuck at 1, 2 % flips, for 300", "--steps 600 --outage 1~0.02@150+300"), ("coin for 100", "--steps 400 --outage coin@150+100"),
                 ("missing for 300", "--steps 600 --outage missing@150+300")]  # fmt: skip
    for name, options in integers:
        yield "integers", name, f"--attempts 16 {options}", 0, 100
    yield "static", "100 measurements", "--drift 0 --steps 100", 0, 100
    yield "static", "T2 of 1,000 that is known, 150 measurements", "--model examples/dephasing.c --drift 0 --steps 150", 0, 100
    for name, options in (
        ("as believed", "--steps 320"), ("w jumps by 0.3", "--steps 320 --jump w=0.3@150"), ("w jumps by 0.1 to 1", "--steps 320 --jump w=0.1:1@150"),
        ("g grows by e", "--steps 320 --jump g=1@150"), ("g falls by e", "--steps 320 --jump g=-1@150"),
        ("stuck at 0 for 100", "--steps 420 --outage 0@150+100"), ("stuck at 1 for 100", "--steps 420 --outage 1@150+100"),
    ):  # fmt: skip
        yield "ramsey", name, f"--model ramsey {options}", 8, 100
    for model, parameter, size, at, some in (("coin", "p", "1.5", "1", 20), ("phase", "phi", "1", "1", 20), ("phase", "phi", "3", "", 20), ("linear", "x1", "2", "1", 4), ("rabi", "W", "0.1", "0", 10),
                                             ("decay", "p", "1", "1", 20), ("bearing", "x", "2", "0.1", 10), ("range", "x", "2", "5", 10)):  # fmt: skip
        if at:
            yield "other models", f"{model}, as believed", f"--model {model} --steps 320", some, 100
            yield "other models", f"{model}, stuck at {at} for 100", f"--model {model} --steps 420 --outage {at}@150+100", some, 100
        yield "other models", f"{model}, {parameter} jumps by {size}", f"--model {model} --steps 320 --jump {parameter}={size}@150", some, 100
    for name, options, some in (
        ("pgh, jump of 1", "--design pgh --steps 320 --jump 1@150", 100), ("pgh, stuck at 0 for 100", "--design pgh --steps 400 --outage 0@150+100", 0),
        ("risk, jump of 1", "--design risk --steps 320 --jump 1@150", 0), ("float, stuck at 0 for 100", "--precision float --steps 400 --outage 0@150+100", 0),
        ("reject, stuck at 0 for 100", "--sampler reject --steps 400 --outage 0@150+100", 0), ("particles, jump of 1", "--belief particles:1000 --steps 320 --jump 1@150", 0),
        ("mixture, jump of 1", "--belief mixture --steps 320 --jump 1@150", 0),
    ):  # fmt: skip
        yield "designs", name, options, some, 100


WORLDS = list(_worlds())
