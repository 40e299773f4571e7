"""Every key of a policy: what it says, and what it may be, for the reader, the schema and the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

NONE = "none"  # of a limit: there is none

Schema = Mapping[str, object]

TEXT: Schema = {"type": "string", "minLength": 1}
NAMES: Schema = {"type": "array", "items": TEXT, "uniqueItems": True}
FLAG: Schema = {"type": "boolean"}
PATTERN = r"^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?(/[0-9]+)?$"
NUMBER: Schema = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": PATTERN}]}
SHARE: Schema = {
    "anyOf": [
        {"type": "number", "minimum": 0, "maximum": 1},
        {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(/[0-9]+|%)?$"},
    ]
}
AT_LEAST_0: Schema = {"type": "integer", "minimum": 0}
AT_LEAST_1: Schema = {"type": "integer", "minimum": 1}


def _or_none(schema: Schema) -> Schema:
    alternatives = schema.get("anyOf")
    listed = list(alternatives) if isinstance(alternatives, list) else [schema]
    return {"anyOf": [*listed, {"const": NONE}]}


def _one_of(*choices: str) -> Schema:
    return {"enum": list(choices)}


@dataclass(frozen=True)
class Key:
    """One key of a section.

    Parameters
    ----------
    name : str
    schema : mapping
        What it may be, as JSON Schema says it.
    text : str
        What it demands, in a sentence.
    default : object
        What holds where it is not written, as it would be written.
    """

    name: str
    schema: Schema
    text: str
    default: object = None


@dataclass(frozen=True)
class Section:
    """A table of the file.

    Parameters
    ----------
    name, text : str
    keys : sequence of Key
        None of [domain], whose keys are names of columns.
    required : sequence of str
        Keys that have to be there.
    """

    name: str
    text: str
    keys: Sequence[Key]
    required: Sequence[str] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its keys."""
        return tuple(key.name for key in self.keys)


RELEASE = Section(
    "release",
    "What is published, and how. A key that is not written here is free for whoever publishes.",
    (
        Key("class", TEXT, "The column to predict."),
        Key("columns", NAMES, "The attributes: a release has no others. Publishing uses exactly these."),
        Key("amplification", NUMBER, "The limit of Lambda, above 1. This or `breach` has to be there."),
        Key(
            "breach",
            {"type": "array", "items": SHARE, "minItems": 2, "maxItems": 2},
            "The limit of Lambda from two probabilities L1 < L2: from classes that are equally probable, "
            "nothing of probability at most L1 becomes more probable than L2.",
        ),
        Key(
            "attacker",
            _one_of("row", "worlds"),
            "Against whom: for `worlds` Lambda is held to half of the amplification.",
            "row",
        ),
        Key("method", _one_of("canonical", "safetytransform"), "How releases are made."),
        Key("preserve", _one_of("label", "order"), "What stays as it is at every tuple."),
        Key("smooth", NUMBER, "What is added to every count first, with the canonical method."),
        Key("by", TEXT, "A public column, each value of which has a classifier of its own."),
        Key(
            "undeclared",
            NAMES,
            "Columns of `[domain]` whose values come from the rows, and that nobody has checked yet: they "
            "are published as not declared.",
        ),
    ),
    ("class",),
)
LIMITS = Section(
    "limits",
    "How much a release of exact counts may give away, at the most. A limit that is not written is the usual "
    "one of `publish`, and `none` is no limit; of noisy counts no key of this section is asked.",
    (
        Key("max_bits", _or_none(NUMBER), "Bits a weight that the answers may carry.", 8),
        Key(
            "max_found",
            _or_none(AT_LEAST_0),
            "Values whose counts public totals and the answers may give back.",
            0,
        ),
        Key("min_flip", _or_none(SHARE), "People whose class does not show in the answers, at least.", 0.99),
        Key(
            "min_trace",
            _or_none(SHARE),
            "People of whom the answers do not show that they are in the table, at least.",
            NONE,
        ),
        Key("max_one_class", _or_none(AT_LEAST_0), "Values that people of one class alone may have.", 0),
        Key(
            "undeclared_columns",
            _or_none(AT_LEAST_0),
            "Columns, the class and that of `by` among them, whose values may come from the rows.",
            0,
        ),
        Key(
            "worst_posterior",
            _or_none(SHARE),
            "The largest probability that the published numbers, read as raw counts, may give any class.",
            NONE,
        ),
        Key(
            "membership_auc",
            _or_none(SHARE),
            "How well an adversary may tell rows of the table from others, 1/2 being not at all: at most so "
            "much two standard errors above what is measured, for which `--holdout` is needed.",
            NONE,
        ),
        Key(
            "accept_answers",
            FLAG,
            "Whether whoever publishes may accept what the answers give away beyond these limits.",
            False,
        ),
    ),
)
DP = Section(
    "dp",
    "Differential privacy. Without this section noise is refused, as the limits are on exact counts.",
    (
        Key("required", FLAG, "Whether every release is made of noisy counts.", True),
        Key("epsilon", NUMBER, "At most this. This or `rho` has to be there."),
        Key("delta", NUMBER, "At most this, with `epsilon` or `rho`."),
        Key("rho", NUMBER, "At most this: Gaussian noise."),
        Key(
            "neighbours",
            _one_of("add-remove", "replace"),
            "Which tables nobody can tell apart.",
            "add-remove",
        ),
        Key("rows_per_person", AT_LEAST_1, "Rows that a person may have in the table, at least.", 1),
    ),
)
LEDGER = Section(
    "ledger",
    "The releases of one table, each checked beside all before it.",
    (
        Key("required", FLAG, "Whether every release is entered.", True),
        Key("file", TEXT, "The ledger, a path from the folder of the policy."),
        Key(
            "policy",
            {"type": "array", "items": _one_of("calendar", "disjoint"), "uniqueItems": True},
            "`calendar`: each window ends later. `disjoint`: it shares no block with another.",
            [],
        ),
        Key("new_rows", AT_LEAST_1, "Rows that came since the last release, at least."),
    ),
    ("file",),
)
GATE = Section(
    "gate",
    "How `nbcfast gate` decides. It is no demand on releases, and no part of the sha256 by which they name "
    "the policy: it may be changed later.",
    (
        Key(
            "accept_claims",
            FLAG,
            "Whether what the publisher claims, and nothing has checked, is enough. It is never a yes.",
            False,
        ),
    ),
)
DOMAIN = Section(
    "domain",
    "The values of columns, each as in a domain file: `age = { edges = [-inf, 30, 60, inf] }`, "
    '`sex = { values = ["f", "m"] }`, `id = { out = true }`. In place of this table, '
    '`domain = "FILE"` at the top names a domain file, or `menu = "FILE"` a menu, '
    "whose paths begin at the folder of the policy.",
    (),
)
SECTIONS: Mapping[str, Section] = MappingProxyType(
    {section.name: section for section in (RELEASE, DOMAIN, LIMITS, DP, LEDGER, GATE)}
)
TOP = (*SECTIONS, "menu")  # what may stand at the top of a file
