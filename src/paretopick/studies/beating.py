"""Who beats whom: for every option that an answer can do without, the member that most likely dominates or covers it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick.metrics import Metric
from paretopick.studies.certainty import Judgement
from paretopick.studies.differences import Beaten, Difference

LOOKED_AT = 3
"""So many members, the likeliest to dominate an option by the spread of the draws, are counted in the draws themselves."""

POSITIVE = 0.99
"""In so many draws two options must be positive for their ratio to be said."""

AT_ONCE = 2_000_000
"""Numbers of which intervals are taken in one go."""


def beaten(judgement: Judgement, answer: BoolArray, options: Sequence[str], metrics: Sequence[Metric]) -> dict[int, Beaten]:
    """Returns for each option outside the answer which member of it most likely dominates it, and by how much.

    Options are named by their places. Nobody is named who does so in no draw. Where there are margins, to dominate is to cover:
    to be nowhere worse by more than the margin; and members that another member most likely beats are among the options, too.

    Args:
        judgement: of the options.
        answer: mask of them.
        options: their names.
        metrics: of which they are the means.
    """
    members, others = np.flatnonzero(answer & ~judgement.beaten), np.flatnonzero(~answer | judgement.beaten)
    if not len(members) or not len(others):
        return {}
    chosen, shares = _likeliest(judgement, members, others)
    known = shares > 0
    others, chosen, shares = others[known], chosen[known], shares[known]
    differences = _differences(judgement, chosen, others, metrics)
    return {
        other: Beaten(options[member], share, by)
        for other, member, share, by in zip(others.tolist(), chosen.tolist(), shares.tolist(), differences, strict=True)
    }


def compared(
    judgement: Judgement, some: Sequence[str], other: str, options: Sequence[str], metrics: Sequence[Metric]
) -> list[tuple[Difference, ...]]:
    """Returns how some options differ from another one, metric by metric.

    Args:
        judgement: of all options.
        some: names of those that are compared.
        other: the name of the one with which they are.
        options: the names of all.
        metrics: of which they are the means.
    """
    places = np.array([options.index(name) for name in some], dtype=np.int64)
    return _differences(judgement, places, np.full(len(places), options.index(other)), metrics)


def _likeliest(judgement: Judgement, members: IntArray, others: IntArray) -> tuple[IntArray, FloatArray]:
    """For each of the others the member that dominates it in most draws, and in which share; the first of equals."""
    from scipy.special import log_ndtr

    required = judgement.required
    draws, signs = judgement.draws[..., required.compared], judgement.estimates.signs[required.compared]
    margins = required.margins[required.compared]
    means, variances = draws.mean(axis=0) * signs, draws.var(axis=0)
    n = min(LOOKED_AT, len(members))
    chosen, shares = np.empty(len(others), dtype=np.int64), np.empty(len(others))
    for place, other in enumerate(others):
        ahead = means[members] - means[other] + margins
        width = np.sqrt(variances[members] + variances[other])
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(width > 0, ahead / width, np.where(ahead >= 0, np.inf, -np.inf))
        near = members[np.sort(np.argsort(-log_ndtr(z).sum(axis=1), kind="stable")[:n])]
        dominates = _shares(judgement, near, int(other))
        best = int(np.argmax(dominates))
        chosen[place], shares[place] = near[best], dominates[best]
    return chosen, shares


def _shares(judgement: Judgement, members: IntArray, other: int) -> FloatArray:
    """In which share of the draws each of some options dominates another one, or covers it where there are margins."""
    required = judgement.required
    ahead = ((judgement.draws[:, members] - judgement.draws[:, [other]]) * judgement.estimates.signs)[..., required.compared]
    if required.margins.any():
        return np.asarray((ahead >= -required.margins[required.compared]).all(axis=2).mean(axis=0))
    return np.asarray(((ahead >= 0).all(axis=2) & (ahead > 0).any(axis=2)).mean(axis=0))


def _differences(
    judgement: Judgement, members: IntArray, others: IntArray, metrics: Sequence[Metric]
) -> list[tuple[Difference, ...]]:
    """How each of some members differs from the option beside it in the metrics that have a goal, in the units of the user.

    From draws around the means as measured, so that differences are those of the means that tables show.

    Ratios are also given where a few draws, of the long tails that few measurements have, are 0 or less in a metric that is not.
    """
    draws, binary = judgement.plain_draws, judgement.estimates.binary
    centres = _in_units(judgement.estimates.means, metrics)
    is_positive = (centres > 0).all(axis=0)
    found: list[tuple[Difference, ...]] = []
    step = max(AT_ONCE // (len(draws) * len(metrics)), 1)
    for start in range(0, len(others), step):
        own, their = (_in_units(draws[:, places[start : start + step]], metrics) for places in (members, others))
        positive = is_positive & (((own > 0) & (their > 0)).mean(axis=0) >= POSITIVE)
        apart, ratios = _intervals(own - their), np.ones((3, *positive.shape))
        ratios[:, positive] = _intervals(_ratios(own[:, positive], their[:, positive]))
        for i in range(own.shape[1]):
            found.append(
                tuple(
                    Difference(
                        metric.name,
                        float(apart[1, i, d]),
                        (float(apart[0, i, d]), float(apart[2, i, d])),
                        float(ratios[1, i, d]) if positive[i, d] else None,
                        (float(ratios[0, i, d]), float(ratios[2, i, d])) if positive[i, d] else None,
                        is_share=bool(binary[d] or (metric.goal == "max" and centres[:, d].max() <= 1.0)),
                        unit=metric.unit,
                        in_ratios=metric.log,
                    )
                    for d, metric in enumerate(metrics)
                    if metric.compared
                )
            )
    return found


def _in_units(values: FloatArray, metrics: Sequence[Metric]) -> FloatArray:
    """Values as they are compared, ``(..., n_metrics)``, in the units of the user."""
    if not any(metric.log for metric in metrics):
        return values
    return np.stack([metric.unscaled(values[..., at]) for at, metric in enumerate(metrics)], axis=-1)


def _ratios(own: FloatArray, their: FloatArray) -> FloatArray:
    """Of each draw; 0 or less is as good as nothing, of which anything else is infinitely often as much."""
    above, below = np.maximum(own, 0.0), np.maximum(their, 0.0)
    safe = np.where(below > 0, below, 1.0)
    with np.errstate(over="ignore"):
        ratios = np.minimum(above / safe, np.finfo(float).max)
    return np.where(below > 0, ratios, np.where(above > 0, np.inf, 1.0))


def _intervals(values: FloatArray) -> FloatArray:
    """The ends of 95% intervals, and the median between them."""
    return np.asarray(np.quantile(values, [0.025, 0.5, 0.975], axis=0))
