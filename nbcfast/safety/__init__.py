"""How far a viewset can move anybody's odds: its amplification Lambda, the limits on it, and the verdict.

`amplification` is Lambda, by exact `ratios` of scores; `allowed` which of it keeps to a demand on posteriors,
under a `prior`, and `demanded` what was asked for; `verdict` whether it does, with the tuple that moves odds
most, as `text`. `condition10` is what the paper asks instead.
"""

from nbcfast.safety.allowed import allowed_amplification, limit
from nbcfast.safety.amplification import Amplification, amplification, at_most
from nbcfast.safety.amplification import keeps_to as keeps_to  # for makers, who have checked their arguments
from nbcfast.safety.verdict import Report, check

__all__ = ["Amplification", "Report", "allowed_amplification", "amplification", "at_most", "check", "limit"]
