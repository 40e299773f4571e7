"""Publish naive Bayes classifiers and tables so that nobody in the data can be read off them."""

__version__ = "0.1.0"

try:
    from nbcfast._build import SOURCES as _SOURCES  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"the nbcfast in {__path__[0]} is a source tree without compiled kernels: leave that folder to "
        "use an installed nbcfast, or compile here with 'pip install -e .'"
    ) from error

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
