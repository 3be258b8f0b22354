"""What is released: a source distribution, a wheel made of it, and what is installed of that where nothing else of ours is."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from support.lowest import lowest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

JOB = """
import paretopick as pp

prices = {"a": 3.0, "b": 2.0, "c": 2.5}
quality = {"a": 9.0, "b": 5.0, "c": 4.0}
metrics = {"quality": "max", "price": "min"}
result = pp.identify(lambda option: (quality[option], prices[option]), list(prices), metrics, 30, storage="study.db")
print(pp.__file__, pp.__version__, *result.pareto, sep="\\n")
"""


def said_by(*command: str | Path, **how: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **how).stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of a source distribution and of the wheel that was made of it."""
    folder = tmp_path_factory.mktemp("dist")
    said_by(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.mark.slow
def test_the_source_distribution_has_all_that_is_kept_and_nothing_else(built):
    if not (ROOT / ".git").exists():
        pytest.skip("only where the files are kept is known which these are")
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {member.name.partition("/")[2] for member in packed if member.isfile()}
    kept = said_by("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).splitlines()
    assert names == {name for name in kept if not name.startswith(".ci/") and (ROOT / name).exists()} | {"PKG-INFO"}


@pytest.mark.slow
def test_the_wheel_has_all_of_the_package_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    source = ROOT / "src"
    ours = (path for path in (source / "paretopick").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert names == {path.relative_to(source).as_posix() for path in ours}


@pytest.mark.slow
def test_what_is_installed_works_from_anywhere(built, tmp_path):
    """The package alone is installed; what it needs is where the tests have it."""
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "clean")
    python = tmp_path / "clean" / "bin" / "python"
    said_by(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--no-compile", wheel)
    packages = Path(said_by(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib"))  # whose own .pth files, that of this source, do not count
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PARETOPICK"))}
    file, version, *pareto = said_by(python, "-c", JOB, cwd=elsewhere, env=bare).splitlines()
    assert Path(file).is_relative_to(packages)
    assert (version, pareto) == (PROJECT["version"], ["a", "b"])
    command = python.with_name("paretopick")
    assert said_by(command, "--version", cwd=elsewhere, env=bare) == f"paretopick {version}\n"
    assert "Found Pareto-optimal: " in said_by(command, "demo", "--policy", "ege-sr", cwd=elsewhere, env=bare)
    assert "30 of 30" in said_by(command, "status", "study", "--storage", "study.db", cwd=elsewhere, env=bare)


def test_the_pythons_that_are_named_are_those_that_are_allowed():
    named = {
        text.rpartition(" ")[2] for text in PROJECT["classifiers"] if text.startswith("Programming Language :: Python :: 3.")
    }
    assert PROJECT["requires-python"] == f">={min(named, key=lambda text: int(text[2:]))}"


def test_every_dependency_has_a_lowest_version():
    needed = [*PROJECT["dependencies"], *(each for extra in PROJECT["optional-dependencies"].values() for each in extra)]
    assert len(lowest(PROJECT)) == len({each.partition(">=")[0].partition("[")[0] for each in needed})
