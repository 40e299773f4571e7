"""Whether a classifier is right more often than one answer for everybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from nbcfast._core.numbers import amount_text
from nbcfast.published.points_pieces import one_answer
from nbcfast.published.points_table import PointsTable
from nbcfast.published.release import Release
from nbcfast.publishing.gate import GateFinding
from nbcfast.publishing.words import label
from nbcfast.table.table import Table
from nbcfast.table.values import Value

ABOUT = "one answer"
NO_BETTER = "no better than that"


class OneAnswer(NamedTuple):
    """How often a classifier is right, beside always saying the most frequent class.

    Attributes
    ----------
    rows, right : int
        People, and those who are answered with their class.
    frequent : value
        The class that most of them have,
    people : int
        and how many have it.
    answers : tuple of value
        The classes that anybody is answered with.
    """

    rows: int
    right: int
    frequent: Value
    people: int
    answers: tuple[Value, ...] = ()

    @classmethod
    def of(cls, parts: Iterable[tuple[Release, Table]], class_name: str) -> OneAnswer:
        """That of releases, each on rows of its own, in numbers that nothing has rounded."""
        right = 0
        of_class: Counter[Value] = Counter()
        answers: dict[Value, None] = {}
        for release, table in parts:
            views = release.views
            distinct = table.select([*views.attributes, class_name]).collapse()
            column, weights = distinct.column(class_name), distinct.weights
            assert weights is not None
            truth = column.domain.positions_in(views.class_domain)[column.codes]
            answered = views.predict(distinct, codes=True)
            right += int(weights[answered == truth].sum())
            for place, value in enumerate(column.domain.values):
                of_class[value] += int(weights[column.codes == place].sum())
            answers |= dict.fromkeys(views.classes[place] for place in np.unique(answered).tolist())
        frequent, people = of_class.most_common(1)[0]
        return cls(sum(of_class.values()), right, frequent, people, tuple(answers))

    @property
    def is_worthless(self) -> bool:
        """Whether it is right no more often; where all have one class there is nothing to be better at."""
        return self.right <= self.people < self.rows

    @property
    def text(self) -> str:
        """What it is worth, beside one answer for everybody."""
        rows, right, people = map(amount_text, (self.rows, self.right, self.people))
        if len(self.answers) == 1 and self.answers[0] == self.frequent:
            said = f"answers {label(self.frequent)} to everybody, and is right for {right} of {rows} people"
            return f"{said}: {NO_BETTER}"
        alike = f"answers {label(self.answers[0])} to everybody, " if len(self.answers) == 1 else ""
        return (
            f"{alike}right for {right} of {rows} people, and always to say {label(self.frequent)} would be "
            f"for {people}: {NO_BETTER}"
        )

    @property
    def findings(self) -> list[GateFinding]:
        """What is said where it is worth nothing."""
        return [GateFinding(ABOUT, "warned", self.text)] if self.is_worthless else []


def always_answered(releases: Sequence[Release]) -> list[GateFinding]:
    """That every case is answered with one class, which points tell without any rows."""
    if any(release.certificate.canonical is None for release in releases):
        return []
    answers = {one_answer(PointsTable.of(release)) for release in releases}
    if len(answers) > 1 or None in answers:
        return []
    value = label(releases[0].views.classes[answers.pop() or 0])
    text = f"every case that there may be is answered {value}: it tells nobody from anybody else"
    return [GateFinding(ABOUT, "warned", text)]
