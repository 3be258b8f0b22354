"""Measurements from files: sheets that were filled in or corrected, what was measured before, exports of other studies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from paretopick._tables import Table, read_table
from paretopick._words import counted
from paretopick.errors import AlreadyTold, InvalidInput, StorageFailed
from paretopick.studies.filled_rows import Difference, FilledRows, listing
from paretopick.studies.outliers import FarOff
from paretopick.studies.study import Study


@dataclass(frozen=True)
class Imported:
    """What the rows of a file brought."""

    told: int
    """Measurements that were asked for, and are new."""
    failed: int
    """Those that could not be made, and are new."""
    added: int
    """Measurements that nobody had asked for: they were made before the study, or beside it."""
    known: int
    """Rows that the study knew already."""
    empty: int
    """Rows that are not filled in yet, or that an export says failed or were voided."""
    corrected: int = 0
    """Measurements that have other values now."""
    differences: tuple[Difference, ...] = ()
    """What was corrected."""
    far_off: tuple[FarOff, ...] = ()
    """New values that are far from all others of their options: accepted, and worth a look."""
    notes: tuple[str, ...] = ()
    """What else one should know."""


def import_table(
    study: Study,
    path: str | os.PathLike[str],
    *,
    again: bool = False,
    correct: bool = False,
    why: str = "",
    request: str | None = None,
) -> Imported:
    """Takes over a sheet that was filled in, or measurements made elsewhere; all rows, or none if one is wrong.

    A row with a number is what came out of that measurement. One without was not asked for, and needs the name of its option; so
    do those of an export of another study, whose numbers mean nothing here. Cells of metrics may be empty where the policy
    needs no rounds; rows without any value are left for later. Columns that are not known are kept beside the metrics. The same
    file can be imported again after more of it was filled in, or after rows were added at its end. Where a measurement has other
    values than before, nothing is imported, unless that is said to be a correction.

    Args:
        study: that takes them.
        path: of a CSV file.
        again: whether rows that are equal to some that were imported before are other measurements.
        correct: whether other values for measurements that were told before correct these.
        why: they are corrected; by default, that they are in this file.
        request: an id of this call; given again with the same one, it has no further effect.

    Raises:
        AlreadyTold: if values differ from what was told before; ``.differences`` are all of them.
    """
    table = read_table(path, expected=("number", "option", "failed", *study.metrics))
    read = FilledRows(study, table, request)
    for line in table.rows:
        read.take(line)
    read.sort_out()
    read.refuse_problems()
    if read.differences and not correct:
        raise _differing(table, read.differences)
    try:
        added = study.record(
            read.told,
            read.failed,
            [(option, told) for option, told, _ in read.added],
            options=read.options,
            again=again,
            corrected=read.corrected,
            costs=read.costs,
            why=why or f"other values in {os.path.basename(table.name)}",
            request=request,
        )
    except InvalidInput as problem:
        problem.args = (f"{table.name}{read.place(problem)}: {problem} Nothing was imported.",)
        raise
    far: list[FarOff] = []
    with suppress(StorageFailed):  # what was imported is stored
        far = study.far_off([*read.new, *read.corrected, *added])
    return Imported(
        told=len(read.new),
        failed=len(read.failures),
        added=len(added),
        known=read.known + len(read.added) - len(added),
        empty=read.empty,
        corrected=len(read.corrected),
        differences=tuple(read.differences),
        far_off=tuple(far),
        notes=tuple(read.notes()),
    )


def _differing(table: Table, differences: Sequence[Difference]) -> AlreadyTold:
    problem = AlreadyTold(
        listing(
            f"{table.name} has {counted(len(differences), 'other value')} for measurements that the study knows; nothing was "
            "imported. If they correct what was told, say so with correct.",
            list(map(str, differences)),
        )
    )
    problem.differences = tuple(differences)
    return problem
