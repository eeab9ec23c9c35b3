"""The built book as readers meet it: every page, four widths, both themes, and paper."""

import gzip
import json
import re
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from playwright.sync_api import expect

from batchlab.authoring import catalogue, pages
from tests.browser.conftest import ROOT

pytestmark = pytest.mark.browser

WIDTHS = (320, 390, 820, 1440)
THEMES = ("light", "dark")
LESSONS = [f"lessons/{one.folder}" for one in catalogue.lessons(ROOT)]
RUN = [page.stem for page in (ROOT / "book").glob("*.md") if "{code-cell}" in page.read_text()]
MATRIX = [f"matrix/{one.folder}" for one in catalogue.lessons(ROOT)]
LONGEST = "api/records"  # of the library's doors: one stands for all, which have one template
PAGES = ["index", *LESSONS, *pages.FRONT, *pages.MEASURED, *pages.REFERENCE, LONGEST, *MATRIX]
# pages have three templates: the front, a lesson and a table in both themes, the others in turn
BOTH = ("index", LESSONS[1], MATRIX[1])
# of the tables of wrong answers, which have one template and one voice, one stands for all
JUDGED = [(name, theme) for number, name in enumerate(PAGES) for theme in THEMES
          if name in BOTH or (name not in MATRIX and theme == THEMES[number % 2])]  # fmt: skip
MOST = {True: 400 * 2**10, False: 2**20}  # bytes of a first view, gzipped: of a lesson, of others
FIGURES = "div.cell_output img, article img[src*='_images/']"
# scale of each figure: a PNG has 144 pixels an inch (plots/_canvas.py), an SVG 96
DRAWN = f"""[...document.querySelectorAll("{FIGURES}")].map((one) =>
    one.getBoundingClientRect().width / one.naturalWidth
      * (one.dataset.density || 1)).filter((scale) => scale > 0)"""
# The judge takes minutes for thousands of words of code in one dress: three of each stand for all,
# as do a few rows of each table of wrong answers and a few entries of each module of the library.
SETTLED = """async () => {
  const ends = (one) => one.effect.getComputedTiming().iterations !== Infinity;
  const fading = document.getAnimations().filter(ends);
  await Promise.all(fading.map((one) => one.finished.catch(() => null)));
}"""
FEWER = """() => {
  const many = ["table.bl-stack tbody tr:nth-child(n+9)",
    "dl.py:nth-of-type(n+4)", ".bd-toc ul ul li:nth-child(n+9)"];
  document.querySelectorAll(many.join()).forEach((one) => one.remove());
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  const seen = {};
  for (const one of document.querySelectorAll("article span[class]")) {
    if (one.children.length || one.id) continue;
    let dress = "";
    for (let up = one; up.tagName !== "ARTICLE"; up = up.parentElement) dress += `${up.className}|`;
    seen[dress] = (seen[dress] || 0) + 1;
    if (seen[dress] > 3) one.replaceWith(one.textContent);
  }
  document.body.normalize();
}"""
SMALLEST = 9.0  # px of a figure's text on a phone
FIGURE_TEXT = 8.5 * 96 / 72  # px of the smallest text of a figure as drawn: 8.5 points, `plots/`


@pytest.fixture(params=PAGES)
def name(request):
    return request.param


def opened(browser, book: Path | str, name: str, **options):
    """A page of the book: of its folder, or of the host that serves it."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.asked, page.said = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.goto(f"{book if isinstance(book, str) else book.as_uri()}/{name}.html")
    page.wait_for_load_state("load")
    return page


def weight(page) -> int:
    """Bytes of all that the page has asked for, gzipped."""
    files = {unquote(urlparse(url).path) for url in page.asked if url.startswith("file:")}
    return sum(len(gzip.compress(Path(file).read_bytes(), 6)) for file in files)


def strangers(page) -> list[str]:
    """What the page has asked of another host."""
    return [url for url in page.asked if not url.startswith(("file:", "data:", "blob:"))]


def above_minor(page, axe: str) -> dict[str, list]:
    """What the judge of accessibility finds on a page, by rule: the places."""
    page.wait_for_timeout(300)
    page.evaluate(FEWER)
    page.evaluate(SETTLED)  # a box that is still fading in has no contrast yet
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return {f"{one['id']} ({one['impact']})": [node["target"] for node in one["nodes"]]
            for one in found if one["impact"] != "minor"}  # fmt: skip


def test_a_page_is_light_and_fits_every_screen(browser, book, name):
    """It asks no other host and has one title; nothing scrolls sideways, no figure is too small."""
    page = opened(browser, book, name)
    page.wait_for_timeout(300)
    assert strangers(page) == [] and page.said == []
    assert weight(page) <= MOST[name in LESSONS], f"{weight(page) / 2**10:.0f} KiB"
    title = page.title()
    assert title.count("The Effective Batch") == 1
    assert page.locator("meta[name=description]").count() == 1
    assert page.locator("link[rel*=icon]").get_attribute("href").endswith("favicon.svg")
    assert page.locator("article p", has_text=re.compile(r"^\s*\|.*\|")).count() == 0, "no table"
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(60)
        over = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert over <= 0, f"{width} px: {over} px too wide"
        drawn = page.evaluate(DRAWN)
        assert all(FIGURE_TEXT * scale >= SMALLEST for scale in drawn), f"{width} px: {drawn}"
    page.context.close()


@pytest.mark.parametrize(("name", "theme"), JUDGED)
def test_the_judge_of_accessibility_finds_nothing_above_minor(browser, book, axe, name, theme):
    page = opened(browser, book, name, color_scheme=theme, viewport={"width": 1440, "height": 900})
    told = {rule: places[:3] for rule, places in above_minor(page, axe).items()}
    assert told == {}
    page.context.close()


@pytest.mark.parametrize("name", ["index", LESSONS[1]])
def test_figures_are_turned_to_the_dark_and_no_grey_cards(browser, book, name):
    page = opened(browser, book, name, color_scheme="dark")
    turned = f"""[...document.querySelectorAll("{FIGURES}")]
        .map((one) => getComputedStyle(one).filter.startsWith("invert"))"""
    found = page.evaluate(turned)
    assert found and all(found)
    page.context.close()


def test_formulas_and_folds_have_their_place_in_the_order_of_tabs(browser, book):
    page = opened(browser, book, LESSONS[1])
    assert page.locator("mjx-container").count() == 0, "fetched at the first sign of a reader"
    page.keyboard.press("PageDown")
    page.wait_for_selector("mjx-container", state="attached")
    assert page.locator("mjx-container[tabindex]:not([tabindex='-1'])").count() == 0
    names = page.locator("details.hide > summary").all_inner_texts()
    assert len(names) == len(set(names)) > 6, "each fold has its own name"
    page.context.close()


def test_a_blank_stands_open_and_its_answer_folds(browser, book):
    page = opened(browser, book, LESSONS[1])
    blanks = page.locator("div.bl-blank")
    answers = page.locator("details.hide", has=page.get_by_text("Show an answer", exact=False))
    assert blanks.count() == answers.count() > 2
    assert "raise NotImplementedError" in blanks.first.inner_text() and blanks.first.is_visible()
    assert "Exercise" in page.locator("h2", has_text="count the waste").inner_text()
    html = page.content()
    assert "BEGIN SOLUTION" not in html and "END SOLUTION" not in html
    assert page.get_by_text("Other ways that pass every check").count() > 2
    assert page.locator(".bl-explorer").count() == 1 and "probe.finder" not in html
    page.context.close()


def test_the_button_gives_the_notebook_of_a_student(book):
    for one in catalogue.lessons(ROOT):
        page = (book / "lessons" / f"{one.folder}.html").read_text()
        (file,) = set(re.findall(r'href="([^"]*)"[^>]*>Download the notebook', page))
        assert (book / "lessons" / file).read_bytes() == (ROOT / one.notebook).read_bytes()
    assert not list(book.rglob("*.md")) and not (book / "_sources").exists()


def test_a_guess_uncovers_what_it_was_about_and_progress_is_kept(browser, host):
    page = opened(browser, host, LESSONS[1])
    truth = page.locator('[data-kind="Prediction"][data-kept=""]').first
    expect(truth).not_to_be_visible()
    expect(page.locator(".bl-covered .output").filter(visible=True)).to_have_count(0)
    page.get_by_role("textbox", name="Your guess, of the slots:").fill("0.5")
    page.keyboard.press("Enter")
    expect(truth).to_contain_text("You guessed 0.5, it is 0.")
    of_the_other = page.get_by_role("button", name="Show it without a guess")
    expect(of_the_other).to_have_count(1)
    of_the_other.click()
    expect(of_the_other).to_have_count(0)
    quiz = page.locator(".bl-quiz").first
    quiz.get_by_role("radio").first.check()
    quiz.get_by_role("button", name="Check question 1").click()
    progress = page.locator("[data-progress]").first
    expect(progress).to_contain_text("1 of 2 guesses, 1 of 5 questions")
    page.reload()
    expect(truth).to_be_visible()
    page.goto(f"{host}/index.html")
    card = page.locator(f'li[data-lesson="{Path(LESSONS[1]).name}"]')
    expect(card).to_contain_text("1 of 2 guesses, 1 of 5 questions")
    with page.expect_download() as given:
        page.get_by_role("button", name="Export what I answered here").click()
    exported = json.loads(Path(given.value.path()).read_text())
    assert exported["02-waste"] == {"guess": 0.5} and exported["02-recall"]["chosen"] == {"0": 0}
    page.get_by_role("button", name="Forget it").click()
    expect(card).not_to_contain_text("guesses")
    page.context.close()


def test_paper_shows_answers_and_no_dead_controls(browser, book):
    page = opened(browser, book, LESSONS[1])
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.hide:not([open])").count() == 0
    assert page.get_by_text(
        "slots = sum(max(batch) * len(batch) for batch in batches)"
    ).first.is_visible()
    dead = ".bl-explorer input, .bl-quiz button, .bl-predict form, .bl-start, .bl-cover, .copybtn"
    assert page.locator(dead).filter(visible=True).count() == 0
    assert page.locator('[data-kind="Prediction"][data-kept=""]').first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.hide[open]").count() == 0
    page.context.close()


def test_words_lead_to_their_meaning_and_the_page_of_runs_names_no_file(browser, book):
    page = opened(browser, book, LESSONS[3])
    terms = page.locator("a.bl-term")
    assert terms.count() > 5
    words = terms.all_text_contents()  # of folds as well
    assert len(words) == len(set(words)), "the first use only"
    target = terms.first.get_attribute("href")
    assert "words.html#term-" in target
    page.goto((book / "execution.html").as_uri())
    rows = page.locator("article table tbody tr")
    assert rows.count() == len(LESSONS) + len(RUN)
    said = page.locator("article").inner_text()
    assert (
        "CPU cores" in said and "torch" in said and ".md" not in said and "solutions/" not in said
    )
    page.context.close()
