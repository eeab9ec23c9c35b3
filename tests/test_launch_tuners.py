"""Fine-tuning tools as their authors start them, and trainers of one's own; batches by hand."""

import pytest

from batchlab.plan import Plan, Rollout, from_config

HF = "per_device_train_batch_size: {rows}\ngradient_accumulation_steps: 8\n"
FACTORY = "model_name_or_path: x\nstage: sft\ntemplate: qwen\ncutoff_len: 4096\n"
MEGATRON = "do_train: true\ntensor_model_parallel_size: 4\npipeline_model_parallel_size: 2\n"
FACTORY_V1 = "model: x\ntemplate: t\ndist_config: {name: fsdp2}\nmicro_batch_size: 2\n"
DPO = (
    "python -u train.py model=pythia28 datasets=[hh] loss=dpo loss.beta=0.1 exp_name=a "
    "gradient_accumulation_steps=2 batch_size=64 eval_batch_size=32 {trainer} "
    "model.fsdp_policy_mp=bfloat16\n"
)
SLIME = """
ROLLOUT_ARGS=(
   --rollout-batch-size 32
   --n-samples-per-prompt 8
   --global-batch-size 128
   # --micro-batch-size 4
)
ray job submit --address=a -- python3 train.py --actor-num-nodes 2 --actor-num-gpus-per-node 8 \\
   --tensor-model-parallel-size 2 --context-parallel-size 2 ${ROLLOUT_ARGS[@]}
"""


def of(tmp_path, text, name="run.sh", **asked):
    path = tmp_path / name
    path.write_text(text)
    return from_config(path, **asked)


def test_llama_factory_over_megatron_has_fewer_replicas(tmp_path):
    """16 devices / (4 x 2) = 2 replicas; all 16 were counted."""
    text = FACTORY + MEGATRON + HF.format(rows=1)
    assert of(tmp_path, text, "a.yaml", devices=16).plan == Plan(1, 8, 2, 4096)
    prediction = FACTORY + "do_predict: true\nper_device_eval_batch_size: 1\n"
    with pytest.raises(ValueError, match="do_predict without do_train: such a run trains nothing"):
        of(tmp_path, prediction, "a.yaml", devices=8)
    both = prediction + "do_train: true\n" + HF.format(rows=2)
    assert of(tmp_path, both, "a.yaml", devices=8).plan == Plan(2, 8, 8, 4096)


def test_llama_factory_v1_has_names_of_its_own(tmp_path):
    """Without a whole step, one micro-batch of each of 8 replicas; 64 = 2 x 4 x 8 with one."""
    text = FACTORY_V1 + "cutoff_len: 2048\n"
    assert of(tmp_path, text, "a.yaml", devices=8).plan == Plan(2, 1, 8, 2048)
    whole = of(tmp_path, text + "global_batch_size: 64\n", "a.yaml", devices=8)
    assert whole.plan == Plan(2, 4, 8, 2048) and whole.source == "LLaMA-Factory v1"
    with pytest.raises(ValueError, match="cut by tokens and not by rows"):
        of(tmp_path, text + "batching_strategy: dynamic_batching\n", "a.yaml", devices=8)


@pytest.mark.parametrize(
    ("line", "devices", "wanted", "unit"),
    [
        # without accumulation a step is filled up to 16: 16 / (2 x 4) = 2; 16 / (8 x 4) -> 1
        ("swift sft --per_device_train_batch_size 2", 4, Plan(2, 2, 4, 512), "sequences"),
        ("swift pt --per_device_train_batch_size 8", 4, Plan(8, 1, 4, 512), "sequences"),
        ("python swift/cli/sft.py --per_device_train_batch_size 3", 4, Plan(3, 2, 4, 512),
         "sequences"),
        ("/opt/bin/swift sft --gradient_accumulation_steps 4 --per_device_train_batch_size 1 "
         "--packing true", 8, Plan(1, 4, 8, 512), "packs"),
        ("swift sft --gradient_accumulation_steps 4 --per_device_train_batch_size 1 "
         "--sequence_parallel_size 4", 8, Plan(1, 4, 2, 512), "sequences"),
        ("swift rlhf --rlhf_type dpo --gradient_accumulation_steps 4 "
         "--per_device_train_batch_size 1", 8, Plan(2, 4, 8, 512), "sequences"),
        ("swift rlhf --rlhf_type grpo --num_generations 8 --per_device_train_batch_size 1", 8,
         Plan(1, 1, 8, 512), "completions"),
    ],
)  # fmt: skip
def test_ms_swift_fills_in_what_is_not_given(tmp_path, line, devices, wanted, unit):
    launch = of(
        tmp_path, f"NPROC_PER_NODE={devices} \\\n{line} --max_length 512\n", devices=devices
    )
    assert launch.plan == wanted and launch.unit == unit
    filled = "accumulation" not in line and "rlhf" not in line
    assert ("filled in by ms-swift" in launch.describe()) == filled


def test_ms_swift_is_not_read_as_trl(tmp_path):
    """TRL cuts rows at 1,024; ms-swift leaves them as long as the model can be."""
    rows = "--per_device_train_batch_size 2 --gradient_accumulation_steps 2"
    with pytest.raises(ValueError, match="length is not in this config"):
        of(tmp_path, f"swift sft --packing true {rows}\n", devices=8)
    with pytest.raises(ValueError, match="task_type reranker: an example is a group of texts"):
        of(tmp_path, f"swift sft --task_type reranker --max_length 8 {rows}\n", devices=8)


@pytest.mark.parametrize(
    ("trainer", "wanted"),
    [
        # 64 pairs are the whole step, whatever cuts it: 128 sequences
        ("trainer=FSDPTrainer", Plan(16, 2, 4, 512)),
        ("trainer=TensorParallelTrainer max_length=128", Plan(64, 2, 1, 128)),
        ("", Plan(64, 2, 1, 512)),
    ],
)
def test_the_trainer_of_the_dpo_paper_cuts_its_batch(tmp_path, trainer, wanted):
    launch = of(tmp_path, DPO.format(trainer=trainer), devices=4)
    assert launch.plan == wanted and launch.plan.sequences_per_step == 128
    assert "64 is the whole step" in launch.describe() and "64 pairs" in launch.describe()
    plain = DPO.replace("loss=dpo loss.beta=0.1", "loss=sft").format(trainer=trainer)
    assert of(tmp_path, plain, devices=4).plan.sequences_per_step == 64


def test_the_trainer_of_the_dpo_paper_refuses_what_it_has_not(tmp_path):
    with pytest.raises(ValueError, match="loss 'kto': what one step of it sees is not read"):
        of(tmp_path, DPO.replace("loss=dpo", "loss=kto").format(trainer=""), devices=4)
    with pytest.raises(ValueError, match=r"trainer must be one of FSDPTrainer, .* got mine"):
        of(tmp_path, DPO.format(trainer="trainer=mine"), devices=4)
    with pytest.raises(ValueError, match="batch_size 64 is not a multiple of 6"):
        of(tmp_path, DPO.format(trainer="trainer=FSDPTrainer"), devices=3)


def test_slime_counts_completions(tmp_path):
    """16 devices / (2 x 2) = 4 replicas: 128 = 1 x 32 x 4; a rollout of 256 is two steps."""
    launch = of(tmp_path, SLIME, length=8192)
    assert launch.plan == Plan(1, 32, 4, 8192) and launch.unit == "completions"
    assert launch.rollout == Rollout(32, 8, 1) and launch.steps_per_rollout == 2
    dynamic = SLIME.replace("# --micro-batch-size 4", "--use-dynamic-batch-size")
    with pytest.raises(ValueError, match="sees 128 completions, 32 on each of 4 replicas"):
        of(tmp_path, dynamic)


def test_deepspeed_chat_says_its_stage(tmp_path):
    """8 devices x 4 pairs = 32 pairs; a pair is two sequences."""
    sizes = "--per_device_train_batch_size 4 --max_seq_len 512 --data_split 2,4,4"
    reward = f"deepspeed main.py {sizes} --num_padding_at_beginning 0\n"
    assert of(tmp_path, reward, devices=8, length=512).plan == Plan(8, 1, 8, 512)
    with pytest.raises(ValueError, match="starts its SFT and its reward model: say tool="):
        of(tmp_path, f"deepspeed main.py {sizes}\n", devices=8, length=512)
    with pytest.raises(ValueError, match="actor_model_name_or_path: what one step of a trainer"):
        of(tmp_path, f"deepspeed main.py --actor_model_name_or_path a {sizes}\n", devices=8)


def test_open_instruct_starts_as_many_processes_on_each_node(tmp_path):
    """2 nodes x 8 processes x 4 = 64 pairs."""
    line = (
        "python mason.py --num_nodes 2 --gpus 8 -- accelerate launch --num_processes 8 "
        "open_instruct/dpo_tune_cache.py --max_seq_length 2048 --per_device_train_batch_size 1 "
        "--gradient_accumulation_steps 4\n"
    )
    assert of(tmp_path, line).plan == Plan(2, 4, 16, 2048)
    alone = line.partition("-- ")[2]
    assert of(tmp_path, alone).plan == Plan(2, 4, 8, 2048)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("python train.py --train_batch_size 32 --epochs 3", "train_batch_size alone may be of"),
        ("accelerate launch train.py --train_batch_size=1 --gradient_accumulation_steps=4",
         "alone may be of .* or of a trainer that is not read: .* --rows, --accumulation"),
        ("tune run --nproc_per_node 4 lora_finetune_distributed --config ./my.yaml",
         "the sizes of its step stand in ./my.yaml: give that file beside it"),
    ],
)  # fmt: skip
def test_a_trainer_of_ones_own_is_no_deepspeed(tmp_path, line, message):
    """Its `train_batch_size` may count one device or all of them: read as all, it was a guess."""
    with pytest.raises(ValueError, match=message):
        of(tmp_path, line + "\n", devices=8, length=64)


@pytest.mark.parametrize("sign", ['"fp16": {"enabled": true}', '"steps_per_print": 10'])
def test_deepspeed_has_signs_of_its_own(tmp_path, sign):
    text = f'{{"train_batch_size": 64, "gradient_accumulation_steps": 2, {sign}}}'
    assert of(tmp_path, text, "ds.json", devices=8, length=64).plan == Plan(4, 2, 8, 64)


def test_what_trains_nothing_is_no_step(tmp_path):
    evaluation = "model: {_component_: m}\ntasks: [truthfulqa_mc2]\nbatch_size: 8\n"
    with pytest.raises(ValueError, match="tasks: an evaluation trains nothing"):
        of(tmp_path, evaluation, "a.yaml", devices=1, length=64)
    service = "base_model: x\nhatchery: {backend: tinker}\nmicro_batch_size: 1\n"
    with pytest.raises(ValueError, match="hatchery: a service trains"):
        of(tmp_path, service, "a.yaml", devices=8)


def test_quotes_inside_of_a_quoted_value_end_it_for_a_word_only(tmp_path):
    """--eval_strategy "no" inside of args="...": what stood behind it was lost."""
    text = """
batch=4
args="
    --per_device_train_batch_size ${batch} --eval_strategy "no" --save_strategy 'steps' \\
    --gradient_accumulation_steps 8
    --model_max_length 2048
"
torchrun --nproc_per_node=2 train.py ${args}
"""
    assert of(tmp_path, text).plan == Plan(4, 8, 2, 2048)


def test_openrlhf_has_one_length_for_prompt_and_answer(tmp_path):
    line = (
        "python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 1 --actor_num_gpus_per_node 8 "
        "--micro_train_batch_size 4 --train_batch_size 128 --rollout_batch_size 1024 "
        "--max_len 2048\n"
    )
    assert of(tmp_path, line).plan == Plan(4, 4, 8, 2048)
