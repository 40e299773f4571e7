"""Values to codes in the plainest exact Python: lists in, lists out.

An interval is a pair (low, high) of Fractions, None where it is open; a float means its shortest decimal
text.
"""

import math
import re
from fractions import Fraction
from itertools import pairwise


def is_suppressed(value):
    """Whether this is nbcfast.SUPPRESSED, told by its text."""
    return repr(value) == "⊥"


def plain(value):
    """A value as the library keeps it: NaN is a null, -0.0 is 0.0."""
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return value + 0.0
    return value


def kind_of(values):
    """The kind of a column; a mixture of ints and floats is one of floats, any other is refused."""
    kinds = set()
    for value in values:
        if value is None or is_suppressed(value):
            continue
        if isinstance(value, bool):
            kinds.add("bool")
        elif isinstance(value, int):
            kinds.add("int")
        elif isinstance(value, float):
            kinds.add("float")
        elif isinstance(value, str):
            kinds.add("text")
        else:
            raise TypeError(type(value))
    if kinds == {"int", "float"}:
        kinds = {"float"}
        for value in values:
            if type(value) is int and Fraction(float(value)) != value:
                raise ValueError(value)
    if len(kinds) > 1:
        raise TypeError(kinds)
    return kinds.pop() if kinds else None


def same(a, b):
    """Equal by value and kind: True is not 1, 3 is 3.0."""
    return a is b or (isinstance(a, bool) == isinstance(b, bool) and a == b)


def last_of_all(value):
    """The rank behind other values: None, then SUPPRESSED."""
    return 1 if value is None else 2 if is_suppressed(value) else 0


def in_order(values):
    """Sorted: text by code point, or by the number in it if all of it is durations, or by year if dates."""
    texts = [value for value in values if isinstance(value, str)]
    for number in (r"(-?)PT(\d+|\d+\.\d+)S()", r"(\d{4,}|-\d{3,})()(-\d\d-\d\d|-\d\d-\d\dT.*)"):
        parts = {text: re.fullmatch(number, text, re.ASCII) for text in texts}
        if texts and all(parts.values()):
            return sorted(
                texts, key=lambda text: (Fraction("".join(parts[text].group(1, 2))), parts[text][3], text)
            )
    return sorted(values)


def column(values, declared=None):
    """The codes and the domain of a column."""
    kind = kind_of(values)
    values = [plain(value) for value in values]
    if kind == "float":
        values = [float(value) if type(value) is int else value for value in values]
    if declared is None:
        domain = []
        for value in values:
            if not any(same(value, other) for other in domain):
                domain.append(value)
        domain = in_order([value for value in domain if last_of_all(value) == 0]) + sorted(
            (value for value in domain if last_of_all(value)), key=last_of_all
        )
    else:
        domain = sorted((plain(value) for value in declared), key=last_of_all)
    codes = []
    for value in values:
        places = [place for place, other in enumerate(domain) if same(value, other)]
        if not places:
            raise ValueError(value)
        codes.append(places[0])
    return codes, domain


def collapse(rows, weights=None):
    """The distinct rows (tuples of codes) in order, and the sum of the weights of each."""
    totals = {}
    for row, weight in zip(rows, weights or [1] * len(rows), strict=True):
        totals[row] = totals.get(row, 0) + weight
    distinct = sorted(totals)
    return distinct, [totals[row] for row in distinct]


def exact(number):
    """A number as a Fraction, or an infinity as it is."""
    if isinstance(number, float):
        return number if math.isinf(number) else Fraction(repr(number))
    return Fraction(number)


def inside(number, interval):
    low, high = interval
    return (low is None or low <= exact(number)) and (high is None or exact(number) < high)


def bin_by_edges(values, edges):
    """The interval of each value (None for a null), and all intervals."""
    bounds = [None if math.isinf(float(edge)) else exact(edge) for edge in edges]
    intervals = list(pairwise(bounds))
    result = []
    for value in values:
        if value is None:
            result.append(None)
            continue
        found = [interval for interval in intervals if inside(value, interval)]
        if not found:
            raise ValueError(value)
        result.append(found[0])
    return result, intervals


def bin_by_quantiles(values, ranks, weights=None):
    """Cut at the smallest value whose weighted rank reaches each share, but never at the minimum."""
    weights = weights or [1] * len(values)
    present = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    if not present:
        return [None for _ in values], []
    total = sum(weight for _, weight in present)
    smallest = min(value for value, _ in present)
    cuts = set()
    for rank in ranks:
        for value in sorted({value for value, _ in present}):
            if sum(weight for other, weight in present if other <= value) >= Fraction(rank) * total:
                if value != smallest and value != math.inf:
                    cuts.add(exact(value))
                break
    bounds = [None, *sorted(cuts), None]
    intervals = list(pairwise(bounds))
    result = []
    for value in values:
        fits = [interval for interval in intervals if value is not None and inside(value, interval)]
        result.append(fits[0] if fits else None)
    return result, intervals


def bin_by_width(values, width):
    """Cut at multiples of the width; only intervals that hold a value, the outer two open."""
    width = exact(width)
    present = [value for value in values if value is not None]
    if not present:
        return [None for _ in values], []
    places = sorted({exact(value) // width for value in present if not math.isinf(value)})
    if not places:
        return [None if value is None else (None, None) for value in values], [(None, None)]
    intervals = [
        (
            None if place == places[0] else place * width,
            None if place == places[-1] else (place + 1) * width,
        )
        for place in places
    ]
    result = []
    for value in values:
        if value is None:
            result.append(None)
        elif math.isinf(value):
            result.append(intervals[0] if value < 0 else intervals[-1])
        else:
            result.append(intervals[places.index(exact(value) // width)])
    return result, intervals


def numbers_of(texts):
    """The values that the texts of a CSV column stand for; None is a null.

    Integers if all are canonical integers of 64 bits, else floats if all are how Python writes a finite
    float or canonical integers up to 2^53, else the texts themselves.
    """
    present = [text for text in texts if text is not None]
    if not present:
        return list(texts)
    if all(is_integer(text, -(2**63), 2**63 - 1) for text in present):
        return [None if text is None else int(text) for text in texts]
    if all(is_decimal(text) for text in present):
        return [None if text is None else plain(float(text)) for text in texts]
    return list(texts)


def is_integer(text, low, high):
    """Whether this is a canonical integer in this range; Python refuses to read thousands of digits."""
    return re.fullmatch("0|-?[1-9][0-9]*", text) is not None and len(text) < 100 and low <= int(text) <= high


def is_decimal(text):
    if is_integer(text, -(2**53), 2**53):
        return True
    try:
        number = float(text)
    except ValueError:
        return False
    return math.isfinite(number) and repr(number) == text
