"""Claims about error rates: who is better than whom (claims 1 to 4, and 9)."""

from __future__ import annotations

from paretopick.paper.catalogue import CATALOGUE, MAIN, MORE
from paretopick.paper.contestants import ADAPT, ADAPT_PUBLISHED, APE_FB, EGE_SH, EGE_SR, UNIFORM, Panel
from paretopick.paper.curves import BestArmFigure
from paretopick.paper.entries import rate_and_interval
from paretopick.paper.evidence import Evidence
from paretopick.paper.judging import (
    FAILS,
    HOLDS,
    MUCH,
    OPEN,
    Claim,
    Finding,
    Part,
    Verdict,
    any_of,
    better,
    compare,
    missing,
    odds,
    shown,
    together,
)

MANY_ARMS = 50
"""How many arms are many."""


def order(evidence: Evidence) -> Claim:
    """EGE against uniform allocation, and EGE-SR against EGE-SH (claim 1)."""
    ahead = [better(evidence, name, one, UNIFORM) for name in MAIN for one in (EGE_SR, EGE_SH)]
    many = [name for name in MAIN if evidence.has(name) and evidence.bandit(name).n_arms >= MANY_ARMS]
    clearly = [better(evidence, name, one, UNIFORM, MUCH) for name in many for one in (EGE_SR, EGE_SH)]
    largely = [better(evidence, name, one, UNIFORM, MUCH) for name in MAIN for one in (EGE_SR, EGE_SH)]
    elsewhere = [better(evidence, name, one, UNIFORM) for name in MORE for one in (EGE_SR, EGE_SH)]
    return Claim(
        1,
        "On every instance of Section 6 both EGE-SR and EGE-SH are better than uniform allocation, clearly so with many arms or "
        "a complex front; there is no clear order between the two.",
        (
            Part("EGE-SR and EGE-SH are better than UA on every instance of Section 6", tuple(ahead)),
            Part(f"with {MANY_ARMS} arms or more, both are much better than UA", tuple(clearly)),
            Part("neither EGE-SR nor EGE-SH is better everywhere", (_no_order(evidence),)),
            Part("both are much better than UA on every instance of Section 6", tuple(largely), counts=False),
            Part("both are better than UA in Experiments 5 to 8", tuple(elsewhere), counts=False),
        ),
    )


def _no_order(evidence: Evidence) -> Finding:
    winners: dict[str, list[str]] = {EGE_SR.label: [], EGE_SH.label: []}
    known = 0
    for name in MAIN:
        first, second = evidence.final(name, EGE_SR), evidence.final(name, EGE_SH)
        if first and second:
            known += 1
            verdict = compare(first, second)
            if verdict != OPEN:
                winners[EGE_SR.label if verdict == HOLDS else EGE_SH.label].append(name)
    if not known:
        return missing("EGE-SR and EGE-SH", evidence)
    text = "; ".join(f"{label} is better on {', '.join(names) or 'none'}" for label, names in winners.items())
    everywhere = any(len(names) == len(MAIN) for names in winners.values())
    return Finding(text, HOLDS if all(winners.values()) else FAILS if everywhere else OPEN)


def oracle(evidence: Evidence) -> Claim:
    """APE-FB that is told how hard the problem is (claim 2)."""
    parts = []
    scales: dict[Panel, str] = {"drawn": "with 9 c, as the paper's curves", "text": "with c as in the paper's text"}
    for panel, scale in scales.items():
        counts = panel == "drawn"
        alike = f"{scale}: the odds of an error with c = 1 are at most {MUCH} times those of the worse of EGE-SR and EGE-SH"
        parts.append(Part(alike, tuple(_competes(evidence, name, panel) for name in MAIN), counts))
        fragile = f"{scale}: c = 1 is much better than c = 1/10 or c = 10 on some instance"
        parts.append(Part(fragile, (_fragile(evidence, panel),), counts))
    return Claim(
        2,
        "APE-FB with the oracle's exploration (c = 1) competes with EGE; it is not robust: c = 1/10 or c = 10 can be much worse.",
        tuple(parts),
        remark="The paper's curves labelled c were drawn with 9 c (bonuses of sqrt(c (T - K) / (H N_i))), so that is what its "
        "claim is judged by.",
    )


def _competes(evidence: Evidence, name: str, panel: Panel) -> Finding:
    ours = evidence.final(name, APE_FB[panel]["1"])
    first, second = evidence.final(name, EGE_SR), evidence.final(name, EGE_SH)
    if not ours or not first or not second:
        return missing(f"{name}, APE-FB and EGE", evidence, name)
    worse = max(first, second, key=lambda point: float(point.curve.rate[0]))
    (_, low, high), (_, other_low, other_high) = rate_and_interval(ours), rate_and_interval(worse)
    verdict = HOLDS if odds(high) <= MUCH * odds(other_low) else FAILS if odds(low) > MUCH * odds(other_high) else OPEN
    return Finding(f"{name}: APE-FB {shown(ours)}, EGE-SR {shown(first)}, EGE-SH {shown(second)}", verdict)


def _fragile(evidence: Evidence, panel: Panel) -> Finding:
    much_worse: list[str] = []
    verdicts: list[Verdict] = []
    for name in MAIN:
        oracle = evidence.final(name, APE_FB[panel]["1"])
        for c in ("1/10", "10"):
            other = evidence.final(name, APE_FB[panel][c])
            if not oracle or not other:
                continue
            verdicts.append(compare(oracle, other, MUCH))
            if verdicts[-1] == HOLDS:
                much_worse.append(f"{name} c = {c} ({other.curve.rate[0]:.3f} against {oracle.curve.rate[0]:.3f})")
    if not verdicts:
        return missing("APE-FB", evidence)
    return Finding("much worse: " + (", ".join(much_worse) or "none"), any_of(verdicts))


def adaptive(evidence: Evidence) -> Claim:
    """APE-FB that estimates it (claim 3)."""
    fails = tuple(_fails_badly(evidence, name) for name in MAIN)
    corrected = tuple(better(evidence, name, ADAPT, UNIFORM) for name in MAIN)
    return Claim(
        3,
        "APE-FB-ADAPT fails badly.",
        (
            Part("as published, it is wrong more often than right, and nowhere seen to be better than UA", fails),
            Part("corrected, it is better than UA on every instance of Section 6", corrected, counts=False),
        ),
        remark="As published, only the pulled arm's bonus is refreshed, so that two or three arms absorb the budget.",
    )


def _fails_badly(evidence: Evidence, name: str) -> Finding:
    published, uniform = evidence.final(name, ADAPT_PUBLISHED), evidence.final(name, UNIFORM)
    if published is None or uniform is None:
        return missing(f"{name}, APE-FB-ADAPT and UA", evidence, name)
    _, low, high = rate_and_interval(published)
    verdict = FAILS if high < 0.5 or compare(published, uniform) == HOLDS else HOLDS if low > 0.5 else OPEN
    return Finding(f"{name}: as published {shown(published)}, UA {shown(uniform)}", verdict)


def equal_gaps(evidence: Evidence) -> Claim:
    """Four policies where all gaps are equal (claim 4)."""
    name = "equal-gaps"
    oracle = APE_FB["drawn"]["1"]
    much = tuple(better(evidence, name, one, other, MUCH) for one in (EGE_SR, oracle) for other in (UNIFORM, EGE_SH))
    text = tuple(better(evidence, name, APE_FB["text"]["1"], other, MUCH) for other in (UNIFORM, EGE_SH))
    return Claim(
        4,
        "Where all gaps are equal (Experiment 7), UA is slightly better than EGE-SH, and EGE-SR and APE-FB are much better than "
        "both.",
        (
            Part("UA is better than EGE-SH", (better(evidence, name, UNIFORM, EGE_SH),)),
            Part("EGE-SR and APE-FB (9 c, c = 1) are much better than both", much),
            Part("UA is better than EGE-SH only slightly, that is, not much better", (_slightly(evidence, name),), counts=False),
            Part("APE-FB with c = 1 as in the paper's text is much better than both", text, counts=False),
        ),
    )


def _slightly(evidence: Evidence, name: str) -> Finding:
    much = better(evidence, name, UNIFORM, EGE_SH, MUCH)
    opposite: dict[Verdict, Verdict] = {HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}
    return Finding(much.text, opposite[much.verdict], much.run)


def best_arm(evidence: Evidence) -> Claim:
    """Uniform allocation against Sequential Halving in one objective (claim 9)."""
    first, last = (_by_budget(evidence, best) for best in ("first", "last"))
    both = {budget: together((first[budget].verdict, last[budget].verdict)) for budget in first}
    return Claim(
        9,
        "One objective, Bernoulli 0.7 against seven arms at 0.4: uniform allocation is slightly better than Sequential Halving.",
        (
            Part("UA is better at every budget if the best arm stands first, where ties at a cut keep it", tuple(first.values())),
            Part("UA is better at every budget if the best arm stands last, where they do not", tuple(last.values())),
            Part("UA is better from some budget on, wherever the best arm stands", (_from_some_budget_on(both),), counts=False),
        ),
        remark="Ties matter here. Whoever shares the best mean in the end is returned, by both policies, and that is an error; "
        "at the cuts of EGE-SH before that, the arm with the smaller number stays.",
    )


def _by_budget(evidence: Evidence, best: str) -> dict[int, Finding]:
    entry = CATALOGUE["best-arm"]
    assert isinstance(entry, BestArmFigure)
    ours, halving = ({point.budget: point for point in evidence.points(entry.ordered(one, best))} for one in (UNIFORM, EGE_SH))
    findings = {}
    for budget in entry.budgets:
        if budget not in ours or budget not in halving:
            findings[budget] = missing(f"T = {budget}", evidence)
            continue
        a, b = ours[budget], halving[budget]
        findings[budget] = Finding(f"T = {budget}: UA {shown(a)}, EGE-SH {shown(b)}", compare(a, b))
    return findings


def _from_some_budget_on(verdicts: dict[int, Verdict]) -> Finding:
    """The last budget must be decided; from which one on it stays so is said."""
    largest = max(verdicts)
    if verdicts[largest] != HOLDS:
        return Finding(f"not at T = {largest}, the largest", verdicts[largest])
    start = max([0, *(budget for budget, verdict in verdicts.items() if verdict != HOLDS)])
    return Finding(f"at all budgets above T = {start}", HOLDS)
