"""The certificate of disguised answers, and what their scheme hides."""

from __future__ import annotations

import os
import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from nbcfast._wire.chosen_numbers import MOST_DIGITS, long_point
from nbcfast._wire.coins import LIES, exposed, greatest_odds, scheme_fields, useless
from nbcfast._wire.json_entries import FORMAT, Refused, rational, shown
from nbcfast._wire.long_products import product_of
from nbcfast._wire.messages import decimal_text, named, number_text
from nbcfast._wire.regular_files import CUTS, SCHEME, TABLE, judge_copy
from nbcfast._wire.scheme import disguised_warnings, unbounded
from nbcfast._wire.table_csv import judge_rows
from nbcfast._wire.table_form import TableForm, columns_of, plain_cells, texts_of
from nbcfast._wire.typed_values import domain

if TYPE_CHECKING:
    from nbcfast._wire.json_entries import Fields
    from nbcfast._wire.outcomes import Decided, Judged
    from nbcfast._wire.table_form import RowCounts
    from nbcfast._wire.typed_values import Typed


POINT = r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9]|/[1-9][0-9]*)?"
LONGEST_POINT = 1024
MOST_CUT = 8_000  # characters of the values of a column that is cut in two
# The texts that Arrow's durations, dates and moments become, as the library sorts them.
DURATION = re.compile(r"(-?)PT([0-9]+(?:\.[0-9]+)?)S")
DATE = re.compile(r"([0-9]{4,}|-[0-9]{3,})(-[0-9]{2}-[0-9]{2}(?:T.*)?)")
COINS = "The coins of a cryptographic generator were thrown for every answer."


def check_cut(name: str, cut: object) -> None:
    """Refuse what is no place where a column was made two-valued, or could hide a text."""
    where = "field 'cuts'"
    if type(cut) is not dict or set(cut) != {"point", "values"} or type(cut["values"]) is not list:
        raise Refused(f"{where}: expected a point and values of {name!r}, got {shown(cut)}")
    point, values = cut["point"], cut["values"]
    # The library makes no longer ones of doubles.
    if type(point) is not str or len(point) > LONGEST_POINT or not re.fullmatch(POINT, point):
        raise Refused(f"{where}: expected a number as text of {name!r}, got {shown(point)}")
    number = Fraction(point)
    if long_point(number):
        raise Refused(
            f"{where}: beyond what a limit may carry: the point of {name!r}, expected up to "
            f"{MOST_DIGITS} digits besides zeros"
        )
    if point != decimal_text(number):
        raise Refused(f"{where}: expected {decimal_text(number)} for {name!r}, got {point}")
    kinds = {type(one) for one in values}
    if kinds not in (set(), {str}, {bool}) or len(set(values)) < len(values):
        raise Refused(f"{where}: expected distinct values of {name!r}, got {shown(values)}")
    places = {f"{place // 2}{'.5' if place % 2 else ''}" for place in range(2 * len(values) - 1)}
    if values and point not in places:
        raise Refused(f"{where}: expected a place in the list of {name!r}, got {shown(point)}")
    if values != _sorted(values):
        raise Refused(f"{where}: expected the values of {name!r} in their order, got {shown(values)}")
    if sum(len(str(one)) + 2 for one in values) > MOST_CUT:
        raise Refused(
            f"{where}: expected values of {name!r} of up to {MOST_CUT:,} characters, as all of them "
            "are printed"
        )


class DisguisedDocument(TableForm):
    """The certificate of disguised answers.

    `columns` are (name, cells), a cell being (text in table.csv, typed value); `groups` are (theta, names);
    `lie` is None in a binary scheme; `declared` are the domains of the scheme.
    """

    names: ClassVar[set[str]] = {
        "columns",
        "format",
        "kind",
        "method",
        "notes",
        "privacy",
        "rows",
        "scheme",
        "seeded",
        "sha256",
        "table_sha256",
        "version",
        "warnings",
    }
    may_have: ClassVar[set[str]] = {"cuts"}
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "kind": ("disguised",),
        "method": ("randomised response",),
    }
    check_of_words = "untouched"
    admitted = ("coins", "hidden")

    def table(self, fields: Fields) -> list[tuple[str, list[str]]]:
        self.columns = [
            (name, plain_cells(cells, f"column {name!r}")) for name, cells in columns_of(fields["columns"])
        ]
        entry = fields["privacy"]
        if type(entry) is not list:
            raise Refused(f"field 'privacy': expected a list, got {shown(entry)}")
        self.privacy = [None if odds is None else rational(odds, "field 'privacy'") for odds in entry]
        self.lie, self.groups, self.declared = self._scheme(fields["scheme"])
        found = {name: [typed for _, typed in cells] for name, cells in self.columns}
        for name, typed in self.declared.items():
            if name not in found:
                raise Refused(f"field 'scheme': {name!r} is no column of the table")
            if found[name] != typed:
                raise Refused(f"field 'scheme': the domain of {name!r} is not that of the column")
        if "cuts" in fields:
            self._check_cuts(fields["cuts"])
        return [(name, texts_of(cells)) for name, cells in self.columns]

    @property
    def files(self) -> tuple[str, ...]:
        return (TABLE, SCHEME, CUTS) if "cuts" in self.fields else (TABLE, SCHEME)

    def beside(self, folder: str) -> Judged:
        copies = [(SCHEME, self.fields["scheme"], "the scheme"), (CUTS, self.fields.get("cuts"), "the cuts")]
        return [
            (name.partition(".")[0], *judge_copy(os.path.join(folder, name), entry, what))
            for name, entry, what in copies
            if name in self.files and os.path.lexists(os.path.join(folder, name))
        ]

    def _check_cuts(self, entry: object) -> None:
        """Where columns of the scheme were made two-valued: a number, or a place in a list of values."""
        where = "field 'cuts'"
        if type(entry) is not dict or not entry:
            raise Refused(f"{where}: expected a point and values of each column, got {shown(entry)}")
        for name, cut in entry.items():
            if self.declared.get(name) != [("int", 0), ("int", 1)]:
                raise Refused(f"{where}: expected columns of the scheme with values 0 and 1, got {name!r}")
            check_cut(name, cut)

    @staticmethod
    def _scheme(entry: object) -> tuple[str | None, list[tuple[Fraction, list[str]]], dict[str, list[Typed]]]:
        where = "field 'scheme'"
        kind = entry.get("kind") if type(entry) is dict else None
        version = entry.get("format") if type(entry) is dict else None
        if (
            type(entry) is not dict
            or set(entry) != scheme_fields(kind)
            or type(version) is not int
            or version != FORMAT
        ):
            raise Refused(f"{where}: expected a binary or k-ary scheme, got {shown(entry)}")
        lie = entry.get("lie")
        if kind == "k-ary" and lie not in LIES:
            raise Refused(f"{where}: expected lie 'each' or 'tuple', got {shown(lie)}")
        if type(entry["groups"]) is not list or not entry["groups"]:
            raise Refused(f"{where}: expected groups, got {shown(entry['groups'])}")
        groups: list[tuple[Fraction, list[str]]] = []
        for group in entry["groups"]:
            if type(group) is not dict or set(group) != {"columns", "theta"}:
                raise Refused(f"{where}: expected columns and theta, got {shown(group)}")
            columns, theta = group["columns"], rational(group["theta"], where)
            if type(columns) is not list or not columns or any(type(name) is not str for name in columns):
                raise Refused(f"{where}: expected names of columns, got {shown(columns)}")
            if theta > 1 or theta.denominator >= 2**63:
                raise Refused(
                    f"{where}: expected a theta up to 1 with a denominator below 2^63, "
                    f"got {shown(group['theta'])}"
                )
            groups.append((theta, columns))
        every = [name for _, columns in groups for name in columns]
        if len(set(every)) < len(every):
            raise Refused(f"{where}: expected groups that do not overlap, got {shown(every)}")
        if type(entry["domains"]) is not dict or sorted(entry["domains"]) != sorted(every):
            raise Refused(f"{where}: expected the domain of each of its columns, and no other")
        declared = {name: domain(values, f"domain of {name!r}") for name, values in entry["domains"].items()}
        for name, values in declared.items():
            if len(values) < 2 or (kind == "binary" and len(values) != 2):
                raise Refused(f"{where}: {name!r} has {len(values)} values")
            if kind == "binary" and any(one[0] == "null" for one in values):
                raise Refused(f"{where}: {name!r} has missing answers, which a binary scheme cannot hide")
        for theta, columns in groups:
            sizes = [len(declared[name]) for name in columns]
            if kind == "k-ary" and product_of(sizes) >= 2**62:
                raise Refused(f"{where}: expected fewer than 2^62 tuples of values, got {shown(columns)}")
            if any(useless(theta, sizes, lie)):
                raise Refused(
                    f"{where}: expected a theta at which answers tell something, got {number_text(theta)}"
                )
        return lie, groups, declared

    told = (
        "Each answer was disguised by the scheme before it was told; what its coins hide does not depend on "
        "what anybody knows. No file can show that they were thrown.",
        "Who answers twice, or is in two such tables, tells more: epsilons add up.",
    )

    def claims(self, decided: Decided) -> list[str]:
        found = [] if self.fields["seeded"] else [self.told[0], COINS]
        found += self._unused(name for name in self.untouched)
        for name, cut in sorted(self.fields.get("cuts", {}).items()):
            above = f"a number above {cut['point']}"
            if cut["values"]:
                first = int(Fraction(cut["point"])) + 1
                parts = (cut["values"][first:], cut["values"][:first])
                above, below = (", ".join(named(str(one)) for one in part) or "nothing" for part in parts)
                above += f", and a 0 for {below}"
            found.append(f"Before it was disguised, {named(name)} was cut in two: a 1 stands for {above}.")
        return found

    def warned(self) -> list[str]:
        """What the certificate has to warn of: all columns without a coin, and groups without an epsilon."""
        return disguised_warnings(
            self.untouched,
            [
                (group, unbounded(theta, [len(self.declared[name]) for name in group], self.lie))
                for theta, group in self.groups
            ],
        )

    @property
    def exposed(self) -> list[str]:
        """The columns whose answers say what is true."""
        return [
            name
            for theta, group in self.groups
            for name, told in zip(  # noqa: B905
                group, exposed(theta, [len(self.declared[one]) for one in group], self.lie)
            )
            if told
        ]

    @property
    def untouched(self) -> list[str]:
        """The columns outside the scheme, which stand in the table as they are."""
        return [name for name, _ in self.columns if name not in self.declared]

    def odds(self) -> list[Fraction | None]:
        """For each group e^epsilon, the most that an answer multiplies odds by, or None for no end."""
        found: list[Fraction | None] = []
        for theta, names in self.groups:
            sizes = [len(self.declared[name]) for name in names]
            endless = unbounded(theta, sizes, self.lie) is not None
            found.append(None if endless else greatest_odds(theta, sizes, self.lie))
        return found


def judge_disguised(document: DisguisedDocument, rows: RowCounts) -> Judged:
    """What the scheme hides, and whether coins were thrown for it."""
    results: Judged = [judge_rows(document, rows)]
    found = document.odds()
    said = []
    for (_, names), odds in zip(document.groups, found):  # noqa: B905
        hidden = "not epsilon-LDP for any epsilon"
        if odds is not None:
            hidden = f"no odds are multiplied by more than {number_text(odds)}"
        said.append(f"{', '.join(map(named, names))}: {hidden}")
    text = "; ".join(said)
    if None in found:  # which is no good news
        text = f"as the certificate says, {text}"
    if document.privacy != found:
        stated = shown(document.fields["privacy"])
        text = f"the certificate says {stated}, and of its scheme this holds: {'; '.join(said)}"
    results.append(("privacy", document.privacy == found, text))
    text = "no theta makes it certain that a column's answers are true, or the opposite of the truth"
    if document.exposed:
        exposed_ones = ", ".join(map(named, document.exposed))
        text = f"nothing is hidden of {exposed_ones}: at this theta the answers say the truth"
    results.append(("hidden", not document.exposed, text))
    results.append(_judge_untouched(document))
    if document.fields["seeded"]:
        text = "a simulation: its coins came from a seed, and hide nothing from who knows it"
        results.append(("coins", False, text))
    return results


def _judge_untouched(document: DisguisedDocument) -> tuple[str, bool, str]:
    """Which columns nothing hides, and whether the words of the certificate are those of its scheme."""
    names = ", ".join(map(named, document.untouched))
    text = f"told as they are: {names}" if names else "every column is under a coin"
    said = document.fields["notes"], document.fields["warnings"]
    if said == (list(document.told), document.warned()):
        return "untouched", True, text
    return "untouched", False, f"{text}; the certificate says in words what its scheme does not"


def _sorted(values: list[str] | list[bool]) -> list[object]:
    """Texts by code point, but years and durations by time; or bools."""
    texts = [one for one in values if type(one) is str]
    for pattern, key in ((DURATION, _seconds), (DATE, _years)):
        if len(texts) == len(values) and all(map(pattern.fullmatch, texts)):
            return [*sorted(texts, key=key)]
    return [*sorted(values)]


def _seconds(text: str) -> tuple[Decimal, str]:
    return Decimal(DURATION.sub(r"\1\2", text)), text


def _years(text: str) -> tuple[Decimal, str]:
    found = DATE.fullmatch(text)
    assert found is not None
    return Decimal(found[1]), found[2]
