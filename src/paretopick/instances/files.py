"""Instances from files: a CSV of means of your own, and the sorting networks that the package may not ship."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from paretopick._arrays import FloatArray, check_choice
from paretopick.bandits import Bandit, Gaussian, Noise
from paretopick.errors import InvalidInput, MissingFile

NAME_COLUMNS = ("", "arm", "name", "option", "id", "index")
"""Headers of a first column that holds names even if they look like numbers."""

SNW_VARIABLE = "PARETOPICK_SNW"
SNW_STD = 0.2
SNW_SOURCE = (
    "SNW, sorting networks on an FPGA (Zuluaga, Sergent, Krause and Püschel, Active Learning for Multi-Objective Optimization, "
    "ICML 2013)"
)


def read_instance(
    path: str | os.PathLike[str], *, noise: Noise, minimise: Iterable[str] = (), budget: int | None = None
) -> Bandit:
    """Returns the bandit whose means stand in a CSV file: a header, then one line per arm.

    Text columns at the left are the arms' names (several are joined by " + "); every other column is an objective.

    Args:
        path: of the file.
        noise: around the means, for instance ``pp.Gaussian(std=0.5)``.
        minimise: headers of objectives where smaller is better; they are negated, and their names too.
        budget: kept with the bandit.
    """
    if isinstance(minimise, str):
        raise InvalidInput(f"minimise={minimise!r} is a text; give a list of objectives, such as [{minimise!r}].")
    path = Path(path)
    header, rows = _read_csv(path)
    n_names = _count_name_columns(header, rows, path)
    objectives = header[n_names:]
    if not objectives:
        raise InvalidInput(f"{path} has no column of numbers; expected one per objective, separated by commas.")
    means = np.array(
        [[_number(cell, path, line, name) for cell, name in zip(row[n_names:], objectives, strict=True)] for line, row in rows]
    )
    for name in set(minimise):
        column = objectives.index(check_choice(name, objectives, f"objective of {path.name}"))
        means[:, column] = -means[:, column]
        objectives[column] = f"-{name}"
    return Bandit(
        means,
        noise,
        name=path.stem,
        arm_names=tuple(" + ".join(row[:n_names]) for _, row in rows) if n_names else (),
        objective_names=tuple(objectives),
        budget=budget,
        source=f"means from {path.name}",
    )


def read_snw(path: str | os.PathLike[str] | None) -> FloatArray:
    """Returns log2 area and log2 throughput of the 206 sorting networks, ``(206, 2)``, as stored.

    Args:
        path: the file, in its original layout (five columns separated by ``;``, no header, the last two being log2 area and log2
            throughput) or as a CSV with the headers ``log2_area`` and ``log2_throughput``. None looks at the environment
            variable ``PARETOPICK_SNW``.
    """
    path = path or os.environ.get(SNW_VARIABLE)
    if not path:
        raise MissingFile(
            f"the sorting networks are not shipped with the package: get the file of {SNW_SOURCE} from its authors "
            "and pass path= (on the command line --data), or set the environment variable PARETOPICK_SNW to it."
        )
    path = Path(path)
    header, rows = _read_csv(path)
    if len(header) == 1 and ";" in header[0]:
        cells = [(1, header[0].split(";")), *((line, row[0].split(";")) for line, row in rows)]
        if any(len(row) != 5 for _, row in cells):
            line = next(line for line, row in cells if len(row) != 5)
            raise InvalidInput(f"{path}, line {line}: expected five columns separated by ';'.")
        return np.array([[_number(cell, path, line, "a number") for cell in row[3:]] for line, row in cells])
    columns = [header.index(check_choice(name, header, f"column of {path.name}")) for name in ("log2_area", "log2_throughput")]
    return np.array([[_number(row[column], path, line, header[column]) for column in columns] for line, row in rows])


def snw(path: str | os.PathLike[str] | None = None) -> Bandit:
    """Sorting networks as an engineer wants them: smaller area, larger throughput."""
    return _snw("snw", read_snw(path) * (-1.0, 1.0), ("-log2_area", "log2_throughput"))


def snw_paper(path: str | os.PathLike[str] | None = None) -> Bandit:
    """Sorting networks with both columns maximised, the orientation that gives the paper's figures."""
    return _snw("snw-paper", read_snw(path), ("log2_area", "log2_throughput"))


def _snw(name: str, means: FloatArray, objective_names: Sequence[str]) -> Bandit:
    source = f"{SNW_SOURCE}; the paper does not give the noise, sigma = {SNW_STD} is our choice"
    return Bandit(means, Gaussian(std=SNW_STD), name=name, objective_names=tuple(objective_names), budget=5000, source=source)


def _read_csv(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and the numbered lines below it, blank ones left out."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [(number, [cell.strip() for cell in row]) for number, row in enumerate(csv.reader(file), 1) if any(row)]
    except FileNotFoundError:
        raise MissingFile(f"there is no file {path}; expected a CSV file with a header and one line per arm.") from None
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise InvalidInput(f"{path} cannot be read as a CSV file: {problem}.") from None
    if len(lines) < 2:
        raise InvalidInput(f"{path} has {len(lines)} lines; expected a header and one line per arm.")
    header = lines[0][1]
    for number, row in lines[1:]:
        if len(row) != len(header):
            raise InvalidInput(f"{path}, line {number}: {len(row)} cells under a header of {len(header)}.")
    if len(set(header)) != len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise InvalidInput(f"{path} has two columns named {twice!r}; names must differ.")
    return header, lines[1:]


def _count_name_columns(header: list[str], rows: list[tuple[int, list[str]]], path: Path) -> int:
    """How many columns at the left hold names: all cells are text, or the header says so."""
    for column, name in enumerate(header):
        numeric = [_is_number(row[column]) for _, row in rows]
        if (column == 0 and name.lower() in NAME_COLUMNS) or not any(numeric):
            continue
        if _is_number(name):
            raise InvalidInput(f"{path} starts with numbers; expected a header that names the columns.")
        return column
    return len(header)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(cell: str, path: Path, line: int, name: str) -> float:
    if not _is_number(cell):
        raise InvalidInput(f"{path}, line {line}: {cell!r} under {name!r} is not a number.")
    return float(cell)
