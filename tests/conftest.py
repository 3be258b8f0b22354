"""Settings and fixtures shared by all tests."""

import os
import signal
from collections import Counter
from pathlib import Path

import hypothesis
import numpy as np
import pytest

# The same examples on every machine and every time; no deadline, since machines are noisy.
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=100)
hypothesis.settings.load_profile("fixed")

# Tests that run in the background ignore Ctrl-C as they come, and so would all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SNW_CANDIDATES = (os.environ.get("PARETOPICK_SNW", ""), str(Path(__file__).parents[2] / "shared" / "data" / "snw.csv"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs the PostgreSQL server is slow by itself; of the cases of a sample, all but every n-th are long."""
    cases: Counter[str] = Counter()
    for item in items:
        if "server" in getattr(item, "fixturenames", ()) or "postgresql" in item.name:
            item.add_marker(pytest.mark.slow)
        if (sample := item.get_closest_marker("sample")) is not None:
            test = item.nodeid.partition("[")[0]
            if cases[test] % sample.args[0]:
                item.add_marker(pytest.mark.long)
            cases[test] += 1


@pytest.fixture(scope="session")
def snw_path() -> str:
    """The file of the sorting networks, which may not be shipped: where the variable says, or beside the repository."""
    for candidate in filter(None, SNW_CANDIDATES):
        if Path(candidate).is_file():
            return candidate
    pytest.skip("the sorting networks are not on this machine; name their file in PARETOPICK_SNW to run this test")


@pytest.fixture(autouse=True)
def _no_global_randomness():
    """Nothing may touch NumPy's global generator."""
    before = np.random.get_state()[1].copy()  # noqa: NPY002 -- this is what must not change
    yield
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
