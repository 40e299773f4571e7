"""Releases in scikit-learn: estimators whose fitted state is what was published.

Importing this room imports no scikit-learn: each name brings its own module when it is first asked for.
What is where:

- `classifier`: an estimator that makes a release in `fit` (`made_in_fit`), and holds nothing else
- `binner`: numbers to bins whose edges are public
- `columns_in`: what scikit-learn calls X and y, as encoded columns; `column_bins` for floats
- `disguised_classifier`: an estimator that is fitted on answers by randomised response
- `fitted_counts`: the counts of a fitted CategoricalNB as views
- `side_by_side`: releases beside other classifiers (`compared_entries`), and what they give away
  (`given_away`); all of it is a `comparison`
- `words_of_estimators`: how errors call parameters
"""

import importlib as _importlib
from typing import Any as _Any

# In which module each public name is.
_HOMES: dict[str, str] = {
    "ComparedRelease": "comparison",
    "DeclaredBinner": "binner",
    "DisguisedNBClassifier": "disguised_classifier",
    "PublishableNBClassifier": "classifier",
    "ReleaseComparison": "comparison",
    "UndeclaredDomainWarning": "column_bins",
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
