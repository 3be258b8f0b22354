"""What measurements have in common that share a block, as a result says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretopick._arrays import FloatArray
from paretopick._words import joined
from paretopick.estimates import Estimates
from paretopick.estimates.sharing import Share, Sharing
from paretopick.metrics import Metric

UNLIKELY = 1e-3
"""A block is named if one as far from the others would be rarer than this among as many blocks that are alike."""

BETTER = 1.05
"""What is known as well as from so many times as many measurements is known better."""

FEWEST_BLOCKS = 6
"""With fewer of them nobody knows which are far off."""

FEW = 3
"""Blocks that are far off are named up to so many."""


@dataclass(frozen=True)
class SharedNoise:
    """How much of the noise measurements in the same block have in common, and what that is worth."""

    pairing: str
    """What makes a block: "repeat", or the name of a column."""
    shares: Mapping[str, Share]
    """For each metric with noise of which it is known: the part of the variance that a block has, with a 95% interval."""
    gains: Mapping[str, float]
    """For each of these metrics: how many times as many measurements it would take without blocks to know differences between
    options as well."""
    far: tuple[str, ...] = ()
    """Blocks that are far from the others, in sentences."""

    @property
    def saves(self) -> bool:
        """Whether differences in some metric are known better for what is shared."""
        return max(self.gains.values()) >= BETTER

    @property
    def sentence(self) -> str:
        """How much is shared and what it saved, in a sentence."""
        parts = [
            f"{share.value:.0%} of the noise of {name} ({share.low:.0%} to {share.high:.0%})"
            for name, share in self.shares.items()
        ]
        sure = [name for name, gain in self.gains.items() if gain >= BETTER and self.shares[name].low > 0.0]
        better = [f"{times_text(self.gains[name])} as many in {name}" for name in sure]
        worth = f"as well as from {joined(better)} that share nothing" if better else "no better for that"
        return f"Measurements {same(self.pairing)} share {joined(parts)}: differences between options are known {worth}."


def times_text(gain: float) -> str:
    """So many times, in words.

    >>> times_text(4.21), times_text(1e9)
    ('4.2 times', 'more than 100 times')
    """
    return f"{gain:.1f} times" if gain < 100 else "more than 100 times"


def same(pairing: str) -> str:
    """Returns what measurements in a block have in common, in words."""
    return "with the same repeat" if pairing == "repeat" else f"with the same {pairing}"


def shared_noise(
    pairing: str | None, estimates: Estimates | None, blocks: Sequence[Any], metrics: Sequence[Metric]
) -> SharedNoise | None:
    """Returns what is shared in a study; None if nothing is declared to be, or nothing is known of it.

    Args:
        pairing: of the study.
        estimates: of its means.
        blocks: their names, as the effects of the estimates have them.
        metrics: of the study.
    """
    if pairing is None or estimates is None or estimates.sharing is None:
        return None
    sharing = estimates.sharing
    shares = {metric.name: share for metric, share in zip(metrics, sharing.shares, strict=True) if share is not None}
    if not shares:
        return None
    gains = {metric.name: float(gain) for metric, gain in zip(metrics, sharing.gains, strict=True) if metric.name in shares}
    return SharedNoise(pairing, shares, gains, tuple(_far(pairing, sharing, estimates, blocks, metrics))[:FEW])


def _far(pairing: str, sharing: Sharing, estimates: Estimates, blocks: Sequence[Any], metrics: Sequence[Metric]) -> Iterator[str]:
    """Blocks that bring more than blocks do, and more than a measurement varies by itself, and how much."""
    own = np.sqrt(np.square(estimates.stds).mean(axis=0))
    for at, metric in enumerate(metrics):
        effects = sharing.effects[:, at]
        if sharing.stds[at] == 0.0 or estimates.binary[at] or len(effects) < FEWEST_BLOCKS:
            continue
        rare = _chances_of(effects) < UNLIKELY / len(effects)
        for place in np.flatnonzero(rare & (np.abs(effects - np.median(effects)) > own[at])).tolist():
            off = float(effects[place])
            shown = f"{np.exp(off):.3g} times as much" if metric.log else f"{off:+.3g}"
            yield (
                f"{pairing} {blocks[place]!r} is far from the others, {shown} in {metric.name} for all options; look at it, and "
                "void its measurements if something went wrong."
            )


def _chances_of(effects: FloatArray) -> FloatArray:
    """How likely a normal number is as far from all others as each is."""
    from scipy.special import stdtr

    n = len(effects) - 1
    others = (effects.sum() - effects) / n
    squares = np.square(effects).sum() - np.square(effects) - n * np.square(others)
    widths = np.sqrt(np.maximum(squares, 0.0) / (n - 1) * (1.0 + 1.0 / n))
    t = np.abs(effects - others) / np.where(widths > 0, widths, np.inf)
    return np.asarray(2.0 * stdtr(n - 1, -t))
