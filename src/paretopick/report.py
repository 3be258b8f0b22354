"""The report of a study: one page that says what was found, how sure that is, and how to do it again.

What it says is put together once, as a ``Report``; ``to_html`` and ``to_markdown`` only write it down.
"""

from __future__ import annotations

import html
import json
import platform
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from paretopick import plots
from paretopick._tables import markdown_table, markdown_text
from paretopick._words import listed, percent, probability, some
from paretopick.events import Event
from paretopick.studies import ParetoResult, Study
from paretopick.studies.definition import Definition
from paretopick.studies.files import StudyFile, study_file_text
from paretopick.studies.result import OptionResult
from paretopick.studies.tables import time_text

REHEARSALS = 500
REHEARSALS_WITH_EXACT_METRICS = 50
"""How often a study is simulated at the means as measured, unless told otherwise; the latter have no kernels."""

PICTURES = ("front", "timeline")

MARK = "<!-- report of paretopick -->"
"""How a report is known, so that a new one may replace it."""


@dataclass(frozen=True)
class Report:
    """Everything that a report says, as texts."""

    study: str
    answer: str
    how_sure: str
    result: ParetoResult
    certainty: tuple[str, ...]
    """How sure, in sentences."""
    facts: tuple[tuple[str, str], ...]
    """How it was measured."""
    incidents: tuple[tuple[str, ...], ...]
    """Measurements that failed or were voided, and options that were retired: a header, and a row for each."""
    repeat: str
    """What to type to do it again."""
    versions: str
    written: str


def make_report(study: Study, *, rehearsals: int | None = None) -> Report:
    """Returns what a report says about a study, at any time.

    Args:
        study: done, or in progress.
        rehearsals: how often to simulate it at the means as measured; by default 500 times, or 50 if metrics are exact.
    """
    usual = REHEARSALS_WITH_EXACT_METRICS if study.definition.exact else REHEARSALS
    result = study.result(rehearsals=usual if rehearsals is None else rehearsals)
    state, rows = study.status(), study.measurements()
    return Report(
        study=study.name,
        answer=result.sentence,
        how_sure=_how_sure(result),
        result=result,
        certainty=tuple(_certainty(result)),
        facts=tuple(_facts(study.definition, result, state, rows)),
        incidents=tuple(_incidents(study.definition, rows, study.events())),
        repeat=repeat(study.name, study.definition, result.budget),
        versions=f"paretopick {version('paretopick')}, Python {platform.python_version()}, NumPy {version('numpy')}, "
        f"{platform.system()} {platform.machine()}",
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _how_sure(result: ParetoResult) -> str:
    """In one sentence."""
    if result.certainty.probability is None:
        return f"How sure that is, the measurements cannot say: {_lower(result.certainty.how)}"
    text = f"This set is right with probability {probability(result.certainty.probability)}"
    open_ = [f"{row.option} ({probability(row.probability)}{_outside(row, result)})" for row in result.doubtful[:3]]
    return f"{text}; the doubt is mostly about {listed(open_)}." if open_ else f"{text}."


def _outside(row: OptionResult, result: ParetoResult) -> str:
    return "" if row.option in result.pareto else "; not in it"


def _certainty(result: ParetoResult) -> Iterable[str]:
    yield result.certainty.how
    if result.certainty.interval is not None and result.certainty.draws:
        low, high = map(probability, result.certainty.interval)
        yield (
            f"That is {probability(result.certainty.probability)}, with a 95% interval from {low} to {high} that comes from the "
            "number of draws alone."
        )
        yield (
            "P(optimal) in the table is the share of these draws in which an option is Pareto-optimal. How well such numbers are "
            "borne out, in thousands of simulated studies whose truth was known, is in docs/calibration.md of paretopick."
        )
    if result.rehearsal is not None:
        low, high = map(percent, result.rehearsal.interval)
        yield (
            f"{result.rehearsal.how} That is {percent(result.rehearsal.rate)} ({low} to {high}). It says how reliable a study of "
            "this size, started anew, is for a problem that looks like this one; not how likely this answer is to be right."
        )


def _facts(
    definition: Definition, result: ParetoResult, state: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> Iterable[tuple[str, str]]:
    for metric in definition.metrics:
        yield f"metric {metric.name}", metric.direction + (", exact" if metric.exact else "")
    yield "options", f"{len(definition.options):,}"
    yield "measurements", f"{result.used:,} of a budget of {result.budget:,}"
    options = "".join(f", {key}={json.dumps(value)}" for key, value in definition.policy_options.items())
    yield "policy", f"{definition.policy}{options}"
    if state["rounds"]:
        yield "rounds", f"{state['rounds']:,}" if result.done else f"in round {state['round']:,} of {state['rounds']:,}"
    yield "metrics compared", _scale(definition)
    if definition.command:
        yield "measured by", shlex.join(definition.command) if len(definition.command) > 1 else definition.command[0]
    if rows:
        yield "first and last", f"{_time(min(row['at'] for row in rows))} to {_time(max(row['at'] for row in rows))}"
        workers = sorted({row["worker"] for row in rows if row["worker"]})
        yield "workers", some(workers, most=4) or "none (measured beforehand)"
    counts = {status: sum(row["status"] == status for row in rows) for status in ("failed", "voided")}
    yield "failed, voided", f"{counts['failed']:,}, {counts['voided']:,}"
    yield "database", str(state["storage"])


def _scale(definition: Definition) -> str:
    if isinstance(definition.scale, Mapping):
        return ", ".join(f"{name} divided by {width:g}" for name, width in definition.scale.items())
    return "in units of their noise, from repeats" if definition.scale == "noise" else "as they are"


def _incidents(definition: Definition, rows: Sequence[Mapping[str, Any]], events: Iterable[Event]) -> Iterable[tuple[str, ...]]:
    """A header and a row for everything that went wrong, when it was said to have; nothing at all if nothing did."""
    told = {row["number"]: row for row in rows}
    bad = [event for event in events if event.kind in ("failed", "voided", "retired")]
    if bad:
        yield ("what", "option", "round", *definition.goals, "why", "worker", "when")
    for event in bad:
        option = definition.options[event.arm or 0]
        why = str((event.details or {}).get("why", ""))
        if event.kind == "retired":
            yield ("option retired", option, "", *[""] * len(definition.metrics), why, event.worker or "", _time(event.at))
            continue
        row = told[event.number]
        values = ("" if row[name] is None else f"{row[name]:.6g}" for name in definition.goals)
        place = "" if row["round"] is None else str(row["round"])
        what = f"measurement {event.number} {event.kind}"
        yield (what, option, place, *values, why, event.worker or row["worker"] or "", _time(event.at))


def repeat(name: str, definition: Definition, budget: int) -> str:
    """Returns what to do to make the same study again: the file of a study, and what to type."""
    text = study_file_text(StudyFile(name, replace(definition, budget=budget)))
    verb = "run" if definition.command else "create"
    return f"{text}\n# saved as study.toml:\n# paretopick {verb} study.toml"


def _time(at: float) -> str:
    return f"{time_text(at)[:19].replace('T', ' ')} UTC"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


# Two ways to write it down.

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto; padding: 1.5rem;
  max-width: 68rem; }
h1 { font-size: 1.3rem; font-weight: 600; color: #555; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; }
.answer { font-size: 1.5rem; line-height: 1.35; font-weight: 600; margin: .6rem 0; overflow-wrap: anywhere; }
.sure { font-size: 1.1rem; margin: .4rem 0 1.2rem; overflow-wrap: anywhere; }
.scroll, figure { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #eee; vertical-align: top; white-space: nowrap; }
th { border-bottom: 2px solid #999; }
.text { text-align: left; white-space: normal; overflow-wrap: break-word; }
.text:first-child, .text:last-child { min-width: 7rem; max-width: 20rem; overflow-wrap: anywhere; }
tr { background: #fff; }
tr.pareto { background: #e8f1fb; font-weight: 600; }
tr.undecided { background: #fff4e0; }
tr.retired { color: #888; }
td:first-child { position: sticky; left: 0; background: inherit; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 0; }
dt { color: #555; } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 0; } figure svg { width: 100%; min-width: 36rem; height: auto; display: block; }
pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.hint { display: none; color: #777; font-size: .85rem; }
footer { margin-top: 2.5rem; color: #777; font-size: .85rem; }
@media (max-width: 600px) {
  body { padding: 1rem; font-size: 15px; } .answer { font-size: 1.25rem; }
  th, td { padding: .25rem .4rem; } .hint { display: block; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin: 0 0 .5rem; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; } h2 { break-after: avoid; } figure, tr { break-inside: avoid; }
  .scroll, figure { overflow: visible; } figure svg { min-width: 0; } td:first-child { position: static; }
  table { font-size: 8pt; } tr.pareto { print-color-adjust: exact; }
}
"""


def to_html(report: Report) -> str:
    """Returns the report as one HTML page that needs nothing else."""
    say = html.escape
    result = report.result
    pictures = {name: plots.to_svg(figure, title=report.answer, salt=name) for name, figure in _pictures(result).items()}
    body = [
        f"<header>\n<h1>{say(report.study)}</h1>",
        f'<p class="answer">{say(report.answer)}</p>\n<p class="sure">{say(report.how_sure)}</p>\n</header>',
        '<p class="hint">Wide pictures and tables can be moved sideways.</p>',
    ]
    for name, title in (("front", "The options"), ("table", "What was measured"), ("timeline", "Who left when")):
        if name == "table":
            body.append(f'<h2>{title}</h2>\n<div class="scroll">{result.to_html_table()}</div>\n{_html_list(result.notes)}')
        elif name in pictures:
            body.append(f"<h2>{title}</h2>\n<figure>{pictures[name]}</figure>")
    body.append("<h2>How sure that is</h2>\n" + "\n".join(f"<p>{say(sentence)}</p>" for sentence in report.certainty))
    facts = "\n".join(f"<dt>{say(key)}</dt><dd>{say(value)}</dd>" for key, value in report.facts)
    body.append(f"<h2>How it was measured</h2>\n<dl>\n{facts}\n</dl>")
    body.append(f"<h2>What went wrong</h2>\n{_html_incidents(report.incidents)}")
    body.append(f"<h2>Do it again</h2>\n<pre>{say(report.repeat)}</pre>\n<p>{say(report.versions)}</p>")
    body.append(f"<footer>Written {say(report.written)} by paretopick.</footer>")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{MARK}\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{say(report.study)}: Pareto-optimal options</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _pictures(result: ParetoResult) -> dict[str, Any]:
    """The figures of a result; none before anything was measured."""
    if not any(row.measurements for row in result.options):
        return {}
    return {"front": plots.figure_of(result, title=""), "timeline": plots.timeline_of(result, title="")}


def _html_list(notes: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{html.escape(note)}</li>" for note in notes) + "</ul>" if notes else ""


def _html_incidents(rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return "<p>Nothing: no measurement failed or was voided, no option was retired.</p>"
    lines = []
    for row, tag in zip(rows, ["th"] + ["td"] * (len(rows) - 1), strict=True):
        lines.append("<tr>" + "".join(f'<{tag} class="text">{html.escape(cell)}</{tag}>' for cell in row) + "</tr>")
    return '<div class="scroll"><table>\n' + "\n".join(lines) + "\n</table></div>"


def to_markdown(report: Report, pictures: Mapping[str, str] | None = None) -> str:
    """Returns the report as Markdown.

    Args:
        report: made by ``make_report``.
        pictures: name of a picture ("front", "timeline") to where it is.
    """
    say = markdown_text
    result = report.result
    where = pictures or {}
    parts = [f"{MARK}\n\n# {say(report.study)}", f"**{say(report.answer)}**", say(report.how_sure)]
    if "front" in where:
        parts += ["## The options", f"![The options]({quote(where['front'])})"]
    header, rows = result.cells()
    parts += ["## What was measured", markdown_table(header, rows)]
    parts += ["\n".join(f"- {say(note)}" for note in result.notes)] if result.notes else []
    if "timeline" in where:
        parts += ["## Who left when", f"![Who left when]({quote(where['timeline'])})"]
    parts += ["## How sure that is", *map(say, report.certainty)]
    parts += ["## How it was measured", markdown_table(["", ""], report.facts)]
    parts.append("## What went wrong")
    parts.append(markdown_table(report.incidents[0], report.incidents[1:]) if report.incidents else "Nothing.")
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", report.repeat)), default=0))
    parts += ["## Do it again", f"{fence}\n{report.repeat}\n{fence}", say(report.versions), f"Written {report.written}."]
    return "\n\n".join(parts) + "\n"


def write_pictures(report: Report, path: Path) -> dict[str, Path]:
    """Writes the pictures of a report beside a file, as PNG, and returns where they are."""
    written = {}
    for name, figure in _pictures(report.result).items():
        written[name] = plots.save_png(figure, picture_path(path, name))
    return written


def picture_path(path: Path, name: str) -> Path:
    """Returns where the picture of such a name beside a Markdown report is."""
    return path.with_name(f"{path.stem}-{name}.png")
