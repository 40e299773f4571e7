"""People, points and hierarchies that several tests of partitions look at."""

import hashlib
import json

import numpy as np
import pytest

import nbcfast
from nbcfast import Table, verify_release
from nbcfast.mondrian import anonymize

JOBS = {
    "outdoor": ["farmer", "fisher"],
    "indoor": {"office": ["clerk", "lawyer"], "shop": ["baker", "butcher"]},
}
POINTS = [(1, 2, 2, "19/20"), (0, 3, 1, 0.9)]


def people(n=3000, seed=0, weights=False):
    rng = np.random.default_rng(seed)
    jobs = np.array(["baker", "butcher", "clerk", "farmer", "fisher", "lawyer"])
    ill = np.array(["cold", "flu", 'the "gout"', "measles, or so", "none"])
    columns = {
        "age": rng.integers(17, 90, n),
        "job": jobs[rng.integers(0, 6, n)],
        "hours": np.round(rng.normal(40, 10, n), 1),
        "ill": ill[rng.choice(5, n, p=[0.3, 0.2, 0.2, 0.2, 0.1])],
        "name": np.arange(n),
    }
    return Table(columns, weights=rng.integers(1, 4, n) if weights else None)


def partition_of(table):
    """The partition of such people by all kinds of demands."""
    return anonymize(
        table,
        ["age", "job", "hours"],
        "ill",
        POINTS,
        k=5,
        diversity=(4, 3),
        closeness=0.5,
        hierarchies={"job": JOBS},
    )


def resigned(folder, change):
    """Change the certificate or the table, and put right all hashes."""
    fields = json.loads((folder / "certificate.json").read_text())
    lines = (folder / "table.csv").read_text().splitlines(keepends=True)
    lines = change(fields, lines) or lines
    (folder / "table.csv").write_text("".join(lines))
    fields["table_sha256"] = hashlib.sha256("".join(lines).encode()).hexdigest()
    fields["sha256"] = verify_release.digest(fields)
    (folder / "certificate.json").write_text(verify_release.canonical_json(fields) + "\n")


def failed(folder):
    """The names of the checks that fail, and the first text."""
    found = nbcfast.verify(folder)
    wrong = [check for check in found.checks if not check.passed]
    with pytest.raises(ValueError, match=r".*"):
        nbcfast.load(folder)
    return [check.name for check in wrong], wrong[0].text


def adult(data, quasi):
    columns = [*quasi, "occupation"]
    return [
        nbcfast.read_csv(data / f"adult-{part}.csv", null_values=("?",)).drop_nulls().select(columns)
        for part in ("train", "test")
    ]
