"""Columns that name people are refused before anything is made of them."""

import pytest

import nbcfast
from nbcfast.domains import names_people, ready_made
from nbcfast.domains.identifying import MANY_VALUES

N = 3_000
PEOPLE = {
    "id": [f"P{row:05d}" for row in range(N)],
    "pair": [row // 3 for row in range(N)],
    "sex": ["f", "m", "m"] * (N // 3),
    "ill": ["no", "no", "yes", "no"] * (N // 4),
}


def test_publish_refuses_an_identifier_and_says_how_to_leave_it_out():
    with pytest.raises(
        ValueError, match="column 'id' has 3,000 values in 3,000 rows and so names people"
    ) as error:
        nbcfast.publish(PEOPLE, "ill", 4)
    assert str(error.value).endswith(
        "names people: declare bins or sets of its values, or leave it out (domains={'id': {'out': True}})"
    )
    made = nbcfast.publish(PEOPLE, "ill", 4, domains={"id": {"out": True}})
    assert made.release.views.attributes == ("pair", "sex")


def test_nothing_is_made_of_it_first(monkeypatch):
    """The refusal came after the work of minutes, or not at all below 65,536 values."""
    for name in ("count", "Viewset.__init__"):
        monkeypatch.setattr(f"nbcfast.publishing.inputs.{name}", None)
    with pytest.raises(ValueError, match="names people"):
        nbcfast.publish(PEOPLE, "ill", 4)


def test_bins_and_sets_name_nobody():
    made = nbcfast.publish(
        {name: PEOPLE[name] for name in ("pair", "ill")} | {"row": list(range(N)), "id": PEOPLE["id"]},
        "ill",
        4,
        domains={"row": {"edges": [None, 1000, None]}, "id": {"groups": {"P1": ["P00001"]}, "other": "rest"}},
    )
    assert made.release.views.domain("id") == ("P1", "rest")


@pytest.mark.parametrize(
    ("n_values", "n_rows", "expected"),
    [
        (MANY_VALUES, MANY_VALUES, True),
        (MANY_VALUES - 1, MANY_VALUES - 1, False),
        (MANY_VALUES, 2 * MANY_VALUES, False),
        (MANY_VALUES, 2 * MANY_VALUES - 1, True),
        (10**6, 10**6, True),
        (300, 300, False),
    ],
)
def test_the_limit(n_values, n_rows, expected):
    assert names_people(n_values, n_rows) == expected


def test_a_ready_made_menu_leaves_them_out():
    menu = ready_made(nbcfast.Table(PEOPLE), "ill")
    assert [option.entry for option in menu.options["id"]] == [{"out": True}]
    assert menu.undeclared == (
        "id",
        "pair",
        "sex",
        "ill",
    )  # by the rows it can only be left out
