"""That a release was published under a policy is in its certificate, and a claim of both verifiers."""

import json
from dataclasses import replace

import pytest
from folder_cases import rewritten
from verdict_cases import PUBLISHED, said

import nbcfast
from nbcfast import Certificate
from nbcfast._wire.policy_form import policy_text

SHA256 = "0123456789abcdef" * 4
KINDS = ["safetytransform", "canonical", "est", "smoothed", "accepted"]


def under(release):
    return replace(release, certificate=replace(release.certificate, policy=SHA256))


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_claim_of_both_verifiers(kind, tmp_path, capsys):
    release = under(PUBLISHED[kind]())
    release.save(tmp_path / "out")
    assert nbcfast.load(tmp_path / "out") == release
    found = nbcfast.verify(tmp_path / "out")
    assert found.exit_code == 0
    assert policy_text(SHA256) in found.claims
    _, printed = said(tmp_path / "out", capsys)
    assert f"the publisher claims, unchecked: {policy_text(SHA256)}" in printed


@pytest.mark.parametrize("kind", KINDS)
def test_without_one_nothing_changes(kind, tmp_path):
    """The bytes are those of a release that knows of no policies: the words of it are the same too."""
    release = PUBLISHED[kind]()
    release.save(tmp_path / "out")
    under(release).save(tmp_path / "under")
    texts = [(tmp_path / name / "certificate.json").read_text(encoding="ascii") for name in ("out", "under")]
    assert "policy" not in texts[0]
    field = f'"policy":{{"sha256":"{SHA256}"}},'
    assert texts[1].count(field) == 1
    own = [json.loads(texts[0]), json.loads(texts[1].replace(field, ""))]
    assert own[0].pop("sha256") != own[1].pop("sha256")
    assert own[0] == own[1]
    for name in ("notes", "warnings"):
        assert getattr(release.certificate, name) == getattr(under(release).certificate, name)


@pytest.mark.parametrize(
    "entry",
    [None, SHA256, {}, {"sha256": SHA256[:63]}, {"sha256": SHA256.upper()}, {"sha256": SHA256, "x": 1}],
)
def test_it_is_a_sha256_or_no_field(entry, tmp_path, capsys):
    PUBLISHED["canonical"]().save(tmp_path)
    rewritten(tmp_path, lambda fields: fields.update(policy=entry))
    assert said(tmp_path, capsys)[0] == 1
    with pytest.raises(ValueError, match="field 'policy': expected"):
        nbcfast.load(tmp_path)


@pytest.mark.parametrize("entry", [SHA256[:63], SHA256.upper(), 7, f"{SHA256}\n"])
def test_a_certificate_takes_a_sha256(entry):
    with pytest.raises(ValueError, match="policy must be the 64 hexadecimal digits of a sha256"):
        Certificate(amplification=4, tuples=2, policy=entry)


def test_it_is_a_field_of_releases_alone(tmp_path, capsys):
    PUBLISHED["partition"]().save(tmp_path)
    rewritten(tmp_path, lambda fields: fields.update(policy={"sha256": SHA256}))
    code, printed = said(tmp_path, capsys)
    assert code == 1
    assert "field 'policy' is unknown" in printed
