"""A real JupyterLab with a real kernel: `make lab`'s settings, and widgets under the keyboard."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.browser.conftest import ROOT

pytestmark = pytest.mark.browser

CELLS = [
    "from batchlab import widgets\n"
    "area = widgets.finder('Area', {'side': ('side', [1, 2, 3, 4, 5])},\n"
    "    lambda side: {'facts': {'area': side**2}}, goal='Find 25.',\n"
    "    where=lambda side: side == 5)\n"
    "area",
    "from batchlab.classroom import quiz\n"
    "quiz.show([{'question': '2 rows of 3?', 'options': [\n"
    "    {'text': '5', 'right': False, 'why': 'that adds'},\n"
    "    {'text': '6', 'right': True, 'why': 'a rectangle'}]}], key='x')",
    "from batchlab.classroom import predict\n"
    "predict.number('99-try', 2, unit='slots'); predict.reveal('99-try', 4)",
    "print('setting', area.setting)",
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab that was started with what the Makefile gives `make lab`."""
    folder = tmp_path_factory.mktemp("lab")
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": source, "outputs": [],
         "execution_count": None}
        for n, source in enumerate(CELLS)
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "try.ipynb").write_text(json.dumps(book))
    lesson = ROOT / "lessons/02_padding/padding.ipynb"
    shutil.copy(lesson, folder / "padding.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    recipe = (ROOT / "Makefile").read_text()
    (own,) = re.findall(r'--LabApp\.app_settings_dir="\$\(CURDIR\)/(\S+)"', recipe)
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root",
               f"--port={port}", f"--LabApp.app_settings_dir={ROOT / own}",
               f"--ServerApp.root_dir={folder}", "--IdentityProvider.token=t"]  # fmt: skip
    names = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR")
    home = {name: str(folder / "home") for name in names}
    path = {"PYTHONPATH": str(ROOT), "BATCHLAB_CACHE": str(folder / "cache")}
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, **home, **path}
        )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{address}/api?token=t", timeout=5).close()
                break
            except OSError:
                time.sleep(0.5)
        else:
            pytest.fail((folder / "log").read_text()[-2000:])
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


@pytest.fixture(scope="module")
def page(lab, browser):
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    sheet = context.new_page()
    sheet.set_default_timeout(90_000)
    sheet.goto(f"{lab}/lab/tree/try.ipynb?token=t")
    sheet.wait_for_selector(".jp-Notebook .jp-CodeCell")
    sheet.get_by_text("Python 3 (ipykernel) | Idle").or_(
        sheet.get_by_text("| Idle")
    ).first.wait_for()
    sheet.locator(".jp-Notebook .cm-content").first.click()
    for _ in CELLS[:3]:
        sheet.keyboard.press("Shift+Enter")
    sheet.wait_for_selector(".bl-explorer")
    sheet.wait_for_selector(".bl-quiz")
    yield sheet
    context.close()


def test_the_arrow_keys_move_the_slider_and_not_the_notebook(page):
    slider = page.get_by_role("slider", name="side")
    assert slider.get_attribute("data-lm-suppress-shortcuts") == "true"
    slider.focus()
    assert slider.get_attribute("aria-valuetext") == "3"
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "5"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    assert slider.get_attribute("aria-valuetext") == "4"
    assert slider.evaluate("one => document.activeElement === one"), "the slider keeps the focus"
    page.keyboard.press("End")
    assert "Found" in page.locator(".bl-status").inner_text()


def test_the_kernel_knows_where_the_keyboard_left_the_slider(page):
    page.locator(".jp-Notebook .cm-content").nth(3).click()
    page.keyboard.press("Shift+Enter")
    page.get_by_text("setting {'side': 5}").wait_for()


def test_a_quiz_is_answered_by_the_keyboard_and_arrows_judge_nothing(page):
    quiz, cells = page.locator(".bl-quiz"), page.locator(".jp-Notebook .jp-CodeCell")
    before = cells.count()
    quiz.get_by_role("radio", name="5").focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    assert quiz.get_by_role("radio", name="6").is_checked()
    assert quiz.get_by_role("status").inner_text() == ""
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert quiz.get_by_role("status").inner_text() == "Right. a rectangle"
    assert cells.count() == before, "no key made a cell"


def test_a_prediction_is_revealed(page):
    page.get_by_text("You guessed 2, it is 4 slots: 2 times too low.").wait_for()


def test_the_classroom_settings_hold_no_news_folded_checks_wrapped_lines(lab, browser):
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    sheet = context.new_page()
    sheet.set_default_timeout(90_000)
    asked: list[str] = []
    sheet.on("request", lambda request: asked.append(request.url))
    sheet.goto(f"{lab}/lab/tree/padding.ipynb?token=t&reset")
    sheet.wait_for_selector(".jp-Notebook .jp-CodeCell")
    sheet.get_by_text("| Idle").first.wait_for()
    sheet.wait_for_timeout(3000)
    popups = ".jp-Dialog, .Toastify__toast, .jp-toastContainer .Toastify__toast-body"
    assert sheet.locator(popups).count() == 0, sheet.locator(popups).all_inner_texts()
    assert not [url for url in asked if "127.0.0.1" not in url and not url.startswith("data:")]
    assert not [url for url in asked if "/api/news" in url or "api/update" in url]
    assert sheet.locator(".jp-CodeCell .jp-InputPlaceholder, .jp-CodeCell .jp-Placeholder").count()
    assert sheet.locator(".jp-CodeCell .cm-lineWrapping").count()
    context.close()
