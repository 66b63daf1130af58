#!/usr/bin/env python3
"""Writes the API reference as HTML: tools/api.py FOLDER

Doxygen reads the public headers as a user's compiler sees them: what they write for both precisions is written out for
each, so that rf32_update and rf64_update are found by their names, and their comments, plain ones, are marked for
Doxygen. A comment is about everything up to the next blank line; one behind a member is about that member."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from amalgamate import one_precision, read

FOR_BOTH = ["instance.h", "design.h", "residents.h"]
ONCE = ["rejfilt.h", "host.h", "description.h", "model.h", "functions.h", "philox.h", "belief.h", "health.h", "world.h", "session.h", "passes.h", "fleet.h", "classify.h", "gaussians.h"]
PAGES = """

   | | |
   |---|---|
   | rejfilt.h | the filter on float and on double: priors, drift, updates, evidence |
   | gaussians.h | a few Gaussians in float, for chips: several modes of one parameter |
   | host.h | engines and models by name; include this on a full computer |
   | session.h | ask, tell, save, load: a model, a belief, a design and its health; includes belief.h and health.h |
   | passes.h | the exact posterior of all records together, if nothing drifts |
   | fleet.h, residents32.h, residents64.h | many filters of one model, kept in the engine's memory |
   | classify.h | the class of an object by few questions: tables, models, advice |
   | belief.h, health.h | how the posterior is stored, and tests whether it still contains the truth |
   | design32.h, design64.h | rules that choose the next experiment; host.h includes them |
   | instance32.h, instance64.h | described models; host.h includes them |
   | description.h, model.h | what a model file has |
   | functions.h, philox.h | functions and random numbers |
"""
# internal steps of functions, called only by kernels
INNER = r"rf\d\d_(sqrt_soft|exp_difference|sin_half_turn|sin_series|sin_shifted|minus_2_log|circle|normal_pair)"


def statuses():
    """The names of status.def as members of the enum, each with its text as a comment."""
    return "".join(f"    {name} = {value}, /* {text} */\n" for name, value, text in
                   re.findall(r'^RF_STATUS\((\w+), (-?\d+), "(.*)"\)', read("include/rejfilt/status.def"), re.M))


def pieces(paragraph):
    """The comments that begin a line, and the declarations, in order. A paragraph contains no blank line."""
    found, depth = [""], 0
    for line in paragraph.split("\n"):
        found[-1] += line + "\n"
        if found[-1].startswith("/*"):
            ends = line.endswith("*/")
        else:
            depth += line.count("{") + line.count("(") - line.count("}") - line.count(")")
            ends = depth == 0 and not line.endswith("\\") and (line.startswith("#") or re.search(r"[;}]\s*(/\*.*\*/)?$", line))
        if ends:
            found.append("")
    return [piece for piece in found if piece]


def open_comment(text, mark="/**"):
    """A comment marked for Doxygen, with characters escaped that Doxygen would take as commands."""
    return re.sub(r"([#<>@])", r"\\\1", text).replace("/*", mark, 1)


def member(match):
    """Splits members that share a line and a comment: each gets its own line with that comment."""
    indent, declaration, comment = match.groups()
    shared = re.match(r"(.*?)((?:\*?\w+(?:\[.*?\])?, )*\*?\w+(?:\[.*?\])?)$", declaration)
    kind, names = shared.groups() if shared else ("", declaration)  # a pointer to an array has its own line
    comment = open_comment(comment, "/**<")
    return "".join(f"{indent}{kind}{name}; {comment}\n" for name in names.split(", "))


def mark(paragraph, said):
    """A paragraph of a header with its comments marked. A comment belongs to the declarations up to the next comment, or
    to the member before it. A double's function without a comment gets that of the float's, which is in `said`."""
    comment, marked = "", []
    for piece in pieces(paragraph):
        section = re.match(r"/\* -{3,} (.*?) -{2,}(.*)\*/", piece, re.S)
        if section:
            marked.append(f"/** @name {section[1]}\n{section[2]}*/\n/** @{{ */\n")
        elif piece.startswith("/*"):
            comment = open_comment(piece)
        elif piece.startswith("#define RF_BITS") or re.search(rf"\b({INNER})\b", piece.split("{")[0]):
            continue
        else:
            piece = re.sub(r"(?ms)^ +/\*.*?\*/\n(?= +\S)", lambda match: open_comment(match[0]), piece)  # comment before a member
            piece = re.sub(r"(?ms)^( +)([\w *+/(),\[\]]+);\s+(/\*.*?\*/)\n", member, piece)
            piece = re.sub(r"(?m)(?<=[,\w]) +(/\*.*?\*/)$", lambda match: " " + open_comment(match[1], "/**<"), piece)  # behind members of enums, and macros
            name = re.search(r"\brf(?:32|64)_(\w+)\(", piece)
            words = comment or (said.get(name[1], "") if name else "")
            if name:
                said[name[1]] = words
            marked.append(words + piece)
    return "".join(marked)


def marked(name, text):
    """A header with its comments marked; the first comment describes the file."""
    about, text = re.match(r"(/\*.*?\*/)\n(.*)", text, re.S).groups()
    said = {}
    body = "\n".join(mark(paragraph, said) for paragraph in re.split(r"\n{2,}", text.strip("\n")))
    body = re.sub(r"(?s)(/\*\* @\{ \*/.*?)(?=/\*\* @name|\Z)", r"\1/** @} */\n", body)
    return open_comment(about, f"/** @file {name}\n") + f"\n{body}\n"


def headers():
    files = {}
    for name in ONCE:
        text = read(f"include/rejfilt/{name}")
        text = re.sub(r"#define RF_STATUS\(.*\n#include \"status.def\"\n#undef RF_STATUS\n", lambda _: statuses(), text)
        files[name] = one_precision(text, "64") if name == "model.h" else text
    for name in FOR_BOTH:
        for bits in ("32", "64"):
            files[name.replace(".h", f"{bits}.h")] = one_precision(read(f"include/rejfilt/{name}"), bits)
    about = re.match(r"/\*(.*?)\*/", files["rejfilt.h"], re.S)[1]
    return {name: marked(name, text) for name, text in files.items()} | {"index.h": f"/** @mainpage\n{about}{PAGES}*/\n"}


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    if not shutil.which("doxygen"):
        print("tools/api.py: there is no doxygen; tools/need docs installs it", file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in headers().items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.makedirs(sys.argv[1], exist_ok=True)
        version = re.search(r'RF_VERSION "(.*)"', read("include/rejfilt/rejfilt.h")).group(1)
        settings = read("docs/Doxyfile") + f"PROJECT_NUMBER = {version}\nINPUT = {folder}\nSTRIP_FROM_PATH = {folder}\nOUTPUT_DIRECTORY = {sys.argv[1]}\n"
        done = subprocess.run(["doxygen", "-"], input=settings, text=True, stderr=subprocess.PIPE)
    print(done.stderr.replace(folder + "/", ""), end="", file=sys.stderr)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
