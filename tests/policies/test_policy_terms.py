"""What is asked of a publication under a policy: the same once more, and nothing otherwise."""

from dataclasses import fields

import pytest

from nbcfast.canonical import Limits
from nbcfast.ledger import Ledger, LedgerPolicy
from nbcfast.policies import Policy, Terms, terms_of

SAYS = {
    "class": "ill",
    "amplification": 4,
    "attacker": "worlds",
    "method": "canonical",
    "preserve": "label",
    "smooth": "1/2",
    "columns": ["a", "b"],
}
FREE = {"release": {"class": "ill", "amplification": 4}}


def under(policy, **asked):
    return terms_of(policy, Terms(**asked))


def test_without_a_policy_nothing_changes():
    asked = Terms(class_name="ill", amplification=3, accept_answers=True)
    assert terms_of(None, asked) is asked


def test_a_policy_says_what_is_not_asked():
    found = under({"release": SAYS})
    assert (found.class_name, found.amplification, found.attacker) == ("ill", 4, "worlds")
    assert (found.method, found.preserve, found.alpha) == (
        "canonical",
        "label",
        Policy.of({"release": SAYS}).smooth,
    )
    assert (found.columns, found.limits) == (("a", "b"), Limits())


def test_what_it_leaves_free_is_asked():
    found = under(FREE, method="safetytransform", preserve="order", by="town", columns=["x"], alpha=None)
    assert (found.method, found.preserve, found.by, found.columns) == (
        "safetytransform",
        "order",
        "town",
        ["x"],
    )


SAME = [
    {"class_name": "ill"},
    {"amplification": "4.0"},
    {"breach": ("1/2", "0.8")},
    {"attacker": "worlds"},
    {"attacker": "row"},  # which is what it is where nobody asks
    {"method": "canonical"},
    {"preserve": "label"},
    {"alpha": 0.5},
    {"columns": ["a", "b"]},
    {"limits": Limits()},
]


@pytest.mark.parametrize("asked", SAME, ids=str)
def test_the_same_may_be_said_once_more(asked):
    assert under({"release": SAYS}, **asked) == under({"release": SAYS})


OTHER = [
    ({"class_name": "well"}, "class_name does not go with the policy, which says 'ill'; got 'well'"),
    ({"amplification": 3}, "amplification does not go with the policy, which says 4; got 3: leave it out"),
    ({"amplification": 5}, "amplification does not go with the policy, which says 4; got 5"),
    ({"breach": (0.5, 0.7)}, "breach does not go with the policy, which says 4; got 7/3"),
    ({"method": "safetytransform"}, "method does not go with the policy, which says 'canonical'"),
    ({"preserve": "order"}, "preserve does not go with the policy, which says 'label'; got 'order'"),
    ({"alpha": 1}, "alpha does not go with the policy, which says 0.5; got 1"),
    ({"columns": ["a"]}, "columns does not go with the policy, which says 'a', 'b'; got 'a'"),
    ({"limits": Limits(max_bits=None)}, "max_bits does not go with the policy, which says 8.0; got none"),
    ({"limits": Limits(min_flip=1)}, "min_flip does not go with the policy"),
    (
        {"accept_answers": True},
        "accept_answers does not go with the policy: policy has no accept_answers = true",
    ),
    ({"dp": {"epsilon": 1}}, "dp['epsilon'] does not go with the policy: policy has no"),
]


@pytest.mark.parametrize(("asked", "text"), OTHER, ids=str)
def test_anything_else_is_refused(asked, text):
    """Stricter demands too: two files, and not one that says less than was asked."""
    with pytest.raises(ValueError, match="does not go with the policy") as error:
        under({"release": SAYS}, **asked)
    assert str(error.value).startswith(text)


def test_an_attacker_that_the_policy_does_not_have():
    with pytest.raises(
        ValueError, match="attacker does not go with the policy, which says 'row'; got 'worlds'"
    ):
        under(FREE, attacker="worlds")


@pytest.mark.parametrize("asked", [{"domains": {"a": ["x"]}}, {"menu": {"a": [["x"]]}}])
def test_domains_are_not_compared(asked):
    with pytest.raises(ValueError, match="does not go with the policy, which says the values itself"):
        under({**FREE, "domain": {"a": ["x"]}}, **asked)


def test_columns_of_a_menu(tmp_path):
    (tmp_path / "m.json").write_text('{"a": [["x"], {"out": true}]}', encoding="utf-8")
    path = tmp_path / "p.toml"
    path.write_text('menu = "m.json"\n[release]\nclass = "ill"\namplification = 4\n', encoding="utf-8")
    assert terms_of(path, Terms()).menu.n_choices == 2
    with pytest.raises(ValueError, match="columns does not go with the policy, which says the values itself"):
        terms_of(path, Terms(columns=["a"]))


def test_accepting_has_to_be_allowed():
    assert under({**FREE, "limits": {"accept_answers": True}}, accept_answers=True).accept_answers


NOISY = {**FREE, "dp": {"epsilon": "1/2", "rows_per_person": 2}}


def test_noise_that_is_required_is_asked():
    found = under(NOISY)
    assert found.dp == {
        "epsilon": Policy.of(NOISY).noise.epsilon,
        "neighbours": "add-remove",
        "rows_per_person": 2,
    }
    assert found.limits is None
    assert under({**FREE, "dp": {"epsilon": 1, "required": False}}).dp is None


def test_noise_is_that_of_the_policy():
    asked = {"epsilon": 0.5, "rows_per_person": 2}
    assert under(NOISY, dp=asked).dp == asked
    for other in ({"epsilon": 1, "rows_per_person": 2}, {"epsilon": 0.5}, {**asked, "delta": 0.1}):
        with pytest.raises(ValueError, match=r"dp\[.*\] does not go with the policy, which says"):
            under(NOISY, dp=other)
    with pytest.raises(ValueError, match=r"dp\['neighbours'\] does not go with the policy"):
        under(NOISY, dp={**asked, "neighbours": "replace"})


def test_the_ledger_is_that_of_the_policy(tmp_path):
    path = str(tmp_path / "book")
    policy = {**FREE, "ledger": {"file": path, "policy": ["calendar"]}}
    found = under(policy)
    assert (found.ledger, found.ledger_policy) == (path, LedgerPolicy(calendar=True))
    assert under(policy, ledger=Ledger(path), ledger_policy=LedgerPolicy(calendar=True)).ledger.path == path
    with pytest.raises(ValueError, match="ledger does not go with the policy, which says"):
        under(policy, ledger=path + "2")
    with pytest.raises(ValueError, match="ledger_policy does not go with the policy"):
        under(policy, ledger_policy=LedgerPolicy(disjoint=True))
    free = {**FREE, "ledger": {"file": path, "required": False}}
    assert under(free).ledger is None
    assert under(free, ledger=path).ledger == path


def test_no_argument_of_a_policy_is_passed_over():
    """Every term is either compared, or said above to be free."""
    compared = {next(iter(asked)) for asked, _ in OTHER} | {
        "attacker",
        "domains",
        "menu",
        "ledger",
        "ledger_policy",
    }
    assert {one.name for one in fields(Terms)} - compared == {"by", "policy"}
    with pytest.raises(ValueError, match="by does not go with the policy, which says 'town'; got 'city'"):
        under({"release": {**FREE["release"], "by": "town"}}, by="city")
