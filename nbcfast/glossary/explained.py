"""The glossary: its entries, and how the one of a word is found."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LONGEST = 10  # words of a form that is looked for in a text
INTERVAL = re.compile(r"[\[(]\s*[^\s,()\[\]]+\s*,\s*[^\s,()\[\]]+\s*[\])]")  # [10, 20)
VERBS = "`nbcfast {}`"
LINK = "[{name}](../{page}.md)"


@dataclass(frozen=True)
class Explanation:
    """What a word means.

    Parameters
    ----------
    word : str
    also : tuple of str
        Other forms of it, and words that stand for the same.
    short : str
        What it is, in a line.
    means : str
        What it means for whoever decides.
    todo : str
        What to do.
    see : tuple of str
        Pages of the documentation by their path, and verbs.
    """

    word: str
    also: tuple[str, ...]
    short: str
    means: str
    todo: str
    see: tuple[str, ...]

    @property
    def pages(self) -> tuple[str, ...]:
        """The pages among what to see."""
        return tuple(name for name in self.see if _is_page(name))

    @property
    def verbs(self) -> tuple[str, ...]:
        """The verbs among what to see."""
        return tuple(name for name in self.see if not _is_page(name))

    def to_dict(self) -> dict[str, object]:
        """Plain values."""
        return {
            "word": self.word,
            "also": list(self.also),
            "short": self.short,
            "means": self.means,
            "to_do": self.todo,
            "pages": list(self.pages),
            "verbs": list(self.verbs),
        }


def _is_page(name: str) -> bool:
    return "/" in name or name == "threat-model"


@cache
def _entries() -> tuple[Explanation, ...]:
    text = files("nbcfast.glossary").joinpath("terms.toml").read_text(encoding="utf-8")
    return tuple(
        Explanation(
            word,
            tuple(term.get("also", ())),
            term["short"],
            term["means"],
            term["todo"],
            tuple(term["see"]),
        )
        for word, term in tomllib.loads(text).items()
    )


@cache
def _forms() -> dict[str, Explanation]:
    """Every form of every word; the word of an entry comes before what others call so."""
    forms: dict[str, Explanation] = {}
    for one in _entries():
        forms.setdefault(_plain(one.word), one)
    for one in _entries():
        for form in one.also:
            forms.setdefault(_plain(form), one)
    return forms


def words() -> tuple[str, ...]:
    """The words that have an entry, in the order of the alphabet."""
    return tuple(sorted((one.word for one in _entries()), key=str.casefold))


def entry(word: str) -> Explanation | None:
    """The entry of a word, whatever its case and number, or of what it stands for; None where there is none.

    Examples
    --------
    >>> entry("LAMBDA").word, entry("limits of Lambda").word, entry("--min-flip").word
    ('Lambda', 'Lambda', 'flip')
    >>> entry("[0, 5)").word
    'interval'
    >>> entry("sunshine")
    """
    forms = _forms()
    if INTERVAL.fullmatch(word.strip()):
        return forms["interval"]
    return next((forms[form] for form in _singular(_plain(word)) if form in forms), None)


def forms() -> tuple[str, ...]:
    """All that has an entry: the words, and what else stands for them."""
    return tuple(dict.fromkeys(form for one in _entries() for form in (one.word, *one.also)))


def terms_in(text: str) -> list[Explanation]:
    """The entries of what stands in a text, each once; of forms that begin alike the longest is taken.

    Examples
    --------
    >>> [one.word for one in terms_in("worst posterior of healthy, read as raw counts")]
    ['worst posterior', 'raw', 'found']
    """
    return list(forms_in(text))


def forms_in(text: str) -> dict[Explanation, str]:
    """The same, each with the form in which it stands there first."""
    parts, place = _plain(text).split(), 0
    found: dict[Explanation, str] = {}
    while place < len(parts):
        for size in range(min(LONGEST, len(parts) - place), 0, -1):
            form = " ".join(parts[place : place + size])
            one = entry(form)
            if one is not None:
                found.setdefault(one, form)
                place += size
                break
        else:
            place += 1
    return found


def spelled(one: Explanation, form: str) -> str:
    """A form of an entry as its glossary spells it, and as it was asked for where it has another number.

    Examples
    --------
    >>> spelled(entry("flip"), "CLASS_SHOWS"), spelled(entry("flip"), "min flip")
    ('class shows', '--min-flip')
    """
    plain = _plain(form)
    return next((known for known in (one.word, *one.also) if _plain(known) == plain), form)


def _plain(word: str) -> str:
    """A word without case, signs and options' dashes."""
    return " ".join(re.findall(r"[^\W_]+", word.casefold()))


def _singular(word: str) -> Iterator[str]:
    """A plain form as it stands, and as it may stand for one; some words end in an s of their own."""
    yield word
    for some, one in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(some) and len(word) > len(some) + 1:
            yield word.removesuffix(some) + one
    first, *rest = word.split() or [""]
    if rest and first.endswith("s") and not first.endswith("ss"):  # limits of Lambda
        yield " ".join((first[:-1], *rest))
    if not word.endswith("s"):
        yield f"{word}s"


def page() -> str:
    """The page of the glossary, in Markdown."""
    lines = [
        "# Glossary",
        "",
        "The words of screens and reports, and what they mean for whoever decides. `nbcfast explain WORD`",
        "prints an entry; this page is made from the same file.",
        "",
    ]
    by_word = {one.word: one for one in _entries()}
    for word in words():
        one = by_word[word]
        also = ", ".join(form for form in one.also if not form.startswith("-"))
        links = [LINK.format(name=name, page=name) for name in one.pages]
        see = ", ".join([*links, *(VERBS.format(verb) for verb in one.verbs)])
        lines += [f"## {word}", "", f"**{one.short}**", "", one.means, "", f"*What to do:* {one.todo}", ""]
        lines += [f"*Also:* {also}.", ""] if also else []
        lines += [f"*See also:* {see}.", ""]
    return "\n".join(lines).rstrip() + "\n"
