"""The page about decisions: tables of simulated studies, and what they say."""

from __future__ import annotations

import textwrap
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


class Resolved(NamedTuple):
    """What a study without margins said to resolve."""

    population: str
    size: int | None
    """After so many measurements of each option, or None: when it stopped because it resolved what was asked for."""
    used: float
    """Measurements of each option."""
    factor: float
    """Up to which differences its answer was said to be right with 95%, in units of the noise."""
    right: bool
    """Whether it was."""
    exactly: bool
    """Whether it was the Pareto set."""


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
    budget: int
    errors: int
    runs: int


HEAD = """# What margins, limits and stopping when sure are worth

Made by `make decisions` (benchmarks/decisions.py) from simulated studies whose truth is known, with other random numbers than
those with which the rules were chosen, and from one study of real programs that was recorded and is replayed.
"""


def page(
    *,
    stopped: Sequence[Stopped],
    resolved: Sequence[Resolved],
    tied: Sequence[Tied],
    limited: Sequence[Limited],
    populations: Mapping[str, str],
    recorded: Iterable[str],
) -> str:
    """Returns the page."""
    parts = [HEAD, *_stopped(stopped, populations), *_resolved(resolved), *_tied(tied), *_limited(limited), *recorded]
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


def _resolved(rows: Sequence[Resolved]) -> Iterable[str]:
    yield "## What is resolved, where there are no margins\n"
    yield (
        "The same populations and `doubt`, without margins. After so many measurements for each option a result says up to\n"
        "which differences it is right, with 95%: *median* is that of these differences, in units of the noise of one\n"
        "measurement. *Right* is how often the answer was right up to them, *exactly* how often it was the Pareto set. The\n"
        "last row is of studies that stopped at `resolution=0.5`.\n"
    )
    yield "| measurements for each option | studies | median | right | lowest of all populations | exactly |"
    yield "|---|---|---|---|---|---|"
    for size in sorted({row.size for row in rows}, key=lambda size: size or 10**9):
        mine = [row for row in rows if row.size == size]
        by_name = {name: [row.right for row in mine if row.population == name] for name in {row.population for row in mine}}
        lowest = min(by_name, key=lambda name: np.mean(by_name[name]))
        label = f"{size}" if size else f"{np.median([row.used for row in mine]):.0f} (median), stopped"
        right, exactly = np.mean([(row.right, row.exactly) for row in mine], axis=0)
        yield (
            f"| {label} | {len(mine):,} | {np.median([row.factor for row in mine]):.2f} | {right:.1%} "
            f"| {np.mean(by_name[lowest]):.1%} (*{lowest}*, {len(by_name[lowest])}) | {exactly:.1%} |"
        )
    yield ""


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
    budgets = sorted({row.budget for row in rows})
    policies = list(dict.fromkeys(row.policy for row in rows))
    yield "## Limits\n"
    yield (
        "The COV-BOOST trial (problem 0) and variations of it (every mean moved by a fifth of the spread of its metric); one\n"
        "metric has a limit that two fifths of the options break. Share of wrong answers, which are not exactly the Pareto\n"
        f"set of the options that keep the limit, of {rows[0].runs:,} runs with the paper's {budgets[0]:,} measurements and\n"
        "with four times as many:\n"
    )
    columns = [(budget, policy) for budget in budgets for policy in policies]
    yield "| problem | " + " | ".join(f"{policy}, {budget:,}" for budget, policy in columns) + " |"
    yield "|---|" + "---|" * len(columns)
    shares = {(row.problem, row.budget, row.policy): row.errors / row.runs for row in rows}
    problems = sorted({row.problem for row in rows})
    for problem in problems:
        yield f"| {problem} | {' | '.join(f'{shares[problem, *column]:.1%}' for column in columns)} |"
    means = {column: float(np.mean([shares[problem, *column] for problem in problems])) for column in columns}
    yield f"| mean | {' | '.join(f'{means[column]:.1%}' for column in columns)} |"
    wrong = {(row.problem, row.budget, row.policy): row.errors + 0.5 for row in rows}
    said = []
    for budget in budgets:
        each = [wrong[problem, budget, "doubt"] / wrong[problem, budget, "uniform"] for problem in problems]
        mean = means[budget, "doubt"] / means[budget, "uniform"]
        typical = float(np.exp(np.mean(np.log(each))))
        halved = sum(ratio <= 0.5 for ratio in each)
        said.append(
            f"With {budget:,} measurements `doubt` errs {typical:.2f} times as often as uniform allocation (geometric mean over "
            f"the problems), at most half as often on {halved} of {len(each)}; the mean of its errors is {mean:.2f} times that "
            "of uniform allocation."
        )
    alone = shares[0, budgets[0], "doubt"] / shares[0, budgets[0], "uniform"]
    said.append(
        f"On the trial itself, with its {budgets[0]:,}, it is {alone:.2f} times. The mean is that of the problems on which near "
        "ties, with each other or with the limit, are too many for the budget: there nobody halves the errors, and on some `apt` "
        "errs less."
    )
    yield "\n" + textwrap.fill(" ".join(said), 120) + "\n"
