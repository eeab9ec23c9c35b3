"""Is my accumulation exact? Each known mistake is found by name, and nothing else is accused."""

import copy
import json
import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

from batchlab import batches, cli, counts, loop, model
from batchlab.loop import _mistakes, compare_splits
from batchlab.loop._compare import unequal

VOCABULARY = 32
DOCUMENTS = [
    np.random.default_rng(number).integers(1, VOCABULARY, length).tolist()
    for number, length in enumerate((3, 17, 9, 5, 21, 2, 12, 7, 30, 4))
]


def tiny(**options):
    return model.small(VOCABULARY, hidden=16, heads=2, layers=1, **options)


def loss_of(net, batch):
    return loop.summed_loss(loop.logits_of(net, batch), batch["labels"])


def tokens_of(micro_batches):
    return sum(int(counts.target_tokens(one["labels"])) for one in micro_batches)


def library(net, micro_batches):
    loop.train_step(net, torch.optim.AdamW(net.parameters()), micro_batches, max_grad_norm=0.01)


def mean_of_means(net, micro_batches):
    for one in micro_batches:
        (loss_of(net, one) / tokens_of([one]) / len(micro_batches)).backward()


def fixed_accumulation(net, micro_batches):
    """The plain loop: each mean over a number that was chosen before."""
    for one in micro_batches:
        (loss_of(net, one) / tokens_of([one]) / 4).backward()


def sum_of_means(net, micro_batches):
    for one in micro_batches:
        (loss_of(net, one) / tokens_of([one])).backward()


def sum_of_sums(net, micro_batches):
    for one in micro_batches:
        loss_of(net, one).backward()


def scaled(net, micro_batches, factor):
    for one in micro_batches:
        (loss_of(net, one) / tokens_of(micro_batches) * factor).backward()


def divided_twice(net, micro_batches):
    scaled(net, micro_batches, 1 / len(micro_batches))


def multiplied(net, micro_batches):
    scaled(net, micro_batches, len(micro_batches))


def by_ranks(net, micro_batches):
    scaled(net, micro_batches, 2)


def without_tail(net, micro_batches):
    scaled(net, micro_batches[:-1] if len(micro_batches) > 1 else micro_batches, 1)


def tail_of_all(net, micro_batches):
    """The count holds the tail, the sum does not."""
    for one in micro_batches[:-1] if len(micro_batches) > 1 else micro_batches:
        (loss_of(net, one) / tokens_of(micro_batches)).backward()


def means_without_tail(net, micro_batches):
    mean_of_means(net, micro_batches[:-1] if len(micro_batches) > 1 else micro_batches)


def clipped_in_between(net, micro_batches):
    for one in micro_batches:
        (loss_of(net, one) / tokens_of(micro_batches)).backward()
        clip_grad_norm_(net.parameters(), 0.01)


def clipped_each(net, micro_batches):
    """Each micro-batch's own gradient is clipped, their sum is not."""
    sums = {p: torch.zeros_like(p) for p in net.parameters()}
    for one in micro_batches:
        net.zero_grad()
        (loss_of(net, one) / tokens_of(micro_batches)).backward()
        clip_grad_norm_(net.parameters(), 0.01)
        for parameter, total in sums.items():
            total += parameter.grad
    for parameter, total in sums.items():
        parameter.grad = total


def summed_in_bf16(net, micro_batches):
    sums = {p: torch.zeros_like(p, dtype=torch.bfloat16) for p in net.parameters()}
    for one in micro_batches:
        net.zero_grad()
        (loss_of(net, one) / tokens_of(micro_batches)).backward()
        for parameter, total in sums.items():
            total += parameter.grad
    for parameter, total in sums.items():
        parameter.grad = total.float()


def means_clipped(net, micro_batches):
    mean_of_means(net, micro_batches)
    clip_grad_norm_(net.parameters(), 0.01)


PLANTED = [
    (library, ()),
    (mean_of_means, ("mean of means",)),
    (fixed_accumulation, ("mean of means",)),
    (means_clipped, ("mean of means",)),
    (sum_of_means, ("no division",)),
    (sum_of_sums, ("no division",)),
    (divided_twice, ("1/accumulation",)),
    (multiplied, ("scaled by accumulation",)),
    (without_tail, ("dropped tail",)),
    (tail_of_all, ("dropped tail",)),
    (means_without_tail, ("dropped tail", "mean of means")),
    (clipped_in_between, ("clip per micro-batch",)),
    (clipped_each, ("clip per micro-batch",)),
    (summed_in_bf16, ("bf16 sum",)),
]


def compare(step, net=None, documents=DOCUMENTS, **options):
    net = tiny() if net is None else net
    return compare_splits(lambda some: step(net, some), documents, model=net, **options)


@pytest.mark.parametrize(("step", "mistakes"), PLANTED, ids=[step.__name__ for step, _ in PLANTED])
def test_a_planted_mistake_is_found_by_its_name_and_no_other(step, mistakes):
    found = compare(step)
    assert found.mistakes == mistakes and found.named
    assert found.exact == (not mistakes)
    assert found.documents == tuple(unequal(10, 4)) == (1, 2, 3, 4)
    by_hand = [sum(len(one) - 1 for one in DOCUMENTS[a:b]) for a, b in ((0, 1), (1, 3), (3, 6))]
    assert found.target_tokens[:3] == tuple(by_hand)


def test_the_gradient_is_the_one_that_the_optimizer_would_see():
    """By hand: a mean of means against the whole, from plain autograd."""
    net = tiny()
    split = [batches.padded(DOCUMENTS, rows) for rows in ([0], [1, 2], [3, 4, 5], [6, 7, 8, 9])]
    gradients = []
    for micro_batches in (split, [batches.padded(DOCUMENTS, range(10))]):
        net.zero_grad()
        mean_of_means(net, micro_batches)
        gradients.append(torch.cat([p.grad.flatten() for p in net.parameters()]))
    apart = (gradients[0] - gradients[1]).norm() / gradients[1].norm()
    found = compare(mean_of_means)
    assert found.difference == pytest.approx(apart.item(), rel=1e-5)
    assert found.length == pytest.approx((gradients[0].norm() / gradients[1].norm()).item())


def test_a_factor_of_the_ranks_is_a_mistake_where_there_are_ranks():
    assert compare(by_ranks, ranks=2).mistakes == ("scaled by ranks",)
    alone = compare(by_ranks)
    assert alone.exact and alone.scale == pytest.approx(2)
    assert "in one piece it is 2 times the mean over target tokens" in str(alone)
    assert compare(library, ranks=2).exact, "nor is the right step accused"


def test_a_loss_of_its_own_is_judged_by_its_split_only():
    """A mean over documents is an objective, not a mistake; a square of the loss has no name."""

    def mean_over_documents(net, micro_batches):
        rows = sum(len(one["input_ids"]) for one in micro_batches)
        for one in micro_batches:
            for row in range(len(one["input_ids"])):
                alone = {name: value[row : row + 1] for name, value in one.items()}
                (loss_of(net, alone) / tokens_of([alone]) / rows).backward()

    def squared(net, micro_batches):
        for one in micro_batches:
            (loss_of(net, one) ** 2).backward()

    found = compare(mean_over_documents)
    assert found.exact and found.counted == "documents" and found.scale is None
    odd = compare(squared)
    assert not odd.exact and not odd.mistakes
    assert "no known mistake: its loss is no mean" in str(odd)


@pytest.mark.parametrize("step", [library, mean_of_means])
def test_dropout_is_said_in_one_line_and_accuses_nobody(step):
    net = tiny()
    net.config.attention_dropout = 0.3
    for layer in net.model.layers:
        layer.self_attn.attention_dropout = 0.3
    found = compare(step, net.train())
    assert not found.comparable and not found.exact and not found.mistakes
    assert found.verdict.startswith("not comparable: the step draws random numbers")
    assert len(found.verdict.splitlines()) == 1 and found.verdict in str(found)
    assert compare(step, net.eval()).comparable, "without dropout it is judged"


def test_drawing_numbers_that_change_nothing_is_no_dropout():
    def step(net, micro_batches):
        torch.rand(3)
        library(net, micro_batches)

    assert compare(step).exact


def test_everything_is_left_as_it_was():
    net = nn.Sequential()
    net.inner, net.seen = tiny(), nn.BatchNorm1d(4)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1.0, weight_decay=0.5)
    for parameter in net.inner.parameters():
        parameter.grad = torch.full_like(parameter, 7.0)
    net.eval()
    before = copy.deepcopy(net.state_dict())
    states = random.getstate(), torch.get_rng_state(), np.random.get_state()[1].tolist()  # noqa: NPY002

    def step(micro_batches):
        net.train()
        optimizer.zero_grad()
        net.seen(torch.rand(8, 4))  # moves running statistics and random numbers
        random.random()
        np.random.random()  # noqa: NPY002
        mean_of_means(net.inner, micro_batches)
        optimizer.step()

    assert compare_splits(step, DOCUMENTS, model=net).mistakes == ("mean of means",)
    assert not net.training and not net.inner.training
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert all((p.grad == 7).all() for p in net.inner.parameters())
    assert not optimizer.state, "no update took place"
    after = random.getstate(), torch.get_rng_state(), np.random.get_state()[1].tolist()  # noqa: NPY002
    assert (after[0], after[2]) == (states[0], states[2]) and torch.equal(after[1], states[1])


def test_what_cannot_be_compared_is_refused_in_one_line():
    net = tiny()

    def each(micro_batches):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for one in micro_batches:
            loop.train_step(net, optimizer, [one])

    with pytest.raises(ValueError, match="updates the weights more than once"):
        compare_splits(each, DOCUMENTS, model=net)
    with pytest.raises(ValueError, match="no gradient seen"):
        compare_splits(lambda _: None, DOCUMENTS, model=net)
    with pytest.raises(ValueError, match="give model="):
        compare_splits(each, DOCUMENTS)
    with pytest.raises(ValueError, match="4 unequal pieces need at least 5 documents, got 4"):
        compare_splits(each, DOCUMENTS[:4], model=net)
    with pytest.raises(ValueError, match="at least 2 pieces, got 1"):
        compare_splits(each, DOCUMENTS, model=net, pieces=1)
    with pytest.raises(ValueError, match="no parameter that is trained"):
        compare(library, tiny().requires_grad_(False))
    with pytest.raises(ValueError, match="float16 weights are refused"):
        compare(library, tiny().half())
    alike = [[1, 2, 3]] * 4 + [[1]]  # 2 targets in each piece
    with pytest.raises(ValueError, match="the pieces count alike"):
        compare(library, documents=alike)


def test_bf16_weights_are_judged_to_their_own_rounding():
    net = tiny().to(torch.bfloat16)
    assert compare(library, net).exact
    assert compare(mean_of_means, net).mistakes == ("mean of means",)


@pytest.mark.parametrize("seed", range(5))
def test_every_known_weighing_has_one_name_and_an_odd_one_has_none(seed):
    """Gradients are arrows here: the weights alone decide, whatever the model."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet([3.0] * 4)
    alone = random.normal(size=(4, 50))
    for names, weights in _mistakes._known(shares, 1.0, 5):
        assert found_for(alone, shares, weights).mistakes == names
    odd = found_for(alone, shares, random.dirichlet([3.0] * 4))
    assert not odd.named and not odd.mistakes
    assert not found_for(alone, shares, shares * (1 + 1e-5)).named, "too far off for rounding"


def found_for(alone, shares, weights):
    gradients = np.vstack([weights @ alone, shares @ alone, alone])
    inner, known = gradients @ gradients.T, {"target tokens": shares}
    return _mistakes.find(inner, known, scale=1.0, ranks=5, in_bf16=False, of_bf16=False)


def test_the_lines_say_what_was_compared_and_what_is_wrong():
    found = compare(mean_of_means)
    assert str(found).splitlines() == [
        "10 documents in one piece and in 4: of 1, 2, 3 and 4 documents with 2, 24, 25 and 49 "
        "target tokens",
        f"the gradient differs by {found.difference:.2g} of its norm, and is {found.length:.4g} "
        "times as long",
        "mean of means: each micro-batch counts alike: divide all by the target tokens of the step",
    ]
    assert str(compare(library)).splitlines()[1].startswith("exact to rounding: the gradient")


def trainer_of(net, folder, accumulation=4, kind=None, **options):
    from transformers import Trainer, TrainingArguments

    arguments = TrainingArguments(
        output_dir=str(folder), gradient_accumulation_steps=accumulation, use_cpu=True,
        report_to=[], disable_tqdm=True,
    )  # fmt: skip
    return (kind or Trainer)(model=net, args=arguments, **options)


def padded(documents):
    return batches.padded(documents, range(len(documents)))


def test_a_text_model_in_a_trainer_is_exact(tmp_path):
    trainer = trainer_of(tiny(), tmp_path, data_collator=padded)
    found = compare_splits(trainer.training_step, DOCUMENTS)
    assert found.exact and found.difference < 1e-6 and found.pieces == 4
    assert trainer.args.gradient_accumulation_steps == 4
    other = trainer_of(tiny(), tmp_path, accumulation=1)
    assert compare_splits(other.training_step, DOCUMENTS, collate=padded, pieces=3).exact


def vision_model(kind):
    """A tiny vision language model, which may be trained on text alone."""
    import transformers

    rope = {"mrope_section": [1, 1, 2], "rope_type": "default", "rope_theta": 10_000.0}
    text = {
        "vocab_size": VOCABULARY, "hidden_size": 16, "intermediate_size": 32,
        "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
        "bos_token_id": None, "eos_token_id": None, "rope_parameters": rope,
    }  # fmt: skip
    vision = {
        "depth": 1, "embed_dim": 16, "hidden_size": 16, "num_heads": 2, "intermediate_size": 32,
        "out_hidden_size": 16, "patch_size": 4,
    }  # fmt: skip
    config = getattr(transformers, f"{kind}Config")(text_config=text, vision_config=vision)
    torch.manual_seed(0)
    return getattr(transformers, f"{kind}ForConditionalGeneration")(config)


@pytest.mark.parametrize(("kind", "mistakes"), [("Qwen2_5_VL", ("mean of means",)),
                                                ("Qwen2VL", ())])  # fmt: skip
def test_a_vision_model_in_a_trainer_is_a_mean_of_means_where_it_is_flagged(
    tmp_path, kind, mistakes
):
    """`accepts_loss_kwargs = False` on the class with the head; Qwen2-VL has it further inside."""
    net = vision_model(kind)
    trainer = trainer_of(net, tmp_path, data_collator=without_positions)
    assert trainer.model_accepts_loss_kwargs is not bool(mistakes)
    assert compare_splits(trainer.training_step, DOCUMENTS).mistakes == mistakes


def without_positions(documents):
    batch = padded(documents)
    return {name: batch[name] for name in ("input_ids", "attention_mask", "labels")}


def test_a_masked_language_model_in_a_trainer_is_not_divided(tmp_path):
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(0)
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    config = BertConfig(
        vocab_size=VOCABULARY, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, **dropout,
    )  # fmt: skip
    trainer = trainer_of(BertForMaskedLM(config), tmp_path, data_collator=without_positions)
    assert compare_splits(trainer.training_step, DOCUMENTS).mistakes == ("no division",)


def labelled(documents):
    batch = padded([one["input_ids"] for one in documents])
    ids = {name: batch[name] for name in ("input_ids", "attention_mask")}
    return ids | {"labels": torch.tensor([one["label"] for one in documents])}


def test_a_sequence_classifier_in_a_trainer_is_not_divided(tmp_path):
    """transformers issue 47688: the head drops the count, and nobody divides."""
    from transformers import LlamaConfig, LlamaForSequenceClassification

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_labels=3, pad_token_id=0,
    )  # fmt: skip
    trainer = trainer_of(LlamaForSequenceClassification(config), tmp_path, data_collator=labelled)
    documents = [{"input_ids": ids, "label": n % 3} for n, ids in enumerate(DOCUMENTS)]
    found = compare_splits(trainer.training_step, documents)
    assert found.mistakes == ("no division",)
    assert found.counted == "documents" and found.target_tokens is None


def test_accelerate_dividing_once_more_is_found_behind_a_perfect_loss(tmp_path):
    """transformers 5.2.0 to 5.5.3: the accumulation was handed to accelerate as well."""
    trainer = trainer_of(tiny(), tmp_path, data_collator=padded)
    trainer.accelerator.gradient_accumulation_steps = 4
    try:
        found = compare_splits(trainer.training_step, DOCUMENTS)
        assert trainer.accelerator.gradient_accumulation_steps == 4, "left as it was"
    finally:
        trainer.accelerator.gradient_accumulation_steps = 1  # its state is shared
    assert found.mistakes == ("1/accumulation",) and found.length == pytest.approx(1 / 4)


def test_a_plain_accelerate_loop_is_a_mean_of_means():
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    net = tiny()
    net, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))

    def step(micro_batches):
        for one in micro_batches:
            with accelerator.accumulate(net):
                accelerator.backward(net(**one, use_cache=False).loss)
        optimizer.step()
        optimizer.zero_grad()

    try:
        found = compare_splits(step, DOCUMENTS, model=net)
    finally:
        accelerator.gradient_accumulation_steps = 1
    assert found.mistakes == ("mean of means",) and found.scale == pytest.approx(1 / 4)


def same_step(capsys, *words):
    code = cli.main(["same-step", *map(str, words)])
    return code, *capsys.readouterr()


@pytest.fixture
def folder(tmp_path):
    """A model folder that holds a config only, and token ids beside it."""
    config = tiny().config
    rows = [json.dumps({"input_ids": ids}) for ids in DOCUMENTS]
    (tmp_path / "ids.jsonl").write_text("\n".join(rows))
    config.save_pretrained(tmp_path)
    return tmp_path


def test_the_verb_compares_the_loop_of_the_library_and_a_trainer(folder, capsys):
    words = ["--model", folder, "--data", folder / "ids.jsonl", "--accumulation", 3]
    code, out, _ = same_step(capsys, *words, "--json")
    found = {one["step"]: one for one in json.loads(out)["steps"]}
    assert code == 0 and set(found) == {"loop.train_step", "transformers Trainer"}
    assert all(one["exact"] and one["documents"] == [1, 3, 5] for one in found.values())
    assert same_step(capsys, *words)[1].count("exact to rounding") == 2
    code, _, err = same_step(capsys, *words[:-1], 4)
    assert code == 1 and "12 documents are needed for so many pieces, got 10" in err


def test_the_verb_finds_what_a_trainer_does_to_a_classifier(folder, capsys):
    named = json.loads((folder / "config.json").read_text())
    named["architectures"] = ["LlamaForSequenceClassification"]
    (folder / "config.json").write_text(json.dumps(named))
    words = ["--model", folder, "--data", folder / "ids.jsonl", "--accumulation", 3]
    code, out, _ = same_step(capsys, *words)
    assert code == 0 and "no division: a sum where a mean is due" in out
    assert "loop.train_step" not in out, "the library trains language models"
