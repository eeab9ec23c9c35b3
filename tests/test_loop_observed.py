"""What is seen of a step, and how a comparison finds its pieces, its Trainer and its ranks."""

import random
from types import SimpleNamespace
from unittest import mock

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from batchlab import counts
from batchlab.loop import compare_splits
from batchlab.loop._compare import unequal
from batchlab.loop._comparison import Comparison
from batchlab.loop._observed import Observed, distance, products

LENGTHS = (3, 7, 9, 5, 2, 6, 8, 4, 3, 11)
DOCUMENTS = [[1 + (n * n + i) % 7 for i in range(n)] for n in LENGTHS]


class Bigram(nn.Module):
    """The next token from this one alone; no config, and nothing is called as transformers does."""

    def __init__(self):
        super().__init__()
        draw = torch.Generator().manual_seed(0)
        self.rows = nn.Parameter(torch.randn(8, 8, generator=draw, dtype=torch.float64))

    def forward(self, input_ids, use_cache=False, position_ids=None, attention_mask=None):
        return self.rows[input_ids]


class Own(Bigram):
    """Called in a way that only its own step knows."""

    def forward(self, tokens):
        return self.rows[tokens]


def summed(net, batch):
    logits = net(batch["input_ids"])[:, :-1].flatten(0, 1)
    return F.cross_entropy(logits, batch["labels"][:, 1:].flatten(), reduction="sum")


def tokens_of(micro_batches):
    return sum(int(counts.target_tokens(one["labels"])) for one in micro_batches)


def right(net, micro_batches, factor=1.0):
    for one in micro_batches:
        (factor * summed(net, one) / tokens_of(micro_batches)).backward()


def compare(step=right, net=None, **options):
    net = net or Bigram()
    return compare_splits(lambda pieces: step(net, pieces), DOCUMENTS, model=net, **options)


def gradient_of(step, net=None, **options):
    net = net or Bigram()
    with Observed(net) as observed:
        return observed.gradient(lambda parts: step(net), [], **options)


@pytest.mark.parametrize(
    ("documents", "pieces", "sizes"),
    [(3, 2, [1, 2]), (4, 2, [1, 3]), (7, 3, [1, 2, 4]), (10, 4, [1, 2, 3, 4]), (4, 3, [1, 1, 2])],
)
def test_pieces_grow_from_one_document_on(documents, pieces, sizes):
    assert unequal(documents, pieces) == sizes


def test_without_a_number_there_are_four_pieces():
    found = compare()
    assert found.exact and found.documents == (1, 2, 3, 4)
    assert found.scale == pytest.approx(1) and found.counted == "target tokens"
    assert compare(pieces=2).documents == (1, 9)


@pytest.mark.parametrize(("part", "comparable"), [(0.5e-4, True), (2e-4, False)])
def test_two_runs_that_differ_by_less_than_a_ten_thousandth_are_the_same(part, comparable):
    runs = iter([0.0, part] + [0.0] * 20)

    def step(net, micro_batches):
        torch.rand(1)
        right(net, micro_batches, 1 + next(runs))

    found = compare(step)
    assert found.comparable is comparable
    assert found.draws == (0.0 if comparable else pytest.approx(part, rel=1e-6))
    assert found.rounding == (pytest.approx(0, abs=1e-6) if comparable else found.draws)


def test_a_step_is_compared_in_terms_of_what_its_own_loss_counts():
    """Unshifted labels: the first one counts, too, and the mean is over all of them."""

    def batch_of(documents):
        ids = torch.zeros(len(documents), 11, dtype=torch.int64)
        labels = torch.full_like(ids, counts.IGNORE)
        for row, one in enumerate(documents):
            ids[row, : len(one)] = labels[row, : len(one)] = torch.tensor(one)
        return {"input_ids": ids, "labels": labels}

    def step(net, micro_batches):
        number = sum(int((one["labels"] != counts.IGNORE).sum()) for one in micro_batches)
        for one in micro_batches:
            logits = net(one["input_ids"]).flatten(0, 1)
            loss = F.cross_entropy(logits, one["labels"].flatten(), reduction="sum")
            (loss / number).backward()

    found = compare(step, collate=batch_of)
    assert found.exact and found.counted == "labels" and found.scale is None
    assert found.target_tokens == (2, 14, 10, 22), "each length less 1"


def test_a_model_that_only_its_step_can_call_is_judged_without_a_scale():
    own = compare(lambda net, parts: right(net, parts, 2.0), Own())
    assert own.exact and own.scale is None
    assert compare(lambda net, parts: right(net, parts, 2.0)).scale == pytest.approx(2)
    translator = Bigram()
    translator.config = SimpleNamespace(is_encoder_decoder=True)
    assert compare(right, translator).scale is None, "its labels are another text than its input"


def test_labels_that_are_no_tokens_are_not_counted():
    def classes(documents):
        return {"pixels": torch.ones(len(documents), 3), "labels": torch.ones(len(documents))}

    def flat(documents):
        ids = torch.arange(len(documents))
        return {"input_ids": ids, "labels": ids}

    def step(net, micro_batches):
        number = sum(len(one["labels"]) for one in micro_batches)
        for one in micro_batches:
            (sum(net.rows[n % 8].sum() ** 2 for n in range(len(one["labels"]))) / number).backward()

    for collate in (classes, flat):
        found = compare(step, collate=collate)
        assert found.target_tokens is None and found.scale is None
        assert found.counted in ("documents", None)


class Trainer:
    """What a comparison asks of a Trainer of transformers, and nothing more."""

    def __init__(self, accumulation, accelerate=1):
        self.model, self.data_collator = Bigram(), None
        self.args = SimpleNamespace(gradient_accumulation_steps=accumulation, device="cpu")
        state = SimpleNamespace(plugin_kwargs={})
        self.accelerator = SimpleNamespace(
            gradient_state=state, gradient_accumulation_steps=accelerate
        )
        self.seen = []

    def get_batch_samples(self, given, number, device):
        taken = [next(given) for _ in range(number)]
        return taken, tokens_of(taken)

    def training_step(self, model, batch, items):
        now = self.current_gradient_accumulation_steps, self.args.gradient_accumulation_steps
        self.seen.append((*now, dict(self.accelerator.gradient_state.plugin_kwargs)))
        (summed(model, batch) / items).backward()

    def other_step(self, micro_batches):
        right(self.model, micro_batches)


def padded(documents):
    from batchlab import batches

    return batches.padded(documents, range(len(documents)))


@pytest.mark.parametrize(
    ("accumulation", "accelerate", "pieces", "twice"),
    [(1, 1, 4, False), (2, 1, 2, False), (3, 1, 3, False), (3, 3, 3, True)],
)
def test_a_trainer_is_split_as_it_accumulates(accumulation, accelerate, pieces, twice):
    trainer = Trainer(accumulation, accelerate)
    found = compare_splits(trainer.training_step, DOCUMENTS, collate=padded)
    assert found.exact and found.pieces == pieces
    told = {number: {"num_steps": number} if twice else {} for number in (1, pieces)}
    assert {one[:2] for one in trainer.seen} == {(1, 1), (pieces, pieces)}
    assert all(one[2] == told[one[0]] for one in trainer.seen)
    assert trainer.args.gradient_accumulation_steps == accumulation
    assert trainer.accelerator.gradient_state.plugin_kwargs == {}


def test_only_the_training_step_of_a_trainer_is_run_as_one():
    trainer = Trainer(2)
    with pytest.raises(ValueError, match="give model="):
        compare_splits(trainer.other_step, DOCUMENTS)
    assert compare_splits(trainer.other_step, DOCUMENTS, model=trainer.model).pieces == 4
    assert not trainer.seen

    class Module:
        def training_step(self, micro_batches):
            raise AssertionError("not reached")

    def training_step(micro_batches):
        raise AssertionError("not reached")

    for step in (Module().training_step, training_step):
        with pytest.raises(ValueError, match="give model="):
            compare_splits(step, DOCUMENTS)


def test_the_ranks_are_those_of_the_process_group_unless_they_are_given():
    def double(net, micro_batches):
        right(net, micro_batches, 2.0)

    with (
        mock.patch.object(torch.distributed, "is_initialized", lambda: True),
        mock.patch.object(torch.distributed, "get_world_size", lambda: 2),
    ):
        assert compare(double).mistakes == ("scaled by ranks",)
        assert compare(double, ranks=1).exact


def test_a_gradient_is_seen_as_it_is_or_exactly_smaller():
    def step(net):
        (net.rows**3).sum().backward()

    plain, shrunk = gradient_of(step), gradient_of(step, shrunk=True)
    torch.testing.assert_close(plain["rows"], 3 * Bigram().rows.detach() ** 2)
    (factor,) = (shrunk["rows"] / plain["rows"]).unique().tolist()
    assert factor.hex().startswith("0x1.0000000000000p-"), "a power of 2 rounds nothing"
    assert 1e6 * factor < 1


def test_numbers_are_drawn_anew_only_if_asked():
    def step(net):
        drawn.append((random.random(), torch.rand(1).item()))
        net.rows.sum().backward()

    net, drawn = Bigram(), []
    with Observed(net) as observed:
        for same in ({}, {}, {"same_random": False}, {"same_random": True}):
            observed.gradient(lambda parts: step(net), [], **same)
            assert observed.random_moved()
        observed.gradient(lambda parts: net.rows.sum().backward(), [])
        assert not observed.random_moved()
    assert drawn[0] == drawn[1] == drawn[3] != drawn[2]


def test_numbers_of_every_device_are_watched_and_put_back():
    states = [torch.zeros(4, dtype=torch.uint8), torch.ones(4, dtype=torch.uint8)]

    def put_back(given):
        states[:] = [one.clone() for one in given]

    def step(net):
        states[1] = states[1] + 1
        net.rows.sum().backward()

    net = Bigram()
    with (
        mock.patch.object(torch.cuda, "is_initialized", lambda: True),
        mock.patch.object(torch.cuda, "get_rng_state_all", lambda: list(states)),
        mock.patch.object(torch.cuda, "set_rng_state_all", put_back),
    ):
        with Observed(net) as observed:
            observed.gradient(lambda parts: step(net), [])
            assert observed.random_moved(), "one of three generators is enough"
        assert [int(one[0]) for one in states] == [0, 1]


def test_a_step_may_update_its_parameters_with_two_optimizers_and_each_once():
    net = nn.ParameterList([torch.ones(2), torch.ones(3)])
    strange = nn.Parameter(torch.ones(1))
    optimizers = [torch.optim.SGD([net[0], strange], 1.0), torch.optim.SGD([net[1]], 1.0)]

    def step(_):
        strange.grad = torch.ones(1)
        (net[0].sum() + 2 * net[1].sum()).backward()
        for one in optimizers:
            one.step()

    with Observed(net) as observed:
        found = observed.gradient(step, [])
        assert {name: one.tolist() for name, one in found.items()} == {"0": [1, 1], "1": [2, 2, 2]}
        assert strange.tolist() == [1] and net[0].grad is None
        net[0].sum().backward()
        optimizers[0].step()
        assert net[0].tolist() == [0, 0], "the watch ends with the step"
    assert net[0].tolist() == [1, 1] and net[0].grad is None


def test_one_weight_in_float16_is_enough_to_be_refused_unless_it_is_frozen():
    net = nn.ParameterList([torch.ones(2), torch.ones(2).half()])
    with pytest.raises(ValueError, match="float16 weights are refused"):
        Observed(net)
    net[1].requires_grad_(False)
    assert list(Observed(net).names.values()) == ["0"]


ONE = {"a": torch.tensor([3.0, 4.0]), "b": torch.tensor([[1.0]])}
OTHER = {"b": torch.tensor([[2.0]]), "c": torch.tensor([12.0])}


def test_products_and_distances_by_hand():
    assert products([ONE, OTHER]).tolist() == [[26, 2], [2, 148]]
    assert products([OTHER, ONE, OTHER]).shape == (3, 3)
    assert distance(ONE, OTHER) == pytest.approx(((9 + 16 + 1 + 144) / 148) ** 0.5)
    assert distance(OTHER, ONE) == pytest.approx((170 / 26) ** 0.5)
    with pytest.raises(ValueError, match="in one piece is 0: nothing to compare"):
        distance(ONE, {"a": torch.zeros(2)})


def test_a_long_gradient_is_multiplied_in_float64():
    long = {"a": torch.full((2**20 + 1,), 0.1)}
    exact = float(torch.tensor(0.1).double()) ** 2 * (2**20 + 1)
    assert products([long])[0, 0] == pytest.approx(exact, rel=2**20 * 2**-53)  # one rounding each


def test_a_million_values_of_a_gradient_are_held_in_float64_at_a_time():
    class Widened(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if function is torch.ops.aten._to_copy.default and kwargs["dtype"] == torch.float64:
                sizes.append(args[0].numel())
            return function(*args, **(kwargs or {}))

    sizes = []
    with Widened():
        products([{"a": torch.ones(2**20 + 1)}])
    assert sizes == [2**20, 1]


def saying(**changes):
    usual = {"documents": (1, 2), "target_tokens": (1000, 3), "difference": 0.5, "length": 2.0,
             "rounding": 0.0, "counted": "target tokens"}  # fmt: skip
    return Comparison(**{**usual, **changes})


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "exact to rounding: the gradient differs by 5.0e-01"),
        ({"mistakes": ("no division", "bf16 sum")}, "no division and bf16 sum"),
        ({"named": False}, "not exact, and no known mistake"),
        ({"named": False, "counted": None},
         "not exact, and no known mistake: its loss is no mean over target tokens or documents"),
        ({"draws": 0.25}, "not comparable: the step draws random numbers, and two runs of one "
         "piece differ by 0.25; set dropout to 0 and compare again"),
    ],
)  # fmt: skip
def test_a_verdict_is_one_line(changes, verdict):
    assert saying(**changes).verdict == verdict


@pytest.mark.parametrize(
    ("scale", "said"), [(None, False), (1.0, False), (1.009, False), (1.011, True), (0.989, True)]
)
def test_a_scale_is_said_where_rounding_does_not_explain_it(scale, said):
    lines = str(saying(scale=scale)).splitlines()
    assert lines[0] == (
        "3 documents in one piece and in 2: of 1 and 2 documents with 1,000 and 3 target tokens"
    )
    assert lines[-1] == "exact to rounding: the gradient differs by 5.0e-01"
    assert (
        len(lines) == 2 + said and any(f"it is {scale} times the mean" in x for x in lines) is said
    )
