"""The functions of normal variables that policies call too: compiled for the kernels, so that both compute the same numbers."""

from __future__ import annotations

from paretopick._normals import clipped, deviation_of, either_way, exp_of_minus, log_of, sign_of, tail_factors, value_of
from paretopick.simulation.kernels.array_functions import compiled_too

__all__ = ["clipped", "deviation_of", "either_way", "sign_of", "value_of"]

for _function in (clipped, either_way, exp_of_minus, tail_factors, log_of, deviation_of, sign_of, value_of):
    compiled_too(_function)
