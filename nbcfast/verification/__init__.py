"""What is published, read back and checked: from its own files alone, or against the private views."""

from nbcfast.verification.checks import Check, Verification, verify
from nbcfast.verification.load import load

__all__ = ["Check", "Verification", "load", "verify"]
