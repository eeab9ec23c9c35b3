"""The page of a run in a real browser: followed, killed, back again; both themes, two widths."""

import os
import signal
import threading

import pytest
from playwright.sync_api import expect

from batchlab import dashboard, records
from batchlab.cluster import training
from batchlab.dashboard import _follow, _live, _server
from tests.browser.test_book import SETTLED, THEMES
from tests.test_dashboard import BEGAN, append, line
from tests.test_train import members

pytestmark = pytest.mark.browser

WIDTHS = (390, 1440)


def two_ranks(folder, *lasts, run="a", began=BEGAN):
    for last in lasts:
        for rank in (0, 1):
            one = line(last, rank=rank, world=2, run=f"{run}{rank}", began=began)
            append(records.of_rank(folder / "run.jsonl", rank, 2), one)


@pytest.fixture
def address(tmp_path):
    with dashboard.server(tmp_path / "run.jsonl", 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


def opened(browser, address, **how):
    page = browser.new_context(**how).new_page()
    page.asked, page.said = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("console", lambda line: line.type == "error" and page.said.append(line.text))
    page.goto(address)
    return page


def test_a_run_is_followed_is_killed_and_comes_back(browser, address, tmp_path):
    page = opened(browser, address)
    expect(page.get_by_role("status")).to_have_text("waiting for the first record of run.jsonl")
    expect(page.locator("#sentence")).to_have_text("Nothing yet: no step is recorded.")
    two_ranks(tmp_path, 11, 21)
    place = page.locator("#place")
    expect(place).to_have_text("step 21, 3,840 tokens")
    expect(page.locator("#ranks tbody tr")).to_have_count(2)
    with records.of_rank(tmp_path / "run.jsonl", 0, 2).open("a") as file:
        file.write('{"kind": "cell", "rows"')  # kill -9
    two_ranks(tmp_path, 11, run="b", began=BEGAN + 60)
    expect(place).to_have_text("step 32, 5,760 tokens")
    expect(page.get_by_role("status")).to_contain_text("launch 2")
    expect(page.locator("#loss svg")).to_contain_text("launch 2")
    expect(page.locator("#about")).to_contain_text("1 line cut off or no record")
    for file in tmp_path.iterdir():
        file.unlink()
    two_ranks(tmp_path, 11, run="c")
    expect(place).to_have_text("step 11, 1,920 tokens")
    assert page.said == [] and {url.split("?")[0] for url in page.asked} <= {
        address, f"{address}state"}  # fmt: skip
    page.context.close()


def test_two_ranks_that_train_are_followed_through_a_kill(browser, tmp_path):
    """No line is made by hand: `batchlab train` writes, and a process of it is killed."""
    settings, killed = training.Settings(rows=1, length=64), []

    def kill(lines):
        if len(lines) >= 12 and not killed:
            killed.append(members(tmp_path)[-1])
            os.kill(killed[0], signal.SIGKILL)

    how = {"steps": 24, "processes": 2, "heard": kill}
    running = threading.Thread(target=training.launch, args=(tmp_path, settings), kwargs=how)
    with dashboard.server(tmp_path / "monitor.jsonl", 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        page = opened(browser, f"http://127.0.0.1:{server.server_address[1]}/")
        running.start()
        running.join()
        expect(page.get_by_role("status")).to_contain_text("launch 2", timeout=20_000)
        expect(page.locator("#loss svg")).to_contain_text("launch 2")
        expect(page.locator("#norm svg")).to_be_visible()
        expect(page.locator("#ranks tbody tr")).to_have_count(2)
        assert killed and page.said == []
        server.shutdown()
        thread.join()
    page.context.close()


PAUSES = """
const wait = setTimeout, pauses = window.pauses = [];
window.setTimeout = (then, pause) => { pauses.push(pause); return wait(then, pause); };
"""


def test_a_long_record_is_asked_for_without_a_rest(browser, address, tmp_path, monkeypatch):
    monkeypatch.setattr(_follow, "CHUNK", 2000)  # of some 13 kB of each rank
    monkeypatch.setattr(_server, "SECONDS", 0.0)
    two_ranks(tmp_path, *range(11, 111, 10))
    page = opened(browser, "about:blank")
    page.add_init_script(PAUSES)
    page.goto(address)
    expect(page.locator("#place")).to_have_text("step 101, 19.2 k tokens", timeout=60_000)
    expect(page.get_by_role("status")).to_have_text("running", timeout=60_000)
    pauses = page.evaluate("pauses")
    assert pauses.count(0) >= 4 and pauses[-1] > 0 and pauses == sorted(pauses), "only at its end"
    assert page.said == []
    page.context.close()


def test_the_keyboard_looks_at_any_step_in_all_charts(browser, address, tmp_path):
    two_ranks(tmp_path, 11, 21, 31)
    page = opened(browser, address)
    slider = page.get_by_role("slider", name="Look at")
    slider.focus()
    page.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext").startswith("step 2, ")
    assert page.locator("#loss .at").text_content() == "3.89"
    page.keyboard.press("End")
    assert page.locator("#loss .at").text_content() == "3.69"
    assert page.locator("#parts .legend tbody tr").count() == 6, "five parts and their sum"
    page.get_by_role("radio", name="steps").check()
    assert page.locator("#loss svg text").last.text_content() == "30"
    words = page.get_by_role("img").first.get_attribute("aria-label")
    assert words == "Loss. loss: from 3.89 to 3.69, between 3.69 and 3.89."
    page.context.close()


def test_the_end_of_the_server_is_told(browser, tmp_path):
    two_ranks(tmp_path, 11)
    with dashboard.server(tmp_path / "run.jsonl", 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        page = opened(browser, f"http://127.0.0.1:{server.server_address[1]}/")
        server.shutdown()
        thread.join()
    expect(page.get_by_role("status")).to_contain_text("batchlab watch has ended")
    page.context.close()


def test_a_cell_of_a_notebook_hears_its_kernel_and_asks_nobody(browser, tmp_path):
    state = {"steps": 0, "broken": 0, "name": "run.jsonl"}
    page = opened(browser, "about:blank")
    page.set_content(dashboard.View(dashboard.page(state), "cell")._repr_html_())
    frame = page.frame_locator("iframe[name=cell]")
    expect(frame.get_by_role("status")).to_have_text("waiting for the first record of run.jsonl")
    for last in (11, 21):
        two_ranks(tmp_path, last)
        scene = dashboard.Scene()
        scene.follow(dashboard.Follower(tmp_path / "run.jsonl"))
        script = _live._message("cell", {**scene.as_data(), "name": "run.jsonl"})
        page.evaluate(script.removeprefix("<script>").removesuffix("</script>"))
        expect(frame.locator("#place")).to_contain_text(f"step {last}, ")
        frame.get_by_role("radio", name="steps").check()
    expect(frame.get_by_role("radio", name="steps")).to_be_checked()
    page.evaluate("for (const one of document.getElementsByName('cell')) one.srcdoc += ' '")
    expect(frame.locator("#place")).to_contain_text("step 21, ")  # it was loaded again
    part = _live._message("cell", {**scene.as_data(), "name": "run.jsonl", "read": 0.429})
    page.evaluate(part.removeprefix("<script>").removesuffix("</script>"))
    expect(frame.get_by_role("status")).to_have_text("reading the record: 42 %")
    old = _live._message("cell", {**scene.as_data(), "name": "run.jsonl", "sent": 7.0})
    page.evaluate(old.removeprefix("<script>").removesuffix("</script>"))
    expect(frame.get_by_role("status")).to_contain_text("run this cell again")
    assert page.said == [] and {url.partition(":")[0] for url in page.asked} <= {"about", "data"}
    page.context.close()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_copy_fits_every_screen_and_the_judge_finds_nothing(browser, axe, tmp_path, width, theme):
    two_ranks(tmp_path, *range(11, 300, 10))
    (tmp_path / "copy.html").write_text(dashboard.show(tmp_path / "run.jsonl").html)
    how = {"viewport": {"width": width, "height": 900}, "color_scheme": theme}
    page = opened(browser, (tmp_path / "copy.html").as_uri(), **how)
    expect(page.get_by_role("status")).to_contain_text("a copy of 20")
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(over) <= 0
    page.evaluate(SETTLED)
    page.evaluate(axe)
    found = page.evaluate("axe.run(document)")["violations"]
    assert {one["id"]: [node["target"] for node in one["nodes"]] for one in found} == {}
    assert page.said == [] and len(page.asked) == 1, "the file itself"
    page.context.close()
