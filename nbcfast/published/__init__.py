"""What leaves: published counts with their certificate, and the file that holds both."""

from nbcfast.published.certificate import Canonical, Certificate, PublicList
from nbcfast.published.release import Release
from nbcfast.views.quality import Quality, WorstPosterior, evaluate, worst_posterior, worst_posteriors

__all__ = [
    "Canonical",
    "Certificate",
    "PublicList",
    "Quality",
    "Release",
    "WorstPosterior",
    "evaluate",
    "worst_posterior",
    "worst_posteriors",
]
