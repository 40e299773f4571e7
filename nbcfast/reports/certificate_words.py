"""What a certificate claims, in a line: the limit, and whether the classifier is the private one."""

from __future__ import annotations

import re
from fractions import Fraction

from nbcfast._core.numbers import amount_text
from nbcfast._wire.smoothing_form import private_text
from nbcfast.published.certificate import same_text
from nbcfast.published.release import Release
from nbcfast.publishing.words import amount

FRACTION = re.compile(r"(?<![\w./'\"])[0-9]+(?:/[0-9]*[1-9][0-9]*|\.[0-9]{6,})(?![\w/])")
NUMBER = re.compile(r"(?<![\w./,])[0-9]+(?:/[0-9]*[1-9][0-9]*|\.[0-9]+)?(?![\w/])")
TUPLES = re.compile(r"(?<![\w.,/])[0-9]{4,15}(?= tuples)")


def in_decimals(text: str) -> str:
    """A line of a screen whose fractions are decimals of six digits, and whose tuples have separators.

    Where two numbers that differ would look alike they stay as they are.

    Examples
    --------
    >>> in_decimals("Lambda = 41405/10368 <= 4"), in_decimals("alike on the 41472 tuples")
    ('Lambda = 3.99354 <= 4', 'alike on the 41,472 tuples')
    >>> in_decimals("Lambda = 4000000001/1000000000 > 4")
    'Lambda = 4000000001/1000000000 > 4'
    """
    text = grouped(text)
    decimals = FRACTION.sub(lambda found: f"{float(Fraction(found[0])):,.6g}", text)
    before, after = ([Fraction(number) for number in NUMBER.findall(line)] for line in (text, decimals))
    return decimals if len(set(before)) == len(set(after)) else text


def grouped(text: str) -> str:
    """The same with separators alone."""
    return TUPLES.sub(lambda found: f"{int(found[0]):,}", text)


def limit_line(limit: Fraction, amplification: Fraction, attacker: str) -> str:
    """The limit of Lambda, and where it comes from."""
    if attacker == "worlds":
        return f"{amount(limit)}, half of the amplification {amount(amplification)}, for attacker 'worlds'"
    return f"{amount(limit)}, for attacker 'row'"


def same_line(release: Release) -> str:
    """Whether the classifier is the private one, and how that was established, by who made the release."""
    certificate = release.certificate
    if certificate.canonical is not None and certificate.canonical.listed is not None:
        listed = certificate.canonical.listed
        return same_text(
            certificate.preserve,
            certificate.tuples,
            listed.differing,
            certificate.equivalence,
            None,
            listed.tuples,
            certificate.altered,
        )
    if certificate.differing_tuples is None:
        what = "the order of all classes" if certificate.preserve == "order" else "the best class"
        to = "" if certificate.altered is None else f" with {private_text(certificate.altered)}"
        return f"not compared{to}: {what} on {amount_text(certificate.tuples)} tuples"
    return same_text(
        certificate.preserve,
        certificate.tuples,
        certificate.differing_tuples,
        certificate.equivalence,
        certificate.differing_rows,
        altered=certificate.altered,
    )
