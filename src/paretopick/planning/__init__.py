"""Planning: from a pilot or a guess to the error against the budget, and to the smallest budget that will do."""

from paretopick.planning.pilots import Pilot
from paretopick.planning.planner import PLANNED, plan
from paretopick.planning.plans import Plan, Recommendation

__all__ = ["PLANNED", "Pilot", "Plan", "Recommendation", "plan"]
