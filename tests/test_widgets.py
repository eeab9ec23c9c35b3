"""Explorers: every setting is computed by the library, and one script draws it anywhere."""

import json
import re
import shutil
import subprocess
import sys
from importlib import resources

import numpy as np
import pytest

from batchlab import lengths as ln
from batchlab import packing, padding, widgets

LENGTHS = [5, 3, 8, 2, 7, 7, 1, 4]
SCRIPT = resources.files("batchlab") / "web" / "explorer.js"


def square(**options):
    return widgets.explorer(
        "Area", {"side": ("side", [1, 2, 3])}, lambda side: {"facts": {"area": side**2}}, **options
    )


def test_a_scene_holds_the_facts_of_its_setting():
    made = square(start={"side": 2})
    assert made.setting == {"side": 2} and made.scene() == {"area": "4"}
    made.setting = {"side": 3}
    assert made.scene() == {"area": "9"}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"side": 4}, "side 4 is not offered; there are 1, 2, 3"),
        ({"edge": 1}, "has side; got edge"),
    ],
)
def test_a_setting_that_is_not_offered_is_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        square().setting = setting


def test_controls_without_values_and_pages_too_large_are_refused():
    with pytest.raises(ValueError, match="at least one value"):
        widgets.explorer("x", {"side": ("side", [])}, lambda side: {"facts": {}})
    many = {name: (name, range(60)) for name in "ab"}
    with pytest.raises(ValueError, match="3,600 settings"):
        widgets.explorer("x", many, lambda a, b: {"facts": {}})


def test_drawn_rows_without_words_are_refused():
    scene = {"facts": {}, "rows": [[(0, 3)]]}
    with pytest.raises(ValueError, match="alt"):
        widgets.explorer("x", {"a": ("a", [1])}, lambda a: scene)


def test_a_goal_that_nothing_or_everything_meets_is_refused():
    controls = {"side": ("side", [1, 2])}
    for always in (True, False):
        with pytest.raises(ValueError, match="the goal is met by"):
            widgets.finder(
                "x",
                controls,
                lambda side: {"facts": {}},
                goal="g",
                where=lambda side, met=always: met,
            )


def test_the_padding_explorer_shows_what_the_library_counts():
    made = widgets.padding_explorer(LENGTHS, rows=[1, 2, 4], windows=[1, 2])
    for rows in (1, 2, 4):
        for window in (1, 2):
            batches = padding.in_windows(LENGTHS, rows, window=window, rng=np.random.default_rng(0))
            found = padding.measure(LENGTHS, batches)
            scene = made.scene({"rows": rows, "window": window})
            assert scene["slots"] == f"{found.slots:,}"
            assert scene["waste"] == f"{100 * found.waste:.1f} %"


def test_each_drawn_rectangle_has_rows_of_one_width():
    made = widgets.padding_explorer(LENGTHS, rows=[1, 2, 4], windows=[1, 2])
    for scene in made.state["table"].values():
        assert len({sum(slots for _, slots in row) for row in scene["rows"]}) == 1
        assert "slots hold real tokens" in scene["alt"]


def test_the_setting_to_find_is_the_one_that_brute_force_finds():
    tokens, limit = ln.embedded(), 0.25
    made = widgets.padding_explorer(tokens, rows=[2, 8, 32], windows=[1, 16], most_waste=limit)
    wasted = {
        (rows, window): padding.measure(
            tokens, padding.in_windows(tokens, rows, window=window, rng=np.random.default_rng(0))
        ).waste
        for rows in (2, 8, 32)
        for window in (1, 16)
    }
    rows = max(rows for (rows, _), waste in wasted.items() if waste <= limit)
    window = min(w for (r, w), waste in wasted.items() if r == rows and waste <= limit)
    found = {key for key in wasted if made.scene({"rows": key[0], "window": key[1]})["found"]}
    assert found == {(rows, window)}


def test_what_is_to_be_found_opens_where_nothing_is_given_away():
    """Met at 3 and 4 of five places on either slider: the middle, 2 and 2, shares neither."""
    made = widgets.finder(
        "t", {"a": ("a", [0, 1, 2, 3, 4]), "b": ("b", [0, 1, 2, 3, 4])},
        lambda a, b: {"facts": {"sum": str(a + b)}}, goal="g", where=lambda a, b: min(a, b) >= 3,
    )  # fmt: skip
    assert made.setting == {"a": 2, "b": 2} and not made.scene()["found"]
    middle = widgets.finder("t", {"a": ("a", [0, 1, 2])}, lambda a: {"facts": {"a": str(a)}},
                            goal="g", where=lambda a: a == 1)  # fmt: skip
    assert middle.setting == {"a": 0}, "not where the goal is met"


def test_the_packing_explorer_shows_what_the_library_packs():
    made = widgets.packing_explorer(LENGTHS, row_lengths=[4, 8], methods=["next_fit"])
    packed = packing.pack(LENGTHS, 4, method="next_fit", too_long="split")
    scene = made.scene({"row_length": 4, "method": "next_fit"})
    assert scene["rows"] == str(packed.row_count) and scene["bound"] == str(packed.lower_bound)
    assert scene["documents cut"] == "4"


def test_the_packing_explorer_judges_a_packing_where_there_is_a_goal():
    made = widgets.packing_explorer(
        LENGTHS, row_lengths=[4, 64], methods=["next_fit"], goal="Cut no document.",
        where=lambda packed: packed.cut_documents == 0,
    )  # fmt: skip
    assert made.scene({"row_length": 64, "method": "next_fit"})["found"]
    assert not made.scene({"row_length": 4, "method": "next_fit"})["found"]


def test_the_calculator_knows_that_a_device_is_not_a_replica():
    made = widgets.calculator(slots=2**20)
    setting = {
        "rows": 8, "accumulation": 16, "devices": 64, "tensor": 8, "pipeline": 1, "length": 1024
    }  # fmt: skip
    scene = made.scene(setting)
    assert scene["replicas"] == "8" and scene["slots per step"] == "1,048,576"
    assert scene["found"]
    refused = made.scene({**setting, "devices": 1})
    assert refused["slots per step"] == "-" and not refused["found"]
    assert widgets.calculator(devices=[8], tensor=[1, 16]).scene()["replicas"] == "8"


def test_the_html_needs_no_kernel_and_no_other_host(monkeypatch):
    shown = widgets.explorer(
        "</script><b>", {"a": ("a", [1])}, lambda a: {"facts": {"x": "<i>"}}
    )._repr_html_()
    assert shown.count("</script>") == 1 and "<b>" not in shown and "<i>" not in shown
    assert "import " not in re.sub(r"//.*", "", shown)
    assert re.findall(r"https?://[^\s\"']+", shown) == ["http://www.w3.org/2000/svg"]


def test_the_same_explorer_gives_the_same_html_every_time():
    assert square()._repr_html_() == square()._repr_html_()


def test_a_notebook_gets_the_widget_and_a_book_the_html_alone(monkeypatch):
    pytest.importorskip("anywidget")
    made = square()
    assert "application/vnd.jupyter.widget-view+json" in made._repr_mimebundle_()
    made.widget().setting = {"side": 3}  # what the browser does
    assert made.setting == {"side": 3}
    monkeypatch.setenv("BATCHLAB_BOOK", "1")
    assert set(square()._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_without_anywidget_the_html_still_shows():
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "from batchlab import widgets\n"
        "made = widgets.padding_explorer([5, 3, 8, 2], rows=[2], windows=[1])\n"
        "print(sorted(made._repr_mimebundle_()), made.widget())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['text/html', 'text/plain'] None"


def test_the_script_finds_the_scene_that_python_stored():
    """Judged by node: the key and the setting of every slider position agree with Python."""
    if shutil.which("node") is None:
        pytest.skip("LOUDLY: node is not installed, so the script is not run outside a browser")
    made = widgets.calculator(rows=[1, 2], accumulation=[1, 4], slots=8192)
    code = (
        f"const m = await import({json.dumps(SCRIPT.as_uri())});\n"
        f"const s = {json.dumps(made.state)};\n"
        "const answer = [];\n"
        "for (const key of Object.keys(s.table)) {\n"
        "  const p = Object.fromEntries(s.controls.map((c, i) => [c.name, +key.split('|')[i]]));\n"
        "  const setting = m.settingOf(s.controls, p);\n"
        "  const back = m.keyOf(s.controls, m.positionsOf(s.controls, setting));\n"
        "  answer.push([key, back, setting]);\n"
        "}\n"
        "console.log(JSON.stringify(answer));"
    )
    done = subprocess.run(
        ["node", "--no-warnings", "--input-type=module", "-e", code],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers = json.loads(done.stdout)
    assert len(answers) == len(made.state["table"])
    for key, back, setting in answers:
        assert key == back == made._key(setting)


def test_the_width_of_a_drawing_is_the_longest_row_of_all_settings_or_what_a_scene_says():
    def drawn(side, **more):
        rows = [[(0, side), (-1, 1)]] * side
        return {"facts": {"area": side**2}, "rows": rows, "alt": "a square", **more}

    controls = {"side": ("side", [1, 2, 4])}
    state = widgets.explorer("Area", controls, drawn).state
    assert state["extent"] == 5, "slots of both kinds, of the last setting"
    assert [state["table"][key]["axes"] for key in "02"] == [
        ["1 row", "5 slots"],
        ["4 rows", "5 slots"],
    ]
    own = widgets.explorer("Area", controls, lambda side: drawn(side, extent=1000 * side)).state
    assert own["extent"] == 5 and own["table"]["1"]["extent"] == 2000
    assert own["table"]["1"]["axes"] == ["2 rows", "2,000 slots"]
    bare = widgets.explorer("Area", controls, lambda side: {"facts": {}}).state
    assert bare["extent"] == 1 and bare["table"]["0"]["axes"] == ["0 rows", "1 slots"]
