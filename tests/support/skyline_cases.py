"""Releases that are hard for the skyline, and judges of what is said of them."""

from fractions import Fraction

import pytest

from nbcfast.groups import Groups
from nbcfast.reference import skyline as reference
from nbcfast.skyline import check


def hist(text):
    """A histogram: of "a20 b3", {"a": 20, "b": 3}."""
    return {part[0]: int(part[1:]) for part in text.split()}


def singles(n, letter="c"):
    return {f"{letter}{i}": 1 for i in range(n)}


def groups_of(release):
    values = reference.values_of(release)
    return Groups([[group.get(value, 0) for value in values] for group in release], values=values)


def only(release, l, k, m, confidence=1):
    (report,) = check(groups_of(release), [(l, k, m, confidence)], exact=True)
    return report


def attack_breach(release, attack):
    """What the attack that was described really gives."""
    filled = [place for place, group in enumerate(release) if any(group.values())]

    def place(key):
        return None if key is None else filled.index(key["group"])

    return reference.breach_of(
        reference.cleaned(release),
        place(attack.group),
        attack.value,
        attack.excluded,
        dict(attack.known),
        place(attack.known_group),
        attack.pieces[2],
        place(attack.implied_group),
    )


def assert_right(release, l, k, m, expected):
    """The breach, its float, its attack, and the verdicts at, just above and just below it."""
    report = only(release, l, k, m)
    assert report.exact == expected
    assert report.breach == pytest.approx(float(expected), rel=1e-12)
    assert (report.breach == 1) == (expected == 1)
    attack = report.attack
    assert attack_breach(release, attack) == expected
    assert all(used <= most for used, most in zip(attack.pieces, (l, k, m), strict=True))
    assert len(attack.excluded) == attack.pieces[0]
    assert sum(people for _, people in attack.known) == attack.pieces[1]
    assert attack.value not in (*attack.excluded, *(value for value, _ in attack.known))
    near = Fraction(1, 10**15)
    points = [(l, k, m, expected)] + [(l, k, m, c) for c in (expected - near, expected + near) if 0 < c <= 1]
    assert [report.safe for report in check(groups_of(release), points)] == [
        expected < point[3] for point in points
    ]


def random_release(rng, most_values=5, most_groups=4, most=6):
    values = "abcde"[: rng.randint(1, most_values)]
    while True:
        release = [
            {value: rng.choice([0, 0, 1, 1, 2, 3, rng.randint(1, most)]) for value in values}
            for _ in range(rng.randint(1, most_groups))
        ]
        if reference.cleaned(release):
            return release


def third_case(rng):
    """A large group where the value is one of few, and a small one of many values that each occur once."""
    a = rng.choice([7, 10, 20, 50])
    others = rng.randint(1, 3)
    large = {"s": a, **{f"x{i}": a for i in range(others)}, "w": rng.randint(a // 2, a)}
    small = {"s": rng.randint(1, 4), **singles(rng.randint(4, 10))}
    return [large, small], rng.randint(1, others), rng.randint(1, 4), rng.randint(1, 4)


def second_case(rng):
    a = rng.choice([7, 9, 12])
    large = {"s": a, "x": a, "w": rng.randint(1, 4)}
    small = {"s": rng.randint(2, 5), **singles(rng.randint(3, 8))}
    return [large, small], 1, rng.randint(0, 2), rng.randint(1, 4)


def same_value(rng):
    """Minima that belong to different values."""
    values = "abcdefgh"[: rng.randint(3, 8)]
    one = {value: rng.choice([1, 2, 3, 10, 20]) for value in values}
    two = {value: rng.choice([1, 3, 5, 10, 40]) for value in values}
    return [one, two], rng.randint(0, len(values) - 2), rng.randint(0, 3), rng.randint(1, 3)


def alike(rng):
    """Many groups and values with equal statistics: ties everywhere."""
    n, d = rng.randint(1, 3), rng.randint(2, 6)
    group = dict.fromkeys("abcdef"[:d], n)
    return (
        [dict(group) for _ in range(rng.randint(1, 4))],
        rng.randint(0, 2),
        rng.randint(0, 4),
        rng.randint(0, 4),
    )


GENERATORS = {"third case": third_case, "second case": second_case, "same value": same_value, "alike": alike}
POINTS = [(0, 0, 0, 0.9), (1, 2, 3, 0.95), (3, 0, 2, 0.8), (0, 4, 1, 1), (7, 1, 1, 0.5), (1, 1, 0, 0.99)]


def brief(reports):
    return [
        (report.safe, report.breach, report.exact, report.case, report.attack.value) for report in reports
    ]
