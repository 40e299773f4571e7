"""What a ledger adds up over releases: noise, bits; and what may not stand beside each other."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from ledger_cases import random_rows, table_of, views_of

import nbcfast
from nbcfast.ledger import Ledger, LedgerPolicy, NoiseLine, ReleaseTerms, WindowLabels
from nbcfast.ledger.spent import spent

SIZES = (3, 2)


@dataclass(frozen=True)
class SomeNoise:
    """As whoever adds noise says it."""

    mechanism: str = "discrete laplace"
    epsilon: Fraction | None = Fraction(1, 3)
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    neighbours: str = "add-remove"
    rows_per_person: int = 1


LAPLACE = SomeNoise()
BY_RHO = SomeNoise("discrete gaussian", None, Fraction(0), Fraction(1, 8))
BY_DELTA = SomeNoise("discrete gaussian", Fraction(1, 2), Fraction(1, 10**6), Fraction(1, 100))


def views(n_rows=30, seed=0, sizes=SIZES):
    rows = random_rows(np.random.default_rng(seed), n_rows, sizes, 2)
    rows[:2, -1] = [0, 1]
    return views_of(rows, sizes, 2)


def test_sums_of_noise_are_exact_rationals(tmp_path):
    ledger = Ledger(tmp_path / "book")
    for n, noise in enumerate([LAPLACE, BY_DELTA]):
        ledger.append(views(), f"{n}" * 64, noise=noise)
    (total,) = ledger.check(views(), noise=LAPLACE).spent
    assert (total.releases, total.epsilon, total.delta) == (3, Fraction(7, 6), Fraction(1, 10**6))
    assert total.rho == 2 * Fraction(1, 18) + Fraction(1, 100)
    ledger.append(views(), "5" * 64, noise=BY_RHO)
    (total,) = ledger.check(views()).spent
    assert (total.epsilon, total.delta) == (None, None)
    assert total.rho == Fraction(1, 18) + Fraction(1, 100) + Fraction(1, 8)
    assert total.text == "3 releases with noise, for adding or removing a person with one row: rho 343/1800"
    assert [line.noise for line in ledger.lines] == [NoiseLine.of(one) for one in (LAPLACE, BY_DELTA, BY_RHO)]


def test_noisy_counts_bring_their_noise_and_are_not_kept(tmp_path):
    ledger = Ledger(tmp_path / "book")
    noisy = nbcfast.dp.counts(declared(), epsilon="1/2")
    line = ledger.append(noisy, "1" * 64)
    assert (line.views, line.rows, line.answers) == (None, None, None)
    assert line.noise == NoiseLine.of(noisy.noise)
    report = ledger.check(nbcfast.dp.counts(declared(), epsilon="1/3"))
    assert (report.rows, report.same_as, report.spent[0].epsilon) == (None, None, Fraction(5, 6))
    # Private counts of a release with noise are kept, for whoever asks how many rows came.
    ledger.append(declared(), "2" * 64, noise=noisy.noise)
    assert ledger.check(declared()).rows.came == 0
    with pytest.raises(ValueError, match="noise must be that of the views"):
        ledger.check(noisy, noise=LAPLACE)


def declared():
    rows = random_rows(np.random.default_rng(1), 40, SIZES, 2)
    return nbcfast.count(table_of(rows, SIZES, 2), "class")


VOTED = nbcfast.published.Advised(
    menu="cd" * 32, options=9, chosen=[3, 1], by="votes", epsilon="1/4", blocks=10
)


def voted_release(views=None, advice=VOTED, **asked):
    """A noisy release over a domain that its rows have voted for, and how a ledger says it is made."""
    noisy = nbcfast.dp.counts(declared() if views is None else views, **asked)
    release = nbcfast.canonical.release(noisy, 4, advice=advice)
    return noisy, ReleaseTerms.of(release.certificate)


def test_what_votes_for_the_domain_cost_is_in_the_sums_once_for_each_choice(tmp_path):
    ledger = Ledger(tmp_path / "book")
    for n, advice in enumerate([VOTED, VOTED, replace(VOTED, blocks=11), replace(VOTED, rows="other"), None]):
        noisy, terms = voted_release(advice=advice, epsilon="1/2")
        ledger.append(noisy, f"{n}" * 64, terms=terms)
    (total,) = ledger.check(declared()).spent
    assert (total.releases, total.choices) == (5, 2)
    assert total.epsilon == 5 * Fraction(1, 2) + 2 * Fraction(1, 4)
    assert total.rho == 5 * Fraction(1, 8) + 2 * Fraction(1, 32)
    assert total.text.startswith("5 releases with noise and 2 choices of the domain by votes, for adding")
    assert total.to_dict()["choices"] == 2


def test_a_person_of_several_rows_moves_votes_as_often(tmp_path):
    ledger = Ledger(tmp_path / "book")
    noisy, terms = voted_release(rho="1/2", neighbours="replace", rows_per_person=3)
    ledger.append(noisy, "0" * 64, terms=terms)
    (total,) = ledger.check(declared()).spent
    assert (total.epsilon, total.rho) == (None, Fraction(1, 2) + (6 * Fraction(1, 4)) ** 2 / 2)


def test_a_choice_that_is_none_is_refused():
    for wrong in ({"choice": "ab" * 32}, {"choice": "x", "choice_epsilon": "1/2"}, {"choice_epsilon": "1/2"}):
        with pytest.raises(ValueError, match="choice"):
            ReleaseTerms(others=wrong)
    with pytest.raises(ValueError, match="choice_epsilon above 0"):
        ReleaseTerms(others={"choice": "ab" * 32, "choice_epsilon": "0/1"})


def test_other_neighbours_are_not_added():
    noises = [LAPLACE, replace(LAPLACE, neighbours="replace"), replace(LAPLACE, rows_per_person=2), LAPLACE]
    totals = spent((NoiseLine.of(noise), None) for noise in noises)
    assert [(one.neighbours, one.rows_per_person, one.releases) for one in totals] == [
        ("add-remove", 1, 2),
        ("add-remove", 2, 1),
        ("replace", 1, 1),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": None},
        {"epsilon": Fraction(0)},
        {"epsilon": 0.5},
        {"delta": Fraction(-1)},
        {"neighbours": "none"},
        {"rows_per_person": 0},
        {"mechanism": ""},
        {"epsilon": True},
    ],
)
def test_noise_that_is_none_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="noise"):
        NoiseLine.of(replace(LAPLACE, **wrong))
    with pytest.raises(TypeError, match="noise must have"):
        NoiseLine.of(object())


def test_with_noise_there_is_always_something_to_publish_and_any_domain(tmp_path):
    ledger = Ledger(tmp_path / "book")
    ledger.append(views(), "1" * 64)
    assert ledger.check(views()).same_as == 1
    report = ledger.check(views(), noise=LAPLACE)
    assert (report.same_as, report.joint, report.why_not) == (None, None, None)
    ledger.append(views(40, 3, (2, 2)), "2" * 64, noise=LAPLACE)  # another domain
    report = ledger.check(views(40, 3, (2, 2)), noise=BY_RHO)
    assert (report.releases, report.last, report.rows.came) == (2, 3, 0)
    assert ledger.check(views()).rows is None  # of the last release other counts are known
    with pytest.raises(nbcfast.Infeasible, match="other values of attribute 'a'"):
        ledger.check(views(40, 3, (2, 2)))


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (ReleaseTerms(preserve="order"), "preserve label, and not order"),
        (ReleaseTerms(smoothing=Fraction(1, 2)), "smoothing none, and not 1/2"),
        (ReleaseTerms("safetytransform"), "method canonical, and not safetytransform"),
        (ReleaseTerms(others={"tuples": "x"}), "tuples none, and not x"),
    ],
)
def test_another_way_is_refused(tmp_path, terms, said):
    ledger = Ledger(tmp_path / "book")
    ledger.append(views(), "1" * 64)
    with pytest.raises(nbcfast.Infeasible, match=said):
        ledger.check(views(), terms=terms)
    with pytest.raises(nbcfast.Infeasible, match=said):
        ledger.append(views(), "2" * 64, terms=terms)
    assert len(ledger.lines) == 1


def test_other_classes_and_attributes_are_refused(tmp_path):
    ledger = Ledger(tmp_path / "book")
    one = nbcfast.Viewset([2, 2], {"a": [[1, 1], [1, 1]], "b": [[2, 2]]}, classes=["x", "y"])
    ledger.append(one, "1" * 64)
    for other, said in (
        (
            nbcfast.Viewset([2, 2], {"a": [[1, 1], [1, 1]], "b": [[2, 2]]}, classes=["y", "x"]),
            "other classes",
        ),
        (nbcfast.Viewset([2, 2], {"a": [[1, 1], [1, 1]]}, classes=["x", "y"]), "also attribute 'b'"),
        (
            nbcfast.Viewset([2, 2], {"b": [[2, 2]], "a": [[1, 1], [1, 1]]}, classes=["x", "y"]),
            "another order",
        ),
    ):
        with pytest.raises(nbcfast.Infeasible, match=said):
            ledger.check(other)


def test_by_powers_of_the_counts_everybody_shows_and_no_bits_bound(tmp_path):
    rows = random_rows(np.random.default_rng(4), 50, SIZES, 2)
    terms = ReleaseTerms("safetytransform")
    report = Ledger(tmp_path / "book").check(
        views_of(rows, SIZES, 2), table=table_of(rows, SIZES, 2), class_name="class", terms=terms
    )
    assert (report.joint.traceless, report.joint.flipped, report.total_bits) == (0, 0, None)
    assert any("changes with every row" in text for text in report.findings)
    assert any("No number bounds the bits" in text for text in report.findings)


def test_bits_add_up_once_for_each_release(tmp_path):
    ledger, one = Ledger(tmp_path / "book"), nbcfast.canonical.leak(views()).total_bits
    assert ledger.check(views()).total_bits == one
    ledger.append(views(), "1" * 64)
    assert ledger.check(views()).total_bits == one  # nothing more is published
    other = views(200, 3)
    assert ledger.check(other).same_as is None
    assert ledger.check(other).total_bits == 2 * one


def test_policies(tmp_path):
    ledger = Ledger(tmp_path / "book")
    ledger.append(views(), "1" * 64, window=(1, 3))
    calendar, disjoint = LedgerPolicy(calendar=True), LedgerPolicy(disjoint=True)
    assert ledger.check(views(), window=(2, 4), policy=calendar).releases == 1
    assert ledger.check(views(), window=4, policy=disjoint).releases == 1
    for window, policy in (((2, 3), calendar), (3, calendar), ((3, 9), disjoint), ((0, 1), disjoint)):
        with pytest.raises(nbcfast.Infeasible, match="policy"):
            ledger.check(views(), window=window, policy=policy)
    with pytest.raises(nbcfast.Infeasible, match="0 are known to have come"):
        ledger.check(views(), policy=LedgerPolicy(new_rows=1))
    with pytest.raises(ValueError, match="needs a window"):
        ledger.check(views(), policy=calendar)
    with pytest.raises(ValueError, match="labels of one kind"):
        ledger.check(views(), window="4", policy=calendar)
    ledger.append(views(), "2" * 64)
    with pytest.raises(nbcfast.Infeasible, match="line 3 has no window"):
        ledger.check(views(), window=5, policy=calendar)
    for wrong in ({"new_rows": 0}, {"new_rows": 1.5}, {"calendar": 1}):
        with pytest.raises((TypeError, ValueError)):
            LedgerPolicy(**wrong)


@pytest.mark.parametrize(
    "wrong", [1.5, True, (1, "a"), (2, 1), {"first": 1}, "", "a\n", "x" * 201, (1, 2, 3), 2**60, "\ud800"]
)
def test_windows_that_are_none_are_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="window"):
        WindowLabels.of(wrong)


def test_labels_of_another_kind_are_not_entered(tmp_path):
    """2026 is a number, and 2026-03 a text: one beside the other would stop every later release."""
    ledger = Ledger(tmp_path / "book")
    ledger.append(views(), "1" * 64, window="2026-03")
    for noise in (None, LAPLACE):
        with pytest.raises(ValueError, match="labels of one kind in all lines, got 2026 and '2026-03'"):
            ledger.append(views(), "2" * 64, window=WindowLabels.parsed("2026"), noise=noise)
        with pytest.raises(ValueError, match="labels of one kind in all lines"):
            ledger.check(views(), window=2026, noise=noise)
    ledger.append(views(), "2" * 64)
    assert len(ledger.lines) == 2


def test_fewer_than_twenty_rows_are_a_warning(tmp_path):
    ledger = Ledger(tmp_path / "book")
    rows = random_rows(np.random.default_rng(4), 60, SIZES, 2)
    ledger.append(views_of(rows[:41], SIZES, 2), "1" * 64)
    for end, few in ((60, True), (41, False)):
        report = ledger.check(
            views_of(rows[:end], SIZES, 2), table=table_of(rows[:end], SIZES, 2), class_name="class"
        )
        assert report.few == few
        assert report.rows.exact
        assert ("fewer than 20" in report.moved_text) == few
    assert not ledger.check(views_of(np.repeat(rows, 3, axis=0), SIZES, 2)).few


def test_arguments_are_checked(tmp_path):
    ledger = Ledger(tmp_path / "book")
    with pytest.raises(TypeError, match="views must be a Viewset"):
        ledger.check([[1]])
    with pytest.raises(TypeError, match="terms must be a ReleaseTerms"):
        ledger.check(views(), terms="canonical")
    for release in ("x", "A" * 64, 7):
        with pytest.raises(ValueError, match="release must be a sha256"):
            ledger.append(views(), release)
    with pytest.raises(ValueError, match="preserve must be one of"):
        ReleaseTerms(preserve="none")
    assert not ledger.lines


def test_sums_say_which_releases_they_are_not_over(tmp_path):
    """A release of exact counts has no epsilon: a sum that passes over it in silence would calm wrongly."""
    ledger = Ledger(tmp_path / "book")
    ledger.append(views(), "1" * 64, noise=replace(LAPLACE, epsilon=Fraction(1, 2)))
    assert ledger.check(views(), noise=LAPLACE).totals == (
        "Together: 2 releases with noise, for adding or removing a person with one row: epsilon 5/6, delta "
        "0, rho 13/72.",
    )
    assert ledger.check(views()).totals[1:] == (
        "Together: 1 release with noise, for adding or removing a person with one row: epsilon 0.5, delta "
        "0, rho 0.125.",
        "1 release has no noise, and no part in these sums: no epsilon bounds what all releases together "
        "tell of anybody.",
    )
    other = replace(LAPLACE, neighbours="replace")
    different = "These sums are for different changes of a table: none of them bounds all releases."
    assert ledger.check(views(), noise=other).totals[-1] == different


def test_another_draw_costs_as_much_though_its_release_is_the_same(tmp_path):
    """Killed before it was written, and made again of new coins that leave the same bytes: both count."""
    ledger = Ledger(tmp_path / "book")
    folder = tmp_path / "out"
    ledger.append(views(), "1" * 64, noise=LAPLACE, folder=folder)
    lines = (tmp_path / "book").read_bytes().splitlines(keepends=True)
    (tmp_path / "book").write_bytes(lines[0])
    report = ledger.check(views(), noise=LAPLACE, release="1" * 64)
    assert (report.resumes, report.pending, report.spent[0].epsilon) == (None, (1,), Fraction(2, 3))
    ledger.append(views(), "1" * 64, noise=LAPLACE, folder=folder, after=report)
    (total,) = ledger.check(views()).spent
    assert (total.releases, total.epsilon) == (2, Fraction(2, 3))
