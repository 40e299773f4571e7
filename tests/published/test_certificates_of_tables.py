"""Certificates of partitions, disclosures and answers: objects that say what their files say."""

import copy
import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest

import nbcfast
from nbcfast import response
from nbcfast.skyline import anonymize
from nbcfast.templates import Template, disclose

PEOPLE = nbcfast.Table(
    {
        "age": [21, 25, 38, 44, 52, 61],
        "ill": ["flu", "cold", "gout", "gout", "cold", "flu"],
        "smokes": ["no", "yes", "no", "no", "yes", "no"],
    }
)


def partition():
    return anonymize(PEOPLE, ["age"], "ill", k=3)


def disclosure():
    return disclose(PEOPLE.select(["ill", "smokes"]), [Template(["ill"], ("smokes", "yes"), "1/2")], "smokes")


def answers():
    scheme = response.Scheme("0.8", [["smokes"]])
    return response.disguise(PEOPLE.select(["ill", "smokes"]), scheme, np.random.default_rng(5))


MAKERS = [partition, disclosure, answers]


@pytest.mark.parametrize("make", MAKERS)
def test_it_says_what_the_file_says(make, tmp_path):
    made = make()
    made.save(tmp_path)
    text = (tmp_path / "certificate.json").read_text()
    certificate = made.certificate
    fields = json.loads(text)
    assert certificate.to_dict() == fields
    assert certificate.text + "\n" == text
    for name in ("kind", "method", "version", "table_sha256", "sha256", "rows"):
        assert getattr(certificate, name) == fields[name]
    assert [*certificate.notes] == fields["notes"]
    assert [*certificate.warnings] == fields["warnings"]


@pytest.mark.parametrize("make", MAKERS)
def test_it_is_the_same_once_loaded(make, tmp_path):
    made = make()
    made.save(tmp_path)
    loaded = nbcfast.load(tmp_path)
    assert loaded.certificate == made.certificate
    assert hash(loaded.certificate) == hash(made.certificate)
    assert loaded.certificate != "a text"


@pytest.mark.parametrize("make", MAKERS)
def test_nothing_changes_it(make):
    certificate = make().certificate
    before = copy.deepcopy(certificate.to_dict())
    certificate.to_dict()["warnings"].append("none")
    certificate.to_dict()["columns"].clear()
    assert certificate.to_dict() == before
    with pytest.raises(dataclasses.FrozenInstanceError):
        certificate.rows = 7


def test_a_partition_says_what_its_groups_keep():
    made = partition()
    certificate = made.certificate
    assert (certificate.quasi, certificate.sensitive, certificate.groups) == (("age",), "ill", 2)
    assert certificate.demands is made.demands
    digest = certificate.table_sha256[:12]
    assert repr(certificate) == f"PartitionCertificate(6 rows; 2 groups by age; ill: k = 3; table {digest}..)"


def test_a_disclosure_says_how_confident_anybody_gets():
    made = disclosure()
    certificate = made.certificate
    assert dict(certificate.confidences) == dict(made.confidences)
    assert (certificate.masked, certificate.target, certificate.utility) == (
        made.masked,
        "smokes",
        "information",
    )
    (share,) = certificate.confidences.values()
    assert share <= Fraction(1, 2)
    assert f"ill -> smokes=yes <= 0.5: {float(share):g}; table " in repr(certificate)


def test_answers_say_their_scheme_and_that_they_are_a_simulation():
    made = answers()
    certificate = made.certificate
    assert (certificate.scheme, dict(certificate.cuts), certificate.seeded) == (made.scheme, {}, True)
    assert "simulated; 1 warning; table " in repr(certificate)


@pytest.mark.parametrize("make", MAKERS)
def test_what_no_verifier_reads_is_not_saved(make, tmp_path, monkeypatch):
    """Whatever is saved is judged as a recipient will judge it, before it takes its name."""
    made = make()
    monkeypatch.setattr("nbcfast._wire.form.VERSION", r"9\.9")
    with pytest.raises(ValueError, match="not saved: field 'version': expected one such as"):
        made.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
