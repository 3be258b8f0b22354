"""The catalogue: one entry for each figure and each table, which is all it takes to be run, drawn, resumed and shown.

The tournament of policies, which is ours and not the paper's, has its own page and shares the runs: ``paper.tournament``.
"""

from __future__ import annotations

from paretopick.paper.entries import Entry
from paretopick.paper.figures import (
    ArmsFigure,
    BestArmFigure,
    ErrorFigure,
    GapsFigure,
    HypervolumeFigure,
    RelaxedFigure,
    RuntimeFigure,
)
from paretopick.paper.tables import BoundsTable, InstancesTable, LowerBoundFigure, PrintedTable

BUDGETS = "the paper gives the last budget only: eight from a tenth of it up"
SNW_NOISE = "the paper does not give the noise: Gaussian with sigma = 0.2 in both objectives"
SNW_SIDE = "both columns maximised as stored, the only orientation with the paper's five optimal arms"
COV_BOOST = "the text says three objectives, the published curve agrees with the first two: both are here"
DRAWN_ONCE = "the random means were drawn once as the text says, with the paper's number of optimal arms, and kept"
CONVEX = "ten points over the whole interval (the text says twenty and uses ten), and " + DRAWN_ONCE
RANDOM = "the paper does not describe the instance: means uniform on the unit cube, Gaussian with sigma = 1/2"
EIGHT_AT_ONCE = (
    "the paper times single runs, here eight run at once in one thread; EGE-SH ends at K = 128, since T = 1000 pays "
    "for no more arms"
)
STEP = "the text leaves the step c open: c = 0.1, which gives all 22 arms the same gap"

MAIN = ("cov-boost", "cov-boost-2d", "snw-paper", "convex-front", "unique-dominator", "unit-circle", "high-dimension")
"""The instances of Section 6."""
MORE = ("two-clusters", "all-optimal", "equal-gaps", "geometric")
"""Those of the appendix."""


def _errors(instance: str, place: str, title: str, *guesses: str) -> ErrorFigure:
    return ErrorFigure(instance, place, title, (instance,), (BUDGETS, *guesses))


PAPER: tuple[Entry, ...] = (
    _errors("cov-boost", "Figure 1", "COV-BOOST vaccine trial, three responses", COV_BOOST),
    _errors("cov-boost-2d", "Figure 1", "COV-BOOST vaccine trial, the first two responses", COV_BOOST),
    _errors("snw-paper", "Figure 2", "Sorting networks", SNW_NOISE, SNW_SIDE),
    _errors("convex-front", "Figure 3", "Experiment 1: arms on a convex front", CONVEX),
    _errors("unique-dominator", "Figure 4", "Experiment 2: every dominated arm has one dominator"),
    _errors("unit-circle", "Figure 5", "Experiment 3: arms on the unit circle"),
    _errors("high-dimension", "Figure 6", "Experiment 4: two groups in ten objectives", DRAWN_ONCE),
    _errors("two-clusters", "Figure 21", "Experiment 5: two clusters", DRAWN_ONCE),
    _errors("all-optimal", "Figure 22", "Experiment 6: all arms are optimal"),
    _errors("equal-gaps", "Figure 23", "Experiment 7: all gaps are equal", STEP),
    _errors("geometric", "Figure 24", "Experiment 8: geometric progression"),
    GapsFigure("gaps", "Figure 7", "What the gaps are"),
    LowerBoundFigure(
        "lower-bound",
        "Figures 8 to 12",
        "An instance of class B and its alternatives",
        guesses=("the paper draws the instance without running it: sigma = 1, budgets of 2 to 12 pulls per arm",),
    ),
    ArmsFigure("arms-convex-front", "Figure 13", "Experiment 1: arms on a convex front", ("convex-front",), (CONVEX,)),
    ArmsFigure("arms-unit-circle", "Figure 14", "Experiment 3: arms on the unit circle", ("unit-circle",)),
    ArmsFigure("arms-snw-paper", "Section 6", "Sorting networks, both columns maximised", ("snw-paper",), (SNW_SIDE,)),
    RuntimeFigure(
        "runtime-2d",
        "Figure 15",
        "Run time, D = 2",
        guesses=(RANDOM, EIGHT_AT_ONCE),
    ),
    RuntimeFigure(
        "runtime-20d",
        "Figure 16",
        "Run time, D = 20",
        guesses=(RANDOM, EIGHT_AT_ONCE),
        n_objectives=20,
    ),
    RelaxedFigure(
        "relaxed-snw-paper",
        "Figure 17",
        "PSI-k loss of EGE-SR-k, sorting networks",
        ("snw-paper",),
        (BUDGETS, SNW_NOISE, SNW_SIDE),
        sizes=(1, 2, 3, 4, 5, 6, 8),
    ),
    RelaxedFigure(
        "relaxed-convex-front",
        "Figure 18",
        "PSI-k loss of EGE-SR-k, Experiment 1",
        ("convex-front",),
        (BUDGETS, CONVEX),
        sizes=(1, 2, 4, 6, 8, 10, 11, 13),
    ),
    HypervolumeFigure(
        "hypervolume-snw-paper",
        "Figure 19",
        "What EGE-SR-k covers, sorting networks",
        ("snw-paper",),
        (SNW_NOISE, SNW_SIDE, "reference point 0"),
        sizes=tuple(range(1, 9)),
    ),
    HypervolumeFigure(
        "hypervolume-convex-front",
        "Figure 20",
        "What EGE-SR-k covers, Experiment 1",
        ("convex-front",),
        (CONVEX, "reference point 0"),
        sizes=tuple(range(1, 14)),
    ),
    BestArmFigure(
        "best-arm",
        "Appendix G.2.2",
        "One objective: 0.7 against seven arms at 0.4",
        guesses=(
            "the paper gives no budget: T = H and then 20 to 80 pulls per arm",
            "the paper does not say how ties fall: the best arm stands first, and last",
        ),
    ),
    BoundsTable("bounds", "Table 1", "Upper bounds beside the measured errors", listed=(*MAIN, *MORE)),
    PrintedTable("printed", "Figures 1, 5, 19, 20", "Numbers that can be read off the paper, beside ours"),
    InstancesTable("instances", "Table 2", "The instances", listed=(*MAIN, *MORE)),
)

CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in PAPER}
"""All entries by name; what is run, and shown on the page, in this order."""
