"""The pictures of a report, in the page or beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paretopick import plots
from paretopick._words import capital
from paretopick.report.contents import Report
from paretopick.studies import ParetoResult
from paretopick.studies.course import Course

PICTURES = ("front", "timeline", "course")

FEWEST = 3
"""Points that a course must have to be drawn."""


def pictures_of(report: Report) -> dict[str, Any]:
    """Returns the figures of a report; none before anything was measured."""
    result, course = report.result, report.course
    if not any(row.measurements for row in result.options):
        return {}
    figures = {"front": plots.figure_of(result, title=""), "timeline": plots.timeline_of(result, title="")}
    return figures | ({} if course is None or len(course.used) < FEWEST else {"course": plots.course_of(course)})


def timeline_title(result: ParetoResult) -> str:
    """Returns what is above the picture of who was measured how long."""
    return "Who left when" if plots.TimelineData.of(result).by_rounds else "How often each was measured"


def course_title(course: Course) -> str:
    """Returns what is above the picture of how sure the study was on its way."""
    return capital(plots.CourseData.of(course).title)


def write_pictures(report: Report, path: Path) -> dict[str, Path]:
    """Writes the pictures of a report beside a file, as PNG, and returns where they are."""
    written = {}
    for name, figure in pictures_of(report).items():
        written[name] = plots.save_png(figure, picture_path(path, name))
    return written


def picture_path(path: Path, name: str) -> Path:
    """Returns where the picture of such a name beside a Markdown report is."""
    return path.with_name(f"{path.stem}-{name}.png")
