"""The choice of a domain from a menu: what certificates say of it, and what both verifiers check of that."""

import json
import math
import subprocess
import sys
from dataclasses import replace

import pytest

import nbcfast
from nbcfast import Table, canonical, verify_release
from nbcfast._wire.advice_form import AdvisedChoice
from nbcfast._wire.json_entries import canonical_json, digest
from nbcfast._wire.menus import menu_digest, n_choices, resolved
from nbcfast.canonical import release
from nbcfast.published import Advised, ChoiceLimits
from nbcfast.views import count

HIERARCHY = "a;x\nb;x\nc;y\n"
MENU = {
    "age": [{"values": [20, 30, 40, 50]}, {"edges": [None, 35, None]}, {"out": True}],
    "job": [["a", "b", "c"], {"hierarchy": "jobs.csv", "level": 1}],
    "town": [["p", "q"], {"out": True}],
    "ill": [["no", "yes"]],
}
ROWS = {
    "age": [20, 30, 40, 50] * 6,
    "job": ["x", "x", "y"] * 8,
    "ill": ["no", "yes", "yes", "no", "yes", "no"] * 4,
}
CHOSEN = (1, 1, 1)
UNNAMED = "the certificate names no menu: nothing can be held against this one"


def advised(**changes):
    menu = resolved(MENU, lambda path: HIERARCHY)
    fields = {
        "menu": menu_digest(menu),
        "options": n_choices(menu),
        "chosen": CHOSEN,
        "by": "correct",
        "limits": ChoiceLimits(max_bits=8, max_found=0, min_flip=0.99, max_one_class=0),
    }
    return Advised(**{**fields, **changes})


def views_of(job=("x", "y"), classes=("no", "yes")):
    table = Table(ROWS).bin("age", edges=[float("-inf"), 35, float("inf")])
    return count(Table(table, domains={"job": list(job), "ill": list(classes)}), "ill")


@pytest.fixture
def menu(tmp_path):
    """The file of the menu, with that of the hierarchy beside it."""
    (tmp_path / "menus").mkdir()
    (tmp_path / "menus" / "jobs.csv").write_text(HIERARCHY)
    path = tmp_path / "menus" / "menu.json"
    path.write_text(json.dumps(MENU))
    return path


@pytest.fixture
def both(tmp_path, script):
    """What both verifiers find of a release that is saved: the check of the menu, if any, and the claims."""

    def verdicts(made, menu=None):
        folder = tmp_path / "out"
        made.save(folder, overwrite=True)
        code, lines = script(folder, *([] if menu is None else ["--menu", menu]))
        found = nbcfast.verify(folder, menu=menu)
        by_library = [(check.passed, check.text) for check in found.checks if check.name == "menu"]
        said = {"yes": True, "NO": False, "?": None}
        by_script = [
            (said[line.split()[0]], line.split(maxsplit=2)[2])
            for line in lines
            if line.split()[:2][1:] == ["menu"]
        ]
        assert by_script == by_library
        assert (found.exit_code == 1) == (code == 1)
        heads = (verify_release.CLAIMED, verify_release.NOTE)
        claims, notes = ({line[len(h) + 1 :] for line in lines if line.startswith(h)} for h in heads)
        library = {text for text in found.claims if "choice" in text or "chosen" in text}
        # Bits a weight are worked out in the library alone, and then are no claim.
        if {check.name: check.passed for check in found.checks}.get("advice"):
            without = WITH_BITS.replace("8 bits a weight, at most ", "")
            library = {text.replace(without, WITH_BITS) for text in library}
        assert {text for text in claims if text in library} == library
        assert {text for text in claims if text in library} == library
        assert set(found.notes) >= notes - claims
        return (by_library or [None])[0], claims, notes

    return verdicts


WITH_BITS = ", with at most 8 bits a weight, at most 0 counts"
BITS = (
    "The choice of the domain tells at most 3.6 bits more, if its menu of 12 choices was fixed before "
    "anybody looked at the rows."
)
ACCOUNT = (
    "The domain was chosen by how many rows are decided correctly, among all choices of the menu, with at "
    "most 8 bits a weight, at most 0 counts that totals and answers give back, at least 0.99 of the rows "
    "with a class that could be exchanged, at most 0 values of one class."
)


def test_with_the_menu_the_choice_is_checked_and_without_it_is_a_claim(both, menu):
    made = release(views_of(), 4, class_name="ill", advice=advised())
    assert made.certificate.notes[-1] == BITS
    check, claims, notes = both(made)
    assert check is None
    assert {BITS, ACCOUNT} <= claims
    assert BITS not in notes
    (place,) = [text for text in claims if "--menu FILE" in text]
    assert place == (
        "The domain is that of the options 1, 1, 1 of a menu of 12 choices with the sha256 "
        f"{advised().menu}; --menu FILE checks that."
    )
    check, claims, notes = both(made, menu)
    assert check == (True, "the domain is the named one of the 12 choices of this menu")
    assert ACCOUNT in claims
    assert BITS in notes
    assert not [text for text in claims if text == BITS or "--menu FILE" in text]


def test_a_mapping_is_a_menu_too(tmp_path, menu, monkeypatch):
    release(views_of(), 4, class_name="ill", advice=advised()).save(tmp_path / "out")
    monkeypatch.chdir(menu.parent)
    found = nbcfast.verify(tmp_path / "out", menu=MENU)
    assert [check.passed for check in found.checks if check.name == "menu"] == [True]


def test_the_class_may_be_in_the_menu_and_takes_no_place_among_the_chosen(both, menu):
    made = release(views_of(classes=("yes", "no")), 4, class_name="ill", advice=advised())
    assert both(made, menu)[0] == (False, "the class: its values, or their order, are others in the menu")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"menu": "0" * 64}, "this is not the menu of the certificate: its sha256 is another"),
        ({"options": 13}, "the menu has 12 choices, the certificate says 13"),
        ({"chosen": (1, 1)}, "the menu has 3 columns, the certificate names options of 2"),
        ({"chosen": (3, 1, 0)}, "the menu has 3 options of age, and no option 3"),
        ({"chosen": (0, 1, 1)}, "attribute age, option 0: 4 values in the menu, and 2 published"),
        ({"chosen": (2, 1, 1)}, "attribute age, option 2: it is left out in the menu, and published"),
        ({"chosen": (1, 1, 0)}, "attribute town, option 0: it is not published"),
    ],
)
def test_a_domain_that_is_not_that_of_the_menu(changes, text, both, menu):
    made = release(views_of(), 4, class_name="ill", advice=advised(**changes))
    assert both(made, menu)[0] == (False, text)


def test_values_in_another_order_are_another_domain(both, menu):
    made = release(views_of(job=("y", "x")), 4, class_name="ill", advice=advised())
    text = "attribute job, option 1: its values, or their order, are others in the menu"
    assert both(made, menu)[0] == (False, text)


def test_an_attribute_that_no_menu_names(both, menu):
    table = Table(Table({**ROWS, "new": ["r", "s"] * 12}).bin("age", edges=[float("-inf"), 35, float("inf")]))
    table = Table(table, domains={"job": ["x", "y"], "ill": ["no", "yes"], "new": ["r", "s"]})
    made = release(count(table, "ill"), 4, class_name="ill", advice=advised())
    assert both(made, menu)[0] == (False, "the menu has no column new, which is an attribute")


def test_integers_of_a_menu_are_the_floats_of_a_column(both, tmp_path):
    path = tmp_path / "menu.json"
    path.write_text('{"x": [[1, 2]]}')
    table = Table({"x": [1.0, 2.0, 2.0], "ill": ["no", "yes", "no"]}, domains={"x": [1.0, 2.0]})
    advice = Advised(menu=menu_digest(resolved({"x": [[1, 2]]}, None)), options=1, chosen=[0], by="correct")
    made = release(count(table, "ill"), 4, class_name="ill", advice=advice)
    assert both(made, path)[0] == (True, "the domain is the named one of the 1 choices of this menu")


def test_strata_have_the_domain_of_one_choice(both, menu):
    """The column that selects is one of the menu, and the attributes are the others."""
    table = Table({**ROWS, "sex": ["f"] * 12 + ["m"] * 12}).bin("age", edges=[-math.inf, 35, math.inf])
    table = Table(table, domains={"job": ["x", "y"], "ill": ["no", "yes"], "sex": ["f", "m"]})
    made = canonical.release_by(table, "ill", "sex", 4)
    assert both(made, menu)[0] == (None, UNNAMED)
    offered = {**MENU, "sex": [["f", "m"], {"out": True}]}
    menu.write_text(json.dumps(offered))
    digest = menu_digest(resolved(offered, lambda path: HIERARCHY))
    for chosen, holds in (((1, 1, 1, 0), True), ((1, 1, 1, 1), False), ((0, 1, 1, 0), False)):
        advice = advised(menu=digest, options=24, chosen=chosen)
        strata = {
            value: replace(one, certificate=replace(one.certificate, advice=advice))
            for value, one in made.strata.items()
        }
        check, claims, _ = both(replace(made, strata=strata), menu)
        assert check[0] is holds
        assert ACCOUNT in claims


def test_a_choice_between_strata_is_told_and_counted(both, menu):
    table = Table({**ROWS, "sex": ["f"] * 12 + ["m"] * 12}).bin("age", edges=[-math.inf, 35, math.inf])
    table = Table(table, domains={"job": ["x", "y"], "ill": ["no", "yes"], "sex": ["f", "m"]})
    made = canonical.release_by(table, "ill", "sex", 4)
    offered = {**MENU, "sex": [["f", "m"], {"out": True}]}
    menu.write_text(json.dumps(offered))
    digest = menu_digest(resolved(offered, lambda path: HIERARCHY))

    def with_advice(by_column, strata):
        advice = advised(menu=digest, options=24, chosen=(1, 1, 1, 0), strata=strata, by_column=by_column)
        return replace(
            made,
            strata={
                value: replace(one, certificate=replace(one.certificate, advice=advice))
                for value, one in made.strata.items()
            },
        )

    check, claims, notes = both(with_advice("sex", ("job", "sex")), menu)
    assert check[0] is True
    text = "and with it one for each value of sex, of one classifier for all and one for each value of"
    assert any(text in claim for claim in claims)
    # log2(24 * 3) of one classifier, one a job, one a sex
    assert any("tells at most 6.2 bits more" in text for text in (*notes, *claims))
    check, _, _ = both(with_advice("sex", ("sex", "city")), menu)
    assert check == (False, "the menu has no column city, which might have selected a classifier")
    for by_column in (None, "job"):
        with pytest.raises(ValueError, match="by must be the column that the advice has chosen, got 'sex'"):
            with_advice(by_column, ("job", "sex"))


@pytest.mark.parametrize(
    ("by_column", "text"),
    [
        ("town", "field 'by': expected the column that the advice has chosen"),
        (None, "field 'by': expected the column that the advice has chosen"),
        ("job", "field 'advice': expected strata of neither the class nor an attribute, got \"job\""),
    ],
)
def test_a_file_with_other_strata_than_were_chosen_is_refused(by_column, text, tmp_path, script):
    """Also where every digest was made again."""
    table = Table({**ROWS, "sex": ["f"] * 12 + ["m"] * 12}).bin("age", edges=[-math.inf, 35, math.inf])
    table = Table(table, domains={"job": ["x", "y"], "ill": ["no", "yes"], "sex": ["f", "m"]})
    made = canonical.release_by(table, "ill", "sex", 4)
    advice = advised(options=24, chosen=(1, 1, 1, 0), strata=("job", "sex", "town"), by_column="sex")
    strata = {
        value: replace(one, certificate=replace(one.certificate, advice=advice))
        for value, one in made.strata.items()
    }
    replace(made, strata=strata).save(tmp_path / "out")
    path = tmp_path / "out" / "certificate.json"
    document = json.loads(path.read_text())
    assert nbcfast.verify(tmp_path / "out").exit_code == 0
    for entry in document["strata"]:
        entry["release"]["advice"]["by_column"] = by_column
        entry["release"]["sha256"] = digest(entry["release"])
    document["sha256"] = digest(document)
    path.write_text(canonical_json(document) + "\n")
    code, lines = script(tmp_path / "out")
    assert code != 0
    assert any(text in line for line in lines)
    found = nbcfast.verify(tmp_path / "out")
    assert found.exit_code == code
    assert any(text in check.text for check in found.checks)


def test_a_certificate_that_names_no_menu(both, menu, tmp_path):
    assert both(release(views_of(), 4), menu)[0] == (None, UNNAMED)
    nbcfast.skyline.anonymize(Table(ROWS), ["job"], "ill", k=2).save(tmp_path / "table")
    found = nbcfast.verify(tmp_path / "table", menu=menu)
    assert [(check.name, check.passed) for check in found.checks][-1] == ("menu", None)


def test_other_rows_and_votes_are_claims_with_and_without_the_menu(both, menu):
    text = "The domain was chosen on other rows: the choice tells nothing about these."
    made = release(views_of(), 4, class_name="ill", advice=advised(rows="other", exhaustive=False))
    assert made.certificate.notes[-1] == text
    for given in (None, menu):
        claims = both(made, given)[1]
        assert text in claims
        assert any("some choices of the menu, and not all" in claim for claim in claims)
    votes = advised(by="votes", limits=ChoiceLimits(), epsilon="1/2", blocks=100)
    made = release(views_of(), 4, class_name="ill", advice=votes)
    assert made.certificate.notes[-2] == BITS
    for given in (None, menu):
        claims = both(made, given)[1]
        assert made.certificate.notes[-1] in claims
        assert "The domain was chosen by votes, among all choices of the menu, without limits." in claims
        assert (BITS in claims) == (given is None)


def test_what_is_made_again_has_the_advice(tmp_path):
    made = release(views_of(), 4, class_name="ill", advice=advised())
    made.save(tmp_path / "out")
    assert nbcfast.load(tmp_path / "out") == made
    found = nbcfast.verify(tmp_path / "out", against=Table(ROWS).bin("age", edges=[-1e9, 35, 1e9]))
    assert {check.name: check.passed for check in nbcfast.verify(tmp_path / "out").checks}["canonical"]
    assert {check.name: check.passed for check in found.checks}["canonical"]


def test_without_advice_the_file_says_nothing_of_it():
    from nbcfast.published.document import text_of

    assert "advice" not in text_of(release(views_of(), 4))


ENTRY = advised().to_json()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"menu": "0" * 63}, "expected 64 hexadecimal digits"),
        ({"options": 0}, "expected options from 1 to below 2"),
        ({"options": "0x1" + "0" * 256}, "expected options from 1 to below 2"),
        ({"bits_at_most": "3.5"}, 'expected bits_at_most "3.6", the logarithm of choices, got "3.5"'),
        ({"bits_at_most": 3.6}, "expected bits_at_most"),
        ({"chosen": []}, "expected the place of an option a column"),
        ({"chosen": [-1, 0, 0]}, "expected an integer"),
        ({"chosen": [True]}, "expected an integer"),
        ({"chosen": [12]}, "expected places of options of which there are 12 choices"),
        ({"chosen": [2, 1, 2]}, "expected places of options of which there are 12 choices"),
        ({"by": "luck"}, "expected one of 'correct', 'log-loss', 'votes'"),
        ({"by": ["correct"]}, "expected one of"),
        ({"rows": "some"}, "expected one of 'private', 'other'"),
        ({"exhaustive": 1}, "expected true or false"),
        ({"limits": {}}, "expected limits as max_bits"),
        ({"limits": {**ENTRY["limits"], "max_bits": 8}}, "expected a rational"),
        ({"limits": {**ENTRY["limits"], "max_found": "1/2"}}, "expected an integer"),
        ({"epsilon": "1/2"}, "expected bits_at_most, by"),
        ({"by": "votes"}, "expected bits_at_most, blocks, by"),
        ({"by": "votes", "epsilon": "1/2", "blocks": 5}, "expected no limits, as votes are cast without"),
        ({"strata": ["age"]}, "expected bits_at_most, by, by_column"),
        ({"by_column": None}, "expected bits_at_most, by, chosen"),
        ({"strata": [], "by_column": None}, "expected some columns of the menu"),
        ({"strata": "age", "by_column": None}, "expected some columns of the menu"),
        ({"strata": ["age", 1], "by_column": None}, "expected some columns of the menu"),
        ({"strata": ["age", "age"], "by_column": None}, "expected some columns of the menu"),
        ({"strata": list("abcd"), "by_column": None}, "expected some columns of the menu"),
        ({"strata": ["age"], "by_column": "job"}, "expected by_column null or one of them"),
        ({"strata": ["age"], "by_column": 0}, "expected by_column null or one of them"),
        ({"strata": ["age"], "by_column": None}, 'expected bits_at_most "4.6", the logarithm'),
        (
            {
                "by": "votes",
                "epsilon": "1/1",
                "blocks": 5,
                "limits": dict.fromkeys(ENTRY["limits"]),
                "strata": ["age"],
                "by_column": None,
                "bits_at_most": "4.6",
            },
            "expected no strata, as votes are cast without",
        ),
        ({"by": "votes", "epsilon": "0/1", "blocks": 5}, "expected epsilon and blocks above 0"),
    ],
)
def test_what_is_no_advice(changes, message):
    with pytest.raises(ValueError, match=message):
        AdvisedChoice({**ENTRY, **changes})


def test_an_entry_is_read_as_it_is_written():
    for made in (
        advised(),
        advised(by="votes", limits=ChoiceLimits(), epsilon="1/2", blocks=7, options=10**30),
        advised(strata=("age",)),
        advised(strata=("age", "job"), by_column="job"),
    ):
        assert Advised.of_json(json.loads(json.dumps(made.to_json()))) == made
    assert advised().bits_at_most == "3.6"
    assert advised(strata=("age", "job")).bits_at_most == "5.2"  # log2 of 36
    for entry in (None, [], {"menu": object()}, {**ENTRY, "chosen": {1}}):
        with pytest.raises(ValueError, match="field 'advice'"):
            Advised.of_json(entry)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"chosen": "110"}, TypeError, "chosen must be a sequence of int"),
        ({"options": 12.0}, TypeError, "options must be an int"),
        ({"limits": {}}, TypeError, "limits must be ChoiceLimits"),
        ({"by": "votes"}, ValueError, "epsilon and blocks go with by='votes' and only there"),
        ({"epsilon": 1, "blocks": 2}, ValueError, "epsilon and blocks go with by='votes'"),
        ({"strata": "age"}, TypeError, "strata must be a sequence of str"),
        ({"strata": ("age",), "by_column": "job"}, ValueError, "by_column must be one of strata"),
        ({"strata": ("age", "age")}, ValueError, "expected some columns of the menu"),
        ({"chosen": (11, 1)}, ValueError, "expected places of options"),
    ],
)
def test_wrong_arguments(changes, error, message):
    with pytest.raises(error, match=message):
        advised(**changes)


def test_values_from_the_rows_do_not_go_with_advice():
    undeclared = count(Table(ROWS), "ill")
    with pytest.raises(ValueError, match=r"advice goes with declared domains.*'age' come from the rows"):
        canonical.release(undeclared, 4, advice=advised())
    with pytest.raises(ValueError, match="expected an option for each of 2 attributes, got 1"):
        canonical.release(views_of(), 4, advice=advised(chosen=(1,)))
    with pytest.raises(TypeError, match="advice must be a Advised"):
        canonical.release(views_of(), 4, advice=ENTRY)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file or directory"),
        ("{", "not a menu in JSON"),
        ('{"age": [{"hierarchy": "nowhere.csv", "level": 1}]}', "nowhere.csv: No such file or directory"),
        ('{"age": [{"hierarchy": ".", "level": 1}]}', "is a folder: expected a regular file"),
        ("\xff", "is not UTF-8"),
    ],
)
def test_a_file_that_is_no_menu_is_bad_input(text, message, tmp_path, run):
    release(views_of(), 4, class_name="ill", advice=advised()).save(tmp_path / "out")
    path = tmp_path / "menu.json"
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    command = [sys.executable, "-I", "-S", verify_release.__file__, tmp_path / "out", "--menu", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert message in done.stderr
    code, out, err = run("verify", tmp_path / "out", "--menu", path)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err
    with pytest.raises((OSError, ValueError)):
        nbcfast.verify(tmp_path / "out", menu=path)
    with pytest.raises(TypeError, match="menu must be a mapping or the path of a JSON file, got list"):
        nbcfast.verify(tmp_path / "out", menu=[])


def test_the_command_line_checks_the_menu(menu, tmp_path, in_full):
    release(views_of(), 4, class_name="ill", advice=advised()).save(tmp_path / "out")
    code, out, err = in_full("verify", tmp_path / "out", "--menu", menu)
    assert (code, err) == (0, "")
    assert "the domain is the named one of the 12 choices of this menu" in out
    assert f"note: {BITS}" in out
    menu.write_text('{"age": [[1]]}')
    assert in_full("verify", tmp_path / "out", "--menu", menu)[0] == 1
