"""The notebooks of examples/ run from top to bottom."""

import os
import tempfile
import unittest

from support import ROOT

try:
    import nbclient
    import nbformat
except ImportError:
    nbclient = None

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@unittest.skipUnless(nbclient, "nbclient")
class Notebooks(unittest.TestCase):
    def test_run(self):
        self.assertGreaterEqual(len(NOTEBOOKS), 5)
        keep = os.environ.get("REJFILT_KEEP")  # a folder for the notebooks with their output, to look at
        for path in NOTEBOOKS:
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                book = nbformat.read(path, as_version=4)
                self.assertFalse([c for c in book.cells if c.get("outputs")], "notebooks are kept without output")
                nbclient.NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
                if keep:
                    nbformat.write(book, os.path.join(keep, path.name))


if __name__ == "__main__":
    unittest.main()
