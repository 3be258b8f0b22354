"""The page that says claim by claim whether the paper's study holds, written from what was counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from paretopick import __version__
from paretopick.paper.catalogue import CATALOGUE
from paretopick.paper.contestants import CONTESTANTS
from paretopick.paper.curves import ErrorFigure
from paretopick.paper.entries import Entry, Rows
from paretopick.paper.evidence import Evidence
from paretopick.paper.judging import MUCH, Claim

HEAD = """# The paper, reproduced

Every figure and table of *Bandit Pareto Set Identification: the Fixed Budget Setting* (Kone, Kaufmann and Richert,
AISTATS 2024) from our own runs, and what they say about its claims. It was last written by `{command}` (paretopick
{version}, seed {seed}) from the counts in its results database; none of our numbers and no verdict on it was typed
by hand.

Rates carry 95% Wilson intervals, hypervolume fractions the normal interval of a mean. Policies are compared at the
paper's budget, the last of each curve, unless something else is said. One is *better* than another if its interval
lies below the other's, and *much better* if the odds, errors to right answers, of its upper limit are still below
those of the other's lower limit when multiplied by {much}: odds, since a ratio of rates means little where both are
near 1, and {much} is our choice. A claim *holds* if all its findings do, *does not hold* if one of them is
contradicted, and *cannot be decided* otherwise. What stands beside a claim is shown and does not count.
"""

PRINTED_NOTE = """*paper low* and *paper high* are what the paper leaves open: its 4,000 runs and 0.02 for reading a log10 off a
curve; for hypervolumes, what we take "nearly" to mean. Numbers *agree* if the two intervals overlap. """

FIGURES_NOTE = """Bands are 95% intervals; an arrow hangs from the upper limit where no error was seen. A curve starts at
the first budget that its policy can work with. EGE-GG as printed spends about half of T; `apt` is ours and not in the paper.
"""


def write_page(
    entries: Iterable[Entry], evidence: Evidence, claims: Sequence[Claim], spent: Rows, *, command: str, seed: int
) -> str:
    """Returns the page in Markdown."""
    shown = list(entries)
    parts = [
        HEAD.format(command=command, version=__version__, seed=seed, much=MUCH),
        "## Verdicts\n",
        _table([_verdict(claim) for claim in claims]),
    ]
    printed = CATALOGUE["printed"]
    if printed in shown:
        parts += [f"## {printed.title}\n", _table(_rounded(printed.rows(evidence))), f"{PRINTED_NOTE}{_link(printed)}\n"]
    parts += ["## Claim by claim\n", *map(_claim, claims)]
    parts += ["## Figures\n", FIGURES_NOTE, *(_figure(entry, evidence) for entry in shown if entry.draws)]
    parts += ["## Tables\n", *(_data(entry, evidence) for entry in shown if not entry.draws and entry.name != "printed")]
    parts += ["## Where the time went\n", _spent(spent)]
    return "\n".join(parts).rstrip() + "\n"


def _verdict(claim: Claim) -> dict[str, Any]:
    verdict = f"**{claim.verdict}**" if claim.run else "not run"
    return {
        "claim": claim.number,
        "the paper says": claim.statement,
        "verdict": verdict,
        "contradicted by": ", ".join(claim.contradicted_by),
        "beside it, does not hold": "; ".join(claim.reservations),
    }


def _claim(claim: Claim) -> str:
    lines = [f"### {claim.number}. {_capital(claim.verdict if claim.run else 'not run')}\n", f"> {claim.statement}\n"]
    for part in claim.parts:
        beside = "" if part.counts else "Beside the claim: "
        lines.append(f"**{_capital(beside + part.statement)}: {part.verdict}.**\n")
        lines += [f"- {finding.text}: {finding.verdict}" for finding in part.findings]
        lines.append("")
    if claim.remark:
        lines.append(f"{claim.remark}\n")
    return "\n".join(lines)


def _figure(entry: Entry, evidence: Evidence) -> str:
    lines = [f"### {entry.place}: {entry.title}\n", f"![{entry.title}](figures/{entry.name}.png)\n"]
    lines += _guesses(entry)
    if isinstance(entry, ErrorFigure):
        lines += _fewer_runs(entry, evidence)
    data = f"{_link(entry)} " if entry.shareable else ""
    lines.append(f"{data}Again: `paretopick paper {entry.name}`\n")
    return "\n".join(lines)


def _guesses(entry: Entry) -> list[str]:
    return [f"Guessed: {'; '.join(entry.guesses)}.\n"] if entry.guesses else []


def _link(entry: Entry) -> str:
    return f"Data: [figures/{entry.name}.csv](figures/{entry.name}.csv)."


def _fewer_runs(entry: ErrorFigure, evidence: Evidence) -> list[str]:
    runs = {
        one.full_label: points[0].runs for one in CONTESTANTS.values() if (points := evidence.points(entry.line(evidence, one)))
    }
    most = max(runs.values(), default=0)
    fewer = [f"{label} {n}" for label, n in runs.items() if n < most]
    return [f"Fewer runs, since one takes long: {', '.join(fewer)} (all others {most}).\n"] if fewer else []


def _data(entry: Entry, evidence: Evidence) -> str:
    lines = [f"### {entry.place}: {entry.title}\n", *_guesses(entry)]
    lines += [_table(_rounded(entry.rows(evidence))), f"{_link(entry)}\n"]
    return "\n".join(lines)


def _spent(rows: Rows) -> str:
    total = sum(row["total"] for row in rows)
    shown = [{key: f"{cell:.1f}" if isinstance(cell, float) else cell for key, cell in row.items()} for row in rows]
    return f"{_table(shown)}\nSeconds; {total / 60:.1f} minutes in all. Compiling, drawing and writing come on top.\n"


def _rounded(rows: Rows) -> Rows:
    """The rows with numbers as people read them."""
    return [{key.replace("_", " "): _cell(cell) for key, cell in row.items()} for row in rows]


def _cell(cell: Any) -> str:
    if isinstance(cell, int) and not isinstance(cell, bool):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:.4g}" if abs(cell) < 1000 else f"{cell:,.0f}"
    return "" if cell is None else str(cell)


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """A Markdown table, one column per key."""
    if not rows:
        return "Nothing has been run.\n"
    header = list(rows[0])
    lines = [header, ["---"] * len(header), *([str(row[name]).replace("|", "\\|") for name in header] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
