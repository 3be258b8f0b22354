"""Planning: from a pilot or a guess to the error against the budget and the smallest that will do; and how a study will go on."""

from paretopick.planning.ahead import look_ahead
from paretopick.planning.pilots import Pilot
from paretopick.planning.planner import PLANNED, plan
from paretopick.planning.plans import Plan, Recommendation
from paretopick.studies.continuation import Continuation

__all__ = ["PLANNED", "Continuation", "Pilot", "Plan", "Recommendation", "look_ahead", "plan"]
