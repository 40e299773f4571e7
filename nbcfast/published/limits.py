"""Whether counts keep the limits of a certificate, in counted work: for verify, load and save alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nbcfast._wire.excess import excess
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast.safety.amplification import at_most
from nbcfast.safety.prior import within

if TYPE_CHECKING:
    from nbcfast.published.release import Release

MOST_MULTIPLIED = 1 << 27  # bits of products up to which a limit is compared exactly
MOST_QUOTIENTS = 1 << 28  # of doubles, over all pairs of classes
MOST_FACTORS = 1 << 21  # of intervals


def lambda_kept(document: ReleaseDocument, release: Release) -> bool | None:
    """Whether Lambda keeps the limit of the certificate; None where that would take too long."""
    limit = release.certificate.limit
    return _kept(document, excess(document), lambda: at_most(release.views, limit))


def odds_kept(document: ReleaseDocument, release: Release) -> bool | None:
    """Whether odds are those of the prior up to r, in the form of Statement 11; None as above.

    So they are where the certificate has no prior.
    """
    prior, r = release.certificate.prior, release.certificate.r_limit
    if prior is None or r is None:
        return True
    found = excess(document, document.odds)
    return _kept(document, found, lambda: within(release.views, prior, r))


def _kept(
    document: ReleaseDocument, found: tuple[tuple[int, int] | None, bool | None], exactly: Callable[[], bool]
) -> bool | None:
    """Whether a limit is kept, where the counted work of the script decides it, or kernels can do more."""
    if found != (None, None):
        return found[0] is None
    pairs = len(document.classes) ** 2
    values = sum(len(values) for _, values, _ in document.attributes)
    quotients, factors, multiplied = (
        most // document.sharing for most in (MOST_QUOTIENTS, MOST_FACTORS, MOST_MULTIPLIED)
    )
    if pairs * values > quotients or pairs * len(document.attributes) > factors:
        return None
    return exactly() if bits(document) <= multiplied else None


def bits(document: ReleaseDocument) -> int:
    """Of the products of all pairs of classes, about."""
    of_class = [number.bit_length() for number in document.class_counts]
    attributes = document.attributes
    of_values = sum(number.bit_length() for _, _, counts in attributes for row in counts for number in row)
    longest = max(number.denominator.bit_length() for number in document.prior) if document.prior else 0
    return len(of_class) * (of_values + sum(of_class) * len(attributes) + longest * len(of_class))
