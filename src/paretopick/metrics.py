"""Metric: what is measured of every option, which direction is good, which differences matter, and what no option may break."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypedDict

import numpy as np

from paretopick._arrays import FloatArray, check_choice, check_distinct, check_flag, check_name, check_sequence, unboxed
from paretopick._metric_texts import GOALS, MISSPELT, PERCENT, SIGNS, Goal, is_amount, meant, taken_apart
from paretopick._texts import number_of, split_at_commas
from paretopick._words import number_text, percent, short
from paretopick.errors import InvalidInput
from paretopick.theory.requirements import Requirements

LARGEST_VALUE = 1e150
"""Sums and squares of measurements stay finite up to this."""

LARGEST_SHARE = 1e6
"""The largest margin in percent: a factor of 10,001."""

LARGEST_LOGARITHM = 575.0
"""Of what is shown, 1e250: few repeats leave open means that are beyond all numbers, and axes need some room behind them."""

MUST_SAY = 'must say which metrics have which goals: {"seconds": "min", "quality": "max"}'


class MetricTable(TypedDict, total=False):
    """A metric in full, as in a study file: ``{"goal": "min", "margin": "2%", "at_most": 50}``; ``Metric`` says what they are."""

    goal: Goal | None
    exact: bool
    width: float | None
    margin: float | str | None
    at_most: float | None
    at_least: float | None
    log: bool
    unit: str | None


MetricsGiven: TypeAlias = "Mapping[str, Goal | MetricTable | Metric] | Sequence[Metric] | str"
"""Metrics as users write them: ``{"seconds": "min", "quality": "max"}``, a table for each, ``{"seconds": {"goal": "min",
"margin": "2%"}}``, a list of ``Metric``, or one text, ``"seconds:min~2%,errors<=0.01"``.

``{"seconds": "min~2%<=50"}`` is understood, too; type checkers, which cannot tell it from a slip, refuse it."""


@dataclass(frozen=True)
class Metric:
    """What is measured of every option: its name, whether it is to be small or large, and what matters about it.

    Args:
        name: under which values are told.
        goal: "min" or "max"; also "minimize", "maximise" and the like. None for a metric that has only a limit.
        exact: whether it is without noise, as a price.
        width: what differences are divided by to compare them with those in other metrics; by default the noise.
        margin: the smallest difference that matters: a number in the unit of the metric, or a text such as "2%", and then
            ``log`` is true.
        at_most: a limit. An option that is beyond it is out, however good it is.
        at_least: the same, from below.
        log: compared as logarithms, so that ratios matter: means are geometric, and all values must be above 0.
        unit: which is shown.

    >>> Metric("seconds", "minimize", margin="2%", at_most=50).text
    'seconds:min~2%<=50'
    """

    name: str
    goal: Goal | None = None
    exact: bool = False
    width: float | None = None
    margin: float | str | None = None
    at_most: float | None = None
    at_least: float | None = None
    log: bool = False
    unit: str | None = None

    def __post_init__(self) -> None:
        check_name(self.name, "metric")
        if self.goal is not None:
            object.__setattr__(self, "goal", _goal(self.name, self.goal))
        for flag in ("exact", "log"):
            object.__setattr__(self, flag, check_flag(getattr(self, flag), flag))
        for limit in ("at_most", "at_least"):
            if getattr(self, limit) is not None:
                object.__setattr__(self, limit, _number(self.name, limit, getattr(self, limit)))
        if self.unit is not None:
            check_name(self.unit, "unit")
        if self.width is not None:
            object.__setattr__(self, "width", _width(self.name, self.width))
            if self.exact:
                raise InvalidInput(f"metric {self.name!r} is exact and has a scale; it can have one of both.")
        if self.margin is not None:
            object.__setattr__(self, "margin", _margin(self.name, self.margin))
        self._check_margin()
        self._check_limits()
        self._check_name()

    def _check_margin(self) -> None:
        if self.margin is not None and self.goal is None:
            raise InvalidInput(
                f"metric {self.name!r} has the margin {self.margin} and no goal; a margin says which differences matter, so "
                'write "min" or "max" too.'
            )
        if isinstance(self.margin, str):
            object.__setattr__(self, "log", True)
        elif self.log and self.margin is not None:
            raise InvalidInput(
                f"metric {self.name!r} is compared as logarithms and has the margin {self.margin:g} in its unit; write a share, "
                f'such as margin="2%", or leave log out.'
            )
        elif self.log and self.exact:
            raise InvalidInput(
                f"metric {self.name!r} is exact and has log; of a value without noise there is no mean to take. Leave log out; "
                'margin="2%" compares ratios of exact values, too.'
            )

    def _check_limits(self) -> None:
        both = self.at_most is not None and self.at_least is not None
        limit = self.limit
        if self.goal is None and limit is None:
            raise InvalidInput(
                f'metric {self.name!r} has neither a goal nor a limit; write "min" if small is good, "max" if large is, or a '
                'limit such as "<=50".'
            )
        if both and self.goal is None:
            raise InvalidInput(
                f"metric {self.name!r} has no goal and limits on both sides, {self.at_least:g} and {self.at_most:g}; give it one "
                "limit, and tell the distance from the middle of the range instead of the value."
            )
        wrong = self.at_least if self.goal == "min" else self.at_most if self.goal == "max" else None
        if wrong is not None:
            good, sign, other = ("small", "<=", ">=") if self.goal == "min" else ("large", ">=", "<=")
            instead = (
                f"write {self.name}:{self.goal}{sign}{number_text(wrong)} for a limit on the other side, or leave the goal out"
            )
            raise InvalidInput(
                f"metric {self.name!r} is to be {good}, and its limit {other}{number_text(wrong)} keeps it from being that; "
                f"{f'leave {other}{number_text(wrong)} out' if both else instead}."
            )
        if self.log and limit is not None and limit <= 0:
            raise InvalidInput(
                f"metric {self.name!r} has the limit {limit:g}, and {self._why_positive}; give the margin in the unit of the "
                "metric and leave log out, or raise the limit."
            )

    def _check_name(self) -> None:
        """Refuses a name that ends like a limit or a margin beside one: its short text would be another metric's.

        The release before had neither, and with a goal alone took any name; such studies still open.
        """
        found = MISSPELT.fullmatch(self.name)
        if found and is_amount(found[2], found[3]) and (self.margin is not None or self.limit is not None):
            raise InvalidInput(
                f"metric {self.name!r} has a name that ends like {'a margin' if SIGNS[found[2]] == '~' else 'a limit'}, and "
                f"{'a limit' if self.margin is None else 'a margin'} beside it; give it another name, such as "
                f"{found[1] or 'y'!r}."
            )

    @property
    def _why_positive(self) -> str:
        """What of it needs values above 0, and that."""
        if isinstance(self.margin, str):
            return f"its margin {self.margin} needs values above 0"
        return "it is compared as logarithms, which needs values above 0"

    @property
    def compared(self) -> bool:
        """Whether options are compared in it: whether it has a goal."""
        return self.goal is not None

    @property
    def sign(self) -> float:
        """What values are multiplied by to make larger better: 1 or -1; of a limit alone, what keeps it is better."""
        if self.goal is None:
            return 1.0 if self.at_most is None else -1.0
        return 1.0 if self.goal == "max" else -1.0

    @property
    def limit(self) -> float | None:
        """The limit that options must keep, in the unit of the metric."""
        return self.at_most if self.at_most is not None else self.at_least

    def scaled(self, values: Any) -> Any:
        """Returns values as they are compared: logarithms where ratios matter, else as they are."""
        return np.log(values) if self.log else values

    def unscaled(self, values: Any) -> Any:
        """Returns what ``scaled`` was made of, in the unit of the metric."""
        return np.exp(np.clip(values, -LARGEST_LOGARITHM, LARGEST_LOGARITHM)) if self.log else values

    def apart(self, differences: Any) -> Any:
        """Returns differences between scaled values as people know them: of logarithms the shares, 0.02 for 2%."""
        return np.expm1(np.minimum(differences, LARGEST_LOGARITHM)) if self.log else differences

    def difference_text(self, difference: float) -> str:
        """Returns a difference between scaled values to two digits, with its unit; of logarithms the share, or the factor.

        >>> Metric("size", "min", unit="kB").difference_text(1234.5), Metric("time", "min", log=True).difference_text(0.0198)
        ('1,200 kB', '2.0%')
        >>> Metric("time", "min", log=True).difference_text(1.2)
        'a factor of 3.3'
        """
        width = float(self.apart(difference))
        if self.log:
            return percent(width) if width < 1.0 else f"a factor of {1.0 + width:.2g}"
        digits = 1 - math.floor(math.log10(width)) if width > 0 else 0
        return (f"{round(width, digits):,.{max(digits, 0)}f}" if -6 < digits < 6 else f"{width:.2g}") + self.unit_text

    @property
    def delta(self) -> float:
        """The margin as it is compared: the logarithm of a ratio for a share, and 0 where there is none."""
        if isinstance(self.margin, str):
            return math.log1p(float(self.margin[:-1]) / 100)
        return self.margin or 0.0

    @property
    def bound(self) -> float:
        """What its values, scaled and with their sign, are at least in options that keep the limit; -inf without one."""
        return -math.inf if self.limit is None else self.sign * float(self.scaled(self.limit))

    @property
    def direction(self) -> str:
        """Which direction is good, in words."""
        if self.goal is None:
            return self.limit_text
        return "small is good" if self.goal == "min" else "large is good"

    @property
    def limit_text(self) -> str:
        """The limit in words, empty without one."""
        if self.limit is None:
            return ""
        return f"at {'most' if self.at_most is not None else 'least'} {number_text(self.limit)}{self.unit_text}"

    @property
    def margin_text(self) -> str:
        """The margin in words, empty without one."""
        if self.margin is None:
            return ""
        return self.margin if isinstance(self.margin, str) else f"{number_text(self.margin)}{self.unit_text}"

    @property
    def unit_text(self) -> str:
        """The unit behind a blank, empty without one."""
        return "" if self.unit is None else f" {self.unit}"

    @property
    def title(self) -> str:
        """The name, its unit, and which direction is good."""
        unit = "" if self.unit is None else f"{self.unit}, "
        return f"{self.name} ({unit}{self.direction})"

    @property
    def text(self) -> str:
        """The metric as one types it: ``seconds:min~2%<=50``; what has no short form, as its unit, is not in it."""
        ends_here = ":" if set(":<>=~") & set(self.name) else ""  # or its last part would be taken for a goal or a limit
        parts = [self.name, ends_here if self.goal is None else f":{self.goal}"]
        if self.margin is not None:
            parts.append(f"~{self.margin if isinstance(self.margin, str) else number_text(self.margin)}")
        if self.limit is not None:
            parts.append(f"{'<=' if self.at_most is not None else '>='}{number_text(self.limit)}")
        return "".join(parts)

    @property
    def in_full(self) -> str:
        """The metric as one types it, with what has no short form behind it: ``seconds:min<=50 (log, in s)``."""
        more = [*(["exact"] if self.exact else []), *(["log"] if self.log and not isinstance(self.margin, str) else [])]
        more += [] if self.width is None else [f"divided by {number_text(self.width)}"]
        more += [] if self.unit is None else [f"in {self.unit}"]
        return f"{self.text} ({', '.join(more)})" if more else self.text

    @property
    def details(self) -> dict[str, Any]:
        """What it says beside its goal, as JSON values, without what is as usual; ``exact`` and ``width`` are kept elsewhere."""
        told = {name: getattr(self, name) for name in DETAILS}
        return {name: value for name, value in told.items() if value is not None and value is not False}  # 0 is a limit, too

    @property
    def headings(self) -> list[str]:
        """What people read above its columns: the mean, and if there is noise the interval of that."""
        return [self.name] if self.exact else [self.name, INTERVAL]

    def divisor(self, noise: float) -> float:
        """Returns what differences are divided by: the width, or else the noise; 0 if there is no noise."""
        return 0.0 if self.exact else noise if self.width is None else self.width

    def value(self, given: Any) -> float:
        """Returns a measured value as a float, or says what is wrong with it."""
        given = unboxed(given)
        if not isinstance(given, numbers.Real):
            raise InvalidInput(f"metric {self.name!r} is {short(given)}, which is not a number.")
        try:
            number = float(given)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise InvalidInput(
                f"metric {self.name!r} is {number}; a measurement that failed has no values: call fail(), or raise an error "
                "where it is measured."
            )
        if abs(number) > LARGEST_VALUE:
            raise InvalidInput(f"metric {self.name!r} is {number:g}, beyond {LARGEST_VALUE:g}; use a larger unit.")
        if self.log and not number > 0:
            raise InvalidInput(
                f"metric {self.name!r} is {number:g}, and {self._why_positive}; give it a margin in its unit instead, such as "
                "margin=0.1, and leave log out."
            )
        return number


DETAILS = ("margin", "at_most", "at_least", "log", "unit")
"""What a metric may say beside its goal."""

INTERVAL = "95% interval"
"""What people read above the intervals of means."""

ERROR_SUFFIX = " ±"
"""With which the columns of standard errors ended in tables of the release before."""


def check_metrics(
    given: MetricsGiven, *, exact: Iterable[str] | str = (), scale: Mapping[str, float] | None = None
) -> tuple[Metric, ...]:
    """Returns metrics as records, or says what is wrong with them.

    Args:
        given: names with goals, records, or a text such as ``"seconds:min,quality:max"``.
        exact: names of metrics without noise, beside those whose record says so.
        scale: width by name: of all metrics with noise, or None for the widths of the records.

    >>> [metric.title for metric in check_metrics("seconds:minimize,quality:max")]
    ['seconds (small is good)', 'quality (large is good)']
    """
    metrics = _records(given)
    names = [metric.name for metric in metrics]
    check_distinct(names, "metric")
    if not any(metric.compared for metric in metrics):
        raise InvalidInput(f"metrics={short([metric.text for metric in metrics])} are all limits; give one a goal, min or max.")
    listed = [exact] if isinstance(exact, str) else list(exact) if isinstance(exact, Set) else exact
    certain = [check_choice(name, names, "metric") for name in check_sequence(listed, "exact", "is not a list of metrics")]
    for name in scale or ():
        check_choice(name, names, "metric")
    complete = tuple(_completed(metric, metric.name in certain, (scale or {}).get(metric.name)) for metric in metrics)
    if scale is not None or any(metric.width is not None for metric in complete):
        for metric in complete:
            if metric.width is None and not metric.exact:
                raise InvalidInput(
                    f"scale has nothing for metric {metric.name!r}; say what to divide it by, its noise for instance."
                )
    return complete


def signs_of(metrics: Iterable[Metric]) -> FloatArray:
    """Returns what values are multiplied by to make larger better, one number per metric."""
    return np.array([metric.sign for metric in metrics])


def goals_of(metrics: Iterable[Metric]) -> dict[str, str | None]:
    """Returns name to "min" or "max", as users read metrics back; None for a limit alone."""
    return {metric.name: metric.goal for metric in metrics}


def requirements_of(metrics: Sequence[Metric]) -> Requirements:
    """Returns which differences matter and which limits options must keep, of values that are scaled and have their signs."""
    return Requirements(
        np.array([metric.delta for metric in metrics]),
        np.array([metric.bound for metric in metrics]),
        np.array([metric.compared for metric in metrics]),
    )


def _records(given: Any) -> tuple[Metric, ...]:
    if isinstance(given, str):
        metrics = _from_text(given)
    elif isinstance(given, Mapping):
        metrics = tuple(_from_entry(name, entry) for name, entry in given.items())
    else:
        metrics = tuple(check_sequence(given, "metrics", MUST_SAY))
    if not metrics or not all(isinstance(metric, Metric) for metric in metrics):
        shown = given if isinstance(given, str | Mapping) or not metrics else list(metrics)
        raise InvalidInput(f"metrics={short(shown)} {MUST_SAY}.")
    return metrics


def _from_entry(name: str, entry: Any) -> Metric:
    """A metric from what a mapping says of it: the goal with what may follow it, a table, or a record."""
    if isinstance(entry, Metric):
        return replace(entry, name=name)
    if isinstance(entry, Mapping):
        table = {str(key): value for key, value in entry.items()}
        for key in table:
            check_choice(key, ("goal", "exact", "width", *DETAILS), f"key of metric {name!r}")
        return Metric(name, **table)
    if isinstance(entry, str):
        goal, rest = taken_apart(entry, name)
        return Metric(name, **rest | {"goal": goal.strip() or None})
    return Metric(name, entry)


def _from_text(text: str) -> tuple[Metric, ...]:
    """``time:min~2%,errors<=0.01`` taken apart; a name may hold colons, and then one more ends it where there is no goal."""
    metrics = []
    for part in split_at_commas([text]):
        head, rest = taken_apart(part, part)
        name, goal = (head.rpartition(":") if ":" in head else (head, "", ""))[::2]
        if not name.strip() or not (goal.strip() or rest):
            raise InvalidInput(
                f"{short(part)} in metrics={short(text)} is not NAME:min or NAME:max, with a margin and a limit if it has them, "
                f"such as seconds:min~2%<=50, or a limit alone, such as {meant(head) or 'errors<=0.01'}."
            )
        if (found := MISSPELT.fullmatch(name.strip())) and is_amount(found[2], found[3]):
            raise InvalidInput(
                f"{short(part)} in metrics={short(text)} has {found[2]}{found[3]} before the goal; write "
                f"{found[1] or 'NAME'}:{goal.strip()}{SIGNS[found[2]]}{found[3]}{part[len(head) :].strip()}. (If "
                f"{short(name.strip())} is its name, write the metrics in a study file.)"
            )
        metrics.append(Metric(name.strip(), **rest | {"goal": goal.strip() or None}))
    return tuple(metrics)


def _completed(metric: Metric, exact: bool, width: Any) -> Metric:
    """A metric with what was said beside its record."""
    if width is not None and metric.width is not None and _width(metric.name, width) != metric.width:
        raise InvalidInput(f"metric {metric.name!r} has the width {metric.width:g} and in scale {width:g}; say it once.")
    return replace(metric, exact=metric.exact or exact, width=metric.width if width is None else width)


def _goal(name: str, goal: Any) -> str:
    known = GOALS.get(goal.strip().lower()) if isinstance(goal, str) else None
    if known is None:
        known_as = meant(goal, *GOALS) if isinstance(goal, str) else None
        instead = f'"{known_as}"' if known_as else '"min" if small is good, "max" if large is'
        raise InvalidInput(f"metric {name!r} has the goal {short(goal)}; write {instead}.")
    return known


def _margin(name: str, margin: Any) -> float | str | None:
    """A margin as a number, or as a share such as "2%"; None for none, however it is written."""
    share = PERCENT.fullmatch(margin.strip()) if isinstance(margin, str) else None
    given = margin
    if isinstance(margin, str):
        try:
            given = number_of(share[1] if share else margin)
        except ValueError:
            share = None  # and no number: refused as it was given
    most = LARGEST_SHARE if share else LARGEST_VALUE
    number = _as_number(given)
    if not 0 <= number <= most:
        expected = f'write a number from 0 to {LARGEST_VALUE:g}, or a share up to {LARGEST_SHARE:,.0f}%, such as "2%"'
        raise InvalidInput(f"metric {name!r} has margin={short(margin)}, the smallest difference that matters; {expected}.")
    return None if number == 0 else f"{number_text(number)}%" if share else number


def _number(name: str, what: str, given: Any) -> float:
    """A number that limits may have, or what is wrong with it."""
    value = _as_number(given)
    if not abs(value) <= LARGEST_VALUE:
        raise InvalidInput(
            f"metric {name!r} has {what}={short(given)}; write a number from {-LARGEST_VALUE:g} to {LARGEST_VALUE:g}."
        )
    return value


def _as_number(given: Any) -> float:
    """A number as a float: nan for what is none, infinity for what is beyond all floats."""
    is_number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
    try:
        return float(given) if is_number else math.nan
    except OverflowError:
        return math.inf if given > 0 else -math.inf


def _width(name: str, width: Any) -> float:
    value = _as_number(width)
    if not 1 / LARGEST_VALUE < value < LARGEST_VALUE:
        raise InvalidInput(f"metric {name!r} has the width {short(width)}, by which it is divided; it must be a positive number.")
    return value
