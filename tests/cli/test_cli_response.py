"""The command line of randomised response."""

import csv
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nbcfast
from nbcfast import response, verify_release
from nbcfast.response import KaryScheme, Scheme

pytest.importorskip("click")

from nbcfast.cli import main


@pytest.fixture
def survey(tmp_path):
    rng = np.random.default_rng(2)
    ill = rng.random(2000) < 0.3
    rows = zip(
        np.where(rng.random(2000) < 0.2 + 0.5 * ill, "yes", "no"),
        np.where(rng.random(2000) < 0.4, "yes", "no"),
        rng.choice(["north", "south", "west"], 2000),
        rng.integers(18, 90, 2000),
        np.where(ill, "ill", "well"),
        strict=True,
    )
    file = tmp_path / "survey.csv"
    with open(file, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["smokes", "drinks", "region", "age", "health"])
        writer.writerows(rows)
    return file


def run(capsys, *arguments):
    more = () if "--json" in arguments else ("--verbose",)
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in (*arguments, *more)])
    out, err = capsys.readouterr()
    return left.value.code, out, err


def test_disguise_verify_estimate(survey, tmp_path, capsys):
    out = tmp_path / "told"
    code, text, err = run(
        capsys,
        "response",
        "disguise",
        survey,
        "--theta",
        "0.8",
        "--groups",
        "smokes,drinks",
        "--keep",
        "health",
        "--out",
        out,
    )
    assert (code, err) == (0, "")
    assert "not epsilon-LDP for any epsilon: whether two columns agree is published" in text
    assert "told as they are  " in text
    assert sorted(path.name for path in out.iterdir()) == ["certificate.json", "scheme.json", "table.csv"]
    with open(out / "table.csv", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["smokes", "drinks", "health"]
    assert lines[1:] == sorted(lines[1:])
    assert len(lines) == 2001

    code, text, _ = run(capsys, "verify", out)
    assert code == 0
    assert "smokes, drinks: not epsilon-LDP for any epsilon" in text
    assert "told as they are: health" in text
    warnings = json.loads((out / "certificate.json").read_text())["warnings"]
    assert warnings[0] == "Told as they are: health."
    assert warnings[1].startswith(
        "smokes, drinks: not epsilon-LDP for any epsilon: whether two columns agree"
    )
    assert len(warnings) == 2
    assert verify_release.main([str(out)]) == 0
    assert "equivalence" not in capsys.readouterr().out

    told = nbcfast.load(out)
    assert isinstance(told, response.Disguised)
    assert (told.n_rows, told.seeded, told.untouched) == (2000, False, ("health",))
    expected = response.estimate(told, told.scheme, "health")
    code, text, _ = run(capsys, "response", "estimate", out, "--class", "health", "--json")
    found = json.loads(text)
    assert code == 0
    assert found["joint"] == expected.to_dict()["joint"]
    assert found["values"]["smokes"] == ["no", "yes"]
    # The same from the bare table and the scheme, and the scheme from its folder.
    for scheme in (["--scheme", out / "scheme.json"],):
        code, text, _ = run(
            capsys, "response", "estimate", out / "table.csv", *scheme, "--class", "health", "--json"
        )
        assert json.loads(text)["joint"] == found["joint"]
    # On what it learned from, the accuracy cannot be estimated; nor by another scheme than the answers'.
    for same in (out, out / "table.csv"):
        code, _, err = run(capsys, "response", "estimate", out, "--class", "health", "--holdout", same)
        assert code == 2
        assert "--holdout must be other answers than those learned from" in err
    again, other = tmp_path / "again", tmp_path / "other"
    arguments = ["--groups", "smokes,drinks", "--keep", "health"]
    assert run(capsys, "response", "disguise", survey, "--theta", "0.8", *arguments, "--out", again)[0] == 0
    assert run(capsys, "response", "disguise", survey, "--theta", "0.6", *arguments, "--out", other)[0] == 0
    code, text, _ = run(capsys, "response", "estimate", out, "--class", "health", "--holdout", again)
    assert code == 0
    assert " on the truth, from " in text
    assert "smokes = yes" in text
    code, _, err = run(capsys, "response", "estimate", out, "--class", "health", "--holdout", other)
    assert (code, "scheme: the answers were made by another" in err) == (2, True)
    code, _, err = run(capsys, "verify", out, "--against", survey)
    assert (code, "--against is for releases: kind 'disguised'" in err) == (2, True)


def test_a_coin_for_each_column_and_a_simulation(survey, tmp_path, capsys):
    arguments = ["--theta", "4/5", "--groups", "smokes,drinks", "--each", "--seed", "7", "--json"]
    files = []
    for name in ("one", "two"):
        code, text, _ = run(capsys, "response", "disguise", survey, *arguments, "--out", tmp_path / name)
        found = json.loads(text)
        assert code == 0
        assert (found["seeded"], found["privacy"]["is_ldp"], found["kept"]) == (True, True, [])
        assert found["privacy"]["groups"][0]["odds"] == "4"
        files.append([(tmp_path / name / file).read_bytes() for file in ("table.csv", "certificate.json")])
    assert files[0] == files[1]
    code, text, _ = run(capsys, "verify", tmp_path / "one")
    assert code == 1
    assert "a simulation: its coins came from a seed" in text
    assert nbcfast.load(tmp_path / "one").seeded


def test_kary_and_binarised_columns(survey, tmp_path, capsys, monkeypatch):
    code, _, _ = run(
        capsys,
        "response",
        "disguise",
        survey,
        "--k-ary",
        "--theta",
        "0.6",
        "--groups",
        "region;health",
        "--out",
        tmp_path / "k",
    )
    assert code == 0
    told = nbcfast.load(tmp_path / "k")
    assert isinstance(told.scheme, KaryScheme)
    assert told.domain("region") == ("north", "south", "west")
    assert nbcfast.verify(tmp_path / "k").ok
    code, _, _ = run(
        capsys, "response", "disguise", survey, "--binarise", "median", "--theta", "0.9",
        "--groups", "age,drinks", "--keep", "health", "--out", tmp_path / "b",
    )  # fmt: skip
    assert code == 0
    assert nbcfast.load(tmp_path / "b").domain("age") == (0, 1)
    cuts = json.loads((tmp_path / "b" / "cuts.json").read_text())
    assert cuts["drinks"] == {"point": "0", "values": ["no", "yes"]}
    table = nbcfast.read_csv(survey)
    points = response.cuts(table, ["age", "drinks"], at="median")
    assert {name: response.Cut.from_dict(cut) for name, cut in cuts.items()} == points
    arguments = ["--theta", "0.9", "--groups", "age,drinks", "--keep", "health"]
    there = ["--cuts", tmp_path / "b" / "cuts.json"]
    code, text, _ = run(capsys, "response", "disguise", survey, *arguments, *there, "--out", tmp_path / "c")
    assert code == 0
    assert f"1 is above        age {points['age'].point}, drinks (1 is yes)" in text
    code, text, _ = run(
        capsys, "response", "disguise", survey, *arguments, *there, "--out", tmp_path / "d", "--json"
    )
    assert json.loads(text)["cuts"] == cuts
    likewise = nbcfast.load(tmp_path / "c")
    assert (likewise.scheme, likewise.domain("drinks")) == (nbcfast.load(tmp_path / "b").scheme, (0, 1))
    for content, message in [("[]", "not cuts"), ("{}", "none of the columns"), ('{"age": {}}', "not cuts")]:
        (tmp_path / "bad.json").write_text(content)
        bad = ["--cuts", tmp_path / "bad.json", "--out", tmp_path / "e"]
        code, _, err = run(capsys, "response", "disguise", survey, *arguments, *bad)
        assert (code, message in err) == (2, True), err
    long = {**cuts, "age": {"point": "7" * 39, "values": []}}
    (tmp_path / "bad.json").write_text(json.dumps(long))
    with monkeypatch.context() as patch:
        patch.setattr(response, "disguise", None)  # no coin is thrown for what is not saved
        bad = ["--cuts", tmp_path / "bad.json", "--out", tmp_path / "e"]
        code, _, err = run(capsys, "response", "disguise", survey, *arguments, *bad)
    assert (code, "the point of 'age', expected up to 38 digits besides zeros" in err) == (2, True), err
    assert not (tmp_path / "e").exists()
    code, _, err = run(
        capsys, "response", "disguise", survey, *arguments, *there, "--binarise", "median", "--out", "e"
    )
    assert (code, "--cuts takes the place of --binarise" in err) == (2, True)
    code, _, _ = run(
        capsys,
        "response",
        "disguise",
        survey,
        "--scheme",
        tmp_path / "k" / "scheme.json",
        "--out",
        tmp_path / "again",
    )
    assert code == 0
    assert nbcfast.load(tmp_path / "again").scheme == told.scheme


def test_plan(tmp_path, capsys):
    code, text, _ = run(
        capsys, "response", "plan", "--theta", "0.8", "--groups", "a,b", "--error", "0.01", "--json"
    )
    assert code == 0
    assert json.loads(text)["n"] == 6945
    Scheme("0.8", [["a", "b"]]).save(tmp_path / "s.json")
    code, text, _ = run(capsys, "response", "plan", "--scheme", tmp_path / "s.json", "--n", "10000")
    assert code == 0
    assert "at most 0.00833" in text
    names = ",".join(f"a{i}" for i in range(400))
    arguments = ["--theta", "0.51", "--groups", names, "--each", "--n", "1000"]
    code, text, _ = run(capsys, "response", "plan", *arguments)
    assert (code, "of an accuracy" in text, "at most inf (useless)" in text) == (0, True, True)
    code, text, _ = run(capsys, "response", "plan", *arguments, "--json")
    assert json.loads(text, parse_constant=pytest.fail)["accuracy_error"] is None
    for arguments, message in [
        (["--theta", "0.8"], "expected --theta and --groups, or --scheme FILE"),
        (["--theta", "0.8", "--groups", "a"], "expected either --n, or --error"),
        (["--theta", "0.5", "--groups", "a", "--n", "5"], "theta must not be 1/2"),
        (["--theta", "0.8", "--groups", "a,,b", "--n", "5"], "--groups must be names with commas"),
    ]:
        code, _, err = run(capsys, "response", "plan", *arguments)
        assert code == 2
        assert message in err


def test_bad_input(survey, tmp_path, capsys):
    out = ["--out", tmp_path / "x"]
    for arguments, message in [
        (["--theta", "0.5", "--groups", "smokes"], "theta must not be 1/2"),
        (["--theta", "1.2", "--groups", "smokes"], "theta must be in [0, 1], got 1.2"),
        (["--theta", "0.8", "--groups", "smokes;smokes"], "groups must not overlap, got 'smokes' twice"),
        (["--theta", "0.8", "--groups", "age"], "column 'age' must have two values in a binary scheme"),
        (["--theta", "0.8", "--groups", "nothing"], "nothing"),
        (["--theta", "0.8"], "expected --theta and --groups, or --scheme FILE"),
        (["--theta", "0.8", "--groups", "smokes", "--lie", "tuple"], "--lie tuple goes with --k-ary"),
        (["--theta", "0.8", "--groups", "smokes", "--keep", "smokes"], "both name 'smokes'"),
        (["--theta", "0.8", "--groups", "smokes", "--weights", "age"], "--weights: each record needs coins"),
    ]:
        code, _, err = run(capsys, "response", "disguise", survey, *arguments, *out)
        assert code == 2, arguments
        assert message in err
        assert not (tmp_path / "x").exists()
    before = survey.read_bytes()
    for there in (tmp_path, survey):  # a private table is never written over
        code, _, err = run(
            capsys, "response", "disguise", survey, "--theta", "0.8", "--groups", "smokes", "--out", there
        )
        said = "--out must not write over" if there == survey else "--out must be a folder of its own"
        assert (code, said in err) == (2, True)
    assert survey.read_bytes() == before
    code, _, err = run(
        capsys, "response", "disguise", survey, "--theta", "0.8", "--groups", "smokes", *out, "--seed", "-1"
    )
    assert (code, "--seed" in err) == (2, True)
    code, _, err = run(capsys, "response", "estimate", survey, "--class", "health")
    assert (code, "--scheme FILE must say how the answers of a table were made, got none" in err) == (2, True)
    code, _, err = run(capsys, "response", "estimate", tmp_path / "nothing", "--class", "health")
    assert (code, "nothing: No such file" in err) == (2, True)


@pytest.fixture
def told(tmp_path):
    table = nbcfast.Table({"a": ["x", "y"] * 20, "b": [1, 2, 3, None] * 10, "c": [0, 1] * 20})
    scheme = KaryScheme("0.7", {"a": ["x", "y"], "b": [1, 2, 3, None]})
    answers = response.disguise(table, scheme)
    answers.save(tmp_path / "told")
    return answers, tmp_path / "told"


def test_answers_survive_their_files(told):
    answers, folder = told
    found = nbcfast.load(folder)
    assert found.collapse() == answers.collapse()
    assert (found.scheme, found.seeded, found.names) == (answers.scheme, False, answers.names)
    report = nbcfast.verify(folder)
    assert report.ok
    assert report.disguised.collapse() == answers.collapse()
    assert report.release is None
    with pytest.raises(TypeError, match="kind 'disguised' is checked from its own files"):
        nbcfast.verify(folder, answers)
    done = subprocess.run(
        [sys.executable, "-S", verify_release.__file__, str(folder)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_attack_takes_no_answers(told, capsys):
    code, _, err = run(capsys, "attack", told[1])
    assert code == 2
    assert "expected a release of `publish`, got a Disguised" in err


def changed(folder, **fields):
    """The certificate with other fields and a sha256 that matches."""
    file = folder / "certificate.json"
    document = json.loads(file.read_text())
    document.update(fields)
    document["sha256"] = verify_release.digest(document)
    file.write_text(verify_release.canonical_json(document) + "\n")


def test_what_verification_finds(told, capsys):
    _, folder = told
    original = {path: path.read_bytes() for path in folder.iterdir()}
    scheme = json.loads((folder / "certificate.json").read_text())["scheme"]
    columns = json.loads((folder / "certificate.json").read_text())["columns"]

    def judged():
        report = nbcfast.verify(folder)
        assert verify_release.main([str(folder)]) == (0 if report.ok else 1)
        text = capsys.readouterr().out + repr(report)
        with pytest.raises(ValueError, match=r"certificate.json: "):
            nbcfast.load(folder)
        assert not report.ok
        return text

    def at(theta):
        return {**scheme, "groups": [{**scheme["groups"][0], "theta": theta}, scheme["groups"][1]]}

    more = {**scheme, "groups": [{**scheme["groups"][0], "theta": "3/5"}, scheme["groups"][1]]}
    wide = {f"c{i}": scheme["domains"]["b"] for i in range(31)}  # of 4 values each
    for fields, message in [
        ({"privacy": ["2/1", "7/1"]}, 'the certificate says ["2/1","7/1"], and of its scheme this holds'),
        ({"scheme": more}, "and of its scheme this holds"),
        ({"rows": 41}, "; the certificate says 41 people"),
        ({"columns": columns[::-1]}, "expected the columns"),
        ({"columns": columns[:2]}, "expected the columns"),
        ({"seeded": "no"}, "field 'seeded': expected true or false"),
        ({"method": "other"}, "field 'method'"),
        ({"extra": 1}, "field 'extra' is unknown"),
        ({"scheme": {**scheme, "lie": "none"}}, "expected lie 'each' or 'tuple'"),
        ({"scheme": {**scheme, "groups": []}}, "expected groups"),
        ({"scheme": {**scheme, "domains": {}}}, "expected the domain of each of its columns"),
        ({"table_sha256": "0" * 64}, "the sha256 of table.csv does not match"),
        ({"scheme": {**scheme, "format": True}}, "expected a binary or k-ary scheme"),
        ({"scheme": at("1/2")}, "expected a theta at which answers tell something"),
        ({"scheme": at("5000000001/10000000000")}, "expected a theta at which answers tell something"),
        ({"scheme": at("1/0x1000000000000000000")}, "with a denominator below 2^63"),
        (
            {"scheme": {**scheme, "domains": wide, "groups": [{"columns": list(wide), "theta": "7/10"}]}},
            """field 'scheme': expected fewer than 2^62 tuples of values, got ["c0","c1",""",
        ),
        ({"scheme": at("0.7")}, 'expected a rational "num/den"'),
        ({"scheme": at("14/20")}, 'expected a rational "num/den"'),
        ({"warnings": []}, "told as they are: c; the certificate says in words what its scheme does not"),
        ({"warnings": ["All columns are epsilon-LDP."]}, "says in words what its scheme does not"),
        ({"notes": ["Nothing is published."]}, "says in words what its scheme does not"),
    ]:
        changed(folder, **fields)
        assert message in judged(), fields
        for path, data in original.items():
            path.write_bytes(data)
    table = folder / "table.csv"
    lines = original[table].decode().splitlines()

    for text, message in [
        ("\n".join([lines[0], *lines[:0:-1]]) + "\n", "is not in order"),
        ("\n".join([*lines[:-1], "z,1,0"]) + "\n", "'z' is no value of 'a'"),
        ("\n".join([*lines[:-1], "x"]) + "\n", "has 1 fields, expected 3"),
    ]:
        table.write_text(text)
        changed(folder, table_sha256=hashlib.sha256(text.encode()).hexdigest())
        assert message in judged()
        for path, data in original.items():
            path.write_bytes(data)
    table.write_bytes(original[table] + b"x,1,0\n")
    assert "the sha256 of table.csv does not match" in judged()
    table.unlink()
    assert "No such file" in judged()
    table.write_bytes(original[table])
    file = folder / "certificate.json"
    file.write_bytes(original[file].replace(b'"7/10"', b'"9/10"'))
    assert "sha256 does not match" in judged()


def test_a_failed_save_leaves_nothing(tmp_path):
    scheme = KaryScheme("0.7", {"a": ["", None]})
    told = response.disguise({"a": ["", None] * 5}, scheme)
    with pytest.raises(ValueError, match="CSV cannot tell the empty text from a null"):
        told.save(tmp_path / "out")
    assert not Path(tmp_path / "out").exists()
    empty = response.disguise(nbcfast.Table({"a": []}, domains={"a": [0, 1]}), Scheme("0.8", [["a"]]))
    with pytest.raises(ValueError, match="not saved: no rows"):
        empty.save(tmp_path / "out")


@pytest.mark.parametrize(
    ("scheme", "exposed"),
    [
        (Scheme(1, [["job", "ok"]]), ("job", "ok")),
        (Scheme(0, [["job"]]), ("job",)),
        (Scheme(["0.9", 0], [["job"], ["ok"]]), ("ok",)),
        (KaryScheme(1, {"job": ["a", "b", "c"]}), ("job",)),
        (KaryScheme(0, {"job": ["a", "b"]}), ("job",)),
        (KaryScheme(0, {"job": ["a", "b"], "ok": [0, 1]}, groups=[["job", "ok"]]), ("job", "ok")),
        (KaryScheme(0, {"job": ["a", "b"], "ok": [0, 1]}, groups=[["job", "ok"]], lie="tuple"), ()),
        (KaryScheme(0, {"job": ["a", "b", "c"]}), ()),
        (Scheme("0.99", [["job"]]), ()),
    ],
)
def test_a_scheme_that_hides_nothing_is_said_by_both_verifiers(tmp_path, capsys, scheme, exposed):
    assert scheme.exposed == exposed
    people = {"job": ["a", "b"] * 9, "ok": [0, 1] * 9}
    told = response.disguise(people, scheme)
    told.save(tmp_path / "told")
    found = nbcfast.verify(tmp_path / "told")
    check = next(check for check in found.checks if check.name == "hidden")
    assert check.passed is not bool(exposed)
    assert found.ok is not bool(exposed)
    if exposed:
        assert f"nothing is hidden of {', '.join(exposed)}: at this theta the answers say the" in check.text
        # The lies are known: who reverses them has the truth.
        truth = nbcfast.Table(people).codes(exposed[0]) ^ (min(scheme.theta) == 0)
        assert (np.sort(told.codes(exposed[0])) == np.sort(truth)).all()
    assert verify_release.main([str(tmp_path / "told")]) == int(bool(exposed))
    assert f"  hidden         {check.text}" in capsys.readouterr().out
    assert isinstance(nbcfast.load(tmp_path / "told"), response.Disguised)


@pytest.mark.parametrize("theta", ["1", "0", "0.8,1"])
def test_answers_that_hide_nothing_are_not_written(survey, tmp_path, capsys, theta):
    groups = "smokes,drinks" if "," not in theta else "smokes;drinks"
    scheme = ["--theta", theta, "--groups", groups]
    code, out, err = run(capsys, "response", "disguise", survey, *scheme, "--out", tmp_path / "told")
    columns = "drinks" if "," in theta else "smokes, drinks"
    assert (code, err) == (1, "")
    assert f"  the scheme hides nothing of {columns}; --keep tells columns as they are\n" in out
    assert not (tmp_path / "told").exists()
    for options in ([], ["--json"]):
        code, out, err = run(capsys, "response", "plan", *scheme, "--n", 100, *options)
        assert (code, err) == (1, "")
        assert "not hidden at all: theta = " in out


def test_what_bounds_nothing_is_called_unbounded(in_full):
    plan = ("response", "plan", "--groups", "a,b", "--theta", "0.8", "--n", "100")
    _, out, _ = in_full(*plan)
    assert re.search(r"a, b +0\.8 +unbounded\n", out)
    assert "unbounded" not in in_full(*plan, "--each")[1]


def test_epsilon_is_never_rounded_down(in_full):
    _, out, _ = in_full(
        "response", "plan", "--theta", "0.875", "--groups", "a,b", "--each", "--error", "0.02"
    )
    assert "0.875    1.9460\n" in out  # ln 7 is 1.94591..
    assert out.startswith("1,112 respondents, epsilon = 3.8919   ")
    assert "all together  epsilon = 3.8919\n" in out
    said = "by all answers odds move by at most a factor of 49: from 1 in 2 to at most 98 in 100"
    assert f"  ok  about one person  {said}" in out
