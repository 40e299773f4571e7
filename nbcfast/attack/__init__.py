"""Adversaries: what anybody can learn from what is published."""

from nbcfast.attack.breaches import Breach, breach
from nbcfast.attack.definetti import DeFinetti, definetti
from nbcfast.attack.inversion import Inversion
from nbcfast.attack.inverting import invert
from nbcfast.attack.membership import Membership, membership
from nbcfast.attack.posteriors import Posterior, posterior
from nbcfast.attack.totals import totals
from nbcfast.attack.worlds import Worlds, worlds
from nbcfast.attack.worst import Worst, worst

__all__ = [
    "Breach",
    "DeFinetti",
    "Inversion",
    "Membership",
    "Posterior",
    "Worlds",
    "Worst",
    "breach",
    "definetti",
    "invert",
    "membership",
    "posterior",
    "totals",
    "worlds",
    "worst",
]
