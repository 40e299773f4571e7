"""Top-down disclosure from scratch at each step: what `nbcfast.templates` must give.

Wang, Fung, Yu: Handicapping attacker's confidence (KAIS 2006), with these rules where it leaves a choice:

- Conf(QID -> s) is the largest share of records with s over the groups that have records; of none it is 0.
- x of attribute j is beneficial while the records with a suppressed j hold two classes.
- Score = InfoGain / (PrivLoss + 1), PrivLoss the mean of Conf_x - Conf over the templates with j in the QID.
- Scores within 1e-12 (of the best, or of 1 if that is less) tie: first attribute, then first value.

A template is (names, (attribute, value), limit), a table a mapping of name -> list of values.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

TIE = 1e-12
BOTTOM = "⊥"  # no data of these tests holds it


def confidence(released, quasi, sensitive, weights=None):
    """Conf(quasi -> sensitive): an exact Fraction."""
    name, value = sensitive
    totals, hits = Counter(), Counter()
    for i in range(len(released[name])):
        key = tuple(released[column][i] for column in quasi)
        weight = 1 if weights is None else weights[i]
        totals[key] += weight
        if released[name][i] == value:
            hits[key] += weight
    return max((Fraction(hits[key], total) for key, total in totals.items()), default=Fraction(0))


def violations(table, templates, weights=None):
    """Each (template, key, records, hits) whose share of hits is above the limit, sorted by key."""
    found = []
    for template in templates:
        quasi, (name, value), limit = template
        totals, hits = Counter(), Counter()
        for i in range(len(table[name])):
            key = tuple(table[column][i] for column in quasi)
            weight = 1 if weights is None else weights[i]
            totals[key] += weight
            hits[key] += weight * (table[name][i] == value)
        found += [
            (template, key, totals[key], hits[key])
            for key in sorted(totals, key=lambda key: [_rank(value) for value in key])
            if Fraction(hits[key], totals[key]) > limit
        ]
    return found


def merged(templates):
    """One template for each (QID as a set, sensitive value), of the smallest limit, as they first appear."""
    kept = {}
    for quasi, sensitive, limit in templates:
        key = frozenset(quasi), sensitive
        if key in kept:
            kept[key] = (kept[key][0], sensitive, min(kept[key][2], limit))
        else:
            kept[key] = (tuple(quasi), sensitive, limit)
    return list(kept.values())


def masked(table, templates, target=None):
    """The attributes that are suppressed, in the order of the columns."""
    in_quasi = {name for quasi, _, _ in templates for name in quasi}
    shown = {target} | {sensitive[0] for _, sensitive, _ in templates}
    return [name for name in table if name in in_quasi and name not in shown]


def entropy(counts):
    """Of counts in the order of the classes, in bits."""
    total, result = sum(counts), 0.0
    for count in counts:
        if count:
            share = count / total
            result -= share * math.log2(share)
    return result


def gain(part, rest):
    """InfoGain of splitting records into two parts with these counts of classes."""
    whole = [a + b for a, b in zip(part, rest, strict=True)]
    n, n_part, n_rest = sum(whole), sum(part), sum(rest)
    # The parts are added to each other first, so that swapping them changes no bit.
    return entropy(whole) - ((n_part / n) * entropy(part) + (n_rest / n) * entropy(rest))


class State:
    """Which values are disclosed, and where continuous attributes are cut."""

    def __init__(self, table, templates, target, weights, utility, require_beneficial, continuous):
        self.table, self.templates, self.target = table, merged(templates), target
        n_rows = len(next(iter(table.values())))
        self.weights = [1] * n_rows if weights is None else list(weights)
        self.utility, self.continuous = utility, set(continuous)
        self.require_beneficial = require_beneficial and utility == "information"
        self.masked = masked(table, templates, target)
        self.values = {name: sorted(set(table[name]), key=_rank) for name in self.masked}
        self.classes = [None] if target is None else sorted(set(table[target]), key=_rank)
        self.disclosed = {name: set() for name in self.masked}
        self.cuts = {name: [] for name in self.masked}

    def released(self, name, extra=None):
        """The column as it is published, with one more value (or cut) disclosed."""
        column = self.table[name]
        if name not in self.disclosed:
            return column
        if name in self.continuous:
            cuts = sorted([*self.cuts[name], *([] if extra is None else [extra])])
            return [sum(value >= cut for cut in cuts) for value in column]
        shown = self.disclosed[name] | (set() if extra is None else {extra})
        return [value if value in shown else BOTTOM for value in column]

    def confidences(self, candidate=None):
        name, extra = candidate or (None, None)
        columns = {other: self.released(other, extra if other == name else None) for other in self.table}
        return [confidence(columns, quasi, sensitive, self.weights) for quasi, sensitive, _ in self.templates]

    def holds(self, confidences):
        return all(found <= limit for found, (_, _, limit) in zip(confidences, self.templates, strict=True))

    def counts(self, name, chosen):
        """Records of each class whose value of an attribute is among those chosen."""
        found = Counter()
        for i, value in enumerate(self.table[name]):
            if value in chosen:
                found[None if self.target is None else self.table[self.target][i]] += self.weights[i]
        return [found[label] for label in self.classes]

    def candidates(self):
        """Each (attribute, value or cut, InfoGain) that may be disclosed, in order."""
        for name in self.masked:
            if name in self.continuous:
                yield from self.best_cuts(name)
                continue
            suppressed = [value for value in self.values[name] if value not in self.disclosed[name]]
            everyone = self.counts(name, set(suppressed))
            if self.require_beneficial and sum(count > 0 for count in everyone) < 2:
                continue
            for value in suppressed:
                part = self.counts(name, {value})
                rest = [a - b for a, b in zip(everyone, part, strict=True)]
                yield name, value, float(sum(part)) if self.utility == "distortion" else gain(part, rest)

    def best_cuts(self, name):
        """The best cut of each interval: of the highest InfoGain, or the most even; the lowest of several."""
        bounds = sorted(self.cuts[name])
        for low, high in zip([None, *bounds], [*bounds, None], strict=True):
            inside = [
                value
                for value in self.values[name]
                if (low is None or value >= low) and (high is None or value < high)
            ]
            everyone = self.counts(name, set(inside))
            if len(inside) < 2 or (self.require_beneficial and sum(n > 0 for n in everyone) < 2):
                continue
            goodness = {}
            for place in range(1, len(inside)):
                left = self.counts(name, set(inside[:place]))
                right = [a - b for a, b in zip(everyone, left, strict=True)]
                if self.utility == "distortion":
                    goodness[inside[place]] = float(min(sum(left), sum(right)))
                else:
                    goodness[inside[place]] = gain(left, right)
            best = max(goodness.values())
            cut = next(cut for cut, found in goodness.items() if found >= best - TIE * max(1.0, best))
            yield name, cut, float(sum(everyone)) if self.utility == "distortion" else goodness[cut]


def disclose(
    table,
    templates,
    target=None,
    *,
    weights=None,
    utility="information",
    require_beneficial=True,
    continuous=(),
    max_steps=None,
):
    """The State at the end and its steps, or None and the confidences of the most suppressed table.

    A step is (attribute, value or cut, InfoGain, PrivLoss, Score, confidences after it).
    """
    state = State(table, templates, target, weights, utility, require_beneficial, continuous)
    confidences = state.confidences()
    if not state.holds(confidences):
        return None, confidences
    steps, dead = [], set()
    while max_steps is None or len(steps) < max_steps:
        scored = []
        for name, extra, information in state.candidates():
            if (name, extra) in dead:
                continue
            after = state.confidences((name, extra))
            if not state.holds(after):
                dead.add((name, extra))  # what more is disclosed only raises confidences
                continue
            losses = [
                float(b) - float(a)
                for a, b, (quasi, _, _) in zip(confidences, after, state.templates, strict=True)
                if name in quasi
            ]
            loss = 0.0
            for one in losses:
                loss += one
            loss /= len(losses)
            scored.append((information / (loss + 1.0), name, extra, information, loss, after))
        if not scored:
            break
        best = max(one[0] for one in scored)
        winner = next(one for one in scored if one[0] >= best - TIE * max(1.0, best))
        score, name, extra, information, loss, confidences = winner
        if name in state.continuous:
            state.cuts[name].append(extra)
        else:
            state.disclosed[name].add(extra)
        steps.append((name, extra, information, loss, score, confidences))
    return state, steps


def every_suppression(table, templates, target=None):
    """Each set of (attribute, value) that may be disclosed, with its confidences: 2^values of them."""
    state = State(table, templates, target, None, "information", True, ())
    pairs = [(name, value) for name in state.masked for value in state.values[name]]
    for size in range(len(pairs) + 1):
        for chosen in combinations(pairs, size):
            for name in state.masked:
                state.disclosed[name] = {value for other, value in chosen if other == name}
            yield frozenset(chosen), state.confidences()


def _rank(value):
    """The order of a domain: values, then null, then what was suppressed."""
    if value is None:
        return (1, 0)
    return (2, 0) if value == BOTTOM else (0, value)
