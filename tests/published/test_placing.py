"""Raw values are put where they were published: for predictions, and to compare a release with rows."""

import random

import pytest

import nbcfast
from nbcfast import SUPPRESSED, Interval, Table, canonical
from nbcfast.domains import declared
from nbcfast.published.placing import Placing, in_domains, options_of
from nbcfast.table import Domain

AGES = Domain.of([Interval(0, 18), Interval(18, 65), Interval(70, None)])


def test_rows_are_put_into_published_bins():
    rows = Table({"age": ["16.00", "[18, 65)", "70"], "other": [1, 2, 3]})
    placed = in_domains(rows, {"age": AGES, "absent": AGES})
    assert placed.codes("age").tolist() == [0, 1, 2]
    assert placed.domain("age") == AGES.values
    assert placed["other"].tolist() == [1, 2, 3]
    assert in_domains(placed, {"age": AGES}) == placed


def test_what_has_no_place_is_an_error_or_suppressed():
    rows = Table({"age": [16, 66, None]})
    with pytest.raises(
        ValueError, match=r"column 'age': value 66 lies outside the edges .*, or between its intervals"
    ):
        in_domains(rows, {"age": AGES})
    strays = in_domains(rows, {"age": AGES}, strays=True)
    assert strays["age"].tolist() == [Interval(0, 18), SUPPRESSED, SUPPRESSED]
    with_null = in_domains(Table({"age": [16, None]}), {"age": AGES})
    assert with_null["age"].tolist() == [Interval(0, 18), None]
    known = Domain.of([*AGES.values, None])
    assert in_domains(Table({"age": [16, None]}), {"age": known}).domain("age") == known.values
    with pytest.raises(ValueError, match="column 'age': expected numbers to bin, got bool"):
        in_domains(Table({"age": [True]}), {"age": AGES})


def test_what_was_declared_is_what_was_published():
    sets = declared({"job": {"groups": {"a": ["x", "y"], "b": ["z"]}}, "name": {"out": True}})
    ours = {"job": Domain.of(["a", "b"])}
    assert options_of(ours, None) == {}
    assert in_domains(Table({"job": ["x", "z", "y"]}), ours, sets)["job"].tolist() == ["a", "b", "a"]
    with pytest.raises(ValueError, match="column 'job': value 'w' is in none of its 2 groups"):
        in_domains(Table({"job": ["w"]}), ours, sets)
    assert in_domains(Table({"job": ["w"]}), ours, sets, strays=True)["job"].tolist() == [SUPPRESSED]
    with pytest.raises(ValueError, match="column 'job': the release has other values"):
        options_of({"job": Domain.of(["a"])}, sets)


@pytest.mark.parametrize("seed", range(10))
def test_bins_are_those_that_hold_the_number(seed):
    rng = random.Random(seed)
    cuts = sorted(rng.sample(range(-50, 50), 8))
    bins = [Interval(low / 4, high / 4) for low, high in zip(cuts[::2], cuts[1::2], strict=True)]
    if seed % 2:
        bins = [Interval(None, bins[0].low), *bins, Interval(bins[-1].high, None)]
    numbers = [rng.randint(-60, 60) / 4 for _ in range(200)]
    expected = [next((place for place, one in enumerate(bins) if number in one), -1) for number in numbers]
    placing = Placing(Domain.of(bins))
    for raw in (numbers, [str(number) for number in numbers]):
        distinct = Domain.sorted(raw)
        places = placing.places(distinct)
        assert [int(places[distinct.index[value]]) for value in raw] == expected


def test_a_release_is_verified_against_rows_whose_numbers_are_texts(tmp_path, run):
    pytest.importorskip("pyarrow")
    rng = random.Random(3)
    ages = [rng.randint(0, 89) for _ in range(300)]
    ill = ["yes" if age > 40 and rng.random() < 0.8 else "no" for age in ages]
    binned = Table({"age": ages, "ill": ill}).bin("age", edges=[0, 30, 60, 90])
    canonical.release(nbcfast.count(binned, "ill"), 4, class_name="ill").save(tmp_path / "out")
    lines = [f"{age}.00,{label}" for age, label in zip(ages, ill, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["age,ill", *lines]) + "\n", encoding="utf-8")
    code, printed, errors = run("verify", tmp_path / "out", "--against", tmp_path / "rows.csv")
    assert (code, errors) == (0, ""), printed
