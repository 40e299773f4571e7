"""python bench/study.py disk --rows 1e8 --memory-limit 2GiB: Mondrian of a file larger than memory.

Writes a census-like Parquet file into a temporary folder (removed at the end), splits it in a process of its
own, and prints time and peak memory of that process. `--points` adds a skyline of three points, whose safety
all groups share; without it groups are finished one by one.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from against.partition import POINTS, QUASI, SENSITIVE, K
from shared.census import census
from shared.memory import kib

PART = 1_000_000


def write(path: Path, n_rows: int) -> None:
    """Parts of a million rows, no two alike."""
    writer = None
    for start in range(0, n_rows, PART):
        n = min(PART, n_rows - start)
        named = census(PART + start // PART).named()
        table = pa.table({name: named[name][:n] for name in [*QUASI, SENSITIVE]})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
        census.cache_clear()
    assert writer is not None
    writer.close()


def split(path: str, out: str, limit: str, points: bool, threads: int | None) -> dict[str, object]:
    from nbcfast.mondrian import anonymize

    start, cpu = time.perf_counter(), time.process_time()
    partition = anonymize(
        path,
        QUASI,
        SENSITIVE,
        POINTS if points else (),
        k=K,
        out=out,
        memory_limit=limit,
        threads=threads,
    )
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = kib("VmHWM") * 1024
    assert partition.safe
    return {
        "groups": partition.n_groups,
        "people": partition.n_rows,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "peak_bytes": peak,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=float, default=1e8)
    parser.add_argument("--memory-limit", default="2GiB")
    parser.add_argument("--points", action="store_true")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--folder", help="where the temporary folder is made")
    parser.add_argument("--split", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.split:
        found = split(*given.split, given.memory_limit, given.points, given.threads)
        print(json.dumps(found))
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path, out = Path(folder, "people.parquet"), Path(folder, "published.parquet")
        n_rows = int(given.rows)
        write(path, n_rows)
        print(f"{n_rows:,} rows, {path.stat().st_size:,} bytes of Parquet", flush=True)
        command = [sys.executable, *sys.argv, "--split", str(path), str(out)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ})
        if done.returncode:
            sys.exit(done.returncode)
        found = json.loads(done.stdout)
        assert pq.read_metadata(out).num_rows == n_rows == found["people"]
        peak = found.pop("peak_bytes") / (1 << 20)
        print(f"{found}, peak {peak:,.0f} MiB, {found['seconds'] / n_rows * 1e9:.0f} ns/row")


if __name__ == "__main__":
    main()
