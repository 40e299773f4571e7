"""SafetyTransform in four steps, and joined.

`plan` is what is wanted of rows. The steps: `zeros` are filled, `scaled` takes `roots` (by a `gauge`; k from
a `ladder`), `adjusted` makes counts add up, `shares` deals rows; `publish` joins them. `margin_bound` says
what roots and rounding may use up, `powers` holds numbers too large to write out.
"""

from nbcfast.transform.adjusted import Adjusted, adjust
from nbcfast.transform.publish import safety_transform, to_rows
from nbcfast.transform.scaled import Scaled, scale
from nbcfast.transform.zeros import Filled, fill_zeros

__all__ = ["Adjusted", "Filled", "Scaled", "adjust", "fill_zeros", "safety_transform", "scale", "to_rows"]
