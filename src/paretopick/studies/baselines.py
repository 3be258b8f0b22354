"""How options compare with the baseline, what is used today for instance: metric by metric in words, and who beats it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from paretopick._words import joined, probability, some
from paretopick.metrics import Metric
from paretopick.studies.beating import compared
from paretopick.studies.certainty import Judgement
from paretopick.studies.differences import Difference, factor
from paretopick.studies.time_metrics import times_among

MOST_NAMES = 6
"""So many of those that beat the baseline are named."""


@dataclass(frozen=True)
class AgainstBaseline(Difference):
    """How an option differs from the baseline in one metric, with 95% intervals."""

    verdict: str = "unclear"
    """"better" or "worse", if all of the interval is; "same", if all of it is within the margin; else "unclear"."""
    is_time: bool = False
    """Whether the metric is a time, so that one may speak of faster and slower."""

    def __str__(self) -> str:
        """In words, as said of the option: ``1.30 times faster (1.21 to 1.39)``."""
        if self.verdict == "same":
            return f"{self.metric}: no difference that matters" if self.difference else f"{self.metric} equal"
        if not self.is_time or self.ratio is None or self.ratio_interval is None:
            return super().__str__()
        slower, (low, high) = self.ratio > 1, self.ratio_interval
        times, ends = (self.ratio, (low, high)) if slower else (1 / self.ratio, (1 / high, 1 / low if low > 0 else np.inf))
        shown, first, last = (f"{number:.2f}" if times < 2 else factor(number) for number in (times, *ends))
        between = "" if first == last else f" ({first} to {last})"
        return f"{shown} times {'slower' if slower else 'faster'}{between}"


@dataclass(frozen=True)
class ComparedWithBaseline:
    """How the options of a study compare with one of them."""

    baseline: str
    """Its name."""
    sentence: str
    """Whether it is beaten, and by whom, or beyond a limit; or why nothing can be said."""
    beaten_by: tuple[str, ...] = ()
    """The options that surely beat it, the likeliest first: within the limits, nowhere worse, and better in a metric; with
    margins nowhere worse by more than the margin, and better by more in one."""
    differences: Mapping[str, tuple[AgainstBaseline, ...]] = field(default_factory=dict)
    """Of every other option that can be compared: one for each metric that has a goal."""

    def text(self, option: str) -> str:
        """Returns how an option differs from the baseline, in words; nothing if that cannot be said."""
        return joined([str(each) for each in self.differences.get(option, ())])


def compare_with(
    baseline: str, judgement: Judgement | None, options: Sequence[str], metrics: Sequence[Metric], why_not: str
) -> ComparedWithBaseline:
    """Returns how options compare with the baseline, in the draws that all else is said from.

    Args:
        baseline: its name.
        judgement: of all options that can be judged; None if none can.
        options: their names.
        metrics: of which they are the means.
        why_not: what to say if the baseline is not among them.
    """
    if judgement is None or baseline not in options:
        return ComparedWithBaseline(baseline, f"Nothing can be compared with the baseline {baseline}: {why_not}")
    place = options.index(baseline)
    beaten_by, sentence = _standing(judgement, place, options, metrics)
    others = [name for name in options if name != baseline]
    found = ComparedWithBaseline(baseline, sentence, beaten_by, _differences(judgement, others, baseline, options, metrics))
    return replace(found, sentence=f"{sentence[:-1]}: {found.text(beaten_by[0])}.") if len(beaten_by) == 1 else found


def _differences(
    judgement: Judgement, others: Sequence[str], baseline: str, options: Sequence[str], metrics: Sequence[Metric]
) -> dict[str, tuple[AgainstBaseline, ...]]:
    """Of some options, with what the intervals say about what matters."""
    goals, margins = [at for at, metric in enumerate(metrics) if metric.compared], judgement.required.margins
    times = [name for name in times_among(metrics) if any(metric.name == name and metric.goal == "min" for metric in metrics)]
    one_time = times[0] if len(times) == 1 else None
    own = judgement.plain_draws[:, options.index(baseline)]
    found = {}
    for name, by in zip(others, compared(judgement, others, baseline, options, metrics), strict=True):
        ahead = (judgement.plain_draws[:, options.index(name)] - own) * judgement.estimates.signs
        ends = np.quantile(ahead, [0.025, 0.975], axis=0)
        found[name] = tuple(
            AgainstBaseline(
                **(asdict(each) | {"interval": each.interval, "ratio_interval": each.ratio_interval}),
                verdict=_verdict(float(ends[0, at]), float(ends[1, at]), float(margins[at])),
                is_time=each.metric == one_time,
            )
            for at, each in zip(goals, by, strict=True)
        )
    return found


def _verdict(low: float, high: float, margin: float) -> str:
    """What an interval of how far an option is ahead says."""
    if -margin <= low and high <= margin:
        return "same"
    return "better" if low > 0 else "worse" if high < 0 else "unclear"


def _standing(judgement: Judgement, place: int, options: Sequence[str], metrics: Sequence[Metric]) -> tuple[tuple[str, ...], str]:
    """Who surely beats an option, and a sentence about that and about the limits it may be beyond."""
    required, signs = judgement.required, judgement.estimates.signs
    signed, name = judgement.draws * signs, options[place]
    ahead = (signed - signed[:, [place]])[..., required.compared]
    margins = required.margins[required.compared]
    able = np.asarray((signed >= required.limits).all(axis=2))
    beats = np.asarray((ahead >= -margins).all(axis=2) & (ahead > margins).any(axis=2) & able)
    shares, unbeaten = beats.mean(axis=0), 1.0 - float(beats.any(axis=1).mean())
    order = [int(at) for at in np.argsort(-shares, kind="stable") if shares[at] >= judgement.level]
    beaten_by = tuple(options[at] for at in order)
    likeliest = int(np.argmax(shares))
    what, broken = f"The baseline {name}", np.flatnonzero((signed[:, place] < required.limits).mean(axis=0) >= 0.5)
    if len(broken):
        sure = "" if able[:, place].mean() <= 1.0 - judgement.level else "probably "
        limits = joined([f"{metrics[at].name} {metrics[at].limit_text}" for at in broken.tolist()])
        also = f", and beaten by {some(beaten_by, MOST_NAMES)}" if beaten_by else ""
        return beaten_by, f"{what} is {sure}beyond {limits}{also}."
    if beaten_by:
        return beaten_by, f"{what} is beaten by {some(beaten_by, MOST_NAMES)}."
    if shares[likeliest] >= 0.5:
        return (), f"{what} is probably beaten by {options[likeliest]} ({probability(float(shares[likeliest]))})."
    if unbeaten < judgement.level:
        return (), f"{what} may be beaten, most likely by {options[likeliest]} ({probability(float(shares[likeliest]))})."
    trade = "" if required.compared.sum() == 1 else ": what gains in one metric loses in another"
    return (), f"Nothing here is better than the baseline {name}{trade}."
