"""The data in examples/: made by the script beside it, and fit for what the README does with it."""

import csv
import itertools
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nbcfast

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    ("script", "names"),
    [("make_patients.py", ["patients.csv"]), ("make_survey.py", ["later.csv", "survey.csv"])],
)
def test_the_script_writes_the_shipped_bytes(script, names, tmp_path):
    subprocess.run([sys.executable, EXAMPLES / script, tmp_path], check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    for name in names:
        assert (tmp_path / name).read_bytes() == (EXAMPLES / name).read_bytes()


def test_the_survey_is_what_readme_says():
    table, later = (nbcfast.read_csv(EXAMPLES / name) for name in ("survey.csv", "later.csv"))
    views = nbcfast.count(table, "health")
    ill = views.counts["smokes"][views.domain("smokes").index("yes")][views.classes.index("ill")]
    assert (table.n_rows, later.n_rows, round(int(ill) / 4_000, 4)) == (4_000, 2_000, 0.1998)
    truth = np.array(later.domain("health"))[later.codes("health")]
    assert round(float((views.predict(later) == truth).mean()), 3) == 0.751


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
