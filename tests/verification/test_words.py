"""The words of a certificate are those that go with its fields, or are refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from both_verifiers import in_both
from folder_cases import rewritten
from verdict_cases import PEOPLE, PUBLISHED, SCHEME, said

import nbcfast
from nbcfast import Certificate, Release, Table, Viewset, canonical, response, skyline, verify_release


@pytest.fixture(params=PUBLISHED)
def published(request, tmp_path):
    PUBLISHED[request.param]().save(tmp_path)
    return request.param, tmp_path


class TestWords:
    """Notes and warnings are the list that goes with the fields."""

    def test_as_they_were_written_they_hold(self, published, capsys):
        kind, folder = published
        found = nbcfast.verify(folder)
        assert all(check.passed is not False for check in found.checks), found
        code, printed = said(folder, capsys)
        script = 3 if kind in ("canonical", "accepted", "smoothed", "bits", "listed") else 0
        assert code == script, printed
        first, last = (line for line in printed.splitlines() if line.startswith(("verified", "not ")))
        assert first.startswith({0: "verified", 3: "not fully checked"}[script])
        assert last == first

    @pytest.mark.parametrize("name", ["notes", "warnings"])
    @pytest.mark.parametrize(
        "change",
        [
            lambda texts: [*texts, "This release is differentially private."],
            lambda texts: ["Audited.", *texts],
            lambda texts: texts[1:] if texts else ["Checked by the Commission."],
            lambda texts: texts[::-1] if texts[::-1] != texts else [*texts, *texts, ""],
            lambda texts: [text.replace("not", "now") for text in texts] if texts else [""],
        ],
    )
    def test_others_are_refused(self, published, capsys, name, change):
        _, folder = published
        before = json.loads((folder / "certificate.json").read_text())[name]
        if change(before) == before:
            before = ["no"]
        rewritten(folder, lambda fields: fields.update({name: change(before)}))
        found = nbcfast.verify(folder)
        assert (found.ok, found.verdict, found.exit_code) == (False, "not verified", 1)
        code, printed = said(folder, capsys)
        assert code == 1
        assert printed.splitlines()[-1] == "not verified"
        with pytest.raises(ValueError, match=r"expected|says in words"):
            nbcfast.load(folder)

    def test_a_version_is_no_place_for_digits_of_the_data(self, published, capsys):
        """A canonical release is compared but for its version, which had room for 140 bits."""
        assert nbcfast.__version__ in verify_release.VERSIONS
        _, folder = published
        rewritten(folder, lambda fields: fields.update(version="314159.265358.979323a846264"))
        found = nbcfast.verify(folder)
        assert (found.verdict, found.exit_code) == ("not fully checked", 3)
        assert "?    version       314159.265358.979323a846264 is none that this verifier knows" in repr(
            found
        )
        assert verify_release.main([str(folder)]) == 3
        assert "?    version        314159.265358.979323a846264 is none that" in capsys.readouterr().out

    def test_a_version_is_no_place_for_a_sentence(self, published, capsys):
        _, folder = published
        rewritten(folder, lambda fields: fields.update(version="1.0 (audited by the Commission)"))
        found = nbcfast.verify(folder)
        assert "field 'version': expected one such as 1.2.3" in repr(found)
        assert (found.exit_code, said(folder, capsys)[0]) == (1, 1)

    def test_a_warning_made_by_hand_is_not_saved(self, tmp_path):
        views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]})
        calm = Certificate(amplification=4, tuples=2, warnings=("Nothing to see here.",))
        with pytest.raises(ValueError, match="not saved: field 'warnings': expected those that go with"):
            Release(views, calm).save(tmp_path / "out")
        with pytest.raises(ValueError, match=r"not saved: field 'warnings'.* got none more"):
            Release(views, replace(calm, warnings=())).save(tmp_path / "out")
        assert not (tmp_path / "out").exists()
        Release(views, replace(calm, warnings=calm.warned)).save(tmp_path / "out")
        assert Certificate(amplification=4, tuples=2).warnings == (verify_release.UNKNOWN,)


MANY = {  # each with two notes or warnings at least, so that one can be removed, and two can change places
    "undeclared": lambda: canonical.release(nbcfast.count(Table(PEOPLE).select(["job", "ill"]), "ill"), 4),
    "partition": lambda: skyline.anonymize(Table(PEOPLE), ["job"], "ill", k=1, diversity=(2, 1), closeness=1),
    "disguised": lambda: response.disguise(
        {"a": [0, 1] * 4, "b": [0, 1] * 4, "c": [1, 0] * 4, "d": [1, 0] * 4, "e": ["x"] * 8},
        response.Scheme("0.8", [["a", "b"], ["c", "d"]]),
    ),
}


@pytest.mark.parametrize("kind", MANY)
class TestSeveralWords:
    """Where there are several sentences, none may be left out, moved, doubled or put into the other list."""

    @pytest.fixture
    def folder(self, kind, tmp_path):
        MANY[kind]().save(tmp_path)
        return tmp_path

    def test_as_they_were_written_they_hold(self, folder, capsys):
        found = nbcfast.verify(folder)
        assert all(check.passed is not False for check in found.checks), found
        assert said(folder, capsys)[0] in (0, 3)

    @pytest.mark.parametrize(
        "change",
        [
            lambda texts: texts[1:],
            lambda texts: texts[:-1],
            lambda texts: texts[::-1],
            lambda texts: [*texts[:1], *texts],
            lambda texts: [*texts[:1], "Nothing to see here.", *texts[1:]],
            lambda texts: [" ".join(texts)],
            lambda texts: [],
        ],
    )
    def test_others_are_refused(self, folder, capsys, change):
        path = folder / "certificate.json"
        before = path.read_text()
        fields = json.loads(before)
        names = [name for name in ("notes", "warnings") if len(fields[name]) > 1]
        assert names
        for name in names:
            path.write_text(before)
            assert change(fields[name]) != fields[name]
            rewritten(folder, lambda found, name=name: found.update({name: change(found[name])}))
            assert nbcfast.verify(folder).exit_code == 1
            assert said(folder, capsys)[0] == 1
            with pytest.raises(ValueError, match=r"expected|says in words|words"):
                nbcfast.load(folder)

    def test_notes_are_no_warnings(self, folder, capsys):
        def change(fields):
            fields["notes"], fields["warnings"] = fields["warnings"], fields["notes"]

        rewritten(folder, change)
        assert (nbcfast.verify(folder).exit_code, said(folder, capsys)[0]) == (1, 1)


class TestNotesAndWarnings:
    """What a recipient has to know is printed by both, the warnings below the verdict."""

    NOT_PRIVATE = ("safetytransform", "est", "partition", "disclosure", "canonical", "bits")

    @pytest.mark.parametrize("kind", PUBLISHED)
    def test_both_print_them(self, in_full, tmp_path, capsys, kind):
        PUBLISHED[kind]().save(tmp_path)
        fields = json.loads((tmp_path / "certificate.json").read_text())
        found = nbcfast.verify(tmp_path)
        assert set(found.notes) | set(found.claims) >= set(fields["notes"])
        assert not set(found.words) & set(found.claims)
        assert (kind in self.NOT_PRIVATE) <= any(
            "is not differential privacy" in text for text in found.notes
        )
        assert found.to_dict()["notes"] == list(found.notes)
        assert found.to_dict()["warnings"] == list(found.warnings)
        for printed in (said(tmp_path, capsys)[1], in_full("verify", tmp_path)[1], repr(found)):
            lines = [line.strip() for line in printed.splitlines()]
            for text in fields["notes"]:
                both = [f"note: {text}", f"{verify_release.CLAIMED} {text}"]
                assert sum(lines.count(line) for line in both) == 1
            below = [f"warning: {text}" for text in found.warnings]
            assert lines[len(lines) - len(below) :] == below
            assert sum(line.startswith("warning:") for line in lines) == len(below)

    @pytest.mark.parametrize("lie", [None, "each"])
    def test_a_coin_for_several_columns_is_warned_of(self, run, tmp_path, capsys, lie):
        """What is told of such a group for sure has no epsilon, however random its coin."""
        table = {"a": [0, 1, 1, 0] * 4, "b": [0, 1] * 8, "c": [0, 0, 1, 1] * 4}
        scheme = response.Scheme("0.8", [["a", "b"], ["c"]])
        if lie is not None:
            domains = {name: [0, 1, 2] for name in "abc"}
            scheme = response.KaryScheme("0.8", domains, groups=[["a", "b"], ["c"]], lie=lie)
        response.disguise(table, scheme).save(tmp_path)
        (warning,) = json.loads((tmp_path / "certificate.json").read_text())["warnings"]
        assert warning.startswith("a, b: not epsilon-LDP for any epsilon: ")
        assert ("whether two columns agree is published for every pair" in warning) == (lie is None)
        for printed in (said(tmp_path, capsys)[1], run("verify", tmp_path, "--verbose")[1]):
            lines = [line for line in printed.splitlines() if line]
            assert lines[-1] == f"warning: {warning}"
            assert lines[-2].startswith("verified: what the files can show; ")
            assert lines[-2].endswith("; mind the warning below")
            (line,) = (line for line in lines if line.split()[:2] in (["yes", "privacy"], ["ok", "privacy"]))
            assert " as the certificate says, a, b: not epsilon-LDP for any epsilon; c: " in line
        assert nbcfast.verify(tmp_path).warnings == (warning,)

    def test_a_note_that_says_what_is_not_decided_is_a_claim(self, tmp_path, capsys, monkeypatch):
        for kind, sentence in (
            ("safetytransform", verify_release.GUARANTEE),
            ("disclosure", verify_release.DISCLOSURE),
        ):
            PUBLISHED[kind]().save(tmp_path / kind)
            note, claim = f"note: {sentence}", f"{verify_release.CLAIMED} {sentence}"
            code, printed = said(tmp_path / kind, capsys)
            assert (code, note in printed, claim in printed) == (0, True, False)
        for name in ("MOST_RATIOS", "MOST_MATCHED", "SOME_TIMES"):
            in_both(monkeypatch, name, 0)
        monkeypatch.setattr("nbcfast.published.limits.MOST_QUOTIENTS", 0)
        for kind, sentence in (
            ("safetytransform", verify_release.GUARANTEE),
            ("disclosure", verify_release.DISCLOSURE),
        ):
            found = nbcfast.verify(tmp_path / kind)
            assert (found.exit_code, sentence in found.claims, sentence in found.notes) == (3, True, False)
            code, printed = said(tmp_path / kind, capsys)
            assert (code, f"note: {sentence}" in printed) == (3, False)
            assert f"{verify_release.CLAIMED} {sentence}" in printed

    def test_words_that_another_check_refuses_are_not_printed(self, tmp_path, capsys):
        PUBLISHED["partition"]().save(tmp_path)
        rewritten(tmp_path, lambda fields: fields.update(warnings=["All is well."]))
        found = nbcfast.verify(tmp_path)
        assert (found.verdict, found.words) == ("not verified", ())
        assert "warning: All is well." not in said(tmp_path, capsys)[1].splitlines()

    @pytest.mark.parametrize("kind", ["partition", "disclosure"])
    def test_nothing_is_drawn_for_the_canonical_order(self, tmp_path, capsys, kind):
        """So no writer says that a seed was given for it."""
        made = PUBLISHED[kind]()
        with pytest.raises(ValueError, match="rng goes with order='shuffled'"):
            made.save(tmp_path, rng=np.random.default_rng(3))
        made.save(tmp_path)
        rewritten(tmp_path, lambda fields: fields.update(seeded=True))
        found = nbcfast.verify(tmp_path)
        assert found.exit_code == 1
        text = "field 'seeded': expected false, as nothing is drawn for the canonical order, got true"
        assert [check.text for check in found.checks] == [text]
        code, printed = said(tmp_path, capsys)
        assert code == 1
        assert text in printed

    @pytest.mark.parametrize("kind", ["binary", "each", "tuple"])
    def test_coins_are_judged_and_not_the_answers(self, tmp_path, capsys, kind):
        """In a small table all answers may happen to be true, and no file shows it."""
        table = {"smokes": ["yes", "no"], "drinks": ["no", "yes"]}
        domains = {name: ["no", "yes"] for name in table}
        scheme = response.Scheme.per_attribute("0.8", list(table), domains=domains)
        if kind != "binary":
            scheme = response.KaryScheme("0.8", domains, lie=kind)
        made = (response.disguise(table, scheme, rng=np.random.default_rng(seed)) for seed in range(100))
        told = next(one for one in made if (*one.codes("smokes"), *one.codes("drinks")) == (1, 0, 0, 1))
        told.save(tmp_path)
        text = "no theta makes it certain that a column's answers are true, or the opposite of the truth"
        (check,) = (check for check in nbcfast.verify(tmp_path).checks if check.name == "hidden")
        assert (check.passed, check.text) == (True, text)
        assert f"yes  hidden         {text}" in said(tmp_path, capsys)[1].splitlines()

    @pytest.mark.parametrize(
        ("sizes", "shown"), [((2, 3), "a"), ((3, 2), "b"), ((2, 2), "a, b"), ((3, 3), "")]
    )
    def test_a_lie_of_two_values_is_the_truth_beside_others_too(self, tmp_path, capsys, sizes, shown):
        """At theta = 0 each column of the group lies, and one of two values has but one lie."""
        domains = {name: list(range(size)) for name, size in zip("ab", sizes, strict=True)}
        scheme = response.KaryScheme("0", domains, groups=[["a", "b"]], lie="each")
        assert ", ".join(scheme.exposed) == shown
        response.disguise({"a": [0, 1, 1], "b": [0, 0, 1]}, scheme).save(tmp_path)
        (check,) = (check for check in nbcfast.verify(tmp_path).checks if check.name == "hidden")
        assert check.passed is not bool(shown)
        assert bool(shown) == check.text.startswith(f"nothing is hidden of {shown}: ")
        code, printed = said(tmp_path, capsys)
        assert (code, check.text in printed) == (int(bool(shown)), True)

    def test_coins_with_a_seed_are_not_said_to_hide(self, tmp_path, capsys):
        made = response.disguise(Table(PEOPLE).select(["ill", "job"]), SCHEME, rng=np.random.default_rng(3))
        made.save(tmp_path)
        found = nbcfast.verify(tmp_path)
        assert (found.exit_code, found.notes, found.claims) == (1, (), ())
        assert "Each answer was disguised" not in said(tmp_path, capsys)[1]
