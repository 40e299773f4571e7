"""Files in which others use a release: integer points and comparisons only, compared with the release.

`exporting` has `export`. `points_of_release` has the points of any release (`strata_points` those of strata),
`domain_tuples` the tuples that a file is compared on, `raw_values` what rows hold where a value is published,
and `raw_sets` what is in the sets and bins that have names.
Each format is a module that makes the bytes of a file of points and of what is said `about` their release,
and `formats` lists them: `sql_query`, `onnx_graph`, `pmml_scorecard`, `spreadsheet`, `scorecard_csv`,
`python_file` and `calculator`, a page with a form; `workbook_sheets` is what stands in a spreadsheet,
`workbook_parts` what its file is made of, `labels` are the classes in all of them, and `scored_columns`
attributes with null apart. What loads files back is in `loaded_sql`, `loaded_onnx`, `loaded_pmml`,
`loaded_workbook` and `loaded_python`.
"""

from nbcfast.exports.about import About
from nbcfast.exports.domain_tuples import tuples_to_compare
from nbcfast.exports.exporting import DifferingFileError, export
from nbcfast.exports.points_of_release import points_of
from nbcfast.published.exported import Exported

__all__ = ["About", "DifferingFileError", "Exported", "export", "points_of", "tuples_to_compare"]
