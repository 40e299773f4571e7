"""Windows over a stream: `python bench/bench_streams.py` prints how many times counting them takes.

10^7 rows in blocks of 10^5, ten attributes, on one thread, CPU time of the process, medians of rounds that
take turns; all answers asserted equal. `pytest bench/bench_streams.py` clocks the parts on a million rows.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from against.streaming import streaming
from shared.census import CLASS, NAMES, SIZES, Data, census, labels
from shared.clock import machine

import nbcfast
from nbcfast.streams import Window

ROWS, BLOCK, BLOCKS = 10_000_000, 100_000, 12


def batches_of(data: Data, block: int) -> list[Any]:
    """Dictionary batches, as Parquet files and Arrow streams give them, with the time of each row."""
    values = {name: labels(name, size) for name, size in zip(NAMES, SIZES, strict=True)}
    values[CLASS] = labels(CLASS, data.n_classes)
    columns = {
        name: pa.DictionaryArray.from_arrays(pa.array(codes.view(np.int8)), pa.array(values[name]))
        for name, codes in data.named().items()
    }
    return pa.table({"t": np.arange(data.n_rows), **columns}).to_batches(max_chunksize=block)


def domains_of(n_classes: int) -> dict[str, list[str]]:
    sizes = zip([*NAMES, CLASS], [*SIZES, n_classes], strict=True)
    return {name: labels(name, size) for name, size in sizes}


def window(n_classes: int, block: int, times: bool) -> Window:
    blocks: Any = {"by": "t", "width": block} if times else {"rows": block}
    return Window(CLASS, domains_of(n_classes), n_blocks=BLOCKS, **blocks)


def followed(batches: list[Any], block: int, times: bool, one_by_one: bool) -> Window:
    followed = window(2, block, times)
    for part in batches if one_by_one else [iter(batches)]:
        followed.add(part, threads=1)
    return followed


def of_codes(data: Data) -> nbcfast.Viewset:
    return nbcfast.Viewset.from_codes(data.columns, data.classes, sizes=SIZES, n_classes=2, threads=1)


def in_blocks(data: Data, block: int) -> list[nbcfast.Viewset]:
    """Each block counted on its own, where it lies."""
    return [
        nbcfast.Viewset.from_codes(
            [codes[start : start + block] for codes in data.columns],
            data.classes[start : start + block],
            sizes=SIZES,
            n_classes=2,
            threads=1,
        )
        for start in range(0, data.n_rows, block)
    ]


def assert_last_blocks(found: Window, data: Data, block: int) -> None:
    """The views are those of the last closed blocks, counted at once."""
    end = data.n_rows // block - (0 if found.open_views.n_rows == 0 else 1)
    rows = slice(max(0, end - BLOCKS) * block, end * block)
    last = Data([codes[rows] for codes in data.columns], data.classes[rows], data.n_classes)
    expected = of_codes(last)
    assert found.views.class_counts.tolist() == expected.class_counts.tolist()
    for mine, theirs in zip(found.views.counts.values(), expected.counts.values(), strict=True):
        assert np.array_equal(mine, theirs)
    assert found.n_rows == data.n_rows


@pytest.mark.parametrize("times", [False, True], ids=["rows", "times"])
def bench_window_1_000_000_rows(benchmark: Callable[..., Any], times: bool) -> None:
    data = census(1_000_000)
    batches = batches_of(data, 50_000)
    assert_last_blocks(benchmark(followed, batches, 50_000, times, True), data, 50_000)


def bench_a_move_of_ten_attributes(benchmark: Callable[..., Any]) -> None:
    data = census(100_000)
    one, other = (
        of_codes(Data([c[rows] for c in data.columns], data.classes[rows], 2))
        for rows in (slice(0, 50_000), slice(50_000, None))
    )
    total = one + other
    assert benchmark(lambda: total + one - one) == total


def main(n_rows: int, block: int, rounds: int) -> int:
    data = census(n_rows)
    batches = batches_of(data, block)
    forms: dict[str, Callable[[], Any]] = {
        "count(batches), once": lambda: nbcfast.count(iter(batches), CLASS, NAMES, threads=1),
        "Viewset.from_codes, once": lambda: of_codes(data),
        "Viewset.from_codes, each block": lambda: in_blocks(data, block),
        "Window of rows, one add": lambda: followed(batches, block, False, False),
        "Window of rows, an add a batch": lambda: followed(batches, block, False, True),
        "Window of times, one add": lambda: followed(batches, block, True, False),
        "Window of times, an add a batch": lambda: followed(batches, block, True, True),
    }
    answers: dict[str, Any] = {}
    for peer, listed in streaming.forms((data, block)).items():
        for form in listed:
            forms[f"{peer}: {form.how}"] = form.run
            answers[f"{peer}: {form.how}"] = form.answer
    taken: dict[str, list[float]] = {name: [] for name in forms}
    expected = of_codes(data)
    for _ in range(rounds):
        for name, run in forms.items():
            start = time.process_time()
            result = run()
            taken[name].append(time.process_time() - start)
            if isinstance(result, Window):
                assert_last_blocks(result, data, block)
            else:
                if isinstance(result, list):
                    total = result[0]
                    for views in result[1:]:
                        total = total + views
                    result = total
                counts = (
                    result.counts.values() if isinstance(result, nbcfast.Viewset) else answers[name](result)
                )
                assert all(map(np.array_equal, counts, expected.counts.values()))
    print(f"{n_rows:,} rows in blocks of {block:,}, a window of {BLOCKS}, ten attributes; {machine()}")
    once, codes = (statistics.median(taken[name]) for name in list(forms)[:2])
    print(f"{'':54} ns a row   of count   of from_codes")
    for name, seconds in taken.items():
        median = statistics.median(seconds)
        print(f"{name:54} {median / n_rows * 1e9:8.2f} {median / once:10.2f} {median / codes:14.2f}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--block", type=int, default=BLOCK)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    sys.exit(main(given.rows, given.block, given.rounds))
