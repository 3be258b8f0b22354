"""The command: see ``soak.py``."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from soak.soak import DATABASES, report, soak
from soak.trial import Plan


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Kills, cuts and stops; then every promise is compared with the database.")
    parser.add_argument("--seconds", type=float, default=900.0, help="how long workers are disturbed (900)")
    parser.add_argument("--workers", type=int, default=8, help="of each database (8)")
    parser.add_argument(
        "--patience", type=float, default=6.0, help="seconds that workers wait for a database (6; people have 60)"
    )
    parser.add_argument("--seed", type=int, default=None, help="of all that is chosen at random; otherwise the time")
    parser.add_argument("--database", choices=DATABASES, action="append", help="only this one")
    parser.add_argument("--out", type=Path, help="a file for the counts, as JSON")
    given = parser.parse_args()
    seed = int(time.time()) if given.seed is None else given.seed
    plan = Plan(given.seconds, given.workers, given.patience, seed)
    folder = Path(tempfile.mkdtemp(prefix="paretopick-soak-"))
    databases = tuple(given.database or DATABASES)
    print(f"soak of {' and '.join(databases)} for {plan.seconds:g} s, seed {seed}; ledger in {folder}", flush=True)
    outcomes = soak(plan, databases, folder, lambda text: print(text, flush=True))
    print(report(outcomes))
    if given.out is not None:
        given.out.write_text(
            json.dumps([{"database": o.database, "faults": o.faults, "counts": o.counts} for o in outcomes], indent=2)
        )
    faults = [f"{outcome.database}: {fault}" for outcome in outcomes for fault in outcome.faults]
    if faults:
        print(f"\n{len(faults)} faults with seed {seed}; the ledger is kept in {folder}:")
        for fault in faults[:50]:
            print(f"- {fault}")
        return 1
    shutil.rmtree(folder)
    print("\nevery promise was kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
