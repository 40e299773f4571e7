"""Results are pickled and copied, for other processes, and nobody can change their mappings there either."""

import copy
import pickle
from types import MappingProxyType

import numpy as np
import pytest

import nbcfast
from nbcfast import attack, canonical, response, skyline, templates

COLUMNS = {"age": ["old", "young", "young", "old"] * 5, "ill": ["no", "yes", "no", "no"] * 5}
TABLE = nbcfast.Table(COLUMNS)
VIEWS = nbcfast.count(TABLE, "ill")
SCHEME = response.Scheme("0.8", [["age"]])

ANSWERS = response.disguise(TABLE, SCHEME, rng=np.random.default_rng(1))
TEMPLATES = [templates.Template(["age"], ("ill", "yes"), "0.6")]

RESULTS = {
    "certificate of a disclosure": lambda: templates.disclose(TABLE, TEMPLATES, target="age").certificate,
    "certificate of answers": lambda: ANSWERS.certificate,
    "certificate of groups": lambda: skyline.anonymize(TABLE, ["age"], "ill", k=5).certificate,
    "comparison": lambda: nbcfast.compare_releases({"views": VIEWS}, {"age": ["old"]}, ["no"])["views"],
    "estimate": lambda: response.estimate(ANSWERS, SCHEME, "ill"),
    "bits": lambda: response.pack(TABLE),
    "inversion": lambda: attack.invert(canonical.release(VIEWS, 4), truth=VIEWS),
    "leak": lambda: canonical.leak(VIEWS),
    "posterior": lambda: attack.posterior(VIEWS, {"age": "old"}),
    "probabilities": lambda: canonical.release(VIEWS, 4).to_probabilities(),
    "publication": lambda: nbcfast.publish(TABLE, "ill", 4),
    "strata": lambda: canonical.release_by({**COLUMNS, "sex": list("fffmm") * 4}, "ill", "sex", 4),
    "worst": lambda: attack.worst(VIEWS),
}


def plain(result):
    return (
        result.to_dict() if hasattr(result, "to_dict") else {n: w.tolist() for n, w in result.words.items()}
    )


@pytest.mark.parametrize("copied", [lambda result: pickle.loads(pickle.dumps(result)), copy.deepcopy])
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_pickled_and_copied(name, copied):
    result = RESULTS[name]()
    other = copied(result)
    assert type(other) is type(result)
    np.testing.assert_equal(plain(other), plain(result))
    assert {key: type(value) for key, value in vars(other).items()} == {
        key: type(value) for key, value in vars(result).items()
    }


def test_a_copy_cannot_be_changed_either():
    other = pickle.loads(pickle.dumps(canonical.leak(VIEWS)))
    assert isinstance(other.levels, MappingProxyType)
    with pytest.raises(TypeError):
        other.levels["age"] = (0, 0)
    with pytest.raises(AttributeError):
        other.levels = {}
