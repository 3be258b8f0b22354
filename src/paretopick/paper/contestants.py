"""The policies that every error curve compares, each with its options and its look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from paretopick.bandits import Bandit
from paretopick.paper.series import Series, affordable
from paretopick.plots import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

Panel = Literal["text", "drawn"]


@dataclass(frozen=True, eq=False)
class Contestant:
    """A policy in the comparison; it appears in the ``panels`` of a figure, by default in both."""

    name: str
    label: str
    policy: str
    colour: str
    options: Mapping[str, Any] = field(default_factory=dict)
    dash: str = "-"
    marker: str = "o"
    panels: tuple[Panel, ...] = ("text", "drawn")

    @property
    def full_label(self) -> str:
        """The label with the scale of c, where a figure says that above its panels."""
        return self.label if len(self.panels) > 1 else f"{self.label} {'(as in the text)' if 'text' in self.panels else '(9 c)'}"

    def series(self, bandit: Bandit, budgets: tuple[int, ...]) -> Series:
        """Returns its runs on a bandit, at those of the budgets that it can work with."""
        share = SHARES.get((bandit.name, self.name), 1.0)
        return Series(bandit, self.policy, self.options, affordable(bandit, self.policy, self.options, budgets), share=share)


def _ape_fb(c: str, factor: int, panel: Panel) -> Contestant:
    dash, marker = {"1/10": (":", "v"), "1": ("-", "s"), "10": ("--", "^")}[c]
    value = {"1/10": 0.1, "1": 1.0, "10": 10.0}[c] * factor
    name = f"ape-fb-{c.replace('/', '-')}" + ("-drawn" if panel == "drawn" else "")
    return Contestant(name, f"APE-FB, c = {c}", "ape-fb", PURPLE, {"c": value}, dash, marker, (panel,))


UNIFORM = Contestant("uniform", "UA", "uniform", GREY, marker="x")
EGE_SR = Contestant("ege-sr", "EGE-SR", "ege-sr", BLUE)
EGE_SH = Contestant("ege-sh", "EGE-SH", "ege-sh", VERMILION)
EGE_GG = Contestant("ege-gg", "EGE-GG", "ege-gg", GREEN, marker="d")
APE_FB: dict[Panel, dict[str, Contestant]] = {
    "text": {c: _ape_fb(c, 1, "text") for c in ("1/10", "1", "10")},
    "drawn": {c: _ape_fb(c, 9, "drawn") for c in ("1/10", "1", "10")},
}
"""APE-FB with the oracle's ``a = c 25/36 (T - K) / H`` as in the paper's text, and with 9 c, as its curves were drawn."""
ADAPT = Contestant("ape-fb-adapt", "APE-FB-ADAPT, corrected", "ape-fb-adapt", SKY, marker="P")
ADAPT_PUBLISHED = Contestant(
    "ape-fb-adapt-published", "APE-FB-ADAPT, as published", "ape-fb-adapt", ORANGE, {"as_published": True}, "-.", "X"
)
APT = Contestant("apt", "apt", "apt", BLACK, marker="*")

CONTESTANTS = {
    one.name: one
    for one in (
        *(UNIFORM, EGE_SR, EGE_SH, EGE_GG),
        *APE_FB["text"].values(),
        *APE_FB["drawn"].values(),
        *(ADAPT, ADAPT_PUBLISHED, APT),
    )
}

SHARES = {("unit-circle", "ape-fb-adapt"): 0.5, ("high-dimension", "ape-fb-adapt"): 0.75}
"""Of the runs asked for, by instance and contestant: where all of them would take more than a minute a point on two cores."""
