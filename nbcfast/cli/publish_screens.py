"""What `publish` prints: whether a release left, what shows, what mends it; then what it is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table as Grid
from rich.text import Text

from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.canonical import Advice, Limits
from nbcfast.cli.adversaries import adversaries_grid
from nbcfast.cli.asked_again import is_command
from nbcfast.cli.leak_tables import NO_METER, leak_grids
from nbcfast.cli.printing import limit_line, listing, pairs, readable, remarked, same_line, show
from nbcfast.publishing.answered import rules_text
from nbcfast.publishing.gate import GateFinding, State
from nbcfast.publishing.report import Publication
from nbcfast.publishing.standing import posterior_text
from nbcfast.publishing.strata_report import StratifiedPublication
from nbcfast.publishing.words import label

MOST_POSTERIORS = 8  # classes whose worst posteriors are listed each
MARKS: dict[State, str] = {"shows": "x", "unmeasured": "?", "warned": "!", "kept": "ok"}
RAW = "read as raw counts"


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A release that did not leave: nothing was written.

    Parameters
    ----------
    file : Path
        The table,
    class_name : str
        and its class.
    out : Path
        Where it would be.
    findings : tuple of GateFinding
        What was looked at; what refuses it first.
    whole : bool
        Whether that is all there is to look at.
    mend : list of str
        The steps that mend it, commands and what people do between them; none where no command does.
    accept : str
        The command that publishes all the same.
    limits : Limits
    remarks : tuple of str
        What there is to say of the file, which may be the reason.
    helps : str
        What is said where no command mends it.
    """

    file: Path
    class_name: str
    out: Path
    findings: Sequence[GateFinding]
    whole: bool
    mend: Sequence[str]
    accept: str
    limits: Limits
    remarks: Sequence[str] = ()
    helps: str = "No command mends that."

    @property
    def verdict(self) -> str:
        """What happened, in one line."""
        return f"DO NOT PUBLISH YET: {self.what} -> {printable(str(self.out))} (nothing was written)"

    @property
    def what(self) -> str:
        """The table and its class."""
        return f"{printable(str(self.file))}, {label(self.class_name)}"

    def to_dict(self) -> Document:
        """Plain values."""
        return {
            "file": str(self.file),
            "class": self.class_name,
            "verdict": self.verdict,
            "limits": self.limits.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
            "accepted": False,
            "refused": True,
            "shows": [finding.text for finding in self.findings if finding.refuses],
            "mend": self.script,
            "accept": self.accept,
            "warnings": list(self.remarks),
            "files": [],
        }

    @property
    def script(self) -> str | None:
        """What mends it, for a shell.

        What a person does between two commands is a comment on a line of its own: nothing runs past it.
        """
        if all(map(is_command, self.mend)):
            return " && ".join(self.mend) or None
        return "\n".join(step if is_command(step) else f"# {step}" for step in self.mend)

    def show(self) -> None:
        """What shows, what mends it, and how it is published all the same; in this order."""
        parts: list[Text | Grid] = [Text(self.verdict, style="bold"), findings_grid(self.findings)]
        if not self.whole:
            parts.append(Text("What else shows is measured once that is mended."))
        parts += remarked(self.remarks)
        if self.mend:
            lines = [f"  {number}  {printable(command)}" for number, command in enumerate(self.mend, 1)]
            parts.append(Text("\n".join(["What mends it", *lines])))
        else:
            parts.append(Text(self.helps))
        parts.append(Text(f"Or accept it, which the certificate will say\n  {printable(self.accept)}"))
        show(*parts)


def findings_grid(findings: Sequence[GateFinding]) -> Grid:
    """What was looked at, with a mark each."""
    grid = Grid.grid(padding=(0, 2))
    for _ in range(3):
        grid.add_column(overflow="fold")
    for finding in findings:
        grid.add_row(Text(MARKS[finding.state]), Text(finding.about), Text(printable(finding.text)))
    return grid


def verdict(publication: Publication | StratifiedPublication) -> str:
    """What happened, in one line."""
    if publication.shows:
        return "published although this shows (accepted)"
    if any(finding.state == "warned" for finding in publication.findings):
        return "published, every limit kept; mind what is marked !"
    return "published, every check green"


def show_publication(publication: Publication, out: Path, unit: str, intervals: bool) -> None:
    """The tables, for people; `unit` is what the private counts are of."""
    made = publication.release.certificate
    decisions = [
        ("method", publication.choice.text),
        ("limit of Lambda", limit_line(made.limit, made.amplification, made.attacker)),
        ("classifier", same_line(publication.release)),
        ("its answers say", rules_text(publication.release)),
    ]
    if publication.advice is not None:
        decisions.insert(0, ("domain", domain_text(publication.advice)))
    if made.canonical is not None and made.canonical.listed is not None:
        decisions.append(("leak meter", NO_METER))
    if intervals and publication.leak is None:
        decisions.append(("intervals of log-ratios", "not measured, as nothing else of the answers was"))
    written = listing("files written", "bytes")
    for file in publication.files:
        written.add_row(Text(printable(file.path)), f"{file.bytes:,}")
    rounded = made.canonical is not None and made.canonical.bits is not None
    leaking = [] if publication.leak is None else leak_grids(publication.leak, rounded)
    what = f"{printable(str(publication.source))}, {label(publication.class_name)} -> {printable(str(out))}"
    show(
        Text(f"{verdict(publication)}: {what}", style="bold"),
        findings_grid(publication.findings),
        numbers_grid(publication, unit),
        pairs(decisions),
        *leaking,
        adversaries_grid(publication.adversaries),
        written,
        Text("\n".join(f"- {printable(text)}" for text in publication.warnings)),
    )


def domain_text(advice: Advice) -> str:
    """Which of the domains of a menu was chosen."""
    best = advice.best
    which = "the best" if advice.exhaustive else "the best found"
    kept = ", ".join(f"{label(name)} {size:,}" for name, size in best.sizes.items())
    left_out = [label(name) for name in (*advice.menu.attributes, *advice.beside) if name not in best.sizes]
    out = f"; left out: {', '.join(left_out)}" if left_out else ""
    return (
        f"{which} of {advice.n_choices:,} of the menu that keeps the limits: {kept} = {best.tuples:,} kinds "
        f"of people{out}; {best.accuracy:.2%} of rows that were held out are answered right"
    )


def numbers_grid(publication: Publication, unit: str) -> Grid:
    """How the private classifier and the published one stand."""
    before, after = publication.before, publication.after
    smoothing = publication.release.certificate.smoothing
    numbers = listing("", "before" if smoothing is None else f"before, smoothed by {smoothing}", "after")
    numbers.add_row("Lambda, the largest ratio of two scores", before.lambda_text, after.lambda_text)
    # Whoever knows what the answers say knows more: a posterior is never told without saying to whom.
    if len(before.worst) <= MOST_POSTERIORS:
        for old, new in zip(before.worst, after.worst, strict=True):
            numbers.add_row(
                f"worst posterior of {label(old.label)}, {RAW}", posterior_text(old), posterior_text(new)
            )
    else:
        worst = [posterior_text(standing.worst_of_all, True) for standing in (before, after)]
        numbers.add_row(f"worst posterior, {RAW}", *worst)
    numbers.add_row(unit, readable(before.rows), readable(after.rows))
    numbers.add_row("log-loss on the input", before.loss_text, after.loss_text)
    numbers.add_row("accuracy on the input", before.accuracy_text, after.accuracy_text)
    return numbers
