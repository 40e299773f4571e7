"""The ledger of releases: what several releases of one table give away together, which no single one shows.

`book` has `Ledger`: it reads `ledger_lines` (each with the digest of the one before), in a `locked_file` that
one writer has at a time, and holds an `asked_release` beside them; `windows` are the labels of the rows in a
release, and the policies of when one may be made. `ledger_report` says what it found: who shows in all
releases together by `joint_trace`, what the `sign_theorem` says of a row that came alone, what releases with
noise have `spent`, and whether the `answers_digest` is that of the last release, so that there is nothing to
publish.
"""

from nbcfast.ledger.book import Ledger
from nbcfast.ledger.joint_trace import JointTrace
from nbcfast.ledger.ledger_lines import LedgerError, LedgerLine, ReleaseTerms
from nbcfast.ledger.ledger_report import LedgerReport
from nbcfast.ledger.sign_theorem import RowsMoved, SignShown
from nbcfast.ledger.spent import NoiseLine, Spent
from nbcfast.ledger.windows import LedgerPolicy, WindowLabels

__all__ = [
    "JointTrace",
    "Ledger",
    "LedgerError",
    "LedgerLine",
    "LedgerPolicy",
    "LedgerReport",
    "NoiseLine",
    "ReleaseTerms",
    "RowsMoved",
    "SignShown",
    "Spent",
    "WindowLabels",
]
