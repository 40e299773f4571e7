"""Releases whose pages are tried: of any number of classes, with names that are markup, bins and nulls."""

import random
import re
from functools import cache
from html import unescape

import numpy as np

from nbcfast import Table, canonical, count

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</style><style>*{display:none}",
    '" onclick="alert(1)',
    "__proto__",
    "constructor",
    "a\u2028b",
    "\u202eabc",
    "]]>",
    "<!--",
    "&lt;b&gt; \\u003c",
    "",
    "ü `${1}` ñ",
]
EDGES = [float("-inf"), 0.1, 0.3, 0.6, float("inf")]


def text_of(page):
    """What people read, in one line."""
    body = re.sub(r"<style>.*?</style>", "", page.read_text(encoding="utf-8"), flags=re.S)
    return " ".join(unescape(re.sub("<[^>]*>", " ", body)).split())


@cache
def hostile_release(n_classes, seed=0, n_rows=200):
    """A canonical release of rows at random, in which every name and value is one of the hostile ones."""
    rng = random.Random(seed)
    names = rng.sample([name for name in HOSTILE if name], 4)
    rows = {
        names[0]: [rng.choice(HOSTILE[:3]) for _ in range(n_rows)],
        names[1]: [rng.choice([*HOSTILE[9:], None]) for _ in range(n_rows)],
        names[2]: [rng.randrange(10) for _ in range(n_rows)],
        names[3]: [rng.random() for _ in range(n_rows)],
    }
    classes = rng.sample(HOSTILE, n_classes)
    first, third = rows[names[0]], rows[names[2]]
    labels = [
        classes[(HOSTILE.index(one) + two + (rng.random() < 0.2)) % n_classes]
        for one, two in zip(first, third, strict=True)
    ]
    table = Table({**rows, "<b>class</b>": labels}).bin(names[3], EDGES)
    return canonical.release(count(table, "<b>class</b>"), 4, class_name="<b>class</b>")


def some_codes(release, number, seed=0):
    """Tuples at random, as codes: a row each."""
    rng = np.random.default_rng(seed)
    views = release.views
    return np.stack([rng.integers(len(views.domain(name)), size=number) for name in views.attributes], axis=1)


def table_of(release, codes):
    """The tuples as a table."""
    views = release.views
    return Table(
        {
            name: [views.domain(name)[code] for code in codes[:, place]]
            for place, name in enumerate(views.attributes)
        },
        domains={name: views.domain(name) for name in views.attributes},
    )


def strata():
    """Releases by the values of a column."""
    rng = np.random.default_rng(3)
    sex, job, age = (rng.integers(size, size=300) for size in (2, 3, 4))
    rows = {
        "sex": [["f", "m"][one] for one in sex],
        "job": [["a", "b", None][one] for one in job],
        "age": age,
        "ill": np.where((sex + 1) * job + age > 3, "yes", "no"),
    }
    return canonical.release_by(Table(rows), "ill", "sex", 4)
