#!/usr/bin/env python3
"""Writes the cores as pairs of files to copy into a firmware: rejfilt.h, rejfilt.c (float), rejfilt_fixed.h, rejfilt_fixed.c; and
rejfilt_gaussians.h, rejfilt_gaussians.c, which need rejfilt.h beside them.

usage: tools/amalgamate.py FOLDER

Includes of ours are put in place. The float pair has one precision, so what the sources write for both (rf_real, RF(name),
RF_C(1.0), #if RF_BITS) is written out for it."""
import os
import re
import sys

from make_double import split as halves

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ["include", "include/rejfilt", "include/rejfilt/detail", "src/core", "src/fixed", "src/chip"]
INCLUDE = re.compile(r'^#include "([^"]+)".*\n', re.M)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def find(name):
    for folder in FOLDERS:
        path = os.path.normpath(os.path.join(folder, name))
        if os.path.exists(os.path.join(ROOT, path)):
            return path
    raise SystemExit(f"tools/amalgamate.py: no file of ours is called {name}")


def expand(text, renamed, seen):
    """A file's text with includes replaced by their contents: those with a guard once; those in `renamed` become one include
    of the new name."""
    def replace(match):
        name = renamed.get(os.path.basename(match.group(1)))
        included = name or find(match.group(1))
        if included in seen:
            return ""
        if name:
            seen.add(name)
            return f'#include "{name}"\n'
        if re.search(r"^#ifndef REJFILT_\w+\n#define REJFILT_", read(included), re.M):
            seen.add(included)
        return expand(read(included), renamed, seen)

    return INCLUDE.sub(replace, text)


def replace_once(text, old, new):
    if text.count(old) != 1:
        raise SystemExit(f"tools/amalgamate.py: expected once, found {text.count(old)} times: {old}")
    return text.replace(old, new)


def one_precision(text, bits="32"):
    """Converts source for both precisions to float (32) or double (64)."""
    kept, nested = [], []  # nested: for every open #if, whether its lines are kept; None if it does not depend on RF_BITS
    for line in text.splitlines(keepends=True):
        directive = re.match(r"#(if|elif|else|endif)\w*(.*)", line)
        about_bits = re.match(r" RF_BITS == (\d+)", directive.group(2)) if directive else None
        if directive and directive.group(1) == "if":
            nested.append(about_bits.group(1) == bits if about_bits else None)
        elif directive and nested[-1] is not None and directive.group(1) != "endif":
            nested[-1] = about_bits.group(1) == bits if about_bits else not nested[-1]
        was_bits = bool(directive) and nested[-1] is not None
        if directive and directive.group(1) == "endif":
            nested.pop()
        if not was_bits and False not in nested:
            kept.append(line)
    text = "".join(kept)
    text = re.sub(r"\bRF\((\w+)\)", rf"rf{bits}_\1", text)
    text = re.sub(r"\bRF_C\(([^()]+)\)", r"\1f" if bits == "32" else r"\1", text)
    for name, meaning in {"rf_real": "float" if bits == "32" else "double", "rf_order": f"int{bits}_t", "rf_unsigned": f"uint{bits}_t",
                          "RF_EPSILON": f"RF{bits}_EPSILON", "RF_LIMIT": f"RF{bits}_LIMIT", "RF_TINY": f"RF{bits}_TINY"}.items():
        text = re.sub(rf"\b{name}\b", meaning, text)
    return text


def float_header():
    before, half, _, after = halves(read("include/rejfilt/rejfilt.h"))
    text = before + half[half.index("\n"):] + after[after.index("\n"):after.index("/* A source file that is compiled once per precision")] + "#endif\n"
    text = replace_once(text, "Everything exists twice: rf32_x on float and rf64_x on double. ", "")
    return one_precision(expand(text, {}, set()))


def float_source():
    renamed = {"rejfilt.h": "rejfilt.h", "real.h": "rejfilt.h"}
    seen = {os.path.join("include/rejfilt", name) for name in ["detail/port.h", "philox.h", "functions.h"]}
    core = replace_once(expand(read("src/core/rejfilt32.c"), renamed, seen), "#define RF_PRECISION 32\n", "")
    return one_precision(core + expand(read("src/core/status.c"), renamed, seen))


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    version = re.search(r'RF_VERSION "(.*)"', read("include/rejfilt/rejfilt.h")).group(1)
    head = f"/* rejfilt {version}, made by tools/amalgamate.py.\n\n   " + "\n   ".join(read("LICENSE").strip().splitlines()) + " */\n"
    head = re.sub(r" +\n", "\n", head)
    files = {"rejfilt.h": float_header(), "rejfilt.c": float_source()}
    gaussians = {"gaussians.h": "rejfilt_gaussians.h", "rejfilt.h": "rejfilt.h"}
    for kind, path in {"h": "include/rejfilt/gaussians.h", "c": "src/chip/gaussians.c"}.items():
        files[f"rejfilt_gaussians.{kind}"] = re.sub(r"(?<!_)\bgaussians\.h\b", "rejfilt_gaussians.h", expand(read(path), gaussians, set()))
    for kind in "hc":
        text = expand(read(f"src/fixed/fixed.{kind}"), {"fixed.h": "rejfilt_fixed.h"}, set())
        text = text.replace("fixed.h, fixed_math.h and fixed.c", "rejfilt_fixed.h and rejfilt_fixed.c")
        files[f"rejfilt_fixed.{kind}"] = re.sub(r"\bfixed\.h\b", "rejfilt_fixed.h", text)
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(sys.argv[1], name), "w", encoding="utf-8") as file:
            file.write(head + re.sub(r"\n{3,}", "\n\n", text))
    print(" ".join(os.path.join(sys.argv[1], name) for name in files))


if __name__ == "__main__":
    main()
