"""Many simulated runs of policies on a bandit, counted."""

from paretopick.simulation.engine import check_goal, simulate
from paretopick.simulation.executors import opened
from paretopick.simulation.reference import play
from paretopick.simulation.results import ErrorCurve
from paretopick.simulation.tasks import informed, make_task

__all__ = ["ErrorCurve", "check_goal", "informed", "make_task", "opened", "play", "simulate"]
