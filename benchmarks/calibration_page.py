"""What the calibration found, as a page."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from populations import FRONTS, PAPER, POPULATIONS


@dataclass(frozen=True)
class Outcome:
    """What was said about a study, and what was true."""

    population: str
    said: np.ndarray
    """For each option."""
    normal: np.ndarray
    """What would have been said if options never lay on a front."""
    plain: np.ndarray
    """What would have been said if options were not seen as a population."""
    optimal: np.ndarray
    whole: float
    """Of the answer."""
    right: bool
    rehearsed: float | None
    own_right: bool
    """Whether the policy's own answer was right, which is what was rehearsed."""
    rules: dict[str, tuple[bool, int]]
    """For each rule for the answer: whether it was right, and how many options are on the side that is said to be the less
    likely one, by 60 to 40 or more."""
    front: float
    """How likely options were said to lie on a front."""


@dataclass(frozen=True)
class Race:
    """Which answers were right, by policy and rule, at each budget, for the same options."""

    population: str
    right: dict[str, list[bool]]


def reliability(said: np.ndarray, true: np.ndarray) -> Iterator[tuple[float, int, float, float]]:
    """For every tenth of what was said: where it begins, how many there are, the mean of what was said, how many were true."""
    tenth = np.minimum((said * 10).astype(int), 9)
    for which in range(10):
        chosen = tenth == which
        if chosen.any():
            yield which / 10, int(chosen.sum()), float(said[chosen].mean()), float(true[chosen].mean())


def off(said: np.ndarray, true: np.ndarray) -> float:
    """How far what was said is from what was true, on average over the tenths (expected calibration error)."""
    return sum(n * abs(a - b) for _, n, a, b in reliability(said, true)) / len(said)


def rows(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    """A table; all columns but the first hold numbers."""
    return ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"] + [
        "| " + " | ".join(line) + " |" for line in lines
    ]


def _of(outcomes: Sequence[Outcome], field: str) -> np.ndarray:
    return np.concatenate([getattr(outcome, field) for outcome in outcomes])


def tenths(outcomes: Sequence[Outcome]) -> list[str]:
    """What was said and what was true, side by side."""
    true = _of(outcomes, "optimal")
    rehearsed = [outcome for outcome in outcomes if outcome.rehearsed is not None]
    pairs = {
        "options": (_of(outcomes, "said"), true),
        "plain": (_of(outcomes, "plain"), true),
        "answers": (np.array([o.whole for o in outcomes]), np.array([o.right for o in outcomes])),
        "rehearsals": (np.array([o.rehearsed for o in rehearsed]), np.array([o.own_right for o in rehearsed])),
    }
    cells = {name: {start: rest for start, *rest in reliability(*pair)} for name, pair in pairs.items()}
    lines = []
    for start in np.arange(10) / 10:
        line = [f"{start:.0%} to {start + 0.1:.0%}"]
        for name in pairs:
            found = cells[name].get(start)
            line += ["", "", ""] if found is None else [f"{found[0]:,}", f"{found[1]:.0%}", f"{found[2]:.0%}"]
        lines.append(line)
    heads = [
        "said",
        *(head for name in pairs for head in (name, "said", "right" if name in ("answers", "rehearsals") else "optimal")),
    ]
    return rows(heads, lines)


def summary(outcomes: Sequence[Outcome], names: Iterable[str], describe: Callable[[str], str]) -> list[str]:
    """A line for each population: how far off, and said and true on average."""
    lines = []
    for name in names:
        own = [outcome for outcome in outcomes if outcome.population == name]
        whole, right, true = np.array([o.whole for o in own]), np.array([o.right for o in own]), _of(own, "optimal")
        offs = [f"{off(_of(own, field), true):.3f}" for field in ("said", "normal", "plain")]
        lines.append(
            [describe(name), f"{len(own):,}", *offs, f"{whole.mean():.0%}", f"{right.mean():.0%}", f"{off(whole, right):.3f}"]
        )
    return rows(
        ["population", "studies", "options: off", "without fronts: off", "plain: off", "answers: said", "right", "off"], lines
    )


def groups(outcomes: Sequence[Outcome], names: Iterable[str], level: float) -> list[str]:
    """How many options are surely in, surely out and open, and how many of them are what is said."""
    lines = []
    for name in (*names, "all"):
        own = [outcome for outcome in outcomes if name in (outcome.population, "all")]
        said, true = _of(own, "said"), _of(own, "optimal")
        inside, outside = said >= level, said <= 1 - level
        leaning = ~(inside | outside)
        kept = true[leaning] == (said[leaning] >= 0.5)
        lines.append(
            [
                f"*{name}*" if name != "all" else "all",
                f"{inside.mean():.0%}",
                _share(true[inside]),
                f"{outside.mean():.0%}",
                _share(~true[outside]),
                f"{leaning.mean():.0%}",
                _share(kept),
            ]
        )
    return rows(["population", "surely in", "optimal", "surely out", "dominated", "open", "on their side"], lines)


def _share(true: np.ndarray) -> str:
    return f"{true.mean():.1%}" if len(true) else ""


def fronts(outcomes: Sequence[Outcome]) -> list[str]:
    """What was said and true in every tenth, a column for each front."""
    heads, columns = ["said"], []
    for name in FRONTS:
        own = [outcome for outcome in outcomes if outcome.population == name]
        for field in ("said", "normal"):
            heads.append(f"*{name}*" if field == "said" else "without")
            columns.append({start: rest for start, *rest in reliability(_of(own, field), _of(own, "optimal"))})
    lines = []
    for start in np.arange(10) / 10:
        found = [column.get(start) for column in columns]
        lines.append([f"{start:.0%} to {start + 0.1:.0%}", *("" if cell is None else f"{cell[2]:.0%}" for cell in found)])
    return rows(heads, lines)


def likelihood_of_fronts(outcomes: Sequence[Outcome]) -> list[str]:
    """How likely options were said to be on a front, by population."""
    lines = []
    for name in POPULATIONS | FRONTS:
        found = np.array([outcome.front for outcome in outcomes if outcome.population == name])
        lines.append([f"*{name}*", f"{found.mean():.0%}", f"{(found > 0.5).mean():.0%}", f"{(found > 0.9).mean():.0%}"])
    return rows(["population", "said on average", "above 50%", "above 90%"], lines)


def rules(outcomes: Sequence[Outcome], names: Sequence[str]) -> list[str]:
    """How often answers by each rule were right, and how often they contradict the probabilities."""
    kinds = list(outcomes[0].rules)
    lines, means = [], []
    for name in names:
        own = [outcome for outcome in outcomes if outcome.population == name]
        means.append([float(np.mean([outcome.rules[kind][0] for outcome in own])) for kind in kinds])
        lines.append([f"*{name}*" if name not in PAPER else name, *(f"{share:.1%}" for share in means[-1])])
    lines.append(["mean", *(f"**{share:.1%}**" for share in np.mean(means, axis=0))])
    counts = [sum(outcome.rules[kind][1] for outcome in outcomes if outcome.population in names) for kind in kinds]
    lines.append(["options that contradict", *(f"{count:,}" for count in counts)])
    return rows(["population", *kinds], lines)


def errors(races: Sequence[Race], names: Iterable[str], entries: Sequence[str], budgets: Sequence[int]) -> list[str]:
    """Shares of wrong answers at each budget, a column for each entry and budget, and their means."""
    lines = []
    for name in names:
        own = [race for race in races if race.population == name]
        line = [f"*{name}*", f"{len(own):,}"]
        for entry in entries:
            wrong = 1 - np.mean([race.right[entry] for race in own], axis=0)
            line += [*(f"{share:.0%}" for share in wrong), f"**{wrong.mean():.1%}**"]
        gains = np.mean([race.right[entries[1]] for race in own], axis=1) - np.mean(
            [race.right[entries[0]] for race in own], axis=1
        )
        line.append(f"{gains.mean():.1%} ± {gains.std() / np.sqrt(len(own)):.1%}")
        lines.append(line)
    return rows(["population", "sets", *[*map(str, budgets), "mean"] * len(entries), "gain ± standard error"], lines)


def noise(races: Sequence[Race], budgets: Sequence[int]) -> list[str]:
    """Shares of wrong answers with noise that differs tenfold, a line for each policy."""
    own = [race for race in races if race.population == "tenfold"]
    lines = []
    for entry in own[0].right:
        wrong = 1 - np.mean([race.right[entry] for race in own], axis=0)
        lines.append([entry, *(f"{share:.0%}" for share in wrong), f"**{wrong.mean():.1%}**"])
    return rows(["measured by", *map(str, budgets), "mean"], lines)


def text(*parts: str) -> list[str]:
    """A paragraph."""
    return [*textwrap.wrap(" ".join(parts), 130), ""]


def page(outcomes: list[Outcome], races: list[Race], budgets: Sequence[int], rehearsals: int) -> str:
    """The page with all tables."""
    drawn = [outcome for outcome in outcomes if outcome.population in POPULATIONS]
    on_fronts = [outcome for outcome in outcomes if outcome.population in FRONTS]
    fixed = [outcome for outcome in outcomes if outcome.population in PAPER]
    every = POPULATIONS | FRONTS
    lines = [
        "# Calibration: how often it is true what a result says",
        "",
        *text("Written by `make calibration`. [certainty.md](certainty.md) says what the numbers mean and how they are used."),
        *text(
            f"{len(outcomes):,} simulated studies, a quarter each with doubt (in batches of a fifth of the options), ege-sr,",
            "ege-sh and uniform allocation, 5 to 80 measurements for each option (three times as many where they are 0 or 1);",
            "all measurements of a study are judged by the function that results come from. *Options* are all options of all",
            "studies: what was said to be their probability of being Pareto-optimal, and how many were. *Plain* is the same",
            "without seeing options as a population, *without fronts* the same with a normal population alone. *Answers* are the",
            "studies: the probability said to be right, and how many were. *Rehearsals* are the share of",
            f"{rehearsals} simulations of the same study at the means as measured that were right, of half of the studies.",
            "*Off* is the mean distance between said and true over the ten rows of such a table.",
        ),
        f"## {len(drawn):,} studies of options drawn from populations",
        "",
        *tenths(drawn),
        "",
        *summary(drawn, POPULATIONS, lambda name: f"*{name}*: {POPULATIONS[name][0]}"),
        "",
        "## The three groups",
        "",
        *text(
            "Shares of all options that are surely in, surely out and open at a level of 95%, and how many of each are what is",
            "said; of open ones, how many are on the side of the answer that they are put on.",
        ),
        *groups([outcome for outcome in outcomes if outcome.population in every], every, 0.95),
        "",
        f"## {len(on_fronts):,} studies of options that trade off",
        "",
        *text(
            "The prior was made with *circle* and *price* in view, and *conflicting* against it; the others are for checking.",
            "How many were optimal of options that were said to be so with a probability of the first column, and *without*",
            "fronts:",
        ),
        *fronts(on_fronts),
        "",
        *summary(on_fronts, FRONTS, lambda name: f"*{name}*: {FRONTS[name][0]}"),
        "",
        *text("How likely options were said to lie on a front:"),
        *likelihood_of_fronts(outcomes),
        "",
        "## Which rule for the answer",
        "",
        *text(
            "How often an answer by each rule was exactly right, from the same data. *Judged* is the rule of results: in is who",
            "is at least as likely optimal as not. An option contradicts if the answer has it on the side that is said to be",
            "less likely, by 60 to 40 or more.",
        ),
        *rules(drawn, list(POPULATIONS)),
        "",
        *rules(fixed, list(PAPER)),
        "",
        "## Wrong answers by budget",
        "",
        *text(
            f"Shares of wrong answers with {', '.join(map(str, budgets[:-1]))} and {budgets[-1]} measurements for each option",
            "(three times as many where they are 0 or 1), and their mean, over so many sets of options of each population: first",
            "ege-sr with its own answer, the default of the first release; then doubt, judged by all measurements.",
        ),
        *errors(races, POPULATIONS, ["ege-sr, its own answer", "doubt"], budgets),
        "",
        *text("With noise that differs tenfold between options (standard deviations from 0.3 to 3, means that differ by 1):"),
        *noise(races, budgets),
        "",
        f"## {len(fixed):,} studies of the paper's instances, with a tenth to all of their budgets, at most 5,000",
        "",
        *text(
            "These are the same options again and again, made to be hard. On a single instance nothing can be calibrated: an",
            "option that looks like an even chance is then always optimal or never. Over all of them:",
        ),
        *tenths(fixed),
        "",
        *summary(fixed, PAPER, str),
        "",
    ]
    return "\n".join(lines)
