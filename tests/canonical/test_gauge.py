"""The gauge: every value is equally frequent in what is published, whatever the limit and the rows."""

import random
from fractions import Fraction

import gmpy2
import pytest
from canonical_cases import labels, largest_ratio
from how_many import how_many

from nbcfast import Viewset, canonical
from nbcfast.canonical import even_values
from nbcfast.canonical.even_values import EvenGauge, GaugedLevels
from nbcfast.canonical.row_shares import OFF, PRECISION, EvenShares, IntegerScores

TWO = Viewset([50, 90], {"job": [[9, 70], [41, 20]], "sex": [[12, 50], [38, 40]]})
THREE = Viewset(
    [20, 17, 23],
    {
        "job": [[5, 9, 3], [7, 2, 10], [8, 6, 10]],
        "sex": [[11, 3, 9], [4, 8, 6], [5, 6, 8]],
        "age": [[10, 10, 3], [10, 7, 20]],
    },
)
FOUR = Viewset(
    [5, 6, 7, 8],
    {"job": [[1, 5, 2, 1], [4, 1, 5, 7]], "sex": [[1, 0, 6, 3], [2, 5, 1, 2], [2, 1, 0, 3]]},
)


def spread_of_totals(views):
    """By how many rows the values of an attribute differ, at the most."""
    totals = [[sum(map(int, row)) for row in array.tolist()] for array in views.counts.values()]
    return max(max(each) - min(each) for each in totals)


def off(shares):
    """The share of the rows by which a value misses its part, exactly."""
    rows, worst = sum(map(int, shares.of_class)), Fraction(0)
    for attribute in shares.exact:
        columns = [sum(map(int, column)) for column in zip(*attribute, strict=True)]
        for row in attribute:
            actual = sum(
                Fraction(int(share), whole) * Fraction(int(of_class), rows)
                for share, whole, of_class in zip(row, columns, shares.of_class, strict=True)
            )
            worst = max(worst, abs(actual - Fraction(1, len(attribute))))
    return worst


@pytest.mark.parametrize("views", [TWO, THREE, FOUR], ids=["two classes", "three", "four"])
@pytest.mark.parametrize("limit", [4, 10**6, 10**9, 10**12, 10**13, 10**16, 2**64], ids="{:.0e}".format)
def test_values_are_equally_frequent_up_to_the_largest_limit(views, limit):
    made = canonical.release(views, limit, rows="proven").views
    # Rounding moves a total by less than a row a class, and the size of a class by less than one.
    assert spread_of_totals(made) <= 2 * len(views.classes)
    assert labels(made) == labels(views)
    assert largest_ratio(made) <= limit


@pytest.mark.parametrize("rows", [10**30, 10**75, 10**300], ids=["10^30", "10^75", "10^300"])
@pytest.mark.parametrize("views", [TWO, THREE], ids=["two classes", "three"])
def test_values_are_equally_frequent_in_as_many_rows_as_were_asked_for(views, rows):
    made = canonical.release(views, 4, rows=rows).views
    assert made.n_rows == rows
    assert spread_of_totals(made) <= 2 * len(views.classes)


def random_scores(rng):
    n_classes, top = rng.choice([2, 2, 3, 5]), rng.choice([1, 30, 1000])

    def points():
        return (*(rng.choice([0, top, rng.randint(-top, top)]) for _ in range(n_classes - 1)), 0)

    attributes = tuple(
        tuple(points() for _ in range(rng.randint(1, 5))) for _ in range(rng.choice([1, 2, 4, 9]))
    )
    base = tuple(rng.randint(-3 * top, top) for _ in range(n_classes))
    return IntegerScores(base, attributes, 1)


def test_unrounded_shares_miss_no_part_of_a_row_that_shows():
    rng, by_newton = random.Random(3), 0
    for _ in range(how_many(40, 150)):
        scores = random_scores(rng)
        limit = rng.choice([4, 10**6, 10**12, 10**16, 2**64])
        shares = EvenShares(scores, Fraction(limit), Fraction(1025, 1024))
        rows = 2 * shares.proven_rows()
        assert off(shares) * rows <= OFF
        by_newton += off(shares) < Fraction(2) ** (even_values.SLACK + 5 - shares.precision)
        check_scores(shares, scores, limit)
    assert by_newton > how_many(5, 20)


def check_scores(shares, scores, limit):
    """Logarithms of ratios of scores are what points say, far closer than any two tuples lie."""
    rng = random.Random(0)
    with gmpy2.context(precision=400):
        unit = gmpy2.log(gmpy2.mpq(limit)) / gmpy2.mpq(1025, 1024) / (scores.range or 1)
        columns = [[sum(column) for column in zip(*attribute, strict=True)] for attribute in shares.exact]
        for _ in range(5):
            codes = [rng.randrange(len(attribute)) for attribute in scores.points]
            logs, totals = [], []
            for c in range(len(scores.base)):
                log = gmpy2.log(shares.of_class[c])
                for attribute, sums, t in zip(shares.exact, columns, codes, strict=True):
                    log += gmpy2.log(gmpy2.mpq(attribute[t][c], sums[c]))
                logs.append(log)
                totals.append(
                    scores.base[c] + sum(a[t][c] for a, t in zip(scores.points, codes, strict=True))
                )
            for c in range(1, len(logs)):
                wanted = unit * (totals[c] - totals[0]) if scores.range else 0
                assert abs(logs[c] - logs[0] - wanted) < unit / 2**30 + gmpy2.mpfr(2) ** -50


@pytest.mark.parametrize("precision", [160, 300, 1000])
def test_newton_has_every_digit_of_the_precision(precision):
    with gmpy2.context(precision=precision):
        scaled = [[[gmpy2.mpfr(40), 0, 3], [0, 5, gmpy2.mpfr(-30)]], [[gmpy2.mpfr(0), 1, 2]]]
        levels = [GaugedLevels([2, 1], scaled[0]), GaugedLevels([3], scaled[1])]
        gauge = EvenGauge([levels[0], levels[0], levels[1]], [gmpy2.mpfr(0), gmpy2.mpfr(7), gmpy2.mpfr(-7)])
        point = gauge.solve()
        for each in levels:
            for row, wanted in zip(point.shares[each], each.wanted, strict=True):
                actual = sum(share * whole for share, whole in zip(row, point.classes, strict=True))
                assert abs(actual - wanted) < gmpy2.exp2(even_values.SLACK + 4 - precision)


def test_ordinary_limits_keep_the_precision_that_old_releases_were_made_with():
    asked = canonical.box(THREE)
    scores = IntegerScores.of(canonical.integers(asked, canonical.solve(asked)))
    assert EvenShares(scores, Fraction(4), Fraction(1025, 1024)).precision == PRECISION == 160
    assert EvenShares(scores, Fraction(2**64), Fraction(1025, 1024)).precision == 160
    assert EvenShares(scores, Fraction(4), Fraction(1025, 1024), rows=10**300).precision > 1000
