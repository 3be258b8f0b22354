"""The benchmark of pairing: its studies stop sooner where much is shared, its blocks are as it says, and its page says so."""

import numpy as np
import pairing
import pairing_page
import pytest
from populations import FRONTS, POPULATIONS, draw

pytestmark = pytest.mark.slow


@pytest.mark.long
def test_a_few_studies_make_the_page():
    jobs = [("few", 0, 0.8, paired) for paired in (False, True)] + [("skewed", 1, 0.8, paired) for paired in (False, True)]
    stopped = [row for job in jobs for row in pairing.stopped(job)]
    assert all(row.used is not None for row in stopped)
    judged = [row for kind in pairing.KINDS for row in pairing.judged(("few", 3, 0.8, kind))]
    text = pairing_page.page(stopped, judged, {name: told for name, (told, _) in (POPULATIONS | FRONTS).items()})
    assert "| **all together** |" in text
    assert "| 0.8 | drifting | 1 |" in text
    assert "*skewed*" in text


@pytest.mark.parametrize("kind", pairing.KINDS)
def test_measurements_in_the_same_block_share_the_part_that_is_said(kind):
    drawn = draw("independent", np.random.default_rng(1))
    blocks = pairing.Blocks(drawn, 0.6, kind, np.random.default_rng(2))
    values = np.array([[blocks.measure(arm, block)[0] for arm in (0, 1)] for block in range(6000)])
    assert np.corrcoef(values.T)[0, 1] == pytest.approx(0.6, abs=0.08)
    assert values.std(axis=0) == pytest.approx(1.0, abs=0.1)
    next_to_each_other = np.corrcoef(values[:-1, 0], values[1:, 0])[0, 1]
    assert next_to_each_other == pytest.approx(0.0 if kind == "random" else 0.95 * 0.6, abs=0.08)
