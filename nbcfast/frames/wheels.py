"""Workers of an engine that lack nbcfast, and what they need."""

from __future__ import annotations

import sys

from nbcfast import __version__

LACKING = (
    "No module named 'nbcfast",
    "No module named 'gmpy2",
    "No module named 'pyarrow",
    "a source tree without compiled kernels",
)


def lacks_nbcfast(error: BaseException) -> bool:
    """Whether an error of an engine, or what it came of, is that a worker lacks nbcfast or what it needs."""
    seen: BaseException | None = error
    while seen is not None:
        if any(lacking in str(seen) for lacking in LACKING):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def wheel_error(workers: str) -> ModuleNotFoundError:
    """The one sentence that says what to install."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return ModuleNotFoundError(
        f"{workers} cannot import nbcfast: install the wheel of nbcfast[arrow] {__version__}, with kernels "
        f"compiled for their system, in the Python {version} that they run; a zip of Python files has none",
        name="nbcfast",
    )
