"""Twenty settings of compression programs on a busy machine: measured once for all, and studied again and again from the record.

``python benchmarks/codecs_study.py record`` measures, with a load beside it that comes and goes; on Debian it needs ``apt-get
install gzip pigz bzip2 xz-utils zstd lz4 brotli``. ``python benchmarks/codecs_study.py`` prints what replayed studies find, which
``make decisions`` puts into docs/decisions.md.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import multiprocessing
import random
import sysconfig
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import paretopick as pp
from paretopick._arrays import BoolArray, FloatArray
from paretopick.metrics import check_metrics, requirements_of, signs_of
from paretopick.studies.commands import Command
from paretopick.studies.measurement import Measurement
from paretopick.theory.requirements import beats, is_right

RECORD = Path(__file__).parent / "data" / "codecs.csv"
NAMES = ("wall_seconds", "max_memory_mb", "output_bytes")
SETTINGS = (
    "gzip -1",
    "gzip -6",
    "gzip -9",
    "pigz -6",
    "bzip2 -1",
    "bzip2 -9",
    "xz -0",
    "xz -3",
    "xz -6",
    "xz -9",
    "zstd -1",
    "zstd -3",
    "zstd -6",
    "zstd -12",
    "zstd -19",
    "lz4 -1",
    "lz4 -9",
    "brotli -q 1",
    "brotli -q 5",
    "brotli -q 9",
)
CORPUS = 2_000_000
"""Bytes of Python's library that are compressed."""
TIMES = 50
"""How often each setting is measured."""
REST, BURST = 0.6, 0.4
"""Mean seconds for which a process that disturbs sleeps and works."""
DISTURBERS = 2
EXACT = ("output_bytes",)
LIMIT = 0.4
"""Seconds; the programs that compress most are clearly slower here."""
WITHIN = {"wall_seconds": f"min~10%<={LIMIT:g}", "max_memory_mb": "min~5%", "output_bytes": "min~2%"}
PLAIN = dict.fromkeys(NAMES, "min")
"""As metrics were in the first release."""
BUDGET = 450
REPLAYS = 20
CONFIDENCE = 0.95
WIDTH = 130
"""Of the lines of the page."""

Rows = Mapping[str, FloatArray]
"""What was measured, by setting: ``(n_measurements, n_metrics)``."""


class Replayed(NamedTuple):
    """How one study ended that was measured from the record."""

    used: int
    probability: float
    """That its answer is right, as it says itself."""
    sure: bool
    """Whether it says so with the confidence that is asked for."""
    right: bool
    """Whether it is, if the means of all that was recorded are the truth."""
    answer: tuple[str, ...]
    doubts: Mapping[str, float]
    """How likely settings are on the wrong side of the answer."""


def corpus(size: int = CORPUS) -> bytes:
    """Returns the sources of Python's library one after the other, in the order of their names, as far as there is room."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    data = b"".join(file.read_bytes() for file in files)[:size]
    if len(data) < size:
        raise SystemExit(f"Python's library has {len(data):,} bytes of sources here; set CORPUS={size:,} to no more than that.")
    return data


def disturb(seed: int) -> None:
    """Works and rests in turn, each for a random time, until it is stopped."""
    rng = random.Random(seed)
    while True:
        end = time.monotonic() + rng.expovariate(1 / BURST)
        while time.monotonic() < end:
            sum(range(10_000))
        time.sleep(rng.expovariate(1 / REST))


@contextlib.contextmanager
def disturbance(seed: int) -> Iterator[None]:
    """Makes the machine busy, for as long as the context lasts."""
    processes = [multiprocessing.Process(target=disturb, args=(seed + at,), daemon=True) for at in range(DISTURBERS)]
    try:
        for process in processes:
            process.start()
        yield
    finally:
        for process in processes:
            process.terminate()
            process.join()


def record(path: Path, times: int, seed: int = 0) -> None:
    """Measures every setting so often, in a random order, and writes a row for each measurement in that order."""
    order = [option for option in SETTINGS for _ in range(times)]
    random.Random(seed).shuffle(order)
    path.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile() as file, disturbance(seed), path.open("w", newline="") as out:
        file.write(corpus())
        file.flush()
        command = Command(["{option...}", "-c", file.name], metrics=NAMES)
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["option", *NAMES])
        for number, option in enumerate(order, start=1):
            values = command(Measurement(number, option, 1, {}, None))
            writer.writerow(
                [option, f"{values['wall_seconds']:.6f}", f"{values['max_memory_mb']:.6g}", f"{values['output_bytes']:.0f}"]
            )
            print(f"\r{number:,} of {len(order):,}", end="", flush=True)
    print()


def recorded(path: Path = RECORD) -> Rows:
    """Returns what was recorded."""
    with path.open(newline="") as file:
        table = list(csv.DictReader(file))
    return {
        option: np.array([[float(line[name]) for name in NAMES] for line in table if line["option"] == option])
        for option in SETTINGS
    }


class Replay:
    """Measures settings from the record: each row once in a random order, and then any, if a setting is measured more often."""

    def __init__(self, rows: Rows, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._left = {option: list(self._rng.permutation(found)) for option, found in rows.items()}
        self._rows = rows

    def __call__(self, option: str) -> FloatArray:
        """Returns one measurement of a setting."""
        left = self._left[option]
        return left.pop() if left else np.asarray(self._rng.choice(self._rows[option]))


def truth(rows: Rows, metrics: Iterable[pp.Metric]) -> FloatArray:
    """Returns the means of all that was recorded as they are compared: of logarithms where metrics are, larger ones better."""
    metrics = tuple(metrics)
    scaled = [[metric.scaled(found[:, at]).mean() for at, metric in enumerate(metrics)] for found in rows.values()]
    return np.asarray(np.array(scaled) * signs_of(metrics))


def replayed(rows: Rows, seed: int, given: Mapping[str, str], policy: str, confidence: float | None) -> Replayed:
    """Makes one study from the record."""
    metrics = check_metrics(given, exact=EXACT)
    result = pp.identify(
        Replay(rows, seed), list(rows), metrics, BUDGET, policy=policy, confidence=confidence, name=f"replay {seed}"
    )
    answer: BoolArray = np.isin(list(rows), result.pareto)
    right = bool(is_right(truth(rows, metrics), answer, requirements_of(metrics)))
    probability = result.probability or 0.0
    sure = probability >= CONFIDENCE if confidence is None else result.stopped is not None
    doubts = {option.option: option.doubt or 0.0 for option in result.options}
    return Replayed(result.used, probability, sure, right, result.pareto, doubts)


def lines(path: Path = RECORD) -> list[str]:
    """Returns the part of the page about decisions that is about this study."""
    rows = recorded(path)
    with multiprocessing.Pool() as pool:
        ours = pool.starmap(replayed, [(rows, seed, WITHIN, "doubt", CONFIDENCE) for seed in range(REPLAYS)], chunksize=1)
        first = pool.starmap(replayed, [(rows, seed, PLAIN, "ege-sr", None) for seed in range(REPLAYS)], chunksize=1)
    return [*_introduction(rows), *_table(ours, first), *_sentences(rows, ours, first)]


def within(rows: Rows, studies: Iterable[Replayed]) -> int:
    """Returns how many answers are right within the margins, if nobody minds the limit."""
    metrics = [replace(metric, at_most=None) for metric in check_metrics(WITHIN, exact=EXACT)]
    means, required = truth(rows, metrics), requirements_of(metrics)
    return sum(bool(is_right(means, np.isin(list(rows), study.answer), required)) for study in studies)


def beaten(rows: Rows, answer: Iterable[str]) -> int:
    """Returns how many of an answer another of it beats within the margins: who knew the truth would leave them out."""
    metrics = check_metrics(WITHIN, exact=EXACT)
    means = truth(rows, metrics)[np.isin(list(rows), list(answer))]
    return int(beats(means, means, requirements_of(metrics)).any(axis=0).sum())


def _introduction(rows: Rows) -> list[str]:
    noise = [float(np.log(found[:, 0]).std(ddof=1)) for found in rows.values()]
    programs = dict.fromkeys(option.split()[0] for option in rows)
    told = (
        f"{len(rows)} settings of {', '.join(programs)} compress {CORPUS / 1e6:g} MB of Python's sources, while other processes "
        f"come and go. Each was measured {min(map(len, rows.values()))} times, all in a random order "
        f"(benchmarks/data/codecs.csv); the time of a setting varies by {min(noise):.0%} to {max(noise):.0%} (standard deviation "
        "of its logarithm). Each replayed study takes its measurements from these, in a random order of its own. The truth is "
        "the mean of all measurements of a setting, geometric where there are margins. *First release* is its default, `ege-sr`, "
        "without margins and limits. Programs that need less memory than 6.3 MB show 6.3 MB, which is that of the process that "
        "starts them."
    )
    return ["## Twenty codec settings on a busy machine\n", textwrap.fill(told, WIDTH, break_on_hyphens=False) + "\n"]


def _table(ours: Sequence[Replayed], first: Sequence[Replayed]) -> list[str]:
    wanted = ", ".join(f"`{name}:{text}`" for name, text in WITHIN.items())
    return [
        "| study | sure of its answer | measurements: median | most | probability it gives: median | answer right |",
        "|---|---|---|---|---|---|",
        _row(f"{wanted}, `confidence={CONFIDENCE:g}`, at most {BUDGET}", ours),
        _row(f"first release, {BUDGET}", first),
        "",
    ]


def _row(name: str, studies: Sequence[Replayed]) -> str:
    n, used = len(studies), [study.used for study in studies]
    probability = np.median([study.probability for study in studies])
    return (
        f"| {name} | {sum(study.sure for study in studies)} of {n} | {np.median(used):.0f} | {max(used)} | {probability:.0%} "
        f"| {sum(study.right for study in studies)} of {n} |"
    )


def _sentences(rows: Rows, ours: Sequence[Replayed], first: Sequence[Replayed]) -> list[str]:
    answer, times = Counter(study.answer for study in ours).most_common(1)[0]
    size, spare = np.mean([[len(study.answer), beaten(rows, study.answer)] for study in ours], axis=0)
    right = (
        "*Right* is within the margins for the first, and exactly for the other, of whose answers "
        f"{within(rows, first)} of {len(first)} are right within the margins if the limit is left out. "
        f"{_doubtful('Studies with margins', ours)} {_doubtful('Studies of the first release', first)}"
    )
    kept = (
        f"The most frequent answer with margins ({times} of {len(ours)}): {', '.join(answer)}. Answers have {size:.1f} settings "
        f"on average, {spare:.1f} of which another one of them beats. Keeping those is no error, since nobody is better by the "
        "margin in all three metrics; but who stops early gets a longer answer than who knows the truth."
    )
    return [*(textwrap.fill(told, WIDTH, break_on_hyphens=False) + "\n" for told in (right, kept))]


def _doubtful(who: str, studies: Sequence[Replayed]) -> str:
    """What kept those that ended unsure from being sure."""
    unsure = [study for study in studies if not study.sure]
    if not unsure:
        return f"{who} all ended sure."
    means = {option: float(np.mean([study.doubts[option] for study in unsure])) for option in unsure[0].doubts}
    worst = sorted(means, key=lambda option: -means[option])[:3]
    return f"{who} that ended unsure doubted most {', '.join(f'{option} ({means[option]:.0%})' for option in worst)}."


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, or prints what replayed studies find."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=("replay", "record"), default="replay")
    parser.add_argument("--times", type=int, default=TIMES, help="how often each setting is measured")
    parser.add_argument("--record", type=Path, default=RECORD)
    chosen = parser.parse_args(arguments)
    if chosen.what == "record":
        record(chosen.record, chosen.times)
    else:
        print("\n".join(lines(chosen.record)))


if __name__ == "__main__":
    main()
