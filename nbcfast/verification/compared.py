"""What the private views show of a release: whether its classifier is theirs, as the certificate says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from nbcfast._core.dtypes import Counts, Places
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import amount_text
from nbcfast._reading.source import AnyTable
from nbcfast._wire.smoothing_form import private_text
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.decided import difference
from nbcfast.canonical.by_strata import split
from nbcfast.closeness import est
from nbcfast.dp.agreeing import NOT_FOR_PUBLICATION
from nbcfast.equivalence import compare
from nbcfast.equivalence.comparing import differing_rows
from nbcfast.published.certificate import Certificate, same_text
from nbcfast.published.placing import in_domains
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.table import Table
from nbcfast.table.domain import Domain
from nbcfast.table.values import Value
from nbcfast.transform import safety_transform
from nbcfast.verification.remade import codes_of
from nbcfast.views import Viewset, count
from nbcfast.views.integers import zeros

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast._wire.outcomes import Judged

COMPARED = 10**12  # tuples; beyond, making the release again is the quicker proof, if it has one


def compared(
    release: Release,
    private: Viewset,
    table: Table | None,
    tuples: AnyTable | None,
    progress: Progress | None,
) -> tuple[Judged, str | None]:
    """The checks of what the certificate says about the private views, and a line of what they have found."""
    made, rows = release.certificate, None
    # Where no tuple differs no row does, and it is the tuples that are looked at.
    if table is not None and made.differing_rows is not None and made.differing_tuples != 0:
        places = differing_rows(private, release.views, table, made.preserve, None)
        rows = len(places) if table.weights is None else int(table.weights[places].sum())
    checks, found = _same(release, private, tuples, progress)
    if made.smoothing is not None:
        beside = f"beside {private_text(made.smoothing, 'the private classifier')}: "
        checks = [(name, holds, f"{beside}{text}") for name, holds, text in checks]
    if rows is not None:
        text = f"{amount_text(rows)} rows of the table are decided otherwise"
        same = rows == made.differing_rows
        stated = "as stated" if same else f"the certificate says {amount_text(made.differing_rows or 0)}"
        checks.append(("differing", same, f"{text}, {stated}"))
    if found is None or not all(holds for _, holds, _ in checks):
        return checks, None
    return checks, same_text(
        made.preserve, made.tuples, found.differing, found.proof, rows, found.listed, made.altered
    )


def beside_exact(
    release: Release, against: Viewset | Table, class_name: str | None, progress: Progress | None
) -> str:
    """How a release of noisy counts decides beside the exact classifier, for the owner of the rows."""
    made = release.certificate
    what = "the order of all classes" if made.preserve == "order" else "the best class"
    try:
        exact, table = counted(release, against, class_name)
        exact = aligned(exact, release.views)
    except ValueError as error:
        return f"{NOT_FOR_PUBLICATION}: not compared with the exact classifier: {error}"
    found = compare(exact, release.views, preserve=made.preserve, progress=progress)
    of = f"{amount_text(made.tuples)} tuples"
    if found.equal:
        text = f"{what} is that of the exact classifier on all {of}"
    elif found.equal is None:
        text = f"undecided: the domain of {of} is too large to compare"
    else:
        number = "some" if found.differing is None else amount_text(found.differing)
        text = f"{what} is another than that of the exact classifier on {number} of {of}"
    if table is not None and not found.equal:
        places = differing_rows(exact, release.views, table, made.preserve, None)
        text += f", and on {len(places):,} of {table.n_rows:,} rows"
    return f"{NOT_FOR_PUBLICATION}: {text}"


class Differing(NamedTuple):
    """How many tuples are decided otherwise than by the private views, as was found."""

    differing: int | None  # None: some, and nobody has counted them
    proof: str
    listed: int | None = None  # tuples of a list, where only these were compared


def _same(
    release: Release, private: Viewset, tuples: AnyTable | None, progress: Progress | None
) -> tuple[Judged, Differing | None]:
    """The check whether the classifier is as private as the certificate says, and what was found if it is."""
    name = "equivalence"
    made = release.certificate
    if made.identity:
        same = private == release.views
        text = "the counts are the private ones, as stated" if same else "the counts are not the private ones"
        return [(name, same, text)], Differing(0, "identity")
    what = "whole order" if made.preserve == "order" else "best class"
    of = f"{amount_text(made.tuples)} tuples"
    if made.canonical is not None and made.canonical.listed is not None:
        if tuples is None:
            text = f"the {what} is claimed on a list of tuples, which is not in the file"
            return [(name, None, text)], None
        return _same_on_list(private, release, tuples, what)
    if tuples is not None:
        return [(name, False, "the release does not claim anything of a list of tuples")], None
    if made.equal and made.tuples > COMPARED:
        again = made_again(private, made)
        if again is not None and again.views == release.views:
            proof = again.certificate.equivalence
            text = f"the {what} is the same on all {of}, as of what is made again ({proof})"
            whole = "made again from these views, the release is this one"
            return [("again", True, whole), (name, True, text)], Differing(0, proof)
    found = compare(private, release.views, preserve=made.preserve, progress=progress)
    if found.equal:
        if made.differing_tuples:
            text = f"no tuple differs, but the certificate says {amount_text(made.differing_tuples)}"
            return [(name, False, text)], None
        text = f"the {what} is the same on all {of} ({found.method})"
        return [(name, True, text)], Differing(0, found.method)
    if found.equal is False:
        number = "some" if found.differing is None else amount_text(found.differing)
        text = f"the {what} differs on {number} of {of}"
        if made.differing_tuples is None or made.differing_tuples == found.differing:
            stated = "the certificate does not claim otherwise" if made.equal is None else "as stated"
            text = f"{text}, {stated} ({found.method})"
            return [(name, True, text)], Differing(found.differing, found.method)
        if not made.equal and found.differing is None:
            claim = f"on {amount_text(made.differing_tuples)}, not decided"
            return [(name, None, f"{text}; the certificate says {claim}")], None
        witness = "" if found.witness is None else f", for example {found.witness}"
        claim = "it is the same" if made.equal else f"on {amount_text(made.differing_tuples)}"
        return [(name, False, f"{text}, the certificate says {claim}{witness}")], None
    return [(name, None, f"undecided: the domain of {of} is too large to compare")], None


def _same_on_list(
    private: Viewset, release: Release, tuples: AnyTable, what: str
) -> tuple[Judged, Differing | None]:
    """The check of a canonical release that keeps its answers on a public list, and what was found."""
    made, name = release.certificate, "equivalence"
    assert made.canonical is not None
    try:
        codes = codes_of(release, tuples)
    except ValueError as error:
        return [(name, False, str(error))], None
    listed = made.canonical.listed
    assert listed is not None
    boxes = (box(views, mode=made.preserve, tuples=codes) for views in (private, release.views))
    differing = difference(*boxes).differing
    of = f"{len(codes):,} listed tuples"
    text = (
        f"the {what} differs on {differing:,} of {of}" if differing else f"the {what} is the same on all {of}"
    )
    if differing == listed.differing:
        text = f"{text}, as stated" if differing else text
        return [(name, True, text)], Differing(differing, "enumeration", len(codes))
    claim = f"on {listed.differing:,}" if listed.differing else "it is the same"
    return [(name, False, f"{text}, the certificate says {claim}")], None


def counted(
    release: Release, against: Viewset | Table, class_name: str | None
) -> tuple[Viewset, Table | None]:
    """The private views, and the table that they count, in the bins of the release, where there is one."""
    if isinstance(against, Viewset):
        return against, None
    class_name = release.class_name if class_name is None else class_name
    if class_name is None:
        raise ValueError("the release does not name its class column: give class_name, or a Viewset")
    if against.n_rows == 0:
        raise ValueError("no rows")
    against = in_domains(against, release.views.domains)
    return count(against, class_name, release.views.attributes), against


def stratified(made: StratifiedRelease, against: Table) -> dict[Value, Table]:
    """The private rows of each stratum, if none; ValueError where rows have a value that has no release."""
    if made.by not in against.names:
        raise ValueError(f"there is no column {made.by!r}")
    against = in_domains(against, {made.by: made.domain})
    strata = list(split(against, made.by).values())
    own = against.column(made.by).domain
    known = own.positions_in(made.domain) >= 0
    for value, is_known, rows in zip(own.values, known.tolist(), strata, strict=True):
        if rows.n_rows and not is_known:
            raise ValueError(f"value {value!r} of {made.by!r} has no release")
    none = against.take([], keep_domains=True)
    places = made.domain.positions_in(own).tolist()
    return {
        value: strata[place] if place >= 0 else none for value, place in zip(made.strata, places, strict=True)
    }


def made_again(
    private: Viewset, made: Certificate, rows: Literal["smallest", "proven"] = "proven"
) -> Release | None:
    """The release that `safety_transform` or `est`, which are deterministic, make of the private ones."""
    if made.method == "canonical":  # never of domains that are too large to compare
        return None
    try:
        if made.method == "est" and made.r is not None:
            again = est(
                private,
                dict(zip(private.classes, made.prior or (), strict=True)),
                made.r,
                preserve=made.preserve,
                rows=rows,
                gauge=made.gauge,
                attacker=made.attacker,
            )
        else:
            again = safety_transform(
                private,
                made.amplification,
                preserve=made.preserve,
                rows=rows,
                gauge=made.gauge,
                attacker=made.attacker,
            )
    except (Infeasible, ValueError):
        return None
    return again if again.certificate.equal else None


def aligned(private: Viewset, published: Viewset) -> Viewset:
    """The private counts in the order of attributes, values and classes of the published ones."""
    odd = sorted(set(private.attributes) ^ set(published.attributes))
    if odd:
        owner = "the release" if odd[0] in published.attributes else "the private views"
        raise ValueError(f"only {owner} has the attribute {odd[0]!r}")
    classes = _places(private.class_domain, published.class_domain, "class", private.class_counts)
    if (private.class_counts[classes] == 0).any() or (classes < 0).any():
        place = int(((classes < 0) | (private.class_counts[classes] == 0)).argmax())
        raise ValueError(f"class {published.classes[place]!r} has no private row")
    counts: dict[str, Counts] = {}
    for name in published.attributes:
        array = private.counts[name]
        own, other = private.domains[name], published.domains[name]
        rows = _places(own, other, f"attribute {name!r}: value", (array != 0).any(axis=1))
        spread = zeros((len(other), len(classes)), array)
        spread[rows >= 0] = array[rows[rows >= 0]][:, classes]
        counts[name] = spread
    return Viewset.from_parts(
        private.class_counts[classes].copy(), counts, published.class_domain, published.domains
    )


def _places(own: Domain, other: Domain, what: str, totals: Counts) -> Places:
    """Where the private domain has each published value, or -1; none that has rows may be missing."""
    missing = own.positions_in(other) < 0
    missing &= np.asarray(totals != 0)
    if missing.any():
        raise ValueError(f"{what} {own.values[int(np.argmax(missing))]!r} is not in the release")
    return other.positions_in(own)
