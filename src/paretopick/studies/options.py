"""Names and settings of options, from what users give."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from paretopick._arrays import check_distinct, check_name, check_sequence
from paretopick._words import short
from paretopick.errors import InvalidInput


def options_of(options: Any) -> tuple[tuple[str, ...], tuple[dict[str, Any], ...]]:
    """Names and settings from a list of names, a list of rows with a name, or a mapping of names to settings."""
    if isinstance(options, Mapping):
        rows = list(options.items())
    else:
        listed = check_sequence(options, "options", 'is not a list of names; write for instance ["zlib 1", "zlib 9"]')
        rows = [_row(entry) for entry in listed]
    if not rows:
        raise InvalidInput("there are no options; give at least one to measure.")
    names = tuple(check_name(name, "option") for name, _ in rows)
    check_distinct(names, "option")
    settings = []
    for name, row in rows:
        if not isinstance(row, Mapping):
            raise InvalidInput(f"option {name!r} has the settings {short(row)}; they are a mapping, such as {{'level': 9}}.")
        if list(row) != list(rows[0][1]):
            raise InvalidInput(f"option {name!r} has the settings {short(row)}; give each option the same ones as {names[0]!r}.")
        for column, value in row.items():
            check_name(column, "column of options")
            if not is_setting(value):
                raise InvalidInput(f"option {name!r} has {column}={short(value)}; settings are texts and finite numbers.")
        settings.append(dict(row))
    return names, tuple(settings)


def option_with_settings(option: Any, settings: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]]:
    """Returns the name and the settings of one option, from a name and settings, or a row with its name among them."""
    name, row = _row(option)
    if settings is not None and not isinstance(settings, Mapping):
        raise InvalidInput(f"settings={short(settings)} is not a mapping, such as {{'level': 9}}.")
    names, rows = options_of({check_name(name, "option"): dict(row) | dict(settings or {})})
    return names[0], rows[0]


def _row(entry: Any) -> tuple[str, Mapping[str, Any]]:
    """The name and the settings of one option, from a name or number, or a mapping with its name among the settings."""
    if isinstance(entry, Mapping):
        row = dict(entry)
        name = row.pop("option", None) if "option" in row else row.pop("name", None)
        if name is None:
            raise InvalidInput(f"an option is {short(dict(entry))}, without a name; add option=... to it.")
        return name_of_option(name), row
    return name_of_option(entry), {}


def name_of_option(given: Any) -> Any:
    """Returns a number as the name of an option, and whatever else as it is."""
    is_number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
    return str(given) if is_number and is_setting(getattr(given, "item", lambda: given)()) else given


def is_setting(value: Any) -> bool:
    """Whether databases and commands can take it: a text without NUL and halves of characters, or a number within floats."""
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, int):
        return value.bit_length() <= 1024
    return isinstance(value, float) and math.isfinite(value)
