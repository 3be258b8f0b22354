"""The documentation site: built without a warning, complete, and readable in a browser with no network."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import paretopick as pp
from building.pages import blocks_of, not_printed, with_captions, with_outputs
from building.sessions import NotAsShown, outputs_of
from support.browsers import chromium, listened

nbformat = pytest.importorskip("nbformat", reason="what makes the site is not installed here")

from building.notebooks import notebook_of, page_of, to_take_away  # noqa: E402

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

PAGE = """# Title

Prose with `code`.

```csv some.csv
a,b
```

```sh
cat some.csv; echo 1 2 3
```

```text
1 ... 3
```

```python
print("so")
7
```
"""


def test_the_pieces_of_a_page_together_are_the_page():
    blocks = blocks_of(PAGE)
    assert "".join(block.source for block in blocks) == PAGE
    assert [block.kind for block in blocks if block.kind != "prose"] == ["csv", "sh", "text", "python"]
    assert [(block.kind, block.name) for block in blocks if block.name] == [("csv", "some.csv")]


def test_what_is_shown_must_be_printed_and_dots_stand_for_anything():
    assert not_printed("a ... c\nb", "a b c") == []
    assert not_printed("a ... c\nd", "a b c") == ["d"]


@pytest.mark.slow
def test_a_page_shows_the_whole_output_of_its_commands():
    assert outputs_of(PAGE) == ["a,b\n1 2 3\n"]
    shown = with_captions(with_outputs(PAGE, outputs_of(PAGE)))
    assert ":class: output\n\na,b\n1 2 3\n" in shown
    assert ":caption: some.csv\n\na,b\n" in shown
    assert "1 ... 3" not in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    "page, said", [("```sh\nfalse\n```\n", "failed"), ("```sh\necho a\n```\n```text\nb\n```\n", "'b' was not printed")]
)
def test_a_page_that_cannot_be_followed_is_refused(page, said):
    with pytest.raises(NotAsShown, match=said):
        outputs_of(page)


def test_a_notebook_has_cells_for_python_and_commands_and_remembers_what_the_page_shows():
    typed, cell = (cell for cell in notebook_of(PAGE).cells if cell.cell_type == "code")
    assert (typed.source, typed.metadata.shown) == ("!cat some.csv; echo 1 2 3", "1 ... 3\n")
    assert (cell.source, cell.metadata) == ('print("so")\n7', {})


def test_a_page_of_a_notebook_shows_texts_tables_and_pictures():
    notebook = notebook_of("# Title\n\n```python\nx\n```\n")
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "a sentence " * 20},
        {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<table></table>", "text/plain": "table"}},
        {"output_type": "display_data", "metadata": {}, "data": {"text/html": "", "text/plain": ""}},
        {"output_type": "display_data", "metadata": {}, "data": {"image/png": "QUJD\n", "text/plain": "<Figure>"}},
    ]
    notebook.cells[1].outputs = [nbformat.from_dict(output) for output in outputs]
    page = page_of(notebook)
    assert max(map(len, page.splitlines())) <= 100
    assert "<table></table>" in page
    assert page.count('<div class="output">') == 2  # what was taken away again is not shown
    assert '<img alt="&lt;Figure&gt;" src="data:image/png;base64,QUJD">' in page


def test_of_a_command_only_the_sign_that_makes_it_one_is_taken_away():
    assert "````sh\ntest a != b\n````" in page_of(notebook_of("```sh\ntest a != b\n```\n"))


def test_a_notebook_to_take_away_has_no_links_to_pages_that_stay_behind():
    notebook = to_take_away(notebook_of("See [pairing](../pairing.md#a) and [this](https://example.org).\n"))
    assert notebook.cells[0].source == "See pairing and [this](https://example.org)."


def test_the_example_of_the_readme_is_on_the_start_page():
    example = re.search(r"```python\n.*?```", (ROOT / "README.md").read_text(), re.DOTALL).group()
    assert example in (DOCS / "index.md").read_text()


def test_every_public_name_is_in_the_reference_once():
    pages = "".join(path.read_text() for path in sorted((DOCS / "reference").glob("*.rst")))
    named = re.findall(
        r"^\.\. (?:auto(?:function|class|exception|data|module)|data):: (?:paretopick\.)?(\w+)$", pages, re.MULTILINE
    )
    assert {*pp.__all__, "errors", "typing"} ^ set(named) == set()
    assert len(named) == len(set(named))


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_can_be_read_in_a_browser(tmp_path):
    """One test, since it takes one build; the tutorial in Python is run by it."""
    site = tmp_path / "site"
    options = ["--quiet", "--fail-on-warning", "--keep-going", "-D", "run_tutorials=notebooks", "-d", tmp_path / "kept"]
    command = [sys.executable, "-m", "sphinx", *options, "-c", DOCS / "building", DOCS, site]
    built = subprocess.run(command, capture_output=True, text=True)
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
    notebook = nbformat.read(site / "tutorials" / "machine-learning-engineer.ipynb", as_version=4)
    nbformat.validate(notebook)
    with chromium() as browser:
        for page in ("index", "tutorials/laboratory", "reference/studies", "reproduction", "tutorials/machine-learning-engineer"):
            for width, scheme in ((1280, "light"), (390, "dark")):
                look_at(browser, site / f"{page}.html", width, scheme)
        window = browser.new_page()
        window.goto((site / "search.html").as_uri() + "?q=identify")
        window.wait_for_selector("#search-results li a")
        assert "identify" in window.inner_text("#search-results")
        window.goto((site / "tutorials" / "machine-learning-engineer.html").as_uri())
        assert_the_notebook_shows_everything(window)


def look_at(browser, file: Path, width: int, scheme: str) -> None:
    """A page says nothing but what the theme always says, asks for nothing elsewhere, and does not scroll sideways."""
    window = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    said, asked = listened(window)
    window.goto(file.as_uri())
    assert [text for text in said if not text.startswith("[PST]")] == []
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    assert window.get_attribute("html", "data-theme") == scheme
    window.close()


def assert_the_notebook_shows_everything(window) -> None:
    """Tables and notes of results are there, pictures have a size, nothing went wrong, and the notebook can be loaded."""
    outputs = window.locator("div.output")
    said = "\n".join(outputs.all_inner_texts())
    assert "It is right with 95%, as was asked for" in said
    assert "Traceback" not in said
    tables = window.locator("div.output table")
    assert tables.count() >= 2
    for model in ("ridge", "fourier 64 smooth", "15 neighbours"):
        assert model in tables.first.inner_text()
    pictures = window.locator("div.output > img")
    assert pictures.count() == 2
    for picture in pictures.all():
        assert picture.evaluate("picture => picture.naturalWidth") > 400
    (link,) = window.locator("a[download]").all()
    assert link.get_attribute("href") == "machine-learning-engineer.ipynb"
