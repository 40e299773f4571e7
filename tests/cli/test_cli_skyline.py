"""`nbcfast skyline check`, `find` and `anonymize`, and `verify` of what they write."""

import json
import sys

import pyarrow.parquet as pq
import pytest

import nbcfast
from nbcfast import skyline

# Two wards: the first has three of four with the flu.
CSV = """\
ward,age,ill,weight
1,30,flu,1
1,35,flu,1
1,40,flu,1
1,50,cold,1
2,31,flu,2
2,36,cold,1
2,41,gout,1
2,55,none,1
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "wards.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


@pytest.fixture
def people(tmp_path):
    """Enough people to be split."""
    lines = [f"{20 + i * 7 % 60},{'mf'[i % 2]},{'abcde'[i * i % 5]},{i % 3}" for i in range(400)]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age,sex,ill,rich", *lines]), encoding="utf-8")
    return path


CHECK = ("--by", "ward", "--sensitive", "ill")


def test_check_says_what_the_worst_attack_is(in_full, file):
    code, out, err = in_full("skyline", "check", file, *CHECK, "--point", "0,0,0,0.8", "--point", "1,0,0,0.8")
    assert (code, err) == (1, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["(0,", "0,", "0,", "0.8)", "0.75", "1", "safe"] in lines
    assert ["(1,", "0,", "0,", "0.8)", "1", "1", "UNSAFE"] in lines
    assert "worst attack  at (1, 0, 0, 0.8): target in the group of ward 1 (4 people, 3 with flu)" in out
    assert "known: that the target has not cold" in out
    assert out.startswith("UNSAFE: 1 of 2 points is not kept   ")


def test_check_leaves_with_0_where_all_is_safe(in_full, file):
    code, out, err = in_full(
        "skyline", "check", file, *CHECK, "--point", "0,0,0,19/20", "--weights", "weight"
    )
    assert (code, err) == (0, "")
    assert "people          9" in out
    assert out.startswith("safe at 1 point   ")


def test_check_as_json(run, file):
    code, out, _ = run("skyline", "check", file, *CHECK, "--point", "0,0,0,0.75", "--json")
    found = json.loads(out)
    assert code == 1
    assert found["safe"] is False
    assert (found["people"], found["groups"], found["k"], found["l"]) == (8, 2, 4, 2)
    assert found["points"][0]["breach"] == 0.75
    assert found["points"][0]["point"] == [0, 0, 0, "0.75"]
    assert found["points"][0]["attack"]["group"] == {"ward": 1}


def test_find_prints_the_skyline(in_full, file):
    code, out, err = in_full("skyline", "find", file, *CHECK, "--confidence", "0.95")
    groups = skyline.group(nbcfast.read_csv(file), ["ward"], "ill")
    points = skyline.find(groups, 0.95)
    assert (code, err) == (0, "")
    assert "the skyline at 0.95: " + ", ".join(map(str, points)) in out
    assert repr(skyline.frontier_table(points)) in out


def test_find_draws(in_full, file, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, _ = in_full(
        "skyline", "find", file, *CHECK, "--confidence", "0.95", "--plot", tmp_path / "skyline.png"
    )
    assert code == 0
    assert f"written  {tmp_path / 'skyline.png'}" in out
    assert (tmp_path / "skyline.png").read_bytes().startswith(b"\x89PNG")


def test_find_leaves_with_1_where_nothing_is_safe(in_full, file):
    code, out, _ = in_full("skyline", "find", file, *CHECK, "--confidence", "0.7")
    assert code == 1
    assert "--point 0,0,0,0.7\n" in out
    code, out, _ = in_full("skyline", "find", file, *CHECK, "--confidence", "0.7", "--json")
    assert (code, json.loads(out)["skyline"]) == (1, [])


ANONYMIZE = ("--by", "age,sex", "--sensitive", "ill")
AGES = ("anonymize", "FILE", "--by", "age", "--sensitive", "ill", "--out", "o")


def test_anonymize_writes_what_verify_verifies(in_full, people, tmp_path):
    out = tmp_path / "out"
    code, said, err = in_full(
        "skyline", "anonymize", people, *ANONYMIZE, "--point", "1,1,1,0.95", "--k", 5, "--out", out
    )
    assert (code, err) == (0, "")
    expected = skyline.anonymize(nbcfast.read_csv(people), ["age", "sex"], "ill", [(1, 1, 1, 0.95)], k=5)
    assert nbcfast.load(out).certificate == expected.certificate
    assert f"groups             {expected.n_groups} by age, sex" in said
    assert "demands            (1, 1, 1, 0.95); k = 5" in said
    assert "skyline at 0.95    " + ", ".join(map(str, expected.skyline())) in said
    assert "deFinetti attack" in said
    assert f"discernibility     {expected.utility().discernibility:,}" in said
    code, said, _ = in_full("verify", out)
    assert code == 0
    assert "ok  (1, 1, 1)  safe: breach" in said
    assert said.startswith("verified   ")
    (out / "table.csv").write_text((out / "table.csv").read_text() + "x\n")
    code, said, _ = in_full("verify", out)
    assert code == 1
    assert "x   table   the sha256 of table.csv does not match" in said


def test_anonymize_as_json(run, people, tmp_path):
    others = tmp_path / "others.csv"
    others.write_bytes(people.read_bytes())
    code, out, _ = run(
        "skyline",
        "anonymize",
        people,
        *ANONYMIZE,
        "--k",
        5,
        "--holdout",
        others,
        "--json",
        "--out",
        tmp_path / "o",
    )
    found = json.loads(out)
    assert code == 0
    assert found["rows"] == 400
    assert found["demands"] == {"points": [], "k": 5, "diversity": None, "closeness": None}
    assert found["skyline"]["confidence"] == "19/20"
    assert found["definetti"]["held_out"] is not None
    assert [entry["path"] for entry in found["files"]] == [
        str(tmp_path / "o" / name) for name in ("certificate.json", "table.csv")
    ]
    code, out, _ = run(
        "skyline",
        "anonymize",
        people,
        *ANONYMIZE,
        "--k",
        5,
        "--no-attack",
        "--json",
        "--out",
        tmp_path / "o",
        "--overwrite",
    )
    assert json.loads(out)["definetti"] is None


def test_every_option_reaches_the_partition(run, people, tmp_path):
    (tmp_path / "sex.csv").write_text("m;people;*\nf;people;*\n")
    code, _, err = run(
        *(
            "skyline",
            "anonymize",
            people,
            *ANONYMIZE,
            "--diversity",
            "7/2",
            3,
            "--closeness",
            "0.4",
            "--ordered",
        ),
        *("--hierarchy", f"sex={tmp_path / 'sex.csv'}", "--target", "rich", "--shuffle", "--counts", "n"),
        *("--out", tmp_path / "out"),
    )
    assert (code, err) == (0, "")
    fields = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert fields["diversity"] == ["7/2", 3]
    assert fields["closeness"] == ["2/5", "ordered"]
    assert (fields["order"], fields["weights"], fields["seeded"]) == ("shuffled", "n", False)
    expected = skyline.anonymize(
        nbcfast.read_csv(people),
        ["age", "sex"],
        "ill",
        diversity=("7/2", 3),
        closeness=("0.4", "ordered"),
        hierarchies={"sex": tmp_path / "sex.csv"},
        target="rich",
    )
    assert nbcfast.load(tmp_path / "out").certificate == expected.certificate


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_for_the_table_alone(in_full, people, tmp_path, ending):
    path = tmp_path / f"published.{ending}"
    code, out, _ = in_full("skyline", "anonymize", people, *ANONYMIZE, "--k", 5, "--out", path)
    assert code == 0
    assert "No certificate: only a folder gets one." in out
    read = nbcfast.read_csv(path) if ending == "csv" else nbcfast.read_parquet(path)
    assert read.n_rows == 400
    assert read.names == ("age", "sex", "ill")


def test_what_demands_leave_open_is_said(in_full, tmp_path):
    file, folder = tmp_path / "file.csv", tmp_path / "out"
    file.write_text("age,ill\n" + "20,flu\n" * 5 + "60,flu\n" * 3 + "60,cold\n" * 2)
    code, out, _ = in_full("skyline", "anonymize", file, *AGES[2:-1], folder, "--k", 5, "--closeness", 7)
    assert code == 0
    same = (
        "In 1 of 2 groups, of 5 people, all have the same value of 'ill': who knows that somebody is in one "
        "knows the value."
    )
    assert "7-closeness demands nothing: no distance is above 1.\n" in out
    assert same in out
    assert json.loads((folder / "certificate.json").read_text())["warnings"][1] == same
    assert nbcfast.load(folder).warnings[1] == same
    code, out, _ = in_full("verify", folder)
    assert (code, same in out) == (0, True)
    partition = skyline.anonymize(nbcfast.read_csv(file), ["age"], "ill", k=1, diversity=(2, 1))
    assert partition.warnings[:2] == ("k = 1 demands nothing.", "(2, 1)-diversity demands nothing.")
    assert skyline.anonymize(nbcfast.read_csv(file), ["age"], "ill", [(0, 0, 0, 1)]).warnings == ()


def test_on_disk(run, people, tmp_path):
    for out, files in ((tmp_path / "out", ["table.parquet"]), (tmp_path / "x.parquet", [])):
        code, said, err = run(
            "skyline", "anonymize", people, *ANONYMIZE, "--k", 5, "--memory-limit", "50MB", "--out", out
        )
        assert (code, err) == (0, "")
        assert "not measured: it takes a table in memory" in said
        if files:
            assert nbcfast.verify(out).ok
            assert pq.read_table(out / "table.parquet").num_rows == 400
            options = ("--memory-limit", "50MB", "--counts", "n", "--shuffle", "--out", tmp_path / "counted")
            assert run("skyline", "anonymize", people, *ANONYMIZE, "--k", 5, *options)[0] == 0
            assert nbcfast.verify(tmp_path / "counted").ok
            assert "n" in pq.read_schema(tmp_path / "counted" / "table.parquet").names
        else:
            assert pq.read_table(out).num_rows == 400


def test_what_cannot_be_had_leaves_with_1(run, people, tmp_path):
    code, out, err = run(
        "skyline", "anonymize", people, *ANONYMIZE, "--point", "4,0,0,0.9", "--out", tmp_path / "out"
    )
    assert (code, err) == (1, "")
    assert "the whole table as one group is unsafe, and no partition can be safer" in out
    assert "the target has not" in out
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("check", "FILE", *CHECK, "--point", "1,2,3"),
            "--point must be L,K,M,CONFIDENCE, such as 3,4,2,0.95",
        ),
        (("check", "FILE", *CHECK, "--point", "1,2,3,x"), "--point must be L,K,M,CONFIDENCE"),
        (("check", "FILE", *CHECK, "--point", "1,2,3,2"), "confidence must be in (0, 1]"),
        (("check", "FILE", *CHECK, "--point", "-1,2,3,0.5"), "l must be at least 0, got -1"),
        (
            ("check", "FILE", "--by", "ill", "--sensitive", "ill", "--point", "0,0,0,1"),
            "is among the columns",
        ),
        (
            ("check", "FILE", "--by", "x", "--sensitive", "ill", "--point", "0,0,0,1"),
            "has no column 'x'; it has 'ward', 'age', 'ill', 'weight'",
        ),
        (
            ("check", "FILE", "--by", "ward,ward", "--sensitive", "ill", "--point", "0,0,0,1"),
            "--by names 'ward' twice",
        ),
        (("check", "FILE", *CHECK), "Missing option '--point'"),
        (("check", "x.txt.zip", *CHECK, "--point", "0,0,0,1"), "FILE must end in .csv"),
        (("find", "FILE", *CHECK, "--confidence", "0"), "confidence must be in (0, 1], got '0'"),
        (("check", "FILE", *CHECK, "--point", "1,2,3,1.5"), "confidence must be in (0, 1], got 1.5"),
        ((*AGES, "--k", 2, "--out", "there/is/none.csv"), "--out: there is no folder 'there/is'"),
        (AGES, "expected a demand"),
        (
            ("anonymize", "FILE", *ANONYMIZE[:2], "--sensitive", "age", "--out", "o"),
            "'age' is among the columns",
        ),
        ((*AGES, "--ordered"), "--ordered goes with --closeness T"),
        ((*AGES, "--hierarchy", "age"), "--hierarchy must be NAME=FILE, got 'age'"),
        ((*AGES, "--diversity", 2, "x"), "--diversity: L must be an integer, got 'x'"),
        ((*AGES, "--k", 2, "--counts", "n", "--out", "o.pq"), "--shuffle and --counts go with a folder"),
        (
            (*AGES, "--k", 2, "--out", "o.txt"),
            "--out must be a folder, or a .csv or .parquet file",
        ),
        ((*AGES, "--k", 2, "--holdout", "FILE"), "--holdout: expected people who are not in FILE"),
        ((*AGES, "--k", 2, "--memory-limit", "1GB", "--holdout", "x.csv"), "--holdout: the deFinetti attack"),
        (
            (*AGES, "--k", 2, "--memory-limit", "1GB", "--out", "o.csv"),
            "--memory-limit: --out must be a folder or a .parquet file, got 'o.csv'",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(in_full, file, arguments, message):
    code, out, err = in_full("skyline", *(file if argument == "FILE" else argument for argument in arguments))
    assert (code, out) == (2, "")
    assert err.startswith("nbcfast: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize("limit", [(), ("--memory-limit", "1GiB")])
@pytest.mark.parametrize("folder", [False, True])
def test_the_private_file_is_never_written_over(run, people, tmp_path, limit, folder):
    private = tmp_path / ("table.csv" if folder else "private.parquet")
    if folder:
        people.rename(private)
    else:
        pq.write_table(nbcfast.read_csv(people).to_arrow(), private)
    before = private.read_bytes()
    (tmp_path / "link.parquet").symlink_to(private)
    for out in [tmp_path] if folder else [private, tmp_path / "." / private.name, tmp_path / "link.parquet"]:
        code, _, err = run("skyline", "anonymize", private, *ANONYMIZE, "--k", 5, *limit, "--out", out)
        assert code == 2
        assert "--out must not write over" in err
    assert private.read_bytes() == before


def test_other_files_that_are_read_are_not_written_over(run, people, tmp_path):
    sets = tmp_path / "sets.csv"
    sets.write_text("m;*\nf;*\n")
    for option, path in (("--holdout", tmp_path / "held.csv"), ("--hierarchy", sets)):
        path.write_text("x")
        given = path if option == "--holdout" else f"sex={path}"
        code, _, err = run("skyline", "anonymize", people, *ANONYMIZE, "--k", 5, "--out", path, option, given)
        assert code == 2
        assert "--out must not write over" in err
    code, _, err = run(
        "skyline", "find", people, "--by", "age", "--sensitive", "ill", "--confidence", 1, "--plot", people
    )
    assert (code, "--plot must not write over" in err) == (2, True)


@pytest.mark.parametrize("limit", [(), ("--memory-limit", "1GiB")])
def test_a_failure_leaves_no_folders(run, people, tmp_path, limit, monkeypatch):
    out = tmp_path / "q" / "w" / "e"
    wanted = ("skyline", "anonymize", people, *ANONYMIZE, *limit, "--out", out)
    code, out_text, err = run(*wanted, "--k", 401)
    assert (code, err, out_text.startswith("CANNOT BE HAD: ")) == (1, "", True)
    assert not (tmp_path / "q").exists()
    code, _, err = run(*wanted, "--k", 5, "--counts", "ill")
    assert (code, "--counts: expected the name of a new column, got 'ill'" in err) == (2, True)
    assert not (tmp_path / "q").exists()

    def broken(*_):
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr("nbcfast.mondrian.wire._document", broken)
        assert run(*wanted, "--k", 5)[0] == 2
    assert not (tmp_path / "q").exists()
    assert run(*wanted, "--k", 5)[0] == 0
    files = ["certificate.json", "table.csv", *(["table.parquet"] if limit else [])]
    assert sorted(path.name for path in out.iterdir()) == files


def test_more_people_than_numbers_hold(run, people, tmp_path):
    code, out, _ = run("skyline", "anonymize", people, *ANONYMIZE, "--k", 10**23, "--out", tmp_path / "out")
    assert (code, "a group has 400 people, fewer than k = 1" in out) == (1, True)


def test_a_breach_below_1_is_not_printed_as_1(in_full, tmp_path):
    path = tmp_path / "wards.csv"
    path.write_text(f"ward,ill,n\n1,flu,{10**15}\n1,cold,1\n")
    code, out, _ = in_full(
        "skyline", "check", path, "--by", "ward", "--sensitive", "ill", "--weights", "n", "--point", "0,0,0,1"
    )
    assert code == 0
    assert "(0, 0, 0, 1)  1 " not in out
    assert "0.99999999" in next(line for line in out.splitlines() if line.lstrip().startswith("(0, 0, 0, 1)"))


def test_an_attack_that_is_too_large_is_not_measured(run, people, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["nbcfast.attack.definetti"], "MOST_GUESSES", 100)
    wanted = ("skyline", "anonymize", people, *ANONYMIZE, "--k", 5, "--out", tmp_path / "out")
    code, out, _ = run(*wanted)
    assert code == 0
    assert "not measured: the attack gives a probability to each of" in " ".join(out.split())
    code, out, _ = run(*wanted, "--json", "--overwrite")
    assert (code, json.loads(out)["definetti"][:13]) == (0, "not measured:")


def test_help(run):
    code, out, _ = run("skyline", "--help")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if line.startswith("  ")][-3:] == [
        "anonymize",
        "check",
        "find",
    ]


def test_a_holdout_that_does_not_fit_is_named_before_anything_is_written(in_full, tmp_path):
    file, other = tmp_path / "in.csv", tmp_path / "other.csv"
    file.write_text("age,ill\n" + "1,flu\n2,cold\n3,gout\n" * 5, encoding="utf-8")
    other.write_text("city,ill\na,flu\n", encoding="utf-8")
    code, _, errors = in_full(
        *("skyline", "anonymize", file, "--by", "age", "--sensitive", "ill", "--k", 2),
        *("--out", tmp_path / "out", "--holdout", other),
    )
    assert code == 2
    assert "other.csv" in errors
    assert not (tmp_path / "out").exists()


def test_a_table_that_is_published_as_it_is(in_full, file, people, tmp_path):
    """It was said by a penalty of 0 alone."""
    options = ("--sensitive", "ill", "--no-attack", "--k", "3")
    said = (
        "Nothing is generalised: these columns of the table are published as they are. That is allowed "
        "because the groups of equal rows keep the demands already (k = 3), and they promise no more."
    )
    for more in ((), ("--memory-limit", "1GiB")):
        out = tmp_path / f"out{len(more)}"
        code, printed, err = in_full(
            "skyline", "anonymize", file, "--by", "ward", *options, "--out", out, *more
        )
        assert (code, err) == (0, "")
        assert said in printed
    arguments = ("--by", "ward", *options, "--out", tmp_path / "x.csv", "--json")
    assert said in json.loads(in_full("skyline", "anonymize", file, *arguments)[1])["warnings"]
    many = (*options[:-1], "30")
    printed = in_full("skyline", "anonymize", people, "--by", "age", *many, "--out", tmp_path / "y.csv")[1]
    assert "Nothing is generalised" not in printed
    table = nbcfast.Table({"age": [1.0, 1.0 + 2**-52, 99.0, 99.0], "ill": list("abab")})
    assert not any("as they are" in text for text in skyline.anonymize(table, ["age"], "ill", k=2).remarks)
    assert nbcfast.load(tmp_path / "out0").remarks == ()


def test_the_order_of_texts_is_said_where_distances_are_ordered(in_full, tmp_path):
    path, out = tmp_path / "stages.csv", tmp_path / "out"
    rows = "".join(f"{20 + i},{('low', 'medium', 'high')[i % 3]},{i % 3}\n" for i in range(60))
    path.write_text("age,risk,stage\n" + rows, encoding="utf-8")
    arguments = ("skyline", "anonymize", path, "--by", "age", "--closeness", "0.4", "--out", out)
    order = "'high' < 'low' < 'medium'"
    code, said, _ = in_full(*arguments, "--sensitive", "risk", "--ordered")
    assert code == 0
    assert f"Ordered distances take 'risk' in this order, that of its texts letter by letter: {order}" in said
    again = (*arguments, "--overwrite")
    _, said, _ = in_full(*again, "--sensitive", "risk", "--ordered", "--json")
    assert [text for text in json.loads(said)["warnings"] if order in text]
    assert "in this order" not in in_full(*again, "--sensitive", "risk")[1]
    assert "in this order" not in in_full(*again, "--sensitive", "stage", "--ordered")[1]
