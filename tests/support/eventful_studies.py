"""Studies in which everything happens that can happen."""

import numpy as np

from paretopick.studies.study import Study

K, D = 6, 3
POLICIES = [
    ("ege-sr", {}),
    ("ege-sh", {}),
    ("ege-gg", {"n_rounds": 2}),
    ("uniform", {}),
    ("ege-sr-k", {"max_arms": 2}),
    ("ege", {"schedule": {"active": [6, 3, 1], "pulls": [3, 8]}}),
    ("apt", {}),
    ("apt", {"batch": 5}),
    ("doubt", {"batch": 5}),
    ("ege-sr", {"spend": "printed"}),
]
IN_ROUNDS = [policy for policy in POLICIES if policy[0] not in ("apt", "doubt")]


def new_study(policy, seed, **options) -> Study:
    scale = ["noise", "raw", {"a": 2.0, "b": 0.5}][seed % 3]
    exact = ["c"] if seed % 3 == 2 or seed % 2 else []
    given = {"scale": scale, "exact": exact, **options}
    metrics = {"a": "max", "b": "min", "c": "max"}
    if seed % 4 == 3 and policy[0] in ("apt", "doubt"):
        metrics = {"a": "max~0.5", "b": "<=4", "c": "max>=1"}
    return Study.create(
        "s", options=[f"o{i}" for i in range(K)], metrics=metrics, budget=60, policy=policy, storage="sqlite://", **given
    )


def eventful(study: Study, seed: int, steps: int = 400) -> Study:
    """A study in which everything happens that can happen, in any order."""
    rng = np.random.default_rng(seed)
    means = rng.integers(0, 6, (K + 2, D)).astype(float)
    roundless = study.definition.choice.roundless

    def complete(option: str) -> list[float]:
        arm = int(option[1:])
        noise = rng.integers(-2, 3, D) * np.array([1, 1, 0])
        row = means[arm] + noise if seed % 4 else means[arm] + rng.normal(size=D) * [1, 1, 0]
        return row.tolist()

    def values(option: str) -> list[float | None]:
        return [None if roundless and i and rng.random() < 0.05 else value for i, value in enumerate(complete(option))]

    told, outliers = [], []
    for _ in range(steps):
        if study.done and rng.random() < 0.3:
            break
        action = rng.random()
        if action < 0.75:
            for todo in study.ask(int(rng.integers(1, 5)), worker=f"w{rng.integers(3)}"):
                if rng.random() < 0.8:
                    study.tell(todo.number, values(todo.option))
                    told.append(todo.number)
                elif rng.random() < 0.3:
                    study.fail(todo.number, "no")
        elif action < 0.85 and told:
            number = told.pop(int(rng.integers(len(told))))
            study.void(number, "wrong")
        elif action < 0.86:  # beyond all measure, and taken back after others were told
            for todo in study.ask(1):
                study.tell(todo.number, means[int(todo.option[1:])] + [10.0 ** rng.integers(0, 40), -1e25, 0])
                told.insert(0, todo.number)
                outliers.append(todo.number)
        elif action < 0.87 and outliers:
            number = outliers.pop(0)
            if number in told:
                told.remove(number)
                study.void(number, "beyond all measure")
        elif action < 0.88 and rng.random() < 0.3:
            gone = f"o{rng.integers(K)}"
            if gone not in study.status()["retired"]:
                study.retire(gone, "gone")
        elif action < 0.9:
            options = [f"o{arm}" for arm in rng.integers(0, K, 3)]
            told += study.add([(option, values(option)) for option in options])
        elif action < 0.93 and told:
            number = told[int(rng.integers(len(told)))]
            option = next(row["option"] for row in study.measurements() if row["number"] == number)
            if number not in outliers:
                study.correct(number, complete(option), "misread")
        elif roundless and rng.random() < 0.2:
            study.extend(budget=study.budget + 5)
        elif roundless and rng.random() < 0.1 and len(study.options) < K + 2:
            study.add_option(f"o{len(study.options)}")
        elif roundless and rng.random() < 0.3 and study.status()["retired"]:
            study.reinstate(next(iter(study.status()["retired"])), "found again")
        assert roundless or study.used <= study.budget
    return study
