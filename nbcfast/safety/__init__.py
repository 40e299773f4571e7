"""How far a viewset can move anybody's odds: its amplification Lambda, the limits on it, and the verdict."""

from nbcfast.safety.amplification import (
    Amplification,
    Report,
    allowed_amplification,
    amplification,
    at_most,
    check,
    limit,
)

__all__ = ["Amplification", "Report", "allowed_amplification", "amplification", "at_most", "check", "limit"]
