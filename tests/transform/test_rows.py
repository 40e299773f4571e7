"""Step 4: counts in so many rows, and the proof of their order."""

import random
from fractions import Fraction

import pytest
from transform_cases import SEVEN_SIX, SIX_ROWS, drawn, verified

from nbcfast import Viewset, safety
from nbcfast._core.errors import Infeasible
from nbcfast._rounding import apportion as apportion_module
from nbcfast._rounding import rows as rows_module
from nbcfast.reference import transform as reference
from nbcfast.transform import fill_zeros, safety_transform, scale, to_rows
from nbcfast.transform import plan as plan_module
from nbcfast.transform import shares as rounding_module
from nbcfast.transform.margin_bound import deciding_margin
from nbcfast.transform.scaled import scaled_by


def test_the_proof_of_order_sees_what_is_wrong():
    """Counts moved by hand: whenever a tuple differs, the proof fails."""
    rng = random.Random(21)
    refused = 0
    for _ in range(60):
        views = drawn(rng, n=2, n_classes=rng.randint(2, 3), kind="more")
        filled = fill_zeros(views)
        margin = deciding_margin(filled, True)
        shares = rounding_module.ScaledShares(
            scaled_by(filled, Fraction(4), Fraction(3), True, margin, None, 16)
        )
        counted = rounding_module.proven_counts(shares)
        t = rng.randrange(len(counted.rows) - 1)
        size = max(1, counted.rows[t][0] // rng.choice([3, 30, 1000, 10**5]))
        rows, excess = [list(row) for row in counted.rows], counted.excess.copy()
        start = [s for s in shares.starts if s <= t][-1]
        other = start if t != start else start + 1
        if other >= shares.starts[shares.starts.index(start) + 1]:
            continue
        for place, change in ((t, -size), (other, size)):
            rows[place][0] += change
            excess[place, 0] += change
        if min(row[0] for row in rows) < 1:
            continue
        moved = apportion_module.Counted(counted.of_class, [tuple(row) for row in rows], excess)
        published = apportion_module.viewset(views, moved.of_class, moved.rows)
        if rounding_module.proves_order(shares, moved):
            assert not reference.differing(views, published)
        else:
            refused += 1
    assert refused > 20


def test_a_given_number_of_rows():
    rng = random.Random(41)
    refused = 0
    for _ in range(40):
        views = drawn(rng, n=rng.randint(1, 3), n_classes=rng.randint(2, 3))
        rows, preserve = rng.choice([20, 50, 300]), rng.choice(["order", "label"])
        error = None
        try:
            release = safety_transform(views, 4, rows=rows, preserve=preserve)
        except Infeasible as refusal:
            error, release = refusal, refusal.best["release"]
            refused += 1
        assert safety.at_most(release.views, 4)
        assert release.views.is_realistic()
        differing = len(reference.differing(views, release.views, preserve))
        assert release.certificate.differing_tuples == differing
        if error is None:
            assert (release.views.n_rows, differing) == (rows, 0)
        elif differing:
            assert f"{differing} of {release.certificate.tuples} tuples differ" in error.why
            release = safety_transform(views, 4, rows=rows, preserve=preserve, allow_differences=True)
            assert (release.views.n_rows, release.certificate.differing_tuples) == (rows, differing)
            what = "order of classes" if preserve == "order" else "best class"
            assert f"{differing} tuples have another {what} than in" in release.certificate.warnings[0]
        else:
            assert f"no {rows} rows were found with Lambda" in error.why
            assert release.views.n_rows != rows
    assert refused


def test_too_few_rows():
    with pytest.raises(Infeasible, match=r"3 rows are too few: .* 2 classes need 4") as caught:
        safety_transform(SIX_ROWS, 4, rows=3)
    assert caught.value.best["release"].certificate.differing_tuples == 0
    with pytest.raises(Infeasible, match="too few"):
        safety_transform(SIX_ROWS, 4, rows=3, allow_differences=True)
    with pytest.raises(Infeasible, match=r"no 9 rows were found with Lambda up to 1\.01"):
        safety_transform(Viewset([7, 5], [[[7, 1], [0, 4]], [[3, 5], [4, 0]]]), "1.01", rows=9)


def test_larger_domains(monkeypatch):
    """The ways for domains that are not searched, on small ones."""
    rng = random.Random(61)
    for _ in range(12):
        views = drawn(rng, kind=rng.choice(["few", "more", "ties", "huge"]))
        with monkeypatch.context() as patch:
            patch.setattr(plan_module, "SEARCHED", 0)
            found = safety_transform(views, 4)
            assert verified(views, found.views, 4, "order")
            rows = found.views.n_rows
            release = safety_transform(views, 4, rows=rows, allow_differences=True)
            assert release.views.n_rows == rows
            patch.setattr(rows_module, "COMPARED", 0)
            assert safety_transform(views, 4).certificate.equivalence == "interval"


def test_to_rows():
    scaled = scale(fill_zeros(SEVEN_SIX), 4, k=2)
    for rows in ("smallest", "proven", 500):
        assert verified(SEVEN_SIX, to_rows(scaled, rows), 4, "order")
    assert to_rows(scaled, 500).n_rows == 500
    scaled = scale(fill_zeros(SEVEN_SIX), 4, k=1)
    for rows in ("proven", 10**9):
        with pytest.raises(Infeasible, match="Lambda"):
            to_rows(scaled, rows)


def test_progress_of_rounding_is_reported():
    views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])
    scaled = scale(fill_zeros(views), 4, k=2)
    calls = []
    assert to_rows(scaled, 200, progress=lambda *step: calls.append(step)) == to_rows(scaled, 200)
    assert calls
    assert all(done <= total for done, total in calls)
