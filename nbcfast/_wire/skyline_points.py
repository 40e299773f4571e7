"""Whether the groups of a partition are safe at a point (l, k, m) of the privacy skyline."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from fractions import Fraction

from nbcfast._wire.falling_products import Least
from nbcfast._wire.messages import number_text


class GroupExtremes:
    """What groups say about points with this l: Chen, LeFevre, Ramakrishnan (2007), in exact form.

    Of a group with n people, c of them with a value s, N = n - c and W = N less the l largest counts of the
    others, the odds against s are a product of factors of one, two or two other groups:

        CF1 = (W-k)/c prod (N-1-k-i)/(n-1-k-i)     all people known of are in the target's group
        CF2 CF3 = (W-k)/c  prod (N-i)/(n-i)        those who imply are in another group
        CF4 CF5 = W/c  prod (N-k-i)/(n-k-i)        only the target is in its group           (i < m)

    each factor being the smallest over the groups that have s, and the odds the smallest over s. All fall
    with c and rise with N and W, so that only few groups matter.
    """

    def __init__(self, groups: list[dict[int, int]], l: int) -> None:
        # Sorted, and not looked up: whoever writes the table chooses counts that share their hash.
        modes: list[tuple[int, int, int]] = []
        rest: dict[int, list[tuple[int, int]]] = {}
        wide: dict[int, list[tuple[int, int]]] = {}
        for group in groups:
            falling = sorted(group.values(), reverse=True)
            n, taken = sum(falling), sum(falling[:l])
            following = falling[l] if l < len(falling) else 0
            modes.append((falling[0], n - falling[0], n - taken - following))
            for place, c in group.items():
                rest.setdefault(place, []).append((c, n - c))
                wide.setdefault(place, []).append((c, n - taken - min(c, following)))
        self.modes = _worst(modes)  # (c, N, W) of the most frequent values
        self.rest = {place: _smallest(found) for place, found in rest.items()}  # value -> (c, N)
        self.wide = {place: _smallest(found) for place, found in wide.items()}  # value -> (c, W)

    @property
    def size(self) -> int:
        """How many products of factors a point takes at the most."""
        return len(self.modes) + 2 * sum(map(len, self.rest.values()))

    def judge(self, k: int, m: int, confidence: Fraction) -> tuple[bool, str]:
        """Whether the breach is strictly below the confidence, and a sentence."""
        for _, n, w in self.modes:
            if k >= w or (m > 0 and k + m >= n):
                return False, "unsafe: somebody's value is certain"
        odds = Least((1 - confidence) / confidence, m)
        for c, n, w in self.modes:
            odds.take(Fraction(w - k, c), n - 1 - k, c)
        if m:
            for place in self.rest:
                wide = self.wide[place]
                two = min(Fraction(w - k, c) for c, w in wide)
                four = min(Fraction(w, c) for c, w in wide)
                for c, n in self.rest[place]:
                    odds.take(two, n, c)
                    odds.take(four, n - k, c)
        if odds.above and odds.close:
            return False, f"not decided: the breach is too close to {number_text(confidence)}"
        said, sign = ("safe", "<") if odds.above else ("unsafe", ">=")
        return odds.above, f"{said}: breach {odds.breach(confidence)} {sign} {number_text(confidence)}"


def _smallest(rest: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The (c, N) without those that another one with c as large and N as small outdoes."""
    found: list[tuple[int, int]] = []
    for c, n in sorted(rest, key=_falling_first):
        if not found or n < found[-1][1]:
            found.append((c, n))
    return found


def _worst(modes: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The (c, N, W) without those that another one with c as large and N and W as small outdoes."""
    found: list[tuple[int, int, int]] = []
    # Of those found that no other outdoes in N and W alone: N rises, and W falls.
    all_n: list[int] = []
    all_w: list[int] = []
    for c, n, w in sorted(modes, key=_falling_first):
        place = bisect_right(all_n, n)
        if place and all_w[place - 1] <= w:
            continue
        found.append((c, n, w))
        first = last = bisect_left(all_n, n)
        while last < len(all_w) and all_w[last] >= w:
            last += 1
        all_n[first:last], all_w[first:last] = [n], [w]
    return found


def _falling_first(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return (-numbers[0], *numbers[1:])
