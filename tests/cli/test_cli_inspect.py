"""`nbcfast inspect`, against numbers counted by hand."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from accepting import ANYHOW
from small_table import CSV, SHOWN, UNCOUNTED, write

FOUND = {
    "warnings": [UNCOUNTED],
    "class": "label",
    "rows": 6,
    "total_weight": 6,
    "classes": [{"label": "a", "count": 2}, {"label": "b", "count": 4}],
    "smallest_class": {"label": "a", "count": 2},
    "attributes": [
        {"name": "colour", "values": 3, "zero_counts": 2},
        {"name": "size", "values": 2, "zero_counts": 0},
    ],
    "zero_counts": 2,
    "cells": 10,
    "tuples": 6,
    "tied_rows": 4,
    "tied_tuples": 2,
}


@pytest.fixture
def file(tmp_path):
    return write(tmp_path)


@pytest.fixture
def found(run):
    """What `inspect --json` says, without the name of the file."""

    def found(file, *arguments):
        code, out, err = run("inspect", file, "--json", *arguments)
        assert (code, err) == (0, "")
        answer = json.loads(out)
        assert answer.pop("file") == str(file)
        for name in ("columns", "next"):
            assert answer.pop(name)
        return answer

    return found


def test_inspect_prints_what_was_counted_by_hand(run, file):
    code, out, err = run("inspect", file, "--class", "label", "--columns", "colour,size")
    assert (code, out, err) == (0, SHOWN.format(file=file, uncounted=UNCOUNTED), "")


def test_inspect_as_json(found, file):
    assert found(file, "--class", "label", "--columns", "colour,size") == FOUND


def test_all_columns_but_the_class_are_attributes(found, file):
    answer = found(file, "--class", "label")
    assert [attribute["name"] for attribute in answer["attributes"]] == ["colour", "size", "weight"]
    assert [attribute["values"] for attribute in answer["attributes"]] == [3, 2, 4]
    assert [attribute["zero_counts"] for attribute in answer["attributes"]] == [2, 0, 3]


def test_weights(run, found, file):
    answer = found(file, "--class", "label", "--weights", "weight")
    assert (answer["rows"], answer["total_weight"]) == (6, 12)
    assert answer["classes"] == [{"label": "a", "count": 4}, {"label": "b", "count": 8}]
    assert [attribute["name"] for attribute in answer["attributes"]] == ["colour", "size"]
    # X(red, 1) = (4*1/4, 2*3/8) and X(red, 2) = (4*3/4, 2*5/8)
    assert (answer["tied_rows"], answer["tied_tuples"]) == (0, 0)
    _, out, _ = run("inspect", file, "--class", "label", "--weights", "weight")
    assert "total weight             12\n" in out
    assert "smallest class           a (4 weight)\n" in out


def test_the_choice_of_columns_keeps_its_order(found, file):
    answer = found(file, "--class", "label", "--columns", " size , colour")
    assert [attribute["name"] for attribute in answer["attributes"]] == ["size", "colour"]
    answer = found(file, "--class", "label", "--columns", "colour")
    assert (answer["tuples"], answer["cells"], answer["zero_counts"]) == (3, 6, 2)


def test_weights_beside_chosen_columns(found, file):
    answer = found(file, "--class", "label", "--columns", "size", "--weights", "weight")
    assert answer["total_weight"] == 12
    assert [attribute["name"] for attribute in answer["attributes"]] == ["size"]


def test_a_name_with_a_comma(found, tmp_path):
    path = tmp_path / "comma.csv"
    path.write_text('"size, cm",label\n1,a\n2,b\n')
    answer = found(path, "--class", "label", "--columns", '"size, cm"')
    assert [attribute["name"] for attribute in answer["attributes"]] == ["size, cm"]


def test_nulls_are_what_the_option_says(found, file):
    file.write_text("colour,label\nred,a\n?,a\nNA,b\n,b\n")
    values = []
    for nulls in ([], ["--null", "?"], ["--null", "?", "--null", "NA"]):
        (attribute,) = found(file, "--class", "label", *nulls)["attributes"]
        values.append(attribute["values"])
    assert values == [4, 4, 3]


def test_text_keeps_leading_zeros(found, file):
    file.write_text("code,label\n1,a\n1.0,a\n2,b\n")
    (attribute,) = found(file, "--class", "label", "--text", "code")["attributes"]
    assert attribute["values"] == 3


@pytest.mark.parametrize(
    ("name", "delimiter", "options"),
    [
        ("x.tsv", "\t", []),
        ("x.txt", ";", ["--delimiter", ";"]),
        ("x.csv", "\t", ["--delimiter", "\\t"]),
        ("X.CSV", ",", []),
    ],
)
def test_delimiters(found, tmp_path, name, delimiter, options):
    path = tmp_path / name
    path.write_text(CSV.replace(",", delimiter), encoding="utf-8")
    assert found(path, "--class", "label", "--columns", "colour,size", *options) == FOUND


@pytest.mark.parametrize("ending", ["csv.gz", "csv.bz2", "csv.zst", "csv.lz4"])
def test_compressed_csv(found, tmp_path, ending):
    path = tmp_path / f"small.{ending}"
    with pa.output_stream(path) as stream:  # compressed as its name says
        stream.write(CSV.encode())
    assert path.read_bytes() != CSV.encode()
    plain = tmp_path / "small.csv"
    plain.write_text(CSV)
    arguments = ("--class", "label", "--columns", "colour,size")
    assert found(path, *arguments) == (expected := found(plain, *arguments))
    # What looks like weights is found in the beginning of the file.
    assert "give --weights weight" in expected["warnings"][0]


@pytest.mark.parametrize("ending", ["parquet", "pq"])
def test_parquet_says_the_same_as_csv(found, tmp_path, ending):
    path = tmp_path / f"small.{ending}"
    colours = pa.array(["red"] * 4 + ["blue", None]).dictionary_encode()
    columns = {
        "colour": colours,
        "size": [1, 2, 1, 2, 1, 2],
        "weight": [1, 3, 1, 1, 2, 4],
        "label": list("aabbbb"),
    }
    pq.write_table(pa.table(columns), path)
    assert found(path, "--class", "label", "--columns", "colour,size") == FOUND
    weighted = found(path, "--class", "label", "--weights", "weight")
    assert weighted["classes"] == [{"label": "a", "count": 4}, {"label": "b", "count": 8}]


def test_labels_keep_their_kind_in_json(found, file):
    file.write_text("x,label\n1,\n2,2\n3,1\n")
    assert [entry["label"] for entry in found(file, "--class", "label")["classes"]] == [1, 2, None]
    file.write_text("x,label\n1,0.5\n2,2\n")
    assert [entry["label"] for entry in found(file, "--class", "label")["classes"]] == [0.5, 2.0]


def test_ties_of_a_wide_domain_are_not_counted(run, found, file):
    names = [f"a{i}" for i in range(7)]
    lines = [",".join([*names, "label"])]
    lines += [",".join([str(row)] * 7 + ["ab"[row % 2]]) for row in range(10)]
    file.write_text("\n".join(lines) + "\n")
    answer = found(file, "--class", "label")
    assert (answer["tuples"], answer["tied_tuples"]) == (10**7, None)
    _, out, _ = run("inspect", file, "--class", "label")
    assert "tuples in the domain     10,000,000\n" in out
    assert "tuples with tied scores  not counted (more than 1,000,000 tuples)\n" in out


def test_a_domain_beyond_every_float(run, found, file):
    lines = [[*(f"a{i}" for i in range(320)), "label"], *([value] * 320 + ["a"] for value in "0123456789")]
    file.write_text("".join(",".join(line) + "\n" for line in lines))
    assert found(file, "--class", "label")["tuples"] == hex(10**320)
    _, out, _ = run("inspect", file, "--class", "label")
    assert "tuples in the domain     about 1.0 * 10^320\n" in out


def test_labels_cannot_steer_the_terminal(run, file):
    file.write_text("[bold]x,label\n1,\x1b[31mred\n2,:smile: [red]\n", encoding="utf-8")
    _, out, _ = run("inspect", file, "--class", "label")
    assert "\x1b" not in out
    assert "\\x1b[31mred" in out
    assert ":smile: [red]" in out
    assert "[bold]x" in out


def test_numbers_that_64_bits_do_not_hold_are_said_to_be_text(run, tmp_path):
    path = tmp_path / "long.csv"
    rows = ["18446744073709551616,1.5,7,a", "5,9007199254740993,8,b", ",2.5,9,a", "6,3.5,9,b"]
    path.write_text("\n".join(["id,share,size,label", *rows]), encoding="utf-8")
    asked = (path, "--class", "label")
    first = (
        "id holds numbers that 64 bits do not, as 18446744073709551616, and is read as text, in the order of "
        "texts: --text id says that this is meant."
    )
    code, out, err = run("inspect", *asked)
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if line.startswith("- ")] == [
        f"- {first}",
        "- share holds numbers that 64 bits do not, as 9007199254740993, and is read as text, in the order "
        "of texts: --text share says that this is meant.",
    ]
    assert json.loads(run("inspect", *asked, "--json")[1])["warnings"][0] == first
    assert "says that this is meant" not in run("inspect", *asked, "--text", "id", "--text", "share")[1]
    published = (*asked, "--amplification", "4", "--out", tmp_path / "out", "--columns", "id,size", "--json")
    assert first in json.loads(run(*ANYHOW, *published)[1])["warnings"]
