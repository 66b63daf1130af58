"""Examples in docstrings, on the front page and in the guide run; what they print is what they show."""

import contextlib
import doctest
import importlib
import io
import os
import pathlib
import pkgutil
import re
import tempfile
import unittest

from support import ROOT

import rejfilt

OPTIONAL = {"plot": "matplotlib", "sklearn": "sklearn"}


def modules():
    for found in pkgutil.walk_packages(rejfilt.__path__, "rejfilt."):
        if found.name.endswith("_rejfilt") or ".include" in found.name:
            continue
        try:
            yield importlib.import_module(found.name)
        except ImportError as error:
            if (error.name or "").split(".")[0] not in OPTIONAL.values():
                raise


class Docstrings(unittest.TestCase):
    def test_examples(self):
        tried = 0
        for module in [rejfilt, *modules()]:
            result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
            self.assertEqual(result.failed, 0, module.__name__)
            tried += result.attempted
        self.assertGreater(tried, 40)

    def test_everything_is_said(self):
        """Public functions and classes have docstrings."""
        for name in rejfilt.__all__:
            self.assertTrue(name.startswith("__") or getattr(rejfilt, name).__doc__, name)


def blocks(path):
    return re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", pathlib.Path(path).read_text(), re.S)


class Pages(unittest.TestCase):
    def run_page(self, path, most_lines=None):
        """All Python of a page, in one session; output that is shown is compared."""
        space: dict = {}
        found = blocks(path)
        self.assertTrue(found)
        for code, shown in found:
            if most_lines:
                self.assertLessEqual(len([line for line in code.splitlines() if line.strip()]), most_lines)
            out = io.StringIO()
            with contextlib.redirect_stdout(out), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # pages save pictures
                exec(compile(code, str(path), "exec"), space)
            if shown and os.environ.get("REJFILT_WRITE"):  # after a change that is meant
                path.write_text(path.read_text().replace(f"```text\n{shown}```", f"```text\n{out.getvalue()}```"))
            elif shown:
                self.assertEqual(out.getvalue(), shown, f"{path}:\n{code}")
        return space

    def test_front_page(self):
        space = self.run_page(ROOT / "python/README.md", most_lines=15)
        self.assertLess(abs(space["tracker"].mean.f - 0.3), 5 * space["tracker"].sd.f)

    def test_readme(self):
        self.run_page(ROOT / "README.md", most_lines=15)

    def test_guide(self):
        try:
            import matplotlib
            import sklearn  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        matplotlib.use("agg")
        for page in ("python.md", "qinfer.md", "gallery/fleet.md"):
            with self.subTest(page):
                self.run_page(ROOT / "docs" / page)


if __name__ == "__main__":
    unittest.main()
