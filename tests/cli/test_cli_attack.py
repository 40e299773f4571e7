"""`nbcfast attack`, and what `nbcfast publish` says about adversaries."""

import json
import random
import re
import shlex
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from accepting import ANYHOW

import nbcfast
from nbcfast import attack
from nbcfast.attack import inverting
from nbcfast.cli import main
from nbcfast.published.certificate import Certificate
from nbcfast.published.release import Release
from nbcfast.verification.load import load

PATIENTS = Path(__file__).resolve().parents[2] / "examples" / "patients.csv"

# The second database of the paper's Figure 1, twice: 7/9 for somebody with both values.
FIGURE_1 = "crime,water,party\n" + "".join(
    f"{crime},{water},{party}\n"
    for crime, water, party in [
        ("no", "yes", "R"),
        ("yes", "no", "R"),
        ("yes", "yes", "R"),
        ("no", "yes", "D"),
        ("yes", "no", "D"),
    ]
)


@pytest.fixture
def figure(tmp_path):
    path = tmp_path / "house.csv"
    path.write_text(FIGURE_1, encoding="utf-8")
    return path


@pytest.fixture
def workers(tmp_path):
    """People whose age and hours have many values, most of them few rows."""
    rng = np.random.default_rng(5)
    rich = rng.random(12_000) < 0.25
    age = np.clip(rng.gamma(np.where(rich, 9, 4), np.where(rich, 3, 5)) + 17, 17, 90).astype(int)
    hours = np.clip(rng.normal(np.where(rich, 46, 39), 12), 1, 99).astype(int)
    rows = zip(age, hours, rng.choice(["m", "f"], len(age)), np.where(rich, ">50K", "<=50K"), strict=True)
    path = tmp_path / "workers.csv"
    lines = ["age,hours_per_week,sex,income", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The folder of a release of the patients, which nobody changes."""
    out = tmp_path_factory.mktemp("published") / "out"
    arguments = (*ANYHOW, PATIENTS, "--class", "diagnosis", "--amplification", 4, "--out", out)
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    assert left.value.code == 0
    return out


@pytest.fixture
def release(published, tmp_path):
    """A folder of a release of the patients."""
    return Path(shutil.copytree(published, tmp_path / "out"))


@pytest.fixture
def halves(tmp_path):
    """The patients in two files: a table, and other rows of the same population."""
    head, *lines = PATIENTS.read_text(encoding="utf-8").splitlines()
    paths = tmp_path / "members.csv", tmp_path / "others.csv"
    for path, part in zip(paths, (lines[::2], lines[1::2]), strict=True):
        path.write_text("\n".join([head, *part]) + "\n", encoding="utf-8")
    return paths


class TestAgainst:
    """Whether the table is that of the release, as `verify --against` asks."""

    WORDS = "The release was not made of"

    def test_the_table_of_the_release(self, run, found, release):
        _, printed, _ = run("attack", release, "--against", PATIENTS)
        assert self.WORDS not in printed
        assert "its answers are those of the release: the best class is the same on all" in printed
        assert found("attack", release, "--against", PATIENTS)["against"]["answers_are_its"] is True
        assert "against" not in found("attack", release)

    def test_another_table(self, run, found, release, halves):
        members, others = halves
        flipped = members.with_name("flipped.csv")
        text = members.read_text(encoding="utf-8").replace("healthy", "?").replace("diabetes", "healthy")
        flipped.write_text(text.replace("?", "diabetes"), encoding="utf-8")
        arguments = ("attack", release, "--against", flipped, "--holdout", others)
        _, printed, _ = run(*arguments)
        assert f"{self.WORDS} {flipped} as it was read, so what it says of counts recovered" in printed
        assert "the best class differs on" in printed
        said = found(*arguments)["against"]
        assert said["answers_are_its"] is False
        assert said["text"] in printed

    def test_a_table_that_was_read_otherwise(self, run, found, tmp_path):
        path, out = tmp_path / "counted.csv", tmp_path / "out"
        rows = "cook,US,no,40\ncook,UK,yes,10\nclerk,US,yes,1\nclerk,UK,no,1\nclerk,UK,yes,8\ncook,UK,no,2\n"
        path.write_text("job,land,ill,n\n" + rows, encoding="utf-8")
        weights = ("--weights", "n")
        publish = (*ANYHOW, path, "--class", "ill", "--amplification", "40", "--out", out)
        assert run(*publish, *weights)[0] == 0
        _, printed, _ = run("attack", out, "--against", path)
        assert self.WORDS in printed
        assert "counts 6 in all" in printed
        assert "--weights NAME" in printed
        assert self.WORDS not in run("attack", out, "--against", path, *weights)[1]

    def test_values_that_the_release_has_not(self, run, found, release, halves):
        members, _ = halves
        other = members.with_name("other.csv")
        other.write_text(members.read_text(encoding="utf-8").replace("high", "very high"), encoding="utf-8")
        said = found("attack", release, "--against", other)["against"]
        assert said["answers_are_its"] is False
        assert said["text"].startswith(self.WORDS)

    def test_a_table_of_the_same_counts_whose_rows_are_others(self, run, found, tmp_path):
        """Its answers are those of the release, and another number of its rows is decided otherwise."""
        rng = random.Random(1)
        rows = [(rng.choice("abc"), rng.choice("xyz"), rng.choice("yn")) for _ in range(60)]
        columns = dict(zip(("job", "land", "ill"), map(list, zip(*rows, strict=True)), strict=True))
        table, out, path = nbcfast.Table(columns), tmp_path / "out", tmp_path / "rows.csv"
        views = nbcfast.count(table, "ill")
        options = {"rows": 30, "allow_differences": True, "table": table, "class_name": "ill"}
        made = nbcfast.safety_transform(views, "3/2", **options)
        assert made.certificate.differing_tuples
        made.save(out)

        def against(columns):
            lines = [",".join(row) for row in zip(*columns.values(), strict=True)]
            path.write_text("\n".join(["job,land,ill", *lines]) + "\n", encoding="utf-8")
            return found("attack", out, "--against", path)["against"]

        assert against(columns)["answers_are_its"] is True
        for label in "yn":  # within a class, so that all counts stay
            places = [place for place, one in enumerate(columns["ill"]) if one == label]
            jobs = sorted(columns["job"][place] for place in places)
            for place, job in zip(
                sorted(places, key=lambda place: columns["land"][place]), jobs, strict=True
            ):
                columns["job"][place] = job
        said = against(columns)
        assert said["answers_are_its"] is False
        assert "rows of the table are decided otherwise, the certificate says" in said["text"]

    def test_rows_in_the_sets_of_a_menu(self, run, found, refused, tmp_path):
        menu, out, page = tmp_path / "menu.json", tmp_path / "out", tmp_path / "page.html"
        sets = {"groups": {"usual": ["low", "normal"], "more": ["raised", "high"]}}
        menu.write_text(json.dumps({"glucose": [sets], "relatives": [[0, 1, 2, 3]]}), encoding="utf-8")
        publish = ("publish", PATIENTS, "--class", "diagnosis", "--menu", menu, "--amplification", 4)
        assert run(*publish, "--out", out)[0] == 0
        against = ("attack", out, "--against", PATIENTS)
        _, printed, _ = run(*against, "--report", page)
        assert "NOT COMPARED: the rows could not be put into its sets" in printed
        assert "artificial rows" in printed
        assert "or --menu FILE, give the same here" in printed
        assert self.WORDS not in printed
        shown = page.read_text(encoding="utf-8")
        assert "Not compared: " in shown
        assert 'class="nbc-tag"' not in shown
        assert found(*against)["inversion"]["recovered"] is None
        said = found(*against, "--menu", menu)
        assert said["against"]["answers_are_its"] is True
        assert said["inversion"]["recovered"] == 0
        assert "--menu goes with --against FILE" in refused("attack", out, "--menu", menu)
        table = ("attack", PATIENTS, "--class", "diagnosis", "--against", PATIENTS, "--menu", menu)
        assert "--menu is for a release" in refused(*table)

    def test_what_was_not_compared_is_not_called_so(self, run, found, tmp_path):
        out, listed = tmp_path / "out", tmp_path / "pairs.csv"
        listed.write_text("glucose,relatives\nlow,0\nnormal,1\nhigh,2\n", encoding="utf-8")
        publish = (*ANYHOW, PATIENTS, "--class", "diagnosis", "--columns", "glucose,relatives")
        assert run(*publish, "--amplification", 4, "--tuples", listed, "--out", out)[0] == 0
        said = found("attack", out, "--against", PATIENTS)["against"]
        assert said["answers_are_its"] is None
        assert "was not checked" in said["text"]


class TestAttack:
    def test_figure_1(self, run, found, figure):
        arguments = ("attack", figure, "--class", "party", "--given", "crime=yes", "--given", "water=yes")
        code, printed, errors = run(*arguments)
        assert (code, errors) == (0, "")
        assert "given crime = yes, water = yes" in printed
        assert "77.7778%" in printed  # 7/9 over worlds
        assert "72.7273%" in printed  # 8/11 for one row
        answer = found(*arguments)
        assert answer["posterior"]["known"] == {"crime": "yes", "water": "yes"}
        assert answer["posterior"]["worlds"][1] == {"class": "R", "probability": pytest.approx(7 / 9)}
        assert answer["posterior"]["row"][1] == {"class": "R", "probability": pytest.approx(8 / 11)}
        views = nbcfast.count(nbcfast.read_csv(figure), "party")
        for convention in ("row", "worlds"):
            worst = attack.worst(views, convention)
            assert answer["worst"][convention]["ratio"] == str(worst.ratio)
            assert answer["worst"][convention]["known"] == worst.known
            assert answer["worst"][convention]["certified"] is True

    def test_a_release_against_the_private_table(self, in_full, found, release, halves):
        members, others = halves
        code, printed, errors = in_full("attack", release, "--against", members, "--holdout", others)
        assert (code, errors) == (0, "")
        assert "private counts by inversion, value x class" in printed
        assert "0 of 62 (no powers of counts found)" in printed
        assert "membership in the private table, AUC" in printed
        answer = found("attack", release, "--against", members, "--holdout", others)
        assert (answer["inversion"]["recovered"], answer["inversion"]["positive"]) == (0, 62)
        assert Fraction(answer["worst"]["row"]["ratio"]) <= 4
        assert answer["membership"]["members"] == 2500
        assert answer["membership"]["others"] == 1250
        assert abs(answer["membership"]["auc"] - 0.5) < 0.05
        assert found("attack", release)["inversion"]["recovered"] is None
        assert "membership" not in in_full("attack", release)[1]

    def test_a_holdout_is_put_into_the_bins_of_the_release(self, found, workers, tmp_path):
        domain, out = tmp_path / "domain.json", tmp_path / "out"
        domain.write_text(
            '{"age": {"edges": [17, 30, 45, 70]}, "hours_per_week": {"edges": [null, 30, 50, null]}}',
            encoding="utf-8",
        )
        head, *lines = workers.read_text(encoding="utf-8").splitlines()
        file, others = tmp_path / "members.csv", tmp_path / "others.csv"
        members = [one for one in lines[:3000] if one[0] not in "789"]  # nobody above the bins
        file.write_text("\n".join([head, *members]) + "\n", encoding="utf-8")
        others.write_text("\n".join([head, *lines[3000:]]) + "\n", encoding="utf-8")
        holdout = ("--holdout", others)
        said = found(
            *(*ANYHOW, file, "--class", "income", "--columns", "age,hours_per_week,sex"),
            *("--amplification", 4, "--domain", domain, "--out", out, *holdout),
        )["adversaries"]["membership"]
        assert found("attack", out, "--against", file, *holdout)["membership"] == said
        assert said["standard_error"] > 0
        assert said["members"] == len(file.read_text(encoding="utf-8").splitlines()) - 1
        assert 0 < said["impossible"] < said["others"] / 10  # older than the bins go
        assert f"; {said['impossible']} of the {said['others']:,} others cannot be rows" in said["text"]

    def test_rows_of_another_table_are_not_scored(self, in_full, found, release, halves, tmp_path):
        members, others = halves
        foreign = tmp_path / "foreign.csv"
        text = members.read_text(encoding="utf-8")
        foreign.write_text(text.replace("high", "highest"), encoding="utf-8")
        said = found("attack", release, "--against", foreign, "--holdout", others)["membership"]
        assert (said["members"] + said["left_out"], said["left_out"]) == (
            2500,
            sum("high" in row for row in text.splitlines()),
        )
        assert said["auc"] is not None
        assert f"without {said['left_out']:,} of the 2,500 rows of the table" in said["text"]
        head, *rows = text.splitlines()
        foreign.write_text("\n".join([head, *(f"x{row}" for row in rows)]), encoding="utf-8")
        code, printed, _ = in_full("attack", release, "--against", foreign, "--holdout", others)
        assert code == 0
        line = next(line for line in printed.splitlines() if line.startswith("membership"))
        assert "not measured: none of the 2,500 rows of the table can be a row of the release" in line
        said = found("attack", release, "--against", foreign, "--holdout", others)["membership"]
        assert (said["auc"], said["standard_error"], said["members"]) == (None, None, 0)

    def test_others_that_are_all_ruled_out_are_said(self, found, release, halves):
        members, others = halves
        head, *rows = others.read_text(encoding="utf-8").splitlines()
        others.write_text("\n".join([head, *(f"x{row}" for row in rows)]), encoding="utf-8")
        said = found("attack", release, "--against", members, "--holdout", others)["membership"]
        assert (said["auc"], said["impossible"]) == (1.0, 1250)
        assert "are they of the same population, and read the same way?" in said["text"]

    def test_the_table_is_no_holdout(self, refused, release, tmp_path):
        message = refused("attack", release, "--against", PATIENTS, "--holdout", PATIENTS)
        assert "--holdout: expected other rows of the same population" in message
        head, *rows = PATIENTS.read_text(encoding="utf-8").splitlines()
        other = tmp_path / "again.csv"
        other.write_text("\n".join([head, *rows[::-1]]), encoding="utf-8")
        message = refused("attack", release, "--against", PATIENTS, "--holdout", other)
        assert "again.csv': expected other rows of the same population" in message

    def test_nearly_the_table_is_no_holdout(self, refused, run, release, halves, tmp_path):
        members, others = halves
        head, *rows = members.read_text(encoding="utf-8").splitlines()
        more = others.read_text(encoding="utf-8").splitlines()[1:9]
        nearly = tmp_path / "nearly.csv"
        nearly.write_text("\n".join([head, *rows[8:], *more]) + "\n", encoding="utf-8")
        message = refused("attack", release, "--against", members, "--holdout", nearly)
        assert "nearly.csv': expected other rows of the same population, got mostly rows of the" in message
        out = tmp_path / "another"
        options = ("--class", "diagnosis", "--amplification", 4, "--out", out, "--holdout", nearly)
        code, printed, error = run(*ANYHOW, members, *options)
        assert (code, printed, error) == (2, "", f"nbcfast: {message}\n")
        assert not out.exists()

    def test_the_file_of_the_release_will_do(self, found, release):
        assert found("attack", release / "certificate.json")["rows"] == load(release).views.n_rows

    def test_a_release_without_gauge_is_inverted(self, found, run, workers, tmp_path):
        columns = ("--class", "income", "--columns", "age,hours_per_week")
        out, table = tmp_path / "out", tmp_path / "synthetic.parquet"
        code, printed, _ = run(
            *(*ANYHOW, workers, *columns, "--amplification", 4, "--rows", 10**6, "--no-gauge"),
            *("--allow-differences", "--out", out, "--dataset", table),
        )
        assert code == 0
        assert "(column attack)" in printed
        answer = found("attack", out, "--against", workers)
        assert answer["inversion"]["attack"] == "column"
        assert answer["inversion"]["recovered"] >= 200
        synthetic = found("attack", table, "--class", "income", "--against", workers)
        assert synthetic["inversion"] == answer["inversion"]
        assert "k = " in run("attack", out)[1]

    def test_breach(self, run, found, release):
        code, printed, _ = run("attack", release, "--breach", "0.5", "0.8")
        assert code == 0
        assert "no breach (0.5 to 0.8, row convention)" in printed
        code, printed, _ = run("attack", release, "--breach", "0.5", "0.6")
        assert code == 1
        assert "upward breach: the class is " in printed
        answer = found("attack", release, "--breach", "0.5", "0.6", "--attacker", "worlds", code=1)
        assert answer["breach"]["convention"] == "worlds"
        assert answer["breach"]["breached"] is True
        prior = ("--prior", "healthy=0.5,diabetes=1/2")
        assert (
            found("attack", release, "--breach", "0.5", "0.6", *prior, code=1)["breach"]["direction"]
            == "upward"
        )

    def test_the_attacker_of_the_release_is_the_default(self, run, tmp_path):
        views = nbcfast.Viewset([3, 3], {"x": [[1, 2], [2, 1]], "y": [[1, 2], [2, 1]]})
        Release(views, Certificate(amplification=8, attacker="worlds", tuples=4)).save(tmp_path / "out")
        code, printed, _ = run("attack", tmp_path / "out", "--breach", "0.5", "0.81")
        assert code == 1
        assert "23/27 = 0.851852 after" in printed
        assert "worlds convention" in printed

    def test_values_of_every_kind(self, found, tmp_path):
        path = tmp_path / "kinds.csv"
        path.write_text("a=b,a,f,n,c\n1,1,0.5,,x\n2,2,1.5,,y\n1,1,0.5,z,x\n2,1,1.5,z,y\n", encoding="utf-8")
        given = [part for text in ("a=b=2", "a=1", "f=3/2", "n=(null)") for part in ("--given", text)]
        answer = found("attack", path, "--class", "c", *given)
        assert answer["posterior"]["known"] == {"a=b": 2, "a": 1, "f": 1.5, "n": None}

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--given", "crime=no"], "--class must name the class column of a table, got none"),
            (
                ["--class", "party", "--given", "crime"],
                "--given must be NAME=VALUE with NAME one of crime, water; got 'crime'",
            ),
            (
                ["--class", "party", "--given", "age=3"],
                "--given must be NAME=VALUE with NAME one of crime, water",
            ),
            (
                ["--class", "party", "--given", "crime=maybe"],
                "--given crime: 'maybe' is none of its 2 values",
            ),
            (["--class", "party", *["--given", "crime=no"] * 2], "--given names 'crime' twice"),
            (["--class", "party", "--prior", "R=1"], "--prior goes with --breach L1 L2"),
            (["--class", "party", "--attacker", "row"], "--attacker goes with --breach L1 L2"),
            (["--class", "party", "--holdout", "x.csv"], "--holdout goes with --against FILE"),
            (
                ["--class", "party", "--breach", "0.8", "0.5"],
                "--breach: L1 and L2 must be 0 < l1 < l2 < 1, got 0.8 and 0.5",
            ),
            (["--class", "party", "--breach", ".5", ".8", "--prior", "R"], "--prior must be CLASS=NUMBER"),
            (["--class", "party", "--breach", ".5", ".8", "--prior", "R=.5,R=.5"], "--prior names 'R' twice"),
            (
                ["--class", "party", "--breach", ".5", ".8", "--prior", "X=1"],
                "--prior: 'X' is none of its 2 values",
            ),
            (["--class", "party", "--breach", ".5", ".8", "--prior", "R=.5,D=.6"], "prior must add up to 1"),
            (["--class", "party", "--against", "nothing.csv"], "nothing.csv: No such file"),
        ],
    )
    def test_bad_options_leave_with_two(self, refused, figure, arguments, message):
        assert message in refused("attack", figure, *arguments)

    def test_bad_options_for_a_release(self, refused, release, tmp_path):
        assert "--columns is for a FILE" in refused("attack", release, "--columns", "age")
        assert "certificate.json: No such file" in refused("attack", tmp_path)
        assert "nothing: No such file" in refused("attack", tmp_path / "nothing")
        (tmp_path / "table.xlsx").touch()
        assert "FILE must end in" in refused("attack", tmp_path / "table.xlsx", "--class", "y")


class TestPublish:
    def test_is_written_before_it_is_attacked(self, run, tmp_path, monkeypatch):
        """Whoever ends a long attack has the release, and is told that."""
        out, table = tmp_path / "out", tmp_path / "synthetic.csv"
        arguments = (*ANYHOW, PATIENTS, "--class", "diagnosis", "--amplification", 4, "--out", out)
        arguments += ("--dataset", table)

        def ended(*_, **__):
            assert nbcfast.verify(out).exit_code == 0
            assert table.stat().st_size > 0
            raise KeyboardInterrupt

        monkeypatch.setattr(attack, "invert", ended)
        code, printed, errors = run(*arguments)
        assert (code, printed) == (130, "")
        assert errors == (
            f"nbcfast: {out / 'certificate.json'}, {table}: written, but not judged or attacked to the end\n"
            "nbcfast: stopped\n"
        )

    def test_what_was_not_tried_is_said(self, in_full, found, tmp_path, monkeypatch):
        out = tmp_path / "out"
        monkeypatch.setattr(inverting, "WORK", 1_000)
        arguments = (*ANYHOW, PATIENTS, "--class", "diagnosis", "--amplification", 4, "--out", out)
        left_out = "k was looked for in 1 of 14 columns"
        code, printed, errors = in_full(*arguments)
        assert (code, errors) == (0, "")
        assert "0 of 62 (no powers of counts found; not all was tried)" in printed
        assert f"Inversion is capped by counted work: {left_out}." in printed
        printed = in_full("attack", out)[1]
        assert "no powers of counts found; not all was tried" in printed
        assert f"?   not tried      {left_out}" in printed
        assert found("attack", out)["inversion"]["untried"] == [left_out]

    def test_confidence_is_that_of_the_power(self, in_full, tmp_path):
        roots = [round(10**8 * n**0.2) for n in (1, 2, 3, 4, 5, 7, 9, 12, 20)]
        views = nbcfast.Viewset([sum(roots)], {"x": [[root] for root in roots]}, classes=["a"])
        Release(views, Certificate(amplification=8, tuples=len(roots))).save(tmp_path / "out")
        printed = in_full("attack", tmp_path / "out")[1]
        assert re.search(
            r"inversion +takes what was published for roots of private counts, with k = 5; its confidence in "
            r"that k is 1, which does not say how many counts are right\n",
            printed,
        )

    def test_where_nothing_was_tried_nothing_is_said_to_be_not_found(self, run, tmp_path):
        views = nbcfast.Viewset([3, 3], {"x": [[1, 2], [2, 1]], "y": [[1, 2], [2, 1]]})
        Release(views, Certificate(amplification=8, tuples=4)).save(tmp_path / "out")
        line = next(line for line in run("attack", tmp_path / "out")[1].splitlines() if "inversion" in line)
        assert line.endswith("not tried: too few different counts")

    def test_says_what_adversaries_find(self, in_full, tmp_path):
        out = tmp_path / "out"
        arguments = (*ANYHOW, PATIENTS, "--class", "diagnosis", "--amplification", 4, "--out", out)
        code, printed, errors = in_full(*arguments)
        assert (code, errors) == (0, "")
        assert "largest ratio of posteriors, one particular row" in printed
        assert "largest ratio of posteriors, average over worlds" in printed
        assert "0 of 62 (no powers of counts found)" in printed
        line = next(line for line in printed.splitlines() if line.startswith("membership"))
        assert line.endswith("not measured")

    def test_holdout(self, in_full, found, halves, tmp_path):
        members, others = halves
        out = tmp_path / "out"
        arguments = (*ANYHOW, members, "--class", "diagnosis", "--amplification", 4, "--out", out)
        printed = in_full(*arguments, "--holdout", others)[1]
        line = next(line for line in printed.splitlines() if line.startswith("membership"))
        assert "0.5" in line or "0.4" in line
        answer = found(*arguments, "--holdout", others, "--overwrite")["adversaries"]
        assert answer["membership"]["members"] == 2500
        assert answer["inversion"]["recovered"] == 0
        assert Fraction(answer["worst"]["row"]["ratio"]) <= 4
        arguments = (*arguments, "--overwrite")
        assert found(*arguments)["adversaries"]["membership"] is None

    def test_a_missing_holdout_writes_nothing(self, refused, tmp_path):
        out = tmp_path / "out"
        message = refused(
            *(*ANYHOW, PATIENTS, "--class", "diagnosis", "--amplification", 4, "--out", out),
            *("--holdout", tmp_path / "nothing.csv"),
        )
        assert "nothing.csv: No such file" in message
        assert not out.exists()

    def test_the_input_is_no_holdout(self, refused, tmp_path):
        out = tmp_path / "out"
        arguments = (*ANYHOW, PATIENTS, "--class", "diagnosis", "--amplification", 4, "--out", out)
        message = refused(*arguments, "--holdout", PATIENTS)
        assert "--holdout: expected other rows of the same population, got the rows of the table" in message
        copy = tmp_path / "copy.csv"
        copy.write_bytes(PATIENTS.read_bytes())
        assert "copy.csv': expected other rows" in refused(*arguments, "--holdout", copy)
        assert not out.exists()


@pytest.mark.parametrize(("rows", "named"), [(2, False), (3, True), (6, True), (20, True)])
def test_publish_names_a_column_that_names_the_people_of_a_small_table(run, tmp_path, rows, named):
    path = tmp_path / "small.csv"
    lines = "".join(f"p{i},{'ab'[i // 2 % 2]},{'yn'[i % 2]}\n" for i in range(rows))
    path.write_text("who,kind,ill\n" + lines, encoding="utf-8")
    arguments = ("--class", "ill", "--amplification", "1000", "--out", tmp_path / "out")
    code, out, _ = run(*ANYHOW, path, *arguments)
    assert code == 0
    assert (f"who has {rows} values in {rows} rows, {rows} of them of one person each" in out) is named
    assert "kind has" not in out


def test_what_is_to_be_published_leaves_out_and_bins_what_the_attack_did(run, tmp_path):
    file, out = tmp_path / "people.csv", tmp_path / "release"
    lines = [f"{20 + i % 50},{'mf'[i % 2]},{i % 3},{'ny'[i % 7 == 0]}" for i in range(400)]
    file.write_text("\n".join(["age,sex,ward,ill", *lines]) + "\n", encoding="utf-8")
    code, printed, _ = run("attack", file, "--class", "ill", "--leave-out", "ward", "--bin", "age=40")
    assert code == 0
    (step,) = re.findall(r"nbcfast publish .*", " ".join(printed.split()))
    words = shlex.split(step.partition(" --out ")[0])[1:]
    assert words[-6:] == ["--bin", "age=40", "--leave-out", "ward", "--amplification", "4"]
    code, printed, error = run(*ANYHOW, *words[1:], "--out", out)
    assert code == 0, printed + error
    assert load(out).views.attributes == ("age", "sex")


def test_of_one_class_no_odds_are_said(run, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("a,y\n" + "u,p\nv,p\n" * 25, encoding="utf-8")
    code, printed, _ = run("attack", file, "--class", "y")
    assert code == 0
    assert printed.count("everybody is p: whoever knows nothing of them is sure of it") == 1
    assert "p over p by" not in printed.partition("What to do")[0]
