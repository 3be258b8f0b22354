"""What a study says about its options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from paretopick.errors import NotReady
from paretopick.studies.course import Course


@dataclass(frozen=True)
class OptionVerdict:
    """What is known about one option."""

    option: str
    status: str
    """pareto, dominated, undecided, or retired"""
    measurements: int
    """How many count."""
    means: dict[str, float | None]
    """By metric, in its unit; None without measurements."""
    standard_errors: dict[str, float | None]
    """Of the means; None with fewer than two measurements, 0 for exact metrics."""
    left_in_round: int | None
    """After which it was not measured any more; None if it stayed to the end, or still is in."""


@dataclass(frozen=True, repr=False)
class ParetoResult:
    """Which options are Pareto-optimal, as far as a study can say.

    While a study goes on, options that have left are pareto or dominated, and the others undecided; ``pareto`` is then the best
    guess, and empty before every option was measured. ``notes`` says in words what else one should know.
    """

    study: str
    done: bool
    pareto: tuple[str, ...]
    options: tuple[OptionVerdict, ...]
    metrics: dict[str, str]
    exact: tuple[str, ...]
    policy: str
    budget: int
    used: int
    round: int
    notes: tuple[str, ...]

    @property
    def table(self) -> list[dict[str, Any]]:
        """One row per option, flat: means under the names of the metrics, their standard errors as ``... ±``."""
        return [
            {
                "option": verdict.option,
                "status": verdict.status,
                "measurements": verdict.measurements,
                **{
                    column: value
                    for name in self.metrics
                    for column, value in ((name, verdict.means[name]), (f"{name} ±", verdict.standard_errors[name]))
                },
                "left_in_round": verdict.left_in_round,
            }
            for verdict in self.options
        ]

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as JSON values."""
        record = asdict(self)
        lists = {"pareto": list(self.pareto), "options": list(record["options"]), "exact": list(self.exact)}
        return record | lists | {"notes": list(self.notes)}

    def __str__(self) -> str:
        front = ", ".join(self.pareto) or ("nobody" if self.done else "nobody yet")
        state = "Pareto-optimal" if self.done else "Best guess so far"
        return f"{state}: {front} ({self.used} of {self.budget} measurements used)."

    __repr__ = __str__


def judge(study: str, course: Course) -> ParetoResult:
    """Returns what a course says about the options now."""
    definition, policy = course.definition, course.policy
    now = policy.snapshot()
    try:
        front = set(policy.recommend().tolist())
    except NotReady:
        front = set(now.accepted)
    status = dict.fromkeys(range(len(definition.options)), "dominated")
    status |= dict.fromkeys(now.active, "undecided")
    if now.done and not getattr(policy, "stopped", False):  # if it stopped early, nobody knows about the others
        status |= dict.fromkeys(now.active, "dominated")
        status |= dict.fromkeys(front, "pareto")
    status |= dict.fromkeys(now.accepted, "pareto")
    status |= dict.fromkeys(now.retired, "retired")
    means, counts = now.means * definition.signs + 0.0, now.counts  # not -0.0
    errors = np.sqrt(course.variances() / np.maximum(counts, 1)[:, None])
    errors[:, definition.is_exact] = 0.0
    return ParetoResult(
        study=study,
        done=now.done,
        pareto=tuple(definition.options[arm] for arm in sorted(front)),
        options=tuple(
            OptionVerdict(
                option=name,
                status=status[arm],
                measurements=int(counts[arm]),
                means=_by_metric(definition.metrics, means[arm]),
                standard_errors=_by_metric(definition.metrics, np.where(counts[arm], errors[arm], np.nan)),
                left_in_round=int(now.left_in[arm]) or None,
            )
            for arm, name in enumerate(definition.options)
        ),
        metrics=dict(definition.metrics),
        exact=definition.exact,
        policy=definition.policy,
        budget=course.budget,
        used=now.pulls_used,
        round=now.round,
        notes=(*_notes(course), *_unbeaten(course, [arm for arm in status if status[arm] == "dominated"])),
    )


def _unbeaten(course: Course, dominated: Iterable[int]) -> Iterable[str]:
    """Options that nobody in the study dominates any more: whoever did was retired, or has become worse since."""
    policy = course.policy
    present = [arm for arm in np.flatnonzero(policy.counts > 0).tolist() if arm not in course.retired]
    for arm in dominated:
        others = policy.means[[other for other in present if other != arm]]
        worse = (others >= policy.means[arm]).all(axis=1) & (others > policy.means[arm]).any(axis=1)
        if policy.counts[arm] and not worse.any():
            name = course.definition.options[arm]
            yield f"{name!r} was found to be dominated, and as measured by now nobody in the study dominates it."


def _by_metric(metrics: Iterable[str], values: Any) -> dict[str, float | None]:
    return {name: None if np.isnan(value) else float(value) for name, value in zip(metrics, values, strict=True)}


def _notes(course: Course) -> Iterable[str]:
    for arm, why in course.retired.items():
        yield f"{course.definition.options[arm]!r} was retired: {why}"
    if course.voided:
        numbers = ", ".join(map(str, course.voided))
        plural = "measurements" if len(course.voided) > 1 else "measurement"
        yield f"{plural} {numbers} left the means after the round was closed; what was decided with them stands."
    if len(course.definition.options) == 1:
        yield "a single option is Pareto-optimal without any measurement."
    elif course.policy.done:
        for name, count in zip(course.definition.options, course.policy.counts, strict=True):
            if count == 0 and course.definition.options.index(name) not in course.retired:
                yield f"{name!r} has no measurement left; what was decided about it stands."
    if course.kept:
        yield f"{course.kept} more made than asked for: kept, and counted if their options become due."
    if course.failed:
        yield f"{course.failed} {'attempt' if course.failed == 1 else 'attempts'} to measure failed."
    noise = course.noise()
    for metric, name in enumerate(course.definition.metrics):
        if noise[metric] == 0 and name not in course.definition.exact:
            yield f"{name!r} never varied between repeats; if it cannot, declare it exact, and the others decide sooner."
