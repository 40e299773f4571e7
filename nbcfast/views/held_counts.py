"""What a viewset holds: arrays that nobody writes to, what they say at once, and what predictions keep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

from nbcfast._core.dtypes import Array, Counts
from nbcfast.table import Domain
from nbcfast.table.values import Value
from nbcfast.views.integers import column_sums, total
from nbcfast.views.kept_scores import KeptScores
from nbcfast.views.noise import Noise
from nbcfast.views.shown_views import plain_labels


class HeldCounts:
    """The parts of a `Viewset`, which do not change."""

    __slots__ = (
        "_kept",
        "attributes",
        "class_counts",
        "class_domain",
        "counts",
        "domains",
        "noise",
        "weighted",
    )

    _kept: KeptScores | None

    attributes: tuple[str, ...]
    class_counts: Counts
    counts: Mapping[str, Counts]
    class_domain: Domain
    domains: Mapping[str, Domain]
    noise: Noise | None
    weighted: bool

    def _set(
        self,
        class_counts: Counts,
        counts: Mapping[str, Counts],
        class_domain: Domain,
        domains: Mapping[str, Domain],
        noise: Noise | None = None,
        weighted: bool = False,
    ) -> None:
        for array in (class_counts, *counts.values()):
            # By its name the argument `write` takes twice the time.
            array.setflags(False)  # type: ignore[call-arg]
        put = object.__setattr__
        put(self, "_kept", None)
        put(self, "attributes", tuple(counts))
        put(self, "class_counts", class_counts)
        # The caller may change its mapping, not the arrays.
        put(self, "counts", MappingProxyType(dict(counts)))
        put(self, "class_domain", class_domain)
        put(self, "domains", MappingProxyType(dict(domains)))
        put(self, "noise", noise)
        put(self, "weighted", weighted)

    @classmethod
    def from_parts(
        cls,
        class_counts: Counts,
        counts: Mapping[str, Counts],
        class_domain: Domain,
        domains: Mapping[str, Domain],
        noise: Noise | None = None,
        weighted: bool = False,
    ) -> Self:
        """A viewset of finished parts, which nothing checks again.

        Parameters
        ----------
        class_counts : ndarray of int64 (of Python ints where 64 bits are too few), shape (classes,)
            Becomes read only, as the other arrays do: none is copied.
        counts : mapping of name -> ndarray of the same kinds, shape (values, classes)
            In the order of the attributes.
        class_domain : Domain
            The labels in rising precedence.
        domains : mapping of name -> Domain
            The values of each attribute, in the order of the rows of its array.
        noise : Noise, optional
            What was added to the counts.
        weighted : bool
            Whether a row may count for more than one.

        Examples
        --------
        >>> from nbcfast import Viewset
        >>> views = Viewset([3, 2], [[[3, 0], [0, 2]]])
        >>> parts = views.class_counts, views.counts, views.class_domain, views.domains
        >>> Viewset.from_parts(*parts) == views
        True
        """
        views = cls.__new__(cls)
        views._set(class_counts, counts, class_domain, domains, noise, weighted)
        return views

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Viewset does not change: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Viewset does not change: cannot delete {name}")

    @property
    def kept(self) -> KeptScores:
        """What predictions need, made when they first do; it goes with the views, and no copy has it."""
        if self._kept is None:
            sizes = [len(array) for array in self.counts.values()]
            object.__setattr__(self, "_kept", KeptScores(self.domains, sizes))
        assert self._kept is not None
        return self._kept

    @property
    def classes(self) -> tuple[Value, ...]:
        """The labels in rising precedence."""
        return self.class_domain.values

    @property
    def n_rows(self) -> int:
        return total(self.class_counts)

    @property
    def n_tuples(self) -> int:
        return math.prod(len(array) for array in self.counts.values())

    def domain(self, name: str) -> tuple[Value, ...]:
        """The values of an attribute, in the order of the rows of its counts."""
        try:
            return self.domains[name].values
        except (KeyError, TypeError):
            raise ValueError(
                f"expected an attribute of {', '.join(map(repr, self.attributes))}; got {name!r}"
            ) from None

    def is_realistic(self) -> bool:
        """Whether some table has these counts: those of each attribute add up to the class counts.

        Examples
        --------
        >>> from nbcfast import Viewset
        >>> Viewset([2, 1], [[[2, 0], [0, 1]]]).is_realistic()
        True
        >>> Viewset([2, 1], [[[2, 0], [0, 2]]]).is_realistic()
        False
        """
        expected = self.class_counts.tolist()
        return all(column_sums(array) == expected for array in self.counts.values())

    def label_array(self) -> Array:
        """The labels as an array: of objects where they are not plain numbers, bools or texts."""
        return plain_labels(self.class_domain)
