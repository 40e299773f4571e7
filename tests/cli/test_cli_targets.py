"""What verbs refuse to write over, before any work."""

import os

import pytest
from accepting import ANYHOW

pytest.importorskip("pyarrow")
pytest.importorskip("click")

TABLE = "age,job,ill\n" + "".join(
    f"{20 + number % 9},{'abc'[number % 3]},{'xyz'[number % 5 % 3]}\n" for number in range(90)
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    for name in ("people.csv", "held.csv"):
        (tmp_path / "in" / name).write_text(TABLE if name == "people.csv" else TABLE.replace("a,x", "b,y"))
    (tmp_path / "in" / "list.csv").write_text("job\na\n")
    (tmp_path / "in" / "domain.json").write_text('{"job": ["a", "b", "c"]}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


FILE = "in/people.csv"
PUBLISH = (*ANYHOW, FILE, "--class", "ill", "--columns", "job", "--amplification", 4)
VERBS = {
    "publish": PUBLISH,
    "anonymize": ("skyline", "anonymize", FILE, "--by", "age,job", "--sensitive", "ill", "--k", 3),
    "on disk": (
        *("skyline", "anonymize", FILE, "--by", "age,job", "--sensitive", "ill", "--k", 3),
        *("--memory-limit", "1GiB"),
    ),
    "disclose": ("templates", "disclose", FILE, "--template", "job -> ill=x <= 60%", "--no-attack"),
    "disguise": ("response", "disguise", FILE, "--theta", "0.8", "--groups", "ill", "--k-ary"),
    "closeness": (
        *("closeness", FILE, "--class", "ill", "--columns", "job"),
        *("--prior", "x=0.4,y=0.4,z=0.2", "--r", 30),
    ),
}


def nothing_is_read(monkeypatch):
    def read(*_, **__):
        raise AssertionError("work was done")

    for name in ("read_csv", "read_parquet", "count"):
        monkeypatch.setattr(f"nbcfast.{name}", read)
    monkeypatch.setattr("nbcfast.skyline.anonymize", read)


@pytest.mark.parametrize("verb", VERBS)
def test_a_folder_is_replaced_only_if_asked(run, refused, place, monkeypatch, verb):
    wanted = (*VERBS[verb], "--out", "made")
    assert run(*wanted)[0] == 0
    before = {path.name: path.read_bytes() for path in (place / "made").iterdir()}
    with monkeypatch.context() as patched:
        nothing_is_read(patched)
        assert refused(*wanted) == "made: exists; --overwrite replaces it"
        (place / "made" / "my.csv").write_text("mine")
        for more in ((), ("--overwrite",)):
            assert refused(*wanted, *more) == (
                "made: exists; --overwrite replaces it only if all in it is ours, and 'my.csv' is not"
            )
        (place / "made" / "my.csv").unlink()
        (place / "link").symlink_to("made")
        assert "is a symbolic link, through which nothing is written" in refused(
            *VERBS[verb], "--out", "link", "--overwrite"
        )
    assert {path.name: path.read_bytes() for path in (place / "made").iterdir()} == before
    assert run(*wanted, "--overwrite")[0] == 0
    assert run("verify", "made")[0] != 1
    assert sorted(os.listdir(place)) == ["in", "link", "made"]


@pytest.mark.parametrize("verb", VERBS)
def test_no_folder_that_holds_what_is_read_or_where_one_is(refused, place, monkeypatch, verb):
    nothing_is_read(monkeypatch)
    for out, text in ((".", "the folder one is in"), ("..", "the folder one is in"), ("in", "which is read")):
        for more in ((), ("--overwrite",)):
            message = refused(*VERBS[verb], "--out", out, *more)
            assert message.startswith(f"--out must be a folder of its own, and '{out}' holds ")
            assert text in message
    assert sorted(os.listdir(place)) == ["in"]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("verb", ["anonymize", "disclose", "on disk"])
def test_a_file_is_replaced_only_if_asked(run, refused, place, verb, ending):
    if (verb, ending) == ("on disk", ".csv"):
        return
    wanted = (*VERBS[verb], "--out", f"made{ending}")
    assert run(*wanted)[0] == 0
    before = (place / f"made{ending}").read_bytes()
    (place / f"made{ending}").write_text("mine")
    assert refused(*wanted) == f"made{ending}: exists; --overwrite replaces it"
    assert (place / f"made{ending}").read_text() == "mine"
    assert run(*wanted, "--overwrite")[0] == 0
    assert (place / f"made{ending}").read_bytes() == before
    assert sorted(os.listdir(place)) == ["in", f"made{ending}"]


@pytest.mark.parametrize("link", [None, os.link, os.symlink])
@pytest.mark.parametrize("option", ["--holdout", "--tuples", "--domain", "input"])
def test_a_dataset_is_never_what_is_read(refused, place, option, link):
    names = {
        "--holdout": "held.csv",
        "--tuples": "list.csv",
        "--domain": "domain.json",
        "input": "people.csv",
    }
    read = place / "in" / names[option]
    before = read.read_bytes()
    dataset = read
    if link is not None or option == "--domain":
        dataset = place / "dataset.csv"
        (link or os.link)(read, dataset)
    given = () if option == "input" else (option, read)
    for more in ((), ("--overwrite",)):
        message = refused(*PUBLISH, "--out", "made", "--dataset", dataset, *given, *more)
        assert "--dataset must" in message
        assert "exists" not in message
    assert read.read_bytes() == before
    assert not (place / "made").exists()


def test_a_dataset_is_replaced_only_if_asked(run, refused, place):
    wanted = (*PUBLISH, "--dataset", "x.csv", "--out")
    (place / "x.csv").write_text("mine")
    assert refused(*wanted, "made") == "x.csv: exists; --overwrite replaces it"
    assert sorted(os.listdir(place)) == ["in", "x.csv"]
    assert run(*wanted, "made", "--overwrite")[0] == 0
    assert (place / "x.csv").read_text().startswith("job,ill\n")
    assert "--dataset and --out must be two places" in refused(
        *PUBLISH, "--dataset", "y.csv", "--out", "y.csv"
    )
    message = refused(*PUBLISH, "--dataset", "new/y.csv", "--out", "new")
    assert message.startswith("--dataset must not be in 'new', the folder of --out: its certificate does not")
    assert not (place / "new").exists()


def test_a_picture_is_replaced_only_if_asked(run, refused, place):
    pytest.importorskip("matplotlib")
    wanted = (
        "skyline",
        "find",
        FILE,
        "--by",
        "job",
        "--sensitive",
        "ill",
        "--confidence",
        0.95,
        "--plot",
        "x.png",
    )
    assert run(*wanted)[0] == 0
    assert (place / "x.png").read_bytes().startswith(b"\x89PNG")
    assert refused(*wanted) == "x.png: exists; --overwrite replaces it"
    assert run(*wanted, "--overwrite")[0] == 0
    os.link(place / FILE, place / "link.png")
    assert "--plot must not write over" in refused(*wanted[:-1], "link.png", "--overwrite")


def test_what_comes_into_being_meanwhile_is_refused_by_its_option(refused, place, monkeypatch):
    from nbcfast.published.release import Release

    save = Release.save

    def late(*arguments, **options):
        (place / "x.csv").write_text("mine")
        save(*arguments, **options)

    monkeypatch.setattr(Release, "save", late)
    message = refused(*PUBLISH, "--out", "made", "--dataset", "x.csv")
    assert message == "x.csv: exists; --overwrite replaces it"
    assert (place / "x.csv").read_text() == "mine"
    assert sorted(os.listdir(place)) == ["in", "x.csv"]


def test_spill(run, refused, place, monkeypatch):
    assert "--spill goes with --memory-limit" in refused(
        *VERBS["anonymize"], "--spill", "in", "--out", "made"
    )
    assert "--spill must be a folder, got 'none'" in refused(
        *VERBS["on disk"], "--spill", "none", "--out", "made"
    )
    (place / "spilled").mkdir()
    assert run(*VERBS["on disk"], "--spill", "spilled", "--out", "made")[0] == 0
    assert os.listdir(place / "spilled") == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_a_full_spill_folder_is_named(refused, place, monkeypatch):
    fdopen = os.fdopen

    def full(handle, mode="r", *arguments, **options):
        if options.get("buffering") == 0:
            os.close(handle)
            handle = os.open("/dev/full", os.O_RDWR)
        return fdopen(handle, mode, *arguments, **options)

    monkeypatch.setattr("nbcfast._reading.spilled.os.fdopen", full)
    message = refused(*VERBS["on disk"], "--spill", place / "in", "--out", "made")
    assert message == (
        f"{place / 'in'}: No space left on device, and rows are spilled to this folder: --spill DIR "
        "(in Python spill=) names another one"
    )
    assert not (place / "made").exists()


@pytest.mark.parametrize("named", [False, True])
def test_spilled_rows_have_no_name_and_nobody_else_reads_them(tmp_path, monkeypatch, named):
    from nbcfast._reading.spilled import Spill

    if named:
        monkeypatch.delattr(os, "O_TMPFILE")
    with Spill(str(tmp_path)) as spill:
        file = spill.new()
        file.write(b"private")
        found = os.fstat(file.fileno())
        assert (found.st_mode & 0o777, found.st_nlink) == (0o600, 0)
        assert os.listdir(tmp_path) == []
    assert file.closed


def test_where_rows_are_spilled(tmp_path, monkeypatch):
    import tempfile

    from nbcfast._reading.spilled import Spill, temporary_folder

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert temporary_folder() == str(tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ValueError, match="spill: no folder for temporary files can be written: --spill DIR"):
        temporary_folder()
    with pytest.raises(ValueError, match="spill: expected a folder, got"):
        Spill(str(tmp_path / "none"))


FIND = ("skyline", "find", FILE, "--by", "job", "--sensitive", "ill", "--confidence", 0.9)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        *(
            ((*VERBS[verb], "--out", "in/held.csv"), "--out must be a folder, got the file 'in/held.csv'")
            for verb in ("publish", "disguise", "closeness")
        ),
        (
            (*PUBLISH, "--out", "made", "--dataset", "no/x.csv"),
            "--dataset must be in a folder that exists, got 'no/x.csv'",
        ),
        ((*FIND, "--plot", "no/x.png"), "--plot must be in a folder that exists, got 'no/x.png'"),
        ((*FIND, "--plot", FILE, "--overwrite"), f"--plot must not write over '{FILE}', which is read"),
        (
            (*PUBLISH, "--out", "made", "--dataset", FILE, "--overwrite"),
            f"--dataset must not write over '{FILE}', which is read",
        ),
    ],
)
def test_targets_are_refused_alike_before_any_work(refused, place, monkeypatch, wanted, message):
    before = {path: path.read_bytes() for path in (place / "in").iterdir()}
    nothing_is_read(monkeypatch)
    assert refused(*wanted) == message
    assert {path: path.read_bytes() for path in (place / "in").iterdir()} == before
