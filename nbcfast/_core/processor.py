"""What NBCFAST_ISA may say: kernels look at it while they are loaded, and would pass over another word."""

import os

VARIABLE = "NBCFAST_ISA"
WORDS = ("baseline", "v2", "v3", "v4")


def wrong_vectors() -> str | None:
    """What is wrong with the word, if it asks for nothing: who set it believes that it does."""
    asked = os.environ.get(VARIABLE)
    if not asked or asked in WORDS:
        return None
    return f"{VARIABLE} must be one of {', '.join(WORDS)}; got {asked[:60]!r}"
