"""Viewsets as bytes: the same views come back, and nothing else is taken for some."""

import itertools
import json
import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import SUPPRESSED, Interval, Table, Viewset
from nbcfast._wire.json_entries import canonical_json, digest
from nbcfast.table import Domain
from nbcfast.views.noise import Noise

HUGE = 2**200
NUMBERS = st.integers(0, 3) | st.integers(2**53 - 1, 2**53 + 1) | st.sampled_from([2**63 - 1, 2**63, HUGE])
VALUES = {
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "text": st.text() | st.sampled_from(["\ud800", "null", "0"]),
}
NOISES = [
    None,
    Noise(mechanism="discrete laplace", epsilon=Fraction(1, 2), sensitivity=6, n_attributes=5),
    Noise(
        mechanism="discrete gaussian",
        epsilon=Fraction(1),
        delta=Fraction(1, 10**20),
        rho=Fraction(2**60 + 1, 3),
        neighbours="replace",
        rows_per_person=2,
        sensitivity=4 * 6,
        n_attributes=2,
    ),
]


@st.composite
def domains(draw, least):
    """Of any kind, declared or not, with or without an open tail."""
    kind = draw(st.sampled_from([*sorted(VALUES), "interval"]))
    if kind == "interval":
        fractions = st.fractions() | st.integers(2**70, 2**70 + 5).map(lambda n: Fraction(n, 7))
        cuts = draw(st.lists(fractions, min_size=2, max_size=4, unique=True))
        ends = [*sorted(cuts)[:-1], None]
        values = [Interval(low, high) for low, high in itertools.pairwise(ends)]
    else:
        values = draw(
            st.lists(
                VALUES[kind],
                min_size=least,
                max_size=3,
                unique_by=lambda one: one + 0.0 if kind == "float" else one,
            )
        )
        values = [one + 0.0 if kind == "float" else one for one in values]
    tail = draw(st.sampled_from([(), (None,), (SUPPRESSED,), (None, SUPPRESSED)]))
    domain = Domain.of([*values, *tail], draw(st.booleans()))
    if domain.declared and draw(st.booleans()):
        found = draw(st.sets(st.sampled_from(tail))) if tail else set()
        in_order = tuple(value for value in tail if value in found)
        domain = Domain(domain.kind, domain.head, tail, True, open_tail=True, tail_found=in_order)
    return domain


@st.composite
def viewsets(draw):
    class_domain = draw(domains(1).filter(lambda one: len(one) > 0))
    names = draw(st.lists(st.text(), max_size=3, unique=True))
    of_names = {name: draw(domains(0)) for name in names}

    def counts(*shape):
        cells = draw(st.lists(NUMBERS, min_size=math.prod(shape), max_size=math.prod(shape)))
        rows = (
            [cells]
            if len(shape) == 1
            else [cells[i * shape[1] : (i + 1) * shape[1]] for i in range(shape[0])]
        )
        given_as = Viewset([0] * shape[-1], [rows]) if len(shape) == 2 and shape[0] else None
        if len(shape) == 1:
            return Viewset(cells, []).class_counts
        if given_as is None:
            return Viewset.from_codes([], [], sizes=[], n_classes=1).class_counts[:0].reshape(shape)
        return given_as.counts["A1"]

    return Viewset.from_parts(
        counts(len(class_domain)),
        {name: counts(len(one), len(class_domain)) for name, one in of_names.items()},
        class_domain,
        of_names,
        draw(st.sampled_from(NOISES)),
        draw(st.booleans()),
    )


def shown(views):
    """All that a pickle of the views carries, in a form in which 1, 1.0 and True differ."""
    of_domains = [
        (name, one.kind, repr(one.values), one.declared, one.open_tail, one.tail_found)
        for name, one in [("", views.class_domain), *views.domains.items()]
    ]
    dtypes = [array.dtype for array in (views.class_counts, *views.counts.values())]
    return repr(views.to_dict()), of_domains, dtypes, views.noise, views.weighted


@given(viewsets())
def test_views_come_back(views):
    data = views.to_bytes()
    back = Viewset.from_bytes(data)
    assert back == views
    assert shown(back) == shown(views)
    assert back.to_bytes() == data
    assert Viewset.from_bytes(memoryview(bytearray(data))) == views


def small():
    table = Table({"age": [5, 15, None], "job": ["cook", None, "clerk"], "ill": ["no", "yes", "no"]})
    return nbcfast.count(table.bin("age", [0, 10, 20]), "ill")


def test_counted_views_come_back_and_add():
    views = small()
    assert shown(Viewset.from_bytes(views.to_bytes())) == shown(views)
    assert Viewset.from_bytes(views.to_bytes()) + views == views + views


def test_the_same_views_give_the_same_bytes():
    columns = {"job": ["cook", "clerk", "cook"], "ill": ["no", "yes", "no"]}
    other_way = {name: values[::-1] for name, values in columns.items()}
    data = nbcfast.count(columns, "ill").to_bytes()
    assert nbcfast.count(other_way, "ill").to_bytes() == data
    assert json.loads(data)["sha256"] == digest(json.loads(data))


@given(viewsets(), st.data())
def test_changed_bytes_are_refused(views, data):
    changed = bytearray(views.to_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(changed) - 1))
        kind = data.draw(st.sampled_from(["put", "insert", "cut", "end"]))
        byte = data.draw(st.sampled_from(b'0123456789abcdef"[]{},:.-x\\ \n\xff') | st.integers(0, 255))
        if kind == "put":
            changed[place] = byte
        elif kind == "insert":
            changed.insert(place, byte)
        elif kind == "cut" and len(changed) > 1:
            del changed[place]
        else:
            del changed[max(place, 1) :]
    if bytes(changed) == views.to_bytes():
        return
    with pytest.raises(ValueError, match="data: "):
        Viewset.from_bytes(bytes(changed))


def places(document, path=()):
    """Each place in a document."""
    yield path
    if isinstance(document, dict | list):
        for name in document if isinstance(document, dict) else range(len(document)):
            yield from places(document[name], (*path, name))


ENTRIES = [None, True, False, 0, 1, -1, 2**53 + 1, 10**30, "", "0x20000000000001", "0x1", "-0x20000000000001"]
ENTRIES += [[], [[]], {}, ["int", "1"], ["null"], ["suppressed"], ["float", "nan"], ["text", "cook"]]
ENTRIES += [["interval", "0/1", None], ["interval", "2/4", None], "1/2", "x", [0, 0], ["int", "01"]]


@given(viewsets() | st.builds(small), st.data())
def test_forged_entries_are_refused_or_are_views(views, data):
    document = json.loads(views.to_bytes())
    for _ in range(data.draw(st.integers(1, 2))):
        *path, last = data.draw(st.sampled_from([path for path in places(document) if path]))
        entry = document
        for name in path:
            entry = entry[name]
        if data.draw(st.booleans()):
            entry[last] = data.draw(st.sampled_from(ENTRIES))
        elif isinstance(entry, list):
            entry.insert(last, entry[last])
        else:
            del entry[last]
    document["sha256"] = digest(document)
    forged = (canonical_json(document) + "\n").encode("ascii")
    try:
        back = Viewset.from_bytes(forged)
    except ValueError as error:
        told = str(error)
    else:  # what is taken is a viewset that is written so
        told = "data: "
        assert back.to_bytes() == forged
    assert told.startswith("data: ")


@given(
    st.binary()
    | st.text().map(str.encode)
    | st.recursive(st.none(), st.lists).map(lambda one: json.dumps(one).encode())
)
def test_any_bytes_are_refused(data):
    with pytest.raises(ValueError, match="data: "):
        Viewset.from_bytes(data)


def forged(**changes):
    document = {**json.loads(small().to_bytes()), **changes}
    document = {name: entry for name, entry in document.items() if entry is not ...}
    return (canonical_json({**document, "sha256": digest(document)}) + "\n").encode("ascii")


def attribute(**changes):
    document = json.loads(small().to_bytes())["attributes"][1]
    return [{**document, **changes}]


DOMAIN = {"values": [["text", "a"]], "declared": True, "open_tail": False, "tail_found": []}
NOISE = {
    "mechanism": "discrete laplace",
    "neighbours": "add-remove",
    "epsilon": "1/2",
    "delta": "0/1",
    "rho": None,
    "rows_per_person": 1,
    "sensitivity": 3,
    "n_attributes": 2,
}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff", "byte 0 is not ASCII"),
        (b"{", "expected JSON, got Expecting property name .* at byte 1 of 1"),
        (b"[" * 100_000, "lists are nested too deeply"),
        (b"[1.5]", "1.5 stands where only integers do"),
        (b"[NaN]", "NaN stands where only integers do"),
        (b"[" + b"9" * 5000 + b"]", r"9{40}\.\. stands where integers beyond 2\^53 are text"),
        (b"[]", r"the document: expected an object, got \[\]"),
        (b"{}", "the document: field 'format' is missing"),
        (forged(format="nbcfast-counts/2"), "format: expected 'nbcfast-counts/1', got \"nbcfast-counts/2\""),
        (forged(more=1), "the document: field 'more' is unknown"),
        (forged(noise=...), "the document: field 'noise' is missing"),
        (small().to_bytes().replace(b"cook", b"book"), "its sha256 is not that of what it holds"),
        (small().to_bytes()[:-1], "expected canonical JSON"),
        (small().to_bytes().replace(b":", b": ", 1), "expected canonical JSON"),
        (b'{"format":0,' + small().to_bytes()[1:], "expected canonical JSON"),
        (forged(classes={**DOMAIN, "values": []}), "classes: expected at least one label, got none"),
        (forged(class_counts=[1]), r"class_counts, counts: expected a list of 2, got \[1\]"),
        (forged(class_counts=[1, -1]), "class_counts, counts: expected an integer .*, got -1"),
        (forged(class_counts=[1, "0x1"]), "class_counts, counts: expected an integer"),
        (forged(class_counts=[1, True]), "class_counts, counts: expected an integer .*, got true"),
        (forged(class_counts=[1, 2**53 + 1]), "class_counts, counts: expected an integer"),
        (forged(attributes={}), "attributes: expected a list, got {}"),
        (forged(attributes=attribute(name=1)), r"attributes\[0\]: expected a name, got 1"),
        (
            forged(attributes=attribute() * 2),
            r'attributes\[1\]: expected distinct names, got "job" twice',
        ),
        (forged(attributes=attribute(counts=[[0, 0]])), r"attributes\[0\], counts: expected a list of 3"),
        (forged(attributes=attribute(more=1)), r"attributes\[0\]: field 'more' is unknown"),
        (
            forged(attributes=attribute(domain={**DOMAIN, "values": [["text", "a"]] * 2})),
            r"attributes\[0\]: expected distinct values",
        ),
        (
            forged(attributes=attribute(domain={**DOMAIN, "values": [["text", "a"], ["int", "1"]]})),
            r"attributes\[0\]: expected values of one kind, got int and text",
        ),
        (
            forged(attributes=attribute(domain={**DOMAIN, "declared": 1})),
            r"attributes\[0\], declared: expected true or false, got 1",
        ),
        (
            forged(attributes=attribute(domain={**DOMAIN, "tail_found": [["null"]]})),
            r"attributes\[0\], tail_found: expected some of the nulls of the domain",
        ),
        (
            forged(attributes=attribute(domain={**DOMAIN, "declared": False, "open_tail": True})),
            r"attributes\[0\]: declared, open_tail and tail_found do not fit each other",
        ),
        (forged(weighted=0), "weighted: expected true or false, got 0"),
        (forged(noise={**NOISE, "sensitivity": 4}), "noise: sensitivity must be 3, got 4"),
        (forged(noise={**NOISE, "mechanism": []}), r"noise: mechanism must be .*, got \[\]"),
        (forged(noise={**NOISE, "delta": None}), "noise, delta: expected a rational, got null"),
        (forged(noise={**NOISE, "epsilon": "2/4"}), "noise, epsilon: expected a rational"),
        (forged(noise={**NOISE, "epsilon": f"0x{'f' * 10000}/1"}), "noise, epsilon: not checked here"),
    ],
)
def test_errors(data, message):
    with pytest.raises(ValueError, match=f"^data: {message}"):
        Viewset.from_bytes(data)


def test_noise_of_this_form_is_read():
    assert Viewset.from_bytes(forged(noise=NOISE)).noise.sensitivity == 3


@pytest.mark.parametrize("data", ["text", None, [1], Viewset([1], [])])
def test_other_things_than_bytes(data):
    with pytest.raises(TypeError, match=f"data must be bytes, got {type(data).__name__}"):
        Viewset.from_bytes(data)


def test_a_bound_that_nobody_reads_is_not_written():
    views = Viewset([1], {"x": [[1]]}, domains={"x": [Interval(0, 2**40_000)]})
    message = "attribute 'x': the bound of an interval has more than 32,768 bits"
    with pytest.raises(ValueError, match=re.escape(message)):
        views.to_bytes()
