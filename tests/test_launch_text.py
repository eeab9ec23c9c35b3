"""Launch configs as files: what stands there is read as its tool reads it, or refused by line."""

import json

import pytest

from batchlab.plan import Plan
from batchlab.plan._launch import from_config
from batchlab.plan._text import settings_of

ROWS = "per_device_train_batch_size"


def unreadable(path, **options):
    """The one line that says why, with the name of the file."""
    with pytest.raises(ValueError) as caught:
        from_config(path, **options)
    message = str(caught.value)
    assert path.name in message and "\n" not in message and len(message) < len(str(path)) + 300
    return message


BROKEN = {
    "brace.json": ("{", "line 1: not JSON"),
    "list.json": ("[]", "a mapping of settings is needed, got [] (list)"),
    "null.json": ("null", "a mapping of settings is needed, got None"),
    "deep.json": ('{"a": ' * 50_000, "nested too deeply"),
    "digits.json": (f'{{"{ROWS}": {"9" * 5000}}}', "a number has thousands of digits"),
    "twice.json": (f'{{"{ROWS}": 2, "{ROWS}": 4}}', f"not JSON ('{ROWS}' stands there twice)"),
    "bracket.yaml": ("b: 1\na: [", "line 2: not YAML"),
    "twice.yaml": (f"{ROWS}: 2\n{ROWS}: 4\n", f"line 2: '{ROWS}' stands there twice"),
    "inside.yaml": ("a:\n  b: 1\n  b: 2\n", "line 3: 'b' stands there twice"),
    "integer.yaml": (f"{ROWS}: 2\n1: 2\n", "a setting is a word, got 1 (int)"),
    "true.yaml": (f"{ROWS}: 2\nyes: 2\n", "a setting is a word, got True (bool)"),
    "list.yaml": ("[a, b]: 2\n", "not YAML"),
    "date.yaml": ("a: 2024-13-45\n", "not YAML"),
    "two.yaml": ("a: 1\n---\nb: 2\n", "not YAML"),
    "deep.yaml": ("[" * 1_000, "not YAML"),
    "object.yaml": ("!!python/object/apply:os.system [ls]\n", "not YAML"),
    "empty.yaml": ("", "a mapping of settings is needed, got None"),
    "quote.toml": ('a = "', "not TOML"),
    "twice.toml": ("a = 1\na = 2\n", "not TOML"),
    "quote.sh": ("run --micro-batch-size 'a\n", "not a command line"),
    "twice.sh": ("run --micro-batch-size 1 --micro-batch-size 2 --seq-length 8", "is given twice"),
    "outside.sh": ("run --micro-batch-size $1 --seq-length 8", "'$1', which the script takes from"),
    "empty.sh": ("", "none of per_device_train_batch_size"),
    "what.cfg": ("a = 1", "configs are read from .json, .yaml, .toml, .py, .sh"),
    "latin.yaml": (b"a: \xe9\n", "line 1: cannot be read as UTF-8"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read_is_one_line(tmp_path, name):
    content, message = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert message in unreadable(path, devices=1, length=8)
    with pytest.raises(ValueError, match="no such config file"):
        from_config(tmp_path / "missing.json")


def test_a_table_of_labels_inside_a_section_is_no_setting(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(f"{ROWS}: 2\nmodel: {{id2label: {{0: no, 1: yes}}}}\n")
    assert from_config(path, devices=1, length=8).plan == Plan(2, 1, 1, 8)


def test_yaml_that_repeats_itself_by_name_costs_no_time(tmp_path):
    """Nine aliases of nine aliases of nine ...: written out, more than memory holds."""
    lines = ["a0: &a0 {x: 1}"]
    lines += [
        f"a{n}: &a{n} {{{', '.join(f'k{i}: *a{n - 1}' for i in range(9))}}}" for n in range(1, 30)
    ]
    path = tmp_path / "a.yaml"
    path.write_text("\n".join([*lines, f"{ROWS}: *a29"]))
    assert f"{ROWS} must be a whole number" in unreadable(path, devices=1, length=8)
    path.write_text("\n".join([*lines, f"{ROWS}: 2"]))
    assert from_config(path, devices=1, length=8).plan.rows == 2
    path.write_text("\n".join([*lines, "batch_size: 2"]))  # of whom, a name at any depth would tell
    assert "batch_size alone may be of" in unreadable(path, devices=1, length=8)


def test_merged_settings_of_yaml_are_read(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(f"base: &base {{x: 1}}\nmore: {{<<: *base, x: 2}}\n{ROWS}: 2\n")
    assert settings_of(path)[1]["more"] == {"x": 2}


def test_a_byte_order_mark_is_no_part_of_a_config(tmp_path):
    for name, text in {
        "a.json": f'{{"{ROWS}": 2}}',
        "a.yaml": f"{ROWS}: 2",
        "a": f"--{ROWS} 2",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
        assert from_config(tmp_path / name, devices=1, length=8).plan.rows == 2


def test_flags_in_every_spelling():
    for flags in (
        f"--{ROWS} 2 --bf16 --gradient_accumulation_steps=4",
        f"--{ROWS.replace('_', '-')}=2 --gradient-accumulation-steps 4 --output_dir=a=b",
        [f"--{ROWS}", "2", "--gradient_accumulation_steps", "4"],
    ):
        assert from_config(flags, devices=1, length=8).plan == Plan(2, 4, 1, 8)
    with pytest.raises(ValueError, match="flags must be a list of words"):
        from_config(["--a", 2])
    assert settings_of("--a 1 --a 1 -b --c.d 2 e.f=3 --lr -1")[1] == {
        "a": "1", "b": True, "c": {"d": "2"}, "e": {"f": "3"}, "lr": "-1",
    }  # fmt: skip
    assert settings_of(["a=1", "a.b=2"])[1] == {"a": {"_group": "1", "b": "2"}}, (
        "a choice, as in Hydra"
    )
    with pytest.raises(ValueError, match="a is a value and a section"):
        settings_of({"a": 1, "a.b": 2})


SCRIPT = r"""#!/usr/bin/env bash
set -euo pipefail
# MICRO=7 in a comment, and an apostrophe: don't
MICRO=2; GLOBAL=${GLOBAL_BATCH:-16}
export GPUS=4 NAME='a b'
NODES=2
WORLD=$((GPUS * $NODES))
ARGS=(
  --micro-batch-size "$MICRO"   # rows
  --global-batch-size ${GLOBAL}
)
if [ "$NODES" -gt 1 ]; then echo "many: it's fine"; fi
OTHER="--seq-length 64 \
  --tensor-model-parallel-size 2"
torchrun --nproc-per-node 4 --nnodes=$NODES train.py "${ARGS[@]}" $OTHER --name "$NAME" | tee log
"""


def test_a_script_is_read_with_its_own_variables(tmp_path):
    (tmp_path / "run.sh").write_text(SCRIPT)
    launch = from_config(tmp_path / "run.sh")
    assert (launch.devices, launch.plan) == (8, Plan(2, 2, 4, 64))


def test_what_other_programs_print_is_left_as_it_stands(tmp_path):
    """Guessed, it would be a number that nobody wrote."""
    path = tmp_path / "run.sh"
    script = "B=$(nvidia-smi -L | wc -l)\nN=$((2 + 3))\nrun --micro-batch-size {} --seq-length 8"
    for value in ("$B", "$((N * B))", "$UNKNOWN", "${X}", "`nproc`"):
        path.write_text(script.replace("{}", value))
        assert "micro_batch_size" in unreadable(path, devices=1)
    path.write_text(script.replace("{}", "$N"))
    assert from_config(path, devices=1).plan.rows == 5


def test_a_script_is_never_slow(tmp_path):
    path = tmp_path / "run.sh"
    for text in (
        'A="' * 5_000,
        "A=(\n" * 5_000,
        "$((" * 20_000,
        "${" * 50_000,
        "A=xyz\n" + "A=$A$A\n" * 60,
    ):
        path.write_text(text)
        unreadable(path)
    path.write_text("x" * 200_001)
    assert "a script of more than 200,000 characters" in unreadable(path)


def test_settings_come_from_each_kind_of_source(tmp_path):
    for name, text in {"a.json": json.dumps({"a-b": {"c": 1}}), "a.toml": "[a-b]\nc = 1\n"}.items():
        (tmp_path / name).write_text(text)
        assert settings_of(tmp_path / name) == (str(tmp_path / name), {"a_b": {"c": 1}})
    assert settings_of({"a.b": 1, "a": {"c": 2}}) == ("the config", {"a": {"b": 1, "c": 2}})


def test_a_key_with_a_line_end_in_it_is_shown_on_one_line(tmp_path):
    """A quote that holds a semicolon ends a flag with it."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"micro_batch_size\n": 4, "b\r\nc": 1}))
    assert unreadable(path).endswith("b c, micro_batch_size")
