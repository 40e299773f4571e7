"""The page of what methods cost says what was measured; the study stops where an axis becomes too long."""

import json
import signal
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs" / "costs.md"
if not (TOP / "bench" / "studies").is_dir():
    pytest.skip("bench/ belongs to a clone, and is not here", allow_module_level=True)

study = import_module("studies.costs")
costed = import_module("studies.costed_methods")


@pytest.fixture(name="page", scope="module")
def page_tool():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOP / "tools"))  # where it finds its neighbour
        spec = spec_from_file_location("costs_page", TOP / "tools" / "costs_page.py")
        tool = module_from_spec(spec)
        spec.loader.exec_module(tool)
    return tool


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.5])
def test_the_exponent_of_a_power(page, exponent):
    found, off = page.fitted([(n, 3 * n**exponent) for n in (1, 10, 100, 1000, 10_000)])
    assert (found, off) == (pytest.approx(exponent), pytest.approx(1))


def test_the_residual_of_points_beside_a_line(page):
    """Twice and half of it, so that the line stays: log 2 off at each point."""
    points = [(1, 2.0), (10, 5.0), (100, 50.0), (1000, 2000.0)]
    exponent, off = page.fitted(points)
    assert exponent == pytest.approx(1)
    assert off == pytest.approx(2)


def test_lines_of_a_table(page):
    mib = 1 << 20
    points = [[1000, 0.0001, 0], [10_000, 0.001, mib], [100_000, 0.01, 10 * mib], [1_000_000, 1.0, 100 * mib]]
    assert page.row("one", points) == (
        "| one | 1,000 to 1,000,000 | 100 us | 1 s | 1.30 | 1.88 | 2.00 | 100 MiB | 1.00 |"
    )
    assert page.row("two", points[:2]) == "| two | 1,000 to 10,000 | 100 us | 1 ms |  |  |  | 1 MiB |  |"
    assert page.row("small", [[1, 2e-6, 5], [10, 2e-6, 9]]).endswith("|  |  |  | < 0.25 MiB |  |")


def test_parts_of_a_run_are_one(page):
    parts = [
        {"date": "2026-01-01", "machine": ["m"], "methods": {"a": 1, "b": 2}},
        {"date": "2026-01-02", "machine": ["n"], "methods": {"b": 3}},
    ]
    assert page.merged(parts) == {"date": "2026-01-02", "machine": ["m"], "methods": {"a": 1, "b": 3}}


def test_the_page_has_the_tables_of_what_is_kept(page):
    """And a field of a picture has each method."""
    measured = json.loads(page.KEPT.read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")
    assert page.rewritten(text, page.sections(measured)) == text
    assert list(measured["methods"]) == list(costed.METHODS)
    assert sorted(name for names in page.ROOMS.values() for name in names) == sorted(costed.METHODS)
    for method, axes in measured["methods"].items():
        assert tuple(axes) == costed.AXES, method
        for axis, found in axes.items():
            numbers = costed.METHODS[method].axes[axis].numbers
            sizes = [number for number, _, _ in found["points"]]
            assert sizes == list(numbers[: len(sizes)]), (method, axis)
            assert found["ends"] or len(sizes) == len(numbers) > 2, (method, axis)


# A size that takes no time, of each method and axis: all that the study calls can still be called so.
@pytest.mark.parametrize("method", costed.METHODS)
def test_each_method_runs_at_its_least(method, tmp_path):
    for place, (axis, of) in enumerate(costed.METHODS[method].axes.items()):
        assert of.numbers or of.why
        if of.numbers:
            folder = tmp_path / str(place)
            folder.mkdir()
            small = of.base._replace(rows=min(of.base.rows, 1000), columns=min(of.base.columns, 3))
            assert costed.METHODS[method].make(small.along(axis, of.numbers[0]), folder)() is not None


def grown(costs, why=""):
    """A method whose call takes so many seconds, by its clock, at each size."""
    return costed.Axis(tuple(costs), costed.Size(), why)


def test_an_axis_ends_before_what_takes_too_long(monkeypatch):
    costs = {10: 0.01, 100: 0.2, 1000: 9.0, 10_000: 99.0}
    monkeypatch.setattr(study, "measured", lambda method, size: (costs[size.values], 7))
    method = costed.Method(None, {})
    points, why = study.along(method, "values", grown(costs), tuple(costs))
    assert points == [(10, 0.01, 7), (100, 0.2, 7)]
    assert why == "1,000: expected to take 4 s"  # as the last step grew, by 20
    costs[1000] = 1.0
    assert study.along(method, "values", grown({10: 0, 100: 0}, "no more"), (10, 100)) == (points, "no more")


def test_an_axis_ends_where_a_method_refuses(monkeypatch):
    def refused(method, size):
        raise ValueError("9 values")

    monkeypatch.setattr(study, "measured", refused)
    method = costed.Method(None, {})
    assert study.along(method, "values", grown({9: 0}), (9,)) == (
        [],
        "9: ValueError: 9 values",
    )
    assert study.along(method, "columns", grown({10**6: 0}), (10**6,)) == (
        [],
        "1,000,000: more than 200,000,000 cells",
    )


def test_what_takes_too_long_is_given_up():
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(study.TooLongError), study.cut(600):
        signal.raise_signal(signal.SIGALRM)
    assert signal.alarm(0) == 0  # none is left behind
    assert signal.getsignal(signal.SIGALRM) is before


def test_time_and_memory_of_a_call():
    run = costed.Method(lambda size, folder: lambda: bytearray(64 << 20), {})
    seconds, n_bytes = study.measured(run, costed.Size())
    assert seconds > 0
    assert 60 << 20 < n_bytes < 80 << 20
