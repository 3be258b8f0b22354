"""Policies by name: ``policy`` makes one, ``restore_policy`` continues a saved one, ``POLICIES`` lists them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from paretopick._arrays import check_choice
from paretopick.errors import InvalidInput
from paretopick.policies.ape import ape_fb, ape_fb_adapt
from paretopick.policies.apt import apt
from paretopick.policies.base import STATE_FORMAT, Policy, plain
from paretopick.policies.ege import ege, ege_gg, ege_sh, ege_sr, ege_sr_k, uniform
from paretopick.schedules import Schedule

POLICIES: dict[str, Callable[..., Policy]] = {
    "ege-sr": ege_sr,
    "ege-sh": ege_sh,
    "ege-gg": ege_gg,
    "uniform": uniform,
    "ege-sr-k": ege_sr_k,
    "ege": ege,
    "ape-fb": ape_fb,
    "ape-fb-adapt": ape_fb_adapt,
    "apt": apt,
}
"""Name -> a function of n_arms, n_objectives, budget and the policy's own options, all by keyword."""


def policy(name: str, *, n_arms: int, n_objectives: int, budget: int | None = None, **options: Any) -> Policy:
    """Returns a policy by name, ready to be asked.

    Args:
        name: one of ``POLICIES``.
        n_arms: K.
        n_objectives: D.
        budget: T, the most pulls it may ask for; None for ``apt`` (never done) and ``ege`` (what its schedule costs).
        options: the policy's own, as ``paretopick show NAME`` lists them.

    >>> halving = policy("ege-sh", n_arms=4, n_objectives=2, budget=16)
    >>> halving.ask(limit=6)
    array([0, 0, 1, 1, 2, 2])
    """
    check_options(name, options)
    make = POLICIES[name]
    if budget is None and inspect.signature(make).parameters["budget"].default is inspect.Parameter.empty:
        raise InvalidInput(f"{name} needs budget=, the number of pulls that can be paid for.")
    made = make(n_arms=n_arms, n_objectives=n_objectives, budget=budget, **options)
    made.name = name
    made.options = plain_options(options)
    return made


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Refuses an unknown policy, an option it does not have, and the lack of one it needs."""
    known = policy_options(name)
    for option in options:
        check_choice(option, known, f"option of {name}")
    missing = [option for option, default in known.items() if default is inspect.Parameter.empty and option not in options]
    if missing:
        raise InvalidInput(f"{name} needs {', '.join(f'{option}=' for option in missing)}; it has no default.")


def policy_options(name: str) -> dict[str, Any]:
    """Returns the options of a policy with their defaults; ``inspect.Parameter.empty`` where there is none."""
    parameters = inspect.signature(POLICIES[check_choice(name, POLICIES, "policy")]).parameters
    return {key: p.default for key, p in parameters.items() if key not in ("n_arms", "n_objectives", "budget")}


def restore_policy(state: Mapping[str, Any], /) -> Policy:
    """Returns the policy that ``Policy.to_dict`` described; told the same from there on, it does the same.

    >>> import json
    >>> first = policy("uniform", n_arms=2, n_objectives=1, budget=4)
    >>> first.tell([0, 1], [[0.1], [0.2]])
    >>> restore_policy(json.loads(json.dumps(first.to_dict()))).ask()
    array([0, 1])
    """
    if not isinstance(state, Mapping) or state.get("format") != STATE_FORMAT:
        raise InvalidInput(f"this is not a policy saved in format {STATE_FORMAT}; pass what to_dict() returned.")
    try:
        made = policy(
            state["policy"],
            n_arms=state["n_arms"],
            n_objectives=state["n_objectives"],
            budget=state["budget"],
            **state["options"],
        )
        made._load(state)
    except InvalidInput:
        raise
    except KeyError as missing:
        raise InvalidInput(f"the saved policy has no {missing}; pass what to_dict() returned, whole.") from None
    except (TypeError, ValueError, AttributeError, OverflowError, IndexError) as problem:
        raise InvalidInput(f"the saved policy cannot be read ({problem}); pass what to_dict() returned, unchanged.") from None
    return made


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns options as JSON values, which ``policy`` takes just as well."""
    return {
        name: {"active": list(value.active), "pulls": list(value.pulls)} if isinstance(value, Schedule) else plain(value)
        for name, value in options.items()
    }
