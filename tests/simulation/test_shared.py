"""Noise that arms have in common at the same repeat: drawn as the model says, alike in both engines, and nothing else changes."""

import numpy as np
import pytest

import paretopick as pp
from paretopick.simulation import make_task
from paretopick.simulation.compiled import seed_key, why_no_kernel
from paretopick.simulation.known import check_known
from support.literal_words import literal_sum
from support.same_draws import Draws

ROOTS = np.random.default_rng(1).normal(size=(4, 3, 3))
COVS = ROOTS @ np.swapaxes(ROOTS, 1, 2)
MEANS = np.random.default_rng(2).normal(size=(4, 3))
NOISES = {
    "std": {"std": 0.7},
    "stds": {"std": [0.3, 2.0, 0.0]},
    "cov": {"cov": COVS[0]},
    "cov per arm": {"cov": COVS},
}
every_noise = pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)


def covariance(noise: dict, shared: float, means: np.ndarray = MEANS) -> np.ndarray:
    """Of one repeat of all arms, ``(n_arms * n_objectives, n_arms * n_objectives)``, as the docstring of Gaussian has it."""
    K, D = means.shape
    given = noise["cov"] if "cov" in noise else np.diag(np.broadcast_to(noise["std"], (D,)) ** 2)
    covs = np.broadcast_to(given, (K, D, D))
    whole = np.tile(shared * covs.mean(axis=0), (K, K))
    for arm in range(K):
        own = slice(arm * D, (arm + 1) * D)
        whole[own, own] += (1 - shared) * covs[arm]
    return whole


def assert_close(sample: np.ndarray, expected: np.ndarray, deviations: float = 5.0) -> None:
    """The covariance of rows; each entry within so many standard errors."""
    found, variances = np.cov(sample.T), np.diag(expected)
    error = np.sqrt((np.outer(variances, variances) + expected**2) / len(sample))
    assert (np.abs(found - expected) <= deviations * error + 1e-12).all()


def draws_of(bandit: pp.Bandit, policy: str, seed: int = 3, **options) -> Draws:
    budget = 200 * bandit.n_arms
    return Draws(make_task(bandit, policy, budgets=budget, **options), budget, seed)


@every_noise
def test_kernels_draw_what_the_literal_version_draws_pull_by_pull(noise):
    for D in (3, 2, 1):
        part = {name: np.asarray(value)[..., :D, :D] if name == "cov" else value for name, value in noise.items()}
        part = {name: value[:D] if isinstance(value, list) else value for name, value in part.items()}
        bandit = pp.Bandit(MEANS[:, :D], pp.Gaussian(**part, shared=0.6))
        singles, sums = draws_of(bandit, "doubt"), draws_of(bandit, "uniform")
        for run in (0, 5):
            for arm in range(4):
                for number in (0, 1, 7, 8, 30):
                    expected = literal_sum(bandit, seed_key((3,)), run, arm, number, 1)
                    assert singles.single(run, arm, number) == pytest.approx(expected, abs=1e-10)
            for before, pulls in ((0, 1), (3, 200), (203, 0)):
                expected = [literal_sum(bandit, seed_key((3,)), run, arm, before, pulls) for arm in range(4)]
                assert sums.sums(run, pulls, before) == pytest.approx(np.array(expected), abs=1e-9)


def test_values_are_divided_by_the_scale():
    bandit = pp.Bandit(MEANS, pp.Gaussian(cov=COVS, shared=0.6))
    scale = np.array([0.5, 2.0, 3.0])
    plain, scaled = draws_of(bandit, "doubt"), draws_of(bandit, "doubt", scale=scale)
    for arm in range(4):
        assert scaled.single(1, arm, 9) == pytest.approx(plain.single(1, arm, 9) / scale)


@every_noise
@pytest.mark.parametrize("shared", [0.3, 0.9])
def test_one_repeat_of_all_arms_has_the_covariance_of_the_model_in_kernels(noise, shared):
    bandit, n = pp.Bandit(MEANS, pp.Gaussian(**noise, shared=shared)), 4000
    singles, sums = draws_of(bandit, "doubt"), draws_of(bandit, "uniform")
    pulls = np.array([[singles.single(run, arm, number) for arm in range(4)] for run in range(n // 8) for number in range(8)])
    assert_close(pulls.reshape(n, -1), covariance(noise, shared))
    rounds = np.array([sums.sums(run, 200, 0) for run in range(n)])
    assert_close(rounds.reshape(n, -1), 200 * covariance(noise, shared))
    again = np.array([sums.sums(run, 200, 200) for run in range(n)]).reshape(n, -1)  # and with other effects the next time
    assert np.abs(np.corrcoef(rounds[:, 0, 0], again[:, 0])[0, 1]) < 5 / np.sqrt(n)


@every_noise
@pytest.mark.parametrize("shared", [0.3, 0.9])
def test_one_repeat_of_all_arms_has_the_covariance_of_the_model_in_the_reference_engine(noise, shared):
    """In whatever order and however many at a time the arms are pulled."""
    bandit, n = pp.Bandit(MEANS, pp.Gaussian(**noise, shared=shared)), 20_000
    run = bandit.run(0)
    first = run.pull(np.repeat([2, 0], n)).reshape(2, n, -1)
    mixed = run.pull(np.tile([3, 1], n)).reshape(n, 2, -1)
    pulls = np.concatenate([first[1], mixed[:, 1], first[0], mixed[:, 0]], axis=1)
    assert_close(pulls, covariance(noise, shared))
    at_once = bandit.sample(np.tile([0, 1, 2, 3], n), 1).reshape(n, -1)
    assert_close(at_once, covariance(noise, shared))
    assert np.abs(np.corrcoef(at_once[1:, 0], at_once[:-1, 0])[0, 1]) < 5 / np.sqrt(n)


@every_noise
def test_sums_share_the_repeats_that_they_have_in_common(noise):
    """Arm 0 its repeats 0 to 3, arm 1 those to 1, then arm 0 its repeats 4 to 6, and arm 2 those to 5."""
    bandit, n, shared = pp.Bandit(MEANS, pp.Gaussian(**noise, shared=0.6)), 6000, 0.6
    rng = np.random.default_rng(0)
    sums = np.array([bandit.sample_sums([0, 1, 0, 2], [4, 2, 3, 6], rng) for _ in range(n)])
    spans, arms = [range(4), range(2), range(4, 7), range(6)], [0, 1, 0, 2]
    one = covariance(noise, shared).reshape(4, 3, 4, 3)
    own = one - covariance(noise, shared)[:3, 3:6][None, :, None, :]
    expected = np.zeros((4, 3, 4, 3))
    for i, arm in enumerate(arms):
        for j, other in enumerate(arms):
            expected[i, :, j] = len(set(spans[i]) & set(spans[j])) * one[0, :, 1]
            if i == j:
                expected[i, :, j] += len(spans[i]) * own[arm, :, other]
    assert_close(sums.reshape(n, -1), expected.reshape(12, 12))
    assert sums.mean(axis=0) == pytest.approx(np.array([4, 2, 3, 6])[:, None] * MEANS[arms], abs=5 * np.sqrt(6 * 9 / n))


def test_pulls_before_a_run_count_as_repeats():
    bandit = pp.Bandit([[0.0], [0.0]], pp.Gaussian(std=1.0, shared=0.999999))
    run = bandit.run(0, counts=[3, 0])
    late, early = run.pull([0, 0]).ravel(), run.pull([1] * 5).ravel()
    assert early[3:] == pytest.approx(late, abs=0.02)
    assert np.abs(early[:3, None] - late).min() > 0.02


def test_pulls_that_are_known_count_as_repeats_in_the_reference_engine(monkeypatch):
    bandit = pp.Bandit([[0.0], [0.0]], pp.Gaussian(std=1.0, shared=0.999999))
    known = check_known((np.array([5, 2]), np.zeros((2, 1)), np.ones((2, 1))), bandit)
    player = make_task(bandit, "doubt", budgets=60, known=known).player(60)
    seen: dict[int, dict[int, float]] = {0: {}, 1: {}}
    tell = player.tell

    def listen(arms, values):
        for arm, value in zip(arms, values[:, 0], strict=True):
            seen[arm][player.counts[arm]] = value
        tell(arms, values)

    monkeypatch.setattr(player, "tell", listen)
    pp.play(bandit, player, 1)
    both = sorted(set(seen[0]) & set(seen[1]))
    assert min(seen[0]) == 5
    assert min(seen[1]) == 2
    assert len(both) > 5
    assert [seen[0][repeat] for repeat in both] == pytest.approx([seen[1][repeat] for repeat in both], abs=0.02)


def test_differences_between_arms_measured_equally_often_are_those_of_their_own_noise():
    """All that is shared cancels: run by run the answers are those of a bandit with noise sqrt(1 - shared)."""
    means = np.random.default_rng(5).normal(size=(15, 2))
    wide = pp.Bandit(means, pp.Gaussian(std=1.0))
    for shared in (0.5, 0.99):
        paired = pp.Bandit(means, pp.Gaussian(std=1.0, shared=shared))
        narrow = pp.Bandit(means, pp.Gaussian(std=np.sqrt(1 - shared)))
        for policy in ("uniform", "ege-sr", "ege-sh"):
            mine, theirs, worse = (
                pp.simulate(bandit, policy, budgets=300, runs=3000, rng=1, hypervolume=False) for bandit in (paired, narrow, wide)
            )
            assert mine.engine == "compiled"
            assert mine.errors.tolist() == theirs.errors.tolist()
            assert mine.errors[0] < 0.9 * worse.errors[0]
    mine, theirs = (pp.simulate(b, "uniform", budgets=300, runs=400, rng=1, engine="reference") for b in (paired, narrow))
    assert abs(int(mine.errors[0]) - int(theirs.errors[0])) < 5 * np.sqrt(2 * max(theirs.errors[0], 9))


@pytest.mark.slow
@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "policy, options",
    [
        ("uniform", {}),
        ("ege-sr", {}),
        ("doubt", {}),
        ("doubt", {"margins": 0.2, "limits": [None, -1.0]}),
        ("apt", {}),
        ("apt", {"margins": 0.2, "limits": [None, -1.0]}),
        ("apt", {"scale": [0.0, 1.0]}),
        ("ape-fb", {}),
        ("ape-fb-adapt", {}),
    ],
    ids=str,
)
@pytest.mark.parametrize("noise", ["std", "cov per arm"])
def test_both_engines_err_equally_often(policy, options, noise):
    means = np.random.default_rng(4).normal(size=(6, 2))
    covs = np.exp(np.random.default_rng(5).normal(size=6))[:, None, None] * np.array([[1.0, 0.4], [0.4, 1.0]])
    given = {"std": 0.8} if noise == "std" else {"cov": 0.5 * covs}
    bandit = pp.Bandit(means, pp.Gaussian(**given, shared=0.7))
    settings = {"budgets": 60, "hypervolume": False, **options}
    fast = pp.simulate(bandit, policy, runs=20_000, rng=1, engine="compiled", **settings)
    slow = pp.simulate(bandit, policy, runs=80, rng=1, engine="reference", **settings)
    for name in ("errors", "errors_within"):
        p = getattr(fast, name)[0] / fast.runs
        assert abs(getattr(slow, name)[0] / slow.runs - p) < 4.5 * np.sqrt((p * (1 - p) + 1e-3) / slow.runs), name


@pytest.mark.parametrize("policy", ["doubt", "apt", "ape-fb"])
def test_what_is_shared_matters_to_policies_that_measure_arms_unequally_often(policy):
    bandits = [pp.Bandit(MEANS, pp.Gaussian(std=1.0, shared=shared)) for shared in (0.0, 0.9)]
    apart, paired = (pp.simulate(b, policy, budgets=80, runs=2000, rng=1, engine="compiled") for b in bandits)
    assert paired.errors[0] < 0.8 * apart.errors[0]
    assert apart.digest != paired.digest


def test_every_kernel_knows_what_is_shared():
    bandit = pp.Bandit(MEANS, pp.Gaussian(std=1.0, shared=0.5))
    for policy in pp.POLICIES:
        spec = {"ege": ("ege", {"schedule": pp.Schedule((4, 0), (9,))}), "ege-sr-k": ("ege-sr-k", {"max_arms": 2})}.get(
            policy, policy
        )
        assert why_no_kernel(make_task(bandit, spec, budgets=200)) is None


def test_sums_that_may_come_near_the_largest_number_count_what_is_shared():
    noise = pp.Gaussian(std=1e298, shared=0.999)
    assert "largest number" in str(why_no_kernel(make_task(pp.Bandit(MEANS, noise), "uniform", budgets=40)))


# Where nothing is shared everything is as it was before there was anything to share: numbers that were recorded then.


BEFORE = pp.Bandit(np.random.default_rng(0).normal(size=(12, 3)), pp.Gaussian(std=0.7, shared=0))


def test_without_sharing_digests_and_draws_are_those_of_before():
    assert BEFORE.digest == "bb495759cc4ff502"
    assert pp.Bandit(BEFORE.means, pp.Gaussian(std=[0.3, 0.7, 1.0])).digest == "967b4027291a4cd0"
    rng = np.random.default_rng(3)
    expected = BEFORE.means[[0, 1, 0]] + 0.7 * rng.standard_normal((3, 3))
    more = BEFORE.means[[2]] + 0.7 * rng.standard_normal((1, 3))
    assert (BEFORE.sample([0, 1, 0], 3) == expected).all()
    run = BEFORE.run(3)
    assert (run.pull([0, 1, 0]) == expected).all()
    assert (run.pull([2]) == more).all()


@pytest.mark.parametrize(
    "policy, options, errors",
    [
        ("ege-sr", {}, [206, 146]),
        ("uniform", {}, [219, 168]),
        ("doubt", {}, [215, 171]),
        ("doubt", {"margins": 0.1, "limits": [None, -0.5, None]}, [192, 123]),
        ("apt", {}, [199, 173]),
        ("ape-fb", {}, [289, 291]),
        ("ape-fb-adapt", {}, [175, 140]),
    ],
)
def test_without_sharing_kernels_err_in_the_runs_of_before(policy, options, errors):
    assert pp.simulate(BEFORE, policy, budgets=[150, 400], runs=300, rng=1, **options).errors.tolist() == errors


def test_without_sharing_the_reference_engine_errs_in_the_runs_of_the_kernels():
    slow = pp.simulate(BEFORE, "apt", budgets=[150, 400], runs=30, rng=1, engine="reference")
    assert slow.errors.tolist() == pp.simulate(BEFORE, "apt", budgets=[150, 400], runs=30, rng=1).errors.tolist()
