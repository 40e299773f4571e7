"""What `export` writes, refuses, and says; and what becomes of a file that differs."""

import importlib.util
import itertools
import os
import re

import export_cases as cases
import numpy as np
import pytest

import nbcfast
from nbcfast import SUPPRESSED, Interval, canonical
from nbcfast._core.numbers import edge
from nbcfast.exports import About, Exported, export, points_of, tuples_to_compare
from nbcfast.exports import exporting as module
from nbcfast.exports import points_of_release as points_module
from nbcfast.exports.domain_tuples import ByClass
from nbcfast.exports.formats import FORMATS, format_of
from nbcfast.exports.raw_values import raw_values
from nbcfast.exports.scorecard_csv import inert, meant
from nbcfast.published.points_table import PointsTable
from nbcfast.published.points_totals import expect_fit, most_total

PRIVATE = nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]], "sex": [[1, 4], [4, 1]]}, classes=["no", "yes"])
RELEASE = nbcfast.safety_transform(PRIVATE, 4, class_name="ill")


@pytest.mark.parametrize("ending", cases.ENDINGS)
def test_a_file_is_whole_or_not_there(tmp_path, ending, monkeypatch):
    if FORMATS[ending].runtime() is None:
        pytest.skip(f"needs {FORMATS[ending].loads}")
    path = tmp_path / f"rule{ending}"
    made = RELEASE.export(path)
    assert isinstance(made, Exported)
    data = path.read_bytes()
    assert (made.path, made.format, made.bytes) == (str(path), ending[1:], len(data))
    assert made.sha256.encode() in data
    assert (made.identical, made.compared, made.tuples) == (True, 4, 4)
    assert made.text.startswith("exported: same class on all 4 tuples (")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        RELEASE.export(path)
    again = canonical.release(PRIVATE, 4, class_name="ill")
    again.export(path, overwrite=True)
    other = path.read_bytes()
    assert other != data
    # A file that differs leaves what was there.
    wrong = FORMATS[ending]._replace(decides=lambda content, points, about, codes: np.full(len(codes), -1))
    monkeypatch.setattr(module, "FORMATS", {**FORMATS, ending: wrong})
    with pytest.raises(module.DifferingFileError, match="decides 4 of 4 tuples otherwise"):
        again.export(path, overwrite=True)
    assert path.read_bytes() == other
    with pytest.raises(module.DifferingFileError, match="gives no class, expected"):
        again.export(tmp_path / f"new{ending}")
    assert os.listdir(tmp_path) == [path.name]


def test_the_sha256_is_that_of_the_file_that_save_writes(tmp_path):
    RELEASE.save(tmp_path / "release")
    loaded = nbcfast.load(tmp_path / "release")
    found = {loaded.export(tmp_path / "a.sql").sha256, RELEASE.export(tmp_path / "b.sql").sha256}
    assert len(found) == 1
    assert f'"sha256":"{found.pop()}"' in (tmp_path / "release" / "certificate.json").read_text()
    assert (tmp_path / "a.sql").read_bytes() == (tmp_path / "b.sql").read_bytes()


def test_without_a_runtime_it_says_so(tmp_path, monkeypatch):
    missing = FORMATS[".onnx"]._replace(runtime=lambda: None)
    monkeypatch.setattr(module, "FORMATS", {**FORMATS, ".onnx": missing})
    made = RELEASE.export(tmp_path / "a.onnx")
    assert (made.identical, made.compared, made.runtime) == (None, 0, None)
    assert made.text == "written, NOT compared: no onnxruntime here"
    unasked = RELEASE.export(tmp_path / "b.onnx", check=False)
    assert unasked.text == "written, NOT compared: it was not asked for"
    assert "NOT compared" in repr(unasked)
    assert unasked.to_dict()["identical"] is None


def test_what_is_no_release_is_refused(tmp_path):
    with pytest.raises(TypeError, match=r"got a Viewset: its counts are private.* Publish it first"):
        export(PRIVATE, tmp_path / "a.sql")
    with pytest.raises(TypeError, match="release must be a Release, got dict"):
        export({}, tmp_path / "a.sql")
    views = nbcfast.Viewset([5, 5], {"job": [[1, 4], [4, 1]]})
    forged = nbcfast.Release(views, nbcfast.Certificate(amplification=2, tuples=2))
    with pytest.raises(ValueError, match=r"not exported: .*limit"):
        export(forged, tmp_path / "a.sql")
    assert os.listdir(tmp_path) == []


def test_the_ending_and_what_is_asked_for():
    assert (format_of("a.SQL"), format_of("a", "py"), format_of("a.sql", "sql")) == (".sql", ".py", ".sql")
    with pytest.raises(ValueError, match=r"the name must end in one of \.sql, .*, got 'a\.txt'"):
        format_of("a.txt")
    with pytest.raises(ValueError, match=r"to must be one of sql, .*, got 'sas'"):
        format_of("a.sas", "sas")
    with pytest.raises(ValueError, match=r"to is 'sql', and the name ends in '\.onnx'"):
        format_of("a.onnx", "sql")


def of_points(*attributes, classes=("no", "yes"), threshold=1):
    return PointsTable(classes, attributes, threshold, ())


ABOUT = About("ab" * 32, "ill", "0.1.0", "input")


def test_totals_that_do_not_fit():
    points = of_points(("x", (0, 1), ((0,), (1 << 61,))))
    assert most_total(points) == (1 << 61) + 1
    for ending in (".sql", ".onnx"):
        pytest.importorskip("onnx")
        with pytest.raises(ValueError, match=r"totals must be below .* for (SQL|ONNX), got up to"):
            FORMATS[ending].content(points, ABOUT)
    with pytest.raises(ValueError, match=r"totals must be below about 9\.0 \* 10\^15 for PMML, got up to"):
        expect_fit(points, 1 << 53, "PMML")


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (SUPPRESSED, "attribute 'x' has suppressed values"),
        (Interval(0, (1 << 53) + 1), "an edge of a bin must be a double"),
        (float("inf"), "SQL has no word for infinity"),
        ("a\0b", "SQL cannot have this text"),
    ],
)
def test_values_that_sql_cannot_have(value, error):
    with pytest.raises(ValueError, match=error):
        FORMATS[".sql"].content(of_points(("x", (value,), ((0,),))), ABOUT)


def test_names_that_sql_cannot_have():
    row = ((0, 1), ((0,), (1,)))
    with pytest.raises(ValueError, match="does not tell the columns 'Age' and 'age' apart"):
        FORMATS[".sql"].content(of_points(("Age", *row), ("age", *row)), ABOUT)
    with pytest.raises(ValueError, match="a column of SQL must have a name"):
        FORMATS[".sql"].content(of_points(("", *row)), ABOUT)
    with pytest.raises(ValueError, match=r"table must be a name, .* got 'a\.'"):
        FORMATS[".sql"].content(of_points(("x", *row)), ABOUT._replace(table="a."))
    with pytest.raises(ValueError, match="a class that is null cannot be told from no answer"):
        FORMATS[".sql"].content(of_points(("x", *row), classes=("no", None)), ABOUT)


def test_sql_reads_the_table_that_is_named(tmp_path):
    made = RELEASE.export(tmp_path / "a.sql", table='ma"in.people; x')
    text = (tmp_path / "a.sql").read_text()
    assert text.endswith('FROM "ma""in"."people; x" AS "input"\n')
    assert made.identical
    assert "ELSE" not in text
    nbcfast.Release(RELEASE.views, RELEASE.certificate, 'end */\n-- "x"').export(tmp_path / "b.sql")
    lines = (tmp_path / "b.sql").read_text().splitlines()
    assert [line[:2] for line in lines[:10]] == ["--"] * 9 + ["SE"]


def test_what_onnx_does_not_tell_apart():
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="attribute 'x' has null and the empty text, which are one in ONNX"):
        FORMATS[".onnx"].content(of_points(("x", ("", None), ((0,), (1,)))), ABOUT)
    with pytest.raises(ValueError, match="has null, and integers from 2\\^53 on"):
        FORMATS[".onnx"].content(of_points(("x", ((1 << 53) + 1, None), ((0,), (1,)))), ABOUT)
    with pytest.raises(ValueError, match="an input of ONNX must have a name"):
        FORMATS[".onnx"].content(of_points(("", (0, 1), ((0,), (1,)))), ABOUT)


def test_the_model_is_one_of_integers_that_others_run_too():
    """Also by the evaluator of onnx: what is unknown has a row of points of its own, behind all others."""
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    points = of_points(("x", ("a", "b"), ((0,), (5,))), ("label", (0, 1), ((1,), (2,))), threshold=6)
    model = onnx.load_from_string(FORMATS[".onnx"].content(points, ABOUT))
    onnx.checker.check_model(model, full_check=True)
    given = {"x": np.array(["a", "b", "b", "c"], object), "label": np.array([0, 0, 1, 1], np.int64)}
    label, place, total, known = ReferenceEvaluator(model).run(None, given)
    assert [output.name for output in model.graph.output] == ["label_", "class", "points", "known"]
    assert (label.tolist(), place.tolist()) == (["yes", "no", "no", ""], [1, 0, 0, -1])
    assert (total.tolist(), known.tolist()) == ([[1], [6], [7], [2]], [True, True, True, False])
    props = {each.key: each.value for each in model.metadata_props}
    assert props["certificate_sha256"] == ABOUT.sha256
    assert not {tensor.data_type for tensor in model.graph.initializer} - {onnx.TensorProto.INT64}


def test_cells_that_a_spreadsheet_would_run_are_inert():
    points = of_points(
        ("=x", ("=1+1", "@a", "'b", "-", "plain"), ((0,), (1,), (2,), (3,), (4,))),
        ("n", (-5, 3), ((0,), (1,))),
    )
    data = FORMATS[".csv"].content(points, ABOUT).decode()
    for cell in itertools.chain.from_iterable(line.split(",") for line in data.splitlines()):
        assert not cell.startswith(("=", "@", "+", "\t")), cell
    assert "'=x,int" not in data
    assert "n,int,-5,,,0" in data
    assert [meant(inert(text)) for text in ("=1", "'=1", "''", "a", "")] == ["=1", "'=1", "''", "a", ""]
    codes = cases.all_codes(points)
    assert (
        FORMATS[".csv"].decides(data.encode(), points, ABOUT, codes).tolist()
        == ByClass.of(points).decided(codes).tolist()
    )


def test_edges_are_exact_for_what_doubles_mean():
    for text in ("0.1", "0.3", "1/3", "-1/3", "1e-9", "123456789.123456789"):
        bound = nbcfast.Interval(text, None).low
        found = edge(bound)
        assert found in Interval(bound, None)
        assert np.nextafter(found, -np.inf) not in Interval(bound, None)
    assert isinstance(edge(1 << 53), int)
    assert edge(10**16) == 1e16
    with pytest.raises(ValueError, match="an edge of a bin must be a double, got 1"):
        edge(10**400)
    with pytest.raises(ValueError, match=r"no double lies in the bin"):
        raw_values(Interval("0.10000000000000000001", "0.10000000000000000002"))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_nearest_tuples_of_a_large_domain(n_classes):
    rng = np.random.default_rng(n_classes)
    sizes, width = (7, 6, 5, 4), 1 if n_classes == 2 else n_classes
    attributes = [
        (str(i), tuple(range(size)), tuple(map(tuple, rng.integers(0, 40, (size, width)).tolist())))
        for i, size in enumerate(sizes)
    ]
    points = PointsTable(
        tuple(range(n_classes)),
        tuple(attributes),
        70 if n_classes == 2 else None,
        () if n_classes == 2 else (3, -1, 0),
    )
    by_class, codes = ByClass.of(points), cases.all_codes(points)
    listed, classes = tuples_to_compare(points, most=99)
    assert classes.tolist() == by_class.decided(listed).tolist()
    assert len(np.unique(listed, axis=0)) == len(listed) <= 99 + sum(sizes)
    assert all(set(listed[:, i].tolist()) == set(range(size)) for i, size in enumerate(sizes))
    totals = by_class.starts + sum(numbers[codes[:, i]] for i, numbers in enumerate(by_class.numbers))
    rows = set(map(tuple, listed.tolist()))
    for c, d in itertools.combinations(range(n_classes), 2):
        distance = np.abs(2 * (totals[:, c] - totals[:, d]) - 1)
        nearest = distance < np.sort(distance)[99 // (1 if n_classes == 2 else 3)]
        assert set(map(tuple, codes[nearest].tolist())) <= rows


def test_a_large_domain_is_compared_near_the_threshold(tmp_path, monkeypatch):
    small = FORMATS[".sql"]._replace(most=2, rows=1)
    monkeypatch.setattr(module, "FORMATS", {**FORMATS, ".sql": small})
    private = nbcfast.Viewset([9, 9], {"x": [[1, 8], [7, 0], [1, 1]], "y": [[1, 4], [4, 1], [4, 4]]})
    seen = []
    made = nbcfast.safety_transform(private, 4).export(
        tmp_path / "a.sql", progress=lambda done, total: seen.append((done, total))
    )
    assert (made.identical, made.tuples, made.compared) == (True, 9, 4)
    assert made.text.startswith("exported: same class on 4 of 9 tuples, those nearest to a change of class (")
    assert made.text.endswith("; the others were not compared")
    assert seen[-4:] == [(1, 4), (2, 4), (3, 4), (4, 4)]


STRATA = {
    "sex": ["f", "m", None] * 12,
    "age": [10, 20, 30, 40] * 9,
    "ill": ["no", "yes", "no", "no", "yes"] * 7 + ["yes"],
}


@pytest.fixture(scope="module")
def stratified():
    table = nbcfast.Table(STRATA).bin("age", edges=[0, 15, 35, 99])
    return canonical.release_by(table, "ill", "sex", 4)


@pytest.mark.parametrize("ending", [".sql", ".py"])
def test_strata_are_selected_by_their_column(tmp_path, stratified, ending):
    path = tmp_path / f"a{ending}"
    made = stratified.export(path)
    assert (made.identical, made.compared, made.tuples) == (True, 9, 9)
    assert made.sha256.encode() in path.read_bytes()
    stratified.save(tmp_path / "release")
    assert made.sha256 in (tmp_path / "release" / "certificate.json").read_text()
    points = module.StrataPoints(
        "sex", tuple(stratified.strata), tuple(map(points_of, stratified.strata.values()))
    ).columns
    rows = [[sex, age] for sex in ("f", "m", None, "d") for age in (0.0, 15.0, 98.0, 99.0)]
    bins = stratified.first.views.domain("age")
    inside = [[sex, next(one for one in bins if age in one)] for sex, age in rows if sex != "d" and age < 99]
    of_release = stratified.predict({"sex": [sex for sex, _ in inside], "age": [age for _, age in inside]})
    expected = iter(of_release.tolist())
    expected = [None if sex == "d" or age == 99 else next(expected) for sex, age in rows]
    if ending == ".py":
        assert cases.by_python(path.read_bytes(), points, rows) == expected
    else:
        for database in ("duckdb", "sqlite3"):
            assert cases.by_database(database, path.read_bytes(), points, rows) == expected
        # Databases plan and run each query within a row for all rows: there are two, however many strata.
        assert path.read_text(encoding="utf-8").count("SELECT") == 3


def test_each_value_of_a_page_of_strata_is_decided_by_its_own_rule(tmp_path, stratified):
    made = stratified.export(tmp_path / "a.html")
    assert (made.identical, made.compared, made.tuples) == (True, 9, 9)


def test_bins_of_dates_are_said_and_python_takes_dates(tmp_path):
    rows = {"when": [f"202{i % 4}-03-0{i % 8 + 1}" for i in range(60)], "job": [0, 1, 2] * 20}
    declared = {"when": {"edges": ["2020-01-01", "2022-01-01", "2024-01-01"]}, "job": {"values": [0, 1, 2]}}
    named = {**declared, "when": {**declared["when"], "labels": ["before", "after"]}}
    ill = ["no", "yes", "yes"] * 20
    for domains, of_python in ((declared, ()), (named, ("when",))):
        release = nbcfast.publish(
            nbcfast.Table({**rows, "ill": ill}),
            "ill",
            4,
            domains={**domains, "ill": ["no", "yes"]},
            accept_answers=True,
        ).release
        for given in (None, domains):
            made = release.export(tmp_path / "a.py", domains=given, overwrite=True)
            assert made.identical
            assert (made.sets, made.dates) == (
                () if given or not of_python else ("when",),
                of_python if given else (),
            )
            made = release.export(tmp_path / "a.sql", domains=given, overwrite=True)
            assert "when" in made.sets + made.dates
            assert made.text.endswith("takes published values alone")


def test_formats_without_strata_say_so(tmp_path, stratified):
    with pytest.raises(
        ValueError,
        match=r"for each value of 'sex', for which \.csv files have no place: export it as one of \.sql",
    ):
        stratified.export(tmp_path / "a.csv")
    assert os.listdir(tmp_path) == []


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r"an \.onnx file needs onnx: pip install onnx"):
        RELEASE.export(tmp_path / "a.onnx")
    assert os.listdir(tmp_path) == []


def test_databases_as_they_are_installed(monkeypatch):
    from nbcfast.exports.loaded_onnx import onnxruntime_name
    from nbcfast.exports.loaded_sql import database_name

    assert database_name().split()[0] in ("duckdb", "sqlite")
    real = importlib.util.find_spec
    gone = {"duckdb", "onnxruntime"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in gone else real(name))
    assert database_name().startswith("sqlite 3.")
    assert onnxruntime_name() is None
    gone.add("sqlite3")
    assert database_name() is None


@pytest.mark.parametrize("ending", cases.ENDINGS)
def test_points_beyond_the_integers_of_a_database(ending):
    """DuckDB adds integers of 32 bits in 32 bits, and ends with an error where that is too few."""
    of = FORMATS[ending]
    if of.runtime() is None:
        pytest.skip(f"needs {of.loads}")
    big = 1 << 40
    two = of_points(("x", (0, 1), ((0,), (big,))), ("y", (0, 1), ((0,), (1,))), threshold=big + 1)
    rows = ((0, big, 3), (-big, 1, big))
    three = PointsTable((7, 8, 9), (("x", (0, 1), rows), ("y", (0, 1), rows)), None, (5, 0, -big))
    for points in (two, three):
        codes = cases.all_codes(points)
        data = of.content(points, ABOUT)
        expected = ByClass.of(points).decided(codes).tolist()
        assert of.decides(data, points, ABOUT, codes).tolist() == expected
        assert (ending == ".sql") == (b"CAST(" in data)


def test_a_release_without_attributes_or_with_too_many_tuples(tmp_path):
    views = nbcfast.Viewset([2, 3], {})
    with pytest.raises(ValueError, match="release: expected at least one attribute, got none"):
        points_of(nbcfast.Release(views, nbcfast.Certificate(amplification=4, tuples=1)))
    counts = {str(i): [[1, 1], [1, 2], [1, 1], [1, 1]] for i in range(30)}
    large = nbcfast.safety_transform(nbcfast.Viewset([4, 5], counts), 4)
    with pytest.raises(nbcfast.Infeasible, match=r"the domain has .* tuples"):
        large.export(tmp_path / "a.sql")
    assert os.listdir(tmp_path) == []


def test_of_more_classes_the_whole_order_serves_where_the_best_alone_does_not(monkeypatch):
    release = nbcfast.safety_transform(cases.views(np.random.default_rng(3), 4), 4)
    points = points_of(release)
    codes = cases.all_codes(points)
    real = points_module.box

    def only_orders(views, mode="label"):
        if mode == "label":
            raise nbcfast.Infeasible("too many", {})
        return real(views, mode=mode)

    monkeypatch.setattr(points_module, "box", only_orders)
    other = points_of(release)
    assert ByClass.of(other).decided(codes).tolist() == cases.expected(release, points, codes).tolist()


def test_dates_are_texts_and_columns_of_dates():
    duckdb = pytest.importorskip("duckdb")
    points = of_points(("day", ("2020-01-31", "2020-02-01"), ((0,), (1,))))
    query = FORMATS[".sql"].content(points, ABOUT).decode()
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE input AS SELECT DATE '2020-02-01' AS day UNION ALL SELECT DATE '2020-02-02'"
    )
    assert [row[1] for row in connection.execute(query).fetchall()] == ["no", None]
    connection.close()


@pytest.mark.parametrize("ending", cases.ENDINGS)
def test_a_threshold_that_is_off_by_one_is_found(tmp_path, ending, monkeypatch):
    """The points of a canonical release are the fewest that do: some tuple has just what it takes."""
    if FORMATS[ending].runtime() is None:
        pytest.skip(f"no {FORMATS[ending].loads}")
    release = canonical.release(PRIVATE, 4)

    def shifted(points, about):
        more = PointsTable(points.classes, points.attributes, points.threshold + 1, ())
        return FORMATS[ending].content(more, about)

    wrong = FORMATS[ending]._replace(content=shifted)
    monkeypatch.setattr(module, "FORMATS", {**FORMATS, ending: wrong})
    with pytest.raises(module.DifferingFileError, match="otherwise than the release; for example"):
        release.export(tmp_path / f"a{ending}")
    assert os.listdir(tmp_path) == []


@pytest.fixture(scope="module")
def with_null():
    """A release in which a missing job is a value, and decides."""
    counts = {"job": [[2, 9], [3, 2], [9, 1]], "age": [[7, 5], [7, 7]]}
    domains = {"job": ["a", "b", None], "age": [Interval(None, 30), Interval(30, None)]}
    views = nbcfast.Viewset([14, 12], counts, classes=["no", "yes"], domains=domains)
    return canonical.release(views, 4, class_name="ill")


@pytest.mark.parametrize("ending", [".sql", ".py", ".onnx", ".pmml", ".xlsx"])
def test_texts_that_mean_null_are_read_as_null(with_null, tmp_path, ending):
    if FORMATS[ending].runtime() is None:
        pytest.skip(f"needs {FORMATS[ending].loads}")
    made = with_null.export(tmp_path / f"rule{ending}", null_values=["?", 'n/a "x"'])
    assert (made.identical, made.compared) == (True, 6)
    assert (made.nulls, made.null_values) == (("job",), ("?", 'n/a "x"'))


def test_a_file_of_python_reads_them_in_rows_and_in_fields(with_null, tmp_path):
    path = tmp_path / "rule.py"
    with_null.export(path, null_values=["?"])
    space = {"__name__": "loaded"}
    exec(path.read_text(), space)
    assert space["decide"]({"job": "?", "age": 40}) == space["decide"]({"job": None, "age": 40}) == "no"
    assert space["decide"]({"job": "", "age": 40}) is None
    job = space["READS"]["job"]
    assert (space["of_text"](job, "?"), space["of_text"](job, "")) == (None, "")


@pytest.mark.parametrize(
    ("null_values", "ending", "message"),
    [
        (["?"], ".html", "null_values is for .sql, .onnx, .pmml, .xlsx, .py, got it with .html"),
        (["?"], ".csv", "got it with .csv: it takes no texts of rows"),
        (
            ["b"],
            ".sql",
            "null_values must be texts that are not published, got 'b', which is a value of 'job'",
        ),
        (
            ["-9"],
            ".sql",
            "null_values: '-9' is a number, and 'age' has numbers: make it a real null in the rows",
        ),
    ],
)
def test_texts_that_a_file_would_not_tell_apart_are_refused(
    with_null, tmp_path, null_values, ending, message
):
    with pytest.raises(ValueError, match=re.escape(message)):
        with_null.export(tmp_path / f"rule{ending}", null_values=null_values)
    with pytest.raises(TypeError, match="null_values must be a list of texts, got '\\?'"):
        with_null.export(tmp_path / "rule.sql", null_values="?")
