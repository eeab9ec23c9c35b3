"""The quiz in a real browser, with no kernel: by keyboard alone, and spoken to a screen reader."""

import pytest
from playwright.sync_api import expect

from batchlab.classroom import predict, quiz
from tests.browser.conftest import served

pytestmark = pytest.mark.browser

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
def opened(browser, tmp_path):
    """Open some HTML as a page of its own, in a browser that has kept nothing yet."""
    context = browser.new_context()
    asked: list[str] = []
    said: list[str] = []

    def show(*parts):
        file = tmp_path / "page.html"
        body = "".join(part._repr_html_() for part in parts)
        file.write_text(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>q</title>'
            f'<link rel="icon" href="data:,"><body>{body}',
            encoding="utf-8",
        )
        sheet = context.new_page()
        sheet.on("request", lambda request: asked.append(request.url))
        sheet.on("console", lambda message: said.append(message.text))
        sheet.on("pageerror", lambda error: said.append(str(error)))
        sheet.goto(f"{address}/page.html")
        return sheet

    with served(tmp_path) as address:
        yield show
    assert not [url for url in asked if not url.endswith("/page.html")], "a page asks nobody else"
    assert said == []
    context.close()


def test_the_keyboard_chooses_and_checks_and_the_reason_is_spoken(opened):
    page = opened(quiz.show(ITEMS, key="02-recall"))
    assert page.get_by_role("group").count() == 2, "a fieldset a question"
    assert page.get_by_role("form", name="Quiz 02-recall").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    status = page.get_by_role("status").first
    assert status.inner_text() == "", "a choice is not yet an answer"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert status.inner_text() == "Not this one. that adds the sides <img src=x>"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowDown")
    assert status.inner_text() == "", "arrowing through the options judges nothing"
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert status.inner_text() == "Right. a rectangle: 2 * 3"
    assert status.get_attribute("aria-live") == "polite"


def test_a_check_without_a_choice_asks_for_one(opened):
    page = opened(quiz.show(ITEMS, key="02-recall"))
    page.get_by_role("button", name="Check question 2").click()
    assert page.get_by_role("status").nth(1).inner_text() == "Choose an answer first."


def test_the_second_question_keeps_its_own_answer_and_a_page_keeps_both(opened):
    page = opened(quiz.show(ITEMS, key="02-recall"))
    page.get_by_role("radio", name="6").nth(0).check()
    page.get_by_role("button", name="Check question 1").click()
    page.get_by_role("radio", name="5").nth(1).check()
    page.get_by_role("button", name="Check question 2").click()
    page.reload()  # scripts bring both answers back once the page stands
    expect(page.get_by_role("radio", name="6").nth(0)).to_be_checked()
    expect(page.get_by_role("status").nth(0)).to_contain_text("Right.")
    expect(page.get_by_role("status").nth(1)).to_contain_text("Not this one.")


def halves():
    return (
        predict.Prediction("02-waste", unit="of the slots", low=0, high=1),
        predict.Prediction("02-waste", unit="of the slots", truth=0.67182),
    )


def test_a_guess_is_committed_then_revealed_and_kept(opened):
    page = opened(*halves())
    box = page.get_by_role("textbox", name="Your guess, of the slots:")
    said = page.get_by_role("status")
    for wrong, answer in {
        "half": "A guess is one number.",
        "7": "It lies between 0 and 1.",
    }.items():
        box.fill(wrong)
        page.keyboard.press("Enter")
        assert said.first.inner_text() == answer and box.is_visible()
    box.fill("0,5")
    page.get_by_role("button", name="Commit").click()
    assert said.first.inner_text() == "Your guess: 0.5 of the slots. Now read on."
    assert not box.is_visible(), "a commitment stays"
    told = "You guessed 0.5, it is 0.6718 of the slots: 1.34 times too low."
    assert said.nth(1).inner_text() == told
    page.reload()
    expect(said.nth(1)).to_have_text(told)
    expect(box).not_to_be_visible()


def test_a_page_says_the_same_words_as_the_notebook(opened, capsys, monkeypatch, tmp_path):
    """The judge is Python's own line, for guesses of every kind."""
    monkeypatch.setenv("BATCHLAB_CACHE", str(tmp_path))
    cases = [(0.5, 0.67182), (2, 1), (0.67, 0.67182), (0, 3.5), (1e-9, 1), (12345, 2), (-1, 4)]
    page = opened(*halves())
    for guess, truth in cases:
        predict.forget()
        predict.number("x", guess)
        predict.reveal("x", truth)
        wanted = capsys.readouterr().out.splitlines()[1].rsplit(": ", 1)[1].rstrip(".")
        code = page.locator("script").first.inner_text().split("function guess(")[0]
        found = page.evaluate(f"() => {{ {code}; return distance({guess}, {truth}); }}")
        assert found == wanted, (guess, truth)
