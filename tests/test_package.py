"""Installation and packages: python3 tests/test_package.py [BUILD_DIR] [-v]

Installed with DESTDIR for a prefix that never exists, so whatever works from there can be moved."""
import json, math, os, pathlib, re, shutil, subprocess, sys, tempfile, unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LONGEST = 120  # seconds for any one command; a hang is a failure
VERSION = re.search(r'#define RF_VERSION "(.*)"', (ROOT / "include/rejfilt/rejfilt.h").read_text())[1]
MINOR = VERSION.rsplit(".", 1)[0]  # used by the soname and find_package


def run(*command, **environment):
    done = subprocess.run([str(word) for word in command], timeout=LONGEST, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment})
    if done.returncode != 0:
        raise AssertionError(f"{command} gave {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def cached(name):
    return re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)[1]


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


def setUpModule():
    global WORK, PREFIX, LIB, REJFILT, CC
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    WORK = pathlib.Path(folder.name)
    CC = cached("CMAKE_C_COMPILER")
    run("cmake", "--install", BUILD, "--prefix", "/nowhere", DESTDIR=str(WORK / "dest"))
    PREFIX = WORK / "dest/nowhere"
    LIB, REJFILT = PREFIX / cached("CMAKE_INSTALL_LIBDIR"), PREFIX / "bin/rejfilt"


def names(path, place):
    """Does a file contain the path of a folder?"""
    return re.search(rb"(?<![\w./+-])" + re.escape(str(place).encode()) + rb"(?![\w.+-])", path.read_bytes()) is not None


def pkg_config(*words):
    return run("pkg-config", *words, "rejfilt", PKG_CONFIG_LIBDIR=str(LIB / "pkgconfig")).split()


class Install(unittest.TestCase):
    def test_nothing_goes_elsewhere_and_nothing_names_the_place(self):
        self.assertEqual([path.name for path in (WORK / "dest").iterdir()], ["nowhere"])
        for path in [*LIB.glob("cmake/rejfilt/*"), *LIB.glob("pkgconfig/*"), *PREFIX.glob("share/**/*rejfilt*")]:
            for place in (ROOT, WORK, "/nowhere"):
                self.assertFalse(names(path, place), f"{path} names {place}")

    def test_every_header_is_there(self):
        self.assertEqual(files(PREFIX / "include"), files(ROOT / "include"))

    def test_one_version_everywhere(self):
        self.assertEqual(run(REJFILT, "--version"), f"rejfilt {VERSION}\n")
        self.assertEqual(pkg_config("--modversion"), [VERSION])
        self.assertIn(f'"rejfilt {VERSION}"', (PREFIX / "share/man/man1/rejfilt.1").read_text())
        self.assertEqual(sorted(path.name for path in LIB.glob("librejfilt*")),
                         ["librejfilt.a", "librejfilt.so", f"librejfilt.so.{MINOR}", f"librejfilt.so.{VERSION}"])
        self.assertIn(f"soname: [librejfilt.so.{MINOR}]", run("readelf", "-d", LIB / "librejfilt.so"))

    def test_a_users_model_finds_the_headers(self):
        lines = run(REJFILT, "track", "--simulate", "--json", "--steps", 20, "--model", ROOT / "examples/template.c",
                    REJFILT_INCLUDE="", REJFILT_CACHE=str(WORK / "cache"), REJFILT_MODEL_FLAGS="-O0")
        self.assertEqual(len(lines.splitlines()), 20)

    def test_uninstall_leaves_only_what_is_not_ours(self):
        destination = WORK / "gone"
        prefix = destination / cached("CMAKE_INSTALL_PREFIX").lstrip("/")
        (prefix / "bin").mkdir(parents=True)  # existed before, and empty
        for _ in range(2):  # installed twice: folders from the first time are still removed
            run(ROOT / "tools/install/folders", BUILD, DESTDIR=str(destination))
            run("cmake", "--install", BUILD, DESTDIR=str(destination))
        other = prefix / "include/other.h"
        other.write_text("")
        run(ROOT / "tools/uninstall", BUILD, DESTDIR=str(destination))
        self.assertEqual(files(destination), [str(other.relative_to(destination))])
        left = sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_dir())
        self.assertEqual(left, ["bin", "include"])

    def test_the_place_does_not_matter(self):
        """No artefact contains the path of its build; objects built in two folders have the same bytes."""
        if cached("CMAKE_BUILD_TYPE") != "Release" or cached("RF_SANITIZE") not in ("", "OFF") or cached("RF_COVERAGE") == "ON":
            self.skipTest("sanitizers and coverage need the places")
        for path in (REJFILT, LIB / "librejfilt.so", LIB / "librejfilt.a", *LIB.glob("rejfilt/*.so")):
            for place in (ROOT, BUILD):
                self.assertFalse(names(path, place), f"{path} names {place}")
        objects = []
        for place in ("here", "another/place"):
            copy = WORK / place
            copy.mkdir(parents=True)
            for name in ("CMakeLists.txt", "include", "src", "apps", "lab", "tools", "ports"):
                (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, copy / name)
            run("cmake", "-S", copy, "-B", copy / "built", "-G", "Ninja", f"-DCMAKE_C_COMPILER={CC}", "-DCMAKE_BUILD_TYPE=Debug")  # compiles faster
            run("cmake", "--build", copy / "built", "--target", "rf_core", "rf_registry", "rf_cli")
            objects.append({path.relative_to(copy / "built"): path.read_bytes() for path in (copy / "built").rglob("*.o")})
        self.assertGreater(len(objects[0]), 10)
        self.assertEqual(objects[0], objects[1])

    def test_no_library_is_sought_in_a_relative_place(self):
        """An empty element of a RUNPATH means the current directory: a library there would be loaded and run."""
        built = [path for path in BUILD.rglob("*") if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"
                 and (path.suffix == ".so" or ".so." in path.name or os.access(path, os.X_OK))]
        self.assertGreater(len(built), 3)
        for path in [*built, REJFILT, *LIB.rglob("*.so")]:
            for places in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", run("readelf", "-dW", path)):
                for place in places.split(":"):
                    with self.subTest(f"{path}: {places}"):
                        self.assertTrue(place.startswith(("/", "$ORIGIN")), places)

    def test_hardened(self):
        if cached("CMAKE_BUILD_TYPE") != "Release" or cached("RF_SANITIZE") not in ("", "OFF") or cached("RF_COVERAGE") == "ON":
            self.skipTest("only Release is hardened")
        for path in (REJFILT, LIB / "librejfilt.so", *LIB.glob("rejfilt/*.so")):
            said = run("readelf", "-hldW", path)
            self.assertIn("GNU_RELRO", said)
            self.assertRegex(said, r"FLAGS.*BIND_NOW|FLAGS_1.*NOW")
            self.assertRegex(said, r"Type: +DYN")
            self.assertRegex(said, r"GNU_STACK .* RW ")  # the stack is not executable
            imported = run("nm", "-D", "--undefined-only", path)
            self.assertIn("__stack_chk_fail", imported)
            self.assertRegex(imported, r"__\w+_chk@")


class Symbols(unittest.TestCase):
    def exported(self, library):
        return {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines()}

    def declared(self):
        """Names that the headers declare as public: the last word of each declarator, without arguments."""
        source = WORK / "public.c"
        source.write_text('#include "rejfilt/session.h"\n#include "rejfilt/passes.h"\n#include "rejfilt/fleet.h"\n#include "rejfilt/classify.h"\n#include "rejfilt/gaussians.h"\n')  # these include all public headers
        text = run(CC, "-E", "-P", f"-I{ROOT}/include", source)
        names = set()
        for statement in re.findall(r'__attribute__\(\(visibility\("default"\)\)\)([^;{]*);', text):
            while re.search(r"\([^()]*\)", statement):
                statement = re.sub(r"\([^()]*\)", "", statement)
            names |= {part.split()[-1].lstrip("*") for part in statement.split(",")}
        return {name for name in names if not name.startswith("rf32_design_")}  # for firmwares, which compile them themselves

    def test_the_library_exports_what_the_headers_declare_and_no_more(self):
        declared = self.declared()
        self.assertIn("rf32_update", declared)
        self.assertIn("rf64_design_find", declared)
        self.assertEqual(self.exported(LIB / "librejfilt.so"), declared)

    def test_a_module_exports_its_one_name(self):
        for module in LIB.glob("rejfilt/*.so"):
            self.assertEqual(self.exported(module), {module.stem})


class Consumer(unittest.TestCase):
    """The example of docs/engines.md as a separate project: it learns from one record and prints the mean."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=WORK))
        shutil.copy(ROOT / "tests/consumer/CMakeLists.txt", self.folder)
        example = re.search(r"^```c\n(.*?)^```$", (ROOT / "docs/engines.md").read_text(), re.M | re.S)[1]
        (self.folder / "main.c").write_text(example)

    def check(self, program, **environment):
        """Compared with the closed form for a Gaussian prior and the cosine; a million attempts, 5 standard errors."""
        said = re.search(r"x = (\S+) ± (\S+)", run(program, **environment))
        mean, sd = float(said[1]), float(said[2])
        t, x_, mu, v = 2, 0.5, 0.75, 1.5 ** 2 / 12
        e = math.exp(-t * t * v / 2)
        c, s = e * math.cos(t * (mu - x_)), e * math.sin(t * (mu - x_))
        z = (1 + c) / 2
        self.assertLess(abs(mean - (mu - t * v * s / (2 * z))), 5 * sd / math.sqrt(1e6 * z) + 5e-5)  # printed to 1e-4

    def needs_library(self, program):
        return "librejfilt" in run("readelf", "-d", program)

    def test_cmake(self):
        run("cmake", "-S", self.folder, "-B", self.folder / "build", f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DWANTED={MINOR}",
            f"-DCMAKE_C_COMPILER={CC}")
        run("cmake", "--build", self.folder / "build")
        for kind in ("static", "shared"):
            program = self.folder / "build" / kind
            self.assertEqual(self.needs_library(program), kind == "shared")
            self.check(program)

    def test_cmake_refuses_another_version(self):
        with self.assertRaisesRegex(AssertionError, "version: " + re.escape(VERSION)):
            run("cmake", "-S", self.folder, "-B", self.folder / "build", f"-DCMAKE_PREFIX_PATH={PREFIX}", "-DWANTED=99.0")

    def test_pkg_config(self):
        program = self.folder / "shared"
        run(CC, "-std=c11", self.folder / "main.c", "-o", program, *pkg_config("--cflags", "--libs"))
        self.assertTrue(self.needs_library(program))
        self.check(program, LD_LIBRARY_PATH=str(LIB))

    def test_pkg_config_static(self):
        program = self.folder / "static"
        run(CC, "-std=c11", "-static", self.folder / "main.c", "-o", program, *pkg_config("--static", "--cflags", "--libs"))
        self.check(program)


    def test_a_program_elsewhere_finds_headers_and_modules(self):
        """Modules are searched for next to the shared library, wherever the program is."""
        (self.folder / "main.c").write_text('''#include <rejfilt/host.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char error[1000];
    const rf_model *model = argc > 2 ? rf_model_load(argv[1], error, sizeof error) : 0;
    rf_engine *engine = model ? rf_engine_open(argv[2], error, sizeof error) : 0;
    puts(engine ? rf_engine_name(engine) : error);
    rf_engine_close(engine);
    return engine ? 0 : 1;
}
''')
        program = self.folder / "elsewhere"
        run(CC, "-std=c11", self.folder / "main.c", "-o", program, *pkg_config("--cflags", "--libs"))
        environment = {"LD_LIBRARY_PATH": str(LIB), "REJFILT_CACHE": str(WORK / "cache"), "REJFILT_MODEL_FLAGS": "-O0", "REJFILT_INCLUDE": "", "REJFILT_MODULES": ""}
        self.assertEqual(run(program, ROOT / "examples/template.c", "serial", **environment), "serial\n")
        if list(LIB.glob("rejfilt/*.so")):
            self.assertEqual(run(program, ROOT / "examples/template.c", "mpi:serial", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **environment), "mpi:serial\n")


class Manual(unittest.TestCase):
    def test_no_warnings_and_every_option(self):
        page = PREFIX / "share/man/man1/rejfilt.1"
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", page], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"}, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("REJFILT TRACK", done.stdout)
        for command in [*([name] for name in commands()), *(["classify", part] for part in ("fit", "predict", "ask", "rank"))]:
            text = page.read_text().split(f'.SH "REJFILT {" ".join(command).upper()}"\n')[1].split(".SH ")[0]
            for option in options(*command):
                self.assertIn(f"\\fB{option}\\fR".replace("-", "\\-"), text, command)


def commands():
    return re.findall(r"^  ([a-z]+)  ", run(REJFILT, "--help"), re.M)


def options(*command):
    return re.findall(r"^  (--[a-z][a-z0-9-]+)", run(REJFILT, *command, "--help"), re.M)


class Completion(unittest.TestCase):
    def bash(self, *words):
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rejfilt; printf "%s\\n" "${COMPREPLY[@]}"'
        return run("bash", "-c", script, "bash", PREFIX / "share/bash-completion/completions/rejfilt", REJFILT, *words).split()

    def zsh(self, *words):
        """The candidates that the function offers; the shell chooses among them."""
        script = """fpath=($1); shift; autoload -Uz _rejfilt; words=("$@"); CURRENT=$#
            _describe() { print -l -- ${(P)2} }; _files() { print files }; _rejfilt"""
        said = run("zsh", "-fc", script, "zsh", PREFIX / "share/zsh/site-functions", REJFILT, *words)
        return [line.split(":")[0] for line in said.splitlines()]

    def test_bash(self):
        self.assertEqual(self.bash("tr"), ["track"])
        self.assertEqual(self.bash("track", "--se"), ["--seed"])
        self.assertEqual(sorted(self.bash("")), sorted(commands() + ["--help", "--version"]))
        self.assertEqual(self.bash("track", "--"), sorted(options("track")))
        self.assertEqual(self.bash("classify", "p"), ["predict"])
        self.assertEqual(self.bash("classify", "ask", "--st"), ["--state", "--stop"])
        self.assertEqual(self.bash("state", ""), ["show", "export", "import"])
        self.assertEqual(self.bash("state", "import", "a.json", "--se"), ["--seed"])
        self.assertEqual(self.bash("state", "show", "im"), [])
        self.assertEqual(self.bash("track", "--model", "pre"), ["precession"])
        self.assertEqual(self.bash("track", "--data", "x"), [])
        self.assertEqual(self.bash("nonsense", "--"), [])

    def test_zsh(self):
        self.assertEqual(sorted(self.zsh("")), sorted(commands() + ["--help", "--version"]))
        self.assertEqual(self.zsh("track", "--se"), options("track"))
        self.assertIn("precession", self.zsh("track", "--model", ""))
        self.assertEqual(self.zsh("track", "--data", ""), ["files"])
        self.assertEqual(self.zsh("state", ""), ["show", "export", "import", "files"])
        self.assertEqual(self.zsh("classify", "ask", "--st"), options("classify", "ask"))
        self.assertEqual(self.zsh("state", "import", "a.json", "--"), options("state") + options("track"))


class Archives(unittest.TestCase):
    def test_deb_installs_and_leaves_nothing(self):
        package = run(ROOT / "tools/deb", BUILD, WORK).strip()
        depends = run("dpkg-deb", "-f", package, "Depends")
        for library in ("libc6", "libjansson4", "libinih1"):
            self.assertRegex(depends, rf"\b{library} \(>= ")
        self.assertNotIn("mpi", depends)
        root = WORK / "system"
        (root / "var/lib/dpkg/info").mkdir(parents=True)
        (root / "var/lib/dpkg/updates").mkdir()
        (root / "var/lib/dpkg/status").write_text("")
        dpkg = ([] if os.geteuid() == 0 else ["fakeroot"]) + ["dpkg", f"--root={root}", "--force-depends", "--force-not-root"]
        run(*dpkg, "-i", package)
        said = run(root / "usr/bin/rejfilt", "track", "--simulate", "--trials", 2, "--steps", 120, "--json")
        self.assertEqual(json.loads(said)["trials"], 2)
        self.assertIn("\nprefix=/usr\n", "\n" + next(root.rglob("rejfilt.pc")).read_text())
        run(*dpkg, "-r", "rejfilt")
        self.assertEqual([name for name in files(root) if not name.startswith("var/")], [])

    def test_tarball_is_the_same_twice_and_whole(self):
        if subprocess.run(["git", "-C", ROOT, "rev-parse", "-q", "--verify", "HEAD"], capture_output=True).returncode != 0:
            self.skipTest("a tarball is made from git")
        first, second = [pathlib.Path(run(ROOT / "tools/dist", WORK / name).strip()) for name in ("one", "two")]
        self.assertEqual(first.read_bytes(), second.read_bytes())
        self.assertEqual(first.name, f"rejfilt-{VERSION}.tar.gz")
        run("tar", "-xzf", first, "-C", WORK)
        tree = WORK / f"rejfilt-{VERSION}"
        self.assertEqual(files(tree), sorted(run("git", "-C", ROOT, "ls-tree", "-r", "--name-only", "HEAD").split("\n")[:-1]))
        run("cmake", "-S", tree, "-B", tree / "build", "-DRF_TESTS=ON", PATH=without_git())
        run("cmake", "--build", tree / "build", "--target", "rf_core", PATH=without_git())


def without_git():
    """A search path on which git fails."""
    (WORK / "no").mkdir(exist_ok=True)
    git = WORK / "no/git"
    git.write_text("#!/bin/sh\nexit 1\n")
    git.chmod(0o755)
    return f"{git.parent}:{os.environ['PATH']}"


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
