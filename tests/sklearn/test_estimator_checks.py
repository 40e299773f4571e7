"""Every check that scikit-learn has for estimators, on the version that is installed."""

import pytest

pytest.importorskip("sklearn")

import sklearn
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from nbcfast.sklearn import DeclaredBinner, PublishableNBClassifier

# scikit-learn -> how many checks it has for the classifier, and for the binner: the fewer that it makes of
# what an estimator says of itself, the less it looks at.
CHECKS = {"1.6": (61, 45), "1.9": (61, 45)}
VERSION = ".".join(sklearn.__version__.split(".")[:2])

CLASSIFIERS = [PublishableNBClassifier(), PublishableNBClassifier(method="safetytransform", rows="proven")]
BINNER = DeclaredBinner([None, -1, 0, 0.5, 3, None])

# That of scikit-learn 1.6 hands over an iterator, which pytest will not take for long.
made = parametrize_with_checks([*CLASSIFIERS, BINNER])
parametrized = pytest.mark.parametrize(made.args[0], list(made.args[1]), **made.kwargs)


@pytest.mark.filterwarnings("ignore::nbcfast.sklearn.UndeclaredDomainWarning")
@parametrized
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("estimator", "place"), [*((one, 0) for one in CLASSIFIERS), (BINNER, 1)])
def test_as_many_checks_are_run_as_there_are(estimator, place):
    found = len(list(estimator_checks_generator(estimator)))
    if VERSION in CHECKS:
        assert found == CHECKS[VERSION][place]
    assert found >= min(numbers[place] for numbers in CHECKS.values())


def test_no_tag_says_less_than_is_so():
    for estimator in (*CLASSIFIERS, BINNER):
        tags = estimator.__sklearn_tags__()
        assert tags.input_tags.two_d_array
        assert tags.input_tags.allow_nan
        assert tags.requires_fit
        assert not any((tags.no_validation, tags.non_deterministic, getattr(tags, "_skip_test", False)))
    assert CLASSIFIERS[0].__sklearn_tags__().classifier_tags.multi_class
    assert not CLASSIFIERS[0].__sklearn_tags__().classifier_tags.poor_score
    assert not hasattr(PublishableNBClassifier, "partial_fit")
    assert not hasattr(PublishableNBClassifier, "decision_function")
