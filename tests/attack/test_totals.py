"""The totals attack: counts back from public totals, of whatever is a power of them."""

import numpy as np
import pytest
from canonical_cases import ILL_OR_WELL, adult

import nbcfast
from nbcfast import Viewset, attack, canonical


def test_the_totals_attack_inverts_what_is_not_changed():
    rng = np.random.default_rng(3)
    arrays = [rng.integers(1, 50, (size, 2)) for size in (4, 5, 6)]
    most = np.max([array.sum(axis=0) for array in arrays], axis=0)
    for array in arrays:
        array[0] += most - array.sum(axis=0)
    views = Viewset(most, arrays)
    assert attack.totals(views, views) == (15, 15)
    # A power of the counts is inverted by its public totals too, gauge or not.
    release = nbcfast.safety_transform(views, 4, rows="proven")
    assert attack.totals(release, views)[0] >= 12


def test_the_totals_attack_has_its_former_name_for_one_version():
    assert canonical.attacked is attack.totals


def test_the_attack_wants_the_same_names():
    views = ILL_OR_WELL
    with pytest.raises(TypeError, match="release must be a Release or a Viewset, got int"):
        attack.totals(5, views)
    with pytest.raises(ValueError, match="release must have the classes"):
        attack.totals(Viewset(views.class_counts, dict(views.counts)), views)
    for counts, message in (
        ({"age": views.counts["age"]}, "got no 'sex' of 2 values"),
        ({**views.counts, "more": views.counts["sex"]}, "release must have the attributes"),
        ({"age": views.counts["sex"], "sex": views.counts["sex"]}, "got no 'age' of 3 values"),
    ):
        with pytest.raises(ValueError, match=message):
            attack.totals(Viewset(views.class_counts, counts, views.classes), views)
    made = canonical.release(views, 4)
    turned = Viewset(views.class_counts, {name: views.counts[name] for name in ("sex", "age")}, views.classes)
    assert attack.totals(made, turned) == attack.totals(made, views)


def test_public_totals_give_back_part_of_three_attributes_and_nothing_of_two(data):
    views = adult(data)
    recovered, cells = attack.totals(canonical.release(views, 4), views)
    assert cells == 159
    assert recovered <= 120
    assert attack.totals(nbcfast.safety_transform(views, 4, rows="proven"), views) == (159, 159)
    views = adult(data, ["age", "education_num"])
    assert attack.totals(canonical.release(views, 4), views) == (0, 80)
