"""What is published, as files: their form, and the checks that need nothing but the files.

The modules of this room use the standard library and each other, downward, and run on Python 3.8 and newer.
`tools/amalgamate.py` makes of them `nbcfast/verify_release.py`, the one file that a recipient is handed, and
`nbcfast/response/device.py`, that of a respondent.

Begin at `command`, which is the verifier, or at `kinds` (`judge_any`), where each kind has its form and
judge:

- reading: `regular_files`, `folder`, `table_csv`; `json_entries` and `typed_values` in them
- certificates: `form` is what all have in common, `release_form` with `release_words`, `smoothing_form`,
  `privacy_form` (noise in counts), `policy_form` and `advice_form`, which says how a domain was chosen
  from one of the `menus`, and `strata_form` with a list of releases; `table_form` what those of tables have,
  `partition_form`, `disclosure` and `disguised` (`scheme` in words)
- judging: `release_checks` with `excess`, `count_faults` and `points_and_counts`, which `strata_checks` asks
  of each release; `advice_checks` and `menu_checks`; `partition_checks` with `skyline_points` and
  `falling_products`; `coins`. They compute with `long_products` and `logarithms`; `concentrated` has what a
  rho of noise gives
- saying: `outcomes` make a verdict; `messages` escape and shorten, `chosen_numbers` limits digits,
  `standard_streams` prints
- `respondent`: the answer of one respondent, on a device
"""
