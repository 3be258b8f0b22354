"""Many simulated runs of a policy on a bandit, counted."""

from paretopick.simulation.engine import informed_options, make_runner, simulate
from paretopick.simulation.reference import play
from paretopick.simulation.results import ErrorCurve

__all__ = ["ErrorCurve", "informed_options", "make_runner", "play", "simulate"]
