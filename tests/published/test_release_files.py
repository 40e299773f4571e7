"""The file of a release: what it holds, and what is not saved."""

import json
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_cases import VIEWS, release_of, standalone

from nbcfast import Interval, Viewset, verify_release
from nbcfast.published.document import text_of
from nbcfast.table import SUPPRESSED
from nbcfast.verification.checks import verify
from nbcfast.verification.load import load


@pytest.fixture
def saved(tmp_path):
    release_of().save(tmp_path / "out")
    return tmp_path / "out" / "certificate.json"


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
