"""What is published, read back and checked: from its own files alone, or against the private views."""

from nbcfast.verification.checks import verify
from nbcfast.verification.load import load
from nbcfast.verification.results import Check, Verification

__all__ = ["Check", "Verification", "load", "verify"]
