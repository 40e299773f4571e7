"""What a canonical release is published with: declared domains, its file and checks of it, its points."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from both_verifiers import in_both
from folder_cases import rewritten
from verdict_cases import VIEWS

import nbcfast
from nbcfast import Table, canonical, verify_release
from nbcfast.canonical.publish import undeclared

ROWS = {"age": [5.0, 30, 70, None, 20, 61], "y": ["n", "n", "y", "y", "n", "y"]}


class TestDeclared:
    """A domain that the rows had a say in is named."""

    def test_a_null_that_binned_rows_brought_is_undeclared(self):
        table = Table(ROWS, domains={"y": ["n", "y"]}).bin("age", edges=[0, 18, 65, 100])
        assert None in table.domain("age")
        views = nbcfast.count(table, "y")
        assert undeclared(views) == ("age",)
        made = canonical.release(views, 4)
        assert made.certificate.canonical.undeclared == ("age",)
        assert "The values of age come from the rows" in made.certificate.warnings[0]
        parts = [nbcfast.count(table.take(rows), "y") for rows in (slice(3), slice(3, 6))]
        assert undeclared(parts[0] + parts[1]) == ("age",)

    def test_a_null_that_was_declared_is_not(self):
        table = Table(ROWS, domains={"y": ["n", "y"]}).bin("age", edges=[0, 18, 65, 100])
        bins = table.domain("age")
        assert undeclared(nbcfast.count(Table(table, domains={"age": bins}), "y")) == ()
        ages = [*range(0, 100, 5), 61, None]
        first = Table(ROWS, domains={"y": ["n", "y"], "age": ages})
        assert undeclared(nbcfast.count(first.bin("age", edges=[0, 18, 65, 100]), "y")) == ()
        whole = Table({**ROWS, "age": [5, 30, 70, 8, 20, 61]}, domains={"y": ["n", "y"]})
        assert undeclared(nbcfast.count(whole.bin("age", edges=[0, 18, 65, 100]), "y")) == ()

    def test_classes_that_the_rows_brought_are_undeclared(self, tmp_path):
        table = Table(ROWS).bin("age", edges=[0, 18, 65, 100])
        table = Table(table, domains={"age": table.domain("age")})
        views = nbcfast.count(table, "y")
        assert undeclared(views) == (None,)
        made = canonical.release(views, 4, class_name="y")
        assert made.certificate.canonical.undeclared == (None,)
        assert made.certificate.warnings[0].startswith(
            "The values of the class come from the rows and were not declared: which values occur is"
        )
        made.save(tmp_path)
        read = nbcfast.load(tmp_path)
        assert read == made
        assert undeclared(read.views) == (None,)
        assert undeclared(nbcfast.count(table, "y", classes=["n", "y"])) == ()
        raw = nbcfast.count(Table(ROWS).bin("age", edges=[0, 18, 65, 100]), "y")
        said = canonical.release(raw, 4).certificate.warnings[0]
        assert said.startswith("The values of age and the class come from the rows")


def script(folder):
    command = [sys.executable, "-I", "-S", verify_release.__file__, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def shifted(fields):
    for row in fields["canonical"]["points"][0]:
        row[0] -= 1000
    fields["canonical"]["constants"][0] += 1000


def longer(fields):
    fields["canonical"]["points"] = [
        [[1000 * number for number in row] for row in rows] for rows in fields["canonical"]["points"]
    ]
    fields["canonical"]["constants"] = [1000 * number for number in fields["canonical"]["constants"]]
    fields["canonical"]["bits"] = 2


class TestFields:
    """Fields that contradict each other are refused, whatever their sha256."""

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (shifted, "expected points of at least 0, got -1000"),
            (longer, "expected bits from "),
            (lambda fields: fields["canonical"].update(bits=0), "to 62, got 0"),
            (lambda fields: fields["canonical"].update(bits=hex(10**30)), "to 62, got "),
            (lambda fields: fields.update(gauge=False), "expected gauge true"),
            (
                lambda fields: fields["canonical"].update(
                    listed={"tuples": 0, "sha256": "0" * 64, "differing": 0}
                ),
                "from 1 to 'tuples', got 0",
            ),
            (
                lambda fields: fields["canonical"].update(
                    listed={"tuples": 2, "sha256": "0" * 64, "differing": 0}
                ),
                "listed goes with equivalence 'none'",
            ),
            (lambda fields: fields.update(notes=[]), "field 'notes': expected those that go with"),
            (lambda fields: fields.update(notes=["private, epsilon = 0"]), "field 'notes': expected those"),
            (
                lambda fields: fields["canonical"].update(undeclared=["job", None]),
                "field 'notes': expected those that go with the other fields: \"This release was computed "
                "from the classifier's answers on a domain with values that come from the rows",
            ),
            (lambda fields: fields["canonical"].update(undeclared=[None, "job"]), "null for the class last"),
            (
                lambda fields: fields["canonical"].update(reproducible=False),
                "field 'warnings': expected those that go with the other fields: \"Another machine may find",
            ),
            (lambda fields: fields.update(differing_tuples=3), "field 'notes'"),
            (
                lambda fields: fields.update(differing_tuples=None, equivalence="none"),
                "field 'notes'",
            ),
        ],
    )
    def test_contradictions(self, tmp_path, change, message):
        canonical.release(VIEWS, 4, class_name="y").save(tmp_path)
        rewritten(tmp_path, change)
        with pytest.raises(ValueError, match=r"certificate\.json: field '") as caught:
            nbcfast.load(tmp_path)
        assert message in str(caught.value)
        assert not nbcfast.verify(tmp_path, VIEWS).ok
        ran = script(tmp_path)
        assert (ran.returncode, ran.stdout[:4]) == (1, "NO  ")

    def test_a_release_of_such_points_cannot_be_made(self):
        made = canonical.release(VIEWS, 4)
        found = made.certificate.canonical
        below = replace(found, points=tuple(tuple((n - 9,) for (n,) in rows) for rows in found.points))
        with pytest.raises(ValueError, match="canonical: points must be at least 0"):
            replace(made, certificate=replace(made.certificate, canonical=below))
        long = replace(
            found, points=tuple(tuple((99 * n,) for (n,) in rows) for rows in found.points), bits=2
        )
        with pytest.raises(ValueError, match="canonical: bits must be 7 to 62 for these points, got 2"):
            replace(made, certificate=replace(made.certificate, canonical=long))


def raw_counts(fields):
    """The private counts in place of those that were published."""
    fields["class_counts"] = VIEWS.class_counts.tolist()
    for entry in fields["attributes"]:
        entry["counts"] = VIEWS.counts[entry["name"]].tolist()
    fields["amplification"] = "1000/1"


class TestClaims:
    """A file that calls itself canonical is one, or verify says that it does not know."""

    @pytest.mark.parametrize("rows", ["smallest", "proven", 100])
    @pytest.mark.parametrize("classes", [1, 2, 3])
    def test_a_release_made_again_is_the_same(self, tmp_path, rows, classes):
        counts = {1: [[4], [8]], 2: [[4, 1], [8, 9]], 3: [[4, 1, 7], [8, 9, 2]]}[classes]
        other = {1: [[6], [6]], 2: [[5, 5], [7, 5]], 3: [[5, 5, 5], [7, 5, 4]]}[classes]
        views = nbcfast.Viewset([sum(column) for column in zip(*counts, strict=True)], [counts, other])
        canonical.release(views, 4, rows=rows).save(tmp_path)
        found = nbcfast.verify(tmp_path)
        assert found.ok, found
        names = [check.name for check in found.checks]
        assert "canonical" in names
        assert ("scorecard" in names) == (classes > 1)

    def test_raw_counts_that_call_themselves_canonical(self, tmp_path):
        canonical.release(VIEWS, 4, class_name="y").save(tmp_path)
        assert nbcfast.verify(tmp_path).ok
        rewritten(tmp_path, raw_counts)
        for found in (nbcfast.verify(tmp_path), nbcfast.verify(tmp_path, VIEWS)):
            assert [check.name for check in found.checks if not check.passed] == ["canonical"]
            assert "the release is another" in repr(found)
        ran = script(tmp_path)
        assert ran.returncode == 3
        assert "?    canonical      not made again here" in ran.stdout

    def test_rounded_points_with_other_counts(self, tmp_path):
        views = nbcfast.Viewset(
            [40, 60],
            {"a": [[1, 12], [5, 18], [14, 20], [20, 10]], "b": [[11, 30], [9, 12], [8, 12], [12, 6]]},
        )
        made = canonical.release(views, 4, bits=1)
        assert made.certificate.differing_tuples
        made.save(tmp_path)
        found = nbcfast.verify(tmp_path)
        assert found.exit_code == 3, found
        assert "the counts are those that the points give" in repr(found)
        assert nbcfast.verify(tmp_path, views).ok
        rewritten(
            tmp_path,
            lambda fields: fields.update(
                class_counts=[2 * number for number in fields["class_counts"]],
                attributes=[
                    {**entry, "counts": [[2 * number for number in row] for row in entry["counts"]]}
                    for entry in fields["attributes"]
                ],
            ),
        )
        assert not nbcfast.verify(tmp_path).ok
        assert "NO   counts" in repr(nbcfast.verify(tmp_path))
        assert not nbcfast.verify(tmp_path, views).ok

    def test_points_on_a_list(self, tmp_path):
        public = {"job": ["a", "b"], "sex": ["f", "x"]}
        canonical.release(VIEWS, 4, tuples=public).save(tmp_path)
        found = nbcfast.verify(tmp_path)
        undecided = [check.name for check in found.checks if check.passed is None]
        assert undecided == ["canonical", "scorecard"]
        assert not found.ok
        assert nbcfast.verify(tmp_path, tuples=public).ok
        assert nbcfast.verify(tmp_path, VIEWS, tuples=public).ok
        ran = script(tmp_path)
        assert ran.returncode == 3
        assert "?    scorecard      not checked here: answers are kept on a list" in ran.stdout
        wrong = nbcfast.verify(tmp_path, tuples={"job": ["a"], "sex": ["f"]})
        assert "NO   list" in repr(wrong)
        rewritten(tmp_path, lambda fields: fields["canonical"]["points"][0][0].__setitem__(0, 99))
        found = nbcfast.verify(tmp_path, VIEWS, tuples=public)
        assert [check.name for check in found.checks if not check.passed] == ["scorecard"]

    def test_more_classes_than_the_script_looks_at(self, tmp_path, monkeypatch):
        views = nbcfast.Viewset([12, 13, 14], [[[5, 4, 9], [7, 9, 5]], [[6, 3, 7], [6, 10, 7]]])
        canonical.release(views, 4).save(tmp_path)
        in_both(monkeypatch, "MOST_LISTED", 5)
        document = verify_release.parse((tmp_path / "certificate.json").read_bytes())
        ((name, holds, text),) = verify_release.scorecard(document)
        assert (name, holds) == ("scorecard", None)
        assert "not checked here: 4 tuples would take too long" in text
        assert verify_release.main([str(tmp_path)]) == 3
        assert nbcfast.verify(tmp_path).ok
        rewritten(tmp_path, lambda fields: fields["canonical"].update(points=[[[0, 0]] * 2] * 2))
        assert not nbcfast.verify(tmp_path).ok
        with pytest.raises(ValueError, match="points and counts decide differently on the 4 tuples"):
            nbcfast.load(tmp_path)

    def test_ties_are_not_canonical(self, tmp_path, monkeypatch):
        n = 30
        tied = nbcfast.Viewset([n, n], [np.ones((n, 2), int)] * 2)
        canonical.release(tied, 4).save(tmp_path)

        def ties(fields):
            fields["class_counts"] = [n, n]
            for entry in fields["attributes"]:
                entry["counts"] = [[1, 1]] * n
            fields["canonical"]["points"] = [[[i] for i in range(n)]] * 2
            fields["canonical"]["constants"] = [-n]

        rewritten(tmp_path, ties)
        assert not nbcfast.verify(tmp_path, tied).ok
        in_both(monkeypatch, "MOST_EXACT", 100)
        document = verify_release.parse((tmp_path / "certificate.json").read_bytes())
        ((_, holds, text),) = verify_release.scorecard(document)
        assert holds is False
        assert "nearly tied, and a canonical release keeps off ties" in text

    def test_points_that_decide_otherwise_are_not_saved(self, tmp_path):
        made = canonical.release(VIEWS, 4)
        found = made.certificate.canonical
        other = replace(found, points=(((9,), (0,)), ((0,), (0,), (0,))))
        forged = replace(made, certificate=replace(made.certificate, canonical=other))
        with pytest.raises(ValueError, match="not saved: points and counts decide differently on the 6"):
            forged.save(tmp_path / "out")
        silent = replace(found, undeclared=("job",))
        forged = replace(made, certificate=replace(made.certificate, canonical=silent))
        with pytest.raises(ValueError, match="not saved: field 'warnings': expected"):
            forged.save(tmp_path / "out")
        assert not (tmp_path / "out").exists()


class TestPoints:
    """The points table of odd names and values."""

    ODD = nbcfast.Viewset(
        [50, 90],
        {"x\ny": [[9, 70], [41, 20]], "$|\ud800": [[12, 30], [20, 20], [18, 40]]},
        domains={"x\ny": ["a", "b"], "$|\ud800": ["f", "m", "x"]},
    )

    def test_names_are_escaped_as_values_are(self, tmp_path):
        table = canonical.release(self.ODD, 4).scorecard()
        assert len(table.text().splitlines()) == 6
        assert r"x\ny" in table.text()
        assert r"\$\|\\ud800" in table.markdown()
        pytest.importorskip("matplotlib")
        table.plot(tmp_path / "points.png")
        assert (tmp_path / "points.png").stat().st_size

    def test_values_must_be_a_mapping(self):
        table = canonical.release(VIEWS, 4).scorecard()
        with pytest.raises(TypeError, match="values must be a mapping of attribute to value, got NoneType"):
            table.decide(None)


def test_rows_beyond_what_is_searched(tmp_path):
    counts = [[0, 1, 1], [3, 0, 1], [1, 1, 1], [2, 0, 1]]
    made = canonical.release(nbcfast.Viewset([6, 2, 4], [counts]), 2**70, attacker="worlds")
    made.save(tmp_path)
    assert nbcfast.verify(tmp_path).ok


def test_a_table_is_binned_as_the_release_is(tmp_path):
    rng = np.random.default_rng(3)
    age = rng.integers(18, 90, 300)
    table = nbcfast.Table({"age": age, "ill": np.where(age + rng.integers(0, 40, 300) > 70, "yes", "no")})
    bins = [-np.inf, 40, 65, np.inf]
    views = nbcfast.count(table.bin("age", edges=bins), "ill")
    canonical.release(views, 4, class_name="ill").save(tmp_path / "out")
    assert nbcfast.verify(tmp_path / "out", against=table).ok
    other = nbcfast.Table({"age": age, "ill": np.where(age < 50, "yes", "no")})
    assert not nbcfast.verify(tmp_path / "out", against=other).ok
