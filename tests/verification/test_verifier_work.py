"""What small files may ask of a verifier: equal hashes, many templates, many points, long products."""

import hashlib
import itertools
import json
import math
import random
import subprocess
import sys
from fractions import Fraction
from types import SimpleNamespace

import pytest
from both_verifiers import in_both

from nbcfast import Infeasible, Interval, load, response, verify
from nbcfast import verify_release as form
from nbcfast._halves.terms import FixedLogs
from nbcfast.canonical.boxes.halving import halves

MODULUS = sys.hash_info.modulus


class Counted(int):
    """A number that says how often it is compared with another and divided."""

    asked = 0

    __hash__ = int.__hash__

    def __eq__(self, other):
        Counted.asked += 1
        return int(self) == int(other)

    def __floordiv__(self, other):
        Counted.asked += 1
        return int(self) // int(other)


@pytest.fixture
def asked():
    Counted.asked = 0
    return lambda: Counted.asked


def whole(number):
    return number if number <= 2**53 else hex(number)


def write(folder, fields, table=None):
    folder.mkdir()
    if table is not None:
        (folder / form.TABLE).write_bytes(table)
        fields["table_sha256"] = hashlib.sha256(table).hexdigest()
    fields["sha256"] = form.digest(fields)
    (folder / form.NAME).write_text(form.canonical_json(fields) + "\n")
    return folder


def release(values, counts):
    return {
        "amplification": "5/1",
        "attacker": "row",
        "attributes": [{"counts": counts, "name": "a", "values": values}],
        "class_counts": [len(counts), len(counts)],
        "class_name": "y",
        "classes": [["int", "0"], ["int", "1"]],
        "differing_rows": None,
        "differing_tuples": 0,
        "equivalence": "interval",
        "format": 1,
        "gauge": True,
        "identity": False,
        "kind": "release",
        "method": "safetytransform",
        "notes": list(form.release_notes(False, True)),
        "preserve": "order",
        "tuples": len(values),
        "version": "0.1.0",
        "warnings": [],
    }


def integers(number):
    return [[str(i), ["int", str(i)]] for i in range(number)]


def both(folder, capsys):
    """The exit codes of the script and of the library, and what the script printed."""
    capsys.readouterr()
    code = form.main([str(folder)])
    return code, verify(folder).exit_code, capsys.readouterr().out


def test_intervals_that_share_their_hash_are_told_apart_by_their_texts(tmp_path, capsys, monkeypatch):
    n = 300
    ends = [place * MODULUS + 1 for place in range(1, n + 1)]
    values = [["interval", f"{hex(end)}/1", f"{hex(end + 1)}/1"] for end in ends]
    assert len({hash(Fraction(end)) for end in ends}) == 1
    folder = write(tmp_path / "folder", release(values, [[1, 1]] * n))
    compared, before = 0, Fraction.__eq__

    def counting(one, other):
        nonlocal compared
        compared += 1
        return before(one, other)

    monkeypatch.setattr(Fraction, "__eq__", counting)
    code, again, _ = both(folder, capsys)
    assert (code, again) == (0, 0)
    assert compared < 40 * n  # each with each other would be 150 n


def test_intervals_are_equal_where_their_hashes_are():
    for one, other in (
        (Interval(1, 2), Interval("1.0", Fraction(2))),
        (Interval(None, "0.5"), Interval(None, Fraction(1, 2))),
    ):
        assert one == other
        assert hash(one) == hash(other)
    assert hash(Interval(0, 10**10_000)) != hash(Interval(0, 10**10_001))


def test_intervals_out_of_order_are_sorted_by_integers(tmp_path, capsys, monkeypatch):
    n, compared = 3_000, 0
    values = [["interval", f"{2 * i}/1000003", f"{2 * i + 1}/1000003"] for i in range(1, n + 1)]
    before = Fraction._richcmp

    def counting(one, other, sign):
        nonlocal compared
        compared += 1
        return before(one, other, sign)

    monkeypatch.setattr(Fraction, "_richcmp", counting)
    counts = [[1, 1]] * len(values)
    folder = write(tmp_path / "folder", release(random.Random(1).sample(values, len(values)), counts))
    code, again, printed = both(folder, capsys)
    assert (code, again) == (1, 1)
    assert "expected intervals in increasing order, got [" in printed
    assert compared < 12 * n  # in both verifiers; each sorting by fractions would take some 30 n
    monkeypatch.undo()
    folder = write(tmp_path / "another", release(values, counts))
    assert both(folder, capsys)[:2] == (0, 0)


def test_what_no_message_says_is_not_spelled(tmp_path, capsys, monkeypatch):
    n, spelled, encoders, encoded = 200, 0, 0, 0
    folder = write(tmp_path / "folder", release([typed for _, typed in integers(n)], [[1, 1]] * n))
    label, initial = form.label, json.JSONEncoder.__init__

    def labelling(typed):
        nonlocal spelled
        spelled += 1
        return label(typed)

    def making(self, **options):
        nonlocal encoders
        encoders += 1
        initial(self, **options)

    encode = form.ENCODER.encode

    def encoding(document):
        nonlocal encoded
        encoded += 1
        return encode(document)

    in_both(monkeypatch, "ENCODER.encode", encoding)
    in_both(monkeypatch, "label", labelling)
    monkeypatch.setattr(json.JSONEncoder, "__init__", making)
    assert both(folder, capsys)[:2] == (0, 0)
    assert spelled + encoders + encoded < n


def test_counts_that_share_their_hash_are_not_compared_with_each_other(asked):
    n = 300
    large = [2**60 + place for place in range(n)]
    above, below = ([Counted(place * MODULUS + one) for place in large] for one in (1, 2))
    assert len(set(zip(map(hash, above), map(hash, below), strict=True))) == 1
    x, y = form._largest(above, below)
    assert Fraction(int(x), int(y)) == max(map(Fraction, map(int, above), map(int, below)))
    logs = form.Logs(SimpleNamespace(), 8)
    for number in above:
        logs.below(number)
    more = FixedLogs()
    for number in below:
        more.log(number, 32)
    assert asked() < 10 * n


def colliding(number, least):
    """(c, N) with N < c that Python gives one hash as tuples: lane by lane, backwards from the hash."""
    bits, whole = 64, (1 << 64) - 1
    prime, other, start = 11400714785074694791, 14029467366897019727, 2870177450012600261

    def turned(x, by):
        return (x << by | x >> (bits - by)) & whole

    wanted = turned(4711 * pow(prime, -1, 1 << bits) & whole, bits - 31)
    inverse, found, c = pow(other, -1, 1 << bits), [], least
    while len(found) < number:
        after = turned((start + c * other) & whole, 31) * prime & whole
        n = (wanted - after) * inverse & whole
        if n < c:
            found.append((c, n))
        c += 1
    return found


@pytest.mark.skipif(sys.maxsize < 2**32, reason="hashes have 32 bits here")
def test_groups_whose_counts_share_their_hash_are_not_compared_with_each_other(asked):
    pairs = colliding(100, 3 << 51)
    assert len({hash(pair) for pair in pairs}) == 1  # of CPython 3.8 and later
    groups = [{0: Counted(c), 1: n} for c, n in pairs]
    assert sum(c + n for c, n in pairs) < form.MOST_PEOPLE
    form.GroupExtremes(groups, 0)
    assert asked() < 25 * len(pairs)  # each with each other would be 50, and as many again for every look-up


def test_groups_that_others_outdo_are_left_out():
    def outdone(one, other):
        return other[0] >= one[0] and all(map(int.__le__, other[1:], one[1:]))

    rng = random.Random(1)
    for size, worst in ((2, form._smallest), (3, form._worst)):
        for _ in range(500):
            most = rng.choice([3, 10, 50])
            entries = [tuple(rng.randint(1, most) for _ in range(size)) for _ in range(rng.randint(1, 40))]
            expected = {
                one for one in entries if not any(outdone(one, other) for other in entries if other != one)
            }
            found = worst(entries)
            assert (len(found), {*found}) == (len(expected), expected)


def test_points_with_many_pieces_of_knowledge_are_counted_for_more():
    """Products of 60 factors take ten times as long as those of none."""
    groups = {}
    for g in range(1_000):  # of which none outdoes another
        groups[g, 0], groups[g, 1] = 2 * 10**4 + g, 10**4 + 2 * g
    document = SimpleNamespace(
        k=None,
        diversity=None,
        closeness=None,
        sensitive="s",
        values=[0, 1],
        rows=0,
        groups=0,
        fields={"warnings": []},
    )
    decided = []
    for m in (0, 60):
        document.points = [(0, 0, m, Fraction(1, 10))] * 400
        text = [text for _, holds, text in form.judge_partition(document, groups) if holds is None]
        assert {*text} <= {form.TOO_MANY}
        decided.append(400 - len(text))
    assert 1 <= decided[1] <= decided[0] / 4


def test_factors_above_and_below_cancel():
    document = SimpleNamespace(class_counts=[6, 6])
    odds = form._Odds(document, 0, 1, [(6, 4), (5, 3), (3, 5), (3, 7), (9, 7)])
    up, down = odds.factors
    assert not up & down
    assert odds.above(Fraction(81, 98) - Fraction(1, 1000))
    assert not odds.above(Fraction(81, 98))


def test_a_domain_beyond_what_is_listed_is_not_divided_attribute_by_attribute(asked):
    attributes = [(f"a{i}", [("int", 0), ("int", 1), ("int", 2)], [[1, 1]] * 3) for i in range(500)]
    document = SimpleNamespace(
        classes=[("int", 0), ("int", 1)],
        canonical={"listed": None},
        tuples=Counted(3**500),
        attributes=attributes,
        sharing=1,
    )
    ((name, holds, _),) = form.scorecard(document)
    assert (name, holds) == ("scorecard", None)
    assert asked() < 50


def disclosure(quasi, rows, values=(0, 1)):
    """Limits for both values of each group that one of so many columns makes; its fields, and its table."""
    names = [f"q{i}" for i in range(quasi)]
    table = ",".join([*names, "s"]) + "\n"
    table += "".join(",".join([str(i)] * quasi + [str(s)]) + "\n" for i in range(rows) for s in values)
    templates = [
        {"attribute": "s", "confidence": "1/2", "limit": "2/3", "quasi": [name], "value": ["int", str(s)]}
        for name in names
        for s in values
    ]
    fields = {
        "columns": [
            *({"cells": integers(rows), "name": name} for name in names),
            {"cells": [[str(s), ["int", str(s)]] for s in values], "name": "s"},
        ],
        "format": 1,
        "kind": "disclosure",
        "masked": names,
        "method": "top-down disclosure",
        "notes": [form.DISCLOSURE],
        "order": "canonical",
        "rows": 2 * rows,
        "seeded": False,
        "target": None,
        "templates": templates,
        "utility": "information",
        "version": "0.1.0",
        "warnings": [],
        "weights": None,
    }
    return fields, table.encode()


def test_templates_are_told_apart_by_their_texts(tmp_path, capsys):
    """Two values share their hash, and one inference with two limits is one, in whatever order it is."""
    assert hash(MODULUS) == hash(0)
    fields, table = disclosure(20, 20, values=(0, MODULUS))
    assert both(write(tmp_path / "folder", fields, table), capsys)[:2] == (0, 0)
    first = fields["templates"][0]
    for name, quasi in (("again", ["q0", "q1"]), ("reversed", ["q1", "q0"])):
        one, other = {**first, "quasi": ["q0", "q1"]}, {**first, "quasi": quasi, "limit": "3/5"}
        code, again, printed = both(
            write(tmp_path / name, {**fields, "templates": [*fields["templates"], one, other]}, table), capsys
        )
        assert (code, again) == (1, 1)
        assert "expected one limit for each inference, got one twice" in printed


def test_a_domain_of_more_than_4300_digits_is_left_open():
    """Python refuses to print such integers."""
    with pytest.raises(Infeasible, match=r"the domain has about 2\^15849 tuples"):
        halves([3] * 10_000)


SHORTENED = """
import numpy as np
from nbcfast import _disclose

codes = np.zeros(20_000_000, np.uint32)

class Weights:
    def __len__(self):
        codes.resize(1, refcheck=False)
        return 20_000_000

try:
    _disclose.distinct([codes], [np.zeros(2, np.uint64)], 0, 20_000_000, Weights(), 1)
except ValueError as error:
    print(error)
"""


def test_codes_that_are_cut_short_in_the_call_are_refused():
    done = subprocess.run([sys.executable, "-c", SHORTENED], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert "expected 20000000 codes each, got 1 by now" in done.stdout


def partition(closeness, groups):
    """A partition of groups of people, and how many in each have which value; its fields, and its table."""
    values = 1 + max(value for group in groups for value in group)
    table = "q,s\n" + "".join(
        f"{place},{value}\n" * count
        for place, group in enumerate(groups)
        for value, count in sorted(group.items())
    )
    alike = [sum(group.values()) for group in groups if len(group) == 1]
    certain = (len(alike), len(groups), sum(alike))
    warnings = form.partition_warnings(None, None, (Fraction(closeness), "ordered"), "s", certain)
    fields = {
        "closeness": [closeness, "ordered"],
        "columns": [{"cells": [[text, [typed]] for text, typed in integers(len(groups))], "name": "q"}],
        "diversity": None,
        "format": 1,
        "groups": len(groups),
        "k": None,
        "kind": "partition",
        "method": "mondrian",
        "notes": [form.WITHIN_GROUPS],
        "order": "canonical",
        "points": [],
        "rows": sum(sum(group.values()) for group in groups),
        "seeded": False,
        "sensitive": {"name": "s", "values": [[text, [typed]] for text, typed in integers(values)]},
        "version": "0.1.0",
        "warnings": list(warnings),
        "weights": None,
    }
    return fields, table.encode()


def test_ordered_distances_of_many_groups_and_values_are_decided(tmp_path, capsys):
    """Group by group and value by value they would take 25 million steps."""
    folder = write(tmp_path / "folder", *partition("1/2", [{value: 1} for value in range(5_000)]))
    code, again, printed = both(folder, capsys)
    assert (code, again) == (0, 0)
    assert "closeness      t = 1/2 <= 1/2, ordered distances" in printed


def test_ordered_distances_are_the_sums_of_all_differences():
    rng = random.Random(1)
    for _ in range(500):
        values, most = rng.randint(1, 8), rng.choice([1, 3, 50, 2**40])
        groups = [
            {value: rng.randint(1, most) for value in rng.sample(range(values), rng.randint(1, values))}
            for _ in range(rng.randint(1, 6))
        ]
        totals = [sum(group.get(value, 0) for group in groups) for value in range(values)]
        present = [value for value in range(values) if totals[value]]
        furthest = Fraction(0)
        for group in groups:
            apart = running = Fraction(0)
            for value in present:
                running += Fraction(group.get(value, 0), sum(group.values()))
                running -= Fraction(totals[value], sum(totals))
                apart += abs(running)
            furthest = max(furthest, apart / max(len(present) - 1, 1))
        assert form._close(groups, values, furthest, "ordered")[0]
        assert not form._close(groups, values, furthest - Fraction(1, 10**100), "ordered")[0]


@pytest.mark.parametrize(("most", "decided"), [(1600, 20), (0, form.SOME_TIMES)])
def test_templates_beyond_counted_work_are_not_decided(tmp_path, capsys, monkeypatch, most, decided):
    folder = write(tmp_path / "folder", *disclosure(20, 20))
    assert both(folder, capsys)[0] == 0
    in_both(monkeypatch, "MOST_MATCHED", most)  # for each, its known column and another of 40 rows
    code, again, printed = both(folder, capsys)
    assert (code, again) == (3, 3)
    left = [check.name for check in verify(folder).checks if check.passed is None]
    assert left == [f"template {number}" for number in range(decided + 1, 41)]
    assert printed.count(form.TOO_MANY) == len(left)
    with pytest.raises(ValueError, match=f"template {decided + 1}: .*{form.TOO_MANY}"):
        load(folder)


def test_few_swaps_of_classes_are_tried_in_a_large_file_that_was_changed(tmp_path, capsys, monkeypatch):
    fields = release(integers(1)[0][1:], [[3, 3]])
    folder = write(tmp_path / "folder", {**fields, "class_counts": [3, 3], "amplification": "6/1"})
    fields = json.loads((folder / form.NAME).read_text())
    fields["classes"].reverse()
    (folder / form.NAME).write_text(form.canonical_json(fields) + "\n")
    assert "the classes 1 and 0 are swapped" in both(folder, capsys)[2]
    in_both(monkeypatch, "GUESSED_BYTES", 0)
    code, again, printed = both(folder, capsys)
    assert (code, again) == (1, 1)
    assert "a digit, name or label is not what it was" in printed


def test_a_cut_is_no_longer_than_the_middle_of_two_numbers():
    """Zeros before and behind its digits do not count, as doubles have hundreds; its text has an end too."""
    document = SimpleNamespace(declared={"a": [("int", 0), ("int", 1)]})
    zeros = form.LONGEST_POINT - 38
    for point, refusal in (
        ("1" * 38 + "0" * zeros, None),
        ("-" + "1" * 38 + "0" * (zeros - 1), None),
        (f"1/2{'0' * 300}", None),
        (f"{'3' * 38}/1{'0' * 400}", None),
        ("1" * 38 + "0" * (zeros + 1), "expected a number as text of 'a'"),
        ("1" * 39, "beyond what a limit may carry: the point of 'a', expected up to 38 digits besides zeros"),
        ("1" + "0" * 37 + "1", "beyond what a limit may carry"),
        (f"{'3' * 39}/1{'0' * 400}", "beyond what a limit may carry"),
        (f"1/{'9' * 38}7", "beyond what a limit may carry"),
        (f"0.{'1' * 39}", "beyond what a limit may carry"),
    ):
        cuts = {"a": {"point": point, "values": []}}
        if refusal is None:
            form.DisguisedDocument._check_cuts(document, cuts)
        else:
            with pytest.raises(form.Refused, match=refusal):
                form.DisguisedDocument._check_cuts(document, cuts)


FAR = [
    5e-324,
    1.2345678901234567e-300,
    0.1,
    0.5,
    1.0,
    1.0000000000000002,
    9.87e17,
    1.7976931348623157e308,
]


@pytest.mark.parametrize("at", ["midrange", "median"])
def test_every_cut_that_the_library_makes_is_saved(tmp_path, capsys, at):
    """However far the numbers are from each other, and as the exact middle would cut them."""
    scheme = response.Scheme.per_attribute("0.8", ["a"])
    signed = [*FAR, 0.0, *(-number for number in FAR)]
    for number, (low, high) in enumerate(itertools.combinations(sorted(signed), 2)):
        if number % 5 and 0.5 not in (abs(low), abs(high)):
            continue
        points = response.cuts({"a": [low, high]}, at=at)
        if at == "midrange":
            middle = (Fraction(repr(low)) + Fraction(repr(high))) / 2
            assert points["a"].point <= middle
            assert middle - points["a"].point < abs(middle) / 10**37 or middle == points["a"].point
            near = float(middle)
            others = [*signed, near, math.nextafter(near, -math.inf), math.nextafter(near, math.inf)]
            others = [one for one in others if math.isfinite(one)]
            ones = response.binarise({"a": others}, points).column("a")
            values = [ones.domain.values[code] for code in ones.codes]
            assert values == [int(Fraction(repr(one)) > middle) for one in others]
        told = response.disguise(response.binarise({"a": [low, high]}, points), scheme)
        told.save(tmp_path / f"{number}", cuts=points)
        if number % 10 == 0:
            assert both(tmp_path / f"{number}", capsys)[:2] == (0, 0)
