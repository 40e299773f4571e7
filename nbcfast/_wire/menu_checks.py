"""Whether the domain of a release is that which it names in a menu; and the file of a menu."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nbcfast._wire.advice_form import choices_text
from nbcfast._wire.json_entries import Refused
from nbcfast._wire.menus import domain_of, menu_digest, menu_of_text, n_choices, resolved
from nbcfast._wire.messages import named, quoted, short
from nbcfast._wire.regular_files import read_whole, special
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast._wire.strata_form import StrataDocument
from nbcfast._wire.typed_values import domain

if TYPE_CHECKING:
    from nbcfast._wire.advice_form import AdvisedChoice
    from nbcfast._wire.form import Form
    from nbcfast._wire.menus import Entry, Resolved
    from nbcfast._wire.outcomes import Judged
    from nbcfast._wire.typed_values import Typed


def menu_of_file(path: str) -> Resolved:
    """The menu of a file, resolved; files of hierarchies are looked for beside it.

    Raises
    ------
    OSError, ValueError
        If a file is not there, or is no menu.
    """
    folder = os.path.dirname(path)
    return resolved(menu_of_text(small_text(path)), lambda name: small_text(os.path.join(folder, name)))


def small_text(path: str) -> str:
    """The text of a file that somebody names: a regular one, no larger than a certificate."""
    what = special(os.stat(path).st_mode)  # opening a pipe may wait for ever
    if what is not None:
        raise Refused(f"{quoted(path)} is {what}: expected a regular file")
    with open(path, "rb") as file:
        data = read_whole(file, os.path.basename(path))
    try:
        return data.decode("utf-8-sig")  # some editors begin with a mark
    except UnicodeDecodeError as error:
        raise Refused(f"{quoted(path)}: byte {error.start} is not UTF-8") from None


def judge_menu(document: Form, menu: Resolved) -> Judged:
    """The check of a menu that was given."""
    # Of strata all have one domain, and the menu one more column.
    selecting = {document.by: document.values} if isinstance(document, StrataDocument) else {}
    of_all = document.releases[0] if isinstance(document, StrataDocument) else document
    advice = of_all.advice if isinstance(of_all, ReleaseDocument) else None
    if not isinstance(of_all, ReleaseDocument) or advice is None:
        return [("menu", None, "the certificate names no menu: nothing can be held against this one")]
    fault = _other_menu(of_all, advice, menu, selecting)
    text = f"the domain is the named one of the {choices_text(advice.options)} choices of this menu"
    return [("menu", fault is None, fault or text)]


def _other_menu(
    document: ReleaseDocument, advice: AdvisedChoice, menu: Resolved, selecting: dict[str, list[Typed]]
) -> str | None:
    """What of a release, or of a column that selects it, is otherwise than in the menu, or None."""
    if menu_digest(menu) != advice.menu:
        return "this is not the menu of the certificate: its sha256 is another"
    class_name = document.fields["class_name"]
    columns = [name for name in menu if name != class_name]
    if len(columns) < len(menu) and len(menu[class_name]) > 1:
        return f"the menu has {len(menu[class_name]):,} options for the class, and expected is one"
    choices = n_choices(menu)
    if choices != advice.options:
        return f"the menu has {choices_text(choices)} choices, the certificate says {short(advice.options)}"
    if len(columns) != len(advice.chosen):
        return (
            f"the menu has {len(columns):,} columns, the certificate names options of {len(advice.chosen):,}"
        )
    strange = [name for name in advice.strata if name not in columns]
    if strange:
        return f"the menu has no column {named(strange[0])}, which might have selected a classifier"
    published = {name: values for name, values, _ in document.attributes}
    published.update(selecting)
    for name, place in zip(columns, advice.chosen):  # noqa: B905  # also for Python before 3.10
        if place >= len(menu[name]):
            return f"the menu has {len(menu[name]):,} options of {named(name)}, and no option {short(place)}"
        fault = _other_values(menu[name][place], published.pop(name, None))
        if fault:
            return f"attribute {named(name)}, option {place}: {fault}"
    if published:
        return f"the menu has no column {named(next(iter(published)))}, which is an attribute"
    if class_name in menu:
        fault = _other_values(menu[class_name][0], document.classes)
        if fault:
            return f"the class: {fault}"
    return None


def _other_values(option: Entry, published: list[Typed] | None) -> str | None:
    """What of published values, None of an attribute that is not there, is not as in an option."""
    typed = domain_of(option)
    if typed is None or published is None:
        if typed is None and published is None:
            return None
        return "it is left out in the menu, and published" if typed is None else "it is not published"
    of_menu = domain(typed, "menu")
    if len(of_menu) != len(published):
        return f"{len(of_menu):,} values in the menu, and {len(published):,} published"
    same = all(_same(one, other) for one, other in zip(of_menu, published))  # noqa: B905
    return None if same else "its values, or their order, are others in the menu"


def _same(one: Typed, other: Typed) -> bool:
    """Whether two values are the same; 1 is 1.0, as a column of floats may be declared by integers."""
    numbers = ("float", "int")
    return one[1] == other[1] and (one[0] == other[0] or (one[0] in numbers and other[0] in numbers))
