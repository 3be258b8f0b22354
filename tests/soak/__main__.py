"""The command: see ``soak.py``."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from pathlib import Path

import paretopick as pp
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
    parser.add_argument("--report", type=Path, help="a file for the counts of a run without faults, as Markdown")
    given = parser.parse_args()
    seed = int(time.time()) if given.seed is None else given.seed
    plan = Plan(given.seconds, given.workers, given.patience, seed)
    folder = Path(tempfile.mkdtemp(prefix="paretopick-soak-"))
    databases = tuple(given.database or DATABASES)
    print(f"soak of {' and '.join(databases)} for {plan.seconds:g} s, seed {seed}; ledger in {folder}", flush=True)
    outcomes = soak(plan, databases, folder, lambda text: print(text, flush=True))
    text = report(outcomes)
    print(text)
    faults = [f"{outcome.database}: {fault}" for outcome in outcomes for fault in outcome.faults]
    if faults:
        print(f"\n{len(faults)} faults with seed {seed}; the ledger is kept in {folder}:")
        for fault in faults[:50]:
            print(f"- {fault}")
        (folder / "report.md").write_text("\n".join([text, "", *(f"- {fault}" for fault in faults), ""]))
        return 1
    if given.report is not None:
        given.report.write_text(f"{heading(plan, outcomes[0].seconds)}\n{text}\n")
    shutil.rmtree(folder)
    print("\nevery promise was kept")
    return 0


def heading(plan: Plan, seconds: float) -> str:
    """Returns what a report begins with."""
    return (
        "# The last long soak\n\n"
        f"`make soak SECONDS={seconds:.0f} SEED={plan.seed}`: {plan.workers} workers on each database, side by side on "
        f"{os.cpu_count()} cores; Python {platform.python_version()}, {platform.system()}; paretopick {pp.__version__}. "
        "No promise was broken. What is counted here: [docs/soak.md](../docs/soak.md)."
    )


if __name__ == "__main__":
    sys.exit(main())
