"""Write survey.csv and later.csv: what made-up people would answer if nobody could read it, and others later.

Usage: python make_survey.py [FOLDER]

The same bytes come out on every run and every machine: one fixed seed, integer weights, the standard
library only.
"""

import csv
import random
import sys
from pathlib import Path

SEED = 2004
FILES = {"survey.csv": 4_000, "later.csv": 2_000}
HEADER = ("smokes", "drinks", "health")


def person(rng):
    """Who smokes drinks more often, and who does either is ill more often."""
    smokes = rng.randrange(100) < 32
    drinks = rng.randrange(100) < (45 if smokes else 30)
    ill = rng.randrange(100) < (55 if smokes else 15) + (15 if drinks else 0)
    return ("yes" if smokes else "no", "yes" if drinks else "no", "ill" if ill else "well")


def main(folder="."):
    rng = random.Random(SEED)
    for name, rows in FILES.items():
        with open(Path(folder) / name, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER)
            writer.writerows(person(rng) for _ in range(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
