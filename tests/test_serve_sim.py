"""The verb that serves requests on paper: its table, its limits, and what it refuses."""

import json

import pytest

from batchlab import cli, plots
from batchlab.cluster import Link, ranks


@pytest.fixture
def requests(tmp_path):
    path = tmp_path / "trace.csv"
    lines = [f"{0.1 * n:.1f},{20 + n},{1 + n % 17}\n" for n in range(40)]
    path.write_text("arrival,prompt,output\n" + "".join(lines))
    return path


def test_a_trace_of_ones_own_is_served_at_its_own_rate(requests, capsys):
    assert cli.main(["serve-sim", "--trace", str(requests), "--rows", "4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["policy"] for one in found["served"]} == {"static", "continuous", "chunked"}
    assert {round(one["rate"], 6) for one in found["served"]} == {10.0}
    most = found["most_requests_per_second"]
    assert most["static"] < most["continuous"]
    assert not any(one["overloaded"] for one in found["served"])


def test_a_rate_that_cannot_be_served_is_said(requests, capsys):
    words = ["serve-sim", "--trace", str(requests), "--arrivals", "5", "100000", "--card", "t4"]
    assert cli.main(words) == 1
    assert "the weights take" in capsys.readouterr().err  # 16 GB of weights on a card of 16
    assert cli.main([*words[:-1], "a100"]) == 0
    text = capsys.readouterr().out
    grows = [line.split()[:2] for line in text.splitlines() if line.endswith("queue grows")]
    assert "A100 SXM 80GB" in text
    assert grows == [["1e+05", policy] for policy in ("static", "continuous", "chunked")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--card", "b300"],
            "one of H100 SXM, H200 SXM, A100 SXM 80GB, B200, GB200, T4 is needed, got b300",
        ),
        (["--arrivals", "0"], "a number above 0 is needed, got 0"),
        (["--arrivals", "nan"], "a number above 0 is needed, got nan"),
    ],
)
def test_a_wrong_word_is_a_usage_error(words, says, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["serve-sim", *words])
    assert stopped.value.code == 2 and says in capsys.readouterr().err


def test_a_trace_that_is_not_there_is_one_line(capsys):
    assert cli.main(["serve-sim", "--trace", "none.csv"]) == 1
    assert capsys.readouterr().err == "batchlab: none.csv: no such file\n"


def test_the_pictures_say_what_they_show():
    rows = [
        {"policy": policy, "rate": rate, "first_token_p99_seconds": rate * 0.01,
         "overloaded": rate > 1}
        for policy in ("static", "chunked") for rate in (1.0, 2.0)
    ]  # fmt: skip
    assert "static 10.0 ms, 20.0 ms; chunked" in plots.served(rows).batchlab_alt

    def late(rank):
        rank.compute(0.3 if rank.rank else 0.1)
        rank.barrier()

    world = ranks.run(late, 2, profile=Link("drawn", 1e3, "by hand"))
    alt = plots.world(world).batchlab_alt
    assert "rank 0 waits 66." in alt and "rank 1 waits 0.0 %" in alt
    idle = ranks.run(lambda rank: None, 2, profile=Link("drawn", 1e3, "by hand"))
    assert plots.world(idle).axes[0].get_xlim() == (0, 1), "nobody works, and it can be drawn"


def test_requests_that_all_come_at_once_have_no_rate(tmp_path, capsys):
    path = tmp_path / "one.jsonl"
    path.write_text('{"arrival": 0, "prompt": 9, "output": 3}\n')
    assert cli.main(["serve-sim", "--trace", str(path), "--json"]) == 0
    assert [one["rate"] for one in json.loads(capsys.readouterr().out)["served"]] == [None] * 3
    assert cli.main(["serve-sim", "--trace", str(path)]) == 0
    assert capsys.readouterr().out.count("all at once") == 3
