"""One way to make every policy, for the tests that all of them must pass."""

import paretopick as pp

CASES: dict[str, tuple[str, dict]] = {
    "ege-sr": ("ege-sr", {}),
    "ege-sr spend=all": ("ege-sr", {"spend": "all"}),
    "ege-sh": ("ege-sh", {}),
    "ege-gg": ("ege-gg", {}),
    "ege-gg n_rounds=2": ("ege-gg", {"n_rounds": 2, "spend": "all"}),
    "uniform": ("uniform", {}),
    "ege-sr-k": ("ege-sr-k", {"max_arms": 1}),
    "ege": ("ege", {}),
    "ape-fb": ("ape-fb", {"exploration": 2.0}),
    "ape-fb oracle": ("ape-fb", {"complexity": 30.0, "c": 10.0}),
    "ape-fb-adapt": ("ape-fb-adapt", {}),
    "ape-fb-adapt as published": ("ape-fb-adapt", {"as_published": True}),
    "apt": ("apt", {}),
    "apt batch": ("apt", {"batch": 7, "gamma": 0.5, "initial": 2}),
    "doubt": ("doubt", {}),
    "doubt batch": ("doubt", {"batch": 7, "initial": 3}),
    "apt within": ("apt", {"margins": 0.2}),
    "doubt within": ("doubt", {"margins": 0.2}),
    "doubt paired": ("doubt", {"paired": True}),
}

assert {name for name, _ in CASES.values()} == set(pp.POLICIES), "a new policy needs a case here"


def make(case: str, n_arms: int, n_objectives: int, budget: int) -> pp.Policy:
    """The policy of a case; ``ege`` gets a schedule with an empty round where there is room for one."""
    name, options = CASES[case]
    if name == "ege":
        active = {1: (1, 0), 2: (2, 1)}.get(n_arms, (n_arms, n_arms - 1, n_arms - 2, 0))
        pulls = (budget // (2 * n_arms), 0, budget // (2 * n_arms))[: len(active) - 1]
        options = {"schedule": pp.Schedule(active, pulls)}
    if name == "ege-sr-k":
        options = {"max_arms": min(2, n_arms)}
    return pp.policy(name, n_arms=n_arms, n_objectives=n_objectives, budget=budget, **options)
