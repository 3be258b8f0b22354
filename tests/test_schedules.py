import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretopick as pp
from paretopick import schedules
from support import oracle

NAMES = sorted(pp.SCHEDULES)
ORACLE = {"sr": oracle.sr, "sh": oracle.sh, "gg": oracle.gg, "uniform": oracle.uniform}


def budgets_around(smallest: int, n_arms: int) -> list[int]:
    """Just enough, a little more, and multiples at which floors and ceilings are on the edge."""
    return sorted(
        {smallest, smallest + 1, 2 * smallest, 2 * smallest - 1, 7 * smallest + 3, 12 * n_arms * n_arms, 123_457 + n_arms}
    )


def is_valid(rounds: pp.Schedule, n_arms: int, budget: int) -> bool:
    return (
        rounds.active[0] == n_arms
        and all(after < before for before, after in itertools.pairwise(rounds.active))
        and rounds.active[-1] in (0, 1)
        and all(t >= 0 for t in rounds.pulls)
        and (not rounds.pulls or rounds.pulls[0] >= 1)
        and sum(n * t for n, t in zip(rounds.active, rounds.pulls, strict=False)) <= budget
        and all(type(number) is int for number in (*rounds.active, *rounds.pulls))
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_schedule_for_up_to_300_arms_is_valid_and_exactly_the_printed_one(name):
    for n_arms in range(1, 301):
        smallest = pp.smallest_budget(name, n_arms)
        for budget in budgets_around(max(1, smallest), n_arms):
            rounds = pp.schedule(name, n_arms, budget)
            assert is_valid(rounds, n_arms, budget)
            assert (rounds.active, rounds.pulls) == ORACLE[name](n_arms, budget)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_budget_one_too_small_is_refused_with_the_smallest_that_works(name):
    for n_arms in range(1, 301):
        smallest = pp.smallest_budget(name, n_arms)
        pp.schedule(name, n_arms, smallest)
        if smallest == 0:
            assert n_arms == 1
            continue
        for budget in {smallest - 1, smallest // 2, 0}:
            with pytest.raises(pp.BudgetTooSmall, match=f"raise budget={budget} to at least {smallest}") as refusal:
                pp.schedule(name, n_arms, budget)
            assert refusal.value.smallest == smallest


def test_the_smallest_budgets_are_those_of_the_formulas():
    for n_arms in range(2, 301):
        halvings = (n_arms - 1).bit_length()
        assert pp.smallest_budget("sr", n_arms) == n_arms + 1
        assert pp.smallest_budget("sh", n_arms) == n_arms * halvings
        assert pp.smallest_budget("gg", n_arms) == n_arms * halvings
        assert pp.smallest_budget("uniform", n_arms) == n_arms


def test_the_message_for_206_arms():
    with pytest.raises(
        ValueError,
        match=r"round 1 pulls each of the 206 arms 0 times.*raise budget=1000 to at least 1648",
    ):
        pp.schedule("sh", 206, 1000)
    with pytest.raises(ValueError, match="raise budget=206 to at least 207"):
        pp.schedule("sr", 206, 206)


@pytest.mark.parametrize("name", NAMES)
def test_smallest_budget_equals_a_linear_search(name):
    for n_arms in (*range(1, 12), 40):
        assert pp.smallest_budget(name, n_arms) == oracle.smallest_budget(ORACLE[name], n_arms)


@pytest.mark.parametrize("n_rounds", [1, 2, 3, 4, 7, 12])
def test_gg_with_any_number_of_rounds(n_rounds):
    for n_arms in (1, 2, 3, 4, 8, 9, 10, 20, 27, 100, 125, 300):
        for budget in budgets_around(n_rounds * n_arms, n_arms):
            rounds = pp.schedule("gg", n_arms, budget, n_rounds=n_rounds)
            assert is_valid(rounds, n_arms, budget)
            assert (rounds.active, rounds.pulls) == oracle.gg(n_arms, budget, n_rounds)


def test_gg_with_very_many_rounds_is_exact_and_does_not_hang():
    K, T, R = 50, 10**6, 600
    rounds = pp.schedule("gg", K, T, n_rounds=R)
    assert rounds.active == tuple(range(K, 0, -1))
    # Several rounds with all 50 arms are one here; of the last of them, (n R)^R K^e <= T^R decides exactly.
    last = max(r for r in range(1, R + 1) if K ** (R + 1 - r) >= K**R)
    n = rounds.cumulative[0]
    assert (n * R) ** R * K ** (R + 1 - last) <= T**R < ((n + 1) * R) ** R * K ** (R + 1 - last)


def test_gg_with_exact_roots_is_not_one_off():
    assert pp.schedule("gg", 1000, 30_000, n_rounds=3).active == (1000, 100, 10, 1)  # 1000 ** (1 / 3) is 9.999...
    assert pp.schedule("gg", 1000, 30_000, n_rounds=3).cumulative == (10, 100, 1000)
    assert pp.schedule("gg", 243, 50_000, n_rounds=5).active == (243, 81, 27, 9, 3, 1)


def test_gg_merges_rounds_that_remove_nobody():
    # Printed: 20, 10, 6, 3, 1, 1; the last round is dropped.
    assert pp.schedule("gg", 20, 1000, n_rounds=5).active == (20, 10, 6, 3, 1)
    # With twelve rounds for five arms several do nothing, and their pulls go to the next that does something.
    merged = pp.schedule("gg", 5, 6000, n_rounds=12)
    assert merged.active == (5, 4, 3, 2, 1)
    assert merged.cumulative == tuple(oracle_cumulative_of_gg(5, 6000, 12, active) for active in (5, 4, 3, 2))


def oracle_cumulative_of_gg(K: int, T: int, R: int, active: int) -> int:
    """``n_r`` of the last round in which so many arms are active, from the definition with rational comparisons."""
    last = max(r for r in range(1, R + 1) if floor_power(K, R + 1 - r, R) == active)
    return max(n for n in range(T + 1) if Fraction(n * R, T) ** R * K ** (R + 1 - last) <= 1)


def floor_power(K: int, numerator: int, denominator: int) -> int:
    """``floor(K^(numerator / denominator))`` by search."""
    return max(x for x in range(K + 1) if x**denominator <= K**numerator)


@pytest.mark.parametrize("name", NAMES)
def test_spending_all_is_the_schedule_printed_for_the_largest_nominal_budget_that_fits(name):
    for n_arms in (1, 2, 3, 5, 8, 13, 20):
        smallest = pp.smallest_budget(name, n_arms, spend="all")
        for budget in range(smallest, smallest + 60):
            rounds = pp.schedule(name, n_arms, budget, spend="all")
            assert is_valid(rounds, n_arms, budget)
            assert (rounds.active, rounds.pulls) == oracle.spend_all(ORACLE[name], n_arms, budget)


@pytest.mark.parametrize("name", NAMES)
def test_spending_all_never_spends_less_and_leaves_little(name):
    for n_arms in (2, 7, 20, 206):
        for budget in (40 * n_arms, 101 * n_arms + 1):
            printed, everything = pp.schedule(name, n_arms, budget), pp.schedule(name, n_arms, budget, spend="all")
            assert printed.cost <= everything.cost <= budget
            assert budget - everything.cost < n_arms


@pytest.mark.parametrize("name", NAMES)
def test_spending_all_is_refused_below_its_own_smallest_budget(name):
    for n_arms in (2, 3, 10, 206):
        smallest = pp.smallest_budget(name, n_arms, spend="all")
        assert smallest <= pp.smallest_budget(name, n_arms)
        assert pp.schedule(name, n_arms, smallest, spend="all").cost == smallest
        with pytest.raises(pp.BudgetTooSmall, match=f"to at least {smallest}"):
            pp.schedule(name, n_arms, smallest - 1, spend="all")


def test_one_arm_needs_no_rounds_and_two_are_one_duel():
    assert pp.schedule("sr", 1, 0) == pp.schedule("sh", 1, 7) == pp.schedule("gg", 1, 7) == pp.Schedule((1,), ())
    assert pp.schedule("uniform", 1, 7) == pp.Schedule((1, 0), (7,))
    assert pp.schedule("sr", 2, 10) == pp.Schedule((2, 1), (4,))  # ceil((10 - 2) / (1 * 2))


def test_a_large_schedule_is_exact_too():
    """The one division that all rounds of sr share, checked against the definition at a size where floats go wrong."""
    n_arms, budget = 2000, 2000 + 10**15
    log_bar = Fraction(1, 2) + sum((Fraction(1, i) for i in range(2, n_arms + 1)), Fraction(0))
    rounds = pp.schedule("sr", n_arms, budget)
    for r in (1, 2, 777, 1500, 1999):
        exact = (budget - n_arms) / (log_bar * (n_arms + 1 - r))
        assert rounds.cumulative[r - 1] == -(-exact.numerator // exact.denominator)


@given(st.integers(0, 10**40), st.integers(1, 60))
def test_integer_roots_are_exact(x, degree):
    root = schedules._root(x, degree)
    assert root**degree <= x < (root + 1) ** degree


@given(st.sampled_from(NAMES), st.integers(1, 60), st.integers(0, 5000))
def test_the_cost_grows_with_the_budget(name, n_arms, budget):
    make = pp.SCHEDULES[name]
    assert schedules._cost(*make(n_arms, budget, None)) <= schedules._cost(*make(n_arms, budget + 1, None))


def test_a_custom_schedule_knows_its_size():
    custom = pp.Schedule(active=[20, 10, 1], pulls=[5, 0])
    assert (custom.active, custom.pulls) == ((20, 10, 1), (5, 0))
    assert (custom.n_arms, custom.n_rounds, custom.cumulative, custom.cost) == (20, 2, (5, 5), 100)


@pytest.mark.parametrize(
    "active, pulls, message",
    [
        ((20, 10, 1), (5,), "active has 3 entries and pulls has 1; active needs one more"),
        ((20, 20, 1), (5, 5), "goes from 20 to 20; every round must remove an arm"),
        ((20, 10, 2), (5, 5), "ends with 2 arms; it must end with 0 or 1"),
        ((20, 1), (0,), "round 1 pulls each of the 20 arms 0 times"),
        ((20, 1), (-1,), r"pulls\[0\]=-1 is too small"),
        ((20, 1), (2.5,), r"pulls\[0\]=2.5 is not an int; pass a whole number, such as 2"),
        ((20, 1), (True,), r"pulls\[0\]=True is a truth value"),
        ((0,), (), "active starts with 0 arms"),
        ((), (), "active has 0 entries"),
        (5, 3, "active=5 is not a list"),
        (("a", 1), (1,), r"active\[0\]='a' is not an int"),
    ],
)
def test_an_impossible_custom_schedule_is_refused(active, pulls, message):
    with pytest.raises(ValueError, match=message):
        pp.Schedule(active=active, pulls=pulls)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: pp.schedule("rs", 5, 100), "no schedule named 'rs'"),
        (lambda: pp.schedule("SR", 5, 100), "no schedule named 'SR'; did you mean 'sr'"),
        (lambda: pp.schedule("sr", 0, 100), "n_arms=0 is too small; it must be at least 1"),
        (lambda: pp.schedule("sr", 5, -1), "budget=-1 is too small"),
        (lambda: pp.schedule("sr", 5, 100.5), "budget=100.5 is not an int"),
        (lambda: pp.schedule("sr", 5, 100, spend="most"), "no way to spend named 'most'; there is 'printed', 'all'"),
        (lambda: pp.smallest_budget("sr", 5, spend="most"), "no way to spend named 'most'"),
        (lambda: pp.schedule("sr", 5, 100, n_rounds=2), "n_rounds=2 goes with the schedule 'gg' only"),
        (lambda: pp.schedule("gg", 5, 100, n_rounds=0), "n_rounds=0 is too small"),
    ],
)
def test_bad_input_is_shown(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_an_unknown_name_is_also_a_failed_look_up():
    with pytest.raises(KeyError):
        pp.schedule("rs", 5, 100)
