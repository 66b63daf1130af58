"""Killed with SIGKILL at random instants, and resumed: python3 tests/faults/test_kills.py [path/to/rejfilt] [-v]

REJFILT_KILLS is how often (100)."""
import json, os, pathlib, random, signal, subprocess, sys, time, unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tracking import COMMAND, LONGEST, NO_LEAK_CHECK, Live, Run, parse, position, records_of, track, unsaid

KILLS = int(os.environ.get("REJFILT_KILLS", "100"))


class Kills(Run):
    def merge(self, kept, output):
        """Lines of a run that went on: a repeated one is identical, none is missing."""
        for line in output.decode().splitlines(keepends=True):
            self.assertTrue(line.endswith("\n"), "half a line")
            step = json.loads(line)["step"]
            self.assertLessEqual(step, len(kept), "a line is missing")
            if step == len(kept):
                kept.append(line)
            self.assertEqual(line, kept[step])

    def chain(self, chance, kills, longest, *options, through_pipe=False):
        """One run, killed again and again until it comes through. Returns the kills that hit a living process, and how
        many of them came after it had begun to write."""
        state, data = str(self.folder / "run.state"), self.file("data.json", self.data)
        kept, hits, inside = [], 0, 0
        while True:
            command = [COMMAND, "track", *self.options, f"--state={state}", *options]
            at = position(state) if through_pipe and os.path.exists(state) else 0
            given = "".join(self.data.splitlines(keepends=True)[at:]).encode()
            source = subprocess.PIPE if through_pipe else open(data)
            environment = os.environ | (NO_LEAK_CHECK if hits < kills else {})
            with subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
                if through_pipe:
                    self.assertLess(len(given), 65536)  # a pipe takes it whole
                    process.stdin.write(given)
                    process.stdin.close()
                    process.stdin = None
                else:
                    source.close()
                if hits < kills:
                    time.sleep(chance.uniform(0, longest))
                    process.kill()
                output, complaint = process.communicate(timeout=LONGEST)
            self.merge(kept, output)
            self.assertEqual(unsaid(complaint.decode()), "")
            if process.returncode == 0:
                break
            self.assertEqual(process.returncode, -signal.SIGKILL)
            hits += 1
            inside += len(output) > 0
        self.assertEqual("".join(kept), self.whole)
        self.assertEqual(position(state), self.count)
        os.remove(state)
        return hits, inside

    def kill_often(self, kills, *options, **more):
        begin = time.monotonic()
        self.chain(None, 0, 0, *options, **more)
        longest = time.monotonic() - begin
        chance, hits, inside, chains = random.Random(20), 0, 0, 0
        while hits < kills or inside <= hits // 4:  # enough of them, and not all while it starts
            new = self.chain(chance, min(max(kills - hits, 1), 3), longest, *options, **more)
            hits, inside, chains = hits + new[0], inside + new[1], chains + 1
            self.assertLess(chains, 20 * kills + 20)
        print(f"killed {hits} times, {inside} of them after it had begun to write", file=sys.stderr)

    def test_killed_while_it_reads_a_file(self):
        self.kill_often(KILLS * 6 // 10)

    def test_killed_with_few_checkpoints(self):
        self.kill_often(KILLS * 2 // 10, "--state-every=7")

    def test_killed_while_it_reads_a_pipe(self):
        self.data = "".join(json.dumps(r) + "\n" for r in records_of(parse(self.data)))  # short lines: they fit a pipe
        self.whole = track(*self.options, given=self.data)
        self.kill_often(KILLS * 2 // 10, through_pipe=True)

    def test_killed_while_it_asks(self):
        """The answer to a question depends on its number alone; so must the lines, however often it is killed."""
        answers = random.Random(3).choices("01", k=40)
        whole = track("--ask", "--batch=2", given="".join(a + "\n" for a in answers)).splitlines(keepends=True)
        state, chance, kept, kills = str(self.folder / "ask.state"), random.Random(9), {}, 0

        def keep(line):
            key = ("ask", line["ask"]) if "ask" in line else ("step", line["step"])
            self.assertEqual(kept.setdefault(key, line), line)

        while len(kept) < 62:  # 40 questions, 20 lines, 2 questions that stay open
            with Live("--ask", "--batch=2", f"--state={state}") as live:
                for _ in range(min(chance.randint(1, 12), 62 - len(kept))):
                    line = live.line()
                    keep(line)
                    if line.get("ask", 40) < 40:
                        live.say(answers[line["ask"]])
                live.process.kill()
                live.end()
                for line in parse(live.rest):  # written before the kill, read after it
                    keep(line)
                kills += 1
        self.assertGreater(kills, 5)
        wanted = parse("".join(whole))
        self.assertEqual([kept[("ask", w["ask"]) if "ask" in w else ("step", w["step"])] for w in wanted], wanted)


if __name__ == "__main__":
    unittest.main()
