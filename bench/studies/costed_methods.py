"""The methods whose costs are measured: what they are given, and along which axes it grows.

Rows have `columns` attributes of `values` values each, drawn evenly, and a class, or a sensitive column, of
`classes` values. What takes counts is given counts of such rows; which tuple gets which label is then chance.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import nbcfast
from nbcfast import associations, canonical, closeness, dp, response, safety, skyline, templates

CLASS = "class"
AXES = ("rows", "columns", "values", "classes")
DECADES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
WIDE = (1, 10, 100, 1_000, 10_000)
MANY = (2, 20, 200, 2_000, 20_000)

Run = Callable[[], object]


class Size(NamedTuple):
    """How large what a method is given is."""

    rows: int = 100_000
    columns: int = 10
    values: int = 10
    classes: int = 2

    def along(self, axis: str, number: int) -> "Size":
        return self._replace(**{axis: number})


class Axis(NamedTuple):
    """The sizes along an axis, and what the others are meanwhile; or why there is none."""

    numbers: tuple[int, ...]
    base: Size
    why: str = ""


class Method(NamedTuple):
    """What is measured; `make` gives a job of a size, for which a folder is there."""

    make: Callable[[Size, Path], Run]
    axes: dict[str, Axis]
    takes_rows: bool = True  # and not counts


def none(why: str) -> Axis:
    return Axis((), Size(), why)


def drawn(size: Size) -> dict[str, Any]:
    """Columns of codes, as narrow as they can be."""
    rng = np.random.default_rng([size.columns, size.values, size.classes])
    sizes = {**{f"a{place}": size.values for place in range(size.columns)}, CLASS: size.classes}
    return {
        name: rng.integers(0, n_values, size.rows, dtype=np.uint8 if n_values <= 256 else np.uint16)
        for name, n_values in sizes.items()
    }


def names(size: Size) -> list[str]:
    return [f"a{place}" for place in range(size.columns)]


def table(size: Size) -> nbcfast.Table:
    domains = {**{name: range(size.values) for name in names(size)}, CLASS: range(size.classes)}
    return nbcfast.Table(drawn(size), domains=domains)


def views(size: Size) -> nbcfast.Viewset:
    """Counts of so many rows, without drawing each."""
    rng = np.random.default_rng([size.columns, size.values, size.classes])
    of_class = rng.multinomial(size.rows, np.full(size.classes, 1 / size.classes))
    arrays = []
    for _ in range(size.columns):
        shares = rng.dirichlet(np.full(size.values, 2.0), size.classes)
        arrays.append(np.ascontiguousarray(rng.multinomial(of_class, shares).T))
    return nbcfast.Viewset(of_class, arrays)


def count_rows(size: Size, folder: Path) -> Run:
    rows = table(size)
    return lambda: nbcfast.count(rows, CLASS)


def predict(size: Size, folder: Path) -> Run:
    rows = table(size)
    learned = nbcfast.count(rows, CLASS)
    return lambda: learned.predict(rows, codes=True)


def group(size: Size, folder: Path) -> Run:
    rows = table(size)
    return lambda: skyline.group(rows, names(size), CLASS)


def check(size: Size, folder: Path) -> Run:
    groups = skyline.group(table(size), names(size), CLASS)
    return lambda: skyline.check(groups, [(1, 2, 2, "0.9")])


def find(size: Size, folder: Path) -> Run:
    groups = skyline.group(table(size), names(size), CLASS)
    return lambda: skyline.find(groups, "0.9")


def anonymize(size: Size, folder: Path) -> Run:
    rows = table(size)
    return lambda: skyline.anonymize(rows, names(size), CLASS, k=10)


def statistics(size: Size, folder: Path) -> Run:
    rows = table(size)
    return lambda: skyline.statistics(rows, names(size), CLASS, [0, 1])


def wanted(size: Size) -> list[templates.Template]:
    return [templates.Template(tuple(names(size)), (CLASS, 0), "9/10")]


def violations(size: Size, folder: Path) -> Run:
    rows = table(size)
    return lambda: templates.violations(rows, wanted(size))


def disclose(size: Size, folder: Path) -> Run:
    rows = table(size)
    return lambda: templates.disclose(rows, wanted(size), utility="distortion")


def scheme(size: Size) -> response.KaryScheme:
    values = {**{name: list(range(size.values)) for name in names(size)}, CLASS: list(range(size.classes))}
    return response.KaryScheme("0.8", values)


def disguise(size: Size, folder: Path) -> Run:
    rows, told = table(size), scheme(size)
    return lambda: response.disguise(rows, told)


def estimate(size: Size, folder: Path) -> Run:
    told = scheme(size)
    answers = response.disguise(table(size), told, np.random.default_rng(1))
    return lambda: response.estimate(answers, told, CLASS)


def risk(size: Size, folder: Path) -> Run:
    """Ten rows a person, a hundred a join value."""
    rng = np.random.default_rng(3)
    person = rng.integers(0, max(size.rows // 10, 2), size.rows)
    joined = {
        "person": person,
        "area": person * 2654435761 % max(size.rows // 100, 1),
        "ill": rng.integers(0, size.values, size.rows),
    }
    rows = nbcfast.Table(joined)
    return lambda: associations.risk(rows, [("person", "area"), ("area", "ill")], "person", "ill")


def check_safety(size: Size, folder: Path) -> Run:
    counted = views(size)
    return lambda: safety.check(counted, 4)


def margin(size: Size, folder: Path) -> Run:
    counted = views(size)
    return lambda: nbcfast.margin(counted)


def compare(size: Size, folder: Path) -> Run:
    """With what has one count more: few labels differ, or none."""
    counted = views(size)
    arrays = [array * 10 for array in counted.counts.values()]
    arrays[-1] = arrays[-1] + np.eye(*arrays[-1].shape, dtype=np.int64)
    other = nbcfast.Viewset(counted.class_counts * 10 + 1, arrays)
    return lambda: nbcfast.compare(counted, other, preserve="label")


def canonical_release(size: Size, folder: Path) -> Run:
    counted = views(size)
    return lambda: canonical.release(counted, 4)


def transform(size: Size, folder: Path) -> Run:
    counted = views(size)
    return lambda: nbcfast.safety_transform(counted, 4)


def est(size: Size, folder: Path) -> Run:
    counted = views(size)
    prior = dict.fromkeys(counted.classes, f"1/{size.classes}")
    return lambda: closeness.est(counted, prior, 2)


def advise(size: Size, folder: Path) -> Run:
    """A menu with each column as it is, in halves, and left out."""
    rows = table(size)
    limits = {"max_bits": None, "max_found": None, "min_flip": None, "max_one_class": None}
    return lambda: nbcfast.advise(rows, CLASS, folds=2, front=False, **limits)


def publish(size: Size, folder: Path) -> Run:
    rows = table(size)
    return lambda: nbcfast.publish(rows, CLASS, 4, accept_answers=True)


def verify(size: Size, folder: Path) -> Run:
    canonical.release(views(size), 4).save(folder / "release")
    return lambda: nbcfast.verify(folder / "release")


def noise(size: Size, folder: Path) -> Run:
    counted = views(size)
    return lambda: dp.counts(counted, epsilon=1)


def texts(size: Size) -> Any:
    """An Arrow table of texts of six characters, in dictionaries."""
    columns = {}
    for name, codes in drawn(size).items():
        n_values = size.classes if name == CLASS else size.values
        words = [f"v{code:05d}" for code in range(n_values)]
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), words)
    return pa.table(columns)


def csv_file(size: Size, folder: Path) -> Path:
    rows = texts(size)
    plain = pa.table({name: rows[name].cast(pa.string()) for name in rows.column_names})
    pyarrow.csv.write_csv(plain, folder / "rows.csv", pyarrow.csv.WriteOptions(quoting_style="none"))
    return folder / "rows.csv"


def read_csv(size: Size, folder: Path) -> Run:
    path = csv_file(size, folder)
    return lambda: nbcfast.read_csv(path)


def count_csv(size: Size, folder: Path) -> Run:
    path = csv_file(size, folder)
    return lambda: nbcfast.count(path, CLASS)


def read_parquet(size: Size, folder: Path) -> Run:
    pyarrow.parquet.write_table(texts(size), folder / "rows.parquet")
    return lambda: nbcfast.read_parquet(folder / "rows.parquet")


def count_parquet(size: Size, folder: Path) -> Run:
    pyarrow.parquet.write_table(texts(size), folder / "rows.parquet")
    return lambda: nbcfast.count(folder / "rows.parquet", CLASS)


def of_rows(base: Size, narrow: Size | None = None, **others: Axis) -> dict[str, Axis]:
    """Axes of what takes rows; where columns are many, there are fewer rows."""
    return {
        "rows": Axis(DECADES, base),
        "columns": Axis(WIDE, narrow or base._replace(rows=10_000)),
        "values": Axis(MANY, base),
        "classes": Axis(MANY, base),
        **others,
    }


def of_counts(columns: tuple[int, ...], base: Size, **others: Axis) -> dict[str, Axis]:
    """Axes of what takes counts."""
    return {
        "rows": Axis((10_000, 100_000, 1_000_000, 10_000_000, 100_000_000), base),
        "columns": Axis(columns, base),
        "values": Axis((2, 4, 8, 16, 32, 64, 128, 256), base),
        "classes": Axis((2, 3, 4, 6, 8, 12, 16), base),
        **others,
    }


TWO = none("two views, of three columns")
IS_A_COLUMN = none("the class is a column as any other")
SENSITIVE_ALONE = none("one value is sensitive; the others are one for all that is asked")
FEW = Size(10_000, 4, 6, 2)
GROUPED = Size(columns=4)

METHODS = {
    "count": Method(count_rows, of_rows(Size())),
    "predict": Method(predict, of_rows(Size())),
    "skyline.group": Method(group, of_rows(GROUPED)),
    "skyline.check": Method(check, of_rows(GROUPED)),
    "skyline.find": Method(find, of_rows(Size(columns=2))),
    "skyline.anonymize": Method(anonymize, of_rows(GROUPED)),
    "skyline.statistics": Method(statistics, of_rows(GROUPED)),
    "templates.violations": Method(violations, of_rows(GROUPED, classes=SENSITIVE_ALONE)),
    "templates.disclose": Method(disclose, of_rows(GROUPED, classes=SENSITIVE_ALONE)),
    "response.disguise": Method(disguise, of_rows(Size(), classes=IS_A_COLUMN)),
    "response.estimate": Method(estimate, of_rows(Size())),
    "associations.risk": Method(risk, of_rows(Size(), columns=TWO, classes=none("there is no class"))),
    "safety.check": Method(
        check_safety,
        of_counts(WIDE, Size(), values=Axis(MANY, Size()), classes=Axis(MANY, Size())),
        takes_rows=False,
    ),
    "margin": Method(margin, of_counts((1, 2, 4, 6, 8, 10, 12, 14, 16), FEW), takes_rows=False),
    "compare": Method(compare, of_counts((1, 2, 4, 6, 8, 10, 12, 14, 16), FEW), takes_rows=False),
    "canonical.release": Method(
        canonical_release, of_counts((1, 2, 3, 4, 5, 6, 7, 8), FEW), takes_rows=False
    ),
    "safety_transform": Method(transform, of_counts((1, 2, 3, 4, 5, 6, 8, 10, 12), FEW), takes_rows=False),
    "closeness.est": Method(est, of_counts((1, 2, 3, 4, 5, 6, 8, 10, 12), FEW), takes_rows=False),
    "advise": Method(
        advise,
        of_rows(
            FEW, columns=Axis((1, 2, 3, 4, 5, 6, 7, 8), FEW), values=Axis((2, 4, 8, 16, 32, 64, 128), FEW)
        ),
    ),
    "publish": Method(
        publish,
        of_rows(
            FEW,
            columns=Axis((1, 2, 3, 4, 5, 6), FEW),
            values=Axis((2, 4, 8, 16, 32), FEW),
            classes=Axis((2, 3, 4, 6), FEW),
        ),
    ),
    "verify": Method(verify, of_counts((1, 2, 3, 4, 5, 6, 7, 8), FEW), takes_rows=False),
    "dp.counts": Method(
        noise,
        of_counts(WIDE, Size(), values=Axis(MANY, Size()), classes=Axis(MANY, Size())),
        takes_rows=False,
    ),
    "read_csv": Method(read_csv, of_rows(Size(), Size(1_000), classes=IS_A_COLUMN)),
    "read_parquet": Method(read_parquet, of_rows(Size(), Size(1_000), classes=IS_A_COLUMN)),
    "count of a Parquet file": Method(count_parquet, of_rows(Size(), Size(1_000))),
    "count of a CSV file": Method(count_csv, of_rows(Size(), Size(1_000))),
}
