"""How long paired studies take: the mixed model beside dense matrices, and beside the same study without pairing.

Run with ``make bench``. Ratios are of times in the same process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import paretopick as pp
from paretopick._blocks import fit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.literal_blocks import Dense, Told, by_block


def best(act: Callable[[], object], times: int = 5) -> float:
    """Seconds, of the quickest of some times."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        act()
        found.append(time.perf_counter() - start)
    return min(found)


def bench_model() -> None:
    """One step of dense matrices takes longer than all steps of the model together."""
    rng = np.random.default_rng(0)
    for n_options, n_blocks in ((5, 20), (10, 50), (20, 60)):
        effects = rng.normal(size=n_blocks)
        told = [Told(arm, block, effects[block] + rng.normal()) for arm in range(n_options) for block in range(n_blocks)]
        cells = by_block(told, n_options).cells(0, np.arange(n_options))
        ours = best(lambda cells=cells: fit(cells, lambda squares, degrees: np.full(len(squares), squares.sum() / degrees.sum())))
        dense = best(lambda told=told, n=n_options: Dense(told, np.ones(n), 1.0), times=2)
        print(f"model, {n_options:3} options, {n_blocks:5} blocks: {1e3 * ours:8.2f} ms, dense {dense / ours:6.1f} times as long")


def filled(n_options: int, n_blocks: int, pairing: str | None) -> pp.Study:
    """A study whose options were measured in all blocks."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(n_options, 1, 3)) + rng.normal(size=(n_blocks, 3)) + rng.normal(size=(n_options, n_blocks, 3))
    options, metrics = [f"option {i}" for i in range(n_options)], dict.fromkeys("xyz", "max~0.1")
    study = pp.Study.create("b", options=options, metrics=metrics, budget=10**7, pairing=pairing, storage="sqlite://")
    rows = [
        (option, {**dict(zip("xyz", values[i, block].tolist(), strict=True)), "repeat": block})
        for block in range(n_blocks)
        for i, option in enumerate(options)
    ]
    study.add(rows)
    return study


def bench_studies() -> None:
    """Estimates, an ask after a tell, and results."""
    for n_options, n_blocks in ((10, 20), (20, 100), (50, 2000)):
        times: dict[str | None, dict[str, float]] = {}
        for pairing in (None, "repeat"):
            study = filled(n_options, n_blocks, pairing)

            def asked(study: pp.Study = study) -> None:
                (todo,) = study.ask()
                study.tell(todo.number, [0.0, 0.0, 0.0])

            times[pairing] = {"estimates": best(study.estimates), "tell and ask": best(asked), "result": best(study.result, 2)}
        for what, ours in times["repeat"].items():
            print(
                f"{what:12}, {n_options:3} options, {n_blocks:5} blocks, 3 metrics: {1e3 * ours:8.1f} ms, "
                f"{ours / times[None][what]:5.1f} times that without pairing"
            )


if __name__ == "__main__":
    bench_model()
    bench_studies()
