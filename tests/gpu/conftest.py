"""Proofs that need a CUDA device: `make gpu-test`, or `pytest -m gpu tests/gpu`."""

import os

import pytest
import torch

from tests.devices import RECORD

# read when cuBLAS starts: deterministic algorithms insist on it
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


@pytest.fixture
def cuda():
    """The device, or a skip that says where it was last used."""
    if not torch.cuda.is_available():
        pytest.skip(f"needs a CUDA device; {RECORD}")
    return torch.device("cuda")


@pytest.fixture
def same_order(cuda):
    """Sums in the same order on every run, in every kernel."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(before)
