"""`Scheme`: randomised response of two-valued columns, as in the paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nbcfast._core.numbers import Numeral
from nbcfast._wire.coins import useless
from nbcfast._wire.messages import decimal_text, printable
from nbcfast.response.coin_groups import as_list, domains_of, expect_two_values, groups_of
from nbcfast.response.schemes import AnyScheme
from nbcfast.table import Domain, Table
from nbcfast.table.values import Value


class Scheme(AnyScheme):
    """Randomised response of two-valued columns (Zhan, Chang, Matwin 2004).

    Each respondent throws one coin a group: with probability theta the columns of the group are told as they
    are, else every one of them is reversed. Columns in no group, the class perhaps, are told as they are.

    Parameters
    ----------
    theta : int, Fraction, str or float, or a sequence of them
        The probability of the truth, one for all groups or one each; a float means its shortest decimal text,
        so 0.8 is 4/5. 1/2 would tell nothing, and is refused.
    groups : sequence of sequences of str
        Columns under one coin.
    domains : mapping of name -> sequence of two values, optional
        The values 0 and 1 of the paper, in this order. By default those of the table.

    Raises
    ------
    ValueError
        If theta is outside [0, 1] or within 5e-10 of 1/2, a column is in two groups, or a domain has not two
        values.

    Examples
    --------
    >>> scheme = Scheme("0.8", [["smokes", "drinks"], ["ill"]])
    >>> scheme.theta
    (Fraction(4, 5), Fraction(4, 5))
    >>> print(scheme.privacy().groups[1].text)
    epsilon-LDP with epsilon = ln 4 = 1.386: no answer makes one truth more than 4 times as likely
    """

    kind = "binary"

    def __init__(
        self,
        theta: Numeral | Sequence[Numeral],
        groups: Iterable[Iterable[str]],
        *,
        domains: Mapping[str, Iterable[Value]] | None = None,
    ) -> None:
        self.groups = groups_of(theta, groups)
        self.domains = domains_of(domains, self.groups)
        for name, domain in self.domains.items():
            expect_two_values(name, domain)
        for group in self.groups:
            if any(useless(group.theta, self.sizes(group), self.lie)):
                raise ValueError(
                    f"theta must not be 1/2 (or within 5e-10 of it): such answers tell nothing, and there is "
                    f"no model; got {decimal_text(group.theta)}"
                )

    @classmethod
    def per_attribute(
        cls,
        theta: Numeral | Sequence[Numeral],
        names: Iterable[str],
        *,
        domains: Mapping[str, Iterable[Value]] | None = None,
    ) -> Scheme:
        """A coin for each column: epsilon-LDP, with epsilons that add up over the columns.

        Examples
        --------
        >>> Scheme.per_attribute(0.8, ["a", "b"]).privacy().odds
        Fraction(16, 1)
        """
        return cls(theta, [[name] for name in as_list(names, "names")], domains=domains)

    def size(self, name: str) -> int:
        return 2

    def check_domain(self, name: str, domain: Domain) -> None:
        super().check_domain(name, domain)
        if name not in self.domains:
            expect_two_values(name, domain)

    def declared(self, table: Table) -> Scheme:
        """The scheme with the domains of a table."""
        self.check_table(table)
        domains = {name: self.order(name, table.column(name).domain).values for name in self.columns}
        return Scheme(self.theta, [group.columns for group in self.groups], domains=domains)

    def __repr__(self) -> str:
        return printable(f"Scheme({self._groups_text()})")
