"""Where features cross: seeded random tables, read in every way, against exact oracles of plain Python.

Numbers equal the oracle's exactly, and neither the source, the order of rows, chunks, threads, merging nor
weights in place of repeated rows change a bit. `HYPOTHESIS_PROFILE=thorough` tries a hundred times as many,
and `CROSSINGS=1000` says how many tables a method gets, `CROSSINGS_FROM` from which seed on.
"""

import math
import os
from collections import Counter
from fractions import Fraction

import crossing_oracles as oracle
from crossing_cases import random_case

import nbcfast
from nbcfast import (
    concat,
    count,
)

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


FIRST = int(os.environ.get("CROSSINGS_FROM", "0"))


TRIED = Counter()


def seeds(fast, thorough):
    """The seeds of a method."""
    n = int(os.environ.get("CROSSINGS", thorough if THOROUGH else fast))
    return range(FIRST, FIRST + n)


def crossed(check, fast, thorough, folder, **options):
    """Run a check on so many random tables; what fails says its seed."""
    for seed in seeds(fast, thorough):
        case, rng = random_case(f"{check.__name__} {seed}", **options)
        try:
            check(case, rng, folder)
        except Exception as error:
            error.add_note(f"{check.__name__}, seed {seed}: {case}")
            raise


def read(case, rng, folder, source=None):
    """The table, read in one way."""
    return case.table(source or rng.choice(case.sources()), rng, folder)


def ways(case, rng, folder, n=2):
    """The same people otherwise: other sources, rows in another order, repeated in place of weights."""
    for source in rng.sample(case.sources(), n):
        yield source, case.table(source, rng, folder)
    yield "permuted", read(case.permuted(rng), rng, folder)
    expanded = case.expanded()
    if expanded is not None:
        yield "expanded", read(expanded.permuted(rng), rng, folder)
    parts = case.split(rng, rng.randint(2, 4)) if case.n_rows > 1 else [case]
    rng.shuffle(parts)
    yield "parts", concat([read(part, rng, folder) for part in parts])


def same_values(found, expected):
    """Whether values are equal and of one type each: 1 is neither True nor 1.0."""
    return list(map(repr, found)) == list(map(repr, expected))


def classes_of(case, rng):
    """The classes in some precedence, and what to ask `count` for to have it."""
    labels = case.domain("y")
    if rng.random() < 0.5:
        return labels, None
    chosen = with_null_last(labels[::-1] if rng.random() < 0.5 else rng.sample(labels, len(labels)))
    return chosen, chosen


def counted(case, classes, names=None):
    """The oracle's counts."""
    names = [name for name in case.names if name != "y"] if names is None else names
    domains = [case.domain(name) for name in names]
    of_class, counts = oracle.tally(case.rows([*names, "y"]), len(names), len(names), domains, classes)
    return of_class, counts, domains


def check_views(views, case, classes, names=None):
    names = [name for name in case.names if name != "y"] if names is None else names
    of_class, counts, domains = counted(case, classes, names)
    assert same_values(views.classes, with_null_last(classes))
    assert views.attributes == tuple(names)
    assert views.class_counts.tolist() == arranged([of_class], classes)[0]
    for name, table, domain in zip(names, counts, domains, strict=True):
        assert same_values(views.domain(name), domain)
        assert views.counts[name].tolist() == arranged(table, classes)
    assert views.n_rows == sum(case.of_rows())
    assert views.is_realistic()


def with_null_last(classes):
    return [c for c in classes if c is not None] + [c for c in classes if c is None]


def arranged(table, classes):
    """Columns in the order of a domain, in which a null is last."""
    order = [classes.index(c) for c in with_null_last(classes)]
    return [[row[c] for c in order] for row in table]


def plain_counts(views):
    """Counts as the oracles take them."""
    return views.class_counts.tolist(), [views.counts[name].tolist() for name in views.attributes]


def logarithm(x):
    """Ln of a Fraction of any size."""
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    rest = x / Fraction(2) ** shift
    # log1p where the number is near 1.
    if shift in (-1, 0, 1):
        return math.log1p(float(x - 1))
    return math.log(float(rest)) + shift * math.log(2)


# what is published


def check_published(release, views, limit, preserve, folder, rng, table):
    """A release decides as the views do, keeps the limit, and comes back from its file."""
    of_class, counts = plain_counts(release.views)
    own_class, own = plain_counts(views)
    assert release.views.classes == views.classes
    assert release.views.is_realistic()
    for name in views.attributes:
        assert same_values(release.views.domain(name), views.domain(name))
    assert min(of_class) > 0
    assert oracle.amplification(of_class, counts) <= limit
    for codes in oracle.tuples(counts):
        after = oracle.ranked(oracle.scores(of_class, counts, codes))
        before = oracle.ranked(oracle.scores(own_class, own, codes))
        assert after[0] == before[0], codes
        assert preserve == "label" or after == before, codes
    assert (release.predict(table) == views.predict(table)).all()
    path = folder / f"release-{rng.randrange(10**9)}"
    release.save(path)
    found = nbcfast.verify(path)
    assert found.ok, found
    assert nbcfast.verify(path, against=views).ok
    loaded = nbcfast.load(path)
    assert loaded == release
    for name in views.attributes:
        assert same_values(loaded.views.domain(name), views.domain(name))
    assert (loaded.predict(table) == views.predict(table)).all()
    return (path / "certificate.json").read_bytes()


def published_views(case, rng, folder):
    """Views that can be published: every class has rows and some other value than null."""
    _, asked = classes_of(case, rng)
    table = read(case, rng, folder)
    views = count(table, "y", classes=asked)
    if not (views.class_counts > 0).all() or len(views.classes) < 2:
        return None
    return table, views, asked


def check_groups(found, expected, by):
    got = {tuple(found.key(g).values()): Counter(found.histogram(g)) for g in range(found.n_groups)}
    assert {repr(key): {repr(v): n for v, n in one.items()} for key, one in got.items()} == {
        repr(key): {repr(v): n for v, n in one.items()} for key, one in expected.items()
    }
    assert found.by == tuple(by)


def saved(made, path, case, **options):
    """Save it, unless some column has two values that CSV writes alike, which is said by its name."""
    try:
        made.save(path, **options)
    except ValueError as error:
        text = "CSV cannot tell the empty text from a null: put another value in the place of one of them"
        name = next(name for name in case.names if str(error) == f"column {name!r}: {text}")
        assert {"", None} <= set(case.domain(name))
        return False
    return True
