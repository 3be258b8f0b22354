"""Where to write names so that none covers another: ``place`` beside points, ``spread`` along a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paretopick._arrays import BoolArray, FloatArray
from paretopick.plots.texts import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RINGS = (5.0, 8.0, 13.0, 20.0, 30.0, 42.0, 56.0, 74.0, 96.0, 124.0, 160.0)
"""How far from its point a name may be, in pixels; beyond that it takes any free place."""

DIRECTIONS = 24
NEAR = 9.0
"""From here on a line leads from the point to the name."""

COVERED_POINT, CROSSED_NAME, CROSSED_LINE, PASSED_POINT = 40.0, 150.0, 60.0, 8.0
"""How many pixels further away a name may go to avoid each of these."""

SWEEPS = 12


def place(anchors: FloatArray, sizes: FloatArray, points: FloatArray, frame: tuple[float, float, float, float]) -> FloatArray:
    """Returns the lower left corners of names, ``(n_names, 2)``; NaN for a name that finds no room.

    No two names overlap, and all are within the frame. Besides, a name should be close to its point, cover no point, and lines
    that lead from points to names should cross nothing. Names take the cheapest place one after the other, and then move to
    better ones as long as there are any: the same input gives the same places.

    Args:
        anchors: what is named, ``(n_names, 2)``, as are the others in pixels.
        sizes: widths and heights of the names, ``(n_names, 2)``, with the room that they need around them.
        points: not to be covered, ``(n_points, 2)``.
        frame: left, bottom, right and top of where names may be.
    """
    n = len(anchors)
    candidates = [_candidates(anchors[i], sizes[i], frame) for i in range(n)]
    prices = [_own_price(anchors[i], sizes[i], candidates[i], points) for i in range(n)]
    corners = np.full((n, 2), np.nan)
    paid = np.full(n, np.inf)
    for _ in range(SWEEPS):
        moved = False
        for i in range(n):
            others = np.flatnonzero(~np.isnan(corners[:, 0]) & (np.arange(n) != i))
            price = prices[i] + _price_among(anchors[i], sizes[i], candidates[i], anchors[others], sizes[others], corners[others])
            best = int(np.argmin(price)) if len(price) else -1
            now = price[(candidates[i] == corners[i]).all(axis=1)].min(initial=np.inf)
            if best >= 0 and price[best] < now - 1e-9:
                corners[i], paid[i], moved = candidates[i][best], price[best], True
        if not moved:
            break
    return corners


def spread(wanted: FloatArray, height: float, low: float, high: float) -> FloatArray:
    """Returns the middles of names along a line, each at least ``height`` from the next and as close to what is wanted as can be.

    Least squares with the order kept: names that would overlap form a block about the mean of what they want. If there is not
    room for all between ``low`` and ``high``, they share it evenly, and overlap.

    >>> spread(np.array([0.0, 5.0, 5.0]), 2.0, 0.0, 10.0).tolist()
    [0.0, 4.0, 6.0]
    """
    n = len(wanted)
    if n == 0:
        return np.empty(0)
    height = min(height, (high - low) / max(n - 1, 1))
    order = np.argsort(wanted, kind="stable")
    starts = np.clip(wanted[order], low, high) - height * np.arange(n)  # without the heights, the order alone matters
    blocks: list[list[float]] = []  # mean and size
    for start in starts:
        blocks.append([start, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            mean, size = blocks.pop()
            before = blocks[-1]
            blocks[-1] = [(before[0] * before[1] + mean * size) / (before[1] + size), before[1] + size]
    flat = np.concatenate([np.full(int(size), mean) for mean, size in blocks])
    middles = np.empty(n)
    middles[order] = np.clip(flat, low, high - height * (n - 1)) + height * np.arange(n)
    return middles


def write_names(
    axes: Axes,
    anchors: FloatArray,
    names: Sequence[str],
    colours: Sequence[str],
    points: FloatArray,
    *,
    size: float = 7.5,
    laid_out: bool = False,
) -> int:
    """Writes names beside their points, each where there is room, and returns how many found none.

    Args:
        axes: with its final limits.
        anchors: what is named, ``(n_names, 2)``, in the units of the axes, as are ``points``.
        names: one for each.
        colours: one for each.
        points: not to be covered.
        size: of the letters.
        laid_out: whether the figure was laid out already, with everything else in it.
    """
    from matplotlib.patheffects import withStroke

    figure = axes.get_figure(root=True)
    assert figure is not None
    if not laid_out:
        figure.draw_without_rendering()
    halo = [withStroke(linewidth=1.8, foreground="white", alpha=0.85)]
    texts = [
        axes.annotate(
            name, anchor, (0, 0), textcoords="offset points", fontsize=size, color=colour, path_effects=halo, **plain(name)
        )
        for name, anchor, colour in zip(names, anchors, colours, strict=True)
    ]
    boxes = [text.get_window_extent() for text in texts]
    scale = 72.0 / figure.dpi  # pixels to points
    sizes = np.array([(box.width, box.height) for box in boxes]).reshape(-1, 2) + (4.0, 1.0)
    pixels = axes.transData.transform(anchors.reshape(-1, 2))
    inside = axes.get_window_extent()
    frame = (inside.x0 + 2, inside.y0 + 2, inside.x1 - 2, inside.y1 - 2)
    corners = place(pixels, sizes, axes.transData.transform(points), frame)
    lost = 0
    for text, pixel, corner, box in zip(texts, pixels, corners, sizes, strict=True):
        if np.isnan(corner[0]):
            text.remove()
            lost += 1
            continue
        text.set_position(tuple((corner + (2.0, 0.5) - pixel) * scale))
        text.set_in_layout(False)
        end = np.clip(pixel, corner, corner + box)
        if np.hypot(*(end - pixel)) > NEAR:
            tail = (end - pixel) * scale
            axes.annotate(
                "",
                axes.transData.inverted().transform(pixel),
                tuple(tail),
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": GREY_LINE, "shrinkA": 0, "shrinkB": 2},
                zorder=2,
            ).set_in_layout(False)
    return lost


GREY_LINE = "#999999"


def _candidates(anchor: FloatArray, size: FloatArray, frame: tuple[float, float, float, float]) -> FloatArray:
    """Lower left corners that a name may have: on rings around its point, right of it first; then all over the frame."""
    angles = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False) + np.pi / 8
    ways = np.column_stack((np.cos(angles), np.sin(angles)))
    ways /= np.abs(ways).max(axis=1, keepdims=True)  # around a rectangle, so that names keep clear of the point on one side
    rings = [anchor + ways * (ring + size / 2) - size / 2 for ring in RINGS]
    left, bottom, right, top = frame
    columns = np.arange(left, right - size[0], max(size[0] / 3, 12.0))
    rows = np.arange(bottom, top - size[1], size[1])
    lattice = np.array(np.meshgrid(columns, rows)).reshape(2, -1).T
    every = np.vstack([*rings, lattice])
    low, high = np.array((left, bottom)), np.array((right, top)) - size
    return every[((every >= low) & (every <= high)).all(axis=1)]


def _own_price(anchor: FloatArray, size: FloatArray, corners: FloatArray, points: FloatArray) -> FloatArray:
    """What each place of a name costs whatever the others do."""
    ends = np.clip(anchor, corners, corners + size)
    way = np.hypot(*(ends - anchor).T)
    price = way.copy()
    for point in points:
        covered = ((point > corners - 3.0) & (point < corners + size + 3.0)).all(axis=1)
        price += COVERED_POINT * covered
        if (np.abs(point - anchor) > 1.0).any():
            price += PASSED_POINT * (~covered & (way > NEAR) & (_distance(point, anchor, ends) < 4.0))
    return price


def _price_among(
    anchor: FloatArray,
    size: FloatArray,
    corners: FloatArray,
    others: FloatArray,
    their_sizes: FloatArray,
    their_corners: FloatArray,
) -> FloatArray:
    """What each place of a name costs, given where others are: infinite where it covers one of them."""
    ends = np.clip(anchor, corners, corners + size)
    leads = np.hypot(*(ends - anchor).T) > NEAR
    price = np.zeros(len(corners))
    for other, their_size, their_corner in zip(others, their_sizes, their_corners, strict=True):
        overlaps = ((corners < their_corner + their_size) & (corners + size > their_corner)).all(axis=1)
        price[overlaps] = np.inf
        price += CROSSED_NAME * (leads & _enters(anchor, ends, their_corner, their_corner + their_size))
        their_end = np.clip(other, their_corner, their_corner + their_size)
        if np.hypot(*(their_end - other)) > NEAR:
            price += CROSSED_NAME * _enters(other, their_end[None, :], corners, corners + size)
            price += CROSSED_LINE * (leads & _cross(anchor, ends, other, their_end))
    return price


def _distance(point: FloatArray, start: FloatArray, ends: FloatArray) -> FloatArray:
    """From a point to each of the segments from ``start``."""
    ways = ends - start
    along = np.clip(((point - start) * ways).sum(axis=1) / np.maximum((ways**2).sum(axis=1), 1e-12), 0.0, 1.0)
    return np.asarray(np.hypot(*(start + along[:, None] * ways - point).T))


def _enters(start: FloatArray, ends: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Whether segments from ``start`` pass through boxes, by clipping them against the two sides of each axis."""
    ways = ends - start
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (low - start) / ways, (high - start) / ways
    flat = ways == 0
    within = (start > low) & (start < high)
    enter = np.where(flat, np.where(within, -np.inf, np.inf), np.fmin(first, second)).max(axis=1)
    leave = np.where(flat, np.where(within, np.inf, -np.inf), np.fmax(first, second)).min(axis=1)
    return np.asarray((enter < leave) & (leave > 1e-9) & (enter < 1 - 1e-9))


def _cross(start: FloatArray, ends: FloatArray, other: FloatArray, other_end: FloatArray) -> BoolArray:
    """Whether segments from ``start`` cross another one; that they touch at their ends does not count."""
    sides = _side(other, other_end, start[None, :]) * _side(other, other_end, ends)
    return np.asarray((sides < 0) & (_side(start, ends, other[None, :]) * _side(start, ends, other_end[None, :]) < 0))


def _side(start: FloatArray, end: FloatArray, point: FloatArray) -> FloatArray:
    """On which side of a line a point is: positive to the left of it."""
    way, to = end - start, point - start
    return np.asarray(way[..., 0] * to[..., 1] - way[..., 1] * to[..., 0])
