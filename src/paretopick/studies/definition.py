"""What a study is about: its options, metrics, budget and policy, checked once and never changed."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from paretopick._arrays import FloatArray, check_choice, check_name, check_sequence
from paretopick._words import quoted, short
from paretopick.errors import BudgetTooSmall, InvalidInput
from paretopick.metrics import ERROR_SUFFIX, Metric, MetricsGiven, check_metrics, goals_of, requirements_of, signs_of
from paretopick.policies import DEFAULT_POLICY, POLICIES, PolicyChoice, PolicyGiven, check_policy, policies_with, policy_options
from paretopick.policies.base import Policy
from paretopick.studies.aims import NO_AIM, Aim, Finest, check_aim
from paretopick.studies.budgets import NEARLY, Amount, Budget, BudgetGiven, CostGiven, Costs, budget_of, costs_of
from paretopick.studies.options import name_of_option, options_of
from paretopick.studies.told import Told, Values, read_measurement
from paretopick.theory.requirements import Requirements

RESERVED_LATER = ("in_answer", "beaten_by", "worth_keeping", "within_limits", "repeat", "compared_with_baseline")
"""Columns that tables did not have yet when studies could have them as metrics or settings: these studies go on."""

RESERVED = (
    *("number", "option", "round", "status", "failed", "why", "worker", "at", "study"),
    *("dominated_by", "probability", "measurements", "left_in_round", *RESERVED_LATER),
)
"""Columns that sheets, exports and results have of their own."""

Scale: TypeAlias = Literal["noise", "raw"] | Mapping[str, float]
"""``"noise"``, ``"raw"``, or what each metric is divided by."""


@dataclass(frozen=True)
class Definition:
    """What a study is about; made by ``define``."""

    options: tuple[str, ...]
    settings: tuple[dict[str, Any], ...]
    """Further columns of the table of options, the same for each."""
    metrics: tuple[Metric, ...]
    """In the order in which values are kept."""
    budget: Budget
    """So many measurements, or so much of a unit."""
    choice: PolicyChoice
    compared_in: Literal["noise", "raw"]
    """In units of what metrics without a width of their own are compared: "noise", or "raw" for as they are."""
    cost: CostGiven | None = None
    """Where the budget is in a unit, what a measurement costs, as ``define`` takes it; None for what is called as the unit."""
    aim: Aim = NO_AIM
    """When it stops before the budget is spent."""
    pairing: str | None = None
    """What measurements share that makes them vary: "repeat", or a column that is told beside the metrics; None for nothing."""
    baseline: str | None = None
    """The option that results compare the others with, what is used today for instance; it may change later."""
    command: tuple[str, ...] = ()
    """What ``paretopick run`` measured with when the study was created; to be repaired, it may change, as may the next five."""
    shell: bool = False
    """Whether a shell reads the command."""
    timeout: float | None = None
    """Seconds after which a measurement is stopped."""
    folder: str | None = None
    """In which the command runs."""
    prepare: tuple[str, ...] = ()
    """Another command, which runs before each measurement and is not measured."""
    warmup: int = 0
    """Runs of each option before it is measured for the first time, which do not count."""
    tells_repeat: bool = field(default=False, compare=False)
    """Whether measurements tell something of their own under the name "repeat", as they could before repeats were counted."""

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON values, of which ``Definition.from_dict`` makes an equal definition; databases hold them."""
        details = {metric.name: metric.details for metric in self.metrics if metric.details}
        cost = dict(self.cost) if isinstance(self.cost, Mapping) else self.cost
        aim = self.aim.to_dict()
        rest = {"details": details, "aim": aim, "prepare": list(self.prepare), "warmup": self.warmup, "cost": cost}
        rest |= {"pairing": self.pairing, "baseline": self.baseline}
        return {
            "options": list(self.options),
            "settings": [dict(row) for row in self.settings],
            "metrics": dict(self.goals),
            "exact": list(self.exact),
            "budget": list(self.budget) if isinstance(self.budget, Amount) else self.budget,
            "policy": self.policy,
            "policy_options": dict(self.policy_options),
            "scale": self.scale if isinstance(self.scale, str) else dict(self.scale),
            "command": list(self.command),
            "shell": self.shell,
            "timeout": self.timeout,
            "folder": self.folder,
        } | {key: value for key, value in rest.items() if value}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Definition:
        """Returns the definition that ``to_dict`` described, or says what cannot be read of it."""
        try:
            return cls._from_dict(record)
        except InvalidInput:
            raise
        except KeyError as missing:
            raise InvalidInput(f"the stored definition has no {missing}; it is not what was stored.") from None
        except (TypeError, ValueError, AttributeError) as problem:
            raise InvalidInput(f"the stored definition cannot be read ({problem}); it is not what was stored.") from None

    @classmethod
    def _from_dict(cls, record: Mapping[str, Any]) -> Definition:
        widths, compared_in = _scale(record["scale"])
        details = record.get("details", {})
        metrics: dict[str, Any] = {name: {"goal": goal, **details.get(name, {})} for name, goal in record["metrics"].items()}
        measured = check_metrics(metrics, exact=record.get("exact", ()), scale=widths)
        aim = record.get("aim", {})
        definition = cls(
            options=tuple(check_name(name, "option") for name in record["options"]),
            settings=tuple(dict(row) for row in record["settings"]),
            metrics=measured,
            budget=budget_of(record["budget"]),
            choice=PolicyChoice(record["policy"], record["policy_options"]),
            compared_in=compared_in,
            cost=record.get("cost"),
            aim=check_aim(aim.get("confidence"), aim.get("resolution"), measured),
            command=tuple(record.get("command", ())),
            shell=record.get("shell", False),
            timeout=record.get("timeout"),
            folder=record.get("folder"),
            prepare=tuple(record.get("prepare", ())),
            warmup=record.get("warmup", 0),
            pairing=None if record.get("pairing") is None else check_name(record["pairing"], "pairing"),
        ).with_baseline(record.get("baseline"))
        definition.costs  # noqa: B018 -- which may be wrong
        return definition

    @cached_property
    def costs(self) -> Costs | None:
        """What measurements cost where the budget is in a unit; None where it counts measurements."""
        return costs_of(self.budget, self.cost, self.options, self.settings, list(self.goals))

    @cached_property
    def goals(self) -> Mapping[str, str | None]:
        """Name of each metric to "min" or "max", or None for a limit alone."""
        return goals_of(self.metrics)

    @cached_property
    def signs(self) -> FloatArray:
        """What values are multiplied by to make larger better."""
        return signs_of(self.metrics)

    @cached_property
    def requirements(self) -> Requirements:
        """Which differences matter, and which limits options must keep, of values as they are compared."""
        return requirements_of(self.metrics)

    @cached_property
    def logged(self) -> list[int]:
        """The places of the metrics of which logarithms are added up; exact values are kept as they are."""
        return [at for at, metric in enumerate(self.metrics) if metric.log and not metric.exact]

    @cached_property
    def exact(self) -> tuple[str, ...]:
        """The names of the metrics without noise."""
        return tuple(metric.name for metric in self.metrics if metric.exact)

    @cached_property
    def is_exact(self) -> list[bool]:
        """For each metric, whether it is without noise."""
        return [metric.exact for metric in self.metrics]

    @cached_property
    def scale(self) -> Scale:
        """What metrics are divided by, as ``define`` takes it: "noise", "raw", or a width for each that is not exact."""
        widths = {metric.name: metric.width for metric in self.metrics if metric.width is not None}
        return widths or self.compared_in

    @property
    def policy(self) -> str:
        """The name of the policy."""
        return self.choice.name

    @property
    def policy_options(self) -> Mapping[str, Any]:
        """The options of the policy, as JSON values."""
        return self.choice.options

    @cached_property
    def counts_repeats(self) -> bool:
        """Whether tables have a column "repeat" of their own: not in older studies that call something else so."""
        theirs = {*self.goals, *self.settings[0], *(() if self.costs is None else (self.costs.name,))}
        return not self.tells_repeat and "repeat" not in theirs

    def new_policy(self) -> Policy:
        """Returns the policy of the study, which knows nothing yet; of a budget in a unit it knows nothing at all."""
        counted = None if isinstance(self.budget, Amount) else self.budget
        return self.choice.new(n_arms=len(self.options), n_objectives=len(self.metrics), budget=counted)

    def check_columns(self) -> None:
        """Refuses what a new study cannot have as metrics and settings, though one that is there already may."""
        _check_columns([*self.goals, *self.settings[0]], RESERVED)

    def arm(self, option: str) -> int:
        """Returns the number of an option, from its name."""
        return self.options.index(check_choice(option, self.options, "option"))

    def with_option(self, option: str, settings: Mapping[str, Any], cost: float | None = None) -> Definition:
        """Returns the same definition with one more option, or says what is wrong with that.

        Args:
            option: its name.
            settings: as the other options have them.
            cost: of a measurement of it, where costs are given by option.
        """
        rows = dict(zip(self.options, self.settings, strict=True))
        if check_name(option, "option") in rows:
            raise InvalidInput(f"there is an option {option!r} already.")
        if not isinstance(settings, Mapping) or set(settings) != set(self.settings[0]):
            needed = quoted(self.settings[0]) or "none"
            raise InvalidInput(f"option {option!r} has the settings {short(settings)}; the other options have {needed}.")
        ordered = {name: settings[name] for name in self.settings[0]}
        names, all_settings = options_of(rows | {option: ordered})
        costs = self.cost
        if isinstance(costs, Mapping) and cost is not None:
            costs = {**costs, option: cost}
        elif isinstance(costs, Mapping):
            raise InvalidInput(f"the other options have a cost each; say what a measurement of {option!r} costs, too: cost=...")
        elif cost is not None:
            raise InvalidInput(f"cost={short(cost)} of option {option!r} is not needed: costs are not given by option here.")
        grown = replace(self, options=names, settings=all_settings, cost=costs)
        grown.costs  # noqa: B018 -- which may be wrong
        return grown

    def with_baseline(self, option: Any) -> Definition:
        """Returns the same definition with another option that results compare with, None for none; refuses what is no option."""
        name = None if option is None else check_choice(name_of_option(option), self.options, "option")
        return self if name == self.baseline else replace(self, baseline=name)

    @property
    def description(self) -> dict[str, Any]:
        """What may change later without making it another study, as JSON values: the baseline, and how it is measured."""
        how = {name: getattr(self, name) for name in ("baseline", "command", "shell", "timeout", "folder", "prepare", "warmup")}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in how.items()}

    def described(self, told: Mapping[str, Any]) -> Definition:
        """Returns the same definition with some of its ``description`` otherwise; refuses a baseline that is no option."""
        other = {check_choice(name, self.description, "part of a description"): value for name, value in told.items()}
        baseline = other.pop("baseline", self.baseline)
        changed: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in other.items()}
        return replace(self, **changed).with_baseline(baseline)

    def rows(self, measurements: Any) -> list[tuple[int, Told]]:
        """Returns many measurements with the numbers of their options, or says what is wrong with which."""
        pairs = check_sequence(measurements, "measurements", f"is not a list of pairs; write {self._example}")
        return [self._pair(pair, f"measurement {place} of {len(pairs)}") for place, pair in enumerate(pairs, start=1)]

    def _pair(self, pair: Any, place: str) -> tuple[int, Told]:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidInput(f"{place} is {short(pair)}, and no pair of an option and its values; write {self._example}.")
        return self.arm(pair[0]), self.told(pair[1])

    @property
    def _example(self) -> str:
        """A list of measurements, as one types it."""
        return f"[({self.options[0]!r}, {(dict.fromkeys(self.goals, 0.0))!r})]"

    def values(self, given: Values) -> list[float | None]:
        """Returns the values of one measurement in the order of the metrics, or says by name what is wrong with it."""
        return self.told(given).row

    def told(self, given: Values | Told) -> Told:
        """Returns one measurement, or says by name what is wrong with it."""
        return given if isinstance(given, Told) else read_measurement(given, self.metrics, self._taken, self.counts_repeats)

    @cached_property
    def _taken(self) -> set[str]:
        """Columns that tables have already, which cannot be told beside the metrics."""
        return {*RESERVED} - (set() if self.counts_repeats else {"repeat"}) | {*self.settings[0]}

    def differences(self, other: Definition) -> list[str]:
        """Returns in words what another definition has otherwise, beside the command that measures."""
        mine, others = self._compared(), other._compared()
        if list(self.goals) == list(other.goals):  # values may come in the order of the metrics, so it matters
            for record, metrics in ((mine, self.metrics), (others, other.metrics)):
                del record["metrics"]
                record |= {f"metric {metric.name!r}": metric.in_full for metric in metrics}
        if mine["options"] != others["options"]:  # of other options nothing more need be said
            del mine["settings"]
        shown = ((what, _shown(mine[what]), _shown(others[what])) for what in mine if mine[what] != others.get(what, mine[what]))
        return [f"{what} is {there} there and {here} here" for what, there, here in shown]

    def _compared(self) -> dict[str, Any]:
        """What makes it another study, by what that is about."""
        about = self.to_dict()
        kept = {key: about[key] for key in ("options", "settings", "policy", "policy_options")}
        kept["budget"] = str(self.budget)
        if self.costs is not None:
            kept["cost"] = self.costs.unit if self.cost is None else about["cost"]
        kept["pairing"] = "none" if self.pairing is None else repr(self.pairing)
        return kept | {"metrics": ", ".join(metric.in_full for metric in self.metrics), "scale": self.compared_in}


def _shown(value: Any) -> str:
    """What a definition says of something, in a sentence."""
    return value if isinstance(value, str) else short(value)


def define(
    *,
    options: Iterable[Any] | Mapping[str, Mapping[str, Any]],
    metrics: MetricsGiven,
    budget: BudgetGiven,
    policy: PolicyGiven = DEFAULT_POLICY,
    scale: Scale = "noise",
    exact: Iterable[str] = (),
    cost: CostGiven | None = None,
    confidence: float | None = None,
    resolution: Finest | None = None,
    pairing: str | None = None,
    baseline: Any = None,
) -> Definition:
    """Returns the definition of a study, or says what is wrong with it; ``Study.create`` describes the arguments."""
    names, settings = options_of(options)
    widths, compared_in = _scale(scale)
    measured = check_metrics(metrics, exact=exact, scale=widths)
    if compared_in == "raw" and any(metric.width is not None for metric in measured):
        raise InvalidInput('scale="raw" compares metrics as they are, and some have a width; leave one of both out.')
    _check_columns([*goals_of(measured), *(settings[0] if settings else ())], set(RESERVED) - set(RESERVED_LATER))
    chosen = _amendable(check_policy(policy)).with_default(spend="all")  # measurements are worth spending them all
    _check_details(chosen, measured)
    definition = Definition(
        options=names,
        settings=settings,
        metrics=measured,
        budget=budget_of(budget),
        choice=chosen,
        compared_in=compared_in,
        cost=cost,
        aim=check_aim(confidence, resolution, measured),
        pairing=None if pairing is None else check_name(pairing, "pairing"),
    ).with_baseline(baseline)
    _check_pairing(definition)
    if definition.aim.is_set and (not chosen.roundless or chosen.max_arms is not None):
        raise InvalidInput(
            f"{chosen.name} plans its rounds for its budget and cannot stop when it is sure; leave confidence and resolution "
            f"out, or use {' or '.join(policies_with('roundless'))}."
        )
    if definition.costs is not None:
        _check_costs(definition, definition.costs)
        return definition
    try:
        definition.new_policy()
    except BudgetTooSmall as refusal:
        raise BudgetTooSmall(
            f"{definition.policy} needs {refusal.smallest} measurements or more for {len(names)} options; "
            f"raise budget={budget} to at least {refusal.smallest}{', or lower initial' if 'initial' in str(refusal) else ''}.",
            refusal.smallest,
        ) from None
    return definition


def _check_pairing(definition: Definition) -> None:
    """Refuses a pairing that nothing could follow from, or whose column cannot be told."""
    name = definition.pairing
    if name is None:
        return
    if not definition.choice.knows_pairs:
        knowing = " or ".join(choice for choice in POLICIES if "paired" in policy_options(choice))
        raise InvalidInput(
            f"pairing={name!r} is about what measurements share, of which {definition.policy} knows nothing; leave it out, or "
            f"use {knowing}."
        )
    if all(definition.is_exact):
        raise InvalidInput(f"pairing={name!r} is about what makes measurements vary, and all metrics are exact; leave it out.")
    if name == "repeat":
        return
    what = "a metric" if name in definition.goals else "a setting of the options" if name in definition.settings[0] else ""
    if name in RESERVED or name.endswith(ERROR_SUFFIX):
        what = "a column that tables have already"
    if what:
        raise InvalidInput(
            f"pairing={name!r} is {what}; name what measurements share, as it is told beside the metrics (a plate, a day), or "
            'write pairing="repeat" if the n-th measurements of all options belong together.'
        )


def _check_costs(definition: Definition, costs: Costs) -> None:
    """Refuses a budget in a unit where rounds are planned, that is too small to begin with, or whose cost has no name to tell."""
    assert isinstance(definition.budget, Amount)
    if not definition.choice.roundless:
        raise InvalidInput(
            f"{definition.policy} plans its rounds for a number of measurements, and the budget is {definition.budget}; write a "
            f"number, or use {' or '.join(policies_with('roundless'))}."
        )
    if costs.name in RESERVED:
        raise InvalidInput(f"cost={costs.name!r} is a column that tables have already; call what a measurement costs otherwise.")
    initial = getattr(definition.new_policy(), "initial", 0)
    if costs.by_option is not None and initial * sum(costs.by_option) > definition.budget.amount / NEARLY:
        needed = Amount(costs.unit, initial * sum(costs.by_option))
        raise BudgetTooSmall(
            f"the first measurements, {initial} of each of {len(definition.options)} options, cost {needed}; raise the budget of "
            f"{definition.budget} to at least that, or lower initial.",
            math.ceil(needed.amount),
        )


def _check_columns(names: list[str], taken: Collection[str]) -> None:
    """Metrics and settings are columns of one sheet."""
    for name in names:
        if name in taken or name.endswith(ERROR_SUFFIX):
            raise InvalidInput(f"{name!r} is a column that tables have already; choose another name for the metric or setting.")
        if names.count(name) > 1:
            raise InvalidInput(f"{name!r} is both a metric and a setting of the options; rename one.")


def _amendable(choice: PolicyChoice) -> PolicyChoice:
    """Refuses what cannot live with the accidents of real measurements."""
    if not choice.amendable:
        others = ", ".join(policies_with("amendable"))
        raise InvalidInput(
            f"{choice.name} is for simulations: it cannot take back measurements or be told their noise; use {others}."
        )
    return choice


def _check_details(choice: PolicyChoice, metrics: Sequence[Metric]) -> None:
    """Refuses margins, limits and logarithms for policies that know none."""
    told = next((metric for metric in metrics if metric.log or metric.margin is not None or metric.limit is not None), None)
    if told is not None and not choice.knows_margins:
        raise InvalidInput(
            f"metric {told.text!r} has a margin, a limit or log, of which {choice.name} knows nothing; use "
            f"{' or '.join(policies_with('knows_margins'))}."
        )


def _scale(scale: Any) -> tuple[Mapping[str, float] | None, Literal["noise", "raw"]]:
    """The widths that are given, and what metrics without one are compared in."""
    if isinstance(scale, Mapping):
        return scale, "noise"
    if not isinstance(scale, str) or scale not in ("noise", "raw"):
        raise InvalidInput(f'scale={short(scale)} must be "noise", "raw", or what to divide each metric by.')
    return None, "raw" if scale == "raw" else "noise"
