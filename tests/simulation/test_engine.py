import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest

import oracle
import paretopick as pp
from inputs import heed_interrupts
from policies.cases import CASES

EASY = pp.Bandit([[0.9, 0.1], [0.1, 0.9], [0.2, 0.2], [0.05, 0.1]], pp.Bernoulli(), name="easy", budget=40)


def same(a: pp.ErrorCurve, b: pp.ErrorCurve) -> bool:
    return (a.tallies == b.tallies).all() and a.spans == b.spans


def test_the_first_runs_of_many_are_those_of_few():
    few = pp.simulate(EASY, "ege-sr", budgets=[20, 40], runs=30, rng=5)
    rest = pp.simulate(EASY, "ege-sr", budgets=[20, 40], runs=70, rng=5, start=30)
    assert same(few + rest, pp.simulate(EASY, "ege-sr", budgets=[20, 40], runs=100, rng=5))


def test_workers_do_not_change_the_result():
    alone = pp.simulate(EASY, "ege-sr", runs=90, rng=5)
    assert same(alone, pp.simulate(EASY, "ege-sr", runs=90, rng=5, workers=2))
    assert same(alone, pp.simulate(EASY, "ege-sr", runs=90, rng=5, workers=3))


@pytest.mark.parametrize("seconds", [0.0, 0.003, 60.0])
def test_the_size_of_the_pieces_does_not_change_the_result(monkeypatch, seconds):
    expected = pp.simulate(EASY, "ege-sh", runs=50, rng=5)
    monkeypatch.setattr("paretopick.simulation.engine.PIECE_SECONDS", seconds)
    assert same(expected, pp.simulate(EASY, "ege-sh", runs=50, rng=5))
    assert same(expected, pp.simulate(EASY, "ege-sh", runs=50, rng=5, workers=2))


def test_one_budget_is_the_same_alone_and_among_others():
    alone = pp.simulate(EASY, "ege-sr", budgets=30, runs=40, rng=5)
    among = pp.simulate(EASY, "ege-sr", budgets=[20, 30], runs=40, rng=5)
    assert (alone.tallies[0] == among.tallies[1]).all()


def test_budgets_of_any_kind():
    for budgets in ([20, 30], (20, 30), np.array([20, 30]), range(20, 31, 10), iter([20, 30])):
        assert pp.simulate(EASY, "uniform", budgets=budgets, runs=1, rng=1).budgets == (20, 30)
    assert pp.simulate(EASY, "uniform", budgets=np.array(20), runs=1, rng=1).budgets == (20,)
    assert pp.simulate(EASY, "uniform", runs=1, rng=1).budgets == (40,)


def test_a_run_is_ask_and_tell_on_the_generator_of_its_number():
    curve = pp.simulate(EASY, "uniform", budgets=12, runs=25, rng=7)
    errors = 0
    for run in range(25):
        rng = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(run,)))
        sums = EASY.sample(np.repeat(np.arange(4), 3), rng).reshape(4, 3, 2).sum(axis=1)
        errors += oracle.pareto_set(sums.tolist()) != EASY.optimal.tolist()
    assert curve.errors.tolist() == [errors]
    assert 0 < errors < 25


def test_every_tally_is_what_it_says():
    """One run at a time, each judged here by hand."""
    for policy, options in (("ege-sr", {}), ("ege-sr-k", {"max_arms": 1}), ("ege-sr-k", {"max_arms": 2})):
        for run in range(12):
            curve = pp.simulate(EASY, (policy, options), budgets=9, runs=1, rng=3, start=run)
            player = pp.policy(policy, n_arms=4, n_objectives=2, budget=9, **options)
            rng = np.random.default_rng(np.random.SeedSequence(3, spawn_key=(run,)))
            while not player.done:
                arms = player.ask()
                player.tell(arms, EASY.sample(arms, rng))
            answer, truth = set(player.recommend().tolist()), set(np.flatnonzero(EASY.optimal).tolist())
            k = options.get("max_arms")
            assert curve.errors[0] == (answer != truth)
            assert curve.relaxed_losses[0] == (not (answer <= truth if len(answer) == k else answer == truth))
            assert curve.wrongly_accepted[0] == len(answer - truth)
            assert curve.wrongly_rejected[0] == len(truth - answer)
            assert curve.pulls[0] == player.counts.sum()
            assert curve.rounds[0] == max(player.snapshot().left_in)  # an arm leaves in every round of ege-sr
            assert curve.hypervolume[0] == pytest.approx(pp.hypervolume_fraction(sorted(answer), EASY.means), abs=1e-9)


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


@pytest.mark.parametrize("case", [case for case, (name, _) in CASES.items() if name != "ege"])
def test_every_policy_can_be_simulated(case):
    curve = pp.simulate(EASY, CASES[case], budgets=[24, 60], runs=8, rng=1)
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
    assert (plain.tallies[:, :-1] == without.tallies[:, :-1]).all()
    assert np.isnan(without.hypervolume).all()


def test_a_worker_that_dies_is_an_error_and_not_a_hang(monkeypatch):
    monkeypatch.setattr("paretopick.simulation.reference.play", lambda *_: os._exit(3))
    with pytest.raises(BrokenProcessPool):
        pp.simulate(EASY, "uniform", runs=50, rng=1, workers=2)


def test_progress_counts_to_the_end():
    seen = []
    pp.simulate(EASY, "uniform", runs=30, rng=1, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (30, 30)
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
        (lambda: pp.simulate(EASY, "ege-sr", start=-1), "start=-1 is too small"),
        (lambda: pp.simulate(EASY, "ege-sr", rng=-1), "rng=-1 is not a seed"),
        (lambda: pp.simulate(EASY, "ege-sr", rng="a"), "rng='a' is not a seed"),
        (lambda: pp.simulate(pp.Bandit([[1.0]], pp.Gaussian(std=1.0)), "ege-sr"), "budgets= is missing"),
    ],
)
def test_bad_input_is_shown(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_an_interrupt_keeps_the_finished_runs():
    def stop(done: int, total: int) -> None:
        if done >= 10:
            raise KeyboardInterrupt

    with pytest.raises(pp.SimulationInterrupted) as stopped:
        pp.simulate(EASY, "uniform", runs=64, rng=1, progress=stop)
    partial = stopped.value.partial
    assert 10 <= partial.runs < 64
    assert same(partial, pp.simulate(EASY, "uniform", runs=partial.runs, rng=1))
    assert isinstance(stopped.value, KeyboardInterrupt)


def test_an_interrupt_does_not_wait_for_the_runs_in_flight(monkeypatch):
    """All runs but the first would take an hour; the workers are ended in the middle of them."""

    def slow(bandit, player, seed):
        if seed.spawn_key[-1] > 0:
            time.sleep(3600)
        real_play(bandit, player, seed)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    real_play = pp.play
    monkeypatch.setattr("paretopick.simulation.reference.play", slow)
    with pytest.raises(pp.SimulationInterrupted) as stopped:
        pp.simulate(EASY, "uniform", runs=64, rng=1, workers=2, progress=stop)
    assert stopped.value.partial.runs == 1


ORPHANED = """
import multiprocessing, paretopick as pp
def report(done, total):
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
pp.simulate(pp.instance("cov-boost"), "apt", budgets=60, runs=100_000, rng=1, workers=2, progress=report)
"""


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
import paretopick as pp
bandit = pp.instance("cov-boost")
try:
    pp.simulate(bandit, "apt", runs=100_000, rng=1, workers=2, progress=lambda done, total: print(done, flush=True))
except pp.SimulationInterrupted as stopped:
    print("kept", stopped.partial.runs, stopped.partial.errors.sum() <= stopped.partial.runs, flush=True)
"""


def test_ctrl_c_in_a_terminal_stops_the_workers_and_keeps_what_is_finished(tmp_path):
    """A real process group gets a real SIGINT, as from a keyboard."""
    script = tmp_path / "run.py"
    script.write_text(INTERRUPTED)
    process = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heed_interrupts
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
