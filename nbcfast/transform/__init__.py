"""SafetyTransform in four steps, and joined."""

from nbcfast.transform.adjusted import Adjusted, adjust
from nbcfast.transform.publish import safety_transform, to_rows
from nbcfast.transform.scaled import Scaled, scale
from nbcfast.transform.zeros import Filled, fill_zeros

__all__ = ["Adjusted", "Filled", "Scaled", "adjust", "fill_zeros", "safety_transform", "scale", "to_rows"]
