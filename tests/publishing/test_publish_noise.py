"""Publishing with noise: what leaves is made of noisy counts and public facts, and of nothing else."""

import json
from fractions import Fraction

import numpy as np
import pytest

import nbcfast
from nbcfast import _coins, dp
from nbcfast.publishing import noisy_prepared
from nbcfast.publishing.noisy_report import ANOTHER, HUNDREDS, NO_LIMITS
from nbcfast.views.noise import Noise

DOMAINS = {"job": ["clerk", "cook", "smith"], "sex": ["f", "m"], "ill": ["n", "y"]}
PEOPLE = {
    "job": ["clerk", "cook", "cook", "smith"] * 20 + ["smith"],
    "sex": ["f", "m", "f", "m", "m", "f", "m"] * 11 + ["f"] * 4,
    "ill": ["y", "n", "n", "n", "y", "n", "y", "n"] * 10 + ["n"],
}
OTHERS = {"job": ["smith"] * 3, "sex": ["m"] * 3, "ill": ["y"] * 3}  # neither all jobs nor all classes
NOBODY = {"job": [], "sex": [], "ill": []}
METHODS = [
    {},
    {"method": "safetytransform"},
    {"method": "safetytransform", "rows": 9, "allow_differences": True},
    {"method": "est", "prior": {"n": "1/2", "y": "1/2"}},
    {"bits": 1},
    {"tuples": {"job": ["cook", "smith"], "sex": ["f", "m"]}},
]


def publish(people=PEOPLE, amplification=4, **others):
    return nbcfast.publish(
        people, "ill", amplification, **{"dp": {"epsilon": 1}, "domains": DOMAINS, **others}
    )


@pytest.fixture
def known(monkeypatch):
    """Coins that everybody knows in place of those that nobody does."""
    for place in ("making", "agreeing"):
        monkeypatch.setattr(f"nbcfast.dp.{place}.own_coins", lambda: _coins.Coins(bytes(32)))


@pytest.mark.parametrize("asked", METHODS)
def test_tables_of_the_same_noisy_counts_leave_the_same_bytes(asked, tmp_path, monkeypatch):
    """All that tells the tables apart, rows and their number too, ends at the noise."""
    exact = nbcfast.count(nbcfast.Table(PEOPLE, domains=DOMAINS), "ill")
    noisy = dp.counts(exact, epsilon=1)
    monkeypatch.setattr(noisy_prepared, "noisy_counts", lambda exact, noise: noisy)
    texts = []
    for number, people in enumerate([PEOPLE, OTHERS, NOBODY]):
        made = publish(people, **asked)
        made.save(tmp_path / str(number))
        assert sorted(path.name for path in (tmp_path / str(number)).iterdir()) == ["certificate.json"]
        texts.append((tmp_path / str(number) / "certificate.json").read_bytes())
    assert texts[0] == texts[1] == texts[2]
    assert nbcfast.load(tmp_path / "0").certificate.privacy == noisy.noise


def test_texts_that_look_like_numbers_are_published_whatever_else_occurs(tmp_path, monkeypatch):
    """Whether anybody is of unknown age, or how a number is spelt, decides nothing."""
    made = []
    monkeypatch.setattr("nbcfast.dp.making.with_noise", lambda arrays, noise, coins: [a + 9 for a in none])
    none = [np.zeros(2, int), np.zeros((3, 2), int), np.zeros((3, 2), int)]
    domains = {"age": ["1", "2", "unknown"], "n": [1, 2, None], "ill": ["n", "y"]}
    for number, rows in enumerate(["1,1,n\n2,,y\n", "unknown,2.0,y\n", "2,2,y\n", ""]):
        path = tmp_path / f"{number}.csv"
        path.write_text(f"age,n,ill\n{rows}", encoding="utf-8")
        nbcfast.publish(path, "ill", 4, dp={"epsilon": 1}, domains=domains).save(tmp_path / str(number))
        made.append((tmp_path / str(number) / "certificate.json").read_bytes())
    assert len(set(made)) == 1


def test_it_is_what_the_method_makes_of_dp_counts(known):
    exact = nbcfast.count(nbcfast.Table(PEOPLE, domains=DOMAINS), "ill")
    noisy = dp.counts(exact, epsilon=1, coins=_coins.Coins(bytes(32)))
    assert publish().release == nbcfast.canonical.release(noisy, 4, class_name="ill")
    powers = publish(method="safetytransform", preserve="label")
    assert powers.release == nbcfast.safety_transform(noisy, 4, preserve="label", class_name="ill")
    prior = {"n": "1/2", "y": "1/2"}
    near = publish(method="est", prior=prior)
    assert near.release == nbcfast.closeness.est(noisy, prior, 4, class_name="ill")


@pytest.mark.parametrize(
    "asked",
    [
        {"epsilon": "1/2"},
        {"epsilon": 1, "neighbours": "replace", "rows_per_person": 3},
        {"rho": "1/8"},
        {"rho": "1/8", "delta": "1e-6"},
    ],
)
def test_the_words_are_those_of_dp_counts(asked):
    exact = nbcfast.count(nbcfast.Table(PEOPLE, domains=DOMAINS), "ill")
    made = publish(dp=asked)
    assert made.noise == made.release.certificate.privacy == dp.counts(exact, **asked).noise
    assert isinstance(made.noise, Noise)


@pytest.mark.parametrize("people", [NOBODY, OTHERS, {"job": ["cook"], "sex": ["f"], "ill": ["n"]}])
def test_few_rows_none_and_empty_classes_are_published_alike(people, tmp_path):
    made = publish(people)
    made.save(tmp_path / "out")
    assert nbcfast.verify(tmp_path / "out").ok
    if not people["job"]:
        assert (made.owners.agreement, made.owners.exact, made.owners.published) == (None, None, None)
    assert HUNDREDS in made.owners.warnings


def test_what_comes_from_rows_is_refused():
    for missing in DOMAINS:
        domains = {name: values for name, values in DOMAINS.items() if name != missing}
        with pytest.raises(ValueError, match=f"column '{missing}': its .* hidden by no noise") as error:
            publish(domains=domains)
        assert not any(value in str(error.value) for value in ("clerk", "smith", "81"))
    with pytest.raises(ValueError, match="hidden by no noise"):
        publish(domains=None)


@pytest.mark.parametrize(
    ("besides", "says"),
    [
        (
            {"menu": {"job": [["clerk", "cook", "smith"]], "sex": [["f", "m"]]}},
            "menu does not go with dp: the best",
        ),
        ({"by": "sex"}, "by does not go with dp: noise is added to one table"),
        ({"alpha": 1}, "alpha does not go with dp: a constant"),
        ({"weights": "n"}, "weights does not go with dp: of rows"),
        ({"limits": nbcfast.canonical.Limits()}, "limits does not go with dp"),
        ({"accept_answers": True}, "accept_answers does not go with dp"),
        ({"dp": {}}, r"expected one of dp\['epsilon'\] and dp\['rho'\], got neither"),
        ({"dp": {"epsilon": 1, "rho": 1}}, r"expected one of dp\['epsilon'\] and dp\['rho'\], got both"),
        ({"dp": {"epsilon": 0}}, r"dp\['epsilon'\] must be above 0, got 0"),
        ({"dp": {"epsilon": 1, "delta": 2}}, r"dp\['delta'\] must be below 1"),
        ({"dp": {"epsilon": 1, "neighbours": "edge"}}, r"dp\['neighbours'\] must be 'add-remove' or"),
        ({"dp": {"epsilon": 1, "rows_per_person": 0}}, r"dp\['rows_per_person'\] must be"),
        ({"dp": {"eps": 1}}, "dp must have keys of epsilon, delta, rho"),
        ({"dp": 1}, "dp must be a mapping"),
    ],
)
def test_what_does_not_go_with_it_is_refused(besides, says):
    with pytest.raises((ValueError, TypeError), match=says):
        publish(**besides)


def test_weights_of_a_table_are_refused():
    table = nbcfast.Table(PEOPLE, weights=np.full(81, 2))
    with pytest.raises(ValueError, match="weights does not go with dp"):
        publish(table)


def test_a_domain_that_was_chosen_on_the_private_rows_is_refused(tmp_path):
    menu = {"job": [DOMAINS["job"]], "sex": [DOMAINS["sex"], {"out": True}], "ill": [DOMAINS["ill"]]}
    people = {name: values * 5 for name, values in PEOPLE.items()}
    limits = dict.fromkeys(["max_bits", "max_found", "min_flip", "min_trace", "max_one_class"])
    chosen = nbcfast.canonical.advise(people, "ill", menu, **limits)
    with pytest.raises(ValueError, match="its domain was chosen on the private rows"):
        publish(people, domains=chosen.document)
    elsewhere = nbcfast.canonical.advise(people, "ill", menu, on=PEOPLE, **limits)
    assert publish(people, domains=elsewhere.document).release.certificate.advice.rows == "other"
    votes = nbcfast.canonical.advise(people, "ill", menu, epsilon="1/2", blocks=20, **limits)
    made = publish(people, domains=votes.document)
    assert any("comes to epsilon = 1.5, where the change" in text for text in made.warnings)


def test_what_is_of_the_private_table_is_kept_apart(known, tmp_path):
    made = publish(dp={"epsilon": "1/100"}, holdout={name: values[::3] for name, values in PEOPLE.items()})
    assert made.owners.rows == 81
    assert (
        made.owners.agreement.expected
        == dp.agreement(
            nbcfast.count(nbcfast.Table(PEOPLE, domains=DOMAINS), "ill"), PEOPLE, epsilon="1/100"
        ).expected
    )
    worth = f"one answer: {made.owners.worth.text}"  # so much noise leaves nothing
    assert {HUNDREDS, worth} <= {*made.owners.warnings} <= {HUNDREDS, ANOTHER, worth}
    assert made.owners.membership is not None
    plain = made.to_dict()
    apart = plain.pop("not_for_publication")
    assert apart["rows"] == 81
    assert apart["agreement"]["runs"] == 10
    assert apart["accuracy"] == pytest.approx(made.owners.exact.accuracy)
    assert "81" not in json.dumps(plain)
    assert plain["warnings"][0] == NO_LIMITS
    for name in ("leak", "findings", "before", "limits", "shows"):
        assert name not in plain
    files = made.save(tmp_path / "out").files
    assert [file.path for file in files] == [str(tmp_path / "out" / "certificate.json")]


def test_another_answer_in_ten_is_said():
    few = noisy_prepared.OwnersFigures(5_000, None, None, None, None)
    assert few.warnings == []
    noise = Noise(mechanism="discrete laplace", epsilon=Fraction(1), sensitivity=3, n_attributes=2)
    for share, said in ((Fraction(9, 10), []), (Fraction(8, 9), [ANOTHER])):
        assert few._replace(agreement=dp.Agreement(noise, (share,))).warnings == said


def test_a_prior_is_said_to_be_published():
    made = publish(method="est", prior={"n": "1/2", "y": "1/2"})
    assert noisy_prepared.PRIOR in made.warnings
    assert noisy_prepared.PRIOR not in publish().warnings


def test_the_owner_reads_it_before_anything_is_drawn(tmp_path, run):
    rows = zip(*PEOPLE.values(), strict=True)
    file = tmp_path / "people.csv"
    file.write_text("\n".join([",".join(PEOPLE), *map(",".join, rows)]) + "\n")
    (tmp_path / "domains.json").write_text(json.dumps(DOMAINS))
    asked = f"--class ill --amplification 4 --domain {tmp_path / 'domains.json'} --dp-epsilon 1".split()
    for more in (("--dry-run",), ()):
        code, printed, _ = run("publish", file, *asked, "--out", tmp_path / "out", *more)
        assert (code, "keep the class of the exact classifier" in printed) == (0, True)
        assert HUNDREDS in printed
        assert NO_LIMITS in printed
        assert "bits a weight" not in printed
        assert (tmp_path / "out").exists() is (not more)


def test_a_delta_that_people_may_be_published_by_is_warned_of():
    """Of 81 rows one in 810 is a tenth of a person; what is said of rows is said to their owner alone."""
    made = publish(dp={"rho": "1/8", "delta": "1/810"})
    (said,) = (text for text in made.owners.warnings if "delta" in text)
    assert said.startswith("A delta of 1/810 allows of 81 rows that some are published as they are")
    assert not any("81 rows" in text for text in made.warnings)
    made = publish(dp={"rho": "1/8", "delta": "1/811"})
    assert not any("delta" in text for text in made.owners.warnings)


def test_a_domain_file_that_comes_from_the_rows_is_refused_with_what_mends_it(tmp_path):
    document = {
        "domain": {name: {"values": values} for name, values in DOMAINS.items()},
        "from_rows": ["ill"],
    }
    (tmp_path / "domain.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match=r'domains \("ill": \[\.\.\]\)\. .* is out of from_rows'):
        publish(domains=tmp_path / "domain.json")
    (tmp_path / "domain.json").write_text(json.dumps({**document, "from_rows": []}))
    assert publish(domains=tmp_path / "domain.json").noise.level == "epsilon 1"


def test_a_demand_that_cannot_be_met_says_that_another_draw_costs_as_much():
    with pytest.raises(nbcfast.Infeasible, match=r"; noise was drawn for this.*each further try costs"):
        publish(method="safetytransform", rows=2, dp={"epsilon": 10})
