"""NeMo-RL: one policy, trained on what it generated, on pairs or on answers.

Settings, what was asked  ->  Launch
"""

from dataclasses import replace

from batchlab.plan._formats import Format
from batchlab.plan._mesh import world_of
from batchlab.plan._plan import data_parallel_degree
from batchlab.plan._settings import Asked, Degrees, Launch, Rollout, Settings, quotient
from batchlab.plan._stages import staged

__all__ = ["NEMO_RL"]

WHOLE, MICRO = "policy.train_global_batch_size", "policy.train_micro_batch_size"
STAGES = ("grpo", "sft", "dpo", "rm", "distillation")
BY_TOKENS = ("policy.dynamic_batching.enabled", "policy.sequence_packing.enabled")


def _nemo_rl(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """NeMo-RL 0.4: the sizes count completions, or pairs, or answers, by the section there is."""
    if given.has("defaults"):
        raise ValueError(
            "defaults: this file changes another one, which says the rest: give the config that "
            "NeMo-RL prints, with everything in it"
        )
    stage = _stage(given)
    degrees = _degrees(given)
    world = _world(given, asked)
    replicas = data_parallel_degree(world, **vars(degrees))
    whole = given.count(WHOLE)
    share = quotient(whole, replicas, WHOLE)
    for name in BY_TOKENS:
        if given.is_on(name):
            raise ValueError(
                f"{name}: micro-batches are cut by tokens and not by rows. A step sees "
                f"{'2 x ' if stage == 'dpo' else ''}{whole:,} sequences on {replicas:,} replicas"
            )
    rows = given.count(MICRO)
    accumulation = quotient(share, rows, "the share of a replica,")
    length = given.agreed("length", asked.length, "policy.max_total_sequence_length")
    launch = Settings.split(world, degrees, rows, accumulation, length, "NeMo-RL")
    if stage != "grpo":
        return staged(launch, stage)
    prompts, each = (
        given.count(f"grpo.{name}")
        for name in ("num_prompts_per_step", "num_generations_per_prompt")
    )
    return replace(launch, unit="completions", rollout=Rollout(prompts, each, 1))


def _stage(given: Settings) -> str:
    """The one section of a stage that the file has, where its steps are read."""
    found = [stage for stage in STAGES if given.has(stage)]
    if not found:
        raise ValueError(f"its stage is missing: one of the sections {', '.join(STAGES)}")
    if len(found) > 1:
        raise ValueError(f"{' and '.join(found)} are stages of their own: give one of them")
    if found[0] in ("rm", "distillation"):
        raise ValueError(f"{found[0]}: what one step of that stage sees is not read")
    return found[0]


def _degrees(given: Settings) -> Degrees:
    if given.is_on("policy.megatron_cfg.enabled"):
        kinds = ("tensor_model", "pipeline_model", "context")
        tensor, pipeline, context = (
            given.count(f"policy.megatron_cfg.{kind}_parallel_size", 1) for kind in kinds
        )
        return Degrees(tensor, pipeline, context)
    tensor, context = (
        given.count(f"policy.dtensor_cfg.{kind}_parallel_size", 1) for kind in ("tensor", "context")
    )
    return Degrees(tensor=tensor, context=context)


def _world(given: Settings, asked: Asked) -> int:
    """Devices that train; where others generate, the caller knows how many are left."""
    apart = "policy.generation.colocated.enabled"
    if given.has(apart) and not given.is_on(apart):
        return world_of(given, asked, ())
    return world_of(given, asked, ("cluster.gpus_per_node", "cluster.num_nodes"))


NEMO_RL = [Format("nemo-rl", ((WHOLE, MICRO),), frozenset(), _nemo_rl)]
