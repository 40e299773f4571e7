"""Notes and warnings of a release, which follow from its other fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbcfast._wire.messages import listing
from nbcfast._wire.privacy_form import NoiseEntry, privacy_note, weak_text
from nbcfast._wire.smoothing_form import private_text, smoothing_note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction


GUARANTEE = (
    "The limit holds against an attacker who takes these counts as those of the data. It is not differential "
    "privacy, and an attacker who knows the method can undo part of it."
)
FLATTENED = "Counts, here and in a synthetic table, are powers of those of the data, and not its marginals."
ORIGINAL = "These are the original counts of the data."
ARTIFICIAL = (
    "Attribute marginals and class shares, here and in a synthetic table, are artificial, and not those of "
    "the data."
)
ANSWERS = (
    "This release was computed from the classifier's answers on the declared domain and from nothing else. "
    "Whoever holds it learns exactly what he would learn by asking the classifier about every tuple of that "
    "domain, no more and no less, and no other exactly equivalent release reveals less."
)
DEPENDS = (
    "How much that is depends on the domain: whoever also knows public marginals may get counts back from "
    "the answers alone, on small domains too, and the more of them the more tuples there are for each value. "
    "The limit binds only a reader who takes the numbers for raw counts. "
    "This is not differential privacy, and a second release from changed data reveals a second classifier."
)
SOME_ANSWERS = (
    "This release was computed from the classifier's answers on a list of tuples and from nothing else. "
    "Whoever holds it learns no more than he would learn by asking the classifier about these, if the list "
    "is public, as the publisher says."
)
PUBLIC = "The list of tuples is public, and was not made of the private rows."
ROUNDED_ANSWERS = (
    "This release was computed from the classifier's answers on the declared domain and from nothing else, "
    "and its points were rounded: whoever holds it learns no more than he would learn by asking the "
    "classifier about every tuple of that domain."
)
FEW_ROWS = (
    "This release was computed from the classifier's answers on the declared domain and from nothing else, "
    "and its counts were rounded to so few rows that they decide otherwise on some tuples, as its points do: "
    "whoever holds it learns no more than he would learn by asking the classifier about every tuple of that "
    "domain."
)
# The same where values of the domain were taken from the rows.
OCCURRING = (
    "This release was computed from the classifier's answers on a domain with values that come from the "
    "rows, and from nothing else"
)
OCCURRING_ANSWERS = (
    f"{OCCURRING}. Whoever holds it learns which values occur, and exactly what he would learn by asking "
    "the classifier about every tuple of that domain, no more and no less, and no other release that is "
    "equivalent on the values that occur reveals less."
)
OCCURRING_SOME_ANSWERS = (
    "This release was computed from the classifier's answers on a list of tuples, and from the values of "
    "a domain that come from the rows. Whoever holds it learns which values occur, and no more besides "
    "than he would learn by asking the classifier about these tuples, if the list is public, as the "
    "publisher says."
)
OCCURRING_ROUNDED_ANSWERS = (
    f"{OCCURRING}, and its points were rounded: whoever holds it learns which values occur, and no more "
    "besides than he would learn by asking the classifier about every tuple of that domain."
)
OCCURRING_FEW_ROWS = (
    f"{OCCURRING}, and its counts were rounded to so few rows that they decide otherwise on some tuples, "
    "as its points do: whoever holds it learns which values occur, and no more besides than he would "
    "learn by asking the classifier about every tuple of that domain."
)

# The same of noisy counts, of which every domain was declared.
NOISY = "This release was computed from the answers of a classifier made from noisy counts"
NOISY_GUARANTEE = (
    "The limit holds against an attacker who takes these counts as those of the data, and an attacker who "
    "knows the method can undo part of it: what protects people from him is the noise, if it was drawn as "
    "the publisher says."
)
NOISY_FLATTENED = (
    "Counts, here and in a synthetic table, are powers of noisy counts, and no marginals of the data."
)
NOISY_ORIGINAL = "These are the noisy counts as they are, and not those of the data."
NOISY_ANSWERS = (
    f"{NOISY}, on the declared domain and from nothing else. Whoever holds it learns exactly what he would "
    "learn by asking that classifier about every tuple of that domain, no more and no less, and no other "
    "exactly equivalent release reveals less."
)
NOISY_SOME_ANSWERS = (
    f"{NOISY}, on a list of tuples and from nothing else. Whoever holds it learns no more than he would "
    "learn by asking that classifier about these, if the list is public, as the publisher says."
)
NOISY_ROUNDED_ANSWERS = (
    f"{NOISY}, on the declared domain and from nothing else, and its points were rounded: whoever holds it "
    "learns no more than he would learn by asking that classifier about every tuple of that domain."
)
NOISY_FEW_ROWS = (
    f"{NOISY}, on the declared domain and from nothing else, and its counts were rounded to so few rows that "
    "they decide otherwise on some tuples, as its points do: whoever holds it learns no more than he would "
    "learn by asking that classifier about every tuple of that domain."
)
NOISY_DEPENDS = (
    "The limit binds only a reader who takes the numbers for raw counts. What protects people from all "
    "others is the noise, if it was drawn as the publisher says: then counts that come back from the answers "
    "are the noisy ones."
)


# The same words whatever was measured: an option of the publisher, and nothing that his rows have changed.
ACCEPTED = (
    "The publisher accepted whatever the answers give away: limits on that need neither be kept nor have "
    "been measured, and counts, and classes of people, may follow from the answers."
)


def release_notes(identity: bool, gauge: bool, privacy: NoiseEntry | None = None) -> tuple[str, ...]:
    """What a recipient of powers of counts has to know about them."""
    made = made_text(identity, gauge, privacy)
    return (GUARANTEE, made) if privacy is None else (NOISY_GUARANTEE, privacy_note(privacy), made)


def made_text(identity: bool, gauge: bool, privacy: NoiseEntry | None) -> str:
    """What counts of such a release are, if not those of the data."""
    if privacy is None:
        return ORIGINAL if identity else ARTIFICIAL if gauge else FLATTENED
    return NOISY_ORIGINAL if identity else ARTIFICIAL if gauge else NOISY_FLATTENED


def release_warnings(
    identity: bool,
    differing: int | None,
    preserve: str,
    accepted: bool = False,
    altered: Fraction | NoiseEntry | None = None,
) -> Iterator[str]:
    """The warnings that follow from the fields of such a release."""
    if accepted:
        yield ACCEPTED
    yield from weak_noise(altered)
    if identity and altered is None:
        yield "The counts of the data leave as they are: they were safe, and no gauge was asked for."
    if differing is None:
        yield unknown_text(altered)
    elif differing:
        yield differing_text(differing, preserve, altered)


def weak_noise(altered: Fraction | NoiseEntry | None) -> Iterator[str]:
    """The warning of noise that promises next to nothing, where it is one."""
    weak = weak_text(altered) if isinstance(altered, NoiseEntry) else None
    if weak is not None:
        yield weak


def unknown_text(altered: Fraction | NoiseEntry | None = None) -> str:
    """The warning that nobody has compared the classifiers."""
    return f"Whether all tuples are decided as by {private_text(altered)} is not known."


UNKNOWN = unknown_text()


def differing_text(differing: int, preserve: str, altered: Fraction | NoiseEntry | None = None) -> str:
    """The warning that so many tuples are decided otherwise."""
    what = "another order of classes" if preserve == "order" else "another best class"
    return f"{differing:,} tuples have {what} than in {private_text(altered)}."


def listed_text(
    tuples: int, differing: int, preserve: str, altered: Fraction | NoiseEntry | None = None
) -> str:
    """The warning that so many of the listed tuples are decided otherwise."""
    what = "another order of classes" if preserve == "order" else "another best class"
    return (
        f"{differing:,} of the {tuples:,} listed tuples have {what} than in {private_text(altered)}; "
        "elsewhere answers may be others too."
    )


def canonical_notes(
    listed: bool,
    equal: bool | None,
    bits: int | None,
    altered: Fraction | NoiseEntry | None = None,
    undeclared: Sequence[str | None] = (),
) -> tuple[str, ...]:
    """What a recipient of a canonical release has to know about its numbers."""
    if isinstance(altered, NoiseEntry):
        first = _noisy_answers(listed, equal, bits)
    elif listed:
        first = OCCURRING_SOME_ANSWERS if undeclared else SOME_ANSWERS
    elif equal:
        first = OCCURRING_ANSWERS if undeclared else ANSWERS
    elif bits is None:
        first = OCCURRING_FEW_ROWS if undeclared else FEW_ROWS
    else:
        first = OCCURRING_ROUNDED_ANSWERS if undeclared else ROUNDED_ANSWERS
    if isinstance(altered, NoiseEntry):
        return (first, NOISY_DEPENDS, privacy_note(altered), ARTIFICIAL)
    smoothed = () if altered is None else (smoothing_note(altered),)
    return (first, DEPENDS, *smoothed, ARTIFICIAL)


def _noisy_answers(listed: bool, equal: bool | None, bits: int | None) -> str:
    if listed:
        return NOISY_SOME_ANSWERS
    return NOISY_ANSWERS if equal else NOISY_FEW_ROWS if bits is None else NOISY_ROUNDED_ANSWERS


def canonical_warnings(
    undeclared: Sequence[str | None],
    listed: tuple[int, int] | None,
    differing: int | None,
    preserve: str,
    reproducible: bool,
    accepted: bool = False,
    altered: Fraction | NoiseEntry | None = None,
) -> Iterator[str]:
    """The warnings that follow from the fields of a canonical release; `listed` is (tuples, differing)."""
    if accepted:
        yield ACCEPTED
    yield from weak_noise(altered)
    if undeclared:
        yield undeclared_text(undeclared)
    if listed is not None and listed[1]:
        yield listed_text(*listed, preserve, altered)
    elif listed is not None:
        views = private_text(altered)
        yield f"Beyond the {listed[0]:,} listed tuples answers may be others than in {views}."
    if differing:
        yield differing_text(differing, preserve, altered)
    elif differing is None and listed is None:
        yield unknown_text(altered)
    if not reproducible:
        yield "Another machine may find other points that are as good."


def undeclared_text(names: Sequence[str | None]) -> str:
    """The warning that values of these attributes, and of the class if None is there, come from rows."""
    return (
        f"The values of {listing(names)} come from the rows and were not declared: which values occur is "
        "published, and that is outside the guarantee."
    )
