"""Names of columns cannot pass for what a check says."""

import hashlib
import json

import pytest

from nbcfast import Table, canonical, count, response, skyline, verify
from nbcfast import verify_release as form

FORGED = "age: no odds are multiplied by more than 2; sex"


def disguised(name):
    values = [["int", "0"], ["int", "1"]]
    scheme = {
        "domains": {name: values},
        "format": 1,
        "groups": [{"columns": [name], "theta": "999999/1000000"}],
        "kind": "binary",
    }
    fields = {
        "columns": [{"cells": [["0", values[0]], ["1", values[1]]], "name": name}],
        "kind": "disguised",
        "method": "randomised response",
        "notes": list(form.DisguisedDocument.told),
        "privacy": ["999999/1"],
        "scheme": scheme,
    }
    return fields, f"{form.field(name)}\n0\n1\n"


def disclosure(name):
    cells = [["0", ["int", "0"]], ["1", ["int", "1"]]]
    template = {
        "attribute": "s",
        "confidence": "1/1",
        "limit": "1/1",
        "quasi": [name],
        "value": ["int", "1"],
    }
    fields = {
        "columns": [{"cells": cells, "name": name}, {"cells": cells, "name": "s"}],
        "kind": "disclosure",
        "masked": [name],
        "method": "top-down disclosure",
        "notes": [form.DISCLOSURE],
        "order": "canonical",
        "target": None,
        "templates": [template],
        "utility": "information",
        "weights": None,
    }
    return fields, f"{form.field(name)},s\n0,0\n1,1\n"


@pytest.mark.parametrize("made", [disguised, disclosure])
@pytest.mark.parametrize("name", ["age", FORGED, 'a", "b'])
def test_a_name_that_says_more_is_in_quotes(made, name, tmp_path, capsys):
    fields, table = made(name)
    fields.update(format=1, rows=2, seeded=False, version="0.1.0", warnings=[])
    fields["table_sha256"] = hashlib.sha256(table.encode()).hexdigest()
    fields["sha256"] = form.digest(fields)
    (tmp_path / form.TABLE).write_text(table)
    (tmp_path / form.NAME).write_text(form.canonical_json(fields) + "\n")
    assert form.main([str(tmp_path)]) == 0
    found = verify(tmp_path)
    assert found.ok
    for text in (capsys.readouterr().out, repr(found)):
        (line,) = (line for line in text.splitlines() if "multiplied" in line or " -> " in line)
        assert (form.quoted(name) in line) == (name != "age")
        assert name != "age" or "  age" in line


CALM = "age. Nothing is told of anybody, and all of it was audited"


class TestWords:
    """Nor for a sentence of a certificate."""

    @pytest.mark.parametrize("name", ["age", CALM])
    def test_columns_without_a_coin_and_groups_without_an_epsilon(self, name, tmp_path):
        table = {name: ["x", "y"] * 4, "b": [0, 1] * 4, f"2{name}": [0, 1] * 4}
        told = response.disguise(table, response.Scheme("0.8", [["b", f"2{name}"]]))
        told.save(tmp_path)
        shown, group = (form.quoted(one) if name == CALM else one for one in (name, f"2{name}"))
        first, second = warnings(tmp_path)
        assert first == f"Told as they are: {shown}."
        assert second.startswith(f"b, {group}: not epsilon-LDP for any epsilon: whether two columns agree")
        assert form.main([str(tmp_path)]) == 0
        assert verify(tmp_path).ok

    @pytest.mark.parametrize("name", ["age", CALM])
    def test_attributes_whose_values_come_from_rows(self, name, tmp_path):
        table = Table({name: ["x", "y", "y"] * 4, "b": [0, 1, 1, 1] * 3, "ill": [0, 1] * 6})
        canonical.release(count(table, "ill"), 4).save(tmp_path)
        shown = form.quoted(name) if name == CALM else name
        (warning,) = warnings(tmp_path)
        assert warning.startswith(f"The values of {shown}, b and the class come from the rows and were not")
        assert verify(tmp_path).exit_code == 0
        assert form.main([str(tmp_path)]) == 3

    def test_nor_for_one_of_the_verifiers(self, tmp_path, capsys):
        """The order of texts, and where columns were cut, are claims."""
        values = ["b, and that was checked", "low", "null"] * 4
        made = skyline.anonymize(
            Table({"job": ["x", "y"] * 6, CALM: values}), ["job"], CALM, closeness=(1, "ordered")
        )
        made.save(tmp_path / "people")
        (claim,) = verify(tmp_path / "people").claims
        listed = '"b, and that was checked", low, "null"'
        assert claim == f"The values of {form.quoted(CALM)} have this order: {listed}."

        table = Table({CALM: list(range(8)), "ill": [0, 1] * 4})
        cuts = response.cuts(table, [CALM])
        scheme = response.Scheme.per_attribute("0.8", [CALM], domains={CALM: [0, 1]})
        response.disguise(response.binarise(table, cuts), scheme).save(tmp_path / "told", cuts=cuts)
        sentence = f"Before it was disguised, {form.quoted(CALM)} was cut in two"
        assert any(claim.startswith(sentence) for claim in verify(tmp_path / "told").claims)
        assert form.main([str(tmp_path / "told")]) == 0
        assert f"{form.CLAIMED} {sentence}" in capsys.readouterr().out


def warnings(folder):
    return json.loads((folder / form.NAME).read_text())["warnings"]
