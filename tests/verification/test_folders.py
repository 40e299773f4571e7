"""What lies beside a certificate: nothing that it does not name, and no pipe."""

import json
import os
import socket
import subprocess
import sys

import pytest
from folder_cases import NAMES, SAVED, check

import nbcfast
from nbcfast import verify_release
from nbcfast.verification.results import Check


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
    def test_what_is_ignored_has_no_yes(self, in_full, folder, script, names):
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
            code, printed, _ = in_full("verify", path, "--ignore-extra")
            assert code == 0
            assert found.conclusion in printed.splitlines()
            (line,) = (line for line in printed.splitlines() if line.split()[:2] == ["!", "folder"])
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


ONE_AFTER_THE_OTHER = """
import contextlib, io, json, sys
from nbcfast.cli import main

found = []
for command in json.loads(sys.argv[1]):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main(command)
        except SystemExit as left:
            found.append((left.code, said.getvalue()))
print(json.dumps(found))
"""


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
        commands = [
            ["verify", "a"],
            ["verify", "b"],
            ["verify", "c"],
            ["attack", "a"],
            ["estimate", "b", "--class", "ill"],
            ["response", "plan", "--scheme", "c/scheme.json", "--n", "9"],
        ]

        def started(*arguments):
            return subprocess.run(
                [sys.executable, "-P", *arguments],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )

        for name in "abc":
            done = started(verify_release.__file__, name)
            assert done.returncode == 1
            assert "is a named pipe: expected" in done.stdout + done.stderr
        found = json.loads(started("-c", ONE_AFTER_THE_OTHER, json.dumps(commands)).stdout)
        for command, (code, said) in zip(commands, found, strict=True):
            assert code == (1 if "verify" in command else 2)
            assert "is a named pipe: expected" in said

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
