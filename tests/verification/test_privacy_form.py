"""What a certificate says of noise: which numbers fit each other, and what verifiers say of them."""

import json
from fractions import Fraction

import pytest
from mutant_corpus import TWO, VOTES, signed

import nbcfast
from nbcfast import Certificate, _coins, canonical, dp, verify_release
from nbcfast._wire.concentrated import epsilon_above, rho_below
from nbcfast._wire.privacy_form import NOISE_UNSEEN, NoiseEntry, privacy_note
from nbcfast.published.noised import noise_of, privacy_json, privacy_of
from nbcfast.views.noise import Noise, sensitivity_of

DELTA = Fraction(1, 10**6)
ASKED = [
    {"epsilon": 1},
    {"epsilon": "1/3", "neighbours": "replace", "rows_per_person": 3},
    {"rho": "1/8"},
    {"rho": "1/8", "delta": "1e-6", "neighbours": "replace", "rows_per_person": 2},
]
MAKERS = [
    lambda views: canonical.release(views, 4),
    lambda views: canonical.release(views, 4, bits=1),
    lambda views: nbcfast.safety_transform(views, 4),
    lambda views: nbcfast.safety_transform(views, 10**6, gauge=False),
    lambda views: nbcfast.closeness.est(views, {"ill": "1/2", "well": "1/2"}, 3),
]


def noisy(**asked):
    return dp.counts(TWO, **asked, coins=_coins.Coins(bytes(32)))


def laplace(**others):
    return {
        "attributes": 2,
        "delta": "0/1",
        "domains": "declared",
        "epsilon": "1/1",
        "mechanism": "discrete laplace",
        "neighbours": "add-remove",
        "rows_per_person": 1,
        "sensitivity": "n+1",
        **others,
    }


def gaussian(**others):
    rho = rho_below(Fraction(1), DELTA)
    entry = laplace(mechanism="discrete gaussian", sensitivity="sqrt(n+1)", delta="1/1000000")
    return {**entry, "rho": f"{rho.numerator}/{rho.denominator}", **others}


def test_so_small_a_rho_that_delta_alone_gives_it_has_a_certificate(tmp_path):
    asked = {"rho": "1e-20", "delta": "0.99"}
    nbcfast.safety_transform(noisy(**asked), 4).save(tmp_path)
    noise = nbcfast.load(tmp_path).certificate.privacy
    assert (noise.epsilon, noise.rho) == (Fraction(1, 10**30), Fraction(1, 10**20))
    assert verify_release.main([str(tmp_path)]) == 0


def edited(folder, change):
    path = folder / "certificate.json"
    fields = json.loads(path.read_text())
    change(fields)
    path.write_text(signed(fields))


def _undeclare(fields):
    """Values that come from rows, and no menu."""
    fields["canonical"]["undeclared"] = ["job"]
    del fields["advice"]


def _private(fields):
    """A choice on the private rows, and not by votes."""
    for name in ("epsilon", "blocks"):
        del fields["advice"][name]
    return {"by": "correct"}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("make", MAKERS)
def test_every_method_carries_it_and_both_verifiers_take_it(asked, make, tmp_path, capsys):
    views = noisy(**asked)
    release = make(views)
    assert release.certificate.privacy == views.noise
    release.save(tmp_path)
    assert nbcfast.load(tmp_path) == release
    entry = json.loads((tmp_path / "certificate.json").read_text())["privacy"]
    assert entry == privacy_json(views.noise)
    found = nbcfast.verify(tmp_path)
    assert found.exit_code in (0, 3)
    assert [check.name for check in found.checks if check.passed is False] == []
    assert verify_release.main([str(tmp_path)]) in (0, 3)
    printed = capsys.readouterr().out
    for text in (privacy_note(privacy_of(views.noise)), NOISE_UNSEEN):
        assert text in found.claims
        assert f"the publisher claims, unchecked: {text}" in printed
    # No sentence is about counts of the data, or what is between these and the release.
    everything = " ".join([*found.notes, *found.claims, *found.warnings])
    assert "private" not in everything
    assert "not differential privacy" not in everything


@pytest.mark.parametrize("asked", ASKED)
def test_it_is_read_as_it_was_written(asked):
    noise = noisy(**asked).noise
    assert noise_of(NoiseEntry(privacy_json(noise))) == noise


def test_where_there_is_none_no_field_says_so(tmp_path):
    canonical.release(TWO, 4).save(tmp_path)
    assert "privacy" not in json.loads((tmp_path / "certificate.json").read_text())


@pytest.mark.parametrize(
    ("mechanism", "neighbours", "rows", "text"),
    [
        ("laplace", "add-remove", 1, "n+1"),
        ("laplace", "replace", 1, "2(n+1)"),
        ("laplace", "replace", 3, "6(n+1)"),
        ("gaussian", "add-remove", 1, "sqrt(n+1)"),
        ("gaussian", "add-remove", 3, "sqrt(9(n+1))"),
        ("gaussian", "replace", 3, "sqrt(18(n+1))"),
    ],
)
def test_sensitivity_is_that_of_the_makers(mechanism, neighbours, rows, text):
    own = laplace if mechanism == "laplace" else gaussian
    NoiseEntry(own(neighbours=neighbours, rows_per_person=rows, sensitivity=text))
    times = sensitivity_of(f"discrete {mechanism}", 6, neighbours, rows) // 7
    inner = "n+1" if times == 1 else f"{times}(n+1)"
    assert text == (inner if mechanism == "laplace" else f"sqrt({inner})")


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ([], "expected an object"),
        (laplace(more=1), "expected attributes"),
        (laplace(rho="1/8"), "expected attributes"),
        ({name: one for name, one in gaussian().items() if name != "rho"}, "expected attributes"),
        (laplace(mechanism="laplace"), "mechanism: expected one of"),
        (laplace(mechanism=["discrete laplace"]), "mechanism: expected one of"),
        (laplace(neighbours="edge"), "neighbours: expected one of"),
        (laplace(domains="found"), "domains: expected one of"),
        (laplace(epsilon="0/1"), "epsilon: expected more than 0"),
        (laplace(epsilon="-1/1"), "expected a rational"),
        (laplace(epsilon="2/2"), "lowest terms"),
        (laplace(epsilon=1), "expected a rational"),
        (laplace(epsilon=None), "expected a rational"),
        (laplace(epsilon=f"{hex(10**38)}/1"), "beyond what a limit may carry"),
        (laplace(delta="1/1000000"), "delta: expected 0/1 of discrete laplace noise"),
        (laplace(sensitivity="n"), "expected sensitivity 'n+1'"),
        (laplace(sensitivity="sqrt(n+1)"), "expected sensitivity 'n+1'"),
        (laplace(rows_per_person=2), "expected sensitivity '2(n+1)'"),
        (laplace(neighbours="replace"), "expected sensitivity '2(n+1)'"),
        (laplace(rows_per_person=0, sensitivity="0(n+1)"), "rows_per_person: expected 1 to 10^9"),
        (laplace(rows_per_person=10**9 + 1), "rows_per_person: expected 1 to 10^9"),
        (laplace(rows_per_person=True), "expected an integer"),
        (laplace(attributes="two"), "attributes"),
        (gaussian(epsilon="9/10"), "of which one follows from the other"),
        (gaussian(epsilon="11/10"), "of which one follows from the other"),
        (gaussian(delta="1/10000000"), "of which one follows from the other"),
        (gaussian(rho="1/50"), "of which one follows from the other"),
        (gaussian(delta="0/1"), "delta: expected a number between 0 and 1"),
        (gaussian(delta="1/1"), "delta: expected a number between 0 and 1"),
        (gaussian(epsilon=None), "expected a rational"),
        (gaussian(delta=None), "expected a rational"),
        (gaussian(rho="0/1"), "rho: expected more than 0"),
    ],
)
def test_what_does_not_fit_is_refused(entry, says):
    with pytest.raises(ValueError, match="privacy") as error:
        NoiseEntry(entry)
    assert says in str(error.value)


def test_either_bound_may_have_been_asked_for():
    rho = Fraction(1, 8)
    epsilon = epsilon_above(rho, DELTA)
    NoiseEntry(gaussian(rho="1/8", epsilon=f"{epsilon.numerator}/{epsilon.denominator}"))
    NoiseEntry(gaussian())
    NoiseEntry(gaussian(epsilon=None, delta=None))


def test_an_edited_epsilon_is_a_claim_where_nothing_contradicts_it(tmp_path, capsys):
    canonical.release(noisy(epsilon=1), 4).save(tmp_path)

    def smaller(fields):
        fields["privacy"]["epsilon"] = "1/1000"
        old, new = "e^1, whatever", "e^0.001, whatever"
        fields["notes"] = [text.replace(old, new) for text in fields["notes"]]

    edited(tmp_path, smaller)
    found = nbcfast.verify(tmp_path)
    assert found.ok
    assert any("e^0.001" in text for text in found.claims)
    assert not any("e^0.001" in text for text in found.notes)
    assert NOISE_UNSEEN in found.claims
    verify_release.main([str(tmp_path)])
    assert "unchecked: Discrete Laplace noise was added" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda fields: fields["privacy"].update(epsilon="1/1000"), "field 'notes'"),
        (lambda fields: fields["privacy"].update(attributes=3), "expected attributes 2"),
        (lambda fields: fields.update(accepted=True), "field 'accepted' goes with private counts"),
        (lambda fields: fields.update(smoothing="1"), "field 'smoothing' goes with private counts"),
        (lambda fields: fields.update(differing_rows=0), "expected null beside field 'privacy'"),
        (_undeclare, "expected declared values of job"),
        (lambda fields: fields["advice"].update(_private(fields)), "chosen on other rows or by votes"),
        (lambda fields: fields.pop("privacy"), "field 'notes'"),
    ],
)
def test_fields_that_disagree_are_refused_by_both(change, says, tmp_path, capsys):
    canonical.release(noisy(epsilon=1), 4, advice=VOTES).save(tmp_path)
    edited(tmp_path, change)
    found = nbcfast.verify(tmp_path)
    assert found.exit_code == 1
    assert says in found.checks[0].text
    assert verify_release.main([str(tmp_path)]) == 1
    assert says in capsys.readouterr().out


def test_the_epsilon_of_votes_is_added():
    views = noisy(epsilon=1, rows_per_person=3)
    made = canonical.release(views, 4, advice=VOTES)  # of which epsilon is 1/2
    assert any("comes to epsilon = 2.5, where the change" in text for text in made.certificate.notes)
    assert not any("not differentially private" in text for text in made.certificate.notes)
    of_rho = canonical.release(noisy(rho="1/8", neighbours="replace"), 4, advice=VOTES)
    assert any("comes to rho = 0.625, where" in text for text in of_rho.certificate.notes)


def test_a_certificate_takes_no_noise_with_what_is_of_exact_counts():
    noise = noisy(epsilon=1).noise
    made = canonical.release(TWO, 4).certificate.canonical
    for besides, says in (
        ({"smoothing": 1}, "smoothing goes"),
        ({"accepted": True}, "accepted goes"),
        (
            {"advice": nbcfast.published.Advised(menu="0" * 64, options=2, chosen=[1, 0], by="correct")},
            "advice",
        ),
    ):
        with pytest.raises(ValueError, match=says):
            Certificate(
                method="canonical", amplification=4, tuples=6, canonical=made, privacy=noise, **besides
            )
    with pytest.raises(TypeError, match="privacy must be Noise"):
        Certificate(amplification=4, tuples=6, privacy={"epsilon": 1})
    fine = Noise(mechanism="discrete laplace", epsilon=Fraction(1, 10**40), sensitivity=3, n_attributes=2)
    with pytest.raises(ValueError, match="no place in a certificate"):
        Certificate(amplification=4, tuples=6, privacy=fine)


def test_a_constant_is_not_added_to_noisy_counts():
    with pytest.raises(ValueError, match="alpha must be None"):
        canonical.release(noisy(epsilon=1), 4, alpha=1)


def test_strata_have_none():
    release = canonical.release(noisy(epsilon=1), 4)
    with pytest.raises(ValueError, match="no release of noisy counts"):
        nbcfast.published.StratifiedRelease("town", {"a": release})


def test_against_is_for_the_owner(tmp_path):
    views = dp.counts(TWO, epsilon="1/1000", coins=_coins.Coins(bytes([7]) * 32))
    nbcfast.safety_transform(views, 4).save(tmp_path)
    with pytest.raises(ValueError, match="against does not go with a release that was made of noisy counts"):
        nbcfast.verify(tmp_path, TWO)
    found = nbcfast.verify(tmp_path, TWO, for_the_owner=True)
    assert found.ok
    assert [check.name for check in found.checks if check.name in ("equivalence", "differing")] == []
    assert found.classifier.startswith("computed from the private table, not for publication: ")
    differing = nbcfast.equivalence.compare(TWO, nbcfast.load(tmp_path).views).differing
    assert differing
    assert f"on {differing} of 6 tuples" in found.classifier
    assert NOISE_UNSEEN in found.claims
    with pytest.raises(ValueError, match="for_the_owner goes with against"):
        nbcfast.verify(tmp_path, for_the_owner=True)
    nbcfast.safety_transform(TWO, 4).save(tmp_path / "exact")
    with pytest.raises(ValueError, match="got one of exact counts"):
        nbcfast.verify(tmp_path / "exact", TWO, for_the_owner=True)


def test_no_other_rows_are_counted_without_noise():
    table = {"job": ["a", "b"] * 8, "sex": ["f", "m", None, "f"] * 4, "ill": ["ill", "well"] * 8}
    views = noisy(epsilon="1/100")
    made = nbcfast.safety_transform(views, 4, rows=9, allow_differences=True, table=table, class_name="ill")
    assert made.certificate.differing_rows is None


@pytest.mark.parametrize(
    ("asked", "warns"),
    [
        ({"epsilon": "9.99"}, None),
        ({"epsilon": 50}, "with epsilon = 50 one person may change the probability"),
        ({"rho": "1.49"}, None),
        ({"rho": "3/2"}, "with rho = 1.5 what is proven at a delta of 0.000001 is an epsilon above 9"),
        ({"rho": 5, "delta": "1e-6"}, "with rho = 5 what is proven"),
    ],
)
@pytest.mark.parametrize("make", MAKERS)
def test_noise_that_hides_hardly_anybody_is_warned_of(make, asked, warns, tmp_path, capsys):
    """By the maker, and by both verifiers: more risk means more warnings."""
    release = make(noisy(**asked))
    said = [
        text for text in release.certificate.warnings if text.startswith("The noise hardly hides anybody")
    ]
    assert len(said) == (warns is not None)
    assert all(warns in text for text in said)
    release.save(tmp_path / "out")
    report = nbcfast.verify(tmp_path / "out")
    assert said == [text for text in report.warnings if "hardly hides" in text]
    verify_release.main([str(tmp_path / "out")])
    assert ("warning: The noise hardly hides anybody" in capsys.readouterr().out) == bool(warns)


def test_what_is_warned_of_is_proven():
    assert epsilon_above(Fraction(3, 2), DELTA) > 9
