"""Methods after one another, on random tables: by the command line, and by two hospitals. See `crossing`."""

import json
import math
import random
from fractions import Fraction

import crossing_oracles as oracle
import numpy as np
from accepting import ANYHOW
from crossing import TRIED, check_groups, check_published, check_views, crossed, same_values, seeds
from crossing_cases import NULL, Case, Column, intervals
from verdict_cases import accepting

import nbcfast
from nbcfast import (
    Interval,
    Table,
    canonical,
    concat,
    count,
    response,
    skyline,
    templates,
)

# the command line


def test_command_line(tmp_path, run):
    """What `--json` prints is what Python gives of the same file."""

    def command_line_crosses(case, rng, folder):
        path = folder / f"{rng.randrange(10**9)}.csv"
        case.write_csv(path)
        texts = [name for name, kind in case.csv_types().items() if kind == "text"]
        options = [part for name in texts for part in ("--text", name)] + ["--null", NULL]
        options += [] if case.weights is None else ["--weights", "w"]
        types = dict.fromkeys(texts, "text")
        table = nbcfast.read_csv(path, null_values=[NULL], types=types, weights=case._w)
        names = [name for name in case.names if name != "y"]
        points = [(rng.randrange(2), rng.randrange(3), rng.randrange(2), "19/20") for _ in range(2)]
        asked = [part for point in points for part in ("--point", ",".join(map(str, point)))]
        by = ",".join(names)
        code, out, err = run(
            "skyline", "check", path, "--by", by, "--sensitive", "y", "--json", *asked, *options
        )
        reports = skyline.check(skyline.group(table, names, "y"), points)
        assert code == (0 if all(report.safe for report in reports) else 1), err
        assert [one["safe"] for one in json.loads(out)["points"]] == [report.safe for report in reports]
        histograms = list(oracle.groups(case.rows([*names, "y"]), range(len(names)), len(names)).values())
        assert [report.safe for report in reports] == [
            oracle.breach(histograms, *point[:3]) < Fraction(19, 20) for point in points
        ]
        TRIED["command line"] += 1
        value = next((value for value in case.values("y") if value is not None), None)
        if isinstance(value, str) and value.isalnum():
            text = f"{by} -> y={value} <= 60%"
            code, out, err = run("templates", "check", path, "--template", text, "--json", *options)
            found = templates.violations(table, [templates.Template(names, ("y", value), "60%")])
            assert code == (1 if found else 0), err
            assert [(one["support"], one["count"]) for one in json.loads(out)["violations"]] == [
                (one.support, one.count) for one in found
            ]
            TRIED["command line"] += 1
        views = count(table, "y")
        if len(views.classes) < 2 or sum(case.of_rows()) > 10**4:
            return
        target = folder / f"published-{rng.randrange(10**9)}"
        code, out, err = run(
            *ANYHOW, path, "--class", "y", "--amplification", "4", "--out", target, "--json", *options
        )
        release = accepting(canonical.release(views, 4, class_name="y"))
        assert code == 0, err
        own = folder / f"own-{rng.randrange(10**9)}"
        release.save(own)
        name = "certificate.json"
        assert (target / name).read_bytes() == (own / name).read_bytes()
        assert nbcfast.load(target) == release
        assert run("verify", target)[0] == 0
        assert run("verify", target, "--against", path, *options)[0] == 0
        TRIED["command line"] += 1

    crossed(
        command_line_crosses,
        4,
        100,
        tmp_path,
        n_attributes=(1, 2),
        n_rows=(4, 15),
        n_classes=(2, 3),
        kinds=("int", "digits", "date"),
    )


# two hospitals


def hospitals(rng, which):
    """Ages of two hospitals, nulls in one of them; as Tables and in CSV files."""
    edges = [[0, 18, 40, 65, math.inf], [Interval(0, 40), Interval(40, None)], np.array([0.0, 30.5, 200.0])]
    edges = edges[which % len(edges)]
    n = rng.randint(4, 12)
    ages = [[rng.randrange(100) for _ in range(n)] for _ in range(2)]
    ages[which % 2][rng.randrange(n)] = None
    parts = []
    for own in ages:
        columns = {"age": Column("binned", own, None, edges), "y": Column("text", rng.choices("ab", k=n))}
        parts.append(Case({**columns, "s": Column("digits", rng.choices(["1", "2"], k=n))}, None, "hospital"))
    return edges, parts


def test_two_hospitals(tmp_path):
    """A binned column with nulls in one part only: merged, taken away, concatenated, published, read back."""
    for seed in seeds(4, 100):
        rng = random.Random(f"hospitals {seed}")
        edges, parts = hospitals(rng, seed)
        source = "csv" if seed % 2 else "list"
        one, two = (part.table(source, rng, tmp_path) for part in parts)
        columns = {
            name: Column(c.kind, c.raw + parts[1].columns[name].raw, None, c.edges)
            for name, c in parts[0].columns.items()
        }
        both = Case(columns, None, "both")
        whole = both.table(source, rng, tmp_path)
        assert concat([one, two]) == whole
        assert same_values(concat([two, one]).domain("age"), both.domain("age"))
        views = count(one, "y") + count(two, "y")
        assert views == count(whole, "y") == count(two, "y") + count(one, "y")
        check_views(views, both, both.domain("y"))
        for part, other in ((one, two), (two, one)):
            rest = count(whole, "y") - count(part, "y")
            assert rest == count(other, "y") or len(set(rest.classes)) < 2
            assert rest.domain("age") == other.domain("age")
        file = tmp_path / "hospital.csv"
        parts[1].write_csv(file, null="")
        declared = nbcfast.read_csv(file, types={"s": "text"}).bin("age", [*intervals(edges), None])
        assert declared.domain("age")[-1] is None  # whether or not a row has it
        assert count(declared, "y") + count(one, "y") == views
        # Groups, inferences, answers, associations of the parts together are those of the whole.
        groups = skyline.Groups.merge([skyline.group(part, ["age", "s"], "y") for part in (two, one)])
        names = ["age", "s"]
        check_groups(groups, oracle.groups(both.rows([*names, "y"]), [0, 1], 2), names)
        statistics = skyline.Statistics([0, 1]).update(skyline.group(whole, names, "y"))
        asked = [(1, 1, 1, "19/20"), (0, 1, 0, "2/3")]
        assert [report.safe for report in skyline.check(statistics, asked)] == [
            report.safe for report in skyline.check(groups, asked)
        ]
        template = templates.Template(["age", "s"], ("y", "a"), "60%")
        merged = concat([one, two])
        assert templates.violations(merged, [template]) == templates.violations(whole, [template])
        scheme = response.KaryScheme("0.8", {"age": whole.domain("age")})
        told = [response.disguise(part, scheme, np.random.default_rng(3)) for part in (one, two)]
        estimated = response.estimate(count(told[0], "y") + count(told[1], "y"), scheme, "y")
        again = response.estimate(concat(told), scheme, "y")
        assert estimated.raw.joint["age"].tolist() == again.raw.joint["age"].tolist()
        TRIED["hospitals"] += 8
        if len(views.classes) < 2:
            continue
        release = canonical.release(views, 4, class_name="y")
        check_published(release, views, 4, "label", tmp_path, rng, whole)
        path = tmp_path / f"hospitals-{seed}"
        release.save(path)
        loaded = nbcfast.load(path)
        later = parts[seed % 2].table(source, rng, tmp_path)
        assert (loaded.predict(later) == views.predict(later)).all()
        raw = Table({name: list(column.raw) for name, column in both.columns.items()})
        again = raw.bin("age", loaded.views.domain("age"))
        assert (loaded.predict(again) == views.predict(whole)).all()
        TRIED["hospitals"] += 3
