"""Pipes that close, clog or stop in the middle of a line, and signals: python3 tests/faults/test_pipes.py [path/to/rejfilt] [-v]"""
import itertools, os, pathlib, random, select, signal, subprocess, sys, time, unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tracking import COMMAND, LONGEST, Live, Run, is_sanitized, memory, position, preloading, track


class Interrupts(Run):
    def interrupted(self, number, wait):
        state = str(self.folder / "run.state")
        lines = self.data.splitlines()
        with Live(*self.options, f"--state={state}", "--state-every=7") as live:
            for k in range(10):
                live.say(lines[k])
                live.line()
            if not wait:
                for line in lines[10:]:
                    live.process.stdin.write(line.encode() + b"\n")
                live.process.stdin.flush()
            else:
                time.sleep(0.05)  # it waits for input
            live.process.send_signal(number)
            code, complaint = live.end()
            self.assertEqual((code, complaint), (130, ""))
            self.assertTrue(live.rest == "" or live.rest.endswith("\n"))
            done = 10 + len(live.rest.splitlines())
        self.assertEqual(position(state), done)
        whole = self.whole.splitlines(keepends=True)
        self.assertEqual(live.rest, "".join(whole[10:done]))
        rest = track(*self.options, f"--state={state}", given="".join(line + "\n" for line in lines[done:]))
        self.assertEqual(rest, "".join(whole[done:]))
        os.remove(state)

    def test_interrupts(self):
        for number, wait in itertools.product((signal.SIGINT, signal.SIGTERM), (True, False)):
            with self.subTest(signal=number, wait=wait):
                self.interrupted(number, wait)

    def test_interrupted_as_it_begins_to_wait(self):
        """A signal between its last look and its sleep is not slept over until the next record."""
        for arguments in (["track"], ["track", "--engine=threads:2"], ["compare", "--model=precession", "--model=coin"]):
            with Live(command=[COMMAND, *arguments], environment=preloading("late_signal", self.folder)) as live:
                self.assertEqual(live.process.wait(timeout=LONGEST), 130)

    def test_interrupted_while_nobody_reads(self):
        """The line under way is written to its end, whenever somebody reads it."""
        state, data = str(self.folder / "run.state"), self.file("data.json", self.data * 20)
        whole = track("--seed=1", given=self.data * 20).splitlines(keepends=True)
        with open(data) as source, subprocess.Popen([COMMAND, "track", "--seed=1", f"--state={state}"], stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            deadline, seen = time.monotonic() + LONGEST, -1
            while not os.path.exists(state) or seen != (seen := position(state)):  # until the pipe is full
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            time.sleep(0.1)
            output, complaint = process.communicate(timeout=LONGEST)
        done = position(state)
        self.assertEqual((process.returncode, complaint, output), (130, "", "".join(whole[:done])))
        self.assertLess(done, len(whole))

    def test_interrupted_while_it_asks(self):
        answers = random.Random(2).choices(["0", "1"], k=20)
        whole = track("--ask", given="".join(a + "\n" for a in answers))
        state = str(self.folder / "ask.state")
        with Live("--ask", f"--state={state}", "--state-every=7") as live:
            for a in answers[:10]:
                live.line()
                live.say(a)
                live.line()
            live.line()
            live.process.send_signal(signal.SIGINT)
            self.assertEqual(live.end(), (130, ""))
        rest = track("--ask", f"--state={state}", "--state-every=7", given="".join(a + "\n" for a in answers[10:]))
        self.assertEqual(rest, "".join(whole.splitlines(keepends=True)[20:]))


class Resumption(Run):
    def test_it_says_where_it_goes_on(self):
        """To people at a terminal; others read `step`."""
        state, lines = self.folder / "run.state", self.data.splitlines(keepends=True)
        track(*self.options, f"--state={state}", given="".join(lines[:17]))
        ours, theirs = os.openpty()
        done = subprocess.run([COMMAND, "track", *self.options, f"--state={state}"], input=lines[17].encode(), stdout=subprocess.DEVNULL, stderr=theirs, timeout=LONGEST)
        os.close(theirs)
        said = b""
        while said.count(b"\n") < 2 and select.select([ours], [], [], 1)[0]:
            said += os.read(ours, 1000)
        said = said.decode().replace("\r", "")
        os.close(ours)
        self.assertEqual((done.returncode, said), (0, f"{state}: 17 records are known; the run continues with record 18\nrejfilt: track: standard input: 0 known, 1 new\n"))


class ClosedPipes(Run):
    """The reader goes away, as `head` does."""

    def until_closed(self, lines_read, preexec_fn=None):
        state, data = self.folder / "run.state", self.file("data.json", self.data * 20)
        with open(data) as source, subprocess.Popen([COMMAND, "track", "--seed=1", f"--state={state}"], stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                                    text=True, preexec_fn=preexec_fn, restore_signals=preexec_fn is None) as process:
            read = [process.stdout.readline() for _ in range(lines_read)]
            process.stdout.close()
            complaint = process.stderr.read()
            process.wait(timeout=LONGEST)
        whole = track("--seed=1", given=self.data * 20).splitlines(keepends=True)
        self.assertEqual(read, whole[:lines_read])
        done = position(state)
        self.assertTrue(lines_read <= done < len(whole), done)  # a line is written before it is in the checkpoint
        rest = track("--seed=1", f"--state={state}", f"--data={data}")
        self.assertEqual(rest, "".join(whole[done:]))
        os.remove(state)
        return process.returncode, complaint

    def test_it_ends_as_filters_do(self):
        for lines_read in (1, 17):
            self.assertEqual(self.until_closed(lines_read), (-signal.SIGPIPE, ""))

    def test_where_the_signal_is_ignored_it_says_so(self):
        code, complaint = self.until_closed(3, lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
        self.assertEqual((code, complaint), (1, "rejfilt: could not write all output: Broken pipe\n"))

    def test_other_commands(self):
        for arguments in (["models"], ["track", "--help"], ["compare", "--model=precession", "--model=coin"]):
            read, write = os.pipe()
            os.close(read)
            with subprocess.Popen([COMMAND, *arguments], stdin=subprocess.PIPE, stdout=write, stderr=subprocess.PIPE) as process:
                os.close(write)
                _, complaint = process.communicate(self.data.encode(), timeout=LONGEST)
            self.assertEqual((process.returncode, complaint), (-signal.SIGPIPE, b""), arguments)


class Streams(Run):
    """Standard streams that are closed, full, or open the wrong way; for every command."""
    commands = (["--help"], ["--version"], ["help"], ["help", "track"], ["models"], ["models", "--json"], ["track"], ["track", "--format=csv"], ["track", "--ask"],
                ["track", "--help"], ["track", "--print-config"], ["track", "--simulate"], ["track", "--simulate", "--trials=2"],
                ["compare", "--model=precession", "--model=coin"], ["classify", "--data=table.csv", "--label=class"], ["classify", "rank", "--data=table.csv", "--label=class"])

    def ended(self, *arguments, closed=(), given=None, **more):
        """Exit code and complaint of a command without these descriptors."""
        with open(self.file("given", self.data if given is None else given)) as source:
            streams = {"stdin": source, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE} | more
            done = subprocess.run([COMMAND, *arguments], timeout=LONGEST, cwd=self.folder, preexec_fn=lambda: [os.close(d) for d in closed], **streams)
        return done.returncode, done.stderr.decode()

    def test_output_that_cannot_be_written(self):
        self.file("table.csv", "a,b,class\n" + "".join(f"{k * 37 % 101 / 10},{k * 61 % 103 / 10},{'xy'[k * 37 % 101 > 50]}\n" for k in range(1, 43)))
        wrong_way = os.open("/dev/null", os.O_RDONLY)
        self.addCleanup(os.close, wrong_way)
        for arguments in self.commands:
            with self.subTest(arguments=arguments):
                self.assertEqual(self.ended(*arguments), (0, ""))
                self.assertEqual(self.ended(*arguments, closed=[1]), (1, "rejfilt: standard output is closed; to discard results, send them to /dev/null\n"))
                self.assertEqual(self.ended(*arguments, closed=[1, 2]), (1, ""))
                self.assertEqual(self.ended(*arguments, stdout=wrong_way), (1, "rejfilt: could not write all output: Bad file descriptor\n"))
                if os.path.exists("/dev/full"):
                    with open("/dev/full", "w") as full:
                        self.assertEqual(self.ended(*arguments, stdout=full), (1, "rejfilt: could not write all output: No space left on device\n"))

    def test_a_checkpoint_holds_no_line_that_nobody_got(self):
        state, lines = self.folder / "run.state", self.data.splitlines(keepends=True)
        track(*self.options, f"--state={state}", given="".join(lines[:10]))
        before = state.read_bytes()
        for every in (1, 7, 1000):
            self.assertEqual(self.ended("track", *self.options, f"--state={state}", f"--state-every={every}", closed=[1], given="".join(lines[10:]))[0], 1)
            self.assertEqual((state.read_bytes(), sorted(os.listdir(self.folder))), (before, ["given", "run.state"]))
        self.assertEqual(track(*self.options, f"--state={state}", given="".join(lines[10:])), "".join(self.whole.splitlines(keepends=True)[10:]))

    def test_input_that_cannot_be_read(self):
        """Not an empty input; and nothing to those who do not read it."""
        for command in (["track"], ["track", "--ask"], ["compare", "--model=precession", "--model=coin"]):
            code, complaint = self.ended(*command, closed=[0])
            self.assertEqual(code, 2)
            self.assertRegex(complaint, r"\Arejfilt: \w+: standard input: line 1: cannot read: Bad file descriptor\n\Z")
            with open(self.folder / "wrong-way", "w") as wrong_way:
                self.assertEqual(self.ended(*command, stdin=wrong_way), (code, complaint))
        for command in (["track", f"--data={self.file('data.json', self.data)}"], ["track", "--simulate"], ["models"]):
            self.assertEqual(self.ended(*command, closed=[0]), (0, ""))

    def test_files_never_land_on_a_standard_stream(self):
        """Else a message would be written into a file, or a file be read as records."""
        data = self.folder / "data"
        os.mkfifo(data)
        for closed in ([0], [2], [0, 2]):
            command = [COMMAND, "track", *self.options, f"--data={data}", f"--state={self.folder}/run.state", "--skip-bad"]
            with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=lambda: [os.close(d) for d in closed]) as process:
                with open(data, "w") as sink:  # it has opened its input, and waits
                    sink.write(self.data.splitlines(keepends=True)[0])
                    sink.flush()
                    process.stdout.readline()
                    self.assertEqual([os.readlink(f"/proc/{process.pid}/fd/{d}") for d in closed], ["/dev/null"] * len(closed))
                    sink.write("oops\n")
                self.assertEqual((process.wait(timeout=LONGEST), position(self.folder / "run.state")), (0, 1))
            (self.folder / "run.state").unlink()


class SlowReader(Run):
    def test_it_waits_for_its_reader(self):
        """With a full pipe it stands still: nothing piles up in memory, nothing is lost, the checkpoint is what was delivered."""
        copies = 100
        state, data = self.folder / "run.state", self.file("data.json", self.data * copies)
        whole = track("--seed=1", given=self.data * copies)
        with open(data) as source, subprocess.Popen([COMMAND, "track", "--seed=1", f"--state={state}", "--state-every=10"], stdin=source, stdout=subprocess.PIPE,
                                                    stderr=subprocess.PIPE, pipesize=4096) as process:
            sizes, read = [], b""
            while part := os.read(process.stdout.fileno(), 1500):
                read += part
                if len(sizes) < 40:  # slow at first: a line and a half at a time
                    time.sleep(0.005)
                    sizes.append(memory(process.pid))
                    done = position(state) if state.exists() else 0
                    in_the_pipe = 4096 // len(whole.split("\n")[0]) + 1
                    self.assertLessEqual(done, read.count(b"\n") + in_the_pipe)
            complaint = process.stderr.read()
            process.wait(timeout=LONGEST)
        self.assertEqual((process.returncode, complaint, read.decode()), (0, b"", whole))
        self.assertEqual(position(state), self.count * copies)
        if not is_sanitized():  # freed memory is kept from use for a while
            self.assertLessEqual(sizes[-1] - sizes[5], 65536)  # all lines would be 3 MB


class HalfLines(Run):
    """Inputs that stop in the middle of a line, at every byte of it."""
    json = '{"t": 1.5, "x_": 0.25, "outcome": 1, "time": 17}'
    csv = "t,x_,outcome\n1,0.2,1\n1.5,0.25,0"

    def test_json(self):
        before = '{"t": 1, "x_": 0.2, "outcome": 1, "time": 5}\n'
        whole = track(given=before + self.json + "\n")
        first, second = whole.splitlines(keepends=True)
        self.assertEqual(track(given=before + self.json), whole)  # complete but for its line end
        for cut in range(1, len(self.json)):
            state = self.folder / "run.state"
            output = track(f"--state={state}", given=before + self.json[:cut], code=2, says="standard input: line 2: ")
            self.assertEqual((output, position(state)), (first, 1))
            self.assertEqual(track(f"--state={state}", given=self.json), second)
            state.unlink()

    def test_csv(self):
        """A row of too few fields is refused; whether a last number is whole cannot be told."""
        whole = track(given=self.csv + "\n")
        self.assertEqual(track(given=self.csv), whole)
        row = self.csv.splitlines()[-1]
        for cut in range(1, row.rindex(",") + 1):
            output = track(given=self.csv[: -len(row)] + row[:cut], code=0 if row[:cut].count(",") == 2 else 2, says="" if row[:cut].count(",") == 2 else "standard input: line 3: ")
            self.assertEqual(output.splitlines()[0], whole.splitlines()[0])

    def test_a_file_that_is_still_written(self):
        """Half a line now, all of it later: the run goes on as if it had been whole."""
        lines = self.data.splitlines(keepends=True)
        state, data = self.folder / "run.state", self.folder / "data.json"
        data.write_text("".join(lines[:20]) + lines[20][:37])
        first = track(*self.options, f"--state={state}", f"--data={data}", code=2, says=f"{data}: line 21: ")
        data.write_text(self.data)
        self.assertEqual(first + track(*self.options, f"--state={state}", f"--data={data}"), self.whole)



if __name__ == "__main__":
    unittest.main()
