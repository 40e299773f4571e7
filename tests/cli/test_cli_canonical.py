"""`nbcfast publish`, canonical: the choice of the method, declared domains, budgets, lists, the meter."""

import json
import re
import subprocess
import sys
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest
from accepting import ANYHOW

import nbcfast
from nbcfast import verify_release
from nbcfast.verification.load import load

PATIENTS = Path(__file__).resolve().parents[2] / "examples" / "patients.csv"

TABLE = "age,sex,ill\n" + "".join(
    f"{age},{'fm'[age % 2]},{'yes' if age % 7 < age // 15 else 'no'}\n" for age in range(20, 90)
)


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture
def domain(tmp_path):
    path = tmp_path / "domain.json"
    declared = {"age": {"edges": [0, 40, 65, None]}, "sex": ["f", "m", "x"], "ill": ["no", "yes"]}
    path.write_text(json.dumps(declared), encoding="utf-8")
    return path


@pytest.fixture
def publish(run, small, tmp_path):
    """Publish `small`: what --json says."""

    def publish(*arguments, code=0):
        out = ("--class", "ill", "--amplification", 4, "--out", tmp_path / "out", "--json", "--overwrite")
        left, printed, errors = run(*ANYHOW, small, *out, *arguments)
        assert left == code, errors
        return json.loads(printed) if code == 0 else errors

    return publish


def test_canonical_is_the_default_and_says_so(in_full, tmp_path):
    out = tmp_path / "out"
    arguments = (*ANYHOW, PATIENTS, "--class", "diagnosis", "--amplification", 4, "--out", out)
    code, printed, errors = in_full(*arguments)
    assert (code, errors) == (0, "")
    assert (
        "method           canonical (by default): from the classifier's answers and nothing else" in printed
    )
    assert "what the answers give away (for you alone)" in printed
    assert "bits a weight" in printed
    assert "values whose counts public totals and answers give" in printed
    assert "people whose class shows if all others are known" in printed
    assert "values of one class only" in printed
    assert "Find the best domain that keeps the limits, and publish on it." in printed
    assert "The values of age, sex, bmi, smoking, blood_pressure, 3 more and the class come from" in printed
    assert "no other release that is equivalent on the values that occur reveals less" in printed
    made = load(out)
    assert made.certificate.method == "canonical"
    assert len(made.certificate.canonical.undeclared) == 9
    found = json.loads(in_full(*arguments, "--method", "canonical", "--json", "--overwrite")[1])
    assert found["method"] == "canonical"
    assert found["leak"]["high"] is True
    assert (found["leak"]["sampled"], found["leak"]["exact"]) == (5000, True)
    assert found["identical"] is True
    assert load(out) == made


def test_what_is_not_canonical_says_why(publish):
    found = publish("--no-gauge")
    assert (found["method"], found["why"]) == ("safetytransform", "--no-gauge goes with it alone")
    assert found["leak"]["tuples"] == 140  # powers of the counts give the same answers
    assert publish("--rows", 150, "--allow-differences")["why"] == "--allow-differences goes with it alone"
    found = publish("--method", "safetytransform")
    assert (found["method"], found["why"], found["preserve"]) == ("safetytransform", None, "order")
    assert publish()["preserve"] == "label"


def test_a_domain_that_is_too_large_is_published_the_other_way_and_refused_if_asked(
    in_full, small, tmp_path, monkeypatch
):
    import nbcfast.canonical.publish as module

    # The function shares the name of the package's attribute, not of the module.
    monkeypatch.setattr(sys.modules[module.__name__], "MOST_TUPLES", 10)
    arguments = (*ANYHOW, small, "--class", "ill", "--amplification", 4, "--out", tmp_path / "out")
    code, printed, _ = in_full(*arguments)
    assert code == 0
    assert (
        "safetytransform (canonical does not apply: it reaches 10 tuples, and the domain has 140): "
        in printed
    )
    assert load(tmp_path / "out").certificate.method == "safetytransform"
    code, printed, errors = in_full(*arguments, "--method", "canonical", "--overwrite")
    assert (code, errors) == (1, "")
    assert "not to be had  no canonical release: it reaches 10 tuples, and the domain has 140\n" in printed


def test_a_declared_domain(in_full, publish, small, domain, tmp_path):
    found = publish("--domain", domain)
    assert found["tuples"] == 9
    assert not any("come from the rows" in text for text in found["warnings"])
    made = load(tmp_path / "out")
    assert made.certificate.canonical.undeclared == ()
    assert made.views.domain("sex") == ("f", "m", "x")
    assert [str(value) for value in made.views.domain("age")] == ["[0, 40)", "[40, 65)", "[65, inf)"]
    code, printed, _ = in_full("verify", tmp_path / "out", "--against", small)
    assert code == 0
    assert "ok  scorecard" in printed
    assert "ok  equivalence    the best class is the same on all 9 tuples" in printed
    script = subprocess.run(
        [sys.executable, "-I", "-S", verify_release.__file__, str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert script.returncode == 3, script.stdout


def test_a_table_outside_its_declared_domain_is_refused(run, small, domain, tmp_path):
    small.write_text(TABLE + "200,q,no\n", encoding="utf-8")
    arguments = (*ANYHOW, small, "--class", "ill", "--amplification", 4, "--out", tmp_path / "out")
    code, _, errors = run(*arguments, "--domain", domain)
    assert code == 2
    assert errors.endswith("domain.json: column 'sex': value 'q' is not in its declared domain of 3 values\n")


def test_values_from_rows_are_said_by_either_method(run, small, domain, tmp_path):
    arguments = (*ANYHOW, small, "--class", "ill", "--amplification", 4, "--method")
    for method in ("canonical", "safetytransform"):
        out = tmp_path / method
        code, printed, _ = run(*arguments, method, "--out", out)
        assert (code, printed.count("come from the rows and were not declared")) == (0, 1)
        assert "!   not declared " in printed
        code, printed, _ = run(*arguments, method, "--out", out, "--overwrite", "--domain", domain)
        assert (code, "come from the rows" in printed) == (0, False)


def test_a_budget_of_bits_says_how_many_tuples_change(in_full, tmp_path):
    out = tmp_path / "out"
    arguments = (*ANYHOW, PATIENTS, "--class", "diagnosis", "--amplification", 4, "--out", out)
    code, printed, _ = in_full(*arguments, "--bits", 4)
    assert code == 0
    assert "the answers before --bits rounded them" in printed
    changed = load(out).certificate.differing_tuples
    assert changed > 0
    assert load(out).certificate.canonical.bits == 4
    assert f"not identical: the best class differs on {changed:,} of 41,472 tuples" in printed
    assert f"{changed:,} tuples have another best class than in the private views." in printed
    code, printed, _ = in_full("verify", out, "--against", PATIENTS)
    assert code == 0
    assert "as stated" in printed


def test_a_public_list_of_tuples(in_full, publish, small, tmp_path):
    listed = tmp_path / "listed.csv"
    listed.write_text("sex,age\nf,20\nm,21\nf,88\n", encoding="utf-8")
    found = publish("--tuples", listed)
    assert found["leak"] is None
    assert found["differing_tuples"] is None
    made = load(tmp_path / "out")
    assert made.certificate.canonical.listed[0] == 3
    private = nbcfast.count(nbcfast.read_csv(small), "ill")
    table = nbcfast.read_csv(listed)
    assert made.predict(table).tolist() == private.predict(table).tolist()
    assert Fraction(found["after"]["amplification"]) <= 4
    code, printed, _ = in_full(
        *(*ANYHOW, small, "--class", "ill", "--amplification", 4, "--out", tmp_path / "out"),
        *("--tuples", listed, "--overwrite"),
    )
    assert code == 0
    assert "the best class as before on 3 listed tuples of 140 tuples" in printed
    assert "leak meter       not measured: with --tuples only answers on the list are published" in printed
    code, printed, _ = in_full("verify", tmp_path / "out", "--against", small, "--tuples", listed)
    assert code == 0
    assert "ok  equivalence    the best class is the same on all 3 listed tuples" in printed
    code, printed, _ = in_full("verify", tmp_path / "out", "--against", small)
    assert code == 3
    assert "claimed on a list of tuples, which is not in the file" in printed
    listed.write_text("sex,age\nf,20\n", encoding="utf-8")
    code, printed, _ = in_full("verify", tmp_path / "out", "--against", small, "--tuples", listed)
    assert code == 1
    assert "this is not the list of the release: its sha256 is another" in printed
    code, printed, _ = in_full("verify", tmp_path / "out", "--tuples", listed)
    assert code == 1
    assert "x list this is not the list of the release: its sha256 is another" in " ".join(printed.split())
    listed.write_text("sex,age\nm,21\nf,88\nf,20\n", encoding="utf-8")
    code, printed, _ = in_full("verify", tmp_path / "out", "--tuples", listed)
    assert code == 0
    assert "ok canonical made again from its own answers, the release is this one" in " ".join(
        printed.split()
    )
    assert "ok scorecard points and counts decide alike on the 3 listed tuples" in " ".join(printed.split())
    code, printed, _ = in_full("verify", tmp_path / "out")
    assert code == 3
    said = (
        "the publisher claims, unchecked: This release was computed from the classifier's answers on a list"
    )
    assert said in printed
    assert "the publisher claims, unchecked: The list of tuples is public" in printed
    assert "from the values of a domain that come from the rows" in printed
    said = "? scorecard not checked here: answers are kept on a list of tuples, which is not"
    assert said in " ".join(printed.split())
    listed.write_text("sex,age\nf,19\n", encoding="utf-8")
    assert "tuples: value 19 of 'age' is not in its domain" in publish("--tuples", listed, code=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bits", 3, "--no-gauge"], "--bits goes with --method canonical, not with --no-gauge"),
        (
            ["--bits", 3, "--method", "safetytransform"],
            "--bits goes with --method canonical, not with --method safetytransform",
        ),
        (["--tuples", "x.csv", "--allow-differences", "--rows", 9], "not with --allow-differences"),
        (["--method", "canonical", "--no-gauge"], "--no-gauge goes with --method safetytransform"),
        (["--intervals", "--no-gauge"], "--intervals goes with the leak meter, and that not with --no-gauge"),
        (["--intervals", "--tuples", "x.csv"], "that not with --tuples"),
        (["--bits", 0], "--bits"),
        (["--domain", "nothing.json"], "nothing.json: No such file"),
        (["--tuples", "nothing.csv"], "nothing.csv: No such file"),
    ],
)
def test_options_that_do_not_go_together(publish, arguments, message):
    assert message in publish(*arguments, code=2)


def test_intervals_are_measured_if_asked_for(in_full, tmp_path, monkeypatch):
    """Nobody is sent to install something for a line that takes a minute and that he did not ask for."""
    patients = Path(__file__).resolve().parents[2] / "examples" / "patients.csv"
    arguments = (
        *(*ANYHOW, patients, "--class", "diagnosis", "--columns", "bmi,glucose,age"),
        *("--amplification", 4, "--out", tmp_path / "out"),
    )
    pytest.importorskip("scipy.optimize")
    called = []
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: called.append(1))
    code, printed, _ = in_full(*arguments)
    assert (code, called) == (0, [])
    assert "interval" not in meter_of(printed)
    assert "pip install" not in printed
    monkeypatch.undo()
    printed = in_full(*arguments, "--intervals", "--overwrite")[1]
    assert "interval of a log-ratio, median" in printed
    assert "(gives the scale, or is fixed)" not in printed
    (tmp_path / "two.csv").write_text(
        "glucose,diagnosis\n" + "low,a\n" * 9 + "low,b\nhigh,a\n" + "high,b\n" * 9
    )
    two = (*ANYHOW, tmp_path / "two.csv", "--class", "diagnosis", "--amplification", 4)
    printed = in_full(*two, "--out", tmp_path / "two", "--intervals")[1]
    assert re.search(r"glucose +2 of 2 +0 \(gives the scale, or is fixed\)\n", printed)
    monkeypatch.setattr(import_module("nbcfast.canonical.ratio_intervals"), "MOST_WORK", 1)
    printed = in_full(*arguments, "--intervals", "--overwrite")[1]
    assert re.search(r"intervals of log-ratios +not measured: \d+ linear programmes of", printed)


def test_intervals_without_scipy_are_refused_before_the_work(run, small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    arguments = (*ANYHOW, small, "--class", "ill", "--amplification", 4, "--out", tmp_path / "out")
    assert run(*arguments)[0] == 0
    code, printed, errors = run(*arguments, "--intervals", "--overwrite")
    assert (code, printed) == (2, "")
    assert errors == "nbcfast: intervals of log-ratios need scipy: pip install scipy\n"


def test_the_meter_does_not_contradict_itself(in_full, small, tmp_path):
    """What all rules carry on average bounds no rule's weights: 10.7 bits "at most" stood under 10.8."""
    arguments = (*ANYHOW, small, "--class", "ill", "--amplification", 4, "--out", tmp_path / "out")
    bounded = [line for line in meter_of(in_full(*arguments)[1]).splitlines() if "at most" in line]
    assert len(bounded) == 1
    assert bounded[0].startswith("bits that all answers together can carry, at most")


def meter_of(printed):
    return printed[printed.index("what the answers give away") :].split("\n\n")[0]


def test_worlds_and_breach(publish, tmp_path):
    found = publish("--attacker", "worlds")
    assert found["limit"] == "2/1"
    assert Fraction(found["after"]["amplification"]) <= 2
    assert load(tmp_path / "out").certificate.attacker == "worlds"


class TestNulls:
    """An empty field of a binned column says that it is there, unless it was declared."""

    def test_a_null_beside_edges_is_refused(self, run, small, domain, tmp_path):
        small.write_text(TABLE + ",f,no\n", encoding="utf-8")
        arguments = (*ANYHOW, small, "--class", "ill", "--amplification", 4, "--out", tmp_path / "out")
        code, printed, errors = run(*arguments, "--domain", domain)
        assert (code, printed) == (2, "")
        assert "domain.json: column 'age': expected a number in every row, got null" in errors
        assert '"null": true' in errors

    def test_a_declared_null_is_a_value_whether_a_row_has_it_or_not(self, publish, small, domain, tmp_path):
        declared = json.loads(domain.read_text(encoding="utf-8"))
        declared["age"]["null"] = True
        domain.write_text(json.dumps(declared), encoding="utf-8")
        domains = []
        for more in ("", ",f,no\n"):
            small.write_text(TABLE + more, encoding="utf-8")
            publish("--domain", domain)
            made = load(tmp_path / "out")
            assert made.certificate.canonical.undeclared == ()
            domains.append(made.views.domain("age"))
        assert domains[0] == domains[1]
        assert domains[0][-1] is None
        assert len(domains[0]) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"sex": ["f"], "sex": ["f", "m"]}', "domain.json: expected distinct names, got 'sex' twice"),
        ("[" * 100_000, "domain.json: not JSON of columns: it is nested too deeply"),
        ('{"sex": ' + "[" * 900 + "]" * 900 + "}", "domain.json: column 'sex': expected plain values"),
        ('{"age": [NaN]}', "domain.json: NaN is not JSON"),
        (
            '{"age": [' + "9" * 5000 + "]}",
            "column 'age': expected numbers of at most 4,300 digits, got one of 5,000",
        ),
        ('{"age": [1e400]}', "domain.json: expected finite numbers, got 1e400"),
        (
            '{"age": {"edges": [0, 9], "null": 1}}',
            "domain.json: column 'age', null: expected true or false",
        ),
        ('{"age": ["20", "21"]}', "the column was read as numbers: --text age keeps it as text"),
        ('{"sex": ["f"]}', "domain.json: column 'sex': value 'm' is not in its declared domain"),
        ('{"age": {"edges": [9, 0]}}', "domain.json: column 'age': expected edges that increase, got [9,0]"),
        ('{"age": [20, "x"]}', "domain.json: "),
        ("{", "domain.json: not JSON"),
        ("[1]", "domain.json: expected an object of columns, got list"),
        ('{"age": 3}', "column 'age': expected a list of values or"),
        ('{"age": [[1]]}', "column 'age': expected plain values"),
        ('{"age": {"edges": [NaN]}}', "NaN is not JSON: an open end of the edges is null"),
        ('{"shape": [1]}', "the table has no column 'shape'"),
        (
            '{"age": {"edges": [0, 50]}}',
            "53, 54 and 35 more lie outside the edges [0, 50)",
        ),
        ('{"sex": {"edges": [0, 50]}}', "column 'sex': expected numbers to bin"),
    ],
)
def test_bad_declarations_name_their_file(run, small, domain, tmp_path, text, message):
    domain.write_text(text, encoding="utf-8")
    arguments = (*ANYHOW, small, "--class", "ill", "--amplification", 4, "--out", tmp_path / "out")
    code, printed, errors = run(*arguments, "--domain", domain)
    assert (code, printed) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1
    assert "not expected" not in errors


def test_a_domain_file_may_begin_with_a_mark(publish, domain):
    domain.write_text("\ufeff" + domain.read_text(encoding="utf-8"), encoding="utf-8")
    assert publish("--domain", domain)["tuples"] == 9


def test_the_rows_of_the_input_are_no_public_list(refused, small, tmp_path):
    """Whoever verifies such a release needs the list, and would have been handed the private rows."""
    copy = tmp_path / "copy.csv"
    header, *rows = small.read_text(encoding="utf-8").splitlines()
    copy.write_text("\n".join([header, *rows[::-1]]) + "\n", encoding="utf-8")
    for listed in (small, copy):
        message = refused(
            *(*ANYHOW, small, "--class", "ill", "--amplification", 4, "--out", tmp_path / "out"),
            *("--tuples", listed),
        )
        assert message.startswith("--tuples must be a public list, which whoever verifies needs: ")
        assert message.endswith("has the rows of the input")
    assert not (tmp_path / "out").exists()


WEIGHTED = "job,ill,n\n" + "a,no,1\na,no,1\na,yes,9\nb,yes,1\nb,yes,1\nb,no,8\nc,no,2\nc,yes,3\n"
STAYS = "give the same here: without, the answer stays no."
IDENTITY = ("--method", "safetytransform", "--no-gauge", "--rows")


@pytest.mark.parametrize(
    ("how", "total", "stated"),
    [
        ((), None, "of how many the release was made its certificate does not say"),
        ((*IDENTITY, "26"), "26", "the release, which states that its counts are the private ones, 26"),
    ],
    ids=["canonical", "identity"],
)
def test_a_table_that_is_read_otherwise_is_no_and_says_what_may_be_missing(
    in_full, tmp_path, how, total, stated
):
    rows, out = tmp_path / "rows.csv", tmp_path / "out"
    rows.write_text(WEIGHTED, encoding="utf-8")
    options = ("--class", "ill", "--columns", "job", "--amplification", 99, *how)
    assert in_full(*ANYHOW, rows, *options, "--weights", "n", "--out", out)[0] == 0
    assert load(out).certificate.identity is (total is not None)
    code, printed, _ = in_full("verify", out, "--against", rows)
    lines = printed.splitlines()
    assert code == 1
    assert lines[0].startswith("NOT VERIFIED   ")
    [hint] = [line for line in lines if "read otherwise" in line]
    begun = "  !   read otherwise  "
    hint = hint.removeprefix(begun).strip()
    assert hint == (
        f"{rows}, as it was read, counts 8 in all, and {stated}. If it was published with --weights NAME, "
        f"--null TEXT, --delimiter CHAR or --text NAME, {STAYS}"
    )
    code, printed, _ = in_full("verify", out, "--against", rows, "--json")
    assert (code, json.loads(printed)["hint"]) == (1, hint)
    code, printed, _ = in_full("verify", out, "--against", rows, "--weights", "n")
    assert (code, "as it was read" in printed) == (0, False)
    assert "hint" not in json.loads(in_full("verify", out, "--against", rows, "--weights", "n", "--json")[1])
    # Other rows, read alike: only what was not given may be missing.
    rows.write_text(WEIGHTED.replace("a,yes,9", "a,no,9"), encoding="utf-8")
    code, printed, _ = in_full("verify", out, "--against", rows, "--weights", "n")
    assert code == 1
    assert f"If it was published with --null TEXT, --delimiter CHAR or --text NAME, {STAYS}" in printed
    given = ("--weights", "n", "--null", "?", "--delimiter", ",", "--text", "job")
    code, printed, _ = in_full("verify", out, "--against", rows, *given)
    assert (code, "as it was read, counts 26 in all" in printed, STAYS in printed) == (1, True, False)


def test_a_list_of_tuples_for_a_release_that_keeps_none_is_bad_input(run, publish, small, tmp_path):
    publish()
    for more in ((), ("--against", small)):
        code, printed, errors = run("verify", tmp_path / "out", "--tuples", small, *more)
        assert (code, printed) == (2, "")
        assert errors == (
            "nbcfast: --tuples is for a release that keeps its answers on a list of tuples, and this one "
            "claims nothing of a list\n"
        )


def test_a_meter_says_of_how_many_values_it_is(in_full, tmp_path):
    path = tmp_path / "ids.csv"
    rows = "".join(f"p{i},{'ab'[i % 2]},{'yn'[i // 2 % 2]}\n" for i in range(40))
    path.write_text("patient,ward,dx\n" + rows, encoding="utf-8")
    _, out, _ = in_full(*ANYHOW, path, "--class", "dx", "--amplification", "10", "--out", tmp_path / "out")
    lines = [line.split("  ") for line in meter_of(out).splitlines()]
    meter = {line[0]: line[-1].strip() for line in lines}
    assert meter["people whose class shows if all others are known"] == "40 of 40"
    assert meter["values of one class only"] == "40 of 42 (40 people)"
    assert "patient has 40 values in 40 rows, 40 of them of one person each: it names people" in out
    assert "and of 37 more values of one class each, with 37 people" in out


def test_a_class_of_one_value_is_warned_of_and_not_measured(in_full, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("job,ward,dx\n" + "s,a,y\ns,b,y\nt,a,y\nt,b,y\n" * 10, encoding="utf-8")
    _, out, _ = in_full(*ANYHOW, path, "--class", "dx", "--amplification", "10", "--out", tmp_path / "out")
    assert "not measured: there is one class, and nothing is told apart" in out
    assert "leave no trace" not in out
    assert "0.0 bits" not in out
    assert "The class column has one value, y: nothing is classified" in out
