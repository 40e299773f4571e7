"""The canonical release: a function of the answers alone, and exact."""

import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from canonical_cases import ADULT, ILL_OR_WELL, adult, labels, largest_ratio, viewsets
from how_many import how_many
from hypothesis import given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import Table, Viewset, canonical, safety
from nbcfast._core.errors import Infeasible
from nbcfast.canonical.boxes import ranked as boxes
from nbcfast.canonical.boxes.decided import answers
from nbcfast.canonical.from_answers import Parameters, release_of
from nbcfast.canonical.publish import nameless_counts, undeclared
from nbcfast.canonical.row_shares import EvenShares, IntegerScores
from nbcfast.published.document import text_of
from nbcfast.verification.checks import verify
from nbcfast.verification.load import load
from nbcfast.views.quality import evaluate


def times(views, factor):
    return Viewset(
        views.class_counts * factor,
        {name: array * factor for name, array in views.counts.items()},
        views.classes,
        domains={name: views.domain(name) for name in views.attributes},
    )


@settings(max_examples=how_many(30, 1_000))
@given(st.integers(2, 4).flatmap(viewsets), st.sampled_from([4, "3/2", 100]))
def test_every_tuple_keeps_its_class_and_lambda_its_limit(views, limit):
    made = canonical.release(views, limit)
    assert labels(made.views) == labels(views)
    assert largest_ratio(made.views) <= Fraction(limit)
    assert made.views.is_realistic()
    assert min(int(array.min()) for array in made.views.counts.values()) >= 1
    card = made.scorecard()
    domains = [views.domain(name) for name in views.attributes]
    decided = [
        card.decide(dict(zip(views.attributes, values, strict=True)))
        for values in itertools.product(*domains)
    ]
    assert [views.classes.index(label) for label in decided] == labels(views)


@settings(max_examples=how_many(20, 1_000))
@given(st.integers(2, 4).flatmap(viewsets), st.sampled_from(["smallest", "proven", "proven"]))
def test_counts_the_release_and_multiples_give_the_same_bytes(views, rows):
    made = canonical.release(views, 4, rows=rows)
    text = text_of(made)
    assert text_of(canonical.release(made.views, 4, rows=rows)) == text
    assert text_of(canonical.release(times(views, 37), 4, rows=rows)) == text


def test_everything_after_the_box_has_no_counts():
    """The release is made of the box and of names alone; what `release` adds is the box."""
    views = ILL_OR_WELL
    names = nameless_counts(views)
    assert names.n_rows == 0
    assert not any(array.any() for array in names.counts.values())
    parameters = Parameters(names, limit=Fraction(4), demanded=Fraction(4))
    made = release_of(canonical.box(views), parameters, canonical.box)
    assert text_of(made) == text_of(canonical.release(views, 4))


@given(viewsets(most_values=5), st.data())
def test_other_counts_with_the_same_answers_give_the_same_bytes(views, data):
    arrays = {name: array.copy() for name, array in views.counts.items()}
    name = data.draw(st.sampled_from(views.attributes))
    c = data.draw(st.integers(0, 1))
    array = arrays[name]
    gains, loses = (data.draw(st.integers(0, len(array) - 1)) for _ in range(2))
    if array[loses, c] == 0 or gains == loses:
        return
    array[gains, c] += 1
    array[loses, c] -= 1
    other = Viewset(views.class_counts, arrays)
    same = text_of(canonical.release(other, 4)) == text_of(canonical.release(views, 4))
    assert same == (labels(other) == labels(views))


def test_a_rows_worth_of_counts_can_move_without_a_trace(data):
    """On Adult: two tables that differ, whose classifiers answer alike, are one file."""
    views = adult(data, ["age", "education_num"])
    arrays = {name: array.copy() for name, array in views.counts.items()}
    arrays["age"][20, 1] += 1
    arrays["age"][21, 1] -= 1
    other = Viewset.from_parts(views.class_counts, arrays, views.class_domain, views.domains)
    assert canonical.box(other) == canonical.box(views)
    assert text_of(canonical.release(other, 4)) == text_of(canonical.release(views, 4))
    assert other != views


@given(viewsets(most_values=5), st.randoms())
def test_renaming_values_and_attributes_permutes(views, random):
    order = list(views.attributes)
    random.shuffle(order)
    places = {name: random.sample(range(len(array)), len(array)) for name, array in views.counts.items()}
    other = Viewset(
        views.class_counts, {name: np.asarray(views.counts[name])[places[name]] for name in order}
    )
    one = canonical.release(views, 4, rows="proven")
    two = canonical.release(other, 4, rows="proven")
    assert two.views.n_rows == one.views.n_rows
    assert two.views.class_counts.tolist() == one.views.class_counts.tolist()
    points = dict(zip(views.attributes, one.certificate.canonical.points, strict=True))
    points_too = dict(zip(order, two.certificate.canonical.points, strict=True))
    for name in order:
        assert points_too[name] == tuple(points[name][place] for place in places[name])
        # Values of equal points cannot be told apart: which has a row more is a matter of place.
        rows = sorted(zip(points[name], one.views.counts[name].tolist(), strict=True))
        rows_too = sorted(zip(points_too[name], two.views.counts[name].tolist(), strict=True))
        assert [row for row, _ in rows] == [row for row, _ in rows_too]
        assert np.abs(np.array([r for _, r in rows]) - [r for _, r in rows_too]).max() <= 1
        if len({row for row, _ in rows}) == len(rows):
            assert rows == rows_too


@given(viewsets(n_classes=2), st.sampled_from([1, 2, 3]))
def test_bits_say_exactly_how_many_tuples_change(views, bits):
    made = canonical.release(views, 4, bits=bits)
    differing = sum(a != b for a, b in zip(labels(views), labels(made.views), strict=True))
    assert made.certificate.differing_tuples == differing
    assert all(0 <= number < 2**bits for rows in made.certificate.canonical.points for (number,) in rows)
    assert largest_ratio(made.views) <= 4
    assert bool(differing) == any("another best class" in text for text in made.certificate.warnings)


@pytest.mark.parametrize("preserve", ["label", "order"])
def test_bits_with_three_classes(preserve):
    rng = np.random.default_rng(9)
    codes = rng.integers(0, 4, (200, 3))
    views = Viewset.from_codes(codes, rng.integers(0, 3, 200), sizes=[4, 4, 4], n_classes=3)
    changed = []
    for bits in (1, 3, 12):
        made = canonical.release(views, 4, preserve=preserve, bits=bits)
        found = nbcfast.compare(views, made.views, preserve=preserve)
        assert made.certificate.differing_tuples == found.differing
        changed.append(found.differing)
    assert changed[0] > changed[1] > changed[2] == 0


@settings(max_examples=how_many(30, 1_000))
@given(viewsets(), st.data())
def test_a_listed_tuple_keeps_its_class(views, data):
    every = list(itertools.product(*(range(len(array)) for array in views.counts.values())))
    listed = data.draw(st.lists(st.sampled_from(every), min_size=1, max_size=6))
    table = Table({name: [row[i] for row in listed] for i, name in enumerate(views.attributes)})
    made = canonical.release(views, 4, tuples=table)
    private, published = (dict(zip(every, labels(one), strict=True)) for one in (views, made.views))
    assert [private[row] for row in listed] == [published[row] for row in listed]
    assert largest_ratio(made.views) <= 4
    assert made.certificate.canonical.listed.tuples == len(set(listed))
    assert made.certificate.canonical.listed.differing == 0
    assert made.certificate.differing_tuples is None
    assert made.certificate.equivalence == "none"
    twice = Table({name: [row[i] for row in listed + listed[:1]] for i, name in enumerate(views.attributes)})
    assert text_of(canonical.release(views, 4, tuples=twice)) == text_of(made)


@settings(max_examples=how_many(30, 1_000))
@given(st.integers(2, 4).flatmap(viewsets), st.sampled_from(["label", "order"]), st.data())
def test_bits_on_a_list_say_how_many_of_it_change(views, preserve, data):
    every = list(itertools.product(*(range(len(array)) for array in views.counts.values())))
    listed = data.draw(st.lists(st.sampled_from(every), min_size=1, max_size=12))
    table = Table({name: [row[i] for row in listed] for i, name in enumerate(views.attributes)})
    made = canonical.release(views, 4, preserve=preserve, tuples=table, bits=1)
    of = labels if preserve == "label" else orders
    private, published = (dict(zip(every, of(one), strict=True)) for one in (views, made.views))
    wrong = sum(private[row] != published[row] for row in set(listed))
    assert made.certificate.canonical.listed.differing == wrong
    assert any("of the" in text and "listed tuples have" in text for text in made.certificate.warnings) == (
        wrong > 0
    )


def test_bits_on_a_list_are_verified(tmp_path):
    views = Viewset([10, 1], {"a0": [[4, 0], [0, 0], [3, 1], [3, 0]], "a1": [[7, 0], [3, 1]]})
    table = {"a0": [0, 0, 3, 3, 3, 3, 2, 0, 1, 0, 2, 2], "a1": [1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0]}
    made = canonical.release(views, 4, bits=1, tuples=table)
    assert made.certificate.canonical.listed[::2] == (5, 2)
    assert made.certificate.warnings[0].startswith("2 of the 5 listed tuples have another best class than")
    assert "label differs on 2 of 5 listed tuples" in repr(made)
    made.save(tmp_path)
    found = verify(tmp_path, views, tuples=table)
    assert found.ok
    assert "the best class differs on 2 of 5 listed tuples, as stated" in str(found)
    canonical.release(views, 4, tuples=table).save(tmp_path, overwrite=True)
    assert "the best class is the same on all 5 listed tuples" in str(verify(tmp_path, views, tuples=table))
    other = Viewset([1, 10], {name: array[:, ::-1] for name, array in views.counts.items()})
    found = verify(tmp_path, other, tuples=table)
    assert not found.ok
    assert "listed tuples, the certificate says it is the same" in str(found)


def orders(views):
    """The classes of every tuple, the best first."""
    n, classes = len(views.attributes), range(len(views.classes))
    of_class = [int(count) for count in views.class_counts]
    found = []
    for rows in itertools.product(*(array.tolist() for array in views.counts.values())):
        scores = [Fraction(math.prod(row[c] for row in rows), of_class[c] ** (n - 1)) for c in classes]
        found.append(sorted(classes, key=lambda c: (scores[c], c), reverse=True))
    return found


@given(viewsets(), st.sampled_from(["11/10", 4, 1000]), st.sampled_from(["1", "3/2"]))
def test_unrounded_shares_are_exact_and_every_value_is_equally_frequent(views, limit, power):
    found = canonical.box(views)
    scores = IntegerScores.of(canonical.integers(found, canonical.solve(found)))
    shares = EvenShares(scores, Fraction(limit), Fraction(power))
    for array in shares.values:
        frequencies = (array * shares.floats).sum(axis=1)
        assert np.allclose(frequencies, 1 / len(array), rtol=1e-9)
        assert np.allclose(array.sum(axis=0), 1, rtol=1e-14)
    n = len(shares.values)
    unit = math.log(Fraction(limit)) / float(Fraction(power)) / scores.range
    for rows in itertools.product(*(range(len(array)) for array in shares.values)):
        logs = np.log(shares.floats) + sum(
            np.log(array[t]) for array, t in zip(shares.values, rows, strict=True)
        )
        total = scores.base[0] - scores.base[1]
        total += sum(scores.points[i][t][0] - scores.points[i][t][1] for i, t in enumerate(rows))
        assert logs[0] - logs[1] == pytest.approx(unit * total, abs=1e-12 * (n + 1))
        assert abs(total) >= scores.gap
    assert scores.range >= 1


def test_few_rows_aim_below_the_limit():
    """On small domains rounding lifts Lambda by much: what is good for 3 is not far from the best for 4."""
    views = Viewset([2, 2, 2], [[[0, 0, 1], [2, 2, 0], [0, 0, 1]], [[0, 0, 1], [0, 0, 0], [2, 2, 1]]])
    rows = [canonical.release(views, limit).views.n_rows for limit in (3, 4)]
    assert max(rows) <= 15
    views = Viewset([5, 10], {"job": [[1, 6], [4, 4]], "sex": [[1, 5], [4, 5]]})
    assert canonical.release(views, 4).views.n_rows <= 5


class TestManyAttributes:
    """More than the 64 axes that NumPy takes, nearly all of one value."""

    ONES = 70

    def views(self, *arrays):
        of_class = np.sum(arrays[0], axis=0)
        ones = {f"one {i}": of_class[np.newaxis] for i in range(self.ONES)}
        return Viewset(of_class, {**ones, **{f"of {i}": array for i, array in enumerate(arrays)}})

    def test_two_classes(self, tmp_path):
        pytest.importorskip("scipy")
        views = self.views([[1, 3], [2, 1]], [[2, 1], [1, 3]])
        made = canonical.release(views, 4)
        assert labels(made.views) == labels(views)
        assert largest_ratio(made.views) <= 4
        made.save(tmp_path)
        assert verify(tmp_path, views).ok
        rounded = canonical.release(views, 4, bits=1, rows="proven")
        wrong = sum(a != b for a, b in zip(labels(views), labels(rounded.views), strict=True))
        assert rounded.certificate.differing_tuples == wrong
        levels = canonical.leak(views, sample=2).levels
        assert (levels["one 3"], levels["of 0"]) == ((1, 1), (2, 2))

    @pytest.mark.parametrize("preserve", ["label", "order"])
    def test_three_classes(self, preserve, monkeypatch):
        views = self.views([[1, 3, 4], [5, 2, 1]], [[2, 1, 3], [4, 4, 2]])
        made = canonical.release(views, 4, preserve=preserve, rows="proven")
        assert nbcfast.compare(views, made.views, preserve=preserve).equal
        known = canonical.solve(canonical.box(views, mode=preserve))
        few = canonical.leak(views, preserve=preserve, sample=2).levels
        assert few["of 0"] == (2, 2)
        monkeypatch.setattr(boxes, "MOST_ENUMERATED", 0)
        assert canonical.solve(canonical.box(views, mode=preserve)).scores == known.scores

    @pytest.mark.parametrize("preserve", ["label", "order"])
    def test_powers_of_counts(self, preserve):
        views = self.views([[1, 3, 4], [5, 2, 1]], [[2, 1, 3], [4, 4, 2]])
        made = nbcfast.safety_transform(views, 4, preserve=preserve)
        assert nbcfast.compare(views, made.views, preserve=preserve).equal
        assert largest_ratio(made.views) <= 4


class TestCorners:
    def test_a_constant_classifier(self):
        views = Viewset([1, 50], [[[1, 20], [0, 30]], [[1, 25], [0, 25]]])
        made = canonical.release(views, 4)
        assert labels(made.views) == labels(views) == [1] * 4
        assert largest_ratio(made.views) <= 4
        assert made.scorecard().rule == "0 from 1 points on, else 1"
        top = Viewset([50, 1], [[[20, 0], [30, 1]], [[25, 1], [25, 0]]])
        assert labels(top) == [0] * 4
        made = canonical.release(top, 4)
        assert labels(made.views) == [0] * 4
        assert made.scorecard().threshold == 0

    def test_an_attribute_without_influence_has_no_points(self):
        views = Viewset([40, 60], {"a": [[30, 10], [10, 50]], "b": [[21, 30], [19, 30]]})
        made = canonical.release(views, 4)
        assert set(made.certificate.canonical.points[1]) == {(0,)}
        counts = made.views.counts["b"]
        assert np.abs(counts[0] - counts[1]).max() <= 1
        assert canonical.leak(views, intervals=False).levels["b"] == (1, 2)

    def test_a_class_alone(self, tmp_path):
        views = Viewset([5], {"a": [[1], [4]]}, classes=["x"])
        made = canonical.release(views, 4)
        assert labels(made.views) == [0, 0]
        assert made.scorecard().rule == "always 'x'"
        assert made.scorecard().decide({"a": 1}) == "x"
        made.save(tmp_path)
        assert load(tmp_path) == made
        assert verify(tmp_path, views).ok
        assert canonical.leak(views).bits == -math.inf

    def test_a_domain_beyond_the_limit_is_refused(self):
        views = Viewset([10, 10], [np.full((10, 2), 1) for _ in range(13)])
        with pytest.raises(Infeasible, match="it reaches 500,000,000,000 tuples, and the domain has 10,"):
            canonical.release(views, 4)
        views = Viewset([10, 10], [np.full((10, 2), 1) for _ in range(20)])
        text = r"it reaches 5\.0 \* 10\^11 tuples, and the domain has about 1\.0 \* 10\^20$"
        with pytest.raises(Infeasible, match=text):  # both numbers in one notation
            canonical.release(views, 4)
        with pytest.raises(Infeasible, match="no canonical release: there is no attribute"):
            canonical.release(Viewset([3, 4], []), 4)
        many = Viewset([10] * 4, [np.full((10, 4), 1) for _ in range(8)])
        with pytest.raises(Infeasible, match="4 classes reach 10,000,000 tuples"):
            canonical.release(many, 4)

    def test_duplicate_levels_have_equal_shares(self):
        column = [[30, 10], [30, 10], [10, 50], [30, 10]]
        views = Viewset([100, 80], {"a": column, "b": [[60, 20], [40, 60]]})
        made = canonical.release(views, 4, rows=100_000)
        counts = made.views.counts["a"]
        assert np.abs(counts[[0, 1, 3]] - counts[0]).max() <= 1
        assert made.views.n_rows == 100_000

    def test_a_number_of_rows_that_is_too_small(self):
        views = Viewset([50, 50], {"a": [[30, 10], [11, 22], [9, 18]], "b": [[20, 30], [30, 20]]})
        with pytest.raises(Infeasible, match="rows are too few") as caught:
            canonical.release(views, 4, rows=5)
        best = caught.value.best["release"]
        assert labels(best.views) == labels(views)
        assert best.views.n_rows == caught.value.best["rows"]

    FEW = (
        Viewset([10, 1], {"a0": [[4, 0], [3, 0], [3, 1]], "a1": [[2, 1], [4, 0], [0, 0], [0, 0], [4, 0]]}),
        Viewset([3, 5], {"a0": [[0, 2], [1, 3], [0, 0], [2, 0]], "a1": [[1, 3], [0, 1], [2, 1]]}),
    )

    @pytest.mark.parametrize("views", FEW)
    def test_what_too_few_rows_would_publish_is_a_sound_release(self, views, tmp_path):
        with pytest.raises(
            Infeasible, match=r"no 12 rows keep the label .* tuples differ in the nearest"
        ) as caught:
            canonical.release(views, "5/2", rows=12)
        made = caught.value.best["release"]
        wrong = sum(a != b for a, b in zip(labels(views), labels(made.views), strict=True))
        assert wrong
        assert made.certificate.differing_tuples == wrong
        assert "its counts were rounded to so few rows" in made.certificate.notes[0]
        made.save(tmp_path)
        assert load(tmp_path) == made
        assert verify(tmp_path, views).ok
        assert verify(tmp_path).exit_code == 3

    @pytest.mark.parametrize("views", FEW)
    def test_with_bits_too_few_rows_would_publish_the_fewest(self, views, tmp_path):
        # The points of counts that decide otherwise would be of other answers, and of any number of bits.
        fewest = 2 * max(len(array) for array in views.counts.values())
        with pytest.raises(Infeasible, match=r"keep the label .* tuples differ in the nearest") as caught:
            canonical.release(views, "5/2", rows=fewest, bits=1)
        made = caught.value.best["release"]
        assert made == canonical.release(views, "5/2", bits=1)
        made.save(tmp_path)
        assert verify(tmp_path, views).ok

    def test_what_too_few_rows_would_do_to_a_list(self, tmp_path):
        views = self.FEW[1]
        every = list(itertools.product(range(4), range(3)))
        public = Table({"a0": [a for a, _ in every[:9]], "a1": [b for _, b in every[:9]]})
        with pytest.raises(Infeasible, match="tuples differ") as caught:
            canonical.release(views, "5/2", tuples=public, rows=8)
        made = caught.value.best["release"]
        here, there = (dict(zip(every, labels(one), strict=True)) for one in (views, made.views))
        wrong = sum(here[row] != there[row] for row in every[:9])
        assert made.certificate.canonical.listed.differing == wrong > 0
        assert f"label differs on {wrong} of 9 listed tuples" in repr(made)
        made.save(tmp_path)
        assert load(tmp_path) == made
        assert verify(tmp_path, views, tuples=public).ok

    def test_a_declared_domain_is_not_warned_of(self):
        rows = {"a": ["x", "y", "x", "y"], "c": [0, 1, 0, 1]}
        found = canonical.release(nbcfast.count(Table(rows), "c"), 4)
        assert found.certificate.canonical.undeclared == ("a", None)
        assert "The values of a and the class come from the rows" in found.certificate.warnings[0]
        declared = nbcfast.count(Table(rows, domains={"a": ["x", "y"], "c": [0, 1]}), "c")
        assert undeclared(declared) == ()
        made = canonical.release(declared, 4)
        assert not any("come from the rows" in text for text in made.certificate.warnings)

    def test_an_undeclared_domain_stays_one_in_the_file(self, tmp_path):
        views = nbcfast.count(Table({"a": ["x", "y", "x", "y", "y"], "c": [0, 1, 0, 1, 0]}), "c")
        made = canonical.release(views, 4)
        made.save(tmp_path)
        assert text_of(canonical.release(load(tmp_path).views, 4)) == text_of(made)

    def test_worlds_and_three_classes(self):
        rng = np.random.default_rng(5)
        codes = rng.integers(0, 3, (60, 3))
        views = Viewset.from_codes(codes, rng.integers(0, 3, 60), sizes=[3, 3, 3], n_classes=3)
        for preserve in ("label", "order"):
            made = canonical.release(views, 6, preserve=preserve, attacker="worlds")
            assert nbcfast.compare(views, made.views, preserve=preserve).equal
            assert largest_ratio(made.views) <= 3
            assert made.certificate.preserve == preserve
            assert text_of(canonical.release(made.views, 6, preserve=preserve, attacker="worlds")) == text_of(
                made
            )
        decided = made.scorecard()
        for values, label in zip(itertools.product(range(3), repeat=3), labels(views), strict=True):
            assert decided.decide(dict(zip(views.attributes, values, strict=True))) == label

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"bits": 0}, ValueError, "bits must be 1 to 62, got 0"),
            ({"bits": 2.5}, TypeError, "bits must be an int or None, got 2.5"),
            ({"preserve": "all"}, ValueError, "preserve must be 'label' or 'order', got 'all'"),
            ({"rows": "few"}, ValueError, "rows must be 'smallest', 'proven' or an int, got 'few'"),
            ({"attacker": "me"}, ValueError, "attacker must be 'row' or 'worlds', got 'me'"),
            ({"attacker": "worlds", "amplification": 2}, ValueError, "must be above 2"),
            ({"amplification": 1}, ValueError, "amplification must be above 1"),
            ({"tuples": {"a": [1]}}, ValueError, "a column for every attribute, got none named 'b'"),
            ({"tuples": {"a": [7], "b": [0]}}, ValueError, "value 7 of 'a' is not in its domain"),
            ({"tuples": {"a": [], "b": []}}, ValueError, "tuples: no rows"),
            ({"tuples": 5}, TypeError, "^tuples: expected a Table, a mapping"),
            ({"tuples": {"a": [1, 2], "b": [0]}}, ValueError, "^tuples: "),
            ({"progress": 5}, TypeError, "progress must be callable or None, got int"),
        ],
    )
    def test_bad_arguments(self, options, error, message):
        views = Viewset([3, 4], {"a": [[1, 2], [2, 2]], "b": [[1, 1], [2, 3]]})
        with pytest.raises(error, match=message):
            canonical.release(views, **{"amplification": 4, **options})

    def test_views_of_nothing(self):
        with pytest.raises(TypeError, match="views must be a Viewset, got int"):
            canonical.release(3, 4)
        with pytest.raises(ValueError, match="no rows"):
            canonical.release(Viewset([0, 0], [[[0, 0]]]), 4)
        with pytest.raises(ValueError, match="views must be realistic"):
            canonical.release(Viewset([1, 1], [[[1, 0]]]), 4)


def test_answers_of_a_scorecard_are_those_of_its_box():
    views = ILL_OR_WELL
    found = canonical.box(views)
    assert answers(canonical.integers(found, canonical.solve(found)), found) == found
    assert Path(canonical.__file__).parent.name == "canonical"


class TestAdult:
    @pytest.mark.parametrize(
        ("classes", "bits", "most_rows", "loss"),
        [((">50K", "<=50K"), 3565, 450_000, 0.620), (("<=50K", ">50K"), 1781, 200_000, 0.572)],
    )
    def test_three_attributes(self, data, tmp_path, classes, bits, most_rows, loss):
        views = adult(data, classes=classes)
        made = canonical.release(views, 4, class_name="income")
        assert made.views.n_rows <= most_rows
        assert nbcfast.compare(views, made.views, preserve="label").equal
        assert safety.at_most(made.views, 4)
        table = nbcfast.read_csv(data / "adult-train.csv", columns=[*ADULT, "income"])
        assert evaluate(made.views, table, "income").log_loss == pytest.approx(loss, abs=0.003)
        made.save(tmp_path)
        assert verify(tmp_path, views).ok
        assert text_of(canonical.release(made.views, 4, class_name="income")) == text_of(made)
        assert canonical.leak(views, intervals=False, sample=1).bits == pytest.approx(math.log2(bits))
