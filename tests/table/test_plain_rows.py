"""What frames have, tables have: len, columns by name, the first rows to look at, and a way to pandas."""

import pickle

import numpy as np
import pytest

from nbcfast import SUPPRESSED, Interval, Table

ROWS = Table(
    {
        "age": [39, 50, 17],
        "rate": [0.5, None, 1.0],
        "beds": [1, None, 2],
        "job": ["clerk", None, "cook"],
        "old": [True, False, True],
        "dose": [Interval(0, "0.3"), Interval("0.3", None), Interval(0, "0.3")],
        "town": ["Ulm", SUPPRESSED, None],
    }
)


def test_a_column_is_an_array_of_values():
    assert (len(ROWS), ROWS.columns) == (3, ROWS.names)
    assert (ROWS["age"].dtype, ROWS["age"].tolist()) == (np.int64, [39, 50, 17])
    assert np.isnan(ROWS["rate"][1])
    assert ROWS["beds"].tolist() == [1, None, 2]
    assert ROWS["old"].dtype == bool
    assert ROWS["job"].tolist() == ["clerk", None, "cook"]
    assert ROWS["dose"][1] == Interval("0.3", None)
    assert ROWS["town"].tolist() == ["Ulm", SUPPRESSED, None]
    assert Table({"x": []})["x"].tolist() == Table({"x": [None, None]}).take([])["x"].tolist() == []


def test_what_is_no_column_is_refused():
    with pytest.raises(
        TypeError, match="expected the name of a column, got 0: a Table is no sequence of rows"
    ):
        ROWS[0]
    with pytest.raises(TypeError, match="expected the name of a column, got 0"):
        list(ROWS)
    with pytest.raises(TypeError, match=r"got \['age'\]"):
        ROWS[["age"]]
    with pytest.raises(ValueError, match=r"expected a column, got 'ages'; did you mean 'age'\? It also"):
        ROWS["ages"]
    assert "age" in ROWS
    assert "ages" not in ROWS
    with pytest.raises(ValueError, match="n must be at least 0, got -1"):
        ROWS.head(-1)


def test_the_first_rows_are_shown():
    head = ROWS.head(2)
    assert isinstance(head, Table)
    assert head == ROWS.take([0, 1], keep_domains=True)
    assert repr(head).splitlines() == [
        "age    rate    beds  job     old    dose        town",
        " 39     0.5       1  clerk   True   [0, 0.3)    Ulm",
        " 50  (null)  (null)  (null)  False  [0.3, inf)  ⊥",
    ]
    assert repr(pickle.loads(pickle.dumps(head))) == repr(head)
    assert repr(Table({"x": []}).head()) == "x\n(no rows)"
    assert repr(Table({"x": ["a" * 40], "n": [2]}, weights="n").head()).splitlines() == [
        "x                         (weight)",
        "aaaaaaaaaaaaaaaaaaaaaa..         2",
    ]
    assert repr(Table({"x": ["\x1b[31mred"]}).head()).splitlines()[1] == "\\x1b[31mred"
    assert repr(Table({}).head()) == "Table: 0 rows without columns"


def test_a_frame_of_pandas():
    pd = pytest.importorskip("pandas")
    frame = ROWS.to_pandas()
    assert list(frame.columns) == list(ROWS.names)
    assert [str(frame[name].dtype) for name in ("age", "rate", "beds", "old")] == [
        "int64",
        "float64",
        "Int64",
        "bool",
    ]
    assert frame["dose"].cat.ordered
    assert frame["dose"].tolist() == ["[0, 0.3)", "[0.3, inf)", "[0, 0.3)"]
    assert frame["town"].tolist()[:2] == ["Ulm", "*"]
    assert pd.isna(frame["town"][2])
    assert pd.isna(frame["job"][1])
    again = Table(frame)
    for name in ("age", "rate", "beds", "job", "old"):
        assert again[name].tolist() == pytest.approx(ROWS[name].tolist(), nan_ok=True)
    weighted = Table({"x": [1, 2], "n": [3, 4]}, weights="n")
    assert weighted.to_pandas("n")["n"].tolist() == [3, 4]
    assert ROWS.to_pandas("n")["n"].tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="weights: expected the name of a new column, got 'x'"):
        weighted.to_pandas("x")
    with pytest.raises(ValueError, match="its domain holds the text 'Ulm' of SUPPRESSED"):
        ROWS.to_pandas(suppressed="Ulm")
    assert len(Table({"x": []}).to_pandas()) == 0


def test_without_pandas(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_pandas needs pandas: pip install pandas"):
        ROWS.to_pandas()
