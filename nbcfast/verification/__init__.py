"""What is published, read back and checked: from its own files alone, or against the private views."""

from nbcfast.verification.load import load
from nbcfast.verification.verify import Check, Verification, verify

__all__ = ["Check", "Verification", "load", "verify"]
