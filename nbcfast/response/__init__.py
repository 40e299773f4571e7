"""Randomised response: a classifier from answers that nobody has to be trusted with."""

from nbcfast._wire.respondent import disguise_record
from nbcfast.response.binary import Cut, binarise, cuts
from nbcfast.response.bits import Bits, pack
from nbcfast.response.disguising import Disguised, disguise
from nbcfast.response.estimating import Estimate, Proportions, estimate
from nbcfast.response.learning import Accuracy, Classifier, accuracy, classifier
from nbcfast.response.planning import Plan, plan
from nbcfast.response.schemes import (
    Group,
    GroupPrivacy,
    KaryScheme,
    Privacy,
    Scheme,
    from_dict,
    from_json,
    load_scheme,
)
from nbcfast.response.simulation import simulate

__all__ = [
    "Accuracy",
    "Bits",
    "Classifier",
    "Cut",
    "Disguised",
    "Estimate",
    "Group",
    "GroupPrivacy",
    "KaryScheme",
    "Plan",
    "Privacy",
    "Proportions",
    "Scheme",
    "accuracy",
    "binarise",
    "classifier",
    "cuts",
    "disguise",
    "disguise_record",
    "estimate",
    "from_dict",
    "from_json",
    "load_scheme",
    "pack",
    "plan",
    "simulate",
]
