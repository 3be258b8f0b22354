"""A study replayed literally: one event after the other, all measurements in lists, the noise from its definition."""

import itertools
import math

import numpy as np

import paretopick as pp
from paretopick.studies.definition import Definition


class Twin:
    """What follows from the events of a study, the slow way."""

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
                self.policy.tell([arm], [self._larger_is_better(values)])
                return True
        return False

    def _void(self, number: int, arm: int) -> None:
        for place in (self.waiting[arm], self.counted[arm]):
            for entry in list(place):
                if entry[0] == number:
                    place.remove(entry)
                    if place is self.waiting[arm]:
                        return
                    again = self.in_round[number] == self.policy.snapshot().round and not self.policy.done
                    self._rescale()
                    rest = [self._larger_is_better(values) for _, values in self.counted[arm]]
                    self.policy.take_back(
                        arm,
                        self._larger_is_better(entry[1]),
                        due=again and arm not in self.retired,
                        sums=[math.fsum(column) for column in zip(*rest, strict=True)] if rest else np.zeros(len(entry[1])),
                    )

    def _larger_is_better(self, values) -> list[float]:
        return [value if goal == "max" else -value for value, goal in zip(values, self.definition.goals.values(), strict=True)]

    def _rescale(self) -> None:
        if self.definition.scale != "raw" or self.definition.exact:
            self.policy.rescale(self.widths())

    def widths(self) -> list[float]:
        scale, widths = self.definition.scale, []
        for metric, name in enumerate(self.definition.goals):
            if name in self.definition.exact:
                widths.append(0.0)
            elif scale == "raw":
                widths.append(1.0)
            elif scale == "noise":
                widths.append(self._noise([[values[metric] for _, values in entries] for entries in self.counted]))
            else:
                widths.append(scale[name])
        return widths

    @staticmethod
    def _noise(samples: list[list[float]]) -> float:
        freedom = sum(len(sample) - 1 for sample in samples if sample)
        levels = sorted({float(np.mean(sample)) for sample in samples if sample})
        squares = sum(sum((x - np.mean(sample)) ** 2 for x in sample) for sample in samples if len(set(sample)) > 1)
        if squares > 0:
            return float(np.sqrt(squares / freedom))
        if len(levels) < 2:
            return 1.0
        if freedom == 0:
            return float(np.std([np.mean(sample) for sample in samples if sample])) or 1.0
        return min(b - a for a, b in itertools.pairwise(levels)) / float(np.sqrt(2 * (1 + freedom)))


def replayed_answer(study: pp.Study) -> list[str]:
    """The answer of a replay of the log of a finished study."""
    return [study.options[arm] for arm in Twin(study.definition, study.events()).policy.recommend()]
