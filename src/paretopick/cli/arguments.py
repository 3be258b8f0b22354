"""What several verbs take, and how their texts become values."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from paretopick._arrays import check_choice, check_integer
from paretopick._texts import number_of, split_at_commas, value_of
from paretopick._words import cut, joined, quoted, short
from paretopick.bandits import Bandit, Bernoulli, Gaussian, Noise
from paretopick.cli.output import note
from paretopick.errors import InvalidInput
from paretopick.instances import INSTANCES, instance, read_instance
from paretopick.policies import POLICIES
from paretopick.schedules import SCHEDULES
from paretopick.storage.addresses import MASK, PASSWORD_FILE, masked
from paretopick.studies import Study
from paretopick.studies.tables import read_options

MISSING = ("", "none")
"""What people write for a metric that could not be measured."""

SHOWN = {"told": "valid", "failed": "failed", "voided": "void"}
"""States of measurements, as programs know them and as people do."""

AS_KEPT = {shown: kept for kept, shown in SHOWN.items()}

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it is there already.")]
Seed = Annotated[int, typer.Option(help="The seed of the random numbers; the same seed gives the same result.")]
Workers = Annotated[int | None, typer.Option(help="How many threads to use.  [default: one for each core]", show_default=False)]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="ADDRESS",
        help="The cluster to run on instead of here: dask://HOST:PORT, ray, or ray://HOST:PORT; the counts are the same.",
        show_default=False,
    ),
]
Data = Annotated[
    Path | None, typer.Option(help="The file of the sorting networks, for the instances snw and snw-paper.", show_default=False)
]
Std = Annotated[
    str | None,
    typer.Option(
        help="The noise around the means in a CSV file: one standard deviation, or one for each column, separated by commas.",
        show_default=False,
    ),
]
Coins = Annotated[bool, typer.Option("--bernoulli", help="Take the means in a CSV file for probabilities of 0 and 1.")]
Minimise = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMNS", help="Columns of the CSV file in which smaller is better, separated by commas.", show_default=False
    ),
]


def _without_password(storage: str | None) -> str | None:
    """Says so if there is a password in what everybody can see."""
    if storage is not None and masked(storage) != storage:
        note(
            "others on this machine can read the password in --storage in the process list; put it into ~/.pgpass, or into a "
            f"file that {PASSWORD_FILE} names."
        )
    return storage


Picture = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="FILE", help="Draw a picture into this file: .png, .pdf or .svg, as it is called.", show_default=False
    ),
]
Storage = Annotated[
    str | None,
    typer.Option(
        help="The database of the study: FILE or sqlite:///FILE on a disk of this machine, or postgresql://USER@HOST/NAME, which "
        f"several machines can use; passwords come from ~/.pgpass, PGPASSWORD or the file that {PASSWORD_FILE} names.  [default: "
        "$PARETOPICK_STORAGE, or paretopick.db in the working folder]",
        show_default=False,
        callback=_without_password,
    ),
]
Name = Annotated[str, typer.Argument(metavar="STUDY", help="The name of the study.", show_default=False)]
OnlyName = Annotated[
    str | None,
    typer.Argument(metavar="STUDY", help="The name of the study; it may be left out if there is only one.", show_default=False),
]
Number = Annotated[
    int, typer.Argument(metavar="NUMBER", help="The number of the measurement, as ask or the sheet gave it.", show_default=False)
]
Reason = Annotated[str, typer.Argument(metavar="REASON", help="The reason, which is kept with the study.", show_default=False)]
Why = Annotated[str | None, typer.Option("--why", help="The reason, which is kept with the study.", show_default=False)]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="COLUMN=VALUE",
        help="Only those with this value in a column, such as plate=3 or option=a; several of them must all be true.",
        show_default=False,
    ),
]
Worker = Annotated[
    str, typer.Option(help="The name of whoever measures; those who measure at the same time need different names.")
]
Request = Annotated[
    str | None,
    typer.Option(
        help="An id of this one call: made again with the same one, it has no further effect. For calls whose answer was lost.",
        show_default=False,
    ),
]
OptionsGiven = Annotated[
    str | None,
    typer.Option(
        "--options", help="The names of the options, separated by commas, or a CSV file with a row for each.", show_default=False
    ),
]
MetricsGiven = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        help="The metrics and their goals, such as time:min,quality:max; with the smallest difference that matters and a limit "
        "'time:min~2%<=50', or a limit alone 'errors<=0.01'.",
        show_default=False,
    ),
]
BudgetGiven = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="AMOUNT",
        help="How many measurements may count, at most: 60; or how long they may take together, 90s, 20m or 2h; or what they may "
        "cost, '5 dollars'.",
        show_default=False,
    ),
]
CostGiven = Annotated[
    str | None,
    typer.Option(
        "--cost",
        help="What a measurement costs, where the budget is in a unit: a metric, a column of the options, or a value beside the "
        "metrics; or by option, a=1,b=2.  [default: what is called as the unit; of a time, how long it takes]",
        show_default=False,
    ),
]
PolicyGiven = Annotated[
    str,
    typer.Option("--policy", help="What chooses the next measurement, such as apt:batch=4; see: paretopick show policies"),
]
ExactGiven = Annotated[
    str,
    typer.Option("--exact", help="The metrics without noise, a price for instance, separated by commas.", show_default=False),
]
ScaleGiven = Annotated[
    str,
    typer.Option(
        "--scale", help="Compare metrics in units of their noise, raw, or in the units that you give: time=0.1,size=20."
    ),
]


ConfidenceGiven = Annotated[
    float | None,
    typer.Option(
        "--confidence",
        help="Stop as soon as the answer is right with this probability, such as 0.95, within the margins of the metrics.",
        show_default=False,
    ),
]
ResolutionGiven = Annotated[
    str | None,
    typer.Option(
        "--resolution",
        help="Stop as soon as the answer is right up to such differences: in units of the noise, 0.2, or time=5%,size=0.01.",
        show_default=False,
    ),
]


PairingGiven = Annotated[
    str | None,
    typer.Option(
        "--pairing",
        metavar="NAME",
        help="What measurements share that makes them vary: repeat, if the n-th of all options use the same question, split or "
        "seed; or a value beside the metrics, such as plate.",
        show_default=False,
    ),
]


BaselineGiven = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="OPTION",
        help="The option that results compare the others with, what is used today for instance.",
        show_default=False,
    ),
]


def aim_from(confidence: float | None, resolution: str | None) -> dict[str, Any]:
    """When to stop, from the texts of the command line, without what is not said."""
    told: dict[str, Any] = {} if confidence is None else {"confidence": confidence}
    if resolution is None:
        return told
    where = f"--resolution {resolution}"
    finest: Any = value_of(resolution)
    if "=" in resolution:
        parts = split_at_commas([resolution])
        shares = {
            name.strip(): width.strip() for name, _, width in (part.rpartition("=") for part in parts if part.endswith("%"))
        }
        finest = shares | number_pairs([part for part in parts if not part.endswith("%")], where)
    if isinstance(finest, str):
        raise InvalidInput(f"{where} is neither a number, in units of the noise, nor NAME=NUMBER for some metrics.")
    return told | {"resolution": finest}


def names_in(text: str) -> list[str]:
    """The names in a text, separated by commas."""
    return [part.strip() for part in split_at_commas([text])]


def whole_numbers(texts: Sequence[str], name: str) -> list[int]:
    """Whole numbers, several in a text separated by commas; 1e3 is one too."""
    given = [value_of(text) for text in split_at_commas(texts)]
    whole = [int(number) if isinstance(number, float) and number.is_integer() else number for number in given]
    for number in whole:
        if isinstance(number, str):
            raise InvalidInput(f"{name} has {cut(number, 50)!r}, which is not a whole number; commas separate several numbers.")
    return [check_integer(number, name, minimum=0) for number in whole]


def number_pairs(texts: Sequence[str], where: str) -> dict[str, float]:
    """``name=value`` pairs, each name once."""
    pairs: dict[str, float] = {}
    for pair in texts:
        name, equals, number = (part.strip() for part in pair.rpartition("="))
        if not equals or not name:
            raise InvalidInput(f"{short(pair)} in {where} is not NAME=NUMBER.")
        if name in pairs:
            raise InvalidInput(f"{name!r} is in {where} twice.")
        try:
            pairs[name] = number_of(number)
        except ValueError:
            raise InvalidInput(f"{short(pair)} in {where} does not end in a number.") from None
    return pairs


def measured_pairs(texts: Sequence[str], metrics: Iterable[str], where: str) -> dict[str, Any]:
    """``metric=number`` pairs, without a number for what is missing; whatever else is named is a number or a text beside them."""
    known = set(metrics)
    pairs: dict[str, Any] = {}
    for pair in texts:
        halves = [tuple(part.strip() for part in split("=")) for split in (pair.partition, pair.rpartition)]
        name, equals, text = next((half for half in halves if half[0] in known), halves[0])
        if not equals or not name:
            raise InvalidInput(f"{short(pair)} in {where} is not NAME=VALUE.")
        if name in pairs:
            raise InvalidInput(f"{name!r} is in {where} twice.")
        if text.casefold() in MISSING:
            pairs[name] = None
            continue
        try:
            pairs[name] = number_of(text)
        except ValueError:
            if name in known:
                raise InvalidInput(
                    f"{short(pair)} in {where} does not end in a number; write {name}=none for what could not be measured."
                ) from None
            pairs[name] = text
    return pairs


def column_pairs(texts: Sequence[str]) -> dict[str, str]:
    """What rows must have in common, from ``COLUMN=VALUE``; states of measurements may be said as they are shown."""
    pairs: dict[str, str] = {}
    for pair in texts:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not name:
            raise InvalidInput(f"--where {short(pair)} is not COLUMN=VALUE, such as plate=3.")
        if name in pairs:
            raise InvalidInput(f"--where names {name!r} twice; rows have one value in a column.")
        pairs[name] = AS_KEPT.get(value, value) if name == "status" else value
    return pairs


def typed(words: Iterable[str], storage: str | None = None, *, names: Iterable[str] | None = None) -> str:
    """What to type, without the password of a database, which has no place on a screen.

    Args:
        words: of the command.
        storage: as it was given beside them, if it was.
        names: what stands behind the verb and is no flag, however it begins; by default the words before the first flag.

    >>> typed(["paretopick", "retire"], "a.db", names=["s", "zlib 9", "REASON"])
    "paretopick retire s 'zlib 9' REASON --storage a.db"
    >>> typed(["paretopick", "retire"], "a.db", names=["s", "-O3", "REASON"])
    'paretopick retire --storage a.db -- s -O3 REASON'
    """
    listed = list(words)
    verb, rest = listed[:2], listed[2:]
    if names is None:
        n_names = next((place for place, word in enumerate(rest) if word.startswith("--")), len(rest))
        names, rest = rest[:n_names], rest[n_names:]
    named = list(names)
    flags = [*rest, *(() if storage is None else ("--storage", storage))]
    as_flags = any(name.startswith("-") for name in named)
    given = [*verb, *flags, "--", *named] if as_flags else [*verb, *named, *flags]
    shown = [_can_be_seen(word) for word in given]
    return shlex.join(shown) + (" (with the password as before)" if shown != given else "")


def _can_be_seen(word: str) -> str:
    """The address of a database as it can be typed; other words as they are."""
    hidden = masked(word)
    if hidden == word:
        return word
    place, _, settings = hidden.replace(f":{MASK}@", "@").partition("?")
    rest = [setting for setting in settings.split("&") if setting and MASK not in setting]
    return f"{place}?{'&'.join(rest)}" if rest else place


def check_one_form(as_json: bool, as_csv: bool) -> None:
    """Refuses two forms of a result at once."""
    if as_json and as_csv:
        raise InvalidInput("--json and --csv are both given; choose one.")


def is_file(name: str) -> bool:
    """Whether an argument means a file and nothing that has a name here."""
    return name not in (*INSTANCES, *POLICIES, *SCHEDULES) and (bool(Path(name).suffix) or Path(name).is_file())


def bandit_from(name: str, data: Path | None, std: str | None, bernoulli: bool, minimise: list[str]) -> Bandit:
    """An instance by name, or the one of a CSV file."""
    if not is_file(name):
        if std is not None or bernoulli or minimise:
            raise InvalidInput(f"--std, --bernoulli and --minimise go with a CSV file; {name!r} is not one.")
        return instance(check_choice(name, INSTANCES, "instance"), path=data)
    if data is not None:
        raise InvalidInput(f"--data {data} goes with snw and snw-paper; {name} is a file of means already.")
    if std is None and not bernoulli:
        raise InvalidInput(f"{name} holds means alone; say how noisy a measurement is with --std 0.5 or --bernoulli.")
    if std is not None and bernoulli:
        raise InvalidInput("--std and --bernoulli are both given; choose one.")
    noise: Noise = Bernoulli()
    if std is not None:
        widths = [value_of(text) for text in split_at_commas([std])]
        noise = Gaussian(std=widths[0] if len(widths) == 1 else np.array(widths))
    try:
        return read_instance(name, noise=noise, minimise=split_at_commas(minimise))
    except InvalidInput as problem:
        if str(problem).startswith("std has shape"):
            raise InvalidInput(f"--std {std} has {len(widths)} numbers; give one, or one for each column of {name}.") from None
        raise


def open_study(name: str | None, storage: str | None) -> Study:
    """The study of that name; without a name, the only one there is."""
    if name is None:
        names = Study.list(storage=storage)
        if not names:
            raise InvalidInput("there are no studies yet; see paretopick create --help.")
        if len(names) > 1:
            raise InvalidInput(f"there are {len(names)} studies, {quoted(names)}; say which one.")
        name = names[0]
    return Study.open(name, storage=storage)


def study_from(
    options: str | None,
    metrics: str | None,
    budget: str | None,
    policy: str,
    exact: str,
    scale: str,
    *,
    cost: str | None = None,
    pairing: str | None = None,
    baseline: str | None = None,
) -> dict[str, Any]:
    """What defines a study, from the texts of the command line."""
    if options is None or metrics is None or budget is None:
        raise InvalidInput("a study needs --options, --metrics and --budget; --help ends in an example.")
    return {
        "options": options_from(options),
        "metrics": metrics,
        "budget": budget,
        "cost": number_pairs(split_at_commas([cost]), f"--cost {cost}") if cost is not None and "=" in cost else cost,
        "policy": policy,
        "scale": number_pairs(split_at_commas([scale]), f"--scale {scale}") if "=" in scale else scale,
        "exact": names_in(exact),
        "pairing": pairing,
        "baseline": baseline,
    }


def check_file_alone(file: str, given: Mapping[str, bool]) -> None:
    """Refuses what belongs into the file of a study.

    Args:
        file: its name.
        given: which options of the command line were given beside it.
    """
    said = [flag for flag, is_given in given.items() if is_given]
    if said:
        verb, them = ("stands", "it") if len(said) == 1 else ("stand", "them")
        raise InvalidInput(f"{joined(said)} {verb} beside {file}, which says what is studied; write {them} into it.")


def options_from(given: str) -> Sequence[str] | Mapping[str, Mapping[str, Any]]:
    """Names from a list, or names and settings from a file."""
    if given.lower().endswith(".csv") or os.path.isfile(given):
        return read_options(given)
    names = names_in(given)
    if len(names) < 2:
        raise InvalidInput(f"--options {given!r} is one option; give two or more, separated by commas, or a CSV file.")
    return names
