"""The certificate of a partition: a table in which groups of people share generalised values."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from nbcfast._wire.chosen_numbers import chosen, demanded
from nbcfast._wire.json_entries import Refused, canonical_json, shown, whole
from nbcfast._wire.messages import SOME_NAMES, decimal_text, in_quotes, named
from nbcfast._wire.regular_files import TABLE
from nbcfast._wire.table_form import WITHHELD, TableForm, cells_of, columns_of, plain_cells, texts_of
from nbcfast._wire.typed_values import element, label, set_text, value, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbcfast._wire.json_entries import Fields
    from nbcfast._wire.outcomes import Decided
    from nbcfast._wire.table_form import RowCounts
    from nbcfast._wire.typed_values import Typed


PARTITION = (
    "Safe is meant against an adversary who knows everybody's quasi-identifiers and the pieces of knowledge "
    "that the points allow, and takes all assignments of a group's values to its people for equally likely. "
    "It is not differential privacy: who learns a model of the data, or knows how the groups were made, may "
    "infer more."
)
WITHIN_GROUPS = (
    "What was asked for is about the values of the sensitive column within groups, to an adversary who knows "
    "everybody's quasi-identifiers and nothing else, and takes all assignments of a group's values to its "
    "people for equally likely. It is not differential privacy: who knows more of some people, learns a "
    "model of the data, or knows how the groups were made, may infer more."
)
ONLY_SIZES = (
    "Only the size of groups was asked for, and nothing of their sensitive values: all people of a group may "
    "have the same, and who knows that somebody is in it then knows his. It is not differential privacy."
)


def partition_note(points: bool, values: bool) -> str:
    """What its demands mean: whether there are points, or else any of the values within groups."""
    return PARTITION if points else WITHIN_GROUPS if values else ONLY_SIZES


class PartitionDocument(TableForm):
    """The certificate of a partition.

    `columns` are (name, cells) of the generalised columns, a cell being (text in table.csv, typed values);
    `values` those of the sensitive column, (text, typed value) each.
    """

    names: ClassVar[set[str]] = {
        "closeness",
        "columns",
        "diversity",
        "format",
        "groups",
        "k",
        "kind",
        "method",
        "notes",
        "order",
        "points",
        "rows",
        "seeded",
        "sensitive",
        "sha256",
        "table_sha256",
        "version",
        "warnings",
        "weights",
    }
    may_have: ClassVar[set[str]] = {"parquet_sha256"}
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "kind": ("partition",),
        "method": ("mondrian",),
        "order": ("canonical", "shuffled"),
    }
    optional = ("weights",)
    check_of_words = "words"
    distances = ("equal", "ordered")

    def table(self, fields: Fields) -> list[tuple[str, list[str]]]:
        self.groups = whole(fields["groups"], "field 'groups'")
        self.points = self._points(fields["points"])
        self.k = None if fields["k"] is None else demanded(fields["k"], "field 'k'")
        if self.k == 0:
            raise Refused("field 'k': expected at least 1, got 0")
        self.diversity: tuple[Fraction, int] | None = None
        if fields["diversity"] is not None:
            c, l = self._pair("diversity")
            self.diversity = chosen(c, "field 'diversity'"), demanded(l, "field 'diversity'")
            if self.diversity[0] == 0 or self.diversity[1] == 0:
                raise Refused(f"field 'diversity': expected c, l > 0, got {shown(fields['diversity'])}")
        self.closeness: tuple[Fraction, str] | None = None
        if fields["closeness"] is not None:
            t, distance = self._pair("closeness")
            if distance not in self.distances:
                raise Refused(f"field 'closeness': expected one of {self.distances}, got {shown(distance)}")
            self.closeness = chosen(t, "field 'closeness'"), distance
        if not self.points and self.k is None and self.diversity is None and self.closeness is None:
            raise Refused("fields 'points', 'k', 'diversity', 'closeness': expected a demand, got none")
        self.columns = [
            (name, self._generalised(cells, f"column {name!r}"))
            for name, cells in columns_of(fields["columns"])
        ]
        entry = fields["sensitive"]
        if type(entry) is not dict or set(entry) != {"name", "values"} or type(entry["name"]) is not str:
            raise Refused(f"field 'sensitive': expected a name and values, got {shown(entry)}")
        values = self.diversity is not None or self.closeness is not None
        note = partition_note(bool(self.points), values)
        self.expect_words([note], fields["warnings"])  # of groups, which are not here yet
        self.sensitive: str = entry["name"]
        where = "field 'sensitive'"
        cells = cells_of(entry["values"], where)
        if any(len(values) != 1 for _, values in cells):
            raise Refused(f"{where}: expected one value for each text")
        # One value under two texts would pass for two values, and a group that has no other for a mixed one.
        self.values = plain_cells([(text, values[0]) for text, values in cells], where)
        if any(kind == "suppressed" for _, (kind, _) in self.values):
            raise Refused(f"{where}: {WITHHELD}")
        if self.closeness is not None and self.closeness[1] == "ordered":
            _natural([typed for _, typed in self.values], where)
        return [
            *((name, texts_of(cells)) for name, cells in self.columns),
            (self.sensitive, texts_of(self.values)),
        ]

    def claims(self, decided: Decided) -> list[str]:
        found = super().claims(decided)
        kinds = {kind for _, (kind, _) in self.values}
        ordered = self.closeness is not None and self.closeness[1] == "ordered"
        if ordered and len(self.values) > 2 and kinds & {"text", "bool"}:
            order = listed_order(self.values)
            found.append(f"The values of {named(self.sensitive)} have this order: {order}.")
        found += self._unused([self.sensitive])
        for name, cells in self.columns:
            free = [text for text, values in cells if len(values) > 1 and text != set_text(values)]
            if free:
                names = ", ".join(map(named, free))
                found.append(f"Sets of values of {named(name)} are called {names}.")
        return found

    def use(self, rows: RowCounts) -> str | None:
        fault = super().use(rows)
        for name, _ in self.columns:
            if name in self.unused:
                return (
                    f"{TABLE}: no row has the cell {self.unused[name][0]!r} of {named(name)}, which is listed"
                )
        return fault

    def _pair(self, name: str) -> tuple[object, object]:
        entry = self.fields[name]
        if type(entry) is not list or len(entry) != 2:
            raise Refused(f"field {name!r}: expected a pair, got {shown(entry)}")
        return entry[0], entry[1]

    @staticmethod
    def _points(entry: object) -> list[tuple[int, int, int, Fraction]]:
        if type(entry) is not list:
            raise Refused(f"field 'points': expected a list, got {shown(entry)}")
        points = []
        for point in entry:
            if type(point) is not list or len(point) != 4:
                raise Refused(f"field 'points': expected [l, k, m, confidence], got {shown(point)}")
            l, k, m = (demanded(number, "field 'points'") for number in point[:3])
            confidence = chosen(point[3], "field 'points'")
            if not 0 < confidence <= 1:
                raise Refused(f"field 'points': expected a confidence in (0, 1], got {shown(point[3])}")
            points.append((l, k, m, confidence))
        if len({f"{l:x} {k:x} {m:x}" for l, k, m, _ in points}) < len(points):
            raise Refused("field 'points': expected one confidence for each l, k and m, got two")
        return points

    @staticmethod
    def _generalised(cells: list[tuple[str, list[object]]], where: str) -> list[tuple[str, list[Typed]]]:
        found: list[tuple[str, list[Typed]]] = []
        lists: set[str] = set()  # texts, as in a domain
        for text, entry in cells:
            if not entry:
                raise Refused(f"{where}: expected values of {text!r}, got none")
            values = [value(one, where) for one in entry]
            if canonical_json(entry) in lists:
                raise Refused(f"{where}: expected distinct values, got those of {text!r} twice")
            lists.add(canonical_json(entry))
            found.append((text, values))
        # Names of sets are free, but none may pass for a value, and a value has its own text.
        own = {element(one): one for _, values in found for one in values}
        for text, values in found:
            expected = element(values[0]) if len(values) == 1 else None
            if text != expected and (expected is not None or text in own):
                of = label(values[0]) if expected is not None else f"{len(values)} values"
                wanted = "another text" if expected is None else f"the text {expected!r}"
                raise Refused(f"{where}: expected {wanted} of {of}, got {text!r}")
        return found


def _natural(values: list[Typed], where: str) -> None:
    """Refuse numbers and intervals that do not rise: in another order other distances are small."""
    for (kind, one), (following, other) in zip(values, values[1:]):  # noqa: B905, RUF007
        # Intervals rise in every domain.
        if kind == following and kind in ("int", "float") and not one < other:
            raise Refused(
                f"{where}: ordered distances take the order of numbers, expected more than {one}, got {other}"
            )


def listed_order(values: list[tuple[str, Typed]]) -> str:
    more = ", .." if len(values) > SOME_NAMES else ""
    return ", ".join(value_text(typed) for _, typed in values[:SOME_NAMES]) + more


def partition_warnings(
    k: int | None,
    diversity: tuple[Fraction, int] | None,
    closeness: tuple[Fraction, str] | None,
    sensitive: str,
    certain: tuple[int, int, int],
) -> Iterator[str]:
    """The warnings that follow from the demands of a partition, and from its groups.

    `certain` are (groups with one value of the sensitive column, all groups, people in the former).
    """
    if k == 1:
        yield "k = 1 demands nothing."
    if diversity is not None and diversity[1] == 1 and diversity[0] > 1:
        yield f"({decimal_text(diversity[0])}, 1)-diversity demands nothing."
    if closeness is not None and closeness[0] >= 1:
        yield f"{decimal_text(closeness[0])}-closeness demands nothing: no distance is above 1."
    alike, groups, people = certain
    if alike:
        yield (
            f"In {alike:,} of {groups:,} groups, of {people:,} people, all have the same value of "
            f"{in_quotes(sensitive)}: who knows that somebody is in one knows the value."
        )
