"""From a private table to a release that may leave: what is asked, made, judged and said.

In the order of `publish`: `policy` chooses the method; `inputs` are read, a `domain_search` finds the best
domain of a menu, and `prepared` makes the release. `gate` says what that would give away beyond its limits,
and whose rows are `remembered`: nothing leaves unless that is accepted. Then `standing` says what it is
worth, before and after, `answered` what its answers say by themselves, `findings` what adversaries find,
`remarks` what owners should know (of the `beginnings` of their files, too); all of it is the `report`.
`entering` looks at a release beside the earlier ones of a ledger, and enters it before it is written.
`strata_prepared` and `strata_report` do so for each value of a column. With noise (`noise_asked`) a release
is made of noisy counts alone (`noisy_prepared`), no gate applies, and `noisy_report` keeps what is for the
owner of the table apart. `words` has the pieces of what is said.
"""

from nbcfast.publishing.noisy_report import NoisyPublication, OwnersFigures
from nbcfast.publishing.publish import publish
from nbcfast.publishing.report import Publication, Written
from nbcfast.publishing.standing import Standing
from nbcfast.publishing.strata_report import StratifiedPublication

__all__ = [
    "NoisyPublication",
    "OwnersFigures",
    "Publication",
    "Standing",
    "StratifiedPublication",
    "Written",
    "publish",
]
