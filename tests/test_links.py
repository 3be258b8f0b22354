"""Links between the documents lead to files and headings that exist, wherever the files are looked at one by one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/SOAK.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(text: str) -> str:
    """A page without its code, in which brackets mean something else."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(text: str) -> set[str]:
    """What the headings of a page are called in links, as GitHub and the site call them."""
    names: list[str] = []
    for title in re.findall(r"^#+ (.*)$", re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE):
        name = re.sub(r"[^\w -]", "", title.strip().lower()).replace(" ", "-")
        names.append(f"{name}-{before}" if (before := names.count(name)) else name)
    return set(names)


def leading_nowhere(page: Path) -> list[str]:
    """The links of a page that lead to no file, or to no heading of it."""
    nowhere = []
    for link in LINK.findall(prose(page.read_text(encoding="utf-8"))):
        file, _, heading = link.partition("#")
        target = page.parent / file if file else page
        if re.match(r"\w+:", link):
            continue
        if not target.exists() or (heading and heading not in anchors(target.read_text(encoding="utf-8"))):
            nowhere.append(link)
    return nowhere


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page):
    assert leading_nowhere(page) == []


def test_links_to_what_is_missing_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A `b`: c\n[1](#a-b-c) [2](page.md#a-b) [3](gone.md) [4](page.md) `[5](code.md)` [6](https://a.b)\n")
    assert leading_nowhere(page) == ["page.md#a-b", "gone.md"]
