"""Lesson 18: bytes, rollouts and bills beside the library's, what its page shows, its pieces."""

import inspect
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import batchlab
from batchlab import cluster, lengths, memory, roofline, timing
from batchlab.exercises.plan import offers, plan_run, scenes
from batchlab.exercises.plan.run_bytes import run_bytes
from batchlab.plan import Plan
from batchlab.roofline import device

TOY = plan_run.TOY


def test_the_sheet_of_llama_has_its_published_sizes():
    sheet = scenes.sheet_of(scenes.LLAMA_8B)
    assert sheet["linear"] == 6_979_321_856 and 16 * sheet["adapter"] == 41_943_040
    assert sheet["linear"] + sheet["other"] == 8_030_261_248
    assert sheet["flops"] == roofline.flops_per_token(scenes.LLAMA_8B, 9, convention="parameters")


def test_bytes_of_full_tuning_are_the_librarys_estimate():
    sheet = scenes.sheet_of(scenes.LLAMA_8B)
    found = run_bytes(sheet, {"kind": "full", "rank": 3}, 4 * 640)
    library = memory.estimate(scenes.LLAMA_8B, Plan(4, 1, 1, 640))
    names = ("parameters", "gradients", "optimizer", "activations", "logits")
    assert list(found.values()) == [getattr(library, name) for name in names]


def test_lora_and_four_bits_of_llama_are_the_known_gigabytes():
    sheet = scenes.sheet_of(scenes.LLAMA_8B)
    lora = run_bytes(sheet, {"kind": "lora", "rank": 16}, 0)
    assert sum(lora.values()) == pytest.approx(16.73e9, rel=1e-3)
    base = run_bytes(sheet, {"kind": "4-bit", "rank": 0}, 0)["weights"]
    assert base == pytest.approx(3.926e9 + 2.102e9, rel=1e-3)


def test_the_bill_of_the_page_is_the_librarys_and_that_of_the_checks():
    device = roofline.DEVICES["T4"]
    library = cluster.bill(10**9, 1e9, 3, device, utilisation=(0.1, 0.3), price_per_hour=0.5)
    given = {"count": 3, "peak": device.flops_per_second, "price": 0.5}
    found = plan_run.bill(10**9, 1e9, given, (0.1, 0.3))
    assert found["hours"] == pytest.approx((library.hours.least, library.hours.most))
    assert found["money"] == pytest.approx((library.money.least, library.money.most))
    page = Path(batchlab.__file__).parents[1] / "solutions/18_plan/plan.ipynb"
    cells = ["".join(one["source"]) for one in json.loads(page.read_text())["cells"]]
    assert inspect.getsource(plan_run.bill).strip() in cells
    given = inspect.getsource(run_bytes).strip()
    assert given.replace("  # fmt: skip", "") in cells


def test_the_peak_is_that_of_products_which_nobody_held_up(monkeypatch):
    """The median of the repeats, 100 FLOP/s here, is the peak of a machine that others use."""
    asked = []

    def measure(place, seconds):
        asked.append(torch.get_num_threads())
        return SimpleNamespace(products=[
            timing.Timing("one", 200, (2.0, 0.5, 2.0), 1), timing.Timing("two", 90, (9.0,), 1),
        ])  # fmt: skip

    monkeypatch.setattr(device, "measure", measure)
    threads = torch.get_num_threads()
    assert scenes.fastest("cpu") == 400 * threads and scenes.fastest("cuda") == 400
    assert asked == [1] * 6 and torch.get_num_threads() == threads


@pytest.mark.parametrize("seed", range(4))
def test_a_plan_keeps_the_wish_and_its_totals_add_up(seed):
    texts, sheet, device, wish = given = plan_run.fresh(np.random.default_rng(seed))
    found = plan_run.plan_run(*given)
    assert found["rows"] * found["accumulation"] * device["count"] * wish["row"] == wish["slots"]
    assert found["bytes"] <= device["bytes"] and found["tokens"] <= found["slots"]
    assert found["tokens"] == wish["epochs"] * sum(texts)
    share = found["rows"] * found["accumulation"]
    larger = [n for n in range(found["rows"] + 1, share + 1) if share % n == 0]
    needed = [plan_run.bytes_of(sheet, wish, n * wish["row"], wish["kind"]) for n in larger]
    assert all(one > device["bytes"] for one in needed)


def test_the_plan_that_the_page_counts_by_hand():
    wish = {"slots": 40_960, "row": 640, "kind": "lora", "rank": 16, "epochs": 3}
    wish |= {"utilisation": cluster.UTILISATION}
    peak = roofline.DEVICES["H100 SXM"].flops_per_second
    device = {"bytes": 80 * 10**9, "count": 1, "peak": peak, "price": 3.0}
    sheet, texts = scenes.sheet_of(scenes.LLAMA_8B), lengths.gsm8k().tolist()
    found = plan_run.plan_run(texts, sheet, device, wish)
    assert plan_run.rows_that_fit(sheet, wish, 640, device["bytes"]) == 14
    assert (found["rows"], found["accumulation"], found["steps"]) == (8, 8, 111)
    assert found["slots"] == 3 * 2312 * 640 == 4_439_040
    assert [round(60 * hours, 1) for hours in found["hours"]] == [6.4, 9.5]


def test_guesses_are_judged_by_their_factor_and_their_side():
    found = scenes.calibration([(20, 10), (5, 10), (80, 10), (0, 3), (-1, 3)])
    assert found == {"typical": 2.0, "bias": 2.0, "within_two": 0.0}
    assert scenes.calibration([(0, 1)]) is None


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("no multiple of 20; nearest: [np.int64(240), np.int64(260)]", ""),
        ("240 or 260.0 in place of 250", ""),
        ("250: take 260", "both nearest"),
        ("220, 240, 260 and 280", "farther"),
    ],
)
def test_a_refusal_offers_the_nearest_alone(said, fault):
    found = offers.misnamed_near(said, 250, 20, {20})
    assert fault in found and bool(found) == bool(fault)


def test_a_refusal_names_the_kind_that_was_wished():
    assert not offers.misnamed_kind("one row as LoRA does not fit", "lora")
    assert (
        offers.misnamed_kind("one row does not fit", "full")
        == "name the kind that was wished: full"
    )


def test_the_pieces_of_the_course_pass_the_tests_that_a_kept_one_must_pass():
    assert scenes.packs(scenes.pack_rows) and scenes.steps_once(scenes.take_step)
    assert scenes.guards(scenes.most_rows)
    assert not scenes.guards(lambda step, documents, sequences, most: (1, sequences))


def test_a_step_that_divides_by_micro_batches_is_not_taken():
    def popular(network, optimizer, schedule, micro_batches, max_norm):
        from batchlab import loop

        for micro in micro_batches:
            part = loop.summed_loss(loop.logits_of(network, micro), micro["labels"])
            (part / (micro["labels"] >= 0).sum() / len(micro_batches)).backward()
        optimizer.step()

    assert not scenes.steps_once(popular)


def test_a_page_says_what_was_promised_and_what_came(tmp_path, capsys):
    checked = [("steps", 11, 11), ("time", (0.1, 0.4), 0.2), ("bytes", 10**6, 2 * 10**6)]
    page = scenes.page("A run", {"rows": 4, "hours": (0.1, 0.4)}, checked)
    assert "A run\n=====" in page and "inside" in page and "hours" not in page
    assert re.search(r"6.00 min to 24.0 min", page)
    scenes.write_page(tmp_path / "page.html", page)
    assert "&lt;" not in (tmp_path / "page.html").read_text()
    assert "page.html" in capsys.readouterr().out
