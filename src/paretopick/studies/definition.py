"""What a study is about: its options, metrics, budget and policy, checked once and never changed."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from paretopick._arrays import FloatArray, check_budget, check_choice
from paretopick.errors import InvalidInput
from paretopick.policies import POLICIES, check_options, plain_options, policy, policy_options
from paretopick.policies.base import Policy

RESERVED = (
    *("number", "option", "round", "status", "failed", "why", "worker", "at", "study"),
    *("dominated_by", "probability", "measurements", "left_in_round"),
)
"""Columns that sheets, exports and results have of their own."""

LARGEST_VALUE = 1e150
"""Sums and squares of measurements stay finite up to this."""

PolicyChoice = str | tuple[str, Mapping[str, Any]]
"""A policy by name, or its name with its options."""

Values = Mapping[str, Any] | Sequence[Any]
"""One measurement, by name of the metric or in the order of the metrics."""

Scale = str | Mapping[str, float]
"""``"noise"``, ``"raw"``, or what each metric is divided by."""


@dataclass(frozen=True)
class Definition:
    """What a study is about; made by ``define``, and of plain JSON values."""

    options: tuple[str, ...]
    settings: tuple[dict[str, Any], ...]
    """Further columns of the table of options, the same for each."""
    metrics: dict[str, str]
    """Name to "min" or "max", in the order in which values are kept."""
    exact: tuple[str, ...]
    budget: int
    policy: str
    policy_options: dict[str, Any]
    scale: str | dict[str, float]
    command: tuple[str, ...] = ()
    """What ``paretopick run`` measured with when the study was created; to be repaired, it may change, as may the next three."""
    shell: bool = False
    """Whether a shell reads the command."""
    timeout: float | None = None
    """Seconds after which a measurement is stopped."""
    folder: str | None = None
    """In which the command runs."""

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON values, of which ``Definition.from_dict`` makes an equal definition."""
        record = asdict(self)
        return record | {key: list(record[key]) for key in ("options", "settings", "exact", "command")}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Definition:
        """Returns the definition that ``to_dict`` described."""
        lists = {key: tuple(record.get(key, ())) for key in ("options", "settings", "exact", "command")}
        return cls(**{**record, **lists})

    @property
    def signs(self) -> FloatArray:
        """What values are multiplied by to make larger better."""
        return signs_of(self.metrics)

    @property
    def is_exact(self) -> list[bool]:
        """For each metric, whether it is without noise."""
        return [name in self.exact for name in self.metrics]

    def new_policy(self) -> Policy:
        """Returns the policy of the study, which knows nothing yet."""
        return policy(
            self.policy,
            n_arms=len(self.options),
            n_objectives=len(self.metrics),
            budget=self.budget,
            **self.policy_options,
        )

    def arm(self, option: str) -> int:
        """Returns the number of an option, from its name."""
        return self.options.index(check_choice(option, self.options, "option"))

    def values(self, given: Values) -> list[float]:
        """Returns one measurement as floats in the order of the metrics, or says by name what is wrong with it."""
        names = list(self.metrics)
        if isinstance(given, Mapping):
            missing = [name for name in names if name not in given]
            extra = [str(name) for name in given if name not in self.metrics]
            if missing:
                raise InvalidInput(f"there is no value for metric {_quoted(missing)}; a measurement has {_quoted(names)}.")
            if extra:
                raise InvalidInput(f"there is no metric named {_quoted(extra)}; a measurement has {_quoted(names)}.")
            row = [given[name] for name in names]
        elif isinstance(given, str) or not isinstance(given, Iterable):
            raise InvalidInput(f"{given!r} is not a measurement; give a mapping with {_quoted(names)}.")
        else:
            row = list(given)
            if len(row) != len(names):
                raise InvalidInput(f"{row!r} has {len(row)} values; a measurement has {len(names)}: {_quoted(names)}.")
        return [self._value(name, value) for name, value in zip(names, row, strict=True)]

    def _value(self, name: str, value: Any) -> float:
        if hasattr(value, "item") and np.size(value) == 1:  # a scalar, or an array of one number
            value = value.item()
        if not isinstance(value, numbers.Real):
            raise InvalidInput(f"metric {name!r} is {value!r}, which is not a number.")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise InvalidInput(f"metric {name!r} is {number}; a measurement that failed is not told, but reported as failed.")
        if abs(number) > LARGEST_VALUE:
            raise InvalidInput(f"metric {name!r} is {number:g}, beyond {LARGEST_VALUE:g}; use a larger unit.")
        return number

    def differences(self, other: Definition) -> list[str]:
        """Returns in words what another definition has otherwise."""
        mine, others = self.to_dict(), other.to_dict()
        for record in (mine, others):
            record["metrics"] = list(record["metrics"].items())  # values may come in their order, so it matters
            for key in ("command", "shell", "timeout", "folder"):
                del record[key]
        return [f"{key} is {_short(mine[key])} there and {_short(others[key])} here" for key in mine if mine[key] != others[key]]


def define(
    *,
    options: Iterable[Any] | Mapping[str, Mapping[str, Any]],
    metrics: Mapping[str, str],
    budget: int,
    policy: PolicyChoice = "ege-sr",
    scale: Scale = "noise",
    exact: Iterable[str] = (),
) -> Definition:
    """Returns the definition of a study, or says what is wrong with it; ``Study.create`` describes the arguments."""
    names, settings = _options(options)
    certain = check_metrics(metrics, exact)
    _check_columns([*metrics, *(settings[0] if settings else ())])
    chosen, given = (policy, {}) if isinstance(policy, str) else policy
    definition = Definition(
        options=names,
        settings=settings,
        metrics=dict(metrics),
        exact=tuple(name for name in metrics if name in certain),
        budget=check_budget(budget, minimum=1),
        policy=chosen,
        policy_options=_policy_options(chosen, given),
        scale=_scale(scale, metrics, certain),
    )
    definition.new_policy()  # which refuses a budget that is too small
    return definition


def signs_of(metrics: Mapping[str, str]) -> FloatArray:
    """Returns what values are multiplied by to make larger better: the one place where directions matter."""
    return np.array([1.0 if goal == "max" else -1.0 for goal in metrics.values()])


def check_metrics(metrics: Any, exact: Any) -> list[str]:
    """Returns the exact metrics; refuses what does not say which metrics have which goals, and which of them are exact."""
    if not isinstance(metrics, Mapping) or not metrics:
        raise InvalidInput(
            f'metrics={metrics!r} must say which metrics have which goals: {{"seconds": "min", "quality": "max"}}.'
        )
    for name, goal in metrics.items():
        check_name(name, "metric")
        if goal not in ("min", "max"):
            raise InvalidInput(f'metric {name!r} has the goal {goal!r}; write "min" if small is good, "max" if large is.')
    if not isinstance(exact, Iterable):
        raise InvalidInput(f"exact={exact!r} is not a list of metrics.")
    certain = [exact] if isinstance(exact, str) else list(exact)
    for name in certain:
        check_choice(name, metrics, "metric")
    return certain


def check_name(name: Any, kind: str) -> str:
    """Returns the name of a study, option, metric or worker: any text that databases can hold."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f"{name!r} cannot be the name of {_a(kind)}; give it a text that is not empty.")
    if len(name) > 1000:
        raise InvalidInput(f"the name of a {kind} has {len(name)} characters ({name[:20]!r}...); 1000 are the most.")
    if name != name.strip():
        raise InvalidInput(f"{name!r} cannot be the name of {_a(kind)}: it has blanks at its ends.")
    if not name.isprintable():
        bad = next(character for character in name if not character.isprintable())
        raise InvalidInput(f"{name!r} cannot be the name of {_a(kind)}: {bad!r} cannot be printed.")
    return name


def _options(options: Any) -> tuple[tuple[str, ...], tuple[dict[str, Any], ...]]:
    """Names and settings from a list of names, a list of rows with a name, or a mapping of names to settings."""
    if isinstance(options, str) or not isinstance(options, Iterable):
        raise InvalidInput(f'options={options!r} is not a list of names; write for instance ["zlib 1", "zlib 9"].')
    rows = [(name, row) for name, row in options.items()] if isinstance(options, Mapping) else [_row(entry) for entry in options]
    if not rows:
        raise InvalidInput("there are no options; give at least one to measure.")
    names = tuple(check_name(name, "option") for name, _ in rows)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInput(f"option {twice!r} is there twice; every option needs a name of its own.")
    settings = []
    for name, row in rows:
        if not isinstance(row, Mapping) or list(row) != list(rows[0][1]):
            raise InvalidInput(f"option {name!r} has the settings {row!r}; give each option the same ones as {names[0]!r}.")
        for column, value in row.items():
            check_name(column, "column of options")
            if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
                raise InvalidInput(f"option {name!r} has {column}={value!r}; settings are texts and finite numbers.")
        settings.append(dict(row))
    return names, tuple(settings)


def _row(entry: Any) -> tuple[str, Mapping[str, Any]]:
    """The name and the settings of one option, from a name or number, or a mapping with its name among the settings."""
    if isinstance(entry, Mapping):
        row = dict(entry)
        name = row.pop("option", None) if "option" in row else row.pop("name", None)
        if name is None:
            raise InvalidInput(f"an option is {dict(entry)!r}, without a name; add option=... to it.")
        return str(name), row
    plain = isinstance(entry, int | float | np.generic) and not isinstance(entry, bool)
    return (str(entry) if plain else entry), {}


def _check_columns(names: list[str]) -> None:
    """Metrics and settings are columns of one sheet."""
    for name in names:
        if name in RESERVED or name.endswith(" ±"):
            raise InvalidInput(f"{name!r} is a column that tables have already; choose another name for the metric or setting.")
        if names.count(name) > 1:
            raise InvalidInput(f"{name!r} is both a metric and a setting of the options; rename one.")


def _policy_options(name: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the policy as JSON values; real measurements are worth spending them all."""
    known = policy_options(name)
    chosen = {"spend": "all", **given} if "spend" in known else dict(given)
    check_options(name, chosen)
    if name.startswith("ape-fb"):
        others = ", ".join(other for other in POLICIES if not other.startswith("ape-fb"))
        raise InvalidInput(f"{name} is for simulations: it cannot take back measurements or be told their noise; use {others}.")
    return plain_options(chosen)


def _scale(scale: Any, metrics: Mapping[str, str], exact: list[str]) -> str | dict[str, float]:
    if scale in ("noise", "raw"):
        return str(scale)
    if not isinstance(scale, Mapping):
        raise InvalidInput(f'scale={scale!r} must be "noise", "raw", or what to divide each metric by.')
    for name in scale:
        check_choice(name, metrics, "metric")
    widths = {}
    for name in metrics:
        if name in exact:
            if name in scale:
                raise InvalidInput(f"metric {name!r} is exact and has a scale; it can have one of both.")
        elif name not in scale:
            raise InvalidInput(f"scale has nothing for metric {name!r}; say what to divide it by, its noise for instance.")
        else:
            width = scale[name]
            if isinstance(width, bool) or not isinstance(width, int | float) or not 1 / LARGEST_VALUE < width < LARGEST_VALUE:
                raise InvalidInput(f"scale has {width!r} for metric {name!r}; it must be a positive number.")
            widths[name] = float(width)
    return widths


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
