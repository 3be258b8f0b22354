"""Pilots: what is known before a study, and what it leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paretopick._arrays import FloatArray, IntArray, check_name
from paretopick._frames import TableGiven
from paretopick._words import capital, counted, joined
from paretopick.bandits import Bandit, Bernoulli, Gaussian, Resampled, check_bandit
from paretopick.errors import InvalidInput, NotReady
from paretopick.estimates import Estimates, estimate_tables
from paretopick.metrics import Metric, MetricsGiven, check_metrics, goals_of, requirements_of, signs_of
from paretopick.studies import Study
from paretopick.studies.certainty import required_of
from paretopick.studies.coins import taken_for_coins
from paretopick.studies.sharing import same, shared_noise
from paretopick.studies.tables import read_measurements
from paretopick.theory.requirements import Requirements

FEW_REPEATS = 10
"""With fewer the noise is known badly."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """What is known beforehand: made by ``guess``, ``of_table`` or ``of_study``.

    >>> from paretopick import Bandit, Gaussian
    >>> bandit = Bandit([[0.9, 0.1], [0.2, 0.8], [0.1, 0.0]], Gaussian(std=0.3), name="three ideas")
    >>> Pilot.guess(bandit, goals={"quality": "max", "speed": "max"}).source
    'the means of three ideas, taken for the truth'
    """

    bandit: Bandit
    """The means as guessed or measured, larger is better, and the noise."""
    source: str
    """Where they come from, in a phrase."""
    scale: FloatArray | None
    """What the policies divide metrics by, 0 for exact ones; None: nothing."""
    spend_all: bool
    """Whether policies spend all of the budget that rounds can divide, as studies do."""
    estimates: Estimates | None = None
    """What a pilot leaves open; None if the means are taken for the truth."""
    notes: tuple[str, ...] = ()
    """What else to know about it, in sentences."""
    metrics: tuple[Metric, ...] = ()
    """As the user knows them, in the order of the objectives."""
    required: Requirements | None = None
    """Which differences matter and which limits options must keep, in the units of the bandit; None if nobody said."""
    pairing: str | None = None
    """What measurements share that are compared with each other, "repeat" or a column; the bandit has the noise that is left."""

    @classmethod
    def guess(cls, bandit: Bandit, *, like_a_study: bool = True, goals: MetricsGiven | None = None) -> Pilot:
        """Returns means and noise that are taken for the truth.

        Args:
            bandit: with them.
            like_a_study: whether metrics are compared in units of their noise and all of the budget is spent, as studies do;
                else policies work as ``simulate`` has them.
            goals: of the metrics as the user knows them, as for ``Study.create``, in the order of the objectives; in the bandit
                larger is better. They may have margins and limits, in the units of the means.
        """
        check_bandit(bandit)
        widths = _noise_widths(bandit) if like_a_study else None
        metrics = check_metrics(goals) if goals else ()
        for metric in metrics:
            if metric.exact or metric.width is not None:
                raise InvalidInput(f"{metric!r} says more than a goal; the noise of guessed means is that of the bandit.")
            if metric.log:
                raise InvalidInput(
                    f"metric {metric.text!r} is compared as logarithms, and guessed means and their noise are not; give the "
                    "margin in the unit of the metric."
                )
        if metrics and len(metrics) != bandit.n_objectives:
            names = joined([repr(metric.name) for metric in metrics])
            raise InvalidInput(f"goals has {names}; the bandit has {bandit.n_objectives} objectives, so name as many metrics.")
        notes = (_goals(metrics), *_wanted(metrics)) if metrics else ()
        required = requirements_of(metrics) if metrics else Requirements.none(bandit.n_objectives)
        return cls(
            bandit,
            f"the means of {bandit.name}, taken for the truth",
            widths,
            like_a_study,
            notes=notes,
            metrics=metrics or tuple(_metric_of(place, name) for place, name in enumerate(bandit.objective_names, start=1)),
            required=None if required.is_plain else required,
        )

    @classmethod
    def of_table(
        cls,
        table: TableGiven,
        metrics: MetricsGiven,
        *,
        option: str | None = None,
        exact: Iterable[str] = (),
        pairing: str | None = None,
    ) -> Pilot:
        """Returns the pilot whose measurements are in a table, a row for each.

        Args:
            table: a data frame, a list of rows, a mapping from columns to lists, or the path of a CSV file, as for ``pp.judge``.
            metrics: the columns that count, and their goals, margins and limits, as for ``Study.create``.
            option: the column with the names of the options; by default ``option``, or else the first.
            exact: metrics without noise.
            pairing: if measurements share what makes them vary, the column that says with which others; or "repeat", for those
                that are the n-th of their option (in a column ``repeat``, or else in the order of the rows).

        >>> rows = [{"option": "ab"[n % 2], "seconds": (n * 7 % 5) / 10 + n % 2} for n in range(12)]
        >>> print(Pilot.of_table(rows, {"seconds": "min"}).source)
        12 measurements of 2 options in the table
        """
        chosen = check_metrics(metrics, exact=exact)
        names = tuple(metric.name for metric in chosen)
        measured, shared, source = read_measurements(table, goals_of(chosen), option=option, pairing=check_pairing(pairing))
        _check_values(source, measured, chosen)
        tables = [_scaled(np.array(rows), chosen) for rows in measured.values()]
        exact_ones = np.array([metric.exact for metric in chosen])
        blocks = None if pairing is None else _numbered([shared[option] for option in measured])
        estimates: Estimates = _known(
            source, lambda: estimate_tables(tables, exact=exact_ones, signs=signs_of(chosen), blocks=blocks)
        )
        values = np.array([table[0] for table in tables])  # of exact metrics all are that, and means of them may be rounded
        estimates = replace(estimates, means=np.where(exact_ones, values, estimates.means))
        bandit = replace(estimates.bandit(source), arm_names=tuple(measured), objective_names=names)
        notes = (_goals(chosen), *_wanted(chosen), *_shared(pairing, estimates, chosen), *_weaknesses(estimates, names))
        scale = np.array([metric.divisor(noise) for metric, noise in zip(chosen, estimates.scale(), strict=True)])
        required = required_of(estimates, chosen)
        return cls(
            bandit,
            _measured(estimates, source),
            scale,
            True,
            estimates,
            notes,
            metrics=chosen,
            required=None if required.is_plain else required,
            pairing=pairing if estimates.is_shared else None,
        )

    @classmethod
    def of_study(cls, study: Study) -> Pilot:
        """Returns what a study has measured so far, as the pilot of a new one with the same options, without retired ones."""
        estimates, options, scale = _known(f"the study {study.name!r}", study.estimates)
        bandit = replace(estimates.bandit(study.name), arm_names=options, objective_names=tuple(study.metrics))
        again = "This is for a new study that starts from nothing; what is measured already counts if it is imported there."
        metrics = study.definition.metrics
        pairing = study.definition.pairing
        shared = _shared(pairing, estimates, metrics)
        notes = (_goals(metrics), *_wanted(metrics), again, *shared, *_weaknesses(estimates, tuple(study.metrics)))
        required = required_of(estimates, metrics)
        return cls(
            bandit,
            _measured(estimates, f"the study {study.name!r}"),
            scale,
            True,
            estimates,
            notes,
            metrics=metrics,
            required=None if required.is_plain else required,
            pairing=pairing if estimates.is_shared else None,
        )

    @property
    def without_pairing(self) -> Bandit:
        """The same options with all of their noise, as they would be measured if measurements shared nothing."""
        return self.bandit if self.estimates is None else replace(self.bandit, noise=self.estimates.whole_noise)

    @property
    def noise(self) -> FloatArray:
        """``(n_metrics,)`` of one measurement, as metrics are compared; 0 where they are exact."""
        if isinstance(self.bandit.noise, Resampled):
            return np.asarray(np.sqrt(np.mean([table.var(axis=0) for table in self.bandit.noise.tables], axis=0)))
        if self.estimates is None:
            return _noise_widths(self.bandit)
        return np.where(self.estimates.exact, 0.0, self.estimates.pooled)

    def truths(self, n: int, rng: np.random.Generator) -> FloatArray | None:
        """Returns ``(n, n_options, n_metrics)`` of what the means may be, larger is better; None if they are known."""
        return None if self.estimates is None else self.estimates.larger_is_better(self.estimates.draws(n, rng))


def check_pairing(pairing: Any) -> str | None:
    """Returns the name of a column, or None."""
    return None if pairing is None else check_name(pairing, "pairing")


def _numbered(shared: Sequence[Sequence[Any]]) -> list[IntArray]:
    """Blocks as numbers from 0 on, -1 for none."""
    numbers = {block: place for place, block in enumerate(dict.fromkeys(block for each in shared for block in each))}
    return [np.array([-1 if block is None else numbers[block] for block in each], dtype=np.int64) for each in shared]


def _shared(pairing: str | None, estimates: Estimates, metrics: Sequence[Metric]) -> Iterable[str]:
    """How much of the noise measurements in a block share, and what is simulated."""
    if pairing is None:
        return
    said = shared_noise(pairing, estimates, (), metrics)
    if said is None:
        yield f"No two options were measured {same(pairing)} often enough to know what they share, so the plan does without."
        return
    yield said.sentence
    if said.better:
        yield (
            f"Planned is as if every option were measured {same(pairing)} as the others, each time; the more often some are "
            "measured than others, the more it takes."
        )


def _metric_of(place: int, objective: str) -> Metric:
    """The metric of an objective that has a name alone; those that are to be small have a minus before it."""
    try:
        return Metric(objective[1:], "min") if objective.startswith("-") else Metric(objective, "max")
    except InvalidInput:  # no name for a metric: it is shown by its number
        return Metric(f"objective_{place}", "max")


def _scaled(table: FloatArray, metrics: Sequence[Metric]) -> FloatArray:
    """Measurements as they are compared."""
    return np.column_stack([metric.scaled(column) for metric, column in zip(metrics, table.T, strict=True)])


def _check_values(path: str, measured: Mapping[str, Sequence[Sequence[float]]], metrics: Sequence[Metric]) -> None:
    """Refuses values that a metric cannot have, and an exact metric that varies."""
    for option, rows in measured.items():
        for row in rows:
            for metric, value in zip(metrics, row, strict=True):
                try:
                    metric.value(value)
                except InvalidInput as problem:
                    raise InvalidInput(f"{path}, option {option!r}: {problem}") from None
    for place, metric in enumerate(metrics):
        for option, rows in measured.items() if metric.exact else ():
            values = {row[place] for row in rows}
            if len(values) > 1:
                raise InvalidInput(
                    f"{path}: metric {metric.name!r} is said to be exact, and option {option!r} has {min(values):g} and "
                    f"{max(values):g}."
                )


def _known(what: str, estimates: Callable[[], Any]) -> Any:
    try:
        return estimates()
    except NotReady as reason:
        raise NotReady(f"{what} says too little to plan with: {reason}") from None


def _measured(estimates: Estimates, what: str) -> str:
    return f"{counted(int(estimates.counts.sum()), 'measurement')} of {counted(len(estimates.counts), 'option')} in {what}"


def _goals(metrics: Sequence[Metric]) -> str:
    """Which metrics are to be large, and which small."""
    named = {metric.direction: [m.name for m in metrics if m.direction == metric.direction] for metric in metrics}
    parts = [f"{direction} in {joined(names)}" for direction, names in sorted(named.items())]  # large before small
    return f"{capital(joined(parts))}."


def _wanted(metrics: Sequence[Metric]) -> Iterable[str]:
    """Which differences matter, and which limits there are, if there are some."""
    margins = [f"{metric.margin_text} in {metric.name}" for metric in metrics if metric.margin is not None]
    if margins:
        yield f"Differences matter from {joined(margins)} on."
    limits = [f"{metric.limit_text} in {metric.name}" for metric in metrics if metric.compared and metric.limit is not None]
    if limits:
        yield f"Options must have {joined(limits)}."


def _weaknesses(estimates: Estimates, metrics: Sequence[str]) -> Iterable[str]:
    """What is thin about a pilot."""
    repeats = int((estimates.counts - 1).sum())
    noisy = ~(estimates.exact | estimates.binary)
    if noisy.any() and repeats < FEW_REPEATS:
        yield f"How noisy measurements are is known from {repeats} repeats only; this plan is a rough one."
    for name, still in zip(metrics, noisy & (estimates.stds == 0).all(axis=0), strict=True):
        if still:
            yield f"{name!r} never varied between repeats; if it cannot, declare it exact."
    for at in np.flatnonzero(estimates.binary & np.isin(estimates.means, (0.0, 1.0)).all(axis=0)).tolist():
        if (most := int(estimates.known[:, at].max())) > 1:
            yield taken_for_coins(metrics[at], most)


def _noise_widths(bandit: Bandit) -> FloatArray:
    """The noise of each objective, on average over the arms; 0 where there is none."""
    if isinstance(bandit.noise, Gaussian):
        if bandit.noise.cov is None:
            variances = np.broadcast_to(np.asarray(bandit.noise.std), (bandit.n_objectives,)) ** 2
        else:
            variances = np.diagonal(bandit.noise.cov, axis1=-2, axis2=-1).reshape(-1, bandit.n_objectives).mean(axis=0)
    elif isinstance(bandit.noise, Bernoulli):
        variances = (bandit.means * (1 - bandit.means)).mean(axis=0)
    else:
        raise InvalidInput("a plan is made from normal noise or from 0 and 1; of measurements make a Pilot.of_table.")
    return np.asarray(np.sqrt(variances))
