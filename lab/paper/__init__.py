"""The experiments of `make reproduce`, in the order of the report. README.md in lab/ says how to add a claim."""

ALL = ["tracking", "kappa", "mnist", "heatmaps", "features", "evidence", "theory", "batched", "precision", "restarts", "beyond"]
