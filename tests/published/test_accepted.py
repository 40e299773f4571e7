"""That a publisher accepted whatever the answers give away is a field of the certificate, by an option."""

import pytest
from folder_cases import rewritten
from verdict_cases import PUBLISHED, said

import nbcfast
from nbcfast import Certificate
from nbcfast._wire.release_words import ACCEPTED

KINDS = ["accepted", "accepted powers"]


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_warning_that_both_verifiers_print(kind, tmp_path, capsys):
    release = PUBLISHED[kind]()
    release.save(tmp_path / "out")
    assert nbcfast.load(tmp_path / "out") == release
    found = nbcfast.verify(tmp_path / "out")
    assert found.exit_code == 0
    assert ACCEPTED in found.warnings
    _, printed = said(tmp_path / "out", capsys)
    assert f"warning: {ACCEPTED}" in printed


@pytest.mark.parametrize("kind", KINDS)
def test_it_holds_no_number(kind):
    """What was measured is private: the words are the same whatever it was."""
    assert not any(letter.isdigit() for letter in ACCEPTED)
    certificate = PUBLISHED[kind]().certificate
    assert certificate.warnings[0] == ACCEPTED
    assert certificate.accepting(False).warnings == certificate.warnings[1:]


def test_without_it_the_file_has_no_such_field(tmp_path):
    PUBLISHED["canonical"]().save(tmp_path / "out")
    assert b"accepted" not in (tmp_path / "out" / "certificate.json").read_bytes()


@pytest.mark.parametrize("entry", [False, None, 1, "true"])
def test_it_is_true_or_no_field(entry, tmp_path, capsys):
    PUBLISHED["accepted"]().save(tmp_path)
    rewritten(tmp_path, lambda fields: fields.update(accepted=entry))
    assert said(tmp_path, capsys)[0] == 1
    with pytest.raises(ValueError, match="'accepted': expected true or no such field"):
        nbcfast.load(tmp_path)


def test_the_warning_goes_with_the_field(tmp_path, capsys):
    PUBLISHED["accepted"]().save(tmp_path)
    rewritten(tmp_path, lambda fields: fields.pop("accepted"))
    assert said(tmp_path, capsys)[0] == 1
    with pytest.raises(ValueError, match="'warnings': expected those that go with the other fields"):
        nbcfast.load(tmp_path)


@pytest.mark.parametrize("entry", [None, 1, "yes"])
def test_a_certificate_takes_a_bool(entry):
    with pytest.raises(TypeError, match="accepted must be a bool"):
        Certificate(amplification=4, tuples=2, accepted=entry)
