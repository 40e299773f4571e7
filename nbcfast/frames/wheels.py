"""Workers of an engine that lack nbcfast, and what they need."""

from __future__ import annotations

import sys

from nbcfast import __version__

LACKING = "No module named 'nbcfast"


def lacks_nbcfast(error: BaseException) -> bool:
    """Whether an error of an engine, or what it came of, is that a worker could not import nbcfast."""
    seen: BaseException | None = error
    while seen is not None:
        if LACKING in str(seen):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def wheel_error(workers: str) -> ModuleNotFoundError:
    """The one sentence that says what to install."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return ModuleNotFoundError(
        f"{workers} cannot import nbcfast: install the wheel of nbcfast {__version__}, with kernels compiled "
        f"for their system, in the Python {version} that they run; a zip of Python files has no kernels",
        name="nbcfast",
    )
