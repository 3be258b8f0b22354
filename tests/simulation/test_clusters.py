"""Runs on clusters: a Dask scheduler and two workers, each a process of its own; and Ray, where it is installed."""

import importlib
import importlib.util
import os
import signal

import pytest

import paretopick as pp
from paretopick.paper import reproduce
from support.terminals import stdout_of

pytestmark = pytest.mark.slow

BANDIT = pp.Bandit([[0.9, 0.2], [0.3, 0.8], [0.4, 0.3], [0.1, 0.1]], pp.Gaussian(std=0.5), name="four", budget=40)
has_ray = importlib.util.find_spec("ray") is not None


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", scheduler_port=0
    ) as made:
        yield made


@pytest.fixture(scope="module")
def address(cluster):
    return cluster.scheduler_address.replace("tcp://", "dask://")


@pytest.fixture
def ray_address():
    if not has_ray:
        pytest.skip("ray is not installed")
    return "ray"


def same(a: pp.ErrorCurve, b: pp.ErrorCurve) -> bool:
    return (a.tallies == b.tallies).all() and a.spans == b.spans


def check_simulate(executor) -> None:
    """Compiled policies, and one of one's own that is defined where the workers cannot import it."""

    class Fewest(pp.Policy):
        def choose(self):
            return [self.counts.argmin()]

    for policy, runs in (("ege-sr", 5000), (Fewest, 40)):
        here = pp.simulate(BANDIT, policy, runs=runs, rng=3, workers=1)
        assert same(here, pp.simulate(BANDIT, policy, runs=runs, rng=3, executor=executor))

    class Wrong(pp.Policy):
        def choose(self):
            return [9]

    with pytest.raises(ValueError, match=r"what Wrong.choose\(\) returned has arm 9"):
        pp.simulate(BANDIT, Wrong, runs=5, rng=3, executor=executor)


def test_counts_on_a_dask_cluster_are_those_of_here(cluster, address):
    check_simulate(address)
    with cluster.get_client() as client:
        assert same(
            pp.simulate(BANDIT, "ege-sr", runs=500, rng=1),
            pp.simulate(BANDIT, "ege-sr", runs=500, rng=1, executor=client.get_executor()),
        )


def test_dask_is_sent_the_modules_of_a_policy_and_a_noise(address, tmp_path, monkeypatch):
    (tmp_path / "own_base.py").write_text("import paretopick as pp\n\nclass Base(pp.Policy):\n    pass\n")
    (tmp_path / "own_parts.py").write_text(
        "import paretopick as pp\n"
        "from own_base import Base\n\n"
        "class Fewest(Base):\n"
        "    def choose(self):\n"
        "        return [self.counts.argmin()]\n\n"
        "class Plain(pp.Noise):\n"
        "    def sample(self, means, arms, rng):\n"
        "        return rng.laplace(means[arms])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    parts = importlib.import_module("own_parts")
    bandit = pp.Bandit(BANDIT.means, parts.Plain(), budget=40)
    assert same(
        pp.simulate(bandit, parts.Fewest, runs=20, rng=3), pp.simulate(bandit, parts.Fewest, runs=20, rng=3, executor=address)
    )


def test_counts_on_ray_are_those_of_here(ray_address):
    check_simulate(ray_address)


def test_plans_and_the_paper_run_on_a_dask_cluster(address, tmp_path):
    asked = {"policies": ["ege-sr"], "budgets": [40, 80], "target": 0.3, "runs": 40}
    assert pp.plan(BANDIT, **asked, executor=address).to_dict() == pp.plan(BANDIT, **asked).to_dict()
    for name, executor in (("here", None), ("there", address)):
        reproduce(["best-arm"], out=tmp_path / name, runs=8, executor=executor)
    here, there = ((tmp_path / name / "figures" / "best-arm.csv").read_text() for name in ("here", "there"))
    assert here == there


def test_the_command_line_runs_on_a_dask_cluster(address):
    command = ["simulate", "cov-boost", "--policy", "ege-sr", "--budget", "200", "--runs", "300", "--json"]
    assert stdout_of(*command, "--executor", address) == stdout_of(*command)


def test_a_worker_that_is_killed_loses_no_run(cluster, address):
    with cluster.get_client() as client:
        workers = list(client.run(os.getpid).values())

    def kill_one(done: int, total: int) -> None:
        if workers:
            os.kill(workers.pop(), signal.SIGKILL)
            workers.clear()

    curve = pp.simulate(BANDIT, "apt", runs=20_000, rng=3, executor=address, progress=kill_one)
    assert workers == []
    assert same(curve, pp.simulate(BANDIT, "apt", runs=20_000, rng=3))


def test_a_scheduler_that_does_not_answer_is_an_error():
    pytest.importorskip("distributed")
    message = "no Dask scheduler answers at dask://127.0.0.1:9 .*; start one there with 'dask scheduler'"
    with pytest.raises(pp.ExecutorFailed, match=message):
        pp.simulate(BANDIT, "ege-sr", runs=5, rng=0, executor="dask://127.0.0.1:9")


@pytest.mark.skipif(has_ray, reason="ray is installed")
def test_a_library_that_is_missing_is_named_with_what_to_type():
    with pytest.raises(
        pp.ExecutorFailed, match=r"executor ray needs ray, which is not installed: pip install 'paretopick\[ray\]'"
    ):
        pp.simulate(BANDIT, "ege-sr", runs=5, rng=0, executor="ray")
