"""Few rows, which are counted and decided in shorter ways, made to go the ways of many."""

from contextlib import contextmanager
from unittest import mock

from nbcfast.views import scoring, tallying


@contextmanager
def counted_by_plans():
    """Whatever is counted inside is counted in joint tables, or one attribute after the other."""
    with mock.patch.object(tallying, "FEW_FIELDS", -1):
        yield


@contextmanager
def made_anew():
    """No tables of scores are kept: each prediction inside makes those for its rows."""
    with mock.patch.multiple(scoring, FEW_FIELDS=-1, FEW_OTHERS=-1):
        yield
