"""Pictures of whole runs, as a user asks for them: python3 tests/test_picture.py path/to/rejfilt [-v]"""
import html.parser, json, math, os, pathlib, re, shutil, subprocess, sys, tempfile, unittest, xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
import policy

COMMAND = os.path.abspath(sys.argv.pop(1))
VOID = {"meta"}  # elements of ours without an end tag


class Checker(html.parser.HTMLParser):
    """Checks that tags nest and close, attributes occur once, and nothing is fetched."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.scripts, self.declaration = [], [], [], None

    def handle_decl(self, declaration):
        self.declaration = declaration

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), (tag, names)
        assert not {"src", "href", "xlink:href"} & set(names), (tag, names)
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attributes).get("type"), []))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1].append(data)


def page_of(*arguments):
    """The page, its inline picture as XML, its data, its script."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "run.html")
        done = subprocess.run([COMMAND, "track", "--simulate", "--json", *arguments, f"--plot={path}"], capture_output=True, text=True,
                              timeout=120, env={**os.environ, "PATH": folder})  # without gnuplot and any other program
        assert done.returncode == 0 and done.stderr == f"picture: {path}\n", done.stderr
        text = path.read_text("utf-8")
    assert set(policy.check(text)) == {"default-src", "style-src", "script-src", "base-uri", "form-action"}
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert checker.declaration == "DOCTYPE html" and not checker.open, checker.open
    assert len(checker.ids) == len(set(checker.ids)), "an id occurs twice"
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg\")", text), "an address"
    (kind, data), (_, script) = checker.scripts
    assert kind == "application/json"
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return text, xml.fromstring(re.search(r"<svg.*</svg>", text, re.S).group()), json.loads("".join(data)), "".join(script), lines


class Html(unittest.TestCase):
    def test_models(self):
        for arguments in (["--steps=400", "--jump=1@150"], ["--model=ramsey", "--batch=20", "--steps=600"], ["--model=phase"],
                          ["--model=coin", "--steps=1"], ["--model=decay", "--steps=70"], ["--model=linear"]):
            with self.subTest(arguments=arguments):
                text, svg, data, _, lines = page_of(*arguments)
                self.assertLess(len(text), 2e6)
                shown = [p for p in data["panels"] if p["kind"] == "estimate"]
                self.assertEqual([p["name"].removesuffix(" (rad)") for p in shown], [p["name"] for p in lines[0]["parameters"]])
                self.assertEqual(data["x"], [line["step"] for line in lines])
                for i, panel in enumerate(shown):
                    for key, column in (("mean", "mean"), ("low", "bottoms"), ("high", "tops")):
                        for line, value in zip(lines, panel[column], strict=True):
                            told = line["parameters"][i][key]
                            if panel["period"]:  # unwrapped
                                value -= panel["period"] * round((value - told) / panel["period"])
                            self.assertAlmostEqual(value, told, delta=1e-8 * max(1, abs(told)))
                settings = [p for p in data["panels"] if p["kind"] == "dashes"]
                moving = [s["name"] for k, s in enumerate(lines[0]["settings"]) if len({line["settings"][k]["value"] for line in lines}) > 1]
                self.assertEqual([p["name"].removesuffix(" (rad)") for p in settings], moving + ["acceptance", "loss (nats)"])
                named = {element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")}
                self.assertLessEqual({p["name"] for p in data["panels"] if p["kind"] != "health"} | {"estimate", "95 % band"}, named)
                width, height = (float(n) for n in svg.get("viewBox").split()[2:])
                for element in svg.iter("{http://www.w3.org/2000/svg}text"):  # texts begin inside the picture
                    self.assertTrue(0 <= float(element.get("x")) <= width and 0 <= float(element.get("y")) <= height)

    def test_modes_are_apart(self):
        """A fringe around 0 cannot distinguish x from -x: two bands and nothing between them, until a record decides."""
        records = "t,x_,outcome\n" + "".join(f"{0.5 * k},0,{int(math.cos(0.25 * k) > 0)}\n" for k in range(1, 31)) + "3,0.5,1\n" * 20
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run.html")
            done = subprocess.run([COMMAND, "track", "--prior=-1:1", "--drift=0", "--json", f"--plot={path}"], input=records, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = path.read_text("utf-8")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([len(line.get("modes", [])) for line in lines[20:30]], [2] * 10)
        self.assertNotIn("modes", lines[-1])
        shades = [float(shade) for shade in re.findall(r'class="band" fill-opacity="([\d.]+)"', text)]
        shares = [mode["share"] for line in lines for mode in line.get("modes", [])]
        self.assertEqual(sorted(shade for shade in shades if shade < 1), sorted(round(0.25 + 0.75 * share, 2) for share in shares))
        self.assertIn("shade: weight", text)

    def test_coarse(self):
        """The picture shows where health is coarse, as the lines say it."""
        text, svg, data, _, lines = page_of("--model=rabi", "--belief=mixture:2", "--seed=2", "--steps=40")
        self.assertEqual([h % 1 > 0 for h in data["health"]], [line["health"] == "coarse" for line in lines])
        self.assertIn("coarse", {line["health"] for line in lines})
        self.assertIn("coarse", {element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")})
        self.assertRegex(text, '<rect [^>]* class="h0"/>')
        self.assertNotIn(">coarse<", page_of("--steps=25")[0])

    def test_long_names_keep_their_units(self):
        """A name is cut to the height of its panel, which has eight pixels for each character."""
        for unit, name in (("ppm", "cont… (ppm)"), ("parts per million", "contrast (…")):
            panels = page_of("--model=ramsey", "--steps=9", "--panels=w,contrast", "--unit=w=MHz", f"--unit=contrast={unit}")[2]["panels"]
            self.assertEqual([panel["name"] for panel in panels], ["w (MHz)", name])
            self.assertLessEqual(8 * len(name), panels[1]["bottom"] - panels[1]["top"] + 10)

    def test_keys_are_on_the_page(self):
        """Many keys take two lines, and the panels are below them."""
        _, svg, data, _, _ = page_of("--model=rabi", "--belief=mixture:2", "--seed=2", "--steps=260", "--jump=W=3@60", "--outage=0@120+60")
        width = float(svg.get("viewBox").split()[2])
        names = {"estimate", "95 % band (shade: weight)", "truth", "coarse", "suspicious", "recovering", "lost", "fault", "restart"}
        keys = [(float(t.get("x")), float(t.get("y")), t.text) for t in svg.iter("{http://www.w3.org/2000/svg}text") if t.text in names]
        self.assertGreaterEqual(len(keys), 7)
        self.assertEqual(len({y for _, y, _ in keys}), 2)
        for x, y, text in keys:
            self.assertLess(x + 7 * len(text), width, text)
            self.assertLess(y, data["panels"][0]["top"] - 5, text)

    def test_units_title_and_panels(self):
        text, svg, data, _, _ = page_of("--unit=x=MHz", "--unit=t=µs", "--title=a talk", "--panels=t,x,health")
        self.assertEqual([(p["kind"], p["name"]) for p in data["panels"]], [("dashes", "t (µs)"), ("estimate", "x (MHz)"), ("health", "")])
        self.assertEqual(svg.find("{http://www.w3.org/2000/svg}title").text, "a talk")
        for panels, why in (("t,y", "there is no panel 'y'; there are x, t, x_, health, acceptance and loss"), ("t,t", "'t' is there twice"), ("", "there is no panel ''")):
            done = subprocess.run([COMMAND, "track", "--simulate", "--plot=/nowhere/p.html", f"--panels={panels}"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            done = subprocess.run([COMMAND, "track", "--simulate", f"--panels={panels}", "--plot=p.html"], capture_output=True, text=True, timeout=60)
            self.assertIn(why, done.stderr)

    def test_a_resumed_run_is_whole(self):
        """Killed or not, with one file or two: the same picture of all updates, to the byte."""
        rows = [f"{3 + k % 20},0.5,{int(math.cos(0.2 * (3 + k % 20)) > 0)}\n" for k in range(9000)]
        with tempfile.TemporaryDirectory() as folder:
            def picture(name, parts):
                for i, part in enumerate(parts):
                    plot = [f"--plot={folder}/{name}.html"] if i == 0 or i + 1 == len(parts) else []
                    done = subprocess.run([COMMAND, "track", "--drift=0.01", "--state-every=10", f"--state={folder}/{name}.state", *(["--continue=new"] if i > 0 else []), *plot], capture_output=True,
                                          input="t,x_,outcome\n" + "".join(part), text=True, timeout=120)
                    self.assertEqual(done.returncode, 0, done.stderr)
                return pathlib.Path(folder, f"{name}.html").read_bytes()
            whole = picture("whole", [rows])
            self.assertEqual(whole, picture("parts", [rows[:10], rows[10:5000], rows[5000:]]))
            self.assertLess(os.path.getsize(f"{folder}/whole.state.history"), 3e6)
            history = pathlib.Path(folder, "parts.state.history")
            kept = history.read_bytes()
            for damage in (b"damaged", kept[:500], kept[:32] + b"\xff" * 16 + kept[48:], kept[:32] + bytes([1, 0, 0, 0, 0, 0, 0, 0, 5]) + bytes(15), kept[:4000] + b"\x7f" * 8 + kept[4008:]):
                history.write_bytes(damage)
                picture("parts", [rows[:5]])  # started afresh, or later
            history.write_bytes(b"damaged")
            self.assertIn(b'"x":[9025', picture("parts", [rows[:5]]))

    @unittest.skipUnless(shutil.which("node"), "no node; tools/need browser installs it")
    def test_script_is_well_formed(self):
        script = page_of("--steps=5")[3]
        with tempfile.NamedTemporaryFile("w", suffix=".js") as file:
            file.write(script)
            file.flush()
            subprocess.run(["node", "--check", file.name], check=True)


if __name__ == "__main__":
    unittest.main()
