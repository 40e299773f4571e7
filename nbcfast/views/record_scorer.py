"""`RecordScorer`: one record, or a matrix of codes, decided again and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import NoneType
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Array, Longs
from nbcfast._core.validation import type_name
from nbcfast._score import Served, ServedStrata
from nbcfast.table import Domain
from nbcfast.table.values import Value

Raw = Any  # a value of a record, of any type
Known = dict[type, dict[Raw, int]]
Unseen = Literal["error", "ignore", "null", "zero"]

# Raw values of a column whose place was looked up once are remembered, in as much memory and no more.
MOST_REMEMBERED, MOST_LETTERS = 4096, 100
REMEMBERED = (str, int, float, bool, NoneType)
SCALARS = (np.bool_, np.str_, np.float16, np.float32, np.float64, np.integer)  # as tables take them


class RecordScorer:
    """Decides one record at a time, or a matrix of codes: for services, which do so again and again.

    `Viewset.scorer`, `Release.scorer` and `StratifiedRelease.scorer` make it. Its answers are those of
    their `predict`: exact, ties and zeros included. Any number of threads may ask at once: nothing is
    locked, and nobody waits. It holds the tables that it needs, at most five times the memory of the
    counts and half a megabyte, tens of kilobytes for each of up to 16 threads that ask at once, and of each
    column where 4,096 raw values belong, and no more. It is not pickled: pickle the release.

    Parameters
    ----------
    domains : mapping of name -> Domain
        The columns of a record, in the order of codes; what selects a stratum comes first.
    place : callable
        Called as place(name, domain): for each raw value of a domain its position, or -1.
    refusal : callable
        Called as refusal(unknown) with name -> domain of the one value that is unknown; gives the error.
    served : sequence of Served
        One, or one for each value of the first column.
    classes : tuple
        The labels, in rising precedence.
    unseen : {"error", "ignore", "null", "zero"}
        What an unknown value means; for "ignore" and "zero" those who are served have a position for it.
    by : str, optional
        The first column, where it selects who is served.

    Attributes
    ----------
    attributes : tuple of str
        The columns, in the order of codes.
    classes : tuple
        The labels; `predict_codes` gives positions in them.
    unseen : str

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([3, 2], {"job": [[3, 1], [0, 1]]}, classes=["no", "yes"],
    ...                 domains={"job": ["clerk", "cook"]})
    >>> scorer = views.scorer()
    >>> scorer.predict_one({"job": "cook"}), scorer.predict_one([0])
    ('yes', 'no')
    >>> scorer.predict_codes([[0], [1], [1]])
    array([0, 1, 1], dtype=uint8)
    """

    __slots__ = (
        "_by",
        "_decide_matrix",
        "_domains",
        "_dtype",
        "_known",
        "_place",
        "_refusal",
        "_served",
        "_sizes",
        "attributes",
        "classes",
        "unseen",
    )

    def __init__(
        self,
        domains: Mapping[str, Domain],
        place: Callable[[str, Domain], Longs],
        refusal: Callable[[Mapping[str, Domain]], ValueError],
        served: Sequence[Served],
        classes: tuple[Value, ...],
        unseen: Unseen,
        by: str | None = None,
    ) -> None:
        self.attributes, self.classes, self.unseen = tuple(domains), classes, unseen
        self._domains, self._place, self._refusal, self._by = domains, place, refusal, by
        # How many codes each column has: with one behind the last value where that is an unknown one.
        behind = int(unseen in ("ignore", "zero"))
        self._sizes = [
            domain.size if name == by else domain.size + behind for name, domain in domains.items()
        ]
        self._dtype = np.dtype(np.uint8 if len(classes) <= 256 else np.uint16)
        self._served = tuple(served)
        matrices = served[0] if by is None else ServedStrata(list(served))
        self._decide_matrix: Callable[[Array, Array], int] = matrices.decide_matrix
        # Of each column, by the exact type of a value, in which True is not 1: value -> code.
        self._known: list[tuple[str, Known]] = []
        for name, domain in domains.items():
            known: Known = {kind: {} for kind in REMEMBERED}
            for value, code in zip(domain.values, place(name, domain).tolist(), strict=True):
                if code >= 0:
                    known.setdefault(type(value), {})[value] = code
            self._known.append((name, known))

    def predict_one(self, record: Mapping[str, object] | Sequence[int]) -> Value:
        """The class of one record.

        Parameters
        ----------
        record : mapping of name -> value, or sequence of int
            The values of the attributes, as a row of a table has them; other names do not matter. Or for
            each of `attributes` the position of its value in its published domain.

        Returns
        -------
        label
            One of `classes`; None, with ``unseen="null"``, if a value is unknown.

        Raises
        ------
        ValueError
            If a value is missing, or is unknown and `unseen` does not say what it means, or a code is none.
        TypeError
            If a value is of a type that no column has, or the record is neither.

        Examples
        --------
        >>> from nbcfast import Viewset
        >>> views = Viewset([3, 2], {"job": [[3, 1], [0, 1]]}, domains={"job": ["clerk", "cook"]})
        >>> views.scorer().predict_one({"job": "cook", "name": "Ann"})
        1
        >>> views.scorer(unseen="ignore").predict_one({"job": "poet"})
        0
        """
        if type(record) is list or type(record) is tuple:
            return self._of_codes(record)
        values: Raw = record
        try:
            codes = [known[type(value := values[name])][value] for name, known in self._known]
        except (KeyError, TypeError, IndexError):
            return self._of_values(record)
        if self._by is None:
            return self.classes[self._served[0].decide_record(codes)]
        return self.classes[self._served[codes[0]].decide_record(codes[1:])]

    def predict_codes(self, codes: npt.ArrayLike, out: Array | None = None) -> Array:
        """The class of every row of a matrix of codes.

        With an array of integers and `out` nothing is allocated. Rows beyond a few hundred are decided
        without the GIL.

        Parameters
        ----------
        codes : array_like of int, shape (rows, attributes)
            Positions in the published domains, in the order of `attributes`, as `Release.codes` gives them;
            of any type of integer and any memory order. With ``unseen="ignore"`` and ``"zero"`` the position
            behind the last stands for an unknown value, but not in the column that selects a stratum.
        out : ndarray, shape (rows,), optional
            Where the answers go: uint8 (uint16 for more than 256 classes), contiguous, writable, and no
            memory of `codes`.

        Returns
        -------
        ndarray
            Positions in `classes`; `out` where it was given.

        Raises
        ------
        ValueError
            If a code lies outside its domain, or the shapes do not fit.
        TypeError
            If the codes are not integers.

        Examples
        --------
        >>> import numpy as np
        >>> from nbcfast import Viewset
        >>> views = Viewset([3, 2], {"job": [[3, 1], [0, 1]]}, domains={"job": ["clerk", "cook"]})
        >>> answers = np.empty(3, np.uint8)
        >>> views.scorer().predict_codes(np.array([[0], [1], [0]]), out=answers) is answers
        True
        >>> answers
        array([0, 1, 0], dtype=uint8)
        """
        array = codes if isinstance(codes, np.ndarray) else np.asarray(codes)
        if array.dtype.kind not in "iu":
            raise TypeError(f"codes must be integers, got {array.dtype}")
        if array.ndim != 2 or array.shape[1] != len(self._known):
            raise ValueError(f"codes must have shape (rows, {len(self._known)}), got {array.shape}")
        if out is None:
            out = np.empty(len(array), self._dtype)
        else:
            self._check_out(out, array)
        bad = self._decide_matrix(array, out)
        if bad >= 0:
            self._refuse_matrix(array, bad)
        return out

    def code_if_known(self, columns: Mapping[str, Raw]) -> int | None:
        """The position of the class of the one row of lists whose values were all met before; None of others.

        Values that are met for the first time are remembered, and not answered.
        """
        try:
            codes = [
                known[type(value)][value] for name, known in self._known for (value,) in (columns[name],)
            ]
        except ValueError:  # not one row
            return None
        except (KeyError, TypeError):
            with suppress(ValueError, TypeError):
                self._of_values({name: column[0] for name, column in columns.items() if column})
            return None
        if self._by is None:
            return self._served[0].decide_record(codes)
        return self._served[codes[0]].decide_record(codes[1:])

    def _check_out(self, out: object, codes: Array) -> None:
        n_rows = len(codes)
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out must be an array of {self._dtype}, got {type_name(out)}")
        if out.dtype != self._dtype or out.shape != (n_rows,):
            raise ValueError(
                f"out must be {self._dtype} of shape ({n_rows},), got {out.dtype} of shape {out.shape}"
            )
        if not (out.flags.c_contiguous and out.flags.writeable):
            raise ValueError("out must be contiguous and writable")
        if np.may_share_memory(out, codes):
            raise ValueError("out must be an array of its own, got memory of codes")

    def _of_codes(self, record: Sequence[int]) -> Value:
        """The class of a record of codes."""
        try:
            if self._by is None:
                best = self._served[0].decide_record(record)
            else:
                which, *codes = record
                if isinstance(which, bool | np.bool_) or not 0 <= which < self._sizes[0]:
                    self._refuse_codes(record)
                best = self._served[which].decide_record(codes)
        except (TypeError, ValueError):
            self._refuse_codes(record)
        if best < 0:
            self._refuse_codes(record)
        return self.classes[best]

    def _refuse_codes(self, record: Sequence[object]) -> NoReturn:
        """What is wrong with a record of codes."""
        if len(record) != len(self.attributes):
            raise ValueError(f"record must be {len(self.attributes)} codes, got {len(record)}")
        for name, size, code in zip(self.attributes, self._sizes, record, strict=True):
            if isinstance(code, bool | np.bool_) or not hasattr(code, "__index__"):
                raise TypeError(f"record: the code of {name!r} must be an int, got {code!r}")
            if not 0 <= code.__index__() < size:
                raise ValueError(f"record: the code of {name!r} must be 0..{size - 1}, got {code}")
        raise ValueError("record: its codes changed while they were looked at")

    def _refuse_matrix(self, codes: Array, column: int) -> NoReturn:
        """What is wrong with a column of codes."""
        size, name = self._sizes[column], self.attributes[column]
        wrong = (codes[:, column] < 0) | (codes[:, column] >= size)
        row = int(wrong.argmax())
        raise ValueError(f"codes of {name!r} must be 0..{size - 1}, got {codes[row, column]} in row {row}")

    def _of_values(self, record: Raw) -> Value:
        """The class of a record that is a mapping with values not met before, or with codes."""
        if isinstance(record, np.ndarray):
            if record.ndim != 1 or record.dtype.kind not in "iu":
                raise TypeError(
                    f"record must be 1-D of integers, got {record.dtype} of {record.ndim} dimensions"
                )
            return self._of_codes(record.tolist())
        if isinstance(record, Sequence) and not isinstance(record, str | bytes):
            return self._of_codes([*record])
        if not (isinstance(record, Mapping) or (hasattr(record, "keys") and hasattr(record, "__getitem__"))):
            raise TypeError(
                f"record must be a mapping of names to values or a sequence of codes, got {type_name(record)}"
            )
        missing = [name for name in self.attributes if name not in record]
        if missing:
            has = ", ".join(map(repr, record.keys())) or "none"
            raise ValueError(f"record: no value of {missing[0]!r}; it has {has}")
        codes: list[int] = []
        unknown: dict[str, Domain] = {}
        for (name, known), size in zip(self._known, self._sizes, strict=True):
            code = self._code(name, known, record[name], unknown)
            codes.append(size - 1 if code < 0 else code)
        if unknown and self.unseen == "null":
            return None
        if unknown and (self.unseen == "error" or self._by in unknown):
            raise self._refusal(unknown)
        return self._of_codes(codes)

    def _code(
        self,
        name: str,
        known: Known,
        value: Raw,
        unknown: dict[str, Domain],
    ) -> int:
        """The code of a raw value, which is remembered; -1 for one that is `unknown` then."""
        if isinstance(value, SCALARS) and not isinstance(value, np.timedelta64):
            value = value.item()
        kind = type(value)
        if kind in known:
            code = known[kind].get(value)
            if code is not None:
                return code
        domain = Domain.sorted([value], where=f"column {name!r}")
        place = int(self._place(name, domain)[0])
        if place < 0:
            unknown[name] = domain
        elif _is_short(value) and len(known[kind]) < MOST_REMEMBERED:
            known[kind][value] = place
        return place

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a RecordScorer is not pickled or copied: pickle what it was made of, which makes others"
        )

    def __repr__(self) -> str:
        n, n_classes = len(self.attributes), len(self.classes)
        return (
            f"RecordScorer({n} {'attribute' if n == 1 else 'attributes'}, "
            f"{n_classes} {'class' if n_classes == 1 else 'classes'}; unseen={self.unseen!r})"
        )


def _is_short(value: Raw) -> bool:
    """Whether a value may be remembered: no NaN, which is not itself, and no long text."""
    if isinstance(value, str):
        return len(value) <= MOST_LETTERS
    return type(value) in REMEMBERED and bool(value == value)
