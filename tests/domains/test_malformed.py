"""Whatever a domain or a menu holds, it is taken or refused in one line."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast.domains import Menu, Option, declared
from nbcfast.domains.json_files import object_in

WORDS = ["values", "edges", "labels", "null", "width", "from", "to", "open", "groups", "other", "hierarchy"]
KEYS = st.sampled_from([*WORDS, "level", "out", "bin", "domain", "advice", "menu", "age"]) | st.text(
    max_size=3
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["tens", "25,35", "2000-01-01", "2001-01-01", "no-such-file.csv", "."])
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
OPTIONS = st.dictionaries(st.sampled_from([*WORDS, "level", "out", "bin"]), JSON, max_size=3) | JSON
TABLE = nbcfast.Table({"age": [1, 2, None], "x": ["a", "2000-06-01", "b"], "y": [True, False, True]})


COLUMNS = st.dictionaries(st.sampled_from(["age", "x", "y"]), OPTIONS, max_size=3)
NAMES = st.lists(st.sampled_from(["age", "x", "y"]) | JSON, max_size=3) | JSON


def one_line(error):
    assert str(error)
    assert "\n" not in str(error)


@given(
    COLUMNS
    | st.fixed_dictionaries(
        {"domain": COLUMNS | JSON, "from_rows": NAMES}, optional={"advice": JSON | st.just({"menu": "0"})}
    )
)
def test_domains(document):
    try:
        declared(document).applied(TABLE)
    except (ValueError, TypeError, OSError) as error:
        one_line(error)


@given(st.dictionaries(st.sampled_from(["age", "x", "y"]), st.lists(OPTIONS, max_size=3) | JSON, max_size=3))
def test_menus(document):
    try:
        menu = Menu.read(document, "y")
    except (ValueError, TypeError, OSError) as error:
        one_line(error)
    else:
        assert Menu.read(json.loads(json.dumps(menu.document)), "y").digest == menu.digest
        for name, options in menu.options.items():
            domain = TABLE.column(name).domain
            for option in options:
                codes = option.codes(domain)
                assert len(codes) == len(domain)
                assert codes.min() >= -1
                assert codes.max() < (option.n_values or 1)


@given(OPTIONS)
def test_options(entry):
    try:
        Option(entry)
    except (ValueError, TypeError) as error:
        one_line(error)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "file.json"


def edges_up_to(most):
    return b'{"age": {"edges": [' + b",".join(b"%d" % edge for edge in range(most)) + b"]}}"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"age": ' + b"[" * 100_000,
        b'{"age": {"groups": ' * 5_000,
        b'{"age": [' + b"9" * 10_000 + b"]}",
        b'{"age": [1e999]}',
        b'{"age": [Infinity]}',
        b'{"age": ["\\ud800"]}',
        b"null",
        edges_up_to(20_000),
        pytest.param(edges_up_to(200_000), marks=pytest.mark.thorough),
    ],
    ids=range(12),
)
@pytest.mark.parametrize("read", [declared, Menu.read], ids=["domain", "menu"])
def test_files(file, content, read):
    file.write_bytes(content)
    try:
        read(file)
    except (ValueError, TypeError) as error:
        one_line(error)
        message = str(error)
    else:
        message = "file.json: taken"
    assert "file.json" in message


def nested(depth):
    document = ["a"]
    for _ in range(depth):
        document = {"groups": {"a": document}}
    return document


@pytest.mark.parametrize(
    "read", [lambda entry: declared({"age": entry}), lambda entry: Menu.read({"age": [entry]})]
)
def test_what_is_nested_deeply_is_refused(read):
    with pytest.raises((ValueError, TypeError), match=r"age|nested"):
        read(nested(100_000))


def test_objects_are_of_distinct_names(file):
    file.write_text('{"a": 1, "a": 2}', encoding="utf-8")
    with pytest.raises(ValueError, match="expected distinct names, got 'a' twice"):
        object_in(Path(file), "domains", "{}")


def test_no_file_is_no_folder():
    """The empty path is the folder one is in, for Python; nobody means that."""
    table = {"a": ["x", "y", "x", "y"], "c": [0, 1, 1, 0]}
    with pytest.raises(ValueError, match="domains must name a file of JSON, got ''"):
        nbcfast.publish(table, "c", 4, domains="")
    with pytest.raises(ValueError, match="menu must name a file of JSON, got ''"):
        nbcfast.canonical.advise(table, "c", "")
