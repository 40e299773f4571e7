"""The scheme and the cuts beside disguised answers are those of their certificate."""

import json
import os
import pickle

import pytest
from folder_cases import NAMES, PEOPLE, SAVED, SCHEME, check, rewritten

import nbcfast
from nbcfast import Table, response
from nbcfast.response import Scheme


class TestScheme:
    """Copies of parts of the certificate of disguised answers."""

    @pytest.fixture
    def told(self, tmp_path):
        SAVED["disguised"](tmp_path / "told")
        return tmp_path / "told"

    @pytest.fixture
    def cut(self, tmp_path):
        points = response.cuts(PEOPLE, ["age", "ill"])
        table = response.binarise(Table(PEOPLE), points)
        response.disguise(table, Scheme.per_attribute("0.8", ["age", "ill"])).save(
            tmp_path / "cut", cuts=points
        )
        return tmp_path / "cut"

    def test_loaded_answers_keep_where_they_were_cut(self, cut, tmp_path):
        found = nbcfast.load(cut)
        assert found.cuts == response.cuts(PEOPLE, ["age", "ill"])
        again = pickle.loads(pickle.dumps(found))
        assert again.cuts == found.cuts
        for answers in (found, again):
            answers.save(tmp_path / "again", overwrite=True)
            assert sorted(os.listdir(tmp_path / "again")) == sorted(os.listdir(cut))
            for path in cut.iterdir():
                assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
        found.save(tmp_path / "none", cuts={})
        assert nbcfast.load(tmp_path / "none").cuts == {}
        assert not (tmp_path / "none" / "cuts.json").exists()

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text.replace("2/3", "1/1"),
            lambda text: text.replace('"theta": "2/3"', '"theta": "2/3", "theta": "1/1"'),
            lambda text: text.replace('"theta": "2/3"', '"theta": "1/1", "theta": "2/3"'),
            lambda text: text + "\n",
            lambda text: json.dumps(json.loads(text)),
            lambda text: "",
            lambda text: "\ufeff" + text,
            lambda text: "[" * 100_000,
        ],
    )
    def test_another_one_is_refused(self, run, told, script, tmp_path, change):
        path = told / "scheme.json"
        path.write_text(change(path.read_text()))
        found = nbcfast.verify(told)
        assert (found.exit_code, check(found, "scheme").passed) == (1, False)
        text = "scheme.json is not the scheme of the certificate: do not answer by it"
        assert check(found, "scheme").text == text
        code, lines = script(told)
        assert code == 1
        assert f"NO   scheme         {text}" in lines
        with pytest.raises(ValueError, match=r"scheme: scheme.json is not the scheme of the certificate"):
            nbcfast.load(told)
        for given in (path, told, str(told) + "/"):
            with pytest.raises(ValueError, match=r"expected the scheme.json of the certificate beside it"):
                response.load_scheme(given)
        (tmp_path / "next.csv").write_text("ill\nyes\nno\n")
        code, _, errors = run(
            "response", "disguise", tmp_path / "next.csv", "--scheme", path, "--out", tmp_path / "next"
        )
        assert code == 2
        assert errors.endswith("expected the scheme.json of the certificate beside it, byte for byte\n")
        assert not (tmp_path / "next").exists()

    def test_that_of_the_certificate_is_read(self, told, script, tmp_path):
        assert response.load_scheme(told) == response.load_scheme(told / "scheme.json")
        assert response.load_scheme(told).groups == SCHEME.groups
        assert check(nbcfast.verify(told), "scheme").text == "scheme.json is the scheme of the certificate"
        (told / "scheme.json").rename(tmp_path / "alone.json")
        assert response.load_scheme(tmp_path / "alone.json").groups == SCHEME.groups
        assert nbcfast.verify(told).ok  # answers alone are whole
        assert script(told)[0] == 0
        with pytest.raises(FileNotFoundError):
            response.load_scheme(told)

    def test_one_beside_something_else_is_read(self, tmp_path):
        SAVED["release"](tmp_path)
        SCHEME.save(tmp_path / "scheme.json")
        assert response.load_scheme(tmp_path) == SCHEME
        (tmp_path / "certificate.json").write_text("{}")
        with pytest.raises(ValueError, match=r"certificate.json: field"):
            response.load_scheme(tmp_path)

    def test_cuts_are_those_of_the_certificate(self, run, cut, script, tmp_path):
        found = nbcfast.verify(cut)
        assert found.ok, found
        assert check(found, "cuts").text == "cuts.json is the cuts of the certificate"
        claim = "Before it was disguised, age was cut in two: a 1 stands for a number above 41."
        assert claim in found.claims
        assert f"the publisher claims, unchecked: {claim}" in script(cut)[1]
        path = cut / "cuts.json"
        (tmp_path / "next.csv").write_text("age,ill\n30,yes\n52,no\n")
        arguments = [
            "response",
            "disguise",
            tmp_path / "next.csv",
            "--scheme",
            cut / "scheme.json",
            "--cuts",
            path,
        ]
        assert run(*arguments, "--out", tmp_path / "next")[0] == 0
        assert (tmp_path / "next" / "cuts.json").read_bytes() == path.read_bytes()
        path.write_text(path.read_text().replace('"41"', '"99"'))
        assert "99" in path.read_text()
        found = nbcfast.verify(cut)
        assert (found.exit_code, check(found, "cuts").passed, script(cut)[0]) == (1, False, 1)
        code, _, errors = run(*arguments, "--out", tmp_path / "other")
        assert (code, "expected the cuts.json of the certificate beside it" in errors) == (2, True)
        with pytest.raises(ValueError, match=r"cuts: cuts.json is not the cuts of the certificate"):
            nbcfast.load(cut)

    def test_cuts_that_no_certificate_names_are_extra(self, run, cut, script, tmp_path):
        rewritten(cut, lambda fields: fields.pop("cuts"))
        found = nbcfast.verify(cut)
        assert (found.exit_code, script(cut)[0]) == (1, 1)
        assert check(found, "folder").text.endswith(': "cuts.json"')
        (tmp_path / "next.csv").write_text("age,ill\n30,yes\n")
        code, _, errors = run(
            *("response", "disguise", tmp_path / "next.csv", "--scheme", cut / "scheme.json"),
            *("--cuts", cut / "cuts.json", "--out", tmp_path / "other"),
        )
        assert (code, "names no cuts.json" in errors) == (2, True)

    def test_cuts_of_other_answers_do_not_stay(self, cut):
        response.disguise(Table(PEOPLE), SCHEME).save(cut, overwrite=True)
        assert sorted(os.listdir(cut)) == NAMES["disguised"]

    @pytest.mark.parametrize(
        "change",
        [
            {},
            [],
            {"age": {"point": "41", "values": []}, "x": {"point": "1", "values": []}},
            {"age": {"point": "41", "values": [], "note": "audited"}},
            {"age": {"point": "audited by the Commission", "values": []}},
            {"age": {"point": "041", "values": []}},
            {"age": {"point": "1" * 2000, "values": []}},
            {"age": {"point": "0.5", "values": ["no", "no"]}},
            {"age": {"point": "0.5", "values": ["no", 1]}},
            {"age": {"point": "0.5", "values": [["no"], ["yes"]]}},
            {"age": {"point": "2", "values": ["no", "yes"]}},
            {"age": {"point": 41, "values": []}},
            {"age": None},
        ],
    )
    def test_cuts_of_another_form_are_refused(self, cut, script, change):
        rewritten(cut, lambda fields: fields.update(cuts=change))
        assert "field 'cuts': expected" in check(nbcfast.verify(cut), "file").text
        assert script(cut)[0] == 1

    def test_cuts_that_do_not_go_with_the_answers_are_not_saved(self, tmp_path):
        answers = response.disguise(Table(PEOPLE), SCHEME)
        with pytest.raises(ValueError, match="not saved: field 'cuts': expected columns of the scheme"):
            answers.save(tmp_path / "out", cuts=response.cuts(PEOPLE, ["ill"]))
        with pytest.raises(TypeError, match="cuts: expected a Cut for 'ill', got int"):
            answers.save(tmp_path / "out", cuts={"ill": 3})
        assert not (tmp_path / "out").exists()
