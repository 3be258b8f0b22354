"""The front that answers a pointer and keys, as HTML: what an option is, has and is beaten by, at its point.

One element of a page holds the static picture and a record; a script shows the record instead. Where no script runs, and in
print, the picture stays. Nothing is loaded from anywhere: the page has the script, and uPlot, which draws the axes, once.
"""

from __future__ import annotations

import base64
import functools
import html
import itertools
import json
import math
from dataclasses import asdict
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick._words import capital, probability
from paretopick.plots.fronts import RADIUS, FrontData
from paretopick.plots.options import IN_ANSWER, NORMAL, Options, headline, telling_metrics
from paretopick.plots.outputs import to_png, to_svg
from paretopick.plots.pictures import figure_of
from paretopick.plots.style import BLUE, FORBIDDEN, GREY, KINDS
from paretopick.studies.result import OptionResult, ParetoResult

if TYPE_CHECKING:
    from paretopick.plots.scales import Scale

MEASURED = "measured"
"""The column of tables before which the probability of being Pareto-optimal is told, where there are margins."""

LIBRARY = "vendor/uplot"
"""Where uPlot is, and its licence, which goes into every page with it."""


def interactive_front(result: ParetoResult, *, static: str | None = None, assets: bool = True) -> str:
    """Returns the front of a result as a part of an HTML page that answers a pointer and keys.

    Who points at an option, taps it or moves to it with the arrow keys sees its status, its mean and 95% interval in every
    metric, how probable it is and who beats it. With more than two metrics, the two that are shown can be chosen. Until the
    script runs, where none does and in print, the static picture is shown; and nothing else without two metrics with a goal.

    Args:
        result: of a study, done or not.
        static: the static picture as HTML; by default the one that suits the result, as SVG.
        assets: whether to put style and script before it, which a page needs once: see ``interactive_assets``.

    ::

        page = f"<!DOCTYPE html><html><body>{interactive_front(study.result())}</body></html>"
    """
    shown = to_svg(figure_of(result, title=""), title=headline(result), salt="static") if static is None else static
    picture = f'<div class="pp-static">{shown}</div>'
    if not has_front(result):
        return f'<div class="pp-front">{picture}</div>'
    before = interactive_assets() if assets else ""
    return f'{before}<div class="pp-front" data-pp-front>{picture}{_data(front_record(result))}</div>'


@functools.cache
def interactive_assets() -> str:
    """Returns the style and the scripts of interactive fronts as parts of an HTML page, which needs them once.

    >>> [interactive_assets().count(tag) for tag in ("<style>", "<script>", "src=")]
    [1, 2, 0]
    """
    files = interactive_files()
    scripts = "".join(f"<script>{text}</script>\n" for name, text in files.items() if name.endswith(".js"))
    return f"<style>{files['front.css']}</style>\n{scripts}"


def interactive_files() -> dict[str, str]:
    """Returns what ``interactive_assets`` has as files for a server, whose pages then need no script or style within them.

    >>> list(interactive_files())
    ['front.css', 'uplot.js', 'front.js']
    """
    licence = f"/*! uPlot. {_text(f'{LIBRARY}/LICENSE').strip()} */"
    return {
        "front.css": "\n".join(map(_text, (f"{LIBRARY}/uPlot.min.css", "web/frame.css", "web/front.css"))),
        "uplot.js": f"{licence}\n{_text(f'{LIBRARY}/uPlot.iife.min.js')}",
        "front.js": "".join(map(_text, ("web/ticks.js", "web/drawing.js", "web/front.js"))),
    }


def notebook_front(result: ParetoResult) -> str:
    """Returns the front of a result for the output of a notebook's cell: nothing before anything was measured.

    The static picture, and an empty frame of its own with all that the interactive one needs. When its script runs, the frame
    takes the place of the picture. So cells do not disturb each other or the notebook; and where frames and scripts are taken
    out, as of notebooks that are not trusted, the picture is left.
    """
    if not any(row.measurements for row in result.options):
        return ""
    title = html.escape(headline(result))
    png = base64.b64encode(to_png(figure_of(result, title=""))).decode()
    picture = f'<div class="pp-static"><img alt="{title}" style="max-width: 100%" src="data:image/png;base64,{png}"></div>'
    if not has_front(result):
        return f'<div class="pp-front">{picture}</div>'
    page = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"></head><body style="margin: 0; background: transparent">'
        f'<div data-pp-front>{_data(front_record(result))}</div>\n<style class="pp-outside">{_text("web/frame.css")}</style>\n'
        f"{interactive_assets()}</body></html>"
    )
    inside = page.replace("&", "&amp;").replace("'", "&#39;")  # in which double quotes, of which there are many, may stay
    frame = f'<iframe class="pp-frame" title="{title}" width="100%" height="0" frameborder="0"'
    return f"<div class=\"pp-front\">{picture}{frame} srcdoc='{inside}'></iframe></div>"


def has_front(result: ParetoResult) -> bool:
    """Whether there is a front to be shown: two metrics with a goal, and an option that was measured."""
    return sum(metric.compared for metric in result.metric_records) > 1 and any(row.measurements for row in result.options)


def front_record(result: ParetoResult) -> dict[str, Any]:
    """Returns what the script shows of a result, as JSON values: numbers to draw by, and texts as the tables have them.

    Args:
        result: with at least two metrics that have a goal.
    """
    metrics = result.metric_records
    options = Options.of(result, ())
    places = {name: place for place, name in enumerate(options.names)}
    known = [dict(_known(result, metric.name)) for metric in metrics]
    texts = _facts(result)
    both = itertools.combinations(range(len(metrics)), 2)
    pairs = {f"{x} {y}": _pair(FrontData.of(result, metrics[x].name, metrics[y].name), places) for x, y in both}
    compared = [place for place, metric in enumerate(metrics) if metric.compared]
    if len(compared) > 2:
        for pair in pairs.values():
            pair["notes"].insert(0, f"Two of {len(metrics)} metrics are shown: who looks beaten here may be ahead in another.")
    return {
        "title": headline(result),
        "settled": result.done,
        "shown": sorted(list(result.metrics).index(name) for name in telling_metrics(result)[:2]),
        "metrics": [{"name": metric.name, "log": metric.log} for metric in metrics],
        "correlation": None if result.correlation is None else np.clip(result.correlation, -1.0, 1.0).tolist(),
        "radius": RADIUS,
        "normal": NORMAL,
        "colours": {"front": BLUE, "limit": FORBIDDEN, "baseline": GREY, "dominated": "#555555"},
        "kinds": {name: asdict(kind) for name, kind in KINDS.items() if name in options.kinds},
        "headings": _headings(result),
        "options": [
            {
                "name": name,
                "kind": kind,
                "in_answer": kind in IN_ANSWER,
                "means": [numbers.get(name, (None, None))[0] for numbers in known],
                "errors": [numbers.get(name, (None, None))[1] for numbers in known],
                **texts[name],
            }
            for name, kind in zip(options.names, options.kinds, strict=True)
        ],
        "pairs": pairs,
    }


def _known(result: ParetoResult, metric: str) -> zip[tuple[str, tuple[float, float | None]]]:
    """The options of which a metric is known, each with its mean and how far off that may be, as it is compared."""
    options = Options.of(result, [metric])
    errors = [error if math.isfinite(error) else None for error in options.errors[:, 0].tolist()]
    return zip(options.names, zip(options.means[:, 0].tolist(), errors, strict=True), strict=True)


def _pair(data: FrontData, places: dict[str, int]) -> dict[str, Any]:
    """What is drawn of two metrics."""
    return {
        "x": _axis(data.x),
        "y": _axis(data.y),
        "points": [places[name] for name in data.names],
        "tags": list(data.tags),
        "regions": [region is not None for region in data.regions],
        "stairs": data.stairs.tolist(),
        "band": data.band.tolist(),
        "baseline": None if data.baseline is None else places[data.names[data.baseline]],
        "notes": list(data.notes),
    }


def _axis(scale: Scale) -> dict[str, Any]:
    mark = scale.forbidden
    return {
        **scale.label._asdict(),
        "ends": list(scale.ends),
        "log": scale.log,
        "forbidden": None if mark is None else {**asdict(mark), "span": list(mark.span), "in_sight": mark.in_sight},
    }


def _headings(result: ParetoResult) -> list[str]:
    """What the facts of an option are: each metric, then what follows the metrics in tables, but for who beats it."""
    header, _ = result.cells()
    n_columns = sum(len(metric.headings) for metric in result.metric_records)
    others = header[2 + n_columns : -1]
    if result.has_margins:
        others.insert(others.index(MEASURED), "P(optimal)")
    return [*(metric.name for metric in result.metric_records), *others]


def _facts(result: ParetoResult) -> dict[str, dict[str, Any]]:
    """Of each option, by its name, the facts in words, and why it is out."""
    header, table = result.cells()
    told = {}
    for row, (_, _, *cells, why) in zip(result.ranked(), table, strict=True):
        facts = []
        for metric in result.metric_records:
            (mean, *interval), cells = cells[: len(metric.headings)], cells[len(metric.headings) :]
            around = f" ({interval[0]})" if any(interval) else ""
            facts.append(f"{mean}{metric.unit_text}{around}" if mean else "not measured")
        if result.has_margins:
            cells.insert(header[-1 - len(cells) :].index(MEASURED), probability(row.probability))
        told[row.option] = {"facts": facts + cells, "more": _why_out(row, why)}
    return told


def _why_out(row: OptionResult, why: str) -> str:
    if not why or (row.beyond and not row.in_answer):
        return capital(why)
    return f"{'Most likely beaten' if row.in_answer else 'Beaten'} by {why}"


def _data(record: dict[str, Any]) -> str:
    """A record as a part of a page from which no text in it can break out."""
    text = json.dumps(record, allow_nan=False, separators=(",", ":"))  # all characters beyond ASCII are escaped
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json">{text}</script>'


def _text(name: str) -> str:
    """A file beside this one."""
    return resources.files(__package__).joinpath(*name.split("/")).read_text(encoding="utf-8")
