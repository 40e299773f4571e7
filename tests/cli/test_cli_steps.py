"""The steps that are printed under a refusal are ones that can help."""

import json
import shlex
from pathlib import Path

import pytest

PATIENTS = Path(__file__).resolve().parents[2] / "examples" / "patients.csv"
POLICY = """\
{}
[release]
class = "diagnosis"
amplification = 4
[limits]
max_bits = "none"
max_found = "none"
min_flip = "none"
max_one_class = "none"
undeclared_columns = {}
[gate]
accept_claims = true
"""
OPTIONS = {
    "sex": [{"values": ["female", "male"]}],
    "smoking": [{"values": ["current", "former", "never"]}],
    "diagnosis": [{"values": ["diabetes", "healthy"]}],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = PATIENTS.read_text(encoding="utf-8").splitlines(keepends=True)
    Path("patients.csv").write_text("".join(lines[:801]), encoding="utf-8")
    return tmp_path


def steps(document):
    return [(one["question"], one["commands"]) for one in json.loads(document)["summary"]["decisions"]]


def with_menu(undeclared):
    document = {"menu": OPTIONS, "from_rows": undeclared}
    Path("men.json").write_text(json.dumps(document), encoding="utf-8")
    for most in (0, 9):
        text = POLICY.format('menu = "men.json"', most)
        Path(f"of-{most}.toml").write_text(text, encoding="utf-8")


class TestUndeclaredColumns:
    def test_publish_says_which_options_are_to_be_checked(self, run, folder):
        with_menu(["sex", "smoking", "diagnosis"])
        command = "publish patients.csv --policy of-0.toml --out release"
        code, out, _ = run(*shlex.split(command), "--json")
        assert code == 1
        [(text, commands), *others] = steps(out)
        assert text == (
            "Check all values of sex, smoking, diagnosis in men.json against the code book, then take these "
            "names out of its from_rows. Or raise undeclared_columns in [limits] of of-0.toml: then which "
            "values occur is published."
        )
        assert commands == [f"nbcfast {command}"]
        assert not [one for one in others if "coarser" in one[0]]
        with_menu([])
        assert run(*shlex.split(command))[0] == 0

    def test_gate_says_so_too(self, run, folder):
        with_menu(["sex", "smoking", "diagnosis"])
        assert run(*shlex.split("publish patients.csv --policy of-9.toml --out release"))[0] == 0
        code, out, _ = run(*shlex.split("gate release --policy of-0.toml --against patients.csv --json"))
        assert code == 1
        assert steps(out)[0][0].startswith("Check all values of sex, smoking, diagnosis in men.json against")

    def test_of_a_domain_the_list_of_the_policy_is_named(self, run, folder):
        lists = 'undeclared = ["sex"]\n'
        domain = '[domain]\nsex = ["female", "male"]\ndiagnosis = ["diabetes", "healthy"]\n'
        text = POLICY.format("", 0).replace("amplification", f'columns = ["sex"]\n{lists}amplification')
        Path("p.toml").write_text(f"{text}{domain}", encoding="utf-8")
        code, out, _ = run(*shlex.split("publish patients.csv --policy p.toml --out release --json"))
        assert code == 1
        assert steps(out)[0][0].startswith(
            "Check all values of sex in [domain] of p.toml against the code book, then take this name out of "
            "undeclared in [release]. Or raise"
        )


class TestNoAttribute:
    def test_one_answer_for_everybody_is_refused_and_attributes_are_what_helps(self, run, folder):
        rows = "".join(f"same,{'pq'[place % 2]}\n" for place in range(40))
        Path("t.csv").write_text(f"k,y\n{rows}", encoding="utf-8")
        command = "publish t.csv --class y --amplification 4 --leave-out k --out release"
        code, out, _ = run(*shlex.split(command), "--json")
        assert code == 1
        [(text, commands), *_] = steps(out)
        assert text.startswith("Use attributes")
        assert commands == ["nbcfast publish t.csv --class y --amplification 4 --out release"]
        assert run(*shlex.split(command.replace(" --leave-out k", "")))[0] == 1
        # Accepted, it leaves, and a gate measures the same.
        assert run(*shlex.split(command), "--accept-answers")[0] == 0
        text = '[release]\nclass = "y"\namplification = 4\n[limits]\nundeclared_columns = 9\n'
        Path("p.toml").write_text(text, encoding="utf-8")
        code, out, _ = run(*shlex.split("gate release --policy p.toml --against t.csv"))
        assert code == 1
        assert "class shows: of all 40 people the class of 20 shows" in out
        assert "too much work" not in out


class TestNothingCoarser:
    """What no domain keeps: the step is one that says something."""

    def tied(self):
        rows = "".join(f"{'uv'[place % 2]},{'pq'[place // 2 % 2]}\n" for place in range(40))
        Path("t.csv").write_text(f"a,y\n{rows}", encoding="utf-8")
        menu = {"a": [{"values": ["u", "v"]}, {"out": True}], "y": [{"values": ["p", "q"]}]}
        Path("mo.json").write_text(json.dumps(menu), encoding="utf-8")

    @pytest.mark.parametrize(
        "command",
        ["advise t.csv --class y --out d.json", "advise t.csv --class y --menu mo.json --out d.json"],
    )
    def test_advise_says_what_the_best_would_show(self, run, folder, command):
        self.tied()
        code, out, _ = run(*shlex.split(command), "--json")
        assert code == 1
        [(text, [step])] = steps(out)
        assert text.startswith("Offer other columns, or take more people: nothing coarser is left.")
        assert step.startswith(f"nbcfast {command}")
        assert run(*shlex.split(step)[1:])[0] == 0
        assert not Path("release").exists()

    def test_publish_never_sends_anybody_past_its_limits(self, run, folder):
        self.tied()
        command = "publish t.csv --class y --menu mo.json --amplification 4 --out release --json"
        code, out, _ = run(*shlex.split(command))
        assert code == 1
        [(_, [step])] = steps(out)
        assert step.startswith("nbcfast advise t.csv --class y --menu mo.json --max-bits none")

    def test_a_menu_that_can_be_coarser_is_begun_again(self, run, folder):
        self.tied()
        Path("mo.json").write_text('{"a": [{"values": ["u", "v"]}]}', encoding="utf-8")
        _, out, _ = run(*shlex.split("advise t.csv --class y --menu mo.json --out d.json --json"))
        assert steps(out)[0][0].startswith("Offer coarser options")

    def test_too_many_classes_are_to_be_merged(self, run, folder):
        rows = "".join(f"{'uv'[place % 2]},c{place % 130}\n" for place in range(520))
        Path("t.csv").write_text(f"a,y\n{rows}", encoding="utf-8")
        code, out, _ = run(*shlex.split("advise t.csv --class y --out d.json --json"))
        assert code == 1
        assert steps(out) == [("Merge classes in the file: advice is of at most 127.", [])]

    def test_strata_without_attributes_are_published_without_strata(self, run, folder):
        self.tied()
        command = "publish t.csv --class y --amplification 4 --out release --strata a"
        code, out, _ = run(*shlex.split(command), "--json")
        assert code == 1
        assert steps(out)[0][1] == ["nbcfast publish t.csv --class y --amplification 4 --out release"]
        assert "coarser" not in json.dumps(steps(out))


def test_a_plan_that_hides_nothing_says_so_and_has_a_step(run):
    code, out, _ = run(*shlex.split("response plan --theta 100% --groups sex --error 2%"))
    assert code == 1
    assert out.startswith("HIDES NOTHING of sex: 625 respondents")
    step = "response plan --theta 80% --groups sex --error 2%"
    assert f"     nbcfast {step}\n" in out
    assert run(*shlex.split(step))[0] == 0


class TestGate:
    def test_of_another_table_nothing_is_published(self, run, folder):
        with_menu([])
        assert run(*shlex.split("publish patients.csv --policy of-0.toml --out release"))[0] == 0
        Path("other.csv").write_text("city,health\nRome,ill\n", encoding="utf-8")
        command = "gate release --policy of-0.toml --against other.csv --json"
        code, out, _ = run(*shlex.split(command))
        assert code == 1
        assert steps(out) == [
            (
                "Give the rows that it was made of: nothing was measured beside these.",
                ["nbcfast gate release --policy of-0.toml --against FILE"],
            )
        ]

    def test_noisy_counts_are_measured_beside_no_rows(self, run, folder):
        with_menu([])
        Path("dp.toml").write_text(
            '[release]\nclass = "diagnosis"\namplification = 4\ncolumns = ["sex"]\n'
            '[domain]\nsex = ["female", "male"]\ndiagnosis = ["diabetes", "healthy"]\n'
            "[dp]\nepsilon = 1\nrows_per_person = 1\n",
            encoding="utf-8",
        )
        code, _, err = run(*shlex.split("publish patients.csv --policy dp.toml --out noisy"))
        assert (code, err) == (0, "")
        code, out, _ = run(*shlex.split("gate noisy --policy dp.toml --json"))
        assert code == 3
        assert not [command for _, commands in steps(out) for command in commands if "--against" in command]


def test_what_has_no_attribute_is_not_sent_to_export(run, folder):
    Path("t.csv").write_text("k,y\n" + "same,p\nsame,q\n" * 20, encoding="utf-8")
    command = "publish t.csv --class y --amplification 4 --accept-answers --out {}"
    _, out, _ = run(*shlex.split(command.format("one --leave-out k")))
    assert "nbcfast report one --out" in out
    assert "nbcfast export" not in out
    _, out, _ = run(*shlex.split(command.format("two")))
    assert "nbcfast export" in out


def test_attributes_replace_an_answer_that_was_accepted(in_full, folder):
    Path("t.csv").write_text("k,y\n" + "same,p\nsame,q\n" * 20, encoding="utf-8")
    command = "publish t.csv --class y --amplification 4 --out one --leave-out k --accept-answers"
    code, out, _ = in_full(*shlex.split(command))
    assert code == 0
    assert (
        "     nbcfast publish t.csv --class y --amplification 4 --out one --accept-answers --overwrite\n"
        in out
    )
    assert "people whose class shows if all others are known" in out
    assert "values told apart" not in out
