"""What a canonical release says of itself: its file, forged files, and its points for people."""

import json
import subprocess
import sys

import numpy as np
import pytest
from canonical_cases import ILL_OR_WELL, labels, viewsets
from hypothesis import given

import nbcfast
from nbcfast import Table, Viewset, canonical, verify_release
from nbcfast.published.certificate import Canonical, Certificate
from nbcfast.published.document import text_of
from nbcfast.published.release import Release
from nbcfast.verification.checks import verify
from nbcfast.verification.load import load


class TestCertificate:
    VIEWS = ILL_OR_WELL

    @pytest.fixture
    def folder(self, tmp_path):
        canonical.release(self.VIEWS, 4, class_name="health").save(tmp_path)
        return tmp_path

    def forged(self, folder, **changes):
        """The folder with other fields under a new sha256."""
        path = folder / "certificate.json"
        fields = json.loads(path.read_text())
        fields["canonical"].update(changes)
        fields["sha256"] = verify_release.digest(fields)
        path.write_text(verify_release.canonical_json(fields) + "\n")

    def script(self, folder):
        command = [sys.executable, "-I", "-S", verify_release.__file__, str(folder)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_the_file_proves_itself(self, folder):
        made = load(folder)
        assert made == canonical.release(self.VIEWS, 4, class_name="health")
        assert made.certificate.method == "canonical"
        assert made.certificate.canonical.reproducible is True
        assert made.certificate.notes[0].startswith("This release was computed from the classifier's answers")
        found = verify(folder, self.VIEWS)
        assert found.ok, found
        assert [check.name for check in found.checks][-2:] == ["scorecard", "equivalence"]
        ran = self.script(folder)
        assert ran.returncode == 3, ran.stdout + ran.stderr
        assert "not fully checked: 1 check is not decided" in ran.stdout
        assert "yes  scorecard      points and counts decide alike on the 6 tuples" in ran.stdout

    def test_forged_points_are_found(self, folder):
        points = [[list(row) for row in rows] for rows in load(folder).certificate.canonical.points]
        points[0][0], points[0][2] = points[0][2], points[0][0]
        self.forged(folder, points=points)
        assert not verify(folder).ok
        with pytest.raises(ValueError, match="points and counts decide differently on the 6 tuples"):
            load(folder)
        assert "decide differently" in self.script(folder).stdout
        assert self.script(folder).returncode == 1

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"points": [[[0], [1], [2]]]}, "expected points of [3, 2] values"),
            ({"points": [[[0], [1], ["x"]], [[0], [1]]]}, "points: expected an integer"),
            ({"constants": []}, "constants: expected 1 integers"),
            ({"reproducible": 1}, "expected true or false, got 1"),
            ({"undeclared": ["shape"]}, "expected names of attributes"),
            ({"bits": -1}, "bits: expected an integer"),
            (
                {"listed": {"tuples": 3, "sha256": "0" * 64}},
                "expected listed as differing, sha256 and tuples",
            ),
            ({"listed": {"tuples": 3, "sha256": "x", "differing": 0}}, "expected 64 hexadecimal digits"),
            ({"listed": {"tuples": 7, "sha256": "0" * 64, "differing": 0}}, "from 1 to 'tuples', got 7"),
            ({"listed": {"tuples": 3, "sha256": "0" * 64, "differing": 4}}, "at most 3 differing"),
            ({"listed": {"tuples": 3, "sha256": "0" * 64, "differing": 1}}, "with equivalence 'none'"),
            ({"more": 1}, "field 'canonical': expected bits, constants"),
        ],
    )
    def test_forms(self, folder, changes, message):
        self.forged(folder, **changes)
        with pytest.raises(ValueError, match="field 'canonical'") as caught:
            load(folder)
        assert message in str(caught.value)

    def test_other_methods_have_no_points(self):
        with pytest.raises(ValueError, match="a scorecard belongs to method 'canonical', got method"):
            nbcfast.safety_transform(self.VIEWS, 4).scorecard()
        made = Canonical(points=(), constants=(), reproducible=True)
        with pytest.raises(ValueError, match="canonical must be a Canonical with method 'canonical'"):
            Certificate(amplification=4, tuples=6, canonical=made)
        with pytest.raises(ValueError, match="with method 'canonical' and only there, got NoneType"):
            Certificate(amplification=4, tuples=6, method="canonical")
        odd = Certificate(amplification=4, tuples=6, method="canonical", canonical=made)
        with pytest.raises(ValueError, match="certificate: canonical: constants must be 1 numbers, got 0"):
            Release(self.VIEWS, odd)

    def test_repr_and_to_dict(self):
        made = canonical.release(self.VIEWS, 4)
        assert "label identical (enumeration)" in repr(made)
        assert made.to_dict()["certificate"]["canonical"]["constants"] == made.certificate.canonical.constants
        listed = canonical.release(self.VIEWS, 4, tuples={"age": ["old"], "sex": ["f"]})
        assert "label identical on 1 listed tuples" in repr(listed)

    @given(viewsets(most_values=5))
    def test_the_script_agrees_with_brute_force(self, views):
        made = canonical.release(views, 4)
        document = verify_release.parse(text_of(made).encode())
        (found,) = verify_release.scorecard(document)
        assert found[:2] == ("scorecard", True)
        # Of counts that decide differently it says so.
        other = Viewset(
            made.views.class_counts[::-1].copy(),
            {name: np.ascontiguousarray(array[:, ::-1]) for name, array in made.views.counts.items()},
        )
        document = verify_release.parse(text_of(Release(other, made.certificate)).encode())
        ((_, same, _),) = verify_release.scorecard(document)
        assert same == (labels(other) == labels(views))


class TestScorecard:
    MADE = canonical.release(ILL_OR_WELL, 4)

    def test_text(self):
        card = self.MADE.scorecard()
        lines = card.text().splitlines()
        assert len(lines) == 6
        assert lines[0].split() == ["age", "young", str(card.attributes[0][2][0][0])]
        assert lines[-1] == f"'ill' from {card.threshold} points on, else 'well'"
        assert str(card) == card.text()
        assert repr(card).startswith("PointsTable(2 attributes, up to ")

    def test_markdown(self):
        lines = self.MADE.scorecard().markdown().splitlines()
        assert lines[:2] == ["| attribute | value | points |", "| --- | --- | ---: |"]
        assert len(lines) == 9

    def test_plot(self, tmp_path):
        pytest.importorskip("matplotlib")
        self.MADE.scorecard().plot(tmp_path / "points.png")
        assert (tmp_path / "points.png").read_bytes().startswith(b"\x89PNG")

    def test_a_missing_extra_is_named(self, monkeypatch, tmp_path):
        for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=r"a picture needs matplotlib: pip install matplotlib$"):
            self.MADE.scorecard().plot(tmp_path / "points.png")

    def test_decide_wants_known_values(self):
        card = self.MADE.scorecard()
        with pytest.raises(ValueError, match="values must have every attribute, got none for 'sex'"):
            card.decide({"age": "old"})
        with pytest.raises(ValueError, match="values: 'x' is not in the domain of 'age'"):
            card.decide({"age": "x", "sex": "f"})

    def test_to_dict(self):
        assert json.loads(json.dumps(self.MADE.scorecard().to_dict()))["classes"] == ["ill", "well"]


@pytest.mark.parametrize(
    "options", [{}, {"bits": 1}, {"tuples": {"a": ["x"], "b": [1]}}], ids=["all", "bits", "list"]
)
def test_of_values_from_the_rows_no_optimum_is_claimed_over_a_declared_domain(options):
    """What the theorem says is said of the domain that there was."""
    rows = {"a": ["x", "y", "x", "y", "x"], "b": [1, 2, 2, 1, 3], "c": [0, 1, 0, 1, 1]}
    found = canonical.release(nbcfast.count(Table(rows), "c"), 4, **options).certificate
    declared = Table(rows, domains={"a": ["x", "y"], "b": [1, 2, 3], "c": [0, 1]})
    of_declared = canonical.release(nbcfast.count(declared, "c"), 4, **options).certificate
    assert "come from the rows" in found.notes[0]
    assert "learns which values occur" in found.notes[0]
    assert "declared" not in found.notes[0]
    assert "no other exactly equivalent release" not in found.notes[0]
    assert "come from the rows" not in of_declared.notes[0]
    assert ("equivalent on the values that occur reveals less" in found.notes[0]) == bool(found.equal)
