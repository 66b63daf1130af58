"""Several runs with one checkpoint: python3 tests/faults/test_locks.py [path/to/rejfilt] [-v]"""
import os, pathlib, signal, struct, subprocess, sys, unittest, zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tracking import COMMAND, LONGEST, NO_LEAK_CHECK, Live, Run, position, preloading, resealed, track, unsaid


class Locks(Run):
    def setUp(self):
        super().setUp()
        self.state, self.lines = self.folder / "run.state", self.data.splitlines(keepends=True)

    def names(self):
        return sorted(os.listdir(self.folder))

    def check_rest(self, done):
        """What follows these records, in a run that has the state for itself and leaves nothing beside it."""
        rest = track(*self.options, f"--state={self.state}", given="".join(self.lines[done:]))
        self.assertEqual((rest, position(self.state)), ("".join(self.whole.splitlines(keepends=True)[done:]), self.count))
        self.assertEqual([name for name in self.names() if name.startswith("run.state")], ["run.state"])

    def test_the_second_run_is_refused(self):
        """At once, without a word on its output, and without reading a record; the first does not notice."""
        (self.folder / "there").symlink_to(self.folder)
        with Live(*self.options, f"--state={self.state}") as live:
            for k in range(10):
                live.ask(self.lines[k])
            live.wait_until(lambda: self.state.exists() and position(self.state) == 10)
            before = self.state.read_bytes()
            (self.folder / "link").symlink_to("run.state")
            for path in ("run.state", "link", "there/run.state", f"../{self.folder.name}/run.state"):
                for form in ("json", "csv"):
                    read, write = os.pipe()  # from which nothing ever comes
                    done = subprocess.run([COMMAND, "track", *self.options, f"--state={path}", f"--format={form}"], stdin=read, capture_output=True, text=True,
                                          timeout=LONGEST, cwd=self.folder)
                    os.close(read)
                    os.close(write)
                    self.assertEqual((done.returncode, done.stdout), (1, ""), path)
                    self.assertRegex(done.stderr, rf"\Arejfilt: track: --state: \S*run.state is in use by process {live.process.pid}; [^\n]+\n\Z")
            self.assertEqual((self.state.read_bytes(), self.names()), (before, ["link", "run.state", "run.state.lock", "there"]))
            live.ask(self.lines[10])
            self.assertEqual(live.end(), (0, ""))
        self.check_rest(11)

    def test_many_at_once(self):
        """One after the other gets it, or is told who has it: together they write every line once. A reader finds whole files."""
        data = self.file("data.json", self.data)
        command = [COMMAND, "track", *self.options, f"--state={self.state}", f"--data={data}"]
        waiting = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(8)]
        pids, lines = [process.pid for process in waiting], []
        while any(process.poll() is None for process in waiting):
            if self.state.exists():
                contents = self.state.read_bytes()
                self.assertEqual(contents, resealed(contents))
        for process in waiting:
            output, complaint = process.communicate()
            lines += output.splitlines(keepends=True)
            if process.returncode == 0:
                self.assertEqual(unsaid(complaint), "")
            else:
                self.assertEqual((process.returncode, output), (1, ""))
                self.assertRegex(complaint, rf"\Arejfilt: track: --state: {self.state} is in use by process ({'|'.join(map(str, pids))}); [^\n]+\n\Z")
        self.assertEqual("".join(lines), self.whole)
        self.assertEqual((position(self.state), self.names()), (self.count, ["data.json", "run.state"]))

    def test_what_ended_runs_leave_does_not_matter(self):
        """A run that is killed leaves its lock, one that ends by itself or by a signal it expects does not."""
        done = 0
        for number, left in ((signal.SIGKILL, True), (signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGALRM, True), (None, False)):
            with Live(*self.options, f"--state={self.state}", environment=os.environ | NO_LEAK_CHECK) as live:
                live.ask(self.lines[done])
                done += 1
                live.wait_until(lambda: self.state.exists() and position(self.state) == done)
                self.assertIn("run.state.lock", self.names())
                if number:
                    live.process.send_signal(number)
                live.end()
            self.assertEqual(self.names(), ["run.state"] + ["run.state.lock"] * left, number)
        self.check_rest(done)

    def test_killed_within_a_checkpoint(self):
        """However often: at most one half of a file stays, until the next run."""
        environment = preloading("no_rename", self.folder) | NO_LEAK_CHECK
        track(*self.options, f"--state={self.state}", given=self.lines[0])
        before = self.state.read_bytes()
        for _ in range(3):
            with Live(*self.options, f"--state={self.state}", environment=environment) as live:
                live.ask(self.lines[1])
                self.assertEqual(live.process.wait(timeout=LONGEST), -signal.SIGKILL)
            self.assertEqual(self.state.read_bytes(), before)
            self.assertEqual(len([name for name in self.names() if name.endswith(".tmp")]), 1)
        self.check_rest(1)

    def test_a_disk_without_locks(self):
        """It says so, and goes on."""
        environment = preloading("no_locks", self.folder)
        with Live(*self.options, f"--state={self.state}", environment=environment) as live:
            for line in self.lines[:10]:
                live.ask(line)
            code, complaint = live.end()
        self.assertEqual((code, position(self.state)), (0, 10))
        self.assertEqual(complaint, f"rejfilt: track: --state: {self.state}.lock cannot be locked (No locks available): take care that no other run uses {self.state}\n")
        self.check_rest(10)

    def test_a_file_with_the_name_of_the_lock(self):
        lock = pathlib.Path(self.file("run.state.lock", "somebody's"))
        track(*self.options, f"--state={self.state}", given=self.data, code=2, says=f"--state: {lock} is not a lock of rejfilt; ")
        self.assertEqual((lock.read_text(), self.names()), ("somebody's", ["run.state.lock"]))


if __name__ == "__main__":
    unittest.main()
