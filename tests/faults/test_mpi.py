"""MPI jobs: records reach all ranks, and ranks that die: python3 tests/faults/test_mpi.py [path/to/rejfilt] [-v]"""
import contextlib, os, pathlib, random, re, shutil, signal, subprocess, sys, time, unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tracking import COMMAND, LONGEST, NO_LEAK_CHECK, Live, Test, position, simulate, track

DEATHS = max(3, int(os.environ.get("REJFILT_KILLS", "0")) // 50)


@unittest.skipUnless(shutil.which("mpirun") and (pathlib.Path(COMMAND).parent / "rejfilt_mpi.so").exists(), "no mpirun, or no mpi engine")
class Mpi(Test):
    def command(self, ranks, *options):
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks), COMMAND, "track", "--engine=mpi", *options]

    def setUp(self):
        super().setUp()
        os.environ["REJFILT_MODULES"] = str(pathlib.Path(COMMAND).parent)
        os.environ |= NO_LEAK_CHECK  # the leaks are MPI's own
        self.data = simulate("--steps=60")

    def test_records_reach_all_ranks(self):
        expected = track("--batch=2", given=self.data)
        for ranks in (1, 3):
            done = subprocess.run(self.command(ranks, "--batch=2"), input=self.data, capture_output=True, text=True, timeout=LONGEST)
            self.assertEqual((done.returncode, done.stdout.replace("\r", "")), (0, expected), done.stderr)

    def test_bad_records_end_all_ranks(self):
        done = subprocess.run(self.command(2), input=self.data + "oops\n", capture_output=True, text=True, timeout=LONGEST)
        self.assertEqual((done.returncode, done.stdout.replace("\r", "")), (2, track(given=self.data)), done.stderr)
        self.assertEqual(done.stderr.count("line 61"), 1)

    def test_questions(self):
        expected = track("--ask", given="1\n0\n1\n")
        done = subprocess.run(self.command(2, "--ask"), input="1\n0\n1\n", capture_output=True, text=True, timeout=LONGEST)
        self.assertEqual((done.returncode, done.stdout.replace("\r", "")), (0, expected), done.stderr)

    def test_a_checkpoint_that_cannot_be_written_ends_all_ranks(self):
        done = subprocess.run(self.command(2, "--state=/proc/run.state"), input=self.data, capture_output=True, text=True, timeout=LONGEST)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("--state: cannot write"), 1)

    def test_a_second_job_with_the_same_checkpoint(self):
        """The first rank locks it, and says for all who has it; whoever has it, with or without MPI."""
        state, lines = self.folder / "run.state", self.data.splitlines()
        refusal = rf"rejfilt: track: --state: {state} is in use by process \d+;"
        for first, second in ((2, 2), (2, 0), (0, 2)):
            with Live(f"--state={state}", command=self.command(first, f"--state={state}") if first else None) as live:
                live.ask(lines[0])
                live.wait_until(lambda: state.exists() and position(state) == 1)
                if second:
                    done = subprocess.run(self.command(second, f"--state={state}"), input=self.data, capture_output=True, text=True, timeout=LONGEST)
                    self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                    self.assertEqual(len(re.findall(refusal, done.stderr)), 1)
                else:
                    self.assertEqual(track(f"--state={state}", given=self.data, code=1, says="is in use by process"), "")
                self.assertEqual(live.ask(lines[1])["step"], 1)
                self.assertEqual(live.end()[0], 0)
            self.assertEqual((position(state), os.listdir(self.folder)), (2, ["run.state"]))
            state.unlink()

    def children(self, pid):
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def left_over(self, state):
        """Processes that still have the checkpoint among their arguments."""
        found = []
        for command in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):  # it has just gone
                found += [command] * (state.encode() in command.read_bytes())
        return found

    def test_a_rank_dies(self):
        """One of three is killed, whichever; the job ends, and goes on with as many ranks, or fewer, or none."""
        data = simulate("--steps=60", "--attempts=100000")
        state, lines, whole = str(self.folder / "run.state"), data.splitlines(keepends=True), track("--attempts=100000", given=data)
        chance = random.Random(7)
        for death in range(DEATHS):
            with self.subTest(death=death), Live(command=self.command(3, "--attempts=100000", f"--state={state}")) as live:
                seen = [live.ask(line) for line in lines[: chance.randint(1, 30)]]
                live.process.stdin.write("".join(lines[len(seen):]).encode())  # the rest at once: it dies at work
                live.process.stdin.flush()
                time.sleep(chance.uniform(0, 0.005))
                os.kill(self.children(live.process.pid)[-3:][death % 3], signal.SIGKILL)
                self.assertNotEqual(live.end()[0], 0)
            until = time.monotonic() + LONGEST
            while self.left_over(state):
                self.assertLess(time.monotonic(), until, "processes are left behind")
                time.sleep(0.05)
            done = position(state)
            self.assertTrue(len(seen) - 1 <= done <= len(seen) + live.rest.count("\n"))
            given, wanted = "".join(lines[done:]), "".join(whole.splitlines(keepends=True)[done:])
            ranks = (3, 2, 0)[death % 3]
            again = subprocess.run(self.command(ranks, "--attempts=100000", f"--state={state}"), input=given, capture_output=True, text=True, timeout=LONGEST).stdout if ranks \
                else track("--attempts=100000", f"--state={state}", given=given)
            self.assertEqual((again.replace("\r", ""), position(state)), (wanted, 60))
            os.remove(state)

    def test_interrupt(self):
        state, lines = str(self.folder / "run.state"), self.data.splitlines()
        with Live(command=self.command(2, f"--state={state}")) as live:
            for k in range(5):
                live.say(lines[k])
                live.line()
            live.process.send_signal(signal.SIGTERM)
            self.assertNotEqual(live.end()[0], 0)
        self.assertEqual(position(state), 5)


if __name__ == "__main__":
    unittest.main()
