"""The command line, as a stranger uses it: tables, JSON, and one clear line for bad input."""

import csv
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import batchlab
from batchlab import doctor, packing, padding, records
from batchlab import lengths as ln
from batchlab.cli import VERBS, main
from batchlab.cli import _measuring as measuring
from batchlab.counts import Counts
from batchlab.doctor import prices as stepcost
from batchlab.records import Cell

SMALL = {"model_type": "llama", "vocab_size": 64, "hidden_size": 32, "intermediate_size": 64,
         "num_hidden_layers": 2, "num_attention_heads": 2}  # fmt: skip


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
    found = as_json(capsys, "padding", "--rows", 8, 16)
    tokens = ln.embedded()
    assert found["tokens"] == tokens.sum() and found["longest"] == tokens.max()
    first, second = found["rows"]
    assert first["expected_waste"] == padding.expected_waste(tokens, 8)
    assert second["expected_longest"] == padding.expected_longest(tokens, 16)
    counted = padding.measure(tokens, padding.by_length(tokens, 16))
    assert second["by_length"] == {"slots": counted.slots, "waste": counted.waste}


def test_pack_prints_the_numbers_of_the_library(capsys, documents):
    path, lengths = documents
    found = as_json(capsys, "pack", "--data", path, "--length", 2048)
    ours = packing.pack(lengths, 2048)
    assert (found["row_count"], found["lower_bound"]) == (ours.row_count, ours.lower_bound)
    assert found["fill"] == ours.fill


def test_tables_are_for_people(capsys, documents):
    for verb in ("padding", "pack"):
        code, out, _ = run(capsys, verb, "--data", documents[0])
        assert code == 0 and "documents.jsonl: 10,000 documents" in out
        assert max(map(len, out.splitlines())) <= 140
    code, out, _ = run(capsys, "plan", "--rows", 8, "--accumulation", 4, "--data-parallel", 2)
    assert code == 0 and "131,072" in out


def test_text_is_tokenized_with_the_embedded_tokenizer(capsys, tmp_path):
    path = tmp_path / "qa.jsonl"
    path.write_text('{"body": "def f(): pass"}\n{"body": "return"}\n')
    assert (
        as_json(capsys, "padding", "--data", path, "--field", "body", "--rows", 2)["documents"] == 2
    )


def test_a_plan_from_a_launch_config(capsys, tmp_path):
    path = tmp_path / "ds.json"
    path.write_text('{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4}')
    found = as_json(capsys, "plan", path, "--devices", 2, "--length", 512)
    assert (found["accumulation"], found["slots_per_step"]) == (8, 64 * 512)


def test_a_plan_from_two_files_and_from_a_tool_by_name(capsys, tmp_path):
    (tmp_path / "ds.json").write_text('{"train_batch_size": "auto", "zero_optimization": {}}')
    (tmp_path / "args.yaml").write_text("per_device_train_batch_size: 4\nmax_length: 512\n")
    both = tmp_path / "ds.json", tmp_path / "args.yaml"
    found = as_json(capsys, "plan", *both, "--devices", 2)
    assert found["sequences_per_step"] == 8
    code, _, err = run(capsys, "plan", both[0], "--devices", 2)
    assert code == 1 and 'train_batch_size is "auto"' in err and "as a second one" in err
    (tmp_path / "args.yaml").write_text("micro_batch_size: 4\n")
    code, _, err = run(capsys, "plan", both[1])
    assert code == 1 and "may be of axolotl, " in err and "trainer that is not read" in err
    found = as_json(capsys, "plan", both[1], "--tool", "axolotl", "--devices", 2)
    assert found["length"] == 512
    code, _, err = run(capsys, "plan", "--tool", "axolotl")
    assert code == 1 and "--tool axolotl goes with a config" in err


def test_a_figure_is_written(capsys, tmp_path):
    for verb in ("padding", "pack"):
        assert run(capsys, verb, "--figure", tmp_path / f"{verb}.svg")[0] == 0
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
    "other.jsonl": (
        '{"size": 3}\n',
        "no field length or input_ids; the fields are size; choose one with --field",
    ),
    "mixed.jsonl": ('{"length": 3}\n{"size": 4}\n', "line 2: no field length or input_ids"),
    "nan.jsonl": ('{"length": NaN}\n', "line 1: a length is an integer, got nan"),
    "latin.txt": (b"12\n\xff\n", "cannot be read"),
    "shape.json": ('{"length": 3}', "a JSON list is needed, got dict"),
    "float.jsonl": ('{"length": 2.5}\n', "line 1: a length is an integer, got 2.5"),
    "bad.npy": ("not numpy", "not a plain .npy array"),
    "what.bin": ("x", "documents are read from"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("verb", ["padding", "pack"])
def test_a_bad_file_gets_one_clear_line_and_exit_code_1(capsys, tmp_path, name, verb):
    content, message = BAD[name]
    if content is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = run(capsys, verb, "--data", tmp_path / name)
    assert (code, out) == (1, "")
    assert err.startswith("batchlab: ") and err.count("\n") == 1
    assert message in err and name in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["pack", "--too-long", "refuse"],
            "tokens, a row has 2,048 slots (7 documents too long)",
        ),
        (["padding", "--rows", "9999"], "between 1 and the 6,015 documents, got 9,999"),
        (["padding", "--field", "text"], "--field goes with your own documents, not embedded"),
        (["pack", "--data", "gsm8k", "--split", "test"], "--split goes with your own documents"),
        (["plan", "--devices", "8"], "goes with a config"),
        (["plan", "--slots", "1000", "--length", "64"], "the nearest are 512 and 1,024"),
        (["plan", "missing.json"], "no such config file"),
    ],
)
def test_a_bad_number_gets_one_clear_line(capsys, arguments, message):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (1, "") and message in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [["tetris"], ["padding", "--rows", "nan"], ["pack", "--method", "tetris"],
     ["plan", "--slots", "8", "--accumulation", "2"], []],
)  # fmt: skip
def test_a_usage_error_is_2(capsys, words):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2 and "usage: batchlab" in capsys.readouterr().err


def test_a_config_and_an_option_that_contradict_each_other_are_refused(capsys, tmp_path):
    path = tmp_path / "ds.json"
    path.write_text('{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4}')
    code, _, err = run(capsys, "plan", path, "--devices", 2, "--rows", 8)
    assert code == 1 and "--rows 8: the config says that already" in err


def test_what_packing_did_to_long_documents_is_never_silent(capsys):
    for policy, said in (("split", "cut into pieces"), ("drop", "dropped"),
                         ("truncate", "truncated, ")):  # fmt: skip
        _, out, _ = run(capsys, "pack", "--too-long", policy)
        assert f"7 documents longer than a row: {said}" in out
    assert "longer than a row" not in run(capsys, "pack", "--length", 4096)[1]


def test_every_split_of_the_plan_sees_the_same_slots(capsys):
    found = as_json(capsys, "plan", "--slots", 2**20, "--data-parallel", 4)
    assert len(found["splits"]) > 3
    for way in found["splits"]:
        assert way["rows"] * way["accumulation"] * 4 * 2048 == 2**20


def test_every_verb_explains_itself_and_offers_json(capsys):
    for verb in VERBS:
        with pytest.raises(SystemExit) as stopped:
            main([*verb.split(), "--help"])
        assert stopped.value.code == 0 and "--json" in capsys.readouterr().out


def test_an_unreadable_figure_path_is_one_line(capsys, tmp_path):
    path = tmp_path / "missing" / "x.png"
    code, _, err = run(capsys, "padding", "--data", "gsm8k", "--rows", 2, "--figure", path)
    assert (
        code == 1 and err == f"batchlab: {path}: there is no folder {path.parent}: make it first\n"
    )


def test_ctrl_c_says_only_what_was_kept(capsys, monkeypatch):
    def interrupted(args):
        raise KeyboardInterrupt

    for verb in ("padding", "sweep"):
        monkeypatch.setattr(f"batchlab.cli.{verb}.run", interrupted)
    assert run(capsys, "padding") == (130, "", "")
    code, out, err = run(capsys, "sweep", "--output", "kept.jsonl")
    assert (code, out) == (130, "")
    assert err == "batchlab: stopped; the same command goes on from kept.jsonl\n"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('{"model_type": "llama", "hidden_size": "64"}', "expected int, got str"),
        ('{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 7}', "not a multiple"),
        ('{"model_type": "llama", "hidden_size": 0}', "a size of 0"),
        ("[]", "not a model config"),
    ],
)
def test_a_config_that_makes_no_model_is_one_line_with_its_name(capsys, tmp_path, config, said):
    (tmp_path / "config.json").write_text(config)
    assert main(["memory", "--model", str(tmp_path)]) == 1
    line = capsys.readouterr().err
    assert said in line and str(tmp_path) in line and line.count("\n") == 1


def test_pipes_are_read_and_a_closed_output_is_quiet():
    def shell(words):
        command = f"{sys.executable} -m batchlab {words}"
        return subprocess.run(["bash", "-c", command], capture_output=True, text=True)

    assert shell("padding --data /dev/stdin <<< 5").stdout.startswith("stdin.txt: 1 document,")
    line = '{"input_ids": [1, 2]}'
    assert ".jsonl: 1 document, 2 tokens" in shell(f"padding --data <(echo '{line}')").stdout
    assert "nothing came" in shell("padding --data /dev/null").stderr
    closed = shell("padding --data <(echo 5) >&-")
    assert (closed.returncode, closed.stderr) == (0, "")


def test_a_folder_that_was_removed_under_a_terminal_is_told(tmp_path):
    (here := tmp_path / "gone").mkdir()
    words = f"cd {here} && rmdir {here} && {sys.executable} -m batchlab train run"
    env = os.environ | {"PYTHONPATH": str(Path(batchlab.__file__).parents[1])}
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, env=env)
    said = "batchlab: the folder that you are in was removed: cd to another one\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_a_closed_pipe_is_quiet(tmp_path):
    np.save(tmp_path / "n.npy", ln.gsm8k())
    piped = subprocess.run(
        f"{sys.executable} -m batchlab padding --data {tmp_path}/n.npy --json | head -1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, "{\n", "")
    (run := tmp_path / "run").mkdir()
    (run / "curve.jsonl").write_text("no curve\n")
    words = f"set -o pipefail; {sys.executable} -m batchlab train --verify {run} | true"
    said = subprocess.run(["bash", "-c", words], capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (1, ""), "what is wrong stays wrong, read or not"


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_a_terminal_that_is_closed_at_the_end_is_a_reader_that_left():
    """The fault: a run that had trained to its end came back with exit code 1."""
    ours, theirs = os.openpty()
    os.close(ours)
    words = [sys.executable, "-m", "batchlab", "rates", "--from-batch", "8"]
    done = subprocess.run(words, stdout=theirs, stderr=subprocess.PIPE, text=True)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("verb", ["padding", "pack", "plan"])
def test_lists_of_lengths_never_load_torch_or_a_tokenizer(verb):
    code = (
        f"import sys; from batchlab.cli import main; main([{verb!r}, '--json']); "
        "heavy = {'torch', 'transformers', 'datasets', 'tokenizers', 'matplotlib'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_step_alone_reads_no_public_runs():
    """What a proposal or a bill needs is imported for them only."""
    code = (
        "import sys; from batchlab import cli; words = sys.argv[1:]; cli.main(words); "
        "rooms = ('records', 'proposal', 'roofline', 'cluster', 'rates'); "
        "print([room for room in rooms if f'batchlab.{room}' in sys.modules])"
    )
    for words, loaded in (
        (["plan"], []),
        (["pack"], []),
        (["plan", "--tokens", "1000000"], ["records", "proposal", "roofline", "cluster", "rates"]),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == str(loaded)


def test_memory_is_predicted_for_a_config_and_a_bad_one_is_named(capsys, tmp_path):
    found = as_json(capsys, "memory", "--rows", 1, 2, "--length", 64)
    one, two = found["rows"]
    assert two["activations"] > 1.5 * one["activations"]
    assert one["peak_bytes"] == sum(
        one[kind] for kind in one if kind not in ("rows", "peak_bytes", "phase")
    )
    (tmp_path / "config.json").write_text('{"model_type": "tetris"}')
    code, _, err = run(capsys, "memory", "--model", tmp_path)
    assert code == 1 and "not a model config" in err and err.count("\n") == 1
    assert run(capsys, "memory", "--model", tmp_path / "none.json")[0] == 1


@pytest.mark.slow
def test_a_sweep_and_a_diagnosis_from_its_records(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "FEWEST_DOCUMENTS", 4)
    path, documents = tmp_path / "runs.jsonl", tmp_path / "short.jsonl"
    told = [json.dumps({"input_ids": [1] * (20 + 13 * (n % 9))}) for n in range(32)]
    documents.write_text("\n".join(told))
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    sizes = ["--model", tmp_path, "--data", documents, "--rows", 1, 2, 4, "--output", path]
    swept = as_json(capsys, "sweep", *sizes, "--layout", "padded")
    assert len(swept["cells"]) == 3
    found = as_json(capsys, "doctor", path)
    assert sum(part["seconds"] for part in found["parts"]) == pytest.approx(found["step_seconds"])
    again = as_json(capsys, "doctor", path, "--precision", "float32")
    assert again["parts"] == found["parts"]
    for words in (["--verify"], ["--rows", 2], ["--device", "cpu"]):
        code, _, err = run(capsys, "doctor", path, *words)
        assert code == 1 and f"{words[0]} measures anew, and {path} is measured" in err


def planted(setting, cells, path, documents, device):
    """A machine whose prices are known: documents of 100 tokens, a launch of 20 ms."""
    for cell in cells:
        micro, slots = documents // cell.rows, 100 * documents
        seconds = 0.020 * micro + 20e-6 * slots
        yield Cell(
            **dataclasses.asdict(cell), steps=2, micro_batches=2 * micro, seconds=2 * seconds,
            counts=Counts(2 * documents, 2 * slots, 2 * slots, None, 200 * slots, 200 * slots),
        )  # fmt: skip


@pytest.mark.parametrize("rows", [(1, 2, 4), (1, 4, 16)])
def test_a_cure_is_measured_where_its_prediction_is_exact(capsys, monkeypatch, rows):
    """Rows of 32 do not divide a step of 16 documents: then both sides take a longer step."""
    monkeypatch.setattr(measuring, "prepare", lambda _: object())
    monkeypatch.setattr(measuring, "measure", lambda *how, **more: list(planted(*how, **more)))
    found = as_json(capsys, "doctor", "--rows", *rows, "--verify")["verified"]
    assert found["cause"] == "launch" and found["change"] == {"rows": 2 * rows[-1]}
    assert found["predicted_gain"] == pytest.approx(found["achieved_gain"], rel=1e-6)
    launches, work = 0.020 * 16 / rows[-1], 20e-6 * 100 * 16
    gain = (launches + work) / (launches / 2 + work) - 1
    assert found["achieved_gain"] == pytest.approx(gain)


def test_the_readme_shows_what_the_doctor_says_of_the_committed_record(capsys):
    code, out, _ = run(capsys, "doctor", "cpu_sweep")
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    assert code == 0 and f"`batchlab doctor cpu_sweep` says:\n\n```text\n{out}```" in readme


def test_the_front_pages_say_what_was_predicted_before_the_cure_was_measured():
    """One record, and every number on the front pages is computed from it here."""
    cells = records.read("cpu_sweep").cells()
    rates = {(c.layout, c.rows): doctor.useful_rate(c) for c in stepcost.merge(cells)}
    achieved = rates["packed", 16] / rates["padded", 16] - 1
    (unseen,) = doctor.diagnose(c for c in cells if c.layout == "padded").causes
    assert unseen.interval.low <= achieved <= unseen.interval.high
    ends = f"{100 * unseen.interval.low:.0f} to {100 * unseen.interval.high:.0f} %"
    whole = doctor.diagnose(cells)
    part, total = whole.of_cause("padding"), whole.step_seconds
    low, high = (100 * end / total for end in (part.interval.low, part.interval.high))
    share = (
        f"an estimated {100 * part.seconds / total:.0f} % of each step ({low:.0f} to {high:.0f} %)"
    )
    for page, sentences in {
        "README.md": (f"their gain is {100 * achieved:.0f} %. The prices above have seen them.",
                      f"the doctor predicts {100 * unseen.gain:.0f} %, {ends}."),
        "book/intro.md": (f"predicts that packing gains {100 * unseen.gain:.0f} %, {ends}, without",
                          f"measured, it gained {100 * achieved:.0f} %."),
    }.items():  # fmt: skip
        text = " ".join((Path(__file__).parent.parent / page).read_text().split())
        for sentence in (share.removeprefix("an "), *sentences):
            assert sentence in text, page


def test_the_pages_say_what_a_line_alone_had_promised(monkeypatch):
    from batchlab.doctor import _shapes

    cells = [cell for cell in records.read("cpu_sweep").cells() if cell.layout == "padded"]
    monkeypatch.setattr(_shapes, "shapes", lambda cell, drawn: ())
    (line,) = doctor.diagnose(cells).causes
    ends = f"{100 * line.interval.low:.0f} to {100 * line.interval.high:.0f} %"
    root = Path(__file__).parent.parent
    page = (root / "book/doctor.md").read_text()
    assert f"A line alone promised {100 * line.gain:.0f} % here, {ends}: a miss." in page


def test_the_readme_shows_what_the_doctor_says_of_a_trainer_script(capsys):
    code, out, _ = run(capsys, "doctor", "own_run")
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    assert code == 0 and f"```text\n{out}```" in readme


@pytest.mark.slow
def test_a_sweep_crosses_layouts_and_precisions(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "FEWEST_DOCUMENTS", 4)
    documents = tmp_path / "short.jsonl"
    documents.write_text('{"input_ids": [1, 2, 3, 4, 5]}\n' * 16)
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    asked = [
        "sweep",
        "--model",
        tmp_path,
        "--data",
        documents,
        "--rows",
        2,
        "--layout",
        "bucketed",
        "packed",
    ]
    asked += ["--precision", "float32", "autocast-bfloat16", "--output", tmp_path / "runs.jsonl"]
    cells = as_json(capsys, *asked)["cells"]
    settings = {(cell["layout"], cell["precision"]) for cell in cells}
    assert len(cells) == len(settings) == 4
    code, out, _ = run(capsys, *asked)  # repeats nothing: the same file
    assert code == 0 and "packed, autocast-bfloat16" in out
    assert f"Steps of 4 documents on cpu. Records: {asked[-1]}" in out
    code, _, err = run(capsys, "doctor", asked[-1])
    assert code == 1 and "the records differ in precision" in err
    code, _, err = run(capsys, "doctor", asked[-1], "--precision", "bfloat16")
    assert code == 1 and "'bfloat16'; there are autocast-bfloat16, float32" in err


@pytest.mark.slow
def test_fit_tries_what_it_predicts_and_remembers_its_tries(capsys, tmp_path):
    documents = tmp_path / "short.jsonl"
    lengths = [30, 64, 12, 64, 50, 64, 64, 9]
    documents.write_text("".join(json.dumps({"input_ids": [1] * n}) + "\n" for n in lengths))
    asked = ("fit", "--data", documents, "--output", tmp_path / "tries.jsonl")
    found = as_json(capsys, *asked, "--budget", 0.02)
    assert found["rows"] >= 1 and found["refused_rows"] == found["rows"] + 1
    for one in found["tries"]:
        assert one["fits"] == (one["peak_bytes"] <= found["budget_bytes"])
        assert one["predicted_bytes"] == pytest.approx(one["peak_bytes"], rel=0.03)
    code, out, _ = run(capsys, *asked, "--budget", 0.02)
    assert code == 0 and "of 8 documents" in out and f"; {found['refused_rows']} do not." in out
    code, _, err = run(capsys, *asked, "--budget", 0.02, "--checkpointing")
    assert code == 1 and "its tries had checkpointing = False" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budget", "0.001"], "parameters, gradients and optimizer alone need"),
    ],
)
def test_fit_refuses_what_cannot_be(capsys, tmp_path, options, message):
    documents = tmp_path / "short.jsonl"
    documents.write_text('{"input_ids": [1, 2, 3]}\n')
    code, out, err = run(capsys, "fit", "--data", documents, *options)
    assert (code, out) == (1, "") and message in err and err.count("\n") == 1


def test_plan_asks_for_no_option_that_it_lacks(capsys, tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text('{"body": "one two"}\n')
    code, out, err = run(capsys, "plan", "--data", path)
    assert (code, out) == (1, "") and "this verb reads no other field" in err
    assert "--field" not in err and err.count("\n") == 1
    _, _, err = run(capsys, "padding", "--data", path, "--field", "boby")
    assert "choose one with --field" not in err  # the mistake: to ask for what was given


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RecursionError("maximum depth"), "nested more deeply than Python follows (maximum depth)"),
        (MemoryError(), "more than the memory of this machine holds (no details)"),
        (OverflowError("int too large"), "a number is too large to count with (int too large)"),
        (csv.Error("odd\nline"), "not CSV (odd line)"),
    ],
)
def test_what_no_reader_foresaw_still_names_the_file(capsys, monkeypatch, tmp_path, error, message):
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "b.csv"):
        (tmp_path / name).touch()

    def stumbles(*_, **__):
        raise error

    monkeypatch.setattr("batchlab.cli._source.lengths_of", stumbles)
    assert run(capsys, "padding", "--data", "a.jsonl") == (1, "", f"batchlab: a.jsonl: {message}\n")
    assert run(capsys, "plan", "--data", "b.csv") == (1, "", f"batchlab: b.csv: {message}\n")
    assert run(capsys, "padding") == (1, "", f"batchlab: {message}\n")


def test_documents_are_chosen_by_field_and_split(capsys, tmp_path):
    path = tmp_path / "qa.jsonl"
    path.write_text('{"question": "def f(): pass", "answer": "return"}\n' * 2)
    both = as_json(capsys, "padding", "--data", path, "--field", "question,answer", "--rows", 1)
    one = as_json(capsys, "padding", "--data", path, "--field", "question", "--rows", 1)
    assert both["tokens"] > one["tokens"] and both["documents"] == 2
    code, _, err = run(capsys, "padding", "--data", path)
    assert code == 1 and "the fields are question, answer; choose one with --field" in err
    code, _, err = run(capsys, "padding", "--data", path, "--split", "test")
    assert code == 1 and "is one list, without splits" in err
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("one\ntwo\n")
    texts = as_json(capsys, "padding", "--data", tmp_path / "texts", "--rows", 1)
    assert texts["documents"] == 1, "a file of a folder is one"


def test_a_byte_order_mark_hides_no_text(capsys, tmp_path):
    for name, text in (
        ("a.jsonl", '{"text": "def f(): pass"}'),
        ("a.json", '[{"text": "def f(): pass"}]'),
        ("a.txt", "def f(): pass"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
        assert as_json(capsys, "padding", "--data", tmp_path / name, "--rows", 1)["documents"] == 1
