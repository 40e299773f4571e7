"""Certificates of EST: what is in the file, and who finds what is not so."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from both_verifiers import in_both
from closeness_cases import QUARTER, WORK, below, cases
from how_many import how_many

import nbcfast
from nbcfast import Viewset, verify_release
from nbcfast.closeness import achieved, est
from nbcfast.published.certificate import Certificate
from nbcfast.published.release import Release


def script(path):
    command = [sys.executable, "-I", verify_release.__file__, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_r_and_the_prior_are_in_the_file_and_checked_from_it(tmp_path):
    release = est(WORK, QUARTER, 4, class_name="state")
    release.save(tmp_path / "out")
    found = nbcfast.verify(tmp_path / "out", against=WORK)
    assert found.ok
    assert [check.name for check in found.checks][-2:] == ["closeness", "equivalence"]
    loaded = nbcfast.load(tmp_path / "out")
    assert loaded == release
    assert loaded.certificate.prior == (Fraction(3, 4), Fraction(1, 4))
    fields = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert (fields["method"], fields["r"], fields["prior"]) == ("est", "4/1", ["3/4", "1/4"])
    assert fields["amplification"] == "12/1"
    assert set(fields) == verify_release.FIELDS | verify_release.CLOSENESS_FIELDS
    run = script(tmp_path / "out")
    assert run.returncode == 0
    assert "closeness" in run.stdout
    assert "r <= 4 of the prior" in repr(release)


def resealed(folder, target, **changes):
    """The file with changed fields and a hash that fits."""
    fields = json.loads((folder / "certificate.json").read_text())
    for name, entry in changes.items():
        if entry is None:
            del fields[name]
        else:
            fields[name] = entry
    fields["sha256"] = verify_release.digest(fields)
    target.mkdir()
    (target / "certificate.json").write_text(verify_release.canonical_json(fields) + "\n")
    return target


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"r": "2/1"}, "field 'amplification': expected r times"),
        ({"r": "2/1", "amplification": "6/1"}, "Lambda exceeds the limit 6|> 6|more than r = 2|> 2,"),
        ({"prior": ["1/4", "3/4"]}, "more than r = 4|> 4,"),
        ({"r": "1/1"}, "field 'r': expected more than 1"),
        ({"r": "4"}, "field 'r': expected a rational"),
        ({"r": None}, "field 'r' is missing"),
        ({"prior": None}, "field 'prior' is missing"),
        ({"prior": ["1/4", "1/4"]}, "add up to 1"),
        ({"prior": ["0/1", "1/1"]}, "above 0"),
        ({"prior": ["1/1"]}, "expected 2 rationals"),
        ({"prior": "3/4"}, "expected 2 rationals"),
        ({"method": "safetytransform"}, "field 'prior' is unknown"),
        ({"attacker": "worlds"}, "more than r = 2|> 2,"),
        ({"attacker": "worlds", "r": "2/1"}, "field 'r': expected more than 2"),
    ],
)
def test_a_certificate_that_claims_too_much_is_caught(tmp_path, changes, message):
    views = Viewset([600, 600], {"job": [[400, 200], [200, 400]]}, classes=["ill", "well"])
    release = est(views, QUARTER, 4, rows="proven")
    release.save(tmp_path / "out")
    other = resealed(tmp_path / "out", tmp_path / "other", **changes)
    found = nbcfast.verify(other)
    assert not found.ok
    run = script(other)
    assert run.returncode == 1
    assert re.search(message, repr(found)), repr(found)
    assert re.search(message, run.stdout), run.stdout
    with pytest.raises(ValueError, match=r"certificate\.json"):
        nbcfast.load(other)


def test_scripts_and_library_agree_on_r_at_the_edge(tmp_path, monkeypatch):
    """R of the counts themselves passes, a hair less does not: products decide where logarithms cannot."""
    in_both(monkeypatch, "DIGITS", 32)  # of logarithms, which leave that hair open
    for number, (_, views, prior) in enumerate(cases(20, how_many(6, 12))):
        widest = max(prior.values()) / min(prior.values())
        release = est(views, prior, 2 * widest, rows="proven")
        r = achieved(release.views, prior).r
        made = Release(release.views, replace(release.certificate, r=r, amplification=r * widest))
        made.save(tmp_path / f"{number}")
        assert nbcfast.verify(tmp_path / f"{number}").ok
        assert script(tmp_path / f"{number}").returncode == 0
        less = below(r)
        assert r * (1 - Fraction(1, 2**50)) < less < r
        made = Release(release.views, replace(made.certificate, r=less, amplification=less * widest))
        with pytest.raises(ValueError, match=r"not saved: (the odds of some tuple are off|Lambda of )"):
            made.save(tmp_path / f"{number}x")
        texts = [f"{part(x.numerator)}/{part(x.denominator)}" for x in (less, less * widest)]
        other = resealed(tmp_path / f"{number}", tmp_path / f"{number}y", r=texts[0], amplification=texts[1])
        assert not nbcfast.verify(other).ok
        assert script(other).returncode == 1


def part(number):
    return number if number <= 2**53 else hex(number)


def test_swapped_precedence_is_named(tmp_path):
    release = est(WORK, QUARTER, 4)
    release.save(tmp_path / "out")
    path = tmp_path / "out" / "certificate.json"
    fields = json.loads(path.read_text())
    for name in ("classes", "class_counts", "prior"):
        fields[name] = fields[name][::-1]
    for entry in fields["attributes"]:
        entry["counts"] = [row[::-1] for row in entry["counts"]]
    path.write_text(verify_release.canonical_json(fields) + "\n")
    found = repr(nbcfast.verify(tmp_path / "out"))
    assert "the precedence of the classes 'well' and 'ill' is swapped" in found


def test_a_large_release_is_made_again(tmp_path):
    rng = np.random.default_rng(21)
    arrays = []
    for _ in range(60):
        array = rng.integers(1, 99, (2, 2))
        array[0] += 200 - array.sum(axis=0)
        arrays.append(array)
    views = Viewset([200, 200], arrays)
    release = est(views, {0: "0.75", 1: "0.25"}, 4)
    release.save(tmp_path / "out")
    found = nbcfast.verify(tmp_path / "out", against=views)
    assert found.ok
    assert "made again" in found.checks[-1].text
    other = Viewset([200, 200], [*arrays[:-1], arrays[-1][::-1].copy()])
    assert not nbcfast.verify(tmp_path / "out", against=other).ok


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"r": 3}, ValueError, "method 'est' needs r and prior"),
        ({"r": 3, "prior": ("1/2", "1/4")}, ValueError, "add up to 1"),
        ({"r": 1, "prior": ("1/2", "1/2")}, ValueError, "r must be above 1 for attacker 'row'"),
        ({"r": 2, "prior": ("1/2", "1/2"), "attacker": "worlds"}, ValueError, "r must be above 2"),
        ({"r": 3, "prior": ("1/2", None)}, TypeError, "prior must be an int"),
        ({"method": "safetytransform", "r": 3}, ValueError, "r and prior belong to method 'est'"),
    ],
)
def test_certificates_of_wrong_fields(fields, error, message):
    with pytest.raises(error, match=message):
        Certificate(**{"method": "est", "amplification": 9, "tuples": 2, **fields})


def test_a_prior_of_another_number_of_classes_is_refused():
    made = Certificate(method="est", amplification=6, tuples=2, r=3, prior=("1/2", "1/4", "1/4"))
    with pytest.raises(ValueError, match="prior must be 2 numbers, got 3"):
        Release(WORK, made)
