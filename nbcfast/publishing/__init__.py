"""From a private table to a release that may leave: what is asked, made, judged and said."""

from nbcfast.publishing.publish import publish
from nbcfast.publishing.report import Publication, Written
from nbcfast.publishing.standing import Standing

__all__ = ["Publication", "Standing", "Written", "publish"]
