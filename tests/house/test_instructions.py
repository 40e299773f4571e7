"""bench/instructions.py fails where a job takes more instructions than are stored."""

import json
import sys
from importlib import import_module
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
if not (TOP / "bench" / "instructions.py").exists():
    pytest.skip("bench/ belongs to a clone, and is not here", allow_module_level=True)

gate = import_module("instructions")

STORED = {
    "compiler": "GCC 12.2.0",
    "clone": "v3",
    "Python": "3.11.7",
    "numpy": "2.4.6",
    "pyarrow": "26.0.1",
    "jobs": {"count": {"kernels": 1000, "all": 2000}, "group": {"kernels": 500, "all": 900}},
}


def found(kernels=1000, total=2000, **others):
    return {**STORED, **others, "jobs": {**STORED["jobs"], "count": {"kernels": kernels, "all": total}}}


def test_as_many_instructions_as_are_stored():
    lines, failed = gate.judged(STORED, found())
    assert failed == []
    assert lines == [
        "                           kernels                      all",
        "count                        1,000  +0.00%            2,000  +0.00%",
        "group                          500  +0.00%              900  +0.00%",
    ]


@pytest.mark.parametrize(
    ("kernels", "total", "expected"),
    [
        (1030, 2060, []),
        (1031, 2060, ["count: 1,031 instructions of the kernels, expected at most 3 % above 1,000"]),
        (1030, 2061, ["count: 2,061 instructions of all that runs, expected at most 3 % above 2,000"]),
        (10, 20, []),
    ],
)
def test_a_planted_rise(kernels, total, expected):
    assert gate.judged(STORED, found(kernels, total)).failed == expected


@pytest.mark.parametrize(("key", "value"), [("compiler", "clang version 17.0.6"), ("clone", "default")])
def test_other_machine_code_is_reported_and_does_not_fail(key, value):
    lines, failed = gate.judged(STORED, found(5000, 9000, **{key: value}))
    assert failed == []
    assert lines[0] == (
        f"other machine code than when stored, nothing is compared: {key} {value}, stored with {STORED[key]}"
    )
    assert lines[2] == "count                        5,000 +400.00%            9,000 +350.00%"


@pytest.mark.parametrize("key", ["Python", "numpy", "pyarrow"])
def test_with_other_libraries_the_kernels_are_compared(key):
    lines, failed = gate.judged(STORED, found(1000, 9000, **{key: "9.9"}))
    assert failed == []
    assert lines[0].startswith("other libraries than when stored, kernels alone are compared: ")
    assert lines[0].endswith(f"{key} 9.9, stored with {STORED[key]}")
    assert gate.judged(STORED, found(1031, 2000, **{key: "9.9"})).failed == [
        "count: 1,031 instructions of the kernels, expected at most 3 % above 1,000"
    ]


def test_a_job_that_is_not_stored():
    jobs = {"count": STORED["jobs"]["count"], "new": {"kernels": 1, "all": 1}}
    assert gate.judged(STORED, {**STORED, "jobs": jobs}).failed == [
        "jobs that are stored or run, and not both: group, new; --record stores them"
    ]


def test_a_job_that_has_no_kernel():
    none = {**STORED, "jobs": {"count": {"kernels": 0, "all": 10}}}
    assert gate.judged(none, none).failed == []
    some = {**STORED, "jobs": {"count": {"kernels": 1, "all": 10}}}
    assert gate.judged(none, some).failed == [
        "count: 1 instructions of the kernels, expected at most 3 % above 0"
    ]


DUMP = """\
version: 1
desc: Trigger: Client Request: count
positions: line
events: Ir

ob=(1) /usr/lib/libc.so.6
fn=(1) memset
12 100
+3 20
cob=(2) /env/site-packages/nbcfast/_count.cpython-311-x86_64-linux-gnu.so
cfn=(2) nbc_count_rows_v3
calls=2 40
15 5000

ob=(2)
fn=(2)
40 3000
* 7
-2 1

ob=(3) /env/site-packages/numpy/_core/_multiarray_umath.so
fn=(3) PyArray_New
1 10000

totals: 13128
"""


def test_instructions_of_the_kernels_in_a_dump():
    """Those of a call are counted where they were taken, not where the call stands."""
    assert gate.of_dump(DUMP) == (3008, 13128, {"v3"})


@pytest.mark.parametrize(
    ("signed", "expected"),
    [
        (b"\0GCC: (Debian 12.2.0-14+deb12u1) 12.2.0\0", "GCC 12.2.0"),
        (b"\0GCC: (GNU) 13.1.1\0clang version 17.0.6 (x)\0", "clang version 17.0.6"),
        (b"nothing", "unknown"),
    ],
)
def test_who_compiled_a_kernel(tmp_path, signed, expected):
    path = tmp_path / "_count.so"
    path.write_bytes(signed)
    assert gate.compiler(path) == expected


def test_the_command_fails_and_records(tmp_path, monkeypatch, capsys):
    """With planted numbers in place of those that callgrind counts."""
    stored = tmp_path / "stored.json"
    stored.write_text(json.dumps(STORED))
    monkeypatch.setattr(gate.shutil, "which", lambda tool: f"/usr/bin/{tool}")
    monkeypatch.setattr(sys, "argv", ["instructions.py", "--stored", str(stored)])
    monkeypatch.setattr(gate, "measured", lambda folder: found(1040, 2000))
    with pytest.raises(SystemExit, match=r"count: 1,040 instructions .* at most 3 % above 1,000"):
        gate.main()
    assert "+4.00%" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["instructions.py", "--record", "--stored", str(stored)])
    gate.main()
    assert json.loads(stored.read_text()) == found(1040, 2000)


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(gate.shutil, "which", lambda tool: None)
    monkeypatch.setattr(sys, "argv", ["instructions.py"])
    with pytest.raises(SystemExit, match=r"needs valgrind on the path \(.*apt-get install valgrind\)"):
        gate.main()


def test_what_is_stored_is_whole():
    """Each job of the run has numbers, and the clone is the one that valgrind can run."""
    stored = json.loads((TOP / "bench" / "instructions.json").read_text(encoding="utf-8"))
    with import_module("shared.hot_jobs").jobs() as jobs:
        assert list(stored["jobs"]) == list(jobs)
        assert all(job() is not None for job in jobs.values())
    assert stored["clone"] == "v3"
    assert all(0 < job["kernels"] < job["all"] for job in stored["jobs"].values())
