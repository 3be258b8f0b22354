"""How the documentation site is built, by Sphinx: ``make docs``."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from sphinx.pycode import ModuleAnalyzer

import paretopick

project = "paretopick"
version = release = paretopick.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "building.tutorials"]
exclude_patterns = ["building"]
highlight_language = "text"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4  # as GitHub has them, so that links to headings work in both places

autodoc_default_options = {"undoc-members": True}  # the fields of records, many of which need no word
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = f"paretopick {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_domain_indices = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "show_toc_level": 2,
    "navigation_with_keys": False,
}
html_sidebars = {"index": []}

copybutton_selector = "div:not(.output) > div.highlight > pre"

ELSEWHERE = {"README": "index", "CHANGELOG": "changelog", "CONTRIBUTING": "contributing", "benchmarks/SOAK": "last-soak"}
"""Pages of the repository that are not below docs/, and what they are called on the site. Links to other files are downloads."""


def _links_that_leave_the_folder(app, name, content):
    """Links to pages outside docs/, which work where files are looked at one by one, lead to pages of the site."""
    up = "../" * (name.count("/") + 1)
    for page, here in ELSEWHERE.items():
        content[0] = re.sub(rf"\]\({re.escape(up + page)}\.md(?=[#)])", f"]({up[3:]}{here}.md", content[0])


def _attributes_have_no_types_in_their_text(app, what, name, thing, options, lines):
    """Napoleon takes what stands before a colon in the docstring of an attribute for its type; ours have annotations."""
    if what in ("attribute", "property", "data") and len(lines) > 1 and lines[-1].startswith(":type: "):
        lines[:] = [f"{lines[-1].removeprefix(':type: ')}: {lines[0]}", *lines[1:-2]]


def _short_signatures(app, what, name, thing, options, signature, returns):
    """Records that users meet but do not make have no arguments to show; arrays are called what users call them."""
    if what == "class" and "Args:" not in (thing.__doc__ or ""):
        return "", None
    shorter = [
        text and re.sub(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)\]\]", r"NDArray[\1]", text) for text in (signature, returns)
    ]
    return tuple(shorter)


def _one_signature(analyze):
    """Overloads tell types apart, and name no arguments; the function itself does."""

    def analyzed(self):
        analyze(self)
        self.overloads.clear()

    return analyzed


ModuleAnalyzer.analyze = _one_signature(ModuleAnalyzer.analyze)


def setup(app):
    """Connects the rules above."""
    app.connect("source-read", _links_that_leave_the_folder)
    app.connect("autodoc-process-docstring", _attributes_have_no_types_in_their_text, priority=600)  # after Napoleon
    app.connect("autodoc-process-signature", _short_signatures)
