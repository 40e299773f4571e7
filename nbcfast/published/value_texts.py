"""Values as texts that people read: null among them, and no two that look alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from nbcfast._wire.messages import printable
from nbcfast.table.values import SUPPRESSED, Interval, Suppressed, Value

NULL = "(null)"
# What Markdown or the HTML in it would act on; an address becomes no link.
MARKS = re.compile(r"[\\`*_\]<>&|~$@#!]|:(?=//)|(?<=www)\.", re.IGNORECASE)


def texts_of(values: Sequence[object], text_of: Callable[[object], str] | None = None) -> list[str]:
    """The values as texts, each another: of those that would look alike it is said which one they are.

    Parameters
    ----------
    values : sequence
        Each once.
    text_of : callable, optional
        The text of a value that is not null; by default how it is printed.

    Examples
    --------
    >>> texts_of(["a", None]), texts_of(["(null)", None])
    (['a', '(null)'], ['(null)', '(null: no value)'])
    """
    found = [NULL if value is None else (text_of or _printed)(value) for value in values]
    if len(set(found)) == len(found):
        return found
    taken: set[str] = set()
    # Null gives way to a text, which is published as it is.
    for place in sorted(range(len(found)), key=lambda place: values[place] is None):
        text = found[place]
        if text in taken:
            said = "no value" if values[place] is None else f"value {place + 1}"
            text = f"({NULL[1:-1]}: {said})" if values[place] is None else f"{text} ({said})"
            while text in taken or text in found:
                text = f"({text})"
        taken.add(text)
        found[place] = text
    return found


def label_value(label: Value) -> bool | int | float | str:
    """A class as files have it: of a bin its text.

    Raises
    ------
    ValueError
        If it is null or suppressed.

    Examples
    --------
    >>> label_value("ill"), label_value(Interval(20, 30))
    ('ill', '[20, 30)')
    """
    if label is None or label is SUPPRESSED:
        what = "null" if label is None else "suppressed"
        raise ValueError(f"a class that is {what} cannot be told from no answer: name it before you publish")
    if isinstance(label, Interval):
        return repr(label)
    assert not isinstance(label, Suppressed)
    return label


def markdown_text(text: str) -> str:
    r"""A text as Markdown shows it letter by letter: no mark, link or element in it.

    Examples
    --------
    >>> print(markdown_text("<b>*a_b*"))
    \<b\>\*a\_b\*
    """
    return MARKS.sub(r"\\\g<0>", text)


def _printed(value: object) -> str:
    return printable(str(value))
