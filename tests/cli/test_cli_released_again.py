"""What `publish` proposes beside what it wrote, and commands that do what their words say."""

import json
import shlex
from pathlib import Path

import pytest

pytest.importorskip("rich")
pytest.importorskip("pyarrow")

MENU = {
    "age": [[10, 20, 30, 40], {"groups": {"low": [10, 20], "high": [30, 40]}}, {"out": True}],
    "job": [["clerk", "cook"], {"out": True}],
    "ill": [["no", "yes"]],
}
# The class of nobody shows by age in two halves; of 300 people that of one does by four ages.
ROWS = [(10, 50, 10), (20, 30, 20), (30, 20, 30), (40, 10, 50)]
PUBLISH = "publish rows.csv --class ill --amplification 4 --menu menu.json --out release"
WIDE = "--max-found none --max-one-class none --min-flip none --max-bits none"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["age,job,ill"]
    for age, n_no, n_yes in ROWS:
        for place in range(n_no + n_yes):
            job = "cook" if place % 3 else "clerk"
            lines.append(f"{age},{job},{'no' if place < n_no else 'yes'}")
    Path("rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("menu.json").write_text(json.dumps(MENU), encoding="utf-8")
    return tmp_path


def decisions(run, command):
    code, out, err = run(*shlex.split(command), "--json")
    assert code == 0, err
    return json.loads(out)["summary"]["decisions"]


def starting(found, text):
    return [one for one in found if one["question"].startswith(text)]


def test_a_ledger_is_proposed_once_with_a_command_that_works(run, folder):
    found = decisions(run, f"{PUBLISH} {WIDE}")
    (further,) = starting(found, "Each further release of the same people")
    assert further is found[-1]
    (command,) = further["commands"]
    assert "--ledger rows-ledger.jsonl --overwrite" in command
    before = Path("release/certificate.json").read_bytes()
    assert run(*shlex.split(command)[1:])[0] == 0
    assert Path("release/certificate.json").read_bytes() == before  # what was written is entered
    assert len(Path("rows-ledger.jsonl").read_text(encoding="utf-8").splitlines()) >= 1
    Path("rows-ledger.jsonl").unlink()
    kept = decisions(run, f"{PUBLISH} {WIDE} --overwrite --ledger rows-ledger.jsonl")
    assert starting(kept, "Each further release") == []


def test_further_releases_are_mentioned_wherever_another_is_proposed(run, folder):
    code, out, _ = run("advise", "rows.csv", "--class", "ill", "--menu", "menu.json", *WIDE.split())
    assert (code, out.count("Each further release of the same people")) == (0, 1)
    code, out, _ = run(
        *shlex.split(f"{PUBLISH} {WIDE} --dp-epsilon 1".replace("--menu menu.json ", "").replace(WIDE, ""))
    )
    assert out.count("their epsilons add up") <= 1


def test_that_nobody_shows_is_had_by_the_command_that_is_printed(run, folder):
    found = decisions(run, f"{PUBLISH} {WIDE}")
    shown = starting(found, "Have nobody's class show instead")
    _, out, _ = run(*shlex.split(f"{PUBLISH} {WIDE} --overwrite"))
    assert bool(shown) == ("  !   class shows" in out)
    if shown:
        tried, _ = shown[0]["commands"]
        assert tried.endswith("--dry-run")
        assert "--min-flip none" not in tried
        assert run(*shlex.split(tried)[1:])[0] in (0, 1)


def test_a_worthless_release_says_first_what_would_be_worth_more(run, folder):
    flat = ["job,ill"] + [
        f"{job},{'yes' if n < 10 else 'no'}" for job in ("cook", "clerk") for n in range(40)
    ]
    Path("flat.csv").write_text("\n".join(flat) + "\n", encoding="utf-8")
    found = decisions(run, f"publish flat.csv --class ill --amplification 4 --out flat {WIDE}")
    assert found[0]["question"].startswith("Use more columns, finer values")
    code, out, _ = run("predict", "flat", "flat.csv", "--name", "said")
    assert code == 0
    assert "  !   one answer  answers no to everybody: no better than that\n" in out
    assert run("report", "flat", "--out", "facts.html")[0] == 0
    page = Path("facts.html").read_text(encoding="utf-8")
    assert "It answers always <b>no</b>" in page
    assert "One answer for everybody tells nobody from anybody else." in page
    code, out, _ = run("advise", "flat.csv", "--class", "ill", *WIDE.split())
    assert "  !   one answer " in out
    assert "Offer more columns or finer values in the menu" in out
