"""The release in a folder that is to be used: nothing is, of a folder that does not verify."""

from __future__ import annotations

import sys
from pathlib import Path

from nbcfast._wire.messages import printable
from nbcfast.cli.against import chosen_of
from nbcfast.cli.bars import progress
from nbcfast.domains import Declared
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.verification.checks import verify as verified
from nbcfast.verification.results import Verification

AnyRelease = Release | StratifiedRelease


def used(folder: Path, what: str, menu: Path | None = None) -> tuple[AnyRelease, Verification] | None:
    """The release in a folder with its verification; None, and lines on stderr, where a check does not hold.

    Parameters
    ----------
    folder : Path
        As `verify` takes it.
    what : str
        What is not done then: "nothing is predicted".
    menu : Path, optional
        The menu that the domain of the release was chosen from, which is checked too.

    Raises
    ------
    ValueError
        If something else than a release is in it.
    """
    with progress("verifying") as report:
        verification = verified(folder, menu=menu, progress=report)
    if verification.exit_code == 1:
        failed = [check for check in verification.checks if check.passed is False]
        for check in failed:
            print(
                f"nbcfast: {printable(str(folder))}: {check.name}: {printable(check.text)}", file=sys.stderr
            )
        print(f"nbcfast: {what}: {printable(str(folder))} does not verify", file=sys.stderr)
        return None
    release = verification.release or verification.strata
    if release is None:
        raise ValueError(f"{folder}: expected a release of `publish`, got a {verification.kind}")
    return release, verification


def domains_of(release: AnyRelease, declared: Declared | None, menu: Path | None) -> Declared | None:
    """What raw values were put into before a release was made, as far as options say it."""
    if menu is None:
        return declared
    first = release if isinstance(release, Release) else release.first
    return chosen_of(menu, first, "class" if release.class_name is None else release.class_name)
