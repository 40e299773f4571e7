"""Which domain of a menu a release has: that which its certificate names, or that which its values are of.

A certificate names no menu whose options come from the rows (`from_rows`), as it says nothing of when they
were made: the release shows by its values that it is on one of its domains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nbcfast._wire.messages import listing, named
from nbcfast.domains import Declared, Menu, Option
from nbcfast.published.release import Release
from nbcfast.table.values import Value


def chosen_in(menu: Menu, release: Release) -> Declared:
    """The domain of a menu that a release has; ValueError, with the column, where it has none of them."""
    advice = release.certificate.advice
    if advice is not None:
        return menu.chosen(advice.chosen)
    views, undeclared = release.views, {*menu.undeclared}
    strange = [name for name in views.attributes if name not in menu.options]
    if strange:
        raise ValueError(f"the menu has no column {named(strange[0])}, which is an attribute")
    places = []
    for name, options in menu.options.items():
        values = views.domain(name) if name in views.attributes else None
        place = next(_places(options, values, name in undeclared), None)
        if place is None:
            has = "is not left out in any option" if values is None else "has values of no one option"
            raise ValueError(f"{named(name)} {has} of the menu")
        places.append(place)
    of_class = menu.class_values
    if of_class is not None:
        others = {*of_class} - {*views.classes}
        if {*views.classes} - {*of_class} or (others and menu.class_name not in undeclared):
            raise ValueError("the classes are others in the menu")
    return menu.chosen(places)


def said_of_rows(menu: Menu) -> str:
    """That nobody has checked options of a menu, to be said after its name; nothing where all were."""
    return f", whose options of {listing(menu.undeclared)} come from the rows" if menu.undeclared else ""


def _places(options: Sequence[Option], values: tuple[Value, ...] | None, from_rows: bool) -> Iterator[int]:
    """The options of a column that have these values, None of one that is left out.

    Of options from rows those values are published that occur: an option that has no others comes first.
    """
    for occurring in (False, True) if from_rows and values is not None else (False,):
        for place, option in enumerate(options):
            expected = None if option.out else option.domain_values
            if occurring and expected is not None and values is not None:
                expected = tuple(value for value in expected if value in {*values})
            if expected == values:
                yield place
