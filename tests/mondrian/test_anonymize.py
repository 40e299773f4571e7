"""`anonymize` and what it publishes: demands, hierarchies, files, disk, measures, the deFinetti attack."""

import hashlib
import json
import math
import os
import pickle
import subprocess
import sys
import unicodedata
from fractions import Fraction

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

import nbcfast
from nbcfast import Infeasible, Interval, Table, skyline, verify_release
from nbcfast.attack.definetti import definetti
from nbcfast.mondrian import anonymize, ondisk
from nbcfast.mondrian.demands import Demands
from nbcfast.mondrian.hierarchy import tree_of
from nbcfast.mondrian.quasi import describe, element
from nbcfast.published import table_lines as tables
from nbcfast.published.dataset import _field
from nbcfast.published.table_lines import write_csv
from nbcfast.skyline import find
from nbcfast.table.domain import Domain

JOBS = {
    "outdoor": ["farmer", "fisher"],
    "indoor": {"office": ["clerk", "lawyer"], "shop": ["baker", "butcher"]},
}
POINTS = [(1, 2, 2, "19/20"), (0, 3, 1, 0.9)]


def people(n=3000, seed=0, weights=False):
    rng = np.random.default_rng(seed)
    jobs = np.array(["baker", "butcher", "clerk", "farmer", "fisher", "lawyer"])
    ill = np.array(["cold", "flu", 'the "gout"', "measles, or so", "none"])
    columns = {
        "age": rng.integers(17, 90, n),
        "job": jobs[rng.integers(0, 6, n)],
        "hours": np.round(rng.normal(40, 10, n), 1),
        "ill": ill[rng.choice(5, n, p=[0.3, 0.2, 0.2, 0.2, 0.1])],
        "name": np.arange(n),
    }
    return Table(columns, weights=rng.integers(1, 4, n) if weights else None)


@pytest.fixture(scope="module")
def partition():
    return anonymize(
        people(),
        ["age", "job", "hours"],
        "ill",
        POINTS,
        k=5,
        diversity=(4, 3),
        closeness=0.5,
        hierarchies={"job": JOBS},
    )


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
    again = anonymize(
        table.take(order, keep_domains=True),
        ["age", "job", "hours"],
        "ill",
        POINTS,
        k=5,
        diversity=(4, 3),
        closeness=0.5,
        hierarchies={"job": JOBS},
    )
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


# --- cells


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ("null", '"null"'),
        ("", '""'),
        ("a b", "a b"),
        (" a", '" a"'),
        ("a, b", '"a, b"'),
        ("{a}", '"{a}"'),
        ("[1, 2)", '"[1, 2)"'),
        ("a .. b", '"a .. b"'),
        ('say "x"', '"say \\"x\\""'),
        ("line\nbreak", '"line\\nbreak"'),
        ("ü", "ü"),
        (3, "3"),
        (2.5, "2.5"),
        (True, "True"),
        (nbcfast.SUPPRESSED, "suppressed"),
    ],
)
def test_texts_of_values(value, text):
    assert element(value) == text


def cells(values, spans, hierarchy=None):
    domain = Domain.sorted(values)
    one = describe("x", domain, np.ones(len(domain)), hierarchy)
    return [one.cell(lo, hi).text for lo, hi in spans]


def test_cells_of_numbers_are_intervals_up_to_the_next_number():
    assert cells([1, 5, 9], [(0, 0), (1, 1), (1, 2), (0, 2)]) == [
        "(-inf, 5)",
        "[5, 9)",
        "[5, inf)",
        "(-inf, inf)",
    ]
    assert cells([0.1, 0.3], [(1, 1)]) == ["[0.3, inf)"]
    assert cells([1, 5, None], [(2, 2), (1, 2), (0, 1)]) == ["null", "{[5, inf), null}", "(-inf, inf)"]
    bins = [Interval(0, 10), Interval(10, 30), Interval(30, None)]
    assert cells(bins, [(0, 1), (1, 2)]) == ["[0, 30)", "[10, inf)"]


def test_cells_of_intervals_that_overlap_hold_all_of_them():
    table = Table({"x": [Interval(0, 10), Interval(0, 20), Interval(5, 10)] * 2, "ill": list("abcabc")})
    found = anonymize(table, ["x"], "ill", k=6)
    assert [cell.text for cell in found.cells["x"]] == ["[0, 20)"]
    assert found.boxes.domain("x") == (Interval(0, 20),)
    table = Table({"x": [Interval(0, None), Interval(2, 4)] * 2, "ill": list("abab")})
    assert anonymize(table, ["x"], "ill", k=4).boxes.domain("x") == (Interval(0, None),)


def test_cells_with_one_text_for_two_sets_are_refused(tmp_path):
    one = describe(
        "x", Domain("interval", [Interval(0, 30), Interval(5, 20), Interval(6, 20)], (), True), np.ones(3)
    )
    lo, hi = np.array([0, 0], np.uint32), np.array([1, 2], np.uint32)
    with pytest.raises(ValueError, match=r"column 'x': two different sets of its values .* as '\[0, 30\)'"):
        one.generalised(lo, hi)
    assert one.generalised(lo[:1], hi[:1])[2][0].text == "[0, 30)"


def test_cells_of_values_are_sets_or_ranges():
    letters = list("abcdefgh")
    assert cells(letters, [(0, 0), (1, 3), (0, 7)]) == ["a", "{b, c, d}", "{a .. h}"]
    assert cells(["a", None], [(0, 1), (1, 1)]) == ["{a, null}", "null"]
    assert cells([True, False], [(0, 1)]) == ["{False, True}"]


def test_a_declared_order_decides_for_values_and_not_for_numbers():
    rows = {"size": ["S", "M", "L", "XL"] * 3, "n": [3, 1, 2, 4] * 3, "ill": list("xyz") * 4}
    table = Table(rows, domains={"size": ["S", "M", "L", "XL"], "n": [4, 3, 2, 1]})
    by_size = anonymize(table, ["size"], "ill", k=6)
    assert by_size.boxes.domain("size") == ("{S, M}", "{L, XL}")
    assert anonymize(table, ["n"], "ill", k=6).boxes.domain("n") == (Interval(None, 3), Interval(3, None))


def test_numbers_without_an_end_are_refused():
    with pytest.raises(ValueError, match="column 'x': expected finite numbers, got inf"):
        anonymize({"x": [1.0, math.inf], "ill": [0, 1]}, ["x"], "ill", k=1)


# --- hierarchies


def test_a_mapping_and_its_file_are_the_same_hierarchy(tmp_path):
    table = people()
    lines = ["farmer;outdoor;*", "fisher;outdoor;*", "clerk;office;indoor;*", "lawyer;office;indoor;*"]
    lines += ["baker;shop;indoor;*", "butcher;shop;indoor;*", "sailor;at sea;outdoor;*"]
    (tmp_path / "jobs.csv").write_text("\n".join(lines), encoding="utf-8")
    by_mapping = anonymize(table, ["job", "age"], "ill", k=40, hierarchies={"job": JOBS})
    by_file = anonymize(table, ["job", "age"], "ill", k=40, hierarchies={"job": tmp_path / "jobs.csv"})
    assert by_file.certificate == by_mapping.certificate
    coarse = anonymize(table, ["job"], "ill", k=700, hierarchies={"job": JOBS})
    assert coarse.boxes.domain("job") == ("outdoor", "office", "shop")
    # Three ways apart at once: a set is split into all its parts.
    flat = {"all jobs": sorted(set(table.domain("job")))}
    assert anonymize(table, ["job"], "ill", k=400, hierarchies={"job": flat}).n_groups == 6
    assert anonymize(table, ["job"], "ill", k=600, hierarchies={"job": flat}).n_groups == 1


def test_a_set_with_one_part_is_that_part():
    domain = Domain.sorted(["a", "b", "c"])
    tree = tree_of({"all": {"one": ["a"], "two": {"three": ["b", "c"]}}, "none of these": ["z"]}, domain, "x")
    assert tree.order == [0, 1, 2]
    assert tree.nodes.tolist() == [[0, 2, 1, 2], [0, 0, 0, 0], [1, 2, 3, 2], [1, 1, 0, 0], [2, 2, 0, 0]]
    assert tree.labels == {(0, 2): "all", (1, 2): "three"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"s": ["a"]}, "the value 'b' has no place in the hierarchy"),
        ({"s": ["a", "b"], "t": ["a"]}, "the value 'a' has two places in the hierarchy"),
        ({"s": {"s": ["a", "b"]}, "t": {"s": ["c", None]}}, "the name 's' stands for two different sets"),
        ({"s": ["a", "b"], "c": [None, "c"]}, "'c' is the name of a set and of a value"),
        ({"s": "ab"}, "'s' must have a mapping or a sequence of values, got 'ab'"),
        (["a"], "expected a mapping or the path of a CSV file, got list"),
    ],
)
def test_hierarchies_that_are_none(given, message):
    table = {"x": ["a", "b", "c", None], "ill": list("xyxy")}
    with pytest.raises((TypeError, ValueError), match=message):
        anonymize(table, ["x"], "ill", k=1, hierarchies={"x": given})


def test_sets_that_are_nested_too_deeply():
    given = {"a": None, "b": None}
    for depth in range(5000):
        given = {f"set {depth}": given, f"v{depth}": None}
    values = ["a", "b", *(f"v{depth}" for depth in range(5000))]
    with pytest.raises(ValueError, match="hierarchies: column 'x': sets are nested too deeply"):
        anonymize({"x": values, "ill": values}, ["x"], "ill", k=1, hierarchies={"x": given})


def test_a_value_that_a_file_has_twice(tmp_path):
    (tmp_path / "x.csv").write_text("a;s\nb;s\na;t\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 3: the value 'a' stands there twice"):
        anonymize({"x": ["a", "b"], "ill": [0, 1]}, ["x"], "ill", k=1, hierarchies={"x": tmp_path / "x.csv"})


def test_numbers_and_nulls_have_places_too(tmp_path):
    (tmp_path / "x.csv").write_text("1;low;*\n2;low;*\n9;high;*\n;high;*\n", encoding="utf-8")
    table = Table({"x": [1, 2, 9, None] * 5, "ill": list("abcd") * 5})
    found = anonymize(table, ["x"], "ill", k=6, hierarchies={"x": tmp_path / "x.csv"})
    assert found.boxes.domain("x") == ("low", "high")
    assert [cell.values for cell in found.cells["x"]] == [(1, 2), (9, None)]


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
    if best is not None:
        assert refused.value.best == best
    else:
        assert refused.value.best["breach"] == 1
        assert refused.value.best["point"] == (1, 1, 0, Fraction(3, 4))


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


# --- files


@pytest.fixture
def saved(partition, tmp_path):
    partition.save(tmp_path / "out")
    return tmp_path / "out"


def test_a_saved_partition_verifies_and_loads(partition, saved):
    assert sorted(os.listdir(saved)) == ["certificate.json", "table.csv"]
    found = nbcfast.verify(saved)
    assert found.ok
    assert [check.name for check in found.checks] == [
        "file",
        "folder",
        "table",
        "words",
        "groups",
        "k",
        "diversity",
        "closeness",
        "(1, 2, 2)",
        "(0, 3, 1)",
    ]
    loaded = nbcfast.load(saved)
    assert loaded.group_ids is None
    assert loaded.certificate == partition.certificate == json.loads((saved / "certificate.json").read_text())
    assert loaded.table == partition.table
    assert loaded.skyline(0.95) == partition.skyline(0.95)
    assert loaded.utility().ncp is None
    assert loaded.utility().discernibility == partition.utility().discernibility
    assert found.partition.certificate == partition.certificate


def test_the_published_table_is_what_other_readers_read(partition, saved):
    read = pyarrow.csv.read_csv(saved / "table.csv")
    assert read.column_names == ["age", "job", "hours", "ill"]
    expected = partition.table.to_arrow()
    for name in read.column_names:
        assert read[name].to_pylist() == [str(value) for value in expected[name].to_pylist()]


def test_the_same_partition_gives_the_same_bytes(partition, saved, tmp_path):
    partition.save(tmp_path / "again")
    for name in ("certificate.json", "table.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (saved / name).read_bytes()
    text = (saved / "certificate.json").read_text()
    assert str(tmp_path) not in text


@pytest.mark.parametrize("order", ["canonical", "shuffled"])
@pytest.mark.parametrize("weights", [None, "people"])
def test_every_way_to_write_the_table_verifies(partition, tmp_path, order, weights):
    partition.save(tmp_path, order=order, weights=weights, parquet=True)
    assert nbcfast.verify(tmp_path).ok
    loaded = nbcfast.load(tmp_path)
    assert loaded.certificate == partition.certificate
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert len(lines) == 1 + (3000 if weights is None else len(partition.groups.counts))
    assert (lines[1:] == sorted(lines[1:])) <= (order == "canonical")
    copy = nbcfast.read_parquet(tmp_path / "table.parquet", weights=weights)
    assert int(copy.weights.sum()) == 3000 if weights else copy.n_rows == 3000


def test_shuffled_rows_stand_as_the_generator_says(partition, tmp_path):
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        partition.save(tmp_path / folder, order="shuffled", rng=np.random.default_rng(seed))
    a, b, c = ((tmp_path / folder / "table.csv").read_bytes() for folder in "abc")
    assert a == b != c
    assert json.loads((tmp_path / "a" / "certificate.json").read_text())["seeded"] is True


def test_a_script_of_the_standard_library_verifies(saved):
    def run():
        script = verify_release.__file__
        return subprocess.run([sys.executable, "-S", script, str(saved)], capture_output=True, text=True)

    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    assert "yes  (1, 2, 2)      safe: breach " in done.stdout
    (saved / "table.csv").unlink()
    done = run()
    assert done.returncode == 1
    assert "No such file" in done.stdout


def resigned(folder, change):
    """Change the certificate or the table, and put right all hashes."""
    fields = json.loads((folder / "certificate.json").read_text())
    lines = (folder / "table.csv").read_text().splitlines(keepends=True)
    lines = change(fields, lines) or lines
    (folder / "table.csv").write_text("".join(lines))
    fields["table_sha256"] = hashlib.sha256("".join(lines).encode()).hexdigest()
    fields["sha256"] = verify_release.digest(fields)
    (folder / "certificate.json").write_text(verify_release.canonical_json(fields) + "\n")


def failed(folder):
    """The names of the checks that fail, and the first text."""
    found = nbcfast.verify(folder)
    wrong = [check for check in found.checks if not check.passed]
    with pytest.raises(ValueError, match=r".*"):
        nbcfast.load(folder)
    return [check.name for check in wrong], wrong[0].text


def test_a_table_that_was_changed_is_found(saved):
    text = (saved / "table.csv").read_text()
    (saved / "table.csv").write_text(text.replace("cold", "flu", 1))
    assert failed(saved) == (["table"], "the sha256 of table.csv does not match: it was changed")
    (saved / "certificate.json").write_text(
        (saved / "certificate.json").read_text().replace('"k":5', '"k":4')
    )
    assert failed(saved)[0] == ["file"]


@pytest.mark.parametrize(
    ("change", "names", "text"),
    [
        (lambda f, _: f.update(k=50), ["k"], "< 50"),
        (lambda f, _: f.update(diversity=["1/2", 3]), ["diversity"], r"is not (1/2, 3)-diverse"),
        (lambda f, _: f.update(closeness=["1/10", "equal"]), ["closeness"], "> 1/10, equal distances"),
        (lambda f, _: f["points"][0].__setitem__(1, 9), ["(1, 9, 2)"], "unsafe"),
        (lambda f, _: f["points"][1].__setitem__(3, "3/5"), ["(0, 3, 1)"], "unsafe: breach "),
        (lambda f, _: f.update(rows=3001), ["groups"], "the certificate says 3001 in "),
        (lambda _, lines: [*lines, lines[-1]], ["groups"], "3001 people in "),
        (
            lambda _, lines: [lines[0], *lines[:0:-1]],
            ["table"],
            "is not in order: rows may stand as in the data",
        ),
        (
            lambda _, lines: [lines[0], lines[1].replace("(-inf", "(-in"), *lines[2:]],
            ["table"],
            "is no value of 'age'",
        ),
        (
            lambda _, lines: [lines[0], lines[1].strip() + ",1\n", *lines[2:]],
            ["table"],
            "has 5 fields, expected 4",
        ),
        (lambda _, lines: ["a" + lines[0], *lines[1:]], ["table"], "expected the columns"),
        (lambda _, lines: lines[:1], ["table"], "table.csv has no rows"),
    ],
)
def test_a_claim_that_does_not_hold_is_found_under_right_hashes(saved, change, names, text):
    resigned(saved, change)
    found, said = failed(saved)
    assert found == names
    assert text in said


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda f: f.update(kind="table"), "field 'kind': expected one of 'release'"),
        (lambda f: f.pop("k"), "field 'k' is missing"),
        (lambda f: f.update(x=1), "field 'x' is unknown"),
        (lambda f: f.update(k=-1), "field 'k': expected an integer"),
        (lambda f: f.update(order="as it was"), "field 'order': expected one of 'canonical', 'shuffled'"),
        (lambda f: f.update(points=[[1, 1, 1]]), r"field 'points': expected [l, k, m, confidence]"),
        (lambda f: f.update(points=[[1, 1, 1, "3/2"]]), "expected a confidence in (0, 1]"),
        (lambda f: f.update(diversity=["0/1", 2]), "field 'diversity': expected c, l > 0"),
        (lambda f: f.update(closeness=["1/2", "near"]), "field 'closeness': expected one of"),
        (
            lambda f: f.update(points=[], k=None, diversity=None, closeness=None),
            "expected a demand, got none",
        ),
        (lambda f: f["columns"][0].update(name="ill"), "expected distinct names of columns"),
        (lambda f: f["columns"][1]["cells"].append(f["columns"][1]["cells"][0]), "expected distinct texts"),
        (lambda f: f["columns"][1]["cells"][0].__setitem__(1, []), "got none"),
        (lambda f: f["sensitive"]["values"][0][1].append(["text", "y"]), "expected one value for each text"),
        (lambda f: f.update(seeded=1), "field 'seeded': expected true or false"),
        (lambda f: f.update(table_sha256="x"), "field 'table_sha256': expected 64 hexadecimal digits"),
        (lambda f: f.update(weights=3), "field 'weights': expected a text or null"),
        (lambda f: f.update(columns=[]), "field 'columns': expected a list"),
        (lambda f: f.update(notes="x"), "field 'notes': expected a list of texts"),
    ],
)
def test_each_field_is_checked(saved, change, text):
    path = saved / "certificate.json"
    fields = json.loads(path.read_text())
    change(fields)
    fields["sha256"] = verify_release.digest(fields)
    path.write_text(verify_release.canonical_json(fields) + "\n")
    with pytest.raises(verify_release.Refused) as refused:
        verify_release.parse_any(path.read_bytes())
    assert text in str(refused.value)


def test_parse_is_for_releases(saved):
    with pytest.raises(verify_release.Refused, match="expected 'release'"):
        verify_release.parse((saved / "certificate.json").read_bytes())
    with pytest.raises(TypeError, match="against is for releases: kind 'partition' is checked"):
        nbcfast.verify(saved, people())


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


def test_an_unsafe_partition_is_not_saved(partition, tmp_path):
    worse = type(partition)(
        partition.quasi,
        partition.sensitive,
        Demands.of([(3, 9, 9, 0.5)], None, None, None),
        None,
        None,
        partition._content,
    )
    with pytest.raises(ValueError, match=r"not saved: unsafe at \(3, 9, 9, 0.5\)"):
        worse.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_failed_save_leaves_nothing(partition, tmp_path, monkeypatch):
    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr("nbcfast.mondrian.wire._document", broken)
    with pytest.raises(OSError, match="disk full"):
        partition.save(tmp_path / "out", order="canonical")
    assert "certificate.json" not in (os.listdir(tmp_path / "out") if (tmp_path / "out").exists() else [])
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


@pytest.mark.parametrize(
    "part", ["published.table_lines._write_parquet", "mondrian.wire._document", "_core.files.os.link"]
)
def test_a_failed_save_leaves_what_was_there(partition, saved, tmp_path, monkeypatch, part):
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    other = anonymize(people(500, seed=1), ["age"], "ill", k=9)
    link, calls = os.link, []

    def broken(*arguments, **options):
        calls.append(arguments)
        if part != "_core.files.os.link" or len(calls) == 3:  # that of the certificate
            raise OSError("disk full")
        return link(*arguments, **options)

    for folder in (saved, tmp_path / "q" / "w" / "e"):
        calls.clear()
        with monkeypatch.context() as patched:
            patched.setattr(f"nbcfast.{part}", broken)
            with pytest.raises(OSError, match="disk full"):
                other.save(folder, parquet=True, overwrite=True)
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    assert nbcfast.load(saved).certificate == partition.certificate
    assert not (tmp_path / "q").exists()
    assert os.listdir(tmp_path) == ["out"]
    other.save(saved, parquet=True, overwrite=True)
    assert os.listdir(tmp_path) == ["out"]
    assert sorted(os.listdir(saved)) == ["certificate.json", "table.csv", "table.parquet"]
    assert nbcfast.load(saved).certificate == other.certificate


def test_every_python_spells_a_cell_alike():
    """Of characters that Unicode does not have yet, str.isprintable says no, and later yes."""
    known = [chr(place) for place in range(0x110000) if unicodedata.category(chr(place)) != "Cn"]
    unseen = [one for one in known if verify_release.UNSEEN.search(one)]
    assert unseen == [one for one in known if not one.isprintable()]
    new = chr(next(place for place in range(0x10000, 0x110000) if unicodedata.category(chr(place)) == "Cn"))
    assert not new.isprintable()
    for text in (new, "\u202e", "a\u200bb", "\U0001fae8"):
        expected = text if text in (new, "\U0001fae8") else json.dumps(text, ensure_ascii=False)
        assert element(text) == verify_release.element(("text", text)) == expected


@pytest.mark.parametrize("where", ["ill", "name"])
def test_zero_bytes_are_not_saved(tmp_path, where, capsys):
    """Python reads them in CSV from 3.11 on, and refuses the file before."""
    name = "a\0b" if where == "name" else "job"
    made = anonymize({name: ["a", "b"], "ill": ["c", "a\0b" if where == "ill" else "d"]}, [name], "ill", k=1)
    with pytest.raises(ValueError, match=r"has a zero byte, which table.csv cannot have: 'a\\x00b'"):
        made.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    anonymize({"job": ["a", "b"], "ill": ["c", "d"]}, ["job"], "ill", k=1).save(tmp_path / "out")
    (tmp_path / "out" / "table.csv").write_bytes(b"job,ill\na,c\nb,d\0\n")
    fields = json.loads((tmp_path / "out" / "certificate.json").read_text())
    fields["table_sha256"] = hashlib.sha256(b"job,ill\na,c\nb,d\0\n").hexdigest()
    fields["sensitive"]["values"][1] = ["d\0", [["text", "d\0"]]]
    fields["sha256"] = verify_release.digest(fields)
    (tmp_path / "out" / "certificate.json").write_text(verify_release.canonical_json(fields) + "\n")
    assert "table.csv: line contains NUL" in repr(nbcfast.verify(tmp_path / "out"))
    assert verify_release.main([str(tmp_path / "out")]) == 1
    assert "table.csv: line contains NUL" in capsys.readouterr().out


@pytest.mark.parametrize("where", ["quasi", "ill", "name"])
def test_texts_longer_than_readers_take_are_not_saved(tmp_path, where):
    long = "x" * (2**17 + 1)
    name = long if where == "name" else "job"
    table = Table(
        {name: ["a", long if where == "quasi" else "b"], "ill": ["c", long if where == "ill" else "d"]}
    )
    with pytest.raises(ValueError, match=r"has 131,0.. characters in table.csv, where readers take 131,072"):
        anonymize(table, [name], "ill", k=1).save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    found = anonymize({"job": ["a", long[1:]], "ill": ["c", long[1:]]}, ["job"], "ill", k=1)
    found.save(tmp_path / "out")
    assert nbcfast.load(tmp_path / "out").certificate == found.certificate


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([["x", [["text", "x"]]], ["y", [["text", "x"]]]], "expected distinct values"),
        ([["x", [["text", "x"]]], ["y", [["int", "3"]]]], "expected values of one kind, got int and text"),
    ],
)
def test_a_secret_value_has_one_text_and_one_kind(tmp_path, capsys, values, message):
    anonymize({"a": [1, 2], "ill": ["x", "y"]}, ["a"], "ill", [(0, 0, 0, 1)]).save(tmp_path)
    resigned(tmp_path, lambda fields, _: fields["sensitive"].update(values=values))
    assert verify_release.main([str(tmp_path)]) == 1
    assert message in capsys.readouterr().out
    assert not nbcfast.verify(tmp_path).ok
    with pytest.raises(ValueError, match=message):
        nbcfast.load(tmp_path)


def test_cells_of_the_same_values_are_refused(saved):
    def change(fields, _):
        cells = fields["columns"][0]["cells"]
        cells[1][1] = cells[0][1]

    resigned(saved, change)
    assert verify_release.main([str(saved)]) == 1
    assert not nbcfast.verify(saved).ok


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


def test_the_spelling_is_that_of_the_writer(tmp_path):
    texts = [
        "",
        " ",
        ",",
        '"',
        '""',
        "\n",
        "\r",
        "\r\n",
        "a b",
        "'",
        ";",
        "#",
        "\t",
        "\ufeff",
        "\x85",
        "\u2028",
        "*",
    ]
    assert [verify_release.field(text) for text in texts] == list(map(_field, texts))
    found = anonymize({'a"b': list(range(len(texts))), "ill": texts}, ['a"b'], "ill", k=2)
    found.save(tmp_path)
    assert nbcfast.verify(tmp_path).ok


def test_values_in_a_certificate_that_nobody_has_do_not_dilute_closeness(tmp_path):
    table = {"a": [1, 1, 2, 2], "ill": ["x", "x", "y", "y"]}
    anonymize(table, ["a"], "ill", k=2).save(tmp_path)

    def change(fields, _):
        fields["closeness"] = ["1/100", "ordered"]
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


def test_a_secret_null_beside_an_empty_text_is_refused_in_csv(tmp_path):
    found = anonymize({"x": [1, 2], "ill": [None, ""]}, ["x"], "ill", k=2)
    with pytest.raises(ValueError, match="CSV cannot tell the empty text from a null: put another value"):
        found.save(tmp_path / "out")


def test_nulls_and_suppressed_values_come_back(tmp_path):
    table = Table({"x": [1, None, 2, 3], "y": ["a", nbcfast.SUPPRESSED, "b", None], "ill": [None, 1, 2, 1]})
    found = anonymize(table, ["x", "y"], "ill", k=2)
    found.save(tmp_path)
    assert nbcfast.verify(tmp_path).ok
    assert nbcfast.load(tmp_path).certificate == found.certificate


# --- on disk


def on_disk(table, tmp_path, name, *arguments, limit, **demands):
    path = tmp_path / name
    if name.endswith(".parquet"):
        pyarrow.parquet.write_table(table.to_arrow(demands.get("weights")), path, row_group_size=777)
    else:
        pyarrow.csv.write_csv(table.to_arrow(demands.get("weights")), path)
    out = tmp_path / "out.parquet"
    return anonymize(path, *arguments, out=out, overwrite=True, memory_limit=limit, **demands)


@pytest.mark.parametrize("points", [[], POINTS])
@pytest.mark.parametrize("name", ["people.parquet", "people.csv"])
@pytest.mark.parametrize("weights", [None, "people"])
def test_on_disk_the_partition_is_the_same(tmp_path, monkeypatch, points, name, weights):
    monkeypatch.setattr(ondisk, "LEAST_ROWS", 16)
    monkeypatch.setattr(ondisk, "CHUNK", 1000)
    table = people(8000, weights=weights is not None)
    table = table.bin("hours", width=5).select(["age", "job", "ill"])
    given = (["age", "job"], "ill", points)
    demands = {"k": 5, "hierarchies": {"job": JOBS}}
    expected = anonymize(table, *given, **demands)
    if weights is not None:
        demands["weights"] = weights
    for limit in ("1GiB", 400_000, 600_000):
        for threads in (1, 2):
            found = on_disk(table, tmp_path, name, *given, limit=limit, threads=threads, **demands)
            assert found.certificate == expected.certificate
            assert np.array_equal(found._content.boxes, expected._content.boxes)
            assert found.utility() == expected.utility()
            assert found.group_ids is None
    written = nbcfast.read_parquet(found.path)
    assert written.n_rows == expected.n_rows
    texts = expected.table.to_arrow()
    for column in written.names:
        given_values = np.array(written.domain(column), object)[written.codes(column)]
        assert [str(value) for value in given_values] == [str(value) for value in texts[column].to_pylist()]
    assert sorted(os.listdir(tmp_path)) == sorted([name, "out.parquet"])


def test_on_disk_by_gain_and_with_nodes_that_end_large(tmp_path, monkeypatch):
    monkeypatch.setattr(ondisk, "LEAST_ROWS", 16)
    rng = np.random.default_rng(4)
    n = 6000
    # More than a buffer of rows are equal: a leaf that is never in memory.
    columns = {"x": np.where(rng.random(n) < 0.7, 3, rng.integers(0, 9, n)), "y": rng.integers(0, 2, n)}
    table = Table({**columns, "rich": rng.integers(0, 2, n), "ill": rng.integers(0, 4, n)})
    for points in ([], [(1, 1, 1, 0.9)]):
        given = (["x", "y"], "ill", points)
        expected = anonymize(table, *given, k=20, target="rich")
        found = on_disk(table, tmp_path, "x.parquet", *given, limit=120_000, k=20, target="rich")
        assert found.certificate == expected.certificate
        assert found.groups.sizes.max() > 60_000 // (4 * 16)


def test_on_disk_refusals(tmp_path, monkeypatch):
    table = people(6000)
    pyarrow.parquet.write_table(table.to_arrow(), tmp_path / "x.parquet")
    pyarrow.csv.write_csv(table.to_arrow(), tmp_path / "x.csv")
    given = {"out": tmp_path / "out.parquet", "k": 5}
    with pytest.raises(ValueError, match=r"memory_limit: 200000 bytes are too few .*; [0-9]+ are enough"):
        anonymize(tmp_path / "x.parquet", ["age", "hours"], "ill", memory_limit=200_000, **given)
    with pytest.raises(ValueError, match="expected a column of"):
        anonymize(tmp_path / "x.parquet", ["years"], "ill", **given)
    with pytest.raises(ValueError, match="csv: options are for CSV files"):
        anonymize(tmp_path / "x.parquet", ["age"], "ill", csv={"delimiter": ";"}, **given)
    with pytest.raises(ValueError, match=r"csv: expected options of delimiter, .*; got 'quote'"):
        anonymize(tmp_path / "x.csv", ["age"], "ill", csv={"quote": "'"}, **given)
    private = (tmp_path / "x.parquet").read_bytes()
    (tmp_path / "link.parquet").symlink_to(tmp_path / "x.parquet")
    for out in ("x.parquet", "link.parquet"):
        with pytest.raises(ValueError, match="out: expected another file than the private one"):
            anonymize(tmp_path / "x.parquet", ["age"], "ill", k=5, out=tmp_path / out)
    assert (tmp_path / "x.parquet").read_bytes() == private
    with pytest.raises(ValueError, match="weights: 'age' is also another column"):
        anonymize(tmp_path / "x.csv", ["age"], "ill", weights="age", **given)
    with pytest.raises(Infeasible, match="the whole table as one group"):
        anonymize(tmp_path / "x.csv", ["age"], "ill", out=tmp_path / "out.parquet", k=7000)
    with pytest.raises(FileNotFoundError):
        anonymize(tmp_path / "y.csv", ["age"], "ill", **given)
    (tmp_path / "empty.csv").write_text("age,ill\n")
    with pytest.raises(ValueError, match="no rows"):
        anonymize(tmp_path / "empty.csv", ["age"], "ill", **given)
    (tmp_path / "bad.parquet").write_bytes(b"no parquet")
    with pytest.raises(ValueError, match=r"bad\.parquet"):
        anonymize(tmp_path / "bad.parquet", ["age"], "ill", **given)
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".nbcfast")]


def test_csv_options_on_disk(tmp_path):
    lines = [f"{i % 9};0{i % 3};{'?' if i % 5 == 0 else 'abc'[i % 3]}" for i in range(600)]
    (tmp_path / "x.csv").write_text("\n".join(["x;y;ill", *lines]))
    options = {"delimiter": ";", "null_values": ["?"], "types": {"y": "text"}}
    table = nbcfast.read_csv(tmp_path / "x.csv", **options)
    found = anonymize(tmp_path / "x.csv", ["x", "y"], "ill", k=9, out=tmp_path / "out.parquet", csv=options)
    assert found.certificate == anonymize(table, ["x", "y"], "ill", k=9).certificate


def test_write_csv_gives_the_hash(partition, tmp_path):
    assert write_csv(partition.counted, tmp_path / "x.csv") == partition.certificate["table_sha256"]


# --- Adult


def adult(data, quasi):
    columns = [*quasi, "occupation"]
    return [
        nbcfast.read_csv(data / f"adult-{part}.csv", null_values=("?",)).drop_nulls().select(columns)
        for part in ("train", "test")
    ]


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


def test_adult_against_the_definetti_attack(data):
    quasi = ["age", "education_num", "hours_per_week", "sex", "workclass"]
    train, test = adult(data, quasi)
    partition = anonymize(train, quasi, "occupation", [(1, 2, 1, 0.9)], k=8)
    found = definetti(train, partition.group_ids, "occupation", holdout=test)
    assert 0.2 < found.held_out < found.accuracy < 0.6
    assert found.gain == found.accuracy - found.held_out
    assert found.worst > 0.5
    # Who knew of each group only what is published of the whole would guess worse than who reads the groups.
    assert found.baseline > 0.2


# --- the deFinetti attack


def smokers(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    smokes = rng.random(n) < 0.5
    ill = np.where(smokes, rng.random(n) < 0.9, rng.random(n) < 0.1)
    return Table({"smokes": smokes, "ill": np.where(ill, "cancer", "flu")}), np.arange(n) // 4


def test_the_attack_learns_what_the_groups_together_say():
    table, ids = smokers()
    found = definetti(table, ids, "ill", holdout=smokers(seed=1)[0])
    assert found.accuracy > 0.88
    assert found.baseline < 0.72
    assert found.held_out == pytest.approx(0.9, abs=0.03)
    assert found.gain == found.accuracy - found.held_out
    assert found.worst < 1
    assert found.predicted.shape == found.confidence.shape == (2000,)
    assert repr(found).startswith("DeFinetti(accuracy 9")
    json.dumps(found.to_dict())


def test_the_attack_does_not_look_at_the_order_within_groups():
    table, ids = smokers(400)
    secrets = np.array(table.domain("ill"))[table.codes("ill")]
    order = np.concatenate([np.random.default_rng(g).permutation(4) + 4 * g for g in range(100)])
    mixed = Table({"smokes": np.array(table.domain("smokes"))[table.codes("smokes")], "ill": secrets[order]})
    one, two = definetti(table, ids, "ill"), definetti(mixed, ids, "ill", truth=secrets.tolist())
    assert np.array_equal(one.predicted, two.predicted)
    assert one.accuracy == two.accuracy


def test_the_attack_on_rows_that_tell_nothing_is_the_baseline():
    table = Table({"x": [nbcfast.SUPPRESSED] * 8, "ill": list("aaabbbbc")})
    found = definetti(table, [0] * 4 + [1] * 4, "ill")
    assert (found.accuracy, found.baseline, found.worst) == (0.75, 0.75, 0.75)
    certain = definetti(Table({"x": [1, 2], "ill": ["a", "a"]}), [0, 0], "ill")
    assert (certain.accuracy, certain.worst) == (1.0, 1.0)


def test_guesses_add_up_to_what_is_published():
    from nbcfast.attack.definetti import _Model, _positions

    table, ids = smokers(400)
    groups, n = _positions(ids, 400)
    model = _Model(table, ["smokes"], groups, n, table.codes("ill"), 2, np.ones(400))
    model.learn(5, None)
    sums = np.add.reduceat(model.probabilities * model.people[:, None], model.starts, axis=0)
    assert np.allclose(sums, model.histograms, atol=1e-3)
    assert np.allclose(model.probabilities.sum(axis=1), 1)


def test_weights_are_people_of_the_attack():
    table = Table({"x": [0, 1, 0], "ill": ["a", "b", "b"]}, weights=[3, 2, 1])
    plain = Table({"x": [0, 0, 0, 1, 1, 0], "ill": list("aaabbb")})
    one, two = definetti(table, [0, 0, 1], "ill"), definetti(plain, [0, 0, 0, 0, 0, 1], "ill")
    assert one.accuracy == pytest.approx(two.accuracy)
    assert one.baseline == pytest.approx(two.baseline)


def test_held_out_people_with_a_group():
    table, ids = smokers(400)
    others = Table({"smokes": [True, False], "ill": ["cancer", "flu"]})
    assert definetti(table, ids, "ill", holdout=(others, [0, -1])).held_out == 1.0
    unknown = Table({"smokes": ["perhaps"], "ill": ["cholera"]})
    ill = np.array(table.domain("ill"))[table.codes("ill")]
    said = Table({"smokes": np.array(["no", "yes"])[table.codes("smokes")], "ill": ill})
    assert definetti(said, ids, "ill", holdout=unknown).held_out == 0.0
    with pytest.raises(TypeError, match="'smokes' holds values of kind text, and the table of kind bool"):
        definetti(table, ids, "ill", holdout=unknown)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"group_ids": [0]}, r"group_ids: expected one for each of 3 rows, got shape \(1,\)"),
        ({"group_ids": [0.5] * 3}, "group_ids must be integers, got float64"),
        ({"sensitive": "z"}, "expected a column of"),
        ({"rounds": 0}, "rounds must be an int of at least 1, got 0"),
        ({"truth": ["a"]}, "truth: expected one value for each of 3 rows, got 1"),
        ({"holdout": {"x": [], "ill": []}}, "holdout: no rows"),
        ({"holdout": (1, 2, 3)}, r"holdout: expected a Table, or \(Table, group ids\), got a tuple of 3"),
        ({"holdout": ({"x": [1], "ill": ["a"]}, [0.5])}, "holdout: group ids must be integers, got float64"),
        ({"holdout": ({"x": [1], "ill": ["a"]}, ["0"])}, "holdout: group ids must be integers, got <U1"),
        ({"holdout": ({"x": [1], "ill": ["a"]}, [1, 2])}, r"holdout: expected a group for each of 1 rows"),
        ({"table": {"x": [], "ill": []}}, "no rows"),
    ],
)
def test_bad_input_of_the_attack(arguments, message):
    given = {"table": {"x": [1, 2, 3], "ill": list("aab")}, "group_ids": [0, 0, 0], "sensitive": "ill"}
    given |= arguments
    with pytest.raises((TypeError, ValueError), match=message):
        definetti(given.pop("table"), given.pop("group_ids"), given.pop("sensitive"), **given)


ORDERS = {
    "int": ([1, 5, 9], [9, 1, 5]),
    "float": ([-0.5, 1.5, 2.5], [1.5, -0.5, 2.5]),
    "interval": ([Interval(None, 1), Interval(1, 2), Interval(2, None)], None),
}


@pytest.mark.parametrize("kind", ORDERS)
@pytest.mark.parametrize("null", [False, True])
def test_ordered_distances_take_the_order_of_numbers(tmp_path, kind, null):
    rising, shuffled = ORDERS[kind]
    tail = [None] if null else []
    rows = {"a": [1, 1, 2, 2] * 3, "ill": ([*rising, *tail] * 12)[:12]}
    found = anonymize(rows, ["a"], "ill", k=2, closeness=(1, "ordered"))
    found.save(tmp_path)
    report = nbcfast.verify(tmp_path)
    (check,) = (check for check in report.checks if check.name == "closeness")
    assert report.ok
    assert report.claims == ()
    assert check.text.endswith("; a missing value is taken for the largest" if null else "ordered distances")
    if shuffled is not None:
        table = Table(rows, domains={"ill": [*shuffled, *tail]})
        with pytest.raises(
            ValueError, match=r"ordered distances: expected the values of 'ill' declared in ris"
        ):
            anonymize(table, ["a"], "ill", k=2, closeness=(1, "ordered"))
        assert anonymize(table, ["a"], "ill", k=2, closeness=1).n_rows == 12
        groups = skyline.group(table, ["a"], "ill")
        with pytest.raises(ValueError, match="declared in rising order"):
            groups.t(ordered=True)
        assert groups.t() == skyline.group(rows, ["a"], "ill").t()

    def change(fields, _):
        values = fields["sensitive"]["values"]
        values[0], values[1] = values[1], values[0]

    before = (tmp_path / "table.csv").read_text()
    resigned(tmp_path, change)
    assert (tmp_path / "table.csv").read_text() == before
    text = "expected intervals in increasing order" if kind == "interval" else "take the order of numbers"
    assert text in nbcfast.verify(tmp_path).checks[0].text
    assert verify_release.main([str(tmp_path)]) == 1
    with pytest.raises(ValueError, match=text):
        nbcfast.load(tmp_path)


def test_the_order_of_texts_is_said_to_be_a_claim(tmp_path, capsys):
    rows = {"a": [1, 1, 2, 2] * 3, "ill": ["low", "high", "mid"] * 4}
    table = Table(rows, domains={"ill": ["low", "mid", "high"]})
    anonymize(table, ["a"], "ill", k=2, closeness=(1, "ordered")).save(tmp_path)
    claim = "; the order of the values is the publisher's claim: low, mid, high"
    (check,) = (check for check in nbcfast.verify(tmp_path).checks if check.name == "closeness")
    assert nbcfast.verify(tmp_path).claims == ("The values of ill have this order: low, mid, high.",)
    assert check.passed
    assert check.text.endswith(claim)
    assert verify_release.main([str(tmp_path)]) == 0
    assert claim in capsys.readouterr().out
