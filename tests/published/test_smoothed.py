"""A release of a smoothed classifier: its field, its words, and what both verifiers make of it."""

import csv
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from canonical_cases import adult
from folder_cases import rewritten
from verdict_cases import PUBLISHED, VIEWS, said

import nbcfast
from nbcfast import Certificate, attack, canonical
from nbcfast._wire.smoothing_form import smoothing_note
from nbcfast.views.quality import evaluate

NOTE = smoothing_note(Fraction(1, 2))
SEVEN = ["workclass", "marital_status", "occupation", "relationship", "race", "sex", "native_country"]


@pytest.fixture
def folder(tmp_path):
    PUBLISHED["smoothed"]().save(tmp_path / "out")
    return tmp_path / "out"


def test_it_is_the_release_of_the_smoothed_views_and_says_so(folder):
    release = nbcfast.load(folder)
    assert release == PUBLISHED["smoothed"]()
    assert release.certificate.smoothing == Fraction(1, 2)
    plain = canonical.release(VIEWS.smoothed("1/2"), 4)
    assert (release.views, release.certificate.canonical) == (plain.views, plain.certificate.canonical)
    assert NOTE in release.certificate.notes
    assert "protects nobody" in NOTE
    assert repr(release).endswith("smoothed by 1/2)")
    assert json.loads((folder / "certificate.json").read_text())["smoothing"] == "1/2"


def test_without_it_the_file_has_no_such_field(tmp_path):
    PUBLISHED["canonical"]().save(tmp_path / "out")
    assert b"smooth" not in (tmp_path / "out" / "certificate.json").read_bytes()


def test_it_is_compared_with_the_smoothed_private_classifier(folder):
    found = nbcfast.verify(folder, VIEWS)
    checks = {check.name: check for check in found.checks}
    assert checks["equivalence"].passed
    assert checks["equivalence"].text.startswith(
        "beside the private classifier smoothed by 1/2: the best class is"
    )
    assert found.classifier.startswith("identical to the private classifier smoothed by 1/2: ")
    assert NOTE in found.notes
    assert found.ok
    # With more of a zero than the certificate says another classifier comes out.
    rewritten(folder, lambda fields: fields.update(smoothing="100", notes=_of(fields, "100")))
    again = nbcfast.verify(folder, VIEWS)
    assert {check.name: check.passed for check in again.checks}["equivalence"] is False


def _of(fields, text):
    return [smoothing_note(Fraction(text)) if note == NOTE else note for note in fields["notes"]]


def test_that_it_was_smoothed_is_a_claim_where_nothing_compares(folder, capsys):
    assert NOTE in nbcfast.verify(folder).claims
    code, printed = said(folder, capsys)
    assert code == 3
    assert f"the publisher claims, unchecked: {NOTE}" in printed
    assert "The best class is that of the private views smoothed by 1/2 on all" in printed


@pytest.mark.parametrize("entry", [1, None, "0", "-1", "2/4", "1/1", "0.5", "1e3", "01", "1" * 12, " 1"])
def test_it_is_a_number_in_one_form(entry, folder, capsys):
    rewritten(folder, lambda fields: fields.update(smoothing=entry))
    assert said(folder, capsys)[0] == 1
    with pytest.raises(ValueError, match="'smoothing': expected a positive number"):
        nbcfast.load(folder)


def test_the_note_goes_with_the_field(folder, capsys):
    rewritten(folder, lambda fields: fields.pop("smoothing"))
    assert said(folder, capsys)[0] == 1
    with pytest.raises(ValueError, match="'notes': expected those that go with the other fields"):
        nbcfast.load(folder)


def test_it_goes_with_canonical_releases(tmp_path, capsys):
    PUBLISHED["safetytransform"]().save(tmp_path)
    rewritten(tmp_path, lambda fields: fields.update(smoothing="1"))
    assert said(tmp_path, capsys)[0] == 1
    with pytest.raises(ValueError, match="'smoothing' goes with method 'canonical'"):
        nbcfast.load(tmp_path)
    with pytest.raises(ValueError, match="smoothing belongs to method 'canonical'"):
        Certificate(amplification=4, tuples=2, smoothing=1)


def test_few_rows_and_lists_say_with_what_they_were_compared():
    listed = canonical.release(VIEWS, 4, alpha=1, tuples={"job": ["a", "b"], "sex": ["f", "x"]})
    assert any("than in the private views smoothed by 1." in text for text in listed.certificate.warnings)


def test_the_attack_reads_in_the_certificate_what_was_added():
    rng = np.random.default_rng(5)
    arrays = [
        np.stack([rng.multinomial(p, rng.dirichlet(np.ones(8))) for p in (400, 700)], 1) for _ in "abcdef"
    ]
    views = nbcfast.Viewset([400, 700], arrays)
    release = canonical.release(views, 4, alpha=20)
    assert attack.totals(release, views) == attack.totals(release, views, alpha=20)
    assert attack.totals(release, views).found > attack.totals(release.views, views).found


class TestData:
    """Better calibrated, and no safer: who knows the number gets all counts back."""

    def test_ten_attributes_of_adult(self, data):
        names = ["age", "education_num", "hours_per_week", *SEVEN]
        views = adult(data, names)
        table = nbcfast.read_csv(data / "adult-train.csv", columns=[*names, "income"])
        release = canonical.release(views, 4, alpha=1)
        assert evaluate(release.views, table, "income").log_loss == pytest.approx(0.594, abs=5e-4)
        found = attack.totals(release, views)
        assert (found.found, found.cells) == (269, 269)

    def test_credit_approval(self, data):
        """Nine attributes as they are and six in quarters, of train; judged on test."""
        parts = {}
        columns = [f"a{i}" for i in range(1, 16)]
        for part in ("train", "test"):
            with open(data / f"crx-{part}.csv", encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            parts[part] = {name: [row[name] for row in rows] for name in (*columns, "class")}
        for name in ("a2", "a3", "a8", "a11", "a14", "a15"):
            known = [float(text) for text in parts["train"][name] if text != "?"]
            edges = np.unique(np.quantile(known, [0.25, 0.5, 0.75]))
            for part in parts.values():
                part[name] = [
                    text if text == "?" else str(np.searchsorted(edges, float(text))) for text in part[name]
                ]
        views = nbcfast.count(parts["train"], "class")
        judged = {}
        for alpha in (None, 1):
            release = canonical.release(views, 4, alpha=alpha)
            judged[alpha] = evaluate(release.views, nbcfast.Table(parts["test"]), "class")
            found = attack.totals(release, views)
            assert (found.found, found.cells, found.null_found) == (70, 70, 9)
        assert judged[1].log_loss == pytest.approx(0.567, abs=5e-4)
        assert (judged[None].accuracy, judged[1].accuracy) == (0.81, 0.835)
        assert judged[None].log_loss > 0.66
        assert math.isinf(evaluate(views, nbcfast.Table(parts["test"]), "class").log_loss)
