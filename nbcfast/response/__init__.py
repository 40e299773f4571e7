"""Randomised response: a classifier from answers that nobody has to be trusted with.

Proved in docs/mathematics/response.md. What is where:

- `schemes`: what the two kinds of schemes share, which are `binary_scheme` and `kary_scheme`; `coin_groups`:
  columns under one coin; `privacy`: what coins hide; `scheme_files`: schemes from JSON
- `binarising`: columns made two-valued; `bits`: such columns at a bit a record
- `disguising`: coins for each record of a table; `disguised_frames`: of one of an engine; `device`: for one
  respondent, a file to hand over, made of `_wire`
- `estimating`: shares behind the answers, from the tables of `two_way`, within the bounds of `bounded_shares`
- `classifying`: naive Bayes from these shares; `measured_accuracy`: on a disguised test set
- `planning`: how many respondents; `simulation`: all of it many times over
- `wire`: the files of disguised answers
"""

from nbcfast._wire.respondent import disguise_record
from nbcfast.response.binarising import Cut, binarise, cuts
from nbcfast.response.binary_scheme import Scheme
from nbcfast.response.bits import Bits, pack
from nbcfast.response.classifying import Classifier, classifier
from nbcfast.response.coin_groups import Group
from nbcfast.response.disguised_frames import DisguisedFrame, disguise_frame
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
    "DisguisedFrame",
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
    "disguise_frame",
    "disguise_record",
    "estimate",
    "from_dict",
    "from_json",
    "load_scheme",
    "pack",
    "plan",
    "simulate",
]
