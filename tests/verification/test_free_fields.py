"""What a publisher chooses freely carries no hidden text: it is bounded, or printed and named as his own."""

import hashlib
import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from folder_cases import rewritten
from verdict_cases import PEOPLE, VIEWS, said

import nbcfast
from nbcfast import SUPPRESSED, Certificate, Table, Viewset, canonical, cli, response, skyline, verify_release
from nbcfast.closeness import est
from nbcfast.templates import Template, disclose

EVEN = {"ill": "1/2", "well": "1/2"}
LONG = Fraction(4) + Fraction(1, 2**130)
LONG_TEXT = f"{hex(LONG.numerator)}/{hex(LONG.denominator)}"
SHARE_TEXT = f"{hex(2**130 - 1)}/{hex(2**130)}"
BEYOND = "beyond what a limit may carry"


def with_table(folder, change, *rows):
    """Change the fields of the certificate, and the table to these lines."""
    (folder / "table.csv").write_text("".join(f"{row}\n" for row in rows))
    digest = hashlib.sha256((folder / "table.csv").read_bytes()).hexdigest()

    def both(fields):
        fields["table_sha256"] = digest
        change(fields)

    rewritten(folder, both)


def refused(folder, capsys, words):
    """Whether both verifiers refuse it in these words."""
    code, printed = said(folder, capsys)
    assert (code, words in printed) == (1, True), printed
    found = nbcfast.verify(folder)
    assert (found.exit_code, words in repr(found)) == (1, True), found


def released(folder):
    canonical.release(VIEWS, 4).save(folder)


def estimated(folder):
    est(VIEWS, EVEN, 3).save(folder)


def grouped(folder):
    demands = {"k": 2, "diversity": (3, 1), "closeness": "9/10"}
    skyline.anonymize(Table(PEOPLE), ["job", "age"], "ill", [(0, 0, 0, 1)], **demands).save(folder)


def disclosed(folder):
    disclose(Table(PEOPLE), [Template(["job"], ("ill", "y"), "3/4")], "age").save(folder)


def fewer(folder):
    nbcfast.safety_transform(VIEWS, 4, rows=20, allow_differences=True).save(folder)


class TestNumbers:
    """Limits and other numbers that somebody chose."""

    @pytest.mark.parametrize(
        ("make", "field", "entry"),
        [
            (released, "amplification", LONG_TEXT),
            (released, "amplification", f"0x1{'0' * 40_000}/1"),
            (estimated, "r", LONG_TEXT),
            (estimated, "prior", [SHARE_TEXT, f"1/{hex(2**130)}"]),
            (grouped, "k", hex(2**61 + 1)),
            (grouped, "diversity", [LONG_TEXT, 1]),
            (grouped, "diversity", ["3/1", hex(2**62)]),
            (grouped, "closeness", [SHARE_TEXT, "equal"]),
            (grouped, "points", [[0, 0, 0, SHARE_TEXT]]),
            (grouped, "points", [[0, 0, hex(2**62), "1/1"]]),
            (disclosed, "templates", SHARE_TEXT),
        ],
    )
    def test_long_ones_are_refused(self, make, field, entry, tmp_path, capsys):
        make(tmp_path)
        assert nbcfast.verify(tmp_path).exit_code == 0
        if field == "templates":
            rewritten(tmp_path, lambda fields: fields["templates"][0].update(limit=entry))
        else:
            rewritten(tmp_path, lambda fields: fields.update({field: entry}))
        refused(tmp_path, capsys, f"{field!r}: {BEYOND}")
        with pytest.raises(ValueError, match=BEYOND):
            nbcfast.load(tmp_path)

    @pytest.mark.parametrize(
        ("name", "make"),
        [
            ("amplification", lambda: nbcfast.safety_transform(VIEWS, LONG)),
            ("amplification", lambda: canonical.release(VIEWS, LONG)),
            ("amplification", lambda: Certificate(amplification=LONG, tuples=2)),
            ("r", lambda: est(VIEWS, EVEN, LONG)),
            ("prior of class 'ill'", lambda: est(VIEWS, {"ill": LONG - 4, "well": 5 - LONG}, 3)),
            ("diversity: c", lambda: skyline.anonymize(Table(PEOPLE), ["job"], "ill", diversity=(LONG, 1))),
            ("closeness", lambda: skyline.anonymize(Table(PEOPLE), ["job"], "ill", closeness=LONG - 4)),
            (
                "points[0]: confidence",
                lambda: skyline.anonymize(Table(PEOPLE), ["job"], "ill", [(0, 0, 0, 5 - LONG)]),
            ),
            ("limit", lambda: Template(["job"], ("ill", "y"), LONG - 4)),
        ],
    )
    def test_the_library_takes_none(self, name, make):
        with pytest.raises(ValueError, match=re.escape(f"{name}: exact limits have at most 38 digits")):
            make()

    def test_limits_that_the_library_rounds_are_taken(self, tmp_path):
        limit = nbcfast.safety.limit("0.123", "0.456789", n_classes=9, rule="paper")
        nbcfast.safety_transform(VIEWS, limit).save(tmp_path)
        assert nbcfast.verify(tmp_path).exit_code == 0

    @pytest.mark.parametrize(("limit", "text"), [("4.0000001", "40000001/10000000"), (10**37 + 1, None)])
    def test_limits_are_printed_in_full(self, limit, text, tmp_path, capsys):
        nbcfast.safety_transform(VIEWS, limit).save(tmp_path)
        assert f"Lambda <= {text or limit} (" in said(tmp_path, capsys)[1]
        assert f" <= {limit}\n" in repr(nbcfast.verify(tmp_path))

    def test_no_more_rows_differ_than_a_table_has(self, tmp_path, capsys):
        fewer(tmp_path)
        rewritten(tmp_path, lambda fields: fields.update(differing_rows=hex(2**61)))
        refused(tmp_path, capsys, "field 'differing_rows': expected less than 2^61")
        with pytest.raises(ValueError, match=r"differing_rows must be less than 2\^61"):
            Certificate(amplification=4, tuples=2, differing_rows=2**61)

    def test_a_group_has_somebody(self, tmp_path, capsys):
        grouped(tmp_path)
        rewritten(tmp_path, lambda fields: fields.update(k=0))
        refused(tmp_path, capsys, "field 'k': expected at least 1, got 0")


HIDDEN = {"job": list("aabb"), "ill": [SUPPRESSED, SUPPRESSED, "n", "y"]}
OTHER = {**HIDDEN, "ill": list("ynny"), "sex": [SUPPRESSED, "f", "m", "f"]}


class TestWithheld:
    """A sensitive value that is withheld is counted nowhere, and whatever limits its share would hold."""

    @pytest.mark.parametrize(("table", "column"), [(HIDDEN, "ill"), (OTHER, "sex")])
    def test_the_library_discloses_no_such_table(self, table, column, tmp_path):
        with pytest.raises(ValueError, match=f"column '{column}' holds SUPPRESSED"):
            disclose(Table(table), [Template(["job"], ("ill", "y"), "1/2")], utility="distortion")
        whole = {**table, "ill": list("ynny"), "sex": list("fmff")}
        made = disclose(Table(whole), [Template(["job"], ("ill", "y"), "1/2")], utility="distortion")
        with pytest.raises(ValueError, match=f"column '{column}' holds SUPPRESSED"):
            replace(made, table=Table(table)).save(tmp_path / "made")
        assert not (tmp_path / "made").exists()

    def test_nor_makes_groups_of_one(self):
        with pytest.raises(ValueError, match="column 'ill' holds SUPPRESSED"):
            skyline.anonymize(Table(HIDDEN), ["job"], "ill", k=2)

    def test_a_disclosure(self, tmp_path, capsys):
        made = disclose(Table(PEOPLE), [Template(["job"], ("ill", "y"), "3/4")], utility="distortion")
        made.save(tmp_path)

        def withhold(fields):
            (column,) = (column for column in fields["columns"] if column["name"] == "ill")
            column["cells"].append(["*", ["suppressed"]])
            fields["templates"][0].update(confidence="0/1", limit="0/1")

        table = (tmp_path / "table.csv").read_text()
        with_table(tmp_path, withhold, *table.replace(",y\n", ",*\n").splitlines())
        refused(tmp_path, capsys, "column ill, which is not one of 'masked': expected values that are not")

    def test_a_partition(self, tmp_path, capsys):
        skyline.anonymize(Table(PEOPLE), ["job"], "ill", k=2).save(tmp_path)

        def withhold(fields):
            values = fields["sensitive"]["values"]
            place = next(place for place, (text, _) in enumerate(values) if text == "y")
            del values[place]
            values.append(["*", [["suppressed"]]])

        table = (tmp_path / "table.csv").read_text()
        with_table(tmp_path, withhold, *table.replace(",y\n", ",*\n").splitlines())
        refused(tmp_path, capsys, "field 'sensitive': expected values that are not suppressed")


class TestSentences:
    """What is printed, and what certificates say in words."""

    def test_words_do_not_depend_on_what_a_python_knows_of_unicode(self, tmp_path, capsys):
        name = "ill \U0001fae8\u2028\\'"  # of Unicode 15: unknown to Python 3.11
        people = {"job": ["a", "b"], name: ["y", "n"]}
        skyline.anonymize(Table(people), ["job"], name, k=1).save(tmp_path)
        fields = json.loads((tmp_path / "certificate.json").read_text())
        assert 'the same value of "ill \U0001fae8\\u2028\\\\\'": who' in fields["warnings"][1]
        assert said(tmp_path, capsys)[0] == 0
        assert nbcfast.verify(tmp_path).ok

    @pytest.mark.parametrize(
        "name", ["ill", "it's", 'a "b"', "'\"", "a\\b", "gr\u00f6\u00dfe", "x\ny\x1b", "\u2028"]
    )
    def test_quoted_names_are_those_that_were_written_before(self, name):
        assert verify_release.in_quotes(name) == repr(name)

    @pytest.mark.parametrize("m", [0, 500])
    @pytest.mark.parametrize("gap", [10**15, 10**30])
    def test_a_breach_is_shown_on_its_side_of_the_limit(self, m, gap):
        for odds in (Fraction(1, gap), Fraction(1)):
            for share in (Fraction(99, 100), Fraction(101, 100)):
                found = verify_release.Least(odds * share, m)
                found.take(odds, 10**12, 100)
                confidence = 1 / (1 + odds * share)
                assert found.above == (share < 1)
                text = found.breach(confidence)
                assert (Fraction(text) < confidence) == found.above, text

    def test_what_no_digits_show_is_said(self):
        found = verify_release.Least(Fraction(0), 500)
        found.take(Fraction(1, 2), 600, 2**60)
        assert found.breach(Fraction(1)) == "(less than 10^-12 below 1)"

    def test_an_empty_name_is_no_folder(self, tmp_path, capsys, monkeypatch):
        released(tmp_path)
        monkeypatch.chdir(tmp_path)
        assert verify_release.main([""]) == 2
        assert "expected the name of a folder or a file, got an empty text" in capsys.readouterr().err
        with pytest.raises(FileNotFoundError):
            nbcfast.verify("")
        with pytest.raises(SystemExit, match="2"):
            cli.main(["verify", ""])
        assert "got an empty text" in capsys.readouterr().err

    def test_sentences_are_short_where_names_are_long(self, tmp_path, capsys):
        grouped(tmp_path)
        long = "A" * 100_000

        def twice(fields):
            fields["columns"][0]["cells"] += [[long, [["text", "x"]]], [long, [["text", "y"]]]]

        rewritten(tmp_path, twice)
        code, printed = said(tmp_path, capsys)
        found = nbcfast.verify(tmp_path)
        assert (code, found.exit_code) == (1, 1)
        assert found.checks[0].text in printed
        assert "characters) .. AAAA" in printed
        assert max(len(printed), len(repr(found)), len(json.dumps(found.to_dict()))) < 11_000

    def test_so_are_those_about_rows(self, tmp_path, capsys):
        disclosed(tmp_path)
        long = "A" * 100_000

        def renamed(fields):
            fields["columns"][0]["name"] = long
            fields["masked"] = [long]
            fields["templates"][0]["quasi"] = [long]

        lines = (tmp_path / "table.csv").read_text().splitlines()
        with_table(tmp_path, renamed, lines[0].replace("job", long), *lines[1:])
        code, printed = said(tmp_path, capsys)
        found = nbcfast.verify(tmp_path)
        assert (code, found.exit_code) == (0, 0), printed[-500:]
        assert {check.text for check in found.checks} <= {line[20:] for line in printed.splitlines()}
        assert max(len(printed), len(repr(found))) < 30_000


def claims(folder, capsys):
    """What both verifiers say is a claim, of what they verify."""
    _, printed = said(folder, capsys)
    found = nbcfast.verify(folder)
    head = f"{verify_release.CLAIMED} "
    lines = [line[len(head) :] for line in printed.splitlines() if line.startswith(head)]
    assert "NO " not in printed
    assert set(found.claims) <= set(lines)
    return found.claims


class TestCanonical:
    """That a release says nothing but answers does not hold of what its publisher was free to say."""

    def test_names_values_and_their_order_are_claims(self, tmp_path, capsys):
        views = Viewset(
            [50, 90],
            {"age": [[5, 20], [20, 30], [12, 30], [13, 10]], "a b": [[12, 30], [20, 20], [18, 40]]},
            classes=["ill", "well"],
            domains={"age": [18, 19, 20, 7], "a b": ["f", "m;", None]},
        )
        canonical.release(views, "4.0000001", class_name="y").save(tmp_path)
        assert claims(tmp_path, capsys)[-2] == (
            "The limit 40000001/10000000, and these names and values in this order, were chosen by the "
            'publisher, and are no answers of the classifier: age: 18 .. 20, 7; "a b": f, "m;", null; the '
            "class y: ill, well."
        )
        assert nbcfast.verify(tmp_path).exit_code == 0

    def test_other_releases_are_no_answers_at_all(self, tmp_path, capsys):
        fewer(tmp_path)
        assert not [text for text in claims(tmp_path, capsys) if "no answers of the classifier" in text]

    def test_ends_of_intervals_are_short(self, tmp_path, capsys):
        released(tmp_path)
        ends = ["0/1", f"1/{hex(2**3000)}", None]

        def as_intervals(fields):
            low, middle, high = ends
            fields["attributes"][0]["values"] = [["interval", low, middle], ["interval", middle, high]]

        rewritten(tmp_path, as_intervals)
        refused(tmp_path, capsys, "attribute 'job': beyond what an end of an interval may carry")

    def test_points_of_too_many_attributes_are_judged_by_the_script(self, tmp_path, capsys):
        views = Viewset([10, 10], {"a": [[9, 1], [1, 9]]}, domains={"a": [0, 1]})
        canonical.release(views, 100).save(tmp_path)

        def widen(fields):
            for number in range(4096):
                name = f"b{number}"
                entry = {"name": name, "values": [["int", "0"]], "counts": [fields["class_counts"]]}
                fields["attributes"].append(entry)
                fields["canonical"]["points"].append([[0]])

        rewritten(tmp_path, widen)
        found = nbcfast.verify(tmp_path)
        assert {check.name: check.passed for check in found.checks}["scorecard"] is True
        made = found.release

        def swap(fields):
            fields["canonical"]["points"][0].reverse()

        rewritten(tmp_path, swap)
        refused(tmp_path, capsys, "points and counts decide differently on the 2 tuples")
        with pytest.raises(ValueError, match="points and counts decide differently"):
            nbcfast.load(tmp_path)
        its = made.certificate.canonical
        wrong = replace(its, points=(its.points[0][::-1], *its.points[1:]))
        with pytest.raises(ValueError, match="not saved: points and counts decide differently"):
            replace(made, certificate=replace(made.certificate, canonical=wrong)).save(tmp_path / "b")


class TestTables:
    """What stands beside the rows of a table."""

    def test_the_same_knowledge_has_one_confidence(self, tmp_path, capsys):
        grouped(tmp_path)
        rewritten(tmp_path, lambda fields: fields.update(points=[[0, 0, 0, "1/1"], [0, 0, 0, "9/10"]]))
        refused(tmp_path, capsys, "field 'points': expected one confidence for each l, k and m, got two")

    def test_of_two_the_library_keeps_the_smaller(self, tmp_path):
        points = [(0, 0, 0, 1), (0, 1, 0, 1), (0, 0, 0, "9/10")]
        made = skyline.anonymize(Table(PEOPLE), ["job"], "ill", points)
        assert made.demands.points == ((0, 0, 0, Fraction(9, 10)), (0, 1, 0, 1))
        made.save(tmp_path)
        assert nbcfast.verify(tmp_path).ok

    def test_the_same_inference_has_one_limit(self, tmp_path, capsys):
        quasi = ["job", "age"]
        disclose(Table(PEOPLE), [Template(quasi, ("ill", "y"), 1)], utility="distortion").save(tmp_path)

        def again(fields):
            (template,) = fields["templates"]
            fields["templates"].append({**template, "quasi": template["quasi"][::-1]})

        rewritten(tmp_path, again)
        refused(tmp_path, capsys, "field 'templates': expected one limit for each inference, got one twice")

    def test_a_partition_lists_no_cell_that_no_row_has(self, tmp_path, capsys):
        grouped(tmp_path)
        text = "Anna is ill"
        rewritten(tmp_path, lambda fields: fields["columns"][0]["cells"].append([text, [["text", text]]]))
        refused(tmp_path, capsys, f"no row has the cell '{text}' of job")

    @pytest.mark.parametrize("kind", ["partition", "disclosure", "disguised"])
    def test_values_that_no_row_has_are_claims(self, kind, tmp_path, capsys):
        domain = ["n", "y", "a b"]
        table = Table(PEOPLE, domains={"ill": domain})
        if kind == "partition":
            skyline.anonymize(table, ["job"], "ill", k=2).save(tmp_path)
        elif kind == "disclosure":
            disclose(table, [Template(["job"], ("ill", "y"), "3/4")], "age").save(tmp_path)
        else:
            scheme = response.Scheme.per_attribute("0.8", ["sure"], domains={"sure": [0, 1]})
            table = Table({"ill": PEOPLE["ill"], "sure": [0, 1] * 4}, domains={"ill": domain})
            response.disguise(table, scheme).save(tmp_path)
        sentence = 'ill may have values that no row has: "a b".'
        assert sentence in claims(tmp_path, capsys)

    def test_names_of_sets_are_claims(self, tmp_path, capsys):
        tree = {"all of them": ["a", "b", "c"]}
        made = skyline.anonymize(Table(PEOPLE), ["job", "age"], "ill", k=8, hierarchies={"job": tree})
        made.save(tmp_path)
        assert 'Sets of values of job are called "all of them".' in claims(tmp_path, capsys)

    def test_of_sets_without_a_name_there_are_none(self, tmp_path, capsys):
        skyline.anonymize(Table(PEOPLE), ["job", "age"], "ill", k=8).save(tmp_path)
        assert claims(tmp_path, capsys) == ()


class TestCuts:
    """Points and values at which answers were cut in two."""

    @pytest.fixture
    def saved(self, tmp_path):
        table = {"age": [17, 25, 90], "job": ["b", "a", "c d"]}
        points = response.cuts(table)
        scheme = response.Scheme.per_attribute("0.8", ["age", "job"])
        response.disguise(response.binarise(table, points), scheme).save(tmp_path, cuts=points)
        return tmp_path

    def test_they_are_printed_in_full(self, saved, capsys):
        found = claims(saved, capsys)
        assert "Before it was disguised, age was cut in two: a 1 stands for a number above 53.5." in found
        sentence = 'job was cut in two: a 1 stands for "c d", and a 0 for a, b.'
        assert f"Before it was disguised, {sentence}" in found

    @pytest.mark.parametrize(
        ("name", "cut", "words"),
        [
            ("age", {"point": f"{'7' * 39}.5", "values": []}, "beyond what a limit may carry"),
            ("age", {"point": f"1/1{'0' * 37}1", "values": []}, "beyond what a limit may carry"),
            ("age", {"point": "107/2", "values": []}, "expected 53.5 for 'age', got 107/2"),
            (
                "job",
                {"point": "1", "values": ["b", "a", "c d"]},
                "expected the values of 'job' in their order",
            ),
            ("job", {"point": "1", "values": ["a" * 5000, "b" * 5000]}, "of up to 8,000 characters"),
        ],
    )
    def test_others_are_refused(self, saved, capsys, name, cut, words):
        rewritten(saved, lambda fields: fields["cuts"].update({name: cut}))
        fields = json.loads((saved / "certificate.json").read_text())
        (saved / "cuts.json").write_bytes(verify_release.copy_of(fields["cuts"]))
        refused(saved, capsys, words)

    def test_days_stand_in_the_order_of_time(self, tmp_path):
        table = {"day": ["10000-01-01", "2000-01-01", "-100-01-01"]}
        points = response.cuts(table)
        assert points["day"].values == ("-100-01-01", "2000-01-01", "10000-01-01")
        scheme = response.Scheme.per_attribute("0.8", ["day"])
        response.disguise(response.binarise(table, points), scheme).save(tmp_path, cuts=points)
        assert nbcfast.verify(tmp_path).ok


def test_long_products_are_counted_as_what_they_cost(tmp_path, monkeypatch):
    skyline.anonymize(Table(PEOPLE), ["job"], "ill", [(0, 0, 0, 1)]).save(tmp_path)
    points = [[0, 0, m, "1/1"] for m in (0, 65, 66)]
    rewritten(tmp_path, lambda fields: fields.update(points=points))
    document = verify_release.parse_any((tmp_path / "certificate.json").read_bytes())
    rows, _ = verify_release.judge_any(document, str(tmp_path))
    groups = list(verify_release.histograms(rows).values())
    size = verify_release.GroupExtremes(groups, 0).size
    monkeypatch.setattr(verify_release, "MOST_WEIGHED", 2 + 30 * size)
    _, results = verify_release.judge_any(document, str(tmp_path))
    texts = {name: text for name, _, text in results}
    assert verify_release.TOO_MANY not in (texts["(0, 0, 0)"], texts["(0, 0, 65)"])
    assert texts["(0, 0, 66)"] == verify_release.TOO_MANY


def test_rows_are_counted_over_all_templates(tmp_path, monkeypatch):
    templates = [Template([name], ("ill", value), 1) for name in ("job", "age", "sex") for value in "yn"]
    disclose(Table({**PEOPLE, "sex": list("ffmmffmm")}), templates, utility="distortion").save(tmp_path)
    monkeypatch.setattr(verify_release, "MOST_MATCHED", 0)
    document = verify_release.parse_any((tmp_path / "certificate.json").read_bytes())
    found = {name: holds for name, holds, _ in verify_release.judge_any(document, str(tmp_path))[1]}
    assert [found[f"template {number}"] for number in range(1, 7)] == [True] * 4 + [None] * 2
