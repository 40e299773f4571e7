"""Publish naive Bayes classifiers and tables, with exact bounds on what they tell of the people in them."""

__version__ = "0.1.0"

import importlib as _importlib
import os as _os
import sys as _sys

from nbcfast._core.processor import wrong_vectors as _wrong_vectors
from nbcfast._core.stopping import is_command as _is_command
from nbcfast._core.stopping import stop_at_once as _stop_at_once

if _is_command(_sys.argv, _sys.orig_argv):  # while all else is imported Ctrl-C is one line
    _stop_at_once()
if _wrong := _wrong_vectors():
    raise ValueError(_wrong)

try:
    _built = _importlib.import_module("nbcfast._build").__file__ or ""
except ImportError:
    _built = ""
# An editable install elsewhere would lend its kernels to a tree that has none.
if _os.path.dirname(_built) != _os.path.dirname(__file__):
    raise ImportError(
        f"the nbcfast in {__path__[0]} is a source tree without compiled kernels: leave that folder to "
        "use an installed nbcfast, or compile here with 'pip install -e .'"
    )

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from nbcfast._core.errors import Infeasible
from nbcfast._reading.csv_files import read_csv
from nbcfast._reading.parquet import read_parquet
from nbcfast.table import SUPPRESSED, Interval, Table, concat
from nbcfast.views import Viewset, count

if _TYPE_CHECKING:
    from nbcfast.canonical import advise
    from nbcfast.equivalence import compare, margin
    from nbcfast.published import Certificate, Release
    from nbcfast.publishing import gate, publish
    from nbcfast.sklearn.side_by_side import compare_releases
    from nbcfast.transform import safety_transform
    from nbcfast.verification import load, verify

__all__ = [
    "SUPPRESSED",
    "Certificate",
    "Infeasible",
    "Interval",
    "Release",
    "Table",
    "Viewset",
    "advise",
    "compare",
    "compare_releases",
    "concat",
    "count",
    "gate",
    "load",
    "margin",
    "publish",
    "read_csv",
    "read_parquet",
    "safety_transform",
    "verify",
]

# Rooms that not everybody enters are imported when they, or what is in them, are first asked for.
_ROOMS = {
    "Certificate": "published",
    "Release": "published",
    "advise": "canonical",
    "compare": "equivalence",
    "compare_releases": "sklearn",
    "gate": "publishing",
    "load": "verification",
    "margin": "equivalence",
    "publish": "publishing",
    "safety_transform": "transform",
    "verify": "verification",
}
_PUBLIC = {
    "associations",
    "attack",
    "canonical",
    "closeness",
    "domains",
    "dp",
    "equivalence",
    "exports",
    "ledger",
    "policies",
    "published",
    "publishing",
    "reference",
    "release",
    "reports",
    "response",
    "safety",
    "sklearn",
    "skyline",
    "streams",
    "templates",
    "transform",
    "verification",
    "verify_release",
}


def __getattr__(name: str) -> _Any:
    if name in _PUBLIC:
        return _importlib.import_module(f"nbcfast.{name}")
    if name not in _ROOMS:
        raise AttributeError(f"module 'nbcfast' has no attribute {name!r}")
    globals()[name] = value = getattr(_importlib.import_module(f"nbcfast.{_ROOMS[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PUBLIC})
