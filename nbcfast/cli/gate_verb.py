"""The verb `gate`: whether folders keep a policy, for people, pipelines and GitHub."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.cli.against import private_table, read_otherwise, read_with_nulls
from nbcfast.cli.asked_again import asked, free
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import READING, reads_file, verbs
from nbcfast.cli.policy_asked import declaring
from nbcfast.cli.printing import INERT, Parts, summary_parts, tell
from nbcfast.cli.reading import Reading
from nbcfast.domains import Menu
from nbcfast.policies import Policy, PolicyRule
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.gating import GateVerdict, gated
from nbcfast.reports.gate_summary import of_gate, of_gates
from nbcfast.reports.summary import FURTHER, Decision

MARKS = {"yes": "yes", "no": "NO", "unmeasured": "?", "claimed": "claimed"}
NOT_READ = 2
WORTHLESS = (
    "Ask for a release that is worth more, of more columns, finer values or a wider limit: as it is, one "
    "answer for everybody is as good."
)
WORST_FIRST = (1, NOT_READ, 3, 0)  # of the exit codes of folders, that of all


@verbs.command(
    name="gate",
    short_help="Say whether releases keep a policy.",
    example="nbcfast gate release --policy nbcfast.toml",
)
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--policy",
    metavar="FILE",
    default="nbcfast.toml",
    show_default=True,
    type=click.Path(path_type=Path),
    help="TOML: what every release has to keep; `nbcfast init` writes one to begin with.",
)
@click.option(
    "--against",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The private table, CSV or Parquet: also measure what the answers give away.",
)
@click.option(
    "--holdout",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With --against: other rows of the same population, for membership_auc.",
)
@click.option(
    "--menu",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The menu that the domain was chosen from, where the policy names none.",
)
@reads_file
@click.option(
    "--ignore-extra",
    is_flag=True,
    help="Pass over files in DIR that the certificate does not name: listed, and covered by nothing.",
)
@click.option("--github", is_flag=True, help="Also print what is not kept as annotations of GitHub Actions.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the lists.")
def gate_verb(
    folders: tuple[Path, ...],
    policy: Path,
    against: Path | None,
    holdout: Path | None,
    menu: Path | None,
    reading: Reading,
    ignore_extra: bool,
    github: bool,
    as_json: bool,
) -> int:
    """Say whether each DIR keeps the policy, demand by demand.

    The folder is verified; then each demand is marked ok or x by what its files show, and ? where it was not
    measured or only its certificate says so: what the answers give away is in no file, and is measured with
    --against. A claim is never ok: it is marked !, and passes, where the policy has accept_claims = true in
    [gate], as that is for whoever demands to decide. [gate] is no part of what releases name a policy by.

    Leaves with 0 if all keep it, with 1 if one does not, else with 2 if one could not be read, and else with
    3 if not all was checked.
    """
    if against is None and (reading.is_of_csv or reading.weights is not None):
        raise ValueError("--null, --delimiter, --text, --encoding and --weights go with --against FILE")
    demands = Policy.of(policy)
    offered = None if menu is None else Menu.read(menu, demands.class_name, OPTIONS)
    verdicts: list[GateVerdict] = []
    unread: list[tuple[str, str]] = []
    for folder in folders:
        try:
            verdicts.append(
                gated(
                    folder,
                    demands,
                    reading.caller,
                    against=against,
                    holdout=holdout,
                    menu=offered,
                    ignore_extra=ignore_extra,
                )
            )
        except (OSError, ValueError, TypeError) as error:
            if len(folders) == 1:
                raise
            text = (error.strerror if isinstance(error, OSError) else None) or str(error)
            unread.append((str(folder), text))
    codes = {found.exit_code for found in verdicts} | ({NOT_READ} if unread else set())
    code = next(code for code in WORST_FIRST if code in codes)

    def document() -> Document:
        return {
            "policy": {"file": demands.where, "sha256": demands.sha256},
            "ok": code == 0,
            "verdicts": [
                *(found.to_dict() for found in verdicts),
                *({"path": path, "error": why} for path, why in unread),
            ],
        }

    def each() -> Parts:
        if len(folders) == 1:
            return []
        return [part for found in verdicts for part in summary_parts(of_gate(found))]

    click.get_current_context().meta[INERT] = github
    read = [] if against is None else hints(verdicts, against, reading)
    summary = of_gates(verdicts, demands, [*read, *to_decide(verdicts, demands, against, offered)], unread)
    tell(summary, document, as_json=as_json, body=each)
    if github and not as_json:
        annotate(verdicts, unread)
    return code


def hints(verdicts: Sequence[GateVerdict], against: Path, reading: Reading) -> list[Decision]:
    """How a table may have been read otherwise than when a release was made of it, as `verify` says it."""
    found: dict[Decision, None] = {}
    for verdict in verdicts:
        release, policy = verdict.verification.release, verdict.policy
        failed = verdict.named("no")
        untold = any(rule.name == "against" for rule in verdict.named("unmeasured"))
        if release is None or not (failed or untold):
            continue
        with suppress(ValueError):  # which the verdict says
            table = private_table(release, against, policy.class_name, reading, policy.domains)
            if failed:
                hint = read_otherwise(verdict.verification, release, against, table, reading, policy.domains)
                found |= {} if hint is None else {Decision(hint): None}
            found |= dict.fromkeys(read_with_nulls(release, against, table, reading))
    return [*found]


def to_decide(
    verdicts: Sequence[GateVerdict], policy: Policy, against: Path | None, menu: Menu | None
) -> list[Decision]:
    """What to do about what is not kept, not measured, or claimed."""
    context = click.get_current_context()
    decisions = []
    failed = any(found.named("no") for found in verdicts)
    decisions += with_menu(verdicts, policy, against)
    decisions += undeclared_in(verdicts, policy, menu)
    # Of another table neither the release that is asked about nor the next one is to be made.
    others = any(rule.name == "against" for found in verdicts for rule in found.named("no"))
    if others:
        question = "Give the rows that it was made of: nothing was measured beside these."
        decisions.append(Decision(question, (asked(context, instead={"against": ["FILE"]}),)))
    if any(rule.name != "against" for found in verdicts for rule in found.named("no")):
        question = "Do not pass on what does not keep the policy: have it published under the policy."
        file = "FILE" if against is None or others else str(against)
        more = [file, "--policy", policy.where, "--out", free("release")]
        step = asked(context, "publish", only=READING, more=more)
        decisions.append(Decision(f"{question} {FURTHER}", (step,)))
    claimed = any(found.named("claimed") for found in verdicts)
    if policy.menu is None and context.params["menu"] is None and any(map(_by_menu, verdicts)):
        question = "Give the menu that the domain was chosen from: what it declares is a claim no longer."
        decisions.append(Decision(question, (asked(context, more=["--menu", "FILE"]),)))
    if against is None and any(map(_measurable, verdicts)):
        question = "Measure beside the private rows what no published file shows."
        decisions.append(Decision(question, (asked(context, more=["--against", "FILE"]),)))
    if claimed and not failed and not policy.accept_claims:
        take = "Or take" if decisions else "Take"
        text = (
            f"{take} the word of the publisher: write accept_claims = true into [gate] of "
            f"{printable(policy.where)}. Releases name the policy without [gate], so theirs stays this one."
        )
        decisions.append(Decision(text, (asked(context),)))
    if any(found.minded for found in verdicts):
        decisions.append(Decision(WORTHLESS))
    return decisions


def with_menu(verdicts: Sequence[GateVerdict], policy: Policy, against: Path | None) -> list[Decision]:
    """What to do where domains were chosen from a menu, and the policy says other values itself."""
    others = any(rule.name == "domain" for found in verdicts for rule in found.named("no"))
    if not others or not any(map(_advised, verdicts)):
        return []
    question = "The domain was chosen from a menu: if the menu is to say the values, let the policy name it."
    file = "FILE" if against is None else str(against)
    more = [file, "--class", policy.class_name, "--menu", "FILE", "--out", policy.where, "--overwrite"]
    context = click.get_current_context()
    return [Decision(question, (asked(context, "init", only=READING, more=more), asked(context)))]


def _measurable(found: GateVerdict) -> bool:
    """Whether private rows decide something that is open: of noisy counts they decide nothing."""
    published = found.verification.release or found.verification.strata
    release = published.first if isinstance(published, StratifiedRelease) else published
    noisy = release is not None and release.certificate.privacy is not None
    return not noisy and bool(found.named("claimed") or found.named("unmeasured"))


def undeclared_in(verdicts: Sequence[GateVerdict], policy: Policy, menu: Menu | None) -> list[Decision]:
    """What to do where columns have values of rows because a menu, or a policy, says that they have."""
    offered = policy.menu or menu
    listed = policy.from_rows if offered is None else offered.undeclared
    names: dict[str, None] = {}
    for found in verdicts:
        published = found.verification.release or found.verification.strata
        if published is None or not any(rule.name == "undeclared_columns" for rule in found.named("no")):
            continue
        columns = published.columns if isinstance(published, StratifiedRelease) else published.views
        names |= dict.fromkeys(name for name in (*columns.attributes, policy.class_name) if name in listed)
    return [declaring(policy, list(names), (), menu)] if names else []


def _advised(found: GateVerdict) -> bool:
    """Whether a certificate names a menu that the domain was chosen from."""
    published = found.verification.release or found.verification.strata
    release = published.first if isinstance(published, StratifiedRelease) else published
    return release is not None and release.certificate.advice is not None


def _by_menu(found: GateVerdict) -> bool:
    """Whether a claim is one that the menu decides which the certificate names."""
    return _advised(found) and any(rule.name == "undeclared_columns" for rule in found.named("claimed"))


def annotate(verdicts: Sequence[GateVerdict], unread: Sequence[tuple[str, str]]) -> None:
    """Print the annotations of all folders."""
    for found in verdicts:
        for line in annotations(found):
            print(line)
    for path, why in unread:
        print(f"::error file={_property(path)},title=nbcfast gate::{_data(f'not read: {why}')}")


def annotations(found: GateVerdict) -> list[str]:
    """What keeps a folder from passing, as commands of GitHub: errors, and warnings of what is open."""
    lines = [_annotation("error", found, rule) for rule in found.named("no")]
    lines += [_annotation("warning", found, rule) for rule in found.named("unmeasured")]
    if not found.policy.accept_claims:
        lines += [_annotation("warning", found, rule) for rule in found.named("claimed")]
    return lines


def _annotation(kind: str, found: GateVerdict, rule: PolicyRule) -> str:
    title = f"nbcfast gate: {rule.name}"
    properties = f"file={_property(found.path)},title={_property(title)}"
    return f"::{kind} {properties}::{_data(f'{MARKS[rule.state]}: {rule.text}')}"


def _data(text: str) -> str:
    """A text in which nothing ends the command, or begins another."""
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
