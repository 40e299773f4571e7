"""Groups of files, and in parts where they are more than memory holds."""

import numpy as np
import pytest
from group_cases import as_dict

import nbcfast
from nbcfast.groups import Groups, group, group_parts


def people(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "age": [None if age == 7 else int(age) for age in rng.integers(0, 60, n_rows)],
        "size": [float(size) for size in rng.integers(0, 9, n_rows) / 2],
        "job": [f"job {job}" for job in rng.integers(0, 7, n_rows)],
        "ill": [None if ill == 0 else f"{ill}" for ill in rng.integers(0, 5, n_rows)],
        "w": rng.integers(1, 9, n_rows).tolist(),
    }


def write(kind, folder, columns):
    pa = pytest.importorskip("pyarrow")
    table, path = pa.table(columns), folder / f"people.{kind}"
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path, row_group_size=3_000)
    else:
        pytest.importorskip("pyarrow.csv").write_csv(table, path)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_gives_what_its_table_gives(kind, tmp_path):
    path = write(kind, tmp_path, people(20_000))
    read = nbcfast.read_csv if kind == "csv" else nbcfast.read_parquet
    by, seen = ["size", "job", "age"], []
    expected = group(read(path), by, "ill")
    assert group(path, by, "ill", progress=lambda *step: seen.append(step)) == expected
    assert seen[-1] == (20_000, 20_000 if kind == "parquet" else 0)
    assert group(str(path), ["age"], "ill", weights="w") == group(read(path, weights="w"), ["age"], "ill")
    assert group(path, [], "age") == group(read(path), [], "age")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_parts_of_a_file_hold_whole_groups(kind, tmp_path):
    path = write(kind, tmp_path, people(12_000))
    by = ["size", "job", "age"]
    expected = group(path, by, "ill")
    for limit, at_least in [(1 << 30, 1), ("100kB", 3), (60_000, 8)]:
        parts = list(group_parts(path, by, "ill", memory_limit=limit))
        assert len(parts) >= at_least
        labels = [tuple(part.key(g).values()) for part in parts for g in range(part.n_groups)]
        assert len(set(labels)) == len(labels) == expected.n_groups
        assert Groups.merge(parts) == expected
        assert all(part.domain == expected.domain for part in parts)
    weighted = group_parts(path, by, "ill", memory_limit="100 KiB", weights="w")
    assert Groups.merge(weighted) == group(path, by, "ill", weights="w")


def test_bad_files(tmp_path):
    pa = pytest.importorskip("pyarrow")
    path = write("parquet", tmp_path, people(100))
    for limit, error in [(0, ValueError), ("2 PiB", ValueError), ("x", ValueError), (1.5, TypeError)]:
        with pytest.raises(error, match="memory_limit must be"):
            list(group_parts(path, ["age"], "ill", memory_limit=limit))
    with pytest.raises(ValueError, match="memory_limit: a few groups alone take more than 10 bytes"):
        list(group_parts(path, ["age"], "ill", memory_limit=10))
    with pytest.raises(ValueError, match="memory_limit: a few groups alone"):
        list(group_parts(path, [], "ill", memory_limit=10))
    with pytest.raises(ValueError, match="got 'height'"):
        group(path, ["height"], "ill")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and no more")
    with pytest.raises(ValueError, match=r"broken.parquet: "):
        group(broken, ["age"], "ill")
    empty = write("parquet", tmp_path, {"age": pa.array([], pa.int64()), "ill": pa.array([], pa.string())})
    with pytest.raises(ValueError, match="no rows"):
        group(empty, ["age"], "ill")
    with pytest.raises(ValueError, match="no rows"):
        list(group_parts(empty, ["age"], "ill", memory_limit="1GiB"))
    text = tmp_path / "table.csv"
    text.write_text("age,ill,w\n1,flu,2\n1,cold,x\n")
    assert as_dict(group(text, ["age"], "ill")) == {(1,): {"flu": 1, "cold": 1}}
    with pytest.raises(ValueError, match="column 'w': expected integers of 64 bits, got 'x'"):
        group(text, ["age"], "ill", weights="w")
    text.write_text("age,ill\n1,flu\n1\n")
    with pytest.raises(ValueError, match=r"table.csv: .*expected 2 fields as there are names, got 1"):
        group(text, ["age"], "ill")
