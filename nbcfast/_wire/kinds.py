"""The kinds of published things: how the certificate of each is read, and how it is judged."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from nbcfast._wire.count_faults import what_changed
from nbcfast._wire.disclosure import DisclosureDocument, judge_disclosure
from nbcfast._wire.disguised import DisguisedDocument, judge_disguised
from nbcfast._wire.form import Form
from nbcfast._wire.json_entries import Refused, TooLong, canonical_json, digest, shown
from nbcfast._wire.messages import brief
from nbcfast._wire.partition_checks import judge_partition
from nbcfast._wire.partition_form import PartitionDocument
from nbcfast._wire.regular_files import TABLE
from nbcfast._wire.release_checks import judge
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast._wire.strata_checks import judge_strata
from nbcfast._wire.strata_form import StrataDocument
from nbcfast._wire.table_csv import read_table
from nbcfast._wire.table_form import TableForm

if TYPE_CHECKING:
    from collections.abc import Callable

    from nbcfast._wire.json_entries import Fields
    from nbcfast._wire.outcomes import Judged
    from nbcfast._wire.table_form import RowCounts


LONGEST = 40  # characters of a number in JSON; the message of one that is too large shows this many


def _no_number(text: str) -> object:
    raise Refused(f"the file is damaged: {text[:40]} stands where only integers do")


def _integer(text: str) -> int:
    """An integer of JSON; longer ones are hexadecimal text, and would take Python a while to read."""
    if len(text) > LONGEST:
        raise Refused(f"the file is damaged: {text[:40]}.. stands where integers beyond 2^53 are text")
    return int(text)


def parse(data: bytes) -> ReleaseDocument:
    """The ReleaseDocument in these bytes; Refused if they are no release as it was written."""
    document = parse_any(data)
    if not isinstance(document, ReleaseDocument):
        raise Refused(f"field 'kind': expected 'release'; got {shown(document.fields['kind'])}")
    return document


def parse_any(data: bytes) -> Form:
    """What these bytes certify; Refused if they are not as they were written."""
    try:
        return _parsed(data)
    except RecursionError:
        raise Refused("the file is damaged: lists are nested too deeply") from None


def _parsed(data: bytes) -> Form:
    try:
        text = data.decode("ascii")
        fields = json.loads(text, parse_float=_no_number, parse_int=_integer, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise Refused(f"byte {error.start} is not ASCII: the file is damaged") from None
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or not text.endswith("}\n"):
            raise Refused(
                f"the file is truncated: it ends after {len(data)} bytes within its JSON ({error.msg})"
            ) from None
        raise Refused(f"the file is damaged: {error.msg} at byte {error.pos}") from None
    if type(fields) is not dict:
        raise Refused(f"expected a JSON object, got {shown(fields)}")
    try:
        document = _form_of(fields)(fields)
    except TooLong:  # what was changed is so, however long its numbers are
        if digest(fields) != fields["sha256"]:
            raise Refused("sha256 does not match, the file was changed") from None
        _expect_canonical(fields, text)
        raise
    except Refused as error:
        if type(fields.get("sha256")) is str and fields.get("kind") in list(KINDS):
            fault = " (and its sha256 does not match)" if digest(fields) != fields["sha256"] else ""
            raise Refused(f"{error}{fault}") from None
        raise
    stated, found = fields["sha256"], digest(fields)
    if stated != found:
        change = "a digit, name or label is not what it was"
        if isinstance(document, ReleaseDocument):
            change = what_changed(document, stated, len(data))
        raise Refused(f"sha256 does not match, the file was changed: {change}")
    _expect_canonical(fields, text)
    return document


def _expect_canonical(fields: Fields, text: str) -> None:
    """Refuse a text of these fields that is not the one they have."""
    if canonical_json(fields) == text:
        raise Refused("the file is truncated: the line break at its end is missing")
    if canonical_json(fields) + "\n" != text:
        raise Refused(
            "the file is not in canonical form (sorted keys, no spaces, one line break at the end): "
            "it was changed after it was written"
        )


def _form_of(fields: Fields) -> type[Form]:
    """The class of a certificate with these fields."""
    if "class_counts" in fields:  # a release that calls itself something else is told so by the release
        return ReleaseDocument
    kind = fields.get("kind", "release")
    if type(kind) is not str or kind not in KINDS:
        raise Refused(f"field 'kind': expected one of {', '.join(map(repr, KINDS))}; got {shown(kind)}")
    return KINDS[kind].form


def judge_any(document: Form, folder: str) -> tuple[RowCounts, Judged]:
    """The rows of the table in the folder of a thing that has one, and what is found of it all."""
    rows: RowCounts = {}
    results: Judged = []
    if isinstance(document, TableForm):
        try:
            fault = read_table(document, os.path.join(folder, TABLE), rows) or document.use(rows)
        except TooLong as error:
            return rows, [("table", None, str(error))]
        results.append(
            ("table", fault is None, fault or f"{TABLE} is that of the certificate, value by value")
        )
        if fault is not None:
            return rows, [(name, holds, brief(text)) for name, holds, text in results]
        results += document.beside(folder)
    results += KINDS[document.fields["kind"]].judge(document, rows)
    return rows, [(name, holds, brief(text)) for name, holds, text in results]


class CertificateKind(NamedTuple):
    """How the certificates of a kind of published thing are read and judged."""

    form: type[Form]
    judge: Callable[..., Judged]  # of a certificate of this form, and the rows of its table


KINDS = {
    "release": CertificateKind(ReleaseDocument, lambda document, _: judge(document)),
    "partition": CertificateKind(PartitionDocument, judge_partition),
    "disclosure": CertificateKind(DisclosureDocument, judge_disclosure),
    "disguised": CertificateKind(DisguisedDocument, judge_disguised),
    "strata": CertificateKind(StrataDocument, judge_strata),
}
