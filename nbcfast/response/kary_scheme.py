"""`KaryScheme`: k-ary randomised response, of columns of any number of values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from nbcfast._core.numbers import Numeral, exact
from nbcfast._core.validation import choice
from nbcfast._wire.coins import LIES, useless
from nbcfast._wire.messages import decimal_text, printable
from nbcfast.response.coin_groups import domains_of, expect_mapping, groups_of
from nbcfast.response.schemes import AnyScheme, Lie
from nbcfast.table import Table
from nbcfast.table.values import Value

# The kernel numbers the tuples of a group in 64 bits, and a certificate takes no more.
MOST_TUPLES = 2**62

THETA_BITS = 40  # of a theta that is made for an epsilon
MOST_EPSILON = 25  # at which a lie of one other value has a chance of about 15 / 2^40


class KaryScheme(AnyScheme):
    """k-ary randomised response: columns of any number of values, nulls among them.

    With probability theta a column is told as it is, else as one of its other values, each as likely.

    Parameters
    ----------
    theta : int, Fraction, str or float, or a sequence of them
        The probability of the truth, one for all groups or one each.
    domains : mapping of name -> sequence
        The values of each column.
    groups : sequence of sequences of str, optional
        Columns under one coin; by default each has its own.
    lie : {"each", "tuple"}
        What a lie about several columns is: another value of each, or another tuple of their values; the
        latter is epsilon-LDP.

    Raises
    ------
    ValueError
        If theta is outside [0, 1] or such that answers tell nothing, a column is in two groups, or a domain
        has less than 2 values.

    Examples
    --------
    >>> scheme = KaryScheme("1/2", {"job": ["clerk", "cook", "nurse", None]})
    >>> scheme.privacy().odds
    Fraction(3, 1)
    """

    kind = "k-ary"

    def __init__(
        self,
        theta: Numeral | Sequence[Numeral],
        domains: Mapping[str, Iterable[Value]],
        *,
        groups: Iterable[Iterable[str]] | None = None,
        lie: Lie = "each",
    ) -> None:
        expect_mapping(domains)
        choice(lie, LIES, "lie")
        self.lie = lie
        self.groups = groups_of(theta, [[name] for name in domains] if groups is None else groups)
        self.domains = domains_of(domains, self.groups)
        for name in self.columns:
            if name not in self.domains:
                raise ValueError(f"domains: expected the values of {name!r}, which is in a group")
            if len(self.domains[name]) < 2:
                raise ValueError(f"domains[{name!r}] must have at least 2 values, got 1")
        for group in self.groups:
            if self.tuples(group) >= MOST_TUPLES:
                raise ValueError(
                    f"the columns of a group must have fewer than 2^62 tuples of values: {group}"
                )
            # What two columns share never vanishes unless each does: theta + (1 - theta) / .. is positive.
            are_useless = useless(group.theta, self.sizes(group), lie)
            for name, is_useless in zip(group.columns, are_useless, strict=True):
                if is_useless:
                    raise ValueError(
                        f"theta must not be {decimal_text(group.theta)} (or near): answers about {name!r} "
                        "would tell nothing, and there is no model"
                    )

    @classmethod
    def with_epsilon(cls, epsilon: Numeral, domains: Mapping[str, Iterable[Value]]) -> KaryScheme:
        """A coin for each column, each epsilon-LDP by itself: all of them together have the sum.

        Theta is e^epsilon / (e^epsilon + k - 1), rounded down to 40 bits. For a total of epsilon over n
        columns give epsilon / n.

        Parameters
        ----------
        epsilon : int, Fraction, str or float
            Of each column, above 0 and at most 25.
        domains : mapping of name -> sequence
            The values of each column, two at least.

        Examples
        --------
        >>> scheme = KaryScheme.with_epsilon(1, {"job": ["clerk", "cook", "nurse"]})
        >>> 0.999999 < scheme.privacy().epsilon <= 1
        True
        """
        expect_mapping(domains)
        asked = exact(epsilon, "epsilon")
        number = float(asked)
        if not 0 < number <= MOST_EPSILON:
            raise ValueError(f"epsilon must be above 0 and at most {MOST_EPSILON}, got {epsilon}")
        # Below e^epsilon for sure: exp is off by less than that, and e^-x is above 1 - x.
        too_large = max(Fraction(number) - asked, Fraction(0))
        odds = Fraction(math.exp(number)) * (1 - Fraction(1, 2**50)) * (1 - too_large)
        values_of = {name: list(values) for name, values in domains.items()}
        for name, values in values_of.items():
            if len(values) < 2:
                raise ValueError(f"domains[{name!r}] must have at least 2 values, got {len(values)}")
        # Down, so that no epsilon is above the one asked for: docs/mathematics/response.md, statement 6.3.
        thetas = [
            Fraction(math.floor(odds / (odds + len(values) - 1) * 2**THETA_BITS), 2**THETA_BITS)
            for values in values_of.values()
        ]
        return cls(thetas, values_of)

    def size(self, name: str) -> int:
        return len(self.domains[name])

    def declared(self, table: Table) -> KaryScheme:
        """The scheme itself: its domains are declared."""
        self.check_table(table)
        return self

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(domain)} values" for name, domain in self.domains.items())
        return printable(f"KaryScheme({self._groups_text()}; {sizes}; lie={self.lie!r})")
