"""Points of few bits are those of their own answers: what a file with other points would hide is refused."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from folder_cases import rewritten
from how_many import how_many
from hypothesis import given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import Infeasible, Release, Table, Viewset, canonical, verify_release
from nbcfast.canonical import box, integers, solve
from nbcfast.canonical.boxes.decided import difference
from nbcfast.canonical.budget import budgeted
from nbcfast.canonical.in_rows import to_rows
from nbcfast.canonical.publish import nameless_counts
from nbcfast.canonical.rounding import Same, ScorecardPlan
from nbcfast.canonical.row_shares import IntegerScores
from nbcfast.canonical.weights.results import Scorecard

VIEWS = Viewset(
    [40, 60],
    {"a": [[1, 12], [5, 18], [14, 20], [20, 10]], "b": [[11, 30], [9, 12], [8, 12], [12, 6]]},
    classes=["ill", "well"],
    domains={"a": [1, 2, 3, 4], "b": ["p", "q", "r", "s"]},
)
PUBLIC = {"a": [1, 2, 2, 3, 3, 3], "b": ["p", "r", "s", "r", "s", "s"]}


def some_views(seed, n_classes):
    """Classes that lean to some values each."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, rng.integers(1, 4)).tolist()
    rows = int(rng.integers(20, 1000))
    label = rng.integers(0, n_classes, rows)
    lean = (rng.random(rows) < 0.5) * label
    codes = np.stack([(rng.integers(0, size, rows) + lean) % size for size in sizes], axis=1)
    return Viewset.from_codes(codes, label, sizes=sizes, n_classes=n_classes)


def decided(card, sizes, mode):
    """What points say of every tuple, added up one by one."""
    found = {}
    for codes in itertools.product(*map(range, sizes)):
        totals = list(card.constants)
        for array, code in zip(card.points, codes, strict=True):
            totals = [total + int(number) for total, number in zip(totals, array[code], strict=True)]
        ranked = sorted(range(len(totals) + 1), key=lambda c: ([*totals, 0][c], c), reverse=True)
        found[codes] = tuple(ranked) if mode == "order" else ranked[0]
    return found


def asked(views, mode):
    """What the counts say, by rationals."""
    found = {}
    counts = [array.tolist() for array in views.counts.values()]
    for codes in itertools.product(*(range(len(rows)) for rows in counts)):
        rows = [of_values[code] for of_values, code in zip(counts, codes, strict=True)]
        values = [
            Fraction(math.prod(row[c] for row in rows), count ** (len(rows) - 1))
            for c, count in enumerate(views.class_counts.tolist())
        ]
        ranked = sorted(range(len(values)), key=lambda c: (values[c], c), reverse=True)
        found[codes] = tuple(ranked) if mode == "order" else ranked[0]
    return found


@settings(max_examples=how_many(30, 1_000))
@given(
    st.integers(0, 2**32),
    st.integers(2, 4),
    st.sampled_from(["label", "order"]),
    st.integers(1, 6),
    st.booleans(),
)
def test_points_are_those_of_their_own_answers(seed, n_classes, mode, bits, some):
    views = some_views(seed, n_classes)
    sizes = [len(array) for array in views.counts.values()]
    every = list(itertools.product(*map(range, sizes)))
    listed = every[:: 1 + len(every) // 20] if some else every
    found = box(views, mode=mode, tuples=listed if some else None)
    card, reproducible = budgeted(found, solve(found), bits)
    assert reproducible
    assert all(int(array.max()).bit_length() <= bits and array.min() >= 0 for array in card.points)
    points, counts = decided(card, sizes, mode), asked(views, mode)
    assert card.changed == sum(points[codes] != counts[codes] for codes in listed)
    # Any views that answer as the points do will do: here the published ones.
    table = Table({name: [codes[i] for codes in listed] for i, name in enumerate(views.attributes)})
    made = canonical.release(views, 4, preserve=mode, bits=bits, tuples=table if some else None)
    own = box(made.views, mode=mode, tuples=listed if some else None)
    again = integers(own, solve(own), bits)
    assert again.changed == 0
    assert again.constants == card.constants == made.certificate.canonical.constants
    assert [array.tolist() for array in again.points] == [array.tolist() for array in card.points]


def test_enough_bits_change_nothing():
    for seed, n_classes in itertools.product(range(20), (2, 3)):
        found = box(some_views(seed, n_classes))
        solution = solve(found)
        card = integers(found, solution)
        assert budgeted(found, solution, max(card.bits, 1))[0].to_dict() == card.to_dict()


def test_ties_of_points_go_to_the_later_class():
    # Points that tie where the later class is best are right as they are, and need no more bits.
    ties = 0
    for seed in range(60):
        found = box(some_views(seed, 3))
        card = integers(found, solve(found), 2)
        ties += card.changed == 0 and card.gap is None
    assert ties


def fields_of(folder):
    return json.loads((folder / "certificate.json").read_text())


def said(folder, capsys):
    """The exit code of the script, and what it prints."""
    capsys.readouterr()
    code = verify_release.main([str(folder)])
    return code, capsys.readouterr().out


def logarithms(views, scale):
    """Points that are private log-ratios: scale ln(N1 / N0) of every value."""
    points, threshold = [], 0
    for array in views.counts.values():
        column = [round(scale * math.log(x / y)) for x, y in array.tolist()]
        threshold -= min(column)
        points.append(np.array(column, np.int64).reshape(-1, 1) - min(column))
    p, q = views.class_counts.tolist()
    threshold += round(scale * (len(points) - 1) * math.log(p / q))
    return tuple(points), threshold


def carrying(views, scale, stated=1):
    """A forged release: such points, counts rounded from them, and one tuple that is said to differ."""
    points, threshold = logarithms(views, scale)
    most = max(int(array.max()) for array in points)
    card = Scorecard(points, (1 - threshold,), None, 0, 0, Fraction(1), most.bit_length(), 0)
    target = box(views)

    def same(published):
        return Same(*difference(target, box(published)))

    plan = ScorecardPlan(IntegerScores.of(card), nameless_counts(views), Fraction(4), same, None, "label")
    bits = max(2, most.bit_length())
    made = canonical.release(VIEWS, 4, bits=1).certificate
    found = replace(
        made.canonical,
        points=tuple(tuple(map(tuple, array.tolist())) for array in points),
        constants=card.constants,
        bits=bits,
    )
    certificate = replace(made, differing_tuples=stated, canonical=found, warnings=None)
    return Release(to_rows(plan, "smallest").views, certificate, None)


def doubled(fields):
    """Twice the rows."""
    fields["class_counts"] = [2 * number for number in fields["class_counts"]]
    for entry in fields["attributes"]:
        entry["counts"] = [[2 * number for number in row] for row in entry["counts"]]


class TestForged:
    """Points and counts that carry more than answers."""

    def test_private_logarithms_as_points(self, tmp_path, capsys):
        forged = carrying(VIEWS, 2**36)
        assert forged.certificate.canonical.bits >= 36
        forged.save(tmp_path)
        found = nbcfast.verify(tmp_path)
        assert [check.name for check in found.checks if check.passed is False] == ["points"]
        assert (found.verdict, found.exit_code) == ("not verified", 1)
        assert "NO   points        the points are not those that their answers give" in repr(found)
        assert nbcfast.verify(tmp_path, VIEWS).exit_code == 1
        code, printed = said(tmp_path, capsys)
        assert code == 3
        assert "?    canonical      not made again here" in printed
        assert f"{verify_release.CLAIMED} {verify_release.ROUNDED_ANSWERS}" in printed

    @pytest.mark.parametrize("stated", [0, 1, 16])
    @pytest.mark.parametrize("scale", [8, 100, 2**20])
    def test_whatever_the_number_of_tuples_that_are_said_to_differ(self, tmp_path, scale, stated):
        carrying(VIEWS, scale, stated).save(tmp_path)
        assert nbcfast.verify(tmp_path).exit_code == 1

    def test_numbers_in_the_counts(self, tmp_path):
        made = canonical.release(VIEWS, 4, bits=1, rows=300)
        made.save(tmp_path)
        assert nbcfast.verify(tmp_path).exit_code == 3
        places = [(i, t, c) for i in (0, 1) for t in range(3) for c in (0, 1)]
        silent = 0
        for i, t, c in places:  # a row is moved to the next value

            def moved(fields, i=i, t=t, c=c):
                rows = fields["attributes"][i]["counts"]
                rows[t][c] += 1
                rows[t + 1][c] -= 1

            made.save(tmp_path, overwrite=True)
            rewritten(tmp_path, moved)
            found = nbcfast.verify(tmp_path)
            failed = [check.name for check in found.checks if check.passed is False]
            assert "counts" in failed or failed == ["scorecard"]
            silent += failed == ["counts"]
        assert silent  # all other checks pass
        made.save(tmp_path, overwrite=True)
        rewritten(tmp_path, doubled)
        found = nbcfast.verify(tmp_path)
        assert [check.name for check in found.checks if check.passed is False] == ["counts"]

    def test_numbers_in_other_fields(self, tmp_path, capsys):
        canonical.release(VIEWS, 4, bits=1).save(tmp_path)
        rewritten(tmp_path, lambda fields: fields.update(differing_rows=hex(10**300)))
        assert nbcfast.verify(tmp_path).exit_code == 1
        assert "field 'differing_rows': expected null" in repr(nbcfast.verify(tmp_path))
        assert said(tmp_path, capsys)[0] == 1
        canonical.release(VIEWS, 4, bits=1).save(tmp_path, overwrite=True)
        rewritten(tmp_path, lambda fields: fields.update(equivalence="interval"))
        assert "NO   counts" in repr(nbcfast.verify(tmp_path))

    def test_more_tuples_than_differ_are_found_by_who_has_the_views(self, tmp_path):
        canonical.release(VIEWS, 4, bits=1).save(tmp_path)

        def more(fields):
            fields["differing_tuples"] = 4
            fields["warnings"] = [text.replace("3 tuples", "4 tuples") for text in fields["warnings"]]

        rewritten(tmp_path, more)
        found = nbcfast.verify(tmp_path)
        assert found.exit_code == 3
        assert "another than in the private views on 4 of 16 tuples" in " ".join(found.claims)
        found = nbcfast.verify(tmp_path, VIEWS)
        failed = [check.name for check in found.checks if check.passed is False]
        assert failed == ["canonical", "equivalence"]

    def test_another_version_or_machine_is_not_decided(self, tmp_path):
        forged = carrying(VIEWS, 2**36)
        other = replace(forged, certificate=replace(forged.certificate, version="0.0.1"))
        other.save(tmp_path)
        found = nbcfast.verify(tmp_path)
        assert found.exit_code == 3
        assert "it was made by version 0.0.1, and this is" in repr(found)
        made = replace(forged.certificate.canonical, reproducible=False)
        certificate = replace(forged.certificate, canonical=made, warnings=None)
        replace(forged, certificate=certificate).save(tmp_path, overwrite=True)
        found = nbcfast.verify(tmp_path)
        assert found.exit_code == 3
        assert "as it may be on another machine" in repr(found)
        assert verify_release.ROUNDED_ANSWERS in found.claims

    def test_a_list_that_is_not_given(self, tmp_path, capsys):
        made = canonical.release(VIEWS, 4, bits=1, tuples=PUBLIC)
        assert made.certificate.canonical.listed.differing == 1
        made.save(tmp_path)
        found = nbcfast.verify(tmp_path)
        assert found.exit_code == 3
        assert verify_release.SOME_ANSWERS in found.claims
        assert said(tmp_path, capsys)[0] == 3
        found = nbcfast.verify(tmp_path, tuples=PUBLIC)
        assert [check.name for check in found.checks if check.passed is None] == ["canonical"]
        assert "yes  counts" in repr(found)
        assert nbcfast.verify(tmp_path, VIEWS, tuples=PUBLIC).exit_code == 0

        def longer(fields):
            for rows in fields["canonical"]["points"]:
                for row in rows:
                    row[0] = 1000 * row[0]
            fields["canonical"]["constants"] = [1000 * number for number in fields["canonical"]["constants"]]
            fields["canonical"]["bits"] = 12

        rewritten(tmp_path, longer)
        assert "NO   points" in repr(nbcfast.verify(tmp_path, tuples=PUBLIC))


class TestHonest:
    """What is published is accepted, and says what nobody has checked."""

    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("rows", ["smallest", "proven", 300])
    def test_what_a_file_shows_and_what_it_does_not(self, tmp_path, rows, n_classes):
        views = VIEWS if n_classes == 2 else some_views(5, 3)
        made = canonical.release(views, 4, bits=1, rows=rows)
        assert made.certificate.differing_tuples
        made.save(tmp_path)
        found = nbcfast.verify(tmp_path)
        passed = {check.name: check.passed for check in found.checks}
        assert passed.pop("canonical") is None
        assert all(passed.values())
        assert (found.verdict, found.exit_code) == ("not fully checked", 3)
        assert verify_release.ROUNDED_ANSWERS in found.claims
        assert ("with 300 rows, as the publisher chose" in repr(found)) == (rows == 300)
        assert "canonical     that it was made of the private classifier's answers is for the" in repr(found)
        found = nbcfast.verify(tmp_path, views)
        assert found.exit_code == 0
        assert verify_release.ROUNDED_ANSWERS not in found.claims

    def test_so_few_rows_that_some_tuples_differ(self, tmp_path):
        views = some_views(4, 2)
        with pytest.raises(Infeasible) as caught:
            canonical.release(views, 4, rows=40)
        made = caught.value.best["release"]
        assert made.certificate.differing_tuples
        assert made.certificate.notes[0] == verify_release.FEW_ROWS
        made.save(tmp_path)
        found = nbcfast.verify(tmp_path)
        passed = {check.name: check.passed for check in found.checks}
        assert (passed["points"], passed["counts"], passed["canonical"]) == (True, None, None)
        assert found.exit_code == 3
        assert verify_release.FEW_ROWS in found.claims
        found = nbcfast.verify(tmp_path, views)
        assert {check.name: check.passed for check in found.checks}["canonical"] is True

        rewritten(tmp_path, doubled)
        found = nbcfast.verify(tmp_path, views)
        assert [check.name for check in found.checks if check.passed is False] == ["canonical"]

    def test_with_bits_the_nearest_release_has_its_points(self):
        with pytest.raises(Infeasible) as caught:
            canonical.release(VIEWS, 4, bits=1, rows=9)
        nearest = caught.value.best["release"]
        assert nearest == canonical.release(VIEWS, 4, bits=1)

    def test_the_number_of_rows_is_said_to_be_chosen(self, tmp_path):
        canonical.release(VIEWS, 4, rows=1234).save(tmp_path)
        found = nbcfast.verify(tmp_path)
        assert found.ok
        assert "made again from its own answers with 1234 rows, as the publisher chose, the" in repr(found)
