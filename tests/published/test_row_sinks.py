"""The lines of a CSV file with what is added, and the texts of values there."""

import csv
import io
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import Interval, Table, canonical, count
from nbcfast._reading.endings import ending_of
from nbcfast._reading.row_blocks import Finishing, RowFile, TextBatch
from nbcfast.published.added_columns import AddedColumns, AddedNames, float_text, value_text
from nbcfast.published.row_sinks import FORMULA, sink_of


def plain_field(text, delimiter):
    """A field, quoted where something in it says so."""
    if any(sign in text for sign in f'"\r\n{delimiter}'):
        return '"' + text.replace('"', '""') + '"'
    return text


@pytest.fixture(scope="module")
def answering():
    """Of a release with labels that have to be quoted, and that spreadsheets run."""
    rows = {"job": ["cook", "smith", "cook", "smith"] * 9, "ill": ["=no", 'a,"b"', "=no", "=no"] * 9}
    return canonical.release(count(Table(rows), "ill"), 4, class_name="ill").answering()


def scored(answering, path, added, names, delimiter):
    """The text that is written, and what spreadsheets would run of it."""
    stream = io.BytesIO()
    file = RowFile(path)
    finishing = Finishing(file.null_values)
    columns = AddedColumns(answering, added)
    with sink_of(stream, ending_of("out.csv"), file, columns, delimiter) as sink:
        for batch in file.batches():
            answers = answering.answers(finishing.block(batch, names), proba=True)
            sink.write(batch, answers)
    return stream.getvalue().decode(), sink.formulas


TEXTS = st.text(st.sampled_from('ab ,;"\n\r=+-@é1'), max_size=4)


@given(st.lists(st.tuples(TEXTS, st.sampled_from(["cook", "smith", "pope", ""])), min_size=1, max_size=30))
def test_lines_are_those_of_the_file_and_what_is_added(answering, tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["=a", "job"], *rows])
    added = AddedNames(name="ill, or not", probabilities=("p_1", "p_2"), says_unseen=True)
    text, formulas = scored(answering, path, added, ["job"], ";")
    job = answering.answers(next(RowFile(path).blocks(["job"])), proba=True)
    views = answering.views[0]
    expected = ["=a;job;ill, or not;p_1;p_2;unseen\n"]
    labels = []
    for row, (note, name) in enumerate(rows):
        known = name in ("cook", "smith")
        labels.append(views.classes[job.codes[row]] if known else "")
        numbers = [repr(float(job.probabilities[row, c])) if known else "" for c in range(2)]
        fields = [note, name, labels[-1], *numbers, "" if known else "job"]
        expected.append(";".join(plain_field(field, ";") for field in fields) + "\n")
    assert text == "".join(expected)
    read = list(csv.reader(io.StringIO(text, newline=""), delimiter=";"))
    assert [row[:2] for row in read[1:]] == [list(row) for row in rows]
    runs = {
        name: next((text for text in texts if re.match(FORMULA, text)), None)
        for name, texts in (("=a", [note for note, _ in rows]), ("ill, or not", labels))
    }
    assert formulas == {name: first for name, first in runs.items() if first is not None}


def test_texts_of_values_are_those_of_arrow():
    pa = pytest.importorskip("pyarrow")
    values = [[True, False, None], [-(2**63), 0, 2**63 - 1], [2.0, -0.125, 1e9, 1e10, 1e-6, 1e-7], ["a", ""]]
    for column in values:
        texts = pa.array(column).cast(pa.large_string()).to_pylist()
        assert [value_text(value) for value in column] == [text or "" for text in texts]


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x or math.copysign(1, x) > 0))
)
def test_floats_are_written_as_arrow_writes_them(numbers):
    pa = pytest.importorskip("pyarrow")
    near = [
        sign * 10.0**power * part for power in range(-9, 12) for part in (1, 0.999, 1.5) for sign in (1, -1)
    ]
    numbers = [*numbers, *near, 0.0, 5e-324, np.nextafter(1.0, 0.0).item(), np.nextafter(1e10, 0).item()]
    texts = pa.array(numbers, pa.float64()).cast(pa.large_string()).to_pylist()
    assert [float_text(number) for number in numbers] == texts
    assert [float(text) for text in texts] == numbers


def test_an_interval_is_a_label_too():
    rows = {"job": ["cook", "smith", "cook", "smith"] * 9, "age": [3, 40, 5, 60] * 9}
    table = Table(rows).bin("age", [0, 18, 100])
    answering = canonical.release(count(table, "age"), 4, class_name="age").answering()
    columns = AddedColumns(answering, AddedNames(name="age"))
    batch = TextBatch({"job": (np.arange(2), ["cook", "smith"])}, 2)
    block = Finishing().block(batch, ["job"])
    ((codes, texts),) = columns.texts(answering.answers(block))
    assert [texts[code] for code in codes] == [str(Interval(0, 18)), str(Interval(18, 100))]
