"""What `PublishableNBClassifier` fits and answers: the release that the library makes of the same rows."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("sklearn")

from estimator_cases import DOMAIN, matrix, people
from how_many import how_many

import nbcfast
from nbcfast import Infeasible, Table, canonical
from nbcfast.sklearn import PublishableNBClassifier, UndeclaredDomainWarning

COLUMNS, ILL = people()
X = matrix(COLUMNS)
ROWS = {**COLUMNS, "class": ILL}


def frames():
    """The same values in every container that has names."""
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    frame = pd.DataFrame({name: column.tolist() for name, column in COLUMNS.items()})
    yield frame
    yield frame.astype(object)
    yield frame.astype({"job": "category", "sex": "string", "age": "Int64"})
    yield frame.astype({"job": pd.ArrowDtype(pa.large_string())})
    yield frame.set_index(np.arange(len(frame))[::-1])
    yield pl.DataFrame({name: column.tolist() for name, column in COLUMNS.items()})
    yield pa.table({name: column.tolist() for name, column in COLUMNS.items()})


def test_it_is_the_release_that_publish_makes():
    for options in ({}, {"method": "safetytransform"}, {"preserve": "order", "attacker": "worlds"}):
        model = PublishableNBClassifier(6, domain=DOMAIN, **options)
        [frame, *_] = frames()
        made = nbcfast.publish(
            ROWS, "class", 6, domains=DOMAIN, limits=None, **{"preserve": "label", **options}
        )
        assert model.fit(frame, ILL).release_ == made.release
        assert model.predict(frame).tolist() == made.release.predict(COLUMNS).tolist()
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["job", "sex", "age"]
    fitted = {name for name in vars(model) if name not in model.get_params()}
    assert fitted == {"release_", "classes_", "n_features_in_", "feature_names_in_"}


def test_it_answers_every_row_as_the_private_classifier_does():
    private = nbcfast.count(Table(ROWS).bin("age", [0, 30, 50, np.inf]), "class")
    expected = private.predict(Table(COLUMNS).bin("age", [0, 30, 50, np.inf])).tolist()
    [frame, *_] = frames()
    for method in ("auto", "safetytransform"):
        for threads in (1, 2, None):
            model = PublishableNBClassifier(2, method=method, domain=DOMAIN, threads=threads).fit(frame, ILL)
            assert model.predict(frame).tolist() == expected
    with pytest.raises(ValueError, match="threads"):
        PublishableNBClassifier(threads=0).fit(X, ILL)


def test_alpha_rows_and_limits_reach_the_library():
    views = nbcfast.count(Table(ROWS).select(["job", "sex", "class"]), "class")
    some = X[:, :2]
    for options in ({"alpha": "1/2"}, {"rows": 5_000_000}, {"rows": "proven"}, {"attacker": "worlds"}):
        model = PublishableNBClassifier("7/2", **options).fit(some, ILL)
        plain = canonical.release(
            nbcfast.Viewset.from_parts(
                views.class_counts,
                dict(zip(["x0", "x1"], views.counts.values(), strict=True)),
                views.class_domain,
                dict(zip(["x0", "x1"], views.domains.values(), strict=True)),
            ),
            "7/2",
            class_name="class",
            **options,
        )
        assert model.release_ == plain
    assert model.release_.certificate.amplification == Fraction(7, 2)
    with pytest.raises(Infeasible, match="10 rows"):
        PublishableNBClassifier(rows=10).fit(some, ILL)
    assert not hasattr(model.fit(some, ILL), "feature_names_in_")


def test_the_same_values_give_the_same_release_in_whatever_they_come():
    model = PublishableNBClassifier(class_name="ill", domain=DOMAIN, rows="proven")
    [first, *others] = [model.fit(frame, ILL).release_ for frame in frames()]
    assert all(other == first for other in others)
    predicted = [model.predict(frame).tolist() for frame in frames()]
    assert all(labels == predicted[0] for labels in predicted)
    unnamed = PublishableNBClassifier(rows="proven")
    expected = unnamed.fit(X, ILL).release_
    for rows in (X.tolist(), [tuple(row) for row in X.tolist()], np.asfortranarray(X), X[::-1][::-1]):
        assert unnamed.fit(rows, ILL).release_ == expected
    texts = X[:, :2].astype("U")
    assert unnamed.fit(texts, ILL).release_ == unnamed.fit(X[:, :2], ILL.tolist()).release_
    assert unnamed.fit(texts, ILL.astype("U")).release_ == unnamed.fit(texts.tolist(), ILL).release_


def test_classes_in_whatever_they_come():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    model = PublishableNBClassifier(rows="proven")
    expected = model.fit(X, ILL).release_
    for y in (
        ILL.tolist(),
        ILL.astype("U"),
        pd.Series(ILL),
        pd.Series(ILL, dtype=object),
        pl.Series(ILL.tolist()),
        pd.Series(ILL, dtype="category"),
        pd.Series(ILL, dtype="string"),
        pd.Series(ILL)[::-1][::-1],
    ):
        assert model.fit(X, y).release_ == expected
    for y, kind in ((ILL == "yes", bool), ((ILL == "yes") * 3, int), ((ILL == "yes") * 1.0, float)):
        model.fit(X, y)
        assert [type(label) for label in model.classes_.tolist()] == [kind, kind]
        assert model.score(X, y) > 0.6


def test_null_is_a_value_and_so_is_nan():
    pd = pytest.importorskip("pandas")
    job = np.array([None if one == "cook" else one for one in COLUMNS["job"]], object)
    nan = np.array([np.nan if one is None else one for one in job], object)
    model = PublishableNBClassifier()
    columns = [np.stack([one, COLUMNS["sex"]], axis=1) for one in (job, nan)]
    assert model.fit(columns[0], ILL).release_ == model.fit(columns[1], ILL).release_
    assert model.release_.views.domain("x0") == ("clerk", "nurse", "smith", None)
    frame = pd.DataFrame(columns[1], columns=["x0", "x1"])
    unnamed = model.fit(columns[1], ILL).release_
    assert model.fit(frame, ILL).release_ == unnamed
    for kind in ("category", "string", pd.StringDtype("python"), pd.StringDtype("python", na_value=np.nan)):
        assert model.fit(frame.astype(kind), ILL).release_ == unnamed
    numbered = frame.rename(columns={"x0": 7, "x1": 3})
    assert model.fit(numbered, ILL).release_ == unnamed
    assert not hasattr(model, "feature_names_in_")
    [answer] = set(model.predict(columns[0][[one is None and sex == "f" for one, sex in columns[0]]]))
    assert model.predict([[None, "f"], [np.nan, "f"], [float("nan"), "f"]]).tolist() == [answer] * 3
    truths = np.array([[True], [np.nan], [False], [None]] * 9, object)
    assert model.fit(truths, ILL[:36]).release_.views.domain("x0") == (False, True, None)


def test_floats_are_binned_at_quantiles_and_that_is_said():
    pd = pytest.importorskip("pandas")
    ages = COLUMNS["age"] + 0.25
    model = PublishableNBClassifier()
    with pytest.warns(UndeclaredDomainWarning, match="column 'x0' is cut .* domain={'x0': {'edges'") as said:
        model.fit(ages[:, np.newaxis], ILL)
    assert [warning.filename for warning in said] == [__file__]
    table = Table({"x0": ages, "class": ILL}).bin("x0", quantiles=5)
    assert model.release_ == canonical.release(nbcfast.count(table, "class"), 4, class_name="class")
    assert model.release_.views.domain("x0")[0].low is None
    assert model.predict([[-1e9], [np.inf]]).tolist() == model.predict([[18.25], [99.5]]).tolist()
    with pytest.warns(UndeclaredDomainWarning, match="columns 'x0', 'x1' are cut"):
        PublishableNBClassifier(bins=2).fit(np.stack([ages, -ages], axis=1), ILL)
    with pytest.raises(ValueError, match=r"column 'age': floats .* bins=None .* domain={'age': {'edges': \["):
        PublishableNBClassifier(bins=None).fit(pd.DataFrame({"age": ages}), ILL)
    for bins, error in ((1, ValueError), (2.5, TypeError), (True, TypeError), ("5", TypeError)):
        with pytest.raises(error, match="bins must be"):
            PublishableNBClassifier(bins=bins).fit(X, ILL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        declared = PublishableNBClassifier(domain={"x0": {"edges": [0, 30, None]}}).fit(ages[:, None], ILL)
        # Categories are values, whatever they are.
        grades = pd.DataFrame({"grade": pd.Categorical(COLUMNS["age"] % 3 / 2)})
        PublishableNBClassifier(bins=None).fit(grades, ILL).predict(grades)
    assert [str(one) for one in declared.release_.views.domain("x0")] == ["[0, 30)", "[30, inf)"]
    assert declared.release_.certificate.canonical.undeclared == (None,)


def test_precedence_is_the_order_of_classes_and_classes_stay_sorted():
    model = PublishableNBClassifier(precedence=["yes", "no"]).fit(X, ILL)
    assert model.release_.views.classes == ("yes", "no")
    assert model.classes_.tolist() == ["no", "yes"]
    assert None not in model.release_.certificate.canonical.undeclared
    proba = model.predict_proba(X)
    np.testing.assert_array_equal(
        proba[:, ::-1],
        model.release_.predict_proba({name: X[:, place] for place, name in enumerate(("x0", "x1", "x2"))}),
    )
    with pytest.raises(ValueError, match="precedence must name every class, lowest first: 'yes' is missing"):
        PublishableNBClassifier(precedence=["no", "maybe"]).fit(X, ILL)
    with pytest.raises(ValueError, match="precedence goes without values of 'class' in domain"):
        PublishableNBClassifier(precedence=["no", "yes"], domain={"class": ["no", "yes"]}).fit(X, ILL)
    three = PublishableNBClassifier(domain={"class": ["yes", "no", "maybe"]})
    with pytest.raises(ValueError, match="maybe"):
        three.fit(X, ILL)


@pytest.mark.parametrize("seed", range(how_many(4, 100)))
def test_the_largest_probability_is_always_that_of_the_class_that_is_predicted(seed):
    rng = np.random.default_rng(seed)
    some = rng.integers(0, 3, (40, 3))
    y = rng.integers(0, 4, 40)
    order = rng.permutation(4).tolist()
    model = PublishableNBClassifier(2, precedence=order, rows="proven", unseen="ignore").fit(some, y)
    rows = np.array(np.meshgrid(*[[0, 1, 2, 9]] * 3)).reshape(3, -1).T
    expected = model.predict(rows)
    codes = model.release_.predict({f"x{j}": rows[:, j] for j in range(3)}, unseen="ignore")
    assert expected.tolist() == codes.tolist()
    for found in (model.predict_proba, model.predict_log_proba, model.predict_joint_log_proba):
        scores = found(rows)
        assert np.array_equal(model.classes_[scores.argmax(axis=1)], expected)
        assert np.isfinite(scores).all()
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), model.predict_proba(rows), rtol=1e-12)
    joint = np.exp(model.predict_joint_log_proba(rows))
    np.testing.assert_allclose(joint / joint.sum(axis=1, keepdims=True), model.predict_proba(rows), rtol=1e-9)


def test_of_a_tie_the_class_of_higher_precedence_is_answered_and_likeliest():
    for order in ([0, 1], [1, 0]):
        model = PublishableNBClassifier(precedence=order).fit([[0], [0], [1], [1]], [0, 1, 0, 1])
        assert model.predict([[0], [1]]).tolist() == [order[1]] * 2
        for found in (model.predict_proba, model.predict_log_proba, model.predict_joint_log_proba):
            assert found([[0], [1]]).argmax(axis=1).tolist() == [order[1]] * 2


def test_one_class_is_answered_to_everybody():
    model = PublishableNBClassifier().fit(X, ["ill"] * len(X))
    assert model.predict(X[:2]).tolist() == ["ill", "ill"]
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


def test_codes_that_are_floats_are_binned_with_a_word_on_integers():
    codes = np.arange(len(ILL)) % 7
    line = r"If 'x0' holds codes, they are values as integers: OrdinalEncoder\(dtype=int\)"
    with pytest.warns(UndeclaredDomainWarning, match=line):
        PublishableNBClassifier().fit(np.stack([codes, codes + 0.5], axis=1).astype(float), ILL)
    with pytest.warns(UndeclaredDomainWarning) as said:
        PublishableNBClassifier().fit(codes[:, None] + 1.0, ILL)
    assert "codes" not in str(said[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PublishableNBClassifier().fit(codes[:, None], ILL)


def test_values_that_were_not_published_are_refused_or_left_out():
    model = PublishableNBClassifier().fit(X[:, :2], ILL)
    with pytest.raises(
        ValueError, match=r"'smithy' is unknown .*declare all .* domain.* unseen='ignore'"
    ) as said:
        model.predict([["smithy", "f"]])
    assert "null" not in str(said.value)
    model.set_params(unseen="ignore")
    left_out = model.release_.predict({"x0": ["smithy"], "x1": ["f"]}, unseen="ignore")
    assert model.predict([["smithy", "f"]]).tolist() == left_out.tolist()
    views = model.release_.views
    shares = views.class_counts / views.n_rows * (views.counts["x1"][0] / views.class_counts)
    np.testing.assert_allclose(model.predict_proba([["smithy", "f"]])[0], shares / shares.sum(), rtol=1e-12)
    model.set_params(unseen="zero")
    with pytest.raises(ValueError, match="unseen must be 'error' or 'ignore', got 'zero'"):
        model.predict(X[:, :2])


def test_columns_of_which_no_value_was_published_are_not_left_out_in_silence():
    domain = {"x0": {"groups": {"office": ["clerk"], "other": ["cook", "nurse", "smith"]}}}
    model = PublishableNBClassifier(domain=domain).fit(X[:, :2], ILL)
    theirs = PublishableNBClassifier.from_release(model.release_, unseen="ignore")
    text = r"^column 'x0': the release knows none of the values, such as 'clerk'.*sets.* or menu=\.\."
    for asked in (theirs.predict, theirs.predict_proba, theirs.predict_log_proba):
        with pytest.warns(UserWarning, match=text) as said:
            asked(X[:, :2])
        assert [warning.filename for warning in said] == [__file__]
    with pytest.warns(UserWarning, match=r"^columns 'x0', 'x1': .* they are left out"):
        theirs.predict([["clerk", "a"], ["cook", "b"]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theirs.predict([["office", "f"], ["clerk", "m"]])  # one is known
        theirs.predict([["clerk", "f"], ["clerk", "m"]])  # one value, as of a single row
        theirs.predict([[None, "f"]] * 2)
        again = PublishableNBClassifier.from_release(model.release_, domain=domain, unseen="ignore")
        assert again.predict(X[:, :2]).tolist() == model.predict(X[:, :2]).tolist()


def test_a_domain_that_has_the_classes_by_another_name_says_what_they_are_called():
    pd = pytest.importorskip("pandas")
    y = pd.Series(ILL, name="ill")
    domain = {**DOMAIN, "ill": ["no", "yes"]}
    [frame, *_] = frames()
    with pytest.raises(ValueError, match=r"domain declares 'ill', as y is called, .*give class_name='ill'"):
        PublishableNBClassifier(domain=domain).fit(frame, y)
    made = PublishableNBClassifier(domain=domain, class_name="ill").fit(frame, y).release_
    assert made == PublishableNBClassifier(domain=domain, class_name="ill").fit(frame, ILL).release_
    menu = {"sex": [["f", "m"], {"out": True}], "ill": [["no", "yes"]]}
    with pytest.raises(ValueError, match=r"menu declares 'ill', as y is called, .*give class_name='ill'"):
        PublishableNBClassifier(menu=menu).fit(frame, y)
    PublishableNBClassifier(domain=DOMAIN).fit(frame, y.rename("job"))


def test_sets_and_named_bins_of_a_domain_are_known_when_predicting():
    domain = {
        "x0": {"groups": {"office": ["clerk"], "other": ["cook", "nurse", "smith"]}},
        "x2": {"edges": [0, 40, None], "labels": ["young", "old"]},
        "x1": {"out": True},
    }
    model = PublishableNBClassifier(domain=domain).fit(X, ILL)
    assert model.release_.views.attributes == ("x0", "x2")
    assert model.n_features_in_ == 3
    expected = model.release_.predict({"x0": X[:, 0], "x2": X[:, 2]}, domains=domain)
    assert model.predict(X).tolist() == expected.tolist()
    again = PublishableNBClassifier.from_release(model.release_, domain=domain)
    frame = pytest.importorskip("pandas").DataFrame({"x0": X[:, 0], "x2": X[:, 2].astype(int)})
    assert again.predict(frame).tolist() == expected.tolist()


def test_a_menu_is_searched_and_the_choice_stands_in_the_release(tmp_path):
    menu = {
        "x0": [["clerk", "cook", "nurse", "smith"], {"out": True}],
        "x1": [["f", "m"], {"out": True}],
        "x2": [{"edges": [0, 30, 50, None]}, {"edges": [0, 40, None]}, {"out": True}],
    }
    model = PublishableNBClassifier(menu=menu).fit(X, ILL)
    rows = {**{f"x{place}": X[:, place] for place in range(3)}, "class": ILL}
    made = nbcfast.publish(rows, "class", 4, menu=menu)
    assert model.release_ == made.release
    assert model.release_.certificate.advice.options == 12
    assert model.predict(X).tolist() == made.release.predict(rows).tolist()
    model.set_params(menu={"x1": [["f", "m"]]})
    with pytest.raises(
        ValueError, match="menu must be the one that the release was chosen from, got another"
    ):
        model.predict(X)
    with pytest.raises(ValueError, match="menu says what each column may be, and domain does not go with it"):
        PublishableNBClassifier(menu=menu, domain={"x0": ["clerk"]}).fit(X, ILL)


def test_noise_is_drawn_where_everything_is_declared():
    domain = {"x0": DOMAIN["job"], "x1": DOMAIN["sex"], "x2": DOMAIN["age"], "class": ["no", "yes"]}
    model = PublishableNBClassifier(dp_epsilon=1, domain=domain).fit(X, ILL)
    assert model.release_.certificate.privacy.level == "epsilon 1"
    assert model.predict(X).shape == (len(X),)
    assert pickle.loads(pickle.dumps(model)).release_ == model.release_
    model.set_params(precedence=["no", "yes"], domain={name: domain[name] for name in ("x0", "x1", "x2")})
    assert model.fit(X, ILL).release_.views.classes == ("no", "yes")
    refusals = {
        "column 'class': its classes come from the rows.*with domain": {"precedence": None},
        "menu does not go with dp_epsilon": {"menu": {"x0": [{"out": True}]}},
        "alpha does not go with dp_epsilon": {"alpha": 1},
        "dp_epsilon must be": {"dp_epsilon": 0},
    }
    for match, options in refusals.items():
        with pytest.raises(ValueError, match=match):
            PublishableNBClassifier(**{**model.get_params(), **options}).fit(X, ILL)
    with pytest.raises(ValueError, match="sample_weight does not go with dp_epsilon"):
        model.fit(X, ILL, np.full(len(X), 2))
    assert model.fit(X, ILL, np.ones(len(X))).release_.certificate.privacy is not None


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"amplification": None}, TypeError, "amplification must be a number above 1, got None"),
        ({"amplification": 1}, ValueError, "amplification"),
        ({"amplification": "much"}, ValueError, "amplification"),
        ({"method": "est"}, ValueError, "method must be 'auto', 'canonical' or 'safetytransform', got 'est'"),
        ({"preserve": None}, ValueError, "preserve must be"),
        ({"attacker": "all"}, ValueError, "attacker"),
        ({"rows": 0}, ValueError, "rows"),
        ({"alpha": -1}, ValueError, "alpha must be"),
        ({"alpha": 1, "method": "safetytransform"}, ValueError, "alpha goes with method='canonical'"),
        ({"unseen": "zero"}, ValueError, "unseen must be 'error' or 'ignore'"),
        ({"class_name": 3}, TypeError, "class_name must be a text, got 3"),
        ({"class_name": "x1"}, ValueError, "class_name must be the name of no column of X, got 'x1'"),
        ({"domain": 3}, TypeError, "domain must be a mapping"),
        ({"domain": {"y0": ["a"]}}, ValueError, "domain: the table has no column 'y0'"),
        (
            {"domain": {"x1": ["f"]}},
            ValueError,
            "domain: column 'x1': value 'm' is not in its declared domain",
        ),
        ({"menu": 3}, TypeError, "menu must be a mapping"),
    ],
)
def test_parameters_are_refused_by_the_library_in_words_of_the_estimator(options, error, match):
    model = PublishableNBClassifier(**options)
    with pytest.raises(error, match=match):
        model.fit(X, ILL)
    assert not hasattr(model, "release_")


def test_a_column_that_names_people_is_refused():
    ids = np.arange(1200)[:, np.newaxis]
    with pytest.raises(ValueError, match=r"column 'x0' .* names people.* \(domain={'x0': {'out': True}}\)"):
        PublishableNBClassifier().fit(ids, np.arange(1200) % 2)


def test_a_fit_that_fails_leaves_no_older_release_behind():
    model = PublishableNBClassifier().fit(X, ILL)
    with pytest.raises(ValueError, match="zero for every row"):
        model.fit(X, ILL, np.zeros(len(X)))
    with pytest.raises(Exception, match="not fitted"):
        model.predict(X)
