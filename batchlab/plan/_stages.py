"""Stages after pretraining: a pair of answers is two sequences, a prompt has many completions.

    Launch as its sizes stand, stage  ->  Launch in sequences, with a note or a Rollout

Words
    pair     a prompt with the answer that was preferred and the one that was not
    stage    what a trainer is asked for: dpo, orpo, rm, kto, grpo, ...
    program  the scripts that a command line starts; `Settings` keep their names under `PROGRAM`
"""

from dataclasses import replace

from batchlab.plan._settings import PROGRAM, Launch, Rollout, Settings, Twice, quotient

__all__ = ["generated", "stage_word", "staged", "trl_stage"]

PAIRS = {"dpo", "ipo", "orpo", "cpo", "simpo", "kto_pair", "rm", "reward"}


def staged(launch: Launch, stage: str) -> Launch:
    """The launch of a stage whose rows count examples; a stage that is not read is refused."""
    plan = launch.plan
    if stage in PAIRS:
        rows = 2 * plan.rows
        note = (
            f"a step sees {plan.sequences_per_step:,} pairs of 2 sequences: {rows:,} rows at once"
        )
        plan = replace(plan, rows=rows)
    elif stage == "kto":
        note = "an example is one completion; the pass over mismatched pairs has no gradient"
    elif stage == "sft":
        return launch
    else:
        raise ValueError(f"the stage {stage!r:.40}: what one step of it sees is not read")
    return replace(launch, plan=plan, notes=(*launch.notes, f"{stage}: {note}"))


def generated(given: Settings, launch: Launch, section: str = "", each: int = 8) -> Launch:
    """The launch of TRL 1.16 GRPO, whose rows count completions; `each` is a default."""
    of_step, whole, group, again = (
        section + name
        for name in (
            "steps_per_generation", "generation_batch_size", "num_generations", "num_iterations",
        )
    )  # fmt: skip
    micro = launch.plan.rows * launch.plan.data_parallel
    if given.has(of_step, whole):
        raise ValueError(f"{of_step} and {whole} exclude each other: give one of them")
    if given.has(whole):
        made = given.count(whole)
        quotient(made, micro, whole)
    else:
        made = micro * given.count(of_step, launch.plan.accumulation)
    each = given.count(group, each)
    prompts = quotient(made, each, "the completions of a generation,")
    rollout = Rollout(prompts, each, given.count(again, 1))
    notes = launch.notes
    if micro % each and not given.has(whole, of_step):
        notes += (
            f"rows count completions, as in TRL since 0.15; where they count prompts, as in R1-V "
            f"and what was made of it, a step is {each} times as large",
        )
    return replace(launch, unit="completions", rollout=rollout, notes=notes)


SCRIPTS = {
    "dpo": ("dpo", "run_dpo", "dpo_vlm"),
    "orpo": ("orpo", "run_orpo"),
    "cpo": ("cpo",),
    "kto": ("kto",),
    "reward": ("reward", "reward_modeling", "reward_training", "train_rm", "run_rm"),
    "grpo": ("grpo", "run_grpo", "grpo_vlm"),
    "rloo": ("rloo",),
    "trl": ("sft", "run_sft", "sft_vlm"),
}
UNREAD = {"ppo", "ppo_tldr", "online_dpo", "dpo_online", "xpo", "nash_md", "gkd", "prm", "bco"}
PARTS = {  # words of the name of somebody's own script: train_dpo, dpo_training, llava_dpo
    "dpo": "dpo", "orpo": "orpo", "cpo": "cpo", "simpo": "cpo", "kto": "kto", "grpo": "grpo",
    "rloo": "rloo",
}  # fmt: skip
UNREAD_PARTS = {"online", "ppo", "gkd", "reinforce"}
SAYS = ("task", "method", "loss", "training_type", "algorithm")  # of somebody's own trainer
GROUPED = {"embedding", "reranker", "generative_reranker"}
CHAT = ("actor_model_name_or_path", "per_device_mini_train_batch_size")  # of DeepSpeed-Chat
OWN = {  # names that only one stage has
    "cpo": ("simpo_gamma", "cpo_alpha"),
    "kto": ("desirable_weight", "undesirable_weight"),
    "reward": ("center_rewards_coefficient", "num_padding_at_beginning"),
    "dpo": ("rpo_alpha", "ld_alpha", "f_divergence_type", "discopop_tau", "use_weighting"),
}
LOSSES = {
    "dpo": {
        "sigmoid", "hinge", "ipo", "robust", "exo_pair", "nca_pair", "bco_pair", "sppo_hard",
        "aot", "aot_pair", "apo_zero", "apo_down", "discopop", "kto_pair",
    },
    "cpo": {"simpo"},
    "kto": {"kto", "apo_zero_unpaired"},
}  # fmt: skip
SHARED = (  # names of several stages, and never of plain fine-tuning
    "beta", "max_prompt_length", "max_completion_length", "precompute_ref_log_probs",
    "reference_free", "reward_funcs", "log_completions", "use_vllm", "vllm_mode",
)  # fmt: skip


def trl_stage(given: Settings) -> str | None:
    """The tool that reads these TrainingArguments, or None where nothing names a stage."""
    if given.first("task_type") in GROUPED:
        raise ValueError(
            f"task_type {given.first('task_type')}: an example is a group of texts, whose number "
            "only the data say"
        )
    if given.has("rlhf_type") or "swift_" in "".join(given.get(PROGRAM) or ()):
        return _of_swift(given)
    if started := _started(given.get(PROGRAM) or ()):
        return started
    for name in ("num_ppo_epochs", "num_mini_batches", "missing_eos_penalty", "rloo_k", *CHAT):
        if given.has(name):
            raise ValueError(f"{name}: what one step of a trainer that generates sees is not read")
    if given.has("data_split") and not given.has("num_padding_at_beginning"):
        raise ValueError(
            "data_split: the same line of DeepSpeed-Chat starts its SFT and its reward model: say "
            "tool= (--tool) training-arguments, or reward (pairs)"
        )
    for stage, names in OWN.items():
        if any(given.has(name) for name in names):
            return stage
    for stage, losses in LOSSES.items():
        if given.get("loss_type") in losses:
            return stage
    shared = [name for name in SHARED if given.has(name)]
    if shared and _of_handbook(given) and not given.has("reward_funcs"):
        return "dpo"
    if shared := shared or _said(given):
        raise ValueError(
            f"{shared[0]} is of a stage of preferences or rewards, and several have it: say "
            "tool= (--tool) dpo, orpo, cpo or reward (pairs), kto or grpo"
        )
    return None


def _said(given: Settings) -> list[str]:
    """Settings of somebody's own trainer that name a stage: --task DPO, --dpo_beta."""
    by_value = [name for name in SAYS if str(given.first(name)).lower() in {*PARTS, "ppo", "rm"}]
    by_name = [name for name in given.values if name.partition("_")[0] in PARTS and "_" in name]
    return by_value + sorted(by_name)


def _started(programs: tuple[str, ...]) -> str | None:
    """The stage of the scripts that a line starts; several of them are refused."""
    known = {name: stage for stage, names in SCRIPTS.items() for name in names}
    parts = {one: set(one.lower().split("_")) for one in programs if one not in known}
    if unread := [one for one in programs if one in UNREAD or parts.get(one, set()) & UNREAD_PARTS]:
        raise ValueError(f"{unread[0]}: what one step of this trainer sees is not read")
    found = {known[one] for one in programs if one in known}
    found |= {stage for words in parts.values() for part, stage in PARTS.items() if part in words}
    if len(found) > 1:
        raise ValueError(f"it starts {' and '.join(sorted(found))}: give the line of one of them")
    return next(iter(found), None)


def _of_swift(given: Settings) -> str:
    """ms-swift 4: its accumulation depends on the devices where it is not given."""
    stage = stage_word(given, "rlhf_type")
    if stage == "sft":
        return "swift"
    if stage != "grpo" and not given.has("gradient_accumulation_steps"):
        raise ValueError("gradient_accumulation_steps is missing: ms-swift fills it in by itself")
    named = {"rm": "reward", "simpo": "cpo"}.get(stage, stage)
    if named not in ("dpo", "orpo", "cpo", "reward", "kto", "grpo"):
        raise ValueError(f"rlhf_type {stage:.40}: what one step of that stage sees is not read")
    return named


def _of_handbook(given: Settings) -> bool:
    """Whether alignment-handbook reads it, whose stages of preferences all see pairs."""
    return given.has("dataset_mixer") or given.has("dataset_mixture")


def stage_word(given: Settings, name: str) -> str:
    """The stage that a config names; "sft" where it names none."""
    value = given.get(name)
    if isinstance(value, Twice):
        raise ValueError(f"{name} is given twice: {' and '.join(map(str, value)):.80}")
    return str(value).lower() if value not in (None, False, "") else "sft"
