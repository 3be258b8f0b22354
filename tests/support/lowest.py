"""Prints the lowest versions of what the package needs that pyproject.toml allows, as constraints for pip: ``make lowest``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

LOWEST = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(\[.*?\])?>=(?P<version>[0-9.]+)")


def lowest(project: dict) -> list[str]:
    """Returns a constraint for each dependency, those of the extras included; each must have a lower bound."""
    extras = [needed for extra in project.get("optional-dependencies", {}).values() for needed in extra]
    found = [LOWEST.match(needed) or needed for needed in (*project["dependencies"], *extras)]
    if unbound := [needed for needed in found if isinstance(needed, str)]:
        raise SystemExit(f"pyproject.toml has no lower bound for {', '.join(unbound)}")
    return sorted({f"{bound['name']}=={bound['version']}" for bound in found})


if __name__ == "__main__":
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    print(*lowest(tomllib.loads(pyproject.read_text())["project"]), sep="\n")
