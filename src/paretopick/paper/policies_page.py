"""The page that ``tournament`` writes: which policy is for whom, the evidence, and how ``doubt`` works."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources

from paretopick import __version__
from paretopick._tables import markdown_table
from paretopick.paper.families import Problem
from paretopick.paper.ratios import GROUPINGS, REFERENCE, Ratio, Scores, geometric_mean

OURS = "doubt"
"""The policy that the others are held against besides EGE-SR."""

ADVICE = {
    "doubt": ("you want the fewest wrong answers; it measures where one more measurement removes most doubt", "nothing"),
    "ege-sr": (
        "you need the bound that the paper proves, or rounds that are known beforehand; one option leaves after each",
        "budget",
    ),
    "ege-sh": (
        "the same with few rounds, about log2 of the options: plates, shifts, machines that are set up once a day",
        "budget",
    ),
    "ege-gg": ("the same with a number of rounds that you choose; as printed it spends about half of the budget", "budget"),
    "uniform": ("every option is to be measured equally often, whatever comes out", "budget"),
    "apt": ("you want an anytime rule that can be said in one sentence, and all options are equally noisy", "nothing"),
    "ape-fb": (
        "you do research: confidence bounds on every pair, with a complexity that only simulations know",
        "budget, complexity",
    ),
    "ape-fb-adapt": ("you do research: the same with an estimated complexity", "budget"),
}
"""For whom each policy is, and what it must be told beforehand."""

TAKE_OURS = """**Take `doubt`** unless a line of the table describes you better. It is anytime: it needs neither the budget nor
the noise nor how hard the problem is, can be stopped, and be given more budget, at any moment, and goes by the noise of each
option in each metric. Ask for it with `policy="doubt"`, or `--policy doubt` on the command line; `doubt:batch=8` hands out eight
measurements at once, for several workers. If first measurements may be far off (cold caches, warming up), say
`doubt:initial=5`: two that are off alike look like a bad option, which is not doubted again.
"""

NOTES = """Numbers are geometric means of ratios: how often a policy is wrong, to how often EGE-SR is, on the same problems with
the same budgets; below 1 is better. `ege-sr-k` and `ege` are for special wishes: the first is done when k optimal options are
found, the second takes a schedule of your own.
"""

MEASURED = """## How it was measured

`{command}` wrote this page (paretopick {version}, seed {seed}) from the counts in its results database; none of the numbers
in its tables was typed by hand. Other sets on this page were run before, by calls of the same kind.

An error is an answer that is not the Pareto set. Ratios are those of errors to the errors of EGE-SR on the same problem at
the same budget, both estimated as (errors + 1/2) / (runs + 1); below 1 is better. *Better* and *clearly worse* mean by more
than the 95% interval of the ratio. Means are geometric; their intervals say what other problems of the kind would give. A
policy is left out where the budget is too small for it. `ape-fb` is told the H of the means as they are, whatever the noise,
as in the paper.

Random problems come from six families (`paper/families.py`): *cube*, means uniform in the cube; *quality*, one quality
shared by all objectives and a part of each one's own; *sphere*, a front on a sphere and arms behind it; *clusters*;
*anti-correlated*, good in one objective and bad in others; *dense*, many arms near the point that is best in everything. K
is 5 to 200, D 1 to 10; in a third of the problems D is 5 or more and at most a fifth of the arms are optimal. Noise is
Gaussian, equal or different by arm (up to nine times) or by arm and objective, or Bernoulli. The budget lies between 4 K and
2 H (H of the means divided by twice the noise, which for Bernoulli means near 1/2 is the paper's), and is the one at which
EGE-SR, in a pilot with a seed of its own, erred with a rate that was drawn between 3% and 80%: nothing about our own
policies entered the choice. `tuning` was there for work on policies; `judging` has other seeds, was run when the work was
finished, and is reported whatever it says. An earlier `judging`, of 96 problems with another seed, was run once in the same way
before `doubt` pulled in turns, which are explained below: the geometric means of the ratios were 0.21 for `doubt` and 0.61 for
`apt`. A rule that has changed is judged by problems that it has not met, so that set is not used any more.
"""

WORST_SHOWN = 5
"""Of the problems on which a policy is worse than EGE-SR, on the page; the data has all."""


def page_of(scores: Mapping[str, Scores], *, command: str, seed: int, answers: str = "") -> str:
    """Returns the page in Markdown.

    Args:
        scores: what has been counted, by set.
        command: that made it.
        seed: of the runs.
        answers: the section about answers by the rule of ``doubt``.
    """
    parts = [
        "# Which policy\n",
        _take_ours(scores),
        _advice(scores),
        NOTES,
        "## Ratios to EGE-SR\n",
        "![Ratio of every policy's errors to those of EGE-SR](figures/tournament.png)\n",
        "Data, one row for each problem and policy: [figures/tournament.csv](figures/tournament.csv).\n",
        MEASURED.format(command=command, version=__version__, seed=seed),
    ]
    for group, found in scores.items():
        parts.append(f"## {TITLES[group]}\n")
        parts += [_instances(found)] if group == "paper" else [_summary(found), _groups(found)]
        parts += [_losses(found), _against_ours(found), _fewer_runs(found)]
    parts += [(resources.files("paretopick.paper") / "data" / "doubt.md").read_text(), answers]
    return "\n".join(part for part in parts if part).rstrip() + "\n"


TITLES = {
    "paper": "The paper's instances",
    "tuning": "Random problems: tuning",
    "judging": "Random problems: judging",
}

PLACES = {
    "paper": "of the paper",
    "tuning": "that were in view while it was made",
    "judging": "that it met only when it was finished",
}


def _take_ours(scores: Mapping[str, Scores]) -> str:
    """The advice in a sentence, with the numbers behind it; nothing if ``doubt`` was not run."""
    lines = []
    for group, found in scores.items():
        if ratios := found.ratios(OURS):
            lost, n = len(_lost(ratios)), len(ratios)
            what = "instances" if group == "paper" else "random problems"
            lines.append(
                f"- On {n} {what} {PLACES[group]} {_rate(found, OURS)} of its answers were wrong, of those of EGE-SR "
                f"{_rate(found, REFERENCE)}; the geometric mean of the ratios is {_mean(found, OURS)}. It was clearly worse than "
                f"EGE-SR on {lost or 'none'} of them."
            )
    return "\n".join([TAKE_OURS, *lines, ""]) if lines else ""


def _advice(scores: Mapping[str, Scores]) -> str:
    """For whom each policy is, and its mean ratio on each set."""
    policies = dict.fromkeys([*ADVICE, *(policy for found in scores.values() for policy in found.policies)])
    run = {policy for found in scores.values() for policy in found.policies}
    header = ["policy", "take it if", "must be told", *(f"errors, {group}" for group in scores)]
    rows = [
        [f"`{policy}`", *ADVICE.get(policy, ("", "")), *(_mean(found, policy) for found in scores.values())]
        for policy in policies
        if policy in run
    ]
    return _table(header, rows)


def _mean(scores: Scores, policy: str) -> str:
    ratios = scores.ratios(policy)
    return f"{geometric_mean([ratio.value for ratio in ratios.values()]).value:.2f}" if ratios else ""


def _rate(scores: Scores, policy: str) -> str:
    """The mean share of wrong answers over the problems that our policy was run on."""
    rates = [scores.of[one.name, policy].rate for one in scores.ratios(OURS)]
    return f"{sum(rates) / len(rates):.1%}"


def _instances(scores: Scores) -> str:
    """Errors of every policy on every instance, with the ratio, and the means and worst ratios below."""
    header = ["instance", "K", "D", "T", *(f"`{policy}`" for policy in scores.policies)]
    ratios = {policy: scores.ratios(policy) for policy in scores.policies}
    rows = []
    for one in scores.problems:
        cells = []
        for policy in scores.policies:
            score = scores.of.get((one.name, policy))
            below = "< " if score is not None and score.errors == 0 else ""
            cells.append("" if score is None else f"{score.rate:.4f} ({below}{ratios[policy][one].value:.2f})")
        rows.append([one.name, str(one.bandit.n_arms), str(one.bandit.n_objectives), f"{one.budget:,}", *cells])
    values = {policy: [ratio.value for ratio in found.values()] for policy, found in ratios.items()}
    rows.append(["**geometric mean**", "", "", "", *(f"**{geometric_mean(found).value:.2f}**" for found in values.values())])
    rows.append(["worst ratio", "", "", "", *(f"{max(found):.2f}" for found in values.values())])
    return (
        _table(header, rows)
        + "\nThe share of wrong answers, and in brackets its ratio to that of EGE-SR; < where none was wrong.\n"
    )


def _summary(scores: Scores) -> str:
    """One line for each policy: mean, best, median and worst ratio, and on how many problems it is better or worse."""
    header = ["policy", "problems", "geometric mean", "95% interval", "best", "median", "worst", "better on", "worse on"]
    rows = []
    for policy in scores.policies:
        ratios = scores.ratios(policy)
        values = sorted(ratio.value for ratio in ratios.values())
        mean = geometric_mean(values)
        middle = (values[(len(values) - 1) // 2] * values[len(values) // 2]) ** 0.5
        won, lost = sum(ratio.wins for ratio in ratios.values()), sum(ratio.loses for ratio in ratios.values())
        extremes = [f"{value:.2f}" for value in (values[0], middle, values[-1])]
        row = [f"`{policy}`", str(len(values)), f"**{mean.value:.2f}**", _interval(mean), *extremes, str(won), str(lost)]
        rows.append(row)
    return _table(header, rows)


def _groups(scores: Scores) -> str:
    """Geometric means of every policy in every group of problems."""
    rows = []
    for by in GROUPINGS:
        for name, found in scores.grouped(by).items():
            rows.append([by, name, str(len(found.problems)), *(_mean(found, policy) for policy in scores.policies)])
    header = ["by", "group", "problems", *(f"`{policy}`" for policy in scores.policies)]
    return "Geometric means of the ratios, by kind of problem:\n\n" + _table(header, rows)


def _losses(scores: Scores) -> str:
    """The problems on which each policy is worse than EGE-SR by more than the interval."""
    rows = []
    for policy in scores.policies:
        lost = _lost(scores.ratios(policy))
        for one, ratio in lost[:WORST_SHOWN]:
            mine, theirs = scores.of[one.name, policy], scores.of[one.name, REFERENCE]
            rates = [f"{mine.rate:.3f}", f"{theirs.rate:.3f}", f"{ratio.value:.2f} ({_interval(ratio)})"]
            rows.append([f"`{policy}`", str(len(lost)), *_about(one), *rates])
    if not rows:
        return "No policy is worse than EGE-SR on any of them.\n"
    header = ["policy", "worse on", "worst", "K", "D", "T", "noise", "its error", "EGE-SR's", "ratio"]
    return f"Where policies are worse than EGE-SR, each on its {WORST_SHOWN} worst problems:\n\n" + _table(header, rows)


def _against_ours(scores: Scores) -> str:
    """The problems on which ``doubt`` is worse than each other policy by more than the interval."""
    if OURS not in scores.policies:
        return ""
    rows = []
    for other in scores.policies:
        if other == OURS or not (ratios := scores.ratios(OURS, other)):
            continue
        lost, mean = _lost(ratios), geometric_mean([ratio.value for ratio in ratios.values()])
        worst = "; ".join(f"{one.name} {ratio.value:.2f}" for one, ratio in lost[:WORST_SHOWN])
        won = sum(ratio.wins for ratio in ratios.values())
        rows.append([f"`{other}`", str(len(ratios)), f"{mean.value:.2f}", str(won), str(len(lost)), worst])
    header = ["other policy", "problems", "geometric mean", f"`{OURS}` better on", f"`{OURS}` worse on", "the worst of these"]
    return f"Ratios of the errors of `{OURS}` to those of every other policy:\n\n" + _table(header, rows)


def _fewer_runs(scores: Scores) -> str:
    """Which policies made fewer runs, since one takes long."""
    most = max(score.runs for score in scores.of.values())
    fewer: dict[str, list[int]] = {}
    for (_, policy), score in scores.of.items():
        if score.runs < most:
            fewer.setdefault(policy, []).append(score.runs)
    if not fewer:
        return f"{most:,} runs of every policy on every problem.\n"
    parts = [f"`{policy}` on {len(runs)} problems, down to {min(runs):,}" for policy, runs in fewer.items()]
    why = "where one takes long, or fewer were asked for"
    return f"{most:,} runs of every policy on every problem; fewer {why}: {'; '.join(parts)}.\n"


def _lost(ratios: Mapping[Problem, Ratio]) -> list[tuple[Problem, Ratio]]:
    """The problems with a ratio above 1 by more than the interval, the worst first."""
    lost = [(one, ratio) for one, ratio in ratios.items() if ratio.loses]
    return sorted(lost, key=lambda pair: -pair[1].value)


def _about(one: Problem) -> list[str]:
    return [one.name, str(one.bandit.n_arms), str(one.bandit.n_objectives), f"{one.budget:,}", one.noise]


def _interval(ratio: Ratio) -> str:
    return f"{ratio.low:.2f} to {ratio.high:.2f}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown_table(header, rows, shown=str) + "\n"
