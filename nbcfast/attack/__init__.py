"""Adversaries: what anybody can learn from what is published.

`queries` is what all share: the views looked at, and the values known. A function a module:

- beliefs: `posteriors`; `breaches` and `worst`, which search by `branching`
- tables behind counts: `worlds` lists them, `exactly` and `moments` give posteriors over them
- private counts from published: `inverting` by `column_attack` and `cross_ratios` (`inversion` is what they
  find), `totals` by `scale_equation`, `membership`
- plain models: `of_models`, which holds the logarithms of `model_weights` or `onnx_weights` against
  `whole_numbers` of rows
- partitions: `definetti`
"""

from nbcfast.attack.breaches import Breach, breach
from nbcfast.attack.definetti import DeFinetti, definetti
from nbcfast.attack.inversion import Inversion
from nbcfast.attack.inverting import invert
from nbcfast.attack.membership import Membership, membership
from nbcfast.attack.of_models import ModelAttack, model
from nbcfast.attack.posteriors import Posterior, posterior
from nbcfast.attack.totals import TotalsAttack, totals
from nbcfast.attack.worlds import Worlds, worlds
from nbcfast.attack.worst import Worst, worst

__all__ = [
    "Breach",
    "DeFinetti",
    "Inversion",
    "Membership",
    "ModelAttack",
    "Posterior",
    "TotalsAttack",
    "Worlds",
    "Worst",
    "breach",
    "definetti",
    "invert",
    "membership",
    "model",
    "posterior",
    "totals",
    "worlds",
    "worst",
]
