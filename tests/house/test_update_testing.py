"""tools/update_testing.py counts the tests of each folder into docs/testing.md."""

import importlib.util
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
TOOL = TOP / "tools" / "update_testing.py"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="tools/ belongs to a clone, and is not here")

LISTED = (
    "tests/views/test_count.py::test_one[tests/cli/x::y]\n"
    "tests/views/test_score.py::test_two\n"
    "tests/cli/test_cli.py::test_three\n"
    "\n3 tests collected in 0.1s\n"
)


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("update_testing", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_folder_is_counted(tool):
    page = f"before\n{tool.BEGINS}old\n{tool.ENDS}after\n"
    expected = (
        f"before\n{tool.BEGINS}3 tests on 2026-11-19:\n\n| folder | tests |\n|---|---:|\n"
        f"| `tests/cli` | 1 |\n| `tests/views` | 2 |\n{tool.ENDS}after\n"
    )
    assert tool.updated(page, LISTED, "2026-11-19") == expected
    assert tool.updated(expected, LISTED, "2026-11-19") == expected


def test_nothing_is_lost(tool):
    with pytest.raises(ValueError, match="expected tests of folders, got 'no tests"):
        tool.table("no tests collected\n", "2026-11-19")
    with pytest.raises(ValueError, match="expected lines"):
        tool.updated("no table\n", LISTED, "2026-11-19")


def test_the_page_has_every_folder(tool):
    page = (TOP / "docs" / "testing.md").read_text(encoding="utf-8")
    folders = {path.parent.name for path in (TOP / "tests").glob("*/test_*.py")}
    counted = page.split(tool.BEGINS)[1].split(tool.ENDS)[0]
    assert {folder for folder in folders if f"| `tests/{folder}` |" not in counted} == set()
