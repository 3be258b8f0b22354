"""How often it is true what results say about themselves: thousands of simulated studies whose truth is known.

Run with ``make calibration``, which writes ``docs/calibration.md``. Each study is drawn from a population, measured by the code
that real studies go through, and judged; then what it said about its options and its answer is held against the truth.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import paretopick as pp
from paretopick.events import Event
from paretopick.studies.answer import result_of
from paretopick.studies.definition import define
from paretopick.studies.state import State, new_state
from paretopick.theory.dominance import optimal_in_each

PAGE = Path(__file__).parents[1] / "docs" / "calibration.md"
REHEARSALS = 200
POLICIES = ("ege-sr", "ege-sh", "apt", "uniform")
PAPER = ("cov-boost", "convex-front", "unique-dominator", "two-clusters", "equal-gaps", "all-optimal", "high-dimension")

Drawn = tuple[pp.Bandit, int]
"""Options, and a budget."""


@dataclass(frozen=True)
class Outcome:
    """What a study said, and what was true."""

    population: str
    said: np.ndarray
    """For each option."""
    plain: np.ndarray
    """What it would have said if options were not seen as a population."""
    optimal: np.ndarray
    whole: float
    """Of the answer."""
    rehearsed: float
    right: bool


# Populations: from a generator to options and a budget, a few to eighty measurements for each option.


def _budget(n_arms: int, rng: np.random.Generator) -> int:
    return n_arms * int(np.exp(rng.uniform(np.log(5), np.log(80))))


def independent(rng: np.random.Generator) -> Drawn:
    K, D = int(rng.integers(6, 30)), int(rng.integers(2, 5))
    return pp.Bandit(rng.normal(size=(K, D)), pp.Gaussian(std=1.0)), _budget(K, rng)


def few(rng: np.random.Generator) -> Drawn:
    K, D = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    return pp.Bandit(rng.normal(size=(K, D)), pp.Gaussian(std=1.0)), _budget(K, rng)


def correlated(rng: np.random.Generator) -> Drawn:
    K, D = int(rng.integers(6, 30)), int(rng.integers(2, 9))
    means = rng.normal(size=(K, 1)) * 0.8 + rng.normal(size=(K, D)) * 0.3
    return pp.Bandit(means, pp.Gaussian(cov=0.5 * np.eye(D) + 0.5)), _budget(K, rng)


def few_in_many(rng: np.random.Generator) -> Drawn:
    K, D = int(rng.integers(3, 6)), int(rng.integers(4, 9))
    means = rng.normal(size=(K, 1)) * 0.8 + rng.normal(size=(K, D)) * 0.3
    return pp.Bandit(means, pp.Gaussian(std=1.0)), _budget(K, rng)


def skewed(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 30))
    return pp.Bandit(np.exp(rng.normal(size=(K, 2))), pp.Gaussian(std=0.5)), _budget(K, rng)


def conflicting(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 30))
    shared = rng.normal(size=(K, 1))
    means = np.hstack((shared, -shared)) + rng.normal(size=(K, 2)) * 0.4
    return pp.Bandit(means, pp.Gaussian(std=[1.0, 0.5])), _budget(K, rng)


def circle(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 16))
    angles, radius = rng.uniform(0, np.pi / 2, K), 2 * rng.choice([1.0, 0.8], K)
    return pp.Bandit(radius[:, None] * np.column_stack((np.cos(angles), np.sin(angles))), pp.Gaussian(std=1.0)), _budget(K, rng)


def uneven(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 30))
    stds = np.exp(rng.normal(size=(K, 2)) * 0.7)
    return pp.Bandit(rng.normal(size=(K, 2)), pp.Gaussian(cov=stds[:, :, None] ** 2 * np.eye(2))), _budget(K, rng)


def chances(rng: np.random.Generator) -> Drawn:
    K, D = int(rng.integers(4, 20)), int(rng.integers(1, 4))
    return pp.Bandit(rng.uniform(0.1, 0.95, (K, D)), pp.Bernoulli()), 3 * _budget(K, rng)


def paper(name: str) -> Callable[[np.random.Generator], Drawn]:
    bandit = pp.instance(name)

    def draw(rng: np.random.Generator) -> Drawn:
        assert bandit.budget is not None
        return bandit, max(8 * bandit.n_arms, int(min(bandit.budget, 5000) * rng.choice([0.1, 0.25, 0.5, 1.0])))

    return draw


POPULATIONS: dict[str, tuple[str, Callable[[np.random.Generator], Drawn]]] = {
    "independent": ("6 to 29 options, 2 to 4 metrics, independent normal means", independent),
    "few": ("2 to 5 options, 1 to 3 metrics", few),
    "correlated": ("2 to 8 metrics that go together: good options are good in all", correlated),
    "few in many": ("3 to 5 options, 4 to 8 such metrics", few_in_many),
    "skewed": ("most options are poor and a few far better (lognormal means)", skewed),
    "conflicting": ("2 metrics that pull in opposite directions", conflicting),
    "circle": ("options on two arcs, so that most are optimal and near to each other", circle),
    "uneven": ("every option has a noise of its own, often half or twice that of others", uneven),
    "0 or 1": ("4 to 19 options whose metrics are 0 or 1, with independent chances", chances),
}


def study_of(bandit: pp.Bandit, policy: str, budget: int, rng: np.random.Generator) -> State:
    """Returns the state of a study of a bandit, all measured."""
    state = new_state(
        define(options=list(bandit.arm_names), metrics=dict.fromkeys(bandit.objective_names, "max"), budget=budget, policy=policy)
    )
    position = 0
    while not state.policy.done:
        arms = state.policy.ask()
        if policy == "apt":  # whose rounds are single measurements, which would take long
            arms = state.policy.ask(1)
        values = bandit.sample(arms, rng).tolist()
        state.apply(
            [
                Event(position + i, "told", number=position + i, arm=arm, round=state.policy.round, measured=values[i - 1])
                for i, arm in enumerate(arms.tolist(), start=1)
            ]
        )
        position += len(arms)
    return state


def simulated(job: tuple[str, int]) -> Outcome:
    """Draws a population's study number so and so, and judges it."""
    name, number = job
    rng = np.random.default_rng([number, *name.encode()])
    draw = paper(name) if name in PAPER else POPULATIONS[name][1]
    bandit, budget = draw(rng)
    policy = POLICIES[number % len(POLICIES)]
    if policy == "apt" and budget > 3000:
        policy = "ege-sr"
    state = study_of(bandit, policy, budget, rng)
    result = result_of(name, state, rehearsals=REHEARSALS)
    assert result.rehearsal is not None
    assert result.certainty.probability is not None
    said = np.array([row.probability for row in result.options])
    estimates = state.estimates(range(bandit.n_arms))
    plain = optimal_in_each(estimates.draws(1000, rng, population=False)).mean(axis=0)
    answer = np.array([row.option in result.pareto for row in result.options])
    right = bool((answer == bandit.optimal).all())
    return Outcome(name, said, plain, bandit.optimal, result.certainty.probability, result.rehearsal.rate, right)


def reliability(said: np.ndarray, true: np.ndarray) -> Iterator[tuple[float, int, float, float]]:
    """For every tenth of what was said: where it begins, how many there are, the mean of what was said, how many were true."""
    tenth = np.minimum((said * 10).astype(int), 9)
    for which in range(10):
        chosen = tenth == which
        if chosen.any():
            yield which / 10, int(chosen.sum()), float(said[chosen].mean()), float(true[chosen].mean())


def off(said: np.ndarray, true: np.ndarray) -> float:
    """How far what was said is from what was true, on average over the tenths (expected calibration error)."""
    return sum(n * abs(a - b) for _, n, a, b in reliability(said, true)) / len(said)


def table(outcomes: Iterable[Outcome]) -> list[str]:
    """The reliability tables side by side."""
    done = list(outcomes)
    pairs = {
        "option": (np.concatenate([o.said for o in done]), np.concatenate([o.optimal for o in done])),
        "plain": (np.concatenate([o.plain for o in done]), np.concatenate([o.optimal for o in done])),
        "answer": (np.array([o.whole for o in done]), np.array([o.right for o in done])),
        "rehearsal": (np.array([o.rehearsed for o in done]), np.array([o.right for o in done])),
    }
    cells = {name: {start: rest for start, *rest in reliability(*pair)} for name, pair in pairs.items()}
    lines = [
        "| said | options | said | optimal | plain | said | optimal | answers | said | right | rehearsals | said | right |",
        "|---" + "|---:" * 12 + "|",
    ]
    for start in np.arange(10) / 10:
        row = [f"{start:.0%} to {start + 0.1:.0%}"]
        for name in pairs:
            found = cells[name].get(start)
            row += ["", "", ""] if found is None else [f"{found[0]:,}", f"{found[1]:.0%}", f"{found[2]:.0%}"]
        lines.append("| " + " | ".join(row) + " |")
    return lines


def summary(outcomes: list[Outcome], names: Iterable[str], describe: Callable[[str], str]) -> list[str]:
    """A line for each population: how far off, and said and true on average."""
    lines = [
        "| population | studies | options: off | plain: off | answers: said | right | off | rehearsals: said | off |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in names:
        own = [outcome for outcome in outcomes if outcome.population == name]
        right = np.array([o.right for o in own])
        whole, rehearsed = np.array([o.whole for o in own]), np.array([o.rehearsed for o in own])
        true = np.concatenate([o.optimal for o in own])
        options, plain = off(np.concatenate([o.said for o in own]), true), off(np.concatenate([o.plain for o in own]), true)
        lines.append(
            f"| {describe(name)} | {len(own):,} | {options:.3f} | {plain:.3f} | {whole.mean():.0%} | {right.mean():.0%} "
            f"| {off(whole, right):.3f} | {rehearsed.mean():.0%} | {off(rehearsed, right):.3f} |"
        )
    return lines


def page(outcomes: list[Outcome]) -> str:
    """The page with all tables."""
    drawn = [outcome for outcome in outcomes if outcome.population in POPULATIONS]
    fixed = [outcome for outcome in outcomes if outcome.population in PAPER]
    return "\n".join(
        [
            "# Calibration: how often it is true what a result says",
            "",
            "Written by `make calibration`. [certainty.md](certainty.md) says what the numbers mean and how they are used.",
            "",
            f"{len(outcomes):,} simulated studies with ege-sr, ege-sh, apt and uniform allocation, each judged by the code that",
            "real studies go through. *Options* are all options of all studies: what was said to be their probability of being",
            "Pareto-optimal, and how many were. *Plain* is the same without seeing options as a population. *Answers* are the",
            "studies: the probability said to be right, and how many were.",
            f"*Rehearsals* are the share of {REHEARSALS} simulations of the same study at the means as measured that were right.",
            "*Off* is the mean distance between said and true over the ten rows of such a table.",
            "",
            f"## {len(drawn):,} studies of options drawn from populations",
            "",
            *table(drawn),
            "",
            *summary(drawn, POPULATIONS, lambda name: f"*{name}*: {POPULATIONS[name][0]}"),
            "",
            f"## {len(fixed):,} studies of the paper's instances, with a tenth to all of their budgets, at most 5,000",
            "",
            "These are the same options again and again, made to be hard. On a single instance nothing can be calibrated: an",
            "option that looks like an even chance is then always optimal or never. Over all of them:",
            "",
            *table(fixed),
            "",
            *summary(fixed, PAPER, str),
            "",
        ]
    )


def main() -> None:
    """Simulates all studies on all cores and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400, help="of each population, and a quarter as many of each instance")
    parser.add_argument("--out", type=Path, default=PAGE)
    chosen = parser.parse_args()
    jobs = [(name, number) for number in range(chosen.studies) for name in POPULATIONS]
    jobs += [(name, number) for number in range(chosen.studies // 4) for name in PAPER]
    started = time.monotonic()
    outcomes = []
    with multiprocessing.Pool() as pool:
        for outcome in pool.imap_unordered(simulated, jobs, chunksize=4):
            outcomes.append(outcome)
            if len(outcomes) % 50 == 0:
                print(
                    f"\r{len(outcomes):,} of {len(jobs):,} studies, {time.monotonic() - started:.0f} s", end="", file=sys.stderr
                )
    print(file=sys.stderr)
    text = page(outcomes)
    chosen.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
