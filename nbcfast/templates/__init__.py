"""Privacy templates: suppress just so much that no forbidden inference is confident (top-down disclosure).

Proved in docs/mathematics/templates.md. What is where:

- `template`: an inference that must not be too confident
- `inferences`: which inferences from a table are, which is what `nbcfast templates check` asks
- `disclosing` suppresses; `masked_columns`: what may be; `distinct_rows`: rows as the kernel takes them
- `results`: what `disclose` gives back; `wire`: its files; `sql_expressions`: the same for rows in an engine
"""

from nbcfast.templates.disclosing import disclose
from nbcfast.templates.inferences import Violation, violations
from nbcfast.templates.results import Disclosure, Step
from nbcfast.templates.template import Template, templates_for

__all__ = ["Disclosure", "Step", "Template", "Violation", "disclose", "templates_for", "violations"]
