"""The ask/tell interface that every policy shares, written once; a policy adds what it does when a round is full."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    check_arms,
    check_integer,
    check_table,
    frozen,
    real,
)
from paretopick.errors import InvalidInput, NotDue, NotReady, PolicyDone
from paretopick.policies.observations import longer
from paretopick.policies.rounds import Rounds
from paretopick.policies.saved import array_like, plain
from paretopick.theory.dominance import optimal_rows
from paretopick.theory.requirements import Requirements

STATE_FORMAT = 3
"""Version of the dictionaries of ``to_dict``; others are refused."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a policy knows at one moment; arrays are read-only copies with one entry or row per arm.

    ``active``, ``accepted``, ``rejected`` and ``retired`` are sorted and share out the arms. ``means`` is NaN where an arm has no
    pulls. ``gaps`` are empirical: of an arm that left, the gap with which it left; of the others, that of the last full round, or
    for APE-FB of the means as they are; NaN before the first. ``doubt`` is how likely the status of each arm is wrong, from 0
    to 1; NaN before the first full round, and for policies that do not know. ``left_in`` is the round at whose end an arm left,
    0 while it is active. ``pulls_left`` is the most that the policy may still ask for, None without limit.

    >>> from paretopick.policies import policy
    >>> halving = policy("ege-sh", n_arms=4, n_objectives=1, budget=16)
    >>> halving.tell(halving.ask(), [[0.1], [0.1], [0.4], [0.4], [0.2], [0.2], [0.3], [0.3]])
    >>> now = halving.snapshot()
    >>> now.round, now.active, now.rejected, now.pulls_left
    (2, (1, 3), (0, 2), 8)
    """

    round: int
    active: tuple[int, ...]
    accepted: tuple[int, ...]
    rejected: tuple[int, ...]
    retired: tuple[int, ...]
    counts: IntArray
    means: FloatArray
    gaps: FloatArray
    doubt: FloatArray
    left_in: IntArray
    pulls_used: int
    pulls_left: int | None
    done: bool


class Policy(Rounds, ABC):
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
    had, ``rescale`` the objectives when their noise is known. Policies that are not ``amendable`` refuse all three. Those
    that are ``growable`` take arms that turn up later, ``add_arm``, and data that were there before, ``begin``.

    A policy of your own is a subclass with a method ``choose``, which returns the arms to pull next; ``pp.simulate`` takes the
    class. Everything else is here: pulls are counted, the budget is kept, and the answer is the empirical Pareto set, unless it
    says ``accept``, ``reject`` or has a ``recommend`` of its own. docs/own-policies.md builds two.

    >>> class FewestPulls(Policy):
    ...     def choose(self):
    ...         return [self.counts.argmin()]
    >>> mine = FewestPulls(n_arms=3, n_objectives=1, budget=4)
    >>> while not mine.done:
    ...     arms = mine.ask()
    ...     mine.tell(arms, [[[0.1], [0.4], [0.2]][arm] for arm in arms])
    >>> mine.counts, mine.recommend()
    (array([2, 1, 1]), array([1]))
    """

    name: str = ""
    """What ``pp.policy`` was asked for: a name in ``POLICIES``."""
    options: Mapping[str, Any] = {}
    """The options that went with it, as JSON values."""

    # What it can do: traits of the class, which ``PolicyChoice`` reads without making a policy.
    amendable: ClassVar[bool] = False
    """Whether observations can be taken back, arms retired, and objectives rescaled or declared to be without noise."""
    extendable: ClassVar[bool] = False
    """Whether it can be given more budget later: whether it has an ``extend`` of its own."""
    growable: ClassVar[bool] = False
    """Whether arms can be added later, and data be given to start from: whether it has ``add_arm`` and ``begin`` of its own."""
    roundless: ClassVar[bool] = False
    """Whether its next pull and its answer are functions of the data alone: whether it has ``next_arms`` and ``restate``."""
    stepwise: ClassVar[bool] = False
    """Whether it chooses pull after pull, or batch after batch, and plans no rounds ahead."""

    knows_margins: ClassVar[bool] = False
    """Whether it regards margins and limits: whether it has ``require`` of its own."""

    n_rounds: int | None = None
    """How many rounds are planned; None for those who plan none."""
    max_arms: int | None = None
    """How many optimal arms are enough; None if all are to be found."""

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int | None = None, planned: int | None = None) -> None:
        """Starts without data; ``planned`` is the most pulls that it will ask for, by default the budget, None without limit."""
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget, planned=planned)
        self._gaps: FloatArray = np.full(self.n_arms, np.nan)
        self._retired: BoolArray = np.zeros(self.n_arms, dtype=np.bool_)
        self._added = 0
        """Arms that it did not start with, the last ones."""

    @classmethod
    def needs_complexity(cls, options: Mapping[str, Any]) -> bool:
        """Returns whether a policy with such options has to be told how hard the problem is, as ``complexity=``."""
        return False

    def __repr__(self) -> str:
        now = self.snapshot()
        left = "no limit" if now.pulls_left is None else f"{now.pulls_left} left"
        return f"<{self._shown_name}: {self.n_arms} arms, round {now.round}, {now.pulls_used} pulls used, {left}>"

    def tell(
        self, arms: ArrayLike, values: ArrayLike, *, sums: FloatArray | None = None, squares: FloatArray | None = None
    ) -> None:
        """Records observations of arms that are due; all of them, or none if anything is wrong with one.

        Args:
            arms: arm numbers, any part of what ``ask`` returned, in any order.
            values: ``(len(arms), n_objectives)``, larger is better.
            sums: of all observations of each of these arms, these included, from whoever keeps them without rounding. Without,
                values are added one by one, and what is rounded off depends on their order.
            squares: of the deviations of all observations of each of these arms from its mean, likewise; for policies that keep
                them.
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
        self._add(arms, values, told, sums, squares)
        self._due -= told
        if not self._due.any():
            self._end_round()

    @property
    def stopped(self) -> bool:
        """Whether it ended because ``max_arms`` were found, so that nothing is known about the others."""
        return False

    def recommend(self) -> IntArray:
        """Returns the arms that look Pareto optimal, sorted: the answer when done, the best guess so far before that.

        The accepted arms, and of those still active the empirical Pareto set.
        """
        active = self.active
        if len(active) > 1:
            self._check_told(active)
        answer = self._accepted & ~self._retired
        answer[active] = len(active) == 1 or optimal_rows(self.means[active])
        return np.flatnonzero(answer)

    def _check_told(self, arms: IntArray) -> None:
        """Refuses an answer as long as some of the arms that it is about have no pulls."""
        without = arms[self._counts[arms] == 0]
        if len(without):
            raise NotReady(
                f"arms {_some(without)} have no pulls yet, so nothing can be said about them; "
                "recommend() answers once every arm was told at least once."
            )

    def take_back(
        self, arm: int, values: ArrayLike, *, due: bool, sums: ArrayLike | None = None, squares: ArrayLike | None = None
    ) -> None:
        """Takes back one observation of an arm: it leaves the means from now on, and what was decided stands.

        Args:
            arm: its number.
            values: what was told; whether it was is not checked, since policies keep sums alone.
            sums: of the observations that are left, from whoever has kept them. Without, the observation is subtracted, and what
                was rounded off because of it is lost: all of the others, if it was beyond all measure.
            squares: of the deviations of those from their mean, likewise; for policies that keep them.
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
        self._remove(arm, row, sums, squares)
        if due or (active and not self.done and self._counts[arm] == 0):
            self._due[arm] += 1
        else:
            self._give_up(arm)

    def correct(
        self,
        arm: int,
        before: ArrayLike,
        values: ArrayLike,
        *,
        sums: ArrayLike | None = None,
        squares: ArrayLike | None = None,
    ) -> None:
        """Puts other values in the place of one observation of an arm, in the means from now on; what was decided stands.

        Args:
            arm: its number.
            before: what was told; whether it was is not checked, since policies keep sums alone.
            values: what should have been told.
            sums: of all observations, these included; and ``squares``, as in ``take_back``.
            squares: of their deviations from their mean, likewise.
        """
        self._check_amendable("correct()")
        arm = check_integer(arm, "arm", minimum=0, maximum=self.n_arms - 1)
        old, new = check_table(cast(Any, [before, values]), "values", columns=self.n_objectives, remedy="correct what was told")
        if self._counts[arm] == 0:
            raise InvalidInput(f"arm {arm} has no observation that could be corrected.")
        kept = self._counts[arm], self._sums[arm].copy(), self._squares[arm : arm + 1].copy(), self._certain[arm].copy()
        try:
            self._remove(arm, old, None if sums is None else np.asarray(sums) - new, None)
            self._add(
                np.array([arm]),
                new[None],
                np.bincount([arm], minlength=self.n_arms),
                None if sums is None else check_table(cast(Any, [sums]), "sums", columns=self.n_objectives),
                None if squares is None else check_table(cast(Any, [squares]), "squares", columns=self.n_objectives),
            )
        except InvalidInput:
            self._counts[arm], self._sums[arm], self._squares[arm : arm + 1], self._certain[arm] = kept
            raise

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
            self._end_round()

    def rescale(self, widths: ArrayLike | None) -> None:
        """Sets what objectives are divided by in all decisions to come; None compares them as they are told.

        Args:
            widths: one number per objective, such as the standard deviations of the noise. 0 says that an objective is without
                noise, so that of every arm it is always told the same: a difference in it is beyond doubt, however small.
        """
        self._check_amendable("rescale()")
        self._rescale(widths)

    def require(self, required: Requirements) -> None:
        """Says which differences matter and which limits arms must keep, in all decisions to come.

        Args:
            required: in the units in which values are told.
        """
        raise self._lacks("require()", "knows_margins")

    def _check_amendable(self, what: str) -> None:
        if not self.amendable:
            raise self._lacks(what, "amendable")

    def _lacks(self, what: str, trait: str) -> InvalidInput:
        """The error that this policy cannot do something, and which ones can."""
        return InvalidInput(f"{self._shown_name} has no {what}; these have: {', '.join(_peers(trait))}.")

    @property
    def _shown_name(self) -> str:
        return self.name or type(self).__name__

    def extend(self, budget: int) -> None:
        """Allows more pulls, up to a new budget; what was asked for so far stands. Rounds that are planned ahead cannot grow."""
        raise InvalidInput(
            f"the pulls of {self._shown_name} are planned for its budget of {self.budget}; these can be given more later: "
            f"{', '.join(_peers('extendable'))}."
        )

    def add_arm(self) -> int:
        """Adds an arm and returns its number, the next one. Rounds that are planned ahead have no pulls for it."""
        raise self._lacks("add_arm()", "growable")

    def begin(self, counts: ArrayLike, sums: ArrayLike, squares: ArrayLike | None = None) -> None:
        """Starts from data that were collected before. Rounds that are planned ahead have no place for them."""
        raise self._lacks("begin()", "growable")

    def _grow(self, more: int) -> None:
        """Makes room for so many more arms, of which nothing is known and nothing is due."""
        super()._grow(more)
        self._added += more
        self._due, self._left_in, self._given_up = (longer(a, more) for a in (self._due, self._left_in, self._given_up))
        self._accepted, self._retired = (longer(mask, more) for mask in (self._accepted, self._retired))
        self._gaps = longer(self._gaps, more, np.nan)

    def snapshot(self) -> Snapshot:
        """Returns a frozen record of what is known now."""
        active = self._left_in == 0
        used = int(self._counts.sum())
        left = 0 if self.done else self.pulls_left
        return Snapshot(
            round=self._round,
            active=_indices(active),
            accepted=_indices(self._accepted & ~self._retired),
            rejected=_indices(~active & ~self._accepted & ~self._retired),
            retired=_indices(self._retired),
            counts=frozen(self.counts),
            means=frozen(self.means),
            gaps=frozen(self._latest_gaps()),
            doubt=frozen(self._latest_doubt()),
            left_in=frozen(self._left_in.copy()),
            pulls_used=used,
            pulls_left=left,
            done=self.done,
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the whole state as plain JSON values; ``pp.restore_policy`` makes an identical policy of it.

        Counts and sums are the state, not the log: Python writes floats so that they are read back exactly.
        """
        if not _is_known(self.name):
            raise InvalidInput(
                f"this {type(self).__name__} was not made by pp.policy(), so its options are not known; keep what it is told, "
                "and tell it to a new one."
            )
        state = {
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
        if self.keeps_squares:
            state["squares"] = self._squares.tolist()
        if self._added:
            state["added"] = self._added
        return state

    def _load(self, state: Mapping[str, Any]) -> None:
        """Takes over the state of ``to_dict``; the policy itself was made from the same options, without the arms added later."""
        if self.n_arms < state["n_arms"]:
            self._grow(state["n_arms"] - self.n_arms)
        self._round = check_integer(state["round"], "round", minimum=0)
        self._counts = array_like(self._counts, state["counts"], "counts")
        self._sums = array_like(self._sums, state["sums"], "sums")
        if self.keeps_squares:
            self._squares = array_like(self._squares, state["squares"], "squares")
        self._due = array_like(self._due, state["due"], "due")
        self._left_in = array_like(self._left_in, state["left_in"], "left_in")
        self._accepted = array_like(self._accepted, state["accepted"], "accepted")
        self._retired = array_like(self._retired, state["retired"], "retired")
        self._given_up = array_like(self._given_up, state["given_up"], "given_up")
        if self.amendable:
            self.rescale(state["widths"])
        self._certain = array_like(self._certain, state["certain"], "values without noise")
        self._gaps = np.array([np.nan if gap is None else np.inf if gap == "inf" else real(gap) for gap in state["gaps"]])
        finite = all(np.isfinite(array).all() for array in (self._sums, self._squares, self._certain))
        if not finite or self._gaps.shape != (self.n_arms,):
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

    def _latest_doubt(self) -> FloatArray:
        """How likely the status of each arm is wrong, a new array."""
        return np.full(self.n_arms, np.nan)

    def _more_state(self) -> dict[str, Any]:
        """What a policy knows beyond the fields of this class, as JSON values."""
        return {}

    def _load_more(self, state: Mapping[str, Any]) -> None:
        """Takes over ``_more_state`` and rebuilds whatever is derived from the fields of this class."""


def _is_known(name: str) -> bool:
    """Whether a policy is one of ``POLICIES``."""
    from paretopick.policies.choices import POLICIES

    return name in POLICIES


def _peers(trait: str) -> list[str]:
    """The policies that can do what this one cannot."""
    from paretopick.policies.choices import policies_with  # which imports every policy, and thereby this module

    return policies_with(trait)


def _indices(mask: BoolArray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(mask).tolist())


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def _some(arms: IntArray) -> str:
    return ", ".join(map(str, arms[:10])) + (f" and {len(arms) - 10} more" if len(arms) > 10 else "")
