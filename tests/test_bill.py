"""What a whole run takes, as `plan` says it: the library's numbers, with what they assume."""

import json

import pytest

from batchlab import cli, cluster, roofline
from batchlab.cli._shapes import LLAMA_8B
from batchlab.roofline import DEVICES

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
    ],
)
def test_words_of_a_bill_that_make_none_are_refused(words, says, capsys):
    assert cli.main(["plan", *words]) == 1
    assert says in capsys.readouterr().err
