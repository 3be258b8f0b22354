"""Results made by hand, and what is to be seen of a figure."""

import itertools
from dataclasses import replace

import numpy as np
from matplotlib.text import Text

from paretopick import Certainty, OptionResult, ParetoResult
from paretopick.metrics import check_metrics


def option_result(option, status, means, errors=(), *, interval=None, probability=None, measurements=5, left=None):
    """An option; ``means`` by metric, and ``errors`` alike, unknown by default; the same interval in all metrics."""
    return OptionResult(
        option=option,
        status=status,
        dominated_by=(),
        probability=probability,
        measurements=measurements,
        means=means,
        standard_errors=dict(zip(means, errors or [None] * len(means), strict=True)),
        intervals=dict.fromkeys(means, interval),
        left_in_round=left,
        in_answer=status == "pareto",
    )


def result(options, metrics, *, correlation=None, done=True, pareto=None, rounds=5):
    answer = tuple(one.option for one in options if one.in_answer) if pareto is None else pareto
    options = [replace(one, in_answer=one.option in answer) for one in options]
    return ParetoResult(
        study_name="made by hand",
        done=done,
        answer=answer,
        options=tuple(options),
        certainty=Certainty(None, None, 0, ""),
        rehearsal=None,
        metric_records=check_metrics(metrics),
        correlation=correlation,
        policy="ege-sr",
        budget=100,
        used=sum(one.measurements for one in options),
        round=rounds,
        notes=(),
    )


def many(n_options, n_metrics, *, names=None, points=None, n_pareto=None, done=True, status="dominated"):
    """A result with random means; the first ``n_pareto`` options are Pareto-optimal, a third by default."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n_options, n_metrics)) if points is None else np.array(points)
    names = [f"option {i + 1}" for i in range(n_options)] if names is None else names
    metrics = {f"metric {d + 1}": goal for d, goal in zip(range(n_metrics), itertools.cycle(("max", "min")), strict=False)}
    n_pareto = n_options // 3 + 1 if n_pareto is None else n_pareto
    options = [
        option_result(
            name,
            "pareto" if i < n_pareto else status,
            dict(zip(metrics, map(float, point), strict=True)),
            [0.1] * n_metrics,
            left=min(i + 1, 40),
        )
        for i, (name, point) in enumerate(zip(names, points, strict=True))
    ]
    return result(options, metrics, done=done, rounds=40)


def boxes(texts):
    """Left, bottom, right and top of texts as they are drawn, in pixels; without the lines that lead to them."""
    return np.array([Text.get_window_extent(text).extents for text in texts if text.get_text()]).reshape(-1, 4)


def overlaps(extents):
    """Pairs of boxes that share more than a pixel in both directions."""
    return [
        (i, j)
        for i, j in itertools.combinations(range(len(extents)), 2)
        if (np.minimum(extents[i, 2:], extents[j, 2:]) - np.maximum(extents[i, :2], extents[j, :2]) > 1.0).all()
    ]
