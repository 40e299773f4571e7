"""Columns of some rows, or in another domain, and which rows those are."""

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Array, Codes
from nbcfast.table.domain import Domain
from nbcfast.table.encode import Column, recode, used_values


def into(column: Column, domain: Domain, where: str, what: str) -> Column:
    """The column in another domain, which must hold every value that a row has."""
    positions = column.domain.positions_in(domain)
    absent = (positions < 0) & (used_values(column.codes, len(column.domain)) != 0)
    if absent.any():
        value = column.domain.values[np.flatnonzero(absent)[0]]
        raise ValueError(f"{where}: value {value!r} is not in {what} of {len(domain)} values")
    return Column(recode(column.codes, positions, len(domain)), domain)


def shrunk(codes: Codes, domain: Domain) -> Column:
    """Without the values that no row has, but for those that were declared."""
    if domain.declared and not domain.tail_found:
        return Column(codes, domain)
    positions = domain.kept(used_values(codes, len(domain)))
    if len(positions) == len(domain):
        return Column(codes, domain)
    table = np.full(len(domain), -1, np.int64)
    table[positions] = np.arange(len(positions))
    return Column(recode(codes, table, len(positions)), domain.subset(positions))


def row_index(rows: npt.ArrayLike | slice, n_rows: int) -> slice | Array:
    """A slice, mask or array of positions that NumPy takes."""
    if isinstance(rows, slice):
        try:
            rows.indices(n_rows)
        except (TypeError, ValueError) as error:
            raise type(error)(f"rows: {error}") from None
        return rows
    index = np.asarray(rows)
    if index.ndim != 1:
        raise ValueError(f"rows: expected a 1-D array, got shape {index.shape}")
    if index.dtype.kind == "b":
        if len(index) != n_rows:
            raise ValueError(f"rows: expected a mask of {n_rows} rows, got {len(index)}")
        return index
    if not len(index):
        return np.empty(0, np.int64)
    if index.dtype.kind not in "iu":
        raise TypeError(f"rows: expected integers, bools or a slice, got {index.dtype}")
    low, high = int(index.min()), int(index.max())
    if low < -n_rows or high >= n_rows:
        raise ValueError(
            f"rows: expected positions from {-n_rows} to {n_rows - 1}, got {low if low < -n_rows else high}"
        )
    return index
