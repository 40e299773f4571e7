"""The checks of a partition: every demand, on the groups of the rows of its table."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from nbcfast._wire.falling_products import FEW
from nbcfast._wire.form import strange_words
from nbcfast._wire.json_entries import shown
from nbcfast._wire.messages import number_text, short
from nbcfast._wire.outcomes import SOME_TIMES, TOO_MANY
from nbcfast._wire.partition_form import PartitionDocument, listed_order, partition_warnings
from nbcfast._wire.skyline_points import GroupExtremes

if TYPE_CHECKING:
    from nbcfast._wire.outcomes import Judged
    from nbcfast._wire.table_form import RowCounts

    Histograms = dict[tuple[int, ...], dict[int, int]]  # places of a group's cells -> value -> people


def histograms(rows: RowCounts) -> Histograms:
    """The groups of people who share all values but the last: how many have which of that."""
    groups: Histograms = {}
    for row, count in rows.items():
        group = groups.setdefault(row[:-1], {})
        group[row[-1]] = count
    return groups


def judge_partition(document: PartitionDocument, rows: RowCounts) -> Judged:
    """Every demand on the groups of a table."""
    results: Judged = []
    counts = list(histograms(rows).values())
    people = sum(rows.values())
    alike = [sum(group.values()) for group in counts if len(group) == 1]
    warnings = list(
        partition_warnings(
            document.k,
            document.diversity,
            document.closeness,
            document.sensitive,
            (len(alike), len(counts), sum(alike)),
        )
    )
    said = document.fields["warnings"]
    text = "the warnings are those that go with the groups and demands"
    if said != warnings:
        text = strange_words("warnings", warnings, said)
    results.append(("words", said == warnings, text))
    same = (people, len(counts)) == (document.rows, document.groups)
    text = f"{short(people)} people in {len(counts)} groups"
    if not same:
        text += f"; the certificate says {short(document.rows)} in {short(document.groups)}"
    results.append(("groups", same, text))
    if document.k is not None:
        least = min(sum(group.values()) for group in counts)
        sign = ">=" if least >= document.k else "<"
        text = f"the smallest group has {short(least)} people, {sign} {short(document.k)}"
        results.append(("k", least >= document.k, text))
    if document.diversity is not None:
        results.append(("diversity", *_diverse(counts, *document.diversity)))
    if document.closeness is not None:
        holds, text = _close(counts, len(document.values), *document.closeness)
        results.append(("closeness", holds, text + _claimed_order(document, counts)))
    extremes: dict[int, GroupExtremes] = {}
    size = sum(map(len, counts))
    left, passes = MOST_WEIGHED, MOST_WEIGHED + SOME_TIMES * size
    for l, k, m, confidence in document.points:
        excluded = min(l, len(document.values))  # more values than there are exclude no more
        if excluded not in extremes and passes >= size:
            passes -= size
            extremes[excluded] = GroupExtremes(counts, excluded)
        name, found = f"({short(l)}, {short(k)}, {short(m)})", extremes.get(excluded)
        if found is not None:
            # As measured, in units of some 12 microseconds: bounds of long products take 30 of them.
            left -= 1 + (found.size * (1 + m // 8 if m <= FEW else 30) if m else found.size >> 6)
        if found is None or left < 0:
            results.append((name, None, TOO_MANY))
            continue
        safe, text = found.judge(k, m, confidence)
        results.append((name, safe, text))
    return results


def _diverse(groups: list[dict[int, int]], c: Fraction, l: int) -> tuple[bool, str]:
    """Recursive (c, l)-diversity: r_1 < c (r_l + r_(l+1) + ..) in every group."""
    for group in groups:
        falling = sorted(group.values(), reverse=True)
        if not falling[0] < c * sum(falling[l - 1 :]):
            return (
                False,
                f"a group with the counts {shown(falling)} is not ({number_text(c)}, {short(l)})-diverse",
            )
    return True, f"every group is recursively ({number_text(c)}, {short(l)})-diverse"


def _close(groups: list[dict[int, int]], n_values: int, t: Fraction, distance: str) -> tuple[bool, str]:
    """t-closeness to all people: half the sum of differences, or the earth mover's distance on a line."""
    totals = [0] * n_values
    for group in groups:
        for place, count in group.items():
            totals[place] += count
    people, most = sum(totals), Fraction(0)
    line = _Line(totals) if distance == "ordered" else None
    for group in groups:
        n = sum(group.values())
        if line is not None:
            found, steps = line.moved(group, n), max(line.steps, 1)
        else:
            # Of values that a group does not have no gap is above 0.
            gaps = (count * people - totals[place] * n for place, count in group.items())
            found, steps = sum(gap for gap in gaps if gap > 0), 1
        most = max(most, Fraction(found, n * people * steps))
    sign = "<=" if most <= t else ">"
    return most <= t, f"t = {most} {sign} {number_text(t)}, {distance} distances"


class _Line:
    """The values that somebody has, in their order, and how many people have these and those before.

    Values that nobody has would only widen the scale.
    """

    def __init__(self, totals: list[int]) -> None:
        present = [place for place, total in enumerate(totals) if total]
        self.index = {place: i for i, place in enumerate(present)}
        self.steps = len(present) - 1
        self.below = list(accumulate(totals[place] for place in present))
        self.sums = [0, *accumulate(self.below)]
        self.people = self.below[-1]

    def moved(self, group: dict[int, int], n: int) -> int:
        """The sum over all values of |people G - n T|, G and T those in the group and in all up to the value.

        Between two values that the group has, G stays and T rises: the terms change their sign once.
        """
        found = own = start = 0
        ends = sorted((self.index[place], count) for place, count in group.items())
        for end, count in [*ends, (len(self.below), 0)]:
            level = self.people * own
            turn = bisect_right(self.below, level // n, start, end)
            found += (turn - start) * level - n * (self.sums[turn] - self.sums[start])
            found += n * (self.sums[end] - self.sums[turn]) - (end - turn) * level
            own, start = own + count, end
        return found


def _claimed_order(document: PartitionDocument, groups: list[dict[int, int]]) -> str:
    """That distances rest on an order which only the certificate says: texts have none of their own."""
    assert document.closeness is not None
    present = sorted({place for group in groups for place in group})
    if document.closeness[1] != "ordered" or len(present) < 3:  # two have one distance
        return ""
    kinds = {document.values[place][1][0] for place in present}
    if kinds & {"text", "bool"}:
        listed = listed_order([document.values[place] for place in present])
        return f"; the order of the values is the publisher's claim: {listed}"
    return "; a missing value is taken for the largest" if kinds & {"null", "suppressed"} else ""


MOST_WEIGHED = 1 << 17  # counts of groups, and products of factors, for all points of a skyline
