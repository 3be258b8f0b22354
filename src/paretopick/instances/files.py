"""Instances from files: a CSV of means of your own, and the sorting networks that the package may not ship."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence, Set
from pathlib import Path

import numpy as np

from paretopick._arrays import FloatArray, check_choice, check_sequence
from paretopick._files import path_text
from paretopick._tables import Table, is_number, read_table
from paretopick._words import short
from paretopick.bandits import Bandit, Gaussian, Noise
from paretopick.errors import InvalidInput, MissingFile

NAME_COLUMNS = ("", "arm", "name", "option", "id", "index")
"""Headers of a first column that holds names even if they look like numbers."""

SNW_VARIABLE = "PARETOPICK_SNW"
SNW_STD = 0.2
SNW_COLUMNS = ("log2_area", "log2_throughput")
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

    A file with the lines ``arm,quality,seconds``, ``small,0.7,3`` and ``large,0.9,8``::

        bandit = pp.read_instance("means.csv", noise=pp.Gaussian(std=0.1), minimise=["seconds"])
    """
    if isinstance(minimise, str):
        raise InvalidInput(f"minimise={short(minimise)} is a text; give a list of objectives, such as [{short(minimise)}].")
    smaller = minimise if isinstance(minimise, Set) else check_sequence(minimise, "minimise", "is not a list of objectives")
    path = Path(path_text(path))
    table = read_table(path)
    if not table.rows:
        raise InvalidInput(f"{path} has 1 row; expected a header and one row per arm.")
    n_names = _count_name_columns(table)
    names, objectives = table.columns[:n_names], list(table.columns[n_names:])
    if not objectives:
        raise InvalidInput(f"{path} has no column of numbers; expected one per objective, separated by commas or semicolons.")
    table.check_decimals(objectives)
    means = np.array([[table.number(row, name) for name in objectives] for row in table.rows])
    for name in dict.fromkeys(check_choice(name, objectives, f"objective of {path.name}") for name in smaller):
        column = objectives.index(name)
        means[:, column] = -means[:, column]
        objectives[column] = f"-{name}"
    return Bandit(
        means,
        noise,
        name=path.stem,
        arm_names=tuple(" + ".join(row[name] for name in names) for row in table.rows.values()) if names else (),
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
            "and name it as path=, or in the environment variable PARETOPICK_SNW."
        )
    table = read_table(path_text(path), if_unnamed=("name", "type", "size", *SNW_COLUMNS))
    for name in SNW_COLUMNS:
        check_choice(name, table.columns, f"column of {Path(path).name}")
    return np.array([[table.number(row, name) for name in SNW_COLUMNS] for row in table.rows])


def snw(path: str | os.PathLike[str] | None = None) -> Bandit:
    """Sorting networks as an engineer wants them: smaller area, larger throughput."""
    return _snw("snw", read_snw(path) * (-1.0, 1.0), ("-log2_area", "log2_throughput"))


def snw_paper(path: str | os.PathLike[str] | None = None) -> Bandit:
    """Sorting networks with both columns maximised, the orientation that gives the paper's figures."""
    return _snw("snw-paper", read_snw(path), SNW_COLUMNS)


def _snw(name: str, means: FloatArray, objective_names: Sequence[str]) -> Bandit:
    source = f"{SNW_SOURCE}; the paper does not give the noise, sigma = {SNW_STD} is our choice"
    return Bandit(means, Gaussian(std=SNW_STD), name=name, objective_names=tuple(objective_names), budget=5000, source=source)


def _count_name_columns(table: Table) -> int:
    """How many columns at the left hold names: all cells are text, or the header says so."""
    for place, name in enumerate(table.columns):
        numeric = [is_number(row[name], decimal_comma=table.decimal_comma) for row in table.rows.values()]
        if (place == 0 and name.lower() in NAME_COLUMNS) or not any(numeric):
            continue
        if is_number(name, decimal_comma=table.decimal_comma):
            raise InvalidInput(f"{table.name} starts with numbers; expected a header that names the columns.")
        return place
    return len(table.columns)
