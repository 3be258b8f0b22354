"""docs/identify.md: its examples run, and the lines that it counts are as many as it says."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "identify.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def lines_of(block):
    """Lines of code, without empty ones."""
    return sum(bool(line.strip()) for line in block.splitlines())


@pytest.mark.slow
def test_the_examples_of_the_page_about_identify_run_and_agree_with_optuna(tmp_path, monkeypatch, capsys):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    monkeypatch.chdir(tmp_path)
    names = {}
    for place, block in enumerate(BLOCKS):
        exec(compile(block, f"identify.md, block {place + 1}", "exec"), names)
    assert sorted(names["front"]) == list(names["found"].pareto) == [1, 3, 6, 9]
    assert "Pareto-optimal: 1, 3, 6, 9" in capsys.readouterr().out


def test_the_lines_that_optuna_takes_are_counted_right():
    theirs, ours = BLOCKS[-2:]
    assert "optuna" in theirs
    without_imports = re.sub(r"(?m)^import .*\n", "", theirs)
    assert f"That is {lines_of(without_imports)} lines against {lines_of(ours)}, without imports" in PAGE
