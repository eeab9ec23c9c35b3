"""What people train with is recorded as it is: real trainers, wrappers and compilers, tiny models.

Every number of a record is compared with a count by hand: from the lengths of the documents that
the collator was given, never from tensors.
"""

import random
from dataclasses import dataclass, field

import pytest
import torch

from batchlab import batches, doctor, loop, model, monitor, records, report

VOCABULARY = 64
LENGTHS = (5, 12, 3, 9, 7, 16, 4, 11, 6, 8, 13, 2, 10, 15, 3, 9)
DOCUMENTS = [[2 + (7 * n + i) % 60 for i in range(length)] for n, length in enumerate(LENGTHS)]


def tiny(**options):
    return model.small(VOCABULARY, hidden=16, heads=2, layers=1, **options)


def qwen():
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=VOCABULARY, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, head_dim=8, tie_word_embeddings=True,
    )  # fmt: skip
    return Qwen3ForCausalLM(config)


def tokenizer():
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = {"<pad>": 0, "<eos>": 1} | {f"w{number}": number for number in range(2, VOCABULARY)}
    made = Tokenizer(models.WordLevel(words, unk_token="<eos>"))
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="<eos>")


@dataclass
class Seen:
    """A collator that notes the lengths of what it is given, micro-batch by micro-batch."""

    collate: object
    lengths: list = field(default_factory=list)

    def __call__(self, items):
        each = [one.get("seq_lengths") or [len(one["input_ids"])] for one in items]
        self.lengths.append([length for lengths in each for length in lengths])
        return self.collate(items)


def by_hand(micro_batches, *, flat):
    """Documents, real tokens, slots, target tokens, real pairs and slot pairs."""
    found = [0] * 6
    for lengths in micro_batches:
        rows, width = (1, sum(lengths)) if flat else (len(lengths), max(lengths))
        found[0] += len(lengths)
        found[1] += sum(lengths)
        found[2] += rows * width
        found[3] += sum(n - 1 for n in lengths)
        found[4] += sum(n * n for n in lengths)
        found[5] += rows * width**2
    return tuple(found)


def counted(cells):
    total = cells[0].counts
    for cell in cells[1:]:
        total += cell.counts
    return tuple(vars(total).values())


def dataset():
    from datasets import Dataset

    return Dataset.from_dict({"input_ids": DOCUMENTS})


SETTINGS = {
    "per_device_train_batch_size": 2, "gradient_accumulation_steps": 2, "max_steps": 4,
    "report_to": [], "disable_tqdm": True, "use_cpu": True, "save_strategy": "no",
    "logging_strategy": "no", "learning_rate": 1e-3,
}  # fmt: skip


def trained(trainer, path):
    """Train, and give the cells beside what the collator saw after the first step."""
    accumulation = trainer.args.gradient_accumulation_steps
    trainer.data_collator = seen = Seen(trainer.data_collator)
    trainer.add_callback(monitor.callback(path, every=2))
    trainer.train()
    cells = records.read(path).cells()
    steps = sum(cell.steps for cell in cells)
    assert steps == 3, "the first of four steps warms up"
    return cells, seen.lengths[accumulation : accumulation * (1 + steps)]


def plain_trainer(net, folder, collator, **options):
    from transformers import Trainer, TrainingArguments

    arguments = TrainingArguments(output_dir=str(folder), **SETTINGS | options)
    return Trainer(model=net, args=arguments, train_dataset=dataset(), data_collator=collator)


def sampled(order):
    """The order of a Trainer's rows, in the words of its version."""
    from transformers import TrainingArguments

    if "train_sampling_strategy" in TrainingArguments.__dataclass_fields__:
        return {"train_sampling_strategy": order}
    return {"group_by_length": order == "group_by_length"}


def padding_collator():
    from transformers import DataCollatorForLanguageModeling

    return DataCollatorForLanguageModeling(tokenizer(), mlm=False)


@pytest.mark.parametrize(("make", "order"), [(tiny, "random"), (qwen, "group_by_length")])
def test_a_trainer_with_padded_rows_in_any_order(tmp_path, make, order):
    trainer = plain_trainer(make(), tmp_path, padding_collator(), **sampled(order))
    cells, lengths = trained(trainer, tmp_path / "run.jsonl")
    assert counted(cells) == by_hand(lengths, flat=False)
    assert {(cell.layout, cell.rows, cell.accumulation) for cell in cells} == {("padded", 2, 2)}
    said = [cell.more.get("documents_mixed") for cell in cells]
    assert {*said} == {None}, "nothing is said of borders that are not there"


def test_a_trainer_with_flattened_rows(tmp_path):
    from transformers import DataCollatorWithFlattening

    trainer = plain_trainer(tiny(), tmp_path, DataCollatorWithFlattening())
    cells, lengths = trained(trainer, tmp_path / "run.jsonl")
    assert counted(cells) == by_hand(lengths, flat=True)
    assert {(cell.layout, cell.rows) for cell in cells} == {("packed", 1)}
    assert {cell.more["documents_mixed"] for cell in cells} == {False}
    wrong = by_hand(lengths, flat=False)
    assert counted(cells) != wrong, "the mistake: to take the documents for rows of a rectangle"


def test_borders_given_by_their_ends_alone_are_counted(tmp_path):
    """As with `return_flash_attn_kwargs=True` and no positions."""
    net, path = tiny(), tmp_path / "run.jsonl"
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    ids = torch.tensor([DOCUMENTS[0] + DOCUMENTS[1]])
    ends = torch.tensor([0, 5, 17], dtype=torch.int32)
    with monitor.watch(net, optimizer, path):
        for _ in range(2):
            net(input_ids=ids, cu_seq_lens_q=ends, cu_seq_lens_k=ends, use_cache=False)
            optimizer.step()
    (cell,) = records.read(path).cells()
    assert (cell.documents, cell.real_pairs, cell.slot_pairs) == (2, 25 + 144, 17**2)


def sft(folder, net, **options):
    from trl import SFTConfig, SFTTrainer

    settings = {"max_length": 32, "bf16": False, "gradient_checkpointing": False}
    peft = options.pop("peft_config", None)
    return SFTTrainer(
        model=net,
        args=SFTConfig(output_dir=str(folder), **SETTINGS | settings | options),
        train_dataset=dataset(),
        processing_class=tokenizer(),
        peft_config=peft,
    )


STYLES = {
    "padded": {},
    "padding-free": {"padding_free": True, "max_length": None},
    "packing": {
        "packing": True,
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 1,
    },
}


@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing` is deprecated")  # by TRL and PEFT
@pytest.mark.parametrize("style", STYLES)
def test_an_sft_trainer(tmp_path, style):
    trainer = sft(tmp_path, tiny(), **STYLES[style])
    cells, lengths = trained(trainer, tmp_path / "run.jsonl")
    flat = style != "padded"
    assert counted(cells) == by_hand(lengths, flat=flat)
    assert {cell.layout for cell in cells} == {"packed" if flat else "padded"}
    assert {cell.more.get("documents_mixed") for cell in cells} == {False if flat else None}


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing` is deprecated")
def test_the_step_of_an_sft_trainer_is_the_same_in_any_split(tmp_path, flat):
    """TRL divides the sum of its fused head by the tokens of the step; LoRA changes nothing."""
    from peft import LoraConfig

    lora = LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    style = STYLES["padding-free" if flat else "padded"]
    trainer = sft(tmp_path, tiny(), peft_config=lora if flat else None, **style)
    found = loop.compare_splits(trainer.training_step, [{"input_ids": ids} for ids in DOCUMENTS])
    assert found.exact and found.pieces == 2 and found.difference < 1e-5


@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing` is deprecated")  # PEFT, TRL
def test_lora_through_an_sft_trainer_and_in_a_loop_of_your_own(tmp_path):
    from peft import LoraConfig, get_peft_model

    lora = LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    trainer = sft(tmp_path, tiny(), peft_config=lora)
    cells, lengths = trained(trainer, tmp_path / "run.jsonl")
    assert counted(cells) == by_hand(lengths, flat=False)
    assert {cell.identity.model.name for cell in cells} == {"llama"}
    net, path = get_peft_model(tiny(), lora), tmp_path / "own.jsonl"
    model.set_checkpointing(net.get_base_model(), True)
    net.enable_input_require_grads()
    optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad])
    own_loop(net, optimizer, path)
    (cell,) = records.read(path).cells()
    assert counted([cell]) == by_hand(OWN[1:], flat=False)
    assert cell.checkpointing, "seen behind the adapter"


OWN = [LENGTHS[2 * step : 2 * step + 2] for step in range(4)]


def own_loop(net, optimizer, path, backward=torch.Tensor.backward):
    """Four steps of two documents."""
    with monitor.watch(net, optimizer, path):
        for step in range(4):
            batch = batches.padded(DOCUMENTS, range(2 * step, 2 * step + 2))
            backward(net(**batch, use_cache=False).loss)
            optimizer.step()
            optimizer.zero_grad()


@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_what_accelerate_prepared(tmp_path, precision):
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(reset_partial_state=True)
    try:
        accelerator = Accelerator(cpu=True, mixed_precision=precision)
        net = tiny()
        net, optimizer = accelerator.prepare(net, torch.optim.AdamW(net.parameters()))
        assert not hasattr(optimizer, "_optimizer_step_pre_hooks"), "why it is unwrapped"
        own_loop(net, optimizer, tmp_path / "run.jsonl", accelerator.backward)
    finally:
        AcceleratorState._reset_state(reset_partial_state=True)
    (cell,) = records.read(tmp_path / "run.jsonl").cells()
    assert counted([cell]) == by_hand(OWN[1:], flat=False)
    assert cell.precision == {"no": "float32", "bf16": "autocast-bfloat16"}[precision]
    assert cell.parts.optimizer_seconds > 0


def test_accumulation_of_accelerate_is_one_step(tmp_path):
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    net, path = tiny(), tmp_path / "run.jsonl"
    net, optimizer = accelerator.prepare(net, torch.optim.AdamW(net.parameters()))
    try:
        with monitor.watch(net, optimizer, path):
            for number in range(8):
                with accelerator.accumulate(net):
                    batch = batches.padded(DOCUMENTS, [number])
                    accelerator.backward(net(**batch, use_cache=False).loss)
                    optimizer.step()
                    optimizer.zero_grad()
    finally:
        accelerator.gradient_accumulation_steps = 1  # its state is shared
    (cell,) = records.read(path).cells()
    assert (cell.steps, cell.accumulation, cell.micro_batches) == (3, 2, 6)


def test_what_is_no_optimizer_is_refused(tmp_path):
    with (
        pytest.raises(
            ValueError, match=r"dict is no torch optimizer and holds none as \.optimizer"
        ),
        monitor.watch(tiny(), {}, tmp_path / "run.jsonl"),
    ):
        pass


def test_a_model_under_distributed_data_parallel(tmp_path):
    """One process is a world, too: the wrapper is called, the model is what is recorded."""
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    store = distributed.FileStore(str(tmp_path / "store"), 1)
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        net = tiny()
        model.set_checkpointing(net, True)
        wrapped = DistributedDataParallel(net)
        own_loop(wrapped, torch.optim.SGD(net.parameters(), lr=0.1), tmp_path / "run.jsonl")
    finally:
        distributed.destroy_process_group()
    (cell,) = records.read(tmp_path / "run.jsonl").cells()
    assert counted([cell]) == by_hand(OWN[1:], flat=False)
    assert cell.identity.model.name == "llama" and cell.checkpointing


COMPILED = {
    "the compiled one is watched": lambda net: (torch.compile(net, backend="eager"),) * 2,
    "the one inside is watched": lambda net: (net, torch.compile(net, backend="eager")),
    "compiled in place": lambda net: (net, net.compile(backend="eager") or net),
    "as one graph": lambda net: (net, net.compile(backend="eager", fullgraph=True) or net),
}


def graphs_of(watched, called, path):
    """How many graphs the compiler made, and how many breaks, in four steps of one shape."""
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    optimizer = torch.optim.SGD(watched.parameters(), lr=0.1)
    ids = torch.tensor([DOCUMENTS[5]] * 2)
    with monitor.watch(watched, optimizer, path):
        for _ in range(4):
            called(input_ids=ids, labels=ids, use_cache=False).loss.backward()
            optimizer.step()
    return counters["stats"]["unique_graphs"], sum(counters["graph_break"].values())


@pytest.mark.slow
@pytest.mark.parametrize("way", COMPILED)
def test_watching_breaks_no_compiled_graph(tmp_path, way):
    watched, called = COMPILED[way](tiny())
    assert graphs_of(watched, called, tmp_path / "run.jsonl") == (1, 0)
    (cell,) = records.read(tmp_path / "run.jsonl").cells()
    assert counted([cell]) == by_hand([[16, 16]] * 3, flat=False)
    assert cell.identity.model.name == "llama"


@pytest.mark.slow
def test_a_trainer_that_compiles(tmp_path):
    """The callback is handed the model inside, whose hooks the compiler meets."""
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    compiling = {"torch_compile": True, "torch_compile_backend": "eager"}
    trainer = plain_trainer(tiny(), tmp_path, padding_collator(), **compiling)
    cells, lengths = trained(trainer, tmp_path / "run.jsonl")
    assert counters["stats"]["unique_graphs"] > 0 and not counters["graph_break"]
    assert counted(cells) == by_hand(lengths, flat=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Dynamo does not know how to trace")
def test_the_judge_of_graphs_sees_a_hook_that_the_compiler_may_trace(tmp_path, monkeypatch):
    """The mistake beside the law."""
    from batchlab.monitor import _calls

    monkeypatch.setattr(_calls.Hook, "__call__", _calls._called, raising=False)
    with pytest.raises(torch._dynamo.exc.InternalTorchDynamoError):
        graphs_of(*COMPILED["compiled in place"](tiny()), tmp_path / "run.jsonl")


LEAKS = {  # what lets the documents of a packed row see each other, and what does not
    "no mask, no cache": ({"use_cache": False}, False),
    "a mask of ones": ({"use_cache": False, "attention_mask": torch.ones(1, 17).long()}, True),
    "a cache": ({"use_cache": True}, True),
    "a cache, by default": ({}, True),
}


@pytest.mark.parametrize("way", LEAKS)
def test_documents_that_see_each_other_are_noted_in_the_record(tmp_path, way):
    """The judge is the model: does the second document change when the first one does?"""
    options, leaks = LEAKS[way]
    net, path = tiny(), tmp_path / "run.jsonl"
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    ids = torch.tensor([DOCUMENTS[0] + DOCUMENTS[1]])
    positions = torch.tensor([[*range(5), *range(12)]])
    other = ids.clone()
    other[0, :5] = 9
    with monitor.watch(net, optimizer, path):
        for given in (ids, other):
            seen = net(input_ids=given, position_ids=positions, **options).logits[0, 5:]
            seen.sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    first = net(input_ids=ids, position_ids=positions, **options).logits[0, 5:]
    assert bool((seen - first).abs().max() > 1e-4) is leaks
    (cell,) = records.read(path).cells()
    assert cell.more["documents_mixed"] is leaks and cell.layout == "packed"
    said = report.diagnosis_text(doctor.diagnose([cell]))
    assert ("the documents of a row see each other" in said) is leaks


def test_the_lengths_differ_enough_that_a_wrong_count_shows():
    shuffled = random.Random(0).sample(LENGTHS, 8)
    pairs = [shuffled[at : at + 2] for at in range(0, 8, 2)]
    assert len(set(by_hand(pairs, flat=True)[:3])) == 3 - 1, "flat rows hold no padding"
    assert by_hand([[3, 5]], flat=False) == (2, 8, 10, 6, 34, 50)
    assert by_hand([[3, 5]], flat=True) == (2, 8, 8, 6, 34, 64)
