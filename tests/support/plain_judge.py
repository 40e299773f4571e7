"""What a published folder claims, judged once more in the plainest way, without a line of the verifiers.

`faults` recomputes what follows from the numbers and rows of a folder that a verifier did not refuse: by
listing all tuples, all rows, all answers. Domains of fuzzed folders are small; what is too large for that is
left out and said.
"""

import csv
import hashlib
import io
import json
import math
import re
from fractions import Fraction
from itertools import pairwise, product

from nbcfast.reference import skyline

MOST_TUPLES = 5_000
MOST_PIECES = 2_000  # l, k or m, beyond which the reference would take long
LONG_PART = re.compile('"-?0x[1-9a-f][0-9a-f]{8192,}/|/0x[1-9a-f][0-9a-f]{8192,}"')  # more than 2^15 bits


def number(entry):
    if isinstance(entry, str):
        return -int(entry[1:], 16) if entry.startswith("-") else int(entry, 16)
    assert type(entry) is int, entry
    return entry


def ratio(entry):
    up, down = (int(text, 16) if text.startswith("0x") else int(text) for text in entry.split("/"))
    return Fraction(up, down)


def faults(files, checks):
    """Sentences about claims that do not hold; `checks` are the (name, verdict) that a verifier gave."""
    fields = json.loads(files["certificate.json"])
    rest = {name: entry for name, entry in fields.items() if name != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(text.encode()).hexdigest() != fields["sha256"]:
        yield "the sha256 of the certificate is another"
    if ("file", None) in checks:  # nothing more is said of it, and so there is nothing more to judge
        if not LONG_PART.search(text):
            yield "it is not looked at, and no rational in it is too long"
        return
    if fields["kind"] == "release":
        yield from _release(fields, dict(checks))
        return
    if fields["kind"] == "strata":
        yield from _strata(fields, dict(checks))
        return
    if hashlib.sha256(files["table.csv"]).hexdigest() != fields["table_sha256"]:
        yield "the sha256 of the table is another"
    rows = list(_rows(fields, files["table.csv"]))
    if sum(count for _, count in rows) != number(fields["rows"]):
        yield "another number of rows"
    yield from _order(fields, rows)
    yield from {"partition": _partition, "disclosure": _disclosure, "disguised": _disguised}[fields["kind"]](
        fields, rows
    )


def policy_kept(fields, class_name, amplification, sha256):
    """Whether a sound release, or all of a list of them, is one of a policy that demands no more than this.

    None where that is not known: a domain is too large to list.
    """
    releases = [entry["release"] for entry in fields["strata"]] if "strata" in fields else [fields]
    undeclared = [
        fields.get("undeclared"),
        *((one.get("canonical") or {}).get("undeclared") for one in releases),
    ]
    if any(undeclared):
        return False
    for one in releases:
        if one["class_name"] != class_name or one.get("policy") != {"sha256": sha256}:
            return False
        if "privacy" in one or one.get("accepted"):
            return False
    counted = [_counted(one) for one in releases]
    if any(math.prod(map(len, attributes)) > MOST_TUPLES for _, _, attributes in counted):
        return None
    return all(max(scores) <= amplification * min(scores) for one in counted for _, scores in _scored(*one))


def _counted(fields):
    """The classes, how many people each has, and the counts of each attribute."""
    attributes = [[[number(entry) for entry in row] for row in one["counts"]] for one in fields["attributes"]]
    of_class = [number(entry) for entry in fields["class_counts"]]
    return range(len(fields["classes"])), of_class, attributes


def _scored(classes, of_class, attributes):
    """Each tuple, and the scores of its classes."""
    # P_c^(1-n) for each class, times what makes them whole numbers; without attributes a score is P_c.
    powers = [
        math.prod(of_class[d] for d in classes if d != c) ** (len(attributes) - 1)
        if attributes
        else of_class[c]
        for c in classes
    ]
    for places in product(*(range(len(rows)) for rows in attributes)):
        scores = [
            powers[c] * math.prod(rows[place][c] for rows, place in zip(attributes, places, strict=True))
            for c in classes
        ]
        yield places, scores


def _release(fields, checks):
    classes, of_class, attributes = _counted(fields)
    if min([*of_class, *(entry for rows in attributes for row in rows for entry in row)]) < 1:
        yield "a count is not positive"
        return
    for rows in attributes:
        if [sum(row[c] for row in rows) for c in classes] != of_class:
            yield "counts do not add up"
    tuples = math.prod(map(len, attributes))
    if tuples != number(fields["tuples"]):
        yield "another number of tuples"
    if tuples > MOST_TUPLES:
        return
    worlds = 2 if fields["attacker"] == "worlds" else 1
    limit = ratio(fields["amplification"]) / worlds
    prior = [ratio(entry) for entry in fields["prior"]] if fields["method"] == "est" else None
    made = fields.get("canonical")
    for places, scores in _scored(classes, of_class, attributes):
        if max(scores) > limit * min(scores):
            yield f"Lambda is above the limit at {places}"
        if prior is not None:
            odds = [score / share for score, share in zip(scores, prior, strict=True)]
            if max(odds) > ratio(fields["r"]) / worlds * min(odds):
                yield f"odds move too much at {places}"
        if made is not None and len(classes) > 1 and checks.get("scorecard"):
            points = [number(entry) for entry in made["constants"]]
            for entries, place in zip(made["points"], places, strict=True):
                points = [old + number(entry) for old, entry in zip(points, entries[place], strict=True)]
            ranked = [sorted(classes, key=lambda c: (given[c], c)) for given in (scores, [*points, 0])]
            if ranked[0][-1] != ranked[1][-1] or (fields["preserve"] == "order" and ranked[0] != ranked[1]):
                yield f"points and counts decide differently at {places}"


def _strata(fields, checks):
    values = [json.dumps(entry["value"]) for entry in fields["strata"]]
    if len(set(values)) != len(values):
        yield "a value twice"
    releases = [entry["release"] for entry in fields["strata"]]
    for release in releases:
        rest = {name: entry for name, entry in release.items() if name != "sha256"}
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
        if hashlib.sha256(text.encode()).hexdigest() != release["sha256"]:
            yield "the sha256 of a stratum is another"
        if release["method"] != "canonical" or release["canonical"]["listed"] is not None:
            yield "a stratum of another method"
        yield from _release(release, checks)
    if len({json.dumps(_common(release)) for release in releases}) != 1:
        yield "strata of different domains or parameters"
    named = {releases[0]["class_name"], *(one["name"] for one in releases[0]["attributes"])}
    if fields["by"] in named:
        yield "the column of the strata is another one too"


def _common(release):
    """What all strata have to have in common."""
    names = ["amplification", "attacker", "class_name", "classes", "preserve", "tuples", "version"]
    canonical = release["canonical"]
    return [
        *(release[name] for name in names),
        [[one["name"], one["values"]] for one in release["attributes"]],
        [canonical["bits"], canonical["undeclared"]],
    ]


def _rows(fields, data):
    """(texts of the cells, people) of each line."""
    header, *lines = csv.reader(io.StringIO(data.decode(), newline=""))
    weighted = fields.get("weights") is not None
    for line in lines:
        cells = line or [""]
        assert len(cells) == len(header)
        yield (tuple(cells[:-1]), int(cells[-1])) if weighted else (tuple(cells), 1)


def _order(fields, rows):
    """Cells that the certificate does not have, and rows that are not in the order of its lists."""
    columns = [[cell[0] for cell in column["cells"]] for column in fields["columns"]]
    if fields["kind"] == "partition":
        columns.append([cell[0] for cell in fields["sensitive"]["values"]])
    places = []
    for row, count in rows:
        if count < 1:
            yield "a row of nobody"
        places.append([texts.index(text) for texts, text in zip(columns, row, strict=True)])
    canonical = fields.get("order", "canonical") == "canonical"
    if canonical and any(one > other for one, other in pairwise(places)):
        yield "rows stand in no order"


def _partition(fields, rows):
    groups = {}
    for row, count in rows:
        group = groups.setdefault(row[:-1], {})
        group[row[-1]] = group.get(row[-1], 0) + count
    found = list(groups.values())
    if len(found) != number(fields["groups"]):
        yield "another number of groups"
    if fields["k"] is not None and skyline.k_anonymity(found) < number(fields["k"]):
        yield "not k-anonymous"
    if fields["diversity"] is not None:
        c, l = ratio(fields["diversity"][0]), number(fields["diversity"][1])
        if not skyline.recursive_diversity(found, l) < c:
            yield "not diverse"
    if fields["closeness"] is not None:
        t, distance = ratio(fields["closeness"][0]), fields["closeness"][1]
        values = [cell[0] for cell in fields["sensitive"]["values"]]
        present = [text for text in values if any(text in group for group in found)]
        if skyline.closeness(found, present, ordered=distance == "ordered") > t:
            yield "not close"
    for point in fields["points"]:
        l, k, m = map(number, point[:3])
        if max(k, m) > MOST_PIECES:  # of people who are not there
            if max(k, m) < sum(map(sum, (group.values() for group in found))):
                yield f"left out: {point}"
            else:
                yield f"safe against who knows more people than there are: {point}"
        elif not skyline.breach(found, min(l, MOST_PIECES), k, m) < ratio(point[3]):
            yield f"unsafe at {point}"


def _disclosure(fields, rows):
    places = {column["name"]: place for place, column in enumerate(fields["columns"])}
    for template in fields["templates"]:
        column = places[template["attribute"]]
        cells = fields["columns"][column]["cells"]
        texts = [text for text, typed in cells if typed == template["value"]]
        most = Fraction(0)
        for row, _ in rows:
            alike = [
                (other[column] in texts, count)
                for other, count in rows
                if all(other[places[name]] == row[places[name]] for name in template["quasi"])
            ]
            most = max(
                most, Fraction(sum(count for hit, count in alike if hit), sum(count for _, count in alike))
            )
        if most != ratio(template["confidence"]) or most > ratio(template["limit"]):
            yield f"a confidence of {most} for {template}"


def _disguised(fields, rows):
    scheme = fields["scheme"]
    lie = scheme.get("lie")
    for group, stated in zip(scheme["groups"], fields["privacy"], strict=True):
        sizes = [len(scheme["domains"][name]) for name in group["columns"]]
        theta = ratio(group["theta"])
        every = list(product(*map(range, sizes)))
        if len(every) > 200:
            continue
        channel = [[_chance(truth, answer, theta, sizes, lie) for answer in every] for truth in every]
        if any(sum(row) != 1 for row in channel):
            yield "chances do not add up"
        if any(max(row) == 1 for row in channel):
            yield f"nothing is hidden of {group['columns']}"
        most = Fraction(1)
        for column in zip(*channel, strict=True):
            if min(column) == 0:
                most = None if max(column) else most
            elif most is not None:
                most = max(most, max(column) / min(column))
        if most != (None if stated is None else ratio(stated)):
            yield f"odds are multiplied by {most}, not {stated}"
    if fields["seeded"]:
        yield "a simulation"


def _chance(truth, answer, theta, sizes, lie):
    """That the scheme makes this answer of that truth."""
    if truth == answer:
        return theta
    others = math.prod(sizes) - 1 if lie == "tuple" else math.prod(size - 1 for size in sizes)
    if lie == "tuple" or all(one != other for one, other in zip(truth, answer, strict=True)):
        return (1 - theta) / others
    return Fraction(0)
