"""A file of a release that was changed is refused, and the message names what is wrong."""

import json
import random

import pytest
from release_cases import edit, refused, release_of, standalone

from nbcfast import verify_release
from nbcfast.verification.checks import verify
from nbcfast.verification.load import load


@pytest.fixture
def saved(tmp_path):
    release_of().save(tmp_path / "out")
    return tmp_path / "out" / "certificate.json"


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
