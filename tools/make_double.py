#!/usr/bin/env python3
"""Writes the second half of include/rejfilt/rejfilt.h, on double, from the first, on float: python3 tools/make_double.py

What double has alone stands in the first half as a comment: /* on double: uint32_t zero; why */. With --check nothing is
written, and it fails where the halves differ."""
import pathlib
import re
import sys

HEADER = pathlib.Path(__file__).resolve().parent.parent / "include/rejfilt/rejfilt.h"
FLOAT = "/* ======== On float"
DOUBLE = "/* ======== On double: made from the above by tools/make_double.py ======== */\n"
END = "/* ======== End of what exists twice ======== */\n"


def split(text):
    """Splits the header into four: before the float half, that half, the double half, and the rest."""
    places = [text.index(mark) for mark in (FLOAT, DOUBLE, END)]
    return [text[begin:end] for begin, end in zip([0] + places, places + [len(text)])]


def line_on_double(line):
    line = re.sub(r"/\* on double: (.*?;) (.*)\*/", r"\1 /* \2*/", line)
    made = line.replace("rf32_", "rf64_").replace("RF32_", "RF64_")
    made = re.sub(r"\b(\d+\.\d+)f\b", r"\1", re.sub(r"\bfloat\b", "double", made))
    longer = len(made) - len(line)
    return re.sub(rf" {{0,{longer}}}( /\*)", r"\1", made, count=1) if longer > 0 else made  # keeps comments in their column


def on_double(half):
    return DOUBLE + "".join(map(line_on_double, half.splitlines(keepends=True)[1:]))


def main():
    text = HEADER.read_text()
    before, half, _, after = split(text)
    made = before + half + on_double(half) + after
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if made == text else f"{HEADER}: the half on double is not what the half on float says; run tools/make_double.py")
    HEADER.write_text(made)


if __name__ == "__main__":
    main()
