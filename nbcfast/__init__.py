"""Publish naive Bayes classifiers and tables so that nobody in the data can be read off them."""

__version__ = "0.1.0"

import importlib as _importlib
import os as _os

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

from nbcfast.table import SUPPRESSED, Interval, Table, concat, read_csv, read_parquet
from nbcfast.views import Viewset, count

__all__ = [
    "SUPPRESSED",
    "Interval",
    "Table",
    "Viewset",
    "concat",
    "count",
    "read_csv",
    "read_parquet",
]
