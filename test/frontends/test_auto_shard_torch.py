# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding of modules of PyTorch: placements of DTensors."""

import pytest

import pyshardy as sdy

torch = pytest.importorskip("torch")
pytest.importorskip("highspy")
pytest.importorskip("torch.distributed.tensor")

from torch.distributed.tensor import Replicate, Shard  # noqa: E402 (may be missing)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(1024, 4096)
        self.down = torch.nn.Linear(4096, 1024)

    def forward(self, tokens):
        return self.down(torch.tanh(self.up(tokens)))


@pytest.fixture(scope="module")
def found():
    with torch.device("meta"):
        block, tokens = Block(), torch.empty(512, 1024)
    mesh = sdy.Mesh({"data": 2, "model": 4})
    shardings = {"tokens": ("data", None)}
    return sdy.torch.auto_shard(block, tokens, mesh=mesh, memory="12MB", shardings=shardings)


def test_placements(found):
    """The weights of 32 MB don't fit: columns and rows, as in Megatron-LM."""
    assert found.plan.gap <= 0.01
    assert found.placements["tokens"] == (Shard(0), Replicate())
    assert found.placements["up.weight"] == (Replicate(), Shard(0))
    assert found.placements["down.weight"] == (Replicate(), Shard(1))


def test_the_plan_for_parallelize_module(found):
    assert isinstance(found.parallelize_plan, torch.distributed.tensor.parallel.ParallelStyle)
    assert "auto_shard" in dir(sdy.torch)
