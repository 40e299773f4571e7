"""Estimators of scikit-learn on columns of texts. Input: rows, classes; answer: the class of each row.

Both encode the texts, learn from all rows, and predict all rows. Ours also makes a release of what it has
learned, with its certificate: that takes as long for a thousand rows as for a million, and depends on the
domain.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from shared.census import NAMES, census
from shared.clock import Form, Peers, Row, medians, power, race, shown

estimators = Peers()

# As a census with its countries, ages and hours in bins: how many codes share one.
BINS = {"country": 9, "age": 10, "hours": 19}
TARGET = 10  # times, of a million rows
FIVES = "ten columns of five values"


@dataclass(frozen=True)
class Texts:
    """Ten columns of texts and two classes.

    Parameters
    ----------
    n_rows : int
        How many.
    n_values : int, optional
        Of each column; by default those of the census.
    """

    n_rows: int
    n_values: int | None = None

    @cached_property
    def classes(self) -> np.ndarray:
        """The class of each row."""
        return np.array(["<=50K", ">50K"], object)[census(self.n_rows).classes]

    @cached_property
    def array(self) -> np.ndarray:
        """An array of objects, of which rows with the same value share one, as readers make them."""
        columns = []
        for name, codes in zip(NAMES, census(self.n_rows).columns, strict=True):
            places = codes // BINS.get(name, 1) if self.n_values is None else codes % self.n_values
            texts = np.array([f"{name} {place}" for place in range(int(places.max()) + 1)], object)
            columns.append(texts[places])
        return np.stack(columns, axis=1)

    @cached_property
    def frame(self) -> Any:
        """A frame of pandas, whose texts are Arrow's."""
        import pandas as pd

        return pd.DataFrame(self.array, columns=NAMES)

    @cached_property
    def split(self) -> np.ndarray:
        """The array with an object for each cell, as texts that were just split off a line."""
        return np.array([[text[:-1] + text[-1:] for text in row] for row in self.array], object)


def published(rows: Any, classes: np.ndarray) -> np.ndarray:
    """Ours: the classes that a release answers."""
    from nbcfast.sklearn import PublishableNBClassifier

    answers: np.ndarray = PublishableNBClassifier(4, threads=1).fit(rows, classes).predict(rows)
    return answers


def plain(rows: Any, classes: np.ndarray) -> np.ndarray:
    """What scikit-learn has for the same, which publishes its counts; nothing is added to them."""
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    model = make_pipeline(OrdinalEncoder(dtype=np.int64), CategoricalNB(alpha=0, force_alpha=True))
    with warnings.catch_warnings(), np.errstate(divide="ignore"):
        warnings.simplefilter("ignore")  # alpha=0
        answers: np.ndarray = model.fit(rows, classes).predict(rows)
    return answers


@estimators.peer("scikit-learn")
def scikit_learn(given: tuple[Any, np.ndarray]) -> Iterator[Form]:
    yield Form("OrdinalEncoder + CategoricalNB", lambda: plain(*given))


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return bool((a == b).all())


def fit_and_predict(rounds: int, quick: bool) -> Iterator[Row]:
    """A row a container."""
    n_rows = 100_000 if quick else 1_000_000
    texts, fives = Texts(n_rows), Texts(n_rows, 5)
    containers: dict[str, tuple[Callable[[], Any], bool]] = {
        "object array": (lambda: texts.array, True),
        "frame of str": (lambda: texts.frame, True),
        "frame of objects": (lambda: texts.frame.astype(object).assign(**_shared(texts)), True),
        "object array, an object a cell": (lambda: texts.split, False),
        f"object array, {FIVES}": (lambda: fives.array, False),
    }
    for name, (make, is_claimed) in containers.items():
        rows, classes = make(), (fives if FIVES in name else texts).classes
        yield from race(
            f"fit + predict {power(n_rows)} x 10 texts, {name}",
            n_rows,
            Form("fit, predict", lambda rows=rows, classes=classes: published(rows, classes)),
            estimators.forms((rows, classes)),
            same,
            rounds,
            {"scikit-learn": TARGET} if is_claimed and not quick else None,
            time.process_time,
        )
    yield _of_the_release(texts, rounds)


def _shared(texts: Texts) -> dict[str, Any]:
    """The columns of the array as they are, for a frame of objects."""
    import pandas as pd

    return {name: pd.Series(texts.array[:, place], dtype=object) for place, name in enumerate(NAMES)}


def _of_the_release(texts: Texts, rounds: int) -> Row:
    """How much of it goes into the release, whatever the rows."""
    import nbcfast
    from nbcfast import canonical

    columns = {name: texts.array[:, place] for place, name in enumerate(NAMES)}
    views = nbcfast.count({**columns, "class": texts.classes}, "class")
    whole, made = medians(
        [lambda: published(texts.array, texts.classes), lambda: canonical.release(views, 4, threads=1)],
        rounds,
    )
    cells = f"{shown(whole, 1)}", f"{shown(made, 1)}"
    what = f"the release in it, of {power(views.n_tuples)} tuples"
    return Row(what, "fit + predict, object array", *cells, whole / made)
