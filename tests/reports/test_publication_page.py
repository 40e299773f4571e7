"""The private report of a release says what the screen says, and shows what it rests on."""

import contextlib
import io
import re
import subprocess
from pathlib import Path

import pytest
from page_cases import text_of

from nbcfast._markup.pages import MOST_BYTES, PRIVATE
from nbcfast.cli import main
from nbcfast.reports.publication_page import QUESTION

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PATIENTS = [str(EXAMPLES / "patients.csv"), "--class", "diagnosis", "--amplification", "4"]
MENU = ["--menu", str(EXAMPLES / "patients-menu.json")]


def run(*arguments, cwd):
    """A command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    printed = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with contextlib.chdir(cwd), printed[0], printed[1], pytest.raises(SystemExit) as left:
        main([*map(str, arguments)])
    return subprocess.CompletedProcess(arguments, left.value.code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder with the reports of a release that left, and of one that was refused."""
    folder = tmp_path_factory.mktemp("reports")
    left = run("publish", *PATIENTS, *MENU, "--out", "release", "--report", "left.html", cwd=folder)
    refused = run("publish", *PATIENTS, "--out", "none", "--report", "refused.html", cwd=folder)
    assert (left.returncode, refused.returncode) == (0, 1), left.stderr + refused.stderr
    assert not (folder / "none").exists()
    return folder, left, refused


def test_the_report_says_the_verdict_and_every_finding_of_the_screen(written):
    folder, left, refused = written
    for name, done, verdict in (
        ("left", left, "published, every check green"),
        ("refused", refused, "DO NOT PUBLISH YET"),
    ):
        text = text_of(folder / f"{name}.html")
        assert text.startswith(f"{QUESTION} {PRIVATE.text}")
        assert verdict in text
        lines = [line for line in done.stdout.splitlines() if re.match(r"  (x |ok|! |\? )", line)]
        assert len(lines) >= 7
        for line in lines:
            assert " ".join(line.split()[1:]) in text
    assert "whoever knows how many people have glucose = high" in text_of(folder / "refused.html")
    assert "glucose = high diabetes 1,023" in text_of(folder / "refused.html")
    assert "5,000 of 5,000" in text_of(folder / "refused.html")
    assert "0 of 5,000" in text_of(folder / "left.html")
    assert "What else there was" in text_of(folder / "left.html")
    assert "nothing was written but the report" in text_of(folder / "refused.html")


def test_a_bound_is_the_same_on_the_screen_and_on_the_page(written):
    folder, left, _ = written
    bound = re.search(r"nobody above ([0-9.]+%) of a class", left.stdout)[1]
    assert f"Nobody above {bound} of a class" in text_of(folder / "left.html")


def test_what_was_not_measured_is_said_and_is_no_tick(written):
    folder, *_ = written
    text = text_of(folder / "left.html")
    assert (
        "not measured a whole row, and wonders whether it was in the table not measured: give --hold" in text
    )


def test_a_report_is_small_runs_nothing_and_names_no_place(written):
    folder, *_ = written
    for name in ("left", "refused"):
        data = (folder / f"{name}.html").read_bytes()
        assert len(data) < MOST_BYTES
        assert b"<script" not in data
        assert b"http" not in data.replace(b"http-equiv", b"")
        assert str(folder).encode() not in data


@pytest.mark.parametrize("name", ["left", "refused"])
def test_a_report_is_printed_on_three_sheets_at_most(name, browser, written):
    page = browser.new_page()
    page.goto((written[0] / f"{name}.html").as_uri())
    printed = page.pdf(prefer_css_page_size=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 3
    page.close()


def test_the_same_table_and_options_give_the_same_bytes(written, tmp_path):
    folder, *_ = written
    again = run("publish", *PATIENTS, *MENU, "--out", "release", "--report", "left.html", cwd=tmp_path)
    assert again.returncode == 0
    assert (tmp_path / "left.html").read_bytes() == (folder / "left.html").read_bytes()


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("out/report.html", "--report must not be in 'out', the folder of --out"),
        ("report.pdf", "--report must end in .html or .htm, got 'report.pdf'"),
        ("there.html", "there.html"),
        ("none/report.html", "--report must be in a folder that exists"),
    ],
)
def test_where_a_report_may_not_be_written(report, said, tmp_path):
    (tmp_path / "there.html").write_text("mine")
    done = run("publish", *PATIENTS, *MENU, "--out", "out", "--report", report, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert (tmp_path / "there.html").read_text() == "mine"
    assert not (tmp_path / "out").exists()


def test_hostile_labels_are_shown_and_do_nothing(tmp_path):
    evil = '</script><img src=x onerror="alert(1)">'
    rows = [f'"{evil.replace(chr(34), chr(34) * 2)}",a,y', "b,a,n", "b,c,n", "c,c,y"] * 30
    (tmp_path / "evil.csv").write_text("</style>,<b>,</title>\n" + "\n".join(rows) + "\n")
    asked = ["evil.csv", "--class", "</title>", "--amplification", "4", "--out", "o", "--accept-answers"]
    done = run("publish", *asked, "--report", "r.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "r.html").read_text()
    assert "<img" not in page
    assert "<script" not in page
    assert "&lt;b&gt;" in page
    assert page.count("</style>") == 1
    assert page.count("</title>") == 1
    assert evil in text_of(tmp_path / "r.html")


def test_three_classes_strata_and_noise_have_a_report(tmp_path):
    several = ["--class", "glucose", "--amplification", "8", "--columns", "age,relatives", "--accept-answers"]
    asked = [EXAMPLES / "patients.csv", *several, "--out", "c", "--report", "c.html"]
    done = run("publish", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Each class has a total" in text_of(tmp_path / "c.html")
    by = [*PATIENTS, "--columns", "age,glucose,sex", "--by", "sex", "--accept-answers"]
    done = run("publish", *by, "--out", "s", "--report", "s.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Each stratum" in text_of(tmp_path / "s.html")
    (tmp_path / "domain.json").write_text(
        '{"age": ["18-29", "30-39", "40-49", "50-59", "60-69", "70+"], "sex": ["female", "male"], '
        '"diagnosis": ["healthy", "diabetes"]}'
    )
    noisy = [*PATIENTS, "--columns", "age,sex", "--domain", "domain.json", "--dp-epsilon", "1"]
    done = run("publish", *noisy, "--out", "n", "--report", "n.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = text_of(tmp_path / "n.html")
    assert "Noise epsilon 1" in text
    assert "for you alone" in text
