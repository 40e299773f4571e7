"""Tuples as people read them."""

from __future__ import annotations

from nbcfast._wire.messages import printable
from nbcfast.table.values import Value


def tuple_text(values: dict[str, Value]) -> str:
    shown = [f"{printable(name)}={value!r}" for name, value in list(values.items())[:8]]
    if len(values) > len(shown):
        shown.append(f".. {len(values)} in all")
    return ", ".join(shown) or "the empty tuple"
