"""`release_of` and `strata_of`: releases from their certificates, once the form of these is checked."""

from __future__ import annotations

from nbcfast._core.dtypes import Counts
from nbcfast._core.untyped import Document
from nbcfast._wire.json_entries import rational
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast._wire.strata_form import StrataDocument
from nbcfast.published.advised import Advised
from nbcfast.published.certificate import Canonical, Certificate, PublicList
from nbcfast.published.noised import noise_of
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.published.typed import domain_of_json
from nbcfast.table.domain import Domain
from nbcfast.views import Viewset
from nbcfast.views.integers import as_counts


def release_of(document: ReleaseDocument, where: str) -> Release:
    """The release that a document of checked form describes."""
    fields = document.fields
    found = document.canonical
    undeclared = () if found is None else found["undeclared"]
    classes = domain_of_json(document.classes, f"{where}: classes", None not in undeclared, in_order=False)
    counts: dict[str, Counts] = {}
    domains: dict[str, Domain] = {}
    for name, values, rows in document.attributes:
        counts[name] = as_counts(rows, f"{where}: attribute {name!r}")
        domains[name] = domain_of_json(values, f"{where}: attribute {name!r}", name not in undeclared)
    certificate = Certificate(
        amplification=document.amplification,
        tuples=document.tuples,
        differing_tuples=document.differing_tuples,
        differing_rows=document.differing_rows,
        accepted=document.accepted,
        smoothing=document.smoothing,
        privacy=None if document.privacy is None else noise_of(document.privacy),
        warnings=tuple(fields["warnings"]),
        r=None if "r" not in fields else rational(fields["r"], "field 'r'"),
        prior=None if document.prior is None else tuple(document.prior),
        canonical=None if found is None else _canonical(found),
        advice=None if document.advice is None else Advised.of_form(document.advice),
        policy=document.policy,
        **{
            name: fields[name]
            for name in ("attacker", "equivalence", "gauge", "identity", "method", "preserve", "version")
        },
    )
    views = Viewset.from_parts(
        as_counts(document.class_counts, f"{where}: class_counts"), counts, classes, domains
    )
    return Release(views, certificate, fields["class_name"])


def strata_of(document: StrataDocument, where: str) -> StratifiedRelease:
    """The releases that a document of checked form describes."""
    undeclared: bool = document.fields["undeclared"]
    values = domain_of_json(document.values, f"{where}: strata", not undeclared).values
    releases = [
        release_of(own, f"{where}: stratum {of}")
        for of, own in zip(document.labels, document.releases, strict=True)
    ]
    return StratifiedRelease(document.by, dict(zip(values, releases, strict=True)), undeclared)


def _canonical(found: Document) -> Canonical:
    listed = found["listed"]
    return Canonical(**{**found, "listed": None if listed is None else PublicList(**listed)})
