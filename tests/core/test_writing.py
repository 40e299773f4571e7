"""Targets: whole or not there, and nothing that was there is lost unasked."""

import errno
import json
import os
import stat

import pytest
from accepting import ANYHOW

import nbcfast
from nbcfast._core import files as _writing
from nbcfast._core.files import check_file, check_folder, together, written

VIEWS = nbcfast.Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
OTHER = nbcfast.Viewset([4, 3], {"job": [[1, 2], [3, 1]]}, classes=["no", "yes"])


def release(views=VIEWS):
    return nbcfast.Release(views, nbcfast.Certificate(amplification=9, tuples=2), "ill")


@pytest.fixture(params=["nameless", "named", "no second names"])
def system(request, monkeypatch):
    """What a file system may or may not have."""
    if request.param != "nameless":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
        monkeypatch.setattr(_writing, "_exchanged", lambda *_: False)
    if request.param == "no second names":

        def no_links(*_, **__):
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", no_links)
    return request.param


def write(path, data=b"new", **options):
    with written(path, **options) as file:
        file.write(data)


def test_a_file_is_new_or_replaced_if_asked(system, tmp_path):
    path = tmp_path / "x.csv"
    write(path)
    assert path.read_bytes() == b"new"
    with pytest.raises(FileExistsError, match=r"exists; overwrite=True replaces it: .*x\.csv"):
        write(path, b"newer")
    assert path.read_bytes() == b"new"
    write(path, b"newer", overwrite=True)
    assert path.read_bytes() == b"newer"
    write(tmp_path / "y.csv", overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["x.csv", "y.csv"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_what_appears_meanwhile_stays(system, tmp_path):
    path = tmp_path / "x.csv"

    def slowly():
        with written(path) as file:
            file.write(b"new")
            path.write_bytes(b"somebody's")

    def slowly_a_folder():
        with together() as writing:
            writing.folder(tmp_path / "out", ["certificate.json"])
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "note.txt").write_text("mine")

    with pytest.raises(FileExistsError, match="exists; overwrite=True replaces it"):
        slowly()
    assert path.read_bytes() == b"somebody's"
    with pytest.raises(FileExistsError, match=r"'note\.txt' is not"):
        slowly_a_folder()
    assert (tmp_path / "out" / "note.txt").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["out", "x.csv"]


def test_what_appears_at_the_last_moment_stays(system, tmp_path, monkeypatch):
    """Between the last look and the renaming: that is up to the system."""
    monkeypatch.setattr(_writing, "check_file", lambda *_: None)
    monkeypatch.setattr(_writing, "check_folder", lambda *_: None)
    path, folder = tmp_path / "x.csv", tmp_path / "out"
    name, rename = _writing._Draft.name, os.rename

    def late(draft, target):
        path.write_bytes(b"somebody's")
        name(draft, target)

    def late_folder(source, target):
        (folder / "note.txt").parent.mkdir(exist_ok=True)
        (folder / "note.txt").write_text("mine")
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(_writing._Draft, "name", late)
        with pytest.raises(FileExistsError, match="exists"):
            write(path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", late_folder)
        with pytest.raises(FileExistsError, match="exists"), together() as writing:
            writing.folder(folder, ["certificate.json"])
    assert path.read_bytes() == b"somebody's"
    assert os.listdir(folder) == ["note.txt"]
    assert sorted(os.listdir(tmp_path)) == ["out", "x.csv"]


def test_links_devices_and_folders_are_no_files(tmp_path):
    (tmp_path / "target").write_text("private")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    for overwrite in (False, True):
        for name in ("link", "dangling"):
            with pytest.raises(FileExistsError, match="is a symbolic link, through which nothing is written"):
                write(tmp_path / name, overwrite=overwrite)
            with pytest.raises(FileExistsError, match="is a symbolic link"):
                check_folder(tmp_path / name, overwrite)
        with pytest.raises(FileExistsError, match="is no regular file"):
            write(tmp_path / "pipe", overwrite=overwrite)
        with pytest.raises(IsADirectoryError):
            write(tmp_path, overwrite=overwrite)
        with pytest.raises(FileExistsError, match="is no folder"):
            check_folder(tmp_path / "target", overwrite)
    assert (tmp_path / "target").read_text() == "private"
    assert not (tmp_path / "nothing").exists()
    check_file(tmp_path / "target" / "x")


def test_only_a_folder_of_ours_is_replaced(system, tmp_path):
    out = tmp_path / "out"
    release().save(out)
    with pytest.raises(FileExistsError, match="exists; overwrite=True replaces it: "):
        release(OTHER).save(out)
    assert nbcfast.load(out) == release()
    release(OTHER).save(out, overwrite=True)
    assert nbcfast.load(out) == release(OTHER)
    for name in ("table.csv", "notes.txt", ".hidden"):
        (out / name).write_text("mine")
        for overwrite in (False, True):
            with pytest.raises(FileExistsError, match=f"only if all in it is ours, and {name!r} is not"):
                release().save(out, overwrite=overwrite)
        assert (out / name).read_text() == "mine"
        (out / name).unlink()
    (out / "table").mkdir()
    with pytest.raises(FileExistsError, match="'table' is not"):
        release().save(out, overwrite=True)
    (out / "table").rmdir()
    (tmp_path / "elsewhere").write_text("mine")
    certificate = (out / "certificate.json").read_bytes()
    for text in (
        "{}",
        "[1]",
        "no JSON",
        json.dumps(dict.fromkeys(["format", "kind", "sha256", "version"], 1)),
    ):
        (out / "certificate.json").write_text(text)
        with pytest.raises(FileExistsError, match=r"'certificate.json' is not"):
            release().save(out, overwrite=True)
    (out / "certificate.json").unlink()
    (out / "certificate.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError, match=r"'certificate.json' is not"):
        release().save(out, overwrite=True)
    (out / "certificate.json").unlink()
    (out / "certificate.json").write_bytes(certificate)
    release().save(out, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "out"]
    assert (tmp_path / "elsewhere").read_text() == "mine"


def test_an_empty_folder_is_taken_with_its_mode(system, tmp_path):
    out = tmp_path / "out"
    out.mkdir(mode=0o700)
    release().save(out)
    assert nbcfast.load(out) == release()
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    with pytest.raises(NotADirectoryError):
        release().save(out / "certificate.json" / "x")
    assert os.listdir(tmp_path) == ["out"]


def test_a_release_and_its_dataset_come_together(system, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    out, dataset = tmp_path / "out", tmp_path / "x.csv"
    release().save(out, dataset=dataset)
    before = dataset.read_bytes()
    rename = os.rename

    def broken(source, target):
        if ".part" in str(source):
            raise OSError(errno.ENOSPC, "disk full")
        return rename(source, target)

    for new in (tmp_path / "y.csv", dataset):
        with monkeypatch.context() as patched:
            patched.setattr(os, "rename", broken)
            with pytest.raises(OSError, match="disk full"):
                release(OTHER).save(out, dataset=new, overwrite=True)
        assert nbcfast.load(out) == release()
        assert dataset.read_bytes() == before
        assert sorted(os.listdir(tmp_path)) == ["out", "x.csv"]
    with pytest.raises(FileExistsError, match=r"x\.csv"):
        release().save(tmp_path / "new", dataset=dataset)
    assert sorted(os.listdir(tmp_path)) == ["out", "x.csv"]
    release(OTHER).save(out, dataset=dataset, overwrite=True)
    assert len(dataset.read_bytes()) > len(before)
    assert nbcfast.load(out) == release(OTHER)
    with pytest.raises(ValueError, match="dataset must not be in the folder of the release"):
        release().save(out, dataset=out / "x.csv", overwrite=True)
    assert os.listdir(out) == ["certificate.json"]
    assert nbcfast.load(out) == release(OTHER)


@pytest.mark.parametrize("step", [1, 2])
def test_an_exchange_in_two_steps_that_fails_brings_the_old_back(tmp_path, monkeypatch, step):
    out = tmp_path / "out"
    release().save(out)
    rename, calls = os.rename, []

    def broken(source, target):
        calls.append(source)
        if len(calls) == 1 + step:  # the first finds that something is there
            raise OSError(errno.EIO, "broken")
        return rename(source, target)

    monkeypatch.setattr(_writing, "_exchanged", lambda *_: False)
    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", broken)
        with pytest.raises(OSError, match="broken"):
            release(OTHER).save(out, overwrite=True)
    assert nbcfast.load(out) == release()
    assert os.listdir(tmp_path) == ["out"]


def test_a_place_that_takes_no_new_folder_says_so(tmp_path, monkeypatch):
    (tmp_path / "mounted").mkdir()

    def busy(*_):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(os, "rename", busy)
    with pytest.raises(OSError, match=r"cannot be made in one step; name a new folder in it: .*mounted"):
        release().save(tmp_path / "mounted")
    assert os.listdir(tmp_path) == ["mounted"]
    assert os.listdir(tmp_path / "mounted") == []


def test_every_way_to_save_asks(tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    from nbcfast import canonical, response, skyline, templates

    people = {"age": [1, 1, 2, 2], "ill": ["a", "b", "a", "b"]}
    scheme = response.KaryScheme("2/3", {"ill": ["a", "b"]})
    table = nbcfast.Table(people)
    template = templates.Template(["age"], ("ill", "a"), "3/4")
    made = canonical.release(nbcfast.count(table, "ill"), 4)
    pyarrow = pytest.importorskip("pyarrow.csv")
    pyarrow.write_csv(table.to_arrow(), tmp_path / "people.csv")

    def on_disk(path, **options):
        skyline.anonymize(tmp_path / "people.csv", ["age"], "ill", k=2, out=path, **options)

    ways = {
        "release": made.save,
        "partition": skyline.anonymize(table, ["age"], "ill", k=2).save,
        "disclosure": templates.disclose(table, [template], utility="distortion").save,
        "disguised": response.disguise(table, scheme).save,
        "scheme.json": scheme.save,
        "x.csv": made.write_dataset,
        "x.parquet": on_disk,
        "x.png": made.scorecard().plot,
    }
    for name, save in ways.items():
        save(tmp_path / name)
        before = os.lstat(tmp_path / name).st_ino
        with pytest.raises(FileExistsError, match="exists; overwrite=True replaces it"):
            save(tmp_path / name)
        assert os.lstat(tmp_path / name).st_ino == before
        save(tmp_path / name, overwrite=True)
        assert os.lstat(tmp_path / name).st_ino != before
    assert sorted(os.listdir(tmp_path)) == sorted([*ways, "people.csv"])


@pytest.fixture(params=[errno.EACCES, errno.EROFS])
def denied(request, monkeypatch):
    """A folder in which nothing can be made, whoever asks."""
    refused = []

    def refuses(call, makes):
        def called(path, *arguments, **options):
            if refused and makes(path, *arguments) and f"{os.fspath(path)}/".startswith(f"{refused[0]}/"):
                raise OSError(request.param, os.strerror(request.param), os.fspath(path))
            return call(path, *arguments, **options)

        return called

    monkeypatch.setattr(os, "open", refuses(os.open, lambda _, flags, *__: flags & os.O_RDWR))
    monkeypatch.setattr(os, "mkdir", refuses(os.mkdir, lambda *_: True))
    return refused, os.strerror(request.param)


def test_a_folder_that_takes_nothing_is_said_of_the_target(denied, tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")
    from nbcfast import cli, response
    from nbcfast._reading.spilled import Spill

    refused, reason = denied
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("job,ill\n" + "a,no\nb,yes\n" * 9)
    for name in ("closed", "open"):
        (tmp_path / name).mkdir()
    refused.append(str(tmp_path / "closed"))
    for path, save in {
        "closed/made": release().save,
        "closed/new/deep": release().save,
        "closed/x.csv": release().write_dataset,
        "closed/s.json": response.KaryScheme("2/3", {"ill": ["a", "b"]}).save,
    }.items():
        with pytest.raises(OSError, match=reason) as said:
            save(path)
        assert (said.value.filename, said.value.filename2, said.value.strerror) == (path, None, reason)
    publish = [*ANYHOW, "rows.csv", "--class", "ill", "--amplification", "4"]
    group = ["skyline", "anonymize", "rows.csv", "--by", "job", "--sensitive", "ill", "--k", "2"]
    for arguments, path in (
        ([*publish, "--out", "closed/made"], "closed/made"),
        ([*publish, "--out", "open/made", "--dataset", "closed/x.csv"], "closed/x.csv"),
        ([*group, "--out", "closed/made"], "closed/made"),
        ([*group, "--no-attack", "--out", "closed/y.csv"], "closed/y.csv"),
    ):
        with pytest.raises(SystemExit) as left:
            cli.main(arguments)
        assert left.value.code == 2
        assert capsys.readouterr().err.splitlines()[-1] == f"nbcfast: {path}: {reason}"
    assert not any((tmp_path / "closed").iterdir())
    assert not any((tmp_path / "open").iterdir())
    with Spill(str(tmp_path / "closed")) as spill, pytest.raises(OSError, match="--spill DIR") as said:
        spill.new()
    assert said.value.filename == str(tmp_path / "closed")


def fill(place):
    with together() as writing:
        writing.folder(place / "made", ["certificate.json", "table.csv"])
        writing.file(place / "b.csv")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_said_of_the_target(tmp_path):
    with pytest.raises(OSError, match="No space") as said, written(tmp_path / "a.csv"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert said.value.filename == str(tmp_path / "a.csv")
    with pytest.raises(OSError, match="Broken") as said, written(tmp_path / "a.csv"):
        raise OSError(errno.EPIPE, os.strerror(errno.EPIPE))
    assert said.value.filename is None
    with pytest.raises(OSError, match="No space") as said:
        fill(tmp_path)
    assert said.value.filename == f"{tmp_path / 'made'}, {tmp_path / 'b.csv'}"
    assert not any(tmp_path.iterdir())


def test_a_folder_that_is_closed_while_a_folder_is_made(tmp_path, monkeypatch):
    def refused(path, *_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))

    monkeypatch.setattr(os, "mkdir", refused)
    with pytest.raises(PermissionError, match="made") as said:
        release().save(tmp_path / "new" / "made")
    assert said.value.filename == str(tmp_path / "new" / "made")
    assert os.listdir(tmp_path) == []
