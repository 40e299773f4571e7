"""tools/update_benchmarks.py writes the tables of docs/benchmarks.md, and nothing else of it."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
TOOL = TOP / "tools" / "update_benchmarks.py"
PAGE = TOP / "docs" / "benchmarks.md"
pytestmark = pytest.mark.skipif(
    not (TOOL.exists() and (TOP / "bench" / "peers.py").exists()),
    reason="tools/ and bench/ belong to a clone, and are not here",
)

PRINTED = "A machine, 2 cores\n\nPython 3.11\n\n| job | ours |\n| --- | --- |\n| count | 1 us |\n"
TEXT = (
    "# Page\n\nbefore\n\n<!-- table: --jobs one,two --rounds 3 -->\nold\n<!-- end of table -->\nbetween\n\n"
    "<!-- table: --jobs three -->\nolder\n<!-- end of table -->\nafter\n"
)


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("update_benchmarks", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_table_has_its_command_day_and_machine(tool):
    asked = []
    page = tool.updated(TEXT, ["two"], lambda options: asked.append(options) or PRINTED, "2026-11-19")
    assert asked == ["--jobs one,two --rounds 3"]
    new = (
        "`python bench/peers.py --jobs one,two --rounds 3 --markdown`, 2026-11-19:\n\n"
        "A machine, 2 cores\n\nPython 3.11\n\n| job | ours |\n| --- | --- |\n| count | 1 us |\n\n"
    )
    assert page == TEXT.replace("old\n", new, 1)
    assert tool.updated(page, ["two"], lambda options: PRINTED, "2026-11-19") == page


def test_without_jobs_all_tables_are_measured(tool):
    asked = []
    tool.updated(TEXT, [], lambda options: asked.append(options) or PRINTED, "2026-11-19")
    assert asked == ["--jobs one,two --rounds 3", "--jobs three"]


def test_what_is_skipped_is_said(tool):
    page = tool.updated(TEXT, ["three"], lambda options: PRINTED + "no numba: skipped\n", "2026-11-19")
    assert "| count | 1 us |\n\n- no numba: skipped\n\n<!-- end of table -->" in page


@pytest.mark.parametrize("printed", ["", "A machine\n", "A machine\n\n| job |\n| --- |\n"])
def test_no_table_is_lost_to_a_run_that_printed_none(tool, printed):
    with pytest.raises(ValueError, match=r"expected a table of '--jobs three', got"):
        tool.updated(TEXT, ["three"], lambda options: printed, "2026-11-19")


def test_a_job_has_to_be_of_the_page(tool):
    with pytest.raises(
        ValueError, match=r"expected jobs of tables of the page \(one, two, three\), got four"
    ):
        tool.updated(TEXT, ["four"], lambda options: PRINTED, "2026-11-19")
    with pytest.raises(ValueError, match="must name its --jobs; got '--rounds 3'"):
        tool.jobs_of("--rounds 3")


def test_the_page_measures_every_job(tool):
    source = (TOP / "bench" / "peers.py").read_text(encoding="utf-8")
    jobs = source.split("JOBS = {")[1].split("}")[0].split('"')[1::2]
    page = PAGE.read_text(encoding="utf-8")
    measured = [job for found in tool.TABLE.finditer(page) for job in tool.jobs_of(found["options"])]
    assert sorted(measured) == sorted(jobs)
    assert all(found["body"].count("\n| ") > 3 for found in tool.TABLE.finditer(page))


def test_readme_shows_eight_of_these_rows():
    speed = (TOP / "README.md").read_text(encoding="utf-8").split("\n## Speed\n")[1].split("\n## ")[0]
    shown = [line for line in speed.splitlines() if line.startswith("| ")][2:]
    assert len(shown) == 8
    rows = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in shown if not any(row.startswith(line) for row in rows)] == []


def test_the_command_says_what_is_wrong():
    done = subprocess.run([sys.executable, "-P", TOOL, "nothing"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("update_benchmarks.py: expected jobs of tables of the page (counting, ")
    assert done.stderr.count("\n") == 1
