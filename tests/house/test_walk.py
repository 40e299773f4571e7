"""How a job goes through the rooms, counted by tools/walk.py: data is handed over in bulk, and once."""

import importlib.util
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
TOOL = TOP / "tools" / "walk.py"
PAGE = TOP / "docs" / "architecture.md"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="tools/ belongs to a clone, and is not here")

# Calls of a room by another, in saving a small canonical release and verifying it: they only become fewer.
MOST_SWITCHES = {"release and save": 367, "verify": 353}


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("walk", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def walks(tool):
    with tool.methods() as jobs:
        return {name: tool.walk(job) for name, job in jobs.items() if name in MOST_SWITCHES}


@pytest.mark.parametrize("name", MOST_SWITCHES)
def test_rooms_are_switched_seldom(walks, name):
    assert walks[name].switches <= MOST_SWITCHES[name], walks[name].entered


@pytest.mark.parametrize("name", MOST_SWITCHES)
def test_who_has_the_job_enters_each_room_once_or_twice(walks, name):
    """What it needs of a room it asks for in one go; a second time after another room has answered."""
    handed_over = walks[name].handed_over(walks[name].top)
    assert max(Counter(handed_over).values()) <= 2, handed_over


ROOMS = {
    "cellar/numbers.py": "def double(n):\n    return 2 * n\n\n\ndef each(n):\n    yield from range(n)\n",
    "hall/sums.py": (
        "from walked.cellar.numbers import double, each\n\n\n"
        "def total(numbers, last):\n    return sum(map(double, numbers)) + last(own(1)) + sum(each(2))\n\n\n"
        "def own(n):\n    return n\n"
    ),
    "roof/job.py": (
        "from walked.hall.sums import total\n\n\n"
        "def job():\n    return total([1, 2], lambda n: n) + total([], lambda n: n)\n"
    ),
}


@pytest.fixture
def walked(tmp_path, monkeypatch):
    """The package `walked`, with a module in each of three rooms."""
    for name, text in {"__init__.py": "", **ROOMS}.items():
        path = tmp_path / "walked" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "walked"
    for name in [name for name in sys.modules if name.split(".")[0] == "walked"]:
        del sys.modules[name]


def test_every_call_of_another_room_is_counted(tool, walked):
    def job():
        from walked.roof.job import job

        return job()

    way = tool.walk(job, walked)
    # In the order of the text: two numbers, the function that is handed in, each step of the generator.
    first = [("hall", "cellar")] * 2 + [("hall", "roof")] + [("hall", "cellar")] * 3
    second = [("hall", "roof")] + [("hall", "cellar")] * 3
    assert way.calls == [("job", "roof"), ("roof", "hall"), *first, ("roof", "hall"), *second]
    assert way.switches == 13
    assert dict(way.entered) == {"roof": 3, "hall": 2, "cellar": 8}
    assert way.handed_over("roof") == ["hall"]
    assert way.handed_over("hall") == ["cellar", "roof", "cellar", "roof", "cellar"]
    assert way.places[:5] == [
        ("job",),
        ("job", "roof"),
        ("job", "roof", "hall"),
        ("job", "roof", "hall", "cellar"),
        ("job", "roof", "hall"),
    ]
    assert way.places[-1] == ("job",)


def test_the_hook_ends_with_the_job(tool):
    before = sys.getprofile()

    def job():
        raise ValueError("no job")

    with pytest.raises(ValueError, match="no job"):
        tool.walk(job)
    assert sys.getprofile() is before


def test_steps_are_drawn_by_shares(tool):
    """Of more steps than cells none is lost, and two rooms by turns are both seen."""
    places = [("job", "hall"), ("job", "hall", "cellar")] * 10
    works, waits = tool.shares(places, "hall", 5)
    assert works.tolist() == waits.tolist() == [0.5] * 5
    assert [share.tolist() for share in tool.shares(places, "cellar", 5)] == [[0.5] * 5, [0.0] * 5]
    works, waits = tool.shares(places[:3], "hall", 5)
    assert (works.tolist(), waits.tolist()) == ([1.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    assert tool.shares(places[:3] + [("job",)] * 9, "hall", 4)[0].tolist() == [2 / 3, 0, 0, 0]


def test_rooms_have_a_place_in_the_picture(tool, walks):
    floors = tool.floors()
    assert floors[:2] == ["_wire", "_core"]
    assert floors[-1] == "cli"
    assert {room for way in walks.values() for room in way.entered} <= set(floors)


def test_the_page_draws_each_method(tool):
    calls = re.findall(r"^draw\(\{(.*?)\}\)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    drawn = re.findall(r'"([^"]+)":', "".join(calls))
    with tool.methods() as jobs:
        assert sorted(drawn) == sorted(jobs)


def test_it_prints_rooms_in_the_order_of_entry(tool, capsys):
    assert tool.main(["response.disguise"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("response.disguise: ")
    assert lines[1].split() == ["1", "response"]
    assert lines[-2].startswith("  response hands over to ")
    assert tool.main(["no such"]) == 2
    assert "expected methods of release and save, verify, " in capsys.readouterr().err
