#!/usr/bin/env python3
"""Every C file compiles alone, as an editor opens it: tests/check_alone.py BUILD

A file's flags are from compile_commands.json. A file that is not in it gets those of the nearest file there, by folder and
name, as clangd does."""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["include", "src", "apps", "examples"]
# written for both precisions and included by host.h or fleet.h for each; or GPU code that needs program.c's knowledge of the
# model
NOT_ALONE = ["include/rejfilt/instance.h", "include/rejfilt/detail/expected.h", "include/rejfilt/design.h", "include/rejfilt/residents.h", "src/engines/cuda/device.h", "src/session/device.h"]


def common(a, b):
    return len(os.path.commonprefix([a, b]))


def nearest(file, entries):
    """The entry of the file with the most folders in common and, among these, the most similar beginning of the name."""
    def likeness(entry):
        other = pathlib.Path(entry["file"])
        return common(file.parent.parts, other.parent.parts), common(file.stem, other.stem)
    return max(entries, key=likeness)


def flags(entry):
    words = shlex.split(entry["command"])
    words = words[1:] if os.path.basename(words[0]) == "ccache" else words
    output = words.index("-o")
    return words[:output] + [word for word in words[output + 2:] if word not in ("-c", entry["file"])]


def check(file, entries):
    """The compiler's messages if the file does not compile."""
    own = [entry for entry in entries if entry["file"] == str(file)]
    entry = own[0] if own else nearest(file, entries)
    done = subprocess.run([*flags(entry), "-w", "-fsyntax-only", "-x", "c", file], cwd=entry["directory"], text=True, stderr=subprocess.PIPE)
    return done.stderr if done.returncode else ""


def main():
    entries = json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text())
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.[ch]")) if str(file.relative_to(ROOT)) not in NOT_ALONE]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [words for words in pool.map(lambda file: check(file, entries), files) if words]
    sys.exit("".join(complaints) + f"{len(complaints)} of {len(files)} files do not compile alone" if complaints
             else print(f"{len(files)} files compile alone"))


if __name__ == "__main__":
    main()
