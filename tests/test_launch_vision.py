"""Megatron with images, in scripts as their authors write them; every batch by hand.

`--seq-length` is what a vision tower sees; rows of the language model are decoder-seq-length long.
"""

import pytest

from batchlab.plan import Plan, from_config

SCRIPT = """#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=1
DEBUG=0
BZ=128
MBZ={micro}
SEQ_LEN=256    # image embeddings of a tile
DECODER_SEQ_LEN={length}
OPTIONS=" \\
    --use-checkpoint-args \\
    --use-distributed-optimizer \\
    --transformer-impl transformer_engine \\
    --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \\
    {more} \\
    --max-position-embeddings 4096 \\
    --train-iters 20000 \\
    --micro-batch-size ${{MBZ}} \\
    --global-batch-size ${{BZ}} \\
    --tokenizer-type MultimodalTokenizer \\
    --img-h 336 --img-w 336 --patch-dim 14 \\
    --dataloader-type external \\
"
torchrun --nproc_per_node 8 {nodes} examples/multimodal/train.py ${{OPTIONS}}
"""
BOTH = "--seq-length ${SEQ_LEN} --decoder-seq-length ${DECODER_SEQ_LEN}"
LANGUAGE = "--language-model-type=llama3_8b --vision-model-type clip"


def of(tmp_path, more, *, micro=1, length=1024, nodes="", **asked):
    path = tmp_path / "train.sh"
    path.write_text(SCRIPT.format(more=more, micro=micro, length=length, nodes=nodes))
    return from_config(path, **asked)


@pytest.mark.parametrize(
    ("more", "how", "wanted"),
    [
        # 8 / 4 = 2 replicas; 128 = 1 x 64 x 2
        (f"{BOTH} --tensor-model-parallel-size 4 {LANGUAGE}", {}, Plan(1, 64, 2, 1024)),
        (f"{BOTH} --tensor-model-parallel-size 4", {"length": 8192}, Plan(1, 64, 2, 8192)),
        # 4 nodes x 8 / 8 = 4 replicas
        (f"{BOTH} --tensor-model-parallel-size 8 {LANGUAGE}",
         {"nodes": "--nnodes 4", "length": 4096}, Plan(1, 32, 4, 4096)),
        (f"{BOTH} {LANGUAGE}", {"micro": 4}, Plan(4, 4, 8, 1024)),
        # the tower is a stage of its own: 16 / (2 x (1 + 3)) = 2 replicas
        (f"{BOTH} {LANGUAGE} --tensor-model-parallel-size 2 --pipeline-model-parallel-size 3 "
         "--encoder-pipeline-model-parallel-size 1", {"nodes": "--nnodes 2"}, Plan(1, 64, 2, 1024)),
        (f"{BOTH} {LANGUAGE} --encoder-pipeline-model-parallel-size 0", {"micro": 2},
         Plan(2, 8, 8, 1024)),
        (f"--decoder-seq-length 2048 {LANGUAGE}", {}, Plan(1, 16, 8, 2048)),
        (f"--seq-length 1024 --decoder-seq-length=1024 {LANGUAGE}", {}, Plan(1, 16, 8, 1024)),
    ],
)  # fmt: skip
def test_a_row_is_as_long_as_the_language_model_reads(tmp_path, more, how, wanted):
    launch = of(tmp_path, more, **how)
    assert launch.plan == wanted and launch.plan.sequences_per_step == 128
    assert launch.plan.length != 256, "the tokens of one image, which were read before"


def test_packed_rows_with_images_are_packs(tmp_path):
    packed = "--packing-seq-length ${DECODER_SEQ_LEN} --packing-buffer-size 64"
    assert of(tmp_path, f"{BOTH} {LANGUAGE} {packed}").unit == "packs"
    with pytest.raises(ValueError, match="contradicts itself on length: decoder_seq_length 1,024"):
        of(tmp_path, f"{BOTH} {LANGUAGE} --packing-seq-length 4096")


def test_a_length_that_is_not_that_of_the_language_model_is_refused(tmp_path):
    """Older files say seq-length alone, which later versions overwrite."""
    with pytest.raises(ValueError, match=r"length is not in this config .decoder_seq_length"):
        of(tmp_path, f"--seq-length 2048 {LANGUAGE}")
    spread = "--encoder-tensor-model-parallel-size 2 --encoder-pipeline-model-parallel-size 1"
    with pytest.raises(ValueError, match="encoder_tensor_model_parallel_size is 2 and tensor_mod"):
        of(tmp_path, f"{BOTH} {LANGUAGE} --tensor-model-parallel-size 4 {spread}")


def test_an_encoder_and_a_decoder_of_two_lengths_are_asked_about():
    flags = "--micro-batch-size 1 --seq-length 512 --decoder-seq-length 128"
    with pytest.raises(ValueError, match="seq_length is 512 and decoder_seq_length 128: an enc"):
        from_config(flags, devices=1)
    assert from_config(flags, devices=1, length=640).plan == Plan(1, 1, 1, 640)
    same = flags.replace("128", "512")
    assert from_config(same, devices=1).plan.length == 512
