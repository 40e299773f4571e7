"""What `verify` says: what was checked, what was not, and what the publisher claims."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest
from accepting import ANYHOW
from folder_cases import rewritten
from verdict_cases import PEOPLE, PUBLISHED, VIEWS, said

import nbcfast
from nbcfast import Table, Viewset, canonical, skyline, verify_release


class TestClaims:
    """What no file can show is a claim, and no check."""

    @pytest.mark.parametrize(
        ("kind", "claims"),
        [
            (
                "safetytransform",
                [
                    "The order of all classes is that of the private views on all 6 tuples (by enumeration).",
                    verify_release.ARTIFICIAL,
                ],
            ),
            ("identity", [verify_release.ORIGINAL]),
            ("disguised", [verify_release.DisguisedDocument.told[0], verify_release.COINS]),
            ("partition", []),
            (
                "listed",
                [
                    verify_release.SOME_ANSWERS,
                    verify_release.PUBLIC,
                    "The best class is that of the private views on all 2 listed tuples.",
                    verify_release.ARTIFICIAL,
                    "The limit 4, and these names and values in this order, were chosen by the publisher, "
                    "and are no answers of the classifier: job: a, b; sex: f, m, x; the class: ill, well.",
                    "The values of job, sex and the class were declared, and do not come from the rows.",
                ],
            ),
        ],
    )
    def test_claims(self, tmp_path, capsys, kind, claims):
        PUBLISHED[kind]().save(tmp_path)
        found = nbcfast.verify(tmp_path)
        assert list(found.claims) == claims
        assert found.to_dict()["claims"] == claims
        assert found.to_dict()["verdict"] == found.verdict
        _, printed = said(tmp_path, capsys)
        lines = printed.splitlines()
        for claim in claims:
            assert f"the publisher claims, unchecked: {claim}" in lines
            assert sum(claim in line for line in lines) == 1
        if kind != "listed":
            assert found.ok
            assert found.conclusion in lines
        below = [line for line in lines if line.startswith("warning: ")]
        conclusion = lines[-1 - len(below)]
        assert bool(below) == conclusion.endswith("mind the warning below")
        if claims:
            assert conclusion.removesuffix("; mind the warning below").endswith("not checked")
        else:
            assert conclusion == "verified: mind the warning below"

    def test_what_the_private_table_decides_is_no_claim(self, tmp_path):
        PUBLISHED["canonical"]().save(tmp_path)
        sentence = "The best class is that of the private views on all 6 tuples (by enumeration)."
        assert sentence in nbcfast.verify(tmp_path).claims
        found = nbcfast.verify(tmp_path, VIEWS)
        assert sentence not in found.claims
        assert found.ok
        other = Viewset(
            [90, 50],
            {name: array[:, ::-1] for name, array in VIEWS.counts.items()},
            ["ill", "well"],
            domains={name: VIEWS.domain(name) for name in VIEWS.attributes},
        )
        found = nbcfast.verify(tmp_path, other)
        assert (found.ok, found.exit_code) == (False, 1)
        assert sentence not in found.claims

    @pytest.mark.parametrize("kind", ["safetytransform", "few rows", "est", "canonical", "bits", "listed"])
    def test_no_word_says_that_a_release_decides_as_the_data(self, tmp_path, kind):
        made = PUBLISHED[kind]()
        assert not any("is that of the data" in text for text in made.certificate.notes)
        made.save(tmp_path)
        assert not any("is that of the data" in text for text in nbcfast.verify(tmp_path).words)

    def test_that_a_list_is_public_stays_a_claim(self, tmp_path):
        """Even who has the list, and the private table, cannot see in them whose it is."""
        listed = {"job": ["a", "b"], "sex": ["f", "x"]}
        PUBLISHED["listed"]().save(tmp_path)
        for against in (None, VIEWS):
            found = nbcfast.verify(tmp_path, against, tuples=listed)
            assert found.ok
            assert verify_release.PUBLIC in found.claims
            assert verify_release.SOME_ANSWERS not in found.claims
            assert not any("a public list" in text for text in found.words)
            assert any("if the list is public, as the publisher says" in text for text in found.words)

    @pytest.mark.parametrize("kind", ["few rows", "bits", "bits, on a list"])
    def test_a_number_of_tuples_that_differ_is_a_claim_until_it_is_counted(self, tmp_path, kind):
        columns = {f"x{i}": np.arange(81) // 3**i % 3 for i in range(4)}
        weight = sum((i + 1) ** 3 * codes for i, codes in enumerate(columns.values()))
        table = Table({**columns, "y": np.where(weight > 99, "b", "a")})
        views = nbcfast.count(table, "y")
        listed = table.select(list(columns)).take(np.arange(0, 81, 2)) if "list" in kind else None
        if kind == "few rows":
            made = nbcfast.safety_transform(views, 4, rows=20, allow_differences=True)
        else:
            made = canonical.release(views, 4, bits=1, tuples=listed)
        made.save(tmp_path)
        sentences = [text for text in made.certificate.warnings if "than in the private views" in text]
        (number,) = [text for text in sentences if text[0].isdigit()]
        found = nbcfast.verify(tmp_path, tuples=listed)
        assert number not in found.words
        assert sum("another than in the private views" in text for text in found.claims) == 1
        assert number in nbcfast.verify(tmp_path, views, tuples=listed).words

    def test_a_verdict_of_checks(self):
        verdict, outcome = verify_release.verdict, verify_release.outcome
        assert [outcome(found) for found in ([True], [True, None], [None, False], [])] == [
            True,
            None,
            False,
            True,
        ]
        assert verdict([True, True], 0) == "verified"
        assert verdict([True], 2) == (
            "verified: what the files can show; 2 claims of the publisher are not checked"
        )
        assert verdict([True, None, None], 1) == (
            "not fully checked: 2 checks are not decided; 1 claim of the publisher is not checked"
        )
        assert verdict([None, False], 3) == "not verified"
        assert verdict([True], 0, 2) == "verified: mind the 2 warnings below"
        assert verdict([True], 1, 1, 1) == (
            "verified: what the files can show; 1 claim of the publisher is not checked; 1 thing in the "
            "folder was ignored, and nothing covers it; mind the warning below"
        )

    def test_of_several_checks_with_one_name_the_worst_counts(self):
        results = [("a", False, ""), ("a", True, ""), ("b", True, ""), ("b", None, ""), ("c", True, "")]
        assert verify_release.decisions(results) == {"a": False, "b": None, "c": True}

    def test_a_shuffle_is_a_claim(self, tmp_path, capsys):
        made = skyline.anonymize(Table(PEOPLE), ["job", "age"], "ill", k=2)
        made.save(tmp_path, order="shuffled", rng=np.random.default_rng(3))
        found = nbcfast.verify(tmp_path)
        assert found.claims == (verify_release.SHUFFLED.format(", by a generator with a seed"),)
        assert found.conclusion in said(tmp_path, capsys)[1].splitlines()


class TestCommandLine:
    """What is printed above the verdict, and what the shell is told."""

    FILE = "job,sex,ill\n" + "a,f,y\n" * 9 + "a,m,n\n" * 40 + "b,m,y\n" * 30 + "b,f,n\n" * 9

    @pytest.fixture
    def folder(self, run, tmp_path):
        (tmp_path / "rows.csv").write_text(self.FILE)
        arguments = (*ANYHOW, tmp_path / "rows.csv", "--class", "ill", "--amplification", 4)
        assert run(*arguments, "--method", "safetytransform", "--out", tmp_path / "out")[0] == 0
        return tmp_path

    def test_a_comparison_that_fails_claims_nothing(self, in_full, folder):
        other = self.FILE.replace("y\n", "z\n").replace("n\n", "y\n").replace("z\n", "n\n")
        (folder / "other.csv").write_text(other)
        code, printed, _ = in_full("verify", folder / "out", "--against", folder / "other.csv")
        assert code == 1
        assert "x   equivalence" in printed
        for word in ("identical", "proven by", "are artificial", "The limit holds"):
            assert word not in re.sub(r"(claim, unchecked|note:|publisher claims).*", "", printed)
        assert "is that of the private views" not in printed
        assert "\nnot verified\n" in printed

    def test_one_that_holds_says_what_is_left(self, in_full, folder):
        code, printed, _ = in_full("verify", folder / "out")
        assert code == 0
        assert printed.count("the publisher claims, unchecked:") == 2
        left = "2 claims of the publisher are not checked; mind the warning below"
        assert f"\nverified: what the files can show; {left}\n" in printed
        assert printed.count("warning: The publisher accepted") == 1
        code, printed, _ = in_full("verify", folder / "out", "--against", folder / "rows.csv")
        assert code == 0
        assert printed.count("the publisher claims, unchecked:") == 1
        code, printed, _ = in_full("verify", folder / "out", "--json")
        found = json.loads(printed)
        assert (found["ok"], found["verdict"], len(found["claims"])) == (True, "verified", 2)


class TestAgainstThePrivateTable:
    """Of what the certificate says of the private rows nothing is repeated that was not found in them."""

    COLUMNS = {  # noqa: RUF012
        "job": ["a"] * 30 + ["b"] * 31 + ["c"] * 30,
        "sex": ["f", "m"] * 45 + ["x"],
        "y": (["n"] * 2 + ["y"]) * 10 + ["y", "n"] * 15 + ["y"] + ["y", "y", "n"] * 10,
    }
    ROWS = Table(COLUMNS)

    @pytest.fixture(params=["rows", "weights"])
    def table(self, request):
        if request.param == "rows":
            return self.ROWS
        return Table(self.COLUMNS, weights=np.arange(1, 92))

    def made(self, folder, table):
        """The private views of a release that decides tuples otherwise, and how many, and how many rows."""
        views = nbcfast.count(table, "y")
        options = {"rows": 12, "allow_differences": True, "table": table, "class_name": "y"}
        made = nbcfast.safety_transform(views, "3/2", **options)
        made.save(folder)
        differ = made.views.predict(table) != views.predict(table)  # of two classes, so the order is known
        weights = np.ones(91, np.int64) if table.weights is None else table.weights
        assert 0 < made.certificate.differing_tuples < 9
        assert made.certificate.differing_rows > 1
        assert made.certificate.differing_rows == weights[differ].sum()
        return views, made.certificate.differing_tuples, made.certificate.differing_rows

    def test_rows_that_differ_are_counted(self, tmp_path, table):
        _, tuples, rows = self.made(tmp_path, table)
        found = nbcfast.verify(tmp_path, table)
        assert found.ok
        assert found.checks[-1].to_dict() == {
            "name": "differing",
            "passed": True,
            "text": f"{rows:,} rows of the table are decided otherwise, as stated",
        }
        assert found.claims == (verify_release.ARTIFICIAL,)
        text = f"the order of all classes differs on {tuples} of 9 tuples, and on {rows:,} rows of the input"
        assert found.classifier == f"not identical: {text}"

    @pytest.mark.parametrize("stated", [0, 1, 2**60])
    def test_a_wrong_number_of_them_fails(self, tmp_path, table, stated):
        *_, rows = self.made(tmp_path, table)
        entry = stated if stated < 2**53 else hex(stated)
        rewritten(tmp_path, lambda fields: fields.update(differing_rows=entry))
        found = nbcfast.verify(tmp_path, table)
        assert (found.verdict, found.exit_code, found.classifier) == ("not verified", 1, None)
        (check,) = (check for check in found.checks if not check.passed)
        assert check.name == "differing"
        text = f"{rows:,} rows of the table are decided otherwise, the certificate says "
        assert check.text.startswith(text)
        assert not any("rows of the private table" in text for text in found.claims)

    @pytest.mark.parametrize("stated", [0, None])
    def test_views_know_of_no_rows(self, tmp_path, table, stated):
        views, tuples, _ = self.made(tmp_path, table)
        rewritten(tmp_path, lambda fields: fields.update(differing_rows=stated))
        found = nbcfast.verify(tmp_path, views)
        assert found.ok
        claimed = ["0 rows of the private table are decided otherwise than by the private views."]
        assert list(found.claims) == (claimed if stated == 0 else []) + [verify_release.ARTIFICIAL]
        assert found.classifier == f"not identical: the order of all classes differs on {tuples} of 9 tuples"

    def test_the_command_line_counts_them_too(self, in_full, tmp_path):
        self.made(tmp_path / "out", self.ROWS)
        lines = [",".join(self.COLUMNS), *map(",".join, zip(*self.COLUMNS.values(), strict=True))]
        (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
        arguments = ("verify", tmp_path / "out", "--against", tmp_path / "rows.csv")
        code, printed, _ = in_full(*arguments)
        assert (code, "rows of the input" in printed) == (0, True)
        rewritten(tmp_path / "out", lambda fields: fields.update(differing_rows=0))
        code, printed, _ = in_full(*arguments)
        assert (code, "x   differing" in printed, "0 rows of the input" in printed) == (1, True, False)
        assert "classifier" not in printed
        assert printed.rstrip().splitlines()[-3] == "not verified"

    def test_the_class_column_may_have_another_name(self, tmp_path):
        self.made(tmp_path, self.ROWS)
        columns = {"label" if name == "y" else name: texts for name, texts in self.COLUMNS.items()}
        assert not nbcfast.verify(tmp_path, Table(columns)).ok
        assert nbcfast.verify(tmp_path, Table(columns), class_name="label").ok
        with pytest.raises(TypeError, match="class_name must be a str or None, got int"):
            nbcfast.verify(tmp_path, Table(columns), class_name=1)
        for against in (None, nbcfast.count(self.ROWS, "y")):
            with pytest.raises(ValueError, match="class_name must be None, as against is no Table"):
                nbcfast.verify(tmp_path, against, class_name="y")

    @pytest.mark.parametrize("against", ["views", "table"])
    def test_the_proof_is_that_of_the_check(self, run, tmp_path, against):
        views = nbcfast.count(self.ROWS, "y")
        made = nbcfast.safety_transform(views, 4, table=self.ROWS, class_name="y")
        assert made.certificate.equivalence == "enumeration"
        made.save(tmp_path)
        rewritten(tmp_path, lambda fields: fields.update(equivalence="interval"))
        found = nbcfast.verify(tmp_path, views if against == "views" else self.ROWS)
        assert (
            found.classifier == "identical: the order of all classes on all 9 tuples (proven by enumeration)"
        )
        assert not any("interval" in check.text for check in found.checks)

    def test_what_is_not_said_to_be_compared_is_said_as_it_was_found(self, tmp_path):
        views, tuples, _ = self.made(tmp_path, self.ROWS)

        def change(fields):
            fields.update(equivalence="none", differing_tuples=None, differing_rows=None)
            fields["warnings"] = [verify_release.UNKNOWN]

        rewritten(tmp_path, change)
        found = nbcfast.verify(tmp_path, views)
        assert found.classifier == f"not identical: the order of all classes differs on {tuples} of 9 tuples"

    @pytest.mark.parametrize("gauge", [True, False])
    def test_what_is_made_again_is_known_to_be_artificial(self, tmp_path, monkeypatch, gauge):
        """Where the release is what its method makes of these views, its words on the counts are checked."""
        views = nbcfast.count(self.ROWS, "y")
        nbcfast.safety_transform(views, "3/2", rows="proven", gauge=gauge).save(tmp_path)
        sentence = verify_release.ARTIFICIAL if gauge else verify_release.FLATTENED
        for against in (None, views):  # compared, and not made again
            found = nbcfast.verify(tmp_path, against)
            assert (sentence in found.claims, sentence in found.notes) == (True, False)
        monkeypatch.setattr("nbcfast.verification.compared.COMPARED", 0)
        found = nbcfast.verify(tmp_path, views)
        assert (sentence in found.claims, sentence in found.notes) == (False, True)
        assert found.conclusion == "verified"
        assert found.checks[-2].name == "again"
        assert "proven by" in found.classifier

    def test_a_canonical_release_says_the_same_with_the_table_as_without(self, tmp_path):
        PUBLISHED["canonical"]().save(tmp_path)
        for against in (None, VIEWS):
            found = nbcfast.verify(tmp_path, against)
            assert (verify_release.ARTIFICIAL in found.notes, found.ok) == (True, True)
            assert verify_release.ARTIFICIAL not in found.claims


def test_the_words_say_nothing_that_calms():
    assert "millions" not in verify_release.DEPENDS
    assert "on small domains too" in verify_release.DEPENDS


def test_a_flat_release_is_no_matter_of_its_certificate(tmp_path):
    flat = nbcfast.safety_transform(VIEWS, Fraction(1001, 1000))
    assert any("nearly flat" in text for text in flat.remarks)
    flat.save(tmp_path)
    assert "nearly flat" not in (tmp_path / "certificate.json").read_text()


class TestStrangeShapes:
    """Certificates that nothing writes, and that are refused in words."""

    def test_a_canonical_release_of_no_attribute(self, tmp_path, capsys):
        canonical.release(VIEWS, 4).save(tmp_path)

        def change(fields):
            fields.update(attributes=[], tuples=1)
            fields["canonical"].update(points=[], constants=[-1])

        rewritten(tmp_path, change)
        code, printed = said(tmp_path, capsys)
        assert (code, nbcfast.verify(tmp_path).exit_code) == (1, 1)
        assert "field 'canonical': expected at least one attribute" in printed
        assert "field 'canonical': expected at least one attribute" in repr(nbcfast.verify(tmp_path))

    @pytest.mark.parametrize("kind", ["canonical", "bits"])
    def test_more_rows_than_can_be_asked_for(self, tmp_path, capsys, kind):
        PUBLISHED[kind]().save(tmp_path)

        def change(fields):
            lists = [fields["class_counts"], *(row for one in fields["attributes"] for row in one["counts"])]
            for row in lists:
                row[:] = [hex(number * 10**300) for number in row]

        rewritten(tmp_path, change)
        found = nbcfast.verify(tmp_path)
        assert [check.name for check in found.checks if check.passed is False] == ["canonical"]
        assert said(tmp_path, capsys)[0] == 3

    def test_rounded_points_of_answers_that_were_not_compared(self, tmp_path, capsys):
        """On a small domain they are always compared."""
        PUBLISHED["bits"]().save(tmp_path)

        def change(fields):
            fields.update(differing_tuples=None, equivalence="none")
            fields["notes"] = list(verify_release.canonical_notes(False, None, 1))
            fields["warnings"] = list(
                verify_release.canonical_warnings([], None, None, fields["preserve"], True)
            )

        rewritten(tmp_path, change)
        found = nbcfast.verify(tmp_path)
        assert found.exit_code == 1
        assert [check.name for check in found.checks if check.passed is False] == ["counts"]
        assert said(tmp_path, capsys)[0] == 3

    @pytest.mark.parametrize("differing", [None, 1])
    def test_one_class_that_is_decided_otherwise(self, tmp_path, capsys, differing):
        one = Viewset([50], {"job": [[20], [30]]}, classes=["ill"], domains={"job": ["a", "b"]})
        canonical.release(one, 4, bits=1).save(tmp_path)
        assert nbcfast.verify(tmp_path)

        def change(fields):
            fields["differing_tuples"] = differing
            fields["equivalence"] = "none" if differing is None else "interval"
            equal = None if differing is None else False
            fields["notes"] = list(verify_release.canonical_notes(False, equal, 1))
            fields["warnings"] = list(
                verify_release.canonical_warnings([], None, differing, fields["preserve"], True)
            )

        rewritten(tmp_path, change)
        found = nbcfast.verify(tmp_path)
        assert [(check.name, check.passed) for check in found.checks if check.passed is not True] == [
            ("canonical", False)
        ]
        assert said(tmp_path, capsys)[0] == 3

    def test_a_template_twice(self, tmp_path, capsys):
        PUBLISHED["disclosure"]().save(tmp_path)
        rewritten(tmp_path, lambda fields: fields["templates"].extend(fields["templates"]))
        code, printed = said(tmp_path, capsys)
        assert (code, nbcfast.verify(tmp_path).exit_code) == (1, 1)
        assert "field 'templates': expected one limit for each inference, got one twice" in printed
