"""Instances by name: ``instance`` makes one, ``read_instance`` reads one of your own, ``INSTANCES`` lists them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal, TypeAlias

from paretopick._arrays import check_choice
from paretopick._words import short
from paretopick.bandits import Bandit
from paretopick.errors import InvalidInput
from paretopick.instances import files, paper
from paretopick.instances.files import read_instance

__all__ = ["FROM_FILE", "INSTANCES", "InstanceName", "instance", "read_instance"]

InstanceName: TypeAlias = Literal[
    "cov-boost",
    "cov-boost-2d",
    "snw-paper",
    "snw",
    "convex-front",
    "unique-dominator",
    "unit-circle",
    "high-dimension",
    "two-clusters",
    "all-optimal",
    "equal-gaps",
    "geometric",
]

INSTANCES: dict[InstanceName, Callable[..., Bandit]] = {
    "cov-boost": paper.cov_boost,
    "cov-boost-2d": paper.cov_boost_2d,
    "snw-paper": files.snw_paper,
    "snw": files.snw,
    "convex-front": paper.convex_front,
    "unique-dominator": paper.unique_dominator,
    "unit-circle": paper.unit_circle,
    "high-dimension": paper.high_dimension,
    "two-clusters": paper.two_clusters,
    "all-optimal": paper.all_optimal,
    "equal-gaps": paper.equal_gaps,
    "geometric": paper.geometric,
}
"""Name -> a function that makes the bandit; those of ``FROM_FILE`` take the path of a file."""

FROM_FILE = frozenset({"snw", "snw-paper"})
"""Instances whose data the user has to provide."""


def instance(name: InstanceName, *, path: str | os.PathLike[str] | None = None) -> Bandit:
    """Returns an instance of the paper.

    Args:
        name: one of ``INSTANCES``.
        path: the data file of ``snw`` and ``snw-paper``, which are not shipped; by default the one that the environment variable
            ``PARETOPICK_SNW`` names.

    >>> trial = instance("cov-boost")
    >>> [trial.arm_names[arm] for arm in trial.optimal.nonzero()[0]]
    ['BNT/BNT + m1273', 'ChAd/ChAd + m1273']
    """
    make = INSTANCES[check_choice(name, INSTANCES, "instance")]
    if name in FROM_FILE:
        return make(path)
    if path is not None:
        raise InvalidInput(f"path={short(path)} goes with {', '.join(sorted(FROM_FILE))}; {name!r} needs no file.")
    return make()
