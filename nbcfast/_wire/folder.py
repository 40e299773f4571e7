"""What else is in a published folder: files that its certificate does not name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nbcfast._wire.form import Form
from nbcfast._wire.messages import quoted
from nbcfast._wire.regular_files import OUTSIDE, leads_out, special

if TYPE_CHECKING:
    from nbcfast._wire.outcomes import Judged


MOST_NAMED = 20  # files that a message names


def judge_folder(document: Form, path: str, ignore_extra: bool) -> tuple[Judged, list[str]]:
    """Whether the folder of the certificate at `path` holds regular files that it names, and nothing else.

    Other files and folders may be ignored: then they are listed, and there is no such check. What is no file
    that can be copied (a pipe, a device, a link that leads out of the folder) may not, and nothing of it all
    is opened.
    """
    folder, own = os.path.split(path)
    extra, strange = [], []
    for name in sorted(os.listdir(folder or os.curdir)):
        place = os.path.join(folder, name)
        named = name == own or name in document.files
        try:
            what = OUTSIDE if leads_out(place) else special(os.stat(place).st_mode)
        except OSError:
            what = "a link to nothing" if os.path.islink(place) else "not to be looked at"
        if what is not None and (named or what != "a folder"):
            strange.append(f"{quoted(name)} is {what}")
        elif not named:
            extra.append(quoted(name) if what is None else f"{quoted(name)} ({what})")
    holds, text = True, "holds nothing that the certificate does not name"
    if strange:
        holds, text = False, f"expected regular files: {_some(strange)}"
    elif extra and ignore_extra:
        return [], extra
    elif extra:
        holds, text = False, f"not named by the certificate (--ignore-extra ignores it): {_some(extra)}"
    return [("folder", holds, text)], []


def ignored_text(ignored: list[str]) -> str:
    """What is said, and not as a check, of files and folders that were passed over."""
    return f"ignored as asked, not looked at, and covered by nothing: {_some(ignored)}"


def _some(texts: list[str]) -> str:
    more = len(texts) - MOST_NAMED
    return ", ".join([*texts[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])
