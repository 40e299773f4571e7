"""Associations in published views in the plainest exact Python: every world is listed.

A view is a tuple of column names; a table a list of dicts. The worlds of some views are the sets of join
tuples whose projections give back every tuple of every view: the covers.
"""

# mypy: ignore-errors

from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb


def covers(m, n):
    """The closed form: sum_j (-1)^j C(n,j) (2^(n-j) - 1)^m."""
    return sum((-1) ** j * comb(n, j) * (2 ** (n - j) - 1) ** m for j in range(n + 1))


def interesting_covers(m, n):
    """Lemma 5.2: covers that hold one given edge."""
    return sum(
        (-1) ** b * comb(n - 1, b) * 2 ** (n - b - 1) * (2 ** (n - b) - 1) ** (m - 1) for b in range(n)
    )


@lru_cache(maxsize=1)
def listed_covers(sizes):
    """The covers of a complete hypergraph with one part a size: sets of cells that leave no node out."""
    cells = list(product(*map(range, sizes)))
    nodes = [
        sum(1 << place for place, cell in enumerate(cells) if cell[part] == node)
        for part, size in enumerate(sizes)
        for node in range(size)
    ]
    return [
        [cell for place, cell in enumerate(cells) if mask >> place & 1]
        for mask in range(1 << len(cells))
        if all(mask & of_node for of_node in nodes)
    ]


def probability(m, n, model="unrestricted"):
    """Of the pair (0, 0), from all worlds; None without one."""
    worlds = listed_covers((m, n))
    if model == "restricted":
        worlds = [world for world in worlds if len({value for one, value in world if one == 0}) == 1]
    if not worlds:
        return None
    return Fraction(sum((0, 0) in world for world in worlds), len(worlds))


def projected_views(views, identity, attribute, worlds="projected"):
    """The columns of each view that matter, the identity's view first and the attribute's second.

    Projected: of views that have the identity or the attribute only these and what other views have as well.
    """
    first, second = roles(views, identity, attribute)
    order = [first, second, *(place for place in range(len(views)) if place not in (first, second))]
    found = []
    for place in order:
        others = {name for other in order if other != place for name in views[other]}
        own = {identity, attribute} & set(views[place])
        found.append(
            tuple(
                name for name in views[place] if worlds == "full" or not own or name in others or name in own
            )
        )
    return found


def roles(views, identity, attribute):
    """Two different views, one with the identity, one with the attribute; if possible, not with both."""
    pairs = [
        (first, second)
        for first, second in product(range(len(views)), repeat=2)
        if first != second and identity in views[first] and attribute in views[second]
    ]
    if not pairs:
        raise ValueError("identity and attribute are in one view")
    return min(pairs, key=lambda pair: (attribute in views[pair[0]]) + (identity in views[pair[1]]))


def join(rows, views):
    """The tuples of the natural join of the views of a table, as dicts."""
    found = [{}]
    for view in views:
        tuples = {tuple(row[name] for name in view) for row in rows}
        found = [
            {**one, **dict(zip(view, values, strict=True))}
            for one in found
            for values in sorted(tuples, key=repr)
            if all(one.get(name, value) == value for name, value in zip(view, values, strict=True))
        ]
    return found


def worlds_of(rows, views):
    """The join of the views, and its subsets that give back all views."""
    tuples = join(rows, views)
    nodes = [[(view, tuple(one[name] for name in view)) for view in map(tuple, views)] for one in tuples]
    everything = {node for one in nodes for node in one}
    found = [
        chosen
        for size in range(len(tuples) + 1)
        for chosen in combinations(range(len(tuples)), size)
        if {node for place in chosen for node in nodes[place]} == everything
    ]
    return tuples, found


def risk(rows, views, identity, attribute, model="unrestricted", worlds="projected"):
    """(identity, value) -> probability, for all identities and values of the table; None without a world."""
    tuples, found = worlds_of(rows, projected_views(views, identity, attribute, worlds))
    people = {row[identity] for row in rows}
    values = {row[attribute] for row in rows}
    result = {}
    for person in people:
        sets = [
            {tuples[place][attribute] for place in world if tuples[place][identity] == person}
            for world in found
        ]
        if model == "restricted":
            sets = [one for one in sets if len(one) == 1]
        for value in values:
            result[person, value] = Fraction(sum(value in one for one in sets), len(sets)) if sets else None
    return result
