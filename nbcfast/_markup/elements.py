"""Elements of HTML and SVG. What stands in them is text, whatever it looks like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from nbcfast._wire.messages import printable

EMPTY = frozenset({"br", "col", "hr", "input", "link", "meta"})  # of HTML, which have no end
OURS = frozenset({"script", "style"})  # which browsers do not read as text


@dataclass(frozen=True, slots=True)
class Element:
    """A tag with attributes and what stands in it; made by `element`.

    Examples
    --------
    >>> element("p", "1 < 2 ", element("b", "</p>"), class_="note", hidden=True).html()
    '<p class="note" hidden>1 &lt; 2 <b>&lt;/p&gt;</b></p>'
    """

    tag: str
    attributes: tuple[tuple[str, str | None], ...]
    children: tuple[Element | str, ...]

    def html(self) -> str:
        """The text of a page that has this element; the same for equal elements."""
        return "".join(self._pieces())

    def _pieces(self) -> Iterator[str]:
        yield f"<{self.tag}"
        for name, value in self.attributes:
            yield f" {name}" if value is None else f' {name}="{escape(printable(value))}"'
        yield ">"
        if self.tag in EMPTY:
            return
        for child in self.children:
            if isinstance(child, Element):
                yield from child._pieces()
            elif self.tag in OURS:
                yield child
            else:
                yield escape(shown(child), quote=False)
        yield f"</{self.tag}>"


def element(
    tag: str, *children: Element | str | None, **attributes: str | int | float | bool | None
) -> Element:
    """An element; attributes are named with ``_`` for ``-``, and with one at the end of a word of Python.

    Parameters
    ----------
    tag : str
        Of HTML or SVG.
    *children : Element or str, optional
        None is left out. Texts are shown as they are, but in ``script`` and ``style``, which only the package
        itself may fill.
    **attributes : str, number, True, False or None
        True is an attribute without a value; False and None are none.

    Raises
    ------
    ValueError
        If a script or style would end within its text.
    """
    if tag in OURS and any("</" in str(child) or "<!--" in str(child) for child in children):
        raise ValueError(f"a {tag} must hold no '</' and no '<!--'")
    named = []
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        plain = name.removesuffix("_").replace("_", "-")
        named.append((plain, None if value is True else str(value)))
    return Element(tag, tuple(named), tuple(child for child in children if child is not None))


def shown(text: str) -> str:
    r"""A text as a page shows it: what a reader cannot see is spelled out, but for line breaks of our own.

    Examples
    --------
    >>> shown("a" + chr(8238) + "b" + chr(10) + "c")
    'a\\u202eb\nc'
    """
    return "\n".join(map(printable, text.split("\n")))
