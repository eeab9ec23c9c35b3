"""Explorers in a real browser: keyboard, roles, live region, no request to anyone."""

import shutil

import pytest

from batchlab import widgets

pytestmark = pytest.mark.browser

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
LENGTHS = [5, 3, 8, 2, 7, 7, 1, 4]


@pytest.fixture(scope="module")
def page():
    sync_api = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM:
        pytest.skip("LOUDLY: chromium is not installed (Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.seen = []
        page.on("request", lambda request: page.seen.append(request.url))
        page.on("pageerror", lambda error: page.seen.append(str(error)))
        yield page
        browser.close()


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


def test_the_goal_is_spoken_when_it_is_reached(page):
    made = widgets.finder(
        "Area",
        {"side": ("side", [1, 2, 3])},
        lambda side: {"facts": {"area": side**2}},
        goal="Find the side of area 9.",
        where=lambda side: side == 3,
    )
    open_with(page, made)
    status = page.locator(".bl-status")
    assert status.get_attribute("aria-live") == "polite" and "Not yet" in status.text_content()
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    assert "Found" in status.text_content()


def test_the_same_explorer_twice_on_a_page_is_drawn_twice(page):
    made = widgets.calculator(rows=[1, 2])
    open_with(page, made, made)
    page.wait_for_function("document.querySelectorAll('.bl-explorer').length === 2")
    assert page.locator("pre").count() == 0
    assert page.locator("section[aria-labelledby]").count() == 2
