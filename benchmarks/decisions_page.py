"""The page about decisions: tables of simulated studies, and what they say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np


class Stopped(NamedTuple):
    """A study that was to stop when it was sure."""

    population: str
    confidence: float
    used: int | None
    """Measurements when it stopped, None if it did not."""
    n_options: int
    right: bool | None
    """Whether its answer was then right within the margins."""


class Tied(NamedTuple):
    """A study of options of which the best is there twice."""

    margin: float
    used: int | None
    """Measurements when it was sure, None if it never was."""
    right: bool | None


class Limited(NamedTuple):
    """Simulated runs of a policy on a problem with a limit."""

    problem: int
    policy: str
    errors: int
    runs: int


HEAD = """# What margins, limits and stopping when sure are worth

Made by `make decisions` (benchmarks/decisions.py) from simulated studies whose truth is known, with other random numbers than
those with which the rules were chosen, and from one study of real programs that was recorded and is replayed.
"""


def page(
    stopped: Sequence[Stopped],
    tied: Sequence[Tied],
    limited: Sequence[Limited],
    populations: Mapping[str, str],
    recorded: Iterable[str],
) -> str:
    """Returns the page."""
    parts = [HEAD, *_stopped(stopped, populations), *_tied(tied), *_limited(limited), *recorded]
    return "\n".join(parts).rstrip() + "\n"


def _stopped(rows: Sequence[Stopped], populations: Mapping[str, str]) -> Iterable[str]:
    levels = sorted({row.confidence for row in rows})
    yield "## Studies that stopped because they were sure\n"
    yield (
        "Margins of 0.3 of the noise of one measurement (0.1 for metrics that are 0 or 1, 0.02 for exact ones), `doubt`, and at\n"
        "most 60 measurements for each option, or 1,500 in all if that is more. *Right* is the share of stopped studies whose\n"
        "answers are right within the margins, with its standard error; the goal is at most two points below the confidence.\n"
        "*Median* is that of the measurements for each option when a study stopped.\n"
    )
    yield "| population | " + " | ".join(f"stop at {level:.0%} | right | median" for level in levels) + " |"
    yield "|---|" + "---|" * 3 * len(levels)
    missed = []
    for name, told in populations.items():
        cells = []
        for level in levels:
            mine = [row for row in rows if row.population == name and row.confidence == level]
            ended = [row for row in mine if row.used is not None]
            share = float(np.mean([row.right for row in ended])) if ended else float("nan")
            error = np.sqrt(max(share * (1 - share), 0.25 / max(len(ended), 1)) / max(len(ended), 1))
            each = float(np.median([(row.used or 0) / row.n_options for row in ended])) if ended else float("nan")
            cells += [f"{len(ended)} of {len(mine)}", f"{share:.1%} ± {error:.1%}", f"{each:.0f}"]
            if share < level - 0.02:
                missed.append(f"{name} at {level:.0%} ({share:.1%})")
        yield f"| *{name}*: {told} | {' | '.join(cells)} |"
    yield ""
    for level in levels:
        ended = [row for row in rows if row.confidence == level and row.used is not None]
        right = np.mean([row.right for row in ended])
        yield f"All together, of {len(ended):,} studies that stopped at {level:.0%}, {right:.1%} were right."
    yield f"\nBelow the goal: {', '.join(missed) or 'none'}.\n"


def _tied(rows: Sequence[Tied]) -> Iterable[str]:
    yield "## A tie among 20 options\n"
    yield (
        "Twenty options, two metrics, noise 1; the best one is there twice, and nothing tells the two apart. Measurements until\n"
        "the study stops at 95%, with a margin and without, at most 4,000:\n"
    )
    yield "| margin | studies | sure within 4,000 | median of all | right when they stopped |"
    yield "|---|---|---|---|---|"
    medians = {}
    for margin in sorted({row.margin for row in rows}):
        mine = [row for row in rows if row.margin == margin]
        used = sorted(row.used or 10**9 for row in mine)
        middle = used[len(used) // 2]
        medians[margin] = min(middle, 4000)
        ended = [row for row in mine if row.used is not None]
        right = f"{np.mean([row.right for row in ended]):.0%}" if ended else "none did"
        yield f"| {margin:g} | {len(mine)} | {len(ended)} | {'more than 4,000' if middle == 10**9 else f'{middle:,}'} | {right} |"
    first, last = (medians[key] for key in sorted(medians))
    yield f"\nThe margin cuts what it takes to {first / last:.1f} times less or better.\n"


def _limited(rows: Sequence[Limited]) -> Iterable[str]:
    yield "## Limits\n"
    yield (
        "The COV-BOOST trial (problem 0) and variations of it (every mean moved by a fifth of the spread of its metric), at the\n"
        f"paper's budget; one metric has a limit that two fifths of the options break. Share of {rows[0].runs:,} runs whose\n"
        "answer is not exactly the Pareto set of the options that keep the limit:\n"
    )
    policies = list(dict.fromkeys(row.policy for row in rows))
    yield f"| problem | {' | '.join(policies)} |"
    yield "|---|" + "---|" * len(policies)
    for problem in sorted({row.problem for row in rows}):
        shares = {row.policy: row.errors / row.runs for row in rows if row.problem == problem}
        yield f"| {problem} | {' | '.join(f'{shares[policy]:.1%}' for policy in policies)} |"
    means = {policy: np.mean([row.errors / row.runs for row in rows if row.policy == policy]) for policy in policies}
    yield f"| mean | {' | '.join(f'{means[policy]:.1%}' for policy in policies)} |"
    yield f"\n`doubt` errs {means['doubt'] / means['uniform']:.2f} times as often as uniform allocation.\n"
