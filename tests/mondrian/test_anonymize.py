"""`anonymize` in memory: what a partition is, its measures, what is refused, and the tables of the slides."""

import hashlib
import json
import math
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest
from partition_cases import POINTS, adult, failed, partition_of, people, resigned

import nbcfast
from nbcfast import Infeasible, Interval, Table, verify_release
from nbcfast.attack.definetti import definetti
from nbcfast.mondrian import anonymize
from nbcfast.published import table_lines as tables
from nbcfast.skyline import find

# --- the result


def test_the_result_says_what_it_is(partition):
    assert repr(partition) == (
        f"Partition({partition.n_groups} groups of 3,000 people by age, job, hours; ill: (1, 2, 2, 0.95); "
        "(0, 3, 1, 0.9); k = 5; (4, 3)-diversity; 0.5-closeness, equal distances)"
    )
    assert partition.safe
    assert all(report.safe for report in partition.check())
    assert partition.quasi == ("age", "job", "hours")
    assert not partition.group_ids.flags.writeable
    assert partition.to_dict()["groups"] == partition.n_groups > 50
    json.dumps(partition.to_dict())


def test_everybody_is_inside_the_box_of_the_group(partition):
    table = people()
    inside = {cell.text: set(cell.values) for cell in partition.cells["job"]}
    boxes = [partition.boxes.domain(name) for name in partition.quasi]
    codes = [partition.boxes.codes(name) for name in partition.quasi]
    values = [table.domain(name) for name in partition.quasi]
    own = [table.codes(name) for name in partition.quasi]
    for row, group in enumerate(partition.group_ids.tolist()):
        age, job, hours = (value[code[row]] for value, code in zip(values, own, strict=True))
        ages, jobs, spans = (box[code[group]] for box, code in zip(boxes, codes, strict=True))
        assert age in ages
        assert job in inside[jobs]
        assert hours in spans


def test_the_published_table_keeps_nothing_of_the_order_of_the_data(partition):
    table = people()
    order = np.random.default_rng(9).permutation(table.n_rows)
    again = partition_of(table.take(order, keep_domains=True))
    assert np.array_equal(again.group_ids, partition.group_ids[order])
    assert again.table == partition.table
    assert again.certificate == partition.certificate
    published = partition.table
    assert published.names == ("age", "job", "hours", "ill")
    assert published.n_rows == table.n_rows
    rows = list(zip(*(published.codes(name).tolist() for name in published.names), strict=True))
    assert rows == sorted(rows)
    assert published.collapse() == partition.counted


def test_blocks_of_the_published_table_are_the_table(partition):
    whole = nbcfast.concat(list(tables.repeated(partition.counted, rows=17)))
    assert whole == partition.table
    assert [block.n_rows for block in tables.repeated(partition.counted, rows=1000)] == [1000] * 3


def test_it_pickles(partition):
    again = pickle.loads(pickle.dumps(partition))
    assert again.certificate == partition.certificate
    assert np.array_equal(again.group_ids, partition.group_ids)


def test_measures_of_a_partition_counted_by_hand():
    # Ages 0, 10, 40 | 90, 100: the cut is before 90, whose interval is the next one's border.
    table = Table({"age": [0, 10, 40, 90, 100], "job": ["a", "b", "c", "c", "c"], "ill": list("xyxyx")})
    found = anonymize(table, ["age", "job"], "ill", k=2)
    assert found.groups.sizes.tolist() == [3, 2]
    assert found.boxes.domain("age") == (Interval(None, 90), Interval(90, None))
    assert found.boxes.domain("job") == ("{a, b, c}",)
    utility = found.utility()
    assert utility.discernibility == 9 + 4
    assert utility.average_size == Fraction(5, 2)
    # 40 of 100 for three people, 10 of 100 for two; all three jobs for everybody.
    assert utility.ncp_of["age"] == pytest.approx((3 * 0.4 + 2 * 0.1) / 5)
    assert utility.ncp_of["job"] == 1.0
    assert utility.ncp == pytest.approx((utility.ncp_of["age"] + 1) / 2)
    assert utility.kl["age"] == pytest.approx(0, abs=1e-12)
    spread = [1 / 3] * 3
    truth = [1 / 5, 1 / 5, 3 / 5]
    assert utility.kl["job"] == pytest.approx(
        sum(p * math.log(p / q) for p, q in zip(truth, spread, strict=True))
    )


def test_skyline_of_a_partition(partition):
    assert partition.skyline(0.95) == find(partition.groups, 0.95)
    with pytest.raises(ValueError, match="expected a number, because the points have 2"):
        partition.skyline()


def test_all_else_is_left_out(partition):
    assert "name" not in partition.table.names


def test_weights_are_people():
    table = people(400, weights=True)
    rows = np.repeat(np.arange(400), table.weights)
    plain = Table({name: np.array(table.domain(name))[table.codes(name)] for name in table.names})
    repeated = plain.take(rows, keep_domains=True)
    weighted = anonymize(table, ["age", "hours"], "ill", POINTS, k=6)
    single = anonymize(repeated, ["age", "hours"], "ill", POINTS, k=6)
    assert np.array_equal(weighted.group_ids[rows], single.group_ids)
    assert weighted.certificate == single.certificate
    assert weighted.utility() == single.utility()


def test_the_target_chooses_the_attribute_and_is_not_published():
    rng = np.random.default_rng(1)
    wide, telling = rng.integers(0, 100, 600), rng.integers(0, 100, 600)
    table = Table(
        {"wide": wide, "telling": telling, "rich": telling > 50, "ill": rng.integers(0, 5, 600)},
    )
    by_range = anonymize(table, ["wide", "telling"], "ill", k=200)
    by_gain = anonymize(table, ["wide", "telling"], "ill", k=200, target="rich")
    assert len(by_range.boxes.domain("wide")) == 2
    assert len(by_gain.boxes.domain("telling")) == 2
    assert by_gain.table.names == ("wide", "telling", "ill")


@pytest.mark.parametrize("points", [[], POINTS])
def test_progress_ends_with_all_rows(points):
    seen = []

    def report(done, total):
        seen.append((done, total))

    anonymize(people(), ["age", "job"], "ill", points, k=5, progress=report)
    assert seen[-1] == (3000, 3000)
    assert seen == sorted(seen)


def test_ctrl_c_is_answered_between_two_levels():
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        anonymize(people(), ["age", "job"], "ill", POINTS, threads=2, progress=interrupt)


# --- refusals


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "expected a demand: points, k, diversity or closeness; got none"),
        ({"k": 0}, "k must be at least 1, got 0"),
        ({"points": [(1, 1, 1, 0)]}, r"points\[0\]: confidence must be in \(0, 1\], got 0"),
        ({"points": [(1, -1, 1, 0.5)]}, r"points\[0\]: k must be at least 0, got -1"),
        ({"points": [(1, 1, 1, 1.5)]}, r"must be in \(0, 1\], got 1.5"),
        ({"diversity": (0, 2)}, "diversity: c must be positive, got 0"),
        ({"diversity": (2, 0)}, "diversity: l must be at least 1, got 0"),
        ({"diversity": 3}, r"diversity must be \(c, l\), got 3"),
        ({"closeness": -1}, "closeness must be at least 0, got -1"),
        ({"closeness": (0.1, "far")}, "must be 'equal' or 'ordered', got 'far'"),
        ({"k": 2, "quasi": []}, "quasi: expected at least one column, got none"),
        ({"k": 2, "quasi": "age"}, "quasi: expected a sequence of names, got the text 'age'"),
        ({"k": 2, "quasi": ["age", "age"]}, "quasi: expected distinct columns, got 'age' twice"),
        ({"k": 2, "quasi": ["age", "ill"]}, "sensitive: 'ill' is among the quasi-identifiers"),
        ({"k": 2, "quasi": ["years"]}, "expected a column of 'age', 'ill'; got 'years'"),
        ({"k": 2, "target": "rich"}, "expected a column of 'age', 'ill'; got 'rich'"),
        ({"k": 2, "hierarchies": {"ill": {}}}, "hierarchies: expected quasi-identifiers, got 'ill'"),
        ({"k": 2, "hierarchies": []}, "hierarchies must be a mapping of columns, got list"),
        ({"k": 2, "memory_limit": "1GiB"}, "memory_limit: only for the path of a file"),
        ({"k": 2, "table": Table({"age": [], "ill": []})}, "no rows"),
        ({"k": 2, "table": "people.csv"}, "out: a file is split on disk"),
        ({"k": 2, "table": "people.csv", "out": "x.csv"}, r"out must be a Parquet file \(.parquet or .pq\)"),
        (
            {"k": 2, "table": "people.csv", "out": "x.pq", "memory_limit": "much"},
            "memory_limit must be bytes",
        ),
        ({"k": 2, "threads": 0}, "threads must be at least 1, got 0"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    given = {"table": Table({"age": [1, 2], "ill": ["x", "y"]}), "quasi": ["age"], **arguments}
    with pytest.raises((TypeError, ValueError), match=message):
        anonymize(given.pop("table"), given.pop("quasi"), "ill", given.pop("points", ()), **given)


@pytest.mark.parametrize(
    ("demands", "message", "best"),
    [
        ({"k": 7}, "a group has 6 people, fewer than k = 7", {"k": 6}),
        ({"diversity": (1, 2)}, r"not \(1, 2\)-diverse: c must be above 1 for l = 2", {"c": Fraction(1)}),
        ({"diversity": (9, 4)}, "a group has fewer than 4 different values", {"c": math.inf}),
        ({"points": [(1, 1, 0, 0.75)]}, r"unsafe at \(1, 1, 0, 0.75\): breach 1; target in", None),
    ],
)
def test_an_unsafe_whole_is_infeasible_at_once(demands, message, best):
    table = Table({"age": [1, 2, 3, 4, 5, 6], "ill": list("aaabbc")})
    with pytest.raises(Infeasible, match=message) as refused:
        anonymize(table, ["age"], "ill", **demands)
    assert "the whole table as one group is unsafe, and no partition can be safer" in refused.value.why
    kept = refused.value.best.pop("demands")
    assert anonymize(table, ["age"], "ill", **arguments_of(kept)).n_groups >= 1
    if best is not None:
        assert refused.value.best == best
    else:
        assert kept.points[0][:3] == (0, 1, 0)  # what makes a value certain is asked against less knowledge
        assert refused.value.best["breach"] == 1
        assert refused.value.best["point"] == (1, 1, 0, Fraction(3, 4))


@pytest.mark.parametrize("seed", range(30))
def test_no_demand_on_the_values_is_left_out_of_what_is_kept(seed):
    draw = random.Random(seed)
    values = [draw.choice("aaabcd"[: draw.randint(1, 6)]) for _ in range(draw.randint(2, 30))]
    table = Table({"age": list(range(len(values))), "ill": values})
    points = [(draw.randint(0, 5), draw.randint(0, 40), draw.randint(0, 5), Fraction(1, 2)) for _ in range(2)]
    demands = {"points": points, "k": 2, "diversity": (1, draw.randint(1, 6))}
    try:
        anonymize(table, ["age"], "ill", **demands)
    except Infeasible as error:
        kept = error.best.get("demands")
        if kept is None:
            assert len({*values}) == 1
            return
        assert kept.points
        assert kept.diversity is not None
        assert kept.k == 2
        anonymize(table, ["age"], "ill", **arguments_of(kept))


def arguments_of(demands):
    return {name: getattr(demands, name) for name in ("points", "k", "diversity", "closeness")}


def test_one_group_one_value_and_more_knowledge_than_people():
    same = Table({"age": [1, 2, 3], "ill": ["flu"] * 3})
    assert anonymize(same, ["age"], "ill", k=1).n_groups == 3
    with pytest.raises(Infeasible, match="breach 1"):
        anonymize(same, ["age"], "ill", [(0, 0, 0, 1)])
    unlike = Table({"age": [1, 2, 3], "ill": list("abc")})
    with pytest.raises(Infeasible, match="breach 1"):
        anonymize(unlike, ["age"], "ill", [(0, 10**30, 0, 1)])
    with pytest.raises(Infeasible, match="breach 1"):
        anonymize(unlike, ["age"], "ill", [(10**30, 0, 10**30, 1)])
    assert anonymize(unlike, ["age"], "ill", [(0, 0, 0, 1)]).n_groups == 1
    alike = Table({"age": [7, 7, 7], "ill": list("abc")})
    assert anonymize(alike, ["age"], "ill", k=1).n_groups == 1


def test_more_people_than_numbers_hold_are_infeasible():
    for k in (2**61, 2**63, 10**30):
        with pytest.raises(Infeasible, match=f"a group has 2 people, fewer than k = {k}"):
            anonymize({"a": [1, 2], "ill": ["x", "y"]}, ["a"], "ill", k=k)


def test_the_name_of_the_column_of_weights_is_a_text(partition, tmp_path):
    with pytest.raises(TypeError, match="weights must be the name of a new column, got 3"):
        partition.save(tmp_path / "out", weights=3)
    assert not (tmp_path / "out").exists()


def test_an_attack_on_more_kinds_of_people_than_there_is_room_for():
    n = 6000
    table = Table({"x": list(range(n)), "ill": list(range(n))})
    with pytest.raises(ValueError, match="of 6,000 values for each of 6,000 kinds of people"):
        definetti(table, np.zeros(n, np.int64), "ill")


def test_more_people_than_there_can_be_are_refused(tmp_path):
    anonymize({"a": [1, 2], "ill": ["x", "y"]}, ["a"], "ill", k=1).save(tmp_path, weights="n")
    for number in (9999999999999999999, 2**63, 2**61 - 1):
        resigned(
            tmp_path, lambda _, lines, n=number: [lines[0], *(f"{line[:-2]}{n}\n" for line in lines[1:])]
        )
        assert verify_release.main([str(tmp_path)]) == 1
        names, said = failed(tmp_path)
        assert names == ["table"]
        assert "expected less than 2^61 people" in said
        resigned(
            tmp_path, lambda _, lines: [lines[0], *(line.rsplit(",", 1)[0] + ",1\n" for line in lines[1:])]
        )
    assert nbcfast.verify(tmp_path).ok


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"\n", b"\r\n", 1),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data[:-1],
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b",flu\n", b',"flu"\n', 1),
        lambda data: data.replace(b"age", b'"age"', 1),
    ],
)
@pytest.mark.parametrize("order", ["canonical", "shuffled"])
def test_a_table_has_one_spelling(partition, tmp_path, change, order):
    partition.save(tmp_path, order=order)
    data = (tmp_path / "table.csv").read_bytes()
    assert change(data) != data
    (tmp_path / "table.csv").write_bytes(change(data))
    fields = json.loads((tmp_path / "certificate.json").read_text())
    fields["table_sha256"] = hashlib.sha256(change(data)).hexdigest()
    fields["sha256"] = verify_release.digest(fields)
    (tmp_path / "certificate.json").write_text(verify_release.canonical_json(fields) + "\n")
    assert verify_release.main([str(tmp_path)]) == 1
    assert failed(tmp_path)[0] == ["table"]


def test_values_in_a_certificate_that_nobody_has_do_not_dilute_closeness(tmp_path):
    table = {"a": [1, 1, 2, 2], "ill": ["x", "x", "y", "y"]}
    anonymize(table, ["a"], "ill", k=2).save(tmp_path)
    close = anonymize(table, ["a"], "ill", k=2, closeness=("1/2", "ordered"))

    def change(fields, _):
        fields["closeness"] = ["1/100", "ordered"]
        fields["notes"] = list(close.certificate.notes)
        fields["sensitive"]["values"] += [[f"z{i}", [["text", f"z{i}"]]] for i in range(200)]

    resigned(tmp_path, change)
    assert verify_release.main([str(tmp_path)]) == 1
    names, said = failed(tmp_path)
    assert (names, said) == (["closeness"], "t = 1/2 > 1/100, ordered distances")


@pytest.mark.parametrize("t", ["0.05", "0.2", "0.3"])
def test_declared_values_that_nobody_has_change_no_partition(t):
    table = people(600)
    ill = table.domain("ill")
    wide = Table(
        {
            name: [table.domain(name)[code] for code in table.codes(name).tolist()]
            for name in ("age", "hours", "ill")
        },
        {"ill": ["aaa", *ill, *(f"z{i}" for i in range(50))]},
    )
    found = anonymize(wide, ["age", "hours"], "ill", [(1, 1, 1, 0.95)], k=3, closeness=(t, "ordered"))
    expected = anonymize(table, ["age", "hours"], "ill", [(1, 1, 1, 0.95)], k=3, closeness=(t, "ordered"))
    assert found.safe
    assert np.array_equal(found.group_ids, expected.group_ids)
    assert found.groups.histogram(0) == expected.groups.histogram(0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "as it was"}, "order must be 'canonical' or 'shuffled', got 'as it was'"),
        ({"rng": np.random.default_rng(0)}, "rng goes with order='shuffled'"),
        ({"weights": "ill"}, "weights: expected the name of a new column, got 'ill'"),
    ],
)
def test_options_of_save(partition, tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        partition.save(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_adult_as_on_the_slides(data):
    """(3, 6)-diverse groups of 45,222 people: the skyline at 0.95 has the shape of the published table."""
    quasi = ["age", "sex", "race", "education_num"]
    table = nbcfast.concat(adult(data, quasi))
    assert table.n_rows == 45_222
    partition = anonymize(table, quasi, "occupation", diversity=(3, 6))
    assert partition.groups.is_recursive_diverse(3, 6)
    assert partition.n_groups > 300
    skyline = partition.skyline(0.95)
    # A group of six values forces l + k <= 4; the first points lie on that bound, as on the slides.
    assert all(l + k <= 4 and (m == 0 or k + m <= 4) for l, k, m in skyline)
    assert {(0, 4, 0), (1, 3, 1), (2, 2, 2)} <= set(skyline)
    assert len(skyline) == 7
