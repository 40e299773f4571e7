"""`Leak`: what the meter has found, as numbers and in words that say what to do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nbcfast._core.chances import bound_text
from nbcfast._core.pickling import HasReadOnlyMappings
from nbcfast._core.untyped import Document
from nbcfast._markup.elements import Element
from nbcfast._markup.fragments import result
from nbcfast._markup.page_parts import State, findings, more, table
from nbcfast.canonical.limits_of_answers import MUCH

REMEDY = "What helps is a coarser domain (`nbcfast advise`), or noise."


@dataclass(frozen=True, repr=False)
class Leak(HasReadOnlyMappings):
    """What the answers of a classifier on its domain say about the counts and the people behind them.

    Most of it is measured on the private data: nothing of this is for publication.

    Attributes
    ----------
    tuples : int
    bits : float
        Bits a weight: log2 of the range of the weights of least norm, whose margin is 1. Those of two models
        do not compare: `total_bits` do.
    counting_bound : float
        log2(e m / d) for D tuples, C classes, m = D C (C - 1) / 2 and d = (C - 1) (V - n + 1) free weights:
        the bits a weight that tell all rules of this form apart on average. It bounds no rule by itself:
        `bits`, the length of one rule's weights, may be above it.
    total_bits : float
        What all answers together can say at most: the least of 1 + d log2(e m / d) and D log2 C (D log2 C!
        for whole orders), the logarithm of how many rules there are at most.
    levels : mapping of name -> (int, int)
        How many values of an attribute the answers tell apart, and how many there are.
    intervals : mapping of name -> float, or None
        Of a sample of values of each attribute, the median length of the interval in which all rules with
        these answers have the log-ratio of their two counts, against that of the most frequent value, once
        is known. Infinite where there is no end. None where it was not measured.
    no_intervals : str or None
        Why not, where they were asked for.
    found, found_near, cells : int or None
        Values all of whose counts the totals attack finds exactly, and within 5 %, of how many. None where
        there is one class.
    null_found, null_near : int or None
        What public totals give without the answers.
    flip : float
        The share of people whose class can be exchanged for every other class without any answer changing. Of
        all others somebody who knows the rest of the table reads the class off the answers.
    trace : float
        The share of people who can be left out without any answer changing. Of all others somebody who knows
        the rest of the table reads off the answers whether they are in it.
    flip_shows_at_most, trace_shows_at_most : float or None
        Of a sample, the exact upper 95 % bound of the share of people whose class, or whose presence, shows.
        None where everybody was looked at.
    exact : bool
        Whether everybody in the table was looked at.
    sampled : int
        How many people were looked at; 0 where there is one class, and nothing is measured.
    of_table : bool
        Whether these are people of the table; else they were drawn as the classifier sees them.
    one_class_values, one_class_people : int
        Values that people of one class only have, and how many people have one of them: the answers give
        them their class, whatever else is known of them. Without the table the people are an upper bound: who
        has two such values may be counted twice.
    alone : int
        Values that a single person has.
    smoothed : bool
        Whether a number was added to every count before: then zeros are no rule without exception, and
        whoever knows the number is not kept from finding them.
    """

    tuples: int
    bits: float
    counting_bound: float
    total_bits: float
    levels: Mapping[str, tuple[int, int]]
    intervals: Mapping[str, float] | None
    found: int | None
    found_near: int | None
    cells: int | None
    null_found: int | None
    null_near: int | None
    flip: float
    trace: float
    flip_shows_at_most: float | None
    trace_shows_at_most: float | None
    exact: bool
    sampled: int
    of_table: bool
    one_class_values: int
    one_class_people: int
    alone: int
    no_intervals: str | None = None
    smoothed: bool = False

    @property
    def values(self) -> int:
        """Of all attributes."""
        return sum(size for _, size in self.levels.values())

    @property
    def measured(self) -> bool:
        """Whether there was anything to measure: answers of one class tell nothing apart."""
        return self.cells is not None

    @property
    def high(self) -> bool:
        """Whether bits a weight alone are a warning; that they are few is no safety."""
        return bool(self.bits > MUCH)

    @property
    def shows_class(self) -> int:
        """Of the people looked at, how many have a class that shows."""
        return _missing(self.flip, self.sampled)

    @property
    def shows_presence(self) -> int:
        """Of the people looked at, how many cannot be left out unseen."""
        return _missing(self.trace, self.sampled)

    @property
    def findings(self) -> tuple[str, ...]:
        """All that was found against these answers, a clause each, the worst first; none of it is calming."""
        return tuple(self._findings())

    def _findings(self) -> Iterator[str]:
        if self.one_class_values:
            rule = (
                "what was added to the counts hides it from nobody who knows that number"
                if self.smoothed
                else "the answers give that class to whoever has such a value, and it is his"
            )
            yield (
                f"{self.one_class_values:,} of {self.values:,} values are had by people of one class only "
                f"({_at_most(self)}{_people(self.one_class_people)}): {rule}"
            )
        if self.shows_class:
            yield (
                "whoever knows all other people reads off the answers the class of "
                f"{self.shows_class:,} of {self._whom}{_bound(self.flip_shows_at_most)}"
            )
        if self.shows_presence:
            yield (
                "whoever knows all other people reads off the answers that "
                f"{self.shows_presence:,} of {self._whom} are among them{_bound(self.trace_shows_at_most)}"
            )
        if self.found or self.found_near:
            yield (
                f"public totals and the answers give back the counts of {self.found:,} of {self.cells:,} "
                f"values, and of {self.found_near:,} within 5 % (totals alone: {self.null_found:,} and "
                f"{self.null_near:,})"
            )
        if self.alone:
            rule = "" if self.smoothed else ", whose class the answers give to whoever has it"
            yield f"{self.alone:,} of {self.values:,} values are those of a single person each{rule}"
        if self.high:
            yield f"{self.bits:.1f} bits a weight are much: counts come back from so many with little else"

    @property
    def verdict(self) -> str:
        """What that means, in plain words."""
        if not self.measured:
            return "Not measured: there is one class, and so the answers say nothing of the values."
        found = self.findings
        if found:
            text = "; ".join(found)
            return f"The answers give people away: {text}. {REMEDY}"
        # Few bits are no reason to be calm, and so they are not among the reasons.
        return (
            "Nothing was found: whoever knows all other people reads neither class nor presence of any of "
            f"{self._whom} off the answers{_bound(self.flip_shows_at_most)}, every value is had by people of "
            "several classes, and public totals and the answers give back the counts of none of "
            f"{self.cells:,} values. Not tried: somebody who knows all but several people, or has answers "
            "from other data too."
        )

    @property
    def _whom(self) -> str:
        people = _people(self.sampled)
        if self.exact:
            return people
        return f"{people} {'looked at' if self.of_table else 'drawn as the classifier sees them'}"

    def to_dict(self) -> Document:
        """Plain values; None for what is infinite or was not measured."""
        intervals = self.intervals
        measured = self.sampled > 0
        return {
            "tuples": self.tuples,
            "bits": None if math.isinf(self.bits) else self.bits,
            "counting_bound": self.counting_bound,
            "total_bits": self.total_bits,
            "levels": {name: list(pair) for name, pair in self.levels.items()},
            "intervals": None
            if intervals is None
            else {name: None if math.isinf(size) else size for name, size in intervals.items()},
            "no_intervals": self.no_intervals,
            "found": self.found,
            "found_near": self.found_near,
            "cells": self.cells,
            "null_found": self.null_found,
            "null_near": self.null_near,
            "values": self.values,
            "one_class_values": self.one_class_values if measured else None,
            "one_class_people": self.one_class_people if measured else None,
            "alone": self.alone,
            "smoothed": self.smoothed,
            "flip": self.flip if measured else None,
            "trace": self.trace if measured else None,
            "flip_shows_at_most": self.flip_shows_at_most,
            "trace_shows_at_most": self.trace_shows_at_most,
            "exact": self.exact,
            "sampled": self.sampled,
            "of_table": self.of_table,
            "high": self.high,
            "findings": list(self.findings),
            "verdict": self.verdict,
        }

    def _repr_html_(self) -> str:
        if not self.measured:
            return result("unmeasured", self.verdict, private=True)
        levels = [[name, f"{told_apart:,}", f"{size:,}"] for name, (told_apart, size) in self.levels.items()]
        found: list[tuple[State, str, str]] = [("shows", "answers", text) for text in self.findings]
        if not found:
            return result("kept", self.verdict, self._table_of(levels), private=True)
        return result(
            "shows", "The answers give people away", findings(found), self._table_of(levels), private=True
        )

    def _table_of(self, levels: list[list[str]]) -> Element:
        bits = "no" if math.isinf(self.bits) else f"{self.bits:.1f}"
        heading = f"{bits} bits a weight, {self.total_bits:,.0f} in all"
        return more(heading, table(["attribute", "values told apart", "of"], levels))

    def __repr__(self) -> str:
        if not self.measured:
            return "Leak(not measured: one class)"
        levels = " x ".join(f"{told_apart} of {size}" for told_apart, size in self.levels.values())
        return (
            f"Leak(class shows of {self.shows_class:,}, presence of {self.shows_presence:,} of {self._whom}; "
            f"{self.one_class_values:,} values of one class; totals attack {self.found:,} of {self.cells:,}; "
            f"{self.bits:.1f} bits a weight, {self.total_bits:.0f} in all; levels {levels})"
        )


def percent(share: float) -> str:
    """A share as a per cent that is not below it: what is an upper bound stays one.

    Examples
    --------
    >>> percent(0.0457), percent(0.00012)
    ('4.6 %', '0.1 %')
    """
    return bound_text(share).replace("%", " %")


def _missing(share: float, people: int) -> int:
    """How many people are not in a share: none only where it is all of them, whatever floats make of it."""
    return 0 if share == 1 else max(people - round(share * people), 1)


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def _at_most(found: Leak) -> str:
    return "" if found.of_table else "at most "


def _bound(share: float | None) -> str:
    return "" if share is None else f" (at most {percent(share)} of all can show, 95 % sure)"
