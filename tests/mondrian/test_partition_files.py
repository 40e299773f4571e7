"""A saved partition: what is written, verified, loaded, and refused."""

import hashlib
import json
import os
import subprocess
import sys
import unicodedata

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from partition_cases import failed, people, resigned

import nbcfast
from nbcfast import Interval, Table, verify_release
from nbcfast._wire.partition_form import ONLY_SIZES, PARTITION, WITHIN_GROUPS
from nbcfast.mondrian import anonymize
from nbcfast.mondrian.demands import Demands
from nbcfast.mondrian.quasi import Cell, element
from nbcfast.mondrian.wire import typed_cell
from nbcfast.published.dataset import csv_field


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
    assert loaded.certificate == partition.certificate
    assert loaded.certificate.to_dict() == json.loads((saved / "certificate.json").read_text())
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
    assert [verify_release.field(text) for text in texts] == list(map(csv_field, texts))
    found = anonymize({'a"b': list(range(len(texts))), "ill": texts}, ['a"b'], "ill", k=2)
    found.save(tmp_path)
    assert nbcfast.verify(tmp_path).ok


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


def test_elements_of_cells_are_those_of_the_library():
    values = [
        None,
        nbcfast.SUPPRESSED,
        "null",
        "suppressed",
        "",
        " x",
        "a..b",
        "a,b",
        'q"',
        "{",
        "é",
        "\t",
        "x\ny",
    ]
    values += ["plain text", "[1, 2)", True, 3, -4.5, 1e300, Interval(1, "2.5")]
    typed = typed_cell(Cell("", tuple(values)))
    for value, entry in zip(values, typed, strict=True):
        assert verify_release.element(verify_release.value(entry, "")) == element(value)


@pytest.mark.parametrize(
    ("demands", "said", "not_said"),
    [
        ({"k": 2}, "Only the size of groups was asked for", "Safe is meant"),
        (
            {"k": 2, "closeness": "1/2"},
            "about the values of the sensitive column within groups",
            "the points allow",
        ),
        ({"k": 2, "points": [(0, 1, 0, "9/10")]}, "Safe is meant", "Only the size"),
    ],
    ids=["k alone", "closeness", "points"],
)
def test_the_note_is_of_what_was_asked_for(tmp_path, demands, said, not_said):
    """Large groups alone say nothing of sensitive values, and so must the note."""
    table = nbcfast.Table({"age": [1, 1, 2, 2], "ill": ["flu", "gout", "gout", "flu"]})
    made = anonymize(table, ["age"], "ill", **demands)
    made.save(tmp_path)
    document = json.loads((tmp_path / "certificate.json").read_text())
    assert said in document["notes"][0]
    assert not_said not in document["notes"][0]
    assert nbcfast.verify(tmp_path).ok
    for words in {PARTITION, WITHIN_GROUPS, ONLY_SIZES} - set(document["notes"]):
        resigned(tmp_path, lambda fields, lines, words=words: fields.update(notes=[words]))
        assert failed(tmp_path)
