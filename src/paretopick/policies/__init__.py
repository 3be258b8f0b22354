"""Policies by name: ``policy`` makes one, ``restore_policy`` continues a saved one, ``POLICIES`` lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from paretopick._arrays import check_integer, check_size
from paretopick.errors import InvalidInput
from paretopick.policies.base import STATE_FORMAT, Policy
from paretopick.policies.choices import (
    DEFAULT_POLICY,
    POLICIES,
    OwnPolicyGiven,
    PolicyChoice,
    PolicyGiven,
    PolicyName,
    PolicyOptions,
    PolicyTable,
    check_policy,
    check_simulated,
    needed_options,
    policies_with,
    policy_options,
)

__all__ = [
    "DEFAULT_POLICY",
    "POLICIES",
    "OwnPolicyGiven",
    "PolicyChoice",
    "PolicyGiven",
    "PolicyName",
    "PolicyOptions",
    "PolicyTable",
    "check_policy",
    "check_simulated",
    "needed_options",
    "policies_with",
    "policy",
    "policy_options",
    "restore_policy",
]


def policy(
    name: PolicyName, *, n_arms: int, n_objectives: int, budget: int | None = None, **options: Unpack[PolicyOptions]
) -> Policy:
    """Returns a policy by name, ready to be asked.

    Args:
        name: one of ``POLICIES``.
        n_arms: K.
        n_objectives: D.
        budget: T, the most pulls it may ask for; None for ``apt`` and ``doubt`` (never
            done) and ``ege`` (what its schedule costs).
        options: the policy's own, as ``paretopick show NAME`` lists them.

    >>> halving = policy("ege-sh", n_arms=4, n_objectives=2, budget=16)
    >>> halving.ask(limit=6)
    array([0, 0, 1, 1, 2, 2])
    """
    return PolicyChoice(name, {**options}).new(n_arms=n_arms, n_objectives=n_objectives, budget=budget)


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
        _check_sizes(state)
        choice = PolicyChoice(state["policy"], state["options"])
        most = state["n_arms"] - 1 if choice.growable else 0
        added = check_integer(state.get("added", 0), "added", minimum=0, maximum=most)
        made = choice.new(n_arms=state["n_arms"] - added, n_objectives=state["n_objectives"], budget=state["budget"])
        made._load(state)
    except InvalidInput:
        raise
    except KeyError as missing:
        raise InvalidInput(f"the saved policy has no {missing}; pass what to_dict() returned, whole.") from None
    except (TypeError, ValueError, AttributeError, ArithmeticError, IndexError, RecursionError) as problem:
        raise InvalidInput(f"the saved policy cannot be read ({problem}); pass what to_dict() returned, unchanged.") from None
    return made


def _check_sizes(state: Mapping[str, Any]) -> None:
    """Refuses a description that is not as large as the policy that it describes, before anything of that size is made."""
    n_arms, n_objectives = check_size(state["n_arms"], state["n_objectives"])
    for key, size in (("counts", n_arms), ("sums", n_arms)):
        if len(state[key]) != size:
            raise InvalidInput(f"the saved {key} have shape ({len(state[key])},); expected ({size},), one for each arm.")
    if len(state["sums"][0]) != n_objectives:
        raise InvalidInput(f"the saved sums have {len(state['sums'][0])} columns; expected {n_objectives}, one per objective.")
