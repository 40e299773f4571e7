"""The classes of a release as texts of other programs."""

from __future__ import annotations

from collections.abc import Sequence

from nbcfast.published.value_texts import label_value
from nbcfast.table.values import Value


def label_texts(classes: Sequence[Value]) -> list[str]:
    """All classes as texts, as in CSV: a bool is true or false."""
    found = [label_value(label) for label in classes]
    return [str(label).lower() if isinstance(label, bool) else str(label) for label in found]
