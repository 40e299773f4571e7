"""Values to codes: a code when a value is first met, its place in the sorted domain at the end."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from nbcfast import _codes, _texts
from nbcfast._core.dtypes import Array, Bytes, Codes, Longs
from nbcfast.table.domain import Domain
from nbcfast.table.values import INT64_MAX, Kind, Value, as_kind, join_kinds, kind_of, normalise

BLOCK = 1 << 16  # rows converted at a time
LISTED = 1 << 13  # Python objects looked at together
MOST_NAMED = 5  # values that an error lists


@dataclass(frozen=True, eq=False)
class Column:
    """The codes of one column and the domain that they point into."""

    codes: Codes
    domain: Domain


def code_dtype(n_values: int) -> np.dtype[np.generic]:
    """The smallest unsigned type that holds codes below `n_values`."""
    # Kernels read each of the three as it is: fewer bytes are fewer to load.
    if n_values <= 1 << 8:
        return np.dtype(np.uint8)
    if n_values <= 1 << 16:
        return np.dtype(np.uint16)
    return np.dtype(np.uint32)


def recode(codes: Codes, table: Longs, n_values: int, out: Codes | None = None) -> Codes:
    """table[codes] in the smallest type for `n_values` values."""
    dtype = code_dtype(n_values)
    if out is None:
        out = np.empty(len(codes), dtype)
    _codes.remap(codes, table.astype(dtype), out)
    return out


def used_values(codes: Codes, n_values: int) -> Bytes:
    """For each value whether a row has it (1 or 0)."""
    used = np.zeros(n_values, np.uint8)
    _codes.mark(codes, used)
    return used


def settle(occurring: Domain, table: Longs, declared: Domain | None, name: str) -> tuple[Domain, Longs]:
    """The declared domain in place of the one that was found; every value must be in it."""
    if declared is None:
        return occurring, table
    positions = occurring.positions_in(declared)
    missing = np.flatnonzero(positions < 0)
    if len(missing):
        values = [repr(occurring.values[place]) for place in missing[:MOST_NAMED].tolist()]
        more = f" and {len(missing) - MOST_NAMED:,} more" if len(missing) > MOST_NAMED else ""
        some = f"value {values[0]} is" if len(missing) == 1 else f"values {', '.join(values)}{more} are"
        raise ValueError(f"column {name!r}: {some} not in its declared domain of {len(declared)} values")
    return declared, positions[table]


def put_together(parts: list[Codes], table: Longs, n_values: int) -> Codes:
    """table[codes] of all parts in the smallest type for so many values; the list is emptied on the way."""
    typed = table.astype(code_dtype(n_values))
    out = np.empty(sum(map(len, parts)), typed.dtype)
    parts.reverse()
    start = 0
    while parts:
        part = parts.pop()
        _codes.remap(part, typed, out[start : start + len(part)])
        start += len(part)
    out.flags.writeable = False
    return out


def sorted_domain(values: list[Value]) -> tuple[Domain, Longs]:
    """The sorted domain of distinct values of one kind, and the position in it of each."""
    domain = Domain.sorted(values)
    return domain, np.fromiter(map(domain.index.__getitem__, values), np.int64, len(values))


def number_domain(numbers: Array, null: int) -> tuple[Domain, Longs]:
    """The sorted domain of numbers, one a code (that of a null is none), and code -> position in it."""
    present = np.arange(len(numbers))
    if null >= 0:
        present = np.delete(present, null)
    sorted_numbers, places = np.unique(numbers[present] + 0, return_inverse=True)  # -0.0 is 0.0
    table = np.full(len(numbers), len(sorted_numbers), np.int64)
    table[present] = places.ravel()
    kind: Kind | None = None
    if len(sorted_numbers):
        kind = "float" if numbers.dtype.kind == "f" else "int"
    return Domain(kind, sorted_numbers, (None,) if null >= 0 else (), False), table


@dataclass(frozen=True)
class Utf8:
    """Texts as Arrow has them: row i is data[offsets[i]:offsets[i + 1]], and null where its bit is 0."""

    offsets: Array
    data: Bytes
    valid: Bytes | None
    first_bit: int


class DomainBuilder:
    """The distinct values of a column whose batches bring dictionaries of their own."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._kind: Kind | None = None
        self._index: dict[Value, int] = {}
        self._last: Sequence[object] | None = None
        self._map = np.empty(0, np.int64)

    def __len__(self) -> int:
        return len(self._index)

    def add(
        self, values: Sequence[object], used: npt.ArrayLike | None = None, *, kind: Kind | None = None
    ) -> Longs:
        """The first-seen code of each local position, -1 for those that `used` (all where None) leaves out.

        Asked again with the same sequence, which may have grown, only positions that were not used before are
        looked at.
        """
        if values is not self._last or len(self._map) > len(values):
            self._last, self._map = values, np.full(len(values), -1, np.int64)
        elif len(self._map) < len(values):
            grown = np.full(len(values) - len(self._map), -1, np.int64)
            self._map = np.concatenate([self._map, grown])
        wanted = self._map < 0
        if used is not None:
            known = np.asarray(used).astype(bool)  # of a list that may have grown since
            wanted[: len(known)] &= known
            wanted[len(known) :] = False
        new = np.flatnonzero(wanted).tolist()
        if new:
            where = f"column {self.name!r}"
            new_kind, plain = normalise([values[position] for position in new], where)
            self._kind = join_kinds((self._kind, new_kind, kind), where)
            index = self._index
            self._map[new] = [index.setdefault(value, len(index)) for value in plain]
        return self._map

    def texts(self) -> list[Value]:
        """The values in the order they were first met."""
        return list(self._index)

    def finish(self, domain: Domain | None = None) -> tuple[Domain, Longs]:
        """The sorted domain, or `domain` where one is declared; and first-seen code -> position in it."""
        values = as_kind(list(self._index), self._kind, f"column {self.name!r}")
        return settle(*sorted_domain(values), domain, self.name)


class NumberBuilder:
    """The distinct values of a column of int64 or float64, through a hash of their bits."""

    def __init__(self, name: str, kind: Kind) -> None:
        self.name = name
        self.kind = kind
        self._encoder = _codes.KeyEncoder(near=kind == "int")

    def __len__(self) -> int:
        return len(self._encoder)

    def encode(self, numbers: Array, nulls: Bytes | None) -> Codes:
        """First-seen codes of a block."""
        if self.kind == "float":
            # Keys are bits, in which the two zeros differ; NaNs, which do too, are nulls.
            block = numbers.astype(np.float64) + 0.0
            absent = np.isnan(block)
            if absent.any():
                nulls = absent.view(np.uint8) if nulls is None else absent.view(np.uint8) | nulls
            keys = block.view(np.int64)
        else:
            if numbers.dtype == np.uint64:
                beyond = numbers > np.uint64(INT64_MAX)
                if nulls is not None:
                    beyond &= nulls == 0
                if beyond.any():
                    raise ValueError(
                        f"column {self.name!r}: expected integers of 64 bits with sign, "
                        f"got {int(numbers[beyond][0])}"
                    )
            keys = np.ascontiguousarray(numbers, dtype=np.int64)
        codes = np.empty(len(keys), np.uint32)
        self._encoder.encode(keys, nulls, codes)
        return codes

    def finish(self, domain: Domain | None = None) -> tuple[Domain, Longs]:
        """The sorted domain, or `domain` where one is declared; and first-seen code -> position in it."""
        keys, null = self._encoder.found()
        numbers = keys.view(np.float64) if self.kind == "float" else keys
        return settle(*number_domain(numbers, null), domain, self.name)


class TextBuilder:
    """The distinct texts of a column whose blocks are bytes of UTF-8, through a hash of them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._encoder = _texts.TextEncoder()

    def __len__(self) -> int:
        return len(self._encoder)

    def encode(self, texts: Utf8, start: int, out: Codes) -> None:
        """First-seen codes of as many texts as `out` has room for."""
        stop = start + len(out)
        try:
            self._encoder.encode(
                texts.offsets[start : stop + 1], texts.data, texts.valid, texts.first_bit + start, out
            )
        except ValueError as error:
            raise ValueError(f"column {self.name!r}: {error}") from None

    def found(self, start: int = 0) -> list[Value]:
        """The texts in the order they were first met, from one of them on."""
        return [*self._encoder.found(start)]

    def finish(self, domain: Domain | None = None) -> tuple[Domain, Longs]:
        """The sorted domain, or `domain` where one is declared; and first-seen code -> position in it."""
        return settle(*sorted_domain(self.found()), domain, self.name)


class ColumnBuilder:
    """One column, put together from blocks of numbers or of dictionary codes.

    The codes of each block are kept in the smallest type for the values met so far; finish() writes the
    final ones and lets go of the blocks as it goes: memory is at most twice that of the final codes.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.n_rows = 0
        self._parts: list[Codes] = []
        self._builder: DomainBuilder | NumberBuilder | TextBuilder | None = None

    def add_numbers(self, numbers: Array, nulls: Bytes | None = None, kind: Kind | None = None) -> None:
        """Numbers of any NumPy integer or float type; `nulls` marks those that are absent."""
        if kind is None:
            kind = "float" if numbers.dtype.kind == "f" else "int"
        builder = self._builder
        if builder is None:
            builder = self._builder = NumberBuilder(self.name, kind)
        if not isinstance(builder, NumberBuilder) or builder.kind != kind:
            raise TypeError(
                f"column {self.name!r}: expected batches of one type, got another after the first"
            )
        for start in range(0, len(numbers), BLOCK):
            stop = start + BLOCK
            codes = builder.encode(numbers[start:stop], None if nulls is None else nulls[start:stop])
            self._keep(codes.astype(code_dtype(len(builder))))

    def add_texts(self, texts: Utf8) -> None:
        """Texts of UTF-8, of which none is made an object that was met before."""
        builder = self._builder
        if builder is None:
            builder = self._builder = TextBuilder(self.name)
        if not isinstance(builder, TextBuilder):
            raise TypeError(
                f"column {self.name!r}: expected batches of one type, got another after the first"
            )
        n_rows = len(texts.offsets) - 1
        codes = np.empty(min(BLOCK, n_rows), np.uint32)
        for start in range(0, n_rows, BLOCK):
            part = codes[: n_rows - start]
            builder.encode(texts, start, part)
            self._keep(part.astype(code_dtype(len(builder))))

    def add_coded(self, codes: Codes, values: Sequence[object], kind: Kind | None = None) -> None:
        """Codes that point into `values`, which may hold duplicates and values no row has."""
        builder = self._builder
        if builder is None:
            builder = self._builder = DomainBuilder(self.name)
        if not isinstance(builder, DomainBuilder):
            raise TypeError(
                f"column {self.name!r}: expected batches of one type, got another after the first"
            )
        table = builder.add(values, used_values(codes, len(values)), kind=kind)
        self._keep(recode(codes, table, len(builder)))

    def add_list(self, values: Sequence[object] | Array) -> None:
        """Python values: a list of them, or an array of objects. Nothing is added if some are refused."""
        where = f"column {self.name!r}"
        kind: Kind | None = None
        types: set[type] = set()
        index: dict[object, int] = {}
        parts: list[Array] = [np.empty(0, np.uint8)]
        # Each object is looked at three times, while it is in a cache.
        for start in range(0, len(values), LISTED):
            part = values[start : start + LISTED]
            block = part.tolist() if isinstance(part, np.ndarray) else part
            types.update(map(type, block))
            # Before the dictionary, in which True meets 1.
            kind = join_kinds((kind_of(cls, where) for cls in types), where)
            for value in dict.fromkeys(block):
                index.setdefault(value, len(index))
            looked_up = itemgetter(*block, block[0])(index)  # a tuple, also of one
            parts.append(np.fromiter(looked_up, code_dtype(len(index)), len(block)))
        self.add_coded(np.concatenate(parts), list(index), kind)

    def _keep(self, codes: Codes) -> None:
        self._parts.append(codes)
        self.n_rows += len(codes)

    def distinct_texts(self) -> list[Value]:
        """The values of a coded column in the order they were first met."""
        return self._builder.texts() if isinstance(self._builder, DomainBuilder) else []

    def finish(self, domain: Domain | None = None, values: Sequence[object] | None = None) -> Column:
        """The column. `values` puts other values in the place of those of distinct_texts()."""
        if self._builder is None:
            self._builder = DomainBuilder(self.name)
        if values is None:
            final, table = self._builder.finish(domain)
        else:
            other = DomainBuilder(self.name)
            first = other.add(values)
            final, table = other.finish(domain)
            table = table[first]
        parts, self._parts = self._parts, []
        return Column(put_together(parts, table, len(final)), final)
