"""The report as one HTML page that needs nothing else."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from paretopick import plots
from paretopick.report.contents import TABLE_LEGEND, WHICH, Report
from paretopick.report.pictures import pictures_of, timeline_title

MARK = "<!-- report of paretopick -->"
"""How a report is known, so that a new one may replace it."""

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto; padding: 1.5rem;
  max-width: 80rem; }
p, ul { max-width: 62rem; }
h1 { font-size: 1.3rem; font-weight: 600; color: #555; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; }
.answer { font-size: 1.5rem; line-height: 1.35; font-weight: 600; margin: .6rem 0; overflow-wrap: anywhere; }
.sure, .next { font-size: 1.1rem; margin: .4rem 0; overflow-wrap: anywhere; }
.legend { color: #555; font-size: .85rem; } ul { padding-left: 1.2rem; } li { overflow-wrap: anywhere; }
.scroll, figure { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #eee; vertical-align: top; white-space: nowrap; }
th { border-bottom: 2px solid #999; }
.text { text-align: left; white-space: normal; overflow-wrap: break-word; }
.text:first-child { min-width: 7rem; max-width: 20rem; overflow-wrap: anywhere; }
.text:last-child { min-width: 14rem; max-width: 26rem; overflow-wrap: anywhere; }
.status { text-align: left; }
tr { background: #fff; }
tr.pareto { background: #e8f1fb; font-weight: 600; }
tr.open { background: #fff4e0; }
tr.retired { color: #888; }
td:first-child { position: sticky; left: 0; background: inherit; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 0; }
dt { color: #555; } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 0; max-width: 62rem; } figure svg { width: 100%; min-width: 36rem; height: auto; display: block; }
pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
footer { margin-top: 2.5rem; color: #777; font-size: .85rem; }
@media (max-width: 600px) {
  body { padding: 1rem; font-size: 15px; } .answer { font-size: 1.25rem; }
  th, td { padding: .25rem .4rem; } .interval { display: none; }
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
    drawn = {name: plots.to_svg(figure, title=report.answer, salt=name) for name, figure in pictures_of(result).items()}
    body = [
        f"<header>\n<h1>{say(report.study)}</h1>",
        f'<p class="answer">{say(report.answer)}</p>\n<p class="sure">{say(report.how_sure)}</p>',
        "" if report.next_step is None else f'<p class="next"><strong>What next?</strong> {say(report.next_step)}</p>',
        "</header>",
        *_which_to_take(report),
    ]
    if "front" in drawn:
        body.append(f"<h2>The options</h2>\n<figure>{drawn['front']}</figure>")
    body.append(f'<h2>What was measured</h2>\n<div class="scroll">{result.to_html_table()}</div>')
    body += [f'<p class="legend">{say(TABLE_LEGEND)}</p>', _list(result.notes)]
    body.append(f"<h2>What went wrong</h2>\n{_incidents(report.incidents)}")
    facts = "\n".join(f"<dt>{say(key)}</dt><dd>{say(value)}</dd>" for key, value in report.facts)
    body.append(f"<h2>How it was measured</h2>\n<dl>\n{facts}\n</dl>")
    if "timeline" in drawn:
        body.append(f"<h2>{timeline_title(result)}</h2>\n<figure>{drawn['timeline']}</figure>")
    body.append("<h2>Appendix: how sure that is, for statisticians</h2>\n" + _paragraphs(report.certainty))
    body.append(f"<h2>Appendix: do it again</h2>\n<pre>{say(report.repeat)}</pre>\n<p>{say(report.versions)}</p>")
    body.append(f"<footer>Written {say(report.written)} by paretopick.</footer>")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{MARK}\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{say(report.study)}: Pareto-optimal options</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(filter(None, body))
        + "\n</body>\n</html>\n"
    )


def _which_to_take(report: Report) -> Iterable[str]:
    """The answer as a table, who is in doubt, and how the answer compares with what there is today."""
    if report.choices:
        header, *rows = report.choices
        yield f"<h2>Which to take</h2>\n<p>{html.escape(WHICH)}</p>"
        yield f'<div class="scroll">{_table(header, rows, texts=(0, len(header) - 1))}</div>'
    yield _list(report.groups)
    if report.comparisons:
        yield f"<h2>Compared with {html.escape(report.baseline or '')}</h2>"
        yield f'<div class="scroll">{_table(("option", "differs by"), report.comparisons, texts=(0, 1))}</div>'


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], *, texts: Sequence[int]) -> str:
    """A table whose columns are numbers, but some."""
    lines = []
    for tag, row in [("th", header), *(("td", row) for row in rows)]:
        kinds = [' class="text"' if i in texts else "" for i in range(len(row))]
        cells = (f"<{tag}{kind}>{html.escape(cell)}</{tag}>" for kind, cell in zip(kinds, row, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def _list(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in items) + "</ul>" if items else ""


def _paragraphs(sentences: Iterable[str]) -> str:
    return "\n".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)


def _incidents(rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return "<p>Nothing: no measurement failed, was voided or corrected, and no option was retired.</p>"
    return f'<div class="scroll">{_table(rows[0], rows[1:], texts=range(len(rows[0])))}</div>'
