"""Shell scripts as people write them: sums, branches, what is appended, name=value."""

import pytest

from batchlab.plan import Plan, from_config
from batchlab.plan._text import settings_of

TRAIN = "--per_device_train_batch_size {rows} --gradient_accumulation_steps {steps} --max_length 64"


def planned(tmp_path, text, **asked):
    path = tmp_path / "run.sh"
    path.write_text(text)
    return from_config(path, **asked)


@pytest.mark.parametrize(
    ("sums", "steps"),
    [
        ("GPUS=4\nWHOLE=64\nROWS=2\nSTEPS=$((${WHOLE}/${GPUS}/${ROWS}))", 8),
        ("GPUS=4\nWHOLE=64\nROWS=2\nSTEPS=$((WHOLE / (GPUS * ROWS)))", 8),
        ("WHOLE=64\nexport STEPS=$(( WHOLE/24 ))", 2),  # the shell drops what is left
        ("WHOLE=64\nSTEPS=$(( WHOLE % 24 - 15 ))", 1),
        ("N=1_6\nSTEPS=$((2*3))", 6),
    ],
)
def test_a_sum_of_what_the_script_says_is_computed(tmp_path, sums, steps):
    line = "torchrun --nproc_per_node=4 train.py " + TRAIN.format(rows=2, steps="$STEPS")
    assert planned(tmp_path, f"#!/bin/bash\n{sums}\n{line}\n").plan == Plan(2, steps, 4, 64)


BRANCHES = """#!/bin/bash
TP=2
if [ "$SIZE" = 70 ]; then
    {inside}
fi
{after}
torchrun --nproc_per_node 8 pretrain_gpt.py --micro-batch-size 1 --global-batch-size 16 \\
    --seq-length 64 --tensor-model-parallel-size $TP
"""


def test_a_value_of_one_branch_is_no_value(tmp_path):
    """The last assignment that stands there, 8, would be one replica where the run has four."""
    with pytest.raises(ValueError, match=r"tensor_model_parallel_size is '\$\{TP\}', which"):
        planned(tmp_path, BRANCHES.format(inside="TP=8", after=""))
    for inside, after in (("TP=2", ""), ("LAYERS=80", ""), ("TP=8", "TP=2")):
        script = BRANCHES.format(inside=inside, after=after)
        assert planned(tmp_path, script).plan == Plan(1, 4, 4, 64)


def test_a_default_that_a_branch_sets_is_the_default(tmp_path):
    script = '#!/bin/bash\nif [ -z "$N" ]; then\n  N=4\nfi\ntorchrun --nproc_per_node $N train.py '
    line = TRAIN.format(rows=2, steps=1)
    assert planned(tmp_path, script + line).devices == 4
    other = script.replace("\nfi", "\nelse\n  N=$(wc -l < hosts)\nfi")
    with pytest.raises(ValueError, match=r"nproc_per_node is '\$\{N\}'"):
        planned(tmp_path, other + line)


def test_what_the_caller_may_leave_out_has_a_default(tmp_path):
    script = ': "${ROWS:=2}"\nSTEPS=${S:-3}\npython train.py ' + TRAIN.format(
        rows='"$ROWS"', steps="$STEPS"
    )
    assert planned(tmp_path, script, devices=2).plan == Plan(2, 3, 2, 64)


OPTIONS = """#!/bin/bash
BATCH=8
while [[ "$#" -gt 0 ]]; do
    case $1 in
    --batch) BATCH="$2"; shift ;;
    esac
    shift
done
accelerate launch --num_processes 2 train.py --per_device_train_batch_size=$BATCH --max_length 64
"""


def test_what_the_caller_may_say_is_not_known(tmp_path):
    with pytest.raises(ValueError, match=r"batch_size is '\$\{BATCH\}', which the script takes"):
        planned(tmp_path, OPTIONS)


def test_what_is_appended_is_read_where_it_is_used(tmp_path):
    script = """#!/bin/bash
OPTS=""
OPTS+=" --micro-batch-size 2"   # rows
OPTS+=" --seq-length 64"
ARGS=(--global-batch-size $((4 * 4)))
ARGS+=(--bf16)
UNUSED+=" --micro-batch-size 7"
CMD="torchrun --nproc_per_node 4 pretrain_gpt.py ${OPTS} ${ARGS[@]}"
$CMD
"""
    launch = planned(tmp_path, script)
    assert (launch.devices, launch.plan) == (4, Plan(2, 2, 4, 64))


def test_an_argument_without_dashes_is_no_variable(tmp_path):
    """MaxText and Hydra: name=value behind the program; before it, a variable of the shell."""
    script = """RUN=a
STEPS=9 python3 -u -m MaxText.train MaxText/configs/base.yml run_name=$RUN \\
    per_device_batch_size=2.0 enable_checkpointing: False \\
    max_target_length=64 ici_tensor_parallelism=2 && echo done
"""
    launch = planned(tmp_path, script, devices=8)
    assert (launch.source, launch.tensor, launch.plan) == ("MaxText", 2, Plan(4, 1, 4, 64))
    path = tmp_path / "run.sh"
    assert "STEPS" not in settings_of(path)[1] and settings_of(path)[1]["run_name"] == "a"
    assert settings_of("--config_kwargs max_length=512 --a 1")[1] == {
        "config_kwargs": "max_length=512", "a": "1",
    }, "behind a flag it is one of its values"  # fmt: skip


@pytest.mark.parametrize(
    "script",
    [
        'export PORT="$(python -c \'import s; print(s.name("", 0))\')"\n{line}',
        "ARGS=(--lr $(cat rate.txt) --bf16)\n{line} ${{ARGS[@]}}",
        "python - <<'PY'\nprint(\"it's\")\nPY\n{line}",
        "cat <<EOT > ds.json\n{{\"train_batch_size\": 7, \"it's\": 1}}\nEOT\n{line}",
        "srun -l bash -c \"{line} > log 2>&1\"",
        "{line} `# rows of one device` --bf16",
    ],
)  # fmt: skip
def test_other_programs_inside_do_not_stop_the_reader(tmp_path, script):
    line = "torchrun --nproc_per_node=4 train.py " + TRAIN.format(rows=2, steps=1)
    assert planned(tmp_path, script.format(line=line)).plan == Plan(2, 1, 4, 64)


def test_a_tag_of_yaml_that_loads_another_file_is_not_followed(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(
        "data: !include data/owt.yaml\nmodel: {seq_len: 64}\ntrainer: {train_batch_size: 16}\n"
    )
    assert from_config(path, devices=4).plan == Plan(4, 1, 4, 64)


def test_a_comment_ends_with_its_line_whatever_it_ends_in(tmp_path):
    """The second line of a commented command ends in a backslash; the command below stands."""
    line = "torchrun --nproc_per_node 2 sft.py " + TRAIN.format(rows=4, steps=2)
    old = "# torchrun --nproc_per_node 4 sft.py \\\n#   --max_length 32 \\\n"
    plans = [planned(tmp_path, text).plan for text in (old + line, line)]
    assert plans == [Plan(4, 2, 2, length=64)] * 2


def test_a_comment_inside_of_a_command_ends_the_command(tmp_path):
    """What follows it is another command, which the shell does not find: 2 steps stay 2."""
    line = "torchrun --nproc_per_node 2 sft.py " + TRAIN.format(rows=4, steps=2)
    cut = " \\\n  # --seed 1 \\\n  --gradient_accumulation_steps 8"
    assert planned(tmp_path, line + cut).plan == Plan(4, 2, 2, length=64)
