"""Edges of launch configs: defaults of each tool, several files, limits, whole messages."""

import re

import pytest

from batchlab.plan import Launch, Plan, Rollout, from_config
from batchlab.plan._text import settings_of

ROWS, STEPS = "per_device_train_batch_size", "gradient_accumulation_steps"
MICRO = "train_micro_batch_size_per_gpu"


def refused(config, *beside, **options):
    """The whole line that says why."""
    with pytest.raises(ValueError) as caught:
        from_config(config, *beside, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("tool", "config", "asked", "wanted"),
    [
        ("trl", {ROWS: 2}, {}, Plan(2, 1, 1, 1024)),
        ("trl", {ROWS: 2}, {"length": 512}, Plan(2, 1, 1, 512)),
        ("trl", {ROWS: 2, "max_length": 2048}, {}, Plan(2, 1, 1, 2048)),
        ("llama-factory", {ROWS: 2}, {}, Plan(2, 1, 1, 2048)),
        ("llama-factory", {ROWS: 2}, {"length": 512}, Plan(2, 1, 1, 512)),
        ("llama-factory", {ROWS: 2, "cutoff_len": 4096}, {}, Plan(2, 1, 1, 4096)),
        ("axolotl", {"micro_batch_size": 2}, {}, Plan(2, 1, 1, 512)),
        ("torchtune", {"batch_size": 2}, {"length": 8}, Plan(2, 1, 1, 8)),
        ("nanochat", {"total_batch_size": 32 * 2048 * 3}, {}, Plan(32, 3, 1, 2048)),
        ("deepspeed", {MICRO: 4}, {"devices": 2, "length": 8}, Plan(4, 1, 2, 8)),
        ("deepspeed", {"train_batch_size": 6}, {"devices": 2, "length": 8}, Plan(3, 1, 2, 8)),
        (
            "automodel",
            {"step_scheduler": {"local_batch_size": 2}},
            {"devices": 8, "length": 8},
            Plan(2, 2, 8, 8),  # 32 sequences a step
        ),
        (
            "openrlhf",
            {"train": {"max_epochs": 1}, "data": {"max_len": 8}},
            {"devices": 2},
            Plan(1, 64, 2, 8),  # 128 a step
        ),
    ],
)
def test_what_a_config_leaves_out_is_the_default_of_its_tool(tool, config, asked, wanted):
    assert from_config(config, tool=tool, **({"devices": 1} | asked)).plan == wanted


def test_a_length_that_is_switched_off_is_not_the_default():
    message = refused({ROWS: 2, "max_length": None}, tool="trl", devices=1)
    assert message.startswith("length is not in this config")


def test_rollouts_of_defaults_hold_one_completion_a_prompt():
    verl = {
        "data.train_batch_size": 6, "actor_rollout_ref.actor.ppo_mini_batch_size": 3,
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": 3,
    }  # fmt: skip
    launch = from_config(verl, devices=1, length=8)
    assert (launch.plan, launch.rollout) == (Plan(3, 1, 1, 8), Rollout(6, 1, 1))
    launch = from_config({}, tool="openrlhf", devices=1, length=8)
    assert launch.rollout == Rollout(1024, 1, 1) and launch.steps_per_rollout == 8


def test_an_old_openrlhf_run_says_its_micro_batch():
    """Without sections its default was 4; read with the default of today it was 1, silently."""
    old = {"train_batch_size": 8, "rollout_batch_size": 8}
    message = "micro_train_batch_size is missing: without it the step is not known"
    assert refused(old, devices=1, length=8) == message
    for one in ({"train_batch_size": 8}, {"rollout_batch_size": 8}):
        assert refused(one, tool="openrlhf", devices=1, length=8) == message
    assert from_config(old | {"micro_train_batch_size": 4}, devices=1, length=8).plan.rows == 4


def test_axolotl_takes_the_accumulation_that_is_there():
    config = {"base_model": "x", "micro_batch_size": 2, "batch_size": 16, STEPS: 4}
    assert from_config(config, devices=1).plan == Plan(2, 4, 1, 512)
    split = {"context_parallel_size": 2, "sequence_parallel_degree": 3, STEPS: 1}
    launch = from_config({"base_model": "x", "micro_batch_size": 2} | split, devices=12)
    assert (launch.context, launch.plan.data_parallel) == (6, 2)


def test_refusals_of_deepspeed_name_the_number_that_does_not_divide():
    how = {"devices": 2, "length": 8, "tool": "deepspeed"}
    assert refused({"train_batch_size": 30, MICRO: 4}, **how) == (
        "train_batch_size 30 is not a multiple of 8; the nearest are 24 and 32"
    )
    assert refused({"train_batch_size": 30, STEPS: 4}, **how) == (
        "train_batch_size 30 is not a multiple of 8; the nearest are 24 and 32"
    )
    assert refused({"train_batch_size": 64, MICRO: 4, STEPS: 3}, **how) == (
        "train_batch_size 64 is not 4 (micro) x 3 (accumulation) x 2 (devices) = 24"
    )


ACCELERATE = {"compute_environment": "x", "distributed_type": "y", "num_processes": 2}


def test_the_settings_of_deepspeed_may_stand_inside_those_of_the_script():
    script = {"deepspeed": {MICRO: 3, STEPS: 5}, STEPS: 5}
    launch = from_config(script, tool="training-arguments", devices=1, length=8)
    assert launch.plan == Plan(3, 5, 1, 8)
    message = refused({ROWS: 2, "deepspeed": {MICRO: 3}}, devices=1, length=8)
    assert message == f"{ROWS} is 2, and {MICRO} beside it is 3"
    assert from_config({ROWS: 2, "deepspeed": "ds.json"}, devices=1, length=8).plan.rows == 2


def test_deepspeed_takes_its_processes_from_accelerate_in_either_order():
    deepspeed = {MICRO: 4, "train_batch_size": 24}
    for configs in ((deepspeed, ACCELERATE), (ACCELERATE, deepspeed)):
        assert from_config(*configs, length=8).plan == Plan(4, 3, 2, 8)
    message = refused(ACCELERATE, ACCELERATE, length=8)
    assert message == "accelerate and accelerate do not go together: give one config of a script"


def test_files_beside_a_script_agree_with_each_other():
    """The mistake beside the law: the first of two was taken where the script says nothing."""
    deepspeed = {MICRO: 2, STEPS: 8}
    accelerate = ACCELERATE | {"deepspeed_config": {STEPS: 4}}
    message = refused({ROWS: 2}, accelerate, deepspeed, length=8)
    assert message == f"deepspeed_config.{STEPS} is 4, and {STEPS} beside it is 8"
    accelerate["deepspeed_config"][STEPS] = 8
    assert from_config({ROWS: 2}, accelerate, deepspeed, length=8).plan == Plan(2, 8, 2, 8)
    split = {"parallelism_config": {"parallelism_config_tp_size": 4}}
    message = refused({ROWS: 2, "parallelism_config": {"tp_size": 2}}, ACCELERATE | split, length=8)
    name = "parallelism_config.tp_size"
    assert message == f"the configs contradict each other on {name}: [2, 4]"


def test_a_contradiction_inside_one_config_is_shown_with_both():
    config = {"micro_batch_size": 1, "seq_length": 8, "world_size": 8}
    message = refused(config | {"nproc_per_node": 8, "nnodes": 2})
    assert message == (
        "the config contradicts itself on devices: world_size 8, nproc_per_node x nnodes 16"
    )
    assert from_config(config | {"nproc_per_node": 4, "nnodes": 2}).devices == 8


def test_what_is_missing_is_named_with_every_place_where_it_could_stand():
    config = {"micro_batch_size": 1, "tensor_model_parallel_size": 1}
    assert refused(config, length=8) == (
        "devices is not in this config (world_size, nproc_per_node x nnodes): "
        "give devices= (--devices)"
    )
    assert refused(config, devices=1) == (
        "length is not in this config (seq_length): give length= (--length)"
    )


def test_a_foreign_word_is_shown_with_its_own_tools():
    config = {"micro_batch_size": 2, "seq_length": 8, STEPS: 8, "total_batch_size": 9}
    hf = "training-arguments, trl, axolotl, deepspeed, gpt-neox, llama-factory"
    tools = f"{hf}, dpo-paper, torchtune, nanogpt, maxtext, grpo"
    assert refused(config) == (
        f"the config: it looks like megatron, and {STEPS} is a word of {tools}: "
        "take it out, or say tool= (--tool)"
    )
    assert refused({"batch_size": 2, "total_batch_size": 9}) == (
        "the config: batch_size alone may be of axolotl, dpo-paper, nanogpt, torchtune, or of a "
        "trainer that is not read: where one of them reads it, say tool= (--tool); else give the "
        "step itself: --rows, --accumulation, --data-parallel and --length"
    )


def test_eight_keys_of_a_stranger_are_shown():
    assert refused(dict.fromkeys("ihgfedcba", 1)).endswith("the keys are a, b, c, d, e, f, g, h")


def test_a_launch_is_described_in_whole_lines():
    launch = from_config({ROWS: 2}, devices=2, length=8)
    assert launch.describe() == "TrainingArguments: 2 devices are 2 replicas"
    packed = {ROWS: 2, "packing": True, "parallelism_config": {"tp_size": 2}}
    assert from_config(packed, devices=2, length=8).describe() == (
        "TRL SFT: 2 devices (tensor 2 parallel) are 1 replicas; a sequence is a pack"
    )
    rollout = Rollout(prompts=16, each=8, passes=3)
    made = Launch(Plan(2, 4, 8, 9), 8, 1, 1, 1, "X", "completions", rollout, ("a note", "more"))
    assert made.describe().splitlines() == [
        "X: 8 devices are 8 replicas; a sequence is a completion",
        "a rollout is 16 prompts x 8 = 128 completions, 64 to a step: 6 optimizer steps",
        "a note",
        "more",
    ]


def test_a_count_is_taken_up_to_its_limit_and_not_beyond():
    def rows(value):
        return from_config({ROWS: value}, devices=1, length=1).plan.rows

    assert rows(2**40) == rows(str(2**40)) == 2**40
    for value in (2**40 + 1, str(2**40 + 1)):
        message = refused({ROWS: value}, devices=1, length=1)
        assert message == f"{ROWS} is larger than 1,099,511,627,776: no run is"
    assert rows("4".zfill(19)) == 4, "19 digits are a number, more are a slip of the keyboard"
    message = refused({ROWS: "4".zfill(20)}, devices=1, length=1)
    assert message == f"{ROWS} must be a whole number of at least 1, got '{'4'.zfill(20)}' (str)"


def test_twenty_sections_inside_a_config_are_read_and_no_more():
    def innermost(sections):
        config = {"x": 1}
        for _ in range(sections):
            config = {"a": config}
        found = settings_of(config)[1]
        for _ in range(sections):
            found = found["a"]
        return found

    assert innermost(20) == {"x": 1} and innermost(21) == {}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.yaml", "b: 1\na: [", ", line 2: not YAML (expected the node content, but found"),
        ("a.yaml", "a: \0", ": not YAML (unacceptable character #x0000: special characters are "),
        ("a.yaml", "a: !!int " + 200 * "x", ": not YAML (invalid literal for int() with base 10: "),
        ("a.toml", "a = 'b", ': not TOML (Expected "\'" (at end of document))'),
    ],
)
def test_what_the_reader_of_a_file_says_is_passed_on(tmp_path, name, text, why):
    path = tmp_path / name
    path.write_text(text)
    assert refused(path).startswith(f"{path}{why}")


def test_no_more_than_120_letters_of_it(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("a: !!int " + 200 * "x")
    with pytest.raises(ValueError, match="invalid literal") as python:
        int(200 * "x")
    assert refused(path) == f"{path}: not YAML ({str(python.value)[:120]})"


def test_the_first_letter_of_a_file_of_flags_is_read(tmp_path):
    (tmp_path / "flags").write_text("-n 4 --b 5")
    assert settings_of(tmp_path / "flags")[1] == {"n": "4", "b": "5"}


def test_a_product_of_what_nobody_knows_is_left_as_it_stands(tmp_path):
    path = tmp_path / "run.sh"
    for product in ("$((X*2))", "$((2*X))", f"$((2*{'9' * 20}))", "$((2/0))", "$((2*))"):
        path.write_text(f"run --micro-batch-size {product} --seq-length 8")
        assert refused(path, devices=1) == (
            f"{path}: micro_batch_size is '{product}', which the script takes from outside of it"
        )
    path.write_text("run --micro-batch-size $((2*3)) --seq-length 8")
    assert from_config(path, devices=1).plan.rows == 6


def test_a_script_is_as_long_as_the_limit_and_no_longer(tmp_path):
    path, flags = tmp_path / "run.sh", "run --micro-batch-size 2 --seq-length 8"
    path.write_text(flags.ljust(200_000, "\n"))
    assert from_config(path, devices=1).plan.rows == 2
    path.write_text(flags.ljust(200_001, "\n"))
    assert refused(path, devices=1) == f"{path}: a script of more than 200,000 characters"


def test_variables_make_a_script_as_long_as_the_limit_and_no_longer(tmp_path):
    path, long = tmp_path / "run.sh", "A=" + 1000 * "x" + "\nrun --n 4 "
    path.write_text(long + 200 * "$A ")
    assert settings_of(path)[1]["n"][:2] == ("4", 1000 * "x")
    path.write_text(long + 201 * "$A ")
    message = f"{path}: its variables make a script of more than 200,000 characters"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        settings_of(path)


def test_a_torchtune_recipe_without_a_length_names_the_option():
    recipe = {"tokenizer": {"_component_": "t", "max_seq_len": None}, "batch_size": 2}
    assert refused(recipe, devices=2) == (
        "length is not in this config (tokenizer.max_seq_len): give length= (--length)"
    )
    assert from_config(recipe, devices=2, length=4096).plan == Plan(2, 1, 2, 4096)
