"""Sentences that can be read at once: python3 tests/test_prose.py [BUILD_DIR] [-v]

No sentence of the README, of docs/ and of what the command says (help and messages) has more than MOST words. Code
blocks are not read. A cell of a table, an item of a list and a heading end a sentence; so do `.`, `!` and `?`. Code in
a line is one word, a link is its text. ALLOWED holds the beginnings of sentences that may be longer, each with a reason."""
import pathlib, re, subprocess, sys, unittest

import test_docs

ROOT = test_docs.ROOT
BUILD = ROOT / "build"
MOST = 35
PAGES = [ROOT / "README.md", ROOT / "python/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = ("track", "compare", "classify", "classify rank", "models", "state")
ALLOWED: dict[str, str] = {}  # how a sentence begins, code as CODE: why it may be longer

ABBREVIATIONS = r"\b(?:e\.g|i\.e|et al|cf|vs|Fig|No|Sec|Eq|[A-Z])\.$"


def words(sentence):
    return [word for word in sentence.split() if re.search(r"\w", word)]


def sentences(text):
    """The sentences of plain text."""
    begin = 0
    for match in re.finditer(r"[.!?][\"'”’)*_\]]*(?=\s|$)", text):
        if not re.search(ABBREVIATIONS, text[begin:match.end()]):
            yield text[begin:match.end()].strip()
            begin = match.end()
    if text[begin:].strip():
        yield text[begin:].strip()


def pieces(page):
    """Paragraphs, items, headings and cells of a page in Markdown, without code."""
    page = re.sub(r"^```.*?^```", "", page, flags=re.M | re.S)
    page = re.sub(r"(?<=\n\n)(    .*\n|\n(?=    ))+", "\n", page)
    page = re.sub(r"<!--.*?-->", "", page, flags=re.S)
    page = re.sub(r"`[^`]+`", "CODE", page)
    page = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", page)
    page = re.sub(r"\\\|", "/", page)
    page = re.sub(r"^\s*\|(.*)\|\s*$", lambda row: "\n\n" + row[1].replace("|", "\n\n") + "\n\n", page, flags=re.M)
    page = re.sub(r"^(\s*([-*]|\d+\.)|#+|>) ", "\n\n", page, flags=re.M)
    return re.split(r"\n\s*\n", page)


def too_long(text):
    return [f"{len(words(sentence))} words: {' '.join(sentence.split())}" for sentence in sentences(text)
            if len(words(sentence)) > MOST and not any(" ".join(sentence.split()).startswith(begin) for begin in ALLOWED)]


class Reader(unittest.TestCase):
    """The check can fail."""

    def test_a_long_sentence_is_found(self):
        long = " ".join(["word"] * (MOST + 1)) + "."
        for page in (long, f"Short.\n{long}", f"- item\n- {long}", f"| a | {long} |", f"# head\n{long}", f"e.g. {long[5:]}"):
            self.assertEqual(len([found for piece in pieces(page) for found in too_long(piece)]), 1, page)

    def test_what_ends_a_sentence(self):
        half = " ".join(["word"] * MOST)
        for page in (f"{half}. {half}.", f"{half}\n\n{half}", f"| {half} | {half} |", f"- {half}\n- {half}", f"{half} `a b c d`"[5:],
                     f"```sh\n{half} {half}\n```", f"{half}:\n\n    {half} {half}\n\nend"):
            self.assertEqual([found for piece in pieces(page) for found in too_long(piece)], [], page)


def messages(text):
    """Every message that a C source passes to the functions that refuse, with the variable parts replaced."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for match in re.finditer(r'\b(\w+)\(((?:[^;"()]|\([^()]*\))*?)((?:"(?:[^"\\]|\\.)*"\s*)+)', text):
        name, before, strings = match.groups()
        if re.fullmatch(r"(cli|rf|rf_load|tables_rows)_(error|fail)|fail|refuse|refuse_part|bad_value", name) or name == "snprintf" and re.search("error|reason", before):
            message = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings))
            yield plain(re.sub(r"%[-+0 .*\d]*(ll|z|l)?[a-zA-Z]", "…", message).replace("%%", "%"))


def plain(message):
    """Joins neighbouring placeholders; a message begins and ends with words."""
    return re.sub(r"(…[\s:]*)+…", "…", message.replace("\\n", "\n")).split("\n")[0].strip("… :")


def all_messages():
    """Every message of the command and of the library."""
    found = {message for folder in ("apps/cli", "src/classify", "src/base", "src/models", "src/engines", "src/beliefs", "src/session") for path in sorted((ROOT / folder).rglob("*.c"))
             for message in messages(path.read_text())}
    return found | set(re.findall(r'^RF_STATUS\(.*"(.*)"\)', (ROOT / "include/rejfilt/status.def").read_text(), re.M)) - {"fine"}


class Prose(unittest.TestCase):
    def test_pages(self):
        for page in PAGES:
            for piece in pieces(page.read_text()):
                for found in too_long(piece):
                    with self.subTest(page.relative_to(ROOT)):
                        self.fail(found)

    def test_help(self):
        for command in ((), *(tuple(name.split()) for name in COMMANDS)):
            done = subprocess.run([BUILD / "rejfilt", *command, "--help"], stdout=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0)
            self.assertGreater(len(words(done.stdout)), 20)
            for piece in re.split(r"\n\s*\n|\n  (?=\S)|\n(?=\S.*:\n)", done.stdout):
                for found in too_long(piece):
                    with self.subTest(" ".join(("rejfilt", *command, "--help"))):
                        self.fail(found)

    def test_messages(self):
        found = all_messages()
        self.assertGreater(len(found), 150)
        for message in sorted(found):
            with self.subTest(message):
                self.assertEqual(too_long(message), [])

    def test_every_exception_is_needed(self):
        every = [" ".join(sentence.split()) for page in PAGES for piece in pieces(page.read_text()) for sentence in sentences(piece)]
        for begin in ALLOWED:
            self.assertTrue(any(sentence.startswith(begin) and len(words(sentence)) > MOST for sentence in every), begin)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
