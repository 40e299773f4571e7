"""A window keeps one viewset a block, and no row."""

import pickle
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from nbcfast.streams import Window, moving
from nbcfast.views.viewset import Viewset

VALUES = [f"v{i}" for i in range(50)]
DOMAINS = {**{f"a{i}": VALUES for i in range(5)}, "ill": ["no", "yes"]}


def batches(n_batches, n_rows):
    """Rows that lie in one block a batch, some of the one before; times are all distinct."""
    rng = np.random.default_rng(1)
    codes = {name: rng.integers(0, len(values), n_rows) for name, values in DOMAINS.items()}
    texts = {name: np.array(DOMAINS[name])[code] for name, code in codes.items()}
    for place in range(n_batches):
        ticks = place * n_rows + np.arange(n_rows) - n_rows // 10 * (place > 0)
        yield pa.record_batch({"t": ticks, **texts})


@pytest.mark.parametrize("options", [{"rows": 2_000}, {"by": "t", "width": 2_000}])
def test_memory_does_not_grow_with_the_stream(options):
    window = Window("ill", DOMAINS, n_blocks=4, **options)
    sizes, held = [], []
    tracemalloc.start()
    try:
        for place, batch in enumerate(batches(60, 2_000)):
            window.add(batch, threads=1)
            if place in (14, 59):
                del batch
                sizes.append(tracemalloc.get_traced_memory()[0])
                held.append(len(pickle.dumps(window)))
    finally:
        tracemalloc.stop()
    assert window.n_rows == 120_000
    assert len(window.blocks) <= 5
    assert sizes[1] < sizes[0] + 60_000  # a block has 8 kB of counts; 45 more would be 360 kB
    assert held[1] < held[0] + 2_000  # the numbers that are saved have more digits


def test_a_move_adds_one_block_and_subtracts_one(monkeypatch):
    """Whatever the number of blocks: the sum of the window is never made anew."""
    merges = []
    merged = Viewset._merged

    def counted(self, other, subtract):
        merges.append(subtract)
        return merged(self, other, subtract)

    monkeypatch.setattr(Viewset, "_merged", counted)
    for n_blocks in (1, 50):
        window = moving.Moving(moving.Extent(n_blocks, 1, 0), *[Viewset([0], [[[0]]])] * 2)
        window.advance(0)
        for number in range(200):
            window.advance(number)
            window.add(number, Viewset([1], [[[1]]]))
        merges.clear()
        window.advance(200)
        assert merges == [True, False]
        assert window.views.n_rows == n_blocks
