"""Names never overlap, and stay where they may be."""

import numpy as np
import pytest

from paretopick.plots.labels import place, spread
from support.example_results import overlaps

FRAME = (50.0, 40.0, 600.0, 440.0)


def clouds():
    rng = np.random.default_rng(3)
    low, high = np.array(FRAME[:2]), np.array(FRAME[2:])
    everywhere = rng.uniform(low, high, size=(30, 2))
    yield "random", everywhere
    yield "one cluster", (low + high) / 2 + rng.normal(scale=8, size=(30, 2))
    yield "the same point", np.tile((low + high) / 2, (30, 1))
    yield "a corner", np.tile(low + 1, (30, 1))


@pytest.fixture(scope="module", params=list(clouds()), ids=lambda cloud: cloud[0])
def placed(request):
    _, anchors = request.param
    sizes = np.column_stack((np.random.default_rng(0).uniform(20, 130, 30), np.full(30, 12.0)))
    corners = place(anchors, sizes, anchors, np.full(30, 70.0), FRAME)
    return anchors, sizes, corners


@pytest.mark.slow
def test_no_name_covers_another(placed):
    _, sizes, corners = placed
    assert overlaps(np.hstack((corners, corners + sizes + 1.0))) == []  # not even nearly


def test_names_lie_within_the_frame(placed):
    _, sizes, corners = placed
    assert (corners >= FRAME[:2]).all()
    assert (corners + sizes <= FRAME[2:]).all()


@pytest.mark.parametrize("x", [300.0, 303.3, 311.7])
def test_a_lone_name_stands_beside_its_point_and_covers_nothing(x):
    anchor, size, others = np.array([[x, 201.1]]), np.array([[60.0, 12.0]]), np.array([[x, 201.1], [x + 40.0, 205.0]])
    (corner,) = place(anchor, size, others, np.full(2, 70.0), FRAME)
    nearest = np.clip(anchor[0], corner, corner + size[0])
    assert np.hypot(*(nearest - anchor[0])) == pytest.approx(7.0)  # the smallest ring
    for point in others:
        assert not ((point > corner) & (point < corner + size[0])).all()


def test_the_same_points_get_the_same_places():
    rng = np.random.default_rng(1)
    anchors, sizes = rng.uniform(100, 300, size=(20, 2)), np.tile((70.0, 12.0), (20, 1))
    first, second = (place(anchors, sizes, anchors, np.full(20, 70.0), FRAME) for _ in range(2))
    assert (first == second).all()


def test_a_name_without_room_has_no_place():
    frame = (0.0, 0.0, 100.0, 25.0)
    anchors, sizes = np.full((3, 2), 10.0), np.array([(90.0, 12.0), (90.0, 12.0), (90.0, 12.0)])
    corners = place(anchors, sizes, anchors, np.full(3, 70.0), frame)
    assert np.isnan(corners).all(axis=1).sum() == 1
    assert np.isnan(place(anchors, np.full((3, 2), 200.0), anchors, np.full(3, 70.0), frame)).all()


@pytest.mark.parametrize("seed", range(20))
def test_names_along_a_line_keep_their_distance_and_their_order(seed):
    rng = np.random.default_rng(seed)
    wanted = rng.choice([0.0, 0.1, 0.5, 0.9, 1.0], 12) + rng.uniform(0, 0.05, 12)
    middles = spread(wanted, 0.06, 0.0, 1.05)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(middles[order]) > 0.06 - 1e-12).all()
    assert (middles >= 0).all()
    assert (middles <= 1.05 + 1e-12).all()


def test_names_along_a_line_stay_where_there_is_room():
    assert spread(np.array([0.9, 0.1, 0.5]), 0.1, 0.0, 1.0) == pytest.approx([0.9, 0.1, 0.5])
    assert spread(np.array([]), 0.1, 0.0, 1.0).tolist() == []


def test_names_that_do_not_fit_along_a_line_share_it_evenly():
    assert np.sort(spread(np.full(5, 0.5), 1.0, 0.0, 1.0)) == pytest.approx([0, 0.25, 0.5, 0.75, 1])
