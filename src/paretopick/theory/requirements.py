"""Which differences between means matter, and which limits they must keep: relations between arms with margins; not in the paper.

With all margins 0 and no limits these are the relations of the paper. The (eps1, eps2)-relaxation of Kone, Kaufmann and Richert
(2023) is a margin that is the same in every objective.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray, check_sequence, frozen, real
from paretopick._words import short
from paretopick.errors import InvalidInput
from paretopick.theory.dominance import optimal_in_each

AT_ONCE = 1 << 18
"""Pairs that are looked at together, so that what is noted about them stays in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Requirements:
    """What matters about means, of which larger are better.

    Arm j *covers* i if nowhere it is worse by more than the margin: whoever has j loses nothing that matters by not having i. It
    *outdoes* i if everywhere it is better by the margin at least, and somewhere by more. It *beats* i if it covers i and
    is somewhere better by more than the margin. An arm is *feasible* if it keeps all limits.
    """

    margins: FloatArray
    """``(n_objectives,)``: the smallest difference that matters, 0 or more."""
    limits: FloatArray
    """``(n_objectives,)``: the least that feasible arms have; -inf where there is no limit."""
    compared: BoolArray
    """``(n_objectives,)``: in which arms are compared; the others have a limit only."""

    def __post_init__(self) -> None:
        for name in ("margins", "limits", "compared"):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name))))

    @classmethod
    def none(cls, n_objectives: int) -> Requirements:
        """Returns those of the paper: every difference matters, and there are no limits."""
        return cls(np.zeros(n_objectives), np.full(n_objectives, -np.inf), np.ones(n_objectives, dtype=np.bool_))

    @property
    def is_plain(self) -> bool:
        """Whether they are those of the paper."""
        return not self.margins.any() and not self.limited and bool(self.compared.all())

    @property
    def limited(self) -> bool:
        """Whether there are limits."""
        return bool((self.limits > -np.inf).any())

    @cached_property
    def key(self) -> tuple[tuple[float, ...], tuple[float, ...], tuple[bool, ...]]:
        """What is equal for equal ones."""
        return tuple(self.margins.tolist()), tuple(self.limits.tolist()), tuple(self.compared.tolist())

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Requirements) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def as_margins(self) -> tuple[float | None, ...]:
        """The margins as users write them: None where arms are not compared."""
        return tuple(m if c else None for m, c in zip(self.margins.tolist(), self.compared.tolist(), strict=True))

    @property
    def as_limits(self) -> tuple[float | None, ...]:
        """The limits as users write them: None where there is none."""
        return tuple(limit if limit > -np.inf else None for limit in self.limits.tolist())

    def divided(self, widths: FloatArray) -> Requirements:
        """Returns the same for objectives that are divided by so much; those of width 0 stay as they are."""
        safe = np.where(widths > 0, widths, 1.0)
        return Requirements(self.margins / safe, self.limits / safe, self.compared)

    def with_margins(self, margins: FloatArray) -> Requirements:
        """Returns the same with other margins."""
        return Requirements(margins, self.limits, self.compared)


def check_requirements(margins: Any, limits: Any, n_objectives: int) -> Requirements:
    """Returns what users wrote as margins and limits, or says what is wrong with it.

    Args:
        margins: one number, or one per objective, and None for an objective in which arms are not compared; None is 0 for all.
        limits: one per objective, and None where there is none; None for no limits.
        n_objectives: how many there are.
    """
    rows = [0.0] * n_objectives if margins is None else _entries(margins, "margins", n_objectives)
    bounds = [None] * n_objectives if limits is None else _entries(limits, "limits", n_objectives)
    compared = [margin is not None for margin in rows]
    if not any(compared):
        raise InvalidInput(
            f"margins={short(margins)} compares arms in no objective; write a number for one of them, 0 if every difference "
            "matters."
        )
    for objective, margin in enumerate(rows):
        if margin is not None and margin < 0:
            raise InvalidInput(
                f"margins has {margin:g} for objective {objective}; it is the smallest difference that matters: 0 or more."
            )
    return Requirements(
        np.array([0.0 if margin is None else margin for margin in rows]),
        np.array([-np.inf if bound is None else bound for bound in bounds]),
        np.array(compared),
    )


def _entries(given: Any, name: str, n_objectives: int) -> list[float | None]:
    """One finite number or None per objective; a single margin stands for all objectives."""
    meaning = "the smallest difference that matters" if name == "margins" else "the least that an arm must have"
    nothing = "where arms are not compared" if name == "margins" else "where there is none"
    several = f"one number, or {n_objectives}" if name == "margins" else f"{n_objectives} number{'s' * (n_objectives > 1)}"
    expected = f"must be {several}, one per objective: {meaning}, or None {nothing}"
    single = isinstance(given, numbers.Real | Decimal) or (isinstance(given, np.ndarray) and given.ndim == 0)
    if single and (name == "margins" or n_objectives == 1):
        entries = [given] * n_objectives
    else:
        entries = check_sequence(given, name, expected)
    if len(entries) != n_objectives:
        raise InvalidInput(f"{name}={short(given)} {expected}.")
    found: list[float | None] = []
    for objective, entry in enumerate(entries):
        try:
            number = None if entry is None else real(entry)
        except (TypeError, ValueError, OverflowError):
            number = np.nan
        if number is not None and not np.isfinite(number):
            raise InvalidInput(f"{name} has {short(entry)} for objective {objective}; it {expected}.")
        found.append(number)
    return found


Relation: TypeAlias = Callable[[FloatArray, FloatArray, Requirements], BoolArray]
"""``covers``, ``outdoes`` or ``beats``."""


def feasible(means: FloatArray, required: Requirements) -> BoolArray:
    """Returns which arms keep all limits; of any number of sets ``(..., n_arms, n_objectives)``, ``(..., n_arms)``."""
    return np.asarray((means >= required.limits).all(axis=-1))


def covers(rows: FloatArray, columns: FloatArray, required: Requirements) -> BoolArray:
    """Returns ``[..., j, i]``: does row j cover column i; of any number of sets, each ``(..., n_arms, n_objectives)``."""
    return _nowhere_below(rows, columns, required, -1.0)


def outdoes(rows: FloatArray, columns: FloatArray, required: Requirements) -> BoolArray:
    """Returns ``[..., j, i]``: does row j outdo column i; of any number of sets, each ``(..., n_arms, n_objectives)``."""
    return _nowhere_below(rows, columns, required, 1.0) & _somewhere_above(rows, columns, required)


def beats(rows: FloatArray, columns: FloatArray, required: Requirements) -> BoolArray:
    """Returns ``[..., j, i]``: does row j beat column i; of any number of sets, each ``(..., n_arms, n_objectives)``."""
    return covers(rows, columns, required) & _somewhere_above(rows, columns, required)


@np.errstate(over="ignore")  # finite means may be infinitely far apart
def _nowhere_below(rows: FloatArray, columns: FloatArray, required: Requirements, side: float) -> BoolArray:
    """Whether rows are ahead of columns by ``side`` times the margin at least, in every objective that is compared."""
    found = np.ones((*rows.shape[:-1], columns.shape[-2]), dtype=np.bool_)
    for d in np.flatnonzero(required.compared):
        found &= rows[..., :, None, d] - columns[..., None, :, d] >= side * required.margins[d]
    return found


@np.errstate(over="ignore")
def _somewhere_above(rows: FloatArray, columns: FloatArray, required: Requirements) -> BoolArray:
    """Whether rows are ahead of columns by more than the margin in some objective that is compared."""
    found = np.zeros((*rows.shape[:-1], columns.shape[-2]), dtype=np.bool_)
    for d in np.flatnonzero(required.compared):
        found |= rows[..., :, None, d] - columns[..., None, :, d] > required.margins[d]
    return found


def worth_keeping(means: FloatArray, required: Requirements) -> BoolArray:
    """Returns which arms are feasible and outdone by no feasible one; of any number of sets, ``(..., n_arms)``."""
    front = optimal_and_feasible(means, required)
    others = feasible(means, required) & ~front
    return np.asarray(front | (others & ~_have(outdoes, means, front, others, required)))


def covered_by(means: FloatArray, answer: BoolArray, required: Requirements) -> BoolArray:
    """Returns which arms a member of an answer covers; of any number of sets, ``(..., n_arms)``. Members cover themselves.

    Args:
        means: ``(..., n_arms, n_objectives)``.
        answer: one for all sets, ``(n_arms,)``, or one for each, ``(..., n_arms)``.
        required: the margins.
    """
    return np.asarray(answer | _have(covers, means, answer, ~answer, required))


def is_right(means: FloatArray, answer: BoolArray, required: Requirements, *, front: BoolArray | None = None) -> BoolArray:
    """Returns whether an answer is right within the margins; of any number of sets ``(..., n_arms, n_objectives)``, ``(...)``.

    It is if (a) every member is feasible and no feasible arm outdoes it, and (b) every feasible arm is covered by a member.
    Without margins and limits: if it contains Pareto-optimal arms only, and all of them up to twins.

    Args:
        means: one set, or many.
        answer: one mask for all sets, or one for each; one set may have many.
        required: the margins and the limits.
        front: what ``optimal_and_feasible`` returns for the means, if that is at hand.
    """
    front = optimal_and_feasible(means, required) if front is None else front
    added, missing = answer & ~front, front & ~answer
    good = (feasible(means, required) | ~added).all(axis=-1)
    outdone = _have(outdoes, means, front, added, required).any(axis=-1)
    # Whoever covers a member of the front covers all that it dominates.
    covered = (_have(covers, means, answer, missing, required) | ~missing).all(axis=-1)
    return np.asarray(good & ~outdone & covered)


def optimal_and_feasible(means: FloatArray, required: Requirements) -> BoolArray:
    """Returns which arms are feasible and dominated by no feasible one, margins aside; of any number of sets, ``(..., n_arms)``.

    Nobody outdoes them, and whoever is outdone is outdone by one of them.
    """
    able = feasible(means, required)
    compared = means[..., required.compared]
    if not able.all():
        compared = np.where(able[..., None], compared, -np.inf)
    optimal = optimal_in_each(compared.reshape(-1, *compared.shape[-2:])).reshape(able.shape)
    return np.asarray(optimal & able)


def _have(relation: Relation, means: FloatArray, rows: BoolArray, columns: BoolArray, required: Requirements) -> BoolArray:
    """Which of the arms in ``columns`` have one in ``rows`` that stands in the relation to them, in each of many sets.

    Sets of about the same numbers of rows and columns are looked at together, filled up with the first of them.
    """
    shape = np.broadcast_shapes(means.shape[:-1], rows.shape, columns.shape)
    n_arms = shape[-1]
    sets = np.broadcast_to(means, (*shape, means.shape[-1])).reshape(-1, n_arms, means.shape[-1])
    rows, columns = (np.broadcast_to(mask, shape).reshape(-1, n_arms) for mask in (rows, columns))
    found = np.zeros((len(sets), n_arms), dtype=np.bool_)
    n_pairs = rows.sum(axis=1) * columns.sum(axis=1)
    order = np.argsort(n_pairs, kind="stable")[np.count_nonzero(n_pairs == 0) :]
    start = 0
    while start < len(order):
        # As many sets as fit if all of them have as many pairs as the last of these.
        most = np.arange(1, len(order) - start + 1) * n_pairs[order[start:]]
        some = order[start : start + max(1, int(np.searchsorted(most, AT_ONCE, side="right")))]
        j, i = _places(rows[some]), _places(columns[some])
        found[some[:, None], i] = relation(sets[some[:, None], j], sets[some[:, None], i], required).any(axis=-2)
        start += len(some)
    return found.reshape(shape)


def _places(masks: BoolArray) -> IntArray:
    """Where masks ``(n_sets, n_arms)`` are true, as many places in each as in the fullest: filled up with the first one."""
    counts = masks.sum(axis=1)
    places = np.argsort(~masks, axis=1, kind="stable")[:, : counts.max()]
    return np.where(np.arange(counts.max()) < counts[:, None], places, places[:, :1])
