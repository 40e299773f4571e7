"""What a release says of the policy that it was published under: which one, by its sha256, and the claim."""

from __future__ import annotations

import re

from nbcfast._wire.json_entries import Refused, shown


def policy_of(entry: object) -> str:
    """The sha256 of a policy, as a certificate has it; Refused where it is none."""
    if type(entry) is not dict or set(entry) != {"sha256"}:
        raise Refused(f"field 'policy': expected sha256, got {shown(entry)}")
    found = entry["sha256"]
    if type(found) is not str or not re.fullmatch(r"[0-9a-f]{64}", found):
        raise Refused(f"field 'policy': expected 64 hexadecimal digits, got {shown(found, 80)}")
    return found


def policy_text(sha256: str) -> str:
    """What is said with it: whoever has the policy can look at what of it the file itself shows."""
    return f"This release was published under the policy with the sha256 {sha256}."
