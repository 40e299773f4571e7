"""`nbcfast.publish` in Python: what the command publishes, byte by byte, and what it says besides."""

import dataclasses
import json

import frozen
import pytest

import nbcfast
from nbcfast import closeness
from nbcfast.publishing import Publication
from nbcfast.views.quality import evaluate

pytest.importorskip("rich")
pytest.importorskip("pyarrow")
pytest.importorskip("scipy")

THREE = ["age", "glucose", "relatives"]
TWO = ["age", "relatives"]
PATIENTS = ("patients.csv", "diagnosis", 4)
SAFETY = "safetytransform"

# Name of a frozen command -> the same in Python. tests/support/frozen.py has the commands.
CALLS = {
    "publish": (PATIENTS, {}),
    "publish-breach": (("patients.csv", "diagnosis"), {"breach": (0.5, "0.8")}),
    "publish-bits": (PATIENTS, {"columns": THREE, "bits": 3}),
    "publish-declared": (("small.csv", "diagnosis", "3/2"), {"domains": "menu.json"}),
    "publish-words": (
        ("small.csv", "diagnosis", "3/2"),
        {
            "domains": {
                "age": {"bin": "30,60"},
                "glucose": {"hierarchy": "sets.csv", "level": 1},
                "sex": {"out": True},
            }
        },
    ),
    "publish-tuples": (PATIENTS, {"columns": ["glucose", "relatives"], "tuples": "pairs.csv"}),
    "publish-rows": (PATIENTS, {"columns": THREE, "rows": 60_000}),
    "publish-differing": (PATIENTS, {"columns": THREE, "rows": 100, "allow_differences": True}),
    "publish-proven": (PATIENTS, {"columns": THREE, "rows": "proven", "method": SAFETY}),
    "publish-transform": (PATIENTS, {"columns": THREE, "method": SAFETY}),
    "publish-worlds": (PATIENTS, {"columns": THREE, "attacker": "worlds", "gauge": False, "method": SAFETY}),
    "publish-order": (
        ("patients.csv", "glucose", 8),
        {"columns": TWO, "preserve": "order", "method": SAFETY},
    ),
    "publish-classes": (("patients.csv", "glucose", 8), {"columns": TWO}),
    "publish-kinds": (("kinds.csv", "label", 6), {"weights": "n", "domains": "coarse.json"}),
    "publish-kept": (PATIENTS, {"columns": ["age", "bmi", "glucose"], "domains": "sets.json"}),
    "publish-halves": (("members.csv", "diagnosis", 4), {"holdout": "others.csv"}),
}
KEPT = {"publish-kept", "publish-words"}  # the limits: the others accept whatever the answers give away
# How the command says what Python says.
TYPED = {
    "gauge=False": "--no-gauge",
    "allow_differences=True": "--allow-differences",
    # And no other preserve='label': remarks of a release are Python's wherever they are read.
    "With preserve='label'": "With --preserve label",
    "classes preserve='label'": "classes --preserve label",
    "rows='proven'": "--rows proven",
    "rows=R": "--rows R",
    "with columns.": "with --columns.",
}


def typed(text):
    """A text of Python in the words of the command."""
    for python, option in TYPED.items():
        text = text.replace(python, option)
    return text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files of the frozen commands, and nothing else."""
    frozen.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command_of(name):
    """The folder that a frozen command writes, and the object that it prints with --json."""
    line, text = frozen.stored()[f"{name}.json"].split("\n", 1)
    printed = text[: text.rindex("leaves with")]
    return line.split("--out ")[1].split()[0], json.loads(printed)


@pytest.mark.parametrize("name", CALLS)
def test_it_publishes_what_the_command_does(name, folder):
    positional, named = CALLS[name]
    out, printed = command_of(name)
    made = nbcfast.publish(*positional, **named, accept_answers=name not in KEPT)
    assert made.files == ()
    saved = made.save(out)
    stored = frozen.stored()[f"written/{out.removeprefix('json-')}/certificate.json"]
    assert (folder / out / "certificate.json").read_text(encoding="utf-8") == stored
    printed.pop("summary")  # tests/reports
    entries = json.loads(frozen.steady(json.dumps(saved.to_dict())))
    entries["warnings"] = [typed(text) for text in entries["warnings"]]
    entries["why"] = entries["why"] and typed(entries["why"])
    assert entries == printed
    assert list(entries) == list(printed)


def test_every_command_that_publishes_is_here():
    published = {name for name in frozen.COMMANDS if name.startswith("publish")}
    nothing = {"publish-few-rows", "publish-refused", "publish-names"}  # is written: see below
    elsewhere = {"publish-strata", "publish-strata-refused", "publish-advised", "publish-menu"}
    elsewhere |= {"publish-flat"}  # test_one_answer.py
    elsewhere |= {"publish-ledger", "publish-dry"}  # tests/ledger and tests/cli/test_cli_ledger.py
    elsewhere |= {"publish-policy"}  # tests/cli/test_cli_policy.py
    elsewhere |= {name for name in published if name.startswith("publish-noise")}  # test_publish_noise.py
    assert published - set(CALLS) == nothing | elsewhere


def test_what_nothing_meets_is_infeasible_and_says_what_can_be_had(folder):
    before = sorted(folder.iterdir())
    with pytest.raises(nbcfast.Infeasible, match="40 rows") as short:
        nbcfast.publish(*PATIENTS, columns=THREE, rows=40)
    assert isinstance(short.value.best["release"], nbcfast.Release)
    assert sorted(folder.iterdir()) == before


def test_nothing_is_written_unless_it_is_saved(folder):
    before = sorted(folder.rglob("*"))
    made = nbcfast.publish(*PATIENTS, columns=THREE, holdout="others.csv", accept_answers=True)
    made.to_dict()
    repr(made)
    assert sorted(folder.rglob("*")) == before
    saved = made.save("out", dataset="synthetic.csv")
    assert {path.name for path in set(folder.iterdir()) - set(before)} == {"out", "synthetic.csv"}
    assert [tuple(file) for file in saved.files] == [
        ("out/certificate.json", (folder / "out" / "certificate.json").stat().st_size),
        ("synthetic.csv", (folder / "synthetic.csv").stat().st_size),
    ]
    assert [path.name for path in (folder / "out").iterdir()] == ["certificate.json"]
    assert nbcfast.verify("out", against="patients.csv", class_name="diagnosis").ok
    with pytest.raises(FileExistsError):
        made.save("out")
    assert made.save("out", overwrite=True).files == saved.files[:1]


def test_the_release_saves_itself_too(folder):
    made = nbcfast.publish(*PATIENTS, columns=THREE, accept_answers=True)
    made.release.save("by-release")
    made.save("by-publication")
    one, other = (folder / name / "certificate.json" for name in ("by-release", "by-publication"))
    assert one.read_bytes() == other.read_bytes()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    frozen.prepare(folder)
    return nbcfast.publish(folder / "members.csv", "diagnosis", 4, columns=["glucose", "relatives"])


def test_a_publication_is_frozen(made):
    for field in dataclasses.fields(made):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, field.name, None)
    assert isinstance(made.warnings, tuple)


def test_a_publication_equals_itself_alone_and_is_in_sets(made):
    other = dataclasses.replace(made)
    assert made == made
    assert made != other
    assert {made, other, made} == {other, made}
    assert made.adversaries != dataclasses.replace(
        made.adversaries, inversion=dataclasses.replace(made.adversaries.inversion)
    )


def test_what_it_holds_goes_through_json(made):
    assert isinstance(made, Publication)
    assert json.loads(json.dumps(made.to_dict(), allow_nan=False)) == made.to_dict()


def test_its_text_has_nothing_but_numbers_that_are_printed(made):
    before, after = made.before.lambda_text, made.after.lambda_text
    assert repr(made) == (
        f"Publication({made.release!r}; Lambda {before} before, {after} after; "
        f"{len(made.shows)} findings refuse it; {len(made.minded) + warned(made)} to mind)"
    )
    assert warned(made) > 0


def warned(made):
    return sum(finding.state == "warned" for finding in made.findings)


def test_before_and_after_are_judged_on_the_private_table(made):
    table = nbcfast.read_csv(made.source).select(["glucose", "relatives", "diagnosis"])
    views = nbcfast.count(table, "diagnosis")
    assert made.before.amplification == nbcfast.safety.amplification(views)
    assert made.after.amplification == nbcfast.safety.amplification(made.release.views)
    assert (made.before.rows, made.after.rows) == (views.n_rows, made.release.views.n_rows)
    assert made.before.quality == evaluate(views, table, "diagnosis")
    assert made.after.quality == evaluate(made.release.views, table, "diagnosis")
    assert made.before.quality.correct == made.after.quality.correct  # the same class for every row
    of_one_class = [finding for finding in made.shows if finding.about == "values of one class"]
    assert len(of_one_class) == made.leak.one_class_values == 2
    told = {*made.warnings, *(finding.text for finding in made.findings)}
    assert told >= {*made.release.certificate.warnings, *made.release.certificate.notes}


PRIOR = {"healthy": "0.6", "diabetes": "0.4"}


class TestNearAPrior:
    """With a prior: EST, which keeps odds within a factor of those of the prior."""

    def test_it_is_what_closeness_makes(self, folder):
        made = nbcfast.publish("members.csv", "diagnosis", 5, prior=PRIOR, accept_answers=True)
        table = nbcfast.read_csv("members.csv")
        views = nbcfast.count(table, "diagnosis")
        near = closeness.est(views, PRIOR, 5, table=table, class_name="diagnosis")
        assert made.release == dataclasses.replace(near, certificate=near.certificate.accepting())
        assert nbcfast.verify(made.save("close").files[0].path, against=views).ok
        entries = made.to_dict()
        assert (entries["method"], entries["r"]) == ("est", "5/1")
        assert {entry["class"]: entry["probability"] for entry in entries["prior"]} == {
            "healthy": "3/5",
            "diabetes": "2/5",
        }
        assert made.choice.text == "est (as asked): from powers of the counts and of the prior"
        assert made.leak is not None  # the answers are as they were, whatever publishes them

    def test_it_is_no_other_method(self, folder):
        with pytest.raises(ValueError, match=r"^prior goes with method='est', not with method='canonical'$"):
            nbcfast.publish("members.csv", "diagnosis", 5, prior=PRIOR, method="canonical")
        with pytest.raises(ValueError, match=r"^bits goes with method='canonical', not with prior$"):
            nbcfast.publish("members.csv", "diagnosis", 5, prior=PRIOR, bits=3)
        with pytest.raises(ValueError, match=r"^method='est' goes with prior, got none$"):
            nbcfast.publish("members.csv", "diagnosis", 5, method="est")
        with pytest.raises(ValueError, match="class 'diabetes' is missing"):
            nbcfast.publish("members.csv", "diagnosis", 5, prior={"healthy": 1})
