"""The sha256 of all answers: of two classifiers it is the same if they answer alike."""

from __future__ import annotations

import hashlib
from dataclasses import fields

import numpy as np

from nbcfast._wire.json_entries import canonical_json
from nbcfast.canonical.boxes.types import AnyBox


def answers_digest(answers: AnyBox) -> str:
    """Of all that two boxes are compared by, with the kind and shape of each part.

    Examples
    --------
    >>> import nbcfast
    >>> from nbcfast.canonical import box
    >>> views = nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]]})
    >>> twice = nbcfast.Viewset([10, 10], {"job": [[4, 6], [6, 4]]})
    >>> answers_digest(box(views)) == answers_digest(box(twice))
    True
    """
    sha256 = hashlib.sha256(type(answers).__name__.encode("ascii"))
    for field in fields(answers):
        if not field.compare:
            continue
        value = getattr(answers, field.name)
        if isinstance(value, np.ndarray):
            # Of one width and order of bytes, so that machines agree.
            plain = np.ascontiguousarray(value, dtype="<i8")
            sha256.update(f"\n{field.name} {plain.shape}\n".encode("ascii"))
            sha256.update(plain.tobytes())
        else:
            sha256.update(f"\n{field.name} {canonical_json(value)}\n".encode("ascii"))
    return sha256.hexdigest()
