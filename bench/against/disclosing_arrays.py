"""Top-down disclosure for one quasi-identifier with NumPy, or pandas for the distinct rows: a peer.

The same greedy steps, as a user of these packages would write them: distinct rows once, and in each step the
counts of every group and value by `bincount`.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

import nbcfast
from nbcfast.templates import Template

Array = npt.NDArray[Any]


def distinct_numpy(columns: Sequence[Array], sizes: Sequence[int]) -> tuple[list[Array], Array]:
    key = np.zeros(len(columns[0]), np.int64)
    for codes, size in zip(columns, sizes, strict=True):
        key = key * size + codes
    keys, counts = np.unique(key, return_counts=True)
    found = []
    for size in reversed(sizes):
        keys, codes = np.divmod(keys, size)
        found.append(codes)
    return found[::-1], counts


def distinct_pandas(columns: Sequence[Array], sizes: Sequence[int]) -> tuple[list[Array], Array]:
    import pandas as pd

    frame = pd.DataFrame(dict(enumerate(columns)))
    counts = frame.groupby(list(frame.columns), sort=False, observed=True).size()
    index = counts.index.to_frame(index=False)
    return [index[name].to_numpy().astype(np.int64) for name in index.columns], counts.to_numpy()


def entropy(counts: list[int]) -> float:
    total, result = sum(counts), 0.0
    for count in counts:
        if count:
            result -= count / total * math.log2(count / total)
    return result


def disclose(
    table: nbcfast.Table, templates: Sequence[Template], target: str, distinct: Any = distinct_numpy
) -> list[tuple[str, Any]]:
    """The values in the order of their disclosure."""
    names = [name for name in table.names if name in templates[0].quasi]
    sensitive = templates[0].sensitive[0]
    sizes = [len(table.domain(name)) for name in names]
    labels = len(table.domain(target))
    by_class = [
        np.bincount(
            table.codes(name) * np.int64(labels) + table.codes(target), minlength=size * labels
        ).reshape(size, labels)
        for name, size in zip(names, sizes, strict=True)
    ]
    rows, weights = distinct(
        [table.codes(name) for name in (*names, sensitive)], [*sizes, len(table.domain(sensitive))]
    )
    hits = [
        np.where(rows[-1] == table.domain(sensitive).index(template.sensitive[1]), weights, 0)
        for template in templates
    ]
    limits = [template.limit for template in templates]
    leaf = np.zeros(len(weights), np.int64)
    left: list[list[int]] = [list(range(size)) for size in sizes]
    dead: set[tuple[int, int]] = set()
    steps: list[tuple[str, Any]] = []
    while True:
        n_leaves = int(leaf.max()) + 1
        totals = np.bincount(leaf, weights, n_leaves)
        of_leaf = [np.bincount(leaf, hit, n_leaves) for hit in hits]
        now = [float((found / totals).max()) for found in of_leaf]
        scored = []
        for j, size in enumerate(sizes):
            everyone = by_class[j][left[j]].sum(axis=0)
            if (everyone > 0).sum() < 2:
                continue
            cell = leaf * size + rows[j]
            n_with = np.bincount(cell, weights, n_leaves * size).reshape(n_leaves, size)
            n_rest = totals[:, None] - n_with
            alone = (n_with == 0) | (n_rest == 0)
            after = []
            for found in range(len(hits)):
                h_with = np.bincount(cell, hits[found], n_leaves * size).reshape(n_leaves, size)
                h_rest = of_leaf[found][:, None] - h_with
                some = np.where(alone, 0, h_with / np.maximum(n_with, 1))
                rest = np.where(alone, 0, h_rest / np.maximum(n_rest, 1))
                after.append(np.maximum(np.maximum(some.max(axis=0), rest.max(axis=0)), now[found]))
            whole = entropy(everyone.tolist())
            n = int(everyone.sum())
            for value in left[j]:
                if (j, value) in dead:
                    continue
                shares = [float(share[value]) for share in after]
                if any(
                    Fraction(share).limit_denominator(n) > limit
                    for share, limit in zip(shares, limits, strict=True)
                ):
                    dead.add((j, value))
                    continue
                part = by_class[j][value]
                n_part = int(part.sum())
                gain = whole - (
                    n_part / n * entropy(part.tolist())
                    + (n - n_part) / n * entropy((everyone - part).tolist())
                )
                loss = sum(b - a for a, b in zip(now, shares, strict=True)) / len(templates)
                scored.append((gain / (loss + 1), j, value))
        if not scored:
            return steps
        best = max(scored)[0]
        _, j, value = next(one for one in scored if one[0] >= best - 1e-12 * max(1.0, best))
        left[j].remove(value)
        steps.append((names[j], table.domain(names[j])[value]))
        moved = leaf * 2 + (rows[j] == value)
        used = np.zeros(2 * n_leaves, np.bool_)
        used[moved] = True
        leaf = (np.cumsum(used) - 1)[moved]
