"""Results whose fronts are shown in pages: with margins, limits, units and names that are hard to show."""

from dataclasses import replace

from paretopick import Metric
from paretopick.studies.differences import Beaten, Difference
from support.example_results import option_result, result

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "it's \"quoted\" & 'more' &amp; more",
    "line\u2028and\u2029paragraph",
    "\u202eright to left\u202c \u05d0\u05d1\u05d2",
    "plain",
]


def within():
    """Six options in two metrics, with margins and a limit: two in the answer, one open, one covered, one beaten, one beyond."""
    metrics = [Metric("seconds", "min", margin="10%", at_most=40, unit="s"), Metric("ratio", "max", margin=0.05)]
    rows = [
        ("pareto", (1.0, 2.0), (0.9, 1.1)),
        ("pareto", (10.0, 3.0), (9.0, 11.0)),
        ("open", (20.0, 3.2), (18.0, 22.0)),
        ("dominated", (1.05, 1.98), (1.0, 1.1)),
        ("dominated", (12.0, 2.0), (11.0, 13.0)),
        ("infeasible", (50.0, 3.5), (45.0, 55.0)),
    ]
    options = []
    for name, (status, (seconds, ratio), ends) in zip(HOSTILE, rows, strict=True):
        row = option_result(name, status, {"seconds": seconds, "ratio": ratio}, probability=0.62)
        intervals = {"seconds": ends, "ratio": (ratio - 0.1, ratio + 0.1)}
        options.append(replace(row, intervals=intervals, worth_keeping=0.71, within_limits=0.93, in_answer=status == "pareto"))
    by = Beaten(HOSTILE[1], 0.9, (Difference("seconds", -2.0, (-3.0, -1.0), unit="s"),))
    options[4] = replace(options[4], beaten_by=by, worth_keeping=0.1)
    options[5] = replace(options[5], beyond=("seconds",))
    return result(options, metrics, correlation=((1.0, 0.4), (0.4, 1.0)))


def in_three_metrics():
    """Three options in three metrics, of which one option lacks the last."""
    means = {"a": (1.0, 2.0, 30.0), "b": (2.0, 3.0, 1000.0), "c": (3.0, 1.0, None)}
    metrics = {"speed": "max", "quality": "max", "cost": "min"}
    options = [option_result(name, "pareto", dict(zip(metrics, row, strict=True))) for name, row in means.items()]
    return result(options, metrics)
