"""Names of columns cannot pass for what a check says."""

import hashlib

import pytest

from nbcfast import verify
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
    (tmp_path / form.NAME).write_text(form.canonical(fields) + "\n")
    assert form.main([str(tmp_path)]) == 0
    found = verify(tmp_path)
    assert found.ok
    for text in (capsys.readouterr().out, repr(found)):
        (line,) = (line for line in text.splitlines() if "multiplied" in line or " -> " in line)
        assert (form.quoted(name) in line) == (name != "age")
        assert name != "age" or "  age" in line
