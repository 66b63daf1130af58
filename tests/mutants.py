#!/usr/bin/env python3
"""Do the tests notice when a line of C becomes wrong? Each line of mutants.txt changes one place; a test that claims it must fail.

    tests/mutants.py BUILD [ONLY...] [--all] [--sample] [--check] [--jobs N] [--resume]

ONLY: parts of an area's name or of a line; without, all mutants. --all: every claimed test runs for each mutant, which shows those that
one test alone catches; otherwise the first that fails ends it. --sample: one mutant of each area. --check: only that each text is still
there once and each test exists. --resume: not those that BUILD/mutants.json has as caught.

Nothing in BUILD changes: the sources that a mutant touches are compiled elsewhere, with -O1, and linked before BUILD's own objects. Kernels
keep the original text. Exit status 1 if a mutant survives, 2 if the list or the build is wrong."""
import argparse, collections, concurrent.futures, contextlib, itertools, json, os, pathlib, re, resource, shlex, shutil, signal, subprocess, sys, tempfile, threading, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "apps")  # mutants are in these
HEADERS = re.compile(r"rf_core|rf_model_(precession|linear)\d|/test_")  # objects that a mutant of a header reaches; more take long
SAMPLE = ("update", "filter", "particles", "session", "chip", "classify")  # areas
MEMORY = 16 << 30

Mutant = collections.namedtuple("Mutant", "area tests file old new line")


def read_list():
    """Mutants of mutants.txt, and what is wrong with it."""
    mutants, wrong, area, tests = [], [], None, ()
    for number, line in enumerate((ROOT / "tests" / "mutants.txt").read_text().splitlines(), 1):
        parts = re.fullmatch(r"(\S+): (.+?) ==>(?: (.*))?", line)
        if line.startswith("["):
            area, tests = re.fullmatch(r"\[(.+)\] (.+)", line).groups()
            tests = tuple(tests.split())
        elif parts:
            file, old, new = parts.groups()
            path = ROOT / file
            count = path.read_text().count(old) if path.exists() else 0
            if count != 1:
                wrong.append(f"mutants.txt:{number}: {file} has {count} times, not once: {old}")
            mutants.append(Mutant(area, tests, file, old, new or "", line))
        elif line and not line.startswith("#"):
            wrong.append(f"mutants.txt:{number}: neither '[AREA] TEST...' nor 'FILE: TEXT ==> REPLACEMENT': {line}")
    return mutants, wrong


class Build:
    """What Ninja and CTest know of a build."""

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        self.tests = {t["name"]: t for t in json.loads(self.say("ctest", "--show-only=json-v1"))["tests"]}
        commands = json.loads((self.path / "compile_commands.json").read_text())
        self.compile = {re.search(r" -o (\S+)", c["command"])[1]: c["command"] for c in commands}
        self.objects = collections.defaultdict(set)  # by source or header
        for block in self.say("ninja", "-t", "deps").split("\n\n"):
            lines = block.strip().splitlines()
            for line in lines[1:]:
                self.objects[os.path.normpath(self.path / line.strip())].add(lines[0].split(":")[0])
        self.known, self.lock = {}, threading.Lock()

    def say(self, *command):
        return subprocess.run(command, cwd=self.path, check=True, capture_output=True, text=True).stdout

    def link(self, target):
        """The command that links a target, its own objects, and those of its archives: {archive: objects}."""
        with self.lock:
            if target not in self.known:
                lines = self.say("ninja", "-t", "commands", target).splitlines()
                command = lines[-1].removeprefix(": && ").removesuffix(" && :")
                made = (re.search(r"ar qc (\S+) (.*?) && ", line) for line in lines)
                archives = {found[1]: found[2].split() for found in made if found and found[1] in command.split()}
                self.known[target] = command, [word for word in command.split() if word.endswith(".o")], archives
            return self.known[target]

    def command(self, test):
        """Command, environment and programs of a test, NAME or NAME/CASE,CASE."""
        name, _, cases = test.partition("/")
        of = self.tests[name]
        given = {p["name"]: p["value"] for p in of["properties"]}
        words = of["command"] + [case for case in cases.split(",") if case]
        targets = [os.path.relpath(w, self.path) for w in words if w.startswith(f"{self.path}/") and os.path.isfile(w)]
        if str(self.path) in words:
            targets += ["rejfilt", "tests/test_engines32", "tests/test_engines64"]
        targets += ["rejfilt_mpi.so"] if (self.path / "rejfilt_mpi.so").exists() and ("rejfilt" in targets or "mpi" in test) else []
        return words, dict(pair.split("=", 1) for pair in given.get("ENVIRONMENT", [])), targets


class Place:
    """A copy of the sources, and a folder that looks like the build, for one mutant at a time."""

    def __init__(self, build, folder):
        self.build, self.folder = build, pathlib.Path(folder)
        for top in FOLDERS:
            shutil.copytree(ROOT / top, self.folder / "source" / top)

    def compile(self, object_, to):
        command = self.build.compile[object_].replace("-Werror", "-w").replace("-O3 -g", "-O1 -g0").replace(f"-o {object_}", f"-o {to}")
        for top in FOLDERS:
            command = command.replace(f"{ROOT}/{top}", f"{self.folder}/source/{top}")
        done = subprocess.run(command, shell=True, cwd=self.build.path, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError("it does not compile: " + " ".join(re.findall(r"error: .*", done.stderr)[:2]))

    def prepare(self, file, tests):
        """Compiles what the tests contain of a file, for programs in a folder that looks like the build."""
        links = [self.build.link(target) for test in tests for target in self.build.command(test)[2]]
        inside = {o for _, own, archives in links for group in (own, *archives.values()) for o in group} & self.build.objects[str(ROOT / file)]
        objects = [o for o in inside if "models/kernel.c.o" not in o and (not file.startswith("include/") or HEADERS.search(o))]
        if not objects:
            raise RuntimeError("no claimed test contains this file")
        shutil.rmtree(self.folder / "build", ignore_errors=True)
        (self.folder / "build/tests/temporary").mkdir(parents=True)
        for folder in (".", "tests"):
            for entry in set(os.listdir(self.build.path / folder)) - {"tests"}:
                os.symlink(self.build.path / folder / entry, self.folder / "build" / folder / entry)
        self.made = {o: f"{self.folder}/build/{k}.o" for k, o in enumerate(objects)}
        for object_, to in self.made.items():
            self.compile(object_, to)

    def link(self, target):
        command, _, archives = self.build.link(target)
        for archive, inside in archives.items():
            if archive not in self.made and self.made.keys() & set(inside):
                self.made[archive] = f"{self.folder}/build/{len(self.made)}.a"
                subprocess.run(["ar", "qcsT", self.made[archive], *(self.made.get(o, str(self.build.path / o)) for o in inside)], check=True)
        at = self.folder / "build" / target
        if at.is_symlink():
            at.unlink()
            words = [self.made.get(word, word) for word in command.split()]
            words[words.index("-o") + 1] = f"{at} -Wl,-S"
            subprocess.run(" ".join(words), shell=True, cwd=self.build.path, check=True, capture_output=True)

    def run(self, test, limit):
        """Seconds that a test took if it passed, else what happened."""
        words, environment, targets = self.build.command(test)
        for target in targets:
            self.link(target)
        here = f"{self.folder}/build"
        move = lambda text: re.sub(rf"{re.escape(str(self.build.path))}(?=/|$)", here, text)
        surroundings = {**os.environ, **{name: move(value) for name, value in environment.items()}, "TMPDIR": f"{here}/tests/temporary",
                        "REJFILT_INCLUDE": f"{ROOT}/include"}  # models' headers
        begin = time.monotonic()
        with open(f"{here}/log", "wb") as log:
            process = subprocess.Popen([f"{self.folder}/source" if w == str(ROOT) else move(w) for w in words], cwd=f"{here}/tests", stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=surroundings,
                                       start_new_session=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = "too long"
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return time.monotonic() - begin if status == 0 else f"status {status}"

    def attempt(self, mutant, seconds, every):
        """Which of the claimed tests fail; the first of them, or every one."""
        path = self.folder / "source" / mutant.file
        text = path.read_text()
        path.write_text(text.replace(mutant.old, mutant.new))
        try:
            self.prepare(mutant.file, mutant.tests)
            failed = (test for test in mutant.tests if isinstance(self.run(test, 20 + 5 * seconds.get(test, 20)), str))
            return list(failed) if every else list(itertools.islice(failed, 1))
        finally:
            path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("only", nargs="*")
    for flag in ("all", "sample", "check", "resume"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    o = parser.parse_args()
    mutants, wrong = read_list()
    if not (pathlib.Path(o.build) / "build.ninja").exists():
        print("skipped: the build is not one of Ninja")
        return 77
    build = Build(o.build)
    wrong += [f"mutants.txt: there is no test {test}" for test in sorted({t for m in mutants for t in m.tests}) if test.partition("/")[0] not in build.tests]
    if wrong or o.check:
        print("\n".join(wrong) or f"{len(mutants)} mutants, each in its place")
        return 2 if wrong else 0
    chosen = [m for m in mutants if not o.only or any(word in f"[{m.area}] {m.line}" for word in o.only)]
    chosen = list({m.area: m for m in reversed(chosen)}.values()) if o.sample else chosen
    record = build.path / "mutants.json"
    before = json.loads(record.read_text()) if record.exists() else {}
    results = {m.line: before[m.line] for m in chosen if o.resume and before.get(m.line)}
    chosen = [m._replace(tests=m.tests[:1]) for m in chosen if m.area in SAMPLE] if o.sample else chosen
    errors, seconds, places = [], {}, threading.local()

    def place():
        if not hasattr(places, "own"):
            places.own = Place(build, tempfile.mkdtemp(dir=folder))
        return places.own

    def passes(tests):
        """Tests must pass with the same text, compiled in the same way."""
        place().prepare(next(m for m in chosen if tests[0] in m.tests).file, tests)
        for test in tests:
            seconds[test] = place().run(test, 900)
            if isinstance(seconds[test], str):
                errors.append(f"{test} fails without a mutant ({seconds[test]}): {(place().folder / 'build' / 'log').read_text(errors='replace')[-1500:]}")

    def attempt(mutant):
        begin = time.monotonic()
        try:
            caught = results[mutant.line] = place().attempt(mutant, seconds, o.all)
        except (RuntimeError, subprocess.CalledProcessError) as error:
            errors.append(f"{mutant.line}: {error}")
            return
        print(f"{'caught' if caught else 'SURVIVED'} {time.monotonic() - begin:5.1f} s  [{mutant.area}] {mutant.line}  ({' '.join(caught)})", flush=True)
        if not o.sample:
            record.write_text(json.dumps({**before, **results}, indent=0))

    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        todo = [m for m in chosen if m.line not in results]
        first = {test: m.area for m in reversed(todo) for test in m.tests}  # the area in which a test comes first
        list(pool.map(passes, [[test for test in first if first[test] == area] for area in dict.fromkeys(first.values())]))
        if not errors:
            list(pool.map(attempt, todo))
    done = [m for m in chosen if m.line in results]
    for area in dict.fromkeys(m.area for m in done):
        of = [results[m.line] for m in done if m.area == area]
        print(f"{area}: {len(of)} mutants, {sum(map(bool, of))} caught" + (f", {sum(len(c) == 1 for c in of)} by one test alone" if o.all else ""))
    print("".join(f"{results[m.line][0]} alone: {m.line}\n" for m in done if o.all and len(results[m.line]) == 1 < len(m.tests)), end="")
    print("".join(f"survived: {m.line}\n" for m in done if not results[m.line]), end="")
    print("\n".join(errors + [f"{sum(map(bool, results.values()))} of {len(done)} caught"]))
    return 2 if errors else any(not results[m.line] for m in done)


if __name__ == "__main__":
    sys.exit(main())
