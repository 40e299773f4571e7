"""What was found and what is to be decided, in words: the same on a screen, in JSON, and in a report.

`summary` has the form of it: a verdict, what was looked at, and what to do. `refusals` has a release that
did not leave, `unmet_summary` demands that nothing meets. How each kind of result is summed up is in
`publication_summary`, `verification_summary`, `attack_summary`, `model_summary`, `advice_summary`,
`skyline_summary`, `template_summary`, `response_summary`, `risk_summary`, `closeness_summary`,
`ledger_summary`, `gate_summary`, `domain_summary` and `use_summary` (what is made of a published release);
`summaries` hands
any result to its own, and `certificate_words` has what a certificate claims, in a line.

Private reports, for the owner of the rows, are pages in the frame of `owner_page`: `publication_page`, with
`leak_sections` for what its answers give away; `advice_page`; and
`judged_pages`, of tables, views, answers and adversaries.

`fact_sheet` is the page for the public, of the published files alone: `sheets` says what one is made of,
`release_facts` and `table_facts` what it says of each kind, and `checks_in_words` what was checked.
"""

from nbcfast.reports.fact_sheet import FactSheet, UnverifiedError, fact_sheet
from nbcfast.reports.refusals import Refusal
from nbcfast.reports.summaries import summary_of
from nbcfast.reports.summary import Decision, Summary

__all__ = ["Decision", "FactSheet", "Refusal", "Summary", "UnverifiedError", "fact_sheet", "summary_of"]
