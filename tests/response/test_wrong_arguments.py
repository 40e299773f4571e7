"""What `disguise`, `estimate`, `accuracy`, `plan` and their like refuse, and in which words."""

import math

import pytest
from response_cases import SIMULATED, small_data, table_of

import nbcfast
from nbcfast import Table, Viewset, response
from nbcfast.response import KaryScheme, Scheme


def test_what_is_wrong_is_named():
    told = table_of([(0, 1), (1, 0)] * 4, ("a", "c"))
    scheme = Scheme("0.8", [["a"]])
    found = response.estimate(told, scheme, "c")
    some = small_data()
    for call, error, message in [
        (lambda: response.estimate(response.pack(told), scheme, "c", attributes=["q"]), ValueError,
         "attributes: expected columns of 'a'; got 'q'"),
        (lambda: response.estimate(told, scheme, "c", attributes="a"), TypeError,
         "attributes: expected a sequence of names, got 'a'"),
        (lambda: response.pack(told, "ac"), TypeError, "names: expected a sequence of names, got 'ac'"),
        (lambda: found.domain("q"), ValueError, "expected an attribute of 'a'; got 'q'"),
        (lambda: found.interval("1.5"), ValueError, r"level must be in \(0, 1\), got 1.5"),
        (lambda: response.classifier(5), TypeError, "estimate must be a Estimate, got int"),
        (lambda: KaryScheme.with_epsilon(1, ["a"]), TypeError, "domains must be a mapping of name -> values"),
        (lambda: KaryScheme.with_epsilon(1, {"a": []}), ValueError,
         r"domains\['a'\] must have at least 2 values, got 0"),
        (lambda: Scheme("0.8", [["a"]], domains=[0, 1]), TypeError, "domains must be a mapping"),
        (lambda: response.binarise(told, {"a": 5}), TypeError, "points: expected a Cut for 'a', got int"),
        (lambda: response.simulate(some, some, scheme, "c", rng=3), TypeError, "rng must be a numpy"),
        (lambda: response.simulate(some, some, 0.8, "c"), TypeError, "scheme must be a Scheme"),
        (lambda: response.simulate(some, some, scheme, "x"), ValueError, "'x'"),
        (lambda: response.simulate(some, some, SIMULATED["one group"], "c", alpha=-3), ValueError,
         "alpha must be at least 0, got -3"),
        (lambda: response.simulate(some, some, scheme, "c", repetitions="x"), TypeError,
         "repetitions must be an int, got str"),
        (lambda: response.plan(5, scheme, class_name=7), TypeError, "class_name must be a str or None"),
        (lambda: response.disguise(told, scheme, progress=5), TypeError, "progress must be callable or None"),
    ]:  # fmt: skip
        with pytest.raises(error, match=message):
            call()
    low, _ = found.interval("0.99999999999999999999")
    assert math.isfinite(low.prior[0])


def test_disguise_refuses():
    scheme = Scheme("0.8", [["a"]])
    with pytest.raises(ValueError, match="the table has weights, and each record needs coins of its own"):
        response.disguise(Table({"a": [0, 1]}, weights=[1, 2]), scheme)
    with pytest.raises(ValueError, match="the table has no column 'a', which the scheme has; it has"):
        response.disguise({"b": [0, 1]}, scheme)
    with pytest.raises(ValueError, match=r"column 'a' must have two values .* got 3: \(0, 1, 2\); binarise"):
        response.disguise({"a": [0, 1, 2]}, scheme)
    with pytest.raises(ValueError, match=r"column 'a' must have two values .* got 1: .*declare its domain"):
        response.disguise({"a": [0, 0]}, scheme)
    for values in ([0, None], [0, 1, None]):
        with pytest.raises(ValueError, match="column 'a' has missing answers, which a binary scheme cannot"):
            response.disguise({"a": values}, scheme)
    with pytest.raises(ValueError, match="column 'a': value 7 is none of the 2 values"):
        response.disguise({"a": [0, 7]}, Scheme("0.8", [["a"]], domains={"a": [0, 1]}))
    with pytest.raises(TypeError, match=r"rng must be a numpy.random.Generator or None, got int"):
        response.disguise({"a": [0, 1]}, scheme, 7)
    with pytest.raises(TypeError, match="scheme must be a Scheme or a KaryScheme, got str"):
        response.disguise({"a": [0, 1]}, "0.8")
    with pytest.raises(ValueError, match="weights, and each record needs bits of its own"):
        response.pack(Table({"a": [0, 1]}, weights=[1, 2]))
    with pytest.raises(ValueError, match="the bits have no column 'a'"):
        response.disguise(response.pack({"b": [0, 1]}), scheme)
    with pytest.raises(ValueError, match="expected a column of 'b'; got 'c'"):
        response.pack({"b": [0, 1]}).counts("c")


def test_estimate_refuses():
    scheme = Scheme("0.8", [["a"]])
    with pytest.raises(ValueError, match="no rows"):
        response.estimate(table_of([], ("a", "c")), scheme, "c")
    with pytest.raises(ValueError, match="the disguised table has no column 'a', which the scheme has"):
        response.estimate({"b": [0, 1], "c": [0, 1]}, scheme, "c")
    with pytest.raises(ValueError, match=r"the scheme has columns \('a',\), and the answers none of them"):
        response.estimate(Viewset([1, 1], {"b": [[1, 0], [0, 1]]}), scheme, "c")
    with pytest.raises(ValueError, match="column 'a' has missing answers"):
        response.estimate({"a": [0, None], "c": [0, 1]}, scheme, "c")
    with pytest.raises(ValueError, match="method must be 'projection' or 'em', got 'best'"):
        response.estimate({"a": [0, 1], "c": [0, 1]}, scheme, "c", method="best")
    told = response.disguise({"a": [0, 1], "c": [0, 1]}, scheme)
    with pytest.raises(ValueError, match="scheme: the answers were made by another"):
        response.estimate(told, Scheme("0.7", [["a"]]), "c")
    with pytest.raises(ValueError, match="attributes goes with a table"):
        response.estimate(nbcfast.count(told, "c"), scheme, "c", attributes=["a"])


def test_answers_of_another_scheme_are_refused():
    """Another theta, kind of lie or domain would give wrong shares, and no sign of it."""
    table = table_of([(0, 1, 0), (2, 1, 1), (1, 0, 1), (2, 0, 0)] * 5, ("a", "b", "c"), [3, 2, 2])
    domains = {"a": [0, 1, 2], "b": [0, 1]}
    rule = Viewset([1, 1], {"a": [[1, 0], [0, 1], [1, 1]], "b": [[1, 1], [1, 1]]})
    told = response.disguise(table, KaryScheme("0.6", domains, groups=[["a", "b"]], lie="each"))
    others = [
        KaryScheme("0.6", domains, groups=[["a", "b"]], lie="tuple"),
        KaryScheme("0.7", domains, groups=[["a", "b"]]),
        KaryScheme("0.6", domains),
        KaryScheme("0.6", {**domains, "a": [0, 1, 2, 3]}, groups=[["a", "b"]]),
    ]
    for other in others:
        with pytest.raises(ValueError, match="scheme: the answers were made by another"):
            response.estimate(told, other, "c")
        with pytest.raises(ValueError, match="scheme: the answers were made by another"):
            response.accuracy(rule, told, other, "c")
    # The order of groups, columns and values is nobody's business.
    same = KaryScheme("0.6", {"b": [1, 0], "a": [2, 1, 0]}, groups=[["b", "a"]])
    assert response.estimate(told, same, "c").n_rows == 20
    with pytest.raises(ValueError, match=r"the scheme has columns \('z',\), and the classifier none of them"):
        response.accuracy(rule, table, Scheme("0.7", [["z"]]), "c")
    with pytest.raises(ValueError, match="the answers are disguised already"):
        response.disguise(told, told.scheme)
    bits = response.disguise(response.pack(table, ["b", "c"]), Scheme("0.8", [["b"]]))
    with pytest.raises(ValueError, match="the answers are disguised already"):
        response.disguise(bits, Scheme("0.8", [["c"]]))
    with pytest.raises(ValueError, match="scheme: the answers were made by another"):
        response.accuracy(Viewset([1, 1], {"b": [[1, 0], [0, 1]]}), bits, Scheme("0.7", [["b"]]), "c")


def test_what_accuracy_refuses():
    rule = Viewset([1, 1], {"a": [[1, 0], [0, 1]]})
    scheme = Scheme("0.8", [["a"]])
    with pytest.raises(ValueError, match="class_name: the classifier does not name its class"):
        response.accuracy(rule, {"a": [0], "c": [1]}, scheme)
    with pytest.raises(TypeError, match="classifier must have views, got str"):
        response.accuracy("x", {"a": [0, 1], "c": [1, 1]}, scheme, "c")
    with pytest.raises(TypeError, match="scheme must be a Scheme or a KaryScheme, got float"):
        response.accuracy(rule, {"a": [0, 1], "c": [1, 1]}, 0.8, "c")
    with pytest.raises(ValueError, match="no rows"):
        response.accuracy(rule, table_of([], ("a", "c")), scheme, "c")
    many = [f"a{i}" for i in range(17)]
    wide = Viewset([1, 1], {name: [[1, 1], [1, 1]] for name in many})
    table = table_of([(0,) * 18, (1,) * 18], (*many, "c"))
    with pytest.raises(ValueError, match="may have 131,072 forms, more than 65,536"):
        response.accuracy(wide, table, Scheme.per_attribute("0.8", many), "c")


def test_what_plans_are_refused():
    scheme = Scheme("0.8", [["a"]])
    for arguments, options, error, message in [
        ((0, scheme), {}, ValueError, "n must be at least 1, got 0"),
        ((1.5, scheme), {}, TypeError, "n must be an int or None, got float"),
        ((None, scheme), {}, ValueError, "n: expected a number, or standard_error or accuracy"),
        ((5, scheme), {"accuracy": 0.1}, ValueError, "standard_error and accuracy go with n=None"),
        ((None, scheme), {"standard_error": 0}, ValueError, "standard_error must be above 0, got 0"),
        ((5, 0.8), {}, TypeError, "scheme must be a Scheme"),
        ((None, KaryScheme(0, {"a": [1, 2, 3]})), {"accuracy": 1}, ValueError, "planned for binary schemes"),
    ]:
        with pytest.raises(error, match=message):
            response.plan(*arguments, **options)
