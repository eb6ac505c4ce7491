"""Documents, limits, costs and plans."""
