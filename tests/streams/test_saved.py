"""A window is written whole or not at all, and a pipeline goes on from it."""

import json
import os
import stat

import pytest
from stream_cases import DOMAINS, as_batch, plain

from nbcfast._core import files
from nbcfast.streams import Window
from nbcfast.table import Domain
from nbcfast.table.values import Interval

PERSON = ("cook", 7, "no")


def made(**options):
    window = Window("ill", DOMAINS, by="day", width=7, n_blocks=3, **options)
    window.add(as_batch([(day, PERSON) for day in (3, 9, 9, 20)]), label="offset 4")
    return window


def test_a_restarted_pipeline_ends_where_one_without_a_restart_does(tmp_path):
    path = tmp_path / "window.json"
    batches = [as_batch([(day, PERSON), (day - 6, PERSON)]) for day in range(22, 60, 3)]
    whole = made()
    for batch in batches:
        whole.add(batch)
    window = made()
    for place, batch in enumerate(batches):
        window.save(path, overwrite=True)
        window = Window.load(path)  # a new process
        window.add(batch, label=place)
    window.save(path, overwrite=True)
    again = Window.load(path)
    assert plain(again.views) == plain(whole.views)
    assert (again.label, again.n_rows, again.n_late) == (len(batches) - 1, whole.n_rows, whole.n_late)


@pytest.mark.parametrize(
    "options", [{"rows": 3, "n_blocks": 2}, {"by": "day", "width": "month", "late": "report"}]
)
def test_every_field_comes_back(tmp_path, options):
    window = Window("ill", DOMAINS, **options, attributes=["age"], weights="n")
    day = "2026-01-05" if options.get("width") == "month" else 5
    window.add({"day": [day] * 4, "age": [1, 2, 3, 80], "ill": ["no"] * 4, "n": [1, 2, 3, 2**50]}, label=7)
    window.publish(lambda views: views)
    window.save(tmp_path / "w")
    assert Window.load(tmp_path / "w") == window


def test_only_the_owner_reads_the_file(tmp_path):
    made().save(tmp_path / "w")
    assert stat.S_IMODE(os.stat(tmp_path / "w").st_mode) == 0o600
    with pytest.raises(FileExistsError, match="overwrite=True"):
        made().save(tmp_path / "w")


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "w"
    window = made()
    window.save(path)
    before = path.read_bytes()
    window.add(as_batch([(21, PERSON)]))

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        window.save(path, overwrite=True)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["w"]


def test_what_is_cut_off_or_changed_is_refused(tmp_path):
    path = tmp_path / "w"
    made().save(path)
    data = path.read_bytes()
    for wrong in (
        data[:-1],
        data[: len(data) // 2],
        b"",
        b"[]",
        b"[" * 100_000,
        data.replace(b'"newest":2', b'"newest":3'),
    ):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match=r"expected a window as Window.save writes it|its sha256 is not"):
            Window.load(path)
    path.write_bytes(data.replace(b"nbcfast-window/1", b"nbcfast-window/2"))
    with pytest.raises(ValueError, match="expected format 'nbcfast-window/1', got 'nbcfast-window/2'"):
        Window.load(path)


@pytest.mark.parametrize(
    ("field", "entry"),
    [
        ("class_name", 3),
        ("attributes", ["hat"]),
        ("domains", {"ill": {"values": []}}),
        ("numbering", ["integers", 0, 0]),
        ("numbering", ["days", 1, 0]),
        ("numbering", None),
        ("extent", [0, 1, 0]),
        ("extent", [3, 1]),
        ("late", "drop"),
        ("label", True),
        ("n_rows", [1, 2, 3]),
        ("first", 9),
        ("newest", None),
        ("newest", 20),
        ("released", [1]),
        ("in_release", [[1, 2, 3]]),
        ("blocks", [[2, [[1, 0], [[[1, 0], [0, 0], [0, 0]], [[1, 0], [0, 0], [0, 0]]]], 3]]),
        ("blocks", [[2, [[1, 0], [[[0, 0], [0, 0], [0, 0]], [[1, 0], [0, 0], [0, 0]]]]]]),
        ("blocks", [[2, [[1, 0], [[[2**63, 0], [0, 0], [0, 0]], [[1, 0], [0, 0], [0, 0]]]]]]),
        ("blocks", [[2, [[-1, 0], [[[-1, 0], [0, 0], [0, 0]], [[-1, 0], [0, 0], [0, 0]]]]]]),
        ("blocks", [[2, [[1, 0], [[[1, 0], [0, 0]], [[1, 0], [0, 0], [0, 0]]]]]]),
        ("blocks", [[9, [[1, 0], [[[1, 0], [0, 0], [0, 0]], [[1, 0], [0, 0], [0, 0]]]]]]),
        ("blocks", 5),
        ("ahead", 0),
        ("zoned", "yes"),
        ("more", 1),
    ],
)
def test_a_file_that_somebody_wrote_is_checked(field, entry):
    document = json.loads(json.dumps(made().to_dict()))
    Window.from_dict(document)
    with pytest.raises((ValueError, TypeError)):
        Window.from_dict({**document, field: entry})


@pytest.mark.parametrize("tables", [5, None, {}, [], [[[1, 0], [0, 0], [0, 0]]]])
def test_a_block_has_a_table_for_each_attribute(tables):
    document = {**made().to_dict(), "blocks": [[2, [[1, 0], tables]]]}
    with pytest.raises(ValueError, match=r"^document: block 2: expected counts of 2 attributes$"):
        Window.from_dict(document)


def test_domains_that_json_has_no_kind_for_are_refused(tmp_path):
    domains = {"age": [Interval(0, 5), Interval(5, None)], "ill": ["no"]}
    window = Window("ill", domains, rows=1)
    with pytest.raises(TypeError, match="declare bins by edges"):
        window.save(tmp_path / "w")
    assert os.listdir(tmp_path) == []
    assert Domain.of(domains["age"]) == window.views.domains["age"]
