"""SafetyTransform in the plainest exact Python: over all tuples, with Fractions and correctly rounded roots.

Views are a nbcfast.Viewset or a nbcfast.reference.views.Viewset; classes stand in rising precedence. Between
the steps counts are lists [attribute][value][class] of Fractions, and weights a list over the classes.
"""

# mypy: ignore-errors

import math
from fractions import Fraction
from itertools import count, product

import gmpy2

from nbcfast.reference import table
from nbcfast.reference.views import is_realistic, n_rows

GRID = 64  # k is a multiple of 1/64 below 64, and an integer from there on


# Scores -------------------------------------------------------------------------------------------


def lists(views):
    """Class counts and counts [attribute][value][class], as ints."""
    counts = [[[int(x) for x in row] for row in views.counts[name]] for name in views.attributes]
    return [int(x) for x in views.class_counts], counts


def tuples(counts):
    """All tuples, as positions of values."""
    return product(*(range(len(array)) for array in counts))


def score(weight, counts, row, c):
    return weight * math.prod(Fraction(array[t][c]) for array, t in zip(counts, row, strict=True))


def scores(weights, counts, row):
    """X_c = weight_c prod_i N^i_{t_i,c} of every class."""
    return [score(weights[c], counts, row, c) for c in range(len(weights))]


def weights_of(class_counts, n):
    """P_c^(1-n)."""
    return [Fraction(p) ** (1 - n) for p in class_counts]


def scores_of(views):
    """The counts, and a function tuple -> scores; of views or a pair (weights, counts)."""
    if isinstance(views, tuple):
        return views[1], lambda row: scores(*views, row)
    class_counts, counts = lists(views)
    weights = weights_of(class_counts, len(counts))
    return counts, lambda row: scores(weights, counts, row)


def ranking(x):
    """Classes, best first; of equal scores the later class."""
    return sorted(range(len(x)), key=lambda c: (x[c], c), reverse=True)


def differing(a, b, preserve="order"):
    """The tuples, as positions, where b has another order of the classes (another best class) than a.

    Both are views, or pairs (weights, counts).
    """
    (counts, of_a), (_, of_b) = scores_of(a), scores_of(b)
    found = []
    for row in tuples(counts):
        x, y = ranking(of_a(row)), ranking(of_b(row))
        if x != y if preserve == "order" else x[0] != y[0]:
            found.append(row)
    return found


def amplification(weights, counts):
    """The largest X_c / X_d over all tuples, of positive counts; 1 for one class."""
    best = Fraction(1)
    for row in tuples(counts):
        x = scores(weights, counts, row)
        best = max(best, max(x) / min(x))
    return best


# Step 1 -------------------------------------------------------------------------------------------


def least_positive(counts):
    """nu_i(t): the smallest positive count of a value over the classes, 1 where it has none."""
    return [[min((x for x in row if x), default=1) for row in array] for array in counts]


def fill_zeros(views, *, preserve="order", guard=1):
    """The exponents e_c: a zero of class c is to be replaced by nu_i(t) 2^(-e_c).

    Classes downwards. e_c is the least integer of at least 0 with 2^guard X_c <= X_d after the replacement,
    for every tuple where c has a zero and every class d that has none there or that is above c and has its
    zeros replaced by now: with preserve="order" any d > c, with preserve="label" the last class.
    """
    class_counts, counts = lists(views)
    n, size = len(counts), len(class_counts)
    weights = weights_of(class_counts, n)
    nu = least_positive(counts)
    exponents = [0] * size

    def parts(row, c):
        """X_c with 1 for each relative zero, and the number of zeros."""
        relative, zeros = weights[c], 0
        for i, t in enumerate(row):
            if counts[i][t][c]:
                relative *= Fraction(counts[i][t][c], nu[i][t])
            else:
                zeros += 1
        return relative, zeros

    for c in reversed(range(size)):
        for row in tuples(counts):
            mine, zeros = parts(row, c)
            if not zeros:
                continue
            for d in range(size):
                theirs, lacking = parts(row, d)
                above = d > c if preserve == "order" else d == size - 1
                if d == c or (lacking and not above):
                    continue
                theirs /= Fraction(2) ** (exponents[d] * lacking)
                # least e with mine 2^(guard - e zeros) <= theirs
                bits = at_least_log2(mine * Fraction(2) ** guard / theirs)
                exponents[c] = max(exponents[c], -(-bits // zeros))
    return exponents


def at_least_log2(number):
    """The least integer e with number <= 2^e."""
    e = number.numerator.bit_length() - number.denominator.bit_length() - 1
    while number > Fraction(2) ** e:
        e += 1
    return e


def filled(views, exponents):
    """The counts with zeros replaced."""
    _, counts = lists(views)
    nu = least_positive(counts)
    return [
        [
            [Fraction(x) if x else nu[i][t] / Fraction(2) ** exponents[c] for c, x in enumerate(row)]
            for t, row in enumerate(array)
        ]
        for i, array in enumerate(counts)
    ]


# Step 2 -------------------------------------------------------------------------------------------


def least_margin(views):
    """The smallest ratio above 1 of two positive scores at a tuple, e^S_M; None where there is none."""
    counts, of = scores_of(views)
    best = None
    for row in tuples(counts):
        x = [value for value in of(row) if value > 0]
        for a, b in product(x, repeat=2):
            if a > b and (best is None or a / b < best):
                best = a / b
    return best


def least_ratio(views, guard):
    """e^delta: the least of the margin and, where there are zeros, 2^guard; None where all scores tie."""
    _, counts = lists(views)
    margin = least_margin(views)
    if all(x for array in counts for row in array for x in row):
        return margin
    return Fraction(2) ** guard if margin is None else min(margin, Fraction(2) ** guard)


def grid_above(k):
    """The next k of the grid."""
    step = Fraction(1, GRID) if k < GRID else 1
    return Fraction(math.floor(k / step) + 1) * step


def least_k(value, limit):
    """The least k >= 1 of the grid with value^(1/k) <= limit."""

    def enough(k):
        # k = a / b: value^b <= limit^a
        k = Fraction(k)
        return value**k.denominator <= limit**k.numerator

    if enough(Fraction(1)):
        return Fraction(1)
    high = 1
    while not enough(high):
        high *= 2
    places, low = (GRID, GRID * high // 2) if high <= GRID else (1, high // 2)
    high *= places
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(Fraction(middle, places)) else (middle, high)
    return Fraction(high, places)


def errors(b, n, size):
    """E and eta for b bits."""
    u = Fraction(1, 2**b)
    E = (n + 1) * u * (1 + 2 * u + Fraction(1, 2**50))
    return E, 2 * E * (1 + 4 * size * E)


def precise(b, n, size, k, ratio, limit):
    """Whether b bits keep the order, (C-1) eta + 2 E < ln(ratio) / k, with 4 C E <= 1/10; and k.

    Without (C-1) eta + 2 E < ln(limit) / (64 k) few bits could lift Lambda beyond the limit at every k, where
    scores differ by much or all of them tie; with it they cost k about one step of the grid.
    """
    E, eta = errors(b, n, size)
    slack = ((size - 1) * eta + 2 * E) * k
    return (
        4 * size * E <= Fraction(1, 10)
        and (ratio is None or below_log(slack, ratio))
        and below_log(GRID * slack, limit)
    )


def below_log(x, ratio):
    """X < ln(ratio), for rational x > 0 and ratio > 1: the two are never equal."""
    precision, low, high = 64, 0, math.inf
    while low <= x <= high:
        with gmpy2.context(precision=precision, round=gmpy2.RoundDown):
            low = as_fraction(gmpy2.log1p(gmpy2.mpfr(gmpy2.mpq(ratio - 1))))
        with gmpy2.context(precision=precision, round=gmpy2.RoundUp):
            high = as_fraction(gmpy2.log1p(gmpy2.mpfr(gmpy2.mpq(ratio - 1))))
        precision *= 2
    return x < low


def precision(n, size, k, ratio, limit):
    """The least number of bits b; `ratio` is e^delta."""
    return next(b for b in count(2) if precise(b, n, size, k, ratio, limit))


def as_fraction(number):
    """An mpfr number."""
    top, bottom = number.as_integer_ratio()
    return Fraction(int(top), int(bottom))


def rounded(number, b):
    """A positive rational rounded to b bits, to nearest, ties to even."""
    e = number.numerator.bit_length() - number.denominator.bit_length() - b
    while number >= Fraction(2) ** (e + b):
        e += 1
    while number < Fraction(2) ** (e + b - 1):
        e -= 1
    return round(number / Fraction(2) ** e) * Fraction(2) ** e


def root(number, k, b):
    """The rational number^(1/k), k rational (may be negative), correctly rounded to b bits."""
    power = 1 / Fraction(k)
    if power < 0:
        number, power = 1 / Fraction(number), -power
    value = Fraction(number) ** power.numerator
    degree = power.denominator
    # The integer part of 2^shift times the root, with at least b + 2 bits, decides with its remainder.
    shift = b + 2 - (value.numerator.bit_length() - value.denominator.bit_length()) // degree + 1
    scaled = value * Fraction(2) ** (shift * degree)
    whole = gmpy2.iroot(gmpy2.mpz(scaled.numerator // scaled.denominator), degree)[0]
    exactly = Fraction(int(whole)) ** degree == scaled
    # A half more stands for everything strictly between two integers: no rounding boundary lies there.
    return rounded((Fraction(int(whole)) + (0 if exactly else Fraction(1, 2))) / Fraction(2) ** shift, b)


def scale(views, exponents, k, b, *, gauge=True):
    """Weights w_c and numbers q[attribute][value][class]: dyadic, and X' = w_c prod q.

    Without the gauge q = round_b(N^(1/k)) and w_c = round_b(P_c^((1-n)/k)) (1 + c eta). With it the
    logarithms are centred first (see `centred`), every value is divided by its sum over the classes, and only
    then rounded.
    """
    class_counts, _ = lists(views)
    counts, k = filled(views, exponents), Fraction(k)
    n, size = len(counts), len(class_counts)
    _, eta = errors(b, n, size)
    if gauge:
        weights, scaled = gauged(class_counts, counts, k, b)
    else:
        weights = [root(p, k / (1 - n), b) if n != 1 else Fraction(1) for p in class_counts]
        scaled = [[[root(x, k, b) for x in row] for row in array] for array in counts]
    return [w * (1 + c * eta) for c, w in enumerate(weights)], scaled


def gauged(class_counts, counts, k, b):
    """The canonical gauge, every number correctly rounded: at rising precision until all are certain."""
    extra, sure = 64, False
    while not sure:
        # What is open at the last precision is a tie, which is possible where numbers are rational.
        last = extra >= 1024
        with gmpy2.context(precision=b + extra, emax=gmpy2.get_emax_max(), emin=gmpy2.get_emin_min()):
            weights, scaled = centred(class_counts, counts, k)
        # The error of a logarithm depends on its size too: half of the extra bits are ample.
        error = Fraction(1, 2 ** (b + extra // 2))
        numbers = [*weights, *(x for array in scaled for row in array for x in row)]
        sure = last or all(rounded(x * (1 - error), b) == rounded(x * (1 + error), b) for x in numbers)
        extra *= 2

    def final(x):
        return rounded(rounded(x, b + 64) if last else x, b)

    return [final(w) for w in weights], [[[final(x) for x in row] for row in array] for array in scaled]


def centred(class_counts, counts, k):
    """Step 2' in the precision of the current context.

    In logarithms: each value centred over the classes; each class centred over the values of the attribute,
    its mean moved to the class weight; the class weights centred. Then every value divided by its sum over
    the classes.
    """
    n, size = len(counts), len(class_counts)
    inverse = gmpy2.mpq(1 / k)

    def log(x):
        return inverse * gmpy2.log(gmpy2.mpq(x))

    weights = [(1 - n) * log(p) for p in class_counts]
    result = []
    for array in counts:
        logs = [[log(x) for x in row] for row in array]
        logs = [[x - sum(row) / size for x in row] for row in logs]
        means = [sum(row[c] for row in logs) / len(logs) for c in range(size)]
        weights = [w + mean for w, mean in zip(weights, means, strict=True)]
        powers = [[gmpy2.exp(x - mean) for x, mean in zip(row, means, strict=True)] for row in logs]
        result.append([[as_fraction(x / sum(row)) for x in row] for row in powers])
    middle = sum(weights) / size
    return [as_fraction(gmpy2.exp(w - middle)) for w in weights], result


# Step 3 -------------------------------------------------------------------------------------------


def adjust(weights, scaled):
    """P'_c = w_c prod_i S^i_c and N'^i_{t,c} = P'_c q / S^i_c: realistic, and X' = w_c prod q."""
    size = len(weights)
    sums = [[sum(row[c] for row in array) for c in range(size)] for array in scaled]
    class_counts = [w * math.prod(of[c] for of in sums) for c, w in enumerate(weights)]
    counts = [
        [[class_counts[c] * row[c] / of[c] for c in range(size)] for row in array]
        for array, of in zip(scaled, sums, strict=True)
    ]
    return class_counts, counts


# Step 4 -------------------------------------------------------------------------------------------


def largest_remainder(shares, total):
    """Integers that add up to `total`, in proportion to the shares; of equal remainders the first goes up."""
    whole = sum(shares)
    exact = [Fraction(share) * total / whole for share in shares]
    result = [math.floor(x) for x in exact]
    order = sorted(range(len(shares)), key=lambda j: (result[j] - exact[j], j))
    for j in order[: total - sum(result)]:
        result[j] += 1
    return result


def to_rows(class_counts, counts, rows):
    """R rows: the classes by largest remainder, then every column at its class count."""
    of_class = largest_remainder(class_counts, rows)
    size = len(of_class)
    result = []
    for array in counts:
        columns = [largest_remainder([row[c] for row in array], of_class[c]) for c in range(size)]
        result.append([[columns[c][t] for c in range(size)] for t in range(len(array))])
    return of_class, result


# All together -------------------------------------------------------------------------------------


def steps(views, limit, *, preserve="order", guard=1, gauge=True, attacker="row"):
    """Steps 1 to 3: safe, realistic and equivalent class counts and counts; then k, b and the exponents.

    k is the least of the grid for which the result is safe, b the least number of bits for that k.
    """
    limit = table.exact(limit) / (2 if attacker == "worlds" else 1)
    if limit <= 1:
        raise ValueError("limit")
    class_counts, counts = lists(views)
    if n_rows(views) == 0 or 0 in class_counts or not is_realistic(views):
        raise ValueError("views")
    n, size = len(counts), len(class_counts)
    exponents = fill_zeros(views, preserve=preserve, guard=guard)
    positive = filled(views, exponents)
    before = amplification(weights_of(class_counts, n), positive)
    if before <= limit and not gauge and all(x for array in counts for row in array for x in row):
        return class_counts, counts, Fraction(1), None, exponents
    ratio = least_ratio(views, guard)
    k = least_k(before, limit)
    while True:
        b = precision(n, size, k, ratio, limit)
        weights, scaled = scale(views, exponents, k, b, gauge=gauge)
        if amplification(weights, scaled) <= limit:
            return *adjust(weights, scaled), k, b, exponents
        k = grid_above(k)


def verified(views, of_class, counts, limit, preserve="order"):
    """What a release has to be: realistic, positive, within the limit, and equivalent to the views."""
    n = len(counts)
    return (
        all(sum(row[c] for row in array) == p for array in counts for c, p in enumerate(of_class))
        and all(x > 0 for x in of_class)
        and all(x > 0 for array in counts for row in array for x in row)
        and amplification(weights_of(of_class, n), counts) <= limit
        and not differing(views, (weights_of(of_class, n), counts), preserve)
    )
