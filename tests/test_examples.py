"""The data in examples/: made by the script beside it, and fit for what the README does with it."""

import csv
import itertools
import math
import subprocess
import sys
from pathlib import Path

import numpy as np

import nbcfast

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def test_the_script_writes_the_shipped_bytes(tmp_path):
    subprocess.run([sys.executable, EXAMPLES / "make_patients.py", tmp_path], check=True)
    assert (tmp_path / "patients.csv").read_bytes() == (EXAMPLES / "patients.csv").read_bytes()


def test_patients_have_zeros_near_ties_and_two_common_classes():
    with open(EXAMPLES / "patients.csv", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    table = nbcfast.read_csv(EXAMPLES / "patients.csv")
    views = nbcfast.count(table, "diagnosis")
    assert len(rows) == views.n_rows == 5_000
    assert views.attributes == tuple(header[:-1])
    assert views.classes == ("diabetes", "healthy")
    assert views.class_counts.tolist() == [2014, 2986]
    assert math.prod(len(views.domain(name)) for name in views.attributes) == 41_472
    assert {name: int((views.counts[name] == 0).sum()) for name in views.attributes} == {
        **dict.fromkeys(header[:-1], 0),
        "glucose": 2,
    }

    predicted, counts = np.unique(views.predict(table), return_counts=True)
    assert predicted.tolist() == ["diabetes", "healthy"]
    assert counts.min() >= 0.15 * views.n_rows

    near = 0
    for tuple_counts in itertools.product(*(views.counts[name].tolist() for name in views.attributes)):
        diabetes, healthy = map(math.prod, zip(*tuple_counts, strict=True))
        diabetes, healthy = diabetes * 2986**7, healthy * 2014**7
        near += 0 < abs(diabetes - healthy) * 100 < healthy
    assert near >= 20
