"""What a publisher chooses by name, for annotations: several rooms take the same choices."""

from typing import Literal

Preserve = Literal["order", "label"]  # which comparisons of classes a release keeps
Attacker = Literal["row", "worlds"]  # whom an amplification is demanded against

Empty = Literal["error", "none"]  # what to do with a table without rows: refuse it, or give None
EMPTY: tuple[Empty, ...] = ("error", "none")
