"""`find`: all the knowledge that is just safe, the skyline; `frontier_table` and `plot` show it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from nbcfast._core.numbers import Numeral
from nbcfast._core.untyped import Document
from nbcfast._core.validation import whole
from nbcfast.groups.groups import Groups
from nbcfast.groups.sets import MOST_L, SetGroups
from nbcfast.skyline.deciding import is_safe
from nbcfast.skyline.points import as_confidence
from nbcfast.skyline.statistics import Statistics

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

Knowledge = tuple[int, int, int]

MOST_COLUMNS = 32  # of a table that shows every k, and of its text
FIRST_LS = 4  # values of l that the groups are first scanned for
SCANNED = 1 << 23  # numbers that a scan of several l may keep
MOST_DRAWN = 48  # rows and columns that a picture writes out


def find(
    groups: Groups | SetGroups | Statistics,
    confidence: Numeral,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Knowledge]:
    """All maximal (l, k, m) that are safe: the skyline.

    A point is safe if and only if it is at most one of these in all three numbers; `check` says what they
    mean.

    Parameters
    ----------
    groups : Groups, SetGroups or Statistics
        Statistics need l of 0, 1, .., d - 2, where d is the least number of different values in a group.
        For SetGroups l goes up to 3.
    confidence : int, Fraction, str or float
        In (0, 1]; a float means its shortest decimal text.
    threads : int, optional
        For the scan of the groups.
    progress : callable, optional
        Called as progress(done, all) with the values of l.

    Returns
    -------
    list of (l, k, m)
        Rising; empty if even (0, 0, 0) is unsafe.

    Examples
    --------
    >>> find(Groups([[1, 1, 1, 1, 1, 1]]), 0.95)
    [(0, 4, 0), (1, 3, 1), (2, 2, 2), (3, 1, 3), (4, 0, 4)]
    """
    limit = as_confidence(confidence)
    statistics: Statistics | None
    if isinstance(groups, Statistics):
        statistics, most = groups, groups.l - 1
        missing = [l for l in range(most) if l not in groups.ls]
        if missing:
            raise ValueError(f"groups: expected statistics for l of 0..{most - 1}, {missing[0]} is missing")
    elif isinstance(groups, (Groups, SetGroups)):
        # With d - 1 values excluded, the one that is left in a group of d values is certain.
        most = MOST_L + 1 if isinstance(groups, SetGroups) else groups.l - 1
        statistics = None
    else:
        raise TypeError(f"groups: expected Groups or Statistics, got {type(groups).__name__}")
    layers: list[list[tuple[int, int]]] = []
    for l in range(most):
        if not isinstance(groups, Statistics) and (statistics is None or l not in statistics.ls):
            # Some l at a time, and first few: mostly the skyline ends long before `most`.
            stop = min(2 * l + FIRST_LS, l + _most_ls(groups), most)
            statistics = Statistics(range(l, stop), entropy=False).update(groups, threads=threads)
        assert statistics is not None
        corners = _corners(statistics, l, limit)
        if not corners:  # more excluded values are no safer (Statement 4.4)
            break
        layers.append(corners)
        if progress is not None:
            progress(l + 1, most)
    if progress is not None:
        progress(most, most)
    return [
        (l, k, m)
        for l, corners in enumerate(layers)
        for k, m in corners
        if l + 1 == len(layers) or _most_m(layers[l + 1], k) < m
    ]


def _most_ls(groups: Groups | SetGroups) -> int:
    """The l that are looked at in one scan: each takes a number for every value of a group, at worst."""
    if isinstance(groups, SetGroups):
        return MOST_L + 1
    return max(SCANNED // len(groups.values), 1)


def _corners(statistics: Statistics, l: int, confidence: Fraction) -> list[tuple[int, int]]:
    """The maximal (k, m) for one l, k rising and m falling.

    The border of a set that holds with a point all smaller ones: along it m falls as k rises (Statement 7.1
    of docs/mathematics/skyline.md, #skyline-7). Steps are doubled and then halved, so that a long straight
    piece of it costs the logarithm of its length.
    """

    def safe(k: int, m: int) -> bool:
        return is_safe(statistics, l, k, m, confidence)

    if not safe(0, 0):
        return []
    corners = []
    # m of the people without the most frequent value, or more, make it certain.
    k, m = 0, _last(lambda m: safe(0, m), 0, int(statistics.of(l)[3][3].min()))
    while True:
        k = _last(lambda k, m=m: safe(k, m), k, None)  # type: ignore[misc]
        corners.append((k, m))
        k += 1
        if m == 0 or not safe(k, 0):
            return corners
        # The largest safe m below the last one: looked for downwards, as the steps are short.
        low, step = m - 1, 1
        while not safe(k, low):
            m, low, step = low, max(low - step, 0), 2 * step
        m = _last(lambda m, k=k: safe(k, m), low, m)  # type: ignore[misc]


def _last(holds: Callable[[int], bool], low: int, high: int | None) -> int:
    """The last number that `holds`: none beyond it does, and `high` is beyond; `low` holds."""
    step = 1
    while high is None or low + step < high:
        if not holds(low + step):
            high = low + step
            break
        low, step = low + step, 2 * step
    assert high is not None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _most_m(corners: list[tuple[int, int]], k: int) -> int:
    """The largest safe m with this k; -1 where there is none."""
    place = bisect_left(corners, (k, -1))
    return corners[place][1] if place < len(corners) else -1


@dataclass(frozen=True, repr=False)
class FrontierTable:
    """A skyline as a table: how large m may be for l and k.

    Attributes
    ----------
    ls, ks : tuple of int
        Rows and columns. A k between two columns is as safe as the next column says, and beyond the last one
        nothing is safe.
    m : tuple of tuples
        The largest safe m of each l and k; None where even m = 0 is unsafe.
    """

    ls: tuple[int, ...]
    ks: tuple[int, ...]
    m: tuple[tuple[int | None, ...], ...]

    def to_dict(self) -> Document:
        """Plain values."""
        return {"ls": list(self.ls), "ks": list(self.ks), "m": [list(row) for row in self.m]}

    def __repr__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """The table as text, in blocks of columns below each other where it is wider than `width`.

        Of very many k some are left out, never the last.
        """
        if not self.ls:
            return "FrontierTable(nothing is safe)"
        step = -(-len(self.ks) // MOST_COLUMNS)
        shown = [*range(0, len(self.ks) - 1, step), len(self.ks) - 1]
        rows = [["l \\ k", *(str(self.ks[place]) for place in shown)]]
        for l, row in zip(self.ls, self.m, strict=True):
            rows.append([str(l), *("-" if row[place] is None else str(row[place]) for place in shown)])
        columns = list(zip(*rows, strict=True))
        first, *others = [[cell.rjust(max(map(len, column))) for cell in column] for column in columns]
        blocks: list[list[list[str]]] = []
        used = 0
        for column in others:
            needed = 2 + len(column[0])
            if not blocks or (width is not None and used + needed > width):
                blocks.append([first])
                used = len(first[0])
            blocks[-1].append(column)
            used += needed
        return "\n\n".join(
            "\n".join("  ".join(cells) for cells in zip(*block, strict=True)) for block in blocks
        )


def frontier_table(points: Iterable[Knowledge]) -> FrontierTable:
    r"""The skyline that `find` gave as a table l x k -> largest safe m.

    Parameters
    ----------
    points : iterable of (l, k, m)
        As `find` gave them.

    Examples
    --------
    >>> frontier_table(find(Groups([[1, 1, 1, 1, 1, 1]]), 0.95))
    l \ k  0  1  2  3  4
        0  4  3  2  1  0
        1  4  3  2  1  -
        2  4  3  2  -  -
        3  4  3  -  -  -
        4  4  -  -  -  -
    """
    if isinstance(points, (str, bytes)) or not isinstance(points, Iterable):
        raise TypeError(f"points: expected the (l, k, m) that find gave, got {type(points).__name__}")
    skyline = []
    for number, point in enumerate(points):
        parts = tuple(point) if isinstance(point, Iterable) and not isinstance(point, (str, bytes)) else ()
        if len(parts) != 3:
            raise ValueError(f"points[{number}]: expected (l, k, m), got {point!r}")
        skyline.append(tuple(whole(part, f"points[{number}]", 0) for part in parts))
    if not skyline:
        return FrontierTable((), (), ())
    ls = tuple(range(max(l for l, _, _ in skyline) + 1))
    most = max(k for _, k, _ in skyline)
    ks = tuple(range(most + 1)) if most < MOST_COLUMNS else tuple(sorted({0, *(k for _, k, _ in skyline)}))
    rows: list[tuple[int | None, ...]] = []
    best: dict[int, int] = {}
    for l in reversed(ls):
        for _, k, m in (point for point in skyline if point[0] == l):
            best[k] = max(m, best.get(k, 0))
        row: list[int | None] = []
        reached: int | None = None
        for k in reversed(ks):
            if k in best:
                reached = best[k] if reached is None else max(best[k], reached)
            row.append(reached)
        rows.append(tuple(row[::-1]))
    return FrontierTable(ls, ks, tuple(rows[::-1]))


def plot(points: Iterable[Knowledge], ax: Any = None, *, title: str | None = None) -> Any:
    """Draw a skyline: l down, k to the right, the largest safe m in each cell, which is empty where none is.

    Parameters
    ----------
    points : iterable of (l, k, m)
        As `find` gave them.
    ax : matplotlib Axes, optional
        By default those of a new figure.
    title : str, optional
        By default what the numbers mean.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Needs matplotlib.
    """
    table = frontier_table(points)
    if ax is None:
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError("drawing needs matplotlib: pip install matplotlib", name="matplotlib") from None
        columns, rows = (min(max(len(numbers), 4), MOST_DRAWN) for numbers in (table.ks, table.ls))
        figure = Figure(figsize=(max(5.6, 2.6 + 0.45 * columns), 2.4 + 0.4 * rows), layout="constrained")
        ax = figure.add_subplot()
    if table.ls:
        cells = [[float("nan") if m is None else float(m) for m in row] for row in table.m]
        most = max(m for row in table.m for m in row if m is not None)
        image = ax.imshow(cells, cmap="viridis_r", aspect="auto", vmin=0)
        bar = ax.figure.colorbar(image, ax=ax, ticks=sorted({0, most // 2, most}))
        bar.set_label(
            "m, in each cell: how many people who would\nimply the value may be known; white: unsafe"
        )
        if max(len(table.ks), len(table.ls)) <= MOST_DRAWN:
            for place, row in enumerate(table.m):
                for column, m in enumerate(row):
                    if m is not None:
                        colour = "white" if 2 * m > most else "black"
                        ax.text(column, place, str(m), ha="center", va="center", color=colour)
        for ticks, numbers in ((ax.set_xticks, table.ks), (ax.set_yticks, table.ls)):
            step = -(-len(numbers) // MOST_DRAWN)
            ticks(range(0, len(numbers), step), [str(number) for number in numbers[::step]])
    else:
        ax.text(0.5, 0.5, "nothing is safe", ha="center", va="center", transform=ax.transAxes)
    ax.set_xlabel("k: other people whose value is known")
    ax.set_ylabel("l: values known not to be\nthe target's")
    ax.set_title(title or "What an adversary may know, and the table is just safe")
    return ax
