"""Public data sets as the studies split them, over domains that are declared and not found in the rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import nbcfast
from nbcfast import Table, Viewset, canonical
from nbcfast.domains import Menu
from nbcfast.domains.declarations import Declared, declared

SPLIT = 0  # seeds the halves of files that come whole, as in the study of randomised response
RICH_FIRST = (">50K", "<=50K")
AS_THEY_ARE = (
    "age",
    "education_num",
    "hours_per_week",
    "workclass",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
)
# Round edges of numbers, written down before any row was counted.
CRX_EDGES = {
    "a2": [None, 20, 25, 30, 40, 50, None],
    "a3": [None, 1, 2, 5, 10, None],
    "a8": [None, 0.5, 1, 2, 5, None],
    "a11": [None, 1, 3, 6, 10, None],
    "a14": [None, 100, 200, 300, 400, None],
    "a15": [None, 1, 10, 100, 1000, None],
}
GERMAN_EDGES = {
    "duration_months": [None, 12, 24, 36, None],
    "credit_amount": [None, 2000, 5000, None],
    "age": [None, 25, 35, 50, None],
}


@dataclass(frozen=True)
class PublicSet:
    """Rows to learn from and others to measure on, with the same declared domains."""

    name: str
    class_name: str
    train: Table
    test: Table
    views: Viewset  # of the rows to learn from

    @property
    def majority(self) -> float:
        """The accuracy of saying to everybody what most of the rows to learn from are."""
        label = self.views.classes[int(np.argmax(self.views.class_counts))]
        place = self.test.domain(self.class_name).index(label)
        return float((self.test.codes(self.class_name) == place).mean())


def with_domains(
    name: str, class_name: str, classes: tuple[object, ...], domains: Declared, train: Table, test: Table
) -> PublicSet:
    """A set of these domains, which both parts have to keep to."""
    kept = [column for column in domains.names if column not in domains.out]
    both = declared({class_name: list(classes)}).with_others(domains)
    parts = [both.applied(part.select([*domains.names, class_name])) for part in (train, test)]
    views = nbcfast.count(parts[0], class_name, kept, classes=classes)
    return PublicSet(name, class_name, *parts, views)


def values_or_edges(
    table: Table, names: tuple[str, ...], edges: Mapping[str, list[float | None]]
) -> Declared:
    """Edges where there are some, else the values of the whole public file."""
    domains: dict[str, object] = {}
    for name in names:
        values = table.domain(name)
        if name in edges:
            domains[name] = {"edges": edges[name], **({"null": True} if None in values else {})}
        else:
            domains[name] = list(values)
    return declared(domains)


def halves(n_rows: int, seed: int = SPLIT) -> tuple[np.ndarray, np.ndarray]:
    """Two thirds of the rows, and the others."""
    places = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(places[: round(n_rows * 2 / 3)]), np.sort(places[round(n_rows * 2 / 3) :])


def adult_advised(folder: Path) -> PublicSet:
    """The domain that `advise` takes from the menu, by the rows to learn from."""
    train, test = adult(folder)
    menu = Menu.read(folder / "adult-menu.json", "income")
    advice = canonical.advise(train, "income", menu, classes=RICH_FIRST)
    domains = menu.chosen(advice.best.choice)
    return with_domains("Adult, advised", "income", RICH_FIRST, domains, train, test)


def adult_as_it_is(folder: Path) -> PublicSet:
    """Ten attributes, each with all its values."""
    train, test = adult(folder)
    domains = values_or_edges(nbcfast.concat([train, test]), AS_THEY_ARE, {})
    return with_domains("Adult, ten attributes", "income", RICH_FIRST, domains, train, test)


def adult(folder: Path) -> tuple[Table, Table]:
    return nbcfast.read_csv(folder / "adult-train.csv"), nbcfast.read_csv(folder / "adult-test.csv")


def german(folder: Path) -> PublicSet:
    whole = nbcfast.read_csv(folder / "german-credit.csv")
    attributes = tuple(column for column in whole.names if column != "class")
    return of_whole("German credit", "class", (2, 1), whole, values_or_edges(whole, attributes, GERMAN_EDGES))


def cancer(folder: Path) -> PublicSet:
    """The rows without missing values, without the number of the sample."""
    text = nbcfast.read_csv(folder / "breast-cancer-wisconsin.csv", null_values=("?",))
    names = [name for name in text.names if name != "sample_code_number"]
    nuclei = np.array([value is not None for value in text.domain("bare_nuclei")])
    whole = text.select(names).take(np.flatnonzero(nuclei[text.codes("bare_nuclei")]))
    domains = declared({name: list(range(1, 11)) for name in names if name != "class"})
    return of_whole("Breast Cancer", "class", (4, 2), whole, domains)


def of_whole(
    name: str, class_name: str, classes: tuple[object, ...], table: Table, domains: Declared
) -> PublicSet:
    """A set that comes without a split."""
    parts = [table.take(rows) for rows in halves(table.n_rows)]
    return with_domains(name, class_name, classes, domains, *parts)


def crx(folder: Path) -> PublicSet:
    """All rows; what is missing is a value."""
    train, test, whole = (
        with_numbers(nbcfast.read_csv(folder / f"{file}.csv", null_values=("?",)), tuple(CRX_EDGES))
        for file in ("crx-train", "crx-test", "crx")
    )
    attributes = tuple(column for column in whole.names if column != "class")
    domains = values_or_edges(whole, attributes, CRX_EDGES)
    return with_domains("CRX", "class", ("+", "-"), domains, train, test)


def with_numbers(table: Table, names: tuple[str, ...]) -> Table:
    """The table with these columns as numbers, which the file writes with zeros before and behind them."""
    columns = {}
    for name in table.names:
        domain = table.domain(name)
        values = [domain[code] for code in table.codes(name).tolist()]
        if name in names:
            values = [None if value is None else float(value) for value in values]
        columns[name] = values
    return Table(columns)


SETS: dict[str, Callable[[Path], PublicSet]] = {
    "advised": adult_advised,
    "adult": adult_as_it_is,
    "german": german,
    "crx": crx,
    "cancer": cancer,
}
