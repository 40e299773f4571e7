"""Releases: their file, every way it can be damaged, and what is made of them."""

import itertools
import json
import math
import os
import pickle
import random
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import gmpy2
import numpy as np
import pytest
from both_verifiers import in_both
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import Interval, Table, Viewset, verify_release
from nbcfast._core.errors import Infeasible
from nbcfast.published.certificate import Certificate
from nbcfast.published.document import text_of
from nbcfast.published.release import Release
from nbcfast.table import SUPPRESSED
from nbcfast.verification.checks import verify
from nbcfast.verification.load import load
from nbcfast.views.quality import evaluate, worst_posterior

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# X(clerk, 1) = (1*2/3, 2*3/5), and so on; Lambda is far below 4.
VIEWS = Viewset(
    [3, 5],
    {"job": [[1, 2], [2, 3]], "age": [[1, 1], [1, 3], [1, 1]]},
    classes=["yes", "no"],
    domains={"job": ["clerk", "cook"], "age": [30, 40, None]},
)


def release_of(views=VIEWS, class_name="ill", **claims):
    tuples = math.prod(len(array) for array in views.counts.values())
    return Release(views, Certificate(**{"amplification": 4, "tuples": tuples, **claims}), class_name)


@pytest.fixture
def saved(tmp_path):
    release_of().save(tmp_path / "out")
    return tmp_path / "out" / "certificate.json"


def edit(path, change, *, sign=False):
    """Change the document in place; with `sign` its sha256 is made right again."""
    document = json.loads(path.read_text())
    change(document)
    if sign:
        document["sha256"] = verify_release.digest(document)
    path.write_text(verify_release.canonical_json(document) + "\n")


def standalone(path):
    """Run the single file as a recipient does: isolated, without the package."""
    script = Path(verify_release.__file__)
    ran = subprocess.run(
        [sys.executable, "-I", "-S", str(script), str(path)], capture_output=True, text=True, check=False
    )
    assert not ran.stderr or ran.returncode == 2
    return ran.returncode, ran.stdout + ran.stderr


def refused(path):
    """The message that all three ways of reading agree on."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the callers match the text
        load(path)
    found = verify(path)
    assert not found.ok
    code, printed = standalone(path)
    assert code == 1
    message = str(caught.value).removeprefix(f"{path}: ")
    failed = next(check for check in found.checks if check.passed is False)
    assert failed.text in message or failed.name == "amplification"
    assert "NO " in printed
    if failed.name != "amplification":
        assert failed.text in printed
    return message


# ---- the file


def test_a_release_survives_its_file(saved):
    release = load(saved.parent)
    assert release == release_of() == load(saved)
    assert release.views.domain("age") == (30, 40, None)
    assert release.certificate.amplification == 4
    assert release.class_name == "ill"
    assert text_of(release) == saved.read_text()
    assert pickle.loads(pickle.dumps(release)) == release
    json.dumps(release.views.to_dict())


def test_the_file_is_canonical_and_says_no_more_than_it_should(saved):
    text = saved.read_text()
    document = json.loads(text)
    assert text == json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
    assert set(document) == verify_release.FIELDS
    assert document["classes"] == [["text", "yes"], ["text", "no"]]
    assert document["amplification"] == "4/1"
    assert document["attributes"][1]["values"] == [["int", "30"], ["int", "40"], ["null"]]
    assert any("not differential privacy" in note for note in document["notes"])
    assert any("artificial" in note for note in document["notes"])


def test_saving_twice_gives_the_same_bytes_and_leaves_nothing_else(tmp_path):
    release_of().save(tmp_path / "a")
    first = (tmp_path / "a" / "certificate.json").read_bytes()
    release_of().save(str(tmp_path / "a"), overwrite=True)
    assert (tmp_path / "a" / "certificate.json").read_bytes() == first
    assert os.listdir(tmp_path / "a") == ["certificate.json"]


@pytest.mark.parametrize(
    ("values", "typed"),
    [
        ([1, 2], [["int", "1"], ["int", "2"]]),
        ([-(2**63), 2**63 - 1], [["int", "-9223372036854775808"], ["int", "9223372036854775807"]]),
        ([0.1, 1e300], [["float", "0.1"], ["float", "1e+300"]]),
        ([2.0, float("inf")], [["float", "2.0"], ["float", "inf"]]),
        ([True, False], [["bool", "true"], ["bool", "false"]]),
        (["", "a\n\x1b\ud800é"], [["text", ""], ["text", "a\n\x1b\ud800é"]]),
        (["x", None, SUPPRESSED], [["text", "x"], ["null"], ["suppressed"]]),
        ([None, SUPPRESSED], [["null"], ["suppressed"]]),
        (
            [Interval(None, "-1/3"), Interval("-1/3", 2**60), Interval(2**60, None)],
            [
                ["interval", None, "-1/3"],
                ["interval", "-1/3", "0x1000000000000000/1"],
                ["interval", "0x1000000000000000/1", None],
            ],
        ),
    ],
)
def test_every_kind_of_value_is_typed(tmp_path, values, typed):
    n = len(values)
    views = Viewset([n, n], {"x": np.ones((n, 2), np.int64)}, domains={"x": values})
    release_of(views).save(tmp_path)
    document = json.loads((tmp_path / "certificate.json").read_text())
    assert document["attributes"][0]["values"] == typed
    back = load(tmp_path).views
    assert back == views
    assert list(map(type, back.domain("x"))) == list(map(type, values))
    assert standalone(tmp_path)[0] == 0


def test_long_integers_are_hexadecimal(tmp_path):
    big = 2**20_000 + 1  # more digits than Python prints
    views = Viewset([2 * big, 2 * big], {"x": [[big, big - 1], [big, big + 1]]})
    limit = Fraction(2**64 + 1, 3)
    release_of(views, amplification=limit).save(tmp_path)
    document = json.loads((tmp_path / "certificate.json").read_text())
    assert document["class_counts"] == [hex(2 * big)] * 2
    assert document["attributes"][0]["counts"][0] == [hex(big), hex(big - 1)]
    assert document["amplification"] == f"{2**64 + 1:#x}/3"
    assert load(tmp_path).views == views
    assert f"amplification <= {limit}, " in repr(load(tmp_path))
    assert verify(tmp_path)
    assert standalone(tmp_path)[0] == 0


def test_one_class_one_value_and_no_attribute(tmp_path):
    for views in (
        Viewset([3], {"x": [[1], [2]]}),
        Viewset([3, 4], {"x": [[3, 4]]}),
        Viewset([3, 4], {}),
    ):
        release_of(views, None).save(tmp_path, overwrite=True)
        assert load(tmp_path).views == views
        assert standalone(tmp_path)[0] == 0


@given(st.data())
def test_random_releases_survive_their_file(data):
    n_classes = data.draw(st.integers(1, 4))
    sizes = data.draw(st.lists(st.integers(1, 4), max_size=3))
    number = st.one_of(st.integers(1, 9), st.integers(2**52, 2**54), st.integers(2**63, 2**80))
    size_of_all = data.draw(number)  # of one size, as a limit does not exceed 10^38
    rows = [size_of_all + data.draw(st.integers(4, 9)) for _ in range(n_classes)]
    counts = {}
    for i, size in enumerate(sizes):
        columns = []
        for row_count in rows:
            parts = [1] * (size - 1)
            columns.append([*parts, row_count - len(parts)])
        counts[f"a{i}"] = [list(row) for row in zip(*columns, strict=True)]
    views = Viewset(rows, counts)
    release = release_of(views, amplification=10**37)
    document = verify_release.parse(text_of(release).encode())
    from nbcfast.verification.load import release_of as read

    assert read(document, "here") == release


# ---- saving what should not leave


@pytest.mark.parametrize(
    ("views", "claims", "message"),
    [
        (Viewset([2, 2], [[[1, 1], [1, 2]]]), {}, "not those of any table"),
        (Viewset([2, 2], [[[0, 1], [2, 1]]]), {}, "attribute 'A1' has a count of 0"),
        (Viewset([2, 0], [[[1, 0], [1, 0]]]), {}, "the count of class 1 is 0"),
        (Viewset([6, 6], [[[1, 5], [5, 1]]]), {}, "Lambda of the counts exceeds the limit 4"),
        (Viewset([4, 4], [[[1, 3], [3, 1]]]), {"attacker": "worlds"}, "exceeds the limit 2"),
        (VIEWS, {"tuples": 7}, "the certificate says 7 tuples, the domain has 6"),
    ],
)
def test_save_refuses_what_the_certificate_does_not_cover(tmp_path, views, claims, message):
    with pytest.raises(ValueError, match=f"^not saved: .*{message}"):
        release_of(views, **claims).save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_failed_save_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(OSError, match="No space"):
        release_of(class_name="other").save(saved.parent, overwrite=True)
    with pytest.raises(OSError, match="No space"):
        release_of().save(saved.parent / "new")
    assert os.listdir(saved.parent.parent) == ["out"]
    assert os.listdir(saved.parent) == ["certificate.json"]
    assert saved.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_an_oserror(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError):  # noqa: PT011
        release_of().save(tmp_path / "file")
    (tmp_path / "out" / "certificate.json").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        release_of().save(tmp_path / "out")


# ---- damage


def test_a_flipped_digit_in_a_count_is_named(saved):
    text = saved.read_text()
    flipped = text.replace('"counts":[[1,2],[2,3]]', '"counts":[[1,2],[2,7]]')
    assert flipped != text
    saved.write_text(flipped)
    message = refused(saved)
    assert "sha256 does not match" in message
    assert "attribute 'job', class 'no': the counts add up to 9, but the class count is 5" in message


def test_a_flipped_digit_in_a_class_count_is_named(saved):
    edit(saved, lambda document: document["class_counts"].__setitem__(0, 8))
    message = refused(saved)
    assert "sha256 does not match" in message
    assert "class 'yes': its count is 8, but its counts in every attribute add up to 3" in message


def test_any_flipped_byte_is_refused(saved):
    data = saved.read_bytes()
    rng = random.Random(5)
    for place in range(len(data)):
        other = bytearray(data)
        other[place] ^= rng.choice([1, 2, 4, 8, 16, 32])
        with pytest.raises(verify_release.Refused):
            verify_release.parse(bytes(other))


def test_any_truncation_is_named(saved):
    data = saved.read_bytes()
    for length in range(len(data)):
        with pytest.raises(verify_release.Refused, match="truncated"):
            verify_release.parse(data[:length])
    saved.write_bytes(data[:200])
    assert "the file is truncated: it ends after 200 bytes" in refused(saved)


def test_a_swapped_class_is_named(saved):
    edit(saved, lambda document: document["classes"].reverse())
    assert "sha256 does not match, the file was changed: the classes 'no' and 'yes' are swapped" in refused(
        saved
    )


def test_a_swapped_precedence_is_named(saved):
    def swap(document):
        document["classes"].reverse()
        document["class_counts"].reverse()
        for attribute in document["attributes"]:
            for row in attribute["counts"]:
                row.reverse()

    edit(saved, swap)
    assert "the precedence of the classes 'no' and 'yes' is swapped" in refused(saved)


def test_swapped_counts_of_classes_are_named(saved):
    edit(saved, lambda document: [row.reverse() for row in document["attributes"][0]["counts"]])
    assert "attribute 'job', class 'yes': the counts add up to 5, but the class count is 3" in refused(saved)


@pytest.mark.parametrize("sign", [False, True])
def test_an_unrealistic_count_is_named(saved, sign):
    def change(document):
        document["attributes"][0]["counts"][1][0] += 1

    edit(saved, change, sign=sign)
    message = refused(saved)
    assert "attribute 'job', class 'yes': the counts add up to 4, but the class count is 3" in message
    assert ("sha256" in message) is not sign


def test_a_zero_and_an_unsafe_count_are_named_under_a_right_hash(saved):
    def zero(document):
        document["attributes"][0]["counts"] = [[0, 2], [3, 3]]

    def unsafe(document):
        document["amplification"] = "3/2"

    before = saved.read_bytes()
    edit(saved, zero, sign=True)
    assert (
        refused(saved) == "attribute 'job', value 'clerk', class 'yes': the count is 0, and must be positive"
    )
    saved.write_bytes(before)
    edit(saved, unsafe, sign=True)
    assert "Lambda of the counts exceeds the limit 1.5" in refused(saved)
    assert "Lambda exceeds the limit 3/2: some tuple amplifies class" in standalone(saved)[1]
    assert [check.passed for check in verify(saved).checks] == [True, True, True, True, False]


@pytest.mark.parametrize(
    ("field", "entry", "message"),
    [
        ("kind", "partition", "field 'kind': expected one of 'release'; got \"partition\""),
        ("format", 2, "field 'format': expected 1, got 2"),
        ("format", True, "field 'format': expected 1, got true"),
        ("attacker", "none", "field 'attacker': expected one of 'row', 'worlds'"),
        ("amplification", 4, "expected a rational"),
        ("amplification", "8/2", 'expected a rational "num/den" in lowest terms, got "8/2"'),
        ("amplification", "1/1", "expected more than 1"),
        ("amplification", "4/0", "expected a rational"),
        ("amplification", "04/1", "expected a rational"),
        ("class_counts", [3], "expected 2 counts, one a class"),
        ("class_counts", [3, True], "expected an integer"),
        ("class_counts", [3, -5], "expected an integer"),
        ("class_counts", [3, "0x5"], "expected an integer"),
        ("class_counts", [3, 2**53 + 1], "expected an integer (as text 0x.. beyond 2^53)"),
        ("classes", [], "field 'classes': expected a list of values"),
        ("classes", [["text", "a"], ["text", "a"]], "field 'classes': expected distinct values"),
        ("classes", [["text", "a"], ["int", "1"]], "expected values of one kind, got int and text"),
        ("classes", [["null"], ["int", "1"]], 'expected ["null"] and then ["suppressed"] last'),
        ("classes", [["int", "01"], ["int", "1"]], "expected a typed value"),
        ("classes", [["int", "9223372036854775808"], ["int", "1"]], "expected a typed value"),
        ("classes", [["float", "1"], ["float", "2.0"]], "expected a typed value"),
        ("classes", [["interval", "2/1", "1/1"], ["null"]], "expected a typed value"),
        ("classes", ["yes", "no"], "expected a typed value"),
        ("attributes", {}, "field 'attributes': expected a list"),
        ("attributes", [{"name": "x"}], "expected name, values and counts"),
        (
            "attributes",
            [{"name": "ill", "values": [["null"]], "counts": [[3, 5]]}],
            "expected distinct names",
        ),
        ("attributes", [{"name": "x", "values": [["null"]], "counts": []}], "expected counts of 1 values"),
        ("attributes", [], "field 'tuples': expected 1, the product"),
        ("tuples", 7, "field 'tuples': expected 6, the product of the numbers of values, got 7"),
        ("differing_tuples", 9, "field 'differing_tuples': expected at most 'tuples'"),
        ("gauge", 1, "field 'gauge': expected true or false, got 1"),
        ("warnings", [1], "field 'warnings': expected a list of texts"),
        ("notes", "x", "field 'notes': expected a list of texts"),
        ("version", 1, "field 'version': expected a text"),
        ("class_name", 1, "field 'class_name': expected a text or null"),
        ("sha256", "f00", "field 'sha256': expected 64 hexadecimal digits"),
        ("extra", 1, "field 'extra' is unknown"),
        ("preserve", None, None),
    ],
)
def test_each_field_is_checked_under_a_right_hash(saved, field, entry, message):
    def change(document):
        if message is None:
            del document[field]
        else:
            document[field] = entry

    edit(saved, change, sign=field != "sha256")
    assert (message or f"field {field!r} is missing") in refused(saved)


def test_other_texts_of_the_same_document_are_refused(saved):
    text = saved.read_text()
    document = json.loads(text)
    for other in (
        json.dumps(document, sort_keys=True, indent=1) + "\n",
        json.dumps(dict(reversed(document.items())), separators=(",", ":")) + "\n",
        text + "\n",
        text.replace('"gauge":true', '"gauge":false,"gauge":true'),
    ):
        saved.write_text(other)
        assert "not in canonical form" in refused(saved)
    for other, message in (
        ("[]\n", "expected a JSON object, got []"),
        ("", "truncated"),
        (text.replace("4/1", "4/é"), "is not ASCII"),
        ("[" * 100_000 + "]" * 100_000 + "\n", "damaged"),
        (text.replace("[3,5]", "[3.0,5]"), "3.0 stands where only integers do"),
        (text.replace("[3,5]", "[NaN,5]"), "NaN stands where only integers do"),
        (text.replace("[3,5]", f"[{'9' * 5000},5]"), "damaged"),
        (text.replace('"format":1', '"format":1,,'), "the file is damaged: "),
    ):
        saved.write_text(other, encoding="utf8")
        assert message in refused(saved)


def test_what_is_no_file_is_an_oserror(tmp_path):
    for reading in (load, verify):
        with pytest.raises(FileNotFoundError):
            reading(tmp_path / "nothing")
        with pytest.raises(FileNotFoundError):
            reading(tmp_path)
    assert standalone(tmp_path)[0] == 2
    assert standalone("--help")[0] == 0


# ---- the verifier


def test_the_verifier_imports_the_standard_library_alone():
    script = Path(verify_release.__file__)
    code = (
        f"import runpy, sys; before = set(sys.modules); runpy.run_path({str(script)!r}); "
        "print(sorted({m.split('.')[0] for m in set(sys.modules) - before} - set(sys.stdlib_module_names)))"
    )
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def lambda_of(views):
    """The largest ratio over all tuples, by its definition."""
    n = len(views.attributes)
    best = Fraction(0)
    tuples = [[]]
    for array in views.counts.values():
        tuples = [[*rows, row] for rows in tuples for row in array.tolist()]
    for rows in tuples:
        scores = [
            Fraction(math.prod(row[c] for row in rows)) * Fraction(int(p)) ** (1 - n)
            for c, p in enumerate(views.class_counts)
        ]
        best = max(best, max(scores) / min(scores))
    return best


@given(st.data())
def test_the_verifier_decides_like_the_definition(data):
    n_classes = data.draw(st.integers(1, 3))
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    low, high = data.draw(st.sampled_from([(1, 5), (1, 60), (2**60, 2**60 + 5), (2**90, 2**91)]))
    per_class = [
        [data.draw(st.lists(st.integers(low, high), min_size=size, max_size=size)) for size in sizes]
        for _ in range(n_classes)
    ]
    rows = [max(sum(column) for column in columns) for columns in per_class]
    for columns, row_count in zip(per_class, rows, strict=True):
        for column in columns:
            column[-1] += row_count - sum(column)
    counts = {
        f"a{i}": [[per_class[c][i][t] for c in range(n_classes)] for t in range(size)]
        for i, size in enumerate(sizes)
    }
    views = Viewset(rows, counts)
    truth = lambda_of(views)
    document = verify_release.parse(text_of(release_of(views)).encode())
    for limit in (truth, truth * (1 - Fraction(1, 10**30)), truth * (1 + Fraction(1, 10**30)), truth * 2):
        if limit <= 1:
            continue
        document.amplification = limit  # the limits of files are shorter, and no nearer to the truth
        assert (verify_release.excess(document)[0] is None) == (truth <= limit)
        assert nbcfast.safety.at_most(views, limit) == (truth <= limit)


@given(st.integers(1, 2**200), st.sampled_from([64, verify_release.DIGITS]))
def test_the_logarithms_of_the_verifier_are_bounds(number, digits):
    below = verify_release.log2_below(number, digits)
    # 2^(below / 2^digits) <= number < 2^((below + 2) / 2^digits)
    with gmpy2.context(precision=800):
        exact = gmpy2.log2(gmpy2.mpz(number)) * gmpy2.mpz(2) ** digits
        assert below <= exact < below + 2


def test_the_verifier_needs_no_products_of_very_long_integers(monkeypatch):
    # Lambda is 2^100; the limit differs by a factor of 1 + 2^-100, and the products have millions of bits.
    big = 2**10_000
    counts = {f"a{i}": [[2 * big, big], [big, 2 * big]] for i in range(100)}
    views = Viewset([3 * big, 3 * big], counts)
    for limit, found in ((2**100 + 1, None), (2**100 - 1, (0, 1))):
        document = verify_release.parse(text_of(release_of(views, amplification=limit)).encode())
        assert verify_release.excess(document)[0] == found
        in_both(monkeypatch, "MOST_MULTIPLIED", 0)
        assert verify_release.excess(document) == (found, False)
        monkeypatch.undo()
    document = verify_release.parse(text_of(release_of(views, amplification=2**100)).encode())
    assert verify_release.excess(document) == (None, True)
    in_both(monkeypatch, "MOST_MULTIPLIED", 0)
    assert verify_release.excess(document) == (None, None)


# ---- arguments


@pytest.mark.parametrize(
    ("claims", "error", "message"),
    [
        ({"amplification": 1}, ValueError, "amplification must be above 1, got 1"),
        ({"amplification": 2, "attacker": "worlds"}, ValueError, "must be above 2 for attacker 'worlds'"),
        ({"amplification": "x"}, ValueError, "amplification must be a finite number"),
        ({"attacker": "me"}, ValueError, "attacker must be one of"),
        ({"preserve": "all"}, ValueError, "preserve must be one of"),
        ({"equivalence": "hope"}, ValueError, "equivalence must be one of"),
        ({"method": "magic"}, ValueError, "method must be one of"),
        ({"tuples": 1.0}, TypeError, "tuples must be an int"),
        ({"tuples": None}, TypeError, "tuples must be an int"),
        ({"differing_rows": -1}, ValueError, "differing_rows must be at least 0"),
        ({"gauge": 1}, TypeError, "gauge must be a bool"),
        ({"warnings": "x"}, TypeError, "warnings must be texts"),
        ({"version": 1}, TypeError, "version must be a text"),
        ({"identity": True}, ValueError, "field 'identity' is True, but equivalence is 'none'"),
        ({"equivalence": "identity", "differing_tuples": 0}, ValueError, "'identity' is False, but equi"),
        (
            {"equivalence": "identity", "differing_tuples": 0, "identity": True},
            ValueError,
            "goes with no gauge and 0 differing tuples",
        ),
        ({"differing_tuples": 0}, ValueError, "'equivalence' is 'none', but the number .* is 0"),
        (
            {"equivalence": "interval"},
            ValueError,
            "'interval', but the number of differing tuples is not known",
        ),
        (
            {"equivalence": "enumeration", "differing_tuples": 0, "differing_rows": 2},
            ValueError,
            "expected 0, as no tuple differs, got 2",
        ),
    ],
)
def test_certificates_check_their_fields(claims, error, message):
    with pytest.raises(error, match=message):
        release_of(**claims)


def test_releases_check_their_fields():
    certificate = release_of().certificate
    with pytest.raises(TypeError, match="views must be a Viewset, got list"):
        Release([], certificate)
    with pytest.raises(TypeError, match="certificate must be a Certificate"):
        Release(VIEWS, None)
    with pytest.raises(TypeError, match="class_name must be a text"):
        Release(VIEWS, certificate, 1)
    with pytest.raises(ValueError, match="class_name must be no attribute, got 'job'"):
        Release(VIEWS, certificate, "job")
    with pytest.raises(AttributeError):
        certificate.gauge = False
    assert certificate.to_dict()["amplification"] == 4
    assert Certificate(amplification=0.1 + 4, tuples=np.int64(3)).amplification == Fraction("4.1")
    assert Certificate(amplification=5, tuples=1, attacker="worlds").limit == Fraction(5, 2)
    assert certificate.equal is None
    assert release_of(differing_tuples=0, equivalence="enumeration").certificate.equal is True
    assert "order identical (enumeration)" in repr(release_of(differing_tuples=0, equivalence="enumeration"))
    assert "order differs on 2 tuples (enumeration)" in repr(
        release_of(differing_tuples=2, equivalence="enumeration")
    )


def test_infeasible_carries_its_best():
    error = Infeasible("no such thing", {"differing_tuples": 3})
    assert str(error) == error.why == "no such thing"
    assert error.best == {"differing_tuples": 3}
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.why, copy.best) == (error.why, error.best)


# ---- what is made of a release


def test_predictions_are_those_of_the_views():
    table = Table({"job": ["cook", "clerk", "cook"], "age": [30, None, 40]})
    release = release_of()
    assert release.predict(table).tolist() == VIEWS.predict(table).tolist()
    assert release.predict(table, codes=True).dtype == np.uint8
    with pytest.raises(ValueError, match="unknown to the views"):
        release.predict({"job": ["pope"], "age": [30]})


def test_a_dataset_has_exactly_the_counts():
    release = release_of()
    table = release.dataset(np.random.default_rng(1))
    assert table.names == ("job", "age", "ill")
    assert table.n_rows == 8
    assert nbcfast.count(table, "ill") == VIEWS
    assert release.dataset(np.random.default_rng(1)) == table
    assert nbcfast.count(release.dataset(), "ill") == VIEWS


def test_the_columns_of_a_dataset_are_permuted_independently():
    views = Viewset([4, 1], {"x": [[2, 1], [2, 0]], "y": [[2, 1], [2, 0]]})
    release, rng = release_of(views), np.random.default_rng(3)
    met = {}
    for _ in range(3_600):
        table = release.dataset(rng)
        rows = tuple(table.codes("x")[:4].tolist()), tuple(table.codes("y")[:4].tolist())
        met[rows] = met.get(rows, 0) + 1
    assert len(met) == 36  # 6 x 6 arrangements, each expected 100 times; the sd is 10
    assert min(met.values()) > 50
    assert max(met.values()) < 150


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz"])
def test_a_streamed_dataset_has_exactly_the_counts(tmp_path, ending, monkeypatch):
    from nbcfast.published import dataset as datasets

    monkeypatch.setattr(datasets, "BLOCK_CELLS", 1)  # blocks of 1,024 rows: 150,000 rows are both ways dealt
    rng = np.random.default_rng(11)
    counts = rng.multinomial(150_000, [0.3, 0.2, 0.5]), rng.multinomial(2_000, [0.1, 0.5, 0.4])
    other = rng.multinomial(150_000, [0.5, 0.5]), rng.multinomial(2_000, [0.5, 0.5])
    views = Viewset(
        [150_000, 2_000],
        {"x,y": np.transpose(counts), "z": np.transpose(other)},
        classes=["no", "yes"],
        domains={"x,y": ['a "quote"', "b\nreak", "é"], "z": [1, None]},
    )
    path = tmp_path / f"synthetic.{ending}"
    seen = []
    release_of(views).write_dataset(path, rng, progress=lambda done, total: seen.append((done, total)))
    assert os.listdir(tmp_path) == [path.name]
    table = nbcfast.read_parquet(path) if ending == "parquet" else nbcfast.read_csv(path)
    assert nbcfast.count(table, "ill") == views
    assert seen[-1] == (152_000, 152_000)
    # Early and late rows of a class look alike.
    first = table.codes("z")[:75_000].mean()
    assert abs(first - table.codes("z")[75_000:150_000].mean()) < 0.02
    if ending == "parquet":
        import pyarrow.parquet as pq

        made = json.loads(pq.read_schema(path).metadata[b"nbcfast"])
        assert made["seeded"] is True
        assert made["certificate_sha256"] == json.loads(text_of(release_of(views)))["sha256"]


def test_a_streamed_dataset_is_uniform(tmp_path, monkeypatch):
    from nbcfast.published import dataset as datasets

    monkeypatch.setattr(datasets, "PERMUTED_BLOCKS", 0)
    rng = np.random.default_rng(2)
    met = {}
    for _ in range(2_400):
        stock = datasets._Stock(np.array([2, 1, 1]), rng, 1)
        order = tuple(int(stock.deal(1)[0]) for _ in range(4))
        met[order] = met.get(order, 0) + 1
    assert len(met) == 12  # each expected 200 times; the sd is 14
    assert min(met.values()) > 130
    assert max(met.values()) < 270


def test_datasets_say_what_they_cannot_hold(tmp_path):
    huge = Viewset([2**70, 2**70], [[[2**70, 2**70]]])
    with pytest.raises(ValueError, match=r"has about 2\^71 rows, more than 2,147,483,648$"):
        release_of(huge).dataset()
    with pytest.raises(ValueError, match="more than 2,147,483,648; write_dataset streams it"):
        release_of(Viewset([2**31, 1], [[[2**31, 1]]])).dataset()
    with pytest.raises(ValueError, match="more than 10,000,000,000"):
        release_of(huge).write_dataset(tmp_path / "x.csv")
    with pytest.raises(ValueError, match=r"path must end in \.parquet"):
        release_of().write_dataset(tmp_path / "x.xlsx")
    with pytest.raises(TypeError, match=r"rng must be a numpy\.random\.Generator or None, got int"):
        release_of().dataset(1)
    named = Viewset([1, 1], {"class": [[1, 1]]})
    with pytest.raises(ValueError, match="class_name must be given, because 'class' is an attribute"):
        release_of(named, None).dataset()
    with pytest.raises(ValueError, match="not realistic"):
        release_of(Viewset([2, 2], [[[1, 1], [1, 2]]])).dataset()
    for values, message in (
        ([None, "", "x"], "cannot tell the empty text from a null"),
        (["*", SUPPRESSED, "x"], r"holds the text '\*' of SUPPRESSED"),
    ):
        table = Table({"x": values, "y": ["a", "b", "a"]})
        views = nbcfast.count(table, "y")
        with pytest.raises(ValueError, match=message):
            release_of(views).write_dataset(tmp_path / "x.csv")
    odd = Viewset([1, 1], {"x": [[1, 1]]}, domains={"x": ["\ud800"]})
    with pytest.raises(ValueError, match=r"column 'x': value .* cannot be written as UTF-8"):
        release_of(odd).write_dataset(tmp_path / "x.csv")
    assert os.listdir(tmp_path) == []


def test_a_failed_stream_leaves_no_file(tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    for ending in ("csv", "parquet"):
        with pytest.raises(KeyboardInterrupt):
            release_of().write_dataset(tmp_path / f"x.{ending}", progress=stop)
    assert os.listdir(tmp_path) == []


def test_probabilities_are_rounded_once():
    made = release_of().to_probabilities()
    assert made.classes == ("yes", "no")
    assert made.prior.tolist() == [3 / 8, 5 / 8]
    assert made.conditional["age"].tolist() == [[1 / 3, 1 / 5], [1 / 3, 3 / 5], [1 / 3, 1 / 5]]
    assert made.domains["age"] == (30, 40, None)
    assert not made.prior.flags.writeable
    assert json.loads(json.dumps(made.to_dict()))["prior"] == [3 / 8, 5 / 8]
    big = 3**4000
    views = Viewset([2 * big, 3 * big], [[[big, big], [big, 2 * big]]])
    assert release_of(views).to_probabilities().conditional["A1"].tolist() == [[1 / 2, 1 / 3], [1 / 2, 2 / 3]]


def test_codes_are_positions_in_the_published_domains():
    release = release_of()
    table = Table({"age": [None, 30, 40], "job": ["cook", "clerk", "cook"]})
    assert release.codes(table).tolist() == [[1, 2], [0, 0], [1, 1]]
    with pytest.raises(ValueError, match="column 'age': value 31 is not in the domain of the release"):
        release.codes({"age": [30, 31], "job": ["cook", "cook"]})
    with pytest.raises(ValueError, match="expected a column"):
        release.codes({"age": [30]})


def test_sklearn_takes_ties_to_the_same_class():
    pytest.importorskip("sklearn")
    # Both scores are equal at every tuple; the class of higher precedence is the later one.
    for classes in (["b", "a"], ["a", "b"]):
        views = Viewset([2, 2], {"x": [[1, 1], [1, 1]]}, classes=classes)
        model = release_of(views).to_sklearn()
        assert model.classes_.tolist() == ["a", "b"]
        assert model.predict([[0], [1]]).tolist() == views.predict({"x": [0, 1]}).tolist() == [classes[1]] * 2
        for found in (model.predict_proba, model.predict_log_proba, model.predict_joint_log_proba):
            assert model.classes_[found([[0], [1]]).argmax(axis=1)].tolist() == [classes[1]] * 2


def test_sklearn_equals_its_own_fit_and_our_predictions():
    bayes = pytest.importorskip("sklearn.naive_bayes")
    release = release_of()
    table = release.dataset(np.random.default_rng(0))
    model = release.to_sklearn()
    X = release.codes(table)
    labels = np.array(table.domain("ill"))[table.codes("ill")]
    fitted = bayes.CategoricalNB(alpha=1e-10, min_categories=[2, 3]).fit(X, labels)
    assert release.views.classes == ("yes", "no")
    assert fitted.classes_.tolist() == ["no", "yes"] == model.classes_.tolist()
    assert isinstance(model, bayes.CategoricalNB)
    for field in ("class_count_", "class_log_prior_", "n_categories_"):
        np.testing.assert_allclose(getattr(model, field), getattr(fitted, field), rtol=1e-9)
    for field in ("category_count_", "feature_log_prob_"):
        for mine, theirs in zip(getattr(model, field), getattr(fitted, field), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9)
    for method in ("predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        np.testing.assert_allclose(getattr(model, method)(X), getattr(fitted, method)(X), rtol=1e-9)
    assert model.predict(X).tolist() == release.predict(table).tolist()
    assert model.score(X, labels) == fitted.score(X, labels)
    big = Viewset([2**2000, 2**2001], [[[2**1999, 2**2000], [2**1999, 2**2000]]])
    assert release_of(big).to_sklearn().predict([[0]]).tolist() == [1]
    with pytest.raises(ValueError, match="at least one attribute"):
        release_of(Viewset([1, 2], {})).to_sklearn()


@given(st.data())
def test_sklearn_decides_every_tuple_as_the_release(data):
    pytest.importorskip("sklearn")
    n_classes = data.draw(st.integers(1, 4))
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    scale = data.draw(
        st.sampled_from([1, 7**30])
    )  # with large counts nearly all that is equal is so in floats
    # Small counts tie often; a nudge of one in 7^30 is a difference that float64 logarithms do not see.
    entry = st.builds(lambda count, nudge: count * scale + nudge, st.integers(0, 3), st.integers(0, 1))
    counts = [
        data.draw(st.lists(st.lists(entry, min_size=n_classes, max_size=n_classes), min_size=k, max_size=k))
        for k in sizes
    ]
    of_class = data.draw(st.lists(st.integers(1, 3), min_size=n_classes, max_size=n_classes))
    labels = data.draw(st.permutations(data.draw(st.sampled_from([["d", "b", "c", "a"], [3, 1, 2, None]]))))
    chosen = sorted(labels[:n_classes], key=lambda label: label is None)  # in views it is always the last
    views = Viewset(of_class, counts, chosen)
    model = release_of(views).to_sklearn()
    tuples = np.array(list(itertools.product(*map(range, sizes))))
    expected = views.predict({name: tuples[:, i] for i, name in enumerate(views.attributes)}).tolist()
    assert model.predict(tuples).tolist() == expected
    for found in (model.predict_proba, model.predict_log_proba, model.predict_joint_log_proba):
        scores = found(tuples)
        assert not np.isnan(scores).any()
        assert model.classes_[scores.argmax(axis=1)].tolist() == expected
    np.testing.assert_allclose(model.predict_proba(tuples).sum(axis=1), 1, rtol=1e-12)
    assert model.classes_.tolist() == sorted(chosen, key=lambda label: (label is None, label or 0))


def test_sklearn_scorers_are_right():
    """With classes in falling precedence roc_auc was 1 less what it is."""
    metrics = pytest.importorskip("sklearn.metrics")
    table = nbcfast.read_csv(EXAMPLES / "patients.csv")
    release = nbcfast.safety_transform(nbcfast.count(table, "diagnosis"), 4, class_name="diagnosis")
    model, X = release.to_sklearn(), release.codes(table)
    y = np.array(table.domain("diagnosis"))[table.codes("diagnosis")]
    assert model.predict(X).tolist() == release.predict(table).tolist()
    quality = evaluate(release.views, table, "diagnosis")
    assert metrics.get_scorer("accuracy")(model, X, y) == pytest.approx(quality.accuracy)
    assert -metrics.get_scorer("neg_log_loss")(model, X, y) == pytest.approx(quality.log_loss, rel=1e-9)
    healthy = X[y == "healthy"], X[y == "diabetes"]
    yes, no = (model.predict_proba(part)[:, 1] for part in healthy)
    above = np.searchsorted(np.sort(no), yes, "left") + np.searchsorted(np.sort(no), yes, "right")
    area = above.sum() / 2 / len(yes) / len(no)
    assert metrics.get_scorer("roc_auc")(model, X, y) == pytest.approx(area, rel=1e-9)
    assert area > 0.9


def test_sklearn_is_not_fitted_again():
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    release = release_of()
    model = release.to_sklearn()
    table = release.dataset(np.random.default_rng(0))
    X = np.tile(release.codes(table), (5, 1))
    y = np.tile(np.array(table.domain("ill"))[table.codes("ill")], 5)
    said = r"a published classifier is not fitted again: {} would put .* CategoricalNB.* make a new release"
    copied = clone(model)
    for one in (model, copied, clone(make_pipeline(FunctionTransformer(), model))):
        with pytest.raises(TypeError, match=said.format("fit")):
            one.fit(X, y)
    with pytest.raises(TypeError, match=said.format("partial_fit")):
        model.partial_fit(X, y, classes=["no", "yes"])
    with pytest.raises(TypeError, match=said.format(r"set_params\(alpha\), and then fit,")):
        copied.set_params(alpha=3)
    assert copied is not model
    assert copied.predict_proba(X).tolist() == model.predict_proba(X).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # FitFailedWarning, a fold at a time
        with pytest.raises(ValueError, match=said.format("fit")):
            cross_val_score(model, X, y, cv=2)
        with pytest.raises(ValueError, match=said.format("fit")):
            GridSearchCV(model, {}, cv=2).fit(X, y)
        with pytest.raises(TypeError, match=said.format("set_params.*")):
            GridSearchCV(model, {"alpha": [1, 2]}, cv=2).fit(X, y)
    frozen = pytest.importorskip("sklearn.frozen")
    scores = cross_val_score(frozen.FrozenEstimator(model), X, y, cv=2)
    assert scores.mean() == pytest.approx(model.score(X, y))


def test_sklearn_keeps_in_pickles_what_was_published(tmp_path):
    joblib = pytest.importorskip("joblib")
    pytest.importorskip("sklearn")
    release = release_of()
    model, X = release.to_sklearn(), [[0, 2], [1, 0], [1, 1]]
    joblib.dump(model, tmp_path / "model")
    for back in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        assert back._views == release.views
        assert back.predict(X).tolist() == model.predict(X).tolist()
        assert back.predict_proba(X).tolist() == model.predict_proba(X).tolist()
        with pytest.raises(TypeError, match="not fitted again"):
            back.fit(X, ["no", "yes", "no"])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0, 3]], r"X: column 1 must hold codes below 3, as of release.codes, got 3"),
        ([[0.5, 1]], "X must hold whole numbers, the codes that release.codes"),
        ([[-1, 0]], "Negative values"),
        ([[0]], "2 features"),
    ],
)
def test_sklearn_refuses_what_is_no_code(X, message):
    pytest.importorskip("sklearn")
    with pytest.raises(ValueError, match=message):
        release_of().to_sklearn().predict(X)


def test_sklearn_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.naive_bayes", None)
    monkeypatch.delitem(sys.modules, "nbcfast.published.fitted", raising=False)
    with pytest.raises(ImportError, match=r"to_sklearn needs scikit-learn: pip install scikit-learn$"):
        release_of().to_sklearn()


# ---- quality


def test_quality_by_hand():
    table = Table({"job": ["cook", "cook", "clerk"], "ill": ["yes", "no", "no"]}, weights=[2, 1, 3])
    views = nbcfast.count(table, "ill")
    quality = evaluate(views, table, "ill")
    # X(cook) = (no 1, yes 2), X(clerk) = (3, 0)
    assert (quality.rows, quality.correct) == (6, 5)
    assert quality.accuracy == 5 / 6
    assert quality.log_loss == pytest.approx((2 * math.log(3 / 2) + math.log(3)) / 6, rel=1e-12)
    assert quality.to_dict()["correct"] == 5
    other = evaluate(views, {"job": ["clerk", "cook"], "ill": ["yes", "pope"]}, "ill")
    assert (other.correct, other.log_loss) == (0, math.inf)
    with pytest.raises(ValueError, match="no rows"):
        evaluate(views, table.take([]), "ill")


def test_quality_of_huge_counts_does_not_cancel():
    big = 7**5000
    views = Viewset([3 * big, big], {f"a{i}": [[2 * big, big - 1], [big, 1]] for i in range(40)})
    table = Table({**{f"a{i}": [0] for i in range(40)}, "y": [1]})
    expected = math.log1p(3 * (2 / 3) ** 40)
    assert evaluate(views, table, "y").log_loss == pytest.approx(expected, rel=1e-12)


@given(st.data())
def test_the_worst_posterior_is_that_of_the_worst_tuple(data):
    n_classes = data.draw(st.integers(1, 3))
    sizes = data.draw(st.lists(st.integers(1, 3), max_size=3))
    counts = {
        f"a{i}": [[data.draw(st.integers(0, 4)) for _ in range(n_classes)] for _ in range(size)]
        for i, size in enumerate(sizes)
    }
    views = Viewset([data.draw(st.integers(1, 9)) for _ in range(n_classes)], counts)
    n, worst = len(sizes), 0.0
    tuples = [[]]
    for array in counts.values():
        tuples = [[*rows, row] for rows in tuples for row in array]
    for rows in tuples:
        scores = [
            math.prod(row[c] for row in rows) * int(p) ** (1 - n) for c, p in enumerate(views.class_counts)
        ]
        if sum(scores):
            worst = max(worst, max(scores) / sum(scores))
    found = worst_posterior(views)
    if found.exact and worst:
        assert found.probability == pytest.approx(worst, rel=1e-9)
    else:
        assert found.probability >= worst * (1 - 1e-9)


# ---- against the private views


def test_verify_wants_a_viewset_or_a_table(saved):
    with pytest.raises(TypeError, match=r"^against: expected a Viewset, a Table, a mapping .* got int$"):
        verify(saved, against=3)


def test_an_identity_release_is_compared_by_its_counts(tmp_path):
    release_of(identity=True, gauge=False, differing_tuples=0, equivalence="identity").save(tmp_path)
    assert any("original counts" in note for note in load(tmp_path).certificate.notes)
    # other orders of attributes, values and classes are the same views
    turned = Viewset(
        [5, 3],
        {"age": [[1, 1], [3, 1], [1, 1]], "job": [[3, 2], [2, 1]]},
        classes=["no", "yes"],
        domains={"job": ["cook", "clerk"], "age": [30, 40, None]},
    )
    found = verify(tmp_path, turned)
    assert found.ok
    assert bool(found)
    assert "the counts are the private ones" in repr(found)
    assert found.to_dict()["ok"] is True
    other = Viewset(
        [3, 5],
        {"job": [[2, 2], [1, 3]], "age": [[1, 1], [1, 3], [1, 1]]},
        classes=["yes", "no"],
        domains={"job": ["clerk", "cook"], "age": [30, 40, None]},
    )
    assert not verify(tmp_path, other)


@pytest.mark.parametrize(
    ("private", "message"),
    [
        (
            Viewset([3, 5], {"job": [[3, 5]]}, domains={"job": ["cook"]}),
            "only the release has the attribute 'age'",
        ),
        (
            Viewset([3, 5], {"job": [[3, 5]], "age": [[3, 5]], "zip": [[3, 5]]}),
            "only the private views has the attribute 'zip'",
        ),
        (
            Viewset([3, 5], {"job": [[3, 5]], "age": [[3, 5]]}, classes=["yes", "maybe"]),
            "class 'maybe' is not in the release",
        ),
        (
            Viewset(
                [3, 5],
                {"job": [[3, 5]], "age": [[3, 5]]},
                classes=["yes", "no"],
                domains={"job": ["pope"], "age": [30]},
            ),
            "attribute 'job': value 'pope' is not in the release",
        ),
        (
            Viewset(
                [3],
                {"job": [[3]], "age": [[3]]},
                classes=["yes"],
                domains={"job": ["cook"], "age": [30]},
            ),
            "class 'no' has no private row",
        ),
    ],
)
def test_other_views_are_not_those_of_the_release(saved, private, message):
    found = verify(saved, private)
    assert not found.ok
    assert f"these are not the views of the release: {message}" in found.checks[-1].text


def test_a_table_is_counted_by_the_class_of_the_release(saved, tmp_path):
    found = verify(saved, Table({"job": ["cook"], "age": [30]}))
    assert "these are not the views of the release: " in found.checks[-1].text
    release_of(class_name=None).save(tmp_path / "unnamed")
    found = verify(tmp_path / "unnamed", Table({"job": ["cook"], "age": [30]}))
    assert "does not name its class column" in found.checks[-1].text


@pytest.mark.parametrize("depth", [100, *range(900, 1100, 7), 5_000, 200_000])
def test_nested_lists_are_refused_at_any_depth(tmp_path, depth):
    for text in ("[" * depth + "]" * depth, '{"warnings":' + "[" * depth + "]" * depth + "}"):
        with pytest.raises(verify_release.Refused):
            verify_release.parse(text.encode() + b"\n")


def test_a_file_that_contradicts_itself_is_refused(tmp_path):
    release_of(differing_tuples=0, equivalence="enumeration").save(tmp_path)
    file = tmp_path / "certificate.json"
    for changes, message in (
        ({"equivalence": "none"}, "'equivalence' is 'none', but the number of differing tuples is 0"),
        ({"identity": True}, "'identity' is True, but equivalence is 'enumeration'"),
        ({"differing_rows": 3}, "expected 0, as no tuple differs, got 3"),
    ):
        document = {**json.loads(file.read_text()), **changes}
        document["sha256"] = verify_release.digest(document)
        with pytest.raises(verify_release.Refused, match=message):
            verify_release.parse(verify_release.canonical_json(document).encode() + b"\n")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            [["interval", "0/1", "10/1"], ["interval", "5/1", "20/1"]],
            "the intervals [0, 10) and [5, 20) overlap",
        ),
        ([["interval", None, "10/1"], ["interval", None, "20/1"]], "overlap"),
        ([["interval", "0/1", None], ["interval", "5/1", "20/1"]], "overlap"),
        (
            [["interval", "10/1", "20/1"], ["interval", "0/1", "10/1"]],
            "expected intervals in increasing order, got [10, 20) where [0, 10) belongs",
        ),
    ],
)
def test_intervals_of_a_certificate_neither_overlap_nor_fall(saved, values, text):
    def change(document):
        document["attributes"][0]["values"] = values
        document["attributes"][0]["counts"] = document["attributes"][0]["counts"][:2]

    edit(saved, change, sign=True)
    assert text in refused(saved)


def test_classes_may_fall_and_not_overlap(saved):
    classes = [["interval", "10/1", "20/1"], ["interval", "0/1", "10/1"]]
    edit(saved, lambda document: document.update(classes=classes), sign=True)
    assert verify(saved).ok
    edit(saved, lambda document: document["classes"].__setitem__(1, ["interval", "0/1", "11/1"]), sign=True)
    assert "field 'classes': the intervals [0, 11) and [10, 20) overlap" in refused(saved)
