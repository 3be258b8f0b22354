import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import paretopick as pp


def test_importing_the_package_loads_numpy_and_nothing_heavier():
    code = "import sys, paretopick; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())
    assert "numpy" in loaded
    assert not loaded & {
        "scipy",
        "moocore",
        "typer",
        "rich",
        "pandas",
        "click",
        "matplotlib",
        "numba",
        "cffi",
        "sqlalchemy",
        "alembic",
        "IPython",
        "pyarrow",
    }


def test_help_opens_with_an_example():
    opening = inspect.getdoc(pp)[:1000]
    assert ">>> import paretopick as pp" in opening
    assert ">>> result = pp.identify(" in opening


@pytest.mark.parametrize("name", pp.__all__)
def test_every_public_name_has_an_example(name):
    named = getattr(pp, name)
    if isinstance(named, dict):  # whose own text is that of all dicts
        assert f">>> list(pp.{name})" in inspect.getdoc(pp)
    else:
        assert re.search(r"^ *>>> |::\n\n +\S", inspect.getdoc(named), re.MULTILINE)


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert pp.__version__ == project["version"]


def test_the_package_says_that_it_is_typed():
    assert Path(pp.__file__).with_name("py.typed").exists()


def test_all_errors_are_ours_and_the_builtin_a_user_would_catch():
    for error, builtin in [
        (pp.InvalidInput, ValueError),
        (pp.BudgetTooSmall, ValueError),
        (pp.UnknownName, KeyError),
        (pp.UnknownName, ValueError),
        (pp.NotDue, ValueError),
        (pp.PolicyDone, RuntimeError),
        (pp.NotReady, RuntimeError),
        (pp.MissingFile, FileNotFoundError),
        (pp.AlreadyTold, ValueError),
        (pp.StorageFailed, OSError),
        (pp.MeasuringFailed, RuntimeError),
    ]:
        assert issubclass(error, builtin)
        assert issubclass(error, pp.ParetopickError)


def test_an_error_survives_the_way_between_processes():
    import pickle

    with pytest.raises(pp.BudgetTooSmall) as refusal:
        pp.schedule("sh", 206, 1000)
    copy = pickle.loads(pickle.dumps(refusal.value))
    assert copy.smallest == 1648
    assert str(copy) == str(refusal.value)


def test_a_message_is_not_in_quotes_though_the_error_is_a_key_error():
    with pytest.raises(pp.UnknownName) as refusal:
        pp.instance("covboost")
    assert str(refusal.value) == "no instance named 'covboost'; did you mean 'cov-boost'?"
