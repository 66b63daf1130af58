#!/usr/bin/env python3
"""Builds the book as a website: tools/book.py PAGES SITE

PAGES is a folder for what Sphinx reads, SITE for the website. The README is its first page, the pages of docs/ follow in the
order of docs/README.md, with the reference of the C library under api/. Sources and folders that pages link to become pages
themselves. A link that leads nowhere, to a page or to a heading, is an error."""
import os, pathlib, re, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANGUAGES = {".c": "c", ".h": "c", ".py": "python", ".sh": "sh", ".sv": "systemverilog", ".ini": "ini", ".ino": "cpp", ".cff": "yaml"}
ALONE = "---\norphan: true\nnosearch: true\n---\n\n"
CONFIG = """
project = "rejfilt"
copyright = "the rejfilt authors"
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "rejfilt"
html_static_path = ["book.css"]
html_css_files = ["book.css"]
html_extra_path = ["extra"]
html_show_sphinx = html_copy_source = False
highlight_language = "text"
exclude_patterns = ["extra"]
suppress_warnings = ["myst.header", "misc.highlighting_failure"]  # not links: levels of headings, languages of blocks
"""
STYLE = """.content { width: 50em; }
table.docutils { font-size: .85em; }
article img { background: white; border-radius: .3em; padding: .3em; }
.highlight .go { font-style: normal; }
"""
DARK_REFERENCE = "\n@media screen and (prefers-color-scheme: dark) { html { background: white; filter: invert(.92) hue-rotate(180deg); } }\n"
REFERENCE = """# Reference of the C library

<a href="api/index.html">Every public function, type and macro</a>, by header and by name. Doxygen writes it from the
headers; `make book` writes it alone.
"""


def page_of(path):
    """The place of a repository file or folder among the pages."""
    inside = path.relative_to(ROOT)
    if path == ROOT / "README.md":
        return pathlib.PurePosixPath("index.md")
    if path == ROOT / "docs/README.md":
        return pathlib.PurePosixPath("contents.md")
    if inside.parts[:1] == ("docs",):
        return pathlib.PurePosixPath(*inside.parts[1:])
    if path.suffix == ".md":
        return pathlib.PurePosixPath("source", inside)
    return pathlib.PurePosixPath("source", f"{inside}.md")


class Pages:
    def __init__(self, folder):
        self.folder, self.done, self.waiting, self.read = folder, set(), [], set()

    def write(self, path, text):
        to = self.folder / page_of(path)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text)

    def link(self, path, target):
        """Rewrites a link for use between pages; its target becomes a page, too."""
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        name, _, anchor = target.partition("#")
        to = (path.parent / name).resolve()
        if not to.exists():
            sys.exit(f"tools/book.py: {path.relative_to(ROOT)}: there is no {target}")
        self.waiting.append(to)
        place = page_of(to) if to.is_dir() or to.suffix not in (".svg", ".png") else self.picture(to)
        return os.path.relpath(place, page_of(path).parent) + (f"#{anchor}" if anchor else "")

    def picture(self, path):
        place = pathlib.PurePosixPath("pictures", path.name)
        (self.folder / "pictures").mkdir(exist_ok=True)
        shutil.copy(path, self.folder / place)
        return place

    def markdown(self, path):
        pieces = re.split(r"(^```.*?^```$|`[^`\n]*`)", path.read_text(), flags=re.M | re.S)
        for k in range(0, len(pieces), 2):
            pieces[k] = re.sub(r"\]\(([^)\s]+)\)", lambda match: f"]({self.link(path, match[1])})", pieces[k])
        text = "".join(pieces)
        self.write(path, text if path in self.read else ALONE + text)

    def source(self, path):
        fence = "`" * 5
        self.write(path, f"{ALONE}# {path.relative_to(ROOT)}\n\n{fence}{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text()}\n{fence}\n")

    def listing(self, path):
        tracked = subprocess.run(["git", "ls-files", path], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.split()
        names = tracked or [str(file.relative_to(ROOT)) for file in sorted(path.rglob("*")) if file.is_file()]
        self.write(path, f"{ALONE}# {path.relative_to(ROOT)}\n\n" + "".join(f"- `{name}`\n" for name in names))

    def all(self, beginning):
        self.read, self.waiting = set(beginning), list(beginning)
        while self.waiting:
            path = self.waiting.pop()
            if path in self.done or path.suffix in (".svg", ".png"):
                continue
            self.done.add(path)
            (self.listing if path.is_dir() else self.markdown if path.suffix == ".md" else self.source)(path)


def navigation(contents):
    """The parts of docs/README.md as tables of contents of the first page; pages listed by another page are placed below
    it."""
    parts = []
    for title, body in re.findall(r"^\*\*(.*?)\*\*\n(.*?)(?=^\*\*|\Z)", contents, re.M | re.S):
        pages = [f"{name} <{target[:-3]}>" for name, target in re.findall(r"\[([^\]]+)\]\(([\w/]+\.md)\)", body)]
        if "(embedding.md)" in body:
            pages.append("reference")
        parts.append((title, pages))
    parts.append(("All of it", ["contents"]))
    return "".join("\n```{toctree}\n:hidden:\n:maxdepth: 1\n:caption: " + title + "\n\n" + "\n".join(pages) + "\n```\n" for title, pages in parts)


def beneath(contents):
    """The pages of a folder, placed below the page that lists them."""
    pages = [f"{name} <{target[:-3]}>" for name, target in re.findall(r"\[([^\]]+)\]\(([\w-]+\.md)\)", contents)]
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(dict.fromkeys(pages)) + "\n```\n"


def mend(site):
    """Repairs Debian's furo theme: it loads a style sheet from the server's root, is dark only on request, and its script is a
    module that no page loads as one. Here the style sheet is in the site, the theme follows the viewer's preference, and the
    button for light or dark works."""
    path = site / "_static/styles/furo.css"
    text = path.read_text()
    normalize = pathlib.Path("/usr/share/javascript/normalize.css/normalize.css")
    text = re.sub(r"@import url\(/javascript/normalize[^)]*\);", lambda _: normalize.read_text() if normalize.exists() else "body { margin: 0; }", text)
    dark = re.search(r'@media not print \{\n  body\[data-theme="dark"\] \{(.*?)\}', text, re.S)
    if dark and "prefers-color-scheme" not in text:
        text += f'\n@media screen and (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {{{dark[1]}}} }}\n'
    path.write_text(text)
    script = site / "_static/scripts/furo.js"
    text, used = re.subn(r'^import Gumshoe from "\./(.*)";$', lambda match: (script.parent / match[1]).read_text(), script.read_text(), flags=re.M)
    if used:
        script.write_text(text)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, site = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pages = Pages(folder)
    pages.all([ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))])
    for index, contents in (("index.md", ROOT / "docs/README.md"), ("gallery/README.md", ROOT / "docs/gallery/README.md")):
        if contents.exists():
            with open(folder / index, "a") as file:
                file.write(navigation(contents.read_text()) if index == "index.md" else beneath(contents.read_text()))
    (folder / "book.css").write_text(STYLE)
    (folder / "reference.md").write_text(REFERENCE)
    (folder / "conf.py").write_text(CONFIG)
    subprocess.run([sys.executable, ROOT / "tools/api.py", folder / "extra/api"], check=True)
    with open(folder / "extra/api/doxygen.css", "a") as file:
        file.write(DARK_REFERENCE)
    shutil.rmtree(site, ignore_errors=True)
    done = subprocess.run(["sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "-d", folder.with_suffix(".cache"), folder, site])
    if done.returncode == 0:
        mend(site)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
