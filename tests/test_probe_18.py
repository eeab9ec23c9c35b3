"""The probe of lesson 18: planners, bytes against the library, the finder, pieces of a trainer."""

import math

import numpy as np
import pytest

from batchlab import cluster, memory, plan, roofline
from batchlab.classroom.probes import lesson_18 as probe
from batchlab.classroom.probes import lesson_18_finder as finder
from batchlab.classroom.probes import lesson_18_trials as trials
from batchlab.plan import Plan

TOY = {"linear": 6400, "other": 1000, "adapter": 70, "layers": 2, "kept": 50, "vocabulary": 30,
       "flops": 44_400}  # fmt: skip
PAIR = {"bytes": 38_080, "count": 2, "peak": 1e9, "price": 2.5}
WISH = {"slots": 360, "row": 10, "kind": "4-bit", "rank": 4, "epochs": 4, "utilisation": (0.2, 0.5)}


def test_the_sheet_of_llama_has_its_published_sizes():
    sheet = probe.sheet_of(probe.LLAMA_8B)
    assert sheet["linear"] == 6_979_321_856 and 16 * sheet["adapter"] == 41_943_040
    assert sheet["linear"] + sheet["other"] == 8_030_261_248
    assert sheet["flops"] == roofline.flops_per_token(probe.LLAMA_8B, 9, convention="parameters")


def test_bytes_of_full_tuning_are_the_librarys_estimate():
    sheet = probe.sheet_of(probe.LLAMA_8B)
    found = probe.RIGHT["run-bytes"][0](sheet, {"kind": "full", "rank": 3}, 4 * 640)
    library = memory.estimate(probe.LLAMA_8B, Plan(4, 1, 1, 640))
    names = ("parameters", "gradients", "optimizer", "activations", "logits")
    assert list(found.values()) == [getattr(library, name) for name in names]


def test_lora_and_four_bits_of_llama_are_the_known_gigabytes():
    sheet, of = probe.sheet_of(probe.LLAMA_8B), probe.RIGHT["run-bytes"][0]
    lora = of(sheet, {"kind": "lora", "rank": 16}, 0)
    assert sum(lora.values()) == pytest.approx(16.73e9, rel=1e-3)
    base = of(sheet, {"kind": "4-bit", "rank": 0}, 0)["weights"]
    assert base == pytest.approx(3.926e9 + 2.102e9, rel=1e-3)


def test_rollouts_are_those_that_the_library_reads_from_a_config():
    for rows, accumulation, replicas, generations, steps in ((4, 4, 8, 8, 4), (2, 8, 4, 4, 16)):
        config = {"per_device_train_batch_size": rows, "num_generations": generations,
                  "gradient_accumulation_steps": accumulation,
                  "steps_per_generation": steps}  # fmt: skip
        read = plan.from_config(config, devices=replicas, length=512)
        found = probe.RIGHT["rollout"][0](rows, accumulation, replicas, generations, steps)
        assert found["completions"] == read.plan.sequences_per_step
        assert found["prompts"] == read.rollout.prompts
        assert found["updates"] == read.steps_per_rollout


def test_a_bill_is_the_librarys():
    device = roofline.DEVICES["T4"]
    library = cluster.bill(10**9, 1e9, 3, device, utilisation=(0.1, 0.3), price_per_hour=0.5)
    given = {"count": 3, "peak": device.flops_per_second, "price": 0.5}
    found = probe.RIGHT["bill"][0](10**9, 1e9, given, (0.1, 0.3))
    assert found["hours"] == pytest.approx((library.hours.least, library.hours.most))
    assert found["money"] == pytest.approx((library.money.least, library.money.most))


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("step-counts", ([16_777_218, 3, 2, 4, 1], [[3, 1], [0], [4, 2]], 2)),
        ("rollout", (2, 8, 4, 4, 18)),
        ("bill", (10**12, 1e9, {"count": 3, "peak": 1e12, "price": 7.0}, (0.1, 0.3))),
        (
            "calibration",
            ([(3.3, 1), (1, 5), (12, 10), (9**9, 2), (0, 4), (2, 1), (4 * 10**10, 10**10)],),
        ),
    ],
)
def test_each_wrong_version_is_wrong(name, case):
    right = probe.RIGHT[name][0](*case)
    for thought, version in probe.WRONG[name].items():
        assert version(*case) != right, thought


def test_each_wrong_version_of_the_bytes_is_wrong_for_some_kind():
    for thought, version in probe.WRONG["run-bytes"].items():
        wrong = [
            version(TOY, {"kind": kind, "rank": 5}, 7)
            != probe.RIGHT["run-bytes"][0](TOY, {"kind": kind, "rank": 5}, 7)
            for kind in probe.KINDS
        ]
        assert any(wrong), thought


@pytest.mark.parametrize("seed", range(8))
def test_a_plan_keeps_the_wish_and_its_totals_add_up(seed):
    lengths, sheet, device, wish = given = probe.case(seed, grpo=seed % 2 == 1)
    found = probe.planned(*given)
    assert found["rows"] * found["accumulation"] * device["count"] * wish["row"] == wish["slots"]
    assert found["bytes"] <= device["bytes"] and found["tokens"] <= found["slots"]
    assert found["tokens"] == wish["epochs"] * sum(lengths) * wish.get("generations", 1)
    assert probe.fault_of_plan(found, given) == ("", "")
    larger = [n for n in range(found["rows"] + 1, found["rows"] * found["accumulation"] + 1)
              if found["rows"] * found["accumulation"] % n == 0]  # fmt: skip
    assert all(probe.total(sheet, wish, n) > device["bytes"] for n in larger)


@pytest.mark.parametrize("grpo", [False, True])
def test_mistaken_planners_are_named_on_the_case_of_the_page(grpo):
    more = {"epochs": 4, "generations": 3} if grpo else {}
    given = (list(probe.GENERATED if grpo else probe.PACKED), TOY, PAIR, {**WISH, **more})
    right, named = probe.planned(*given), 0
    for thought, version in probe.MISTAKES.items():
        try:
            found = version(*given)
        except (KeyError, ValueError):
            continue
        key, why = probe.fault_of_plan(right | found, given)
        named += bool(key)
        assert why == thought or not key or "one row a document" in thought, (thought, why)
    assert named >= 25


def test_a_refusal_offers_what_fits_and_nothing_else():
    given = ([5], TOY, {**PAIR, "bytes": 30_000}, {**WISH, "kind": "full"})
    assert probe.fault_of_offers("try 4-bit or LoRA", given) == ""
    assert "name every kind" in probe.fault_of_offers("try lora", given)
    tight = ([5], TOY, {**PAIR, "bytes": 13_000}, {**WISH, "kind": "full"})
    assert "longest row" in probe.fault_of_offers("try 4-bit", tight)
    longest = probe.longest_row(*tight[1:])
    fits = {"row": longest, "rank": 4, "kind": ""}
    least = min(probe.total(TOY, fits, 1, kind) for kind in probe.KINDS)
    more = min(probe.total(TOY, {**fits, "row": longest + 1}, 1, kind) for kind in probe.KINDS)
    assert least <= 13_000 < more
    assert probe.fault_of_offers(f"rows of {longest}", tight) == ""


def test_the_finder_wants_the_most_rows_that_fit():
    rows = finder._most()
    assert sum(finder._bytes(rows, "4-bit", 64, "recomputed").values()) <= finder.ROOM
    assert sum(finder._bytes(rows + 1, "4-bit", 64, "recomputed").values()) > finder.ROOM
    assert probe.fault_of_rows(rows) == "" and probe.fault_of_rows(np.int64(rows)) == ""
    wrong = {probe.fault_of_rows(n) for n in (1, rows + 1, finder._most("lora"), 99, "x", None)}
    assert "" not in wrong and len(wrong) == 6
    shown = probe.finder()
    setting = {"rows": rows, "kind": "4-bit", "rank": 64, "layers": "recomputed"}
    assert shown.scene(setting)["found"] and not shown.scene(setting | {"rank": 16})["found"]


def test_recomputed_activations_are_the_librarys():
    found = finder._bytes(3, "full", 16, "recomputed")["activations"]
    library = memory.estimate(probe.LLAMA_8B, Plan(3, 1, 1, finder.ROW), checkpointing="full")
    assert found == library.activations


def test_forecasts_agree_or_differ():
    trial = [(50, 4), (10, 3), (20, 9), (70, 8)]
    for slots in (250, 1):
        assert all(math.isclose(one(trial, slots), slots / 5) for one in trials.RIGHT)
    for thought, version in trials.WRONG.items():
        assert any(abs(version(trial, n) - n / 5) > 1e-9 for n in (250, 1)), thought


def test_the_librarys_pieces_pass_the_tests_that_a_kept_one_must_pass():
    assert probe.packs(probe.pack_rows) and probe.lays_out(probe.lay_out)
    assert probe.groups(probe.windows) and probe.steps_once(probe.take_step)
    assert probe.guards(probe.guard)
    assert not probe.packs(lambda lengths, row: [[n] for n in range(len(lengths))])
    assert not probe.groups(lambda some, size: [some[:size]])
    assert not probe.guards(lambda step, documents, sequences, most: (1, sequences))


def test_a_step_that_divides_by_micro_batches_is_not_taken():
    def popular(network, optimizer, schedule, micro_batches, max_norm):
        from batchlab import loop

        for micro in micro_batches:
            part = loop.summed_loss(loop.logits_of(network, micro), micro["labels"])
            (part / (micro["labels"] >= 0).sum() / len(micro_batches)).backward()
        optimizer.step()

    assert not probe.steps_once(popular)


def test_counts_of_labels_are_those_of_lengths():
    documents = [[1] * n for n in (5, 3, 2, 4, 1)]
    rows = [[3, 1], [0], [4, 2]]
    right = probe.RIGHT["step-counts"][0]([5, 3, 2, 4, 1], rows, 2)
    assert probe.counted(documents, rows, 2) == right


def test_a_page_says_what_was_promised_and_what_came(tmp_path, capsys):
    checked = [("steps", 11, 11), ("hours", (0.1, 0.4), 0.2), ("bytes", 10**6, 2 * 10**6)]
    page = probe.page("A run", {"rows": 4, "hours": (0.1, 0.4)}, checked)
    assert "A run\n=====" in page and "inside" in page and "6.00 min" in page
    probe.write_page(tmp_path / "page.html", page)
    assert "&lt;" not in (tmp_path / "page.html").read_text()
    assert "page.html" in capsys.readouterr().out
