"""How good an answer is, given the truth (Sections 2 and 5, Appendix G).

``recommended`` is always a list of arm numbers and ``optimal`` the mask of the true Pareto set, as ``pareto_mask`` returns it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import BoolArray, check_arms, check_integer, check_means, check_numbers, check_table
from paretopick._words import short
from paretopick.errors import InvalidInput
from paretopick.theory.dominance import optimal_rows


def misidentified(recommended: ArrayLike, optimal: ArrayLike, /) -> bool:
    """Returns whether the recommended arms differ from the Pareto set: the error of Section 2.

    >>> misidentified([0], [True, True, False])
    True
    """
    answer, truth = _masks(recommended, optimal)
    return bool((answer != truth).any())


def relaxed_loss(recommended: ArrayLike, optimal: ArrayLike, /, *, max_arms: int) -> bool:
    """Returns the PSI-k loss for k = ``max_arms`` (Section 5): k optimal arms are as good as all of them.

    No loss if the answer has k arms, all optimal; or if it is the Pareto set.

    Note:
        The paper prints the indicator of success and calls it the loss; this is its complement.

    >>> relaxed_loss([0], [True, True, False], max_arms=1)
    False
    """
    answer, truth = _masks(recommended, optimal)
    k = check_integer(max_arms, "max_arms", minimum=1)
    return bool((answer & ~truth).any() if answer.sum() == k else (answer != truth).any())


def wrongly_accepted(recommended: ArrayLike, optimal: ArrayLike, /) -> int:
    """Returns how many recommended arms are not Pareto optimal.

    >>> wrongly_accepted([0, 1], [True, False, True])
    1
    """
    answer, truth = _masks(recommended, optimal)
    return int((answer & ~truth).sum())


def wrongly_rejected(recommended: ArrayLike, optimal: ArrayLike, /) -> int:
    """Returns how many Pareto optimal arms are missing from the answer.

    >>> wrongly_rejected([0, 1], [True, False, True])
    1
    """
    answer, truth = _masks(recommended, optimal)
    return int((truth & ~answer).sum())


def hypervolume(points: ArrayLike, /, *, reference: ArrayLike = 0.0) -> float:
    """Returns the volume of the region above the reference point that the points dominate together (Appendix G).

    A point that is not above the reference in every objective adds nothing; no points have volume 0.

    Args:
        points: ``(n_points, n_objectives)``, larger is better.
        reference: one number, or one per objective.

    >>> hypervolume([[2.0, 1.0], [1.0, 2.0]])
    3.0
    """
    import moocore

    table = check_table(points, "points")
    if table.shape[1] == 0:
        raise InvalidInput(f"points has shape {table.shape}; expected at least one objective.")
    try:
        corner = np.broadcast_to(check_numbers(reference, "reference"), table.shape[1:])
    except (TypeError, ValueError):
        raise InvalidInput(
            f"reference={short(reference)} does not fit; expected one number or {table.shape[1]}, one per objective."
        ) from None
    corner = check_table(corner[None, :], "reference")[0]
    return float(moocore.hypervolume(table, ref=corner, maximise=True)) if len(table) else 0.0


def hypervolume_fraction(recommended: ArrayLike, means: ArrayLike, /, *, reference: ArrayLike = 0.0) -> float:
    """Returns the hypervolume of the recommended arms over that of the Pareto set, both at their true means (Appendix G).

    1 when every optimal arm was found, whatever else was recommended; NaN when no arm lies above the reference point in every
    objective, so that there is no volume to take a fraction of.

    Args:
        recommended: arm numbers.
        means: the true means ``(n_arms, n_objectives)``.
        reference: as of ``hypervolume``. The paper's two figures were computed with 0.

    >>> round(hypervolume_fraction([0], [[1.0, 0.5], [0.5, 1.0]]), 3)
    0.667
    """
    means = check_means(means)
    answer, truth = _masks(recommended, optimal_rows(means))
    whole = hypervolume(means[truth], reference=reference)
    return hypervolume(means[answer], reference=reference) / whole if whole > 0 else float("nan")


def _masks(recommended: ArrayLike, optimal: ArrayLike) -> tuple[BoolArray, BoolArray]:
    """The answer and the truth, both as masks."""
    try:
        truth = np.asarray(optimal)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"optimal={short(optimal)} is not a list of truth values, one per arm.") from None
    if truth.ndim != 1 or truth.dtype != np.bool_:
        raise InvalidInput(
            f"optimal is {truth.dtype} of shape {truth.shape}; expected one truth value per arm, as pareto_mask() returns."
        )
    arms = check_arms(recommended, "recommended", len(truth))
    answer = np.zeros(len(truth), dtype=np.bool_)
    answer[arms] = True
    if answer.sum() != len(arms):
        raise InvalidInput(f"recommended={arms.tolist()} names an arm twice; name each arm once.")
    return answer, truth
