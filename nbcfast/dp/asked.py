"""Which noise is asked for: its mechanism, and what is public of the table that it is for."""

from __future__ import annotations

from fractions import Fraction

from nbcfast._core.numbers import Numeral, as_limit, exact, exact_share
from nbcfast._core.validation import choice, whole
from nbcfast._wire.concentrated import epsilon_above, rho_below
from nbcfast.views import Viewset
from nbcfast.views.noise import (
    FEW_ATTRIBUTES,
    GAUSSIAN,
    LAPLACE,
    NEIGHBOURS,
    Mechanism,
    Neighbours,
    Noise,
    sensitivity_of,
)

MOST_ROWS = 10**9  # of one person


def positive(number: object, where: str) -> Fraction:
    """A positive number of as many digits as a certificate may hold."""
    limit = as_limit(exact(number, where), where)
    if limit <= 0:
        raise ValueError(f"{where} must be above 0, got {number!r}")
    return limit


def chance(number: object) -> Fraction:
    """A delta: above 0 and below 1."""
    limit = positive(exact_share(number, "delta"), "delta")
    if limit >= 1:
        raise ValueError(f"delta must be below 1, got {number!r}")
    return limit


def epsilon_of(rho: Numeral, delta: Numeral) -> Fraction:
    """The least epsilon of which noise with this rho is known to be (epsilon, delta)-private, rounded up.

    It is 10^-30 at least, also where delta alone gives all. Of the bounds of Canonne, Kamath and Steinke
    (2020), Corollary 13, proven and with nine digits.

    Parameters
    ----------
    rho : int, Fraction, str or float
        Above 0, of zero-concentrated differential privacy; a float means its shortest decimal text.
    delta : int, Fraction, str or float
        Above 0 and below 1.

    Examples
    --------
    >>> float(epsilon_of("0.5", "1e-6"))
    5.22153445
    """
    return epsilon_above(positive(rho, "rho"), chance(delta))


def rho_of(epsilon: Numeral, delta: Numeral) -> Fraction:
    """The largest rho of which noise is known to be (epsilon, delta)-private, rounded down.

    Of the bounds of Canonne, Kamath and Steinke (2020), Corollary 13, proven and with nine digits.

    Parameters
    ----------
    epsilon : int, Fraction, str or float
        Above 0; a float means its shortest decimal text.
    delta : int, Fraction, str or float
        Above 0 and below 1.

    Examples
    --------
    >>> float(rho_of(1, "1e-6"))
    0.0243559703
    """
    return rho_below(positive(epsilon, "epsilon"), chance(delta))


def noise_for(
    n_attributes: int,
    epsilon: Numeral | None,
    delta: Numeral | None,
    rho: Numeral | None,
    neighbours: Neighbours,
    rows_per_person: int,
) -> Noise:
    """The noise that is asked for, for counts of so many attributes. It depends on no row.

    Epsilon alone takes Laplace noise, and rho the Gaussian. Epsilon and delta take Laplace below ten
    attributes, which leaves delta at 0, and else whichever varies less.
    """
    if (epsilon is None) == (rho is None):
        given = "neither" if epsilon is None else "both"
        raise ValueError(f"expected one of epsilon and rho, got {given}")
    choice(neighbours, NEIGHBOURS, "neighbours")
    rows = whole(rows_per_person, "rows_per_person", 1, MOST_ROWS)
    allowed = None if delta is None else chance(delta)

    def of_mechanism(
        mechanism: Mechanism, epsilon: Fraction | None, delta: Fraction, rho: Fraction | None
    ) -> Noise:
        return Noise(
            mechanism=mechanism,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            neighbours=neighbours,
            rows_per_person=rows,
            sensitivity=sensitivity_of(mechanism, n_attributes, neighbours, rows),
            n_attributes=n_attributes,
        )

    if rho is not None:
        strength = positive(rho, "rho")
        if allowed is None:
            return of_mechanism(GAUSSIAN, None, Fraction(0), strength)
        return of_mechanism(GAUSSIAN, epsilon_above(strength, allowed), allowed, strength)
    limit = positive(epsilon, "epsilon")
    laplace = of_mechanism(LAPLACE, limit, Fraction(0), None)
    if allowed is None or n_attributes < FEW_ATTRIBUTES:
        return laplace
    gaussian = of_mechanism(GAUSSIAN, limit, allowed, rho_below(limit, allowed))
    return gaussian if gaussian.variance < laplace.variance else laplace


def check_public(views: Viewset) -> None:
    """Refuse views whose values, labels or counts are more than whole rows of declared domains.

    No message says what the rows hold: it says which declaration is missing.
    """
    if not isinstance(views, Viewset):
        raise TypeError(f"views must be a Viewset, got {type(views).__name__}")
    if views.noise is not None:
        raise ValueError(
            "views have noise already: noisy counts are made of the exact views, and once; whatever is made "
            "of noisy ones needs no more noise"
        )
    if views.weighted:
        raise ValueError(
            "views must be counts of whole rows: in weighted or smoothed counts a row may count for more "
            "than one, and no noise is known to hide it. Count the table without weights, one row a record"
        )
    if not views.class_domain.declared or views.class_domain.open_tail:
        raise ValueError(
            "the classes come from the rows, which shows who is among them: declare them, all that there may "
            "be, with classes=[..] of nbcfast.count, n_classes of Viewset.from_codes, or in a domain file"
        )
    for name, domain in views.domains.items():
        if domain.open_tail:
            raise ValueError(
                f"attribute {name!r}: whether null is in its domain comes from the rows, which "
                "shows who is among them: declare all its values, null among them or not, in a domain "
                f"file or with nbcfast.Table(table, domains={{{name!r}: [..]}})"
            )
        if not domain.declared:
            raise ValueError(
                f"attribute {name!r}: its values come from the rows, which shows who is among them: declare "
                "all that there may be, in a domain file, with nbcfast.Table(table, "
                f"domains={{{name!r}: [..]}}), or with sizes of Viewset.from_codes"
            )
    if not views.is_realistic():
        raise ValueError(
            "views must be counts of one table: for some attribute they do not add up to the class counts"
        )
