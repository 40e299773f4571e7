"""`nbcfast closeness`: how close to a prior, and what is made of it."""

from pathlib import Path

import pytest
from accepting import ANYHOW

import nbcfast
from nbcfast import closeness
from nbcfast.verification.load import load

PATIENTS = Path(__file__).resolve().parents[2] / "examples" / "patients.csv"


class TestCloseness:
    PRIOR = ("--prior", "healthy=0.75,diabetes=0.25")

    def test_what_a_prior_of_75_percent_allows(self, in_full, found):
        arguments = ("closeness", PATIENTS, "--class", "diagnosis", *self.PRIOR)
        code, printed, errors = in_full(*arguments)
        assert (code, errors) == (0, "")
        assert "of the counts as they are" in printed
        assert "3, not attained" in printed
        answer = found(*arguments)
        assert answer["lower_bound"] == {"definition5": "2", "statement11": "3", "strict": False}
        assert (answer["best"]["r"], answer["best"]["attained"]) == (3.0, False)
        assert answer["before"]["statement11"]["r"] is None  # infinite: two counts are zero
        assert answer["feasible"] is None

    def test_what_is_written_has_the_remarks_that_publish_has(self, in_full, found, tmp_path):
        path, out = tmp_path / "people.csv", tmp_path / "out"
        rows = "".join(f"{place},{'ab'[place % 2]},{'yn'[place // 2 % 2]}\n" for place in range(40))
        path.write_text("patient,kind,ill\n" + rows, encoding="utf-8")
        of_table = (path, "--class", "ill")
        arguments = ("closeness", *of_table, "--prior", "y=0.5,n=0.5", "--r", "100")
        code, printed, _ = in_full(*arguments, "--out", out)
        assert code == 0
        assert load(out).certificate.differing_rows == 0  # of the rows of the table, and not unknown
        _, published, _ = in_full(*ANYHOW, *of_table, "--amplification", "200", "--out", tmp_path / "other")
        for words in ("patient has 40 values in 40 rows", "not declared"):
            (line,) = (line for line in printed.splitlines() if words in line)
            assert line.removeprefix("  !   mind this       ") in published
        assert "- Not for publication: every r but that of what was made" in printed
        said = found(*arguments, "--out", out, "--overwrite")["warnings"]
        assert all(text in printed for text in said)

    def test_1_3_is_impossible(self, run, found):
        arguments = ("closeness", PATIENTS, "--class", "diagnosis", *self.PRIOR, "--r", "1.3")
        code, printed, errors = run(*arguments)
        assert (code, errors) == (1, "")
        assert "at least" in printed
        answer = found(*arguments, code=1)
        assert answer["feasible"] is False
        assert "1.3" in answer["why"]

    def test_what_can_be_had_is_written(self, run, found, tmp_path):
        out = tmp_path / "out"
        arguments = (
            *("closeness", PATIENTS, "--class", "diagnosis", "--columns", "sex,smoking,glucose"),
            *(*self.PRIOR, "--r", "4"),
        )
        code, printed, _ = run(*arguments, "--out", out)
        assert code == 0
        assert "of what was made" in printed
        assert str(out / "certificate.json") in printed
        made = load(out)
        believed = {"healthy": "0.75", "diabetes": "0.25"}
        assert closeness.achieved(made.views, believed).r <= 4
        private = nbcfast.count(nbcfast.read_csv(PATIENTS), "diagnosis", ["sex", "smoking", "glucose"])
        assert nbcfast.compare(private, made.views).equal
        answer = found(*arguments)
        assert answer["feasible"] is True
        assert answer["identical"] is True
        assert answer["after"]["statement11"]["r"] <= 4
        assert answer["rows"] == made.views.n_rows
        assert answer["files"] == []

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "Missing option '--prior'"),
            (["--prior", "healthy=0.75"], "diabetes"),
            (["--prior", "healthy=0.75,diabetes=0"], "must be above 0"),
            (["--prior", "healthy=1.25,diabetes=-0.25"], "must be above 0"),
            (["--prior", "healthy=0.75,diabetes=0.35"], "must add up to 1"),
            (["--prior", "healthy=most,diabetes=0.35"], "must be a finite number, got 'most'"),
            (["--prior", "healthy=0.75,ill=0.25"], "--prior: 'ill' is none of its 2 values"),
            ([*PRIOR, "--out", "somewhere"], "--out and --rows go with --r R"),
            ([*PRIOR, "--rows", "proven"], "--out and --rows go with --r R"),
            ([*PRIOR, "--r", "1"], "above 1"),
        ],
    )
    def test_bad_options_leave_with_two(self, refused, arguments, message):
        assert message in refused("closeness", PATIENTS, "--class", "diagnosis", *arguments)

    def test_a_file_in_place_of_the_folder(self, refused):
        message = refused(
            "closeness", PATIENTS, "--class", "diagnosis", *self.PRIOR, "--r", 4, "--out", PATIENTS
        )
        assert "--out must not write over" in message
