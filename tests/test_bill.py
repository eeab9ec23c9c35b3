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
    assert cli.main([*WORDS, "--tokens", "1e12"]) == 0
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
        one = utilisation.expected(flops * 8 * 4 * 256 * 2048, line["devices"], DEVICES["B200"])
        slowest = 1e12 * flops / (line["devices"] * one.least * 2250e12) / 3600
        assert line["hours"][1] == pytest.approx(slowest)
    hours = [line["devices"] * line["hours"][0] for line in found["devices"]]
    assert hours == sorted(hours) and hours[-1] > 1.5 * hours[0]  # one range for all: a constant
    assert found["device"] == "B200 in fp8" and "public runs" in found["assumed"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "public runs tell of --products fp8 and fp4 only"),
        (["--products", "fp8", "--card", "t4"], "no public run on T4 here"),
        (["--products", "fp4"], "no public run here computes in fp4 on H100"),
    ],
)
def test_where_no_public_run_is_like_it_the_range_stays_and_says_so(words, why, capsys):
    found = billed(capsys, *words)
    assert found["utilisation"] == list(cluster.UTILISATION)
    assert why in found["assumed"] and found["assumed"].startswith("on any number of devices")
