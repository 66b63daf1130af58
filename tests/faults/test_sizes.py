"""Sizes that no memory holds are refused beforehand, with the bytes that they need: python3 tests/faults/test_sizes.py [path/to/rejfilt] [-v]"""
import os, pathlib, resource, struct, subprocess, sys, unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tracking import COMMAND, LONGEST, ROOT, Test, is_sanitized

TERA = 1 << 40


class Sizes(Test):
    def refused(self, *arguments, says, code=2, limit=None, environment=None):
        """One line that says so, at once."""
        preexec = (lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))) if limit else None
        done = subprocess.run([COMMAND, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST, preexec_fn=preexec, env=environment)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (code, "", 1), done.stderr)
        self.assertIn(says, done.stderr)

    def sparse(self, name, head, size):
        """A file that says it is that large, and is, but takes no room."""
        path = self.file(name, head)
        os.truncate(path, len(head) + size)
        return path

    def idx(self, *shape, code=8):
        return struct.pack(f">HBB{len(shape)}I", 0, code, len(shape), *shape)

    def test_tables_whose_headers_are_true(self):
        rows, features = 1 << 30, 1 << 12
        for name, head, bytes_each, needed in (
            ("a.idx", self.idx(rows, features), 1, rows * features),
            ("b.idx", self.idx(rows // 4, features, code=13), 4, 2 * rows * features),  # numbers are kept as doubles
            ("c.idx", self.idx(rows // 8, features, code=14), 8, rows * features),
        ):
            with self.subTest(name=name):
                path = self.sparse(name, head, 4 * TERA)
                for command in (["classify"], ["classify", "rank"]):
                    self.refused(*command, f"--train={path}", says=f"{name} needs {needed} bytes of memory; there are ")

    def test_tables_whose_headers_are_not(self):
        """More than the file can hold; and products beyond 64 bits, which must not come out small."""
        most = 2**32 - 1
        for name, head in (
            ("a.idx", self.idx(1 << 30, 1 << 12)), ("b.idx", self.idx(most, most, most, most)), ("c.idx", self.idx(1 << 31, 1 << 31, 4, 1)),
            ("d.idx", self.idx(1 << 31, 1 << 31, 1 << 2, code=14)),
        ):
            with self.subTest(name=name):
                self.refused("classify", f"--train={self.sparse(name, head, 1000)}", says="bytes of numbers, but it has 1000")

    @unittest.skipIf(is_sanitized(), "sanitizers want all addresses for themselves")
    def test_a_table_that_fits_and_a_layout_that_does_not(self):
        rows, features = 1 << 17, 1 << 10
        head = self.idx(rows, features)
        path = self.sparse("a.idx", head, rows * features)
        with open(path, "r+b") as table:  # a second label
            table.seek(-1, os.SEEK_END)
            table.write(b"\x01")
        test = self.file("b.idx", self.idx(2, features) + bytes(2 * features))
        self.refused("classify", f"--train={path}", f"--test={test}", limit=256 << 20, says=f"needs {rows * (features - 1) * 5 // 2} bytes of memory; there are {256 << 20}")

    def test_trials(self):
        most = 10**9
        self.refused("track", "--simulate", f"--trials={most}", f"--steps={most}", says=f"needs {most * 8 * (most - 100)} bytes of memory")
        if is_sanitized():
            self.skipTest("sanitizers want all addresses for themselves")
        self.refused("track", "--simulate", "--trials=1000000", "--steps=300", limit=512 << 20, says=f"needs {1000000 * 8 * 200} bytes of memory; there are {512 << 20}")

    def test_dimensions_of_models(self):
        """A model says its own; a filter of so many would need bytes that it is not given."""
        model = self.file("wide.c", (ROOT / "src/models/coin.h").read_text().replace(".dim = 1", ".dim = 100000"))
        environment = {**os.environ, "REJFILT_CACHE": str(self.folder / "cache"), "REJFILT_INCLUDE": str(ROOT / "include"), "REJFILT_MODEL_FLAGS": "-O0"}
        for arguments in (["track", "--simulate", "--model", model], ["compare", "--model=coin", "--model", model]):
            self.refused(*arguments, says="description.dim is 100000", environment=environment)

    def test_options_that_take_memory_have_limits(self):
        for option in (["track", "--simulate", "--engine=threads:1000000"], ["track", "--simulate", "--batch=4000000000"], ["track", "--simulate", "--attempts=9999999999"],
                       ["compare", "--model=coin", "--model=phase", "--repeat=1000000000"], ["classify", "--data=synthetic", "--particles=4000000000"],
                       ["classify", "--data=synthetic", "--threads=1000000"], ["classify", "--data=synthetic", "--shuffles=18446744073709551615"]):
            self.refused(*option, says=option[-1].split("=")[0].lstrip("-"))


if __name__ == "__main__":
    unittest.main()
