"""Promises are ratchets: small tests that freeze what must not drift."""

import ast
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from batchlab.authoring import address, catalogue, library

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
README = (ROOT / "README.md").read_text()
API = (ROOT / "book/api.md").read_text()
CITATION = (ROOT / "CITATION.cff").read_text()
TRACKED = subprocess.run(
    ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
).stdout.split("\0")[:-1]


def requirement(text: str) -> tuple[str, str]:
    """Name and range of one requirement: "torch>=2.8" -> ("torch", ">=2.8")."""
    match = re.match(r"[A-Za-z0-9_.-]+", text)
    assert match, text
    return match[0].lower(), text[match.end() :]


def extras() -> dict[str, str]:
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    return dict(requirement(text) for group in lists for text in group)


def test_environment_yml_has_the_names_and_ranges_of_pyproject():
    conda_name = {"torch": "pytorch"}
    lines = (ROOT / "environment.yml").read_text().splitlines()
    conda = dict(requirement(ln.strip()[2:]) for ln in lines if re.match(r"  - [a-z-]+[>=]", ln))
    conda.pop("python")
    wanted = {"numpy"}
    for extra in ("torch", "hf", "watch", "flash", "course"):
        wanted |= {requirement(text)[0] for text in PROJECT["optional-dependencies"][extra]}
    wanted.discard("batchlab")
    ranges = extras()
    assert conda == {conda_name.get(name, name): ranges[name] for name in wanted}


def test_every_pin_lies_inside_its_range():
    from packaging.specifiers import SpecifierSet

    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.lower().split("==") for line in lines if "==" in line)
    for name, wanted in extras().items():
        if name in {"batchlab", "flash-attn"}:  # itself; needs CUDA to install
            continue
        assert pins[name] in SpecifierSet(wanted), f"{name}: {pins[name]} against {wanted}"


def test_nothing_forces_another_torch_or_numpy_on_a_hosted_runtime():
    ranges = extras()
    assert ranges["torch"] == ">=2.8" and ranges["numpy"] == ">=1.26"
    assert PROJECT["dependencies"] == ["numpy>=1.26"], "the arithmetic rooms need numpy only"


def shell_lines(text: str) -> list[str]:
    blocks = re.findall(r"```(?:sh|bash|console)\n(.*?)```", text, re.DOTALL)
    lines = (line.split("#")[0].strip() for block in blocks for line in block.splitlines())
    return [line for line in lines if line]


def test_every_batchlab_command_in_the_documents_parses():
    from batchlab.cli import parser

    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "book").glob("*.md")]
    commands = [
        line
        for document in documents
        for line in shell_lines(document.read_text())
        if line.startswith("batchlab ")
    ]
    assert commands, "the README shows the tool"
    for command in commands:
        parser().parse_args(shlex.split(command)[1:])


def test_every_make_verb_in_the_documents_exists():
    verbs = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md"):
        shown = set(re.findall(r"\bmake ([a-z-]+)", (ROOT / name).read_text()))
        assert shown <= verbs, f"{name} shows make {sorted(shown - verbs)}"


def first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines()[0]


def test_the_page_of_the_library_lists_every_door_with_its_own_first_line():
    listed = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|$", API, re.MULTILINE))
    files = {path.stem: path for path in (ROOT / "batchlab").glob("[!_]*.py")}
    packages = {path.parent.name: path for path in (ROOT / "batchlab").glob("*/__init__.py")}
    assert listed == {name: first_line(path) for name, path in (files | packages).items()}


def test_the_book_has_a_page_for_every_door_that_it_lists_but_what_teaches():
    """A private file, and a verb of the command line, has a door that hands it on."""
    made = library.pages(ROOT, API)
    listed = set(re.findall(r"^\| `(\w+)` \|", API, re.MULTILINE))
    assert set(library.modules(ROOT)) == listed - {"classroom", "exercises", "authoring", "grading"}
    assert "| [`packing`](api/packing.md) |" in made["api.md"]
    told = re.findall(r"^\.\. automodule:: batchlab\.(\S+)$", "".join(made.values()), re.MULTILINE)
    assert len(told) == len(set(told)) and {"noise.norms", "cli", "memory.limits"} <= set(told)
    assert not any(part.startswith("_") for one in told for part in one.split("."))


def test_the_version_and_the_address_stand_in_one_place_each():
    import batchlab

    assert "version" not in PROJECT and PROJECT["dynamic"] == ["version"]
    assert f"\nversion: {batchlab.__version__}\n" in CITATION
    assert "urls" not in PROJECT, "a second place for the address"
    assert address.citation(CITATION, address.REPOSITORY) == CITATION, "run `make lessons`"
    given = "https://github.com/owner/name"
    stamped = address.citation(CITATION, given)
    assert stamped.count(given) == 1 and address.citation(stamped, "") == CITATION
    assert [address.install(""), address.colab("", "x"), address.edit("", "x")] == [""] * 3
    assert address.colab("https://example.org/name", "x") == "", "Colab fetches from one host only"


def test_the_workflow_runs_what_a_change_must_pass_and_publishes_the_book():
    import yaml

    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    jobs = {name: job["steps"] for name, job in workflow["jobs"].items()}
    runs = {name: [step["run"] for step in steps if "run" in step] for name, steps in jobs.items()}
    assert runs == {"check": [".ci/run"], "newest": ["make test"], "publish": []}
    assert set(workflow["jobs"]["publish"]["needs"]) == {"check", "newest"}
    uses = {step.get("uses", "").split("@")[0]: step.get("with") for step in jobs["check"]}
    assert uses["actions/upload-pages-artifact"]["path"] == "_build/html"
    assert PROJECT["requires-python"] == f">={uses['actions/setup-python']['python-version']}"


def test_what_a_change_must_pass_is_every_suite_and_any_failure_is_seen():
    """The verb of CI reaches every suite of `make test-all`; its script ends as make ended."""
    makefile, script = ((ROOT / name).read_text() for name in ("Makefile", ".ci/run"))
    needs = dict(re.findall(r"^([a-z-]+):([^#\n]*)", makefile, re.MULTILINE))

    def reached(verb):
        recipe = re.search(rf"^{verb}:.*\n((?:\t.*\n)*)", makefile, re.MULTILINE)
        called = [
            re.findall(r"[\w-]+", line) for line in recipe[1].splitlines() if "$(MAKE)" in line
        ]
        below = {word for words in [needs[verb].split(), *called] for word in words} & needs.keys()
        return {verb}.union(*map(reached, below - {verb}))

    assert reached("ci") >= reached("test-all") - {"test-all", "slow"}
    assert re.search(r"^make -k .*\bci\b.*\|\| status=\$\?$", script, re.MULTILINE)
    assert "rest=$$?; wait $$pages && exit $$rest" in makefile, "either of the two that run at once"
    assert "set -euo pipefail" in script and script.rstrip().endswith("exit $status")


def test_the_readme_lists_every_lesson_with_all_that_its_source_says():
    known = catalogue.lessons(ROOT)
    assert [one.folder for one in known] == sorted(p.name for p in (ROOT / "lessons").glob("[01]*"))
    assert catalogue.card(README, known, address.REPOSITORY) == README, "run `make lessons`"
    hosted = catalogue.card(README, known, "https://github.com/owner/name")
    assert hosted.count("](https://colab.research.google.com/") == len(known)
    for one in known:
        assert (ROOT / one.notebook).is_file() and f"]({one.notebook}): {one.question}" in README
        assert all([one.title, one.question, one.minutes, one.measured, one.built]), one
        assert one.points == 10


def test_the_pacing_says_the_minutes_that_each_lesson_prints():
    table = (ROOT / "book/instructors.md").read_text().partition("## Pacing")[2]
    paced = re.findall(r"^\| (\d\d) \w+ \| ([\d–]+) \|", table, re.MULTILINE)
    assert paced == [(one.folder[:2], one.minutes) for one in catalogue.lessons(ROOT)]


def test_a_new_lesson_is_listed_without_a_change_anywhere(tmp_path):
    source = tmp_path / "solutions/07_memory/memory.md"
    source.parent.mkdir(parents=True)
    source.write_text(
        "---\nmeasured: a peak\n---\n\n# 7. Memory: bytes\n\nWhere do the\ngigabytes go?\n\n"
        "**Takes** 75 to\n90 minutes. **Gives** 10 points.\n\n## Build: a guard\n"
    )
    text = "before\n<!-- lessons -->\nold\n<!-- end of lessons -->\nafter\n"
    row = (
        "| [07 memory](lessons/07_memory/memory.ipynb): Where do the gigabytes go? "
        "| 75–90 | 10 | a peak | a guard |"
    )
    said = catalogue.card(text, catalogue.lessons(tmp_path))
    assert row in said and "old" not in said and said.startswith("before") and "\nafter" in said
    (one,) = catalogue.lessons(tmp_path)
    assert one.part == "The step" and catalogue.card("no marks", [one]) == "no marks"


def test_the_first_numbers_of_the_readme_are_those_of_the_record():
    from batchlab import doctor, records
    from batchlab.doctor import prices

    cells = prices.merge(records.read("cpu_sweep").cells())
    rates = {(cell.layout, cell.rows): doctor.useful_rate(cell) for cell in cells}
    one, many, packed = rates["padded", 1], rates["padded", 16], rates["packed", 16]
    assert f"{one / many:.1f} times *slower*: {many:,.0f} useful tokens a second" in README
    assert f"instead of {one:,.0f}." in README and f"without padding: {packed:,.0f}." in README
    first = README[: README.index("## Start")]
    shares = re.findall(r"^padding: \w+ .* ([\d.]+) %", first, re.MULTILINE)
    assert f"An estimated {sum(map(float, shares)):.0f} % of\neach step (" in README


def test_the_check_says_what_the_readme_shows():
    from batchlab import exercises
    from batchlab.classroom import verdict

    (code,) = re.findall(r"```python\n(def waste.*?)```", README, re.DOTALL)
    (shown,) = re.findall(r"```text\n(asked .*?)\n```", README, re.DOTALL)
    written: dict = {}
    exec(code, written)
    with pytest.raises(verdict.CheckFailed) as caught:
        exercises.found("padding/waste").check(written["waste"])
    assert str(caught.value) == shown


def test_no_test_writes_past_the_one_who_collects_what_is_printed():
    """A passing test prints nothing: what it wants to say is shown where it fails, or by -rP."""
    loud = re.compile(r"cap(?:sys|fd)\.dis" r"abled|__std(?:out|err)_" r"_")
    texts = {path.name: path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    assert [name for name, text in texts.items() if loud.search(text)] == []


def test_local_links_of_the_readme_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)", README) + re.findall(
        r'src="([^"]+)"', README
    ):
        assert (ROOT / target).exists(), target


FORBIDDEN = "|".join(  # in pieces, so that this file may hold the rule
    ["/wor" + "k/", "/far" + "m/", "index-" + "url", "--regis" + "try", r"\.\./sha" + "red"]
)


def test_no_machine_path_or_registry_host_stands_in_the_project():
    for name in TRACKED:
        path = ROOT / name
        if not path.is_file() or path.suffix in {".png", ".npz"}:
            continue
        found = re.search(FORBIDDEN, path.read_text(encoding="utf-8", errors="ignore"))
        assert not found, f"{name}: {found and found[0]}"


def test_no_answer_leaks_and_no_output_is_stored():
    for path in (ROOT / "lessons").rglob("*"):
        assert path.suffix != ".md", f"{path} may hold answers"
        if path.suffix == ".ipynb":
            text = path.read_text()
            assert not re.search(r"(BEGIN|END) (SOLUTION|HIDDEN)", text), path
            assert all(not cell.get("outputs") for cell in json.loads(text)["cells"]), path


@pytest.mark.parametrize("forbidden", ["torch", "transformers", "matplotlib"])
def test_the_command_line_starts_without_heavy_libraries(forbidden):
    code = "import sys; from batchlab.cli import parser; parser(); "
    code += f"print({forbidden!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_what_the_front_pages_promise_of_packing_is_out_of_sample():
    """The mistake beside it: the gain that the doctor fits once it has seen the packed steps."""
    from batchlab import doctor, records

    cells = list(records.read("cpu_sweep").cells())
    unseen = doctor.diagnose(one for one in cells if one.layout == "padded").causes[0]
    numbers = unseen.gain, unseen.interval.low, unseen.interval.high
    assert [round(100 * one) for one in numbers] == [283, 230, 356]
    for page in (README, (ROOT / "book/intro.md").read_text()):
        assert "283 %, 230" in page and "270 %" in page
        assert "inside the interval" not in page
    seen = doctor.diagnose(cells).causes[0]
    assert round(100 * seen.gain) == 264 and "The prices above have seen them." in README
