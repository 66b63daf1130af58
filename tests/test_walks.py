#!/usr/bin/env python3
"""The walks of CONTRIBUTING.md, followed exactly in a copy of the tree: a likelihood, an engine, a designer and a belief are
added in the places that the walks name and nowhere else; then the tests that go by the lists run.

usage: tests/test_walks.py    (`make check KIND=walks`)"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = "engines32|engines64|session|cli|live|names|layers|alone|headers|calibration|fuzz_numerics|fuzz_options"

ENGINE_OPEN = """/* An engine to try: serial's attempts, from another folder. */
#include <string.h>

#include "dummy.h"

static int dummy_open(rf_engine *engine, const char *argument, char *error, size_t size)
{
    if (argument)
        return rf_fail(error, size, "engine 'dummy' takes no argument, but got '%.40s'", argument);
    engine->f32.run = rf32_dummy_run;
    engine->f64.run = rf64_dummy_run;
    strcpy(engine->name, "dummy");
    return 0;
}

const rf_engine_kind rf_kind_dummy = {.name = "dummy", .open = dummy_open};
"""
ENGINE_RUN = """/* Its work, in two halves: each attempt does the same whatever the range. Compiled per precision. */
#include "dummy.h"

#include "serial/serial.h"

rf_status RF(dummy_run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    const rf_status status = RF(any_run)(self, task, begin, count / 2, tally);
    return status < 0 ? status : RF(any_run)(self, task, begin + count / 2, count - count / 2, tally);
}
"""


def walk(name):
    """The text of a walk."""
    found = re.search(rf"\*\*… {name}\?\*\*(.*?)\n\n", (ROOT / "CONTRIBUTING.md").read_text(), re.S)
    assert found, f"CONTRIBUTING.md has no walk '{name}'"
    return " ".join(found.group(1).split())


def names(text, *words):
    """The walk must mention what is done here."""
    for word in words:
        assert word in text, f"a walk does not name {word}"


class Tree:
    def __init__(self, place):
        self.place = place
        tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, stdout=subprocess.PIPE)
        paths = tracked.stdout.splitlines() if tracked.returncode == 0 else [
            str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file() and not re.match(r"build|dist|\.git/", str(path.relative_to(ROOT)))]
        for path in paths:
            if (ROOT / path).is_file():
                (place / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, place / path)

    def copy(self, old, new, *changes):
        """A new file, made from an existing one."""
        text = (self.place / old).read_text()
        for a, b in changes:
            assert a in text, f"{old} has no '{a}'"
            text = text.replace(a, b)
        self.write(new, text)

    def write(self, new, text):
        path = self.place / new
        assert not path.exists()
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def add_line(self, file, line):
        with (self.place / file).open("a") as out:
            out.write(line + "\n")

    def add_row(self, file, after, row):
        """Adds a row after the last row of a table whose rows begin so."""
        lines = (self.place / file).read_text().splitlines()
        at = max(i for i, text in enumerate(lines) if text.startswith(after))
        lines.insert(at + 1, row)
        (self.place / file).write_text("\n".join(lines) + "\n")


def add_all(tree):
    names(walk("add a likelihood"), "src/models/", "coin.h", "list.def")
    tree.copy("src/models/coin.h", "src/models/dummy.h", ('"coin"', '"dummy"'))
    tree.add_line("src/models/list.def", "RF_MODEL(dummy)")

    names(walk("add an engine"), "src/engines/", "run.c", "open.c", "list.def", "docs/engines.md")
    tree.copy("src/engines/simd/simd.h", "src/engines/dummy/dummy.h", ("simd", "dummy"))
    tree.write("src/engines/dummy/open.c", ENGINE_OPEN)
    tree.write("src/engines/dummy/run.c", ENGINE_RUN)
    tree.add_line("src/engines/list.def", 'RF_ENGINE(dummy, "", 0)')
    tree.add_row("docs/engines.md", "| `serial` |", "| `dummy` | serial's attempts | nothing |")

    names(walk("add a designer"), "src/design/", "pgh.c", "list.def")
    tree.copy("src/design/pgh.c", "src/design/dummy.c", ("design_pgh", "design_dummy"))
    tree.add_line("src/design/list.def", 'RF_DESIGN(dummy, "dummy", 0, 0, 0)')

    names(walk("add a belief"), "src/beliefs/", "particles/particles.c", "list.def")
    tree.copy("src/beliefs/particles/particles.c", "src/beliefs/dummy/dummy.c", ("rf_belief_particles", "rf_belief_dummy"),
              ('"particles"', '"dummy"'), ("'particles'", "'dummy'"), ('"particles.h"', '"particles/smc.h"'), ("rf_particles_", "rf_dummy_"))
    tree.add_line("src/beliefs/list.def", 'RF_BELIEF(dummy, "dummy[:N]")')


def run(*command, place):
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], cwd=place)
    if done.returncode != 0:
        sys.exit(done.returncode)


def shows(place, *words):
    """The command must list the additions by itself."""
    text = subprocess.run([place / "build/rejfilt", *words], text=True, stdout=subprocess.PIPE, check=True).stdout
    assert "dummy" in text, f"rejfilt {' '.join(words)} does not name dummy"


def main():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / "rejfilt"
        add_all(Tree(place))
        # -O1: kernels compile in a fifth of the time; only bits and lists are tested
        run("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DRF_TESTS=ON", "-DCMAKE_C_FLAGS_RELEASE=-O1", place=place)
        run("cmake", "--build", "build", place=place)
        shows(place, "models")
        shows(place, "track", "--help")
        run("build/rejfilt", "track", "--simulate", "--model", "dummy", "--belief", "dummy:100", "--design", "dummy", "--engine", "dummy",
            "--steps", "20", "--format", "text", place=place)
        run("tools/test", "build", "-R", f"^({TESTS})$", place=place)
        run(sys.executable, "tests/test_docs.py", "build", "Engines", place=place)


if __name__ == "__main__":
    main()
