"""Policies on the command line: init, publish --policy, verify --policy, gate; hooks and recipes that run."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import warm
from rich.console import Console

import nbcfast
from nbcfast.cli import printing
from nbcfast.policies import Policy

pytest.importorskip("pyarrow")

ROOT = Path(__file__).resolve().parents[2]
PATIENTS = ROOT / "examples" / "patients.csv"
GUIDE = ROOT / "docs" / "guides" / "policy.md"
HOOKS = ROOT / ".pre-commit-hooks.yaml"

POLICY = """\
[release]
class = "diagnosis"
columns = ["age", "glucose"]
amplification = 4
preserve = "label"
[domain]
age = ["18-29", "30-39", "40-49", "50-59", "60-69", "70+"]
glucose = { groups = { usual = ["low", "normal"], raised = ["raised", "high"] } }
diagnosis = ["healthy", "diabetes"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copy(PATIENTS, tmp_path / "patients.csv")
    (tmp_path / "nbcfast.toml").write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def released(folder, run):
    code, _, error = run("publish", "patients.csv", "--policy", "nbcfast.toml", "--out", "out")
    assert (code, error) == (0, "")
    return folder / "out"


def certificate(path):
    return json.loads((path / "certificate.json").read_text(encoding="ascii"))


def test_a_release_names_its_policy(released):
    assert certificate(released)["policy"] == {"sha256": Policy.of("nbcfast.toml").sha256}


def test_a_release_without_one_has_no_such_field(folder, run):
    code, *_ = run(
        *("publish", "patients.csv", "--class", "diagnosis", "--columns", "age", "--amplification", 4),
        *("--out", "out", "--accept-answers"),
    )
    assert code == 0
    assert "policy" not in certificate(folder / "out")


def test_it_is_the_release_that_options_give(released, folder, run):
    (folder / "d.json").write_text(json.dumps(Policy.of("nbcfast.toml").domains.entries), encoding="utf-8")
    run(
        *("publish", "patients.csv", "--class", "diagnosis", "--columns", "age,glucose"),
        *("--amplification", 4, "--domain", "d.json", "--out", "same"),
    )
    one, other = certificate(released), certificate(folder / "same")
    assert {name for name in {*one, *other} if one.get(name) != other.get(name)} == {"policy", "sha256"}


REFUSED = {
    "--amplification 3": "--amplification does not go with the policy, which says 4; got 3: leave it out, or "
    "publish under another policy than nbcfast.toml",
    "--breach 0.5 0.7": "--breach does not go with the policy, which says 4; got 7/3",
    "--class age": "--class does not go with the policy, which says 'diagnosis'; got 'age'",
    "--columns age": "--columns does not go with the policy, which says 'age', 'glucose'; got 'age'",
    "--attacker worlds": "--attacker does not go with the policy, which says 'row'; got 'worlds'",
    "--preserve order": "--preserve does not go with the policy, which says 'label'; got 'order'",
    "--bin age=20,30": "--domain does not go with the policy, which says the values itself",
    "--menu m.json": "--menu does not go with the policy, which says the values itself",
    "--max-bits none": "--max-bits does not go with the policy, which says 8.0; got none",
    "--max-bits 5": "--max-bits does not go with the policy, which says 8.0; got 5.0",
    "--accept-answers": "--accept-answers does not go with the policy: nbcfast.toml has no accept_answers",
    "--dp-epsilon 1": "--dp-epsilon does not go with the policy: nbcfast.toml has no [dp]",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_says_otherwise_is_refused(folder, run, options):
    code, out, error = run(
        "publish", "patients.csv", "--policy", "nbcfast.toml", *options.split(), "--out", "out"
    )
    assert (code, out) == (2, "")
    assert error.startswith(f"nbcfast: {REFUSED[options]}")
    assert not (folder / "out").exists()


def test_what_says_the_same_is_not(folder, run):
    options = "--class diagnosis --columns age,glucose --amplification 4.0 --max-bits 8 --attacker row"
    assert (
        run("publish", "patients.csv", "--policy", "nbcfast.toml", *options.split(), "--out", "out")[0] == 0
    )


def test_a_class_is_asked_for_without_a_policy(folder, run):
    code, _, error = run("publish", "patients.csv", "--amplification", 4, "--out", "out")
    text = "Missing option '--class'. Expected one of the columns of patients.csv: 'age'"
    assert (code, error[: len(text) + 9]) == (2, f"nbcfast: {text}")


def test_a_refusal_says_what_a_policy_allows(folder, run):
    strict = POLICY + "[limits]\nmax_bits = 1\n"
    (folder / "nbcfast.toml").write_text(strict, encoding="utf-8")
    asked = ("publish", "patients.csv", "--policy", "nbcfast.toml", "--out", "out")
    code, out, _ = run(*asked)
    assert code == 1
    assert "in [domain] of nbcfast.toml" in out
    assert "--accept-answers" not in out
    assert json.loads(run(*asked, "--json")[1])["accept"] is None
    (folder / "nbcfast.toml").write_text(strict + "accept_answers = true\n", encoding="utf-8")
    assert "--accept-answers" in run(*asked)[1]
    assert run(*asked, "--accept-answers")[0] == 0


def test_the_steps_of_a_refusal_lead_to_a_release(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    table = nbcfast.read_csv(PATIENTS, columns=["age", "glucose", "exercise_days", "diagnosis"])
    columns = {name: [table.domain(name)[code] for code in table.codes(name)] for name in table.names}
    rows = zip(*columns.values(), strict=True)
    Path("few.csv").write_text("\n".join(",".join(map(str, row)) for row in [columns, *rows]) + "\n")
    assert run("init", "few.csv", "--class", "diagnosis")[0] == 0
    policy = Path("nbcfast.toml").read_text(encoding="utf-8")
    policy = policy.replace("max_bits = 8 ", "max_bits = 3 ")
    Path("nbcfast.toml").write_text(policy, encoding="utf-8")
    code, out, _ = run("publish", "few.csv", "--policy", "nbcfast.toml", "--out", "out")
    assert code == 1
    advise, check, edit, again = [line.strip() for line in out.splitlines()[-4:]]
    assert advise == "nbcfast advise few.csv --class diagnosis --write-menu menu.json"
    assert check.startswith("check every option in menu.json against the code book")
    of_domain = "in place of [domain] and undeclared of [release]"
    assert edit == f'in nbcfast.toml: menu = "menu.json" as its first line {of_domain}'
    assert again == "nbcfast publish few.csv --policy nbcfast.toml --out out"
    assert run(*advise.split()[1:])[0] == 0
    with_menu = f'menu = "menu.json"\n{policy}'
    with_menu = re.sub(r"(?ms)^\[domain\].*?(?=^\[limits\])", "", with_menu)
    Path("nbcfast.toml").write_text(with_menu, encoding="utf-8")
    code, _, error = run(*again.split()[1:])
    assert code == 2
    assert "undeclared goes with columns of [domain], got a menu: take undeclared out of [release]" in error
    Path("nbcfast.toml").write_text(re.sub(r"(?m)^undeclared = .*$", "", with_menu), encoding="utf-8")
    assert run(*again.split()[1:])[0] == 0


def test_a_policy_says_how_people_that_columns_name_are_left_out(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"p{n},{n % 2},{n % 3 > 0}\n" for n in range(60))
    Path("few.csv").write_text(f"who at all,a,ill\n{rows}", encoding="utf-8")
    text = '[release]\nclass = "ill"\namplification = 4\n'
    Path("nbcfast.toml").write_text(text, encoding="utf-8")
    code, out, error = run("publish", "few.csv", "--policy", "nbcfast.toml", "--out", "out")
    assert (code, '"who at all" = { out = true } in [domain] of nbcfast.toml' in out + error) == (1, True)


def test_a_policy_is_not_written_over(folder, run):
    code, _, error = run("publish", "patients.csv", "--policy", "nbcfast.toml", "--out", "nbcfast.toml")
    assert code == 2
    assert "--out" in error
    assert (folder / "nbcfast.toml").read_text(encoding="utf-8") == POLICY


def test_noise_of_a_policy(folder, run):
    (folder / "nbcfast.toml").write_text(POLICY + "[dp]\nepsilon = 2\n", encoding="utf-8")
    assert run("publish", "patients.csv", "--policy", "nbcfast.toml", "--out", "out")[0] == 0
    assert certificate(folder / "out")["privacy"]["epsilon"] == "2/1"
    code, out, _ = run("gate", "out")
    assert code == 3
    said = "claimed, checked by nobody: epsilon 2, as the certificate says"
    assert re.search(rf"^  \? +dp +{said}", out, re.MULTILINE)


def test_a_ledger_and_strata_of_a_policy(folder, run):
    text = POLICY.replace('"glucose"]', '"glucose", "sex"]').replace("preserve", 'by = "sex"\npreserve')
    text += 'sex = ["female", "male"]\n[limits]\nmax_one_class = "none"\n'
    (folder / "by.toml").write_text(text, encoding="utf-8")
    assert run("publish", "patients.csv", "--policy", "by.toml", "--out", "strata")[0] == 0
    assert run("gate", "strata", "--policy", "by.toml", "--against", "patients.csv")[0] == 0
    ledger = POLICY + '[ledger]\nfile = "book"\npolicy = ["calendar"]\nnew_rows = 5\n'
    (folder / "book.toml").write_text(ledger, encoding="utf-8")
    asked = ("publish", "patients.csv", "--policy", "book.toml", "--out", "entered")
    assert run(*asked)[0] == 2  # a calendar needs a window
    assert run(*asked, "--window", "2026-01")[0] == 0
    assert (folder / "book").exists()
    assert run("gate", "entered", "--policy", "book.toml", "--against", "patients.csv")[0] == 0


def test_exit_codes_of_the_gate(released, run):
    assert run("gate", "out")[0] == 3
    code, out, error = run("gate", "out", "--against", "patients.csv")
    assert (code, error) == (0, "")
    assert out.startswith("kept   out/certificate.json, by nbcfast.toml\n")
    (released / "more.txt").write_text("x", encoding="utf-8")
    assert run("gate", "out")[0] == 1
    assert run("gate", "out", "--ignore-extra")[0] == 3
    for wrong in (
        ["gate", "nothing"],
        ["gate", "out", "--policy", "no.toml"],
        ["gate"],
        ["gate", "out", "--null", "?"],
    ):
        assert run(*wrong)[0] == 2


def test_many_folders_leave_with_the_worst(released, run, folder):
    nbcfast.publish(
        "patients.csv",
        policy={"release": {"class": "diagnosis", "amplification": 4}},
        columns=["age"],
        domains=Policy.of("nbcfast.toml").domains.entries | {"glucose": {"out": True}},
    ).release.save("other")
    code, out, _ = run("gate", "out", "other", "--against", "patients.csv")
    assert (code, out.count("certificate.json, by nbcfast.toml")) == (1, 2)
    first, *others = out.splitlines()
    assert first == "NOT KEPT by 1 of 2 releases   by nbcfast.toml"
    assert others[0].startswith("  x   other/certificate.json  NOT KEPT: ")
    document = json.loads(run("gate", "out/certificate.json", "other", "--json")[1])
    assert [one["verdict"] for one in document["verdicts"]] == ["not fully checked", "not kept"]
    assert document["policy"]["sha256"] == Policy.of("nbcfast.toml").sha256
    assert not document["ok"]


def test_a_folder_that_cannot_be_read_stops_no_other(released, run):
    code, out, error = run("gate", "nosuch", "out")
    assert (code, error) == (2, "")
    assert out.startswith("not read: 1 of 2 releases   by nbcfast.toml\n")
    assert "?  nosuch                not read: No such file or directory\n" in out
    assert "not fully checked: " in out
    (released / "more.txt").write_text("x", encoding="utf-8")
    code, out, _ = run("gate", "nosuch", "out", "--json")
    document = json.loads(out)
    assert (code, document["ok"]) == (1, False)
    assert document["verdicts"][1] == {"path": "nosuch", "error": "No such file or directory"}
    assert run("gate", "nosuch", "none")[0] == 2
    code, out, _ = run("gate", "nosuch", "none", "--github")
    assert out.splitlines()[-1] == (
        "::error file=none,title=nbcfast gate::not read: No such file or directory"
    )


def test_what_is_no_table_is_bad_input_and_no_verdict(released, run):
    (released.parent / "text.xls").write_text("x", encoding="utf-8")
    header = (released.parent / "patients.csv").read_text(encoding="utf-8").split("\n")[0]
    (released.parent / "bad.csv").write_text(f"{header}\n1,2,3\n", encoding="utf-8")
    for other in ("text.xls", "nosuch.csv", "bad.csv"):
        code, out, error = run("gate", "out", "--against", other)
        assert (code, out, other in error) == (2, "", True)
        assert run("gate", "out", "--against", "patients.csv", "--holdout", other)[0] == 2


def test_no_folded_text_is_a_command_of_github(folder, run, monkeypatch):
    name = "x" * 41 + "::stop-commands::tok" + "##[add-mask]k"
    made = nbcfast.publish({name: ["p", "q"] * 50, "diagnosis": ["n", "n", "y", "n"] * 25}, "diagnosis", 4)
    made.release.save("odd")
    for width in range(30, 130, 7):
        monkeypatch.setattr(printing, "screen", lambda width=width: Console(width=width, markup=False))
        _, out, _ = run("gate", "odd", "--github")
        kinds = {line.split()[0] for line in out.splitlines() if line.lstrip().startswith("::")}
        assert kinds <= {"::error", "::warning"}
        assert "##[" not in "".join(line for line in out.splitlines() if not line.startswith("::"))


def test_annotations_for_github_are_escaped(folder, run):
    place = folder / "a,b%:c"
    made = nbcfast.publish(
        {"x\n::error::y": ["p", "q"] * 50, "diagnosis": ["n", "n", "y", "n"] * 25}, "diagnosis", 4
    )
    made.release.save(place)
    code, out, _ = run("gate", place.name, "--github")
    assert code == 1
    lines = [line for line in out.splitlines() if line.startswith("::")]
    kinds = {line.split(" ")[0] for line in lines}
    assert kinds == {"::error", "::warning"}
    assert all("file=a%2Cb%25%3Ac/certificate.json,title=nbcfast gate%3A " in line for line in lines)
    assert any(line.startswith("::error") and "columns::NO: also" in line for line in lines)
    assert not [line for line in lines if line.startswith("::error::y")]
    assert "::" not in run("gate", place.name, "--github", "--json")[1].splitlines()[0]


def test_a_claim_is_never_marked_as_kept(released, run, folder):
    """It is open, or to be weighed where the policy accepts claims; what to do is said, and is a command."""
    code, out, _ = run("gate", "out")
    assert code == 3
    assert out.startswith("not fully checked: ")
    assert re.search(r"^  \? +preserve +claimed, checked by nobody: label", out, re.MULTILINE)
    assert "     nbcfast gate out --against FILE\n" in out
    assert (
        "  2  Or take the word of the publisher: write accept_claims = true into [gate] of nbcfast.toml."
        in out
    )
    # The step that is printed leads there: the release still names this policy.
    (folder / "nbcfast.toml").write_text(POLICY + "[gate]\naccept_claims = true\n", encoding="utf-8")
    code, out, _ = run("gate", "out")
    assert code == 0
    assert out.startswith("kept: ")
    assert re.search(r"^  ! +preserve +claimed, checked by nobody: label", out, re.MULTILINE)
    summary = json.loads(run("gate", "out", "--json")[1])["summary"]
    assert summary["state"] == "warned"
    assert {one["state"] for one in summary["findings"] if "claimed" in one["text"]} == {"warned"}


def test_verify_with_a_policy(released, run, folder):
    code, out, _ = run("verify", "out", "--policy", "nbcfast.toml")
    assert code == 0
    assert re.search(r"^  ok +policy +the certificate names this policy", out, re.MULTILINE)
    (folder / "other.toml").write_text(POLICY.replace("= 4", "= 5"), encoding="utf-8")
    code, out, _ = run("verify", "out", "--policy", "other.toml")
    assert code == 1
    assert re.search(r"^  x +policy +policy: the certificate names another policy", out, re.MULTILINE)


def test_init_writes_what_publish_takes(folder, run):
    (folder / "nbcfast.toml").unlink()
    code, out, error = run("init", "patients.csv", "--class", "diagnosis")
    assert (code, error) == (0, "")
    assert "patients.csv -> nbcfast.toml" in out
    text = (folder / "nbcfast.toml").read_text(encoding="utf-8")
    assert run("init", "patients.csv", "--class", "diagnosis")[0] == 2
    assert (folder / "nbcfast.toml").read_text(encoding="utf-8") == text
    assert run("init", "patients.csv", "--class", "diagnosis", "--overwrite")[0] == 0
    code, out, error = run("publish", "patients.csv", "--policy", "nbcfast.toml", "--out", "out")
    assert (code, error) == (1, "")  # the policy is taken, and its limits are not kept on such fine values
    assert "not declared" in out
    document = json.loads(run("init", "patients.csv", "--class", "diagnosis", "--out", "b.toml", "--json")[1])
    assert document["policy"]["sha256"] == Policy.of("b.toml").sha256


MENU = {
    "age": [["18-29", "30-39", "40-49", "50-59", "60-69", "70+"], {"out": True}],
    "glucose": [{"groups": {"usual": ["low", "normal"], "raised": ["raised", "high"]}}],
    "diagnosis": [["healthy", "diabetes"]],
}


def steps(out):
    """The commands that a screen prints."""
    return [shlex.split(line)[1:] for line in out.splitlines() if line.startswith("     nbcfast ")]


def test_a_policy_with_a_menu_is_kept_by_what_was_published_by_that_menu(folder, run):
    """As README goes: a menu first, then a policy; every step that is printed works."""
    (folder / "menus").mkdir()
    (folder / "menus" / "menu.json").write_text(json.dumps(MENU), encoding="utf-8")
    menu = ("--menu", "menus/menu.json")
    publish = ("publish", "patients.csv", "--class", "diagnosis", "--amplification", "4", *menu)
    assert run(*publish, "--out", "release")[0] == 0
    code, out, error = run("init", "patients.csv", "--class", "diagnosis", *menu, "--out", "menus/p.toml")
    assert (code, error) == (0, "")
    assert out.startswith("a policy with a menu to begin with   patients.csv -> menus/p.toml\n")
    assert '\nmenu = "menu.json" ' in (folder / "menus" / "p.toml").read_text(encoding="utf-8")
    (publish_it,) = steps(out)
    assert run(*publish_it)[0] == 0
    for name in ("release", "release-2"):
        code, out, _ = run("gate", name, "--policy", "menus/p.toml", "--against", "patients.csv")
        assert (code, out.split("   ")[0]) == (0, "kept")
    code, out, _ = run("gate", "release-2", "--policy", "menus/p.toml")
    assert code == 3
    assert "undeclared_columns  no column takes its values from the rows (no column may)" in out


def test_a_menu_decides_what_its_policy_does_not_say(folder, run):
    (folder / "menu.json").write_text(json.dumps(MENU), encoding="utf-8")
    plain = POLICY.partition("[domain]")[0].replace('columns = ["age", "glucose"]\n', "")
    (folder / "nbcfast.toml").write_text(plain, encoding="utf-8")
    publish = ("publish", "patients.csv", "--class", "diagnosis", "--amplification", "4")
    assert run(*publish, "--menu", "menu.json", "--out", "release")[0] == 0
    code, out, _ = run("gate", "release")
    assert (
        "  1  Give the menu that the domain was chosen from: what it declares is a claim no longer.\n" in out
    )
    assert steps(out)[0] == ["gate", "release", "--menu", "FILE"]
    code, out, _ = run("gate", "release", "--menu", "menu.json", "--against", "patients.csv")
    assert (code, out.split("   ")[0]) == (0, "kept")
    # Of a release that names none nothing can be held against it, and nobody lied.
    begun = {"menu": MENU, "from_rows": ["age", "glucose", "diagnosis"]}
    (folder / "begun.json").write_text(json.dumps(begun), encoding="utf-8")
    assert run(*publish, "--menu", "begun.json", "--out", "unnamed", "--accept-answers")[0] == 0
    (folder / "nbcfast.toml").write_text(
        plain + "[limits]\naccept_answers = true\nundeclared_columns = 3\n", encoding="utf-8"
    )
    code, out, _ = run("gate", "unnamed", "--menu", "menu.json")
    assert code == 3
    assert "  ?   verified" in out
    assert "menu: the certificate names no menu: nothing can be held against this one" in " ".join(
        out.split()
    )
    (folder / "nbcfast.toml").write_text('menu = "menu.json"\n' + plain, encoding="utf-8")
    code, _, error = run("gate", "release", "--menu", "menu.json")
    assert (code, error) == (2, "nbcfast: --menu does not go with a policy that names a menu itself\n")


def test_a_policy_with_other_values_than_a_menu_says_how_it_names_the_menu(folder, run):
    (folder / "menu.json").write_text(json.dumps(MENU), encoding="utf-8")
    publish = ("publish", "patients.csv", "--class", "diagnosis", "--amplification", "4")
    assert run(*publish, "--menu", "menu.json", "--out", "release")[0] == 0
    (folder / "nbcfast.toml").write_text(POLICY.replace('"70+"', '"70+", "80+"'), encoding="utf-8")
    code, out, _ = run("gate", "release", "--against", "patients.csv")
    assert code == 1
    assert (
        "  1  The domain was chosen from a menu: if the menu is to say the values, let the policy name it."
        in out
    )
    assert "the word of the publisher" not in out
    begin, again, *_ = steps(out)
    assert run(*("menu.json" if word == "FILE" else word for word in begin))[0] == 0
    code, out, _ = run(*again)
    assert (code, out.split("   ")[0]) == (0, "kept")


def test_init_says_how_its_policy_gets_a_menu(folder, run):
    out = run("init", "patients.csv", "--class", "diagnosis", "--overwrite")[1]
    advise, init, publish, _ = steps(out)
    assert advise == ["advise", "patients.csv", "--class", "diagnosis", "--write-menu", "menu.json"]
    assert run(*advise)[0] == 0
    assert run(*init)[0] == 0
    text = (folder / "nbcfast.toml").read_text(encoding="utf-8")
    assert 'menu = "menu.json"' in text
    assert "\nundeclared_columns = 9\n" in text
    assert run(*publish, "--dry-run")[0] == 0


def test_init_of_a_class_that_there_is_not(folder, run):
    code, _, error = run("init", "patients.csv", "--class", "disease", "--out", "b.toml")
    assert code == 2
    assert "no column 'disease'" in error
    assert not (folder / "b.toml").exists()


def test_init_prints_the_schema(run):
    code, out, _ = run("init", "--schema")
    assert code == 0
    page = ROOT / "docs" / "reference" / "nbcfast.schema.json"
    assert json.loads(out) == json.loads(page.read_text(encoding="utf-8"))


class TestData:
    """What `init` writes of tables as they are is a policy that `publish` takes, and warns of its values."""

    @pytest.mark.parametrize(
        ("file", "class_name"),
        [("adult-test.csv", "income"), ("german-credit.csv", "class"), ("crx.csv", "class")],
    )
    def test_it_is_accepted(self, data, file, class_name, tmp_path, run, monkeypatch):
        def not_here(*_, **__):
            raise nbcfast.Infeasible("the meter is slow, and not what is tested", {})

        monkeypatch.setattr(nbcfast.canonical, "leak", not_here)
        source = next((path for path in data.rglob(file)), None)
        if source is None:
            pytest.skip(f"no {file}")
        some = tmp_path / file
        lines = source.read_text(encoding="utf-8").splitlines(keepends=True)[:700]
        some.write_text("".join(lines), encoding="utf-8")
        out = tmp_path / "p.toml"
        assert run("init", some, "--class", class_name, "--out", out)[0] == 0
        code, printed, error = run("publish", some, "--policy", out, "--out", tmp_path / "r")
        assert code in (0, 1), error
        assert "not declared" in printed
        assert error == ""


def recipe(name):
    """The file that a block of the guide writes."""
    text = GUIDE.read_text(encoding="utf-8")
    return re.search(rf"^cat > {re.escape(name)} <<'END'\n(.*?)^END$", text, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture(scope="module")
def commands():
    """Where the command `nbcfast` is: in a process that has imported it, if it can fork."""
    if not hasattr(os, "fork"):
        yield os.path.dirname(sys.executable)
        return
    with warm.commands() as place:
        yield place


def environment(home, *places):
    path = os.pathsep.join([*map(str, places), os.path.dirname(sys.executable), os.environ["PATH"]])
    names = {"GIT_AUTHOR_NAME": "t", "GIT_COMMITTER_NAME": "t"}
    mails = {"GIT_AUTHOR_EMAIL": "t@t", "GIT_COMMITTER_EMAIL": "t@t"}
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))}
    return {**kept, "PATH": path, "HOME": str(home), "PRE_COMMIT_HOME": str(home / "hooks"), **names, **mails}


@pytest.fixture
def repository(folder, released):
    """A repository that holds a policy and a release which keeps it, as a steward's would."""
    if shutil.which("git") is None:
        pytest.skip("no git")
    steward = folder / "steward"
    (steward / "releases").mkdir(parents=True)
    released.rename(steward / "releases" / "one")
    accepting = POLICY + "[gate]\naccept_claims = true\n"
    (folder / "nbcfast.toml").write_text(accepting, encoding="utf-8")
    shutil.copy("nbcfast.toml", steward)
    nbcfast.publish("patients.csv", policy="nbcfast.toml").save(steward / "releases" / "one", overwrite=True)
    git(steward, "init", "-q")
    git(steward, "add", "-A")
    return steward


def git(place, *words):
    return subprocess.run(
        ["git", *words], cwd=place, env=environment(place.parent), capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize("name", [".github/workflows/releases.yml", ".gitlab-ci.yml"])
def test_recipes_run_in_a_repository(repository, name, commands):
    """Each line of the job but the installing, as its runner would run it."""
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load(recipe(name))
    if "jobs" in job:
        lines = [step["run"] for step in job["jobs"]["gate"]["steps"] if "run" in step]
    else:
        lines = job["gate"]["script"]
    lines = [line for line in lines if "pip install" not in line]
    assert lines
    for line in lines:
        command = ["bash", "-ec", line]
        kept = subprocess.run(
            command, cwd=repository, env=environment(repository.parent, commands), capture_output=True
        )
        assert kept.returncode == 0, kept.stderr
    stricter = (
        (repository / "nbcfast.toml")
        .read_text(encoding="utf-8")
        .replace("amplification = 4", "amplification = 2")
    )
    (repository / "nbcfast.toml").write_text(stricter, encoding="utf-8")
    for line in lines:
        failed = subprocess.run(
            ["bash", "-ec", line],
            cwd=repository,
            env=environment(repository.parent, commands),
            capture_output=True,
            text=True,
        )
        assert failed.returncode == 1, failed.stderr
        if "--github" in line:
            assert (
                "::error file=releases/one/certificate.json,title=nbcfast gate%3A amplification::"
                in failed.stdout
            )


def test_the_column_of_strata_is_one_of_those_that_have_to_be_declared(folder, run):
    """What `gate` refuses leaves under the same policy neither."""
    text = POLICY.replace('["age", "glucose"]', '["age", "glucose", "sex"]\nby = "sex"')
    (folder / "nbcfast.toml").write_text(text + '[limits]\nmin_flip = "none"\n', encoding="utf-8")
    code, out, _ = run("publish", "patients.csv", "--policy", "nbcfast.toml", "--out", "out")
    assert code == 1
    assert "the values of sex come from the rows (no column may)" in out
    text = text.replace("[domain]", '[domain]\nsex = ["female", "male"]')
    (folder / "nbcfast.toml").write_text(text + '[limits]\nmin_flip = "none"\n', encoding="utf-8")
    assert run("publish", "patients.csv", "--policy", "nbcfast.toml", "--out", "out")[0] == 0
    assert run("gate", "out", "--policy", "nbcfast.toml")[0] == 3  # of claims alone


def test_hooks_run_in_a_repository(repository, commands):
    """The hooks of this repository, with the configuration of the guide, before a commit."""
    pytest.importorskip("pre_commit")
    if not HOOKS.exists():
        pytest.skip("hooks belong to a clone, and are not here")
    hooks = repository.parent / "nbcfast-hooks"
    hooks.mkdir()
    shutil.copy(HOOKS, hooks)
    git(hooks, "init", "-q")
    git(hooks, "add", "-A")
    git(hooks, "commit", "-qm", "hooks")
    text = recipe(".pre-commit-config.yaml").replace("https://example.org/nbcfast.git", str(hooks))
    text = text.replace("v0.1.0", git(hooks, "rev-parse", "HEAD"))
    (repository / ".pre-commit-config.yaml").write_text(text, encoding="utf-8")
    git(repository, "add", "-A")

    def ran():
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", "--all-files"],
            cwd=repository,
            env=environment(repository.parent, commands),
            capture_output=True,
            text=True,
        )

    done = ran()
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"nbcfast verify\.+Passed", done.stdout)
    assert re.search(r"nbcfast gate\.+Passed", done.stdout)
    place = repository / "releases" / "one" / "certificate.json"
    place.write_text(place.read_text(encoding="ascii").replace("age", "agt"), encoding="ascii")
    done = ran()
    assert done.returncode == 1
    assert len(re.findall(r"nbcfast (verify|gate)\.+Failed", done.stdout)) == 2
