"""Serving by hand, by brute force, and against `generate()` of transformers, token by token."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from batchlab import padding, serving
from batchlab.memory import ModelShape
from batchlab.roofline import DEVICES
from batchlab.serving import Affine, generate

LLAMA_8B = ModelShape(4096, 32, 32, 8, 128, 14336, 128_256)
TICK = Affine(1.0, 0.0, 0.0)  # every pass takes one second


def test_four_requests_in_a_static_batch_by_hand():
    """One pass of prompts, then as many as the longest wants: 32 of 511 row-steps and so on."""
    one = serving.at_once([3, 1, 4, 1], [32, 64, 128, 512])
    served = serving.simulate(one, TICK, policy="static", rows=4)
    assert (served.prefill_passes, served.decode_passes, served.row_steps) == (1, 511, 4 * 511)
    assert served.useful_row_steps == 31 + 63 + 127 + 511
    assert list(served.latency) == [32, 64, 128, 512] and list(served.first_token) == [1] * 4


def test_a_slot_that_is_free_is_filled_at_once_under_continuous_batching():
    one = serving.at_once([1, 1, 1], [2, 4, 2])
    served = serving.simulate(one, TICK, rows=2)
    # prompts 0, 1; decode 0, 1 (0 ends); prompt 2; decode 1, 2 (2 ends); decode 1
    assert list(served.latency) == [2, 5, 4] and served.row_steps == 5 and served.wasted == 0


def test_chunks_let_others_decode_beside_a_long_prompt():
    one = serving.trace([0, 0.5], [1, 9], [6, 2])
    whole = serving.simulate(one, Affine(0, 1.0, 0), rows=2)
    chunked = serving.simulate(one, Affine(0, 1.0, 0), policy="chunked", rows=2, chunk=4)
    # whole: the first request waits for 9 tokens of prompt between two tokens of its output
    assert whole.latency[0] == 1 + 9 + 2 + 4 and chunked.latency[0] == 1 + 4 + 4 + 4 + 2 + 1
    assert whole.first_token[1] < chunked.first_token[1]  # and the long prompt pays for it


@pytest.mark.parametrize(("rows", "printed"), [(4, 2.2), (8, 3.1), (16, 4.1), (32, 5.3)])
def test_static_batching_pays_the_padding_statistic(rows, printed):
    """Continuous over static in passes is E[Lmax] / E[L]: the waste of padding, after training."""
    outputs = np.random.default_rng(0).lognormal(4, 1, 1500).astype(int) + 1
    trace = serving.at_once(np.ones(1500, int), outputs)
    static = serving.simulate(trace, TICK, policy="static", rows=rows)
    useful = static.useful_row_steps / rows  # passes of a batch that never idles
    ratio = static.decode_passes / useful
    law = (padding.expected_longest(outputs, rows) - 1) / (outputs.mean() - 1)
    assert ratio == pytest.approx(law, rel=0.1)
    continuous = serving.simulate(trace, TICK, rows=rows)
    assert useful <= continuous.decode_passes < 1.1 * useful
    assert printed == pytest.approx(ratio, rel=0.15)


@pytest.mark.parametrize("policy", serving.POLICIES)
@pytest.mark.parametrize("seed", range(4))
def test_laws_of_every_policy(policy, seed):
    random = np.random.default_rng(seed)
    trace = serving.poisson(
        2.0, random.integers(1, 40, 50), random.integers(1, 30, 50), requests=60, seed=seed
    )
    cost = Affine(0.02, 0.001, 0.0)
    served = serving.simulate(trace, cost, policy=policy, rows=5, cache=200, chunk=16)
    assert np.isfinite(served.latency).all() and (served.latency >= served.first_token).all()
    assert served.useful_row_steps == (trace.outputs - 1).sum()  # every token, once
    assert served.row_steps >= served.useful_row_steps and served.busy_seconds <= served.seconds
    alone = np.array([
        serving.simulate(serving.at_once([p], [o]), cost, policy=policy, rows=5, chunk=16).seconds
        for p, o in zip(trace.prompts, trace.outputs, strict=True)
    ])  # fmt: skip
    assert (served.latency >= alone - 1e-9).all()  # company never makes a request faster


def in_flight(served):
    """Requests in flight, integrated over the moments of arrival and of leaving."""
    moments = [(time, 1) for time in served.trace.arrivals]
    moments += [(time, -1) for time in served.trace.arrivals + served.latency]
    area = now = count = 0.0
    for time, change in sorted(moments):
        area, now, count = area + count * (time - now), time, count + change
    return area / served.seconds


def test_littles_law():
    trace = serving.poisson(3.0, [5, 9], [10, 40], requests=300)
    served = serving.simulate(trace, Affine(0.02, 0, 0), rows=8)
    assert served.in_flight == pytest.approx(in_flight(served))
    assert served.in_flight == pytest.approx(served.requests_per_second * served.latency.mean())


def test_a_percentile_is_a_request_and_not_the_mean():
    served = serving.simulate(serving.at_once([1] * 100, [1] * 98 + [500] * 2), TICK, rows=100)
    assert served.percentile(0.5) == served.percentile(0.98) == 1
    assert served.percentile(0.99) == 500 and served.latency.mean() == pytest.approx(10.98)


def test_the_cache_limits_who_runs():
    trace = serving.at_once([6, 6, 6], [4, 4, 4])
    wide = serving.simulate(trace, TICK, rows=3)
    narrow = serving.simulate(trace, TICK, rows=3, cache=20)  # two of 10 tokens each
    assert wide.passes == 4 and narrow.passes == 8
    with pytest.raises(ValueError, match=r"request 0 needs 10 tokens of cache \(prompt 6 \+ outpu"):
        serving.simulate(trace, TICK, rows=3, cache=9)


def test_decoding_of_llama_8b_on_an_h100_is_bound_by_its_cache():
    """Bytes of weights and cache over the data sheet's bandwidth, at a context of 2,048."""
    cost = serving.roofline(LLAMA_8B, DEVICES["H100 SXM"])
    assert serving.kv_bytes_per_token(LLAMA_8B) == 131_072
    found = {rows: cost.seconds(rows, [2048] * rows) for rows in (1, 8, 32, 64, 128, 256)}
    printed = {1: 4.561, 8: 5.122, 32: 7.045, 64: 9.609, 128: 14.737, 256: 24.994}
    assert {rows: 1e3 * seconds for rows, seconds in found.items()} == pytest.approx(
        printed, abs=1e-3
    )
    assert cost.most_tokens_per_second(2048) == pytest.approx(12_480, abs=1)
    assert cost.most_requests(2048, 76e9) == 223
    assert max(rows / seconds for rows, seconds in found.items()) < 12_480
    with pytest.raises(ValueError, match="the weights take 16,060"):
        cost.most_requests(2048, 10e9)


def test_an_input_embedding_is_held_and_looked_up_and_a_tied_one_is_read():
    """The mistake beside the law: all 16.06 GB read in each pass, 4.79 ms and not 4.48."""
    cost, table = serving.roofline(LLAMA_8B, DEVICES["H100 SXM"]), 2 * 128_256 * 4096
    assert cost.looked_up_bytes == table and cost.weights_bytes + table == 2 * LLAMA_8B.parameters
    assert cost.seconds(1, [0]) == pytest.approx(4.48e-3, abs=5e-6)
    assert (cost.weights_bytes + table) / cost.bytes_per_second == pytest.approx(4.79e-3, abs=5e-6)
    tied = serving.roofline(replace(LLAMA_8B, tied=True), DEVICES["H100 SXM"])
    assert tied.looked_up_bytes == 0 and tied.weights_bytes == cost.weights_bytes


def test_calibration_finds_planted_prices_and_never_a_negative_one():
    random = np.random.default_rng(0)

    def measured(price, noise):
        for _ in range(60):
            rows, longest = int(random.integers(1, 9)), int(random.integers(1, 200))
            seconds = price.seconds(rows, [longest] * rows) * (1 + noise * random.normal())
            yield serving.Pass(rows, rows, longest, seconds)

    planted = Affine(2e-3, 1e-4, 3e-6)
    exact = serving.calibrate(measured(planted, 0.0))
    assert exact.token_seconds == pytest.approx(1e-4) and exact.read_seconds == pytest.approx(3e-6)
    free = serving.calibrate(measured(Affine(2e-3, 0.0, 0.0), 0.05))
    assert free.token_seconds >= 0 and free.read_seconds >= 0
    assert free.fixed_seconds == pytest.approx(2e-3, rel=0.05)
    with pytest.raises(ValueError, match="need at least 4 measured passes, got 3"):
        serving.calibrate([serving.Pass(1, 1, 1, 1.0)] * 3)


def untied(attention):
    """A model whose next token depends on what it read: a tied one repeats its input."""
    config = LlamaConfig(
        vocab_size=300, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=False,
        initializer_range=0.3, max_position_embeddings=128, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    config._attn_implementation = attention
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module", params=["sdpa", "eager"])
def truth(request):
    model = untied(request.param)
    random = np.random.default_rng(1)
    prompts = [random.integers(0, 300, size).tolist() for size in random.integers(1, 14, 8)]
    outputs = random.integers(1, 16, 8).tolist()
    alone = [
        model.generate(torch.tensor([p]), max_new_tokens=o, do_sample=False, pad_token_id=0)
        for p, o in zip(prompts, outputs, strict=True)
    ]
    wanted = [found[0, len(p) :].tolist() for found, p in zip(alone, prompts, strict=True)]
    assert len({token for one in wanted for token in one}) > 20, "the outputs say something"
    return model, prompts, outputs, wanted


@pytest.mark.parametrize("policy", serving.POLICIES)
@pytest.mark.parametrize("rows", [1, 3, 8])
def test_every_policy_generates_what_generate_does_in_the_passes_that_were_simulated(
    truth, policy, rows
):
    model, prompts, outputs, wanted = truth
    arrivals = [0.0, 3.0, 0.0, 9.0, 0.0, 0.0, 1.0, 2.0]
    found = generate.run(model, prompts, outputs, policy=policy, rows=rows, chunk=9)
    assert found.tokens == wanted
    trace = serving.at_once([len(one) for one in prompts], outputs)
    played = serving.simulate(trace, TICK, policy=policy, rows=rows, chunk=9)
    real = found.served
    assert (real.passes, real.row_steps) == (played.passes, played.row_steps)
    assert len(found.passes) == real.passes
    later = generate.run(model, prompts, outputs, policy=policy, rows=rows, arrivals=arrivals)
    assert later.tokens == wanted, "in the order given, whoever came first"


def test_the_model_is_left_as_it_was_and_too_long_a_request_is_refused(truth):
    model = truth[0].train()
    generate.run(model, [[1]], [2])
    assert model.training
    model.eval()
    with pytest.raises(ValueError, match=r"a request of 130 tokens .* longer than the model's 128"):
        generate.run(model, [[1] * 100], [30])


def test_a_trace_is_read_back_as_it_was_written(tmp_path):
    one = serving.poisson(2.0, [5, 9], [10, 40], requests=20)
    rows = [
        {"arrival": float(a), "prompt": int(p), "output": int(o)}
        for a, p, o in zip(one.arrivals, one.prompts, one.outputs, strict=True)
    ]
    lines = tmp_path / "trace.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = tmp_path / "trace.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["output", "prompt", "arrival"])
        writer.writeheader()
        writer.writerows(rows)
    for path in (lines, table):
        read = serving.read(path)
        assert np.array_equal(read.arrivals, one.arrivals)
        assert np.array_equal(read.prompts, one.prompts)
        assert np.array_equal(read.outputs, one.outputs)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no requests in it"),
        ('{"arrival": 1, "prompt": 2}\n', "line 1: no field output; a request has arrival, prom"),
        ('{"arrival": -1, "prompt": 2, "output": 3}\n', "line 1: arrival must be a number of at"),
        ('{"arrival": 1, "prompt": 2.5, "output": 3}\n', "line 1: prompt must be a whole .* 2.5"),
        ('{"arrival": 1, "prompt": 0, "output": 3}\n', "line 1: prompt must be .* least 1, got 0"),
        ('{"arrival": 1, "prompt": true, "output": 3}\n', "line 1: prompt must be .* got True"),
        ("[1]\n", "line 1: no field arrival"),
    ],
)
def test_a_trace_that_makes_no_sense_is_refused_with_its_line(tmp_path, text, says):
    path = tmp_path / "trace.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match=says) as caught:
        serving.read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("arrival,prompt,output\n0,5,10,5\n", "line 2: more fields than the 3 of line 1"),
        ("arrival,prompt,output,prompt\n0,5,10,5\n", "line 1: the field prompt stands there twi"),
        ("arrival,prompt,output\n\n0,x,10\n", "line 3: prompt must be"),
    ],
)
def test_a_table_that_could_be_read_in_two_ways_is_refused(tmp_path, text, says):
    """The mistake: of 0,5 seconds and a prompt of 10 tokens, it served 0 seconds and a prompt of 5;
    and the line that it named did not count the empty ones.
    """
    path = tmp_path / "trace.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=says):
        serving.read(path)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda t: serving.simulate(t, TICK, policy="orca"), "unknown policy 'orca'; there are st"),
        (lambda t: serving.simulate(t, TICK, rows=0), "rows must be a whole number of at least"),
        (lambda t: serving.simulate(t, TICK, policy="chunked", chunk=8), "leaves no room for prom"),
        (lambda t: serving.poisson(0, [1], [1], requests=3), "rate must be above 0"),
        (lambda t: serving.poisson(1, [1, 2], [1], requests=3), "2 prompts and 1 outputs are no"),
        (lambda t: serving.trace([0, 1], [1], [1]), "one arrival, one prompt and one output"),
        (lambda t: serving.trace([float("nan")], [1], [1]), "finite seconds"),
        (lambda t: serving.simulate(t, TICK).percentile(2), "share must be"),
    ],
)
def test_what_cannot_be_served_is_refused(ask, says):
    with pytest.raises(ValueError, match=says):
        ask(serving.at_once([1], [2]))


@pytest.mark.parametrize("policy", serving.POLICIES)
@pytest.mark.parametrize("rows", [1, 3, 8])
def test_passes_priced_at_once_are_those_of_a_loop(policy, rows):
    """The judge executes pass after pass; to the last bit, also where a cache makes some wait."""
    rng = np.random.default_rng(rows)
    arrivals = np.cumsum(rng.exponential(20.0, 40)) * rng.integers(0, 2, 40)
    trace = serving.trace(np.sort(arrivals), rng.integers(1, 50, 40), rng.integers(1, 90, 40))
    for cost in (serving.Affine(1.0, 0.1, 0.003), serving.Roofline(7.0, 0.3, 1.0, 2.0, 3.0)):
        steps = []

        def execute(step, cost=cost, steps=steps):
            steps.append(step)
            return cost.seconds(step.tokens, step.contexts)

        loop = serving.play(trace, serving.Scheduler(policy, rows, 200, 64), execute)
        found = serving.simulate(trace, cost, policy=policy, rows=rows, cache=200, chunk=64)
        for name in ("first_token", "latency"):
            assert getattr(found, name).tolist() == getattr(loop, name).tolist()
        assert (found.seconds, found.busy_seconds) == (loop.seconds, loop.busy_seconds)
        assert found.decode_passes == loop.decode_passes and found.row_steps == loop.row_steps
        assert found.useful_row_steps == loop.useful_row_steps


def test_a_long_output_is_priced_once_however_many_come_meanwhile():
    """The mistake beside the law: all that is left of it is priced again at each arrival."""
    priced = []

    class Counted(serving.Affine):
        def stretch(self, growing, resting, passes):
            priced.append(passes)
            return super().stretch(growing, resting, passes)

    trace = serving.trace(range(0, 20_000, 100), [8] * 200, [20_000] + [5] * 199)
    found = serving.simulate(trace, Counted(1.0, 0.0, 0.0), rows=4)
    assert found.decode_passes <= sum(priced) < 4 * found.decode_passes < 200 * 20_000 / 40


def test_a_pass_that_reads_no_cache_has_a_cost():
    """The first chunk of a request reads nothing, and a decoding pass may have nobody at rest."""
    affine, sheet = Affine(1.0, 0.5, 0.25), serving.Roofline(8.0, 2.0, 3.0, 6.0, 4.0)
    assert (affine.seconds(3, []), sheet.seconds(3, [])) == (2.5, 2.0)
    assert (affine.seconds(3, [2, 7]), sheet.seconds(3, [2, 7])) == (2.5 + 0.25 * 14, 26 / 4)
    assert affine.stretch([6], [], 2).tolist() == [1.5 + 0.25 * 6, 1.5 + 0.25 * 7]
    assert sheet.stretch([6], [], 2).tolist() == [20 / 4, 22 / 4]
