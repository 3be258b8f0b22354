"""The gaps of arms of which one moves at a time (Section 2, Eq. (5)): the numbers ``find_gaps`` finds, kept from step to step.

What is smallest over all other arms is kept with the arm it is attained at, and a runner-up: at most what any further arm gives.
When an arm moves, each arm compares itself with the new place of that one. Only where the attaining arm has fallen behind the
runner-up is everything looked at again, which is rare: means move little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.fronts import excess, excess_both_ways, excess_of_one
from paretopick.simulation.kernels.vector_memory import float_memory, load, store, word_memory
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    bits,
    choose,
    lane_numbers,
    larger,
    largest,
    lowest_bit,
    smaller,
    smallest,
    spread,
)

UNKNOWN = -np.inf
"""Stands for a distance that has to be found anew."""


class Gaps(NamedTuple):
    """What is known about the arms, and about the members, which are the arms that stand clear of all others.

    Of each arm: ``best``, its smallest excess over another, attained at the arm ``rival``, and ``second`` below all further ones;
    its ``gap``; its ``addend``, the gap if it is dominated or tied, and 0 if it is a member; its ``place`` among the members, or
    -1. Of each member: the ``arm``, its coordinates ``point``, and ``near``, the smallest ``M(i, j)^+ + addend_i`` of another arm
    i, attained at ``neighbour``, with ``further`` below all others.

    Slots behind the last arm are minus infinity in every coordinate of the means, and are never best nor nearest.
    ``terms`` and ``totals`` are for sums over the arms: no gap has changed before the arm ``valid[0]`` since somebody set it, and
    no term before the arm ``added[0]`` since the sums ``totals`` were made.
    """

    best: NDArray[np.float64]
    second: NDArray[np.float64]
    rival: NDArray[np.uint64]
    gap: NDArray[np.float64]
    addend: NDArray[np.float64]
    place: NDArray[np.int64]
    arm: NDArray[np.int64]
    point: NDArray[np.float64]
    near: NDArray[np.float64]
    further: NDArray[np.float64]
    neighbour: NDArray[np.uint64]
    n_members: NDArray[np.int64]
    changed: NDArray[np.int64]
    lanes: NDArray[np.uint64]
    terms: NDArray[np.float64]
    totals: NDArray[np.float64]
    valid: NDArray[np.int64]
    added: NDArray[np.int64]


def make_gaps(stride: int, n_objectives: int) -> Gaps:
    """Memory for so many slots, a multiple of eight."""
    return Gaps(
        best=float_memory(stride),
        second=float_memory(stride),
        rival=word_memory(stride),
        gap=float_memory(stride),
        addend=float_memory(stride),
        place=np.zeros(stride, np.int64),
        arm=np.zeros(stride, np.int64),
        point=float_memory(stride * n_objectives),
        near=float_memory(stride),
        further=float_memory(stride),
        neighbour=word_memory(stride),
        n_members=np.zeros(1, np.int64),
        changed=np.zeros(stride, np.int64),
        lanes=word_memory(WIDTH),
        terms=float_memory(stride),
        totals=float_memory(stride + 1),
        valid=np.zeros(1, np.int64),
        added=np.zeros(1, np.int64),
    )


@inner
def start_gaps(means, stride, n_objectives, n_arms, gaps):
    """Finds the gaps of arms of which nothing is known."""
    for i in range(n_arms, stride):
        gaps.best[i] = gaps.second[i] = -np.inf
        gaps.addend[i] = gaps.gap[i] = np.inf
        gaps.rival[i] = stride
    gaps.n_members[0], gaps.valid[0], gaps.added[0] = 0, 0, 0
    for i in range(n_arms):
        gaps.place[i] = -1
        _find_rival(means, stride, n_objectives, n_arms, i, gaps)
        _join_or_leave(means, stride, n_objectives, i, gaps)
        gaps.gap[i] = gaps.addend[i]
    _find_neighbours(means, stride, n_objectives, n_arms, gaps)


@inlined
def move_arm(means, stride, n_objectives, n_arms, arm, gaps):
    """Brings the gaps up to date after an arm has moved. If several have, they may all do so before this is called for each."""
    n_changed = _compare_with(means, stride, n_objectives, n_arms, arm, gaps)
    for k in range(n_changed):
        _join_or_leave(means, stride, n_objectives, gaps.changed[k], gaps)
    if gaps.place[arm] < 0:
        _set_gap(arm, gaps.addend[arm], gaps)
    else:
        _enter(means, stride, n_objectives, arm, gaps.place[arm], gaps)
    for k in range(n_changed):
        _offer(means, stride, n_objectives, gaps.changed[k], gaps)
    _find_neighbours(means, stride, n_objectives, n_arms, gaps)


@inlined
def _set_gap(i, gap, gaps):
    if gap != gaps.gap[i]:
        gaps.gap[i] = gap
        gaps.valid[0] = min(gaps.valid[0], i)


@inlined
def _two_smallest(values, others, numbers, lanes):
    """The smallest value of all lanes, its number, and the next smallest; ``others`` are the next smallest of each lane."""
    low = smallest(values)
    lane = lowest_bit(bits(values == spread(low)))
    store(lanes, 0, numbers)
    return low, lanes[lane], smallest(choose(lane_numbers() == spread(uint64(lane)), others, values))


@inner
def _rival(means, stride, n_objectives, n_arms, i, lanes):
    """``best``, ``rival`` and ``second`` of an arm, found among all."""
    infinity, me = spread(np.inf), spread(uint64(i))
    best, second, rival, numbers = infinity, infinity, me, lane_numbers()
    for j in range(0, n_arms, WIDTH):
        above = choose(numbers == me, infinity, excess_of_one(means, i, means, stride, n_objectives, j))
        closer = above < best
        second = choose(closer, best, smaller(above, second))
        best, rival = choose(closer, above, best), choose(closer, numbers, rival)
        numbers = numbers + spread(uint64(WIDTH))
    return _two_smallest(best, second, rival, lanes)


@inlined
def _find_rival(means, stride, n_objectives, n_arms, i, gaps):
    gaps.best[i], gaps.rival[i], gaps.second[i] = _rival(means, stride, n_objectives, n_arms, i, gaps.lanes)


@inlined
def _compare_with(means, stride, n_objectives, n_arms, arm, gaps):
    """Compares all arms with one that has moved, and brings their ``best``, ``addend`` and ``gap`` up to date.

    Lists that arm, and those which become members, are members no longer, or whose addend may be nearest to a member.
    """
    infinity, zero, number = spread(np.inf), spread(0.0), spread(uint64(arm))
    mine, mine_second, rival, numbers = infinity, infinity, number, lane_numbers()
    reach = spread(_reach(gaps))
    gaps.changed[0] = arm
    n_changed = 1
    for i in range(0, n_arms, WIDTH):
        itself = numbers == number
        above, under = excess_both_ways(means, stride, n_objectives, i, arm)
        above, under = choose(itself, infinity, above), choose(itself, infinity, under)
        closer = under < mine
        mine_second = choose(closer, mine, smaller(under, mine_second))
        mine, rival = choose(closer, under, mine), choose(closer, numbers, rival)
        numbers = numbers + spread(uint64(WIDTH))

        second, attained = load(gaps.second, i), (load(gaps.rival, i) == number) & ~itself
        if bits((above < second) | attained) == 0:
            continue
        before = load(gaps.best, i)
        closer = (above < before) & ~attained
        changed = closer | attained
        store(gaps.best, i, choose(changed, above, before))
        store(gaps.rival, i, choose(closer, number, load(gaps.rival, i)))
        store(gaps.second, i, choose(closer, before, choose(attained, second, smaller(above, second))))
        lost = bits(attained & (above > second))
        while lost != 0:
            _find_rival(means, stride, n_objectives, n_arms, i + lowest_bit(lost), gaps)
            lost &= lost - 1
        best, addend = load(gaps.best, i), load(gaps.addend, i)
        ahead, was_ahead = best > zero, before > zero
        below = choose(changed, choose(ahead, zero, zero - best), addend)  # not -best, which would turn a tie into -0.0
        store(gaps.addend, i, below)
        store(gaps.gap, i, choose(changed & ~ahead, below, load(gaps.gap, i)))
        gaps.valid[0] = min(gaps.valid[0], i)
        in_reach = ~(below == addend) & (smaller(below, addend) <= reach)
        listed = bits(changed & ((ahead & ~was_ahead) | (was_ahead & ~ahead) | in_reach))
        while listed != 0:
            gaps.changed[n_changed] = i + lowest_bit(listed)
            n_changed += 1
            listed &= listed - 1
    gaps.best[arm], gaps.rival[arm], gaps.second[arm] = _two_smallest(mine, mine_second, rival, gaps.lanes)
    return n_changed


@inlined
def _reach(gaps):
    """An arm whose addend is and was beyond that is nearest to no member, nor next to the nearest."""
    most = spread(UNKNOWN)
    for p in range(0, gaps.n_members[0], WIDTH):
        most = larger(load(gaps.further, p), most)
    return largest(most)


@inlined
def _join_or_leave(means, stride, n_objectives, i, gaps):
    """Sets the addend of an arm by its ``best``, and makes it a member or takes it out."""
    best, place = gaps.best[i], gaps.place[i]
    if best > 0.0:
        gaps.addend[i] = 0.0
        if place < 0:
            gaps.n_members[0] += 1
            _enter(means, stride, n_objectives, i, gaps.n_members[0] - 1, gaps)
        return
    gaps.addend[i] = 0.0 - best  # not -best, which would turn a tie into -0.0
    if place >= 0:
        gaps.n_members[0] -= 1
        last = gaps.n_members[0]
        moved = gaps.arm[last]
        gaps.arm[place], gaps.place[moved], gaps.place[i] = moved, place, -1
        gaps.near[place], gaps.further[place] = gaps.near[last], gaps.further[last]
        gaps.neighbour[place] = gaps.neighbour[last]
        for d in range(n_objectives):
            gaps.point[d * stride + place] = gaps.point[d * stride + last]


@inlined
def _enter(means, stride, n_objectives, i, place, gaps):
    """Writes an arm down as the member at a place; its neighbour is unknown."""
    gaps.arm[place], gaps.place[i] = i, place
    for d in range(n_objectives):
        gaps.point[d * stride + place] = means[d * stride + i]
    _forget_neighbour(place, gaps)


@inlined
def _forget_neighbour(place, gaps):
    gaps.near[place], gaps.further[place] = UNKNOWN, UNKNOWN
    gaps.neighbour[place] = gaps.arm[place]


@inlined
def _offer(means, stride, n_objectives, i, gaps):
    """Compares all members with an arm that has moved or whose addend has changed."""
    number, addend, zero = spread(uint64(i)), spread(gaps.addend[i]), spread(0.0)
    for p in range(0, gaps.n_members[0], WIDTH):
        margin = larger(excess_of_one(means, i, gaps.point, stride, n_objectives, p), zero) + addend
        further, attained = load(gaps.further, p), load(gaps.neighbour, p) == number
        if bits((margin < further) | attained) == 0:
            continue
        near = load(gaps.near, p)
        unknown = near == spread(UNKNOWN)
        closer = (margin < near) & ~attained
        store(gaps.near, p, choose((attained & ~unknown) | closer, margin, near))
        store(gaps.neighbour, p, choose(closer, number, load(gaps.neighbour, p)))
        store(gaps.further, p, choose(closer, near, choose(attained, further, smaller(margin, further))))
        lost = bits(attained & (margin > further))
        while lost != 0:
            _forget_neighbour(p + lowest_bit(lost), gaps)
            lost &= lost - 1


@inlined
def _find_neighbours(means, stride, n_objectives, n_arms, gaps):
    """Finds the neighbours that are unknown, and sets the gaps of all members."""
    for p in range(gaps.n_members[0]):
        j = gaps.arm[p]
        if gaps.near[p] == UNKNOWN:
            found = _neighbour(means, stride, n_objectives, n_arms, j, gaps.addend, gaps.lanes)
            gaps.near[p], gaps.neighbour[p], gaps.further[p] = found
        _set_gap(j, min(gaps.best[j], gaps.near[p]), gaps)


@inner
def _neighbour(means, stride, n_objectives, n_arms, j, addend, lanes):
    """``near``, ``neighbour`` and ``further`` of a member, found among all arms."""
    infinity, zero, me = spread(np.inf), spread(0.0), spread(uint64(j))
    near, further, neighbour, numbers = infinity, infinity, me, lane_numbers()
    for i in range(0, n_arms, WIDTH):
        margin = larger(excess(means, stride, n_objectives, i, j), zero) + load(addend, i)
        margin = choose(numbers == me, infinity, margin)
        closer = margin < near
        further = choose(closer, near, smaller(margin, further))
        near, neighbour = choose(closer, margin, near), choose(closer, numbers, neighbour)
        numbers = numbers + spread(uint64(WIDTH))
    return _two_smallest(near, further, neighbour, lanes)
