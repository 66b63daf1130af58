"""Pictures, progress bars, ArviZ: where these are installed."""

import contextlib
import io
import unittest

import numpy as np
from support import records

import rejfilt
from rejfilt import Tracker

try:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    import rejfilt.plot
except ImportError:
    matplotlib = None
try:
    import arviz
except ImportError:
    arviz = None
try:
    import tqdm
except ImportError:
    tqdm = None
try:
    import pandas
except ImportError:
    pandas = None


@unittest.skipUnless(matplotlib, "matplotlib")
class Pictures(unittest.TestCase):
    def tearDown(self):
        plt.close("all")

    def test_all(self):
        for model, options in (("precession", {"jump": (1.0, 50)}), ("ramsey", {"belief": "mixture"}), ("linear", {}), ("coin", {})):
            run = rejfilt.simulate(model, steps=100, trials=2, seed=1, **options)
            axes = rejfilt.plot.run(run)
            self.assertEqual([a.get_ylabel() for a in axes], [p.name for p in run.model.parameters])
            rejfilt.plot.health(run)
            if model == "coin":
                with self.assertRaises(rejfilt.Refused):
                    rejfilt.plot.questions(run)
            else:
                rejfilt.plot.questions(run)
            for figure in plt.get_fignums():
                plt.figure(figure).savefig(io.BytesIO())
            plt.close("all")
        replayed = rejfilt.replay("ramsey", records("ramsey", 40, 1) | {"time": np.arange(40.0)}, seed=1)
        self.assertEqual(rejfilt.plot.run(replayed, parameters=["g"])[-1].get_xlabel(), "time")
        grid = rejfilt.plot.marginals(replayed.tracker, truth=[0.5, 0.02])
        self.assertEqual(grid.shape, (2, 2))
        self.assertEqual(grid[1, 0].get_ylabel(), "g")
        _, given = plt.subplots(2, 1)
        self.assertIs(rejfilt.plot.run(replayed, axes=given)[1], given[1])


class Others(unittest.TestCase):
    @unittest.skipUnless(pandas, "pandas")
    def test_settings_of_a_frame(self):
        """By name, in whatever order its columns are."""
        frame = pandas.DataFrame({"x_": [0.3, 0.4], "t": [1.0, 5.0]})
        one, other = rejfilt.Tracker("precession", seed=1), rejfilt.Tracker("precession", seed=1)
        one.tell([1, 0], frame)
        other.tell([1, 0], [(1.0, 0.3), (5.0, 0.4)])
        self.assertEqual(one.mean, other.mean)

    @unittest.skipUnless(arviz, "ArviZ")
    def test_inference_data(self):
        run = rejfilt.replay("ramsey", records("ramsey", 40, 1), seed=1)
        data = rejfilt.to_inference_data(run.tracker, draws=500, run=run)
        self.assertEqual(data["posterior"]["w"].shape, (4, 500))
        self.assertAlmostEqual(float(data["posterior"]["w"].mean()), run.tracker.mean.w, delta=0.2 * run.tracker.sd.w)
        self.assertEqual(data["observed_data"]["outcome"].shape, (40,))
        self.assertTrue(np.isfinite(arviz.summary(rejfilt.to_inference_data(run.tracker)).to_numpy(dtype=float)).all())

    @unittest.skipUnless(tqdm, "tqdm")
    def test_progress(self):
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            rejfilt.replay("precession", records("precession", 400, 1), seed=1, progress=True)
            rejfilt.simulate("precession", steps=50, trials=3, seed=1, progress=True)
        self.assertIn("400/400", shown.getvalue())
        self.assertIn("3/3", shown.getvalue())

    @unittest.skipUnless(pandas, "pandas")
    def test_not_available(self):
        """pandas' NA is an outcome that was not measured."""
        frame = pandas.DataFrame({"t": [1.0, 2.0, 4.0], "x_": [0.3] * 3, "outcome": [1, None, 0]})
        runs = [rejfilt.replay("precession", frame.astype({"outcome": kind}), seed=1)["x.mean"].tolist() for kind in (float, "Int64", "boolean")]
        self.assertEqual(runs[1:], runs[:1] * 2)

    @unittest.skipUnless(pandas, "pandas")
    def test_rows_of_frames(self):
        frame = pandas.DataFrame(records("precession", 20, 1))
        tracker = Tracker("precession", seed=1, design=None)
        for _, row in frame.iterrows():
            tracker.tell(row.outcome, row[["t", "x_"]])
        self.assertEqual(tracker.mean.x, rejfilt.replay("precession", frame, seed=1)["x.mean"][-1])


if __name__ == "__main__":
    unittest.main()
