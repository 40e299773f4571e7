"""What is published, read back and checked: from its own files alone, or against the private views.

`load` reads every kind (`READERS`); `checks` has `verify`, whose `results` are checks and a verdict. What the
library checks of releases beyond the script is in `remade` (the canonical one, made again) and `compared`
(with the private views); tables are read in `partitions`, `disclosures` and `disguises`.
"""

from nbcfast.verification.checks import verify
from nbcfast.verification.load import load
from nbcfast.verification.results import Check, Verification

__all__ = ["Check", "Verification", "load", "verify"]
