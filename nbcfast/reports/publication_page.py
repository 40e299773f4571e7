"""The private report of a release: may this classifier leave?"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from nbcfast._core.chances import share_text
from nbcfast._core.numbers import ratio_text
from nbcfast._markup.charts import how_sure
from nbcfast._markup.elements import Element
from nbcfast._markup.fitting import Fitting, PageRoom
from nbcfast._markup.page_parts import State, Tile, card, paragraph, table
from nbcfast.attack import Worst
from nbcfast.dp import Agreement
from nbcfast.published.points_pieces import rule_pieces
from nbcfast.published.release import Release
from nbcfast.publishing.findings import CONVENTIONS
from nbcfast.publishing.gate import STATES, GateFinding, one_class_values
from nbcfast.publishing.noisy_report import OFTEN, NoisyPublication
from nbcfast.publishing.report import Publication, Written
from nbcfast.publishing.standing import Standing, posterior_text
from nbcfast.publishing.strata_report import StratifiedPublication
from nbcfast.publishing.words import amount, label
from nbcfast.reports.advice_page import front_section
from nbcfast.reports.attack_summary import members_finding, undone_finding
from nbcfast.reports.certificate_words import in_decimals
from nbcfast.reports.leak_sections import adversaries_section, meter_section, one_class_section
from nbcfast.reports.owner_page import owner_page
from nbcfast.reports.summary import Summary
from nbcfast.table import Table
from nbcfast.views import Viewset
from nbcfast.views.sureness import sureness

QUESTION = "May this classifier leave?"
NO_METER = "Not measured: only answers on a public list are published, and the meter takes all."
TOO_LARGE = (
    "Not measured: take it that all counts are known to whoever holds the release. What was looked at says "
    "why."
)
MOST_CLASSES = 8  # of which the largest probability stands in the table
RAW = "to a reader who takes the counts for people"
MOST_ROWS = 10**9  # of a table: a share of them is so many of so many
MOST_STRATA = 100  # of which a line stands in the table
ALWAYS = (
    "Columns that name people, or nearly do, are left out.",
    "Values and bins were fixed without looking at the rows, or it may be known which values occur.",
    "Nothing else was published from these rows, or what it tells together was judged (a ledger says it).",
    "What the answers give away is accepted by who answers for the people in the table.",
    "The recipient checks the folder: nbcfast verify DIR decides all that files show. With Python alone "
    "python verify_release.py DIR leaves open what has to be made again, and leaves with 3 then.",
)


def publication_page(made: Publication, summary: Summary, table: Table, views: Viewset) -> bytes:
    """The report of a release of exact counts.

    Parameters
    ----------
    made : Publication
        It may be refused, or not saved.
    summary : Summary
        As it stands on the screen.
    table : Table
        The private rows, in the domains that are published.
    views : Viewset
        The counts whose classifier is published: the private ones, or these smoothed.
    """
    release = made.release
    canonical = release.certificate.canonical
    listed = canonical is not None and canonical.listed is not None
    return owner_page(
        QUESTION,
        summary,
        kind=f"{release.certificate.method} release, attacker {release.certificate.attacker!r}",
        figures=_tiles(made),
        sections=(
            _sure(made, views, table),
            _rule(release),
            meter_section(made.leak, made.limits, NO_METER if listed else TOO_LARGE),
            one_class_section(one_class_values(views)),
            None if made.advice is None else front_section(made.advice),
            adversaries_section(_tried(made)),
        ),
        checklist=ALWAYS,
        origin=_origin(made.files),
    )


def stratified_page(made: StratifiedPublication, summary: Summary) -> bytes:
    """The report of a classifier for each value of a column."""
    rows = []
    for value, one in list(made.strata.items())[:MOST_STRATA]:
        leak = one.leak
        shows = "not measured" if leak is None else f"{leak.shows_class:,} of {leak.sampled:,}"
        back = "not measured" if leak is None or leak.found is None else f"{leak.found:,} of {leak.cells:,}"
        rows.append((label(value), amount(one.before.rows), one.after.accuracy_text, shows, back))
    left = len(made.strata) - len(rows)
    more = paragraph(f"{left:,} more strata: --json has all of them.") if left > 0 else None
    header = [f"{label(made.by)}", "people", "accuracy", "class shows", "counts come back"]
    return owner_page(
        "May these classifiers leave?",
        summary,
        kind=f"canonical releases by {label(made.by)}",
        figures=(
            Tile("fact", "Strata", f"{len(made.strata):,}", "each with a classifier of its own"),
            _same(made.release.certificate.equal, made.release.certificate.tuples, " in every stratum"),
            _worst(made.before, made.after),
        ),
        sections=(
            card("Each stratum", table(header, rows), more, private=True),
            _numbers(made.before, made.after),
        ),
        checklist=ALWAYS,
        origin=_origin(made.files),
    )


def noisy_page(made: NoisyPublication, summary: Summary) -> bytes:
    """The report of a release of noisy counts, with what is computed from the private table."""
    release, owners = made.release, made.owners
    worth = members = None
    if owners.exact is not None and owners.published is not None:
        both = owners.exact, owners.published
        rows = [
            ("right answers on your rows", *(f"{one.accuracy:.2%}" for one in both)),
            ("log-loss on your rows", *(f"{one.log_loss:.4f}" for one in both)),
        ]
        worth = card("What it is worth", table(["", "exact", "published"], rows), private=True)
    if owners.membership is not None:
        found = members_finding(owners.membership)
        members = adversaries_section([(found.state, found.about, found.text)])
    same, share = _agreed(owners.agreement)
    return owner_page(
        QUESTION,
        summary,
        kind=f"{release.certificate.method} release of counts with noise",
        figures=(
            Tile(
                "warned" if made.noise.is_weak else "kept",
                "Noise",
                made.noise.level,
                f"about one person {made.noise.words}",
            ),
            Tile(same, "Same decisions", share, "to be expected, of your rows; for you alone"),
            Tile("fact", "People", amount(owners.rows), "rows of the table; for you alone"),
        ),
        sections=(worth, _rule(release), members),
        checklist=ALWAYS,
        origin=_origin(made.files),
    )


def _agreed(agreement: Agreement | None) -> tuple[State, str]:
    """How often a noisy classifier decides as the exact one; rounded down, as some are not all."""
    if agreement is None:
        return "unmeasured", "not measured"
    share = share_text(agreement.expected, up=False)
    return ("warned" if agreement.expected < OFTEN else "kept"), share


def _rule(release: Release) -> Fitting | None:
    """The points, where the release has some, and which values decide alone; the weightiest at least."""
    if release.certificate.canonical is None:
        return None
    points = release.scorecard()

    def shown(room: PageRoom) -> Element:
        whole = paragraph(
            "Points are the whole classifier: no number is a count of people.", kind="nbc-quiet"
        )
        return card("The rule that is published", *rule_pieces(points, room.rows, room.rows), whole)

    return shown


def refusal_page(summary: Summary, views: Viewset) -> bytes:
    """The report where nothing was made: columns name people, and all else is measured without them."""
    return owner_page(
        QUESTION,
        summary,
        kind="nothing was made",
        sections=(one_class_section(one_class_values(views)),),
    )


def _origin(files: Sequence[Written]) -> tuple[str, ...]:
    """Where it was written; not when, and by whom no program knows."""
    written = [f"{file.path} ({file.bytes:,} bytes)" for file in files]
    where = f"Written: {', '.join(written)}." if written else "Nothing was written."
    return (
        where,
        "The same table and options give the same page, byte by byte, but for what is drawn as noise. It "
        "runs no script and loads nothing.",
    )


def _tiles(made: Publication) -> tuple[Tile, ...]:
    certificate, leak = made.release.certificate, made.leak
    by_about = {finding.about: finding for finding in reversed(made.findings)}
    return (
        _same(certificate.equal, certificate.tuples, ""),
        _worst(made.before, made.after),
        _shown(
            "Class shows",
            by_about.get("class shows"),
            None if leak is None or not leak.measured else f"{leak.shows_class:,} of {leak.sampled:,}",
            "people, to whoever knows all others",
        ),
        _shown(
            "Counts come back",
            by_about.get("counts come back"),
            None if leak is None or leak.found is None else f"{leak.found:,} of {leak.cells:,}",
            "values, from totals and answers",
        ),
    )


def _same(equal: bool | None, tuples: int, where: str) -> Tile:
    state: State = "unmeasured" if equal is None else "kept" if equal else "warned"
    figure = {None: amount(tuples), False: f"not all {amount(tuples)}", True: f"all {amount(tuples)}"}
    text = f"possible cases are decided as before{where}"
    if equal is None:
        text = "possible cases, not compared with your classifier"
    return Tile(state, "Same decisions", figure[equal], text)


def _worst(before: Standing, after: Standing) -> Tile:
    text = f"of a class, for a reader of the counts (was {posterior_text(before.worst_of_all)})"
    return Tile("kept", "Nobody above", posterior_text(after.worst_of_all), text)


def _shown(about: str, finding: GateFinding | None, measured: str | None, text: str) -> Tile:
    """A measure of the gate: its state is that of its finding."""
    if measured is None:
        return Tile("unmeasured", about, "not measured", text)
    state: State = "kept" if finding is None else finding.state
    return Tile(state, about, measured, text)


def _sure(made: Publication, views: Viewset, table: Table) -> Element | None:
    """How sure the classifier is of each row, before and after."""
    classes = [label(value) for value in made.release.views.classes]
    if len(classes) == 1:
        return None
    before, after = (sureness(one, table) for one in (views, made.release.views))
    band = None
    said = f"one class was certain of {_part(before.certain)} before, and is of {_part(after.certain)} after"
    ends = ("hardly anything is known", "surely one class")
    what = "the probability that its values give its most probable class"
    if len(classes) == 2:
        ends = (f"surely {classes[1]}", f"surely {classes[0]}")
        what = f"the probability of {classes[0]} that its values give"
        limit = float(made.release.certificate.limit)
        band = (1 / (1 + limit), limit / (1 + limit))
        beyond = [_part(one.beyond(*band)) for one in (before, after)]
        said += f"; {beyond[0]} stood beyond the limit before, and {beyond[1]} after"
    text = f"Each row of the table stands at {what}: {said}."
    return card(
        "How sure the classifier is",
        paragraph(text),
        how_sure(before.shares, after.shares, ends, band, text),
        paragraph("Heights are square roots of the shares, so that rare cases show.", kind="nbc-quiet"),
        _before_after(made.before, made.after),
        private=True,
    )


def _part(share: float) -> str:
    """A share of the rows: some are never rounded to none, nor nearly all to all."""
    exactly = Fraction(share).limit_denominator(MOST_ROWS)
    return f"{share_text(exactly)} of the rows" if exactly else "none of the rows"


def _numbers(before: Standing, after: Standing) -> Element:
    return card("Before and after", _before_after(before, after), private=True)


def _before_after(before: Standing, after: Standing) -> Element:
    worst = list(zip(before.worst, after.worst, strict=True))[:MOST_CLASSES]
    rows = [
        ("Lambda, the largest ratio of two scores", before.lambda_text, after.lambda_text),
        *(
            (f"largest probability of {label(old.label)}, {RAW}", posterior_text(old), posterior_text(new))
            for old, new in worst
        ),
        ("right answers on your rows", before.accuracy_text, after.accuracy_text),
        ("log-loss on your rows", before.loss_text, after.loss_text),
        ("rows that the counts stand for", amount(before.rows), amount(after.rows)),
    ]
    return table(["", "before", "after"], rows)


def _tried(made: Publication) -> list[tuple[State, str, str]]:
    """What each adversary knows, and what he finds."""
    found = made.adversaries
    limit = made.release.certificate.limit
    who = ("all values of one person", "the same, and averages over all tables with these counts")
    tried: list[tuple[State, str, str]] = []
    for convention, knows in zip(CONVENTIONS, who, strict=True):
        worst = found.worst[convention]
        state: State = "kept" if _within(worst, limit) else "warned"
        odds = worst.text if worst.certified else ratio_text(None, worst.log_bound)
        tried.append((state, knows, f"odds of at most {in_decimals(odds)} to 1 of one class to another"))
    undone = undone_finding(found)
    undoing = "kept" if undone is None else undone.state
    tried.append((undoing, "how such a release is made, and undoes it", found.inversion_text))
    if found.membership is None:
        text = "not measured: give --holdout FILE with rows of other people"
        tried.append(("unmeasured", "a whole row, and wonders whether it was in the table", text))
    else:
        members = members_finding(found.membership)
        tried.append((members.state, "a whole row, and wonders whether it was in the table", members.text))
    return sorted(tried, key=lambda one: STATES.index(one[0]))


def _within(worst: Worst, limit: Fraction) -> bool:
    """Whether the largest ratio keeps the limit, exactly where it is a rational."""
    return worst.ratio is not None and worst.certified and worst.ratio <= limit
