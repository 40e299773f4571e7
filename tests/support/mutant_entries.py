"""Seeded changes of any entry of a certificate, whatever it means.

Nothing here judges.
"""

import copy
import csv
import io
import json
import re
from fractions import Fraction

from mutant_corpus import CERTIFICATE, HOSTILE, LONG, TABLE

from nbcfast import verify_release as form

# What a node of a certificate is replaced by.
SCALARS = (
    *(None, True, False, 0, 1, 2, 3, 5, 7, -1, -5, 10**6, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**63, 10**39),
    *(10**45, -(2**53), -(2**64), "", "0", "1", "0x0", "0x1", "0x20000000000000", "0x20000000000001"),
    *(
        "0x3fffffffffffffff",
        "0x4000000000000000",
        "0X20000000000001",
        "0x020000000000001",
        "-0x20000000000001",
    ),
    *("0x1" + "0" * 60, "0x" + "f" * 400, LONG, "0x 1", "1_000", "\uff11", "\u0661", " 1", "1 ", "+1", "1e5"),
    *("1/2", "2/4", "0/1", "1/0", "0/0", "1/1", "3/2", "-1/2", "01/2", "1/2/3", "2/1", "4/1", "1000000/1"),
    *("9007199254740993/2", "0x20000000000001/2", "1/0x20000000000001", "1/0x" + "f" * 400, f"{LONG}/1"),
    *(f"1/{LONG}", "0x" + "f" * 999 + "/0x1" + "0" * 1000, "NaN", "nan", "inf", "-inf", "Infinity", "1e400"),
    *("0.1", "1.0", "-0.0", "true", "null", "suppressed", "*", "..", "a", "n", "y", "order", "label", "row"),
    *("worlds", "est", "canonical", "safetytransform", "identity", "none", "enumeration", "interval"),
    *("release", "partition", "disclosure", "disguised", "each", "tuple", "binary", "k-ary", "shuffled"),
    *("equal", "ordered", "0" * 64, "f" * 64, HOSTILE, "\ud800", "\U0001f600", "a\0b", "=1+1", '"', "[1, 2)"),
)


TYPED = (
    *(
        ["null"],
        ["suppressed"],
        ["int", "1"],
        ["int", "-9223372036854775808"],
        ["int", "9223372036854775808"],
    ),
    *(["int", "01"], ["int", "-0"], ["float", "1.0"], ["float", "1"], ["float", "nan"], ["float", "-inf"]),
    *(
        ["float", "1e+16"],
        ["float", "5e-324"],
        ["bool", "true"],
        ["bool", "True"],
        ["text", ""],
        ["text", "a"],
    ),
    *(
        ["text", "null"],
        ["text", "*"],
        ["text", HOSTILE],
        ["interval", "0/1", "1/1"],
        ["interval", None, None],
    ),
    *(
        ["interval", "1/1", "0/1"],
        ["interval", "-1/2", None],
        ["interval", None, LONG + "/1"],
        ["null", "null"],
    ),
    *(["interval", "30/1", "40/1"], [], {}, [[]], [[[]]], {"a": 1}, [None], [0], [1, 2], ["1/2", 2]),
    *([[0, 0, 0, "1/1"]], [0, 0, 0, "1/1"], [1, 1, 1, "1/2"], [0, LONG, 0, "1/1"], [LONG, 0, 0, "1/1"]),
    *([0, 0, LONG, "1/1"], ["1/1", LONG], ["0/1", "ordered"], ["1/1", "equal"], ["9/10", "ordered"]),
)

TYPES = ("null", "suppressed", "int", "float", "bool", "text", "interval")


class Mutant:
    """A folder that is being changed.

    `fields` is the certificate, `files` what lies in the folder, `steps` what was done to it;
    `links` are names in the folder that point somewhere else.
    """

    def __init__(self, kind, files, random, others):
        self.kind, self.random, self.others = kind, random, others
        self.files = dict(files)
        self.fields = json.loads(files[CERTIFICATE])
        self.steps = []
        self.links = {}

    def __str__(self):
        return f"{self.kind}: {'; '.join(self.steps)}"

    @property
    def rows(self):
        """The lines of table.csv below its header, as fields; what has no such lines has none."""
        try:
            text = self.files[TABLE].decode()
            return list(csv.reader(io.StringIO(text, newline="")))[1:]
        except (KeyError, UnicodeDecodeError, csv.Error):
            return []

    def tabulate(self, rows, header=None):
        """Write table.csv with these rows."""
        if header is None:
            header = next(csv.reader(io.StringIO(self.files[TABLE].decode(), newline="")))
        lines = [",".join(map(form.field, row)) + "\n" for row in [header, *rows]]
        self.files[TABLE] = "".join(lines).encode("utf-8", "surrogatepass")

    def cells(self):
        """For each column of the table the texts that its cells may have."""
        columns = [[text for text, _ in column["cells"]] for column in self.fields["columns"]]
        if "sensitive" in self.fields:
            columns.append([text for text, _ in self.fields["sensitive"]["values"]])
        return columns

    def sort(self):
        """Put the rows in the order of the certificate, and add up equal ones where they have weights."""
        places = [{text: place for place, text in enumerate(texts)} for texts in self.cells()]

        def rank(row):
            return [place.get(text, len(place)) for place, text in zip(places, row, strict=False)]

        rows = sorted(self.rows, key=rank)
        if self.fields.get("weights") is not None:
            total = {}
            for row in rows:
                total[tuple(row[:-1])] = total.get(tuple(row[:-1]), 0) + int(row[-1])
            rows = [[*row, str(count)] for row, count in total.items()]
        self.tabulate(rows)


def _spots(node, found):
    """Every place in a document: (what holds it, its name or number)."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        found.append((node, key))
        if isinstance(node[key], (dict, list)):
            _spots(node[key], found)
    return found


def _spot(mutant):
    """A place in the certificate; those at the top are few, and come as often as all below them."""
    if mutant.random.random() < 0.3:
        return mutant.fields, mutant.random.choice(sorted(mutant.fields))
    return mutant.random.choice(_spots(mutant.fields, []))


def _nudged(entry, random):
    """A value like that one."""
    if isinstance(entry, bool):
        return not entry
    if entry is None:
        return random.choice([0, 1, "", "a", []])
    if isinstance(entry, int):
        return random.choice([entry + 1, entry - 1, 2 * entry, -entry, entry + 10, hex(entry), str(entry), 0])
    if isinstance(entry, str):
        if "/" in entry and entry.count("/") == 1 and entry.replace("/", "").isdigit():
            up, down = map(int, entry.split("/"))
            up, down = random.choice(
                [(up + 1, down), (max(up - 1, 0), down), (up, down + 1), (2 * up, 2 * down)]
            )
            made = Fraction(up, down) if random.random() < 0.8 and down else None
            return f"{up}/{down}" if made is None else f"{made.numerator}/{made.denominator}"
        if entry.isascii() and entry.isdigit() and len(entry) < 19:
            return str(int(entry) + random.choice([-1, 1]))
        place = random.randint(0, len(entry))
        return random.choice(
            [
                entry + random.choice([" ", "\n", "0", "a", HOSTILE, "\x00", "\u202e"]),
                entry[:place] + random.choice("0a/ \n\u200b") + entry[place:],
                entry[:place] + entry[place + 1 :],
                entry.upper(),
                entry[::-1],
            ]
        )
    if isinstance(entry, list):
        return random.choice([entry + entry[:1], entry[1:], entry[::-1], [entry], entry * 2])
    return {**entry, random.choice(["x", HOSTILE]): 0}


def replace(mutant):
    """Another thing in the place of some node."""
    holder, key = _spot(mutant)
    holder[key] = copy.deepcopy(mutant.random.choice(mutant.random.choice([SCALARS, TYPED])))
    return f"replace {key!r}"


def nudge(mutant):
    """A node that is a little different."""
    holder, key = _spot(mutant)
    holder[key] = _nudged(holder[key], mutant.random)
    return f"nudge {key!r}"


def transplant(mutant):
    """A node of this or another certificate in the place of some node."""
    holder, key = _spot(mutant)
    name = mutant.random.choice([mutant.kind, mutant.random.choice(sorted(mutant.others))])
    other = json.loads(mutant.others[name][CERTIFICATE])
    if mutant.random.random() < 0.5 and isinstance(holder, dict) and key in other:
        holder[key] = other[key]
    else:
        of, own = mutant.random.choice(_spots(other, []))
        holder[key] = copy.deepcopy(of[own])
    return f"transplant {key!r} from {name}"


def delete(mutant):
    """One node less."""
    holder, key = _spot(mutant)
    del holder[key]
    return f"delete {key!r}"


def duplicate(mutant):
    """One element of a list twice, or one field under another name as well."""
    holder, key = _spot(mutant)
    entry = copy.deepcopy(holder[key])
    if isinstance(holder, list):
        holder.insert(mutant.random.choice([key, key + 1, 0, len(holder)]), entry)
    else:
        holder[mutant.random.choice(["x", HOSTILE, "canonical", "points", "r", "weights", "order"])] = entry
    return f"duplicate {key!r}"


def swap(mutant):
    """Two nodes of one list or object in each other's place."""
    holder, key = _spot(mutant)
    other = mutant.random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    holder[key], holder[other] = holder[other], holder[key]
    return f"swap {key!r} and {other!r}"


def lengthen(mutant):
    """A rational, or an interval in the place of a value, that is longer than what is looked at."""
    long = mutant.random.choice([f"{LONG}/1", f"1/{LONG}", f"{LONG}/{LONG[:-1]}1"])
    interval = ["interval", *mutant.random.choice([(None, long), (f"-{long}", None), (f"-{long}", long)])]
    spots = [
        (holder, key, interval if isinstance(holder[key], list) else long)
        for holder, key in _spots(mutant.fields, [])
        if _is_value(holder[key]) or _is_ratio(holder[key])
    ]
    holder, key, entry = mutant.random.choice(spots)
    holder[key] = entry
    return f"lengthen {key!r}"


def _is_value(entry):
    return isinstance(entry, list) and entry[:1] in ([kind] for kind in TYPES)


def _is_ratio(entry):
    return isinstance(entry, str) and re.fullmatch("-?[0-9]+/[0-9]+", entry) is not None


def nest(mutant):
    """A node in many lists."""
    holder, key = _spot(mutant)
    for _ in range(mutant.random.choice([1, 2, 50, 200])):
        holder[key] = [holder[key]]
    return f"nest {key!r}"


STRUCTURAL = (replace, replace, nudge, nudge, nudge, transplant, delete, duplicate, swap, lengthen)


def number_of(entry):
    if type(entry) not in (int, str):
        raise TypeError(entry)
    return int(entry, 16) if isinstance(entry, str) else entry


def text_of(number):
    """An integer as a certificate has it."""
    return number if abs(number) <= form.WHOLE_IN_JSON else hex(number)


def ratio_of(number):
    number = Fraction(number)
    return f"{text_of(number.numerator)}/{text_of(number.denominator)}"


def some_ratio(random):
    up, down = random.choice(
        [(1, 2), (1, 1), (0, 1), (2, 1), (4, 1), (3, 2), (99, 100), (1, 10**6), (10**9, 1)]
    )
    return ratio_of(Fraction(up + random.choice([0, 0, 1]), down))
