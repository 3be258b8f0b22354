"""Budgets: so many measurements, or so much of a unit, such as seconds or dollars, and what a measurement costs of it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from paretopick._arrays import check_budget, check_choice, check_name, check_real
from paretopick._texts import NUMBER, number_of
from paretopick._words import number_text, quoted, short
from paretopick.errors import InvalidInput
from paretopick.metrics import LARGEST_VALUE

SECONDS = "seconds"
"""The unit of budgets that are times: what measures can look at the clock."""

TIMES = {
    **dict.fromkeys(("s", "sec", "second", SECONDS), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}
"""What times may be written in, and how many seconds that is."""

COUNTED = ("measurement", "measurements")
"""Units that say no more than a number alone."""

WITH_UNIT = re.compile(rf"\s*({NUMBER.pattern})\s*(\D.*?)?\s*", re.ASCII | re.IGNORECASE)
"""An amount as people type it: 20m, 5dollars, 5 dollars."""

NEARLY = 1.0 - 1e-9
"""An amount is reached with this part of it, since 0.1 added up ten times may be a little less than 1."""

HOW = 'a whole number of measurements, or an amount with its unit, such as "20m" or ("dollars", 5)'


class Amount(NamedTuple):
    """So much of a unit."""

    unit: str
    amount: float

    def __str__(self) -> str:
        return f"{amount_text(self.amount)} {self.unit}"

    @property
    def typed(self) -> str:
        """As one types it on the command line."""
        return f"{number_text(self.amount)}{'s' if self.unit == SECONDS else f' {self.unit}'}"


Budget: TypeAlias = int | Amount
"""How much may be spent: a number of measurements, or an amount of a unit."""

BudgetGiven: TypeAlias = "int | tuple[str, float] | Mapping[str, float] | str"
"""As users write it: ``600``, ``("seconds", 1200)``, ``{"dollars": 5}``, ``"20m"``."""

CostGiven: TypeAlias = "str | Mapping[str, float]"
"""What a measurement costs: the name of a metric, of a value beside the metrics or of a setting, or a number for each option."""


def unit_of(budget: Budget) -> str:
    """Returns what a budget counts."""
    return budget.unit if isinstance(budget, Amount) else "measurements"


def amount_of(budget: Budget) -> float:
    """Returns how much of its unit a budget is."""
    return budget.amount if isinstance(budget, Amount) else budget


def amount_text(amount: float) -> str:
    """Returns an amount as people read it.

    >>> amount_text(1203.456), amount_text(4.98), amount_text(0.000123456), amount_text(20.0)
    ('1,203', '4.98', '0.0001235', '20')
    """
    return f"{amount:,.0f}" if abs(amount) >= 1000 else f"{amount:.4g}"


def budget_of(given: Any) -> Budget:
    """Returns a budget from what users write, or says what is wrong with it; times are in seconds.

    >>> budget_of(600), budget_of(("dollars", 5)), budget_of("20m"), budget_of({"hours": 2})
    (600, Amount(unit='dollars', amount=5.0), Amount(unit='seconds', amount=1200.0), Amount(unit='seconds', amount=7200.0))
    """
    if isinstance(given, str):
        return _from_text(given)
    if isinstance(given, Mapping):
        if len(given) != 1:
            raise InvalidInput(f"budget={short(dict(given))} must be {HOW}; it has {len(given)} units.")
        ((unit, amount),) = given.items()
        return _amount(unit, amount)
    if isinstance(given, tuple | list):
        if len(given) != 2 or not isinstance(given[0], str):
            raise InvalidInput(f"budget={short(given)} must be {HOW}.")
        return _amount(*given)
    return check_budget(given, minimum=1)


def seconds_of(given: Any, name: str) -> float:
    """Returns a time in seconds from a number or a text such as "20m", or says what is wrong with it.

    >>> seconds_of("20m", "--for"), seconds_of(1.5, "seconds")
    (1200.0, 1.5)
    """
    if isinstance(given, str):
        found = WITH_UNIT.fullmatch(given)
        if found is None or (found[4] or "s").lower() not in TIMES:
            raise InvalidInput(f"{name}={short(given)} is no time; write seconds, or 90s, 20m or 2h.")
        given = number_of(found[1]) * TIMES[(found[4] or "s").lower()]
    return check_real(given, name, above=0.0)


def _from_text(text: str) -> Budget:
    found = WITH_UNIT.fullmatch(text)
    if found is None:
        raise InvalidInput(f"budget={short(text)} must be {HOW}.")
    number = number_of(found[1])
    if found[4] is not None:
        return _amount(found[4], number)
    if not math.isfinite(number) or number != int(number):
        raise InvalidInput(f"budget={short(text)} must be {HOW}; of what are {found[1]}?")
    return check_budget(int(number), minimum=1)


def _amount(unit: Any, amount: Any) -> Budget:
    name = check_name(unit, "unit of a budget")
    if name.lower() in COUNTED:
        return check_budget(int(amount) if isinstance(amount, float) and amount.is_integer() else amount, minimum=1)
    number = check_real(amount, f"budget in {name}", above=0.0, maximum=LARGEST_VALUE)
    factor = TIMES.get(name.lower())
    return Amount(name, number) if factor is None else Amount(SECONDS, number * factor)


@dataclass(frozen=True)
class Spent:
    """How much of a budget is spent, where that is in a unit."""

    unit: str
    spent: float
    """By all measurements that were told, those that were taken back since and those that failed included."""
    budget: float

    @property
    def left(self) -> float:
        """What is left of it."""
        return max(self.budget - self.spent, 0.0)

    @property
    def over(self) -> float:
        """By how much it was exceeded by what was being measured when it was reached."""
        return max(self.spent - self.budget, 0.0)

    @property
    def reached(self) -> bool:
        """Whether it is spent."""
        return self.spent >= NEARLY * self.budget

    @property
    def sentence(self) -> str:
        """How much is spent and left, or by how much it was exceeded and why."""
        if self.over > (1 - NEARLY) * self.budget:
            return f"{self} are spent: {amount_text(self.over)} more, by what was being measured when they were reached."
        return f"{self} are spent, {amount_text(self.left)} left."

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as JSON values."""
        return {"unit": self.unit, "spent": self.spent, "budget": self.budget, "left": self.left, "over": self.over}

    def __str__(self) -> str:
        return f"{amount_text(self.spent)} of {amount_text(self.budget)} {self.unit}"


@dataclass(frozen=True)
class Costs:
    """What measurements cost in the unit of the budget: a constant of their option, or something that is told with them."""

    unit: str
    by_option: tuple[float, ...] | None = None
    """In the order of the options; None if it is told."""
    metric: int | None = None
    """The place of the metric that it is."""
    name: str = ""
    """Of the metric, or of the value beside the metrics, that it is."""

    @property
    def by_the_clock(self) -> bool:
        """Whether it is a time, so that whoever measures can find it out: of what failed, and of what does not say it."""
        return self.unit == SECONDS and self.by_option is None

    @property
    def is_elapsed(self) -> bool:
        """Whether it is the time that a measurement took, unless that says otherwise."""
        return self.by_the_clock and self.is_beside and self.name == SECONDS

    @property
    def is_beside(self) -> bool:
        """Whether it is told beside the metrics, with every measurement."""
        return self.by_option is None and self.metric is None

    def of(self, arm: int, row: Sequence[float | None], extra: Mapping[str, Any]) -> float | None:
        """Returns what a measurement has cost, None if nobody has said it.

        Args:
            arm: its option.
            row: its values.
            extra: what was told beside them.
        """
        if self.by_option is not None:
            return self.by_option[arm]
        told = extra.get(self.name) if self.metric is None else row[self.metric]
        return None if told is None else self.checked(told)

    def of_failure(self, arm: int, details: Mapping[str, Any]) -> float | None:
        """Returns what a measurement has cost that failed, None if nobody knows."""
        if self.by_option is not None:
            return self.by_option[arm]
        return None if details.get("cost") is None else self.checked(details["cost"])

    def checked(self, told: Any) -> float:
        """Returns a cost that was told, or says what is wrong with it."""
        is_number = isinstance(told, int | float) and not isinstance(told, bool)
        if not is_number or not 0 <= told <= LARGEST_VALUE:
            raise InvalidInput(
                f"{self.name!r} is {short(told)}, and it is what the measurement costs; expected a number of {self.unit}, 0 or "
                "more."
            )
        return float(told)

    @property
    def missing(self) -> str:
        """What to say of a measurement that was asked for and does not say what it cost."""
        what = f"metric {self.name!r} is" if self.metric is not None else f"{self.name}=... beside the metrics is"
        return f"it does not say what it cost, and the budget is in {self.unit}: {what} needed, 0 if it cost nothing."


def costs_of(
    budget: Budget, cost: Any, options: Sequence[str], settings: Sequence[Mapping[str, Any]], metrics: Sequence[str]
) -> Costs | None:
    """Returns what measurements cost, or says what is wrong with it; None where the budget counts measurements.

    Args:
        budget: of the study.
        cost: a number by option; or the name of a setting, of a metric, or of what is told beside the metrics. None: what is
            called as the unit is.
        options: their names.
        settings: of each option.
        metrics: their names.
    """
    if not isinstance(budget, Amount):
        if cost is not None:
            raise InvalidInput(
                f"cost={short(cost)} says what measurements cost, and budget={budget} counts them; give the budget in the unit "
                'of the costs, such as budget=("dollars", 5).'
            )
        return None
    if isinstance(cost, Mapping):
        for name in cost:
            check_choice(name, options, "option")
        if missing := [name for name in options if name not in cost]:
            raise InvalidInput(f"cost has nothing for {quoted(missing)}; say what a measurement of each option costs.")
        return Costs(budget.unit, tuple(_constant(cost[name], name) for name in options))
    name = check_name(budget.unit if cost is None else cost, "cost")
    if name in settings[0]:
        return Costs(
            budget.unit, tuple(_constant(row[name], option) for option, row in zip(options, settings, strict=True)), name=name
        )
    return Costs(budget.unit, metric=list(metrics).index(name) if name in metrics else None, name=name)


def _constant(given: Any, option: str) -> float:
    return check_real(given, f"cost of {option!r}", above=0.0, maximum=LARGEST_VALUE)
