"""Releases of SafetyTransform: every one against all tuples."""

import doctest
import math
import random
import subprocess
import sys
from fractions import Fraction
from itertools import product

import gmpy2
import numpy as np
import pytest
from transform_cases import SEVEN_SIX, SIX_ROWS, THREE_ROWS, drawn, verified

import nbcfast
from nbcfast import Viewset, equivalence, safety
from nbcfast._core.errors import Infeasible
from nbcfast.reference import transform as reference
from nbcfast.transform import adjust, fill_zeros, safety_transform, scale, to_rows
from nbcfast.transform import adjusted as adjusted_module
from nbcfast.transform import powers as powers_module
from nbcfast.transform import publish as publish_module
from nbcfast.transform import roots as roots_module
from nbcfast.transform import scaled as scaled_module
from nbcfast.transform import shares as rounding_module
from nbcfast.transform import zeros as zeros_module
from nbcfast.views.loss import expected_log_loss

THIRTY = Viewset([1000, 1960], [[[20, 10], [980, 1950]]] * 3)


@pytest.mark.parametrize("rows", ["proven", "smallest"])
@pytest.mark.parametrize("preserve", ["order", "label"])
@pytest.mark.parametrize("gauge", [True, False])
def test_releases_are_safe_and_equivalent(rows, preserve, gauge):
    rng = random.Random(f"{rows} {preserve} {gauge}")
    for _ in range(20 if rows == "proven" else 8):
        views = drawn(rng)
        limit = rng.choice([Fraction(5, 4), 2, 4, 30])
        release = safety_transform(views, limit, preserve=preserve, rows=rows, gauge=gauge)
        assert verified(views, release.views, limit, preserve)
        assert release.certificate.differing_tuples == 0
        assert release.certificate.equivalence != "none"


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(8))
def test_many_releases_are_safe_and_equivalent(seed):
    rng = random.Random(100 + seed)
    for _ in range(400):
        views = drawn(rng)
        limit, preserve = rng.choice([Fraction(5, 4), 2, 4, 30]), rng.choice(["order", "label"])
        rows, gauge = rng.choice(["proven", "smallest"]), rng.random() < 0.5
        release = safety_transform(views, limit, preserve=preserve, rows=rows, gauge=gauge)
        assert verified(views, release.views, limit, preserve)


def test_values_of_no_row_single_values_and_single_classes():
    for views in (
        Viewset([5], [[[2], [3], [0]]]),
        Viewset([5, 9], {}),
        Viewset([9, 5], {}),
        Viewset([9, 9, 5], {}),
        Viewset([1, 10**6, 3], {}),
        Viewset([5, 9, 9], [[[5, 9, 9]]]),
        Viewset([3, 4], [[[3, 0], [0, 4], [0, 0]], [[3, 4]]]),
    ):
        for rows, gauge in product(("smallest", "proven"), (True, False)):
            release = safety_transform(views, "1.5", rows=rows, gauge=gauge)
            assert verified(views, release.views, Fraction(3, 2), "order")


def test_huge_counts():
    views = Viewset(
        [10**30 + 1, 10**30],
        [[[10**30, 1], [1, 10**30 - 1]], [[10**29, 10**29 + 1], [9 * 10**29 + 1, 9 * 10**29 - 1]]],
    )
    for rows in ("smallest", "proven"):
        assert verified(views, safety_transform(views, 4, rows=rows).views, 4, "order")


@pytest.mark.parametrize(("views", "limit"), [(SEVEN_SIX, 4), (THIRTY, 8)])
@pytest.mark.parametrize("attacker", ["row", "worlds"])
def test_views_that_condition_10_lets_pass_are_transformed(views, limit, attacker):
    """Safe by condition (10), though odds are up to 7.84 and 30.7: docs/mathematics/safety.md, section j."""
    release = safety_transform(views, limit, attacker=attacker, gauge=False)
    assert not release.certificate.identity
    assert release.views != views
    assert verified(views, release.views, Fraction(limit) / (2 if attacker == "worlds" else 1), "order")


def test_six_rows_are_safe_against_one_attacker_only():
    release = safety_transform(SIX_ROWS, 4, gauge=False)
    assert release.certificate.identity
    assert release.views == SIX_ROWS
    assert release.certificate.equivalence == "identity"
    assert any("as they are" in warning for warning in release.certificate.warnings)
    release = safety_transform(SIX_ROWS, 4, gauge=False, attacker="worlds")
    assert not release.certificate.identity
    assert safety.at_most(release.views, 2)
    with pytest.raises(ValueError, match="amplification must be above 2"):
        safety_transform(SIX_ROWS, 2, attacker="worlds")


def test_identity_keeps_its_rows():
    assert safety_transform(SIX_ROWS, 4, gauge=False, rows=6).certificate.identity
    release = safety_transform(SIX_ROWS, 4, gauge=False, rows=60)
    assert not release.certificate.identity
    assert release.views.n_rows == 60
    assert release.views.class_counts.tolist() == [30, 30]


def test_equal_score_ratios_give_equal_releases(tmp_path):
    """V, and Step 3 applied to V times any h_i(t): the same file. docs/mathematics/safety.md, section m."""
    rng = random.Random(31)
    for number in range(12):
        views = drawn(rng, n=rng.randint(1, 3), n_classes=rng.randint(2, 3), kind="more")
        if any((array == 0).any() for array in views.counts.values()):
            continue
        of_class, counts = reference.lists(views)
        factors = [[rng.choice([1, 2, 3, 7]) for _ in array] for array in views.counts.values()]
        counts = [
            [[int(x) * h for x in row] for row, h in zip(array.tolist(), of, strict=True)]
            for array, of in zip(views.counts.values(), factors, strict=True)
        ]
        weights = reference.weights_of(of_class, len(counts))
        new_classes, new_counts = reference.adjust(weights, counts)
        common = math.lcm(
            *(x.denominator for x in new_classes), *(x.denominator for a in new_counts for r in a for x in r)
        )
        other = Viewset(
            [int(x * common) for x in new_classes],
            [[[int(x * common) for x in row] for row in array] for array in new_counts],
        )
        assert other.is_realistic()
        files = []
        for name, of in (("a", views), ("b", other)):
            for rows in ("smallest", "proven"):
                release = safety_transform(of, 3, rows=rows)
                release.save(tmp_path / f"{number}{name}{rows}")
                files.append((tmp_path / f"{number}{name}{rows}" / "certificate.json").read_bytes())
        assert files[:2] == files[2:]


def test_releases_do_not_depend_on_the_context_or_the_run():
    first = safety_transform(THREE_ROWS, 2)
    with gmpy2.context(precision=5, round=gmpy2.RoundUp):
        assert safety_transform(THREE_ROWS, 2).views == first.views
    assert safety_transform(THREE_ROWS, 2).certificate == first.certificate


def test_rows_of_a_table_that_differ():
    rng = np.random.default_rng(3)
    found = set()
    for weights in (None, rng.integers(1, 9, 60)):
        codes = {"a": rng.integers(0, 6, 60), "b": rng.integers(0, 5, 60), "y": rng.integers(0, 2, 60)}
        table = nbcfast.Table(codes, weights=weights)
        views = nbcfast.count(table, "y")
        assert safety_transform(views, 4, table=table).certificate.differing_rows == 0
        for rows in range(30, 60, 3):
            release = safety_transform(views, 4, rows=rows, allow_differences=True, table=table)
            wrong = (views.order(table) != release.views.order(table)).any(axis=1)
            expected = wrong.sum() if weights is None else weights[wrong].sum()
            assert release.certificate.differing_rows == expected
            found.add(int(expected))
    assert len(found) > 2


@pytest.mark.parametrize("views", [SEVEN_SIX, THREE_ROWS, Viewset([3, 4], [[[1, 2], [2, 2]]])])
@pytest.mark.parametrize(
    ("limit", "rows"),
    [
        *product(("1.001", "1.000000001"), ("smallest", "proven")),
        ("1.0000000000001", "smallest"),
        ("1." + "0" * 36 + "1", "proven"),
    ],
)
def test_limits_near_1_end_in_a_release(views, limit, rows):
    release = safety_transform(views, limit, rows=rows)
    assert verified(views, release.views, Fraction(limit), "order")


@pytest.mark.parametrize("m", [10**6, 10**8, 10**10])
def test_an_order_that_few_rows_have_by_luck_does_not_keep_the_search_going(m):
    first = [[m, m - 4], [m - 4, m - 1], [m - 4, m - 3]]
    half = (3 * m - 8) // 2
    views = Viewset([3 * m - 8] * 2, [first, *[[[half - 1, half + 1], [half + 1, half - 1]]] * 2])
    for limit in ("1.5", "4"):
        assert verified(views, safety_transform(views, limit).views, Fraction(limit), "order")


def test_extreme_demands_end_in_a_release_or_a_clear_error():
    for limit, rows in product(("1e37", 4), ("proven", "smallest", 10**300)):
        for views in (SEVEN_SIX, THREE_ROWS, wide_of(60)):
            release = safety_transform(views, limit, rows=rows, guard=1024, preserve="label")
            assert safety.at_most(release.views, limit)
            assert release.certificate.equal
    for limit in ("1e38", "1e4000"):
        with pytest.raises(ValueError, match="amplification: exact limits have at most 38 digits"):
            safety_transform(SEVEN_SIX, limit)
    with pytest.raises(Infeasible, match="with this k Lambda is above 4 after rounding"):
        to_rows(scale(fill_zeros(THREE_ROWS, guard=1024), 4, k=1), "proven")


def wide_of(n):
    """Binary attributes that all say the same: Lambda 9^n."""
    return Viewset([10, 10], [[[9, 1], [1, 9]]] * n)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: safety_transform(None, 4), TypeError, "views must be a Viewset, got NoneType"),
        (lambda: fill_zeros({}), TypeError, "views must be a Viewset, got dict"),
        (lambda: scale(SIX_ROWS, 4), TypeError, "filled must be a Filled, got Viewset"),
        (lambda: adjust(SIX_ROWS), TypeError, "scaled must be a Scaled, got Viewset"),
        (lambda: to_rows(SIX_ROWS), TypeError, "scaled must be a Scaled, got Viewset"),
        (lambda: safety.amplification(3), TypeError, "views must be a Viewset, got int"),
        (lambda: safety.at_most("x", 4), TypeError, "views must be a Viewset, got str"),
        (lambda: safety.check([], 4), TypeError, "views must be a Viewset, got list"),
        (lambda: safety_transform(SIX_ROWS, 4, allow_differences="no"), TypeError, "allow_differences must"),
        (lambda: safety_transform(SIX_ROWS, 4, gauge=0), TypeError, "gauge must be a bool, got int"),
        (lambda: safety_transform(SIX_ROWS, 4, table=object()), TypeError, "table: expected a Table"),
        (
            lambda: safety_transform(SIX_ROWS, np.timedelta64(5, "s")),
            TypeError,
            "amplification must be an int",
        ),
        (
            lambda: safety_transform(SIX_ROWS, 4, rows=np.timedelta64(5, "s")),
            TypeError,
            "rows must be 'smallest'",
        ),
        (lambda: safety_transform(SIX_ROWS, -(10**5000)), ValueError, r"38 digits .*, got about -2\^16609"),
        (lambda: safety_transform(SIX_ROWS, 4, rows=10**301), ValueError, r"rows must be 1 to 10\^300"),
        (lambda: fill_zeros(SIX_ROWS, guard=1025), ValueError, "guard must be 1 to 1024, got 1025"),
        (lambda: scale(fill_zeros(SIX_ROWS), 4, bits=2**63), ValueError, "bits must be at most 1,048,576"),
        (lambda: scale(fill_zeros(SIX_ROWS), 4, k="0.5"), ValueError, "k must be at least 1, got 0.5"),
        (lambda: safety.limit("1e-5000", "1e-6000"), ValueError, "0 < l1 < l2 < 1, got about 2"),
    ],
)
def test_arguments_of_another_kind_are_named(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_equal_score_ratios_give_equal_releases_where_the_margin_is_only_bounded(tmp_path):
    """41 binary attributes, more than 10^12 tuples: counts doubled, and values weighted."""
    n = 41
    counts = [[[10 + i % 7, 5 + i % 5], [20 - i % 7, 20 - i % 5]] for i in range(n)]
    weighted = [[[h * x for x in row] for row, h in zip(array, (3, 2), strict=True)] for array in counts]
    classes, adjusted = reference.adjust(reference.weights_of([30, 25], n), weighted)
    common = math.lcm(
        *(x.denominator for x in classes), *(x.denominator for a in adjusted for r in a for x in r)
    )
    others = (
        Viewset([30, 25], counts),
        Viewset([60, 50], [[[2 * x for x in row] for row in array] for array in counts]),
        Viewset(
            [int(x * common) for x in classes],
            [[[int(x * common) for x in row] for row in array] for array in adjusted],
        ),
    )
    assert all(views.is_realistic() for views in others)
    for rows in ("smallest", "proven"):
        files = []
        for number, views in enumerate(others):
            safety_transform(views, 4, rows=rows).save(tmp_path / f"{rows}{number}")
            files.append((tmp_path / f"{rows}{number}" / "certificate.json").read_bytes())
        assert files[0] == files[1] == files[2]


def test_flat_posteriors_are_warned_of():
    views = Viewset([30, 40, 50], [[[10, 20, 25], [20, 20, 25]]] * 2)
    release = safety_transform(views, "1.001")
    assert any("nearly flat" in text and "'label'" in text for text in release.remarks)
    assert not release.certificate.warnings
    release = safety_transform(views, "1.001", preserve="label")
    assert any("nearly flat" in text and "'label'" not in text for text in release.remarks)
    table = {"A1": [0, 1, 0], "A2": [0, 0, 1], "y": [0, 1, 2]}
    release = safety_transform(views, "1.001", table=table, class_name="y")
    assert any("within 1 % of guessing, 1.0986" in text for text in release.remarks)
    sharp = safety_transform(Viewset([9, 9], [[[8, 1], [1, 8]]]), 40)
    assert not sharp.remarks
    assert not sharp.certificate.warnings


def test_expected_log_loss(monkeypatch):
    rng = random.Random(51)
    for _ in range(10):
        views, published = drawn(rng, n=2, n_classes=3, kind="more"), None
        published = safety_transform(views, 4, rows="proven").views
        of_class, counts = reference.lists(views)
        expected = 0.0
        for row in reference.tuples(counts):
            x = reference.scores(reference.weights_of(of_class, 2), counts, row)
            y = reference.scores(
                reference.weights_of(*((lists := reference.lists(published))[0], 2)), lists[1], row
            )
            for mine, other in zip(x, y, strict=True):
                expected += float(mine) / views.n_rows * -math.log(other / sum(y))
        exact = expected_log_loss(views, published)
        assert exact == pytest.approx(expected)
        with monkeypatch.context() as patch:
            patch.setattr("nbcfast.views.loss.ENUMERATED", 0)
            assert expected_log_loss(views, published) == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"amplification": 1}, ValueError, "amplification must be above 1"),
        ({"amplification": "nan"}, ValueError, "amplification must be a finite number"),
        ({"amplification": None}, TypeError, "amplification must be"),
        ({"amplification": 4, "attacker": "me"}, ValueError, "attacker must be 'row' or 'worlds', got 'me'"),
        ({"amplification": 4, "rows": 0}, ValueError, "rows must be 1 to 10\\^300, got 0"),
        (
            {"amplification": 4, "rows": "few"},
            ValueError,
            "rows must be 'smallest', 'proven' or an int, got 'few'",
        ),
        ({"amplification": 4, "rows": 2.5}, TypeError, "rows must be .* got float"),
        ({"amplification": 4, "rows": True}, TypeError, "rows must be .* got bool"),
        ({"amplification": 4, "preserve": "all"}, ValueError, "preserve must be"),
    ],
)
def test_safety_transform_refuses(options, error, message):
    with pytest.raises(error, match=message):
        safety_transform(SIX_ROWS, **options)


def test_many_attributes_and_classes():
    rng = np.random.default_rng(1)
    for n, n_classes, preserve in ((60, 2, "order"), (60, 5, "label"), (12, 6, "order")):
        classes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 200)])
        chance = rng.uniform(0.02, 0.98, (n, n_classes))
        codes = (rng.random((len(classes), n)) < chance[:, classes].T).astype(int)
        views = Viewset.from_codes(codes, classes, sizes=[2] * n, n_classes=n_classes)
        release = safety_transform(views, 4, preserve=preserve, rows="proven")
        assert release.certificate.equivalence == "interval"
        assert safety.at_most(release.views, 4)
        assert release.views.is_realistic()
        table = nbcfast.Table({f"A{i + 1}": codes[:, i] for i in range(n)})
        if preserve == "order":
            assert (views.order(table) == release.views.order(table)).all()
        assert (views.predict(table) == release.views.predict(table)).all()


def test_a_published_file_passes_the_single_file_check(tmp_path):
    safety_transform(THREE_ROWS, 4).save(tmp_path / "release")
    script = nbcfast.__path__[0] + "/verify_release.py"
    found = subprocess.run(
        [sys.executable, "-I", script, str(tmp_path / "release")], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_adult_3(data):
    table = nbcfast.read_csv(
        data / "adult-train.csv", columns=["age", "education_num", "hours_per_week", "income"]
    )
    for classes, most, exponents in (
        ((">50K", "<=50K"), 3_000_000, (17, 11)),
        (("<=50K", ">50K"), 3_000_000, (15, 8)),
    ):
        views = nbcfast.count(table, "income", classes=classes)
        filled = fill_zeros(views)
        assert (filled.n_zeros, filled.exponents) == (24, exponents)
        scaled = scale(filled, 4)
        assert float(scaled.margin) == pytest.approx(1.9513960496864301e-4)
        assert float(scaled.k) == pytest.approx({17: 23.84, 15: 10.58}[exponents[0]], abs=0.03)
        for rows in ("smallest", "proven"):
            release = safety_transform(views, 4, rows=rows, table=table, class_name="income")
            assert safety.at_most(release.views, 4)
            assert equivalence.compare(views, release.views).equal
            assert (views.predict(table) == release.views.predict(table)).all()
            assert release.certificate.differing_rows == 0
            assert rows == "proven" or release.views.n_rows <= most


@pytest.mark.parametrize(
    "module",
    [
        powers_module,
        publish_module,
        roots_module,
        rounding_module,
        scaled_module,
        adjusted_module,
        zeros_module,
    ],
)
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0
