"""``paretopick create``: a new study, to be measured by whoever asks."""

from __future__ import annotations

import shlex

from paretopick.cli.arguments import Json
from paretopick.cli.output import print_json
from paretopick.cli.studying import (
    BudgetChoice,
    ExactChoice,
    MetricsChoice,
    Name,
    OptionsChoice,
    Policy,
    ScaleChoice,
    Storage,
    study_from,
)
from paretopick.studies import Study

NAME = "create"
EXAMPLE = "paretopick create boosters --options a,b,c --metrics response:max,price:min --budget 60"


def command(
    name: Name,
    options: OptionsChoice = None,
    metrics: MetricsChoice = None,
    budget: BudgetChoice = None,
    policy: Policy = "ege-sr",
    exact: ExactChoice = "",
    scale: ScaleChoice = "noise",
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Create a study: a list of options, metrics with goals, and a budget of measurements.

    Then measure what "ask" or "sheet" hand out, and give it back with "tell" or "import".
    """
    study = Study.create(name, **study_from(options, metrics, budget, policy, exact, scale), storage=storage)
    state = study.status()
    if as_json:
        print_json(state)
        return
    print(f"Created {name!r} in {state['storage']}: {len(study.options)} options, {state['planned']} measurements planned.")
    print(f"What to measure: paretopick ask {shlex.quote(name)}, or a whole round: paretopick sheet {shlex.quote(name)}")
