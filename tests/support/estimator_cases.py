"""Rows that estimators of scikit-learn are fitted on."""

import numpy as np

JOBS = ["clerk", "cook", "nurse", "smith"]
DOMAIN = {"job": JOBS, "sex": ["f", "m"], "age": {"edges": [0, 30, 50, None]}}


def people(n_rows=400, seed=5):
    """Jobs, sexes and ages (whole numbers) of people, and whether they are ill: columns, and classes."""
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 3, n_rows) == 0
    columns = {
        "job": np.array(JOBS, object)[np.where(ill, rng.integers(0, 3, n_rows), rng.integers(1, 4, n_rows))],
        "sex": np.array(["f", "m"], object)[(rng.random(n_rows) < 0.4 + 0.2 * ill).astype(int)],
        "age": rng.integers(18, 60, n_rows) + 15 * ill,
    }
    return columns, np.array(["no", "yes"], object)[ill.astype(int)]


def matrix(columns):
    """The columns side by side, as an array of objects."""
    return np.stack([np.asarray(column, object) for column in columns.values()], axis=1)
