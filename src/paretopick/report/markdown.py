"""The report as Markdown, with its pictures beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from paretopick._tables import markdown_table, markdown_text
from paretopick.report.contents import Report
from paretopick.report.pictures import course_title, timeline_title
from paretopick.report.web import MARK
from paretopick.studies.pages import cells


def to_markdown(report: Report, pictures: Mapping[str, str] | None = None) -> str:
    """Returns the report as Markdown.

    Args:
        report: made by ``make_report``.
        pictures: name of a picture ("front", "timeline", "course") to where it is.
    """
    say = markdown_text
    result = report.result
    where = pictures or {}
    parts = [f"{MARK}\n\n# {say(report.study)}", f"**{say(report.answer)}**", *filter(None, [say(report.asked)])]
    parts.append(say(report.how_sure))
    parts += (
        []
        if report.against_baseline is None
        else [f"**Compared with {say(report.baseline or '')}?** {say(report.against_baseline)}"]
    )
    parts += [] if report.next_step is None else [f"**{report.next_title}** {say(report.next_step)}"]
    if report.choices:
        parts += ["## Which to take, and what it costs", say(report.which), markdown_table(report.choices[0], report.choices[1:])]
    parts += ["\n".join(f"- {say(line)}" for line in report.groups)] if report.groups else []
    if "front" in where:
        parts += ["## The options", f"![The options]({quote(where['front'])})"]
    parts += ["## What was measured", markdown_table(*cells(result, baseline=False)), say(report.table_legend)]
    parts += ["\n".join(f"- {say(note)}" for note in result.notes)] if result.notes else []
    if report.comparisons:
        parts.append(f"## All options compared with {say(report.baseline or '')}")
        parts.append(markdown_table(["option", "differs by"], report.comparisons))
    parts.append("## What went wrong")
    parts.append(markdown_table(report.incidents[0], report.incidents[1:]) if report.incidents else "Nothing.")
    parts += ["## How it was measured", markdown_table(["", ""], report.facts)]
    if "timeline" in where:
        title = timeline_title(result)
        parts += [f"## {title}", f"![{title}]({quote(where['timeline'])})"]
    if "course" in where and report.course is not None:
        title = course_title(report.course)
        parts += [f"## {title}", f"![{title}]({quote(where['course'])})"]
    parts += ["## Appendix: how sure that is, for statisticians", *map(say, report.certainty)]
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", report.repeat)), default=0))
    parts += [
        "## Appendix: do it again",
        f"{fence}\n{report.repeat}\n{fence}",
        say(report.versions),
        f"Written {report.written}.",
    ]
    return "\n\n".join(parts) + "\n"
