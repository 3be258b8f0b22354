"""The report as one HTML page that needs nothing else."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from paretopick import plots
from paretopick.metrics import INTERVAL
from paretopick.report.choices import with_unit
from paretopick.report.contents import Report
from paretopick.report.pictures import course_title, pictures_of, timeline_title
from paretopick.studies import ParetoResult
from paretopick.studies.pages import cells as cells_of

MARK = "<!-- report of paretopick -->"
"""How a report is known, so that a new one may replace it."""

LONGEST_WORD = 24
"""So many characters of a name stay on one line; the browser breaks longer words where it likes."""

MOST_COLUMNS = 8
"""So many fit beside each other on a screen of 1200 pixels."""

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto; padding: 1.5rem;
  max-width: 80rem; }
p, ul { max-width: 62rem; }
h1 { font-size: 1.3rem; font-weight: 600; color: #555; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; }
.answer { font-size: 1.5rem; line-height: 1.35; font-weight: 600; margin: .6rem 0; overflow-wrap: anywhere; }
.asked { color: #555; margin: .4rem 0; overflow-wrap: anywhere; }
.sure, .next, .today { font-size: 1.1rem; margin: .4rem 0; overflow-wrap: anywhere; }
.legend { color: #555; font-size: .85rem; } ul { padding-left: 1.2rem; } li { overflow-wrap: anywhere; }
.scroll, figure { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #eee; vertical-align: top; white-space: nowrap; }
th { border-bottom: 2px solid #999; vertical-align: bottom; white-space: normal; overflow-wrap: break-word; }
.text { text-align: left; white-space: normal; overflow-wrap: break-word; }
.text:first-child { min-width: 6rem; max-width: 16rem; } .whole { white-space: nowrap; }
.text:last-child { min-width: 13rem; max-width: 30rem; overflow-wrap: anywhere; }
.status { text-align: left; white-space: normal; }
td.below { text-align: left; white-space: normal; position: static; padding: 0 .6rem .3rem 2rem; color: #444; font-weight: 400; }
.interval { display: block; color: #666; font-size: .8rem; font-weight: 400; }
tr { background: #fff; }
tr.pareto { background: #e8f1fb; } tr.pareto .text:first-child { font-weight: 600; }
tr.open { background: #fff4e0; }
tr.infeasible { background: #f8eef4; }
tr.retired { color: #888; }
td:first-child { position: sticky; left: 0; background: inherit; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 0; }
dt { color: #555; } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 0; max-width: 62rem; } figure svg { width: 100%; min-width: 36rem; height: auto; display: block; }
pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
footer { margin-top: 2.5rem; color: #777; font-size: .85rem; }
@media screen and (max-width: 600px) {
  body { padding: 1rem; font-size: 15px; } .answer { font-size: 1.25rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin: 0 0 .5rem; }
  table, tbody, tr { display: block; } thead { display: none; }
  tr { border-top: 1px solid #ddd; padding: .4rem .3rem; } tr.more { border: 0; padding-top: 0; }
  td, .text:first-child, .text:last-child { display: inline-block; position: static; border: 0; padding: 0 .9rem .1rem 0;
    min-width: 0; max-width: 100%; text-align: left; white-space: normal; }
  td:first-child, .text, .text:first-child, .text:last-child { display: block; } td:first-child { font-weight: 600; }
  td:empty { display: none !important; } td.below { padding: 0; font-weight: 400; }
  td[data-label]::before { content: attr(data-label) " "; color: #666; } .interval { display: inline; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; } h2 { break-after: avoid; } figure, tr { break-inside: avoid; }
  .scroll, figure { overflow: visible; } figure svg { min-width: 0; } td:first-child { position: static; }
  table { font-size: 8pt; } tr { print-color-adjust: exact; }
}
"""


def to_html(report: Report) -> str:
    """Returns the report as one HTML page that needs nothing else."""
    say = html.escape
    result = report.result
    drawn = {name: plots.to_svg(figure, title=report.answer, salt=name) for name, figure in pictures_of(report).items()}
    body = [
        f"<header>\n<h1>{say(report.study)}</h1>",
        f'<p class="answer">{say(report.answer)}</p>',
        f'<p class="asked">{say(report.asked)}</p>' if report.asked else "",
        f'<p class="sure">{say(report.how_sure)}</p>',
        ""
        if report.against_baseline is None
        else f'<p class="today"><strong>Compared with {say(report.baseline or "")}?</strong> {say(report.against_baseline)}</p>',
        "" if report.next_step is None else f'<p class="next"><strong>{report.next_title}</strong> {say(report.next_step)}</p>',
        "</header>",
        *_which_to_take(report),
    ]
    if "front" in drawn:
        shown = plots.interactive_front(result, static=drawn["front"], assets=False)
        body.append(f"<h2>The options</h2>\n<figure>{shown}</figure>")
    body.append(f'<h2>What was measured</h2>\n<div class="scroll">{_all_options(result)}</div>')
    body += [f'<p class="legend">{say(report.table_legend)}</p>', _list(result.notes)]
    body += _compared_with_baseline(report)
    body.append(f"<h2>What went wrong</h2>\n{_incidents(report.incidents)}")
    facts = "\n".join(f"<dt>{say(key)}</dt><dd>{say(value)}</dd>" for key, value in report.facts)
    body.append(f"<h2>How it was measured</h2>\n<dl>\n{facts}\n</dl>")
    if "timeline" in drawn:
        body.append(f"<h2>{timeline_title(result)}</h2>\n<figure>{drawn['timeline']}</figure>")
    if "course" in drawn and report.course is not None:
        body.append(f"<h2>{course_title(report.course)}</h2>\n<figure>{drawn['course']}</figure>")
    body.append("<h2>Appendix: how sure that is, for statisticians</h2>\n" + _paragraphs(report.certainty))
    body.append(f"<h2>Appendix: do it again</h2>\n<pre>{say(report.repeat)}</pre>\n<p>{say(report.versions)}</p>")
    body.append(f"<footer>Written {say(report.written)} by paretopick.</footer>")
    body.append(plots.interactive_assets() if plots.has_front(result) else "")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{MARK}\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{say(report.study)}: Pareto-optimal options</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(filter(None, body))
        + "\n</body>\n</html>\n"
    )


def _which_to_take(report: Report) -> Iterable[str]:
    """The answer as a table, beside what there is today if that was said, and who is in doubt."""
    if report.choices:
        header, *rows = report.choices
        yield f"<h2>Which to take, and what it costs</h2>\n<p>{html.escape(report.which)}</p>"
        texts = (0, *range(1 + len(report.result.metrics), len(header)))
        yield f'<div class="scroll">{_table(header, rows, texts=texts)}</div>'
    yield _list(report.groups)


def _compared_with_baseline(report: Report) -> Iterable[str]:
    if report.comparisons:
        yield f"<h2>All options compared with {html.escape(report.baseline or '')}</h2>"
        yield f'<div class="scroll">{_table(("option", "differs by"), report.comparisons, texts=(0, 1))}</div>'


def _all_options(result: ParetoResult) -> str:
    """The table of the result, with each interval below its mean, and the status of each option as the class of its row.

    Where it has many columns, who beats an option has a row of its own, so that nobody has to scroll for it.
    """
    header, rows = cells_of(result, baseline=False)
    titles = {metric.name: with_unit(metric) for metric in result.metric_records}
    shown = [place for place, name in enumerate(header) if name != INTERVAL]
    *columns, last = [titles.get(header[place], header[place]) for place in shown]
    cells = [[_with_interval(row, header, place) for place in shown] for row in rows]
    below = [row.pop() for row in cells] if len(shown) > MOST_COLUMNS else []
    texts = [0] if below else [0, len(columns)]
    ranked = result.ranked()
    said = [text if row.beyond or not text else f"{last} {text}" for row, text in zip(ranked, below, strict=False)]
    return _table_of(columns if below else [*columns, last], cells, texts, [row.status for row in ranked], said)


def _with_interval(row: Sequence[str], header: Sequence[str], place: int) -> str:
    """A cell, and the interval that follows it, as HTML."""
    cell = html.escape(row[place]) if place else _name(row[place])
    if place + 1 < len(row) and header[place + 1] == INTERVAL and row[place + 1]:
        return f'{cell} <span class="interval">{html.escape(row[place + 1])}</span>'
    return cell


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], *, texts: Sequence[int]) -> str:
    """A table whose first column has names, and whose others are numbers, but some."""
    return _table_of(header, [[_name(row[0]), *map(html.escape, row[1:])] for row in rows], texts)


def _name(text: str) -> str:
    """A name as HTML that wraps at its blanks alone, and not within ``-march=native``."""
    return " ".join(
        html.escape(word) if word.isalnum() or len(word) > LONGEST_WORD else f'<span class="whole">{html.escape(word)}</span>'
        for word in text.split(" ")
    )


def _table_of(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    texts: Sequence[int],
    classes: Sequence[str] = (),
    below: Sequence[str] = (),
) -> str:
    """A table of cells that are HTML already; each says what it is, for screens so narrow that rows become paragraphs.

    Args:
        header: what is above the columns.
        rows: of cells.
        texts: which columns are no numbers.
        classes: of the rows.
        below: what is said below each row, all along it; nothing if there is nothing.
    """
    kinds = [' class="text"' if i in texts else ' class="status"' if name == "status" else "" for i, name in enumerate(header)]
    labels = [f' data-label="{html.escape(name)}"' if i and name else "" for i, name in enumerate(header)]
    head = "".join(f"<th{kind}>{html.escape(name)}</th>" for kind, name in zip(kinds, header, strict=True))
    lines = [f"<thead><tr>{head}</tr></thead>", "<tbody>"]
    for place, row in enumerate(rows):
        kind = classes[place] if classes else ""
        cells = "".join(f"<td{kind}{label}>{cell}</td>" for kind, label, cell in zip(kinds, labels, row, strict=True))
        lines.append(f'<tr class="{kind}">{cells}</tr>' if kind else f"<tr>{cells}</tr>")
        if below and below[place]:
            lines.append(f'<tr class="{kind} more"><td class="below" colspan="{len(header)}">{below[place]}</td></tr>')
    return "\n".join(["<table>", *lines, "</tbody>", "</table>"])


def _list(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in items) + "</ul>" if items else ""


def _paragraphs(sentences: Iterable[str]) -> str:
    return "\n".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)


def _incidents(rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return "<p>Nothing: no measurement failed, was voided or corrected, and no option was retired.</p>"
    return f'<div class="scroll">{_table(rows[0], rows[1:], texts=range(len(rows[0])))}</div>'
