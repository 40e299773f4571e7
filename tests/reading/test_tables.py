"""What a table argument may be: every function takes every form, and refuses others in one sentence."""

import gzip
import importlib
import inspect
import os
import pkgutil
from fractions import Fraction

import numpy as np
import pytest

import nbcfast
from nbcfast import Table, associations, attack, canonical, closeness, dp, response, skyline, templates
from nbcfast._reading.endings import ENDINGS, delimiter_of, ending_of, is_parquet
from nbcfast._reading.source import A_TABLE, batches_from, table_from
from nbcfast.ledger import Ledger
from nbcfast.published import StratifiedRelease
from nbcfast.streams import Window
from nbcfast.views.quality import evaluate

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

RNG = np.random.default_rng(5)
N = 60
COLUMNS = {
    "name": [f"p{i % 23}" for i in range(N)],
    "age": RNG.integers(20, 26, N).tolist(),
    "job": RNG.choice(["clerk", "cook, chef", "judge"], N).tolist(),
    "ill": RNG.choice(["flu", "gout"], N).tolist(),
}
OTHERS = {**COLUMNS, "age": RNG.integers(20, 26, N).tolist(), "ill": RNG.choice(["flu", "gout"], N).tolist()}
NAMES = ["age", "job", "ill"]
PUBLIC = {"age": list(range(20, 26)), "job": ["clerk", "cook, chef", "judge"], "ill": ["flu", "gout"]}
VIEWS = nbcfast.count(COLUMNS, "ill", ["age", "job"])
SMALL = nbcfast.count(COLUMNS, "ill", ["job"])
RELEASE = canonical.release(VIEWS, 4, class_name="ill")
STRATA = canonical.release_by(COLUMNS, "ill", "job", 4, columns=["age"])


def advice(table, **named):
    """What is advised where nothing is demanded: every domain of the menu keeps that."""
    menu = {"job": [["clerk", "cook, chef", "judge"], {"out": True}], "age": [{"edges": [20, 23, 26]}]}
    limits = dict.fromkeys(("max_bits", "max_found", "min_flip", "max_one_class"))
    return canonical.advise(table, "ill", menu, **limits, **named).to_dict()


def written(columns, folder, ending):
    """The path of a file with these columns."""
    path, table = folder / f"people{ending}", pa.table(columns)
    if is_parquet(path):
        parquet.write_table(table, path)
        return path
    sink = pa.BufferOutputStream()
    csv.write_csv(table, sink, csv.WriteOptions(delimiter=delimiter_of(path)))
    data = sink.getvalue().to_pybytes()
    compression = ending_of(path).compression
    if compression == "gzip":
        path.write_bytes(gzip.compress(data))
    else:
        with pa.output_stream(path, compression=compression) as stream:
            stream.write(data)
    return path


class Exporting:
    """Arrow data that is nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


FORMS = {
    "Table": lambda columns, folder: Table(columns),
    "mapping": lambda columns, folder: columns,
    "arrow": lambda columns, folder: Exporting(pa.table(columns)),
    "pyarrow table": lambda columns, folder: pa.table(columns),
    "list of batches": lambda columns, folder: pa.table(columns).to_batches(max_chunksize=17),
    "stream of batches": lambda columns, folder: iter(pa.table(columns).to_batches(max_chunksize=17)),
    "reader": lambda columns, folder: pa.table(columns).to_reader(max_chunksize=17),
    "text of a path": lambda columns, folder: str(written(columns, folder, ".csv")),
    "bytes of a path": lambda columns, folder: os.fsencode(written(columns, folder, ".csv")),
} | {
    ending: lambda columns, folder, ending=ending: written(columns, folder, ending)
    for ending in (".csv", ".tsv", ".txt", ".tsv.gz", ".csv.bz2", ".TSV", ".parquet", ".pq")
}


def made(form, folder, columns=COLUMNS):
    folder.mkdir(exist_ok=True)
    return FORMS[form](columns, folder)


def on_disk(table):
    limit = {} if not isinstance(table, str | bytes | os.PathLike) else {"memory_limit": "1GiB"}
    found = skyline.anonymize(table, ["age", "job"], "ill", k=4, **limit)
    return found.certificate, found.utility()


def membership(given):
    return attack.membership(RELEASE, given, OTHERS)


def checked(table, folder, **given):
    """A release verified against it, or with it for the public list."""
    release = canonical.release(VIEWS, 4, class_name="ill", **given) if given else RELEASE
    release.save(folder / "release", overwrite=True)
    found = nbcfast.verify(folder / "release", **{"against": table} if not given else {"tuples": table})
    return found.checks, found.verdict


def publication(table, **given):
    found = nbcfast.publish(table, "ill", 4, columns=["age", "job"], **given).to_dict()
    del found["file"]  # a path is said as it was given
    return found


def ruled(folder, **given):
    """What a policy says of a release, held against tables."""
    folder = folder / "ruled"
    if not folder.exists():
        RELEASE.save(folder)
    policy = {"release": {"class": "ill", "amplification": 4}, "limits": {"membership_auc": "0.9"}}
    return [rule.text for rule in nbcfast.gate(folder, policy, **given).rules]


def in_blocks(release, table):
    return [label for block in release.predict_batches(table) for label in block.tolist()]


WHO = [("name", "age", "job"), ("age", "job", "ill")]
SCHEME = response.KaryScheme("2/3", {"ill": ["flu", "gout"]})
JOBS = response.KaryScheme("2/3", {"job": ["clerk", "cook, chef", "judge"]})
TEMPLATE = templates.Template(["age", "job"], ("ill", "flu"), "1/2")

CLASSIFIER = response.classifier(response.estimate(COLUMNS, SCHEME, "ill", attributes=["job"]))


def simulated(train, test):
    rng = np.random.default_rng(3)
    return response.simulate(train, test, JOBS, "ill", repetitions=2, rng=rng).tolist()


def agreed(table):
    declared = nbcfast.count(nbcfast.Table(COLUMNS, domains=PUBLIC), "ill", ["age", "job"])
    return len(dp.agreement(declared, table, epsilon=1, runs=2).shares)


def windowed(table):
    window = Window("ill", PUBLIC, rows=50, n_blocks=4)
    return window.add(table), window.views


def entered(table, folder):
    return Ledger(folder / "book").check(SMALL, table=table, class_name="ill").to_dict()


# Name -> the name of the argument, the function, and a call; ids say what it is.
CALLS = {
    "count": ("table", nbcfast.count, lambda t, _: nbcfast.count(t, "ill", ["age", "job"])),
    "count all": ("table", nbcfast.count, lambda t, _: nbcfast.count(t, "ill")),
    "group": ("table", skyline.group, lambda t, _: skyline.group(t, ["age", "job"], "ill")),
    "group_parts": (
        "table",
        skyline.group_parts,
        lambda t, _: skyline.Groups.merge(skyline.group_parts(t, ["age"], "ill", memory_limit="1MiB")),
    ),
    "statistics": (
        "table",
        skyline.statistics,
        lambda t, _: skyline.statistics(t, ["age", "job"], "ill", [0, 1]),
    ),
    "anonymize": ("table", skyline.anonymize, lambda t, _: on_disk(t)),
    "risk": (
        "table",
        associations.risk,
        lambda t, _: list(associations.risk(t, WHO, "name", "ill").worst(9)),
    ),
    "advise": (
        "table",
        associations.advise,
        lambda t, _: associations.advise(t, "name", "ill", ["age", "job"], threshold=1),
    ),
    "agreement": ("table", dp.agreement, lambda t, _: agreed(t)),
    "window": ("table", Window.add, lambda t, _: windowed(t)),
    "ledger": ("table", Ledger.check, lambda t, folder: entered(t, folder)),
    "disclose": (
        "table",
        templates.disclose,
        lambda t, _: templates.disclose(t, [TEMPLATE], utility="distortion").to_dict(),
    ),
    "violations": ("table", templates.violations, lambda t, _: templates.violations(t, [TEMPLATE])),
    "cuts": ("table", response.cuts, lambda t, _: response.cuts(t, ["age"])),
    "binarise": ("table", response.binarise, lambda t, _: response.binarise(t, names=["age"])),
    "pack": ("table", response.pack, lambda t, _: response.pack(t, ["ill"]).words["ill"].tolist()),
    "disguise": (
        "table",
        response.disguise,
        lambda t, _: response.disguise(t, SCHEME, np.random.default_rng(3)).codes("ill").tolist(),
    ),
    "estimate": (
        "disguised",
        response.estimate,
        lambda t, _: response.estimate(t, SCHEME, "ill", attributes=["job"]).to_dict(),
    ),
    "accuracy": (
        "disguised",
        response.accuracy,
        lambda t, _: response.accuracy(VIEWS, t, SCHEME, "ill").to_dict(),
    ),
    "simulate train": ("train", response.simulate, lambda t, _: simulated(t, OTHERS)),
    "simulate test": ("test", response.simulate, lambda t, _: simulated(COLUMNS, t)),
    "classifier predict": (
        "table",
        response.Classifier.predict,
        lambda t, _: CLASSIFIER.predict(t).tolist(),
    ),
    "classifier ranking": (
        "table",
        response.Classifier.ranking,
        lambda t, _: CLASSIFIER.ranking(t).tolist(),
    ),
    "classifier predict_proba": (
        "table",
        response.Classifier.predict_proba,
        lambda t, _: CLASSIFIER.predict_proba(t).tolist(),
    ),
    "membership": ("table", attack.membership, lambda t, _: membership(t)),
    "membership holdout": (
        "holdout",
        attack.membership,
        lambda t, _: attack.membership(RELEASE, OTHERS, t),
    ),
    "definetti": (
        "table",
        attack.definetti,
        lambda t, _: attack.definetti(t, np.arange(N) // 6, "ill").predicted.tolist(),
    ),
    "definetti holdout": (
        "holdout",
        attack.definetti,
        lambda t, _: attack.definetti(COLUMNS, np.arange(N) // 6, "ill", holdout=t).to_dict(),
    ),
    "invert published": (
        "published",
        attack.invert,
        lambda t, _: attack.invert(t, "ill").recovered,
    ),
    "invert": ("truth", attack.invert, lambda t, _: attack.invert(VIEWS, "ill", truth=t).recovered),
    "leak": (
        "table",
        canonical.leak,
        lambda t, _: repr(canonical.leak(SMALL, table=t, class_name="ill", sample=1)),
    ),
    "release": ("tuples", canonical.release, lambda t, _: canonical.release(VIEWS, 4, tuples=t).certificate),
    "release_by": (
        "table",
        canonical.release_by,
        lambda t, _: canonical.release_by(t, "ill", "job", 4, columns=["age"]),
    ),
    "leak_by": (
        "table",
        canonical.leak_by,
        lambda t, _: repr(canonical.leak_by(t, "ill", "job", columns=["age"])),
    ),
    "strata predict": ("table", StratifiedRelease.predict, lambda t, _: STRATA.predict(t).tolist()),
    "advise domain": ("table", canonical.advise, lambda t, _: advice(t)),
    "advise on": ("on", canonical.advise, lambda t, _: advice(OTHERS, on=t)),
    "compare": ("on", nbcfast.compare, lambda t, _: nbcfast.compare(VIEWS, VIEWS, on=t).rows.tolist()),
    "safety_transform": (
        "table",
        nbcfast.safety_transform,
        lambda t, _: nbcfast.safety_transform(VIEWS, 4, table=t, class_name="ill").certificate,
    ),
    "est": (
        "table",
        closeness.est,
        lambda t, _: (
            closeness.est(VIEWS, {"flu": "1/2", "gout": "1/2"}, 20, table=t, class_name="ill").certificate
        ),
    ),
    "publish": ("table", nbcfast.publish, lambda t, _: publication(t)),
    "publish holdout": ("holdout", nbcfast.publish, lambda t, _: publication(OTHERS, holdout=t)),
    "publish tuples": ("tuples", nbcfast.publish, lambda t, _: publication(OTHERS, tuples=t)),
    "predict": ("table", nbcfast.Viewset.predict, lambda t, _: VIEWS.predict(t).tolist()),
    "order": ("table", nbcfast.Viewset.order, lambda t, _: VIEWS.order(t).tolist()),
    "tied": ("table", nbcfast.Viewset.tied, lambda t, _: VIEWS.tied(t).tolist()),
    "release predict": ("table", nbcfast.Release.predict, lambda t, _: RELEASE.predict(t).tolist()),
    "release predict_proba": (
        "table",
        nbcfast.Release.predict_proba,
        lambda t, _: RELEASE.predict_proba(t).tolist(),
    ),
    "release predict_batches": ("table", nbcfast.Release.predict_batches, lambda t, _: in_blocks(RELEASE, t)),
    "strata predict_proba": (
        "table",
        StratifiedRelease.predict_proba,
        lambda t, _: STRATA.predict_proba(t).tolist(),
    ),
    "strata predict_batches": (
        "table",
        StratifiedRelease.predict_batches,
        lambda t, _: in_blocks(STRATA, t),
    ),
    "release codes": ("table", nbcfast.Release.codes, lambda t, _: RELEASE.codes(t).tolist()),
    "evaluate": ("table", evaluate, lambda t, _: evaluate(VIEWS, t, "ill")),
    "verify against": ("against", nbcfast.verify, lambda t, folder: checked(t, folder)),
    "verify tuples": ("tuples", nbcfast.verify, lambda t, folder: checked(t, folder, tuples=COLUMNS)),
    "gate against": ("against", nbcfast.gate, lambda t, folder: ruled(folder, against=t)),
    "gate holdout": ("holdout", nbcfast.gate, lambda t, folder: ruled(folder, against=OTHERS, holdout=t)),
}


# Whose docstring tells of the tables of others, which say that it does.
TOLD_BY = {
    nbcfast.Viewset.order: (nbcfast.Viewset.predict, "those of `predict`"),
    nbcfast.Viewset.tied: (nbcfast.Viewset.predict, "as for `predict`"),
    nbcfast.Release.predict_proba: (nbcfast.Release.predict, "As for `predict`"),
    nbcfast.Release.predict_batches: (nbcfast.Release.predict, "As for `predict`"),
    response.Classifier.ranking: (response.Classifier.predict, "as for `predict`"),
    response.Classifier.predict_proba: (response.Classifier.predict, "as for `predict`"),
    closeness.est: (nbcfast.safety_transform, "As for `safety_transform`"),
    canonical.leak_by: (canonical.release_by, "As for `release_by`"),
    StratifiedRelease.predict: (nbcfast.Release.predict, "those of `Release.predict`"),
    StratifiedRelease.predict_proba: (nbcfast.Release.predict, "As of `Release.predict_proba`"),
    StratifiedRelease.predict_batches: (nbcfast.Release.predict, "as of `Release.predict_batches`"),
}


def public_functions():
    """The functions and methods of all public rooms."""
    for module in pkgutil.iter_modules(nbcfast.__path__):
        if not module.ispkg or module.name.startswith("_") or module.name in ("reference", "cli"):
            continue
        room = importlib.import_module(f"nbcfast.{module.name}")
        for name in room.__all__:
            public = getattr(room, name)
            if inspect.isclass(public):
                yield from (
                    getattr(member, "__func__", member)
                    for member_name, member in vars(public).items()
                    if not member_name.startswith("_")
                )
            else:
                yield public


def test_every_public_function_that_takes_a_table_is_tried():
    takes = {
        (where, function.__qualname__)
        for function in public_functions()
        for where, annotation in getattr(function, "__annotations__", {}).items()
        if "AnyTable" in str(annotation)
    }
    tried = {(where, function.__qualname__) for where, function, _ in CALLS.values()}
    assert len(takes) > 30
    assert takes - tried == set()


@pytest.mark.parametrize("call", CALLS)
def test_every_form_gives_what_the_table_gives(call, tmp_path):
    run = CALLS[call][2]
    expected = run(Table(COLUMNS), tmp_path)
    for form in FORMS:
        assert run(made(form, tmp_path / "data"), tmp_path) == expected, form


@pytest.mark.parametrize("call", CALLS)
def test_what_is_no_table_is_refused_in_one_sentence(call, tmp_path):
    where, function, run = CALLS[call]
    if function in TOLD_BY:
        told_by, words = TOLD_BY[function]
        assert words in plain(function.__doc__)
        function = told_by
    assert A_TABLE.removeprefix("a Table, ").split(", or the")[0] in plain(function.__doc__)
    for wrong, came in ((3, "int"), ([1, 2], "list of int"), ([{"age": 3}], "list of dict")):
        with pytest.raises(TypeError, match=f"^{where}: expected .*a Table, a mapping") as error:
            run(wrong, tmp_path)
        assert str(error.value).endswith(f"{A_TABLE}, got {came}")
    for path in ("people.xls", b"people", tmp_path / "csv"):
        ending = os.fsdecode(path)[-3:]
        with pytest.raises(ValueError, match=rf"^{where}: expected a file of \.csv, .* got '.*{ending}'$"):
            run(path, tmp_path)
    with pytest.raises(ValueError, match=f"^{where}: expected at least one record batch, got none"):
        run([], tmp_path)
    with pytest.raises(FileNotFoundError):
        run(tmp_path / "nobody.csv", tmp_path)


def plain(text):
    return " ".join(text.replace("``", "").split())


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_of_every_ending_are_read(ending, tmp_path):
    if ending_of(f"x{ending}").compression == "brotli" and not pa.Codec.is_available("brotli"):
        pytest.skip("pyarrow without brotli")
    path = written(COLUMNS, tmp_path, ending)
    assert table_from(path) == Table(COLUMNS)
    assert skyline.group(path, ["age"], "ill") == skyline.group(COLUMNS, ["age"], "ill")


@pytest.mark.parametrize(
    ("name", "delimiter", "compression"),
    [("a.CSV", ",", None), ("a.b.tsv.GZ", "\t", "gzip"), ("a.txt.zst", ",", "zstd"), (b"a.tsv", "\t", None)],
)
def test_what_endings_say(name, delimiter, compression):
    assert (ending_of(name).kind, ending_of(name).delimiter, ending_of(name).compression) == (
        "csv",
        delimiter,
        compression,
    )
    assert not is_parquet(name)


@pytest.mark.parametrize("name", ["a.parquet.gz", "a.xls", "csv", "a.gz", ""])
def test_endings_of_no_table(name):
    assert ending_of(name) is None
    assert not is_parquet(name)


@pytest.mark.parametrize("form", FORMS)
def test_weights_are_a_column_of_whatever_is_no_table_yet(form, tmp_path):
    columns = {**COLUMNS, "n": RNG.integers(1, 9, N).tolist()}
    given = Table(columns, weights="n")
    if form == "Table":
        with pytest.raises(ValueError, match="a Table has its own weights"):
            table_from(given, weights="n")
        with pytest.raises(ValueError, match="a Table has its own weights"):
            batches_from(given, weights="n")
        return
    assert table_from(made(form, tmp_path, columns), weights="n") == given
    assert nbcfast.count(made(form, tmp_path, columns), "ill", NAMES[:2], weights="n") == nbcfast.count(
        given, "ill", NAMES[:2]
    )
    expected = skyline.group(given, ["age", "job"], "ill")
    assert skyline.group(made(form, tmp_path, columns), ["age", "job"], "ill", weights="n") == expected
    parts = skyline.group_parts(
        made(form, tmp_path, columns), ["age", "job"], "ill", weights="n", memory_limit=600
    )
    listed = list(parts)
    assert len(listed) > 1
    assert skyline.Groups.merge(listed) == expected


def test_groups_of_a_weighted_table_in_parts():
    given = Table({**COLUMNS, "n": RNG.integers(1, 9, N).tolist()}, weights="n")
    parts = list(skyline.group_parts(given, ["age", "job"], "ill", memory_limit=600))
    assert len(parts) > 1
    assert skyline.Groups.merge(parts) == skyline.group(given, ["age", "job"], "ill")


def test_batches_of_several_schemas_are_refused():
    first, second = pa.record_batch({"ill": ["flu"]}), pa.record_batch({"ill": [3]})
    for function in (table_from, lambda batches: nbcfast.count(batches, "ill")):
        with pytest.raises(ValueError, match="expected record batches of one schema"):
            function(iter([first, second]))


def test_a_row_longer_than_a_block_in_a_compressed_file(tmp_path):
    path = tmp_path / "long.csv.gz"
    text = "x" * (3 << 20)
    path.write_bytes(gzip.compress(f"a,b\n1,{text}\n2,y\n".encode()))
    table = nbcfast.read_csv(path)
    assert table.domain("b") == (text, "y")
    assert path.stat().st_size < 1 << 16


def test_a_delimiter_that_is_given_counts_more_than_the_ending(tmp_path):
    path = tmp_path / "commas.tsv"
    path.write_text("a,b\n1,x\n")
    assert nbcfast.read_csv(path, delimiter=",").names == ("a", "b")
    assert nbcfast.read_csv(path).names == ("a,b",)
    found = skyline.anonymize(path, ["a"], "b", k=1, memory_limit="1GiB", csv={"delimiter": ","})
    assert found.boxes.names == ("a",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ""}, "delimiter must be one character, got ''"),
        ({"encoding": "utf9"}, "encoding: unknown encoding: utf9"),
        ({"null_values": "x"}, "null_values: expected a sequence of texts, got 'x'"),
        ({"colour": 1}, "csv: expected options of delimiter"),
    ],
)
def test_csv_options_on_disk_are_checked_as_those_of_read_csv(tmp_path, options, message):
    path = written(COLUMNS, tmp_path, ".csv")
    with pytest.raises((TypeError, ValueError), match=message):
        skyline.anonymize(path, ["age"], "ill", k=2, memory_limit="1GiB", csv=options)


def test_numbers_that_are_written_in_two_ways_are_one_value(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x,y,ill\n1,a,no\n1.0,a,yes\n2.5,b,no\n")
    views = nbcfast.count(path, "ill")
    assert views == nbcfast.count(nbcfast.read_csv(path), "ill")
    assert views.counts["x"].tolist() == [[1, 1], [1, 0]]
    assert skyline.group(path, ["x"], "ill").alpha() == Fraction(1, 1)
