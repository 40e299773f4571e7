"""What a certificate says of the choice of its domain, against what its own points and numbers show."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

import nbcfast
from nbcfast import Table, canonical
from nbcfast._wire.advice_checks import other_than_said
from nbcfast._wire.json_entries import canonical_json, digest
from nbcfast._wire.kinds import parse_any
from nbcfast.canonical import Limits, box, release, release_by, solve
from nbcfast.published import Advised, ChoiceLimits
from nbcfast.published.document import text_of
from nbcfast.views import Viewset

FINE = Viewset(
    [500, 500],
    {
        "age": [[200, 20], [150, 80], [100, 150], [50, 250]],
        "job": [[180, 40], [160, 90], [90, 170], [70, 200]],
        "sex": [[300, 220], [200, 280]],
    },
    classes=["no", "yes"],
    domains={"age": [1, 2, 3, 4], "job": list("abcd"), "sex": ["f", "m"]},
)
MANY = Viewset(
    [400, 600, 300],
    {
        "job": [[190, 100, 80], [110, 350, 70], [100, 150, 150]],
        "x": [[220, 200, 90], [80, 300, 110], [100, 100, 100]],
    },
    classes=["a", "b", "c"],
    domains={"job": [1, 2, 3], "x": ["p", "q", "r"]},
)


def advised(max_bits, **changes):
    fields = {"options": 24, "chosen": (1, 0, 2), "by": "correct", "limits": ChoiceLimits(max_bits=max_bits)}
    return Advised(menu="ab" * 32, **{**fields, **changes})


@pytest.fixture
def both(tmp_path, script):
    """What the script and the library say of the advice of what is saved: pairs of verdict and sentence."""

    def verdicts(made, change=None):
        folder = tmp_path / "out"
        made.save(folder, overwrite=True)
        path = folder / "certificate.json"
        if change is not None:
            fields = json.loads(path.read_text())
            change(fields["advice"])
            fields["sha256"] = digest(fields)
            path.write_text(canonical_json(fields) + "\n")
        _, lines = script(folder)
        said = {"yes": True, "NO": False, "?": None}
        words = [line.split(maxsplit=2) for line in lines]
        of_script = [(said[head[0]], head[2]) for head in words if head[1:2] in (["advice"], ["file"])]
        found = nbcfast.verify(folder)
        of_library = [(one.passed, one.text) for one in found.checks if one.name in ("advice", "file")]
        return of_script[-1], of_library[-1], [text for text in found.claims if "was chosen" in text]

    return verdicts


BITS = float(solve(box(FINE)).log2_range)


def test_bits_a_weight_are_worked_out_from_the_answers(both):
    assert 2.5 < BITS < 8
    for limit in (8, BITS):
        script, library, claims = both(release(FINE, 4, advice=advised(limit)))
        assert script == (None, "bits a weight are not worked out here: nbcfast verify does that")
        assert library[0] is True
        assert library[1].startswith(f"the answers take {BITS:.1f} bits a weight, and ")
        assert claims[0].endswith("among all choices of the menu.")  # the limit is no claim any more


def test_more_bits_than_the_domain_was_chosen_with_are_refused(both):
    script, library, _ = both(release(FINE, 4, advice=advised(BITS - 0.01)))
    assert script[0] is None  # levels alone do not tell
    assert library[0] is False
    assert f"the answers take {BITS:.4f} bits a weight" in library[1]
    assert "that the domain was chosen with" in library[1]


def test_so_many_levels_prove_to_the_script_that_there_are_more(both):
    made = release(FINE, 4, advice=advised(2))
    steps = sum(len(set(rows)) - 1 for rows in made.certificate.canonical.points)
    assert steps > 4
    script, library, _ = both(made)
    text = (
        f"weights that give these answers have {steps} steps or more, which is above the limit of 2 bits a "
        "weight"
    )
    assert script == library == (False, text)


@pytest.mark.parametrize(
    "made",
    [
        lambda: release(FINE, 4, advice=advised(1, rows="other")),
        lambda: release(FINE, 4, advice=advised(None)),
        lambda: release(FINE, 4, advice=advised(1), tuples={"age": [1], "job": ["a"], "sex": ["m"]}),
        lambda: release(FINE, 4, bits=1, advice=advised(1)),
        lambda: nbcfast.safety_transform(FINE, 4),
    ],
)
def test_limits_that_are_not_said_of_these_answers_are_no_check(made, both):
    made = made()
    if made.certificate.method != "canonical":
        made = replace(made, certificate=replace(made.certificate, advice=advised(1)))
    assert (
        made.certificate.canonical is None
        or made.certificate.canonical.bits is None
        or not made.certificate.equal
    )
    script, library, _ = both(made)
    assert script[1].startswith("complete")
    assert library[1].startswith("complete")


def test_who_accepted_the_answers_says_nothing_of_limits(both):
    made = release(FINE, 4, advice=advised(1))
    made = replace(made, certificate=made.certificate.accepting(True))
    assert both(made)[0][1].startswith("complete")


def test_smoothed_answers_and_those_of_many_classes_and_points_of_few_bits(both):
    smoothed = float(solve(box(FINE.smoothed(3))).log2_range)
    assert both(release(FINE, 4, alpha=3, advice=advised(smoothed)))[1][0] is True
    assert both(release(FINE, 4, alpha=3, advice=advised(smoothed - 0.01)))[1][0] is False
    bits = float(solve(box(MANY)).log2_range)
    for preserve in ("label", "order"):
        for limit, holds in ((bits, True), (bits - 0.01, False)):
            made = release(MANY, 4, preserve=preserve, advice=advised(limit))
            script, library, _ = both(made)
            assert (script[0], library[0]) == (None, holds)
    made = release(FINE, 4, bits=40, advice=advised(BITS))
    assert made.certificate.equal
    assert both(made)[1][0] is True


def test_the_bits_of_strata_are_those_of_each(both):
    rows = {"job": [], "age": [], "sex": [], "ill": []}
    for sex, shift in (("f", 1), ("m", 3)):
        for job in range(3):
            for age in range(4):
                for ill, times in (("no", 9 - job - age + shift), ("yes", 1 + 2 * job + age)):
                    for name, value in zip(rows, (job, age, sex, ill), strict=True):
                        rows[name] += [value] * times
    domains = {"job": [0, 1, 2], "age": [0, 1, 2, 3], "ill": ["no", "yes"], "sex": ["f", "m"]}
    made = release_by(Table(rows, domains=domains), "ill", "sex", 4)
    each = [float(solve(box(one.views)).log2_range) for one in made.strata.values()]  # of the same answers
    assert max(each) > 1
    for limit, holds in ((max(each), True), (max(each) - 0.01, False)):
        strata = {
            value: replace(one, certificate=replace(one.certificate, advice=advised(limit)))
            for value, one in made.strata.items()
        }
        assert both(replace(made, strata=strata))[1][0] is holds


def test_what_is_advised_within_limits_keeps_them(both, tmp_path):
    """Whatever `advise` finds is not refused, and with other rows it is where more bits show."""
    rows = {"job": [], "age": [], "ill": []}
    for job in "xyz":
        for age in range(1, 5):
            for ill, times in (("no", 12 - age - ord(job) % 3), ("yes", 2 * age + ord(job) % 3)):
                for name, value in zip(rows, (job, age, ill), strict=True):
                    rows[name] += [value] * times
    table = Table(rows, domains={"ill": ["no", "yes"]})
    menu = {
        "job": [["x", "y", "z"], {"groups": {"xy": ["x", "y"], "z": ["z"]}}, {"out": True}],
        "age": [[1, 2, 3, 4], {"edges": [None, 3, None]}, {"out": True}],
    }
    none = {"max_found": None, "min_flip": None, "max_one_class": None}
    for max_bits in (0.5, 1.5, 2, 8):
        for folds in (5, 0):
            found = canonical.advise(table, "ill", menu, max_bits=max_bits, folds=folds, **none)
            limits = Limits(max_bits=max_bits, **none)
            made = nbcfast.publish(table, "ill", 4, domains=found.document, limits=limits)
            script, library, _ = both(made.release)
            assert script[0] is None, (max_bits, script)
            assert library[0] is True, (max_bits, library)
    # Newer rows, of which more shows than the domain was chosen with: not written, unless that is accepted.
    newer = {"domain": found.document["domain"], "advice": {**found.document["advice"]}}
    newer["advice"]["limits"] = {**newer["advice"]["limits"], "max_bits": "1/10"}
    made = nbcfast.publish(table, "ill", 4, domains=newer, limits=limits)
    with pytest.raises(nbcfast.Infeasible, match=r"0\.1 are the limit"):
        made.save(tmp_path / "newer")
    assert not (tmp_path / "newer").exists()
    made = nbcfast.publish(table, "ill", 4, domains=newer, limits=limits, accept_answers=True)
    assert both(made.release)[1][1].startswith("complete")


@pytest.mark.parametrize(
    ("options", "chosen", "holds"),
    [
        (24, (1, 0, 2), True),
        (24, (1, 2, 3), True),
        (25, (1, 0, 2), True),
        (23, (0, 0, 22), True),
        (23, (1, 0, 2), False),
        (24, (4, 3), True),
        (28, (4, 4), False),
        (25, (1, 1, 1), False),
        (30, (1, 2, 4), True),
        (31 * 29, (29, 1), True),
        (31 * 29, (27, 31), False),
        (1 << 20, (1,) * 20, True),
        ((1 << 20) + 7, (1, 1), True),
    ],
)
def test_choices_are_a_product_of_options_beyond_those_that_were_chosen(options, chosen, holds, both):
    if options == (1 << 20) + 7:  # a prime, beyond what is taken apart
        assert all(options % number for number in range(2, 1030))
    advice = advised(None, options=options, chosen=chosen)
    views = FINE
    if len(chosen) < 3:
        views = Viewset([5, 5], {"job": [[2, 3], [3, 2]]}, domains={"job": ["a", "b"]}, classes=["n", "y"])
    made = release(views, 4, advice=advice)
    script, library, _ = both(made)
    if holds:
        assert script[1].startswith("complete")
        assert library[1].startswith("complete")
    else:
        text = (
            f"no numbers of options for {len(chosen):,} columns, with those that were chosen, give {options} "
            "choices"
        )
        assert script == library == (False, text)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"min_flip": "3/2"}, "field 'advice', min_flip: expected a share up to 1, got"),
        ({"min_trace": "1000001/1000000"}, "field 'advice', min_trace: expected a share up to 1"),
    ],
)
def test_no_share_is_above_one(change, text, both):
    script, library, _ = both(
        release(FINE, 4, advice=advised(8)), lambda entry: entry["limits"].update(change)
    )
    assert script[0] is library[0] is False
    assert text in script[1]
    assert text in library[1]


@pytest.mark.parametrize(
    ("strata", "by_column", "text"),
    [
        (["ill"], None, 'expected strata of neither the class nor an attribute, got "ill"'),
        (["age"], "age", 'expected strata of neither the class nor an attribute, got "age"'),
        (["town"], None, "expected an option for each of 4 attributes and strata, got 3"),
    ],
)
def test_strata_are_other_columns_of_the_menu(strata, by_column, text, both):
    made = release(FINE, 4, class_name="ill", advice=advised(8))

    def change(entry):
        entry.update(strata=strata, by_column=by_column, bits_at_most="5.6")

    script, library, _ = both(made, change)
    assert script[0] is library[0] is False
    assert text in script[1]
    assert text in library[1]


def test_the_limit_is_compared_as_a_rational():
    """One that is a power of two is met by as many steps, and by one step more is not."""
    made = release(FINE, 4, advice=advised(8))
    document = parse_any(text_of(made).encode())
    steps = sum(len({row[0] for row in rows}) - 1 for rows in document.canonical["points"])
    for power, limit, broken in (
        (steps.bit_length(), steps.bit_length(), False),
        (0, Fraction(1, 10**6), True),
    ):
        document.advice.limits["max_bits"] = limit
        assert (other_than_said(document) is not None) is broken, power
