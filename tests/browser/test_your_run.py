"""Calculators in the page: the command line's words, by keyboard; nothing leaves the page."""

import pytest

from batchlab.cli import told
from tests.browser.conftest import ROOT
from tests.browser.test_book import above_minor

pytestmark = pytest.mark.browser

AXOLOTL = "base_model: a\nmicro_batch_size: 2\ngradient_accumulation_steps: 8\nsequence_len: 4096\n"
SHELL = "torchrun --nproc-per-node 8 train.py --per_device_train_batch_size 4"
OWN = ROOT / "batchlab/evidence/own_run.jsonl"


@pytest.fixture(scope="module")
def address(book, host):
    if not (book / "_static/live/live.js").is_file():
        pytest.skip("LOUDLY: this book was built without Python for the page: see `make book`")
    return f"{host}/your_run.html"


@pytest.fixture(scope="module")
def page(browser, address):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    opened = context.new_page()
    opened.asked = []
    opened.on("request", lambda request: opened.asked.append((request.method, request.url)))
    opened.goto(address)
    yield opened
    context.close()


def ran(page, verb):
    """State, words and command line, once the verb has been run by Enter on its button."""
    page.focus(f"#run-{verb} [type=submit]")
    page.keyboard.press("Enter")
    done = f"#run-{verb} .bl-said:is([data-state=ran], [data-state=error])"
    said = page.wait_for_selector(done, timeout=90_000)
    line = page.text_content(f"#run-{verb} .bl-command code")
    return said.get_attribute("data-state"), said.text_content(), line


def test_a_form_says_what_the_terminal_says_and_keeps_its_setting(page, address):
    assert not [url for _, url in page.asked if "pyodide" in url], "before the first Run"
    page.fill("#padding-data", "3\n4\n500\n20")
    page.fill("#padding-rows", "2 4")
    state, text, line = ran(page, "padding")
    words = ["padding", "--data", "lengths.txt", "--rows", "2", "4"]
    assert line == "batchlab " + " ".join(words)
    assert (state, text) == ("ran", told(words, {"lengths.txt": "3\n4\n500\n20\n"})["text"])
    again = page.context.new_page()
    again.goto(page.url)
    assert again.input_value("#padding-rows") == "2 4"
    assert again.input_value("#padding-data").split() == ["3", "4", "500", "20"]
    again.close()


@pytest.mark.parametrize(
    ("pasted", "name"),
    [(AXOLOTL, "config.yaml"), (SHELL, "launch.sh"), ('{"train_batch_size": 64}', "config.json")],
)
def test_a_config_is_known_by_its_text(page, pasted, name):
    page.fill("#plan-config", pasted)
    page.fill("#plan-devices", "8")
    state, text, line = ran(page, "plan")
    assert line == f"batchlab plan {name} --devices 8"
    here = told(["plan", name, "--devices", "8"], {name: f"{pasted.strip()}\n"})
    assert (state, text) == (here["state"], here["text"])


def test_a_second_form_of_a_verb_has_a_setting_of_its_own(page):
    """The mistake: the fields of `plan` under the ids of the first form."""
    words = "plan --tokens 100e9 --devices 64 --length 8192"
    state, text, line = ran(page, "proposal")
    assert line == f"batchlab {words}"
    assert (state, text) == ("ran", told(words.split(), {})["text"])


def test_the_doctor_reads_a_record_that_stays_in_the_page(page):
    assert "Open a file first" in ran(page, "doctor")[1]
    page.set_input_files("#run-doctor input[type=file]", OWN)
    state, text, line = ran(page, "doctor")
    assert (state, line) == ("ran", "batchlab doctor own_run.jsonl")
    assert text == told(["doctor", OWN.name], {OWN.name: OWN.read_text()})["text"]
    page.click("#run-doctor [data-example]")
    assert ran(page, "doctor")[:2] == ("ran", text)


def test_a_mistake_is_told_in_one_line_and_nothing_was_sent(page, address):
    page.fill("#rates-rate", "fast")
    state, text, _ = ran(page, "rates")
    assert state == "error" and "argument --rate" in text and "\n" not in text
    home = address.split("/html/")[0]
    assert {method for method, _ in page.asked} == {"GET"}
    assert all(url.startswith((home, "blob:", "data:")) for _, url in page.asked)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_nothing_above_minor(page, axe):
    assert above_minor(page, axe) == {}
