"""`publish --ledger` and the verbs of `nbcfast ledger`."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import nbcfast
from nbcfast.ledger import Ledger, LedgerPolicy
from nbcfast.publishing.entering import expect_outside

DOMAIN = {"a": ["x", "y", "z"], "b": ["p", "q"], "c": ["no", "yes"]}


def rows(n_rows):
    """Of a table in which no single row shows."""
    rng = random.Random(1)
    found = []
    for _ in range(n_rows):
        a, b = rng.choice("xyz"), rng.choice("pq")
        share = (0.3 if a == "x" else 0.7) * (1.2 if b == "p" else 0.6)
        found.append(f"{a},{b},{'no' if rng.random() < share else 'yes'}\n")
    return found


@pytest.fixture
def months(tmp_path):
    """Files of a growing table, and its domain; in the last, answers are others."""
    found = rows(2500)
    more = ["x,p,no\nx,q,no\nz,q,yes\n"] * 300
    for name, part in (("one", found[:2000]), ("two", found), ("three", [*found, *more])):
        (tmp_path / f"{name}.csv").write_text("".join(["a,b,c\n", *part]), encoding="utf-8")
    (tmp_path / "domain.json").write_text(json.dumps(DOMAIN), encoding="utf-8")
    return tmp_path


@pytest.fixture
def publish(months, run):
    """Publish one of them into its folder; what it leaves with and prints."""

    def publish(name, *more, amplification="4", out=None):
        return run(
            "publish",
            months / f"{name}.csv",
            "--class",
            "c",
            "--amplification",
            amplification,
            "--domain",
            months / "domain.json",
            "--ledger",
            months / "book",
            "--out",
            months / (out or f"of-{name}"),
            *more,
        )

    return publish


def test_months_are_entered_and_looked_at_together(months, publish, run):
    code, out, err = publish("one", "--window", "2026-01")
    assert (code, err) == (0, "")
    assert "in this release the presence of 0 of 2,000 people shows" in out
    code, out, err = publish("two", "--window", "2026-01..2026-02", "--json")
    assert (code, err) == (4, "")
    said = json.loads(out)
    assert said["ledger"]["nothing_to_publish"]
    assert said["ledger"]["rows"] == {"came": 500, "went": 0, "exact": True}
    assert not (months / "of-two").exists()
    code, out, err = publish("two")
    assert code == 4
    assert out.startswith("NOTHING TO PUBLISH   ")
    code, out, err = publish("three", "--json", "--window", "2026-01..2026-03", "--accept-answers")
    assert (code, err) == (0, "")
    said = json.loads(out)
    assert (said["ledger"]["joint"]["releases"], said["ledger"]["joint"]["known"]) == (2, True)
    assert said["ledger"]["total_bits"] == 12  # twice the six answers of a yes or no
    assert {finding["about"] for finding in said["findings"]} >= {"class, together", "presence, together"}
    code, out, err = run("ledger", "show", months / "book")
    assert (code, err) == (0, "")
    assert "2026-01..2026-03" in out
    assert ">= 1,400" in out
    assert run("ledger", "check", months / "book")[0] == 0
    said = json.loads(run("ledger", "show", months / "book", "--json")[1])
    assert [line["state"] for line in said["releases"]] == ["written", "written"]
    certificate = json.loads((months / "of-three" / "certificate.json").read_text(encoding="utf-8"))
    assert said["releases"][1]["release"] == certificate["sha256"]


def test_another_domain_or_another_way_is_refused(months, publish, run):
    assert publish("one")[0] == 0
    before = (months / "book").read_bytes()
    code, out, err = publish("three", amplification="8")
    assert (code, err) == (1, "")
    assert "has amplification 4/1, and not 8/1" in out
    (months / "domain.json").write_text(json.dumps({**DOMAIN, "b": {"out": True}}), encoding="utf-8")
    code, out, err = publish("three")
    assert (code, err) == (1, "")
    assert "also attribute 'b'" in out
    assert "coarse and fine answers together tell more" in out
    assert f"nbcfast ledger show {months / 'book'}" in out
    assert (months / "book").read_bytes() == before
    assert not (months / "of-three").exists()


def test_one_row_alone_is_refused_where_its_class_is_decided(months, publish):
    tie = [f"{a},{b},{c}\n" for a in "xyz" for b in "pq" for c in ("no", "yes")] * 20
    (months / "one.csv").write_text("".join(["a,b,c\n", *tie]), encoding="utf-8")
    (months / "two.csv").write_text("".join(["a,b,c\n", *tie, "z,q,no\n"]), encoding="utf-8")
    assert publish("one", "--accept-answers")[0] == 0
    code, out, _ = publish("two", "--json")
    said = json.loads(out)
    assert (code, said["refused"]) == (1, True)
    alone = [finding for finding in said["findings"] if finding["about"] == "one row alone"]
    assert alone[0]["state"] == "shows"
    assert "whoever knows its values, and that it came" in alone[0]["text"]
    assert len(Ledger(months / "book").lines) == 1
    code, out, _ = publish("two", "--accept-answers", "--json")
    assert code == 0
    assert json.loads(out)["ledger"]["sign"]["decides"]


def test_policies_are_kept(months, publish):
    assert publish("one", "--window", "2", "--ledger-policy", "calendar")[0] == 0
    code, out, _ = publish("three", "--window", "1..2", "--ledger-policy", "calendar")
    assert (code, "must end after" in out) == (1, True)
    code, out, _ = publish("three", "--window", "2..3", "--ledger-policy", "disjoint")
    assert (code, "share blocks" in out) == (1, True)
    code, out, _ = publish("three", "--ledger-policy", "new-rows=1401")
    assert (code, "1,400 came since" in out) == (1, True)
    code, _, err = publish("three", "--ledger-policy", "calendar")
    assert (code, "needs a window" in err) == (2, True)
    for words in (
        ["--window", ".."],
        ["--window", "3..2"],
        ["--ledger-policy", "weekly"],
        ["--window", "a..1"],
    ):
        code, _, err = publish("three", *words)
        assert (code, err.count("\n")) == (2, 1)
        assert err.startswith("nbcfast: --")


def test_a_ledger_is_never_published_and_never_written_over(months, publish, run):
    for ledger, why in (
        (months / "of-one" / "book", "it has private counts"),
        (months / "of-one", "it has private counts"),
        (months / "one.csv", "--ledger must not write over"),
        (months / "none" / "book", "No such file"),
    ):
        before = (months / "one.csv").read_bytes()
        code, out, err = publish("one", "--ledger", ledger, "--overwrite")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert why in err
        assert (months / "one.csv").read_bytes() == before
    dataset = months / "made.csv"
    code, _, err = publish("one", "--ledger", dataset, "--dataset", dataset)
    assert (code, "must be two files" in err) == (2, True)
    (months / "book").write_text("a,b\n1,2\n", encoding="utf-8")
    code, _, err = publish("one", "--overwrite")
    assert (code, "line 1: no line of a ledger" in err) == (2, True)
    assert (months / "book").read_text(encoding="utf-8") == "a,b\n1,2\n"
    code, _, err = publish("one", "--strata", "b", "--ledger", months / "other")
    assert (code, "does not go with --strata" in err) == (2, True)
    code, _, err = run(
        "publish", months / "one.csv", "--class", "c", "--amplification", "4", "--window", "1", "--out", "o"
    )
    assert (code, "--window goes with --ledger" in err) == (2, True)
    assert not (months / "of-one").exists()


def test_a_folder_that_cannot_be_written_is_entered_as_not_written(months, publish, monkeypatch):
    def failing(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nbcfast.published.release.Release.save", failing)
    assert publish("one")[0] == 2
    assert [line.state for line in Ledger(months / "book").lines] == ["not written"]
    monkeypatch.undo()
    assert publish("one")[0] == 0
    assert [line.state for line in Ledger(months / "book").lines] == ["not written", "written"]


def test_a_release_that_stands_after_a_kill_is_found_and_one_that_does_not_is_said(months, publish, run):
    assert publish("one")[0] == 0
    first = (months / "book").read_bytes().splitlines(keepends=True)[0]
    (months / "book").write_bytes(first)  # killed before the second line
    assert publish("two")[0] == 4
    assert run("ledger", "check", months / "book")[0] == 1
    code, out, _ = run("ledger", "check", "--mend", months / "book")
    assert (code, "line 1 stands where it was to be written" in out) == (0, True)
    (months / "book").write_bytes(first)
    (months / "of-one").rename(months / "elsewhere")
    code, out, _ = run("ledger", "check", "--mend", months / "book")
    assert (code, "to publish it again mends that" in out) == (1, True)
    code, out, _ = publish("one")  # the same bytes
    assert code == 0
    assert (months / "elsewhere" / "certificate.json").read_bytes() == (
        months / "of-one" / "certificate.json"
    ).read_bytes()
    assert run("ledger", "check", months / "book")[0] == 0
    (months / "book").write_bytes((months / "book").read_bytes() + first[:100])
    code, out, err = run("ledger", "check", months / "book")
    assert (code, out, "nbcfast ledger check --mend" in err) == (1, "", True)
    for code, _, err in (publish("two"), run("ledger", "show", months / "book")):
        assert (code, "was begun and not ended" in err, "check --mend" in err) == (2, True, True)
    assert run("ledger", "check", "--mend", months / "book")[0] == 0


def test_two_commands_at_once_enter_one_release(months):
    command = [
        sys.executable,
        "-m",
        "nbcfast",
        "publish",
        months / "one.csv",
        "--class",
        "c",
        "--amplification",
        "4",
        "--domain",
        months / "domain.json",
        "--ledger",
        months / "book",
    ]
    running = [
        subprocess.Popen([*command, "--out", months / f"at-once-{n}"], stdout=subprocess.DEVNULL)
        for n in range(2)
    ]
    assert sorted(one.wait(120) for one in running) == [0, 4]
    assert len(Ledger(months / "book").lines) == 1
    assert sum((months / f"at-once-{n}").exists() for n in range(2)) == 1


def test_verbs_refuse_what_is_not_there(tmp_path, run):
    for verb in ("show", "check"):
        code, out, err = run("ledger", verb, tmp_path / "none")
        assert (code, out, err.count("\n")) == (2, "", 1)
    (tmp_path / "text").write_text("x", encoding="utf-8")
    assert run("ledger", "show", tmp_path / "text")[0] == 2
    assert run("ledger", "check", tmp_path / "text")[0] == 1


def test_in_python_saving_enters_it(months):
    def publication(name):
        return nbcfast.publish(
            months / f"{name}.csv",
            "c",
            4,
            domains=months / "domain.json",
            ledger=months / "book",
            window="2026-01",
            accept_answers=True,
            ledger_policy=LedgerPolicy(new_rows=10) if name != "one" else None,
        )

    first, again = publication("one"), publication("one")
    assert not os.path.exists(months / "book")
    (months / "out").mkdir()
    with pytest.raises(ValueError, match="ledger must not be in"):
        nbcfast.publish(
            months / "one.csv", "c", 4, domains=months / "domain.json", ledger=months / "out" / "book"
        ).save(months / "out")
    assert first.save(months / "out").files
    with pytest.raises(ValueError, match="another release was entered since"):
        again.save(months / "out-again")
    with pytest.raises(nbcfast.Infeasible, match="new-rows=10"):
        nbcfast.publish(
            months / "one.csv",
            "c",
            4,
            domains=months / "domain.json",
            ledger=Ledger(months / "book"),
            ledger_policy=LedgerPolicy(new_rows=10),
        )
    second = publication("two")
    assert second.nothing_to_publish
    assert second.save(months / "nowhere").files == ()
    assert not (months / "nowhere").exists()
    third = publication("three")
    assert third.ledger.rows.came == 1400
    third.save(months / "third")
    assert [line.rows for line in Ledger(months / "book").lines] == [2000, 3400]
    with pytest.raises(ValueError, match="window goes with ledger"):
        nbcfast.publish(months / "one.csv", "c", 4, window=1)
    with pytest.raises(ValueError, match="does not go with by"):
        nbcfast.publish(months / "one.csv", "c", 4, by="b", ledger=Path(months / "book"))


def test_noise_adds_up_and_no_counts_are_kept(months, publish, run):
    for name in ("one", "two"):
        code, out, err = publish(name, "--dp-epsilon", "1/2")
        assert (code, err) == (0, "")
    assert "Together: 2 releases with noise, for adding or removing a person with one row" in out
    assert "epsilon 1" in out
    code, out, err = publish("three", "--dp-epsilon", "1/4", "--json")
    assert (code, err) == (0, "")
    (together,) = json.loads(out)["ledger"]["spent"]
    assert together["epsilon"] == "5/4"
    lines = [json.loads(line) for line in (months / "book").read_bytes().splitlines()]
    assert all(line.get("counts") is None for line in lines)
    assert run("ledger", "check", months / "book")[0] == 0


def test_what_helps_beside_earlier_releases_is_no_other_domain(months, publish):
    """The ledger would refuse a coarser one."""
    limits = ("--max-bits", "0.01", "--accept-answers")
    helps = "Find the best domain that keeps the limits"
    code, out, _ = publish("one", *limits)
    assert (code, helps in out) == (0, True)
    (months / "book").unlink()
    assert publish("three", *limits)[0] == 0
    code, out, _ = publish("one", *limits, out="again")
    assert (code, helps in out, "The domain stays that of the ledger." in out) == (0, False, True)


def test_new_rows_that_nobody_can_count_are_said_to_be_unknown(months, publish):
    policy = ("--dp-epsilon", "1/2", "--ledger-policy", "new-rows=1")
    assert publish("one", *policy)[0] == 0
    code, out, err = publish("three", *policy)
    assert (code, err, "not to be had  policy 'new-rows=1': how many rows came" in out) == (1, "", True)


@pytest.mark.parametrize(
    "option", [("--max-found", "0"), ("--max-bits", "8"), ("--min-flip", "none"), ("--max-one-class", "3")]
)
def test_no_limit_is_taken_beside_noise_and_passed_over(months, publish, option):
    code, _, err = publish("one", "--dp-epsilon", "1/2", *option)
    assert (code, err.startswith(f"nbcfast: {option[0]} does not go with --dp-epsilon")) == (2, True)
    assert not (months / "book").exists()


def test_a_ledger_on_another_drive_is_outside(monkeypatch):
    """Paths on two drives of Windows have nothing in common, which is an error of its own there."""

    def on_two_drives(paths):
        raise ValueError("Paths don't have the same drive")

    monkeypatch.setattr("os.path.commonpath", on_two_drives)
    expect_outside("book", "out")
    with pytest.raises(ValueError, match="ledger must not be in 'out'"):
        expect_outside(os.path.join("out", "book"), "out")


def test_what_was_lost_with_noise_is_spent_and_not_mended_by_publishing_again(months, publish, run):
    assert publish("one", "--dp-epsilon", "1/2")[0] == 0
    first = (months / "book").read_bytes().split(b"\n")[0] + b"\n"
    (months / "book").write_bytes(first)
    (months / "of-one").rename(months / "elsewhere")
    code, out, _ = run("ledger", "check", months / "book")
    assert (code, "mends that" in out) == (1, False)
    assert "to publish again spends as much once more" in out
    code, out, _ = publish("one", "--dp-epsilon", "1/2")  # of the same answers, as likely as not
    assert (code, "2 releases with noise" in out) == (0, True)
