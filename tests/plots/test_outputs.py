"""Files and parts of pages."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from paretopick import plots
from support.example_results import many


def line(rate, low, high):
    return plots.Line("policy", np.arange(1.0, len(rate) + 1), np.array(rate), np.array(low), np.array(high), plots.BLUE)


def test_the_same_figure_is_the_same_bytes_and_nothing_else_is_left_behind(tmp_path):
    contents = []
    for name in ("one", "two"):
        with plots.look():
            figure, (axes,) = plots.new_figure(size=(4, 3))
            plots.log_rates(axes, [line([0.1], [0.05], [0.2])], xlabel="T")
            files = plots.save(figure, tmp_path, name)
        assert [file.name for file in files] == [f"{name}.png", f"{name}.pdf"]
        contents.append([file.read_bytes() for file in files])
    assert contents[0] == contents[1]
    assert b"CreationDate" not in contents[0][1]
    assert len(list(tmp_path.iterdir())) == 4


def test_drawing_changes_no_setting_of_matplotlib(tmp_path):
    import matplotlib

    before = dict(matplotlib.rcParams)
    with plots.look():
        figure, _ = plots.new_figure(size=(4, 3))
        plots.save(figure, tmp_path, "empty")
    assert dict(matplotlib.rcParams) == before


def test_matplotlib_is_not_loaded_before_something_is_drawn():
    code = "import sys, paretopick.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture(scope="module")
def figure():
    return plots.figure_of(many(4, 2, names=["<b>", "$x$ --> ]]>", "_c", "d & e"]))


@pytest.fixture(scope="module")
def svg(figure):
    return plots.to_svg(figure, title='2 < 3 & "so on"', salt="front")


def test_an_svg_is_one_element_that_scales(svg):
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("viewBox") == "0 0 489.6 374.4"
    assert "width" not in root.attrib
    assert "height" not in root.attrib
    assert root.get("aria-label") == root.find("{http://www.w3.org/2000/svg}title").text == '2 < 3 & "so on"'


def test_an_svg_has_nothing_from_outside_and_nothing_that_runs(svg):
    root = ET.fromstring(svg)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "title", "g", "path", "use", "defs", "clipPath", "rect"}
    references = [value for element in root.iter() for name, value in element.attrib.items() if name.endswith("href")]
    assert references
    assert all(reference.startswith("#") for reference in references)
    assert "<!--" not in svg
    assert "20" + "26-" not in svg  # no date


def test_an_svg_refers_to_what_it_has(svg):
    ids = re.findall(r' id="([^"]*)"', svg)
    used = set(re.findall(r'href="#([^"]*)"', svg)) | set(re.findall(r"url\(#([^)]*)\)", svg))
    assert len(ids) == len(set(ids))
    assert set(ids) == used


def test_figures_on_one_page_share_no_ids(figure, svg):
    other = plots.to_svg(plots.timeline_of(many(4, 2)), salt="front")
    again = plots.to_svg(figure, title='2 < 3 & "so on"', salt="another")
    several = [set(re.findall(r' id="([^"]*)"', one)) for one in (svg, other, again)]
    assert all(several)
    assert len(set.union(*several)) == sum(map(len, several))


def test_the_same_figure_is_the_same_svg(svg):
    same = plots.figure_of(many(4, 2, names=["<b>", "$x$ --> ]]>", "_c", "d & e"]))
    assert plots.to_svg(same, title='2 < 3 & "so on"', salt="front") == svg
