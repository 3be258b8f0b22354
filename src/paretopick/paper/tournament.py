"""``tournament``: every policy on the paper's instances and on random problems, and the page that says which one is for whom."""

from __future__ import annotations

import math
import os
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from paretopick._arrays import check_choice, check_flag, check_sequence
from paretopick._files import write_whole
from paretopick._tables import csv_text
from paretopick.bandits import Bernoulli
from paretopick.errors import InvalidInput
from paretopick.instances.files import read_snw
from paretopick.paper.answers import answers_section, judged_twice
from paretopick.paper.catalogue import MAIN, MORE
from paretopick.paper.database import ResultsDatabase
from paretopick.paper.entries import Results, Rows
from paretopick.paper.families import SETS, Problem, problems
from paretopick.paper.policies_figure import draw_ratios
from paretopick.paper.policies_page import page_of
from paretopick.paper.ratios import REFERENCE, Score, Scores, ratio_of
from paretopick.paper.runner import Progress, Runner, check_work, open_results, results_folder
from paretopick.paper.series import Series, affordable
from paretopick.plots import look, save
from paretopick.policies import POLICIES, PolicyChoice, PolicyGiven, check_policy, needed_options

RUNS = 1024
"""Of every policy on every problem, unless something else is said."""

PAPER = "paper"
GROUPS = (PAPER, *SETS)
"""The sets of problems, in the order of the page."""

BUDGETS = {"high-dimension": 12_837, "all-optimal": 20_000}
"""Instead of the paper's: where a run takes too long, and where good policies make no error that could be counted."""

LONGEST_RUN = 100e6
"""Nanoseconds. A policy that is expected to take longer for a run makes a half, a quarter or an eighth of the runs."""


@dataclass(frozen=True)
class Tournament:
    """What ``tournament`` did.

    Args:
        files: that it wrote.
        scores: by set, all that has been counted in its folder.
        skipped: instances that it had to leave out for want of data.
        seconds: all of it took.
    """

    files: tuple[Path, ...]
    scores: dict[str, Scores]
    skipped: tuple[str, ...]
    seconds: float

    def rows(self) -> Rows:
        """Returns one record for every problem and policy."""
        return [row for group, scores in self.scores.items() for row in _rows(group, scores)]


def tournament(
    sets: Sequence[str] = (PAPER, "tuning"),
    *,
    out: str | os.PathLike[str],
    runs: int = RUNS,
    policies: Iterable[PolicyGiven] = (),
    answers: bool = False,
    data: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Tournament:
    """Runs policies on sets of problems, and writes what follows: ``out/policies.md``, its figure and its data.

    Finished pieces of work are kept in ``out/results.db``: the same call after a crash goes on where it stopped, and a call with
    more runs makes the missing ones only. The page shows all sets that were run in this folder so far. Runs of a policy whose
    code has changed since are not told apart from those before: take another folder then.

    Args:
        sets: of problems: "paper", "tuning" and "judging".
        out: a folder, made if it is not there.
        runs: of every policy on every problem; where a run takes long, a share of them.
        policies: names, or names with options; by default all that need no options. EGE-SR, which all are compared with, joins.
        answers: whether data of some policies are judged by the rule of ``doubt``, too, in runs through ask and tell.
        data: the file of the sorting networks; None looks at the environment variable ``PARETOPICK_SNW``.
        workers: threads, by default one for each core; the results are the same for any number.
        seed: of the runs.
        progress: called with what is running, and how much of it is done.
    """
    began = time.perf_counter()
    runs, seed = check_work(runs, seed, workers)
    given = check_sequence(sets, "sets", 'is not a list; write for instance ["paper", "tuning"]')
    asked = list(dict.fromkeys(check_choice(name, GROUPS, "set of problems") for name in given))
    if not asked:
        raise InvalidInput(f"sets=[] names no set of problems; there are {', '.join(GROUPS)}.")
    named = [check_policy(policy) for policy in check_sequence(policies, "policies", "is not a list of policies")]
    choices = entrants(named)
    if data is not None:
        read_snw(data)
    folder = results_folder(out)
    database = open_results(folder, seed)
    results = Results(database, data)
    skipped = [name for name in (*MAIN, *MORE) if PAPER in asked and not results.has(name)]
    contests = {group: _contest(group, results) for group in GROUPS}
    wanted = [series for group in asked for one in contests[group] for series in _series(one, choices)]
    if check_flag(answers, "answers"):
        wanted += [series for group in asked for series in judged_twice(contests[group])]
    runner = Runner(database, runs=runs, seed=seed, workers=workers, progress=progress)
    runner.plan(wanted)
    for series in wanted:
        runner.fill(series, series.label)
    shown = {**{choice.text: choice for choice in entrants()}, **{choice.text: choice for choice in choices}}
    known = database.instances()
    scores = {
        group: _scores(several, list(shown.values()), database)
        for group, several in contests.items()
        if known.intersection(one.name for one in several)
    }
    scores = {group: found for group, found in scores.items() if found.problems}
    command = _command(asked, runs, [choice.text for choice in named], answers, data, seed)
    rules = answers_section({group: found.problems for group, found in scores.items()}, database)
    files = _write(folder, scores, page_of(scores, command=command, seed=seed, answers=rules))
    return Tournament(tuple(files), scores, tuple(skipped), time.perf_counter() - began)


def entrants(policies: Iterable[PolicyGiven] = ()) -> list[PolicyChoice]:
    """Returns the policies of a tournament: all that need no options, or those named, and EGE-SR first.

    >>> [choice.text for choice in entrants(["apt:batch=8", "uniform"])]
    ['ege-sr', 'apt:batch=8', 'uniform']
    """
    chosen = [check_policy(policy) for policy in policies] or [
        PolicyChoice(name) for name in POLICIES if not needed_options(name)
    ]
    return list({choice.text: choice for choice in (PolicyChoice(REFERENCE), *chosen)}.values())


def _contest(group: str, results: Results) -> list[Problem]:
    """The problems of a set; of the paper's instances those whose data is at hand."""
    if group != PAPER:
        return problems(group)
    bandits = [results.bandit(name) for name in (*MAIN, *MORE) if results.has(name)]
    return [
        Problem(replace(one, budget=BUDGETS.get(one.name, one.budget)), PAPER, one.name, _noise(one.noise)) for one in bandits
    ]


def _noise(noise: object) -> str:
    return "bernoulli" if isinstance(noise, Bernoulli) else "equal"


def _series(one: Problem, choices: Iterable[PolicyChoice]) -> list[Series]:
    """The runs of every policy that can work with the budget."""
    several = []
    for choice in choices:
        if affordable(one.bandit, choice.name, choice.options, (one.budget,)):
            series = Series(one.bandit, choice.name, choice.options, (one.budget,))
            several.append(replace(series, share=_share(series.weight / LONGEST_RUN)))
    return several


def _share(length: float) -> float:
    """Of the runs: 1, or a half, a quarter or an eighth where a run is longer than it should be by that factor.

    >>> _share(0.1), _share(1.05), _share(1e9)
    (1.0, 0.5, 0.125)
    """
    return max(2.0 ** -max(math.ceil(math.log2(length)), 0), 0.125)


def _scores(contest: Sequence[Problem], choices: Sequence[PolicyChoice], database: ResultsDatabase) -> Scores:
    """What has been counted of a set."""
    counted: dict[tuple[str, str], Score] = {}
    for one in contest:
        names = {(choice.name, str(choice.options)): choice.text for choice in choices}
        for series in _series(one, choices):
            for point in database.points(series).values():
                name = names[series.policy, str(series.options)]
                counted[one.name, name] = Score(int(point.curve.errors[0]), point.runs)
    order = {choice.text: place for place, choice in enumerate(choices)}
    by_policy = dict(sorted(counted.items(), key=lambda item: order[item[0][1]]))
    return Scores(tuple(one for one in contest if (one.name, REFERENCE) in counted), by_policy)


def _write(folder: Path, scores: dict[str, Scores], page: str) -> list[Path]:
    rows = [row for group, found in scores.items() for row in _rows(group, found)]
    files = [write_whole(folder / "figures" / "tournament.csv", csv_text(list(rows[0]), rows).encode())]
    with look():
        files += save(draw_ratios(scores), folder / "figures", "tournament")
    return [*files, write_whole(folder / "policies.md", page.encode())]


def _rows(group: str, scores: Scores) -> Rows:
    return [
        {
            "set": group,
            "problem": one.name,
            "family": one.family,
            "noise": one.noise,
            "n_arms": one.bandit.n_arms,
            "n_objectives": one.bandit.n_objectives,
            "n_optimal": int(one.bandit.optimal.sum()),
            "budget": one.budget,
            "policy": policy,
            "runs": score.runs,
            "errors": score.errors,
            "rate": score.rate,
            **ratio_of(score, scores.of[one.name, REFERENCE])._asdict(),
        }
        for one in scores.problems
        for policy in scores.policies
        if (score := scores.of.get((one.name, policy))) is not None
    ]


def _command(
    sets: Sequence[str], runs: int, policies: Iterable[str], answers: bool, data: str | os.PathLike[str] | None, seed: int
) -> str:
    """What to type to get the same again; only the name of the data file, since others have it elsewhere."""
    words = [word for name in sets for word in ("--set", name)]
    words += [word for policy in policies for word in ("--policy", policy)]
    words += ["--runs", str(runs)] if runs != RUNS else []
    words += ["--answers"] if answers else []
    words += ["--data", Path(data).name] if data else []
    words += ["--seed", str(seed)] if seed else []
    return shlex.join(["paretopick", "tournament", *words])
