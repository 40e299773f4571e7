"""The file of Python by itself: without nbcfast, from a table of text to one with a class more."""

import ast
import csv
import os
import subprocess
import sys
from itertools import pairwise

import export_cases as cases
import numpy as np
import pytest

import nbcfast
from nbcfast import Interval, canonical
from nbcfast.exports import points_of
from nbcfast.exports.formats import FORMATS

VALUES = {
    "age": [Interval(0, 18), Interval(18, None)],
    "size, in cm": [1.5, 2.0],
    "sex": ["f", "m", None],
    "smokes": [False, True],
    "n": [-1, 0, 7],
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file whose answers follow the column n alone, in which all columns count."""
    rng = np.random.default_rng(5)
    counts = {
        name: np.stack([rng.multinomial(30, np.full(len(values), 1 / len(values))) for _ in "ab"], axis=1)
        for name, values in VALUES.items()
    }
    views = nbcfast.Viewset([30, 30], counts, classes=["well", "größer"], domains=VALUES)
    path = tmp_path_factory.mktemp("files") / "rule.py"
    canonical.release(views, 4, class_name="ill?").export(path)
    return path


def run(path, text, *options):
    return subprocess.run(
        [sys.executable, "-I", "-S", *options, path],
        input=text if isinstance(text, bytes) else text.encode(),
        capture_output=True,
        timeout=60,
    )


def test_it_runs_on_older_pythons(path):
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"\xff\xfe", "got UTF-16"),
        ("id,age\n1,2\n".encode("utf-16"), "got UTF-16"),
        (b"\xfe\xff\0i", "got UTF-16"),
        ("größe\n".encode("latin-1"), "got byte 0xf6, which is not UTF-8"),
        (b'"' + b"a" * 200_000 + b'"\n', "field larger than field limit (131072)"),
    ],
)
def test_what_is_no_csv_in_utf_8_is_said_in_a_line(path, data, found):
    said = run(path, data)
    assert (said.returncode, said.stdout) == (2, b"")
    error = said.stderr.decode()
    assert error.count("\n") == 1
    assert error.startswith("standard input: ")
    assert error.rstrip().endswith(found)


def test_csv_in_and_out(path):
    header = 'id,age,"size, in cm",sex,smokes,n\n'
    rows = {
        "1,17.5,1.5,f,true,-1": True,
        '2,18,2.0,"m",False,7': True,
        "3,1e2,2,,false,0": True,  # a null where null is published
        "4,18,2,f,yes,0": False,
        "5,-1,2,f,true,0": False,
        "6,nan,2,f,true,0": False,
        "7,inf,2,f,true,0": False,
        "8,,2,f,true,0": False,
        "9,18,2,f,true,0.5": False,
        "10,18,2,F,true,0": False,
        "11,18,0x2,f,true,0": False,
        "12, 18,2,f,true,0": False,
        "13,1_8,2,f,true,0": False,
        "14,18,2,f,1,0": False,
        "15,18,2,f,TRUE,0": False,
    }
    done = run(path, "\ufeff" + header + "\n".join(rows) + "\n")
    assert (done.returncode, done.stderr) == (0, b"")
    first, *lines = done.stdout.decode().splitlines()
    assert first == header.strip() + ",ill?"
    assert [line.split(",")[0] for line in lines] == [row.split(",")[0] for row in rows]
    labels = [line.rpartition(",")[2] for line in lines]
    assert [label in ("well", "größer") for label in labels] == list(rows.values())
    assert [label for label in labels if label not in ("well", "größer")] == [""] * 12
    space = {"__name__": "rule"}
    exec(path.read_text(encoding="utf-8"), space)
    names = ["age", "size, in cm", "sex", "smokes", "n"]
    typed = [
        (17.5, 1.5, "f", True, -1),
        (18, 2, "m", False, 7),
        (np.float32(100), np.int64(2), None, np.bool_(False), 0.0),
    ]
    decided = [space["decide"](dict(zip(names, row, strict=True))) for row in typed]
    assert decided == labels[:3]
    odd = [(18, 2, "f", True, True), (True, 2, "f", True, 0), ("18", 2, "f", True, 0), (18, 2, "f", 1, 0)]
    assert [space["decide"](dict(zip(names, row, strict=True))) for row in odd] == [None] * 4
    nan = dict(zip(names, (18, 2, np.nan, True, 0), strict=True))
    assert space["decide"](nan) == space["decide"]({**nan, "sex": None}) in ("well", "größer")
    with pytest.raises(KeyError, match="n"):
        space["decide"](dict(zip(names, typed[0][:4], strict=False)))


CELLS = [
    *(
        "0.09999999999999999999999",
        "0.1",
        "17.9999999999999999999",
        "18",
        "9007199254740991.5",
        "1/3",
        "1/0",
        "5.",
        "+.5",
    ),
    *(
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.0",
        "9007199254740992.0",
        "9007199254740996",
        "-0",
        "-0.0",
    ),
    *(
        "01",
        "+1",
        "1e0",
        "1.0",
        "1",
        "0",
        "1e-400",
        "1e400",
        "1e99999",
        "-1e400",
        "0.10",
        ".1",
        "2.50",
        "2.5",
        "1E1",
        "10",
    ),
    *(
        "inf",
        "-inf",
        "nan",
        "NaN",
        "1_0",
        " 1",
        "1 ",
        "\uff11",
        "10%",
        "0x1",
        "",
        "TRUE",
        "True",
        "true",
        "False",
        "f",
    ),
    *(
        "[0, 18)",
        "(-inf, 0.1)",
        "[0.1, 18)",
        "[18, 9007199254740992)",
        "[9007199254740996, inf)",
        "(null)",
        "None",
    ),
    *(
        "2020-05-01",
        "2020-12-31T23:59:59",
        "2021-01-01",
        "2021-1-1",
        "1999-01-01",
        "12020-01-01",
        "-2020-01-01",
    ),
    *("[2020-01-01, 2021-01-01)", "[2021-01-01, inf)", "low or normal", "none", "a", "b", "c", "[0, 2)"),
]
BINS = [None, "0.1", 18, 2**53, 2**53 + 4, None]
DOMAINS = {
    "bins": [Interval(low, high) for low, high in pairwise(BINS)],
    "odd": [Interval(None, "1/3"), Interval("1/3", 18), None],
    "ints": [0, 1, 10, 2**53, 2**53 + 1],
    "floats": [-2.5, 0.0, 0.1, 2.5, 10.0, float(2**53)],
    "bools": [False, True],
    "texts": ["01", "1", "none", "TRUE", ""],
    "days": ["(-inf, 2020-01-01)", "[2020-01-01, 2021-01-01)", "[2021-01-01, inf)"],
}


def as_predicted(tmp_path, release, **options):
    """Of each cell in a CSV file what the program and the library say of it: where neither knows it, None."""
    name = release.views.attributes[0]
    rows = tmp_path / "rows.csv"
    with open(rows, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[name, "last"], *([cell, "."] for cell in CELLS)])
    predicted = release.predict(rows, unseen="null", **options)
    release.export(tmp_path / "rule.py", overwrite=True, **options)
    done = run(tmp_path / "rule.py", rows.read_text(encoding="utf-8"))
    labels = [row[-1] or None for row in csv.reader(done.stdout.decode().splitlines())][1:]
    said = zip(CELLS, labels, predicted.tolist(), strict=True)
    return {cell: (by_program, by_library) for cell, by_program, by_library in said}


def made_of(name, values):
    """A release in which each value has a class of its own."""
    n = len(values)
    counts = np.full((n, n), 1) + 9 * np.eye(n, dtype=int)
    views = nbcfast.Viewset(
        counts.sum(axis=0), {name: counts}, classes=list("abcdefgh"[:n]), domains={name: values}
    )
    return canonical.release(views, 4)


@pytest.mark.parametrize("name", DOMAINS)
def test_every_cell_has_the_class_that_predict_gives_it(tmp_path, name):
    found = as_predicted(tmp_path, made_of(name, DOMAINS[name]))
    assert {cell: pair for cell, pair in found.items() if pair[0] != pair[1]} == {}
    assert len({pair[0] for pair in found.values()}) > 1


def test_names_of_sets_are_no_raw_values(tmp_path):
    pairs = as_predicted(
        tmp_path,
        made_of("x", ["low or normal", "none"]),
        domains={"x": {"groups": {"low or normal": ["a", "b"], "none": ["c", None]}}, "class": ["a", "b"]},
    )
    assert {cell: pair for cell, pair in pairs.items() if pair[0] != pair[1]} == {}
    assert [pairs[cell][0] for cell in ("a", "c", "", "none", "low or normal")] == ["a", "b", "b", None, None]


def test_a_number_between_a_fraction_and_the_double_beside_it(path, tmp_path):
    made_of("odd", DOMAINS["odd"]).export(tmp_path / "rule.py")
    space = {"__name__": "rule"}
    exec((tmp_path / "rule.py").read_text(encoding="utf-8"), space)
    numbers_ = [1 / 3, np.nextafter(1 / 3, 1), -np.inf, np.inf, 17, np.float64(0.3)]
    assert [space["decide"]({"odd": number}) for number in numbers_] == ["a", "b", "a", None, "b", "a"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("age,sex\n1,f\n", b"expected one column 'size, in cm', got ['age', 'sex']"),
        ("", b"expected one column 'age', got []"),
        ('age,"size, in cm",sex,smokes,n\n1,2\n', b"line 2: expected 5 fields, got 2"),
        (
            'age,"size, in cm",sex,smokes,n,ill?\n',
            b"the rows have a column 'ill?' already: --name NAME gives the class that is added another",
        ),
    ],
)
def test_a_table_that_does_not_fit(path, text, said):
    done = run(path, text)
    assert (done.returncode, done.stderr.strip()) == (2, said)


def test_the_class_column_stays_beside_another_name(path):
    text = 'age,"size, in cm",sex,smokes,n,ill?\n18,2,f,true,0,well\n'
    done = subprocess.run(
        [sys.executable, "-I", path, "--name", "said"], input=text.encode(), capture_output=True, timeout=60
    )
    first, row = done.stdout.decode().splitlines()
    assert (done.returncode, first) == (0, 'age,"size, in cm",sex,smokes,n,ill?,said')
    assert row.split(",")[-2] == "well"
    assert row.split(",")[-1] in ("well", "größer")
    for wrong in (["--name"], ["--name", ""], ["rows.csv"], ["--name", "a", "b"]):
        done = subprocess.run([sys.executable, "-I", path, *wrong], capture_output=True, timeout=60)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.endswith(b" [--name NAME] < rows.csv > decided.csv" + os.linesep.encode())


def test_names_are_data():
    """What a name or label says is never run, and ends no text."""
    name = "x'''\"\"\"\\\n{run}"
    views = nbcfast.Viewset(
        [5, 5], {name: [[1, 4], [4, 1]]}, classes=['"""', "'''\\"], domains={name: ["\\'", '"#\r\n']}
    )
    release = canonical.release(views, 4, class_name='""" + quit() + """\\')
    points = points_of(release)
    content = FORMATS[".py"].content(points, cases.about(release))
    assert cases.by_python(content, points, [["\\'"], ['"#\r\n'], ["'"]]) == ["'''\\", '"""', None]
