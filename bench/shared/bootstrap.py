"""A folder of Parquet with people as a census has them, many times over: what engines are measured on."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from shared.census import NAMES, SIZES, census, labels

PEOPLE = 48_842  # whom the rows are drawn from: as many as UCI Adult has
NOISE = 0.1  # the share of values that are those of somebody else
FIRST = {"age": 17, "hours": 1}  # columns of integers, and their least value; all others are texts
CLASSES = ["<=50K", ">50K"]
PARTS = 8  # files, so that each engine has something to share out


def values(name: str) -> npt.NDArray[np.object_] | npt.NDArray[np.int64]:
    """What the codes of a column stand for."""
    if name not in NAMES:
        return np.array(CLASSES, object)
    size = SIZES[NAMES.index(name)]
    return np.arange(size) + FIRST[name] if name in FIRST else np.array(labels(name, size), object)


def write(folder: Path, n_rows: int) -> Path:
    """Write the rows in PARTS files, as pyarrow does by default; the same for the same number of rows.

    Each row is somebody of PEOPLE, and each of the attributes is that of another row with the chance NOISE.
    """
    people = census(PEOPLE).named()
    folder.mkdir()
    for part in range(PARTS):
        rng = np.random.default_rng([n_rows, part])
        n = n_rows * (part + 1) // PARTS - n_rows * part // PARTS
        who = rng.integers(PEOPLE, size=n)
        columns = {}
        for name, codes in people.items():
            drawn = codes[who]
            if name in NAMES:
                other = np.flatnonzero(rng.random(n) < NOISE)
                drawn[other] = rng.permutation(drawn[other])
            known = pa.array(values(name))
            # Plain texts: a dictionary would make engines read categories, which few tables have.
            columns[name] = pa.DictionaryArray.from_arrays(pa.array(drawn), known).cast(known.type)
        pq.write_table(pa.table(columns), folder / f"part-{part}.parquet")
    return folder
