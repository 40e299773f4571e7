"""Differential privacy: noise on counts, after which everything is published as of exact ones.

Proved in docs/mathematics/dp.md. What is where:

- `making`: `counts` of a classifier and `noisy`, of any table; `asked`: which noise that is, and what has to
  be public before
- `draws`: exact samplers on coins of ChaCha20
- `realistic`: noisy counts made positive ones of whole rows
- `agreeing`: what noise costs, for the owner of the table alone
"""

from nbcfast.dp.agreeing import Agreement, agreement
from nbcfast.dp.asked import epsilon_of, rho_of
from nbcfast.dp.making import counts, noisy
from nbcfast.views.noise import Noise

__all__ = ["Agreement", "Noise", "agreement", "counts", "epsilon_of", "noisy", "rho_of"]
