"""Folders of strata: every stratum is checked as a release, and the list as a whole."""

import json
from pathlib import Path

import pytest
from mutant_corpus import signed
from strata_cases import TOWNS, declared

import nbcfast
from nbcfast import canonical, verify_release
from nbcfast._wire import points_and_counts, strata_form

MADE = canonical.release_by(declared(), "ill", "town", 4)


@pytest.fixture
def folder(tmp_path):
    MADE.save(tmp_path / "out")
    return tmp_path / "out"


def changed(folder, change):
    """Rewrite the certificate; hashes follow."""
    path = Path(folder, "certificate.json")
    fields = json.loads(path.read_text())
    change(fields)
    for entry in fields["strata"]:
        entry["release"]["sha256"] = verify_release.digest(entry["release"])
    path.write_text(signed(fields))


def of(verification, name):
    return next(check for check in verification.checks if check.name == name)


def test_all_of_it_is_verified_and_each_stratum_by_itself(folder):
    found = nbcfast.verify(folder)
    assert found.ok
    assert found.kind == "strata"
    assert found.strata == MADE
    assert [value for value, _ in found.each] == ["b", "a", None]
    names = ["positive", "realistic", "amplification", "canonical", "scorecard"]
    assert all([check.name for check in checks] == names for _, checks in found.each)
    assert len(found.to_dict()["strata"]) == 3
    assert "in all 3 strata" in of(found, "canonical").text


def test_the_private_rows_of_each_stratum_are_compared(folder):
    found = nbcfast.verify(folder, TOWNS)
    assert found.ok
    assert of(found, "equivalence").passed
    assert found.classifier is not None
    assert found.classifier.startswith("identical")


def test_smoothed_strata_are_compared_with_smoothed_views(tmp_path):
    made = canonical.release_by(declared(), "ill", "town", 4, alpha=1)
    made.save(tmp_path / "out")
    found = nbcfast.verify(tmp_path / "out", TOWNS)
    assert found.ok
    for value, release in made.strata.items():
        kept = [place for place, town in enumerate(TOWNS["town"]) if town == value]
        own = nbcfast.count(declared().take(kept).select(["job", "age", "ill"]), "ill")
        assert nbcfast.compare(own.smoothed(1), release.views, preserve="label").equal


def test_other_rows_of_one_stratum_are_found(folder):
    rows = {**TOWNS, "ill": [*TOWNS["ill"][:7], "n", "y", "y", *TOWNS["ill"][10:]]}
    found = nbcfast.verify(folder, rows)
    assert found.exit_code == 1
    assert of(found, "equivalence").text.startswith("stratum null: ")
    assert dict(found.each)["a"][-1].passed


def test_rows_that_no_release_is_of_and_releases_that_no_row_is_of_fail(folder):
    rows = {name: [*values, values[0]] for name, values in TOWNS.items()}
    rows["town"][-1] = "c"
    assert "value 'c' of 'town' has no release" in of(nbcfast.verify(folder, rows), "equivalence").text
    none = of(nbcfast.verify(folder, declared().take([0, 1, 2, 10])), "equivalence")
    assert none.passed is False
    assert "stratum 'b': these are not the views of the release: no rows" in none.text
    bare = of(nbcfast.verify(folder, {"job": ["p"], "ill": ["n"]}), "equivalence")
    assert bare.text == "these are not the rows of the release: there is no column 'town'"


def test_views_and_lists_are_no_rows_of_strata(folder):
    views = nbcfast.count(declared().select(["job", "age", "ill"]), "ill")
    with pytest.raises(TypeError, match="against must be a table where there are strata"):
        nbcfast.verify(folder, views)
    with pytest.raises(
        ValueError, match="tuples must be None: strata keep their answers on the whole domain"
    ):
        nbcfast.verify(folder, tuples={"job": ["p"], "age": [1]})


def test_numbers_of_another_type_select_the_same_release(tmp_path):
    rows = {**TOWNS, "town": [{"a": 1, "b": 2, None: 3}[town] for town in TOWNS["town"]]}
    canonical.release_by(rows, "ill", "town", 4).save(tmp_path / "out")
    floats = {**rows, "town": [float(town) for town in rows["town"]]}
    assert nbcfast.verify(tmp_path / "out", floats).ok


def _swap(fields):
    one, other = fields["strata"][:2]
    one["release"], other["release"] = other["release"], one["release"]


def _foreign(fields):
    fields["strata"][1]["release"]["class_name"] = "other"


def _twice(fields):
    fields["strata"].append(fields["strata"][0])


def _column(fields):
    fields["by"] = "job"


def _point(fields):
    fields["strata"][2]["release"]["canonical"]["points"][0][0][0] += 9


def _limit(fields):
    for entry in fields["strata"]:
        entry["release"]["amplification"] = "101/100"


CHANGES = {
    "another name in one": (_foreign, "file", r"stratum 'a': expected the class_name of stratum 'b'"),
    "a value twice": (_twice, "file", "field 'strata': expected distinct values"),
    "an attribute as the column": (
        _column,
        "file",
        "field 'by': expected neither the class nor an attribute",
    ),
    "other points in one": (_point, "scorecard", "stratum null: points and counts decide differently"),
    "a limit that none keeps": (_limit, "amplification", "Lambda"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_found_by_both_verifiers(name, folder, capsys):
    change, check, text = CHANGES[name]
    changed(folder, change)
    found = nbcfast.verify(folder)
    assert of(found, check).passed is False
    assert text in of(found, check).text
    assert verify_release.main([str(folder)]) == found.exit_code == 1
    assert text in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"certificate\.json"):
        nbcfast.load(folder)


def test_releases_in_each_other_s_place_are_found_with_the_rows(folder):
    changed(folder, _swap)
    assert nbcfast.verify(folder).ok  # each is a canonical release, and what it is of is for the rows to show
    assert not nbcfast.verify(folder, TOWNS).ok


def test_a_change_without_hashes_names_the_stratum(folder):
    path = folder / "certificate.json"
    fields = json.loads(path.read_text())
    fields["strata"][0]["release"]["attributes"][0]["counts"][0][0] += 1
    path.write_text(signed(fields))
    assert "stratum 'b': its sha256 does not match" in of(nbcfast.verify(folder), "file").text


def test_more_strata_than_are_read_are_not_decided(folder, capsys):
    entry = json.loads((folder / "certificate.json").read_text())["strata"][0]
    many = [{**entry, "value": ["int", str(number)]} for number in range(strata_form.MOST_STRATA + 1)]
    changed(folder, lambda fields: fields.update(strata=many))
    found = nbcfast.verify(folder)
    assert found.exit_code == verify_release.main([str(folder)]) == 3
    assert "1,001 strata, and up to 1,000 are" in of(found, "file").text
    capsys.readouterr()


def test_many_strata_share_what_work_a_few_may_take(folder, capsys, monkeypatch):
    """A file of many takes as long as some files of one: of a hundred each has a thirteenth of the limit."""
    entry = json.loads((folder / "certificate.json").read_text())["strata"][0]

    def many(fields):
        strata = [{**entry, "value": ["int", str(number)]} for number in range(100)]
        notes = list(verify_release.strata_notes(fields["by"], 100))
        fields.update(strata=strata, notes=notes)

    changed(folder, many)
    for module in (verify_release, points_and_counts):
        monkeypatch.setattr(module, "MOST_HALF", 13 * 3)
    assert verify_release.main([str(folder)]) == 3
    assert "yes  scorecard      in all 100 strata" in capsys.readouterr().out
    for module in (verify_release, points_and_counts):
        monkeypatch.setattr(module, "MOST_HALF", 13 * 2 - 1)
    assert verify_release.main([str(folder)]) == 3
    assert "?    scorecard      in all 100 strata: not checked here" in capsys.readouterr().out
