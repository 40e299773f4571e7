"""python every_level.py FOLDER: prints the level of vectors that kernels use, and a digest of what they give.

Rows are more than those that are counted one by one, and fewer than a second thread is made for.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np

import nbcfast
from nbcfast import _columns, equivalence, response, skyline

ROWS = 5_000
SIZES = [2, 3, 7, 40, 300, 5]


def results(folder: Path):
    numbers = np.random.default_rng(7)
    codes = [numbers.integers(0, size, ROWS) for size in SIZES]
    y = numbers.integers(0, 4, ROWS)
    for n_classes in (2, 4):
        table = nbcfast.Table({**{f"a{i}": column for i, column in enumerate(codes)}, "y": y % n_classes})
        views = nbcfast.count(table, "y")
        yield views.to_bytes()
        yield nbcfast.Viewset.from_codes(
            np.stack(codes[:4], axis=1).astype(np.uint8), y % n_classes
        ).to_bytes()
        yield np.asarray(views.predict(table)).tobytes()
        yield repr(equivalence.margin(nbcfast.count(table, "y", ["a0", "a1", "a2"]))).encode()
    few = table.select(["a0", "a1", "a2", "a5", "y"])
    groups = skyline.group(few, ["a0", "a1"], "y")
    yield groups.counts.tobytes()
    partition = skyline.anonymize(few, ["a0", "a2", "a5"], "y", [(2, 0, 0, "0.7")])
    yield repr(partition.certificate.to_dict()).encode()
    bits = response.pack({name: numbers.integers(0, 2, ROWS) for name in "abcd"})
    told = response.disguise(bits, response.Scheme("0.7", [["a", "b"], ["c"]]), np.random.default_rng(3))
    yield told.counts("d").to_bytes()
    path = folder / "rows.csv"
    lines = (f'{a},"{b}",{c}\n' for a, b, c in zip(codes[0], codes[3], y, strict=True))
    path.write_text("a0,a3,y\n" + "".join(lines))
    yield nbcfast.count(path, "y").to_bytes()


if __name__ == "__main__":
    digest = hashlib.sha256()
    for result in results(Path(sys.argv[1])):
        digest.update(result)
    print(_columns.level(), digest.hexdigest())
