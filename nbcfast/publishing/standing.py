"""What there is to say about a classifier, private or published: its odds, its posteriors, its worth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nbcfast._core.chances import bound_text
from nbcfast.publishing.words import json_integer, label
from nbcfast.safety import Amplification, amplification
from nbcfast.table.table import Table
from nbcfast.table.values import plain
from nbcfast.views import Viewset
from nbcfast.views.quality import Quality, WorstPosterior, evaluate, worst_posteriors

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MOST_DIGITS = 30  # of ln Lambda, beyond which it is written as a power of ten


@dataclass(frozen=True)
class Standing:
    """How a classifier stands.

    Attributes
    ----------
    amplification : Amplification
        Lambda, and where it is attained.
    worst : tuple of WorstPosterior
        The largest posterior of each class.
    rows : int
        What its counts stand for.
    quality : Quality
        Accuracy and log-loss on the private table.
    """

    amplification: Amplification
    worst: tuple[WorstPosterior, ...]
    rows: int
    quality: Quality

    @classmethod
    def of(cls, views: Viewset, table: Table, class_name: str, progress: Progress | None = None) -> Standing:
        """That of some counts, judged on the private table."""
        quality = evaluate(views, table, class_name, progress=progress)
        return cls(amplification(views), worst_posteriors(views), views.n_rows, quality)

    @property
    def lambda_text(self) -> str:
        if self.amplification.infinite:
            return "infinite"
        log = self.amplification.log
        return f"{math.exp(log):,.6g}" if log < MOST_DIGITS else f"about 10^{log / math.log(10):.1f}"

    @property
    def worst_of_all(self) -> WorstPosterior:
        return max(self.worst, key=lambda posterior: posterior.probability)

    @property
    def loss_text(self) -> str:
        return f"{self.quality.log_loss:.4f}"

    @property
    def accuracy_text(self) -> str:
        return f"{self.quality.accuracy:.2%}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON; None for what is infinite."""
        odds, worst = self.amplification, self.worst_of_all
        return {
            "amplification": None if odds.infinite else odds.to_dict()["value"],
            "amplification_float": math.exp(odds.log) if odds.log < 700 else None,
            "log_amplification": None if odds.infinite else odds.log,
            "worst_posterior": {**worst.to_dict(), "label": plain(worst.label)},
            "rows": json_integer(self.rows),
            "log_loss": plain(self.quality.log_loss),
            "accuracy": self.quality.accuracy,
            "correct": self.quality.correct,
        }


def posterior_text(posterior: WorstPosterior, named: bool = False) -> str:
    """The probability, rounded up, and of which class if that is not said beside it."""
    bound = "" if posterior.exact else "at most "
    return f"{bound}{bound_text(posterior.probability)}{f' {label(posterior.label)}' if named else ''}"
