"""Five answers of real GPU runs come out of the library, and none is shown without its notice."""

import ast
import contextlib
import io
import re
from html import escape as html_of
from pathlib import Path

import pytest

from batchlab import noise, plots, records, report
from batchlab.classroom import real_runs
from batchlab.plots import _canvas as canvas
from batchlab.roofline import utilisation

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "book/real_runs.md").read_text(encoding="utf-8")
NAME = "MLPerf"


@pytest.mark.parametrize(
    ("name", "known", "truth"),
    [
        ("405b", 60.2, 60.4),
        ("8b", 11.4, 10.0),
        ("lora", 11.1, 1.86),
        ("rate", 12_900, 7_100),
        ("bits", 92.9, 92.9 * 0.92),
    ],
)
def test_the_five_answers_are_those_of_the_sources(name, known, truth):
    found = real_runs.asked(name)
    assert found.known == pytest.approx(known, rel=0.005)
    assert found.truth == pytest.approx(truth, rel=0.006)


def cells(name):
    return [line[1:] for line in real_runs.asked(name).table.lines]


def test_what_stands_beside_the_answers_is_what_the_page_says():
    ladder = {int(batch): hours for batch, _, hours, _ in cells("8b")[-2:]}
    assert ladder == {64: "24.4", 128: "42.7"}
    assert [line[2] for line in cells("405b")] == ["6, 6, 7", "7, 7, 7", "6, 6, 6"]
    few, same, many = (float(line[2].replace(",", "")) for line in cells("lora"))
    assert same == pytest.approx(few, rel=0.05) and many == pytest.approx(2.4 * few, rel=0.03)
    by_rate = {line[0]: float(line[1].replace(",", "")) for line in cells("rate")}
    assert by_rate["0.00035"] == pytest.approx(8800, rel=0.005)
    assert by_rate["0.0005"] == pytest.approx(7200, rel=0.01)
    eight, *four = (
        (float(line[1]), float(line[2].replace(",", "")), float(line[3])) for line in cells("bits")
    )
    means = [sum(values) / len(values) for values in zip(*four, strict=True)]
    more = [new / old - 1 for old, new in zip(eight, means, strict=True)]
    assert more == pytest.approx([0.20, 0.09, -0.08], abs=0.007)
    one = next(
        curve
        for curve in records.public_runs(benchmark="llama31_405b", round="5.0").curves
        if curve.run.devices == 2432
    )
    assert (
        one.losses[5] == pytest.approx(5.605, abs=5e-4) and one.samples[6] - one.samples[5] == 46208
    )


def test_an_unknown_question_is_refused():
    with pytest.raises(ValueError, match="no question 'x'; there are 8b, lora, 405b, rate, bits"):
        real_runs.asked("x")


def test_the_page_asks_all_five_and_reveals_what_it_asked():
    asked = re.findall(r'real_runs\.asked\("(\w+)"\)', PAGE)
    assert sorted(asked) == sorted(real_runs.QUESTIONS)
    for kind in ("number", "reveal"):
        assert len(re.findall(rf"predict\.{kind}\(", PAGE)) == 5


@pytest.mark.parametrize("name", real_runs.QUESTIONS)
def test_nothing_of_an_answer_stands_uncovered_in_its_section(name):
    """Outputs between box and truth are covered; prose is not, so it must not tell."""
    (section,) = [part for part in PAGE.split("\n## ") if f'real_runs.asked("{name}")' in part]
    after = section[section.index("predict.number(") :]
    inside = after[: after.index("predict.reveal(")]
    assert "question\n```" in inside, "the table and what is said of it"
    prose = re.sub(r"```.*?```", "", after[after.index("```") + 3 :], flags=re.S)
    one = real_runs.asked(name)
    assert not re.search(rf"\b{one.truth:.3g}|\b{one.truth:,.0f}\b|minutes|device-hours", prose)
    assert one.said in one._repr_html_() and one.table.credit.notice in str(one)


RECORD = records.public_runs(benchmark="llama31_8b", round="5.1")
FIGURES = {
    "ladder": lambda: plots.public_ladder(RECORD),
    "samples": lambda: plots.public_samples(RECORD, noise.fit_critical(RECORD.seeds())),
    "curves": lambda: plots.public_curves(RECORD, RECORD.curves[:4]),
    "utilisation": lambda: plots.public_utilisation(RECORD),
}


def is_credited(html, labels):
    return RECORD.notice in html and all(label in html for label in labels)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_shows_no_row_without_its_notice_and_its_owner(name, tmp_path):
    figure = FIGURES[name]()
    labels = [label for label, _ in RECORD.credit().rows]
    drawn = [label for label in labels if label in figure.batchlab_credit]
    assert len(drawn) >= 2
    assert is_credited(figure._repr_html_(), drawn)
    assert figure.batchlab_credit.endswith(RECORD.notice)
    plots.save(figure, tmp_path / "a.svg")
    before = tuple(figure.get_size_inches())
    file = (tmp_path / "a.svg").read_text()
    assert "verified by MLCommons Association" in figure.batchlab_credit
    plain = tmp_path / "b.svg"
    super(canvas.Credited, figure).savefig(plain)
    assert len(file) > 1.05 * len(plain.read_text()), "the notice is drawn under it"
    assert tuple(figure.get_size_inches()) == before
    assert (
        "unverified"
        in " ".join(text for axes in figure.axes for text in (axes.get_ylabel(), axes.get_xlabel()))
        or name == "curves"
    )


def test_a_table_shows_no_row_without_its_notice_and_its_owner():
    table = real_runs.asked("8b").table
    labels = [label for label, _ in table.credit.rows]
    assert is_credited(table._repr_html_(), labels) and is_credited(str(table), labels)
    assert len(labels) == len(table.lines) == 6


def shown_by(code, names):
    """What a cell prints and shows, as the page has it."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "real_runs.md", "exec"), names)
        value = eval(ast.unparse(last), names) if last else None
    html = getattr(value, "_repr_html_", lambda: str(value))()
    return printed.getvalue() + re.sub(r'src="data:[^"]*"', "", html)


@pytest.mark.slow
def test_no_output_of_the_page_shows_a_row_without_the_notice(monkeypatch, tmp_path):
    monkeypatch.setenv("BATCHLAB_CACHE", str(tmp_path))
    everything = records.public_runs()
    labels = [label for label, _ in everything.credit().rows]
    names, with_rows = {}, 0
    for code in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", PAGE, re.S):
        output = shown_by(re.sub(r"^:tags:.*\n", "", code), names)
        if any(html_of(label) in output for label in labels) or "reference points" in output:
            assert everything.notice in output, code
            with_rows += 1
    assert with_rows >= 11  # six tables, five pictures and more
    assert shown_by("record.notice", names) == everything.notice


def test_what_surprised_is_counted():
    points = records.public_runs(benchmark="gpt3", round="4.1").seeds()
    few, many = (sum(map(sum, points[b])) / len(points[b]) for b in (1536, 4096))
    assert many / few == pytest.approx(1.06, abs=0.005)
    sizes = [one.micro_batch for one in records.public_runs().submissions if one.micro_batch]
    assert sum(size <= 2 for size in sizes) / len(sizes) > 0.95
    steps = [
        (one.samples or 0) / one.batch
        for one in records.public_runs(benchmark="llama31_405b", batch=1152).runs
    ]
    assert 230 < sum(steps) / len(steps) < 285 and max(steps) < 8000
    large = records.public_runs(benchmark="llama31_405b").runs
    assert max(one.samples or 0 for one in large) < 0.05 * 8000 * 1152, "of its warm-up"
    slow = [one for one in records.public_runs(device="H100").submissions
            if one.samples_per_second and utilisation.of(one) < 0.3]  # fmt: skip
    assert len(slow) == 2 and all("deepspeed" in one.framework.lower() for one in slow)


@pytest.mark.slow
def test_the_name_has_its_sign_and_stands_in_no_file_function_or_title():
    seen = 0
    sources = [*ROOT.glob("book/*.md"), *ROOT.glob("book/*.toml"), *ROOT.glob("solutions/*/*.md"),
               *ROOT.glob("batchlab/**/*.py"), *ROOT.glob("batchlab/evidence/*/*.txt"),
               ROOT / "README.md"]  # fmt: skip
    for path in sources:
        text = path.read_text(encoding="utf-8")
        found = re.findall(rf"{NAME}(.?)", text)
        assert all(sign == "®" for sign in found), path
        assert not re.search(rf"^#.*{NAME}|def \w*{NAME}", text, re.M | re.I), path
        seen += len(found)
    assert seen > 3
    names = [path.name for path in ROOT.rglob("*") if ".venv" not in path.parts]
    assert not any(NAME.lower() in name.lower() for name in names)


def test_figures_refuse_what_cannot_be_compared():
    all_of_them = records.public_runs()
    with pytest.raises(ValueError, match="are never compared"):
        plots.public_ladder(all_of_them)
    with pytest.raises(ValueError, match="no public run is left to draw"):
        plots.public_utilisation(records.public_runs(device="A100"))
    other = noise.fit_critical(records.public_runs(benchmark="gpt_oss_20b").seeds())
    with pytest.raises(ValueError, match="the fit is of batches"):
        plots.public_samples(RECORD, other)


def test_a_line_of_references_names_how_many_seeds_it_is_of():
    table = report.public_table(RECORD, [(RECORD.references, ["79"])], ["critical batch"])
    assert table.lines == (("llama31_8b reference points, 100 seeds", "79"),)
    assert len(table.credit.rows) == 5
