"""Arrays of non-negative integers: int64 where all fit, Python ints where they do not."""

import math
from collections.abc import Iterable
from functools import lru_cache

import gmpy2
import numpy as np
import numpy.typing as npt

from nbcfast import _count
from nbcfast._core.dtypes import Array, Counts, Floats, Words
from nbcfast.table.values import INT64_MAX


def as_counts(obj: npt.ArrayLike, where: str) -> Counts:
    """A new read-only C-contiguous array of counts; floats, bools and negative numbers are refused."""
    if isinstance(obj, np.ma.MaskedArray) and np.ma.getmaskarray(obj).any():
        raise ValueError(f"{where} must have no masked entries")
    array: Counts = obj if isinstance(obj, np.ndarray) else _from_sequence(obj, where)
    if array.dtype.kind == "O":
        flat = array.ravel().tolist()
        if set(map(type, flat)) != {int}:
            flat = [_as_int(number, where) for number in flat]
        least, most = min(flat, default=0), max(flat, default=0)
        counts: Counts = np.empty(len(flat), object if most > INT64_MAX else np.int64)
        if least >= 0:
            counts[:] = flat
        counts = counts.reshape(array.shape)
    elif array.dtype.kind in "iu":
        least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
        counts = np.array(array, dtype=object if most > INT64_MAX else np.int64, order="C")
    else:
        raise TypeError(f"{where} must be integers, got {_first_other(array)}")
    if least < 0:
        raise ValueError(f"{where} must be at least 0, got {least}")
    counts.flags.writeable = False
    return counts


def _from_sequence(obj: npt.ArrayLike, where: str) -> Array:
    """The nested sequence as objects: NumPy would turn large and mixed integers into floats."""
    try:
        array = np.array(obj, dtype=object)
    except ValueError:
        array = None
    # Rows of different lengths are left as lists, or refused, as NumPy finds them.
    if array is None or any(
        issubclass(kind, (list, tuple, np.ndarray)) for kind in set(map(type, array.ravel().tolist()))
    ):
        raise ValueError(f"{where} must be a rectangular array, got rows of different lengths")
    return array


def _as_int(number: object, where: str) -> int:
    if isinstance(number, (int, np.integer, type(gmpy2.mpz()))) and not isinstance(number, (bool, np.bool_)):
        return int(number)
    raise TypeError(f"{where} must be integers, got {number!r}")


def _first_other(array: Array) -> str:
    return f"{array.flat[0]!r}" if array.size else f"an array of {array.dtype}"


def zeros(shape: tuple[int, ...], *like: Counts) -> Counts:
    """A writable array of zeros that can hold what the given ones hold."""
    if any(array.dtype.kind == "O" for array in like):
        result = np.empty(shape, object)
        result[...] = 0
        return result
    return np.zeros(shape, np.int64)


def total(counts: Counts) -> int:
    """The exact sum."""
    if counts.dtype.kind == "O" or (counts.size and int(counts.max()) > INT64_MAX // counts.size):
        return sum(counts.ravel().tolist())
    return int(counts.sum())


def column_sums(counts: Counts) -> list[int]:
    """The exact sum of each column."""
    if counts.dtype.kind == "O" or (counts.size and int(counts.max()) > INT64_MAX // counts.shape[0]):
        return [sum(column) for column in counts.T.tolist()]
    sums: list[int] = counts.sum(axis=0).tolist()
    return sums


def added(a: Counts, b: Counts, subtract: bool, where: str) -> Counts:
    """A + b or a - b; a negative count, and one beyond 64 bits where none was, is an error."""
    if a.dtype.kind == "O" or b.dtype.kind == "O":
        result = a.astype(object) - b.astype(object) if subtract else a.astype(object) + b.astype(object)
        if subtract and result.size and result.min() < 0:
            raise ValueError(f"{where}: a count would fall to {result.min()}")
        return as_counts(result, where)
    result = np.array(a, dtype=np.int64, order="C")
    other = np.ascontiguousarray(b, dtype=np.int64).reshape(-1)
    bad = _count.add_checked(result.reshape(-1), other, subtract)
    if bad >= 0:
        mine, theirs = int(result.reshape(-1)[bad]), int(other[bad])
        if subtract:
            raise ValueError(f"{where}: a count would fall to {mine - theirs}")
        raise ValueError(f"{where}: {mine} + {theirs} exceeds 64 bits")
    result.flags.writeable = False
    return result


def as_limbs(numbers: Counts) -> Words:
    """Little-endian 64-bit limbs along a new last axis, as many as the largest number needs."""
    if numbers.dtype.kind != "O":
        return np.ascontiguousarray(numbers, dtype=np.int64).view(np.uint64)[..., np.newaxis]
    flat = numbers.ravel().tolist()
    size = 8 * max(1, -(-max((number.bit_length() for number in flat), default=0) // 64))
    packed = b"".join(number.to_bytes(size, "little") for number in flat)
    return np.frombuffer(packed, dtype="<u8").astype(np.uint64).reshape(*numbers.shape, size // 8)


def logarithms(numbers: Counts) -> Floats:
    """The correctly rounded natural logarithm of each number, -inf for 0; one logarithm a distinct number."""
    if numbers.dtype.kind == "O":
        flat = numbers.ravel().tolist()
        known = dict(zip(set(flat), _logs(set(flat)), strict=True))
        return np.array([known[number] for number in flat], dtype=np.float64).reshape(numbers.shape)
    distinct, places = np.unique(numbers, return_inverse=True)
    return np.array(_logs(distinct.tolist()), dtype=np.float64)[places].reshape(numbers.shape)


def _logs(numbers: Iterable[int]) -> list[float]:
    # 96 bits first, so that the one rounding to 53 is all but always correct; the error bound allows for two.
    with gmpy2.context(precision=96):
        return [_log(number) for number in numbers]


@lru_cache(maxsize=1 << 16)
def _log(number: int) -> float:
    """Remembered, because a classifier is asked again and again; 96 bits are the caller's context."""
    return float(gmpy2.log(gmpy2.mpz(number))) if number else -math.inf
