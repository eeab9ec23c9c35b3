"""The probe of lesson 07: bills, losses in chunks under watch, a device that runs out of memory."""

import warnings

import pytest
import torch
from torch.nn import functional

from batchlab import memory, model
from batchlab.classroom import probes
from batchlab.classroom.probes import lesson_07
from batchlab.memory import adapters, fit, limits, trace
from batchlab.plan import Plan

probe = probes.load("07_memory")
LENGTHS = [5, 9, 6, 7, 8, 4, 5, 6, 12, 8, 7, 6, 5, 7, 9, 3, 6, 8, 10, 4, 40, 38]
DEVICE = {"capacity": 200, "gradient": 35}


def guard(step, documents, sequences, most):
    worst = sorted(documents, key=len)[-sequences:]
    for rows in range(min(most, sequences), 0, -1):
        if sequences % rows == 0 and fits(step, worst, rows):
            return rows, sequences // rows
    raise ValueError(f"{len(worst[-1])} tokens do not fit")


def fits(step, worst, rows):
    try:
        step([worst[i : i + rows] for i in range(0, len(worst), rows)])
    except Exception as error:
        if not limits.out_of_memory(error):
            raise
        return False
    return True


def again_inside(step, documents, sequences, most):
    worst = sorted(documents, key=len)[-sequences:]
    try:
        step([worst[i : i + most] for i in range(0, sequences, most)])
    except Exception:
        return again_inside(step, documents, sequences, most // 2)
    return most, sequences // most


def chunks(hidden, head, labels, chunk):
    def one(some, targets):
        return functional.cross_entropy(head(some).float(), targets, reduction="sum")

    pieces = zip(hidden.split(chunk), labels.split(chunk), strict=True)
    return sum(torch.utils.checkpoint.checkpoint(one, *p, use_reentrant=False) for p in pieces)


@pytest.mark.parametrize("kind", probe.KINDS)
def test_a_guard_finds_the_rows_of_the_worst_documents(kind):
    seen = probe.guarded(guard, LENGTHS, 20, 20, kind=kind, **DEVICE)
    assert seen["result"] == probe.right_rows(LENGTHS, 20, 20, **DEVICE) == [4, 5]
    assert not probe.tries_of(LENGTHS, 20, 20, seen["tries"])
    assert not seen["kept"] and not seen["error"]


def test_the_guard_of_the_library_finds_the_same_rows():
    """A judge that shares no code with the probe."""
    documents = [[1] * length for length in LENGTHS]

    def step(micro_batches):
        for number, micro in enumerate(micro_batches):
            if micro["input_ids"].numel() + (35 if number else 0) > 200:
                raise torch.OutOfMemoryError("CUDA out of memory")

    found = fit.find_rows(step, documents, keep=Plan(20, 1, 1, 40))
    assert [found.rows, found.accumulation] == probe.right_rows(LENGTHS, 20, 20, **DEVICE)


def test_a_try_inside_the_except_block_is_seen_to_hold_the_failed_step():
    assert probe.guarded(again_inside, LENGTHS, 16, 16, capacity=170)["kept"]


def test_every_known_mistake_of_a_guard_differs_from_the_right_rows():
    right = probe.right_rows(LENGTHS, 20, 20, **DEVICE)
    known = probe.known_rows(LENGTHS, 20, 20, **DEVICE)
    assert right not in [value for value, _ in known] and len(known) > 5


@pytest.mark.parametrize(
    ("tries", "fault"),
    [
        ([[[9, 4]]], "whole step"),
        ([[[9], [4, 5]]], "all have the same"),
        ([[[4], [5], [3]]], "the longest of the data"),
        ([[[9], [4], [5]]], "the longest come last"),
        ([[[4], [5], [9]]] * 2, "once is enough"),
        ([[[4, 5, 9]]], "at most 2"),
        ([[[4], [5], [9]]], ""),
    ],
)
def test_what_is_wrong_with_a_try_is_named(tries, fault):
    said = probe.tries_of([3, 9, 4, 5], 3, 2, tries)
    assert fault in said and bool(fault) == bool(said)


@pytest.mark.parametrize("name", probe.ENDS)
def test_other_errors_are_no_out_of_memory(name):
    assert not limits.out_of_memory(probe.ENDS[name]())
    assert probe.guarded(guard, LENGTHS, 12, 12, capacity=10**6, breaks=name)["said"]


def test_numbers_of_a_message_are_read_whole():
    assert probe.names("a step has 1,200 documents, the data 7", [7, 1200])
    assert not probe.names("12 documents", [2])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_loss_in_chunks_is_that_of_all_logits_and_keeps_those_of_one_chunk(dtype):
    labels = probe.targets_of(96)
    seen = probe.chunked(chunks, labels, 16, dtype=dtype, watched=True)
    right = probe.whole(labels, dtype=dtype)
    rel = 2e-6 if dtype == "float32" else 1e-3
    assert seen["loss"] == pytest.approx(right["loss"], rel=rel) and seen["alive"] < 5
    assert seen["hidden"] == pytest.approx(right["hidden"], abs=1e-5 if rel < 1e-4 else 5e-2)
    assert probe.chunked(probe.plain_loss, labels, 16, watched=True)["alive"] > 12


def test_every_known_mistake_of_the_loss_differs_from_it():
    labels = probe.targets_of(50, lost=(0, 7, 49))
    right = probe.whole(labels)["loss"]
    found = probe.chunk_losses(labels, 16)
    assert len(found) == 10 and all(abs(one / right - 1) > 1e-4 for one in found)


def test_the_bills_agree_with_the_library():
    shape, one = probe.LLAMA_8B, Plan(1, 1, 1, 1)
    bill = memory.estimate(shape, one, states="mixed_fp32_gradients")
    assert probe.RIGHT["state-bytes"][0]([(shape.parameters, True, 2, 4, 12)]) == bill.states_bytes
    sizes = (32, 4096, 32, 8, 128, 14_336, 128_256)
    assert probe.RIGHT["slot-bytes"][0](*sizes) == (bill.activations, bill.logits)


def test_lora_of_llama_3_8b_has_the_published_number_of_weights():
    matrices = probe.llama_matrices()
    assert sum(i * o for i, o in matrices) == 6_979_321_856
    assert 16 * sum(i + o for i, o in matrices) == 41_943_040


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("state-bytes", ([(9, True, 2, 3, 5), (20, False, 0.5, 2, 8), (35, True, 4, 5, 7)],)),
        ("slot-bytes", (3, 54, 5, 2, 17, 71, 901)),
        ("lora-bytes", ([(30, 41), (30, 41), (22, 70)], 1001, 5, 1.0625)),
        ("bill", (3, 200, 4, 5 * 10**7, 7 * 10**8)),
    ],
)
def test_every_wrong_version_differs_from_the_right_one(name, case):
    right = probe.RIGHT[name][0](*case)
    same = [why for why, version in probe.WRONG[name].items() if version(*case) == right]
    assert same in ([], ["equal parts are two parts: a set, or a dict, counts them once"])


def test_the_setting_to_find_keeps_the_step_and_is_no_power_of_two():
    assert probe.fault_of_rows(5) == ""
    assert "no whole number" in probe.fault_of_rows(7)
    assert "habit" in probe.fault_of_rows(4) and "24 GiB" in probe.fault_of_rows(8)
    assert "does not offer" in probe.fault_of_rows(11) and probe.fault_of_rows("5")
    assert "habit" not in probe.fault_of_rows(2) and probe.fault_of_rows(2)
    assert probe.finder().state["goal"]


def test_halving_the_states_buys_no_row_while_all_logits_are_alive():
    """A sentence of the lesson."""
    facts = {
        (rows, states): lesson_07._fits(rows, states, "all")
        for rows in (2, 3, 4)
        for states in lesson_07.STATES
        if states[0] in "18"
    }
    assert all(fits is (rows < 4) for (rows, _), fits in facts.items()) and len(facts) == 9


def test_rows_of_logits_are_counted_where_a_peak_does_not_tell():
    def by_number(hidden, head, labels, chunk):
        return chunks(hidden, head, labels, -(-len(labels) // chunk))

    assert probe.chunked(chunks, probe.targets_of(31), 16)["rows"] == 16
    assert probe.chunked(by_number, probe.targets_of(300), 16)["rows"] == 19
    assert "not the number" in probe.rows_alive(19, 300, 16)
    assert "rounded down" in probe.rows_alive(19, 95, 16)
    assert "short rest" in probe.rows_alive(31, 95, 16)


@pytest.mark.parametrize("how", [{"bias": True}, {"large": True}])
def test_a_head_may_have_a_bias_and_logits_in_the_hundreds(how):
    labels = probe.targets_of(20)
    seen, right = probe.chunked(chunks, labels, 8, **how), probe.whole(labels, **how)
    assert seen["loss"] == pytest.approx(right["loss"], rel=1e-5)
    assert seen["head"] == pytest.approx(right["head"], rel=1e-4, abs=1e-3)
    assert ("bias" in right) == (seen["bias"] is not None) == ("bias" in how)
    forgotten = "the head may have a bias: call head(...)"
    assert (forgotten in probe.chunk_losses(labels, 8, **how).values()) == ("bias" in how)


def test_a_step_takes_lists_of_the_documents_of_the_data():
    def lazily(step, documents, sequences, most):
        step(iter([documents]))

    def made_up(step, documents, sequences, most):
        step([[[0] * len(one) for one in documents]])

    assert "a list is asked" in probe.guarded(lazily, [3, 4], 2, 2, capacity=9)["unlike"]
    assert probe.guarded(made_up, [3, 4], 2, 2, capacity=9)["foreign"]
    right = probe.guarded(guard, [3, 4], 2, 2, capacity=9)
    assert not right["unlike"] and not right["foreign"]


@pytest.mark.slow
def test_the_finder_of_accelerate_takes_a_tenth_off_and_knows_few_words():
    """Sentences of *Am I affected?*."""
    find = pytest.importorskip("accelerate.utils.memory").find_executable_batch_size
    tried = []

    def run(batch_size):
        tried.append(batch_size)
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    with pytest.raises(RuntimeError, match="No executable batch size"):
        find(run, starting_batch_size=8)()
    assert tried == [8, 7, 6, 5, 4, 3, 2, 1]
    for kind in ("python", "cublas"):
        with pytest.raises((MemoryError, RuntimeError), match=r"^$|ALLOC_FAILED"):
            find(lambda batch_size, kind=kind: fail(kind), starting_batch_size=8)()


def fail(kind):
    raise probe.KINDS[kind]()


@pytest.mark.slow
def test_the_fused_loss_of_pytorch_saves_memory_only_when_it_is_asked_to():
    if not hasattr(functional, "linear_cross_entropy"):
        pytest.skip("this torch has no linear_cross_entropy")
    options = torch.nn.LinearCrossEntropyOptions()

    def loss(options):
        def of(hidden, head, labels, chunk):
            return functional.linear_cross_entropy(
                hidden, head.weight, labels, reduction="sum", options=options
            )

        return of

    labels = probe.targets_of(256)
    plain, default, chunked = (
        probe.chunked(one, labels, 64, watched=True)["alive"]
        for one in (probe.plain_loss, loss(None), loss(options))
    )
    assert default == pytest.approx(plain, rel=0.01) and chunked < plain / 2


@pytest.mark.slow
def test_peft_casts_what_is_not_quantised_to_float32():
    peft = pytest.importorskip("peft")
    network = torch.nn.Sequential(torch.nn.Linear(4, 4)).bfloat16()
    network.is_loaded_in_4bit = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peft.prepare_model_for_kbit_training(network, use_gradient_checkpointing=False)
    assert {one.dtype for one in network.parameters()} == {torch.float32}


def test_trl_trains_with_the_loss_that_works_in_chunks():
    trl = pytest.importorskip("trl")
    assert trl.SFTConfig.__dataclass_fields__["loss_type"].default == "nll"


def test_the_fullest_moment_of_the_lesson_has_no_gradients_yet():
    network = model.small(layers=2, hidden=32).bfloat16()
    found = trace.predict_peak(network, rows=8, length=64)
    assert found.by_kind["gradients"] == 0 and found.phase == "backward, head"


def test_the_napkin_counts_ten_bytes_of_a_logit_and_too_few_activations():
    """Ten in the forward pass, twelve behind it; the blocks keep a quarter more than it says."""
    network = model.small(4096, layers=2, hidden=128, heads=4).bfloat16()
    found = trace.predict_peak(network, rows=8, length=256)
    slots = 8 * 256
    assert found.by_phase["forward"]["logits"] == 10 * slots * 4096
    assert found.by_kind["logits"] == 12 * slots * 4096
    layers, _ = probe.RIGHT["slot-bytes"][0](2, 128, 4, 4, 32, 512, 4096)
    assert found.by_kind["activations"] / (slots * layers) == pytest.approx(1.25, abs=0.01)


def test_adapters_of_16_bit_weights_keep_more_activations_not_fewer():
    """A sentence of the lesson: half as much again."""
    pytest.importorskip("peft")
    plain, adapted = (
        max(
            one["activations"]
            for one in trace.predict_peak(net, rows=8, length=128).by_phase.values()
        )
        for net in (_four_layers(), adapters.lora(_four_layers(), 16))
    )
    assert adapted / plain == pytest.approx(1.5, abs=0.05)


def _four_layers():
    return model.small(512, layers=4, hidden=256, heads=4).bfloat16()


def test_a_guard_that_falls_over_its_own_feet_is_not_told_of_memory():
    def confused(step, documents, sequences, most):
        step([documents])
        return documents["rows"], 1

    seen = probe.guarded(confused, LENGTHS, 22, 22, capacity=10**6)
    assert probe.ended_by(seen, 22).startswith("the guard itself ended with TypeError")
