"""Rows to groups: every way gives what plain Python gives."""

import pickle
from collections import Counter

import numpy as np
import pytest
from group_cases import as_dict
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import Table, _groups
from nbcfast._columns import Columns
from nbcfast._reading import distinct
from nbcfast._reading import pairs as module
from nbcfast.groups import Groups, group

METHODS = {"dense": _groups.DENSE, "radix": _groups.RADIX, "hash": _groups.HASH}
labels = st.sampled_from(["a", "b", None])
numbers = st.integers(-2, 2)
rows = st.lists(st.tuples(labels, numbers, st.sampled_from(["flu", "cold", None])), min_size=1, max_size=30)


def plain(columns, weights=None):
    """Of a list of columns, the last one sensitive."""
    found = {}
    for number, row in enumerate(zip(*columns, strict=True)):
        found.setdefault(row[:-1], Counter())[row[-1]] += 1 if weights is None else int(weights[number])
    return found


def pairs(codes, sizes, method, *, step=None, parts=1, weights=None):
    """The arrays of a Grouper over these columns, the work divided over several."""
    n_rows = len(codes[-1])
    held = Columns(list(codes), list(sizes), n_rows)
    groupers = [_groups.Grouper(held, method, weights) for _ in range(parts)]
    step = step or n_rows
    for turn, start in enumerate(range(0, n_rows, step)):
        assert groupers[turn % parts].add(start, min(start + step, n_rows)) == -1
    for other in groupers[1:]:
        groupers[0].absorb(other)
    return groupers[0].finish()


def drawn(n_rows, sizes, seed=0, dtype=np.uint8):
    rng = np.random.default_rng(seed)
    return [(size * rng.random(n_rows) ** 2).astype(dtype) for size in sizes]


@given(rows)
def test_groups_are_those_of_plain_python(records):
    ages, jobs, ills = (list(column) for column in zip(*records, strict=True))
    table = Table({"age": ages, "job": jobs, "ill": ills})
    found = group(table, ["age", "job"], "ill")
    expected = plain([ages, jobs, ills])
    assert as_dict(found) == expected
    assert as_dict(group(table, ["job", "age"], "ill")) == {
        key[::-1]: count for key, count in expected.items()
    }
    assert found.n_rows == len(records)
    assert found.sizes.tolist() == [sum(found.histogram(g).values()) for g in range(found.n_groups)]


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize(
    ("sizes", "dtype"),
    [
        ([3, 2, 4], np.uint8),
        ([1, 1], np.uint8),
        ([5], np.int64),
        ([70, 9, 5, 6], np.uint16),
        ([200, 3], np.int32),
        ([7, 1], np.uint32),
        ([2, 300], np.int16),
    ],
)
def test_all_methods_and_divisions_agree(method, sizes, dtype):
    codes = drawn(6_000, sizes, dtype=dtype)
    expected = plain(codes)
    for step, parts in [(None, 1), (1_000, 3), (1, 2), (4_096, 1)]:
        if step == 1:
            codes, expected = [column[:500] for column in codes], plain([column[:500] for column in codes])
        offsets, values, counts, group_sizes, keys = pairs(codes, sizes, method, step=step, parts=parts)
        assert (np.diff(keys.astype(np.int64)) > 0).all()
        found = {}
        for g, key in enumerate(keys.tolist()):
            label = []
            for size in sizes[-2::-1]:
                key, code = divmod(key, size)
                label.append(code)
            part = slice(offsets[g], offsets[g + 1])
            assert (np.diff(values[part].astype(np.int64)) > 0).all()
            found[tuple(label[::-1])] = dict(zip(values[part].tolist(), counts[part].tolist(), strict=True))
            assert group_sizes[g] == counts[part].sum()
        assert found == {tuple(map(int, key)): dict(count) for key, count in expected.items()}


def test_keys_longer_than_32_bits_and_strided_columns():
    rng = np.random.default_rng(3)
    wide = rng.integers(0, 1 << 30, (40_000, 2))[:, ::1]
    wide[:, 0] %= 50
    values = rng.integers(0, 3, 80_000)[::2]
    columns = [wide[:, 0], wide[:, 1] * 4 + 1, values]
    sizes = [50, 1 << 32, 3]
    results = [pairs(columns, sizes, METHODS[name], step=7_000, parts=2) for name in ("radix", "hash")]
    for mine, theirs in zip(*results, strict=True):
        assert np.array_equal(mine, theirs)
    assert results[0][3].sum() == 40_000


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_codes_out_of_range_name_their_column(method):
    good, bad = np.zeros(5_000, np.int16), np.zeros(5_000, np.int16)
    bad[4_990] = -1
    columns = Columns([good, bad, good], [2, 2, 2], 5_000)
    assert _groups.Grouper(columns, method).add(0, 4_990) == -1
    assert _groups.Grouper(columns, method).add(0, 5_000) == 1
    bad[4_990] = 2
    assert _groups.Grouper(columns, method).add(4_000, 5_000) == 1


def test_kernel_errors():
    columns = Columns([np.zeros(2, np.uint8)] * 2, [2, 2], 2)
    with pytest.raises(ValueError, match="method must be DENSE, RADIX or HASH, got 7"):
        _groups.Grouper(columns, 7)
    with pytest.raises(ValueError, match="only HASH takes weights"):
        _groups.Grouper(columns, _groups.DENSE, np.ones(2, np.int64))
    with pytest.raises(ValueError, match="3 weights but 2 rows"):
        _groups.Grouper(columns, _groups.HASH, np.ones(3, np.int64))
    with pytest.raises(ValueError, match=r"rows must be within 0..2, got 1..3"):
        _groups.Grouper(columns, _groups.HASH).add(1, 3)
    with pytest.raises(ValueError, match="cannot absorb itself"):
        (one := _groups.Grouper(columns, _groups.DENSE)).absorb(one)
    with pytest.raises(ValueError, match="same method and sizes"):
        _groups.Grouper(columns, _groups.DENSE).absorb(_groups.Grouper(columns, _groups.HASH))
    long = Columns([np.zeros(2, np.int64)] * 3, [1 << 32, 1 << 32, 2], 2)
    with pytest.raises(ValueError, match="must fit 63 bits, got 65"):
        _groups.Grouper(long, _groups.RADIX)
    with pytest.raises(ValueError, match="at most 2147483648 cells"):
        _groups.Grouper(Columns([np.zeros(2, np.int64)] * 2, [1 << 31, 2], 2), _groups.DENSE)
    with pytest.raises(ValueError, match="expected a sensitive column"):
        _groups.Grouper(Columns([], [], 0), _groups.HASH)
    with pytest.raises(ValueError, match="do not belong to 1 groups"):
        _groups.distances(
            *(np.zeros(1, np.int64), np.zeros(0, np.uint32)),
            *[np.zeros(1, np.int64)] * 3,
            False,
            np.zeros(1, np.int64),
        )


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(
    ("offsets", "values", "message"),
    [
        ([0, 1], [2**31], "values must be below 1, the number of totals"),
        ([0, 1], [1], "values must be below 1, the number of totals"),
        ([0, 2, 1], [0], "offsets must not fall"),
        ([0, -(2**40), 1], [0], "offsets must not fall"),
    ],
)
def test_distances_are_of_values_that_there_are(offsets, values, message, ordered):
    n = len(offsets) - 1
    ones = np.ones(n, np.int64)
    with pytest.raises(ValueError, match=message):
        _groups.distances(
            np.array(offsets),
            np.array(values, np.uint32),
            np.ones(len(values), np.int64),
            ones,
            ones[:1],
            ordered,
            np.zeros(n, np.int64),
        )


def test_weights_count_and_may_be_huge():
    columns = drawn(3_000, [4, 3, 2])
    weights = np.random.default_rng(1).integers(1, 1 << 40, 3_000)
    names = ["x", "y", "z"]
    table = Table(dict(zip(names, columns, strict=True)), weights=weights)
    found = group(table, ["x", "y"], "z")
    assert as_dict(found) == plain([column.tolist() for column in columns], weights)
    assert found.n_rows == int(weights.sum())


def test_more_combinations_than_a_key_holds(monkeypatch):
    columns = drawn(2_000, [9, 7, 8, 3])
    names = ["w", "x", "y", "z"]
    table = Table(dict(zip(names, columns, strict=True)))
    expected = group(table, names[:-1], "z")
    for bits in (10, 8, 11):
        monkeypatch.setattr(module, "MOST_BITS", bits)
        found = group(table, names[:-1], "z")
        assert found == expected
        assert [found.key(g) for g in range(9)] == [expected.key(g) for g in range(9)]
    monkeypatch.undo()
    wide = {f"c{i}": np.arange(300) * 977 % 300 for i in range(9)}  # 300^9 > 2^63
    found = group(Table({**wide, "s": np.arange(300) % 2}), list(wide), "s")
    assert (found.n_groups, found.k) == (300, 1)
    assert found.key(0) == dict.fromkeys(wide, 0)


@pytest.mark.parametrize("n_rows", [3_000, 200_000])
def test_threads_never_change_the_result(n_rows):
    for sizes in ([5, 3, 4], [250, 250, 250, 9]):
        columns = drawn(n_rows, sizes)
        names = [f"c{i}" for i in range(len(sizes))]
        table = Table(dict(zip(names, columns, strict=True)))
        alone = group(table, names[:-1], names[-1], threads=1)
        for threads in (2, 3):
            assert group(table, names[:-1], names[-1], threads=threads) == alone


def test_the_choice_of_a_method():
    def chosen(sizes, n_rows, distinct=None):
        codes = [column.astype(np.int64) for column in drawn(n_rows, sizes, dtype=np.int64)]
        if distinct:
            codes = [column % distinct for column in codes]
        return module._method(codes[:-1], sizes[:-1], codes[-1], sizes[-1], n_rows)

    assert chosen([10, 10, 6], 1_000) == _groups.DENSE
    assert chosen([1_000, 1_000, 6], 1_000) == _groups.RADIX
    assert chosen([1 << 20, 1 << 20, 6], 100_000) == _groups.RADIX
    assert chosen([1 << 20, 1 << 20, 6], 100_000, distinct=3) == _groups.HASH


def test_no_columns_make_one_group():
    found = group(Table({"ill": ["flu", "cold", "flu"]}), [], "ill")
    assert found.n_groups == 1
    assert (found.key(0), found.histogram(0)) == ({}, {"cold": 1, "flu": 2})
    assert repr(found) == "Groups(1 group by nothing, 3 people, 2 values of ill)"


def test_nulls_are_values_and_declared_values_need_no_row():
    table = Table({"age": [None, None, 3], "ill": ["a", None, "a"]}, domains={"ill": ["b", "a", None]})
    found = group(table, ["age"], "ill")
    assert as_dict(found) == {(3,): {"a": 1}, (None,): {"a": 1, None: 1}}
    assert found.domain == ("b", "a", None)
    assert found.totals().tolist() == [0, 2, 1]


@given(rows, st.integers(1, 7))
def test_a_stream_gives_what_a_table_gives(records, chunk):
    pa = pytest.importorskip("pyarrow")
    ages, jobs, ills = (list(column) for column in zip(*records, strict=True))
    arrow = pa.table({"age": ages, "job": pa.array(jobs, pa.int64()), "ill": pa.array(ills, pa.string())})
    table = Table(arrow)
    expected = group(table, ["job", "age"], "ill")
    batches = arrow.to_batches(max_chunksize=chunk)
    done = []
    found = group(
        iter(batches), ["job", "age"], "ill", progress=lambda rows, total: done.append((rows, total))
    )
    assert found == expected
    assert done[-1] == (len(records), 0)
    dictionary = arrow.set_column(0, "age", arrow["age"].cast(pa.string()).dictionary_encode())
    assert group(dictionary, ["job", "age"], "ill") == expected
    weighted = arrow.append_column("w", pa.array(range(1, len(records) + 1)))
    assert group(weighted, ["age"], "ill", weights="w") == group(Table(weighted, weights="w"), ["age"], "ill")


def test_a_long_stream_is_put_together_in_parts(monkeypatch):
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(5)
    arrow = pa.table(
        {
            "x": rng.integers(0, 400, 150_000),
            "y": rng.integers(-500, 500, 150_000),
            "s": rng.integers(0, 5, 150_000),
        }
    )
    merged = []
    original = distinct.sorted_pairs
    monkeypatch.setattr(
        distinct, "sorted_pairs", lambda *given, **more: merged.append(1) or original(*given, **more)
    )
    found = group(arrow.to_batches(max_chunksize=9_000), ["x", "y"], "s")
    assert found == group(Table(arrow), ["x", "y"], "s")
    assert len(merged) > 1 + -(-150_000 // 9_000)  # more than once beside once a batch


@given(rows, st.integers(0, 2**31), st.integers(1, 5))
def test_chunks_merge_in_any_order(records, seed, n_parts):
    ages, jobs, ills = (np.array(column, object) for column in zip(*records, strict=True))
    whole = group(Table({"age": list(ages), "job": list(jobs), "ill": list(ills)}), ["age", "job"], "ill")
    rng = np.random.default_rng(seed)
    part_of = rng.integers(0, n_parts, len(records))
    parts = [
        group({"age": ages[mine], "job": jobs[mine], "ill": ills[mine]}, ["age", "job"], "ill")
        for mine in (part_of == part for part in range(n_parts))
        if mine.any()
    ]
    order = rng.permutation(len(parts))
    assert Groups.merge([parts[i] for i in order]) == whole
    total = parts[order[0]]
    for i in order[1:]:
        total = parts[i] + total
    assert total == whole


def test_merging_needs_the_same_columns():
    one = Groups([[1, 2]])
    with pytest.raises(
        ValueError, match=r"expected groups by \('group',\) of 'value', got groups by \('x',\)"
    ):
        Groups.merge([one, group({"x": [1], "s": [1]}, ["x"], "s")])
    with pytest.raises(ValueError, match="at least one Groups, got none"):
        Groups.merge([])
    with pytest.raises(TypeError, match="expected Groups, got int"):
        Groups.merge([one, 3])
    with pytest.raises(TypeError):
        one + 3


def test_arrays_and_triples():
    found = Groups(np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0]], np.uint8))
    assert found.to_array().tolist() == [[2, 0, 1], [0, 3, 0]]
    assert [found.key(g) for g in range(2)] == [{"group": 0}, {"group": 2}]
    assert found.domain == (0, 1, 2)
    assert Groups([[2, 0, 1], [0, 0, 0], [0, 3, 0]]) == found
    triples = [("g", "x", 2), ("h", "y", 3), ("g", "y", 0), ("g", "x", 1)]
    named = Groups(triples)
    assert as_dict(named) == {("g",): {"x": 3}, ("h",): {"y": 3}}
    arrays = tuple(np.array(column) for column in zip(*triples, strict=True))
    assert Groups((arrays[0], arrays[1], arrays[2])) == named
    assert Groups(iter(triples)) == named
    ordered = Groups(triples, values=["z", "y", "x"])
    assert ordered.domain == ("z", "y", "x")
    assert ordered.to_array().tolist() == [[0, 0, 3], [0, 3, 0]]
    assert sorted((key["group"], value, count) for key, value, count in named.triples()) == [
        ("g", "x", 3),
        ("h", "y", 3),
    ]


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    [
        ([[1, -1]], ValueError, "counts must be at least 0, got -1"),
        ([[1.5, 2]], TypeError, "counts must be integers, got float64"),
        ([[0, 0]], ValueError, "no rows: all groups are empty"),
        ([[]], ValueError, "no rows: all groups are empty"),
        ([[1, 2], [3]], ValueError, r"counts must be 2-D .* got rows of different lengths"),
        (np.zeros((0, 3), int), ValueError, "no rows"),
        ([], ValueError, r"counts must be 2-D \(groups x values\), got 1 dimensions"),
        ([1, 2, 3], ValueError, "got 1 dimensions"),
        ([("a", 1)], ValueError, r"counts\[0\]: expected \(group, value, count\), got \('a', 1\)"),
        ([("a", 1, 1), [1, 2, 3]], ValueError, r"counts\[1\]: expected \(group, value, count\)"),
        ([("a", 1, True)], TypeError, "count must be an int, got True"),
        ([("a", 1, 0)], ValueError, "no rows"),
        ([("a", 1, -3)], ValueError, "at least 0, got -3"),
        ([("a", 1, 1), (2, 1, 1)], TypeError, "one kind"),
        ((np.ones(2, int), np.ones(3, int), np.ones(2, int)), ValueError, "arrays of 2, 3, 2 triples"),
        ("counts", TypeError, "expected a"),
        ({"a": 1}, TypeError, "expected a"),
        (7, TypeError, "got 7"),
        ([[2**62, 2**62]], ValueError, "must add up to less than 2"),
        (np.array([[2**63]], np.uint64), ValueError, "below 2"),
    ],
)
def test_bad_counts(counts, error, message):
    with pytest.raises(error, match=message):
        Groups(counts)


def test_bad_values():
    with pytest.raises(ValueError, match="values must be 2, one a column of counts, got 3"):
        Groups([[1, 2]], values=["a", "b", "c"])
    with pytest.raises(ValueError, match="not in its declared domain"):
        Groups([("g", "x", 1)], values=["y"])


def test_bad_arguments_of_group():
    table = Table({"a": [1], "b": [2], "s": [3]})
    for by, sensitive, message in [
        (["a", "s"], "s", "the sensitive column 's' cannot make the groups as well"),
        (["a", "a"], "s", "by must be distinct names, got 'a' twice"),
        (["c"], "s", "expected a column of 'a', 'b', 's'; got 'c'"),
        (["a"], "c", "got 'c'"),
    ]:
        with pytest.raises(ValueError, match=message):
            group(table, by, sensitive)
    with pytest.raises(TypeError, match="by must be a sequence of names, got the text 'a'"):
        group(table, "a", "s")
    with pytest.raises(TypeError, match="sensitive must be the name of a column"):
        group(table, ["a"], 3)
    with pytest.raises(ValueError, match=r"table: expected a file of .csv, .tsv, .* got 'table.xls'"):
        group("table.xls", ["a"], "s")
    with pytest.raises(FileNotFoundError):
        group("table.csv", ["a"], "s")
    with pytest.raises(ValueError, match="a Table has its own weights"):
        group(table, ["a"], "s", weights="b")
    with pytest.raises(ValueError, match="weights: 'a' is the sensitive column or makes the groups"):
        group({"a": [1], "s": [3]}, ["a"], "s", weights="a")
    with pytest.raises(ValueError, match="no rows"):
        group(Table({"a": [], "s": []}), ["a"], "s")
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="no rows"):
        group(pa.table({"a": pa.array([], pa.int64()), "s": pa.array([], pa.int64())}), ["a"], "s")


def test_groups_do_not_change_and_pickle():
    found = group({"x": [1, 1, 2], "s": ["a", "b", "a"]}, ["x"], "s")
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(AttributeError, match="Groups do not change: cannot set by"):
        found.by = ()
    with pytest.raises(AttributeError, match="cannot delete by"):
        del found.by
    with pytest.raises(ValueError, match="read-only"):
        found.counts[0] = 9
    assert found != Groups([[1, 1], [1, 0]])
    assert found != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)
    with pytest.raises(ValueError, match=r"group must be 0..1, got 2"):
        found.key(2)
    with pytest.raises(TypeError, match="must be a position"):
        found.histogram(1.0)
    with pytest.raises(ValueError, match="expected a column of 'x'; got 'y'"):
        found.codes("y")
    assert len(found) == 2


def test_a_million_rows_against_numpy():
    columns = drawn(1_000_000, [30, 9, 5, 6], seed=9)
    names = ["a", "b", "c", "s"]
    found = group(Table(dict(zip(names, columns, strict=True))), names[:-1], "s")
    key = (columns[0].astype(np.int64) * 9 + columns[1]) * 5 + columns[2]
    dense = np.bincount(key * 6 + columns[3], minlength=30 * 9 * 5 * 6).reshape(-1, 6)
    assert np.array_equal(found.to_array(), dense[dense.any(axis=1)])
