"""Labels to weights, and weights to points that people can add up."""
