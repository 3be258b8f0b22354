"""The state of a study: what follows from its events.

For policies that plan rounds it is ``InRounds``; for the others it is ``Roundless``: the data and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paretopick.errors import InvalidInput
from paretopick.studies.base_state import FORMAT, State, fingerprint
from paretopick.studies.definition import Definition
from paretopick.studies.in_rounds import InRounds
from paretopick.studies.roundless import Roundless

__all__ = ["FORMAT", "State", "new_state", "restore_state"]


def new_state(definition: Definition) -> State:
    """Returns the state of a study before anything has happened."""
    return Roundless(definition) if definition.choice.roundless else InRounds(definition)


def restore_state(definition: Definition, saved: Mapping[str, Any]) -> State:
    """Returns the state that ``to_dict`` described; one at the start, if another version of the package described it.

    Refuses with ``InvalidInput`` what is damaged, or cannot be the state of such a study.
    """
    state = new_state(definition)
    try:
        if saved["format"] == FORMAT:
            if saved["study"] != fingerprint(definition):
                raise InvalidInput("it is that of another study")
            state._load(saved)
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as problem:
        raise InvalidInput(f"the saved state of the study cannot be read ({problem}); apply its events instead.") from None
    return state
