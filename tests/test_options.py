"""One word means one thing in every verb, and a wrong word costs nothing but a line."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from batchlab import cli, records
from batchlab.cli import _checked, options

MOST_WORDS = 8
SAME_FOR_ALL = ("--json", "--help")
NOT_SETTINGS = {*SAME_FOR_ALL, "--verify"}


def parsers():
    """Every verb with its parser; `course grade` is one of the family `course`."""

    def below(parser, name):
        found = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
        if not found:
            return {name: parser}
        return {k: v for own, one in found[0].choices.items()
                for k, v in below(one, f"{name} {own}".strip()).items()}  # fmt: skip

    return below(cli.parser(), "")


def offered(parser):
    """Options by their longest name; positional words left out."""
    return {
        action.option_strings[-1]: action for action in parser._actions if action.option_strings
    }


def test_a_word_means_the_same_in_every_verb():
    seen = {}
    for parser in parsers().values():
        for name, action in offered(parser).items():
            meaning = (action.help or "").split(" (default")[0]
            what = (meaning, action.metavar, action.type, action.choices, type(action))
            assert seen.setdefault(name, what) == what, name
            assert action.metavar != "N" or action.type("3") == 3, name
    words = {f"--{word.replace('_', '-')}" for word in options.WORDS}
    assert set(seen) - {"--help"} == words, "offered somewhere, and defined here: both or neither"


GROUPS = (
    (options.HOW_IT_IS_TRAINED, options.TRAINING),
    (options.HOW_LAYERS_ARE_SHARED, options.SHARED),
    (options.WHAT_IT_TAKES, options.BILL),
    (options.WHAT_IS_PROPOSED, options.PROPOSAL),
    (options.WHAT_A_RUN_HAS, options.RUN),
)
TITLES = [title for title, _ in GROUPS]


def grouped(parser):
    """The words of each group of the help that has a title of its own."""
    return {
        group.title: {action.option_strings[-1] for action in group._group_actions}
        for group in parser._action_groups
        if group.title in TITLES
    }


@pytest.mark.parametrize("verb", cli.VERBS)
def test_a_verb_offers_at_most_eight_words_of_its_own_and_only_files_by_place(verb):
    parser = parsers()[verb]
    groups = grouped(parser)
    assert len(set(offered(parser)) - NOT_SETTINGS - set().union(*groups.values())) <= MOST_WORDS
    whole = {title: {f"--{word.replace('_', '-')}" for word in words} for title, words in GROUPS}
    if verb in ("memory", "fit", "plan", "train"):
        assert groups == {title: whole[title] for title in groups} and groups
    else:
        assert set().union(*groups.values()) <= {"--attention"}
    places = [action.metavar for action in parser._actions if not action.option_strings]
    given = {
        "plan": "CONFIG",
        "doctor": "RECORDS",
        "report": "RECORDS",
        "train": "RUN",
        "course grade": "PATH",
        "check": "NOTEBOOK",
        "book": "DIR",
        "watch": "RECORDS",
    }
    assert places == ([given[verb]] if verb in given else [])


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_default_is_shown_in_one_way(verb):
    for name, action in offered(parsers()[verb]).items():
        if action.nargs == 0:  # a flag is off by default
            assert "default" not in action.help
            continue
        _, shown = action.help.split(" (default: ")
        assert shown.endswith(")") and shown != ")", name
        if action.default is not None:
            values = action.default if isinstance(action.default, list) else [action.default]
            assert shown == f"{' '.join(map(str, values))})", name


def test_words_cannot_be_shortened():
    """The mistake beside the law: `--out` that means --output today means another word tomorrow."""
    with pytest.raises(SystemExit):
        cli.main(["sweep", "--out", "x.jsonl"])


def test_lists_of_choices_are_those_of_the_library():
    from batchlab import plots, sweep
    from batchlab.cli import _training
    from batchlab.cluster import training
    from batchlab.data import _files
    from batchlab.memory import adapters, optimizers
    from batchlab.monitor import _tools
    from batchlab.plots import _canvas
    from batchlab.rates import _curve

    assert options.FORMS == training.FORMS
    assert options.SCHEDULES == _curve.SHAPES
    assert tuple(_tools.TOOLS) == options.TOOLS
    assert options.PRECISIONS == sweep.PRECISIONS and options.LAYOUTS == sweep.LAYOUTS
    assert options.FIGURES == _canvas.FORMATS and plots.save is _canvas.save
    assert tuple(optimizers.OPTIMIZERS) == options.OPTIMIZERS == tuple(_training.NAMES)
    assert options.QUANTISED == adapters.QUANTISED and options.UNITS == _files.UNITS


def test_a_precision_is_a_dtype_of_the_weights_and_one_of_the_computation():
    import torch

    found = {name: options.dtypes(name) for name in options.PRECISIONS}
    assert found == {
        "float32": (torch.float32, None),
        "bfloat16": (torch.bfloat16, None),
        "autocast-bfloat16": (torch.float32, torch.bfloat16),
        "autocast-float16": (torch.float32, torch.float16),
    }


USAGE = [  # a number or a choice: refused by the parser
    ["memory", "--rows", "0"],
    ["memory", "--rows", "two"],
    ["memory", "--precision", "int3"],
    ["memory", "--length", "-1"],
    ["memory", "small"],
    ["fit", "--device", "tpu"],
    ["fit", "--budget", "nan"],
    ["fit", "--budget", "0"],
    ["sweep", "--layout", "ragged"],
    ["sweep", "--rows", "1.5"],
    ["doctor", "--precision", "float16"],
]
FILES = [  # a file or a folder, or words that need each other: refused with one line
    (["memory", "--quantised", "nf4"], "--quantised weights are not trained: give --lora RANK"),
    (["train", "run", "--schedule", "cosine"], "--schedule cosine ends at 0: give --tokens"),
    (["fit", "--shard", "zero3"], "--shard needs the devices that share: --devices 2 or more"),
    (["memory", "--devices", "8"], "--devices share nothing: say what with --shard"),
    (["memory", "--model", "./none"], "./none: no such file or folder"),
    (["memory", "--figure", "x.bmp"], "x.bmp: figures are written as .png, .svg, .pdf"),
    (["memory", "--figure", "none/x.png"], "none/x.png: there is no folder none: make it first"),
    (["fit", "--data", "none.jsonl"], "none.jsonl: no such file or folder"),
    (["fit", "--output", "none/tries.jsonl"], "there is no folder none: make it first"),
    (["sweep", "--output", "none/runs.jsonl"], "there is no folder none: make it first"),
    (["sweep", "--output", "."], ".: this is a folder; records go to a file"),
    (["sweep", "--output", "other.md"], "other.md, line 1: not JSON"),
    (["sweep", "--output", "/proc/runs.jsonl"], "/proc/runs.jsonl: "),
    (["doctor", "none.jsonl"], "none.jsonl: no such file of records"),
    (["report", "--figure", "none/figures"], "there is no folder none: make it first"),
]
ALONE = """
import contextlib, io, json, sys
from batchlab import cli
for words in json.loads(sys.argv[1]):
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            code = cli.main(words)
        except SystemExit as stopped:
            code = stopped.code
    heavy = sorted({"torch", "transformers", "datasets", "matplotlib"} & set(sys.modules))
    print(json.dumps([code, said.getvalue(), heavy]))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What a fresh process answers to each wrong word, and what was loaded by then."""
    folder = tmp_path_factory.mktemp("fresh")
    (folder / "other.md").write_text("# Not records\n")
    wrong = [*USAGE, *(words for words, _ in FILES)]
    done = subprocess.run(
        [sys.executable, "-c", ALONE, json.dumps(wrong)],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {tuple(words): one for words, one in zip(wrong, found, strict=True)}, folder


@pytest.mark.parametrize("words", USAGE, ids=" ".join)
def test_a_wrong_word_is_a_usage_error_before_torch_is_loaded(answers, words):
    code, said, loaded = answers[0][tuple(words)]
    assert code == 2 and said.startswith("usage: batchlab") and loaded == []


@pytest.mark.parametrize(("words", "message"), FILES, ids=lambda one: " ".join(one)[:40])
def test_a_wrong_file_is_one_line_before_torch_is_loaded(answers, words, message):
    if "/proc" in message and not Path("/proc/self").exists():
        pytest.skip("no /proc here: the place that nobody can write to")
    code, said, loaded = answers[0][tuple(words)]
    assert (code, loaded) == (1, []) and said.startswith("batchlab: ") and message in said
    assert said.count("\n") == 1


def test_a_refusal_leaves_nothing_behind(answers):
    assert [path.name for path in answers[1].iterdir()] == ["other.md"]


def check(verb, **words):
    _checked.check(argparse.Namespace(verb=verb, **words))


def test_a_place_is_tried_and_left_as_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check("sweep", output=Path("runs/sweep.jsonl"))
    assert not Path("runs").exists(), "made when there is something to keep"
    records.append("kept.jsonl", {"kind": "cell"})
    before = Path("kept.jsonl").read_bytes()
    check("sweep", output=Path("kept.jsonl"))
    assert Path("kept.jsonl").read_bytes() == before
    check("report", figure=Path("figures"))
    check("memory", figure=Path("a.svg"))
    assert [path.name for path in tmp_path.iterdir()] == ["kept.jsonl"]


@pytest.mark.parametrize("name", ["org/model-0.5B", "gsm8k", "org/data"])
def test_a_hub_name_is_never_looked_up_as_a_file(name):
    check("fit", model=name)
    if "." not in name:
        check("fit", data=name)


@pytest.mark.parametrize("there", [True, False])
def test_a_step_runs_where_it_was_asked_to_or_on_a_gpu_that_is_here(monkeypatch, there):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    assert options.place(None) == ("cuda" if there else "cpu") and options.place("cpu") == "cpu"
    if there:
        assert options.place("cuda") == "cuda"
        return
    with pytest.raises(ValueError, match="--device cuda: torch finds no CUDA device here"):
        options.place("cuda")


@pytest.mark.parametrize(
    ("capability", "wanted"),
    [((9, 0), "bfloat16"), ((8, 0), "bfloat16"), ((7, 5), "float32"), (None, "float32")],
)
def test_a_step_is_in_bfloat16_where_the_gpu_has_it_unless_told(monkeypatch, capability, wanted):
    """A T4 (7.5) says that it supports bfloat16, and emulates it."""
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: capability is not None)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    assert options.precision(None, "cuda") == wanted
    assert options.precision(None, "cpu") == "float32"
    for asked in options.PRECISIONS:
        assert options.precision(asked, "cuda") == asked == options.precision(asked, "cpu")
    for verb in ("sweep", "fit", "memory", "doctor"):
        action = offered(parsers()[verb])["--precision"]
        assert action.default is None and "bfloat16 where the GPU has it" in action.help


@pytest.mark.slow
def test_the_output_names_the_precision_of_the_device_that_is_here(monkeypatch, capsys):
    import torch

    words = ["memory", "--rows", "1", "--length", "64", "--device", "cuda", "--json"]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    peaks = {}
    for capability, wanted in (((7, 5), "float32"), ((9, 0), "bfloat16")):
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda there=capability: there)
        assert cli.main(words) == 0
        said = json.loads(capsys.readouterr().out)
        assert (said["device"], said["precision"]) == ("cuda", wanted)
        peaks[wanted] = said["rows"][0]["parameters"]
    assert peaks["float32"] == pytest.approx(2 * peaks["bfloat16"], rel=0.01)  # blocks of 512 bytes


@pytest.mark.slow
def test_memory_is_predicted_for_the_device_that_is_named(capsys):
    """A GPU's allocator rounds up and its optimizer works on all tensors at once: more bytes."""
    found = {}
    for device in ("cpu", "cuda"):
        words = ["memory", "--rows", "1", "--length", "64", "--device", device]
        assert cli.main([*words, "--json"]) == 0
        found[device] = json.loads(capsys.readouterr().out)
        assert found[device]["device"] == device
    peaks = {device: one["rows"][0]["peak_bytes"] for device, one in found.items()}
    assert peaks["cuda"] > peaks["cpu"]
    assert cli.main(words) == 0 and " on cuda\nfloat32, AdamW\n" in capsys.readouterr().out


def test_python_m_batchlab_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "batchlab", "plan"], capture_output=True, text=True, check=True
    )
    assert "One optimizer step" in done.stdout
