"""How files are read is one `Reading`, which says of itself what was not asked for."""

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

import nbcfast
from nbcfast.cli.reading import Reading

CSV, PARQUET = Path("rows.csv"), Path("rows.parquet")
LEFT_OUT = ("--weights NAME", "--null TEXT", "--delimiter CHAR", "--text NAME")


def test_nobody_changes_how_files_are_read():
    with pytest.raises(FrozenInstanceError):
        Reading().weights = "n"


def test_what_is_text_in_the_first_file_is_text_in_one_like_it():
    reading = Reading("n", ("NA",), ";", ("zip",))
    domains = {"age": [30, 40], "code": ["007", None], "zip": ["1"], "none": [None], "sex": [True]}
    assert reading.like(CSV, domains) == Reading("n", ("NA",), ";", ("zip", "code"))
    assert reading.like(PARQUET, domains) is reading


@pytest.mark.parametrize(
    ("reading", "file", "options"),
    [
        (Reading(), CSV, [*LEFT_OUT]),
        (Reading(), PARQUET, ["--weights NAME"]),
        (Reading("n", ("NA",)), CSV, ["--delimiter CHAR", "--text NAME"]),
        (Reading("n", ("NA",), ";", ("a",)), CSV, []),
    ],
)
def test_the_options_that_were_left_out(reading, file, options):
    assert reading.left_out(file) == options


def test_csv_options_say_what_a_parquet_file_needs_not_be_told():
    assert Reading().csv_options(PARQUET) is None
    assert Reading("n").csv_options(PARQUET) is None
    assert Reading().csv_options(Path("rows.tsv.gz"))["delimiter"] == "\t"
    assert Reading(delimiter="\\t").csv_options(CSV) == {
        "delimiter": "\t",
        "null_values": ("",),
        "types": {},
        "encoding": "utf8",
    }
    for reading in (
        Reading(nulls=("NA",)),
        Reading(delimiter=";"),
        Reading(texts=("a",)),
        Reading(encoding="cp1252"),
    ):
        with pytest.raises(
            ValueError, match=r"^--null, --delimiter, --text and --encoding are for CSV files$"
        ):
            reading.csv_options(PARQUET)


def test_a_source_is_the_file_itself_where_no_option_changes_what_it_holds(tmp_path):
    pytest.importorskip("pyarrow")
    file = tmp_path / "rows.csv"
    file.write_text("a,n\n1,2\n3,4\n", encoding="utf-8")
    assert Reading().source(file, ["a"]) == file
    table = Reading("n").source(file, ["a"])
    assert isinstance(table, nbcfast.Table)
    assert (table.names, table.weights.tolist()) == (("a",), [2, 4])
    with pytest.raises(ValueError, match=r"^--weights names 'a', which is used otherwise$"):
        Reading("a").source(file, ["a"])
