"""What leaves: published counts with their certificate, and the file that holds both.

- any kind: `base` writes and judges it; `table_lines` are those of table.csv, `formulas` the texts in them
  that a spreadsheet would run; `typed` values as certificates have them
- a release: `release` with its `certificate`, and that of the choice of its domain in `advised`;
  `points_table` with its `points_picture`, `points_pieces` of it for pages, `points_sql` for engines (of raw
  values by `opened_sets`), and `points_totals`: how large these become; its values as `value_texts` that do
  not look alike; `limits` that it keeps;
  `noised`: the noise in its counts; `wire` writes it, `document` is its file, `restored` makes it of that
- used: `placing` puts raw values among those that were published, `raw_rows` answers tables and streams,
  `scored_file` writes a file with the answers beside its rows (`added_columns`), to one of the `row_sinks`,
  and where the file has the class `right_answers` counts them
- one for each value of a column: `strata`; `release_pieces` are what notebooks show
- made of a release: `dataset`, and `fitted` for scikit-learn; `exported` is what `nbcfast.exports` says
"""

from nbcfast.published.advised import Advised, ChoiceLimits
from nbcfast.published.certificate import Canonical, Certificate, PublicList
from nbcfast.published.release import Release
from nbcfast.published.strata import StrataCertificate, StratifiedRelease
from nbcfast.views.quality import Quality, WorstPosterior, evaluate, worst_posterior, worst_posteriors

__all__ = [
    "Advised",
    "Canonical",
    "Certificate",
    "ChoiceLimits",
    "PublicList",
    "Quality",
    "Release",
    "StrataCertificate",
    "StratifiedRelease",
    "WorstPosterior",
    "evaluate",
    "worst_posterior",
    "worst_posteriors",
]
