"""What is wrong with counts of a release: a zero, sums that no table has, classes that were swapped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbcfast._wire.json_entries import digest
from nbcfast._wire.messages import short
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast._wire.typed_values import label

if TYPE_CHECKING:
    from collections.abc import Callable


GUESSED_BYTES = 50_000_000


def what_changed(document: ReleaseDocument, stated: str, size: int) -> str:
    """What was changed since the sha256 was taken, as far as that can be told."""
    fields = document.fields
    n_classes = len(document.classes)
    # The hash tells whether a guess is right. For a large file the guesses would take too long.
    few = size * n_classes**2 <= GUESSED_BYTES
    pairs = [(c, d) for d in range(n_classes) for c in range(d)] if few else []
    for c, d in pairs:
        swap = _swapped(c, d)
        relabelled = {**fields, "classes": swap(fields["classes"])}
        whole_classes = {
            **relabelled,
            "class_counts": swap(fields["class_counts"]),
            "attributes": [
                {**one, "counts": [swap(row) for row in one["counts"]]} for one in fields["attributes"]
            ],
        }
        if document.prior is not None:
            whole_classes["prior"] = swap(fields["prior"])
        names = f"{label(document.classes[c])} and {label(document.classes[d])}"
        if digest(relabelled) == stated:
            return f"the classes {names} are swapped"
        if digest(whole_classes) == stated:
            return f"the precedence of the classes {names} is swapped"
    fault = unpositive(document) or unrealistic(document)
    return fault or "a digit, name or label is not what it was"


def _swapped(c: int, d: int) -> Callable[[list[object]], list[object]]:
    def swap(entries: list[object]) -> list[object]:
        entries = list(entries)
        entries[c], entries[d] = entries[d], entries[c]
        return entries

    return swap


def unpositive(document: ReleaseDocument) -> str | None:
    """A sentence about a count of 0, or None."""
    for c, number in enumerate(document.class_counts):
        if number == 0:
            return f"the count of class {label(document.classes[c])} is 0, and must be positive"
    for name, values, counts in document.attributes:
        for one, row in zip(values, counts):  # noqa: B905
            if 0 in row:
                of = label(document.classes[row.index(0)])
                where = f"attribute {name!r}, value {label(one)}, class {of}"
                return f"{where}: the count is 0, and must be positive"
    return None


def unrealistic(document: ReleaseDocument) -> str | None:
    """A sentence about counts that no table has, or None."""
    faults = []
    for name, _, counts in document.attributes:
        sums = [sum(column) for column in zip(*counts)]  # noqa: B905
        faults += [(name, c, sums[c]) for c in range(len(sums)) if sums[c] != document.class_counts[c]]
    if not faults:
        return None
    name, c, found = faults[0]
    of, stated = label(document.classes[c]), document.class_counts[c]
    if len(document.attributes) > 1 and [(fault[1], fault[2]) for fault in faults] == [(c, found)] * len(
        document.attributes
    ):
        return (
            f"class {of}: its count is {short(stated)}, but its counts in every attribute add up to "
            f"{short(found)}; no table has such counts"
        )
    return (
        f"attribute {name!r}, class {of}: the counts add up to {short(found)}, but the class count is "
        f"{short(stated)}; no table has such counts"
    )
