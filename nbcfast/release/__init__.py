"""What leaves: published counts with their certificate, the file format, and its verification."""

from nbcfast.release.certificate import Canonical, Certificate, PublicList, Release
from nbcfast.release.checks import Check, Verification, verify
from nbcfast.release.files import load
from nbcfast.release.quality import Posterior, Quality, evaluate, worst_posterior, worst_posteriors

__all__ = [
    "Canonical",
    "Certificate",
    "Check",
    "Posterior",
    "PublicList",
    "Quality",
    "Release",
    "Verification",
    "evaluate",
    "load",
    "verify",
    "worst_posterior",
    "worst_posteriors",
]
