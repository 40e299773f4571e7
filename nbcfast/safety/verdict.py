"""Whether views keep to a limit, with the tuple that moves odds most."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction

from nbcfast._core.choices import Attacker
from nbcfast._core.errors import expect
from nbcfast._core.numbers import Numeral, exact, number_text, plain_ratio, ratio_text
from nbcfast._core.untyped import Document
from nbcfast.safety.allowed import allowed_amplification
from nbcfast.safety.amplification import Amplification, amplification_of, at_most
from nbcfast.safety.condition10 import Condition10, condition10_of, why_undecided
from nbcfast.safety.ratios import LabelPair, check_realistic
from nbcfast.safety.text import tuple_text
from nbcfast.table.values import Value
from nbcfast.views import Viewset


@dataclass(frozen=True, repr=False)
class Report:
    """What `check` found.

    Attributes
    ----------
    safe : bool
        Whether Lambda is at most `allowed`.
    amplification : Amplification
        Lambda of the views.
    limit : Fraction
        The amplification that was asked for.
    allowed : Fraction
        The largest Lambda that keeps to it: the limit, or half of it for attacker="worlds".
    attacker : {"row", "worlds"}
    witness : dict of name -> value
        The tuple that attains Lambda.
    classes : tuple
        The two classes whose odds move that far there.
    condition10 : dict
        What the paper's condition (10) would have said: "safe"; the largest "ratio" of two class counts, or
        of two counts of one value, and "where" it is; "amplification", ratio^n, the least limit that passes;
        "log_reachable", the logarithm of what (10) lets through at this limit; and "why" it does not decide.
        "ratio" and "amplification" are None where they are infinite or too long.
    smallest_class : int
        Rows of the smallest class. The paper calls it k of k-SIND; it is a size and no guarantee.
    """

    safe: bool
    amplification: Amplification
    limit: Fraction
    allowed: Fraction
    attacker: str
    witness: dict[str, Value]
    classes: LabelPair
    condition10: Condition10
    smallest_class: int

    def to_dict(self) -> Document:
        """Plain values; exact numbers as "num/den", in hexadecimal beyond 53 bits."""
        result: Document = {field.name: getattr(self, field.name) for field in fields(self)}
        result["amplification"] = self.amplification.to_dict()
        result["limit"], result["allowed"] = plain_ratio(self.limit), plain_ratio(self.allowed)
        result["witness"], result["classes"] = dict(self.witness), list(self.classes)
        result["condition10"] = {
            key: plain_ratio(value) if isinstance(value, Fraction) else value
            for key, value in self.condition10.items()
        }
        return result

    def __repr__(self) -> str:
        sign = "<=" if self.safe else ">"
        c, d = self.classes
        allowed = ratio_text(self.allowed, math.inf)
        would = "safe" if self.condition10["safe"] else "unsafe"
        return (
            f"Report({'safe' if self.safe else 'unsafe'}, attacker {self.attacker!r}: amplification "
            f"{self.amplification.text} {sign} {allowed}, {c!r} over {d!r} at {tuple_text(self.witness)}; "
            f"condition (10) says {would}; smallest class {number_text(self.smallest_class)})"
        )


def check(views: Viewset, amplification: Numeral, attacker: Attacker = "row") -> Report:
    """Whether these views, published as they are, keep to an amplification.

    Parameters
    ----------
    views : Viewset
        Realistic: a table with these counts exists.
    amplification : int, Fraction, str or float
        The limit, above 1; see `limit` for the one that belongs to two breach levels.
    attacker : {"row", "worlds"}
        "row": the attacker knows attribute values of one row and reasons over all tables with these counts:
        Lambda <= limit is necessary and sufficient. "worlds": the paper's attacker, who averages over
        possible worlds the share of matching rows; his odds are within a factor of 2 of X_c / X_d,
        so Lambda <= limit / 2 is demanded, and the limit has to exceed 2.

    Returns
    -------
    Report
        With the paper's condition (10) beside it, which is neither necessary nor sufficient.

    Raises
    ------
    ValueError
        If the limit is not above 1 (2), or the views have no rows or are not realistic.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])
    >>> report = check(views, 4)
    >>> report.safe, report.amplification.value, report.witness, report.classes
    (False, Fraction(38, 5), {'A1': 0, 'A2': 0}, (0, 1))
    >>> report.condition10["safe"], report.condition10["amplification"]
    (True, Fraction(4, 1))
    """
    expect(views, Viewset, "views")
    demanded = Fraction(exact(amplification, "amplification"))
    allowed = allowed_amplification(demanded, attacker)
    check_realistic(views)
    largest = amplification_of(views)
    # A Lambda too long to write out has no value, and is compared without one.
    safe = not largest.infinite and (largest.value <= allowed if largest.value else at_most(views, allowed))
    condition10 = condition10_of(views, demanded)
    condition10["why"] = why_undecided(condition10, demanded, attacker, len(views.attributes), safe, largest)
    return Report(
        safe=safe,
        amplification=largest,
        limit=demanded,
        allowed=allowed,
        attacker=attacker,
        witness=largest.tuple,
        classes=largest.classes,
        condition10=condition10,
        smallest_class=min(views.class_counts.tolist()),
    )
