"""python -m lab PROGRAM [WORD...]; `make reproduce` and `make evidence` call it."""

import importlib
import sys

PROGRAMS = ("reproduce", "trust", "accuracy", "compare")

if len(sys.argv) < 2 or sys.argv[1] not in PROGRAMS:
    sys.exit(f"usage: python -m lab {'|'.join(PROGRAMS)} [WORD...]")
sys.exit(importlib.import_module(f"lab.{sys.argv[1]}").main(sys.argv[2:]))
