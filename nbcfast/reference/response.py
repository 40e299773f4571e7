"""Randomised response in the plainest exact Python: every outcome of every coin is looked at.

Zhan, Chang, Matwin (2004), corrected. A record is a tuple of values 0 and 1; a scheme is a list of groups,
each a tuple (theta, columns): with probability theta the columns of the group are told as they are, else all
of them are reversed. A column in no group is told as it is. p = theta, q = 1 - theta, delta = 2 theta - 1.
"""

from collections import Counter
from fractions import Fraction
from itertools import product


def reversed_record(record, columns):
    """The record with these columns the other way round."""
    return tuple(1 - value if place in columns else value for place, value in enumerate(record))


def answers(record, scheme):
    """(probability, answer) for each outcome of the coins of one respondent."""
    for liars in product((False, True), repeat=len(scheme)):
        weight, answer = Fraction(1), tuple(record)
        for lie, (theta, columns) in zip(liars, scheme, strict=True):
            theta = Fraction(theta)
            weight *= 1 - theta if lie else theta
            answer = reversed_record(answer, columns) if lie else answer
        if weight:
            yield weight, answer


def outcomes(records, scheme):
    """(probability, table of answers) for each outcome of the coins of all respondents."""
    for choice in product(*(list(answers(record, scheme)) for record in records)):
        weight = Fraction(1)
        for part, _ in choice:
            weight *= part
        yield weight, [answer for _, answer in choice]


def expectation(function, records, scheme):
    """The mean of function(answers) over all coins, entry by entry."""
    total = None
    for weight, table in outcomes(records, scheme):
        found = [weight * number for number in function(table)]
        total = found if total is None else [a + b for a, b in zip(total, found, strict=True)]
    return total


def variance(function, records, scheme):
    """The variance of function(answers) over all coins, entry by entry."""
    means = expectation(function, records, scheme)
    squares = expectation(lambda table: [number * number for number in function(table)], records, scheme)
    return [square - mean * mean for square, mean in zip(squares, means, strict=True)]


def share(records, event):
    """P(E) for E = {column: value}."""
    if not records:
        raise ValueError("no rows")
    hits = sum(all(record[column] == value for column, value in event.items()) for record in records)
    return Fraction(hits, len(records))


def proportion(records, scheme, event):
    """The estimate of P(E): butterflies over the groups that E mentions, one after the other.

    (a, b) -> ((p a - q b) / delta, (p b - q a) / delta), a and b the shares of E and of E with the literals
    of the group reversed; the first entry is the estimate.
    """
    for theta, columns in scheme:
        if any(column in event for column in columns):
            others = [group for group in scheme if group[1] is not columns]
            opposite = {c: 1 - value if c in columns else value for c, value in event.items()}
            p = Fraction(theta)
            a, b = (proportion(records, others, one) for one in (event, opposite))
            return (p * a - (1 - p) * b) / (2 * p - 1)
    return share(records, event)


def contribution(answer, scheme, event):
    """What one answer adds to n times the estimate of P(E)."""
    return proportion([answer], scheme, event)


def sample_variance(records, scheme, event):
    """The unbiased estimate of the variance of the estimate of P(E), records drawn at random."""
    n = len(records)
    parts = [contribution(record, scheme, event) for record in records]
    mean = sum(parts) / n
    return sum((part - mean) ** 2 for part in parts) / (n - 1) / n


def accuracy(predict, records, scheme, class_column):
    """The accuracy of predict(record) on the truth, estimated from answers (equation (7), corrected).

    For each set of groups the share of records right when these are reversed, and then the butterflies.
    """

    def right(record):
        return int(predict(record) == record[class_column])

    def estimate(groups, tables):
        if not groups:
            return Fraction(sum(map(right, tables)), len(tables))
        (theta, columns), rest = groups[0], groups[1:]
        p = Fraction(theta)
        a = estimate(rest, tables)
        b = estimate(rest, [reversed_record(record, columns) for record in tables])
        return (p * a - (1 - p) * b) / (2 * p - 1)

    return estimate(scheme, list(records))


def kary_answers(record, scheme, sizes, lie="each"):
    """(probability, answer) for a scheme of k-ary values.

    A lie replaces each value of the group by another one, uniformly (lie="each"), or the tuple of all its
    values by another tuple (lie="tuple").
    """
    found = {tuple(record): Fraction(1)}
    for theta, columns in scheme:
        theta, spread = Fraction(theta), Counter()
        for told, weight in found.items():
            true = tuple(told[column] for column in columns)
            every = list(product(*(range(sizes[column]) for column in columns)))
            if lie == "each":
                false = [o for o in every if all(a != b for a, b in zip(o, true, strict=True))]
            else:
                false = [o for o in every if o != true]
            for other, chance in [(true, theta), *((o, (1 - theta) / len(false)) for o in false)]:
                answer = list(told)
                for column, value in zip(columns, other, strict=True):
                    answer[column] = value
                spread[tuple(answer)] += weight * chance
        found = spread
    return [(weight, answer) for answer, weight in found.items() if weight]


def simplex(point, total):
    """The nearest point, in Euclid's sense, with entries of at least 0 that add up to total."""
    point = [Fraction(entry) for entry in point]
    ordered = sorted(point, reverse=True)
    shift = None
    for size in range(1, len(ordered) + 1):
        candidate = (sum(ordered[:size]) - total) / size
        if ordered[size - 1] > candidate:
            shift = candidate
    if shift is None:
        return [Fraction(0) for _ in point]
    return [max(entry - shift, Fraction(0)) for entry in point]


def kary_maximum_likelihood(counts, theta):
    """Maximum likelihood of the shares under k-ary randomised response, in closed form."""
    k, p = len(counts), Fraction(theta)
    q = (1 - p) / (k - 1)
    order = sorted(range(k), key=lambda place: -counts[place])
    found = [Fraction(0)] * k
    for size in range(1, k + 1):
        kept = order[:size]
        total = sum(counts[place] for place in kept)
        if not total:
            break
        shares = [Fraction(counts[place]) * (size * q + p - q) / total for place in kept]
        if all(share > q for share in shares):
            found = [Fraction(0)] * k
            for place, number in zip(kept, shares, strict=True):
                found[place] = (number - q) / (p - q)
    return found
