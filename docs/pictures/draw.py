#!/usr/bin/env python3
"""Draws the book's pictures with the program itself: docs/pictures/draw.py BUILD_DIR

The attempts of update.svg are those that the playground's code replays; the other numbers are what `rejfilt track` prints.
Curves of probabilities are formulas. `make pictures` builds what it needs and calls it."""
import json
import pathlib
import re
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BLUE, RED, GREEN, GREY, GOLD = "#1f6fb4", "#c8402f", "#2f8f4e", "#808080", "#b07d10"
HEAD = """set terminal svg size {size} font "sans,14" background "#ffffff" dynamic
set output "{path}"
set border 3 lc "#444444"; set tics nomirror out textcolor "#222222"; set key textcolor "#222222" samplen 2
"""


def gnuplot(name, script, size="760,400"):
    path = HERE / name
    subprocess.run(["gnuplot", "-"], input=HEAD.format(size=size, path=path) + script, text=True, check=True)
    path.write_text(re.sub(r"<desc>.*?</desc>\n*", "", path.read_text()))  # gnuplot's version would differ from machine to machine


def block(name, rows):
    return f"${name} << EOD\n" + "\n".join(" ".join(map(str, row)) for row in rows) + "\nEOD\n"


def track(*options, given=None):
    done = subprocess.run([BUILD / "rejfilt", "track", "--json", *map(str, options)], input=given, text=True, check=True, stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def trials(*options, number=1000):
    return track("--simulate", "--trials", number, *options)[0]


def update():
    """One update: candidates, those accepted, and the Gaussians before and after."""
    script = "open 1\nset 200 0 1 0.026179938779914945\nstep 2\ndraws 0 200\n"
    lines = subprocess.run([BUILD / "ports/wasm/playground_native"], input=script, text=True, check=True, stdout=subprocess.PIPE).stdout.splitlines()
    words = [[bytes.fromhex(word)[::-1] for word in line.split()] for line in lines]
    view, draws = [line for line in words if len(line) == 18][-1], words[-1]
    _, truth, mean, sd, prior_mean, prior_sd, time, reference, outcome = [struct.unpack("<f", word)[0] for word in view[:9]]
    numbers = [struct.unpack("<f", word)[0] for word in draws]
    points = [(numbers[k], numbers[k + 1], struct.unpack("<I", draws[k + 2])[0]) for k in range(0, 600, 3)]
    sign = "+" if outcome else "-"
    gnuplot("update.svg", block("yes", [p for p in points if p[2]]) + block("no", [p for p in points if not p[2]]) + f"""
set samples 150; set xrange [{prior_mean - 3.2 * prior_sd}:{prior_mean + 3.2 * prior_sd}]; set yrange [0:1.02]
set multiplot
set lmargin 9; set rmargin 3
set origin 0,0.42; set size 1,0.58; set bmargin 0.5; set format x ""; set ylabel "random number u" offset 1,0; set key outside top center horizontal width -4
plot 0.5 {sign} 0.5*cos((x - {reference})*{time}) lw 2.5 lc "{GOLD}" title "likelihood", \\
  $yes using 1:2 with points pt 7 ps 0.5 lc "{GREEN}" title "accepted", $no using 1:2 with points pt 6 ps 0.5 lc "{GREY}" title "rejected"
set origin 0,0; set size 1,0.42; set bmargin 4; set tmargin 1; set format x "%g"; set xlabel "candidate x"; set ylabel "density"; set yrange [0:*]; unset ytics
set key inside top right
set arrow from {truth}, graph 0 to {truth}, graph 0.9 nohead lc "{RED}" lw 2; set label "truth" at {truth}, graph 0.3 right offset -0.7,0 tc "{RED}"
n(x, m, s) = exp(-0.5*((x - m)/s)**2)/s
plot n(x, {prior_mean}, {prior_sd}) lw 2.5 dt 2 lc "{BLUE}" title "before", n(x, {mean}, {sd}) lw 2.5 lc "{BLUE}" title "after"
""", "760,520")


def fringe():
    """An experiment that is too long: what is known then has several peaks, and a Gaussian has one."""
    mean, sd, parts = 0.8, 0.3, []
    for time, title in ((1 / sd, "t = 1/σ"), (4 / sd, "t = 4/σ")):
        reference = mean + 0.3 * 3.14159 / time
        record = json.dumps({"t": time, "x_": reference, "outcome": 1})
        (line,) = track("--prior", f"{mean}+-{sd}", "--drift", 0, "--on-lost", "ignore", "--attempts", 100000, given=record + "\n")
        known = line["parameters"][0]
        parts.append((time, reference, known["mean"], known["sd"], title))
    plots = "".join(f"""
set title "{title}"
z = {sd}*sqrt(2*pi)*(0.5 + 0.5*exp(-({time}*{sd})**2/2)*cos(({mean} - {reference})*{time}))
plot n(x, {mean}, {sd})/({sd}*sqrt(2*pi)) lw 2 dt 2 lc "{GREY}" title "before", \\
  n(x, {mean}, {sd})*(0.5 + 0.5*cos((x - {reference})*{time}))/z lw 2.5 lc "{GOLD}" title "exact, after", \\
  n(x, {m}, {s})/({s}*sqrt(2*pi)) lw 2.5 lc "{BLUE}" title "the filter, after"
""" for time, reference, m, s, title in parts)
    gnuplot("fringe.svg", f"""set samples 160; set xrange [{mean - 1.1}:{mean + 1.1}]; set yrange [0:3.4]; unset ytics; set xlabel "frequency x"
n(x, m, s) = exp(-0.5*((x - m)/s)**2)
set multiplot layout 1,2
set key top left Left reverse; set bmargin 4
{plots}""", "900,340")


def attempts():
    """How the error falls with the number of attempts."""
    counts = [10, 20, 30, 50, 100, 200, 500, 1000]
    rows = {name: [(summary["mean_attempts"], summary["median"]) for summary in (trials("--attempts", m, *options) for m in counts)]
            for name, options in {"reject": ["--sampler", "reject"], "lattice": ["--sampler", "lattice"], "weight": ["--sampler", "weight"],
                                  "paper": ["--strict"]}.items()}
    gnuplot("attempts.svg", "".join(block(name, data) for name, data in rows.items()) + f"""
set logscale x; set xlabel "attempts per update, with top-up"; set ylabel "median squared error / q"; set yrange [0.9:3]; set xrange [9:1100]
set bmargin 4; set lmargin 9; set arrow from 9,1.02 to 1100,1.02 nohead dt 3 lc "{GREY}"; set label "exact moments: 1.02" at 12,1.08 tc "#555555"
plot $paper with linespoints pt 4 lw 2 lc "{RED}" title "paper: pgh, strict", $reject with linespoints pt 7 ps 0.7 lw 2 lc "{BLUE}" title "reject", \\
  $lattice with linespoints pt 9 ps 0.7 lw 2 lc "{GREEN}" title "lattice", $weight with linespoints pt 5 ps 0.6 lw 2 lc "{GOLD}" title "weight (default)"
""")


def kappa():
    """A smaller bound accepts more and distorts more."""
    rows = []
    for value in (1, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1):
        lines = track("--simulate", "--steps", 1000, "--kappa", value)
        rows.append((value, trials("--kappa", value)["median"], *(100 * sum(line[key] for line in lines) / len(lines) for key in ("acceptance", "delta"))))
    gnuplot("kappa.svg", block("rows", rows) + f"""
set xlabel "κ, in units of the model's bound"; set ylabel "median squared error / q"; set xrange [0.05:1.05]; set yrange [0:3]; set bmargin 4; set lmargin 9; set rmargin 9
set y2label "%"; set y2tics; set y2range [0:100]; set border 11; set key at graph 0.98, graph 0.98
plot $rows using 1:2 with linespoints pt 7 ps 0.7 lw 2 lc "{BLUE}" title "error (left)", \\
  $rows using 1:3 axes x1y2 with linespoints pt 5 ps 0.6 lw 2 lc "{GREEN}" title "accepted (right)", \\
  $rows using 1:4 axes x1y2 with linespoints pt 9 ps 0.7 lw 2 lc "{RED}" title "δ: probability above κ (right)"
""")


def designs():
    """The same filter with different questions."""
    rows = []
    for name, options, number in (("quadrature", [], 1000), ("the same, reject, m = 100", ["--sampler", "reject", "--attempts", 100], 1000), ("risk", ["--design", "risk"], 200),
                                  ("pgh-distance", ["--design", "pgh-distance"], 1000), ("pgh", ["--design", "pgh"], 1000),
                                  ("pgh, strict: the paper", ["--strict"], 1000)):
        summary = trials(*options, number=number)
        rows.append((f'"{name}"', summary["median"], summary["mean"], summary["p99"], 100 * summary["lost"]))
    gnuplot("designs.svg", block("rows", rows) + f"""
set logscale x; set xlabel "squared error / q"; set xrange [0.7:4000]; set yrange [{len(rows) - 0.4}:-0.6] ; set border 1; set bmargin 4
set ytics scale 0; set key outside top center horizontal; set grid x lc "#dddddd"
plot $rows using 2:0:ytic(1) with points pt 7 ps 1.1 lc "{BLUE}" title "median", $rows using 3:0 with points pt 5 ps 0.9 lc "{GOLD}" title "mean", \\
  $rows using 4:0 with points pt 9 ps 1 lc "{RED}" title "99 % below", \\
  $rows using (1600):0:(sprintf("%.2g %% lost", $5)) with labels left offset -1,0 tc "#222222" notitle
""", "820,340")


def gpu():
    """From the lines that ONLY=picture rejfilt-cuda printed on the GPU of docs/performance.md."""
    rates, fleets = {"0": [], "2": []}, {"64": [], "256": [], "1000": []}
    for line in open(HERE / "gpu.txt"):
        if found := re.search(r"sampler (\d) m (\d+) +cuda:0 +(\S+) attempts/s +\(simd\S* +(\S+)\)", line):
            rates[found[1]].append((found[2], found[3], found[4]))
        elif found := re.search(r"residents (\d+), m (\d+), .* with means ([^,]+),", line):
            fleets[found[2]].append((found[1], found[3]))
    blocks = "".join(block(f"m{key}", rows) for key, rows in rates.items()) + "".join(block(f"n{key}", rows) for key, rows in fleets.items())
    gnuplot("gpu.svg", blocks + f"""set multiplot layout 1,2; set logscale xy; set format xy "10^{{%L}}"; set grid; set key bottom right
set xlabel "attempts of one update"; set ylabel "attempts a second"; set xrange [100:1e9]; set yrange [1e6:2e12]
plot $m2 using 1:2 with linespoints lw 2 pt 7 ps 0.5 lc rgb "{BLUE}" title "weight", $m0 using 1:2 with linespoints lw 2 pt 7 ps 0.5 lc rgb "{RED}" title "reject", \\
     $m2 using 1:3 with lines lw 1 dt 2 lc rgb "{BLUE}" title "weight, a CPU core", $m0 using 1:3 with lines lw 1 dt 2 lc rgb "{RED}" title "reject, a CPU core"
set xlabel "filters that live there"; set ylabel "updates a second, with records and means"; set xrange [100:1e7]; set yrange [1e6:1e10]
plot $n64 using 1:2 with linespoints lw 2 pt 7 ps 0.5 title "m = 64", $n256 using 1:2 with linespoints lw 2 pt 7 ps 0.5 title "m = 256", \\
     $n1000 using 1:2 with linespoints lw 2 pt 7 ps 0.5 title "m = 1000"
unset multiplot
""", "900,400")


def trust():
    """A jump, and a detector that is stuck for a while: what is believed, and what health says of it."""
    worlds = (("the frequency jumps by 0.65", ["--jump", "0.65@150"]), ("the detector is stuck at 0 for 100 measurements", ["--outage", "0@150+100"]))
    states = {"suspicious": "#dba51c", "recovering": "#c8641e", "lost": "#701050", "fault": "#10104a"}
    script = "set multiplot; set xrange [100:300]; set yrange [0:3]; set lmargin 9; set rmargin 2; set ytics 1; held(y) = y < 0 ? 0 : y > 3 ? 3 : y\n"
    for number, (title, options) in enumerate(worlds):
        lines = track("--simulate", "--steps", 301, "--seed", 5, *options)
        rows = [(line["step"], *(f"{line['parameters'][0][name]:.4g}" for name in ("mean", "low", "high", "truth"))) for line in lines[100:]]
        script += block(f"run{number}", rows)
        for name in states:
            stretches = []
            for step in (line["step"] for line in lines[100:] if line["health"] == name):
                begin = stretches.pop()[0] if stretches and stretches[-1][1] == step - 0.5 else step - 0.5
                stretches.append((begin, step + 0.5, 0, 0.18))
            script += block(f"{name}{number}", stretches or [("NaN",) * 4])
        bars = ", ".join(f'${name}{number} using 1:(0):1:2:3:4 with boxxyerror fs solid noborder lc "{colour}" title "{name}"' for name, colour in states.items())
        script += f"""set origin 0,{0.52 - 0.52 * number}; set size 1,{0.46 + 0.02 * number}; set title "{title}"; set ylabel "frequency" offset 1,0
{'set xlabel "measurement"; unset key' if number else 'set key outside top center horizontal'}
plot $run{number} using 1:(held($3)):(held($4)) with filledcurves fs solid lc "#c9dff0" title "95 %", $run{number} using 1:2 with lines lw 2 lc "{BLUE}" title "estimate", \\
  $run{number} using 1:5 with lines lw 1.2 dt 2 lc "#000000" title "truth", {bars}
"""
    gnuplot("trust.svg", script, "820,620")


def demo():
    """The README's picture, drawn as the run goes on: a curtain moves to the right, waits, and begins again."""
    path = HERE.parent / "demo.svg"
    track("--simulate", "--steps", 400, "--jump", "0.8@200", "--seed", 2, "--plot", path, "--panels", "x,health,t", "--unit", "x=rad/µs", "--unit", "t=µs",
          "--title", "A frequency that drifts and jumps, from one bit a measurement")
    text = re.sub(r"<desc>.*?</desc>\n*", "", path.read_text())
    width, height = (float(n) for n in re.search(r'viewBox="0 0 (\S+) (\S+)"', text).groups())
    left, top, bottom = 104, 68, height - 58  # of the panels
    curtain = (f'<rect y="{top}" height="{bottom - top:.0f}" fill="#ffffff" x="{width}" width="0">'
               f'<animate attributeName="x" dur="14s" repeatCount="indefinite" keyTimes="0;0.75;1" values="{left};{width};{width}"/>'
               f'<animate attributeName="width" dur="14s" repeatCount="indefinite" keyTimes="0;0.75;1" values="{width - left};0;0"/></rect>\n')
    end = text.rindex("</svg>")
    path.write_text(text[:end] + curtain + text[end:])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    for picture in [globals()[name] for name in sys.argv[2:]] or (demo, update, fringe, attempts, kappa, designs, trust, gpu):
        picture()
    subprocess.run([HERE.parent.parent / "tools/scour", HERE.parent / "demo.svg", *HERE.glob("*.svg")], check=True)
