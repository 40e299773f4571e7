"""How `verify_release` decides points of the skyline: exactly, and in bounded work."""

import hashlib
import json
import math
import re
from fractions import Fraction

import gmpy2
import pytest
from both_verifiers import in_both
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import verify_release
from nbcfast.mondrian import anonymize


def multiplied(above, below, m):
    """The product of (above - i) / (below - i), factor by factor."""
    found = Fraction(1)
    for i in range(m):
        found *= Fraction(above - i, below - i)
    return found


def least_odds(groups, l, k, m):
    """The odds that the docstring of `_Statistics` has, over all values and groups; None where one is 0."""
    found = []
    for place in {place for group in groups for place in group}:
        own = []
        for group in groups:
            if place in group:
                c, n = group[place], sum(group.values())
                others = sorted((count for value, count in group.items() if value != place), reverse=True)
                own.append((c, n, n - c - sum(others[:l])))
        if any(k >= w or (m and k + m >= n - c) for c, n, w in own):
            return None
        found += [Fraction(w - k, c) * multiplied(n - c - 1 - k, n - 1 - k, m) for c, n, w in own]
        if m:
            two, four = (min(Fraction(w - less, c) for c, _, w in own) for less in (k, 0))
            found.append(two * min(multiplied(n - c, n, m) for c, n, _ in own))
            found.append(four * min(multiplied(n - c - k, n - k, m) for c, n, _ in own))
    return min(found)


@given(st.integers(0, 300), st.integers(1, 300), st.data())
def test_both_forms_of_the_product_are_the_product(above, c, data):
    m = data.draw(st.integers(0, above))
    assert Fraction(*verify_release.falling(above, above + c, m)) == multiplied(above, above + c, m)


def test_the_constant_is_the_logarithm_of_e():
    with gmpy2.context(gmpy2.get_context(), precision=400):
        truth = gmpy2.log2(gmpy2.exp(gmpy2.mpfr(1))) * 2**verify_release.PLACES
        assert int(gmpy2.floor(truth)) == verify_release.LOG2_E


@given(st.one_of(st.integers(0, 20_000), st.integers(1000, 1100)))
def test_bounds_of_factorials_hold(z):
    with gmpy2.context(gmpy2.get_context(), precision=500):
        truth = gmpy2.log2(gmpy2.mpz(math.factorial(z))) - gmpy2.log2(2 * gmpy2.const_pi()) / 2
        found, room = verify_release._log2_factorial(z)
        assert abs(truth * 2**verify_release.PLACES - found) < room
    assert room < 2**22


@pytest.mark.parametrize("z", [10**9, 10**12 + 7, 2**61])
def test_bounds_of_huge_factorials_hold(z):
    with gmpy2.context(gmpy2.get_context(), precision=500):
        truth = gmpy2.lngamma(gmpy2.mpfr(z + 1)) / gmpy2.log(gmpy2.mpfr(2))
        truth -= gmpy2.log2(2 * gmpy2.const_pi()) / 2
        found, room = verify_release._log2_factorial(z)
        assert abs(truth * 2**verify_release.PLACES - found) < room


CLOSE = Fraction(1, 2**190)  # too close for the bounds


@given(
    st.fractions(Fraction(1, 1000), 1000, max_denominator=1000),
    st.integers(1, 400),
    st.integers(1, 400),
    st.integers(0, 400),
    st.sampled_from([-CLOSE, 0, CLOSE, Fraction(-1, 100), Fraction(1, 100)]),
)
def test_odds_are_compared_exactly(number, c, m, more, gap):
    n = m + more
    truth = number * multiplied(n, n + c, m)
    odds = verify_release.Least(truth * (1 + gap), m)
    odds.take(number, n, c)
    assert (odds.above, odds.close) == (gap < 0, False)
    if min(c, m) <= verify_release.FEW:
        assert odds.exact == truth
    breach = 1 / (1 + truth)
    confidence = (1 / (1 + truth * (1 + gap))).limit_denominator(10**38 - 1)  # as certificates have them
    odds = verify_release.Least(1 / confidence - 1, m)
    odds.take(number, n, c)
    assert (odds.above, odds.close) == (breach < confidence, False)
    text = odds.breach(confidence)
    hair = re.fullmatch(r"\(less than 10\^-([0-9]+) (below|above) ([0-9]+(/[0-9]+)?)\)", text)
    if hair:
        assert abs(breach - confidence) < Fraction(1, 10 ** int(hair[1]))
        assert (hair[2] == "below", Fraction(hair[3])) == (odds.above, confidence)
    else:
        assert (Fraction(text) < confidence) == odds.above
        assert abs(Fraction(text) - breach) < Fraction(1, 10**11)


@pytest.mark.parametrize(
    ("up", "sign", "side"),
    [
        (31415926535897932384626433832795028844, 1, "below"),
        (12345678901234567890123456789012345679, -1, "above"),
    ],
)
def test_a_confidence_a_hair_from_the_breach_is_shown_in_full(up, sign, side):
    confidence = Fraction(up, 10**38 - 1)
    limit = 1 / confidence - 1
    odds = verify_release.Least(limit, 0)
    odds.take(limit * (1 + Fraction(sign, 10**60)), 5, 5)
    assert odds.breach(confidence) == f"(less than 10^-40 {side} {up}/{10**38 - 1})"


def test_bounds_alone_decide_what_is_not_very_close(monkeypatch):
    number, n, c, m = Fraction(7, 3), 10_000, 500, 300
    truth = number * multiplied(n, n + c, m)
    in_both(monkeypatch, "falling", None)
    for gap in (Fraction(1, 2**100), -Fraction(1, 2**100)):
        odds = verify_release.Least(truth * (1 + gap), m)
        odds.take(number, n, c)
        assert odds.above == (gap < 0)


GROUPS = st.lists(
    st.dictionaries(st.integers(0, 4), st.integers(1, 150), min_size=2, max_size=5), min_size=1, max_size=4
)


@given(GROUPS, st.integers(0, 2), st.integers(0, 3), st.integers(0, 150))
def test_points_are_judged_as_by_the_formulas(groups, l, k, m):
    truth = least_odds(groups, l, k, m)
    statistics = verify_release.GroupExtremes(groups, l)
    if truth is None:
        assert statistics.judge(k, m, Fraction(1)) == (False, "unsafe: somebody's value is certain")
        return
    breach = 1 / (1 + truth)
    for confidence, safe in ((breach, False), (breach * (1 - CLOSE), False), (breach + CLOSE, breach < 1)):
        if confidence <= 1:
            assert statistics.judge(k, m, confidence)[0] is safe


def test_equal_odds_of_too_many_factors_are_not_decided(monkeypatch):
    groups = [dict.fromkeys(range(30), 100)]
    point = 1, 2, 100
    breach = 1 / (1 + least_odds(groups, *point))
    statistics = verify_release.GroupExtremes(groups, point[0])
    safe, text = statistics.judge(*point[1:], breach)
    assert (safe, text[:15]) == (False, "unsafe: breach ")
    assert statistics.judge(*point[1:], breach + CLOSE)[0] is True
    in_both(monkeypatch, "FACTORS", 99)
    for confidence in (breach, breach + CLOSE):
        safe, text = statistics.judge(*point[1:], confidence)
        assert (safe, text[:12]) == (False, "not decided:")
    assert statistics.judge(*point[1:], breach + Fraction(1, 2**60))[0] is True


@pytest.fixture
def factors(monkeypatch):
    """How many factors each product has that is taken."""
    counted, product = [], verify_release.product_of

    def counting(numbers):
        counted.append(len(numbers))
        return product(numbers)

    in_both(monkeypatch, "product_of", counting)
    return counted


def test_the_product_that_is_still_taken_is_short(factors):
    count = verify_release.FACTORS
    verify_release.falling(2**60, 2**60 + count, 2**40)
    assert max(factors[0], factors[-1]) == count + 1


def heavy(folder, n_values, count, points):
    """A partition of one group in which so many have each value, with these points, which need not hold."""
    values = [f"v{i:03d}" for i in range(n_values)]
    made = anonymize({"a": [1] * n_values, "ill": values}, ["a"], "ill", [(0, 0, 0, 1)])
    made.save(folder, weights="n")
    lines = (folder / "table.csv").read_text().splitlines()
    data = "".join([lines[0] + "\n", *(f"{line.rsplit(',', 1)[0]},{count}\n" for line in lines[1:])]).encode()
    (folder / "table.csv").write_bytes(data)
    fields = json.loads((folder / "certificate.json").read_text())
    fields["points"] = points
    fields["rows"] = n_values * count
    fields["table_sha256"] = hashlib.sha256(data).hexdigest()
    fields["sha256"] = verify_release.digest(fields)
    (folder / "certificate.json").write_text(verify_release.canonical_json(fields) + "\n")


def test_huge_weights_and_much_knowledge_end(tmp_path, factors):
    points = [
        [0, 0, 10**9, "999/1000"],
        [0, 0, 10**9 + 1, "1/1"],
        [1, 2, 10**12, "999/1000"],
        [1, 2, 2 * 10**12 - 3, "999/1000"],
        [0, 0, 2 * 10**12, "1/1"],
    ]
    heavy(tmp_path, 3, 10**12, points)
    found = nbcfast.verify(tmp_path)
    assert sum(factors) <= 4 * verify_release.FACTORS
    said = [(check.passed, check.text) for check in found.checks if check.name.startswith("(")]
    certain = (False, "unsafe: somebody's value is certain")
    assert said == [
        (False, "unsafe: breach 1 >= 999/1000"),
        (True, "safe: breach (less than 10^-12 below 1) < 1"),
        (False, "unsafe: breach 1 >= 999/1000"),
        (False, "unsafe: breach 1 >= 999/1000"),
        certain,
    ]


@pytest.mark.parametrize("m", [70, 150])
def test_huge_weights_are_judged_as_the_product_is(tmp_path, m):
    count, n_values = 10**12, 200
    odds = least_odds([dict.fromkeys(range(n_values), count)], 1, 2, m)
    breach = float(1 / (1 + odds))
    above, below = (Fraction(round(breach * 10**12) + step, 10**12) for step in (2, -2))
    said = []
    for f in (above, below):
        heavy(tmp_path / str(len(said)), n_values, count, [[1, 2, m, f"{f.numerator}/{f.denominator}"]])
        checks = nbcfast.verify(tmp_path / str(len(said))).checks
        said += [check for check in checks if check.name == f"(1, 2, {m})"]
    assert [check.passed for check in said] == [True, False]
    assert float(said[0].text.split()[2]) == pytest.approx(breach, rel=1e-11)


@pytest.mark.parametrize("data", [b"PAR1\x00\x01", b"a,b\n1,2\n", b"\xff\xfe"])
def test_what_is_no_certificate_is_told_so(tmp_path, capsys, data):
    path = tmp_path / "x.parquet"
    path.write_bytes(data)
    for door in (nbcfast.verify, nbcfast.load):
        with pytest.raises(FileNotFoundError, match=r"there is no certificate\.json beside it"):
            door(path)
    assert verify_release.main([str(path)]) == 2
    assert "no certificate, and there is no certificate.json beside it" in capsys.readouterr().err
    (tmp_path / "certificate.json").write_text("{}\n")
    with pytest.raises(FileNotFoundError, match=r"give its folder, for the certificate\.json in it"):
        nbcfast.verify(path)
