"""The ask/tell interface that every policy shares, written once; a policy adds what it does when a round is full."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretopick._arrays import (
    LARGEST_BUDGET,
    BoolArray,
    FloatArray,
    IntArray,
    check_arms,
    check_budget,
    check_integer,
    check_numbers,
    check_real,
    check_size,
    check_table,
    frozen,
    real,
)
from paretopick._words import short
from paretopick.errors import InvalidInput, NotDue, NotReady, PolicyDone
from paretopick.theory.dominance import optimal_rows
from paretopick.theory.gaps import optimal_and_gaps

STATE_FORMAT = 3
"""Version of the dictionaries of ``to_dict``; others are refused."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a policy knows at one moment; arrays are read-only copies with one entry or row per arm.

    ``active``, ``accepted``, ``rejected`` and ``retired`` are sorted and share out the arms. ``means`` is NaN where an arm has no
    pulls. ``gaps`` are empirical: of an arm that left, the gap with which it left; of the others, that of the last full round, or
    for APE-FB of the means as they are; NaN before the first. ``left_in`` is the round at whose end an arm left, 0 while it is
    active. ``pulls_left`` is the most that the policy may still ask for, None without limit.
    """

    round: int
    active: tuple[int, ...]
    accepted: tuple[int, ...]
    rejected: tuple[int, ...]
    retired: tuple[int, ...]
    counts: IntArray
    means: FloatArray
    gaps: FloatArray
    left_in: IntArray
    pulls_used: int
    pulls_left: int | None
    done: bool


class Policy(ABC):
    """A rule that says which arms to pull next, and in the end which are Pareto optimal.

    Policies are deterministic in what they are told: they hold no random generator and never see the truth. ``ask`` only reads;
    ``tell`` is the only writer, takes any part of what is due in any order, and closes the round when the last due pull arrives::

        policy = pp.policy("ege-sr", n_arms=20, n_objectives=3, budget=2500)
        while not policy.done:
            arms = policy.ask()
            policy.tell(arms, measure(arms))
        print(policy.recommend())

    Larger is better: negate what should be small. Objectives are compared with each other as they come, so give them in units in
    which differences of 1 matter equally, such as their noise. A measurement that failed is not told and stays due. To survive
    a crash, write ``json.dumps(policy.to_dict())`` to a file after each ``tell``, and start with ``pp.restore_policy``.

    Things that happen in a laboratory: ``take_back`` an observation that was wrong, ``retire`` an arm that is no longer to be
    had, ``rescale`` the objectives when their noise is known. Policies that are not ``amendable`` refuse all three.

    A new policy fills ``_due`` in ``__init__`` and in ``_close_round``, and joins ``POLICIES``; nothing due means done.
    """

    name: str = ""
    """What ``pp.policy`` was asked for: a name in ``POLICIES``."""
    options: Mapping[str, Any] = {}
    """The options that went with it, as JSON values."""

    # What it can do: traits of the class, which ``PolicyChoice`` reads without making a policy.
    amendable: ClassVar[bool] = True
    """Whether observations can be taken back, arms retired, and objectives rescaled or declared to be without noise."""
    extendable: ClassVar[bool] = False
    """Whether it can be given more budget later: whether it has an ``extend`` of its own."""
    stepwise: ClassVar[bool] = False
    """Whether it chooses pull after pull, or batch after batch, and plans no rounds ahead."""

    n_rounds: int | None = None
    """How many rounds are planned; None for those who plan none."""
    max_arms: int | None = None
    """How many optimal arms are enough; None if all are to be found."""

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int | None, planned: int | None) -> None:
        """Starts without data; ``planned`` is the most pulls the policy will ask for, None without limit."""
        self.n_arms, self.n_objectives = check_size(n_arms, n_objectives)
        self.budget = None if budget is None else check_budget(budget)
        self._planned = None if planned is None else check_budget(planned)
        self._round = 1
        self._counts: IntArray = np.zeros(self.n_arms, dtype=np.int64)
        self._sums: FloatArray = np.zeros((self.n_arms, self.n_objectives))
        self._due: IntArray = np.zeros(self.n_arms, dtype=np.int64)
        self._left_in: IntArray = np.zeros(self.n_arms, dtype=np.int64)
        self._accepted: BoolArray = np.zeros(self.n_arms, dtype=np.bool_)
        self._gaps: FloatArray = np.full(self.n_arms, np.nan)
        self._retired: BoolArray = np.zeros(self.n_arms, dtype=np.bool_)
        self._given_up: IntArray = np.zeros(self.n_arms, dtype=np.int64)
        """Pulls that were taken back and are not made again."""
        self._widths: FloatArray | None = None
        """What objectives are divided by before they are compared; 0 where they are without noise."""
        self._certain: FloatArray = np.zeros((self.n_arms, self.n_objectives))
        """What each arm has in the objectives without noise, which a sum divided by a count may miss by a rounding; else 0."""

    @classmethod
    def needs_complexity(cls, options: Mapping[str, Any]) -> bool:
        """Returns whether a policy with such options has to be told how hard the problem is, as ``complexity=``."""
        return False

    def __repr__(self) -> str:
        now = self.snapshot()
        left = "no limit" if now.pulls_left is None else f"{now.pulls_left} left"
        name = self.name or type(self).__name__
        return f"<{name}: {self.n_arms} arms, round {now.round}, {now.pulls_used} pulls used, {left}>"

    @abstractmethod
    def _close_round(self) -> None:
        """Called when nothing is due any more: decides on what is known, then fills ``_due``, or leaves it empty when done."""

    def ask(self, limit: int | None = None) -> IntArray:
        """Returns the arms still due in the open round, each repeated as often as it is due; empty when done.

        Args:
            limit: at most so many; by default all.
        """
        due = self._due
        if limit is not None:
            before = np.cumsum(due) - due
            due = np.clip(min(check_integer(limit, "limit", minimum=0), LARGEST_BUDGET) - before, 0, due)
        return np.repeat(np.arange(self.n_arms), due)

    def tell(self, arms: ArrayLike, values: ArrayLike, *, sums: FloatArray | None = None) -> None:
        """Records observations of arms that are due; all of them, or none if anything is wrong with one.

        Args:
            arms: arm numbers, any part of what ``ask`` returned, in any order.
            values: ``(len(arms), n_objectives)``, larger is better.
            sums: of all observations of each of these arms, these included, from whoever keeps them without rounding. Without,
                values are added one by one, and what is rounded off depends on their order.
        """
        arms = check_arms(arms, "arms", self.n_arms)
        if len(arms) == 0 and isinstance(values, Sized) and len(values) == 0:
            return
        values = check_table(values, "values", columns=self.n_objectives, remedy="leave a failed measurement out, it stays due")
        if len(values) != len(arms):
            raise InvalidInput(f"values has {len(values)} rows for {len(arms)} arms; give one row for each arm told.")
        if self.done:
            raise PolicyDone(
                f"arm {arms[0]} was told after the end: the policy is done after {self._counts.sum()} pulls; "
                "read the answer with recommend()."
            )
        told = np.bincount(arms, minlength=self.n_arms)
        if (told > self._due).any():
            arm = int(np.argmax(told > self._due))
            raise NotDue(
                f"arm {arm} was told {_times(told[arm])} and is due {_times(self._due[arm])}; "
                f"tell only what ask() returned, for now arms {_some(np.flatnonzero(self._due))}."
            )
        new = self._sums.copy()
        if sums is not None:
            new[arms] = sums
        else:
            with np.errstate(over="ignore"):
                np.add.at(new, arms, values)  # one by one in the order told, so that parts add up to the same float as the whole
        if not np.isfinite(new).all():
            arm, objective = np.argwhere(~np.isfinite(new))[0]
            raise InvalidInput(f"the sum of arm {arm} in objective {objective} overflows; scale the values down.")
        self._sums = new
        self._certain[arms] = np.where(self._exact, values, 0.0)
        self._counts += told
        self._due -= told
        if not self._due.any():
            with np.errstate(over="ignore"):  # finite means may be infinitely far apart
                self._close_round()

    @property
    def done(self) -> bool:
        """Whether nothing is due any more."""
        return not self._due.any()

    @property
    def stopped(self) -> bool:
        """Whether it ended because ``max_arms`` were found, so that nothing is known about the others."""
        return False

    def recommend(self) -> IntArray:
        """Returns the arms that look Pareto optimal, sorted: the answer when done, the best guess so far before that.

        The accepted arms, and of those still active the empirical Pareto set.
        """
        active = np.flatnonzero(self._left_in == 0)
        without = active[self._counts[active] == 0]
        if len(active) > 1 and len(without):
            raise NotReady(
                f"arms {_some(without)} have no pulls yet, so nothing can be said about them; "
                "recommend() answers once every arm was told at least once."
            )
        answer = self._accepted & ~self._retired
        answer[active] = len(active) == 1 or optimal_rows(self.means[active])
        return np.flatnonzero(answer)

    def take_back(self, arm: int, values: ArrayLike, *, due: bool, sums: ArrayLike | None = None) -> None:
        """Takes back one observation of an arm: it leaves the means from now on, and what was decided stands.

        Args:
            arm: its number.
            values: what was told; whether it was is not checked, since policies keep sums alone.
            sums: of the observations that are left, from whoever has kept them. Without, the observation is subtracted, and what
                was rounded off because of it is lost: all of the others, if it was beyond all measure.
            due: whether the pull is to be made again: yes, if the round that asked for it is still open. An active arm that has
                no other observation is due again in any case: nothing could be decided about it.
        """
        self._check_amendable("take_back()")
        arm = check_integer(arm, "arm", minimum=0, maximum=self.n_arms - 1)
        row = check_table(cast(Any, [values]), "values", columns=self.n_objectives, remedy="take back what was told")[0]
        active = self._left_in[arm] == 0
        if self._counts[arm] == 0:
            raise InvalidInput(f"arm {arm} has no observation that could be taken back.")
        if due and (self.done or not active):
            why = "the policy is done" if self.done else f"arm {arm} has left"
            raise InvalidInput(f"{why}, so its pull cannot be due again; say due=False.")
        left = self._sums[arm] - row if sums is None else check_numbers(sums, "sums")
        if left.shape != row.shape or not np.isfinite(left).all():
            raise InvalidInput(f"sums={short(sums)} must be {self.n_objectives} finite numbers: what is left of each objective.")
        self._counts[arm] -= 1
        self._sums[arm] = left if self._counts[arm] else 0.0
        self._certain[arm] *= self._counts[arm] > 0
        if due or (active and not self.done and self._counts[arm] == 0):
            self._due[arm] += 1
        else:
            self._give_up(arm)

    def _give_up(self, arm: int) -> None:
        """An observation was taken back and its pull is not made again."""
        self._given_up[arm] += 1

    def retire(self, arm: int) -> None:
        """Takes an arm out: it is never due again, is not in the answer, and nobody is compared with it from now on.

        What was decided stands: an arm that was rejected because of it stays rejected. Its pulls are not given to others.
        """
        self._check_amendable("retire()")
        arm = check_integer(arm, "arm", minimum=0, maximum=self.n_arms - 1)
        was_done = self.done
        self._retired[arm] = True
        if self._left_in[arm] == 0:
            self._left_in[arm] = max(self._round, 1)
        self._due[arm] = 0
        if self.done and not was_done:
            with np.errstate(over="ignore"):
                self._close_round()

    def rescale(self, widths: ArrayLike | None) -> None:
        """Sets what objectives are divided by in all decisions to come; None compares them as they are told.

        Args:
            widths: one number per objective, such as the standard deviations of the noise. 0 says that an objective is without
                noise, so that of every arm it is always told the same: a difference in it is beyond doubt, however small.
        """
        self._check_amendable("rescale()")
        if widths is None:
            self._widths, self._certain = None, np.zeros_like(self._certain)
            return
        row = check_numbers(widths, "widths")
        if row.shape != (self.n_objectives,) or not (np.isfinite(row) & (row >= 0)).all():
            raise InvalidInput(
                f"widths={short(widths)} must be {self.n_objectives} numbers, what each objective is divided by, "
                "or 0 where it is without noise."
            )
        if (row == 0).any():
            told = self._exact & (self._counts > 0)[:, None]
            self._certain = np.where(row == 0, np.where(told, self._certain, np.nan_to_num(self.means)), 0.0)
        else:
            self._certain = np.zeros_like(self._certain)
        self._widths = row

    def _check_amendable(self, what: str) -> None:
        if not self.amendable:
            name = self.name or type(self).__name__
            raise InvalidInput(f"{name} has no {what}; these have: {', '.join(_peers('amendable'))}.")

    def _optimal_and_gaps(self, arms: IntArray, points: FloatArray) -> tuple[BoolArray, FloatArray]:
        """The Pareto mask and the gaps of some arms on the scale of the widths, from their means or, equally often told, sums."""
        if self._widths is None:
            return optimal_and_gaps(points)
        points = np.where(self._exact, self._certain[arms], points / np.where(self._exact, 1.0, self._widths))
        return optimal_and_gaps(points, self._exact)

    @property
    def _exact(self) -> BoolArray:
        """Which objectives are without noise."""
        return np.zeros(self.n_objectives, dtype=np.bool_) if self._widths is None else self._widths == 0

    def extend(self, budget: int) -> None:
        """Allows more pulls, up to a new budget; what was asked for so far stands. Rounds that are planned ahead cannot grow."""
        name = self.name or type(self).__name__
        raise InvalidInput(
            f"the pulls of {name} are planned for its budget of {self.budget}; these can be given more later: "
            f"{', '.join(_peers('extendable'))}."
        )

    @property
    def counts(self) -> IntArray:
        """How often each arm was pulled."""
        return self._counts.copy()

    @property
    def means(self) -> FloatArray:
        """The empirical means ``(n_arms, n_objectives)``, NaN where an arm was never pulled."""
        with np.errstate(invalid="ignore"):
            means = self._sums / self._counts[:, None]
        return np.where(self._exact & (self._counts > 0)[:, None], self._certain, means)

    @property
    def round(self) -> int:
        """The number of the open round, or of the last one when done."""
        return self._round

    @property
    def due(self) -> IntArray:
        """How often each arm is still due in the open round."""
        return self._due.copy()

    def snapshot(self) -> Snapshot:
        """Returns a frozen record of what is known now."""
        active = self._left_in == 0
        used = int(self._counts.sum())
        left = 0 if self.done else None if self._planned is None else self._planned - used - int(self._given_up.sum())
        return Snapshot(
            round=self._round,
            active=_indices(active),
            accepted=_indices(self._accepted & ~self._retired),
            rejected=_indices(~active & ~self._accepted & ~self._retired),
            retired=_indices(self._retired),
            counts=frozen(self.counts),
            means=frozen(self.means),
            gaps=frozen(self._latest_gaps()),
            left_in=frozen(self._left_in.copy()),
            pulls_used=used,
            pulls_left=left,
            done=self.done,
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the whole state as plain JSON values; ``pp.restore_policy`` makes an identical policy of it.

        Counts and sums are the state, not the log: Python writes floats so that they are read back exactly.
        """
        if not self.name:
            raise InvalidInput(f"this {type(self).__name__} was not made by pp.policy(), so its options are not known.")
        return {
            "format": STATE_FORMAT,
            "policy": self.name,
            "n_arms": self.n_arms,
            "n_objectives": self.n_objectives,
            "budget": self.budget,
            "options": plain(self.options),
            "round": self._round,
            "counts": self._counts.tolist(),
            "sums": self._sums.tolist(),
            "due": self._due.tolist(),
            "left_in": self._left_in.tolist(),
            "accepted": self._accepted.tolist(),
            "retired": self._retired.tolist(),
            "given_up": self._given_up.tolist(),
            "certain": self._certain.tolist(),
            "widths": None if self._widths is None else self._widths.tolist(),
            "gaps": [None if np.isnan(gap) else gap if np.isfinite(gap) else "inf" for gap in self._gaps.tolist()],
            "more": self._more_state(),
        }

    def _load(self, state: Mapping[str, Any]) -> None:
        """Takes over the state of ``to_dict``; the policy itself was made from the same options."""
        self._round = check_integer(state["round"], "round", minimum=0)
        self._counts = _like(self._counts, state["counts"], "counts")
        self._sums = _like(self._sums, state["sums"], "sums")
        self._due = _like(self._due, state["due"], "due")
        self._left_in = _like(self._left_in, state["left_in"], "left_in")
        self._accepted = _like(self._accepted, state["accepted"], "accepted")
        self._retired = _like(self._retired, state["retired"], "retired")
        self._given_up = _like(self._given_up, state["given_up"], "given_up")
        if self.amendable:
            self.rescale(state["widths"])
        self._certain = _like(self._certain, state["certain"], "values without noise")
        self._gaps = np.array([np.nan if gap is None else np.inf if gap == "inf" else real(gap) for gap in state["gaps"]])
        if not (np.isfinite(self._sums).all() and np.isfinite(self._certain).all()) or self._gaps.shape != (self.n_arms,):
            raise InvalidInput("the saved sums or gaps are not one finite number for each arm and objective.")
        asked = int(self._counts.sum() + self._due.sum() + self._given_up.sum())
        if self._planned is not None and asked > self._planned:
            raise InvalidInput(f"the saved counts and due pulls are {asked} together, and the budget allows {self._planned}.")
        if (
            (self._left_in > max(self._round, 1)).any()
            or (self._retired & (self._left_in == 0)).any()
            or ((self._left_in == 0) & self._accepted).any()
            or self._due[self._left_in > 0].any()
        ):
            raise InvalidInput("the saved rounds in which arms left do not fit the saved round.")
        self._load_more(state["more"])

    def _latest_gaps(self) -> FloatArray:
        return self._gaps.copy()

    def _more_state(self) -> dict[str, Any]:
        """What a policy knows beyond the fields of this class, as JSON values."""
        return {}

    def _load_more(self, state: Mapping[str, Any]) -> None:  # noqa: B027 -- most policies have nothing more to load
        """Takes over ``_more_state`` and rebuilds whatever is derived from the fields of this class."""


def plain(value: Any, name: str = "option") -> Any:
    """Returns an option as new JSON values: numbers of any kind, lists, mappings; infinity, which JSON lacks, as a text."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(entry, name) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist(), name)
    if isinstance(value, Iterable):
        return [plain(entry, name) for entry in value]
    if isinstance(value, numbers.Integral):
        return int(value)
    number = check_real(value, name, infinite=True)
    return number if np.isfinite(number) else str(number)


def _peers(trait: str) -> list[str]:
    """The policies that can do what this one cannot."""
    from paretopick.policies.choices import policies_with  # which imports every policy, and thereby this module

    return policies_with(trait)


def _like(mine: NDArray[Any], value: Any, name: str) -> NDArray[Any]:
    """A saved array of the shape and the type of mine, with whole numbers that are whole and not negative."""
    given = np.array(value)
    if given.shape != mine.shape:
        raise InvalidInput(f"the saved {name} have shape {given.shape}; expected {mine.shape}.")
    if given.dtype.kind not in ("b" if mine.dtype.kind == "b" else "iuf"):
        raise TypeError(f"the saved {name} are {short(value)}")
    if mine.dtype == np.int64 and not ((given >= 0) & (given <= LARGEST_BUDGET) & (given == np.floor(given))).all():
        raise InvalidInput(f"the saved {name} are {short(value)}; expected whole numbers, none negative.")
    return given.astype(mine.dtype)


def _indices(mask: BoolArray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(mask).tolist())


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def _some(arms: IntArray) -> str:
    return ", ".join(map(str, arms[:10])) + (f" and {len(arms) - 10} more" if len(arms) > 10 else "")
