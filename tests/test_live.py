"""What a page is told of an answer, which exercises it has, and where its Python is from."""

import hashlib
import importlib.util
import io
import json
import tarfile
import threading
import urllib.request
import zipfile
from pathlib import Path

import pytest

from batchlab import exercises
from batchlab.authoring import live, runtime
from batchlab.authoring.needs import needs
from batchlab.cli import book, main, told

ROOT = Path(__file__).parent.parent
BLANK = 'def waste(batches):\n    """Share."""\n    raise NotImplementedError  # your turn\n'
RIGHT = exercises.found("padding/waste").text


@pytest.mark.parametrize(
    ("what", "text", "state", "words"),
    [
        ("check", RIGHT, "right", "Right: waste is a ratio of sums."),
        ("check", RIGHT.replace("/ slots", "/ tokens"), "wrong", "padding per real token"),
        ("check", BLANK, "blank", "Nothing is written yet"),
        ("run", BLANK, "blank", "Nothing is written yet"),
        ("run", RIGHT, "ran", "waste of [[5, 3], [4, 4], [6, 1, 6]]\n  gives 0.194444"),
        ("run", "def waste(batches):\n    return batches.sum", "ran", "raises AttributeError"),
        ("run", "print('mine')\n" + RIGHT, "ran", "mine\nwaste of"),
        ("run", "def waste(batches)\n", "error", "SyntaxError: expected ':'"),
        ("check", "1 / 0", "error", '"<your answer>", line 1, in <module>'),
        ("check", "import nowhere\n" + RIGHT, "error", "nowhere is not in the page"),
        ("check", "def wast(batches): return 0", "error", "There is no waste in this answer"),
        ("check", "raise SystemExit", "error", "SystemExit"),
    ],
)
def test_an_answer_of_the_page_is_judged_shown_or_refused(what, text, state, words):
    exercises.found("padding/waste").forget()
    told = exercises.answered(what, "padding/waste", text)
    assert told["state"] == state and words in told["text"]
    assert "_page.py" not in told["text"]


def test_an_answer_sees_what_its_cells_see_and_not_the_reference():
    """The mistake beside the law: names of the exercise's file, which pass here and fail there."""
    told = exercises.answered("run", "padding/waste", "def waste(batches):\n    return drawn")
    assert "NameError: name 'drawn' is not defined" in told["text"]
    given = exercises.answered("check", "buckets/sampler", exercises.found("buckets/sampler").text)
    assert given["state"] == "right", "`cut` is given by a cell above"


@pytest.mark.parametrize(
    ("words", "files", "state", "said"),
    [
        (["padding", "--data", "own.txt", "--rows", "2"], {"own.txt": "1\n3\n"}, "ran", "33.3 %"),
        (["plan", "c.yaml", "--devices", "2"], {"c.yaml": "micro_batch_size: 3\nbase_model: a\n"
         "gradient_accumulation_steps: 5\nsequence_len: 64\n"}, "ran", "30   3 rows x 5 x 2"),
        (["padding", "--data", "none.txt"], {}, "error", "batchlab: none.txt: no such file"),
        (["padding", "--rows", "x"], {}, "error", "a whole number is needed, got x"),
        (["rates", "--nothing"], {}, "error", "unrecognized arguments: --nothing"),
        (["padding", "--data", "own.txt"], {"../own.txt": "5\n"}, "ran", "own.txt: 1 document,"),
    ],
)  # fmt: skip
def test_a_verb_of_the_page_sees_the_files_given_and_says_what_the_terminal_says(
    words, files, state, said
):
    answer = told(words, files)
    assert answer["state"] == state and said in answer["text"]


def test_a_long_print_is_cut():
    told = exercises.answered("run", "padding/waste", f"print('a' * 99_999)\n{RIGHT}")
    assert len(told["text"]) < 5000 and "…" in told["text"]


@pytest.mark.slow
def test_which_exercises_need_more_than_a_page_has():
    """All run in the page, but those that need PyTorch or threads, and say so."""
    found = {name: more for topic in exercises.folders() for name, more in needs(topic).items()}
    assert [*found] == [name for topic in exercises.folders() for name in exercises.ordered(topic)]
    elsewhere = {why: {name for name, more in found.items() if more == [why]}
                 for why in ("torch", "threads")}  # fmt: skip
    assert all(found[f"padding/{name}"] == [] for name in ("collate", "waste"))
    assert elsewhere["threads"] == {"many/rank-mean", "many/exact-step"}
    assert {name for name, more in found.items() if more} == elsewhere["torch"] | elsewhere[
        "threads"
    ]


@pytest.mark.parametrize("topic", exercises.folders())
def test_a_blank_of_the_page_is_the_cell_of_the_notebook(topic):
    """So that an exported notebook differs in its answers alone, and an untouched one has none."""
    pytest.importorskip("sphinx")
    folds = extension("folds")
    (path,) = ROOT.glob(f"lessons/*_{topic}/{topic}.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    graded = ((cell, cell["metadata"].get("nbgrader", {})) for cell in cells)
    blanks = {
        own["grade_id"]: "".join(cell["source"]) for cell, own in graded if own.get("solution")
    }
    assert blanks == {
        name.partition("/")[2]: folds.without_answers(
            exercises.solution(exercises.found(name).text)
        )
        for name in exercises.ordered(topic)
    }


def test_a_box_says_what_it_holds_and_another_what_it_needs():
    pytest.importorskip("sphinx")
    boxes = extension("live")
    opened, hints = boxes._box("02", "padding", "waste")
    assert 'data-exercise="padding/waste" data-key="02-exercise waste" data-points="2"' in opened
    assert hints.count("<li hidden>") == 3 and "divided once at the end" in hints
    said, _ = boxes._elsewhere("step", ["torch"], "05_accumulation")
    assert 'needs PyTorch: <a href="05_accumulation.ipynb" download>open the notebook</a>' in said
    assert "data-exercise" not in said


def extension(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"book/_ext/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_library_of_a_page_holds_exercises_and_no_grader():
    home = ROOT / "batchlab"
    with zipfile.ZipFile(io.BytesIO(packed := live.library(home))) as held:
        names = held.namelist()
    assert "batchlab/exercises/padding/waste.py" in names
    assert "batchlab/evidence/stdlib_lengths.txt" in names
    assert not [one for one in names if "grading/" in one or "__pycache__" in one]
    assert packed == live.library(home), "the same bytes every time"


@pytest.fixture
def archives(tmp_path, monkeypatch):
    """A folder with a runtime and a wheel of a few bytes, whose sums are those that are asked."""
    wheel = b"a wheel"
    package = {"file_name": "numpy.whl", "sha256": hashlib.sha256(wheel).hexdigest()}
    lock = json.dumps({"packages": {"numpy": package, "scipy": {}}}).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        empty = ("pyodide.mjs", "pyodide.asm.mjs", "python_stdlib.zip", "pyodide.asm.wasm")
        for name, content in [("pyodide-lock.json", lock), *((one, b"") for one in empty)]:
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    (tmp_path / f"pyodide-{runtime.VERSION}.tgz").write_bytes(packed.getvalue())
    (tmp_path / "numpy.whl").write_bytes(wheel)
    monkeypatch.setattr(runtime, "SHA256", hashlib.sha256(packed.getvalue()).hexdigest())
    for source in ("_from_npm", "_from_official", "_from_carrier"):
        monkeypatch.setattr(runtime, source, lambda name: b"what a stranger sends")
    return tmp_path


def test_python_for_the_page_is_taken_from_a_folder_and_verified(archives):
    found = runtime.files(archives)
    assert found["numpy.whl"] == b"a wheel" and "pyodide.asm.wasmz" in found
    assert [*json.loads(found["lock.json"])["packages"]] == ["numpy"]


def test_bytes_with_another_sum_are_refused_wherever_they_come_from(archives):
    """The mistake beside the law: a wheel that lies there under the right name."""
    (archives / "numpy.whl").write_bytes(b"another wheel")
    with pytest.raises(ValueError, match=r"^numpy\.whl, sha256 .* no host has it$"):
        runtime.files(archives)
    assert (archives / "numpy.whl").read_bytes() == b"another wheel", "nothing strange is kept"


def test_without_its_files_the_book_builds_and_one_line_says_why(
    archives, monkeypatch, capsys, tmp_path
):
    (archives / "numpy.whl").unlink()
    monkeypatch.setenv("BATCHLAB_RUNTIME", str(archives))
    assert live.main([str(tmp_path / "live")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("exercises do not run in this book: numpy.whl") and said.count("\n") == 1
    assert not (tmp_path / "live").exists()


def test_the_book_is_served_with_types_that_a_browser_takes(tmp_path):
    types = {"index.html": "text/html", "a.wasm": "application/wasm", "a.mjs": "text/javascript"}
    for name in types:
        (tmp_path / name).write_text("x")
    with book.server(tmp_path, 0) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        host, port = serving.server_address[:2]
        assert host == "127.0.0.1", "nobody else can reach it"
        for name, kind in types.items():
            with urllib.request.urlopen(f"http://{host}:{port}/{name}") as answer:
                assert answer.headers.get_content_type() == kind
        serving.shutdown()


def test_a_folder_without_a_book_is_one_line(tmp_path, capsys):
    assert main(["book", str(tmp_path)]) == 1
    assert capsys.readouterr().err == (
        f"batchlab: {tmp_path} holds no index.html: `make book` builds the book\n"
    )
