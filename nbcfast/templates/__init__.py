"""Privacy templates: suppress just so much that no forbidden inference is confident (top-down disclosure)."""

from nbcfast.templates.disclosing import disclose
from nbcfast.templates.inferences import Violation, violations
from nbcfast.templates.results import Disclosure, Step
from nbcfast.templates.template import Template, templates_for

__all__ = ["Disclosure", "Step", "Template", "Violation", "disclose", "templates_for", "violations"]
