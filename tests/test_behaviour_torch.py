"""Tensors, modules, optimizers and generators are copied, and their changes seen."""

import pytest

from batchlab.classroom import check, copies
from tests.refusals import lines, refusal

torch = pytest.importorskip("torch")


def small():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))


def weights(model):
    return [p.detach().clone() for p in model.parameters()]


def test_a_tensor_changed_in_place_is_seen_and_the_lessons_own_is_safe():
    given = torch.tensor([3.0, float("nan")])
    said = lines(lambda x: x.add_(1), given, asked="x plus one")
    assert "the input changed from Tensor tensor([3., nan]) to Tensor tensor([4., nan])" in str(
        said
    )
    assert given[0] == 3
    assert check.call(lambda x: x + 1, given, asked="x plus one")[0] == 4
    long = torch.zeros(3, 5, dtype=torch.bfloat16)
    assert "[14] changed from 0 to 1" in lines(lambda x: x[2, 4].fill_(1), long, asked="x")["got"]


def test_a_tensor_with_a_graph_is_handed_over_as_one_that_can_be_differentiated():
    leaf = torch.ones(2, requires_grad=True)
    got = check.call(lambda x: torch.autograd.grad(x.sum(), x)[0], leaf * 2, asked="the gradient")
    assert got.tolist() == [1, 1]


def test_a_trained_module_is_seen_and_the_lessons_own_is_safe():
    model, before = small(), weights(small())

    rows = torch.tensor([[1.0, 5.0], [2.0, 3.0], [4.0, 0.0]])

    def train(network, optimizer):
        (network(rows) * rows).sum().backward()  # equal rows: a gradient of rounding
        optimizer.step()
        return 1

    said = lines(train, model, torch.optim.Adam(model.parameters()), asked="a gradient")
    assert said["got"] == "argument 1.0.weight holds other values than before"
    assert said["likely"] == "the weights were trained or overwritten in place"
    assert all(torch.equal(a, b) for a, b in zip(weights(model), before, strict=True))


def test_a_gradient_may_be_computed_and_no_more():
    def gradient(network):
        network.zero_grad()
        network[0](torch.ones(1, 2)).sum().backward()
        return [p.grad for p in network[0].parameters()]

    model = small()
    assert len(check.call(gradient, model, asked="a gradient")) == 2
    assert all(p.grad is None for p in model.parameters())


def test_a_mode_that_is_left_switched_and_a_buffer_that_moved_are_seen():
    said = lines(lambda network: len(network.eval()), small(), asked="a loss")
    assert said["got"] == "the input came in train mode and is left in eval mode"
    moved = lines(lambda network: network(torch.ones(3, 2)), small(), asked="a loss")
    assert moved["got"] == "the input.1.running_mean holds other values than before"

    def polite(network):
        was = network.training
        network.eval()
        network.train(was)
        return 1

    assert check.call(polite, small(), asked="a loss") == 1


def test_an_optimizer_is_copied_with_the_weights_that_it_moves():
    model = small()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    network, moves = copies.copied((model, optimizer))
    assert moves.param_groups[0]["params"][0] is next(network.parameters())
    said = lines(lambda o: o.param_groups[0].update(lr=0.5) or 1, optimizer, asked="the rate")
    assert "['lr'] changed from 1 to 0.5" in said["got"]
    assert optimizer.param_groups[0]["lr"] == 1


def test_generators_of_torch_draw_from_copies():
    generator = torch.Generator().manual_seed(3)
    first, again = (
        check.call(lambda g: torch.rand(1, generator=g), generator, asked="x") for _ in range(2)
    )
    assert torch.equal(first, again)
    with check.unchanged(generator, small(), asked="x"):
        pass
    with (
        pytest.raises(check.CheckFailed, match="numbers were drawn"),
        check.unchanged(generator, asked="x"),
    ):
        torch.rand(1, generator=generator)


def test_unchanged_sees_changed_weights():
    model = small()
    with (
        pytest.raises(check.CheckFailed, match=r"the input.0.bias holds other values"),
        check.unchanged(model, asked="x"),
        torch.no_grad(),
    ):
        model[0].bias.add_(1)


def test_a_tensor_is_told_by_its_class_and_not_by_its_name():
    class Tensor:
        __module__ = "torch"

        def __eq__(self, other):
            return True

        __hash__ = None

    assert "a number is needed" in refusal(check.equal, Tensor(), 3, asked="x")
    assert "an array or a list is needed" in refusal(check.array, Tensor(), [3], asked="x")

    class Sly(torch.Tensor):
        pass

    assert "a number is needed" in refusal(
        check.equal, torch.ones(()).as_subclass(Sly), 1, asked="x"
    )
    check.equal(torch.nn.Parameter(torch.tensor(3.0)), 3, asked="x")
