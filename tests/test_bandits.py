import numpy as np
import pytest
from scipy import stats

import paretopick as pp

COV = np.array([[1.0, 0.6], [0.6, 2.0]])
COVS = np.array([COV, [[0.5, 0.0], [0.0, 0.0]], [[1.0, -1.0], [-1.0, 1.0]]])
MEANS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
TABLES = [np.array([[0.0, 1.0], [2.0, 3.0], [2.0, 3.0], [7.0, 0.0]]), np.array([[5.0, 5.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])]

NOISES = {
    "std": (pp.Gaussian(std=0.5), MEANS, np.broadcast_to(0.25 * np.eye(2), (3, 2, 2))),
    "std per objective": (pp.Gaussian(std=[0.5, 2.0]), MEANS, np.broadcast_to(np.diag([0.25, 4.0]), (3, 2, 2))),
    "cov": (pp.Gaussian(cov=COV), MEANS, np.broadcast_to(COV, (3, 2, 2))),
    "cov per arm": (pp.Gaussian(cov=COVS), MEANS, COVS),
    "shared": (pp.Gaussian(std=[0.5, 2.0], shared=0.8), MEANS, np.broadcast_to(np.diag([0.25, 4.0]), (3, 2, 2))),
    "shared cov per arm": (pp.Gaussian(cov=COVS, shared=0.8), MEANS, 0.2 * COVS + 0.8 * COVS.mean(axis=0)),
    "bernoulli": (
        pp.Bernoulli(),
        np.array([[0.2, 0.9], [0.5, 0.5], [0.0, 1.0]]),
        np.array([np.diag([0.16, 0.09]), np.diag([0.25, 0.25]), np.zeros((2, 2))]),
    ),
    "resampled": (
        pp.Resampled(TABLES),
        np.array([table.mean(axis=0) for table in TABLES]),
        np.array([np.cov(table.T, bias=True) if len(table) > 1 else np.zeros((2, 2)) for table in TABLES]),
    ),
}

every_noise = pytest.mark.parametrize("noise, means, cov", NOISES.values(), ids=NOISES)


@every_noise
def test_pulls_have_the_means_and_the_covariance_of_the_model(noise, means, cov):
    n = 40_000
    bandit = pp.Bandit(means, noise)
    for arm in range(3):
        pulls = bandit.sample(np.full(n, arm), np.random.default_rng(arm))
        assert pulls.shape == (n, 2)
        assert np.abs(pulls.mean(axis=0) - means[arm]).max() < 5 * np.sqrt(np.diag(cov[arm]).max() / n) + 1e-12
        assert np.cov(pulls.T) == pytest.approx(cov[arm], abs=0.06)


@every_noise
@pytest.mark.parametrize("n_pulls", [0, 1, 7])
def test_sums_of_pulls_have_the_distribution_of_added_pulls(noise, means, cov, n_pulls):
    bandit, runs = pp.Bandit(means, noise), 4000
    rng = np.random.default_rng(n_pulls)
    for arm in range(3):
        at_once = bandit.sample_sums(np.full(runs, arm), n_pulls, rng)
        added = bandit.sample(np.full(runs * n_pulls, arm), rng).reshape(runs, n_pulls, 2).sum(axis=1)
        assert at_once.shape == (runs, 2)
        if n_pulls == 0:
            assert (at_once == 0).all()
            continue
        assert at_once.mean(axis=0) == pytest.approx(n_pulls * means[arm], abs=5 * np.sqrt(n_pulls * 4 / runs))
        assert np.cov(at_once.T) == pytest.approx(n_pulls * cov[arm], abs=0.12 * n_pulls * 4)
        for objective in range(2):
            if cov[arm][objective, objective] > 0:
                assert stats.ks_2samp(at_once[:, objective], added[:, objective], method="asymp").pvalue > 1e-4


def test_sums_of_many_bernoulli_pulls_are_binomial():
    bandit = pp.Bandit([[0.3]], pp.Bernoulli())
    sums = bandit.sample_sums(np.zeros(20_000, dtype=int), 12, np.random.default_rng(0))[:, 0].astype(int)
    seen = np.bincount(sums, minlength=13)
    expected = 20_000 * stats.binom.pmf(np.arange(13), 12, 0.3)
    rare = expected < 5
    seen, expected = np.append(seen[~rare], seen[rare].sum()), np.append(expected[~rare], expected[rare].sum())
    assert stats.chisquare(seen, expected).pvalue > 1e-3


def test_different_numbers_of_pulls_for_different_arms():
    bandit = pp.Bandit(MEANS, pp.Gaussian(std=0.0))
    assert bandit.sample_sums([0, 2, 2], [3, 0, 5], np.random.default_rng(0)).tolist() == [[3, 0], [0, 0], [-5, -5]]


def test_resampled_pulls_are_rows_of_the_table():
    bandit = pp.Bandit.resampled({"a": TABLES[0], "b": TABLES[1], "c": TABLES[2]})
    assert bandit.arm_names == ("a", "b", "c")
    pulls = bandit.sample(np.repeat([0, 1, 2], 200), np.random.default_rng(0))
    for arm in range(3):
        rows = {tuple(row) for row in pulls[200 * arm : 200 * (arm + 1)]}
        assert rows == {tuple(row) for row in TABLES[arm]}


@pytest.mark.parametrize(
    "noise, sigma",
    [
        (pp.Gaussian(std=0.5), 0.5),
        (pp.Gaussian(std=[0.5, 2.0]), 2.0),
        (pp.Gaussian(cov=COV), np.sqrt(2.0)),
        (pp.Gaussian(cov=COVS), np.sqrt(2.0)),
        (pp.Gaussian(std=[0.5, 2.0], shared=0.5), 2.0),
        (pp.Gaussian(cov=COV, shared=0.5), np.sqrt(2.0)),
        (pp.Gaussian(cov=COVS, shared=0.5), np.sqrt(1.5)),  # half of 2, and half of the mean of 2, 0 and 1
        (pp.Bernoulli(), 0.5),
        (pp.Resampled(TABLES), 3.5),
    ],
)
def test_sigma_is_the_subgaussian_parameter(noise, sigma):
    assert noise.sigma == pytest.approx(sigma)


def test_the_same_generator_gives_the_same_pulls():
    for noise, means, _ in NOISES.values():
        bandit = pp.Bandit(means, noise)
        a, b = (bandit.sample([0, 1, 2, 0], np.random.default_rng(5)) for _ in range(2))
        assert (a == b).all()


def test_a_noise_of_your_own_needs_every_member_of_the_protocol():
    class Half:
        sigma = 1.0

        def check(self, means):
            pass

        def sample(self, means, arms, rng):
            return means[arms]

        def sample_sums(self, means, arms, pulls, rng):
            return pulls[:, None] * means[arms]

    with pytest.raises(ValueError, match="is no noise"):
        pp.Bandit(MEANS, Half())
    whole = Half()
    whole.parameters = ()
    assert pp.simulate(pp.Bandit(MEANS, whole), "uniform", budgets=6, runs=2, rng=1).errors.tolist() == [0]
    assert (pp.Bandit(MEANS, whole).run(0).pull([2, 0]) == MEANS[[2, 0]]).all()


def test_a_noise_of_your_own_may_remember_what_was_pulled_in_a_run():
    class Tired(pp.Gaussian):
        """Every pull of an arm gives one less than the one before."""

        def begin_run(self, means, counts, rng):
            left = -counts.astype(float)

            def pull(arms):
                values = np.empty((len(arms), means.shape[1]))
                for row, arm in enumerate(arms):
                    values[row] = means[arm] + left[arm]
                    left[arm] -= 1
                return values

            return pull

    run = pp.Bandit(MEANS, Tired(std=1.0)).run(0, counts=[5, 0, 0])
    assert run.pull([0, 1, 1]).tolist() == [[-4, -5], [0, 1], [-1, 0]]
    assert run.pull([1]).tolist() == [[-2, -1]]


def test_a_seed_is_as_good_as_a_generator():
    bandit = pp.Bandit(MEANS, pp.Gaussian(std=1.0))
    assert (bandit.sample([0, 1], 5) == bandit.sample([0, 1], np.random.default_rng(5))).all()
    assert (bandit.sample_sums([0], np.uint64(3), 5) == bandit.sample_sums([0], 3, np.random.default_rng(5))).all()


def test_digests_are_equal_for_equal_bandits_alone():
    one = pp.Bandit(MEANS, pp.Gaussian(std=1.0)).digest
    assert one == pp.Bandit(MEANS, pp.Gaussian(std=1.0), name="other", arm_names=["a", "b", "c"]).digest
    assert pp.Bandit([[0.0]], pp.Bernoulli()).digest == pp.Bandit([[-0.0]], pp.Bernoulli()).digest
    others = [pp.Bandit(means, noise).digest for noise, means, _ in NOISES.values()]
    others += [pp.Bandit(MEANS, pp.Gaussian(std=2.0)).digest, pp.Bandit(-MEANS, pp.Gaussian(std=1.0)).digest]
    others += [pp.Bandit(MEANS, pp.Gaussian(std=1.0, shared=shared)).digest for shared in (0.5, 0.6)]
    assert len({one, *others}) == 1 + len(others)
    assert one == pp.Bandit(MEANS, pp.Gaussian(std=1.0, shared=0.0)).digest


def test_what_a_bandit_knows():
    bandit = pp.Bandit([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], pp.Gaussian(std=1.0), name="three", budget=60)
    assert (bandit.n_arms, bandit.n_objectives, bandit.budget, bandit.name) == (3, 2, 60, "three")
    assert bandit.optimal.tolist() == [True, True, False]
    assert bandit.gaps.tolist() == [1.0, 1.0, 1.0]
    assert bandit.complexity == 3.0
    assert bandit.arm_names == ("0", "1", "2")
    assert bandit.objective_names == ("objective_1", "objective_2")


def test_the_truth_cannot_be_changed():
    means = np.eye(2)
    bandit = pp.Bandit(means, pp.Gaussian(std=1.0))
    means[0, 0] = 9
    assert bandit.means[0, 0] == 1
    for array in (bandit.means, bandit.optimal, bandit.gaps):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: pp.Gaussian(), "std=None and cov=None; give one of the two"),
        (lambda: pp.Gaussian(std=1.0, cov=COV), "give one of the two"),
        (lambda: pp.Gaussian(std=[]), r"std=\[\] is not one standard deviation"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0)).sample_sums([0], 2**63, 0), "must be one whole number"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0)).sample([0], -1), "rng=-1 is not a seed"),
        (lambda: pp.Gaussian(std=-0.5), "std=-0.5 is not one standard deviation"),
        (lambda: pp.Gaussian(std=[1.0, -2.0]), "none negative"),
        (lambda: pp.Gaussian(std=np.nan), "std has nan"),
        (lambda: pp.Gaussian(std="wide"), "std='wide' cannot be read as numbers"),
        (lambda: pp.Gaussian(std=np.ones((2, 2))), "is not one standard deviation"),
        (lambda: pp.Gaussian(cov=[[1.0, 2.0], [2.0, 1.0]]), "cov is not positive semi-definite: its smallest eigenvalue is -1"),
        (lambda: pp.Gaussian(cov=[COV, [[1.0, 2.0], [2.0, 1.0]]]), "cov of arm 1 is not positive semi-definite"),
        (lambda: pp.Gaussian(cov=[[1.0, 0.5], [0.0, 1.0]]), "cov is not symmetric: entries differ by 0.5"),
        (lambda: pp.Gaussian(std=1.0, shared=1.0), "shared=1.0 is not a number from 0 to less than 1: the share of the noise"),
        (lambda: pp.Gaussian(std=1.0, shared=-0.1), "shared=-0.1 is not a number from 0 to less than 1"),
        (lambda: pp.Gaussian(cov=COV, shared=np.nan), "shared=nan is not a number from 0"),
        (lambda: pp.Gaussian(cov=COV, shared=[0.5, 0.5]), r"shared=\[0.5, 0.5\] is not a number from 0"),
        (lambda: pp.Gaussian(cov=COV, shared=None), "shared=None is not a number from 0"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0)).run(0, counts=[1, 2]), r"counts=\[1, 2\] must be 3 whole numbers"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0)).run(0, counts=[1, 2, -1]), "one for each arm, none negative"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0)).run(-1), "rng=-1 is not a seed"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0)).run(0).pull([3]), "arms has arm 3"),
        (lambda: pp.Gaussian(cov=[1.0, 1.0]), r"cov has shape \(2,\); expected a square matrix"),
        (lambda: pp.Gaussian(cov=np.ones((2, 3))), r"cov has shape \(2, 3\)"),
        (lambda: pp.Gaussian(cov=[[np.inf]]), "cov has inf"),
        (
            lambda: pp.Bandit(MEANS, pp.Gaussian(std=[1.0, 1.0, 1.0])),
            r"std has shape \(3,\); 3 arms with 2 objectives take \(\) or \(2,\)",
        ),
        (
            lambda: pp.Bandit(MEANS, pp.Gaussian(cov=np.eye(3))),
            r"cov has shape \(3, 3\); 3 arms with 2 objectives take \(2, 2\) or \(3, 2, 2\)",
        ),
        (
            lambda: pp.Bandit([[0.5, 1.2]], pp.Bernoulli()),
            "means has 1.2 for arm 0, objective 1; Bernoulli means are probabilities",
        ),
        (lambda: pp.Bandit([[-0.1]], pp.Bernoulli()), "means has -0.1 for arm 0"),
        (lambda: pp.Bandit([[np.nan]], pp.Bernoulli()), "means has nan"),
        (lambda: pp.Bandit([0.5], pp.Bernoulli()), "expected two dimensions"),
        (lambda: pp.Bandit(MEANS, "gaussian"), r"noise='gaussian' is no noise; write pp.Gaussian\(std=...\)"),
        (lambda: pp.Bandit(MEANS, pp.Bernoulli), r"is no noise; write Bernoulli\(...\)"),
        (lambda: pp.Gaussian(cov=np.empty((0, 0))), r"cov has shape \(0, 0\)"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0), arm_names="abc"), "arm_names='abc' is not a list of names"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0), arm_names=5), "arm_names=5 is not a list of names"),
        (lambda: pp.Resampled(5), "tables=5 is not a list"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0)).sample_sums([0], [[1], [2, 3]], 0), "must be one whole number"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0), arm_names=["a"]), "arm_names has 1 entries; expected 3"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0), arm_names=["a", "b", "a"]), "arm_names has 'a' twice"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0), objective_names=["a"]), "objective_names has 1 entries"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0), budget=1.5), "budget=1.5 is not an int"),
        (lambda: pp.Resampled([]), "tables is empty"),
        (lambda: pp.Resampled([np.empty((0, 2))]), "table of arm 0 has shape"),
        (lambda: pp.Resampled([np.ones((2, 2)), np.ones((2, 3))]), "the table of arm 1 has 3 objectives and that of arm 0 has 2"),
        (lambda: pp.Resampled([[[np.nan, 1.0]]]), "table of arm 0 has nan"),
        (lambda: pp.Bandit(MEANS, pp.Resampled(TABLES)), "the means of resampled data are those of its tables"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0)).sample([3], np.random.default_rng()), "arms has arm 3"),
        (lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0)).sample_sums([0], [-1], np.random.default_rng()), "none negative"),
        (
            lambda: pp.Bandit(MEANS, pp.Gaussian(std=1.0)).sample_sums([0, 1], [1, 2, 3], np.random.default_rng()),
            "one for each of 2 arms",
        ),
    ],
)
def test_bad_input_is_shown(call, message):
    with pytest.raises(ValueError, match=message):
        call()
