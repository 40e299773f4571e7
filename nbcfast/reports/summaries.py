"""`summary_of`: what any result comes to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from nbcfast._core.validation import type_name
from nbcfast.associations import Risk
from nbcfast.attack import ModelAttack
from nbcfast.canonical import Advice, Leak
from nbcfast.ledger import LedgerReport
from nbcfast.mondrian.partition import Partition
from nbcfast.publishing.findings import Adversaries
from nbcfast.publishing.noisy_report import NoisyPublication
from nbcfast.publishing.report import Publication
from nbcfast.publishing.strata_report import StratifiedPublication
from nbcfast.reports.advice_summary import of_advice
from nbcfast.reports.attack_summary import of_adversaries, of_leak
from nbcfast.reports.ledger_summary import of_report
from nbcfast.reports.model_summary import of_model
from nbcfast.reports.publication_summary import of_noisy, of_publication
from nbcfast.reports.refusals import Refusal
from nbcfast.reports.response_summary import of_disguised, of_estimate
from nbcfast.reports.risk_summary import of_risk
from nbcfast.reports.skyline_summary import of_partition, of_reports
from nbcfast.reports.summary import Decision, Summary
from nbcfast.reports.template_summary import of_disclosure
from nbcfast.reports.verification_summary import of_verification
from nbcfast.response import Disguised, Estimate
from nbcfast.skyline import Reports
from nbcfast.templates import Disclosure
from nbcfast.verification.results import Verification


@singledispatch
def _summed_up(result: object, about: str, decisions: Sequence[Decision]) -> Summary:
    raise TypeError(f"result must be what nbcfast.publish or another judge returns, got {type_name(result)}")


for _kind, _its_own in (
    (Publication, of_publication),
    (StratifiedPublication, of_publication),
    (NoisyPublication, of_noisy),
    (Verification, of_verification),
    (Leak, of_leak),
    (Adversaries, of_adversaries),
    (ModelAttack, of_model),
    (Advice, of_advice),
    (Reports, of_reports),
    (Partition, of_partition),
    (Disclosure, of_disclosure),
    (Disguised, of_disguised),
    (Estimate, of_estimate),
    (Risk, of_risk),
    (LedgerReport, of_report),
):
    _summed_up.register(_kind)(_its_own)


def summary_of(result: object, about: str = "", decisions: Sequence[Decision] = ()) -> Summary:
    """What a result comes to: a verdict, what was looked at, what to decide.

    Parameters
    ----------
    result
        What was found: a Publication, also of strata or with noise, or a Refusal; a Verification; a Leak;
        Adversaries; a ModelAttack; an Advice; the Reports of `skyline.check`; a Partition, a Disclosure,
        Disguised answers; an Estimate; a Risk; a LedgerReport.
    about : str
        What it is about, "patients.csv, diagnosis -> release"; by default what the result says itself.
    decisions : sequence of Decision
        What to decide: commands need what was typed, which no result holds.

    Returns
    -------
    Summary

    Raises
    ------
    TypeError
        If it is none of these.

    Examples
    --------
    >>> import nbcfast
    >>> patients = {"glucose": ["low", "high", "high", "low"] * 20, "ill": ["no", "yes", "no", "no"] * 20}
    >>> found = summary_of(nbcfast.publish(patients, "ill", 4))
    >>> found.verdict, found.state, found.about
    ('DO NOT PUBLISH YET', 'shows', 'a table, ill (nothing was written)')
    >>> found.findings[0].about
    'values of one class'
    """
    if isinstance(result, Refusal):
        return result.summary
    return _summed_up(result, about, decisions)
