"""Whatever a launch config holds: the step that was written is read, or one line says why not."""

import json

import yaml
from hypothesis import strategies as st

from batchlab.plan import Plan
from batchlab.plan._launch import TOOLS, Launch, from_config

NAMES = sorted(
    {name for one in TOOLS.values() for sign in one.signs for name in sign}
    | {word for one in TOOLS.values() for word in one.words}
    | {
        "world_size",
        "num_processes",
        "nnodes",
        "max_length",
        "sequence_len",
        "deepspeed",
        "packing",
    }
    | {
        "parallelism_config.tp_size",
        "trainer.num_nodes",
        "data.train_batch_size",
        "train.max_epochs",
    }
)
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6), st.just("auto"),
    st.sampled_from(["4", "1e3", "0x8", "-1", "$N", "4 8", "null", "\u00b2", 2**40 + 1, 10**30]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip
SMALL = st.integers(1, 16)
SETTINGS = st.dictionaries(st.sampled_from(NAMES), SMALL | ODD, max_size=6)


def nested(settings):
    """Names with dots as sections; where a value stands in the way, it goes."""
    found = {}
    for name, value in settings.items():
        *sections, last = name.split(".")
        inside = found
        for section in sections:
            if not isinstance(inside.get(section), dict):
                inside[section] = {}
            inside = inside[section]
        inside[last] = value
    return found


def as_flags(settings):
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in settings.items())


def launch_or_refusal(call, name):
    """The launch, or None after one short line that names the config."""
    try:
        found = call()
    except ValueError as error:
        message = str(error)
        assert name in message, message
        assert "\n" not in message and len(message) < 900, message
        return None
    assert isinstance(found, Launch) and found.describe()
    assert found.plan.data_parallel * found.tensor * found.pipeline * found.context == found.devices
    return found


def test_any_settings_are_a_launch_or_a_refusal(fuzz, tmp_path):
    """The same from every kind of file, and from memory."""

    def law(settings, tool, devices, length):
        found = nested(settings)
        asked = {"devices": devices, "length": length, "tool": tool}
        json_file, yaml_file = tmp_path / "a.json", tmp_path / "a.yaml"
        json_file.write_text(json.dumps(found))
        yaml_file.write_text(yaml.safe_dump(found))
        from_file = launch_or_refusal(lambda: from_config(json_file, **asked), "a.json")
        assert launch_or_refusal(lambda: from_config(yaml_file, **asked), "a.yaml") == from_file
        assert launch_or_refusal(lambda: from_config(found, **asked), "") == from_file

    tools = st.none() | st.sampled_from(sorted(TOOLS))
    fuzz(law, SETTINGS, tools, st.none() | SMALL, st.none() | SMALL)


def test_any_two_configs_are_a_launch_or_a_refusal(fuzz):
    def law(one, other):
        call = lambda: from_config(nested(one), nested(other), devices=8, length=8)  # noqa: E731
        launch_or_refusal(call, "")

    fuzz(law, SETTINGS, SETTINGS)


def test_any_bytes_are_a_launch_or_a_refusal(fuzz, tmp_path):
    words = ["--micro-batch-size", "--seq-length", "A=", "$A", "${A[@]}", "(", ")", '"', "'",
             "\\\n", "\n", " ", "#", ";", "=", "2", "a: ", "- ", "&a ", "*a", "<<: ", "{", "}", "[",
             "]", ",", "$((", "))", "\u0085", "\x00", "train.x=1", "!!", "|", ">", "%", "@", "`",
             ]  # fmt: skip

    def law(content, suffix):
        path = tmp_path / f"a{suffix}"
        path.write_bytes(content)
        launch_or_refusal(lambda: from_config(path, devices=2, length=8), path.name)

    content = st.lists(st.sampled_from(words), max_size=25).map(lambda w: "".join(w).encode())
    suffixes = st.sampled_from([".json", ".yaml", ".toml", ".sh", "", ".cfg"])
    fuzz(law, content | st.binary(max_size=100), suffixes)


WRITTEN = {  # a plan in the words of each tool, by rows, accumulation, replicas and length
    "training-arguments": lambda r, a, d, n: {
        "per_device_train_batch_size": r, "gradient_accumulation_steps": a, "max_length": n},
    "llama-factory": lambda r, a, d, n: {
        "per_device_train_batch_size": r, "gradient_accumulation_steps": a, "cutoff_len": n},
    "trl": lambda r, a, d, n: {
        "per_device_train_batch_size": r, "gradient_accumulation_steps": a, "max_length": n,
        "packing": True},
    "llama-factory-v1": lambda r, a, d, n: {
        "train_dataset": "x", "micro_batch_size": r, "global_batch_size": r * a * d,
        "cutoff_len": n},
    "dpo-paper": lambda r, a, d, n: {
        "loss": "sft", "datasets": "x", "exp_name": "x", "trainer": "FSDPTrainer",
        "batch_size": r * a * d, "gradient_accumulation_steps": a, "max_length": n},
    "axolotl": lambda r, a, d, n: {
        "base_model": "x", "micro_batch_size": r, "gradient_accumulation_steps": a,
        "sequence_len": n},
    "deepspeed": lambda r, a, d, n: {
        "train_batch_size": r * a * d, "train_micro_batch_size_per_gpu": r, "seq_length": n},
    "gpt-neox": lambda r, a, d, n: {
        "train_micro_batch_size_per_gpu": r, "gradient_accumulation_steps": a, "seq_length": n,
        "pipe_parallel_size": 1},
    "megatron": lambda r, a, d, n: {
        "micro_batch_size": r, "global_batch_size": r * a * d, "seq_length": n},
    "megatron-bridge": lambda r, a, d, n: {
        "train.micro_batch_size": r, "train.global_batch_size": r * a * d, "model.seq_length": n},
    "nemo": lambda r, a, d, n: {
        "exp_manager": {"x": 1}, "model.micro_batch_size": r, "model.global_batch_size": r * a * d,
        "model.encoder_seq_length": n},
    "automodel": lambda r, a, d, n: {
        "step_scheduler.local_batch_size": r, "step_scheduler.global_batch_size": r * a * d,
        "dataset.seq_length": n},
    "torchtitan": lambda r, a, d, n: {
        "training.local_batch_size": r, "training.global_batch_size": r * a * d,
        "training.seq_len": n},
    "llm-foundry": lambda r, a, d, n: {
        "global_train_batch_size": r * a * d, "device_train_microbatch_size": r, "max_seq_len": n},
    "levanter": lambda r, a, d, n: {
        "trainer.train_batch_size": r * a * d, "trainer.per_device_parallelism": r,
        "model.seq_len": n},
    "maxtext": lambda r, a, d, n: {
        "per_device_batch_size": float(r), "gradient_accumulation_steps": a,
        "max_target_length": n},
    "torchtune": lambda r, a, d, n: {
        "dataset._component_": "x", "batch_size": r, "gradient_accumulation_steps": a,
        "tokenizer.max_seq_len": n},
    "litgpt": lambda r, a, d, n: {
        "devices": d, "train.micro_batch_size": r, "train.global_batch_size": r * a * d,
        "train.max_seq_length": n},
    "nanochat": lambda r, a, d, n: {
        "device_batch_size": r, "total_batch_size": r * a * d * n, "max_seq_len": n},
    "nanogpt": lambda r, a, d, n: {
        "batch_size": r, "gradient_accumulation_steps": a * d, "block_size": n},
    "grpo": lambda r, a, d, n: {
        "per_device_train_batch_size": r, "gradient_accumulation_steps": a, "max_length": n,
        "num_generations": 1},
    "verl": lambda r, a, d, n: {
        "data.train_batch_size": r * a * d,
        "actor_rollout_ref.actor.ppo_mini_batch_size": r * a * d,
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": r, "data.max_prompt_length": 1,
        "data.max_response_length": n - 1},
    "verl-sft": lambda r, a, d, n: {
        "data.train_batch_size": r * a * d, "data.micro_batch_size_per_gpu": r,
        "data.max_length": n},
    "nemo-rl": lambda r, a, d, n: {
        "sft.x": 1, "policy.train_global_batch_size": r * a * d,
        "policy.train_micro_batch_size": r, "policy.max_total_sequence_length": n},
    "openrlhf": lambda r, a, d, n: {
        "train.batch_size": r * a * d, "rollout.batch_size": 64, "train.micro_batch_size": r,
        "data.max_len": n},
}  # fmt: skip


STAGES = {"dpo", "orpo", "cpo", "reward", "kto", "rloo"}  # in words that they share
BY_SCRIPT = {"openrlhf-offline", "swift"}  # the stage is the name of what a line starts


def test_every_tool_that_can_stand_alone_is_written_here():
    assert set(TOOLS) - set(WRITTEN) == {"accelerate", "unsloth", "slime", *STAGES, *BY_SCRIPT}


def test_a_plan_in_the_words_of_a_tool_is_read_back(fuzz, tmp_path):
    """Recognised by itself, from a mapping, from YAML, and from flags."""

    def law(tool, rows, accumulation, replicas, length):
        settings = WRITTEN[tool](rows, accumulation, replicas, length)
        wanted = Plan(rows, accumulation, replicas, length)
        (tmp_path / "a.yaml").write_text(yaml.safe_dump(nested(settings)))
        for config in (settings, nested(settings), tmp_path / "a.yaml", as_flags(settings)):
            assert from_config(config, devices=replicas).plan == wanted

    fuzz(law, st.sampled_from(sorted(WRITTEN)), SMALL, SMALL, SMALL, st.integers(2, 4096))


def test_a_line_wins_over_the_file_of_any_tool(fuzz, tmp_path):
    """Every size that the line names; DeepSpeed's own file is no recipe, but a launcher's."""

    def law(tool, sizes, others):
        *_, replicas, _ = sizes
        (tmp_path / "a.yaml").write_text(yaml.safe_dump(nested(WRITTEN[tool](*others))))
        launch = from_config(tmp_path / "a.yaml", as_flags(WRITTEN[tool](*sizes)), devices=replicas)
        assert launch.plan == Plan(*sizes)

    sizes = st.tuples(SMALL, SMALL, SMALL, st.integers(2, 4096))
    fuzz(law, st.sampled_from(sorted(set(WRITTEN) - {"deepspeed"})), sizes, sizes)
