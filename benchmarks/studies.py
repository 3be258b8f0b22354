"""Measurements per second that a study can take in, beside Optuna's for the same work in the same run: read the ratios.

Run with ``make bench``, which keeps what is printed in ``benchmarks/STUDIES.md``. One measurement is an ask and a tell, each a
transaction that survives a crash, by one worker and by eight processes, with SQLite and with PostgreSQL. Optuna does the same
with its SQLite storage: a trial of two objectives with one categorical parameter, whose option is drawn at random, so that its
sampler costs nothing. Then: whether a measurement costs more late in a long study, and how long opening one takes; what
``identify`` in memory adds to a function that costs nothing; how long it takes to see how far a large study is; and how long
its answer takes.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import optuna
import sqlalchemy

import paretopick as pp
from paretopick.policies.base import Policy
from paretopick.studies.study import Study

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.literal_draws import literal_resample
from support.servers import PostgresServer

OPTIONS = [f"option {i}" for i in range(20)]
METRICS = {"quality": "max", "cost": "min"}
WORKERS = 8
MILLION = 1_000_000

REPORT = Path(__file__).with_name("STUDIES.md")

optuna.logging.set_verbosity(optuna.logging.ERROR)


def say(line: str = "") -> None:
    """Prints a line, and keeps it."""
    print(line, flush=True)
    with REPORT.open("a") as report:
        report.write(line + "\n")


def paretopick_work(url: str, worker: str, n: int) -> None:
    study = Study.open("bench", storage=url)
    for _ in range(n):
        (todo,) = study.ask(worker=worker)
        study.tell(todo.number, (0.5, 1.5))


def optuna_work(url: str, _: str, n: int) -> None:
    study = optuna.load_study(study_name="bench", storage=url, sampler=optuna.samplers.RandomSampler())
    for _ in range(n):
        trial = study.ask()
        trial.suggest_categorical("option", OPTIONS)
        study.tell(trial, (0.5, 1.5))


def rate(work: Callable[[str, str, int], None], url: str, workers: int, n: int) -> float:
    """Measurements per second of so many processes that make n each; from the moment when all are ready."""
    ready, children = [os.pipe() for _ in range(2)], []
    for i in range(workers):
        if (child := os.fork()) == 0:
            work(url, f"w{i}", 1)  # everything imported and connected
            os.write(ready[0][1], b"x")
            os.read(ready[1][0], 1)
            work(url, f"w{i}", n)
            os._exit(0)
        children.append(child)
    for _ in range(workers):
        os.read(ready[0][0], 1)
    start = time.perf_counter()
    os.write(ready[1][1], b"x" * workers)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * workers
    took = time.perf_counter() - start
    for end in (*ready[0], *ready[1]):
        os.close(end)
    return workers * n / took


@contextlib.contextmanager
def databases() -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        server = PostgresServer()
        stack.callback(server.remove)
        yield {
            "sqlite": f"sqlite:///{folder}/studies.db",
            "postgresql": server.new_database(),
            "optuna": f"sqlite:///{folder}/o.db",
        }


def bench_rates(urls: dict[str, str]) -> None:
    optuna.create_study(study_name="bench", storage=urls["optuna"], directions=["maximize", "minimize"])
    for kind in ("sqlite", "postgresql"):
        pp.Study.create("bench", options=OPTIONS, metrics=METRICS, budget=10**6, storage=urls[kind]).close()
    say("## Ask and tell\n")
    say("| workers | Optuna, SQLite: per second | SQLite: per second | ratio | PostgreSQL: per second | ratio |")
    say("| --- | --- | --- | --- | --- | --- |")
    for workers, n in ((1, 300), (WORKERS, 60)):
        theirs = rate(optuna_work, urls["optuna"], workers, n)
        ours = [rate(paretopick_work, urls[kind], workers, n) for kind in ("sqlite", "postgresql")]
        cells = " | ".join(f"{each:,.0f} | {each / theirs:.1f} x" for each in ours)
        say(f"| {workers} | {theirs:,.0f} | {cells} |")


def bench_length(urls: dict[str, str]) -> None:
    """A long study, of which measurements are imported in one go, then told one by one, then opened."""
    say("\n## Long studies, on SQLite\n")
    say("| policy | measurements so far | ms per ask and tell | ratio to the first | seconds to open | without checkpoint |")
    say("| --- | --- | --- | --- | --- | --- |")
    for policy, options in (("ege-sr", {}), ("apt", {"batch": 20})):
        choice = (policy, options)
        study = pp.Study.create(policy, options=OPTIONS, metrics=METRICS, budget=200_000, policy=choice, storage=urls["sqlite"])
        first = 0.0
        for n in (0, 100_000):
            if n:
                bring_to(study, n)
            start = time.perf_counter()
            for _ in range(300):
                (todo,) = study.ask()
                study.tell(todo.number, values(todo.number, todo.option))
            each = (time.perf_counter() - start) / 300
            first = first or each
            start = time.perf_counter()
            opened = pp.Study.open(policy, storage=urls["sqlite"])
            took = time.perf_counter() - start
            say(f"| {policy} | {opened.used:,} | {1e3 * each:.2f} | {each / first:.2f} | {took:.2f} | {replay(opened):.2f} |")


def bench_million(urls: dict[str, str]) -> None:
    """What takes how long when the log is long, in a process that has done nothing else; medians, and the longest in brackets."""
    say(f"\n## A study with {MILLION:,} measurements: 20 options, 2 metrics, ege-sr\n")
    say("| database | " + " | ".join(f"{act}: ms" for act in ACTS) + " | memory of an open study: MB |")
    say("| --- |" + " --- |" * (len(ACTS) + 1))
    for kind in ("sqlite", "postgresql"):
        study = pp.Study.create("million", options=OPTIONS, metrics=METRICS, budget=1_200_000, storage=urls[kind])
        while study.used < MILLION:
            arms = study._state.policy.ask(min(50_000, MILLION - study.used)).tolist()
            study.add([(OPTIONS[arm], values(i, OPTIONS[arm])) for i, arm in enumerate(arms, start=study.used)])
        study.close()
        found = subprocess.run([sys.executable, __file__, urls[kind]], capture_output=True, text=True, check=True).stdout
        record = json.loads(found)
        cells = [f"{np.median(record[act]):.1f} ({max(record[act]):.1f})" for act in ACTS]
        say(f"| {kind} | {' | '.join(cells)} | {record['memory']:.0f} |")


ACTS = ("open", "ask", "tell", "void", "import of one row", "ask beside 50,000 leases")


def use_million(url: str) -> None:
    """Prints the milliseconds of each act, and by how much the memory grows when the study is opened."""
    found: dict[str, list[float]] = {}

    def timed(act: str, what: Callable[[int], object], n: int) -> None:
        found[act] = [1e3 * seconds(lambda i=i: what(i)) for i in range(n)]  # type: ignore[misc]

    pp.Study.list(storage=url)  # everything imported
    before = memory()
    study = pp.Study.open("million", storage=url)
    grown = memory() - before
    timed("open", lambda _: pp.Study.open("million", storage=url), 5)
    todos: list[pp.Measurement] = []
    timed("ask", lambda i: todos.extend(study.ask(worker=f"w{i}")), 40)
    timed("tell", lambda i: study.tell(todos[i].number, (0.5, 1.5)), 40)
    timed("void", lambda i: study.void(1000 + 24_001 * i, "a typing error"), 40)
    timed("import of one row", lambda i: study.record({}, {}, [(OPTIONS[0], (0.25 + i, 1.0))]), 40)
    assert len(study.ask(50_000, worker="sheet", lease=None)) == 50_000
    timed("ask beside 50,000 leases", lambda i: study.ask(worker=f"v{i}"), 40)
    print(json.dumps(found | {"memory": grown}))


def memory() -> float:
    """Megabytes that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def bench_memory() -> None:
    """The whole call, with one worker, shared out over its measurements; the answer at its end apart."""
    say("\n## `identify` in memory: 20 options, 3 metrics, budget 2500\n")
    say("| policy | ms per measurement | ms for the answer at the end |")
    say("| --- | --- | --- |")
    for policy in ("ege-sr", "apt"):
        best, answer = min(_identify(policy) for _ in range(4))
        say(f"| {policy} | {1e3 * best:.3f} | {1e3 * answer:.0f} |")


def _identify(policy: str) -> tuple[float, float]:
    last = [0.0, 0.0]  # when the last measurement began, and how many there were

    def measure(option: int) -> tuple[float, float, float]:
        last[:] = time.perf_counter(), last[1] + 1
        return option % 7 + (last[1] * 0.618) % 1, option % 5 + (last[1] * 0.414) % 1, option % 3 + (last[1] * 0.732) % 1

    start = time.perf_counter()
    pp.identify(measure, range(20), {"a": "max", "b": "min", "c": "max"}, 2500, policy=policy)
    return (last[0] - start) / last[1], time.perf_counter() - last[0]


def bench_progress() -> None:
    """What a progress bar asks for, and what it showed before it had a record of its own."""
    options = [f"option {i}" for i in range(500)]
    study = pp.Study.create("large", options=options, metrics=METRICS, budget=20_000, storage="sqlite://")
    study.add([(option, values(i, option)) for i in range(3) for option in options])
    say("\n## How far a study with 500 options is\n")
    say("| asked for | ms |")
    say("| --- | --- |")
    asked = {
        "`progress()`": study.progress,
        "`progress(guess=True)`": lambda: study.progress(guess=True),
        "`status()`": study.status,
    }
    for name, ask in asked.items():
        say(f"| {name} | {1e3 * min(seconds(ask) for _ in range(20)):.2f} |")


def bench_results() -> None:
    """The answer of a study and how sure it is, beside a literal twin that compares all options with all in every draw."""
    say("\n## `result()` with 5 metrics, 3 measurements of each option\n")
    say("| options | values | Pareto-optimal | seconds | literal: seconds | ratio |")
    say("| --- | --- | --- | --- | --- | --- |")
    for n_options in (200, 1000):
        for kind in ("normal", "trade-offs", "0 or 1"):
            study = _measured(n_options, kind)
            found = study.result()
            took = min(seconds(study.result) for _ in range(5))
            estimates, names, _ = study.estimates()
            answer = np.isin(names, found.pareto)
            start = time.perf_counter()
            _, shares, _ = literal_resample(estimates, answer, found.certainty.draws)
            literal = time.perf_counter() - start
            assert shares.tolist() == [row.probability for row in found.options]
            say(f"| {n_options:,} | {kind} | {answer.sum()} | {took:.2f} | {literal:.1f} | {literal / took:.0f} x |")


def _measured(n_options: int, kind: str) -> pp.Study:
    rng = np.random.default_rng(0)
    options = [f"option {i}" for i in range(n_options)]
    truth = rng.normal(size=(n_options, 5))
    if kind == "trade-offs":
        truth -= truth.mean(axis=1)[:, None]
    rows = truth + rng.normal(size=(3, *truth.shape))
    rows = (rows > 0).astype(float) if kind == "0 or 1" else rows
    metrics = {f"m{d}": "max" for d in range(5)}
    study = pp.Study.create(kind, options=options, metrics=metrics, budget=10 * n_options, policy="uniform", storage="sqlite://")
    study.add([(option, row.tolist()) for repeat in rows for option, row in zip(options, repeat, strict=True)])
    return study


def seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def values(number: int, option: str) -> tuple[float, float]:
    arm = int(option.split()[1])
    return arm % 7 + (number * 0.618) % 1, arm % 5 + (number * 0.414) % 1


def bring_to(study: pp.Study, n: int) -> None:
    """Brings a study to n measurements, each asked for and told, many in a transaction."""
    while study.used < n:
        todos = study.ask(min(5000, n - study.used))
        study.record({todo.number: values(todo.number, todo.option) for todo in todos}, {})


def replay(study: pp.Study) -> float:
    """Seconds from the log to the state, without a checkpoint."""
    start = time.perf_counter()
    state = type(study._state)(study.definition)
    state.apply(study.events())
    took = time.perf_counter() - start
    assert isinstance(state.policy, Policy)
    assert state.used == study.used
    return took


if __name__ == "__main__":
    if len(sys.argv) > 1:
        use_million(sys.argv[1])
        sys.exit()
    REPORT.write_text("# Results of the last run\n\n")
    say(f"`benchmarks/studies.py` on {os.cpu_count()} cores, {platform.system()}; Python {platform.python_version()}, ")
    say(f"SQLAlchemy {sqlalchemy.__version__}, Optuna {optuna.__version__}; paretopick {pp.__version__}.\n")
    with databases() as urls:
        bench_rates(urls)
        bench_length(urls)
        bench_million(urls)
    bench_memory()
    bench_progress()
    bench_results()
