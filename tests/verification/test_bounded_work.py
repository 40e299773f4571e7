"""Small files cannot keep a verifier busy: work is counted, and what would take too long is not decided."""

import itertools
import json
import math
import random
import re
from fractions import Fraction

import gmpy2
import numpy as np
import pytest
from both_verifiers import in_both

import nbcfast
from nbcfast import Table, Viewset, _skyline, canonical, skyline, verify_release
from nbcfast._core.joint import plan
from nbcfast.closeness import est
from nbcfast.published import limits
from nbcfast.safety.ratios import Ratios
from nbcfast.skyline import deciding
from nbcfast.skyline.statistics import Statistics
from nbcfast.verification import checks
from nbcfast.verification import remade as answers

VIEWS = Viewset(
    [50, 90],
    {"job": [[9, 70], [41, 20]], "sex": [[12, 30], [20, 20], [18, 40]]},
    classes=["ill", "well"],
    domains={"job": ["a", "b"], "sex": ["f", "m", "x"]},
)
MORE = Viewset([50, 90, 33], {"job": [[9, 70, 13], [41, 20, 20]], "sex": [[12, 30, 3], [38, 60, 30]]})
NOT_DECIDED = verify_release.NOT_COMPARED


def number(integer):
    return integer if integer <= 2**53 else hex(integer)


def write(folder, class_counts, attributes, amplification, **more):
    """A certificate with these counts, whether they keep the limit or not; its folder."""
    fields = {
        "amplification": amplification,
        "attacker": "row",
        "attributes": [
            {
                "name": f"a{i}",
                "values": [["int", str(t)] for t in range(len(rows))],
                "counts": [[number(count) for count in row] for row in rows],
            }
            for i, rows in enumerate(attributes)
        ],
        "class_counts": [number(count) for count in class_counts],
        "class_name": None,
        "classes": [["int", str(c)] for c in range(len(class_counts))],
        "differing_rows": None,
        "differing_tuples": 0,
        "equivalence": "enumeration",
        "format": 1,
        "gauge": True,
        "identity": False,
        "kind": "release",
        "method": "safetytransform",
        "notes": list(verify_release.release_notes(False, True)),
        "preserve": "order",
        "tuples": number(math.prod(map(len, attributes))),
        "version": nbcfast.__version__,
        "warnings": [],
        **more,
    }
    save(folder, fields)
    return folder


def save(folder, fields):
    fields["sha256"] = verify_release.digest(fields)
    (folder / "certificate.json").write_text(verify_release.canonical_json(fields) + "\n")


def said(folder, capsys):
    """The exit code of the script, and its checks."""
    capsys.readouterr()
    code = verify_release.main([str(folder)])
    lines = capsys.readouterr().out.splitlines()
    return code, {line[5:20].strip(): line[20:] for line in lines if line[:4].strip() in ("yes", "NO", "?")}


def telescope(n, bits):
    """Counts of two classes with Lambda exactly 4, of which most factors stand above and below."""
    rng, least = random.Random(3), 3 << (bits - 3)
    between = [(1 << (bits - 1)) + rng.getrandbits(bits - 2) for _ in range(n - 1)]
    numbers = [4 * least, *sorted(between, reverse=True), least]
    whole = 1 << (bits + 6)
    rows = [[[x, y], [whole - x, whole - y]] for x, y in itertools.pairwise(numbers)]
    return [whole, whole], rows


class TestLambda:
    """The largest ratio of two classes' scores."""

    def test_exactly_at_the_limit_with_long_counts(self, tmp_path, capsys):
        write(tmp_path, *telescope(1000, 10_000), "4/1")
        code, checks = said(tmp_path, capsys)
        assert (code, checks["amplification"]) == (0, "Lambda <= 4 (exact product)")
        assert nbcfast.verify(tmp_path).exit_code == 0
        write(tmp_path, *telescope(100, 10_000), "1023/256")
        assert said(tmp_path, capsys)[0] == 1
        assert nbcfast.verify(tmp_path).exit_code == 1

    def test_factors_that_are_all_different_are_not_decided(self, tmp_path, capsys):
        rng, bits, n = random.Random(9), 1_000, 2_500
        p = 1 << (bits + 6)
        q = p + 12345678901234567
        numbers = [(1 << (bits - 1)) + rng.getrandbits(bits - 2) for _ in range(n)]
        rows = [[[a, a + (1 << 800)], [p - a, q - a - (1 << 800)]] for a in numbers]
        best = [max(gmpy2.mpq(y, x) for x, y in row) for row in rows]
        up = math.prod(gmpy2.mpz(one.numerator) for one in best) * gmpy2.mpz(p) ** (n - 1)
        down = math.prod(gmpy2.mpz(one.denominator) for one in best) * gmpy2.mpz(q) ** (n - 1)
        limit = (up << 120) // down + 1  # the least multiple of 2^-120 above
        write(tmp_path, [p, q], rows, f"{hex(limit | 1)}/{hex(1 << 120)}")
        code, checks = said(tmp_path, capsys)
        assert (code, checks["amplification"]) == (3, NOT_DECIDED)
        assert nbcfast.verify(tmp_path).exit_code == 0  # by faster products
        write(tmp_path, [p, q], rows, "5/4")
        assert said(tmp_path, capsys)[0] == 0

    def test_a_limit_of_millions_of_digits_is_not_read(self, tmp_path, capsys):
        write(tmp_path, [3, 3], [[[1, 1], [2, 2]]], f"{hex(3**100_000)}/{hex(2**100_000)}")
        sentence = "field 'amplification': beyond what a limit may carry: expected numbers of up to 38 digits"
        code, (text,) = said(tmp_path, capsys)[0], said(tmp_path, capsys)[1].values()
        assert (code, text[: len(sentence)]) == (1, sentence)
        found = nbcfast.verify(tmp_path)
        assert (found.exit_code, found.checks[0].text) == (1, text)
        with pytest.raises(ValueError, match="beyond what a limit may carry"):
            nbcfast.load(tmp_path)

    def test_a_prior_of_long_denominators(self, tmp_path, capsys):
        prior = [f"1/{hex(3**20_000 + 2 * c)}" for c in range(5)]
        views = Viewset([1] * 5, [[[1] * 5]])
        made = est(views, dict.fromkeys(range(5), "1/5"), 2)
        made.save(tmp_path)
        fields = json.loads((tmp_path / "certificate.json").read_text())
        fields["prior"] = prior
        save(tmp_path, fields)
        code, checks = said(tmp_path, capsys)
        sentence = "field 'prior': beyond what a limit may carry: expected numbers of up to 38 digits"
        assert (code, checks["file"][: len(sentence)]) == (1, sentence)
        assert nbcfast.verify(tmp_path).exit_code == 1

    @pytest.mark.parametrize("classes", [700, 5_000])
    def test_many_classes(self, tmp_path, capsys, classes):
        write(tmp_path, [3] * classes, [[[1] * classes, [2] * classes]], "4/1")
        code, checks = said(tmp_path, capsys)
        assert (code, checks["amplification"]) == (3, NOT_DECIDED)
        assert nbcfast.verify(tmp_path).exit_code == (3 if classes == 5_000 else 0)

    def test_load_and_save_decide_no_more_than_verify(self, tmp_path, monkeypatch):
        write(tmp_path, [3] * 5_000, [[[1] * 5_000, [2] * 5_000]], "4/1")
        monkeypatch.setattr(Ratios, "all_pairs", lambda self: pytest.fail("25 million pairs are compared"))
        sentence = f"Lambda of the counts: {NOT_DECIDED}"
        with pytest.raises(ValueError, match=re.escape(f"{tmp_path / 'certificate.json'}: {sentence}")):
            nbcfast.load(tmp_path)
        found = nbcfast.verify(tmp_path)
        assert found.exit_code == 3
        with pytest.raises(ValueError, match=re.escape(f"not saved: {sentence}")):
            found.release.save(tmp_path / "another")
        assert not (tmp_path / "another").exists()

    def test_load_and_save_decide_no_more_of_a_prior_than_verify(self, tmp_path, monkeypatch):
        made = est(Viewset([5, 5], [[[5, 5]]]), {0: "1/4", 1: "3/4"}, 2)
        made.save(tmp_path / "release")
        in_both(monkeypatch, "MOST_RATIOS", 30)  # those of Lambda, and not of the prior
        assert nbcfast.load(tmp_path / "release") == made  # by kernels
        monkeypatch.setattr(limits, "MOST_QUOTIENTS", 1)
        assert nbcfast.verify(tmp_path / "release").exit_code == 3
        sentence = f"the odds of the counts to those of the prior: {NOT_DECIDED}"
        with pytest.raises(ValueError, match=sentence):
            nbcfast.load(tmp_path / "release")
        with pytest.raises(ValueError, match=f"not saved: {sentence}"):
            made.save(tmp_path / "another")

    @pytest.mark.parametrize("name", ["MOST_MULTIPLIED", "MOST_QUOTIENTS", "MOST_FACTORS"])
    def test_kernels_do_counted_work_too(self, tmp_path, monkeypatch, name):
        write(tmp_path, [3, 3], [[[1, 1], [2, 2]]], "5/4")
        in_both(monkeypatch, "MOST_RATIOS", 0)
        assert nbcfast.verify(tmp_path).exit_code == 0
        monkeypatch.setattr(limits, name, 0)
        found = {check.name: check for check in nbcfast.verify(tmp_path).checks}["amplification"]
        assert (found.passed, found.text) == (None, NOT_DECIDED)

    @pytest.mark.parametrize("name", ["MOST_SHOWN", "MOST_PAIRS"])
    def test_lambda_is_worked_out_where_that_is_little(self, tmp_path, monkeypatch, name):
        write(tmp_path, [3, 3], [[[1, 1], [2, 2]]], "5/4")
        assert "Lambda = 1 <= 1.25" in repr(nbcfast.verify(tmp_path))
        monkeypatch.setattr(checks, name, 0)
        monkeypatch.setattr(checks, "amplification", lambda views: pytest.fail("it is worked out"))
        assert "Lambda <= 1.25" in repr(nbcfast.verify(tmp_path))

    def test_few_logarithms_are_taken(self, tmp_path, capsys, monkeypatch):
        limit = f"{hex(35 * 2**116 + 1)}/{hex(8 * 2**116)}"  # hardly above Lambda
        write(tmp_path, [9, 9], [[[4, 5], [5, 4]], [[2, 7], [7, 2]]], limit)
        in_both(monkeypatch, "MOST_MULTIPLIED", 0)
        code, found = said(tmp_path, capsys)
        assert (code, found["amplification"][-10:]) == (0, "(interval)")
        in_both(monkeypatch, "MOST_LOGARITHMS", 2)
        assert said(tmp_path, capsys)[1]["amplification"] == NOT_DECIDED

    def test_the_same_as_all_products(self):
        rng = random.Random(1)
        for _ in range(300):
            classes, n = rng.randint(2, 4), rng.randint(0, 4)
            most = rng.choice([3, 50, 2**60, 2**1200])
            arrays = [
                [[rng.randint(1, most) for _ in range(classes)] for _ in range(rng.randint(1, 3))]
                for _ in range(n)
            ]
            of_class = [rng.randint(1, most) for _ in range(classes)]
            made = type("Document", (), {"sharing": 1})()
            made.classes, made.class_counts, made.prior = list(range(classes)), of_class, None
            made.attributes = [("a", list(range(len(rows))), rows) for rows in arrays]
            truth = {}
            for c in range(classes):
                for d in range(classes):
                    odds = Fraction(of_class[c], of_class[d]) ** (1 - n)
                    for rows in arrays:
                        odds *= max(Fraction(row[c], row[d]) for row in rows)
                    if c != d:
                        truth[c, d] = odds
            largest = max(truth.values())
            for gap in (
                0,
                Fraction(1, 10**6),
                Fraction(-1, 10**6),
                Fraction(1, 2**400),
                Fraction(-1, 2**400),
            ):
                made.limit = largest * (1 + gap)
                pair, decided = verify_release.excess(made)
                assert (pair is None) == (largest <= made.limit)
                assert decided is not None
                assert pair is None or truth[pair] > made.limit


def with_single_values(folder, made, n):
    """A canonical release with n attributes more, each of one value."""
    made.save(folder)
    fields = json.loads((folder / "certificate.json").read_text())
    for i in range(n):
        counts = [fields["class_counts"]]
        fields["attributes"].append({"name": f"z{i}", "values": [["int", "0"]], "counts": counts})
        fields["canonical"]["points"].append([[0] * (len(fields["class_counts"]) - 1)])
    save(folder, fields)


class TestCanonical:
    """Points, and releases that are made again."""

    @pytest.mark.parametrize("views", [VIEWS, MORE])
    def test_three_thousand_attributes_of_one_value(self, tmp_path, capsys, views):
        with_single_values(tmp_path, canonical.release(views, 4), 3_000)
        code, checks = said(tmp_path, capsys)
        assert code == 3
        assert checks["scorecard"].startswith("points and counts decide alike on")
        found = {check.name: check for check in nbcfast.verify(tmp_path).checks}
        assert found["scorecard"].passed
        if views is VIEWS:
            assert found["canonical"].passed
        else:
            assert found["canonical"].passed is None
            assert "numbers would have to be found, and without the private views 1,500" in (
                found["canonical"].text
            )

    @pytest.mark.parametrize("views", [VIEWS, MORE])
    def test_more_attributes_than_are_looked_at_are_not_decided(self, tmp_path, capsys, views):
        with_single_values(tmp_path, canonical.release(views, 4), answers.MOST_ATTRIBUTES - 1)
        code, checks = said(tmp_path, capsys)
        assert code == 3
        assert checks["scorecard"].startswith("points and counts decide alike on")
        found = nbcfast.verify(tmp_path)
        assert found.exit_code == 3
        text = "not checked here: 4,097 attributes, and up to 4,096 are looked at"
        assert {(check.name, check.text) for check in found.checks if check.passed is None} == {
            ("canonical", text),
        }
        assert nbcfast.load(tmp_path) == found.release

    def test_a_list_of_tuples_of_many_attributes_is_looked_at_all_the_same(self, monkeypatch, tmp_path):
        tuples = {"job": ["a", "b"], "sex": ["f", "x"]}
        canonical.release(VIEWS, 4, tuples=tuples).save(tmp_path)
        monkeypatch.setattr(answers, "MOST_ATTRIBUTES", 1)
        assert nbcfast.verify(tmp_path, tuples=tuples).exit_code == 0

    def test_wrong_points_among_them_are_found(self, tmp_path, capsys):
        with_single_values(tmp_path, canonical.release(VIEWS, 4), 300)
        fields = json.loads((tmp_path / "certificate.json").read_text())
        fields["canonical"]["points"][200][0][0] = 99
        save(tmp_path, fields)
        assert said(tmp_path, capsys)[0] == 1
        assert nbcfast.verify(tmp_path).exit_code == 1

    @pytest.mark.parametrize(
        ("views", "name", "most"),
        [
            (VIEWS, "MOST_HALF", 1),
            (VIEWS, "MOST_VALUES", 4),
            (MORE, "MOST_LISTED", 11),
            (MORE, "MOST_MULTIPLIED", 10),
        ],
    )
    def test_tuples_beyond_counted_work_are_left_to_the_library(
        self, tmp_path, capsys, monkeypatch, views, name, most
    ):
        canonical.release(views, 4).save(tmp_path)
        tuples = 6 if views is VIEWS else 4
        assert said(tmp_path, capsys)[1]["scorecard"].startswith("points and counts decide alike")
        in_both(monkeypatch, name, most)
        text = f"not checked here: {tuples} tuples would take too long; nbcfast verify does it"
        assert said(tmp_path, capsys)[1]["scorecard"] == text
        assert nbcfast.verify(tmp_path).exit_code == 0

    def test_ties_of_long_products_are_not_decided(self, tmp_path, monkeypatch):
        canonical.release(VIEWS, 4).save(tmp_path)
        fields = json.loads((tmp_path / "certificate.json").read_text())
        for entry in fields["attributes"]:
            size = len(entry["counts"])
            entry["counts"] = [[6 // size] * 2] * size
        fields.update(class_counts=[6, 6])
        save(tmp_path, fields)
        document = verify_release.parse((tmp_path / "certificate.json").read_bytes())
        assert verify_release.scorecard(document)[0][1] is not None
        in_both(monkeypatch, "MOST_EXACT_BITS", 10)
        text = "not checked here: ties of 6 tuples would take too long"
        assert verify_release.scorecard(document) == [("scorecard", None, text)]

    def test_a_release_of_many_tuples_and_classes_is_not_made_again(self, tmp_path, monkeypatch):
        canonical.release(MORE, 4).save(tmp_path)
        assert nbcfast.verify(tmp_path).exit_code == 0
        monkeypatch.setattr(answers, "MOST_AGAIN", 3)
        found = {check.name: check for check in nbcfast.verify(tmp_path).checks}["canonical"]
        text = "not checked here: that is done up to 3 tuples for more than two classes"
        assert (found.passed, found.text) == (None, text)
        monkeypatch.setattr(answers, "MOST_AGAIN", 4)
        monkeypatch.setattr(answers, "MOST_SOLVED_OF_MANY", 0)
        found = {check.name: check for check in nbcfast.verify(tmp_path).checks}["canonical"]
        assert found.passed is None
        assert found.text.endswith("and without the private views 0 are")

    def test_points_that_are_too_long_to_add_up_are_left_open(self, tmp_path, monkeypatch):
        canonical.release(VIEWS, 4).save(tmp_path)
        monkeypatch.setattr(answers, "SHORT_BITS", 1)
        found = {check.name: check for check in nbcfast.verify(tmp_path).checks}["scorecard"]
        assert found.passed  # by the script, which adds integers of any length
        in_both(monkeypatch, "MOST_HALF", 1)  # which leaves it to the kernels
        found = {check.name: check for check in nbcfast.verify(tmp_path).checks}["scorecard"]
        assert (found.passed, found.text) == (None, answers.TOO_LONG)

    def test_more_than_can_be_solved_is_not_decided(self, tmp_path, monkeypatch):
        canonical.release(VIEWS, 4).save(tmp_path)
        monkeypatch.setattr(answers, "MOST_SOLVED", 1)
        found = {check.name: check for check in nbcfast.verify(tmp_path).checks}["canonical"]
        assert found.passed is None
        assert "numbers would have to be found, and without the private views 1 are" in found.text
        assert nbcfast.verify(tmp_path, VIEWS).exit_code == 0


class TestSkyline:
    """Much knowledge about many people."""

    def test_products_of_many_factors_are_within_their_bound(self):
        rng, out = random.Random(1), np.empty(1)
        with gmpy2.context(gmpy2.get_context(), precision=400):
            for _ in range(2_000):
                bits = rng.choice([15, 18, 25, 31, 40, 50, 60])
                c = rng.randrange(16_385, max(1 << bits, 16_400))
                m = rng.randrange(16_385, max(1 << rng.choice([15, 20, 30, bits]), 16_400))
                n = m + rng.choice([0, 1, 100, 5_000, rng.randrange(1 << bits), rng.randrange(1 << 60)])
                if n + c >= 1 << 61:
                    continue
                _skyline.falls(np.array([n]), np.array([c]), m, out)
                logs = [gmpy2.lgamma(gmpy2.mpfr(x) + 1)[0] for x in (n, n - m, n + c, n + c - m)]
                truth = gmpy2.exp(logs[0] - logs[1] - logs[2] + logs[3])
                if truth < 1e-290:
                    assert out[0] < 1e-280
                else:
                    assert abs(out[0] / truth - 1) < 2.0**-36

    GROUPS = skyline.Groups([[2**48] * 3_000])  # some 2^60 people

    def test_a_thousand_million_pieces_of_knowledge(self):
        for m in (10**9, 2**60 - 1, 2**70):
            assert skyline.check(self.GROUPS, [(0, 0, m, "999/1000")])[0].safe is False
        (report,) = skyline.check(self.GROUPS, [(1, 2, 30_000, "999/1000")])
        assert 0.5 < report.breach < 0.9
        near = Fraction(report.breach)
        for gap, safe in ((Fraction(-1, 10**8), False), (Fraction(1, 10**8), True)):
            for scale in (1, Fraction(1, 10**3)):  # by floats, and by bounds
                (found,) = skyline.check(self.GROUPS, [(1, 2, 30_000, near * (1 + gap * scale))])
                assert found.safe is safe

    def test_integers_or_bounds_decide_what_is_near(self, monkeypatch):
        groups = skyline.Groups([[50, 40, 30], [60, 60, 20]])
        monkeypatch.setattr(deciding, "BAND", 1.0)  # floats decide nothing
        points = [(l, k, m) for l in (0, 1) for k in (0, 3) for m in (1, 7, 15)]
        statistics = Statistics([0, 1])
        statistics.update(groups)
        for l, k, m in points:
            exact = deciding.worst(statistics, l, k, m, exact=True).exact
            breach = 1 / (1 + Fraction(int(exact.numerator), int(exact.denominator)))
            for gap in (Fraction(-1, 10**20), Fraction(0), Fraction(1, 10**20)):
                wanted = min(breach * (1 + gap), Fraction(1))
                by_integers = deciding.is_safe(statistics, l, k, m, wanted)
                assert by_integers == (breach < wanted)
                with monkeypatch.context() as few:
                    few.setattr(deciding, "FEW", 0)
                    assert deciding.is_safe(statistics, l, k, m, wanted) == by_integers

    def test_an_exact_breach_that_nobody_could_write_is_refused(self):
        with pytest.raises(ValueError, match="exact: a breach of more than 1,048,576 factors is too long"):
            skyline.check(self.GROUPS, [(0, 0, 2**21, "1/2")], exact=True)

    def test_many_points_of_a_table(self, tmp_path, capsys, monkeypatch):
        rows = {"job": ["a", "a", "b", "b", "c", "c"], "ill": ["y", "n", "n", "x", "n", "y"]}
        made = skyline.anonymize(Table(rows), ["job"], "ill", points=[(0, 0, 0, "9/10"), (0, 1, 0, 1)])
        made.save(tmp_path)
        fields = json.loads((tmp_path / "certificate.json").read_text())
        fields["points"] = [[l, 0, 0, "1/1"] for l in range(4000)]
        save(tmp_path, fields)
        in_both(monkeypatch, "MOST_WEIGHED", 100)
        code, checks = said(tmp_path, capsys)
        assert checks["(3999, 0, 0)"] == verify_release.TOO_MANY
        found = nbcfast.verify(tmp_path)
        assert code == found.exit_code
        assert {check.passed for check in found.checks} >= {None}


class TestInspect:
    """Tables of very many columns."""

    def test_too_many_columns(self, run, tmp_path):
        names = [f"c{i}" for i in range(40_000)]
        path = tmp_path / "wide.csv"
        path.write_text("\n".join([",".join(names), ",".join(["1"] * len(names))]))
        code, printed, complained = run("inspect", path, "--class", "c0")
        assert (code, printed) == (3, "")
        assert "40,000 columns, and up to 10,000 are looked at: name some with --columns" in complained
        assert run("inspect", path, "--class", "c0", "--columns", "c1,c2")[0] == 0

    def test_too_many_columns_of_parquet(self, run, tmp_path):
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        path = tmp_path / "wide.parquet"
        parquet.write_table(pa.table({f"c{i}": [1, 2] for i in range(10_001)}), path)
        assert run("inspect", path, "--class", "c0")[0] == 3

    def test_two_thousand_columns(self, run, tmp_path):
        names = [f"c{i}" for i in range(2_000)]
        path = tmp_path / "wide.csv"
        rows = [",".join("xy"[(i + j) % 3 % 2] for i in range(len(names))) for j in range(4)]
        path.write_text("\n".join([",".join(names), *rows]) + "\n")
        code, printed, _ = run("inspect", path, "--class", "c0")
        assert code == 0
        assert "999 more attributes: --json lists them all" in printed
        assert len(json.loads(run("inspect", path, "--class", "c0", "--json")[1])["attributes"]) == 1_999

    def test_plans_of_many_attributes_try_few_numbers_of_groups(self, monkeypatch):
        from nbcfast._core import joint as _plan

        tried, spread = [], _plan._spread
        monkeypatch.setattr(_plan, "_spread", lambda *given: tried.append(given[-1]) or spread(*given))
        options = {"most_entries": 10**6, "row_cost": 0.3, "entry_cost": 2.0}
        found = plan([2] * 50_000, 3, **options)
        assert len(tried) <= 2
        assert sorted(found.members.tolist()) == list(range(50_000))
