#!/usr/bin/env python3
"""Each layer includes only what is below it.   usage: check_layers.py SOURCE_DIR

A file's layer is that of the longest path in LAYERS that it begins with; an #include may not lead to a higher one. Includes are
found as the compiler finds them: beside the file, in include/, or in one of the folders that hold sources."""
import pathlib
import re
import sys

LAYERS = (  # from below
    ("core", "src/core", "src/fixed", "src/chip", "src/models", "include/rejfilt"),
    ("engines", "src/engines"),
    ("beliefs", "src/beliefs", "include/rejfilt/belief.h"),
    ("design", "src/design", "include/rejfilt/health.h"),
    ("session", "src/session", "include/rejfilt/session.h", "include/rejfilt/world.h", "include/rejfilt/passes.h"),
    ("classify", "src/classify", "include/rejfilt/classify.h"),
    ("apps", "apps", "python"),
    ("lab, ports, tests, examples", "lab", "ports", "tests", "examples"),
)
# Above the folder they are in: they load a user's model, or ask a kernel, for this machine, of which the engines know.
ABOVE = {"src/models/load.c": "engines", "src/models/described.c": "engines"}
# The command runs the lab (`reproduce`) and compares with its nearest neighbours (`classify --knn`).
ALLOWED = {("apps/cli/reproduce.c", "lab/experiments/workers.h"), ("apps/cli/classify.c", "lab/baselines/knn.h"), ("apps/cli/classify_data.c", "lab/baselines/knn.h")}


def layer(path):
    if path in ABOVE:
        return [name for name, *_ in LAYERS].index(ABOVE[path])
    found = [(len(folder), number) for number, (_, *folders) in enumerate(LAYERS) for folder in folders if path == folder or path.startswith(folder + "/")]
    return max(found)[1] if found else None


def main(root):
    files = [p for top in ("include", "src", "apps", "python", "lab", "ports", "tests", "examples") for p in sorted((root / top).rglob("*"))
             if p.suffix in (".c", ".h", ".def") and "build" not in p.relative_to(root).parts]
    known = {str(p.relative_to(root)) for p in files}
    by_name = {}
    for path in sorted(known):
        by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)

    def candidates(path, name):
        beside = str((root / path).parent.joinpath(name).resolve().relative_to(root)) if not name.startswith("/") else name
        for place in (beside, f"include/{name}"):
            if place in known:
                return [place]
        if "/" in name:
            return [p for p in known if p.endswith("/" + name)]
        return by_name.get(name, [])  # in some -I folder

    wrong = checked = 0
    unused = set(ALLOWED)
    for path in sorted(known):
        for number, line in enumerate((root / path).read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            places = candidates(path, match.group(1))
            if not places:
                continue  # the system's, or written by the build
            checked += 1
            lowest = min(places, key=layer)  # of several of that name
            unused.discard((path, lowest))
            if layer(lowest) > layer(path) and (path, lowest) not in ALLOWED:
                wrong += 1
                print(f"{path}:{number}: {LAYERS[layer(path)][0]} includes {lowest}, which is {LAYERS[layer(lowest)][0]}")
    for path, included in sorted(unused):
        print(f"{path} no longer includes {included}: take it off the list of what is allowed")
    print(f"{checked} includes, {wrong} of them upwards")
    return 1 if wrong or unused or checked < 500 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
