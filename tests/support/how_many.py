"""How many random cases a test looks at."""

from hypothesis import settings


def how_many(fast, thorough):
    """So many, or with HYPOTHESIS_PROFILE=thorough so many."""
    return fast if settings().max_examples < 1_000 else thorough
