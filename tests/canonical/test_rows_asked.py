"""`rows=R`: counts in so many rows are found where there are any, and where there are none that is said."""

import itertools
import random
from fractions import Fraction

import pytest
from canonical_cases import labels, largest_ratio
from how_many import how_many

import nbcfast
from nbcfast import Viewset, canonical
from nbcfast._core.errors import Infeasible
from nbcfast._rounding import rows as rows_asked
from nbcfast.canonical import every_way
from nbcfast.canonical.every_way import compositions


def sums(total, parts):
    """All ways to write a total as a sum of positive integers."""
    if parts == 1:
        return [(total,)]
    return [
        (first, *rest) for first in range(1, total - parts + 2) for rest in sums(total - first, parts - 1)
    ]


def orders(of_class, arrays):
    """For every tuple the classes, the best first."""
    n, classes = len(arrays), range(len(of_class))
    result = []
    for rows in itertools.product(*arrays):
        scores = [Fraction(1, count ** (n - 1)) for count in of_class]
        for row in rows:
            scores = [score * number for score, number in zip(scores, row, strict=True)]
        result.append(tuple(sorted(classes, key=lambda c: (scores[c], c), reverse=True)))
    return result


def amplification(of_class, arrays):
    """The largest ratio of two scores."""
    n, largest = len(arrays), Fraction(1)
    for c, d in itertools.permutations(range(len(of_class)), 2):
        ratio = Fraction(of_class[d] ** (n - 1), of_class[c] ** (n - 1))
        for array in arrays:
            ratio *= max(Fraction(row[c], row[d]) for row in array)
        largest = max(largest, ratio)
    return largest


def least_amplification(sizes, rows, n_classes, preserve):
    """For all answers that any counts in so many rows give, the least Lambda of these: by trying all."""
    least = {}
    for of_class in sums(rows, n_classes):
        if min(of_class) < max(sizes):
            continue
        columns = [itertools.product(*(sums(count, size) for count in of_class)) for size in sizes]
        for chosen in itertools.product(*columns):
            arrays = [list(zip(*of_attribute, strict=True)) for of_attribute in chosen]
            made = orders(of_class, arrays)
            key = tuple(order[0] for order in made) if preserve == "label" else tuple(made)
            ratio = amplification(of_class, arrays)
            if key not in least or ratio < least[key][0]:
                least[key] = ratio, (of_class, arrays)
    return least


CASES = [
    ((2, 2), 7, 2, "label"),
    ((3, 2), 8, 2, "label"),
    ((2, 2, 2), 7, 2, "label"),
    ((3, 3), 8, 2, "label"),
    ((3,), 11, 3, "label"),
    ((2, 2), 8, 3, "label"),
    ((2, 2), 8, 3, "order"),
]


@pytest.mark.parametrize(("sizes", "rows", "n_classes", "preserve"), CASES)
def test_near_the_least_rows_are_found_if_and_only_if_there_are_any(sizes, rows, n_classes, preserve):
    least = least_amplification(sizes, rows, n_classes, preserve)
    chosen = random.Random(0).sample(sorted(least), min(len(least), how_many(2, 6)))
    for wanted in chosen:
        ratio, (of_class, arrays) = least[wanted]
        views = Viewset(of_class, arrays)
        limit = max(ratio, Fraction(1001, 1000))
        made = canonical.release(views, limit, rows=rows, preserve=preserve).views
        assert made.n_rows == rows
        assert largest_ratio(made) <= limit
        counts = [list(map(tuple, array.tolist())) for array in made.counts.values()]
        answers = orders(made.class_counts.tolist(), counts)
        assert wanted == (tuple(answers) if preserve == "order" else tuple(order[0] for order in answers))
        if ratio > Fraction(1001, 1000):
            with pytest.raises(Infeasible, match="all ways were tried"):
                canonical.release(views, ratio - Fraction(1, 10**6), rows=rows, preserve=preserve)


@pytest.mark.parametrize("rows", [6, 7, 8, 9])
def test_answers_that_so_few_rows_do_not_give_are_refused(rows):
    least, refused = least_amplification((3,), rows, 2, "label"), set()
    for wanted in itertools.product((0, 1), repeat=3):
        # One row of each value is enough for one attribute to give any answers.
        views = Viewset(
            [5 - sum(wanted), 2 + sum(wanted)],
            {"a": [[1 + (label == 0), 1 + (label == 1)] for label in wanted]},
        )
        views = Viewset(views.counts["a"].sum(axis=0), views.counts)
        refused.add(wanted not in least)
        if wanted in least:
            assert labels(canonical.release(views, 1000, rows=rows).views) == list(wanted)
        else:
            with pytest.raises(Infeasible, match="all ways were tried"):
                canonical.release(views, 1000, rows=rows)
    assert False in refused


def test_on_a_list_answers_elsewhere_may_change():
    views = Viewset([4, 4], {"a": [[1, 2], [3, 1], [0, 1]], "b": [[3, 1], [1, 3]]})
    public = {"a": [0, 1, 2], "b": [0, 1, 0]}
    made = canonical.release(views, 10, tuples=public, rows=8).views
    assert made.n_rows == 8
    places = [0, 3, 4]
    assert [labels(made)[place] for place in places] == [labels(views)[place] for place in places]


def test_there_are_no_holes_above_the_fewest():
    table = nbcfast.read_csv("examples/patients.csv", columns=["age", "bmi", "glucose", "diagnosis"])
    views = nbcfast.count(table, "diagnosis")
    fewest = canonical.release(views, 4).views.n_rows
    for rows in (*range(fewest - 5, fewest + 8), 111, 112, 113, 115, 119):
        made = canonical.release(views, 4, rows=rows)
        assert made.views.n_rows == rows
        assert made.certificate.equal


def test_the_work_is_bounded_by_counts(monkeypatch):
    views = Viewset([4, 4], {"a": [[1, 3], [3, 1]], "b": [[1, 2], [3, 2]], "c": [[2, 3], [2, 1]]})
    for name in ("MOST_COMPARED", "MOST_SIZES", "MOST_LISTED", "MOST_HELD", "MOST_JOINED", "MOST_TUPLES"):
        with monkeypatch.context() as patch:
            patch.setattr(rows_asked, "KS", 1)  # what is tried before all ways finds nothing
            patch.setattr(rows_asked, "BESIDE_KS", 1)
            patch.setattr(every_way, name, 0)
            with pytest.raises(Infeasible, match="no 7 rows were found"):
                canonical.release(views, 4, rows=7)
    assert canonical.release(views, 4, rows=7).views.n_rows == 7
    with pytest.raises(Infeasible, match="no 8 rows keep the label with Lambda up to 4: all ways were tried"):
        canonical.release(views, 4, rows=8)


@pytest.mark.parametrize(("total", "parts"), [(1, 1), (7, 1), (3, 3), (9, 4), (6, 2)])
def test_compositions(total, parts):
    assert sorted(map(tuple, compositions(total, parts).tolist())) == sorted(sums(total, parts))
