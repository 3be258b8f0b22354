"""The interactive front in Chromium: what pointers, fingers and keys bring up, and what is left where no script runs."""

import json

import numpy as np
import pytest

from paretopick import plots
from paretopick.plots.interactive import front_record, interactive_assets, interactive_files, interactive_front, notebook_front
from paretopick.plots.texts import numbers
from paretopick.plots.ticks import log_ticks
from support.browsers import chromium, listened
from support.example_fronts import HOSTILE, in_three_metrics, within
from support.example_results import many

pytestmark = pytest.mark.slow

STATIC = "<p>static</p>"
ADDRESS = "http://fronts.test/"
"""Where pages are, which the browser gets from us: nothing is sent anywhere."""


@pytest.fixture(scope="module")
def browser():
    with chromium() as launched:
        yield launched


@pytest.fixture
def opened(browser):
    """Opens a page in a window of its own; nothing may be said on its console or asked for, and nothing hangs over its edge."""
    windows = []

    def opened(body, *, width=1280, style="", headers=None, files=None, **given):
        window = browser.new_page(viewport={"width": width, "height": 900}, **given)
        window.set_default_timeout(5000)
        page = f'<!DOCTYPE html><html><head><meta charset="utf-8">{style}</head><body>{body}</body></html>'
        contents = {ADDRESS: page, **{f"{ADDRESS}{name}": text for name, text in (files or {}).items()}}
        kinds = {"js": "text/javascript", "css": "text/css"}

        def answer(route):
            address = route.request.url
            kind = kinds.get(address.rpartition(".")[2], "text/html; charset=utf-8")
            route.fulfill(body=contents[address], headers={"content-type": kind, **(headers or {})})

        window.route(lambda address: address in contents, answer)
        windows.append((window, *listened(window), [*contents, "about:srcdoc"]))
        window.goto(ADDRESS)
        return window

    yield opened
    for window, said, asked, known in windows:
        assert said == []
        assert [address for address in asked if address not in known and not address.startswith("data:")] == []
        assert window.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        window.close()


def place_of(window, result, name, x=0, y=1):
    """Where the point of an option is in a window, from its means and the ends of the axes alone."""
    record = front_record(result)
    pair, (option,) = record["pairs"][f"{x} {y}"], (option for option in record["options"] if option["name"] == name)
    box = window.locator(".u-over").bounding_box()
    shares = []
    for axis, metric in (("x", x), ("y", y)):
        scale = np.log if pair[axis]["log"] else np.asarray
        low, high, mean = scale([*pair[axis]["ends"], option["means"][metric]])
        shares.append((mean - low) / (high - low))
    return box["x"] + shares[0] * box["width"], box["y"] + (1 - shares[1]) * box["height"]


def shown(window):
    """Name, kind and facts on the card."""
    facts = window.locator(".pp-card dt").all_text_contents(), window.locator(".pp-card dd").all_text_contents()
    return window.text_content(".pp-card strong"), window.text_content(".pp-kind"), list(zip(*facts, strict=True))


def test_a_pointer_at_an_option_brings_up_all_its_numbers(opened):
    found = within()
    window = opened(interactive_front(found, static=STATIC))
    assert not window.is_visible(".pp-static")
    assert not window.is_visible(".pp-card")
    record = front_record(found)
    for option in record["options"]:
        window.mouse.move(*place_of(window, found, option["name"]))
        facts = list(zip(record["headings"], option["facts"], strict=True))
        assert shown(window) == (option["name"], record["kinds"][option["kind"]]["label"], facts)
        assert option["more"] == "".join(window.locator(".pp-card p").all_text_contents())
    window.mouse.move(5, 5)
    assert not window.is_visible(".pp-card")


def test_keys_move_between_options_and_what_they_bring_up_is_said(opened):
    found = within()
    window = opened(interactive_front(found, static=STATIC))
    window.keyboard.press("Tab")
    along = sorted(found.options, key=lambda row: row.means["seconds"])
    window.keyboard.press("Home")
    for row in along:
        assert shown(window)[0] == row.option
        assert window.text_content("[role=status]").startswith(f"{row.option}: ")
        window.keyboard.press("ArrowRight")
    assert shown(window)[0] == along[-1].option
    for row in sorted(found.options, key=lambda row: -row.means["ratio"])[:3]:
        assert shown(window)[0] == row.option
        window.keyboard.press("ArrowDown")
    window.keyboard.press("Escape")
    assert not window.is_visible(".pp-card")


def test_a_finger_on_a_phone_brings_up_the_numbers_below_the_picture(opened):
    found = within()
    window = opened(interactive_front(found, static=STATIC), width=390, has_touch=True)
    window.touchscreen.tap(*place_of(window, found, "plain"))
    assert shown(window)[0] == "plain"
    card, plot = window.locator(".pp-card").bounding_box(), window.locator(".pp-plot").bounding_box()
    assert card["y"] >= plot["y"] + plot["height"]
    assert card["x"] + card["width"] <= 390


def test_the_static_picture_is_shown_without_scripts_in_print_and_when_asked_for(opened):
    body = interactive_front(within(), static=STATIC)
    without = opened(body, java_script_enabled=False)
    assert without.is_visible(".pp-static")
    assert without.locator(".pp-live").count() == 0
    window = opened(body)
    window.emulate_media(media="print")
    assert window.is_visible(".pp-static")
    assert not window.is_visible(".pp-live")
    window.emulate_media(media="screen")
    assert not window.is_visible(".pp-static")
    window.click("text=Static picture")
    assert window.is_visible(".pp-static")
    assert window.is_visible(".pp-live")


def test_a_drag_zooms_in_and_a_double_click_out(opened):
    found = within()
    window = opened(interactive_front(found, static=STATIC))
    box = window.locator(".u-over").bounding_box()
    before = place_of(window, found, HOSTILE[1])
    window.mouse.move(before[0] - 60, before[1] - 60)
    window.mouse.down()
    window.mouse.move(before[0] + 30, before[1] + 30, steps=3)
    window.mouse.move(before[0] + 60, before[1] + 60)
    window.mouse.up()
    window.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert shown(window)[0] == HOSTILE[1]
    assert window.is_visible("text=Zoom out")
    window.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    window.mouse.move(*before)
    assert shown(window)[0] == HOSTILE[1]
    assert not window.is_visible("text=Zoom out")


def test_any_two_of_three_metrics_can_be_chosen(opened):
    found = in_three_metrics()
    window = opened(interactive_front(found, static=STATIC))
    assert window.is_visible(".pp-static")  # which has all metrics
    assert "Two of 3 metrics are shown" in window.inner_text("body")
    window.select_option("select >> nth=0", label="cost")
    assert "log scale" in window.text_content(".pp-up")
    window.mouse.move(*place_of(window, found, "b", 0, 2))
    assert shown(window)[0] == "b"
    assert window.text_content(".pp-legend") == "Pareto-optimal (2)"
    window.select_option("select >> nth=1", label="cost")  # the other axis gives way
    assert [window.locator("select").nth(i).input_value() for i in (0, 1)] == ["0", "2"]


@pytest.mark.parametrize(
    "behind, dark",
    [
        ("", False),
        ("background: #111", True),
        ("background: color-mix(in srgb, white 90%, black)", False),
        ("color-scheme: light dark", True),
    ],
)
def test_it_is_as_dark_as_what_is_behind_it(opened, behind, dark):
    window = opened(interactive_front(within(), static=STATIC), style=f"<style>:root {{ {behind} }}</style>", color_scheme="dark")
    assert window.get_attribute(".pp-live", "data-theme") == ("dark" if dark else "light")


@pytest.fixture(scope="module")
def output():
    return notebook_front(within())


def test_results_in_a_notebook_do_not_disturb_each_other(opened, output):
    window = opened(f"{output}<p>between</p>{output}")
    window.wait_for_function("document.querySelectorAll('.pp-front[data-live] > iframe').length === 2")
    frames = [frame for frame in window.frames if frame.url == "about:srcdoc"]
    for frame in frames:
        frame.wait_for_selector(".pp-live canvas")
    assert not window.is_visible("img")
    frames[1].focus(".pp-plot")
    window.keyboard.press("End")
    assert frames[1].is_visible(".pp-card")
    assert not frames[0].is_visible(".pp-card")
    heights = [frame.frame_element().bounding_box()["height"] for frame in frames]
    needed = [frame.evaluate("document.documentElement.scrollHeight") for frame in frames]
    assert heights == needed
    window.emulate_media(media="print")
    assert window.locator("img").first.is_visible()
    assert not window.locator("iframe").first.is_visible()


def test_a_notebook_without_scripts_shows_the_picture(opened, output):
    window = opened(output, java_script_enabled=False)
    assert window.is_visible("img")
    assert window.locator("iframe").bounding_box()["height"] == 0


def test_two_fronts_on_a_page_that_has_the_script_twice_are_both_shown(opened):
    window = opened(interactive_front(within(), static=STATIC) + interactive_front(in_three_metrics(), static=STATIC))
    assert window.locator("canvas").count() == 2


def test_two_hundred_options_are_shown_and_found(opened):
    found = many(200, 2)
    window = opened(interactive_front(found, static=STATIC))
    window.focus(".pp-plot")
    window.keyboard.press("Home")
    assert shown(window)[0] == min(found.options, key=lambda row: row.means["metric 1"]).option


def test_a_strict_policy_for_contents_allows_it_and_a_new_record_takes_over(opened):
    found = in_three_metrics()
    window = opened(
        interactive_front(found, static=STATIC, assets=False)
        + '<div id="live"></div><script src="uplot.js"></script><script src="front.js"></script>',
        style='<link rel="stylesheet" href="front.css">',
        headers={"content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'"},
        files=interactive_files(),
    )
    assert window.is_visible("[data-pp-front] canvas")
    more = many(5, 3, names=["a", "b", "c", "d", "e"])
    names = "live.querySelector('.pp-card strong').textContent"
    window.evaluate("record => window.shownHere = paretopick.front(live, record)", front_record(found))
    window.focus("#live .pp-plot")
    window.keyboard.press("End")
    chosen = window.evaluate(names)
    window.evaluate("record => shownHere.update(record)", front_record(more))
    assert window.evaluate(names) == chosen
    assert not window.is_visible("#live button")  # there is no static picture, and nothing is zoomed in
    assert window.text_content("#live .pp-legend") == "Pareto-optimal (2)dominated (3)"


def test_regions_and_ticks_are_those_of_the_static_picture(opened):
    found = within()
    window = opened(interactive_front(found, static=STATIC))
    record, data = front_record(found), plots.FrontData.of(found)
    for place, region in zip(record["pairs"]["0 1"]["points"], data.regions, strict=True):
        drawn = window.evaluate("([record, i]) => paretopick.regionOf(record, record.options[i], 0, 1)", [record, place])
        np.testing.assert_allclose(np.array(drawn).T, region)
    for values in ([0.0, 0.25, 0.5], [1000000.5, 1000000.25], [2e12, 0.0], [-1.0, 0.0, 1.0], [1e-7, 2e-7], [1234.0, 5.0]):
        assert window.evaluate("paretopick.numbers", values) == numbers(values)
    for low, high in ((300.0, 6000.0), (0.073, 0.13), (1e-3, 1e9), (2.0, 3.0)):
        assert window.evaluate(f"paretopick.logTicks({low}, {high}, 7)") == log_ticks(low, high)


def test_a_record_that_is_broken_leaves_the_static_picture(browser):
    window = browser.new_page()
    broken = json.dumps({"shown": [0, 1]})
    record = f'<div data-pp-front class="pp-front"><div class="pp-static">{STATIC}</div><script type="application/json">{broken}'
    window.set_content(f"{record}</script></div>{interactive_assets()}")
    assert window.is_visible(".pp-static")
    assert window.locator(".pp-live").count() == 0
    window.close()
