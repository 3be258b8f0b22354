"""The paper's guarantees as functions: upper bounds on the error of each algorithm, and the lower bound for any algorithm.

Bounds are returned as they are, above 1 too: they are loose by design, since they hold for every instance with the same H2, and
say how the error falls with the budget rather than what it is. For the error itself, simulate.

>>> round(ege_sr([[0.9], [0.5], [0.1]], 5_000, sigma=0.5), 4)
0.0019
"""

from paretopick.theory.bounds.lower import alternatives, in_class_b, in_class_b_prime, lower_bound
from paretopick.theory.bounds.upper import (
    ape_fb,
    apt,
    ege,
    ege_gg,
    ege_sh,
    ege_sr,
    ege_sr_k,
    ege_sr_k_pulls,
    ege_sr_k_rounds,
    largest_exploration,
    log_bar,
    uniform,
)

__all__ = [
    "alternatives",
    "ape_fb",
    "apt",
    "ege",
    "ege_gg",
    "ege_sh",
    "ege_sr",
    "ege_sr_k",
    "ege_sr_k_pulls",
    "ege_sr_k_rounds",
    "in_class_b",
    "in_class_b_prime",
    "largest_exploration",
    "log_bar",
    "lower_bound",
    "uniform",
]
