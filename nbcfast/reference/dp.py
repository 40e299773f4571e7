"""Differential privacy in the plainest exact Python: samplers word by word, laws, and what is made of counts.

Samplers are those of Canonne, Kamath and Steinke (2020), Algorithms 1 to 3; `words` is an iterator of random
integers below 2^64, of which `nbcfast.dp` takes the same in the same order.
"""

from fractions import Fraction
from itertools import combinations
from math import exp, isqrt

HALF = 2**32


def below(bound, words):
    """A uniform integer below the bound, by rejection; one that is known takes no word."""
    if bound == 1:
        return 0
    if bound <= HALF:
        while True:
            product = next(words) // HALF * bound
            if product % HALF >= HALF % bound:
                return product // HALF
    bits = (bound - 1).bit_length()
    while True:
        number = 0
        for place in range(0, bits, 64):
            number += next(words) * 2**place
        number %= 2**bits
        if number < bound:
            return number


def happens(gamma, parts, words):
    """True with the chance exp(-gamma), gamma being at most 1 and a whole number of parts."""
    k = 1
    while below(k, words) == 0 and below(parts, words) < gamma * parts:
        k += 1
    return k % 2 == 1


def laplace(scale, words):
    """An integer with P(x) ~ exp(-|x| / scale)."""
    scale = Fraction(scale)
    t, s = scale.numerator, scale.denominator
    while True:
        u = below(t, words)
        if happens(Fraction(u, t), t, words):
            v = 0
            while happens(Fraction(1), 1, words):
                v += 1
            y = (u + t * v) // s
            negative = below(2, words)
            if not negative:
                return y
            if y > 0:
                return -y


def gaussian(sigma_squared, words):
    """An integer with P(x) ~ exp(-x^2 / (2 sigma_squared))."""
    sigma_squared = Fraction(sigma_squared)
    t = isqrt(sigma_squared.numerator // sigma_squared.denominator) + 1
    parts = 2 * sigma_squared.numerator * sigma_squared.denominator * t**2
    while True:
        y = laplace(t, words)
        wholes, gamma = divmod((abs(y) - sigma_squared / t) ** 2 / (2 * sigma_squared), 1)
        if all(happens(Fraction(1), 1, words) for _ in range(wholes)) and happens(gamma, parts, words):
            return y


def law(weight):
    """The probabilities of integers, in floats, from what they are proportional to: {x: P(x)}."""
    weights = {0: weight(0)}
    x = 1
    while weight(x) > 1e-30 * weights[0]:
        weights[x] = weights[-x] = weight(x)
        x += 1
    total = sum(weights.values())
    return {x: one / total for x, one in weights.items()}


def laplace_law(scale):
    return law(lambda x: exp(-abs(x) / float(scale)))


def gaussian_law(sigma_squared):
    return law(lambda x: exp(-(x**2) / (2 * float(sigma_squared))))


def log_ratio(output, counts, others, scale):
    """The logarithm of P(output) with Laplace noise on these counts over that with it on others, exactly."""
    return sum(
        (Fraction(abs(x - b) - abs(x - a)) for x, a, b in zip(output, counts, others, strict=True)),
        Fraction(0),
    ) / Fraction(scale)


def views(rows, sizes, n_classes):
    """The class counts and the counts of each attribute, of rows of values with the class at their end."""
    totals = [sum(row[-1] == c for row in rows) for c in range(n_classes)]
    tables = [
        [[sum(row[i] == t and row[-1] == c for row in rows) for c in range(n_classes)] for t in range(size)]
        for i, size in enumerate(sizes)
    ]
    return totals, tables


def projected(numbers, total):
    """The nearest point to the numbers, by Euclid, without negative ones and with this sum.

    Every set of places that may stay above 0 is tried: of the points on the set's own plane those that are in
    the domain are looked at, and the nearest one is the answer.
    """
    best = None
    for n in range(1, len(numbers) + 1):
        for kept in combinations(range(len(numbers)), n):
            less = (sum(Fraction(numbers[i]) for i in kept) - total) / n
            point = [Fraction(numbers[i]) - less if i in kept else Fraction(0) for i in range(len(numbers))]
            if min(point) < 0:
                continue
            distance = sum((x - y) ** 2 for x, y in zip(numbers, point, strict=True))
            if best is None or distance < best[0]:
                best = distance, point
    return best[1]


def realistic(totals, tables, added, finer=16):
    """Positive counts of whole rows, of noisy ones: class counts, and a table for each attribute."""
    weights = 1 + sum(Fraction(1, len(table)) for table in tables)
    estimates = [
        max(
            (total + sum(Fraction(sum(row[c] for row in table), len(table)) for table in tables)) / weights,
            Fraction(1),
        )
        for c, total in enumerate(totals)
    ]
    smallest = min(estimates)
    longest = max(map(len, tables), default=0)
    while longest and (smallest * finer - Fraction(1, 2)) * added / (smallest + added * longest) < 1:
        finer *= 2
    rows = [(estimate * finer + Fraction(1, 2)).__floor__() for estimate in estimates]
    made = []
    for table in tables:
        columns = []
        for c, estimate in enumerate(estimates):
            raised = [number + added for number in projected([row[c] for row in table], estimate)]
            columns.append(rounded(raised, rows[c]))
        made.append([list(row) for row in zip(*columns, strict=True)])
    return rows, made


def rounded(shares, total):
    """Integers in these proportions with this sum, by largest remainder, of equal ones the first."""
    exact = [share * total / sum(shares) for share in shares]
    counts = [share.__floor__() for share in exact]
    for _ in range(total - sum(counts)):
        places = range(len(exact))
        first = max(places, key=lambda i: (exact[i] - counts[i], -i))
        counts[first] += 1
    return counts
