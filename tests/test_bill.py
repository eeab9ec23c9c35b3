"""What a whole run takes, as `plan` says it: the library's numbers, with what they assume."""

import json

import pytest

from batchlab import cli, cluster, roofline
from batchlab.cli._shapes import LLAMA_8B
from batchlab.roofline import DEVICES, utilisation

WORDS = ["plan", "--rows", "8", "--length", "2048", "--data-parallel", "256", "--devices", "256"]


def test_the_bill_of_plan_is_that_of_cluster(capsys):
    asked = [*WORDS, "--tokens", "1e12", "--card", "h100", "--price", "2.5", "--utilisation", "0.4"]
    assert cli.main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["bill"]
    flops = roofline.flops_per_token(LLAMA_8B, 2048)
    one = cluster.bill(1e12, flops, 256, DEVICES["H100 SXM"], utilisation=(0.4, 0.4),
                       price_per_hour=2.5)  # fmt: skip
    assert found["money"] == [one.money.least, one.money.most]
    assert found["devices"][0]["hours"] == [one.hours.least, one.hours.most]
    assert [line["devices"] for line in found["devices"]][-1] == 16_384


def test_too_many_devices_for_a_step_wait_for_the_link(capsys):
    assert cli.main([*WORDS, "--tokens", "1e12", "--utilisation", "0.38", "0.56"]) == 0
    text = capsys.readouterr().out
    waits = [line.split()[0] for line in text.splitlines() if line.endswith("waits for the link")]
    assert waits == ["4,096", "8,192", "16,384"], "4,096 slots of a device and fewer"
    assert "in money" not in text, "nobody named a price"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--card", "h100"], "--card belongs to a bill: say --tokens"),
        (["--devices", "8"], "--devices 8 goes with a config or with --tokens"),
        (["--tokens", "1e9", "--utilisation", "0.5", "0.4"], "from the least to the most"),
        (["--tokens", "1e9", "--utilisation", "1", "2", "3"], "takes one number or two, got 3"),
        (["--tokens", "1e9", "--model", "./none"], "./none: no such file or folder"),
        (
            ["--tokens", "1e9", "--products", "fp8", "--utilisation", "0.4"],
            "--products fp8 asks public runs for the utilisation: leave --utilisation",
        ),
    ],
)
def test_words_of_a_bill_that_make_none_are_refused(words, says, capsys):
    assert cli.main(["plan", *words]) == 1
    assert says in capsys.readouterr().err


def billed(capsys, *words):
    assert cli.main([*WORDS, "--tokens", "1e12", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["bill"]


def test_in_fp8_each_number_of_devices_has_the_utilisation_of_public_runs(capsys):
    found = billed(capsys, "--products", "fp8", "--card", "b200")
    flops = roofline.flops_per_token(LLAMA_8B, 2048)
    for line in found["devices"]:
        near = utilisation.like(flops, line["devices"], DEVICES["B200"])
        one = utilisation.expected(
            flops * 8 * 4 * 256 * 2048, line["devices"], DEVICES["B200"],
            tensor_parallel=near.tensor_parallel, context_parallel=near.context_parallel,
        )  # fmt: skip
        slowest = 1e12 * flops / (line["devices"] * one.least * 2250e12) / 3600
        assert line["hours"][1] == pytest.approx(slowest)
        rate = 1e12 / (line["devices"] * 3600 * slowest)
        assert line["tokens_per_second_of_a_device"][0] == pytest.approx(rate)
    hours = [line["devices"] * line["hours"][0] for line in found["devices"]]
    assert hours == sorted(hours) and hours[-1] > 1.5 * hours[0]  # one range for all: a constant
    assert found["device"] == "B200 in fp8" and "public runs" in found["assumed"]


def test_in_bf16_it_is_moved_and_says_so(capsys):
    found = billed(capsys)
    flops = roofline.flops_per_token(LLAMA_8B, 2048)
    near = utilisation.like(flops, 256, DEVICES["H100 SXM"])
    assert (near.benchmark, near.devices, near.tensor_parallel) == ("llama31_8b", 128, 2)
    one = utilisation.expected(
        flops * 8 * 4 * 256 * 2048, 256, DEVICES["H100 SXM"], precision="bf16", tensor_parallel=2
    )
    assert found["utilisation"] == list(one.shares) != list(cluster.UTILISATION)
    assert "a fit in fp8, moved to bf16, unverified" in found["assumed"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--card", "a100"], "no public run on A100 SXM 80GB here"),
        (["--products", "fp8", "--card", "t4"], "no public run on T4 here"),
        (["--products", "fp4"], "no public run here computes in fp4 on H100"),
    ],
)
def test_where_no_public_run_is_like_it_the_range_stays_and_says_so(words, why, capsys):
    found = billed(capsys, *words)
    assert found["utilisation"] == list(cluster.UTILISATION)
    assert why in found["assumed"] and found["assumed"].startswith("on any number of devices")
