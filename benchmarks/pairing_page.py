"""The page about what pairing is worth, from what was simulated."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

GOALS = {0.0: 1.05, 0.35: 0.8, 0.8: 0.4}
"""The most measurements that paired studies should take, in those of unpaired ones, by which part of the noise is shared."""


INTRO = """\
Made by `make pairing` (benchmarks/pairing.py) from simulated studies whose truth is known, with other random numbers than
those with which the rules were chosen. A part rho of the noise of every measurement is that of its block, the same for all
options; the n-th measurement of every option is in block n. `doubt` measures, so that blocks are incomplete: options beyond
doubt are measured less often. Of metrics that are 0 or 1 the normal numbers behind them are shared so, and of zeros and ones
less is shared."""

SURE = """\
Margins of 0.3 of the noise (0.1 for metrics that are 0 or 1), stopping at 95%; {n} sets of options of each population, the
same with and without pairing: medians of the measurements that it takes. *Ratio* is the geometric mean of the measurements
of a paired study in those of the unpaired one of the same options. *Right* is the share of stopped studies whose answers are
right within the margins."""

LAST_ROW = """\
In the last row: the shares of stopped studies that were right, and the ratio over all populations. Studies of *few* options
end near the smallest number of measurements at which any study may stop, so that little can be saved."""

TRUE = """\
Without margins, after 5 to 60 measurements for each option on average, in nine populations (among them *uneven*, where
every option has a noise of its own). *Drifting*: blocks are not independent of each other, the next is like the last,
with a correlation of 0.95. *Worst tenth* is the largest difference between what was said and what was true in a tenth
of the scale that has at least 40 options, which chance alone moves by up to 14 points with 50 of them; *answers* are
how likely the whole answer was said to be right, and how often it was."""


class Stopped(NamedTuple):
    """A study that was to stop at 95%."""

    population: str
    rho: float
    paired: bool
    used: int | None
    """Measurements; None if it was never sure."""
    right: bool | None


class Judged(NamedTuple):
    """A paired study after a number of measurements."""

    population: str
    rho: float
    kind: str
    said: list[float]
    """Of each option, the probability to be Pareto-optimal."""
    optimal: list[bool]
    whole: float
    right: bool


def page(stopped: Sequence[Stopped], judged: Sequence[Judged], populations: Mapping[str, str]) -> str:
    """Returns the page."""
    n = len({(row.population, row.rho, row.paired) for row in stopped})
    lines = [
        "# What pairing is worth",
        "",
        *_wrapped(INTRO),
        "",
        "## Measurements until a study is sure",
        "",
        *_wrapped(SURE.format(n=len(stopped) // max(n, 1))),
        "",
        "| population | " + " | ".join(f"rho {rho:g}: unpaired | paired | ratio" for rho in GOALS) + " |",
        "|---|" + "---:|" * 3 * len(GOALS),
    ]
    names = list(dict.fromkeys(row.population for row in stopped))
    for name in names:
        cells = [f"*{name}*: {populations[name]}"]
        for rho in GOALS:
            some = [
                [row for row in stopped if (row.population, row.rho, row.paired) == (name, rho, paired)]
                for paired in (False, True)
            ]
            medians = [_median([row.used for row in rows]) for rows in some]
            cells += [*medians, f"{_ratio(*some):.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    cells = ["**all together**"]
    for rho in GOALS:
        some = [[row for row in stopped if (row.rho, row.paired) == (rho, paired)] for paired in (False, True)]
        cells += [*(_right(rows) for rows in some), f"**{_ratio(*some):.2f}** (goal {GOALS[rho]:g})"]
    lines += [
        f"| {' | '.join(cells)} |",
        "",
        *_wrapped(LAST_ROW),
        "",
        "## How often it is true what paired results say",
        "",
        *_wrapped(TRUE),
        "",
        "| rho | blocks | studies | options | off on average | worst tenth | surely in: optimal | surely out: dominated "
        "| answers: said | right |",
        "|---|---|---:|---:|---:|---|---:|---:|---:|---:|",
    ]
    for rho, kind in dict.fromkeys((row.rho, row.kind) for row in judged):
        lines.append(_calibration(rho, kind, [row for row in judged if (row.rho, row.kind) == (rho, kind)]))
    return "\n".join(lines) + "\n"


def _wrapped(text: str) -> list[str]:
    """A paragraph in lines."""
    return textwrap.wrap(text, 140, break_on_hyphens=False, break_long_words=False)


def _median(used: Iterable[int | None]) -> str:
    counts = [np.inf if n is None else n for n in used]
    if not counts:
        return "none"
    found = float(np.median(counts))
    return "not sure" if found == np.inf else f"{found:,.0f}"


def _ratio(unpaired: Sequence[Stopped], paired: Sequence[Stopped]) -> float:
    """The geometric mean; studies that were never sure are counted as sure when the other one was, at the earliest."""
    logs = []
    for first, second in zip(unpaired, paired, strict=True):
        if first.used is None and second.used is None:
            continue
        most = max(first.used or 0, second.used or 0)
        logs.append(np.log((second.used or most) / (first.used or most)))
    return float(np.exp(np.mean(logs))) if logs else float("nan")


def _right(rows: Sequence[Stopped]) -> str:
    done = [bool(row.right) for row in rows if row.used is not None]
    return f"{np.mean(done):.1%} of {len(done)} right" if done else "none stopped"


def _calibration(rho: float, kind: str, rows: Sequence[Judged]) -> str:
    said = np.concatenate([row.said for row in rows])
    true = np.concatenate([row.optimal for row in rows]).astype(float)
    tenths = np.minimum((10 * said).astype(int), 9)
    off, worst = [], (0.0, "")
    for tenth in range(10):
        some = tenths == tenth
        if some.any():
            gap = abs(said[some].mean() - true[some].mean())
            off.append(gap * some.sum())
            if some.sum() >= 40:
                worst = max(
                    worst,
                    (gap, f"{100 * gap:.0f} points (said {said[some].mean():.0%}, true {true[some].mean():.0%} of {some.sum()})"),
                )
    surely_in, surely_out = said >= 0.95, said <= 0.05
    whole, right = np.mean([row.whole for row in rows]), np.mean([row.right for row in rows])
    return (
        f"| {rho:g} | {kind} | {len(rows)} | {len(said):,} | {100 * sum(off) / len(said):.1f} points | {worst[1]} | "
        f"{_share(true[surely_in])} | {_share(1 - true[surely_out])} | {whole:.0%} | {right:.0%} |"
    )


def _share(flags: np.ndarray) -> str:
    return f"{flags.mean():.1%}" if len(flags) else "none"
