"""The jobs whose instructions are counted, one after the other in this process, on one thread.

python -m shared.hot_jobs LIBRARY, under callgrind: the library is callgrind.c, compiled. What a job needs is
made, and the job run once, before its instructions are counted: what is kept between calls is there.
"""

import ctypes
import gc
import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from against.partition import QUASI, SENSITIVE, K, people
from against.response import random_bits
from against.skyline import SENSITIVE as SENSITIVE_VALUE
from against.skyline import rows
from shared.census import CLASS, census

import nbcfast
from nbcfast import response, skyline

ROWS, PEOPLE, LINES = 100_000, 20_000, 10_000

Job = Callable[[], object]


@contextmanager
def jobs() -> Iterator[dict[str, Job]]:
    """Name -> job."""
    found: dict[str, Job] = {}
    for n_classes in (2, 10):
        table = census(ROWS, n_classes).table()
        views = nbcfast.count(table, CLASS, threads=1)
        found[f"count {n_classes} classes"] = lambda table=table: nbcfast.count(table, CLASS, threads=1)
        found[f"predict {n_classes} classes"] = lambda table=table, views=views: views.predict(
            table, codes=True, threads=1
        )
    grouped = rows(ROWS, 5)
    found["group"] = lambda: skyline.group(grouped.table, grouped.quasi, SENSITIVE_VALUE, threads=1)
    crowd = people(PEOPLE).table
    found["anonymize"] = lambda: skyline.anonymize(crowd, QUASI, SENSITIVE, k=K, threads=1)
    bits = random_bits(ROWS, 10)
    scheme = response.Scheme.per_attribute("0.8", bits.names)
    # A seeded generator: the same coins, and as many of them, in each run.
    found["disguise"] = lambda: response.disguise(bits, scheme, np.random.default_rng(1))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "census.csv"
        path.write_text(lines(), encoding="utf-8")
        found["CSV to Table"] = lambda: nbcfast.read_csv(path)
        batches = dictionaries()
        found["Arrow to counts"] = lambda: nbcfast.count(iter(batches), CLASS, threads=1)
        yield found


def lines() -> str:
    """A CSV file of texts and numbers."""
    named = census(LINES).named()
    text = io.StringIO()
    text.write(",".join(named) + "\n")
    for row in zip(*(codes.tolist() for codes in named.values()), strict=True):
        text.write(",".join(f"v{code}" if place % 2 else str(code) for place, code in enumerate(row)) + "\n")
    return text.getvalue()


def dictionaries() -> list[object]:
    """Record batches of dictionary arrays, as a Parquet file gives them."""
    import pyarrow as pa

    named = census(ROWS).named()
    arrays = {
        name: pa.DictionaryArray.from_arrays(
            pa.array(codes.astype(np.int32)), [f"{name}_{value:02d}" for value in range(int(codes.max()) + 1)]
        )
        for name, codes in named.items()
    }
    return list(pa.table(arrays).to_batches(max_chunksize=1 << 15))


def main(library: str) -> None:
    callgrind = ctypes.CDLL(library)
    callgrind.nbc_end.argtypes = [ctypes.c_char_p]
    gc.disable()  # it would come in one run in this job and in another in that
    with jobs() as found:
        for name, job in found.items():
            job()
            callgrind.nbc_begin()
            job()
            callgrind.nbc_end(name.encode())


if __name__ == "__main__":
    main(sys.argv[1])
