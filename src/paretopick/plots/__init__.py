"""Pictures: a record and an Axes in, the Axes out. What is drawn has been computed before, without matplotlib.

One look for all: colours that colour-blind readers can tell apart (Okabe and Ito, 2008), no chart junk, letters that can be read
in print. Matplotlib is loaded when something is drawn; no window is opened and no global setting is touched::

    from paretopick import plots

    figure = plots.figure_of(study.result())                  # the picture that suits its number of metrics
    plots.save(figure, Path("figures"), "front")              # front.png and front.pdf
    html = plots.to_svg(figure, title="The options in both metrics")
"""

from paretopick.plots.course import CourseData, course
from paretopick.plots.curves import Line, log_rates, plan, shares
from paretopick.plots.fronts import FrontData, arms, ellipse, front
from paretopick.plots.interactive import (
    front_record,
    has_front,
    interactive_assets,
    interactive_files,
    interactive_front,
    notebook_front,
)
from paretopick.plots.outputs import FORMATS, save, save_picture, save_png, to_png, to_svg
from paretopick.plots.pairs import PairsData, pairs
from paretopick.plots.parallel import ParallelData, parallel
from paretopick.plots.pictures import course_of, figure_of, timeline_of
from paretopick.plots.plans import curves_of, plan_of
from paretopick.plots.ranking import RankingData, ranking
from paretopick.plots.stairs import margin_band, staircase
from paretopick.plots.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LOOK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    YELLOW,
    common_legend,
    look,
    new_figure,
)
from paretopick.plots.timeline import TimelineData, timeline

__all__ = [
    "BLACK",
    "BLUE",
    "FORMATS",
    "GREEN",
    "GREY",
    "LOOK",
    "ORANGE",
    "PURPLE",
    "SKY",
    "VERMILION",
    "YELLOW",
    "CourseData",
    "FrontData",
    "Line",
    "PairsData",
    "ParallelData",
    "RankingData",
    "TimelineData",
    "arms",
    "common_legend",
    "course",
    "course_of",
    "curves_of",
    "ellipse",
    "figure_of",
    "front",
    "front_record",
    "has_front",
    "interactive_assets",
    "interactive_files",
    "interactive_front",
    "log_rates",
    "look",
    "margin_band",
    "new_figure",
    "notebook_front",
    "pairs",
    "parallel",
    "plan",
    "plan_of",
    "ranking",
    "save",
    "save_picture",
    "save_png",
    "shares",
    "staircase",
    "timeline",
    "timeline_of",
    "to_png",
    "to_svg",
]
