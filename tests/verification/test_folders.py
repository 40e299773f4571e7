"""What lies beside a certificate: nothing that it does not name, no other scheme, no other table, no pipe."""

import hashlib
import json
import os
import pickle
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from random import Random
from typing import ClassVar

import pytest

import nbcfast
from nbcfast import Table, Viewset, response, skyline, verify_release
from nbcfast.response import KaryScheme, Scheme
from nbcfast.templates import Template, disclose
from nbcfast.verification.results import Check

PEOPLE = {
    "job": ["cook", "cook", "clerk", None, "a, b", "cook"] * 2,
    "age": [30, 31, 32, 50, 51, 52] * 2,
    "ill": ["no", "yes", "no", "no", "yes", "no"] * 2,
}
VIEWS = Viewset([5, 9], {"job": [[2, 7], [3, 2]]}, classes=["ill", "well"])
SCHEME = KaryScheme("2/3", {"ill": ["no", "yes"]})
SAVED = {
    "release": lambda folder: nbcfast.safety_transform(VIEWS, 4).save(folder),
    "partition": lambda folder: skyline.anonymize(PEOPLE, ["job", "age"], "ill", k=2).save(folder),
    "disclosure": lambda folder: disclosure().save(folder),
    "disguised": lambda folder: response.disguise(Table(PEOPLE), SCHEME).save(folder),
}
NAMES = {
    "release": ["certificate.json"],
    "partition": ["certificate.json", "table.csv"],
    "disclosure": ["certificate.json", "table.csv"],
    "disguised": ["certificate.json", "scheme.json", "table.csv"],
}


def disclosure():
    return disclose(Table(PEOPLE), [Template(["job"], ("ill", "yes"), "3/4")], "age")


def rewritten(folder, change):
    """Change the fields of the certificate, and its sha256 with them."""
    path = folder / "certificate.json"
    fields = json.loads(path.read_text())
    change(fields)
    fields["sha256"] = verify_release.digest(fields)
    path.write_text(verify_release.canonical_json(fields) + "\n")


def check(found, name):
    return next(check for check in found.checks if check.name == name)


@pytest.fixture
def script(capsys):
    """The exit code of the script, and the lines that it prints."""

    def run(*arguments):
        capsys.readouterr()
        code = verify_release.main(list(map(str, arguments)))
        printed, errors = capsys.readouterr()
        assert errors == ""
        return code, printed.splitlines()

    return run


@pytest.fixture(params=SAVED)
def kind(request):
    return request.param


@pytest.fixture
def folder(kind, tmp_path):
    SAVED[kind](tmp_path / "out")
    return tmp_path / "out"


class TestNames:
    """Files that the certificate does not name."""

    def test_what_is_written_is_named(self, kind, folder, script):
        assert sorted(os.listdir(folder)) == NAMES[kind]
        found = nbcfast.verify(folder)
        assert found.ok, found
        text = "holds nothing that the certificate does not name"
        assert check(found, "folder").text == text
        assert f"yes  folder         {text}" in script(folder)[1]

    @pytest.mark.parametrize(
        "name", ["note.txt", ".hidden", "cuts.json", "table.parquet", ".git/", "Table.csv"]
    )
    def test_others_are_listed_and_fail(self, run, folder, script, name):
        if name.endswith("/"):
            (folder / name).mkdir()
            (folder / name / "inside").write_text("{}")
            shown = '".git" (a folder)'
        else:
            (folder / name).write_text("{}")
            shown = f'"{name}"'
        found = nbcfast.verify(folder)
        assert (found.verdict, found.exit_code) == ("not verified", 1)
        text = f"not named by the certificate (--ignore-extra ignores it): {shown}"
        assert check(found, "folder") == Check("folder", False, text)
        code, lines = script(folder)
        assert code == 1
        assert "not verified" in lines
        assert f"NO   folder         {text}" in lines
        for path in (folder, folder / "certificate.json"):
            code, printed, _ = run("verify", path, "--json")
            assert code == 1
            assert text in [each["text"] for each in json.loads(printed)["checks"]]

        assert nbcfast.load(folder) is not None

    @pytest.mark.parametrize("names", [["note.txt"], ["a.csv", "b/"]])
    def test_what_is_ignored_has_no_yes(self, run, folder, script, names):
        """And the exit code is that of the rest: who asks for it knows what he takes over."""
        for name in names:
            (folder / name).mkdir() if name.endswith("/") else (folder / name).write_text("")
        shown = ['"a.csv"', '"b" (a folder)'] if len(names) > 1 else ['"note.txt"']
        text = f"ignored as asked, not looked at, and covered by nothing: {', '.join(shown)}"
        left = "1 thing in the folder was ignored, and nothing covers it"
        if len(names) > 1:
            left = "2 things in the folder were ignored, and nothing covers them"
        for path in (folder, folder / "certificate.json"):
            found = nbcfast.verify(path, ignore_extra=True)
            assert found.ok
            assert found.ignored == tuple(shown)
            assert found.to_dict()["ignored"] == shown
            assert "folder" not in [check.name for check in found.checks]
            assert f"  --   folder        {text}\n" in f"{found!r}\n"
            assert left in found.conclusion
            code, lines = script("--ignore-extra", path)
            assert code == 0
            assert f"--   folder         {text}" in lines
            assert found.conclusion in lines
            code, printed, _ = run("verify", path, "--ignore-extra")
            assert code == 0
            assert found.conclusion in printed.splitlines()
            (line,) = (line for line in printed.splitlines() if line.split()[:2] == ["--", "folder"])
            assert line.endswith(text)
        assert nbcfast.verify(folder).ignored == ()

    def test_where_there_is_nothing_to_ignore_the_folder_is_checked(self, folder, script):
        found = nbcfast.verify(folder, ignore_extra=True)
        assert (check(found, "folder").passed, found.ignored) == (True, ())
        assert "yes  folder" in "\n".join(script(folder, "--ignore-extra")[1])

    def test_in_the_folder_itself(self, folder, script, monkeypatch):
        monkeypatch.chdir(folder)
        assert nbcfast.verify("certificate.json").ok
        assert script("certificate.json")[0] == 0
        (folder / "more").write_text("")
        assert not nbcfast.verify("certificate.json").ok
        assert script("certificate.json")[0] == 1

    def test_under_another_name_it_stands_for_its_folder_too(self, folder):
        (folder / "certificate.json").rename(folder / "mine.json")
        assert nbcfast.verify(folder / "mine.json").ok
        (folder / "certificate.json").write_text("{}")
        assert check(nbcfast.verify(folder / "mine.json"), "folder").passed is False

    def test_names_cannot_forge_a_line(self, run, folder, script):
        (folder / "x\nyes  audited by the Commission\x1b[31m\udc80\u202e").write_text("")
        for lines in (script(folder)[1], run("verify", folder)[1].splitlines()):
            assert not any(line.startswith("yes  audited") for line in lines)
            assert all(line.isprintable() for line in lines)
            assert "audited by the" in " ".join(lines)
        json.dumps(nbcfast.verify(folder).to_dict())
        found = nbcfast.verify(folder)
        assert repr(found).count("\n") == len(found.checks) + len(found.claims) + len(found.words)
        found = nbcfast.verify(folder, ignore_extra=True)
        assert repr(found).count("\n") == 1 + len(found.checks) + len(found.claims) + len(found.words)

    def test_of_many_some_are_listed(self, folder):
        for number in range(1000):
            (folder / f"{number:04}").write_text("")
        text = check(nbcfast.verify(folder), "folder").text
        assert text.endswith('"0018", "0019", and 980 more')

    def test_ignore_extra_is_true_or_false(self, folder):
        with pytest.raises(TypeError, match="ignore_extra must be True or False, got 'yes'"):
            nbcfast.verify(folder, ignore_extra="yes")


def links_out(path):
    outside = path.parent.parent / "outside"
    outside.write_bytes(path.read_bytes() if path.exists() else b"private")
    path.unlink(missing_ok=True)
    path.symlink_to(outside)


def listens(path):
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))


def replaced(make):
    def change(path):
        path.unlink(missing_ok=True)
        make(path)

    return change


SPECIAL = {
    "a named pipe": replaced(os.mkfifo),
    "a link to something outside its folder": links_out,
    "a link to nothing": replaced(lambda path: path.symlink_to("nowhere")),
    "a socket": listens,
}


class TestRegularFiles:
    """Everything else is refused, and not opened."""

    @pytest.mark.parametrize("what", SPECIAL)
    @pytest.mark.parametrize("name", ["certificate.json", "table.csv", "scheme.json", "extra"])
    def test_others_are_refused(self, run, kind, folder, script, monkeypatch, what, name):
        monkeypatch.chdir(folder.parent)  # the names of sockets are short
        named = name in NAMES[kind]
        SPECIAL[what](folder / name)
        own = name == "certificate.json"
        if own and what == "a link to nothing":
            with pytest.raises(FileNotFoundError):
                nbcfast.verify(folder)
            assert verify_release.main([str(folder)]) == 2
            return
        for options in ([], ["--ignore-extra"]):
            found = nbcfast.verify(folder, ignore_extra=bool(options))
            first = check(found, "file" if own else "folder")
            assert not first.passed
            expected = f'"{name}" is {what}'
            assert expected in first.text
            code, lines = script(folder, *options)
            assert code == 1
            assert any(line.startswith("NO  ") and expected in line for line in lines)
            assert run("verify", folder, *options)[0] == 1
        if named:
            with pytest.raises((ValueError, OSError), match=r"expected a regular file|No such file"):
                nbcfast.load(folder)
        else:
            nbcfast.load(folder)

    @pytest.mark.parametrize("name", ["certificate.json", "table.csv", "scheme.json"])
    def test_a_folder_in_the_place_of_a_file(self, kind, folder, script, name):
        if name not in NAMES[kind]:
            name = "certificate.json"
        (folder / name).unlink()
        (folder / name).mkdir()
        found = nbcfast.verify(folder, ignore_extra=True)
        assert f'"{name}" is a folder' in check(found, "file" if "cert" in name else "folder").text
        assert script(folder, "--ignore-extra")[0] == 1
        with pytest.raises(ValueError, match=r"is a folder: expected a regular file"):
            nbcfast.load(folder)

    def test_devices(self, script):
        for path in ("/dev/zero", "/dev/full"):
            code, lines = script(path)
            assert code == 1
            assert "is a device: expected a regular file" in lines[0]
            assert "is a device" in check(nbcfast.verify(path), "file").text
            with pytest.raises(ValueError, match="is a device"):
                nbcfast.load(path)

    def test_a_pipe_is_not_waited_for(self, tmp_path):
        (tmp_path / "a").mkdir()
        os.mkfifo(tmp_path / "a" / "certificate.json")
        SAVED["disguised"](tmp_path / "b")
        (tmp_path / "b" / "table.csv").unlink()
        os.mkfifo(tmp_path / "b" / "table.csv")
        SAVED["disguised"](tmp_path / "c")
        (tmp_path / "c" / "scheme.json").unlink()
        os.mkfifo(tmp_path / "c" / "scheme.json")
        for arguments in (
            [verify_release.__file__, "a"],
            [verify_release.__file__, "b"],
            [verify_release.__file__, "c"],
            ["-m", "nbcfast", "verify", "a"],
            ["-m", "nbcfast", "verify", "b"],
            ["-m", "nbcfast", "verify", "c"],
            ["-m", "nbcfast", "attack", "a"],
            ["-m", "nbcfast", "estimate", "b", "--class", "ill"],
            ["-m", "nbcfast", "response", "plan", "--scheme", "c/scheme.json", "--n", "9"],
        ):
            done = subprocess.run(
                [sys.executable, "-P", *arguments],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == (1 if "nbcfast" not in arguments or "verify" in arguments else 2)
            assert "is a named pipe: expected" in done.stdout + done.stderr

    def test_what_becomes_a_pipe_meanwhile_is_not_waited_for(self, tmp_path, monkeypatch):
        os.mkfifo(tmp_path / "table.csv")
        (tmp_path / "file").write_text("")
        before = os.stat(tmp_path / "file")
        monkeypatch.setattr(verify_release.os, "stat", lambda path: before)
        with pytest.raises(verify_release.Refused, match=r'"table.csv" is a named pipe: expected a regular'):
            verify_release.regular(str(tmp_path / "table.csv"))

    def test_links_within_the_folder_and_hard_links_are_files(self, kind, folder, script):
        (folder.parent / "link").symlink_to(folder)  # the folder itself may be anywhere
        os.link(folder / "certificate.json", folder.parent / "other")
        os.rename(folder / "certificate.json", folder / "real.json")
        (folder / "certificate.json").symlink_to("real.json")
        for path in (folder, folder.parent / "link"):
            found = nbcfast.verify(path)
            assert [each.name for each in found.checks if not each.passed] == ["folder"]
            assert '"real.json"' in check(found, "folder").text
            assert nbcfast.verify(path, ignore_extra=True).ok
            assert script(path, "--ignore-extra")[0] == 0

    def test_a_name_that_starts_as_the_folder_is_outside(self, folder):
        (folder.parent / "out2").mkdir()
        (folder.parent / "out2" / "x").write_text("")
        (folder / "x").symlink_to("../out2/x")
        assert "outside its folder" in check(nbcfast.verify(folder, ignore_extra=True), "folder").text


class TestScheme:
    """Copies of parts of the certificate of disguised answers."""

    @pytest.fixture
    def told(self, tmp_path):
        SAVED["disguised"](tmp_path / "told")
        return tmp_path / "told"

    @pytest.fixture
    def cut(self, tmp_path):
        points = response.cuts(PEOPLE, ["age", "ill"])
        table = response.binarise(Table(PEOPLE), points)
        response.disguise(table, Scheme.per_attribute("0.8", ["age", "ill"])).save(
            tmp_path / "cut", cuts=points
        )
        return tmp_path / "cut"

    def test_loaded_answers_keep_where_they_were_cut(self, cut, tmp_path):
        found = nbcfast.load(cut)
        assert found.cuts == response.cuts(PEOPLE, ["age", "ill"])
        again = pickle.loads(pickle.dumps(found))
        assert again.cuts == found.cuts
        for answers in (found, again):
            answers.save(tmp_path / "again", overwrite=True)
            assert sorted(os.listdir(tmp_path / "again")) == sorted(os.listdir(cut))
            for path in cut.iterdir():
                assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
        found.save(tmp_path / "none", cuts={})
        assert nbcfast.load(tmp_path / "none").cuts == {}
        assert not (tmp_path / "none" / "cuts.json").exists()

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text.replace("2/3", "1/1"),
            lambda text: text.replace('"theta": "2/3"', '"theta": "2/3", "theta": "1/1"'),
            lambda text: text.replace('"theta": "2/3"', '"theta": "1/1", "theta": "2/3"'),
            lambda text: text + "\n",
            lambda text: json.dumps(json.loads(text)),
            lambda text: "",
            lambda text: "\ufeff" + text,
            lambda text: "[" * 100_000,
        ],
    )
    def test_another_one_is_refused(self, run, told, script, tmp_path, change):
        path = told / "scheme.json"
        path.write_text(change(path.read_text()))
        found = nbcfast.verify(told)
        assert (found.exit_code, check(found, "scheme").passed) == (1, False)
        text = "scheme.json is not the scheme of the certificate: do not answer by it"
        assert check(found, "scheme").text == text
        code, lines = script(told)
        assert code == 1
        assert f"NO   scheme         {text}" in lines
        with pytest.raises(ValueError, match=r"scheme: scheme.json is not the scheme of the certificate"):
            nbcfast.load(told)
        for given in (path, told, str(told) + "/"):
            with pytest.raises(ValueError, match=r"expected the scheme.json of the certificate beside it"):
                response.load_scheme(given)
        (tmp_path / "next.csv").write_text("ill\nyes\nno\n")
        code, _, errors = run("disguise", tmp_path / "next.csv", "--scheme", path, "--out", tmp_path / "next")
        assert code == 2
        assert errors.endswith("expected the scheme.json of the certificate beside it, byte for byte\n")
        assert not (tmp_path / "next").exists()

    def test_that_of_the_certificate_is_read(self, told, script, tmp_path):
        assert response.load_scheme(told) == response.load_scheme(told / "scheme.json")
        assert response.load_scheme(told).groups == SCHEME.groups
        assert check(nbcfast.verify(told), "scheme").text == "scheme.json is the scheme of the certificate"
        (told / "scheme.json").rename(tmp_path / "alone.json")
        assert response.load_scheme(tmp_path / "alone.json").groups == SCHEME.groups
        assert nbcfast.verify(told).ok  # answers alone are whole
        assert script(told)[0] == 0
        with pytest.raises(FileNotFoundError):
            response.load_scheme(told)

    def test_one_beside_something_else_is_read(self, tmp_path):
        SAVED["release"](tmp_path)
        SCHEME.save(tmp_path / "scheme.json")
        assert response.load_scheme(tmp_path) == SCHEME
        (tmp_path / "certificate.json").write_text("{}")
        with pytest.raises(ValueError, match=r"certificate.json: field"):
            response.load_scheme(tmp_path)

    def test_cuts_are_those_of_the_certificate(self, run, cut, script, tmp_path):
        found = nbcfast.verify(cut)
        assert found.ok, found
        assert check(found, "cuts").text == "cuts.json is the cuts of the certificate"
        claim = "Before it was disguised, age was cut in two: a 1 stands for a number above 41."
        assert claim in found.claims
        assert f"the publisher claims, unchecked: {claim}" in script(cut)[1]
        path = cut / "cuts.json"
        (tmp_path / "next.csv").write_text("age,ill\n30,yes\n52,no\n")
        arguments = ["disguise", tmp_path / "next.csv", "--scheme", cut / "scheme.json", "--cuts", path]
        assert run(*arguments, "--out", tmp_path / "next")[0] == 0
        assert (tmp_path / "next" / "cuts.json").read_bytes() == path.read_bytes()
        path.write_text(path.read_text().replace('"41"', '"99"'))
        assert "99" in path.read_text()
        found = nbcfast.verify(cut)
        assert (found.exit_code, check(found, "cuts").passed, script(cut)[0]) == (1, False, 1)
        code, _, errors = run(*arguments, "--out", tmp_path / "other")
        assert (code, "expected the cuts.json of the certificate beside it" in errors) == (2, True)
        with pytest.raises(ValueError, match=r"cuts: cuts.json is not the cuts of the certificate"):
            nbcfast.load(cut)

    def test_cuts_that_no_certificate_names_are_extra(self, run, cut, script, tmp_path):
        rewritten(cut, lambda fields: fields.pop("cuts"))
        found = nbcfast.verify(cut)
        assert (found.exit_code, script(cut)[0]) == (1, 1)
        assert check(found, "folder").text.endswith(': "cuts.json"')
        (tmp_path / "next.csv").write_text("age,ill\n30,yes\n")
        code, _, errors = run(
            *("disguise", tmp_path / "next.csv", "--scheme", cut / "scheme.json"),
            *("--cuts", cut / "cuts.json", "--out", tmp_path / "other"),
        )
        assert (code, "names no cuts.json" in errors) == (2, True)

    def test_cuts_of_other_answers_do_not_stay(self, cut):
        response.disguise(Table(PEOPLE), SCHEME).save(cut, overwrite=True)
        assert sorted(os.listdir(cut)) == NAMES["disguised"]

    @pytest.mark.parametrize(
        "change",
        [
            {},
            [],
            {"age": {"point": "41", "values": []}, "x": {"point": "1", "values": []}},
            {"age": {"point": "41", "values": [], "note": "audited"}},
            {"age": {"point": "audited by the Commission", "values": []}},
            {"age": {"point": "041", "values": []}},
            {"age": {"point": "1" * 2000, "values": []}},
            {"age": {"point": "0.5", "values": ["no", "no"]}},
            {"age": {"point": "0.5", "values": ["no", 1]}},
            {"age": {"point": "0.5", "values": [["no"], ["yes"]]}},
            {"age": {"point": "2", "values": ["no", "yes"]}},
            {"age": {"point": 41, "values": []}},
            {"age": None},
        ],
    )
    def test_cuts_of_another_form_are_refused(self, cut, script, change):
        rewritten(cut, lambda fields: fields.update(cuts=change))
        assert "field 'cuts': expected" in check(nbcfast.verify(cut), "file").text
        assert script(cut)[0] == 1

    def test_cuts_that_do_not_go_with_the_answers_are_not_saved(self, tmp_path):
        answers = response.disguise(Table(PEOPLE), SCHEME)
        with pytest.raises(ValueError, match="not saved: field 'cuts': expected columns of the scheme"):
            answers.save(tmp_path / "out", cuts=response.cuts(PEOPLE, ["ill"]))
        with pytest.raises(TypeError, match="cuts: expected a Cut for 'ill', got int"):
            answers.save(tmp_path / "out", cuts={"ill": 3})
        assert not (tmp_path / "out").exists()


WRITER = re.compile(rb"parquet-cpp-arrow version [0-9.]+")


def renamed(data, text):
    """A Parquet file with another name for what wrote it."""
    length = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - length], data[-8 - length : -8]
    own = list(WRITER.finditer(footer))[-1]
    assert footer[own.start() - 1] == len(own[0])
    footer = footer[: own.start() - 1] + bytes([len(text)]) + text + footer[own.end() :]
    return body + footer + len(footer).to_bytes(4, "little") + b"PAR1"


class TestParquet:
    """The copy of the table in another format."""

    @pytest.fixture(params=["disclosure", "partition", "weights"])
    def copied(self, request, tmp_path):
        pytest.importorskip("pyarrow")
        made = skyline.anonymize(PEOPLE, ["job", "age"], "ill", k=2)
        made = made if request.param == "partition" else disclosure()
        made.save(tmp_path / "out", parquet=True, weights="n" if request.param == "weights" else None)
        return tmp_path / "out"

    def signed(self, folder, data):
        """Put another copy into the folder, and its sha256 into the certificate."""
        (folder / "table.parquet").write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        rewritten(folder, lambda fields: fields.update(parquet_sha256=digest))

    def written(self, folder, change=lambda table: table, *, group=None, **options):
        """What pyarrow writes of the same table, changed."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        from nbcfast.published import table_lines as tables

        fields = json.loads((folder / "certificate.json").read_text())
        made = nbcfast.load(folder)
        rows = made.counted if fields["kind"] == "partition" else made.collapsed
        table = change(pa.concat_tables(tables.arrow_blocks(rows, fields["weights"])))
        with pa.BufferOutputStream() as out:
            with pq.ParquetWriter(out, table.schema, **{"compression": "none", **options}) as writer:
                writer.write_table(table, row_group_size=group)
            return out.getvalue().to_pybytes()

    def test_the_copy_is_named_and_compared(self, copied, script):
        data = (copied / "table.parquet").read_bytes()
        fields = json.loads((copied / "certificate.json").read_text())
        assert fields["parquet_sha256"] == hashlib.sha256(data).hexdigest()
        found = nbcfast.verify(copied)
        assert found.ok, found
        text = "table.parquet is what is written for table.csv, byte for byte"
        assert check(found, "parquet").text == text
        code, lines = script(copied)
        assert code == 3
        assert any(
            line.startswith("?    parquet        the sha256 of table.parquet matches; that") for line in lines
        )
        assert any(line.startswith("not fully checked: 1 check is not decided") for line in lines)
        (copied / "table.parquet").unlink()
        assert nbcfast.verify(copied).ok
        assert script(copied)[0] == 0

    def test_it_is_made_of_rows_and_domains_alone(self, copied, tmp_path):
        weights = json.loads((copied / "certificate.json").read_text())["weights"]
        nbcfast.load(copied).save(tmp_path / "again", parquet=True, weights=weights)
        for path in copied.iterdir():
            assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()

    def test_a_changed_byte_is_found(self, copied, script):
        data = bytearray((copied / "table.parquet").read_bytes())
        data[len(data) // 2] ^= 1
        (copied / "table.parquet").write_bytes(data)
        text = "the sha256 of table.parquet does not match: it was changed"
        assert check(nbcfast.verify(copied), "parquet") == Check("parquet", False, text)
        code, lines = script(copied)
        assert (code, f"NO   parquet        {text}" in lines) == (1, True)

    def test_a_certificate_that_names_none_has_none(self, copied, script):
        rewritten(copied, lambda fields: fields.pop("parquet_sha256"))
        found = nbcfast.verify(copied)
        assert [each.name for each in found.checks if not each.passed] == ["folder"]
        assert script(copied)[0] == 1
        assert nbcfast.verify(copied, ignore_extra=True).ok
        assert script(copied, "--ignore-extra")[0] == 0

    def test_a_pipe_in_its_place(self, copied, script):
        (copied / "table.parquet").unlink()
        os.mkfifo(copied / "table.parquet")
        found = nbcfast.verify(copied)
        assert [check(found, name).passed for name in ("folder", "parquet")] == [False, False]
        assert script(copied)[0] == 1

    @pytest.mark.parametrize("sha256", ["", "0" * 63, 5, None])
    def test_the_form_of_its_sha256(self, copied, sha256):
        rewritten(copied, lambda fields: fields.update(parquet_sha256=sha256))
        expected = "field 'parquet_sha256': expected 64 hexadecimal digits"
        assert expected in check(nbcfast.verify(copied), "file").text

    def test_what_pyarrow_writes_of_it_is_the_copy(self, copied):
        """Or the forgeries below would be refused for another reason."""
        assert self.written(copied) == (copied / "table.parquet").read_bytes()

    @staticmethod
    def forged_dictionary(table):
        import pyarrow as pa

        chunk = table.column("job").combine_chunks()
        values = pa.array([*chunk.dictionary.to_pylist(), "Mrs Secret"])
        return table.set_column(0, "job", pa.DictionaryArray.from_arrays(chunk.indices, values))

    @staticmethod
    def with_field_metadata(table):
        field = table.schema.field(0).with_metadata({"note": "Mrs Secret"})
        return table.cast(table.schema.set(0, field))

    FORGED: ClassVar[dict[str, Callable[..., bytes]]] = {
        "no rows": lambda self, folder: self.written(folder, lambda table: table.slice(0, 0)),
        "a row less": lambda self, folder: self.written(folder, lambda table: table.slice(1)),
        "another order": lambda self, folder: self.written(
            folder, lambda table: table.take(list(range(table.num_rows))[::-1])
        ),
        "a column more": lambda self, folder: self.written(
            folder, lambda table: table.append_column("secret", table.column(1))
        ),
        "a column less": lambda self, folder: self.written(folder, lambda table: table.remove_column(0)),
        "other columns": lambda self, folder: self.written(
            folder, lambda table: table.rename_columns(["x", *table.schema.names[1:]])
        ),
        "metadata": lambda self, folder: self.written(
            folder, lambda table: table.replace_schema_metadata({"note": "Mrs Secret"})
        ),
        "metadata of pandas": lambda self, folder: self.written(
            folder, lambda table: table.replace_schema_metadata({"pandas": '{"index_columns": ["job"]}'})
        ),
        "metadata of a column": lambda self, folder: self.written(folder, self.with_field_metadata),
        "an unused value": lambda self, folder: self.written(folder, self.forged_dictionary),
        "another type": lambda self, folder: self.written(
            folder, lambda table: table.set_column(0, "job", table.column(0).cast("string"))
        ),
        "row groups": lambda self, folder: self.written(folder, group=4),
        "compressed": lambda self, folder: self.written(folder, compression="gzip"),
        "other encodings": lambda self, folder: self.written(folder, use_dictionary=False),
        "other pages": lambda self, folder: self.written(folder, data_page_version="2.0"),
        "no statistics": lambda self, folder: self.written(folder, write_statistics=False),
        "bytes between the pages and the footer": lambda self, folder: self.stuffed(folder, b"Mrs Secret"),
        "bytes behind": lambda self, folder: (folder / "table.parquet").read_bytes() + b"Mrs Secret",
        "bytes between two marks": lambda self, folder: (
            (folder / "table.parquet").read_bytes() + (folder / "table.parquet").read_bytes()
        ),
        "half": lambda self, folder: (folder / "table.parquet").read_bytes()[:200],
        "nothing": lambda self, folder: b"",
        "another writer": lambda self, folder: renamed(
            (folder / "table.parquet").read_bytes(), b"parquet-cpp-arrow version 1.2.3 by Mrs Secret"
        ),
        "no parquet": lambda self, folder: b"PAR1" + b"\xff" * 50 + b"PAR1",
    }

    @staticmethod
    def stuffed(folder, secret):
        data = (folder / "table.parquet").read_bytes()
        end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        return data[:end] + secret + data[end:]

    @pytest.mark.parametrize("name", FORGED)
    def test_another_is_refused(self, copied, script, name):
        data = self.FORGED[name](self, copied)
        assert data != (copied / "table.parquet").read_bytes()
        self.signed(copied, data)
        found = nbcfast.verify(copied)
        assert [each.name for each in found.checks if not each.passed] == ["parquet"], found
        assert check(found, "parquet").passed is False
        assert (found.exit_code, script(copied)[0]) == (1, 3)

    def test_private_statistics_are_refused(self, copied):
        data = (copied / "table.parquet").read_bytes()
        least = b"Discharged" if b"Discharged" in data else b"no"
        start = data.rindex(least)
        self.signed(copied, data[:start] + b"M" * len(least) + data[start + len(least) :])
        assert check(nbcfast.verify(copied), "parquet").passed is False

    @pytest.mark.parametrize("version", ["1.2.3", "123.10.100"])
    def test_the_version_of_pyarrow_may_be_another(self, copied, version):
        name = f"parquet-cpp-arrow version {version}".encode()
        self.signed(copied, renamed((copied / "table.parquet").read_bytes(), name))
        found = nbcfast.verify(copied)
        assert found.ok, found
        assert check(found, "parquet").text.endswith(f"byte for byte, by pyarrow {version}")

    NAMELESS: ClassVar[set[str]] = {"another writer", "bytes behind", "half", "nothing", "no parquet"}

    @pytest.mark.parametrize("name", sorted(set(FORGED) - NAMELESS))
    def test_of_another_version_it_is_not_decided(self, copied, script, name):
        data = renamed(self.FORGED[name](self, copied), b"parquet-cpp-arrow version 1.2.3")
        self.signed(copied, data)
        found = nbcfast.verify(copied)
        assert (found.exit_code, script(copied)[0]) == (3, 3)
        text = check(found, "parquet").text
        assert re.search(r"pyarrow 1\.2\.3 wrote it, and .* pip install pyarrow==1\.2\.3 to compare it", text)

    def test_mutants_are_refused_and_never_read(self, tmp_path, monkeypatch):
        """Some abort pyarrow, and the interpreter with it."""
        parquet = pytest.importorskip("pyarrow.parquet")
        disclosure().save(tmp_path, parquet=True)
        good = (tmp_path / "table.parquet").read_bytes()
        name = list(WRITER.finditer(good))[-1]
        for reader in ("ParquetFile", "read_table", "read_schema", "read_metadata"):
            monkeypatch.setattr(parquet, reader, None)
        random = Random(13)
        for _ in range(150):
            data, place = bytearray(good), random.randrange(len(good))
            if random.random() < 0.7:
                data[place] ^= random.randrange(1, 256)
            else:
                data[place : place + random.randrange(2)] = random.randbytes(random.randrange(1, 9))
            self.signed(tmp_path, bytes(data))
            found = check(nbcfast.verify(tmp_path), "parquet")
            if not name.start() <= place < name.end():
                assert found.passed is False, (place, found)

    def test_without_pyarrow_it_is_not_decided(self, copied, monkeypatch):
        from nbcfast.published import table_lines as tables

        monkeypatch.setattr(tables, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
        found = nbcfast.verify(copied)
        assert (found.exit_code, check(found, "parquet").passed) == (3, None)
        assert "pip install pyarrow" in check(found, "parquet").text

    def test_a_table_of_many_row_groups(self, tmp_path, monkeypatch):
        pytest.importorskip("pyarrow")
        from nbcfast.published import table_lines as tables

        monkeypatch.setattr(tables, "BLOCK_ROWS", 5)
        disclosure().save(tmp_path, parquet=True)
        import pyarrow.parquet as pq

        assert pq.read_metadata(tmp_path / "table.parquet").num_row_groups == 3
        assert nbcfast.verify(tmp_path).ok
        self.signed(tmp_path, self.written(tmp_path))
        assert check(nbcfast.verify(tmp_path), "parquet").passed is False
