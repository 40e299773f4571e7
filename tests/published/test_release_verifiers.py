"""What verifiers say of a release: the script by itself, and the library against the private views."""

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import gmpy2
import pytest
from both_verifiers import in_both
from hypothesis import given
from hypothesis import strategies as st
from release_cases import edit, refused, release_of

import nbcfast
from nbcfast import Table, Viewset, verify_release
from nbcfast.published.document import text_of
from nbcfast.verification.checks import verify
from nbcfast.verification.load import load


@pytest.fixture
def saved(tmp_path):
    release_of().save(tmp_path / "out")
    return tmp_path / "out" / "certificate.json"


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
