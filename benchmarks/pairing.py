"""What pairing is worth, and how often it is true what paired results say: simulated studies whose truth is known.

Run with ``make pairing``, which writes ``docs/pairing-results.md``. Options are drawn from a population; a part of their noise is
that of the block (the question, the plate), the same for all options; ``doubt`` measures them, knowing of the blocks or not.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # there is a process for every core

import numpy as np
from decisions import MARGIN, margins_of
from kept import simulated
from pairing_page import Judged, Stopped, page
from populations import FRONTS, POPULATIONS, Drawn, draw

import paretopick as pp
from paretopick.estimates import Estimates, estimate_tables
from paretopick.studies.aims import Aim, last_look
from paretopick.studies.certainty import judge
from paretopick.studies.stopping import is_reached
from paretopick.theory.requirements import Requirements, is_right

PAGE = Path(__file__).parents[1] / "docs" / "pairing-results.md"
SEED = 90_000
"""Other numbers than any with which rules were chosen."""
STOPPING = ("independent", "few", "correlated", "skewed", "conflicting", "circle", "uneven", "simplex", "0 or 1")
"""Populations of studies that stop when they are sure."""
RHOS = (0.0, 0.35, 0.8)
"""Which part of the noise is shared."""
KINDS = ("random", "drifting")
"""Effects of blocks: independent of each other, or so that the next is like the last (a correlation of 0.95)."""
MOST = 60
"""Measurements of each option after which a study ends unsure, at least ``LEAST`` in all."""
LEAST = 600
DRAWS = 1000


class Blocks:
    """Measurements of options some of whose noise is that of the block; the n-th of every option is in block n.

    Of metrics that are 0 or 1 the normal numbers behind them are shared so.
    """

    def __init__(self, drawn: Drawn, rho: float, kind: str, rng: np.random.Generator) -> None:
        self._drawn, self._rho, self._kind, self._rng = drawn, rho, kind, rng
        self._effects: list[np.ndarray] = []
        means, noise = drawn.bandit.means, drawn.bandit.noise
        K, D = means.shape
        self._binary = isinstance(noise, pp.Bernoulli)
        if self._binary:
            from scipy.special import ndtri

            self._levels = ndtri(means)
            covs = np.repeat(np.eye(D)[None], K, axis=0)
        elif noise.cov is None:
            covs = np.repeat((np.eye(D) * np.square(np.broadcast_to(np.asarray(noise.std), (D,))))[None], K, axis=0)
        else:
            covs = np.broadcast_to(noise.cov, (K, D, D))
        self._own, self._shared = np.linalg.cholesky(covs), np.linalg.cholesky(covs.mean(axis=0))

    def effect(self, block: int) -> np.ndarray:
        """What a block brings, with the variance of a measurement."""
        while len(self._effects) <= block:
            z = self._shared @ self._rng.standard_normal(len(self._shared))
            if self._kind == "drifting" and self._effects:
                z = 0.95 * self._effects[-1] + np.sqrt(1 - 0.95**2) * z
            self._effects.append(z)
        return self._effects[block]

    def measure(self, arm: int, block: int) -> np.ndarray:
        """One measurement."""
        own = self._own[arm] @ self._rng.standard_normal(len(self._shared))
        noise = np.sqrt(self._rho) * self.effect(block) + np.sqrt(1 - self._rho) * own
        means = self._drawn.bandit.means[arm]
        values = (noise < self._levels[arm]).astype(float) if self._binary else means + noise
        values[list(self._drawn.exact)] = means[list(self._drawn.exact)]
        return values


class Look(NamedTuple):
    """A study at one moment."""

    used: int
    estimates: Estimates


def looks(drawn: Drawn, blocks: Blocks, required: Requirements, budget: int, *, paired: bool) -> Iterator[Look]:
    """Yields a study that ``doubt`` measures, whenever a study would be looked at."""
    K, D = drawn.bandit.means.shape
    exact = np.isin(np.arange(D), drawn.exact)
    policy = pp.policy("doubt", n_arms=K, n_objectives=D, budget=budget, batch=max(1, K // 5), paired=paired)
    policy.rescale(np.where(exact, 0.0, 1.0))
    policy.require(required)
    rows: list[list[np.ndarray]] = [[] for _ in range(K)]
    last = 0
    while len(arms := policy.ask()):
        values = []
        for arm in arms.tolist():
            values.append(blocks.measure(arm, len(rows[arm])))
            rows[arm].append(values[-1])
        policy.tell(arms, np.array(values))
        used = sum(map(len, rows))
        if last_look(used) > last or policy.done:
            last = used
            numbers = [np.arange(len(table)) for table in rows] if paired else None
            tables = [np.array(table) for table in rows]
            yield Look(used, estimate_tables(tables, exact=exact, signs=np.ones(D), blocks=numbers))


def stopped(job: tuple[str, int, float, bool]) -> list[Stopped]:
    """Lets a study of a population stop at 95%."""
    name, number, rho, paired = job
    drawn = draw(name, np.random.default_rng([SEED, number, *name.encode()]))
    rng = np.random.default_rng([SEED, 1, number, *name.encode()])
    required = margins_of(drawn, MARGIN)
    metrics = [pp.Metric(f"m{d}", "max") for d in range(drawn.bandit.n_objectives)]
    budget = max(LEAST, MOST * drawn.bandit.n_arms)
    for look in looks(drawn, Blocks(drawn, rho, "random", rng), required, budget, paired=paired):
        judged = judge(look.estimates, required=required, n_draws=DRAWS)
        if is_reached(Aim(0.95), judged, metrics):
            return [Stopped(name, rho, paired, look.used, bool(is_right(drawn.bandit.means, judged.answer, required)))]
    return [Stopped(name, rho, paired, None, None)]


def judged(job: tuple[str, int, float, str]) -> list[Judged]:
    """Judges a paired study after a number of measurements, without margins."""
    name, number, rho, kind = job
    rng = np.random.default_rng([SEED, 2, number, KINDS.index(kind), *name.encode()])
    drawn = draw(name, rng)
    K, D = drawn.bandit.means.shape
    budget = drawn.easier * K * int(np.exp(rng.uniform(np.log(5), np.log(60))))
    plain = Requirements.none(D)
    *_, look = looks(drawn, Blocks(drawn, rho, kind, rng), plain, budget, paired=True)
    found = judge(look.estimates, n_draws=DRAWS)
    truth = drawn.bandit.optimal
    said = found.probabilities.tolist()
    whole = found.certainty.probability or 0.0
    return [Judged(name, rho, kind, said, truth.tolist(), whole, bool((found.answer == truth).all()))]


MAKERS: dict[str, Callable[[Any], list[Any]]] = {"stopped": stopped, "judged": judged}
ROWS: dict[str, Callable[..., Any]] = {"stopped": Stopped, "judged": Judged}


def worked(job: Sequence[Any]) -> tuple[Sequence[Any], list[Any]]:
    """One piece of work."""
    kind, *rest = job
    return job, MAKERS[kind](tuple(rest))


def jobs_of(n: int, m: int) -> list[list[Any]]:
    """Returns what there is to do with so many studies of each population that stop, and that are judged."""
    jobs: list[list[Any]] = []
    for number in range(max(n, m)):
        for rho in RHOS:
            if number < n:
                jobs += [["stopped", name, number, rho, paired] for name in STOPPING for paired in (False, True)]
            if number < m:
                jobs += [["judged", name, number, rho, kind] for name in POPULATIONS for kind in KINDS if rho or kind == "random"]
    return jobs


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the page, from new simulations and from those that were kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stopped", type=int, default=30, help="studies of each population that stop when they are sure")
    parser.add_argument("--judged", type=int, default=40, help="studies of each population that are judged at a budget")
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument(
        "--kept",
        type=Path,
        default=Path("pairing-results.jsonl"),
        help="a file that keeps what was simulated: interrupted, it goes on; after a change of the code, remove it",
    )
    chosen = parser.parse_args(arguments)
    jobs = jobs_of(chosen.stopped, chosen.judged)
    kept = simulated(jobs, worked, chosen.kept)
    done = {kind: [row(*each) for job in jobs if job[0] == kind for each in kept[json.dumps(job)]] for kind, row in ROWS.items()}
    names = {name: told for name, (told, _) in (POPULATIONS | FRONTS).items()}
    chosen.out.write_text(page(**done, populations=names))
    print(chosen.out.read_text())


if __name__ == "__main__":
    main()
