"""How large the totals of a points table become, and whether those who add them up can hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbcfast._core.numbers import amount_text

if TYPE_CHECKING:
    from nbcfast.published.points_table import PointsTable

MOST_TOTAL = 1 << 61  # so that differences of totals have 64 bits, too
MOST_SMALL = 1 << 31  # integers of a database may end here before they are told to have 64 bits


def most_total(points: PointsTable) -> int:
    """What no total of a tuple exceeds in size, nor the threshold, nor a sum on the way to it."""
    each = [
        max((abs(number) for row in rows for number in row), default=0) for _, _, rows in points.attributes
    ]
    return sum(each) + max(map(abs, points.constants), default=0) + abs(points.threshold or 0)


def expect_fit(points: PointsTable, most: int = MOST_TOTAL, where: str = "files") -> None:
    """Refuse points whose totals `where` would round, or wrap around."""
    found = most_total(points)
    if found >= most:
        raise ValueError(
            f"totals must be below {amount_text(most)} for {where}, got up to {amount_text(found)}: publish "
            "with bits=, or a coarser domain"
        )


def least_total(points: PointsTable) -> int:
    """What no total of a class is below."""
    least = list(points.constants or (0,))
    for _, _, rows in points.attributes:
        for c in range(len(least) if rows else 0):
            least[c] += min(row[c] for row in rows)
    return min(least)
