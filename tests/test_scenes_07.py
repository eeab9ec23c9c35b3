"""Lesson 07: bills, losses under watch, a device that runs out of memory, what tools do."""

import warnings

import pytest
import torch
from torch.nn import functional

from batchlab import memory, model
from batchlab.classroom import script
from batchlab.exercises.memory import scenes
from batchlab.exercises.memory.chunked_loss import chunked_loss
from batchlab.exercises.memory.fitting_rows import fitting_rows
from batchlab.exercises.memory.most_rows import MIXED, most_rows, right_rows
from batchlab.memory import adapters, fit, limits, trace
from batchlab.plan import Plan


@pytest.mark.parametrize("kind", scenes.KINDS)
def test_a_guard_finds_the_rows_of_the_worst_documents_and_of_the_library(kind):
    seen = scenes.guarded(most_rows, MIXED, 20, 20, 200, gradient=35, kind=kind)
    assert seen["answer"] == [right_rows(MIXED, 20, 20, 200, 35), 5] == [4, 5]
    assert not seen["kept"] and not seen["unlike"]
    assert limits.out_of_memory(scenes.out_of_memory(kind))


def test_the_guard_of_the_library_finds_the_same_rows():
    """A judge that shares no code with the scene."""
    documents = [[1] * length for length in MIXED]

    def step(micro_batches):
        for number, micro in enumerate(micro_batches):
            if micro["input_ids"].numel() + (35 if number else 0) > 200:
                raise torch.OutOfMemoryError("CUDA out of memory")

    found = fit.find_rows(step, documents, keep=Plan(20, 1, 1, 40))
    assert [found.rows, found.accumulation] == [right_rows(MIXED, 20, 20, 200, 35), 5]


@pytest.mark.parametrize("name", scenes.ENDS)
def test_other_errors_are_no_out_of_memory(name):
    error = scenes.ENDS[name]()
    assert not isinstance(error, Exception) or not limits.out_of_memory(error)


def test_a_loss_in_chunks_keeps_the_logits_of_one_chunk():
    seen = scenes.watched(chunked_loss, 96, 16, peak=True)
    assert not seen["kind"] and seen["alive"] <= 6
    assert scenes.watched(scenes.plain_loss, 96, 16, peak=True)["alive"] > 12
    assert scenes.watched(chunked_loss, 31, 16)["rows"] == 16
    assert scenes.watched(scenes.plain_loss, 31, 16)["rows"] == 31


def test_the_bills_agree_with_the_library():
    shape, one = scenes.llama_8b(), Plan(1, 1, 1, 1)
    bill = memory.estimate(shape, one, states="mixed_fp32_gradients")
    assert shape.parameters * (2 + 4 + 12) == bill.states_bytes
    kept = 4 * 4096 + 2 * 32 * 128 + 2 * 8 * 128 + 4 * 14_336
    assert (bill.activations, bill.logits) == (32 * (2 * kept + 4 * 32), 12 * 128_256)
    small = memory.estimate(scenes.qwen_half_b(), one)
    assert small.logits > small.activations and bill.logits < bill.activations / 3


def test_halving_the_states_buys_one_row_and_a_loss_in_chunks_two():
    """Sentences of the lesson: 24 GiB, rows of 2,048 slots, a step of 40 sequences."""
    shape = scenes.qwen_half_b()
    bill = memory.estimate(shape, Plan(1, 1, 1, 1))
    layers, logits = bill.activations, bill.logits

    def most(states, slot, alive=0):
        asked = states * shape.parameters + alive * logits
        return fitting_rows(24 * 2**30, asked, slot, 2048, 40)

    assert (most(16, layers + logits), most(8, layers + logits)) == (2, 2)
    assert most(16, layers, 1024) == 5


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
    raise scenes.out_of_memory(kind)


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

    plain, default, chunked = (
        scenes.watched(one, 256, 64, peak=True)["alive"]
        for one in (scenes.plain_loss, loss(None), loss(options))
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


def test_the_napkin_counts_the_traced_bytes_of_a_logit_and_too_few_activations():
    """Ten in the forward pass, twelve behind it; the blocks keep a quarter more than it says."""
    network = model.small(4096, layers=2, hidden=128, heads=4).bfloat16()
    found = trace.predict_peak(network, rows=8, length=256)
    slots = 8 * 256
    assert found.by_phase["forward"]["logits"] == 10 * slots * 4096
    bill = memory.estimate(memory.ModelShape.from_config(network.config), Plan(1, 1, 1, 1))
    assert found.by_kind["logits"] == 12 * slots * 4096 == slots * bill.logits
    assert found.by_kind["activations"] / (slots * bill.activations) == pytest.approx(
        1.25, abs=0.01
    )


@pytest.mark.slow
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


def test_a_layer_of_the_script_keeps_as_many_values_as_the_lesson_says():
    padded = [script.pad(row) for row in script.documents(many=8)]
    names = ("input_ids", "labels", "attention_mask")
    batch = {name: torch.tensor([row[name] for row in padded]) for name in names}
    held = trace.predict_peak(script.network(), batch=batch).by_kind
    slots, layers = 8 * 512, 2
    assert held["activations"] / (slots * layers * 4) == pytest.approx(2300, rel=0.03)


def _four_layers():
    return model.small(512, layers=4, hidden=256, heads=4).bfloat16()
