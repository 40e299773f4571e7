"""The certificate of strata: a release for each value of a column, which selects the one that decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from nbcfast._wire.form import Form
from nbcfast._wire.json_entries import Refused, TooLong, digest, shown
from nbcfast._wire.messages import SOME_NAMES, named
from nbcfast._wire.outcomes import outcome
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast._wire.release_words import undeclared_text
from nbcfast._wire.typed_values import domain, in_words, label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbcfast._wire.json_entries import Fields
    from nbcfast._wire.outcomes import Decided, Judged
MOST_STRATA = 1_000
SOME_STRATA = 8  # that may take as much work each as a release alone; more share what these may take
# What each stratum has for itself. Of everything else, and of what later versions add, all have the same.
OWN_FIELDS = {
    "attributes",  # of which names and values are the same
    "canonical",
    "class_counts",
    "differing_rows",
    "differing_tuples",
    "equivalence",
    "notes",
    "sha256",
    "warnings",
}
OWN_OF_CANONICAL = {"constants", "points", "reproducible"}
INCOMPARABLE = (
    "Scores, counts and posteriors of different strata are not comparable: each stratum has a scale of its "
    "own, and how many people of the data it has is in none of them."
)


class StrataDocument(Form):
    """A list of canonical releases with the value of a column each.

    `by` is the column, `values` are typed, and `releases` the ReleaseDocument of each, in their order.
    """

    names: ClassVar[set[str]] = {
        "by",
        "format",
        "kind",
        "method",
        "notes",
        "sha256",
        "strata",
        "undeclared",
        "version",
        "warnings",
    }
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"kind": ("strata",), "method": ("canonical",)}
    flags = ("undeclared",)

    def read(self, fields: Fields) -> None:
        if type(fields["by"]) is not str:
            raise Refused(f"field 'by': expected a text, got {shown(fields['by'])}")
        self.by: str = fields["by"]
        entries = fields["strata"]
        if type(entries) is not list or not entries:
            raise Refused(f"field 'strata': expected a list of strata, got {shown(entries)}")
        if len(entries) > MOST_STRATA:
            raise TooLong(
                f"field 'strata': not checked here: {len(entries):,} strata, and up to {MOST_STRATA:,} are"
            )
        for entry in entries:
            if type(entry) is not dict or set(entry) != {"release", "value"}:
                raise Refused(f"field 'strata': expected release and value, got {shown(entry)}")
        self.values = domain([entry["value"] for entry in entries], "field 'strata'")
        self.labels = [label(value) for value in self.values]
        self.releases: list[ReleaseDocument] = []
        for of, entry in zip(self.labels, entries):  # noqa: B905
            try:
                self.releases.append(_release(entry["release"]))
            except TooLong as error:
                raise TooLong(f"stratum {of}: {error}") from None
            except Refused as error:
                raise Refused(f"stratum {of}: {error}") from None
            self.releases[-1].sharing = -(-len(entries) // SOME_STRATA)
        first = self.releases[0]
        if self.by == first.fields["class_name"] or any(self.by == name for name, _, _ in first.attributes):
            raise Refused(f"field 'by': expected neither the class nor an attribute, got {shown(self.by)}")
        for of, document in zip(self.labels, self.releases):  # noqa: B905
            other = _other(first, document)
            if other is not None:
                raise Refused(f"stratum {of}: expected the {other} of stratum {self.labels[0]}")
        if first.advice is not None and first.advice.strata and first.advice.by_column != self.by:
            raise Refused(f"field 'by': expected the column that the advice has chosen, got {shown(self.by)}")
        if fields["version"] != first.fields["version"]:
            raise Refused(f"field 'version': expected that of the strata, got {shown(fields['version'])}")
        # The limits of a choice are those of one classifier, unless it was between these strata too.
        for_one = first.advice is not None and not first.advice.strata
        self.expect_words(
            strata_notes(self.by, len(entries)),
            strata_warnings(self.by, undeclared=fields["undeclared"], advised_for_one=for_one),
        )

    def claims(self, decided: Decided) -> list[str]:
        found = of_strata(self.labels, [document.claims(decided) for document in self.releases])
        found.append(
            f"That strata are those of {named(self.by)}, and its values in this order, were chosen by the "
            f"publisher, and are no answers of the classifier: {in_words(self.values)}."
        )
        if not self.fields["undeclared"]:
            found.append(f"The values of {named(self.by)} were declared, and do not come from the rows.")
        return found

    def words(self, decided: Decided) -> tuple[list[str], list[str]]:
        # Of each stratum those that it would be told with alone: it knows which of its words are claims.
        each = [document.words(decided) for document in self.releases]
        warnings = [*self.fields["warnings"], *of_strata(self.labels, [pair[0] for pair in each])]
        own = [] if outcome(decided.values()) is False else self.fields["notes"]
        return warnings, [*own, *of_strata(self.labels, [pair[1] for pair in each])]


def strata_notes(by: str, number: int) -> tuple[str, ...]:
    """What a recipient of a list of so many releases has to know about it."""
    many = "1 release" if number == 1 else f"{number:,} releases"
    return (
        f"The value that somebody has of {named(by)} selects which of {many} decides, and no other is asked: "
        "whoever holds them all learns what he would learn by asking each of them about every tuple.",
        INCOMPARABLE,
    )


def strata_warnings(by: str, *, undeclared: bool, advised_for_one: bool) -> Iterator[str]:
    """The warnings of the list, beside those of each release in it.

    `advised_for_one` says that the domain was chosen, and not between these strata and one classifier.
    """
    if undeclared:
        yield undeclared_text([by])
    if advised_for_one:
        yield (
            "The domain was chosen for one classifier of all rows: the limits that the choice had to keep "
            f"are the publisher's claim of that one, and say nothing of one for each value of {named(by)}."
        )


def _release(entry: object) -> ReleaseDocument:
    """A stratum: what would be the certificate of its release alone."""
    if type(entry) is not dict or entry.get("kind") != "release" or entry.get("method") != "canonical":
        raise Refused(f"expected the certificate of a canonical release, got {shown(entry)}")
    if "privacy" in entry:  # no maker adds noise by strata, and what they cost together is not said
        raise Refused("field 'privacy' goes with a release alone, and not with strata")
    document = ReleaseDocument(entry)
    if digest(entry) != entry["sha256"]:
        raise Refused("its sha256 does not match, the file was changed")
    if document.canonical is not None and document.canonical["listed"] is not None:
        raise Refused("expected answers on the whole domain, got some on a list of tuples")
    return document


def _other(first: ReleaseDocument, document: ReleaseDocument) -> str | None:
    """What of a stratum is not that of the first, and has to be; None where there is nothing."""
    one, other = first.fields, document.fields
    name: str
    if set(one) != set(other):
        return "fields"
    for name in sorted(set(one) - OWN_FIELDS):
        if one[name] != other[name]:
            return name
    for name in sorted(set(one["canonical"]) - OWN_OF_CANONICAL):
        if one["canonical"][name] != other["canonical"][name]:
            return name
    if [name for name, _, _ in first.attributes] != [name for name, _, _ in document.attributes]:
        return "names of attributes"
    for entry, same in zip(one["attributes"], other["attributes"]):  # noqa: B905
        if entry["values"] != same["values"]:
            return f"values of {named(entry['name'])}"
    return None


def of_strata(labels: Sequence[str], each: Sequence[Sequence[str]]) -> list[str]:
    """Sentences of strata, each once: one that is not of all says of which it is."""
    places: dict[str, list[str]] = {}
    for of, texts in zip(labels, each):  # noqa: B905
        for text in dict.fromkeys(texts):
            places.setdefault(text, []).append(of)
    return [text if len(some) == len(labels) else f"{_strata(some)}: {text}" for text, some in places.items()]


def _strata(labels: Sequence[str]) -> str:
    """The strata in words."""
    if len(labels) == 1:
        return f"Stratum {labels[0]}"
    more = len(labels) - SOME_NAMES
    return f"Strata {', '.join(labels[:SOME_NAMES])}{f' and {more:,} more' if more > 0 else ''}"


def checks_of_strata(labels: Sequence[str], each: Sequence[Judged]) -> Judged:
    """The checks of each stratum as those of them all: what does not hold in one of them does not hold."""
    found: dict[str, list[tuple[str, bool | None, str]]] = {}
    for of, results in zip(labels, each):  # noqa: B905
        for name, holds, text in results:
            found.setdefault(name, []).append((of, holds, text))
    together: Judged = []
    for name, entries in found.items():
        holds = outcome(one for _, one, _ in entries)
        told = [(of, text) for of, one, text in entries if one is holds]
        texts = {text for _, text in told}
        if len(texts) == 1 and len(told) == len(labels):
            said = told[0][1] if len(labels) == 1 else f"in all {len(labels):,} strata: {told[0][1]}"
        else:
            more = len(told) - SOME_NAMES
            said = "; ".join(f"stratum {of}: {text}" for of, text in told[:SOME_NAMES])
            said += f"; and {more:,} more" if more > 0 else ""
        together.append((name, holds, said))
    return together
