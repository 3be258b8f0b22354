"""Plans from pilots whose measurements share what makes them vary."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

import paretopick as pp
from paretopick.cli import app
from paretopick.planning import Pilot, plan

pytestmark = pytest.mark.slow

METRICS = "score:max~0.25,price:min~0.25"


def pilot_file(path, *, rho=0.75, repeats=20, column="question", seed=0):
    """A CSV file with measurements of eight options on the same questions."""
    rng = np.random.default_rng(seed)
    effects = np.sqrt(rho) * rng.normal(size=(repeats, 2))
    with path.open("w", newline="") as file:
        write = csv.writer(file)
        write.writerow(["option", *([column] if column else []), "score", "price"])
        for option in range(8):
            for question in range(repeats):
                score, price = effects[question] + np.sqrt(1 - rho) * rng.normal(size=2) + [0.4 * option, 0.3 * option]
                write.writerow([f"p{option}", *([question] if column else []), score, price])
    return path


def test_a_plan_says_what_pairing_saves(tmp_path):
    file = pilot_file(tmp_path / "pilot.csv")
    paired = plan(Pilot.of_table(file, METRICS, pairing="question"), policies=["doubt"], target=0.1, runs=400)
    plain = plan(Pilot.of_table(file, METRICS), policies=["doubt"], target=0.1, runs=400)
    budget = paired.recommendation.budget
    assert budget < 0.7 * plain.recommendation.budget
    assert paired.unpaired.budget == pytest.approx(plain.recommendation.budget, rel=0.35)
    text = str(paired)
    assert f"With the same question for all options, {budget:,} measurements instead of {paired.unpaired.budget:,}." in text
    assert "Measurements with the same question share" in text
    assert paired.to_dict()["unpaired"] == {"pairing": "question", "largest": paired.largest, "budget": paired.unpaired.budget}
    assert plain.unpaired is None
    assert plain.to_dict()["unpaired"] is None


@pytest.mark.long
def test_where_nothing_is_shared_a_plan_is_as_without_pairing(tmp_path):
    file = pilot_file(tmp_path / "pilot.csv", rho=0.0, seed=1)
    paired, plain = (
        plan(Pilot.of_table(file, METRICS, pairing=pairing), policies=["doubt"], target=0.15, runs=400).recommendation.budget
        for pairing in ("question", None)
    )
    assert paired == pytest.approx(plain, rel=0.3)


def test_repeats_are_the_order_of_the_rows_unless_a_column_says_otherwise(tmp_path):
    by_order = Pilot.of_table(pilot_file(tmp_path / "a.csv", column=None), METRICS, pairing="repeat")
    by_column = Pilot.of_table(pilot_file(tmp_path / "b.csv", column="repeat"), METRICS, pairing="repeat")
    assert by_order.estimates.sharing.shares == by_column.estimates.sharing.shares
    assert by_order.estimates.sharing.shares[0].value > 0.5


def test_the_pilot_may_be_a_paired_study():
    rng, effects = np.random.default_rng(3), np.random.default_rng(4).normal(size=100)
    study = pp.Study.create(
        "p", options=list("abcdef"), metrics={"score": "max~0.3"}, budget=60, pairing="repeat", storage="sqlite://"
    )
    while not study.done:
        for todo in study.ask(6):
            study.tell(todo.number, [ord(todo.option) / 3 + effects[todo.repeat] + 0.4 * rng.normal()])
    pilot = Pilot.of_study(study)
    assert pilot.pairing == "repeat"
    noise, whole = pilot.bandit.noise.cov, pilot.without_pairing.noise.cov
    assert (np.diagonal(whole, axis1=1, axis2=2) > 2 * np.diagonal(noise, axis1=1, axis2=2)).all()
    found = plan(study, anew=True, target=0.2, runs=100, policies=["doubt"])
    assert "what every repeat has in common" in str(found)


@pytest.mark.long
def test_a_planned_budget_is_enough_for_paired_studies_or_nearly():
    """Plans simulate the noise within blocks as if all blocks were complete; ``doubt`` leaves some incomplete."""
    means = np.array([[0.0, 0.0], [0.6, 0.2], [0.2, 0.7], [0.9, -0.5], [-0.4, -0.1], [0.4, 0.4]])
    shared, within, whole = pp.Gaussian(std=1.0, shared=0.75), pp.Gaussian(std=0.5), pp.Gaussian(std=1.0)
    wrong = []
    for noise, policy, runs in ((shared, ("doubt", {"paired": True}), 25), (within, "doubt", 2000), (whole, "doubt", 2000)):
        bandit = pp.Bandit(means, noise)
        curve = pp.simulate(bandit, policy, budgets=70, runs=runs, rng=1, margins=[0.2, 0.2], hypervolume=False)
        wrong.append(float(curve.rate_within[0]))
    paired, planned, apart = wrong
    assert paired <= planned + 0.12
    assert paired < apart - 0.1


def test_bad_columns_are_refused(tmp_path):
    file = pilot_file(tmp_path / "pilot.csv")
    with pytest.raises(pp.InvalidInput, match="plate"):
        Pilot.of_table(file, METRICS, pairing="plate")
    with pytest.raises(pp.InvalidInput, match="is a metric"):
        Pilot.of_table(file, METRICS, pairing="score")
    with pytest.raises(pp.InvalidInput, match="pairing"):
        Pilot.of_table(file, METRICS, pairing=3)


def test_the_command_takes_a_column(tmp_path):
    file = pilot_file(tmp_path / "pilot.csv", repeats=12)
    run = CliRunner().invoke(
        app,
        [
            "plan",
            str(file),
            "--metrics",
            METRICS,
            "--pairing",
            "question",
            "--policy",
            "doubt",
            "--target",
            "0.2",
            "--runs",
            "100",
        ],
    )
    assert run.exit_code == 0, run.output
    assert "With the same question for all options" in " ".join(run.output.split())
    refused = CliRunner().invoke(app, ["plan", "cov-boost", "--pairing", "question"])
    assert refused.exit_code != 0


def test_a_pilot_with_a_block_that_is_far_off_is_planned_with(tmp_path):
    rng = np.random.default_rng(5)
    lines = ["option,plate,score,price"]
    for plate in range(10):
        for option in "abc":
            lines.append(f"{option},{plate},{30.0 * (plate == 4) + rng.normal() + ord(option)},{rng.normal()}")
    (tmp_path / "p.csv").write_text("\n".join(lines))
    assert Pilot.of_table(tmp_path / "p.csv", METRICS, pairing="plate").pairing == "plate"


def test_plans_with_pairing_are_of_policies_that_know_it(tmp_path):
    found = plan(Pilot.of_table(pilot_file(tmp_path / "p.csv", repeats=8), METRICS, pairing="question"), target=0.4, runs=40)
    assert found.labels == ("doubt",)
