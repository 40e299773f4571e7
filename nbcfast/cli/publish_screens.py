"""What `publish --verbose` prints below the summary of a release: what it is worth, and what shows."""

from __future__ import annotations

from rich.table import Table as Grid

from nbcfast.cli.adversaries import adversaries_grid
from nbcfast.cli.leak_tables import NO_METER, leak_grids
from nbcfast.cli.printing import Parts, listing, pairs, readable, remarked
from nbcfast.publishing.report import Publication
from nbcfast.publishing.standing import posterior_text
from nbcfast.publishing.words import label
from nbcfast.reports.certificate_words import limit_line, same_line

MOST_POSTERIORS = 8  # classes whose worst posteriors are listed each
RAW = "read as raw counts"


def publication_details(publication: Publication, unit: str, intervals: bool) -> Parts:
    """What stands below the summary; `unit` is what the private counts are of."""
    made = publication.release.certificate
    decisions = [
        ("method", publication.choice.text),
        ("limit of Lambda", limit_line(made.limit, made.amplification, made.attacker)),
        ("classifier", same_line(publication.release)),
    ]
    if made.canonical is not None and made.canonical.listed is not None:
        decisions.append(("leak meter", NO_METER))
    if intervals and publication.leak is None:
        decisions.append(("intervals of log-ratios", "not measured, as nothing else of the answers was"))
    rounded = made.canonical is not None and made.canonical.bits is not None
    leaking = [] if publication.leak is None else leak_grids(publication.leak, rounded)
    return [
        numbers_grid(publication, unit),
        pairs(decisions),
        *leaking,
        adversaries_grid(publication.adversaries),
        *remarked(made.notes),
    ]


def numbers_grid(publication: Publication, unit: str) -> Grid:
    """How the private classifier and the published one stand."""
    before, after = publication.before, publication.after
    smoothing = publication.release.certificate.smoothing
    numbers = listing("", "before" if smoothing is None else f"before, smoothed by {smoothing}", "after")
    numbers.add_row("Lambda, the largest ratio of two scores", before.lambda_text, after.lambda_text)
    # Whoever knows what the answers say knows more: a posterior is never told without saying to whom.
    if len(before.worst) <= MOST_POSTERIORS:
        for old, new in zip(before.worst, after.worst, strict=True):
            numbers.add_row(
                f"worst posterior of {label(old.label)}, {RAW}", posterior_text(old), posterior_text(new)
            )
    else:
        worst = [posterior_text(standing.worst_of_all, True) for standing in (before, after)]
        numbers.add_row(f"worst posterior, {RAW}", *worst)
    numbers.add_row(unit, readable(before.rows), readable(after.rows))
    numbers.add_row("log-loss on the input", before.loss_text, after.loss_text)
    numbers.add_row("accuracy on the input", before.accuracy_text, after.accuracy_text)
    return numbers
