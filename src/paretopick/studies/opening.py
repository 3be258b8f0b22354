"""Which study a name means: a new one, the one that is there if it is about the same, or a new one in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

from paretopick._arrays import check_name
from paretopick._words import short
from paretopick.errors import InvalidInput, StorageFailed
from paretopick.policies import policies_with
from paretopick.storage import StorageChoice, open_storage
from paretopick.studies.aims import Aim
from paretopick.studies.budgets import CostGiven, amount_of, unit_of
from paretopick.studies.definition import Definition
from paretopick.studies.study import Study

IfExists = Literal["open", "replace", "error"]
"""What is done where a study has the name already."""


def study_named(name: str, definition: Definition, storage: StorageChoice, if_exists: IfExists) -> Study:
    """Returns a study that is about this.

    Args:
        name: of the study.
        definition: what it is about.
        storage: as for ``Study.create``.
        if_exists: where the name is taken: "open" goes on with the study that is there if it is about the same, as
            ``create_or_open`` does; "replace" deletes it and begins anew, in one transaction; "error" refuses.
    """
    if if_exists == "open":
        return create_or_open(name, definition, storage)
    if if_exists not in get_args(IfExists):
        known = ", ".join(f'"{choice}"' for choice in get_args(IfExists))
        raise InvalidInput(f"if_exists={short(if_exists)} must be one of {known}.")
    return new_study(name, definition, storage, replace=if_exists == "replace")


def new_study(name: str, definition: Definition, storage: StorageChoice, *, replace: bool = False) -> Study:
    """Returns a study without measurements; refuses a name that is taken, unless it replaces the study that has it."""
    check_name(name, "study")
    definition.check_columns()
    database = open_storage(storage)
    stored = database.create(name, definition.to_dict(), replace=replace)
    if stored is None and replace:
        raise StorageFailed(f"somebody else has just created a study named {name!r} in {database.shown}, too; try again.")
    if stored is None:
        raise InvalidInput(
            f"there is a study named {name!r} in {database.shown} already; open it, or choose another name (in "
            'Python, if_exists="open" or "replace" do what they say).'
        )
    return Study(database, stored)


def create_or_open(name: str, definition: Definition, storage: StorageChoice) -> Study:
    """Returns the study with this name: a new one, or the one that is there if it is about the same.

    Args:
        name: of the study.
        definition: what it is about. A study without rounds goes on with a budget that is larger than before, with options
            that it did not have, and until it is as sure as is said now; as was said since, if that was said before.
        storage: as for ``Study.create``.
    """
    database = open_storage(storage)
    check_name(name, "study")
    try:
        definition.check_columns()
    except InvalidInput:
        if name not in database.names():  # one that is older than these columns goes on
            raise
    stored = database.create(name, definition.to_dict())
    if stored is not None:
        return Study(database, stored)
    study = Study(database, database.find(name))
    if differences := differences_from(study, definition):
        planned = definition.budget != study.definition.budget and not _can_grow(study, definition)
        hint = (
            f" Rounds are planned for their budget, which only {' or '.join(policies_with('roundless'))} can extend; an export "
            "of the old study can be imported."
        )
        raise InvalidInput(
            f"there is another study named {name!r} in {database.shown}: {'; '.join(differences)}. "
            f'Choose another name, or delete the other one (in Python if_exists="replace" does).{hint if planned else ""}'
        )
    for option, settings in zip(definition.options, definition.settings, strict=True):
        if option not in study.options:
            cost = definition.cost[option] if isinstance(definition.cost, Mapping) else None
            study.add_option(option, settings, cost=cost)
    if amount_of(definition.budget) > amount_of(study.budget):
        study.extend(budget=definition.budget)
    if definition.aim.to_dict() and newer_aim(study, definition.aim) is None:
        study.aim(**definition.aim.to_dict())
    if definition.baseline is not None and definition.baseline != study.definition.baseline:
        study.choose_baseline(definition.baseline)
    return study


def newer_aim(study: Study, given: Aim) -> Aim | None:
    """Returns the aim of a study if another one that is given now was its aim before: what was said since stands."""
    *before, now = study.aims
    return now if not now.says(given) and any(aim.says(given) for aim in before) else None


def differences_from(study: Study, definition: Definition) -> list[str]:
    """Returns in words why a definition is not that of a study, and cannot become it: no words if it is."""
    wanted = definition
    if _can_grow(study, definition):
        wanted = _as_stored(definition, study.definition, study.options_at_first)
    return study.definition.differences(wanted)


def _can_grow(study: Study, definition: Definition) -> bool:
    return definition.choice.roundless and study.definition.choice.roundless


def _as_stored(given: Definition, stored: Definition, needed: Sequence[str]) -> Definition:
    """A definition with what a study without rounds can be given later as it is stored: budget, new options, and the batch."""
    batch = {key: value for key, value in stored.policy_options.items() if key == "batch"}
    choice = given.choice.with_default(**batch) if given.policy == stored.policy else given.choice
    wanted = replace(given, choice=choice)
    if unit_of(given.budget) == unit_of(stored.budget):
        wanted = replace(wanted, budget=stored.budget)
    rows = dict(zip(given.options, given.settings, strict=True))
    before = dict(zip(stored.options, stored.settings, strict=True))
    if set(needed) <= set(rows) and all(rows.get(option, settings) == settings for option, settings in before.items()):
        return replace(wanted, options=stored.options, settings=stored.settings, cost=_cost_as_stored(given, stored))
    return wanted


def _cost_as_stored(given: Definition, stored: Definition) -> CostGiven | None:
    """What is given as costs, of the options that are stored: by option, those that are not given are as they are stored."""
    if isinstance(given.cost, Mapping) and isinstance(stored.cost, Mapping):
        return {option: given.cost.get(option, cost) for option, cost in stored.cost.items()}
    return given.cost
