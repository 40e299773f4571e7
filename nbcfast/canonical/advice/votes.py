"""A private choice by votes: rows in blocks, a vote a block, and the exponential mechanism on the votes.

Utility on all rows is no score for that mechanism: one row more may change how many are decided correctly by
more than one (docs/mathematics/advice.md, which has the proofs of what is said here).
"""

from __future__ import annotations

import hashlib
import secrets
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._core.numbers import Numeral, as_limit, exact
from nbcfast._core.validation import whole

Below = Callable[[int], int]  # a uniform number from 0 up to, not including, its argument
CHUNK = 64  # bits that are drawn at once
GUARD = 32  # bits that an exponential is computed with beyond those that are asked for


def votes_of(values: Longs, weights: Longs, blocks: int, best_leaf: Callable[[Longs], int]) -> dict[int, int]:
    """How many blocks of rows vote for each option.

    The copies of a row (as many as its weight) go round the blocks, from the one that the SHA-256 of its
    values names: to add or remove one person changes one block, and no block holds all people who are alike.

    Parameters
    ----------
    values : ndarray of int64, shape (rows, columns)
        What each row is by itself, class included: places in domains that are public. Codes that depend on
        which other rows there are would move all rows when one comes. Rows are distinct.
    weights : ndarray of int64, shape (rows,)
        How many people each stands for.
    blocks : int
        Of how many blocks, a public number.
    best_leaf : callable
        Takes the weights of a block, of the shape of `weights`, and gives the option that it votes for, as a
        function of these alone. It is not asked for a block without rows, which does not vote.

    Returns
    -------
    dict of int -> int
        The options that have votes.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    Examples
    --------
    >>> values, weights = np.array([[0, 1], [2, 0]]), np.array([5, 2])
    >>> votes_of(values, weights, 3, lambda block: int(block.argmax()))
    {0: 3}
    """
    n_blocks = whole(blocks, "blocks", 1)
    if values.ndim != 2 or weights.shape != values.shape[:1]:
        raise ValueError(
            f"values must have a line for each of the weights, got the shapes {values.shape} and "
            f"{weights.shape}"
        )
    if (weights < 0).any():
        raise ValueError(f"weights must be at least 0, got {int(weights.min())}")
    starts = first_blocks(values, n_blocks)
    votes: Counter[int] = Counter()
    for block in range(n_blocks):
        # Copy j of a row is in block (start + j) modulo the number of blocks.
        behind = (block - starts) % n_blocks
        of_block: Longs = weights // n_blocks + (behind < weights % n_blocks)
        if of_block.any():
            votes[whole(best_leaf(of_block), "the option that a block votes for", 0)] += 1
    return dict(votes)


def first_blocks(values: Longs, blocks: int) -> Longs:
    """The block in which the first copy of each row is: its SHA-256, as a number, modulo their number.

    Of the places of a row as little-endian integers of 64 bits, one behind the other.
    """
    rows = np.ascontiguousarray(values, dtype="<i8")
    digests = [hashlib.sha256(row.tobytes()).digest() for row in rows]
    if len(set(digests)) < len(digests):
        raise ValueError(
            "values must be distinct rows, got one twice: give it once, with the sum of the weights"
        )
    return np.array([int.from_bytes(digest, "big") % blocks for digest in digests], np.int64)


def choose_by_votes(
    votes: Mapping[int, int] | Longs, n_options: int, epsilon: Numeral, *, below: Below | None = None
) -> int:
    """An option, with a probability proportional to exp(epsilon v / 2) where it has v votes.

    Where one person changes one vote, which takes it from an option and gives it to another, the choice is
    epsilon-differentially private for adding and removing a person. To replace a person is to remove one and
    to add one, which may change two votes: for epsilon there give half of it here.

    Probabilities are exactly these: a uniform number is compared with sums of exponentials, in integers, with
    as many bits of either as it takes. How long that takes depends on the votes, and is not to be observed.

    Parameters
    ----------
    votes : mapping of int -> int, or ndarray of int64 of shape (n_options,)
        The votes of each option; those that a mapping lacks have none, and may be chosen too.
    n_options : int
        How many options there are, from 0.
    epsilon : int, Fraction, str or float
        Above 0; a float means its shortest decimal text.
    below : callable, optional
        below(n) is a uniform integer in 0..n-1; by default that of the operating system, others for tests.

    Returns
    -------
    int

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    Examples
    --------
    >>> choose_by_votes({7: 1_000}, 10, 5)
    7
    """
    count = whole(n_options, "n_options", 1)
    strength = as_limit(exact(epsilon, "epsilon"), "epsilon")
    if strength <= 0:
        raise ValueError(f"epsilon must be above 0, got {epsilon!r}")
    draw = secrets.randbelow if below is None else below
    voted = _voted(votes, count)
    # Of each number of votes the options that have so many; of none they are all others, and are not listed.
    options: dict[int, list[int]] = {}
    for option, number in sorted(voted.items()):
        options.setdefault(number, []).append(option)
    levels = sorted(options, reverse=True)
    sizes = [len(options[number]) for number in levels]
    if len(voted) < count:
        levels.append(0)
        sizes.append(count - len(voted))
    exponents = [strength * (levels[0] - number) / 2 for number in levels]
    level = levels[_drawn(exponents, sizes, draw)]
    if level:
        return options[level][draw(len(options[level]))]
    return _unvoted(draw(count - len(voted)), sorted(voted))


def _voted(votes: Mapping[int, int] | Longs, count: int) -> dict[int, int]:
    """The options that have votes, and how many."""
    if isinstance(votes, np.ndarray):
        if votes.shape != (count,):
            raise ValueError(f"votes must be {count:,} numbers, one an option, got the shape {votes.shape}")
        pairs = [(int(place), votes[place]) for place in np.flatnonzero(votes)]
    elif isinstance(votes, Mapping):
        pairs = list(votes.items())
    else:
        raise TypeError(f"votes must be a mapping or an array, got {type(votes).__name__}")
    found = {}
    for option, number in pairs:
        place = whole(option, "an option with votes", 0, count - 1)
        if whole(number, "votes", 0):
            found[place] = int(number)
    return found


def _unvoted(rank: int, voted: list[int]) -> int:
    """The option of this rank, from 0, among those that are not in a sorted list."""
    # voted[i] - i options before voted[i] are not in the list: the first i for which that exceeds the rank.
    return rank + bisect_left(range(len(voted)), rank + 1, key=lambda place: voted[place] - place)


def _drawn(exponents: list[Fraction], sizes: list[int], below: Below) -> int:
    """A place, with a probability proportional to size e^-exponent there.

    A uniform number U, of which bits are drawn until it is decided, lies below the sum S_j of the first j of
    these numbers by the sum Z of all, and not below S_(j-1) / Z. Exponentials are known within bounds.
    """
    places, uniform = CHUNK, below(1 << CHUNK)  # U is from uniform to uniform + 1, by 2^places
    while True:
        precision = places + CHUNK
        bounds = [exponential(exponent, precision) for exponent in exponents]
        total_low = sum(size * low for size, (low, _) in zip(sizes, bounds, strict=True))
        total_high = sum(size * high for size, (_, high) in zip(sizes, bounds, strict=True))
        before_high = low_sum = 0  # of S_(j-1) the upper bound, of S_j the lower one
        for place, (size, (low, high)) in enumerate(zip(sizes, bounds, strict=True)):
            low_sum += size * low
            begins = uniform * total_low >= before_high << places
            ends = place == len(sizes) - 1 or (uniform + 1) * total_high <= low_sum << places
            if begins and ends:
                return place
            before_high += size * high
        places, uniform = places + CHUNK, uniform << CHUNK | below(1 << CHUNK)


def exponential(exponent: Fraction, places: int) -> tuple[int, int]:
    """Integers below and above e^-exponent 2^places, for an exponent of at least 0.

    By the series at exponent / 2^halvings, at most 1, and as many squares. Every step is rounded outwards.
    """
    halvings = max(exponent.numerator.bit_length() - exponent.denominator.bit_length() + 1, 0)
    digits = places + halvings + GUARD
    one = 1 << digits
    scaled = (exponent.numerator << digits) // (exponent.denominator << halvings)
    low, high = _series(scaled + 1, digits)[0], _series(scaled, digits)[1]
    for _ in range(halvings):
        low, high = low * low >> digits, min((high * high >> digits) + 1, one)
    shift = digits - places
    return low >> shift, (high >> shift) + 1


def _series(number: int, digits: int) -> tuple[int, int]:
    """Bounds of e^-z in units of 2^-digits, where z is so many of these, at most about 1."""
    low = high = term_low = term_high = 1 << digits
    n = 0
    while term_high > 1:
        n += 1
        term_low = (term_low * number >> digits) // n
        term_high = (term_high * number >> digits) // n + 1
        if n % 2:
            low, high = low - term_high, high - term_low
        else:
            low, high = low + term_low, high + term_high
    # What is left alternates and falls: it is less than its first term, which is below the last one here.
    return max(low - term_high, 0), min(high + term_high, 1 << digits)
