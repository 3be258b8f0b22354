"""The state of a study whose policy needs no rounds: its data, and nothing else.

A measurement that is taken back, corrected, late or brought along is a change of the data. The order in which things happened
leaves no trace: what is asked for next, and the answer, follow from the data and from what is being measured.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paretopick._arrays import LARGEST_BUDGET, FloatArray, IntArray, check_budget, check_integer
from paretopick.errors import InvalidInput, LogDamaged
from paretopick.events import Event, Row
from paretopick.policies.anytime import LARGEST_BATCH, Anytime
from paretopick.policies.paired_doubt import PairedDoubt
from paretopick.studies.aims import check_aim, last_look
from paretopick.studies.base_state import State, detail, unknown_kind
from paretopick.studies.blocks import Blocks
from paretopick.studies.budgets import Amount, Spent, budget_of
from paretopick.studies.definition import Definition
from paretopick.studies.payments import Payments
from paretopick.studies.repeats import Repeats, block_of
from paretopick.studies.sums import Sums

FEW = 8
"""Up to so many measurements in a row are added one by one."""

HARMLESS = ("failed", "extended", "described", "imported", "released")
"""Events after which the data say the same about the options as before."""


class Roundless(State):
    """The data of a study, and what follows from them."""

    def __init__(self, definition: Definition) -> None:
        super().__init__(definition)
        self._budget = 0 if isinstance(definition.budget, Amount) else definition.budget
        """In measurements."""
        self._payments: Payments | None = None
        """Where the budget is in a unit."""
        if isinstance(definition.budget, Amount) and definition.costs is not None:
            self._payments = Payments(definition.budget, definition.costs, len(definition.options))
        self._made: Anytime | None = None
        """The policy with the data as they were when somebody asked."""
        self._stale = True
        """Whether they have changed since."""
        if definition.pairing is not None:
            self.blocks = Blocks(len(definition.options), len(definition.metrics))

    @property
    def policy(self) -> Anytime:
        """The policy, with the data as they are."""
        definition = self.definition
        if self._made is None or self._made.n_arms != len(definition.options):
            choice = definition.choice if self.blocks is None else definition.choice.with_default(paired=True)
            made = choice.new(n_arms=len(definition.options), n_objectives=len(definition.metrics))
            assert isinstance(made, Anytime)
            self._made, self._stale = made, True
        if self._stale:
            self._made.rescale(self.widths())
            self._made.require(definition.requirements)
            counts, sums, squares = numbers_for_policies(self)
            gone = np.isin(np.arange(len(counts)), list(self.retired))
            means = np.nan_to_num(self.compared_means() * definition.signs) + 0.0
            self._made.restate(counts, sums, squares if self._made.keeps_squares else None, means=means, retired=gone)
            if self.blocks is not None and isinstance(self._made, PairedDoubt):
                every = range(len(counts))
                numbers = np.array(self.blocks.names(every), dtype=np.int64) if definition.pairing == "repeat" else None
                first = np.array([repeats.unnumbered for repeats in self.repeats], dtype=np.int64)
                self._made.pair(self.blocks.blocked(every).times(definition.signs), numbers, first)
            if self._payments is not None:
                self._made.charge(self._payments.charges())
            self._stale = False
        return self._made

    @property
    def budget(self) -> int:
        """The most measurements that are asked for; those that were brought along count, and may be more.

        Where the budget is in a unit it is an estimate, and no less than the first measurements of every option.
        """
        return self._budget if self._payments is None else max(self.planned, self._first)

    @property
    def _first(self) -> int:
        """Measurements that come before all others: so many of every option."""
        return self.policy.initial * len(self.present)

    @property
    def spent(self) -> Spent | None:
        """How much of the budget is spent, where that is in a unit."""
        return None if self._payments is None else self._payments.spent

    @property
    def done(self) -> bool:
        """Whether the budget is spent, or no option is left."""
        is_spent = self.used >= self._budget if self._payments is None else self._payments.spent.reached
        return is_spent or not self.present

    @property
    def round(self) -> int:
        """There is but one."""
        return 1

    @property
    def wanted(self) -> int:
        """How many measurements the budget still has, those that are being made included; about, where it is in a unit."""
        if self._payments is None or not self.present:
            return max(self._budget - self.used, 0) if self.present else 0
        left = self._payments.measurements_left(self.present)
        return max(self._first - self.used, 1) if left is None else left

    @property
    def planned(self) -> int:
        """How many measurements will count in the end; about, where the budget is in a unit."""
        return self.used + self.wanted

    def proposals(self, n: int, out: Mapping[int, int]) -> list[int]:
        """Returns the options to measure next: those of which one more measurement is expected to help most."""
        paid = self._payments
        n = min(n, LARGEST_BATCH, self.wanted - sum(out.values()) if paid is None else paid.most(n, out, unknown=self._first))
        if n <= 0 or self.done:
            return []
        being_made = np.zeros(len(self.definition.options), dtype=np.int64)
        for arm, count in out.items():
            being_made[arm] = count
        arms: list[int] = self.policy.next_arms(n, out=being_made).tolist()
        return arms if paid is None else paid.affordable(arms, out, unknown=self._first)

    def due_alike(self, out: Mapping[int, int]) -> list[int]:
        """Returns the options of which the fewest first measurements were made, if some are still missing."""
        counts = self.counts
        for arm, count in out.items():
            counts[arm] += count
        fewest = min((int(counts[arm]) for arm in self.present), default=0)
        return [arm for arm in self.present if counts[arm] == fewest] if fewest < self.policy.initial else []

    def room_for(self, arm: int, out: Mapping[int, int]) -> int:
        """Returns what is left of the budget beside what is being made; any number where that is in a unit, until it is spent."""
        return self.wanted - sum(out.values()) if self._payments is None else LARGEST_BUDGET

    def excess(self, out: Mapping[int, int]) -> dict[int, int]:
        """Returns how many measurements are being made of options that were retired, or beyond the budget."""
        excess = {arm: count for arm, count in out.items() if arm in self.retired}
        if self._payments is not None and not self.done:
            return excess
        over = sum(out.values()) - sum(excess.values()) - self.wanted
        for arm in sorted(set(out) - set(excess), key=lambda arm: (-out[arm], arm)):
            if over > 0:
                excess[arm] = min(over, out[arm])
                over -= excess[arm]
        return excess

    # What happens.

    def apply(self, events: Sequence[Event]) -> None:
        """Takes the next events of the log into account."""
        for start, stop in _runs(events):
            if events[start].kind == "told":
                self._told(events[start:stop])
            else:
                self._happened(events[start])
        if events:
            self.position, self._stale = events[-1].position, True

    def _told(self, events: Sequence[Event]) -> None:
        """Measurements that follow each other. The data are remembered as they were when it was last time to look at them."""
        due = max(last_look(self.used + len(events)) - self.used, 0) if self.aim.is_set else 0
        if due:
            self._add(events[:due])
            self.at_last_look = None
        if rest := events[due:]:
            if self.aim.is_set and self.at_last_look is None:
                self.at_last_look = rest[0].position - 1, copy.deepcopy(self.sums), copy.deepcopy(self.blocks)
            self._add(rest)

    def _add(self, events: Sequence[Event]) -> None:
        if len(events) > FEW:
            self._told_at_once(events)
            return
        for event in events:
            _, arm, values = self._measured(event)
            self._pay(event)
            self.sums.add(arm, values)
            self._take_repeat(event, arm)
            self._into_block(event, arm, values)

    def _told_at_once(self, events: Sequence[Event]) -> None:
        """Many measurements: the same as one after the other, sooner."""
        told = [self._measured(event) for event in events]
        for event in events if self._payments is not None else ():
            self._pay(event)
        complete = [(arm, values) for _, arm, values in told if None not in values]
        if complete:
            arms, rows = zip(*complete, strict=True)
            self.sums.add_many(np.array(arms, dtype=np.int64), np.array(rows, dtype=np.float64))
        for _, arm, values in told:
            if None in values:
                self.sums.add(arm, values)
        for event, (_, arm, values) in zip(events, told, strict=True):
            self._take_repeat(event, arm)
            self._into_block(event, arm, values)

    def _into_block(self, event: Event, arm: int, values: Row) -> None:
        """Puts a measurement to those that it shares something with."""
        if self.blocks is not None:
            try:
                self.blocks.add(arm, block_of(event, self.definition.pairing), values)
            except InvalidInput as problem:
                raise LogDamaged(f"event {event.position} of the log ({event.kind}): {problem}") from None

    def _happened(self, event: Event) -> None:
        """Whatever is not a measurement."""
        if event.kind not in HARMLESS:
            self.at_last_look = None
        match event.kind:
            case "voided":
                _, arm, values = self._measured(event)
                self._take_out(event, arm, values)
                self._free_repeat(event, arm)
            case "corrected":
                _, arm, values = self._measured(event)
                self._take_out(event, arm, self._row(event, detail(event, "before")))
                self._pay(event)
                self.sums.add(arm, values)
                self._into_block(event, arm, values)
            case "failed":
                self._pay(event)
                self.failed += 1
            case "retired":
                self.retired[self._arm(event)] = str(detail(event, "why"))
            case "reinstated":
                self.retired.pop(self._arm(event), None)
            case "joined":
                self._join(str(detail(event, "option")), detail(event, "settings"), (event.details or {}).get("cost"))
            case "extended":
                self._extend(event)
            case "aimed":
                self._aim_at(event.details or {})
            case "described":
                self._describe(event)
            case "imported" | "released":
                pass
            case _:
                raise unknown_kind(event)

    def _pay(self, event: Event) -> None:
        """Takes in what a measurement has cost that was told, corrected, or failed."""
        if self._payments is None:
            return
        try:
            if event.kind == "told":
                self._payments.told(event)
            elif event.kind == "failed":
                self._arm(event)
                self._payments.failed(event)
            else:
                self._payments.corrected(event, detail(event, "before"))
        except InvalidInput as problem:
            raise LogDamaged(f"event {event.position} of the log ({event.kind}) cannot be paid for: {problem}") from None

    def _extend(self, event: Event) -> None:
        budget = budget_of(detail(event, "budget"))
        if isinstance(budget, Amount) != (self._payments is not None):
            raise LogDamaged(f"event {event.position} of the log extends the budget to {budget}, which is in another unit.")
        if self._payments is not None and isinstance(budget, Amount):
            self._payments.extend(budget)
        elif not isinstance(budget, Amount):
            self._budget = max(self._budget, budget)

    def _aim_at(self, told: Mapping[str, Any]) -> None:
        other = check_aim(told.get("confidence"), told.get("resolution"), self.definition.metrics)
        self.aims.append(self.aim.with_other(other))

    def _take_out(self, event: Event, arm: int, values: Sequence[float | None]) -> None:
        if not self.sums.counts[arm]:
            raise LogDamaged(f"event {event.position} of the log takes back a measurement of an option that has none.")
        self.sums.remove(arm, values)
        pairing = self.definition.pairing
        if self.blocks is not None and not self.blocks.remove(arm, block_of(event, pairing), values):
            raise LogDamaged(
                f"event {event.position} of the log takes back a measurement of block {block_of(event, pairing)!r}, and there is "
                "none with these values."
            )

    def _join(self, option: str, settings: Mapping[str, Any], cost: float | None = None) -> None:
        self.definition = self.definition.with_option(option, settings, cost)
        self.sums.add_option()
        self.repeats.append(Repeats())
        if self.blocks is not None:
            self.blocks.add_option()
        if self._payments is not None and self.definition.costs is not None:
            self._payments.add_option(self.definition.costs)

    # Checkpoints.

    def to_dict(self) -> dict[str, Any]:
        """Returns the state as JSON values, from which ``restore_state`` goes on."""
        n = len(self._base.options)
        aims = {"aims": [aim.to_dict() for aim in self.aims[1:]]} if len(self.aims) > 1 else {}
        looked: dict[str, Any] = {}
        if self.at_last_look is not None:
            position, sums, blocks = self.at_last_look
            looked = {"looked": [position, sums.to_list(), *([] if blocks is None else [blocks.to_list()])]}
        shared = {} if self.blocks is None else {"blocks": self.blocks.to_list()}
        paid = {"budget": self._budget} if self._payments is None else self._payments.to_dict()
        joined = zip(self.definition.options[n:], self.definition.settings[n:], strict=True)
        rows = [[option, dict(row), *self._cost_of(option)] for option, row in joined]
        return self._common() | aims | looked | paid | shared | {"joined": rows}

    def _cost_of(self, option: str) -> list[float]:
        """What a measurement of an option costs, if that is given by option."""
        return [self.definition.cost[option]] if isinstance(self.definition.cost, Mapping) else []

    def _load(self, saved: Mapping[str, Any]) -> None:
        for joined in saved["joined"]:
            self._join(*joined)
        if self._payments is None:
            self._budget = check_budget(saved["budget"], minimum=self._budget)
        else:
            self._payments.load(saved)
        for aim in saved.get("aims", ()):
            self._aim_at(aim)
        self._load_common(saved)
        if "looked" in saved:
            position = check_integer(saved["looked"][0], "position", minimum=0, maximum=self.position)
            sums = Sums.from_list(saved["looked"][1], len(self.counts), len(self.definition.metrics))
            self.at_last_look = position, sums, self._read_blocks(saved["looked"][2:], sums)
        self.blocks = self._read_blocks([saved["blocks"]] if "blocks" in saved else [], self.sums)
        if [len(repeats) for repeats in self.repeats] != self.sums.counts.tolist():
            raise ValueError("there are repeats of other measurements than there are sums of")
        if self.used + self.failed + len(saved["joined"]) > self.position:
            raise ValueError(f"there are more measurements than its {self.position} events")

    def _read_blocks(self, saved: Sequence[Any], sums: Sums) -> Blocks | None:
        """What ``to_dict`` said about the measurements that have some sums."""
        if len(saved) != (self.blocks is not None):
            raise ValueError(f"blocks are there {len(saved)} times, and the pairing is {self.definition.pairing!r}")
        if not saved:
            return None
        blocks = Blocks.from_list(saved[0], len(sums.counts), len(self.definition.metrics))
        if not np.array_equal(blocks.counts, sums.counts):
            raise ValueError("there are blocks of other measurements than there are sums of")
        return blocks


def numbers_for_policies(state: State) -> tuple[IntArray, FloatArray, FloatArray]:
    """Returns how often each option was measured, the sums, larger is better, and the squared deviations from the means.

    Policies know one count for all metrics. Where measurements lack a metric, its mean counts for as many as there are of
    the others, and its squared deviations are those that give the mean the variance which it has. An option that lacks a
    metric altogether is taken to be like the others in it, give or take what lies between them.
    """
    every, stored = range(len(state.definition.options)), state.sums
    sums, squares = state.signed_totals(every), np.where(state.definition.is_exact, 0.0, stored.squares())
    counts, known = stored.counts, stored.known
    if not stored.complete:
        n = counts[:, None].astype(np.float64)
        means, spread = _without_gaps(sums, squares, known)
        sums = np.where(known == n, sums, means * n)
        squares = np.where(known == n, squares, spread * np.maximum(n - 1, 0) * n / np.maximum(known, 1))
    return counts.copy(), sums, squares


def _without_gaps(sums: FloatArray, squares: FloatArray, known: IntArray) -> tuple[FloatArray, FloatArray]:
    """The mean of every option and metric, and the variance of a measurement, with guesses where there are no values."""
    means = np.where(known > 0, sums / np.maximum(known, 1), np.nan)
    own = np.where(known > 1, squares / np.maximum(known - 1, 1), np.nan)
    for column, variances in zip(means.T, own.T, strict=True):
        seen = ~np.isnan(column)
        typical = float(np.mean(variances[~np.isnan(variances)])) if (~np.isnan(variances)).any() else 0.0
        variances[np.isnan(variances)] = typical
        variances[~seen] = typical + (float(np.var(column[seen])) if seen.any() else 0.0)
        column[~seen] = float(np.mean(column[seen])) if seen.any() else 0.0
    return means, own


def _runs(events: Sequence[Event]) -> list[tuple[int, int]]:
    """Where measurements that follow each other begin and end, and whatever else comes between them, one by one."""
    runs: list[tuple[int, int]] = []
    for place, event in enumerate(events):
        if runs and event.kind == "told" and events[place - 1].kind == "told":
            runs[-1] = (runs[-1][0], place + 1)
        else:
            runs.append((place, place + 1))
    return runs
