"""Data that exist before the first run: what all runs start from when the continuation of a study is simulated."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from paretopick._arrays import FloatArray, check_numbers, check_table, frozen
from paretopick._words import short
from paretopick.bandits import Bandit
from paretopick.errors import InvalidInput
from paretopick.policies.base import Policy


@dataclass(frozen=True)
class Known:
    """Pulls of each arm, the sums of what they gave, and of the squares of its deviations from its means; read-only arrays."""

    counts: FloatArray = field(compare=False)
    sums: FloatArray = field(compare=False)
    squares: FloatArray | None = field(compare=False)
    digest: str
    """A short text that is equal for equal data, and for no others."""

    def divided_by(self, scale: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
        """Returns sums and squares of values that are divided so."""
        if scale is None:
            return self.sums.copy(), self.squares
        return self.sums / scale, None if self.squares is None else self.squares / scale**2

    def begin(self, player: Policy, scale: FloatArray | None) -> None:
        """Lets a fresh policy start from these data as it would see them; where the scale has 0 it divides them itself."""
        if scale is not None and not scale.all():
            player.rescale(scale)
            scale = None
        player.begin(self.counts, *self.divided_by(scale))


def check_known(known: Sequence[ArrayLike | None] | None, bandit: Bandit) -> Known | None:
    """Returns a copy of the data, or None; refuses what does not fit the bandit. What fits the policy is for its ``begin``."""
    if known is None:
        return None
    if not isinstance(known, tuple | list) or len(known) not in (2, 3):
        raise InvalidInput(
            f"known={short(known)} is not (counts, sums) or (counts, sums, squares): the pulls of each arm, the sums of what "
            "they gave, and of the squared deviations from its means."
        )
    arrays = {"counts": check_numbers(known[0], "counts"), "sums": check_table(known[1], "sums", columns=bandit.n_objectives)}
    if len(known) == 3 and known[2] is not None:
        arrays["squares"] = check_table(known[2], "squares", columns=bandit.n_objectives)
    for name, array in arrays.items():
        if array.shape[:1] != (bandit.n_arms,):
            raise InvalidInput(f"{name} of known= has shape {array.shape}; expected {bandit.n_arms} rows, one for each arm.")
        frozen(array)
    content = b"|".join(str(array.shape).encode() + (array + 0.0).tobytes() for array in arrays.values())  # -0.0 is 0.0
    return Known(arrays["counts"], arrays["sums"], arrays.get("squares"), hashlib.sha256(content).hexdigest()[:16])
