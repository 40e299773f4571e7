"""What holds of every kind of published table: its files, what is read of them, what is refused."""

import hashlib
import json
import os

import numpy as np
import pytest

import nbcfast
from nbcfast import response, skyline, verify_release
from nbcfast.cli import main
from nbcfast.mondrian import anonymize
from nbcfast.published import table_lines as tables
from nbcfast.templates import Template, disclose

PEOPLE = {
    "job": ["cook", "cook", "clerk", None, "a, b", "cook"] * 2,
    "share": [0.5, 1.0, 0.5, 1.0, 0.5, 1.0] * 2,
    "ok": [True, False, True, True, False, False] * 2,
    "ill": ["no", "yes", "no", "no", "yes", "no"] * 2,
}


def partition():
    return anonymize(PEOPLE, ["job", "share"], "ok", [(0, 0, 0, 1)])


def disclosure():
    return disclose(nbcfast.Table(PEOPLE), [Template(["job"], ("ill", "yes"), "3/4")], "ok")


def disguised():
    domains = {"job": ["a, b", "clerk", "cook", None], "share": [0.5, 1.0], "ok": [False, True]}
    return response.disguise(PEOPLE, response.KaryScheme("2/3", domains))


KINDS = {"partition": partition, "disclosure": disclosure, "disguised": disguised}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def folder(kind, tmp_path):
    KINDS[kind]().save(tmp_path / "out")
    return tmp_path / "out"


def resigned(folder, change=None, table=None):
    """Change the certificate or the bytes of the table, and put right all hashes."""
    fields = json.loads((folder / "certificate.json").read_text())
    if table is not None:
        data = table((folder / "table.csv").read_bytes())
        (folder / "table.csv").write_bytes(data)
        fields["table_sha256"] = hashlib.sha256(data).hexdigest()
    if change is not None:
        change(fields)
    fields["sha256"] = verify_release.digest(fields)
    (folder / "certificate.json").write_text(verify_release.canonical_json(fields) + "\n")


def test_each_kind_has_its_own_place(kind, folder):
    found = nbcfast.verify(folder)
    assert found.ok, found
    assert found.kind == kind
    others = {"release", *KINDS} - {kind}
    assert getattr(found, kind) is found.published is not None
    assert [getattr(found, other) for other in others] == [None] * 3
    assert type(nbcfast.load(folder)) is type(found.published)
    assert verify_release.main([str(folder)]) == 0


def test_what_is_loaded_is_saved_alike(folder, tmp_path):
    nbcfast.load(folder).save(tmp_path / "again")
    for name in ("table.csv", "certificate.json"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_a_private_table_goes_with_releases(kind, folder, capsys):
    with pytest.raises(TypeError, match=f"against is for releases: kind '{kind}' is checked from its own"):
        nbcfast.verify(folder, nbcfast.Table(PEOPLE))
    with pytest.raises(SystemExit, match="2"):
        main(["verify", str(folder), "--against", str(folder / "table.csv")])
    assert f"--against is for releases: kind '{kind}' is checked" in capsys.readouterr().err
    with pytest.raises(verify_release.Refused, match=f"expected 'release'; got \"{kind}\""):
        verify_release.parse((folder / "certificate.json").read_bytes())


@pytest.mark.parametrize("name", ["certificate.json", "table.csv"])
def test_a_failed_save_leaves_what_was_there(kind, folder, tmp_path, monkeypatch, name):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    link = os.link

    def broken(source, target, **options):
        if os.path.basename(target) == name:
            raise OSError("disk full")
        return link(source, target, **options)

    other = KINDS[kind]()
    for place in (folder, tmp_path / "new" / "deep"):
        with monkeypatch.context() as patched:
            patched.setattr("os.link", broken)
            with pytest.raises(OSError, match="disk full"):
                other.save(place, overwrite=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (lambda data: data.replace(b"\n", b"\r\n"), "expected line ends"),
        (lambda data: data[:-1], "expected line ends"),
        (lambda data: data.replace(b"True", b'"True"', 1), "quotes only where they are needed"),
        (lambda data: b"\xef\xbb\xbf" + data, "expected the columns"),
        (lambda data: data.replace(b"job", b"jobs", 1), "expected the columns"),
        (lambda data: data + data.splitlines(keepends=True)[1], "is not in order"),
        (lambda data: data.replace(b"True", b"Tree"), "'Tree' is no value of 'ok'"),
        (lambda data: data.replace(b"True", b"True,", 1), "fields, expected"),
        (lambda data: data + b"\n", "has 0 fields, expected"),
        (lambda data: data.replace(b"True", b"T\xffe", 1), "codec can't decode"),
        (lambda data: data.replace(b"True", b'"True', 1), "table.csv"),
        (lambda data: data[: data.index(b"\n") + 1], "table.csv has no rows"),
        (lambda data: b"", "expected the columns"),
    ],
)
def test_a_table_has_one_spelling_and_one_order(folder, capsys, table, text):
    before = (folder / "table.csv").read_bytes()
    resigned(folder, table=table)
    assert (folder / "table.csv").read_bytes() != before
    found = nbcfast.verify(folder)
    assert [check.name for check in found.checks if not check.passed] == ["table"]
    assert text in found.checks[-1].text
    assert found.published is None
    with pytest.raises(ValueError, match=r"certificate\.json: table: "):
        nbcfast.load(folder)
    assert verify_release.main([str(folder)]) == 1
    assert text in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            lambda f: f.update(kind="table"),
            "field 'kind': expected one of 'release', 'partition', 'disclosure'",
        ),
        (lambda f: f.update(format=2), "field 'format': expected 1, got 2"),
        (lambda f: f.pop("rows"), "field 'rows' is missing"),
        (lambda f: f.update(x=1), "field 'x' is unknown"),
        (lambda f: f.update(seeded=1), "field 'seeded': expected true or false, got 1"),
        (lambda f: f.update(version=1), "field 'version': expected a text, got 1"),
        (lambda f: f.update(notes=[1]), "field 'notes': expected a list of texts, got [1]"),
        (lambda f: f.update(table_sha256="0"), "field 'table_sha256': expected 64 hexadecimal digits"),
        (lambda f: f.update(columns=[]), "field 'columns': expected a list, got []"),
        (lambda f: f["columns"][0].pop("name"), "expected entries with a name and cells"),
        (lambda f: f["columns"][0]["cells"].append(["cook"]), "expected a text and its value"),
        (lambda f: f["columns"][0].update(name=f["columns"][1]["name"]), "column"),
        (lambda f: f.update(rows=13), "the certificate says 13"),
    ],
)
def test_a_certificate_has_one_form(folder, capsys, change, text):
    resigned(folder, change)
    found = nbcfast.verify(folder)
    assert not found.ok
    assert text in repr(found)
    assert verify_release.main([str(folder)]) == 1
    assert text in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["disclosure", "disguised"], indirect=True)
@pytest.mark.parametrize(("column", "text"), [("ok", "Ja"), ("share", "0.50"), ("job", "Cook"), ("job", "")])
def test_a_value_has_its_own_text(kind, folder, column, text):
    def change(fields):
        cells = next(entry["cells"] for entry in fields["columns"] if entry["name"] == column)
        cells[0][0] = text if text else " "

    resigned(folder, change)
    assert "expected the text" in repr(nbcfast.verify(folder))


@pytest.mark.parametrize("kind", ["partition", "disclosure"], indirect=True)
@pytest.mark.parametrize("number", [b"0", b"01", b"-1", b"1.0", b"x", b"2305843009213693952"])
def test_weights_are_numbers_of_people(kind, tmp_path, number):
    KINDS[kind]().save(tmp_path, weights="n")
    assert nbcfast.verify(tmp_path).ok
    resigned(tmp_path, table=lambda data: data[: data.rindex(b",") + 1] + number + b"\n")
    found = nbcfast.verify(tmp_path)
    assert [check.name for check in found.checks if not check.passed] == ["table"]


@pytest.mark.parametrize("kind", ["partition", "disclosure"], indirect=True)
@pytest.mark.parametrize("order", ["canonical", "shuffled"])
def test_a_weighted_row_stands_once_in_canonical_order(kind, tmp_path, order):
    KINDS[kind]().save(tmp_path, weights="n", order=order)
    people = nbcfast.load(tmp_path).n_rows

    def again(fields):
        fields["rows"] = people + int((tmp_path / "table.csv").read_text().rsplit(",", 1)[1])

    resigned(tmp_path, table=lambda data: data + data.splitlines(keepends=True)[-1])
    resigned(tmp_path, again)
    found = nbcfast.verify(tmp_path)
    if order == "canonical":
        assert "is not in order" in repr(found)
    else:
        assert next(check.passed for check in found.checks if check.name == "table")


def test_rationals_of_disguised_answers_are_in_lowest_terms(tmp_path):
    disguised().save(tmp_path)
    fields = json.loads((tmp_path / "certificate.json").read_text())
    assert [group["theta"] for group in fields["scheme"]["groups"]] == ["2/3"] * 3
    assert fields["privacy"] == ["6/1", "2/1", "2/1"]

    lowest = 'expected a rational "num/den" in lowest terms'
    for theta in ("0.8", "4/6", "2", "0x2/0x3", "-1/2", "3/2"):
        resigned(tmp_path, lambda f, theta=theta: f["scheme"]["groups"][0].update(theta=theta))
        said = repr(nbcfast.verify(tmp_path))
        assert ("expected a theta up to 1" if theta == "3/2" else lowest) in said


def banded():
    """People with intervals, one of them with a rational end, both as known and as sensitive values."""
    from nbcfast import Interval

    bands = [Interval(None, 1), Interval(1, "7/3"), Interval("7/3", "9.5"), Interval("9.5", None)]
    return nbcfast.Table({"band": bands * 3, "hurt": (bands[:2] * 6), "ok": [True, False] * 6})


BANDED = {
    "partition": lambda: anonymize(banded(), ["band", "ok"], "hurt", k=2),
    "disclosure": lambda: disclose(
        banded(), [Template(["band"], ("ok", True), 1)], utility="distortion", continuous=[]
    ),
}


@pytest.mark.parametrize("kind", BANDED)
@pytest.mark.parametrize("text", ["[1, 2.3333)", "[1, 7/3]", "(-inf, 3)", "x"])
def test_an_interval_has_its_own_text(kind, tmp_path, text):
    BANDED[kind]().save(tmp_path)
    assert nbcfast.verify(tmp_path).ok

    def change(fields):
        cells = fields["sensitive"]["values"] if kind == "partition" else fields["columns"][0]["cells"]
        assert [cell[0] for cell in cells][:2] == ["(-inf, 1)", "[1, 7/3)"]
        cells[1][0] = text

    resigned(tmp_path, change)
    assert "expected the text '[1, 7/3)' of" in repr(nbcfast.verify(tmp_path))
    assert verify_release.main([str(tmp_path)]) == 1


def test_texts_of_intervals_are_those_of_the_library():
    from nbcfast import Interval

    ends = [None, "-5", "-1/8", 0, "1/3", "0.1", "5/2", 10**30, "1e-41", "3e4000"]
    for low in ends:
        for high in ends:
            try:
                one = Interval(low, high)
            except ValueError:
                continue
            assert verify_release.interval_text(one.low, one.high) == str(one)


COOK, CLERK, NULL = ["text", "cook"], ["text", "clerk"], ["null"]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([["clerk", [COOK]], ["x", [CLERK, NULL]]], "expected the text 'cook' of 'cook', got 'clerk'"),
        ([["{cook}", [COOK]]], "expected the text 'cook' of 'cook', got '{cook}'"),
        ([["cook", [CLERK, NULL]], ["x", [COOK]]], "expected another text of 2 values, got 'cook'"),
        ([["null", [CLERK, NULL]]], "expected another text of 2 values, got 'null'"),
        ([["0.5", [["interval", "1/2", None]]]], "expected the text '[1/2, inf)' of"),
        ([["1", [["bool", "true"]]]], "expected the text 'True' of True, got '1'"),
        ([["0.50", [["float", "0.5"]]]], "expected the text '0.5' of 0.5, got '0.50'"),
    ],
)
def test_a_generalised_cell_does_not_pass_for_another(tmp_path, cells, said):
    partition().save(tmp_path)
    resigned(tmp_path, lambda fields: fields["columns"][0].update(cells=cells))
    assert said in repr(nbcfast.verify(tmp_path)).replace("[0.5, inf)", "[1/2, inf)")


@pytest.mark.parametrize("kind", ["partition", "disclosure"])
def test_a_parquet_of_another_table_does_not_stay(kind, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    made = KINDS[kind]()
    made.save(tmp_path, parquet=True)
    found = nbcfast.verify(tmp_path)
    assert (found.ok, found.checks[-1].name) == (True, "parquet")
    copy = (tmp_path / "table.parquet").read_bytes()

    def broken(source, target):
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr("os.rename", broken)
        with pytest.raises(OSError, match="disk full"):
            made.save(tmp_path, overwrite=True)
    assert (tmp_path / "table.parquet").read_bytes() == copy
    made.save(tmp_path, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["certificate.json", "table.csv"]


@pytest.mark.parametrize("kind", ["partition", "disclosure"], indirect=True)
@pytest.mark.parametrize(
    ("weights", "error"), [("", ValueError), (5, TypeError), (True, TypeError), ([], TypeError)]
)
def test_weights_are_the_name_of_a_column(kind, tmp_path, weights, error):
    with pytest.raises(error, match="the name of a new column, got"):
        KINDS[kind]().save(tmp_path / "out", weights=weights)
    assert not (tmp_path / "out").exists()


def test_what_may_be_suppressed_follows_from_the_templates(tmp_path):
    disclosure().save(tmp_path)
    for masked in ([], ["job", "job"], ["job", "share"]):
        resigned(tmp_path, lambda fields, masked=masked: fields.update(masked=masked))
        assert "field 'masked': expected [\"job\"], got" in repr(nbcfast.verify(tmp_path))


def heavy():
    """Twenty rows that stand for 10^13 people."""
    values = {"job": ["cook", "clerk"] * 10, "ill": ["no", "yes", "no", "no"] * 5}
    return nbcfast.Table(values, weights=np.full(20, 1 << 40))


def test_a_line_for_each_person_has_a_limit(tmp_path):
    """A disk of 55 GB was filled by twenty rows."""
    disclosure = disclose(heavy(), [Template(["job"], ("ill", "yes"), "60%")], utility="distortion")
    partition = skyline.anonymize(heavy(), ["job"], "ill", [(0, 0, 0, "0.95")])
    people = f"{20 << 40:,}"
    said = f"not saved: a line for each person would be {people} lines, more than 100,000,000; with weights="
    for order in ("canonical", "shuffled"):
        for made in (disclosure, partition):
            with pytest.raises(ValueError, match=said):
                made.save(tmp_path / "out", order=order)
    with pytest.raises(ValueError, match=said):
        tables.write_csv(disclosure.collapsed, tmp_path / "table.csv")
    with pytest.raises(ValueError, match=said):
        tables.write_parquet(disclosure.collapsed, tmp_path / "table.parquet")
    assert list(tmp_path.iterdir()) == []
    for number, made in enumerate((disclosure, partition)):
        made.save(tmp_path / str(number), weights="people", parquet=True)
        assert nbcfast.verify(tmp_path / str(number)).ok
        assert nbcfast.load(tmp_path / str(number)).n_rows == 20 << 40
    tables.write_parquet(disclosure.collapsed, tmp_path / "table.parquet", weights="people")


def test_disclose_names_the_option_for_many_people(tmp_path, run):
    rows = [f"{job},{ill},{1 << 40}" for job, ill in (("cook", "no"), ("clerk", "yes"), ("clerk", "no"))]
    (tmp_path / "people.csv").write_text("\n".join(["job,ill,n", *rows]), encoding="utf-8")
    wanted = (
        "templates",
        "disclose",
        tmp_path / "people.csv",
        "--weights",
        "n",
        "--template",
        "job -> ill=yes <= 60%",
    )
    code, _, err = run(*wanted, "--out", tmp_path / "out")
    assert code == 2
    assert "would be 3,298,534,883,328 lines" in err
    assert "(--counts people)" in err
    assert not (tmp_path / "out").exists()
    assert run(*wanted, "--counts", "people", "--out", tmp_path / "out")[0] == 0
    assert run("verify", tmp_path / "out")[0] == 0
