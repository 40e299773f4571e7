"""Releases in scikit-learn: estimators whose fitted state is what was published.

Importing this room imports no scikit-learn: each name brings its own module when it is first asked for.

- releases beside other classifiers: `side_by_side`, of `compared_entries`; what they give away: `given_away`;
  all of it: `comparison`
- counts of a fitted CategoricalNB as views: `fitted_counts`
"""

import importlib as _importlib
from typing import Any as _Any

# In which module each public name is.
_HOMES: dict[str, str] = {
    "ComparedRelease": "comparison",
    "ReleaseComparison": "comparison",
    "compare_releases": "side_by_side",
    "to_views": "fitted_counts",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nbcfast.sklearn' has no attribute {name!r}")
    globals()[name] = value = getattr(_importlib.import_module(f"nbcfast.sklearn.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
