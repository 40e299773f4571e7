"""Seeded changes of a release that mean something: counts, classes, limits, points."""

import copy
from fractions import Fraction

from mutant_corpus import HOSTILE
from mutant_entries import number_of, ratio_of, some_ratio, text_of

from nbcfast import verify_release as form


def more_people(mutant):
    """The same people more, or less, in the class and in one value of each attribute."""
    fields, random = mutant.fields, mutant.random
    c = random.randrange(len(fields["classes"]))
    step = random.choice([1, -1, 5, 10**6, 10**20, 2**200])
    holders = [fields["class_counts"], *(random.choice(one["counts"]) for one in fields["attributes"])]
    for row in holders:
        row[c] = text_of(max(number_of(row[c]) + step, 0))
    return f"{step} people of class {c}"


def move_people(mutant):
    """People from one value of an attribute to another."""
    fields, random = mutant.fields, mutant.random
    rows = random.choice(fields["attributes"])["counts"]
    c = random.randrange(len(fields["classes"]))
    one, other = random.choice(rows), random.choice(rows)
    step = min(number_of(one[c]) - random.choice([0, 1]), random.choice([1, 2, 10**25]))
    one[c] = text_of(number_of(one[c]) - step)
    other[c] = text_of(number_of(other[c]) + step)
    return f"move {step} people of class {c}"


def one_count(mutant):
    """One count that is another: those of the attribute do not add up."""
    row = mutant.random.choice(_of_classes(mutant.fields)[1:])
    c = mutant.random.randrange(len(row))
    row[c] = mutant.random.choice([0, 1, text_of(number_of(row[c]) + 1)])
    return f"one count of class {c}"


def scale(mutant):
    """All counts so many times as large."""
    factor = mutant.random.choice([2, 3, 10**10, 2**70, 2**4_000])
    fields = mutant.fields
    for row in [fields["class_counts"], *(row for one in fields["attributes"] for row in one["counts"])]:
        row[:] = [text_of(number_of(number) * factor) for number in row]
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
        fields["prior"], fields["r"] = [ratio_of(one) for one in prior], ratio_of(r)
        fields["amplification"] = ratio_of(r * max(prior) / min(prior))
    else:
        fields["amplification"] = some_ratio(random)
    return "another limit"


def exact_limit(mutant):
    """Lambda itself as the limit, or a little less."""
    fields, random = mutant.fields, mutant.random
    least = _lambda(fields) * (2 if fields["attacker"] == "worlds" else 1)
    least -= random.choice([0, 0, Fraction(1, 10**9), Fraction(1, 10**60)])
    fields["amplification"] = ratio_of(least)
    return "Lambda as the limit"


def _lambda(fields):
    n = len(fields["attributes"])
    most = Fraction(1)
    of_class = [number_of(number) for number in fields["class_counts"]]
    for c, p in enumerate(of_class):
        for d, q in enumerate(of_class):
            found = Fraction(q, p) ** (n - 1)
            for one in fields["attributes"]:
                found *= max(Fraction(number_of(row[c]), number_of(row[d])) for row in one["counts"])
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
        fields.setdefault("prior", [ratio_of(Fraction(1, len(fields["classes"]))) for _ in fields["classes"]])
        fields.setdefault("r", fields["amplification"])
    return f"another {name}"


def other_differing(mutant):
    """Other numbers of tuples and rows that are decided otherwise."""
    fields, random = mutant.fields, mutant.random
    fields["differing_rows"] = random.choice([None, 0, 1, text_of(10**30)])
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
            row[0] = text_of(number_of(row[0]) + step)
        made["constants"][0] = text_of(number_of(made["constants"][0]) - step)
    elif how == "scale":
        factor = random.choice([2, 3, 2**36, 2**80])
        for row in [made["constants"], *rows]:
            row[:] = [text_of(number_of(number) * factor) for number in row]
    elif how == "nudge":
        row = random.choice(rows)
        row[0] = text_of(number_of(row[0]) + random.choice([1, -1, 10**6]))
    elif how == "constant":
        made["constants"][0] = text_of(number_of(made["constants"][0]) + random.choice([1, -1, 10**40]))
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


def other_advice(mutant):
    """Another choice of a domain: more options, another place, limits, rows, votes or strata."""
    random = mutant.random
    advice = mutant.fields["advice"]
    how = random.choice(
        ["options", "chosen", "by", "limits", "limits", "rows", "strata", "strata", "menu", "strange", "gone"]
    )
    if how == "options":
        advice["options"] = text_of(number_of(advice["options"]) * random.choice([1, 2, 10**9, 2**1000]))
    elif how == "chosen":
        advice["chosen"] = [random.choice([0, 1, 2, 60, text_of(2**60)]) for _ in range(random.randint(1, 3))]
    elif how == "by":
        advice["by"] = random.choice(list(form.CHOSEN_BY))
        for name in form.VOTES_FIELDS:
            advice.pop(name, None)
        if advice["by"] == "votes":
            advice.update(epsilon=some_ratio(random), blocks=random.choice([0, 1, 50]))
    elif how == "limits":
        name = random.choice(["max_bits", "max_bits", *form.LIMITS])
        counted = [None, 0, 7] if name in form.COUNTED_LIMITS else [None, some_ratio(random), "0/1", "1/1"]
        advice["limits"][name] = random.choice(counted)
    elif how == "rows":
        advice.update(rows=random.choice(["private", "other"]), exhaustive=random.choice([True, False]))
    elif how == "strata":
        _other_strata(mutant)
    elif how == "menu":
        advice["menu"] = random.choice(["0" * 64, "0" * 63, "F" * 64, "f" * 64, HOSTILE, None])
    elif how == "strange":
        strange = [None, True, -1, 0, "", HOSTILE, [], {}, [[[]]], {"a": 1}, "1/0", text_of(2**300), 1.5]
        of = random.choice([advice, advice["limits"]])
        of[random.choice(sorted(of))] = random.choice(strange)
    else:
        del mutant.fields["advice"]
    if random.random() < 0.8:
        ways = 1 + len(advice.get("strata", []))
        advice["bits_at_most"] = form.bits_of_choice(number_of(advice["options"]) * ways)
    return f"advice: {how}"


def _other_strata(mutant):
    """Other columns that might have selected a classifier, another of them, or none."""
    random, advice = mutant.random, mutant.fields["advice"]
    names = [
        "town",
        "new",
        HOSTILE,
        mutant.fields["class_name"],
        *(one["name"] for one in mutant.fields["attributes"]),
    ]
    how = random.choice(["columns", "columns", "chosen", "gone", "half"])
    if how == "columns":
        advice["strata"] = [random.choice(names) for _ in range(random.choice([0, 1, 1, 2, 5]))]
        advice["by_column"] = random.choice([None, *advice["strata"]])
    elif how == "chosen":
        advice["by_column"] = random.choice([None, *names, 0, ["town"]])
    elif how == "gone":
        for name in form.STRATA_FIELDS:
            advice.pop(name, None)
    else:
        advice[random.choice(sorted(form.STRATA_FIELDS))] = random.choice([None, [], ["town"], "town"])


def other_policy(mutant):
    """Another policy that the release names, none, or something that names none."""
    random, fields = mutant.random, mutant.fields
    how = random.choice(["other", "gone", "short", "more", "text", "empty", "capital"])
    sha256 = "".join(random.choice("0123456789abcdef") for _ in range(64))
    if how == "gone":
        fields.pop("policy", None)
        return "policy: gone"
    fields["policy"] = {
        "other": {"sha256": sha256},
        "short": {"sha256": sha256[:63]},
        "more": {"sha256": sha256, "file": "nbcfast.toml"},
        "text": sha256,
        "empty": random.choice([{}, None, [], {"sha256": None}, {"sha256": 7}]),
        "capital": {"sha256": sha256.upper() + "\n"},
    }[how]
    return f"policy: {how}"


def other_noise(mutant):
    """Other noise: another mechanism, epsilon, rho, neighbours or number of rows."""
    random, entry = mutant.random, mutant.fields["privacy"]
    how = random.choice(
        ["mechanism", "number", "delta", "none", "neighbours", "rows", "attributes", "accepted", "gone"]
    )
    if how == "mechanism":
        entry["mechanism"] = random.choice(form.MECHANISMS)
        if entry["mechanism"] == form.LAPLACE:
            entry.pop("rho", None)
            entry.update(delta="0/1", epsilon=entry["epsilon"] or "1/1")
        else:
            entry.setdefault("rho", "1/8")
    elif how == "number":
        entry[random.choice(["epsilon", "rho"])] = random.choice([some_ratio(random), "0/1", f"{10**40}/1"])
    elif how == "delta":
        entry["delta"] = random.choice([some_ratio(random), "1/1", "1/1000000", "0/1"])
    elif how == "none":
        entry.update(epsilon=None, delta=random.choice([None, "0/1"]))
    elif how == "neighbours":
        entry["neighbours"] = random.choice([*form.NEIGHBOURS, "edge"])
    elif how == "rows":
        entry["rows_per_person"] = random.choice([0, 1, 2, 7, 10**9, text_of(10**30), True])
    elif how == "attributes":
        entry["attributes"] = random.choice([0, 1, 2, 3, 9])
    elif how == "accepted":
        mutant.fields[random.choice(["accepted", "smoothing"])] = random.choice([True, "1"])
    else:
        del mutant.fields["privacy"]
    known = entry["neighbours"] in form.NEIGHBOURS and type(entry["rows_per_person"]) is int
    if known and random.random() < 0.8:
        entry["sensitivity"] = form.sensitivity_text(
            entry["mechanism"], entry["neighbours"], entry["rows_per_person"]
        )
    return f"noise: {how}"


RELEASE = (
    *(more_people, move_people, one_count, scale, swap_classes, drop_class, swap_values, drop_attribute),
    *(one_more_attribute, other_limit, exact_limit, other_choice, other_differing, become_canonical),
)
