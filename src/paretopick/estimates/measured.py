"""From measurements to what they say about the means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._blocks import Blocked
from paretopick.errors import NotReady
from paretopick.estimates.noise import correlation_between, moderated, spread_of_chances, unseen
from paretopick.estimates.records import Estimates, population_from
from paretopick.estimates.sharing import paired


def estimate_tables(
    tables: Sequence[FloatArray],
    *,
    exact: BoolArray,
    signs: FloatArray,
    names: tuple[Sequence[str], Sequence[str]] | None = None,
    blocks: Sequence[IntArray] | None = None,
) -> Estimates:
    """Returns what measurements say about the means, from all of them.

    Args:
        tables: ``(n_measurements, n_metrics)`` for each option, NaN where a measurement lacks a metric.
        exact: as in ``estimate``.
        signs: likewise.
        names: likewise.
        blocks: for each option the numbers of the blocks of its measurements, from 0 on, -1 for none; None if nothing is shared.
    """
    has = [~np.isnan(table) for table in tables]
    both = np.array([mask.T.astype(np.int64) @ mask for mask in has])
    if (both == np.array([len(table) for table in tables])[:, None, None]).all():
        means = np.array([table.mean(axis=0) for table in tables])
        apart = [table - mean for table, mean in zip(tables, means, strict=True)]
        products = np.array([deviations.T @ deviations for deviations in apart])
    else:
        means = np.array([_means_of_pairs(table)[0].diagonal() for table in tables])
        products = np.array([_products_of_pairs(table) for table in tables])
    return estimate(
        both,
        means,
        products,
        binary=np.all([(np.isin(table, (0.0, 1.0)) | np.isnan(table)).all(axis=0) for table in tables], axis=0),
        exact=exact,
        signs=signs,
        measurements=np.array([int(mask.any(axis=1).sum()) for mask in has]),
        names=names,
        blocked=None if blocks is None else _blocked(tables, blocks),
    )


def _blocked(tables: Sequence[FloatArray], blocks: Sequence[IntArray]) -> Blocked:
    """The measurements of all options by block."""
    arms = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    return Blocked.of(arms, np.concatenate(list(blocks)), np.concatenate(list(tables)), n_options=len(tables))


def _means_of_pairs(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``[a, b]``: the mean of metric a, and of metric b, over the measurements that have both; NaN where none has."""
    has = ~np.isnan(table)
    values = np.where(has, table, 0.0)
    both = has.T.astype(np.float64) @ has
    with np.errstate(invalid="ignore"):
        first = (values.T @ has) / both
    return first, first.T


def _products_of_pairs(table: FloatArray) -> FloatArray:
    """Sums of products of deviations from the means, each over the measurements that have both metrics."""
    first, second = _means_of_pairs(table)
    apart = (table[:, :, None] - first) * (table[:, None, :] - second)
    return np.asarray(np.where(np.isnan(apart), 0.0, apart).sum(axis=0))


def estimate(
    counts: IntArray,
    means: FloatArray,
    products: FloatArray,
    *,
    binary: BoolArray,
    exact: BoolArray,
    signs: FloatArray,
    measurements: IntArray | None = None,
    names: tuple[Sequence[str], Sequence[str]] | None = None,
    blocked: Blocked | None = None,
) -> Estimates:
    """Returns what measurements say about the means.

    Args:
        counts: ``(n_options,)`` measurements of each option; or, where measurements may lack metrics, ``(n_options, n_metrics)``,
            how many have the metric; or ``(n_options, n_metrics, n_metrics)``, how many have both of two metrics. Where that is
            not said, measurements that have the rarer metric are taken to have the other one too.
        means: ``(n_options, n_metrics)`` of them; whatever it is, it is not looked at where no measurement has the metric.
        products: ``(n_options, n_metrics, n_metrics)`` sums of products of deviations from the means; those of two metrics over
            the measurements that have both, from the means of these.
        binary: which metrics are 0 or 1.
        exact: which metrics have no noise.
        signs: 1 where large is good, -1 where small is.
        measurements: ``(n_options,)`` how many there are of each option; if not said, as many as have its commonest metric.
        names: of the options and of the metrics, for messages.
        blocked: the same measurements by block, if those of a block share what makes them vary.

    Raises:
        NotReady: if an option was not measured; or lacks a metric, and options are too few to be seen as a population, which
            would say what it may be; or the noise of a metric cannot be known since no option was measured twice.
    """
    both = _both(counts, means.shape[1])
    known: IntArray = np.ascontiguousarray(np.diagonal(both, axis1=1, axis2=2))
    if measurements is None:
        measurements = known.max(axis=1)
    _check_measured(known, measurements, names)
    degrees = np.maximum(known - 1.0, 0.0)
    noisy = ~(binary | exact)
    _check_repeated(degrees, noisy, names)
    means = np.where(known > 0, means, np.nan)
    stds: FloatArray = np.zeros(means.shape)
    freedom = np.full(means.shape, np.inf)
    squares: FloatArray = np.maximum(np.diagonal(products, axis1=1, axis2=2), 0.0)  # which rounding may have made negative
    for metric in np.flatnonzero(noisy):
        stds[:, metric], freedom[:, metric] = moderated(squares[:, metric], degrees[:, metric])
        if not stds[:, metric].any():
            stds[:, metric] = unseen(means[known[:, metric] > 0, metric], degrees[:, metric])
    chances = binary & ~exact
    stds = np.where(chances, spread_of_chances((np.nan_to_num(means) * known + 0.5) / (known + 1)), stds)
    typical = np.sqrt(np.square(stds).mean(axis=0))
    total = degrees.sum(axis=0)
    pooled = np.where(total > 0, np.sqrt(squares.sum(axis=0) / np.where(total > 0, total, 1.0)), typical)
    found = Estimates(
        counts=measurements,
        both=both,
        means=means,
        stds=stds,
        freedom=freedom,
        pooled=np.where(pooled > 0, pooled, typical),
        correlation=correlation_between(products, stds, both),
        binary=chances,
        exact=exact,
        signs=signs,
    )
    return found if blocked is None else _with_blocks(found, blocked)


def _with_blocks(found: Estimates, blocked: Blocked) -> Estimates:
    """The same with what measurements in a block have in common taken into account; as they are, if that is nothing."""
    better = paired(
        blocked,
        means=found.means,
        stds=found.stds,
        freedom=found.freedom,
        correlation=found.correlation,
        exact=found.exact,
        chances=found.binary,
    )
    return found if better is None else replace(found, **better._asdict())


def _both(counts: IntArray, n_metrics: int) -> IntArray:
    """How many measurements of each option have both of two metrics."""
    if counts.ndim == 1:
        return np.repeat(counts, n_metrics**2).reshape(-1, n_metrics, n_metrics)
    return np.minimum(counts[:, :, None], counts[:, None, :]) if counts.ndim == 2 else counts


def _check_measured(known: IntArray, measurements: IntArray, names: tuple[Sequence[str], Sequence[str]] | None) -> None:
    """Refuses options without measurements, and such as lack a metric about which the others say too little."""
    if (measurements == 0).any():
        missing = int((measurements == 0).sum())
        raise NotReady(f"{missing} of {len(known)} options {'has' if missing == 1 else 'have'} no measurements.")
    enough = population_from(known.shape[1])
    for metric in np.flatnonzero((known == 0).any(axis=0)).tolist():
        others = int((known[:, metric] > 0).sum())
        if others < enough:
            option = int(np.flatnonzero(known[:, metric] == 0)[0])
            raise NotReady(
                f"{_name(names, 0, option)} has no value of {_name(names, 1, metric)}, and {others} other "
                f"{'option has' if others == 1 else 'options have'} one; that would have to be {enough} to say what it may be."
            )


def _check_repeated(degrees: FloatArray, noisy: BoolArray, names: tuple[Sequence[str], Sequence[str]] | None) -> None:
    """Refuses metrics with noise of which nothing is known."""
    if noisy.any() and not degrees.any():
        raise NotReady("no option has been measured twice, so that the noise of measurements is not known.")
    for metric in np.flatnonzero(noisy & ~degrees.any(axis=0)).tolist():
        raise NotReady(f"no option has two values of {_name(names, 1, metric)}, so that its noise is not known.")


def _name(names: tuple[Sequence[str], Sequence[str]] | None, kind: int, place: int) -> str:
    """An option (0) or a metric (1)."""
    return f"{('option', 'metric')[kind]} {place}" if names is None else f"{('', 'metric ')[kind]}{names[kind][place]!r}"
