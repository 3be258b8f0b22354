"""A study replayed literally: one event after the other, all measurements in lists, means and noise from their definition.

What is rounded is rounded once, from fractions: means, sums, and sums of squares of each option.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

import paretopick as pp
from paretopick.metrics import requirements_of
from paretopick.studies.definition import Definition


def repeats_by_option(events, n_options: int) -> list[list[int | None]]:
    """The repeats of the valid measurements of each option, by number; None for those that have none."""
    valid: dict[int, tuple[int, int | None]] = {}
    for event in events:
        if event.kind == "told":
            valid[event.number] = event.arm, (event.details or {}).get("repeat")
        elif event.kind == "voided":
            del valid[event.number]
    return [[repeat for _, (arm, repeat) in sorted(valid.items()) if arm == option] for option in range(n_options)]


def next_repeats(events, n_options: int, out: dict[int, list[int]]) -> list[int]:
    """The lowest number of each option that is free; those without a repeat have the lowest."""
    found = []
    for arm, taken in enumerate(repeats_by_option(events, n_options)):
        repeat = sum(each is None for each in taken)
        while repeat in taken or repeat in out.get(arm, []):
            repeat += 1
        found.append(repeat)
    return found


class Literal:
    """Samples and what follows from them by definition; ``definition`` and ``counted`` come from whoever reads the log."""

    definition: Definition
    counted: list[list[tuple[int, tuple]]]
    """Numbers and values of the measurements of each option that count."""

    def _sums(self, arm: int) -> list[float]:
        columns = [self.sample(arm, metric) for metric in range(len(self.definition.metrics))]
        return [self._sign(metric) * math.fsum(column) + 0.0 for metric, column in enumerate(columns)]

    def _sign(self, metric: int) -> float:
        """1 where large is good, or a limit from below is all there is."""
        record = self.definition.metrics[metric]
        return 1.0 if record.goal == "max" or (record.goal is None and record.at_least is not None) else -1.0

    def _squares(self, arm: int) -> list[float]:
        return [_squares(self.sample(arm, metric)) for metric in range(len(self.definition.metrics))]

    def sample(self, arm: int, metric: int) -> list[float]:
        """The values of an option that count, as they are compared; exact ones as they are."""
        record = self.definition.metrics[metric]
        told = [values[metric] for _, values in self.counted[arm] if values[metric] is not None]
        return [math.log(value) for value in told] if record.log and not record.exact else told

    def means(self) -> list[list[float]]:
        """The mean of every option and metric in the user's units, NaN without measurements; with log it is geometric."""
        logged = [metric.log and not metric.exact for metric in self.definition.metrics]
        rows = self._of_every_sample(lambda sample: float(_mean(sample)) if sample else math.nan)
        return [[math.exp(mean) if log else mean for mean, log in zip(row, logged, strict=True)] for row in rows]

    def compared_means(self) -> list[list[float]]:
        """The same as it is compared: logarithms, of exact metrics with log, too."""
        rows = self._of_every_sample(lambda sample: float(_mean(sample)) if sample else math.nan)
        logs = [metric.log and metric.exact for metric in self.definition.metrics]
        return [[math.log(mean) if log else mean for mean, log in zip(row, logs, strict=True)] for row in rows]

    def variances(self) -> list[list[float]]:
        """The sample variance of every option and metric, NaN with fewer than two measurements."""
        return self._of_every_sample(lambda sample: _squares(sample) / (len(sample) - 1) if len(sample) > 1 else math.nan)

    def _of_every_sample(self, function) -> list[list[float]]:
        shape = range(len(self.counted)), range(len(self.definition.metrics))
        return [[function(self.sample(arm, metric)) for metric in shape[1]] for arm in shape[0]]

    def _larger_is_better(self, values) -> list[float]:
        return [self._sign(metric) * value for metric, value in enumerate(values)]

    def widths(self) -> list[float]:
        scale, widths = self.definition.scale, []
        for metric, name in enumerate(self.definition.goals):
            if name in self.definition.exact:
                widths.append(0.0)
            elif scale == "raw":
                widths.append(1.0)
            elif scale == "noise":
                widths.append(self._noise([self.sample(arm, metric) for arm in range(len(self.counted))]))
            else:
                widths.append(scale[name])
        return widths

    @staticmethod
    def _noise(samples: list[list[float]]) -> float:
        freedom = sum(len(sample) - 1 for sample in samples if sample)
        means = [float(_mean(sample)) for sample in samples if sample]
        levels = sorted(set(means))
        squares = 0.0
        for sample in filter(None, samples):
            squares += _squares(sample)  # sum() would make up for what is rounded, from Python 3.12 on
        if squares > 0:
            return float(np.sqrt(squares / freedom))
        if len(levels) < 2:
            return 1.0
        if freedom == 0:
            return float(np.std(means)) or 1.0
        return min(b - a for a, b in itertools.pairwise(levels)) / float(np.sqrt(2 * (1 + freedom)))


class Twin(Literal):
    """What follows from the events of a study in rounds, the slow way."""

    def __init__(self, definition: Definition, events) -> None:
        self.definition = definition
        self.policy = definition.new_policy()
        self.counted: list[list[tuple[int, tuple]]] = [[] for _ in definition.options]
        self.waiting: list[list[tuple[int, tuple]]] = [[] for _ in definition.options]
        self.in_round: dict[int, int] = {}
        self.retired: set[int] = set()
        self._rescale()
        for event in events:
            self._apply(event)

    def _apply(self, event) -> None:
        if event.kind == "told":
            self.waiting[event.arm].append((event.number, tuple(event.measured)))
        elif event.kind == "voided":
            self._void(event.number, event.arm)
        elif event.kind == "corrected":
            self._correct(event.number, event.arm, tuple(event.measured))
        elif event.kind == "retired":
            self.retired.add(event.arm)
            self._rescale()
            self.policy.retire(event.arm)
        elif event.kind == "extended":
            self._rescale()
            self.policy.extend(event.details["budget"])
        while self._count_one():
            pass

    def _count_one(self) -> bool:
        for arm, waiting in enumerate(self.waiting):
            if waiting and self.policy.due[arm]:
                number, values = waiting.pop(0)
                self.counted[arm].append((number, values))
                self.in_round[number] = self.policy.snapshot().round
                if self.policy.due.sum() == 1:
                    self._rescale()
                row = self._larger_is_better(values)
                self.policy.tell([arm], [row], sums=np.array([self._sums(arm)]), squares=np.array([self._squares(arm)]))
                return True
        return False

    def _correct(self, number: int, arm: int, values: tuple) -> None:
        for place in (self.waiting[arm], self.counted[arm]):
            for at, (found, before) in enumerate(place):
                if found == number:
                    place[at] = (number, values)
                    if place is self.counted[arm]:
                        self._rescale()
                        rows = [self._larger_is_better(row) for row in (before, values)]
                        self.policy.correct(arm, *rows, sums=self._sums(arm), squares=self._squares(arm))

    def _void(self, number: int, arm: int) -> None:
        for place in (self.waiting[arm], self.counted[arm]):
            for entry in list(place):
                if entry[0] == number:
                    place.remove(entry)
                    if place is self.waiting[arm]:
                        return
                    again = self.in_round[number] == self.policy.snapshot().round and not self.policy.done
                    self._rescale()
                    self.policy.take_back(
                        arm,
                        self._larger_is_better(entry[1]),
                        due=again and arm not in self.retired,
                        sums=self._sums(arm) if self.counted[arm] else np.zeros(len(entry[1])),
                        squares=self._squares(arm) if self.counted[arm] else np.zeros(len(entry[1])),
                    )

    def _rescale(self) -> None:
        if self.definition.scale != "raw" or self.definition.exact:
            self.policy.rescale(self.widths())


def _mean(sample: list[float]) -> Fraction:
    return sum(map(Fraction, sample)) / len(sample)


def _squares(sample: list[float]) -> float:
    """The sum of squared deviations from the mean; infinite beyond all floats."""
    try:
        return float(sum((Fraction(value) - _mean(sample)) ** 2 for value in sample))
    except OverflowError:
        return math.inf


class DataTwin(Literal):
    """What follows from the events of a study without rounds, the slow way: the data in the end."""

    def __init__(self, definition: Definition, events) -> None:
        self.options, self.budget, self.retired = list(definition.options), definition.budget, set()
        rows: dict[int, tuple[int, tuple]] = {}
        self.definition = definition
        self.costs_by_option = dict(definition.cost) if isinstance(definition.cost, dict) else {}
        self.paid: dict[int, tuple[int, float]] = {}
        """By number: the option, and what the measurement has cost, whatever became of it."""
        for event in events:
            self._pay(event)
            if event.kind in ("told", "corrected"):
                rows[event.number] = (event.arm, tuple(event.measured))
            elif event.kind == "voided":
                del rows[event.number]
            elif event.kind == "retired":
                self.retired.add(event.arm)
            elif event.kind == "reinstated":
                self.retired.remove(event.arm)
            elif event.kind == "joined" and event.details["option"] not in self.options:
                self.options.append(event.details["option"])
                self.costs_by_option |= {event.details["option"]: event.details.get("cost")}
            elif event.kind == "extended":
                new = event.details["budget"]
                self.budget = max(self.budget, tuple(new) if isinstance(new, list) else new)
        self.counted = [[(n, row) for n, (arm, row) in rows.items() if arm == i] for i in range(len(self.options))]

    def _pay(self, event) -> None:
        """What a measurement has cost: as its option does, or as it says itself, in a metric or beside the metrics."""
        definition = self.definition
        if not isinstance(definition.budget, tuple) or event.kind not in ("told", "corrected", "failed"):
            return
        details, name = event.details or {}, definition.cost or definition.budget.unit
        if isinstance(definition.cost, dict):
            cost = self.costs_by_option[self.options[event.arm]]
        elif event.kind == "failed":
            cost = details.get("cost")
        elif name in definition.goals:
            cost = event.measured[list(definition.goals).index(name)]
        else:
            before = self.paid.get(event.number, (event.arm, None))[1]
            cost = before if event.kind == "corrected" else details.get("extra", {}).get(name)
        if cost is not None:
            self.paid[event.number] = event.arm, float(cost)

    @property
    def spent(self) -> float:
        """What all of it has cost."""
        return float(sum(Fraction(cost) for _, cost in self.paid.values()))

    def mean_costs(self) -> list[float] | None:
        """Of each option, what measurements have cost so far on average, or will; those without any are like the others."""
        if isinstance(self.definition.cost, dict):
            return [float(self.costs_by_option[option]) for option in self.options]
        own = [[Fraction(cost) for arm, cost in self.paid.values() if arm == i] for i in range(len(self.options))]
        known = [float(sum(costs) / len(costs)) for costs in own if costs]
        means = [float(sum(costs) / len(costs)) if costs else float(np.mean(known)) for costs in own] if known else None
        return means if means and any(means) else None

    @property
    def policy(self) -> pp.Policy:
        """The policy with the data, if no measurement lacks anything."""
        K, D = len(self.options), len(self.definition.metrics)
        policy = self.definition.choice.new(n_arms=K, n_objectives=D)
        policy.rescale(self.widths())
        policy.require(requirements_of(self.definition.metrics))
        if (costs := self.mean_costs()) is not None:
            policy.charge(np.maximum(costs, 0.01 * np.mean(costs)))
        for arm in self.retired:
            policy.retire(arm)
        some = [arm for arm in range(K) if self.counted[arm]]
        sums, squares = np.zeros((K, D)), np.zeros((K, D))
        for arm in some:
            sums[arm], squares[arm] = self._sums(arm), self._squares(arm)
        squares[:, self.definition.is_exact] = 0.0
        policy.begin([len(entries) for entries in self.counted], sums, squares)
        return policy


def replayed_answer(study: pp.Study) -> list[str]:
    """What the policy answers after a replay of the log of a finished study."""
    twin = (DataTwin if study.definition.choice.roundless else Twin)(study.definition, study.events())
    return [study.options[arm] for arm in twin.policy.recommend()]
