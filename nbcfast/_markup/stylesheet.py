"""How pages and results in notebooks look: `pieces.css` is of both, `page.css` of pages alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from nbcfast._markup.colours import DARK, LIGHT


def page_style(band: str) -> str:
    """The style of a page, on every printed sheet of which `band` stands; a text of our own."""
    quoted = band.replace("\\", "\\\\").replace('"', '\\"')
    sheets = (
        "@page{size:A4;margin:17mm 14mm 16mm;"
        f'@top-center{{content:"{quoted}";font:600 9pt sans-serif;color:#444}}'
        '@bottom-right{content:counter(page) " / " counter(pages);font:8pt sans-serif;color:#444}}'
    )
    light, dark = _variables(LIGHT), _variables(DARK)
    themes = f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return f"{themes}{_rules('pieces.css')}{_rules('page.css')}{sheets}"


def notebook_style() -> str:
    """The style of a result in a notebook: in its colours of text, where it names them."""
    light, dark = _variables(LIGHT), _variables(DARK)
    own = (
        "color:var(--jp-content-font-color1,var(--vscode-editor-foreground,inherit));"
        "font-size:.92rem;line-height:1.45;max-width:60rem"
    )
    return (
        f".nbcfast{{{light}{own}}}@media (prefers-color-scheme:dark){{.nbcfast{{{dark}}}}}"
        f'[data-jp-theme-light="true"] .nbcfast{{{light}}}[data-jp-theme-light="false"] .nbcfast{{{dark}}}'
        f"{_within(_rules('pieces.css'))}"
    )


@cache
def _rules(name: str) -> str:
    """A style without what only its readers need: comments and blanks."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"\s*([{};])\s*", r"\1", text).replace(";}", "}").strip()


def _variables(colours: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


def _within(style: str) -> str:
    """The rules, for what stands in a result and for nothing else of the notebook."""
    rules = []
    for rule in style.split("}"):
        if "{" in rule:
            selectors, body = rule.split("{", 1)
            inside = ",".join(f".nbcfast {selector.strip()}" for selector in selectors.split(","))
            rules.append(f"{inside}{{{body}}}")
    return "".join(rules)
