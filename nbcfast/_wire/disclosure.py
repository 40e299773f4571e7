"""The certificate of a disclosure, a table with suppressed values, and the checks of its templates."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from nbcfast._wire.chosen_numbers import chosen
from nbcfast._wire.json_entries import Refused, canonical_json, rational, shown
from nbcfast._wire.messages import named, number_text
from nbcfast._wire.outcomes import SOME_TIMES, TOO_MANY
from nbcfast._wire.table_csv import judge_rows
from nbcfast._wire.table_form import WITHHELD, TableForm, columns_of, plain_cells, texts_of
from nbcfast._wire.typed_values import label, value

if TYPE_CHECKING:
    from nbcfast._wire.json_entries import Fields
    from nbcfast._wire.outcomes import Decided, Judged
    from nbcfast._wire.table_form import RowCounts


DISCLOSURE = (
    "The templates hold for the groups of rows that share the known columns. It is not differential privacy: "
    "inferences from other columns, or to other values, are not limited, and who knows how values were "
    "chosen for suppression may infer more."
)
MOST_MATCHED = 1 << 24  # rows, for all templates


class DisclosureTemplate:
    """An inference that the certificate limits, and the confidence that it states."""

    def __init__(self, entry: object, columns: dict[str, dict[str, int]]) -> None:
        names = {"attribute", "confidence", "limit", "quasi", "value"}
        if type(entry) is not dict or set(entry) != names:
            raise Refused(f"field 'templates': expected entries with {sorted(names)}, got {shown(entry)}")
        quasi, self.attribute = entry["quasi"], entry["attribute"]
        if type(quasi) is not list or not quasi:
            raise Refused(f"field 'templates': expected a list of columns, got {shown(quasi)}")
        for name in (*quasi, self.attribute):
            if type(name) is not str or name not in columns:
                raise Refused(f"field 'templates': expected names of columns, got {shown(name)}")
        if len(set(quasi)) < len(quasi) or self.attribute in quasi:
            raise Refused(
                f"field 'templates': expected distinct columns, got {shown([*quasi, self.attribute])}"
            )
        self.quasi: tuple[str, ...] = tuple(quasi)
        self.value = value(entry["value"], "field 'templates'")
        if self.value[0] == "suppressed" or canonical_json(entry["value"]) not in columns[self.attribute]:
            raise Refused(
                f"field 'templates': expected a value of {self.attribute!r}, got {shown(entry['value'])}"
            )
        self.place = columns[self.attribute][canonical_json(entry["value"])]
        self.limit = chosen(entry["limit"], "field 'templates'")
        self.confidence = rational(entry["confidence"], "field 'templates'")
        if self.limit > 1 or self.confidence > 1:
            raise Refused(f"field 'templates': expected a limit and a confidence up to 1, got {shown(entry)}")

    @property
    def inference(self) -> str:
        known = ", ".join(map(named, self.quasi))
        return f"{known} -> {named(self.attribute)}={label(self.value)}"


class DisclosureDocument(TableForm):
    """The certificate of a disclosure.

    `columns` are (name, cells), a cell being (text in table.csv, typed value).
    """

    names: ClassVar[set[str]] = {
        "columns",
        "format",
        "kind",
        "masked",
        "method",
        "notes",
        "order",
        "rows",
        "seeded",
        "sha256",
        "table_sha256",
        "target",
        "templates",
        "utility",
        "version",
        "warnings",
        "weights",
    }
    may_have: ClassVar[set[str]] = {"parquet_sha256"}
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "kind": ("disclosure",),
        "method": ("top-down disclosure",),
        "order": ("canonical", "shuffled"),
        "utility": ("information", "distortion"),
    }
    lists = ("masked", "notes", "warnings")
    optional = ("target", "weights")

    def table(self, fields: Fields) -> list[tuple[str, list[str]]]:
        self.columns = [
            (name, plain_cells(cells, f"column {name!r}")) for name, cells in columns_of(fields["columns"])
        ]
        # By text, as whoever writes the file chooses numbers that share their hash.
        columns = {
            column["name"]: {canonical_json(typed): place for place, (_, typed) in enumerate(column["cells"])}
            for column in fields["columns"]
        }
        for name in (*fields["masked"], *([] if fields["target"] is None else [fields["target"]])):
            if name not in columns:
                raise Refused(f"fields 'masked', 'target': expected names of columns, got {shown(name)}")
        self.expect_words([DISCLOSURE], [])
        if type(fields["templates"]) is not list or not fields["templates"]:
            raise Refused(f"field 'templates': expected a list, got {shown(fields['templates'])}")
        self.templates = [DisclosureTemplate(entry, columns) for entry in fields["templates"]]
        seen = {
            canonical_json([sorted(entry["quasi"]), entry["attribute"], entry["value"]])
            for entry in fields["templates"]
        }
        if len(seen) < len(self.templates):
            raise Refused("field 'templates': expected one limit for each inference, got one twice")
        known = {name for template in self.templates for name in template.quasi}
        kept = {fields["target"], *(template.attribute for template in self.templates)}
        masked = [name for name in columns if name in known and name not in kept]
        if fields["masked"] != masked:
            raise Refused(f"field 'masked': expected {shown(masked)}, got {shown(fields['masked'])}")
        for name, cells in self.columns:
            if name not in masked and any(kind == "suppressed" for _, (kind, _) in cells):
                raise Refused(f"column {named(name)}, which is not one of 'masked': {WITHHELD}")
        return [(name, texts_of(cells)) for name, cells in self.columns]

    def claims(self, decided: Decided) -> list[str]:
        found = super().claims(decided) + self._unused(self.header)
        if any(holds is None for name, holds in decided.items() if name.startswith("template")):
            found.append(DISCLOSURE)
        return found


def judge_disclosure(document: DisclosureDocument, rows: RowCounts) -> Judged:
    """Every template, on the rows of a table."""
    results: Judged = [judge_rows(document, rows)]
    places = {name: place for place, (name, _) in enumerate(document.columns)}
    matched = 0
    for number, template in enumerate(document.templates, 1):
        matched += len(rows) * (1 + len(template.quasi))
        if matched > MOST_MATCHED and number > SOME_TIMES:
            results.append((f"template {number}", None, f"{template.inference}: {TOO_MANY}"))
            continue
        known = [places[name] for name in template.quasi]
        column = places[template.attribute]
        sensitive = template.place
        groups: dict[tuple[int, ...], list[int]] = {}
        for row, count in rows.items():
            group = groups.setdefault(tuple(row[place] for place in known), [0, 0])
            group[0] += count
            group[1] += count if row[column] == sensitive else 0
        total, hits = 1, 0
        for n, found in groups.values():
            if found * total > hits * n:
                total, hits = n, found
        confidence = Fraction(hits, total)
        holds = confidence <= template.limit
        sign = "<=" if holds else ">"
        text = f"{template.inference}: {number_text(confidence)} {sign} {number_text(template.limit)}"
        if confidence != template.confidence:
            text += f"; the certificate says {number_text(template.confidence)}"
        results.append((f"template {number}", holds and confidence == template.confidence, text))
    return results
