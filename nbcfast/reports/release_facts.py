"""What a fact sheet says of a release, or of releases by strata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nbcfast._core.chances import bound_text
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import amount_text
from nbcfast._markup.elements import Element, element
from nbcfast._markup.page_parts import State, Tile, bold, card, more, paragraph
from nbcfast._markup.trying import trying_script
from nbcfast.canonical.publish import undeclared
from nbcfast.exports.points_of_release import points_of
from nbcfast.published.certificate import Certificate
from nbcfast.published.points_pieces import (
    MOST_COLUMNS,
    form_told,
    one_answer,
    points_form,
    rule_pieces,
    value_text,
    value_texts,
)
from nbcfast.published.points_table import PointsTable
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.words import amount
from nbcfast.reports.certificate_words import in_decimals, same_line
from nbcfast.reports.sheets import NO_DP, OPTION_BYTES, ROW_BYTES, Facts, Room
from nbcfast.table.values import Value
from nbcfast.verification.results import STATE_OF, Check, Verification
from nbcfast.views.quality import WorstPosterior, worst_posteriors

METHODS = {
    "canonical": "canonical release",
    "safetytransform": "SafetyTransform release",
    "est": "EST release",
}
MADE_HERE = (
    "These points were made of the answers of the release when this page was made: they are not in its "
    "certificate, and decide exactly as its counts do."
)
NO_COUNT = "Points are the whole classifier, the weightiest attribute first: no number is a count of people."
WHO_HAS = (
    "Values that were declared may be such as nobody in the data has: no published file says which these "
    "are, and what is answered there stands on no person."
)
OF_NO_USE = " One answer for everybody tells nobody from anybody else."


@dataclass(frozen=True)
class Rules:
    """The points of one release, or of one for each value of a column, or why there are none.

    Attributes
    ----------
    points : tuple of PointsTable
    by : (str, tuple of values) or None
    why_not : str
    made_here : bool
        Whether they are not those of the certificate.
    declared : bool
        Whether values of some attribute do not come from the rows, so that nobody may have them.
    """

    points: tuple[PointsTable, ...]
    by: tuple[str, tuple[Value, ...]] | None = None
    why_not: str = ""
    made_here: bool = False
    declared: bool = False

    @property
    def values(self) -> int:
        """How many values there are to choose from, over all attributes, for each of the classifiers."""
        return sum(self._sizes) * len(self.points)

    def least(self, room: Room) -> int:
        """How many bytes the form and the bars take at the least, which is known before they are drawn."""
        if not self.points or len(self.points[0].classes) == 1:
            return 0
        form = OPTION_BYTES * sum(self._sizes) if room.form else 0
        if room.attributes is not None or len(self.points[0].classes) > MOST_COLUMNS:
            return form
        rows = sum(size if room.values is None else min(size, room.values) for size in self._sizes)
        return form + ROW_BYTES * rows * min(len(self.points), room.strata)

    @property
    def _sizes(self) -> list[int]:
        return [len(values) for _, values, _ in self.points[0].attributes] if self.points else []


def release_facts(release: Release, verification: Verification) -> Facts:
    """Of one release."""
    try:
        points = (points_of(release),)
        carried = _carries_points(release.certificate)
        rules = Rules(points, made_here=not carried, declared=_is_declared(release))
    except Infeasible:
        cases = amount_text(release.certificate.tuples)
        rules = Rules((), why_not=f"its domain has {cases} cases, too many to show that points decide alike")
    except ValueError:
        rules = Rules((), why_not="no small whole numbers were found that decide as its counts do")
    return _facts([release], rules, verification, METHODS[release.certificate.method])


def _is_declared(release: Release) -> bool:
    """Whether values of some attribute were declared."""
    return not {*release.views.attributes} <= {*undeclared(release.views)}


def strata_facts(made: StratifiedRelease, verification: Verification) -> Facts:
    """Of a release for each value of a column."""
    points = tuple(PointsTable.of(release) for release in made.strata.values())
    releases = list(made.strata.values())
    rules = Rules(points, (made.by, tuple(made.strata)), declared=_is_declared(releases[0]))
    origin = f"{len(releases):,} canonical releases, one for each value of {value_text(made.by)}"
    return _facts(releases, rules, verification, origin)


def _facts(releases: Sequence[Release], rules: Rules, verification: Verification, origin: str) -> Facts:
    first = releases[0]
    class_name = "the class" if first.class_name is None else value_text(first.class_name)
    many = len(releases) > 1
    title = f"What {'do these classifiers' if many else 'does this classifier'} say of {class_name}?"
    certificate = first.certificate
    worst = max(
        (posterior for release in releases for posterior in worst_posteriors(release.views)),
        key=lambda posterior: posterior.probability,
    )
    return Facts(
        origin=origin,
        title=title,
        answer=_answer(releases, rules, worst),
        tiles=[
            _limit_tile(releases, worst, verification),
            None,
            _same_tile(releases),
            _privacy_tile(certificate),
        ],
        cards=lambda room: _cards(rules, room),
        script=trying_script if rules.points and len(first.views.classes) > 1 else None,
        least=rules.least,
    )


def _answer(releases: Sequence[Release], rules: Rules, worst: WorstPosterior) -> list[Element | str]:
    """What is said, of how many cases, and what it tells of people at most."""
    first = releases[0]
    labels = value_texts(first.views.classes)
    n = len(first.views.attributes)
    of = f"from {n:,} attribute{'s' * (n != 1)}"
    if rules.by is not None:
        of += f", by one classifier for each of {len(rules.by[1]):,} values of {value_text(rules.by[0])}"
    said: list[Element | str] = ["It answers ", *_or(labels), " in each of "]
    if len(releases) > 1:
        said[0] = "They answer "
    always = {one_answer(points) for points in rules.points} if len(labels) > 1 else {0}
    only = always.pop() if len(always) == 1 else None
    if only is not None:
        alike = "They answer" if len(releases) > 1 else "It answers"
        said = [f"{alike} always ", bold(labels[only]), ", in each of "]
    tuples = first.certificate.tuples * len(releases)
    return [
        *said,
        bold(amount_text(tuples)),
        f" possible cases, {of}. To a reader of the counts nobody is more than ",
        bold(bound_text(worst.probability)),
        " likely to be of one class: a limit on what the numbers say, and none on what the answers tell.",
        *([] if only is None or len(labels) == 1 else [bold(OF_NO_USE)]),
    ]


def _or(labels: Sequence[str]) -> list[Element | str]:
    """Bold labels, the last after "or"."""
    shown = [bold(text) for text in labels[:4]]
    last: Element | str = shown.pop() if len(labels) <= 4 else f"{len(labels) - 4:,} more"
    pieces: list[Element | str] = []
    for label in shown:
        pieces += [label, ", "]
    return [*pieces[:-1], " or ", last] if pieces else [last]


def _limit_tile(releases: Sequence[Release], worst: WorstPosterior, verification: Verification) -> Tile:
    certificate, check = releases[0].certificate, _of_checks(verification, "amplification")
    text = f"is the most that a reader of the counts can say of anybody; {in_decimals(check.text)}"
    if len(releases) > 1:
        limit = amount(certificate.limit)
        text = f"is the most that a reader of the counts can say of anybody; Lambda of each is <= {limit}"
    state: State = STATE_OF[check.passed]
    if certificate.r is not None:
        text += f"; {in_decimals(_of_checks(verification, 'closeness').text)}"
    if check.passed is None:
        text += f", where {amount(certificate.limit)} is the limit"
    return Tile(state, "Limit kept", bound_text(worst.probability), text)


def _of_checks(verification: Verification, name: str) -> Check:
    return next(check for check in verification.checks if check.name == name)


def _same_tile(releases: Sequence[Release]) -> Tile:
    """What is claimed of the private classifier: no published file can show it."""
    lines = list(dict.fromkeys(same_line(release) for release in releases))
    claimed = f"by the publisher: {'; '.join(lines[:3])}{'; ..' if len(lines) > 3 else ''}"
    equal = {release.certificate.equal for release in releases}
    made = releases[0].certificate.canonical
    if None in equal and (made is None or made.listed is None):
        return Tile("unmeasured", "Same decisions", "not known", f"{claimed}; nobody has compared them")
    if False in equal:
        return Tile("warned", "Same decisions", "not all (claimed)", f"{claimed}; no published file shows it")
    return Tile("unmeasured", "Same decisions", "claimed", f"{claimed}; no published file shows it")


def _privacy_tile(certificate: Certificate) -> Tile:
    if certificate.privacy is None:
        return NO_DP
    return Tile(
        "unmeasured",
        "Differential privacy",
        f"{certificate.privacy.level} (claimed)",
        f"about one person {certificate.privacy.words}; no file can show that its coins were thrown",
    )


def _carries_points(certificate: Certificate) -> bool:
    return certificate.canonical is not None and certificate.canonical.listed is None


def _cards(rules: Rules, room: Room) -> list[Element]:
    """The form and the rule, in the room that the page has for them."""
    if not rules.points:
        text = (
            f"This release has no points to add up: {rules.why_not}. Its counts decide; nbcfast predict DIR "
            "FILE --out FILE answers for a table."
        )
        return [card("The rule that is published", paragraph(text))]
    cards = []
    form = points_form(rules.points, rules.by) if room.form else None
    if form is not None:
        told = paragraph(form_told(rules.points[0], rules.by), kind="nbc-quiet")
        cards.append(card("Try it", told, form, kind="no-print"))
    elif len(rules.points[0].classes) > 1:
        text = (
            f"There is no form to try it here: {rules.values:,} values do not fit into a page that is sent "
            "by mail. nbcfast predict DIR FILE --out FILE answers for a table."
        )
        cards.append(card("Try it", paragraph(text)))
    cards.append(card("The rule that is published", *_rule(rules, room)))
    return cards


def _rule(rules: Rules, room: Room) -> list[Element]:
    pieces: list[Element] = []
    if rules.by is None:
        pieces = rule_pieces(rules.points[0], room.values, room.attributes)
    else:
        name, values = rules.by
        of_each = list(zip(value_texts(values), rules.points, strict=True))
        for place, (value, points) in enumerate(of_each[: room.strata]):
            heading = f"Where {value_text(name)} is {value}"
            inside = rule_pieces(points, room.values, room.attributes)
            pieces.append(
                more(heading, *inside) if place else element("div", element("h3", heading), *inside)
            )
        if len(of_each) > room.strata:
            left = len(of_each) - room.strata
            pieces.append(
                paragraph(f"The rules of {left:,} more values of {value_text(name)} are not shown here.")
            )
    notes = [NO_COUNT, *([MADE_HERE] if rules.made_here else []), *([WHO_HAS] if rules.declared else [])]
    if room.values is not None or room.attributes is not None:
        notes.append("certificate.json has the numbers of all values, and nbcfast points DIR lists them.")
    return [*pieces, paragraph(" ".join(notes), kind="nbc-quiet")]
