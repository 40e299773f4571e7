"""How what a caller is told spells what he may give: as arguments of Python, unless he typed options.

And which known word somebody may have meant who gave one that is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MOST_NAMED = 20  # names in a sentence
MOST_MEANT = 3  # words that are asked about
ALIKE = 0.65  # of 1, as difflib measures: below that words are seldom the same, mistyped


def nearest(word: object, known: Iterable[object], most: int = MOST_MEANT) -> list[str]:
    """The known words that one which is not known may be meant for, the likest first.

    Examples
    --------
    >>> nearest("Adress", ["age", "address", "class"]), nearest("blood pressure", ["blood_pressure"])
    (['address'], ['blood_pressure'])
    >>> nearest("zip", ["age", "address"])
    []
    """
    from difflib import get_close_matches

    spelled: dict[str, list[str]] = {}
    for one in map(str, known):
        spelled.setdefault(_letters(one), []).append(one)
    found = get_close_matches(_letters(str(word)), spelled, n=most, cutoff=ALIKE)
    return [one for letters in found for one in spelled[letters]][:most]


def meant(word: object, known: Iterable[object]) -> str:
    """A question after words that one which is not known may be meant for, or nothing.

    Examples
    --------
    >>> meant("aeg", ["age", "sex"]), meant("zip", ["age", "sex"])
    ("; did you mean 'age'?", '')
    """
    found = nearest(word, known)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""


def in_place(name: object, present: Sequence[str]) -> str:
    """What there is where a name is not: those it may be meant for, and after them the others, each once.

    Examples
    --------
    >>> print(in_place("aeg", ["age", "sex", "job"]))
    ; did you mean 'age'? It also has 'sex', 'job'
    >>> print(in_place("zip", ["age", "sex"]))
    ; it has 'age', 'sex'
    """
    near = nearest(name, present)
    if not near:
        return f"; it has {listed(present)}"
    others = [one for one in present if one not in near]
    return f"{meant(name, present)}{f' It also has {listed(others)}' if others else ''}"


def listed(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(map(repr, names[:MOST_NAMED]))}{more}"


def _letters(word: str) -> str:
    """A word without what is easily mistaken: case, blanks, signs between words."""
    return re.sub(r"[\W_]+", "", word).casefold() or word


class Arguments:
    """The words of Python; the command line has a subclass with its options.

    Examples
    --------
    >>> words = Arguments()
    >>> words.named("rows"), words.given("rows", "proven"), words.form("rows", "R")
    ('rows', "rows='proven'", 'rows=R')
    """

    def named(self, argument: str) -> str:
        """An argument by itself."""
        return argument

    def given(self, argument: str, value: object) -> str:
        """An argument with a value that it may be given."""
        return f"{argument}={value!r}"

    def form(self, argument: str, *letters: str) -> str:
        """An argument with letters that stand for its values."""
        values = letters[0] if len(letters) == 1 else f"({', '.join(letters)})"
        return f"{argument}={values}"

    def noise(self, name: str | None = None) -> str:
        """The noise that is asked for, or one of the numbers that say it."""
        return "dp" if name is None else f"dp[{name!r}]"

    def reading(self, argument: str, value: str) -> str:
        """An argument of whoever reads a file, with the text that it may be given."""
        return f"{argument}={value!r} to nbcfast.read_csv"

    def nulls(self, texts: Sequence[str]) -> str:
        """What takes these texts for nulls, and no others."""
        return f"null_values={tuple(texts)!r}"

    def as_text(self, column: str) -> str:
        """What reads a column as text, whatever it holds."""
        return f"nbcfast.read_csv(.., types={{{column!r}: 'text'}})"

    def as_published(self) -> str:
        """What says again which raw values were put into which set or bin."""
        return f"{self.form('domains', '..')}, what it was published with"

    def unseen(self) -> str:
        """What is done with rows whose values a release does not know."""
        return (
            f"{self.given('unseen', 'ignore')} leaves the attribute out of such rows, "
            f"{self.given('unseen', 'null')} gives them no class"
        )

    def left_out(self, column: str) -> str:
        """What leaves a column out."""
        return f"{self.named('domains')}={{{column!r}: {{'out': True}}}}"


ARGUMENTS = Arguments()
