"""Find the Pareto-optimal options among many, when every measurement is noisy and only so many can be paid for."""

from importlib.metadata import version as _version

from paretopick.bandits import Bandit, Bernoulli, Gaussian, Resampled
from paretopick.errors import (
    AlreadyTold,
    BudgetTooSmall,
    FileNotWritten,
    InvalidInput,
    LogDamaged,
    MeasuringFailed,
    MissingFile,
    NotDue,
    NotReady,
    OutcomeUnknown,
    ParetopickError,
    PolicyDone,
    SimulationInterrupted,
    StorageFailed,
    StudyGone,
    UnknownName,
)
from paretopick.instances import INSTANCES, instance, read_instance
from paretopick.metrics import Metric
from paretopick.planning import Continuation, Pilot, Plan, plan
from paretopick.plots.methods import plot_curves
from paretopick.policies import POLICIES, policy, restore_policy
from paretopick.policies.base import Policy, Snapshot
from paretopick.schedules import SCHEDULES, Schedule, schedule, smallest_budget
from paretopick.simulation import ErrorCurve, play, simulate
from paretopick.studies import Certainty, Measurement, OptionResult, ParetoResult, Rehearsal, Study, identify, run_study
from paretopick.theory import bounds
from paretopick.theory.complexity import complexity, complexity_h2, effective_budget
from paretopick.theory.dominance import pareto_mask
from paretopick.theory.gaps import gaps, relaxed_gaps
from paretopick.theory.losses import (
    hypervolume,
    hypervolume_fraction,
    misidentified,
    relaxed_loss,
    wrongly_accepted,
    wrongly_rejected,
)
from paretopick.theory.margins import beats, covers, outdoes, right_within_margins

__version__ = _version("paretopick")

OptionVerdict = OptionResult
"""The name of the first release, for programs that use it."""

__all__ = [
    "INSTANCES",
    "POLICIES",
    "SCHEDULES",
    "AlreadyTold",
    "Bandit",
    "Bernoulli",
    "BudgetTooSmall",
    "Certainty",
    "Continuation",
    "ErrorCurve",
    "FileNotWritten",
    "Gaussian",
    "InvalidInput",
    "LogDamaged",
    "Measurement",
    "MeasuringFailed",
    "Metric",
    "MissingFile",
    "NotDue",
    "NotReady",
    "OptionResult",
    "OptionVerdict",
    "OutcomeUnknown",
    "ParetoResult",
    "ParetopickError",
    "Pilot",
    "Plan",
    "Policy",
    "PolicyDone",
    "Rehearsal",
    "Resampled",
    "Schedule",
    "SimulationInterrupted",
    "Snapshot",
    "StorageFailed",
    "Study",
    "StudyGone",
    "UnknownName",
    "beats",
    "bounds",
    "complexity",
    "complexity_h2",
    "covers",
    "effective_budget",
    "gaps",
    "hypervolume",
    "hypervolume_fraction",
    "identify",
    "instance",
    "misidentified",
    "outdoes",
    "pareto_mask",
    "plan",
    "play",
    "plot_curves",
    "policy",
    "read_instance",
    "relaxed_gaps",
    "relaxed_loss",
    "restore_policy",
    "right_within_margins",
    "run_study",
    "schedule",
    "simulate",
    "smallest_budget",
    "wrongly_accepted",
    "wrongly_rejected",
]
