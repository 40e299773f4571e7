"""People that adversaries are tried on."""

import numpy as np
import pytest

import nbcfast
from nbcfast import Table


@pytest.fixture(scope="module")
def adult(data):
    """Adult-3, with >50K the class of lower precedence."""
    names = ["age", "education_num", "hours_per_week"]
    table = nbcfast.read_csv(data / "adult-train.csv", columns=[*names, "income"])
    return table, nbcfast.count(table, "income", classes=(">50K", "<=50K"))


@pytest.fixture(scope="module")
def workers():
    """Made-up people whose age and hours have many values, most of them few rows; and a holdout of them."""
    rng = np.random.default_rng(5)
    rich = rng.random(40_000) < 0.25
    age = np.clip(rng.gamma(np.where(rich, 9, 4), np.where(rich, 3, 5)) + 17, 17, 90).astype(int)
    hours = np.clip(rng.normal(np.where(rich, 46, 39), 12), 1, 99).astype(int)
    table = Table({"age": age, "hours": hours, "income": np.where(rich, ">50K", "<=50K")})
    members, others = table.take(slice(0, 32_000)), table.take(slice(32_000, None))
    return members, others, nbcfast.count(members, "income", classes=(">50K", "<=50K"))
