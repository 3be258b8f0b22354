"""The report of a study: one page that says what was found, how sure that is, what next, and how to do it again.

What it says is put together once, as a ``Report``; ``to_html`` and ``to_markdown`` only write it down.
"""

from paretopick.report.contents import Report, make_report
from paretopick.report.facts import repeat
from paretopick.report.markdown import to_markdown
from paretopick.report.pictures import PICTURES, picture_path, write_pictures
from paretopick.report.web import MARK, to_html

__all__ = [
    "MARK",
    "PICTURES",
    "Report",
    "make_report",
    "picture_path",
    "repeat",
    "to_html",
    "to_markdown",
    "write_pictures",
]
