"""What NBCFAST_ISA may say: kernels look at it while they are loaded, and would pass over another word."""

import os

VARIABLE = "NBCFAST_ISA"
WORDS = ("baseline", "v2", "v3", "v4")


def expect_known_vectors() -> None:
    """Refuse a word that asks for nothing: who set it believes that it does."""
    asked = os.environ.get(VARIABLE)
    if asked and asked not in WORDS:
        raise ValueError(f"{VARIABLE} must be one of {', '.join(WORDS)}; got {asked[:60]!r}")
