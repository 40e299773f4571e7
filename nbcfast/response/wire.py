"""The files of disguised answers: table.csv, and the certificate that is checked against it alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nbcfast import __version__
from nbcfast._core.untyped import Document
from nbcfast._wire.disguised import DisguisedDocument, check_cut
from nbcfast._wire.json_entries import FORMAT, Refused
from nbcfast._wire.regular_files import CUTS, SCHEME
from nbcfast._wire.scheme import disguised_warnings
from nbcfast.published import table_lines as tables
from nbcfast.published.base import Parts, TableCertificate
from nbcfast.published.typed import json_rational, json_whole
from nbcfast.response.binarising import Cut

if TYPE_CHECKING:
    from nbcfast.response.disguising import Disguised
    from nbcfast.response.schemes import AnyScheme


@dataclass(frozen=True, kw_only=True, repr=False)
class DisguisedCertificate(TableCertificate):
    """What is claimed about disguised answers; see `TableCertificate` for what all tables have.

    Attributes
    ----------
    scheme : Scheme or KaryScheme
    cuts : mapping of name -> Cut
        Where columns of the scheme were made two-valued before.
    seeded : bool
        Whether the coins were those of a simulation, and hide nothing from who knows the seed.
    """

    scheme: AnyScheme = field(hash=False)
    cuts: Mapping[str, Cut] = field(hash=False)
    seeded: bool

    def _said(self) -> str:
        return f"{self.scheme!r}{', simulated' if self.seeded else ''}"


def parts_of(disguised: Disguised, cuts: Mapping[str, Cut]) -> Parts:
    """What is written of disguised answers; ValueError where there are none, or a cut is none."""
    if not disguised.n_rows:
        raise ValueError("not saved: no rows")
    for name, cut in cuts.items():
        if not isinstance(cut, Cut):
            raise TypeError(f"cuts: expected a Cut for {name!r}, got {type(cut).__name__}")
    expect_savable(cuts)
    lines = tables.Lines(disguised.collapse())
    fields = _document(disguised)
    copies = {SCHEME: fields["scheme"]}
    if cuts:
        fields["cuts"] = {name: cut.to_dict() for name, cut in cuts.items()}
        copies[CUTS] = fields["cuts"]
    return Parts(fields=fields, lines=lines, copies=copies)


def certificate_of(disguised: Disguised) -> DisguisedCertificate:
    """The certificate of disguised answers, with the cuts that they have."""
    return DisguisedCertificate.of_parts(
        parts_of(disguised, disguised.cuts),
        disguised.n_rows,
        scheme=disguised.scheme,
        cuts=disguised.cuts,
        seeded=disguised.seeded,
    )


def expect_savable(cuts: Mapping[str, Cut]) -> None:
    """ValueError where a certificate does not take a cut; before coins are thrown it can be asked already."""
    for name, cut in cuts.items():
        try:
            check_cut(name, cut.to_dict())
        except Refused as error:
            raise ValueError(f"not saved: {error}") from None


def _document(disguised: Disguised) -> Document:
    privacy = disguised.scheme.privacy()
    groups = [(group.columns, None if group.is_ldp else group.text) for group in privacy.groups]
    warnings = disguised_warnings(disguised.untouched, groups)
    return {
        "columns": [
            {"cells": tables.cells(disguised.column(name).domain), "name": name} for name in disguised.names
        ],
        "format": FORMAT,
        "kind": "disguised",
        "method": "randomised response",
        "notes": list(DisguisedDocument.told),
        "privacy": [None if group.odds is None else json_rational(group.odds) for group in privacy.groups],
        "rows": json_whole(disguised.n_rows),
        "scheme": disguised.scheme.to_dict(),
        "seeded": disguised.seeded,
        "version": __version__,
        "warnings": warnings,
    }
