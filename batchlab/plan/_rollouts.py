"""Trainers that generate before they train: they count completions, prompts or both.

    Settings, what was asked  ->  Launch with its Rollout

Words
    completion   one answer that was generated for a prompt; a trajectory
    rollout      what is generated at once, and then trained on in one or more optimizer steps
"""

from dataclasses import replace

from batchlab.plan._formats import HF, Format, training_arguments
from batchlab.plan._launchers import world_of_all
from batchlab.plan._mesh import world_of
from batchlab.plan._plan import data_parallel_degree
from batchlab.plan._settings import PROGRAM, Asked, Degrees, Launch, Rollout, Settings, quotient
from batchlab.plan._stages import generated, staged

__all__ = ["ROLLOUTS"]


def _grpo(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """TRL 1.16 GRPO: per_device_train_batch_size counts completions."""
    asked = _with_length(given, asked, "max_prompt_length", "max_completion_length")
    launch = replace(training_arguments(given, asked, beside), source="TRL GRPO")
    return generated(given, launch)


def _rloo(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """TRL 1.16 RLOO: as GRPO, with two completions of a prompt by default."""
    asked = _with_length(given, asked, "max_prompt_length", "max_completion_length")
    launch = replace(training_arguments(given, asked, beside), source="TRL RLOO")
    return generated(given, launch, each=2)


def _with_length(given: Settings, asked: Asked, prompt: str, completion: str) -> Asked:
    """The length of a prompt and its completion together, where a config has both."""
    if asked.length is not None or not given.has(prompt, completion):
        return asked
    return replace(asked, length=given.count(prompt) + given.count(completion))


ACTOR = "actor_rollout_ref.actor"


def _verl(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """verl 0.9: sizes count prompts, except that of a micro-batch, which counts completions."""
    if given.has("actor_rollout_ref.rollout.n_agent"):
        raise ValueError(
            "rollout.n_agent: how a fork of verl counts its agents in a step is not read"
        )
    mini = f"{ACTOR}.ppo_mini_batch_size"
    prompts, of_step = given.count("data.train_batch_size"), given.count(mini)
    quotient(prompts, of_step, "data.train_batch_size")
    each = given.count("actor_rollout_ref.rollout.n", 1)
    kinds = ("tensor_model", "pipeline_model", "context")
    tensor, pipeline, context = (
        given.count(f"{ACTOR}.megatron.{k}_parallel_size", 1) for k in kinds
    )
    ulysses = given.count(f"{ACTOR}.ulysses_sequence_parallel_size", 1)
    degrees = Degrees(tensor, pipeline, context * ulysses)
    world = world_of(given, asked, ("trainer.n_gpus_per_node", "trainer.nnodes"))
    replicas = data_parallel_degree(world, **vars(degrees))
    share = quotient(of_step * each, replicas, "ppo_mini_batch_size x n,")
    asked = _with_length(given, asked, "data.max_prompt_length", "data.max_response_length")
    length = given.agreed("length", asked.length)
    if given.is_on(f"{ACTOR}.use_dynamic_bsz"):
        budget = given.count(f"{ACTOR}.ppo_max_token_len_per_gpu") * ulysses
        least = -(-share * length // budget)
        raise ValueError(
            f"use_dynamic_bsz: micro-batches are cut by {budget:,} tokens and not by rows. An "
            f"update sees {of_step * each:,} completions, {share:,} on each of {replicas:,} "
            f"replicas; of {length:,} tokens each, that takes at least {least:,} micro-batches"
        )
    rows = _micro_of(given, replicas)
    accumulation = quotient(share, rows, "the completions of a replica,")
    rollout = Rollout(prompts, each, given.count(f"{ACTOR}.ppo_epochs", 1))
    launch = Settings.split(world, degrees, rows, accumulation, length, "verl")
    return replace(launch, unit="completions", rollout=rollout)


def _verl_sft(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """verl 0.9, supervised: the whole step is said, and the micro-batch of one GPU."""
    whole, micro = "data.train_batch_size", "data.micro_batch_size_per_gpu"
    degrees = Degrees(context=given.count("ulysses_sequence_parallel_size", 1))
    world = world_of_all((given,), asked)
    replicas = data_parallel_degree(world, **vars(degrees))
    rows = given.count(micro)
    accumulation = quotient(given.count(whole), rows * replicas, whole)
    length = given.agreed("length", asked.length, "data.max_length", default=1024)
    return Settings.split(world, degrees, rows, accumulation, length, "verl SFT")


def _micro_of(given: Settings, replicas: int) -> int:
    """Rows of a micro-batch; an older name counts those of all replicas."""
    each, of_all = (f"{ACTOR}.ppo_micro_batch_size{end}" for end in ("_per_gpu", ""))
    if not given.has(each) and given.has(of_all):
        return quotient(given.count(of_all), replicas, of_all)
    return given.count(each)


def _openrlhf(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """OpenRLHF 0.11, whose names have sections, and before 0.10.2, where they had none."""

    def named(new: str, old: str) -> str:
        return new if given.has(new) else old

    if given.is_on("train.dynamic_batch_enable", "use_dynamic_batch"):
        raise ValueError("dynamic batches are cut by tokens and not by rows: no plan says them")
    whole = named("train.batch_size", "train_batch_size")
    prompts = given.count(named("rollout.batch_size", "rollout_batch_size"), 1024)
    each = given.count(named("rollout.n_samples_per_prompt", "n_samples_per_prompt"), 1)
    flat = given.has("train_batch_size") or given.has("rollout_batch_size")  # had other defaults
    rows = given.count(
        named("train.micro_batch_size", "micro_train_batch_size"), None if flat else 1
    )
    degrees = Degrees(
        tensor=given.count(named("ds.tensor_parallel_size", "ds_tensor_parallel_size"), 1),
        context=given.count(named("ds.ring_attn_size", "ring_attn_size"), 1),
    )
    devices = named("actor.num_gpus_per_node", "actor_num_gpus_per_node")
    world = world_of(given, asked, (devices, named("actor.num_nodes", "actor_num_nodes")))
    replicas = data_parallel_degree(world, **vars(degrees))
    accumulation = quotient(given.count(whole, 128), rows * replicas, whole)
    asked = _with_length(given, asked, "prompt_max_len", "generate_max_len")
    names = () if given.has("prompt_max_len", "generate_max_len") else ("max_len",)
    length = given.agreed("length", asked.length, "data.max_len", *names)
    passes = given.count(named("train.max_epochs", "max_epochs"), 1)
    launch = Settings.split(world, degrees, rows, accumulation, length, "OpenRLHF")
    return replace(launch, unit="completions", rollout=Rollout(prompts, each, passes))


def _slime(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """slime 0.2: a rollout counts prompts, `global_batch_size` completions."""
    world = world_of(given, asked, ("actor_num_gpus_per_node", "actor_num_nodes"))
    kinds = ("tensor_model", "pipeline_model", "context")
    degrees = Degrees(*(given.count(f"{kind}_parallel_size", 1) for kind in kinds))
    replicas = data_parallel_degree(world, **vars(degrees))
    whole = given.count("global_batch_size")
    share = quotient(whole, replicas, "global-batch-size")
    if given.is_on("use_dynamic_batch_size"):
        raise ValueError(
            f"use-dynamic-batch-size: micro-batches are cut by tokens and not by rows. A step sees "
            f"{whole:,} completions, {share:,} on each of {replicas:,} replicas"
        )
    rows = given.count("micro_batch_size", 1)
    accumulation = quotient(share, rows, "the completions of a replica,")
    each = given.count("n_samples_per_prompt", 1)
    length = given.agreed("length", asked.length)
    launch = Settings.split(world, degrees, rows, accumulation, length, "slime")
    rollout = Rollout(given.count("rollout_batch_size"), each, 1)
    return replace(launch, unit="completions", rollout=rollout)


def _offline(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """OpenRLHF's SFT, DPO, reward models: the whole step is said, in pairs or in examples."""
    stages = {"train_sft": "sft", "train_dpo": "dpo", "train_rm": "rm", "train_kto": "kto"}
    programs = given.get(PROGRAM) or ()
    stage = next((stages[one] for one in programs if one in stages), "")
    if not stage:
        raise ValueError(
            f"its stage is missing: which of {', '.join(stages)} it starts, or the size of a "
            "rollout"
        )
    whole, micro = (
        next((name for name in names if given.has(name)), names[0])
        for names in (
            ("train_batch_size", "train.batch_size"),
            ("micro_train_batch_size", "train.micro_batch_size"),
        )
    )
    degrees = Degrees(
        tensor=given.count("ds_tensor_parallel_size", given.count("ds.tensor_parallel_size", 1)),
        context=given.count("ring_attn_size", given.count("ds.ring_attn_size", 1)),
    )
    world = world_of_all((given, *beside), asked)
    replicas = data_parallel_degree(world, **vars(degrees))
    rows = given.count(micro)
    accumulation = quotient(given.count(whole), rows * replicas, whole)
    length = given.agreed("length", asked.length, "max_len", "data.max_len")
    return staged(Settings.split(world, degrees, rows, accumulation, length, "OpenRLHF"), stage)


OPENRLHF = frozenset({"train_batch_size", "rollout_batch_size", "micro_train_batch_size"})
ROLLOUTS = [
    Format(
        "grpo",
        tuple((sign,) for sign in (
            "num_generations", "steps_per_generation", "generation_batch_size",
        )),
        HF,
        _grpo,
        ("training-arguments", "trl"),
    ),
    Format("rloo", (), HF, _rloo),  # its names are those of GRPO: only found by its script
    Format(
        "verl-sft", (("data.train_batch_size", "data.micro_batch_size_per_gpu"),), frozenset(),
        _verl_sft,
    ),
    Format("verl", ((f"{ACTOR}.ppo_mini_batch_size",),), frozenset(), _verl),
    Format(
        "openrlhf",
        (("train.batch_size", "rollout.batch_size"), ("train_batch_size", "rollout_batch_size")),
        OPENRLHF,
        _openrlhf,
        ("deepspeed", "openrlhf-offline"),
    ),
    Format(
        "slime", (("rollout_batch_size", "global_batch_size"),),
        frozenset({"rollout_batch_size", "global_batch_size", "micro_batch_size"}), _slime,
        ("megatron",),
    ),
    Format(
        "openrlhf-offline",
        (
            ("train.batch_size", "train.micro_batch_size"),
            ("train_batch_size", "micro_train_batch_size"),
        ),
        OPENRLHF - {"rollout_batch_size"},
        _offline,
        ("deepspeed",),
    ),
]  # fmt: skip
