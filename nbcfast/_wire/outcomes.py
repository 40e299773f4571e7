"""What comes of checks: each holds, fails or is not decided, and all of them make one verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    # (name, holds, sentence) of each check; None where it is not made, because it would take too long, or
    # something that is not in the file
    Judged = list[tuple[str, bool | None, str]]
    Decided = dict[str, bool | None]  # of each check that there is


CLAIMED = "the publisher claims, unchecked:"
NOTE = "note:"
WARNING = "warning:"
VERDICTS: dict[bool | None, tuple[str, int]] = {
    True: ("verified", 0),
    False: ("not verified", 1),
    None: ("not fully checked", 3),
}


def outcome(found: Iterable[bool | None]) -> bool | None:
    """Whether all checks hold; None if none fails and some is not decided."""
    decided = list(found)
    return False if False in decided else None if None in decided else True


def decisions(results: Judged) -> Decided:
    """What comes of each check by its name; of several with one name, of all of them."""
    found: Decided = {}
    for name, holds, _ in results:
        found[name] = outcome([found.get(name, True), holds])
    return found


def verdict(found: Sequence[bool | None], claims: int, warnings: int = 0, ignored: int = 0) -> str:
    """The line above the warnings: what is verified, and what is left."""
    whole_of_it = outcome(found)
    text = VERDICTS[whole_of_it][0]
    left = []
    if whole_of_it is None:
        open_ones = sum(holds is None for holds in found)
        left.append(f"{open_ones} check{'s are' if open_ones > 1 else ' is'} not decided")
    elif claims:
        left.append("what the files can show")
    if claims:
        how_many = "1 claim of the publisher is" if claims == 1 else f"{claims} claims of the publisher are"
        left.append(f"{how_many} not checked")
    if ignored:
        things = "1 thing in the folder was" if ignored == 1 else f"{ignored:,} things in the folder were"
        left.append(f"{things} ignored, and nothing covers {'it' if ignored == 1 else 'them'}")
    if warnings:
        left.append("mind the warning below" if warnings == 1 else f"mind the {warnings} warnings below")
    return text if whole_of_it is False or not left else f"{text}: {'; '.join(left)}"


SOME_TIMES = 4  # that a table is gone through, however large it is
TOO_MANY = "not decided here: with all that is demanded it would take too long"
