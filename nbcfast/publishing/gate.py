"""The gate: what a release would give away beyond its limits, in words, so that nothing leaves unseen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from nbcfast._core.chances import bound_text
from nbcfast._core.numbers import amount_text
from nbcfast._markup.fragments import result
from nbcfast._markup.page_parts import State as State
from nbcfast._markup.page_parts import findings
from nbcfast._wire.release_words import undeclared_text
from nbcfast.canonical import Leak, Limits
from nbcfast.canonical.publish import undeclared
from nbcfast.ledger import LedgerReport
from nbcfast.publishing.remarks import alone_in, names_people
from nbcfast.publishing.remembered import Remembered
from nbcfast.publishing.words import label
from nbcfast.table.values import Value
from nbcfast.views import Viewset

# "shows" and "unmeasured" keep a release from leaving, "warned" does not, and "kept" is a limit that is kept.
STATES: tuple[State, ...] = ("shows", "unmeasured", "warned", "kept")  # in the order in which they are said
MOST_NAMED = 3  # values that are named, where each of many would be
REMEMBERS = "remembers its rows"
# Which limit a finding is of, by what it is about.
LIMIT_OF = {
    "one class only": "max_one_class",
    "values of one class": "max_one_class",
    "no attribute": "max_one_class",
    "counts come back": "max_found",
    "class shows": "min_flip",
    "presence shows": "min_trace",
    REMEMBERS: "min_flip",
    "too fine answers": "max_bits",
    "bits a weight": "max_bits",
}
UNMEASURED = "it would take too much work on so large a domain"


@dataclass(frozen=True)
class GateFinding:
    """One thing that was looked at before a release leaves.

    Attributes
    ----------
    about : str
        What was looked at, in a few words.
    state : {"shows", "unmeasured", "warned", "kept"}
        Whether it gives somebody away beyond a limit; could not be measured, which keeps no limit; is for the
        publisher to weigh; or keeps its limit.
    text : str
        What that means, with the values and numbers of people behind it.
    """

    about: str
    state: State
    text: str

    @property
    def refuses(self) -> bool:
        """Whether nothing leaves unless the publisher accepts it."""
        return self.state in ("shows", "unmeasured")

    def to_dict(self) -> dict[str, str]:
        """Plain values."""
        return {"about": self.about, "state": self.state, "text": self.text}


def gate_html(of: Iterable[GateFinding], *, refused: bool, shows: bool, written: bool) -> str:
    """What a notebook shows of a publication: whether it may leave, and what was looked at."""
    listed = sorted_findings(of)
    published = "published" if written else "would be published"
    if refused:
        verdict = "DO NOT PUBLISH YET"
    elif shows:
        verdict = f"{published} although this shows (accepted)"
    elif any(finding.state != "kept" for finding in listed):
        verdict = f"{published}, every limit kept; mind what is marked !"
    else:
        verdict = f"{published}, every check green"
    state: State = listed[0].state if listed else "warned"
    found = findings((finding.state, finding.about, finding.text) for finding in listed)
    return result(state, verdict, found, private=True)


class GivenBack(NamedTuple):
    """What the totals attack finds.

    Attributes
    ----------
    found, cells : int
        Values whose counts it finds exactly, and all values.
    null_found : int
        Those that totals alone give.
    """

    found: int
    cells: int
    null_found: int


class ReleaseMeasures(NamedTuple):
    """What was measured of a release that has not left yet.

    Attributes
    ----------
    leak : Leak or None
        What all answers give away.
    why_not : str or None
        Why that was not measured, where it was not.
    given_back : GivenBack or None
        What totals give back of counts from what would be published.
    remembered : Remembered or None
        None of a single class.
    """

    leak: Leak | None
    why_not: str | None
    given_back: GivenBack | None
    remembered: Remembered | None


def naming(views: Viewset) -> list[str]:
    """The attributes whose values are nearly those of single rows."""
    return [
        name
        for name in views.attributes
        if names_people(_occurring(views, name), int(views.n_rows), alone_in(views, name))
    ]


def _occurring(views: Viewset, name: str) -> int:
    """How many values of an attribute somebody has: a declared domain may have others, which name nobody."""
    return int((views.counts[name].sum(axis=1) > 0).sum())


def named_people(views: Viewset) -> list[GateFinding]:
    """A finding for each attribute that names people: its values are published, each with its best class."""
    found = []
    for name in naming(views):
        alone = alone_in(views, name)
        people = f", {amount_text(alone)} of them of one person each" if alone else ""
        text = (
            f"{label(name)} has {amount_text(_occurring(views, name))} values in "
            f"{amount_text(views.n_rows)} rows{people}: it names people, and the answers say the class of "
            "each: leave it out, or bin it"
        )
        found.append(GateFinding("names people", "shows", text))
    return found


def judged(
    views: Viewset, class_name: str, measured: ReleaseMeasures, limits: Limits
) -> tuple[GateFinding, ...]:
    """All findings, what refuses first."""
    of_limits = list(_of_one_class(views, class_name, limits))
    if len(views.classes) > 1:
        leak = measured.leak
        of_limits += _given_back(measured, limits, bool(views.attributes))
        of_limits += [] if leak is None else _shown(leak, limits)
        of_limits += _remembered(measured.remembered, limits)
        of_limits += [_without_meter(measured, limits)] if leak is None else _bits(leak, limits)
    found = [*named_people(views), *(_told(finding, limits) for finding in of_limits)]
    from_rows = undeclared(views)
    if from_rows:
        found.append(GateFinding("not declared", "warned", undeclared_text(from_rows)))
    found += _one_valued(views)
    return sorted_findings(found)


def _told(finding: GateFinding, limits: Limits) -> GateFinding:
    """A finding of a limit: what keeps nothing back says why."""
    if finding.state != "warned":
        return finding
    return GateFinding(
        finding.about, "warned", f"{finding.text} ({_why(LIMIT_OF.get(finding.about), limits)})"
    )


def _why(name: str | None, limits: Limits) -> str:
    """Why what shows may leave: by whose limit, or for want of one."""
    limit = None if name is None else getattr(limits, name)
    if name is None or limit is None:
        return "and no limit was asked for"
    if limit == getattr(Limits(), name):
        return f"within the usual limit: {limit_text(name, limit)}; mind them"
    return "and the limit that was asked for allows it"


def limit_text(name: str, limit: float) -> str:
    """What a limit allows: of shares of people who do not show, how many may show.

    Examples
    --------
    >>> limit_text("min_flip", 0.99), limit_text("max_bits", 8.0)
    ('at most 1.00% of people may show', 'at most 8 may be')
    """
    if name.startswith("min_"):
        return f"at most {round((1 - limit) * 100, 9):.2f}% of people may show"
    return f"at most {limit:,g} may be"


def shown_state(state: State | None, share: float | None) -> State | None:
    """What people who show are, beside their limit: where anybody does, no limit makes it green.

    `share` is that of people who do not show.
    """
    return "warned" if state in (None, "kept") and share is not None and share < 1 else state


def _state(limits: Limits, name: str, number: float | None) -> State | None:
    """What a measure is by its limit, or None where none was demanded and the usual one would be kept.

    Whoever allows more than usual is warned as whoever allows everything: no limit is so wide that what it
    lets through is green.
    """
    usual = Limits().kept(name, number)
    if getattr(limits, name) is None:
        return None if usual else "warned"
    kept = limits.kept(name, number)
    if kept:
        return "kept" if usual else "warned"
    return "unmeasured" if kept is None else "shows"


class OneClassValue(NamedTuple):
    """A value that people of one class alone have.

    Attributes
    ----------
    name : str
        The attribute.
    value : object
    people : int
        Who have it.
    of_class : object
        The class of all of them.
    """

    name: str
    value: Value
    people: int
    of_class: Value


def one_class_values(views: Viewset) -> list[OneClassValue]:
    """All of them; those of the most people first, so that what is cut off is of fewer."""
    found = [
        OneClassValue(name, value, int(row.sum()), views.classes[int(row.argmax())])
        for name in views.attributes
        for value, row in zip(views.domain(name), views.counts[name], strict=True)
        if int((row > 0).sum()) == 1
    ]
    return sorted(found, key=lambda one: -one.people)


def _of_one_class(views: Viewset, class_name: str, limits: Limits) -> Iterator[GateFinding]:
    """Values that people of one class alone have: a rule that the answers show."""
    about = "values of one class"
    if len(views.classes) == 1:
        state = _state(limits, "max_one_class", float(sum(map(len, views.counts.values())) or 1))
        text = (
            f"everybody in the table is of {label(class_name)} {label(views.classes[0])}, and whoever knows "
            "that somebody is in it knows his: is it the column that was meant?"
        )
        yield GateFinding("one class only", state or "warned", text)
        return
    rules = one_class_values(views)
    state = _state(limits, "max_one_class", float(len(rules)))
    if not views.attributes:
        yield GateFinding(
            "no attribute", "kept", "no value has people of one class: everybody gets one answer"
        )
        return
    if not rules:
        yield GateFinding(about, "kept", "none: every value that occurs has people of at least two classes")
        return
    if state == "kept":
        yield GateFinding(about, state, f"{len(rules):,} (at most {limits.max_one_class:,} may be)")
        return
    for name, value, people, of_class in rules[:MOST_NAMED]:
        whose = "that person" if people == 1 else f"all {amount_text(people)} of them"
        how_many = "that one person has" if people == 1 else "how many people have"
        text = (
            f"whoever knows {how_many} {label(name)} = {label(value)} reads the class of {whose}: "
            f"{label(of_class)}"
        )
        yield GateFinding(about, state or "warned", text)
    if len(rules) > MOST_NAMED:
        others = sum(people for _, _, people, _ in rules[MOST_NAMED:])
        text = (
            f"and of {len(rules) - MOST_NAMED:,} more values of one class each, with "
            f"{amount_text(others)} {'person' if others == 1 else 'people'}"
        )
        yield GateFinding(about, state or "warned", text)


def _given_back(measured: ReleaseMeasures, limits: Limits, of_values: bool) -> Iterator[GateFinding]:
    """Counts that public totals give back; without attributes there are none but these totals."""
    about, back = "counts come back", measured.given_back
    state = _state(limits, "max_found", None if back is None else back.found)
    if state is None:
        return
    if back is None:
        why = measured.why_not or UNMEASURED
        yield GateFinding(about, state, f"not measured, so take it that all of them do: {why}")
        return
    alone = ""
    if back.null_found:
        alone = f"; that of {back.null_found:,} follows from these totals alone, without any release"
    if state == "kept" and not back.found:
        text = f"of none of {back.cells:,} values, to whoever knows the totals of values and classes"
        yield GateFinding(about, state, f"{text}{alone}")
        return
    many = f"{back.found:,} of {back.cells:,} values"
    text = (
        "whoever knows how many people have each value, and how many are of each class, computes exactly "
        f"how many people of each class have a value, for {many}{alone}"
    )
    if not of_values:
        text = "whoever knows how many are of each class knows all that was counted, without any release"
    limit = limits.max_found
    yield GateFinding(about, state, text if state != "kept" else f"{text} (at most {limit:,} may)")


def _without_meter(measured: ReleaseMeasures, limits: Limits) -> GateFinding:
    """That the meter measures nothing of such a release, which is never a sign of safety."""
    demanded = (limits.max_bits, limits.min_flip, limits.min_trace)
    state: State = "warned" if all(limit is None for limit in demanded) else "unmeasured"
    return GateFinding("not measured", state, str(measured.why_not))


def _shown(leak: Leak, limits: Limits) -> Iterator[GateFinding]:
    """People whose class, or who themselves, show in the answers."""
    for about, name, what, how in (
        ("class shows", "min_flip", "class", "reads it off them"),
        ("presence shows", "min_trace", "presence", "reads off them whether he is in the table"),
    ):
        share = leak.flip if name == "min_flip" else leak.trace
        most = leak.flip_shows_at_most if name == "min_flip" else leak.trace_shows_at_most
        state = shown_state(_state_of_people(limits, name, share, most), share)
        if state is None:
            continue
        if share is None:
            yield GateFinding(about, state, f"not measured: {UNMEASURED}")
            continue
        n_people = leak.sampled
        shows = leak.shows_class if name == "min_flip" else leak.shows_presence
        of = f"of all {amount_text(n_people)} people" if leak.exact else f"of {n_people:,} people looked at"
        sample = (
            "" if most is None else f"; not all were looked at, and of all people {_up_to(most)} may show so"
        )
        if not shows:
            yield GateFinding(about, state, f"{of} the {what} of none shows in the answers{sample}")
            continue
        text = (
            f"{of} the {what} of {amount_text(shows)} shows in the answers: whoever knows everybody else's "
            f"row {how}{sample}"
        )
        yield GateFinding(about, state, text)


def _up_to(most: float) -> str:
    """How many of all people may show, of whom some were looked at."""
    return "every one" if most >= 1 else f"up to {bound_text(most)}"


def _state_of_people(limits: Limits, name: str, share: float | None, most: float | None) -> State | None:
    """What a share of people is by its limit; of a sample `most` is how many of all may show."""
    state = _state(limits, name, share)
    if share is None or most is None:
        return state
    if state == "kept":
        # Of those looked at so few show, and of all more may.
        proved = _state(limits, name, 1 - most)
        return "unmeasured" if proved == "shows" else proved or state
    return "unmeasured" if state == "warned" and limits.kept(name, 1 - most) is False else state


def beside_earlier(report: LedgerReport, limits: Limits) -> tuple[GateFinding, ...]:
    """What a release gives away beside all earlier ones of its table, by the limits that one alone has."""
    found = []
    if report.rows is not None and report.sign is None:
        found.append(GateFinding("rows came, went", "warned" if report.few else "kept", report.moved_text))
    if report.sign is not None:
        decided: State = "warned" if limits.min_flip is None else "shows"
        state: State = decided if report.sign.decides else "warned"
        found.append(GateFinding("one row alone", state, report.sign.text))
    joint = report.joint
    if joint is not None:
        for about, name, share, most, text in (
            ("class, together", "min_flip", joint.flip, joint.flip_shows_at_most, joint.class_text),
            ("presence, together", "min_trace", joint.trace, joint.trace_shows_at_most, joint.presence_text),
        ):
            state_of_all = shown_state(_state_of_people(limits, name, share, most), share)
            found.append(GateFinding(about, state_of_all or "kept", text))
    if report.why_not is not None:
        measured: State = "unmeasured" if joint is None and limits.min_flip is not None else "warned"
        found.append(GateFinding("together", measured, report.why_not_text))
    found += [GateFinding("ledger", "warned", text) for text in report.care]
    return tuple(found)


def sorted_findings(findings: Iterable[GateFinding]) -> tuple[GateFinding, ...]:
    """What refuses first."""
    return tuple(sorted(findings, key=lambda finding: STATES.index(finding.state)))


def _remembered(remembered: Remembered | None, limits: Limits) -> Iterator[GateFinding]:
    """That a classifier is right about people because it has counted them."""
    if remembered is None:
        return
    people, by_own_row = remembered.people, remembered.by_own_row
    # Whoever is answered rightly by his own row shows, so no more than this share can be flipped unseen.
    state = _state(limits, "min_flip", 1 - by_own_row / people)
    if state is None:
        return
    accuracy, without = remembered.correct / people, remembered.without / people
    shares = f"{accuracy:.2%} are answered right, and {without:.2%} by a classifier that has not counted them"
    whom = f"{amount_text(by_own_row)} of {amount_text(people)} people are"
    if not by_own_row:
        whom = f"none of {amount_text(people)} people is"
    elif by_own_row == 1:
        whom = f"1 of {amount_text(people)} people is"
    text = f"{whom} answered right only because they were counted themselves: {shares}"
    yield GateFinding(REMEMBERS, state, text)


def _bits(leak: Leak, limits: Limits) -> Iterator[GateFinding]:
    """How fine the answers are."""
    about = "too fine answers"
    state = _state(limits, "max_bits", leak.bits)
    if state is None:
        return
    if leak.bits is None:
        yield GateFinding("bits a weight", state, f"not measured: {UNMEASURED}")
        return
    amount = f"{max(leak.bits, 0.0):.1f} bits a weight"
    if state == "kept":
        yield GateFinding("bits a weight", state, f"{amount} (at most {limits.max_bits:g} may be)")
        return
    limit = limits.max_bits if state == "shows" else Limits().max_bits
    text = f"the answers carry {amount}, and {limit:g} are the limit: from such fine answers counts come back"
    yield GateFinding(about, state, text)


def _one_valued(views: Viewset) -> Iterator[GateFinding]:
    """Attributes that say nothing, or the same of everybody."""
    for name in views.attributes:
        totals = views.counts[name].sum(axis=1)
        if int((totals > 0).sum()) == 1:
            value = views.domain(name)[int(totals.argmax())]
            # Without any attribute the same one answer would be published, which shows as much.
            rest = ", and can be left out" if len(views.attributes) > 1 else ""
            text = f"everybody has {label(name)} = {label(value)}: it decides nothing{rest}"
            yield GateFinding("one value only", "warned", text)
