"""`Scheme` and `KaryScheme`: what is refused, what is hidden, and their files."""

import math
from fractions import Fraction
from itertools import product

import gmpy2
import pytest

import nbcfast
from nbcfast import response
from nbcfast.reference import response as reference
from nbcfast.response import KaryScheme, Scheme


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("1/2", [["a"]]), ValueError, r"theta must not be 1/2 .* there is no model"),
        ((Fraction(1, 2) + Fraction(1, 10**10), [["a"]]), ValueError, "theta must not be 1/2"),
        ((1.5, [["a"]]), ValueError, r"theta must be in \[0, 1\], got 1.5"),
        (("-0.1", [["a"]]), ValueError, r"theta must be in \[0, 1\], got -0.1"),
        ((True, [["a"]]), TypeError, "theta must be a number, got True"),
        ((Fraction(1, 2**63), [["a"]]), ValueError, r"theta must have a denominator below 2\^63"),
        (([0.8], [["a"], ["b"]]), ValueError, "theta: expected one for each of 2 groups, got 1"),
        ((0.8, [["a", "b"], ["b"]]), ValueError, "groups must not overlap, got 'b' twice"),
        ((0.8, [["a", "a"]]), ValueError, "groups must not overlap, got 'a' twice"),
        ((0.8, []), ValueError, "groups must be at least one, got none"),
        ((0.8, [[]]), ValueError, "groups must have at least one column each"),
        ((0.8, "ab"), TypeError, "groups: expected a sequence of names, got 'ab'"),
        ((0.8, ["ab"]), TypeError, "groups: expected a sequence of names, got 'ab'"),
        ((0.8, [[1]]), TypeError, "groups: expected names of columns, got 1"),
    ],
)
def test_what_schemes_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Scheme(*arguments)


def test_what_domains_and_kary_schemes_are_refused():
    with pytest.raises(ValueError, match="domains: expected columns of the groups, got 'b'"):
        Scheme(0.8, [["a"]], domains={"b": [0, 1]})
    with pytest.raises(ValueError, match="column 'a' must have two values"):
        Scheme(0.8, [["a"]], domains={"a": [0, 1, 2]})
    with pytest.raises(ValueError, match="column 'a' has missing answers"):
        Scheme(0.8, [["a"]], domains={"a": [0, None]})
    with pytest.raises(ValueError, match=r"theta must not be 1/3 .* about 'a' would tell nothing"):
        KaryScheme("1/3", {"a": [0, 1, 2]})
    assert KaryScheme("1/2", {"a": [0, 1, 2]}).theta == (Fraction(1, 2),)
    with pytest.raises(ValueError, match="lie must be 'each' or 'tuple', got 'all'"):
        KaryScheme("1/2", {"a": [0, 1, 2]}, lie="all")
    with pytest.raises(ValueError, match=r"domains\['a'\] must have at least 2 values, got 1"):
        KaryScheme("1/2", {"a": [0]})
    with pytest.raises(ValueError, match="expected the values of 'b', which is in a group"):
        KaryScheme("3/5", {"a": [0, 1]}, groups=[["a", "b"]])
    with pytest.raises(ValueError, match="epsilon must be above 0 and at most 25, got 0"):
        KaryScheme.with_epsilon(0, {"a": [0, 1]})
    with pytest.raises(TypeError, match="domains must be a mapping"):
        KaryScheme("1/2", ["a"])


@pytest.mark.parametrize(("theta", "columns"), [("1/3", 61), (Fraction(1, 2**63 - 1), 1)])
def test_the_largest_schemes_that_are_made_are_verified(theta, columns, tmp_path):
    domains = {f"a{number}": [0, 1] for number in range(columns)}
    scheme = KaryScheme(theta, domains, groups=[list(domains)], lie="tuple")
    response.disguise({name: [0, 1, 1] for name in domains}, scheme).save(tmp_path / "out")
    assert nbcfast.verify(tmp_path / "out").ok


def test_larger_schemes_are_not_made():
    domains = {f"a{number}": [0, 1] for number in range(62)}
    for lie in ("each", "tuple"):
        with pytest.raises(ValueError, match=r"a group must have fewer than 2\^62 tuples of values"):
            KaryScheme("1/3", domains, groups=[list(domains)], lie=lie)
    with pytest.raises(ValueError, match=r"theta must have a denominator below 2\^63"):
        KaryScheme(Fraction(1, 2**63), {"a": [0, 1, 2]})


def largest_ratio(chances):
    """The most that an answer can multiply the odds of two truths by; None without bound."""
    worst = Fraction(1)
    answers = {answer for spread in chances.values() for answer in spread}
    for answer in answers:
        seen = [spread.get(answer, Fraction(0)) for spread in chances.values()]
        if min(seen) == 0:
            return None
        worst = max(worst, max(seen) / min(seen))
    return worst


@pytest.mark.parametrize("theta", [Fraction(4, 5), Fraction(1, 4), Fraction(1), Fraction(0)])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_privacy_of_a_group_by_enumeration(theta, columns):
    names = ["a", "b", "d"][:columns]
    group = (theta, tuple(range(columns)))
    chances = {}
    for record in product((0, 1), repeat=columns):
        chances[record] = {answer: weight for weight, answer in reference.answers(record, [group])}
    found = Scheme(theta, [names]).privacy()
    assert found.odds == found.groups[0].odds == largest_ratio(chances)
    assert found.is_ldp is (columns == 1 and 0 < theta < 1)
    if found.is_ldp:
        assert found.epsilon == pytest.approx(abs(math.log(theta / (1 - theta))))
    else:
        assert math.isinf(found.epsilon)
    if columns > 1 and 0 < theta < 1:
        assert "not epsilon-LDP for any epsilon" in found.text
        assert f"all XORs, {columns - 1} of {columns} bits" in found.text


@pytest.mark.parametrize("lie", ["each", "tuple"])
@pytest.mark.parametrize("theta", [Fraction(1, 2), Fraction(1, 8), Fraction(0), Fraction(1)])
@pytest.mark.parametrize("columns", [1, 2])
def test_privacy_of_kary_groups_by_enumeration(theta, columns, lie):
    sizes, names = [3, 4][:columns], ["a", "b"][:columns]
    domains = {name: list(range(size)) for name, size in zip(names, sizes, strict=True)}
    scheme = KaryScheme(theta, domains, groups=[names], lie=lie)
    plain = [(theta, tuple(range(columns)))]
    chances = {
        record: {answer: weight for weight, answer in reference.kary_answers(record, plain, sizes, lie)}
        for record in product(*map(range, sizes))
    }
    assert scheme.privacy().odds == largest_ratio(chances)


def test_epsilons_of_groups_add_up():
    scheme = Scheme(["4/5", "1/3"], [["a"], ["b"]])
    assert scheme.privacy().odds == 8
    assert scheme.privacy().epsilon == pytest.approx(math.log(8))
    assert "all columns of the scheme together: epsilon = 2.07944" in repr(scheme.privacy())
    assert scheme.privacy().to_dict()["groups"][1]["odds"] == "2"
    for epsilon in ("0.1", 1, "2.5"):
        kary = KaryScheme.with_epsilon(epsilon, {"a": [0, 1, 2], "b": [0, 1]})
        for group in kary.privacy().groups:
            assert float(epsilon) - 1e-8 < group.epsilon <= float(epsilon)


def test_no_epsilon_is_above_the_one_asked_for():
    """Of those that end just below where theta has one bit more, too: floats above them are no excuse."""
    with gmpy2.context(precision=300):
        for lies in range(16, 400):
            theta = 1 - Fraction(lies, 2**40)
            bound = gmpy2.log(gmpy2.mpq(theta / (1 - theta)))
            epsilon = Fraction(int(gmpy2.floor(bound * 2**100)), 2**100)
            if epsilon <= 25:
                scheme = KaryScheme.with_epsilon(epsilon, {"a": [0, 1]})
                assert gmpy2.log(gmpy2.mpq(scheme.privacy().odds)) <= gmpy2.mpq(epsilon)
                assert scheme.theta[0] >= theta - Fraction(2, 2**40)


def test_posterior_odds():
    scheme = Scheme(["4/5", 1, 0], [["a", "b"], ["d"], ["c"]])
    assert scheme.posterior_odds("b") == 4
    assert scheme.posterior_odds("b", Fraction(1, 3)) == Fraction(4, 3)
    assert scheme.posterior_odds("d") is None
    assert scheme.posterior_odds("c") == 0
    with pytest.raises(ValueError, match="expected a column of 'a', 'b', 'd', 'c'; got 'x'"):
        scheme.posterior_odds("x")
    with pytest.raises(ValueError, match="prior_odds must be at least 0, got -1"):
        scheme.posterior_odds("a", -1)
    each = KaryScheme("3/5", {"a": [0, 1, 2], "b": [0, 1]}, groups=[["a", "b"]])
    assert each.posterior_odds("a") == 3
    together = KaryScheme("3/5", {"a": [0, 1, 2], "b": [0, 1]}, groups=[["a", "b"]], lie="tuple")
    assert together.posterior_odds("a") == Fraction(15, 2)


def test_schemes_travel_as_json(tmp_path):
    schemes = [
        Scheme(["4/5", "1/3"], [["a", "b"], ["c"]], domains={"a": ["no", "yes"], "c": [1, 0]}),
        KaryScheme("2/3", {"a": ["x", "y", None], "b": [0.5, 1.5]}, groups=[["a", "b"]], lie="tuple"),
    ]
    for scheme in schemes:
        scheme.save(tmp_path / "scheme.json", overwrite=True)
        found = response.load_scheme(tmp_path / "scheme.json")
        assert found == scheme
        assert repr(found) == repr(scheme)
        assert hash(found) == hash(scheme)
        assert [domain.values for domain in found.domains.values()] == [
            domain.values for domain in scheme.domains.values()
        ]
    assert schemes[0] != schemes[1]
    long = Scheme(Fraction(2**60 + 1, 2**62), [["a"]])
    assert long.to_dict()["groups"][0]["theta"] == "0x1000000000000001/0x4000000000000000"
    assert response.from_json(long.to_json()) == long
    good = schemes[0].to_dict()
    assert good["groups"][0]["theta"] == "4/5"
    for change, message in [
        ({"kind": "other"}, "expected an object with kind"),
        ({"more": 1}, "expected the fields domains, format, groups, kind"),
        ({"format": 2}, "and format 1"),
        ({"groups": [{"theta": "4/5"}]}, "not a scheme as it was written"),
        ({"groups": [{"theta": 0.8, "columns": ["a"]}]}, "expected thetas as texts"),
        ({"groups": [{"theta": "1/2", "columns": ["a", "c"]}]}, "theta must not be 1/2"),
        ({"domains": {"a": ["x"]}}, "expected a typed value"),
    ]:
        with pytest.raises(ValueError, match=message):
            response.from_dict({**good, **change})
    with pytest.raises(ValueError, match="scheme: not JSON"):
        response.from_json("{")
    (tmp_path / "bad.json").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"bad.json: not JSON"):
        response.load_scheme(tmp_path / "bad.json")
