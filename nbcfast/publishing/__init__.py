"""From a private table to a release that may leave: what is asked, made, judged and said.

In the order of `publish`: `demand` is what was asked for, and chooses the method; `inputs` are read, a
`domain_search` finds the best domain of a menu, and `prepared` makes the release. `gate` says what that would
give away beyond its limits, and whose rows are `remembered`: nothing leaves unless that is accepted. Then
`standing` says what it is worth, before and after, `one_answer` whether it is worth anything (and
`no_attribute` how an answer without attributes is measured), `answered` what its answers say by themselves,
`findings` what adversaries find, `remarks` what owners should know (of the `beginnings` of their files, too),
`looks` what columns look like; all of it is the `report`. `entering` looks at a release beside the earlier
ones of a ledger, and enters it before it is written. `strata_prepared` and `strata_report` do so for each
value of a column. With noise (`noise_asked`) a release is made of noisy counts alone (`noisy_prepared`), no
gate applies, and `noisy_report` keeps what is for the owner of the table apart. Under a policy there are
`policy_findings` besides, and `gating` says of what was published whether it keeps one. `words` has the
pieces of what is said.
"""

from nbcfast.publishing.gating import GateVerdict, gate
from nbcfast.publishing.noisy_report import NoisyPublication, OwnersFigures
from nbcfast.publishing.publish import publish
from nbcfast.publishing.report import Publication, Written
from nbcfast.publishing.standing import Standing
from nbcfast.publishing.strata_report import StratifiedPublication

__all__ = [
    "GateVerdict",
    "NoisyPublication",
    "OwnersFigures",
    "Publication",
    "Standing",
    "StratifiedPublication",
    "Written",
    "gate",
    "publish",
]
