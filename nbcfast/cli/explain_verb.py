"""The verb `explain`: what a word of the screens means."""

import json

import click
from rich.table import Table as Grid
from rich.text import Text

from nbcfast._core.spelling import meant
from nbcfast._wire.messages import printable
from nbcfast.cli.options import verbs
from nbcfast.cli.printing import pairs, show
from nbcfast.glossary import Explanation, entry, words
from nbcfast.glossary.explained import forms, forms_in, spelled


# An option is a word as well.
@verbs.command(
    short_help="Say what a word of a screen means, and what to do.",
    example="nbcfast explain bits a weight",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("word", nargs=-1, type=click.UNPROCESSED)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def explain(word: tuple[str, ...], as_json: bool) -> int:
    """Say what WORD means, a word of what nbcfast prints, and what to do about it.

    Any form of it will do, an option such as --max-found too, and so will a whole line of a screen. Without
    WORD all words are listed.
    """
    asked = " ".join(word)
    if not asked.strip():
        found = {one: one.word for one in map(entry, words()) if one is not None}
    else:
        one = entry(asked)
        # Words of a phrase that is nearly one of ours are not what was meant.
        near = "" if one is not None else meant(asked, as_long_as(asked))
        found = {one: asked} if one is not None else {} if near else forms_in(asked)
        if not found:
            near = near or meant(asked, forms())
            raise ValueError(f"WORD: no entry for {asked!r}{near} (`nbcfast explain` lists all words)")
    if as_json:
        print(json.dumps([one.to_dict() for one in found], indent=2, ensure_ascii=False))
    elif asked.strip():
        parts: list[Text | Grid] = []
        for one, form in found.items():
            parts += [
                Text(_heading(one, form), style="bold"),
                Text("\n".join((one.short, one.means))),
                pairs(_rest(one)),
            ]
        show(*parts)
    else:
        show(pairs([(one.word, one.short) for one in found]), Text("nbcfast explain WORD says more of one."))
    return 0


def as_long_as(asked: str) -> list[str]:
    """The forms of as many words."""
    return [form for form in forms() if len(form.split()) == len(asked.split())]


def _heading(one: Explanation, form: str) -> str:
    """The word that was asked for, and the entry that it is of."""
    shown = printable(spelled(one, form))
    return one.word if shown.casefold() == one.word.casefold() else f"{shown} (see {one.word})"


def _rest(one: Explanation) -> list[tuple[str, str]]:
    """What to do, what else is called so, and where more stands."""
    see = [*(f"nbcfast {verb}" for verb in one.verbs), *(f"docs/{name}.md" for name in one.pages)]
    also = printable(", ".join(one.also))
    return [("what to do", one.todo), *([("also", also)] if also else []), ("see", ", ".join(see))]
