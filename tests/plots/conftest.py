import pytest

from paretopick import plots


@pytest.fixture
def axes():
    with plots.look():
        _, (one,) = plots.new_figure(size=(4, 3))
    return one
