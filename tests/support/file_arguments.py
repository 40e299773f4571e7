"""Arguments that fit the entry points of the kernels that read files."""

import numpy as np
from kernel_world import longs, words

from nbcfast import _csv_rows


def column_chunk(world):
    """Six rows, of which the fifth is null, of the texts a and bb; a page of version 1."""
    dictionary = bytes([1, 0, 0, 0, 97, 2, 0, 0, 0, 98, 98])
    codes = bytes([2, 0, 0, 0, 3, 0b101111, 1, 3, 0b10110])
    head = bytes([0x15, 4, 0x15, 22, 0x15, 22, 0x4C, 0x15, 4, 0x15, 0, 0, 0])
    page = bytes([0x15, 0, 0x15, 18, 0x15, 18, 0x2C, 0x15, 12, 0x15, 16, 0x15, 6, 0, 0])
    (chunk,) = world.give(np.frombuffer(head + dictionary + page + codes, np.uint8).copy())
    return chunk


def compressed(world):
    """By Snappy: abc, and nine bytes from three before."""
    (stored,) = world.give(np.frombuffer(bytes([12, 8, 97, 98, 99, 21, 3]), np.uint8).copy())
    return stored


def chunk_arguments(world):
    dtype = world.rng.choice([np.uint8, np.uint16])
    return (
        world.get(column_chunk),
        False,
        True,
        2,
        *world.give(np.empty(16, np.uint8), np.empty(6, dtype), np.empty(6, np.uint8)),
    )


CSV = b'a,b,"c\n""d"\n1,2,3\n\nx,"y",\r\n4,5,six"7\n' + 40 * b"again,again,and again and again\n"


def csv_text(world):
    """Rows of three fields, and what a kernel reads behind them."""
    text = np.frombuffer(CSV + bytes(_csv_rows.AHEAD), np.uint8).copy()
    return world.give(text)[0]


def csv_values(world):
    """Those of two columns of the rows."""
    values = _csv_rows.Values(words(*range(1, 5)))
    _csv_rows.Scanner(values, 3, longs(0, 2), ord(","), [b"x"], words(*range(4)), 0).scan(
        csv_text(world), 0, len(CSV)
    )
    return values


def csv_scanner(world):
    return _csv_rows.Scanner(*csv_arguments(world))


def csv_arguments(world):
    return (
        world.get(csv_values),
        3,
        longs(*world.rng.choice([(0, 2), (1, 1), (2, 0)])),
        ord(","),
        [b"", b"NA"],
        words(*range(5, 9)),
        world.rng.randrange(_csv_rows.levels()),
    )


def csv_codes(world):
    """The codes of values that there are."""
    values = world.get(csv_values)
    return values, 0, world.codes(values.size(0), 5, np.uint32)
