"""What several verbs take, and how their texts become values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from paretopick._arrays import check_choice, check_integer
from paretopick.bandits import Bandit, Bernoulli, Gaussian, Noise
from paretopick.errors import InvalidInput
from paretopick.instances import INSTANCES, instance, read_instance
from paretopick.policies import POLICIES
from paretopick.schedules import SCHEDULES

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
Seed = Annotated[int, typer.Option(help="Of the random numbers; the same seed gives the same result.")]
Data = Annotated[Path | None, typer.Option(help="The file of the sorting networks, for snw and snw-paper.")]
Minimise = Annotated[list[str], typer.Option(help="Columns of a CSV file where smaller is better.")]


def policy_spec(text: str) -> tuple[str, dict[str, Any]]:
    """``name:option=value,option=value`` taken apart."""
    name, _, tail = text.partition(":")
    if "," in name:
        raise InvalidInput(f"--policy {text} names several; write --policy once for each of them.")
    options = {}
    for pair in split_at_commas([tail]):
        option, equals, given = pair.partition("=")
        if not equals:
            raise InvalidInput(f"{pair!r} in --policy {text} is not OPTION=VALUE; write for instance ege-sr-k:max_arms=1.")
        options[option.strip()] = value(given)
    return check_choice(name, POLICIES, "policy"), options


def value(text: str) -> Any:
    """A number, a truth value, a list or a mapping where the text is one, else the text."""
    words = {"true": True, "yes": True, "false": False, "no": False, "none": None}
    try:
        return json.loads(text)
    except ValueError:  # no JSON, or a number of more digits than Python reads
        return words.get(text.strip().lower(), text.strip())


def whole_numbers(texts: Sequence[str], name: str) -> list[int]:
    """Whole numbers, several in a text separated by commas; 1e3 is one too."""
    given = [value(text) for text in split_at_commas(texts)]
    whole = [int(number) if isinstance(number, float) and number.is_integer() else number for number in given]
    for number in whole:
        if isinstance(number, str):
            raise InvalidInput(f"{name} has {number[:50]!r}, which is not a whole number; commas separate several numbers.")
    return [check_integer(number, name, minimum=0) for number in whole]


def split_at_commas(texts: Iterable[str]) -> list[str]:
    """The parts of all texts; commas inside brackets belong to a part, empty parts are left out."""
    parts = [""]
    for text in texts:
        depth = 0
        for character in text:
            depth += (character in "[{") - (character in "]}")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        parts.append("")
    return [part for part in parts if part]


def is_file(name: str) -> bool:
    """Whether an argument means a file and nothing that has a name here."""
    return name not in (*INSTANCES, *POLICIES, *SCHEDULES) and (bool(Path(name).suffix) or Path(name).is_file())


def bandit_from(name: str, data: Path | None, std: str | None, bernoulli: bool, minimise: list[str]) -> Bandit:
    """An instance by name, or the one of a CSV file."""
    if not is_file(name):
        if std is not None or bernoulli or minimise:
            raise InvalidInput(f"--std, --bernoulli and --minimise go with a CSV file; {name!r} is not one.")
        return instance(name, path=data)
    if data is not None:
        raise InvalidInput(f"--data {data} goes with snw and snw-paper; {name} is a file of means already.")
    if std is None and not bernoulli:
        raise InvalidInput(f"{name} holds means alone; say how noisy a measurement is with --std 0.5 or --bernoulli.")
    if std is not None and bernoulli:
        raise InvalidInput("--std and --bernoulli are both given; choose one.")
    noise: Noise = Bernoulli()
    if std is not None:
        widths = [value(text) for text in split_at_commas([std])]
        noise = Gaussian(std=widths[0] if len(widths) == 1 else np.array(widths))
    try:
        return read_instance(name, noise=noise, minimise=split_at_commas(minimise))
    except InvalidInput as problem:
        if str(problem).startswith("std has shape"):
            raise InvalidInput(f"--std {std} has {len(widths)} numbers; give one, or one for each column of {name}.") from None
        raise
