"""What more measurements would bring: equal to studies that go on by hand, and said in a sentence."""

import re
from dataclasses import replace

import numpy as np
import pytest

import paretopick as pp
from paretopick.estimates import estimate_tables
from paretopick.metrics import Metric, requirements_of, signs_of
from paretopick.policies import PolicyChoice
from paretopick.studies import continuation as module
from paretopick.studies.continuation import continuation, needed_first, two_digits
from paretopick.theory.dominance import optimal_in_each
from support import oracle

pytestmark = pytest.mark.slow

BOTH = (Metric("quality", "max"), Metric("cost", "min"))


def measured(means, n, *, std=1.0, seed=0, metrics=BOTH):
    """So many measurements of each option, in the units of the metrics."""
    rng = np.random.default_rng(seed)
    sizes = np.broadcast_to(n, len(means))
    tables = [mean + std * rng.normal(size=(size, len(mean))) for mean, size in zip(np.array(means), sizes, strict=True)]
    for place, metric in enumerate(metrics):
        if metric.exact:
            for table, mean in zip(tables, means, strict=True):
                table[:, place] = mean[place]
    return tables


def continued(tables, *, metrics=BOTH, policy="doubt", present=None, **options):
    """The continuation of a study with these measurements; by default it answers what is optimal at the means."""
    signs = signs_of(metrics)
    exact = np.array([metric.exact for metric in metrics])
    estimates = estimate_tables(tables, exact=exact, signs=signs)
    estimates = replace(estimates, means=np.where(exact, [table[0] for table in tables], estimates.means))  # as studies have them
    if present is None:
        optimal = optimal_in_each(estimates.draws(2000, np.random.default_rng(5)) * signs)
        present = float((optimal == optimal_in_each((estimates.means * signs)[None])).all(axis=1).mean())
    return continuation(
        estimates,
        counts=np.array([len(table) for table in tables]),
        sums=np.array([table.sum(axis=0) for table in tables]) * signs,
        squares=np.array([((table - table.mean(axis=0)) ** 2).sum(axis=0) for table in tables]),
        choice=PolicyChoice(policy),
        names=[f"o{i}" for i in range(len(tables))],
        metrics=metrics,
        present_probability=present,
        **options,
    )


def by_hand(tables, policy, more, runs, metrics=BOTH):
    """The share of right answers, and the share of the measurements that each option got, by ask and tell."""
    signs = signs_of(metrics)
    required = requirements_of(metrics)
    estimates = estimate_tables(tables, exact=np.zeros(2, dtype=bool), signs=signs)
    rng = np.random.default_rng(77)
    truths = estimates.draws(runs, rng) * signs
    roots = np.linalg.cholesky(estimates.covariances * signs[:, None] * signs)
    counts = np.array([len(table) for table in tables])
    right, got = 0, np.zeros(len(tables))
    for truth in truths:
        player = pp.policy(policy, n_arms=len(tables), n_objectives=2, budget=int(counts.sum()) + more)
        player.require(required)
        player.begin(
            counts,
            np.array([table.sum(axis=0) for table in tables]) * signs,
            np.array([((table - table.mean(axis=0)) ** 2).sum(axis=0) for table in tables]),
        )
        while not player.done:
            arms = player.ask()
            player.tell(arms, [truth[arm] + roots[arm] @ rng.normal(size=2) for arm in arms])
        answer = player.recommend().tolist()
        if required.is_plain:
            right += answer == np.flatnonzero(optimal_in_each(truth[None])[0]).tolist()
        else:
            right += oracle.is_right(truth.tolist(), answer, required.as_margins, required.as_limits)
        got += player.counts - counts
    return right / runs, got / got.sum()


FOUR = [[0.0, 0.0], [1.0, 1.0], [0.2, 0.5], [0.9, 1.2]]


@pytest.mark.sample(2)
@pytest.mark.parametrize("policy", ["doubt", "apt"])
def test_it_is_what_studies_do_that_go_on_from_these_data(policy):
    """1,000 continuations of ours, and 250 by ask and tell with other random numbers."""
    tables = measured(FOUR, [5, 9, 4, 12], std=0.6)
    ours = continued(tables, policy=policy, present=0.0, more=[60], runs=1000)
    step = next(step for step in ours.steps if step.more == 60)
    right, shares = by_hand(tables, policy, 60, 250)
    assert 0.3 < right < 0.95
    assert step.right == pytest.approx(right, abs=0.11)  # 3.2 deviations
    assert step.shares == pytest.approx(shares, abs=0.06)
    assert sum(step.shares) == pytest.approx(1.0)


WITHIN = (Metric("quality", "max", margin=0.5), Metric("cost", "min", margin=0.3, at_most=1.1))


@pytest.mark.long
@pytest.mark.parametrize("policy", ["doubt", "apt"])
def test_within_margins_and_limits_it_is_what_studies_do_that_know_them(policy):
    tables = measured(FOUR, [5, 9, 4, 12], std=0.6)
    ours = continued(tables, policy=policy, present=0.0, more=[60], runs=1000, metrics=WITHIN)
    step = next(step for step in ours.steps if step.more == 60)
    right, shares = by_hand(tables, policy, 60, 250, WITHIN)
    assert 0.3 < right < 0.95
    assert step.right == pytest.approx(right, abs=0.11)
    assert step.shares == pytest.approx(shares, abs=0.06)
    assert "The answer is right within the margins and limits with < 0.1% now" in str(ours)


def test_a_margin_makes_enough_of_what_never_would_be():
    tables = measured([[0.0, 0.0], [0.0, -6.0], [9.0, 9.0], [-4.0, 4.0]], 12, seed=2)
    tables[0] += [0.0, 0.0] - tables[0].mean(axis=0)
    tables[1] += [0.01, -6.0] - tables[1].mean(axis=0)
    margins = (Metric("quality", "max", margin=0.5), Metric("cost", "min"))
    assert continued(tables, present=0.6).needed is None
    found = continued(tables, present=0.6, metrics=margins)
    assert 0 < found.needed < 100
    assert "Set margins" not in found.next_step


def test_wider_margins_than_those_declared_are_named_where_these_are_not_enough():
    tables = measured([[0.0, 0.0], [0.05, -0.05], [0.5, 0.5], [0.52, 0.54]], 4, seed=2)
    metrics = (Metric("quality", "max", margin=0.02, unit="points"), Metric("cost", "min", margin=0.3))
    found = continued(tables, metrics=metrics, present=0.1)
    assert found.needed is None
    said = re.search(r"up to differences of ([\d.]+) points in quality and ([\d.]+) in cost, .* bring it to 95%", found.next_step)
    assert float(said[1]) > 0.02
    assert float(said[2]) >= 0.3  # never narrower than what was declared


def test_margins_that_would_do_are_named_where_chance_has_it_that_none_are_needed():
    """Of few simulated continuations: the last step alone may be right as often as it should, and with those before it is not."""
    for seed in range(30):
        tables = measured([[0.0, 0.0], [0.3, -0.3], [0.8, 0.8], [1.2, 1.1]], 4, seed=seed)
        found = continued(tables, present=0.3, runs=20, rng=seed)
        if found.needed is None:
            assert re.search(r"Set margins: up to differences of [\d.]+ in quality and [\d.]+ in cost", found.next_step)


def test_where_no_margin_helps_who_is_near_a_limit_is_named():
    metrics = (Metric("quality", "max", margin=0.02, at_least=1.0), Metric("cost", "min", margin=0.02))
    tables = measured([[0.0, 0.0], [1.01, 0.01], [0.98, 0.5], [1.3, 0.8]], 4, seed=1, metrics=metrics)
    found = continued(tables, metrics=metrics, present=0.1)
    assert found.steps[-1].resolves is None
    assert re.search(r": 'o\d' is too near a limit \(about [\d.]+ from at least 1 in 'quality'\)\. No margin", found.next_step)


def test_what_measurements_resolve_falls_and_is_said_where_no_margins_are_declared():
    tables = measured(FOUR, 6)
    found = continued(tables, present=0.2, more=[100, 400])
    factors = [step.resolves.factor for step in found.steps]
    assert factors == sorted(factors, reverse=True)
    assert factors[-1] < factors[0] / 2
    step = next(step for step in found.steps if step.more == 400)
    noise = step.resolves.widths["quality"] / step.resolves.factor
    assert 0.5 < noise < 2.0
    said = f"With 400 more measurements it is right up to differences of {step.resolves.text}, with 95%."
    assert said in found.sentences()
    assert found.to_dict()["steps"][-1]["resolves"]["factor"] == factors[-1]
    assert found.rows()[-1]["resolves"] == step.resolves.factor
    margins = (Metric("quality", "max", margin=0.5), Metric("cost", "min"))
    declared = continued(tables, metrics=margins, present=0.2, more=[400])
    assert "it is right up to differences" not in str(declared)


def test_of_declared_margins_multiples_are_found_and_agree_with_what_is_said_of_these():
    tables = measured(FOUR, 6)
    metrics = (Metric("quality", "max", margin=0.5), Metric("cost", "min", margin=0.2))
    told = continued(tables, metrics=metrics, present=0.2, more=[20, 400])
    asked = continued(tables, metrics=metrics, present=0.2, more=[20, 400], find_margins=True)
    assert asked.next_step == told.next_step
    assert [step.right for step in asked.steps] == [step.right for step in told.steps]
    for step in asked.steps:
        factor = step.resolves.factor
        assert step.resolves.widths == pytest.approx({"quality": 0.5 * factor, "cost": 0.2 * factor})
        assert factor <= 1 if step.right >= 0.95 else factor >= 1
    few, many = (step.resolves for step in asked.shown)
    assert few.factor > 1 > many.factor
    assert (
        f"With 400 more measurements it is right with 95% within margins {many.factor:.2g} times as wide: {many.text}."
        in asked.sentences()
    )


@pytest.mark.long
def test_a_metric_without_a_margin_stays_without_where_others_have_one():
    tables = measured(FOUR, 6)
    metrics = (Metric("quality", "max", margin=0.5), Metric("cost", "min"))
    asked = continued(tables, metrics=metrics, present=0.2, more=[100], find_margins=True)
    (step,) = asked.shown
    assert step.resolves is None or step.resolves.widths["cost"] == 0
    assert "in cost" not in asked.sentences()[2]
    none = continued(tables, metrics=(metrics[1], replace(metrics[1], name="also", margin=1e-6)), more=[100], find_margins=True)
    assert "With 100 more measurements no margins up to 20 times as wide make it right with 95%." in none.sentences()


def test_the_margins_that_would_do_are_those_within_which_the_answers_are_right():
    """The same answers under margins of that width: one in 20 is wrong."""
    tables = measured(FOUR, 6)
    found = continued(tables, policy="apt", present=0.0, more=[200], runs=2000)
    step = next(step for step in found.steps if step.more == 200)
    signs = signs_of(BOTH)
    estimates = estimate_tables(tables, exact=np.zeros(2, dtype=bool), signs=signs)
    counts = np.array([len(table) for table in tables])
    known = (counts, np.array([table.sum(axis=0) for table in tables]) * signs)
    margins = [step.resolves.widths[metric.name] for metric in BOTH]
    curve = pp.simulate(
        estimates.bandit(),
        "apt",
        budgets=int(counts.sum()) + 200,
        runs=2000,
        rng=5,
        truths=estimates.draws(2000, np.random.default_rng(9)) * signs,
        known=known,
        scale=estimates.scale(),
        ladder=[margins],
    )
    assert 0.03 < curve.errors_on_ladder[0, 0] / 2000 < 0.08


def test_of_exact_values_with_margins_or_limits_more_than_the_order_counts():
    """In euros as in cents: margins and limits go with the values, and equal prices stay equal whatever their counts."""
    quality, prices, counts = [0.0, 0.4, 0.9, 0.2], [1, 1, 7, 2], [3, 7, 10, 6]
    found = []
    for unit in (1.0, 0.1):
        for limit in (None, 5 * unit):
            metrics = (Metric("quality", "max"), Metric("price", "min", exact=True, margin=unit, at_most=limit))
            tables = measured([[q, p * unit] for q, p in zip(quality, prices, strict=True)], counts, metrics=metrics)
            found.append(continued(tables, metrics=metrics, present=0.1, more=[50]))
    cents, limited, euros, limited_euros = found
    assert [(s.right, s.shares) for s in cents.steps] == [(s.right, s.shares) for s in euros.steps]
    assert [(s.right, s.shares) for s in limited.steps] == [(s.right, s.shares) for s in limited_euros.steps]
    assert limited.steps[-1].shares[2] < cents.steps[-1].shares[2]  # the dear one is out, beyond doubt
    assert cents.steps[-1].right > 0.6


def test_rounded_values_survive_sums_and_quotients():
    rng = np.random.default_rng(0)
    values = np.exp(rng.normal(scale=20, size=1000)) * rng.choice([-1.0, 1.0], 1000)
    counts = rng.integers(1, 1000, 1000)
    rounded = module._rounded(values, 53 - 10)
    assert (rounded * counts / counts == rounded).all()
    assert rounded == pytest.approx(values, rel=1e-12)
    assert (values * counts / counts != values).any()
    assert module._rounded(np.array([0.0, 1.0, 123_456_789_012.0, -np.inf]), 43).tolist() == [0, 1, 123_456_789_012, -np.inf]


def test_who_stays_near_a_limit_is_named_with_it():
    tables = measured([[0.0, 0.0], [4.0, 3.0]], 8, seed=1)
    tables[1] += [4.0, 3.0] - tables[1].mean(axis=0)
    metrics = (Metric("quality", "max"), Metric("cost", "min", at_most=3.0, unit="euros"))
    found = continued(tables, metrics=metrics, present=0.5)
    assert found.needed is None
    assert re.search(r": 'o1' is too near a limit \(about 0\.\d+ euros from at most 3 euros in 'cost'\)\. ", found.next_step)
    assert found.next_step.endswith("No margin helps against doubts about a limit; one a little further away would.")
    assert "right about the options within the limits with 50% now" in str(found)


def test_ratios_that_are_too_alike_are_said_in_percent():
    tables = measured([[1.0, 2.0], [1.001, 2.001], [1.5, 3.0]], 8, std=0.02)
    metrics = (Metric("quality", "max", log=True), Metric("cost", "min", log=True))
    found = continued(tables, metrics=metrics, present=0.1)  # of logarithms, as studies keep them
    assert re.search(r"\(about [\d.]+% apart in '(quality|cost)'\)", found.next_step)
    assert re.search(r"up to differences of [\d.]+% in quality and [\d.]+% in cost", found.next_step)


def test_a_limit_on_failures_is_one_on_successes_from_the_other_end():
    rng = np.random.default_rng(0)
    tables = [(rng.random((30, 2)) < chance).astype(float) for chance in ([0.2, 0.7], [0.5, 0.5], [0.3, 0.1])]
    flipped = [np.column_stack((table[:, 0], 1.0 - table[:, 1])) for table in tables]
    many = (Metric("good", "max"), Metric("passed", "max", at_least=0.4))
    few = (Metric("good", "max"), Metric("failed", "min", at_most=0.6))
    one, other = (continued(t, metrics=m, present=0.2) for t, m in ((tables, many), (flipped, few)))
    assert one.steps[-1].right > 0.6
    assert [step.right for step in one.steps] == pytest.approx([step.right for step in other.steps], abs=0.1)


def test_easy_options_need_few_more_and_the_ones_that_matter_are_named():
    tables = measured([[0.0, 0.0], [4.0, 0.0], [4.3, 6.0], [-5.0, 9.0]], [6, 6, 6, 6], seed=1)
    tables[1] += [0.0, 0.0] - tables[1].mean(axis=0) + [0.8, 0.0]  # a little better than the first, as measured
    tables[0] += [0.0, 0.0] - tables[0].mean(axis=0)
    found = continued(tables, target=0.75)
    assert found.present < 0.75
    assert found.needed > 0
    assert [step.right for step in found.steps] == sorted(step.right for step in found.steps)
    assert min(step.right for step in found.steps) >= found.present
    match = re.fullmatch(r"About ([\d,]+) more measurements, mostly of (.*), would bring it to 75%\.", found.next_step)
    assert int(match[1].replace(",", "")) == found.needed
    reached = [step.more for step in found.steps if step.right >= 0.75]
    assert found.needed <= two_digits(reached[0], up=True)
    assert "'o0'" in match[2] or "'o1'" in match[2]
    assert "'o3'" not in match[2]


def test_near_ties_are_named_if_no_budget_is_enough():
    tables = measured([[0.0, 0.0], [0.0, -6.0], [9.0, 9.0], [-4.0, 4.0]], 12, seed=2)
    tables[0] += [0.0, 0.0] - tables[0].mean(axis=0)
    tables[1] += [0.01, -6.0] - tables[1].mean(axis=0)  # cheaper, and as good
    found = continued(tables)
    assert found.needed is None
    assert re.search(
        r"no budget up to 528 (brings it to 95%|does much, it stays at \d+%): "
        r"('o0' and 'o1'|'o1' and 'o0') are hard to tell apart \(about 0\.\d+ apart in 'quality'\)\. "
        r"Set margins: up to differences of 0\.\d+ in quality and 0\.\d+ in cost, 528 measurements would bring it to 95%\.$",
        found.next_step,
    )
    assert found.steps[-1].more == 480


def test_what_is_sure_needs_no_more_and_no_simulation(monkeypatch):
    tables = measured([[0.0, 0.0], [9.0, -9.0]], 5)
    looked = continued(tables, present=0.95, more=[100])
    assert looked.needed == 0
    assert [step.more for step in looked.shown] == [100]
    monkeypatch.setattr(module, "simulate", None)
    found = continued(tables, present=0.95)
    assert (found.next_step, found.needed, found.steps) == ("It is sure enough: nothing more is needed.", 0, ())
    assert found.to_dict()["steps"] == []


def test_a_policy_with_rounds_goes_on_with_doubt_which_is_said():
    tables = measured(FOUR, 6)
    one, other = continued(tables, policy="ege-sr", present=0.3), continued(tables, present=0.3)
    assert one.policy == "doubt"
    assert one.steps == other.steps
    assert one.next_step == f"With the policy doubt, {other.next_step[0].lower()}{other.next_step[1:]}"


def test_the_same_data_say_the_same():
    tables = measured(FOUR, 6)
    assert continued(tables).to_dict() == continued(tables).to_dict()


def test_successes_that_are_to_be_few_are_failures_that_are_to_be_many():
    rng = np.random.default_rng(0)
    tables = [(rng.random((12, 2)) < chance).astype(float) for chance in ([0.2, 0.7], [0.5, 0.5], [0.3, 0.4])]
    many = (Metric("good", "max"), Metric("passed", "max"))
    few = (Metric("good", "max"), Metric("failed", "min"))
    flipped = [np.column_stack((table[:, 0], 1.0 - table[:, 1])) for table in tables]
    present = 0.2
    one, other = continued(tables, metrics=many, present=present), continued(flipped, metrics=few, present=present)
    assert one.steps[-1].right > 0.4
    # Draws differ, since the second is drawn from the other end of its distribution.
    assert [step.right for step in one.steps] == pytest.approx([step.right for step in other.steps], abs=0.1)


def test_of_exact_values_only_the_order_counts_and_roundings_do_not():
    """Sums of 0.1 divided by their number miss 0.1 now and then: a price that is equal would look lower, beyond doubt."""
    metrics = (Metric("quality", "max"), Metric("price", "min", exact=True))
    quality = [0.0, 0.4, 0.9, 0.2]
    counts = [3, 7, 10, 6]
    assert len({sum([0.1] * n) / n for n in counts}) > 1
    cents = measured([[q, p] for q, p in zip(quality, [1, 1, 2, 1], strict=True)], counts, metrics=metrics)
    euros = [np.column_stack((table[:, 0], table[:, 1] / 10)) for table in cents]
    one, other = continued(cents, metrics=metrics, present=0.1), continued(euros, metrics=metrics, present=0.1)
    assert one.steps == other.steps
    assert one.steps[-1].right > 0.6


def test_options_with_few_measurements_come_first():
    tables = measured(FOUR, [1, 1, 9, 9])
    assert needed_first(PolicyChoice("doubt"), np.array([1, 1, 9, 9])) == 2
    assert needed_first(PolicyChoice("ege-sr"), np.array([1, 1, 9, 9])) == 2
    assert needed_first(PolicyChoice("apt", {"initial": 5}), np.array([1, 1, 9, 9])) == 8
    found = continued(tables, present=0.1, more=[2])
    assert found.steps[0].more == 2
    assert found.steps[0].shares == (0.5, 0.5, 0.0, 0.0)
    with pytest.raises(pp.InvalidInput, match=r"more=\[1\] must be .* 2 or more; options that were measured less .* get 2 first"):
        continued(tables, present=0.1, more=[1])


def test_rates_that_fall_by_chance_are_averaged():
    rising = module._rising
    assert rising(np.array([0.1, 0.2, 0.3])).tolist() == [0.1, 0.2, 0.3]
    assert rising(np.array([0.5, 0.3, 0.6, 0.5, 0.4])).tolist() == pytest.approx([0.4, 0.4, 0.5, 0.5, 0.5])
    rng = np.random.default_rng(0)
    for _ in range(50):
        rates = rng.random(12)
        found = rising(rates)
        assert (np.diff(found) >= 0).all()
        # The rising numbers that are nearest: the largest mean of a stretch that ends here or later, smallest over its starts.
        best = [max(min(rates[i : k + 1].mean() for k in range(j, 12)) for i in range(j + 1)) for j in range(12)]
        assert found.tolist() == pytest.approx(best)


def test_if_several_options_stay_open_it_is_not_one_pair_that_is_blamed_and_many_are_not_named():
    found = continued(measured(np.random.default_rng(3).normal(size=(30, 2)) * 0.3, 3), present=0.0)
    assert "95%: several options stay open, such as 'o" in found.next_step
    assert found.steps[-1].mostly == ()
    assert "mostly" not in found.next_step


def test_it_is_written_as_json_and_as_rows():
    found = continued(measured(FOUR, 6), present=0.2, used=40, more=[100, 300])
    record = found.to_dict()
    assert record["used"] == 40
    assert [row["more"] for row in found.rows()] == [100, 300]
    assert [row["budget"] for row in found.rows()] == [140, 340]
    assert {100, 300} < {step["more"] for step in record["steps"]}
    assert set(record["steps"][0]["shares"]) == {"o0", "o1", "o2", "o3"}
    assert str(found).startswith("The answer is right with 20% now, after 40 measurements.\n")
