"""Published figures of the public data sets, and predictions on real counts."""

import math

import numpy as np
import pytest

import nbcfast
from nbcfast.reference import views as reference

pytest.importorskip("pyarrow")

ADULT_3 = ["age", "education_num", "hours_per_week"]


@pytest.fixture(scope="module")
def adult(data):
    return nbcfast.read_csv(data / "adult-train.csv")


def numbers_of(views):
    return dict(zip(views.classes, views.class_counts.tolist(), strict=True))


def test_adult(adult):
    views = nbcfast.count(adult, "income", max_values=65_536)
    assert numbers_of(views) == {"<=50K": 24_720, ">50K": 7_841}
    assert views.n_rows == adult.n_rows == 32_561
    assert len(views.attributes) == 14
    assert views.is_realistic()
    missing = {
        name: int(views.counts[name][views.domain(name).index("?")].sum())
        for name in views.attributes
        if "?" in views.domain(name)
    }
    assert missing == {"workclass": 1_836, "occupation": 1_843, "native_country": 583}


def test_adult_in_parts_is_adult_at_once(data):
    whole = None
    rows, labels, known = {}, {}, {}
    for part in ("train", "test"):
        table = nbcfast.read_csv(data / f"adult-{part}.csv")
        counted = nbcfast.count(table, "income")
        whole = counted if whole is None else whole + counted
        rows[part], labels[part] = table.n_rows, numbers_of(counted)
        known[part] = nbcfast.read_csv(data / f"adult-{part}.csv", null_values=["", "?"]).drop_nulls().n_rows
        both = table if part == "train" else nbcfast.concat([both, table])  # noqa: F821
    assert rows == {"train": 32_561, "test": 16_281}
    assert labels["test"] == {"<=50K": 12_435, ">50K": 3_846}
    assert known == {"train": 30_162, "test": 15_060}
    assert whole == nbcfast.count(both, "income")
    assert numbers_of(whole) == {"<=50K": 37_155, ">50K": 11_687}
    sizes = {name: len([v for v in whole.domain(name) if v != "?"]) for name in whole.attributes}
    assert {name: sizes[name] for name in ("workclass", "education", "marital_status", "occupation")} == {
        "workclass": 8, "education": 16, "marital_status": 7, "occupation": 14,
    }  # fmt: skip
    assert {name: sizes[name] for name in ("relationship", "race", "sex", "native_country")} == {
        "relationship": 6, "race": 5, "sex": 2, "native_country": 41,
    }  # fmt: skip
    assert both.collapse().n_rows == 48_842 - 52


def test_adult_3(adult):
    views = nbcfast.count(adult, "income", ADULT_3)
    assert [len(views.domain(name)) for name in ADULT_3] == [73, 16, 94]
    assert sum(int((array == 0).sum()) for array in views.counts.values()) == 24
    assert math.prod(len(array) for array in views.counts.values()) == 73 * 16 * 94
    assert views.is_realistic()


@pytest.mark.parametrize("attributes", [ADULT_3, None])
@pytest.mark.parametrize("alpha", [0, 1])
def test_predictions_equal_the_reference(adult, attributes, alpha):
    if attributes is None:
        attributes = [name for name in adult.names if name not in ("income", "fnlwgt", "capital_gain")]
    views = nbcfast.count(adult, "income", attributes)
    chosen = np.random.default_rng(7).integers(0, adult.n_rows, 60)
    sample = adult.take(chosen)
    rows = [
        {name: sample.domain(name)[sample.codes(name)[row]] for name in attributes}
        for row in range(sample.n_rows)
    ]
    assert views.predict(sample, alpha=alpha).tolist() == reference.predict(views, rows, alpha=alpha)
    assert views.order(sample, alpha=alpha).tolist() == reference.order(views, rows, alpha=alpha)
    assert views.tied(sample, alpha=alpha).tolist() == reference.tied(views, rows, alpha=alpha)
    # The sample has other codes than the whole, and the same values.
    assert np.array_equal(views.predict(adult, alpha=alpha)[chosen], views.predict(sample, alpha=alpha))


def test_adult_3_is_as_good_as_a_classifier_of_three_attributes_is(adult):
    views = nbcfast.count(adult, "income", ADULT_3)
    truth = np.array(adult.domain("income"))[adult.codes("income")]
    assert 0.75 < (views.predict(adult) == truth).mean() < 0.85


def test_counting_adult_equals_the_reference(adult):
    sample = adult.take(slice(0, 400)).select([*ADULT_3, "sex", "workclass", "income"])
    columns = {name: [sample.domain(name)[code] for code in sample.codes(name)] for name in sample.names}
    assert nbcfast.count(sample, "income").to_dict() == reference.count(columns, "income").to_dict()


@pytest.mark.parametrize(
    ("file", "rows", "counts", "known"),
    [
        ("crx", 690, {"+": 307, "-": 383}, {"+": 296, "-": 357}),
        ("crx-train", 490, {"+": 217, "-": 273}, {"+": 212, "-": 253}),
        ("crx-test", 200, {"+": 90, "-": 110}, {"+": 84, "-": 104}),
        ("german-credit", 1_000, {1: 700, 2: 300}, {1: 700, 2: 300}),
        ("breast-cancer-wisconsin", 699, {2: 458, 4: 241}, {2: 444, 4: 239}),
    ],
)
def test_class_counts(data, file, rows, counts, known):
    table = nbcfast.read_csv(data / f"{file}.csv", null_values=["", "?"])
    views = nbcfast.count(table, "class")
    assert table.n_rows == views.n_rows == rows
    assert numbers_of(views) == counts
    complete = nbcfast.count(table.drop_nulls(), "class")
    assert numbers_of(complete) == known
    rest = numbers_of(views - complete)
    assert {label: n for label, n in rest.items() if n} == {
        label: counts[label] - known[label] for label in counts if counts[label] > known[label]
    }


def test_missing_values(data):
    crx = nbcfast.read_csv(data / "crx.csv", null_values=["", "?"])
    views = nbcfast.count(crx, "class")
    missing = {
        name: int(views.counts[name][-1].sum()) for name in views.attributes if views.domain(name)[-1] is None
    }
    assert missing == {"a1": 12, "a2": 12, "a4": 6, "a5": 6, "a6": 9, "a7": 9, "a14": 13}
    assert crx.n_rows - crx.drop_nulls().n_rows == 37
    breast = nbcfast.read_csv(data / "breast-cancer-wisconsin.csv", null_values=["", "?"])
    counts = nbcfast.count(breast, "class").counts
    assert int(counts["bare_nuclei"][-1].sum()) == 16
    assert len(counts["sample_code_number"]) == 645
    assert breast.collapse().n_rows == 699 - 8
    german = nbcfast.read_csv(data / "german-credit.csv")
    assert len(german.names) == 21
    assert german.collapse().n_rows == 1_000
    assert [len(german.domain(name)) for name in ("purpose", "personal_status_sex", "housing")] == [10, 4, 3]


def test_crx_in_two_parts(data):
    parts = [nbcfast.read_csv(data / f"crx-{part}.csv", types=dict.fromkeys(["a11", "a14"], "text"))
             for part in ("train", "test")]  # fmt: skip
    whole = nbcfast.read_csv(data / "crx.csv", types=dict.fromkeys(["a11", "a14"], "text"))
    names = [name for name in whole.names if {whole.column(name).domain.kind} == {
        part.column(name).domain.kind for part in parts}]  # fmt: skip
    assert len(names) > 10
    counted = [nbcfast.count(part.select(names), "class") for part in parts]
    assert counted[1] + counted[0] == nbcfast.count(whole.select(names), "class")
