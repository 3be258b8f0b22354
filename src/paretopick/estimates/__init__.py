"""What measurements say about the means of some options, how far off it may be, and draws of what the truth may be."""

from paretopick.estimates.measured import estimate, estimate_tables
from paretopick.estimates.records import Estimates

__all__ = ["Estimates", "estimate", "estimate_tables"]
