"""NeMo-RL files as their authors write them; every batch by hand."""

import pytest

from batchlab.plan import Plan, Rollout, from_config

GRPO = """
grpo: {num_prompts_per_step: 32, num_generations_per_prompt: 16, max_num_steps: 1000000}
loss_fn: {reference_policy_kl_penalty: 0.01}
policy:
  model_name: Qwen/Qwen2.5-1.5B
  train_global_batch_size: 512
  train_micro_batch_size: 4
  logprob_batch_size: 4
  max_total_sequence_length: 512
  dtensor_cfg: {enabled: true, tensor_parallel_size: 1, context_parallel_size: 1}
  megatron_cfg: {enabled: false, tensor_model_parallel_size: 8}
  dynamic_batching: {enabled: false, train_mb_tokens: 2048}
  sequence_packing: {enabled: false}
  generation: {backend: vllm, colocated: {enabled: true}}
cluster: {gpus_per_node: 8, num_nodes: 2}
"""
SFT = "sft: {max_num_epochs: 1}"
DPO = "dpo: {reference_policy_kl_penalty: 0.05}"


def of(tmp_path, change=("", ""), **asked):
    text = GRPO.replace(*change)
    assert not change[0] or text != GRPO
    (tmp_path / "run.yaml").write_text(text)
    return from_config(tmp_path / "run.yaml", **asked)


SECTION = GRPO.splitlines()[1]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (("", ""), Plan(4, 8, 16, 512)),  # 512 / 16 = 32 = 4 x 8
        (("num_nodes: 2", "num_nodes: 1"), Plan(4, 16, 8, 512)),
        (("true, tensor_parallel_size: 1", "true, tensor_parallel_size: 4"), Plan(4, 32, 4, 512)),
        (("context_parallel_size: 1", "context_parallel_size: 2"), Plan(4, 16, 8, 512)),
        (("{enabled: false, tensor_model", "{enabled: true, tensor_model"), Plan(4, 64, 2, 512)),
        ((SECTION, SFT), Plan(4, 8, 16, 512)),
        ((SECTION, DPO), Plan(8, 8, 16, 512)),  # 512 pairs are 1,024 sequences
    ],
)
def test_nemo_rl_divides_the_whole_by_its_replicas(tmp_path, change, wanted):
    assert of(tmp_path, change).plan == wanted


def test_nemo_rl_trains_on_what_it_generated(tmp_path):
    """32 prompts x 16 = 512 completions, one step; with 256 to a step, two."""
    launch = of(tmp_path)
    assert launch.rollout == Rollout(32, 16, 1) and launch.steps_per_rollout == 1
    assert of(tmp_path, ("size: 512", "size: 256")).steps_per_rollout == 2
    assert of(tmp_path, (SECTION, DPO)).notes[0].startswith("dpo: a step sees 512 pairs")
    apart = ("colocated: {enabled: true}", "colocated: {enabled: false}")
    with pytest.raises(ValueError, match="devices is not in this config"):
        of(tmp_path, apart)
    assert of(tmp_path, apart, devices=8).plan == Plan(4, 16, 8, 512)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("grpo:", "defaults: ../grpo_math_1B.yaml\ngrpo:"), "defaults: this file changes another"),
        (("batching: {enabled: false", "batching: {enabled: true"), "A step sees 512 sequences on"),
        (("packing: {enabled: false", "packing: {enabled: true"), "cut by tokens and not by rows"),
        ((SECTION, "rm: {}\nsft: {x: 1}"), "sft and rm are stages of their own"),
        ((SECTION, "rm: {x: 1}"), "rm: what one step of that stage sees is not read"),
        (("size: 4\n  log", "size: 5\n  log"), "32 is not a multiple of 5"),
        (("size: 512", "size: ${mul:32, 16}"), "train_global_batch_size is"),
    ],
)
def test_nemo_rl_with_a_step_that_nobody_knows(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        of(tmp_path, change)
