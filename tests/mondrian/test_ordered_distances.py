"""Ordered closeness: in the order of numbers, and of texts as they are named."""

import pytest
from partition_cases import resigned

import nbcfast
from nbcfast import Interval, Table, skyline, verify_release
from nbcfast.mondrian import anonymize

ORDERS = {
    "int": ([1, 5, 9], [9, 1, 5]),
    "float": ([-0.5, 1.5, 2.5], [1.5, -0.5, 2.5]),
    "interval": ([Interval(None, 1), Interval(1, 2), Interval(2, None)], None),
}


@pytest.mark.parametrize("kind", ORDERS)
@pytest.mark.parametrize("null", [False, True])
def test_ordered_distances_take_the_order_of_numbers(tmp_path, kind, null):
    rising, shuffled = ORDERS[kind]
    tail = [None] if null else []
    rows = {"a": [1, 1, 2, 2] * 3, "ill": ([*rising, *tail] * 12)[:12]}
    found = anonymize(rows, ["a"], "ill", k=2, closeness=(1, "ordered"))
    found.save(tmp_path)
    report = nbcfast.verify(tmp_path)
    (check,) = (check for check in report.checks if check.name == "closeness")
    assert report.ok
    assert report.claims == ()
    assert check.text.endswith("; a missing value is taken for the largest" if null else "ordered distances")
    if shuffled is not None:
        table = Table(rows, domains={"ill": [*shuffled, *tail]})
        with pytest.raises(
            ValueError, match=r"ordered distances: expected the values of 'ill' declared in ris"
        ):
            anonymize(table, ["a"], "ill", k=2, closeness=(1, "ordered"))
        assert anonymize(table, ["a"], "ill", k=2, closeness=1).n_rows == 12
        groups = skyline.group(table, ["a"], "ill")
        with pytest.raises(ValueError, match="declared in rising order"):
            groups.t(ordered=True)
        assert groups.t() == skyline.group(rows, ["a"], "ill").t()

    def change(fields, _):
        values = fields["sensitive"]["values"]
        values[0], values[1] = values[1], values[0]

    before = (tmp_path / "table.csv").read_text()
    resigned(tmp_path, change)
    assert (tmp_path / "table.csv").read_text() == before
    text = "expected intervals in increasing order" if kind == "interval" else "take the order of numbers"
    assert text in nbcfast.verify(tmp_path).checks[0].text
    assert verify_release.main([str(tmp_path)]) == 1
    with pytest.raises(ValueError, match=text):
        nbcfast.load(tmp_path)


def test_the_order_of_texts_is_said_to_be_a_claim(tmp_path, capsys):
    rows = {"a": [1, 1, 2, 2] * 3, "ill": ["low", "high", "mid"] * 4}
    table = Table(rows, domains={"ill": ["low", "mid", "high"]})
    anonymize(table, ["a"], "ill", k=2, closeness=(1, "ordered")).save(tmp_path)
    claim = "; the order of the values is the publisher's claim: low, mid, high"
    (check,) = (check for check in nbcfast.verify(tmp_path).checks if check.name == "closeness")
    assert nbcfast.verify(tmp_path).claims == ("The values of ill have this order: low, mid, high.",)
    assert check.passed
    assert check.text.endswith(claim)
    assert verify_release.main([str(tmp_path)]) == 0
    assert claim in capsys.readouterr().out
