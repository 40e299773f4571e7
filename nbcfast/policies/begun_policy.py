"""`first_policy`: a policy to begin with, in TOML with a comment on every line that has to be decided."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Mapping, Sequence

from nbcfast._wire.messages import printable
from nbcfast.canonical import Limits
from nbcfast.domains.skeleton import Proposal, begun
from nbcfast.policies.keys import GATE, LIMITS, NONE

LIMIT_OF_LAMBDA = "the limit of Lambda, the largest ratio of two scores"
BARE = re.compile(r"[A-Za-z0-9_-]+")
ROOM, WIDTH = 48, 108  # letters before a comment, and of a line
HEAD = """\
# What every release of this table has to keep. `nbcfast publish FILE --policy` publishes under it, and
# `nbcfast gate DIR --policy` says of a folder whether it keeps it. Read every line, and decide.
"""
OF_MENU = "the domain is the best of these that keeps the limits"
TO_CHECK = """\
# Values and ranges below come from the rows: whoever publishes with them says which values occur. Check each
# against the code book, then take its name out of this list, and lower undeclared_columns in [limits].
"""


def first_policy(
    proposals: Sequence[Proposal],
    class_name: str,
    amplification: int | str = 4,
    menu: tuple[str, int] | None = None,
) -> str:
    """The text of a policy for a table, of which nobody has decided anything yet.

    Parameters
    ----------
    proposals : sequence of Proposal
        Those of `nbcfast.domains.skeleton`, the class among them.
    class_name : str
        The column to predict.
    amplification : int or str
        The limit of Lambda.
    menu : tuple of (str, int), optional
        A menu that the domain is chosen from in place of the proposals: its path, from the folder of the
        policy, and how many of its columns nobody has checked.

    Examples
    --------
    >>> import nbcfast
    >>> from nbcfast.domains import skeleton
    >>> table = nbcfast.Table({"sex": ["f", "m"] * 50, "ill": ["n", "n", "n", "y"] * 25})
    >>> lines = first_policy(skeleton(table, "ill"), "ill").splitlines()
    >>> [line[:29] for line in lines if line.startswith("sex")]
    ['sex = { values = ["f", "m"] }']
    """
    kept = [one for one in proposals if one.name != class_name or not one.option.out]
    from_rows = list(begun(kept).from_rows)
    of_class = len(kept) < len(proposals)  # whose values are too many to be listed, and come from the rows
    lines = [
        *HEAD.splitlines(),
        "",
        *([] if menu is None else [_line(f"menu = {_text(menu[0])}", OF_MENU), ""]),
        "[release]",
        _line(f"class = {_text(class_name)}", "the column to predict"),
        _line(f"amplification = {_value(amplification)}", LIMIT_OF_LAMBDA),
        _line('attacker = "row"', 'or "worlds", who averages over possible worlds: then half of it'),
        _line('preserve = "label"', 'the best class stays, or "order": that of all classes'),
    ]
    if menu is None:
        lines += [
            *TO_CHECK.splitlines(),
            f"undeclared = [{', '.join(map(_text, from_rows))}]",
            "",
            "[domain]",
            *(_of_column(proposal, class_name) for proposal in kept),
        ]
    lines += ["", "[limits]"]
    usual = Limits().to_dict()
    shown = {"undeclared_columns": len(from_rows) + of_class if menu is None else menu[1]}
    for key in LIMITS.keys:
        entry = shown.get(key.name, usual.get(key.name, key.default))
        number = f"{entry:g}" if isinstance(entry, float) else _value(NONE if entry is None else entry)
        lines.append(_line(f"{key.name} = {number}", key.text))
    (of_claims,) = GATE.keys
    lines += ["", f"[{GATE.name}]", _line(f"{of_claims.name} = {_value(of_claims.default)}", of_claims.text)]
    return "\n".join(lines) + "\n"


def _of_column(proposal: Proposal, class_name: str) -> str:
    reason = f"the class; {proposal.reason}" if proposal.name == class_name else proposal.reason
    return _line(f"{toml_key(proposal.name)} = {_option(proposal.option.entry)}", reason)


def _option(entry: Mapping[str, object]) -> str:
    """An option of a column as TOML has it, which has no null."""
    parts = dict(entry)
    values, edges = parts.get("values"), parts.get("edges")
    if isinstance(values, list) and None in values:
        parts["values"] = [value for value in values if value is not None]
        parts["null"] = True
    if isinstance(edges, list):
        ends = {0: -math.inf, len(edges) - 1: math.inf}
        parts["edges"] = [ends[place] if edge is None else edge for place, edge in enumerate(edges)]
    return f"{{ {', '.join(f'{toml_key(name)} = {_value(one)}' for name, one in parts.items())} }}"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float) and math.isfinite(value) and value.is_integer() and abs(value) < 2**53:
        return f"{value:.1f}" if abs(value) >= 1000 else f"{value:g}.0"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return _option(value)
    return str(value)  # of a float inf, as TOML has it


def toml_key(name: str) -> str:
    """A name as a key of TOML.

    Examples
    --------
    >>> toml_key("age"), toml_key("age at birth")
    ('age', '"age at birth"')
    """
    return name if BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    """A text of one line: what JSON escapes TOML escapes alike, but for one letter."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _line(entry: str, comment: str) -> str:
    """An entry and what there is to know of it: beside it, or above where that is too long."""
    said = printable(" ".join(comment.split()))
    beside = f"{entry:<{ROOM}} # {said}"
    if len(beside) <= WIDTH:
        return beside
    return "\n".join([*(f"# {line}" for line in textwrap.wrap(said, WIDTH - 2)), entry])
