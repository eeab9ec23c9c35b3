"""Explorers in a real browser: keyboard, roles, live region, no request to anyone."""

import json

import pytest
from playwright.sync_api import expect

from batchlab import widgets
from tests.browser.conftest import served

pytestmark = pytest.mark.browser

LENGTHS = [5, 3, 8, 2, 7, 7, 1, 4]


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.seen = []
    page.on("request", lambda request: page.seen.append(request.url))
    page.on("pageerror", lambda error: page.seen.append(str(error)))
    yield page
    page.close()


def open_with(page, *explorers):
    body = "".join(one._repr_html_() for one in explorers)
    page.seen.clear()
    page.set_content(f'<!doctype html><html lang="en"><title>t</title><body>{body}')
    page.wait_for_selector(".bl-explorer")


def facts(page):
    names = page.locator(".bl-explorer dt").all_text_contents()
    return dict(zip(names, page.locator(".bl-explorer dd").all_text_contents(), strict=True))


def test_the_arrow_keys_move_a_slider_and_every_fact_is_python_s(page):
    made = widgets.padding_explorer(LENGTHS, rows=[1, 2, 4], windows=[1, 2])
    open_with(page, made)
    assert facts(page) == made.scene()
    slider = page.get_by_role("slider", name="rows")
    slider.focus()
    page.keyboard.press("Home")
    for rows in (1, 2, 4):
        assert slider.get_attribute("aria-valuetext") == str(rows)
        assert facts(page) == made.scene({"rows": rows, "window": 1})
        page.keyboard.press("ArrowRight")
    assert page.seen == []


def test_the_drawing_has_its_words_and_its_slots(page):
    made = widgets.padding_explorer(LENGTHS, rows=[4], windows=[1])
    open_with(page, made)
    (scene,) = made.state["table"].values()
    assert page.get_by_role("img").get_attribute("aria-label") == scene["alt"]
    drawn = page.locator(".bl-explorer svg > rect").count()
    assert drawn == sum(map(len, scene["rows"]))


def area(**options):
    return widgets.finder(
        "Area",
        {"side": ("side", [1, 2, 3])},
        lambda side: {"facts": {"area": side**2}},
        goal="Find the side of area 9.",
        where=lambda side: side == 3,
        **options,
    )


def test_one_region_speaks_the_facts_and_when_the_goal_is_reached(page):
    open_with(page, area())
    spoken = page.get_by_role("status")
    assert spoken.count() == 1 and spoken.get_attribute("aria-live") == "polite"
    assert spoken.text_content() == "area 4. Not yet."
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    assert spoken.text_content() == "area 9. Found: this setting reaches the goal."
    assert (
        page.locator(".bl-status").text_content() == "\u2713 Found: this setting reaches the goal."
    )


def test_a_drawing_has_axes_in_words(page):
    made = widgets.padding_explorer(LENGTHS, rows=[4], windows=[1])
    open_with(page, made)
    (scene,) = made.state["table"].values()
    extent = made.state["extent"]
    assert page.locator(".bl-rows").text_content() == f"{len(scene['rows'])} rows"
    assert page.locator(".bl-slots").text_content() == f"0{extent} slots"


def test_a_page_keeps_the_setting_of_an_explorer(browser, tmp_path):
    shown = f'<!doctype html><html lang="en"><title>t</title>{area()._repr_html_()}'
    (tmp_path / "area.html").write_text(shown)
    page = browser.new_page()
    with served(tmp_path) as address:
        page.goto(f"{address}/area.html")
        _kept_and_forgotten(page)
    page.close()


def _kept_and_forgotten(page):
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "3")
    page.wait_for_function("localStorage.length > 0")  # it is kept a moment later
    page.reload()
    expect(slider).to_have_attribute("aria-valuetext", "3")
    stored = {"setting": {"side": 99}}  # of an older edition: it is offered no more
    page.evaluate("one => localStorage.setItem(localStorage.key(0), one)", json.dumps(stored))
    page.reload()
    expect(slider).to_have_attribute("aria-valuetext", "1")


def test_the_same_explorer_twice_on_a_page_is_drawn_twice(page):
    made = widgets.calculator(rows=[1, 2])
    open_with(page, made, made)
    page.wait_for_function("document.querySelectorAll('.bl-explorer').length === 2")
    assert page.locator("pre").count() == 0
    assert page.locator("section[aria-labelledby]").count() == 2
