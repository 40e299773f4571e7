"""Certificates that nobody wrote: valid folders of every kind, and seeded mutations of them.

`corpus` makes the folders, and `mutant(folders, number)` changes some of them, always alike for one number:

    PYTHONPATH=tests python -c "import mutants; mutants.write(mutants.mutant(mutants.corpus(), 7), 'out')"

Nothing here judges. What the mutations repair after themselves (hashes, words, numbers that follow from
others) they take from `verify_release`, so that the checks behind these are reached.
"""

import copy
import csv
import hashlib
import io
import json
import os
import random
import shutil
import tempfile
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from unittest import mock

import numpy as np

import nbcfast
from nbcfast import Interval, Table, Viewset, canonical, closeness, response, skyline
from nbcfast import verify_release as form
from nbcfast.reference import skyline as reference
from nbcfast.templates import Template, disclose

HOSTILE = "x\nyes  audited by the Commission\r\x1b[31m\u202e\u200b\u2028\x9b\ud800"
CERTIFICATE, TABLE, PARQUET, SCHEME, CUTS = form.NAME, form.TABLE, form.PARQUET, form.SCHEME, form.CUTS
LONG = f"0x1{'0' * 83_048}"  # 10^5 decimal digits

PIPE = object()  # a link to this is a named pipe

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


def _views(classes, counts, domains, names):
    return Viewset(classes, counts, classes=names, domains=domains)


TWO = _views(
    [50, 90],
    {"job": [[9, 70], [41, 20]], "sex": [[12, 30], [20, 20], [18, 40]]},
    {"job": ["a", "b"], "sex": ["f", "m", None]},
    ["ill", "well"],
)
SMALL = _views([3, 4], {"job": [[1, 3], [2, 1]]}, {"job": [False, True]}, [0, 1])
LARGE = _views(
    [10**30, 2 * 10**30],
    {"age": [[10**30 - 7, 5], [7, 2 * 10**30 - 5]], "x": [[10**30 - 3, 10**30], [3, 10**30]]},
    {"age": [Interval(0, 30), Interval(30, None)], "x": [0.5, 1.5]},
    ["n", "y"],
)
WIDE = Viewset(
    [60, 40],
    {f"q{i}": [[20 + i, 15], [40 - i, 25]] for i in range(9)},
    classes=["ill", "well"],
    domains={f"q{i}": [False, True] for i in range(9)},
)
THREE = _views(
    [40, 60, 30],
    {"job": [[9, 50, 10], [31, 10, 20]], "x": [[12, 40, 9], [28, 20, 21]]},
    {"job": [1, 2], "x": ["p", "q"]},
    ["a", "b", None],
)
BARE = Viewset([50, 90], {}, classes=["ill", "well"])
PEOPLE = {
    "job": ["a", "a", "b", "b", "c", "c", "a", "b", "c", "a"],
    "age": [30, 31, 32, 50, 51, 52, 53, 33, 34, 30],
    "ill": ["y", "n", "n", "y", "n", "z", "z", "n", "n", "z"],
}
ODD = {
    "job, or none": ["a b", "a,b", 'a"b', None, "a b", "", "a,b", "a b"],
    HOSTILE.replace("\ud800", ""): [1.5, 1.5, -0.5, 1.5, -0.5, -0.5, None, 1.5],
    "ill": [1, 2, 3, 1, 2, 3, 1, 2],
}
BINARY = {"ill": ["y", "n", "n", "y", "n", "y"], "job": ["a", "a", "b", "b", "a", "c"], "sex": list("fmfmfm")}


def _answers(scheme, people=BINARY, cuts=None):
    """Answers that a seed disguised, without the word of it: so they are the same each time."""

    def save(folder):
        table = Table(people)
        found = None if cuts is None else response.cuts(table, cuts)
        if found is not None:
            table = response.binarise(table, found)
        response.disguise(table, scheme, np.random.default_rng(5)).save(folder, cuts=found)
        path = Path(folder, CERTIFICATE)
        fields = json.loads(path.read_text())
        fields["seeded"] = False
        path.write_text(signed(fields))

    return save


def _anonymized(people, *arguments, order="canonical", weights=None, parquet=False, **options):
    def save(folder):
        rng = np.random.default_rng(3) if order == "shuffled" else None
        made = skyline.anonymize(Table(people), *arguments, **options)
        made.save(folder, order=order, rng=rng, weights=weights, parquet=parquet)

    return save


def _disclosed(people, *arguments, order="canonical", weights=None, parquet=False, **options):
    def save(folder):
        rng = np.random.default_rng(3) if order == "shuffled" else None
        made = disclose(Table(people), *arguments, **options)
        made.save(folder, order=order, rng=rng, weights=weights, parquet=parquet)

    return save


LIST = {"job": ["a", "b", "b"], "sex": ["f", "m", None]}
KARY = {"ill": ["n", "y"], "job": ["a", "b", "c"]}
_ILL = {"domains": {"ill": ["n", "y"], "sex": ["f", "m"]}}
MAKERS = {
    "release": lambda folder: nbcfast.safety_transform(TWO, 4, class_name="health").save(folder),
    "release worlds": lambda folder: nbcfast.safety_transform(TWO, 8, attacker="worlds").save(folder),
    "release large": lambda folder: nbcfast.safety_transform(LARGE, 10, preserve="label").save(folder),
    "release three": lambda folder: nbcfast.safety_transform(THREE, 9).save(folder),
    "release wide": lambda folder: nbcfast.safety_transform(WIDE, 9, preserve="label").save(folder),
    "release few": lambda folder: nbcfast.safety_transform(TWO, 4, rows=20, allow_differences=True).save(
        folder
    ),
    "release bare": lambda folder: nbcfast.safety_transform(BARE, 3).save(folder),
    "identity": lambda folder: nbcfast.safety_transform(SMALL, 1000, gauge=False).save(folder),
    "est": lambda folder: closeness.est(TWO, {"ill": "1/2", "well": "1/2"}, 3).save(folder),
    "est three": lambda folder: closeness.est(THREE, {"a": "1/5", "b": "1/5", None: "3/5"}, 12).save(folder),
    "canonical": lambda folder: canonical.release(TWO, 4, class_name="health").save(folder),
    "canonical wide": lambda folder: canonical.release(WIDE, 9).save(folder),
    "canonical small": lambda folder: canonical.release(SMALL, 3, preserve="order").save(folder),
    "canonical three": lambda folder: canonical.release(THREE, 4).save(folder),
    "canonical bits": lambda folder: canonical.release(TWO, 4, bits=1).save(folder),
    "canonical listed": lambda folder: canonical.release(TWO, 4, tuples=LIST).save(folder),
    "partition points": _anonymized(
        PEOPLE, ["job", "age"], "ill", [(0, 1, 1, "99/100"), (0, 2, 0, 1)], parquet=True
    ),
    "partition all": _anonymized(
        PEOPLE, ["job", "age"], "ill", [(0, 0, 0, 1)], k=2, diversity=(4, 1), closeness="0.9"
    ),
    "partition crowd": _anonymized(
        {name: values * 150 for name, values in PEOPLE.items()},
        ["job", "age"],
        "ill",
        [(0, 5, 300, 1), (0, 100, 80, 1 - Fraction(1, 10**36))],
        weights="people",
    ),
    "partition ordered": _anonymized(
        ODD, list(ODD)[:2], "ill", closeness=("0.9", "ordered"), order="shuffled"
    ),
    "partition weights": _anonymized(PEOPLE, ["job", "age"], "ill", k=3, weights="people", parquet=True),
    "disclosure": _disclosed(PEOPLE, [Template(["job"], ("ill", "y"), "1/3")], "age", parquet=True),
    "disclosure intervals": _disclosed(
        PEOPLE,
        [Template(["age", "job"], ("ill", "y"), "3/5"), Template(["job"], ("ill", "n"), "4/5")],
        utility="distortion",
        continuous=["age"],
        weights="people",
    ),
    "disclosure odd": _disclosed(
        ODD,
        [Template(list(ODD)[:2], ("ill", 1), "3/4")],
        utility="distortion",
        order="shuffled",
        parquet=True,
    ),
    "disguised": _answers(response.Scheme.per_attribute("0.8", ["ill", "sex"], **_ILL)),
    "disguised cuts": _answers(
        response.Scheme.per_attribute("0.8", ["age", "ill"], domains={"age": [0, 1], "ill": [0, 1]}),
        {name: PEOPLE[name] for name in ("age", "ill", "job")},
        ["age", "ill"],
    ),
    "disguised group": _answers(response.Scheme("1/3", [["ill", "sex"]], **_ILL)),
    "disguised k-ary": _answers(response.KaryScheme("2/3", KARY, groups=[["ill", "job"]], lie="tuple")),
    "disguised each": _answers(response.KaryScheme("3/4", KARY)),
}


def corpus():
    """The files of each valid folder, by name: {kind: {file: bytes}}."""
    found = {}
    with tempfile.TemporaryDirectory() as place:
        for number, (name, save) in enumerate(MAKERS.items()):
            folder = Path(place, str(number))
            save(folder)
            found[name] = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    return found


def signed(fields):
    """The text of a certificate with the sha256 that belongs to it."""
    fields = {**fields, "sha256": form.digest(fields)}
    return form.canonical_json(fields) + "\n"


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


def nest(mutant):
    """A node in many lists."""
    holder, key = _spot(mutant)
    for _ in range(mutant.random.choice([1, 2, 50, 200])):
        holder[key] = [holder[key]]
    return f"nest {key!r}"


STRUCTURAL = (replace, replace, nudge, nudge, nudge, transplant, delete, duplicate, swap)


def _number(entry):
    if type(entry) not in (int, str):
        raise TypeError(entry)
    return int(entry, 16) if isinstance(entry, str) else entry


def _text_of(number):
    """An integer as a certificate has it."""
    return number if abs(number) <= form.WHOLE_IN_JSON else hex(number)


def _ratio(number):
    number = Fraction(number)
    return f"{_text_of(number.numerator)}/{_text_of(number.denominator)}"


def _some_ratio(random):
    up, down = random.choice(
        [(1, 2), (1, 1), (0, 1), (2, 1), (4, 1), (3, 2), (99, 100), (1, 10**6), (10**9, 1)]
    )
    return _ratio(Fraction(up + random.choice([0, 0, 1]), down))


def more_people(mutant):
    """The same people more, or less, in the class and in one value of each attribute."""
    fields, random = mutant.fields, mutant.random
    c = random.randrange(len(fields["classes"]))
    step = random.choice([1, -1, 5, 10**6, 10**20, 2**200])
    holders = [fields["class_counts"], *(random.choice(one["counts"]) for one in fields["attributes"])]
    for row in holders:
        row[c] = _text_of(max(_number(row[c]) + step, 0))
    return f"{step} people of class {c}"


def move_people(mutant):
    """People from one value of an attribute to another."""
    fields, random = mutant.fields, mutant.random
    rows = random.choice(fields["attributes"])["counts"]
    c = random.randrange(len(fields["classes"]))
    one, other = random.choice(rows), random.choice(rows)
    step = min(_number(one[c]) - random.choice([0, 1]), random.choice([1, 2, 10**25]))
    one[c] = _text_of(_number(one[c]) - step)
    other[c] = _text_of(_number(other[c]) + step)
    return f"move {step} people of class {c}"


def one_count(mutant):
    """One count that is another: those of the attribute do not add up."""
    row = mutant.random.choice(_of_classes(mutant.fields)[1:])
    c = mutant.random.randrange(len(row))
    row[c] = mutant.random.choice([0, 1, _text_of(_number(row[c]) + 1)])
    return f"one count of class {c}"


def scale(mutant):
    """All counts so many times as large."""
    factor = mutant.random.choice([2, 3, 10**10, 2**70, 2**4_000])
    fields = mutant.fields
    for row in [fields["class_counts"], *(row for one in fields["attributes"] for row in one["counts"])]:
        row[:] = [_text_of(_number(number) * factor) for number in row]
    return f"scale by about 2^{factor.bit_length() - 1}"


def _of_classes(fields):
    """The lists of a release that have an entry for each class."""
    lists = [fields["classes"], fields["class_counts"]]
    lists += [row for one in fields["attributes"] for row in one["counts"]]
    return lists + ([fields["prior"]] if "prior" in fields else [])


def swap_classes(mutant):
    """Two classes in each other's place, in all that is counted or in their names alone."""
    fields = mutant.fields
    lists = _of_classes(fields)
    place, other = (mutant.random.randrange(len(fields["classes"])) for _ in range(2))
    for row in lists if mutant.random.random() < 0.7 else lists[:1]:
        row[place], row[other] = row[other], row[place]
    return f"swap classes {place} and {other}"


def drop_class(mutant):
    """One class less."""
    fields = mutant.fields
    place = mutant.random.randrange(len(fields["classes"]))
    for row in _of_classes(fields):
        del row[place]
    made = fields.get("canonical")
    if made:
        for row in [made["constants"], *(row for one in made["points"] for row in one)]:
            del row[min(place, len(row) - 1)]
        if len(fields["classes"]) == 1:
            made["points"] = []
    return f"drop class {place}"


def swap_values(mutant):
    """Two values of an attribute in each other's place: with their counts, or without."""
    fields, random = mutant.fields, mutant.random
    number = random.randrange(len(fields["attributes"]))
    entry = fields["attributes"][number]
    lists = [entry["values"], entry["counts"]]
    if "canonical" in fields and fields["canonical"]["points"]:
        lists.append(fields["canonical"]["points"][number])
    place, other = (random.randrange(len(entry["values"])) for _ in range(2))
    for row in random.choice([lists, lists, lists[:1], lists[1:], lists[:2]]):
        row[place], row[other] = row[other], row[place]
    return f"swap values {place} and {other} of attribute {number}"


def drop_attribute(mutant):
    """One attribute less, or none left."""
    fields, random = mutant.fields, mutant.random
    numbers = list(range(len(fields["attributes"])))
    for number in reversed(random.choice([numbers, [random.choice(numbers)]])):
        del fields["attributes"][number]
        if fields.get("canonical") and fields["canonical"]["points"]:
            del fields["canonical"]["points"][number]
    return "drop attributes"


def one_more_attribute(mutant):
    """An attribute twice, under two names."""
    fields, random = mutant.fields, mutant.random
    number = random.randrange(len(fields["attributes"]))
    again = copy.deepcopy(fields["attributes"][number])
    again["name"] = random.choice(["new", HOSTILE, again["name"]])
    fields["attributes"].append(again)
    if fields.get("canonical"):
        fields["canonical"]["points"].append(copy.deepcopy(fields["canonical"]["points"][number]))
    return f"attribute {number} twice"


def other_limit(mutant):
    """Another amplification, r or prior."""
    fields, random = mutant.fields, mutant.random
    if "prior" in fields and random.random() < 0.8:
        weights = [Fraction(random.choice([1, 1, 2, 5, 10**20])) for _ in fields["prior"]]
        prior = [weight / sum(weights) for weight in weights]
        if random.random() < 0.5:
            prior = [Fraction(text) for text in fields["prior"]]
        r = Fraction(random.choice([fields["r"], "4/3", "2/1", "5/2", "30/1"]))
        fields["prior"], fields["r"] = [_ratio(one) for one in prior], _ratio(r)
        fields["amplification"] = _ratio(r * max(prior) / min(prior))
    else:
        fields["amplification"] = _some_ratio(random)
    return "another limit"


def exact_limit(mutant):
    """Lambda itself as the limit, or a little less."""
    fields, random = mutant.fields, mutant.random
    least = _lambda(fields) * (2 if fields["attacker"] == "worlds" else 1)
    least -= random.choice([0, 0, Fraction(1, 10**9), Fraction(1, 10**60)])
    fields["amplification"] = _ratio(least)
    return "Lambda as the limit"


def _lambda(fields):
    n = len(fields["attributes"])
    most = Fraction(1)
    of_class = [_number(number) for number in fields["class_counts"]]
    for c, p in enumerate(of_class):
        for d, q in enumerate(of_class):
            found = Fraction(q, p) ** (n - 1)
            for one in fields["attributes"]:
                found *= max(Fraction(_number(row[c]), _number(row[d])) for row in one["counts"])
            most = max(most, found)
    return most


def other_choice(mutant):
    """Another of the few texts that a field may have, and what goes with it."""
    fields, random = mutant.fields, mutant.random
    choices = form.KINDS[fields["kind"]].form.choices
    name = random.choice([*choices, *form.KINDS[fields["kind"]].form.flags])
    fields[name] = random.choice(choices[name]) if name in choices else not fields[name]
    if name == "equivalence":
        fields["differing_tuples"] = None if fields[name] == "none" else random.choice([0, 0, 1, 5])
        fields["identity"] = fields[name] == "identity"
    if name == "identity":
        fields["equivalence"] = "identity" if fields[name] else "interval"
        fields["differing_tuples"], fields["gauge"] = 0, fields["gauge"] and not fields[name]
    if name == "method" and fields["method"] == "est":
        fields.setdefault("prior", [_ratio(Fraction(1, len(fields["classes"]))) for _ in fields["classes"]])
        fields.setdefault("r", fields["amplification"])
    return f"another {name}"


def other_differing(mutant):
    """Other numbers of tuples and rows that are decided otherwise."""
    fields, random = mutant.fields, mutant.random
    fields["differing_rows"] = random.choice([None, 0, 1, _text_of(10**30)])
    if fields["differing_tuples"] is not None:
        fields["differing_tuples"] = random.choice([0, 1, 2, fields["tuples"]])
    return "other numbers of tuples"


def other_points(mutant):
    """Other points of a canonical release: moved, multiplied, or changed at one place."""
    made, random = mutant.fields["canonical"], mutant.random
    rows = [row for one in made["points"] for row in one]
    how = random.choice(
        ["shift", "scale", "nudge", "constant", "bits", "undeclared", "reproducible", "listed"]
    )
    if how == "shift":
        one, step = random.choice(made["points"]), random.choice([1, 2, 100])
        for row in one:
            row[0] = _text_of(_number(row[0]) + step)
        made["constants"][0] = _text_of(_number(made["constants"][0]) - step)
    elif how == "scale":
        factor = random.choice([2, 3, 2**36, 2**80])
        for row in [made["constants"], *rows]:
            row[:] = [_text_of(_number(number) * factor) for number in row]
    elif how == "nudge":
        row = random.choice(rows)
        row[0] = _text_of(_number(row[0]) + random.choice([1, -1, 10**6]))
    elif how == "constant":
        made["constants"][0] = _text_of(_number(made["constants"][0]) + random.choice([1, -1, 10**40]))
    elif how == "bits":
        made["bits"] = random.choice([None, 1, 2, 3, 20, 36, 38, 62, 63])
    elif how == "undeclared":
        names = [*(one["name"] for one in mutant.fields["attributes"]), None]
        made["undeclared"] = [name for name in names if random.random() < 0.5]
    elif how == "reproducible":
        made["reproducible"] = not made["reproducible"]
    else:
        listed = {"tuples": random.choice([1, 2, mutant.fields["tuples"]]), "sha256": "0" * 64}
        listed["differing"] = random.choice([0, 0, 1])
        made["listed"] = random.choice([None, listed])
        mutant.fields.update(
            equivalence="none" if made["listed"] else "interval",
            differing_tuples=None if made["listed"] else random.choice([0, 1]),
        )
    return f"points: {how}"


def become_canonical(mutant):
    """A release that calls itself canonical, with points made up."""
    fields, random = mutant.fields, mutant.random
    width = len(fields["classes"]) - 1
    fields["canonical"] = {
        "bits": random.choice([None, None, 3, 62]),
        "constants": [random.choice([0, 0, 1, -1])] * width,
        "listed": None,
        "points": [
            [[random.choice([0, 1, 2])] * width for _ in one["values"]] for one in fields["attributes"]
        ],
        "reproducible": True,
        "undeclared": [],
    }
    if not width:
        fields["canonical"]["points"] = []
    fields.update(method="canonical", gauge=True, identity=False)
    if fields["equivalence"] == "identity":
        fields["equivalence"] = "interval"
    for name in ("prior", "r"):
        fields.pop(name, None)
    return "become canonical"


RELEASE = (
    *(more_people, move_people, one_count, scale, swap_classes, drop_class, swap_values, drop_attribute),
    *(one_more_attribute, other_limit, exact_limit, other_choice, other_differing, become_canonical),
)


def other_demand(mutant):
    """Another k, diversity, closeness or point of a partition."""
    fields, random = mutant.fields, mutant.random
    amounts = [0, 1, 1, 2, 3, 4, 5, 70, 150, 299, 300, 600, 2**61, _text_of(2**64), LONG]
    which = random.choice(["k", "diversity", "closeness", "points", "points"])
    if which == "k":
        fields["k"] = random.choice([None, *amounts])
    elif which == "diversity":
        fields["diversity"] = random.choice([None, [_some_ratio(random), random.choice(amounts)]])
    elif which == "closeness":
        fields["closeness"] = random.choice(
            [None, [_some_ratio(random), random.choice(["equal", "ordered"])]]
        )
    else:
        point = [
            *(random.choice(amounts[: random.choice([3, 12, 15])]) for _ in range(3)),
            _some_ratio(random),
        ]
        fields["points"] = [*random.choice([[], fields["points"], [point]]), point]
    return f"another {which}"


def exact_demand(mutant):
    """What the groups of a partition reach, as the demand, or a little less."""
    fields, random = mutant.fields, mutant.random
    groups = _groups(mutant)
    less = random.choice([0, 0, Fraction(1, 10**12)])
    which = random.choice(["k", "closeness", "ordered", "points", "diversity"])
    if which == "k":
        fields["k"] = min(sum(group.values()) for group in groups) + random.choice([0, 1])
    elif which == "diversity":
        l = random.choice([1, 2, 3])
        falling = [sorted(group.values(), reverse=True) for group in groups]
        if any(len(counts) < l for counts in falling):
            return None
        c = max(Fraction(counts[0], sum(counts[l - 1 :])) for counts in falling)
        fields["diversity"] = [_ratio(c + random.choice([0, Fraction(1, 10**12)])), l]
    elif which == "points":
        l, k, m = (random.choice([0, 0, 1, 2]), *(random.choice([0, 0, 1, 2, 100, 290]) for _ in range(2)))
        reached = reference.breach(groups, l, k, m)
        fields["points"] = [[l, k, m, _ratio(min(reached + random.choice([0, Fraction(1, 10**12)]), 1))]]
    else:
        values = [text for text, _ in fields["sensitive"]["values"]]
        present = [text for text in values if any(text in group for group in groups)]
        t = reference.closeness(groups, present, ordered=which == "ordered")
        fields["closeness"] = [_ratio(max(t - less, 0)), "equal" if which == "closeness" else "ordered"]
    return f"the {which} that is reached"


def _groups(mutant):
    """The groups of a partition: value -> people, of the rows that share all other columns."""
    weighted = mutant.fields["weights"] is not None
    groups = {}
    for row in mutant.rows:
        *known, value = row[:-1] if weighted else row
        group = groups.setdefault(tuple(known), {})
        group[value] = group.get(value, 0) + (int(row[-1]) if weighted else 1)
    return list(groups.values())


def other_cell(mutant):
    """Another text or value of a cell, in the certificate and in the table."""
    fields, random = mutant.fields, mutant.random
    entries = [column["cells"] for column in fields["columns"]]
    if "sensitive" in fields:
        entries.append(fields["sensitive"]["values"])
    place = random.randrange(len(entries))
    entry = random.choice(entries[place])
    before, typed = entry[0], random.choice(TYPED[:20])
    single = fields["kind"] == "disclosure" or fields["kind"] == "disguised"
    try:
        value = form.value(typed, "")
        text = form.spelled(value) if single else form.element(value)
    except (form.Refused, UnicodeError):
        text = "x"
    text = random.choice([text, text, HOSTILE, "x", ""])
    entry[:] = [text, typed if single else [typed]]
    mutant.tabulate(
        [
            [text if i == place and cell == before else cell for i, cell in enumerate(row)]
            for row in mutant.rows
        ]
    )
    return f"cell {before!r} of column {place}"


def rename_column(mutant):
    """Another name of a column, in the certificate and in the table."""
    fields, random = mutant.fields, mutant.random
    number = random.randrange(len(fields["columns"]))
    before = fields["columns"][number]["name"]
    name = random.choice([HOSTILE.replace("\ud800", ""), "", "a,b", '"', "new", fields["columns"][0]["name"]])

    def renamed(node):
        if isinstance(node, list):
            return [renamed(one) for one in node]
        if isinstance(node, dict):
            return {name if key == before else key: renamed(one) for key, one in node.items()}
        return name if node == before else node

    mutant.fields = renamed(fields)
    header = [column["name"] for column in mutant.fields["columns"]]
    header += [mutant.fields[one]["name"] for one in ["sensitive"] if one in fields]
    header += [fields[one] for one in ["weights"] if fields.get(one) is not None]
    mutant.tabulate(mutant.rows, header)
    return f"rename column {before!r}"


def swap_cells(mutant):
    """Two cells of a column in each other's place, which is another order of rows."""
    fields, random = mutant.fields, mutant.random
    entries = [column["cells"] for column in fields["columns"]]
    if "sensitive" in fields:
        entries.append(fields["sensitive"]["values"])
    cells = random.choice(entries)
    place, other = (random.randrange(len(cells)) for _ in range(2))
    cells[place], cells[other] = cells[other], cells[place]
    return f"swap cells {place} and {other}"


def other_template(mutant):
    """Another limit, value or column of a template of a disclosure, one more, or one less."""
    fields, random = mutant.fields, mutant.random
    template = random.choice(fields["templates"])
    columns = {column["name"]: column["cells"] for column in fields["columns"]}
    how = random.choice(["limit", "exact", "value", "quasi", "attribute", "drop", "again"])
    if how == "limit":
        template["limit"] = random.choice([_some_ratio(random), "1/1", "0/1"])
    elif how == "exact":
        less = random.choice([0, 0, Fraction(1, 10**15)])
        template["limit"] = _ratio(max(Fraction(template["confidence"]) - less, 0))
    elif how == "value":
        template["value"] = random.choice(columns[template["attribute"]])[1]
    elif how == "quasi":
        template["quasi"] = random.sample(sorted(columns), random.randint(1, len(columns)))
    elif how == "attribute":
        template["attribute"] = random.choice(sorted(columns))
        template["value"] = random.choice(columns[template["attribute"]])[1]
    elif how == "drop":
        fields["templates"].remove(template)
    else:
        fields["templates"].append(copy.deepcopy(template))
    return f"template: {how}"


def other_scheme(mutant):
    """Another theta, lie, grouping or domain of the scheme of disguised answers."""
    scheme, random = mutant.fields["scheme"], mutant.random
    how = random.choice(["theta", "theta", "lie", "join", "split", "drop", "domain", "kind", "cut"])
    group = random.choice(scheme["groups"])
    if how == "theta":
        group["theta"] = random.choice([_some_ratio(random), "1/1", "0/1", "1/3", "2/3", "1/4", "4/5", "1/2"])
    elif how == "lie":
        scheme["lie"] = random.choice(["each", "tuple"])
    elif how == "join":
        columns = [name for one in scheme["groups"] for name in one["columns"]]
        scheme["groups"] = [{"columns": columns, "theta": group["theta"]}]
    elif how == "split":
        scheme["groups"] = [
            {"columns": [name], "theta": one["theta"]} for one in scheme["groups"] for name in one["columns"]
        ]
    elif how == "drop":
        scheme["groups"].remove(group)
        for name in group["columns"]:
            del scheme["domains"][name]
    elif how == "domain":
        name = random.choice(sorted(scheme["domains"]))
        value = random.choice(TYPED[:16])
        scheme["domains"][name].append(value)
        for column in mutant.fields["columns"]:
            if column["name"] == name and random.random() < 0.8:
                column["cells"].append([value[-1] if len(value) > 1 else "", value])
    elif how == "cut":
        cut = random.choice(list(mutant.fields["cuts"].values()))
        cut["point"] = random.choice(["0", "0.5", "1", "1.5", "-1", "40", "1/3", "0.10", "inf", 1])
        cut["values"] = random.choice([cut["values"], ["n", "y"], ["n", "n"], [True, False], []])
    else:
        scheme["kind"] = "k-ary" if scheme["kind"] == "binary" else "binary"
        scheme.setdefault("lie", "each")
        if scheme["kind"] == "binary":
            del scheme["lie"]
    return f"scheme: {how}"


def rewrite_row(mutant):
    """A row more, less, or with another cell that its column has."""
    random, rows = mutant.random, mutant.rows
    if not rows:
        return None
    place, how = random.randrange(len(rows)), random.choice(["again", "less", "cell", "cell", "weight"])
    if how == "again":
        rows.insert(place, rows[place])
    elif how == "less":
        del rows[place]
    elif how == "weight" and mutant.fields.get("weights") is not None:
        rows[place][-1] = str(random.choice([1, 2, 3, 10**18, 2**61 - 1, 2**61, 0]))
    else:
        columns = mutant.cells()
        column = random.randrange(len(columns))
        rows[place][column] = random.choice(columns[column])
    mutant.tabulate(rows)
    mutant.sort()
    return f"row {place}: {how}"


def deface_table(mutant):
    """The table in another spelling or order, or with cells that its columns do not have."""
    random, rows, data = mutant.random, mutant.rows, mutant.files[TABLE]
    if not rows:
        return None
    how = random.choice(
        [
            "order",
            "cell",
            "crlf",
            "cr",
            "quotes",
            "ending",
            "blank",
            "bom",
            "utf-16",
            "latin-1",
            "nul",
            "column",
            "field",
            "long",
            "weight",
            "empty",
        ]
    )
    place = random.randrange(len(rows))
    if how == "order":
        random.shuffle(rows)
        mutant.tabulate(rows)
    elif how in ("cell", "weight"):
        column = -1 if how == "weight" else random.randrange(len(rows[place]))
        text = random.choice([*(one for one in SCALARS if isinstance(one, str) and len(one) < 99), "0", "01"])
        rows[place][column] = text
        mutant.tabulate(rows)
    elif how in ("column", "field"):
        for row in rows if how == "column" else rows[:1]:
            row.append("x")
        mutant.tabulate(rows)
    elif how == "long":
        rows[place][0] = "x" * 200_000
        mutant.tabulate(rows)
    else:
        mutant.files[TABLE] = {
            "crlf": lambda: data.replace(b"\n", b"\r\n"),
            "cr": lambda: data.replace(b"\n", b"\r"),
            "quotes": lambda: data.replace(b",", b'","').replace(b"\n", b'"\n"'),
            "ending": lambda: data.rstrip(b"\n") + random.choice([b"", b"\n\n", b"\r\n", b"\r"]),
            "blank": lambda: data.replace(b"\n", b"\n\n", random.choice([1, 2])),
            "bom": lambda: b"\xef\xbb\xbf" + data,
            "utf-16": lambda: data.decode("utf-8", "replace").encode("utf-16"),
            "latin-1": lambda: data + b"\xe9\xff",
            "nul": lambda: data.replace(b"\n", b"\x00\n", 2),
            "empty": lambda: random.choice([b"", b"\n", data.split(b"\n")[0] + b"\n"]),
        }[how]()
    return f"table: {how}"


TABLES = (rewrite_row, rewrite_row, deface_table, other_cell, rename_column, swap_cells, other_choice)
SEMANTIC = {
    "release": RELEASE,
    "canonical": (*RELEASE, other_points, other_points, other_points, other_points),
    "partition": (*TABLES, other_demand, other_demand, exact_demand, exact_demand),
    "disclosure": (*TABLES, other_template, other_template, other_template),
    "disguised": (*TABLES, other_scheme, other_scheme, other_scheme),
}


def damage(data, random):
    """Bytes with some of them flipped, cut off, left out, inserted or repeated."""
    how = random.choice(["flip", "flip", "bit", "truncate", "insert", "cut", "repeat"])
    place = random.randint(0, len(data))
    end = min(place + random.choice([1, 2, 10, 100]), len(data))
    if how == "flip":
        return how, data[:place] + bytes(random.randrange(256) for _ in data[place:end][:2]) + data[
            place + 2 :
        ]
    if how == "bit":
        return how, data[:place] + bytes(
            byte ^ (1 << random.randrange(8)) for byte in data[place : place + 1]
        ) + (data[place + 1 :])
    if how == "truncate":
        return how, data[: random.choice([place, max(len(data) - 1, 0), 0, 1])]
    if how == "insert":
        return how, data[:place] + random.choice(
            [b"\n", b" ", b"\x00", b"\xff", b'"', b"1", b"[" * 5000, b"\\ud800", b"NaN", b"1" * 5000, b"-"]
        ) + data[place:]
    if how == "cut":
        return how, data[:place] + data[end:]
    return how, data[:end] + data[place:]


def other_files(mutant):
    """A file less, one more, or another one in its place."""
    random, files = mutant.random, mutant.files
    how = random.choice(["missing", "extra", "empty", "foreign", "folder", "link", "pipe", "scheme"])
    name = random.choice(sorted(files))
    if how == "missing":
        del files[name]
    elif how == "extra":
        files[
            random.choice(["private.csv", "README", ".hidden", "x\nyes  audited", PARQUET, SCHEME, CUTS])
        ] = b"x\n"
    elif how == "empty":
        files[name] = b""
    elif how == "foreign":
        other = mutant.others[random.choice(sorted(mutant.others))]
        files[name] = other.get(name, b"{}\n")
    elif how == "folder":
        files[name] = None
    elif how == "link":
        mutant.links[name] = random.choice(["certificate.json", "/dev/null", "nowhere", ".", name])
        del files[name]
    elif how == "pipe" and hasattr(os, "mkfifo"):
        mutant.links[name] = PIPE
        del files[name]
    elif how == "scheme" and SCHEME in files:
        files[SCHEME] = files[SCHEME].replace(b"4/5", b"1/1").replace(b"1/3", b"2/3")
    return f"files: {how} {name}"


def _parquet(mutant):
    """A table.parquet of the rows of table.csv: shuffled, or with other kinds of columns."""
    import pyarrow
    from pyarrow import parquet

    rows = mutant.rows
    mutant.random.shuffle(rows)
    header = next(csv.reader(io.StringIO(mutant.files[TABLE].decode(), newline="")))
    if any(len(row) != len(header) for row in rows):
        return b"PAR1"
    texts = {name: [row[place] for row in rows] for place, name in enumerate(header)}
    found = io.BytesIO()
    parquet.write_table(pyarrow.table(texts), found)
    return found.getvalue()


def _follow(mutant):
    """Let what follows from the rest follow: words, numbers of tuples, rows and groups, confidences, odds."""
    fields = mutant.fields
    if fields["kind"] == "release":
        product = 1
        for one in fields["attributes"]:
            product *= len(one["values"])
        fields["tuples"] = _text_of(product)
    if fields["kind"] in ("partition", "disclosure", "disguised"):
        weighted = fields.get("weights") is not None
        fields["rows"] = _text_of(sum(int(row[-1]) if weighted else 1 for row in mutant.rows))
    if fields["kind"] == "partition":
        fields["groups"] = len(_groups(mutant))
    if fields["kind"] == "disclosure":
        _confide(mutant)
    document = _read(fields)
    if fields["kind"] == "partition":
        alike = [sum(group.values()) for group in _groups(mutant) if len(group) == 1]
        certain = len(alike), fields["groups"], sum(alike)
        demands = document.k, document.diversity, document.closeness, document.sensitive
        fields["warnings"] = list(form.partition_warnings(*demands, certain))
    if fields["kind"] == "disguised":
        for name, entry in ((SCHEME, fields["scheme"]), (CUTS, fields.get("cuts"))):
            if mutant.files.get(name) is not None:
                mutant.files[name] = form.copy_of(entry)
        fields["privacy"] = [None if odds is None else _ratio(odds) for odds in document.odds()]
        fields["warnings"] = document.warned()


def _read(fields):
    """The document of these fields, whose words are made those that go with them."""

    def follow(document, notes, warnings):
        fields.update(notes=list(notes), warnings=list(warnings))

    with mock.patch.object(form.Form, "expect_words", follow):
        return form.KINDS[fields["kind"]].form({**fields, "sha256": "0" * 64})


def _confide(mutant):
    """State the confidences that the table has."""
    fields = mutant.fields
    places = {column["name"]: place for place, column in enumerate(fields["columns"])}
    weighted = fields["weights"] is not None
    for template in fields["templates"]:
        cells = fields["columns"][places[template["attribute"]]]["cells"]
        text = next(text for text, typed in cells if typed == template["value"])
        groups = {}
        for row in mutant.rows:
            group = groups.setdefault(tuple(row[places[name]] for name in template["quasi"]), [0, 0])
            count = int(row[-1]) if weighted else 1
            group[0] += count
            group[1] += count * (row[places[template["attribute"]]] == text)
        template["confidence"] = _ratio(max(Fraction(hits, total) for total, hits in groups.values()))
    known = {name for template in fields["templates"] for name in template["quasi"]}
    kept = {fields["target"], *(template["attribute"] for template in fields["templates"])}
    fields["masked"] = [name for name in places if name in known and name not in kept]


def _sign(mutant):
    """Hashes that belong to what they are of."""
    for name, of in (("table_sha256", TABLE), ("parquet_sha256", PARQUET)):
        if type(mutant.fields.get(name)) is str and mutant.files.get(of) is not None:
            mutant.fields[name] = hashlib.sha256(mutant.files[of]).hexdigest()
    mutant.files[CERTIFICATE] = signed(mutant.fields).encode("ascii")


# What mutations, and what repairs after them, meet in a certificate that is no longer one.
STRANGE = (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, UnicodeError, ValueError)


def _changed(mutant):
    """One mutation of the certificate or the table; what it was."""
    kind = mutant.fields.get("kind")
    if type(kind) is str and kind in SEMANTIC and mutant.random.random() < 0.75:
        if kind == "release" and mutant.fields.get("method") == "canonical":
            kind = "canonical"
        return mutant.random.choice(SEMANTIC[kind])(mutant)
    if mutant.random.random() < 0.02:
        return nest(mutant)
    return mutant.random.choice(STRUCTURAL)(mutant)


def mutant(folders, number, seed=13):
    """The mutant of this number: one to three mutations of one of the folders, mostly signed anew."""
    dice = random.Random(f"{seed}:{number}")
    kind = dice.choice(sorted(folders))
    made = Mutant(kind, folders[kind], dice, folders)
    if PARQUET in made.files and dice.random() < 0.5:  # or it would be another than most changed tables
        del made.files[PARQUET], made.fields["parquet_sha256"]
    for _ in range(dice.choice([1, 1, 2, 3])):
        try:
            made.steps.append(_changed(made) or "nothing")
        except STRANGE as error:
            made.steps.append(f"half of something ({type(error).__name__})")
    if made.files.get(TABLE) and dice.random() < 0.05:
        how, made.files[TABLE] = damage(made.files[TABLE], dice)
        made.steps.append(f"{how} table")
    if made.files.get(PARQUET) and dice.random() < 0.1:
        with suppress(*STRANGE):
            made.files[PARQUET] = _parquet(made)
            made.steps.append("another parquet")
    if made.files.get(PARQUET) and dice.random() < 0.1:
        how, made.files[PARQUET] = damage(made.files[PARQUET], dice)
        made.steps.append(f"{how} parquet")
    if dice.random() < 0.8:
        try:
            _follow(made)
            made.steps.append("follow")
        except STRANGE:
            made.steps.append("do not follow")
    if dice.random() < 0.93:
        _sign(made)
    else:
        text = form.canonical_json(made.fields) if dice.random() < 0.5 else json.dumps(made.fields)
        made.files[CERTIFICATE] = (text + "\n").encode("ascii")
        made.steps.append("unsigned")
    if dice.random() < 0.08:
        how, data = damage(made.files[CERTIFICATE], dice)
        with suppress(ValueError, RecursionError):
            if dice.random() < 0.5:
                data = signed(json.loads(data)).encode()
        made.files[CERTIFICATE] = data
        made.steps.append(f"{how} certificate")
    for name in (SCHEME, CUTS):
        if made.files.get(name) and dice.random() < 0.03:
            how, made.files[name] = damage(made.files[name], dice)
            made.steps.append(f"{how} {name}")
    if dice.random() < 0.05:
        made.steps.append(other_files(made))
    return made


def write(made, folder):
    """Write a mutant into a folder that is new or empty."""
    os.makedirs(folder, exist_ok=True)
    for name, data in made.files.items():
        path = os.path.join(folder, name)
        if data is None:
            os.mkdir(path)
        else:
            with open(path, "wb") as file:
                file.write(data)
    for name, target in made.links.items():
        path = os.path.join(folder, name)
        if target is PIPE:
            os.mkfifo(path)
        else:
            os.symlink(target, path)


def clear(folder):
    """Remove what is in a folder."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
