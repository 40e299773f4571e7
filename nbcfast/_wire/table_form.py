"""What certificates of tables have in common: columns, and the texts of their cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbcfast._wire.form import Form
from nbcfast._wire.json_entries import Refused, shown, whole
from nbcfast._wire.messages import named
from nbcfast._wire.regular_files import PARQUET, TABLE
from nbcfast._wire.typed_values import domain, label, spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nbcfast._wire.json_entries import Fields
    from nbcfast._wire.outcomes import Decided, Judged
    from nbcfast._wire.typed_values import Typed

    RowCounts = dict[tuple[int, ...], int]  # places of a row's values in the columns of the table -> people


SHUFFLED = "Rows of the table stand in an order that was drawn at random{}."


class TableForm(Form):
    """A thing whose folder holds a table.csv.

    `header` are the names of the columns in it, and `places` says of each column but that of the weights what
    texts it may have, and which of its values each is.
    """

    flags = ("seeded",)
    hashes = ("sha256", "table_sha256", "parquet_sha256")
    unused: dict[str, list[str]]  # texts of each column that no row has, once the rows are read

    @property
    def files(self) -> tuple[str, ...]:
        return (TABLE, PARQUET) if "parquet_sha256" in self.fields else (TABLE,)

    def beside(self, folder: str) -> Judged:
        """What is found of the other files of the folder, but for the table's copy."""
        return []

    def read(self, fields: Fields) -> None:
        self.rows = whole(fields["rows"], "field 'rows'")
        self.weights: str | None = fields.get("weights")
        self.canonical_order: bool = fields.get("order", "canonical") == "canonical"
        if fields.get("order") == "canonical" and fields["seeded"]:
            raise Refused(
                "field 'seeded': expected false, as nothing is drawn for the canonical order, got true"
            )
        columns = self.table(fields)
        self.places = [{text: place for place, text in enumerate(texts)} for _, texts in columns]
        self.header = [name for name, _ in columns]
        if self.weights is not None:
            self.header.append(self.weights)
        if len(set(self.header)) < len(self.header):
            raise Refused(f"expected distinct names of columns, got {shown(self.header)}")

    def use(self, rows: RowCounts) -> str | None:
        """Keep which values no row has; a sentence about what may not be one of these, or None."""
        self.unused = {}
        for i, places in enumerate(self.places):
            used = {row[i] for row in rows}
            if len(used) < len(places):
                self.unused[self.header[i]] = [text for text, place in places.items() if place not in used]
        return None

    def _unused(self, columns: Iterable[str]) -> list[str]:
        """That values of these columns are listed though no row has them: whatever they say is a claim."""
        return [
            f"{named(name)} may have values that no row has: {', '.join(map(named, self.unused[name]))}."
            for name in columns
            if name in getattr(self, "unused", {})
        ]

    def claims(self, decided: Decided) -> list[str]:
        if self.canonical_order:
            return []
        return [SHUFFLED.format(", by a generator with a seed" if self.fields["seeded"] else "")]

    def table(self, fields: Fields) -> list[tuple[str, list[str]]]:
        """Check and keep the fields that are of this kind alone; the columns and their texts in the table."""
        raise NotImplementedError


def columns_of(entry: object) -> list[tuple[str, list[tuple[str, list[object]]]]]:
    """The columns of a table: the name, and (text in table.csv, what it stands for) of each cell."""
    if type(entry) is not list or not entry:
        raise Refused(f"field 'columns': expected a list, got {shown(entry)}")
    found = []
    for column in entry:
        if type(column) is not dict or set(column) != {"cells", "name"} or type(column["name"]) is not str:
            raise Refused(f"field 'columns': expected entries with a name and cells, got {shown(column)}")
        found.append((column["name"], cells_of(column["cells"], f"column {column['name']!r}")))
    return found


def cells_of(entry: object, where: str) -> list[tuple[str, list[object]]]:
    """Pairs of a text, each another one, and a list, which is what it stands for."""
    if type(entry) is not list or not entry:
        raise Refused(f"{where}: expected a list of texts and values, got {shown(entry)}")
    seen: set[str] = set()
    for pair in entry:
        if type(pair) is not list or [type(part) for part in pair] != [str, list]:
            raise Refused(f"{where}: expected a text and its value, got {shown(pair)}")
        if pair[0] in seen:
            raise Refused(f"{where}: expected distinct texts, got {pair[0]!r} twice")
        seen.add(pair[0])
    return [(text, stands_for) for text, stands_for in entry]


def plain_cells(cells: Sequence[tuple[str, object]], where: str) -> list[tuple[str, Typed]]:
    """Cells of a column as it was in the data: one value has one text, and that is its own."""
    values = domain([typed for _, typed in cells], where)
    found = []
    for (text, _), typed in zip(cells, values):  # noqa: B905  # also for Python before 3.10
        # Or a text could pass for another value than that which is counted.
        expected = spelled(typed)
        if text != expected:
            raise Refused(f"{where}: expected the text {expected!r} of {label(typed)}, got {text!r}")
        found.append((text, typed))
    return found


def texts_of(cells: Sequence[tuple[str, object]]) -> list[str]:
    return [text for text, _ in cells]


# A value that is withheld is not counted, and whatever is demanded of its share holds.
WITHHELD = "expected values that are not suppressed, as what is withheld is in no count"
