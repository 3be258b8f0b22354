"""Where to write names so that none covers another: ``place`` beside points, ``spread`` along a line."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from paretopick._arrays import BoolArray, FloatArray
from paretopick.plots.room import figure_of_axes
from paretopick.plots.texts import plain, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

DPI = 100.0
"""Pixels to an inch, in which names find their places, whatever the figure has."""

RINGS = (7.0, 9.5, 13.0, 20.0, 30.0, 42.0, 56.0, 74.0, 96.0, 124.0, 160.0)
"""How far from its point a name may be, in pixels."""

FARTHEST, LEAST_FARTHEST = 0.45, 60.0
"""No name is further from its point than this share of the longer side of its picture, or than so many pixels."""

ANYWHERE = 30.0
"""So many pixels further away a name may go on its rings before it takes any free place."""

DIRECTIONS = 24
BESIDE = 30.0
"""So many pixels from its point a name is right beside it."""

NEAR = 10.0
"""From here on a line leads from the point to the name."""

COVERED_POINT, COVERED_LINE, CROSSED_NAME, CROSSED_LINE = 70.0, 2.0, 150.0, 60.0
"""How many pixels further away a name may go to avoid each of these; of a line, each step of ``LINE_STEP`` pixels."""

PASSED = 0.1
"""What a leading line costs that passes over points, as a share of what covering them costs."""

LINE_STEP = 6.0
CELL = 2.0
"""Pixels to which it is known where points are."""

MARGIN = np.array((3.0, 0.5))
"""Pixels that are free around a name."""

INSET = np.array((2.0, 2.0, -2.0, -2.0))
"""Pixels that are free at the edges of axes."""

SWEEPS = 6
AT_A_TIME = 64
NOTHING = np.empty((0, 4))


def place(
    anchors: FloatArray,
    sizes: FloatArray,
    points: FloatArray,
    weights: FloatArray,
    frame: FloatArray,
    taken: FloatArray = NOTHING,
) -> FloatArray:
    """Returns the lower left corners of names, ``(n_names, 2)``; NaN for a name that finds no room.

    No two names overlap, and all are within the frame. Besides, a name should be close to its point, cover no point, and lines
    that lead from points to names should cross nothing. Names take the cheapest place one after the other, and then move to
    better ones as long as there are any: the same input gives the same places.

    Args:
        anchors: what is named, ``(n_names, 2)``, as are the others in pixels.
        sizes: widths and heights of the names, ``(n_names, 2)``, with the room that they need around them.
        points: better not covered, ``(n_points, 2)``.
        weights: how many pixels further away a name may go to avoid each of the points.
        frame: left, bottom, right and top of where names may be.
        taken: the same of each box that is not free, ``(n_boxes, 4)``.
    """
    n = len(anchors)
    ground = _Ground(points, weights, frame)
    offers = [_offers(anchors[i], sizes[i], ground, frame, taken) for i in range(n)]
    corners = np.full((n, 2), np.nan)
    for _ in range(SWEEPS):
        before = corners.copy()
        for i in range(n):
            others = np.flatnonzero(~np.isnan(corners[:, 0]) & (np.arange(n) != i))
            corners[i] = _cheapest(anchors[i], sizes[i], *offers[i], anchors[others], sizes[others], corners[others])
        if np.array_equal(before, corners, equal_nan=True):
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


class Names:
    """Names beside points, each where there is room; ``arrange`` finds it, and again when the axes have changed.

    Args:
        axes: what is named is in their units.
        anchors: what is named, ``(n_names, 2)``.
        names: one for each.
        colours: one for each.
        points: not to be covered.
        lines: better not covered, each ``(2, n_corners)``.
        size: of the letters.
    """

    def __init__(
        self,
        axes: Axes,
        anchors: FloatArray,
        names: Sequence[str],
        colours: Sequence[str],
        points: FloatArray,
        *,
        lines: Sequence[FloatArray] = (),
        size: float = 7.5,
    ) -> None:
        self.axes, self.anchors, self.points, self.lines = axes, anchors.reshape(-1, 2), points, lines
        ground = {"boxstyle": "square,pad=0.02", "facecolor": "white", "edgecolor": "none", "alpha": 0.6}
        line = {"arrowstyle": "-", "linewidth": 0.5, "color": "#8c8c8c", "shrinkA": 0, "shrinkB": 2}
        every: dict[str, Any] = {"textcoords": "offset points", "annotation_clip": False, "va": "bottom"}
        places = list(map(tuple, self.anchors))
        self.texts = [
            axes.annotate(name, place, (0, 0), fontsize=size, color=colour, bbox=ground, zorder=2.5, **every, **plain(name))
            for name, place, colour in zip(names, places, colours, strict=True)
        ]
        self.leaders = [axes.annotate("", place, (0, 0), arrowprops=line, zorder=2.2, **every) for place in places]
        for written in (*self.texts, *self.leaders):
            written.set_in_layout(False)
        self.sizes = np.array([text_size(text, DPI) for text in self.texts]).reshape(-1, 2) + 2 * MARGIN

    def arrange(self, taken: FloatArray = NOTHING) -> int:
        """Gives every name the best place in the figure as it is now, and returns how many find none and are not shown.

        Args:
            taken: left, bottom, right and top of boxes that are not free, ``(n_boxes, 4)``, in pixels.
        """
        scale = DPI / figure_of_axes(self.axes).dpi
        pixels = scale * self.axes.transData.transform(self.anchors)
        inside = scale * np.array(self.axes.get_window_extent().extents)
        avoided = [self.axes.transData.transform(self.points), *(_steps(self.axes, line) for line in self.lines)]
        weights = np.repeat([COVERED_POINT, *[COVERED_LINE] * len(self.lines)], [len(some) for some in avoided])
        there = np.flatnonzero(((pixels >= inside[:2]) & (pixels <= inside[2:])).all(axis=1))  # not when somebody zooms in
        corners = np.full((len(pixels), 2), np.nan)
        corners[there] = place(
            pixels[there], self.sizes[there], scale * np.vstack(avoided), weights, inside + INSET, scale * taken
        )
        for text, leader, pixel, corner, box in zip(self.texts, self.leaders, pixels, corners, self.sizes, strict=True):
            found = not np.isnan(corner[0])
            text.set_visible(found)
            way = np.clip(pixel, corner, corner + box) - pixel if found else np.zeros(2)
            leader.set_visible(bool(np.hypot(*way) > NEAR))
            if found:
                side = float(corner[0] + box[0] / 2 < pixel[0])  # left of its point a name ends there, else it begins there
                text.set(ha="right" if side else "left")
                text.set_position(tuple((corner + MARGIN + (side * (box[0] - 2 * MARGIN[0]), 0.0) - pixel) * 72 / DPI))
                leader.set_position(tuple(way * 72 / DPI))
        return int(np.isnan(corners[there, 0]).sum())


def have_room_beside(axes: Axes, anchors: FloatArray, names: Sequence[str], points: FloatArray, *, size: float) -> bool:
    """Whether all names find room right beside their points, in the figure as it is now."""
    if not len(names):
        return True
    scale = DPI / figure_of_axes(axes).dpi
    pixels, inside = scale * axes.transData.transform(anchors), scale * np.array(axes.get_window_extent().extents)
    sizes = np.array([(text_width(name, size, plain(name)["fontfamily"]), 1.2 * size) for name in names]) * DPI / 72 + 2 * MARGIN
    weights = np.full(len(points), COVERED_POINT)
    corners = place(pixels, sizes, scale * axes.transData.transform(points), weights, inside + INSET)
    return bool((np.hypot(*(np.clip(pixels, corners, corners + sizes) - pixels).T) <= BESIDE).all())


def text_size(text: Annotation, dpi: float) -> tuple[float, float]:
    """Returns the width and height of a text in pixels: the largest at several resolutions, since letters snap to pixels.

    Of each resolution asked of a renderer of its own: matplotlib 3.11 gives the width at that of the figure whatever it is asked.
    """
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.text import Text

    shown, letters, renderer = text.get_text(), text.get_fontproperties(), cast(Any, RendererAgg)
    widths, heights = [], []
    for one in (72.0, 100.0, 200.0):
        widths.append(renderer(1, 1, one).get_text_width_height_descent(shown, letters, ismath=False)[0] * dpi / one)
        heights.append(Text.get_window_extent(text, dpi=one).height * dpi / one)
    return max(widths), max(heights)


def _steps(axes: Axes, line: FloatArray) -> FloatArray:
    """Points in pixels along a line, close to each other."""
    corners = axes.transData.transform(line.T[np.isfinite(line).all(axis=0)])
    steps = [
        np.linspace(start, end, 1 + int(np.hypot(*(end - start)) // LINE_STEP), endpoint=False)
        for start, end in itertools.pairwise(corners)
    ]
    return np.vstack([np.empty((0, 2)), *steps])


class _Ground:
    """How much there is to be covered in any box: sums over a grid from its lower left corner to each cell."""

    def __init__(self, points: FloatArray, weights: FloatArray, frame: FloatArray) -> None:
        self.corner = np.array(frame[:2]) - 20 * CELL
        self.shape = np.ceil((np.array(frame[2:]) - self.corner) / CELL).astype(np.int64) + 20
        cells = np.floor((points - self.corner) / CELL).astype(np.int64)
        inside = ((cells >= 0) & (cells < self.shape)).all(axis=1)
        weight = np.zeros(self.shape + 1)
        np.add.at(weight, tuple(cells[inside].T + 1), weights[inside])
        self.sums = weight.cumsum(axis=0).cumsum(axis=1)

    def within(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Returns the weight of the points in boxes, given by their lower left and upper right corners."""
        (left, bottom), (right, top) = (
            np.clip(np.floor((corner - self.corner) / CELL).astype(np.int64), 0, self.shape).T for corner in (low, high + CELL)
        )
        return np.asarray(self.sums[right, top] - self.sums[left, top] - self.sums[right, bottom] + self.sums[left, bottom])


def _offers(
    anchor: FloatArray, size: FloatArray, ground: _Ground, frame: FloatArray, taken: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Places that a name may take and what they cost whatever others do, the cheapest first."""
    corners, surcharges = _candidates(anchor, size, frame)
    near = corners[:, None]
    free = ~np.all((near < taken[:, 2:]) & (near + size > taken[:, :2]), axis=2).any(axis=1)
    corners, surcharges = corners[free], surcharges[free]
    ways = np.clip(anchor, corners, corners + size) - anchor
    far = np.hypot(*ways.T)
    price = far + surcharges + ground.within(corners - 2.0, corners + size + 2.0)
    for step in np.arange(NEAR, far.max(initial=0.0), 8.0):  # along the leading lines, beyond the mark of the point itself
        longer = np.flatnonzero(far > step)
        on = anchor + ways[longer] * (step / far[longer, None])
        price[longer] += PASSED * ground.within(on - 3.0, on + 3.0)
    price = np.round(price, 3)  # equal offers in the order of the candidates
    order = np.argsort(price, kind="stable")
    return corners[order], price[order]


def _candidates(anchor: FloatArray, size: FloatArray, frame: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower left corners that a name may have: on rings around its point, right of it first; then, dearer, all over the frame."""
    angles = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False) + np.pi / 8
    ways = np.column_stack((np.cos(angles), np.sin(angles)))
    ways /= np.abs(ways).max(axis=1, keepdims=True)  # around a rectangle, so that names keep clear of the point on one side
    rings = [anchor + ways * (ring + size / 2) - size / 2 for ring in RINGS]
    left, bottom, right, top = frame
    columns = np.arange(left, right - size[0], max(size[0] / 3, 12.0))
    rows = np.arange(bottom, top - size[1], size[1])
    lattice = np.array(np.meshgrid(columns, rows)).reshape(2, -1).T
    every = np.vstack([*rings, lattice])
    surcharges = np.where(np.arange(len(every)) < len(every) - len(lattice), 0.0, ANYWHERE)
    low, high = np.array((left, bottom)), np.array((right, top)) - size
    inside = np.all((every >= low) & (every <= high), axis=1)
    far = np.hypot(*(np.clip(anchor, every, every + size) - anchor).T)
    near = far <= max(FARTHEST * max(right - left, top - bottom), LEAST_FARTHEST)
    return every[inside & near], surcharges[inside & near]


def _cheapest(
    anchor: FloatArray,
    size: FloatArray,
    corners: FloatArray,
    prices: FloatArray,
    others: FloatArray,
    their_sizes: FloatArray,
    their_corners: FloatArray,
) -> FloatArray:
    """The cheapest place given where others are; looked for from the cheapest offer on, until no other can be cheaper."""
    best, least = np.full(2, np.nan), np.inf
    for start in range(0, len(corners), AT_A_TIME):
        if prices[start] >= least:
            break
        some = slice(start, start + AT_A_TIME)
        near = corners[some][:, None, :]
        covers = np.all((near < their_corners + their_sizes) & (near + size > their_corners), axis=-1)
        free = ~np.any(covers, axis=1)
        if free.any():
            places = corners[some][free]
            price = prices[some][free] + _crossings(anchor, size, places, others, their_sizes, their_corners)
            if price.min() < least:
                best, least = places[int(np.argmin(price))], price.min()
    return best


def _crossings(
    anchor: FloatArray,
    size: FloatArray,
    corners: FloatArray,
    others: FloatArray,
    their_sizes: FloatArray,
    their_corners: FloatArray,
) -> FloatArray:
    """What places cost for leading lines that cross names or each other, given where others are."""
    corners, anchor = corners[:, None, :], anchor[None, None, :]
    ends = np.clip(anchor, corners, corners + size)
    their_ends = np.clip(others, their_corners, their_corners + their_sizes)
    leads = np.hypot(*np.moveaxis(ends - anchor, -1, 0)) > NEAR
    they_lead = np.hypot(*(their_ends - others).T) > NEAR
    price = CROSSED_NAME * (leads & _enters(anchor, ends, their_corners, their_corners + their_sizes))
    price += CROSSED_NAME * (they_lead & _enters(others, their_ends, corners, corners + size))
    price += CROSSED_LINE * (leads & they_lead & _cross(anchor, ends, others, their_ends))
    return np.asarray(price.sum(axis=1))


def _enters(start: FloatArray, end: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Whether segments pass through boxes, by clipping them against the two sides of each axis."""
    way = end - start
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (low - start) / way, (high - start) / way
    flat, within = way == 0, (start > low) & (start < high)
    enter = np.where(flat, np.where(within, -np.inf, np.inf), np.fmin(first, second)).max(axis=-1)
    leave = np.where(flat, np.where(within, np.inf, -np.inf), np.fmax(first, second)).min(axis=-1)
    return np.asarray((enter < leave) & (leave > 1e-9) & (enter < 1 - 1e-9))


def _cross(start: FloatArray, end: FloatArray, other: FloatArray, other_end: FloatArray) -> BoolArray:
    """Whether segments cross; that they touch at their ends does not count."""
    first = _side(other, other_end, start) * _side(other, other_end, end)
    return np.asarray((first < 0) & (_side(start, end, other) * _side(start, end, other_end) < 0))


def _side(start: FloatArray, end: FloatArray, point: FloatArray) -> FloatArray:
    """On which side of a line a point is: positive to the left of it."""
    way, to = end - start, point - start
    return np.asarray(way[..., 0] * to[..., 1] - way[..., 1] * to[..., 0])
