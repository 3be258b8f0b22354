"""Find the Pareto-optimal options among many, when every measurement is noisy and only so many can be paid for.

Say how an option is measured, what is measured of it, and how much may be spent. Measurements go where they remove most doubt:

>>> import random
>>> import paretopick as pp
>>> models = {"small": (0.71, 1.0), "medium": (0.80, 2.0), "large": (0.81, 4.0), "old": (0.74, 5.0)}
>>> chance = random.Random(1)
>>> def measure(model):
...     quality, cost = models[model]
...     return {"quality": chance.gauss(quality, 0.02), "cost": cost}
>>> result = pp.identify(measure, list(models), {"quality": "max", "cost": "min"}, budget=200, exact=["cost"], confidence=0.9)
>>> result.pareto, result.used < 200
(('small', 'medium', 'large'), True)

``print(result)`` says how sure that is. From here:

- what matters: ``pp.Metric``, with margins (``{"seconds": "min~2%"}``), limits (``"<=50"``), logarithms and units;
- over days, by many workers: ``pp.Study``, kept in a database; ``storage="sqlite://"`` keeps it in memory;
- how many measurements it takes: ``pp.plan``, from a guess, a ``pp.Pilot`` or a study;
- how often policies err: ``pp.simulate`` on a ``pp.instance`` or a ``pp.Bandit`` of your own, into a ``pp.ErrorCurve``;
- theory: ``pp.pareto_mask``, ``pp.gaps``, ``pp.complexity``, ``pp.bounds`` and their neighbours.

What there is to choose from, by name:

>>> list(pp.POLICIES)
['ege-sr', 'ege-sh', 'ege-gg', 'uniform', 'ege-sr-k', 'ege', 'ape-fb', 'ape-fb-adapt', 'apt', 'doubt']
>>> list(pp.SCHEDULES)
['sr', 'sh', 'gg', 'uniform']
>>> list(pp.INSTANCES)[:3]
['cov-boost', 'cov-boost-2d', 'snw-paper']

``help(pp.typing)`` explains the names in signatures, ``help(pp.errors)`` draws the errors as a tree, and ``paretopick --help`` is
for the command line.
"""

from importlib.metadata import version as _version

from paretopick import errors as errors
from paretopick import typing as typing
from paretopick.bandits import Bandit, Bernoulli, Gaussian, Noise, Resampled
from paretopick.errors import (
    AlreadyTold,
    BudgetTooSmall,
    ExecutorFailed,
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
from paretopick.studies import (
    Certainty,
    Measurement,
    OptionResult,
    ParetoResult,
    Rehearsal,
    Study,
    identify,
    judge,
    run_study,
)
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
    "ExecutorFailed",
    "FileNotWritten",
    "Gaussian",
    "InvalidInput",
    "LogDamaged",
    "Measurement",
    "MeasuringFailed",
    "Metric",
    "MissingFile",
    "Noise",
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
    "judge",
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
