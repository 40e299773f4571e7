"""A viewset in a line of text, and its labels as an array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Array
from nbcfast._core.numbers import number_text
from nbcfast.table import Domain

if TYPE_CHECKING:
    from nbcfast.views.viewset import Viewset


def in_words(views: Viewset) -> str:
    """How many rows, and the first of the classes and attributes."""
    pairs = list(zip(views.classes, views.class_counts, strict=True))
    labels = _shown([f"{label!r} {number_text(int(count))}" for label, count in pairs[:6]], len(pairs))
    named = [f"{name!r} ({len(array)})" for name, array in list(views.counts.items())[:8]]
    attributes = _shown(named, len(views.attributes)) or "none"
    noise = "" if views.noise is None else f"; {views.noise.mechanism} noise, {views.noise.level}"
    rows = number_text(int(views.n_rows))
    return f"Viewset({rows} rows; classes {labels}; attributes {attributes}{noise})"


def _shown(texts: list[str], n: int) -> str:
    return ", ".join([*texts, f".. {n} in all"] if len(texts) < n else texts)


def plain_labels(domain: Domain) -> Array:
    """Labels as an array: of objects where they are not plain numbers, bools or texts."""
    texts = [label for label in domain.values if isinstance(label, str)]
    # NumPy's texts have no null characters at their end.
    plain = domain.kind in ("int", "float", "bool", "text") and not domain.tail
    if plain and not any(label.endswith("\0") for label in texts):
        return np.array(domain.values)
    labels = np.empty(len(domain), object)
    labels[:] = domain.values
    return labels
