"""Disks that are full or cannot be written to: python3 tests/faults/test_disk.py [path/to/rejfilt] [-v]

As root the disk is a tmpfs of 256 KB, mounted for this process alone; without, a limit on the size of files stands in."""
import ctypes, os, pathlib, resource, shutil, subprocess, sys, unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tracking import COMMAND, LONGEST, ROOT, Live, Run, position, track

CLONE_NEWNS = 0x20000
DISK = 256 * 1024


def mounts_are_ours():
    """Mounts that only this process and its children see; that needs root."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNS) != 0:
        return False
    return subprocess.run(["mount", "--make-rprivate", "/"], stderr=subprocess.DEVNULL).returncode == 0


class Disk(Run):
    def run_into(self, output, state, data, **more):
        """A run whose output goes to a file; what it says before it fails."""
        with open(output, "ab") as out:
            done = subprocess.run([COMMAND, "track", "--seed=1", f"--state={state}"], input=data.encode(), stdout=out, stderr=subprocess.PIPE, timeout=LONGEST, **more)
        return done.returncode, done.stderr.decode()

    def check_failed(self, code, complaint, *words):
        self.assertEqual(code, 1, complaint)
        self.assertRegex(complaint, r"\Arejfilt: [^\n]+\n\Z")
        for word in words:
            self.assertIn(word, complaint)

    def check_continuation(self, output, state, whole, data):
        """What was written is the beginning of the whole; a line cut short is not in the state; what follows the state is the rest."""
        written = output.read_text()
        self.assertTrue(whole.startswith(written))
        done = position(state)
        self.assertLessEqual(done, written.count("\n"))
        lines, records = whole.splitlines(keepends=True), data.splitlines(keepends=True)
        self.assertLess(done, len(lines))
        self.assertEqual(track("--seed=1", f"--state={state}", given="".join(records[done:])), "".join(lines[done:]))


class Folders(Disk):
    def test_nowhere_to_write(self):
        for path in (self.folder / "missing" / "run.state", pathlib.Path("/proc/run.state")):
            self.assertEqual(track(*self.options, f"--state={path}", given=self.data, code=1, says=f"--state: cannot write {path}.lock: No such file or directory"), "")
        # a folder that goes away under way
        folder = self.folder / "soon-gone"
        folder.mkdir()
        lines = self.data.splitlines()
        with Live(*self.options, f"--state={folder}/run.state") as live:
            live.say(lines[0])
            live.line()
            live.say(lines[1])
            live.line()
            live.wait_until(lambda: (folder / "run.state").exists() and position(folder / "run.state") == 2)
            shutil.rmtree(folder)
            live.say(lines[2])
            self.assertEqual(live.line()["step"], 2)
            code, complaint = live.end()
            self.assertEqual((code, complaint.count("\n")), (1, 1))
            self.assertEqual(live.rest, "")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_disk(self):
        """A line that could not be written is not in the checkpoint either."""
        state = self.folder / "run.state"
        with open("/dev/full", "w") as full:
            done = subprocess.run([COMMAND, "track", *self.options, f"--state={state}"], input=self.data, text=True, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Arejfilt: [^\n]+\n\Z")
        self.assertFalse(state.exists())
        self.assertIn("No space left on device", done.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root can write everywhere")
    def test_a_folder_without_permission(self):
        state, lines = self.folder / "run.state", self.data.splitlines(keepends=True)
        track(*self.options, f"--state={state}", given="".join(lines[:10]))
        before = state.read_bytes()
        self.folder.chmod(0o500)
        self.addCleanup(self.folder.chmod, 0o700)
        self.assertEqual(track(*self.options, f"--state={state}", given="".join(lines[10:]), code=1, says=f"--state: cannot write {state}.lock: Permission denied"), "")
        self.assertEqual(state.read_bytes(), before)

    def test_a_limit_on_the_size_of_files(self):
        """Output that reaches it; and a checkpoint over it, with the old one kept."""
        output, state, data = self.folder / "out", self.folder / "run.state", self.data * 10

        def limit(size):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        code, complaint = self.run_into(output, state, data, preexec_fn=lambda: limit(100000))
        self.check_failed(code, complaint, "could not write all output: File too large")
        self.assertEqual(output.stat().st_size, 100000)
        self.check_continuation(output, state, track("--seed=1", given=data), data)
        before = state.read_bytes()
        done = subprocess.run([COMMAND, "track", "--seed=1", f"--state={state}"], input=self.data, capture_output=True, text=True, preexec_fn=lambda: limit(100))
        self.check_failed(done.returncode, done.stderr, "--state: cannot write", "run.state: File too large")
        self.assertEqual((state.read_bytes(), sorted(os.listdir(self.folder))), (before, ["out", "run.state"]))


@unittest.skipUnless(mounts_are_ours(), "only root can mount a small disk")
class SmallDisk(Disk):
    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        self.mount("-t", "tmpfs", "-o", f"size={DISK}", "tmpfs")
        self.addCleanup(subprocess.run, ["umount", self.disk], check=True)

    def mount(self, *options):
        subprocess.run(["mount", *options, self.disk], check=True)

    def fill(self):
        with open(self.disk / "filler", "wb", buffering=0) as filler:
            while True:
                try:
                    filler.write(b"x" * 4096)
                except OSError:
                    return

    def test_output_fills_the_disk(self):
        output, state, data = self.disk / "out", self.folder / "run.state", self.data * 20
        code, complaint = self.run_into(output, state, data)
        self.check_failed(code, complaint, "could not write all output: No space left on device")
        self.assertEqual(output.stat().st_size, DISK)
        self.check_continuation(output, state, track("--seed=1", given=data), data)

    def test_output_and_state_on_one_full_disk(self):
        output, state, data = self.disk / "out", self.disk / "run.state", self.data * 20
        code, complaint = self.run_into(output, state, data)
        self.check_failed(code, complaint, "No space left on device")
        self.assertEqual(sorted(os.listdir(self.disk)), ["out", "run.state"])
        written = output.read_text()
        output.unlink()  # there is room again
        copy = self.folder / "out"
        copy.write_text(written)
        self.check_continuation(copy, state, track("--seed=1", given=data), data)

    def test_the_disk_fills_up_under_way(self):
        """The checkpoint before stays whole, and nothing half-written beside it; with room again the run goes on."""
        state, lines = self.disk / "run.state", self.data.splitlines()
        with Live(*self.options, f"--state={state}") as live:
            for k in range(10):
                live.say(lines[k])
                live.line()
            live.wait_until(lambda: position(state) == 10)
            before = state.read_bytes()
            self.fill()
            live.say(lines[10])
            self.assertEqual(live.line()["step"], 10)
            code, complaint = live.end()
        self.check_failed(code, complaint, f"--state: cannot write {state}: No space left on device")
        self.assertEqual((state.read_bytes(), sorted(os.listdir(self.disk))), (before, ["filler", "run.state"]))
        (self.disk / "filler").unlink()
        rest = track(*self.options, f"--state={state}", given="".join(line + "\n" for line in lines[10:]))
        self.assertEqual(rest, "".join(self.whole.splitlines(keepends=True)[10:]))

    def test_a_read_only_disk(self):
        state = self.disk / "run.state"
        lines = self.data.splitlines(keepends=True)
        track(*self.options, f"--state={state}", given="".join(lines[:10]))
        before = state.read_bytes()
        self.mount("-o", "remount,ro")
        output = track(*self.options, f"--state={state}", given="".join(lines[10:]), code=1, says=f"--state: cannot write {state}.lock: Read-only file system")
        self.assertEqual(output, "")
        self.assertEqual((state.read_bytes(), os.listdir(self.disk)), (before, ["run.state"]))
        self.mount("-o", "remount,rw")
        self.assertEqual(track(*self.options, f"--state={state}", given="".join(lines[10:])), "".join(self.whole.splitlines(keepends=True)[10:]))

    def test_a_cache_of_models_on_a_full_disk(self):
        """The compiler's complaint is shown, and nothing stays behind."""
        (self.disk / "cache").mkdir(mode=0o700)
        self.fill()
        environment = {**os.environ, "REJFILT_CACHE": str(self.disk / "cache"), "REJFILT_INCLUDE": str(ROOT / "include"), "REJFILT_MODEL_FLAGS": "-O0"}
        done = subprocess.run([COMMAND, "track", "--simulate", "--model", ROOT / "examples/template.c"], env=environment, capture_output=True, text=True, timeout=LONGEST)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, "No space left on device|cannot write in the cache")
        self.assertEqual(os.listdir(self.disk / "cache"), [])



if __name__ == "__main__":
    unittest.main()
