"""Randomised response: a classifier from answers that nobody has to be trusted with."""

from nbcfast._wire.respondent import disguise_record
from nbcfast.response.binarising import Cut, binarise, cuts
from nbcfast.response.binary_scheme import Scheme
from nbcfast.response.bits import Bits, pack
from nbcfast.response.classifying import Classifier, classifier
from nbcfast.response.coin_groups import Group
from nbcfast.response.disguising import Disguised, disguise
from nbcfast.response.estimating import Estimate, Proportions, estimate
from nbcfast.response.kary_scheme import KaryScheme
from nbcfast.response.measured_accuracy import Accuracy, accuracy
from nbcfast.response.planning import Plan, plan
from nbcfast.response.privacy import GroupPrivacy, Privacy
from nbcfast.response.scheme_files import from_dict, from_json, load_scheme
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
