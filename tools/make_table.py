"""A table to try classify on: python3 tools/make_table.py ROWS SEED [APART] > table.csv

30 Gaussian features, each on a scale of its own, of which 8 (i0 to i7) have class means 2 APART deviations apart (0.5)
and 22 (n8 to n29) tell nothing; one row in 1,000 has a value a million times too large."""
import random, sys

rows, seed, apart = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 0.5
draw, fixed = random.Random(seed), random.Random(7)
scale = [10 ** fixed.uniform(-3, 3) for _ in range(30)]
print(",".join([f"i{j}" if j < 8 else f"n{j}" for j in range(30)] + ["label"]))
for _ in range(rows):
    kind = draw.randrange(2)
    values = [scale[j] * (draw.gauss(0, 1) + (apart * (-1) ** (j + kind) if j < 8 else 5)) for j in range(30)]
    if draw.random() < 0.001:
        values[draw.randrange(30)] *= 1e6
    print(",".join(f"{v:.6g}" for v in values) + "," + "ab"[kind])
