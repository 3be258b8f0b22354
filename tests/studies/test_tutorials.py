"""The tutorials do what they say: every file is written as shown, every command is run, every line of output is there.

The one in Python, which is also a notebook, is run by ``test_site.py``.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from building.pages import blocks_of, not_printed
from support.terminals import call

TUTORIALS = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.md"))
IN_PYTHON = "machine-learning-engineer"


EXAMPLES = {"prompts": ("answers.py", "prompts.py", "commands.toml")}
"""Files of tutorials that are examples, too."""


def test_there_is_a_tutorial_for_each_of_five_jobs():
    jobs = ["laboratory", "machine-learning-engineer", "performance-engineer", "plates", "prompts"]
    assert [path.stem for path in TUTORIALS] == jobs


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_files_of_a_tutorial_are_those_of_its_example(name):
    (page,) = (path.read_text() for path in TUTORIALS if path.stem == name)
    shown = {block.name: block.content for block in blocks_of(page)}
    folder = Path(__file__).parents[2] / "examples" / name
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == sorted(EXAMPLES[name])
    for file in EXAMPLES[name]:
        assert shown[file] == (folder / file).read_text(), file


@pytest.mark.sample(4)  # `make docs` follows them all, too
@pytest.mark.parametrize("tutorial", [path for path in TUTORIALS if path.stem != IN_PYTHON], ids=lambda path: path.stem)
def test_a_tutorial_can_be_followed_word_by_word(tutorial, tmp_path, server):
    output = None
    kinds = []
    for block in blocks_of(tutorial.read_text()):
        kinds.append(block.kind)
        if block.name:
            (tmp_path / block.name).write_text(block.content)
        elif block.kind == "sh":
            output = typed(block.content, tmp_path, server)
        elif block.kind != "prose":
            assert block.kind == "text"
            assert not_printed(block.content, output) == [], output
    assert kinds.count("sh") >= 3
    assert kinds.count("text") >= 3


def typed(content: str, folder: Path, server) -> str:
    """What is printed when a block is typed: in this process where it is nothing but our commands, else in a shell."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    lines = content.replace("\\\n", " ").splitlines()
    if all(re.fullmatch(r"paretopick [^|&;<>$]*", line) for line in lines):
        results = [call(*shlex.split(line, comments=True)[1:], cwd=folder, PATH=path) for line in lines]
        assert [result.returncode for result in results] == [0] * len(lines), f"{content}\n{results}"
        return "".join(result.stdout for result in results)
    environment = {
        key: value for key, value in os.environ.items() if key not in ("PARETOPICK_STORAGE", "PYTHONDONTWRITEBYTECODE")
    }
    environment |= {"PATH": path, "DATABASE": server.new_database()}
    shell = ["bash", "-euo", "pipefail", "-c", content]
    done = subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{content}\n{done.stdout}\n{done.stderr}"
    return done.stdout
