"""Files are not read beyond what is ever published: their size is asked for first."""

import hashlib
import json
import os

import pytest
from both_verifiers import in_both

import nbcfast
from nbcfast import Table, Viewset, response, skyline, verify_release
from nbcfast.published.certificate import Certificate
from nbcfast.published.release import Release
from nbcfast.response import disguise

LARGE = 1 << 40  # bytes, which no disk holds: all but the first are a hole
MOST = f"{verify_release.MOST_BYTES:,}"
ROWS = {"job": ["a", "a", "b", "b", "c", "c"], "ill": ["y", "n", "n", "y", "n", "y"]}


@pytest.fixture
def release(tmp_path):
    views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]})
    Release(views, Certificate(amplification=4, tuples=2)).save(tmp_path / "release")
    return tmp_path / "release"


def partition(folder, **options):
    skyline.anonymize(Table(ROWS), ["job"], "ill", k=2).save(folder, **options)
    return folder


@pytest.fixture
def told(tmp_path):
    answers = Table({"a": [0, 1, 1, 0] * 5})
    disguise(answers, response.Scheme("3/4", [["a"]])).save(tmp_path / "told")
    return tmp_path / "told"


def with_hole(path):
    try:
        os.truncate(path, LARGE)
    except OSError:
        pytest.skip("the file system has no files of this size")


def both(folder, capsys, name):
    """The exit codes of the script and of the library, and what both say of one check."""
    capsys.readouterr()
    code = verify_release.main([str(folder)])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line[5:20].strip() == name]
    found = nbcfast.verify(folder)
    (check,) = [check for check in found.checks if check.name == name]
    assert (code, line[20:]) == (found.exit_code, check.text)
    return code, check.text


def refused(name, most, size=LARGE):
    return f"{name}: not checked here: {size:,} bytes, and up to {most:,} are read"


def test_a_certificate_of_any_size_is_not_read(release, capsys, monkeypatch):
    path = release / verify_release.NAME
    with_hole(path)
    text = refused(verify_release.NAME, verify_release.MOST_BYTES)
    assert both(release, capsys, "file") == (3, text)
    with pytest.raises(ValueError, match=f"certificate.json: not checked here: .* up to {MOST} are read"):
        nbcfast.load(release)
    with pytest.raises(FileExistsError, match="exists"):  # it is not known whether it is ours
        Release(Viewset([2, 3], {}), Certificate(amplification=4, tuples=1)).save(release, overwrite=True)
    assert path.stat().st_size == LARGE


def test_a_certificate_exactly_as_large_as_may_be_is_read(release, capsys, monkeypatch):
    size = (release / verify_release.NAME).stat().st_size
    in_both(monkeypatch, "MOST_BYTES", size)
    assert both(release, capsys, "file")[0] == 0
    in_both(monkeypatch, "MOST_BYTES", size - 1)
    assert both(release, capsys, "file") == (3, refused(verify_release.NAME, size - 1, size))


def test_a_file_that_grows_while_it_is_read_is_let_go(release, capsys, monkeypatch):
    folder = partition(release.parent / "people")
    size = (release / verify_release.NAME).stat().st_size
    in_both(monkeypatch, "MOST_BYTES", size - 1)
    in_both(monkeypatch, "expect_size", lambda *_: None)  # it was small when asked
    assert both(release, capsys, "file")[0] == 3
    size = (folder / verify_release.TABLE).stat().st_size
    in_both(monkeypatch, "MOST_BYTES", 1 << 20)
    in_both(monkeypatch, "MOST_OF_TABLE", size - 1)
    code, text = both(folder, capsys, "table")
    assert (code, text) == (3, refused(verify_release.TABLE, size - 1, size))


def test_what_is_too_large_for_a_verifier_is_not_saved(tmp_path, monkeypatch):
    views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]})
    made = skyline.anonymize(Table(ROWS), ["job"], "ill", k=2)
    for name, most, save in (
        (
            verify_release.NAME,
            "MOST_BYTES",
            Release(views, Certificate(amplification=4, tuples=2)).save,
        ),
        (verify_release.NAME, "MOST_BYTES", made.save),
        (verify_release.TABLE, "MOST_OF_TABLE", made.save),
    ):
        with monkeypatch.context() as few:
            in_both(few, most, 10)
            with pytest.raises(ValueError, match=rf"not saved: {name} would have .* read up to 10$"):
                save(tmp_path / "new")
        assert not (tmp_path / "new").exists()


def test_a_table_of_any_size_is_not_read(tmp_path, capsys):
    folder = partition(tmp_path / "people")
    with_hole(folder / verify_release.TABLE)
    text = refused(verify_release.TABLE, verify_release.MOST_OF_TABLE)
    assert both(folder, capsys, "table") == (3, text)
    with pytest.raises(ValueError, match=r"table: table\.csv: not checked here"):
        nbcfast.load(folder)


def test_a_table_of_very_many_lines_is_not_gone_through(tmp_path, capsys, monkeypatch):
    folder = partition(tmp_path / "people")
    in_both(monkeypatch, "MOST_LINES", 6)
    assert both(folder, capsys, "table")[0] == 0
    in_both(monkeypatch, "MOST_LINES", 5)
    assert both(folder, capsys, "table") == (3, "table.csv: not checked here: more than 5 lines")


@pytest.mark.parametrize("unit", ["x", ",", '"\n",'])
def test_no_line_of_a_table_is_longer_than_the_values_that_it_may_hold(tmp_path, capsys, monkeypatch, unit):
    folder = partition(tmp_path / "people")
    read, limit = 0, verify_release.SHORT_LINE

    class Counted:
        def __init__(self, file):
            self.file = file

        def readline(self, most):
            nonlocal read
            line = self.file.readline(most)
            read += len(line)
            return line

    with (folder / verify_release.TABLE).open("a") as file:
        file.write(unit * (1 << 20))
    fields = json.loads((folder / verify_release.NAME).read_text())
    fields["table_sha256"] = hashlib.sha256((folder / verify_release.TABLE).read_bytes()).hexdigest()
    fields["sha256"] = verify_release.digest(fields)
    (folder / verify_release.NAME).write_text(verify_release.canonical_json(fields) + "\n")
    before = verify_release._Records.__init__

    def counting(self, file, document):
        before(self, Counted(file), document)

    in_both(monkeypatch, "_Records.__init__", counting)
    code, text = both(folder, capsys, "table")
    assert code == 1
    assert text == f"table.csv: a line has more than the {limit:,} characters of the longest values"
    assert read < 2 * (limit + 1000)


def test_lines_as_long_as_their_values_are_read(tmp_path, capsys, monkeypatch):
    in_both(monkeypatch, "SHORT_LINE", 1)
    long = '"' * 3_000
    rows = {"job": [f"{one}{long}" for one in "aabb"], "ill\n": [f"y{long}", "n\n\n", "n\n\n", f"y{long}"]}
    for weights in (None, "how many"):
        skyline.anonymize(Table(rows), ["job"], "ill\n", k=1).save(tmp_path / f"{weights}", weights=weights)
        assert both(tmp_path / f"{weights}", capsys, "table")[0] == 0


def test_a_parquet_file_of_any_size_is_not_read(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    folder = partition(tmp_path / "people", parquet=True)
    with_hole(folder / verify_release.PARQUET)
    text = refused(verify_release.PARQUET, verify_release.MOST_OF_TABLE)
    assert both(folder, capsys, "parquet") == (3, text)


def test_copies_of_any_size_are_not_read(told, tmp_path, run):
    scheme = told / verify_release.SCHEME
    with_hole(scheme)
    assert verify_release.main([str(told)]) == 1
    assert nbcfast.verify(told).exit_code == 1
    with pytest.raises(ValueError, match=r"expected the scheme\.json of the certificate beside it"):
        response.load_scheme(told)
    alone = tmp_path / "alone.json"
    alone.write_bytes(b"{")
    with_hole(alone)
    with pytest.raises(ValueError, match=f"alone.json: not checked here: .* up to {MOST} are read"):
        response.load_scheme(alone)
