"""What a notebook shows of a result: the pieces of a page, without a script, within a style of their own."""

from __future__ import annotations

from nbcfast._markup.elements import Element, element
from nbcfast._markup.page_parts import State, mark, private_tag
from nbcfast._markup.stylesheet import notebook_style


def fragment(*content: Element | None) -> str:
    """HTML for ``_repr_html_``: the same for equal results."""
    return element("div", element("style", notebook_style()), *content, class_="nbcfast").html()


def result(state: State | None, verdict: str, *content: Element | None, private: bool = False) -> str:
    """The same of a result that has a verdict, which stands first; `private` is what must not leave.

    Where nothing was judged there is no state.
    """
    said = element("b", verdict) if state is None else mark(state, verdict)
    head = element("p", said, private_tag() if private else None, class_="nbc-head")
    return fragment(head, *content)
