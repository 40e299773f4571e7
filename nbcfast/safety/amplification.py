"""How far a viewset can move anybody's odds: its amplification Lambda.

Lambda(V) = max over tuples and classes of X_c / X_d
          = max over c, d of (P_d / P_c)^(n-1) prod_i max_t N^i_{t,c} / N^i_{t,d}.

Floats only sort out what cannot be the maximum, within a proven bound; integers decide. That no other odds
move by more is proved in docs/mathematics/safety.md#safety-lambda.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from nbcfast._core.errors import expect
from nbcfast._core.numbers import Numeral, exact, log_of, plain_ratio, ratio_text
from nbcfast._core.untyped import Document
from nbcfast.safety.ratios import LabelPair, Ratios
from nbcfast.safety.text import tuple_text
from nbcfast.table.values import Value
from nbcfast.views import Viewset


@dataclass(frozen=True, repr=False)
class Amplification:
    """Lambda of a viewset: the largest X_c / X_d over all tuples and pairs of classes with X_c > 0.

    Attributes
    ----------
    log : float
        Its natural logarithm, math.inf where it is infinite.
    value : Fraction or None
        Exactly; None where it is infinite or too long to write out (more than some 20,000 bits).
    infinite : bool
        Whether some tuple has X_c > 0 and X_d = 0.
    tuple : dict of name -> value
        A tuple that attains it.
    classes : tuple
        The labels c and d.
    """

    log: float
    value: Fraction | None
    infinite: bool
    tuple: dict[str, Value]
    classes: LabelPair

    def to_dict(self) -> Document:
        """Plain values; the exact value as "num/den", in hexadecimal beyond 53 bits."""
        return {
            "log": self.log,
            "value": None if self.value is None else plain_ratio(self.value),
            "infinite": self.infinite,
            "tuple": dict(self.tuple),
            "classes": list(self.classes),
        }

    @property
    def text(self) -> str:
        """The value for people: exact where short, else a few digits."""
        return "infinite" if self.infinite else ratio_text(self.value, self.log)

    def __repr__(self) -> str:
        c, d = self.classes
        return f"Amplification({self.text}: {c!r} over {d!r} at {tuple_text(self.tuple)})"


def amplification(views: Viewset) -> Amplification:
    """Lambda(V): the largest factor by which one class outweighs another at any tuple, exactly.

    For a realistic viewset no set of attribute values moves anybody's odds between two classes from even
    odds by more, whatever subset of attributes the attacker knows. Counts of values that a class does not
    have are no numerators; a zero under a positive score makes Lambda infinite. Takes time linear in the
    number of counts for a given number of classes.

    Parameters
    ----------
    views : Viewset
        Of any counts, realistic or not; a class without rows has X = 0.

    Returns
    -------
    Amplification
        Of several tuples that attain it, that of the first pair of classes and the first values.

    Raises
    ------
    ValueError
        If the views have no rows, or no tuple has a positive score in any class.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> amplification(Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]]))
    Amplification(7.6: 0 over 1 at A1=0, A2=0)
    """
    expect(views, Viewset, "views")
    return amplification_of(views)


def amplification_of(views: Viewset) -> Amplification:
    ratios = Ratios(views)
    infinite = ratios.infinite()
    if infinite is not None:
        c, d, rows = infinite
        return Amplification(math.inf, None, True, ratios.tuple_of(rows), ratios.labels(c, d))
    if ratios.n_classes == 1:
        rows = ratios.most_frequent(0)
        return Amplification(0.0, Fraction(1), False, ratios.tuple_of(rows), ratios.labels(0, 0))
    c, d, product = ratios.largest()
    value = product.value()
    log = product.log() if value is None else log_of(value)
    return Amplification(log, value, False, ratios.tuple_of(product.rows), ratios.labels(c, d))


def at_most(views: Viewset, limit: Numeral) -> bool:
    """Whether Lambda(V) <= limit, exactly.

    Faster than `amplification`, which has to find where Lambda is attained: an interval decides, and the
    exact product only where the limit lies in it.

    Parameters
    ----------
    views : Viewset
        As for `amplification`.
    limit : int, Fraction, str or float
        A float means its shortest decimal text.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])
    >>> at_most(views, "7.6"), at_most(views, 4)
    (True, False)
    """
    expect(views, Viewset, "views")
    return keeps_to(views, Fraction(exact(limit, "limit")))


def keeps_to(views: Viewset, limit: Fraction) -> bool:
    """`at_most` for whoever has checked its arguments: makers ask it of each of their candidates."""
    ratios = Ratios(views)
    if ratios.infinite() is not None:
        return False
    if ratios.n_classes == 1:
        return limit >= 1
    return ratios.at_most(limit)
