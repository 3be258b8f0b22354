"""The verbs that change what a study knows or is about: measurements taken back or corrected, options, the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Annotated, Any

import typer

from paretopick._texts import value_of
from paretopick._words import counted, joined, quoted, short
from paretopick.cli.arguments import (
    ConfidenceGiven,
    Json,
    Name,
    Number,
    Reason,
    Request,
    ResolutionGiven,
    Storage,
    Where,
    Why,
    Worker,
    aim_from,
    column_pairs,
    measured_pairs,
    typed,
)
from paretopick.cli.output import note, print_standing
from paretopick.errors import InvalidInput
from paretopick.policies import policies_with
from paretopick.studies import Study
from paretopick.studies.outliers import FarOff

EXTENDABLE = " or ".join(policies_with("roundless"))
OptionName = Annotated[str, typer.Argument(metavar="OPTION", help="The name of the option.", show_default=False)]


def void(
    name: Name,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="NUMBERS... [REASON]", help="The numbers of the measurements, and why.", show_default=False),
    ] = None,
    where: Where = None,
    why: Why = None,
    request: Request = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Take measurements back that turned out to be wrong.

    They leave the data, all of them or none. With policies that plan rounds, their options are due again in the open round; after
    that, what was decided with them stands.
    """
    given = list(words or [])
    if why is None and len(given) + bool(where) > 1 and not _is_number(given[-1]):
        why = given.pop()
    if not why:
        again = typed(["paretopick", "void", name, *given], storage)
        raise InvalidInput(f'say why they are wrong, which is kept with the study: {again} --why "wrong dose"')
    study = Study.open(name, storage=storage)
    if where and given:
        raise InvalidInput(f"numbers ({joined(given)}) and --where are both given; choose one.")
    if where:
        taken = study.void(where=column_pairs(where), why=why, request=request)
    else:
        taken = study.void([_whole(word) for word in given] or None, why, request=request)
    what = f"Measurement {taken[0]} is void" if len(taken) == 1 else f"Measurements {joined(list(map(str, taken)))} are void"
    print_standing(study, what, as_json, {"voided": taken})


def correct(
    name: Name,
    number: Number,
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="METRIC=VALUE...", help="The metrics that were wrong, as they should be; METRIC=none if it is missing."
        ),
    ],
    why: Why = None,
    request: Request = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Put other values in the place of those of a measurement.

    It keeps its number, metrics that are not named keep their values, and the log keeps both.
    """
    if not why:
        again = typed(["paretopick", "correct", name, str(number), *values], storage)
        raise InvalidInput(f'say why, which is kept with the study: {again} --why "a slip of the pen"')
    study = Study.open(name, storage=storage)
    given: Any = value_of(values[0]) if len(values) == 1 else None
    changed = given if isinstance(given, dict) else measured_pairs(values, study.metrics, "the values")
    unknown = [each for each in changed if each not in study.metrics]
    if unknown:
        raise InvalidInput(f"{quoted(unknown)} cannot be corrected; the metrics are {quoted(study.metrics)}.")
    before = study.look_up([number]).get(number, {})
    row = {metric: changed.get(metric, before.get(metric)) for metric in study.metrics}
    differs = study.correct(number, row, why, request=request)
    shown = joined([f"{metric} was {_shown(before.get(metric))} and is {_shown(row[metric])}" for metric in changed])
    what = f"Measurement {number} is corrected: {shown}" if differs else f"Measurement {number} has these values already"
    far = study.far_off([number]) if differs else []
    if not as_json:
        name_far_off(study, far, storage)
    print_standing(study, what, as_json, {"corrected": differs, "far_off": [asdict(each) for each in far]})


def retire(
    name: Name,
    option: OptionName,
    why: Reason,
    request: Request = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Take an option out of a study.

    It is never asked for again and is not in the answer. "reinstate" takes it in again.
    """
    study = Study.open(name, storage=storage)
    study.retire(option, why, request=request)
    print_standing(study, f"{option!r} is retired", as_json)


def reinstate(
    name: Name,
    option: OptionName,
    why: Why = None,
    request: Request = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Take an option in again that was retired.

    All its measurements count again. Not with policies that plan rounds.
    """
    study = Study.open(name, storage=storage)
    study.reinstate(option, why or "", request=request)
    print_standing(study, f"{option!r} is in the study again", as_json)


def add_option(
    name: Name,
    option: OptionName,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SETTING=VALUE", help="A setting, as the other options have them.", show_default=False),
    ] = None,
    cost: Annotated[
        float | None,
        typer.Option(help="What a measurement of it costs, if the other options have a cost each.", show_default=False),
    ] = None,
    request: Request = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Add an option that turned up later.

    It is measured a few times first, within the budget as it is. Not with policies that plan rounds.
    """
    study = Study.open(name, storage=storage)
    study.add_option(option, _settings(settings or [], study.definition.settings[0]), cost=cost, request=request)
    print_standing(study, f"{option!r} is in the study; it has {counted(len(study.options), 'option')} now", as_json)


def extend(
    name: Name,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            help=f"The new budget, in the same unit as before: 90, 40m, '10 dollars'; for studies with {EXTENDABLE}.",
            show_default=False,
        ),
    ] = None,
    confidence: ConfidenceGiven = None,
    resolution: ResolutionGiven = None,
    number: Annotated[int | None, typer.Option(help="The number of a measurement that takes longer.", show_default=False)] = None,
    lease: Annotated[float, typer.Option(help="Seconds from now for that measurement; 0 means no limit.")] = 3600.0,
    worker: Worker = "main",
    request: Request = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Give a study more budget, let it be surer before it stops, or give a measurement more time."""
    aim = aim_from(confidence, resolution)
    if (budget is None and not aim) == (number is None):
        raise InvalidInput("say --budget, --confidence or --resolution, or --number alone: what is to be extended.")
    study = Study.open(name, storage=storage)
    if budget is not None:
        study.extend(budget=budget, **aim, request=request)
        until = f", and it is measured {study.aims[-1].until}" if aim else ""
        print_standing(study, f"The budget is {study.budget} now{until}", as_json)
    elif aim:
        study.aim(**aim, request=request)
        print_standing(study, f"It is measured {study.aims[-1].until}", as_json)
    elif number is not None:
        if not study.renew(number, worker=worker, lease=lease or None):
            raise InvalidInput(f"measurement {number} is not out with worker {worker!r}; see paretopick status {name}.")
        print_standing(study, f"Measurement {number} has more time", as_json)


def baseline(
    name: Name,
    option: Annotated[
        str | None,
        typer.Argument(metavar="OPTION", help="The name of the option; left out, results compare with none.", show_default=False),
    ] = None,
    request: Request = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Say with which option results compare the others, what is used today for instance."""
    study = Study.open(name, storage=storage)
    study.choose_baseline(option, request=request)
    chosen = study.definition.baseline
    what = "Results compare with no option" if chosen is None else f"Results compare the other options with {chosen!r}"
    print_standing(study, what, as_json)


VERBS: dict[str, tuple[Callable[..., None], str]] = {
    "void": (void, 'paretopick void boosters 2 --why "wrong dose"'),
    "correct": (correct, 'paretopick correct boosters 2 response=0.7 --why "read from the wrong line"'),
    "retire": (retire, 'paretopick retire boosters c "no longer made"'),
    "reinstate": (reinstate, "paretopick reinstate boosters c"),
    "add-option": (add_option, "paretopick add-option boosters d"),
    "extend": (extend, "paretopick extend boosters --budget 90"),
    "baseline": (baseline, "paretopick baseline boosters a"),
}
"""By name, each with an example."""


def name_far_off(study: Study, values: Iterable[FarOff], storage: str | None) -> None:
    """Says which values are far from all others of their options, and what to type if they are wrong."""
    for each in values:
        remedy = typed(["paretopick", "void", study.name, str(each.number), "--why", "wrong unit"], storage)
        note(f"{each}. It counts; if it is wrong: {remedy}")


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit()


def _whole(word: str) -> int:
    if not _is_number(word) or len(word) > 18:
        raise InvalidInput(f"{short(word)} is not the number of a measurement; the reason is said with --why.")
    return int(word)


def _settings(texts: Iterable[str], like: dict[str, Any]) -> dict[str, Any]:
    """Settings of an option, texts or numbers as those of the others are."""
    settings: dict[str, Any] = {}
    for pair in texts:
        name, equals, text = (part.strip() for part in pair.partition("="))
        if not equals or not name or name in settings:
            raise InvalidInput(
                f"--set {short(pair)} is not SETTING=VALUE, each setting once; options have {quoted(like) or 'none'}."
            )
        value = value_of(text)
        is_number = isinstance(value, int | float) and not isinstance(like.get(name), str)
        settings[name] = value if is_number else text
    return settings


def _shown(value: float | None) -> str:
    return "missing" if value is None else f"{value:.6g}"
