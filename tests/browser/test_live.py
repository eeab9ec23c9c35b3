"""Exercises in the page: worked by keyboard, in a book that is served below a base path."""

import json
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from batchlab import exercises
from batchlab.authoring.needs import needs
from batchlab.cli import main
from tests.browser.conftest import ROOT
from tests.browser.test_book import above_minor

pytestmark = pytest.mark.browser

LESSON, TOPIC = "02_padding", "padding"
FIRST = f"{TOPIC}/waste"
BEGUN = f"begun, {exercises.found(FIRST).points} points"
ENDLESS = "def waste(batches):\n    while True:\n        pass\n"
ANSWERED = """(name) => !["", "waits"].includes(
    document.querySelector(`[data-exercise="${name}"] .bl-said`)?.dataset.state || "")"""
ASK = """async (questions) => {
  const worker = new Worker(document.querySelector("script[src*='live/live.js']").src
    .replace("live.js", "worker.js"), { type: "module" });
  const answers = [];
  for (const asked of questions) {
    const answer = new Promise((resolve) => {
      worker.onmessage = ({ data }) => { if (data.type !== "started") resolve(data); };
    });
    worker.postMessage(asked);
    answers.push(await answer);
  }
  worker.terminate();
  return answers;
}"""


@pytest.fixture
def address(book, host):
    """The lesson's page."""
    if not (book / "_static/live/live.js").is_file():
        pytest.skip("LOUDLY: this book was built without Python for the page: see `make book`")
    return f"{host}/lessons/{LESSON}.html"


@pytest.fixture
def page(browser, address):
    """The page in a browser that keeps nothing yet; what it asked for and complained of."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    opened.asked, opened.said = [], []
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.on("pageerror", lambda error: opened.said.append(str(error)))
    opened.goto(address)
    yield opened
    home = address.partition("lessons")[0]
    strangers = [u for u in opened.asked if not u.startswith((home, "data:", "blob:"))]
    assert strangers == [] and opened.said == []
    context.close()


def box(page, name=FIRST):
    return page.locator(f'[data-exercise="{name}"]')


def write(page, name, text):
    """Put a text into an editor as a reader would: by keyboard."""
    editor = box(page, name).get_by_role("textbox", name=f"Your {name.partition('/')[2]}")
    box(page, name).scroll_into_view_if_needed()
    editor.focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def told(page, name=FIRST, keys="Control+Enter"):
    """What the page says of the editor's text."""
    page.keyboard.press(keys)
    page.wait_for_function(ANSWERED, arg=name, timeout=90_000)
    return box(page, name).get_by_role("status").inner_text()


def test_a_lesson_is_worked_in_its_page_kept_exported_and_graded_equal(page, tmp_path, capsys):
    wrong = exercises.found(FIRST).mistakes[4]
    write(page, FIRST, wrong.text)
    assert not [one for one in page.asked if "pyodide" in one], "nothing before the first question"
    assert wrong.thought in told(page)
    expect(box(page).locator(".bl-badge")).to_have_text(BEGUN)
    drawn = page.get_by_text("What expected-longest gives is drawn here once it is right")
    picture = page.locator(".bl-from-expected-longest img")
    assert drawn.is_visible() and not picture.is_visible()
    here = [name for name, more in needs(TOPIC).items() if not more]
    for name in here:
        write(page, name, exercises.found(name).text)
        assert told(page, name) == exercises.found(name).passed
        expect(box(page, name).locator(".bl-badge")).to_contain_text("✓")
    expect(drawn).to_have_count(0)
    expect(picture).to_be_visible()
    points = sum(exercises.found(name).points for name in here)
    so_far = f"{points} of {points} points"
    expect(page.locator("[data-progress]").first).to_contain_text(so_far)
    page.reload()
    expect(page.locator("[data-progress]").first).to_contain_text(so_far)
    box(page).scroll_into_view_if_needed()
    expect(box(page).get_by_role("textbox")).to_contain_text("slots = sum(max(batch)")
    with page.expect_download() as given:
        page.get_by_role("button", name="Export with my answers").click()
    notebook = tmp_path / given.value.suggested_filename
    notebook.write_bytes(Path(given.value.path()).read_bytes())
    nbformat.validate(nbformat.read(notebook, as_version=4))
    assert main(["check", str(notebook), "--json"]) == 0
    graded = json.loads(capsys.readouterr().out)
    right = {one["question"] for one in graded["questions"] if one["verdict"] == "PASS"}
    assert (
        right == {f"check-{name.partition('/')[2]}" for name in here} and graded["points"] == points
    )


def test_an_endless_loop_is_ended_and_python_starts_anew(page):
    write(page, FIRST, ENDLESS)
    assert told(page).startswith("No result after 20 seconds: probably a loop")
    for greedy in ("return waste(batches)", "return [0] * 10**10", "raise KeyboardInterrupt"):
        write(page, FIRST, f"def waste(batches):\n    {greedy}\n")
        assert "Error" in told(page) or "KeyboardInterrupt" in told(page)
    write(page, FIRST, exercises.found(FIRST).text)
    assert told(page) == exercises.found(FIRST).passed


def test_run_shows_what_the_answer_gives_and_hints_come_one_by_one(page):
    write(page, FIRST, exercises.found(FIRST).text)
    assert "waste of [[5, 3], [4, 4], [6, 1, 6]]\n  gives 0.194444" in told(
        page, keys="Shift+Enter"
    )
    expect(box(page).locator(".bl-badge")).to_have_text(BEGUN)  # a run gives no points
    hints = box(page).locator(".bl-hints li").filter(visible=True)
    button = box(page).get_by_role("button", name="Hint waste")
    for many in (1, 2, 3):
        button.click()
        expect(hints).to_have_count(many)
    expect(button).to_be_disabled()
    page.on("dialog", lambda dialog: dialog.accept())
    box(page).get_by_role("button", name="Reset waste").click()
    expect(box(page).get_by_role("textbox")).to_contain_text("raise NotImplementedError")
    box(page).get_by_role("textbox").focus()
    assert told(page).startswith("Nothing is written yet")


def test_a_notebook_is_read_back_and_a_stranger_is_refused(page, tmp_path):
    notebook = json.loads((ROOT / f"lessons/{LESSON}/{TOPIC}.ipynb").read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "waste":
            cell["source"] = "def waste(batches):\n    return 7  # mine\n"
    (tmp_path / "mine.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "other.ipynb").write_text("[]")
    status = page.locator(".bl-moved")
    for name, said in {"other": "This file is no notebook.", "mine": "Answers read: 1."}.items():
        page.locator(".bl-move input").set_input_files(tmp_path / f"{name}.ipynb")
        page.wait_for_function("(said) => document.querySelector('.bl-moved').innerText === said",
                               arg=said)  # fmt: skip
        assert status.get_attribute("role") == "status"
    expect(box(page).get_by_role("textbox")).to_contain_text("return 7  # mine")


def test_the_keyboard_enters_and_leaves_an_editor(page):
    box(page).scroll_into_view_if_needed()
    editor = box(page).get_by_role("textbox", name="Your waste")
    editor.focus()
    page.keyboard.press("Tab")
    assert editor.evaluate("(one) => one === document.activeElement"), "Tab indents"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(box(page).get_by_role("button", name="Run waste")).to_be_focused()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_judge_of_accessibility_finds_nothing_in_a_page_with_editors(
    browser, address, axe, theme
):
    context = browser.new_context(color_scheme=theme, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(address)
    write(page, FIRST, exercises.found(FIRST).mistakes[0].text)
    told(page)
    box(page).get_by_role("button", name="Hint waste").click()
    assert {rule: at[:3] for rule, at in above_minor(page, axe).items()} == {}
    page.set_viewport_size({"width": 320, "height": 700})
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(over) <= 0
    context.close()


def test_a_page_that_was_opened_as_a_file_says_how_to_serve_it(browser, book):
    context = browser.new_context()
    page = context.new_page()
    page.goto((book / f"lessons/{LESSON}.html").as_uri())
    expect(box(page)).to_contain_text("`batchlab book`")
    assert box(page).get_by_role("button", name="Check waste").count() == 0
    context.close()


@pytest.mark.parametrize("topic", exercises.folders())
def test_the_page_says_of_every_exercise_what_python_says_here(page, topic):
    """Right ways pass and mistakes are told the same: on 32 bits, without threads or processes."""
    here = [exercises.found(name) for name, more in needs(topic).items() if not more]
    names = [name for name, more in needs(topic).items() if not more]
    texts = [(name, text) for name, one in zip(names, here, strict=True)
             for text in (one.text, *(wrong.text for wrong in one.mistakes[:2]))]  # fmt: skip
    found = page.evaluate(ASK, [{"what": "check", "name": n, "text": t} for n, t in texts])
    for (name, text), answer in zip(texts, found, strict=True):
        exercises.found(name).forget()
        want = exercises.answered("check", name, text)
        assert (answer["state"], without_hint(answer["text"])) == (
            want["state"],
            without_hint(want["text"]),
        ), name
    assert [one["state"] for one in found[::3]] == ["right"] * len(here)


DOORS = """
from batchlab import buckets, lengths, packing, padding, records
tokens = lengths.embedded()
print(len(tokens), tokens.sum(), lengths.summary(tokens))
for batches in (buckets.by_token_budget(tokens, 8192), padding.in_order(tokens, 8)):
    print(len(batches), batches[0], padding.measure(tokens, batches))
print(f"{padding.expected_longest(tokens, 64):.9g} {padding.expected_waste(tokens, 8):.9g}")
for how in ("truncate", "drop", "split"):
    for method in packing.METHODS if how == "split" else packing.METHODS[:1]:
        packed = packing.pack(tokens, 512, too_long=how, method=method)
        print(how, method, packed.row_count, packed.row_of[::499].tolist())
print(packing.lower_bound([2**33] * 5, 2**34), packing.lower_bound(tokens, 4096))
print(len(records.public_runs(benchmark="llama31_8b").runs))
"""


def test_the_doors_of_arithmetic_give_in_the_page_what_they_give_here(page, capsys):
    """The page counts places in 32 bits, and its Python is the newest."""
    text = f"{DOORS}\ndef waste(batches):\n    raise NotImplementedError\n"
    (there,) = page.evaluate(ASK, [{"what": "run", "name": FIRST, "text": text}])
    here = exercises.answered("run", FIRST, text)
    assert there["text"] == here["text"] and there["state"] == "blank"
    assert here["text"].count("\n") > 10


def without_hint(text):
    """A refusal without its last line, which changes with each try."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("try "))
