"""Views and priors that the tests of closeness draw, and what has to be true of what leaves."""

import math
import random
from fractions import Fraction

from nbcfast import Viewset
from nbcfast.reference import closeness as reference
from nbcfast.reference import transform as steps

WORK = Viewset([6, 6], {"job": [[4, 2], [2, 4]]}, classes=["ill", "well"])
QUARTER = {"ill": "0.75", "well": "0.25"}


def drawn(rng, n_classes=None, n=None, most=60):
    """Random views of rows, with zeros and ties."""
    n_classes = rng.choice([2, 2, 3, 3, 4]) if n_classes is None else n_classes
    n = rng.choice([1, 1, 2, 2, 3]) if n is None else n
    of_class = [rng.choice([1, 2, 3, 4, 6, 8, 12, rng.randint(1, most)]) for _ in range(n_classes)]
    if rng.random() < 0.3:
        of_class = of_class[:1] * n_classes
    arrays = []
    for _ in range(n):
        array = [[0] * n_classes for _ in range(rng.randint(1, 4))]
        for c, count in enumerate(of_class):
            if rng.random() < 0.3:
                rows = [place % len(array) for place in range(count)]
            else:
                rows = rng.choices(range(len(array)), [rng.random() ** 2 for _ in array], k=count)
            for t in rows:
                array[t][c] += 1
        arrays.append(array)
    return Viewset(of_class, arrays)


def drawn_prior(rng, views, most=50):
    shares = [rng.choice([1, 1, 2, 3, 5, rng.randint(1, most)]) for _ in views.classes]
    return {label: Fraction(share, sum(shares)) for label, share in zip(views.classes, shares, strict=True)}


def cases(seed, number, **options):
    rng = random.Random(seed)
    for _ in range(number):
        views = drawn(rng, **options)
        yield rng, views, drawn_prior(rng, views)


def positive(rng, sizes, n_classes, total=300):
    """Random views without zeros, of equal class counts."""
    arrays = []
    for size in sizes:
        most = 2 * total // (3 * size)
        columns = [[1 + rng.randrange(1, most) for _ in range(size)] for _ in range(n_classes)]
        for column in columns:
            column[0] += total - sum(column)
        arrays.append([list(row) for row in zip(*columns, strict=True)])
    return Viewset([total] * n_classes, arrays)


def log(number):
    return math.log(number.numerator) - math.log(number.denominator)


def kept(views, prior, release, r, preserve="order"):
    """What a release with r has to be, over all tuples; R of Statement 11."""
    published = release.views
    fifth, odds = reference.achieved(published, prior)
    assert published.is_realistic()
    assert all(count > 0 for array in published.counts.values() for count in array.ravel().tolist())
    assert fifth <= odds <= Fraction(r)
    assert not steps.differing(views, published, preserve)
    assert release.certificate.equal
    return odds


def below(number):
    """The fraction next below this one, of those with up to 38 digits; next above, of -number, is -below."""
    up, down = number.numerator, number.denominator
    longest = 10**38 - 1
    most = min(longest, longest * down // abs(up))
    least = pow(up, -1, down) if down > 1 else 0
    bottom = least + (most - least) // down * down
    return Fraction((up * bottom - 1) // down, bottom)
