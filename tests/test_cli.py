"""The command line, as a stranger uses it: tables, JSON, and one clear line for bad input."""

import json
import subprocess
import sys

import numpy as np
import pytest

from batchlab import lengths as ln
from batchlab import packing, padding
from batchlab.cli import main


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys, *arguments):
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.fixture
def documents(tmp_path):
    """A JSONL file of 10,000 documents of token ids."""
    path = tmp_path / "documents.jsonl"
    lengths = ln.lognormal(10_000, median=60, sigma=1, longest=2048)
    path.write_text("".join(json.dumps({"input_ids": [1] * int(n)}) + "\n" for n in lengths))
    return path, lengths


def test_padding_prints_the_numbers_of_the_library(capsys):
    found = as_json(capsys, "padding", "--rows", 16)
    tokens = ln.embedded()
    assert found["real_tokens"] == tokens.sum()
    assert found["expected_waste_by_rows"]["8"] == padding.expected_waste(tokens, 8)
    sort = padding.measure(tokens, padding.by_length(tokens, 16))
    assert found["measured"]["fully sorted"]["slots"] == sort.slots


def test_pack_prints_the_numbers_of_the_library(capsys, documents):
    path, lengths = documents
    found = as_json(capsys, "pack", path, "--row-length", 2048)
    ours = packing.pack(lengths, 2048)
    assert (found["row_count"], found["lower_bound"]) == (ours.row_count, ours.lower_bound)
    assert found["fill"] == ours.fill


def test_tables_are_for_people(capsys, documents):
    for verb in ("padding", "pack"):
        code, out, _ = run(capsys, verb, documents[0])
        assert code == 0 and "documents.jsonl: 10,000 documents" in out
        assert max(map(len, out.splitlines())) <= 140
    code, out, _ = run(capsys, "plan", "--rows", 8, "--accumulation", 4, "--data-parallel", 2)
    assert code == 0 and "131,072" in out


def test_text_is_tokenized_with_the_embedded_tokenizer(capsys, tmp_path):
    path = tmp_path / "qa.jsonl"
    path.write_text('{"body": "def f(): pass"}\n{"body": "return"}\n')
    assert as_json(capsys, "padding", path, "--field", "body", "--rows", 2)["documents"] == 2


def test_a_plan_from_a_launch_config(capsys, tmp_path):
    path = tmp_path / "ds.json"
    path.write_text('{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4}')
    found = as_json(capsys, "plan", path, "--devices", 2, "--length", 512)
    assert (found["accumulation"], found["slots_per_step"]) == (8, 64 * 512)


def test_a_figure_is_written(capsys, tmp_path):
    for verb in ("padding", "pack"):
        assert run(capsys, verb, "--plot", tmp_path / f"{verb}.svg")[0] == 0
        assert (tmp_path / f"{verb}.svg").read_text().startswith("<?xml")


BAD = {
    "missing.jsonl": (None, "no such file"),
    "empty.txt": ("", "no lengths in it"),
    "empty.jsonl": ("", "empty"),
    "word.txt": ("12\nseven\n", "line 2: 'seven' is no integer"),
    "half.txt": ("12\n7.5\n", "line 2: '7.5' is no integer"),
    "zero.txt": ("12\n0\n", "line 2: a length is at least 1, got 0"),
    "minus.txt": ("-3\n", "line 1: a length is at least 1, got -3"),
    "nan.txt": ("nan\n", "line 1: 'nan' is no integer"),
    "torn.jsonl": ('{"length": 3}\n{"length": \n', "line 2: not JSON"),
    "other.jsonl": ('{"size": 3}\n', "no field 'text'; the fields are size"),
    "mixed.jsonl": ('{"length": 3}\n{"size": 4}\n', "line 2: no field length or input_ids"),
    "float.jsonl": ('{"length": 2.5}\n', "line 1: a length is an integer, got 2.5"),
    "bad.npy": ("not numpy", "not a plain .npy array"),
    "what.bin": ("x", "documents are read from"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("verb", ["padding", "pack"])
def test_a_bad_file_gets_one_clear_line_and_exit_code_1(capsys, tmp_path, name, verb):
    content, message = BAD[name]
    if content is not None:
        (tmp_path / name).write_text(content)
    code, out, err = run(capsys, verb, tmp_path / name)
    assert (code, out) == (1, "")
    assert err.startswith("batchlab: ") and err.count("\n") == 1
    assert message in err and name in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["padding", "--rows", "0"], "at least 1 row, got 0"),
        (["pack", "--row-length", "0"], "at least 1 slot, got 0"),
        (["pack", "--too-long", "refuse"], "3,121 tokens, a row has 2,048"),
        (["pack", "--method", "tetris"], "unknown packing method 'tetris'"),
        (["plan", "--rows", "0"], "rows must be a whole number of at least 1, got 0"),
        (["plan", "--slots", "1000", "--length", "64"], "the nearest are 512 and 1,024"),
        (["plan", "missing.json"], "no such config file"),
    ],
)
def test_a_bad_number_gets_one_clear_line(capsys, arguments, message):
    code, _, err = run(capsys, *arguments)
    assert code == 1 and message in err and err.count("\n") == 1


def test_a_usage_error_is_2_and_a_closed_pipe_is_quiet(tmp_path):
    batchlab = [sys.executable, "-m", "batchlab.cli"]
    assert subprocess.run([*batchlab, "tetris"], capture_output=True).returncode == 2
    np.save(tmp_path / "n.npy", ln.gsm8k())
    piped = subprocess.run(
        f"{sys.executable} -m batchlab.cli padding {tmp_path}/n.npy | head -1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert piped.returncode == 0 and piped.stderr == "" and "7,473" in piped.stdout
