"""Times of the simulation engine, as ratios to what is measured in the same process: machines are noisy, ratios less so.

Run with ``make bench``, which also writes them to ``benchmarks/RESULTS.md``. The yardstick of a run of EGE is the time NumPy's
``Generator(SFC64)`` needs just to draw the standard normals that the run consumes: one for each objective of each active arm in
each round with pulls. Bernoulli instances have the same yardstick, and beside it the ratio to Gaussian noise on the same means.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from core import seconds

import paretopick as pp
from paretopick.simulation.compiled import CompiledRunner
from paretopick.simulation.reference import ReferenceRunner
from paretopick.simulation.results import Span
from paretopick.simulation.tasks import make_task

HERE = Path(__file__).parent
EGE = ("ege-sr", "ege-sh", "uniform")


def per_run(bandit: pp.Bandit, spec: object, budget: int, *, piece: float = 0.1) -> float:
    """Seconds of one compiled run on one thread, in pieces of about so many seconds."""
    runner = CompiledRunner(make_task(bandit, spec, budgets=budget, hypervolume=False))
    n = 8
    while seconds(partial(runner.span, Span((0,), 0, n)), least=0.0) < piece:
        n *= 2
    return seconds(partial(runner.span, Span((0,), 0, n))) / n


def reference_per_run(bandit: pp.Bandit, spec: object, budget: int) -> float:
    """Seconds of one run of the reference engine."""
    runner = ReferenceRunner(make_task(bandit, spec, budgets=budget, hypervolume=False))
    return seconds(partial(runner.span, Span((0,), 0, 1)), least=0.2)


def yardstick(bandit: pp.Bandit, policy: str, budget: int) -> float:
    """Seconds that NumPy needs for the normals of one run of EGE."""
    rounds = make_task(bandit, policy, budgets=budget).player(budget).schedule
    n = bandit.n_objectives * sum(active for active, pulls in zip(rounds.active, rounds.pulls, strict=False) if pulls)
    rng, normals = np.random.Generator(np.random.SFC64(0)), np.empty(n)
    repeats = max(1, 200_000 // n)

    def draw() -> None:
        for _ in range(repeats):
            rng.standard_normal(out=normals)

    return seconds(draw) / repeats


def snw_file() -> str | None:
    """The file of the sorting networks, if it is there."""
    given = os.environ.get("PARETOPICK_SNW", str(HERE.parents[1] / "shared" / "data" / "snw.csv"))
    return given if Path(given).exists() else None


def instances() -> list[pp.Bandit]:
    names = [name for name in pp.INSTANCES if not name.startswith("snw") or snw_file()]
    return [pp.instance(name, path=snw_file()) if name.startswith("snw") else pp.instance(name) for name in names]


def bench_ege(table: Table) -> None:
    table.begin(
        "EGE, one thread",
        "instance",
        "policy",
        "budget",
        "us per run",
        "yardstick us",
        "ratio",
        "Gaussian us",
        "ratio",
        "reference",
    )
    for bandit in instances():
        for policy in EGE:
            budget = bandit.budget
            ours, normals = per_run(bandit, policy, budget), yardstick(bandit, policy, budget)
            row = [bandit.name, policy, budget, f"{ours * 1e6:.2f}", f"{normals * 1e6:.2f}", f"{ours / normals:.2f}"]
            if isinstance(bandit.noise, pp.Bernoulli):
                gaussian = per_run(pp.Bandit(bandit.means, pp.Gaussian(std=0.5)), policy, budget)
                row += [f"{gaussian * 1e6:.2f}", f"{ours / gaussian:.2f}"]
            else:
                row += ["", ""]
            table.row(*row, f"{reference_per_run(bandit, policy, budget) / ours:,.0f} x")


def bench_sequential(table: Table) -> None:
    table.begin(
        "APE-FB, apt and doubt, one thread",
        *("instance", "policy", "budget", "ms per run", "ns per pull", "ratio to ape-fb", "ratio to apt", "reference"),
    )
    for bandit in instances():
        if bandit.name not in ("cov-boost", "snw-paper", "unit-circle", "unique-dominator", "equal-gaps"):
            continue
        others: dict[str, float] = {}
        for spec in ("ape-fb", "ape-fb-adapt", ("ape-fb-adapt", {"as_published": True}), "apt", ("apt", {"batch": 20}), "doubt"):
            ours = per_run(bandit, spec, bandit.budget)
            others.setdefault(spec if isinstance(spec, str) else "", ours)
            ratios = [f"{ours / others[other]:.2f}" if other in others else "" for other in ("ape-fb", "apt")]
            reference = f"{reference_per_run(bandit, spec, bandit.budget) / ours:,.0f} x" if bandit.n_arms <= 30 else ""
            name = spec if isinstance(spec, str) else f"{spec[0]} {spec[1]}"
            pull = ours / bandit.budget
            table.row(bandit.name, name, bandit.budget, f"{ours * 1e3:.3f}", f"{pull * 1e9:.0f}", *ratios, reference)


def bench_arms(table: Table) -> None:
    table.begin("ape-fb against the number of arms: cost per pull", "arms", "objectives", "ns per pull", "per arm and objective")
    rng = np.random.default_rng(0)
    for K in (20, 40, 80, 160, 320, 640, 1280):
        for D in (2, 4):
            bandit = pp.Bandit(rng.normal(size=(K, D)), pp.Gaussian(std=1.0))
            budget = 5 * K + 2000
            pull = per_run(bandit, ("ape-fb", {"complexity": 100.0 * K}), budget) / budget
            table.row(K, D, f"{pull * 1e9:.0f}", f"{pull * 1e9 / K / D:.2f}")
    table.begin(
        "EGE against the number of arms: one run, D = 2, T = 10 K, or what ege-sh needs",
        "points",
        "arms",
        "ege-sr ms",
        "ege-sh ms",
    )
    for shape in ("normal", "circle"):
        for K in (100, 1000, 10_000, 100_000):
            means = rng.normal(size=(K, 2))
            if shape == "circle":  # a tenth of them optimal, and hardly any noise: the front stays long
                angles = np.concatenate([np.linspace(0.2, 1.4, K // 10), np.linspace(2.0, 5.5, K - K // 10)])
                means = np.column_stack([np.cos(angles), np.sin(angles)])
            bandit = pp.Bandit(means, pp.Gaussian(std=0.25 if shape == "normal" else 1e-9))
            cells = []
            for policy in ("ege-sr", "ege-sh"):
                try:
                    runner = CompiledRunner(make_task(bandit, policy, budgets=10 * K, hypervolume=False))
                except pp.BudgetTooSmall as refusal:
                    runner = CompiledRunner(make_task(bandit, policy, budgets=refusal.smallest, hypervolume=False))
                cells.append(f"{seconds(partial(runner.span, Span((0,), 0, 1)), least=0.3) * 1e3:.2f}")
            table.row(shape, K, *cells)


def bench_threads(table: Table) -> None:
    cores = len(os.sched_getaffinity(0))
    table.begin(f"Threads, on {cores} cores", "instance", "policy", "runs", "1 thread s", "2 threads s", "times as fast")
    for name, policy, runs in (("cov-boost", "ege-sr", 1_000_000), ("unit-circle", "ege-sr", 20_000), ("cov-boost", "apt", 4000)):
        bandit = pp.instance(name)
        options = {"runs": runs, "rng": 0, "hypervolume": False}
        pp.simulate(bandit, policy, **options | {"runs": 8})
        took = [seconds(partial(pp.simulate, bandit, policy, workers=n, **options), least=0.0) for n in (1, 2, 1, 2, 1, 2)]
        one, two = min(took[::2]), min(took[1::2])
        table.row(bandit.name, policy, runs, f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}")


START = """
import sys, time
began = time.perf_counter()
import paretopick as pp
imported = time.perf_counter()
for policy in sys.argv[1:]:
    pp.simulate(pp.instance("unique-dominator"), policy, runs=8, rng=0, workers=1, budgets=100)
print(imported - began, time.perf_counter() - imported)
"""


def bench_start(table: Table) -> None:
    table.begin("The first call in a process, seconds", "policy", "import paretopick", "first call, kernels cached", "not cached")
    everything = ("ege-sr", "ape-fb", "apt")
    for policies in (*((policy,) for policy in everything), everything):
        times = []
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            for _ in range(2):
                command = [sys.executable, "-c", START, *policies]
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                times.append([float(word) for word in done.stdout.split()])
        (_, cold), (imported, warm) = times
        table.row(", ".join(policies), f"{imported:.2f}", f"{warm:.2f}", f"{cold:.1f}")


class Table:
    """Prints rows as they come, and keeps them for the file."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def begin(self, title: str, *header: str) -> None:
        """Starts a table."""
        self._write(f"\n## {title}\n")
        self.row(*header)
        self._write("|" + " --- |" * len(header))

    def row(self, *cells: object) -> None:
        """Adds a row."""
        self._write("| " + " | ".join(str(cell) for cell in cells) + " |")

    def _write(self, line: str) -> None:
        print(line, flush=True)
        self.lines.append(line)


def machine() -> str:
    import numba

    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor())
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, Numba {numba.__version__}"
    return f"{model}, {os.cpu_count()} cores, {platform.system()}; {versions}; paretopick {pp.__version__}"


SECTIONS = {
    "ege": bench_ege,
    "sequential": bench_sequential,
    "arms": bench_arms,
    "threads": bench_threads,
    "start": bench_start,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}; by default all, which writes RESULTS.md")
    chosen = parser.parse_args().sections
    table = Table()
    for name, bench in SECTIONS.items():
        if not chosen or name in chosen:
            bench(table)
    if not chosen:
        head = ["# Results of the last run", "", f"`make bench` on: {machine()}.", "", __doc__.partition("\n\n")[2].strip()]
        (HERE / "RESULTS.md").write_text("\n".join(head + table.lines) + "\n")


if __name__ == "__main__":
    main()
