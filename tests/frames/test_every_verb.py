"""Every function that takes a table takes a Frame, and gives what it gives of all rows; or says what to do.

f(table) == f(table.select(needed).collapse()) == f(Frame(rows)): one case a function, and no public function
with such an argument is left out.
"""

import importlib
import inspect
from dataclasses import replace

import numpy as np
import pytest

import nbcfast
from nbcfast import associations, attack, canonical, closeness, response, skyline, streams, templates
from nbcfast._coins import Coins
from nbcfast.frames import Frame
from nbcfast.ledger import Ledger
from nbcfast.published import evaluate

pl = pytest.importorskip("polars")

MENU = {
    "age": [{"edges": [None, 40, None]}, {"edges": [None, 30, 50, None]}],
    "job": [{"values": ["clerk", "cook", "smith"]}, {"out": True}],
}
DECLARED = {"job": ["clerk", "cook", "smith"], "zone": [0, 1, 2, 3], "sex": ["f", "m"], "ill": ["no", "yes"]}
SCHEME = response.KaryScheme("0.8", {"job": ["clerk", "cook", "smith"], "ill": ["no", "yes"]})
TEMPLATES = [
    templates.Template(("job", "zone"), ("ill", "yes"), "3/5"),
    templates.Template(("age",), ("ill", "yes"), "9/10"),
]
DAYS = {"job": ["clerk", "cook", "smith"], "zone": [0, 1, 2, 3], "ill": ["no", "yes"]}


def people(seed, n_rows=400):
    """Rows of which nobody's name is needed."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n_rows) < 0.4
    return {
        "name": [f"person {number}" for number in range(n_rows)],
        "job": rng.choice(["clerk", "cook", "smith"], n_rows, p=[0.5, 0.3, 0.2]).tolist(),
        "age": (rng.integers(18, 70, n_rows) // 5 * 5 + 5 * ill).tolist(),
        "zone": rng.integers(0, 4, n_rows).tolist(),
        "sex": rng.choice(["f", "m"], n_rows).tolist(),
        "ill": np.where(ill, "yes", "no").tolist(),
        "day": [f"2026-03-{day:02d}" for day in sorted(rng.integers(1, 29, n_rows).tolist())],
    }


ROWS, OTHERS = people(1), people(2)
BOTH = nbcfast.Table(ROWS), nbcfast.Table(OTHERS)
COUNTED = ["job", "zone", "sex"]
VIEWS = nbcfast.count(ROWS, "ill", COUNTED)


def kept(partition):
    return partition.certificate.to_dict(), partition.counted, partition.groups


def disclosed(table):
    """Of a Table all columns are published, of a Frame those that are fetched."""
    needed = ["job", "age", "zone", "sex", "ill"]  # in the order of the rows
    rows = table.select(needed) if isinstance(table, nbcfast.Table) else table
    disclosure = templates.disclose(rows, TEMPLATES, "sex")
    steps = [(step.attribute, step.value, step.score) for step in disclosure.steps]
    return disclosure.certificate.to_dict(), disclosure.collapsed, steps, disclosure.confidences


def published(made):
    return made.release.certificate.to_dict(), made.to_dict()


def followed(table):
    """The weights of rows are told to a window by the name of a column."""
    if isinstance(table, nbcfast.Table) and table.weights is not None:
        columns = {name: table[name] for name in table.names}
        window = streams.Window(
            "ill", DAYS, by="day", width="7 days", n_blocks=8, attributes=["job", "zone"], weights="people"
        )
        window.add({**columns, "people": table.weights})
        window.move("2026-04-01")
        return window.views
    window = streams.Window("ill", DAYS, by="day", width="7 days", n_blocks=8, attributes=["job", "zone"])
    window.add(table)
    window.move("2026-04-01")
    return window.views


def saved(folder, **how):
    release = nbcfast.safety_transform(VIEWS, 8, class_name="ill")
    release.save(folder, **how)
    return folder


def verified(table, folder):
    return {**nbcfast.verify(saved(folder), against=table).to_dict(), "path": None}


def chosen(table):
    """The columns that are counted, where a function takes all that there are."""
    wanted = [*COUNTED, "ill"]
    return Frame(table.native.select(wanted)) if isinstance(table, Frame) else table.select(wanted)


def advised(table, **rest):
    """What is chosen; it says too which columns there are beside the menu, of which one table has fewer."""
    found = nbcfast.advise(table, "ill", MENU, max_found=None, max_one_class=None, **rest)
    return replace(found, beside=()).to_dict()


def agreed(table):
    declared = nbcfast.count(ROWS, "ill", COUNTED, domains=DECLARED)
    return nbcfast.dp.agreement(declared, table, epsilon="1/5", coins=Coins(b"\x21" * 32)).shares


def simulated(train, test):
    rng = np.random.default_rng(3)
    scheme = response.KaryScheme("0.8", {"job": ["clerk", "cook", "smith"]})
    return response.simulate(train, test, scheme, "ill", repetitions=5, rng=rng).tolist()


def classifier():
    told = {name: ROWS[name] for name in ("job", "ill")}
    return response.classifier(response.estimate(told, SCHEME, "ill"))


def gated(folder, rows, **beside):
    release = nbcfast.canonical.release(nbcfast.count(rows, "ill", COUNTED), 8, class_name="ill")
    release.save(folder)
    policy = {
        "release": {"class": "ill", "amplification": 8},
        "limits": {"max_found": 100, "membership_auc": "0.99"},
    }
    found = nbcfast.gate(folder, policy, **beside).to_dict()
    found["path"] = found["verification"]["path"] = None
    return found


def verified_list(tuples, folder):
    canonical.release(VIEWS, 8, tuples=BOTH[0].select(COUNTED), class_name="ill").save(folder)
    return {**nbcfast.verify(folder, tuples=tuples).to_dict(), "path": None}


# Function and argument -> the columns that it needs (None: all that there are), and what it gives of a table;
# a second argument is a folder of its own.
TAKES = {
    ("associations.advise", "table"): (
        ["name", "zone", "job", "sex"],
        lambda t: associations.advise(t, "name", "sex", ["zone", "job"], threshold=1),
    ),
    ("associations.risk", "table"): (
        ["name", "zone", "job"],
        lambda t: associations.risk(t, [("name", "zone"), ("zone", "job")], "name", "job").by_join_value(),
    ),
    ("attack.invert", "published"): ([*COUNTED, "ill"], lambda t: attack.invert(chosen(t), "ill").to_dict()),
    ("attack.invert", "truth"): ([*COUNTED, "ill"], lambda t: attack.invert(VIEWS, "ill", truth=t).to_dict()),
    ("attack.membership", "table"): (
        [*COUNTED, "ill"],
        lambda t: attack.membership(VIEWS, t, OTHERS, "ill").to_dict(),
    ),
    ("attack.membership", "holdout"): (
        [*COUNTED, "ill"],
        lambda t: attack.membership(nbcfast.count(OTHERS, "ill", COUNTED), OTHERS, t, "ill").to_dict(),
    ),
    ("advise", "table"): (
        ["age", "job", "ill"],
        advised,
    ),
    ("advise", "on"): (
        ["age", "job", "ill"],
        lambda t: advised(OTHERS, on=t),
    ),
    ("canonical.leak", "table"): (
        [*COUNTED, "ill"],
        lambda t: canonical.leak(VIEWS, table=t, class_name="ill").to_dict(),
    ),
    ("canonical.leak_by", "table"): (
        ["job", "zone", "sex", "ill"],
        lambda t: {
            value: leak.to_dict()
            for value, leak in canonical.leak_by(t, "ill", "sex", columns=["job", "zone"]).items()
        },
    ),
    ("canonical.release", "tuples"): (
        COUNTED,
        lambda t: canonical.release(VIEWS, 8, tuples=t).certificate.to_dict(),
    ),
    ("canonical.release_by", "table"): (
        ["job", "zone", "sex", "ill"],
        lambda t: canonical.release_by(t, "ill", "sex", 8, columns=["job", "zone"]).certificate.to_dict(),
    ),
    ("closeness.est", "table"): (
        COUNTED,
        lambda t: closeness.est(VIEWS, {"no": "1/2", "yes": "1/2"}, 2, table=t).certificate.to_dict(),
    ),
    ("safety_transform", "table"): (
        COUNTED,
        lambda t: nbcfast.safety_transform(VIEWS, 8, table=t).certificate.to_dict(),
    ),
    ("dp.agreement", "table"): (COUNTED, agreed),
    ("skyline.group", "table"): (["zone", "sex", "ill"], lambda t: skyline.group(t, ["zone", "sex"], "ill")),
    ("skyline.group_parts", "table"): (
        ["zone", "sex", "ill"],
        lambda t: skyline.Groups.merge(skyline.group_parts(t, ["zone", "sex"], "ill", memory_limit="1MiB")),
    ),
    ("skyline.statistics", "table"): (
        ["zone", "sex", "ill"],
        lambda t: skyline.statistics(t, ["zone", "sex"], "ill", [0, 1], tasks=3),
    ),
    ("skyline.anonymize", "table"): (
        ["age", "zone", "job", "ill"],
        lambda t: kept(skyline.anonymize(t, ["age", "zone"], "ill", k=5, target="job")),
    ),
    ("publish", "table"): (
        [*COUNTED, "ill"],
        lambda t: published(nbcfast.publish(t, "ill", 8, columns=COUNTED)),
    ),
    ("publish", "holdout"): (
        [*COUNTED, "ill"],
        lambda t: published(nbcfast.publish(OTHERS, "ill", 8, columns=COUNTED, holdout=t)),
    ),
    ("publish", "tuples"): (
        COUNTED,
        lambda t: published(nbcfast.publish(OTHERS, "ill", 8, columns=COUNTED, tuples=t)),
    ),
    ("gate", "against"): ([*COUNTED, "ill"], lambda t, folder: gated(folder, ROWS, against=t)),
    ("gate", "holdout"): (
        [*COUNTED, "ill"],
        lambda t, folder: gated(folder, OTHERS, against=OTHERS, holdout=t),
    ),
    ("verify", "against"): ([*COUNTED, "ill"], verified),
    ("verify", "tuples"): (
        COUNTED,
        verified_list,
    ),
    ("response.cuts", "table"): (["age", "zone"], lambda t: response.cuts(t, ["age", "zone"], at="median")),
    ("response.estimate", "disguised"): (
        ["job", "zone", "ill"],
        lambda t: response.estimate(t, SCHEME, "ill", attributes=["job", "zone"]).to_dict(),
    ),
    ("response.accuracy", "disguised"): (
        ["job", "zone", "sex", "ill"],
        lambda t: response.accuracy(VIEWS, t, SCHEME, "ill"),
    ),
    ("response.simulate", "train"): (None, lambda t: simulated(chosen(t), OTHERS)),
    ("response.simulate", "test"): (None, lambda t: simulated(chosen(BOTH[1]), t)),
    ("streams.Window.add", "table"): (["job", "zone", "ill", "day"], followed),
    ("templates.disclose", "table"): (
        ["job", "age", "zone", "sex", "ill"],
        disclosed,
    ),
    ("templates.violations", "table"): (
        ["job", "zone", "age", "ill"],
        lambda t: [one.to_dict() for one in templates.violations(t, TEMPLATES)],
    ),
    ("count", "table"): ([*COUNTED, "ill"], lambda t: nbcfast.count(t, "ill", COUNTED)),
    ("published.evaluate", "table"): ([*COUNTED, "ill"], lambda t: evaluate(VIEWS, t, "ill")),
}

RELEASE = nbcfast.canonical.release(VIEWS, 8, class_name="ill")
STRATA = canonical.release_by(ROWS, "ill", "sex", 8, columns=["job", "zone"])

# What has something to say of each row.
REFUSES = {
    ("attack.definetti", "table"): (lambda t: attack.definetti(t, None, "ill"), "give the rows"),
    ("attack.definetti", "holdout"): (
        lambda t: attack.definetti(ROWS, ROWS["zone"], "ill", holdout=t),
        "give the rows",
    ),
    ("ledger.Ledger.check", "table"): (
        lambda t, folder: Ledger(folder / "ledger.jsonl").check(VIEWS, table=t, class_name="ill"),
        "in their order: give a Table",
    ),
    ("Release.codes", "table"): (RELEASE.codes, r"scorecard\(\)\.sql"),
    ("Release.predict", "table"): (RELEASE.predict, r"scorecard\(\)\.sql"),
    ("Release.predict_batches", "table"): (lambda t: list(RELEASE.predict_batches(t)), r"scorecard\(\)\.sql"),
    ("Release.predict_proba", "table"): (RELEASE.predict_proba, r"scorecard\(\)\.sql"),
    ("published.StratifiedRelease.predict", "table"): (STRATA.predict, r"scorecard\(\)\.sql"),
    ("published.StratifiedRelease.predict_batches", "table"): (
        lambda t: list(STRATA.predict_batches(t)),
        r"scorecard\(\)\.sql",
    ),
    ("published.StratifiedRelease.predict_proba", "table"): (STRATA.predict_proba, r"scorecard\(\)\.sql"),
    ("compare", "on"): (lambda t: nbcfast.compare(VIEWS, VIEWS, on=t), "on all tuples"),
    ("response.binarise", "table"): (response.binarise, "cut its columns in the engine"),
    ("response.pack", "table"): (response.pack, "disguise_frame"),
    ("response.disguise", "table"): (lambda t: response.disguise(t, SCHEME), "disguise_frame"),
    ("response.Classifier.predict", "table"): (lambda t: classifier().predict(t), r"scorecard\(\)\.sql"),
    ("response.Classifier.predict_proba", "table"): (
        lambda t: classifier().predict_proba(t),
        r"scorecard\(\)\.sql",
    ),
    ("response.Classifier.ranking", "table"): (lambda t: classifier().ranking(t), r"scorecard\(\)\.sql"),
    ("Viewset.order", "table"): (VIEWS.order, r"scorecard\(\)\.sql"),
    ("Viewset.predict", "table"): (VIEWS.predict, r"scorecard\(\)\.sql"),
    ("Viewset.tied", "table"): (VIEWS.tied, r"scorecard\(\)\.sql"),
}


def with_tables():
    """Each public function with an argument that may be any table: its name, and that of the argument."""
    found = {}
    for room in ["", *sorted(nbcfast._PUBLIC - {"reference", "release", "verify_release"})]:
        module = importlib.import_module(f"nbcfast.{room}" if room else "nbcfast")
        for name in getattr(module, "__all__", None) or [one for one in dir(module) if one[0] != "_"]:
            public = getattr(module, name)
            members = {"": public}
            if inspect.isclass(public):
                members = dict(inspect.getmembers(public, inspect.isfunction))
            for member, function in members.items():
                if not callable(function) or (member.startswith("_") and member != "__init__"):
                    continue
                where = ".".join(part for part in (room, name, member) if part)
                for parameter in inspect.signature(function).parameters.values():
                    if "AnyTable" in str(parameter.annotation):
                        key = function.__module__, function.__qualname__, parameter.name
                        found.setdefault(key, (where, parameter.name))
    return set(found.values())


def test_no_function_with_a_table_is_left_out():
    assert with_tables() == TAKES.keys() | REFUSES.keys()
    assert not TAKES.keys() & REFUSES.keys()


def called(function, table, folder):
    return function(table, folder) if "folder" in inspect.signature(function).parameters else function(table)


@pytest.mark.parametrize("verb", sorted(TAKES), ids=" ".join)
def test_a_frame_gives_what_all_rows_give(verb, tmp_path):
    needed, function = TAKES[verb]
    names = [*COUNTED, "ill"] if needed is None else needed
    table, frame = BOTH[0], Frame(pl.LazyFrame(ROWS))
    if needed is None:  # it takes all columns that there are
        table, frame = chosen(table), chosen(frame)
    of_rows = called(function, table, tmp_path / "rows")
    assert called(function, table.select(names).collapse(), tmp_path / "distinct") == of_rows
    assert called(function, frame, tmp_path / "frame") == of_rows


@pytest.mark.parametrize("verb", sorted(TAKES), ids=" ".join)
def test_no_other_columns_are_fetched(verb, tmp_path, monkeypatch):
    needed, function = TAKES[verb]
    if needed is None:
        pytest.skip("it takes all columns that there are")
    frame, asked = Frame(pl.LazyFrame(ROWS)), set()
    fetched = Frame.tables

    def noted(frame, sets):
        listed = [list(one) for one in sets]
        asked.update(*listed)
        return fetched(frame, listed)

    monkeypatch.setattr(Frame, "tables", noted)
    called(function, frame, tmp_path / "frame")
    assert asked <= {*needed}


@pytest.mark.parametrize("verb", sorted(REFUSES), ids=" ".join)
def test_what_is_said_of_each_row_names_what_to_do_with_a_frame(verb, tmp_path):
    function, instead = REFUSES[verb]
    with pytest.raises(TypeError, match=f"expected rows, got a Frame, .*{instead}"):
        called(function, Frame(pl.LazyFrame(ROWS)), tmp_path)


def test_each_view_may_be_a_frame_of_its_own():
    views = [("name", "zone"), ("zone", "job")]
    frames = [Frame(pl.LazyFrame({name: ROWS[name] for name in view})) for view in views]
    found = associations.risk(frames, views, "name", "job")
    assert found.by_join_value() == associations.risk(ROWS, views, "name", "job").by_join_value()
    with pytest.raises(ValueError, match=r"table\[1\]: expected a column of 'name', 'zone'; got 'job'"):
        associations.risk([frames[0], frames[0]], views, "name", "job")


def test_an_advised_domain_names_the_columns_that_are_left_out():
    rows = Frame(pl.LazyFrame(ROWS))
    found = nbcfast.advise(rows, "ill", MENU, max_found=None, max_one_class=None)
    assert found == nbcfast.advise(ROWS, "ill", MENU, max_found=None, max_one_class=None)
    assert found.beside == ("name", "zone", "sex", "day")


def test_weights_of_a_frame_are_its_own():
    rows = Frame(pl.LazyFrame({**ROWS, "n": [2] * len(ROWS["job"])}), weights="n")
    assert nbcfast.count(rows, "ill", COUNTED) == nbcfast.count(nbcfast.concat([BOTH[0]] * 2), "ill", COUNTED)
    for verb in (nbcfast.count, nbcfast.publish):
        with pytest.raises(ValueError, match="a Frame has its own weights; name a column when making it"):
            verb(rows, "ill", weights="n", **({"amplification": 8} if verb is nbcfast.publish else {}))


def test_blocks_of_so_many_rows_are_none_of_a_frame():
    window = streams.Window("ill", DAYS, rows=10, attributes=["job", "zone"])
    with pytest.raises(TypeError, match="blocks of so many rows take them in their order"):
        window.add(Frame(pl.LazyFrame(ROWS)))
    weighted = streams.Window("ill", DAYS, by="day", width="7 days", attributes=["job", "zone"], weights="n")
    with pytest.raises(
        ValueError,
        match=r"expected Frame\(\.\., weights='n'\), .* got one with weights=None",
    ):
        weighted.add(Frame(pl.LazyFrame(ROWS)))
