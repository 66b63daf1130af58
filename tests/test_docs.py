"""The book does what it says: python3 tests/test_docs.py [BUILD_DIR] [-v]

Every command of docs/ and of the README is run, the commands of a page one after the other in a folder that looks like
a clone with a build. A command is a line of a block that is fenced as `sh`, or indented and begins with a program. In
a block fenced as `console`, lines that begin with `$ ` are commands, and the others are what they print: `...` stands for
anything. A block after "Call this `NAME`:" is a file of that name. What takes too long or needs what is not here is in
NOT_RUN, with the reason; its options are checked instead."""
import functools, json, os, pathlib, re, shlex, shutil, subprocess, sys, tempfile, textwrap, unittest, urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONGEST = 120  # seconds for any one command; a hang is a failure
NOT_RUN = {  # pattern of a command: the reason
    r"^sudo ": "it changes the machine",
    r"^python3 tools/serve.py": "it serves until it is stopped; test_site.py asks it",
    r"^python3 -m venv|^\. |^pip install": "make check KIND=python does, and tests/newcomer",
    r"^rejfilt .*--data mnist": "MNIST is not in the repository",
    r"^mpirun ": "test_mpi.sh does, where MPI is installed",
    r"^rejfilt .*--engine cuda|^make (check|bench) \w+=cuda": "they need a GPU",
    r"^arm-none-eabi-gcc ": "check.py of ports/ does",
    r"^iceprog ": "it needs a board",
    r"^valgrind ": "`make test` does without it",
    r"^python3 docs/gallery/figures.py": "it needs the Python package; make pictures WHICH=gallery does",
    r"--model examples/(peak|odmr|benchmarking)\.c": "test_user_model.py compiles and runs them; make pictures WHICH=gallery does",
    r"^cp build/hdl-demo.svg": "make ports WHICH=hdl-demo leaves it, which takes a minute; make pictures WHICH=gallery does",
    r"^tar |^cmake .*CMAKE_PREFIX_PATH|pkg-config": "test_package.py does",
}
SLOW = "^make (bench|evidence|reproduce)|KIND=prove"  # the reader must be told how long it takes
FIND = 'export PATH="$PWD/build:$PATH"'  # the first command that the book tells readers to type; `run` does the same


def blocks(text):
    """(kind, number of the first line, lines) of every block: the word of a fence, or `indented`."""
    lines, found, k = text.split("\n"), [], 0
    while k < len(lines):
        if lines[k].startswith("```"):
            end = next(n for n in range(k + 1, len(lines)) if lines[n].startswith("```"))
            found.append((lines[k][3:].strip(), k + 2, lines[k + 1:end]))
            k = end + 1
        elif lines[k].startswith("    ") and (k == 0 or not lines[k - 1].strip()):
            end = next((n for n in range(k, len(lines)) if lines[n].strip() and not lines[n].startswith("    ")), len(lines))
            found.append(("indented", k + 1, textwrap.dedent("\n".join(lines[k:end])).split("\n")))
            k = end
        else:
            k += 1
    return found


def without_code(text):
    """The text without fenced and indented blocks and inline code."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", re.sub(r"(?<=\n\n)(    .*\n)+", "", text))


def begins_with_a_program(line):
    word = re.match(r"[\w./-]*", line)[0]
    if word in ("rejfilt", "make") or "/" in word or any(re.search(pattern, line) for pattern in NOT_RUN):
        return True  # does not depend on what is installed
    return bool(word and shutil.which(word))


def complete(command):
    """Does bash accept the command as complete?"""
    return subprocess.run(["bash", "-n", "-c", command], stderr=subprocess.PIPE).stderr == b""


def commands(text):
    """(line number, command, its output or None) of a page, in order."""
    for kind, number, lines in blocks(text):
        if kind == "console":
            for k, line in enumerate(lines):
                if line.startswith("$ "):
                    shown = []
                    for other in lines[k + 1:]:
                        if other.startswith("$ "):
                            break
                        shown.append(other.rstrip())
                    yield number + k, line[2:], "\n".join(shown).strip("\n")
        elif kind == "sh" or kind == "indented" and begins_with_a_program(lines[0]):
            command = []
            for k, line in enumerate(lines):
                command.append(line)
                if line.endswith("\\") or not complete("\n".join(command)):
                    continue
                if line.strip() and not (len(command) == 1 and line.lstrip().startswith("#")):
                    yield number + k, "\n".join(command), None
                command = []
            if command:
                yield number, "\n".join(command), None


def anchors(text):
    """The anchors that GitHub makes from headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower()).replace(" ", "-")
        found.add(name)
    return found


def setUpModule():
    global WORK, CACHE
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    WORK = pathlib.Path(folder.name)
    CACHE = WORK / "cache"


def clone(name):
    """A folder that looks like a clone with a build, found by the shell as after FIND; files written by commands stay in it."""
    folder = WORK / name
    folder.mkdir(parents=True)
    (folder / "build").symlink_to(BUILD)
    for path in ROOT.iterdir():
        if not path.name.startswith((".", "build", "dist", "reproduce")):
            (folder / path.name).symlink_to(path)
    return folder


def run(command, folder):
    environment = {**os.environ, "PATH": f"{folder}/build:{os.environ['PATH']}", "HOME": str(folder), "REJFILT_CACHE": str(CACHE), "TERM": "dumb"}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, timeout=LONGEST, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def reason_not_to(command):
    return next((why for pattern, why in NOT_RUN.items() if re.search(pattern, command)), None)


@functools.cache
def options(*names):
    """The options listed by `rejfilt NAME... --help`."""
    done = subprocess.run([BUILD / "rejfilt", *names, "--help"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return set(re.findall(r"^  (--[\w-]+)", done.stdout, re.M))


def unknown_options(command):
    """Options of a rejfilt command that its help does not list."""
    try:
        words = shlex.split(re.split(r"[|<>;&…]", command)[0], comments=True)
    except ValueError:
        return []
    place = next((k for k, word in enumerate(words) if word in ("rejfilt", "build/rejfilt")), None)
    if place is None or len(words) <= place + 1 or words[place + 1].startswith("-"):
        return []
    name, after = words[place + 1], words[place + 2:place + 3]
    known = options(name) | (options("track") if name == "state" else set())  # `rejfilt state import` takes the options of a run
    known |= options(name, *after) if name == "classify" and after and after[0].isalpha() else set()
    return [word for word in words[place + 2:] if word.startswith("--") and word.split("=")[0] not in known]


class Commands(unittest.TestCase):
    def make(self, command):
        """Checks only that the target exists, because targets have tests of their own. Three spaces may precede a remark."""
        target, _, which = re.match(r"make ?(?:([\w-]+)(?:.*?(KIND|WHICH)=([\w-]+))?)?", command).groups()
        if which and target == "reproduce":
            self.assertTrue((ROOT / "lab/paper" / f"{which}.py").exists(), which)
        elif which:
            known = (ROOT / "tools" / ("check" if target == "check" else "measure")).read_text()
            self.assertRegex(known, rf"(?m)^def {which.replace('-', '_')}\(" if target == "check" else f'"{target} {which}"')
        done = run(re.sub(r" {3,}.*", "", command).replace("make", "make -n", 1), ROOT)
        self.assertEqual(done.returncode, 0, done.stdout)

    def check(self, command, shown, folder):
        if re.search(SLOW, command):
            self.assertRegex(command, r"#.*(second|minute|hour)", "the reader should know how long it takes")
        if re.match(r"make\b", command):
            return self.make(command)
        is_refused = bool(shown and re.search("^rejfilt: ", shown, re.M))  # according to the page
        if not is_refused:
            self.assertEqual(unknown_options(command), [])
        if reason_not_to(command):
            return
        done = run(command, folder)
        self.assertEqual(done.returncode != 0, is_refused, done.stdout[-2000:])
        if shown is not None:
            said = "\n".join(line.rstrip() for line in done.stdout.strip("\n").split("\n"))
            pattern = ".*".join(re.escape(part) for part in shown.split("..."))
            self.assertTrue(re.fullmatch(pattern, said, re.S), f"it prints\n{said[:3000]}")

    def test_every_block(self):
        for page in PAGES:
            folder, text = clone(page.relative_to(ROOT).with_suffix("")), page.read_text()
            for name, source in re.findall(r"Call this\s+`(\S+)`:\n\n```\w*\n(.*?)^```$", text, re.M | re.S):
                (folder / name).write_text(source)
            for number, command, shown in commands(text):
                with self.subTest(f"{page.name}:{number}: {command}"):
                    self.check(command, shown, folder)

    def test_the_command_is_found(self):
        """Before a page uses `rejfilt`, it or the contents tell how the shell finds the command that `make` built."""
        for page in (ROOT / "docs/README.md", ROOT / "docs/tutorial.md"):
            typed = [command for _, command, _ in commands(page.read_text())]
            self.assertIn(FIND, typed, page.name)
            self.assertTrue(any(re.match("make$|make ", command) for command in typed[:typed.index(FIND)]), page.name)
            self.assertFalse(any(re.match("rejfilt", command) for command in typed[:typed.index(FIND)]), page.name)
        self.assertTrue((BUILD / "rejfilt").exists())

    def test_every_exception_is_needed(self):
        every = [command for page in PAGES for _, command, _ in commands(page.read_text())]
        for pattern in NOT_RUN:
            self.assertTrue(any(re.search(pattern, command) for command in every), pattern)

    def test_in_the_text(self):
        """Targets and options of commands within a sentence or a table exist."""
        targets = set(re.findall(r"^([\w-]+(?: [\w-]+)*):", (ROOT / "Makefile").read_text(), re.M))
        targets = {word for words in targets for word in words.split()}
        for page in PAGES:
            for code in re.findall(r"`((?:make|rejfilt|build/rejfilt) [^`\n]+)`", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)):
                with self.subTest(f"{page.name}: {code}"):
                    if code.startswith("make "):
                        self.assertIn(code.split()[1], targets)
                        Commands.make(self, code)
                    else:
                        self.assertEqual(unknown_options(code), [])

    def test_what_options_cost(self):
        """Rows of that table are what the program prints today."""
        rows = re.findall(r"^\| `(--(?:attempts|kappa|design|anchors) [^`]+)`[^|]*\| ([\d.]+) \|", (ROOT / "docs/tracking.md").read_text(), re.M)
        self.assertGreaterEqual(len(rows), 8)
        for options, median in rows[::3]:
            command = f"rejfilt track --simulate --json --trials 2000 {options}"
            with self.subTest(command):
                self.assertEqual(median, f"{json.loads(run(command, clone(options)).stdout)['median']:.3f}")


class Links(unittest.TestCase):
    def test_every_link(self):
        for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "lab/README.md"]:
            for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
                with self.subTest(f"{page.name}: {target}"):
                    path, _, anchor = target.partition("#")
                    if re.match(r"[a-z]+:", target):
                        continue
                    to = (page.parent / urllib.parse.unquote(path)).resolve() if path else page
                    self.assertTrue(to.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(to.read_text()))

    def test_every_page_is_in_the_contents(self):
        for page in PAGES[1:]:
            if page.name != "README.md":
                self.assertIn(f"]({page.name})", (page.parent / "README.md").read_text())

    def test_the_version_is_one(self):
        """Package and wheel take their version from the header: tools/deb, pyproject.toml."""
        version = re.search(r'^#define RF_VERSION "(.*)"', (ROOT / "include/rejfilt/rejfilt.h").read_text(), re.M)[1]
        self.assertIn(f"\nversion: {version}\n", (ROOT / "CITATION.cff").read_text())
        self.assertEqual(re.search(r"^## (?!Unreleased)(\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1], version)
        self.assertEqual(set(re.findall(r"rejfilt[_-](\d[\d.]*\d)", (ROOT / "docs/install.md").read_text())), {version})

    def test_tables_of_evidence_fit_a_screen(self):
        for name in ("claims", "accuracy", "calibration", "trust", "performance", "few", "paper", "compare"):
            for table in re.findall(r"(?:^\|.*\n)+", (ROOT / f"docs/{name}.md").read_text(), re.M):
                self.assertLessEqual(table.count("\n"), 24, f"{name}: {table[:80]}")

    def test_every_picture_is_shown(self):
        text = "".join(page.read_text() for page in PAGES)
        for picture in (ROOT / "docs/pictures").glob("*.svg"):
            self.assertIn(f"(pictures/{picture.name})", text)
            self.assertLess(picture.stat().st_size, 61440, picture)
        for picture in [*(ROOT / "docs/gallery").glob("*.svg"), *(ROOT / "docs/gallery").glob("*.png")]:
            self.assertIn(f"({picture.name})", text)
            self.assertLess(picture.stat().st_size, 160000, picture)


class Engines(unittest.TestCase):
    def test_every_engine_has_a_row(self):
        page, names = (ROOT / "docs/engines.md").read_text(), re.findall(r'^RF_ENGINE\((\w+), "(.*)", .\)', (ROOT / "src/engines/list.def").read_text(), re.M)
        self.assertIn(("threads", "[:N]"), names)
        for name, argument in names:
            self.assertIn(f"\n| `{name}{argument}` |", page)


@unittest.skipUnless(shutil.which("doxygen"), "no doxygen; tools/need docs installs it")
class Reference(unittest.TestCase):
    def test_every_public_function_is_in_the_reference(self):
        """Doxygen gives no warning; everything that the headers declare as public has an entry under its real name."""
        done = subprocess.run([sys.executable, ROOT / "tools/api.py", WORK / "api"], stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        index = "".join(path.read_text() for path in (WORK / "api").glob("globals*.html"))
        names = [name for path in (ROOT / "include/rejfilt").glob("*.h")
                 for name in re.findall(r"^RF_API[^;]*?\b(RF\(\w+\)|rf(?:32|64|c)?_\w+)[(;]", path.read_text(), re.M)]
        self.assertIn("rf64_update", names)
        for name in names:
            for bits in ("32", "64"):
                self.assertIn(re.sub(r"RF\((\w+)\)", rf"rf{bits}_\1", name), index)


@unittest.skipUnless(shutil.which("doxygen") and shutil.which("sphinx-build"), "no doxygen or sphinx; tools/need docs book installs them")
class Book(unittest.TestCase):
    def test_every_page_and_link(self):
        """The book builds without a warning; the targets of its links exist, and every page can be reached from the
        first."""
        done = subprocess.run([sys.executable, ROOT / "tools/book.py", WORK / "pages", WORK / "book"], stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        site, seen, waiting = WORK / "book", set(), [WORK / "book/index.html"]
        while waiting:
            page = waiting.pop()
            if page in seen or page.suffix != ".html" or site / "api" in page.parents:
                continue
            seen.add(page)
            for target in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text()):
                if not re.match(r"[a-z]+:", target):
                    to = (page.parent / urllib.parse.unquote(target)).resolve()
                    self.assertTrue(to.exists(), f"{page}: {target}")
                    waiting.append(to)
        for page in PAGES[1:]:
            name = "contents" if page.name == "README.md" and page.parent.name == "docs" else str(page.relative_to(ROOT / "docs").with_suffix(""))
            self.assertIn((site / f"{name}.html").resolve(), seen)
        self.assertTrue((site / "api/index.html").exists())
        scripts = {path.name: path.read_text() for path in (site / "_static/scripts").glob("*.js")}
        self.assertIn("cycleThemeOnce", scripts["furo.js"])  # the button for light or dark is of a script that browsers run
        self.assertNotRegex(scripts["furo.js"], r"(?m)^(import|export)\b")
        for style in (site / "_static/styles/furo.css", site / "api/doxygen.css"):
            self.assertIn("prefers-color-scheme: dark", style.read_text())


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
