"""`disguise`: coins for every record of a table, and answers that may be told."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, overload

import numpy as np

from nbcfast import _coins, _response
from nbcfast._core.dtypes import Array, Words
from nbcfast._core.validation import callable_or_none, generator_or_none
from nbcfast._markup.fragments import result
from nbcfast._markup.page_parts import State, findings
from nbcfast._reading.source import AnyTable, rows_from
from nbcfast.published.base import Published
from nbcfast.published.formulas import spreadsheet_remarks
from nbcfast.response.bits import Bits, bits_of
from nbcfast.response.coin_groups import Group, expect_two_values, values_text
from nbcfast.response.kary_scheme import KaryScheme
from nbcfast.response.schemes import AnyScheme
from nbcfast.response.wire import DisguisedCertificate, certificate_of, parts_of
from nbcfast.table import Column, Domain, Table
from nbcfast.table.encode import code_dtype

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.response.binarising import Cut

BLOCK_ROWS = 1 << 20  # a multiple of 64 * 512: no coin is thrown away between two blocks


class Disguised(Table, Published):
    """A table of disguised answers, with the scheme that they were made by.

    Attributes
    ----------
    scheme : Scheme or KaryScheme
        With the domains of its columns.
    seeded : bool
        Whether the coins were those of a simulation, and hide nothing from who knows the seed.
    cuts : mapping of name -> Cut
        Where columns of the scheme were made two-valued before, if the answers were loaded and say so.
    """

    __slots__ = ("cuts", "scheme", "seeded")

    scheme: AnyScheme
    seeded: bool
    cuts: Mapping[str, Cut]

    @classmethod
    def of_table(
        cls, table: Table, scheme: AnyScheme, seeded: bool, cuts: Mapping[str, Cut] | None = None
    ) -> Disguised:
        """A table of answers as it is, which nothing checks again."""
        columns = {name: table.column(name) for name in table.names}
        disguised = cls.from_columns(columns, None, table.n_rows)
        object.__setattr__(disguised, "scheme", scheme)
        object.__setattr__(disguised, "seeded", seeded)
        object.__setattr__(disguised, "cuts", MappingProxyType(dict(cuts or {})))
        return disguised

    def __reduce__(self) -> tuple[object, ...]:
        table = Table.from_columns(self._columns, None, self.n_rows)
        return Disguised.of_table, (table, self.scheme, self.seeded, dict(self.cuts))

    @property
    def untouched(self) -> tuple[str, ...]:
        """The columns outside the scheme, which stand here as they are."""
        return tuple(name for name in self.names if self.scheme.group_of(name) is None)

    def _repr_html_(self) -> str:
        privacy = self.scheme.privacy()
        found: list[tuple[State, str, str]] = [
            (
                "shows" if not group.is_ldp else "warned" if group.is_weak else "kept",
                ", ".join(group.columns),
                group.text,
            )
            for group in privacy.groups
        ]
        if self.untouched:
            found.append(("warned", "told as they are", ", ".join(self.untouched)))
        if self.seeded:
            found.append(
                ("shows", "coins", "those of a simulation, which hide nothing from who knows the seed")
            )
        if privacy.is_ldp and privacy.is_weak:
            found.append(("warned", "all together", "epsilon is so large that hardly anything is hidden"))
        state = min((one[0] for one in found), key=("shows", "warned", "kept").index)
        return result(state, f"disguised answers of {self.n_rows:,} people", findings(found))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the publisher should know of the texts besides; it is not in the certificate."""
        return spreadsheet_remarks({name: self.domain(name) for name in self.names})

    @property
    def certificate(self) -> DisguisedCertificate:
        """What `save` claims in certificate.json; its `to_dict` is the file."""
        return certificate_of(self)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        cuts: Mapping[str, Cut] | None = None,
        overwrite: bool = False,
    ) -> None:
        """Write a folder: table.csv with its rows sorted, certificate.json, against which it is checked, and
        scheme.json, which repeats the scheme for devices and for `estimate`.

        Nobody can tell from files that the coins were thrown; what `nbcfast.verify` checks is that the table
        is the one of the certificate, and that the scheme hides what the certificate says.

        Parameters
        ----------
        path : str or path
            The folder, made if need be.
        cuts : mapping of name -> Cut, optional
            Where columns of the scheme were made two-valued before: written into the certificate, and into
            cuts.json. By default those of answers that were loaded with some.
        overwrite : bool
            Replace a folder that is there, with all that is in it. Only one that holds nothing but a
            certificate and its files is ever replaced.

        Raises
        ------
        FileExistsError
            If there is something already, other than an empty folder.
        ValueError
            If there are no rows, CSV cannot hold a value, or the cuts are not of columns of the scheme with
            the values 0 and 1.
        """
        self._write(path, parts_of(self, self.cuts if cuts is None else cuts), overwrite)


@overload
def disguise(
    table: Bits,
    scheme: AnyScheme,
    rng: np.random.Generator | None = ...,
    *,
    progress: Progress | None = ...,
) -> Bits: ...
@overload
def disguise(
    table: AnyTable,
    scheme: AnyScheme,
    rng: np.random.Generator | None = ...,
    *,
    progress: Progress | None = ...,
) -> Disguised: ...
def disguise(
    table: AnyTable | Bits,
    scheme: AnyScheme,
    rng: np.random.Generator | None = None,
    *,
    progress: Progress | None = None,
) -> Disguised | Bits:
    """What the respondents of a table tell, each having thrown the coins of a scheme.

    A coin has exactly the rational probability theta: as many binary digits of a uniform number are drawn as
    it takes to tell whether it is below theta.

    Parameters
    ----------
    table : Table, or what it is made of, or Bits
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..), or Bits. Without weights. Columns
        outside the scheme stay as they are.
    scheme : Scheme or KaryScheme
        Which columns are under which coin.
    rng : numpy.random.Generator, optional
        By default coins come from ChaCha20 under a key of 32 bytes that the operating system gives and nobody
        keeps. With a generator they come from a fast stream that it seeds, for simulations; the result says
        so.
    progress : callable, optional
        Called as progress(done, total) with numbers of coins.

    Returns
    -------
    Disguised
        A Table with the same names and domains; for Bits other Bits.

    Raises
    ------
    ValueError
        If the table has weights, lacks a column of the scheme, or has other values than the scheme; in a
        binary scheme if a column has not two values or has missing answers.

    Examples
    --------
    >>> from nbcfast.response import Scheme
    >>> table = Table({"a": ["no", "yes"] * 50, "b": ["x", "x", "y", "y"] * 25})
    >>> told = disguise(table, Scheme("0.8", [["a"]]))
    >>> told.names, told.domain("a"), told.untouched, told.seeded
    (('a', 'b'), ('no', 'yes'), ('b',), False)
    """
    if not isinstance(scheme, AnyScheme):
        raise TypeError(f"scheme must be a Scheme or a KaryScheme, got {type(scheme).__name__}")
    if isinstance(table, (Bits, Disguised)) and table.scheme is not None:
        raise ValueError(
            f"the answers are disguised already, by {table.scheme!r}: who answers twice tells more, and no "
            "estimate knows of two schemes"
        )
    callable_or_none(progress)
    coins = _coins_of(rng)
    if isinstance(table, Bits):
        return _disguised_bits(table, scheme, coins, progress)
    table = rows_from(table, "nbcfast.response.disguise_frame disguises each where it lies", also="Bits")
    return _disguised_table(table, scheme, coins, progress)


def _disguised_table(
    table: Table, scheme: AnyScheme, coins: _coins.Coins, progress: Progress | None
) -> Disguised:
    """The answers group by group, and in blocks of rows, after each of which Ctrl-C is answered."""
    if table.weights is not None:
        raise ValueError("the table has weights, and each record needs coins of its own: leave them out")
    scheme.check_table(table)
    declared = scheme.declared(table)
    columns = {name: table.column(name) for name in table.names}
    done, total = 0, table.n_rows * len(scheme.groups)
    # One piece of memory: fresh pages for each column would take longer than its coins.
    narrow = sum(len(declared.order(name, columns[name].domain)) <= 256 for name in declared.columns)
    free = iter(np.empty((narrow, table.n_rows), np.uint8))
    for group in declared.groups:
        domains = [_kept(declared.order(name, columns[name].domain)) for name in group.columns]
        truths = [
            _arranged(columns[name], domain) for name, domain in zip(group.columns, domains, strict=True)
        ]
        answers: list[Array] = [
            next(free) if len(domain) <= 256 else np.empty(table.n_rows, codes.dtype)
            for codes, domain in zip(truths, domains, strict=True)
        ]
        for start in range(0, table.n_rows, BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, table.n_rows)
            _tell(
                coins,
                group,
                declared,
                [codes[start:stop] for codes in truths],
                [len(domain) for domain in domains],
                [codes[start:stop] for codes in answers],
            )
            done += stop - start
            if progress is not None:
                progress(done, total)
        for name, domain, codes in zip(group.columns, domains, answers, strict=True):
            columns[name] = Column(codes, domain)
    return Disguised.of_table(Table.from_columns(columns, None, table.n_rows), declared, coins.seeded)


def _tell(
    coins: _coins.Coins,
    group: Group,
    scheme: AnyScheme,
    truths: list[Array],
    sizes: list[int],
    answers: list[Array],
) -> None:
    """Fill in the answers of one group in a block of rows."""
    liars = np.empty(-(-len(truths[0]) // 64), np.uint64)
    _draw_liars(coins, group.theta, liars)
    if not isinstance(scheme, KaryScheme):
        for codes, answer in zip(truths, answers, strict=True):
            _response.flip(liars, codes, answer)
        return
    if scheme.lie == "each" or len(truths) == 1:
        for codes, size, answer in zip(truths, sizes, answers, strict=True):
            _response.lies(coins, liars, codes, size, answer)
        return
    numbers = np.zeros(len(truths[0]), np.uint64)  # of the tuples: the last column counts fastest
    for codes, size in zip(truths, sizes, strict=True):
        numbers *= np.uint64(size)
        numbers += codes
    told_numbers = np.empty_like(numbers)
    _response.lies(coins, liars, numbers, scheme.tuples(group), told_numbers)
    for size, answer in zip(sizes[::-1], answers[::-1], strict=True):
        answer[:] = told_numbers % np.uint64(size)
        told_numbers //= np.uint64(size)


def _draw_liars(coins: _coins.Coins, theta: Fraction, liars: Words) -> None:
    """Throw the coin of each record: its bit is 1 where it lies, with exactly the chance 1 - theta.

    Of no nearby float's: docs/mathematics/response.md, section 6.
    """
    coins.bits(theta.denominator - theta.numerator, theta.denominator, liars)


def _disguised_bits(bits: Bits, scheme: AnyScheme, coins: _coins.Coins, progress: Progress | None) -> Bits:
    """Lies are the other of two values, whatever the kind of the scheme: bits are flipped 64 at a time."""
    if isinstance(scheme, KaryScheme) and (
        scheme.lie == "tuple" and any(len(group.columns) > 1 for group in scheme.groups)
    ):
        raise ValueError("lies about tuples are told about a Table: bits.to_table()")
    for name in scheme.columns:
        if name not in bits.words:
            raise ValueError(
                f"the bits have no column {name!r}, which the scheme has; they have {bits.names}"
            )
        scheme.check_domain(name, bits.domains[name])
        expect_two_values(name, bits.domains[name])
        if scheme.size(name) != 2:
            raise ValueError(
                f"column {name!r}: a bit tells two values, and the scheme has {scheme.size(name)}: disguise "
                "a Table (bits.to_table())"
            )
    words = dict(bits.words)
    n_words = -(-bits.n_rows // 64)
    domains = {name: _kept(domain) for name, domain in bits.domains.items()}
    block = BLOCK_ROWS // 64
    done, total = 0, bits.n_rows * len(scheme.groups)
    liars = np.empty(min(block, n_words), np.uint64)
    # One piece of memory: fresh pages for each column would take longer than its coins.
    free = iter(np.empty((len(scheme.columns), n_words), np.uint64))
    for group in scheme.groups:
        answers = {name: next(free) for name in group.columns}
        for start in range(0, n_words, block):
            stop = min(start + block, n_words)
            of_block = liars[: stop - start]
            _draw_liars(coins, group.theta, of_block)
            if stop == n_words and bits.n_rows % 64:
                # There is nobody beyond the last record, and Bits has zeros there.
                of_block[-1] &= np.uint64((1 << bits.n_rows % 64) - 1)
            for name, answer in answers.items():
                np.bitwise_xor(bits.words[name][start:stop], of_block, out=answer[start:stop])
            done += min(stop * 64, bits.n_rows) - start * 64
            if progress is not None:
                progress(done, total)
        words.update(answers)
    return bits_of(bits.n_rows, words, domains, scheme, coins.seeded)


def _coins_of(rng: np.random.Generator | None) -> _coins.Coins:
    """Coins under a key that nobody keeps, or those of a simulation."""
    if rng is None:
        return _coins.Coins(os.urandom(32))
    generator_or_none(rng)
    return _coins.Coins(rng.bytes(32), seeded=True)


def _kept(domain: Domain) -> Domain:
    """The domain as a declared one: a value that nobody told any more is still there."""
    return domain.as_declared()


def _arranged(column: Column, domain: Domain) -> Array:
    """The codes of a column in the order of another domain of the same values."""
    if column.domain == domain:
        return np.ascontiguousarray(column.codes, dtype=code_dtype(len(domain)))
    places = column.domain.positions_in(domain)
    if (places < 0).any():
        raise ValueError(
            f"expected values of {values_text(domain.values)}, got {values_text(column.domain.values)}"
        )
    return places.astype(code_dtype(len(domain)))[column.codes]
