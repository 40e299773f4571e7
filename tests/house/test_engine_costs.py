"""The page of what engines cost says what its formula makes of what was measured; its clock sees children."""

import json
import re
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs" / "engines-costs.md"
if not (TOP / "bench" / "studies").is_dir():
    pytest.skip("bench/ belongs to a clone, and is not here", allow_module_level=True)

study = import_module("studies.engine_costs")
process_tree = import_module("shared.process_tree")


def test_the_formula():
    cost = study.Cost("Spark", "group", 1000.0, 500.0, 100.0, 20.0, 10, 1_000_000)
    found = study.projected(cost, 10**11, 4.0, 100, 2)
    assert found.worker_seconds == pytest.approx(500)
    tasks = 4e11 / (128 << 20)
    assert found.shuffle_bytes == pytest.approx(tasks * 1_000_000 * 20)  # each task has all combinations
    assert found.network == pytest.approx(found.shuffle_bytes / 100 / 500)
    assert (found.here_seconds, found.here_bytes) == (pytest.approx(0.5), pytest.approx(1e8))
    assert found.bottleneck == "rows"
    assert study.projected(cost._replace(most_distinct=10**10), 10**11, 4.0, 100).bottleneck == "this process"


def test_a_task_sends_no_more_than_its_rows():
    cost = study.Cost("Spark", "group", 1000.0, 500.0, 100.0, 20.0, 10, 10**12)
    assert study.projected(cost, 10**9, 4.0, 100).shuffle_bytes == pytest.approx(10**9 * 20)


def test_what_was_not_measured_is_not_projected():
    cost = study.Cost("DuckDB", "count", 0.0, None, None, None, 0, 0)
    assert study.projected(cost, 10**9, 4.0, 1) == (0, None, None, 0, 0, "rows")
    assert study.projected(cost._replace(shuffled=20.0), 10**9, 4.0, 1).shuffle_bytes is None


def test_bytes_of_a_record_are_read_from_the_log_of_events():
    def job(stages, group):
        return {
            "Event": "SparkListenerJobStart",
            "Stage IDs": stages,
            "Properties": {"spark.jobGroup.id": group},
        }

    def task(stage, n_bytes, records):
        metrics = {
            "Shuffle Write Metrics": {"Shuffle Bytes Written": n_bytes, "Shuffle Records Written": records}
        }
        return {"Event": "SparkListenerTaskEnd", "Stage ID": stage, "Task Metrics": metrics}

    events = [
        {"Event": "SparkListenerLogStart"},
        job([0, 1], "count"),
        task(0, 100, 4),
        task(0, 60, 4),
        task(1, 0, 0),
        job([2], "labels"),
        task(2, 0, 0),
        task(3, 7, 1),  # of a job without a group
        {"Event": "SparkListenerTaskEnd", "Stage ID": 2},
    ]
    assert study.shuffled(map(json.dumps, events)) == {"count": 20}


@pytest.mark.skipif(not (process_tree.PROC / "self" / "stat").exists(), reason="needs /proc, as Linux has it")
def test_the_clock_counts_children_while_they_run_and_when_they_have_ended():
    work = "import time\nwhile time.process_time() < .3: pass\nprint(flush=True)\ninput()"
    start, own = process_tree.tree_time(), time.process_time()
    with subprocess.Popen(
        [sys.executable, "-S", "-c", work], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.readline()
        during = process_tree.tree_time() - start
        child.communicate(b"\n")
    after = process_tree.tree_time() - start
    own = time.process_time() - own
    assert during - own >= 0.25
    assert during <= after + 0.03  # ticks of a hundredth, of two numbers


def test_the_clock_says_where_it_cannot_tell(monkeypatch, tmp_path):
    monkeypatch.setattr(process_tree, "PROC", tmp_path)
    with pytest.raises(ImportError, match="CPU time of a process tree needs /proc"):
        process_tree.tree_time()


def section(title):
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    lines = [line.strip("|").split("|") for line in found[1].splitlines() if line.startswith("|")]
    return [[cell.strip().replace(",", "") for cell in line] for line in lines[2:]], found[1]


def test_what_the_page_projects_is_the_formula_of_what_it_measured():
    measured, text = section("Measured")
    row_bytes = float(re.search(r"([\d.]+)\s+bytes of Parquet a row", text)[1])
    known, _ = section("Projected")
    assert len(known) == len(measured) > 0
    for (engine, method, row_ns, distinct, most, ns, n_bytes, record), cells in zip(
        measured, known, strict=True
    ):
        cost = study.Cost(
            engine,
            method,
            float(row_ns),
            *(float(text) if text else None for text in (ns, n_bytes, record)),
            int(distinct or 0),
            int(most or 0),
        )
        machines = int(cells[2])
        assert machines == (100 if engine in ("Spark", "Dask") else 1)
        found = study.projected(cost, 10**11, row_bytes, machines)
        assert cells[:2] == [engine, method]
        assert float(cells[3]) == pytest.approx(found.worker_seconds / 3600, rel=0.02)
        assert cost.distinct <= cost.most_distinct
        for cell, value, unit in zip(
            cells[4:8],
            (found.shuffle_bytes, found.network, found.here_seconds, found.here_bytes),
            (1e9, 1e6, 1, 1e6),
            strict=True,
        ):
            if cell:
                assert float(cell) == pytest.approx(value / unit, rel=0.02)
        assert cells[8] == found.bottleneck


def test_what_memory_holds_is_a_division():
    rows, _ = section("In memory")
    assert [row[0] for row in rows] == ["anonymize", "disclose"]
    for _, distinct, ns, n_bytes, most in rows:
        assert int(distinct) > 0 < float(ns)
        assert float(most) == pytest.approx((16 << 30) / float(n_bytes), rel=0.02)
