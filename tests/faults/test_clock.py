"""Clocks that are set while a run is under way: python3 tests/faults/test_clock.py [path/to/rejfilt] [-v]"""
import os, pathlib, subprocess, sys, unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tracking import COMMAND, LONGEST, Run, parse, position, preloading, unsaid


def without_timings(text):
    """The same, less the numbers that are times that it took."""
    def keep(value):
        if isinstance(value, dict):
            return {k: keep(v) for k, v in value.items() if not ("seconds" in k or k.startswith("ns_per"))}
        return [keep(v) for v in value] if isinstance(value, list) else value
    return [keep(line) for line in parse(text)]


class Clock(Run):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "looks"
        self.unsteady = {**preloading("clock", self.folder), "CLOCK_LOG": str(self.log)}

    def said(self, *command, given=None, environment=None):
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=LONGEST, env=environment)
        self.assertEqual((done.returncode, unsaid(done.stderr)), (0, ""), command)
        return done.stdout

    def looks(self):
        seen = self.log.read_text() if self.log.exists() else ""
        self.log.write_text("")
        return seen

    def test_the_clock_is_unsteady(self):
        """The shim does what these tests rely on."""
        times = [int(self.said(sys.executable, "-c", "import time; print(*(int(time.time()) for _ in range(5)))", environment=self.unsteady).split()[k]) for k in range(5)]
        self.assertGreater(max(times) - min(times), 10**7)
        self.assertIn("w", self.looks())

    def test_no_command_looks_at_the_time_of_day(self):
        """What it says does not depend on any clock, but for how long it took."""
        table = self.file("table.csv", "a,b,label\n" + "".join(f"{k % 7},{k % 5},{k % 2}\n" for k in range(300)))
        for arguments, given in (
            (["track"], self.data), (["track", "--engine=threads:2"], self.data),
            (["track", "--simulate", "--json"], None), (["track", "--simulate", "--trials=20", "--json"], None),
            (["compare", "--model=precession", "--model=coin", "--json"], self.data),
            (["classify", f"--data={table}", "--json"], None), (["classify", "rank", f"--data={table}", "--json"], None),
        ):
            with self.subTest(arguments=arguments):
                steady, unsteady = (self.said(COMMAND, *arguments, given=given, environment=e) for e in (None, self.unsteady))
                self.assertEqual(without_timings(unsteady), without_timings(steady))
                self.assertNotIn("w", self.looks())

    def test_a_checkpoint_while_the_clock_is_set(self):
        """Its file's time is the file system's affair; the run goes on by its contents."""
        state, lines = str(self.folder / "run.state"), self.data.splitlines(keepends=True)
        output = ""
        for begin, end, date in ((0, 20, 2**31), (20, 40, 0), (40, 60, 10**9)):
            output += self.said(COMMAND, "track", *self.options, f"--state={state}", given="".join(lines[begin:end]), environment=self.unsteady)
            os.utime(state, (date, date))
        self.assertEqual((output, position(state)), (self.whole, 60))


if __name__ == "__main__":
    unittest.main()
