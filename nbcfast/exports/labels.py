"""The classes of a release as other programs name them."""

from __future__ import annotations

from collections.abc import Sequence

from nbcfast.exports.raw_values import Raw
from nbcfast.table.values import SUPPRESSED, Interval, Value


def label_value(label: Value) -> Raw:
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
    return repr(label) if isinstance(label, Interval) else label  # type: ignore[return-value]


def label_texts(classes: Sequence[Value]) -> list[str]:
    """All classes as texts, as in CSV: a bool is true or false."""
    found = [label_value(label) for label in classes]
    return [str(label).lower() if isinstance(label, bool) else str(label) for label in found]
