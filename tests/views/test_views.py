"""`Viewset`: what it is made of, merging, and every error message."""

import copy
import math
import pickle

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import SUPPRESSED, Interval, Table, Viewset
from nbcfast.reference import views as reference

TOP = 2**63 - 1
NUMBERS = st.one_of(
    st.integers(0, 5),
    st.sampled_from([TOP - 1, TOP, TOP + 1, 2**64 - 1, 2**64, 10**40]),
    st.integers(0, 10**40),
)


@st.composite
def viewsets(draw, numbers=NUMBERS, n_classes=None, shape=None):
    n_classes = n_classes or draw(st.integers(1, 4))
    shape = draw(st.lists(st.integers(0, 3), max_size=3)) if shape is None else shape
    row = st.lists(numbers, min_size=n_classes, max_size=n_classes)
    counts = [draw(st.lists(row, min_size=size, max_size=size)) for size in shape]
    arrays = [np.array(c, object).reshape(len(c), n_classes) for c in counts]
    return Viewset(draw(row), arrays)


def as_reference(views):
    return reference.Viewset(
        views.classes,
        views.class_counts.tolist(),
        {name: list(views.domain(name)) for name in views.attributes},
        {name: array.tolist() for name, array in views.counts.items()},
        [None, *views.attributes],
    )


VIEWS = Viewset(
    [3, 2],
    {"job": [[3, 0], [0, 2]], "age": [[1, 1], [2, 1]]},
    classes=["no", "yes"],
    domains={"job": ["clerk", "cook"], "age": [Interval(0, 40), Interval(40, None)]},
)


# --- making ----------------------------------------------------------------------------------------------


def test_fields():
    assert VIEWS.classes == ("no", "yes")
    assert VIEWS.attributes == ("job", "age")
    assert VIEWS.class_counts.tolist() == [3, 2]
    assert VIEWS.class_counts.dtype == np.int64
    assert list(VIEWS.counts) == ["job", "age"]
    assert VIEWS.counts["age"].tolist() == [[1, 1], [2, 1]]
    assert VIEWS.counts["age"].dtype == np.int64
    assert VIEWS.n_rows == 5
    assert VIEWS.domain("job") == ("clerk", "cook")
    assert VIEWS.domain("age") == (Interval(0, 40), Interval(40, None))


def test_defaults():
    views = Viewset([1, 2, 3], [[[1, 2, 3]], np.zeros((0, 3), int)])
    assert views.classes == (0, 1, 2)
    assert views.attributes == ("A1", "A2")
    assert views.domain("A1") == (0,)
    assert views.domain("A2") == ()
    assert Viewset([1], []).attributes == ()
    assert Viewset([1], {}).attributes == ()
    assert Viewset([0], []).n_rows == 0


@pytest.mark.parametrize(
    "array",
    [
        [[1, 2], [3, 4]],
        ((1, 2), (3, 4)),
        [np.array([1, 2]), np.array([3, 4])],
        [[np.int8(1), np.uint64(2)], [3, gmpy2.mpz(4)]],
        np.array([[1, 2], [3, 4]], np.uint8),
        np.array([[1, 2], [3, 4]], ">i4"),
        np.array([[1, 3], [2, 4]], np.uint64).T,
        np.array([[3, 4], [1, 2]], object)[::-1],
        np.array([[1, 2], [3, 4]], object).astype(object),
    ],
)
def test_counts_of_any_kind(array):
    views = Viewset([4, 6], [array])
    assert views.counts["A1"].tolist() == [[1, 2], [3, 4]]
    assert views.counts["A1"].dtype == np.int64
    assert views.counts["A1"].flags.c_contiguous


@pytest.mark.parametrize("number", [TOP + 1, 2**64 - 1, 2**64, 10**40])
def test_counts_beyond_64_bits(number):
    for given_as in (number, gmpy2.mpz(number)):
        views = Viewset([given_as, 1], [[[given_as, 0], [0, 1]]])
        assert views.class_counts.dtype == object
        assert [type(count) for count in views.class_counts] == [int, int]
        assert views.counts["A1"].tolist() == [[number, 0], [0, 1]]
        assert views.n_rows == number + 1
        assert views.is_realistic()
    if number < 2**64:
        assert Viewset(np.array([number, 1], np.uint64), [[[number, 1]]]).class_counts.tolist() == [number, 1]
    assert Viewset([TOP], []).class_counts.dtype == np.int64
    assert Viewset([TOP, TOP], []).n_rows == 2 * TOP


def test_numbers_are_copied_and_cannot_be_written():
    mine, other = np.array([3, 2]), np.array([[3, 0], [0, 2]])
    for dtype in (np.int64, object):
        class_counts, counts = mine.astype(dtype), other.astype(dtype)
        views = Viewset(class_counts, [counts])
        class_counts[0] = counts[0, 0] = 77
        assert views.class_counts.tolist() == [3, 2]
        assert views.counts["A1"].tolist() == [[3, 0], [0, 2]]
        with pytest.raises(ValueError, match="read-only"):
            views.class_counts[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            views.counts["A1"][0, 0] = 1
    counted = nbcfast.count({"x": [1], "y": [1]}, "y")
    for array in (counted.class_counts, counted.counts["x"], (counted + counted).counts["x"]):
        assert not array.flags.writeable


def test_a_viewset_does_not_change():
    with pytest.raises(AttributeError, match="a Viewset does not change: cannot set classes"):
        VIEWS.classes = (1, 2)
    with pytest.raises(AttributeError, match="a Viewset does not change: cannot set class_counts"):
        VIEWS.class_counts = np.zeros(2)
    with pytest.raises(AttributeError, match="cannot set anything"):
        VIEWS.anything = 1
    with pytest.raises(AttributeError, match="a Viewset does not change: cannot delete counts"):
        del VIEWS.counts
    with pytest.raises(TypeError, match="does not support item assignment"):
        VIEWS.counts["job"] = np.zeros((2, 2))
    with pytest.raises(TypeError, match="unhashable"):
        hash(VIEWS)


def test_names_and_order_of_attributes():
    arrays = {"b": [[1]], "a": [[1], [0]]}
    assert Viewset([1], arrays).attributes == ("b", "a")
    assert Viewset([1], arrays, attributes=iter(["b", "a"])).counts["a"].tolist() == [[1], [0]]
    assert Viewset([1], list(arrays.values()), attributes=["b", "a"]) == Viewset([1], arrays)
    # A mapping knows which array is whose, whatever order is asked for.
    other = Viewset([1], arrays, attributes=["a", "b"])
    assert other.attributes == ("a", "b")
    assert other.counts["a"].tolist() == [[1], [0]]


def test_labels_of_every_type():
    for classes in (["a", "b"], [7, -2], [True, False], [0.5, -1.5], ["a", None], [None, SUPPRESSED]):
        views = Viewset([1, 2], [[[1, 2]]], classes=classes)
        assert repr(views.classes) == repr(tuple(classes))
        labels = views.predict({"A1": [0, 0]})
        assert repr(labels.tolist()) == repr([classes[1]] * 2)
    views = Viewset([1, 2], [[[1, 2]]], classes=[1.0, math.nan])
    assert views.classes == (1.0, None)


@pytest.mark.parametrize(
    ("args", "options", "error", "message"),
    [
        (([], []), {}, ValueError, r"class_counts must be 1-D with at least one class, got shape \(0,\)"),
        (
            ([[1]], []),
            {},
            ValueError,
            r"class_counts must be 1-D with at least one class, got shape \(1, 1\)",
        ),
        ((5, []), {}, ValueError, r"class_counts must be 1-D with at least one class, got shape \(\)"),
        (([1, -1], []), {}, ValueError, "class_counts must be at least 0, got -1"),
        (([1, -(10**40)], []), {}, ValueError, f"class_counts must be at least 0, got -{10**40}"),
        ((np.array([1, -1]), []), {}, ValueError, "class_counts must be at least 0, got -1"),
        (([1.0], []), {}, TypeError, r"class_counts must be integers, got 1\.0"),
        (
            (np.array([2.0]), []),
            {},
            TypeError,
            r"class_counts must be integers, got np\.float64\(2\.0\)|2\.0",
        ),
        ((np.array([]), []), {}, TypeError, "class_counts must be integers, got an array of float64"),
        (([True], []), {}, TypeError, "class_counts must be integers, got True"),
        ((np.array([True]), []), {}, TypeError, "class_counts must be integers, got"),
        (([np.True_], []), {}, TypeError, "class_counts must be integers, got"),
        ((["1"], []), {}, TypeError, "class_counts must be integers, got '1'"),
        (([None], []), {}, TypeError, "class_counts must be integers, got None"),
        (([1], [[[1.5]]]), {}, TypeError, r"counts of attribute 'A1' must be integers, got 1\.5"),
        (([1], [[[-1]]]), {}, ValueError, "counts of attribute 'A1' must be at least 0, got -1"),
        (([1], [[1]]), {}, ValueError, r"'A1' must have shape \(values, 1\), got \(1,\)"),
        (([1, 1], {"a": [[1]]}), {}, ValueError, r"'a' must have shape \(values, 2\), got \(1, 1\)"),
        (([1], [[]]), {}, ValueError, r"'A1' must have shape \(values, 1\), got \(0,\)"),
        (
            ([1], [[[1], [1, 2]]]),
            {},
            ValueError,
            "'A1' must be a rectangular array, got rows of different lengths",
        ),
        (([1, 1], [], "ab"), {}, TypeError, "classes: expected a sequence of values, got str"),
        (([1, 1], [], ["a"]), {}, ValueError, "classes must be 2 labels, got 1"),
        (([1, 1], [], ["a", "a"]), {}, ValueError, "classes: expected distinct values, got 'a' twice"),
        (([1, 1], [], ["a", 1]), {}, TypeError, "classes: expected values of one kind, got int and text"),
        (([1, 1], [], [None, 1]), {}, ValueError, "classes: None and then SUPPRESSED come last, got"),
        (([1], [[[1]]], None, ["a", "b"]), {}, ValueError, "attributes must be 1 names, got 2"),
        (([1], [[[1]]] * 2, None, ["a", "a"]), {}, ValueError, "attributes must be distinct, got 'a' twice"),
        (([1], [[[1]]], None, [1]), {}, TypeError, "attributes must be names, got 1"),
        (([1], {1: [[1]]}), {}, TypeError, "attributes must be names, got 1"),
        (
            ([1], {"a": [[1]]}, None, ["b"]),
            {},
            ValueError,
            "attributes: expected names of attribute_counts, got 'b'",
        ),
        (([1], [[[1]]]), {"domains": {"B": [0]}}, ValueError, "domains: expected names of 'A1'; got 'B'"),
        (([1], [[[1]]]), {"domains": {"A1": [0, 1]}}, ValueError, r"domains\['A1'\] must be 1 values, got 2"),
        (
            ([1], [[[1]]]),
            {"domains": {"A1": "a"}},
            TypeError,
            r"domains\['A1'\]: expected a sequence of values",
        ),
        (
            ([1], [[[1], [1]]]),
            {"domains": {"A1": [0, 0]}},
            ValueError,
            "expected distinct values, got 0 twice",
        ),
    ],
)
def test_what_a_viewset_refuses(args, options, error, message):
    with pytest.raises(error, match=message):
        Viewset(*args, **options)


@pytest.mark.parametrize("name", ["x", 0, None, ["job"]])
def test_domain_of_an_unknown_attribute(name):
    with pytest.raises(ValueError, match="expected an attribute of 'job', 'age'; got"):
        VIEWS.domain(name)


# --- sums ------------------------------------------------------------------------------------------------


@given(viewsets())
def test_realism_equals_reference(views):
    assert views.is_realistic() == reference.is_realistic(as_reference(views))
    assert views.n_rows == reference.n_rows(as_reference(views))
    for array in views.counts.values():
        sums = [sum(column) for column in zip(*array.tolist(), strict=True)]
        if sums:
            real = Viewset(sums, dict(views.counts))
            assert real.is_realistic() == reference.is_realistic(as_reference(real))
            assert Viewset(sums, [array]).is_realistic()


def test_realism_is_not_fooled_by_64_bits():
    """Sums that wrap to the right number are not right."""
    assert not Viewset([0], [[[2**62]] * 4]).is_realistic()
    assert Viewset([2**64], [[[2**62]] * 4]).is_realistic()
    assert not Viewset([2], [[[TOP], [TOP], [4]]]).is_realistic()
    assert Viewset([0, 0], [np.zeros((0, 2), int)]).is_realistic()
    assert not Viewset([0, 1], [np.zeros((0, 2), int)]).is_realistic()


@given(st.data(), st.integers(1, 3), st.lists(st.integers(0, 3), max_size=3))
def test_merging_equals_reference(data, n_classes, shape):
    a = data.draw(viewsets(n_classes=n_classes, shape=shape))
    b = data.draw(viewsets(n_classes=n_classes, shape=shape))
    pairs = [(a.class_counts, b.class_counts), *((a.counts[name], b.counts[name]) for name in a.attributes)]
    wraps = any(
        x.dtype == y.dtype == np.int64
        and any(m + n > TOP for m, n in zip(x.ravel().tolist(), y.ravel().tolist(), strict=True))
        for x, y in pairs
    )
    if wraps:
        with pytest.raises(ValueError, match=r"\d+ \+ \d+ exceeds 64 bits"):
            a + b
    else:
        both = a + b
        assert both.to_dict() == reference.add(as_reference(a), as_reference(b)).to_dict()
        assert both == b + a
        assert both - b == a
        assert both - a == b
    try:
        expected = reference.subtract(as_reference(a), as_reference(b)).to_dict()
    except ValueError:
        with pytest.raises(ValueError, match="a count would fall to -"):
            a - b
    else:
        assert (a - b).to_dict() == expected


def test_joined_domains():
    a = nbcfast.count({"x": ["b", "c"], "y": ["q", "r"]}, "y")
    b = nbcfast.count({"x": ["a", "c"], "y": ["p", "r"]}, "y")
    both = a + b
    assert both.classes == ("p", "q", "r")
    assert both.domain("x") == ("a", "b", "c")
    assert both.counts["x"].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 2]]
    assert both == b + a
    assert both - b == a
    assert (both - b).domain("x") == ("b", "c")
    assert (both - b).classes == ("q", "r")
    nothing = a - a
    assert nothing.n_rows == 0
    assert nothing.domain("x") == ()
    assert nothing + a == a


def test_declared_domains_stay():
    table = Table({"x": ["b", "c"], "y": ["q", "r"]}, domains={"x": ["c", "b", "a"], "y": ["r", "q", "p"]})
    declared = nbcfast.count(table, "y")
    free = nbcfast.count({"x": ["a", "c"], "y": ["p", "r"]}, "y")
    for both in (declared + free, free + declared):
        assert both.domain("x") == ("c", "b", "a")
        assert both.classes == ("r", "q", "p")
        assert both.counts["x"].tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 1]]
        assert (both - declared).domain("x") == ("c", "b", "a")
        assert (both - free) == declared
    other = nbcfast.count({"x": ["z"], "y": ["p"]}, "y")
    with pytest.raises(
        ValueError, match="attribute 'x': value 'z' is not in the declared domain of 3 values"
    ):
        declared + other
    with pytest.raises(ValueError, match="classes: value 'z' is not in the declared domain of 3 values"):
        declared + nbcfast.count({"x": ["a"], "y": ["z"]}, "y")


@pytest.mark.parametrize("subtract", [False, True])
def test_what_merging_refuses(subtract):
    def merge(a, b):
        return a - b if subtract else a + b

    a = Viewset([1], {"x": [[1]]})
    with pytest.raises(ValueError, match="expected viewsets of the same attributes, got 'z' in one of them"):
        merge(a, Viewset([1], {"x": [[1]], "z": [[1]]}))
    with pytest.raises(ValueError, match="classes: expected equal declared domains, got"):
        merge(a, Viewset([1], {"x": [[1]]}, classes=[7]))
    with pytest.raises(ValueError, match="attribute 'x': expected equal declared domains, got"):
        merge(a, Viewset([1], {"x": [[1], [0]]}))
    with pytest.raises(TypeError, match="unsupported operand"):
        merge(a, 1)
    with pytest.raises(TypeError, match="unsupported operand"):
        merge({}, a)
    with pytest.raises(TypeError, match="expected values of one kind, got int and text"):
        merge(nbcfast.count({"x": [1], "y": [1]}, "y"), nbcfast.count({"x": ["a"], "y": [1]}, "y"))


def test_merged_attributes_keep_the_order_of_the_first():
    a = Viewset([1], {"x": [[1]], "z": [[1], [0]]})
    b = Viewset([1], {"z": [[0], [1]], "x": [[1]]})
    assert (a + b).attributes == ("x", "z")
    assert (a + b).counts["z"].tolist() == [[1], [1]]


def test_negative_counts():
    a, b = Viewset([2, 1], [[[2, 1]]]), Viewset([3, 1], [[[2, 1]]])
    with pytest.raises(ValueError, match="classes: a count would fall to -1"):
        a - b
    with pytest.raises(ValueError, match="attribute 'A1': a count would fall to -2"):
        a - Viewset([0, 0], [[[4, 0]]])
    with pytest.raises(ValueError, match=f"classes: a count would fall to {2 - 10**40}"):
        a - Viewset([10**40, 0], [[[0, 0]]])


def test_counts_that_leave_64_bits():
    a = Viewset([TOP, 1], [[[TOP, 1]]])
    one = Viewset([1, 0], [[[0, 0]]])
    with pytest.raises(ValueError, match=f"classes: {TOP} \\+ 1 exceeds 64 bits"):
        a + one
    with pytest.raises(ValueError, match=f"attribute 'A1': {TOP} \\+ 1 exceeds 64 bits"):
        a + Viewset([0, 0], [[[1, 0]]])
    assert (a + Viewset([0, TOP - 1], [[[0, TOP - 1]]])).class_counts.tolist() == [TOP, TOP]
    # Python ints go on, and come back.
    large = Viewset([TOP + 1, 0], [[[TOP + 1, 0]]])
    assert (a + large).class_counts.tolist() == [2 * TOP + 1, 1]
    assert ((a + large) - large).class_counts.dtype == np.int64


# --- equality, copies, text ------------------------------------------------------------------------------


def test_equality():
    same = Viewset(
        [3, 2],
        {"job": [[3, 0], [0, 2]], "age": [[1, 1], [2, 1]]},
        classes=["no", "yes"],
        domains={"job": ["clerk", "cook"], "age": [Interval(0, 40), Interval(40, None)]},
    )
    assert same == VIEWS
    parts = {
        "class_counts": [3, 2],
        "attribute_counts": {"a": [[3, 0], [0, 2]], "b": [[3, 2]]},
        "classes": ["n", "y"],
        "domains": {"a": ["p", "q"]},
    }
    base = Viewset(**parts)
    for change in (
        {"class_counts": [3, 1]},
        {"attribute_counts": {"a": [[3, 0], [0, 1]], "b": [[3, 2]]}},
        {"attribute_counts": {"b": [[3, 2]], "a": [[3, 0], [0, 2]]}},
        {"attribute_counts": {"a": [[3, 0], [0, 2]], "c": [[3, 2]]}},
        {"attribute_counts": {"a": [[3, 0], [0, 2]]}},
        {"classes": ["y", "n"]},
        {"domains": {"a": ["q", "p"]}},
        {"class_counts": [3 + 2**64, 2]},
    ):
        assert Viewset(**{**parts, **change}) != base
    assert VIEWS != 1
    assert Viewset([1, 1], [], classes=[0, 1]) != Viewset([1, 1], [], classes=[False, True])
    assert Viewset([1, 1], [], classes=[0, 1]) == Viewset([1, 1], [], classes=[0.0, 1.0])


def test_domains_are_public_and_do_not_change():
    assert VIEWS.class_domain.values == VIEWS.classes
    assert {name: domain.values for name, domain in VIEWS.domains.items()} == {
        name: VIEWS.domain(name) for name in VIEWS.attributes
    }
    assert VIEWS.n_tuples == math.prod(len(VIEWS.domain(name)) for name in VIEWS.attributes)
    assert Viewset([1], []).n_tuples == 1
    with pytest.raises(TypeError):
        VIEWS.domains["job"] = VIEWS.class_domain


def test_a_viewset_of_finished_parts():
    counts = {name: array.copy() for name, array in VIEWS.counts.items()}
    made = Viewset.from_parts(VIEWS.class_counts.copy(), counts, VIEWS.class_domain, VIEWS.domains)
    assert made == VIEWS
    assert made.attributes == VIEWS.attributes
    assert made.counts["job"] is counts["job"]
    assert not counts["job"].flags.writeable
    counts.clear()
    assert made == VIEWS


@given(viewsets())
def test_copies_are_equal(views):
    for copied in (pickle.loads(pickle.dumps(views)), copy.deepcopy(views), copy.copy(views)):
        assert copied == views
        assert repr(copied.to_dict()) == repr(views.to_dict())
        assert not copied.class_counts.flags.writeable
        assert all(not array.flags.writeable for array in copied.counts.values())


def test_a_copy_remembers_what_was_declared():
    free = nbcfast.count({"x": ["a", "b"], "y": ["p", "q"]}, "y")
    part = nbcfast.count({"x": ["a"], "y": ["p"]}, "y")
    assert (pickle.loads(pickle.dumps(free)) - part).domain("x") == ("b",)
    fixed = Viewset([1, 1], {"x": [[1, 0], [0, 1]]}, classes=["p", "q"], domains={"x": ["a", "b"]})
    assert (pickle.loads(pickle.dumps(fixed)) - part).domain("x") == ("a", "b")


def test_to_dict_is_plain():
    views = nbcfast.count(Table({"x": [1.5, None], "y": [True, False]}, weights=[2, 2**40]), "y")
    assert views.to_dict() == {
        "classes": [False, True],
        "class_counts": [2**40, 2],
        "attributes": {"x": {"values": [1.5, None], "counts": [[0, 2], [2**40, 0]]}},
    }
    assert {type(n) for n in views.to_dict()["class_counts"]} == {int}
    assert Viewset([10**40], []).to_dict() == {"classes": [0], "class_counts": [10**40], "attributes": {}}


def test_repr():
    assert repr(VIEWS) == "Viewset(5 rows; classes 'no' 3, 'yes' 2; attributes 'job' (2), 'age' (2))"
    assert repr(Viewset([1], [])) == "Viewset(1 rows; classes 0 1; attributes none)"
    many = repr(Viewset([1] * 50, [np.zeros((3, 50), int)] * 50))
    assert many.startswith(
        "Viewset(50 rows; classes 0 1, 1 1, 2 1, 3 1, 4 1, 5 1, .. 50 in all; attributes 'A1' (3)"
    )
    assert many.endswith("'A8' (3), .. 50 in all)")


def test_the_former_name_of_the_worst_posterior_stays():
    with pytest.warns(
        DeprecationWarning, match=r"release\.Posterior is now nbcfast\.published\.WorstPosterior"
    ):
        assert nbcfast.release.Posterior is nbcfast.published.WorstPosterior
    with pytest.warns(DeprecationWarning, match=r"release\.verify is now nbcfast\.verification\.verify"):
        assert nbcfast.release.verify is nbcfast.verify
    assert nbcfast.published.WorstPosterior is not nbcfast.attack.Posterior
