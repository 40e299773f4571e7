"""What a frame hands over to rooms above it: its counts are made where all counts are, in `views`."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbcfast.views import Viewset


def count_frame(frame: object, class_name: str, attributes: Iterable[str] | None) -> Viewset:
    """The counts of a frame."""
    views: Viewset = importlib.import_module("nbcfast.views").count(frame, class_name, attributes)
    return views
