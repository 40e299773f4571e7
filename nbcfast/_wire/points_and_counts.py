"""Whether the points of a canonical release decide every tuple as its counts do."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from nbcfast._wire.excess import MOST_MULTIPLIED, Logs
from nbcfast._wire.long_products import product_of
from nbcfast._wire.messages import short
from nbcfast._wire.release_form import ReleaseDocument

if TYPE_CHECKING:
    from nbcfast._wire.outcomes import Judged


MOST_HALF = 200_000  # combinations of the values of half of the attributes
MOST_LISTED = 500_000  # tuples times classes, or thousands of bits of their scores
MOST_VALUES = 100_000  # of which logarithms are taken
MOST_EXACT = 1_000_000  # near ties that are decided one by one
MOST_EXACT_BITS = 1 << 27  # of the products that these take


def scorecard(document: ReleaseDocument) -> Judged:
    """The check that the points of a canonical release decide every tuple as its counts do.

    Of two classes both rules are sums over the attributes. The sums of one half of them are sorted, and each
    sum of the other half says behind how many of these it is. Two rules with equal numbers, both ways, are
    the same rule.
    """
    name, n_classes = "scorecard", len(document.classes)
    if n_classes == 1:
        return []
    made = document.canonical
    assert made is not None
    if made["listed"] is not None:
        text = "not checked here: answers are kept on a list of tuples, which is not in the file"
        return [(name, None, text)]
    product, sharing = document.tuples, document.sharing
    most_half = MOST_HALF // sharing
    too_large = f"not checked here: {short(product)} tuples would take too long; nbcfast verify does it"
    if n_classes > 2:
        bits = sum(number.bit_length() for number in document.class_counts) * len(document.attributes)
        if product * n_classes * (1 + bits // 1000) > MOST_LISTED // sharing or bits > MOST_MULTIPLIED:
            return [(name, None, too_large)]
        wrong = _listed_wrong(document)
        text = (
            f"points and counts decide {'alike' if not wrong else 'differently'} on {short(product)} tuples"
        )
        return [(name, not wrong, text)]
    several = [place for place, (_, values, _) in enumerate(document.attributes) if len(values) > 1]
    half, least, first = 0, product, 1
    for place in several:
        first *= len(document.attributes[place][1])
        if first > most_half:  # before numbers as long as `product` are divided once for each attribute
            break
        if max(first, product // first) < least:
            half, least = place + 1, max(first, product // first)
        if first > least:
            break
    n_values = sum(len(values) for _, values, _ in document.attributes)
    if least > most_half or n_values > MOST_VALUES // sharing:
        return [(name, None, too_large)]
    n = len(document.attributes)
    logs = Logs(document, 64)
    terms = [
        [logs.at(i, t, 0) - logs.at(i, t, 1) for t in range(len(values))]
        for i, (_, values, _) in enumerate(document.attributes)
    ]
    p, q = document.class_counts
    base = (n - 1) * (logs.below(q) - logs.below(p)) if p != q else 0
    exactly = _Exactly(document, half)
    by_counts = _places_in_halves(terms, base, half, 2 * (n + abs(n - 1)), exactly)
    if by_counts is None and exactly.left >= 0:
        return [(name, None, f"not checked here: ties of {short(product)} tuples would take too long")]
    if by_counts is None:
        text = f"more than {MOST_EXACT:,} tuples are nearly tied, and a canonical release keeps off ties"
        return [(name, False, text)]
    of_points = [[row[0] for row in rows] for rows in made["points"]]
    same = by_counts == _places_in_halves(of_points, made["constants"][0], half)
    text = f"points and counts decide {'alike' if same else 'differently'} on the {short(product)} tuples"
    return [(name, same, text)]


class _Exactly:
    """Whether X_0 > X_1 where the values of each half of the attributes are these, by integers.

    `left` are the ties that may still be decided, and `bits` those of the products that this takes.
    """

    def __init__(self, document: ReleaseDocument, half: int) -> None:
        self.document, self.half = document, half
        self.left, self.bits = MOST_EXACT, MOST_EXACT_BITS // document.sharing
        p, q = document.class_counts
        others = len(document.attributes) - 1
        self.each = others * (p.bit_length() + q.bit_length() if p != q else 0)
        for _, _, counts in document.attributes:
            self.each += max(x.bit_length() + y.bit_length() for x, y in counts)
        self.of_class: tuple[int, int] | None = (1, 1) if p == q else None

    def affords(self, ties: int) -> bool:
        """Whether so many more can be decided."""
        self.left -= ties
        self.bits -= ties * self.each
        return self.left >= 0 and self.bits >= 0 and (not ties or self.each <= MOST_MULTIPLIED)

    def __call__(self, i: int, j: int) -> bool:
        if self.of_class is None:
            p, q = self.document.class_counts
            others = len(self.document.attributes) - 1
            self.of_class = q**others, p**others
        up, down = [self.of_class[0]], [self.of_class[1]]
        attributes = self.document.attributes
        for part, combination in ((attributes[: self.half], i), (attributes[self.half :], j)):
            index = combination
            for _, values, counts in reversed(part):
                index, code = divmod(index, len(values))
                up.append(counts[code][0])
                down.append(counts[code][1])
        return product_of(up) > product_of(down)


def _places_in_halves(
    terms: list[list[int]], base: int, half: int, room: int = 0, exactly: _Exactly | None = None
) -> tuple[list[int], list[int]] | None:
    """For each sum of one half how many of the other make it positive, both ways; None after too many ties.

    Sums within `room` of 0 are decided by `exactly`.
    """
    halves = []
    for part in (terms[:half], terms[half:]):
        sums = [0]
        for values in part:
            if len(values) == 1:
                base += values[0]
            else:
                sums = [one + two for one in sums for two in values]
        halves.append(sums)
    halves[0] = [one + base for one in halves[0]]
    found = []
    for side in (0, 1):
        own, other = halves[side], halves[1 - side]
        order = sorted(range(len(other)), key=other.__getitem__)
        ranked = [other[place] for place in order]
        counts = []
        for i, one in enumerate(own):
            place = bisect_right(ranked, room - one)
            positive = len(ranked) - place
            if exactly is not None:
                near = order[bisect_left(ranked, -room - one) : place]
                if not exactly.affords(len(near)):
                    return None
                positive += sum(exactly(j, i) if side else exactly(i, j) for j in near)
            counts.append(positive)
        found.append(counts)
    return found[0], found[1]


def _listed_wrong(document: ReleaseDocument) -> int:
    """How many tuples the points decide differently from the counts, one by one."""
    made = document.canonical
    assert made is not None
    n, classes = len(document.attributes), range(len(document.classes))
    powers = [count ** (n - 1) for count in document.class_counts]
    whole_power = product_of(list(powers))
    factors, totals = [[whole_power // power] for power in powers], [*made["constants"], 0]
    several = []
    for (_, _, counts), rows in zip(document.attributes, made["points"]):  # noqa: B905
        if len(counts) > 1:
            several.append((counts, [(*row, 0) for row in rows]))
            continue
        for c in classes:  # the same in every tuple
            factors[c].append(counts[0][c])
            totals[c] += (*rows[0], 0)[c]
    entries = [([product_of(of_class) for of_class in factors], totals)]
    for counts, points in several:
        entries = [
            (
                [score * number for score, number in zip(scores, row)],  # noqa: B905
                [total + number for total, number in zip(totals, added)],  # noqa: B905
            )
            for scores, totals in entries
            for row, added in zip(counts, points)  # noqa: B905
        ]
    wrong = 0
    order = document.fields["preserve"] == "order"
    for scores, totals in entries:
        ranked = [sorted(classes, key=lambda c: (numbers[c], c)) for numbers in (scores, totals)]
        wrong += ranked[0] != ranked[1] if order else ranked[0][-1] != ranked[1][-1]
    return wrong
