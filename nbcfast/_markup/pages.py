"""A whole file: one page that needs nothing else, fetches nothing and sends nothing."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Literal

from nbcfast._markup.elements import Element, element
from nbcfast._markup.stylesheet import page_style

MOST_BYTES = 100_000  # of a page, which people send by mail


@dataclass(frozen=True)
class Band:
    """What stands on top of the screen, and of every sheet that is printed.

    Attributes
    ----------
    kind : {"private", "public"}
    text : str
    """

    kind: Literal["private", "public"]
    text: str


def private_band(source: str) -> Band:
    """That of a page for the owner, which says what it was made from."""
    return Band("private", f"PRIVATE: made from {source}, for its owner. Do not publish this page")


PRIVATE = private_band("the private table")
PUBLIC = Band("public", "PUBLIC: made from the published files alone, and from nothing private")


def page(title: str, band: Band, *content: Element, script: str | None = None) -> bytes:
    """The file of a page: UTF-8, the same bytes for the same content.

    Parameters
    ----------
    title : str
        Of the tab of a browser.
    band : Band
        Whose page it is; a private one has no script.
    *content : Element
        What stands on the page.
    script : str, optional
        Which runs when the page is there; its hash is in the policy, by which no other does.

    Raises
    ------
    ValueError
        If a private page is to have a script.
    """
    if script is not None and band.kind == "private":
        raise ValueError("a private page has no script")
    style = page_style(band.text)
    allowed = ["default-src 'none'", f"style-src '{_digest(style)}'", "base-uri 'none'", "form-action 'none'"]
    if script is not None:
        allowed.insert(2, f"script-src '{_digest(script)}'")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content="; ".join(allowed)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", style),
    )
    body = element(
        "body",
        element("header", band.text, class_=f"band {band.kind}"),
        element("main", *content),
        None if script is None else element("script", script),
    )
    text = f"<!DOCTYPE html>\n{element('html', head, body, lang='en').html()}\n"
    return text.encode("utf-8", "backslashreplace")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
