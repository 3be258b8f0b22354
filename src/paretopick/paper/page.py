"""What ``reproduce`` writes: figures, their data, and the page that says claim by claim whether the paper's study holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paretopick import __version__, plots
from paretopick._files import write_whole
from paretopick._tables import csv_text, markdown_table
from paretopick._words import capital
from paretopick.paper.catalogue import CATALOGUE
from paretopick.paper.comparisons import DEFINITIONS, FAILS, Claim
from paretopick.paper.entries import Entry, Results, Rows
from paretopick.paper.figures import ErrorFigure
from paretopick.paper.series import ALGORITHMS

HEAD = """# The paper, reproduced

Every figure and table of *Bandit Pareto Set Identification: the Fixed Budget Setting* (Kone, Kaufmann and Richert,
AISTATS 2024) from our own runs, and what they say about its claims, which are quoted word by word. It was last written
by `{command}` (paretopick {version}, seed {seed}) from the counts in its results database; none of our numbers and no
result on it was typed by hand.

"""

PRINTED_NOTE = """*paper low* and *paper high* are what the paper leaves open: its 4,000 runs and 0.02 for reading a log10 off a
curve; for hypervolumes, what we take "nearly" to mean. Numbers *agree* if the two intervals overlap. """

FIGURES_NOTE = """Bands are 95% intervals; an arrow hangs from the upper limit where no error was seen. A curve starts at
the first budget that its policy can work with. EGE-GG as printed spends about half of T; `apt` is ours and not in the paper.
"""


def csv_of(entry: Entry, folder: Path) -> Path:
    """Returns where the data of an entry are."""
    return folder / f"{entry.name}.csv"


def data_of(entry: Entry, results: Results) -> bytes:
    """Returns the data of an entry as a CSV file."""
    rows = entry.rows(results)
    return csv_text(list(rows[0]), rows).encode()


def write_entry(entry: Entry, results: Results, folder: Path) -> list[Path]:
    """Writes the figure of an entry, and then its data: where these are, the figure is."""
    files = []
    with plots.look():
        figure = entry.draw(results)
        if figure is not None:
            figure.draw_without_rendering()
            figure.set_layout_engine(None)  # it has been laid out, and need not be again for each of its files
            files += plots.save(figure, folder, entry.name)
    return [*files, write_whole(csv_of(entry, folder), data_of(entry, results))]


def page_of(entries: Iterable[Entry], results: Results, claims: Sequence[Claim], spent: Rows, *, command: str, seed: int) -> str:
    """Returns the page in Markdown."""
    shown = list(entries)
    parts = [
        HEAD.format(command=command, version=__version__, seed=seed) + DEFINITIONS,
        "## Results\n",
        _table([_summary(claim) for claim in claims]),
    ]
    printed = CATALOGUE["printed"]
    if printed in shown:
        parts += [f"## {printed.title}\n", _table(_rounded(printed.rows(results))), f"{PRINTED_NOTE}{_link(printed)}\n"]
    parts += ["## Claim by claim\n", *map(_claim, (claim for claim in claims if claim.parts))]
    parts += [_not_looked_at(claims)]
    parts += ["## Figures\n", FIGURES_NOTE, *(_figure(entry, results) for entry in shown if entry.draws)]
    parts += ["## Tables\n", *(_data(entry, results) for entry in shown if not entry.draws and entry.name != "printed")]
    parts += ["## Where the time went\n", _spent(spent)]
    return "\n".join(part for part in parts if part).rstrip() + "\n"


def _summary(claim: Claim) -> dict[str, Any]:
    failing = [part.statement for part in claim.parts if part.counts and part.result == FAILS]
    return {
        "claim": claim.number,
        "the paper says": claim.quote,
        "result": f"**{claim.summary}**" if claim.looked_at else claim.summary,
        "what does not hold": "; ".join(failing),
        "where": "; ".join(dict.fromkeys(text.partition(":")[0] for text in claim.contradicted_by)),
    }


def _claim(claim: Claim) -> str:
    lines = [f"### {claim.number}. {capital(claim.summary)}\n", f"> {claim.quote} ({claim.place})\n"]
    if claim.left_out:
        lines.append(f"Not looked at: {', '.join(claim.left_out)}.\n")
    for part in claim.parts:
        beside = "" if part.counts else "Beside the claim: "
        lines.append(f"**{capital(beside + part.statement)}: {part.result}.**\n")
        lines += [f"- {finding.text}: {finding.result}" for finding in part.findings]
        lines.append("")
    if claim.remark:
        lines.append(f"{claim.remark}\n")
    return "\n".join(lines)


def _not_looked_at(claims: Iterable[Claim]) -> str:
    """Which claims rest on other figures than those shown, and what to ask for."""
    lines = [f"- claim {claim.number}: `paretopick paper {' '.join(claim.left_out)}`" for claim in claims if not claim.parts]
    return "Not looked at, since they rest on other figures and tables:\n\n" + "\n".join(lines) + "\n" if lines else ""


def _figure(entry: Entry, results: Results) -> str:
    lines = [f"### {entry.place}: {entry.title}\n", f"![{entry.title}](figures/{entry.name}.png)\n"]
    lines += _guesses(entry)
    if isinstance(entry, ErrorFigure):
        lines += _fewer_runs(entry, results)
    data = f"{_link(entry)} " if entry.shareable else ""
    lines.append(f"{data}Again: `paretopick paper {entry.name}`\n")
    return "\n".join(lines)


def _guesses(entry: Entry) -> list[str]:
    return [f"Guessed: {'; '.join(entry.guesses)}.\n"] if entry.guesses else []


def _link(entry: Entry) -> str:
    return f"Data: [figures/{entry.name}.csv](figures/{entry.name}.csv)."


def _fewer_runs(entry: ErrorFigure, results: Results) -> list[str]:
    runs = {one.full_label: points[0].runs for one in ALGORITHMS.values() if (points := results.points(entry.line(results, one)))}
    most = max(runs.values(), default=0)
    fewer = [f"{label} {n}" for label, n in runs.items() if n < most]
    return [f"Fewer runs, since one takes long: {', '.join(fewer)} (all others {most}).\n"] if fewer else []


def _data(entry: Entry, results: Results) -> str:
    lines = [f"### {entry.place}: {entry.title}\n", *_guesses(entry)]
    lines += [_table(_rounded(entry.rows(results))), f"{_link(entry)}\n"]
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
    cells = ([str(row[name]) for name in header] for row in rows)
    return markdown_table(header, cells, shown=lambda cell: cell.replace("|", "\\|")) + "\n"
