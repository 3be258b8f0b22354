"""Chooses the budgets of the random problems that policies are compared on, and writes ``paper/data/families.csv``.

Run it after a change of ``paper/families.py`` or ``paper/budgets.py``; the problems of finished tournaments are others then. It
takes some minutes.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import paretopick
from paretopick._tables import csv_text
from paretopick.paper.budgets import choose
from paretopick.paper.families import SETS

FILE = Path(paretopick.__file__).parent / "paper" / "data" / "families.csv"


def row(one: tuple[str, int]) -> dict[str, object]:
    """What the pilot chose for a problem; that it was done is said at once, since some take a minute."""
    chosen = choose(*one)
    print(*one, chosen, flush=True)
    rates = {"target": f"{chosen.target:.4f}", "error": f"{chosen.error:.4f}"}
    return {"set": one[0], "number": one[1], "attempt": chosen.attempt, "budget": chosen.budget, **rates}


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        rows = list(pool.map(row, [(group, number) for group, size in SETS.items() for number in range(size)]))
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(csv_text(list(rows[0]), rows))
