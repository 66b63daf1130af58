"""Users' models: python3 tests/test_user_model.py [path/to/rejfilt] [-v]

The command may also be named by the environment variable REJFILT."""
import ctypes, json, math, os, pathlib, pwd, random, re, resource, shutil, signal, subprocess, sys, tempfile, time, unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = os.environ.get("REJFILT", str(ROOT / "build" / "rejfilt"))
LONGEST = 120  # seconds for any one command, with room for sanitizers; a hang is a failure
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.c") if "rejfilt/model.h" in path.read_text())
PRECESSION = (ROOT / "src/models" / "precession.h").read_text()
BODY = "    rf_real zero"  # where precession's likelihood begins
REFUSED = 2

# A compiler that logs its calls.
LOGGING_COMPILER = """#!/bin/sh
printf '%s\\n' "$*" >> "$COMPILER_LOG"
exec cc "$@"
"""

# Photons with a rate r.
RATE = """#include "rejfilt/model.h"
static const rf_description description = {
    .name = "rate",
    .dim = 1,
    .settings = 1,
    .outcomes = RF_POISSON,
    .parameter = {{"r", RF_POSITIVE, 1, 20, 0}},
    .setting = {{"t", RF_SETTING_RANGE, 0, 0, 0.5, 2, 0}},
    .unit = {"1/µs"},
    .setting_unit = {"µs"},
};
#define RF_HAS_EXPECTED
RF_FN rf_real expected(const rf_real x[], const rf_real setting[]) { return x[0] * setting[0]; }
"""

# Code that reports when it runs.
TELL = '#include <stdio.h>\n__attribute__((constructor)) static void tell(void) {{ fclose(fopen("{}", "w")); }}\n'

# A model that replaces its cache by another directory when it is first tried.
EXCHANGE = """#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void exchange(void)
{
    const char *cache = getenv("CACHE"), *other = getenv("OTHER");
    if (cache && rename(cache, getenv("MOVED")) == 0)
        rename(other, cache);
}
"""


class UserModel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = self.folder / "cache"
        self.model = self.folder / "mymodel.c"
        self.environment = {**os.environ, "REJFILT_CACHE": str(self.cache), "REJFILT_INCLUDE": str(ROOT / "include")}
        self.environment.pop("CC", None)
        self.environment["REJFILT_MODEL_FLAGS"] = "-O0"  # compiles faster; tests of bits use the flags of users

    def track(self, model, *more, first=None, **environment):
        """Runs the command; `first` runs in the process before it becomes the command."""
        command = [COMMAND, "track", "--simulate", "--json", "--steps", "60", "--model", str(model), *more]
        return subprocess.run(command, env={**self.environment, **environment}, timeout=LONGEST, text=True, preexec_fn=first,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def good(self, model, *more, first=None, **environment):
        done = self.track(model, *more, first=first, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["step"] for line in lines], list(range(60)))
        return done.stdout

    def cached(self):
        """Files of the cache."""
        return sorted(path.name for path in self.cache.iterdir()) if self.cache.is_dir() else []

    def write(self, text):
        self.model.write_text(text)
        return self.model

    def refused(self, model, *words, first=None, **environment):
        """Checks that the model is refused with a message that has these words, and leaves no file."""
        before = self.cached()
        done = self.track(model, first=first, **environment)
        self.assertEqual((done.returncode, done.stdout), (REFUSED, ""), done.stderr)
        self.assertTrue(done.stderr.startswith("rejfilt: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(self.cached(), before)
        return done.stderr

    def foreign(self):
        """A library that is not a model, and the file that it creates when it runs."""
        told, library = self.folder / "told", self.folder / "foreign.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], check=True, text=True, input=TELL.format(told))
        return library, told

    def compiler(self):
        """A logging compiler, as environment variables, and its log."""
        script, log = self.folder / "logging-cc", self.folder / "log"
        script.write_text(LOGGING_COMPILER)
        script.chmod(0o700)
        log.write_text("")
        return {"CC": str(script), "COMPILER_LOG": str(log)}, log

    # ---- models that work ----

    def test_examples_learn_with_the_same_bits_on_every_engine(self):
        """After 60 measurements every first parameter is better known than at the start. One example of each kind of outcome is
        compiled with users' flags, the others without optimisation."""
        quick, kinds = self.environment.pop("REJFILT_MODEL_FLAGS"), set()
        self.assertGreaterEqual(len(EXAMPLES), 4)
        for example in EXAMPLES:
            kind = re.search(r"^    \.outcomes = (\w+)", example.read_text(), re.M)[1]
            self.environment["REJFILT_MODEL_FLAGS"] = quick if kind in kinds else ""
            kinds.add(kind)
            for precision in ("float", "double"):
                with self.subTest(example=example.name, precision=precision):
                    serial = self.good(example, "--precision", precision, "--engine", "serial")
                    self.assertEqual(serial, self.good(example, "--precision", precision, "--engine", "simd"))
            with self.subTest(example=example.name):
                belief = "mixture" if ".interchangeable" in example.read_text() else "gaussian"  # one Gaussian cannot distinguish mirror images
                lines = self.good(example, *(["--attempts", "1000"] if belief == "gaussian" else []), "--belief", belief).splitlines()
                first, last = (json.loads(lines[i])["parameters"][0]["sd"] for i in (0, -1))
                self.assertLess(last, first)

    def test_four_parameters(self):
        """With constant parameters the default is a mixture, else one Gaussian. The mixture learns its first records again, so
        it ends right: near the posterior of passes. Of 40 intervals of 95 %, fewer than 33 hold the truth once in 10,000 times."""
        dose, draw, held = ROOT / "lab/models/dose.c", random.Random(4), 0
        self.environment["REJFILT_MODEL_FLAGS"] = ""
        believed = lambda *more: json.loads(self.track(dose, "--trials", "1", *more).stdout)["belief"]
        self.assertEqual((believed(), believed("--drift", "b=0.01")), ("mixture", "gaussian"))
        for _ in range(10):
            b, v, k, h = (draw.uniform(low, high) for low, high in ((-0.2, 0.2), (0.5, 2), (0.1, 10), (0.5, 4)))
            doses = [10 ** draw.uniform(-2, 2) for _ in range(50)]
            rows = "".join(f"{s},0.05,{b + (v - b) / (1 + (k / s) ** h) + draw.gauss(0, 0.05)}\n" for s in doses)
            (self.folder / "doses.csv").write_text("s,noise,outcome\n" + rows)
            run = lambda *more: subprocess.run([COMMAND, "track", "doses.csv", "--json", "--model", dose, *more], cwd=self.folder, timeout=LONGEST,
                                               env=self.environment, text=True, capture_output=True, check=True).stdout.splitlines()
            lines, exact = [json.loads(line) for line in run()], json.loads(run("--passes")[0])
            self.assertEqual(lines[-1]["health"], "tracking")
            for p, right in zip(lines[-1]["parameters"], exact["parameters"]):
                self.assertLess(abs(p["chart_mean"] - right["chart_mean"]), 0.4 * right["chart_sd"])
            held += sum(p["low"] <= truth <= p["high"] for p, truth in zip(lines[-1]["parameters"], (b, v, k, h)))
        self.assertGreaterEqual(held, 33)

    def test_counts_of_your_own(self):
        """The evidence is that of the closed form; a run with checkpoints resumes; its posterior is shown, and is the prior of
        the next run."""
        self.write(RATE)
        data, state = self.folder / "counts.csv", self.folder / "run.state"
        counts = [(1, 4), (1, 7), (0.5, 2), (2, 11), (1, 3)]
        data.write_text("t,outcome\n" + "".join(f"{t},{k}\n" for t, k in counts))

        def call(*arguments, code=0, says=""):
            done = subprocess.run([COMMAND, *map(str, arguments)], env=self.environment, capture_output=True, text=True, timeout=LONGEST)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(says, done.stderr)
            return done.stdout

        def evidence(low, high):  # the integral of r^S e^(-rT) over the prior, S counts in a time T
            s, t = sum(k for _, k in counts), sum(t for t, _ in counts)
            below = lambda r: sum(math.exp(i * math.log(r * t) - r * t - math.lgamma(i + 1)) for i in range(s + 1))
            factor = sum(k * math.log(t) - math.lgamma(k + 1) for t, k in counts)
            return factor + math.lgamma(s + 1) - (s + 1) * math.log(t) + math.log(below(low) - below(high)) - math.log(high - low)

        found = json.loads(call("compare", "--model", self.model, "--model", self.model, "--prior=2:10", "--data", data, "--json"))
        for candidate, prior in zip(found["candidates"], ((1, 20), (2, 10))):
            self.assertLess(abs(candidate["log_evidence"] - evidence(*prior)), 4 * candidate["log_evidence_sd"])
        whole = call("track", "--model", self.model, "--data", data, "--format=csv").splitlines()
        half = self.folder / "half.csv"
        half.write_text("".join(data.read_text().splitlines(True)[:3]))
        resumed = call("track", "--model", self.model, "--data", half, "--state", state, "--format=csv").splitlines()
        resumed += call("track", "--model", self.model, "--data", data, "--state", state, "--format=csv").splitlines()[1:]
        self.assertEqual(resumed, whole)
        for command in ("show", "export"):
            call("state", command, state, code=REFUSED, says=f"state: {state} is a run of your own model 'rate'; name its source with --model FILE.c")
        shown = call("state", "show", state, "--model", self.model)
        mean, sd = (float(x) for x in whole[-1].split(",")[3:5])
        self.assertIn(f"r = {mean:.6g} +- {sd:.3g} 1/µs", shown)
        posterior, second = self.folder / "posterior.json", self.folder / "next.state"
        posterior.write_text(call("state", "export", state, "--model", self.model))
        call("state", "import", posterior, "--state", second, "--model", self.model)
        self.assertIn(f"r = {mean:.4g}", call("state", "show", second, "--model", self.model))
        for bad, says in (("4.5", "4.5 is not a whole number from 0 on"), ("-1", "-1 is not a whole number from 0 on"), ("many", "'many' is not a number")):
            half.write_text(f"t,outcome\n1,{bad}\n")
            call("track", "--model", self.model, "--data", half, code=REFUSED, says=f"line 2: column outcome: {says}")

    def test_counts_with_outliers(self):
        """They open, a count far off moves nothing, and a negative mean is still refused."""
        far = RATE.replace("#define RF_HAS_EXPECTED", "#define RF_HAS_EXPECTED\n#define RF_OUTLIERS RF_C(0.02), 0, 90")
        records = "t,outcome\n" + "1,5\n" * 20
        means = [json.loads(subprocess.run([COMMAND, "track", f"--model={self.write(far)}"], input=given, text=True, capture_output=True, env=self.environment,
                                           timeout=LONGEST, check=True).stdout.splitlines()[-1])["parameters"][0]["mean"] for given in (records, records + "1,80\n")]
        self.assertAlmostEqual(means[0], means[1], delta=0.05)
        wrong = self.track(self.write(far.replace("return x[0]", "return -x[0]")))
        self.assertEqual((wrong.returncode, "the mean of a count is from 0 on" in wrong.stderr), (REFUSED, True), wrong.stderr)

    def test_interchangeable_parameters_come_in_ascending_order(self):
        beat = ROOT / "examples/beat.c"
        for belief in ("gaussian", "mixture", "particles:500"):
            for line in self.good(beat, "--belief", belief, "--seed", "3").splitlines():
                first, second = json.loads(line)["parameters"]
                self.assertLess(first["truth"], second["truth"])
                self.assertLessEqual(first["mean"], second["mean"], belief)
        self.write(beat.read_text().replace('"w2", RF_REAL, 0, 1, 0', '"w2", RF_REAL, 0, 2, 0'))
        self.refused(self.model, "description.interchangeable: w1 and w2 differ in chart, range or drift")

    def test_a_copy_of_a_built_in_model_gives_its_bits(self):
        del self.environment["REJFILT_MODEL_FLAGS"]
        self.write(PRECESSION)
        for precision in ("float", "double"):
            for engine in ("serial", "simd"):
                with self.subTest(precision=precision, engine=engine):
                    options = ("--precision", precision, "--engine", engine, "--seed", "7")
                    self.assertEqual(self.good(self.model, *options), self.good("precession", *options))

    def test_a_designer_may_draw(self):
        """What design.h declares can be called, in both precisions: in a loaded model, and in one linked with the library."""
        calls = """    rf_real x[1], width[1];
    RF(design_draw)(in, 1, x);
    width[0] = in->sd[0] * RF(design_uniform)(in, 2);
    RF(design_roles)(in, x, width, setting);
    if (!in->is_anchor)
        setting[0] = x[0] * RF(design_uniform)(in, 3);
"""
        designer = (ROOT / "examples/designer.c").read_text()
        body = designer[designer.rindex("    setting[0] ="):designer.rindex("}")]
        self.write(designer.replace(body, calls))
        for precision in ("float", "double"):
            times = [str(json.loads(line)["settings"]) for line in self.good(self.model, "--precision", precision).splitlines()]
            self.assertGreater(len(set(times)), 50)
        program = """#include "rejfilt/detail/real.h"
#include "rejfilt/host.h"
static void draw(const void *self, uint32_t index, uint32_t purpose, rf_real x[]) { (void)self, (void)purpose, x[0] = (rf_real)(index + 1); }
int RF(try_it)(void)
{
    extern const RF(instance) RF(model_own);
    const rf_real mean = 20, sd = RF_C(0.1);
    const RF(design_input) in = {.instance = &RF(model_own), .description = RF(model_own).description, .mean = &mean, .chart_mean = &mean, .sd = &sd, .draw = draw, .seed = 1};
    rf_real setting[1];
    RF(model_own).design->choose(&in, setting);
    return !(setting[0] > 0 && setting[0] <= 2);
}
"""
        objects = []
        for bits in (32, 64):
            for name, text in (("model", f'#include "{self.model}"\n#include "rejfilt/detail/instantiate.h"\n'),
                               ("try", program)):
                objects.append(str(self.folder / f"{name}{bits}.o"))
                subprocess.run(["cc", "-std=c11", "-I", ROOT / "include", f"-DRF_PRECISION={bits}", "-DRF_MODEL_NAME=own", "-DRF_NO_KERNELS", "-c", "-x", "c", "-",
                                "-o", objects[-1]], input=text, text=True, check=True)
        (self.folder / "main.c").write_text("int rf32_try_it(void), rf64_try_it(void);\nint main(void) { return rf32_try_it() + rf64_try_it(); }\n")
        library = pathlib.Path(COMMAND).parent / "librejfilt.a"
        subprocess.run(["cc", self.folder / "main.c", *objects, library, "-pthread", "-ldl", "-lm", *os.environ.get("CFLAGS", "").split(), "-o", self.folder / "own"], check=True)
        self.assertEqual(subprocess.run([self.folder / "own"]).returncode, 0)

    def test_a_constant_may_be_a_macro(self):
        plain = self.good(self.write(PRECESSION))
        for define in ("0.5", "5e-1", "0x1p-1", "QUARTER_TWICE\n#define QUARTER_TWICE 0.5"):
            with self.subTest(define):
                self.write(f"#define CONTRAST {define}\n" + PRECESSION.replace("RF_C(0.5) *", "RF_C(CONTRAST) *"))
                self.assertEqual(plain, self.good(self.model))

    def test_a_path_may_have_any_characters(self):
        self.model = self.folder / "my $(touch x) 'quoted\" model;.c"
        self.write('#include "beside.h"\n' + PRECESSION)
        (self.folder / "beside.h").write_text("\n")
        headers = self.folder / 'the "headers"'
        headers.symlink_to(ROOT / "include")
        for compiler in filter(shutil.which, ("gcc", "clang")):
            with self.subTest(compiler):
                self.good(self.model, CC=compiler, REJFILT_INCLUDE=str(headers))
        self.assertFalse((self.folder / "x").exists() or pathlib.Path("x").exists())
        self.model = self.folder / "a<b>.c"
        self.good(self.write(PRECESSION))
        for name in ('a"b>.c', "a\nb.c", "a??(b.c"):
            self.model = self.folder / name
            self.refused(self.write(PRECESSION), "cannot be included", "rename")
            self.model.unlink()

    # ---- the cache ----

    def test_what_is_compiled_again(self):
        """Nothing that was compiled already. But after any change of the source, a header, the flags or the compiler, even if size and time stay."""
        environment, log = self.compiler()
        header = self.folder / "contrast.h"
        header.write_text('#pragma once\n#define CONTRAST RF_C(0.50)\n#if RF_PRECISION == 64\n#include "wide.h"\n#endif\n')
        wide = self.folder / "wide.h"
        wide.write_text("#define WIDE RF_C(1.00)\n")
        self.write('#include "contrast.h"\n' + PRECESSION.replace("RF_C(0.5) *", "CONTRAST *"))

        def run(**more):
            log.write_text("")
            output = self.good(self.model, **{**environment, **more})
            return output, "-shared" in log.read_text()

        def replace(path, old, new):  # as `cp -p` of another version
            before = path.stat()
            path.write_text(path.read_text().replace(old, new))
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

        first = run()
        self.assertTrue(first[1])
        self.assertEqual(self.cache.stat().st_mode & 0o777, 0o700)
        self.assertEqual((run(), len(self.cached())), ((first[0], False), 1))
        for path, old, new in ((header, "0.50", "0.25"), (self.model, "CONTRAST *", "RF_C(.33) *"), (self.model, "RF_C(.33) *", "RF_C(.40) *")):
            before = run()[0]
            replace(path, old, new)
            after, is_made = run()
            self.assertTrue(is_made and after != before)
            self.assertEqual(run(), (after, False))
        replace(wide, "1.00", "1.25")  # seen in double only
        self.assertEqual([run()[1], run()[1]], [True, False])
        self.assertEqual([run(REJFILT_MODEL_FLAGS=flags)[1] for flags in ("-O0 -DOTHER", "-O0 -DOTHER=2", "-O0  -DOTHER ")], [True, True, False])
        replace(self.folder / "logging-cc", "exec cc", "exec  cc")
        self.assertEqual([run()[1], run()[1]], [True, False])

    def test_a_damaged_object_is_made_again(self):
        """It is never loaded, whichever bit is wrong. The compiler links once; later it gives a copy of that."""
        script, log, ready = self.folder / "quick-cc", self.folder / "log", self.folder / "ready.so"
        script.write_text('#!/bin/sh\nout=\nfor word; do [ "$last" = -o ] && out=$word; last=$word; done\n'
                          f'case "$*" in *-shared*) echo >> {log}; [ -e {ready} ] || cc "$@" -o {ready}; exec cp {ready} "$out";;\n'
                          f'*" -c "*) [ ! -e {ready} ] || exec touch "$out";; esac\nexec cc "$@"\n')
        script.chmod(0o700)
        environment, draw = {"CC": str(script)}, random.Random(1)
        self.environment.update(environment)
        before = self.good(self.write(PRECESSION))
        (name,) = self.cached()
        path = self.cache / name
        whole = path.read_bytes()
        flips = [draw.randrange(8 * len(whole)) for _ in range(int(os.environ.get("REJFILT_FLIPS", "30")))] + [8 * len(whole) - 1]
        damaged = [b"", b"not an object", whole[:5000], whole[:-1], whole + b"x", whole[:-16], ready.read_bytes()]
        damaged += [whole[:bit // 8] + bytes([whole[bit // 8] ^ 1 << bit % 8]) + whole[bit // 8 + 1:] for bit in flips]
        for damage in damaged:
            path.write_bytes(damage)
            log.write_text("")
            self.assertEqual(before, self.good(self.model))
            self.assertEqual((self.cached(), log.read_text(), path.read_bytes() == whole), ([name], "\n", True))
        log.write_text("")
        self.assertEqual((before, log.read_text()), (self.good(self.model), ""))
        shutil.copy(path, self.cache / f"{'0' * 32}.so")  # under another name it is no object of that key
        self.write(PRECESSION + "#define OTHER\n")
        ready.unlink()
        self.good(self.model)
        other = next(p for p in self.cache.glob("*.so") if p.name not in (name, f"{'0' * 32}.so"))
        shutil.copy(path, other)
        log.write_text("")
        self.good(self.model)
        self.assertEqual(log.read_text(), "\n")

    def test_what_killed_processes_left_is_removed(self):
        """Folders of the dead, at once; those of the living stay."""
        self.write(PRECESSION)
        self.cache.mkdir(mode=0o700)
        slow, started = self.folder / "slow-cc", self.folder / "started"
        slow.write_text('#!/bin/sh\ncase "$*" in *" -c "*) touch "$STARTED"; sleep 60;; esac\nexec cc "$@"\n')
        slow.chmod(0o700)

        def begin():
            started.unlink(missing_ok=True)
            run = subprocess.Popen([COMMAND, "track", "--simulate", "--model", str(self.model)], start_new_session=True,
                                   env={**self.environment, "CC": str(slow), "STARTED": str(started)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            limit = time.monotonic() + LONGEST
            while not started.exists() and time.monotonic() < limit:
                time.sleep(0.01)
            return run

        def kill(run):
            os.killpg(run.pid, signal.SIGKILL)
            run.wait(timeout=LONGEST)

        dead = begin()
        kill(dead)
        (left,) = self.cache.iterdir()
        alive = begin()
        self.addCleanup(kill, alive)
        (held,) = self.cache.glob("tmp.*")
        self.assertNotEqual(held, left)
        self.good(self.model)
        self.assertEqual([p.suffix if p != held else "held" for p in sorted(self.cache.iterdir(), key=lambda p: p.suffix != ".so")], [".so", "held"])

    def test_an_object_that_others_may_have_touched_is_made_again(self):
        """Code that others could write is not run; it would report itself."""
        foreign, told = self.foreign()
        before = self.good(self.write(PRECESSION))
        (name,) = self.cached()
        path = self.cache / name
        self.assertEqual(path.stat().st_mode & 0o7777, 0o600)
        code = foreign.read_bytes()
        for mode in (0o600, 0o622, 0o755, None):
            path.unlink()
            path.symlink_to(foreign) if mode is None else path.write_bytes(code)
            if mode is not None:
                path.chmod(mode)
            self.assertEqual(before, self.good(self.model))
            self.assertFalse(told.exists())
            self.assertEqual((path.is_symlink(), path.stat().st_mode & 0o7777), (False, 0o600))
            told.unlink(missing_ok=True)
        if os.geteuid() == 0:
            path.write_bytes(code)
            os.chown(path, 12345, 12345)
            self.assertEqual(before, self.good(self.model))
            self.assertEqual((told.exists(), path.stat().st_uid), (False, 0))

    def test_processes_at_the_same_time(self):
        self.write(PRECESSION)
        command = [COMMAND, "track", "--simulate", "--json", "--steps", "60", "--model", str(self.model)]
        runs = [subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        outputs = {run.communicate(timeout=LONGEST)[0] for run in runs}
        self.assertEqual([run.returncode for run in runs], [0] * 4)
        self.assertEqual((len(outputs), len(self.cached())), (1, 1))

    def test_an_interrupted_compilation_leaves_nothing(self):
        slow = self.folder / "slow-cc"
        slow.write_text('#!/bin/sh\ncase "$*" in *" -c "*) touch "$STARTED"; sleep 60;; esac\nexec cc "$@"\n')
        slow.chmod(0o700)
        started = self.folder / "started"
        self.write(PRECESSION)
        run = subprocess.Popen([COMMAND, "track", "--simulate", "--model", str(self.model)], start_new_session=True,
                               env={**self.environment, "CC": str(slow), "STARTED": str(started)},
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        limit = time.monotonic() + LONGEST
        while not started.exists() and time.monotonic() < limit:
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGINT)
        self.assertNotEqual(run.wait(timeout=LONGEST), 0)
        self.assertEqual(self.cached(), [])

    def test_cache_in_the_usual_places(self):
        environment = {k: v for k, v in self.environment.items() if k not in ("REJFILT_CACHE", "XDG_CACHE_HOME")}
        self.environment = {**environment, "HOME": str(self.folder)}
        self.good(self.write(PRECESSION))
        self.assertEqual(len(list((self.folder / ".cache" / "rejfilt").glob("*.so"))), 1)
        self.good(self.model, XDG_CACHE_HOME=str(self.folder / "xdg"))
        self.assertEqual(len(list((self.folder / "xdg" / "rejfilt").glob("*.so"))), 1)

    def test_caches_that_are_refused(self):
        self.write(PRECESSION)
        real, link, shared, file = (self.folder / name for name in ("real", "link", "shared", "file"))
        real.mkdir(mode=0o700)
        link.symlink_to(real)
        shared.mkdir()
        shared.chmod(0o777)
        file.write_text("")
        self.refused(self.model, "symbolic link", REJFILT_CACHE=str(link))
        for end in ("/", "//", "/.", "/./", "/./.", "//.//"):
            self.refused(self.model, "symbolic link", REJFILT_CACHE=str(link) + end)
        (real / "x").mkdir(mode=0o700)
        self.refused(self.model, "ends in '..'", REJFILT_CACHE=f"{link}/x/..")
        self.refused(self.model, "ends in '..'", REJFILT_CACHE=f"{real}/x/../.")
        (real / "x").rmdir()
        for mode in (0o777, 0o720, 0o704, 0o710):
            shared.chmod(mode)
            self.refused(self.model, "others have access", "chmod 700", REJFILT_CACHE=str(shared))
        self.refused(self.model, "cache", REJFILT_CACHE=str(file))
        self.refused(self.model, "cannot make the cache", REJFILT_CACHE=str(file / "cache"))
        self.assertEqual((list(real.iterdir()), list(shared.iterdir())), ([], []))

    def test_a_cache_may_lie_where_others_write(self):
        self.write(PRECESSION)
        shared = self.folder / "shared"
        shared.mkdir()
        for mode in (0o1777, 0o777, 0o770):
            shared.chmod(mode)
            self.good(self.model, REJFILT_CACHE=str(shared / "cache"))
        self.assertEqual(len(list((shared / "cache").glob("*.so"))), 1)

    def test_the_directory_that_was_checked_is_the_one_used(self):
        """If the cache is exchanged while the model is tried, the checked directory stays in use."""
        foreign, told = self.foreign()
        self.good(self.write(EXCHANGE + PRECESSION))
        (name,) = self.cached()
        other = self.folder / "other"
        other.mkdir(mode=0o700)
        shutil.copy(foreign, other / name)
        done = self.track(self.model, CACHE=str(self.cache), OTHER=str(other), MOVED=str(self.folder / "moved"))
        self.assertFalse(told.exists() or other.exists())
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_fresh_object_goes_where_was_checked(self):
        """The compiler also writes to the checked directory, whatever directory has its name by then."""
        self.write(PRECESSION)
        other, script = self.folder / "other", self.folder / "exchanging-cc"
        other.mkdir(mode=0o700)
        script.write_text(f'#!/bin/sh\ncase "$*" in *" -c "*) mv -T "{self.cache}" "{self.folder}/moved" && mv -T "{other}" "{self.cache}";; esac\n'
                          'exec cc "$@"\n')
        script.chmod(0o700)
        self.good(self.model, CC=str(script))
        self.assertEqual((len(list((self.folder / "moved").glob("*.so"))), self.cached()), (1, []))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_user_who_exchanges_the_cache_is_not_run(self):
        """In a directory that everybody may write to, nobody can exchange the cache, even in many attempts."""
        nobody = pwd.getpwnam("nobody")
        foreign, told = self.foreign()
        self.folder.chmod(0o755)
        shared = self.folder / "shared"
        shared.mkdir()
        shared.chmod(0o777)
        self.cache, theirs = shared / "cache", shared / "theirs"
        before = self.good(self.write(PRECESSION), REJFILT_CACHE=str(self.cache))
        (name,) = self.cached()
        theirs.mkdir(mode=0o700)
        for path in (theirs, pathlib.Path(shutil.copy(foreign, theirs / name))):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
        libc, exchanged = ctypes.CDLL(None), shared / "exchanged"
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(nobody.pw_gid)
                os.setuid(nobody.pw_uid)
                while True:
                    if libc.renameat2(-100, str(self.cache).encode(), -100, str(theirs).encode(), 2) == 0:
                        exchanged.touch()
                    time.sleep(0.001)
            finally:
                os._exit(1)
        try:
            runs = []
            for _ in range(40):
                runs.append(self.track(self.model, REJFILT_CACHE=str(self.cache)))
                self.assertFalse(told.exists(), "foreign code was run")
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        self.assertTrue(exchanged.exists())
        for run in runs:
            self.assertEqual(run.stdout, "" if "another user" in run.stderr else before, run.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root can write everywhere")
    def test_a_cache_without_permission_to_write(self):
        self.write(PRECESSION)
        self.cache.mkdir(mode=0o500)
        self.refused(self.model, "cannot write in the cache")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a directory away")
    def test_a_cache_of_another_user(self):
        self.write(PRECESSION)
        self.cache.mkdir(mode=0o700)
        os.chown(self.cache, 12345, 12345)
        self.refused(self.model, "another user")

    # ---- models that do not compile ----

    def test_what_the_compiler_says_is_shown(self):
        line = PRECESSION[:PRECESSION.index("rf_sin_squared")].count("\n") + 1
        message = self.refused(self.write(PRECESSION.replace("rf_sin_squared", "rf_sine_squared")),
                               "mymodel.c does not compile; the compiler says:", f"mymodel.c:{line}:", "rf_sine_squared", "hint: ")
        self.assertGreater(len(message.splitlines()), 3)

    def test_long_complaints_are_cut_at_a_line(self):
        nonsense = "".join(f"int nonsense_{i} = undeclared_{i};\n" for i in range(300))
        message = self.refused(self.write(PRECESSION + nonsense), "undeclared_0", "…", "hint: ")
        cut = message.splitlines().index("…")
        self.assertTrue(message.splitlines()[cut + 1].startswith("hint: "))

    def test_hints(self):
        self.environment["REJFILT_MODEL_FLAGS"] = "-O0"  # compiles faster
        for find, replace, *words in (
            ("rf_real likelihood", "rf_real likely", "hint: a model defines RF_FN rf_real likelihood("),
            ("rf_description description", "rf_description other", "hint: a model defines static const rf_description"),
            ('#include "rejfilt/model.h"', "", 'hint: a model begins with #include "rejfilt/model.h"'),
            ("rf_sin_squared(", "sin(", "hint: use rf_sin, rf_cos"),
            ("rf_sin_squared(", "M_PI * rf_sin_squared(", "hint: C11 has no M_PI"),
            ("RF_C(0.5)", "RF_C((0.5))", "hint: RF_C takes one number"),
            ("RF_C(0.5)", "RF_C(2)", "hint: RF_C takes one number"),
        ):
            with self.subTest(replace=replace):
                self.refused(self.write(PRECESSION.replace(find, replace)), "does not compile", *words)
        self.refused(self.write("#include <math.h>\n" + PRECESSION.replace("rf_sin_squared(", "sin(")), "hint: use rf_sin, rf_cos")

    def test_no_compiler(self):
        self.refused(self.write(PRECESSION), "no compiler '/nonexistent'", "install gcc", CC="/nonexistent")
        self.refused(self.model, "no compiler 'cc'", "install gcc", PATH="/nonexistent")

    def test_a_compiler_that_makes_nothing(self):
        for compiler in ("true", "echo", "cc -fsyntax-only"):
            with self.subTest(compiler):
                message = self.refused(self.write(PRECESSION), f"the compiler '{compiler.split()[0]}' made no file", CC=compiler)
                self.assertEqual(len(message.splitlines()), 1)

    # ---- Surroundings of the process ----

    def test_little_stack(self):
        """The loader needs no more stack than a built-in model. A compiler needs more: it gets what the hard limit allows."""
        def stack(soft, hard):
            return lambda: resource.setrlimit(resource.RLIMIT_STACK, (soft << 10, hard << 10))
        del self.environment["REJFILT_MODEL_FLAGS"]  # -O0 takes more stack
        plain = self.good("precession", first=stack(64, 64))
        self.assertEqual(plain, self.good(self.write(PRECESSION), first=stack(64, 8192)))
        for size in (64, 80, 96):
            self.assertEqual(plain, self.good(self.model, first=stack(size, size)))  # compiled before
        self.write(PRECESSION + "#define OTHER\n")
        self.refused(self.model, "does not compile", "the stack is limited to 64 KB", "ulimit -s", first=stack(64, 64))

    def test_children_that_nobody_waits_for(self):
        """SIGCHLD is ignored, as in some programs that start this one."""
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.good(self.write(PRECESSION), first=ignore)
        self.good(self.model, first=ignore)
        self.refused(self.write(PRECESSION + "nonsense"), "does not compile", first=ignore)
        crash = PRECESSION.replace(BODY, "    volatile int *p = 0;\n    *p = 1;\n" + BODY)
        self.refused(self.write(crash), "crashes when it is evaluated", first=ignore)

    def test_closed_descriptors(self):
        plain = self.good(self.write(PRECESSION))
        for closed in ((0,), (2,), (0, 2)):
            for cached in (True, False):
                with self.subTest(closed=closed, cached=cached):
                    if not cached:
                        shutil.rmtree(self.cache)
                    self.assertEqual(plain, self.good(self.model, first=lambda: [os.close(number) for number in closed]))

    @unittest.skipUnless(os.geteuid() == 0, "only root can hide /proc")
    def test_no_proc(self):
        hidden = subprocess.run(["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh", COMMAND, "track",
                                 "--simulate", "--model", self.write(PRECESSION)], env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LONGEST)
        if hidden.stderr.startswith(("unshare:", "mount:")):
            self.skipTest("mounting is not allowed here")
        self.assertEqual((hidden.returncode, hidden.stdout), (REFUSED, ""))
        self.assertIn("/proc is not mounted", hidden.stderr)
        self.assertEqual(self.cached(), [])

    def test_no_headers(self):
        self.refused(self.write(PRECESSION), "REJFILT_INCLUDE", "rejfilt/model.h", REJFILT_INCLUDE=str(self.folder))

    def test_files_that_are_no_source(self):
        self.refused(self.model, "cannot read", "No such file")
        self.refused(self.folder, "is a directory")
        self.refused(self.write(""), "is empty")
        self.refused("/dev/null", "special file")

    # ---- models that compile and are wrong ----

    def test_descriptions(self):
        self.environment["REJFILT_MODEL_FLAGS"] = "-O0"  # compiles faster
        for find, replace, *words in (
            ('.name = "precession"', ".name = 0", "description.name"),
            (".dim = 1", ".dim = 0", "description.dim is 0"),
            (".dim = 1", ".dim = 17", "description.dim is 17"),
            (".dim = 1", ".dim = 2", "description.parameter[1].name"),
            (".settings = 2", ".settings = 17", "description.settings is 17"),
            (".settings = 2", ".settings = 3", "description.setting[2].name"),
            (".outcomes = 2", ".outcomes = 0", "RF_HAS_SIMULATE"),
            (".outcomes = 2", ".outcomes = 1", "description.outcomes is 1"),
            (".outcomes = 2", ".outcomes = 2, .is_log = 2", "description.is_log is 2"),
            (".fringe = ", ".fringe = -1 * ", "description.fringe is -6.28"),
            ("RF_TIME_MAX, 0}", "RF_TIME_MAX, -1}", "description.setting[0] (t)", "cost is -1"),
            (".outcomes = 2", ".outcomes = 2, .interchangeable = 2", "description.interchangeable is 2, and there are 1 parameters"),
            ("RF_REAL, 0,", "RF_BOUNDED, 2,", "description.parameter[0] (x)", "not a range"),
            ("RF_REAL, 0,", "RF_PERIODIC, 1.0 / 0.0 * 0,", "not a range"),
            ("RF_REAL, 0,", "RF_POSITIVE, -1,", "positive"),
            ("RF_REAL, 0,", "(rf_chart_kind)9, 0,", "description.parameter[0].chart"),
            ("0.026179938779914944", "-1", "drift is -1"),
            ("RF_SETTING_TIME, 0, 0", "RF_SETTING_TIME, 1, 0", "description.setting[0] (t)", "parameter is 1"),
            ("RF_SETTING_TIME, 0, 0, 0", "RF_SETTING_LOGRANGE, 0, 0, 0", "low is 0"),
            ("RF_SETTING_TIME", "(rf_setting_role)9", "role"),
            ('"x_", ', '"t", ', "two settings are called 't'"),
        ):
            with self.subTest(replace=replace):
                self.refused(self.write(PRECESSION.replace(find, replace, 1)), "mymodel.c: ", *words)

    def test_values(self):
        self.environment["REJFILT_MODEL_FLAGS"] = "-O0"  # compiles faster
        for statement, *words in (
            ("return rf_log(RF_C(-1.0));", "likelihood is NaN, outcome = 0, at x = 0.785398, t = 2.2", "look at its indices"),
            ("return outcome != 0 ? RF_C(1.5) : RF_C(-0.5);", "likelihood is -0.5, outcome = 0, at x = ", "a probability is from 0 to 1"),
            ("return -rf_log(RF_C(0.0));", "likelihood is inf, outcome = 0, at x = "),
            ("return rf_sin_squared(x[0] * setting[0]);", "the probabilities of its 2 outcomes sum to ", "it is the same for every outcome: return 1 - p"),
            ("return outcome != 0 ? RF_C(0.3) : RF_C(0.6);", "sum to 0.9, not to 1, at x = ", "was 1 - p forgotten"),
            ("return outcome != 0 ? RF_C(1.5) : RF_C(0.5);", "likelihood is 1.5, outcome = 1, at x = ", "probabilities of whole outcomes are at most 1"),
            ("return setting[0] > RF_C(8.0) ? RF_C(0.9) : RF_C(0.5);", "sum to 1.8, not to 1, at x = "),
            ("return RF_C(0.5) * rf_exp(-x[1] * x[1]);", "likelihood is NaN, outcome = 0, at x = 0.785398, t = 2.2", "look at its indices"),
            ("return RF_C(0.5) * rf_exp(-setting[2] * setting[2]);", "likelihood is NaN, outcome = 0, at x = 0.785398, t = 2.2", "look at its indices"),
        ):
            with self.subTest(statement=statement):
                self.refused(self.write(PRECESSION.replace(BODY, f"    {statement}\n{BODY}")), *words)
        bound = "#define RF_HAS_BOUND\nRF_FN rf_real bound(const rf_real setting[], rf_real outcome)\n{\n" \
                "    return setting[0] + outcome > 0 ? RF_C(%s) : RF_C(1.0);\n}\n"
        self.refused(self.write(PRECESSION + bound % "0.5"), "above bound")
        self.refused(self.write(PRECESSION + bound % "0.0"), "bound is 0")
        self.refused(self.write(RATE.replace("return x[0]", "return (x[0] - 5)")), "expected is -", "the mean of a count is from 0 on")
        # settings that were not tried are tried with the first record
        late = "    if (setting[0] > 1000)\n        return RF_C(0.75);\n"
        self.write(PRECESSION.replace(BODY, late + BODY))
        for skip in ((), ("--skip-bad",)):
            done = subprocess.run([COMMAND, "track", "--json", "--model", self.model, *skip], env=self.environment, text=True, capture_output=True,
                                  input='{"t": 2000, "x_": 0.3, "outcome": 1}\n')
            self.assertEqual((done.returncode, done.stdout), (REFUSED, ""))
            self.assertIn("line 1: model precession: the probabilities of its 2 outcomes sum to 1.5, not to 1, at x = ", done.stderr)

    def test_crashes_and_endless_loops(self):
        self.environment["REJFILT_MODEL_FLAGS"] = "-O0"  # compiles faster
        constructor = "#include <stdlib.h>\n__attribute__((constructor)) static void first(void) { %s; }\n"
        for name, text, *words in (
            ("abort", PRECESSION + constructor % "abort()", "crashes when it is loaded"),
            ("exit", PRECESSION + constructor % "exit(0)", "ends the program when it is loaded"),
            ("null", PRECESSION.replace(BODY, "    volatile int *p = 0;\n    *p = 1;\n" + BODY), "crashes when it is evaluated"),
            ("loop", PRECESSION.replace(BODY, "    for (volatile int i = 1; i;)\n        ;\n" + BODY), "stopped after 5 seconds"),
        ):
            with self.subTest(name):
                message = self.refused(self.write(text), *words)
                self.assertEqual(len(message.splitlines()), 1)

    def test_what_a_model_prints_while_it_is_tried_is_not_output(self):
        talk = "#include <stdio.h>\n" + PRECESSION.replace(
            BODY, '    static int said;\n    if (!said++)\n        puts("hello"), fflush(stdout);\n' + BODY)
        plain, loud = self.good(self.write(PRECESSION)), self.track(self.write(talk))
        self.assertEqual(loud.returncode, 0, loud.stderr)
        self.assertLessEqual(loud.stdout.count("hello"), 2)  # printed by the run itself, once per precision
        self.assertEqual(loud.stdout.replace("hello\n", ""), plain)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        COMMAND = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
