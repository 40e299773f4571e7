"""The file of a ledger: what is read as one, what is refused in one line, and what a kill leaves."""

import errno
import hashlib
import json
import multiprocessing
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
import warm
from ledger_cases import random_rows, views_of

import nbcfast
from nbcfast._wire.json_entries import canonical_json
from nbcfast.ledger import Ledger, LedgerError
from nbcfast.ledger.locked_file import LockedFile

SIZES = (3, 2)


def views(n_rows=20, seed=0):
    rows = random_rows(np.random.default_rng(seed), n_rows, SIZES, 2)
    rows[:2, -1] = [0, 1]
    return views_of(rows, SIZES, 2)


@pytest.fixture
def book(tmp_path):
    """A ledger of two releases."""
    ledger = Ledger(tmp_path / "book")
    ledger.append(views(), "1" * 64, window=1)
    ledger.append(views(40), "2" * 64, window=(2, 3))
    return ledger


def bytes_of(ledger):
    with open(ledger.path, "rb") as file:
        return file.read()


def put(ledger, data):
    with open(ledger.path, "wb") as file:
        file.write(data)


def test_lines_come_back(book):
    first, second = book.lines
    assert (first.n, second.n, first.state, second.state) == (1, 3, "written", "written")
    assert first.views == views()
    assert second.views == views(40)
    assert (first.rows, first.window.text, second.window.text) == (20, "1", "2..3")
    assert [json.loads(line)["n"] for line in bytes_of(book).splitlines()] == [1, 2, 3, 4]
    assert repr(first) == "LedgerLine(1: 111111111111.., 20 rows, written)"
    assert repr(book) == f"Ledger({book.path!r})"


def test_it_is_for_its_owner_alone_and_only_ever_appended_to(book):
    before = bytes_of(book)
    if os.name == "posix":
        assert stat.S_IMODE(os.stat(book.path).st_mode) == 0o600
        assert not book.check(views(50)).open_to_others
        os.chmod(book.path, 0o640)
        assert book.check(views(50)).care == (
            "others may read the ledger, which has the counts of all tables: chmod 600",
        )
    book.append(views(60), "3" * 64)
    assert bytes_of(book).startswith(before)
    assert len(bytes_of(book)) > len(before)


def test_cut_off_at_every_byte_it_is_whole_or_said(book):
    data = bytes_of(book)
    ends = {place + 1 for place, byte in enumerate(data) if byte == 10}
    for size in range(len(data)):
        put(book, data[:size])
        if size in ends or size == 0:
            assert len(book.lines) == sum(end <= size for end in sorted(ends)[::2])
            continue
        with pytest.raises(LedgerError, match="was begun and not ended") as told:
            book.check(views(50))
        assert told.value.whole == max([end for end in ends if end <= size], default=0)
        if size % 50 and data[size - 1 :][:1] != b"}":
            continue
        with pytest.raises(LedgerError):
            book.append(views(50), "4" * 64)
        assert bytes_of(book) == data[:size]  # cut only when asked
        said = book.mend()
        assert (
            said[0] == f"{size - told.value.whole} bytes of a line that was begun and not ended were cut off"
        )
        assert not os.path.exists(book.path) or bytes_of(book) == data[: told.value.whole]
        book.lines  # noqa: B018  is whole


def test_what_is_gone_from_the_end_shows_by_a_sha256_kept_elsewhere(book):
    noted, data = book.last_sha256, bytes_of(book)
    lines = data.splitlines(keepends=True)
    assert noted == hashlib.sha256(lines[-1][:-1]).hexdigest()
    put(book, b"".join(lines[:-2]))
    assert len(book.lines) == len(lines) // 2 - 1  # a ledger as any other
    assert book.last_sha256 not in (noted, None)
    put(book, data)
    book.append(views(70), "5" * 64)
    assert json.loads(bytes_of(book).splitlines()[len(lines)])["previous"] == noted
    put(book, b"")
    assert book.last_sha256 is None


def test_every_changed_byte_is_found(book):
    data = bytes_of(book)
    last = data.rindex(b"\n", 0, len(data) - 1) + 1
    for place in range(0, last, 7):
        changed = bytearray(data)
        changed[place] = ord("0") if changed[place] != ord("0") else ord("1")
        put(book, bytes(changed))
        with pytest.raises(LedgerError) as told:
            book.lines  # noqa: B018
        assert "\n" not in str(told.value)


def test_lines_that_are_gone_or_exchanged_are_found(book):
    lines = bytes_of(book).splitlines(keepends=True)
    for wrong in (
        lines[1:],
        lines[:1] + lines[2:],
        [lines[0], lines[2], lines[1], lines[3]],
        lines + lines[:1],
    ):
        put(book, b"".join(wrong))
        with pytest.raises(LedgerError):
            book.lines  # noqa: B018
        with pytest.raises(LedgerError):
            book.mend()
        assert bytes_of(book) == b"".join(wrong)


def forged(line, **changes):
    return canonical_json({**json.loads(line), **changes}).encode("ascii") + b"\n"


def hostile(line):
    document = json.loads(line)
    counts = document["counts"]
    for text in (
        b"not json",
        b"[]",
        b"{}",
        b"null",
        b"\xff\xfe",
        b"",
        b"1" * 5000,
        b'{"format":' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"format":"nbcfast-ledger/1"}',
        b'{"format":"nbcfast-ledger/2"}',
        b"NaN",
        line[:-2] + b',"n":1}',
        line.replace(b'"n":1', b'"n":1.0'),
        line.replace(b":", b": ", 1)[:-1],
    ):
        yield text + b"\n"
    for name in document:
        for wrong in (None, True, -1, 2**60, "x", "0x" + "f" * 5000, [], {}, [[]], {"a": 1}, "\ud800"):
            if wrong != document[name]:
                yield forged(line, **{name: wrong})
    for wrong in (
        {**counts, "classes": [-1, 5]},
        {**counts, "classes": ["0x" + "f" * 40, 1]},
        {**counts, "classes": [10**18, 1]},
        {**counts, "attributes": []},
        {**counts, "attributes": [[[1, 1]], [[1, 1]]]},
        {"classes": counts["classes"]},
    ):
        yield forged(line, counts=wrong)
    yield forged(line, kind="written")
    yield forged(line, kind=["release"])
    yield canonical_json({**document, "more": 1}).encode("ascii") + b"\n"
    yield forged(line, window={"first": 2, "last": 1})
    yield forged(line, window={"first": "a", "last": 1})
    yield forged(line, parameters={"method": "none", "preserve": "label"})
    yield forged(line, parameters={"method": "canonical", "preserve": "label", "smoothing": "1/0"})
    yield forged(line, noise={"mechanism": "discrete laplace"})


def refusal(ledger):
    try:
        ledger.lines  # noqa: B018
    except LedgerError as error:
        return str(error)
    return None


def test_hostile_lines_are_refused_in_one_line(tmp_path):
    ledger = Ledger(tmp_path / "book")
    ledger.append(views(), "1" * 64)
    line = bytes_of(ledger).splitlines(keepends=True)[0]
    tried = 0
    for data in hostile(line):
        if data in (line, b'{"format":"nbcfast-ledger/1"}'):
            continue
        put(ledger, data)
        told = refusal(ledger)
        if told is None:  # what has another meaning, and is one: a folder, a label, an answer of its own
            changed = {name for name in json.loads(line) if json.loads(line)[name] != json.loads(data)[name]}
            assert changed <= {"folder", "window", "answers"}, data[:300]
        else:
            assert "\n" not in told
            assert len(told) < 2000
            assert told.startswith(f"{ledger.path}: line 1")
        tried += 1
    assert tried > 150


def test_numbers_of_any_size_come_back(tmp_path):
    ledger = Ledger(tmp_path / "book")
    large = nbcfast.Viewset([2**80, 2**70], {"a": [[2**79, 2**70], [2**79, 0]]})
    ledger.append(large, "1" * 64)
    assert ledger.lines[0].views == large
    assert ledger.lines[0].rows == 2**80 + 2**70
    assert ledger.check(large).same_as == 1


def test_values_of_every_kind_come_back(tmp_path):
    ledger = Ledger(tmp_path / "book")
    table = nbcfast.Table(
        {
            "x": [1.5, 2.5, None, 1.5],
            "y": [True, False, True, True],
            "z": ["a\n", "b", "\ud800", "a\n"],
            "c": [3, 4, 3, 4],
        }
    )
    counted = nbcfast.count(table, "c")
    ledger.append(counted, "1" * 64)
    assert ledger.lines[0].views == counted


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
def test_links_pipes_folders_and_devices_are_no_ledgers(tmp_path, book):
    link, loose, pipe = tmp_path / "link", tmp_path / "loose", tmp_path / "pipe"
    link.symlink_to(book.path)
    loose.symlink_to(tmp_path / "nowhere")
    os.mkfifo(pipe)
    before = bytes_of(book)
    for path in (link, loose, pipe, tmp_path, "/dev/null"):
        for call in (
            lambda ledger: ledger.lines,
            lambda ledger: ledger.check(views()),
            lambda ledger: ledger.append(views(), "1" * 64),
        ):
            with pytest.raises(FileExistsError, match="a ledger must"):
                call(Ledger(path))
    assert bytes_of(book) == before
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(FileNotFoundError):
        Ledger(tmp_path / "none" / "book").check(views())
    with pytest.raises(ValueError, match="empty text"):
        Ledger("")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may do everything")
def test_a_file_without_permission_is_an_error(book):
    os.chmod(book.path, 0o400)
    assert len(book.lines) == 2
    with pytest.raises(PermissionError):
        book.append(views(60), "3" * 64)


def test_a_file_that_is_too_large_is_not_read(book, monkeypatch):
    monkeypatch.setattr("nbcfast.ledger.locked_file.MOST_BYTES", 100)
    with pytest.raises(ValueError, match="up to 100 are read"):
        book.lines  # noqa: B018


def test_nothing_is_left_where_nothing_was_entered(tmp_path):
    ledger = Ledger(tmp_path / "book")
    with ledger:
        assert ledger.check(views()).releases == 0
        with ledger:
            assert ledger.lines == ()
    assert not os.path.exists(ledger.path)


@pytest.mark.parametrize("fault", ["short", "full", "sync"])
def test_a_disk_that_fails_leaves_what_was_there(book, monkeypatch, fault):
    before, write = bytes_of(book), os.write

    def failing(handle, data):
        if fault == "short":
            return write(handle, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def unsynced(handle):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    saved = []
    with monkeypatch.context() as patched:
        if fault == "sync":
            patched.setattr(os, "fsync", unsynced)
        else:
            patched.setattr(os, "write", failing)
        with pytest.raises(OSError, match=r"space|error") as told:
            book.append(views(60), "3" * 64, save=lambda: saved.append(True))
    assert told.value.filename == book.path
    assert not saved
    assert bytes_of(book) == before
    assert len(book.lines) == 2


DRIVER = """
import os, sys
sys.path.insert(0, {support!r})
import numpy as np
import nbcfast
from nbcfast.ledger import Ledger
from ledger_cases import random_rows, views_of
ledger = Ledger({path!r})
place, how = int(sys.argv[1]), sys.argv[2]
calls = 0
real = {{name: getattr(os, name) for name in ("write", "fsync")}}
def counted(name):
    def call(*arguments):
        global calls
        calls += 1
        if calls == place:
            if how == "half" and name == "write":
                real["write"](arguments[0], arguments[1][: len(arguments[1]) // 2])
            os.kill(os.getpid(), 9)
        return real[name](*arguments)
    return call
os.write, os.fsync = counted("write"), counted("fsync")
rows = random_rows(np.random.default_rng(1), 30, (3, 2), 2)
rows[:2, -1] = [0, 1]
out = {out!r}
def save():
    os.mkdir(out)
    with open(os.path.join(out, "certificate.json"), "w") as file:
        file.write('{{"sha256": "' + "5" * 64 + '"}}')
ledger.append(views_of(rows, (3, 2), 2), "5" * 64, folder=out, save=save)
real["write"](1, b"done")
"""


@pytest.fixture(scope="module")
def warm_python():
    with warm.commands() as folder:
        yield os.path.join(folder, "warm-python")


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("how", ["between", "half"])
def test_killed_at_every_step_it_has_the_whole_line_or_says_what_to_cut(tmp_path, warm_python, how):
    support = os.path.join(os.path.dirname(__file__), os.pardir, "support")
    states = []
    for place in range(1, 9):
        folder = tmp_path / f"{how}-{place}"
        folder.mkdir()
        ledger, out = Ledger(folder / "book"), folder / "out"
        program = DRIVER.format(support=support, path=ledger.path, out=str(out))
        done = subprocess.run(
            [warm_python, "-c", program, str(place), how],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode == 0:
            assert done.stdout == b"done"
            break
        assert done.returncode == 128 + signal.SIGKILL, done.stderr
        if os.path.exists(ledger.path) and refusal(ledger) is not None:
            assert how == "half"
            ledger.mend()
            states.append("cut")
        lines = ledger.lines
        # A release that stands is always in the ledger.
        assert not out.exists() or len(lines) == 1
        assert len(lines) <= 1
        if lines:
            states.append(f"{lines[0].state}, {'there' if out.exists() else 'not there'}")
            report = ledger.check(views(50))
            assert report.releases == 1
            # One that stands counts, and is said to stand by whoever writes next; one that does not is said.
            assert report.pending == (() if out.exists() else (1,))
            ledger.append(views(50), "6" * 64)
            assert ledger.lines[0].state == ("written" if out.exists() else "intended")
    else:
        raise AssertionError("there are more steps")
    assert how == "half" or "intended, there" in states
    assert "intended, not there" in states
    assert ("cut" in states) == (how == "half")


def test_what_was_never_found_is_published_again_as_the_same(tmp_path):
    ledger = Ledger(tmp_path / "book")

    def killed():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ledger.append(views(), "1" * 64, folder=tmp_path / "out", save=killed)
    assert [line.state for line in ledger.lines] == ["not written"]
    assert ledger.check(views()).releases == 0  # it is known not to have left
    put(ledger, bytes_of(ledger).splitlines(keepends=True)[0])  # as after a kill
    report = ledger.check(views(), release="1" * 64)
    assert (report.resumes, report.same_as, report.releases, report.pending) == (1, None, 0, ())
    assert ledger.check(views(), release="2" * 64).pending == (1,)
    assert ledger.check(views(), release="2" * 64).same_as is None  # nobody knows that it is out
    line = ledger.append(views(), "1" * 64, folder=tmp_path / "out", save=lambda: None, after=report)
    assert (line.n, line.state, len(ledger.lines)) == (1, "written", 1)


def test_another_release_since_is_refused(book):
    report = book.check(views(60))
    book.append(views(50), "4" * 64)
    with pytest.raises(ValueError, match="another release was entered since"):
        book.append(views(60), "5" * 64, after=report)
    assert len(book.lines) == 3


def test_threads_that_share_a_ledger_wait_for_each_other(tmp_path):
    """The first waits in `save` until the second has tried to come between its two lines."""
    shared = Ledger(tmp_path / "book")
    saving, said = threading.Event(), []

    def second():
        saving.wait(30)
        said.append("asks")
        shared.append(views(), "2" * 64)
        said.append("entered")

    def save():
        saving.set()
        second_one.join(0.3)
        said.append("saved")

    second_one = threading.Thread(target=second)
    second_one.start()
    shared.append(views(), "1" * 64, save=save)
    second_one.join(30)
    assert said == ["asks", "saved", "entered"]
    assert [line.state for line in Ledger(shared.path).lines] == ["written", "written"]
    assert pickle.loads(pickle.dumps(shared)).lines[1].release == "2" * 64


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_does_not_write_to_the_ledger_of_the_process_it_came_from(tmp_path):
    ledger = Ledger(tmp_path / "book")
    with ledger:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with ledger:
                    ledger.append(views(), "1" * 64)
            except ValueError as error:
                code = 0 if "forked" in str(error) else 2
            finally:
                ledger.__exit__(None, None, None)
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        ledger.append(views(), "2" * 64)
    assert [line.release for line in ledger.lines] == ["2" * 64]


def enter(path, name, barrier):
    ledger = Ledger(path)
    barrier.wait()
    for n in range(5):
        ledger.append(views(20 + n, name), f"{name}{n}".rjust(64, "0"))


@pytest.mark.skipif(os.name != "posix", reason="forks")
def test_two_writers_at_once_are_serialised(tmp_path):
    forks = multiprocessing.get_context("fork")
    barrier = forks.Barrier(4)
    ledger = Ledger(tmp_path / "book")
    writers = [forks.Process(target=enter, args=(ledger.path, name, barrier)) for name in range(1, 5)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0] * 4
    lines = ledger.lines
    assert sorted(line.release.lstrip("0") for line in lines) == sorted(
        f"{name}{n}" for name in range(1, 5) for n in range(5)
    )
    assert [line.n for line in lines] == list(range(1, 41, 2))


def test_who_reads_waits_until_a_line_is_whole(tmp_path):
    ledger = Ledger(tmp_path / "book")
    ledger.append(views(), "1" * 64)
    file = LockedFile(ledger.path, alone=True)
    program = (
        "from nbcfast.ledger import Ledger; print('begun', flush=True); "
        f"print(len(Ledger({ledger.path!r}).lines))"
    )
    reader = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert reader.stdout.readline().split() == [b"begun"]
    with pytest.raises(subprocess.TimeoutExpired):
        reader.wait(0.5)
    file.close()
    assert reader.communicate(timeout=60)[0].split() == [b"1"]
