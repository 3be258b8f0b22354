"""What people write who have a type checker: it takes this, but refuses what is marked so. Nobody runs it."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

import paretopick as pp
from paretopick.typing import MetricsGiven, PolicyGiven, PolicyName, PolicyOptions


def measure(option: str) -> dict[str, float]:
    return {"a": float(len(option)), "b": 1.0}


class Mine(pp.Policy):
    def __init__(self, *, n_arms: int, n_objectives: int, budget: int, width: float = 1.0) -> None:
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget)


OPTIONS = ["x", "y"]
METRICS: MetricsGiven = {"a": "min", "b": {"goal": "max", "margin": 0.1}}
POLICY: PolicyGiven = ("apt", {"batch": 4})
bandit = pp.instance("cov-boost")

# Metrics.
pp.identify(measure, OPTIONS, {"a": "min", "b": "maximise"}, 20)
pp.identify(measure, OPTIONS, METRICS, 20)
pp.identify(measure, OPTIONS, {"a": "min", "b": {"at_most": 50}}, 20)
pp.identify(measure, OPTIONS, {"a": pp.Metric("a", "min", margin="2%"), "b": "max"}, 20)
pp.identify(measure, OPTIONS, [pp.Metric("a", "min"), pp.Metric("b", "max", at_least=3)], 20)
pp.identify(measure, OPTIONS, "a:min~2%,b<=50", 20)
pp.identify(measure, OPTIONS, cast(MetricsGiven, {"a": "min~2%", "b": "<=50"}), 20)
pp.identify(measure, OPTIONS, {"a": "min", "b": "mn"}, 20)  # refused
pp.identify(measure, OPTIONS, {"b": "mn"}, 20)  # refused
pp.identify(measure, OPTIONS, {"a": {"goal": "mn"}}, 20)  # refused
pp.identify(measure, OPTIONS, {"a": {"goal": "min", "at_mots": 50}}, 20)  # refused
pp.identify(measure, OPTIONS, {"a": 3}, 20)  # refused
pp.Metric("a", "mn")  # refused
pp.Study.create("s", options=OPTIONS, metrics={"b": "mn"}, budget=20)  # refused


class Own(pp.Policy):
    def choose(self) -> list[int]:
        return [int(self.counts.argmin())]


class Steady(pp.Noise):
    def sample(self, means: NDArray[np.float64], arms: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        return means[arms]


# Bandits.
pp.Bandit([[0.0, 1.0], [1.0, 0.0]], Steady(), name="two", arm_names=["x", "y"])
pp.Bandit(((0, 1), (1, 0)), pp.Gaussian(std=[0.5, 2.0])).means.max()
pp.Bandit("two", Steady(), nmae="two")  # refused

# Policies.
pp.identify(measure, OPTIONS, METRICS, 20, policy="ege-sr")
pp.identify(measure, OPTIONS, METRICS, 20, policy=("ege-gg", {"n_rounds": 3}))
pp.identify(measure, OPTIONS, METRICS, 20, policy={"name": "apt", "batch": 8})
pp.identify(measure, OPTIONS, METRICS, 20, policy=POLICY)
pp.simulate(bandit, "ege-sr", runs=10)
pp.simulate(bandit, ["ege-sr", ("apt", {"batch": 8})], runs=10)[0].rate.max()
pp.simulate(bandit, ("apt", {"batch": 8}), runs=10, progress=lambda done, total: print(done, total)).rate.max()
pp.simulate(bandit, Mine, runs=10, progress=False).rate.max()
pp.simulate(bandit, (Mine, {"width": 2.0}), runs=10).rate.max()
pp.simulate(bandit, [Mine, "ege-sr", (Mine, {"width": 2.0})], runs=10)[0].rate.max()
pp.plan(bandit, policies=["ege-sr", POLICY])
pp.policy("ege-sr-k", n_arms=3, n_objectives=2, budget=30, max_arms=2)
for name in pp.POLICIES:
    pp.simulate(bandit, name)
some: list[PolicyName] = ["apt", "doubt"]
options: PolicyOptions = {"spend": "all"}
pp.simulate(bandit, ("uniform", options))
pp.simulate(bandit, Own).draws.upper()
pp.simulate(bandit, (Own, {"width": 1}))
pp.simulate(bandit, [Own, "ege-sr", (Own, {"width": 1})])[0].rate.max()
pp.simulate(bandit, dict)  # refused
pp.simulate(bandit, [Own, "ege-srr"])  # refused
pp.plan(bandit, policies=[Own])  # refused
pp.identify(measure, OPTIONS, METRICS, 20, policy="ege-srr")  # refused
pp.identify(measure, OPTIONS, METRICS, 20, policy=("ege-gg", {"n_round": 3}))  # refused
pp.identify(measure, OPTIONS, METRICS, 20, policy=("ege-gg", {"n_rounds": "3"}))  # refused
pp.identify(measure, OPTIONS, METRICS, 20, policy={"batch": 8})  # refused
pp.Study.create("s", options=OPTIONS, metrics=METRICS, budget=20, policy="ege-srr")  # refused
pp.simulate(bandit, "ege-srr")  # refused
pp.simulate(bandit, ["ege-sr", "ege-srr"])  # refused
pp.plan(bandit, policies=["ege-srr"])  # refused
pp.policy("ege-srr", n_arms=3, n_objectives=2, budget=30)  # refused
pp.policy("ege-sr-k", n_arms=3, n_objectives=2, budget=30, max_arm=2)  # refused

# What else has few values.
pp.schedule("sh", 20, 1000, spend="all")
pp.identify(measure, OPTIONS, METRICS, ("seconds", 20), scale={"a": 0.1, "b": 2}, resolution={"a": "5%"}, storage="sqlite://")
pp.simulate(bandit, "apt", engine="reference")
pp.identify(measure, OPTIONS, METRICS, 20, watch=lambda study, said: print(study.used, said), if_exists="replace")
pp.schedule("hs", 20, 1000)  # refused
pp.schedule("sh", 20, 1000, spend="al")  # refused
pp.instance("covboost")  # refused
pp.identify(measure, OPTIONS, METRICS, 20, scale="nois")  # refused
pp.identify(measure, OPTIONS, METRICS, 20, if_exists="replaced")  # refused
pp.simulate(bandit, "apt", engine="referenz")  # refused

# What comes out.
result = pp.identify(measure, OPTIONS, METRICS, 20)
first: str = result.pareto[0]
surely_in = [row.option for row in result.options if row.status == "pareto"]
surely_out = [row.option for row in result.options if row.status == "beaten"]  # refused
