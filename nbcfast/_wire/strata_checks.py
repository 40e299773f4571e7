"""The checks of strata: each as the release that it is, and the list as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbcfast._wire.messages import named
from nbcfast._wire.release_checks import judge
from nbcfast._wire.strata_form import StrataDocument, checks_of_strata

if TYPE_CHECKING:
    from nbcfast._wire.outcomes import Judged
    from nbcfast._wire.table_form import RowCounts


def judge_strata(document: StrataDocument, rows: RowCounts | None = None) -> Judged:
    """(name, holds, sentence) of each check of a StrataDocument; `rows` are those of no table."""
    return judge_list(document) + checks_of_strata(document.labels, list(map(judge, document.releases)))


def judge_list(document: StrataDocument) -> Judged:
    """The check of the list, of which a document of another form is refused."""
    many = len(document.releases)
    what = "1 release" if many == 1 else f"{many:,} releases"
    alike = "the same attributes, values, classes and parameters"
    return [("strata", True, f"{what}, one for each value of {named(document.by)}, with {alike}")]
