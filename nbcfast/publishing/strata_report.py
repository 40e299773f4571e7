"""`StratifiedPublication`: releases of strata, and all that their publisher should know before they leave."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nbcfast._core.pickling import HasReadOnlyMappings
from nbcfast._core.threads import Progress
from nbcfast._core.untyped import Document
from nbcfast._wire.release_words import ACCEPTED
from nbcfast.canonical import Leak, Limits
from nbcfast.canonical.leakage import REMEDY
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.demand import Choice
from nbcfast.publishing.gate import STATES, GateFinding, gate_html
from nbcfast.publishing.report import Publication, Written, expect_kept, quotient, saved
from nbcfast.publishing.standing import Standing
from nbcfast.publishing.words import json_integer, label
from nbcfast.table.values import Value, plain
from nbcfast.views.quality import Quality

MOST_NAMED = 5  # strata that a finding names


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class StratifiedPublication(HasReadOnlyMappings):
    """Releases of the strata of a table, with what it takes to decide whether they may leave.

    Attributes
    ----------
    release : StratifiedRelease
        What leaves, with its certificate.
    class_name : str
        The class column.
    source : str or None
        The path of the private table, where it was read from a file.
    choice : Choice
        The method, and why it is this one.
    strata : mapping of value -> Publication
        Of each stratum all that there is to say of its release: `before`, `after`, `leak`, `adversaries`.
    together : Quality
        What one classifier for all strata is worth on the private table, with the column as an attribute.
    limits : Limits
        How much the answers of each stratum may give away.
    findings : tuple of GateFinding
        What was looked at in the strata: what shows, or was not measured, first.
    accepted : bool
        Whether the publisher accepts whatever that is.
    warnings : tuple of str
        What else the publisher should know: what is said to him alone, then the words of the certificate.
    files : tuple of Written
        Where it was saved; empty until then.
    """

    release: StratifiedRelease
    class_name: str
    source: str | None
    choice: Choice
    strata: Mapping[Value, Publication]
    together: Quality
    limits: Limits
    findings: tuple[GateFinding, ...]
    accepted: bool
    warnings: tuple[str, ...]
    files: tuple[Written, ...] = ()

    @property
    def by(self) -> str:
        """The column whose values select."""
        return self.release.by

    @property
    def before(self) -> Standing:
        """Of the private counts: the worst of any stratum, and the quality of all together."""
        return standing_of([one.before for one in self.strata.values()])

    @property
    def after(self) -> Standing:
        """Of the published counts, as `before`."""
        return standing_of([one.after for one in self.strata.values()])

    @property
    def leaks(self) -> dict[Value, Leak | None]:
        """What the answers of each stratum give away."""
        return {value: one.leak for value, one in self.strata.items()}

    @property
    def shows(self) -> tuple[GateFinding, ...]:
        """The findings that keep it from leaving, unless they are accepted."""
        return tuple(finding for finding in self.findings if finding.refuses)

    @property
    def refused(self) -> tuple[GateFinding, ...]:
        """The findings that keep it from leaving: `shows`, and none where they are accepted."""
        return () if self.accepted else self.shows

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        dataset: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> StratifiedPublication:
        """Write all releases to one folder, and read and check what was written; as `Publication.save`.

        Parameters
        ----------
        path, dataset, overwrite, progress
            As for `StratifiedRelease.save`.

        Returns
        -------
        StratifiedPublication
            This one, with its files.

        Raises
        ------
        Infeasible
            If something is `refused`; nothing is written.
        FileExistsError, ValueError, OSError
            As `Publication.save`.
        """
        expect_kept(self.refused)
        files = saved(self.release, path, dataset=dataset, overwrite=overwrite, progress=progress)
        return replace(self, files=files)

    def to_dict(self) -> Document:
        """Plain values, those that the command line prints with ``--json``; None for what is not known."""
        made = self.release.certificate
        return {
            "file": self.source,
            "class": self.class_name,
            "by": self.by,
            "amplification": quotient(made.amplification),
            "attacker": made.attacker,
            "limit": quotient(made.limit),
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "together": self.together.to_dict(),
            "method": made.method,
            "why": self.choice.why,
            "preserve": made.preserve,
            "identical": made.equal,
            "tuples": json_integer(made.tuples),
            "limits": self.limits.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
            "accepted": self.accepted,
            "refused": bool(self.refused),
            "shows": [finding.text for finding in self.shows],
            "strata": [{"value": plain(value), **one.to_dict()} for value, one in self.strata.items()],
            "warnings": list(self.warnings),
            "files": [file._asdict() for file in self.files],
        }

    @property
    def minded(self) -> tuple[str, ...]:
        """The warnings of this release alone: what is said of every one is left out."""
        said = {*self.release.certificate.notes, REMEDY, ACCEPTED}
        return tuple(text for text in self.warnings if text not in said)

    def _repr_html_(self) -> str:
        return gate_html(
            self.findings, refused=bool(self.refused), shows=bool(self.shows), written=bool(self.files)
        )

    def __repr__(self) -> str:
        gate = "limits kept"
        if self.shows:
            gate = f"{len(self.shows)} findings {'accepted' if self.accepted else 'refuse it'}"
        n_minded = len(self.minded) + sum(finding.state == "warned" for finding in self.findings)
        return (
            f"StratifiedPublication({self.release!r}; Lambda {self.before.lambda_text} before, "
            f"{self.after.lambda_text} after; {gate}; {n_minded} to mind)"
        )


def standing_of(strata: Sequence[Standing]) -> Standing:
    """How classifiers of strata stand together: the worst of any, and the quality of them all."""
    largest = max((one.amplification for one in strata), key=lambda found: (found.infinite, found.log))
    worst = tuple(
        max(of_class, key=lambda posterior: posterior.probability)
        for of_class in zip(*(one.worst for one in strata), strict=True)
    )
    rows = sum(one.quality.rows for one in strata)
    loss = sum(one.quality.log_loss * (one.quality.rows / rows) for one in strata)
    quality = Quality(rows, sum(one.quality.correct for one in strata), loss)
    return Standing(largest, worst, sum(one.rows for one in strata), quality)


def findings_of_strata(
    by: str, strata: Mapping[Value, Sequence[GateFinding]], own: Sequence[GateFinding] = ()
) -> tuple[GateFinding, ...]:
    """What was found in strata, each sentence once and with the strata that it is about; and their `own`.

    A limit is kept where every stratum keeps it, and said then without the numbers of each.
    """
    places: dict[GateFinding, list[Value]] = {}
    for value, findings in strata.items():
        for finding in findings:
            places.setdefault(finding, []).append(value)
    kept: dict[str, list[GateFinding]] = {}
    found: list[GateFinding] = [*own]
    for finding, values in places.items():
        if finding.state == "kept":
            kept.setdefault(finding.about, []).append(finding)
            continue
        where = "" if len(values) == len(strata) else _where(by, values)
        found.append(replace(finding, text=f"{where}{finding.text}"))
    not_kept = {finding.about for finding in found}
    for about, findings in kept.items():
        many = sum(len(places[finding]) for finding in findings)
        if about in not_kept or many < len(strata):
            continue
        same = findings[0].text if len(findings) == 1 else None
        text = "in every stratum" if same is None else f"in every stratum: {same}"
        found.append(GateFinding(about, "kept", text if len(strata) > 1 else str(same)))
    return tuple(sorted(found, key=lambda finding: STATES.index(finding.state)))


def _where(by: str, values: Sequence[Value]) -> str:
    """The strata that a sentence is about."""
    more = len(values) - MOST_NAMED
    named = ", ".join(map(label, values[:MOST_NAMED]))
    return f"{label(by)} = {named}{f' and {more:,} more' if more > 0 else ''}: "
