"""What signatures call by a name: for annotations in programs of your own, and for reading ``help(pp.identify)``.

Editors complete these names and texts, and type checkers refuse what is none of them: ``policy="ege-srr"``, ``{"b": "mn"}``.
They are about what you write; what the package returns are the classes of ``paretopick`` itself.

- ``MetricsGiven``: ``{"seconds": "min", "quality": "max"}``, or a ``MetricTable`` or ``pp.Metric`` for each; a list of
  ``pp.Metric``; or one text, ``"seconds:min~2%<=50,errors<=0.01"``
- ``MetricTable``: ``{"goal": "min", "margin": "2%", "at_most": 50}``
- ``Goal``: ``"min"``, ``"max"``, ``"minimize"``, ``"maximise"`` and the like
- ``PolicyGiven``: ``"apt"``, ``("apt", {"batch": 8})`` or ``{"name": "apt", "batch": 8}``
- ``PolicyName``: the keys of ``pp.POLICIES``
- ``PolicyOptions``: ``{"batch": 8}``, the options of all policies; ``PolicyTable`` has a ``name``, too
- ``OwnPolicyGiven``: for ``pp.simulate``, a subclass of ``pp.Policy`` or what makes one, alone or with its options:
  ``(MyPolicy, {"width": 2})``
- ``BudgetGiven``: ``600``, ``("seconds", 1200)``, ``{"dollars": 5}`` or ``"20m"``
- ``CostGiven``: the name of what a measurement costs, or a number for each option
- ``StorageChoice``: the address of a database, the path of an SQLite file, ``"sqlite://"`` for memory, or None for what the
  environment variable PARETOPICK_STORAGE says, or ``paretopick.db``
- ``IfExists``: ``"open"``, ``"replace"`` or ``"error"``
- ``Status``: ``"pareto"``, ``"open"``, ``"dominated"``, ``"infeasible"`` or ``"retired"``
- ``InstanceName``: the keys of ``pp.INSTANCES``
- ``ScheduleName``: the keys of ``pp.SCHEDULES``
- ``Spend``: ``"printed"`` or ``"all"``
- ``Engine``: ``"auto"``, ``"compiled"`` or ``"reference"``
- ``Margins``: one number, or one for each objective, and None for one that is not compared
- ``Limits``: one number for each objective, and None where there is no limit
- ``Seed``: an int, a SeedSequence or a Generator, as NumPy's functions take it, or None

A mapping in a variable of its own needs its annotation, since type checkers take ``{"seconds": "min"}`` for a ``dict[str, str]``:

>>> import paretopick as pp
>>> METRICS: pp.typing.MetricsGiven = {"seconds": "min", "quality": {"goal": "max", "margin": 0.05}}
>>> POLICY: pp.typing.PolicyGiven = ("apt", {"batch": 4})
>>> study = pp.Study.create("a", options=["x", "y"], metrics=METRICS, budget=40, policy=POLICY, storage="sqlite://")
>>> [metric.text for metric in study.definition.metrics]
['seconds:min', 'quality:max~0.05']

Texts with a margin or a limit, ``{"quality": "max~0.05"}``, and options in a text, ``"apt:batch=4"``, work all the same. Type
checkers cannot look into a text, and would have to take ``"mn"``, too; so they refuse these, and the table, or one text with all
metrics, says the same. What comes from a file is ``cast`` to the type, and checked when it is used.
"""

from __future__ import annotations

from paretopick._metric_texts import Goal
from paretopick.bandits import Seed
from paretopick.instances import InstanceName
from paretopick.metrics import MetricsGiven, MetricTable
from paretopick.policies import OwnPolicyGiven, PolicyGiven, PolicyName, PolicyOptions, PolicyTable
from paretopick.schedules import ScheduleName, Spend
from paretopick.simulation.engine import Engine
from paretopick.storage import StorageChoice
from paretopick.studies.budgets import BudgetGiven, CostGiven
from paretopick.studies.opening import IfExists
from paretopick.studies.result import Status
from paretopick.theory.margins import Limits, Margins

__all__ = [
    "BudgetGiven",
    "CostGiven",
    "Engine",
    "Goal",
    "IfExists",
    "InstanceName",
    "Limits",
    "Margins",
    "MetricTable",
    "MetricsGiven",
    "OwnPolicyGiven",
    "PolicyGiven",
    "PolicyName",
    "PolicyOptions",
    "PolicyTable",
    "ScheduleName",
    "Seed",
    "Spend",
    "Status",
    "StorageChoice",
]
