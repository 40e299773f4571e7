"""Texts that a spreadsheet would run are said to the owner, and leave as they are."""

import json

import pytest
from accepting import ANYHOW

import nbcfast
from nbcfast import response, skyline, templates
from nbcfast.published.formulas import spreadsheet_remarks

STARTS = ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
START = (
    "A spreadsheet may take texts that start with =, +, -, @, a tab or a line end for formulas, and run "
    "them: "
)
END = ". They are published as they are."


@pytest.mark.parametrize("start", STARTS)
def test_each_start_of_values_and_names_is_found(start):
    text = f"{start}1+1"
    assert spreadsheet_remarks({"job": ["cook", text]}) == (f"{START}values of 'job' ({text!r}){END}",)
    assert spreadsheet_remarks({text: ["cook"]}) == (f"{START}the column name {text!r}{END}",)
    assert spreadsheet_remarks({}, [text]) == (f"{START}the column name {text!r}{END}",)
    assert spreadsheet_remarks({"job": [f"cook{text}", f" {text}", f"'{text}"]}) == ()


def test_numbers_are_no_texts():
    values = [-5, -2.5, True, None, nbcfast.Interval(None, -3), nbcfast.Interval(-5, -3)]
    assert spreadsheet_remarks({"loss": values}) == ()
    assert "values of 'loss' ('-5')" in spreadsheet_remarks({"loss": ["-5"]})[0]
    assert "('=" + "x" * 39 + "..')" in spreadsheet_remarks({"long": ["=" + "x" * 99]})[0]


PEOPLE = {"loss": [-1, -2] * 10, "@job": ["=cmd", "cook", "clerk", "cook"] * 5, "ill": ["-x", "y"] * 10}
SAID = (f"{START}values of '@job' ('=cmd'), values of 'ill' ('-x'), the column name '@job'{END}",)


def test_every_kind_of_result_says_it_and_no_certificate(tmp_path):
    table = nbcfast.Table(PEOPLE)
    scheme = response.KaryScheme("2/3", {"ill": ["-x", "y"]})
    template = templates.Template(["loss"], ("ill", "y"), 1)
    made = {
        "release": nbcfast.safety_transform(nbcfast.count(table, "ill"), 9, class_name="ill"),
        "partition": skyline.anonymize(table, ["loss", "@job"], "ill", k=5),
        "disclosure": templates.disclose(table, [template], utility="distortion"),
        "disguised": response.disguise(table, scheme),
    }
    for kind, one in made.items():
        one.save(tmp_path / kind)
        assert "spreadsheet" not in (tmp_path / kind / "certificate.json").read_text()
        assert nbcfast.verify(tmp_path / kind).ok is not False
        if kind == "partition":
            (text,) = one.remarks
            assert text.startswith(START)
            assert "values of 'ill' ('-x')" in text
            assert "'loss'" not in text
            continue
        assert one.remarks[-1:] == SAID
        assert nbcfast.load(tmp_path / kind).remarks[-1:] == SAID


def test_a_cell_of_a_hierarchy_is_a_text():
    table = {"loss": [-1, -2, -3, -4], "ill": ["x", "y"] * 2}
    assert skyline.anonymize(table, ["loss"], "ill", k=2).remarks == ()
    sets = {"loss": {"*": {"-2..-1": [-1, -2], "-4..-3": [-3, -4]}}}
    (text,) = skyline.anonymize(table, ["loss"], "ill", k=2, hierarchies=sets).remarks
    assert "values of 'loss' ('-" in text
    (text,) = skyline.anonymize(table, ["loss"], "ill", k=1, hierarchies=sets).remarks
    assert text.startswith("Nothing is generalised")


@pytest.fixture
def file(tmp_path):
    pytest.importorskip("pyarrow")
    lines = [",".join(map(str, row)) for row in zip(*PEOPLE.values(), strict=True)]
    path = tmp_path / "people.csv"
    path.write_text("\n".join([",".join(PEOPLE), *lines, ""]))
    return path


VERBS = {
    "publish": (*ANYHOW, "FILE", "--class", "ill", "--amplification", 9),
    "anonymize": ("skyline", "anonymize", "FILE", "--by", "loss,@job", "--sensitive", "ill", "--k", 5),
    "disclose": ("templates", "disclose", "FILE", "--template", "loss -> ill=y <= 100%"),
    "disguise": (
        "response",
        "disguise",
        "FILE",
        "--theta",
        "0.8",
        "--groups",
        "ill",
        "--k-ary",
        "--keep",
        "loss,@job",
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_name_the_columns_and_alter_nothing(run, file, tmp_path, verb):
    wanted = [file if argument == "FILE" else argument for argument in VERBS[verb]]
    code, out, _ = run(*wanted, "--out", tmp_path / "out")
    assert code == 0
    said = " ".join(out.split())
    assert said.count("for formulas, and run them: values of") == 1
    assert "values of 'ill' ('-x')" in said
    assert "the column name '@job'. They are published as they are." in said
    code, out, _ = run(*wanted, "--out", tmp_path / "out", "--overwrite", "--json")
    assert code == 0
    assert sum("spreadsheet" in text for text in json.loads(out)["warnings"]) == 1
    name = "certificate.json" if verb == "publish" else "table.csv"
    assert "-x" in (tmp_path / "out" / name).read_text()
    file.write_text(file.read_text().replace("@", "").replace("=", "").replace("-x", "x"))
    code, out, _ = run(*(w if w != "loss,@job" else "loss,job" for w in wanted), "--out", tmp_path / "calm")
    assert (code, "spreadsheet" in out) == (0, False)


@pytest.mark.parametrize("verb", ["anonymize", "disclose"])
def test_the_column_of_counts_has_a_name_too(run, file, tmp_path, verb):
    file.write_text(file.read_text().replace("@", "").replace("=", "").replace("-x", "x"))
    wanted = [file if argument == "FILE" else str(argument).replace("@", "") for argument in VERBS[verb]]
    out = run(*wanted, "--counts", "+n", "--out", tmp_path / "out")[1]
    assert "run them: the column name '+n'." in " ".join(out.split())
    found = json.loads(run(*wanted, "--counts", "+n", "--out", tmp_path / "again", "--json")[1])
    assert any("the column name '+n'" in text for text in found["warnings"])
