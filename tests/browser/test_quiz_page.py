"""The quiz in a real browser, with no kernel: by keyboard alone, and spoken to a screen reader."""

import shutil

import pytest

from batchlab.classroom import quiz

pytestmark = pytest.mark.browser
playwright = pytest.importorskip("playwright.sync_api")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ITEMS = [
    {
        "question": f"Question {number}: slots of 2 rows of 3?",
        "options": [
            {"text": "5", "right": False, "why": "that adds the sides <img src=x>"},
            {"text": "6", "right": True, "why": "a rectangle: `2 * 3`"},
        ],
    }
    for number in (1, 2)
]


@pytest.fixture
def page(tmp_path):
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("chromium is not installed")
    file = tmp_path / "quiz.html"
    html = quiz.show(ITEMS, key="02-recall")._repr_html_()
    file.write_text(
        f'<!doctype html><html lang="en"><title>q</title><body>{html}', encoding="utf-8"
    )
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=path, args=["--no-sandbox"])
        sheet = browser.new_page()
        asked: list[str] = []
        said: list[str] = []
        sheet.on("request", lambda request: asked.append(request.url))
        sheet.on("console", lambda message: said.append(message.text))
        sheet.on("pageerror", lambda error: said.append(str(error)))
        sheet.goto(file.as_uri())
        yield sheet
        assert asked == [file.as_uri()], "a page asks nobody else"
        assert said == []
        browser.close()


def test_the_keyboard_answers_and_the_reason_is_spoken(page):
    assert page.get_by_role("group").count() == 2, "a fieldset a question"
    assert page.get_by_role("form", name="Quiz 02-recall").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    status = page.get_by_role("status").first
    assert status.inner_text() == "Not this one. that adds the sides <img src=x>"
    page.keyboard.press("ArrowDown")
    assert status.inner_text() == "Right. a rectangle: 2 * 3"
    assert status.get_attribute("aria-live") == "polite"


def test_the_second_question_keeps_its_own_answer(page):
    page.get_by_role("radio", name="6").nth(0).check()
    page.get_by_role("radio", name="5").nth(1).check()
    assert page.get_by_role("radio", name="6").nth(0).is_checked()
    assert page.get_by_role("status").nth(1).inner_text().startswith("Not this one.")
