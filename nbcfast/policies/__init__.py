"""A policy: what an owner demands of every release, in a file that is written before there is one.

`keys` has every key of nbcfast.toml with what it may be, of which `json_schema` makes a schema for editors,
and `toml_files` reads the file. A `policy` is what it says; `policy_terms` put it under what somebody asks of
a publication, `policy_rules` say what a release by itself shows of it, `menu_choices` which domain of a menu
that is, and `begun_policy` writes one to begin with.
"""

from nbcfast.policies.begun_policy import first_policy
from nbcfast.policies.json_schema import policy_schema
from nbcfast.policies.policy import AnyPolicy as AnyPolicy
from nbcfast.policies.policy import Policy
from nbcfast.policies.policy_rules import PolicyRule, shown_rules
from nbcfast.policies.policy_terms import Terms, terms_of

__all__ = [
    "Policy",
    "PolicyRule",
    "Terms",
    "first_policy",
    "policy_schema",
    "shown_rules",
    "terms_of",
]
