"""``paretopick demo``: one simulated trial, from twenty vaccines to the Pareto-optimal ones."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import numpy as np
import typer

from paretopick._arrays import check_integer
from paretopick.cli.arguments import Json, Seed
from paretopick.cli.output import print_json, print_table, say
from paretopick.instances import instance
from paretopick.policies import DEFAULT_POLICY, check_policy
from paretopick.simulation import informed, play
from paretopick.theory.losses import misidentified, relaxed_loss

NAME = "demo"
EXAMPLE = "paretopick demo --policy ege-sh --seed 3"


def command(
    budget: Annotated[int, typer.Option(help="How many patients, that is, measurements, there are.")] = 2500,
    policy_name: Annotated[
        str, typer.Option("--policy", help="What chooses the next patient's booster; see: paretopick show policies")
    ] = DEFAULT_POLICY,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Run a simulated vaccine trial once: COV-BOOST, with 20 boosters.

    There are three immune responses and 2,500 patients. It shows which boosters were found, and the truth; and with policies that
    have rounds, which left when.
    """
    check_integer(seed, "--seed", minimum=0)
    result = trial(budget, policy_name, seed)
    if as_json:
        print_json(result)
    else:
        _print(result, policy_name)


def trial(budget: int, policy_name: str, seed: int) -> dict[str, Any]:
    """Returns the whole course of one trial as JSON values."""
    bandit = instance("cov-boost")
    choice = informed(check_policy(policy_name), bandit)
    player = choice.new(n_arms=bandit.n_arms, n_objectives=bandit.n_objectives, budget=budget)
    play(bandit, player, seed)
    record, answer = player.snapshot(), player.recommend()
    max_arms = player.options.get("max_arms")
    wrong = misidentified(answer, bandit.optimal) if max_arms is None else relaxed_loss(answer, bandit.optimal, max_arms=max_arms)
    return {
        "instance": bandit.name,
        "source": bandit.source,
        "policy": choice.name,
        "options": dict(player.options),
        "budget": budget,
        "seed": seed,
        "patients": record.pulls_used,
        "rounds": None if choice.roundless else record.round,
        "metrics": list(bandit.objective_names),
        "found": [bandit.arm_names[arm] for arm in answer],
        "truth": [bandit.arm_names[arm] for arm in np.flatnonzero(bandit.optimal)],
        "correct": not wrong,
        "arms": [
            {
                "arm": bandit.arm_names[arm],
                "patients": int(record.counts[arm]),
                **{name: float(mean) for name, mean in zip(bandit.objective_names, record.means[arm], strict=True)},
                "left_in_round": int(record.left_in[arm]) or None,
                "found": arm in answer,
                "optimal": bool(bandit.optimal[arm]),
            }
            for arm in range(bandit.n_arms)
        ],
    }


def _print(result: dict[str, Any], policy_name: str) -> None:
    patients, budget, name, rounds = (result[key] for key in ("patients", "budget", "policy", "rounds"))
    say(f"{result['source']}.")
    in_rounds = f" in {rounds} rounds" if rounds else ""
    print(f"{patients} of {budget} patients{in_rounds} with {name}, seed {result['seed']}.\n")
    last = (rounds or 0) + 1
    print_table(
        ["booster", "patients", *result["metrics"], *(["left in"] if rounds else []), "found", "truth"],
        (
            [
                row["arm"],
                row["patients"],
                *(f"{row[metric]:.2f}" for metric in result["metrics"]),
                *([row["left_in_round"] or "stayed"] if rounds else []),
                "yes" if row["found"] else "",
                "yes" if row["optimal"] else "",
            ]
            for row in sorted(result["arms"], key=lambda row: (-(row["left_in_round"] or last), -row["patients"]))
        ),
    )
    truth = ", ".join(result["truth"])
    comment = "which is right" if result["correct"] else "which is wrong"
    print()
    say(f"Found Pareto-optimal: {', '.join(result['found'])}, {comment}: the truth is {truth}.")
    print(
        f"How often is it right? paretopick simulate cov-boost --policy {shlex.quote(policy_name)} --budget {budget} --runs 10000"
    )
