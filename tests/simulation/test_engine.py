import itertools
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import paretopick as pp
from paretopick.simulation import make_task
from paretopick.simulation.compiled import seed_key
from support import oracle
from support.inputs import heed_interrupts
from support.literal_words import literal_word
from support.policy_cases import CASES
from support.same_draws import Draws, follow

EASY = pp.Bandit([[0.9, 0.1], [0.1, 0.9], [0.2, 0.2], [0.05, 0.1]], pp.Bernoulli(), name="easy", budget=40)


TABLES = pp.Bandit.resampled([[[0.9, 0.1], [0.7, 0.3]], [[0.1, 0.9]], [[0.2, 0.2]]], budget=40)

ENGINES = pytest.mark.parametrize("engine", ["compiled", "reference"])


def same(a: pp.ErrorCurve, b: pp.ErrorCurve) -> bool:
    return (a.tallies == b.tallies).all() and a.spans == b.spans


@pytest.mark.sample(3)
@pytest.mark.slow
@ENGINES
@pytest.mark.parametrize("policy", ["ege-sr", "ape-fb", "apt"])
def test_the_first_runs_of_many_are_those_of_few(engine, policy):
    few = pp.simulate(EASY, policy, budgets=[20, 40], runs=30, rng=5, engine=engine)
    rest = pp.simulate(EASY, policy, budgets=[20, 40], runs=70, rng=5, start=30, engine=engine)
    assert same(few + rest, pp.simulate(EASY, policy, budgets=[20, 40], runs=100, rng=5, engine=engine))


@pytest.mark.slow
@ENGINES
@pytest.mark.parametrize("policy", ["ege-sr", "ape-fb", "apt"])
def test_workers_do_not_change_the_result(engine, policy):
    alone = pp.simulate(EASY, policy, runs=93, rng=5, workers=1, engine=engine)
    for workers in (2, 5):
        assert same(alone, pp.simulate(EASY, policy, runs=93, rng=5, workers=workers, engine=engine))


@pytest.mark.sample(2)
@pytest.mark.slow
@ENGINES
def test_an_executor_does_not_change_the_result(engine):
    """Threads, and processes that start afresh, as those of a cluster do."""
    alone = pp.simulate(EASY, ["ege-sr", "apt"], runs=93, rng=5, workers=1, engine=engine)
    with ThreadPoolExecutor(3) as threads:
        by_threads = pp.simulate(EASY, ["ege-sr", "apt"], runs=93, rng=5, executor=threads, engine=engine)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        by_processes = pp.simulate(EASY, ["ege-sr", "apt"], runs=93, rng=5, executor=processes, workers=3, engine=engine)
    for mine, theirs, others in zip(alone, by_threads, by_processes, strict=True):
        assert same(mine, theirs)
        assert same(mine, others)


def test_several_policies_at_once_are_each_of_them():
    specs = ["ege-sr", ("ege-sr-k", {"max_arms": 1}), "apt", "ape-fb"]
    together = pp.simulate(EASY, specs, budgets=[20, 40], runs=50, rng=5)
    assert [curve.policy for curve in together] == ["ege-sr", "ege-sr-k", "apt", "ape-fb"]
    for spec, curve in zip(specs, together, strict=True):
        assert same(curve, pp.simulate(EASY, spec, budgets=[20, 40], runs=50, rng=5))
    assert len(pp.simulate(EASY, ["apt"], runs=5, rng=5)) == 1


@pytest.mark.parametrize("options", [{}, {"batch": 7}, {"batch": 10**30, "gamma": 1.0, "initial": 1}])
def test_an_anytime_policy_is_read_off_at_every_budget(options):
    """One set of runs, read at budgets in any order, is what separate runs up to each budget say."""
    budgets = [40, 13, 61, 12, 29]
    together = pp.simulate(EASY, ("apt", options), budgets=budgets, runs=64, rng=5)
    for i, budget in enumerate(budgets):
        alone = pp.simulate(EASY, ("apt", options), budgets=budget, runs=64, rng=5)
        assert (alone.tallies[0] == together.tallies[i]).all()


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.003, 60.0])
def test_the_size_of_the_pieces_does_not_change_the_result(monkeypatch, seconds):
    for engine in ("compiled", "reference"):
        monkeypatch.undo()
        expected = pp.simulate(EASY, "ege-sh", runs=77, rng=5, engine=engine)
        monkeypatch.setattr("paretopick.simulation.engine.PIECE_SECONDS", seconds)
        assert same(expected, pp.simulate(EASY, "ege-sh", runs=77, rng=5, engine=engine, workers=1))
        assert same(expected, pp.simulate(EASY, "ege-sh", runs=77, rng=5, engine=engine, workers=2))


@ENGINES
def test_one_budget_is_the_same_alone_and_among_others(engine):
    alone = pp.simulate(EASY, "ege-sr", budgets=30, runs=40, rng=5, engine=engine)
    among = pp.simulate(EASY, "ege-sr", budgets=[20, 30], runs=40, rng=5, engine=engine)
    assert (alone.tallies[0] == among.tallies[1]).all()


def test_budgets_of_any_kind():
    for budgets in ([20, 30], (20, 30), np.array([20, 30]), range(20, 31, 10), iter([20, 30])):
        assert pp.simulate(EASY, "uniform", budgets=budgets, runs=1, rng=1).budgets == (20, 30)
    assert pp.simulate(EASY, "uniform", budgets=np.array(20), runs=1, rng=1).budgets == (20,)
    assert pp.simulate(EASY, "uniform", runs=1, rng=1).budgets == (40,)


def test_a_run_of_the_reference_engine_is_ask_and_tell_on_the_pulls_of_its_number():
    curve = pp.simulate(EASY, "uniform", budgets=12, runs=25, rng=7, engine="reference")
    errors, seed = 0, seed_key((7,))
    for run in range(25):
        sums = np.zeros((4, 2))
        for number, arm, d in itertools.product(range(3), range(4), range(2)):
            chance = (literal_word(seed, run, (number * 4 + arm) * 2 + d) >> 12) / 2**52
            sums[arm, d] += chance < EASY.means[arm, d]
        errors += oracle.pareto_set(sums.tolist()) != EASY.optimal.tolist()
    assert curve.errors.tolist() == [errors]
    assert 0 < errors < 25


def test_every_tally_is_what_it_says():
    """One run at a time, each judged here by hand; of the compiled engine, through the policy fed with its draws."""
    specs = (("ege-sr", {}), ("ege-sr-k", {"max_arms": 1}), ("ege-sr-k", {"max_arms": 2}))
    for engine, (policy, options) in itertools.product(("compiled", "reference"), specs):
        task = make_task(EASY, (policy, options), budgets=9)
        draws = Draws(task, 9, seed=3)
        for run in range(12):
            curve = pp.simulate(EASY, (policy, options), budgets=9, runs=1, rng=3, start=run, engine=engine)
            if engine == "compiled":
                player = follow(task, 9, draws, run)
            else:
                player = pp.policy(policy, n_arms=4, n_objectives=2, budget=9, **options)
                pp.play(EASY, player, 3, run=run)
            answer, truth = set(player.recommend().tolist()), set(np.flatnonzero(EASY.optimal).tolist())
            k = options.get("max_arms")
            assert curve.errors[0] == (answer != truth)
            assert curve.relaxed_losses[0] == (not (answer <= truth if len(answer) == k else answer == truth))
            assert curve.wrongly_accepted[0] == len(answer - truth)
            assert curve.wrongly_rejected[0] == len(truth - answer)
            assert curve.pulls[0] == player.counts.sum()
            assert curve.rounds[0] == max(player.snapshot().left_in)  # an arm leaves in every round of ege-sr
            assert curve.hypervolume[0] == pytest.approx(pp.hypervolume_fraction(sorted(answer), EASY.means), abs=1e-9)
            assert curve.tallies[0, -1] / 1e9 == pytest.approx(curve.hypervolume[0] ** 2, abs=1e-9)


def test_seeds_as_numpy_takes_them():
    number = pp.simulate(EASY, "uniform", runs=20, rng=11)
    assert same(number, pp.simulate(EASY, "uniform", runs=20, rng=np.random.SeedSequence(11)))
    child = np.random.SeedSequence(11).spawn(2)[1]
    assert pp.simulate(EASY, "uniform", runs=20, rng=child).spans[0].seed == (11, 1)
    a, b = (pp.simulate(EASY, "uniform", runs=20, rng=np.random.default_rng(4)) for _ in range(2))
    assert same(a, b)
    assert pp.simulate(EASY, "uniform", runs=5, rng=[1, 2]).runs == 5
    assert same(number, pp.simulate(EASY, "uniform", runs=20, rng=np.int64(11)))


def test_a_fresh_seed_is_kept_so_that_the_result_can_be_repeated():
    once = pp.simulate(EASY, "uniform", runs=20)
    again = pp.simulate(EASY, "uniform", runs=20, rng=once.spans[0].seed[0])
    assert same(once, again)
    assert pp.simulate(EASY, "uniform", runs=20).spans != once.spans


@pytest.mark.sample(4)
@ENGINES
@pytest.mark.parametrize("case", [case for case, (name, _) in CASES.items() if name != "ege"])
def test_every_policy_can_be_simulated(case, engine):
    if (case, engine) == ("doubt paired", "compiled"):
        with pytest.raises(pp.InvalidInput, match="has no kernel"):
            pp.simulate(EASY, CASES[case], budgets=[24, 60], runs=8, rng=1, engine=engine)
        return
    curve = pp.simulate(EASY, CASES[case], budgets=[24, 60], runs=8, rng=1, engine=engine)
    assert curve.engine == engine
    assert (curve.pulls <= curve.budgets).all()
    assert (curve.errors <= 8).all()


def test_a_custom_schedule_can_be_simulated_and_saved():
    rounds = pp.Schedule((4, 2, 1), (5, 5))
    curve = pp.simulate(EASY, ("ege", {"schedule": rounds}), budgets=30, runs=8, rng=1)
    assert pp.ErrorCurve.from_dict(curve.to_dict()).options == {"schedule": {"active": [4, 2, 1], "pulls": [5, 5]}}


def test_the_oracle_is_told_the_true_complexity_unless_told_otherwise():
    assert pp.simulate(EASY, "ape-fb", runs=2, rng=1).options == {"complexity": EASY.complexity}
    assert pp.simulate(EASY, ("ape-fb", {"c": 0.1}), runs=2, rng=1).options == {"complexity": EASY.complexity, "c": 0.1}
    assert pp.simulate(EASY, ("ape-fb", {"exploration": 2.0}), runs=2, rng=1).options == {"exploration": 2.0}


def test_curves_of_different_bandits_do_not_add_up_though_their_names_are_equal():
    one, other = (pp.Bandit(EASY.means, pp.Gaussian(std=std)) for std in (0.1, 0.2))
    assert one.name == other.name
    curves = [pp.simulate(bandit, "uniform", budgets=8, runs=2, rng=i) for i, bandit in enumerate((one, other))]
    with pytest.raises(ValueError, match="curves of digest"):
        curves[0] + curves[1]


def test_without_the_hypervolume_everything_else_is_the_same():
    plain, without = (pp.simulate(EASY, "ege-sr", runs=20, rng=1, hypervolume=wanted) for wanted in (True, False))
    assert (plain.tallies[:, :-2] == without.tallies[:, :-2]).all()
    assert np.isnan(without.hypervolume).all()


@pytest.mark.slow
def test_a_worker_that_dies_is_an_error_and_not_a_hang():
    with pytest.raises(pp.ExecutorFailed, match="runs of Dies") as failed:
        pp.simulate(EASY, Dies, runs=50, rng=1, workers=2)
    assert isinstance(failed.value, RuntimeError)


class Dies(pp.Policy):
    def choose(self):
        os._exit(3)


def test_noise_without_a_kernel_runs_in_the_reference_engine_and_says_so(caplog):
    with caplog.at_level(logging.WARNING, logger="paretopick"):
        curve = pp.simulate(TABLES, "ege-sr", runs=20, rng=1)
    assert caplog.messages == ["ege-sr on Resampled noise has no kernel: it runs in the reference engine, pull by pull"]
    assert curve.engine == "reference"
    assert same(curve, pp.simulate(TABLES, "ege-sr", runs=20, rng=1, engine="reference"))


def test_sums_that_could_overflow_run_in_the_reference_engine(caplog):
    huge = pp.Bandit([[1.2e305, 0.0], [0.0, 1.2e305], [1e304, 1e304]], pp.Gaussian(std=0.0))
    curve = pp.simulate(huge, "ege-sr", budgets=30, runs=2, rng=1)
    assert "sums that may come near the largest number there is: it runs in the reference engine" in caplog.messages[0]
    assert curve.engine == "reference"
    assert curve.errors.tolist() == [0]
    with pytest.raises(ValueError, match="overflows; scale the values down"):
        pp.simulate(pp.Bandit([[1.2e308], [1.3e308]], pp.Gaussian(std=0.0)), "uniform", budgets=80, runs=8, rng=1)
    with pytest.raises(ValueError, match="values has inf"):
        pp.simulate(EASY, "ege-sr", budgets=40, runs=9, rng=1, scale=1e-310)


def test_curves_of_different_engines_do_not_add_up():
    curves = [pp.simulate(EASY, "uniform", runs=4, rng=i, engine=engine) for i, engine in enumerate(("compiled", "reference"))]
    with pytest.raises(ValueError, match="curves of engine 'compiled' and 'reference'"):
        curves[0] + curves[1]


def test_until_a_precision_is_reached():
    budgets = [12, 40]
    curve = pp.simulate(EASY, "uniform", budgets=budgets, runs="until:0.1", rng=5)
    assert 0 < curve.precision().max() <= 0.1
    assert 400 < curve.runs < 10_000
    low, high = curve.interval().T
    assert curve.precision() == pytest.approx((high - low) / 2 / curve.rate)
    for other in (
        pp.simulate(EASY, "uniform", budgets=budgets, runs="until:10%", rng=5, workers=1),
        pp.simulate(EASY, "uniform", budgets=budgets, runs=curve.runs, rng=5),
    ):
        assert same(curve, other)
    rough = pp.simulate(EASY, "uniform", budgets=budgets, runs="until:0.5", rng=5)
    assert rough.runs == 1000


def test_an_error_that_never_happens_is_an_upper_limit():
    certain = pp.Bandit([[1.0, 0.0], [0.0, 0.0]], pp.Bernoulli())
    curve = pp.simulate(certain, "uniform", budgets=4, runs="until:0.1", max_runs=30_000, rng=5)
    assert curve.runs == 30_000
    assert curve.errors.tolist() == [0]
    assert np.isinf(curve.precision()).all()
    row = curve.rows()[0]
    assert row["upper_limit"] == row["high"] == pytest.approx(3.84 / 30_000, rel=0.01)
    assert pp.simulate(EASY, "uniform", budgets=12, runs=100, rng=5).rows()[0]["upper_limit"] is None


def test_progress_until_a_precision_ends_where_it_said():
    seen = []
    pp.simulate(EASY, "uniform", runs="until:0.1", rng=1, progress=lambda *pair: seen.append(pair))
    assert seen[-1][0] == seen[-1][1]
    assert all(done <= total for done, total in seen)


@ENGINES
def test_a_scale_is_what_the_policy_sees_and_not_what_the_answer_is_judged_by(engine):
    """Divided by their scale, these objectives are those of another bandit; the hypervolume is that of the true means."""
    wide = pp.Bandit([[90.0, 0.1], [10.0, 0.9], [20.0, 0.2]], pp.Gaussian(std=[8.0, 0.08]))
    narrow = pp.Bandit(wide.means / [128.0, 1.0], pp.Gaussian(std=np.array([8.0, 0.08]) / [128.0, 1.0]))
    scaled = pp.simulate(wide, "ape-fb", budgets=30, runs=60, rng=1, scale=[128.0, 1.0], engine=engine)
    other = pp.simulate(narrow, "ape-fb", budgets=30, runs=60, rng=1, engine=engine)
    assert scaled.options == other.options
    assert (scaled.tallies[:, :-1] == other.tallies[:, :-1]).all()
    assert scaled.scale == (128.0, 1.0)
    assert pp.ErrorCurve.from_dict(scaled.to_dict()).scale == scaled.scale
    curves = [
        pp.simulate(wide, "uniform", budgets=30, runs=3, rng=i, scale=scale, engine=engine) for i, scale in ((1, 2.0), (2, None))
    ]
    with pytest.raises(ValueError, match="curves of scale"):
        curves[0] + curves[1]


def test_progress_counts_to_the_end():
    seen = []
    pp.simulate(EASY, ["uniform", "apt"], runs=30, rng=1, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (60, 60)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_the_hypervolume_of_an_instance_below_the_reference_is_nan():
    below = pp.Bandit([[-1.0, -2.0], [-2.0, -1.0]], pp.Gaussian(std=0.1))
    assert np.isnan(pp.simulate(below, "uniform", budgets=10, runs=3, rng=1).hypervolume).all()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: pp.simulate("cov-boost", "ege-sr"), "bandit='cov-boost' is not a Bandit; write pp.instance"),
        (lambda: pp.simulate(EASY, "ege-rs"), "no policy named 'ege-rs'; did you mean"),
        (lambda: pp.simulate(EASY, ("ege-sr", "all")), "neither a name nor"),
        (lambda: pp.simulate(EASY, ("ege-sr", {"k": 1})), "no option of ege-sr named 'k'"),
        (lambda: pp.simulate(EASY, ("ege-sr", {"budget": 1})), "no option of ege-sr named 'budget'"),
        (lambda: pp.simulate(EASY, "ege-sr", hypervolume="no"), "hypervolume='no' is not a truth value"),
        (lambda: pp.play(EASY, "ege-sr", 0), "player='ege-sr' is not a policy"),
        (
            lambda: pp.play(EASY, pp.policy("uniform", n_arms=1, n_objectives=2, budget=9), 0),
            "for 1 arms and 2 objectives, the bandit has 4",
        ),
        (lambda: pp.play(EASY, pp.policy("uniform", n_arms=4, n_objectives=2, budget=9), "a"), "rng='a' is not a seed"),
        (lambda: pp.play(EASY, pp.policy("apt", n_arms=4, n_objectives=2), 0), "apt has no budget and is never done"),
        (lambda: pp.simulate(EASY, "ege-sr", budgets=[4, 40]), "raise budget=4 to at least 5"),
        (lambda: pp.simulate(EASY, "ege-sr", budgets=[]), "must name at least one budget"),
        (lambda: pp.simulate(EASY, "ege-sr", budgets=[40, 40]), "none twice"),
        (lambda: pp.simulate(EASY, "ege-sr", budgets=40.5), "budgets=40.5 is not an int"),
        (lambda: pp.simulate(EASY, "ege-sr", runs=0), "runs=0 is too small"),
        (lambda: pp.simulate(EASY, "ege-sr", workers=0), "workers=0 is too small"),
        (lambda: pp.simulate(EASY, []), "names no policy"),
        (lambda: pp.simulate(EASY, ["ege-sr", "ege-rs"]), "no policy named 'ege-rs'"),
        (
            lambda: pp.simulate(EASY, "ege-sr", executor="threads"),
            "executor='threads' is neither a concurrent.futures.Executor",
        ),
        (lambda: pp.simulate(EASY, "ege-sr", engine="fast"), "no engine named 'fast'"),
        (lambda: pp.simulate(TABLES, "ege-sr", engine="compiled"), "ege-sr on Resampled noise has no kernel; say engine="),
        (lambda: pp.simulate(EASY, "ege-sr", runs=2**40), "runs=1099511627776 is too large"),
        (lambda: pp.simulate(EASY, "uniform", runs=2**20, budgets=2**50), "are more pulls than can be counted; make fewer"),
        (lambda: pp.simulate(EASY, "uniform", runs=1, budgets=2**50), "Bernoulli sums are drawn of at most 4294967296"),
        (lambda: pp.simulate(EASY, "ege-sr", start=2**63), "start=9223372036854775808 is too large"),
        (lambda: pp.simulate(EASY, "ege-sr", budgets="500,1000"), "budgets='500,1000' is a text; write"),
        (lambda: pp.simulate(EASY, ("ege-sr", "uniform")), "simulate and plan take several in a list"),
        (lambda: pp.simulate(EASY, "ege-sr", runs="until"), "neither a number of runs nor a precision, such as"),
        (lambda: pp.simulate(EASY, "ege-sr", runs="until:-1"), "runs='until:-1' is neither"),
        (lambda: pp.simulate(EASY, "ege-sr", runs="until:nan"), "runs='until:nan' is neither"),
        (lambda: pp.simulate(EASY, "ege-sr", runs="1000"), "runs='1000' is neither"),
        (lambda: pp.simulate(EASY, "ege-sr", max_runs=10), "max_runs=10 goes with runs="),
        (lambda: pp.simulate(EASY, "ege-sr", runs="until:1", max_runs=0), "max_runs=0 is too small"),
        (lambda: pp.simulate(EASY, "ege-sr", scale=[1.0, -1.0]), r"scale=\[1.0, -1.0\] must be one positive number, or 2"),
        (lambda: pp.simulate(EASY, "ege-sr", scale=[1.0, 1.0, 1.0]), "must be one positive number, or 2"),
        (lambda: pp.simulate(EASY, "ege-sr", scale="wide"), "scale='wide' must be"),
        (lambda: pp.simulate(EASY, "ege-sr", scale=float("nan")), "scale=nan must be"),
        (lambda: pp.simulate(EASY, "ege-sr", start=-1), "start=-1 is too small"),
        (lambda: pp.simulate(EASY, "ege-sr", rng=-1), "rng=-1 is not a seed"),
        (lambda: pp.simulate(EASY, "ege-sr", rng="a"), "rng='a' is not a seed"),
        (lambda: pp.simulate(pp.Bandit([[1.0]], pp.Gaussian(std=1.0)), "ege-sr"), "budgets= is missing"),
    ],
)
def test_bad_input_is_shown(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@ENGINES
def test_an_interrupt_keeps_the_finished_runs(engine):
    def stop(done: int, total: int) -> None:
        if done >= 10:
            raise KeyboardInterrupt

    with pytest.raises(pp.SimulationInterrupted) as stopped:
        pp.simulate(EASY, "uniform", runs=1000, rng=1, progress=stop, workers=1, engine=engine)
    partial = stopped.value.partial
    assert 10 <= partial.runs < 1000
    assert same(partial, pp.simulate(EASY, "uniform", runs=partial.runs, rng=1, engine=engine))
    assert isinstance(stopped.value, KeyboardInterrupt)


@pytest.mark.slow
def test_an_interrupt_does_not_wait_for_the_runs_in_flight(tmp_path):
    """All runs but the first would take an hour; the workers are ended in the middle of them."""

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(pp.SimulationInterrupted) as stopped:
        pp.simulate(EASY, (QuickOnce, {"mark": str(tmp_path / "begun")}), runs=64, rng=1, workers=2, progress=stop)
    assert stopped.value.partial.runs == 1


class QuickOnce(pp.Policy):
    """Whoever makes the mark is quick, and all others sleep."""

    def __init__(self, *, mark: str, **size) -> None:
        super().__init__(**size)
        self.mark = mark

    def choose(self):
        if self.round == 0:
            try:
                os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                time.sleep(3600)
        return np.arange(self.n_arms) if self.round == 0 else []


def test_an_interrupt_among_several_policies_keeps_all_that_were_begun():
    def stop(done: int, total: int) -> None:
        assert total == 120
        if done >= 50:
            raise KeyboardInterrupt

    with pytest.raises(pp.SimulationInterrupted) as stopped:
        pp.simulate(EASY, ["uniform", "ege-sr", "apt"], runs=40, rng=1, workers=1, progress=stop)
    first, second = stopped.value.partial
    assert same(first, pp.simulate(EASY, "uniform", runs=40, rng=1))
    assert same(second, pp.simulate(EASY, "ege-sr", runs=second.runs, rng=1))


ORPHANED = """
import multiprocessing, paretopick as pp
def report(done, total):
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
if __name__ == "__main__":
    pp.simulate(
        pp.instance("cov-boost"), "apt", budgets=60, runs=100_000, rng=1, workers=2, progress=report, engine="reference"
    )
"""


@pytest.mark.slow
def test_workers_end_when_the_main_process_is_killed(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(ORPHANED)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        process.kill()
    assert len(pids) == 2
    deadline = time.monotonic() + 60
    while any(is_running(pid) for pid in pids):
        assert time.monotonic() < deadline, "workers are still there"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


INTERRUPTED = """
import sys, paretopick as pp
def report(done, total):
    print(done, flush=True)
if __name__ == "__main__":
    try:
        pp.simulate(pp.instance("cov-boost"), "apt", runs=10**9, rng=1, workers=2, engine=sys.argv[1], progress=report)
    except pp.SimulationInterrupted as stopped:
        print("kept", stopped.partial.runs, stopped.partial.errors.sum() <= stopped.partial.runs, flush=True)
"""


@pytest.mark.slow
@ENGINES
def test_ctrl_c_in_a_terminal_stops_the_workers_and_keeps_what_is_finished(tmp_path, engine):
    """A real process group gets a real SIGINT, as from a keyboard."""
    script = tmp_path / "run.py"
    script.write_text(INTERRUPTED)
    process = subprocess.Popen(
        [sys.executable, script, engine], stdout=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heed_interrupts
    )
    try:
        assert process.stdout.readline().strip().isdigit()
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    kept = [line for line in output.splitlines() if line.startswith("kept")]
    assert process.returncode == 0
    assert len(kept) == 1
    assert int(kept[0].split()[1]) >= 1
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("workers are still alive")
