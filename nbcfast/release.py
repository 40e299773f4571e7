"""The former name of `nbcfast.published` and `nbcfast.verification`, for one version."""

import warnings
from importlib import import_module
from typing import Any

_HOMES = {
    "Canonical": "published",
    "Certificate": "published",
    "Check": "verification",
    "Posterior": "published",
    "PublicList": "published",
    "Quality": "published",
    "Release": "published",
    "Verification": "verification",
    "evaluate": "published",
    "load": "verification",
    "verify": "verification",
    "worst_posterior": "published",
    "worst_posteriors": "published",
}
_RENAMED = {"Posterior": "WorstPosterior"}  # that of `attack` is what an adversary believes at one tuple
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, now = f"nbcfast.{_HOMES[name]}", _RENAMED.get(name, name)
    warnings.warn(f"nbcfast.release.{name} is now {home}.{now}", DeprecationWarning, stacklevel=2)
    return getattr(import_module(home), now)
