"""What a study knows, in numbers: for whoever judges it, plans with it, or simulates how it goes on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretopick._arrays import FloatArray, IntArray
from paretopick.errors import NotReady
from paretopick.estimates import Estimates
from paretopick.metrics import Metric
from paretopick.policies import PolicyChoice
from paretopick.studies.roundless import numbers_for_policies
from paretopick.studies.state import State


@dataclass(frozen=True, eq=False)
class StudyData:
    """The data of the options that were not retired."""

    options: tuple[str, ...]
    metrics: tuple[Metric, ...]
    estimates: Estimates
    """Of the means, in the units of the metrics."""
    counts: IntArray
    """``(n_options,)`` measurements of each."""
    sums: FloatArray
    """``(n_options, n_metrics)``, larger is better."""
    squares: FloatArray
    """Of deviations from the means, likewise."""
    choice: PolicyChoice
    used: int
    """Measurements that count, those of retired options included."""
    budget: int
    widths: FloatArray
    """What metrics are divided by to be compared, 0 where they are exact."""


def data_of(state: State) -> StudyData:
    """Returns the data of a study; raises ``NotReady`` if an option was not measured yet, or none was measured twice."""
    present = state.present
    if not present:
        raise NotReady("all options are retired.")
    counts, sums, squares = numbers_for_policies(state)
    counts, sums, squares = counts[present], sums[present], squares[present]
    estimates = state.estimates(present)
    if estimates.sharing is not None:  # as they would be with the same means and noise in no blocks
        shared = (estimates.sharing.stds > 0) & (estimates.known > 0)
        n = counts[:, None].astype(np.float64)
        sums = np.where(shared, estimates.means * state.definition.signs * n, sums)
        squares = np.where(shared, np.square(estimates.stds) * np.maximum(n - 1.0, 0.0), squares)
    return StudyData(
        options=tuple(state.definition.options[arm] for arm in present),
        metrics=state.definition.metrics,
        estimates=estimates,
        counts=counts,
        sums=sums,
        squares=squares,
        choice=state.definition.choice,
        used=state.used,
        budget=state.budget,
        widths=state.widths(),
    )
