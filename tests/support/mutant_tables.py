"""Seeded changes of published tables that mean something: demands, cells, templates, schemes, rows."""

import copy
from fractions import Fraction

from mutant_corpus import HOSTILE, LONG, TABLE
from mutant_entries import SCALARS, TYPED, ratio_of, some_ratio, text_of
from mutant_releases import RELEASE, other_advice, other_choice, other_noise, other_points, other_policy

from nbcfast import verify_release as form
from nbcfast.reference import skyline as reference


def other_demand(mutant):
    """Another k, diversity, closeness or point of a partition."""
    fields, random = mutant.fields, mutant.random
    amounts = [0, 1, 1, 2, 3, 4, 5, 70, 150, 299, 300, 600, 2**61, text_of(2**64), LONG]
    which = random.choice(["k", "diversity", "closeness", "points", "points"])
    if which == "k":
        fields["k"] = random.choice([None, *amounts])
    elif which == "diversity":
        fields["diversity"] = random.choice([None, [some_ratio(random), random.choice(amounts)]])
    elif which == "closeness":
        fields["closeness"] = random.choice([None, [some_ratio(random), random.choice(["equal", "ordered"])]])
    else:
        point = [
            *(random.choice(amounts[: random.choice([3, 12, 15])]) for _ in range(3)),
            some_ratio(random),
        ]
        fields["points"] = [*random.choice([[], fields["points"], [point]]), point]
    return f"another {which}"


def exact_demand(mutant):
    """What the groups of a partition reach, as the demand, or a little less."""
    fields, random = mutant.fields, mutant.random
    groups = groups_of(mutant)
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
        fields["diversity"] = [ratio_of(c + random.choice([0, Fraction(1, 10**12)])), l]
    elif which == "points":
        l, k, m = (random.choice([0, 0, 1, 2]), *(random.choice([0, 0, 1, 2, 100, 290]) for _ in range(2)))
        reached = reference.breach(groups, l, k, m)
        fields["points"] = [[l, k, m, ratio_of(min(reached + random.choice([0, Fraction(1, 10**12)]), 1))]]
    else:
        values = [text for text, _ in fields["sensitive"]["values"]]
        present = [text for text in values if any(text in group for group in groups)]
        t = reference.closeness(groups, present, ordered=which == "ordered")
        fields["closeness"] = [ratio_of(max(t - less, 0)), "equal" if which == "closeness" else "ordered"]
    return f"the {which} that is reached"


def groups_of(mutant):
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
        template["limit"] = random.choice([some_ratio(random), "1/1", "0/1"])
    elif how == "exact":
        less = random.choice([0, 0, Fraction(1, 10**15)])
        template["limit"] = ratio_of(max(Fraction(template["confidence"]) - less, 0))
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
        group["theta"] = random.choice([some_ratio(random), "1/1", "0/1", "1/3", "2/3", "1/4", "4/5", "1/2"])
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
    "policed": (*RELEASE, *(other_policy for _ in range(6))),
    "noisy": (*RELEASE, *(other_noise for _ in range(20))),
    "canonical": (*RELEASE, other_points, other_points, other_points, other_points),
    "advised": (*RELEASE, other_points, *(other_advice for _ in range(10))),
    "partition": (*TABLES, other_demand, other_demand, exact_demand, exact_demand),
    "disclosure": (*TABLES, other_template, other_template, other_template),
    "disguised": (*TABLES, other_scheme, other_scheme, other_scheme),
}
